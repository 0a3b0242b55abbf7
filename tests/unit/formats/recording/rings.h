/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FORMATS_RECORDING_RINGS_H
#define TESTS_UNIT_FORMATS_RECORDING_RINGS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/recording/recording.h"
#include "formats/recording/ring.h"

/*
 * A recorder without a program: it fills a ring as formats/recording/ring.h says.  Small buffers,
 * so that short tests go round several times.
 */
#define RINGS_BUFFERS 3
#define RINGS_IDS     4096 /* bytes of each area */
#define RINGS_DATA    32768
#define RINGS_EVENTS  16384

struct rings {
	struct vt_recording *reader; /* reads whenever a buffer has been handed over */
	const char *dir;
	struct vt_ring *ring;
	size_t size;
	int control;
	uint64_t number; /* of the buffer at hand */
	int32_t tid;	 /* that runs */
};

/* Makes a ring in the reader's directory, and says so. */
void rings_begin(struct rings *r, struct vt_recording *reader, const char *dir, int32_t pid,
		 int32_t ppid, uint32_t seq);

/* Says nothing, just forgets: as when the process is killed. */
void rings_drop(struct rings *r);

/* Hands over the last buffer, says goodbye, and forgets. */
void rings_end(struct rings *r);

/* Hands over the buffer at hand and begins the next. */
void rings_flush(struct rings *r);

/* One execution of a block, with all of its values or fewer of them. */
void rings_run(struct rings *r, uint32_t id, const void *data, size_t size);

/* An event with a copy of this content, and of what follows it. */
void rings_event(struct rings *r, unsigned type, int32_t tid, const void *head, size_t head_size,
		 const void *more, size_t more_size);
void rings_number(struct rings *r, unsigned type, int32_t tid, int64_t number);

/* The first event of a ring. */
void rings_start(struct rings *r, int32_t ppid, unsigned forked, const char *name);

/* A block of instructions of one byte each, at 0x1000 * id; `slots` as formats/vt.md has them. */
void rings_block(struct rings *r, uint32_t id, uint32_t ninsns, const uint64_t *slots,
		 uint32_t nslots);

/* Bytes of values that slots have. */
uint32_t rings_data_size(const uint64_t *slots, uint32_t nslots);

#endif
