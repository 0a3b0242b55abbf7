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

/* vlist's output: which procedures of a profile are listed, and their listings as one document. */
struct vt_listreport {
	/* Set by the caller, who owns all of it. */
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_hotprofile *lists; /* or NULL */
	const struct vt_event_choice *events;
	enum vt_list_view view;
	enum vt_table_form form;
	bool json;  /* instead of `form` */
	bool color; /* of text */
	struct vt_output *out;

	/* Zero at first; vt_listreport_fini() frees them. */
	struct vt_found found; /* the procedures to list */
	struct vt_ranking *ranking;
	struct vt_table *table;
	json_t *procedures;
	size_t count; /* of listings */
};

/*
 * Appends the procedure that a user means to `found`, as vt_locate() does, with its errors.  Hot
 * lists of code that lies in no image count as one procedure, which has no name and is found by any
 * address with a hot list.
 */
int vt_listreport_find(struct vt_listreport *r, const char *what, struct vt_error *err);

/*
 * Appends the `top` hottest procedures to `found`, by the first event; UINT64_MAX stands for all,
 * with the hot lists of code that lies in no image.  -VT_E_NOMEM.
 */
int vt_listreport_find_top(struct vt_listreport *r, uint64_t top, struct vt_error *err);

/*
 * Tells `note` what may help after vt_listreport_find() returned `code`; `first` is the count of
 * `found` before that call.  Of several candidates, a line for each, as in
 * "  /usr/bin/prog:0x401000  work, 12 samples", and how to name one; where nothing was found, the
 * image most of whose samples lie in no procedure.
 */
void vt_listreport_explain(const struct vt_listreport *r, int code, size_t first, vt_warn_fn *note,
			   void *arg);

/*
 * Lists all that was found, with these options; `note` is told of procedures without code or
 * source.  -VT_E_NOMEM; errors of writing stick to `out`.
 */
int vt_listreport_list(struct vt_listreport *r, const struct vt_listing_options *o,
		       vt_warn_fn *note, void *arg, struct vt_error *err);
void vt_listreport_fini(struct vt_listreport *r);

#endif
