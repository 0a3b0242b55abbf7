/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_ONERECORD_H
#define TESTS_UNIT_COMMON_ONERECORD_H

/* A record that is made up in memory, without a stream around it. */

#include <stddef.h>
#include <stdint.h>

#include "stream/record.h"

#define FIELDS 24 /* no kind that is made up has more */

/* A text, or bytes, of a field. */
struct field_bytes {
	unsigned field;
	const void *bytes;
	size_t size;
};

struct one_record {
	struct vt_column columns[FIELDS];
	struct vt_block block;
	struct vt_record rec;
	uint32_t off[2][2];
};

/* The record of these numbers, FIELDS of them, and two texts, which are borrowed; others are empty.
 */
static inline const struct vt_record *make_record(struct one_record *r, uint32_t kind,
						  const uint64_t *v, struct field_bytes a,
						  struct field_bytes b)
{
	static const uint32_t none[2] = {0, 0};
	const struct field_bytes texts[2] = {a, b};
	unsigned i;

	for (i = 0; i < FIELDS; i++)
		r->columns[i] = (struct vt_column){v + i, 0, none, (const uint8_t *)"", v};
	for (i = 0; i < 2; i++) {
		r->off[i][0] = 0;
		r->off[i][1] = (uint32_t)texts[i].size;
		r->columns[texts[i].field].off = r->off[i];
		r->columns[texts[i].field].bytes = texts[i].bytes;
	}
	r->block = (struct vt_block){
		.kind = kind, .nrecords = 1, .ncolumns = FIELDS, .columns = r->columns};
	r->rec = (struct vt_record){.block = &r->block, .kind = kind};
	return &r->rec;
}

/* The same without texts. */
static inline const struct vt_record *make_numbers(struct one_record *r, uint32_t kind,
						   const uint64_t *v)
{
	const struct field_bytes none = {FIELDS - 1, NULL, 0};

	return make_record(r, kind, v, none, none);
}

#endif
