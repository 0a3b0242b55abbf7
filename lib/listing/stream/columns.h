/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_STREAM_COLUMNS_H
#define VT_LISTING_STREAM_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "stream/record.h"
#include "stream/schema.h"
#include "summary/names.h"

/*
 * How fields of records are printed.  A column is a field of a kind of record, or is composed of
 * several fields:
 *
 *	kind      the record's kind
 *	uregs     the user registers by name: ABI:2 AX:0x1 …, in perf script's notation
 *	iregs     the registers at the interrupt, likewise
 *	brstack   the branch stack: FROM/TO/P/X/A/CYCLES/TYPE …, in perf script's notation
 *
 * vt_dump_column_find() makes columns that show names of events and images instead of their ids.
 */
enum vt_dump_form {
	VT_DUMP_KIND,
	VT_DUMP_DECIMAL,
	VT_DUMP_SIGNED,
	VT_DUMP_HEX,
	VT_DUMP_REAL,
	VT_DUMP_WORD,	   /* a number that stands for a word: see `word` */
	VT_DUMP_EVENTS,	   /* bits that stand for events of one instruction */
	VT_DUMP_PM_FIELDS, /* bits that stand for fields: stream/profileme.h */
	VT_DUMP_TEXT,
	VT_DUMP_BYTES,
	VT_DUMP_SIZE, /* the number of bytes only */
	VT_DUMP_ARRAY_DECIMAL,
	VT_DUMP_ARRAY_HEX,
	VT_DUMP_EVENT,
	VT_DUMP_IMAGE,
	VT_DUMP_REGISTERS,
	VT_DUMP_BRANCHES,
};

struct vt_dump_column {
	const char *name; /* borrowed from the schema */
	enum vt_dump_form form;
	unsigned field;
	const char *(*word)(uint64_t value);
	uint64_t needs;	 /* of a sample: bits of VT_SAMPLE_HAS, one of which says that a 0 was
			    recorded; 0: it always is */
	uint64_t pm_bit; /* of a sample: the bit of VT_SAMPLE_PM_HAS that says that it is known */
};

/*
 * The column of a field as it is stored: ids are numbers, registers an array.  Executed code and
 * memory, too long to read, are shown by their size.  `number` is the number of the kind.
 */
struct vt_dump_column vt_dump_column_of(const struct vt_kind_desc *kind, uint32_t number,
					unsigned field);

/* Makes the column of this name, which is borrowed.  False if the kind has none. */
bool vt_dump_column_find(const struct vt_kind_desc *kind, uint32_t number, const char *name,
			 struct vt_dump_column *c);

/* True if there is something to print: a number other than 0, a text, what `pm_has` tells. */
bool vt_dump_column_present(const struct vt_dump_column *c, const struct vt_record *rec);

/* Appends the value as text, without tabs and newlines; nothing if it was not recorded. */
void vt_dump_column_text(struct vt_buf *b, const struct vt_dump_column *c,
			 const struct vt_record *rec, const struct vt_names *names);

/* The value as JSON, null if it was not recorded.  A new reference; NULL when memory runs out. */
json_t *vt_dump_column_json(const struct vt_dump_column *c, const struct vt_record *rec,
			    const struct vt_names *names);

/* Append a number; several times faster than printf(). */
void vt_dump_decimal(struct vt_buf *b, uint64_t v);
void vt_dump_signed(struct vt_buf *b, uint64_t v);
void vt_dump_hex(struct vt_buf *b, uint64_t v);

/* Appends a time in nanoseconds as SECONDS.NANOSECONDS, as perf script --ns does. */
void vt_dump_seconds(struct vt_buf *b, uint64_t ns);

#endif
