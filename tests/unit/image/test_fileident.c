/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a file is the one that was mapped: each thing that may differ. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "image/fileident.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

/* A mapping and the facts about its recording. */
struct recorded {
	uint64_t ino, maj, min, generation, time;
	uint64_t other_ino; /* of a second mapping; 0: there is none */
	uint64_t other_generation;
	const char *host;
	unsigned clock_version, clock_size;
	uint64_t wall, clock;
};

static void put_meta(struct vt_writer *w, const char *key, const char *value, const void *data,
		     size_t size)
{
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, key);
	vt_writer_text(w, VT_META_VALUE, value);
	vt_writer_bytes(w, VT_META_DATA, data, size);
}

static void put_map(struct vt_writer *w, const struct recorded *r, uint64_t ino,
		    uint64_t generation, uint64_t time)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_IMAGE] = 5;
	row[VT_MAP_TIME] = time;
	row[VT_MAP_INO] = ino;
	row[VT_MAP_INO_GENERATION] = generation;
	row[VT_MAP_MAJ] = r->maj;
	row[VT_MAP_MIN] = r->min;
}

static void feed(struct vti_idents *t, const struct recorded *r)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec = {0};
	int fd = scratch_file();
	struct vt_writer *w = vt_writer_open_fd(fd, "test", &o, &err);
	struct vt_reader *reader;
	uint8_t clock[24] = {0};

	assert_non_null(w);
	vt_put_le32(clock, r->clock_version);
	vt_put_le64(clock + 8, r->wall);
	vt_put_le64(clock + 16, r->clock);
	if (r->host)
		put_meta(w, "hostname", r->host, NULL, 0);
	put_meta(w, "clock_data", "", clock, r->clock_size);
	put_meta(w, "hostnames", "elsewhere", NULL, 0);
	put_meta(w, "hostnam_", "elsewhere", NULL, 0);
	put_map(w, r, r->ino, r->generation, r->time);
	/* Mapped again: it is the first time that counts. */
	put_map(w, r, r->other_ino ? r->other_ino : r->ino,
		r->other_ino ? r->other_generation : r->generation, 1);
	assert_int_equal(vt_writer_close(w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	reader = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(reader);
	vti_idents_init(t);
	while (vt_reader_next(reader, &rec, &err) > 0)
		assert_int_equal(vti_idents_feed(t, &rec, &err), 0);
	vt_reader_close(reader);
	close(fd);
}

static void check_inode(struct vti_inode inode, uint64_t maj, uint64_t min, uint64_t ino)
{
	assert_int_equal(inode.maj, maj);
	assert_int_equal(inode.min, min);
	assert_int_equal(inode.ino, ino);
}

static bool is_same(const struct recorded *r, const char *path, bool several)
{
	struct vti_idents t;
	bool same;

	feed(&t, r);
	assert_int_equal(vti_idents_several(&t, 5), several);
	assert_false(vti_idents_several(&t, 6));
	check_inode(vti_idents_inode(&t, 6), 0, 0, 0);
	if (r->ino && (r->maj || r->min))
		check_inode(vti_idents_inode(&t, 5), r->maj, r->min, r->ino);
	else
		check_inode(vti_idents_inode(&t, 5), 0, 0, 0);
	assert_false(vti_idents_same(&t, 6, path));
	same = vti_idents_same(&t, 5, path);
	vti_idents_fini(&t);
	return same;
}

/* A tick of the kernel's clock, ns: what is written in it may have the time of its beginning. */
#define TICK 10000000

/* What is recorded of the file as it is, mapped a tick and a nanosecond after it changed last. */
static struct recorded describe(const char *path, const char *host)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (struct recorded){
		.ino = st.st_ino,
		.maj = major(st.st_dev),
		.min = minor(st.st_dev),
		.generation = 3,
		.time = 5000,
		.host = host,
		.clock_version = 1,
		.clock_size = 24,
		.wall = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec +
			TICK + 1,
		.clock = 5000,
	};
}

#define EXPECT(same, several, change)                                                              \
	do {                                                                                       \
		struct recorded r = known;                                                         \
		change;                                                                            \
		assert_int_equal(is_same(&r, path, several), same);                                \
	} while (0)

static void test_differences(void **state)
{
	char *dir = toolbox_dir();
	const char *path = toolbox_path(dir, "file");
	struct recorded known;
	struct utsname here;

	(void)state;
	toolbox_write(dir, "file", "text");
	assert_int_equal(uname(&here), 0);
	known = describe(path, here.nodename);
	EXPECT(true, false, (void)r);
	EXPECT(false, false, r.ino++);
	EXPECT(false, false, r.maj++);
	EXPECT(false, false, r.min++);
	EXPECT(false, false, r.host = NULL);
	EXPECT(false, false, r.host = "elsewhere");
	EXPECT(false, false, r.clock_version = 2);
	EXPECT(false, false, r.clock_size = 23);
	EXPECT(false, false, r.ino = 0);
	/* No device, or half of one. */
	EXPECT(false, false, r.maj = r.min = 0);
	/* Two files under one name, by their inodes or generations; the same one twice is one. */
	EXPECT(true, false, (r.other_ino = r.ino, r.other_generation = 3));
	EXPECT(false, true, (r.other_ino = r.ino + 1, r.other_generation = 3));
	EXPECT(false, true, (r.other_ino = r.ino, r.other_generation = 4));
	/* The time of the recording's clock, before and after its time of day was taken. */
	EXPECT(false, false, r.wall--);
	EXPECT(false, false, r.time = 0);
	EXPECT(false, false, r.time--);
	EXPECT(true, false, r.time++);
	EXPECT(true, false, (r.wall--, r.time++));
	EXPECT(true, false, (r.wall++, r.time--));
	EXPECT(false, false, (r.wall++, r.time -= 2));
	EXPECT(false, false, r.clock++);
	EXPECT(false, false, (r.wall = 4998, r.clock = 9999));
	EXPECT(false, false, (r.wall = 4, r.clock = 9999));
	EXPECT(false, false, r.wall = 0);
	assert_int_equal(unlink(path), 0);
	EXPECT(false, false, (void)r);
	toolbox_remove(dir);
}

static bool is_changed(const struct recorded *r, const char *path)
{
	struct vti_idents t;
	bool changed;

	feed(&t, r);
	assert_false(vti_idents_changed(&t, 6, path));
	changed = vti_idents_changed(&t, 5, path);
	vti_idents_fini(&t);
	return changed;
}

#define CHANGED(changed, change)                                                                   \
	do {                                                                                       \
		struct recorded r = known;                                                         \
		change;                                                                            \
		assert_int_equal(is_changed(&r, path), changed);                                   \
	} while (0)

/* Written to since: only of the very file, and where the time of its mapping is known. */
static void test_changed(void **state)
{
	char *dir = toolbox_dir();
	const char *path = toolbox_path(dir, "file");
	const struct timespec times[2] = {{1000, 0}, {1000, 5}};
	struct recorded known;
	struct utsname here;

	(void)state;
	toolbox_write(dir, "file", "text");
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(uname(&here), 0);
	known = describe(path, here.nodename);
	known.wall = UINT64_C(1000000000005) + TICK;
	CHANGED(true, (void)r);
	CHANGED(false, r.wall++);
	CHANGED(false, r.time++);
	CHANGED(true, r.time--);
	/* Found mapped, when recording began. */
	CHANGED(true, r.time = 0);
	CHANGED(false, (r.wall++, r.time = 0));
	CHANGED(false, r.wall = 0);
	CHANGED(false, r.ino++);
	CHANGED(false, r.maj++);
	CHANGED(false, r.min++);
	CHANGED(false, r.host = NULL);
	CHANGED(false, r.host = "elsewhere");
	assert_int_equal(unlink(path), 0);
	CHANGED(false, (void)r);
	toolbox_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
