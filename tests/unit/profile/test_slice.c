/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "profile/slice.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/streams.h"

#define USER 2
#define ALL  0x87 /* ip, tid, time, cpu */
#define SEC  UINT64_C(1000000000)

static struct vt_error err;

/* Sample number `period`. */
static void put_sample(struct vt_writer *w, uint64_t number, int64_t pid, int64_t tid, uint64_t cpu,
		       uint64_t time, uint64_t has)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_PERIOD] = number;
	row[VT_SAMPLE_PID] = (uint64_t)pid;
	row[VT_SAMPLE_TID] = (uint64_t)tid;
	row[VT_SAMPLE_CPU] = cpu;
	row[VT_SAMPLE_TIME] = time;
	row[VT_SAMPLE_IP] = 0x1000 * number;
	row[VT_SAMPLE_MISC] = USER;
	row[VT_SAMPLE_HAS] = has;
}

static void put_comm(struct vt_writer *w, int64_t tid, const char *comm)
{
	uint64_t *row = vt_writer_row(w, VT_THREAD);

	row[VT_THREAD_PID] = row[VT_THREAD_TID] = (uint64_t)tid;
	row[VT_THREAD_OP] = VT_OP_COMM;
	vt_writer_text(w, VT_THREAD_COMM, comm);
}

static void put_map(struct vt_writer *w, uint64_t image, const char *path, int64_t pid,
		    uint64_t start, uint64_t length)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = image;
	row[VT_IMAGE_TYPE] = path[0] == '[' ? VT_IMAGE_VDSO : VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, path);
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = (uint64_t)pid;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = length;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = 5;
	row[VT_MAP_MISC] = USER;
}

static void put_count(struct vt_writer *w, uint64_t image, uint64_t samples)
{
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	row[VT_COUNT_IMAGE] = image;
	row[VT_COUNT_SAMPLES] = samples;
}

/* What passes: "1 2 5 | 7", a bar between runs, "T" for other records, "#12" for counts. */
static int note_run(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		    struct vt_error *e)
{
	struct vt_record rec = {b, b->kind, first};
	struct vt_buf *out = arg;

	(void)e;
	if (out->size)
		vt_buf_printf(out, " |");
	for (; rec.row - first < count; rec.row++) {
		if (b->kind == VT_SAMPLE)
			vt_buf_printf(out, " %" PRIu64, vt_record_u64(&rec, VT_SAMPLE_PERIOD));
		else if (b->kind == VT_COUNT)
			vt_buf_printf(out, " #%" PRIu64, vt_record_u64(&rec, VT_COUNT_SAMPLES));
		else
			vt_buf_printf(out, " %.1s", b->desc->name);
	}
	return 0;
}

/* The samples of three threads, one of which changes its name. */
static int write_samples(void)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	put_comm(w, 10, "main");
	put_sample(w, 1, 10, 10, 0, 5 * SEC, ALL);
	put_sample(w, 2, 10, 11, 1, 6 * SEC, ALL);
	put_sample(w, 3, 10, 10, 2, 7 * SEC + 1, ALL);
	put_sample(w, 4, 20, 20, 3, 8 * SEC, ALL);
	put_comm(w, 10, "[work]");
	put_sample(w, 5, 10, 10, 7, 9 * SEC, ALL);
	put_sample(w, 6, 10, 10, 0, 0, 1); /* has nothing but its pc */
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	return fd;
}

static struct vt_buf passed = VT_BUF_INIT;

static void feed_slice(struct vt_slice *s, struct vt_context *c, int fd)
{
	const struct vt_block *b;
	uint32_t first, count;
	struct vt_reader *r;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	vt_buf_free(&passed);
	passed = (struct vt_buf)VT_BUF_INIT;
	while (vt_reader_next_run(r, &b, &first, &count, &err) > 0) {
		if (c)
			assert_int_equal(vt_context_feed(c, b, first, count, &err), 0);
		assert_int_equal(vt_slice_feed(s, b, first, count, note_run, &passed, &err), 0);
	}
	vt_reader_close(r);
}

struct filter {
	enum vt_slice_by by;
	const char *text;
};

/* What passes two filters, of which the second may be missing. */
static void expect_slice(struct filter one, struct filter two, const char *want,
			 uint64_t want_without)
{
	struct vt_slice *s = vt_slice_new();
	int fd = write_samples();
	const struct vt_slice_counts *c = vt_slice_counted(s);

	assert_int_equal(vt_slice_add(s, one.by, one.text, &err), 0);
	if (two.text)
		assert_int_equal(vt_slice_add(s, two.by, two.text, &err), 0);
	feed_slice(s, NULL, fd);
	assert_string_equal(vt_buf_str(&passed), want);
	assert_int_equal(c->seen, 6);
	assert_int_equal(c->without[one.by], want_without);
	/* Another stream begins anew. */
	assert_int_equal(vt_slice_restart(s, &err), 0);
	feed_slice(s, NULL, fd);
	assert_string_equal(vt_buf_str(&passed), want);
	assert_int_equal(c->seen, 6);
	close(fd);
	vt_slice_free(s);
}

#define EXPECT(by, text, want)                                                                     \
	expect_slice((struct filter){VT_SLICE_##by, text}, (struct filter){0, NULL}, want, 1)

static void picks_numbers(void **state)
{
	(void)state;
	EXPECT(PID, "10", " T | 1 2 3 | T | 5");
	EXPECT(PID, "20", " T | 4 | T");
	EXPECT(PID, "1,20,3", " T | 4 | T");
	EXPECT(PID, "10-20", " T | 1 2 3 4 | T | 5");
	EXPECT(PID, "21", " T | T");
	EXPECT(TID, "11", " T | 2 | T");
	EXPECT(TID, "10", " T | 1 | 3 | T | 5");
	EXPECT(CPU, "0-1,7", " T | 1 2 | T | 5");
	EXPECT(CPU, "2-3", " T | 3 4 | T");
}

static void picks_times(void **state)
{
	(void)state;
	EXPECT(TIME, "6,8", " T | 2 3 4 | T");
	EXPECT(TIME, "6.000000001,7.999999999", " T | 3 | T");
	EXPECT(TIME, "7.000000001,7.000000001", " T | 3 | T");
	EXPECT(TIME, "7.00000001,", " T | 4 | T | 5");
	EXPECT(TIME, ",7", " T | 1 2 | T");
	EXPECT(TIME, "+1,+3", " T | 2 3 4 | T");
	EXPECT(TIME, "+0,+0", " T | 1 | T");
	EXPECT(TIME, "+2.5,", " T | 4 | T | 5");
	EXPECT(TIME, ",+1.5", " T | 1 2 | T");
	expect_slice((struct filter){VT_SLICE_TIME, "5,5"}, (struct filter){VT_SLICE_TIME, "9,10"},
		     " T | 1 | T | 5", 1);
}

static void picks_names(void **state)
{
	(void)state;
	EXPECT(COMM, "main", " T | 1 | 3 | T");
	EXPECT(COMM, "[work]", " T | T | 5");
	EXPECT(COMM, "m*,:11", " T | 1 2 3 | T");
	EXPECT(COMM, ":*", " T | 2 | 4 | T");
	EXPECT(COMM, "ma", " T | T");
	EXPECT(COMM, "ma\\in", " T | 1 | 3 | T");
	/* A comma behind a backslash parts no patterns. */
	EXPECT(COMM, "main\\,:11", " T | T");
	EXPECT(COMM, "main\\,,main", " T | 1 | 3 | T");
}

static void filters_add_up(void **state)
{
	(void)state;
	expect_slice((struct filter){VT_SLICE_PID, "10"}, (struct filter){VT_SLICE_CPU, "0,2"},
		     " T | 1 | 3 | T", 1);
	expect_slice((struct filter){VT_SLICE_PID, "10"}, (struct filter){VT_SLICE_PID, "20"},
		     " T | 1 2 3 4 | T | 5", 1);
}

static void picks_places(void **state)
{
	struct vt_images_options none = {.find = {.symfs = NULL}};
	struct vt_images *images = vt_images_new(&none, &err);
	struct vt_context *c = vt_context_new(images);
	struct vt_slice *s = vt_slice_new();
	const struct vt_slice_counts *counts = vt_slice_counted(s);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	put_map(w, 1, "/no/such/heat", 10, 0x1000, 0x1000);
	put_map(w, 2, "[vdso]", 10, 0x2000, 0x1000);
	put_sample(w, 1, 10, 10, 0, 1, ALL);
	put_sample(w, 2, 10, 10, 0, 1, ALL);
	put_sample(w, 3, 10, 10, 0, 1, ALL); /* nothing is mapped there */
	put_count(w, 1, 100);
	put_count(w, 2, 200);
	put_count(w, VT_UNMAPPED_IMAGE, 400);
	vt_writer_row(w, VT_LOADS);
	vt_writer_row(w, VT_FREQ);
	vt_writer_row(w, VT_EDGE);
	vt_writer_row(w, VT_STALL);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	vt_slice_set_context(s, c);
	assert_int_equal(vt_slice_add(s, VT_SLICE_IMAGE, "heat", &err), 0);
	feed_slice(s, c, fd);
	assert_string_equal(vt_buf_str(&passed), " I | M | I | M | 1 | #100");
	assert_int_equal(counts->seen, 703);
	assert_int_equal(counts->taken, 101);
	assert_int_equal(counts->estimates, 4);
	assert_int_equal(counts->estimate_kinds, VT_KIND(VT_LOADS) | VT_KIND(VT_FREQ) |
							 VT_KIND(VT_EDGE) | VT_KIND(VT_STALL));
	assert_int_equal(vt_slice_add(s, VT_SLICE_IMAGE, "[vdso],[unknown]", &err), 0);
	assert_int_equal(vt_slice_restart(s, &err), 0);
	feed_slice(s, c, fd);
	assert_string_equal(vt_buf_str(&passed), " I | M | I | M | 1 2 3 | #100 #200 #400");
	/* Of what is only counted nobody knows whose it was. */
	assert_int_equal(vt_slice_add(s, VT_SLICE_PID, "10", &err), 0);
	assert_int_equal(vt_slice_restart(s, &err), 0);
	feed_slice(s, c, fd);
	assert_string_equal(vt_buf_str(&passed), " I | M | I | M | 1 2 3");
	assert_int_equal(counts->without[VT_SLICE_PID], 700);
	/* No file, no symbols. */
	assert_int_equal(vt_slice_add(s, VT_SLICE_SYMBOL, "*", &err), 0);
	assert_int_equal(vt_slice_restart(s, &err), 0);
	feed_slice(s, c, fd);
	assert_string_equal(vt_buf_str(&passed), " I | M | I | M");
	close(fd);
	vt_slice_free(s);
	vt_context_free(c);
	vt_images_free(images);
}

/* Modules have the names that the kernel gives them, too. */
static void knows_modules(void **state)
{
	static const struct {
		const char *path, *pattern;
		uint64_t taken;
	} cases[] = {
		{"/lib/modules/6.1/snd-pcm.ko", "[snd_pcm]", 5},
		{"/lib/modules/6.1/snd-pcm.ko.xz", "[snd_pcm]", 5},
		{"/lib/modules/6.1/snd-pcm.ko.xz", "[snd*]", 5},
		{"/lib/modules/6.1/snd-pcm.ko", "snd-pcm.ko", 5},
		{"/lib/modules/6.1/snd-pcm.ko", "[snd]", 0},
		{"/lib/modules/6.1/snd-pcm", "[snd_pcm]", 0},
		{"[snd_pcm]", "[snd_pcm]", 5},
	};
	struct vt_images_options none = {.find = {.symfs = NULL}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_images *images = vt_images_new(&none, &err);
		struct vt_context *c = vt_context_new(images);
		struct vt_slice *s = vt_slice_new();
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);
		uint64_t *row = vt_writer_row(w, VT_IMAGE);

		row[VT_IMAGE_ID] = 1;
		row[VT_IMAGE_TYPE] = VT_IMAGE_MODULE;
		vt_writer_text(w, VT_IMAGE_PATH, cases[i].path);
		put_count(w, 1, 5);
		assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
		vt_slice_set_context(s, c);
		assert_int_equal(vt_slice_add(s, VT_SLICE_IMAGE, cases[i].pattern, &err), 0);
		feed_slice(s, c, fd);
		assert_int_equal(vt_slice_counted(s)->taken, cases[i].taken);
		close(fd);
		vt_slice_free(s);
		vt_context_free(c);
		vt_images_free(images);
	}
}

static void refuses_nonsense(void **state)
{
	static const struct {
		enum vt_slice_by by;
		const char *text, *says;
	} cases[] = {
		{VT_SLICE_PID, "", "'' is no list of numbers and ranges, as in 1,4-7"},
		{VT_SLICE_PID, "1,", "'1,' is no list of numbers and ranges, as in 1,4-7"},
		{VT_SLICE_PID, "1-", "'1-' is no list of numbers and ranges, as in 1,4-7"},
		{VT_SLICE_TID, "-1", "'-1' is no list of numbers and ranges, as in 1,4-7"},
		{VT_SLICE_CPU, "1 2", "'1 2' is no list of numbers and ranges, as in 1,4-7"},
		{VT_SLICE_CPU, "1111111111111111111",
		 "'1111111111111111111' is no list of numbers and ranges, as in 1,4-7"},
		{VT_SLICE_CPU, "3-1", "'3-1': an empty range"},
		{VT_SLICE_TIME, "", "'' is no range of times, A,B or +A,+B in seconds"},
		{VT_SLICE_TIME, "5", "'5' is no range of times, A,B or +A,+B in seconds"},
		{VT_SLICE_TIME, ",", "',' is no range of times, A,B or +A,+B in seconds"},
		{VT_SLICE_TIME, "+,1", "'+,1' is no range of times, A,B or +A,+B in seconds"},
		{VT_SLICE_TIME, "1.,2", "'1.,2' is no range of times, A,B or +A,+B in seconds"},
		{VT_SLICE_TIME, "1,2,3", "'1,2,3' is no range of times, A,B or +A,+B in seconds"},
		{VT_SLICE_TIME, "-1,2", "'-1,2' is no range of times, A,B or +A,+B in seconds"},
		{VT_SLICE_TIME, "0,0.0000000001",
		 "'0,0.0000000001' is no range of times, A,B or +A,+B in seconds"},
		{VT_SLICE_TIME, "99999999999,",
		 "'99999999999,' is no range of times, A,B or +A,+B in seconds"},
		{VT_SLICE_TIME, "2,1", "'2,1': an empty range"},
		{VT_SLICE_TIME, "+2,+1.9", "'+2,+1.9': an empty range"},
		{VT_SLICE_TIME, "1,+2", "'1,+2': both sides of a range have a '+', or none"},
		{VT_SLICE_COMM, "", "'': an empty pattern"},
		{VT_SLICE_COMM, "a,,b", "'a,,b': an empty pattern"},
		{VT_SLICE_IMAGE, "a,", "'a,': an empty pattern"},
		{VT_SLICE_SYMBOL, "operator<,,f", "'operator<,,f': an empty pattern"},
		{VT_SLICE_SYMBOL, "operator<<(A, B),,f", "'operator<<(A, B),,f': an empty pattern"},
		{VT_SLICE_SYMBOL, "A::operator->,,f", "'A::operator->,,f': an empty pattern"},
	};
	struct vt_slice *s = vt_slice_new();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(vt_slice_add(s, cases[i].by, cases[i].text, &err), -VT_E_USAGE);
		assert_string_equal(err.text, cases[i].says);
	}
	/* The commas of a procedure's arguments part no patterns. */
	assert_int_equal(vt_slice_add(s, VT_SLICE_SYMBOL, "f(int, int),g<a, b>", &err), 0);
	assert_true(vt_slice_has(s, VT_SLICE_SYMBOL));
	vt_slice_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(picks_numbers),    cmocka_unit_test(picks_times),
		cmocka_unit_test(picks_names),	    cmocka_unit_test(filters_add_up),
		cmocka_unit_test(picks_places),	    cmocka_unit_test(knows_modules),
		cmocka_unit_test(refuses_nonsense),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	vt_buf_free(&passed);
	return failed;
}
