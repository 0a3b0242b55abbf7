/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which instructions are followed, and the samples of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stream/profileme.h"
#include "tests/unit/common/simruns.h"

/* A loop of two blocks, of five instructions: a load, a jump and a branch among them. */
#define ROUNDS 24
#define LOOP   5

static void put_loop(struct vt_writer *w)
{
	const struct run r = {PID, PID, 0, 8 * LOOP, "0101010101010101", 7, 16};
	unsigned i;

	put_code(w, PID, 0);
	for (i = 0; i < ROUNDS; i += 8)
		put_exec(w, &r);
}

static const uint64_t ips[LOOP] = {CODE, CODE + 1, CODE + 4, CODE + 0x10, CODE + 0x11};

static struct vt_core core;

static void run_followed(struct vt_simulate_profileme pm, struct out *o)
{
	struct vt_simulate_options options = {.core = &core, .seed = 1, .profileme = pm};

	core = plain_core();
	core.dcache = (struct vt_cache_shape){.size = 64, .line = 64, .ways = 1};
	core.memory = 10;
	run_options(put_loop, &options, false, o);
	assert_int_equal(o->finished, 0);
}

static struct vt_simulate_profileme every(uint64_t n)
{
	return (struct vt_simulate_profileme){
		.interval = vt_interval_make(VT_INTERVAL_FIXED, n), .ways = 1, .history = 8};
}

static void all_are_followed(void **state)
{
	static struct out o;
	unsigned i;

	(void)state;
	run_followed(every(1), &o);
	assert_int_equal(o.nsamples, ROUNDS * LOOP);
	assert_int_equal(o.totals.taken, ROUNDS * LOOP);
	assert_int_equal(o.kinds[VT_EVENT], 1);
	assert_int_equal(o.events[0][0].id, EVENT);
	assert_int_equal(o.events[0][0].policy, VT_POLICY_MODEL);
	assert_int_equal(o.events[0][0].period, 1);
	assert_string_equal(o.events[0][0].name, "profileme");
	assert_string_equal(o.events[0][0].unit, "instructions");
	assert_non_null(strstr(o.meta, ", profileme, interval 1 fixed\n"));
	assert_non_null(strstr(o.meta, "vsim.fetched=120\n"));
	assert_non_null(strstr(o.meta, "vsim.wrong_path=0\n"));
	for (i = 0; i < o.nsamples; i++) {
		const struct sample *s = &o.samples[i];

		assert_int_equal(s->ip, ips[i % LOOP]);
		assert_int_equal(s->event, EVENT);
		assert_int_equal(s->period, 1);
		assert_int_equal(s->time, 7);
		assert_int_equal(s->tid, PID);
		assert_true(s->events & VT_PM_EVENT(RETIRED));
		assert_false(s->pm_has & (VT_PM_BIT(PAIR) | VT_PM_BIT(LAT_FETCH)));
		assert_true(s->pm_has & VT_PM_BIT(LAT_TOTAL));
		/* The loop's branch, taken but for the last time, when it is not known. */
		assert_int_equal(s->history_n, i / LOOP < 8 ? i / LOOP : 8);
		assert_int_equal(s->history, (1u << s->history_n) - 1);
	}
}

static void what_happened_is_told(void **state)
{
	const uint64_t branch = VT_PM_EVENT(RETIRED) | VT_PM_EVENT(BRANCH) | VT_PM_EVENT(TAKEN);
	static struct out o;
	const struct sample *s;

	(void)state;
	run_followed(every(1), &o);
	s = &o.samples[LOOP];
	assert_int_equal(s[0].events, VT_PM_EVENT(RETIRED));
	assert_true(s[0].told & VT_PM_EVENT(DCACHE_MISS));
	assert_false(s[0].told & (VT_PM_EVENT(ICACHE_MISS) | VT_PM_EVENT(L2_MISS)));
	assert_false(s[0].pm_has & (VT_PM_BIT(LAT_LOAD) | VT_PM_BIT(WIDTH) | VT_PM_BIT(TARGET)));
	/* The second round's load is of 0x300: another line than the first one's, 0x100. */
	assert_int_equal(s[1].events,
			 VT_PM_EVENT(RETIRED) | VT_PM_EVENT(LOAD) | VT_PM_EVENT(DCACHE_MISS));
	assert_true(s[1].has & VT_HAS_ADDR);
	assert_true(s[1].pm_has & VT_PM_BIT(WIDTH));
	assert_true(s[1].pm_has & VT_PM_BIT(LAT_LOAD));
	assert_int_equal(s[2].events & branch, branch);
	assert_int_equal(s[2].target, CODE + 0x10);
	assert_int_equal(s[4].events, branch | VT_PM_EVENT(MISPREDICTED));
	assert_int_equal(s[4].target, CODE);
	/* Of the last one it is not known where it went. */
	assert_false(o.samples[o.nsamples - 1].told & VT_PM_EVENT(TAKEN));
	assert_false(o.samples[o.nsamples - 1].pm_has & VT_PM_BIT(TARGET));
}

/* Groups of three, each 20 after the last. */
static void groups_are_in_order(void **state)
{
	struct vt_simulate_profileme pm = every(20);
	static struct out o;
	unsigned i, first;

	(void)state;
	pm.ways = 3;
	pm.window = 6;
	run_followed(pm, &o);
	assert_true(o.nsamples >= 15);
	for (first = 0; ips[first] != o.samples[0].ip; first++)
		;
	for (i = 0; i < o.nsamples; i++) {
		const struct sample *s = &o.samples[i];

		assert_int_equal(s->period, 20);
		assert_int_equal(s->pair, i % 3 + 1);
		assert_true(s->weight == 1);
		assert_int_equal(s->ip, ips[(first + s->distance) % LOOP]);
		if (i % 3 == 0) {
			assert_int_equal(s->distance, 0);
			assert_int_equal(s->cycles, 0);
			continue;
		}
		assert_true(s->distance > s[-1].distance);
		assert_true(s->distance <= s[-1].distance + 6);
		assert_true(s->cycles >= s[-1].cycles);
	}
}

static void nothing_is_said_without(void **state)
{
	const struct vt_simulate_event event = {VT_SIMULATE_CYCLES,
						vt_interval_make(VT_INTERVAL_FIXED, 10)};
	struct vt_simulate_options options = {
		.core = &core, .events = &event, .nevents = 1, .seed = 1};
	static struct out o;

	(void)state;
	core = plain_core();
	run_options(put_loop, &options, false, &o);
	assert_null(strstr(o.meta, "profileme"));
	assert_null(strstr(o.meta, "vsim.fetched"));
	assert_int_equal(o.samples[0].pm_has, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_followed),
		cmocka_unit_test(what_happened_is_told),
		cmocka_unit_test(groups_are_in_order),
		cmocka_unit_test(nothing_is_said_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
