/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_JIT_H
#define FORMATS_PT_SIDEBAND_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/pt/sideband/files.h"

/*
 * Code that a program generated at run time, from its jit-PID.dump, which a mapping names.  Source:
 * tools/perf/Documentation/jitdump-specification.txt of the kernel.
 */
struct vti_pt_jit {
	struct vt_pt_file file;
	uint64_t at; /* of the next record */
	bool big;
	bool ticks; /* times are the processor's TSC, not nanoseconds */
};

/* The code of a function, its address, and the time from which it exists. */
struct vti_pt_jit_code {
	uint64_t time; /* ns, or ticks */
	uint64_t addr;
	const uint8_t *bytes; /* borrowed from the file */
	uint64_t size;
	uint64_t offset;
};

/* True when the last component of the path is jit-PID.dump. */
bool vti_pt_jit_named(const char *path);

/* Opens a dump; false if there is none or it is no jitdump.  End with vti_pt_jit_close(). */
bool vti_pt_jit_open(struct vti_pt_jit *j, const char *symfs, const char *path);
void vti_pt_jit_close(struct vti_pt_jit *j);

/* The next function, in the order of the file; false at its end, or where it is damaged. */
bool vti_pt_jit_next(struct vti_pt_jit *j, struct vti_pt_jit_code *out);

#endif
