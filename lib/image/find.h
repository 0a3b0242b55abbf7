/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_FIND_H
#define VT_IMAGE_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"
#include "image/kcore.h"
#include "stream/kinds.h"

/* What a file by build-id is to have. */
enum vt_find_kind {
	VT_FIND_CODE,  /* the image itself */
	VT_FIND_DEBUG, /* its debug information */
};

/*
 * Gets a file with a build-id from elsewhere: the path of a local copy, which the caller frees with
 * free(), or NULL.  The file is checked to have the build-id.
 */
typedef char *vt_find_fetch_fn(void *arg, const uint8_t *buildid, size_t buildid_size,
			       enum vt_find_kind kind);

/* Where to search for image files.  Strings are borrowed for the lifetime of the options' user. */
struct vt_find_options {
	/* a copy of the recorded machine's root directory or perf's build-id cache; NULL: none */
	const char *symfs;
	const char *const *debugdirs; /* such as /usr/lib/debug, which has .build-id */
	size_t ndebugdirs;
	const char *buildid_cache; /* perf's: ~/.debug; NULL: none */
	bool accept_mismatch;	   /* accept a file although its build-id differs */
	vt_find_fetch_fn *fetch;   /* asked last; NULL: none */
	void *fetch_arg;
};

/*
 * Returns the type of a mapping by its name: VT_IMAGE_FILE, VT_IMAGE_VDSO, or VT_IMAGE_ANON for
 * names that the kernel invents for memory, including that of memfd_create(2).
 */
enum vt_image_type vt_find_type(const void *path, size_t size);

/* Called with a line of text for each warning. */
typedef void vt_find_warn_fn(void *arg, const char *text);

/* Checks the options: VT_E_READ for a symfs that is not a readable directory. */
int vt_find_check(const struct vt_find_options *opt, struct vt_error *err);

/*
 * Finds and opens the file of a user-space image.  Tries, in this order,
 *
 *   SYMFS/path, SYMFS/basename, SYMFS/.build-id/xx/yyyy, SYMFS/.build-id/xx/yyyy/{elf,vdso}
 *   CACHE/.build-id/xx/yyyy/{elf,vdso}, CACHE/.build-id/xx/yyyy
 *   path
 *   what `fetch` gets
 *
 * and returns the first that is ELF and has the recorded build-id.  Also accepts a file without a
 * build-id, or any file if none was recorded (buildid_size 0), and sets *verified to false.  But a
 * `path` that is relative, ends in " (deleted)", or is outside an existing symfs, and what is found
 * by build-id below symfs or fetched, is accepted only if its build-id matches.  The result is
 * owned by the caller.
 * Errors: VT_E_NOTFOUND; VT_E_MISMATCH if only files with other build-ids were found, with both ids
 * in the text; VT_E_ABSENT if only debug information was found; the first file's error if none
 * could be read.
 */
struct vt_elf *vt_find_image(const struct vt_find_options *opt, const char *path,
			     const uint8_t *buildid, size_t buildid_size, bool *verified,
			     struct vt_error *err);

/*
 * Finds the separate file with an image's debug information: by build-id in symfs, in the debug
 * directories and in the cache; then by the .gnu_debuglink of `elf`, which may be NULL, in that
 * file's directory, in .debug there, and below the debug directories.  The checksum must match.
 * If `elf` is not NULL, `fetch` is asked last.  Owned by the caller.  NULL: VT_E_NOTFOUND.
 */
struct vt_elf *vt_find_debug(const struct vt_find_options *opt, const struct vt_elf *elf,
			     const uint8_t *buildid, size_t buildid_size, struct vt_error *err);

/* Maximum bytes of a kallsyms text; a distribution's kernel with its modules has some 20 MB. */
#define VT_KALLSYMS_LIMIT ((size_t)128 << 20)

/*
 * Finds and reads the kernel's symbol list: .build-id/xx/yyyy/kallsyms and
 * [kernel.kallsyms]/xxyyyy/kallsyms below symfs and in the cache, SYMFS/proc/kallsyms, and
 * /proc/kallsyms if the running kernel has the build-id (/sys/kernel/notes).  The text is
 * zero-terminated; the caller frees it with free().  Errors: VT_E_NOTFOUND, VT_E_READ, VT_E_LIMIT,
 * VT_E_NOMEM.
 */
char *vt_find_kallsyms(const struct vt_find_options *opt, const uint8_t *buildid,
		       size_t buildid_size, size_t *size, struct vt_error *err);

/*
 * Finds the kernel's ELF file by build-id, below symfs, in the cache and in the debug directories.
 * It is not fetched, as it is huge, and its names are in kallsyms.  Owned by the caller.
 * NULL: VT_E_NOTFOUND.
 */
struct vt_elf *vt_find_vmlinux(const struct vt_find_options *opt, const uint8_t *buildid,
			       size_t buildid_size, struct vt_error *err);

/*
 * Reads the kernel's code at [text, etext) from its memory: SYMFS/proc/kcore with symfs, or
 * /proc/kcore if the running kernel has the build-id.  Owned by the caller.  Errors as
 * vt_kcore_open().
 */
struct vt_kcore *vt_find_kcore(const struct vt_find_options *opt, const uint8_t *buildid,
			       size_t buildid_size, uint64_t text, uint64_t etext,
			       struct vt_error *err);

/*
 * Reads a text file of at most `limit` bytes and appends a zero.  The caller frees it with free().
 * Errors: VT_E_NOTFOUND, VT_E_READ, VT_E_LIMIT, VT_E_NOMEM.
 */
char *vt_find_read(const char *path, size_t limit, size_t *size, struct vt_error *err);

#endif
