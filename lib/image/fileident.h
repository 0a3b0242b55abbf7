/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_FILEIDENT_H
#define VT_IMAGE_FILEIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "stream/record.h"

struct vti_inode {
	uint32_t maj, min;
	uint64_t ino; /* 0: unknown */
};

/*
 * The device and inode of each image's file, as the kernel recorded them with its mappings.  They
 * prove that a file is the recorded one if this is the same machine and the file was not modified
 * since it was mapped.  That requires a recording with the time of day.
 */
struct vti_idents {
	struct vt_hash images;
	char *host;    /* of the recorded machine; NULL: unknown */
	uint64_t wall; /* ns since 1970 at `clock` of the recording; 0: unknown */
	uint64_t clock;
};

void vti_idents_init(struct vti_idents *t);
void vti_idents_fini(struct vti_idents *t);

/* Processes a record: MAP or META; others are ignored.  Returns 0 or -VT_E_NOMEM. */
int vti_idents_feed(struct vti_idents *t, const struct vt_record *rec, struct vt_error *err);

/* Returns the file first mapped under this image's name; all 0: unknown. */
struct vti_inode vti_idents_inode(const struct vti_idents *t, uint32_t image);

/* Returns true if different files were mapped under this image's name. */
bool vti_idents_several(const struct vti_idents *t, uint32_t image);

/*
 * Returns true if the file is the mapped one and unchanged: same host name, device and inode, and
 * no change of its bytes or inode (st_ctim) since 10 ms before it was first mapped.  Times of files
 * are no more precise than that.
 */
bool vti_idents_same(const struct vti_idents *t, uint32_t image, const char *path);

/*
 * Returns true if the file is the mapped one (host name, device, inode), but its bytes changed
 * (st_mtim) since 10 ms before it was first mapped or, if the recorder found it mapped, before
 * recording began.
 */
bool vti_idents_changed(const struct vti_idents *t, uint32_t image, const char *path);

#endif
