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
 * The files with the code of a recording, by the ids of its IMAGE records.  vt_find_image() finds
 * them, so a file with another build-id is not used.  They are mapped when first needed.  Files
 * that are not ELF are used, too, if no build-id was recorded: executable mappings may be of any
 * format.
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

/* Takes an IMAGE record; a later one of the same id replaces it until the file is mapped. */
int vt_pt_files_image(struct vt_pt_files *f, const struct vt_record *rec, struct vt_error *err);

/*
 * The file of an image; NULL if there is no usable one, of which it warns once.  Borrowed until `f`
 * is freed.
 */
const struct vt_pt_file *vt_pt_files_get(struct vt_pt_files *f, uint64_t id);

/*
 * True if `size` bytes at an address of a mapping differ from its file: the program has changed
 * them.  Bytes after the end of the file differ; without a file nothing does.
 */
bool vt_pt_files_differ(struct vt_pt_files *f, const struct vt_map *m, uint64_t address,
			const uint8_t *code, size_t size);

/* The path of an image as recorded, untrusted; NULL for unknown ids.  *type: its type. */
const char *vt_pt_files_path(const struct vt_pt_files *f, uint64_t id, unsigned *type);

/* Maps a whole regular file; `path` is copied.  -VT_E_READ, -VT_E_NOMEM.  End with unmap(). */
int vti_pt_file_map(struct vt_pt_file *file, const char *path, struct vt_error *err);
void vti_pt_file_unmap(struct vt_pt_file *file);

#endif
