/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_PTWALKER_H
#define TESTS_UNIT_COMMON_PTWALKER_H

/*
 * Programs that take their way by chance through a few blocks, as streams of what they executed.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "tests/unit/common/ptencoded.h"
#include "tests/unit/common/pttrace.h"

enum { A, B, C, D, F, I, E, J, K, G, H, M, L, R, S, NBLOCKS };

#define MEM	   0x401000
#define MEM_SIZE   0x400
#define MOST_CALLS 90
#define MOST_INSNS 40000

static const struct {
	uint32_t addr;
	const char *lengths;
	const void *code;
} blocks[NBLOCKS] = {
	[A] = {0x401000, "\1\2", "\x90\x74\x0d"},		    /* nop; je C */
	[B] = {0x401003, "\2", "\xff\xe0"},			    /* jmp *%rax: A, C, D, R */
	[C] = {0x401010, "\2", "\xeb\xee"},			    /* jmp A */
	[D] = {0x401020, "\5", "\xe8\xdb\0\0\0"},		    /* call E */
	[F] = {0x401025, "\1\2", "\x90\xff\xd0"},		    /* nop; call *%rax: E, G */
	[I] = {0x401028, "\1", "\xc3"},				    /* ret */
	[E] = {0x401100, "\2", "\x74\x02"},			    /* je K */
	[J] = {0x401102, "\1", "\xc3"},				    /* ret */
	[K] = {0x401104, "\1\1\5", "\x90\x90\xe9\x15\xff\xff\xff"}, /* nop; nop; jmp D */
	[G] = {0x401200, "\2", "\x0f\x05"},			    /* syscall */
	[H] = {0x401202, "\2", "\x75\x02"},			    /* jne L */
	[M] = {0x401204, "\2", "\xeb\0"},			    /* jmp L */
	[L] = {0x401206, "\1", "\xc3"},				    /* ret */
	[R] = {0x401300, "\2", "\xf3\xa4"},			    /* rep movsb */
	[S] = {0x401302, "\2", "\xff\xe0"},			    /* jmp *%rax: A */
};

struct walker {
	struct vt_rng rng;
	unsigned at;
	unsigned calls[MOST_CALLS];
	unsigned ncalls;
	/* What it has executed: addresses of instructions, a repeated one once. */
	uint64_t insns[MOST_INSNS];
	uint64_t when[MOST_INSNS]; /* after so many of all threads */
	size_t ninsns;
	bool off;  /* by a signal */
	bool held; /* its last instruction, at which it was interrupted, comes with
		      the next */
};

static inline unsigned do_return(struct walker *w)
{
	unsigned to = w->ncalls ? w->calls[--w->ncalls] : A;

	/* Now and then somebody has changed the return address. */
	return vt_rng_below(&w->rng, 20) ? to : A;
}

static inline unsigned do_call(struct walker *w, unsigned to, unsigned back)
{
	w->calls[w->ncalls++] = back;
	return to;
}

static inline unsigned next_of(struct walker *w)
{
	static const unsigned from_b[] = {A, C, D, D, D, D, R};
	const bool coin = vt_rng_below(&w->rng, 2);

	switch (w->at) {
	case A:
		return coin ? C : B;
	case B:
		return w->ncalls < MOST_CALLS - 1 ? from_b[vt_rng_below(&w->rng, 7)] : A;
	case D:
		return do_call(w, E, F);
	case F:
		return do_call(w, coin ? E : G, I);
	case E:
		return w->ncalls < MOST_CALLS - 1 && vt_rng_below(&w->rng, 10) < 7 ? K : J;
	case K:
		return D;
	case G:
		return H;
	case H:
		return coin ? L : M;
	case M:
		return L;
	case R:
		return coin ? R : S;
	case I:
	case J:
	case L:
		return do_return(w);
	default: /* C, S */
		return A;
	}
}

static inline uint64_t address_of(unsigned block, size_t insn)
{
	uint64_t ip = blocks[block].addr;
	size_t i;

	for (i = 0; i < insn; i++)
		ip += (uint8_t)blocks[block].lengths[i];
	return ip;
}

static inline void execute(struct walker *w, unsigned block, size_t from, size_t to, uint64_t *now)
{
	if (w->held)
		w->when[w->ninsns - 1] = *now;
	w->held = w->off = false;
	for (; from < to; from++) {
		assert_true(w->ninsns < MOST_INSNS);
		w->when[w->ninsns] = (*now)++;
		w->insns[w->ninsns++] = address_of(block, from);
	}
}

/* An EXEC record of some blocks; `skip` instructions of the first were in the
 * one before. */
static inline size_t put_walk(struct made *m, struct walker *w, size_t skip, uint64_t *now)
{
	size_t n = 1 + vt_rng_below(&w->rng, 40), i, last = 0, before = skip;
	uint64_t insns = 0;
	uint16_t ids[40];

	for (i = 0; i < n; i++, before = 0) {
		last = strlen(blocks[w->at].lengths);
		if (i == n - 1 && vt_rng_below(&w->rng, 2) && last > before + 1)
			last--;
		ids[i] = (uint16_t)(w->at + 1);
		insns += last - before;
		if (w->at != R || !w->ninsns || w->insns[w->ninsns - 1] != blocks[R].addr)
			execute(w, w->at, before, last, now);
		if (blocks[w->at].lengths[last])
			break;
		w->at = next_of(w);
		last = 0;
	}
	put_exec(m, ids, i < n ? i + 1 : n, insns, skip);
	return last;
}

/* Several records, and now and then a signal. */
static inline void put_piece(struct made *m, struct walker *w, size_t *skip, size_t insns,
			     uint64_t *now)
{
	size_t until = w->ninsns + insns;

	while (w->ninsns < until) {
		*skip = put_walk(m, w, *skip, now);
		if (vt_rng_below(&w->rng, 20) || w->at == R)
			continue;
		put_signal(m, address_of(w->at, *skip), blocks[A].addr);
		w->at = A;
		w->off = true;
		*skip = 0;
	}
}

static inline void put_blocks(struct made *m)
{
	size_t i;

	for (i = 0; i < NBLOCKS; i++)
		put_block(m, i + 1, blocks[i].addr, blocks[i].lengths, blocks[i].code);
}

static inline void start_walker(struct walker *w, unsigned seed)
{
	memset(w, 0, sizeof(*w));
	vt_rng_init(&w->rng, seed);
}

/* The code of all blocks, from MEM on. */
static inline void fill_code(uint8_t bytes[MEM_SIZE])
{
	unsigned i;

	memset(bytes, 0, MEM_SIZE);
	for (i = 0; i < NBLOCKS; i++) {
		size_t ninsns = strlen(blocks[i].lengths);
		uint64_t size = address_of(i, ninsns) - blocks[i].addr;

		memcpy(bytes + blocks[i].addr - MEM, blocks[i].code, size);
	}
}

static inline struct vt_pt_code *code_of_blocks(void)
{
	static uint8_t bytes[MEM_SIZE];
	struct vt_pt_code *c = vt_pt_code_new();

	fill_code(bytes);
	add_code(c, MEM, bytes, sizeof(bytes));
	return c;
}

/* The instruction behind the one at `ip`. */
static inline uint64_t next_insn(uint64_t ip)
{
	unsigned block;
	size_t i;

	for (block = 0; block < NBLOCKS; block++)
		for (i = 0; blocks[block].lengths[i]; i++)
			if (address_of(block, i) == ip)
				return address_of(block, i + 1);
	fail_msg("no instruction at %x", (unsigned)ip);
	return 0;
}

#endif
