/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of plugins on their way to hot lists: the same plugin has another id in each
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
#include "tests/unit/common/streams.h"
#include "value/collect.h"
#include "value/hot_profile.h"

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

static void put_plugin(struct vt_writer *w, uint64_t id, const char *name)
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
		put_plugin(w, 0, "stride");
	put_plugin(w, first ? 1 : 65535, "latency");
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
	struct vt_context *context;
	int fd = scratch_file();
	struct vt_writer *w = open_writer(fd);
	unsigned i;

	for (i = 1; i <= 2; i++) {
		if (!(which & i))
			continue;
		context = vt_context_new(NULL);
		vt_collect_begin(c, context);
		read_into(make_stream(i == 1), vt_context_feed, context);
		assert_int_equal(vt_collect_end(c, false, &err), 0);
		vt_context_free(context);
	}
	assert_int_equal(vt_sites_write(sites, w, &err), 0);
	end_writer(w);
	vt_collect_free(c);
	vt_sites_free(sites);
	return fd;
}

static void check_profile(const struct vt_hotprofile *p)
{
	const struct vt_plugin_names *m = vt_hotprofile_plugins(p);
	size_t i;

	assert_string_equal(vt_plugin_name(m, 2), "?");
	assert_int_equal(vt_hotprofile_count(p), 2);
	for (i = 0; i < 2; i++) {
		const struct vt_hot *h = vt_hotprofile_at(p, i);
		const char *name = vt_plugin_name(m, h->key.reg);

		assert_int_equal(h->key.what, VT_WHAT_MODULE);
		assert_string_equal(vt_plugin_format(m, h->key.reg), "signed");
		if (strcmp(name, "stride") == 0) {
			assert_int_equal(h->total, 1);
			assert_int_equal(h->values[0], 8);
			assert_null(vt_plugin_label(m, h->key.reg, 3));
			continue;
		}
		assert_string_equal(name, "latency");
		assert_int_equal(h->total, 4);
		assert_int_equal(h->values[0], 3);
		assert_int_equal(h->counts[0], 3);
		assert_string_equal(vt_plugin_label(m, h->key.reg, 3), "M (>=180) or another name");
		assert_null(vt_plugin_label(m, h->key.reg, 4));
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

static void feed_labels(struct vt_plugin_names *n, const char *const *texts, size_t count)
{
	struct vt_error err = VT_ERROR_INIT;
	int fd = scratch_file();
	struct vt_writer *w = open_writer(fd);
	struct vt_record rec;
	struct vt_reader *r;
	size_t i;

	put_plugin(w, 0, "latency");
	for (i = 0; i < count; i++)
		put_label(w, 0, 1, texts[i]);
	end_writer(w);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	vt_plugin_names_begin(n);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_plugin_names_feed(n, &rec, &err), 0);
	vt_reader_close(r);
	close(fd);
}

static void test_two_labels(void **state)
{
	static const char *const texts[] = {"L2 (5-9)", "L2 (5-90)", "L2 (5-9)", "", "2", "L2"};
	static char longer[VT_PLUGIN_NAMES_MAX_TEXT + 1];
	const char *const more[] = {memset(longer, 'x', sizeof(longer) - 1)};
	const char *want = "L2 (5-9) or L2 (5-90) or  or 2 or L2";
	struct vt_plugin_names *n = vt_plugin_names_new();

	(void)state;
	feed_labels(n, texts, 2);
	assert_string_equal(vt_plugin_label(n, 0, 1), "L2 (5-9) or L2 (5-90)");
	feed_labels(n, texts, sizeof(texts) / sizeof(texts[0]));
	assert_string_equal(vt_plugin_label(n, 0, 1), want);
	feed_labels(n, more, 1);
	assert_string_equal(vt_plugin_label(n, 0, 1), want);
	vt_plugin_names_free(n);
}

/* Texts of one value, one after the other: one that is a part already is not told again. */
static void test_parts_of_labels(void **state)
{
	static const struct {
		const char *texts[4];
		const char *want;
	} rows[] = {
		{{"a b", "b"}, "a b or b"},
		{{"ab", "xy"}, "ab or xy"},
		{{"ab or cd", "xy"}, "ab or cd or xy"},
		{{"ab or cd", "ab"}, "ab or cd"},
		{{"ab or cd", "cd"}, "ab or cd"},
		{{"ab or cd", "ab or cd"}, "ab or cd"},
		{{"ab or cd or ef", "cd"}, "ab or cd or ef"},
		{{"ab or cd or ef", "cd or ef"}, "ab or cd or ef"},
		{{"ab or cdx", "cd"}, "ab or cdx or cd"},
		{{"ab or cdx or e", "cd"}, "ab or cdx or e or cd"},
		{{"abx or cd", "ab"}, "abx or cd or ab"},
		{{"ab or xcd", "cd"}, "ab or xcd or cd"},
		{{"ab or cd", "r cd"}, "ab or cd or r cd"},
		{{"x or", "x"}, "x or or x"},
		{{"or x", "x"}, "or x or x"},
		{{"a", "b", "a", "b"}, "a or b"},
		{{"", "x"}, " or x"},
		{{"x", "", ""}, "x or "},
		{{"", "x", ""}, " or x"},
		{{"x", "", "x"}, "x or "},
		{{"", "x", "x"}, " or x"},
		{{"a", "abc"}, "a or abc"},
	};
	struct vt_plugin_names *n;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		n = vt_plugin_names_new();
		for (k = 0; k < 4 && rows[i].texts[k]; k++)
			feed_labels(n, &rows[i].texts[k], 1);
		if (strcmp(vt_plugin_label(n, 0, 1), rows[i].want) != 0)
			fail_msg("row %zu: %s", i, vt_plugin_label(n, 0, 1));
		assert_null(vt_plugin_label(n, 0, 2));
		assert_null(vt_plugin_label(n, 1, 1));
		vt_plugin_names_free(n);
	}
}

/* All of a value's texts together have so many bytes. */
static void test_longest_label(void **state)
{
	static char text[VT_PLUGIN_NAMES_MAX_TEXT + 1];
	const char *const texts[] = {"ab", text};
	unsigned size;

	(void)state;
	for (size = VT_PLUGIN_NAMES_MAX_TEXT - 7; size < VT_PLUGIN_NAMES_MAX_TEXT - 4; size++) {
		struct vt_plugin_names *n = vt_plugin_names_new();
		bool fits = 2 + 4 + size <= VT_PLUGIN_NAMES_MAX_TEXT;

		memset(text, 'x', size);
		text[size] = 0;
		feed_labels(n, texts, 2);
		assert_int_equal(strlen(vt_plugin_label(n, 0, 1)), fits ? 6 + size : 2);
		vt_plugin_names_free(n);
	}
}

static void test_undeclared(void **state)
{
	struct vt_plugin_names *n = vt_plugin_names_new();

	(void)state;
	assert_int_equal(vt_plugin_names_number(n, 77), 0);
	assert_int_equal(vt_plugin_names_number(n, 77), 0);
	assert_int_equal(vt_plugin_names_number(n, 78), 1);
	assert_string_equal(vt_plugin_name(n, 0), "plugin 77");
	assert_string_equal(vt_plugin_format(n, 0), "hex");
	assert_string_equal(vt_plugin_name(n, 1), "plugin 78");
	assert_string_equal(vt_plugin_name(n, 2), "?");
	assert_string_equal(vt_plugin_format(n, 2), "?");
	/* Another stream's ids are others. */
	vt_plugin_names_begin(n);
	assert_int_equal(vt_plugin_names_number(n, 79), 2);
	assert_int_equal(vt_plugin_names_number(n, 78), 1);
	vt_plugin_names_free(n);
}

/* The same plugins of two collections: by name and format. */
static void test_same(void **state)
{
	struct vt_plugin_names *a = vt_plugin_names_new(), *b = vt_plugin_names_new();

	(void)state;
	vt_plugin_names_number(a, 1);
	vt_plugin_names_number(a, 2);
	vt_plugin_names_number(a, 3);
	vt_plugin_names_number(b, 3);
	vt_plugin_names_number(b, 1);
	feed_labels(b, NULL, 0); /* latency */
	assert_int_equal(vt_plugin_names_same(b, a, 0), 1);
	assert_int_equal(vt_plugin_names_same(b, a, 1), UINT32_MAX);
	assert_int_equal(vt_plugin_names_same(b, a, 2), 0);
	assert_int_equal(vt_plugin_names_same(b, a, 3), UINT32_MAX);
	assert_int_equal(vt_plugin_names_same(a, b, 0), 2);
	assert_int_equal(vt_plugin_names_same(a, b, 1), 0);
	assert_int_equal(vt_plugin_names_same(a, b, 2), UINT32_MAX);
	vt_plugin_names_free(a);
	vt_plugin_names_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_streams_at_once),
		cmocka_unit_test(test_two_profiles),
		cmocka_unit_test(test_two_labels),
		cmocka_unit_test(test_undeclared),
		cmocka_unit_test(test_parts_of_labels),
		cmocka_unit_test(test_longest_label),
		cmocka_unit_test(test_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
