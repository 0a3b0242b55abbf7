/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stream that has everything in it: every known kind and a foreign one, every type, values that
 * suit each coding and values that suit none. It is made by chance, the same each time.
 *
 *	stream_mixed none|zlib|zstd N     N records to standard output
 *	stream_mixed lines N              what tests/vt_reader.py is to print for them
 *
 * The lines come from the values as they were made, not from reading a stream.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/rng.h"
#include "stream/writer.h"

#define MAX_ITEMS 40

/* A record's field: a number, or `count` bytes or numbers. */
struct value {
	uint64_t number;
	size_t count;
	uint8_t bytes[MAX_ITEMS];
	uint64_t words[MAX_ITEMS];
};

struct maker {
	struct vt_rng rng;
	struct vt_schema schema;
	uint64_t made; /* records */
	uint32_t kind;
	uint64_t run; /* records of this kind still to come */
};

/* Values as different as columns can hold; each field of each kind keeps to one pattern. */
static uint64_t make_number(struct maker *m, uint32_t pattern)
{
	static const uint64_t extremes[] = {0,		1,
					    255,	256,
					    65535,	65536,
					    UINT32_MAX, UINT64_C(1) << 32,
					    INT64_MAX,	UINT64_C(1) << 63,
					    UINT64_MAX, UINT64_MAX - 1};

	switch (pattern % 8) {
	case 0:
		return 0;
	case 1:
		return pattern + UINT64_MAX / 3;
	case 2:
		return m->made * 1000 + vt_rng_below(&m->rng, 3);
	case 3:
		return UINT64_MAX - m->made;
	case 4:
		return vt_rng_below(&m->rng, 200);
	case 5:
		return extremes[vt_rng_below(&m->rng, sizeof(extremes) / sizeof(extremes[0]))];
	case 6:
		return vt_rng_next(&m->rng) >> vt_rng_below(&m->rng, 64);
	default:
		return vt_rng_below(&m->rng, 50) ? UINT64_C(1) << 60 : 7;
	}
}

/* Texts with what is hard to print among the letters. */
static void make_bytes(struct maker *m, struct value *v, bool text)
{
	static const char *const parts[] = {"a",	"\n",		"\t",
					    "\\",	"\x01",		"\xc3\xa9",
					    "\xc3",	"\xed\xa0\x80", "\xf0\x9f\x98\x80",
					    "\xc2\x85", "\x7f",		"="};
	size_t room = vt_rng_below(&m->rng, MAX_ITEMS);

	while (text && v->count < room) {
		const char *part = parts[vt_rng_below(&m->rng, sizeof(parts) / sizeof(parts[0]))];

		if (v->count + strlen(part) > MAX_ITEMS)
			break;
		memcpy(v->bytes + v->count, part, strlen(part));
		v->count += strlen(part);
	}
	while (!text && v->count < room)
		v->bytes[v->count++] = (uint8_t)vt_rng_next(&m->rng);
}

static void make_value(struct maker *m, struct value *v, enum vt_type type, uint32_t pattern)
{
	v->count = 0;
	if (type == VT_TYPE_S || type == VT_TYPE_B) {
		/* Some columns are always empty, some always of one length. */
		if (pattern % 4 == 1)
			make_bytes(m, v, type == VT_TYPE_S);
		else if (pattern % 4 == 2)
			memcpy(v->bytes, "always", v->count = 6);
		else if (pattern % 4 == 3 && vt_rng_below(&m->rng, 10) == 0)
			make_bytes(m, v, type == VT_TYPE_S);
	} else if (type == VT_TYPE_A) {
		size_t n = pattern % 3 ? vt_rng_below(&m->rng, MAX_ITEMS) : 2;

		while (v->count < n)
			v->words[v->count++] = make_number(m, pattern + 1);
	} else {
		v->number = make_number(m, pattern);
	}
}

static void put_value(struct vt_writer *w, uint64_t *row, uint32_t f, enum vt_type type,
		      const struct value *v)
{
	if (type == VT_TYPE_A)
		vt_writer_words(w, f, v->words, v->count);
	else if (type == VT_TYPE_S || type == VT_TYPE_B)
		vt_writer_bytes(w, f, v->bytes, v->count);
	else
		row[f] = v->number;
}

static void print_value(enum vt_type type, const struct value *v)
{
	struct vt_buf text = VT_BUF_INIT;
	size_t i;

	if (type == VT_TYPE_S) {
		vt_escape(&text, v->bytes, v->count);
		fputs(vt_buf_str(&text), stdout);
		vt_buf_free(&text);
	} else if (type == VT_TYPE_B) {
		for (i = 0; i < v->count; i++)
			printf("%02x", v->bytes[i]);
	} else if (type == VT_TYPE_A) {
		for (i = 0; i < v->count; i++)
			printf("%s%" PRIu64, i ? "," : "", v->words[i]);
	} else if (type == VT_TYPE_I) {
		printf("%" PRId64, (int64_t)v->number);
	} else if (type == VT_TYPE_F) {
		printf("%016" PRIx64, v->number);
	} else {
		printf("%" PRIu64, v->number);
	}
}

/* Makes the next record: into the writer, or as a line if there is none. */
static void make_record(struct maker *m, struct vt_writer *w)
{
	const struct vt_kind_desc *kind;
	uint64_t *row = NULL;
	struct value v;
	uint32_t f;

	if (!m->run) {
		m->kind = (uint32_t)vt_rng_below(&m->rng, m->schema.nkinds);
		m->run = 1 + vt_rng_below(&m->rng, vt_rng_below(&m->rng, 5) ? 3 : 200);
	}
	m->run--;
	kind = &m->schema.kinds[m->kind];
	if (w)
		row = vt_writer_row(w, m->kind);
	else
		fputs(kind->name, stdout);
	for (f = 0; f < kind->nfields; f++) {
		enum vt_type type = kind->fields[f].type;

		make_value(m, &v, type, m->kind * 5 + f);
		if (w) {
			put_value(w, row, f, type, &v);
		} else {
			printf("\t%s=", kind->fields[f].name);
			print_value(type, &v);
		}
	}
	if (!w)
		putchar('\n');
	m->made++;
}

/* A kind that no program knows, with each type, and foreign fields in a known kind. */
static int add_foreign(struct vt_schema *s, struct vt_error *err)
{
	static const enum vt_type types[] = {VT_TYPE_U, VT_TYPE_I, VT_TYPE_F,
					     VT_TYPE_S, VT_TYPE_B, VT_TYPE_A};
	int kind = vt_schema_add_kind(s, "FOREIGN", err);
	int code = kind;
	size_t i;

	for (i = 0; i < 18 && code >= 0; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%zu", i);
		code = vt_schema_add_field(&s->kinds[kind], name, types[i / 3], "furlongs", err);
	}
	if (code >= 0)
		code = vt_schema_add_field(&s->kinds[VT_COUNT], "colour", VT_TYPE_S, "", err);
	if (code >= 0)
		code = vt_schema_add_kind(s, "FIELDLESS", err);
	return code < 0 ? code : 0;
}

static int write_stream(struct maker *m, const char *how, uint64_t n, struct vt_error *err)
{
	char *args[] = {(char *)how, "tab\tand \xff"};
	struct vt_stage stage = {"stream_mixed", "1", UINT64_MAX, 2, args};
	struct vt_writer_options opt = {.stage = &stage, .extra = &m->schema};
	struct vt_writer *w;

	opt.compression = strcmp(how, "none") == 0   ? VT_COMPRESS_NONE
			  : strcmp(how, "zlib") == 0 ? VT_COMPRESS_ZLIB
						     : VT_COMPRESS_ZSTD;
	w = vt_writer_open("-", &opt, err);
	if (!w)
		return -(int)err->code;
	while (m->made < n)
		make_record(m, w);
	return vt_writer_close(w, VT_STATUS_LOSSY, err);
}

int main(int argc, char **argv)
{
	struct maker m = {.made = 0};
	struct vt_error err = VT_ERROR_INIT;
	uint64_t n;
	int code;

	if (argc != 3) {
		fprintf(stderr, "usage: stream_mixed none|zlib|zstd|lines N\n");
		return 2;
	}
	n = strtoull(argv[2], NULL, 10);
	vt_rng_init(&m.rng, 1);
	code = vt_schema_init(&m.schema, &err);
	if (code == 0)
		code = add_foreign(&m.schema, &err);
	if (code == 0 && strcmp(argv[1], "lines") == 0)
		while (m.made < n)
			make_record(&m, NULL);
	else if (code == 0)
		code = write_stream(&m, argv[1], n, &err);
	vt_schema_fini(&m.schema);
	if (code < 0)
		fprintf(stderr, "stream_mixed: %s\n", err.text);
	return code < 0;
}
