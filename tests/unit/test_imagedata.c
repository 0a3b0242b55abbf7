/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "image/imagedata.h"

/* What is right is tested against running programs (tests/pipe/imagedata.t); this is what is not
 * well-formed. */

static struct vt_error err;

static uint8_t *read_program(size_t *size)
{
	FILE *f = fopen("/bin/ls", "rb");
	uint8_t *data = malloc(1 << 20);

	assert_non_null(f);
	assert_non_null(data);
	*size = fread(data, 1, 1 << 20, f);
	fclose(f);
	assert_true(*size > 10000);
	return data;
}

/* Reads all lines; the bytes that are not known are 0. */
static uint64_t walk(const struct vt_imagedata *d)
{
	uint64_t first, end, at, known, count = 0;
	uint8_t bytes[VT_IMAGEDATA_LINE];
	unsigned i;

	vt_imagedata_span(d, &first, &end);
	assert_true(first <= end);
	if (end - first > 1 << 22)
		first = end - (1 << 22);
	for (at = first; at < end; at += VT_IMAGEDATA_LINE) {
		known = vt_imagedata_line(d, 0x555555554000, at + 0x555555554000, true, bytes);
		for (i = 0; i < VT_IMAGEDATA_LINE; i++) {
			assert_true(known >> i & 1 || !bytes[i]);
			count += known >> i & 1;
		}
		vt_imagedata_code(d, at + 5, bytes, sizeof(bytes));
	}
	return count;
}

static uint64_t known_of(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	struct vt_imagedata *d;
	uint64_t bias, count;
	struct vt_elf *e;

	assert_non_null(copy);
	memcpy(copy, data, size);
	e = vt_elf_open_memory(copy, size, "test", &err);
	if (!e) {
		free(copy);
		return 0;
	}
	d = vt_imagedata_new(e, &err);
	assert_non_null(d);
	count = walk(d);
	vt_imagedata_bias(d, 0x7ffff7dd0000, 0x4000, &bias);
	vt_imagedata_free(d);
	vt_elf_close(e);
	free(copy);
	return count;
}

/* The program header of a type; an entry of _DYNAMIC. */
static uint8_t *header_of(uint8_t *data, uint32_t type)
{
	unsigned i;

	for (i = 0; i < data[56]; i++)
		if (memcmp(data + 64 + (size_t)i * 56, &type, 4) == 0)
			return data + 64 + (size_t)i * 56;
	fail();
	return NULL;
}

static uint8_t *dynamic_of(uint8_t *data, uint64_t tag)
{
	uint64_t offset;
	unsigned i;

	memcpy(&offset, header_of(data, 2) + 8, 8);
	for (i = 0; i < 100; i++)
		if (memcmp(data + offset + 16 * (size_t)i, &tag, 8) == 0)
			return data + offset + 16 * (size_t)i;
	fail();
	return NULL;
}

/* Anything at all in the headers, _DYNAMIC and the relocations. */
static void test_damaged(void **state)
{
	uint64_t dynamic, rela, size_of_rela;
	uint8_t *data, *bad;
	struct vt_rng r;
	size_t size;
	unsigned i, n;

	(void)state;
	data = read_program(&size);
	bad = malloc(size);
	assert_non_null(bad);
	memcpy(&dynamic, header_of(data, 2) + 8, 8);
	memcpy(&rela, dynamic_of(data, 7) + 8, 8);
	memcpy(&size_of_rela, dynamic_of(data, 8) + 8, 8);
	vt_rng_init(&r, 3);
	for (i = 0; i < 600; i++) {
		memcpy(bad, data, size);
		for (n = 1 + (unsigned)vt_rng_below(&r, 4); n; n--) {
			uint64_t at = 64 + vt_rng_below(&r, 13 * 56);

			if (i % 3 == 1)
				at = dynamic + vt_rng_below(&r, 480);
			else if (i % 3 == 2)
				at = rela + vt_rng_below(&r, size_of_rela);
			bad[at] = (uint8_t)vt_rng_next(&r);
		}
		known_of(bad, vt_rng_below(&r, 8) ? size : vt_rng_below(&r, size));
	}
	free(bad);
	free(data);
}

/* What makes protected data, or everything, uncertain. */
static void test_uncertain(void **state)
{
	const uint64_t rel = 17, far_away = UINT64_C(1) << 46, textrel = 22;
	uint64_t all, text;
	uint8_t *data, *at;
	size_t size;

	(void)state;
	data = read_program(&size);
	all = known_of(data, size);

	/* A table of a kind that this machine has not: what is protected may be anything. */
	at = dynamic_of(data, 0x6ffffffb);
	memcpy(at, &rel, 8);
	text = known_of(data, size);
	assert_true(text > 10000 && text < all);

	/* It may even be meant for the text. */
	memcpy(dynamic_of(data, 0x6ffffff9), &textrel, 8);
	assert_int_equal(known_of(data, size), 0);
	free(data);

	/* Relocations that are not in the file. */
	data = read_program(&size);
	memcpy(dynamic_of(data, 7) + 8, &far_away, 8);
	assert_int_equal(known_of(data, size), text);
	free(data);

	/* Segments in the wrong order, or of another machine. */
	data = read_program(&size);
	memcpy(header_of(data, 1) + 16, &far_away, 8);
	assert_int_equal(known_of(data, size), 0);
	free(data);
	data = read_program(&size);
	data[18] = 183;
	assert_int_equal(known_of(data, size), 0);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_uncertain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
