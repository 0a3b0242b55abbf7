/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_BPF_SAMPLER_H
#define CMD_BPF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "cmd/bpf/program.h"

/* Samples of time by a program in the kernel: what `vtrace record --sample-values --bpf` reads. */

struct bpf_sampler_options {
	uint32_t type; /* of perf_event_attr */
	uint64_t config;
	uint64_t period;
	uint32_t insns; /* to walk */
};

struct bpf_sampler_totals {
	uint64_t lost;	     /* samples for which there was no room */
	uint64_t foreign;    /* samples of code of 32 bits, which are left out */
	uint64_t lines_read; /* lines copied */
	uint64_t lines_bad;  /* lines that could not be read */
	uint64_t ns;	     /* in the program */
	uint64_t codes;	     /* instructions that are compiled */
	uint64_t forgotten;  /* how often all code was, to make room */
};

struct bpf_sampler;

/*
 * Loads the program.  NULL: VT_E_SYSTEM (no right to, or a kernel that has not what it needs),
 * VT_E_NOMEM, and errno says why.
 */
struct bpf_sampler *bpf_sampler_open(const struct bpf_sampler_options *o, struct vt_error *err);
void bpf_sampler_close(struct bpf_sampler *s); /* NULL is allowed */

/*
 * Samples a thread and all that it starts, from its next exec on or at once; or with tid -1 all
 * that a processor runs.  0, or an errno.
 */
int bpf_sampler_watch(struct bpf_sampler *s, pid_t tid, int cpu, bool from_exec);

/* The address of the kernel's __per_cpu_offset, without which it has no base of GS. */
void bpf_sampler_set_offsets(struct bpf_sampler *s, uint64_t addr);

/* Takes no more samples. */
void bpf_sampler_stop(struct bpf_sampler *s);

/* Borrowed for the call. */
typedef int bpf_sample_fn(void *arg, const struct bpf_walk_sample *sample, struct vt_error *err);

/*
 * Calls `fn` with the samples since the last call, and compiles the code that they have come to.
 * 0, or what `fn` returned, if negative.
 */
int bpf_sampler_read(struct bpf_sampler *s, bpf_sample_fn *fn, void *arg, struct vt_error *err);

/* A descriptor that can be polled: a sample has come to code that is not compiled.  Borrowed. */
int bpf_sampler_fd(const struct bpf_sampler *s);

/* Reads a line of the kernel's memory; false: it cannot be read. */
bool bpf_sampler_read_kernel(struct bpf_sampler *s, uint64_t addr, uint8_t bytes[BPF_WALK_LINE]);

void bpf_sampler_total(const struct bpf_sampler *s, struct bpf_sampler_totals *t);

#endif
