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
 * The images of a stream, by id.  An image's file, symbols and lines are found and read when first
 * requested, and then kept.
 */
struct vt_images;
struct vt_lines;
struct vt_imagedata;
struct vt_unwind;
struct vt_packed;

/* Returns a text such as "file not found", never NULL. */
const char *vt_unknown_text(enum vt_unknown why);

/* A place in an image and its symbol. */
struct vt_location {
	enum vt_unknown why;		/* VT_KNOWN: `symbol` is set */
	uint64_t vaddr;			/* see elf.h */
	const struct vt_symbol *symbol; /* borrowed from the images, or NULL */
};

/*
 * Owned by the caller.  Copies the options and borrows their strings.  NULL: VT_E_NOMEM, or
 * VT_E_READ for a symfs that is not a readable directory.
 */
struct vt_images *vt_images_new(const struct vt_images_options *opt, struct vt_error *err);
void vt_images_free(struct vt_images *im);

/*
 * Processes a record: IMAGE, MAP, KSYMBOL, META, FILE, SYMBOL or LINE; others are ignored.
 * -VT_E_NOMEM, -VT_E_LIMIT, -VT_E_FORMAT: a FILE, SYMBOL or LINE record that contradicts itself.
 */
int vt_images_feed(struct vt_images *im, const struct vt_record *rec, struct vt_error *err);

/* Returns the number of threads for what is asked of a whole file, at least 1. */
unsigned vt_images_threads(const struct vt_images *im);

/* Adds or replaces an image.  Copies the path and the build-id.  Errors as vt_images_feed(). */
int vt_images_add(struct vt_images *im, uint32_t id, unsigned type, const char *path,
		  size_t path_size, const uint8_t *buildid, size_t buildid_size,
		  struct vt_error *err);

/* Sets the load address of a kernel module, if it is not set yet. */
void vt_images_set_base(struct vt_images *im, uint32_t id, uint64_t address);

/* Return the number of images; the i-th in the order of addition; the one with this id, or NULL. */
size_t vt_images_count(const struct vt_images *im);
const struct vt_image *vt_images_at(const struct vt_images *im, size_t i);
const struct vt_image *vt_images_get(const struct vt_images *im, uint32_t id);

/*
 * Finds the symbol at an offset of an image (vt_map_offset()).  `pid` matters only for anonymous
 * code; 0 stands for the only process with such code, if there is only one.  Returns loc->why; when
 * memory runs out, that is VT_UNKNOWN_UNREADABLE.
 */
enum vt_unknown vt_images_symbol(struct vt_images *im, uint32_t id, int32_t pid, uint64_t offset,
				 struct vt_location *loc);

/* Returns a symbol's demangled name; `id` and `pid` as above.  Borrowed from the images. */
const char *vt_images_display(struct vt_images *im, uint32_t id, int32_t pid,
			      const struct vt_symbol *sym);

/* Returns an image's symbols, or NULL and the reason in *why.  Borrowed from the images. */
struct vt_symbols *vt_images_symbols(struct vt_images *im, uint32_t id, int32_t pid,
				     enum vt_unknown *why);

/* Returns an image's file, or NULL and the reason in *why.  Borrowed from the images. */
const struct vt_elf *vt_images_elf(struct vt_images *im, uint32_t id, enum vt_unknown *why);

/* Converts a vaddr of an image to an offset.  Returns false if it is outside the image. */
bool vt_images_offset(struct vt_images *im, uint32_t id, uint64_t vaddr, uint64_t *offset);

/*
 * Returns an image's source lines (lines.h), from its file or separate debug file, or NULL without
 * debug information.  Borrowed from the images.
 */
struct vt_lines *vt_images_lines(struct vt_images *im, uint32_t id);

/*
 * Returns an image's unchanging bytes (imagedata.h), or NULL without a file or when memory runs
 * out.  Borrowed from the images.
 */
const struct vt_imagedata *vt_images_data(struct vt_images *im, uint32_t id);

/* Returns an image's call frame information (unwind.h); NULL and borrowed likewise. */
struct vt_unwind *vt_images_unwind(struct vt_images *im, uint32_t id);

/*
 * Returns vaddr - offset, modulo 2^64, of the kernel and of modules that are known by their list of
 * symbols; 0 for others, whose offsets are their file's.
 */
uint64_t vt_images_base(struct vt_images *im, uint32_t id);

/* Returns what the stream itself has of an image's file (packed.h), or NULL.  Borrowed likewise. */
const struct vt_packed *vt_images_packed(const struct vt_images *im, uint32_t id);

/*
 * Data that an analysis attaches to an image, for the lifetime of the image; free_fn frees it.
 * vt_images_kept() returns NULL if there is none, vt_images_keep() false if there is no such image.
 */
void *vt_images_kept(const struct vt_images *im, uint32_t id);
bool vt_images_keep(struct vt_images *im, uint32_t id, void *what, void (*free_fn)(void *what));

/*
 * Returns why the file of the i-th image was not found, or VT_KNOWN if it was found, was never
 * requested, or cannot exist.
 */
enum vt_unknown vt_images_missing(const struct vt_images *im, size_t i);

/*
 * Returns true if the image's file is known to be the recorded one.  It has the recorded build-id;
 * or, if none was recorded, it has the recorded device and inode on a host of the recorded name,
 * and was not modified since it was mapped, which requires a recording with the time of day.
 */
bool vt_images_verified(struct vt_images *im, uint32_t id);

/*
 * Returns true if the file of an image has at most dynamic symbols; its other procedures are named
 * by their addresses.  The symbols must have been requested before.
 */
bool vt_images_stripped(struct vt_images *im, uint32_t id);

/*
 * Returns true if the image's file is known to have been modified since it was mapped: it has the
 * recorded device and inode, but a later modification time.  It may still have the recorded
 * build-id.  The file at the recorded path is checked, too, because the file in use may be a copy
 * of it, made at an unknown time.
 */
bool vt_images_changed(struct vt_images *im, uint32_t id);

/*
 * vt_images_patch() marks code that the program could modify, [offset, offset + length), so that
 * the image's file does not show what ran there.  vt_images_is_patched() returns true for such
 * offsets.
 */
void vt_images_patch(struct vt_images *im, uint32_t id, uint64_t offset, uint64_t length);
bool vt_images_is_patched(const struct vt_images *im, uint32_t id, uint64_t offset);

/*
 * Returns true if a process could write to an offset of the image's file through a shared mapping
 * of the file, under any name.  Such writes also change other processes' mappings of the file.
 * vt_images_is_patched() includes this.
 */
bool vt_images_is_written(const struct vt_images *im, uint32_t id, uint64_t offset);

/* Returns a counter that rises when vt_images_is_written() becomes true for more of a file with
 * code. */
uint64_t vt_images_code_changes(const struct vt_images *im);

/*
 * vt_images_withhold() records that an analysis did not use the file of an image, because nothing
 * shows that it is the recorded one.  vt_images_withheld() returns true for such an image, by
 * index.
 */
void vt_images_withhold(struct vt_images *im, uint32_t id);
bool vt_images_withheld(const struct vt_images *im, size_t i);

#endif
