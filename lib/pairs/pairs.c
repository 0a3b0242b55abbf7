/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pairs/pairs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "image/addrspace.h"
#include "machine/pipeline/sim.h"
#include "pairs/internal.h"
#include "stream/meta.h"
#include "stream/profileme.h"

static void set_window(struct vt_pairs *p, uint64_t window)
{
	p->window = window;
	if (window)
		vti_expect_set_window(&p->expect, window);
}

struct vt_pairs *vt_pairs_new(struct vt_context *context, const struct vt_pairs_options *o,
			      struct vt_error *err)
{
	struct vt_pairs *p = calloc(1, sizeof(*p));
	bool ok;

	if (!p) {
		vt_error_nomem(err);
		return NULL;
	}
	p->context = context;
	p->o = *o;
	set_window(p, o->window);
	p->ways = 2;
	p->width = 1;
	p->last = &p->members[0];
	p->next = &p->members[1];
	p->neighbours.where = o->metric->where;
	p->nsides = o->split ? VT_NSPLITS : 1;
	vt_hash_init(&p->places, sizeof(struct vt_pairplace), offsetof(struct vt_pairplace, row));
	p->cache = calloc(VTI_CACHE, sizeof(*p->cache));
	if (!p->cache)
		vt_error_nomem(err);
	else if (o->split)
		p->split = vt_where_compile(o->split, o->schema, VT_SAMPLE, NULL, err);
	ok = p->cache && (p->split || !o->split);
	if (ok && vt_pairmetric_is_timed(o->metric)) {
		p->windows = vti_windows_new(o->metric->cycles);
		ok = p->windows || vt_error_nomem(err) == 0;
	}
	if (ok)
		return p;
	vt_pairs_free(p);
	return NULL;
}

void vt_pairs_free(struct vt_pairs *p)
{
	if (!p)
		return;
	vt_hash_fini(&p->places);
	vti_neighbours_fini(&p->neighbours);
	vt_where_free(p->split);
	free(p->sides);
	free(p->sums);
	free(p->cache);
	vti_windows_free(p->windows);
	vti_expect_fini(&p->expect);
	free(p);
}

void vt_pairs_set_core(struct vt_pairs *p, const struct vt_core *core)
{
	p->core = core;
	p->width = vt_sim_width(core);
}

/* ---- places ---- */

static void find_place(const struct vt_pairs *p, int64_t pid, uint64_t ip, uint64_t misc,
		       uint64_t has, struct vt_pairplace *place)
{
	const struct vt_map *m = vt_addrspace_find(vt_context_space(p->context), (int32_t)pid, ip,
						   misc & VT_MISC_CPUMODE);

	place->image = VT_UNMAPPED_IMAGE;
	place->pid = 0;
	if (!m) {
		place->offset = vt_unmapped_cause(ip, misc, has);
		return;
	}
	place->image = m->image;
	place->offset = vt_map_offset(m, ip);
	place->pid = m->type == VT_IMAGE_ANON ? (int32_t)pid : 0;
}

/* The units that the instruction at a place uses, from its image's file; 0: unknown. */
static uint32_t find_units(const struct vt_pairs *p, const struct vt_pairplace *place)
{
	struct vt_images *images = vt_context_images(p->context);
	struct vt_location loc = {.vaddr = 0};
	enum vt_unknown why;
	const struct vt_elf *elf;
	const uint8_t *code;
	struct vt_mop op;
	uint32_t units = 0;
	size_t size = 0;
	unsigned i;

	if (p->o.metric->measure != VT_PAIR_UNIT || !p->core || !images ||
	    place->image == VT_UNMAPPED_IMAGE)
		return 0;
	vt_images_symbol(images, place->image, place->pid, place->offset, &loc);
	elf = vt_images_elf(images, place->image, &why);
	code = elf ? vt_elf_bytes(elf, loc.vaddr, &size) : NULL;
	if (!code || !size || !vt_core_op(p->core, code, size, &op))
		return 0;
	for (i = 0; i < op.nuops && i < VT_MOP_UOPS; i++)
		units |= 1u << op.uops[i].op_class;
	return units & ~(1u << VT_OP_NOP);
}

/* Finds or adds the sums of a place. */
static int add_place(struct vt_pairs *p, const struct vt_pairplace *key,
		     const struct vt_pairplace **found, struct vt_error *err)
{
	const struct vt_place at = {.offset = key->offset, .image = key->image, .pid = key->pid};
	size_t had = p->sums_cap;
	bool added;
	struct vt_pairplace *place = vt_hash_add(&p->places, key, &added);
	uint32_t row;
	int code;

	*found = place;
	if (!place)
		return vt_error_nomem(err);
	if (!added)
		return 0;
	row = (uint32_t)p->places.count - 1;
	code = p->o.row ? p->o.row(p->o.arg, &at, key->event, &row, err) : 0;
	if (code < 0)
		return code;
	if (!vt_array_grow(&p->sums, &p->sums_cap, (row + (size_t)1) * p->nsides, sizeof(*p->sums)))
		return vt_error_nomem(err);
	memset(p->sums + had, 0, (p->sums_cap - had) * sizeof(*p->sums));
	place->row = row;
	place->units = find_units(p, key);
	return 0;
}

static int find_row(struct vt_pairs *p, const struct vt_record *rec, struct vti_cached *c,
		    struct vt_error *err)
{
	struct vt_pairplace key = {.event = vt_record_u64(rec, VT_SAMPLE_EVENT)};
	const struct vt_pairplace *place;
	int code;

	find_place(p, vt_record_i64(rec, VT_SAMPLE_PID), vt_record_u64(rec, VT_SAMPLE_IP),
		   vt_record_u64(rec, VT_SAMPLE_MISC), vt_record_u64(rec, VT_SAMPLE_HAS), &key);
	code = add_place(p, &key, &place, err);
	if (code < 0)
		return code;
	c->row = place->row;
	c->units = place->units;
	c->place = (uint32_t)vt_hash_index(&p->places, place);
	return 0;
}

int vti_pairs_sum_at(struct vt_pairs *p, int32_t pid, uint64_t address, uint32_t *sum,
		     struct vt_error *err)
{
	struct vt_pairplace key = {.event = 0};
	const struct vt_pairplace *place;
	int code;

	find_place(p, pid, address, 0, 0, &key);
	code = add_place(p, &key, &place, err);
	if (code == 0)
		*sum = place->row * (uint32_t)p->nsides;
	return code;
}

static int find_cached(struct vt_pairs *p, const struct vt_record *rec, uint64_t changes,
		       const struct vti_cached **found, struct vt_error *err)
{
	const struct vti_cached key = {
		.ip = vt_record_u64(rec, VT_SAMPLE_IP),
		.event = vt_record_u64(rec, VT_SAMPLE_EVENT),
		.pid = (int32_t)vt_record_i64(rec, VT_SAMPLE_PID),
		.mode = vt_record_u64(rec, VT_SAMPLE_MISC) & VT_MISC_CPUMODE,
		.changes = changes,
	};
	uint64_t hash = (key.ip ^ (uint64_t)key.pid << 40) * UINT64_C(0x9e3779b97f4a7c15);
	struct vti_cached *c = &p->cache[hash / (UINT64_MAX / VTI_CACHE + 1)];
	int code = 0;

	if (c->ip != key.ip || c->event != key.event || c->pid != key.pid || c->mode != key.mode ||
	    c->changes != key.changes) {
		*c = key;
		code = find_row(p, rec, c, err);
		c->changes = code < 0 ? 0 : changes;
	}
	*found = c;
	return code;
}

/* ---- groups ---- */

/* Adds what the pairs of the group add, once for each sum. */
static void end_group(struct vt_pairs *p)
{
	size_t i;

	p->totals.alone += p->last->nth == 1;
	for (i = 0; i < p->nshares; i++) {
		struct vt_pairsum *s = &p->sums[p->shares[i].sum];

		s->pairs += p->shares[i].pairs;
		s->cycles += p->shares[i].cycles;
		vt_pairsum_add(s, p->shares[i].x, p->shares[i].y);
	}
	for (i = 0; i < p->nexpected; i++)
		vti_expect_learn(&p->expect, &p->expected[i]);
	p->nshares = 0;
	p->nexpected = 0;
	p->last->nth = 0;
}

static void add_share(struct vt_pairs *p, uint32_t sum, const struct vt_pairterm *t)
{
	size_t i = 0;

	while (i < p->nshares && p->shares[i].sum != sum)
		i++;
	if (i == p->nshares)
		p->shares[p->nshares++] = (struct vti_share){.sum = sum};
	p->shares[i].x += t->x;
	p->shares[i].y += t->y;
	p->shares[i].cycles += t->cycles;
	p->shares[i].pairs++;
}

static void count_overlap(struct vt_pairs *p, uint32_t sum, uint64_t distance, double weight)
{
	double far = distance > p->window - p->window / 10 ? weight : 0;

	p->totals.overlaps += weight;
	p->totals.far += far;
	p->sums[sum].overlaps += weight;
	p->sums[sum].far += far;
}

/* Whether what is expected is learned from earlier pairs. */
static bool learns(const struct vt_pairs *p, double weight)
{
	return p->o.learn == VT_LEARN_ALWAYS || (p->o.learn == VT_LEARN_WEIGHTED && weight != 1);
}

/* Takes the weighted rate at the distance from a term, and adds that of all distances. */
static bool expect_term(struct vt_pairs *p, const struct vti_member *self,
			const struct vti_member *other, const struct vt_pairscale *scale,
			struct vt_pairterm *t)
{
	struct vti_expected *x = &p->expected[p->nexpected];
	bool ahead = self->distance > other->distance;
	uint64_t distance =
		ahead ? self->distance - other->distance : other->distance - self->distance;
	double rate;

	if (!vti_expect_pair(&p->expect, self->place, ahead, self->f.retired,
			     vt_pair_cycles(p->o.metric, &self->f), distance, x))
		return false;
	x->met = t->overlaps;
	p->nexpected++;
	rate = ((double)x->mean - scale->weight * (double)x->rate) * scale->window * scale->period;
	t->x += p->o.metric->measure == VT_PAIR_WASTED ? -rate : rate;
	return true;
}

static void measure(struct vt_pairs *p, const struct vti_member *self,
		    const struct vti_member *other, uint8_t truth, const struct vt_pairscale *scale)
{
	struct vt_pairterm t;
	bool stopped = self->f.stopped || other->f.stopped;

	if (self->passed)
		return;
	switch (vt_pair_measure(p->o.metric, &self->f, &other->f, (enum vt_truth)truth, scale,
				&t)) {
	case VT_PAIR_MEASURED:
		p->totals.measured++;
		if (learns(p, scale->weight) && !expect_term(p, self, other, scale, &t))
			p->failed = true;
		add_share(p, self->sum, &t);
		if (t.overlaps && self->distance < other->distance)
			count_overlap(p, self->sum, other->distance - self->distance,
				      scale->weight);
		break;
	case VT_PAIR_APART:
		p->totals.apart++;
		break;
	default:
		p->totals.unknown += !stopped;
		p->totals.stopped += stopped;
	}
}

/* Weights beyond make sums meaningless; those of distances are between 0.1 and 2. */
#define MAX_WEIGHT 1e6

/* The counter of what is fetched has no longer intervals. */
#define MAX_PERIOD (UINT64_C(1) << 48)

static bool make_scale(struct vt_pairs *p, const struct vti_member *a, const struct vti_member *b,
		       struct vt_pairscale *scale)
{
	*scale = (struct vt_pairscale){.period = (double)a->period / (double)(p->ways - 1),
				       .window = (double)p->window,
				       .width = p->width};
	memcpy(&scale->weight, &b->weight, sizeof(scale->weight));
	if (b->distance <= a->distance || b->distance - a->distance > p->window)
		p->totals.distance++;
	else if (!(scale->weight > 0 && scale->weight <= MAX_WEIGHT))
		p->totals.weight++;
	else if (!a->period || a->period > MAX_PERIOD)
		p->totals.period++;
	else
		return true;
	return false;
}

/* `truth` is that of the expression: with the one before as its first, and the other way round. */
static void pair_up(struct vt_pairs *p, const struct vti_member *m, const uint8_t *truth)
{
	const struct vti_member *a = p->last;
	struct vt_pairscale scale;

	if (a->event != m->event || a->pid != m->pid || a->tid != m->tid) {
		p->totals.foreign++;
		return;
	}
	p->totals.pairs++;
	if (!make_scale(p, a, m, &scale))
		return;
	measure(p, a, m, truth[0], &scale);
	measure(p, m, a, truth[1], &scale);
}

/* Makes the next sample the last one. */
static void keep_member(struct vt_pairs *p)
{
	struct vti_member *was = p->last;

	p->last = p->next;
	p->next = was;
}

static void take_member(struct vt_pairs *p, const uint8_t *truth)
{
	uint64_t nth = p->next->nth;

	if (nth == 1) {
		end_group(p);
		keep_member(p);
	} else if (nth > p->ways) {
		p->totals.beyond++;
		end_group(p);
	} else if (p->last->nth && nth == p->last->nth + 1) {
		pair_up(p, p->next, truth);
		keep_member(p);
	} else {
		p->totals.orphans++;
		end_group(p);
	}
}

/* ---- records ---- */

#define PAIR_FIELDS                                                                                \
	(VT_PM_BIT(PAIR) | VT_PM_BIT(PAIR_DISTANCE) | VT_PM_BIT(PAIR_CYCLES) |                     \
	 VT_PM_BIT(PAIR_WEIGHT))

/* Recorders omit the period if it is the same for all samples. */
static uint64_t find_period(struct vt_pairs *p, uint64_t event)
{
	struct vt_error ignored = VT_ERROR_INIT;
	const struct vt_event *e = vt_context_event(p->context, event, &ignored);

	return e ? e->period : 0;
}

static const enum vt_split split_sides[] = {
	[VT_FALSE] = VT_SPLIT_UNMET,
	[VT_TRUE] = VT_SPLIT_MET,
	[VT_UNKNOWN] = VT_SPLIT_UNKNOWN,
};

/* Takes a sample for itself, if it tells how many misses were under way. */
static int take_single(struct vt_pairs *p, const struct vt_record *rec, uint64_t changes,
		       enum vt_truth met, struct vt_error *err)
{
	uint64_t bit = VT_PM_BIT(OPEN_MISSES);
	const struct vti_cached *place = NULL;
	struct vt_pairsum *sum;
	int code;

	p->totals.samples++;
	if (!(vt_record_u64(rec, VT_SAMPLE_PM_HAS) & bit) ||
	    vt_record_u64(rec, VT_SAMPLE_PM_LEAST) & bit || p->next->passed) {
		p->totals.unpaired++;
		return 0;
	}
	code = find_cached(p, rec, changes, &place, err);
	if (code < 0)
		return code;
	sum = &p->sums[place->row * p->nsides + (p->split ? split_sides[met] : 0)];
	vt_pairsum_add(sum, (double)vt_record_u64(rec, VT_SAMPLE_OPEN_MISSES), 1);
	sum->pairs++;
	p->totals.pairs++;
	p->totals.measured++;
	return 0;
}

static int take_sample(struct vt_pairs *p, const struct vt_record *rec, uint64_t changes,
		       enum vt_truth met, const uint8_t *truth, struct vt_error *err)
{
	struct vti_member *m = p->next;
	const struct vti_cached *place = NULL;
	int code;

	if (p->o.metric->measure == VT_PAIR_OPEN)
		return take_single(p, rec, changes, met, err);
	p->totals.samples++;
	if ((vt_record_u64(rec, VT_SAMPLE_PM_HAS) & PAIR_FIELDS) != PAIR_FIELDS ||
	    !vt_record_u64(rec, VT_SAMPLE_PAIR)) {
		p->totals.unpaired++;
		end_group(p);
		return 0;
	}
	m->event = vt_record_u64(rec, VT_SAMPLE_EVENT);
	m->nth = vt_record_u64(rec, VT_SAMPLE_PAIR);
	m->distance = vt_record_u64(rec, VT_SAMPLE_PAIR_DISTANCE);
	m->weight = vt_record_u64(rec, VT_SAMPLE_PAIR_WEIGHT);
	m->period = vt_record_u64(rec, VT_SAMPLE_PERIOD);
	if (!m->period && !(vt_record_u64(rec, VT_SAMPLE_HAS) & VT_HAS_PERIOD))
		m->period = find_period(p, m->event);
	m->pid = vt_record_i64(rec, VT_SAMPLE_PID);
	m->tid = vt_record_i64(rec, VT_SAMPLE_TID);
	vt_followed_read(&m->f, rec);
	code = find_cached(p, rec, changes, &place, err);
	if (code < 0)
		return code;
	m->f.units = place->units;
	m->place = place->place * (uint32_t)p->nsides + (p->split ? split_sides[met] : 0);
	m->sum = place->row * (uint32_t)p->nsides + (p->split ? split_sides[met] : 0);
	take_member(p, truth);
	return p->failed ? vt_error_nomem(err) : 0;
}

static int take_samples(struct vt_pairs *p, const struct vt_block *block, uint32_t first,
			uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	uint64_t changes = vt_addrspace_changes(vt_context_space(p->context));
	int code = vti_neighbours_run(&p->neighbours, block, first, count, err);
	uint32_t i;

	if (code == 0 && p->split) {
		if (!vt_array_grow(&p->sides, &p->sides_cap, count, 1))
			return vt_error_nomem(err);
		vt_where_select(p->split, block, first, count, p->sides);
	}
	for (i = 0; i < count && code == 0; i++, rec.row++) {
		p->next->passed = p->picked && p->picked[i] != VT_TRUE;
		uint8_t truth[2] = {VT_UNKNOWN, VT_UNKNOWN};

		if (p->neighbours.where) {
			truth[0] = p->neighbours.truth[0][i];
			truth[1] = p->neighbours.truth[1][i];
		}
		code = take_sample(p, &rec, changes,
				   p->split ? (enum vt_truth)p->sides[i] : VT_TRUE, truth, err);
	}
	return code;
}

bool vt_pairs_has_groups(const struct vt_block *block, uint32_t first, uint32_t count)
{
	struct vt_record rec = {block, block->kind, first};

	for (; rec.row - first < count; rec.row++)
		if (vt_record_u64(&rec, VT_SAMPLE_PM_HAS) & VT_PM_BIT(PAIR))
			return true;
	return false;
}

static int take_pairs_meta(struct vt_pairs *p, const struct vt_record *rec, struct vt_error *err)
{
	double v;

	if (vt_meta_f64(rec, "vsim.ways", &v) && v >= 2 && v <= VTI_MAX_GROUP)
		p->ways = (uint64_t)v;
	if (!vt_meta_f64(rec, VT_PAIRS_META_WINDOW, &v) || !(v >= 1 && v <= (double)MAX_PERIOD))
		return 0;
	if (p->o.window && p->o.window != (uint64_t)v)
		return vt_error_set(
			err, VT_E_USAGE,
			"--window %" PRIu64
			": its pairs are up to %.0f instructions apart (" VT_PAIRS_META_WINDOW ")",
			p->o.window, floor(v));
	set_window(p, (uint64_t)v);
	return 0;
}

static int take_runs(struct vt_pairs *p, const struct vt_block *block, uint32_t first,
		     uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	for (; rec.row - first < count && code == 0; rec.row++)
		code = vti_windows_feed(p->windows, p, &rec, err);
	return code;
}

static int take_pair_records(struct vt_pairs *p, const struct vt_block *block, uint32_t first,
			     uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	if (block->kind == VT_META)
		for (; rec.row - first < count && code == 0; rec.row++)
			code = take_pairs_meta(p, &rec, err);
	if (block->kind == VT_EXEC && p->windows)
		return take_runs(p, block, first, count, err);
	if (block->kind != VT_SAMPLE)
		return code;
	p->grouped = p->grouped || vt_pairs_has_groups(block, first, count);
	if (!p->window && p->grouped && p->o.metric->measure != VT_PAIR_OPEN)
		return vt_error_set(err, VT_E_ABSENT,
				    "it does not tell how far pairs are apart at most: --window");
	return take_samples(p, block, first, count, err);
}

int vt_pairs_feed(void *pairs, const struct vt_block *block, uint32_t first, uint32_t count,
		  struct vt_error *err)
{
	struct vt_pairs *p = pairs;
	int code = take_pair_records(p, block, first, count, err);

	p->picked = NULL;
	if (code == 0 && p->grouped && p->totals.windows)
		return vt_error_set(err, VT_E_MISMATCH,
				    "both pairs of samples and executed code with times: they are "
				    "not added up");
	return code;
}

void vt_pairs_pick(struct vt_pairs *p, const uint8_t *truth)
{
	p->picked = truth;
}

/* If more than this share of what overlaps is in the last tenth of the window, it is too short. */
#define TOO_FAR .01

bool vt_pairs_is_cut(const struct vt_pairs *p, double far, double overlaps)
{
	return p->o.metric->measure != VT_PAIR_WHERE && far > TOO_FAR * overlaps;
}

/* Marks sums whose window is too short; a single pair at its end may be there by chance. */
static void judge_windows(struct vt_pairs *p)
{
	size_t i;

	for (i = 0; i < p->sums_cap; i++)
		p->sums[i].partial = vt_pairs_is_cut(p, p->sums[i].far - 1, p->sums[i].overlaps);
}

void vt_pairs_finish(struct vt_pairs *p)
{
	/* That the stream ends within a group is no loss. */
	p->totals.cut = p->last->nth == 1;
	p->totals.alone -= p->totals.cut;
	end_group(p);
	judge_windows(p);
}

/* ---- results ---- */

const struct vt_pairs_totals *vt_pairs_totals(const struct vt_pairs *p)
{
	return &p->totals;
}

uint64_t vt_pairs_window(const struct vt_pairs *p)
{
	return p->window;
}

size_t vt_pairs_nplaces(const struct vt_pairs *p)
{
	return p->places.count;
}

const struct vt_pairplace *vt_pairs_place(const struct vt_pairs *p, size_t i)
{
	return vt_hash_at(&p->places, i);
}

const struct vt_pairsum *vt_pairs_sum(const struct vt_pairs *p, uint32_t row, enum vt_split side)
{
	static const struct vt_pairsum none = {0};

	return (size_t)side < p->nsides ? &p->sums[row * p->nsides + side] : &none;
}

bool vt_pairs_has_sum(const struct vt_pairs *p, const struct vt_pairsum *s)
{
	return s->pairs || (p->totals.windows && s->missing);
}

void vt_pairs_split_text(const char *split, enum vt_split side, struct vt_buf *out)
{
	if (!split)
		return;
	if (side == VT_SPLIT_UNKNOWN)
		vt_buf_printf(out, "unknown");
	else
		vt_buf_printf(out, side == VT_SPLIT_MET ? "%s" : "!(%s)", split);
}
