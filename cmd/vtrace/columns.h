/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_COLUMNS_H
#define CMD_VTRACE_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "cmd/vtrace/names.h"
#include "stream/record.h"
#include "stream/schema.h"

/*
 * How fields of records are printed.  A column is one field of one kind, or something put together
 * of several:
 *
 *	kind      the record's kind
 *	uregs     the user registers by name: ABI:2 AX:0x1 …, as perf script calls them
 *	iregs     the same of those at the interrupt
 *	brstack   the branch stack: FROM/TO/P/X/A/CYCLES/TYPE …, as perf script calls them
 *
 * A named column shows the name of an event or image in place of its id.
 */
enum column_how {
	COLUMN_KIND,
	COLUMN_DECIMAL,
	COLUMN_SIGNED,
	COLUMN_HEX,
	COLUMN_REAL,
	COLUMN_WORD, /* the number stands for a word: see `word` */
	COLUMN_TEXT,
	COLUMN_BYTES,
	COLUMN_SIZE, /* how many bytes there are */
	COLUMN_ARRAY_DECIMAL,
	COLUMN_ARRAY_HEX,
	COLUMN_EVENT,
	COLUMN_IMAGE,
	COLUMN_REGS,
	COLUMN_BRANCHES,
};

struct column {
	const char *name; /* borrowed from the schema */
	enum column_how how;
	unsigned field;
	const char *(*word)(uint64_t value);
};

/* A kind's field as it is: ids are numbers, registers an array. */
struct column column_plain(const struct vt_kind_desc *kind, unsigned field);

/* As column_plain(), but only the size of what is too much to read: the values of executed code. */
struct column column_short(const struct vt_kind_desc *kind, uint32_t number, unsigned field);

/* The named column `name`, or false: the kind has no such thing.  `name` is borrowed. */
bool column_find(const struct vt_kind_desc *kind, uint32_t number, const char *name,
		 struct column *c);

/* Whether there is anything to print: a number that is not 0, a text that is not empty. */
bool column_present(const struct column *c, const struct vt_record *rec);

/* Appends the value as text without tabs or newlines; nothing if it is empty. */
void column_print(struct vt_buf *b, const struct column *c, const struct vt_record *rec,
		  const struct names *names);

/* The value as JSON; NULL when memory ran out. */
json_t *column_json(const struct column *c, const struct vt_record *rec, const struct names *names);

/* Append a number. */
void column_put_decimal(struct vt_buf *b, uint64_t v);
void column_put_hex(struct vt_buf *b, uint64_t v);

/* The name of register `bit` of a perf register mask on an architecture, or NULL. */
const char *column_register(const char *arch, unsigned bit);

#endif
