/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/perfdata/session.h"
#include "tests/unit/formats/perfdata/pdsession.h"

#define IDS (PD_SAMPLE_IDENTIFIER | PD_SAMPLE_TIME)

static void add_event(struct pdsession *p, uint64_t sample_type)
{
	const struct pd_attr a = {.sample_type = sample_type, .flags = PD_ATTR_SAMPLE_ID_ALL};

	pdsession_event(p, &a);
}

static void finds_events_by_id(void **state)
{
	struct pdsession p;
	unsigned i;

	(void)state;
	pdsession_init(&p, IDS);
	assert_int_equal(vti_pd_event_of_id(&p.s, 5), 0);
	assert_int_equal(vti_pd_event_of_id(&p.s, 0), 0);
	p.s.nevents = 0;
	assert_int_equal(vti_pd_event_of_id(&p.s, 5), -1);
	p.s.nevents = 1;
	add_event(&p, IDS);
	add_event(&p, IDS);
	for (i = 1; i < 3 * PD_ID_CACHE; i++)
		assert_int_equal(vti_pd_id_add(&p.s, i, i % 3), 0);
	/* Those that are equal modulo the size of the cache one after the other, each twice. */
	for (i = 0; i < 3 * PD_ID_CACHE; i++) {
		uint64_t id = (uint64_t)i / 3 + i % 3 * PD_ID_CACHE;

		assert_int_equal(vti_pd_event_of_id(&p.s, id), id % 3);
		assert_int_equal(vti_pd_event_of_id(&p.s, id), id % 3);
	}
	assert_int_equal(vti_pd_event_of_id(&p.s, 3 * PD_ID_CACHE), -1);
	assert_int_equal(vti_pd_id_add(&p.s, UINT64_MAX / 2, 1), 0);
	assert_int_equal(vti_pd_event_of_id(&p.s, UINT64_MAX / 2), 1);
	assert_int_equal(vti_pd_event_of_id(&p.s, UINT64_MAX / 2), 1);
	/* The last one to say so has it. */
	assert_int_equal(vti_pd_event_of_id(&p.s, 7), 1);
	assert_int_equal(vti_pd_id_add(&p.s, 7, 2), 0);
	assert_int_equal(vti_pd_event_of_id(&p.s, 7), 2);
	pdsession_fini(&p);
}

/* A record of n words, of which the one at `at` is the id of the second event. */
static int event_of(struct pdsession *p, uint32_t type, size_t n, size_t at)
{
	struct pd_rec r = {.type = type, .left = 8 * n};
	uint8_t words[64] = {0};

	if (p->s.big)
		words[8 * at + 7] = 12;
	else
		words[8 * at] = 12;
	r.payload = words;
	return vti_pd_event_of(&p->s, &r);
}

static void finds_events_of_records(void **state)
{
	struct pdsession p;
	unsigned big;

	(void)state;
	for (big = 0; big < 2; big++) {
		pdsession_init(&p, PD_SAMPLE_IP | PD_SAMPLE_ID | PD_SAMPLE_CPU);
		p.s.big = big;
		assert_int_equal(event_of(&p, PD_SAMPLE, 0, 0), 0);
		assert_int_equal(event_of(&p, PD_COMM, 0, 0), 0);
		p.s.nevents = 0;
		assert_int_equal(event_of(&p, PD_COMM, 4, 0), -1);
		p.s.nevents = 1;
		add_event(&p, PD_SAMPLE_IP | PD_SAMPLE_ID | PD_SAMPLE_CPU);
		assert_int_equal(vti_pd_id_add(&p.s, 12, 1), 0);
		/* In a sample the id is behind the address; before the processor elsewhere. */
		assert_int_equal(event_of(&p, PD_SAMPLE, 3, 1), 1);
		assert_int_equal(event_of(&p, PD_SAMPLE, 2, 1), 1);
		assert_int_equal(event_of(&p, PD_SAMPLE, 1, 1), -1);
		assert_int_equal(event_of(&p, PD_COMM, 5, 3), 1);
		assert_int_equal(event_of(&p, PD_COMM, 2, 0), 1);
		assert_int_equal(event_of(&p, PD_COMM, 1, 0), -1);
		p.s.events[0].attr.flags = 0;
		assert_int_equal(event_of(&p, PD_COMM, 5, 3), 0);
		pdsession_fini(&p);

		pdsession_init(&p, PD_SAMPLE_IP);
		p.s.big = big;
		add_event(&p, PD_SAMPLE_IP);
		assert_int_equal(vti_pd_id_add(&p.s, 12, 1), 0);
		assert_int_equal(event_of(&p, PD_SAMPLE, 3, 0), -1);
		assert_int_equal(event_of(&p, PD_COMM, 3, 0), -1);
		pdsession_fini(&p);
	}
}

/* Each field stands behind those before it, in the order of perf_output_sample() of the kernel. */
static void lays_out_samples(void **state)
{
	static const uint32_t order[] = {
		PD_SAMPLE_IDENTIFIER, PD_SAMPLE_IP,   PD_SAMPLE_TID,
		PD_SAMPLE_TIME,	      PD_SAMPLE_ADDR, PD_SAMPLE_ID,
		PD_SAMPLE_STREAM_ID,  PD_SAMPLE_CPU,  PD_SAMPLE_PERIOD,
	};
	struct pdsession p;
	unsigned set, i;

	(void)state;
	pdsession_init(&p, IDS);
	for (set = 0; set < 1u << 9; set++) {
		struct pd_event *e = &p.s.events[0];
		int at[9], n = 0;

		e->attr.sample_type = 0;
		for (i = 0; i < 9; i++) {
			at[i] = set >> i & 1 ? n++ : -1;
			e->attr.sample_type |= set >> i & 1 ? order[i] : 0;
		}
		vti_pd_layout(&p.s);
		assert_int_equal(e->layout.words, n);
		assert_int_equal(e->layout.id, at[5] >= 0 ? at[5] : at[0]);
		assert_int_equal(e->layout.ip, at[1]);
		assert_int_equal(e->layout.tid, at[2]);
		assert_int_equal(e->layout.time, at[3]);
		assert_int_equal(e->layout.addr, at[4]);
		assert_int_equal(e->layout.stream_id, at[6]);
		assert_int_equal(e->layout.cpu, at[7]);
		assert_int_equal(e->layout.period, at[8]);
		assert_true(e->layout.plain);
		assert_int_equal(e->layout.key, at[0] >= 0 ? at[0] : at[5]);
		e->attr.sample_type |= PD_SAMPLE_WEIGHT;
		vti_pd_layout(&p.s);
		assert_false(e->layout.plain);
	}
	pdsession_fini(&p);
}

static void expect_in_trailer(struct pdsession *p, uint64_t sample_type, int key, int time)
{
	struct pd_event *e = &p->s.events[0];

	e->attr.sample_type = sample_type;
	vti_pd_layout(&p->s);
	assert_int_equal(e->layout.key_trailer, key);
	assert_int_equal(e->layout.time_trailer, time);
}

static void finds_ids_and_times_from_the_end(void **state)
{
	const uint64_t all = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ADDR;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, IDS);
	expect_in_trailer(&p, all | PD_SAMPLE_IDENTIFIER, 1, 2);
	expect_in_trailer(&p, all | PD_SAMPLE_ID | PD_SAMPLE_CPU, 2, 3);
	expect_in_trailer(&p, all | PD_SAMPLE_ID | PD_SAMPLE_IDENTIFIER, 1, 3);
	expect_in_trailer(&p, PD_SAMPLE_TID, 0, 0);
	pdsession_fini(&p);
}

static void compares_layouts(void **state)
{
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP | PD_SAMPLE_TIME);
	assert_true(p.s.same_layout);
	add_event(&p, PD_SAMPLE_TID | PD_SAMPLE_TIME);
	assert_true(p.s.same_layout);
	add_event(&p, PD_SAMPLE_TIME);
	assert_false(p.s.same_layout);
	assert_int_equal(p.s.events[0].layout.time, 1);
	pdsession_fini(&p);
}

static void name(struct pdsession *p, size_t event, const char *text, bool only_if_unnamed)
{
	assert_int_equal(vti_pd_event_name(&p->s, event, (const uint8_t *)text, 4, only_if_unnamed),
			 0);
}

#define EVENT(id, name, policy, unit, rest)                                                        \
	"EVENT" id " name=" name policy " unit=" unit rest " sample_type=65540 "                   \
	"attr_flags=262144\n"

/* An event is written when something of it has changed. */
static void names_events(void **state)
{
	struct pdsession p;

	(void)state;
	pdsession_init(&p, IDS);
	add_event(&p, IDS);
	assert_int_equal(vti_pd_events_emit(&p.s), 0);
	pdsession_expect(&p, EVENT("", "cycles:HG", " policy=1", "cycles", "")
				     EVENT(" id=1", "cycles:HG", " policy=1", "cycles", ""));
	assert_int_equal(vti_pd_events_emit(&p.s), 0);
	name(&p, 2, "none", false);
	name(&p, 1, "\0one", false);
	assert_int_equal(vti_pd_events_emit(&p.s), 0);
	pdsession_expect(&p, "");
	name(&p, 1, "ab\0c", true);
	name(&p, 1, "cdef", true);
	assert_int_equal(vti_pd_events_emit(&p.s), 0);
	pdsession_expect(&p, EVENT(" id=1", "ab", " policy=1", "cycles", ""));
	name(&p, 1, "cdefg", false);
	assert_int_equal(vti_pd_events_emit(&p.s), 0);
	pdsession_expect(&p, EVENT(" id=1", "cdef", " policy=1", "cycles", ""));
	vti_pd_events_changed(&p.s);
	assert_int_equal(vti_pd_events_emit(&p.s), 0);
	pdsession_expect(&p, EVENT("", "cycles:HG", " policy=1", "cycles", "")
				     EVENT(" id=1", "cdef", " policy=1", "cycles", ""));
	assert_int_equal(vti_pd_events_emit(&p.s), 0);
	pdsession_expect(&p, "");
	p.s.nevents = 0;
	vti_pd_events_changed(&p.s);
	assert_false(p.s.dirty);
	p.s.nevents = 2;
	pdsession_fini(&p);
}

/* Timers interrupt, what counts a software event stops at it; what a period is measured in. */
static void says_what_events_are(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		uint32_t bp_type;
		const char *line;
	} cases[] = {
		{PD_TYPE_SOFTWARE, 0, 0, EVENT("", "cpu-clock:HG", " policy=1", "ns", " type=1")},
		{PD_TYPE_SOFTWARE, 1, 0,
		 EVENT("", "task-clock:HG", " policy=1", "ns", " type=1 config=1")},
		{PD_TYPE_SOFTWARE, 2, 0,
		 EVENT("", "page-faults:HG", " policy=5", "events", " type=1 config=2")},
		{PD_TYPE_TRACEPOINT, 3, 0,
		 EVENT("", "unknown tracepoint", " policy=5", "events", " type=2 config=3")},
		{PD_TYPE_BREAKPOINT, 0, 4,
		 EVENT("", "mem:0x0:x:HG", " policy=5", "events", " type=5")},
		{PD_TYPE_BREAKPOINT, 0, 3,
		 EVENT("", "mem:0x0:rw:HG", " policy=2", "events", " type=5")},
		{PD_TYPE_BREAKPOINT, 0, 1,
		 EVENT("", "mem:0x0:r:HG", " policy=2", "events", " type=5")},
		{PD_TYPE_BREAKPOINT, 0, 2,
		 EVENT("", "mem:0x0:w:HG", " policy=2", "events", " type=5")},
		{PD_TYPE_HARDWARE, 1, 0,
		 EVENT("", "instructions:HG", " policy=1", "instructions", " config=1")},
		{PD_TYPE_HARDWARE, 2, 0,
		 EVENT("", "cache-references:HG", " policy=1", "events", " config=2")},
		{PD_TYPE_HARDWARE, UINT64_C(8) << 32, 0,
		 EVENT("", "cycles:HG", " policy=1", "cycles", " config=34359738368")},
		{PD_TYPE_HARDWARE, UINT64_C(8) << 32 | 1, 0,
		 EVENT("", "instructions:HG", " policy=1", "instructions", " config=34359738369")},
		{PD_TYPE_RAW, 0, 0, EVENT("", "raw 0x0:HG", " policy=1", "events", " type=4")},
		{PD_TYPE_RAW, 1, 0,
		 EVENT("", "raw 0x1:HG", " policy=1", "events", " type=4 config=1")},
	};
	struct pdsession p;
	size_t i;

	(void)state;
	pdsession_init(&p, IDS);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p.s.events[0].attr.type = cases[i].type;
		p.s.events[0].attr.config = cases[i].config;
		p.s.events[0].attr.bp_type = cases[i].bp_type;
		vti_pd_events_changed(&p.s);
		assert_int_equal(vti_pd_events_emit(&p.s), 0);
		pdsession_expect(&p, cases[i].line);
	}
	pdsession_fini(&p);
}

/* All of an attribute, each number another one. */
static void writes_attributes(void **state)
{
	struct pd_attr a = {.type = PD_TYPE_RAW,
			    .config = 2,
			    .period = 3,
			    .sample_type = 4,
			    .read_format = 5,
			    .flags = PD_ATTR_FREQ,
			    .config1 = 7,
			    .config2 = 8,
			    .branch_type = 9,
			    .regs_user = 10,
			    .stack_user = 11,
			    .regs_intr = 12};
	struct pdsession p;

	(void)state;
	pdsession_init(&p, IDS);
	p.s.events[0].attr = a;
	assert_int_equal(vti_pd_events_emit(&p.s), 0);
	pdsession_expect(&p, "EVENT name=raw 0x2:HG policy=1 unit=events type=4 config=2 config1=7 "
			     "config2=8 freq=3 sample_type=4 read_format=5 attr_flags=1024 "
			     "branch_type=9 regs_user_mask=10 regs_intr_mask=12 stack_user=11\n");
	pdsession_fini(&p);
}

static void bounds_events(void **state)
{
	const struct pd_attr a = {.sample_type = IDS};
	struct pdsession p;
	size_t i;

	(void)state;
	pdsession_init(&p, IDS);
	for (i = 1; i < VT_PERFDATA_EVENTS_MAX; i++)
		assert_int_equal(vti_pd_event_add(&p.s, &a), 0);
	pdsession_expect(&p, "");
	p.in.offset = 77;
	assert_int_equal(vti_pd_event_add(&p.s, &a), 1);
	assert_int_equal(vti_pd_event_add(&p.s, &a), 1);
	assert_int_equal(p.s.nevents, VT_PERFDATA_EVENTS_MAX);
	pdsession_expect(&p, "GAP reason=more than 65536 events: further ones are left out "
			     "input=test offset=77\n");
	pdsession_fini(&p);
}

static void bounds_ids(void **state)
{
	struct pdsession p;
	uint64_t i;

	(void)state;
	pdsession_init(&p, IDS);
	add_event(&p, IDS);
	for (i = 1; i <= VT_PERFDATA_IDS_MAX; i++)
		assert_int_equal(vti_pd_id_add(&p.s, i, 0), 0);
	pdsession_expect(&p, "");
	assert_int_equal(vti_pd_id_add(&p.s, i, 1), 0);
	assert_int_equal(vti_pd_id_add(&p.s, i + 1, 1), 0);
	assert_int_equal(vti_pd_id_add(&p.s, 5, 1), 0);
	pdsession_expect(&p, "GAP reason=more than 1048576 event ids: further ones are left out "
			     "input=test\n");
	assert_int_equal(vti_pd_event_of_id(&p.s, i), -1);
	assert_int_equal(vti_pd_event_of_id(&p.s, 5), 1);
	pdsession_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_events_by_id),
		cmocka_unit_test(finds_events_of_records),
		cmocka_unit_test(lays_out_samples),
		cmocka_unit_test(finds_ids_and_times_from_the_end),
		cmocka_unit_test(compares_layouts),
		cmocka_unit_test(names_events),
		cmocka_unit_test(says_what_events_are),
		cmocka_unit_test(writes_attributes),
		cmocka_unit_test(bounds_events),
		cmocka_unit_test(bounds_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
