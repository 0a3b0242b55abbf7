/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_GROUPS_H
#define VT_PROFILE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "profile/threads.h"
#include "stream/record.h"

/*
 * Groups of samples that agree in all of some keys, such as process and CPU.  A group has a number;
 * they count up from 0 in the order of first appearance.
 *
 * Memory: one entry for each combination of values that occurs.
 */
struct vt_groups;

enum vt_group_key {
	VT_GROUP_PROCESS,
	VT_GROUP_COMM, /* the thread's name at the time of the sample */
	VT_GROUP_THREAD,
	VT_GROUP_CPU,
	VT_GROUP_TIME,	 /* when the slice of time begins that the sample is in */
	VT_GROUP_SOURCE, /* where the data of a memory access came from */
	VT_GROUP_PAGE,	 /* the 4096 bytes that it accessed, by address */

	/* What the keys from here on tell apart is for listings: they have no names. */
	VT_GROUP_MODE,	  /* the CPU's mode: PERF_RECORD_MISC_CPUMODE */
	VT_GROUP_ADDRESS, /* the sample's address: one group for each */
	VT_NGROUPS
};

/* The names of the keys but the last two, ended by NULL. */
extern const char *const vt_group_words[];

/*
 * Slices of time begin at multiples of `slice` ns of the recording's clock.  Owned by the caller;
 * NULL when memory runs out.  `count` keys, which are copied: at most VT_NGROUPS, all different.
 */
struct vt_groups *vt_groups_new(const enum vt_group_key *keys, size_t count, uint64_t slice);
void vt_groups_free(struct vt_groups *g);

/* A vt_consume_fn; `groups` is the struct vt_groups.  As vt_threads_feed(). */
int vt_groups_feed(void *groups, const struct vt_block *block, uint32_t first, uint32_t count,
		   struct vt_error *err);

/* The group of a SAMPLE record; of other records, and NULL, one where nothing is known.
 * -VT_E_NOMEM.
 */
int vt_groups_of(struct vt_groups *g, const struct vt_record *rec, uint32_t *group,
		 struct vt_error *err);

/* The keys, in the order given. */
size_t vt_groups_nkeys(const struct vt_groups *g);
enum vt_group_key vt_groups_key(const struct vt_groups *g, size_t i);

/* Whether the i-th key's values are numbers: a group's, and whether it is known. */
bool vt_groups_is_number(const struct vt_groups *g, size_t i);
bool vt_groups_number(const struct vt_groups *g, uint32_t group, size_t i, int64_t *number);

/* The name that a thread has at the last record, as vt_threads_comm(). */
const char *vt_groups_last_comm(const struct vt_groups *g, int32_t tid, char buf[VT_COMM_SIZE]);

/*
 * Appends the value of a group's i-th key, raw: "sort", "12.4" (seconds), "7f0010000000"; of
 * sources "dram-far", or "L1 hit" of samples with only the kernel's data source; "[unknown]" where
 * the samples do not have it.
 */
void vt_groups_text(const struct vt_groups *g, uint32_t group, size_t i, struct vt_buf *out);

/*
 * The place of each group if they were sorted by their values: numbers by size, others as text.
 * Owned by the caller (free()); NULL when memory runs out.
 */
uint32_t *vt_groups_places(const struct vt_groups *g);

#endif
