/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_OPTIONS_H
#define FORMATS_PT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/pt/timing.h"
#include "image/find.h"

/* The engine name for keeping traces undecoded. */
#define VT_PT_ENGINE_NONE "none"

/* The user's options for decoding Intel PT; all borrowed. */
struct vt_pt_decode_options {
	const char *engine; /* its name (formats/pt/decode/engine.h); NULL: the default */
	unsigned jobs;	    /* threads; 0: 1 */
	bool packets;	    /* count the packets by kind, too (formats/pt/decode/scan.h) */

	/* For raw traces: the code (formats/pt/raw/code.h), and its process. */
	const char *const *images;
	size_t nimages;
	const char *const *pages;
	size_t npages;
	int64_t pid; /* of the process, and of its only thread; 0: 1 */
	struct vt_pt_clock clock;

	/* For perf.data, and for streams made from one. */
	const char *const *kernels; /* vmlinux, or a kcore */
	size_t nkernels;
	const char *symfs;	 /* the root directory of recorded paths; NULL: / */
	const char *cache;	 /* perf's build-id cache; NULL: none */
	vt_find_fetch_fn *fetch; /* asked last for a file; NULL: none */
	void *fetch_arg;
	bool lbr; /* make EXEC records of branch stacks, too */
};

#endif
