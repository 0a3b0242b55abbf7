/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The effective clock that a recording keeps of a calibration. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "calibrate/clock.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

/* What a stream with these facts tells; `facts` are pairs, and end with NULL. */
static struct vt_calibrated_clock read_facts(const char *const *facts)
{
	struct vt_calibrated_clock c = {0};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;

	for (; *facts; facts += 2)
		vt_writer_meta(w, facts[0], facts[1]);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		vt_calibrated_clock_feed(&c, &rec);
	vt_reader_close(r);
	close(fd);
	return c;
}

#define NANOSECONDS "record.calibrate.nanoseconds", "1"
#define SLOW	    "record.calibrate.rate.0.hz", "1000", "record.calibrate.rate.0.effective", "2.4"
#define FAST	    "record.calibrate.rate.1.hz", "10000", "record.calibrate.rate.1.effective", "1.8"

static void check_at(const char *const *facts, double hz, double clock)
{
	struct vt_calibrated_clock c = read_facts(facts);

	assert_true(fabs(vt_calibrated_clock_at(&c, hz) - clock) < 1e-12);
}

/* Between 1000 and 10000 Hz, 0.6 GHz are lost evenly: at 4000, a third of that. */
static void test_rates(void **state)
{
	static const char *const both[] = {NANOSECONDS, SLOW, FAST, NULL};
	static const char *const turned[] = {"record.calibrate.rate.0.hz",
					     "10000",
					     "record.calibrate.rate.0.effective",
					     "1.8",
					     "record.calibrate.rate.1.hz",
					     "1000",
					     "record.calibrate.rate.1.effective",
					     "2.4",
					     NANOSECONDS,
					     NULL};

	(void)state;
	check_at(both, 1000, 2.4);
	check_at(both, 10000, 1.8);
	check_at(both, 4000, 2.2);
	check_at(both, 1, 2.4);
	check_at(both, 50000, 1.8);
	check_at(turned, 4000, 2.2);
	check_at(turned, 50000, 1.8);
}

static void test_unknown(void **state)
{
	static const char *const none[] = {"cpuid", "x", NULL};
	static const char *const cycles[] = {"record.calibrate.nanoseconds", "0", SLOW, FAST, NULL};
	static const char *const one[] = {NANOSECONDS,
					  SLOW,
					  "record.calibrate.rate.1.hz",
					  "10000",
					  "record.calibrate.rate.1.effective",
					  "0",
					  NULL};
	static const char *const bad[] = {NANOSECONDS, "record.calibrate.rate.0.hz",
					  "1e10",      "record.calibrate.rate.0.effective",
					  "2.4",       "record.calibrate.rate.1.hz",
					  "1000",      "record.calibrate.rate.1.effective",
					  "fast",      NULL};

	(void)state;
	check_at(none, 1000, 0);
	check_at(cycles, 1000, 0);
	check_at(one, 1000, 2.4);
	check_at(one, 10000, 2.4);
	check_at(bad, 1000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
