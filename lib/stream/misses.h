/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_MISSES_H
#define VT_STREAM_MISSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "stream/profileme.h"
#include "stream/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The misses of a stream that has all of them (VT_MISSES_META of stream/profileme.h), for those who
 * go through its executed code: each miss waits for its access.
 */
struct vt_miss {
	uint64_t position; /* of the instruction in the process's */
	uint64_t addr;	   /* the first byte that missed */
	uint64_t latency;  /* cycles, of a load that tells it; else 0 */
	uint64_t told;	   /* VT_PM_EVENT()s, */
	uint64_t events;   /* and which of them happened */
	enum vt_source source;
	bool store;
	bool brought; /* the line came; else it was on its way already */
	bool taken;
};

/* So many wait at most, more than an EXEC record can have; further ones find no access. */
#define VT_MISSES_WAITING (UINT32_C(1) << 20)

struct vt_misses_queue {
	int64_t pid;
	struct vt_miss *list;
	size_t first; /* that waits */
	size_t count;
	size_t cap;
};

struct vt_misses {
	bool told;	/* the stream has all misses */
	uint64_t line;	/* bytes of a line of the cache; 0: not known */
	uint64_t count; /* of those read */
	size_t waiting;
	uint64_t taken; /* and of those that found their access */
	struct vt_hash ids;
	struct vt_misses_queue *queues;
	size_t nqueues;
	size_t queues_cap;
	size_t recent; /* queue */
};

void vt_misses_init(struct vt_misses *m);
void vt_misses_fini(struct vt_misses *m);

/* Whether a record is the sample of a miss. */
static inline bool vt_misses_is(const struct vt_record *rec)
{
	return rec->kind == VT_SAMPLE && vt_record_u64(rec, VT_SAMPLE_PM_HAS) & VT_PM_BIT(POSITION);
}

/* Takes a META record, or the sample of a miss.  Returns 0 or -VT_E_NOMEM. */
int vt_misses_feed(struct vt_misses *m, const struct vt_record *rec, struct vt_error *err);

/*
 * Returns a miss of `size` bytes at `addr`, accessed by the instruction at this position of the
 * process, which no earlier call has returned; NULL: there is none.  Positions ascend; misses
 * before are forgotten.  Borrowed until the next call.
 */
const struct vt_miss *vt_misses_take(struct vt_misses *m, int64_t pid, uint64_t position,
				     uint64_t addr, uint64_t size, bool store);

#ifdef __cplusplus
}
#endif
#endif
