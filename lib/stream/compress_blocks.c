/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/compress_blocks_internal.h"

#include <stdlib.h>

#define MAX_THREADS 64

/* Queued blocks per thread: a frame has few. */
#define BLOCKS_EACH 8

/* A larger buffer is freed when its block is written. */
#define KEEP_BYTES ((size_t)2 << 20)

/* Compresses a block if that saves anything. */
static void compress_block(const struct vti_packing *p, struct vti_compressor *compressor,
			   struct vti_outgoing *b)
{
	const struct vt_buf *payload;

	b->head.raw_size = (uint32_t)b->raw.size;
	b->head.compression = VT_COMPRESS_NONE;
	if (p->how != VT_COMPRESS_NONE &&
	    vti_compress(compressor, &b->packed, p->how, p->level, b->raw.data, b->raw.size))
		b->head.compression = (uint8_t)p->how;
	payload = vti_outgoing_payload(b);
	b->head.stored_size = (uint32_t)payload->size;
	b->head.payload_crc = vti_crc32(0, payload->data, payload->size);
}

/* Compresses the next block.  The caller holds p->mutex, which is released meanwhile. */
static void pack_next(struct vti_packing *p, struct vti_compressor *compressor)
{
	struct vti_outgoing *b = &p->ring[p->begun++ % p->size];

	pthread_mutex_unlock(&p->mutex);
	compress_block(p, compressor, b);
	pthread_mutex_lock(&p->mutex);
	b->done = true;
	pthread_cond_signal(&p->packed);
}

static void *run_packing_thread(void *arg)
{
	struct vti_packing_thread *self = arg;
	struct vti_packing *p = self->of;

	pthread_mutex_lock(&p->mutex);
	while (!p->quit) {
		if (p->begun < p->last)
			pack_next(p, &self->compressor);
		else
			pthread_cond_wait(&p->came, &p->mutex);
	}
	pthread_mutex_unlock(&p->mutex);
	return NULL;
}

bool vti_packing_init(struct vti_packing *p, enum vt_compression how, int level, unsigned threads,
		      vti_write_block *write, void *arg)
{
	*p = (struct vti_packing){.how = how, .level = level, .write = write, .arg = arg};
	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->came, NULL);
	pthread_cond_init(&p->packed, NULL);
	if (how == VT_COMPRESS_NONE)
		threads = 0;
	threads = threads < MAX_THREADS ? threads : MAX_THREADS;
	p->size = threads ? (uint64_t)threads * BLOCKS_EACH : 1;
	p->ring = calloc(p->size, sizeof(*p->ring));
	p->threads = calloc(threads + 1, sizeof(*p->threads));
	if (!p->ring || !p->threads)
		return false;
	while (p->nthreads < threads) {
		struct vti_packing_thread *t = &p->threads[p->nthreads];

		t->of = p;
		if (pthread_create(&t->thread, NULL, run_packing_thread, t) != 0)
			break;
		p->nthreads++;
	}
	return true;
}

/* Writes the oldest block, which must be done. */
static void write_oldest(struct vti_packing *p)
{
	struct vti_outgoing *b = &p->ring[p->first % p->size];

	p->write(p->arg, b);
	if (b->raw.cap > KEEP_BYTES)
		vt_buf_free(&b->raw);
	if (b->packed.cap > KEEP_BYTES)
		vt_buf_free(&b->packed);
	p->first++;
}

/*
 * Writes finished blocks until at most `left` blocks remain, compressing blocks itself or waiting
 * for other threads.
 */
static void write_done_blocks(struct vti_packing *p, uint64_t left)
{
	pthread_mutex_lock(&p->mutex);
	while (p->first < p->last) {
		if (p->ring[p->first % p->size].done) {
			pthread_mutex_unlock(&p->mutex);
			write_oldest(p);
			pthread_mutex_lock(&p->mutex);
		} else if (p->last - p->first <= left) {
			break;
		} else if (p->begun < p->last) {
			pack_next(p, &p->compressor);
		} else {
			pthread_cond_wait(&p->packed, &p->mutex);
		}
	}
	pthread_mutex_unlock(&p->mutex);
}

void vti_packing_put(struct vti_packing *p, const struct vti_block_head *head, struct vt_buf *raw)
{
	struct vti_outgoing *b = &p->ring[p->last % p->size];
	struct vt_buf other = b->raw;

	b->raw = *raw;
	*raw = other;
	raw->size = 0;
	b->head = *head;
	b->done = false;
	pthread_mutex_lock(&p->mutex);
	p->last++;
	pthread_cond_signal(&p->came);
	pthread_mutex_unlock(&p->mutex);
	write_done_blocks(p, p->size - 1);
}

void vti_packing_finish(struct vti_packing *p)
{
	write_done_blocks(p, 0);
}

void vti_packing_fini(struct vti_packing *p)
{
	unsigned i;

	if (!p->size)
		return;
	pthread_mutex_lock(&p->mutex);
	p->quit = true;
	pthread_cond_broadcast(&p->came);
	pthread_mutex_unlock(&p->mutex);
	for (i = 0; i < p->nthreads; i++) {
		pthread_join(p->threads[i].thread, NULL);
		vti_compressor_fini(&p->threads[i].compressor);
	}
	vti_compressor_fini(&p->compressor);
	for (i = 0; p->ring && i < p->size; i++) {
		vt_buf_free(&p->ring[i].raw);
		vt_buf_free(&p->ring[i].packed);
	}
	free(p->threads);
	free(p->ring);
	pthread_cond_destroy(&p->came);
	pthread_cond_destroy(&p->packed);
	pthread_mutex_destroy(&p->mutex);
}
