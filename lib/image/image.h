/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_IMAGE_H
#define VT_IMAGE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "image/find.h"

/* An image, as the stream describes it. */
struct vt_image {
	uint32_t id;
	unsigned type; /* enum vt_image_type */
	unsigned machine;
	const char *path; /* as recorded: untrusted text */
	const char *name; /* its last component, or "[kernel.kallsyms]" …; untrusted */
	const uint8_t *buildid;
	size_t buildid_size;
};

/* How to find the files of images. */
struct vt_images_options {
	struct vt_find_options find;
	const char *perf_map_dir; /* directory of perf-PID.map files, usually /tmp; NULL: none */
	vt_find_warn_fn *warn;	  /* may be NULL */
	void *warn_arg;
	unsigned threads; /* for what is asked of a whole file; 0: the caller's */
};

/* Why an address has no symbol. */
enum vt_unknown {
	VT_KNOWN = 0,
	VT_UNKNOWN_NO_MAP,	/* no mapping is known there */
	VT_UNKNOWN_NO_IMAGE,	/* the stream has no such image */
	VT_UNKNOWN_NO_FILE,	/* the image's file was not found */
	VT_UNKNOWN_MISMATCH,	/* only a file with another build-id was found */
	VT_UNKNOWN_UNREADABLE,	/* the file cannot be read or is not ELF */
	VT_UNKNOWN_ONLY_DEBUG,	/* only debug information without code was found */
	VT_UNKNOWN_CUT,		/* the file is truncated and may have had the symbol */
	VT_UNKNOWN_STRIPPED,	/* the file is stripped, and nothing left covers the address */
	VT_UNKNOWN_NO_SYMBOL,	/* no symbol covers the address */
	VT_UNKNOWN_OUTSIDE,	/* the offset is outside what the file loads */
	VT_UNKNOWN_NO_JIT_MAP,	/* anonymous code, and no perf-PID.map */
	VT_UNKNOWN_NO_KALLSYMS, /* no symbol list of that kernel */
	VT_UNKNOWN_NO_VMLINUX,	/* neither that kernel's file nor its memory */
	VT_NUNKNOWNS
};

#endif
