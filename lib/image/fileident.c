/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/fileident.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include "base/bytes.h"

#define NS_PER_S UINT64_C(1000000000)

/*
 * Kernels take file times from a clock that a timer advances at 100 Hz or more (Kconfig.hz), so a
 * recorded time may be too early by this much.
 */
#define TICK_NS UINT64_C(10000000)

/* perf.data's HEADER_CLOCK_DATA: u32 version, which is 1; u32 clockid; u64 time of day, ns; u64
 * time of that clock, ns; in the byte order of the file (tools/perf/Documentation,
 * perf.data-file-format.txt). */
#define CLOCK_DATA_SIZE	   24
#define CLOCK_DATA_VERSION 1

/* The first mapping of an image that names a file. */
struct ident {
	uint32_t image;
	uint32_t maj, min;
	bool several;
	uint64_t ino;
	uint64_t generation;
	uint64_t time;
};

void vti_idents_init(struct vti_idents *t)
{
	*t = (struct vti_idents){.host = NULL};
	vt_hash_init(&t->images, sizeof(struct ident), sizeof(uint32_t));
}

void vti_idents_fini(struct vti_idents *t)
{
	vt_hash_fini(&t->images);
	free(t->host);
}

static int feed_ident_map(struct vti_idents *t, const struct vt_record *rec, struct vt_error *err)
{
	uint32_t image = (uint32_t)vt_record_u64(rec, VT_MAP_IMAGE);
	struct ident new = {.maj = (uint32_t)vt_record_u64(rec, VT_MAP_MAJ),
			    .min = (uint32_t)vt_record_u64(rec, VT_MAP_MIN),
			    .ino = vt_record_u64(rec, VT_MAP_INO),
			    .generation = vt_record_u64(rec, VT_MAP_INO_GENERATION),
			    .time = vt_record_u64(rec, VT_MAP_TIME)};
	struct ident *old;
	bool added;

	/* An inode without a device comes from a recorder that does not record devices. */
	if (!new.ino || !(new.maj | new.min))
		return 0;
	old = vt_hash_add(&t->images, &image, &added);
	if (!old)
		return vt_error_nomem(err);
	if (added) {
		new.image = image;
		*old = new;
	} else if (old->ino != new.ino || old->maj != new.maj || old->min != new.min ||
		   old->generation != new.generation) {
		old->several = true;
	}
	return 0;
}

static int set_recorded_host(struct vti_idents *t, struct vt_bytes value, struct vt_error *err)
{
	char *host = strndup((const char *)value.data, value.size);

	if (!host)
		return vt_error_nomem(err);
	free(t->host);
	t->host = host;
	return 0;
}

static void set_recorded_clock(struct vti_idents *t, struct vt_bytes value)
{
	const uint8_t *p = value.data;

	if (value.size < CLOCK_DATA_SIZE)
		return;
	if (vt_le32(p) == CLOCK_DATA_VERSION) {
		t->wall = vt_le64(p + 8);
		t->clock = vt_le64(p + 16);
	}
}

int vti_idents_feed(struct vti_idents *t, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes key, value;

	if (rec->kind == VT_MAP)
		return feed_ident_map(t, rec, err);
	if (rec->kind != VT_META)
		return 0;
	key = vt_record_bytes(rec, VT_META_KEY);
	value = vt_record_bytes(rec, VT_META_VALUE);
	if (vt_bytes_are(key, "hostname"))
		return set_recorded_host(t, value, err);
	if (vt_bytes_are(key, "clock_data"))
		set_recorded_clock(t, vt_record_bytes(rec, VT_META_DATA));
	return 0;
}

struct vti_inode vti_idents_inode(const struct vti_idents *t, uint32_t image)
{
	const struct ident *e = vt_hash_find(&t->images, &image);

	return e ? (struct vti_inode){e->maj, e->min, e->ino} : (struct vti_inode){0};
}

bool vti_idents_several(const struct vti_idents *t, uint32_t image)
{
	const struct ident *e = vt_hash_find(&t->images, &image);

	return e && e->several;
}

/* Converts a time of the recording's clock to the time of day, ns; 0: unknown. */
static uint64_t time_of_day(const struct vti_idents *t, uint64_t time)
{
	if (!t->wall || !time)
		return 0;
	return time >= t->clock		   ? t->wall + (time - t->clock)
	       : t->clock - time < t->wall ? t->wall - (t->clock - time)
					   : 0;
}

/* Returns ns since 1970. */
static uint64_t timespec_ns(const struct timespec *ts)
{
	return ts->tv_sec < 0 ? 0 : (uint64_t)ts->tv_sec * NS_PER_S + (uint64_t)ts->tv_nsec;
}

/* Returns true if the file is the mapped one, on the same machine; its content may differ. */
static bool is_recorded_file(const struct vti_idents *t, const struct ident *e, const char *path,
			     struct stat *st)
{
	struct utsname here;

	return t->host && uname(&here) == 0 && strcmp(t->host, here.nodename) == 0 &&
	       stat(path, st) == 0 && st->st_ino == e->ino && major(st->st_dev) == e->maj &&
	       minor(st->st_dev) == e->min;
}

bool vti_idents_same(const struct vti_idents *t, uint32_t image, const char *path)
{
	const struct ident *e = vt_hash_find(&t->images, &image);
	uint64_t mapped = e ? time_of_day(t, e->time) : 0;
	struct stat st;

	return mapped && !e->several && is_recorded_file(t, e, path, &st) &&
	       st.st_ctim.tv_sec >= 0 && timespec_ns(&st.st_ctim) + TICK_NS < mapped;
}

bool vti_idents_changed(const struct vti_idents *t, uint32_t image, const char *path)
{
	const struct ident *e = vt_hash_find(&t->images, &image);
	uint64_t since = !e ? 0 : e->time ? time_of_day(t, e->time) : t->wall;
	struct stat st;

	return since && is_recorded_file(t, e, path, &st) &&
	       timespec_ns(&st.st_mtim) + TICK_NS >= since;
}
