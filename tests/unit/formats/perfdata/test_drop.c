/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks that are left out, and not even read: whatever is wrong with the file, the rest of it is
 * what it is with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/perfdata/abi.h"
#include "tests/unit/formats/perfdata/pdfile.h"

#define SAMPLES 40
#define STACK	16384

/* Of a sample with a user stack: header, ip, pid and tid, time, size, the stack, what was used. */
#define RECORD	 (8 + 3 * 8 + 8 + STACK + 8)
#define SIZE_AT	 32
#define STACK_AT 40
#define USED_AT	 (STACK_AT + STACK)

/* Where the data begins: a header, and an attribute of 136 bytes with its section of ids. */
#define DATA (104 + 136 + 16)

static void put_samples(struct pdfile *f)
{
	const struct pdfile_attr a = {.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME |
						     PD_SAMPLE_STACK_USER,
				      .flags = PD_ATTR_SAMPLE_ID_ALL,
				      .period = 1000,
				      .stack_user = STACK};
	unsigned i, k;

	pdfile_attr(f, &a);
	for (i = 0; i < SAMPLES; i++) {
		pdfile_begin(f, PD_SAMPLE, 2);
		pdfile_u64(f, &f->data, 0x401000 + i);
		pdfile_u32(f, &f->data, 100);
		pdfile_u32(f, &f->data, 101 + i);
		pdfile_u64(f, &f->data, 5000 - i);
		pdfile_u64(f, &f->data, STACK);
		for (k = 0; k < STACK / 8; k++)
			pdfile_u64(f, &f->data, (uint64_t)i << 32 | k);
		pdfile_u64(f, &f->data, 24 + 8 * i);
		assert_int_equal(f->data.size, (i + 1) * RECORD);
		pdfile_end(f);
	}
}

/* Removes what a stack adds to the lines. */
static void remove_stacks(char *text)
{
	char *at, *end;

	while ((at = strstr(text, " stack=")) != NULL) {
		end = strstr(at, " stack_dyn_size=");
		assert_non_null(end);
		end += strcspn(end + 1, " \n") + 1;
		memmove(at, end, strlen(end) + 1);
	}
}

/* Decodes the file with and without the stacks; returns how often it was read without. */
static unsigned check_equal(struct pdfile *f, uint64_t *samples)
{
	struct vt_format_summary with, without;
	unsigned reads = 0;
	char *all, *rest;

	f->drop_stacks = false;
	all = pdfile_decode(f, &with);
	remove_stacks(all);
	f->drop_stacks = true;
	f->reads = &reads;
	rest = pdfile_decode(f, &without);
	f->reads = NULL;
	assert_string_equal(rest, all);
	assert_memory_equal(&without, &with, sizeof(with));
	*samples = without.samples;
	free(all);
	free(rest);
	return reads;
}

static void leaves_stacks_unread(void **state)
{
	unsigned big, reads;
	uint64_t samples;

	(void)state;
	for (big = 0; big < 2; big++) {
		struct pdfile f = {.big = big};

		put_samples(&f);
		reads = check_equal(&f, &samples);
		assert_int_equal(samples, SAMPLES);
		/* Each sample is read by itself, with the header of the next; and what follows the
		 * last. */
		assert_in_range(reads, SAMPLES, SAMPLES + 2);
		pdfile_free(&f);
	}
}

/* A pipe cannot leave bytes out; stacks are dropped all the same. */
static void drops_stacks_of_pipes(void **state)
{
	struct pdfile f = {.piece = 5000};
	uint64_t samples;

	(void)state;
	put_samples(&f);
	check_equal(&f, &samples);
	assert_int_equal(samples, SAMPLES);
	pdfile_free(&f);
}

static void reads_damaged_samples_whole(void **state)
{
	static const uint64_t values[] = {
		0, 1, STACK - 8, STACK + 8, 2 * STACK, UINT64_MAX, UINT64_C(0x28) << 48 | 9};
	static const size_t places[] = {0,	     8,	      SIZE_AT,	  STACK_AT, STACK_AT + 8000,
					USED_AT - 8, USED_AT, RECORD - 4, RECORD};
	struct pdfile f = {.big = false};
	uint64_t samples;
	size_t i, k;

	(void)state;
	put_samples(&f);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		f.patch_at = DATA + 25 * RECORD + places[i];
		for (k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
			f.patch = values[k];
			check_equal(&f, &samples);
			assert_in_range(samples, SAMPLES - 2, SAMPLES);
		}
	}
	pdfile_free(&f);
}

static void tells_where_a_file_is_cut(void **state)
{
	static const size_t cuts[] = {1,	 8,	     12,	 9000,
				      STACK + 8, STACK + 12, RECORD - 4, RECORD + 9};
	struct pdfile f = {.big = false};
	uint64_t samples;
	size_t i;

	(void)state;
	put_samples(&f);
	for (i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		f.cut = cuts[i];
		check_equal(&f, &samples);
		assert_int_equal(samples, SAMPLES - 1 - (cuts[i] > RECORD));
	}
	pdfile_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_stacks_unread),
		cmocka_unit_test(drops_stacks_of_pipes),
		cmocka_unit_test(reads_damaged_samples_whole),
		cmocka_unit_test(tells_where_a_file_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
