/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples with lines of memory: what these make known, code among them, the registers that come
 * with them, and what is wrong with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "interpret/interpret.h"
#include "machine/insn/insn.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define PID	       7
#define EVENT	       3
#define KERNEL	       1
#define USER	       2
#define BIT(n)	       (UINT64_C(1) << (n))
#define CODE	       0x10000u
#define DATA	       0x20000u
#define ONE_AND_A_HALF 0x3ff8000000000000

/* A sample: %rbx, %rsp, %rip and the low half of %xmm0. */
struct sample {
	uint64_t bx, sp, ip, xmm0;
	uint64_t stack; /* one word */
	unsigned nlines;
	uint64_t addr[8];
	uint8_t line[8][64];
	uint64_t read[8];  /* masks; of line 0 none: lines are whole */
	size_t lines_size; /* bytes of the field; 0: as many as there are lines */
	uint64_t misc, fs, gs, mxcsr, stop;
	uint64_t state_reg[4], state[4];
	unsigned nstate;
};

struct seen {
	char text[512];
	struct vt_interpret_totals totals;
};

static struct vt_error err;
static char *dir;

static struct sample *begin_sample(struct sample *s)
{
	*s = (struct sample){
		.bx = DATA, .ip = CODE, .sp = 0x7ff000, .stop = VT_WALK_LENGTH, .misc = USER};
	return s;
}

/* Adds a line that has these bytes from an address on, and zeros before and behind. */
static void add_line(struct sample *s, uint64_t addr, const void *bytes, size_t size)
{
	s->addr[s->nlines] = addr & ~UINT64_C(63);
	memcpy(s->line[s->nlines++] + addr % 64, bytes, size);
}

/* Adds a line whose bytes are their addresses. */
static void add_counted(struct sample *s, uint64_t addr)
{
	uint8_t bytes[64];
	unsigned i;

	for (i = 0; i < 64; i++)
		bytes[i] = (uint8_t)(addr + i);
	add_line(s, addr, bytes, 64);
}

#define CODE_AT(s, addr, ...)                                                                      \
	do {                                                                                       \
		static const uint8_t code_[] = {__VA_ARGS__};                                      \
		add_line(s, addr, code_, sizeof(code_));                                           \
	} while (0)

#define SYSCALL 0x0f, 0x05

/* The results in %rax to %rdi, and how a run ended. */
static int take(void *arg, const struct vt_run *run, struct vt_error *e)
{
	static const char names[] = "abcdsD";
	struct seen *s = arg;
	size_t i;

	(void)e;
	for (i = 0; i < run->ncaptures; i++) {
		const struct vt_capture *c = &run->captures[i];
		size_t n = strlen(s->text);

		if (c->what != VT_WHAT_RESULT || c->reg > VT_REG_DI)
			continue;
		if (c->known)
			snprintf(s->text + n, sizeof(s->text) - n, "%c%llx ", names[c->reg],
				 (unsigned long long)c->value);
		else
			snprintf(s->text + n, sizeof(s->text) - n, "%c? ", names[c->reg]);
	}
	i = strlen(s->text);
	snprintf(s->text + i, sizeof(s->text) - i, "%s; ",
		 run->stop == VT_STOP_SYSCALL ? "end" : vt_stop_name(run->stop));
	return 0;
}

static void put_known_bytes(struct vt_writer *w, const struct sample *s)
{
	uint8_t bytes[sizeof(s->line)];
	size_t n = 0;
	unsigned i, k;

	for (i = 0; i < s->nlines; i++)
		for (k = 0; k < 64; k++)
			if (s->read[i] >> k & 1)
				bytes[n++] = s->line[i][k];
	vt_writer_words(w, VT_SAMPLE_LINE_READ, s->read, s->nlines);
	vt_writer_bytes(w, VT_SAMPLE_LINES, bytes, n - s->lines_size);
}

static void put_sample(struct vt_writer *w, const struct sample *s)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);
	const uint64_t regs[] = {s->bx, s->sp, s->ip, s->xmm0};
	uint8_t stack[8];

	row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = PID;
	row[VT_SAMPLE_EVENT] = EVENT;
	row[VT_SAMPLE_MISC] = s->misc;
	row[VT_SAMPLE_IP] = s->ip;
	row[VT_SAMPLE_UREGS_ABI] = 2;
	row[VT_SAMPLE_STACK_DYN_SIZE] = sizeof(stack);
	row[VT_SAMPLE_FS_BASE] = s->fs;
	row[VT_SAMPLE_GS_BASE] = s->gs;
	row[VT_SAMPLE_MXCSR] = s->mxcsr;
	row[VT_SAMPLE_WALK_STOP] = s->stop;
	vt_put_le64(stack, s->stack);
	vt_writer_bytes(w, VT_SAMPLE_STACK, stack, sizeof(stack));
	vt_writer_words(w, VT_SAMPLE_UREGS, regs, 4);
	vt_writer_words(w, VT_SAMPLE_STATE_REG, s->state_reg, s->nstate);
	vt_writer_words(w, VT_SAMPLE_STATE, s->state, s->nstate);
	vt_writer_words(w, VT_SAMPLE_LINE_ADDR, s->addr, s->nlines);
	if (s->read[0])
		put_known_bytes(w, s);
	else
		vt_writer_bytes(w, VT_SAMPLE_LINES, s->line,
				s->lines_size ? s->lines_size : 64 * (size_t)s->nlines);
}

/* The program at 401000, of which there are samples, too. */
static void put_program(struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = 1;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, toolbox_path(dir, "p"));
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = PID;
	row[VT_MAP_START] = 0x401000;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_OFFSET] = 0x1000;
	row[VT_MAP_IMAGE] = 1;
	row[VT_MAP_PROT] = 5;
}

static void interpret(struct seen *seen, const struct sample *list, unsigned n, unsigned trust)
{
	const struct vt_images_options none = {.warn = NULL};
	const struct vt_interpret_options o = {
		.length = 16, .frequency = 1, .capture = 1U << VT_WHAT_RESULT, .trust = trust};
	struct vt_images *images = vt_images_new(&none, &err);
	struct vt_context *context = vt_context_new(images);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t *row = vt_writer_row(w, VT_EVENT);
	struct vt_interpret *in;
	struct vt_record rec;
	struct vt_reader *r;
	unsigned i;

	memset(seen, 0, sizeof(*seen));
	row[VT_EVENT_ID] = EVENT;
	row[VT_EVENT_REGS_USER] = BIT(VT_REG_BX) | BIT(VT_REG_SP) | BIT(VT_REG_IP) | BIT(32);
	put_program(w);
	for (i = 0; i < n; i++)
		put_sample(w, &list[i]);
	r = reread_stream(fd, w);
	in = vt_interpret_new(&o, context, take, seen, &err);
	assert_non_null(in);
	vt_context_add(context, &(struct vt_consumer){.record = vt_interpret_feed, .arg = in});
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_context_feed(context, rec.block, rec.row, 1, &err), 0);
	vt_interpret_end(in);
	seen->totals = *vt_interpret_totals(in);
	vt_interpret_free(in);
	vt_context_free(context);
	vt_images_free(images);
	vt_reader_close(r);
	close(fd);
}

static void assert_runs(const struct sample *list, unsigned n, const char *text)
{
	struct seen seen;

	interpret(&seen, list, n, VT_TRUST_IMAGES);
	assert_string_equal(seen.text, text);
	assert_int_equal(seen.totals.samples, n);
}

static void test_loads(void **state)
{
	struct sample s;

	(void)state;
	begin_sample(&s);
	/* mov (%rbx),%rax; mov 64(%rbx),%rcx; mov 62(%rbx),%edx; mov 0x1000(%rbx),%rsi */
	CODE_AT(&s, CODE, 0x48, 0x8b, 0x03, 0x48, 0x8b, 0x4b, 0x40, 0x8b, 0x53, 0x3e, 0x48, 0x8b,
		0xb3, 0x00, 0x10, 0x00, 0x00, SYSCALL);
	add_counted(&s, DATA + 64);
	add_counted(&s, DATA);
	assert_runs(&s, 1, "a706050403020100 c4746454443424140 d41403f3e s? c10013 end; ");
	/* Of a value in two lines, all or nothing is known. */
	s.nlines = 2;
	assert_runs(&s, 1, "a? c4746454443424140 d? s? c10013 end; ");
	/* What the run stores is loaded again: mov %rbx,(%rbx); mov (%rbx),%rax. */
	begin_sample(&s);
	CODE_AT(&s, CODE, 0x48, 0x89, 0x1b, 0x48, 0x8b, 0x03, SYSCALL);
	add_counted(&s, DATA);
	assert_runs(&s, 1, "a20000 c10008 end; ");
}

/* Of the same loads, only those are known whose bytes all are. */
static void test_read(void **state)
{
	struct sample s;

	(void)state;
	begin_sample(&s);
	/* mov (%rbx),%rax; mov 64(%rbx),%ecx; mov 62(%rbx),%edx; mov 8(%rbx),%rsi */
	CODE_AT(&s, CODE, 0x48, 0x8b, 0x03, 0x8b, 0x4b, 0x40, 0x8b, 0x53, 0x3e, 0x48, 0x8b, 0x73,
		0x08, SYSCALL);
	add_counted(&s, DATA + 64);
	add_counted(&s, DATA);
	s.read[0] = UINT64_MAX;
	s.read[1] = 0xf;
	s.read[2] = UINT64_C(0xc0000000000000ff);
	assert_runs(&s, 1, "a706050403020100 c43424140 d41403f3e s? c1000f end; ");
	s.read[1] = 0x5;
	assert_runs(&s, 1, "a706050403020100 c? d? s? c1000f end; ");
	s.read[2] = UINT64_C(0xff7f);
	assert_runs(&s, 1, "a? c? d? sf0e0d0c0b0a0908 c1000f end; ");
}

/* Code of which a part is not in the line is the image's: it has mov $0x77,%eax; syscall. */
static void test_read_code(void **state)
{
	struct sample s;

	(void)state;
	begin_sample(&s)->ip = 0x401000;
	CODE_AT(&s, 0x401000, 0xb9, 9, 0, 0, 0, 0x0f, 0x05);
	s.read[0] = 0x7f;
	assert_runs(&s, 1, "c9 c401007 end; ");
	s.read[0] = 0x60; /* the system call */
	assert_runs(&s, 1, "a77 c401007 end; ");
	s.read[0] = 0x3; /* another register, another number, zeros of the image */
	assert_runs(&s, 1, "c9 c401007 end; ");
	s.read[0] = UINT64_C(1) << 40; /* behind all of it */
	assert_runs(&s, 1, "a77 c401007 end; ");
}

/* mov (%rsp),%rax: with the stack alone, and with a line that says otherwise. */
static void test_stack(void **state)
{
	struct sample s;

	(void)state;
	begin_sample(&s);
	s.stack = 0x1234;
	CODE_AT(&s, CODE, 0x48, 0x8b, 0x04, 0x24, SYSCALL);
	assert_runs(&s, 1, "a1234 c10006 end; ");
	add_counted(&s, s.sp);
	assert_runs(&s, 1, "a706050403020100 c10006 end; ");
}

/* mov $n,%eax: code that changes, and that is no longer told. */
static void test_generated(void **state)
{
	struct sample s[5];
	struct seen seen;
	unsigned i;

	(void)state;
	for (i = 0; i < 5; i++)
		begin_sample(&s[i]);
	CODE_AT(&s[0], CODE, 0xb8, 1, 0, 0, 0, SYSCALL);
	CODE_AT(&s[1], CODE, 0xb8, 2, 0, 0, 0, SYSCALL);
	CODE_AT(&s[2], CODE, 0xb8, 1, 0, 0, 0, SYSCALL);
	CODE_AT(&s[4], CODE, 0xb8, 2, 0, 0, 0, SYSCALL);
	interpret(&seen, s, 5, 0);
	assert_string_equal(seen.text,
			    "a1 c10007 end; a2 c10007 end; a1 c10007 end; a2 c10007 end; ");
	assert_int_equal(seen.totals.no_code, 1);
	assert_int_equal(seen.totals.with_lines, 4);
	assert_int_equal(seen.totals.bad_lines, 0);
}

/* A block in two lines, of which the second is not told, or changes. */
static void test_parted(void **state)
{
	struct sample s[5];
	unsigned i;

	(void)state;
	for (i = 0; i < 5; i++) {
		begin_sample(&s[i])->ip = CODE + 59;
		CODE_AT(&s[i], CODE + 59, 0xb8, 5, 0, 0, 0);
	}
	CODE_AT(&s[0], CODE + 64, 0xb9, 6, 0, 0, 0, SYSCALL);
	CODE_AT(&s[2], CODE + 64, 0xb9, 7, 0, 0, 0, SYSCALL);
	CODE_AT(&s[3], CODE + 64, 0xb9, 6, 0, 0, 0, SYSCALL);
	assert_runs(s, 5,
		    "a5 c6 c10047 end; a5 no code; a5 c7 c10047 end; a5 c6 c10047 end; "
		    "a5 no code; ");
}

/* The program has mov $0x77,%eax at 401000, and mov $0x78,%eax 64 bytes later. */
static void test_over_image(void **state)
{
	struct sample s[3];
	struct seen seen;
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++)
		begin_sample(&s[i])->ip = 0x401000;
	/* mov $1,%ecx; jmp 401040 */
	CODE_AT(&s[1], 0x401000, 0xb9, 1, 0, 0, 0, 0xeb, 0x39);
	assert_runs(s, 3, "a77 c401007 end; c1 a78 c401047 end; a77 c401007 end; ");
	/* The line is trusted, the file is not. */
	interpret(&seen, s, 3, 0);
	assert_string_equal(seen.text, "c1 no code; ");
	assert_int_equal(seen.totals.no_code, 2);
	assert_int_equal(seen.totals.code_withheld[VT_WITHHELD_UNVERIFIED], 3);
}

/* Only who walked there has the registers of kernel code: mov (%rbx),%eax. */
static void test_kernel(void **state)
{
	struct sample s;
	struct seen seen;

	(void)state;
	begin_sample(&s)->ip = UINT64_C(0xffffffff81000000);
	s.misc = KERNEL;
	s.bx = UINT64_C(0xffff888000000000);
	CODE_AT(&s, s.ip, 0x8b, 0x03, SYSCALL);
	add_counted(&s, s.bx);
	assert_runs(&s, 1, "a3020100 cffffffff81000004 end; ");
	s.stop = VT_WALK_NOT;
	interpret(&seen, &s, 1, 0);
	assert_int_equal(seen.totals.elsewhere, 1);
	/* A hypervisor's guest. */
	s.stop = VT_WALK_LENGTH;
	s.misc = 5;
	interpret(&seen, &s, 1, 0);
	assert_int_equal(seen.totals.elsewhere, 1);
}

/* ---- registers ---- */

static void test_segments(void **state)
{
	struct sample s;

	(void)state;
	begin_sample(&s);
	/* mov %fs:8,%rax; mov %gs:16,%rdx */
	CODE_AT(&s, CODE, 0x64, 0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0, 0x65, 0x48, 0x8b, 0x14, 0x25,
		16, 0, 0, 0, SYSCALL);
	add_counted(&s, DATA);
	s.fs = DATA;
	s.gs = DATA + 16;
	assert_runs(&s, 1, "af0e0d0c0b0a0908 d2726252423222120 c10014 end; ");
	/* One that a recorder does not know. */
	s.gs = UINT64_MAX;
	assert_runs(&s, 1, "af0e0d0c0b0a0908 d? c10014 end; ");
	s.gs = DATA + 16;
	s.stop = VT_WALK_NOT;
	assert_runs(&s, 1, "a? d? c10014 end; ");
}

static void test_upper_halves(void **state)
{
	struct sample s;

	(void)state;
	begin_sample(&s);
	/* vextracti128 $1,%ymm1,%xmm2; vmovq %xmm2,%rax; the same of %ymm3 to %rdx */
	CODE_AT(&s, CODE, 0xc4, 0xe3, 0x7d, 0x39, 0xca, 1, 0xc4, 0xe1, 0xf9, 0x7e, 0xd0, 0xc4, 0xe3,
		0x7d, 0x39, 0xda, 1, 0xc4, 0xe1, 0xf9, 0x7e, 0xd2, SYSCALL);
	s.state_reg[0] = 8 * (VT_REG_VECTOR + 1) + 2;
	s.state[0] = 0x11;
	s.nstate = 1;
	assert_runs(&s, 1, "a11 d? c10018 end; ");
	/* What has no entry is 0 where the register has one. */
	s.state_reg[1] = 8 * (VT_REG_VECTOR + 3) + 4;
	s.state[1] = 0x44;
	s.nstate = 2;
	assert_runs(&s, 1, "a11 d0 c10018 end; ");
	s.state_reg[1] = 8 * (VT_REG_VECTOR + 3) + 2;
	assert_runs(&s, 1, "a11 d44 c10018 end; ");
	/* No register: what follows is not used. */
	s.state_reg[0] = 8 * VT_NREGS;
	assert_runs(&s, 1, "a? d? c10018 end; ");
	s.state_reg[0] = 8 * VT_REG_R15;
	assert_runs(&s, 1, "a? d? c10018 end; ");
	s.state_reg[0] = 8 * (VT_REG_VECTOR + 1) + 2;
	s.stop = VT_WALK_NOT;
	assert_runs(&s, 1, "a? d? c10018 end; ");
}

/* cvtsd2si %xmm0,%eax of 1.5 */
static void test_rounding(void **state)
{
	struct sample s;

	(void)state;
	begin_sample(&s)->xmm0 = ONE_AND_A_HALF;
	CODE_AT(&s, CODE, 0xf2, 0x0f, 0x2d, 0xc0, SYSCALL);
	s.mxcsr = 0x1f80;
	assert_runs(&s, 1, "a2 c10006 end; ");
	s.mxcsr = 0x3f80;
	assert_runs(&s, 1, "a1 c10006 end; ");
	s.mxcsr = 0; /* it is not known */
	assert_runs(&s, 1, "a? c10006 end; ");
	s.mxcsr = 0x3f80;
	s.stop = VT_WALK_NOT;
	assert_runs(&s, 1, "a? c10006 end; ");
}

/* ---- what is wrong with lines ---- */

static void assert_bad(const struct sample *s, const char *text, unsigned with)
{
	struct seen seen;

	interpret(&seen, s, 1, VT_TRUST_IMAGES);
	assert_string_equal(seen.text, text);
	assert_int_equal(seen.totals.bad_lines, 1);
	assert_int_equal(seen.totals.with_lines, with);
}

static void test_damage(void **state)
{
	struct sample s, good;

	(void)state;
	begin_sample(&good)->ip = 0x401080;
	add_counted(&good, DATA + 64);
	add_counted(&good, DATA);
	/* mov (%rbx),%rax; mov 64(%rbx),%rcx, of the program */
	assert_runs(&good, 1, "a706050403020100 c4746454443424140 c401089 end; ");
	s = good;
	add_counted(&s, DATA);
	assert_runs(&s, 1, "a706050403020100 c4746454443424140 c401089 end; ");
	s.line[2][63] ^= 1;
	assert_bad(&s, "a? c4746454443424140 c401089 end; ", 1);
	s = good;
	s.addr[1]++;
	assert_bad(&s, "a? c? c401089 end; ", 0);
	s = good;
	s.lines_size = 127;
	assert_bad(&s, "a? c? c401089 end; ", 0);
	s.lines_size = 192;
	assert_bad(&s, "a? c? c401089 end; ", 0);
	s = good;
	s.read[0] = s.read[1] = 0xff;
	assert_runs(&s, 1, "a706050403020100 c4746454443424140 c401089 end; ");
	s.lines_size = 1; /* one too few */
	assert_bad(&s, "a? c? c401089 end; ", 0);
	s.lines_size = 0;
	s.read[1] = 0;
	assert_bad(&s, "a? c? c401089 end; ", 0);
	s = good;
	s.addr[0] = UINT64_MAX - 63;
	assert_runs(&s, 1, "a706050403020100 c? c401089 end; ");
}

static int compile(void **state)
{
	static const char program[] = ".text\n.globl _start\n_start:\n"
				      "mov $0x77,%eax\nsyscall\n"
				      ".org 0x40\nmov $0x78,%eax\nsyscall\n"
				      ".org 0x80\nmov (%rbx),%rax\nmov 64(%rbx),%rcx\nsyscall\n";

	(void)state;
	dir = toolbox_assemble(program);
	return 0;
}

static int discard(void **state)
{
	(void)state;
	toolbox_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),	   cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_code),  cmocka_unit_test(test_stack),
		cmocka_unit_test(test_generated),  cmocka_unit_test(test_parted),
		cmocka_unit_test(test_over_image), cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_segments),   cmocka_unit_test(test_upper_halves),
		cmocka_unit_test(test_rounding),   cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, compile, discard);
}
