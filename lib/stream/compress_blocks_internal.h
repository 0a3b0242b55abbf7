/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_COMPRESS_BLOCKS_INTERNAL_H
#define VT_STREAM_COMPRESS_BLOCKS_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "stream/compress_internal.h"
#include "stream/frame_internal.h"

/*
 * Blocks on their way from a writer to its output: compressed by any of several threads, written by
 * the caller's in the order in which they came.  What is written does not depend on the threads.
 */

struct vti_outgoing {
	struct vti_block_head head; /* once done, complete */
	struct vt_buf raw;
	struct vt_buf packed;
	bool done;
};

/* The payload as it is stored; of a block that is done. */
static inline const struct vt_buf *vti_outgoing_payload(const struct vti_outgoing *b)
{
	return b->head.compression == VT_COMPRESS_NONE ? &b->raw : &b->packed;
}

typedef void vti_write_block(void *arg, const struct vti_outgoing *b);

struct vti_packing {
	enum vt_compression how;
	int level;
	vti_write_block *write;
	void *arg;

	/* Block number n is in ring[n % size]. */
	struct vti_outgoing *ring;
	uint64_t size;
	uint64_t first;	       /* not yet written */
	uint64_t begun;	       /* behind the last that somebody compresses */
	uint64_t last;	       /* behind the last that came */
	pthread_mutex_t mutex; /* for begun, last, quit, done */
	pthread_cond_t came;
	pthread_cond_t packed;
	bool quit;

	struct vti_compressor compressor; /* the caller's */
	struct vti_packing_thread {
		struct vti_packing *of;
		struct vti_compressor compressor;
		pthread_t thread;
	} * threads;
	unsigned nthreads;
};

/*
 * With that many threads besides the caller's, or as many as can be had.  False: no memory; it is
 * for vti_packing_fini() all the same.
 */
bool vti_packing_init(struct vti_packing *p, enum vt_compression how, int level, unsigned threads,
		      vti_write_block *write, void *arg);

/*
 * The next block: of the head, what depends on the payload is yet to be set.  *raw, the payload, is
 * exchanged for another buffer.
 */
void vti_packing_put(struct vti_packing *p, const struct vti_block_head *head, struct vt_buf *raw);

/* Comes back when all blocks are written. */
void vti_packing_finish(struct vti_packing *p);

/* Ends the threads and frees; what is not written never will be. */
void vti_packing_fini(struct vti_packing *p);

#endif
