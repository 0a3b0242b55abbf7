/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches of executed blocks become the same records however they are cut; times, ids, counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "formats/pt/decode/emit.h"
#include "stream/bblock.h"
#include "stream/exec.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"

#define BASE   0x400000
#define NBYTES 80000 /* each of which a block may begin at */

/* Code of instructions of one byte, every third or so a return. */
struct code {
	uint8_t *bytes;
	struct vt_pt_code *code;
	struct vt_pt_blocks *blocks;
};

static void make_code(struct code *c)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_section s = {BASE, NBYTES + 1, NULL, NULL, 0};
	struct vt_rng rng;
	uint32_t i;

	c->bytes = malloc(NBYTES + 1);
	assert_non_null(c->bytes);
	vt_rng_init(&rng, 1);
	for (i = 0; i <= NBYTES; i++)
		c->bytes[i] = i == NBYTES || vt_rng_below(&rng, 3) == 0 ? 0xc3 : 0x90;
	c->code = vt_pt_code_new();
	s.bytes = c->bytes;
	assert_int_equal(vt_pt_code_add(c->code, &s, &err), 0);
	c->blocks = vt_pt_blocks_new(c->code);
	assert_non_null(c->blocks);
}

static void free_code(struct code *c)
{
	vt_pt_blocks_free(c->blocks);
	vt_pt_code_free(c->code);
	free(c->bytes);
}

static uint32_t block_at(struct code *c, uint32_t offset)
{
	uint32_t index;

	assert_int_equal(vt_pt_blocks_at(c->blocks, BASE + offset, 64, &index), 0);
	return index;
}

/* What was executed: blocks, notes and times, as an engine would give them in one batch. */
struct run {
	uint32_t *ids;
	uint32_t n;
	struct vt_pt_note notes[64];
	uint32_t nnotes;
	struct vt_pt_mark_time times[64];
	uint32_t ntimes;
};

static uint64_t insns_of(struct code *c, const uint32_t *ids, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		sum += vt_pt_blocks_get(c->blocks, ids[i])->insns;
	return sum;
}

/* Gives blocks from..to-1 as a batch, with the notes before them, and those behind at the end. */
static void give(struct vt_pt_emit *e, const struct vt_pt_context *ctx, struct code *c,
		 const struct run *r, uint32_t from, uint32_t to)
{
	bool last = to == r->n;
	struct vt_pt_note notes[64];
	struct vt_pt_mark_time times[64];
	struct vt_pt_batch b = {
		.blocks = c->blocks,
		.ids = r->ids + from,
		.nids = to - from,
		.insns = insns_of(c, r->ids + from, to - from),
		.notes = notes,
		.times = times,
	};
	struct vt_error err = VT_ERROR_INIT;
	uint32_t i;

	for (i = 0; i < r->nnotes; i++) {
		if (r->notes[i].at < from || (r->notes[i].at >= to && !last))
			continue;
		notes[b.nnotes] = r->notes[i];
		notes[b.nnotes++].at -= from;
	}
	for (i = 0; i < r->ntimes; i++) {
		if (r->times[i].at < from || (r->times[i].at >= to && !last))
			continue;
		times[b.ntimes] = r->times[i];
		times[b.ntimes++].at -= from;
	}
	assert_int_equal(vt_pt_emit_batch(e, ctx, &b, &err), 0);
}

static const struct vt_pt_context context = {.pid = 7, .tid = 8, .cpu = -1, .input = "in"};

static int write_run(const struct run *r, uint32_t ncuts, uint64_t seed, struct vt_pt_totals *sum)
{
	const struct vt_pt_timeconv conv = {true, 1, 4, 1000};
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	int fd = scratch_file();
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, &err);
	struct vt_pt_emit *e = vt_pt_emit_new(w, &conv);
	struct vt_rng rng;
	struct code c;
	uint32_t from = 0, i;

	assert_non_null(e);
	make_code(&c);
	/* Indexes are offsets: but in another order than they are executed in. */
	for (i = 0; i < NBYTES; i++)
		assert_int_equal(block_at(&c, i), i);
	vt_rng_init(&rng, seed);
	for (i = 0; i < ncuts; i++) {
		uint32_t to = from + (uint32_t)vt_rng_below(&rng, r->n - from + 1);

		give(e, &context, &c, r, from, to);
		from = to;
	}
	give(e, &context, &c, r, from, r->n);
	assert_int_equal(vt_pt_emit_flush(e, &err), 0);
	*sum = *vt_pt_emit_totals(e);
	vt_pt_emit_free(e);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	free_code(&c);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static bool same_files(int a, int b)
{
	uint8_t x[4096], y[4096];
	ssize_t n;

	lseek(a, 0, SEEK_SET);
	lseek(b, 0, SEEK_SET);
	while ((n = read(a, x, sizeof(x))) > 0) {
		if (read(b, y, (size_t)n) != n || memcmp(x, y, (size_t)n) != 0)
			return false;
	}
	return read(b, y, 1) == 0;
}

/* Checks the executed blocks against the list, and that ids are given as they come. */
static uint32_t check_exec(struct vt_bblocks *d, const struct vt_record *rec, const struct run *r,
			   uint32_t at, uint64_t *insns, uint64_t *ids)
{
	struct vt_exec x;
	struct vt_step s;

	assert_int_equal(vt_exec_open(&x, d, rec, NULL), 0);
	assert_int_equal(x.pid, 7);
	assert_int_equal(x.tid, 8);
	assert_int_equal(x.first, *insns);
	*insns += x.insns;
	while (vt_exec_next(&x, &s, NULL) > 0) {
		assert_int_equal(s.block->addr, BASE + r->ids[at++]);
		assert_true(s.block->id <= *ids);
		*ids += s.block->id == *ids;
	}
	return at;
}

/* Reads it all back. */
static void check_stream(int fd, const struct run *r, const struct vt_pt_totals *sum)
{
	struct vt_bblocks *d = vt_bblocks_new();
	struct vt_reader *in = vt_reader_open_fd(fd, "test", NULL);
	uint64_t insns = 0, ids = 0, gaps = 0, values = 0, traces = 0;
	struct vt_record rec;
	uint32_t at = 0;

	while (vt_reader_next(in, &rec, NULL) > 0) {
		if (rec.kind == VT_BLOCK)
			assert_int_equal(vt_bblocks_add(d, &rec, NULL), 0);
		else if (rec.kind == VT_EXEC)
			at = check_exec(d, &rec, r, at, &insns, &ids);
		gaps += rec.kind == VT_GAP;
		values += rec.kind == VT_VALUE;
		traces += rec.kind == VT_TRACE;
	}
	assert_int_equal(at, r->n);
	assert_int_equal(sum->blocks, r->n);
	assert_int_equal(sum->insns, insns);
	assert_int_equal(sum->gaps, gaps);
	assert_int_equal(gaps + values + traces, r->nnotes);
	assert_int_equal(ids, vt_bblocks_end(d));
	vt_reader_close(in);
	vt_bblocks_free(d);
}

static void make_run(struct run *r, uint64_t seed, uint32_t n, uint32_t reach)
{
	struct vt_rng rng;
	uint32_t i, base = 0;

	memset(r, 0, sizeof(*r));
	vt_rng_init(&rng, seed);
	r->n = n;
	r->ids = malloc(n * sizeof(*r->ids));
	assert_non_null(r->ids);
	for (i = 0; i < n; i++) {
		if (vt_rng_below(&rng, 1000) == 0)
			base = (uint32_t)vt_rng_below(&rng, NBYTES - reach);
		r->ids[i] = base + (uint32_t)vt_rng_below(&rng, reach);
	}
	for (i = 0; i < 40; i++) {
		static const uint8_t types[] = {VT_PT_NOTE_ENABLED, VT_PT_NOTE_PTWRITE,
						VT_PT_NOTE_ERROR, VT_PT_NOTE_CBR};
		struct vt_pt_note *note = &r->notes[r->nnotes++];

		note->at = i * (n / 40) + (uint32_t)vt_rng_below(&rng, n / 40);
		note->type = types[vt_rng_below(&rng, 4)];
		note->error = VT_PT_ERR_NO_CODE;
		note->bytes = i;
	}
	for (i = 0; i < 50; i++) {
		r->times[i].at = i * (n / 50) + (uint32_t)vt_rng_below(&rng, n / 50);
		r->times[i].tsc = 100 + i;
	}
	r->ntimes = 50;
}

static void check_cuts(uint64_t seed, uint32_t n, uint32_t reach)
{
	struct vt_pt_totals whole, cut;
	struct run r;
	uint64_t i;
	int a, b;

	make_run(&r, seed, n, reach);
	a = write_run(&r, 0, 0, &whole);
	check_stream(a, &r, &whole);
	for (i = 1; i < 4; i++) {
		b = write_run(&r, (uint32_t)(3 * i), seed + i, &cut);
		assert_true(same_files(a, b));
		assert_memory_equal(&whole, &cut, sizeof(cut));
		close(b);
	}
	close(a);
	free(r.ids);
}

static void test_cuts(void **state)
{
	(void)state;
	check_cuts(1, 4000, 50);
	check_cuts(2, 200000, 3000);
	/* More than 65536 different blocks: ids that need four bytes, or two from a base on. */
	check_cuts(3, 300000, 79000);
	check_cuts(4, 900000, 20000);
}

/* Runs as long as can be are of 65536 blocks; those far from each other need wide ids. */
static void test_width(void **state)
{
	struct vt_pt_totals sum;
	uint32_t widths[8] = {0}, bases[8] = {0}, blocks[8] = {0}, n = 0, i;
	struct vt_reader *in;
	struct vt_record rec;
	struct run r = {.n = 200000};
	int fd;

	(void)state;
	r.ids = malloc(r.n * sizeof(*r.ids));
	for (i = 0; i < r.n; i++)
		r.ids[i] = i < 79000 ? i : i < 140000 ? i % 2 * 78000 : 78000 + i % 10;
	fd = write_run(&r, 0, 0, &sum);
	in = vt_reader_open_fd(fd, "test", NULL);
	while (vt_reader_next(in, &rec, NULL) > 0) {
		if (rec.kind != VT_EXEC)
			continue;
		widths[n] = (uint32_t)vt_record_u64(&rec, VT_EXEC_WIDTH);
		bases[n] = (uint32_t)vt_record_u64(&rec, VT_EXEC_BASE);
		blocks[n++] = (uint32_t)vt_record_u64(&rec, VT_EXEC_BLOCKS);
	}
	assert_int_equal(n, 4);
	assert_int_equal(blocks[0], 65536);
	assert_int_equal(blocks[3], 200000 - 3 * 65536);
	assert_int_equal(widths[0], 2);
	assert_int_equal(widths[1], 4);
	assert_int_equal(widths[2], 4);
	assert_int_equal(widths[3], 2);
	assert_int_equal(bases[0], 0);
	assert_int_equal(bases[1], 0);
	assert_int_equal(bases[3], 78000);
	vt_reader_close(in);
	close(fd);
	free(r.ids);
}

/* Times: of the run, within it, and of what is between runs; in nanoseconds where known. */
static void test_times(void **state)
{
	struct vt_pt_totals sum;
	uint32_t ids[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct run r = {.ids = ids, .n = 10, .nnotes = 3, .ntimes = 4};
	struct vt_reader *in;
	struct vt_record rec;
	int fd;

	(void)state;
	r.times[0] = (struct vt_pt_mark_time){0, 50, 5};
	r.times[1] = (struct vt_pt_mark_time){3, 60, 6};
	r.times[2] = (struct vt_pt_mark_time){3, 70, 7};
	r.times[3] = (struct vt_pt_mark_time){8, 90, 9};
	r.notes[0] = (struct vt_pt_note){.at = 5,
					 .type = VT_PT_NOTE_PTWRITE,
					 .has_ip = true,
					 .ip = 0x123,
					 .value = 77,
					 .extra = 4,
					 .tsc = 80,
					 .cycles = 8};
	r.notes[1] = (struct vt_pt_note){.at = 7, .type = VT_PT_NOTE_CBR, .status = true};
	r.notes[2] = (struct vt_pt_note){
		.at = 10, .type = VT_PT_NOTE_OVERFLOW, .offset = 33, .tsc = 95, .cycles = 9};
	fd = write_run(&r, 0, 0, &sum);
	r.nnotes = 2; /* what is told again is no record */
	check_stream(fd, &r, &sum);
	lseek(fd, 0, SEEK_SET);
	in = vt_reader_open_fd(fd, "test", NULL);
	rec = next_of_kind(in, VT_EXEC);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_TSC), 50);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_CYCLES), 5);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_TIME), 1000 + 50 * 4 / 2);
	assert_int_equal(vt_record_words(&rec, VT_EXEC_TIME_AT).count, 1);
	assert_int_equal(vt_record_words(&rec, VT_EXEC_TIME_AT).data[0], 3);
	assert_int_equal(vt_record_words(&rec, VT_EXEC_TIME_TSC).data[0], 70);
	assert_int_equal(vt_record_words(&rec, VT_EXEC_TIME_CYCLES).data[0], 7);
	assert_int_equal(vt_reader_next(in, &rec, NULL), 1);
	assert_int_equal(rec.kind, VT_VALUE);
	assert_int_equal(vt_record_u64(&rec, VT_VALUE_WHAT), VT_WHAT_PTWRITE);
	assert_int_equal(vt_record_u64(&rec, VT_VALUE_IP), 0x123);
	assert_int_equal(vt_record_u64(&rec, VT_VALUE_SIZE), 4);
	assert_int_equal(vt_record_u64(&rec, VT_VALUE_VALUE), 77);
	assert_int_equal(vt_record_u64(&rec, VT_VALUE_TIME), 1000 + 80 * 4 / 2);
	rec = next_of_kind(in, VT_EXEC);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_BLOCKS), 5);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_TSC), 80);
	assert_int_equal(vt_record_words(&rec, VT_EXEC_TIME_AT).count, 1);
	assert_int_equal(vt_record_words(&rec, VT_EXEC_TIME_AT).data[0], 3);
	assert_int_equal(vt_reader_next(in, &rec, NULL), 1);
	assert_int_equal(rec.kind, VT_GAP);
	assert_int_equal(vt_record_u64(&rec, VT_GAP_OFFSET), 33);
	assert_int_equal(sum.overflows, 1);
	vt_reader_close(in);
	close(fd);
}

/* Two processes with the same code: each has its own ids and its own count. */
static void test_processes(void **state)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	const struct vt_pt_context other = {.pid = 9, .tid = 9, .cpu = 1, .input = "in"};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_bblocks *d = vt_bblocks_new();
	uint32_t ids[4] = {3, 2, 1, 0}, nblocks = 0, nexec = 0, i;
	struct run r = {.ids = ids, .n = 4};
	int fd = scratch_file();
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &opt, &err);
	struct vt_pt_emit *e = vt_pt_emit_new(w, NULL);
	uint64_t first[2] = {0};
	struct vt_reader *in;
	struct vt_record rec;
	struct code c;

	(void)state;
	make_code(&c);
	for (i = 0; i < 4; i++)
		block_at(&c, i);
	for (i = 0; i < 6; i++)
		give(e, i % 2 ? &other : &context, &c, &r, 0, 4);
	vt_pt_emit_free(e);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	lseek(fd, 0, SEEK_SET);
	in = vt_reader_open_fd(fd, "test", NULL);
	while (vt_reader_next(in, &rec, NULL) > 0) {
		struct vt_exec x;
		struct vt_step s;

		if (rec.kind == VT_BLOCK) {
			assert_int_equal(vt_bblocks_add(d, &rec, NULL), 0);
			nblocks++;
			continue;
		}
		assert_int_equal(vt_exec_open(&x, d, &rec, NULL), 0);
		assert_int_equal(x.pid, nexec % 2 ? 9 : 7);
		assert_int_equal(x.first, first[nexec % 2]);
		first[nexec++ % 2] += x.insns;
		for (i = 0; vt_exec_next(&x, &s, NULL) > 0; i++) {
			assert_int_equal(s.block->pid, x.pid);
			assert_int_equal(s.block->addr, BASE + 3 - i);
		}
	}
	assert_int_equal(nblocks, 8);
	assert_int_equal(nexec, 5); /* what was not flushed is not there */
	vt_reader_close(in);
	vt_bblocks_free(d);
	free_code(&c);
	close(fd);
}

/* The ids of a run are told in 16 bits up to the largest, together or from a base on. */
static void test_largest(void **state)
{
	struct vt_pt_totals sum;
	struct run r = {.n = 65536 + 7};
	struct vt_record rec;
	struct vt_reader *in;
	uint32_t i;
	int fd;

	(void)state;
	r.ids = malloc(r.n * sizeof(*r.ids));
	for (i = 0; i < 65536; i++)
		r.ids[i] = i;
	memcpy(r.ids + 65536, (uint32_t[]){0x7fff, 0x8000, 65535, 65536, 1, 65536, 0},
	       7 * sizeof(uint32_t));
	for (i = 0; i < 3; i++)
		r.notes[i] = (struct vt_pt_note){.at = 65536 + (i ? 1 + 2 * i : 2),
						 .type = VT_PT_NOTE_STOP};
	r.nnotes = 3;
	fd = write_run(&r, 0, 0, &sum);
	in = vt_reader_open_fd(fd, "test", NULL);
	rec = next_of_kind(in, VT_EXEC);
	for (i = 0; i < 4; i++) {
		static const uint32_t bases[] = {0, 0, 1, 0}, widths[] = {2, 2, 2, 4};

		rec = next_of_kind(in, VT_EXEC);
		assert_int_equal(vt_record_u64(&rec, VT_EXEC_BASE), bases[i]);
		assert_int_equal(vt_record_u64(&rec, VT_EXEC_WIDTH), widths[i]);
	}
	vt_reader_close(in);
	close(fd);
	free(r.ids);
}

static void test_clock(void **state)
{
	struct vt_pt_timeconv conv = {true, 31, 581029125, 18444502336406842448u};
	unsigned shift;

	(void)state;
	/* As the kernel's documentation of perf_event_mmap_page has it, with wider numbers. */
	assert_int_equal(
		vt_pt_time(&conv, 13406382047626722u),
		18444502336406842448u +
			(uint64_t)((unsigned __int128)13406382047626722u * 581029125 >> 31));
	assert_int_equal(vt_pt_time(&conv, 0), 0);
	for (shift = 0; shift < 64; shift++) {
		conv = (struct vt_pt_timeconv){true, (uint16_t)shift, 4000000007u, 3};
		assert_int_equal(
			vt_pt_time(&conv, 0xfedcba9876543210u),
			3 + (uint64_t)((unsigned __int128)0xfedcba9876543210u * 4000000007u >>
				       shift));
	}
	for (; shift < 66; shift++) {
		conv.shift = (uint16_t)shift;
		assert_int_equal(vt_pt_time(&conv, 5), 0);
	}
	conv.shift = 0;
	assert_int_equal(vt_pt_time(&conv, 1), 3 + 4000000007u);
	conv.known = false;
	assert_int_equal(vt_pt_time(&conv, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),  cmocka_unit_test(test_width),
		cmocka_unit_test(test_times), cmocka_unit_test(test_processes),
		cmocka_unit_test(test_clock), cmocka_unit_test(test_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
