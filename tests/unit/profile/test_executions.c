/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executed instructions, counted: against a count made one by one, for runs of every length and
 * both widths of ids, cut at both ends; and what contradicts itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "profile/executions.h"
#include "profile/profile.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"

#define NBLOCKS 40
#define MOST	7 /* instructions of a block */

static uint64_t ninsns(uint64_t id)
{
	return 1 + id * 5 % MOST;
}

/* Blocks of 1 to MOST instructions of one byte, the odd ones with a value of two bytes in each. */
static void write_block(struct vt_writer *w, uint64_t id)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);
	uint64_t slots[MOST];
	uint8_t ones[MOST];
	uint64_t i;

	memset(ones, 1, sizeof(ones));
	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = 5;
	row[VT_BLOCK_ADDR] = 0x1000 + 16 * id;
	row[VT_BLOCK_SIZE] = row[VT_BLOCK_INSNS] = ninsns(id);
	for (i = 0; i < ninsns(id); i++) {
		struct vt_slot s = {.insn = (uint16_t)i, .what = VT_WHAT_LOAD, .size = 2};

		slots[i] = vt_slot_pack(&s);
	}
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, ones, ninsns(id));
	vt_writer_words(w, VT_BLOCK_SLOTS, slots, id & 1 ? ninsns(id) : 0);
}

/* A run of n random blocks, cut at both ends; what it executes is added to `want`. */
static void write_exec(struct vt_writer *w, struct vt_rng *rng, uint64_t n, uint32_t width,
		       uint64_t want[NBLOCKS][MOST])
{
	uint64_t *row = vt_writer_row(w, VT_EXEC);
	uint8_t ids[4 * 200];
	static const uint8_t data[2 * MOST * 200];
	uint64_t insns = 0, size = 0, i, k;

	for (i = 0; i < n; i++) {
		uint64_t id = vt_rng_below(rng, NBLOCKS);
		uint64_t from = i ? 0 : vt_rng_below(rng, ninsns(id));
		uint64_t end =
			i + 1 < n ? ninsns(id) : from + 1 + vt_rng_below(rng, ninsns(id) - from);

		if (width == 2)
			vt_put_le16(ids + 2 * i, (uint16_t)id);
		else
			vt_put_le32(ids + 4 * i, (uint32_t)id);
		if (i == 0)
			row[VT_EXEC_SKIP] = from;
		for (k = from; k < end; k++)
			want[id][k]++;
		insns += end - from;
		size += id & 1 ? 2 * (end - from) : 0;
	}
	row[VT_EXEC_PID] = row[VT_EXEC_TID] = 5;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_INSNS] = insns;
	row[VT_EXEC_WIDTH] = width;
	vt_writer_bytes(w, VT_EXEC_IDS, ids, n * width);
	vt_writer_bytes(w, VT_EXEC_DATA, data, size);
}

static struct vt_reader *end(struct vt_writer *w, int fd)
{
	struct vt_error err;
	struct vt_reader *r;

	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	return r;
}

static void counts(void **state)
{
	static uint64_t want[NBLOCKS][MOST];
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_bblocks *dict = vt_bblocks_new();
	struct vt_execcount *c = vt_execcount_new(dict);
	uint64_t id, n, sum = 0, bytes = 0;
	struct vt_record rec;
	struct vt_reader *r;
	struct vt_error err;
	struct vt_rng rng;
	uint32_t i;

	(void)state;
	vt_rng_init(&rng, 11);
	for (id = 0; id < NBLOCKS; id++)
		write_block(w, id);
	for (n = 1; n < 200; n++) {
		write_exec(w, &rng, n, 2, want);
		write_exec(w, &rng, n, 4, want);
	}
	r = end(w, fd);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(rec.kind == VT_BLOCK ? vt_bblocks_add(dict, &rec, &err)
						      : vt_execcount_exec(c, &rec, &err),
				 0);
	for (id = 0; id < NBLOCKS; id++) {
		for (i = 0; i < ninsns(id); i++) {
			assert_int_equal(vt_execcount_of(c, id, i), want[id][i]);
			sum += want[id][i];
			bytes += id & 1 ? 2 * want[id][i] : 0;
		}
	}
	assert_int_equal(vt_execcount_totals(c)->insns, sum);
	assert_int_equal(vt_execcount_totals(c)->runs, 2 * 199);
	assert_int_equal(vt_execcount_totals(c)->bytes, bytes);
	assert_int_equal(vt_execcount_totals(c)->blocks, 199 * 200);
	vt_execcount_free(c);
	vt_bblocks_free(dict);
	vt_reader_close(r);
	close(fd);
}

/* A run of blocks by id, with what may be wrong about it. */
static void put(struct vt_writer *w, uint64_t blocks, uint64_t insns, uint64_t skip, uint64_t base,
		uint32_t width, const char *ids, size_t size, size_t data)
{
	static const uint8_t zero[64];
	uint64_t *row = vt_writer_row(w, VT_EXEC);

	row[VT_EXEC_PID] = row[VT_EXEC_TID] = 5;
	row[VT_EXEC_BLOCKS] = blocks;
	row[VT_EXEC_INSNS] = insns;
	row[VT_EXEC_SKIP] = skip;
	row[VT_EXEC_BASE] = base;
	row[VT_EXEC_WIDTH] = width;
	vt_writer_bytes(w, VT_EXEC_IDS, ids, size);
	vt_writer_bytes(w, VT_EXEC_DATA, zero, data);
}

/* Blocks that come later leave what was counted as it is, and begin with nothing. */
static void later_blocks(void **state)
{
	enum { SIZE = 100000 };
	volatile uint8_t *dirty = malloc(SIZE);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_bblocks *dict = vt_bblocks_new();
	struct vt_execcount *c;
	struct vt_record rec;
	struct vt_reader *r;
	struct vt_error err;
	unsigned i;

	(void)state;
	assert_non_null((const void *)dirty);
	put(w, 0, 0, 0, 0, 2, "", 0, 0);
	write_block(w, 2);
	put(w, 1, 4, 0, 0, 2, "\2\0", 2, 0);
	put(w, 1, 3, 1, 0, 2, "\2\0", 2, 0);
	write_block(w, 1000);
	put(w, 1, 3, 0, 0, 2, "\xe8\3", 2, 0);
	put(w, 1, 2, 1, 0, 2, "\xe8\3", 2, 0);
	put(w, 1, 4, 0, 0, 2, "\2\0", 2, 0);
	r = end(w, fd);
	/* Memory that is asked for next is not all zero. */
	for (i = 0; i < SIZE; i++)
		dirty[i] = 1;
	free((void *)dirty);
	c = vt_execcount_new(dict);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(rec.kind == VT_BLOCK ? vt_bblocks_add(dict, &rec, &err)
						      : vt_execcount_exec(c, &rec, &err),
				 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(vt_execcount_of(c, 2, i), i ? 3 : 2);
	for (i = 0; i < 3; i++)
		assert_int_equal(vt_execcount_of(c, 1000, i), i ? 2 : 1);
	for (i = 3; i < 1000; i++)
		assert_int_equal(vt_execcount_of(c, i, 0), 0);
	assert_int_equal(vt_execcount_of(c, 0, 0) + vt_execcount_of(c, 1, 0), 0);
	vt_execcount_free(c);
	vt_bblocks_free(dict);
	vt_reader_close(r);
	close(fd);
}

/* Each bad record is left out, and the good ones around it count. */
static void contradictions(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_profile *p = new_profile(NULL);
	struct vt_error err = VT_ERROR_INIT;
	uint64_t sum = 0;
	size_t i;

	(void)state;
	put(w, 1, 1, 0, 0, 2, "\0\0", 2, 0); /* 1: before any block */
	write_block(w, 0);
	write_block(w, 0); /* 2: for the second time */
	write_block(w, 1);
	write_block(w, (uint64_t)1 << 40);		 /* 3: far away */
	put(w, 1, 1, 0, 0, 2, "\0\0", 2, 0);		 /* good: 1 instruction */
	put(w, 2, 1, 0, 0, 2, "\0\0", 2, 0);		 /* 4: fewer ids */
	put(w, 1, 1, 0, 0, 3, "\0\0\0", 3, 0);		 /* 5: no such width */
	put(w, 1, 1, 0, 9, 2, "\0\0", 2, 0);		 /* 6: no such block */
	put(w, 1, 1, 0, UINT64_MAX, 2, "\1\0", 2, 0);	 /* 7: nor this */
	put(w, 1, 1, 0, 0, 4, "\xff\xff\xff\xff", 4, 0); /* 8 */
	put(w, 1, 1, 1, 0, 2, "\0\0", 2, 0);		 /* 9: the first is skipped whole */
	put(w, 1, 7, 0, 0, 2, "\1\0", 2, 12);		 /* 10: more instructions */
	put(w, 1, 6, 0, 0, 2, "\1\0", 2, 11);		 /* 11: fewer values */
	put(w, 1, 6, 0, 0, 2, "\1\0", 2, 13);		 /* 12: more values */
	put(w, 0, 5, 0, 0, 2, "", 0, 0);		 /* 13: no blocks, but instructions */
	put(w, 0, 0, 0, UINT64_MAX, 2, "", 0, 0);	 /* good: nothing */
	put(w, 1, UINT64_MAX, 0, 0, 2, "\1\0", 2, 12);	 /* 14 */
	put(w, 2, 3, 4, 0, 2, "\1\0\0\0", 4, 4);	 /* good: 2 and 1 instructions */
	read_context(vt_profile_context(p), fd, w);
	assert_int_equal(vt_profile_finish(p, &err), 0);
	assert_int_equal(vt_profile_bad(p), 14);
	assert_int_equal(vt_profile_nevents(p), 1);
	assert_string_equal(vt_profile_event(p, 0)->name, "instructions");
	for (i = 0; i < vt_profile_nplaces(p); i++)
		sum += vt_profile_place(p, i)->samples;
	assert_int_equal(sum, vt_profile_event(p, 0)->samples);
	/* What was executed before the contradiction was found counts: 6 of 10, 12 and 14 each. */
	assert_true(sum >= 4 && sum <= 4 + 3 * 6);
	free_profile(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(contradictions),
		cmocka_unit_test(later_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
