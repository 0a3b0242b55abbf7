/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_VALUE_LISTS_H
#define TESTS_UNIT_VALUE_LISTS_H

#include <stdint.h>

#include "base/rng.h"
#include "value/hot_list.h"

/* What tests of hot lists need. Each function fails the running test when it cannot do its work. */

struct vt_hotlists *make_lists(enum vt_algo algo, uint32_t entries, uint64_t seed);
void read_list(struct vt_hotlists *s, struct vt_hotlist *l, struct vt_hot *f);

/* The estimate of a value's occurrences; 0 if the list has not got it. */
double found_estimate(const struct vt_hot *f, uint64_t value);

/*
 * The i-th value of a sequence that is always the same: 1 a third of the time, 2 to 41 thinning
 * out, and values from 1000 on that come once.
 */
uint64_t skewed_value(struct vt_rng *r, uint64_t i);

/* The values number `from` to to-1 of that sequence. */
void fill_list(struct vt_hotlists *s, struct vt_hotlist *l, uint64_t from, uint64_t to);

#endif
