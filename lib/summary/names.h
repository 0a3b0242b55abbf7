/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SUMMARY_NAMES_H
#define VT_SUMMARY_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "stream/record.h"
#include "stream/where.h"

/*
 * The events and images that a stream has declared so far, which other records name by id.  The
 * tables are in the order of declaration; a later declaration of an id replaces an earlier one.
 */
struct vt_names {
	struct vt_hash events; /* struct vt_named_event */
	struct vt_hash images; /* struct vt_named_image */
	struct vt_intern *strings;
	uint32_t arch; /* string: the recorded machine as in uname(2); 0: unknown */
};

struct vt_named_event {
	uint64_t id;
	uint64_t policy;
	uint64_t regs_user; /* masks of registers in its samples */
	uint64_t regs_intr;
	uint32_t name; /* strings */
	uint32_t unit;
};

struct vt_named_image {
	uint64_t id;
	uint64_t type;
	uint32_t path; /* strings */
	uint32_t buildid;
};

/* False when memory runs out.  Call vt_names_fini() in both cases. */
bool vt_names_init(struct vt_names *n);
void vt_names_fini(struct vt_names *n);

/* Takes a record of any kind.  False when memory runs out. */
bool vt_names_feed(struct vt_names *n, const struct vt_record *rec);

/* Declares an event that no record does.  False when memory runs out. */
bool vt_names_add_event(struct vt_names *n, uint64_t id, const char *name);

/* Borrowed until the next vt_names_feed().  NULL if the stream has not declared the id. */
const struct vt_named_event *vt_names_event(const struct vt_names *n, uint64_t id);
const struct vt_named_image *vt_names_image(const struct vt_names *n, uint64_t id);

/* As vt_where_names.is_event, `names` being the struct vt_names. */
enum vt_truth vt_names_is_event(void *names, uint64_t id, const char *name);

#endif
