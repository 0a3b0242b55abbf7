/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_BPF_RUNNING_H
#define CMD_BPF_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* What is known of the running kernel from its list of symbols. */

#define RUNNING_ID_MAX 20

struct running_kernel {
	uint64_t text; /* 0: addresses are hidden */
	uint64_t etext;
	uint64_t cpu_offsets;	/* __per_cpu_offset; 0: not listed */
	uint64_t per_cpu_code;	/* bpf_per_cpu_ptr(), whose code names it; 0: not listed */
	uint64_t this_cpu_code; /* bpf_this_cpu_ptr(), by which to check it */
	uint8_t id[RUNNING_ID_MAX];
	uint32_t id_size; /* 0: none */
};

/* Reads /proc/kallsyms and /sys/kernel/notes.  0, or the error of vt_find_read(). */
int running_kernel_look(struct running_kernel *k, struct vt_error *err);

/* Reads a line of 64 bytes of the kernel's memory. */
typedef bool running_read_fn(void *arg, uint64_t addr, uint8_t bytes[64]);

/*
 * Sets `cpu_offsets` from the code of functions where a kernel lists no data: it is the array that
 * bpf_per_cpu_ptr() reads.  The base that the array has for processor 0 must be what memory holds
 * where bpf_this_cpu_ptr() reads it for that processor; false: it is not, or not found.
 */
bool running_kernel_find_offsets(struct running_kernel *k, running_read_fn *read, void *arg);

#endif
