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

/* A procedure of an image, or the rest of an image that is in no procedure. */
struct vt_procedure {
	uint32_t image;
	int32_t pid; /* of anonymous code, else 0 */
	uint64_t start;
	uint64_t end;	     /* vaddr after it; 0 for a rest */
	const char *symbol;  /* raw name; NULL for a rest.  Borrowed from the images */
	const char *name;    /* display name; "" for a rest.  Borrowed from the images */
	enum vt_unknown why; /* why a rest has no procedure */
	uint64_t samples;    /* of all events, to choose among candidates */
};

/* Procedures found by name; free with vt_found_fini(). */
struct vt_found {
	struct vt_procedure *list;
	size_t count;
	size_t cap;
};

void vt_found_fini(struct vt_found *f);

/*
 * Finds a procedure by what the user typed:
 *
 *	NAME            a symbol, mangled or not: the most certain enum vt_match that any has
 *	GLOB            a name with * and ? for any text and any byte
 *	/EXPRESSION/    an extended regular expression that matches any part of a name
 *	IMAGE:NAME      the same in one image, given by path or file name
 *	0xADDRESS       the procedure at an address of the recorded process, or of a listing
 *	IMAGE:0xOFFSET  the procedure at an address of the image, as listings print it; if there is
 *	                none, the rest of the image
 *	[CAUSE]         the code that is in no procedure for this cause, as rankings call it
 *	IMAGE:[CAUSE]   the same in one image
 *	...#N           the N-th of the candidates that any of these has
 *
 * What is a name is no pattern and has no number.  Patterns match demangled names, with or without
 * template arguments, of procedures with samples.
 *
 * Searches the images with samples.  The kernel and its modules are searched only if IMAGE names
 * them or nothing else matches, since reading their symbols takes longer than all the rest.  If
 * only some of several candidates have samples, the others are dropped.  In an image without
 * symbols, 0xADDRESS and IMAGE:... find all its samples.
 *
 * Returns 0 with one procedure appended to *f (or with one rest for each process);
 * -VT_E_AMBIGUOUS with all candidates appended, those with most samples first, then by path of the
 * image and address; -VT_E_NOTFOUND, the text naming similar procedures; -VT_E_USAGE for a
 *malformed expression, a wrong N, or a function that is only inlined, the text naming the
 *procedures with most of its samples; -VT_E_MISMATCH for an image whose file has another build-id;
 *-VT_E_NOMEM.
 */
int vt_locate(const struct vt_profile *p, struct vt_images *images, const char *what,
	      struct vt_found *f, struct vt_error *err);

/* The same for what is known to be a name: without patterns and numbers. */
int vt_locate_name(const struct vt_profile *p, struct vt_images *images, const char *what,
		   struct vt_found *f, struct vt_error *err);

/* The procedure or rest of a row of a ranking of procedures; false for unmapped samples. */
bool vt_procedure_of_rank(struct vt_images *images, const struct vt_rank *rank,
			  struct vt_procedure *out);

/*
 * Appends to *b the hottest procedures with names like `what`: "work_hard, rework".  False: out of
 * memory.
 */
bool vt_locate_similar(const struct vt_profile *p, struct vt_images *images, const char *what,
		       struct vt_buf *b);

/*
 * Appends to *b the image with the most samples in no procedure, and the cause: "PATH: file not
 * found".  Counts the samples of one event (an index), or of all for SIZE_MAX.  False if there are
 * no such samples.
 */
bool vt_locate_unknown(const struct vt_profile *p, struct vt_images *images, size_t event,
		       struct vt_buf *b);

#endif
