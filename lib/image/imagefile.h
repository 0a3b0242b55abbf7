/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_IMAGEFILE_H
#define VT_IMAGE_IMAGEFILE_H

#include "image/image.h"
#include "image/packed.h"
#include "image/symbols.h"
#include "image/written.h"

/* An image of vt_images, with everything read for it so far. */
struct vti_image {
	struct vt_image pub;
	char *path;
	char *name;
	uint8_t buildid[VT_BUILDID_MAX];
	uint64_t base;		  /* of a module: its load address */
	uint64_t text;		  /* of the kernel: address of its reference symbol */
	uint64_t etext;		  /* of the kernel: end of its code; 0: unknown */
	uint64_t length;	  /* of generated kernel code; 0: unknown */
	struct vt_packed *packed; /* what the stream has of its file, or NULL */

	bool elf_tried;
	bool verified;
	bool ident_tried;
	bool changed_tried;
	bool changed; /* the file was modified after it was mapped */
	bool withheld;
	struct vti_ranges patches; /* offsets of code that the program could modify */
	enum vt_unknown elf_why;
	struct vt_elf *elf;

	bool kcore_tried;
	struct vt_kcore *kcore; /* of the kernel: its code, if its file was not found */

	bool debug_tried;
	struct vt_elf *debug;

	bool symbols_tried;
	bool stripped; /* it has at most dynamic symbols */
	enum vt_unknown why;
	struct vt_symbols *symbols;
	uint64_t delta; /* of the kernel and its modules: vaddr - offset */

	bool data_tried;
	struct vt_imagedata *data;

	bool unwind_tried;
	struct vt_unwind *unwind;

	bool lines_tried;
	struct vt_lines *lines;

	void *kept; /* vt_images_keep() */
	void (*kept_free)(void *kept);

	/* The symbol found last, and the end of the range in which it is the innermost. */
	const struct vt_symbol *last;
	uint64_t last_end;
};

/* The symbols of a process's generated code. */
struct vti_jit {
	int32_t pid;
	enum vt_unknown why;
	struct vt_symbols *symbols;
};

/* State for finding files. */
struct vti_finder {
	struct vt_images_options opt;
	struct vti_image *kernel; /* the kernel's image added last, or NULL */
	char *release;		  /* `uname -r` of the recorded kernel; NULL: unknown */
};

/* Returns NULL when memory runs out. */
struct vti_image *vti_image_new(uint32_t id, unsigned type, const char *path, size_t path_size,
				const uint8_t *buildid, size_t buildid_size);
void vti_image_free(struct vti_image *image);

/* Each loads something on its first call only, stores the result in the image, and may return it.
 */
void vti_image_load_elf(struct vti_finder *f, struct vti_image *image);
void vti_image_load_kcore(struct vti_finder *f, struct vti_image *image);
void vti_image_load_symbols(struct vti_finder *f, struct vti_image *image);
struct vt_lines *vti_image_load_lines(struct vti_finder *f, struct vti_image *image);
struct vt_imagedata *vti_image_load_data(struct vti_finder *f, struct vti_image *image);
struct vt_unwind *vti_image_load_unwind(struct vti_finder *f, struct vti_image *image);
void vti_jit_load(struct vti_finder *f, struct vti_jit *jit);
void vti_jit_load_packed(struct vti_jit *jit, const struct vt_packed *packed);

/* Convert between offset and vaddr, after symbols were loaded; not for anonymous code. */
bool vti_image_vaddr(const struct vti_image *image, uint64_t offset, uint64_t *vaddr);
bool vti_image_offset(const struct vti_image *image, uint64_t vaddr, uint64_t *offset);

/* Caches `sym` as the symbol to try first next time. */
void vti_image_remember(struct vti_image *image, const struct vt_symbol *sym);

#endif
