/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* Limit on mangled names; libiberty itself rejects longer C++ names. */
#define MAX_MANGLED 65536

struct sink {
	struct vt_buf *out;
	size_t start;
	jmp_buf full;
};

/*
 * The callback cannot stop the demangler, and some names would print for years.  longjmp() is safe:
 * with a callback, neither demangler allocates memory, except for a Rust punycode identifier that
 * is being printed.
 */
static void collect_text(const char *text, size_t size, void *arg)
{
	struct sink *s = arg;

	if (s->out->size - s->start + size > VT_DEMANGLE_MAX)
		longjmp(s->full, 1);
	vt_buf_put(s->out, text, size);
}

static bool demangle_into(struct sink *s, const char *name, bool params)
{
	if (setjmp(s->full))
		return false;
	if (rust_demangle_callback(name, DMGL_RUST, collect_text, s) && s->out->size > s->start)
		return true;
	s->out->size = s->start;
	return cplus_demangle_v3_callback(name, params ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS,
					  collect_text, s) &&
	       s->out->size > s->start;
}

bool vt_demangle(struct vt_buf *out, const char *name, bool params)
{
	struct vt_buf copy = VT_BUF_INIT;
	struct sink s = {.out = out, .start = out->size};
	const char *at = strchr(name, '@');
	const char *mangled = name;
	bool ok;

	/* Most names are not mangled, and this test is faster than the demanglers. */
	if (name[0] != '_' || strlen(name) > MAX_MANGLED)
		return false;
	if (at) {
		vt_buf_put(&copy, name, (size_t)(at - name));
		mangled = vt_buf_str(&copy);
	}
	ok = demangle_into(&s, mangled, params);
	if (ok && at)
		vt_buf_put(out, at, strlen(at));
	if (!ok)
		out->size = s.start;
	vt_buf_free(&copy);
	return ok && !out->failed;
}

const char *vt_demangle_inlined(struct vt_buf *out, const char *function)
{
	if (!*function)
		return "[inlined]";
	return vt_demangle(out, function, false) ? vt_buf_str(out) : function;
}
