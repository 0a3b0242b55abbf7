/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_NAMES_H
#define CMD_VTRACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "stream/record.h"

/* What a stream has said so far about the things that other records name by id. */
struct names {
	struct vt_hash events; /* struct named_event */
	struct vt_hash images; /* struct named_image */
	struct vt_intern *strings;
	uint32_t arch; /* string: the recorded machine's, as uname(2) says it; 0: not known */
};

struct named_event {
	uint64_t id;
	uint64_t policy;
	uint64_t regs_user; /* masks of the registers in its samples */
	uint64_t regs_intr;
	uint32_t name; /* strings */
	uint32_t unit;
};

struct named_image {
	uint64_t id;
	uint64_t type;
	uint32_t path; /* strings */
	uint32_t buildid;
};

/* False when memory ran out; names_fini() is needed all the same. */
bool names_init(struct names *n);
void names_fini(struct names *n);

/* Takes a record of any kind; false when memory ran out. */
bool names_feed(struct names *n, const struct vt_record *rec);

/* Borrowed until the next names_feed(); NULL: the stream has not said. */
const struct named_event *names_event(const struct names *n, uint64_t id);
const struct named_image *names_image(const struct names *n, uint64_t id);

#endif
