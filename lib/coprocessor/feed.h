/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_FEED_H
#define VT_COPROCESSOR_FEED_H

#include "coprocessor/buffer.h"
#include "coprocessor/filters.h"
#include "profile/context.h"
#include "stream/reader.h"

/*
 * The main processor, played from executed code: BLOCK and EXEC records.  An instruction retires as
 * one operation for each load, one for each store, in the order in which they were recorded, each
 * of at most 8 bytes, and in one line of the cache if the program reads whether it missed; and one
 * of its own class, last.
 */
struct vt_feed;

struct vt_feed_stats {
	uint64_t insns;
	uint64_t no_value;   /* loads and stores left out, as the program reads values that */
	uint64_t no_address; /* were not recorded, and addresses */
	uint64_t no_target;  /* branches left out: what comes behind is not recorded */
	/* Of a program that reads whether accesses missed: */
	bool misses_told;   /* the stream has all misses */
	uint64_t miss_line; /* bytes of a line of the cache; 0: not known */
};

/*
 * Borrows all; calls `warn`, unless NULL, for each EXEC record that contradicts itself.  NULL when
 * memory runs out.
 */
struct vt_feed *vt_feed_new(const struct vt_context *c, const struct vt_ucode *u,
			    const struct vt_filters *f, struct vt_buffer *b, vt_warn_fn *warn,
			    void *warn_arg);

/* From here on, instructions retire at the cycles that EXEC records have, where they have them. */
void vt_feed_use_cycles(struct vt_feed *f);

/* Play so many instructions, and the rest of a block; what comes behind is passed over. */
void vt_feed_limit(struct vt_feed *f, uint64_t insns);

void vt_feed_free(struct vt_feed *f);

/* A vt_consume_record_fn for the kinds of VT_FEED_KINDS. */
#define VT_FEED_KINDS                                                                              \
	(VT_KIND(VT_EXEC) | VT_KIND(VT_GAP) | VT_KIND(VT_SIGNAL) | VT_KIND(VT_META) |              \
	 VT_KIND(VT_SAMPLE))
int vt_feed_record(void *feed, const struct vt_record *rec, struct vt_error *err);

const struct vt_feed_stats *vt_feed_stats(struct vt_feed *f);

/* The place of an instruction of a class that is profiled. */
struct vt_feed_place {
	uint64_t low; /* of the pc: 32 bits */
	uint64_t pc;
	int64_t pid;
	uint64_t offset;    /* in the image */
	uint32_t image;	    /* id in the stream, or VT_UNMAPPED_IMAGE */
	uint32_t ambiguous; /* another instruction has these 32 bits */
};

/* The instruction whose pc has these low 32 bits, or NULL. */
const struct vt_feed_place *vt_feed_find(const struct vt_feed *f, uint64_t pc_low);

#endif
