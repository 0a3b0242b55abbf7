/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_IMAGEFILE_H
#define VT_IMAGE_IMAGEFILE_H

#include "image/image.h"
#include "image/symbols.h"
#include "image/written.h"

/* One image of a store, and what was read of it so far. */
struct vti_image {
	struct vt_image pub;
	char *path;
	char *name;
	uint8_t buildid[VT_BUILDID_MAX];
	uint64_t base;	 /* of a module: where it was loaded */
	uint64_t text;	 /* of the kernel: where its reference symbol was, and */
	uint64_t etext;	 /* where its code ended; 0: unknown */
	uint64_t length; /* of generated kernel code; 0: unknown */

	bool elf_tried;
	bool verified;
	bool ident_tried;
	bool changed_tried;
	bool changed; /* the file was written to after it was mapped */
	bool withheld;
	struct vti_ranges patches; /* of code */
	enum vt_unknown elf_why;
	struct vt_elf *elf;

	bool kcore_tried;
	struct vt_kcore *kcore; /* of the kernel: its code, when there is no file of it */

	bool debug_tried;
	struct vt_elf *debug;

	bool symbols_tried;
	bool stripped; /* at most its dynamic symbols are there */
	enum vt_unknown why;
	struct vt_symbols *symbols;
	uint64_t delta; /* kernel and its modules: vaddr - offset */

	bool data_tried;
	struct vt_imagedata *data;

	bool unwind_tried;
	struct vt_unwind *unwind;

	bool lines_tried;
	struct vt_lines *lines;

	void *kept; /* vt_images_keep() */
	void (*kept_free)(void *kept);

	/* The symbol found last, and up to where it is the innermost. */
	const struct vt_symbol *last;
	uint64_t last_end;
};

/* Generated code of one process. */
struct vti_jit {
	int32_t pid;
	enum vt_unknown why;
	struct vt_symbols *symbols;
};

/* What finding files needs. */
struct vti_finder {
	struct vt_images_options opt;
	struct vti_image *kernel; /* the one mentioned last, or NULL */
	char *release;		  /* of the recorded kernel, as uname -r gives it; NULL: unknown */
};

struct vti_image *vti_image_new(uint32_t id, unsigned type, const char *path, size_t path_size,
				const uint8_t *buildid, size_t buildid_size);
void vti_image_free(struct vti_image *image);

/* Each does its work once; what came of it is in the image, or returned: NULL for nothing. */
void vti_image_load_elf(struct vti_finder *f, struct vti_image *image);
void vti_image_load_kcore(struct vti_finder *f, struct vti_image *image);
void vti_image_load_symbols(struct vti_finder *f, struct vti_image *image);
struct vt_lines *vti_image_load_lines(struct vti_finder *f, struct vti_image *image);
struct vt_imagedata *vti_image_load_data(struct vti_finder *f, struct vti_image *image);
struct vt_unwind *vti_image_load_unwind(struct vti_finder *f, struct vti_image *image);
void vti_jit_load(struct vti_finder *f, struct vti_jit *jit);

/* Once symbols were loaded: offset to vaddr and back; not for anonymous code. */
bool vti_image_vaddr(const struct vti_image *image, uint64_t offset, uint64_t *vaddr);
bool vti_image_offset(const struct vti_image *image, uint64_t vaddr, uint64_t *offset);

/* Makes `sym` the symbol to try first next time. */
void vti_image_remember(struct vti_image *image, const struct vt_symbol *sym);

#endif
