/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* syscall(): libc has no function for perf_event_open(2) */

#include "cmd/record/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Pages of records of a processor, within what any user may lock by default. */
#define RING_PAGES 32

#define RECORD_MAX 65536
#define IDS_SIZE   32 /* pid and tid, time, cpu, the event's id */

struct side_ring {
	int fd;
	void *map; /* NULL: none */
};

struct sideband {
	size_t nrings;
	size_t size; /* of a ring's data */
	size_t page;
	uint8_t record[RECORD_MAX];
	struct side_ring rings[];
};

static int open_side_event(pid_t pid, int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(a),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_IDENTIFIER,
		.disabled = pid >= 0,
		.inherit = pid >= 0,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.mmap_data = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.enable_on_exec = pid >= 0,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A processor that is not online has no ring. */
static int open_side_ring(struct sideband *s, pid_t pid, int cpu, struct vt_error *err)
{
	struct side_ring *r = &s->rings[s->nrings];

	r->fd = open_side_event(pid, cpu);
	if (r->fd < 0 && errno == ENODEV)
		return 0;
	if (r->fd < 0)
		return vt_error_errno(err, VT_E_SYSTEM, errno, "perf_event_open");
	s->nrings++;
	r->map = mmap(NULL, s->size + s->page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->map != MAP_FAILED)
		return 0;
	r->map = NULL;
	return vt_error_errno(err, VT_E_SYSTEM, errno, "room for records of the kernel");
}

struct sideband *sideband_open(pid_t pid, struct vt_error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), cpu;
	struct sideband *s = calloc(1, sizeof(*s) + (size_t)cpus * sizeof(s->rings[0]));

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	s->page = (size_t)sysconf(_SC_PAGESIZE);
	s->size = RING_PAGES * s->page;
	for (cpu = 0; cpu < cpus; cpu++) {
		if (open_side_ring(s, pid, (int)cpu, err) < 0) {
			sideband_close(s);
			return NULL;
		}
	}
	return s;
}

void sideband_close(struct sideband *s)
{
	size_t i;

	for (i = 0; s && i < s->nrings; i++) {
		if (s->rings[i].map)
			munmap(s->rings[i].map, s->size + s->page);
		close(s->rings[i].fd);
	}
	free(s);
}

/* Copies bytes out of a ring, which may be divided by its end. */
static void copy_out(const struct sideband *s, const struct side_ring *r, uint64_t at, void *to,
		     size_t size)
{
	const uint8_t *data = (const uint8_t *)r->map + s->page;
	size_t from = (size_t)(at % s->size), first = s->size - from;

	if (first > size)
		first = size;
	memcpy(to, data + from, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

static int deliver(const struct sideband *s, const struct perf_event_header *h, sideband_fn *fn,
		   void *arg, struct vt_error *err)
{
	struct sideband_record rec = {
		.type = h->type,
		.misc = h->misc,
		.payload = s->record + sizeof(*h),
		.size = h->size - sizeof(*h) - IDS_SIZE,
	};
	const uint8_t *ids = rec.payload + rec.size;

	memcpy(&rec.id.pid, ids, 4);
	memcpy(&rec.id.tid, ids + 4, 4);
	memcpy(&rec.id.time, ids + 8, 8);
	memcpy(&rec.id.cpu, ids + 16, 4);
	return fn(arg, &rec, err);
}

static int read_side_ring(struct sideband *s, struct side_ring *r, sideband_fn *fn, void *arg,
			  struct vt_error *err)
{
	struct perf_event_mmap_page *page = r->map;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = page->data_tail;
	struct perf_event_header h;
	int rc = 0;

	for (; rc >= 0 && head - at >= sizeof(h); at += h.size) {
		copy_out(s, r, at, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - at)
			break;
		copy_out(s, r, at, s->record, h.size);
		if (h.size >= sizeof(h) + IDS_SIZE)
			rc = deliver(s, &h, fn, arg, err);
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return rc;
}

int sideband_read(struct sideband *s, sideband_fn *fn, void *arg, struct vt_error *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < s->nrings && rc >= 0; i++)
		rc = read_side_ring(s, &s->rings[i], fn, arg, err);
	return rc < 0 ? rc : 0;
}
