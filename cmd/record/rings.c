/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* More than any record has; see WALK_LINES_MAX. */
#define RECORD_MAX (64u << 10)

/*
 * Rings for a processor: a handler may be interrupted for those of other threads, which many
 * threads that are made to wait at once do.
 */
#define RINGS_EACH  4
#define RINGS_LEAST 32

/* How often a process must be looked for in vain: it may have its number in another namespace. */
#define DEAD_LOOKS 10

static uint64_t frames_at(const struct rings *r)
{
	return AGENT_PAGE * (uint64_t)(1 + r->nrings) + (uint64_t)r->nrings * r->ring_size;
}

/*
 * Gives the file all its room, or less where there is little: a program that writes where a file
 * system has no room is ended.  0 or an errno.
 */
static int reserve_file(struct rings *r, int fd)
{
	int code;

	do {
		r->size = frames_at(r) + sizeof(struct agent_frames) * AGENT_BLOCKS;
		code = posix_fallocate(fd, 0, (off_t)r->size);
	} while (code == ENOSPC && ftruncate(fd, 0) == 0 && (r->ring_size /= 2) >= RECORD_MAX);
	return code;
}

int rings_open(struct rings *r, int fd, struct vt_error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t n = (uint64_t)(cpus > 0 ? cpus : 1) * RINGS_EACH;
	int code;
	void *p;

	*r = (struct rings){.ring_size = RINGS_SIZE};
	n = n < RINGS_LEAST ? RINGS_LEAST : n > AGENT_RINGS ? AGENT_RINGS : n;
	r->nrings = (uint32_t)n;
	r->record = malloc(RECORD_MAX);
	if (!r->record)
		return vt_error_nomem(err);
	code = reserve_file(r, fd);
	if (code)
		return vt_error_errno(err, VT_E_SYSTEM, code, "shared memory");
	p = mmap(NULL, (size_t)r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return vt_error_errno(err, VT_E_SYSTEM, errno, "shared memory");
	r->shared = p;
	r->frames = (struct agent_frames *)((uint8_t *)p + frames_at(r));
	r->shared->nrings = r->nrings;
	r->shared->ring_size = r->ring_size;
	r->shared->magic = AGENT_MAGIC;
	return 0;
}

void rings_close(struct rings *r)
{
	if (r->shared)
		munmap(r->shared, (size_t)r->size);
	free(r->record);
	*r = (struct rings){0};
}

static struct agent_ring *ring_at(const struct rings *r, uint32_t i)
{
	return (struct agent_ring *)((uint8_t *)r->shared + AGENT_PAGE * (size_t)(1 + i));
}

/* Whether a sample has room for the arrays that its counts ask for; their reader checks the bytes.
 */
static bool has_arrays(const struct agent_sample *rec)
{
	return rec->head.size >= sizeof(*rec) && rec->values.nstate <= VT_VALUE_SAMPLE_NSTATE &&
	       rec->head.size - sizeof(*rec) >=
		       16 * rec->values.nstate + 16 * (uint64_t)rec->values.nlines;
}

static bool is_right_size(const struct agent_record *rec)
{
	if (rec->type == AGENT_LOAD)
		return rec->size == sizeof(struct agent_load);
	if (rec->type != AGENT_SAMPLE && rec->type != AGENT_STEP)
		return rec->size == sizeof(*rec);
	return has_arrays((const struct agent_sample *)rec);
}

/* Copies the record at a place, whose bytes may change meanwhile, and checks the copy. */
static const struct agent_record *take_record(struct rings *r, const uint8_t *at, uint64_t left)
{
	struct agent_record *rec = (struct agent_record *)r->record;
	uint32_t head[2];

	if (left < sizeof(head))
		return NULL;
	memcpy(head, at, sizeof(head));
	if (head[0] < sizeof(head) || head[0] % 8 || head[0] > left)
		return NULL;
	if (head[1] == AGENT_PAD) {
		memcpy(rec, head, sizeof(head));
		return rec;
	}
	if (head[0] < sizeof(*rec) || head[0] > RECORD_MAX)
		return NULL;
	memcpy(rec, at, head[0]);
	rec->size = head[0];
	rec->type = head[1];
	return is_right_size(rec) ? rec : NULL;
}

/* Nothing behind a contradiction can be found again: what there was is passed over. */
static int read_ring(struct rings *r, uint32_t i, rings_fn *fn, void *arg, struct vt_error *err)
{
	struct agent_ring *ring = ring_at(r, i);
	const uint8_t *data = (const uint8_t *)r->shared + AGENT_PAGE * (size_t)(1 + r->nrings) +
			      r->ring_size * (size_t)i;
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = ring->tail;
	int rc = 0;

	if (head - tail > r->ring_size)
		r->damaged++;
	while (rc >= 0 && head != tail && head - tail <= r->ring_size) {
		uint64_t at = tail & (r->ring_size - 1), rest = r->ring_size - at;
		const struct agent_record *rec =
			take_record(r, data + at, rest < head - tail ? rest : head - tail);

		if (!rec) {
			r->damaged++;
			break;
		}
		tail += rec->size;
		if (rec->type != AGENT_PAD)
			rc = fn(arg, rec, err);
	}
	__atomic_store_n(&ring->tail, head, __ATOMIC_RELEASE);
	return rc;
}

int rings_read(struct rings *r, rings_fn *fn, void *arg, struct vt_error *err)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < r->nrings && rc >= 0; i++)
		rc = read_ring(r, i, fn, arg, err);
	return rc < 0 ? rc : 0;
}

void rings_free_dead(struct rings *r)
{
	uint32_t i, owner;

	for (i = 0; i < r->nrings; i++) {
		owner = __atomic_load_n(&ring_at(r, i)->owner, __ATOMIC_RELAXED);
		if (owner != r->dead[i].owner)
			r->dead[i].looks = 0;
		r->dead[i].owner = owner;
		if (!owner || owner > INT32_MAX || kill((pid_t)owner, 0) == 0 || errno != ESRCH ||
		    ++r->dead[i].looks < DEAD_LOOKS)
			continue;
		__atomic_compare_exchange_n(&ring_at(r, i)->owner, &owner, 0, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}

void rings_sum(const struct rings *r, uint64_t *ticks, uint64_t *insns)
{
	uint32_t i;

	*ticks = *insns = 0;
	for (i = 0; i < r->nrings; i++) {
		*ticks += ring_at(r, i)->ticks;
		*insns += ring_at(r, i)->insns;
	}
}

uint64_t rings_far(const struct rings *r)
{
	uint64_t far = 0;
	uint32_t i;

	for (i = 0; i < r->nrings; i++)
		far += ring_at(r, i)->far;
	return far;
}

void rings_stop(struct rings *r)
{
	__atomic_store_n(&r->shared->stop, 1, __ATOMIC_RELAXED);
}
