/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expressions over records: an input begins with a byte that chooses the kind of record and one
 * that says how its fields are filled; the rest is the expression.  What it says of rows in runs is
 * what it says of each row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "stream/kinds.h"
#include "stream/where.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROWS 300 /* more than are evaluated at a time */

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_where: %s\n", what);
		abort();
	}
}

/* Numbers that are equal now and then, bits, and the greatest. */
static uint64_t number_of(struct vt_rng *rng)
{
	uint64_t n = vt_rng_next(rng);

	switch (n % 5) {
	case 0:
		return 0;
	case 1:
		return UINT64_C(1) << (n >> 8 & 63);
	case 2:
		return 0 - (n >> 60);
	case 3:
		return n >> 56;
	default:
		return n;
	}
}

static enum vt_truth lies_in(void *arg, const struct vt_record *rec, unsigned field,
			     enum vt_where_place place, const char *name)
{
	(void)arg;
	return (enum vt_truth)((vt_record_u64(rec, field) + place + strlen(name)) % 3);
}

static enum vt_truth is_event(void *arg, uint64_t id, const char *name)
{
	(void)arg;
	return (enum vt_truth)((id + strlen(name)) % 3);
}

/* Every field has two texts or arrays, of 0 and 3 elements. */
struct rows {
	uint64_t numbers[VT_MAX_FIELDS][ROWS];
	struct vt_column columns[VT_MAX_FIELDS];
	struct vt_block block;
};

static void fill_rows(struct rows *r, const struct vt_kind_desc *desc, uint32_t kind, uint8_t seed)
{
	static const uint32_t off[ROWS + 1] = {0, 0, 3};
	static const uint64_t words[3] = {1, 2, 3};
	struct vt_rng rng;
	uint32_t f, i;

	vt_rng_init(&rng, seed);
	for (f = 0; f < desc->nfields; f++) {
		enum vt_type type = desc->fields[f].type;
		bool number = type == VT_TYPE_U || type == VT_TYPE_I || type == VT_TYPE_F;

		for (i = 0; i < ROWS; i++)
			r->numbers[f][i] = number_of(&rng);
		r->columns[f] = (struct vt_column){.v = r->numbers[f],
						   .mask = number && f % 3 ? SIZE_MAX : 0,
						   .off = off + (f & 1),
						   .bytes = (const uint8_t *)"abc",
						   .words = words};
	}
	r->block = (struct vt_block){kind, ROWS, desc->nfields, desc, r->columns};
}

static void evaluate(struct vt_where_expr *w, const struct rows *r)
{
	struct vt_record rec = {&r->block, r->block.kind, 0};
	uint8_t truth[ROWS];

	vt_where_select(w, &r->block, 0, ROWS, truth);
	for (; rec.row < ROWS; rec.row++) {
		check(truth[rec.row] <= VT_UNKNOWN, "no truth value");
		check(rec.row % 7 || truth[rec.row] == vt_where_test(w, &rec),
		      "a row says something else alone");
	}
}

static void run(const char *text, uint8_t kind, uint8_t seed)
{
	const struct vt_where_names names = {lies_in, NULL, is_event, NULL};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_where_expr *w;
	struct vt_schema s;
	struct rows *r;

	check(vt_schema_init(&s, &err) == 0, "no memory");
	kind = kind < 128 ? VT_SAMPLE : (uint8_t)(kind % VT_NKINDS);
	vt_where_asks_places(text);
	w = vt_where_compile(text, &s, kind, &names, &err);
	check(w || err.code == VT_E_USAGE || err.code == VT_E_ABSENT || err.code == VT_E_LIMIT,
	      "another error");
	check(w || strncmp(err.text, "column ", 7) == 0, "no column");
	if (w) {
		r = calloc(1, sizeof(*r));
		check(r != NULL, "no memory");
		fill_rows(r, &s.kinds[kind], kind, seed);
		evaluate(w, r);
		free(r);
	}
	vt_where_free(w);
	vt_schema_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size < 2)
		return 0;
	text = malloc(size - 1);
	check(text != NULL, "no memory");
	memcpy(text, data + 2, size - 2);
	text[size - 2] = '\0';
	run(text, data[0], data[1]);
	free(text);
	return 0;
}
