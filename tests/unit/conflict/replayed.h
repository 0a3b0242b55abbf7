/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_CONFLICT_REPLAYED_H
#define TESTS_UNIT_CONFLICT_REPLAYED_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "conflict/replay_internal.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* Streams of executed code that are replayed. Each function fails the running test when it cannot
 * do its work. */

#define REPLAYED_PID   1
#define REPLAYED_TID   2
#define REPLAYED_SLOTS 8

#define SLOT(insn, what, size) ((insn) | (uint64_t)(what) << 16 | (uint64_t)(size) << 32)
#define GUARD(i)	       SLOT(i, VT_WHAT_GUARD, 1)
#define LADDR(i)	       SLOT(i, VT_WHAT_LOAD_ADDRESS, 8)
#define SADDR(i)	       SLOT(i, VT_WHAT_STORE_ADDRESS, 8)
#define LOAD(i, size)	       SLOT(i, VT_WHAT_LOAD, size)
#define STORE(i, size)	       SLOT(i, VT_WHAT_STORE, size)
#define RESULT(i)	       SLOT(i, VT_WHAT_RESULT, 8)

/* mov %eax,(%rdi); mov (%rsi),%rbx */
#define MOV_TO	 0x89, 0x07
#define MOV_FROM 0x48, 0x8b, 0x1e

/* A block, called by a letter. */
struct replayed_code {
	char name;
	uint64_t addr;
	uint8_t ninsns;
	uint8_t lengths[4];
	uint8_t code[16]; /* 0: none */
	uint8_t mode;
	uint64_t slots[REPLAYED_SLOTS];
};

/* The stream, and the thread and position that the next run has. */
struct replayed_maker {
	struct vt_writer *w;
	const struct replayed_code *codes;
	uint64_t first;
	int64_t tid;
};

typedef void replayed_put_fn(struct replayed_maker *m);

void replayed_put_block(struct vt_writer *w, uint64_t id, const struct replayed_code *c);

/* The first `n` blocks, whose ids are their numbers: what runs are made of from now on. */
void replayed_put_blocks(struct replayed_maker *m, const struct replayed_code *codes, unsigned n);

/*
 * A run of blocks, each a letter: their addresses and guards are the next ones of `values`, or
 * 0x9000 and 1 where that is NULL. Its numbers, for what else is to be told.
 */
uint64_t *replayed_run(struct replayed_maker *m, const char *text, const uint64_t *values);

/* What came of it. */
struct replayed {
	struct vt_images *images;
	struct vt_replay *rp;
	struct vt_reader *r;
	struct vt_conflict_model model;
	struct vt_buf warnings; /* a line each */
	int fd;
	int code; /* of the end */
};

/* Loads that do not get all of their bytes from one of the last 20 instructions. */
struct vt_conflict_model replayed_model(void);

/* Makes a stream and replays it; without a model, with that. */
void replayed_take(struct replayed *s, const struct vt_replay_options *opt, replayed_put_fn *put);
void replayed_drop(struct replayed *s);

/*
 * The pairs are to be these: the type; images and offsets of the later and the earlier one; how
 * often they met, and the later one was executed; all distances, and the nearest; samples.
 */
void replayed_check(const struct replayed *s, const char *want);

#endif
