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
 * Which file each image of a stream was, as the kernel told with its mappings: device and inode.
 * They show that a file here is the recorded one if this is the same machine and the file has not
 * been touched since it was mapped; for that, the recording must know what time it was.
 */
struct vti_idents {
	struct vt_hash images;
	char *host;    /* name of the recorded machine; NULL: unknown */
	uint64_t wall; /* ns since 1970 at `clock` of the recording; 0: unknown */
	uint64_t clock;
};

void vti_idents_init(struct vti_idents *t);
void vti_idents_fini(struct vti_idents *t);

/* Takes one record: MAP and META count.  0 or -VT_E_NOMEM. */
int vti_idents_feed(struct vti_idents *t, const struct vt_record *rec, struct vt_error *err);

/* The file that was mapped first under the name of this image; all 0: unknown. */
struct vti_inode vti_idents_inode(const struct vti_idents *t, uint32_t image);

/* True if two different files were mapped under the name of this image. */
bool vti_idents_several(const struct vti_idents *t, uint32_t image);

/*
 * True if the file is the one that was mapped, unchanged: same name of the machine, same device and
 * inode, and neither its bytes nor its inode changed after it was mapped first, nor in the 10 ms
 * before, since a file's times are no more precise (st_ctim).
 */
bool vti_idents_same(const struct vti_idents *t, uint32_t image, const char *path);

/*
 * True if the file is the one that was mapped (name of the machine, device, inode), but its bytes
 * changed after it was mapped first, or after the recording began that found it mapped (st_mtim);
 * or in the 10 ms before.
 */
bool vti_idents_changed(const struct vti_idents *t, uint32_t image, const char *path);

#endif
