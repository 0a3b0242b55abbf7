/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "culprit/footprint.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"

/*
 * Images are loaded at multiples of a page, so that lines of two images fall into the same set only
 * if their places in a page are the same (or, of caches whose ways are smaller, fewer bits of
 * them).
 */
#define PAGE_BITS 12
#define PAGE	  (1 << PAGE_BITS)

/* How often something in an image happens. */
struct tally {
	uint64_t number; /* of a line, a page or a set of the cache, or an address: see below */
	uint64_t image;
	double often;
	double misses; /* of a line or page: at most */
};

#define TALLY_KEY (2 * sizeof(uint64_t))

/* What all branches do that share a counter. */
struct counter {
	double taken;
	double fallen;
};

struct vt_footprint {
	uint32_t line;
	uint32_t sets;
	uint32_t ways;
	uint32_t page;
	uint32_t entries;
	double wrong; /* how many more fetches there are than by instructions that were executed */
	struct vt_hash lines;	 /* tallies of entries by the line's number in its image */
	struct vt_hash pages;	 /* the same by page */
	struct vt_hash calls;	 /* tallies of direct calls by vaddr */
	uint64_t counters;	 /* of a bimodal predictor; 0: it is another */
	struct counter *counter; /* NULL until there is a branch */
};

struct vt_footprint *vt_footprint_new(const struct vt_core *m)
{
	struct vt_footprint *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->line = m->icache.size ? m->icache.line : 0;
	f->ways = m->icache.ways ? m->icache.ways : 1;
	f->sets = f->line ? m->icache.size / f->line / f->ways : 0;
	f->page = m->itlb.entries ? m->itlb.page : 0;
	f->entries = m->itlb.entries;
	/* Out of order, wrong ways are fetched from, too: a guess that has been generous so far. */
	f->wrong = m->order == VT_OUT_OF_ORDER ? 2 : 1;
	if (m->predictor == VT_PREDICT_BIMODAL)
		f->counters = UINT64_C(1)
			      << (m->predictor_bits < PAGE_BITS ? m->predictor_bits : PAGE_BITS);
	vt_hash_init(&f->lines, sizeof(struct tally), TALLY_KEY);
	vt_hash_init(&f->pages, sizeof(struct tally), TALLY_KEY);
	vt_hash_init(&f->calls, sizeof(struct tally), TALLY_KEY);
	return f;
}

void vt_footprint_free(struct vt_footprint *f)
{
	if (!f)
		return;
	vt_hash_fini(&f->lines);
	vt_hash_fini(&f->pages);
	vt_hash_fini(&f->calls);
	free(f->counter);
	free(f);
}

static bool add_footprint_tally(struct vt_hash *h, uint64_t number, uint64_t image, double often)
{
	const uint64_t key[2] = {number, image};
	struct tally *t = vt_hash_add(h, key, NULL);

	if (t)
		t->often += often;
	return t != NULL;
}

static const struct tally *find_footprint_tally(const struct vt_hash *h, uint64_t number,
						uint64_t image)
{
	const uint64_t key[2] = {number, image};

	return vt_hash_find(h, key);
}

static bool add_footprint(struct vt_hash *h, uint32_t unit, uint32_t image, uint64_t vaddr,
			  uint32_t size, double often)
{
	uint64_t number, last;

	if (!unit || !(often > 0))
		return true;
	last = (vaddr + (size ? size - 1 : 0)) / unit;
	for (number = vaddr / unit; number <= last; number++)
		if (!add_footprint_tally(h, number, image, often))
			return false;
	return true;
}

int vt_footprint_enter(struct vt_footprint *f, uint32_t image, uint64_t vaddr, uint32_t size,
		       double from_line, double from_page, struct vt_error *err)
{
	if (add_footprint(&f->lines, f->line, image, vaddr, size, from_line) &&
	    add_footprint(&f->pages, f->page, image, vaddr, size, from_page))
		return 0;
	return vt_error_nomem(err);
}

int vt_footprint_call(struct vt_footprint *f, uint32_t image, uint64_t vaddr, double often,
		      struct vt_error *err)
{
	return add_footprint_tally(&f->calls, vaddr, image, often) ? 0 : vt_error_nomem(err);
}

double vt_footprint_called(const struct vt_footprint *f, uint32_t image, uint64_t vaddr)
{
	const struct tally *t = find_footprint_tally(&f->calls, vaddr, image);

	return t ? t->often : 0;
}

/* ---- branches ---- */

int vt_footprint_branch(struct vt_footprint *f, uint64_t vaddr, double taken, double fallen,
			struct vt_error *err)
{
	if (!f->counters)
		return 0;
	if (!f->counter)
		f->counter = calloc((size_t)f->counters, sizeof(*f->counter));
	if (!f->counter)
		return vt_error_nomem(err);
	f->counter[vaddr % f->counters].taken += taken;
	f->counter[vaddr % f->counters].fallen += fallen;
	return 0;
}

/*
 * A counter that saturates at 3 says "taken" from 2 on.  Each branch that is not taken although it
 * said so has taken one off that a taken one had put there: so they are not more than those, and
 * three that were there at first.  Images are loaded at multiples of a page, so that it is known
 * which branches meet in a counter.
 */
double vt_footprint_mispredicted(const struct vt_footprint *f, uint64_t vaddr, bool taken)
{
	const struct counter *c = f->counter ? &f->counter[vaddr % f->counters] : NULL;

	if (!c)
		return INFINITY;
	return (taken ? c->fallen : c->taken) + 3;
}

/* ---- lines ---- */

/* The `image` of tallies of all images. */
#define ALL UINT64_MAX

static uint32_t sets_in_page(const struct vt_footprint *f)
{
	uint32_t n = PAGE / f->line;

	return n && n < f->sets ? n : f->sets;
}

static double get_footprint_tally(const struct vt_hash *h, uint64_t number, uint64_t image)
{
	const struct tally *t = find_footprint_tally(h, number, image);

	assert(t);
	return t->often;
}

/*
 * A line that is used again is missed only if at least as many others as the set has ways were
 * fetched into it in between.
 */
static bool judge_lines(struct vt_footprint *f)
{
	/* Tallies of lines: of an image by set; of an image, and of all, by place in a page. */
	struct vt_hash exact, coarse;
	size_t i;
	bool ok = true;

	vt_hash_init(&exact, sizeof(struct tally), TALLY_KEY);
	vt_hash_init(&coarse, sizeof(struct tally), TALLY_KEY);
	for (i = 0; i < f->lines.count && ok; i++) {
		const struct tally *p = vt_hash_at(&f->lines, i);
		uint64_t part = p->number % sets_in_page(f);

		ok = add_footprint_tally(&exact, p->number % f->sets, p->image, p->often) &&
		     add_footprint_tally(&coarse, part, p->image, p->often) &&
		     add_footprint_tally(&coarse, part, ALL, p->often);
	}
	for (i = 0; i < f->lines.count && ok; i++) {
		struct tally *p = vt_hash_at(&f->lines, i);
		uint64_t part = p->number % sets_in_page(f);
		double others =
			get_footprint_tally(&exact, p->number % f->sets, p->image) - p->often;

		others += get_footprint_tally(&coarse, part, ALL) -
			  get_footprint_tally(&coarse, part, p->image);
		p->misses = 1 + fmax(0, others) * f->wrong / f->ways;
	}
	vt_hash_fini(&exact);
	vt_hash_fini(&coarse);
	return ok;
}

/* ---- pages ---- */

/* In what order equal ones come makes no difference. */
static int most_first(const void *va, const void *vb)
{
	const struct tally *a = *(struct tally *const *)va, *b = *(struct tally *const *)vb;

	return (a->often < b->often) - (a->often > b->often);
}

/*
 * Between two uses of a page, one of them a miss, at least as many others were entered as the TLB
 * has entries.  Whichever of them are thought of as always there, n - 1 besides the page itself,
 * the rest must have come from all others: so the page is not missed more often than these were
 * entered, divided by how many of them it takes.  That holds for every n, with the most used pages
 * as those that are always there; up to the page's own rank, no n gives a tighter bound.  `sum` has
 * how often the first pages of the order are entered.
 */
static double page_misses(const struct vt_footprint *f, const double *sum, size_t count, size_t at)
{
	double best = sum[at + 1] - sum[at];
	size_t n;

	for (n = at + 1; n <= f->entries && n <= count; n++) {
		double others = sum[count] - sum[n];

		best = fmin(best, 1 + fmax(0, others) * f->wrong / (double)(f->entries - n + 1));
	}
	return best;
}

static bool judge_pages(struct vt_footprint *f)
{
	size_t i, n = f->pages.count;
	struct tally **order = calloc(n + 1, sizeof(struct tally *));
	double *sum = calloc(n + 1, sizeof(*sum));

	if (!order || !sum) {
		free(order);
		free(sum);
		return false;
	}
	for (i = 0; i < n; i++)
		order[i] = vt_hash_at(&f->pages, i);
	qsort(order, n, sizeof(struct tally *), most_first);
	for (i = 0; i < n; i++)
		sum[i + 1] = sum[i] + order[i]->often;
	for (i = 0; i < n; i++)
		order[i]->misses = page_misses(f, sum, n, i);
	free(order);
	free(sum);
	return true;
}

int vt_footprint_finish(struct vt_footprint *f, struct vt_error *err)
{
	if ((!f->sets || judge_lines(f)) && (!f->page || judge_pages(f)))
		return 0;
	return vt_error_nomem(err);
}

static double get_misses(const struct vt_hash *h, uint32_t unit, uint32_t image, uint64_t vaddr)
{
	const struct tally *p = unit ? find_footprint_tally(h, vaddr / unit, image) : NULL;

	return p ? p->misses : INFINITY;
}

double vt_footprint_lines(const struct vt_footprint *f, uint32_t image, uint64_t vaddr)
{
	return get_misses(&f->lines, f->line, image, vaddr);
}

double vt_footprint_pages(const struct vt_footprint *f, uint32_t image, uint64_t vaddr)
{
	return get_misses(&f->pages, f->page, image, vaddr);
}
