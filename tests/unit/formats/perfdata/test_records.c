/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf's own records one by one, and by what time the kernel's are put in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/perfdata/session.h"
#include "tests/unit/formats/perfdata/pdfile.h"
#include "tests/unit/formats/perfdata/pdsession.h"

/* A record whose payload is these bytes. */
static void user(struct pdsession *p, uint32_t type, const struct vt_buf *b)
{
	const struct pd_rec r = {.type = type,
				 .size = (uint16_t)(PD_HEADER_SIZE + b->size),
				 .payload = b->data,
				 .left = b->size,
				 .offset = 9};

	assert_int_equal(vti_pd_user(&p->s, &r), 0);
}

static void begin(struct pdsession *p, struct vt_buf *b, bool big)
{
	pdsession_init(p, PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP);
	p->s.big = big;
	vti_pd_events_emit(&p->s);
	pdsession_expect(p, "EVENT name=cycles:HG policy=1 unit=cycles sample_type=65537 "
			    "attr_flags=262144\n");
	b->size = 0;
}

static const struct pdfile orders[2] = {{.big = false}, {.big = true}};

static void updates_events(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned big, type;

	(void)state;
	for (big = 0; big < 2; big++) {
		for (type = 0; type < 4; type++) {
			begin(&p, &b, big);
			pdsession_event(&p, &p.s.events[0].attr);
			vti_pd_id_add(&p.s, 11, 0);
			vti_pd_id_add(&p.s, 12, 1);
			pdfile_u64(&orders[big], &b, type);
			pdfile_u64(&orders[big], &b, 12);
			vt_buf_put(&b, "named\0..", 8);
			user(&p, PD_EVENT_UPDATE, &b);
			assert_null(p.s.events[0].name);
			if (type == 2)
				assert_string_equal(p.s.events[1].name, "named");
			else
				assert_null(p.s.events[1].name);
			assert_int_equal(vti_pd_events_emit(&p.s), 0);
			b.size = 0;
			pdfile_u64(&orders[big], &b, type);
			pdfile_u64(&orders[big], &b, 13);
			user(&p, PD_EVENT_UPDATE, &b);
			assert_int_equal(p.sum.unknown, 1);
			pdsession_fini(&p);
		}
	}
	begin(&p, &b, false);
	pdfile_u64(&orders[0], &b, 3);
	pdfile_u64(&orders[0], &b, 11);
	user(&p, PD_EVENT_UPDATE, &b);
	pdsession_expect(&p, "META key=record.event_update "
			     "data=03000000000000000b00000000000000\n");
	pdsession_fini(&p);
	vt_buf_free(&b);
}

/* An attribute of its own size, then the ids: here two and half of one. */
static void adds_events(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned big, i;

	(void)state;
	for (big = 0; big < 2; big++) {
		begin(&p, &b, big);
		pdfile_u32(&orders[big], &b, PD_TYPE_RAW);
		pdfile_u32(&orders[big], &b, 72);
		for (i = 0; i < 8; i++)
			pdfile_u64(&orders[big], &b, i == 2 ? PD_SAMPLE_IDENTIFIER : i);
		pdfile_u64(&orders[big], &b, 21);
		pdfile_u64(&orders[big], &b, 22);
		pdfile_u32(&orders[big], &b, 0);
		user(&p, PD_HEADER_ATTR, &b);
		assert_int_equal(p.s.nevents, 2);
		assert_int_equal(p.s.events[1].attr.size, 72);
		assert_int_equal(p.s.events[1].layout.words, 1);
		assert_int_equal(p.s.ids.count, 2);
		assert_int_equal(vti_pd_event_of_id(&p.s, 21), 1);
		assert_int_equal(vti_pd_event_of_id(&p.s, 22), 1);
		assert_int_equal(p.sum.damaged, 0);
		/* All of the attribute has to be there, but no id has. */
		b.size = 72;
		user(&p, PD_HEADER_ATTR, &b);
		assert_int_equal(p.s.nevents, 3);
		assert_int_equal(p.sum.damaged, 0);
		b.size = 71;
		user(&p, PD_HEADER_ATTR, &b);
		assert_int_equal(p.s.nevents, 3);
		assert_int_equal(p.sum.damaged, 1);
		b.size = 63;
		user(&p, PD_HEADER_ATTR, &b);
		assert_int_equal(p.sum.damaged, 2);
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

static void reads_features(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned big;

	(void)state;
	for (big = 0; big < 2; big++) {
		begin(&p, &b, big);
		pdfile_u64(&orders[big], &b, 255);
		vt_buf_put(&b, "ab", 2);
		user(&p, PD_HEADER_FEATURE, &b);
		pdsession_expect(&p, "META key=feature.255 data=6162\n");
		b.size = 0;
		pdfile_u64(&orders[big], &b, 256);
		user(&p, PD_HEADER_FEATURE, &b);
		pdsession_expect(&p, "GAP reason=record of type 80: too short for its type "
				     "input=test offset=9 bytes=16 records=1\n");
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

static void reads_kinds_of_aux_areas(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned big;

	(void)state;
	for (big = 0; big < 2; big++) {
		begin(&p, &b, big);
		pdfile_u32(&orders[big], &b, 3);
		pdfile_u32(&orders[big], &b, 77);
		user(&p, PD_AUXTRACE_INFO, &b);
		assert_int_equal(p.s.aux_type, 3);
		pdfile_u64(&orders[big], &b, 5);
		pdfile_u64(&orders[big], &b, 6);
		pdfile_u32(&orders[big], &b, 7);
		user(&p, PD_AUXTRACE_INFO, &b);
		b.size = 7;
		user(&p, PD_AUXTRACE_INFO, &b);
		pdsession_expect(&p, "AUXINFO type=3\nAUXINFO type=3 priv=5,6\n"
				     "GAP reason=record of type 70: too short for its type "
				     "input=test offset=9 bytes=15 records=1\n");
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

#define ERROR "pid=4 tid=-1 cpu=3 reason=AUX trace error type 1 code 2 ip 0x1000: "
#define TEN   "0123456789"

/* A type, a code, where and of whom; the second form of it has a time. 64 letters are shown. */
static void reads_errors_of_aux_areas(void **state)
{
	static const char *const lines[] = {
		"GAP " ERROR " input=test offset=9\n"
		"GAP " ERROR TEN TEN TEN TEN TEN TEN "0123 input=test offset=9\n"
		/* "01234567" as a number */
		"GAP time=3978425819141910832 " ERROR "89" TEN TEN TEN TEN TEN
		"01234567 input=test offset=9\n",
		"GAP " ERROR " input=test offset=9\n"
		"GAP " ERROR TEN TEN TEN TEN TEN TEN "0123 input=test offset=9\n"
		"GAP time=3472611983179986487 " ERROR "89" TEN TEN TEN TEN TEN
		"01234567 input=test offset=9\n"};
	static const char text[] = TEN TEN TEN TEN TEN TEN "01234567";
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned big, i;

	(void)state;
	for (big = 0; big < 2; big++) {
		begin(&p, &b, big);
		for (i = 0; i < 5; i++)
			pdfile_u32(&orders[big], &b, i == 4 ? (uint32_t)-1 : 1 + i);
		pdfile_u32(&orders[big], &b, 0);
		pdfile_u64(&orders[big], &b, 4096);
		user(&p, PD_AUXTRACE_ERROR, &b);
		vt_buf_put(&b, text, sizeof(text));
		user(&p, PD_AUXTRACE_ERROR, &b);
		b.data[big ? 23 : 20] = 1;
		user(&p, PD_AUXTRACE_ERROR, &b);
		pdsession_expect(&p, lines[big]);
		b.size = 39;
		user(&p, PD_AUXTRACE_ERROR, &b);
		assert_int_equal(p.sum.damaged, 1);
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

/* Three numbers, and since Linux 5.9 two more and two bytes. */
static void reads_conversions_of_time(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned big, i;

	(void)state;
	for (big = 0; big < 2; big++) {
		begin(&p, &b, big);
		for (i = 0; i < 5; i++)
			pdfile_u64(&orders[big], &b, 11 + i);
		vt_buf_put(&b, "\0\1", 2);
		user(&p, PD_TIME_CONV, &b);
		b.data[40] = 1;
		user(&p, PD_TIME_CONV, &b);
		b.size--;
		user(&p, PD_TIME_CONV, &b);
		pdsession_expect(&p, "TIMECONV shift=11 mult=12 zero=13 cycles=14 mask=15 caps=2\n"
				     "TIMECONV shift=11 mult=12 zero=13 cycles=14 mask=15 caps=3\n"
				     "TIMECONV shift=11 mult=12 zero=13\n");
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

static void counts_records_that_it_does_not_know(void **state)
{
	static const uint32_t none[] = {66, 68, 71, 85, 86, 64 + 1000, UINT32_MAX};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t i;

	(void)state;
	begin(&p, &b, false);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		user(&p, none[i], &b);
		assert_int_equal(p.sum.unknown, i + 1);
	}
	user(&p, PD_BPF_METADATA, &b);
	user(&p, PD_FINISHED_INIT, &b);
	assert_int_equal(p.sum.unknown, i);
	pdsession_fini(&p);
	vt_buf_free(&b);
}

/* ---- times ---- */

/* The time of a record of n words 1, 2, 3... */
static uint64_t time_of(struct pdsession *p, uint32_t type, size_t n)
{
	struct pd_rec r = {.type = type, .left = 8 * n};
	uint8_t words[64] = {0};
	size_t i;

	for (i = 0; i < n; i++)
		words[8 * i + (p->s.big ? 7 : 0)] = (uint8_t)(1 + i);
	r.payload = words;
	return vti_pd_order_time(&p->s, &r);
}

static void finds_times(void **state)
{
	struct pd_attr a = {.sample_type = PD_SAMPLE_IDENTIFIER | PD_SAMPLE_TIME,
			    .flags = PD_ATTR_SAMPLE_ID_ALL};
	struct pdsession p;
	unsigned big;

	(void)state;
	for (big = 0; big < 2; big++) {
		pdsession_init(&p, PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP | PD_SAMPLE_TIME);
		p.s.big = big;
		/* The third word of a sample, and the last but one of another record. */
		assert_int_equal(time_of(&p, PD_SAMPLE, 3), 3);
		assert_int_equal(time_of(&p, PD_SAMPLE, 4), 3);
		assert_int_equal(time_of(&p, PD_SAMPLE, 2), 0);
		assert_int_equal(time_of(&p, PD_COMM, 5), 4);
		assert_int_equal(time_of(&p, PD_COMM, 2), 1);
		assert_int_equal(time_of(&p, PD_COMM, 1), 0);
		/* Of the second event, whose id is 1, it is the second word. */
		pdsession_event(&p, &a);
		vti_pd_id_add(&p.s, 1, 1);
		vti_pd_id_add(&p.s, 5, 1);
		assert_int_equal(time_of(&p, PD_SAMPLE, 3), 2);
		assert_int_equal(time_of(&p, PD_SAMPLE, 2), 2);
		assert_int_equal(time_of(&p, PD_SAMPLE, 1), 0);
		assert_int_equal(time_of(&p, PD_COMM, 5), 4);
		/* An id that nobody has. */
		assert_int_equal(time_of(&p, PD_COMM, 4), 0);
		p.s.events[1].attr.sample_type = PD_SAMPLE_IDENTIFIER;
		vti_pd_layout(&p.s);
		assert_int_equal(time_of(&p, PD_SAMPLE, 3), 0);
		assert_int_equal(time_of(&p, PD_COMM, 5), 0);
		p.s.events[1].attr.sample_type = a.sample_type;
		vti_pd_layout(&p.s);
		p.s.events[1].attr.flags = 0;
		assert_int_equal(time_of(&p, PD_COMM, 5), 0);
		assert_int_equal(time_of(&p, PD_SAMPLE, 3), 2);
		pdsession_fini(&p);

		pdsession_init(&p, PD_SAMPLE_IP);
		p.s.big = big;
		assert_int_equal(time_of(&p, PD_SAMPLE, 3), 0);
		assert_int_equal(time_of(&p, PD_COMM, 3), 0);
		pdsession_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(updates_events),
		cmocka_unit_test(adds_events),
		cmocka_unit_test(reads_features),
		cmocka_unit_test(reads_kinds_of_aux_areas),
		cmocka_unit_test(reads_errors_of_aux_areas),
		cmocka_unit_test(reads_conversions_of_time),
		cmocka_unit_test(counts_records_that_it_does_not_know),
		cmocka_unit_test(finds_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
