/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CODE_REPORT_H
#define VT_LISTING_CODE_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "listing/code/listing.h"
#include "profile/ranking.h"
#include "stream/reader.h"

/* vlist's output: chooses procedures of a profile and prints their listings as one document. */
struct vt_listreport {
	/* Set by the caller, who owns what they point to. */
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_hotprofile *lists; /* or NULL */
	const struct vt_event_choice *events;
	enum vt_list_view view;
	enum vt_table_form form;
	bool json;  /* instead of `form` */
	bool color; /* of text */
	struct vt_output *out;

	/* Initially zero; freed by vt_listreport_fini(). */
	struct vt_found found;	    /* the procedures to list */
	struct vt_ranking *ranking; /* owns the names of `found` */
	struct vt_table *table;	    /* of all procedures, in a form for programs */
	json_t *procedures;
	size_t count; /* of listings printed */
};

/*
 * Finds the procedure that a user named and appends it to `found`, with the errors of vt_locate().
 * All hot lists of unmapped code form one procedure without a name; the address of any of them
 * finds it.
 */
int vt_listreport_find(struct vt_listreport *r, const char *what, struct vt_error *err);

/*
 * Appends the hottest procedures by the first event until `found` has `top` of them.  UINT64_MAX:
 * all, including the hot lists of unmapped code.  -VT_E_NOMEM.
 */
int vt_listreport_find_top(struct vt_listreport *r, uint64_t top, struct vt_error *err);

/*
 * Passes hints to `note` after vt_listreport_find() returned `code` for `what`; `first` is the
 * count of `found` before that call.  For -VT_E_AMBIGUOUS, the candidates with their numbers, as in
 * "  #1  /usr/bin/prog:0x401000  work, 12 samples (3.10%)", and how to name one.  For
 * -VT_E_NOTFOUND, the image with most samples outside of procedures.  For 0, if the procedure has
 * no samples, others with such names that have some.
 */
void vt_listreport_explain(const struct vt_listreport *r, const char *what, int code, size_t first,
			   vt_warn_fn *note, void *arg);

/*
 * Prints the listings of all procedures in `found`; call it once.  Calls `note` for procedures
 * without code or source.  -VT_E_NOMEM; write errors stick to `out`.
 */
int vt_listreport_list(struct vt_listreport *r, const struct vt_listing_options *o,
		       vt_warn_fn *note, void *arg, struct vt_error *err);
void vt_listreport_fini(struct vt_listreport *r);

#endif
