/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives of tar: all ways to write a name and a size, limits, and what is cut or damaged. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "formats/archive/unpack.h"
#include "tests/unit/common/toolbox.h"

static struct vt_buf archive;
static struct vt_error err;

static void put_sum(uint8_t *block)
{
	unsigned sum = 0, i;

	memset(block + 148, ' ', 8);
	for (i = 0; i < 512; i++)
		sum += block[i];
	snprintf((char *)block + 148, 8, "%06o", sum);
}

/* Appends a header, and the contents behind it. */
static void add(char type, const char *name, const char *link, const char *contents)
{
	static const uint8_t zeros[512];
	size_t size = strlen(contents);
	uint8_t block[512] = {0};

	snprintf((char *)block, 100, "%s", name);
	assert_true(size < 010000000);
	snprintf((char *)block + 124, 12, "%011o", (unsigned)size & 07777777);
	block[156] = (uint8_t)type;
	snprintf((char *)block + 157, 100, "%s", link);
	snprintf((char *)block + 257, 6, "ustar");
	block[263] = block[264] = '0';
	put_sum(block);
	vt_buf_put(&archive, block, sizeof(block));
	vt_buf_put(&archive, contents, size);
	vt_buf_put(&archive, zeros, (512 - size % 512) % 512);
}

/* The last header, to be changed; put_sum() again afterwards. */
static uint8_t *last(const char *contents)
{
	size_t size = strlen(contents);

	return archive.data + archive.size - 512 - (size + 511) / 512 * 512;
}

static void end(void)
{
	static const uint8_t zeros[1024];

	vt_buf_put(&archive, zeros, sizeof(zeros));
}

static int begin(void **state)
{
	(void)state;
	archive.size = 0;
	return 0;
}

/* Unpacks the first `size` bytes of the archive, as D/a, into a new directory D/to. */
static int unpack(const char *dir, size_t size, uint64_t bytes, uint64_t members)
{
	const struct vt_unpack_limits limits = {bytes, members};
	const char *path = toolbox_path(dir, "a");
	FILE *f = fopen(path, "wb");
	struct vt_input in;
	int r;

	assert_int_equal(fwrite(archive.data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	free(toolbox_run(dir, "rm -rf to && mkdir to"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(vt_input_open(&in, path, &err), 0);
	r = vt_unpack(&in, toolbox_path(dir, "to"), &limits, &err);
	vt_input_close(&in);
	assert_int_equal(r, -(int)err.code);
	return r;
}

static void check_tree(const char *dir, const char *want)
{
	char *tree =
		toolbox_run(dir, "cd to && find . -mindepth 1 | LC_ALL=C sort | while read -r f; "
				 "do if [ -L \"$f\" ]; then echo \"$f -> $(readlink \"$f\")\"; "
				 "elif [ -d \"$f\" ]; then echo \"$f/\"; "
				 "else echo \"$f: $(cat \"$f\")\"; fi; done");

	assert_string_equal(tree, want);
	free(tree);
}

#define ALL 1000, 1000

static void names_and_sizes(void **state)
{
	char *dir = toolbox_dir();

	(void)state;
	add('0', "plain", "", "one");
	add('\0', "old", "", "two");
	add('\0', "olddir/", "", "");
	add('5', "./d//e/", "", "");
	add('0', "prefixed", "", "three");
	memcpy(last("three") + 345, "d/p", 3);
	put_sum(last("three"));
	add('L', "././@LongLink", "", "d/long");
	add('0', "short", "", "four");
	add('K', "././@LongLink", "", "../plain");
	add('2', "d/link", "short", "");
	add('x', "PaxHeaders/x", "", "19 path=d/e/of pax\n12 mtime=17\n15 linkpath=no\n");
	add('0', "x", "", "five");
	add('g', "PaxHeaders/g", "", "13 comment=x\n");
	add('x', "PaxHeaders/x", "", "9 size=3\n");
	add('0', "sized", "", "six");
	memset(last("six") + 124, '7', 11);
	put_sum(last("six"));
	add('0', "binary", "", "seven");
	memcpy(last("seven") + 124, "\x80\0\0\0\0\0\0\0\0\0\0\5", 12);
	put_sum(last("seven"));
	add('1', "d/same", "plain", "");
	add('7', "contiguous", "", "");
	end();
	assert_int_equal(unpack(dir, archive.size, ALL), 0);
	check_tree(dir, "./binary: seven\n./contiguous: \n./d/\n./d/e/\n./d/e/of pax: five\n"
			"./d/link -> ../plain\n./d/long: four\n./d/p/\n./d/p/prefixed: three\n"
			"./d/same: one\n./old: two\n./olddir/\n./plain: one\n./sized: six\n");
	toolbox_remove(dir);
}

/* Each limit is just enough, or one too few. */
static void limits(void **state)
{
	char *dir = toolbox_dir();

	(void)state;
	add('0', "d/e/f", "", "12345");
	add('0', "g", "", "678");
	add('2', "l", "g", "");
	end();
	/* Two directories of no header of their own count, too. */
	assert_int_equal(unpack(dir, archive.size, 8, 5), 0);
	check_tree(dir, "./d/\n./d/e/\n./d/e/f: 12345\n./g: 678\n./l -> g\n");
	assert_int_equal(unpack(dir, archive.size, 7, 5), -VT_E_LIMIT);
	assert_non_null(strstr(err.text, "/a: member 'g': more than 7 bytes in all"));
	check_tree(dir, "./d/\n./d/e/\n./d/e/f: 12345\n");
	assert_int_equal(unpack(dir, archive.size, 8, 4), -VT_E_LIMIT);
	assert_non_null(strstr(err.text, "/a: member 'l': more than 4 files"));
	assert_int_equal(unpack(dir, archive.size, 8, 1), -VT_E_LIMIT);
	assert_non_null(strstr(err.text, "/a: member 'd/e/f': more than 1 files"));
	toolbox_remove(dir);
}

static void long_names(void **state)
{
	char *dir = toolbox_dir(), *name = malloc(5000);
	size_t i;

	(void)state;
	for (i = 0; i < 4999; i++)
		name[i] = i % 100 ? 'x' : '/';
	name[0] = 'x';
	name[4999] = '\0';
	add('L', "n", "", name);
	add('0', "x", "", "");
	end();
	assert_int_equal(unpack(dir, archive.size, ALL), -VT_E_LIMIT);
	assert_non_null(strstr(err.text, "/a: a name of more than 4095 bytes"));
	archive.size = 0;
	name[256] = '\0';
	memset(name, 'x', 256);
	add('L', "n", "", name);
	add('0', "x", "", "");
	end();
	assert_int_equal(unpack(dir, archive.size, ALL), -VT_E_FORMAT);
	assert_non_null(strstr(err.text, "' is refused: a name is too long"));
	archive.size = 0;
	name[255] = '\0';
	add('L', "n", "", name);
	add('0', "x", "", "");
	end();
	assert_int_equal(unpack(dir, archive.size, ALL), 0);
	/* A header that says it has a name of a megabyte and a byte. */
	archive.size = 0;
	add('L', "n", "", "");
	memcpy(last("") + 124, "00004000001", 11);
	put_sum(last(""));
	end();
	assert_int_equal(unpack(dir, archive.size, ALL), -VT_E_LIMIT);
	assert_non_null(strstr(err.text, "/a: a name of more than 1048576 bytes"));
	free(name);
	toolbox_remove(dir);
}

/* Wherever it is cut, that is told. */
static void cut(void **state)
{
	char *dir = toolbox_dir();
	size_t i, whole;

	(void)state;
	add('x', "p", "", "12 path=a b\n");
	add('0', "x", "", "text");
	add('5', "d", "", "");
	whole = archive.size;
	end();
	for (i = 512; i < archive.size; i += 128) {
		/* The first block of zeros ends it. */
		int want = i < whole + 512 ? -VT_E_TRUNC : 0;

		assert_int_equal(unpack(dir, i, ALL), want);
		if (want)
			assert_non_null(strstr(err.text, "/a: the archive is cut off"));
	}
	for (i = 0; i < 512; i += 100)
		assert_int_equal(unpack(dir, i, ALL), -VT_E_FORMAT);
	toolbox_remove(dir);
}

static void damaged(void **state)
{
	static const char *const pax[] = {
		"12 path=a b",
		"13 path=a b\n",
		"11 path=a b\n",
		"x path=a b\n",
		"12path=a bx\n",
		"9 size=x\n",
		"7 path\n",
		"1\n",
		" \n",
		"99999999",
		"29 size=99999999999999999999\n",
	};
	char *dir = toolbox_dir();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pax) / sizeof(*pax); i++) {
		archive.size = 0;
		add('0', "x", "", "");
		add('x', "p", "", pax[i]);
		add('0', "x", "", "");
		end();
		assert_int_equal(unpack(dir, archive.size, ALL), -VT_E_DAMAGED);
		assert_non_null(strstr(err.text, ": no header of a member"));
	}
	/* A size that is no number, one of too many bits, headers without end. */
	archive.size = 0;
	add('0', "x", "", "");
	last("")[124] = '9';
	put_sum(last(""));
	end();
	assert_int_equal(unpack(dir, archive.size, ALL), -VT_E_DAMAGED);
	memset(archive.data + 124, 0xff, 12);
	put_sum(archive.data);
	assert_int_equal(unpack(dir, archive.size, ALL), -VT_E_DAMAGED);
	assert_non_null(strstr(err.text, "/a: byte 0 of the archive: no header of a member"));
	archive.size = 0;
	for (i = 0; i < 16; i++)
		add('g', "g", "", "");
	add('0', "x", "", "");
	end();
	assert_int_equal(unpack(dir, archive.size, ALL), -VT_E_DAMAGED);
	toolbox_remove(dir);
}

/* Sparse files of pax would have holes where their bytes should be. */
static void sparse(void **state)
{
	char *dir = toolbox_dir();

	(void)state;
	add('x', "p", "", "22 GNU.sparse.major=1\n");
	add('0', "x", "", "text");
	end();
	assert_int_equal(unpack(dir, archive.size, ALL), -VT_E_FORMAT);
	assert_non_null(
		strstr(err.text, "member 'x' is refused: it is no file, directory or link"));
	toolbox_remove(dir);
}

/* Whatever byte is changed, nothing but the directory is. */
static void changed_bytes(void **state)
{
	char *dir = toolbox_dir(), *tree;
	size_t i;

	(void)state;
	add('0', "d/f", "", "text");
	add('2', "d/l", "../d/f", "");
	end();
	for (i = 0; i < archive.size; i += 13) {
		uint8_t was = archive.data[i], *block = archive.data + i / 512 * 512;

		archive.data[i] = '.';
		if (*block && i / 512 != 1)
			put_sum(block);
		unpack(dir, archive.size, 4, 5);
		archive.data[i] = was;
		if (*block && i / 512 != 1)
			put_sum(block);
	}
	tree = toolbox_run(dir, "ls -A");
	assert_string_equal(tree, "a\nto\n");
	free(tree);
	toolbox_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(names_and_sizes, begin),
		cmocka_unit_test_setup(limits, begin),
		cmocka_unit_test_setup(long_names, begin),
		cmocka_unit_test_setup(cut, begin),
		cmocka_unit_test_setup(damaged, begin),
		cmocka_unit_test_setup(sparse, begin),
		cmocka_unit_test_setup(changed_bytes, begin),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	vt_buf_free(&archive);
	return r;
}
