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
 * The reading context of a stream.  The meaning of a record depends on the records before it: the
 * context keeps mappings, images, basic blocks, events and losses.  All analyses of a stream share
 * one context, which takes the stream's records in order and passes each on to its consumers:
 *
 *	c = vt_context_new(images);
 *	p = vt_profile_new(c);
 *	vt_context_add(c, &(struct vt_consumer){.take = vt_profile_feed, .arg = p});
 *	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
 *		vt_context_feed(c, block, first, count, &err);
 *
 * Records that change the context are passed on one by one, so that consumers see the context as
 * it is after the record.  Others are passed on in runs.
 */
struct vt_context;

/*
 * Takes rows first .. first+count-1 of a block.  Returns 0, a negative error, or 1 to stop reading
 * without an error.
 */
typedef int vt_consume_fn(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
			  struct vt_error *err);

/* The same of one row. */
typedef int vt_consume_record_fn(void *arg, const struct vt_record *rec, struct vt_error *err);

/* A bit of vt_consumer.kinds. */
#define VT_KIND(kind) (UINT64_C(1) << (kind))

struct vt_consumer {
	vt_consume_fn *take;	      /* for runs of rows; NULL: use `record` */
	vt_consume_record_fn *record; /* for each row */
	vt_consume_record_fn *before; /* called before a record changes the context; or NULL */
	void *arg;		      /* borrowed */
	uint64_t kinds;		      /* VT_KIND() of wanted records; 0: all, also unknown ones */
};

#define VT_CONTEXT_CONSUMERS 8

/* An event as declared by its last EVENT record. */
struct vt_event {
	uint64_t id;
	char *name; /* "event ID" if no record declares it */
	char *unit; /* of the period; "" if unknown */
	enum vt_policy policy;
	uint64_t period;  /* requested; 0 if a frequency was requested */
	uint64_t freq;	  /* requested, in Hz; 0 if a period was requested */
	uint64_t precise; /* precise_ip as requested: 0 to 3 */
	uint64_t branch_type;
	uint64_t regs_user; /* the mask of recorded registers */
};

/*
 * Borrows `images`, which may be NULL, and feeds them, too.  Owned by the caller; NULL when memory
 * runs out.
 */
struct vt_context *vt_context_new(struct vt_images *images);
void vt_context_free(struct vt_context *c);

/* Appends a consumer: at most VT_CONTEXT_CONSUMERS. */
void vt_context_add(struct vt_context *c, const struct vt_consumer *consumer);

/*
 * A vt_consume_fn; `context` is the struct vt_context.  Returns 0, -VT_E_NOMEM, or the nonzero
 * result of a consumer; later consumers then do not get the record.
 */
int vt_context_feed(void *context, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err);

/*
 * Whether the context left out the current record, for consumers.  0: no; -VT_E_FORMAT: a BLOCK
 * that contradicts itself; -VT_E_LIMIT: too many mappings.
 */
int vt_context_refused(const struct vt_context *c, struct vt_error *err);

/* True if the record at hand is a MAP that mapped something where nothing was mapped. */
bool vt_context_only_added(const struct vt_context *c);

/* Borrowed from the context; vt_context_images() may be NULL. */
struct vt_addrspace *vt_context_space(const struct vt_context *c);
struct vt_images *vt_context_images(const struct vt_context *c);
const struct vt_bblocks *vt_context_blocks(const struct vt_context *c);
const struct vt_losses *vt_context_losses(const struct vt_context *c);

/* Whether the stream's executed code is only a sample (META "sampling"). */
bool vt_context_is_sampled(const struct vt_context *c);

/* The event with an id.  Borrowed until its next EVENT record.  NULL when memory runs out. */
const struct vt_event *vt_context_event(struct vt_context *c, uint64_t id, struct vt_error *err);

/* The image id of unmapped addresses. */
#define VT_UNMAPPED_IMAGE 0xffffffffu

/*
 * The image and offset at an address of the recorded processes, by the latest mapping of any
 * process.  Each stretch of an image is known only by its latest mapping.  False if there is none.
 */
bool vt_context_find(const struct vt_context *c, uint64_t address, uint32_t *image,
		     uint64_t *offset);

/* Whether a mapping of an image is executable or has unknown protection. */
bool vt_context_has_code(const struct vt_context *c, uint32_t image);

/*
 * For an unmapped address: the image with code whose mapping begins nearest before it, and the
 * offset as if the mapping continued.  The .bss of a program lies there, behind its file's bytes.
 */
bool vt_context_find_before(const struct vt_context *c, uint64_t address, uint32_t *image,
			    uint64_t *offset);

#endif
