/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* syscall(): libc has no function for futex(2) */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/recording/session.h"

/* True if an area is in the file, after the header, and aligned. */
static bool check_ring_area(const struct rc_ring *ring, uint64_t offset, uint64_t size)
{
	return offset % 8 == 0 && offset >= sizeof(struct vt_ring) && offset <= ring->size &&
	       size <= ring->size - offset;
}

static bool read_ring_header(struct rc_ring *ring)
{
	struct vt_ring h;
	uint32_t i;

	memcpy(&h, ring->base, sizeof(h));
	if (h.magic != VT_RING_MAGIC || !h.nbuffers || h.nbuffers > VT_RING_BUFFERS)
		return false;
	ring->nbuffers = h.nbuffers;
	ring->mapped = h.mapped;
	for (i = 0; i < h.nbuffers; i++) {
		const struct vt_ring_buffer *b = &h.buffers[i];

		if (!check_ring_area(ring, b->ids_offset, b->ids_size) ||
		    !check_ring_area(ring, b->data_offset, b->data_size) ||
		    !check_ring_area(ring, b->events_offset, b->events_size))
			return false;
		ring->buffers[i].ids = b->ids_offset;
		ring->buffers[i].data = b->data_offset;
		ring->buffers[i].events = b->events_offset;
		ring->buffers[i].ids_size = b->ids_size;
		ring->buffers[i].data_size = b->data_size;
		ring->buffers[i].events_size = b->events_size;
	}
	return true;
}

static int map_ring_file(struct rc_ring *ring, int fd, const char *name, struct vt_error *err)
{
	struct stat st;
	void *base;

	if (fstat(fd, &st) < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", name);
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(struct vt_ring) ||
	    st.st_size > VT_RING_MAX_SIZE)
		return vt_error_set(err, VT_E_DAMAGED, "%s: no ring of that size", name);
	base = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return vt_error_errno(err, VT_E_READ, errno, "%s", name);
	ring->base = base;
	ring->size = (size_t)st.st_size;
	if (read_ring_header(ring))
		return 0;
	vti_rc_ring_unmap(ring);
	return vt_error_set(err, VT_E_DAMAGED, "%s: bad header", name);
}

int vti_rc_ring_map(struct rc_ring *ring, int dirfd, const char *name, struct vt_error *err)
{
	int fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int rc;

	memset(ring, 0, sizeof(*ring));
	if (fd < 0)
		return vt_error_errno(err, VT_E_READ, errno, "%s", name);
	rc = map_ring_file(ring, fd, name, err);
	close(fd);
	return rc;
}

void vti_rc_ring_unmap(struct rc_ring *ring)
{
	if (ring->base)
		munmap(ring->base, ring->size);
	ring->base = NULL;
}

static struct vt_ring_buffer *get_ring_buffer(const struct rc_ring *ring, uint32_t index)
{
	/* A mapping is aligned to a page. */
	return &((struct vt_ring *)(void *)ring->base)->buffers[index];
}

static uint32_t load_buffer_state(struct vt_ring_buffer *b)
{
	return atomic_load_explicit((_Atomic uint32_t *)&b->state, memory_order_acquire);
}

/* Sets the areas of a buffer, and the sizes used that `b` has.  False: the sizes are false. */
static bool fill_ring_content(const struct rc_ring *ring, uint32_t index,
			      const struct vt_ring_buffer *b, struct rc_filled *out)
{
	*out = (struct rc_filled){
		.tid = b->tid,
		.time = b->time,
		.ids = ring->base + ring->buffers[index].ids,
		.data = ring->base + ring->buffers[index].data,
		.events = ring->base + ring->buffers[index].events,
		.ids_size = b->ids,
		.data_size = b->data,
		.events_size = b->events,
	};
	return b->ids <= ring->buffers[index].ids_size && b->ids % 4 == 0 &&
	       b->data <= ring->buffers[index].data_size &&
	       b->events <= ring->buffers[index].events_size;
}

int vti_rc_ring_full(const struct rc_ring *ring, uint64_t number, struct rc_filled *out)
{
	uint32_t index = (uint32_t)(number % ring->nbuffers);
	struct vt_ring_buffer *at = get_ring_buffer(ring, index), b;

	if (load_buffer_state(at) != VT_RING_FULL)
		return 0;
	b = *at;
	return b.number == number && fill_ring_content(ring, index, &b, out) ? 1 : -1;
}

/* Converts a cursor of the recorder to the bytes used of an area.  False: it is outside. */
static bool convert_ring_cursor(const struct rc_ring *ring, uint64_t cursor, size_t area,
				uint32_t size, uint32_t *used)
{
	uint64_t n = cursor - ring->mapped - area;

	*used = (uint32_t)n;
	return n <= size;
}

/*
 * The end of the executed blocks in a dead recorder's buffer.  The recorder updates its cursor only
 * when it stops; after that it may have written more ids, up to the first 0.  The block of the last
 * id may not have been executed completely, so it is left out.
 */
static uint32_t find_ids_end(const struct rc_ring *ring, uint32_t index, uint32_t used)
{
	const uint8_t *ids = ring->base + ring->buffers[index].ids;
	uint32_t end = used, id = 1;

	while (end + sizeof(id) <= ring->buffers[index].ids_size && id) {
		memcpy(&id, ids + end, sizeof(id));
		end += id ? sizeof(id) : 0;
	}
	return end > used ? end - (uint32_t)sizeof(id) : used;
}

int vti_rc_ring_current(const struct rc_ring *ring, uint64_t number, struct rc_filled *out)
{
	uint32_t index = (uint32_t)(number % ring->nbuffers);
	struct vt_ring_buffer b = *get_ring_buffer(ring, index);
	struct vt_ring h;

	memcpy(&h, ring->base, sizeof(h));
	if (b.state != VT_RING_FILLING || h.current != index)
		return 0;
	if (b.number != number ||
	    !convert_ring_cursor(ring, h.ids_next, ring->buffers[index].ids,
				 ring->buffers[index].ids_size, &b.ids) ||
	    !convert_ring_cursor(ring, h.data_next, ring->buffers[index].data,
				 ring->buffers[index].data_size, &b.data))
		return -1;
	b.ids = find_ids_end(ring, index, b.ids & ~3u);
	b.data = ring->buffers[index].data_size; /* the ids determine how much is used */
	if (!fill_ring_content(ring, index, &b, out))
		return -1;
	out->cut = true;
	return 1;
}

void vti_rc_ring_release(const struct rc_ring *ring, uint32_t index)
{
	struct vt_ring_buffer *b = get_ring_buffer(ring, index);

	atomic_store_explicit((_Atomic uint32_t *)&b->state, VT_RING_FREE, memory_order_release);
	syscall(SYS_futex, &b->state, FUTEX_WAKE, INT_MAX);
}
