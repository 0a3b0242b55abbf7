/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/run.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ordered.h"
#include "freq/calls.h"
#include "freq/charge.h"
#include "freq/clock.h"
#include "freq/freq.h"
#include "freq/region_records.h"
#include "machine/pipeline/ooo.h"
#include "profile/procedure_flow.h"

/* ---- places in order ---- */

static int write_sample_counts(const struct vt_profile *p, struct vt_writer *w,
			       struct vt_error *err)
{
	size_t i, n = vt_profile_nplaces(p);
	struct vt_place *all = malloc((n + 1) * sizeof(*all));

	if (!all)
		return vt_error_nomem(err);
	for (i = 0; i < n; i++)
		all[i] = *vt_profile_place(p, i);
	qsort(all, n, sizeof(*all), vt_place_compare);
	for (i = 0; i < n; i++) {
		const struct vt_profile_event *e = vt_profile_event(p, all[i].event);
		uint64_t *row;

		/* Other records say what was executed. */
		if (e->kind == VT_PROFILE_EXECUTED)
			continue;
		row = vt_writer_row(w, VT_COUNT);
		row[VT_COUNT_IMAGE] = all[i].image;
		row[VT_COUNT_OFFSET] = all[i].offset;
		row[VT_COUNT_EVENT] = e->id;
		row[VT_COUNT_SAMPLES] = all[i].samples;
		row[VT_COUNT_PERIOD] = all[i].period;
	}
	free(all);
	return 0;
}

/* A place and the procedure that it is in, if any: not a label or a procedure within that. */
struct spot {
	struct vt_place place;
	uint64_t vaddr;
	const struct vt_symbol *symbol;
};

static int by_procedure(const void *x, const void *y)
{
	const struct spot *a = x, *b = y;
	uint64_t p = a->symbol ? a->symbol->start : 0, q = b->symbol ? b->symbol->start : 0;

	if (a->place.image != b->place.image)
		return a->place.image < b->place.image ? -1 : 1;
	if (a->place.pid != b->place.pid)
		return a->place.pid < b->place.pid ? -1 : 1;
	if (!a->symbol != !b->symbol)
		return a->symbol ? 1 : -1;
	if (p != q)
		return p < q ? -1 : 1;
	return (a->place.offset > b->place.offset) - (a->place.offset < b->place.offset);
}

static void find_symbol(const struct vt_freqrun_options *o, struct spot *s)
{
	struct vt_location loc = {.symbol = NULL};
	const struct vt_symbols *symbols;
	enum vt_unknown why;

	if (s->place.image == VT_UNMAPPED_IMAGE)
		return;
	vt_images_symbol(o->images, s->place.image, s->place.pid, s->place.offset, &loc);
	symbols = vt_images_symbols(o->images, s->place.image, s->place.pid, &why);
	if (!loc.symbol || !symbols)
		return;
	s->symbol = vt_symbols_outermost(symbols, loc.symbol);
	s->vaddr = loc.vaddr;
}

/* The places that a source has counts at.  With `list` NULL, only counts them. */
static size_t find_source_spots(const struct vt_freqrun_options *o, struct spot *list)
{
	uint64_t id = vt_profile_event(o->profile, o->event)->id;
	size_t i, k, n = 0;

	for (i = 0; i < o->nsources; i++) {
		const struct vt_count_source *source = &o->sources[i];
		struct spot s = {.symbol = NULL};

		for (k = 0; source->place && source->place(source->source, id, k, &s.place);
		     k++, n++) {
			if (!list)
				continue;
			list[n] = s;
			find_symbol(o, &list[n]);
		}
	}
	return n;
}

static int find_spots(const struct vt_freqrun_options *o, struct spot **spots, size_t *count,
		      struct vt_error *err)
{
	size_t i, n = vt_profile_nplaces(o->profile), k = find_source_spots(o, NULL);
	struct spot *list = malloc((n + k + 1) * sizeof(*list));

	if (!list)
		return vt_error_nomem(err);
	k = find_source_spots(o, list);
	for (i = 0; i < n; i++) {
		struct spot s = {.place = *vt_profile_place(o->profile, i)};

		if (s.place.event != o->event)
			continue;
		find_symbol(o, &s);
		list[k++] = s;
	}
	qsort(list, k, sizeof(*list), by_procedure);
	*spots = list;
	*count = k;
	return 0;
}

static uint64_t sum_spot_samples(const struct spot *spots, size_t n)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += spots[i].place.samples;
	return sum;
}

/* ---- one procedure ---- */

struct freq_run {
	const struct vt_freqrun_options *o;
	struct vt_core core; /* for any thread: it has no cache */
	struct vt_writer *w;
	struct vt_freqrun_totals *totals;
	struct vt_freqcalls calls;    /* of the image, so far */
	struct vt_regionlist regions; /* likewise */
	double period;		      /* mean cycles of a sample; 0: there are none */
	bool stubs;		      /* this pass analyses stubs only; false: the others only */
	struct vt_clockfit *fit;      /* loops for the effective clock are sought; NULL: not */
	struct vt_otherrun *other;    /* likewise, for the factor of counts */
	struct vt_ordered *threads;
	struct vt_error *err; /* of the first procedure that failed */
	int code;
};

/* A procedure's numbers, by instruction of its graph. */
struct insn_numbers {
	uint64_t *samples;
	uint64_t *period;
	double *cycles;
};

static void numbers_fini(struct insn_numbers *n)
{
	free(n->samples);
	free(n->period);
	free(n->cycles);
}

/* The instruction that holds an address; samples may fall inside of one. */
static uint32_t insn_holding(const struct vt_cfg *g, uint64_t addr)
{
	size_t n = vt_array_up_to(g->insns, g->ninsns, sizeof(*g->insns), addr);

	if (!n || addr - g->insns[n - 1].addr >= g->insns[n - 1].length)
		return UINT32_MAX;
	return (uint32_t)n - 1;
}

/* A procedure's places, and behind them those of procedures that begin before it ends. */
struct procedure_spots {
	const struct spot *spots;
	size_t own;
	size_t all;
};

/*
 * A procedure on its way: what is asked of images and sources comes in order, then any thread
 * estimates it, and the results are written in order.
 */
struct freq_job {
	const struct freq_run *run;
	struct procedure_spots part;
	struct vt_procflow *f;
	struct vt_symbols *symbols; /* of its image */
	uint64_t offset;	    /* in the image */
	struct insn_numbers n;
	struct vt_freq_counts counts;
	struct vt_freq_measure entries;
	struct vt_freqs *freqs;
	struct vt_error err;
	int code;
};

static void free_job(struct freq_job *j)
{
	vt_procflow_free(j->f);
	numbers_fini(&j->n);
	vt_freq_counts_fini(&j->counts);
	vt_freqs_free(j->freqs);
	free(j);
}

static void scale_cycles(const struct freq_run *r, const struct vt_procflow *f,
			 struct insn_numbers *n)
{
	uint32_t i;

	for (i = 0; i < f->cfg->ninsns; i++)
		n->cycles[i] = (double)n->period[i] * r->totals->scale;
}

static int fill_numbers(const struct freq_run *r, const struct vt_procflow *f,
			const struct procedure_spots *part, struct insn_numbers *n,
			struct vt_error *err)
{
	const struct spot *spots = part->spots;
	uint32_t i, count = f->cfg->ninsns + 1;
	size_t k;

	n->samples = calloc(count, sizeof(*n->samples));
	n->period = calloc(count, sizeof(*n->period));
	n->cycles = calloc(count, sizeof(*n->cycles));
	if (!n->samples || !n->period || !n->cycles)
		return vt_error_nomem(err);
	for (k = 0; k < part->all; k++) {
		i = insn_holding(f->cfg, spots[k].vaddr);
		if (i == UINT32_MAX) {
			r->totals->stray += k < part->own ? spots[k].place.samples : 0;
			continue;
		}
		n->samples[i] += spots[k].place.samples;
		n->period[i] += spots[k].place.period;
		if (f->ops[i].estimated && k < part->own)
			r->totals->estimated += spots[k].place.samples;
	}
	scale_cycles(r, f, n);
	return 0;
}

/* Whether an instruction has a best case: out of order, only what was executed is scheduled. */
static bool is_scheduled(const struct freq_run *r, const struct freq_job *j, uint32_t insn)
{
	return j->f->costs && (r->core.order == VT_IN_ORDER || j->freqs->insn[insn].executions > 0);
}

static void write_freqs(const struct freq_run *r, const struct freq_job *j)
{
	const struct vt_procflow *f = j->f;
	const struct insn_numbers *n = &j->n;
	uint64_t event = vt_profile_event(r->o->profile, r->o->event)->id;
	struct vti_freq_owner owner = {.symbols = j->symbols, .flow = f};
	uint32_t i;

	for (i = 0; i < f->cfg->ninsns; i++) {
		const struct vt_freq_value *v = &j->freqs->insn[i];
		uint64_t addr = f->cfg->insns[i].addr;
		uint64_t *row;

		if (!vti_freq_is_own(&owner, addr))
			continue;
		r->totals->by_confidence[v->confidence] += n->samples[i];
		if (!r->w)
			continue;
		row = vt_writer_row(r->w, VT_FREQ);
		row[VT_FREQ_IMAGE] = f->proc.image;
		row[VT_FREQ_OFFSET] = addr - f->proc.start + j->offset;
		row[VT_FREQ_EVENT] = event;
		row[VT_FREQ_SAMPLES] = n->samples[i];
		row[VT_FREQ_PERIOD] = n->period[i];
		vt_row_set_f64(&row[VT_FREQ_EXECUTIONS], v->executions);
		vt_row_set_f64(&row[VT_FREQ_LOW], v->low);
		vt_row_set_f64(&row[VT_FREQ_HIGH], v->high);
		vt_row_set_f64(&row[VT_FREQ_CYCLES], v->executions > 0 && !r->o->untimed
							     ? n->cycles[i] / v->executions
							     : NAN);
		vt_row_set_f64(&row[VT_FREQ_ISSUE],
			       is_scheduled(r, j, i) ? (double)f->costs[i].head : NAN);
		row[VT_FREQ_CONFIDENCE] = v->confidence;
		row[VT_FREQ_METHOD] = v->method;
	}
}

static void write_edges(const struct freq_run *r, const struct freq_job *j)
{
	const struct vt_procflow *f = j->f;
	const struct vt_cfg *g = f->cfg;
	struct vti_freq_owner owner = {.symbols = j->symbols, .flow = f};
	uint32_t i;

	for (i = 0; i < g->nedges && r->w; i++) {
		const struct vt_cfg_edge *e = &g->edges[i];
		const struct vt_cfg_block *from = &g->blocks[e->from];
		const struct vt_freq_value *v = &j->freqs->edge[i];
		uint64_t *row, last;

		if (e->from < VT_CFG_FIRST || e->to < VT_CFG_FIRST || !from->ninsns ||
		    v->confidence == VT_CONFIDENCE_NONE)
			continue;
		last = g->insns[from->insn + from->ninsns - 1].addr;
		if (!vti_freq_is_own(&owner, last))
			continue;
		row = vt_writer_row(r->w, VT_EDGE);
		row[VT_EDGE_IMAGE] = f->proc.image;
		row[VT_EDGE_FROM] = last - f->proc.start + j->offset;
		row[VT_EDGE_TO] = g->blocks[e->to].start - f->proc.start + j->offset;
		vt_row_set_f64(&row[VT_EDGE_EXECUTIONS], v->executions);
		vt_row_set_f64(&row[VT_EDGE_LOW], v->low);
		vt_row_set_f64(&row[VT_EDGE_HIGH], v->high);
		row[VT_EDGE_CONFIDENCE] = v->confidence;
		row[VT_EDGE_METHOD] = v->method;
	}
}

/* Of machines that issue out of order, where executions are known. */
static int list_regions(struct freq_run *r, const struct freq_job *j, struct vt_error *err)
{
	enum vt_unknown why;
	const struct vt_region_source s = {
		.core = &r->core,
		.flow = j->f,
		.elf = vt_images_elf(r->o->images, j->f->proc.image, &why),
		.symbols = j->symbols,
		.freqs = j->freqs,
		.samples = j->n.samples,
		.cycles = j->n.cycles,
		.offset = j->offset,
		.event = vt_profile_event(r->o->profile, r->o->event)->id,
	};

	if (!r->w || !j->f->costs || r->o->untimed || r->core.order == VT_IN_ORDER)
		return 0;
	return vt_regionlist_add(&r->regions, &s, err);
}

static enum vt_policy event_policy(const struct freq_run *r)
{
	return vt_profile_event(r->o->profile, r->o->event)->policy;
}

static bool is_skewed(const struct freq_run *r)
{
	enum vt_policy policy = event_policy(r);

	return r->o->untimed || r->o->core->order == VT_OUT_OF_ORDER ||
	       policy == VT_POLICY_INTERRUPT || policy == VT_POLICY_UNKNOWN;
}

/* Negative ones are unknown, and stay so. */
static void scale_exact(struct vt_freq_counts *c, const struct vt_cfg *g, double factor)
{
	uint32_t i;

	for (i = 0; i < g->ninsns && c->exact; i++)
		c->exact[i] *= factor;
	for (i = 0; i < g->nedges && c->exact_edges; i++)
		c->exact_edges[i] *= factor;
}

/* Asks all sources for the counts of a procedure. */
static int count_procedure(const struct freq_run *r, struct freq_job *j, struct vt_error *err)
{
	const struct vt_freqrun_options *o = r->o;
	const struct vt_count_request request = {.images = o->images,
						 .flow = j->f,
						 .offset = j->offset,
						 .event =
							 vt_profile_event(o->profile, o->event)->id,
						 .scale = r->totals->scale};
	size_t i;
	int code = 0;

	for (i = 0; i < o->nsources && code == 0; i++)
		code = o->sources[i].count(o->sources[i].source, &request, &j->counts, err);
	if (code == 0 && r->totals->other.verdict == VT_OTHERRUN_SCALED)
		scale_exact(&j->counts, j->f->cfg, r->totals->other.factor);
	return code;
}

/* Of exact counts. */
static double find_exact_doubt(const struct vt_otherrun_factor *f)
{
	return f->verdict == VT_OTHERRUN_ALIKE ? 0 : f->doubt;
}

static int estimate_counts(struct freq_job *j, struct vt_error *err)
{
	const struct freq_run *r = j->run;
	const struct vt_freqrun_options *o = r->o;
	const struct vt_freq_input in = {
		.flow = j->f,
		.core = &r->core,
		.samples = j->n.samples,
		.cycles = j->n.cycles,
		.period = r->period,
		.exact = j->counts.exact,
		.exact_edges = j->counts.exact_edges,
		.exact_doubt = find_exact_doubt(&r->totals->other),
		.entries = j->entries,
		.measured = j->counts.measured,
		.measured_edges = j->counts.measured_edges,
		.measure_unit = j->counts.measure_unit,
		.measure_timed = j->counts.measure_timed,
		.method = o->method,
		.skewed = is_skewed(r),
		.counts_only = o->core->order == VT_OUT_OF_ORDER || o->untimed,
	};
	int code = vt_freqs_need_classes(&in) ? vt_procflow_classify(j->f, err) : 0;

	/* It is decoded: nothing is asked of its image. */
	if (code == 0 && vt_freqs_need_schedule(&in))
		code = vt_procflow_schedule(j->f, NULL, NULL, &r->core, NULL, err);
	if (code < 0)
		return code;
	j->freqs = vt_freqs_new(&in, err);
	return j->freqs ? 0 : -(int)err->code;
}

static void estimate_procedure(void *run, void *job)
{
	const struct freq_run *r = run;
	struct freq_job *j = job;

	j->code = estimate_counts(j, &j->err);
	if (j->code == 0)
		j->code = vt_freq_charge(vt_freq_charge_of(event_policy(r), r->o->core->order),
					 j->f, j->freqs, j->n.samples, j->n.period, &j->err);
}

static int report_procedure(struct freq_run *r, struct freq_job *j, struct vt_error *err)
{
	int code = 0;

	if (!r->stubs)
		code = vt_freqcalls_add(&r->calls, r->o->images, j->symbols, j->f, j->freqs, err);
	if (code == 0 && r->fit)
		code = vt_clockfit_add(r->fit, &r->core, j->f, j->freqs, j->n.samples, j->n.period,
				       err);
	if (code == 0 && r->other && j->counts.exact)
		code = vt_otherrun_add(r->other, &r->core, j->f, j->freqs, j->n.samples,
				       j->n.period, err);
	if (code < 0)
		return code;
	scale_cycles(r, j->f, &j->n);
	write_freqs(r, j);
	write_edges(r, j);
	r->totals->procedures++;
	r->totals->complete += j->f->cfg->complete;
	return list_regions(r, j, err);
}

static void finish_procedure(void *run, void *job)
{
	struct freq_run *r = run;
	struct freq_job *j = job;

	if (r->code == 0 && j->code < 0) {
		r->code = j->code;
		*r->err = j->err;
	}
	if (r->code == 0)
		r->code = report_procedure(r, j, r->err);
	free_job(j);
}

/* What a procedure needs of images, sources, and those before it. */
static int fill_job(const struct freq_run *r, struct freq_job *j, struct vt_error *err)
{
	const struct spot *first = j->part.spots;
	enum vt_unknown why;
	int code = fill_numbers(r, j->f, &j->part, &j->n, err);

	j->symbols = vt_images_symbols(r->o->images, j->f->proc.image, j->f->proc.pid, &why);
	j->offset = first->place.offset - (first->vaddr - j->f->proc.start);
	j->entries = r->stubs ? vt_freqcalls_of(&r->calls, j->f->proc.start)
			      : (struct vt_freq_measure){.executions = -1};
	return code == 0 ? count_procedure(r, j, err) : code;
}

/* Takes over the graph. */
static int start_procedure(struct freq_run *r, struct vt_procflow *f,
			   const struct procedure_spots *part, struct vt_error *err)
{
	struct freq_job *j = calloc(1, sizeof(*j));
	int code;

	if (!j) {
		vt_procflow_free(f);
		return vt_error_nomem(err);
	}
	*j = (struct freq_job){.run = r, .part = *part, .f = f, .err = VT_ERROR_INIT};
	code = fill_job(r, j, err);
	if (code < 0) {
		free_job(j);
		return code;
	}
	vt_ordered_put(r->threads, j, f->cfg->ninsns);
	return r->code;
}

/* ---- all of them ---- */

static double mean_period(const struct freq_run *r, const struct spot *spots, size_t n)
{
	double samples = 0, period = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		samples += (double)spots[i].place.samples;
		period += (double)spots[i].place.period;
	}
	return samples > 0 ? r->totals->scale * period / samples : 0;
}

/* What cannot be analysed is counted; only want of memory ends the run. */
static int do_procedure(struct freq_run *r, const struct procedure_spots *part,
			struct vt_error *err)
{
	const struct spot *spots = part->spots;
	const struct vt_symbol *sym = spots->symbol;
	struct vt_procedure proc = {
		.image = spots->place.image,
		.pid = spots->place.pid,
		.start = sym->start,
		.end = sym->end,
		.symbol = sym->name,
		.name = vt_images_display(r->o->images, spots->place.image, spots->place.pid, sym),
	};
	struct vt_procflow *f = vt_procflow_graph(r->o->images, r->o->code, &proc, err);

	if (!f || vt_procflow_decode(f, r->o->images, r->o->code, r->o->core, err) < 0) {
		vt_procflow_free(f);
		r->totals->no_code += sum_spot_samples(spots, part->own);
		return err->code == VT_E_NOMEM ? -VT_E_NOMEM : 0;
	}
	return start_procedure(r, f, part, err);
}

/* Those at the start of `spots` that are of one procedure. */
static size_t count_alike(const struct spot *spots, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (spots[i].symbol != spots->symbol ||
		    spots[i].place.image != spots->place.image ||
		    spots[i].place.pid != spots->place.pid)
			break;
	return i;
}

/* Symbols may overlap: samples in both belong to both. */
static size_t count_overlapping(const struct spot *spots, size_t own, size_t n)
{
	size_t i;

	for (i = own; i < n; i++)
		if (!spots[i].symbol || spots[i].symbol->start >= spots->symbol->end ||
		    spots[i].place.image != spots->place.image ||
		    spots[i].place.pid != spots->place.pid)
			break;
	return i;
}

/* Of the procedure linkage table: so it is named where symbols are read. */
static bool is_plt_stub(const struct spot *spot)
{
	static const char suffix[] = "@plt";
	size_t n = spot->symbol ? strlen(spot->symbol->name) : 0;

	return n >= strlen(suffix) && strcmp(spot->symbol->name + n - strlen(suffix), suffix) == 0;
}

/* Those of one procedure, or of none, if this pass is for them; `n` are left of the image. */
static int do_spots(struct freq_run *r, const struct spot *spots, size_t own, size_t n,
		    struct vt_error *err)
{
	struct procedure_spots part = {spots, own, 0};

	if (r->stubs != is_plt_stub(spots))
		return 0;
	r->totals->samples += sum_spot_samples(spots, own);
	if (spots->symbol) {
		part.all = count_overlapping(spots, own, n);
		if (r->fit && sum_spot_samples(spots, part.all) < VT_CLOCKFIT_SAMPLES)
			return 0;
		return do_procedure(r, &part, err);
	}
	if (spots->place.image == VT_UNMAPPED_IMAGE)
		r->totals->unmapped += sum_spot_samples(spots, own);
	else
		r->totals->outside += sum_spot_samples(spots, own);
	return 0;
}

/* Those of one image: its stubs come last, for then it is known how often they are called. */
static int do_image(struct freq_run *r, const struct spot *spots, size_t count,
		    struct vt_error *err)
{
	size_t i, n;
	int pass, code = 0;

	vt_freqcalls_clear(&r->calls);
	for (pass = 0; pass < 2; pass++) {
		r->stubs = pass;
		for (i = 0; i < count && code == 0; i += n) {
			n = count_alike(spots + i, count - i);
			code = do_spots(r, spots + i, n, count - i, err);
		}
		vt_ordered_finish(r->threads);
		code = code == 0 ? r->code : code;
	}
	return code == 0 && r->w ? vt_regionlist_write(&r->regions, r->w, err) : code;
}

/* Instructions of procedures that wait, about 500 bytes each. */
#define MOST_WAITING 65536

static int each_image(struct freq_run *r, const struct spot *spots, size_t count,
		      struct vt_error *err)
{
	const struct vt_ordered_work how = {estimate_procedure, finish_procedure, r, MOST_WAITING};
	size_t i, n;
	int code = 0;

	vt_freqcalls_init(&r->calls);
	r->core = *r->o->core;
	r->core.cache = NULL;
	/* Without one, it only takes longer. */
	r->core.pool = vt_ooopool_new();
	r->err = err;
	r->threads = vt_ordered_new(r->o->threads, &how);
	if (!r->threads)
		code = vt_error_nomem(err);
	r->period = mean_period(r, spots, count);
	for (i = 0; i < count && code == 0; i += n) {
		for (n = 1; i + n < count && spots[i + n].place.image == spots[i].place.image &&
			    spots[i + n].place.pid == spots[i].place.pid;)
			n++;
		code = do_image(r, spots + i, n, err);
		if (code == 0 && spots[i].place.image != VT_UNMAPPED_IMAGE)
			vt_freqcalls_compare(&r->calls, r->o->images, spots[i].place.image,
					     &r->totals->calls);
	}
	vt_ordered_free(r->threads);
	vt_ooopool_free(r->core.pool);
	vt_freqcalls_fini(&r->calls);
	vt_regionlist_fini(&r->regions);
	return code;
}

static void write_freq_meta(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
			    struct vt_writer *w)
{
	char text[64];

	vt_writer_meta(w, "vfreq.model", o->model);
	vt_writer_meta(w, "vfreq.event", vt_profile_event(o->profile, o->event)->name);
	vt_writer_meta(w, "vfreq.method", vt_method_name(o->method));
	snprintf(text, sizeof(text), "%.9g", t->scale);
	vt_writer_meta(w, "vfreq.scale", text);
	snprintf(text, sizeof(text), "%.9g", t->slowed);
	if (t->slowed > 0)
		vt_writer_meta(w, "vfreq.slowed", text);
	if (t->clock)
		vt_writer_meta(w, "vfreq.clock", t->clock);
	if (t->other.verdict != VT_OTHERRUN_SAME) {
		snprintf(text, sizeof(text), "%s %.9g %.3g", vt_otherrun_name(t->other.verdict),
			 t->other.factor, t->other.doubt);
		vt_writer_meta(w, "vfreq.exact", text);
	}
	vt_writer_meta_u64(w, "vfreq.samples", t->samples);
	vt_writer_meta_u64(w, "vfreq.unmapped", t->unmapped);
	vt_writer_meta_u64(w, "vfreq.outside", t->outside);
	vt_writer_meta_u64(w, "vfreq.no_code", t->no_code);
	vt_writer_meta_u64(w, "vfreq.stray", t->stray);
	vt_writer_meta_u64(w, "vfreq.estimated", t->estimated);
}

static void start_totals(const struct vt_freqrun_options *o, struct vt_freqrun_totals *t)
{
	*t = (struct vt_freqrun_totals){.scale = o->scale, .clock = o->clock};
}

/* Finds the effective clock in a run of its own, which writes nothing. */
static int fit_clock(const struct vt_freqrun_options *o, const struct spot *spots, size_t count,
		     struct vt_freqrun_totals *totals, struct vt_error *err)
{
	struct vt_freqrun_totals unused;
	struct freq_run r = {.o = o, .totals = &unused, .fit = vt_clockfit_new()};
	double clock;
	int code = r.fit ? 0 : vt_error_nomem(err);

	start_totals(o, &unused);
	if (code == 0)
		code = each_image(&r, spots, count, err);
	if (code == 0 && vt_clockfit_find(r.fit, &clock, &totals->loops)) {
		totals->scale = clock;
		totals->clock = "fitted";
	}
	if (code == 0 && strcmp(totals->clock, "assumed") != 0)
		totals->slowed = vt_clockfit_slowed(r.fit, totals->scale);
	vt_clockfit_free(r.fit);
	return code;
}

/* Finds what exact counts of another run are to be multiplied by, in a run of its own, too. */
static int fit_factor(const struct vt_freqrun_options *o, const struct spot *spots, size_t count,
		      struct vt_freqrun_totals *totals, struct vt_error *err)
{
	struct vt_freqrun_totals unused;
	struct freq_run r = {.o = o, .totals = &unused, .other = vt_otherrun_new()};
	int code = r.other ? 0 : vt_error_nomem(err);

	start_totals(o, &unused);
	if (code == 0)
		code = each_image(&r, spots, count, err);
	/* The clock that is fitted to the same loops takes the factor for 1. */
	if (code == 0)
		vt_otherrun_find(r.other, o->fit_clock ? 0 : o->scale, &totals->other);
	totals->slowed = totals->other.slowed;
	vt_otherrun_free(r.other);
	return code;
}

int vt_freqrun(const struct vt_freqrun_options *o, struct vt_writer *w,
	       struct vt_freqrun_totals *totals, struct vt_error *err)
{
	struct freq_run r = {.o = o, .w = w, .totals = totals};
	struct spot *spots = NULL;
	size_t count = 0;
	int code;

	assert(o->clock || !o->fit_clock);
	start_totals(o, totals);
	if (o->event == SIZE_MAX) {
		if (w)
			vt_writer_meta_u64(w, "vfreq.samples", 0);
		return 0;
	}
	code = w ? write_sample_counts(o->profile, w, err) : 0;
	if (w && o->stacks)
		vt_stackcount_write_mispredicts(o->stacks,
						vt_profile_event(o->profile, o->event)->id, w);
	if (code == 0)
		code = find_spots(o, &spots, &count, err);
	if (o->other_run && o->untimed)
		totals->other = (struct vt_otherrun_factor){VT_OTHERRUN_UNTOLD, .factor = 1};
	else if (code == 0 && o->other_run)
		code = fit_factor(o, spots, count, totals, err);
	/* Counts of a run that did something else show no clock. */
	if (code == 0 && o->fit_clock && totals->other.verdict != VT_OTHERRUN_RATIOS &&
	    o->core->order == VT_OUT_OF_ORDER)
		code = fit_clock(o, spots, count, totals, err);
	if (code == 0)
		code = each_image(&r, spots, count, err);
	if (code == 0 && w)
		write_freq_meta(o, totals, w);
	free(spots);
	return code;
}

bool vt_freqrun_replaces(const struct vt_record *rec)
{
	struct vt_bytes key;

	switch (rec->kind) {
	case VT_SAMPLE:
	case VT_COUNT:
	case VT_FREQ:
	case VT_EDGE:
	case VT_STALL:
	case VT_REGION:
	case VT_MISPREDICT:
		return true;
	case VT_META:
		key = vt_record_bytes(rec, VT_META_KEY);
		return key.size >= 6 && memcmp(key.data, "vfreq.", 6) == 0;
	default:
		return false;
	}
}
