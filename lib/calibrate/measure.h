/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CALIBRATE_MEASURE_H
#define VT_CALIBRATE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/kinds.h"

/* What samples and times of loops tell whose cycles are known by construction. */

/* The middle value, of an even number the mean of the two; sorts `v`.  0 of none. */
double vt_median(double *v, size_t n);

/* ---- where samples lie ---- */

/* The shares of a loop's samples. */
struct vt_skid {
	double samples;
	double own;  /* on the load that misses */
	double next; /* on the instruction behind it */
};

/* `samples` by instruction of a loop in which all time goes to instruction `load`. */
struct vt_skid vt_skid_find(const uint64_t *samples, size_t insns, size_t load);

/*
 * The policy that the samples follow: precise if they lie on the load, interrupt if behind it;
 * unknown if on neither, or if they are too few.
 */
enum vt_policy vt_skid_policy(const struct vt_skid *s);

/*
 * Charges the samples of a loop's instructions, in place: of policy interrupt to the instruction
 * before, of the first to the last; otherwise to their own.
 */
void vt_skid_charge(enum vt_policy policy, uint64_t *samples, size_t insns);

/* ---- clocks, and what interrupts cost ---- */

/* A loop that was run in slices of the same number of cycles, each bare and then sampled. */
struct vt_timed_loop {
	double cycles;	   /* of a slice, known */
	double bare_ns;	   /* of a slice of each kind */
	double sampled_ns; /* 0: it was not sampled */
	double samples;	   /* in that time */
};

/* The mean of values, and how far the largest lies above the smallest, as a part of the mean. */
struct vt_spread {
	double mean;
	double width;
};

/* Cycles in a nanosecond, of loops that were not sampled. */
struct vt_spread vt_clock_bare(const struct vt_timed_loop *l, size_t n);

/*
 * Cycles in a unit of the sampled event's period: the effective clock, as vfreq uses it.  How many
 * units pass in a nanosecond is taken from all loops, as each has few samples.  All 0 without.
 */
struct vt_spread vt_clock_effective(const struct vt_timed_loop *l, size_t n, double period);

struct vt_interrupts {
	double rate; /* in a second of the program's time */
	double cost; /* seconds of each */
	double lost; /* the part of the program's time that they take */
};

/* Of sampled loops; all 0 without samples.  Below the noise, costs may be negative. */
struct vt_interrupts vt_interrupts_find(const struct vt_timed_loop *l, size_t n);

/* ---- regions ---- */

#define VT_SERIAL_MAX 8

/* A loop of regions that are executed one after the other, without overlap. */
struct vt_serial {
	size_t count;			 /* up to VT_SERIAL_MAX */
	double cycles[VT_SERIAL_MAX];	 /* of a visit, known */
	uint64_t samples[VT_SERIAL_MAX]; /* that were charged to each */
};

/* How far regions' shares of the samples lie from those of the time. */
struct vt_serial_errors {
	size_t count;
	double cycles; /* of a region's visit, on the average */
	double samples;
	double error[VT_SERIAL_MAX]; /* cycles of a visit: sampled less known */
	double sigma[VT_SERIAL_MAX]; /* of the error, from the number of samples */
};

/* All 0 if there are no samples. */
struct vt_serial_errors vt_serial_compare(const struct vt_serial *r);

/* The region whose error is the largest. */
size_t vt_serial_worst(const struct vt_serial_errors *e);

/* An error of this part of a region's cycles is small. */
#define VT_SERIAL_BAR 0.05

struct vt_serial_bound {
	double error; /* cycles of a visit, at most: with what chance may hide of it */
	double from;  /* regions' length from which the error no longer grows with it */
	double least; /* the length of regions whose error is small */
};

/*
 * Of loops with regions of ever greater length: samples lie at wrong instructions, but not far, so
 * that the error of a visit is the same from some length on.  False if it is not, or if it is not
 * small for any length measured.
 */
bool vt_serial_bound(const struct vt_serial_errors *e, size_t n, struct vt_serial_bound *b);

#endif
