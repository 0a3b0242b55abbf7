/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_OUTPUT_H
#define FORMATS_PT_DECODE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/pt/decode/engine.h"

/* The output of both engines: the batch that they fill, and the states reported so far. */

struct vti_pt_output {
	uint32_t *ids;
	size_t nids, ids_cap;
	uint64_t insns;
	struct vt_pt_note *notes;
	size_t nnotes, notes_cap;
	struct vt_pt_mark_time *times;
	size_t ntimes, times_cap;
};

/* Frees the arrays. */
void vti_pt_output_fini(struct vti_pt_output *o);

/* Empties it.  The arrays are kept. */
void vti_pt_output_reset(struct vti_pt_output *o);

/* The output as a batch, whose arrays are borrowed from it. */
struct vt_pt_batch vti_pt_output_batch(const struct vti_pt_output *o, struct vt_pt_blocks *blocks);

/* Adds a note before the next block.  False: no memory. */
static inline bool vti_pt_output_note(struct vti_pt_output *o, const struct vt_pt_note *n)
{
	if (o->nnotes == o->notes_cap &&
	    !vt_array_grow(&o->notes, &o->notes_cap, o->nnotes + 1, sizeof(*o->notes)))
		return false;
	o->notes[o->nnotes] = *n;
	o->notes[o->nnotes++].at = (uint32_t)o->nids;
	return true;
}

/* The time of the last time mark. */
struct vti_pt_marked {
	uint64_t tsc;
	uint64_t cycles;
};

/* Adds a time mark before the next block unless the time is *last.  False: no memory. */
static inline bool vti_pt_output_mark(struct vti_pt_output *o, struct vti_pt_marked *last,
				      const struct vt_pt_timing *t)
{
	if (t->tsc == last->tsc && t->cycles == last->cycles)
		return true;
	if (o->ntimes == o->times_cap &&
	    !vt_array_grow(&o->times, &o->times_cap, o->ntimes + 1, sizeof(*o->times)))
		return false;
	last->tsc = t->tsc;
	last->cycles = t->cycles;
	o->times[o->ntimes++] = (struct vt_pt_mark_time){(uint32_t)o->nids, t->tsc, t->cycles};
	return true;
}

/* States that notes have reported, each by its type of note. */
struct vti_pt_reported {
	uint32_t types; /* bit n: enum vt_pt_note_type n has been reported */
	bool nonroot;	/* of the last PAGING */
	uint64_t last[VT_PT_NNOTES];
};

/* Records the state that a note has.  True if it differs from the last one of its type. */
bool vti_pt_report_state(struct vti_pt_reported *r, const struct vt_pt_note *n);

#endif
