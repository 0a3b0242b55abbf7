/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/formats/recording/rings.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define START 8192 /* of the areas: behind the header */
#define EACH  (RINGS_IDS + RINGS_DATA + RINGS_EVENTS)

static struct vt_ring_buffer *current(const struct rings *r)
{
	return &r->ring->buffers[r->number % RINGS_BUFFERS];
}

static void put(struct rings *r, uint64_t *cursor, const void *data, size_t size)
{
	memcpy((uint8_t *)r->ring + (*cursor - r->ring->mapped), data, size);
	*cursor += size;
}

/* The word after the last id is 0. */
static void end_ids(struct rings *r)
{
	const uint32_t zero = 0;
	uint64_t cursor = r->ring->ids_next;

	put(r, &cursor, &zero, sizeof(zero));
}

static void begin(struct rings *r)
{
	struct vt_ring_buffer *b = current(r);

	assert_int_equal(b->state, VT_RING_FREE);
	b->number = r->number;
	b->time = 1000 + r->number;
	b->tid = r->tid;
	b->ids = b->data = b->events = 0;
	r->ring->current = (uint32_t)(r->number % RINGS_BUFFERS);
	r->ring->ids_next = r->ring->mapped + b->ids_offset;
	r->ring->data_next = r->ring->mapped + b->data_offset;
	end_ids(r);
	b->state = VT_RING_FILLING;
}

static void say(struct rings *r, unsigned type)
{
	struct vt_ring_message m = {
		.type = type,
		.pid = r->ring->pid,
		.ppid = r->ring->ppid,
		.seq = r->ring->seq,
		.buffer = (uint32_t)(r->number % RINGS_BUFFERS),
	};
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(write(r->control, &m, sizeof(m)), sizeof(m));
	assert_int_equal(vt_recording_read(r->reader, &err), 1);
}

static void fill_header(struct rings *r, int32_t pid, int32_t ppid, uint32_t seq)
{
	struct vt_ring *h = r->ring;
	uint32_t i;

	h->magic = VT_RING_MAGIC;
	h->mapped = 0x100000000; /* the reader's own address is no good */
	h->size = r->size;
	h->pid = pid;
	h->ppid = ppid;
	h->seq = seq;
	h->nbuffers = RINGS_BUFFERS;
	for (i = 0; i < RINGS_BUFFERS; i++) {
		struct vt_ring_buffer *b = &h->buffers[i];

		b->ids_offset = START + (uint64_t)i * EACH;
		b->data_offset = b->ids_offset + RINGS_IDS;
		b->events_offset = b->data_offset + RINGS_DATA;
		b->ids_size = RINGS_IDS;
		b->data_size = RINGS_DATA;
		b->events_size = RINGS_EVENTS;
	}
}

void rings_begin(struct rings *r, struct vt_recording *reader, const char *dir, int32_t pid,
		 int32_t ppid, uint32_t seq)
{
	char path[4096];
	int fd;

	*r = (struct rings){.reader = reader, .dir = dir, .tid = pid};
	r->size = START + (size_t)RINGS_BUFFERS * EACH;
	snprintf(path, sizeof(path), "%s/ring.%d.%u", dir, (int)pid, (unsigned)seq);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)r->size), 0);
	r->ring = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(r->ring != MAP_FAILED);
	close(fd);
	snprintf(path, sizeof(path), "%s/control", dir);
	r->control = open(path, O_WRONLY | O_NONBLOCK);
	assert_true(r->control >= 0);
	fill_header(r, pid, ppid, seq);
	begin(r);
	say(r, VT_RING_HELLO);
}

void rings_drop(struct rings *r)
{
	close(r->control);
	munmap(r->ring, r->size);
}

static void hand_over(struct rings *r)
{
	struct vt_ring_buffer *b = current(r);

	b->ids = (uint32_t)(r->ring->ids_next - r->ring->mapped - b->ids_offset);
	b->data = (uint32_t)(r->ring->data_next - r->ring->mapped - b->data_offset);
	b->state = VT_RING_FULL;
	say(r, VT_RING_DATA);
}

void rings_flush(struct rings *r)
{
	hand_over(r);
	r->number++;
	begin(r);
}

void rings_end(struct rings *r)
{
	hand_over(r);
	say(r, VT_RING_BYE);
	rings_drop(r);
}

static uint32_t used(const struct rings *r, uint64_t cursor, uint64_t area)
{
	return (uint32_t)(cursor - r->ring->mapped - area);
}

void rings_run(struct rings *r, uint32_t id, const void *data, size_t size)
{
	const struct vt_ring_buffer *b = current(r);

	if (used(r, r->ring->ids_next, b->ids_offset) + 2 * sizeof(id) > RINGS_IDS ||
	    used(r, r->ring->data_next, b->data_offset) + size > RINGS_DATA)
		rings_flush(r);
	if (size)
		put(r, &r->ring->data_next, data, size);
	put(r, &r->ring->ids_next, &id, sizeof(id));
	end_ids(r);
}

void rings_event(struct rings *r, unsigned type, int32_t tid, const void *head, size_t head_size,
		 const void *more, size_t more_size)
{
	struct vt_ring_event e = {.type = (uint16_t)type, .tid = tid};
	struct vt_ring_buffer *b = current(r);
	uint8_t *to;

	e.size = (uint32_t)((sizeof(e) + head_size + more_size + 7) / 8 * 8);
	if (b->events + e.size > RINGS_EVENTS) {
		rings_flush(r);
		b = current(r);
	}
	e.ids = used(r, r->ring->ids_next, b->ids_offset);
	e.data = used(r, r->ring->data_next, b->data_offset);
	to = (uint8_t *)r->ring + b->events_offset + b->events;
	memcpy(to, &e, sizeof(e));
	if (head_size)
		memcpy(to + sizeof(e), head, head_size);
	if (more_size)
		memcpy(to + sizeof(e) + head_size, more, more_size);
	b->events += e.size;
}

void rings_number(struct rings *r, unsigned type, int32_t tid, int64_t number)
{
	struct vt_ring_number n = {number};

	rings_event(r, type, tid, &n, sizeof(n), NULL, 0);
}

void rings_start(struct rings *r, int32_t ppid, unsigned forked, const char *name)
{
	struct vt_ring_start s = {
		.ppid = ppid, .forked = forked, .name_length = (uint32_t)strlen(name)};

	rings_event(r, VT_RING_START, r->ring->pid, &s, sizeof(s), name, s.name_length);
}

uint32_t rings_data_size(const uint64_t *slots, uint32_t nslots)
{
	uint32_t size = 0, i;

	for (i = 0; i < nslots; i++)
		size += slots[i] >> 32 & 0xffff;
	return size;
}

void rings_block(struct rings *r, uint32_t id, uint32_t ninsns, const uint64_t *slots,
		 uint32_t nslots)
{
	uint8_t more[2 * 1024 + 1024 * sizeof(*slots)];
	struct vt_ring_block b = {
		.addr = 0x1000ull * id,
		.id = id,
		.size = ninsns,
		.ninsns = (uint16_t)ninsns,
		.nslots = (uint16_t)nslots,
		.data_size = rings_data_size(slots, nslots),
	};
	size_t at = nslots * sizeof(*slots);

	if (at)
		memcpy(more, slots, at);
	memset(more + at, 1, ninsns);
	memset(more + at + ninsns, 0x90, ninsns);
	rings_event(r, VT_RING_BLOCK, r->tid, &b, sizeof(b), more, at + 2 * (size_t)ninsns);
}
