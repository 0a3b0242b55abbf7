/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_ERROR_H
#define VT_BASE_ERROR_H

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The one error type.  A function that can fail takes a `struct vt_error *err` last and returns
 * -VT_E_X (or NULL); `err` then holds the code and one line of text that names file and offset
 * where they are known, without the program's name and without a final newline.  `err` is never
 * NULL and is written only on failure.
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
	VT_E_MISMATCH,	/* a thing was found but is not the one that was meant (build-id) */
	VT_E_AMBIGUOUS, /* a name fits several things */
	VT_E_USAGE,	/* the caller, or the user's command line, asks for nonsense */
	VT_E_SYSTEM,	/* a system or library call failed */
	VT_E_ABSENT,	/* the input has nothing of what is wanted of it */
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

/* Sets code and text (cut to fit); returns -code, so that `return vt_error_set(...)` reads well. */
int vt_error_set(struct vt_error *err, enum vt_errcode code, const char *fmt, ...) VT_PRINTF(3, 4);

/* "out of memory": sets it, and returns -VT_E_NOMEM. */
int vt_error_nomem(struct vt_error *err);

/* As vt_error_set(), and appends ": " and the text of the errno value `errnum`. */
int vt_error_errno(struct vt_error *err, enum vt_errcode code, int errnum, const char *fmt, ...)
	VT_PRINTF(4, 5);

/* Puts "prefix: " before the text of an error that is set; returns -err->code. */
int vt_error_prefix(struct vt_error *err, const char *fmt, ...) VT_PRINTF(2, 3);

/* A short lower-case name for a code, never NULL. */
const char *vt_errcode_name(enum vt_errcode code);

#ifdef __cplusplus
}
#endif
#endif
