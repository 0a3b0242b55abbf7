/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/known_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "machine/interp/known_memory_fast.h"

#define PAGE_BITS  VTI_KNOWN_PAGE_BITS
#define PAGE_SIZE  VTI_KNOWN_PAGE
#define LINE_BITS  6
#define PAGE_LINES VTI_KNOWN_LINES
#define PAD	   VTI_KNOWN_PAD

/* Pages are allocated so many at once; there are at least these. */
#define CHUNK_PAGES   32
#define MIN_SLOT_BITS 8

/* A tag is a page's number, and above it the stamp. */
#define NUMBER_BITS (64 - PAGE_BITS)
#define STAMP_MASK  ((UINT32_C(1) << PAGE_BITS) - 1)

/* So many ranges are remembered as gone before they are merged. */
#define MAX_GONE 64

/* What is longer is not forgotten line by line. */
#define SMALL_RANGE (16 * PAGE_SIZE)

struct slot {
	uint64_t number;
	uint32_t stamp; /* in use where it is the memory's */
	uint32_t page;
};

/* From the first to the last byte. */
struct range {
	uint64_t first;
	uint64_t last;
};

struct vt_known_memory {
	struct vti_known_head head;
	vt_known_fill_fn *fill;
	void *arg;
	bool lasting;	/* only this is filled in */
	bool shared;	/* what is stored is not kept */
	uint32_t stamp; /* its tag is never 0: that marks what is free */
	struct slot *slots;
	unsigned slot_bits;
	size_t npages; /* in use */
	size_t max_pages;
	struct vti_known_page **chunks;
	size_t nchunks;
	size_t chunks_cap;
	/* Never to be filled; in order, and apart.  One more for a range that is being added. */
	struct range gone[MAX_GONE + 1];
	size_t ngone;
};

static bool add_page_chunk(struct vt_known_memory *m)
{
	struct vti_known_page *chunk;

	if (!vt_array_grow(&m->chunks, &m->chunks_cap, m->nchunks + 1,
			   sizeof(struct vti_known_page *)))
		return false;
	chunk = malloc(CHUNK_PAGES * sizeof(*chunk));
	if (!chunk)
		return false;
	m->chunks[m->nchunks++] = chunk;
	return true;
}

struct vt_known_memory *vt_known_memory_new(vt_known_fill_fn *fill, void *arg, size_t max_bytes)
{
	struct vt_known_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->fill = fill;
	m->arg = arg;
	m->max_pages = max_bytes / sizeof(struct vti_known_page);
	if (m->max_pages < CHUNK_PAGES)
		m->max_pages = CHUNK_PAGES;
	if (m->max_pages > UINT32_MAX / 4)
		m->max_pages = UINT32_MAX / 4;
	m->slot_bits = MIN_SLOT_BITS;
	m->slots = calloc((size_t)1 << m->slot_bits, sizeof(*m->slots));
	if (!m->slots || !add_page_chunk(m)) {
		vt_known_memory_free(m);
		return NULL;
	}
	vt_known_memory_reset(m);
	return m;
}

void vt_known_memory_free(struct vt_known_memory *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->nchunks; i++)
		free(m->chunks[i]);
	free(m->chunks);
	free(m->slots);
	free(m);
}

/* Gives all pages up, by a stamp that none of them has. */
static void drop_pages(struct vt_known_memory *m)
{
	m->npages = 0;
	m->stamp++;
	if (!(m->stamp & STAMP_MASK)) {
		memset(m->head.cache, 0, sizeof(m->head.cache));
		if (!m->stamp)
			memset(m->slots, 0, sizeof(*m->slots) << m->slot_bits);
		m->stamp++;
	}
	m->head.tag = (uint64_t)(m->stamp & STAMP_MASK) << NUMBER_BITS;
}

void vt_known_memory_reset(struct vt_known_memory *m)
{
	drop_pages(m);
	m->lasting = m->shared = false;
	m->ngone = 0;
}

void vt_known_memory_forget(struct vt_known_memory *m)
{
	drop_pages(m);
	m->lasting = true;
}

void vt_known_memory_share(struct vt_known_memory *m)
{
	vt_known_memory_forget(m);
	m->shared = true;
}

/* The i-th page that is in use. */
static struct vti_known_page *page_at(const struct vt_known_memory *m, size_t i)
{
	return &m->chunks[i / CHUNK_PAGES][i % CHUNK_PAGES];
}

/* The slot of a page, or the free one where it belongs. */
static struct slot *find_page_slot(const struct vt_known_memory *m, uint64_t number)
{
	size_t mask = ((size_t)1 << m->slot_bits) - 1;
	/* 2^64 / golden ratio: Fibonacci hashing, Knuth's The Art of Computer Programming 6.4. */
	size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - m->slot_bits));

	while (m->slots[i].stamp == m->stamp && m->slots[i].number != number)
		i = (i + 1) & mask;
	return &m->slots[i];
}

static bool grow_page_slots(struct vt_known_memory *m)
{
	struct slot *grown = calloc((size_t)2 << m->slot_bits, sizeof(*grown));
	size_t i;

	if (!grown)
		return false;
	free(m->slots);
	m->slots = grown;
	m->slot_bits++;
	for (i = 0; i < m->npages; i++) {
		uint64_t number = page_at(m, i)->number;

		*find_page_slot(m, number) = (struct slot){number, m->stamp, (uint32_t)i};
	}
	return true;
}

static bool has_room(struct vt_known_memory *m)
{
	return m->npages < m->max_pages &&
	       (m->npages < m->nchunks * CHUNK_PAGES || add_page_chunk(m)) &&
	       (m->npages < ((size_t)1 << m->slot_bits) / 2 || grow_page_slots(m));
}

static struct vti_known_page *add_page(struct vt_known_memory *m, uint64_t number)
{
	struct vti_known_page *p;

	/* What was stored would be lost with a page, and must not come back as it was before. */
	if (!has_room(m))
		vt_known_memory_forget(m);
	p = page_at(m, m->npages);
	p->number = number;
	p->present = 0;
	*find_page_slot(m, number) = (struct slot){number, m->stamp, (uint32_t)m->npages++};
	return p;
}

static struct vti_known_page *find_page(struct vt_known_memory *m, uint64_t number)
{
	struct vti_known_cached *c = &m->head.cache[number % VTI_KNOWN_CACHE];
	const struct slot *s;

	if (c->tag == (m->head.tag | number))
		return c->page;
	s = find_page_slot(m, number);
	c->page = s->stamp == m->stamp ? page_at(m, s->page) : add_page(m, number);
	c->tag = m->head.tag | number;
	return c->page;
}

/* The bits `first` to `last` of a line's mask. */
static uint64_t bits_between(unsigned first, unsigned last)
{
	return ~UINT64_C(0) << first & ~UINT64_C(0) >> (VT_KNOWN_LINE - 1 - last);
}

/* Which bytes of the line at `addr` are gone for good. */
static uint64_t gone_of(const struct vt_known_memory *m, uint64_t addr)
{
	uint64_t end = addr + (VT_KNOWN_LINE - 1), mask = 0;
	size_t i;

	for (i = 0; i < m->ngone; i++) {
		const struct range *r = &m->gone[i];

		if (r->first <= end && r->last >= addr)
			mask |= bits_between(r->first > addr ? (unsigned)(r->first - addr) : 0,
					     (unsigned)((r->last < end ? r->last : end) - addr));
	}
	return mask;
}

static void fill_line(struct vt_known_memory *m, struct vti_known_page *p, unsigned line)
{
	uint64_t addr = p->number << PAGE_BITS | (uint64_t)line << LINE_BITS;
	uint64_t known = 0;

	if (m->fill)
		known = m->fill(m->arg, addr, p->bytes + ((size_t)line << LINE_BITS), m->lasting);
	if (m->ngone)
		known &= ~gone_of(m, addr);
	p->known[line] = known;
	p->present |= UINT64_C(1) << line;
}

/* The page that holds `addr`, with its line filled. */
static inline struct vti_known_page *touch_page(struct vt_known_memory *m, uint64_t addr)
{
	struct vti_known_page *p = find_page(m, addr >> PAGE_BITS);
	unsigned line = (unsigned)(addr >> LINE_BITS) % PAGE_LINES;

	if (!(p->present >> line & 1))
		fill_line(m, p, line);
	return p;
}

static inline uint64_t *known_of(struct vti_known_page *p, uint64_t addr)
{
	return &p->known[(addr >> LINE_BITS) % PAGE_LINES];
}

/* A mask of 8 bytes to one of 64 bits, and the bytes of which each bit is known to a mask. */
static inline uint64_t spread_byte_mask(uint64_t mask)
{
	uint64_t one_each = (mask & 0xff) * UINT64_C(0x0101010101010101);

	one_each &= UINT64_C(0x8040201008040201);
	/* To the highest bit of each byte. */
	one_each = (one_each + UINT64_C(0x7f7f7f7f7f7f7f7f)) | one_each;
	return (one_each >> 7 & UINT64_C(0x0101010101010101)) * 0xff;
}

static inline uint64_t fold_known_mask(uint64_t known)
{
	known &= known >> 4;
	known &= known >> 2;
	known &= known >> 1;
	return (known & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
}

/* `p` has 8 bytes that can be read; `mask` says which are known. */
static inline struct vt_word word_at(const uint8_t *p, unsigned size, uint64_t mask)
{
	uint64_t low = vt_low_bits(8 * size), known;
	struct vt_word w;

	memcpy(&w.value, p, sizeof(w.value));
	known = spread_byte_mask(mask);
	w.value &= known & low;
	w.known = known | ~low;
	return w;
}

static void words_at(const uint8_t *p, unsigned size, uint64_t mask, struct vt_word *words)
{
	for (; size > 8; size -= 8, p += 8, mask >>= 8)
		*words++ = word_at(p, 8, mask);
	*words = word_at(p, size, mask);
}

/* How many of `size` bytes lie in the line of `addr`. */
static unsigned line_part(uint64_t addr, size_t size)
{
	unsigned left = VT_KNOWN_LINE - (unsigned)(addr % VT_KNOWN_LINE);

	return size < left ? (unsigned)size : left;
}

static void load_across(struct vt_known_memory *m, uint64_t addr, unsigned size,
			struct vt_word *words)
{
	uint8_t bytes[32 + PAD] = {0};
	uint64_t mask = 0;
	unsigned done, n;

	if (!size)
		return;
	for (done = 0; done < size; done += n) {
		struct vti_known_page *p = touch_page(m, addr + done);

		n = line_part(addr + done, size - done);
		memcpy(bytes + done, p->bytes + (addr + done) % PAGE_SIZE, n);
		mask |= (*known_of(p, addr + done) >> (addr + done) % VT_KNOWN_LINE &
			 vt_low_bits(n))
			<< done;
	}
	words_at(bytes, size, mask, words);
}

void vt_known_memory_load(struct vt_known_memory *m, uint64_t addr, unsigned size,
			  struct vt_word *words)
{
	unsigned at = (unsigned)(addr % VT_KNOWN_LINE);
	const uint8_t *bytes;
	struct vti_known_page *p;
	uint64_t mask;

	if (at + size > VT_KNOWN_LINE) {
		load_across(m, addr, size, words);
		return;
	}
	p = touch_page(m, addr);
	mask = *known_of(p, addr) >> at;
	bytes = p->bytes + addr % PAGE_SIZE;
	if (size > 8)
		words_at(bytes, size, mask, words);
	else
		*words = word_at(bytes, size, mask);
}

/* Writes bytes that lie in one line; bit i of `mask`: byte i is known. */
static inline void put_line_bytes(struct vt_known_memory *m, uint64_t addr, const uint8_t *bytes,
				  unsigned size, uint64_t mask)
{
	unsigned at = (unsigned)(addr % VT_KNOWN_LINE);
	struct vti_known_page *p = touch_page(m, addr);
	uint64_t *known = known_of(p, addr);
	uint64_t place = vt_low_bits(size) << at;

	if (m->shared)
		mask = 0;
	memcpy(p->bytes + addr % PAGE_SIZE, bytes, size);
	*known = (*known & ~place) | (mask << at & place);
}

static void store_across(struct vt_known_memory *m, uint64_t addr, unsigned size,
			 const struct vt_word *words)
{
	uint8_t bytes[32];
	uint64_t mask = 0;
	unsigned i, n;

	for (i = 0; i < (size + 7) / 8; i++) {
		memcpy(bytes + 8 * (size_t)i, &words[i].value, 8);
		mask |= fold_known_mask(words[i].known) << 8 * i;
	}
	for (i = 0; i < size; i += n) {
		n = line_part(addr + i, size - i);
		put_line_bytes(m, addr + i, bytes + i, n, mask >> i);
	}
}

void vt_known_memory_store(struct vt_known_memory *m, uint64_t addr, unsigned size,
			   const struct vt_word *words)
{
	unsigned at = (unsigned)(addr % VT_KNOWN_LINE);
	uint64_t *known, place;
	struct vti_known_page *p;
	uint8_t *to;

	if (size > 8 || at + size > VT_KNOWN_LINE) {
		store_across(m, addr, size, words);
		return;
	}
	p = touch_page(m, addr);
	known = known_of(p, addr);
	to = p->bytes + addr % PAGE_SIZE;
	place = vt_low_bits(size) << at;
	/* A copy of a size that the compiler knows is one instruction. */
	if (size == 8)
		memcpy(to, &words->value, 8);
	else if (size == 4)
		memcpy(to, &words->value, 4);
	else
		memcpy(to, &words->value, size);
	if (m->shared)
		*known &= ~place;
	else if (vt_word_is_known(*words))
		*known |= place;
	else
		*known = (*known & ~place) | (fold_known_mask(words->known) << at & place);
}

void vt_known_memory_set(struct vt_known_memory *m, uint64_t addr, const uint8_t *bytes,
			 size_t size)
{
	unsigned n;

	for (; size; size -= n, addr += n, bytes += n) {
		n = line_part(addr, size);
		put_line_bytes(m, addr, bytes, n, ~UINT64_C(0));
	}
}

/* Joins the two ranges at `i` and after it. */
static void join_gone_ranges(struct vt_known_memory *m, size_t i)
{
	if (m->gone[i].last < m->gone[i + 1].last)
		m->gone[i].last = m->gone[i + 1].last;
	m->ngone--;
	memmove(&m->gone[i + 1], &m->gone[i + 2], (m->ngone - i - 1) * sizeof(m->gone[0]));
}

static void add_gone(struct vt_known_memory *m, uint64_t first, uint64_t last)
{
	size_t i = m->ngone, closest = 0;

	while (i && m->gone[i - 1].first > first)
		i--;
	memmove(&m->gone[i + 1], &m->gone[i], (m->ngone - i) * sizeof(m->gone[0]));
	m->gone[i] = (struct range){first, last};
	m->ngone++;
	i = i ? i - 1 : 0;
	while (i + 1 < m->ngone && m->gone[i].first <= last) {
		if (m->gone[i + 1].first <= m->gone[i].last ||
		    m->gone[i + 1].first == m->gone[i].last + 1)
			join_gone_ranges(m, i);
		else
			i++;
	}
	if (m->ngone <= MAX_GONE)
		return;
	for (i = 1; i + 1 < m->ngone; i++)
		if (m->gone[i + 1].first - m->gone[i].last <
		    m->gone[closest + 1].first - m->gone[closest].last)
			closest = i;
	/* What lies between the two may have been filled and stay; what comes later will not. */
	join_gone_ranges(m, closest);
}

/* Of the pages that there are, whatever lies in the range. */
static void forget_pages(struct vt_known_memory *m, uint64_t first, uint64_t last)
{
	size_t i;

	for (i = 0; i < m->npages; i++) {
		struct vti_known_page *p = page_at(m, i);
		uint64_t addr = p->number << PAGE_BITS;
		unsigned line;

		if (addr > last || addr + (PAGE_SIZE - 1) < first)
			continue;
		for (line = 0; line < PAGE_LINES; line++, addr += VT_KNOWN_LINE) {
			uint64_t end = addr + (VT_KNOWN_LINE - 1);

			if (p->present >> line & 1 && addr <= last && end >= first)
				p->known[line] &=
					~bits_between(first > addr ? (unsigned)(first - addr) : 0,
						      (unsigned)((last < end ? last : end) - addr));
		}
	}
}

/* Within one line; true if some of it would come back when pages are given up. */
static bool forget_part(struct vt_known_memory *m, uint64_t addr, unsigned size)
{
	uint64_t place = vt_low_bits(size) << addr % VT_KNOWN_LINE;
	uint8_t bytes[VT_KNOWN_LINE];

	*known_of(touch_page(m, addr), addr) &= ~place;
	return m->fill &&
	       m->fill(m->arg, addr & ~(uint64_t)(VT_KNOWN_LINE - 1), bytes, true) & place;
}

void vt_known_memory_forget_range(struct vt_known_memory *m, uint64_t addr, uint64_t size)
{
	uint64_t last = addr + (size - 1), done;
	bool lasts = size > SMALL_RANGE;
	unsigned n;

	if (size && last < addr) {
		vt_known_memory_forget_range(m, 0, last + 1);
		size -= last + 1;
		last = UINT64_MAX;
	}
	if (size > SMALL_RANGE)
		forget_pages(m, addr, last);
	for (done = 0; size <= SMALL_RANGE && done < size; done += n) {
		n = line_part(addr + done, size - done);
		lasts |= forget_part(m, addr + done, n);
	}
	if (lasts)
		add_gone(m, addr, last);
}
