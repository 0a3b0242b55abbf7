/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a stream of any records from a text, for tests:
 *
 *	stream_make <TEXT >FILE
 *
 * Each line is a record: its kind and fields as formats/vt.md names them, separated by blanks.
 *
 *	IMAGE id=1 path=/bin/a buildid=0123
 *	HOT image=1 offset=0x10 what=1 factor=1.5 values=1,2 counts=30,20
 *
 * Numbers are decimal or hexadecimal, bytes hexadecimal digits, arrays numbers with commas between
 * them; what is not told is 0 or empty.  Nothing is checked: a record may contradict itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "stream/writer.h"

static void die(const char *why, const char *what)
{
	fprintf(stderr, "stream_make: %s: %s\n", why, what);
	exit(2);
}

static uint64_t number(const char *text)
{
	return text[0] == '-' ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0);
}

static void put_hex(struct vt_writer *w, unsigned field, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;
	unsigned byte;

	for (; sscanf(text, "%2x", &byte) == 1; text += 2)
		vt_buf_put_u8(&b, (uint8_t)byte);
	vt_writer_bytes(w, field, b.data, b.size);
	vt_buf_free(&b);
}

static void put_array(struct vt_writer *w, unsigned field, char *text)
{
	uint64_t words[1000];
	size_t n = 0;
	char *save, *item;

	for (item = strtok_r(text, ",", &save); item && n < 1000; item = strtok_r(NULL, ",", &save))
		words[n++] = number(item);
	vt_writer_words(w, field, words, n);
}

static void put_field(struct vt_writer *w, const struct vt_kind_desc *kind, uint64_t *row,
		      char *text)
{
	char *value = strchr(text, '=');
	double real;
	int field;

	if (!value)
		die("no value", text);
	*value++ = '\0';
	field = vt_schema_find_field(kind, text);
	if (field < 0)
		die("no such field", text);
	switch (kind->fields[field].type) {
	case VT_TYPE_S:
		vt_writer_text(w, (unsigned)field, value);
		break;
	case VT_TYPE_B:
		put_hex(w, (unsigned)field, value);
		break;
	case VT_TYPE_A:
		put_array(w, (unsigned)field, value);
		break;
	case VT_TYPE_F:
		real = strtod(value, NULL);
		memcpy(&row[field], &real, sizeof(real));
		break;
	default:
		row[field] = number(value);
	}
}

static void put_line(struct vt_writer *w, char *line)
{
	const struct vt_schema *schema = vt_writer_schema(w);
	char *save, *word = strtok_r(line, " \t\n", &save);
	uint64_t *row;
	int kind;

	if (!word || word[0] == '#')
		return;
	kind = vt_schema_find(schema, word);
	if (kind < 0)
		die("no such kind", word);
	row = vt_writer_row(w, (uint32_t)kind);
	while ((word = strtok_r(NULL, " \t\n", &save)))
		put_field(w, &schema->kinds[kind], row, word);
}

int main(void)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	struct vt_error err;
	struct vt_writer *w = vt_writer_open("-", &o, &err);
	static char line[65536];

	if (!w)
		die("standard output", err.text);
	while (fgets(line, sizeof(line), stdin))
		put_line(w, line);
	if (vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0)
		die("standard output", err.text);
	return 0;
}
