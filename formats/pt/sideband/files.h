/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_FILES_H
#define FORMATS_PT_SIDEBAND_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/addrspace.h"
#include "image/find.h"
#include "stream/reader.h"
#include "stream/record.h"

/*
 * The files that a recording's code came from, by the ids of its IMAGE records: found by
 * vt_find_image(), so that a file with another build-id is not used, and mapped when first asked
 * for.  An executable mapping shows the bytes of its file whatever the file's format, so one that
 * is no ELF file is used, too, where no build-id was recorded.
 */
struct vt_pt_files;

struct vt_pt_file {
	const uint8_t *bytes;
	uint64_t size;
	const char *path;
	bool memory; /* the bytes came from malloc() */
};

/* `find` is copied, its strings borrowed.  Owned by the caller; NULL: no memory. */
struct vt_pt_files *vt_pt_files_new(const struct vt_find_options *find, vt_warn_fn *warn,
				    void *warn_arg);
void vt_pt_files_free(struct vt_pt_files *f);

/* Takes an IMAGE record; a later one of the same id counts if the file is not mapped yet. */
int vt_pt_files_image(struct vt_pt_files *f, const struct vt_record *rec, struct vt_error *err);

/*
 * The file of an image; NULL when there is none that can be used, which is told once.  Borrowed
 * until `f` is freed.
 */
const struct vt_pt_file *vt_pt_files_get(struct vt_pt_files *f, uint64_t id);

/*
 * True where a mapping shows other code than its file has, `size` bytes at an address of it: the
 * program has patched it, however.  What lies behind the file's end differs, and nothing does from
 * a file that is not there.
 */
bool vt_pt_files_differ(struct vt_pt_files *f, const struct vt_map *m, uint64_t address,
			const uint8_t *code, size_t size);

/* The path of an image as recorded, untrusted; NULL for ids that are not known.  *type: its type.
 */
const char *vt_pt_files_path(const struct vt_pt_files *f, uint64_t id, unsigned *type);

/* Maps a whole regular file; `path` is copied.  -VT_E_READ, -VT_E_NOMEM.  End with unmap(). */
int vti_pt_file_map(struct vt_pt_file *file, const char *path, struct vt_error *err);
void vti_pt_file_unmap(struct vt_pt_file *file);

#endif
