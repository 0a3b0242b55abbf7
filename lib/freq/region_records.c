/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/region_records.h"

#include <math.h>
#include <stdlib.h>

#include "freq/region.h"

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
		/* The limits are two deviations away. */
		n->doubt[i] = v->executions > 0 ? (v->high - v->low) / 4 / v->executions : 0;
	}
	for (i = 0; i < edges; i++)
		n->edges[i] = s->freqs->edge[i].executions;
	return 0;
}

/* Pieces of code that lie behind each other are one; returns the number of words. */
static size_t list_ranges(const struct vt_region_source *s, const struct vt_regions *all,
			  uint32_t which, uint64_t *words)
{
	const struct vt_cfg *g = s->flow->cfg;
	uint64_t base = s->offset - s->flow->proc.start;
	size_t n = 0;
	uint32_t b;

	for (b = VT_CFG_FIRST; b < g->nblocks; b++) {
		if (all->of[b] != which || !g->blocks[b].ninsns)
			continue;
		if (!n || words[n - 1] != g->blocks[b].start + base) {
			words[n++] = g->blocks[b].start + base;
			n++;
		}
		words[n - 1] = g->blocks[b].end + base;
	}
	return n;
}

static uint64_t region_flags(const struct vt_region *r)
{
	return (r->head != VT_CFG_ENTRY ? VT_REGION_IS_LOOP : 0U) |
	       (r->overlaps ? VT_REGION_OVERLAPS : 0U) |
	       (r->half > VT_REGIONS_WIDTH ? VT_REGION_IS_WIDE : 0U);
}

static void write_region(const struct vt_region_source *s, const struct vt_regions *all,
			 uint32_t which, uint64_t *words, struct vt_writer *w)
{
	const struct vt_region *r = &all->list[which];
	const struct vt_cfg *g = s->flow->cfg;
	uint64_t head = r->head == VT_CFG_ENTRY ? g->start : g->blocks[r->head].start;
	double cycles = r->cycles / r->rounds;
	bool known = r->half < INFINITY;
	uint64_t *row = vt_writer_row(w, VT_REGION);

	row[VT_REGION_IMAGE] = s->flow->proc.image;
	row[VT_REGION_OFFSET] = head - s->flow->proc.start + s->offset;
	row[VT_REGION_EVENT] = s->event;
	row[VT_REGION_SAMPLES] = (uint64_t)r->samples;
	vt_row_set_f64(&row[VT_REGION_VISITS], r->visits);
	vt_row_set_f64(&row[VT_REGION_ROUNDS], r->rounds);
	vt_row_set_f64(&row[VT_REGION_INSNS], r->executions / r->rounds);
	vt_row_set_f64(&row[VT_REGION_CYCLES], cycles);
	vt_row_set_f64(&row[VT_REGION_CYCLES_LOW], known ? fmax(cycles * (1 - r->half), 0) : 0);
	vt_row_set_f64(&row[VT_REGION_CYCLES_HIGH], known ? cycles * (1 + r->half) : INFINITY);
	vt_row_set_f64(&row[VT_REGION_BEST], r->best / r->rounds);
	vt_row_set_f64(&row[VT_REGION_LEAST], r->least / r->rounds);
	row[VT_REGION_FLAGS] = region_flags(r);
	vt_writer_words(w, VT_REGION_RANGES, words, list_ranges(s, all, which, words));
}

int vt_region_records(const struct vt_region_source *s, struct vt_writer *w, struct vt_error *err)
{
	struct region_numbers n = {.executions = NULL};
	uint64_t *words = malloc((2 * (size_t)s->flow->cfg->nblocks + 1) * sizeof(*words));
	struct vt_regions *all = NULL;
	uint32_t i;
	int code = words ? fill_region_numbers(s, &n, err) : vt_error_nomem(err);

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
	for (i = 0; all && i < all->count; i++)
		if (!all->list[i].merged && all->list[i].rounds > 0 && all->list[i].samples > 0)
			write_region(s, all, i, words, w);
	vt_regions_free(all);
	free(n.executions);
	free(words);
	return code;
}
