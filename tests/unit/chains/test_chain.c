/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "chains/chain.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"

#define CONTEXT_HV     ((uint64_t)-32)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER   ((uint64_t)-512)
#define CONTEXT_GUEST  ((uint64_t)-2560)
#define CONTEXT_MAX    ((uint64_t)-4095)

#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

/* What a sample has. */
struct made {
	uint64_t ip;
	uint64_t misc;
	const uint64_t *chain;
	size_t count;
	const uint64_t *from;
	const uint64_t *to;
	size_t branches;
	uint64_t branch_type;
};

static void read_made(struct vt_chain *c, const struct made *m)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);
	struct vt_reader *r;
	struct vt_record rec;

	row[VT_SAMPLE_IP] = m->ip;
	row[VT_SAMPLE_MISC] = m->misc;
	if (m->count)
		vt_writer_words(w, VT_SAMPLE_CALLCHAIN, m->chain, m->count);
	if (m->branches) {
		vt_writer_words(w, VT_SAMPLE_BR_FROM, m->from, m->branches);
		vt_writer_words(w, VT_SAMPLE_BR_TO, m->to, m->branches);
	}
	r = reread_stream(fd, w);
	rec = next_of_kind(r, VT_SAMPLE);
	vt_chain_read(c, &rec, m->branch_type);
	vt_reader_close(r);
	close(fd);
}

static void expect_frame(const struct vt_chain *c, size_t i, uint64_t address,
			 enum vt_frame_mode mode)
{
	assert_true(i < c->count);
	assert_int_equal(c->frames[i].address, address);
	assert_int_equal(c->frames[i].mode, mode);
}

static void markers_switch_modes(void **state)
{
	static const uint64_t words[] = {CONTEXT_KERNEL, 0xffff8010, 0xffff8020, CONTEXT_USER,
					 0x1000,	 0x2000,     0x3000};
	struct vt_chain c;

	(void)state;
	read_made(&c, &(struct made){0xffff8010, 1, words, COUNT(words), NULL, NULL, 0, 0});
	assert_int_equal(c.count, 5);
	assert_true(c.recorded);
	assert_false(c.skid || c.damaged || c.cut);
	expect_frame(&c, 0, 0xffff8010, VT_FRAME_KERNEL);
	expect_frame(&c, 1, 0xffff801f, VT_FRAME_KERNEL);
	/* Where the kernel was entered is the next instruction, not a return address. */
	expect_frame(&c, 2, 0x1000, VT_FRAME_USER);
	expect_frame(&c, 3, 0x1fff, VT_FRAME_USER);
	expect_frame(&c, 4, 0x2fff, VT_FRAME_USER);
}

static void other_modes(void **state)
{
	static const uint64_t words[] = {CONTEXT_HV, 0x10, CONTEXT_GUEST, 0x20, 0x30};
	struct vt_chain c;

	(void)state;
	read_made(&c, &(struct made){0x10, 3, words, COUNT(words), NULL, NULL, 0, 0});
	assert_int_equal(c.count, 3);
	expect_frame(&c, 0, 0x10, VT_FRAME_HYPERVISOR);
	expect_frame(&c, 1, 0x20, VT_FRAME_GUEST_USER);
	expect_frame(&c, 2, 0x2f, VT_FRAME_GUEST_USER);
	/* A mode that is none, and a chain without markers. */
	read_made(&c, &(struct made){0x10, 7, words + 3, 2, NULL, NULL, 0, 0});
	assert_int_equal(c.count, 3);
	expect_frame(&c, 0, 0x10, VT_FRAME_UNKNOWN);
	expect_frame(&c, 2, 0x2f, VT_FRAME_UNKNOWN);
}

static void keeps_the_sample_itself(void **state)
{
	static const uint64_t near[] = {CONTEXT_USER, 0x1008, 0x2000};
	struct vt_chain c;

	(void)state;
	read_made(&c, &(struct made){0x1004, 2, near, COUNT(near), NULL, NULL, 0, 0});
	assert_int_equal(c.count, 3);
	assert_true(c.skid);
	expect_frame(&c, 0, 0x1004, VT_FRAME_USER);
	expect_frame(&c, 1, 0x1008, VT_FRAME_USER);
	/* The same address in another mode is another place. */
	read_made(&c, &(struct made){0x1008, 1, near, COUNT(near), NULL, NULL, 0, 0});
	assert_int_equal(c.count, 3);
	assert_true(c.skid);
	/* No chain, and one of nothing but a marker. */
	read_made(&c, &(struct made){0x1004, 2, NULL, 0, NULL, NULL, 0, 0});
	assert_int_equal(c.count, 1);
	assert_false(c.recorded || c.skid);
	read_made(&c, &(struct made){0x1004, 2, near, 1, NULL, NULL, 0, 0});
	assert_int_equal(c.count, 1);
	assert_true(c.recorded);
}

static void unknown_markers_void_the_chain(void **state)
{
	static const uint64_t words[] = {CONTEXT_USER, 0x1000, CONTEXT_MAX, 0x2000};
	static const uint64_t address[] = {CONTEXT_USER, 0x1000, CONTEXT_MAX - 1};
	struct vt_chain c;

	(void)state;
	read_made(&c, &(struct made){0x1000, 2, words, COUNT(words), NULL, NULL, 0, 0});
	assert_int_equal(c.count, 1);
	assert_true(c.damaged && c.recorded);
	expect_frame(&c, 0, 0x1000, VT_FRAME_USER);
	/* Just below the markers it is an address. */
	read_made(&c, &(struct made){0x1000, 2, address, COUNT(address), NULL, NULL, 0, 0});
	assert_int_equal(c.count, 2);
	assert_false(c.damaged);
}

static void long_chains_are_cut(void **state)
{
	static uint64_t words[VT_CHAIN_MAX + 2];
	struct vt_chain c;
	size_t i;

	(void)state;
	words[0] = CONTEXT_USER;
	for (i = 1; i < COUNT(words); i++)
		words[i] = 0x1000 + i;
	/* The first repeats the sample: until it is dropped, there is one more. */
	read_made(&c, &(struct made){0x1001, 2, words, VT_CHAIN_MAX, NULL, NULL, 0, 0});
	assert_int_equal(c.count, VT_CHAIN_MAX - 1);
	assert_false(c.cut);
	read_made(&c, &(struct made){0x1001, 2, words, VT_CHAIN_MAX + 1, NULL, NULL, 0, 0});
	assert_int_equal(c.count, VT_CHAIN_MAX - 1);
	assert_true(c.cut);
}

static void call_stacks_are_the_user_part(void **state)
{
	static const uint64_t words[] = {CONTEXT_KERNEL, 0xffff8010, CONTEXT_USER, 0x1004, 0x9000};
	static const uint64_t from[] = {0x2008, 0x3008}, to[] = {0x1000, 0x2000};
	struct made m = {0xffff8010, 1, words, COUNT(words), from, to, 2, VT_BRANCH_CALL_STACK};
	struct vt_chain c;

	(void)state;
	read_made(&c, &m);
	assert_int_equal(c.count, 4);
	expect_frame(&c, 0, 0xffff8010, VT_FRAME_KERNEL);
	expect_frame(&c, 1, 0x1000, VT_FRAME_USER);
	expect_frame(&c, 2, 0x2008, VT_FRAME_USER);
	expect_frame(&c, 3, 0x3008, VT_FRAME_USER);
	/* Without a user part there is nothing to replace. */
	m.count = 2;
	read_made(&c, &m);
	assert_int_equal(c.count, 1);
	/* Other branch stacks are no call stacks. */
	m.count = COUNT(words);
	m.branch_type = 8;
	read_made(&c, &m);
	assert_int_equal(c.count, 3);
	expect_frame(&c, 2, 0x8fff, VT_FRAME_USER);
	/* An empty one replaces nothing; a marker without addresses is enough. */
	m.branch_type = VT_BRANCH_CALL_STACK;
	m.branches = 0;
	read_made(&c, &m);
	assert_int_equal(c.count, 3);
	m.branches = 2;
	m.count = 3;
	read_made(&c, &m);
	assert_int_equal(c.count, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markers_switch_modes),
		cmocka_unit_test(other_modes),
		cmocka_unit_test(keeps_the_sample_itself),
		cmocka_unit_test(unknown_markers_void_the_chain),
		cmocka_unit_test(long_chains_are_cut),
		cmocka_unit_test(call_stacks_are_the_user_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
