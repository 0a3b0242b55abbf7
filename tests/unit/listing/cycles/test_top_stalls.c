/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instructions that cost most stall cycles: what a stall is made to, and how it is listed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "listing/cycles/top_stalls.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/procs.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define IMAGE 3 /* scene_walk */
#define INSNS 32

static struct vt_error err;

struct example {
	char *dir;
	struct scene scene;
	struct proc *proc;
	const struct vt_freq *freqs[INSNS];
	struct vt_culprits_proc p;
	struct vt_culprittop *top;
	struct vt_culpritcheck *check;
	struct vt_culprits_totals totals;
	bool truth;
	bool summary;
};

static void begin(struct example *x)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint8_t code[INSNS];
	unsigned i;

	memset(x, 0, sizeof(*x));
	x->dir = toolbox_dir();
	scene_program(x->dir, scene_walk);
	scene_image(w, IMAGE, toolbox_path(x->dir, "prog"));
	scene_read(&x->scene, fd, w, false);
	memset(code, 0x90, sizeof(code));
	code[INSNS - 1] = 0xc3;
	x->proc = proc_make("alpha21164", code, sizeof(code));
	for (i = 0; i < INSNS; i++)
		x->proc->costs[i].best = 1;
	x->proc->flow.proc =
		(struct vt_procedure){.image = IMAGE, .start = PROC_START - 0x10, .name = "first"};
	x->p = (struct vt_culprits_proc){.flow = &x->proc->flow, .freqs = x->freqs};
	x->top = vt_culprittop_new();
	x->check = vt_culpritcheck_new(NULL);
	assert_true(x->top && x->check);
	x->totals.cycles = 10000;
}

static void add(struct example *x, const struct vt_culprit_stall *list, size_t n)
{
	x->p.stalls = list;
	x->p.nstalls = n;
	assert_int_equal(vt_culprittop_add(x->top, &x->p, &err), 0);
	assert_int_equal(vt_culpritcheck_add(x->check, &x->p, &err), 0);
}

static const char *print(struct example *x, uint64_t top, enum vt_table_form form, bool json)
{
	const struct vt_losses losses = {.lost_places = 0};
	const struct vt_culprittop_options o = {
		.totals = &x->totals,
		.check = x->check,
		.images = x->scene.images,
		.core = "alpha21164",
		.losses = &losses,
		.top = top,
		.truth = x->truth,
		.summary = x->summary,
		.json = json,
		.form = form,
	};
	struct vt_output out;

	print_begin(&out);
	assert_int_equal(vt_culprittop_print(x->top, &o, &out, &err), 0);
	return scene_text(print_end(&out), x->dir);
}

static const char *list(struct example *x, uint64_t top)
{
	return print(x, top, VT_TABLE_CSV, false);
}

static void end(struct example *x)
{
	vt_culprittop_free(x->top);
	vt_culpritcheck_free(x->check);
	proc_drop(x->proc);
	scene_drop(&x->scene);
	toolbox_remove(x->dir);
}

#define HEADINGS                                                                                   \
	"percent,cumulative,stall_cycles,executions,confidence,confidence.letter,stall,blame,"     \
	"causes,scope,samples,address,guilty,procedure,procedure.offset,line,image,why,"           \
	"ruled_out\n"

static void test_list(void **state)
{
	static const struct vt_freq freqs[] = {
		{.executions = 100, .cycles = 8, .samples = 71, .confidence = VT_CONFIDENCE_LOW},
		{.executions = 200, .cycles = 11, .samples = 72, .confidence = VT_CONFIDENCE_EXACT},
		{.executions = 1, .cycles = 100, .samples = 73, .confidence = VT_CONFIDENCE_HIGH},
	};
	static const struct vt_culprit_stall stalls[] = {
		/* 7 cycles of 100 executions, of which the causes cannot account for more than 650
		 */
		{.insn = 0, .cause = VT_STALL_UNEXPLAINED, .low = 50, .high = 50},
		{.insn = 0, .cause = VT_STALL_ICACHE, .low = 0, .high = 300},
		{.insn = 0, .cause = VT_STALL_ITLB, .low = 300, .high = 300, .nguilty = 0},
		/* 10 cycles of 200; the greatest cause first, which nobody is guilty of */
		{.insn = 4, .cause = VT_STALL_GAIN, .low = 9, .high = 9},
		{.insn = 4,
		 .cause = VT_STALL_DCACHE,
		 .low = 100,
		 .high = 1400,
		 .nguilty = 2,
		 .guilty = {1, 2}},
		{.insn = 4,
		 .cause = VT_STALL_DTLB,
		 .low = 200,
		 .high = 1300,
		 .nguilty = 1,
		 .guilty = {3}},
		{.insn = 4, .cause = VT_STALL_OTHER, .low = 2000, .high = 2000},
		/* Nothing is known of it; it is faster than at best; nothing can be lost */
		{.insn = 5, .cause = VT_STALL_DCACHE, .low = 1, .high = 5000},
		{.insn = 12, .cause = VT_STALL_DCACHE, .low = 99, .high = 99},
		{.insn = 14, .cause = VT_STALL_GAIN, .low = 7000, .high = 7000},
	};
	static const struct vt_freq fast = {.executions = 100, .cycles = 0.5};
	struct example x;

	(void)state;
	begin(&x);
	x.freqs[0] = &freqs[0];
	x.freqs[4] = x.freqs[14] = &freqs[1];
	x.freqs[12] = &freqs[2];
	x.proc->costs[12].best = 3;
	add(&x, stalls, 10);
	x.freqs[12] = &fast;
	add(&x, &stalls[8], 1);
	assert_string_equal(
		list(&x, 0), HEADINGS
		"20,20,2000,200,exact,X,10,odD,\"other 2000-2000, dcache 100-1400, dtlb 200-1300\","
		"insn,72,0x401004,0x401001,first,0x14,b.h:2,prog,,\n"
		"6.5,26.5,650,100,low,L,6.5,Iiu,\"itlb 300-300, icache 0-300, unexplained 50-50\","
		"insn,71,0x401000,,first,0x10,a.c:3,prog,,\n"
		"0.97,27.47,97,1,high,H,97,d,dcache "
		"99-99,insn,73,0x40100c,,first,0x1c,a.c:4,prog,,\n");
	/* As many as are asked for. */
	assert_string_equal(list(&x, 3), list(&x, 4));
	assert_string_equal(list(&x, 1), HEADINGS
			    "20,20,2000,200,exact,X,10,odD,\"other 2000-2000, dcache 100-1400, "
			    "dtlb 200-1300\",insn,72,0x401004,0x401001,first,0x14,b.h:2,prog,,\n");
	end(&x);
}

/* Of equal ones, by image, then address; what has no line, no image and no cycles in all. */
static void test_order(void **state)
{
	static const struct vt_freq freq = {.executions = 10, .cycles = 2, .samples = 5};
	static const struct vt_culprit_stall stalls[] = {
		{.insn = 2, .cause = VT_STALL_OTHER, .low = 0, .high = 5000},
		{.insn = 3, .cause = VT_STALL_ICACHE, .low = 10, .high = 10},
	};
	struct example x;

	(void)state;
	begin(&x);
	x.freqs[2] = x.freqs[3] = &freq;
	x.totals.cycles = 0;
	x.proc->flow.proc.image = IMAGE + 1;
	x.proc->flow.proc.name = "second";
	add(&x, &stalls[1], 1);
	add(&x, &stalls[0], 1);
	x.proc->flow.proc.image = IMAGE;
	x.proc->flow.proc.name = "first";
	add(&x, &stalls[1], 1);
	add(&x, &stalls[0], 1);
	assert_string_equal(
		list(&x, 0), HEADINGS
		"0,0,10,10,none,-,1,o,other 0-5000,insn,5,0x401002,,first,0x12,a.c:4,prog,,\n"
		"0,0,10,10,none,-,1,i,icache 10-10,insn,5,0x401003,,first,0x13,a.c:4,prog,,\n"
		"0,0,10,10,none,-,1,o,other 0-5000,insn,5,0x401002,,second,0x12,,,,\n"
		"0,0,10,10,none,-,1,i,icache 10-10,insn,5,0x401003,,second,0x13,,,,\n");
	end(&x);
}

/* The first sixteen causes; numbers too great for what they are listed as, or too small. */
static void test_limits(void **state)
{
	static const struct vt_freq freqs[] = {
		{.executions = 1e19, .cycles = 2, .confidence = VT_CONFIDENCE_MEDIUM},
		{.executions = 2e19, .cycles = 2},
		{.executions = 0.5, .cycles = 2},
		{.executions = 0.25, .cycles = 2},
		{.executions = 8, .cycles = INFINITY},
	};
	struct vt_culprit_stall stalls[17 + 4];
	struct example x;
	unsigned i;

	(void)state;
	begin(&x);
	for (i = 0; i < 17; i++)
		stalls[i] = (struct vt_culprit_stall){
			.insn = 2,
			.cause = (enum vt_stall_cause)(VT_STALL_ICACHE + i),
			.high = i == 16 ? 5000 : 10,
		};
	for (i = 0; i < 4; i++)
		stalls[17 + i] = (struct vt_culprit_stall){
			.insn = 3 + i,
			.cause = VT_STALL_OTHER,
			.low = 2,
			.high = i == 3 ? 2e19 : 40,
		};
	for (i = 0; i < 5; i++)
		x.freqs[2 + i] = &freqs[i];
	add(&x, stalls, 17 + 4);
	x.totals.cycles = 320;
	assert_string_equal(
		list(&x, 0),
		HEADINGS "6.25e+18,6.25e+18,0,8,none,-,2.5e+18,o,"
			 "other 2-20000000000000000000,insn,0,0x401006,,first,0x16,b.h:2,prog,,\n"
			 "50,6.25e+18,160,9000000000000000000,medium,M,1.6e-17,iIdDwfpymvxrqosa,"
			 "\"icache 0-10, itlb 0-10, dcache 0-10, dtlb 0-10, write-buffer 0-10, "
			 "forward 0-10, mispredict 0-10, sync 0-10, multiplier 0-10, divider 0-10, "
			 "unit 0-10, dependency 0-10, queue 0-10, other 0-10, slotting 0-10, "
			 "operand-a 0-10\",insn,0,0x401002,,first,0x12,a.c:4,prog,,\n"
			 "12.5,6.25e+18,40,0,none,-,2e-18,o,other "
			 "2-40,insn,0,0x401003,,first,0x13,a.c:4,prog,,\n"
			 "0.15625,6.25e+18,1,1,none,-,1,o,other "
			 "2-40,insn,0,0x401004,,first,0x14,b.h:2,prog,,\n"
			 "0.078125,6.25e+18,0,0,none,-,1,o,other "
			 "2-40,insn,0,0x401005,,first,0x15,b.h:2,prog,,\n");
	end(&x);
}

static void test_header(void **state)
{
	struct example x;
	struct vt_culprits_totals *t = &x.totals;

	(void)state;
	begin(&x);
	/* Without the list, and there are no true stalls. */
	x.summary = true;
	*t = (struct vt_culprits_totals){.procedures = 3, .cycles = 1234.4};
	assert_string_equal(print(&x, 0, VT_TABLE_TEXT, false),
			    "Procedures 3, cycles 1234, samples 0\n\n");
	/* Those of which nothing was estimated have no confidence. */
	t->samples = 75;
	t->unknown = 5;
	t->by_confidence[VT_CONFIDENCE_EXACT] = 40;
	t->by_confidence[VT_CONFIDENCE_MEDIUM] = 20;
	t->by_confidence[VT_CONFIDENCE_NONE] = 15;
	t->high[VT_STALL_GAIN] = 99;
	assert_string_equal(print(&x, 0, VT_TABLE_TEXT, false),
			    "Procedures 3, cycles 1234, samples 80: 50.0 % exact, "
			    "25.0 % medium, 25.0 % without an estimate\n\n");
	t->without_code = 7;
	t->places = 11;
	t->high[VT_STALL_UNEXPLAINED] = 0.5;
	t->low[VT_STALL_ICACHE] = 1;
	t->high[VT_STALL_UNIT_STATIC] = 2;
	assert_string_equal(print(&x, 0, VT_TABLE_TEXT, false),
			    "Procedures 3, cycles 1234, samples 80: 50.0 % exact, "
			    "25.0 % medium, 25.0 % without an estimate\n"
			    "Procedures whose code is not there: 7\n"
			    "Blame: u unexplained stall, X FU dependency\n\n");
	t->without_code = 0;
	t->outside = 2;
	t->unknown = 0;
	t->by_confidence[VT_CONFIDENCE_NONE] = 0;
	t->high[VT_STALL_UNEXPLAINED] = t->high[VT_STALL_UNIT_STATIC] = 0;
	assert_string_equal(print(&x, 0, VT_TABLE_TEXT, false),
			    "Procedures 3, cycles 1234, samples 75: 53.3 % exact, "
			    "26.7 % medium\n"
			    "Places in no procedure: 2 of 11\n\n");
	end(&x);
	vt_culprittop_free(NULL);
}

/* The other forms: a table for people, what the truth is, JSON. */
static void test_forms(void **state)
{
	static const struct vt_freq freq = {
		.executions = 100, .cycles = 5, .samples = 71, .confidence = VT_CONFIDENCE_LOW};
	static const struct vt_culprit_stall stalls[] = {
		{.insn = 0, .cause = VT_STALL_ICACHE, .low = 40, .high = 100},
		{.insn = 2, .cause = VT_STALL_DCACHE, .low = 50, .high = 200},
		{.insn = 3, .cause = VT_STALL_UNEXPLAINED, .low = 30, .high = 30},
	};
	const char *text;
	struct example x;

	(void)state;
	begin(&x);
	x.freqs[0] = x.freqs[2] = x.freqs[3] = &freq;
	add(&x, stalls, 3);
	x.totals.cycles = 1000;
	x.totals.high[VT_STALL_ICACHE] = 100;
	text = print(&x, 1, VT_TABLE_TEXT, false);
	assert_non_null(strstr(text, "Blame: i I-cache miss\n"));
	assert_non_null(strstr(text, "(2 more instructions)\n"));
	assert_null(strstr(print(&x, 0, VT_TABLE_TEXT, false), "more instructions"));
	x.truth = true;
	text = print(&x, 0, VT_TABLE_TEXT, false);
	assert_non_null(strstr(
		text,
		"True stalls: 0.0 % of the cycles with an estimate, 0.0 % of them dynamic\n"));
	assert_non_null(strstr(text, "Causes listed: 1.00 a stall, 1.00 by cycles; unexplained: "
				     "2.00 % of all cycles\n"));
	assert_non_null(strstr(text,
			       "D-cache miss                 true   0.00 %  estimated   3.33 to  "
			       "13.33 %\n"));
	text = print(&x, 1, VT_TABLE_TEXT, true);
	assert_non_null(strstr(text, "\"schema\": \"vculprit/1\""));
	assert_non_null(strstr(text, "\"cpu\": \"alpha21164\""));
	assert_non_null(strstr(text, "\"unexplained\": 3.0"));
	assert_non_null(strstr(text, "\"rows_left_out\": 2"));
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),   cmocka_unit_test(test_order),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_header),
		cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
