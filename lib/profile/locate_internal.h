/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_LOCATE_INTERNAL_H
#define VT_PROFILE_LOCATE_INTERNAL_H

#include "base/hash.h"
#include "profile/locate.h"

/* An image with samples; anonymous code has a scope for each process. */
struct vti_scope {
	uint32_t image;
	int32_t pid;
	bool kernel;  /* or one of its modules */
	bool counted; /* its procedures with samples are in `procedures` */
};

/* A procedure with samples, or one that was found. */
struct vti_known {
	uint32_t image; /* with the next two, the key */
	int32_t pid;
	uint64_t start;
	const struct vt_symbol *symbol;
	uint64_t samples; /* of all events */
	bool found;
};

struct vti_search {
	const struct vt_profile *profile;
	struct vt_images *images;
	struct vti_scope *scopes;
	size_t nscopes;
	size_t scopes_cap;
	struct vti_scope *at;	   /* the one being searched */
	struct vt_hash procedures; /* struct vti_known */
	struct vt_found *found;
	size_t first;	 /* where this search's finds begin in `found` */
	const char *bad; /* why a regular expression is none; or NULL */
	char bad_text[128];
	bool failed; /* memory ran out */
};

static inline bool vti_found_none(const struct vti_search *s)
{
	return s->found->count == s->first && !s->failed;
}

/* Whether the image of a scope has the path or file name name[0 .. size); any has for NULL. */
bool vti_scope_is_named(const struct vti_search *s, const struct vti_scope *at, const char *name,
			size_t size);

/* Enters all procedures of a scope that have samples; once. */
void vti_count_scope(struct vti_search *s, struct vti_scope *at);

/* Appends a procedure of the scope s->at; a vt_symbols_match() function.  False: out of memory. */
bool vti_add_found_symbol(void *search, const struct vt_symbol *sym);

/*
 * Finds the procedures with samples that a pattern matches: GLOB with * and ?, which stand for any
 * text and any byte, or /EXPRESSION/, extended and regular.  Only in images of this name, unless it
 * is NULL.  A text that is no pattern finds nothing.
 */
void vti_search_pattern(struct vti_search *s, const char *image, size_t size, const char *pattern);

/* Drops what is less likely meant and sorts the rest by samples, image and address. */
void vti_choose_found(struct vti_search *s);

/* Keeps the n-th of what was found, from 1 on.  False: there is none. */
bool vti_pick_found(struct vti_search *s, uint64_t n);

/* Sets -VT_E_USAGE for the name of an inlined function, -VT_E_NOTFOUND for one that nothing has. */
int vti_explain_unfound(const struct vti_search *s, const char *what, struct vt_error *err);

#endif
