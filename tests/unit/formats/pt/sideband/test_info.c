/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recording says of its Intel PT as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/pt/sideband/ptinfo.h"
#include "tests/unit/common/onerecord.h"
#include "tests/unit/common/ptrecording.h"

static struct vti_pt_info gather(struct recording *m)
{
	struct vt_reader *r = reread_stream(m->fd, m->w);
	struct vt_error err = VT_ERROR_INIT;
	struct vti_pt_info info;
	struct vt_record rec;

	vti_pt_info_init(&info);
	while (vt_reader_next(r, &rec, &err) > 0)
		vti_pt_info_feed(&info, &rec);
	vti_pt_info_done(&info);
	vt_reader_close(r);
	close(m->fd);
	return info;
}

static void put_event(struct recording *m, uint64_t type, uint64_t config, uint64_t sample_type)
{
	uint64_t *row = vt_writer_row(m->w, VT_EVENT);

	row[VT_EVENT_TYPE] = type;
	row[VT_EVENT_CONFIG] = config;
	row[VT_EVENT_SAMPLE_TYPE] = sample_type;
}

/* As perf numbers them, but for one. */
enum {
	PRIV_PMU,
	SHIFT,
	MULT,
	ZERO,
	CAP,
	PRIV_TSC,
	PRIV_SNAPSHOT = 8,
	PERIOD_BITS = 11,
	CTC_N,
	CTC_D,
	RATIO = 15
};

static void put_auxinfo(struct recording *m, uint64_t type, unsigned changed, uint64_t value)
{
	uint64_t priv[] = {PMU, 2, 3, 4, 1, TSC_BIT, 0, 0, 0, 0, MTC_BIT, MTC_BITS, 250, 2, 0, 32};
	uint64_t *row = vt_writer_row(m->w, VT_AUXINFO);

	priv[changed] = value;
	row[VT_AUXINFO_TYPE] = type;
	vt_writer_words(m->w, VT_AUXINFO_PRIV, priv, sizeof(priv) / sizeof(priv[0]));
}

static void test_info(void **state)
{
	struct recording m = new_recording();
	struct vti_pt_info i;

	(void)state;
	put_auxinfo(&m, 1, PRIV_PMU, PMU);
	/* A second one, and one of something else, say nothing. */
	put_auxinfo(&m, 1, SHIFT, 9);
	put_event(&m, 5, TSC_BIT, 4);
	put_event(&m, PMU, TSC_BIT | MTC_BIT | 5 << 14, 4);
	i = gather(&m);
	assert_true(i.found && i.timed);
	assert_false(i.snapshot || i.has_times || i.switches);
	assert_true(i.conv.known);
	assert_int_equal(i.conv.shift, 2);
	assert_int_equal(i.conv.mult, 3);
	assert_int_equal(i.conv.zero, 4);
	assert_int_equal(i.options.clock.mtc_period, 5);
	assert_int_equal(i.options.clock.nominal_ratio, 32);
	assert_int_equal(i.options.clock.ctc_numerator, 250);
	assert_int_equal(i.options.clock.ctc_denominator, 2);
	assert_int_equal(i.sched_switch, UINT64_MAX);
	assert_int_equal(i.only_pid, -1);
	m = new_recording();
	put_auxinfo(&m, 2, PRIV_PMU, PMU);
	i = gather(&m);
	assert_false(i.found || i.timed || i.conv.known);
}

/* What a description with one other number gives. */
static struct vti_pt_info with(unsigned changed, uint64_t value)
{
	struct recording m = new_recording();

	put_auxinfo(&m, 1, changed, value);
	put_event(&m, 6, TSC_BIT, 4);
	put_event(&m, PMU, TSC_BIT, 4);
	return gather(&m);
}

static void test_numbers(void **state)
{
	(void)state;
	assert_true(with(PRIV_SNAPSHOT, 1).snapshot);
	assert_int_equal(with(RATIO, 255).options.clock.nominal_ratio, 255);
	assert_int_equal(with(RATIO, 256).options.clock.nominal_ratio, 0);
	assert_int_equal(with(CTC_N, UINT32_MAX).options.clock.ctc_numerator, UINT32_MAX);
	assert_int_equal(with(CTC_N, 1ULL << 32).options.clock.ctc_denominator, 0);
	assert_int_equal(with(CTC_D, UINT32_MAX).options.clock.ctc_denominator, UINT32_MAX);
	assert_int_equal(with(CTC_D, 1ULL << 32).options.clock.ctc_numerator, 0);
	assert_true(with(SHIFT, 63).conv.known);
	assert_false(with(SHIFT, 64).conv.known);
	assert_true(with(MULT, UINT32_MAX).conv.known);
	assert_false(with(MULT, 1ULL << 32).conv.known);
	assert_false(with(MULT, 0).conv.known);
	assert_false(with(CAP, 0).conv.known);
	assert_false(with(CAP, 0).timed);
	assert_true(with(PRIV_PMU, 6).timed);
	assert_false(with(PRIV_PMU, 7).timed);
	assert_false(with(PRIV_TSC, 1).timed);
	/* Without MTC packets there is no period. */
	assert_int_equal(with(SHIFT, 1).options.clock.mtc_period, 0);
}

/* The period of MTC packets is a number of the event's, in the bits that AUXINFO tells. */
static void test_period(void **state)
{
	static const struct {
		uint64_t bits, config;
		unsigned period;
	} rows[] = {
		{MTC_BITS, TSC_BIT | MTC_BIT | 9U << 14, 9}, {MTC_BITS, TSC_BIT | 9U << 14, 0},
		{0, TSC_BIT | MTC_BIT | 9U << 14, 0},	     {31U << 14, MTC_BIT | 17U << 14, 1},
		{6U << 14, MTC_BIT | 15U << 14, 3},	     {1, MTC_BIT | 9U << 14, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct recording m = new_recording();

		put_auxinfo(&m, 1, PERIOD_BITS, rows[i].bits);
		put_event(&m, PMU, rows[i].config, 0);
		assert_int_equal(gather(&m).options.clock.mtc_period, rows[i].period);
	}
}

/* The first event of the PMU counts, if it is among the first 64 of those with a type of their own.
 */
static void test_events(void **state)
{
	struct vti_pt_info i;
	unsigned before;

	(void)state;
	for (before = VTI_PT_EVENTS - 1; before <= VTI_PT_EVENTS; before++) {
		struct recording m = new_recording();
		unsigned k;

		put_auxinfo(&m, 1, PRIV_PMU, PMU);
		for (k = 0; k < before; k++) {
			put_event(&m, PMU + 1 + k, TSC_BIT, 4);
			put_event(&m, 5, TSC_BIT, 4);
		}
		put_event(&m, PMU, TSC_BIT, 4);
		put_event(&m, PMU, 0, 0);
		i = gather(&m);
		assert_int_equal(i.timed, before < VTI_PT_EVENTS);
	}
}

/* Words that are not there are 0, and more than there can be are of no use. */
static void test_words(void **state)
{
	const uint64_t priv[24] = {PMU, 2, 3,	    4,	      1,   TSC_BIT, 0, 0,
				   1,	0, MTC_BIT, MTC_BITS, 250, 2,	    0, 32};
	unsigned count;

	(void)state;
	for (count = 0; count <= 24; count += 8) {
		struct recording m = new_recording();
		uint64_t *row = vt_writer_row(m.w, VT_AUXINFO);
		struct vti_pt_info i;

		row[VT_AUXINFO_TYPE] = 1;
		vt_writer_words(m.w, VT_AUXINFO_PRIV, priv, count);
		i = gather(&m);
		assert_true(i.found);
		assert_int_equal(i.conv.known, count > 0);
		assert_int_equal(i.snapshot, count > 8);
		assert_int_equal(i.options.clock.nominal_ratio, count > 8 ? 32 : 0);
	}
}

static void put_name(struct recording *m, uint64_t id, const char *name)
{
	uint64_t *row = vt_writer_row(m->w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	vt_writer_text(m->w, VT_EVENT_NAME, name);
}

/* What tells of switches by its name. */
static void test_names(void **state)
{
	static const char *const others[] = {"sched:sched_switcg", "sched:sched_switc",
					     "sched:sched_switches", ""};
	struct recording m;
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		m = new_recording();
		put_name(&m, 17, i < 4 ? others[i] : "sched:sched_switch");
		assert_int_equal(gather(&m).sched_switch, i < 4 ? UINT64_MAX : 17);
	}
	/* Times of any record with code or threads say that there are some. */
	m = new_recording();
	put_process(&m, 0, ONE, 3);
	assert_true(gather(&m).has_times);
	m = new_recording();
	put_itrace(&m, 1, 0, ONE);
	assert_true(gather(&m).switches);
	assert_int_equal(vti_pt_tsc(&(struct vt_pt_timeconv){true, 40, 1U << 31, 0}, 1000), 512000);
}

static void put_timeconv(struct recording *m, uint64_t shift, uint64_t mult, uint64_t zero)
{
	uint64_t *row = vt_writer_row(m->w, VT_TIMECONV);

	row[VT_TIMECONV_SHIFT] = shift;
	row[VT_TIMECONV_MULT] = mult;
	row[VT_TIMECONV_ZERO] = zero;
}

static void put_meta(struct recording *m, const char *key, const char *value)
{
	vt_writer_row(m->w, VT_META);
	vt_writer_text(m->w, VT_META_KEY, key);
	vt_writer_text(m->w, VT_META_VALUE, value);
}

static void test_others(void **state)
{
	struct recording m = new_recording();
	struct vti_pt_info i;

	(void)state;
	/* The first conversion that is one. */
	put_timeconv(&m, 64, 1, 1);
	put_timeconv(&m, 1, 0, 1);
	put_timeconv(&m, 1, 1ULL << 32, 1);
	put_timeconv(&m, 63, UINT32_MAX, 17);
	put_timeconv(&m, 1, 1, 1);
	put_meta(&m, "cpuid", "GenuineIntel,6,142,10,99");
	put_meta(&m, "cpuip", "GenuineIntel,7,1,1");
	put_meta(&m, "cpuid", "AuthenticAMD,7,1,1");
	i = gather(&m);
	assert_true(i.conv.known);
	assert_int_equal(i.conv.shift, 63);
	assert_int_equal(i.conv.mult, UINT32_MAX);
	assert_int_equal(i.conv.zero, 17);
	assert_int_equal(i.options.family, 6);
	assert_int_equal(i.options.model, 142);
	assert_int_equal(i.options.stepping, 10);
}

static void put_map(struct recording *m, int64_t pid, uint64_t image, uint64_t at, uint64_t offset,
		    uint64_t prot)
{
	uint64_t *row = vt_writer_row(m->w, VT_MAP);

	row[VT_MAP_PID] = (uint64_t)pid;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_START] = at;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_PROT] = prot;
}

/* The only process with code, and where the kernel's code was. */
static void test_maps(void **state)
{
	struct recording m = new_recording();
	struct vti_pt_info i;
	uint64_t *row;

	(void)state;
	put_map(&m, ONE, 1, 0x1000, 0, 5);
	put_map(&m, ONE, 1, 0x2000, 0, 4);
	put_map(&m, TWO, 1, 0x1000, 0, 3);
	row = vt_writer_row(m.w, VT_IMAGE);
	row[VT_IMAGE_ID] = 8;
	row[VT_IMAGE_TYPE] = VT_IMAGE_KERNEL;
	put_map(&m, -1, 7, 0x8000, 0x70, 5);
	put_map(&m, ONE, 8, 0x8000, 0x71, 5);
	put_map(&m, -1, 8, 0x8000, 0x72, 5);
	put_map(&m, -1, 8, 0x8000, 0x73, 5);
	i = gather(&m);
	assert_int_equal(i.only_pid, ONE);
	assert_int_equal(i.kernel, 0x72);
	assert_false(i.has_times);
	m = new_recording();
	row = vt_writer_row(m.w, VT_IMAGE);
	row[VT_IMAGE_ID] = 8;
	row[VT_IMAGE_TYPE] = VT_IMAGE_KERNEL;
	put_map(&m, -1, 8, 0x8000, 0, 5);
	put_map(&m, 0, 1, 0x1000, 0, 4);
	put_map(&m, ONE, 1, 0x1000, 0, 4);
	put_map(&m, ONE, 1, 0x1000, 0, 4);
	i = gather(&m);
	assert_int_equal(i.only_pid, -1);
	assert_int_equal(i.kernel, 0x8000);
	/* What has times, and what tells who runs. */
	m = new_recording();
	put_thread(&m, VT_OP_FORK, 1, ONE, ONE);
	assert_true(gather(&m).has_times);
	m = new_recording();
	put_switch(&m, 1, 0, ONE, false, 0);
	assert_true(gather(&m).switches);
	m = new_recording();
	put_info(&m, SCHED);
	i = gather(&m);
	assert_true(i.switches);
	assert_int_equal(i.sched_switch, EVENT);
}

/* Each kind of record says its own: numbers and texts that would say something of others, too. */
static void test_kinds(void **state)
{
	static const uint32_t kinds[] = {VT_AUXINFO, VT_EVENT,	VT_TIMECONV, VT_META,	VT_IMAGE,
					 VT_MAP,     VT_THREAD, VT_SWITCH,   VT_ITRACE, VT_SAMPLE};
	static const char cpu[] = "GenuineIntel,6,142,10";
	const struct field_bytes key = {VT_META_KEY, "cpuid", 5};
	const struct field_bytes value = {VT_META_VALUE, cpu, strlen(cpu)};
	uint64_t v[FIELDS];
	size_t k;

	(void)state;
	for (k = 0; k < FIELDS; k++)
		v[k] = 1;
	v[VT_EVENT_TYPE] = PMU;
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const uint32_t kind = kinds[k];
		struct vti_pt_info i;
		struct one_record r;

		vti_pt_info_init(&i);
		/* Of numbers in a row there are none. */
		vti_pt_info_feed(&i, kind == VT_AUXINFO ? make_numbers(&r, kind, v)
							: make_record(&r, kind, v, key, value));
		assert_int_equal(i.found, kind == VT_AUXINFO);
		assert_int_equal(i.nevents, kind == VT_EVENT);
		assert_int_equal(i.conv.known, kind == VT_TIMECONV);
		assert_int_equal(i.options.family, kind == VT_META ? 6 : 0);
		assert_int_equal(i.kernel_image == 1, kind == VT_IMAGE);
		assert_int_equal(i.has_times, kind == VT_MAP || kind == VT_THREAD);
		assert_int_equal(i.switches, kind == VT_SWITCH || kind == VT_ITRACE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_info),   cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_others), cmocka_unit_test(test_maps),
		cmocka_unit_test(test_period), cmocka_unit_test(test_events),
		cmocka_unit_test(test_words),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
