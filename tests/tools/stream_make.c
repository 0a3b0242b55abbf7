/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a stream of any records from a text, for tests: stream_make <TEXT >FILE.  A line is a
 * record: its kind, and the fields that are not 0 or empty, as formats/vt.md names them,
 *
 *	HOT image=1 offset=0x1180 what=load size=8 total=10 profiled=10 values=0,7 counts=9,1
 *
 * Numbers are as in C, or what `vtrace dump` prints for `what`, `algo`, `policy`, `end`,
 * `confidence`, `method` and `cause`; arrays have commas; bytes are hexadecimal; in texts, %41 is
 * A.  Nothing is checked: a record may contradict itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "stream/kinds.h"
#include "stream/writer.h"

#define MAX_LINE (1 << 20)

static uint64_t word_number(const char *field, const char *text)
{
	static const struct {
		const char *field;
		const char *(*name)(uint64_t);
	} names[] = {{"what", vt_what_name},
		     {"algo", vt_algo_name},
		     {"policy", vt_policy_name},
		     {"end", vt_block_end_name},
		     {"confidence", vt_confidence_name},
		     {"method", vt_method_name},
		     {"cause", vt_stall_name}};
	uint64_t i, v;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (v = 0; strcmp(names[i].field, field) == 0 && v < 64; v++)
			if (strcmp(names[i].name(v), text) == 0)
				return v;
	return strtoull(text, NULL, 0);
}

static void put_text(struct vt_writer *w, unsigned field, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;

	for (; *text; text++) {
		char pair[3] = "";

		if (*text == '%' && text[1] && text[2]) {
			memcpy(pair, text + 1, 2);
			text += 2;
			vt_buf_put_u8(&b, (uint8_t)strtoul(pair, NULL, 16));
		} else {
			vt_buf_put_u8(&b, (uint8_t)*text);
		}
	}
	vt_writer_bytes(w, field, b.data, b.size);
	vt_buf_free(&b);
}

static void put_bytes(struct vt_writer *w, unsigned field, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;

	for (; text[0] && text[1]; text += 2) {
		char pair[3] = {text[0], text[1], 0};

		vt_buf_put_u8(&b, (uint8_t)strtoul(pair, NULL, 16));
	}
	vt_writer_bytes(w, field, b.data, b.size);
	vt_buf_free(&b);
}

static void put_words(struct vt_writer *w, unsigned field, const char *text)
{
	static uint64_t words[MAX_LINE / 2];
	size_t n = 0;
	char *end;

	while (*text) {
		words[n++] = strtoull(text, &end, 0);
		text = *end == ',' ? end + 1 : "";
	}
	vt_writer_words(w, field, words, n);
}

static bool put_field(struct vt_writer *w, const struct vt_kind_desc *kind, uint64_t *row,
		      char *word)
{
	char *value = strchr(word, '=');
	int field;
	double real;

	if (value)
		*value++ = '\0';
	field = vt_schema_find_field(kind, word);
	if (!value || field < 0)
		return false;
	switch (kind->fields[field].type) {
	case VT_TYPE_S:
		put_text(w, (unsigned)field, value);
		break;
	case VT_TYPE_B:
		put_bytes(w, (unsigned)field, value);
		break;
	case VT_TYPE_A:
		put_words(w, (unsigned)field, value);
		break;
	case VT_TYPE_F:
		real = strtod(value, NULL);
		memcpy(&row[field], &real, sizeof(real));
		break;
	default:
		row[field] = *value == '-' ? (uint64_t)strtoll(value, NULL, 0)
					   : word_number(word, value);
		break;
	}
	return true;
}

static bool put_record(struct vt_writer *w, char *line)
{
	const struct vt_schema *schema = vt_writer_schema(w);
	char *word = strtok(line, " \t\n");
	int kind = word ? vt_schema_find(schema, word) : 0;
	uint64_t *row;

	if (!word || *word == '#')
		return true;
	if (kind < 0) {
		fprintf(stderr, "stream_make: no such kind: %s\n", word);
		return false;
	}
	row = vt_writer_row(w, (uint32_t)kind);
	while ((word = strtok(NULL, " \t\n"))) {
		if (!put_field(w, &schema->kinds[kind], row, word)) {
			fprintf(stderr, "stream_make: no such field: %s\n", word);
			return false;
		}
	}
	return true;
}

int main(void)
{
	static char line[MAX_LINE];
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = vt_writer_open("-", &o, &err);

	while (w && fgets(line, sizeof(line), stdin)) {
		if (!put_record(w, line)) {
			vt_writer_abandon(w);
			return 2;
		}
	}
	if (!w || vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0) {
		fprintf(stderr, "stream_make: %s\n", err.text);
		return 1;
	}
	return 0;
}
