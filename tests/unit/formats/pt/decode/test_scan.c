/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting the packets of a trace: damaged places, and pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/rng.h"
#include "tests/tools/pt_same.h"
#include "tests/unit/common/streams.h"

static void psb(struct vt_buf *b)
{
	int i;

	for (i = 0; i < 8; i++)
		vt_buf_put(b, "\x02\x82", 2);
}

static void put(struct vt_buf *b, const char *bytes, size_t size)
{
	vt_buf_put(b, bytes, size);
}

#define PUT(b, bytes) put(b, bytes, sizeof(bytes) - 1)

/* 5 bytes of something, then 16 + 8 + 4 + 2 + 1 + 2, 3 that are none, and again 16 + 8 + 1 cut. */
static void make(struct vt_buf *b)
{
	PUT(b, "\x05\x05\x02\x82\x02");
	psb(b);
	PUT(b, "\x19\x10\0\0\0\0\0\0");
	PUT(b, "\x02\x03\x25\0");
	PUT(b, "\x02\x23");
	PUT(b, "\x0e");
	PUT(b, "\x59\x01");
	PUT(b, "\x05\x02\x82");
	psb(b);
	PUT(b, "\x19\x20\0\0\0\0\0\0");
	PUT(b, "\x2d");
}

static void check_made(const struct vt_pt_scan *s)
{
	/* The two bytes of the pattern right before a PSB belong to a run that its end decides. */
	assert_int_equal(s->before, 5);
	assert_int_equal(s->count[VT_PT_PSB], 2);
	assert_int_equal(s->bytes[VT_PT_PSB], 32);
	assert_int_equal(s->count[VT_PT_TSC], 2);
	assert_int_equal(s->count[VT_PT_CBR], 1);
	assert_int_equal(s->count[VT_PT_PSBEND], 1);
	assert_int_equal(s->count[VT_PT_TNT8], 1);
	assert_int_equal(s->count[VT_PT_MTC], 1);
	assert_int_equal(s->packets, 8);
	assert_int_equal(s->decisions, 2);
	assert_int_equal(s->taken, 2);
	assert_int_equal(s->places, 2);
	assert_int_equal(s->bad_bytes, 4);
	assert_int_equal(s->bad[0].offset, 5 + 33);
	assert_int_equal(s->bad[0].bytes, 3);
	assert_false(s->bad[0].cut);
	assert_int_equal(s->bad[1].offset, 5 + 33 + 3 + 24);
	assert_int_equal(s->bad[1].bytes, 1);
	assert_true(s->bad[1].cut);
	assert_int_equal(s->size, 5 + 33 + 3 + 24 + 1);
	assert_int_equal(s->first_tsc, 16);
	assert_int_equal(s->timing.tsc, 32);
	assert_int_equal(s->min_cbr, 37);
	assert_int_equal(s->max_cbr, 37);
}

static void by_hand(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vt_pt_scan s;
	size_t i;

	(void)state;
	make(&b);
	vt_pt_scan_init(&s, NULL);
	vt_pt_scan_feed(&s, b.data, b.size);
	vt_pt_scan_end(&s);
	check_made(&s);
	vt_pt_scan_init(&s, NULL);
	for (i = 0; i < b.size; i++)
		vt_pt_scan_feed(&s, b.data + i, 1);
	vt_pt_scan_end(&s);
	check_made(&s);
	/* A break: what comes next is looked at from a PSB on, and that is no damage. */
	vt_pt_scan_init(&s, NULL);
	vt_pt_scan_feed(&s, b.data, 5 + 33);
	vt_pt_scan_break(&s);
	vt_pt_scan_feed(&s, b.data + 5 + 33, 3 + 24);
	vt_pt_scan_end(&s);
	assert_int_equal(s.before, 5 + 3);
	assert_int_equal(s.places, 0);
	assert_int_equal(s.packets, 8);
	vt_buf_free(&b);
}

static void nothing(void **state)
{
	const uint8_t bytes[40] = {2, 0x82, 2, 0x82};
	struct vt_pt_scan s;

	(void)state;
	vt_pt_scan_init(&s, NULL);
	vt_pt_scan_feed(&s, NULL, 0);
	vt_pt_scan_end(&s);
	assert_int_equal(s.size + s.before + s.packets + s.places, 0);
	vt_pt_scan_feed(&s, bytes, sizeof(bytes));
	vt_pt_scan_end(&s);
	assert_int_equal(s.before, sizeof(bytes));
	assert_int_equal(s.packets, 0);
}

static void random_trace(struct vt_buf *b, struct vt_rng *rng)
{
	unsigned n = (unsigned)vt_rng_below(rng, 30);

	while (n--) {
		switch (vt_rng_below(rng, 6)) {
		case 0:
			psb(b);
			break;
		case 1:
			vt_buf_put_le64(b, vt_rng_next(rng));
			break;
		case 2:
			PUT(b, "\x02\x82");
			break;
		case 3:
			PUT(b, "\x02\x63\x80\x0c\x02\x82\x02\x82");
			break;
		case 4:
			PUT(b, "\x59\x07\x07\x01\x10");
			break;
		default:
			PUT(b, "\x0c\x2d\x01");
			break;
		}
	}
}

static void pieces(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vt_pt_scan whole, s;
	struct vt_rng rng;
	size_t at, n;
	int round;
	unsigned k;

	(void)state;
	vt_rng_init(&rng, 7);
	for (round = 0; round < 20000; round++) {
		uint64_t bytes = 0, packets = 0;

		b.size = 0;
		random_trace(&b, &rng);
		vt_pt_scan_init(&whole, NULL);
		vt_pt_scan_feed(&whole, b.data, b.size);
		vt_pt_scan_end(&whole);
		vt_pt_scan_init(&s, NULL);
		for (at = 0; at < b.size; at += n) {
			n = vt_rng_below(&rng, 90);
			n = n < b.size - at ? n : b.size - at;
			vt_pt_scan_feed(&s, b.data + at, n);
		}
		vt_pt_scan_end(&s);
		assert_true(pt_same_scan(&s, &whole));
		for (k = 0; k < VT_PT_NKINDS; k++) {
			bytes += s.bytes[k];
			packets += s.count[k];
		}
		assert_int_equal(packets, s.packets);
		assert_int_equal(bytes + s.before + s.bad_bytes, b.size);
	}
	vt_buf_free(&b);
}

static void written(void **state)
{
	static const struct {
		const char *name;
		uint64_t count, bytes;
	} want[] = {{"", 8, 66},     {"PSB", 2, 32}, {"PSBEND", 1, 2},
		    {"TNT-8", 1, 1}, {"TSC", 2, 16}, {"MTC", 1, 2},
		    {"CBR", 1, 4},   {"none", 2, 9}, {"", 0, 66}};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	struct vt_buf b = VT_BUF_INIT;
	struct vt_writer *w;
	struct vt_reader *r;
	struct vt_record rec = {0};
	int fd = scratch_file();
	size_t i;

	(void)state;
	make(&b);
	w = vt_writer_open_fd(fd, "test", &opt, &err);
	assert_non_null(w);
	vt_pt_packets_write(w, 3, b.data, b.size, true);
	vt_pt_packets_write(w, 3, b.data, b.size, false);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct vt_bytes name;

		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
		name = vt_record_bytes(&rec, VT_PACKETS_NAME);
		assert_int_equal(name.size, strlen(want[i].name));
		assert_memory_equal(name.data, want[i].name, name.size);
		assert_int_equal(vt_record_u64(&rec, VT_PACKETS_INDEX), 3);
		assert_int_equal(vt_record_u64(&rec, VT_PACKETS_COUNT), want[i].count);
		assert_int_equal(vt_record_u64(&rec, VT_PACKETS_BYTES), want[i].bytes);
	}
	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	vt_reader_close(r);
	close(fd);
	vt_buf_free(&b);
}

/* A corrupted TMA of a server's processor, in pieces of any size, and at the end of the trace. */
static void corrupted(void **state)
{
	struct vt_pt_options opt = {.family = 6, .model = 0x55};
	struct vt_buf b = VT_BUF_INIT;
	struct vt_pt_scan s;
	size_t piece, at, n;

	(void)state;
	psb(&b);
	PUT(&b, "\x02\x73\0\0\0\0\x22\0");
	PUT(&b, "\x02\x23\x02\x73\0\0\0\0\x09");
	for (piece = 1; piece <= b.size; piece++) {
		vt_pt_scan_init(&s, &opt);
		for (at = 0; at < b.size; at += n) {
			n = piece < b.size - at ? piece : b.size - at;
			vt_pt_scan_feed(&s, b.data + at, n);
		}
		vt_pt_scan_end(&s);
		assert_int_equal(s.places, 0);
		assert_int_equal(s.count[VT_PT_TMA], 2);
		assert_int_equal(s.bytes[VT_PT_TMA], 8 + 7);
		assert_int_equal(s.count[VT_PT_PSBEND], 1);
		assert_int_equal(s.count[VT_PT_PAD], 0);
		assert_int_equal(s.packets, 4);
	}
	/* Of other processors it is none. */
	opt.model = 0x4e;
	vt_pt_scan_init(&s, &opt);
	vt_pt_scan_feed(&s, b.data, b.size);
	vt_pt_scan_end(&s);
	assert_int_equal(s.places, 1);
	assert_int_equal(s.count[VT_PT_TMA], 0);
	vt_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand), cmocka_unit_test(nothing),	cmocka_unit_test(pieces),
		cmocka_unit_test(written), cmocka_unit_test(corrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
