/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "culprit/culprits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/ordered.h"
#include "freq/charge.h"
#include "freq/region.h"
#include "machine/pipeline/ooo.h"

/* Samples of an event that bounds a cause. */
struct event_place {
	uint64_t offset;
	uint32_t image;
	enum vt_culprit_event event;
	uint64_t samples;
};

/* Of so many of them, about, what is usual is learnt. */
#define LEARNT 100000

/* A procedure with code and records, which lie in it. */
struct work {
	struct vt_procedure proc;
	const struct vt_freq_at *records;
	size_t nrecords;
	uint64_t offset;
};

struct run {
	const struct vt_culprits_source *src;
	struct vt_core core; /* for any thread: it has no cache */
	vt_culprits_fn *fn;
	void *arg;
	struct vt_culprits_totals *t;
	struct vt_error *err;
	struct event_place *events; /* by image and offset */
	size_t nevents;
	size_t events_cap;
	double period[VT_NCULPRIT_EVENTS];
	struct vt_footprint *footprint;
	struct vt_culprit_evidence *evidence; /* this pass collects it; NULL: it judges */
	struct vt_culprit_shares shares;
	bool learnt;
	struct work *list; /* procedures for the second time */
	size_t count;
	size_t cap;
	uint64_t insns; /* of them all */
	uint64_t read;	/* instructions, since code was let go of */
	bool charged_before;
	struct vt_ordered *threads;
	int code; /* of the first procedure that failed */
};

/* What is made for a procedure: up to `in` in order, the rest by any thread. */
struct culprit_job {
	const struct run *run;
	struct work w;
	struct vt_procflow *flow;
	struct vt_culprit_insn *insns;
	const struct vt_freq **freqs;
	double *edges;
	bool exact_time; /* a simulator's */
	struct vt_culprit_input in;
	struct vt_culprit_stalls stalls;
	struct vt_error err;
	int code;
};

/* ---- samples of events ---- */

static int compare_event_places(const void *va, const void *vb)
{
	const struct event_place *a = va, *b = vb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (int)a->event - (int)b->event;
}

/* How many events a sample of it stands for; several events of one sort: the most. */
static void take_period(struct run *r, const struct vt_profile_event *e)
{
	enum vt_culprit_event event = e->name ? vt_culprit_event_of(e->name) : VT_NCULPRIT_EVENTS;
	double period = e->samples ? (double)e->period / (double)e->samples : (double)e->sampling;

	if (event < VT_NCULPRIT_EVENTS && period > r->period[event])
		r->period[event] = period;
}

/* A stream with samples of some event has those of all its events: what has none did not happen. */
static bool has_samples(const struct vt_profile *p)
{
	size_t i;

	for (i = 0; i < vt_profile_nevents(p); i++)
		if (vt_profile_event(p, i)->samples)
			return true;
	return false;
}

static int take_events(struct run *r)
{
	const struct vt_profile *p = r->src->profile;
	size_t i, n = vt_profile_nplaces(p);
	size_t nevents = has_samples(p) ? vt_profile_nevents(p) : 0;

	for (i = 0; i < nevents; i++)
		take_period(r, vt_profile_event(p, i));
	for (i = 0; i < n; i++) {
		const struct vt_place *at = vt_profile_place(p, i);
		const char *name = vt_profile_event(p, at->event)->name;
		enum vt_culprit_event event = name ? vt_culprit_event_of(name) : VT_NCULPRIT_EVENTS;

		if (event == VT_NCULPRIT_EVENTS || at->image == VT_UNMAPPED_IMAGE)
			continue;
		if (!vt_array_grow(&r->events, &r->events_cap, r->nevents + 1, sizeof(*r->events)))
			return vt_error_nomem(r->err);
		r->events[r->nevents++] =
			(struct event_place){at->offset, at->image, event, at->samples};
	}
	if (r->nevents)
		qsort(r->events, r->nevents, sizeof(*r->events), compare_event_places);
	return 0;
}

/* The first of them that is not before a place. */
static size_t find_event_place(const struct run *r, uint32_t image, uint64_t offset)
{
	const struct event_place key = {.image = image, .offset = offset};
	size_t low = 0, high = r->nevents;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_event_places(&r->events[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* ---- one procedure ---- */

static uint32_t find_job_insn(const struct culprit_job *j, uint64_t offset)
{
	return vt_cfg_insn_at(j->flow->cfg, j->w.proc.start + (offset - j->w.offset));
}

/* `t` is NULL the second time. */
static void count_freq(struct vt_culprits_totals *t, const struct vt_freq *f, bool inside)
{
	if (!t)
		return;
	if (!inside) {
		t->outside++;
		return;
	}
	t->samples += f->samples;
	if ((unsigned)f->confidence < VT_NCONFIDENCES)
		t->by_confidence[f->confidence] += f->samples;
	if (f->executions > 0 && f->cycles > 0)
		t->cycles += f->executions * f->cycles;
	if (f->executions > 0)
		t->executions += f->executions;
}

static void take_freq(struct culprit_job *j, const struct vt_freq_at *at,
		      struct vt_culprits_totals *t)
{
	const struct vt_freq *f = at->freq;
	uint32_t i = find_job_insn(j, at->offset);
	double period = f->samples ? (double)f->period / (double)f->samples : (double)f->period;

	count_freq(t, f, i != UINT32_MAX);
	if (i == UINT32_MAX)
		return;
	j->freqs[i] = f;
	j->insns[i].executions = f->executions;
	j->insns[i].cycles = f->cycles;
	j->insns[i].confidence = f->confidence;
	/* The values of a simulator are exact. */
	if (f->method != VT_METHOD_MODEL)
		j->insns[i].period = period;
	j->insns[i].time_samples = f->samples;
	/* The upper limit is two deviations away. */
	if (f->executions > 0)
		j->insns[i].doubt = fmax(f->high - f->executions, 0) / 2 / f->executions;
	j->exact_time |= f->method == VT_METHOD_MODEL;
}

/* What two processes tell of one branch adds up. */
static void take_branch(struct vt_culprit_branch *b, const struct vt_mispredict *m)
{
	double n = (double)m->mispredicted, all = b->mispredicted + n;

	if (!(b->branches > 0))
		b->deviation = INFINITY;
	if (isfinite(m->deviation) && isfinite(b->deviation) && all > 0) {
		b->cost = (b->cost * b->mispredicted + m->cost * n) / all;
		b->deviation = hypot(b->deviation * b->mispredicted, m->deviation * n) / all;
	} else if (isfinite(m->deviation)) {
		b->cost = m->cost;
		b->deviation = m->deviation;
	}
	b->branches += (double)m->branches;
	b->mispredicted = all;
}

static void take_mispredicts(const struct run *r, struct culprit_job *j, uint64_t end)
{
	size_t i, n;
	const struct vt_mispredict *m =
		vt_freqprofile_mispredicts(r->src->freq, j->w.proc.image, j->w.offset, end, &n);

	for (i = 0; i < n; i++) {
		uint32_t insn = find_job_insn(j, m[i].offset);

		if (insn != UINT32_MAX)
			take_branch(&j->insns[insn].branch, &m[i]);
	}
}

static void take_loads(const struct run *r, struct culprit_job *j, uint64_t end)
{
	size_t i, n;
	const struct vt_sampled_loads *l =
		vt_freqprofile_loads(r->src->freq, j->w.proc.image, j->w.offset, end, &n);

	for (i = 0; i < n; i++) {
		uint32_t insn = find_job_insn(j, l[i].offset);
		struct vt_culprit_loads *to;

		if (insn == UINT32_MAX)
			continue;
		to = &j->insns[insn].loads;
		to->cache_known += (double)l[i].cache_known;
		to->cache_missed += (double)l[i].cache_missed;
		to->tlb_known += (double)l[i].tlb_known;
		to->tlb_missed += (double)l[i].tlb_missed;
	}
}

static void take_procedure_events(const struct run *r, struct culprit_job *j, uint64_t end)
{
	uint32_t image = j->w.proc.image;
	size_t e;

	for (e = find_event_place(r, image, j->w.offset);
	     e < r->nevents && r->events[e].image == image && r->events[e].offset < end; e++) {
		uint32_t i = find_job_insn(j, r->events[e].offset);

		if (i != UINT32_MAX)
			j->insns[i].samples[r->events[e].event] += (float)r->events[e].samples;
	}
}

/* The executions of an edge, from records sorted by `from` and `to`; NAN: there is none. */
static double edge_value(const struct vt_edgefreq *list, size_t n, uint64_t from, uint64_t to)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct vt_edgefreq *e = &list[mid];

		if (e->from < from || (e->from == from && e->to < to))
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && list[low].from == from && list[low].to == to ? list[low].executions : NAN;
}

/* What a block's edges leave to this one of them; NAN: another is unknown, too. */
static double left_over(const struct culprit_job *j, uint32_t edge, bool in)
{
	const struct vt_cfg *g = j->flow->cfg;
	const struct vt_cfg_edge *e = &g->edges[edge];
	const struct vt_cfg_block *b = &g->blocks[in ? e->to : e->from];
	uint32_t k, n = in ? b->nin : b->nout;
	double left;

	if (!b->ninsns)
		return NAN;
	left = j->insns[in ? b->insn : b->insn + b->ninsns - 1].executions;
	for (k = 0; k < n; k++) {
		uint32_t other = in ? g->in[b->in + k] : b->out + k;

		if (other != edge)
			left -= j->edges[other];
	}
	return left < 0 ? 0 : left;
}

/* Edges without a record: what gets into a block by no other comes by this one. */
static void infer_edges(const struct culprit_job *j)
{
	const struct vt_cfg *g = j->flow->cfg;
	uint32_t i;

	for (i = 0; i < g->nedges; i++) {
		if (!isnan(j->edges[i]))
			continue;
		j->edges[i] = left_over(j, i, true);
		if (isnan(j->edges[i]))
			j->edges[i] = left_over(j, i, false);
	}
}

static void take_edges(const struct run *r, struct culprit_job *j, uint64_t end)
{
	const struct vt_cfg *g = j->flow->cfg;
	size_t n;
	const struct vt_edgefreq *list =
		vt_freqprofile_edges(r->src->freq, j->w.proc.image, j->w.offset, end, &n);
	uint64_t shift = j->w.offset - j->w.proc.start;
	uint32_t i;

	for (i = 0; i < g->nedges; i++) {
		const struct vt_cfg_block *from = &g->blocks[g->edges[i].from];
		const struct vt_cfg_block *to = &g->blocks[g->edges[i].to];

		j->edges[i] = NAN;
		if (g->edges[i].from >= VT_CFG_FIRST && g->edges[i].to >= VT_CFG_FIRST &&
		    from->ninsns)
			j->edges[i] = edge_value(
				list, n, g->insns[from->insn + from->ninsns - 1].addr + shift,
				to->start + shift);
	}
	for (i = 0; i < 2; i++)
		infer_edges(j);
}

static void add_up(struct vt_culprits_totals *t, const struct vt_culprit_stalls *s)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		if (vt_culprit_is_acquittal(&s->list[i]))
			continue;
		t->low[s->list[i].cause] += s->list[i].low;
		t->high[s->list[i].cause] += s->list[i].high;
	}
}

/*
 * From how many cycles on the time of an instruction is its own: the addresses of interrupts are
 * off by groups of instructions that retire together, precise ones by less.
 */
#define PEAK_INTERRUPT 20.0
#define PEAK_PRECISE   10.0

static void make_input(const struct run *r, struct culprit_job *j)
{
	const struct vt_procedure *proc = &j->w.proc;
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(r->src->images, proc->image, &why);

	j->in = (struct vt_culprit_input){
		.core = &r->core,
		.flow = j->flow,
		.insns = j->insns,
		.edges = j->edges,
		.footprint = r->footprint,
		.shares = r->learnt ? &r->shares : NULL,
		.least_peak = r->charged_before ? PEAK_INTERRUPT : PEAK_PRECISE,
		.charged_before = r->charged_before,
		.slowed = vt_freqprofile_slowed(r->src->freq),
		.exact_time = j->exact_time,
	};
	if (elf)
		j->in.code = vt_elf_bytes(elf, proc->start, &j->in.code_size);
	memcpy(j->in.period, r->period, sizeof(j->in.period));
}

/* Brings what was measured to the instructions and edges of a procedure's graph. */
static int fill_graph_counts(const struct run *r, struct culprit_job *j,
			     struct vt_culprits_totals *t)
{
	const struct vt_cfg *g = j->flow->cfg;
	const struct work *w = &j->w;
	uint64_t end = w->offset + (w->proc.end - w->proc.start);
	size_t i;

	j->insns = calloc((size_t)g->ninsns + 1, sizeof(*j->insns));
	j->freqs = calloc((size_t)g->ninsns + 1, sizeof(struct vt_freq *));
	j->edges = calloc((size_t)g->nedges + 1, sizeof(*j->edges));
	if (!j->insns || !j->freqs || !j->edges)
		return vt_error_nomem(r->err);
	for (i = 0; i < g->ninsns; i++)
		j->insns[i].executions = NAN;
	for (i = 0; i < w->nrecords; i++)
		take_freq(j, &w->records[i], t);
	take_procedure_events(r, j, end);
	take_mispredicts(r, j, end);
	take_loads(r, j, end);
	take_edges(r, j, end);
	make_input(r, j);
	return 0;
}

static void free_job(struct culprit_job *j)
{
	vt_procflow_free(j->flow);
	free(j->insns);
	free(j->freqs);
	free(j->edges);
	vt_culprit_stalls_fini(&j->stalls);
	free(j);
}

/* Sets *job to NULL if the procedure's code is not there.  Counts in *t unless that is NULL. */
static int make_job(const struct run *r, const struct work *w, struct vt_culprits_totals *t,
		    struct culprit_job **job)
{
	struct culprit_job *j = calloc(1, sizeof(*j));
	struct vt_error why = VT_ERROR_INIT;
	int code;

	*job = NULL;
	if (!j)
		return vt_error_nomem(r->err);
	*j = (struct culprit_job){.run = r, .w = *w, .err = VT_ERROR_INIT};
	j->flow = vt_procflow_graph(r->src->images, r->src->code, &w->proc, &why);
	if (j->flow)
		code = fill_graph_counts(r, j, t);
	else
		code = why.code == VT_E_NOMEM ? vt_error_nomem(r->err) : 0;
	if (code == 0 && j->flow)
		*job = j;
	else
		free_job(j);
	return code;
}

/*
 * Schedules a procedure as it was run: what a block costs depends on which ways control came to it.
 * Nobody is accused of stalls in code that was not executed, which is most of a program.
 */
static int schedule_procedure(const struct run *r, struct culprit_job *j)
{
	const struct vt_procflow *f = j->flow;
	bool *executed = calloc((size_t)f->cfg->nblocks + 1, sizeof(*executed));
	uint32_t i;
	int code;

	if (!executed)
		return vt_error_nomem(&j->err);
	for (i = 0; i < f->cfg->ninsns; i++)
		executed[f->block[i]] |= j->insns[i].executions > 0;
	code = vt_procflow_schedule_used(j->flow, &r->core, j->edges, executed, j->in.static_only,
					 &j->err);
	free(executed);
	return code;
}

static void judge_procedure(void *run, void *job)
{
	const struct run *r = run;
	struct culprit_job *j = job;

	j->code = schedule_procedure(r, j);
	if (j->code == 0 && !r->evidence)
		j->code = vt_culprit_find(&j->in, &j->stalls, &j->err);
}

static int report_procedure(struct run *r, const struct culprit_job *j)
{
	struct vt_culprits_proc p = {.flow = j->flow,
				     .offset = j->w.offset,
				     .freqs = j->freqs,
				     .insns = j->insns,
				     .stalls = j->stalls.list,
				     .nstalls = j->stalls.count,
				     .regions = j->stalls.regions,
				     .out_of_order = r->core.order == VT_OUT_OF_ORDER};
	uint32_t i, e;

	if (r->evidence)
		return vt_culprit_collect(&j->in, r->evidence, r->err);
	for (i = 0; i < j->flow->cfg->ninsns; i++)
		for (e = 0; e < VT_NCULPRIT_EVENTS; e++)
			p.events[e] += (double)j->insns[i].samples[e] * r->period[e];
	add_up(r->t, &j->stalls);
	return r->fn(r->arg, &p, r->err);
}

static void finish_procedure(void *run, void *job)
{
	struct run *r = run;
	struct culprit_job *j = job;

	if (r->code == 0 && j->code < 0) {
		r->code = j->code;
		*r->err = j->err;
	}
	if (r->code == 0)
		r->code = report_procedure(r, j);
	free_job(j);
}

/* Instructions whose code stays in memory, with what lies around it. */
#define MOST_READ 4096

static void let_code_go(struct run *r, const struct culprit_job *j)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(r->src->images, j->w.proc.image, &why);

	r->read += j->flow->cfg->ninsns;
	if (r->read < MOST_READ)
		return;
	if (elf)
		vt_elf_rest(elf);
	r->read = 0;
}

/* Gives a procedure to the threads, which own it; what is asked of images is asked before. */
static int start_job(struct run *r, struct culprit_job *j)
{
	int code = vt_procflow_decode(j->flow, r->src->images, r->src->code, r->src->core, r->err);

	if (code < 0) {
		free_job(j);
		return code == -VT_E_NOMEM ? code : 0;
	}
	let_code_go(r, j);
	vt_ordered_put(r->threads, j, j->flow->cfg->ninsns);
	return r->code;
}

static int start_procedure(struct run *r, const struct work *w)
{
	struct culprit_job *j;
	int code = make_job(r, w, NULL, &j);

	return code < 0 || !j ? code : start_job(r, j);
}

/* ---- all of them ---- */

/* The procedure that holds a record's place; its offset in *offset. */
static bool find_freq_procedure(const struct run *r, const struct vt_freq_at *at,
				struct vt_procedure *proc, uint64_t *offset)
{
	struct vt_images *images = r->src->images;
	uint32_t image = at->freq->image;
	struct vt_location loc;

	if (vt_images_symbol(images, image, 0, at->offset, &loc) != VT_KNOWN ||
	    loc.symbol->end <= loc.symbol->start)
		return false;
	*proc = (struct vt_procedure){
		.image = image,
		.start = loc.symbol->start,
		.end = loc.symbol->end,
		.symbol = loc.symbol->name,
		.name = vt_images_display(images, image, 0, loc.symbol),
	};
	*offset = at->offset - (loc.vaddr - loc.symbol->start);
	return true;
}

/* Keeps a procedure for later, when it is known what competes with it. */
static int put_off(struct run *r, const struct culprit_job *j)
{
	if (!vt_array_grow(&r->list, &r->cap, r->count + 1, sizeof(*r->list)))
		return vt_error_nomem(r->err);
	r->list[r->count++] = j->w;
	r->insns += j->flow->cfg->ninsns;
	let_code_go(r, j);
	return 0;
}

/* The first time: what it fetches. */
static int take_procedure(struct run *r, const struct work *w)
{
	struct culprit_job *j;
	int code = make_job(r, w, r->t, &j);

	if (code < 0)
		return code;
	if (!j) {
		r->t->without_code++;
		return 0;
	}
	r->t->procedures++;
	code = vt_culprit_enter(&j->in, r->footprint, r->err);
	if (code == 0 && !vt_culprit_may_accuse(&j->in)) {
		j->in.static_only = true;
		return start_job(r, j);
	}
	if (code == 0)
		code = put_off(r, j);
	free_job(j);
	return code;
}

/* Whether nothing is known of a procedure but where its samples are: nobody can be accused. */
static bool is_uncounted(const struct work *w)
{
	size_t i;

	for (i = 0; i < w->nrecords; i++)
		if (w->records[i].freq->confidence != VT_CONFIDENCE_NONE)
			return false;
	return true;
}

static void count_uncounted(struct run *r, const struct work *w)
{
	size_t i;

	r->t->procedures++;
	for (i = 0; i < w->nrecords; i++) {
		r->t->samples += w->records[i].freq->samples;
		r->t->by_confidence[VT_CONFIDENCE_NONE] += w->records[i].freq->samples;
	}
}

/* Takes the procedure at freqs[0]; returns how many records are done with, or an error. */
static int64_t take_first(struct run *r, const struct vt_freq_at *freqs, size_t n)
{
	struct work w = {.records = freqs};
	int code;

	if (!find_freq_procedure(r, freqs, &w.proc, &w.offset)) {
		r->t->outside++;
		return 1;
	}
	while (w.nrecords < n && freqs[w.nrecords].offset - w.offset < w.proc.end - w.proc.start)
		w.nrecords++;
	if (is_uncounted(&w)) {
		count_uncounted(r, &w);
		return (int64_t)w.nrecords;
	}
	code = take_procedure(r, &w);
	return code < 0 ? code : (int64_t)w.nrecords;
}

static int analyse_image(struct run *r, uint32_t image)
{
	size_t n, i = 0;
	const struct vt_freq_at *freqs =
		vt_freqprofile_freqs(r->src->freq, image, 0, UINT64_MAX, &n);

	r->t->places += n;
	while (i < n) {
		int64_t took = take_first(r, freqs + i, n - i);

		if (took < 0)
			return (int)took;
		i += (size_t)took;
	}
	return 0;
}

/* Instructions of procedures that wait, about 500 bytes each. */
#define MOST_WAITING 65536

static int start_threads(struct run *r)
{
	const struct vt_ordered_work how = {judge_procedure, finish_procedure, r, MOST_WAITING};

	r->threads = vt_ordered_new(r->src->threads, &how);
	return r->threads ? 0 : vt_error_nomem(r->err);
}

/* `code` is that of what was given to them. */
static int finish_threads(struct run *r, int code)
{
	vt_ordered_free(r->threads);
	return code < 0 ? code : r->code;
}

/* The first time. */
static int take_procedures(struct run *r)
{
	size_t i;
	int code = start_threads(r);

	if (code < 0)
		return code;
	for (i = 0; i < r->src->nids && code == 0; i++)
		code = analyse_image(r, r->src->ids[i]);
	return finish_threads(r, code);
}

/* Each `stride`-th procedure of those that were put off, in order. */
static int start_procedures(struct run *r, size_t stride)
{
	size_t i;
	int code = start_threads(r);

	if (code < 0)
		return code;
	for (i = 0; i < r->count && code == 0; i += stride)
		code = start_procedure(r, &r->list[i]);
	return finish_threads(r, code);
}

/*
 * Between: what is usual, of some of the procedures.  Out of order, a stall is what others have
 * left of it, so that its length says less of its cause: there, nothing is learnt.
 */
static int collect_evidence(struct run *r)
{
	struct vt_culprit_evidence *e = vt_culprit_evidence_new();
	int code;

	if (!e)
		return vt_error_nomem(r->err);
	r->evidence = e;
	code = start_procedures(r, (size_t)(r->insns / LEARNT) + 1);
	r->evidence = NULL;
	if (code == 0)
		vt_culprit_compute_shares(e, &r->shares);
	r->learnt = code == 0;
	vt_culprit_evidence_free(e);
	return code;
}

/* That the frequencies rest on; NULL: a simulator's truth rests on none. */
static const struct vt_profile_event *find_time_event(const struct vt_culprits_source *src)
{
	size_t i;

	for (i = 0; src->nids && i < vt_profile_nevents(src->profile); i++)
		if (vt_profile_event(src->profile, i)->id == src->event)
			return vt_profile_event(src->profile, i);
	return NULL;
}

static bool is_charged_before(const struct vt_culprits_source *src)
{
	const struct vt_profile_event *e = find_time_event(src);

	return e && vt_freq_charge_of(e->policy, src->core->order) == VT_CHARGE_PREDECESSOR;
}

uint64_t vt_culprits_samples(const struct vt_culprits_totals *t, enum vt_confidence confidence)
{
	return t->by_confidence[confidence] + (confidence == VT_CONFIDENCE_NONE ? t->unknown : 0);
}

int vt_culprits_run(const struct vt_culprits_source *src, vt_culprits_fn *fn, void *arg,
		    struct vt_culprits_totals *t, struct vt_error *err)
{
	struct run r = {.src = src,
			.core = *src->core,
			.fn = fn,
			.arg = arg,
			.t = t,
			.err = err,
			.charged_before = is_charged_before(src)};
	const struct vt_profile_event *time = find_time_event(src);
	int code;

	memset(t, 0, sizeof(*t));
	r.core.cache = NULL;
	/* Without one, it only takes longer. */
	r.core.pool = vt_ooopool_new();
	r.footprint = vt_footprint_new(src->core);
	code = r.footprint ? take_events(&r) : vt_error_nomem(err);
	if (code == 0)
		code = take_procedures(&r);
	if (code == 0)
		code = vt_footprint_finish(r.footprint, err);
	if (code == 0 && src->core->order == VT_IN_ORDER)
		code = collect_evidence(&r);
	/* The second time: who is guilty, now that it is known what competes with whom. */
	if (code == 0)
		code = start_procedures(&r, 1);
	if (time && time->samples > t->samples)
		t->unknown = time->samples - t->samples;
	vt_footprint_free(r.footprint);
	vt_ooopool_free(r.core.pool);
	free(r.list);
	free(r.events);
	return code;
}
