/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_IMAGES_H
#define VT_IMAGE_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"
#include "image/image.h"
#include "image/symbols.h"
#include "stream/record.h"

/*
 * The images of a stream by id.  Each image's file, symbols and lines are found and read when first
 * asked for, and kept.
 */
struct vt_images;
struct vt_lines;
struct vt_imagedata;
struct vt_unwind;

/* "file not found" …; never NULL. */
const char *vt_unknown_text(enum vt_unknown why);

/* A place in an image, resolved as far as possible. */
struct vt_location {
	enum vt_unknown why;		/* VT_KNOWN: `symbol` is there */
	uint64_t vaddr;			/* the address in the image's own terms (elf.h) */
	const struct vt_symbol *symbol; /* borrowed from the store, or NULL */
};

/*
 * Owned by the caller.  The options are copied, their strings borrowed.  NULL on error: VT_E_NOMEM,
 * or VT_E_READ for a symfs that is not a readable directory.
 */
struct vt_images *vt_images_new(const struct vt_images_options *opt, struct vt_error *err);
void vt_images_free(struct vt_images *im);

/* Takes one record: IMAGE, MAP (of the kernel and its modules), KSYMBOL and META count. */
int vt_images_feed(struct vt_images *im, const struct vt_record *rec, struct vt_error *err);

/* Adds an image, or changes one; `path` is copied. */
int vt_images_add(struct vt_images *im, uint32_t id, unsigned type, const char *path,
		  size_t path_size, const uint8_t *buildid, size_t buildid_size,
		  struct vt_error *err);

/* Where the recorded machine's kernel had loaded a module. */
void vt_images_set_base(struct vt_images *im, uint32_t id, uint64_t address);

/* How many images there are, and the i-th that was told of; the one with an id, or NULL. */
size_t vt_images_count(const struct vt_images *im);
const struct vt_image *vt_images_at(const struct vt_images *im, size_t i);
const struct vt_image *vt_images_get(const struct vt_images *im, uint32_t id);

/*
 * The symbol at an offset of an image (vt_map_offset()).  `pid` matters for anonymous code only; 0:
 * of the process that alone has such code, if it is one.
 * Returns loc->why.  Never fails otherwise: want of memory counts as unreadable.
 */
enum vt_unknown vt_images_symbol(struct vt_images *im, uint32_t id, int32_t pid, uint64_t offset,
				 struct vt_location *loc);

/* A symbol's name for people, demangled; `id` and `pid` as above.  Borrowed from the store. */
const char *vt_images_display(struct vt_images *im, uint32_t id, int32_t pid,
			      const struct vt_symbol *sym);

/* The symbols of an image, or NULL and the reason in *why.  Borrowed from the store. */
struct vt_symbols *vt_images_symbols(struct vt_images *im, uint32_t id, int32_t pid,
				     enum vt_unknown *why);

/* The file of an image, or NULL and the reason.  Borrowed from the store. */
const struct vt_elf *vt_images_elf(struct vt_images *im, uint32_t id, enum vt_unknown *why);

/* The offset of a vaddr of an image: the inverse of vt_location.vaddr. */
bool vt_images_offset(struct vt_images *im, uint32_t id, uint64_t vaddr, uint64_t *offset);

/*
 * The line tables of an image (lines.h), from the file or its separate debug file; NULL when there
 * is no debug information.  Borrowed from the store.
 */
struct vt_lines *vt_images_lines(struct vt_images *im, uint32_t id);

/*
 * The bytes of an image that do not change (imagedata.h), or NULL: no file, or no memory.
 * Borrowed from the store.
 */
const struct vt_imagedata *vt_images_data(struct vt_images *im, uint32_t id);

/* The call frame information of an image (unwind.h); NULL and borrowed likewise. */
struct vt_unwind *vt_images_unwind(struct vt_images *im, uint32_t id);

/*
 * What an analysis has found out of an image as a whole, for as long as the image is there: NULL
 * when nothing has been kept yet.  free_fn is called at its end.  An image that is not there keeps
 * nothing, and false says so.
 */
void *vt_images_kept(const struct vt_images *im, uint32_t id);
bool vt_images_keep(struct vt_images *im, uint32_t id, void *what, void (*free_fn)(void *what));

/*
 * Why the file of the i-th image is not there; VT_KNOWN: it is, or nobody has asked for it, or the
 * image is none that has a file of its own.
 */
enum vt_unknown vt_images_missing(const struct vt_images *im, size_t i);

/*
 * True when the image's file is known to be the recorded one: it has the recorded build-id; or none
 * was recorded, it has the recorded device and inode, on a machine of the recorded name, and has
 * not been changed since it was mapped, as far as the recording knows what time that was.
 */
bool vt_images_verified(struct vt_images *im, uint32_t id);

/*
 * Whether the file of an image, whose symbols were asked for before, has dynamic ones at most: its
 * other procedures are called by their addresses.
 */
bool vt_images_stripped(struct vt_images *im, uint32_t id);

/*
 * True when the image's file is known to have been written to since it was mapped: it has the
 * recorded device and inode, but a later time of modification.  It may have the recorded build-id.
 * The file at the recorded path counts, too: of what was copied from it, nobody knows when that
 * was.
 */
bool vt_images_changed(struct vt_images *im, uint32_t id);

/*
 * The program could write to code of an image, from an offset on: from then on its file does not
 * say what ran there.  And whether that was ever so at an offset.
 */
void vt_images_patch(struct vt_images *im, uint32_t id, uint64_t offset, uint64_t length);
bool vt_images_is_patched(const struct vt_images *im, uint32_t id, uint64_t offset);

/*
 * True if a process had a shared mapping of the image's file, under this name or another, by which
 * it could write to an offset: what other processes have of the file changes, too, wherever they
 * map it.  vt_images_is_patched() includes it.
 */
bool vt_images_is_written(const struct vt_images *im, uint32_t id, uint64_t offset);

/* Rises when vt_images_is_written() begins to be true of a file with code that is mapped. */
uint64_t vt_images_code_changes(const struct vt_images *im);

/*
 * An analysis did without what the file of an image has, as nothing shows that it is the recorded
 * one; and whether that was so of the i-th image.
 */
void vt_images_withhold(struct vt_images *im, uint32_t id);
bool vt_images_withheld(const struct vt_images *im, size_t i);

#endif
