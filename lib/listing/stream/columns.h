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
 * How the fields of a record are printed.  A column is one field of one kind, or is composed of
 * several:
 *
 *	kind      the record's kind
 *	uregs     the user registers by name: ABI:2 AX:0x1 …, in perf script's notation
 *	iregs     the registers at the interrupt, likewise
 *	brstack   the branch stack: FROM/TO/P/X/A/CYCLES/TYPE …, in perf script's notation
 *
 * A column found by name shows the name of an event or image instead of its id.
 */
enum vt_dump_form {
	VT_DUMP_KIND,
	VT_DUMP_DECIMAL,
	VT_DUMP_SIGNED,
	VT_DUMP_HEX,
	VT_DUMP_REAL,
	VT_DUMP_WORD, /* the number stands for a word: see `word` */
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
};

/*
 * The column of a field as it is stored: ids are numbers, registers an array.  Of executed code and
 * memory, which are too long to read, it shows the size only.  `number` is the kind's number.
 */
struct vt_dump_column vt_dump_column_of(const struct vt_kind_desc *kind, uint32_t number,
					unsigned field);

/* Finds the column `name`, which is borrowed.  Returns false if the kind has none. */
bool vt_dump_column_find(const struct vt_kind_desc *kind, uint32_t number, const char *name,
			 struct vt_dump_column *c);

/* True if there is something to print: a number other than 0, a text that is not empty. */
bool vt_dump_column_present(const struct vt_dump_column *c, const struct vt_record *rec);

/* Appends the value as text without tabs and newlines; nothing if it is empty. */
void vt_dump_column_text(struct vt_buf *b, const struct vt_dump_column *c,
			 const struct vt_record *rec, const struct vt_names *names);

/* The value as JSON, owned by the caller; NULL when memory runs out. */
json_t *vt_dump_column_json(const struct vt_dump_column *c, const struct vt_record *rec,
			    const struct vt_names *names);

/* Append a number, several times faster than printf(). */
void vt_dump_decimal(struct vt_buf *b, uint64_t v);
void vt_dump_signed(struct vt_buf *b, uint64_t v);
void vt_dump_hex(struct vt_buf *b, uint64_t v);

#endif
