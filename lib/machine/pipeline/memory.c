/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/memory.h"

#include <stdlib.h>
#include <string.h>

/* What crosses more lines than this (no instruction's access does) counts as if it did not. */
#define MAX_LINES 128

/*
 * One line of a cache.  It is there from the moment it is asked for, but its data only from `ready`
 * on: who comes before then waits for the rest, and missed what the first one did.
 */
struct line {
	uint64_t ready;
	uint32_t took; /* cycles */
	uint32_t missed;
};

#define NO_LINE UINT64_MAX

struct miss {
	uint64_t asked; /* when the access began that wanted it */
	uint64_t end;
};

#define WIDE   8
#define PLACES 256 /* a power of 2 */

struct cache {
	uint32_t sets; /* 0: there is no such cache */
	uint32_t ways;
	uint32_t shift;	  /* log2 of the line's size */
	uint32_t mask;	  /* sets - 1 where that is a power of 2, else 0 */
	uint32_t latency; /* until data can be used, if it hits */
	uint32_t bit;	  /* what missing it is called; not of TLBs */
	/* Address divided by the line's size; of each set, the most recently used first. */
	uint64_t *number;
	struct line *line; /* in the same order; of TLBs NULL */
	/*
	 * In a single wide set nothing is moved: of each place, when it was used last, and of
	 * each number's last bits, the place where such a one was found.
	 */
	uint64_t *used;	 /* NULL: that set is not wide, or there are more */
	uint64_t clock;	 /* uses so far */
	uint32_t latest; /* the place used last */
	uint32_t places[PLACES];
	uint32_t nbusy;
	struct miss *busy; /* each that can be under way */
};

struct vt_simmem {
	const struct vt_core *m;
	struct cache icache;
	struct cache dcache;
	struct cache l2;
	struct cache l3;
	struct cache itlb;
	struct cache dtlb;
	struct cache stlb;
	uint64_t horizon;	 /* cycles that nothing is under way for longer than */
	vt_simmem_miss_fn *miss; /* NULL: misses are not told */
	void *miss_arg;
	bool brought;	  /* the access at hand brought a line into the first data cache, */
	uint64_t evicted; /* in the place of this one, or NO_LINE */
	/* The write buffer: a ring, the oldest first. */
	uint32_t first;
	uint32_t held;
	uint64_t written; /* when the latest that went in will be out */
	struct waiting {
		uint64_t number;
		uint64_t begin; /* of writing it out */
		uint64_t end;
	} * buffer;
};

/* ---- set-associative tables ---- */

static uint32_t log2_of(uint32_t n)
{
	uint32_t i = 0;

	while (n >>= 1)
		i++;
	return i;
}

static uint32_t count_ways(uint32_t lines, uint32_t ways)
{
	return ways == 0 ? 1 : ways > lines ? lines : ways;
}

static uint32_t count_lines(const struct vt_cache_shape *shape)
{
	return shape->size / (shape->line < 2 ? 2 : shape->line);
}

uint32_t vt_simmem_sets(const struct vt_cache_shape *shape)
{
	uint32_t lines = count_lines(shape);

	return lines ? lines / count_ways(lines, shape->ways) : 0;
}

static bool cache_init(struct cache *c, uint32_t lines, uint32_t ways, uint32_t line)
{
	size_t n;

	if (lines == 0)
		return true;
	c->ways = count_ways(lines, ways);
	c->sets = lines / c->ways;
	c->mask = (c->sets & (c->sets - 1)) == 0 ? c->sets - 1 : 0;
	/* With lines of two bytes at least, no line's number is NO_LINE. */
	c->shift = line < 2 ? 1 : log2_of(line);
	n = (size_t)c->sets * c->ways;
	c->number = malloc(n * sizeof(*c->number));
	if (c->number)
		memset(c->number, 0xff, n * sizeof(*c->number));
	return c->number;
}

static bool cache_of(struct cache *c, const struct vt_cache_shape *shape, uint32_t bit)
{
	c->latency = shape->size ? shape->latency : 0;
	c->bit = bit;
	if (!cache_init(c, count_lines(shape), shape->ways, shape->line))
		return false;
	c->nbusy = c->sets ? shape->misses : 0;
	c->busy = c->nbusy ? calloc(c->nbusy, sizeof(*c->busy)) : NULL;
	c->line = c->sets ? calloc((size_t)c->sets * c->ways, sizeof(*c->line)) : NULL;
	return (!c->nbusy || c->busy) && (!c->sets || c->line);
}

static bool tlb_of(struct cache *c, const struct vt_tlb_shape *shape)
{
	c->latency = shape->latency;
	if (!cache_init(c, shape->entries, shape->ways, shape->page))
		return false;
	if (c->sets != 1 || c->ways <= WIDE)
		return true;
	c->used = calloc(c->ways, sizeof(*c->used));
	return c->used;
}

static void cache_done(struct cache *c)
{
	free(c->number);
	free(c->line);
	free(c->used);
	free(c->busy);
}

/* The place of a set's first line. */
static inline size_t set_of(const struct cache *c, uint64_t number)
{
	uint64_t set = c->mask || c->sets == 1 ? number & c->mask : number % c->sets;

	return (size_t)set * c->ways;
}

/* Puts a line of a set, which is at its i-th place or not there at all, at the first one. */
static void move_up(const struct cache *c, size_t set, uint32_t i, uint64_t number,
		    struct line line)
{
	uint64_t *n = c->number + set;
	struct line *l;
	uint32_t k;

	for (k = i; k; k--)
		n[k] = n[k - 1];
	*n = number;
	if (!c->line)
		return;
	l = c->line + set;
	for (k = i; k; k--)
		l[k] = l[k - 1];
	*l = line;
}

/* Whether the line of this number is there: then it is now the first of its set. */
static bool find_line(const struct cache *c, uint64_t number)
{
	size_t set = set_of(c, number);
	const uint64_t *n = c->number + set;
	const struct line none = {0};
	uint32_t i;

	if (*n == number)
		return true;
	for (i = 1; i < c->ways; i++)
		if (n[i] == number) {
			move_up(c, set, i, number, c->line ? c->line[set + i] : none);
			return true;
		}
	return false;
}

/* Puts a line in the place of the least recently used. */
static void insert_line(const struct cache *c, uint64_t number, struct line line)
{
	move_up(c, set_of(c, number), c->ways - 1, number, line);
}

/* ---- TLBs ---- */

static bool find_wide(struct cache *c, uint64_t number)
{
	uint32_t *place = &c->places[number % PLACES], i = *place;

	if (c->number[i] != number) {
		for (i = 0; i < c->ways && c->number[i] != number; i++)
			;
		if (i == c->ways)
			return false;
		*place = i;
	}
	c->used[i] = ++c->clock;
	c->latest = i;
	return true;
}

static void insert_wide(struct cache *c, uint64_t number)
{
	uint32_t i, least = 0;

	for (i = 1; i < c->ways; i++)
		if (c->used[i] < c->used[least])
			least = i;
	c->number[least] = number;
	c->used[least] = ++c->clock;
	c->latest = c->places[number % PLACES] = least;
}

/* Whether the page is known: then it is now the one used last. */
static inline bool tlb_find(struct cache *c, uint64_t page)
{
	if (c->number[c->used ? c->latest : set_of(c, page)] == page)
		return true;
	return c->used ? find_wide(c, page) : find_line(c, page);
}

static void tlb_put(struct cache *c, uint64_t page)
{
	const struct line none = {0};

	if (c->used)
		insert_wide(c, page);
	else
		insert_line(c, page, none);
}

/* ---- the hierarchy ---- */

static uint32_t clip_to_32(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/*
 * Cycles from `cycle` to `until`.  Threads that share a memory have clocks of their own: what one
 * of them has under way further ahead than anything takes was long ago for the other.
 */
static uint64_t get_remaining_cycles(const struct vt_simmem *s, uint64_t until, uint64_t cycle)
{
	return until > cycle && until - cycle <= s->horizon ? until - cycle : 0;
}

/*
 * The place of a miss that begins at *cycle, which becomes later if all are taken.  Accesses out of
 * order come in any order: the miss of a later one is not in its way.
 */
static struct miss *take_miss(const struct vt_simmem *s, struct cache *c, uint64_t *cycle)
{
	struct miss *best = NULL;
	uint64_t wait, least = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < c->nbusy && least; i++) {
		wait = c->busy[i].asked > *cycle ? 0
						 : get_remaining_cycles(s, c->busy[i].end, *cycle);
		if (wait >= least)
			continue;
		least = wait;
		best = &c->busy[i];
	}
	if (best)
		*cycle += least;
	return best;
}

/* When a line that is there can be used by an access at `cycle`. */
static uint64_t await_line(const struct vt_simmem *s, const struct cache *c, struct line *line,
			   uint64_t cycle, uint32_t *missed)
{
	uint64_t wait = get_remaining_cycles(s, line->ready, cycle);

	if (wait <= c->latency)
		return cycle + c->latency;
	*missed |= line->missed;
	if (wait <= line->took)
		return cycle + wait;
	/* Out of order, this access comes first, though it is passed second. */
	line->ready = cycle + line->took;
	return line->ready;
}

/*
 * When the data at `addr` can be used by an access that begins at `cycle`, looked for in `c` and
 * then behind it.  *missed gets the bits of what it was not in.
 */
static uint64_t reach_data(struct vt_simmem *s, struct cache *c, uint64_t cycle, uint64_t addr,
			   uint32_t *missed)
{
	struct cache *next = c == &s->l2 ? &s->l3 : c == &s->l3 ? NULL : &s->l2;
	uint64_t ready, begin = cycle;
	uint64_t number = addr >> c->shift;
	uint32_t below = c->bit;
	struct miss *busy;

	if (c->sets == 0)
		return next ? reach_data(s, next, cycle, addr, missed) : cycle + s->m->memory;
	if (find_line(c, number))
		return await_line(s, c, &c->line[set_of(c, number)], cycle, missed);
	busy = take_miss(s, c, &cycle);
	ready = next ? reach_data(s, next, cycle, addr, &below) : cycle + s->m->memory;
	if (busy)
		*busy = (struct miss){begin, ready};
	if (c == &s->dcache) {
		s->brought = true;
		s->evicted = c->number[set_of(c, number) + c->ways - 1];
	}
	insert_line(c, number, (struct line){ready, clip_to_32(ready - begin), below});
	*missed |= below;
	return ready;
}

/* Cycles for the translation of an address. */
static uint32_t translate_address(struct vt_simmem *s, struct cache *tlb, uint64_t addr,
				  uint32_t *missed)
{
	uint32_t cycles = tlb->latency;

	if (tlb->sets == 0 || tlb_find(tlb, addr >> tlb->shift))
		return 0;
	tlb_put(tlb, addr >> tlb->shift);
	*missed |= VT_MISS_TLB;
	if (s->stlb.sets && !tlb_find(&s->stlb, addr >> s->stlb.shift)) {
		tlb_put(&s->stlb, addr >> s->stlb.shift);
		*missed |= VT_MISS_STLB;
		cycles += s->stlb.latency;
	}
	return cycles;
}

/* The part of an access that lies in one line. */
static struct vt_simmem_access access_line(struct vt_simmem *s, struct cache *cache,
					   struct cache *tlb, uint64_t cycle, uint64_t addr)
{
	struct vt_simmem_access a = {0};
	uint64_t ready;

	a.tlb = translate_address(s, tlb, addr, &a.missed);
	cycle += a.tlb;
	ready = reach_data(s, cache, cycle, addr, &a.missed);
	cycle += cache->latency;
	a.cache = ready > cycle ? clip_to_32(ready - cycle) : 0;
	a.cycles = a.tlb + a.cache;
	return a;
}

static inline struct waiting *write_buffer_at(const struct vt_simmem *s, uint32_t i)
{
	i += s->first;
	return &s->buffer[i < s->m->write_buffer ? i : i - s->m->write_buffer];
}

static inline void buffer_leave(struct vt_simmem *s)
{
	s->first = s->first + 1 < s->m->write_buffer ? s->first + 1 : 0;
	s->held--;
}

/*
 * Room in the write buffer for the line `number`, whose data is in the cache at `ready`.  Stores to
 * a line that waits there go along with it.  Lines are written in order, one at a time.
 */
static uint32_t buffer_store(struct vt_simmem *s, uint64_t cycle, uint64_t number, uint64_t ready)
{
	struct waiting *w;
	uint64_t begin, wait = 0;
	uint32_t i;

	while (s->held && get_remaining_cycles(s, s->buffer[s->first].end, cycle) == 0)
		buffer_leave(s);
	for (i = 0; i < s->held; i++) {
		w = write_buffer_at(s, i);
		if (w->number == number && w->begin > cycle)
			return 0;
	}
	if (s->held == s->m->write_buffer) {
		wait = get_remaining_cycles(s, s->buffer[s->first].end, cycle);
		buffer_leave(s);
	}
	cycle += wait;
	begin = cycle + get_remaining_cycles(s, s->written, cycle);
	w = write_buffer_at(s, s->held++);
	w->number = number;
	w->begin = begin;
	w->end = begin + s->m->drain;
	if (get_remaining_cycles(s, ready, w->end))
		w->end = ready;
	s->written = w->end;
	return clip_to_32(wait);
}

/* Stores hang on the buffer and the TLB alone: the buffer, not the processor, waits for the line.
 */
static struct vt_simmem_access store_line(struct vt_simmem *s, struct cache *cache,
					  struct cache *tlb, uint64_t cycle, uint64_t addr)
{
	struct vt_simmem_access a = access_line(s, cache, tlb, cycle, addr);

	if (s->m->write_buffer) {
		a.buffer = buffer_store(s, cycle + a.tlb, addr >> cache->shift,
					cycle + a.cycles + cache->latency);
		if (a.buffer)
			a.missed |= VT_MISS_BUFFER;
	}
	a.cache = 0;
	a.cycles = a.tlb + a.buffer;
	return a;
}

typedef struct vt_simmem_access access_fn(struct vt_simmem *s, struct cache *cache,
					  struct cache *tlb, uint64_t cycle, uint64_t addr);

static void tell_miss(const struct vt_simmem *s, uint64_t addr, uint64_t size, bool store,
		      const struct vt_simmem_access *a)
{
	const struct cache *c = &s->dcache;
	uint64_t number = addr >> c->shift, left = ((number + 1) << c->shift) - addr;
	struct vt_simmem_miss miss = {.addr = addr,
				      .size = (uint32_t)(size < left ? size : left),
				      .store = store,
				      .brought = s->brought,
				      .set = (uint32_t)(set_of(c, number) / c->ways),
				      .access = *a};

	if (s->brought && s->evicted != NO_LINE) {
		miss.evicts = true;
		miss.evicted = s->evicted << c->shift;
	}
	s->miss(s->miss_arg, &miss);
}

/* An access of `size` bytes, as far as it lies in the line of `addr`. */
static struct vt_simmem_access access_part(struct vt_simmem *s, struct cache *cache,
					   struct cache *tlb, access_fn *one, uint64_t cycle,
					   uint64_t addr, uint64_t size)
{
	struct vt_simmem_access a;

	s->brought = false;
	a = one(s, cache, tlb, cycle, addr);
	if (s->miss && cache == &s->dcache && a.missed & VT_MISS_L1)
		tell_miss(s, addr, size, one == store_line, &a);
	return a;
}

/* An access to however many lines: as long as the slowest takes, but it missed all they missed. */
static struct vt_simmem_access access_all(struct vt_simmem *s, struct cache *cache,
					  struct cache *tlb, access_fn *one, uint64_t cycle,
					  uint64_t addr, uint32_t size)
{
	uint32_t shift = cache->shift ? cache->shift : 6;
	struct vt_simmem_access a = access_part(s, cache, tlb, one, cycle, addr, size), b;
	uint64_t last = addr + (size ? size - 1 : 0);
	uint64_t n, lines, at;
	uint32_t missed;

	if (last < addr)
		last = UINT64_MAX;
	lines = (last >> shift) - (addr >> shift);
	if (lines > MAX_LINES)
		lines = MAX_LINES;
	for (n = 1; n <= lines; n++) {
		at = ((addr >> shift) + n) << shift;
		b = access_part(s, cache, tlb, one, cycle, at, last - at + 1);
		missed = a.missed | b.missed;
		if (b.cycles > a.cycles)
			a = b;
		a.missed = missed;
	}
	return a;
}

/*
 * Nearly all accesses are of this kind: within a line that is the last one of its set that was
 * used and whose data is there, on a page that is known.  They take nothing.
 */
static inline bool at_hand(const struct cache *cache, struct cache *tlb, uint64_t cycle,
			   uint64_t addr, uint32_t size)
{
	uint64_t number = addr >> cache->shift, last = addr + size - (size != 0);

	if (!cache->sets || last >> cache->shift != number)
		return false;
	if (cache->number[set_of(cache, number)] != number ||
	    cache->line[set_of(cache, number)].ready > cycle + cache->latency)
		return false;
	return !tlb->sets || tlb_find(tlb, addr >> tlb->shift);
}

struct vt_simmem_access vt_simmem_fetch(struct vt_simmem *s, uint64_t cycle, uint64_t addr,
					uint32_t size)
{
	const struct vt_simmem_access none = {0};

	if (at_hand(&s->icache, &s->itlb, cycle, addr, size))
		return none;
	return access_all(s, &s->icache, &s->itlb, access_line, cycle, addr, size);
}

struct vt_simmem_access vt_simmem_load(struct vt_simmem *s, uint64_t cycle, uint64_t addr,
				       uint32_t size)
{
	const struct vt_simmem_access none = {0};

	if (at_hand(&s->dcache, &s->dtlb, cycle, addr, size))
		return none;
	return access_all(s, &s->dcache, &s->dtlb, access_line, cycle, addr, size);
}

struct vt_simmem_access vt_simmem_store(struct vt_simmem *s, uint64_t cycle, uint64_t addr,
					uint32_t size)
{
	struct vt_simmem_access a = {0};

	if (!at_hand(&s->dcache, &s->dtlb, cycle, addr, size))
		return access_all(s, &s->dcache, &s->dtlb, store_line, cycle, addr, size);
	if (s->m->write_buffer)
		a.cycles = a.buffer =
			buffer_store(s, cycle, addr >> s->dcache.shift, cycle + s->dcache.latency);
	a.missed = a.buffer ? VT_MISS_BUFFER : 0;
	return a;
}

/* ---- making and freeing ---- */

struct vt_simmem *vt_simmem_new(const struct vt_core *m)
{
	struct vt_simmem *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->m = m;
	/* A queue of misses, each as long as the longest: further ahead nothing can be. */
	s->horizon = 64 * ((uint64_t)m->memory + m->l2.latency + m->l3.latency + m->drain + 1);
	if (!cache_of(&s->icache, &m->icache, VT_MISS_L1) ||
	    !cache_of(&s->dcache, &m->dcache, VT_MISS_L1) ||
	    !cache_of(&s->l2, &m->l2, VT_MISS_L2) || !cache_of(&s->l3, &m->l3, VT_MISS_L3) ||
	    !tlb_of(&s->itlb, &m->itlb) || !tlb_of(&s->dtlb, &m->dtlb) ||
	    !tlb_of(&s->stlb, &m->stlb))
		goto fail;
	if (m->write_buffer) {
		s->buffer = calloc(m->write_buffer, sizeof(*s->buffer));
		if (!s->buffer)
			goto fail;
	}
	return s;
fail:
	vt_simmem_free(s);
	return NULL;
}

void vt_simmem_watch(struct vt_simmem *s, vt_simmem_miss_fn *fn, void *arg)
{
	s->miss = fn;
	s->miss_arg = arg;
}

void vt_simmem_free(struct vt_simmem *s)
{
	if (!s)
		return;
	cache_done(&s->icache);
	cache_done(&s->dcache);
	cache_done(&s->l2);
	cache_done(&s->l3);
	cache_done(&s->itlb);
	cache_done(&s->dtlb);
	cache_done(&s->stlb);
	free(s->buffer);
	free(s);
}
