/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_UNITS_H
#define VT_STREAM_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the name of a value of an enumeration, or "?". */
typedef const char *vt_word_fn(uint64_t value);

/* Returns what names the values of fields with this unit ("enum:source"), or NULL. */
vt_word_fn *vt_unit_words(const char *unit);

/*
 * Returns the bits of VT_SAMPLE_HAS one of which says that this field of samples was recorded, so
 * that a 0 in it is a value; 0: the field always is.
 */
uint64_t vt_sample_has_bits(unsigned field);

/*
 * Returns whether records of this kind (enum vt_kind) are estimates from samples, of which no part
 * belongs to some of the samples.
 */
bool vt_kind_is_estimate(uint32_t kind);

#ifdef __cplusplus
}
#endif
#endif
