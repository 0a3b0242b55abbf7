/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Headers of streams: what they may hold, and each way in which one contradicts itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "stream/compress_internal.h"
#include "stream/frame_internal.h"
#include "stream/header_internal.h"
#include "stream/kinds.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

/* ---- stages ---- */

static void test_stages(void **state)
{
	static char program[] = "vprog", version[] = "1.2", one[] = "-a", two[] = "";
	static char *many[VT_MAX_ARGS + 1];
	char *args[] = {one, two};
	struct vt_stage stage = {program, version, 77, 2, args};
	struct vt_header h = {0}, all = {0};
	unsigned i;

	(void)state;
	assert_int_equal(vt_header_add_stage(&h, &stage, &err), 0);
	program[0] = 'x';
	one[1] = 'b';
	assert_int_equal(h.nstages, 1);
	assert_string_equal(h.stages[0].program, "vprog");
	assert_string_equal(h.stages[0].version, "1.2");
	assert_int_equal(h.stages[0].seed, 77);
	assert_int_equal(h.stages[0].nargs, 2);
	assert_string_equal(h.stages[0].args[0], "-a");
	assert_string_equal(h.stages[0].args[1], "");
	for (i = 0; i <= VT_MAX_ARGS; i++)
		many[i] = two;
	stage.args = many;
	stage.nargs = VT_MAX_ARGS + 1;
	assert_int_equal(vt_header_add_stage(&h, &stage, &err), -VT_E_LIMIT);
	assert_string_equal(err.text, "more than 4096 arguments");
	stage.nargs = VT_MAX_ARGS;
	assert_int_equal(vt_header_add_stage(&h, &stage, &err), 0);
	assert_int_equal(h.stages[1].nargs, VT_MAX_ARGS);
	stage.nargs = 0;
	/* Of 256 stages, two are h's. */
	for (i = 0; i < VT_MAX_STAGES - 2; i++)
		assert_int_equal(vt_header_add_stage(&all, &stage, &err), 0);
	assert_int_equal(vt_header_append(&all, &h, &err), 0);
	assert_int_equal(all.nstages, VT_MAX_STAGES);
	assert_int_equal(all.stages[VT_MAX_STAGES - 2].seed, 77);
	assert_int_equal(all.stages[VT_MAX_STAGES - 2].nargs, 2);
	assert_int_equal(all.stages[VT_MAX_STAGES - 1].nargs, VT_MAX_ARGS);
	assert_int_equal(vt_header_append(&all, &h, &err), -VT_E_LIMIT);
	assert_string_equal(err.text, "more than 256 stages");
	vt_header_fini(&all);
	assert_true(all.nstages == 0 && !all.stages);
	vt_header_fini(&h);
}

/* ---- kinds and fields ---- */

static void test_schemas(void **state)
{
	struct vt_schema s = {0}, other = {0};
	char name[VT_MAX_NAME + 2] = {0};
	unsigned i;

	(void)state;
	memset(name, 'n', VT_MAX_NAME + 1);
	assert_int_equal(vt_schema_add_kind(&s, name, &err), -VT_E_LIMIT);
	assert_string_equal(err.text, "kind name of 65 bytes");
	assert_int_equal(vt_schema_add_kind(&s, "", &err), -VT_E_LIMIT);
	name[VT_MAX_NAME] = 0;
	assert_int_equal(vt_schema_add_kind(&s, name, &err), 0);
	assert_int_equal(vt_schema_add_kind(&s, name, &err), 0);
	assert_int_equal(s.kinds[0].wire_id, 1024);
	s.kinds[0].wire_id = 1025;
	assert_int_equal(vt_schema_add_kind(&s, "A", &err), 1);
	assert_int_equal(vt_schema_add_kind(&s, "B", &err), 2);
	assert_int_equal(s.kinds[1].wire_id, 1024);
	assert_int_equal(s.kinds[2].wire_id, 1026);
	assert_int_equal(vt_schema_find(&s, "B"), 2);
	assert_int_equal(vt_schema_find(&s, "C"), -1);
	/* Fields of A. */
	assert_int_equal(vt_schema_add_field(&s.kinds[1], name, VT_TYPE_U, name, &err), 0);
	assert_int_equal(vt_schema_add_field(&s.kinds[1], name, VT_TYPE_U, "", &err), 0);
	assert_int_equal(vt_schema_add_field(&s.kinds[1], name, VT_TYPE_S, "", &err),
			 -VT_E_MISMATCH);
	name[VT_MAX_NAME] = 'n';
	assert_int_equal(vt_schema_add_field(&s.kinds[1], name, VT_TYPE_U, "", &err), -VT_E_LIMIT);
	assert_string_equal(err.text, "A: field name of 65 bytes");
	assert_int_equal(vt_schema_add_field(&s.kinds[1], "", VT_TYPE_U, "", &err), -VT_E_LIMIT);
	assert_int_equal(vt_schema_add_field(&s.kinds[1], "f", VT_TYPE_U, name, &err), -VT_E_LIMIT);
	for (i = 1; i < VT_MAX_FIELDS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(vt_schema_add_field(&s.kinds[1], name, VT_TYPE_A, "u", &err), i);
	}
	assert_int_equal(vt_schema_find_field(&s.kinds[1], "f127"), 127);
	assert_int_equal(vt_schema_find_field(&s.kinds[1], "f128"), -1);
	assert_int_equal(vt_schema_add_field(&s.kinds[1], "f128", VT_TYPE_A, "", &err),
			 -VT_E_LIMIT);
	assert_string_equal(err.text, "A: more than 128 fields");
	assert_string_equal(s.kinds[1].fields[127].unit, "u");
	/* The others; and merged into one that has another field f1 of B. */
	assert_int_equal(vt_schema_add_field(&s.kinds[2], "f1", VT_TYPE_U, "", &err), 0);
	assert_int_equal(vt_schema_add_kind(&other, "B", &err), 0);
	assert_int_equal(vt_schema_add_field(&other.kinds[0], "f2", VT_TYPE_S, "", &err), 0);
	assert_int_equal(vt_schema_merge(&other, &s, &err), 0);
	assert_int_equal(other.nkinds, 3);
	assert_int_equal(other.kinds[0].nfields, 2);
	assert_int_equal(other.kinds[2].nfields, VT_MAX_FIELDS);
	assert_int_equal(vt_schema_add_field(&s.kinds[2], "f2", VT_TYPE_B, "", &err), 1);
	assert_int_equal(vt_schema_merge(&other, &s, &err), -VT_E_MISMATCH);
	assert_string_equal(err.text, "field f2 of B has two types");
	for (i = 3; i < VT_MAX_KINDS; i++) {
		snprintf(name, sizeof(name), "K%u", i);
		assert_int_equal(vt_schema_add_kind(&s, name, &err), i);
	}
	assert_int_equal(vt_schema_add_kind(&s, "more", &err), -VT_E_LIMIT);
	assert_string_equal(err.text, "more than 256 kinds of record");
	assert_int_equal(vt_schema_merge(&other, &s, &err), -VT_E_MISMATCH);
	vt_schema_fini(&other);
	assert_true(other.nkinds == 0 && !other.kinds);
	/* There may be too many together. */
	assert_int_equal(vt_schema_init(&other, &err), 0);
	assert_int_equal(vt_schema_merge(&other, &s, &err), -VT_E_LIMIT);
	vt_schema_fini(&other);
	vt_schema_fini(&s);
}

/* ---- what a header says ---- */

struct decoded {
	struct vt_header header;
	struct vt_schema schema;
	struct vt_schema wire;
	int code;
};

static void decode(const struct vt_buf *b, struct decoded *d)
{
	struct vt_cursor c = vt_cursor_make(b->data, b->size, false);

	*d = (struct decoded){.code = 0};
	assert_int_equal(vt_schema_init(&d->schema, &err), 0);
	d->code = vti_header_decode(&c, &d->header, &d->schema, &d->wire, &err);
}

static void drop(struct decoded *d)
{
	vt_header_fini(&d->header);
	vt_schema_fini(&d->schema);
	vt_schema_fini(&d->wire);
}

/* A header of these stages and kinds, whose first fields are told here. */
struct made {
	uint64_t stages; /* 0: none; the one there is has the program p, `args` arguments a */
	uint64_t args;
	const char *arg;
	uint64_t kinds;
	uint64_t ids[2];
	const char *names[2];
	uint64_t fields; /* of the first kind */
	const char *field_names[2];
	char types[2];
	unsigned more; /* bytes behind it */
};

static void put_text(struct vt_buf *b, const char *text)
{
	/* A zero cannot be in a C string: it is a dollar here. */
	size_t i, n = strlen(text);

	vt_buf_put_varint(b, n);
	for (i = 0; i < n; i++)
		vt_buf_put_u8(b, text[i] == '$' ? 0 : (uint8_t)text[i]);
}

static void encode(struct vt_buf *b, const struct made *m)
{
	unsigned i, f;

	b->size = 0;
	vt_buf_put_varint(b, m->stages);
	for (i = 0; i < m->stages && i < 1; i++) {
		put_text(b, "p");
		put_text(b, "v");
		vt_buf_put_varint(b, 5);
		vt_buf_put_varint(b, m->args);
		for (f = 0; f < m->args && f < 1; f++)
			put_text(b, m->arg);
	}
	vt_buf_put_varint(b, m->kinds);
	for (i = 0; i < m->kinds && i < 2; i++) {
		vt_buf_put_varint(b, m->ids[i]);
		put_text(b, m->names[i]);
		vt_buf_put_varint(b, i ? 0 : m->fields);
		for (f = 0; i == 0 && f < m->fields && f < 2; f++) {
			put_text(b, m->field_names[f]);
			vt_buf_put_u8(b, (uint8_t)m->types[f]);
			put_text(b, "");
		}
	}
	for (i = 0; i < m->more; i++)
		vt_buf_put_u8(b, 0);
}

static const struct made usual = {
	1, 1, "arg", 2, {16, 65000}, {"COUNT", "K"}, 2, {"samples", "own"}, {'U', 'S'}, 0};

static void test_decoded(void **state)
{
	struct vt_buf b = VT_BUF_INIT, again = VT_BUF_INIT;
	struct made m = usual;
	struct decoded d;
	size_t size;
	int at;

	(void)state;
	encode(&b, &m);
	decode(&b, &d);
	assert_int_equal(d.code, 0);
	assert_int_equal(d.header.nstages, 1);
	assert_string_equal(d.header.stages[0].program, "p");
	assert_string_equal(d.header.stages[0].version, "v");
	assert_int_equal(d.header.stages[0].seed, 5);
	assert_int_equal(d.header.stages[0].nargs, 1);
	assert_string_equal(d.header.stages[0].args[0], "arg");
	assert_int_equal(d.wire.nkinds, 2);
	assert_int_equal(d.wire.kinds[0].wire_id, 16);
	assert_int_equal(d.wire.kinds[1].wire_id, 65000);
	assert_int_equal(d.wire.kinds[0].nfields, 2);
	/* A kind and a field of its own come to those that are known. */
	assert_int_equal(d.schema.nkinds, VT_NKINDS + 1);
	assert_string_equal(d.schema.kinds[VT_NKINDS].name, "K");
	assert_int_equal(d.schema.kinds[VT_COUNT].nfields, VT_COUNT_NFIELDS + 1);
	at = vt_schema_find_field(&d.schema.kinds[VT_COUNT], "own");
	assert_int_equal(at, VT_COUNT_NFIELDS);
	assert_int_equal(d.schema.kinds[VT_COUNT].fields[at].type, VT_TYPE_S);
	vti_header_encode(&again, &d.header, &d.wire);
	assert_int_equal(again.size, b.size);
	assert_memory_equal(again.data, b.data, b.size);
	drop(&d);
	/* A field of another type than the known one stays out. */
	m.types[0] = 'B';
	encode(&b, &m);
	decode(&b, &d);
	assert_int_equal(d.code, 0);
	assert_int_equal(d.schema.kinds[VT_COUNT].nfields, VT_COUNT_NFIELDS + 1);
	assert_int_equal(d.wire.kinds[0].fields[0].type, VT_TYPE_B);
	drop(&d);
	/* Less of it is none. */
	for (size = b.size; size-- > 0;) {
		b.size = size;
		decode(&b, &d);
		assert_int_equal(d.code, -VT_E_DAMAGED);
		drop(&d);
	}
	vt_buf_free(&b);
	vt_buf_free(&again);
}

static void check(const struct made *m, int code)
{
	struct vt_buf b = VT_BUF_INIT;
	struct decoded d;

	encode(&b, m);
	decode(&b, &d);
	assert_int_equal(d.code, code);
	if (code == -VT_E_DAMAGED)
		assert_string_equal(err.text, "the header contradicts itself");
	drop(&d);
	vt_buf_free(&b);
}

static void test_contradictions(void **state)
{
	char name[VT_MAX_NAME + 2] = {0};
	struct made m;
	const char *p;

	(void)state;
	check(&usual, 0);
	memset(name, 'n', VT_MAX_NAME);
	m = usual, m.names[1] = m.field_names[1] = name, check(&m, 0);
	name[VT_MAX_NAME] = 'n';
	m = usual, m.names[1] = name, check(&m, -VT_E_DAMAGED);
	m = usual, m.field_names[1] = name, check(&m, -VT_E_DAMAGED);
	m = usual, m.stages = VT_MAX_STAGES + 1, check(&m, -VT_E_DAMAGED);
	m = usual, m.args = VT_MAX_ARGS + 1, check(&m, -VT_E_DAMAGED);
	m = usual, m.arg = "", check(&m, 0);
	m = usual, m.arg = "a$", check(&m, -VT_E_DAMAGED);
	m = usual, m.arg = "$a", check(&m, -VT_E_DAMAGED);
	m = usual, m.kinds = VT_MAX_KINDS + 1, check(&m, -VT_E_DAMAGED);
	m = usual, m.ids[0] = 15, check(&m, -VT_E_DAMAGED);
	m = usual, m.ids[1] = 65001, check(&m, -VT_E_DAMAGED);
	m = usual, m.ids[1] = 16, check(&m, -VT_E_DAMAGED);
	m = usual, m.names[1] = "COUNT", check(&m, -VT_E_DAMAGED);
	m = usual, m.names[1] = "", check(&m, -VT_E_LIMIT);
	m = usual, m.fields = VT_MAX_FIELDS + 1, check(&m, -VT_E_DAMAGED);
	m = usual, m.field_names[1] = "samples", m.types[1] = 'U', check(&m, -VT_E_DAMAGED);
	m = usual, m.more = 1, check(&m, -VT_E_DAMAGED);
	for (p = "UIFSBA"; *p; p++)
		m = usual, m.types[1] = *p, check(&m, 0);
	for (p = "$TVEG@"; *p; p++)
		m = usual, m.types[1] = *p == '$' ? 0 : *p, check(&m, -VT_E_DAMAGED);
}

/* As many of each as there may be. */
static void test_limits(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vt_schema known;
	struct decoded d;
	unsigned i, f;
	char name[16];

	(void)state;
	assert_int_equal(vt_schema_init(&known, &err), 0);
	vt_buf_put_varint(&b, VT_MAX_STAGES);
	for (i = 0; i < VT_MAX_STAGES; i++) {
		put_text(&b, "p");
		put_text(&b, "v");
		vt_buf_put_varint(&b, i);
		vt_buf_put_varint(&b, i ? 0 : VT_MAX_ARGS);
		for (f = 0; !i && f < VT_MAX_ARGS; f++)
			put_text(&b, "a");
	}
	vt_buf_put_varint(&b, VT_MAX_KINDS);
	for (i = 0; i < VT_MAX_KINDS; i++) {
		vt_buf_put_varint(&b, 16 + i);
		snprintf(name, sizeof(name), "K%u", i);
		put_text(&b, i < VT_NKINDS ? known.kinds[i].name : name);
		vt_buf_put_varint(&b, i == VT_MAX_KINDS - 1 ? VT_MAX_FIELDS : 0);
		for (f = 0; i == VT_MAX_KINDS - 1 && f < VT_MAX_FIELDS; f++) {
			snprintf(name, sizeof(name), "f%u", f);
			put_text(&b, name);
			vt_buf_put_u8(&b, 'U');
			put_text(&b, "u");
		}
	}
	vt_schema_fini(&known);
	decode(&b, &d);
	assert_int_equal(d.code, 0);
	assert_int_equal(d.header.stages[0].nargs, VT_MAX_ARGS);
	assert_int_equal(d.header.stages[255].seed, 255);
	assert_int_equal(d.schema.nkinds, VT_MAX_KINDS);
	assert_int_equal(d.wire.kinds[255].nfields, VT_MAX_FIELDS);
	assert_string_equal(d.wire.kinds[255].fields[63].unit, "u");
	drop(&d);
	vt_buf_free(&b);
}

/* ---- how a stream begins ---- */

static void open_bytes(const uint8_t *data, size_t size, enum vt_errcode code, const char *text)
{
	int fd = scratch_file();
	struct vt_reader *r;

	assert_int_equal(pwrite(fd, data, size, 0), size);
	r = vt_reader_open_fd(fd, "test", &err);
	if (code == VT_OK) {
		assert_non_null(r);
	} else {
		assert_null(r);
		assert_int_equal(err.code, code);
		if (strcmp(err.text, text) != 0)
			fail_msg("%zu bytes: %s", size, err.text);
	}
	vt_reader_close(r);
	close(fd);
}

/* All 16 bytes of it, whatever was there before. */
static void test_preamble(void **state)
{
	static const uint8_t want[VTI_PREAMBLE_SIZE] = {0x89,
							'V',
							'T',
							'R',
							0x0d,
							0x0a,
							0x1a,
							0x0a,
							VTI_VERSION_MAJOR,
							0,
							VTI_VERSION_MINOR};
	uint8_t got[VTI_PREAMBLE_SIZE];

	(void)state;
	memset(got, 0xff, sizeof(got));
	vti_preamble_encode(got);
	assert_memory_equal(got, want, sizeof(want));
}

/* The header in another form. */
static void open_header(const struct vti_block_head *h, const uint8_t *payload, size_t size,
			enum vt_errcode code, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;
	uint8_t head[VTI_BLOCK_SIZE], preamble[VTI_PREAMBLE_SIZE];
	struct vti_block_head made = *h;

	vti_preamble_encode(preamble);
	vt_buf_put(&b, preamble, sizeof(preamble));
	made.payload_crc = h->payload_crc ^ vti_crc32(0, payload, size);
	vti_block_encode(head, &made);
	vt_buf_put(&b, head, sizeof(head));
	vt_buf_put(&b, payload, size);
	open_bytes(b.data, b.size, code, text);
	vt_buf_free(&b);
}

#define DAMAGED "test: header at 0x10: damaged"

static void test_beginnings(void **state)
{
	struct vti_block_head h;
	uint8_t *data, packed[65536], *payload;
	uLongf n = sizeof(packed);
	int fd = scratch_file();
	char text[100];
	size_t size, end, i;

	(void)state;
	write_stream(fd, VT_COMPRESS_NONE, 1);
	data = slurp(fd, &size);
	close(fd);
	assert_true(vti_block_decode(data + VTI_PREAMBLE_SIZE, &h));
	payload = data + VTI_PREAMBLE_SIZE + VTI_BLOCK_SIZE;
	end = VTI_PREAMBLE_SIZE + VTI_BLOCK_SIZE + h.stored_size;
	/* Cut. */
	for (i = 0; i < end; i += i < 60 ? 1 : 97) {
		snprintf(text, sizeof(text),
			 i < VTI_PREAMBLE_SIZE ? "test: %zu bytes, not a vt stream"
					       : "test: ends at 0x%zx, in the header",
			 i);
		open_bytes(data, i, i < VTI_PREAMBLE_SIZE ? VT_E_FORMAT : VT_E_TRUNC, text);
	}
	snprintf(text, sizeof(text), "test: ends at 0x%zx, in the header", end - 1);
	open_bytes(data, end - 1, VT_E_TRUNC, text);
	open_bytes(data, end, VT_OK, NULL);
	/* In other forms. */
	h.payload_crc = 0;
	open_header(&h, payload, h.raw_size, VT_OK, NULL);
	h.payload_crc = 1;
	open_header(&h, payload, h.raw_size, VT_E_DAMAGED, "test: header at 0x10: bad CRC");
	h.payload_crc = 0;
	h.kind = 16;
	open_header(&h, payload, h.raw_size, VT_E_DAMAGED, DAMAGED);
	h.kind = VTI_BLOCK_HEADER;
	h.raw_size++;
	open_header(&h, payload, h.stored_size, VT_E_DAMAGED, DAMAGED);
	h.raw_size--;
	assert_int_equal(compress(packed, &n, payload, h.raw_size), Z_OK);
	h.compression = VT_COMPRESS_ZLIB;
	h.stored_size = (uint32_t)n;
	open_header(&h, packed, n, VT_OK, NULL);
	h.raw_size++;
	open_header(&h, packed, n, VT_E_DAMAGED,
		    "test: header at 0x10: the header cannot be decompressed");
	h.raw_size = VT_MAX_HEADER;
	open_header(&h, packed, n, VT_E_DAMAGED,
		    "test: header at 0x10: the header cannot be decompressed");
	h.raw_size = VT_MAX_HEADER + 1;
	open_header(&h, packed, n, VT_E_DAMAGED, DAMAGED);
	h.raw_size = 10;
	h.stored_size = VT_MAX_HEADER + 1;
	open_header(&h, packed, n, VT_E_DAMAGED, DAMAGED);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages),	 cmocka_unit_test(test_schemas),
		cmocka_unit_test(test_decoded),	 cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_limits),	 cmocka_unit_test(test_beginnings),
		cmocka_unit_test(test_preamble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
