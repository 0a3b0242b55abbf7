/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told of images and kept of them, without any program. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "image/addrspace.h"
#include "image/images.h"
#include "stream/kinds.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

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
	assert_false(vt_images_changed(im, 9));
	assert_false(vt_images_changed(im, 1));
	assert_false(vt_images_stripped(im, 9));
	assert_int_equal(vt_images_count(im), 2);
	assert_int_equal(vt_images_at(im, 0)->id, 1);
	assert_int_equal(vt_images_at(im, 1)->id, 2);
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
	put_ksymbol(w, "without_an_end", 0, 0);
	feed(im, w, fd);
	assert_int_equal(vt_images_count(im), 5);
	assert_int_equal(vt_images_symbol(im, VT_KSYMBOL_IMAGE + 2, 0, 0x123456, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "without_an_end");
	assert_string_equal(vt_images_get(im, VT_KSYMBOL_IMAGE)->path, "bpf_prog_one");
	assert_int_equal(vt_images_get(im, VT_KSYMBOL_IMAGE)->type, VT_IMAGE_BPF);
	assert_string_equal(vt_images_get(im, VT_KSYMBOL_IMAGE + 1)->path, "bpf_prog_two");
	assert_int_equal(vt_images_symbol(im, VT_KSYMBOL_IMAGE + 1, 0, 0x7f, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "bpf_prog_two");
	assert_int_not_equal(vt_images_symbol(im, VT_KSYMBOL_IMAGE + 1, 0, 0x80, &loc), VT_KNOWN);
	assert_int_not_equal(vt_images_symbol(im, VT_KSYMBOL_IMAGE, 0, 0x40, &loc), VT_KNOWN);
	vt_images_free(im);
}

static void names_and_buildids(void **state)
{
	static const struct {
		unsigned type;
		const char *path, *name;
	} rows[] = {
		{VT_IMAGE_FILE, "/a/b", "b"},	      {VT_IMAGE_FILE, "b", "b"},
		{VT_IMAGE_FILE, "/a/b/", "/a/b/"},    {VT_IMAGE_FILE, "", ""},
		{VT_IMAGE_ANON, "//anon", "//anon"},  {VT_IMAGE_MODULE, "/m/x.ko", "x.ko"},
		{VT_IMAGE_KERNEL, "[k]_text", "[k]"}, {VT_IMAGE_FILE, "[k]_text", "[k]_text"},
		{VT_IMAGE_KERNEL, "/boot/k", "k"},
	};
	static const uint8_t long_id[VT_BUILDID_MAX + 1] = {7, [VT_BUILDID_MAX - 1] = 8, 9};
	struct vt_images *im = open_two();
	const struct vt_image *image;
	struct vt_error err = VT_ERROR_INIT;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		add(im, i + 3, rows[i].type, rows[i].path);
		assert_string_equal(vt_images_get(im, i + 3)->path, rows[i].path);
		assert_string_equal(vt_images_get(im, i + 3)->name, rows[i].name);
		assert_int_equal(vt_images_get(im, i + 3)->type, rows[i].type);
		assert_int_equal(vt_images_get(im, i + 3)->buildid_size, 0);
	}
	/* Only so much of the path is told; a build-id is cut. */
	assert_int_equal(
		vt_images_add(im, 1, VT_IMAGE_FILE, "/a/bcd", 4, long_id, sizeof(long_id), &err),
		0);
	image = vt_images_get(im, 1);
	assert_string_equal(image->path, "/a/b");
	assert_int_equal(image->buildid_size, VT_BUILDID_MAX);
	assert_memory_equal(image->buildid, long_id, VT_BUILDID_MAX);
	vt_images_free(im);
}

/* ---- mappings of files ---- */

/* A module's mapping says where it was loaded, and at which offset that is. */
static void modules_lie_where_they_are_mapped(void **state)
{
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	char *dir = toolbox_dir();
	struct vt_location loc;
	struct vt_images *im;
	struct vt_writer *w;
	uint64_t *row;
	int fd;

	(void)state;
	free(toolbox_run(dir, "mkdir -p fs/proc"));
	toolbox_write(dir, "fs/proc/kallsyms",
		      "ffffffff9a000000 T _text\nffffffffc0400010 t mod_fn\t[m]\n"
		      "ffffffffc0400020 t mod_next\t[m]\n");
	opt.find.symfs = toolbox_path(dir, "fs");
	im = open_store(&opt);
	add(im, 1, VT_IMAGE_KERNEL, "[kernel.kallsyms]_text");
	add(im, 2, VT_IMAGE_MODULE, "[m]");
	w = begin(&fd);
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_IMAGE] = 2;
	row[VT_MAP_START] = 0xffffffffc0400000;
	row[VT_MAP_OFFSET] = 0x1000;
	feed(im, w, fd);
	assert_int_equal(vt_images_symbol(im, 2, 1, 0x101f, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "mod_fn");
	assert_true(loc.vaddr == 0xffffffffc040001f);
	assert_int_equal(vt_images_symbol(im, 2, 1, 0x1020, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "mod_next");
	vt_images_free(im);
	toolbox_remove(dir);
}

/* Stretches that a process could write to are as good as patched, in this file and no other. */
static void written_files(void **state)
{
	struct vt_images *im = open_two();
	struct vt_writer *w;
	uint64_t *row;
	int fd, i;

	(void)state;
	add(im, 3, VT_IMAGE_FILE, "/no/such/b");
	assert_false(vt_images_is_written(im, 1, 0x100));
	assert_int_equal(vt_images_code_changes(im), 0);
	w = begin(&fd);
	for (i = 0; i < 2; i++) {
		row = vt_writer_row(w, VT_MAP);
		row[VT_MAP_IMAGE] = 1;
		row[VT_MAP_OFFSET] = 0x100;
		row[VT_MAP_LENGTH] = 0x10;
		row[VT_MAP_PROT] = i ? 3 : 5; /* it has code; then it is shared and written to */
		row[VT_MAP_FLAGS] = i ? 1 : 2;
	}
	feed(im, w, fd);
	for (i = 0xff; i <= 0x110; i++) {
		assert_int_equal(vt_images_is_written(im, 1, (uint64_t)i), i >= 0x100 && i < 0x110);
		assert_int_equal(vt_images_is_patched(im, 1, (uint64_t)i), i >= 0x100 && i < 0x110);
	}
	assert_false(vt_images_is_written(im, 3, 0x100));
	assert_false(vt_images_is_written(im, 9, 0x100));
	assert_int_equal(vt_images_code_changes(im), 1);
	vt_images_free(im);
}

/* When a file was mapped: at its last change, at that of its inode, or a tick behind that. */
enum when { MTIME, CTIME, LATER };

/* A file without a recorded build-id is the recorded one if it has not been touched since. */
static void files_by_their_inodes(void **state)
{
	static const struct {
		enum when when;
		bool buildid, other_host, twice, verified, changed;
	} rows[] = {
		{.when = LATER, .verified = true},
		{.when = CTIME},
		{.when = MTIME, .changed = true},
		{.when = LATER, .other_host = true},
		{.when = LATER, .twice = true},
		{.when = MTIME, .buildid = true, .verified = true, .changed = true},
		{.when = MTIME, .buildid = true, .other_host = true, .verified = true},
		{.when = LATER, .buildid = true, .twice = true},
	};
	const struct timespec times[2] = {{1000, 0}, {1000, 5}};
	static const uint8_t id[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_error err = VT_ERROR_INIT;
	char *dir = toolbox_dir();
	const char *path = toolbox_path(dir, "p");
	struct utsname here;
	uint64_t wall[3];
	struct stat st;
	size_t i;

	(void)state;
	toolbox_write(dir, "p.s", ".globl _start\n_start: ret\n");
	free(toolbox_run(dir, "gcc -nostdlib -static -o p p.s -Wl,--build-id=0x0102030405060708"));
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(uname(&here), 0);
	assert_int_equal(stat(path, &st), 0);
	wall[MTIME] = UINT64_C(1000000000005);
	wall[CTIME] = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	wall[LATER] = wall[CTIME] + 10000001;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vt_images *im = open_store(&opt);
		uint8_t clock[24] = {0};
		struct vt_writer *w;
		uint64_t *row;
		int fd, k;

		assert_int_equal(vt_images_add(im, 1, VT_IMAGE_FILE, path, strlen(path), id,
					       rows[i].buildid ? sizeof(id) : 0, &err),
				 0);
		vt_put_le32(clock, 1);
		vt_put_le64(clock + 8, wall[rows[i].when]);
		vt_put_le64(clock + 16, 5000);
		w = begin(&fd);
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, "hostname");
		vt_writer_text(w, VT_META_VALUE, rows[i].other_host ? "elsewhere" : here.nodename);
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, "clock_data");
		vt_writer_bytes(w, VT_META_DATA, clock, sizeof(clock));
		for (k = 0; k <= rows[i].twice; k++) {
			row = vt_writer_row(w, VT_MAP);
			row[VT_MAP_IMAGE] = 1;
			row[VT_MAP_TIME] = 5000;
			row[VT_MAP_INO] = st.st_ino + (uint64_t)k;
			row[VT_MAP_MAJ] = major(st.st_dev);
			row[VT_MAP_MIN] = minor(st.st_dev);
		}
		feed(im, w, fd);
		/* Each is asked for twice: looked up, and kept. */
		for (k = 0; k < 2; k++) {
			assert_int_equal(vt_images_verified(im, 1), rows[i].verified);
			assert_int_equal(vt_images_changed(im, 1), rows[i].changed);
		}
		vt_images_free(im);
	}
	toolbox_remove(dir);
}

/* ---- the kernel that runs ---- */

/* An address of /proc/kallsyms; 0 if it is hidden. */
static uint64_t kernel_address(const char *name)
{
	char *text = toolbox_run("/", "sed -n 's/ . %s$//p' /proc/kallsyms 2>/dev/null || :", name);
	uint64_t address = strtoull(text, NULL, 16);

	free(text);
	return address;
}

/*
 * Of a kernel without a build-id the running one's symbols count only if its release is the
 * recorded one and its code has the recorded addresses.
 */
static void running_kernel(void **state)
{
	static const struct {
		bool release, ends;  /* as here */
		int64_t text, etext; /* so far off */
		bool symfs;
	} rows[] = {
		{.release = true, .ends = true},
		{.release = false, .ends = true},
		{.release = true, .ends = false},
		{.release = true, .ends = true, .text = 16},
		{.release = true, .ends = true, .etext = 16},
		{.release = true, .ends = true, .symfs = true},
	};
	const uint64_t text = kernel_address("_text"), etext = kernel_address("_etext");
	struct vt_location loc;
	struct utsname here;
	size_t i;

	(void)state;
	assert_int_equal(uname(&here), 0);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct vt_images_options opt = {
			.find = {.symfs = rows[i].symfs ? "/" : NULL}};
		bool known = i == 0 && text && etext;
		struct vt_images *im = open_store(&opt);
		uint64_t start = text + (uint64_t)rows[i].text;
		struct vt_writer *w;
		uint64_t *row;
		int fd;

		if (rows[i].symfs && text)
			known = true; /* SYMFS/proc/kallsyms is taken as it is */
		add(im, 1, VT_IMAGE_KERNEL, "[kernel.kallsyms]_text");
		w = begin(&fd);
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, "osrelease");
		vt_writer_text(w, VT_META_VALUE, rows[i].release ? here.release : "2.6.0");
		/* Other facts, whose names are as long, or begin as that. */
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, "osreleas_");
		vt_writer_text(w, VT_META_VALUE, "2.6.0");
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, "osreleases");
		vt_writer_text(w, VT_META_VALUE, "2.6.0");
		row = vt_writer_row(w, VT_MAP);
		row[VT_MAP_PID] = (uint64_t)-1;
		row[VT_MAP_IMAGE] = 1;
		row[VT_MAP_START] = start;
		row[VT_MAP_OFFSET] = start;
		row[VT_MAP_LENGTH] = rows[i].ends ? etext + (uint64_t)rows[i].etext - start : 0;
		feed(im, w, fd);
		assert_int_equal(vt_images_symbol(im, 1, 1, 0, &loc),
				 known ? VT_KNOWN : VT_UNKNOWN_NO_KALLSYMS);
		if (known)
			assert_int_equal(loc.vaddr, text);
		vt_images_free(im);
	}
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
		cmocka_unit_test(names_and_buildids),
		cmocka_unit_test(modules_lie_where_they_are_mapped),
		cmocka_unit_test(written_files),
		cmocka_unit_test(files_by_their_inodes),
		cmocka_unit_test(running_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
