/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known along a path, by small streams that are written as texts: each upper-case letter or
 * digit is a block that is run, each lower-case letter something else that the stream tells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "interpret/interpret.h"
#include "machine/insn/insn.h"
#include "tests/unit/common/streams.h"

#define PID   7
#define OTHER 9
#define MOST  1200 /* blocks of a run */

#define SLOT(insn, what, size) ((insn) | (uint64_t)(what) << 16 | (uint64_t)(size) << 32)
#define LOADED(size)	       SLOT(0, VT_WHAT_LOAD, size)

/* Where %rax is in Valgrind's guest state. */
#define GUEST_RAX ((uint64_t)16 << 48)

static struct vt_error err;

struct code {
	char id;
	uint64_t addr;
	uint8_t size;
	uint8_t code[11];
	uint8_t end;
	uint64_t target;
	uint8_t mode;
	uint64_t slots[2];
	uint64_t values[2]; /* that they have each time */
};

static const struct code codes[] = {
	{'A', 0x1000, 5, {0xbb, 0x05}, .end = VT_END_FALL},	  /* mov $5,%ebx */
	{'B', 0x1005, 3, {0x48, 0x89, 0xd8}, .end = VT_END_FALL}, /* mov %rbx,%rax */
	{'C', 0x1008, 2, {0x0f, 0x05}, .end = VT_END_SYSCALL},	  /* syscall */
	{'D', 0x100a, 3, {0x48, 0x89, 0xd8}, .end = VT_END_FALL}, /* mov %rbx,%rax */
	{'E', 0x100a, 3, {0x48, 0x89, 0xc3}, .end = VT_END_FALL}, /* mov %rax,%rbx */
	{'F', 0x1005, 3, {0x48, 0x89, 0xc3}, .end = VT_END_FALL}, /* mov %rax,%rbx */
	{'G',
	 0x100a,
	 9,
	 {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28},
	 .end = VT_END_FALL},					     /* mov %fs:40,%rax */
	{'H', 0x1020, 3, {0x48, 0x89, 0xd8}, .end = VT_END_FALL},    /* mov %rbx,%rax */
	{'I', 0x1005, 2, {0xff, 0xe1}, .end = VT_END_JUMP_INDIRECT}, /* jmp *%rcx */
	{'J', 0x1005, 2, {0x74, 0x19}, .end = VT_END_BRANCH, .target = 0x1020}, /* je 1020 */
	{'K', 0x1007, 3, {0x48, 0x89, 0xd8}, .end = VT_END_FALL},		/* mov %rbx,%rax */
	{'L', 0x1005, 2, {0xeb, 0x19}, .end = VT_END_JUMP, .target = 0x1020},	/* jmp 1020 */
	{'M', 0x1005, 2, {0xeb, 0x19}, .end = VT_END_JUMP},			/* jmp 1020 */
	{'N', 0xffffffff81000000, 1, {0x90}, .end = VT_END_FALL}, /* nop of the kernel */
	{'P', 0x1005, 1, {0x90}, .end = VT_END_FALL, .mode = 32}, /* nop of 32 bits */
	{'Q',
	 0x1005,
	 8,
	 {0x48, 0x8b, 0x04, 0x25, 0x00, 0x90},
	 .end = VT_END_FALL}, /* mov 9000,%rax */
	{'R',
	 0x1005,
	 8,
	 {0x48, 0x89, 0x1c, 0x25, 0x00, 0x90},
	 .end = VT_END_FALL}, /* mov %rbx,9000 */
	{'S',
	 0x100d,
	 8,
	 {0x48, 0x8b, 0x04, 0x25, 0x00, 0x90},
	 .end = VT_END_FALL},						      /* mov 9000,%rax */
	{'T', 0x1005, 5, {0x66, 0x48, 0x0f, 0x7e, 0xc8}, .end = VT_END_FALL}, /* movq %xmm1,%rax */
	{'&',
	 0x1005,
	 5,
	 {0xc4, 0xc1, 0x7d, 0x50, 0xc7},
	 .end = VT_END_FALL}, /* vmovmskpd %ymm15,%eax */
	/* mov (%rsi),%rax, and its value; that of 4 bytes only */
	{'U',
	 0x1005,
	 3,
	 {0x48, 0x8b, 0x06},
	 .end = VT_END_FALL,
	 .slots = {LOADED(8)},
	 .values = {0x33}},
	{'3',
	 0x1005,
	 3,
	 {0x48, 0x8b, 0x06},
	 .end = VT_END_FALL,
	 .slots = {LOADED(4)},
	 .values = {0x33}},
	/* mov 0x8ffb(%rbx),%rax, from 9000, and from elsewhere */
	{'V',
	 0x1005,
	 7,
	 {0x48, 0x8b, 0x83, 0xfb, 0x8f},
	 .end = VT_END_FALL,
	 .slots = {SLOT(0, VT_WHAT_LOAD_ADDRESS, 8), LOADED(8)},
	 .values = {0x9000, 0x44}},
	{'4',
	 0x1005,
	 7,
	 {0x48, 0x8b, 0x83, 0xfb, 0x8f},
	 .end = VT_END_FALL,
	 .slots = {SLOT(0, VT_WHAT_LOAD_ADDRESS, 8), LOADED(8)},
	 .values = {0x9008, 0x44}},
	/* cpuid, and what it left; mov %rax,%rbx */
	{'W',
	 0x1005,
	 2,
	 {0x0f, 0xa2},
	 .end = VT_END_FALL,
	 .slots = {SLOT(0, VT_WHAT_STATE, 8) | GUEST_RAX},
	 .values = {0x1234}},
	{'X', 0x1007, 3, {0x48, 0x89, 0xc3}, .end = VT_END_FALL},
	/* ptwrite %rax; ptwrite 9000; mov 9000,%rax */
	{'Y', 0x1005, 5, {0xf3, 0x48, 0x0f, 0xae, 0xe0}, .end = VT_END_FALL},
	{'Z', 0x1005, 10, {0xf3, 0x48, 0x0f, 0xae, 0x24, 0x25, 0x00, 0x90}, .end = VT_END_FALL},
	{'0', 0x100f, 8, {0x48, 0x8b, 0x04, 0x25, 0x00, 0x90}, .end = VT_END_FALL},
	/* call 1020 */
	{'1', 0x1005, 5, {0xe8, 0x16}, .end = VT_END_CALL, .target = 0x1020},
	/* ptwrite 0x8ff1(%rbx,%rbx,2), from 9000; 0x7ff2(%rip); %fs:0x2000; and loads behind them
	 */
	{'6', 0x1005, 10, {0xf3, 0x48, 0x0f, 0xae, 0xa4, 0x5b, 0xf1, 0x8f}, .end = VT_END_FALL},
	{'7', 0x1005, 9, {0xf3, 0x48, 0x0f, 0xae, 0x25, 0xf2, 0x7f}, .end = VT_END_FALL},
	{'8', 0x100e, 8, {0x48, 0x8b, 0x04, 0x25, 0x00, 0x90}, .end = VT_END_FALL},
	{'9',
	 0x100a,
	 11,
	 {0x64, 0xf3, 0x48, 0x0f, 0xae, 0x24, 0x25, 0x00, 0x20},
	 .end = VT_END_FALL},
	{'<', 0x1015, 8, {0x48, 0x8b, 0x04, 0x25, 0x00, 0x90}, .end = VT_END_FALL},
	/* ptwrite %eax; mov %rax,%rbx; mov %rbx,%rax */
	{'O', 0x1005, 4, {0xf3, 0x0f, 0xae, 0xe0}, .end = VT_END_FALL},
	{'$', 0x1009, 3, {0x48, 0x89, 0xc3}, .end = VT_END_FALL},
	{'%', 0x1111, 3, {0x48, 0x89, 0xd8}, .end = VT_END_FALL},
	/* test %rbx,%rbx; je 1020; and 1005 again and again */
	{'2', 0x1005, 3, {0x48, 0x85, 0xdb}, .end = VT_END_FALL},
	{'>', 0x1008, 2, {0x74, 0x16}, .end = VT_END_BRANCH, .target = 0x1020},
	{'5', 0x1005, 2, {0xeb, 0xfe}, .end = VT_END_JUMP, .target = 0x1005},
};

#define NCODES (sizeof(codes) / sizeof(codes[0]))

/* What became of a stream: results and addresses as text, and the totals. */
struct seen {
	char text[512];
	char callers[256];
	struct vt_interpret_totals totals;
	unsigned runs;
	uint32_t insns[16];
	bool begins[16];
};

static void append(char *text, size_t size, const char *what, uint64_t value, bool known)
{
	size_t n = strlen(text);

	if (known)
		snprintf(text + n, size - n, "%s%llx ", what, (unsigned long long)value);
	else
		snprintf(text + n, size - n, "%s? ", what);
}

/* a and b are the results in %rax and %rbx, @ is where something was loaded from. */
static int take(void *arg, const struct vt_run *run, struct vt_error *e)
{
	struct seen *s = arg;
	size_t i;

	(void)e;
	assert_true(s->runs < 16);
	s->begins[s->runs] = run->begins;
	s->insns[s->runs++] = run->insns;
	for (i = 0; i < run->ncaptures; i++) {
		const struct vt_capture *c = &run->captures[i];

		if (c->what == VT_WHAT_LOAD_ADDRESS)
			append(s->text, sizeof(s->text), "@", c->value, c->known);
		else if (c->what == VT_WHAT_RESULT && (c->reg == VT_REG_AX || c->reg == VT_REG_BX))
			append(s->text, sizeof(s->text), c->reg == VT_REG_AX ? "a" : "b", c->value,
			       c->known);
	}
	for (i = 0; i < run->ncallers; i++) {
		append(s->callers, sizeof(s->callers), "", run->callers[i].insn, true);
		append(s->callers, sizeof(s->callers), "", run->callers[i].ip, true);
		append(s->callers, sizeof(s->callers), "", run->callers[i].caller, true);
	}
	return 0;
}

/* ---- streams ---- */

struct maker {
	struct vt_writer *w;
	int64_t pid;
	int64_t tid;
	uint64_t first[OTHER + 1]; /* by process */
	uint64_t caller;
	unsigned ids[MOST];
	unsigned n;
};

static void put_meta(struct maker *m, const char *key, const char *value)
{
	vt_writer_row(m->w, VT_META);
	vt_writer_text(m->w, VT_META_KEY, key);
	vt_writer_text(m->w, VT_META_VALUE, value);
}

static void put_blocks(struct maker *m)
{
	unsigned i, nslots;

	for (i = 0; i < NCODES; i++) {
		const struct code *c = &codes[i];
		uint64_t *row = vt_writer_row(m->w, VT_BLOCK);

		for (nslots = 0; nslots < 2 && c->slots[nslots]; nslots++)
			;
		row[VT_BLOCK_ID] = i;
		row[VT_BLOCK_PID] = PID;
		row[VT_BLOCK_ADDR] = c->addr;
		row[VT_BLOCK_SIZE] = c->size;
		row[VT_BLOCK_INSNS] = 1;
		row[VT_BLOCK_END] = c->end;
		row[VT_BLOCK_TARGET] = c->target;
		row[VT_BLOCK_MODE] = c->mode;
		vt_writer_bytes(m->w, VT_BLOCK_LENGTHS, &c->size, 1);
		vt_writer_bytes(m->w, VT_BLOCK_CODE, c->code, c->size);
		vt_writer_words(m->w, VT_BLOCK_SLOTS, c->slots, nslots);
	}
}

/* The blocks so far become a run. */
static void put_exec(struct maker *m)
{
	uint64_t *row;
	uint8_t ids[2 * MOST], data[256];
	size_t size = 0;
	unsigned i, k;

	if (!m->n)
		return;
	row = vt_writer_row(m->w, VT_EXEC);
	for (i = 0; i < m->n; i++) {
		const struct code *c = &codes[m->ids[i]];

		vt_put_le16(ids + 2 * (size_t)i, (uint16_t)m->ids[i]);
		for (k = 0; k < 2 && c->slots[k]; k++) {
			vt_put_le64(data + size, c->values[k]);
			size += c->slots[k] >> 32 & 0xffff;
		}
	}
	row[VT_EXEC_PID] = (uint64_t)m->pid;
	row[VT_EXEC_TID] = (uint64_t)m->tid;
	row[VT_EXEC_FIRST] = m->first[m->pid];
	row[VT_EXEC_CALLER] = m->caller;
	row[VT_EXEC_BLOCKS] = row[VT_EXEC_INSNS] = m->n;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(m->w, VT_EXEC_IDS, ids, 2 * (size_t)m->n);
	vt_writer_bytes(m->w, VT_EXEC_DATA, data, size);
	m->first[m->pid] += m->n;
	m->n = 0;
}

static void put_state(struct maker *m, bool known)
{
	uint64_t *row = vt_writer_row(m->w, VT_STATE), regs[24];
	uint8_t vector[512];
	unsigned i;

	row[VT_STATE_PID] = (uint64_t)m->pid;
	row[VT_STATE_TID] = (uint64_t)m->tid;
	row[VT_STATE_REASON] = VT_STATE_WINDOW;
	for (i = 0; i < 24; i++)
		regs[i] = 0xb0 + i;
	regs[VT_REG_IP] = 0x1005;
	memset(vector, 0, sizeof(vector));
	vt_put_le64(vector + 32, 0x7711);
	vector[8 * 61 + 7] = vector[8 * 63 + 7] = 0x80; /* of words 1 and 3 of the last one */
	if (known) {
		vt_writer_words(m->w, VT_STATE_REGS, regs, 24);
		vt_writer_bytes(m->w, VT_STATE_VECTOR, vector, sizeof(vector));
	}
}

static void put_syscall(struct maker *m, uint64_t number, uint64_t what, int64_t result)
{
	uint64_t *row = vt_writer_row(m->w, VT_SYSCALL), args[2] = {what, 0x7000};

	row[VT_SYSCALL_PID] = (uint64_t)m->pid;
	row[VT_SYSCALL_TID] = (uint64_t)m->tid;
	row[VT_SYSCALL_NUMBER] = number;
	row[VT_SYSCALL_RESULT] = (uint64_t)result;
	vt_writer_words(m->w, VT_SYSCALL_ARGS, args, 2);
}

static void put_memory(struct maker *m)
{
	uint64_t *row = vt_writer_row(m->w, VT_MEMORY);
	uint8_t data[8];

	vt_put_le64(data, 0x1122);
	row[VT_MEMORY_PID] = (uint64_t)m->pid;
	row[VT_MEMORY_TID] = (uint64_t)m->tid;
	row[VT_MEMORY_ADDR] = 0x9000;
	vt_writer_bytes(m->w, VT_MEMORY_DATA, data, sizeof(data));
}

static void put_trace(struct maker *m, uint64_t event, uint64_t ip, uint64_t value)
{
	uint64_t *row = vt_writer_row(m->w, VT_TRACE);

	row[VT_TRACE_PID] = (uint64_t)m->pid;
	row[VT_TRACE_TID] = (uint64_t)m->tid;
	row[VT_TRACE_EVENT] = event;
	row[VT_TRACE_IP] = ip;
	row[VT_TRACE_VALUE] = value;
}

static void put_thread(struct maker *m, uint64_t op, int64_t tid)
{
	uint64_t *row = vt_writer_row(m->w, VT_THREAD);

	row[VT_THREAD_PID] = row[VT_THREAD_PPID] = (uint64_t)m->pid;
	row[VT_THREAD_TID] = (uint64_t)tid;
	row[VT_THREAD_OP] = op;
}

static void put_gap(struct maker *m, int64_t pid)
{
	vt_writer_row(m->w, VT_GAP)[VT_GAP_PID] = (uint64_t)pid;
}

static void put_value(struct maker *m, uint64_t ip, uint64_t what)
{
	uint64_t *row = vt_writer_row(m->w, VT_VALUE);

	row[VT_VALUE_PID] = (uint64_t)m->pid;
	row[VT_VALUE_TID] = (uint64_t)m->tid;
	row[VT_VALUE_IP] = ip;
	row[VT_VALUE_WHAT] = what;
	row[VT_VALUE_VALUE] = 0x55;
}

/* What the hardware and the kernel tell of a trace. */
static bool put_traced(struct maker *m, char c)
{
	switch (c) {
	case 'd':
		put_trace(m, VT_TRACE_DISABLED, 0, 0);
		return true;
	case 'a':
		put_trace(m, VT_TRACE_ASYNC_BRANCH, 0x1005, 0);
		return true;
	case 'b':
		put_trace(m, VT_TRACE_ASYNC_BRANCH, 0x1111, 0);
		return true;
	case 'c':
		put_trace(m, VT_TRACE_ASYNC_DISABLED, 0x100d, 0);
		return true;
	case 'x':
		put_trace(m, VT_TRACE_TSX, 0, 2);
		return true;
	case 'i':
		put_trace(m, VT_TRACE_TSX, 0, 1);
		return true;
	case 'p':
		put_value(m, 0x1005, VT_WHAT_PTWRITE);
		return true;
	case '#':
		put_value(m, 0x100a, VT_WHAT_PTWRITE);
		return true;
	case '!':
		put_value(m, 0x1006, VT_WHAT_PTWRITE);
		return true;
	case '?':
		put_value(m, 0x1005, VT_WHAT_RESULT);
		return true;
	default:
		return false;
	}
}

/* What a recorder tells of a thread. */
static bool put_recorded(struct maker *m, char c)
{
	switch (c) {
	case 's':
	case 'z':
		put_state(m, c == 's');
		return true;
	case 'y':
		put_syscall(m, 1, 0, 77);
		return true;
	case 'r':
		put_syscall(m, 15, 0, 77);
		return true;
	case 'f':
		put_syscall(m, 158, 0x1002, 0);
		return true;
	case 'g':
		put_syscall(m, 158, 0x1002, -1);
		return true;
	case 'h':
		put_syscall(m, 158, 0x1001, 0);
		return true;
	case 'w':
		put_memory(m);
		return true;
	default:
		return false;
	}
}

static void put_event(struct maker *m, char c)
{
	if (put_traced(m, c) || put_recorded(m, c))
		return;
	switch (c) {
	case 'v':
		put_meta(m, "recorder", "valgrind");
		break;
	case 'm':
		put_meta(m, "sampling", "now and then");
		break;
	case 'e':
		put_thread(m, VT_OP_EXEC, m->pid);
		break;
	case 'k':
		put_thread(m, VT_OP_FORK, m->pid);
		break;
	case 'n':
		put_thread(m, VT_OP_FORK, m->pid + 20);
		break;
	case 'q':
		put_thread(m, VT_OP_EXIT, m->pid);
		break;
	case 'o':
		put_thread(m, VT_OP_COMM, m->pid);
		break;
	case 'l':
		put_gap(m, m->pid);
		break;
	case 'j':
		put_gap(m, 0);
		break;
	case 'u':
		put_gap(m, m->pid == PID ? OTHER : PID);
		break;
	case 't':
		m->tid = m->tid == m->pid ? m->pid + 1 : m->pid;
		break;
	case '~':
		m->tid = m->pid = m->pid == PID ? OTHER : PID;
		break;
	case '+':
		m->first[m->pid] += 3;
		break;
	default:
		assert_int_equal(c, ' ');
		break;
	}
}

static void put_stream(struct maker *m, const char *text)
{
	unsigned i;

	for (; *text; text++) {
		for (i = 0; i < NCODES && codes[i].id != *text; i++)
			;
		if (i < NCODES) {
			assert_true(m->n < MOST);
			m->ids[m->n++] = i;
		} else {
			put_exec(m);
			put_event(m, *text);
		}
	}
	put_exec(m);
}

static void run(const char *text, bool callers, uint64_t caller, struct seen *seen)
{
	const struct vt_interpret_options o = {
		.path = true,
		.capture = 1U << VT_WHAT_RESULT | 1U << VT_WHAT_LOAD_ADDRESS | 1U << VT_WHAT_STORE,
		.callers = callers,
	};
	struct vt_images *images = vt_images_new(&(struct vt_images_options){.warn = NULL}, &err);
	struct vt_context *context = vt_context_new(images);
	int fd = scratch_file();
	struct maker m = {.w = start_stream(fd), .pid = PID, .tid = PID, .caller = caller};
	struct vt_interpret *in;
	struct vt_record rec;
	struct vt_reader *r;

	memset(seen, 0, sizeof(*seen));
	put_blocks(&m);
	put_stream(&m, text);
	r = reread_stream(fd, m.w);
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

/* ---- what is known ---- */

static const struct {
	const char *stream;
	const char *text;
	unsigned begun; /* how often nothing was known */
} rows[] = {
	/* One run, two that follow each other, and two that do not. */
	{"AB", "b5 a5 ", 1},
	{"B", "a? ", 1},
	{"A B", "b5 a5 ", 1},
	{"A D", "b5 a? ", 2},
	{"A+B", "b5 a? ", 2},
	{"AoB", "b5 a5 ", 1},
	/* Samples of runs do not follow each other. */
	{"mA B", "b5 a? ", 2},
	{"mAB", "b5 a5 ", 1},
	/* By turns with another thread, or process: a recorder has one order of them. */
	{"AtB", "b5 a? ", 2},
	{"AtBtB", "b5 a? a? ", 3},
	{"vAtBtB", "b5 a? a5 ", 2},
	{"vA~B~B", "b5 a? a5 ", 2},
	{"A~B~B", "b5 a? a? ", 3},
	/* A branch goes on to one of two places, a jump to one, an indirect one anywhere. */
	{"AJ K", "b5 a5 ", 1},
	{"AJ H", "b5 a5 ", 1},
	{"AJ D", "b5 a? ", 2},
	{"AJK", "b5 a5 ", 1},
	{"AL H", "b5 a5 ", 1},
	{"AL K", "b5 a? ", 2},
	{"AM K", "b5 a5 ", 1},
	{"AI H", "b5 a5 ", 1},
	{"AI D", "b5 a5 ", 1},
	{"A1 H", "b5 a5 ", 1},
	{"A1 K", "b5 a? ", 2},
	/* The kernel comes back to where it was entered, code of 32 bits does not. */
	{"ANB", "b5 a5 ", 1},
	{"A N B", "b5 a5 ", 1},
	{"AIN H", "b5 a? ", 2},
	{"AP B", "b5 a? ", 2},
	/* Registers that are told, at 1005; or not. */
	{"AsB", "b5 ab1 ", 1},
	{"s&", "aa ", 0},
	{"AsD", "b5 a? ", 2},
	{"AsT", "b5 a7711 ", 1},
	{"AzB", "b5 a? ", 2},
	{"AT", "b5 a? ", 1},
	/* System calls: %rax is what comes back, if that is told. */
	{"ABC D", "b5 a5 a5 ", 1},
	{"ABC E", "b5 a5 b? ", 1},
	{"ABCyE", "b5 a5 b4d ", 1},
	{"ABCrE", "b5 a5 b? ", 1},
	{"AyF", "b5 b? ", 1},
	{"ABCfG", "b5 a5 @7028 a? ", 1},
	{"ABCgG", "b5 a5 @? a? ", 1},
	{"ABChG", "b5 a5 @? a? ", 1},
	/* What the kernel wrote, or the program. */
	{"AQ", "b5 @9000 a? ", 1},
	{"AwQ", "b5 @9000 a1122 ", 1},
	{"ARS", "b5 @9000 a5 ", 1},
	{"AR S", "b5 @9000 a5 ", 1},
	/* What interrupts a trace: the kernel goes back to there, and may have written meanwhile.
	 */
	{"AdB", "b5 a? ", 2},
	{"ABCdD", "b5 a5 a5 ", 1},
	{"AaB", "b5 a5 ", 1},
	{"AbB", "b5 a? ", 3},
	{"AabB", "b5 a5 ", 1},
	{"AIaH", "b5 a? ", 2},
	{"Ab%", "b5 a? ", 3},
	{"AtbtB", "b5 a5 ", 1},
	{"AD", "b5 a5 ", 1},
	{"AJD", "b5 a? ", 2},
	{"ARcS", "b5 @9000 a? ", 1},
	{"AadB", "b5 a5 ", 1},
	{"AxB", "b5 a? ", 2},
	{"AiB", "b5 a5 ", 1},
	{"AtdtB", "b5 a5 ", 1},
	/* Another program; another thread, with which memory is shared. */
	{"AeB", "b5 a? ", 2},
	{"AkB", "b5 a? ", 2},
	{"AnB", "b5 a5 ", 1},
	{"ARnS", "b5 @9000 a? ", 1},
	{"vARnS", "b5 @9000 a5 ", 1},
	{"AqB", "b5 a5 ", 1},
	{"ARqS", "b5 @9000 a? ", 1},
	{"vARqS", "b5 @9000 a? ", 1},
	{"vAtAtRtBtS", "b5 b5 a5 @9000 a5 ", 2},
	/* That one's system call may have changed what was loaded. */
	{"vARtytS", "b5 @9000 a? ", 1},
	{"vARyS", "b5 @9000 a5 ", 1},
	/* What is missing of this process, of all, and of another one. */
	{"AlB", "b5 a? ", 2},
	{"AjB", "b5 a? ", 2},
	{"AuB", "b5 a5 ", 1},
	{"ARlS", "b5 @9000 a? ", 2},
	/* What was loaded, and what cpuid left: of a recorder's. */
	{"vAU", "b5 @? a33 ", 1},
	{"AU", "b5 @? a? ", 1},
	{"vA3", "b5 @? a? ", 1},
	{"vAV", "b5 @9000 a44 ", 1},
	{"vA4", "b5 @9000 a? ", 1},
	{"vAWX", "b5 b1234 ", 1},
	{"AWX", "b5 b? ", 1},
	/* ptwrite's operands. */
	{"AYpE", "b5 b55 ", 1},
	{"AY!E", "b5 b? ", 1},
	{"AY?E", "b5 b? ", 1},
	{"AYtptE", "b5 b? ", 1},
	{"sOp$", "b55 ", 0},
	{"AOp$", "b5 b? ", 1},
	{"AYdpE", "b5 b? ", 2},
	{"AZp0", "b5 @9000 a55 ", 1},
	{"AZ!0", "b5 @9000 a? ", 1},
	{"A6p0", "b5 @9000 a55 ", 1},
	{"6p0", "@9000 a? ", 1},
	{"A7p8", "b5 @9000 a55 ", 1},
	{"ABCf9#<", "b5 a5 @9000 a55 ", 1},
	{"ABC9#<", "b5 a5 @9000 a? ", 1},
	/* The way that is taken contradicts what is known. */
	{"A2>H", "b5 a? ", 2},
};

static void test_known(void **state)
{
	static struct seen seen;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run(rows[i].stream, false, 0, &seen);
		if (strcmp(seen.text, rows[i].text) != 0 || seen.totals.begun != rows[i].begun)
			fail_msg("%s: \"%s\", begun %llu", rows[i].stream, seen.text,
				 (unsigned long long)seen.totals.begun);
	}
}

/* ---- what is counted ---- */

static void test_totals(void **state)
{
	static const struct {
		const char *stream;
		unsigned execs, runs, insns, foreign, told, stale, taught, results, known;
		unsigned leaving, leaving_known;
	} counts[] = {
		{"AB", 1, 1, 2, 0, 0, 0, 0, 2, 2, 2, 2},
		{"A B", 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 2},
		{"B", 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0},
		{"AR", 1, 1, 2, 0, 0, 0, 0, 1, 1, 2, 2},
		{"R", 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0},
		{"ANB", 1, 1, 3, 1, 0, 0, 0, 2, 2, 2, 2},
		{"APB", 1, 1, 3, 1, 0, 0, 0, 2, 1, 2, 1},
		{"AYp", 1, 1, 2, 0, 1, 0, 0, 1, 1, 1, 1},
		{"AYpp", 1, 1, 2, 0, 2, 0, 0, 1, 1, 1, 1},
		{"AY!", 1, 1, 2, 0, 0, 0, 0, 1, 1, 1, 1},
		{"vAwV", 2, 2, 2, 0, 0, 1, 0, 2, 2, 2, 2},
		{"vAV", 1, 1, 2, 0, 0, 0, 0, 2, 2, 2, 2},
		{"2>H", 1, 1, 3, 0, 0, 0, 1, 1, 0, 1, 0},
		{"sYp", 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0},
		{"2>", 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0},
		{"AYdp", 1, 1, 2, 0, 0, 0, 0, 1, 1, 1, 1},
		{"sOp", 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0},
		{"AOp", 1, 1, 2, 0, 1, 0, 0, 1, 1, 1, 1},
	};
	static struct seen seen;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const struct vt_interpret_totals *t = &seen.totals;

		run(counts[i].stream, false, 0, &seen);
		if (t->execs != counts[i].execs || t->runs != counts[i].runs ||
		    t->insns != counts[i].insns || t->foreign != counts[i].foreign ||
		    t->ptwritten != counts[i].told || t->stale != counts[i].stale ||
		    t->inferred != counts[i].taught || t->leaving != counts[i].leaving ||
		    t->leaving_known != counts[i].leaving_known ||
		    t->values[VT_WHAT_RESULT] != counts[i].results ||
		    t->known[VT_WHAT_RESULT] != counts[i].known)
			fail_msg("%s", counts[i].stream);
	}
	run("A2>H", false, 0, &seen);
	assert_int_equal(seen.totals.stops[VT_STOP_PATH], 1);
}

/* What is captured of a long run is told in pieces of 512 instructions. */
static void test_pieces(void **state)
{
	static struct seen seen;
	char text[1101];

	(void)state;
	memset(text, '5', 1100);
	text[1100] = 0;
	run(text, false, 0, &seen);
	assert_int_equal(seen.runs, 3);
	assert_int_equal(seen.insns[0], 512);
	assert_int_equal(seen.insns[1], 512);
	assert_int_equal(seen.insns[2], 76);
	assert_true(seen.begins[0] && !seen.begins[1] && !seen.begins[2]);
	run("A B D", false, 0, &seen);
	assert_true(seen.begins[0] && !seen.begins[1] && !seen.begins[2]);
	run("AlB", false, 0, &seen);
	assert_true(seen.begins[0] && seen.begins[1]);
}

/* A run of a block that was not told of. */
static void test_unknown_block(void **state)
{
	const struct vt_interpret_options o = {.path = true};
	struct vt_images *images = vt_images_new(&(struct vt_images_options){.warn = NULL}, &err);
	struct vt_context *context = vt_context_new(images);
	struct maker m = {.pid = PID, .tid = PID};
	struct vt_record rec = {.kind = 0};
	struct vt_interpret *in;
	int fd = scratch_file();
	struct vt_reader *r;

	(void)state;
	m.w = start_stream(fd);
	put_stream(&m, "A");
	r = reread_stream(fd, m.w);
	in = vt_interpret_new(&o, context, NULL, NULL, &err);
	assert_non_null(in);
	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_int_equal(vt_interpret_feed(in, &rec, &err), -VT_E_FORMAT);
	vt_interpret_free(in);
	vt_context_free(context);
	vt_images_free(images);
	vt_reader_close(r);
	close(fd);
}

/* Who called the code at hand: instruction, address, caller. */
static void test_callers(void **state)
{
	static const struct {
		const char *stream;
		uint64_t caller;
		const char *callers;
	} told[] = {
		{"A1H", 0x5555, "0 1000 5555 2 1020 100a "},
		{"A1H", 0, "0 1000 0 2 1020 100a "},
		{"AB", 0x5555, "0 1000 5555 "},
		{"A1 H", 0, "0 1000 0 0 1020 100a "},
		{"A1lH", 0, "0 1000 0 0 1020 0 "},
		{"A1xH", 0, "0 1000 0 0 1020 0 "},
		{"A1HH", 0x5555, "0 1000 5555 2 1020 100a "},
		{"ABB", 0x5555, "0 1000 5555 "},
	};
	static struct seen seen;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		run(told[i].stream, true, told[i].caller, &seen);
		if (strcmp(seen.callers, told[i].callers) != 0)
			fail_msg("%s: \"%s\"", told[i].stream, seen.callers);
	}
	run("A1H", false, 0x5555, &seen);
	assert_string_equal(seen.callers, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),	      cmocka_unit_test(test_totals),
		cmocka_unit_test(test_pieces),	      cmocka_unit_test(test_callers),
		cmocka_unit_test(test_unknown_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
