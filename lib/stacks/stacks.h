/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STACKS_STACKS_H
#define VT_STACKS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/intern.h"

/*
 * Counted stacks of frames, as other tools' formats and flame graphs have them: what is left of a
 * profile when nobody needs its records any more.  The stacks are a tree; a node is a stack that
 * ends at its place, and has one count for each value.
 *
 * A node's parent comes before it, so the nodes can be visited in order of their numbers.
 */

#define VT_STACK_NONE UINT32_MAX

/* What is counted. */
struct vt_stack_value {
	const char *name;
	const char *unit;
};

/* A file that frames are in. */
struct vt_stack_image {
	const char *path;
	const char *buildid; /* hexadecimal; "" if unknown */
	uint64_t start;	     /* the addresses of its code, from start to limit; both 0: unknown */
	uint64_t limit;
	uint64_t offset; /* of `start` in the file */
};

/* A function that is active at a place. */
struct vt_stack_line {
	const char *name;   /* for people; never "" */
	const char *symbol; /* the raw name; "" without a symbol */
	const char *file;   /* "" if unknown, as a line of 0 */
	unsigned line;
	unsigned start_line; /* of the function; 0 if unknown */
};

enum vt_stack_mode { VT_STACK_USER, VT_STACK_KERNEL, VT_STACK_UNKNOWN };

/* Where a frame is.  Its lines are the functions there, innermost first: all but the last are
 * inlined. */
struct vt_stack_place {
	uint32_t image;	  /* index, or VT_STACK_NONE */
	uint32_t line;	  /* index of the first */
	uint32_t nlines;  /* at least 1 */
	uint32_t mode;	  /* enum vt_stack_mode */
	uint64_t address; /* in the image, in terms of its start */
};

/* `parent` and `place` are the key of the hash table. */
struct vt_stack_node {
	uint32_t parent; /* VT_STACK_NONE: a root, whose place is the index of its label */
	uint32_t place;
};

/* What all stacks below a root have in common.  "" and negative numbers: unknown. */
struct vt_stack_label {
	const char *comm;
	int64_t pid, tid, cpu;
};

/* All arrays may be read; strings are borrowed from `strings`. */
struct vt_stacks {
	struct vt_intern *strings;
	struct vt_stack_value *values;
	size_t nvalues, values_cap;
	struct vt_stack_image *images;
	size_t nimages, images_cap;
	struct vt_stack_line *lines;
	size_t nlines, lines_cap;
	struct vt_stack_place *places;
	size_t nplaces, places_cap;
	struct vt_stack_label *labels;
	size_t nlabels, labels_cap;
	struct vt_hash nodes; /* struct vt_stack_node */
	uint64_t *counts;     /* counts[node * nvalues + value] */
	size_t counts_cap;
	uint64_t period;	 /* that was asked for between samples of the first value; or 0 */
	const char *period_name; /* its event and unit; "" if unknown */
	const char *period_unit;
	bool failed; /* memory ran out: what follows is ignored */
};

/* Owned by the caller; NULL when memory runs out. */
struct vt_stacks *vt_stacks_new(void);
void vt_stacks_free(struct vt_stacks *s);

/* Adds a value.  All values are added before the first node.  The strings are copied. */
void vt_stacks_add_value(struct vt_stacks *s, const char *name, const char *unit);

/* Sets the period and what it is in; the strings are copied. */
void vt_stacks_set_period(struct vt_stacks *s, uint64_t period, const char *name, const char *unit);

/* Adds an image or a place with `n` lines, copied; the place's `line` and `nlines` are ignored.
 * Returns the index, or VT_STACK_NONE when memory runs out. */
uint32_t vt_stacks_add_image(struct vt_stacks *s, const struct vt_stack_image *image);
uint32_t vt_stacks_add_place(struct vt_stacks *s, const struct vt_stack_place *place,
			     const struct vt_stack_line *lines, size_t n);

/* Adds a root, with a label, which is copied.  Returns the node as vt_stacks_push(). */
uint32_t vt_stacks_add_root(struct vt_stacks *s, const struct vt_stack_label *label);

/* Returns the stack of a node and a place that it called; VT_STACK_NONE when memory runs out. */
uint32_t vt_stacks_push(struct vt_stacks *s, uint32_t node, uint32_t place);

/* Adds to a count of a stack, which stays below 2^64.  Ignores VT_STACK_NONE. */
void vt_stacks_count(struct vt_stacks *s, uint32_t node, size_t value, uint64_t amount);

static inline const struct vt_stack_node *vt_stacks_node(const struct vt_stacks *s, size_t node)
{
	return vt_hash_at(&s->nodes, node);
}

static inline uint64_t vt_stacks_get(const struct vt_stacks *s, size_t node, size_t value)
{
	return s->counts[node * s->nvalues + value];
}

/* Whether any count of a stack is above 0. */
bool vt_stacks_counted(const struct vt_stacks *s, size_t node);

/* The sum of a value over all stacks. */
uint64_t vt_stacks_total(const struct vt_stacks *s, size_t value);

/* The functions of a stack, inlined ones included. */
struct vt_stack_path {
	const struct vt_stack_place **places; /* places[i] is that of lines[i] */
	uint32_t *lines;		      /* indexes, outermost first */
	size_t count, places_cap, lines_cap;
};

/* Fills *path, which is reused; the caller initializes it with zeros.  False: no memory. */
bool vt_stacks_path(const struct vt_stacks *s, uint32_t node, struct vt_stack_path *path);
void vt_stack_path_fini(struct vt_stack_path *path);

#endif
