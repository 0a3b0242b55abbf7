/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_CONTEXT_H
#define VT_PROFILE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "image/addrspace.h"
#include "image/images.h"
#include "profile/losses.h"
#include "stream/bblock.h"
#include "stream/record.h"

/*
 * The reading context of a stream: what records mean depends on the records before them.  It knows
 * what is mapped where, the images, the basic blocks, the events, and what was lost.  All analyses
 * of a stream share one context, which is fed with the stream's records in order and hands each on
 * to its consumers:
 *
 *	c = vt_context_new(images);
 *	p = vt_profile_new(c);
 *	vt_context_add(c, &(struct vt_consumer){.take = vt_profile_feed, .arg = p});
 *	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
 *		vt_context_feed(c, block, first, count, &err);
 *
 * Records that change the context are taken and handed on one by one, so that consumers see the
 * context as it is right behind the record.  Others are handed on in runs.
 */
struct vt_context;

/*
 * Takes rows first .. first+count-1 of a block.  Returns 0, a negative error, or 1 to end the
 * reading without an error.
 */
typedef int vt_consume_fn(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
			  struct vt_error *err);

/* The same of one row. */
typedef int vt_consume_record_fn(void *arg, const struct vt_record *rec, struct vt_error *err);

/* A bit of vt_consumer.kinds. */
#define VT_KIND(kind) (UINT64_C(1) << (kind))

struct vt_consumer {
	vt_consume_fn *take;	      /* gets runs of rows; or NULL: */
	vt_consume_record_fn *record; /* gets each row */
	/* Called before the context takes a record that changes it; or NULL. */
	vt_consume_record_fn *before;
	void *arg;	/* borrowed */
	uint64_t kinds; /* VT_KIND() of those wanted; 0: all, also unknown ones */
};

#define VT_CONTEXT_CONSUMERS 8

/* Adds a LOST or GAP record. */
void vt_losses_add(struct vt_losses *l, const struct vt_record *rec);

/* An event, as its EVENT record declares it. */
struct vt_event {
	uint64_t id;
	char *name; /* "event ID" if no record declares it */
	char *unit; /* of the period; "" if unknown */
	enum vt_policy policy;
	uint64_t period; /* the period asked for, 0 if a frequency was */
	uint64_t branch_type;
};

/*
 * `images` is borrowed and fed along; it may be NULL.  Owned by the caller; NULL when memory runs
 * out.
 */
struct vt_context *vt_context_new(struct vt_images *images);
void vt_context_free(struct vt_context *c);

/* Adds a consumer, behind those that are there: at most VT_CONTEXT_CONSUMERS. */
void vt_context_add(struct vt_context *c, const struct vt_consumer *consumer);

/*
 * A vt_consume_fn; `context` is the struct vt_context.  Returns -VT_E_NOMEM, or what a consumer
 * returned: those behind it then do not get the record.
 */
int vt_context_feed(void *context, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err);

/*
 * Tells a consumer whether the context could take the record at hand: 0; -VT_E_FORMAT, a BLOCK
 * contradicts itself; -VT_E_LIMIT, there are too many mappings.  It is then left out.
 */
int vt_context_refused(const struct vt_context *c, struct vt_error *err);

/* True if the record at hand is a MAP that mapped something where nothing was mapped. */
bool vt_context_only_added(const struct vt_context *c);

/* Borrowed, for as long as the context is there; vt_context_images() may be NULL. */
struct vt_addrspace *vt_context_space(const struct vt_context *c);
struct vt_images *vt_context_images(const struct vt_context *c);
const struct vt_bblocks *vt_context_blocks(const struct vt_context *c);
const struct vt_losses *vt_context_losses(const struct vt_context *c);

/* The executed code of the stream is a sample of what ran (META "sampling"). */
bool vt_context_is_sampled(const struct vt_context *c);

/* The event with an id.  Borrowed, until its next EVENT record.  NULL when memory runs out. */
const struct vt_event *vt_context_event(struct vt_context *c, uint64_t id, struct vt_error *err);

/* The image of addresses at which nothing is mapped. */
#define VT_UNMAPPED_IMAGE 0xffffffffu

/*
 * The image that is mapped at an address of the recorded processes, whichever mapped it last, and
 * the offset in it.  Of each stretch of an image, only the latest mapping is known.  False if there
 * is none.
 */
bool vt_context_find(const struct vt_context *c, uint64_t address, uint32_t *image,
		     uint64_t *offset);

/* Whether any of an image was mapped to be executed, or in a way that was not recorded. */
bool vt_context_has_code(const struct vt_context *c, uint32_t image);

/*
 * For an address that lies in no image: the image with code whose mapping begins nearest before
 * it, and the offset as if the mapping went on.  A program's .bss lies so, behind its file's bytes.
 */
bool vt_context_find_before(const struct vt_context *c, uint64_t address, uint32_t *image,
			    uint64_t *offset);

#endif
