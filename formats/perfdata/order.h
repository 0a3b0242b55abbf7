/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFDATA_ORDER_H
#define FORMATS_PERFDATA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The queue that puts records in the order of their times, as perf does.  Records are copied into
 * pieces of memory that are freed when all their records have left.
 */
struct pd_entry {
	uint64_t time;
	uint64_t offset; /* of the record in the file, for messages */
	uint32_t piece;
	uint32_t at; /* position in the piece */
};

struct pd_piece {
	uint8_t *data;
	uint32_t used;
	uint32_t live; /* records in it that are still queued */
};

/* Receives a record (8-byte header included); a negative value stops the release. */
typedef int pd_deliver_fn(void *arg, const uint8_t *record, size_t size, uint64_t offset);

struct pd_order {
	struct pd_entry *entries;
	size_t count;
	size_t cap;
	struct pd_entry *spare; /* for merging */
	size_t spare_cap;
	size_t *runs; /* starts of ascending runs */
	size_t runs_cap;
	struct pd_piece *pieces;
	size_t npieces;
	size_t pieces_cap;
	uint32_t current;   /* the piece that is being filled, or UINT32_MAX */
	uint32_t free_head; /* an empty piece, or UINT32_MAX */
	size_t busy;	    /* pieces that hold records, or are being filled */
	bool sorted;
	uint64_t newest;  /* the latest time that was queued */
	uint64_t release; /* what the next round releases up to */
	uint64_t last;	  /* the time released last */
	uint64_t late;	  /* records queued after a later one was released */
	bool big;
	pd_deliver_fn *deliver;
	void *arg;
};

void vti_pd_order_init(struct pd_order *o, bool big, pd_deliver_fn *deliver, void *arg);
void vti_pd_order_fini(struct pd_order *o);

/*
 * Queues a copy of a record of at most 65535 bytes.  When the queue is full (VT_PERFDATA_QUEUE_*)
 * the older half is released first.  0, -VT_E_NOMEM, or what the deliver function returned.
 */
int vti_pd_order_add(struct pd_order *o, uint64_t time, const uint8_t *record, size_t size,
		     uint64_t offset);

/* A round ended: releases what the rules above say. */
int vti_pd_order_round(struct pd_order *o);

/* Releases everything. */
int vti_pd_order_flush(struct pd_order *o);

#endif
