/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of customisation modules on their way to hot lists: the same module has another id in each
 * stream, and so on the way into a value profile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/streams.h"
#include "value/collect.h"
#include "value/hotprofile.h"

static const struct vt_writer_options plain = {.compression = VT_COMPRESS_NONE};

static struct vt_writer *open_writer(int fd)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &plain, &err);

	assert_non_null(w);
	return w;
}

static void end_writer(struct vt_writer *w)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
}

static void put_module(struct vt_writer *w, uint64_t id, const char *name)
{
	vt_writer_row(w, VT_MODULE)[VT_MODULE_ID] = id;
	vt_writer_text(w, VT_MODULE_NAME, name);
	vt_writer_text(w, VT_MODULE_FORMAT, "signed");
}

static void put_value(struct vt_writer *w, uint64_t id, uint64_t value)
{
	uint64_t *row = vt_writer_row(w, VT_VALUE);

	row[VT_VALUE_PID] = 5;
	row[VT_VALUE_IP] = 0x1000;
	row[VT_VALUE_WHAT] = VT_WHAT_MODULE;
	row[VT_VALUE_REG] = id;
	row[VT_VALUE_SIZE] = 8;
	row[VT_VALUE_VALUE] = value;
}

static void put_label(struct vt_writer *w, uint64_t id, uint64_t value, const char *text)
{
	uint64_t *row = vt_writer_row(w, VT_LABEL);

	row[VT_LABEL_MODULE] = id;
	row[VT_LABEL_VALUE] = value;
	vt_writer_text(w, VT_LABEL_TEXT, text);
}

/* `latency` has the id 1 in the first stream and 65535 in the second. */
static int make_stream(bool first)
{
	int fd = scratch_file();
	struct vt_writer *w = open_writer(fd);

	if (first)
		put_module(w, 0, "stride");
	put_module(w, first ? 1 : 65535, "latency");
	if (first)
		put_value(w, 0, 8);
	put_value(w, first ? 1 : 65535, 3);
	put_value(w, first ? 1 : 65535, first ? 3 : 4);
	put_label(w, first ? 1 : 65535, 3, "M (>=180)");
	put_label(w, first ? 1 : 65535, 3, "another name");
	end_writer(w);
	return fd;
}

typedef int feed_fn(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err);

static void read_into(int fd, feed_fn *feed, void *arg)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_block *block;
	uint32_t first, count;
	struct vt_reader *r;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		assert_int_equal(feed(arg, block, first, count, &err), 0);
	vt_reader_close(r);
	close(fd);
}

static int feed_collect(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
			struct vt_error *err)
{
	return vt_collect_feed(arg, block, first, count, err);
}

static int feed_profile(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
			struct vt_error *err)
{
	return vt_hotprofile_feed(arg, block, first, count, err);
}

/* What vhot writes for one of the streams, or both (3). */
static int hot_stream(unsigned which)
{
	const struct vt_hotlist_options lists = {.algo = VT_ALGO_EXACT};
	const struct vt_collect_options options = {.what = VT_COLLECT_WHAT};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_sites *sites = vt_sites_new(&lists, &err);
	struct vt_collect *c = vt_collect_new(sites, &options);
	int fd = scratch_file();
	struct vt_writer *w = open_writer(fd);
	unsigned i;

	for (i = 1; i <= 2; i++) {
		if (!(which & i))
			continue;
		assert_int_equal(vt_collect_begin(c, &err), 0);
		read_into(make_stream(i == 1), feed_collect, c);
		assert_int_equal(vt_collect_end(c, false, &err), 0);
	}
	assert_int_equal(vt_sites_write(sites, w, &err), 0);
	end_writer(w);
	vt_collect_free(c);
	vt_sites_free(sites);
	return fd;
}

static void check_profile(const struct vt_hotprofile *p)
{
	const struct vt_module_names *m = vt_hotprofile_modules(p);
	size_t i;

	assert_int_equal(vt_module_names_count(m), 2);
	assert_int_equal(vt_hotprofile_count(p), 2);
	for (i = 0; i < 2; i++) {
		const struct vt_hot *h = vt_hotprofile_at(p, i);
		const char *name = vt_module_name(m, h->key.reg);

		assert_int_equal(h->key.what, VT_WHAT_MODULE);
		assert_string_equal(vt_module_format(m, h->key.reg), "signed");
		if (strcmp(name, "stride") == 0) {
			assert_int_equal(h->total, 1);
			assert_int_equal(h->values[0], 8);
			assert_null(vt_module_label(m, h->key.reg, 3));
			continue;
		}
		assert_string_equal(name, "latency");
		assert_int_equal(h->total, 4);
		assert_int_equal(h->values[0], 3);
		assert_int_equal(h->counts[0], 3);
		assert_string_equal(vt_module_label(m, h->key.reg, 3), "M (>=180) or another name");
		assert_null(vt_module_label(m, h->key.reg, 4));
	}
}

static void test_two_streams_at_once(void **state)
{
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	struct vt_error err = VT_ERROR_INIT;

	(void)state;
	read_into(hot_stream(3), feed_profile, p);
	assert_int_equal(vt_hotprofile_end(p, &err), 0);
	check_profile(p);
	vt_hotprofile_free(p);
}

static void test_two_profiles(void **state)
{
	struct vt_hotprofile *p = vt_hotprofile_new(1);
	struct vt_error err = VT_ERROR_INIT;
	unsigned i;

	(void)state;
	/* The second first: there, `latency` has the number 0. */
	for (i = 2; i >= 1; i--) {
		read_into(hot_stream(i), feed_profile, p);
		assert_int_equal(vt_hotprofile_end(p, &err), 0);
	}
	check_profile(p);
	vt_hotprofile_free(p);
}

static void feed_labels(struct vt_module_names *n, const char *const *texts, size_t count)
{
	struct vt_error err = VT_ERROR_INIT;
	int fd = scratch_file();
	struct vt_writer *w = open_writer(fd);
	struct vt_record rec;
	struct vt_reader *r;
	size_t i;

	put_module(w, 0, "latency");
	for (i = 0; i < count; i++)
		put_label(w, 0, 1, texts[i]);
	end_writer(w);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	vt_module_names_begin(n);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_module_names_feed(n, &rec, &err), 0);
	vt_reader_close(r);
	close(fd);
}

static void test_two_labels(void **state)
{
	static const char *const texts[] = {"L2 (5-9)", "L2 (5-90)", "L2 (5-9)", "", "2", "L2"};
	static char longer[VT_MODULE_NAMES_MAX_TEXT + 1];
	const char *const more[] = {memset(longer, 'x', sizeof(longer) - 1)};
	const char *want = "L2 (5-9) or L2 (5-90) or  or 2 or L2";
	struct vt_module_names *n = vt_module_names_new();

	(void)state;
	feed_labels(n, texts, 2);
	assert_string_equal(vt_module_label(n, 0, 1), "L2 (5-9) or L2 (5-90)");
	feed_labels(n, texts, sizeof(texts) / sizeof(texts[0]));
	assert_string_equal(vt_module_label(n, 0, 1), want);
	feed_labels(n, more, 1);
	assert_string_equal(vt_module_label(n, 0, 1), want);
	vt_module_names_free(n);
}

static void test_undeclared(void **state)
{
	struct vt_module_names *n = vt_module_names_new();

	(void)state;
	assert_int_equal(vt_module_names_number(n, 77), 0);
	assert_int_equal(vt_module_names_number(n, 77), 0);
	assert_int_equal(vt_module_names_number(n, 78), 1);
	assert_string_equal(vt_module_name(n, 0), "module 77");
	assert_string_equal(vt_module_format(n, 0), "hex");
	assert_string_equal(vt_module_name(n, 9), "?");
	vt_module_names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_streams_at_once),
		cmocka_unit_test(test_two_profiles),
		cmocka_unit_test(test_two_labels),
		cmocka_unit_test(test_undeclared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
