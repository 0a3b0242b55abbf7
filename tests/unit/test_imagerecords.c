/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told of images and kept of them, without any program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/addrspace.h"
#include "image/images.h"
#include "stream/kinds.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "streams.h"
#include "toolbox.h"

static struct vt_images *open_store(const struct vt_images_options *opt)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_images *im = vt_images_new(opt, &err);

	assert_non_null(im);
	return im;
}

static void add(struct vt_images *im, uint32_t id, unsigned type, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_images_add(im, id, type, path, strlen(path), NULL, 0, &err), 0);
}

static struct vt_images *open_two(void)
{
	const struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_images *im = open_store(&opt);

	add(im, 1, VT_IMAGE_FILE, "/no/such/a");
	add(im, 2, VT_IMAGE_ANON, "//anon");
	return im;
}

static void of_no_image(void **state)
{
	enum vt_unknown why = VT_KNOWN;
	uint64_t offset = 0;
	struct vt_images *im = open_two();

	(void)state;
	assert_null(vt_images_get(im, 9));
	assert_null(vt_images_elf(im, 9, &why));
	assert_int_equal(why, VT_UNKNOWN_NO_IMAGE);
	why = VT_KNOWN;
	assert_null(vt_images_symbols(im, 9, 1, &why));
	assert_int_equal(why, VT_UNKNOWN_NO_IMAGE);
	assert_null(vt_images_data(im, 9));
	assert_null(vt_images_unwind(im, 9));
	assert_null(vt_images_lines(im, 9));
	assert_null(vt_images_kept(im, 9));
	assert_false(vt_images_keep(im, 9, &offset, NULL));
	assert_false(vt_images_verified(im, 9));
	assert_false(vt_images_verified(im, 1));
	assert_false(vt_images_offset(im, 9, 0x1234, &offset));
	assert_true(vt_images_offset(im, 2, 0x1234, &offset));
	assert_int_equal(offset, 0x1234);
	vt_images_set_base(im, 9, 1);
	vt_images_withhold(im, 9);
	vt_images_patch(im, 9, 0, 1);
	assert_false(vt_images_is_patched(im, 9, 0));
	assert_int_equal(vt_images_count(im), 2);
	/* Of one whose file is not there; that it is missing shows when it was looked for. */
	vt_images_withhold(im, 2);
	assert_false(vt_images_withheld(im, 0));
	assert_true(vt_images_withheld(im, 1));
	add(im, 3, VT_IMAGE_FILE, "/no/such/b");
	assert_null(vt_images_elf(im, 1, &why));
	assert_int_equal(why, VT_UNKNOWN_NO_FILE);
	vt_images_elf(im, 2, &why);
	assert_int_equal(vt_images_missing(im, 0), VT_UNKNOWN_NO_FILE);
	assert_int_equal(vt_images_missing(im, 1), VT_KNOWN);
	assert_int_equal(vt_images_missing(im, 2), VT_KNOWN);
	vt_images_free(im);
}

static void check_patched(const struct vt_images *im, uint64_t first, uint64_t end)
{
	assert_false(vt_images_is_patched(im, 1, first - 1));
	assert_true(vt_images_is_patched(im, 1, first));
	assert_true(vt_images_is_patched(im, 1, end - 1));
	assert_false(vt_images_is_patched(im, 1, end));
}

#define ROOM 64 /* patches of one image */

static void patches(void **state)
{
	struct vt_images *im = open_two();

	(void)state;
	vt_images_patch(im, 1, 0x100, 0);
	vt_images_patch(im, 1, UINT64_MAX, 2);
	assert_false(vt_images_is_patched(im, 1, 0x100));
	assert_false(vt_images_is_patched(im, 1, UINT64_MAX));
	vt_images_patch(im, 1, 0x100, 0x100);
	vt_images_patch(im, 1, 0x300, 0x100);
	check_patched(im, 0x100, 0x200);
	check_patched(im, 0x300, 0x400);
	vt_images_patch(im, 1, 0x120, 0x10);
	check_patched(im, 0x100, 0x200);
	assert_true(vt_images_is_patched(im, 1, 0x130));
	vt_images_patch(im, 1, 0x80, 0x90);
	check_patched(im, 0x80, 0x200);
	vt_images_patch(im, 1, 0x1f0, 0x20);
	check_patched(im, 0x80, 0x210);
	assert_false(vt_images_is_patched(im, 2, 0x100));
	/* What is told of the image once more does not undo them. */
	add(im, 1, VT_IMAGE_FILE, "/no/such/c");
	check_patched(im, 0x80, 0x210);
	check_patched(im, 0x300, 0x400);
	vt_images_free(im);
}

/* Where there is no room for another, the last one grows; but those that touch one share it. */
static void many_patches(void **state)
{
	struct vt_images *im = open_two();
	uint64_t i;

	(void)state;
	for (i = 0; i < ROOM; i++)
		vt_images_patch(im, 1, 0x1000 + i * 0x1000, 0x10);
	for (i = 0; i < ROOM; i++)
		check_patched(im, 0x1000 + i * 0x1000, 0x1010 + i * 0x1000);
	vt_images_patch(im, 1, 0x3010, 0x10);
	vt_images_patch(im, 1, 0x3ff0, 0x10);
	check_patched(im, 0x3000, 0x3020);
	check_patched(im, 0x3ff0, 0x4010);
	check_patched(im, ROOM * 0x1000, ROOM * 0x1000 + 0x10);
	vt_images_patch(im, 1, ROOM * 0x1000 + 0x200, 0x10);
	check_patched(im, ROOM * 0x1000, ROOM * 0x1000 + 0x210);
	assert_true(vt_images_is_patched(im, 1, ROOM * 0x1000 + 0x100));
	check_patched(im, ROOM * 0x1000 - 0x1000, ROOM * 0x1000 - 0xff0);
	vt_images_free(im);
}

static void count_free(void *what)
{
	++*(int *)what;
}

static void keeps_what_it_is_given(void **state)
{
	int freed[2] = {0, 0};
	struct vt_images *im = open_two();

	(void)state;
	assert_null(vt_images_kept(im, 1));
	assert_true(vt_images_keep(im, 1, &freed[0], count_free));
	assert_ptr_equal(vt_images_kept(im, 1), &freed[0]);
	assert_null(vt_images_kept(im, 2));
	assert_int_equal(freed[0], 0);
	assert_true(vt_images_keep(im, 1, &freed[1], count_free));
	assert_ptr_equal(vt_images_kept(im, 1), &freed[1]);
	assert_true(freed[0] == 1 && freed[1] == 0);
	vt_images_free(im);
	assert_true(freed[0] == 1 && freed[1] == 1);
}

/* Feeds what was written. */
static void feed(struct vt_images *im, struct vt_writer *w, int fd)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_block *block;
	uint32_t first, count, i;
	struct vt_reader *r;

	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	while (vt_reader_next_run(r, &block, &first, &count, &err) == 1) {
		for (i = first; i - first < count; i++) {
			const struct vt_record rec = {block, block->kind, i};

			assert_int_equal(vt_images_feed(im, &rec, &err), 0);
		}
	}
	vt_reader_close(r);
	close(fd);
}

static struct vt_writer *begin(int *fd)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;

	*fd = scratch_file();
	return vt_writer_open_fd(*fd, "test", &o, &err);
}

static void feed_anonymous(struct vt_images *im, uint64_t pid, uint64_t prot)
{
	int fd;
	struct vt_writer *w = begin(&fd);
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = pid;
	row[VT_MAP_START] = 0x7f0000001000;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_IMAGE] = 1;
	row[VT_MAP_PROT] = prot;
	feed(im, w, fd);
}

/* Counts do not tell a process: its code is looked up if it alone has code that was generated. */
static void generated_code_of_the_only_process(void **state)
{
	static const struct {
		uint64_t pid, prot;
		enum vt_unknown why;
	} others[] = {
		{1, 5, VT_KNOWN},
		{2, 3, VT_KNOWN},
		{2, 4, VT_UNKNOWN_NO_JIT_MAP},
		{2, 0, VT_UNKNOWN_NO_JIT_MAP},
	};
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_location loc;
	struct vt_images *im;
	char *dir = toolbox_dir();
	size_t i;

	(void)state;
	toolbox_write(dir, "perf-1.map", "7f0000001000 100 jitted\n");
	opt.perf_map_dir = dir;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		im = open_store(&opt);
		add(im, 1, VT_IMAGE_ANON, "//anon");
		feed_anonymous(im, 1, 5);
		feed_anonymous(im, others[i].pid, others[i].prot);
		feed_anonymous(im, 1, 5);
		assert_int_equal(vt_images_symbol(im, 1, 0, 0x7f0000001010, &loc), others[i].why);
		assert_int_equal(vt_images_symbol(im, 1, 1, 0x7f0000001010, &loc), VT_KNOWN);
		vt_images_free(im);
	}
	toolbox_remove(dir);
}

static void put_ksymbol(struct vt_writer *w, const char *name, uint64_t length, uint64_t flags)
{
	uint64_t *row = vt_writer_row(w, VT_KSYMBOL);

	row[VT_KSYMBOL_LENGTH] = length;
	row[VT_KSYMBOL_FLAGS] = flags;
	vt_writer_text(w, VT_KSYMBOL_NAME, name);
}

/* Each symbol of the kernel that comes is an image of its own; one that goes (flag 1) is none. */
static void symbols_of_the_kernel(void **state)
{
	struct vt_location loc;
	struct vt_writer *w;
	struct vt_images *im = open_two();
	int fd;

	(void)state;
	w = begin(&fd);
	put_ksymbol(w, "bpf_prog_one", 0x40, 0);
	put_ksymbol(w, "bpf_prog_one", 0x40, 1);
	put_ksymbol(w, "bpf_prog_two", 0x80, 2);
	feed(im, w, fd);
	assert_int_equal(vt_images_count(im), 4);
	assert_string_equal(vt_images_get(im, VT_KSYMBOL_IMAGE)->path, "bpf_prog_one");
	assert_int_equal(vt_images_get(im, VT_KSYMBOL_IMAGE)->type, VT_IMAGE_BPF);
	assert_string_equal(vt_images_get(im, VT_KSYMBOL_IMAGE + 1)->path, "bpf_prog_two");
	assert_int_equal(vt_images_symbol(im, VT_KSYMBOL_IMAGE + 1, 0, 0x7f, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "bpf_prog_two");
	assert_int_not_equal(vt_images_symbol(im, VT_KSYMBOL_IMAGE + 1, 0, 0x80, &loc), VT_KNOWN);
	assert_int_not_equal(vt_images_symbol(im, VT_KSYMBOL_IMAGE, 0, 0x40, &loc), VT_KNOWN);
	vt_images_free(im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_no_image),
		cmocka_unit_test(patches),
		cmocka_unit_test(many_patches),
		cmocka_unit_test(keeps_what_it_is_given),
		cmocka_unit_test(generated_code_of_the_only_process),
		cmocka_unit_test(symbols_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
