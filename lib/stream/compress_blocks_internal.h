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
 * The queue of blocks between a writer and its output.  Several threads compress blocks; the
 * caller's thread writes them in their order.  The output does not depend on the threads.
 */

struct vti_outgoing {
	struct vti_block_head head; /* complete once `done` */
	struct vt_buf raw;
	struct vt_buf packed;
	bool done;
};

/* Returns the payload to store, of a block that is done. */
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
	uint64_t first;	       /* the first block not yet written */
	uint64_t begun;	       /* the first block that no thread has begun to compress */
	uint64_t last;	       /* the number of blocks put */
	pthread_mutex_t mutex; /* protects begun, last, quit, done */
	pthread_cond_t came;
	pthread_cond_t packed;
	bool quit;

	struct vti_compressor compressor; /* of the caller's thread */
	struct vti_packing_thread {
		struct vti_packing *of;
		struct vti_compressor compressor;
		pthread_t thread;
	} * threads;
	unsigned nthreads;
};

/*
 * Starts up to `threads` threads besides the caller's; fewer if the system refuses more.  Returns
 * false when memory runs out.  Call vti_packing_fini() in either case.
 */
bool vti_packing_init(struct vti_packing *p, enum vt_compression how, int level, unsigned threads,
		      vti_write_block *write, void *arg);

/*
 * Queues a block and writes those that are done.  The fields of the head that depend on the payload
 * are set later.  *raw, the payload, is exchanged for an empty buffer.
 */
void vti_packing_put(struct vti_packing *p, const struct vti_block_head *head, struct vt_buf *raw);

/* Compresses and writes all queued blocks. */
void vti_packing_finish(struct vti_packing *p);

/* Stops the threads and frees.  Blocks not yet written are dropped. */
void vti_packing_fini(struct vti_packing *p);

#endif
