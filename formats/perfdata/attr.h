/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFDATA_ATTR_H
#define FORMATS_PERFDATA_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/perfdata/abi.h"

/* What is used of a struct perf_event_attr; fields that a shorter one lacks are 0. */
struct pd_attr {
	uint32_t type;
	uint32_t size; /* as the file claims; 0 was replaced by the first published size */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t period; /* or the frequency, if PD_ATTR_FREQ */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags; /* bit n: the n-th declared flag, whatever the file's byte order */
	uint64_t branch_type;
	uint64_t regs_user;
	uint64_t regs_intr;
	uint32_t stack_user;
	uint32_t bp_type;
};

/*
 * Parses a perf_event_attr of any size, newer ones (136 bytes and more) included.  False when
 * fewer than 64 bytes are there.
 */
bool vti_pd_attr_parse(struct pd_attr *a, const uint8_t *data, size_t size, bool big);

/*
 * Puts a flag word of a big-endian file in the order of a little-endian one: there bit-fields are
 * given out from the top, but a field of several bits keeps its own order.
 */
uint64_t vti_pd_attr_flags(uint64_t word, bool big);

/* As above for the flag word of a struct perf_branch_entry. */
uint64_t vti_pd_branch_flags(uint64_t word, bool big);

static inline unsigned vti_pd_attr_precise(const struct pd_attr *a)
{
	return (unsigned)(a->flags >> PD_ATTR_PRECISE_SHIFT) & 3;
}

/*
 * Position in 64-bit words of the event id in a sample, counted from the record's payload, and in
 * the sample id that ends other records, counted from the end (1: the last word).  -1 if there is
 * none.
 */
int vti_pd_id_pos(uint64_t sample_type);
int vti_pd_id_trailer_pos(uint64_t sample_type);

/* The same for the time. */
int vti_pd_time_pos(uint64_t sample_type);
int vti_pd_time_trailer_pos(uint64_t sample_type);

/* Words in the sample id that ends non-sample records. */
unsigned vti_pd_trailer_words(uint64_t sample_type);

/* The name that perf gives an event that the file does not name. */
void vti_pd_attr_name(struct vt_buf *out, const struct pd_attr *a);

#endif
