/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_COPROCESSOR_REPORT_H
#define VT_LISTING_COPROCESSOR_REPORT_H

#include <jansson.h>

#include "base/output.h"
#include "base/table.h"
#include "coprocessor/run.h"

/* Table 1 of the paper for chosen sizes.  Owned by the caller; NULL: out of memory. */
struct vt_table *vt_coproc_sizes_table(const struct vt_coproc_sizes *s);

/* What happened in a run, as numbers with names, in the order in which they are printed. */
struct vt_coproc_fact {
	const char *key;  /* for programs */
	const char *text; /* for people */
	double value;
	int digits; /* behind the point */
};

#define VT_COPROC_FACTS 28

/* Fills facts[] and returns how many there are. */
unsigned vt_coproc_facts(const struct vt_coproc_run *r, const struct vt_host_costs *costs,
			 struct vt_coproc_fact facts[VT_COPROC_FACTS]);

/* Prints them, one a line; sets them as members. */
void vt_coproc_print_facts(const struct vt_coproc_fact *facts, unsigned n, struct vt_output *out);
void vt_coproc_json_facts(const struct vt_coproc_fact *facts, unsigned n, json_t *object);

/*
 * Prints each word that is executed, with the state behind it, up to `left` words.  `fn` of
 * vt_coproc_trace(), with a struct vt_coproc_tracer.
 */
struct vt_coproc_tracer {
	const struct vt_ucode *u;
	struct vt_coproc *coproc;
	struct vt_output *out;
	uint64_t left;
	uint64_t sample; /* private: 1 and up */
};

void vt_coproc_trace_word(void *tracer, const struct vt_coproc *m, unsigned word);

#endif
