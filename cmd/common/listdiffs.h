/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_LISTDIFFS_H
#define CMD_COMMON_LISTDIFFS_H

#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "cmd/common/tables.h"
#include "listing/code/listing.h"
#include "profile/locate.h"

/* Procedures as they were before, beside how they are: vlist --diff. */
struct app_listdiffs {
	const char *before; /* the other stream */
	const char *symfs;  /* of both */
	struct vt_listing_options listing;
	struct app_form form;
	const char *output;
	int color;
	bool named; /* the user did; else one that cannot be compared is told and left out */
};

/*
 * Prints them for these procedures of `after`.  False after app_fail().
 */
bool app_listdiffs_print(struct app *a, const struct app_listdiffs *o, struct app_profile *after,
			 const struct vt_event_choice *events, const struct vt_found *found);

#endif
