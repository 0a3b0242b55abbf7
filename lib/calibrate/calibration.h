/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CALIBRATE_CALIBRATION_H
#define VT_CALIBRATE_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "calibrate/measure.h"
#include "stream/reader.h"
#include "stream/writer.h"

/*
 * What `vtrace record --calibrate` finds out about a machine: figures that streams keep as META
 * records "record.calibrate.*".
 */
#define VT_CALIBRATION_RATES   2
#define VT_CALIBRATION_LENGTHS 9
#define VT_CALIBRATION_TEXT    128

/* Of samples at one rate. */
struct vt_calibration_rate {
	double hz;	  /* samples in a second of the program's time, as asked for */
	double rate;	  /* as measured */
	double cost;	  /* seconds of an interrupt */
	double lost;	  /* the part of the program's time that interrupts take */
	double effective; /* cycles in a unit of the event's period; 0: no samples */
	double spread;	  /* of `effective`, between loops */
};

/* Of regions of one length, that whose error is the largest. */
struct vt_calibration_length {
	double cycles; /* of a visit */
	double samples;
	double error; /* cycles of a visit */
	double sigma;
};

struct vt_calibration {
	char event[VT_CALIBRATION_TEXT]; /* as `vtrace record` samples time: "cpu-clock:u" */
	char cpu[VT_CALIBRATION_TEXT];	 /* as META "cpuid" has it */
	double nanoseconds;		 /* 1: the event's period is in nanoseconds, 0: in cycles */
	double period;			 /* that `vtrace record` takes by itself */
	double lost;			 /* samples that the kernel lost */
	struct vt_skid skid;
	double clock;	 /* GHz, of loops that are not sampled */
	double spread;	 /* of that, between loops */
	double tsc;	 /* GHz of the time-stamp counter */
	double multiply; /* cycles of a multiplication */
	struct vt_calibration_rate rates[VT_CALIBRATION_RATES];
	struct vt_calibration_length lengths[VT_CALIBRATION_LENGTHS];
	/* Of regions; 0: none can be believed. */
	struct vt_serial_bound bound;
};

enum vt_policy vt_calibration_policy(const struct vt_calibration *c);

/* The part of the program's time that interrupts take at the rate that `vtrace record` takes. */
double vt_calibration_lost(const struct vt_calibration *c);

/* Above this part, a warning is due. */
#define VT_CALIBRATION_LOSS_BAR 0.05

/* Writes the figures as META records. */
void vt_calibration_write(const struct vt_calibration *c, struct vt_writer *w);

/*
 * Reads a stream that vt_calibration_write() filled, to its end.  -VT_E_READ, -VT_E_NOMEM, or
 * -VT_E_DAMAGED with the offset behind what is damaged, or contradicts itself; -VT_E_ABSENT if the
 * stream has no calibration, or not all of one.
 */
int vt_calibration_read(struct vt_calibration *c, struct vt_reader *r, struct vt_error *err);

/*
 * Checks that figures were found on a machine with this processor and for samples of this event.
 * -VT_E_MISMATCH, with `name` as that of their file.
 */
int vt_calibration_check(const struct vt_calibration *c, const char *name, const char *cpu,
			 const char *event, struct vt_error *err);

#endif
