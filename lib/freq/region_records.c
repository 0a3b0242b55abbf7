/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/region_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "freq/calls.h"
#include "freq/region.h"
#include "machine/insn/insn.h"

#define NONE SIZE_MAX

struct vti_listed_region {
	struct vt_region r;
	uint32_t image;
	uint64_t offset;
	uint64_t event;
	size_t words; /* the first of its ranges, and how many there are */
	size_t nwords;
	double called_cycles; /* of the code that it calls, and its samples */
	double called_samples;
	bool calls;
	bool unknown; /* some of that code has no time that is known */
};

/* A call, or a jump to another procedure; those of a procedure lie one behind the other. */
struct vti_call_site {
	uint64_t vaddr;
	double often;
	size_t region; /* in the list; NONE: its region is not listed */
	bool unknown;  /* nobody knows where */
};

enum state { UNSEEN, OPEN, DONE };

struct procedure {
	uint64_t vaddr;
	double entries;
	double calls;  /* of sites */
	double cycles; /* its own; when done, with what it calls */
	double samples;
	size_t site; /* the first */
	size_t nsites;
	size_t next; /* the next to look at */
	enum state state;
	bool unknown;
};

/* ---- gathering ---- */

/* The numbers of instructions and edges; `executions` owns the memory of all. */
struct region_numbers {
	double *executions;
	double *doubt;
	double *edges;
};

static int fill_region_numbers(const struct vt_region_source *s, struct region_numbers *n,
			       struct vt_error *err)
{
	size_t insns = s->flow->cfg->ninsns, edges = s->flow->cfg->nedges, i;

	n->executions = malloc((2 * insns + edges + 1) * sizeof(double));
	if (!n->executions)
		return vt_error_nomem(err);
	n->doubt = n->executions + insns;
	n->edges = n->doubt + insns;
	for (i = 0; i < insns; i++) {
		const struct vt_freq_value *v = &s->freqs->insn[i];

		n->executions[i] = v->executions;
		/* The upper limit is two deviations away. */
		n->doubt[i] = v->executions > 0 ? (v->high - v->executions) / 2 / v->executions : 0;
	}
	for (i = 0; i < edges; i++)
		n->edges[i] = s->freqs->edge[i].executions;
	return 0;
}

/* The blocks of each region, in order: blocks[first[r]..first[r + 1]). */
struct region_blocks {
	uint32_t *first;
	uint32_t *blocks;
};

/* False: no memory; free both in either case. */
static bool sort_blocks(const struct vt_cfg *g, const struct vt_regions *all,
			struct region_blocks *to)
{
	uint32_t b, i;

	to->first = calloc((size_t)all->count + 2, sizeof(*to->first));
	to->blocks = malloc(((size_t)g->nblocks + 1) * sizeof(*to->blocks));
	if (!to->first || !to->blocks)
		return false;
	/* As each one is put down, the place of its region moves from its begin to its end. */
	for (b = VT_CFG_FIRST; b < g->nblocks; b++)
		to->first[all->of[b] + 2]++;
	for (i = 2; i < all->count + 2; i++)
		to->first[i] += to->first[i - 1];
	for (b = VT_CFG_FIRST; b < g->nblocks; b++)
		to->blocks[to->first[all->of[b] + 1]++] = b;
	return true;
}

/* Pieces of code that lie behind each other are one.  False: no memory. */
static bool list_ranges(struct vt_regionlist *l, const struct vt_region_source *s,
			const struct region_blocks *of, uint32_t which,
			struct vti_listed_region *to)
{
	const struct vt_cfg *g = s->flow->cfg;
	uint64_t base = s->offset - s->flow->proc.start;
	uint32_t i;

	to->words = l->nwords;
	for (i = of->first[which]; i < of->first[which + 1]; i++) {
		uint32_t b = of->blocks[i];

		if (!g->blocks[b].ninsns)
			continue;
		if (l->nwords == to->words ||
		    l->words[l->nwords - 1] != g->blocks[b].start + base) {
			if (!vt_array_grow(&l->words, &l->words_cap, l->nwords + 2,
					   sizeof(*l->words)))
				return false;
			l->words[l->nwords] = g->blocks[b].start + base;
			l->nwords += 2;
		}
		l->words[l->nwords - 1] = g->blocks[b].end + base;
	}
	to->nwords = l->nwords - to->words;
	return true;
}

static bool list_region(struct vt_regionlist *l, const struct vt_region_source *s,
			const struct vt_regions *all, const struct region_blocks *of,
			uint32_t which)
{
	const struct vt_region *r = &all->list[which];
	const struct vt_cfg *g = s->flow->cfg;
	bool entry = r->head == VT_CFG_ENTRY;
	uint64_t head = entry ? g->start : g->blocks[r->head].start;
	struct vti_listed_region one = {
		.r = *r,
		.image = s->flow->proc.image,
		.offset = head - s->flow->proc.start + s->offset,
		.event = s->event,
	};

	if (!list_ranges(l, s, of, which, &one) ||
	    !vt_array_grow(&l->regions, &l->cap, l->count + 1, sizeof(*l->regions)))
		return false;
	l->regions[l->count++] = one;
	return true;
}

/*
 * Whether control leaves for other code each time, and where to.  Nobody knows of calls through
 * pointers, of its own code, and of jumps of which not all targets are in the procedure, as a
 * stub's.
 */
static bool is_call(const struct vt_region_source *s, uint32_t insn, struct vti_call_site *site)
{
	uint32_t flags = s->flow->cfg->insns[insn].flags;

	/* How often a branch is taken out of the procedure is not known. */
	if (s->elf && !(flags & VT_FACT_CONDITIONAL) &&
	    vti_freq_leads_away(s->elf, s->flow->cfg, insn, &site->vaddr) &&
	    site->vaddr != s->flow->cfg->start)
		return true;
	site->unknown =
		(flags & VT_FACT_CALL) || ((flags & VT_FACT_JUMP) && (flags & VT_FACT_INDIRECT) &&
					   s->flow->cfg->blocks[s->flow->block[insn]].incomplete);
	return site->unknown;
}

/* `rows` are the places in the list of the procedure's regions. */
static bool list_sites(struct vt_regionlist *l, const struct vt_region_source *s,
		       const struct vt_regions *all, const size_t *rows, struct procedure *p)
{
	const struct vt_cfg *g = s->flow->cfg;
	struct vti_freq_owner owner = {.symbols = s->symbols, .flow = s->flow};
	uint32_t i;

	p->site = l->nsites;
	for (i = 0; i < g->ninsns; i++) {
		double often = s->freqs->insn[i].executions;
		struct vti_call_site site = {.often = often,
					     .region = rows[all->of[s->flow->block[i]]]};

		if (!(often > 0) || !vti_freq_is_own(&owner, g->insns[i].addr) ||
		    !is_call(s, i, &site))
			continue;
		if (!vt_array_grow(&l->sites, &l->sites_cap, l->nsites + 1, sizeof(*l->sites)))
			return false;
		l->sites[l->nsites++] = site;
	}
	p->nsites = l->nsites - p->site;
	return true;
}

static bool list_procedure(struct vt_regionlist *l, const struct vt_region_source *s,
			   const struct vt_regions *all)
{
	uint64_t vaddr = s->flow->proc.start;
	size_t *rows = malloc(((size_t)all->count + 1) * sizeof(*rows));
	struct region_blocks of = {NULL, NULL};
	struct procedure *p;
	uint32_t i;
	bool added, ok = sort_blocks(s->flow->cfg, all, &of) && rows;

	if (!l->started)
		vt_hash_init(&l->procedures, sizeof(struct procedure), sizeof(uint64_t));
	l->started = true;
	p = ok ? vt_hash_add(&l->procedures, &vaddr, &added) : NULL;
	ok = p != NULL;
	/* A procedure that was seen in another process keeps what it was seen as there first. */
	for (i = 0; i < all->count && ok; i++) {
		const struct vt_region *r = &all->list[i];

		rows[i] = NONE;
		if (r->merged)
			continue;
		if (added) {
			p->cycles += r->cycles;
			p->samples += r->samples;
		}
		if (!(r->rounds > 0))
			continue;
		rows[i] = l->count;
		ok = list_region(l, s, all, &of, i);
	}
	if (ok && added) {
		p->entries = all->list[0].rounds;
		ok = list_sites(l, s, all, rows, p);
	}
	free(of.first);
	free(of.blocks);
	free(rows);
	return ok;
}

int vt_regionlist_add(struct vt_regionlist *l, const struct vt_region_source *s,
		      struct vt_error *err)
{
	struct region_numbers n = {.executions = NULL};
	struct vt_regions *all = NULL;
	int code = fill_region_numbers(s, &n, err);

	if (code == 0) {
		const struct vt_regions_input in = {.core = s->core,
						    .flow = s->flow,
						    .executions = n.executions,
						    .edges = n.edges,
						    .doubt = n.doubt,
						    .samples = s->samples,
						    .cycles = s->cycles};

		all = vt_regions_new(&in, err);
		code = all ? 0 : -VT_E_NOMEM;
	}
	if (code == 0 && !list_procedure(l, s, all))
		code = vt_error_nomem(err);
	vt_regions_free(all);
	free(n.executions);
	return code;
}

/* ---- what calls take ---- */

/*
 * Of a call of a procedure that has been looked at.  One without samples takes no time itself, but
 * nobody knows what it calls.  No call takes more than all calls do together.
 */
static void add_call(const struct vti_call_site *site, const struct procedure *callee,
		     double *cycles, double *samples, bool *unknown)
{
	double times = callee ? fmax(callee->entries, callee->calls) : 0;

	*unknown |= site->unknown || !callee || callee->unknown || !(times > 0);
	if (site->unknown || !callee || !(times > 0))
		return;
	*cycles += site->often * callee->cycles / times;
	*samples += site->often * callee->samples / times;
}

static struct procedure *find_callee(const struct vt_regionlist *l,
				     const struct vti_call_site *site)
{
	return site->unknown ? NULL : vt_hash_find(&l->procedures, &site->vaddr);
}

/* All that it calls is done, but for what calls it itself: that call is not known. */
static void finish_procedure(const struct vt_regionlist *l, struct procedure *p)
{
	double cycles = p->cycles, samples = p->samples;
	size_t i;

	for (i = p->site; i < p->site + p->nsites; i++) {
		const struct procedure *callee = find_callee(l, &l->sites[i]);

		l->sites[i].unknown |= callee && callee->state == OPEN;
		add_call(&l->sites[i], callee, &cycles, &samples, &p->unknown);
	}
	p->cycles = cycles;
	p->samples = samples;
	p->state = DONE;
}

/* Depth first, callees before their callers. */
static void visit_calls(const struct vt_regionlist *l, size_t root, size_t *stack)
{
	struct procedure *p = vt_hash_at(&l->procedures, root);
	size_t depth = 0;

	if (p->state != UNSEEN)
		return;
	p->state = OPEN;
	stack[depth++] = root;
	while (depth) {
		struct procedure *callee;

		p = vt_hash_at(&l->procedures, stack[depth - 1]);
		if (p->next == p->nsites) {
			finish_procedure(l, p);
			depth--;
			continue;
		}
		callee = find_callee(l, &l->sites[p->site + p->next++]);
		if (callee && callee->state == UNSEEN) {
			callee->state = OPEN;
			stack[depth++] = vt_hash_index(&l->procedures, callee);
		}
	}
}

static int time_calls(struct vt_regionlist *l, struct vt_error *err)
{
	size_t n = l->started ? l->procedures.count : 0, i;
	size_t *stack = malloc((n + 1) * sizeof(*stack));

	if (!stack)
		return vt_error_nomem(err);
	for (i = 0; i < l->nsites; i++) {
		struct procedure *callee = find_callee(l, &l->sites[i]);

		if (callee)
			callee->calls += l->sites[i].often;
	}
	for (i = 0; i < n; i++)
		visit_calls(l, i, stack);
	free(stack);
	for (i = 0; i < l->nsites; i++) {
		struct vti_listed_region *r;

		if (l->sites[i].region == NONE)
			continue;
		r = &l->regions[l->sites[i].region];
		r->calls = true;
		add_call(&l->sites[i], find_callee(l, &l->sites[i]), &r->called_cycles,
			 &r->called_samples, &r->unknown);
	}
	return 0;
}

/* ---- writing ---- */

static uint64_t region_flags(const struct vti_listed_region *l)
{
	const struct vt_region *r = &l->r;

	return (r->head != VT_CFG_ENTRY ? VT_REGION_IS_LOOP : 0U) |
	       (r->overlaps ? VT_REGION_OVERLAPS : 0U) |
	       (r->half > VT_REGIONS_WIDTH ? VT_REGION_IS_WIDE : 0U) |
	       (l->called_samples > 0 ? VT_REGION_CALLS : 0U) |
	       (l->unknown ? VT_REGION_CALLS_UNKNOWN : 0U);
}

static void set_interval(uint64_t *row, unsigned low, unsigned high, double cycles, double half)
{
	bool known = half < INFINITY;

	vt_row_set_f64(&row[low], known ? fmax(cycles * (1 - half), 0) : 0);
	vt_row_set_f64(&row[high], known ? cycles * (1 + half) : INFINITY);
}

/* The borders between a region and what it calls do not matter. */
static void set_time_with_calls(uint64_t *row, const struct vti_listed_region *l)
{
	double cycles = l->r.cycles + l->called_cycles;
	double samples = l->r.samples + l->called_samples;
	double half = vt_region_half_width(samples, l->r.visits, cycles, l->r.doubt);

	vt_row_set_f64(&row[VT_REGION_WITH_CALLS], cycles / l->r.rounds);
	set_interval(row, VT_REGION_WITH_CALLS_LOW, VT_REGION_WITH_CALLS_HIGH, cycles / l->r.rounds,
		     half);
}

static void write_region(const struct vt_regionlist *list, const struct vti_listed_region *l,
			 struct vt_writer *w)
{
	const struct vt_region *r = &l->r;
	uint64_t *row = vt_writer_row(w, VT_REGION);

	row[VT_REGION_IMAGE] = l->image;
	row[VT_REGION_OFFSET] = l->offset;
	row[VT_REGION_EVENT] = l->event;
	row[VT_REGION_SAMPLES] = r->samples < 0x1p63 ? (uint64_t)r->samples : UINT64_MAX;
	vt_row_set_f64(&row[VT_REGION_VISITS], r->visits);
	vt_row_set_f64(&row[VT_REGION_ROUNDS], r->rounds);
	vt_row_set_f64(&row[VT_REGION_INSNS], r->executions / r->rounds);
	vt_row_set_f64(&row[VT_REGION_CYCLES], r->cycles / r->rounds);
	set_interval(row, VT_REGION_CYCLES_LOW, VT_REGION_CYCLES_HIGH, r->cycles / r->rounds,
		     r->half);
	vt_row_set_f64(&row[VT_REGION_BEST], r->best / r->rounds);
	vt_row_set_f64(&row[VT_REGION_LEAST], r->least / r->rounds);
	row[VT_REGION_FLAGS] = region_flags(l);
	set_time_with_calls(row, l);
	vt_writer_words(w, VT_REGION_RANGES, list->words + l->words, l->nwords);
}

int vt_regionlist_write(struct vt_regionlist *l, struct vt_writer *w, struct vt_error *err)
{
	size_t i;
	int code = time_calls(l, err);

	for (i = 0; i < l->count && code == 0; i++)
		if (l->regions[i].r.samples > 0 || l->regions[i].called_samples > 0)
			write_region(l, &l->regions[i], w);
	l->count = l->nsites = l->nwords = 0;
	if (l->started)
		vt_hash_clear(&l->procedures);
	return code;
}

void vt_regionlist_fini(struct vt_regionlist *l)
{
	free(l->regions);
	free(l->sites);
	free(l->words);
	if (l->started)
		vt_hash_fini(&l->procedures);
	memset(l, 0, sizeof(*l));
}
