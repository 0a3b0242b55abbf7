/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"
#include "stream/writer.h"

/*
 * The formats of recorded traces that can be converted to a record stream.  A new one is a folder
 * of its own and a row in formats.c.
 */

/* Bytes that vt_format_find() wants to see, if the input has as many. */
#define VT_FORMAT_PROBE_SIZE 64

struct vt_pt_decode_options; /* formats/pt/raw/decode.h */

/* A piece of the bytes of an AUX area: the fields of an AUXTRACE record. */
struct vt_format_auxtrace {
	uint32_t index;
	int64_t cpu;
	int64_t tid;
	uint64_t offset;
	uint64_t reference;
	uint64_t position;
	uint64_t total;
	const uint8_t *bytes; /* borrowed */
	size_t size;
};

struct vt_format_options {
	vt_warn_fn *warn; /* told one line for each damaged place; may be NULL */
	void *warn_arg;
	/* Told every now and then how many bytes have been read; may be NULL. */
	void (*progress)(void *arg, uint64_t bytes);
	void *progress_arg;
	/* Gets the bytes of AUX areas in place of the writer, which is told nothing of them; may be
	 * NULL. */
	int (*auxtrace)(void *arg, const struct vt_format_auxtrace *piece, struct vt_error *err);
	void *auxtrace_arg;
	bool keep_aux; /* AUX areas are wanted as they are: that nothing decodes them is no loss */
	const char *tmpdir; /* where what is too large for memory goes; NULL: /tmp */
	const struct vt_pt_decode_options *pt; /* NULL: as if nothing had been said */
};

/* What was read, and what could not be. */
struct vt_format_summary {
	uint64_t records;      /* records in the input */
	uint64_t samples;      /* samples among them that were delivered */
	bool traced;	       /* there was a processor's trace to be decoded: */
	uint64_t insns;	       /* instructions that it tells of */
	uint64_t lost;	       /* records that the recording side says it lost */
	uint64_t damaged;      /* damaged places in the input; each is a GAP record, too */
	uint64_t unread;       /* bytes that could not be made sense of because of damage */
	uint64_t aux_areas;    /* AUX areas that nothing here decodes; each is a GAP, too */
	uint64_t aux_bytes;    /* in them */
	uint32_t aux_type;     /* what they hold: vt_perfdata_auxtrace_name() */
	uint64_t unknown;      /* records of kinds or events that are not known */
	uint64_t out_of_order; /* records delivered after a later one, for want of memory */
};

struct vt_format {
	const char *name;
	const char *description;
	/* Whether an input that begins with these bytes is of this format. */
	bool (*probe)(const uint8_t *bytes, size_t size);
	/* Converts the input, which stands at its first byte; returns 0 or a negative error. */
	int (*decode)(struct vt_input *in, struct vt_writer *w, const struct vt_format_options *opt,
		      struct vt_format_summary *sum, struct vt_error *err);
};

/* The table, in the order in which formats are tried; ends with a row without a name. */
extern const struct vt_format vt_formats[];

/* The format of that name, or NULL. */
const struct vt_format *vt_format_by_name(const char *name);

/*
 * The format of an input that stands at its first byte; nothing is consumed.  NULL: VT_E_FORMAT
 * when none fits, VT_E_READ, VT_E_NOMEM.
 */
const struct vt_format *vt_format_find(struct vt_input *in, struct vt_error *err);

#endif
