/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of source files, and where the files are looked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "listing/code/source.h"
#include "tests/unit/common/toolbox.h"

static char *dir;

static void assert_line(struct vt_sources *s, const char *file, unsigned line, const char *text)
{
	size_t size = 99;
	const char *got = vt_sources_line(s, file, line, &size);

	if (!text) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_int_equal(size, strlen(text));
	assert_memory_equal(got, text, size);
}

static void test_lines(void **state)
{
	static const char *const texts[][4] = {
		{"one\n\nthree\n", "one", "", "three"},
		{"one\n\nthree", "one", "", "three"},
		{"one", "one"},
	};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct vt_sources *s = vt_sources_new(NULL, 0);
		char *path;

		toolbox_write(dir, "text.c", texts[i][0]);
		path = strdup(toolbox_path(dir, "text.c"));
		assert_non_null(s);
		/* Twice: it is read once. */
		for (k = 0; k < 6; k++)
			assert_line(s, path, 1 + k % 3, texts[i][1 + k % 3]);
		assert_line(s, path, 0, NULL);
		assert_line(s, path, 5, NULL);
		toolbox_write(dir, "text.c", "changed\n");
		assert_line(s, path, 1, texts[i][1]);
		/* Behind the last newline there is an empty line. */
		assert_line(s, path, 4, i == 0 ? "" : NULL);
		vt_sources_free(s);
		free(path);
	}
}

/* DIR/path, DIR/name, and the path itself, in this order. */
static void test_directories(void **state)
{
	struct vt_sources *s;
	const char *dirs[2];
	char *a, *b, *path;

	(void)state;
	free(toolbox_run(dir, "mkdir -p a/src b/src c/src && echo a-src >a/src/x.c && "
			      "echo b-src >b/src/x.c && echo b >b/x.c && echo a >a/y.c && "
			      "echo b-src >b/src/y.c && echo c-src >c/src/z.c && echo a >a/w.c"));
	dirs[0] = a = strdup(toolbox_path(dir, "a"));
	dirs[1] = b = strdup(toolbox_path(dir, "b"));
	s = vt_sources_new(dirs, 2);
	assert_non_null(s);
	assert_line(s, "src/x.c", 1, "a-src");
	assert_line(s, "src/y.c", 1, "a");
	assert_line(s, "x.c", 1, "b");
	assert_line(s, "w.c", 1, "a");
	assert_line(s, "nowhere/w.c", 1, "a");
	assert_line(s, "src/z.c", 1, NULL);
	path = strdup(toolbox_path(dir, "c/src/z.c"));
	assert_line(s, path, 1, "c-src");
	vt_sources_free(s);
	s = vt_sources_new(dirs + 1, 1);
	assert_non_null(s);
	assert_line(s, "src/x.c", 1, "b-src");
	assert_line(s, "w.c", 1, NULL);
	vt_sources_free(s);
	free(path);
	free(a);
	free(b);
}

static int make(void **state)
{
	(void)state;
	dir = toolbox_dir();
	return 0;
}

static int discard(void **state)
{
	(void)state;
	toolbox_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_directories),
	};

	return cmocka_run_group_tests(tests, make, discard);
}
