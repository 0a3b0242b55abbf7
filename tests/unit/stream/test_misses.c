/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which miss goes with which access: worked examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/misses.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

static void put_miss(struct vt_writer *w, int64_t pid, uint64_t position, uint64_t addr, bool store,
		     enum vt_source source)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_PID] = (uint64_t)pid;
	row[VT_SAMPLE_ADDR] = addr;
	vt_pm_tell(row, VT_PM_EVENT(LOAD), !store);
	vt_pm_tell(row, VT_PM_EVENT(STORE), store);
	vt_pm_set(row, VT_SAMPLE_SOURCE, source);
	vt_pm_set(row, VT_SAMPLE_POSITION, position);
	if (!store)
		vt_pm_set(row, VT_SAMPLE_LAT_LOAD, 100 + position);
}

/* Reads all of a stream; returns the number of records that are samples of misses. */
static unsigned feed(struct vt_misses *m, int fd, struct vt_writer *w)
{
	struct vt_reader *in = reread_stream(fd, w);
	struct vt_record rec;
	unsigned n = 0;

	vt_misses_init(m);
	while (vt_reader_next(in, &rec, &err) > 0) {
		n += vt_misses_is(&rec);
		if (rec.kind == VT_META || vt_misses_is(&rec))
			assert_int_equal(vt_misses_feed(m, &rec, &err), 0);
	}
	vt_reader_close(in);
	close(fd);
	return n;
}

static bool take(struct vt_misses *m, int64_t pid, uint64_t position, uint64_t addr, bool store)
{
	return vt_misses_take(m, pid, position, addr, 8, store);
}

static void test_accesses(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	const struct vt_miss *miss;
	struct vt_misses m;

	(void)state;
	vt_writer_meta(w, VT_MISSES_META, "x");
	vt_writer_meta_u64(w, VT_MISSES_META_LINE, 32);
	vt_writer_row(w, VT_SAMPLE)[VT_SAMPLE_PID] = 1; /* of another event */
	put_miss(w, 1, 5, 0x1000, false, VT_SOURCE_L2);
	put_miss(w, 1, 5, 0x1000, true, VT_SOURCE_FILL_BUFFER);
	put_miss(w, 2, 5, 0x1000, false, VT_SOURCE_DRAM);
	put_miss(w, 1, 7, 0x103e, false, VT_SOURCE_L3);
	put_miss(w, 1, 7, 0x1040, false, VT_SOURCE_L3);
	put_miss(w, 1, 8, 0x2000, false, VT_SOURCE_L3);
	put_miss(w, 1, 9, 0x3000, false, VT_SOURCE_L3);
	assert_int_equal(feed(&m, fd, w), 7);
	assert_true(m.told && m.line == 32 && m.count == 7);

	assert_false(take(&m, 1, 4, 0x1000, false)); /* too early */
	assert_false(take(&m, 3, 5, 0x1000, false)); /* another process */
	assert_false(take(&m, 1, 5, 0x1001, false)); /* behind its first byte, */
	assert_false(take(&m, 1, 5, 0xff8, false));  /* and before */
	miss = vt_misses_take(&m, 1, 5, 0xff9, 8, false);
	assert_non_null(miss);
	assert_true(miss->brought && !miss->store && miss->latency == 105);
	assert_false(take(&m, 1, 5, 0x1000, false)); /* only once */
	miss = vt_misses_take(&m, 1, 5, 0x1000, 8, true);
	assert_non_null(miss);
	assert_true(!miss->brought && miss->store && miss->latency == 0);
	/* An access to two lines takes both. */
	assert_true(take(&m, 1, 7, 0x103e, false));
	assert_true(take(&m, 1, 7, 0x103e, false));
	assert_false(take(&m, 1, 7, 0x103e, false));
	/* What was not asked for at its position is forgotten. */
	assert_true(take(&m, 1, 9, 0x3000, false));
	assert_false(take(&m, 1, 8, 0x2000, false));
	assert_true(take(&m, 2, 5, 0x1000, false));
	assert_int_equal(m.taken, 6);
	vt_misses_fini(&m);
}

/* Those that nobody asks for do not fill memory; those that are, find room again. */
static void test_many(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_misses m;
	uint64_t i;

	(void)state;
	for (i = 0; i < VT_MISSES_WAITING + 5; i++)
		put_miss(w, 1, i, 8 * i, false, VT_SOURCE_L2);
	feed(&m, fd, w);
	assert_true(m.count == VT_MISSES_WAITING + 5 && m.waiting == VT_MISSES_WAITING);
	for (i = 0; i < VT_MISSES_WAITING; i++)
		assert_true(take(&m, 1, i, 8 * i, false));
	assert_false(take(&m, 1, i, 8 * i, false));
	assert_true(m.waiting == 0 && m.taken == VT_MISSES_WAITING);
	vt_misses_fini(&m);
}

static void test_strange(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_misses m;

	(void)state;
	vt_writer_meta(w, VT_MISSES_META_LINE, "-1");
	vt_writer_meta(w, VT_MISSES_META_LINE, "1e300");
	vt_writer_meta(w, VT_MISSES_META_LINE, "many");
	put_miss(w, -1, UINT64_MAX, UINT64_MAX, false, VT_SOURCE_L2);
	vt_writer_row(w, VT_SAMPLE)[VT_SAMPLE_PM_HAS] = VT_PM_BIT(POSITION) | VT_PM_BIT(SOURCE);
	vt_writer_row(w, VT_META);
	assert_int_equal(feed(&m, fd, w), 2);
	assert_true(!m.told && m.line == 0);
	assert_true(take(&m, -1, UINT64_MAX, UINT64_MAX - 7, false));
	assert_true(take(&m, 0, 0, 0, false));
	assert_false(take(&m, 0, 0, 0, false));
	vt_misses_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accesses),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_strange),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
