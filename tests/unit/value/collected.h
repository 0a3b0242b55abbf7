/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_VALUE_COLLECTED_H
#define TESTS_UNIT_VALUE_COLLECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/writer.h"
#include "value/collect.h"

/*
 * Streams of executed blocks, all of one process whose image is "/bin/program", and the lists of
 * values that come of them.  Each function fails the running test when it cannot do its work.
 */

#define PID  7
#define BASE 0x400000u

#define ALL (VT_COLLECT_WHAT | 1u << VT_WHAT_RETURN)

#define SLOT(insn, what, size, reg)                                                                \
	((insn) | (uint64_t)(what) << 16 | (uint64_t)(size) << 32 | (uint64_t)(reg) << 48)
/* A block is called by a letter; its offset in the image is 0x1000 times its id. */
struct collected_block {
	char name;
	uint8_t ninsns;
	uint8_t lengths[4];
	enum vt_block_end end;
	uint8_t code[16];
	uint8_t has_code;
	uint8_t nslots;
	uint64_t slots[8];
	uint8_t values[48]; /* of all its slots, each time */
	uint8_t nvalues;
};

struct collected_run {
	int64_t pid;
	int64_t tid;
	uint64_t first;
	uint64_t caller;
	unsigned skip;
	unsigned insns;
};

/* A stream in a file of scratch_file(). */
struct vt_writer *collected_begin(int fd);
void collected_image(struct vt_writer *w, uint64_t id, const char *path);
void collected_map(struct vt_writer *w, uint64_t image, uint64_t start, uint64_t length);
void collected_block(struct vt_writer *w, const struct collected_block *b, uint64_t id);
void collected_exec(struct vt_writer *w, const struct collected_run *r, const uint16_t *ids,
		    size_t n, const uint8_t *data, size_t size);
void collected_thread(struct vt_writer *w, enum vt_thread_op op);

struct collected_profile {
	struct vt_sites *sites;
	struct vt_collect *collect;
	struct vt_collect_stats stats;
};

/* Lists that keep all values. */
void collected_open(struct collected_profile *p, uint32_t what, bool by_caller);
void collected_close(struct collected_profile *p);

/* Ends the stream and takes it into the profile, counts of instructions too. */
void collected_take(struct collected_profile *p, int fd, struct vt_writer *w);

/* The list at a place; NULL if there is none or it has no value. */
struct vt_hotlist *collected_find(const struct collected_profile *p, uint64_t offset, uint32_t what,
				  uint32_t reg, uint32_t lane, uint64_t caller);

/* Lists of a kind of value, those that have one. */
size_t collected_count(const struct collected_profile *p, uint32_t what);

/* A list has these values, in any order but the first and last, and no others. */
void collected_check(const struct collected_profile *p, struct vt_hotlist *l,
		     const uint64_t *values, size_t n);

#define COLLECTED(p, l, ...)                                                                       \
	collected_check(p, l, (const uint64_t[]){__VA_ARGS__},                                     \
			sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

#endif
