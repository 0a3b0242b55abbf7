/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_LOCATE_H
#define VT_PROFILE_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "image/images.h"
#include "profile/profile.h"
#include "profile/ranking.h"

/* A procedure of an image, or what of an image lies in none. */
struct vt_procedure {
	uint32_t image;
	int32_t pid; /* of anonymous code, else 0 */
	uint64_t start;
	uint64_t end;	     /* vaddr after it; 0 for what lies in no procedure */
	const char *symbol;  /* raw name; NULL for what lies in no procedure.  Borrowed */
	const char *name;    /* for people; "" for the same.  Borrowed from the images */
	enum vt_unknown why; /* why it is no procedure */
	uint64_t samples;    /* of all events together: only to choose among candidates */
};

/* Procedures found by name; free with vt_found_fini(). */
struct vt_found {
	struct vt_procedure *list;
	size_t count;
	size_t cap;
};

void vt_found_fini(struct vt_found *f);

/*
 * Finds what a user means by
 *
 *	NAME            a symbol, mangled or not, as vt_symbols_search() takes it
 *	IMAGE:NAME      the same in one image, named by path or file name
 *	0xADDRESS       the procedure at an address of the recorded process, or of a listing
 *	IMAGE:0xOFFSET  the procedure at an address as a listing prints it; where there is none, all
 *	                that lies in none
 *	[CAUSE]         what lies in no procedure for this cause, as a ranking names it
 *	IMAGE:[CAUSE]   the same in one image
 *
 * in the images in which samples fell; in the kernel and its modules only if nothing else has the
 * name (to read their symbols takes longer than all the rest), or IMAGE names them.  Where only one
 * of several candidates has samples, that is the one.  0xADDRESS in, and IMAGE:… of, an image
 *without symbols finds all its samples.  Returns 0 with one procedure appended to *f;
 *-VT_E_AMBIGUOUS with all candidates appended; -VT_E_NOTFOUND, the text naming similar procedures
 *if there are any; -VT_E_MISMATCH for an image whose file has another build-id; -VT_E_NOMEM.
 */
int vt_locate(const struct vt_profile *p, struct vt_images *images, const char *what,
	      struct vt_found *f, struct vt_error *err);

/* The procedure that a row of a ranking of procedures is; false where nothing was mapped. */
bool vt_procedure_of_rank(struct vt_images *images, const struct vt_rank *rank,
			  struct vt_procedure *out);

/*
 * The image with most of an event's samples (an index; SIZE_MAX: of all) that lie in no procedure,
 * and why, appended to *b: "PATH: file not found".  False: there is none.
 */
bool vt_locate_unknown(const struct vt_profile *p, struct vt_images *images, size_t event,
		       struct vt_buf *b);

#endif
