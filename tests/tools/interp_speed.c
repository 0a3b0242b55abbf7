/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: interp_speed loops | interp_speed replay NAME STREAM
 *
 * How fast the interpreter is, in processor time; the best of several rounds counts. `loops' runs
 * small loops with everything known, first without captures, then with those that vinterp asks for,
 * and short runs as vinterp makes them from samples. `replay' follows what `vtrace record --full'
 * recorded of a program, its loads answered from the recording; lifting counts, and what reading
 * the recording alone takes does not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/hash.h"
#include "machine/interp/interp.h"
#include "stream/exec.h"
#include "stream/reader.h"

#define CAPTURE                                                                                    \
	(1u << VT_WHAT_LOAD | 1u << VT_WHAT_STORE | 1u << VT_WHAT_RESULT | 1u << VT_WHAT_ARG |     \
	 1u << VT_WHAT_TARGET)

static _Noreturn void fail(const char *text)
{
	fprintf(stderr, "interp_speed: %s\n", text);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- loops ---- */

/* They run on and on; rsi, rdi and rbx point to 4 KB each, and rcx counts. */
__asm__(".pushsection .rodata\n"
	"loop_code:\n"
	"loop_integers:\n"
	"1: add %rcx,%rax\n"
	"lea 7(%rax,%rcx,2),%rdx\n"
	"shr $3,%rdx\n"
	"xor %rdx,%rax\n"
	"dec %rcx\n"
	"jne 1b\n"
	"ud2\n"
	"loop_copy:\n"
	"1: mov %ecx,%edx\n"
	"and $511,%edx\n"
	"mov (%rsi,%rdx,8),%rax\n"
	"mov %rax,(%rdi,%rdx,8)\n"
	"dec %rcx\n"
	"jne 1b\n"
	"ud2\n"
	"loop_bytes:\n"
	"1: movzwl %cx,%edx\n"
	"and $4095,%edx\n"
	"movzbl (%rsi,%rdx),%edx\n"
	"xor %eax,%edx\n"
	"movzbl %dl,%edx\n"
	"shr $8,%eax\n"
	"xor (%rbx,%rdx,4),%eax\n"
	"sub $1,%rcx\n"
	"jne 1b\n"
	"ud2\n"
	"loop_vectors:\n"
	"1: mov %ecx,%edx\n"
	"and $4080,%edx\n"
	"movdqu (%rsi,%rdx),%xmm1\n"
	"paddd %xmm1,%xmm0\n"
	"pxor %xmm0,%xmm1\n"
	"movdqa %xmm1,(%rdi,%rdx)\n"
	"dec %rcx\n"
	"jne 1b\n"
	"ud2\n"
	"loop_floats:\n"
	"1: mov %ecx,%edx\n"
	"and $511,%edx\n"
	"cvtsi2sd %edx,%xmm1\n"
	"mulsd %xmm1,%xmm1\n"
	"addsd %xmm1,%xmm0\n"
	"movsd %xmm0,(%rdi,%rdx,8)\n"
	"dec %rcx\n"
	"jne 1b\n"
	"ud2\n"
	"loop_calls:\n"
	"1: push %rcx\n"
	"mov %rcx,%rdi\n"
	"call 2f\n"
	"add %rax,%rdx\n"
	"pop %rcx\n"
	"dec %rcx\n"
	"jne 1b\n"
	"ud2\n"
	"2: lea 1(%rdi,%rdi),%rax\n"
	"cmp $100,%rdi\n"
	"jbe 3f\n"
	"sub $50,%rax\n"
	"3: ret\n"
	"loop_end:\n"
	".popsection\n");
extern const uint8_t loop_code[], loop_end[];
extern const uint8_t loop_integers[], loop_copy[], loop_bytes[], loop_vectors[], loop_floats[],
	loop_calls[];

#define DATA  0x10000000u
#define STACK 0x20000000u

static size_t fetch_loop(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	size_t at = addr - (uintptr_t)loop_code, all = (size_t)(loop_end - loop_code);

	(void)arg;
	(void)space;
	if (at >= all)
		return 0;
	size = size < all - at ? size : all - at;
	memcpy(bytes, loop_code + at, size);
	return size;
}

/* Everything is known. */
static uint64_t fill(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE], bool lasting)
{
	unsigned i;

	(void)arg;
	(void)lasting;
	for (i = 0; i < VT_KNOWN_LINE; i++)
		bytes[i] = (uint8_t)((addr + i) * 167 >> 3);
	return ~UINT64_C(0);
}

static void set(struct vt_interp *m, unsigned reg, uint64_t value)
{
	vt_interp_set(m, reg, 0, vt_word_of(value));
}

static void set_all(struct vt_interp *m, const uint8_t *code)
{
	unsigned i;

	for (i = 0; i < 8; i++)
		set(m, VT_REG_R8 + i, i);
	set(m, VT_REG_AX, 1);
	set(m, VT_REG_BX, DATA + 8192);
	set(m, VT_REG_CX, UINT64_C(1) << 40);
	set(m, VT_REG_DX, 0);
	set(m, VT_REG_SI, DATA);
	set(m, VT_REG_DI, DATA + 4096);
	set(m, VT_REG_BP, STACK);
	set(m, VT_REG_SP, STACK);
	set(m, VT_REG_FLAGS, 0x202);
	set(m, VT_REG_IP, (uintptr_t)code);
	vt_interp_set(m, VT_REG_VECTOR, 0, vt_word_of(0));
	vt_interp_set(m, VT_REG_VECTOR, 1, vt_word_of(0));
	vt_interp_set_mxcsr(m, 0x1f80);
}

static struct vt_interp *new_machine(struct vt_known_memory **mem, uint32_t capture)
{
	struct vt_interp_options opt = {.fetch = fetch_loop, .capture = capture};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_interp *m;

	*mem = vt_known_memory_new(fill, NULL, 1 << 24);
	m = *mem ? vt_interp_new(&opt, *mem, &err) : NULL;
	if (!m)
		fail("out of memory");
	return m;
}

static void go(struct vt_interp *m, uint64_t insns)
{
	struct vt_error err = VT_ERROR_INIT;
	enum vt_stop stop;
	uint64_t done;

	stop = vt_interp_run(m, 1, insns, &done, &err);
	if (stop != VT_STOP_LENGTH || done != insns)
		fail(vt_stop_name(stop));
	vt_interp_clear(m);
}

/* Short ones, of which some have the processor to themselves. */
#define ROUNDS 150
#define PIECE  5040 /* instructions, whole turns, after which the captures are looked at */

/* Million instructions a second. */
static double time_loop(const uint8_t *code, uint32_t capture)
{
	struct vt_known_memory *mem;
	struct vt_interp *m = new_machine(&mem, capture);
	unsigned round, i;
	double best = 0;

	set_all(m, code);
	go(m, PIECE);
	for (round = 0; round < ROUNDS; round++) {
		double start = now(), speed;

		for (i = 0; i < 20; i++)
			go(m, PIECE);
		speed = 20.0 * PIECE / (now() - start) * 1e-6;
		best = speed > best ? speed : best;
	}
	vt_interp_free(m);
	vt_known_memory_free(mem);
	return best;
}

/* Nanoseconds for a run of so many instructions, as it is made for a sample. */
static double time_run(const uint8_t *code, uint64_t insns)
{
	struct vt_known_memory *mem;
	struct vt_interp *m = new_machine(&mem, CAPTURE);
	unsigned round, i;
	double best = 0;

	for (round = 0; round < ROUNDS; round++) {
		double start = now(), took;

		for (i = 0; i < 1000; i++) {
			vt_known_memory_reset(mem);
			vt_interp_forget(m);
			set_all(m, code);
			go(m, insns);
		}
		took = (now() - start) / 1000 * 1e9;
		best = !round || took < best ? took : best;
	}
	vt_interp_free(m);
	vt_known_memory_free(mem);
	return best;
}

static void loops(void)
{
	static const struct {
		const char *name;
		const uint8_t *code;
	} all[] = {
		{"integers", loop_integers}, {"copy", loop_copy},     {"bytes, table", loop_bytes},
		{"vectors", loop_vectors},   {"floats", loop_floats}, {"calls", loop_calls},
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		printf("interp loop %-14s %6.1f million instructions a second (aim: 100), with "
		       "captures %6.1f; a run of 16: %.0f ns\n",
		       all[i].name, time_loop(all[i].code, 0), time_loop(all[i].code, CAPTURE),
		       time_run(all[i].code, 16));
}

/* ---- replay ---- */

#define PAGE 4096

struct code_page {
	uint64_t number;
	uint8_t present[PAGE];
	uint8_t bytes[PAGE];
};

struct replay {
	struct vt_bblocks *dict;
	struct vt_hash pages;
	struct vt_known_memory *mem;
	struct vt_interp *m; /* NULL: only read */
	const struct vt_step *step;
	uint32_t slot; /* of the step: the loads before it were asked for */
	uint64_t insns;
	uint64_t pieces;
	uint64_t stops[VT_NSTOPS];
};

static void keep_code(struct replay *r, const struct vt_bblock *b)
{
	uint64_t addr = b->addr;
	uint32_t i;

	for (i = 0; b->code && i < b->size; i++, addr++) {
		uint64_t number = addr / PAGE;
		struct code_page *p = vt_hash_add(&r->pages, &number, NULL);

		if (!p)
			fail("out of memory");
		p->bytes[addr % PAGE] = b->code[i];
		p->present[addr % PAGE] = 1;
	}
}

static size_t fetch_page(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	struct replay *r = arg;
	const struct code_page *p = NULL;
	size_t i;

	(void)space;
	for (i = 0; i < size; i++, addr++) {
		uint64_t number = addr / PAGE;

		if (!p || p->number != number)
			p = vt_hash_find(&r->pages, &number);
		if (!p || !p->present[addr % PAGE])
			break;
		bytes[i] = p->bytes[addr % PAGE];
	}
	return i;
}

/* The next load of the instruction that has that size. */
static void answer(void *arg, uint32_t insn, struct vt_word addr, unsigned size,
		   struct vt_word *words)
{
	struct replay *r = arg;
	const struct vt_step *s = r->step;
	uint32_t i;

	(void)addr;
	insn += s->insn;
	while (r->slot < s->slot_end && s->block->slots[r->slot].insn < insn)
		r->slot++;
	for (i = r->slot; i < s->slot_end && s->block->slots[i].insn == insn; i++) {
		const struct vt_slot *slot = &s->block->slots[i];
		unsigned lane;

		if (slot->what != VT_WHAT_LOAD || slot->size != size)
			continue;
		for (lane = 0; lane < (size + 7) / 8; lane++)
			words[lane] = vt_word_of(vt_step_value(s, i, lane));
		r->slot = i + 1;
		return;
	}
}

static void on_state(struct replay *r, const struct vt_record *rec)
{
	struct vt_words regs = vt_record_words(rec, VT_STATE_REGS);
	struct vt_bytes vector = vt_record_bytes(rec, VT_STATE_VECTOR);
	unsigned reg, lane;

	if (!r->m)
		return;
	vt_interp_forget(r->m);
	for (reg = 0; reg < regs.count; reg++)
		if (reg != VT_REG_IP)
			set(r->m, reg, regs.data[reg]);
	for (reg = 0; reg < vector.size / 32; reg++)
		for (lane = 0; lane < 4; lane++)
			vt_interp_set(r->m, VT_REG_VECTOR + reg, lane,
				      vt_word_of(vt_le64(vector.data + 32 * reg + 8 * lane)));
	if (regs.count)
		vt_interp_set_mxcsr(r->m, (uint32_t)vt_record_u64(rec, VT_STATE_MXCSR));
}

static void follow(struct replay *r, const struct vt_step *step, const struct vt_step *then)
{
	struct vt_error err = VT_ERROR_INIT;
	enum vt_stop stop;

	r->pieces++;
	r->insns += step->insn_end - step->insn;
	if (!r->m)
		return;
	r->step = step;
	r->slot = step->slot;
	stop = vt_interp_follow(r->m, 1, vt_bblock_insn_addr(step->block, step->insn),
				step->insn_end - step->insn,
				then ? vt_bblock_insn_addr(then->block, then->insn) : 0, &err);
	r->step = NULL;
	r->stops[stop]++;
	vt_interp_clear(r->m);
}

static void on_exec(struct replay *r, const struct vt_record *rec)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_step steps[2];
	struct vt_exec x;
	unsigned at = 0;
	int more;

	if (vt_exec_open(&x, r->dict, rec, &err) < 0)
		fail(err.text);
	more = vt_exec_next(&x, &steps[0], &err);
	while (more > 0) {
		more = vt_exec_next(&x, &steps[!at], &err);
		follow(r, &steps[at], more > 0 ? &steps[!at] : NULL);
		at = !at;
	}
	if (more < 0)
		fail(err.text);
}

/* The first pass finds the code, the others run it or only read it; seconds. */
static double pass(struct replay *r, const char *path, bool runs)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *in = vt_reader_open(path, &err);
	struct vt_record rec;
	double start = now();

	r->dict = vt_bblocks_new();
	if (!in || !r->dict)
		fail(in ? "out of memory" : err.text);
	while (vt_reader_next(in, &rec, &err) > 0) {
		if (rec.kind == VT_BLOCK && vt_bblocks_add(r->dict, &rec, &err) < 0)
			fail(err.text);
		if (rec.kind == VT_BLOCK && !runs)
			keep_code(r, vt_bblocks_get(r->dict, vt_record_u64(&rec, VT_BLOCK_ID)));
		else if (rec.kind == VT_EXEC && runs)
			on_exec(r, &rec);
		else if (rec.kind == VT_STATE && runs)
			on_state(r, &rec);
	}
	if (err.code != VT_OK)
		fail(err.text);
	vt_reader_close(in);
	vt_bblocks_free(r->dict);
	return now() - start;
}

static void time_replay(const char *path, const char *name, uint32_t capture)
{
	struct replay r = {.insns = 0};
	struct vt_interp_options opt = {
		.fetch = fetch_page,
		.fetch_arg = &r,
		.capture = capture,
		.valgrind = true,
		.hooks = {.arg = &r, .load = answer},
	};
	struct vt_error err = VT_ERROR_INIT;
	uint64_t blocks, unlifted;
	double reading, all;

	vt_hash_init(&r.pages, sizeof(struct code_page), sizeof(uint64_t));
	pass(&r, path, false);
	reading = pass(&r, path, true);
	r.insns = r.pieces = 0;
	r.mem = vt_known_memory_new(NULL, NULL, (size_t)1 << 30);
	r.m = r.mem ? vt_interp_new(&opt, r.mem, &err) : NULL;
	if (!r.m)
		fail("out of memory");
	all = pass(&r, path, true);
	vt_interp_lifted(r.m, &blocks, &unlifted);
	printf("interp replay %-17s %6.1f million instructions a second (aim: 30), %6.1f with "
	       "reading; "
	       "%.1f million in %" PRIu64 " pieces, %" PRIu64 " blocks lifted\n",
	       name, (double)r.insns / (all - reading) * 1e-6, (double)r.insns / all * 1e-6,
	       (double)r.insns * 1e-6, r.pieces, blocks);
	if (r.stops[VT_STOP_LENGTH] != r.pieces)
		printf("interp replay %s: %" PRIu64 " pieces did not run, %" PRIu64 " contradict\n",
		       name, r.pieces - r.stops[VT_STOP_LENGTH], r.stops[VT_STOP_PATH]);
	vt_interp_free(r.m);
	vt_known_memory_free(r.mem);
	vt_hash_fini(&r.pages);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "loops")) {
		loops();
	} else if (argc == 4 && !strcmp(argv[1], "replay")) {
		char text[64];

		time_replay(argv[3], argv[2], 0);
		snprintf(text, sizeof(text), "%s, captures", argv[2]);
		time_replay(argv[3], text, CAPTURE);
	} else {
		fprintf(stderr, "usage: interp_speed loops | interp_speed replay NAME STREAM\n");
		return 2;
	}
	return 0;
}
