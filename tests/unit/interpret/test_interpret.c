/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs from samples: what their registers, their stack and the program's file make known, and why
 * some are left out.
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

#define PID	 7
#define EVENT	 3
#define USER	 2
#define EXACT	 (1u << 14)
#define RSP	 0x7ff000
#define BIT(reg) (UINT64_C(1) << (reg))

/* Addresses are those of the link. */
static const char program[] = ".text\n.globl _start\n_start:\n"
			      "mov %rbx,%rax\n"	    /* 401000 */
			      "add $1,%rax\n"	    /* 401003 */
			      "mov (%rsp),%rcx\n"   /* 401007 */
			      "mov 8(%rsp),%rdx\n"  /* 40100b */
			      "mov 0x402000,%rsi\n" /* 401010 */
			      "movq %xmm1,%rdi\n"   /* 401018 */
			      "syscall\n"	    /* 40101d */
			      ".org 0x100\njmp _start\n"
			      ".org 0x110\nje _start\nmov $0x77,%eax\nsyscall\n"
			      ".org 0x120\ncall _start\n"
			      ".org 0x130\nrep movsb\n"
			      ".org 0x140\nmov %fs:0,%rax\nsyscall\n"
			      ".org 0x200\n.type f,@function\nf: .cfi_startproc\n"
			      "nop\nnop\nsyscall\n.cfi_endproc\n.size f,.-f\n"
			      ".org 0x210\ncall f\nsyscall\n"	  /* behind it: 401215 */
			      ".org 0x220\ncall *%rax\nsyscall\n" /* 401222 */
			      ".org 0x230\n.type g,@function\ng: .cfi_startproc\n"
			      "call h\nmov $1,%ecx\nsyscall\n.cfi_endproc\n.size g,.-g\n"
			      ".org 0x240\n.type h,@function\nh: .cfi_startproc\n"
			      "mov $2,%edx\nret\n.cfi_endproc\n.size h,.-h\n"
			      ".org 0x250\n.type k,@function\nk: .cfi_startproc\n"
			      "call stub\nmov $1,%ecx\nsyscall\n.cfi_endproc\n.size k,.-k\n"
			      ".org 0x260\nstub: jmp *slot(%rip)\n"
			      ".section .rodata\n.quad 0x1122334455\nslot: .quad h\n";

static struct vt_error err;
static char *dir;

/* What is written, and how it is run: changed by each row. */
struct setup {
	/* The event, and whose processor it is. */
	uint64_t user_mask;
	uint64_t intr_mask;
	bool precise;
	const char *cpuid;
	/* The sample. */
	uint64_t event;
	uint64_t misc;
	uint64_t ip;
	uint64_t abi;
	uint64_t regs[12];
	unsigned nregs;
	uint64_t stack[2];
	uint64_t dynamic;
	unsigned samples;
	uint64_t then; /* another one here, with the same registers; 0: none */
	/* The program. */
	const char *path;
	uint64_t prot;
	bool code_only; /* mappings of data are not recorded */
	struct vt_interpret_options o;
};

struct seen {
	char text[512];
	char callers[256];
	struct vt_interpret_totals totals;
	struct vt_word regs[VT_RUN_REGS];
	unsigned runs;
	uint32_t insns;
	enum vt_stop stop;
};

static struct setup usual(void)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s", toolbox_path(dir, "p"));
	return (struct setup){
		.user_mask = BIT(VT_REG_BX) | BIT(VT_REG_SP) | BIT(VT_REG_IP),
		.event = EVENT,
		.misc = USER,
		.ip = 0x401000,
		.abi = 2,
		.regs = {0x10, RSP, 0x401000},
		.nregs = 3,
		.stack = {0x111, 0x222},
		.dynamic = 16,
		.samples = 1,
		.path = path,
		.prot = 5,
		.o = {.length = 100,
		      .frequency = 1,
		      .capture = 1U << VT_WHAT_RESULT,
		      .trust = VT_TRUST_IMAGES | VT_TRUST_CONSTANTS},
	};
}

/* A sample in code at an address, with nothing but registers that its row knows. */
static struct setup at(uint64_t ip)
{
	struct setup s = usual();

	s.ip = s.regs[2] = ip;
	return s;
}

static int take(void *arg, const struct vt_run *run, struct vt_error *e)
{
	static const char names[] = "abcdsD"; /* %rax ... */
	struct seen *s = arg;
	size_t i, n;

	(void)e;
	s->runs++;
	s->insns = run->insns;
	s->stop = run->stop;
	assert_int_equal(run->pid, PID);
	assert_int_equal(run->tid, PID + 1);
	assert_int_equal(run->time, 99);
	assert_int_equal(run->event, EVENT);
	assert_int_equal(run->weight, 1);
	assert_true(run->begins);
	assert_int_equal(run->caller, run->ncallers ? run->callers[0].caller : 0);
	for (i = 0; i < run->ncaptures; i++) {
		const struct vt_capture *c = &run->captures[i];

		n = strlen(s->text);
		if (c->what != VT_WHAT_RESULT || c->reg > VT_REG_DI)
			continue;
		if (c->known)
			snprintf(s->text + n, sizeof(s->text) - n, "%c%llx ", names[c->reg],
				 (unsigned long long)c->value);
		else
			snprintf(s->text + n, sizeof(s->text) - n, "%c? ", names[c->reg]);
	}
	for (i = 0; i < run->ncallers; i++) {
		n = strlen(s->callers);
		snprintf(s->callers + n, sizeof(s->callers) - n, "%u:%llx%s ", run->callers[i].insn,
			 (unsigned long long)run->callers[i].caller,
			 run->callers[i].entered ? "!" : "");
	}
	if (run->regs)
		memcpy(s->regs, run->regs, sizeof(s->regs));
	return 0;
}

static void put_map(struct vt_writer *w, uint64_t start, uint64_t prot)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = row[VT_MAP_TID] = PID;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_OFFSET] = start - 0x400000;
	row[VT_MAP_IMAGE] = 1;
	row[VT_MAP_PROT] = prot;
}

static void put_sample(struct vt_writer *w, const struct setup *s)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);
	uint8_t stack[16];

	row[VT_SAMPLE_TIME] = 99;
	row[VT_SAMPLE_PID] = PID;
	row[VT_SAMPLE_TID] = PID + 1;
	row[VT_SAMPLE_EVENT] = s->event;
	row[VT_SAMPLE_MISC] = s->misc;
	row[VT_SAMPLE_IP] = s->ip;
	vt_put_le64(stack, s->stack[0]);
	vt_put_le64(stack + 8, s->stack[1]);
	row[VT_SAMPLE_STACK_DYN_SIZE] = s->dynamic;
	vt_writer_bytes(w, VT_SAMPLE_STACK, stack, sizeof(stack));
	if (s->user_mask) {
		row[VT_SAMPLE_UREGS_ABI] = s->abi;
		vt_writer_words(w, VT_SAMPLE_UREGS, s->regs, s->nregs);
	}
	if (s->intr_mask) {
		row[VT_SAMPLE_IREGS_ABI] = s->abi;
		vt_writer_words(w, VT_SAMPLE_IREGS, s->regs, s->nregs);
	}
}

static void put_stream(struct vt_writer *w, const struct setup *s)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);
	unsigned i;

	row[VT_EVENT_ID] = EVENT;
	row[VT_EVENT_REGS_USER] = s->user_mask;
	row[VT_EVENT_REGS_INTR] = s->intr_mask;
	row[VT_EVENT_PRECISE] = s->precise;
	if (s->cpuid) {
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, "cpuid");
		vt_writer_text(w, VT_META_VALUE, s->cpuid);
	}
	row = vt_writer_row(w, VT_IMAGE);
	row[VT_IMAGE_ID] = 1;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, s->path);
	put_map(w, 0x401000, s->prot);
	if (!s->code_only)
		put_map(w, 0x402000, 1);
	for (i = 0; i < s->samples; i++)
		put_sample(w, s);
	if (s->then) {
		struct setup t = *s;

		t.ip = t.regs[2] = s->then;
		put_sample(w, &t);
	}
}

static void run(const struct setup *s, struct seen *seen)
{
	const struct vt_images_options none = {.warn = NULL};
	struct vt_images *images = vt_images_new(&none, &err);
	struct vt_context *context = vt_context_new(images);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_interpret *in;
	struct vt_record rec;
	struct vt_reader *r;

	memset(seen, 0, sizeof(*seen));
	put_stream(w, s);
	r = reread_stream(fd, w);
	in = vt_interpret_new(&s->o, context, take, seen, &err);
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

#define ALL "a10 a11 c111 d222 s1122334455 D? c40101f "

static void assert_runs(const struct setup *s, const char *text)
{
	static struct seen seen;

	run(s, &seen);
	assert_string_equal(seen.text, text);
	assert_int_equal(seen.runs, 1);
	assert_int_equal(seen.totals.runs, 1);
	assert_int_equal(seen.totals.samples, 1);
	assert_int_equal(seen.totals.no_registers, 0);
	assert_int_equal(seen.totals.elsewhere, 0);
	assert_int_equal(seen.totals.no_code, 0);
}

/* Each of two such samples is counted. */
static void assert_left_out(const struct setup *s, unsigned no_registers, unsigned late,
			    unsigned elsewhere)
{
	static struct seen seen;
	struct setup two = *s;

	two.samples = 2;
	run(&two, &seen);
	assert_int_equal(seen.runs, 0);
	assert_int_equal(seen.totals.samples, 2);
	assert_int_equal(seen.totals.no_registers, 2 * no_registers);
	assert_int_equal(seen.totals.late, 2 * late);
	assert_int_equal(seen.totals.elsewhere, 2 * elsewhere);
}

/* ---- registers and the stack ---- */

static void test_registers(void **state)
{
	struct setup s = usual();

	(void)state;
	assert_runs(&s, ALL);
	/* Of the stack, what lies behind its pointer, as far as it was there. */
	s.dynamic = 8;
	assert_runs(&s, "a10 a11 c111 d? s1122334455 D? c40101f ");
	s.dynamic = 15;
	assert_runs(&s, "a10 a11 c111 d? s1122334455 D? c40101f ");
	s.dynamic = 100;
	assert_runs(&s, ALL);
	for (s.regs[1] = RSP; s.regs[1] < RSP + 70; s.regs[1]++)
		assert_runs(&s, ALL);
	s.dynamic = 8;
	for (s.regs[1] = RSP; s.regs[1] < RSP + 70; s.regs[1]++)
		assert_runs(&s, "a10 a11 c111 d? s1122334455 D? c40101f ");
	s.dynamic = 100;
	s.regs[1] = UINT64_MAX - 7;
	assert_runs(&s, "a10 a11 c? d? s1122334455 D? c40101f ");
	/* Without a pointer, or other registers. */
	s = usual();
	s.user_mask = BIT(VT_REG_BX) | BIT(VT_REG_IP);
	s.regs[1] = s.regs[2];
	s.nregs = 2;
	assert_runs(&s, "a10 a11 c? d? s1122334455 D? c40101f ");
	s.user_mask = BIT(VT_REG_SP) | BIT(VT_REG_IP);
	s.regs[0] = RSP;
	assert_runs(&s, "a? a? c111 d222 s1122334455 D? c40101f ");
	/* Vector registers: two words each. */
	s = usual();
	s.user_mask |= UINT64_C(0xf) << 32;
	s.nregs = 7;
	s.regs[3] = 1;
	s.regs[4] = 2;
	s.regs[5] = 3;
	s.regs[6] = 4;
	assert_runs(&s, "a10 a11 c111 d222 s1122334455 D3 c40101f ");
	s.user_mask = BIT(VT_REG_BX) | BIT(VT_REG_SP) | BIT(VT_REG_IP) | UINT64_C(4) << 32;
	s.nregs = 4;
	s.regs[3] = 0x7711;
	assert_runs(&s, "a10 a11 c111 d222 s1122334455 D7711 c40101f ");
	/* What is told in the place of FS is no address. */
	s = at(0x401140);
	s.user_mask |= BIT(VT_REG_FS);
	s.regs[3] = 0x402000;
	s.nregs = 4;
	assert_runs(&s, "a? c40114b ");
}

static void test_left_out(void **state)
{
	struct setup s = usual();

	(void)state;
	s.event = EVENT + 1;
	assert_left_out(&s, 1, 0, 0);
	s = usual();
	s.abi = 1;
	assert_left_out(&s, 1, 0, 0);
	s = usual();
	s.nregs = 2;
	assert_left_out(&s, 1, 0, 0);
	s.nregs = 0;
	assert_left_out(&s, 1, 0, 0);
	/* Of the kernel; of another moment than the address. */
	s = usual();
	s.misc = 1;
	assert_left_out(&s, 0, 0, 1);
	s.misc = USER | EXACT;
	assert_runs(&s, ALL);
	s = usual();
	s.ip++;
	assert_left_out(&s, 0, 0, 1);
	s = usual();
	s.user_mask = BIT(VT_REG_BX) | BIT(VT_REG_SP);
	s.nregs = 2;
	assert_left_out(&s, 0, 0, 1);
}

/* A precise event's own registers are those behind its instruction; the kernel's are later. */
static void test_precise(void **state)
{
	struct setup s = usual();

	(void)state;
	s.precise = true;
	assert_left_out(&s, 1, 1, 0);
	s.intr_mask = s.user_mask;
	s.user_mask = 0;
	assert_left_out(&s, 0, 0, 1);
	s.cpuid = "AuthenticAMD,25,33,0";
	assert_left_out(&s, 0, 0, 1);
	s.cpuid = "GenuineIntel,6,85,7";
	assert_runs(&s, "a10 a11 c? d? s1122334455 D? c40101f ");
	/* Of the instruction itself: what is behind it, but for a jump. */
	s.misc |= EXACT;
	assert_runs(&s, "a? c? d? s1122334455 D? c40101f ");
	s.ip = s.regs[2] = 0x401100;
	assert_runs(&s, "a10 a11 c? d? s1122334455 D? c40101f ");
	s.ip = s.regs[2] = 0x40101d;
	assert_left_out(&s, 0, 0, 1);
	s.ip = s.regs[2] = 0x401120;
	assert_left_out(&s, 0, 0, 1);
	s.ip = s.regs[2] = 0x401130;
	assert_left_out(&s, 0, 0, 1);
	/* A branch on flags that are told: the zero flag is bit 6. */
	s.intr_mask |= BIT(VT_REG_FLAGS);
	s.ip = s.regs[2] = 0x401110;
	s.regs[3] = 0x40;
	s.nregs = 4;
	assert_runs(&s, "a10 a11 c? d? s1122334455 D? c40101f ");
	s.regs[3] = 0;
	assert_runs(&s, "a77 c40111d ");
	/* Interrupts of events that are not precise have their registers in either place. */
	s = usual();
	s.intr_mask = s.user_mask;
	s.user_mask = 0;
	assert_runs(&s, ALL);
}

/* ---- runs ---- */

static void test_lengths(void **state)
{
	static const char *const from[] = {"a10 a11 ", "a11 c111 ", "c111 d222 "};
	static struct seen seen;
	struct setup s = usual();
	unsigned i, n[3] = {0, 0, 0}, k;

	(void)state;
	run(&s, &seen);
	assert_int_equal(seen.insns, 7);
	assert_int_equal(seen.stop, VT_STOP_SYSCALL);
	assert_int_equal(seen.totals.stops[VT_STOP_SYSCALL], 1);
	s.o.length = 2;
	run(&s, &seen);
	assert_string_equal(seen.text, "a10 a11 ");
	assert_int_equal(seen.insns, 2);
	assert_int_equal(seen.stop, VT_STOP_LENGTH);
	/* Some are skipped first, by chance. */
	s.o.skip_random = true;
	for (i = 0; i < 60; i++) {
		s.o.seed = i;
		run(&s, &seen);
		assert_int_equal(seen.insns, 2);
		for (k = 0; k < 2 && strcmp(seen.text, from[k]) != 0; k++)
			;
		n[k]++;
	}
	assert_true(n[0] > 10 && n[1] > 10 && n[2] == 0);
	s.o.length = 1;
	run(&s, &seen);
	assert_string_equal(seen.text, "a10 ");
	/* One of four is interpreted. */
	s = usual();
	s.samples = 400;
	s.o.frequency = 4;
	s.o.length = 1;
	run(&s, &seen);
	assert_int_equal(seen.totals.samples, 400);
	assert_int_equal(seen.totals.left_out + seen.runs, 400);
	assert_in_range(seen.runs, 60, 140);
	s.samples = 60;
	s.o.frequency = 1;
	run(&s, &seen);
	assert_int_equal(seen.runs, 60);
	assert_int_equal(seen.totals.left_out, 0);
	/* The next sample knows nothing of what that one did. */
	s = usual();
	s.then = 0x401003;
	s.o.length = 1;
	run(&s, &seen);
	assert_string_equal(seen.text, "a10 a? ");
	/* The registers that it begins with. */
	s = usual();
	s.o.registers = true;
	run(&s, &seen);
	assert_true(seen.regs[VT_REG_BX].value == 0x10 && vt_word_is_known(seen.regs[VT_REG_BX]));
	assert_true(seen.regs[VT_REG_SP].value == RSP && vt_word_is_known(seen.regs[VT_REG_SP]));
	assert_false(vt_word_is_known(seen.regs[VT_REG_AX]));
}

/* ---- files ---- */

static void test_withheld(void **state)
{
	static struct seen seen;
	struct setup s = at(0x403000);

	(void)state;
	run(&s, &seen);
	assert_int_equal(seen.runs, 0);
	assert_int_equal(seen.totals.no_code, 1);
	assert_int_equal(seen.totals.missing, 0);
	/* Nothing shows that the file is the recorded one; it is none; the program could write. */
	s = usual();
	s.o.trust = VT_TRUST_CONSTANTS;
	run(&s, &seen);
	assert_int_equal(seen.totals.no_code, 1);
	assert_int_equal(seen.totals.code_withheld[VT_WITHHELD_UNVERIFIED], 1);
	s.samples = 3;
	run(&s, &seen);
	assert_int_equal(seen.totals.no_code, 3);
	assert_int_equal(seen.totals.code_withheld[VT_WITHHELD_UNVERIFIED], 3);
	s = usual();
	s.path = "/nonexistent/program";
	run(&s, &seen);
	assert_int_equal(seen.totals.no_code, 1);
	assert_int_equal(seen.totals.code_withheld[VT_WITHHELD_MISSING], 1);
	assert_int_equal(seen.totals.missing, 1);
	s = usual();
	s.prot = 7;
	run(&s, &seen);
	assert_int_equal(seen.totals.no_code, 1);
	assert_int_equal(seen.totals.code_withheld[VT_WITHHELD_PATCHED], 1);
	assert_int_equal(seen.totals.code_withheld[VT_WITHHELD_NOT], 0);
	/* Constants, of which the recording would not show if they were written to. */
	s = usual();
	s.o.trust = VT_TRUST_IMAGES;
	assert_runs(&s, ALL);
	s.code_only = true;
	run(&s, &seen);
	assert_string_equal(seen.text, "a10 a11 c111 d222 s? D? c40101f ");
	assert_int_equal(seen.totals.constants_withheld[VT_WITHHELD_UNSEEN], 1);
	s.samples = 3;
	run(&s, &seen);
	assert_int_equal(seen.totals.constants_withheld[VT_WITHHELD_UNSEEN], 3);
	assert_int_equal(seen.totals.constants_withheld[VT_WITHHELD_NOT], 0);
	s.samples = 1;
	s.o.trust |= VT_TRUST_CONSTANTS;
	assert_runs(&s, ALL);
}

/* ---- callers ---- */

/* The procedure is called from behind an instruction that calls. */
static void test_callers(void **state)
{
	static const struct {
		uint64_t ip;
		uint64_t returns; /* on the stack */
		const char *callers;
	} rows[] = {
		{0x401200, 0x401215, "0:401215 "},
		{0x401201, 0x401215, "0:401215 "},
		{0x401200, 0x401222, "0:401222 "},
		{0x401200, 0x401003, "0:0 "},
		{0x401200, 0x401216, "0:0 "},
		{0x401200, 0x403000, "0:0 "},
		{0x401200, 3, "0:0 "},
		/* No call frame information. */
		{0x401000, 0x401215, "0:0 "},
		/* It calls another one, which comes back: instructions 1 and 3. */
		{0x401230, 0x401215, "0:401215 1:401235! 3:401215 "},
		/* Likewise, by way of a stub, which is not what was called. */
		{0x401250, 0x401215, "0:401215 1:401255 2:401255! 4:401215 "},
	};
	static struct seen seen;
	struct setup two;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup s = at(rows[i].ip);

		s.o.callers = true;
		s.stack[0] = rows[i].returns;
		run(&s, &seen);
		if (strcmp(seen.callers, rows[i].callers) != 0)
			fail_msg("row %u: \"%s\"", i, seen.callers);
		s.o.callers = false;
		run(&s, &seen);
		assert_string_equal(seen.callers, "");
	}
	/* The next run begins anew. */
	two = at(0x401200);
	two.o.callers = true;
	two.stack[0] = 0x401215;
	two.then = 0x401000;
	run(&two, &seen);
	assert_string_equal(seen.callers, "0:401215 0:0 ");
}

static void test_caller_at(void **state)
{
	const struct vt_run_caller callers[] = {{.caller = 10, .insn = 0},
						{.caller = 20, .insn = 2},
						{.caller = 30, .insn = 2},
						{.caller = 40, .insn = 5}};
	static const uint64_t want[] = {10, 10, 30, 30, 30, 40, 40};
	struct vt_run r = {.caller = 99, .callers = callers, .ncallers = 4};
	uint32_t i;
	size_t hint = 0, at_last;

	(void)state;
	for (i = 0; i < 7; i++) {
		assert_int_equal(vt_run_caller(&r, i, &hint), want[i]);
		at_last = 3;
		assert_int_equal(vt_run_caller(&r, i, &at_last), want[i]);
		at_last = 17;
		assert_int_equal(vt_run_caller(&r, i, &at_last), want[i]);
	}
	r.ncallers = 0;
	assert_int_equal(vt_run_caller(&r, 3, &hint), 99);
}

/* ---- latencies ---- */

static void test_latency(void **state)
{
	/* Of perf_event.h: weights are bits 14 and 24, data sources bit 15. */
	static const struct {
		uint64_t has, misc, weight, source;
		bool known;
	} rows[] = {
		{1 << 14, EXACT, 30, 0, true},
		{1 << 24, EXACT, 30, 0, true},
		{1 << 13, EXACT, 30, 0, false},
		{1 << 15, EXACT, 30, 2, false},
		{1 << 14, USER, 30, 0, false},
		{1 << 14, EXACT, 0, 0, false},
		{1 << 14 | 1 << 15, EXACT, 30, 1, true},
		{1 << 14 | 1 << 15, EXACT, 30, 2, true},
		{1 << 14 | 1 << 15, EXACT, 30, 4, false},
		{1 << 14 | 1 << 15, EXACT, 30, 0, false},
	};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t *row = vt_writer_row(w, VT_SAMPLE);

		row[VT_SAMPLE_HAS] = rows[i].has;
		row[VT_SAMPLE_MISC] = rows[i].misc;
		row[VT_SAMPLE_WEIGHT] = rows[i].weight;
		row[VT_SAMPLE_DATA_SRC] = rows[i].source;
	}
	r = reread_stream(fd, w);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t latency = 0;
		bool known;

		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
		known = vt_sample_latency(&rec, &latency);
		if (known != rows[i].known || latency != rows[i].weight)
			fail_msg("row %u", i);
	}
	vt_reader_close(r);
	close(fd);
}

static int compile(void **state)
{
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

static void test_mxcsr(void **state)
{
	static const char *const bad[] = {"",	"defaul", "default ", "10000",
					  "-1", " 1",	  "1 ",	      "0xg"};
	struct vt_interpret_options o = {.length = 1};
	struct vt_error e = VT_ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(vt_interpret_set_mxcsr(&o, bad[i], &e), -VT_E_USAGE);
	assert_false(o.has_mxcsr);
	assert_string_equal(e.text, "'0xg' is neither 'default' nor 0 to ffff");
	assert_int_equal(vt_interpret_set_mxcsr(&o, "default", &e), 0);
	assert_int_equal(o.mxcsr, 0x1f80);
	assert_int_equal(vt_interpret_set_mxcsr(&o, "ffff", &e), 0);
	assert_int_equal(o.mxcsr, 0xffff);
	assert_int_equal(vt_interpret_set_mxcsr(&o, "0", &e), 0);
	assert_true(o.has_mxcsr && !o.mxcsr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers), cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_precise),	  cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_withheld),  cmocka_unit_test(test_callers),
		cmocka_unit_test(test_caller_at), cmocka_unit_test(test_latency),
		cmocka_unit_test(test_mxcsr),
	};

	return cmocka_run_group_tests(tests, compile, discard);
}
