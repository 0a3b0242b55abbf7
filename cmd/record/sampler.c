/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* syscall(): libc has no function for perf_event_open(2) */

#include "cmd/record/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Pages of samples: 8192 of them with pages of 4 KB, within what any user may lock by default. */
#define RING_PAGES 32

int sampler_open(struct sampler *s, const struct probe *m, pid_t pid, uint64_t period,
		 struct vt_error *err)
{
	struct perf_event_attr a = {
		.type = m->cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = m->cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(a),
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
		.precise_ip = m->precise_level & 3,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*s = (struct sampler){.size = RING_PAGES * page};
	s->fd = (int)syscall(SYS_perf_event_open, &a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0)
		return vt_error_errno(err, VT_E_SYSTEM, errno, "perf_event_open");
	s->ring = mmap(NULL, s->size + page, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->ring == MAP_FAILED) {
		s->ring = NULL;
		return vt_error_errno(err, VT_E_SYSTEM, errno, "room for samples");
	}
	return 0;
}

void sampler_close(struct sampler *s)
{
	if (s->ring)
		munmap(s->ring, s->size + (size_t)sysconf(_SC_PAGESIZE));
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct sampler){.fd = -1};
}

bool sampler_start(struct sampler *s)
{
	return ioctl(s->fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

void sampler_stop(struct sampler *s)
{
	ioctl(s->fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* Records are of whole words, so that none is divided by the ring's end. */
static uint64_t read_word(const struct sampler *s, uint64_t at)
{
	const char *data = (const char *)s->ring + sysconf(_SC_PAGESIZE);
	uint64_t v;

	memcpy(&v, data + at % s->size, sizeof(v));
	return v;
}

void sampler_take(struct sampler *s, sampler_fn *fn, void *arg)
{
	struct perf_event_mmap_page *page = s->ring;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = page->data_tail, word;
	struct perf_event_header h;

	for (; at + sizeof(h) <= head; at += h.size) {
		word = read_word(s, at);
		memcpy(&h, &word, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - at)
			break;
		if (h.type == PERF_RECORD_SAMPLE && h.size >= 16)
			fn(arg, read_word(s, at + 8));
		else if (h.type == PERF_RECORD_LOST && h.size >= 24)
			s->lost += read_word(s, at + 16);
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}
