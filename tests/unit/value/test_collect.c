/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "machine/insn/insn.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/value/lists.h"
#include "value/collect.h"

/*
 * From executed blocks to lists of values: a loop that loads 4 bytes, calls through a register, is
 * called, loads 16 bytes, returns, and jumps back, of which each number is known beforehand.
 */

#define PID  7
#define BASE 0x400000u

/* Offsets in the image. */
#define AT_LOAD	  0x1000u
#define AT_CALL	  0x1003u
#define AT_BEHIND 0x1005u
#define AT_CALLEE 0x2000u
#define AT_RETURN 0x2004u

#define ROUNDS 100u /* in one run; then three blocks in another one */

static struct vt_error err;

static uint64_t slot(unsigned insn, enum vt_what what, unsigned size, unsigned reg)
{
	return insn | (uint64_t)what << 16 | (uint64_t)size << 32 | (uint64_t)reg << 48;
}

static void put_block(struct vt_writer *w, uint64_t id, uint64_t offset, const uint8_t *lengths,
		      unsigned insns, enum vt_block_end end, uint64_t target, const uint64_t *slots,
		      unsigned nslots)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);
	unsigned i;

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = BASE + offset;
	row[VT_BLOCK_INSNS] = insns;
	row[VT_BLOCK_END] = end;
	row[VT_BLOCK_TARGET] = target;
	for (i = 0; i < insns; i++)
		row[VT_BLOCK_SIZE] += lengths[i];
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, lengths, insns);
	vt_writer_words(w, VT_BLOCK_SLOTS, slots, nslots);
}

static void put_run(struct vt_writer *w, uint64_t first, unsigned from, unsigned rounds)
{
	uint8_t ids[2 * 3 * ROUNDS], data[28 * ROUNDS];
	uint64_t *row = vt_writer_row(w, VT_EXEC);
	unsigned i;

	for (i = 0; i < 3 * rounds; i++)
		vt_put_le16(ids + 2 * i, (uint16_t)(i % 3));
	for (i = 0; i < rounds; i++) {
		vt_put_le32(data + 28 * i, (from + i) % 4);
		vt_put_le64(data + 28 * i + 4, 7);
		vt_put_le64(data + 28 * i + 12, 1000 + from + i);
		vt_put_le64(data + 28 * i + 20, 5);
	}
	row[VT_EXEC_PID] = row[VT_EXEC_TID] = PID;
	row[VT_EXEC_FIRST] = first;
	row[VT_EXEC_BLOCKS] = (uint64_t)3 * rounds;
	row[VT_EXEC_INSNS] = (uint64_t)5 * rounds;
	row[VT_EXEC_BASE] = 1;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(w, VT_EXEC_IDS, ids, (size_t)2 * 3 * rounds);
	vt_writer_bytes(w, VT_EXEC_DATA, data, (size_t)28 * rounds);
}

static void put_program(struct vt_writer *w)
{
	const uint64_t caller[] = {slot(0, VT_WHAT_LOAD, 4, 0), slot(1, VT_WHAT_ARG, 8, VT_REG_DI)};
	const uint64_t callee[] = {slot(0, VT_WHAT_LOAD, 16, 0)};
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = 3;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, "/bin/loop");
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = PID;
	row[VT_MAP_START] = BASE;
	row[VT_MAP_LENGTH] = 0x10000;
	row[VT_MAP_IMAGE] = 3;
	row[VT_MAP_PROT] = 5;
	put_block(w, 1, AT_LOAD, (const uint8_t[]){3, 2}, 2, VT_END_CALL_INDIRECT, 0, caller, 2);
	put_block(w, 2, AT_CALLEE, (const uint8_t[]){4, 1}, 2, VT_END_RETURN, 0, callee, 1);
	put_block(w, 3, AT_BEHIND, (const uint8_t[]){2}, 1, VT_END_JUMP, BASE + AT_LOAD, NULL, 0);
	put_run(w, 0, 0, ROUNDS);
	put_run(w, (uint64_t)5 * ROUNDS, ROUNDS, 1);
	row = vt_writer_row(w, VT_VALUE);
	row[VT_VALUE_PID] = row[VT_VALUE_TID] = PID;
	row[VT_VALUE_IP] = BASE + AT_LOAD;
	row[VT_VALUE_WHAT] = VT_WHAT_LOAD;
	row[VT_VALUE_SIZE] = 4;
	row[VT_VALUE_VALUE] = 3;
}

static struct vt_sites *collect(uint32_t what, bool by_caller)
{
	const struct vt_hotlist_options lists = {.algo = VT_ALGO_EXACT};
	const struct vt_collect_options options = {.what = what, .by_caller = by_caller};
	struct vt_sites *sites = vt_sites_new(&lists, &err);
	struct vt_collect *c = vt_collect_new(sites, &options);
	struct vt_context *context = vt_context_new(NULL);
	const struct vt_block *block;
	uint32_t first, count;
	int fd = scratch_file(), code;
	struct vt_writer *w = start_stream(fd);
	struct vt_reader *r;

	put_program(w);
	r = reread_stream(fd, w);
	vt_collect_begin(c, context);
	while ((code = vt_reader_next_run(r, &block, &first, &count, &err)) > 0)
		assert_int_equal(vt_context_feed(context, block, first, count, &err), 0);
	assert_int_equal(code, 0);
	assert_int_equal(vt_collect_stats(c)->unmapped, 0);
	assert_int_equal(vt_collect_stats(c)->damaged, 0);
	assert_int_equal(vt_collect_end(c, true, &err), 0);
	assert_int_equal(vt_collect_stats(c)->insns, 5 * (ROUNDS + 1));
	vt_collect_free(c);
	vt_context_free(context);
	vt_reader_close(r);
	close(fd);
	return sites;
}

/* The list of a place, which there is; its size in bytes and caller as expected. */
static void read_site(struct vt_sites *s, uint64_t offset, uint32_t what, uint32_t reg,
		      uint32_t lane, uint64_t caller, uint32_t size, struct vt_hot *f)
{
	const struct vt_site *site;
	uint32_t its_size;
	size_t i;

	for (i = 0; i < vt_sites_nlists(s); i++) {
		struct vt_hotlist *l = vt_sites_list_at(s, i, &site, &its_size);

		if (!l || site->offset != offset || site->what != what || site->reg != reg ||
		    site->lane != lane)
			continue;
		assert_int_equal(site->caller, caller);
		assert_int_equal(its_size, size);
		assert_string_equal(vt_sites_image_path(s, site->image), "/bin/loop");
		read_list(vt_sites_lists(s), l, f);
		return;
	}
	fail_msg("no list at %#llx", (unsigned long long)offset);
}

/* What the event "instructions" has at each place. */
static void check_counts(struct vt_sites *s)
{
	static const uint64_t places[] = {AT_LOAD, AT_CALL, AT_BEHIND, AT_CALLEE, AT_RETURN};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;
	size_t n = 0;

	assert_int_equal(vt_sites_write(s, w, &err), 0);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0) {
		if (rec.kind != VT_COUNT)
			continue;
		assert_true(n < 5);
		assert_int_equal(vt_record_u64(&rec, VT_COUNT_OFFSET), places[n++]);
		assert_int_equal(vt_record_u64(&rec, VT_COUNT_SAMPLES), ROUNDS + 1);
	}
	assert_int_equal(n, 5);
	vt_reader_close(r);
	close(fd);
}

static void check_all(uint32_t what, bool by_caller)
{
	struct vt_sites *s = collect(what, by_caller);
	uint64_t called_from = by_caller ? AT_BEHIND : 0;
	struct vt_hot f = {.nvalues = 0};

	/* 0 1 2 3 over and over, 101 times; and the 3 that came alone. */
	read_site(s, AT_LOAD, VT_WHAT_LOAD, 0, 0, 0, 4, &f);
	assert_int_equal(f.total, ROUNDS + 2);
	assert_true(found_estimate(&f, 0) == 26 && found_estimate(&f, 1) == 25);
	assert_true(found_estimate(&f, 2) == 25 && found_estimate(&f, 3) == 26);
	read_site(s, AT_CALLEE, VT_WHAT_LOAD, 0, 0, called_from, 16, &f);
	assert_int_equal(f.total, ROUNDS + 1);
	assert_int_equal(f.nvalues, ROUNDS + 1);
	assert_int_equal(f.first, 1000);
	assert_int_equal(f.last, 1000 + ROUNDS);
	read_site(s, AT_CALLEE, VT_WHAT_LOAD, 0, 1, called_from, 16, &f);
	assert_true(f.nvalues == 1 && found_estimate(&f, 5) == ROUNDS + 1);
	read_site(s, AT_CALLEE, VT_WHAT_ARG, VT_REG_DI, 0, called_from, 8, &f);
	assert_true(f.nvalues == 1 && found_estimate(&f, 7) == ROUNDS + 1);
	read_site(s, AT_CALL, VT_WHAT_TARGET, 0, 0, 0, 8, &f);
	assert_true(f.nvalues == 1 && found_estimate(&f, BASE + AT_CALLEE) == ROUNDS + 1);
	if (what & 1u << VT_WHAT_RETURN) {
		read_site(s, AT_CALLEE, VT_WHAT_RETURN, 0, 0, called_from, 8, &f);
		assert_true(f.nvalues == 1 && found_estimate(&f, BASE + AT_BEHIND) == ROUNDS + 1);
	}
	check_counts(s);
	vt_hot_fini(&f);
	vt_sites_free(s);
}

static void test_loop(void **state)
{
	(void)state;
	check_all(VT_COLLECT_WHAT, false);
	check_all(VT_COLLECT_WHAT | 1u << VT_WHAT_RETURN, false);
}

static void test_by_caller(void **state)
{
	(void)state;
	check_all(VT_COLLECT_WHAT, true);
}

/* Only what is wanted. */
static void test_choice(void **state)
{
	struct vt_sites *s = collect(1u << VT_WHAT_ARG, false);
	const struct vt_site *site;
	uint32_t size;
	size_t i, n = 0;

	(void)state;
	for (i = 0; i < vt_sites_nlists(s); i++) {
		const struct vt_hotlist *l = vt_sites_list_at(s, i, &site, &size);

		if (!l || !l->total)
			continue;
		assert_int_equal(site->what, VT_WHAT_ARG);
		n++;
	}
	assert_int_equal(n, 1);
	vt_sites_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_by_caller),
		cmocka_unit_test(test_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
