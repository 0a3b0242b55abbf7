/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs of blocks of any length, in any window, instruction by instruction: what the EXEC records
 * say is what was executed, and none is larger than it may be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/rng.h"
#include "formats/recording/session.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"

#define NBLOCKS 6

/* Instructions of each block, and bytes of values that each of them leaves. */
struct blocks {
	uint32_t id[NBLOCKS];
	uint32_t ninsns[NBLOCKS];
	uint32_t bytes[NBLOCKS];
};

static const struct blocks small = {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 5, 7, 16}, {0, 1, 0, 2, 1, 0}};
/* No block 8, and none of a higher id than 9. */
static const struct blocks sparse = {{1, 2, 3, 5, 7, 9}, {1, 2, 3, 5, 7, 16}, {0, 1, 0, 2, 1, 0}};
static const struct blocks large = {
	{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, {500, 300, 0, 256, 204, 10}};
static const struct blocks far = {
	{1, 900, 70, 65536, 65537, 60000}, {1, 2, 3, 5, 7, 16}, {0, 1, 0, 2, 1, 0}};

/* Instructions as numbers, and the bytes that they leave. */
struct flat {
	struct vt_buf insns;
	struct vt_buf data;
};

struct session {
	struct vt_recording r;
	struct rc_process p;
	int fd;
};

static void begin(struct session *s, const struct blocks *b, uint64_t skip, uint64_t count)
{
	static const uint8_t lengths[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct vt_error err = VT_ERROR_INIT;
	uint32_t i, k;

	memset(s, 0, sizeof(*s));
	s->fd = scratch_file();
	s->r.w = start_stream(s->fd);
	s->r.opt.follow = true;
	s->r.chunk = calloc(1, sizeof(*s->r.chunk));
	assert_non_null(s->r.chunk);
	s->p = (struct rc_process){.pid = 500, .skip = skip, .count = count};
	/* The lowest number that a thread has: 0 says that there is none. */
	assert_int_equal(vti_rc_switch(&s->p, 1, &err), 0);
	for (i = 0; i < NBLOCKS; i++) {
		uint64_t slots[16];
		struct rc_block add = {.id = b->id[i],
				       .size = b->ninsns[i],
				       .ninsns = b->ninsns[i],
				       .slots = slots,
				       .lengths = lengths};

		for (k = 0; k < b->ninsns[i] && b->bytes[i]; k++)
			slots[add.nslots++] = (uint64_t)b->bytes[i] << 32 | 1 << 16 | k;
		add.data_size = b->bytes[i] * b->ninsns[i];
		assert_int_equal(vti_rc_blocks_add(&s->r.blocks, &add, &err), 0);
	}
}

static void end(struct session *s)
{
	close(s->fd);
	vti_rc_blocks_fini(&s->r.blocks);
	free(s->r.chunk);
	free(s->p.threads);
}

static uint32_t index_of(const struct blocks *b, uint32_t id)
{
	uint32_t i;

	for (i = 0; b->id[i] != id; i++)
		assert_true(i + 1 < NBLOCKS);
	return i;
}

/* The instructions of one record, whose size is looked at, too. */
static void flatten(const struct blocks *b, const struct vt_record *rec, struct flat *out)
{
	struct vt_bytes ids = vt_record_bytes(rec, VT_EXEC_IDS);
	struct vt_bytes data = vt_record_bytes(rec, VT_EXEC_DATA);
	uint64_t width = vt_record_u64(rec, VT_EXEC_WIDTH), base = vt_record_u64(rec, VT_EXEC_BASE);
	uint64_t n = vt_record_u64(rec, VT_EXEC_BLOCKS), i,
		 left = vt_record_u64(rec, VT_EXEC_INSNS);
	uint64_t skip = vt_record_u64(rec, VT_EXEC_SKIP);
	bool far_apart = false, lowest = false;

	assert_true(n > 0 && n <= RC_CHUNK_IDS);
	assert_true(data.size <= RC_CHUNK_DATA || n == 1);
	assert_int_equal(ids.size, n * width);
	assert_true(width == 2 || width == 4);
	for (i = 0; i < n; i++) {
		uint64_t rel = width == 2 ? vt_le16(ids.data + 2 * i) : vt_le32(ids.data + 4 * i);
		uint32_t k = index_of(b, (uint32_t)(base + rel)), insn;

		far_apart |= rel > UINT16_MAX;
		lowest |= rel == 0;
		for (insn = i ? 0 : (uint32_t)skip; insn < b->ninsns[k] && left; insn++, left--)
			vt_buf_put_le32(&out->insns, b->id[k] << 8 | insn);
	}
	assert_int_equal(left, 0);
	assert_int_equal(width, far_apart ? 4 : 2);
	assert_true(lowest);
	vt_buf_put(&out->data, data.data, data.size);
}

/* What was written, to be the instructions of `want` from `skip` on. */
static void check(struct session *s, const struct blocks *b, const struct flat *want)
{
	struct vt_reader *r = reread_stream(s->fd, s->r.w);
	struct flat got = {VT_BUF_INIT, VT_BUF_INIT};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	uint64_t blocks = 0;

	while (vt_reader_next(r, &rec, &err) == 1) {
		/* Where recording begins, no registers are known. */
		if (rec.kind == VT_STATE)
			assert_int_equal(vt_record_u64(&rec, VT_STATE_REASON), VT_STATE_WINDOW);
		if (rec.kind != VT_EXEC)
			continue;
		assert_int_equal(vt_record_u64(&rec, VT_EXEC_FIRST), got.insns.size / 4);
		flatten(b, &rec, &got);
		blocks += vt_record_u64(&rec, VT_EXEC_BLOCKS);
	}
	vt_reader_close(r);
	assert_int_equal(got.insns.size, want->insns.size);
	assert_int_equal(got.data.size, want->data.size);
	if (got.insns.size)
		assert_memory_equal(got.insns.data, want->insns.data, got.insns.size);
	if (got.data.size)
		assert_memory_equal(got.data.data, want->data.data, got.data.size);
	assert_int_equal(s->r.sum.insns, got.insns.size / 4);
	assert_int_equal(s->r.sum.data, got.data.size);
	assert_int_equal(s->r.sum.blocks, blocks);
	assert_int_equal(s->p.first, got.insns.size / 4);
	vt_buf_free(&got.insns);
	vt_buf_free(&got.data);
	end(s);
}

/* n blocks by chance, the last of them in part. */
static void make_run(const struct blocks *b, size_t n, uint32_t partial, struct vt_buf *ids,
		     struct flat *all)
{
	struct vt_rng rng;
	uint32_t insn, k;
	size_t i, j;

	vt_rng_init(&rng, n);
	ids->size = all->insns.size = all->data.size = 0;
	for (i = 0; i < n; i++) {
		k = partial && i + 1 == n ? NBLOCKS - 1 : (uint32_t)vt_rng_below(&rng, NBLOCKS);
		vt_buf_put_le32(ids, b->id[k]);
		for (insn = 0; insn < b->ninsns[k]; insn++) {
			if (partial && i + 1 == n && insn >= partial)
				break;
			vt_buf_put_le32(&all->insns, b->id[k] << 8 | insn);
			for (j = 0; j < b->bytes[k]; j++)
				vt_buf_put_u8(&all->data, (uint8_t)(all->data.size * 7 + i));
		}
	}
}

/* The instructions skip..skip+count-1, and their bytes. */
static void cut_out(const struct blocks *b, const struct flat *all, uint64_t skip, uint64_t count,
		    struct flat *out)
{
	size_t i, at = 0, n = all->insns.size / 4;

	out->insns.size = out->data.size = 0;
	for (i = 0; i < n; i++) {
		uint32_t insn = vt_le32(all->insns.data + 4 * i);
		size_t size = b->bytes[index_of(b, insn >> 8)];

		if (i >= skip && i - skip < count) {
			vt_buf_put_le32(&out->insns, insn);
			vt_buf_put(&out->data, all->data.data + at, size);
		}
		at += size;
	}
}

static void records_what_was_executed(void **state)
{
	static const struct {
		const struct blocks *b;
		size_t n;
		uint32_t partial;
	} runs[] = {
		{&small, 1, 0},	    {&small, 3, 5},	{&small, 512, 0},    {&small, 513, 1},
		{&small, 49152, 0}, {&small, 49153, 0}, {&small, 120000, 9}, {&large, 600, 0},
		{&large, 3000, 4},  {&large, 5000, 0},	{&far, 10, 0},	     {&far, 2000, 3},
	};
	static const uint64_t skips[] = {0, 1, 2, 17, 500, 3000},
			      counts[] = {UINT64_MAX, 1, 6, 999};
	struct flat all = {VT_BUF_INIT, VT_BUF_INIT}, want = {VT_BUF_INIT, VT_BUF_INIT};
	struct vt_buf ids = VT_BUF_INIT;
	struct vt_error err = VT_ERROR_INIT;
	struct session s;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		make_run(runs[i].b, runs[i].n, runs[i].partial, &ids, &all);
		for (k = 0; k < 24; k++) {
			const uint64_t skip = skips[k / 4], count = counts[k % 4];
			const struct rc_run run = {.ids = ids.data,
						   .n = runs[i].n,
						   .data = all.data.data,
						   .size = all.data.size,
						   .partial = runs[i].partial};

			if (runs[i].n > 5000 && k > 3)
				break;
			cut_out(runs[i].b, &all, skip, count, &want);
			begin(&s, runs[i].b, skip, count);
			assert_int_equal(vti_rc_run(&s.r, &s.p, &run, &err), 0);
			check(&s, runs[i].b, &want);
		}
	}
	vt_buf_free(&ids);
	vt_buf_free(&all.insns);
	vt_buf_free(&all.data);
	vt_buf_free(&want.insns);
	vt_buf_free(&want.data);
}

/* What does not fit; of a buffer that a dying process wrote the rest is left out. */
static void refuses_what_cannot_be(void **state)
{
	static const struct {
		uint32_t ids[2];
		size_t n, size;
		uint32_t partial;
		const char *why; /* NULL: nothing */
	} cases[] = {
		{{9, 9}, 1, 0, 0, NULL},
		{{8, 9}, 1, 0, 0, "an undeclared basic block"},
		{{8, 9}, 1, 0, 1, "an undeclared basic block"},
		{{10, 9}, 1, 0, 1, "an undeclared basic block"},
		{{2, 2}, 2, 4, 0, NULL},
		{{2, 2}, 2, 3, 0, "values that do not fit the blocks"},
		{{2, 2}, 2, 5, 0, "values that do not fit the blocks"},
		{{2, 10}, 2, 4, 0, "an undeclared basic block"},
		{{2, 0}, 2, 4, 0, "an undeclared basic block"},
		{{2, UINT32_MAX}, 2, 4, 0, "an undeclared basic block"},
		{{2, 2}, 2, 3, 1, NULL},
		{{2, 2}, 2, 4, 2, NULL},
		{{2, 2}, 2, 4, 3, "part of a block that is longer than it"},
		{{2, 2}, 2, 2, 1, "values that do not fit the blocks"},
		{{2, 10}, 2, 4, 1, "an undeclared basic block"},
		{{2, 2}, 0, 0, 1, "part of a block where there is none"},
		{{2, 2}, 0, 0, 0, NULL},
	};
	struct session s;
	size_t i, cut;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (cut = 0; cut < 2; cut++) {
			struct vt_error err = VT_ERROR_INIT;
			const struct rc_run run = {.ids = (const uint8_t *)cases[i].ids,
						   .n = cases[i].n,
						   .data = (const uint8_t *)"123456",
						   .size = cases[i].size,
						   .partial = cases[i].partial,
						   .cut = cut};
			int code;

			begin(&s, &sparse, 0, UINT64_MAX);
			code = vti_rc_run(&s.r, &s.p, &run, &err);
			if (cases[i].why && (!cut || !cases[i].n)) {
				assert_int_equal(code, -VT_E_DAMAGED);
				assert_string_equal(err.text, cases[i].why);
			} else {
				assert_int_equal(code, 0);
			}
			vt_reader_close(reread_stream(s.fd, s.r.w));
			end(&s);
		}
	}
}

/* ---- how much a record holds ---- */

/* Of each record how many blocks, of which width the ids are, and the smallest. */
static void expect_records(struct session *s, const char *want)
{
	struct vt_reader *r = reread_stream(s->fd, s->r.w);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf text = VT_BUF_INIT;
	struct vt_record rec;

	while (vt_reader_next(r, &rec, &err) == 1)
		if (rec.kind == VT_EXEC)
			vt_buf_printf(&text, "%d*%d+%d ", (int)vt_record_u64(&rec, VT_EXEC_BLOCKS),
				      (int)vt_record_u64(&rec, VT_EXEC_WIDTH),
				      (int)vt_record_u64(&rec, VT_EXEC_BASE));
	vt_reader_close(r);
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
	end(s);
}

static void records_are_full(void **state)
{
	static const struct {
		const struct blocks *b;
		/* The first block so often, and then the other. */
		uint32_t first, times, second, more, partial;
		uint64_t count; /* of instructions wanted */
		const char *want;
	} rows[] = {
		{&small, 1, 49152, 1, 0, 0, UINT64_MAX, "49152*2+1 "},
		{&small, 1, 49152, 2, 1, 0, UINT64_MAX, "49152*2+1 1*2+2 "},
		{&small, 1, 49152, 2, 1, 1, UINT64_MAX, "49152*2+1 1*2+2 "},
		{&small, 1, 49151, 2, 1, 1, UINT64_MAX, "49152*2+1 "},
		{&large, 4, 1024, 1, 0, 0, UINT64_MAX, "256*2+4 256*2+4 256*2+4 256*2+4 "},
		{&large, 3, 512, 4, 256, 0, UINT64_MAX, "768*2+3 "},
		{&large, 4, 256, 4, 1, 1, UINT64_MAX, "256*2+4 1*2+4 "},
		{&large, 4, 255, 4, 1, 3, UINT64_MAX, "256*2+4 "},
		/* Those of 256 of them: all in one, as they fit. */
		{&large, 4, 512, 1, 0, 0, 1024, "256*2+4 "},
		{&far, 1, 2, 65536, 1, 0, UINT64_MAX, "3*2+1 "},
		{&far, 1, 2, 65537, 1, 0, UINT64_MAX, "3*4+1 "},
	};
	static const uint8_t data[2000 * 1024];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf ids = VT_BUF_INIT;
	struct session s;
	uint32_t k;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rc_run run = {.n = rows[i].times + rows[i].more,
				     .data = data,
				     .partial = rows[i].partial};

		begin(&s, rows[i].b, 0, rows[i].count);
		ids.size = 0;
		for (k = 0; k < run.n; k++) {
			uint32_t id = k < rows[i].times ? rows[i].first : rows[i].second;
			uint32_t at = index_of(rows[i].b, id);
			bool part = run.partial && k + 1 == run.n;

			vt_buf_put_le32(&ids, id);
			run.size += (size_t)rows[i].b->bytes[at] *
				    (part ? run.partial : rows[i].b->ninsns[at]);
		}
		run.ids = ids.data;
		assert_true(run.size <= sizeof(data));
		assert_int_equal(vti_rc_run(&s.r, &s.p, &run, &err), 0);
		expect_records(&s, rows[i].want);
	}
	vt_buf_free(&ids);
}

/* The ids of one record say nothing of those of the next. */
static void ranges_of_ids(void **state)
{
	static const uint32_t runs[][2] = {{65537, 1}, {900, 900}, {1, 1}, {70, 900}};
	struct vt_error err = VT_ERROR_INIT;
	struct session s;
	size_t i;

	(void)state;
	begin(&s, &far, 0, UINT64_MAX);
	for (i = 0; i < 4; i++) {
		const struct rc_run run = {.ids = (const uint8_t *)runs[i],
					   .n = 2,
					   .data = (const uint8_t *)"123456789012",
					   .size = i == 0   ? 7
						   : i == 1 ? 4
						   : i == 2 ? 0
							    : 2};

		assert_int_equal(vti_rc_run(&s.r, &s.p, &run, &err), 0);
	}
	expect_records(&s, "2*4+1 2*2+900 2*2+1 2*2+70 ");
}

/* ---- threads ---- */

static void number_of_threads(void **state)
{
	const size_t most = 65536;
	struct vt_error err = VT_ERROR_INIT;
	struct rc_process p = {.pid = 1, .nthreads = most - 1, .threads_cap = most + 1};

	(void)state;
	p.threads = calloc(p.threads_cap, sizeof(*p.threads));
	assert_non_null(p.threads);
	assert_int_equal(vti_rc_switch(&p, 7, &err), 0);
	assert_int_equal(p.nthreads, most);
	assert_int_equal(p.running, most - 1);
	assert_int_equal(vti_rc_switch(&p, 0, &err), 0);
	assert_int_equal(p.running, 0);
	assert_int_equal(vti_rc_switch(&p, 8, &err), -VT_E_DAMAGED);
	assert_string_equal(err.text, "too many threads");
	assert_int_equal(vti_rc_switch(&p, 7, &err), 0);
	assert_int_equal(p.running, most - 1);
	free(p.threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_what_was_executed),
		cmocka_unit_test(refuses_what_cannot_be),
		cmocka_unit_test(records_are_full),
		cmocka_unit_test(ranges_of_ids),
		cmocka_unit_test(number_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
