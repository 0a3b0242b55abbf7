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

/* Where to look for image files.  Strings are borrowed for the life of whoever gets them. */
struct vt_find_options {
	const char *symfs; /* a directory that mirrors the recorded machine's /, or NULL */
	const char *const *debugdirs; /* as /usr/lib/debug, with its .build-id below */
	size_t ndebugdirs;
	const char *buildid_cache; /* perf's: ~/.debug; NULL: none */
	bool accept_mismatch;	   /* take a file although its build-id differs */
};

/*
 * What a process maps under a name: VT_IMAGE_FILE, VT_IMAGE_VDSO, or VT_IMAGE_ANON, which nobody
 * finds a file of: names that the kernel makes up for memory, also for that of memfd_create(2).
 */
enum vt_image_type vt_find_type(const void *path, size_t size);

/* Called with one line of text for everything worth knowing that is not an error. */
typedef void vt_find_warn_fn(void *arg, const char *text);

/* Refuses options that cannot be meant: a symfs that is not a readable directory (VT_E_READ). */
int vt_find_check(const struct vt_find_options *opt, struct vt_error *err);

/*
 * Finds and opens the file of a user-space image.  Looks, in this order, at
 *
 *   SYMFS/path, SYMFS/basename, SYMFS/.build-id/xx/yyyy   (with symfs)
 *   CACHE/.build-id/xx/yyyy/{elf,vdso}, CACHE/.build-id/xx/yyyy
 *   path
 *
 * and takes the first that is ELF and has the recorded build-id.  A file without a build-id, or
 * any file when none was recorded (buildid_size 0), is taken too: `*verified` tells.  Not so a
 * `path` that is relative, or ends in " (deleted)", or lies outside symfs where there is one: it
 * is another file unless its build-id says otherwise.
 * Errors: VT_E_NOTFOUND; VT_E_MISMATCH when only files with other build-ids were found, the text
 * giving both ids; the first file's own error when none could be read.  Owned by the caller.
 */
struct vt_elf *vt_find_image(const struct vt_find_options *opt, const char *path,
			     const uint8_t *buildid, size_t buildid_size, bool *verified,
			     struct vt_error *err);

/*
 * Finds the file that holds an image's debug information, if it is separate: by build-id in
 * symfs, the debug directories and the cache; by the .gnu_debuglink of `elf` (which may be NULL),
 * whose checksum must fit, next to that file, in .debug there, and below the debug directories.
 * NULL with VT_E_NOTFOUND if there is none.  Owned by the caller.
 */
struct vt_elf *vt_find_debug(const struct vt_find_options *opt, const struct vt_elf *elf,
			     const uint8_t *buildid, size_t buildid_size, struct vt_error *err);

/* A kallsyms text of a distribution's kernel with its modules has some 20 MB. */
#define VT_KALLSYMS_LIMIT ((size_t)128 << 20)

/*
 * Finds and reads the kernel's symbol list: CACHE/.build-id/xx/yyyy/kallsyms,
 * CACHE/[kernel.kallsyms]/xxyyyy/kallsyms, SYMFS/proc/kallsyms with symfs, and /proc/kallsyms if
 * the running kernel has the build-id (/sys/kernel/notes).  The text is zero-terminated and owned
 * by the caller (free()).  Errors: VT_E_NOTFOUND, VT_E_READ, VT_E_LIMIT, VT_E_NOMEM.
 */
char *vt_find_kallsyms(const struct vt_find_options *opt, const uint8_t *buildid,
		       size_t buildid_size, size_t *size, struct vt_error *err);

/*
 * Finds the kernel's own ELF file by build-id, in the cache and the debug directories.  NULL with
 * VT_E_NOTFOUND if there is none.  Owned by the caller.
 */
struct vt_elf *vt_find_vmlinux(const struct vt_find_options *opt, const uint8_t *buildid,
			       size_t buildid_size, struct vt_error *err);

/*
 * Reads the kernel's code, of these addresses, from its memory: SYMFS/proc/kcore with symfs, and
 * /proc/kcore if the running kernel has the build-id.  Errors: those of vt_kcore_open().  Owned by
 * the caller.
 */
struct vt_kcore *vt_find_kcore(const struct vt_find_options *opt, const uint8_t *buildid,
			       size_t buildid_size, uint64_t text, uint64_t etext,
			       struct vt_error *err);

/*
 * Reads a whole text file of at most `limit` bytes; a zero follows it.  Owned by the caller
 * (free()).  Errors: VT_E_NOTFOUND, VT_E_READ, VT_E_LIMIT, VT_E_NOMEM.
 */
char *vt_find_read(const char *path, size_t limit, size_t *size, struct vt_error *err);

#endif
