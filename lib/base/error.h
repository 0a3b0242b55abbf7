/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_ERROR_H
#define VT_BASE_ERROR_H

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Error codes.  A function that can fail takes a `struct vt_error *err` as its last parameter,
 * never NULL, and returns -VT_E_X or NULL on failure.  It writes to `err` only then: the code, and
 * one line of text that names the file and offset where they are known.  The text has neither the
 * program's name nor a final newline.
 */
enum vt_errcode {
	VT_OK = 0,
	VT_E_READ,	/* an input could not be opened or read */
	VT_E_WRITE,	/* an output could not be opened or written */
	VT_E_FORMAT,	/* the input is not of the expected format at all */
	VT_E_VERSION,	/* the format is known, this version of it is not */
	VT_E_DAMAGED,	/* the input contradicts its format at some offset */
	VT_E_TRUNC,	/* the input ends in the middle of something */
	VT_E_LIMIT,	/* a size or count exceeds a documented limit */
	VT_E_NOMEM,	/* memory ran out */
	VT_E_NOTFOUND,	/* a named thing does not exist */
	VT_E_MISMATCH,	/* a thing was found, but it is not the one meant (build-id) */
	VT_E_AMBIGUOUS, /* a name matches several things */
	VT_E_USAGE,	/* the caller's or user's request is invalid */
	VT_E_SYSTEM,	/* a system or library call failed */
	VT_E_ABSENT,	/* the input lacks what is wanted from it */
	VT_NERRCODES
};

#define VT_ERROR_SIZE 512

struct vt_error {
	enum vt_errcode code;
	char text[VT_ERROR_SIZE];
};

#define VT_ERROR_INIT                                                                              \
	{                                                                                          \
		VT_OK, ""                                                                          \
	}

#if defined(__GNUC__)
#define VT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define VT_PRINTF(fmt, args)
#endif

/* Sets code and text, which is truncated to fit.  Returns -code, for `return vt_error_set(...)`. */
int vt_error_set(struct vt_error *err, enum vt_errcode code, const char *fmt, ...) VT_PRINTF(3, 4);

/* Sets "out of memory" and returns -VT_E_NOMEM. */
int vt_error_nomem(struct vt_error *err);

/* Like vt_error_set(), and appends ": " and the text of the errno value `errnum`. */
int vt_error_errno(struct vt_error *err, enum vt_errcode code, int errnum, const char *fmt, ...)
	VT_PRINTF(4, 5);

/* Inserts "prefix: " before the text of an error that is already set.  Returns -err->code. */
int vt_error_prefix(struct vt_error *err, const char *fmt, ...) VT_PRINTF(2, 3);

/* Returns a short lower-case name of a code, never NULL. */
const char *vt_errcode_name(enum vt_errcode code);

#ifdef __cplusplus
}
#endif
#endif
