/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PAIRS_LISTING_H
#define VT_LISTING_PAIRS_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "listing/code/listing.h"
#include "pairs/record.h"
#include "profile/locate.h"
#include "profile/losses.h"
#include "profile/profile.h"

/*
 * PAIRSTAT records beside the code that they are of.  A profile counts the pairs of each place, so
 * that procedures are found and ranked by them.
 */
struct vt_pairlist;

/* Borrows both.  Owned by the caller; NULL when memory runs out. */
struct vt_pairlist *vt_pairlist_new(struct vt_profile *p, struct vt_images *images);
void vt_pairlist_free(struct vt_pairlist *l);

/* Takes only records of events with this name from then on.  Borrowed. */
void vt_pairlist_choose(struct vt_pairlist *l, const char *event);

/* The number of records of other events. */
uint64_t vt_pairlist_others(const struct vt_pairlist *l);

/*
 * A vt_consume_record_fn; `list` is the struct vt_pairlist.  -VT_E_NOMEM; -VT_E_MISMATCH: there are
 * records of several events.
 */
int vt_pairlist_feed(void *list, const struct vt_record *rec, struct vt_error *err);

/* The number of records that cannot be, and were left out. */
uint64_t vt_pairlist_bad(const struct vt_pairlist *l);

/* Whether there was a record. */
bool vt_pairlist_has_any(const struct vt_pairlist *l);

/* What is printed, and how; borrowed. */
struct vt_pairlist_options {
	const struct vt_listing_options *listing;
	const struct vt_losses *losses;
	bool json;
	enum vt_table_form form;
	bool color;
};

/*
 * Prints procedures: each instruction with the value, standard error and pairs of each metric and
 * side of a split.  Calls `note` for procedures without code.  -VT_E_NOMEM.
 */
int vt_pairlist_print(struct vt_pairlist *l, const struct vt_found *found,
		      const struct vt_pairlist_options *o, struct vt_output *out, vt_warn_fn *note,
		      void *arg, struct vt_error *err);

#endif
