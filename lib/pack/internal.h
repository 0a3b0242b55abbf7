/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PACK_INTERNAL_H
#define VT_PACK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "image/images.h"
#include "pack/pack.h"

struct vt_chain;

/* What is needed at a place. */
enum {
	VTI_HIT_CODE = 1, /* its whole procedure */
	VTI_HIT_NAME = 2, /* its symbol and its line */
};

/* A place that records lie at; without padding. */
struct vti_place {
	uint32_t image; /* the key, with `pid` and `offset` */
	int32_t pid;	/* of anonymous code, else 0 */
	uint64_t offset;
	uint64_t hits;
};

/* An address that nothing was mapped at when its record came. */
struct vti_loose {
	uint64_t address; /* the key */
	uint64_t hits;
};

struct vt_pack {
	struct vt_context *context;
	struct vt_hash places;	/* struct vti_place; sorted by vt_pack_finish() */
	struct vt_hash loose;	/* struct vti_loose */
	struct vt_hash done;	/* ids of images that were written */
	struct vt_hash several; /* ids that stand for several images */
	bool stacks;		/* samples have copies of the stack */
	struct vt_chain *chain; /* of the sample at hand */
	int32_t followed_pid;	/* of that sample */
	bool nomem;
	struct vt_pack_totals totals;
};

/* hits.c: memory for a chain.  NULL: no memory. */
struct vt_chain *vti_pack_new_chain(void);

/* A vt_consume_record_fn, before and after a record changes the context. */
int vti_pack_before(void *pack, const struct vt_record *rec, struct vt_error *err);
int vti_pack_record(void *pack, const struct vt_record *rec, struct vt_error *err);

/* Adds a place.  -VT_E_NOMEM. */
int vti_pack_hit(struct vt_pack *p, uint32_t image, int32_t pid, uint64_t offset, uint64_t hits,
		 struct vt_error *err);

struct vti_span {
	uint64_t first; /* the key */
	uint64_t end;
};

struct vti_spans {
	struct vti_span *v;
	size_t count;
	size_t cap;
};

bool vti_spans_add(struct vti_spans *s, uint64_t first, uint64_t end);

/* Sorts ranges and joins those that overlap or are at most `gap` apart. */
void vti_spans_join(struct vti_spans *s, uint64_t gap);

/* Whether one of the ranges, sorted and apart, holds an address. */
bool vti_spans_hold(const struct vti_spans *s, uint64_t address);

/* What is kept of one image, or of the generated code of one process. */
struct vti_kept {
	struct vt_images *images;
	struct vt_symbols *symbols; /* NULL: none */
	const struct vt_elf *elf;   /* NULL: none */
	uint32_t image;
	int32_t pid;
	struct vti_spans procedures; /* vaddrs, sorted and apart */
	struct vti_spans points;     /* vaddrs of which a symbol and a line are kept */
	struct vti_spans file;	     /* positions in the file */
	struct vt_hash names;	     /* indices of symbols */
	struct vt_hash ends;	     /* vaddrs of procedures that never return */
	bool relocations;	     /* constants that the dynamic linker relocates are kept */
	bool nomem;
};

/*
 * code.c: adds to the ranges of the file the code of the procedures and the constants that it
 * refers to, and to the names the symbols that it refers to.  Only x86-64.  False: no memory.
 */
bool vti_pack_code(struct vti_kept *k);

/* The index of the first symbol that starts at or after a vaddr. */
size_t vti_pack_symbol_from(const struct vt_symbols *t, uint64_t vaddr);

/* Adds the symbol at a vaddr to the names, and the procedure that it is part of. */
bool vti_pack_name(struct vti_kept *k, uint64_t vaddr);

/* write.c: write what is kept; errors stick to the writer. */
void vti_pack_write_file(const struct vti_kept *k, uint64_t flags, struct vt_writer *w);
void vti_pack_write_symbols(const struct vti_kept *k, struct vt_writer *w);
void vti_pack_write_lines(const struct vti_kept *k, struct vt_writer *w);

#endif
