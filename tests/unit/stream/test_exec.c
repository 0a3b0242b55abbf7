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
#include "base/rng.h"
#include "stream/bblock_internal.h"
#include "stream/exec.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/streams.h"

/* Runs of random blocks, and beside them a list of every instruction with its values. */

#define NBLOCKS 500
#define NRUN	3000

/* One executed instruction: what a walk must find. */
struct insn {
	uint64_t block;
	uint32_t index;
	uint32_t nvalues;
	uint64_t values[3];
	uint32_t sizes[3];
};

struct made {
	struct vt_rng rng;
	uint64_t base; /* id of the first block */
	uint32_t ninsns[NBLOCKS];
	uint32_t nvalues[NBLOCKS][20]; /* of each instruction */
	uint32_t sizes[NBLOCKS][20][3];
	struct insn *insns; /* of the run */
	uint32_t count;
	uint16_t ids[NRUN];
	uint8_t *data;
	size_t data_size;
};

static void make_block(struct made *m, uint32_t k, struct vt_writer *w)
{
	uint64_t slots[60], *row = vt_writer_row(w, VT_BLOCK);
	uint8_t lengths[20];
	uint32_t i, j, n = 0;

	m->ninsns[k] = 1 + (uint32_t)vt_rng_below(&m->rng, 20);
	row[VT_BLOCK_ID] = m->base + k;
	row[VT_BLOCK_ADDR] = 0x1000 + 64 * k;
	row[VT_BLOCK_INSNS] = m->ninsns[k];
	row[VT_BLOCK_SIZE] = 3 * m->ninsns[k];
	for (i = 0; i < m->ninsns[k]; i++) {
		m->nvalues[k][i] = (uint32_t)vt_rng_below(&m->rng, 4);
		lengths[i] = 3;
		for (j = 0; j < m->nvalues[k][i]; j++) {
			struct vt_slot s = {.insn = (uint16_t)i, .what = VT_WHAT_LOAD};

			s.size = (uint16_t)(1 << vt_rng_below(&m->rng, 4));
			m->sizes[k][i][j] = s.size;
			slots[n++] = vt_slot_pack(&s);
		}
	}
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, lengths, m->ninsns[k]);
	vt_writer_words(w, VT_BLOCK_SLOTS, slots, n);
}

static void make_insn(struct made *m, uint32_t k, uint32_t i)
{
	struct insn *to = &m->insns[m->count++];
	uint32_t j;

	to->block = m->base + k;
	to->index = i;
	to->nvalues = m->nvalues[k][i];
	for (j = 0; j < to->nvalues; j++) {
		uint64_t v = vt_rng_next(&m->rng);
		uint32_t size = m->sizes[k][i][j];

		to->sizes[j] = size;
		to->values[j] = size == 8 ? v : v & ((1ULL << 8 * size) - 1);
		memcpy(m->data + m->data_size, &v, size);
		m->data_size += size;
	}
}

/* Blocks, and a run of them from the skip-th instruction on, without the last `cut`. */
static int make_stream(struct made *m, uint64_t seed, uint32_t width)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	uint32_t skip, cut, i, k;
	int fd = scratch_file();
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, NULL);
	uint32_t wide[NRUN];
	uint64_t *row;

	assert_non_null(w);
	vt_rng_init(&m->rng, seed);
	m->base = width == 2 && seed % 2 ? 0 : 70000;
	m->insns = calloc((size_t)NRUN * 20, sizeof(*m->insns));
	m->data = malloc((size_t)NRUN * 20 * 24);
	assert_true(m->insns && m->data);
	for (k = 0; k < NBLOCKS; k++)
		make_block(m, k, w);
	for (i = 0; i < NRUN; i++) {
		m->ids[i] = (uint16_t)vt_rng_below(&m->rng, NBLOCKS);
		wide[i] = (uint32_t)m->base + m->ids[i];
	}
	skip = (uint32_t)vt_rng_below(&m->rng, m->ninsns[m->ids[0]]);
	cut = (uint32_t)vt_rng_below(&m->rng, m->ninsns[m->ids[NRUN - 1]]);
	for (i = 0; i < NRUN; i++)
		for (k = i ? 0 : skip; k < m->ninsns[m->ids[i]] - (i == NRUN - 1 ? cut : 0); k++)
			make_insn(m, m->ids[i], k);
	row = vt_writer_row(w, VT_EXEC);
	row[VT_EXEC_BLOCKS] = NRUN;
	row[VT_EXEC_INSNS] = m->count;
	row[VT_EXEC_SKIP] = skip;
	row[VT_EXEC_WIDTH] = width;
	row[VT_EXEC_BASE] = width == 2 ? m->base : 0;
	row[VT_EXEC_FIRST] = 1000;
	if (width == 2)
		vt_writer_bytes(w, VT_EXEC_IDS, m->ids, sizeof(m->ids));
	else
		vt_writer_bytes(w, VT_EXEC_IDS, wide, sizeof(wide));
	vt_writer_bytes(w, VT_EXEC_DATA, m->data, m->data_size);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, NULL), 0);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void free_made(struct made *m)
{
	free(m->insns);
	free(m->data);
}

/* Reads up to the EXEC record. */
static struct vt_reader *open_run(int fd, struct vt_bblocks *d, struct vt_record *rec)
{
	struct vt_reader *r = vt_reader_open_fd(fd, "test", NULL);

	assert_non_null(r);
	*rec = (struct vt_record){0};
	for (;;) {
		assert_int_equal(vt_reader_next(r, rec, NULL), 1);
		if (rec->kind == VT_EXEC)
			return r;
		assert_int_equal(vt_bblocks_add(d, rec, NULL), 0);
	}
}

/* Compares one step with the list; returns how many instructions it has. */
static uint32_t check_step(const struct made *m, const struct vt_step *s, uint32_t at)
{
	uint32_t slot = s->slot, i, j;

	for (i = s->insn; i < s->insn_end; i++) {
		const struct insn *want = &m->insns[at + i - s->insn];

		assert_int_equal(s->block->id, want->block);
		assert_int_equal(i, want->index);
		for (j = 0; j < want->nvalues; j++, slot++) {
			assert_int_equal(s->block->slots[slot].insn, i);
			assert_int_equal(s->block->slots[slot].size, want->sizes[j]);
			assert_int_equal(vt_step_value(s, slot, 0), want->values[j]);
		}
	}
	assert_int_equal(slot, s->slot_end);
	return s->insn_end - s->insn;
}

/* Walks to the end from instruction `at` of the list on. */
static void check_walk(const struct made *m, struct vt_exec x, uint32_t at, uint32_t end)
{
	struct vt_error err;
	struct vt_step s;
	int r;

	while ((r = vt_exec_next(&x, &s, &err)) > 0)
		at += check_step(m, &s, at);
	assert_int_equal(r, 0);
	assert_int_equal(at, end);
}

#define STRIDE 16 /* blocks that are passed at a time */

/* The sum of the weights of blocks first..first+n-1 of the run. */
static uint64_t sum_weights(const struct made *m, const uint32_t *weights, uint32_t first,
			    uint32_t n)
{
	uint64_t sum = 0;

	for (; n > 0; n--)
		sum += weights[m->base + m->ids[first++]];
	return sum;
}

/* From the second block on, many at a time: by their weights, up to a limit; and counted. */
static void pass_strides(struct made *m, struct vt_exec x)
{
	uint32_t *weights = calloc(m->base + NBLOCKS, sizeof(*weights)), i, n;
	uint64_t *counts = calloc(m->base + NBLOCKS, sizeof(*counts));

	assert_true(weights && counts);
	for (i = 0; i < NBLOCKS; i++)
		weights[m->base + i] = 1 + i % 7;
	assert_int_equal(vt_exec_skip_blocks(&x, 1, NULL), 0);
	for (i = 0; i < 10; i++) {
		uint64_t limit = i ? vt_rng_below(&m->rng, 5 * NRUN) : UINT64_MAX, sum;
		struct vt_exec y = x;

		limit = i == 1 ? sum_weights(m, weights, 1, STRIDE) : limit;
		sum = vt_exec_skip_weights(&y, weights, limit);
		n = x.blocks - y.blocks;
		assert_int_equal(n % STRIDE, 0);
		assert_int_equal(sum, sum_weights(m, weights, 1, n));
		assert_true(n == 0 || sum < limit);
		assert_true(y.blocks <= STRIDE ||
			    sum + sum_weights(m, weights, 1 + n, STRIDE) >= limit);
		check_walk(m, y, (uint32_t)(y.first - 1000), m->count);
	}
	vt_exec_tally(&x, counts);
	assert_true(x.blocks <= STRIDE);
	check_walk(m, x, (uint32_t)(x.first - 1000), m->count);
	for (n = 1; n < NRUN - x.blocks; n++)
		counts[m->base + m->ids[n]]--;
	for (i = 0; i < NBLOCKS; i++)
		assert_int_equal(counts[m->base + i], 0);
	free(weights);
	free(counts);
}

static void walk_and_skip(uint64_t seed, uint32_t width)
{
	struct vt_bblocks *d = vt_bblocks_new();
	struct vt_record rec;
	struct made m = {0};
	struct vt_exec x;
	int fd = make_stream(&m, seed, width), i;
	struct vt_reader *r = open_run(fd, d, &rec);

	assert_int_equal(vt_exec_open(&x, d, &rec, NULL), 0);
	check_walk(&m, x, 0, m.count);
	for (i = 0; i < 200; i++) {
		struct vt_exec y = x;
		uint32_t n = (uint32_t)vt_rng_below(&m.rng, m.count + 50);

		assert_int_equal(vt_exec_skip(&y, n, NULL), 0);
		n = n < m.count ? n : m.count;
		assert_int_equal(y.insns, m.count - n);
		assert_int_equal(y.first, 1000 + n);
		check_walk(&m, y, n, m.count);
	}
	for (i = 0; i < 50; i++) {
		struct vt_exec y = x;
		uint32_t n = (uint32_t)vt_rng_below(&m.rng, NRUN + 10);

		assert_int_equal(vt_exec_skip_blocks(&y, n, NULL), 0);
		assert_int_equal(y.blocks, n < NRUN ? NRUN - n : 0);
		check_walk(&m, y, (uint32_t)(y.first - 1000), m.count);
	}
	pass_strides(&m, x);
	vt_reader_close(r);
	vt_bblocks_free(d);
	free_made(&m);
	close(fd);
}

static void test_walk(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++) {
		walk_and_skip(seed, 2);
		walk_and_skip(seed, 4);
	}
}

/* Pieces that are cut out hold what the whole holds there. */
static void test_cut(void **state)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	struct vt_bblocks *d = vt_bblocks_new();
	uint32_t lengths[200], n = 0, at = 0, i;
	int out = scratch_file(), fd;
	struct vt_record rec;
	struct made m = {0};
	struct vt_writer *w;
	struct vt_reader *r;
	struct vt_exec x;

	(void)state;
	fd = make_stream(&m, 99, 2);
	r = open_run(fd, d, &rec);
	assert_int_equal(vt_exec_open(&x, d, &rec, NULL), 0);
	w = vt_writer_open_fd(out, "out", &opt, NULL);
	while (x.insns && n < 200) {
		lengths[n] = 1 + (uint32_t)vt_rng_below(&m.rng, n % 3 ? 30 : 3000);
		assert_int_equal(vt_exec_cut(&x, lengths[n++], 7, w, NULL), 0);
	}
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, NULL), 0);
	vt_reader_close(r);
	lseek(out, 0, SEEK_SET);
	r = vt_reader_open_fd(out, "out", NULL);
	for (i = 0; i < n; i++) {
		uint32_t end = at + lengths[i] < m.count ? at + lengths[i] : m.count;

		assert_int_equal(vt_reader_next(r, &rec, NULL), 1);
		assert_int_equal(vt_exec_open(&x, d, &rec, NULL), 0);
		assert_int_equal(x.first, 1000 + at);
		assert_int_equal(x.caller, 7);
		check_walk(&m, x, at, end);
		at = end;
	}
	assert_int_equal(vt_reader_next(r, &rec, NULL), 0);
	vt_reader_close(r);
	vt_bblocks_free(d);
	free_made(&m);
	close(fd);
	close(out);
}

/* ---- times ---- */

#define NTIMES 400

/* What the record that is made by make_timed() tells of the time of a block. */
static uint64_t tsc_of(const uint64_t *at, uint32_t block)
{
	uint32_t i, n = 0;

	for (i = 0; i < NTIMES; i++)
		n += at[i] <= block;
	return 5000 + 10 * n;
}

/* A run of blocks of one instruction each, some of which have times. */
static int make_timed(uint64_t *at, struct vt_rng *rng, bool cycles)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	int fd = scratch_file();
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, NULL);
	uint64_t tsc[NTIMES], cyc[NTIMES], *row = vt_writer_row(w, VT_BLOCK);
	uint16_t ids[NRUN] = {0};
	uint8_t length = 1;
	uint32_t i, block = 0;

	row[VT_BLOCK_INSNS] = row[VT_BLOCK_SIZE] = 1;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, &length, 1);
	for (i = 0; i < NTIMES; i++) {
		at[i] = block += 1 + (uint32_t)vt_rng_below(rng, 7);
		tsc[i] = 5010 + 10 * (uint64_t)i;
		cyc[i] = 3 * tsc[i];
	}
	row = vt_writer_row(w, VT_EXEC);
	row[VT_EXEC_BLOCKS] = row[VT_EXEC_INSNS] = NRUN;
	row[VT_EXEC_WIDTH] = 2;
	row[VT_EXEC_TSC] = 5000;
	row[VT_EXEC_CYCLES] = cycles ? 15000 : 0;
	vt_writer_bytes(w, VT_EXEC_IDS, ids, sizeof(ids));
	vt_writer_words(w, VT_EXEC_TIME_AT, at, NTIMES);
	vt_writer_words(w, VT_EXEC_TIME_TSC, tsc, NTIMES);
	if (cycles)
		vt_writer_words(w, VT_EXEC_TIME_CYCLES, cyc, NTIMES);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, NULL), 0);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Walks to the end and looks at the clock before each block; `at` counts blocks of the whole. */
static uint32_t check_clock(struct vt_exec x, const uint64_t *times, uint32_t at, bool cycles)
{
	uint64_t tsc, cyc;
	struct vt_step s;

	for (;; at++) {
		vt_exec_clock(&x, &tsc, &cyc);
		if (vt_exec_next(&x, &s, NULL) <= 0)
			return at;
		assert_int_equal(tsc, tsc_of(times, at));
		assert_int_equal(cyc, cycles ? 3 * tsc : 0);
	}
}

static void check_times(uint64_t seed, bool cycles)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	struct vt_bblocks *d = vt_bblocks_new();
	int out = scratch_file(), fd;
	uint64_t times[NTIMES];
	struct vt_record rec;
	struct vt_writer *w;
	struct vt_reader *r;
	struct vt_rng rng;
	struct vt_exec x;
	uint32_t at = 0;

	vt_rng_init(&rng, seed);
	fd = make_timed(times, &rng, cycles);
	r = open_run(fd, d, &rec);
	assert_int_equal(vt_exec_open(&x, d, &rec, NULL), 0);
	assert_int_equal(check_clock(x, times, 0, cycles), NRUN);
	w = vt_writer_open_fd(out, "out", &opt, NULL);
	while (x.insns)
		assert_int_equal(vt_exec_cut(&x, 1 + vt_rng_below(&rng, 40), 0, w, NULL), 0);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, NULL), 0);
	vt_reader_close(r);
	lseek(out, 0, SEEK_SET);
	r = vt_reader_open_fd(out, "out", NULL);
	while (vt_reader_next(r, &rec, NULL) > 0) {
		assert_int_equal(vt_exec_open(&x, d, &rec, NULL), 0);
		/* A time at its very start is that of the record, and one behind it the next's. */
		assert_true(!x.time_at.count || (x.time_at.data[0] > 0 &&
						 x.time_at.data[x.time_at.count - 1] < x.blocks));
		at = check_clock(x, times, at, cycles);
	}
	assert_int_equal(at, NRUN);
	vt_reader_close(r);
	vt_bblocks_free(d);
	close(fd);
	close(out);
}

/* Pieces know the times that the whole knew there. */
static void test_times(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++) {
		check_times(seed, true);
		check_times(seed, false);
	}
}

/* A record as another program might write it: walked and skipped to its end or its first error. */
static int try_run(const struct vt_bblocks *d, const struct vt_record *rec)
{
	struct vt_error err;
	struct vt_exec x, y;
	struct vt_step s;
	uint64_t sum = 0;
	int r = vt_exec_open(&x, d, rec, &err);
	int skipped;
	uint32_t i;

	if (r < 0)
		return r;
	y = x;
	while ((r = vt_exec_next(&x, &s, &err)) > 0)
		for (i = s.slot; i < s.slot_end; i++)
			sum += vt_step_value(&s, i, 0);
	skipped = vt_exec_skip(&y, UINT64_MAX, &err);
	assert_int_equal(skipped < 0, r < 0);
	return r < 0 ? r : (int)(sum & 0);
}

/* Whatever the fields say, no byte outside of the record is touched, and lies are found out. */
static void test_hostile(void **state)
{
	struct vt_bblocks *d = vt_bblocks_new();
	struct vt_column columns[VT_EXEC_NFIELDS];
	uint64_t values[VT_EXEC_NFIELDS];
	uint32_t off[2][2];
	struct vt_block block;
	struct vt_record rec;
	struct made m = {0};
	int fd, i, good = 0;
	struct vt_reader *r;
	uint8_t *ids, *data;

	(void)state;
	fd = make_stream(&m, 5, 2);
	r = open_run(fd, d, &rec);
	block = *rec.block;
	for (i = 0; i < 20000; i++) {
		size_t nids = vt_rng_below(&m.rng, 3) ? sizeof(m.ids) : vt_rng_below(&m.rng, 6000);
		size_t ndata = vt_rng_below(&m.rng, 3) ? m.data_size
						       : vt_rng_below(&m.rng, m.data_size + 1);
		unsigned field = VT_EXEC_FIRST + (unsigned)vt_rng_below(&m.rng, 7), k;

		ids = malloc(nids + 1);
		data = malloc(ndata + 1);
		memcpy(ids, m.ids, nids);
		memcpy(data, m.data, ndata);
		if (nids && vt_rng_below(&m.rng, 2))
			ids[vt_rng_below(&m.rng, nids)] ^= 1 << vt_rng_below(&m.rng, 8);
		memcpy(columns, rec.block->columns, sizeof(columns));
		for (k = 0; k < VT_EXEC_IDS; k++) {
			values[k] = vt_record_u64(&rec, k);
			columns[k].v = &values[k];
			columns[k].mask = 0;
		}
		if (vt_rng_below(&m.rng, 2))
			values[field] += 1 + (vt_rng_next(&m.rng) >> vt_rng_below(&m.rng, 64));
		off[0][0] = off[1][0] = 0;
		off[0][1] = (uint32_t)nids;
		off[1][1] = (uint32_t)ndata;
		columns[VT_EXEC_IDS] = (struct vt_column){.off = off[0], .bytes = ids};
		columns[VT_EXEC_DATA] = (struct vt_column){.off = off[1], .bytes = data};
		block.columns = columns;
		good += try_run(d, &(struct vt_record){.block = &block, .kind = VT_EXEC}) == 0;
		free(ids);
		free(data);
	}
	assert_in_range(good, 1, 15000);
	vt_reader_close(r);
	vt_bblocks_free(d);
	free_made(&m);
	close(fd);
}

/* A dictionary of block 0, one instruction without values. */
static struct vt_bblocks *one_block(void)
{
	struct vt_bblocks *d = vt_bblocks_new();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec = {0};
	struct vt_reader *r;
	uint64_t *row = vt_writer_row(w, VT_BLOCK);

	row[VT_BLOCK_INSNS] = row[VT_BLOCK_SIZE] = 1;
	vt_writer_text(w, VT_BLOCK_LENGTHS, "\1");
	r = reread_stream(fd, w);
	assert_int_equal(vt_reader_next(r, &rec, NULL), 1);
	assert_int_equal(vt_bblocks_add(d, &rec, NULL), 0);
	vt_reader_close(r);
	close(fd);
	return d;
}

/* An id just behind the table of blocks, among as many as are looked at at a time. */
static void test_id_behind(void **state)
{
	struct vt_bblocks *d = one_block();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint8_t ids[4 * 40] = {0};
	uint64_t counts[1] = {0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct vt_reader *r;
	struct vt_exec x, y;
	uint64_t *row = vt_writer_row(w, VT_EXEC);

	(void)state;
	row[VT_EXEC_BLOCKS] = row[VT_EXEC_INSNS] = 40;
	row[VT_EXEC_WIDTH] = 4;
	/* As large as it is once it has block 0. */
	vt_put_le32(ids + 4 * 20, VTI_BLOCK_REACH * 3 / 2);
	vt_writer_bytes(w, VT_EXEC_IDS, ids, sizeof(ids));
	r = reread_stream(fd, w);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_int_equal(d->cap, VTI_BLOCK_REACH * 3 / 2);
	assert_int_equal(vt_exec_open(&x, d, &rec, &err), 0);
	y = x;
	assert_int_equal(vt_exec_skip(&y, 40, &err), -VT_E_FORMAT);
	vt_exec_tally(&x, counts);
	assert_int_equal(counts[0], 16);
	assert_int_equal(x.blocks, 24);
	vt_reader_close(r);
	vt_bblocks_free(d);
	close(fd);
}

/* A block is written as it was read, under another id, with its slots or without. */
static void test_block_again(void **state)
{
	static const uint64_t slots[] = {1ULL << 32 | 2ULL << 16, 8ULL << 32 | 5ULL << 48 | 1};
	static const unsigned fields[] = {VT_BLOCK_PID,	  VT_BLOCK_ADDR, VT_BLOCK_SIZE,
					  VT_BLOCK_INSNS, VT_BLOCK_END,	 VT_BLOCK_TARGET};
	static const uint64_t want[] = {7, 0x4000, 5, 2, VT_END_JUMP, 0x5000};
	struct vt_bblocks *d = vt_bblocks_new();
	int fd = scratch_file(), again = scratch_file();
	struct vt_writer *w = start_stream(fd), *copy = start_stream(again);
	struct vt_record rec = {0};
	struct vt_reader *r;
	uint64_t i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		uint64_t *row = vt_writer_row(w, VT_BLOCK);

		row[VT_BLOCK_ID] = i;
		for (k = 0; k < 6; k++)
			row[fields[k]] = want[k];
		row[VT_BLOCK_MODE] = i == 1 ? 0 : 16 + 8 * i; /* 16, 64, 32 */
		vt_writer_text(w, VT_BLOCK_LENGTHS, "\2\3");
		vt_writer_text(w, VT_BLOCK_CODE, i == 2 ? "" : "abcde");
		vt_writer_words(w, VT_BLOCK_SLOTS, slots, 2);
	}
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, NULL) > 0)
		assert_int_equal(vt_bblocks_add(d, &rec, NULL), 0);
	vt_reader_close(r);
	close(fd);
	for (i = 0; i < 3; i++)
		vt_bblock_write(vt_bblocks_get(d, i), 10 + i, i != 1, copy);
	vt_bblocks_free(d);
	r = reread_stream(again, copy);
	for (i = 0; i < 3; i++) {
		assert_int_equal(vt_reader_next(r, &rec, NULL), 1);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_ID), 10 + i);
		for (k = 0; k < 6; k++)
			assert_int_equal(vt_record_u64(&rec, fields[k]), want[k]);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_MODE), i == 1 ? 0 : 16 + 8 * i);
		assert_memory_equal(vt_record_bytes(&rec, VT_BLOCK_LENGTHS).data, "\2\3", 2);
		assert_int_equal(vt_record_bytes(&rec, VT_BLOCK_CODE).size, i == 2 ? 0 : 5);
		if (i != 2)
			assert_memory_equal(vt_record_bytes(&rec, VT_BLOCK_CODE).data, "abcde", 5);
		assert_int_equal(vt_record_words(&rec, VT_BLOCK_SLOTS).count, i == 1 ? 0 : 2);
		if (i != 1)
			assert_memory_equal(vt_record_words(&rec, VT_BLOCK_SLOTS).data, slots,
					    sizeof(slots));
	}
	vt_reader_close(r);
	close(again);
}

/* An EXEC of the first block once, with so many of each kind of times. */
static int open_timed(struct vt_bblocks *d, size_t at, size_t tsc, size_t cycles)
{
	static const uint64_t words[3] = {0, 1, 2};
	int fd = scratch_file(), code;
	struct vt_writer *w = start_stream(fd);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec = {0};
	struct vt_reader *r;
	struct vt_exec x;
	uint64_t *row = vt_writer_row(w, VT_EXEC);

	row[VT_EXEC_BLOCKS] = row[VT_EXEC_INSNS] = 1;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(w, VT_EXEC_IDS, "\0\0", 2);
	vt_writer_words(w, VT_EXEC_TIME_AT, words, at);
	vt_writer_words(w, VT_EXEC_TIME_TSC, words, tsc);
	vt_writer_words(w, VT_EXEC_TIME_CYCLES, words, cycles);
	r = reread_stream(fd, w);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	code = vt_exec_open(&x, d, &rec, &err);
	if (code < 0) {
		assert_string_equal(err.text, "executed blocks: times without places");
	} else {
		/* Of nothing, or behind the end, nothing is written. */
		assert_int_equal(vt_exec_cut(&x, 0, 0, NULL, &err), 0);
		assert_int_equal(vt_exec_skip(&x, 1, &err), 0);
		assert_int_equal(vt_exec_cut(&x, 1, 0, NULL, &err), 0);
		assert_int_equal(vt_exec_skip_weights(&x, NULL, 10), 0);
		vt_exec_tally(&x, NULL);
	}
	vt_reader_close(r);
	close(fd);
	return code;
}

/* Numbers that cannot be of any blocks, whatever these are. */
static void test_impossible(void **state)
{
	/* Bases and instructions; block 0 alone is known. */
	static const struct {
		uint64_t base, insns;
		bool bad;
	} rows[] = {{0, 1, false},
		    {1, 1, true},
		    {0, 0, true},
		    {0, VT_MAX_BLOCK_INSNS, false},
		    {0, VT_MAX_BLOCK_INSNS + 1, true}};
	struct vt_bblocks *d = one_block();
	struct vt_error err = VT_ERROR_INIT;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec = {0};
	struct vt_reader *r;
	struct vt_exec x;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t *row = vt_writer_row(w, VT_EXEC);

		row[VT_EXEC_BLOCKS] = 1;
		row[VT_EXEC_INSNS] = rows[i].insns;
		row[VT_EXEC_BASE] = rows[i].base;
		row[VT_EXEC_WIDTH] = 2;
		vt_writer_bytes(w, VT_EXEC_IDS, "\0\0", 2);
	}
	r = reread_stream(fd, w);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
		assert_int_equal(vt_exec_open(&x, d, &rec, &err), rows[i].bad ? -VT_E_FORMAT : 0);
		if (rows[i].bad)
			assert_non_null(strstr(err.text, "impossible base or number"));
	}
	vt_reader_close(r);
	vt_bblocks_free(d);
	close(fd);
}

/* Each time has a place; cycles are told of all or none. */
static void test_places(void **state)
{
	struct vt_bblocks *d = one_block();

	(void)state;
	assert_int_equal(open_timed(d, 0, 0, 0), 0);
	assert_int_equal(open_timed(d, 2, 2, 0), 0);
	assert_int_equal(open_timed(d, 2, 2, 2), 0);
	assert_int_equal(open_timed(d, 2, 1, 2), -VT_E_FORMAT);
	assert_int_equal(open_timed(d, 1, 2, 0), -VT_E_FORMAT);
	assert_int_equal(open_timed(d, 2, 2, 1), -VT_E_FORMAT);
	assert_int_equal(open_timed(d, 2, 2, 3), -VT_E_FORMAT);
	assert_int_equal(open_timed(d, 0, 0, 1), -VT_E_FORMAT);
	vt_bblocks_free(d);
}

/* Blocks that contradict themselves are refused, each for its reason. */
static void test_bad_blocks(void **state)
{
	static const struct {
		uint64_t id, insns, size;
		const char *lengths;
		uint64_t slots[2];
		const char *why;
		const char *code;
		size_t nslots; /* 0: two */
	} cases[] = {
		{0, 2, 5, "\2\3", {0, 0}, "another size than its code", "abcd", 0},
		{0, 2, 5, "\2\3", {0, 0}, "another size than its code", "abcdef", 0},
		{0, 1, 2, "\2", {0, 0}, "too many slots", "ab", VT_MAX_BLOCK_SLOTS + 1},
		{0, 1, 2, "\2", {0, 0}, "too many bytes of values", "ab", VT_MAX_BLOCK_SLOTS},
		{0, 2, 5, "\2\3", {0, 0}, "impossible size", NULL, 0},
		{0, 0, 0, "", {1ULL << 32, 1ULL << 32}, "no or too many instructions", NULL, 0},
		{0, 2, 2, "\2", {1ULL << 32, 1ULL << 32}, "length for each", NULL, 0},
		{0, 1, 16, "\20", {1ULL << 32, 1ULL << 32}, "impossible length", NULL, 0},
		{0, 1, 3, "\2", {1ULL << 32, 1ULL << 32}, "another size", NULL, 0},
		{0, 2, 5, "\2\3", {1ULL << 32 | 1, 1ULL << 32}, "out of order", NULL, 0},
		{0, 2, 5, "\2\3", {1ULL << 32, 1ULL << 32 | 2}, "out of order", NULL, 0},
		{VT_MAX_BLOCK_LEAP + 1, 1, 2, "\2", {0, 0}, "too many ids", NULL, 0},
	};
	struct vt_bblocks *d = vt_bblocks_new();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t many[VT_MAX_BLOCK_SLOTS + 1];
	struct vt_reader *r;
	struct vt_record rec;
	struct vt_error err;
	size_t i;

	(void)state;
	for (i = 0; i <= VT_MAX_BLOCK_SLOTS; i++)
		many[i] = 64ULL << 32;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t *row = vt_writer_row(w, VT_BLOCK);

		row[VT_BLOCK_ID] = cases[i].id;
		row[VT_BLOCK_INSNS] = cases[i].insns;
		row[VT_BLOCK_SIZE] = cases[i].size;
		vt_writer_text(w, VT_BLOCK_LENGTHS, cases[i].lengths);
		vt_writer_text(w, VT_BLOCK_CODE, cases[i].code ? cases[i].code : "");
		vt_writer_words(w, VT_BLOCK_SLOTS, cases[i].nslots ? many : cases[i].slots,
				cases[i].nslots ? cases[i].nslots : 2);
	}
	r = reread_stream(fd, w);
	for (i = 0; vt_reader_next(r, &rec, NULL) > 0; i++) {
		assert_int_equal(vt_bblocks_add(d, &rec, &err), -VT_E_FORMAT);
		assert_non_null(strstr(err.text, cases[i].why));
	}
	assert_int_equal(i, sizeof(cases) / sizeof(*cases));
	assert_null(vt_bblocks_get(d, 0));
	assert_int_equal(vt_bblocks_end(d), 0);
	vt_reader_close(r);
	vt_bblocks_free(d);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),	    cmocka_unit_test(test_cut),
		cmocka_unit_test(test_times),	    cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_bad_blocks),  cmocka_unit_test(test_id_behind),
		cmocka_unit_test(test_places),	    cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_block_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
