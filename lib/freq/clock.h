/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_CLOCK_H
#define VT_FREQ_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "freq/freq.h"
#include "machine/pipeline/core.h"
#include "profile/procedure_flow.h"

/*
 * The effective clock: how many cycles of a program's work pass in a unit of an event that counts
 * time, such as a nanosecond.  It is less than the processor's: interrupts, other programs and
 * virtual machines take some of the time that a timer sees.  Loops that nothing stalls show it, as
 * their cycles follow from their executions and their static schedule.
 */
struct vt_clockfit;

/* Loops with fewer samples say little, and are not taken. */
#define VT_CLOCKFIT_SAMPLES 200

/* Owned by the caller; NULL when memory runs out. */
struct vt_clockfit *vt_clockfit_new(void);
void vt_clockfit_free(struct vt_clockfit *c);

/*
 * Takes the loops of a procedure: its executions, its costs (of a schedule that knows them), and by
 * instruction the samples and the time that are charged to it.  0 or -VT_E_NOMEM.
 */
int vt_clockfit_add(struct vt_clockfit *c, const struct vt_core *core, const struct vt_procflow *f,
		    const struct vt_freqs *freqs, const uint64_t *samples, const uint64_t *time,
		    struct vt_error *err);

/*
 * Sets *clock to the cycles in a unit of time, and *loops to the number of loops that show it.
 * False if these are too few.
 */
bool vt_clockfit_find(struct vt_clockfit *c, double *clock, size_t *loops);

/*
 * Likewise, after vt_clockfit_find(), that of the fastest loop alone, however few there are; 0: of
 * none that does not compute with floating point, whose numbers may be denormal.
 */
double vt_clockfit_fastest(const struct vt_clockfit *c);

/* The relative deviation of the clock that was found: how far the faster half of loops differ. */
double vt_clockfit_doubt(const struct vt_clockfit *c);

/*
 * The share of their time, in the root mean square, by which the loops took longer than their
 * schedule at a clock of so many cycles in a unit of time: what the processor's other thread and
 * the like may take of any code.  A thread has no less than half of a processor, so loops that took
 * twice their schedule or more were held up by something else, and do not count.  0 without loops.
 */
double vt_clockfit_slowed(const struct vt_clockfit *c, double clock);

/* How far all loops differ, as a relative deviation; 0 if they are too few to show a clock. */
double vt_clockfit_spread(const struct vt_clockfit *c);

#endif
