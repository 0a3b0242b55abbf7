/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_PACKED_H
#define VT_IMAGE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"
#include "image/line.h"
#include "image/symbols.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * What a stream has of an image's file: the FILE, SYMBOL and LINE records of `vtrace pack`.  They
 * replace the file, its separate debug file, and the lists of symbols of kernels and of generated
 * code.
 */
struct vt_packed;

/* Limits on the bytes and on the symbols and lines that all images of a stream have together. */
#define VTI_PACKED_BYTES   ((uint64_t)1 << 30)
#define VTI_PACKED_ENTRIES ((uint64_t)1 << 24)

/* What is left of these limits. */
struct vti_packed_left {
	uint64_t bytes;
	uint64_t entries;
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_packed *vti_packed_new(void);
void vti_packed_free(struct vt_packed *p);

/*
 * Adds a FILE, SYMBOL or LINE record.  0; -VT_E_NOMEM; -VT_E_LIMIT: the record exceeds a limit;
 * -VT_E_FORMAT: it contradicts itself or an earlier one.  Refused records are left out.
 */
int vti_packed_feed(struct vt_packed *p, const struct vt_record *rec, struct vti_packed_left *left,
		    struct vt_error *err);

/* The field of these kinds of records that has the image. */
unsigned vti_packed_image_field(uint32_t kind);

/* A packed file, as its FILE records have it. */
struct vti_packed_file {
	uint64_t flags; /* enum vt_file_flags */
	uint64_t base;
	uint64_t total;
	const uint8_t *bytes; /* `total` of them; NULL: none */
};

/*
 * These write records of an image; errors stick to the writer.  vti_packed_put_file() writes the
 * bytes of [first, end), or one record without bytes if that is empty.
 */
void vti_packed_put_file(struct vt_writer *w, uint32_t image, const struct vti_packed_file *f,
			 uint64_t first, uint64_t end);
void vti_packed_put_symbol(struct vt_writer *w, uint32_t image, int32_t pid,
			   const struct vt_symbol *symbol);

/* A LINE record: `line` is the place, `function` a linkage name. */
struct vti_packed_source {
	uint64_t addr;
	uint64_t size;
	uint64_t depth;
	uint64_t flags; /* enum vt_line_flags */
	const char *function;
	struct vt_line line;
};

void vti_packed_put_line(struct vt_writer *w, uint32_t image, const struct vti_packed_source *s);

/* Writes it as records of an image `id`.  Errors stick to the writer. */
void vti_packed_write(const struct vt_packed *p, uint32_t id, struct vt_writer *w);

/* Flags (enum vt_file_flags) and base of the FILE records; 0 if there was none. */
uint64_t vti_packed_flags(const struct vt_packed *p);
uint64_t vti_packed_base(const struct vt_packed *p);

/*
 * Opens the packed file; `name` is for messages.  Owned by the caller; it borrows bytes of `p`.
 * NULL: VT_E_NOTFOUND if there are only symbols; else as vt_elf_open_memory().
 */
struct vt_elf *vti_packed_elf(struct vt_packed *p, const char *name, struct vt_error *err);

/* Adds the symbols of process `pid` (0: of the image) to a table.  -VT_E_LIMIT, -VT_E_NOMEM. */
int vti_packed_symbols(const struct vt_packed *p, int32_t pid, struct vt_symbols *t,
		       struct vt_error *err);

/* Whether there are symbols of a process. */
bool vti_packed_has_process(const struct vt_packed *p, int32_t pid);

/*
 * Calls `fn` for each symbol record without a name of its own: addresses where another procedure
 * jumps to (VT_SYMBOL_ENTERED), and procedures that never return (VT_SYMBOL_ENDS), in no order.
 */
bool vt_packed_each_fact(const struct vt_packed *p,
			 bool (*fn)(void *arg, uint64_t vaddr, uint32_t flags), void *arg);

/* As vt_lines_at(), vt_lines_frames(), vt_lines_change() and vt_lines_function(). */
bool vti_packed_line(struct vt_packed *p, uint64_t vaddr, struct vt_line *line);
size_t vti_packed_frames(struct vt_packed *p, uint64_t vaddr, struct vt_frame *frames, size_t max);
uint64_t vti_packed_change(struct vt_packed *p, uint64_t vaddr);
bool vti_packed_function(struct vt_packed *p, uint64_t vaddr, struct vt_frame *function);

#endif
