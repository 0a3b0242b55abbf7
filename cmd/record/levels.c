/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/levels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "cmd/agent/timed.h"

#define LINE	 64
#define TIMED	 2000 /* loads of a level */
#define TOGETHER 20   /* of which so many in a row */
#define BETWEEN	 7    /* loads that are not timed, before each that is */
#define MEMORY	 (VT_LEVELS_MAX - 1)

/* The sizes where the C library cannot tell them. */
#define L1_SIZE (32u << 10)
#define L2_SIZE (512u << 10)

/* A ring of lines in random order, each with the address of the next, and what is read last. */
struct ring {
	void **lines;
	size_t count;
	void **at;
};

/* A random order of one cycle: Sattolo, Information Processing Letters 22 (1986). */
static int make_ring(struct ring *r, size_t size, struct vt_error *err)
{
	const size_t words = LINE / sizeof(void *);
	struct vt_rng rng;
	size_t i, k;

	r->count = size / LINE;
	r->lines = r->count ? aligned_alloc(LINE, r->count * LINE) : NULL;
	if (!r->lines)
		return vt_error_nomem(err);
	vt_rng_init(&rng, 1);
	for (i = 0; i < r->count; i++)
		r->lines[words * i] = &r->lines[words * i];
	for (i = r->count - 1; i > 0; i--) {
		void *next = r->lines[words * i];

		k = (size_t)vt_rng_below(&rng, i);
		r->lines[words * i] = r->lines[words * k];
		r->lines[words * k] = next;
	}
	r->at = r->lines;
	return 0;
}

static void follow_ring(struct ring *r, size_t loads)
{
	void **at = r->at;

	while (loads--)
		at = *(void **volatile *)at;
	r->at = at;
}

/* Reads lines of another buffer, twice as large as a cache: it has no others then. */
static void read_through(const uint8_t *buffer, size_t size)
{
	size_t at;

	for (at = 0; buffer && at < size; at += LINE)
		(void)*(const volatile uint8_t *)(buffer + at);
}

/* How the loads of a level come to miss what is nearer. */
struct way {
	bool flush;	      /* from all caches */
	const uint8_t *other; /* by reading these, or NULL */
	size_t other_size;
};

/*
 * Times loads one after another, each with others before it; or where something is read in between,
 * those that were read just before that.
 */
static void time_ring(struct ring *r, const struct way *way, struct vt_level_times *times)
{
	void **from;
	unsigned i;

	while (times->count < TIMED) {
		from = r->at;
		follow_ring(r, way->other ? TOGETHER * (BETWEEN + 1) : 0);
		read_through(way->other, way->other_size);
		r->at = from;
		for (i = 0; i < TOGETHER; i++) {
			follow_ring(r, BETWEEN);
			if (way->flush)
				__asm__ volatile("clflush (%0)\n\tmfence"
						 :
						 : "r"(r->at)
						 : "memory");
			times->ticks[times->count++] = agent_time_byte(r->at);
			follow_ring(r, 1);
		}
	}
}

static int time_level(struct vt_level_times *times, size_t size, const struct way *way,
		      struct vt_error *err)
{
	struct ring r = {0};

	times->ticks = calloc(TIMED, sizeof(*times->ticks));
	if (!times->ticks)
		return vt_error_nomem(err);
	if (make_ring(&r, size, err) < 0)
		return -VT_E_NOMEM;
	follow_ring(&r, 2 * r.count);
	time_ring(&r, way, times);
	free(r.lines);
	return 0;
}

static uint32_t time_clock(void)
{
	uint64_t sum = 0;
	unsigned i;

	/* Ticks that come in steps hide a part of one; an interrupt is no part of it. */
	for (i = 0; i < TIMED;) {
		uint32_t ticks = agent_time_nothing();

		if (ticks > 1000)
			continue;
		sum += ticks;
		i++;
	}
	return (uint32_t)((sum + TIMED / 2) / TIMED);
}

static size_t cache_size(int name, size_t otherwise)
{
	long size = sysconf(name);

	return size > 0 ? (size_t)size : otherwise;
}

/* Of the third cache only what has just left the second: others may share it, and want room. */
static int time_third(struct vt_level_times *times, size_t l2, struct vt_error *err)
{
	uint8_t *other = malloc(2 * l2);
	const struct way way = {.other = other, .other_size = 2 * l2};
	int code;

	if (!other)
		return vt_error_nomem(err);
	memset(other, 1, 2 * l2);
	code = time_level(times, l2, &way, err);
	free(other);
	return code;
}

/* Half of a cache is in it. */
static int time_levels(struct vt_level_times times[VT_LEVELS_MAX], struct vt_error *err)
{
	size_t l1 = cache_size(_SC_LEVEL1_DCACHE_SIZE, L1_SIZE);
	size_t l2 = cache_size(_SC_LEVEL2_CACHE_SIZE, L2_SIZE);
	size_t l3 = cache_size(_SC_LEVEL3_CACHE_SIZE, 0);
	const struct way straight = {0}, flushed = {.flush = true};

	if (time_level(&times[0], l1 / 2, &straight, err) < 0 ||
	    time_level(&times[1], l2 / 2, &straight, err) < 0 ||
	    (l3 > 4 * l2 && time_third(&times[2], l2, err) < 0))
		return -VT_E_NOMEM;
	return time_level(&times[MEMORY], l2, &flushed, err);
}

int levels_measure(struct levels *l, struct vt_error *err)
{
	struct vt_level_times times[VT_LEVELS_MAX] = {{NULL, 0}};
	int code = time_levels(times, err);
	size_t i, k;

	*l = (struct levels){.clock = time_clock()};
	for (i = 0; i < VT_LEVELS_MAX; i++)
		for (k = 0; k < times[i].count; k++)
			times[i].ticks[k] = levels_net(l, times[i].ticks[k]);
	if (code == 0)
		l->count = vt_levels_find(times, l->classes);
	for (i = 0; i < VT_LEVELS_MAX; i++)
		free(times[i].ticks);
	return code;
}

uint32_t levels_net(const struct levels *l, uint64_t measured)
{
	uint64_t net = measured > l->clock ? measured - l->clock : 1;

	return net < UINT32_MAX ? (uint32_t)net : UINT32_MAX - 1;
}

/* union perf_mem_data_src of linux/perf_event.h: a load, hits of levels, nothing known of others.
 */
uint64_t levels_source(const struct levels *l, uint32_t ticks)
{
	static const uint8_t bits[VT_LEVELS_MAX] = {3, 5, 6,
						    7}; /* PERF_MEM_LVL_L1, L2, L3, LOC_RAM */
	const struct vt_level_class *c = vt_levels_class(l->classes, l->count, ticks);
	uint64_t level = 1 << 1; /* PERF_MEM_LVL_HIT */
	unsigned i;

	for (i = 0; i < VT_LEVELS_MAX; i++)
		if (c->levels >> i & 1)
			level |= UINT64_C(1) << bits[i];
	return UINT64_C(1) << 1 | level << 5 | UINT64_C(1) << 19 | UINT64_C(1) << 24 |
	       UINT64_C(1) << 26;
}

void levels_name(const struct levels *l, struct vt_buf *text)
{
	static const char *const names[VT_LEVELS_MAX] = {"L1", "L2", "L3", "memory"};
	const char *between;
	unsigned k;
	size_t i;

	for (i = 0; i < l->count; i++) {
		const struct vt_level_class *c = &l->classes[i];

		for (k = 0, between = i ? " " : ""; k < VT_LEVELS_MAX; k++) {
			if (!(c->levels >> k & 1))
				continue;
			vt_buf_printf(text, "%s%s", between, names[k]);
			between = "/";
		}
		if (c->end != UINT32_MAX)
			vt_buf_printf(text, "<%" PRIu32, c->end);
	}
}
