/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that take their way by chance through these blocks: what is decoded
 * of their traces are the instructions that they executed, at the times of the
 * model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/tools/pt_engines.h"
#include "tests/unit/ptencoded.h"
#include "tests/unit/pttrace.h"

enum { A, B, C, D, F, I, E, J, K, G, H, M, L, R, S, NBLOCKS };

#define MEM	   0x1000
#define MEM_SIZE   0x400
#define MOST_CALLS 90
#define MOST_INSNS 40000

static const struct {
	uint16_t addr;
	const char *lengths;
	const void *code;
} blocks[NBLOCKS] = {
	[A] = {0x1000, "\1\2", "\x90\x74\x0d"},			  /* nop; je C */
	[B] = {0x1003, "\2", "\xff\xe0"},			  /* jmp *%rax: A, C, D, R */
	[C] = {0x1010, "\2", "\xeb\xee"},			  /* jmp A */
	[D] = {0x1020, "\5", "\xe8\xdb\0\0\0"},			  /* call E */
	[F] = {0x1025, "\1\2", "\x90\xff\xd0"},			  /* nop; call *%rax: E, G */
	[I] = {0x1028, "\1", "\xc3"},				  /* ret */
	[E] = {0x1100, "\2", "\x74\x02"},			  /* je K */
	[J] = {0x1102, "\1", "\xc3"},				  /* ret */
	[K] = {0x1104, "\1\1\5", "\x90\x90\xe9\x15\xff\xff\xff"}, /* nop; nop; jmp D */
	[G] = {0x1200, "\2", "\x0f\x05"},			  /* syscall */
	[H] = {0x1202, "\2", "\x75\x02"},			  /* jne L */
	[M] = {0x1204, "\2", "\xeb\0"},				  /* jmp L */
	[L] = {0x1206, "\1", "\xc3"},				  /* ret */
	[R] = {0x1300, "\2", "\xf3\xa4"},			  /* rep movsb */
	[S] = {0x1302, "\2", "\xff\xe0"},			  /* jmp *%rax: A */
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

static unsigned do_return(struct walker *w)
{
	unsigned to = w->ncalls ? w->calls[--w->ncalls] : A;

	/* Now and then somebody has changed the return address. */
	return vt_rng_below(&w->rng, 20) ? to : A;
}

static unsigned do_call(struct walker *w, unsigned to, unsigned back)
{
	w->calls[w->ncalls++] = back;
	return to;
}

static unsigned next_of(struct walker *w)
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

static uint64_t address_of(unsigned block, size_t insn)
{
	uint64_t ip = blocks[block].addr;
	size_t i;

	for (i = 0; i < insn; i++)
		ip += (uint8_t)blocks[block].lengths[i];
	return ip;
}

static void execute(struct walker *w, unsigned block, size_t from, size_t to, uint64_t *now)
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
static size_t put_walk(struct made *m, struct walker *w, size_t skip, uint64_t *now)
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
static void put_piece(struct made *m, struct walker *w, size_t *skip, size_t insns, uint64_t *now)
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

static void put_blocks(struct made *m)
{
	size_t i;

	for (i = 0; i < NBLOCKS; i++)
		put_block(m, i + 1, blocks[i].addr, blocks[i].lengths, blocks[i].code);
}

static void start_walker(struct walker *w, unsigned seed)
{
	memset(w, 0, sizeof(*w));
	vt_rng_init(&w->rng, seed);
}

/* ---- what a decoder makes of it ---- */

static struct vt_pt_code *code_of_blocks(void)
{
	static uint8_t bytes[MEM_SIZE];
	struct vt_pt_code *c = vt_pt_code_new();
	unsigned i;

	for (i = 0; i < NBLOCKS; i++) {
		size_t ninsns = strlen(blocks[i].lengths);
		uint64_t size = address_of(i, ninsns) - blocks[i].addr;

		memcpy(bytes + blocks[i].addr - MEM, blocks[i].code, size);
	}
	add_code(c, MEM, bytes, sizeof(bytes));
	return c;
}

/* The instruction behind the one at `ip`. */
static uint64_t next_insn(uint64_t ip)
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

static void compare_time(const struct mark *mark, uint64_t insns,
			 const struct vt_pt_encode_options *opt, uint64_t early, bool alone)
{
	uint64_t cycles = insns * opt->cpi / 1000000;
	uint64_t tsc = opt->start_tsc + cycles * opt->clock.nominal_ratio / opt->cbr;

	if (tsc - mark->tsc > early)
		fail_msg("%llu instead of %llu", (unsigned long long)mark->tsc,
			 (unsigned long long)tsc);
	if (alone)
		assert_int_equal(mark->cycles, opt->cyc ? cycles : 0);
}

/* How far marks of time may be before the model's, in ticks. */
static void compare_times(const struct walker *w, const struct result *r,
			  const struct vt_pt_encode_options *opt, uint64_t early, bool alone)
{
	size_t block, n = 0, mark = 0;

	for (block = 0; block < r->nblocks; block++) {
		/* The last one before the block counts: others say when it paused. */
		for (; mark < r->nmarks && r->marks[mark].at == block; mark++)
			;
		if (mark && r->marks[mark - 1].at == block)
			compare_time(&r->marks[mark - 1], w->when[n], opt, early, alone);
		n += r->blocks[block].insns;
	}
	assert_true(mark > 100);
}

static void compare_insns(const struct walker *w, const struct result *r)
{
	size_t block, n = 0;
	uint64_t ip;
	unsigned i;

	for (block = 0; block < r->nblocks; block++) {
		ip = r->blocks[block].addr;
		for (i = 0; i < r->blocks[block].insns; i++, n++) {
			assert_true(n < w->ninsns);
			if (w->insns[n] != ip)
				fail_msg("%zu: %x instead of %x", n, (unsigned)ip,
					 (unsigned)w->insns[n]);
			ip = next_insn(ip);
		}
	}
	/* At what comes after the end, nobody has been. */
	assert_int_equal(n, w->ninsns - w->held);
}

static void compare(const struct walker *w, const struct vt_buf *trace,
		    const struct vt_pt_encode_options *opt, uint64_t early, bool alone)
{
	struct vt_pt_options dec = {.clock = opt->clock};
	struct vt_pt_code *c = code_of_blocks();
	struct result r = {.insns = 0};

	run_engine(&vt_pt_fast, c, &dec, trace->data, trace->size, false, &r);
	compare_insns(w, &r);
	if (opt->tsc)
		compare_times(w, &r, opt, early, alone);
	free_result(&r);
	vt_pt_code_free(c);
}

static struct walker walkers[2];

static void go_there_and_back(const struct vt_pt_encode_options *opt, uint64_t early)
{
	struct walker *w = &walkers[0];
	uint64_t now = 0;
	size_t skip = 0;
	struct made m;

	begin(&m);
	put_blocks(&m);
	start_walker(w, 1);
	put_piece(&m, w, &skip, MOST_INSNS / 2, &now);
	encode(&m, opt);
	compare(w, &m.trace, opt, early, true);
	vt_buf_free(&m.trace);
}

/* Options, and what they leave open of when something was. */
static void test_round_trips(void **state)
{
	static const struct {
		struct vt_pt_encode_options opt;
		uint64_t early;
	} cases[] = {
		{{.psb_bytes = 4096, .tnt_bits = 6, .cbr = 32}, 0},
		{{.psb_bytes = 64, .tnt_bits = 6, .cbr = 32, .cr3 = 0x1000}, 0},
		{{.psb_bytes = 64, .tnt_bits = 6, .cbr = 32, .no_retcomp = true}, 0},
		{{.psb_bytes = 512, .tnt_bits = 47, .cbr = 32}, 0},
		{{.psb_bytes = 512, .tnt_bits = 7, .cbr = 32}, 0},
		/* Each decision has its time. */
		{{.psb_bytes = 64, .tnt_bits = 1, .cbr = 32, .tsc = true, .cyc = true}, 0},
		{{.psb_bytes = 64, .tnt_bits = 1, .cbr = 16, .tsc = true, .cyc = true}, 0},
		{{.psb_bytes = 64, .tnt_bits = 1, .cbr = 32, .tsc = true, .mtc = true, .cyc = true},
		 0},
		/* A packet of decisions comes with the time of the first. */
		{{.psb_bytes = 200, .tnt_bits = 6, .cbr = 32, .tsc = true, .cyc = true}, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_pt_encode_options opt = cases[i].opt;

		opt.cpi = 1000000;
		opt.start_tsc = 12345;
		opt.clock = vt_pt_encode_defaults.clock;
		go_there_and_back(&opt, cases[i].early);
	}
}

/* Clocks that do not go evenly: cycles are those of the model all the same. */
static void test_clocks(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;

	(void)state;
	opt.psb_bytes = 64;
	opt.tnt_bits = 1;
	opt.tsc = opt.mtc = opt.cyc = true;
	opt.cbr = 16;
	opt.cpi = 3000000;
	opt.clock.mtc_period = 0;
	opt.clock.ctc_numerator = 3;
	/* A mark comes no later than the next tick is due, which is before the next
	 * branch. */
	go_there_and_back(&opt, 6);
	opt.cyc = false;
	go_there_and_back(&opt, 1);
	/* The TSC alone, in each PSB+. */
	opt.mtc = false;
	go_there_and_back(&opt, 30);
	opt.mtc = opt.cyc = true;
	opt.cpi = 700000;
	go_there_and_back(&opt, 1);
}

static bool ends_in(const struct walker *w, unsigned block)
{
	return w->insns[w->ninsns - 1] == blocks[block].addr;
}

static void go_in_turns(const struct vt_pt_encode_options *opt, unsigned turns)
{
	uint64_t now = 0;
	size_t skip[2] = {0}, i;
	struct made m;

	begin(&m);
	put_blocks(&m);
	start_walker(&walkers[0], 1);
	start_walker(&walkers[1], 2);
	for (i = 0; i < 200; i++) {
		struct walker *w = &walkers[i & 1];

		m.tid = PID + (int64_t)(i & 1);
		put_piece(&m, w, &skip[i & 1], 100, &now);
		if (turns & IDLE)
			now += IDLE_INSNS;
		w->held = turns & PAUSE && !w->off && !skip[i & 1] && !ends_in(w, R) &&
			  !ends_in(w, G);
	}
	/* The second one is not interrupted any more. */
	walkers[1].held = false;
	encode_turns(&m, opt, turns);
	compare(&walkers[0], &m.trace, opt, 0, false);
	compare(&walkers[1], &m.other, opt, 0, false);
	assert_int_equal(m.sum.insns, walkers[0].ninsns + walkers[1].ninsns);
	assert_int_equal(m.sum.threads, 2);
	/* Nobody was idle behind the last piece. */
	now -= turns & IDLE ? IDLE_INSNS : 0;
	assert_int_equal(m.now, opt->tsc ? opt->start_tsc + now : 0);
	vt_buf_free(&m.trace);
	vt_buf_free(&m.other);
}

static void test_turns(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;

	(void)state;
	opt.tnt_bits = 1;
	go_in_turns(&opt, NO_TURNS);
	go_in_turns(&opt, PAUSE);
	opt.tsc = opt.cyc = true;
	go_in_turns(&opt, NO_TURNS);
	go_in_turns(&opt, PAUSE);
	go_in_turns(&opt, PAUSE | IDLE);
	go_in_turns(&opt, PAUSE | SYNC);
	go_in_turns(&opt, IDLE);
}

/* Is what was decoded from block `from` up to `to` a piece of what was
 * executed, from *at on? */
static void find_piece(const struct walker *w, const struct result *r, size_t from, size_t to,
		       size_t *at)
{
	static uint64_t piece[MOST_INSNS];
	size_t n = 0;
	unsigned i;

	for (; from < to; from++) {
		uint64_t ip = r->blocks[from].addr;

		for (i = 0; i < r->blocks[from].insns; i++, ip = next_insn(ip)) {
			assert_true(n < MOST_INSNS);
			piece[n++] = ip;
		}
	}
	while (*at + n <= w->ninsns && memcmp(w->insns + *at, piece, n * sizeof(*piece)) != 0)
		++*at;
	assert_true(*at + n <= w->ninsns);
	*at += n;
}

/* What overflows leave are pieces of what was executed, and each is told. */
static void test_overflows(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	const struct vt_pt_options dec = {.clock = opt.clock};
	struct vt_pt_code *c = code_of_blocks();
	size_t skip = 0, i, from = 0, at = 0, overflows = 0;
	struct result r = {.insns = 0};
	uint64_t now = 0;
	struct made m;

	(void)state;
	opt.overflow = 300;
	opt.psb_bytes = 256;
	begin(&m);
	put_blocks(&m);
	start_walker(&walkers[0], 1);
	put_piece(&m, &walkers[0], &skip, MOST_INSNS / 2, &now);
	encode(&m, &opt);
	run_engine(&vt_pt_fast, c, &dec, m.trace.data, m.trace.size, false, &r);
	for (i = 0; i < r.nnotes; i++) {
		assert_int_not_equal(r.notes[i].note.type, VT_PT_NOTE_ERROR);
		if (r.notes[i].note.type != VT_PT_NOTE_OVERFLOW)
			continue;
		find_piece(&walkers[0], &r, from, r.notes[i].at, &at);
		from = r.notes[i].at;
		overflows++;
	}
	find_piece(&walkers[0], &r, from, r.nblocks, &at);
	assert_true(overflows > 5);
	assert_int_equal(overflows, m.sum.overflows);
	assert_true(r.insns > walkers[0].ninsns / 4 && r.insns < walkers[0].ninsns);
	free_result(&r);
	vt_buf_free(&m.trace);
	vt_pt_code_free(c);
}

/* Damage is in as many bytes as are told, about so many apart. */
static void test_damage(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	struct made m[2];
	size_t i, different = 0, places = 0, last = 0;

	(void)state;
	for (i = 0; i < 2; i++) {
		uint64_t now = 0;
		size_t skip = 0;

		opt.damage = i ? 60 : 0;
		begin(&m[i]);
		put_blocks(&m[i]);
		start_walker(&walkers[0], 1);
		put_piece(&m[i], &walkers[0], &skip, MOST_INSNS / 2, &now);
		encode(&m[i], &opt);
	}
	assert_int_equal(m[0].sum.damaged, 0);
	assert_int_equal(m[0].trace.size, m[1].trace.size);
	for (i = 0; i < m[0].trace.size; i++) {
		if (m[0].trace.data[i] == m[1].trace.data[i])
			continue;
		/* 16 bytes at most from a place, 31 to 90 from one to the next. */
		if (!places || i - last > 15) {
			assert_in_range(i - last, places ? 31 : 0, 90);
			last = i;
			places++;
		}
		different++;
	}
	assert_int_equal(m[1].sum.damaged, different);
	assert_in_range(m[0].trace.size - last, 0, 90);
	vt_buf_free(&m[0].trace);
	vt_buf_free(&m[1].trace);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips), cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_turns),	    cmocka_unit_test(test_overflows),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
