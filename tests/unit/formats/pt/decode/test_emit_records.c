/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each batch of executed blocks, each time mark and each note becomes in records. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/pt/decode/emit.h"
#include "stream/kinds.h"
#include "tests/unit/common/streams.h"

#define BASE 0x400000

/* ---- record by record: of code that is returns, block i at BASE + i ---- */

#define NRETS 12

struct job {
	int fd;
	struct vt_writer *w;
	struct vt_pt_emit *e;
	struct vt_pt_code *code;
	struct vt_pt_blocks *blocks;
	struct vt_pt_batch batch;
};

static const struct vt_pt_timeconv ten = {true, 0, 10, 1};
static const struct vt_pt_context on_cpu = {
	.pid = 7, .tid = 8, .cpu = 3, .time = 99, .input = "in", .offset = 1000};

static void add_section(struct vt_pt_code *c, const void *bytes, uint64_t size)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_section s = {BASE, size, bytes, NULL, 0};

	assert_int_equal(vt_pt_code_add(c, &s, &err), 0);
}

static void begin_job(struct job *j, const struct vt_pt_timeconv *conv)
{
	static const uint8_t rets[NRETS] = {0xc3, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3,
					    0xc3, 0xc3, 0xc3, 0xc3, 0xc3, 0xc3};
	uint32_t i, index;

	*j = (struct job){.fd = scratch_file()};
	j->w = start_stream(j->fd);
	j->e = vt_pt_emit_new(j->w, conv);
	j->code = vt_pt_code_new();
	add_section(j->code, rets, NRETS);
	j->blocks = vt_pt_blocks_new(j->code);
	for (i = 0; i < NRETS; i++) {
		vt_pt_blocks_at(j->blocks, BASE + i, 64, &index);
		assert_int_equal(index, i);
	}
	j->batch.blocks = j->blocks;
}

/* The first n blocks, one after the other. */
static void give_blocks(struct job *j, const struct vt_pt_context *ctx, size_t n)
{
	static const uint32_t ids[NRETS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
	struct vt_error err = VT_ERROR_INIT;

	j->batch.ids = ids;
	j->batch.nids = j->batch.insns = n;
	assert_int_equal(vt_pt_emit_batch(j->e, ctx, &j->batch, &err), 0);
	j->batch = (struct vt_pt_batch){.blocks = j->blocks};
}

#define GIVE_TIMES(j, ...)                                                                         \
	do {                                                                                       \
		static const struct vt_pt_mark_time given[] = {__VA_ARGS__};                       \
		(j)->batch.times = given;                                                          \
		(j)->batch.ntimes = sizeof(given) / sizeof(given[0]);                              \
	} while (0)

static struct vt_reader *end_job(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_pt_emit_flush(j->e, &err), 0);
	vt_pt_emit_free(j->e);
	vt_pt_blocks_free(j->blocks);
	vt_pt_code_free(j->code);
	return reread_stream(j->fd, j->w);
}

static void check_times(const struct vt_record *rec, uint64_t tsc, uint64_t cycles, size_t n,
			const uint64_t *at, const uint64_t *tscs, const uint64_t *cycleses)
{
	struct vt_words a = vt_record_words(rec, VT_EXEC_TIME_AT);
	struct vt_words t = vt_record_words(rec, VT_EXEC_TIME_TSC);
	struct vt_words c = vt_record_words(rec, VT_EXEC_TIME_CYCLES);
	size_t i;

	assert_int_equal(vt_record_u64(rec, VT_EXEC_TSC), tsc);
	assert_int_equal(vt_record_u64(rec, VT_EXEC_CYCLES), cycles);
	assert_int_equal(a.count, n);
	assert_int_equal(t.count, n);
	assert_int_equal(c.count, cycleses ? n : 0);
	for (i = 0; i < n; i++) {
		assert_int_equal(a.data[i], at[i]);
		assert_int_equal(t.data[i], tscs[i]);
		if (cycleses)
			assert_int_equal(c.data[i], cycleses[i]);
	}
}

/* A run begins when the clock was where it is now, and has cycles if any were told in it. */
static void test_run_times(void **state)
{
	static const struct vt_pt_note split = {.at = 4, .type = VT_PT_NOTE_STOP};
	struct vt_record rec;
	struct vt_reader *r;
	struct job j;

	(void)state;
	begin_job(&j, &ten);
	GIVE_TIMES(&j, {0, 50, 1}, {2, 60, 1}, {4, 65, 1}, {5, 65, 0}, {6, 70, 0});
	j.batch.notes = &split;
	j.batch.nnotes = 1;
	give_blocks(&j, &on_cpu, 8);
	/* What came last counts for the next block, of two at the same place the later one. */
	GIVE_TIMES(&j, {2, 80, 0});
	give_blocks(&j, &on_cpu, 2);
	GIVE_TIMES(&j, {0, 85, 0}, {0, 90, 0}, {1, 90, 0});
	give_blocks(&j, &on_cpu, 2);
	r = end_job(&j);
	rec = next_of_kind(r, VT_EXEC);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_TIME), 1 + 10 * 50);
	check_times(&rec, 50, 1, 1, (uint64_t[]){2}, (uint64_t[]){60}, (uint64_t[]){1});
	rec = next_of_kind(r, VT_EXEC);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_TIME), 1 + 10 * 65);
	check_times(&rec, 65, 1, 3, (uint64_t[]){1, 2, 6}, (uint64_t[]){65, 70, 90},
		    (uint64_t[]){0, 0, 0});
	vt_reader_close(r);
	close(j.fd);
}

/* Cycles of a run before say nothing of one without, nor does the time that a run does not know. */
static void test_run_without_cycles(void **state)
{
	static const struct vt_pt_note split = {.at = 2, .type = VT_PT_NOTE_STOP};
	struct vt_record rec;
	struct vt_reader *r;
	struct job j;

	(void)state;
	begin_job(&j, &ten);
	GIVE_TIMES(&j, {0, 50, 5}, {1, 60, 6}, {2, 70, 0}, {3, 80, 0});
	j.batch.notes = &split;
	j.batch.nnotes = 1;
	give_blocks(&j, &on_cpu, 4);
	/* Of another thread nothing is known, but when its batch was. */
	give_blocks(&j, &(struct vt_pt_context){.pid = 7, .tid = 9, .time = 44}, 1);
	r = end_job(&j);
	rec = next_of_kind(r, VT_EXEC);
	check_times(&rec, 50, 5, 1, (uint64_t[]){1}, (uint64_t[]){60}, (uint64_t[]){6});
	rec = next_of_kind(r, VT_EXEC);
	check_times(&rec, 70, 0, 1, (uint64_t[]){1}, (uint64_t[]){80}, NULL);
	rec = next_of_kind(r, VT_EXEC);
	check_times(&rec, 0, 0, 0, NULL, NULL, NULL);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_TIME), 44);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_FIRST), 4);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_TID), 9);
	vt_reader_close(r);
	close(j.fd);
}

/* The record of each note that is an event. */
static void test_events(void **state)
{
	static const struct {
		uint8_t note;
		uint8_t event;
	} all[] = {
		{VT_PT_NOTE_ENABLED, VT_TRACE_ENABLED},
		{VT_PT_NOTE_DISABLED, VT_TRACE_DISABLED},
		{VT_PT_NOTE_ASYNC_DISABLED, VT_TRACE_ASYNC_DISABLED},
		{VT_PT_NOTE_ASYNC_BRANCH, VT_TRACE_ASYNC_BRANCH},
		{VT_PT_NOTE_PAGING, VT_TRACE_PAGING},
		{VT_PT_NOTE_VMCS, VT_TRACE_VMCS},
		{VT_PT_NOTE_EXEC_MODE, VT_TRACE_EXEC_MODE},
		{VT_PT_NOTE_TSX, VT_TRACE_TSX},
		{VT_PT_NOTE_STOP, VT_TRACE_STOP},
		{VT_PT_NOTE_EXSTOP, VT_TRACE_EXSTOP},
		{VT_PT_NOTE_MWAIT, VT_TRACE_MWAIT},
		{VT_PT_NOTE_PWRE, VT_TRACE_PWRE},
		{VT_PT_NOTE_PWRX, VT_TRACE_PWRX},
		{VT_PT_NOTE_CBR, VT_TRACE_CBR},
		{VT_PT_NOTE_MNT, VT_TRACE_MNT},
	};
	size_t i;

	(void)state;
	for (i = 0; i < 2 * sizeof(all) / sizeof(all[0]); i++) {
		bool told = i % 2;
		struct vt_pt_note n = {.at = 2,
				       .type = all[i / 2].note,
				       .has_ip = told,
				       .has_to = told,
				       .flag = true,
				       .ip = 11,
				       .to = 12,
				       .value = 13,
				       .extra = 14,
				       .tsc = told ? 20 : 0,
				       .cycles = 6};
		struct vt_record rec;
		struct vt_reader *r;
		struct job j;

		begin_job(&j, &ten);
		j.batch.notes = &n;
		j.batch.nnotes = 1;
		give_blocks(&j, &on_cpu, 2);
		r = end_job(&j);
		rec = next_of_kind(r, VT_EXEC);
		assert_int_equal(vt_record_u64(&rec, VT_EXEC_TIME), 99);
		rec = next_of_kind(r, VT_TRACE);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_TIME), told ? 1 + 10 * 20 : 0);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_PID), 7);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_TID), 8);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_CPU), 3);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_FIRST), 2);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_TSC), told ? 20 : 0);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_CYCLES), 6);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_EVENT), all[i / 2].event);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_IP), told ? 11 : 0);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_TO), told ? 12 : 0);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_VALUE), 13);
		assert_int_equal(vt_record_u64(&rec, VT_TRACE_EXTRA),
				 n.type == VT_PT_NOTE_PAGING ? 1 : 14);
		vt_reader_close(r);
		close(j.fd);
	}
}

static void check_gap(const struct vt_record *rec, uint64_t cpu, uint64_t offset, uint64_t addr,
		      const char *reason, const char *input)
{
	struct vt_bytes b = vt_record_bytes(rec, VT_GAP_REASON);

	assert_int_equal(vt_record_u64(rec, VT_GAP_TIME), 1 + 10 * 20);
	assert_int_equal(vt_record_u64(rec, VT_GAP_PID), 7);
	assert_int_equal(vt_record_u64(rec, VT_GAP_TID), 8);
	assert_int_equal(vt_record_u64(rec, VT_GAP_CPU), cpu);
	assert_int_equal(vt_record_u64(rec, VT_GAP_OFFSET), offset);
	assert_int_equal(vt_record_u64(rec, VT_GAP_ADDR), addr);
	assert_int_equal(b.size, strlen(reason));
	assert_memory_equal(b.data, reason, b.size);
	b = vt_record_bytes(rec, VT_GAP_INPUT);
	assert_int_equal(b.size, strlen(input));
	assert_memory_equal(b.data, input, b.size);
}

static void test_gaps(void **state)
{
	static const struct vt_pt_note notes[] = {
		{.type = VT_PT_NOTE_ERROR,
		 .error = VT_PT_ERR_NO_CODE,
		 .offset = 5,
		 .bytes = 30,
		 .has_ip = true,
		 .ip = 11,
		 .tsc = 20},
		{.type = VT_PT_NOTE_ERROR, .error = VT_PT_ERR_RETURN, .bytes = 12, .ip = 11},
		{.type = VT_PT_NOTE_OVERFLOW, .offset = 6, .has_ip = true, .ip = 11},
		{.type = VT_PT_NOTE_PTWRITE, .ip = 11, .value = 13, .extra = 8},
	};
	struct vt_pt_context nowhere = on_cpu;
	const struct vt_pt_totals *sum;
	struct vt_record rec;
	struct vt_reader *r;
	struct job j;

	(void)state;
	begin_job(&j, &ten);
	j.batch.notes = notes;
	j.batch.nnotes = 4;
	give_blocks(&j, &on_cpu, 0);
	nowhere.cpu = -1;
	nowhere.input = NULL;
	j.batch.notes = notes + 2;
	j.batch.nnotes = 1;
	give_blocks(&j, &nowhere, 0);
	sum = vt_pt_emit_totals(j.e);
	assert_int_equal(sum->gaps, 4);
	assert_int_equal(sum->overflows, 2);
	assert_int_equal(sum->skipped, 42);
	assert_int_equal(sum->blocks, 0);
	r = end_job(&j);
	rec = next_of_kind(r, VT_GAP);
	check_gap(&rec, 3, 1005, 11, "no code", "in");
	assert_int_equal(vt_record_u64(&rec, VT_GAP_BYTES), 30);
	rec = next_of_kind(r, VT_GAP);
	check_gap(&rec, 3, 1000, 0, "return without its call", "in");
	rec = next_of_kind(r, VT_GAP);
	check_gap(&rec, 3, 1006, 0, "overflow", "in");
	rec = next_of_kind(r, VT_VALUE);
	assert_int_equal(vt_record_u64(&rec, VT_VALUE_TIME), 1 + 10 * 20);
	assert_int_equal(vt_record_u64(&rec, VT_VALUE_PID), 7);
	assert_int_equal(vt_record_u64(&rec, VT_VALUE_TID), 8);
	assert_int_equal(vt_record_u64(&rec, VT_VALUE_IP), 0);
	rec = next_of_kind(r, VT_GAP);
	check_gap(&rec, 0, 1006, 0, "overflow", "");
	vt_reader_close(r);
	close(j.fd);
}

/* ---- blocks ---- */

/* What a BLOCK record has of the block that is executed, of each mode and end. */
static void test_block_records(void **state)
{
	static const struct {
		unsigned mode, told, end, insns, size;
		uint64_t target;
		uint8_t code[8];
	} all[] = {
		{64, 0, VT_END_RETURN, 2, 2, 0, {0x90, 0xc3}},
		{32, 32, VT_END_JUMP, 1, 2, BASE + 5, {0xeb, 3}},
		{16, 16, VT_END_CALL, 1, 3, BASE + 4, {0xe8, 1, 0}},
		{64, 0, VT_END_BRANCH, 1, 2, BASE, {0x74, 0xfe}},
		{64, 0, VT_END_JUMP_INDIRECT, 1, 2, 0, {0xff, 0xe0}},
		{64, 0, VT_END_CALL_INDIRECT, 1, 2, 0, {0xff, 0xd0}},
		{64, 0, VT_END_SYSCALL, 1, 2, 0, {0x0f, 0x05}},
		{64, 0, VT_END_OTHER, 1, 2, 0, {0x48, 0xcf}},
		{64, 0, VT_END_OTHER, 1, 3, 0, {0x48, 0xff, 0x28}},
		{64, 0, VT_END_FALL, 3, 3, 0, {0x90, 0x90, 0x90}},
	};
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct vt_pt_code *c = vt_pt_code_new();
		struct vt_pt_blocks *b = vt_pt_blocks_new(c);
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);
		struct vt_pt_emit *e = vt_pt_emit_new(w, NULL);
		uint32_t index;
		struct vt_pt_batch batch = {
			.blocks = b, .ids = &index, .nids = 1, .insns = all[i].insns};
		struct vt_bytes bytes;
		struct vt_reader *r;
		struct vt_record rec;

		add_section(c, all[i].code, all[i].size);
		assert_int_equal(vt_pt_blocks_at(b, BASE, all[i].mode, &index), 0);
		assert_int_equal(vt_pt_emit_batch(e, &on_cpu, &batch, &err), 0);
		assert_int_equal(vt_pt_emit_flush(e, &err), 0);
		r = reread_stream(fd, w);
		rec = next_of_kind(r, VT_BLOCK);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_ID), 0);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_PID), 7);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_ADDR), BASE);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_SIZE), all[i].size);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_INSNS), all[i].insns);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_END), all[i].end);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_TARGET), all[i].target);
		assert_int_equal(vt_record_u64(&rec, VT_BLOCK_MODE), all[i].told);
		bytes = vt_record_bytes(&rec, VT_BLOCK_CODE);
		assert_int_equal(bytes.size, all[i].size);
		assert_memory_equal(bytes.data, all[i].code, bytes.size);
		bytes = vt_record_bytes(&rec, VT_BLOCK_LENGTHS);
		assert_int_equal(bytes.size, all[i].insns);
		vt_reader_close(r);
		vt_pt_emit_free(e);
		vt_pt_blocks_free(b);
		vt_pt_code_free(c);
		close(fd);
	}
}

/* Makes `to` a table of other code: first a nop, then two returns, or four. */
static void replace_blocks(struct vt_pt_blocks *to, const struct vt_pt_code *code, uint32_t n)
{
	struct vt_pt_blocks *other = vt_pt_blocks_new(code), swap = *to;
	uint32_t i, index;

	*to = *other;
	*other = swap;
	vt_pt_blocks_free(other);
	for (i = 0; i < n; i++)
		vt_pt_blocks_at(to, BASE + i, 64, &index);
}

/* A table of blocks may come to lie where another one was, with fewer blocks, as many, or more. */
static void test_other_tables(void **state)
{
	static const uint8_t other[] = {0x90, 0xc3, 0x90, 0xc3, 0x90, 0xc3, 0x90, 0xc3,
					0x90, 0xc3, 0x90, 0xc3, 0x90, 0xc3, 0x90, 0xc3};
	static const uint32_t counts[] = {6, NRETS, NRETS + 4};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct vt_pt_code *c = vt_pt_code_new();
		struct vt_record rec;
		struct vt_reader *r;
		struct job j;

		add_section(c, other, sizeof(other));
		begin_job(&j, &ten);
		give_blocks(&j, &on_cpu, 4);
		replace_blocks(j.blocks, c, counts[i]);
		j.batch.blocks = j.blocks;
		give_blocks(&j, &on_cpu, 4);
		/* The same again, and what it has in addition. */
		give_blocks(&j, &on_cpu, 6);
		r = end_job(&j);
		rec = next_of_kind(r, VT_EXEC);
		assert_int_equal(vt_record_u64(&rec, VT_EXEC_BLOCKS), 14);
		assert_memory_equal(vt_record_bytes(&rec, VT_EXEC_IDS).data,
				    "\0\0\1\0\2\0\3\0"
				    "\4\0\1\0\5\0\3\0"
				    "\4\0\1\0\5\0\3\0\6\0\7\0",
				    28);
		vt_reader_close(r);
		vt_pt_code_free(c);
		close(j.fd);
	}
}

/* Two tables by turns, which have a block in common at the same place, and another one before. */
static void test_tables_by_turns(void **state)
{
	struct vt_pt_blocks *other;
	struct vt_record rec;
	struct vt_reader *r;
	uint32_t i, index;
	struct job j;

	(void)state;
	begin_job(&j, &ten);
	other = vt_pt_blocks_new(j.code);
	for (i = 0; i < NRETS; i++)
		vt_pt_blocks_at(other, BASE + (i ? i : NRETS - 1), 64, &index);
	for (i = 0; i < 3; i++) {
		j.batch.blocks = i == 1 ? other : j.blocks;
		give_blocks(&j, &on_cpu, 4);
	}
	r = end_job(&j);
	rec = next_of_kind(r, VT_EXEC);
	assert_int_equal(vt_record_u64(&rec, VT_EXEC_BLOCKS), 12);
	assert_memory_equal(vt_record_bytes(&rec, VT_EXEC_IDS).data,
			    "\0\0\1\0\2\0\3\0"
			    "\4\0\1\0\2\0\3\0"
			    "\0\0\1\0\2\0\3\0",
			    24);
	vt_reader_close(r);
	vt_pt_blocks_free(other);
	close(j.fd);
}

/* An error of the writer comes back, from each batch and from the end. */
static void test_unwritable(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct job j;
	int code = 0, fd, i;

	(void)state;
	begin_job(&j, &ten);
	fd = open("/dev/null", O_RDONLY);
	assert_true(fd >= 0 && dup2(fd, j.fd) == j.fd);
	for (i = 0; i < 200000 && code == 0; i++) {
		const struct vt_pt_note n = {.type = VT_PT_NOTE_MNT,
					     .value = (uint64_t)i * 0x9e3779b97f4a7c15};

		j.batch.notes = &n;
		j.batch.nnotes = 1;
		code = vt_pt_emit_batch(j.e, &on_cpu, &j.batch, &err);
	}
	assert_true(code < 0);
	assert_true(vt_pt_emit_flush(j.e, &err) < 0);
	vt_pt_emit_free(j.e);
	vt_pt_blocks_free(j.blocks);
	vt_pt_code_free(j.code);
	vt_writer_abandon(j.w);
	close(fd);
	close(j.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_times),	cmocka_unit_test(test_run_without_cycles),
		cmocka_unit_test(test_events),		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_block_records),	cmocka_unit_test(test_other_tables),
		cmocka_unit_test(test_tables_by_turns), cmocka_unit_test(test_unwritable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
