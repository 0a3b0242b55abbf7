/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/rng.h"
#include "formats/perfdata/perfdata.h"

/* What came out: the time and the number of each record. */
struct log {
	uint64_t time[4096];
	uint64_t number[4096];
	size_t n;
	size_t stop_at;
};

/* A record: header, then its time and its number. */
static int log_it(void *arg, const uint8_t *record, size_t size, uint64_t offset)
{
	struct log *log = arg;

	assert_true(size >= 24);
	assert_int_equal(offset, vt_le64(record + 16) * 100);
	if (log->stop_at && log->n == log->stop_at)
		return -VT_E_WRITE;
	log->time[log->n % 4096] = vt_le64(record + 8);
	log->number[log->n % 4096] = vt_le64(record + 16);
	log->n++;
	return 0;
}

static int add(struct pd_order *o, uint64_t time, uint64_t number, size_t size)
{
	static uint8_t record[65536];

	vt_put_le16(record + 6, (uint16_t)size);
	vt_put_le64(record + 8, time);
	vt_put_le64(record + 16, number);
	return vti_pd_order_add(o, time, record, size, number * 100);
}

static void expect(const struct log *log, const uint64_t *numbers, size_t n)
{
	size_t i;

	assert_int_equal(log->n, n);
	for (i = 0; i < n; i++)
		assert_int_equal(log->number[i], numbers[i]);
}

/* A round releases up to the newest time known at the round before it, as perf does. */
static void releases_by_rounds(void **state)
{
	static const uint64_t order[] = {1, 3, 2, 5, 0, 4};
	struct log log = {.n = 0};
	struct pd_order o;

	(void)state;
	vti_pd_order_init(&o, false, log_it, &log);
	add(&o, 50, 0, 24);
	add(&o, 10, 1, 24);
	add(&o, 30, 2, 24);
	assert_int_equal(vti_pd_order_round(&o), 0);
	assert_int_equal(log.n, 0);
	add(&o, 20, 3, 24);
	add(&o, 60, 4, 24);
	add(&o, 40, 5, 24);
	assert_int_equal(vti_pd_order_round(&o), 0);
	expect(&log, order, 5);
	assert_int_equal(o.late, 0);
	assert_int_equal(vti_pd_order_flush(&o), 0);
	expect(&log, order, 6);
	vti_pd_order_fini(&o);
}

static void delivers_late_records_late(void **state)
{
	static const uint64_t order[] = {0, 1, 2, 3};
	struct log log = {.n = 0};
	struct pd_order o;

	(void)state;
	vti_pd_order_init(&o, false, log_it, &log);
	add(&o, 100, 0, 24);
	vti_pd_order_round(&o);
	vti_pd_order_round(&o);
	assert_int_equal(log.n, 1);
	add(&o, 50, 1, 24);
	add(&o, 150, 2, 24);
	assert_int_equal(o.late, 1);
	add(&o, 150, 3, 24);
	vti_pd_order_flush(&o);
	expect(&log, order, 4);
	vti_pd_order_fini(&o);
}

/* Against a sort that is plainly right: by time, then by arrival. */
static void sorts_stably(void **state)
{
	static uint64_t time[3000];
	static bool taken[3000];
	struct log *log = calloc(1, sizeof(*log));
	struct pd_order o;
	struct vt_rng rng;
	size_t i, j;

	(void)state;
	vt_rng_init(&rng, 1);
	vti_pd_order_init(&o, false, log_it, log);
	for (i = 0; i < 3000; i++) {
		time[i] = 1 + vt_rng_below(&rng, 500);
		assert_int_equal(add(&o, time[i], i, 24 + 8 * vt_rng_below(&rng, 200)), 0);
	}
	assert_int_equal(vti_pd_order_flush(&o), 0);
	assert_int_equal(log->n, 3000);
	for (i = 0; i < 3000; i++) {
		size_t best = 3000;

		for (j = 0; j < 3000; j++) {
			if (!taken[j] && (best == 3000 || time[j] < time[best]))
				best = j;
		}
		taken[best] = true;
		assert_int_equal(log->number[i], best);
	}
	vti_pd_order_fini(&o);
	free(log);
}

static void bounds_its_memory(void **state)
{
	struct log *log = calloc(1, sizeof(*log));
	struct pd_order o;
	size_t i, n = 4 * (size_t)VT_PERFDATA_QUEUE_BYTES / 65000;

	(void)state;
	vti_pd_order_init(&o, false, log_it, log);
	for (i = 0; i < n; i++)
		assert_int_equal(add(&o, 1 + i, i, 65000), 0);
	assert_true(log->n > 0);
	assert_true(o.npieces <= VT_PERFDATA_QUEUE_BYTES / (256u << 10) + 2);
	vti_pd_order_flush(&o);
	assert_int_equal(log->n, n);
	assert_int_equal(o.late, 0);
	vti_pd_order_fini(&o);

	/* One record of the far future in each piece must not keep the pieces alive for ever. */
	memset(log, 0, sizeof(*log));
	vti_pd_order_init(&o, false, log_it, log);
	for (i = 0; i < 5 * n; i++) {
		assert_int_equal(add(&o, i % 5 ? 1 + i : (UINT64_C(1) << 60) + i, i, 65000), 0);
		if (i % 5 == 4) {
			o.release = UINT64_C(1) << 59;
			assert_int_equal(vti_pd_order_round(&o), 0);
		}
	}
	assert_true(o.npieces <= VT_PERFDATA_QUEUE_BYTES / (256u << 10) + 2);
	vti_pd_order_flush(&o);
	assert_int_equal(log->n, 5 * n);
	vti_pd_order_fini(&o);
	free(log);
}

static void bounds_its_count(void **state)
{
	struct log *log = calloc(1, sizeof(*log));
	struct pd_order o;
	size_t i;

	(void)state;
	vti_pd_order_init(&o, false, log_it, log);
	for (i = 0; i < VT_PERFDATA_QUEUE_RECORDS; i++)
		add(&o, VT_PERFDATA_QUEUE_RECORDS - i, i, 24);
	assert_int_equal(log->n, 0);
	add(&o, 1, i, 24);
	assert_int_equal(log->n, VT_PERFDATA_QUEUE_RECORDS / 2);
	assert_int_equal(o.late, 1);
	vti_pd_order_fini(&o);
	free(log);
}

static void stops_when_told(void **state)
{
	struct log log = {.stop_at = 2};
	struct pd_order o;
	uint64_t i;

	(void)state;
	vti_pd_order_init(&o, false, log_it, &log);
	for (i = 0; i < 5; i++)
		add(&o, 10 - i, i, 24);
	assert_int_equal(vti_pd_order_flush(&o), -VT_E_WRITE);
	assert_int_equal(log.n, 2);
	vti_pd_order_fini(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases_by_rounds), cmocka_unit_test(delivers_late_records_late),
		cmocka_unit_test(sorts_stably),	      cmocka_unit_test(bounds_its_memory),
		cmocka_unit_test(bounds_its_count),   cmocka_unit_test(stops_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
