/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_SYMBOL_SEARCH_H
#define VT_IMAGE_SYMBOL_SEARCH_H

#include <stdbool.h>

#include "base/buf.h"
#include "image/symbols.h"

/* What a user may mean by a name, the most certain first. */
enum vt_match {
	VT_MATCH_RAW,	/* a symbol's raw name, or an alias of it */
	VT_MATCH_CLONE, /* GCC's clones of it: NAME.constprop.0, .isra, .part, .lto_priv */
	VT_MATCH_FULL,	/* a demangled name, with parameters or without, or as vt_name_shorten() has
			   it */
	VT_MATCH_BARE,	/* one without its template arguments: vt_name_bare() */
	VT_MATCH_PART,	/* one of these without leading namespaces */
	VT_NMATCHES
};

/* A name that was typed, and memory to compare it with others. */
struct vt_name_query {
	const char *name; /* borrowed */
	size_t size;
	char word[128];	     /* is part of all mangled names that may match; may be empty */
	struct vt_buf shown; /* a demangled name */
	struct vt_buf form;  /* and a shorter one */
};

/* Free it with vt_name_query_fini(); `failed` of its buffers tells that memory ran out. */
void vt_name_query_init(struct vt_name_query *q, const char *name);
void vt_name_query_fini(struct vt_name_query *q);

/* Whether the name may be meant so of a symbol with this raw name.  An empty name matches none. */
bool vt_name_matches(struct vt_name_query *q, enum vt_match how, const char *raw);

/*
 * Calls `fn` for each symbol that a user may mean so by a name.  Stops when `fn` returns false.
 * Returns the number of calls, or -VT_E_NOMEM.
 */
int vt_symbols_match(struct vt_symbols *t, enum vt_match how, const char *name,
		     bool (*fn)(void *arg, const struct vt_symbol *sym), void *arg);

/* The same for the most certain meaning that any symbol has. */
int vt_symbols_search(struct vt_symbols *t, const char *name,
		      bool (*fn)(void *arg, const struct vt_symbol *sym), void *arg);

#endif
