/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_HOST_H
#define VT_COPROCESSOR_HOST_H

#include "coprocessor/buffer.h"
#include "coprocessor/filters.h"

/*
 * The main processor's side (3.5): it loads the program, handles interrupts, keeps the profile in
 * its memory, and programs the filters.
 */
struct vt_host;

/* What an interrupt costs the main processor, in its cycles. */
struct vt_host_costs {
	double interrupt; /* entering and leaving the handler: not in the paper */
	double access;	  /* of a 64-bit load or store on the host access bus: not in the paper */
	double record;	  /* of a sample that is recorded: 10 to 30 (3.5) */
};

#define VT_HOST_INTERRUPT_CYCLES 100
#define VT_HOST_ACCESS_CYCLES	 1
#define VT_HOST_RECORD_CYCLES	 20 /* 3.5: 10 to 30 */

#define VT_HOST_MAX_ROWS 4194304 /* rows beyond are left out and counted */

/* Constants of the value profiler that the paper has in words only; see host_values.c. */
struct vt_host_masking {
	double high, low;    /* invariances above and below are characterized (5.1.4) */
	uint32_t times;	     /* copies after which an instruction is masked: 4 (5.1.4) */
	uint32_t samples;    /* that an instruction has at least by then; where the program is in n
			      * regions, an nth of this and of `times` is enough */
	uint32_t least;	     /* samples of a slot that is copied, if the profile has the
			      * instruction already: fewer tell little (3.5) */
	uint32_t resample;   /* turns of its region after which an instruction is profiled anew,
			      * and how many more each time; 0: never (5.1.4) */
	uint32_t partitions; /* bits of the first filter that are used at most */
	bool by_hits;	     /* how misses are divided: vt_host_estimate() */
};

#define VT_HOST_MASKING_DEFAULTS                                                                   \
	{                                                                                          \
		.high = .95, .low = .05, .times = 4, .samples = 32, .least = 8, .resample = 4,     \
		.partitions = 10                                                                   \
	}

struct vt_host_stats {
	uint64_t interrupts;
	uint64_t copies;    /* of them, and of turns, those at which slots were copied */
	uint64_t thrashes;  /* and those at which the program was divided further */
	uint64_t records;   /* rows or slots copied to memory */
	uint64_t reads;	    /* 64-bit loads of the co-processor's state */
	uint64_t stores;    /* 64-bit stores to it, loading the program included */
	uint64_t left_out;  /* rows beyond VT_HOST_MAX_ROWS */
	uint64_t masked;    /* times that an instruction was excluded */
	uint64_t resamples; /* times that one was profiled anew */
	uint64_t partitions;
};

/* Borrows all.  NULL when memory runs out. */
struct vt_host *vt_host_new(const struct vt_ucode *u, struct vt_coproc *c, struct vt_filters *f,
			    const struct vt_host_masking *masking);
void vt_host_free(struct vt_host *h);

/* A vt_buffer_host_fn. */
int vt_host_interrupt(void *host, bool turn, uint64_t retired, struct vt_error *err);

/* Reads what is left in the co-processor, at the end of the run. */
int vt_host_finish(struct vt_host *h, uint64_t retired, struct vt_error *err);

const struct vt_host_stats *vt_host_stats(const struct vt_host *h);

/* The main processor's cycles: the product of 3.5, with the accesses told apart. */
double vt_host_overhead(const struct vt_host *h, const struct vt_host_costs *c);

/*
 * Of VT_HOST_COUNTS and VT_HOST_LOG: rows with their key fields first, then counts.  A row of
 * COUNTS has the key of the associative array and the arrays that are `key`; one of LOG the arrays
 * that are `key`, and the number of rows.
 */
size_t vt_host_rows(const struct vt_host *h);
const uint64_t *vt_host_row(const struct vt_host *h, size_t i);
unsigned vt_host_keys(const struct vt_host *h);
unsigned vt_host_columns(const struct vt_host *h);
const char *vt_host_column(const struct vt_host *h, unsigned i);
unsigned vt_host_column_bits(const struct vt_host *h, unsigned i);

/* What is known of a value of an instruction. */
struct vt_host_value {
	uint64_t value;
	double hits;	 /* weighted samples */
	double misses;	 /* and those of other values, while it was the active one */
	double estimate; /* of all samples of the instruction, those of this value: A.6 */
};

/* Of VT_HOST_SAMPLES and VT_HOST_VALUES: an instruction. */
struct vt_host_site {
	uint64_t pc;	/* 32 bits */
	uint64_t total; /* samples */
	double weighted;
	struct vt_host_value *values;
	size_t nvalues, cap;
	uint64_t excluded_at, included_at; /* instructions retired */
	uint64_t copy;			   /* the last one that it has slots in, */
	double weight;			   /* and of each sample in them */
	uint64_t since;			   /* samples since it was last profiled anew */
	uint32_t times;			   /* and copies */
	uint32_t wait;			   /* turns of its region that it was excluded for last, */
	uint32_t left;			   /* and that it still is; 0: it is not excluded */
	bool changed;			   /* since then it was not as it had been before */
	uint8_t padding[3];
};

size_t vt_host_sites(const struct vt_host *h);
const struct vt_host_site *vt_host_site(const struct vt_host *h, size_t i);

/*
 * Estimates how many of the samples of an instruction, one at least, each value has (A.6): its
 * hits; a part of the misses of the other values; and of the samples that neither tells of an equal
 * share, but at most 20 % of them.
 *
 * By hits, as in the paper, all misses of a value go to the others that are known, in proportion to
 * their hits: too much, if some went to values that never were the active one.  Otherwise a value
 * gets of the misses of another its share of all that is not the other one.  The shares are the
 * likeliest ones if they were the same throughout (expectation maximization: A. Dempster, N. Laird,
 * D. Rubin, "Maximum Likelihood from Incomplete Data via the EM Algorithm", 1977).
 */
#define VT_HOST_MOST_REST .2
void vt_host_estimate(struct vt_host_site *s, bool by_hits);

#endif
