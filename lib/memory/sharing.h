/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_SHARING_H
#define VT_MEMORY_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"

/*
 * Cache lines that several threads access, one of them with stores.
 *
 * Misses are those of a cache without bounds for each thread: a thread has a line from its access
 * on until another stores to it.  It misses when it accesses a line that it does not have and that
 * another has stored to since it had it, or ever.  A miss is true sharing if it accesses a byte
 * that another stored in that time, and false sharing if not (J. Torrellas, M. Lam and J. Hennessy,
 * "False Sharing and Spatial Locality in Multiprocessor Caches", IEEE Transactions on Computers 43,
 * 1994).
 *
 * The threads of a recording take turns, so that such misses are few.  What does not depend on how
 * they take turns is the number of accesses that could miss: all but those of the thread with most
 * accesses.  Those to a word that several threads access, one with a store, could be true sharing,
 * and the others false.
 */
#define VT_SHARING_LINE	 64
#define VT_SHARING_WORDS 8		     /* of 8 bytes */
#define VT_SHARING_LINES (UINT64_C(1) << 22) /* further ones are not looked at */

/* What a thread did to a line. */
struct vt_shared_thread {
	int64_t tid;
	uint64_t true_misses;
	uint64_t false_misses;
	uint64_t loads[VT_SHARING_WORDS]; /* of each word, by an access's first byte */
	uint64_t stores[VT_SHARING_WORDS];
	/* Bits for bytes. */
	uint64_t stale;	  /* stored by others since the thread had the line */
	uint64_t written; /* stored by this thread */
	uint64_t next;	  /* index of the line's next thread + 1, or 0 */
	bool has;	  /* the line is in its cache */
};

/* Where a word of a line belongs. */
struct vt_shared_word {
	int64_t offset;
	uint32_t object; /* UINT32_MAX: not accessed */
};

struct vt_shared_line {
	uint64_t address; /* with `pid`, the key */
	int64_t pid;
	uint64_t first; /* index of its first thread + 1 */
	uint64_t nthreads;
	uint64_t loads;
	uint64_t stores;
	uint64_t true_misses;
	uint64_t false_misses;
	struct vt_shared_word words[VT_SHARING_WORDS];
	uint64_t true_accesses; /* that could miss; after vti_sharing_judge() */
	uint64_t false_accesses;
};

struct vti_sharing {
	struct vt_hash lines; /* struct vt_shared_line */
	struct vt_shared_thread *threads;
	size_t nthreads;
	size_t threads_cap;
	uint64_t left_out; /* accesses to further lines */
};

void vti_sharing_init(struct vti_sharing *s);
void vti_sharing_fini(struct vti_sharing *s);

/*
 * Counts an access of `size` bytes at `addr`, all in one line, whose first byte is at `offset` of
 * an object.  Returns false when memory runs out.
 */
struct vti_line_access {
	int64_t pid;
	int64_t tid;
	uint64_t addr;
	uint32_t size;
	uint32_t object;
	int64_t offset;
	bool store;
};
bool vti_sharing_access(struct vti_sharing *s, const struct vti_line_access *a);

/* Counts the accesses of a line that could miss. */
void vti_sharing_judge(const struct vti_sharing *s, struct vt_shared_line *l);

/* Returns the thread that follows `t` in a line, or the first for NULL; NULL: no more. */
const struct vt_shared_thread *vti_sharing_next(const struct vti_sharing *s,
						const struct vt_shared_line *l,
						const struct vt_shared_thread *t);

#endif
