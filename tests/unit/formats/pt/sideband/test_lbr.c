/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Branch stacks as executed code. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/pt/sideband/session.h"
#include "stream/kinds.h"
#include "tests/unit/common/streams.h"

/*
 * 0: nop; jz 6.  3: nop; jmp 0.  6: call 12; jmp 3 (in part).  12: ret.
 * 13: nop; syscall.  16: int 0x80.  18: xor eax, eax; jmp 0.  22: xor rax, rax; jmp 0.
 * 27: nop; then too many prefixes.
 */
static const uint8_t code[] = {0x90, 0x74, 0x03, 0x90, 0xeb, 0xfa, 0xe8, 0x01, 0x00, 0x00, 0x00,
			       0xeb, 0xc3, 0x90, 0x0f, 0x05, 0xcd, 0x80, 0x31, 0xc0, 0xeb, 0xea,
			       0x48, 0x31, 0xc0, 0xeb, 0xe5, 0x90, 0x66, 0x66, 0x66, 0x66, 0x66,
			       0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66};

/* Behind that: many nops and a jump; many branches to what follows them, and a jump; a nop. */
#define NOPS	  64
#define NNOPS	  300
#define BRANCHES  1024
#define NBRANCHES 4096 /* as many as there may be between two of a stack, and the jump */
#define LAST	  (BRANCHES + 2 * NBRANCHES + 2)
#define CODE_SIZE (LAST + 1)

#define BASE	   0x10000
#define BRANCH_ANY 8
#define KERNEL	   UINT_MAX	  /* where a branch comes from */
#define HIGH	   (UINT_MAX - 1) /* likewise: no address of the kernel */

static char code_path[] = "/tmp/vt-lbr-XXXXXX";

/* How samples differ from those of the most tests. */
static struct {
	unsigned number; /* of samples; 0: one */
	uint64_t event;
	bool no_flags;
	bool short_to; /* the oldest target is missing */
} style;

static void put_maps(struct vt_writer *w, uint64_t branch_type)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_BRANCH_TYPE] = branch_type;
	vt_writer_row(w, VT_IMAGE);
	vt_writer_text(w, VT_IMAGE_PATH, code_path);
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = 5;
	row[VT_MAP_TID] = 5;
	row[VT_MAP_START] = BASE;
	row[VT_MAP_LENGTH] = 65536;
	row[VT_MAP_PROT] = 5;
}

/* A sample whose stack, the oldest branch first, went from `at[2i]` to `at[2i+1]`. */
static void put_sample(struct vt_writer *w, const unsigned *at, size_t n)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE), from[8], to[8], flags[8];
	size_t i;

	row[VT_SAMPLE_EVENT] = style.event;
	row[VT_SAMPLE_TIME] = 1000;
	row[VT_SAMPLE_PID] = 5;
	row[VT_SAMPLE_TID] = 6;
	for (i = 0; i < n; i++) {
		from[n - 1 - i] = at[2 * i] == KERNEL ? UINT64_MAX - 99
				  : at[2 * i] == HIGH ? UINT64_C(1) << 62
						      : BASE + at[2 * i];
		to[n - 1 - i] = BASE + at[2 * i + 1];
		flags[n - 1 - i] = (10 + i) << 4;
	}
	vt_writer_words(w, VT_SAMPLE_BR_FROM, from, n);
	vt_writer_words(w, VT_SAMPLE_BR_TO, to, n - style.short_to);
	if (!style.no_flags)
		vt_writer_words(w, VT_SAMPLE_BR_FLAGS, flags, n);
}

/* Executed code that the stream has already: one block of one instruction, which ran once. */
static void put_executed(struct vt_writer *w)
{
	static const uint8_t length = 1, id[2] = {0, 0};
	uint64_t *row = vt_writer_row(w, VT_BLOCK);

	row[VT_BLOCK_ID] = 1;
	row[VT_BLOCK_PID] = 5;
	row[VT_BLOCK_ADDR] = BASE + 12;
	row[VT_BLOCK_SIZE] = 1;
	row[VT_BLOCK_INSNS] = 1;
	row[VT_BLOCK_END] = VT_END_RETURN;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, &length, 1);
	row = vt_writer_row(w, VT_EXEC);
	row[VT_EXEC_PID] = 5;
	row[VT_EXEC_TID] = 5;
	row[VT_EXEC_BLOCKS] = 1;
	row[VT_EXEC_INSNS] = 1;
	row[VT_EXEC_BASE] = 1;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(w, VT_EXEC_IDS, id, 2);
	vt_writer_row(w, VT_TRACE);
}

struct result {
	unsigned execs, gaps, traces, told;
	uint64_t ids; /* of blocks, a bit each */
	uint64_t blocks, insns, time, tid, tsc, cycles, ntimes;
	uint64_t at[8], time_cycles[8];
	char reason[80];
};

static void take_times(struct result *r, const struct vt_record *rec)
{
	struct vt_words at = vt_record_words(rec, VT_EXEC_TIME_AT);
	struct vt_words tsc = vt_record_words(rec, VT_EXEC_TIME_TSC);
	struct vt_words cycles = vt_record_words(rec, VT_EXEC_TIME_CYCLES);
	size_t i;

	for (i = 0; i < at.count && r->ntimes < 8; i++, r->ntimes++) {
		r->at[r->ntimes] = at.data[i];
		r->tsc |= i < tsc.count ? tsc.data[i] : 0;
		r->time_cycles[r->ntimes] = i < cycles.count ? cycles.data[i] : 0;
	}
}

static void take(struct result *r, const struct vt_record *rec)
{
	if (rec->kind == VT_BLOCK) {
		uint64_t id = vt_record_u64(rec, VT_BLOCK_ID);

		assert_false(id < 64 && r->ids >> id & 1);
		r->ids |= id < 64 ? UINT64_C(1) << id : 0;
	} else if (rec->kind == VT_META) {
		struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);

		r->told += key.size == 8 && !memcmp(key.data, "sampling", 8);
	} else if (rec->kind == VT_TRACE) {
		r->traces++;
	} else if (rec->kind == VT_EXEC) {
		r->execs++;
		r->blocks += vt_record_u64(rec, VT_EXEC_BLOCKS);
		r->insns += vt_record_u64(rec, VT_EXEC_INSNS);
		r->time = vt_record_u64(rec, VT_EXEC_TIME);
		r->tid = vt_record_u64(rec, VT_EXEC_TID);
		r->tsc |= vt_record_u64(rec, VT_EXEC_TSC);
		r->cycles = vt_record_u64(rec, VT_EXEC_CYCLES);
		take_times(r, rec);
	} else if (rec->kind == VT_GAP) {
		struct vt_bytes b = vt_record_bytes(rec, VT_GAP_REASON);

		r->gaps += (unsigned)vt_record_u64(rec, VT_GAP_RECORDS);
		memcpy(r->reason, b.data, b.size < 79 ? b.size : 79);
	}
}

/* Both passes over a stream of one sample. */
static struct result run(uint64_t branch_type, const unsigned *at, size_t n)
{
	const struct vt_pt_session_options o = {.lbr = true, .tmpdir = "/tmp"};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_aux_session *s = vt_pt_session_new(&o, &err);
	int in = scratch_file(), out = scratch_file(), pass;
	struct vt_writer_options wo = {.compression = VT_COMPRESS_NONE};
	struct vt_writer *w = vt_writer_open_fd(in, "in", &wo, &err);
	struct result result = {0};
	struct vt_format_summary sum = {0};
	struct vt_record rec;
	struct vt_reader *r;
	uint64_t gaps;
	unsigned i = 0;

	put_maps(w, branch_type);
	put_executed(w);
	do
		put_sample(w, at, n);
	while (++i < style.number);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	for (pass = 0; pass < 2; pass++) {
		assert_int_equal(lseek(in, 0, SEEK_SET), 0);
		r = vt_reader_open_fd(in, "in", &err);
		assert_non_null(r);
		if (pass == 1) {
			w = vt_writer_open_fd(out, "out", &wo, &err);
			assert_int_equal(vt_writer_add_input(w, r, &err), 0);
			assert_int_equal(vt_pt_session_begin(s, w, &err), 0);
		}
		while (vt_reader_next(r, &rec, &err) > 0)
			assert_int_equal(pass ? vt_pt_session_record(s, &rec, &err)
					      : vt_pt_session_scan(s, &rec, &err),
					 0);
		if (pass == 1)
			assert_int_equal(vt_pt_session_end(s, &sum, &err), 0);
		vt_reader_close(r);
	}
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	gaps = sum.damaged;
	vt_pt_session_free(s);
	assert_int_equal(lseek(out, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(out, "out", &err);
	assert_non_null(r);
	while (vt_reader_next(r, &rec, &err) > 0)
		take(&result, &rec);
	assert_int_equal(result.gaps, gaps);
	vt_reader_close(r);
	close(in);
	close(out);
	return result;
}

/* jz not taken, jmp 0, jz taken, call, ret, jmp 3: what lies between is straight. */
static void test_straight(void **state)
{
	static const unsigned at[] = {4, 0, 4, 0, 1, 6, 6, 12, 12, 11};
	static const uint64_t times[] = {11, 11 + 12, 11 + 12 + 13};
	struct result r = run(BRANCH_ANY, at, 5);
	unsigned i;

	(void)state;
	assert_int_equal(r.execs, 1);
	assert_int_equal(r.gaps, 0);
	/* nop jz, nop jmp; nop jz; call; ret */
	assert_int_equal(r.blocks, 5);
	assert_int_equal(r.insns, 8);
	assert_int_equal(r.time, 1000);
	assert_int_equal(r.tid, 6);
	/* Behind two blocks of the oldest branch, and so on: cycles since the first stretch. */
	assert_int_equal(r.ntimes, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(r.at[i], 2 + i);
		assert_int_equal(r.time_cycles[i], times[i]);
	}
	assert_int_equal(r.tsc, 0);
	assert_int_equal(r.cycles, 0);
}

static void test_contradictions(void **state)
{
	/* The source is no branch; a jump lies between; the branch goes elsewhere; no code. */
	static const unsigned no_branch[] = {4, 0, 0, 6}, jump[] = {4, 0, 12, 11};
	static const unsigned elsewhere[] = {4, 0, 1, 9}, nothing[] = {4, 60000, 60010, 0};
	static const unsigned broken[] = {4, 0, 4, 0, 0, 6, 6, 12, 12, 11};
	struct result r;

	(void)state;
	r = run(BRANCH_ANY, no_branch, 2);
	assert_int_equal(r.execs, 0);
	assert_int_equal(r.gaps, 1);
	assert_string_equal(r.reason, "branch stacks: no straight code between two branches");
	r = run(BRANCH_ANY, jump, 2);
	assert_int_equal(r.execs, 0);
	assert_string_equal(r.reason, "branch stacks: no straight code between two branches");
	r = run(BRANCH_ANY, elsewhere, 2);
	assert_string_equal(r.reason, "branch stacks: the branch goes elsewhere");
	r = run(BRANCH_ANY, nothing, 2);
	assert_string_equal(r.reason, "branch stacks: no code");
	/* What is before and behind the contradiction counts. */
	r = run(BRANCH_ANY, broken, 5);
	assert_int_equal(r.execs, 2);
	assert_int_equal(r.gaps, 1);
	assert_int_equal(r.blocks, 4);
	assert_int_equal(r.insns, 6);
	/* The clock goes on behind it: by 11 and 12 before, by 13 in the first of two blocks. */
	assert_int_equal(r.cycles, 11 + 12);
	assert_int_equal(r.ntimes, 1);
	assert_int_equal(r.at[0], 1);
	assert_int_equal(r.time_cycles[0], 11 + 12 + 13);
}

static void check_reason(const unsigned *at, const char *reason)
{
	struct result r = run(BRANCH_ANY, at, 2);

	assert_int_equal(r.gaps, *reason ? 1 : 0);
	assert_int_equal(r.execs, *reason ? 0 : 1);
	assert_string_equal(r.reason, reason);
}

/* What a branch of each kind leads to, and where no code is, or none that is good. */
static void test_reasons(void **state)
{
	static const char crooked[] = "branch stacks: no straight code between two branches";
	static const char elsewhere[] = "branch stacks: the branch goes elsewhere";
	static const char bad[] = "branch stacks: bad code", none[] = "branch stacks: no code";

	(void)state;
	check_reason((unsigned[]){1, 3, 4, 0}, "");
	check_reason((unsigned[]){1, 3, 4, 9}, elsewhere);
	check_reason((unsigned[]){1, 6, 6, 12}, "");
	check_reason((unsigned[]){1, 6, 6, 9}, elsewhere);
	check_reason((unsigned[]){6, 12, 12, 3}, "");
	/* Code does not go on behind a jump or a call. */
	check_reason((unsigned[]){1, 3, 6, 12}, crooked);
	check_reason((unsigned[]){1, 6, 11, 0}, crooked);
	check_reason((unsigned[]){4, 22, 25, 0}, "");
	check_reason((unsigned[]){4, 27, 29, 0}, bad);
	check_reason((unsigned[]){4, 28, 29, 0}, bad);
	check_reason((unsigned[]){4, LAST, LAST + 9, 0}, none);
	/* Where the kernel would be it is not. */
	check_reason((unsigned[]){4, 13, HIGH, 16}, crooked);
	check_reason((unsigned[]){4, 13, KERNEL, 16}, "");
}

/* Straight code may be of several blocks, but of no more than 4096. */
static void test_long(void **state)
{
	static const unsigned nops[] = {4, NOPS, NOPS + NNOPS, 0};
	static const unsigned rex[] = {4, 22, 25, 0};
	unsigned branches[] = {4, BRANCHES + 2, LAST - 2, LAST - 2};
	struct result r = run(BRANCH_ANY, nops, 2);

	(void)state;
	assert_int_equal(r.gaps, 0);
	assert_int_equal(r.insns, NNOPS + 1);
	assert_int_equal(r.blocks, 2);
	r = run(BRANCH_ANY, rex, 2);
	assert_int_equal(r.insns, 2);
	r = run(BRANCH_ANY, branches, 2);
	assert_int_equal(r.gaps, 0);
	assert_int_equal(r.blocks, NBRANCHES);
	branches[1] -= 2;
	r = run(BRANCH_ANY, branches, 2);
	assert_int_equal(r.gaps, 1);
	assert_int_equal(r.blocks, 0);
}

/* Of all samples together it is told once what they are; what a stack does not have is not told. */
static void test_styles(void **state)
{
	static const unsigned at[] = {4, 0, 4, 0, 1, 6, 6, 12, 12, 11};
	struct result r;

	(void)state;
	style.number = 3;
	r = run(BRANCH_ANY, at, 5);
	assert_int_equal(r.told, 1);
	assert_int_equal(r.execs, 3);
	assert_int_equal(r.insns, 3 * 8);
	style.number = 0;
	style.no_flags = true;
	r = run(BRANCH_ANY, at, 5);
	assert_int_equal(r.insns, 8);
	assert_int_equal(r.ntimes, 0);
	assert_int_equal(r.cycles, 0);
	style.no_flags = false;
	style.short_to = true;
	r = run(BRANCH_ANY, at, 5);
	assert_int_equal(r.blocks, 3);
	assert_int_equal(r.insns, 4);
	style.short_to = false;
}

/* A stack of user code has nothing of the kernel: what enters it is straight code. */
static void test_kernel_left_out(void **state)
{
	static const unsigned at[] = {4, 13, 20, 0};
	struct result r = run(BRANCH_ANY, at, 2);

	(void)state;
	assert_int_equal(r.gaps, 0);
	/* nop syscall; int; xor jmp */
	assert_int_equal(r.blocks, 3);
	assert_int_equal(r.insns, 5);
}

/* Or it tells when the kernel went back, to the code behind or to what was interrupted. */
static void test_back_from_kernel(void **state)
{
	static const unsigned at[] = {4, 13, KERNEL, 16, KERNEL, 18, KERNEL, 20, KERNEL, 20, 20, 0};
	static const unsigned inside[] = {4, 13, KERNEL, 19, 20, 0};
	static const unsigned before[] = {4, 13, KERNEL, 12, 12, 0};
	static const unsigned behind[] = {4, 0, KERNEL, 12, 12, 0};
	static const unsigned two[] = {4, 13, KERNEL, 18, 20, 0};
	struct result r = run(BRANCH_ANY, at, 6);

	(void)state;
	assert_int_equal(r.execs, 1);
	assert_int_equal(r.gaps, 0);
	/* nop syscall; int; xor; jmp */
	assert_int_equal(r.blocks, 4);
	assert_int_equal(r.insns, 5);
	/* Not straight: a signal's handler.  jmp from inside the xor is another instruction. */
	r = run(BRANCH_ANY, inside, 3);
	assert_int_equal(r.gaps, 2);
	r = run(BRANCH_ANY, before, 3);
	assert_int_equal(r.gaps, 1);
	assert_int_equal(r.insns, 1);
	r = run(BRANCH_ANY, two, 3);
	assert_int_equal(r.gaps, 0);
	assert_int_equal(r.blocks, 3);
	assert_int_equal(r.insns, 5);
	r = run(BRANCH_ANY, behind, 3);
	assert_int_equal(r.gaps, 1);
	assert_int_equal(r.insns, 1);
}

static void test_filtered(void **state)
{
	static const unsigned at[] = {4, 0, 1, 6};
	struct result r = run(16, at, 2);

	(void)state;
	assert_int_equal(r.execs, 0);
	assert_string_equal(r.reason, "branch stacks without all branches");
	/* Stacks of calls are no stacks of branches; of an event that is not described, who knows.
	 */
	r = run(BRANCH_ANY | 1 << 11, at, 2);
	assert_int_equal(r.execs, 0);
	assert_int_equal(r.gaps, 1);
	r = run(BRANCH_ANY | 1 << 10 | 1 << 12, at, 2);
	assert_int_equal(r.execs, 1);
	assert_int_equal(r.gaps, 0);
	style.event = 9;
	r = run(BRANCH_ANY, at, 2);
	style.event = 0;
	assert_int_equal(r.gaps, 1);
}

/* What ran before the sample is not told beside what its stack says, but for a stack of nothing. */
static void test_replaces(void **state)
{
	static const unsigned at[] = {4, 0, 4, 0};
	struct result r = run(BRANCH_ANY, at, 2);

	(void)state;
	assert_int_equal(r.execs, 1);
	assert_int_equal(r.blocks, 2);
	assert_int_equal(r.traces, 0);
	r = run(BRANCH_ANY, at, 1);
	assert_int_equal(r.execs, 1);
	assert_int_equal(r.blocks, 1);
	assert_int_equal(r.traces, 1);
}

static int make_code(void **state)
{
	static const uint8_t back[] = {0xe9, 0x8f, 0xfe, 0xff, 0xff}; /* jmp from NNOPS on to 0 */
	static const uint8_t end[] = {0xeb, 0xfe, 0x90};
	static uint8_t all[CODE_SIZE];
	int fd = mkstemp(code_path);
	size_t i;

	(void)state;
	memcpy(all, code, sizeof(code));
	memset(all + NOPS, 0x90, NNOPS);
	memcpy(all + NOPS + NNOPS, back, sizeof(back));
	for (i = 0; i < NBRANCHES; i++)
		all[BRANCHES + 2 * i] = 0x74;
	memcpy(all + LAST - 2, end, sizeof(end));
	return fd < 0 || write(fd, all, sizeof(all)) != (ssize_t)sizeof(all) || close(fd);
}

static int remove_code(void **state)
{
	(void)state;
	return unlink(code_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_straight),	cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_kernel_left_out), cmocka_unit_test(test_back_from_kernel),
		cmocka_unit_test(test_filtered),	cmocka_unit_test(test_replaces),
		cmocka_unit_test(test_reasons),		cmocka_unit_test(test_long),
		cmocka_unit_test(test_styles),
	};

	return cmocka_run_group_tests(tests, make_code, remove_code);
}
