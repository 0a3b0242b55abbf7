/* SPDX-License-Identifier: GPL-3.0-or-later */
/* REGION records of a graph made by hand, written and read back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "freq/profile.h"
#include "freq/region_records.h"
#include "tests/unit/common/procs.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/freq/freqgraph.h"

static struct vt_error err;

/* Of the procedure that the graph is, in a program whose text begins 64 bytes before. */
#define START 0x401040

/*
 * entry -> 2 -> 3; 3 -> 3 or 4 -> exit: a loop of block 3, which goes round 1,000 times in one
 * visit.  Blocks lie one behind the other, 16 bytes each, of one instruction of one cycle.
 */
struct nest {
	struct graph g;
	struct vt_mop ops[MAX_INSNS];
	struct vt_freq_value insns[MAX_INSNS];
	struct vt_freq_value edges[MAX_EDGES];
	struct vt_freqs freqs;
	struct vt_region_source source;
};

static void begin(struct nest *s)
{
	uint32_t i;

	memset(s, 0, sizeof(*s));
	graph_begin(&s->g);
	graph_edge(&s->g, VT_CFG_ENTRY, 2);
	graph_edge(&s->g, 2, 3);
	graph_edge(&s->g, 3, 3);
	graph_edge(&s->g, 3, 4);
	graph_edge(&s->g, 4, VT_CFG_EXIT);
	for (i = 2; i < 5; i++) {
		graph_insn(&s->g, i, 1, 100, 0);
		s->ops[i - 2].slots = 1;
	}
	graph_finish(&s->g, 5);
	for (i = 2; i < 5; i++) {
		s->g.blocks[i].start = START + 16 * (i - 2);
		s->g.blocks[i].end = START + 16 * (i - 1);
	}
	s->g.cfg.start = s->g.flow.proc.start = START;
	s->g.flow.proc.image = 7;
	s->g.flow.ops = s->ops;
	s->g.core = (struct vt_core){.rob = 100, .retire = 4};
	for (i = 0; i < 3; i++) {
		double n = i == 1 ? 1000 : 1;

		s->insns[i] = (struct vt_freq_value){.executions = n, .low = n, .high = n};
		s->g.cycles[i] = 2 * n;
	}
	for (i = 0; i < 5; i++)
		s->edges[i].executions = i == 2 ? 999 : 1;
	s->g.samples[1] = 10000;
	s->freqs = (struct vt_freqs){.insn = s->insns, .edge = s->edges};
	s->source = (struct vt_region_source){.core = &s->g.core,
					      .flow = &s->g.flow,
					      .freqs = &s->freqs,
					      .samples = s->g.samples,
					      .cycles = s->g.cycles,
					      .offset = 0x500,
					      .event = 3};
}

/* The same, entered `times` as often; each time takes as long. */
static void repeat_nest(struct nest *s, double times)
{
	uint32_t i;

	for (i = 0; i < 3; i++) {
		s->insns[i].executions *= times;
		s->insns[i].low = s->insns[i].high = s->insns[i].executions;
		s->g.cycles[i] *= times;
	}
	for (i = 0; i < 5; i++)
		s->edges[i].executions *= times;
}

/* What the records of one or two procedures are read as. */
static struct vt_freqprofile *write_and_read(const struct vt_region_source *first,
					     const struct vt_region_source *second)
{
	struct vt_freqprofile *p = vt_freqprofile_new();
	struct vt_regionlist l = {.count = 0};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;

	assert_non_null(p);
	assert_int_equal(vt_regionlist_add(&l, first, &err), 0);
	if (second)
		assert_int_equal(vt_regionlist_add(&l, second, &err), 0);
	assert_int_equal(vt_regionlist_write(&l, w, &err), 0);
	vt_regionlist_fini(&l);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_freqprofile_feed(p, rec.block, rec.row, 1, &err), 0);
	vt_reader_close(r);
	close(fd);
	vt_freqprofile_finish(p);
	return p;
}

/*
 * The loop: 2 cycles a round by 10,000 samples, 1.645 % for chance, and 4 cycles at the borders of
 * one visit.  What is around it has two pieces, and is executed once.
 */
static void test_loop_and_around(void **state)
{
	double half = sqrt(pow(1.645 / 100, 2) + pow(4 / 2000.0, 2));
	const struct vt_regionfreq *r;
	struct vt_freqprofile *p;
	struct nest s;
	size_t n;

	(void)state;
	begin(&s);
	p = write_and_read(&s.source, NULL);
	r = vt_freqprofile_regions(p, 7, 0, UINT64_MAX, &n);
	assert_int_equal(n, 2);
	assert_true(r[0].offset == 0x500 && r[0].event == 3 && r[0].samples == 200);
	assert_int_equal(r[0].nranges, 4);
	assert_true(r[0].ranges[0] == 0x500 && r[0].ranges[1] == 0x510);
	assert_true(r[0].ranges[2] == 0x520 && r[0].ranges[3] == 0x530);
	assert_int_equal(r[0].flags, VT_REGION_OVERLAPS | VT_REGION_IS_WIDE);
	assert_true(nearly_equal(r[0].rounds, 1) && nearly_equal(r[0].insns, 2));
	assert_true(r[1].offset == 0x510 && r[1].samples == 10000);
	assert_int_equal(r[1].flags, VT_REGION_IS_LOOP);
	assert_int_equal(r[1].nranges, 2);
	assert_true(r[1].ranges[0] == 0x510 && r[1].ranges[1] == 0x520);
	assert_true(nearly_equal(r[1].rounds, 1000) && nearly_equal(r[1].visits, 1));
	assert_true(nearly_equal(r[1].insns, 1) && nearly_equal(r[1].cycles, 2));
	assert_true(nearly_equal(r[1].low, 2 * (1 - half)));
	assert_true(nearly_equal(r[1].high, 2 * (1 + half)));
	assert_true(nearly_equal(r[1].best, 1) && nearly_equal(r[1].least, 0.9));
	vt_freqprofile_free(p);
}

/* The limit above is two deviations away: 4 % of doubt, 1.645 times as much for 90 %. */
static void test_doubtful_counts(void **state)
{
	double half = sqrt(pow(1.645 / 100, 2) + pow(4 / 2000.0, 2) + pow(1.645 * 0.04, 2));
	const struct vt_regionfreq *r;
	struct vt_freqprofile *p;
	struct nest s;
	size_t n;

	(void)state;
	begin(&s);
	s.insns[1].low = 920;
	s.insns[1].high = 1080;
	p = write_and_read(&s.source, NULL);
	r = vt_freqprofile_regions(p, 7, 0x510, 0x511, &n);
	assert_int_equal(n, 1);
	assert_true(nearly_equal(r->high, 2 * (1 + half)));
	vt_freqprofile_free(p);
	/* No limit above: all is one region, and nothing is sure of it. */
	s.insns[1].low = 0;
	s.insns[1].high = INFINITY;
	p = write_and_read(&s.source, NULL);
	r = vt_freqprofile_regions(p, 7, 0, UINT64_MAX, &n);
	assert_int_equal(n, 1);
	assert_true(r->offset == 0x500 && r->nranges == 2);
	assert_true(r->low <= 0);
	vt_freqprofile_free(p);
}

/* Nothing is told of code without samples; of one that has no time, the interval has no end. */
static void test_without_time(void **state)
{
	const struct vt_regionfreq *r;
	struct vt_freqprofile *p;
	struct nest s;
	size_t n;

	(void)state;
	begin(&s);
	s.g.samples[0] = s.g.samples[2] = 0;
	p = write_and_read(&s.source, NULL);
	r = vt_freqprofile_regions(p, 7, 0, UINT64_MAX, &n);
	assert_int_equal(n, 1);
	assert_int_equal(r->offset, 0x510);
	vt_freqprofile_free(p);
	begin(&s);
	s.g.cycles[0] = s.g.cycles[1] = s.g.cycles[2] = 0;
	p = write_and_read(&s.source, NULL);
	/* All of it is one region then. */
	r = vt_freqprofile_regions(p, 7, 0, UINT64_MAX, &n);
	assert_int_equal(n, 1);
	assert_int_equal(r->offset, 0x500);
	assert_int_equal(r->nranges, 2);
	assert_true(r->low <= 0 && isinf(r->high));
	vt_freqprofile_free(p);
}

/* ---- calls ---- */

/*
 *  0: e8 3b 00 00 00  call 401040
 *  5: ff cf           dec %edi
 *  7: 75 f7           jne 0
 *  9: ff d0           call *%rax
 *  b: c3              ret
 */
#define CODE 12

static const uint8_t caller[CODE] = {0xe8, 0x3b, 0x00, 0x00, 0x00, 0xff,
				     0xcf, 0x75, 0xf7, 0xff, 0xd0, 0xc3};

/* The caller's loop goes round 50 times in 5 visits, 3 cycles each; it is at 0x4c0 in its image. */
struct calling {
	struct proc *p;
	struct vt_freq_value insns[5];
	struct vt_freq_value edges[8];
	uint64_t samples[5];
	double cycles[5];
	struct vt_freqs freqs;
	struct vt_elf *elf;
	struct vt_region_source source;
};

/* Returns the directory of the program. */
static char *begin_calling(struct calling *c, const uint8_t code[CODE])
{
	char text[256] = ".text\n.globl _start\n_start: .byte ", *dir;
	size_t i, size = strlen(text);

	memset(c, 0, sizeof(*c));
	c->p = proc_make("zen4", code, CODE);
	for (i = 0; i < CODE; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%u", i ? "," : "",
					 code[i]);
	snprintf(text + size, sizeof(text) - size, "\n.org 0x80\n");
	dir = toolbox_assemble(text);
	c->elf = vt_elf_open(toolbox_path(dir, "p"), &err);
	assert_non_null(c->elf);
	c->p->flow.proc.image = 7;
	c->p->flow.proc.start = PROC_START;
	proc_set_edge(c->p, 7, 0, 45);
	proc_set_edge(c->p, 7, 9, 5);
	for (i = 0; i < 5; i++) {
		c->insns[i].executions = c->insns[i].low = c->insns[i].high = i < 3 ? 50 : 5;
		c->cycles[i] = i < 3 ? 50 : 5;
	}
	for (i = 0; i < c->p->flow.cfg->nedges; i++)
		c->edges[i].executions =
			c->p->flow.cfg->edges[i].from == VT_CFG_ENTRY ? 5 : c->p->edges[i];
	c->freqs = (struct vt_freqs){.insn = c->insns, .edge = c->edges};
	c->source = (struct vt_region_source){.core = &c->p->core,
					      .flow = &c->p->flow,
					      .elf = c->elf,
					      .freqs = &c->freqs,
					      .samples = c->samples,
					      .cycles = c->cycles,
					      .offset = 0x4c0,
					      .event = 3};
	return dir;
}

/*
 * The callee is called 50 times and takes 2 * 1002 cycles each, by 10,200 samples of all.  The
 * caller's loop has no samples itself, but those; what is around it is not known to the end.
 */
static void test_calls(void **state)
{
	double samples = 10200, cycles = 50 * (3 + 2004.0), half;
	const struct vt_regionfreq *r;
	struct vt_freqprofile *p;
	struct calling c;
	struct nest s;
	size_t n;
	char *dir;

	(void)state;
	begin(&s);
	repeat_nest(&s, 50);
	dir = begin_calling(&c, caller);
	p = write_and_read(&c.source, &s.source);
	r = vt_freqprofile_regions(p, 7, 0x4c0, 0x4d0, &n);
	assert_int_equal(n, 1);
	assert_true(r->flags & VT_REGION_CALLS);
	/* The loop is a part of the procedure, as its own time is not known. */
	assert_true(nearly_equal(r->rounds, 5) && r->samples == 0);
	cycles += 10;
	half = sqrt(pow(1.645, 2) / samples + pow(4 * 5 / cycles, 2));
	assert_true(nearly_equal(r->with_calls, cycles / 5));
	assert_true(nearly_equal(r->with_calls_low, cycles / 5 * (1 - half)));
	assert_true(nearly_equal(r->with_calls_high, cycles / 5 * (1 + half)));
	assert_true(r->flags & VT_REGION_CALLS_UNKNOWN);
	r = vt_freqprofile_regions(p, 7, 0x500, 0x501, &n);
	assert_int_equal(n, 1);
	assert_false(r->flags & (VT_REGION_CALLS | VT_REGION_CALLS_UNKNOWN));
	assert_true(nearly_equal(r->with_calls, r->cycles));
	vt_freqprofile_free(p);
	/* Entered once by its own counts: 50 calls do not take 50 times all that it has. */
	begin(&s);
	p = write_and_read(&c.source, &s.source);
	r = vt_freqprofile_regions(p, 7, 0x4c0, 0x4d0, &n);
	assert_int_equal(n, 1);
	assert_true(nearly_equal(r->with_calls, (10 + 150 + 2004.0) / 5));
	/* Without samples it takes no time, as far as anybody knows. */
	vt_freqprofile_free(p);
	c.samples[0] = 1;
	p = write_and_read(&c.source, NULL);
	r = vt_freqprofile_regions(p, 7, 0x4c0, 0x4d0, &n);
	assert_int_equal(n, 1);
	assert_int_equal(r->flags & (VT_REGION_CALLS | VT_REGION_CALLS_UNKNOWN),
			 VT_REGION_CALLS_UNKNOWN);
	assert_true(nearly_equal(r->with_calls, (10 + 150) / 5.0));
	vt_freqprofile_free(p);
	vt_elf_close(c.elf);
	proc_drop(c.p);
	toolbox_remove(dir);
}

/*
 * Expects that a loop with 20,000 samples of its own, at `code` and told apart from what is around
 * it, has certain flags and a time with calls, of 3,000 cycles a round without.
 */
static void assert_loop(const uint8_t code[CODE], uint64_t flags, double with_calls)
{
	const struct vt_regionfreq *r;
	struct vt_freqprofile *p;
	struct calling c;
	struct nest s;
	size_t n, i;
	char *dir;

	begin(&s);
	repeat_nest(&s, 50);
	dir = begin_calling(&c, code);
	c.samples[0] = 20000;
	for (i = 0; i < 3; i++)
		c.cycles[i] = 50 * 1000;
	c.p->core.rob = 1;
	p = write_and_read(&s.source, &c.source);
	r = vt_freqprofile_regions(p, 7, 0x4c0, 0x4d0, &n);
	assert_int_equal(n, 1);
	assert_int_equal(r->flags, VT_REGION_IS_LOOP | flags);
	assert_true(nearly_equal(r->cycles, 3000) && nearly_equal(r->with_calls, with_calls));
	vt_freqprofile_free(p);
	vt_elf_close(c.elf);
	proc_drop(c.p);
	toolbox_remove(dir);
}

/* It calls nothing that is not known. */
static void test_calls_of_a_loop(void **state)
{
	(void)state;
	assert_loop(caller, VT_REGION_CALLS, 3000 + 2004);
}

/* 2e 2e 2e 75 3b: jne 401040, which nobody has seen taken. */
static void test_branch_away(void **state)
{
	static const uint8_t code[CODE] = {0x2e, 0x2e, 0x2e, 0x75, 0x3b, 0xff,
					   0xcf, 0x75, 0xf7, 0xff, 0xd0, 0xc3};

	(void)state;
	assert_loop(code, 0, 3000);
}

/* e8 fb ff ff ff: call 401000.  What the loop takes is within what its calls take. */
static void test_call_of_itself(void **state)
{
	static const uint8_t code[CODE] = {0xe8, 0xfb, 0xff, 0xff, 0xff, 0xff,
					   0xcf, 0x75, 0xf7, 0xff, 0xd0, 0xc3};

	(void)state;
	assert_loop(code, VT_REGION_CALLS_UNKNOWN, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop_and_around), cmocka_unit_test(test_doubtful_counts),
		cmocka_unit_test(test_without_time),	cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_of_a_loop), cmocka_unit_test(test_branch_away),
		cmocka_unit_test(test_call_of_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
