/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_BUFFER_H
#define VT_COPROCESSOR_BUFFER_H

#include "coprocessor/machine.h"

/*
 * The sample buffer between the main processor and the co-processor (3.2), and their clocks.  The
 * main processor retires instructions at a steady rate, or at that of its recorded cycles; each
 * operation that passes the filters is put into the buffer, or dropped if that is full.  The
 * co-processor takes them in order; the place of one is free when its routine is done.  While the
 * main processor handles an interrupt, it retires nothing, so that no time passes here.
 */
#define VT_BUFFER_BYTES 1024 /* table 1: 1 kB */

/* Bytes of an entry: only the fields that the program reads are collected (3.2). */
unsigned vt_buffer_entry_bytes(const struct vt_ucode *u);

/* The co-processor was interrupted, or its turn is over, after so many instructions that retired.
 * Returns 0 or a negative error. */
typedef int vt_buffer_host_fn(void *arg, bool turn, uint64_t retired, struct vt_error *err);

struct vt_buffer_options {
	uint32_t bytes;
	double clock;	    /* of the co-processor, by the main processor's; above 0 */
	double ipc;	    /* instructions that the main processor retires in a cycle of its own,
			     * where vt_buffer_pace() does not tell */
	uint64_t max_words; /* of a routine */
	uint64_t turn;	    /* instructions after which the host is called; 0: never */
	vt_buffer_host_fn *host;
	void *host_arg;
};

struct vt_buffer_stats {
	uint64_t retired;  /* instructions */
	uint64_t timed;	   /* of them, those of vt_buffer_pace() */
	double cycles;	   /* of the main processor, that these took */
	uint64_t offered;  /* operations of the classes that are profiled */
	uint64_t filtered; /* of them, those that a filter by pc excludes */
	uint64_t dropped;  /* those that met a full buffer */
	uint64_t interrupts;
	uint64_t turns;
};

struct vt_buffer;

/* Borrows all.  NULL with -VT_E_USAGE for a buffer that has no entry, or -VT_E_NOMEM. */
struct vt_buffer *vt_buffer_new(struct vt_coproc *m, const struct vt_ucode *u,
				const struct vt_buffer_options *o, struct vt_error *err);
void vt_buffer_free(struct vt_buffer *b);

/*
 * The next n instructions take so many cycles of the main processor, above 0 and at most
 * VT_BUFFER_MAX_PACE for each; after them, the rate is `ipc` again.
 */
#define VT_BUFFER_MAX_PACE 1048576
void vt_buffer_pace(struct vt_buffer *b, uint64_t n, double cycles);

/* Moves the time on by n instructions, of one rate.  Returns 0 or a negative error of the host or a
 * routine. */
int vt_buffer_retire(struct vt_buffer *b, uint64_t n, struct vt_error *err);

/*
 * Takes the place of an operation of a class that is profiled, `ahead` instructions from now;
 * `pass`: whether the filters by pc let it.  *place is where the caller writes it before the next
 * call, or NULL where it is filtered or dropped.  Returns 0, -VT_E_LIMIT for a routine that does
 * not end, or an error of the host.
 */
int vt_buffer_claim(struct vt_buffer *b, uint32_t ahead, bool pass, struct vt_sample **place,
		    struct vt_error *err);

/* The co-processor works off what the buffer still has. */
int vt_buffer_drain(struct vt_buffer *b, struct vt_error *err);

const struct vt_buffer_stats *vt_buffer_stats(const struct vt_buffer *b);
uint32_t vt_buffer_entries(const struct vt_buffer *b);

#endif
