/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/cycles/top_stalls.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "culprit/cause.h"
#include "freq/region.h"
#include "listing/code/source.h"
#include "listing/json.h"

/* Causes kept of a stall; none has more. */
#define CAUSES 16

struct stall_cause {
	enum vt_stall_cause cause;
	enum vt_stall_why why;
	double low;
	double high;
	double bound;
	uint64_t guilty; /* vaddr of the first suspected instruction; 0: none known */
};

/* An instruction, or a region that begins with it. */
struct stalled_insn {
	uint32_t image;
	uint32_t flags; /* enum vt_stall_flags */
	bool loop;
	uint64_t vaddr;
	uint64_t start; /* of the procedure */
	const char *name;
	double executions;
	double cycles; /* lost */
	uint64_t samples;
	enum vt_confidence confidence;
	uint32_t ncauses;
	uint32_t naccused;		   /* of the causes; the others are ruled out */
	struct stall_cause causes[CAUSES]; /* the greatest first */
};

struct vt_culprittop {
	struct stalled_insn *rows;
	size_t count;
	size_t cap;
};

struct vt_culprittop *vt_culprittop_new(void)
{
	return calloc(1, sizeof(struct vt_culprittop));
}

void vt_culprittop_free(struct vt_culprittop *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t);
}

static uint64_t round_count(double v)
{
	return v > 0 && v < 1.8e19 ? (uint64_t)llround(fmin(v, 9e18)) : 0;
}

/* ---- gathering ---- */

static int compare_cause_size(const void *va, const void *vb)
{
	const struct stall_cause *a = va, *b = vb;
	double x = a->low + a->high, y = b->low + b->high;
	bool p = vt_why_acquits(a->why), q = vt_why_acquits(b->why);

	if (p != q)
		return p < q ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	if (a->bound != b->bound)
		return a->bound > b->bound ? -1 : 1;
	return (int)a->cause - (int)b->cause;
}

static void add_stall_cause(struct stalled_insn *row, const struct vt_culprit_stall *s,
			    const struct vt_cfg *g)
{
	if (s->cause == VT_STALL_GAIN || row->ncauses == CAUSES)
		return;
	row->causes[row->ncauses++] = (struct stall_cause){
		.cause = s->cause,
		.why = s->why,
		.low = s->low,
		.high = s->high,
		.bound = s->bound,
		.guilty = s->nguilty ? g->insns[s->guilty[0]].addr : 0,
	};
}

/*
 * Cycles that an instruction loses: those beyond its best case, limited to what its causes can
 * account for.
 */
static double count_lost_cycles(const struct vt_culprits_proc *p, uint32_t insn,
				const struct stalled_insn *row)
{
	const struct vt_freq *f = p->freqs[insn];
	double best = (double)p->flow->costs[insn].best, most = 0;
	uint32_t i;

	for (i = 0; i < row->naccused; i++)
		most += row->causes[i].high;
	return f ? fmin(most, fmax(0, f->cycles - best) * f->executions) : 0;
}

/* What the numbers of an instruction's own stall are. */
static void take_insn(const struct vt_culprits_proc *p, uint32_t insn, struct stalled_insn *row)
{
	uint32_t i = 0;

	while (i < row->naccused && vt_stall_is_static(row->causes[i].cause))
		i++;
	/* Out of order, only stalls that are an instruction's own are told of one. */
	if (p->out_of_order && i == row->naccused)
		return;
	row->cycles = count_lost_cycles(p, insn, row);
	if (!(row->cycles > 0))
		return;
	row->executions = p->freqs[insn]->executions;
	row->samples = p->freqs[insn]->samples;
	row->confidence = p->freqs[insn]->confidence;
}

static void take_region(const struct vt_culprits_proc *p, const struct vt_culprit_stall *s,
			struct stalled_insn *row)
{
	const struct vt_region *r = &p->regions->list[s->region];

	row->loop = r->head != VT_CFG_ENTRY;
	row->executions = r->rounds;
	row->samples = round_count(r->samples);
	row->confidence = s->confidence;
	row->cycles = row->naccused ? s->cycles : 0;
}

int vt_culprittop_add(void *arg, const struct vt_culprits_proc *p, struct vt_error *err)
{
	struct vt_culprittop *t = arg;
	const struct vt_cfg *g = p->flow->cfg;
	size_t i = 0;

	while (i < p->nstalls) {
		const struct vt_culprit_stall *first = &p->stalls[i];
		struct stalled_insn row = {
			.image = p->flow->proc.image,
			.flags = first->flags,
			.vaddr = g->insns[first->insn].addr,
			.start = p->flow->proc.start,
			.name = p->flow->proc.name,
		};

		for (; i < p->nstalls && p->stalls[i].insn == first->insn &&
		       !((p->stalls[i].flags ^ first->flags) & VT_STALL_SCOPE);
		     i++)
			add_stall_cause(&row, &p->stalls[i], g);
		qsort(row.causes, row.ncauses, sizeof(row.causes[0]), compare_cause_size);
		while (row.naccused < row.ncauses && !vt_why_acquits(row.causes[row.naccused].why))
			row.naccused++;
		if (row.flags & VT_STALL_OF_REGION)
			take_region(p, first, &row);
		else
			take_insn(p, first->insn, &row);
		if (!(row.cycles > 0))
			continue;
		if (!vt_array_grow(&t->rows, &t->cap, t->count + 1, sizeof(*t->rows)))
			return vt_error_nomem(err);
		t->rows[t->count++] = row;
	}
	return 0;
}

/* ---- listing ---- */

static int compare_lost_cycles(const void *va, const void *vb)
{
	const struct stalled_insn *a = va, *b = vb;

	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return (int)(a->flags & VT_STALL_SCOPE) - (int)(b->flags & VT_STALL_SCOPE);
}

static void add_stall_columns(struct vt_table *t)
{
	vt_table_column(t, "percent", "%", VT_FORMAT_PERCENT);
	vt_table_column(t, "cumulative", "cum%", VT_FORMAT_PERCENT);
	vt_table_column(t, "stall_cycles", "cycles", VT_FORMAT_NUMBER);
	vt_table_column(t, "executions", "freq", VT_FORMAT_NUMBER);
	vt_table_column(t, "confidence", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "confidence.letter", "c", VT_FORMAT_TEXT);
	vt_table_column(t, "stall", "stall", VT_FORMAT_REAL);
	vt_table_column(t, "blame", "blame", VT_FORMAT_TEXT);
	vt_table_column(t, "causes", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "scope", "of", VT_FORMAT_TEXT);
	vt_table_column(t, "samples", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "address", "pc", VT_FORMAT_HEX);
	vt_table_column(t, "guilty", "by", VT_FORMAT_HEX);
	vt_table_column_max(t, "procedure", "procedure", VT_FORMAT_NAME, 32);
	vt_table_column(t, "procedure.offset", NULL, VT_FORMAT_HEX);
	vt_table_column_max(t, "line", "line", VT_FORMAT_PATH, 40);
	vt_table_column_max(t, "image", "image", VT_FORMAT_PATH, 40);
	vt_table_column(t, "why", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "ruled_out", NULL, VT_FORMAT_TEXT);
}

/* Fills a cell with "dcache 0-1234, dtlb 0-1234": the least and most cycles of each cause. */
static void add_causes(struct vt_table *t, const struct stalled_insn *r)
{
	struct vt_buf b = VT_BUF_INIT;
	uint32_t i;

	for (i = 0; i < r->naccused; i++)
		vt_buf_printf(&b, "%s%s %.0f-%.0f", i ? ", " : "",
			      vt_stall_name(r->causes[i].cause), r->causes[i].low,
			      r->causes[i].high);
	vt_table_text(t, b.data, b.size);
	vt_buf_free(&b);
}

/* Fills a cell with "dcache: an access goes anywhere; dtlb: ...", of causes [from, to). */
static void add_whys(struct vt_table *t, const struct stalled_insn *r, uint32_t from, uint32_t to)
{
	struct vt_buf b = VT_BUF_INIT;

	for (; from < to; from++) {
		const struct stall_cause *c = &r->causes[from];

		if (c->why)
			vt_buf_printf(&b, "%s%s: %s", b.size ? "; " : "", vt_stall_name(c->cause),
				      vt_stall_why_text(c->cause, c->why));
	}
	vt_table_text(t, b.data, b.size);
	vt_buf_free(&b);
}

/* What the numbers are of: an instruction, a loop, or the code of a procedure outside of loops. */
static const char *name_scope(const struct stalled_insn *r)
{
	if (!(r->flags & VT_STALL_OF_REGION))
		return "insn";
	return r->loop ? "loop" : "code";
}

static void add_stall_row(struct vt_table *t, struct vt_images *images,
			  const struct stalled_insn *r, double cumulative, double all)
{
	static const char letters[VT_NCONFIDENCES][2] = {"-", "L", "M", "H", "X"};
	const struct vt_image *image = vt_images_get(images, r->image);
	struct vt_buf blame = VT_BUF_INIT;
	uint64_t guilty = 0;
	uint32_t i;

	for (i = 0; i < r->naccused; i++) {
		vt_buf_put_u8(&blame, (uint8_t)vt_stall_letter(r->causes[i].cause));
		if (!guilty)
			guilty = r->causes[i].guilty;
	}
	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_real(t, all > 0 ? 100 * r->cycles / all : 0);
	vt_table_real(t, all > 0 ? 100 * cumulative / all : 0);
	vt_table_number(t, round_count(r->cycles));
	vt_table_number(t, round_count(r->executions));
	vt_table_str(t, vt_confidence_name(r->confidence));
	vt_table_str(t, letters[r->confidence]);
	vt_table_real(t, r->executions > 0 ? r->cycles / r->executions : 0);
	vt_table_text(t, blame.data, blame.size);
	vt_buf_free(&blame);
	add_causes(t, r);
	vt_table_str(t, name_scope(r));
	vt_table_number(t, r->samples);
	vt_table_number(t, r->vaddr);
	if (guilty)
		vt_table_number(t, guilty);
	else
		vt_table_empty(t);
	vt_table_str(t, r->name);
	vt_table_number(t, r->vaddr - r->start);
	vt_source_cell(t, vt_images_lines(images, r->image), r->vaddr);
	vt_table_str(t, image ? image->name : "");
	add_whys(t, r, 0, r->naccused);
	add_whys(t, r, r->naccused, r->ncauses);
}

/* Fills an empty table with the `top` worst (0: all); returns how many are left out. */
static size_t fill_stalls_table(struct vt_culprittop *t, const struct vt_culprittop_options *o,
				struct vt_table *table)
{
	double cumulative = 0;
	size_t i, n = o->top && o->top < t->count ? (size_t)o->top : t->count;

	if (t->count)
		qsort(t->rows, t->count, sizeof(*t->rows), compare_lost_cycles);
	add_stall_columns(table);
	for (i = 0; i < n; i++) {
		cumulative += t->rows[i].cycles;
		add_stall_row(table, o->images, &t->rows[i], cumulative, o->totals->cycles);
	}
	return t->count - n;
}

/* ---- JSON ---- */

static double stall_percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static json_t *make_causes_json(const struct vt_culprittop_options *o)
{
	const struct vt_culpritcheck_totals *c = vt_culpritcheck_totals(o->check);
	const struct vt_culprits_totals *t = o->totals;
	json_t *causes = json_object();
	unsigned i;

	for (i = 0; i < VT_NSTALLS; i++) {
		/* A gain is below 0, as in vlist. */
		double sign = i == VT_STALL_GAIN ? -1 : 1;
		json_t *cause;

		if (!(vt_culpritcheck_high(c, i) > 0) && !(c->truth[i] > 0))
			continue;
		cause = json_pack("{s:s, s:b, s:f, s:f}", "text", vt_stall_text(i), "static",
				  vt_stall_is_static(i), "low",
				  sign * stall_percent(t->low[i], t->cycles), "high",
				  sign * stall_percent(vt_culpritcheck_high(c, i), t->cycles));
		if (o->truth) {
			json_object_set_new(cause, "true",
					    json_real(stall_percent(c->truth[i], t->cycles)));
			json_object_set_new(cause, "missed",
					    json_real(stall_percent(c->missed[i], t->cycles)));
		}
		json_object_set_new(causes, vt_stall_name(i), cause);
	}
	return causes;
}

/* Of all true stall cycles, those where there is no estimate; rounding leaves next to nothing. */
static double compute_not_compared(const struct vt_culpritcheck_totals *c)
{
	double percent = stall_percent(c->without, c->stalled + c->without);

	return percent > 1e-6 ? percent : 0;
}

static json_t *make_truth_json(const struct vt_culpritcheck_totals *c)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "not_compared", compute_not_compared(c),
			 "stalled", stall_percent(c->stalled, c->cycles), "main_listed",
			 stall_percent(c->found, c->stalled), "dynamic",
			 stall_percent(c->dynamic, c->cycles), "dynamic_main_listed",
			 stall_percent(c->dynamic_found, c->dynamic), "dynamic_missed",
			 stall_percent(c->dynamic - c->dynamic_found, c->cycles));
}

static json_t *make_coverage_json(const struct vt_culprits_totals *t)
{
	json_t *v = json_object();
	unsigned i;

	for (i = 0; i < VT_NCONFIDENCES; i++)
		json_object_set_new(v, vt_confidence_name(i),
				    json_real(stall_percent((double)vt_culprits_samples(t, i),
							    (double)(t->samples + t->unknown))));
	return v;
}

static json_t *make_culprit_json(const struct vt_culprittop_options *o)
{
	const struct vt_culprits_totals *t = o->totals;
	const struct vt_culpritcheck_totals *c = vt_culpritcheck_totals(o->check);
	struct vt_culpritcheck_correlation r = vt_culpritcheck_correlate(o->check);
	json_t *doc = vt_json_doc("vculprit/1");

	vt_json_losses(doc, o->losses);
	json_object_set_new(doc, "cpu", vt_json_text(o->core, strlen(o->core)));
	json_object_set_new(doc, "procedures", vt_json_u64(t->procedures));
	json_object_set_new(doc, "procedures_without_code", vt_json_u64(t->without_code));
	json_object_set_new(doc, "places", vt_json_u64(t->places));
	json_object_set_new(doc, "places_outside", vt_json_u64(t->outside));
	json_object_set_new(doc, "samples", vt_json_u64(t->samples + t->unknown));
	json_object_set_new(doc, "cycles", vt_json_real(t->cycles));
	json_object_set_new(doc, "coverage", make_coverage_json(t));
	json_object_set_new(doc, "unexplained",
			    vt_json_real(stall_percent(c->unexplained, t->cycles)));
	json_object_set_new(doc, "not_judged",
			    vt_json_real(stall_percent(fmax(c->not_judged, 0), c->cycles)));
	json_object_set_new(doc, "gain",
			    vt_json_real(stall_percent(t->high[VT_STALL_GAIN], t->cycles)));
	json_object_set_new(doc, "stalls", vt_json_u64(c->stalls));
	json_object_set_new(doc, "listed",
			    vt_json_real(c->stalls ? (double)c->listed / (double)c->stalls : 0));
	json_object_set_new(doc, "listed_by_cycles",
			    vt_json_real(c->weight > 0 ? c->weighted / c->weight : 0));
	json_object_set_new(doc, "causes", make_causes_json(o));
	json_object_set_new(doc, "icache_correlation",
			    json_pack("{s:I, s:o, s:o, s:o}", "procedures",
				      (json_int_t)r.procedures, "high", vt_json_real(r.high), "low",
				      vt_json_real(r.low), "middle", vt_json_real(r.middle)));
	if (o->truth)
		json_object_set_new(doc, "truth", make_truth_json(c));
	return doc;
}

/* ---- for people ---- */

static void print_blame_letters(const struct vt_culprits_totals *totals, struct vt_output *out)
{
	unsigned i, n = 0;

	for (i = 0; i < VT_NSTALLS; i++)
		if (totals->high[i] > 0 && i != VT_STALL_GAIN)
			vt_output_printf(out, "%s%c %s", n++ ? ", " : "Blame: ", vt_stall_letter(i),
					 vt_stall_text(i));
	if (n)
		vt_output_text(out, "\n");
}

static void print_stalls_header(const struct vt_culprits_totals *totals,
				const struct vt_culpritcheck_totals *check, struct vt_output *out)
{
	uint64_t all = totals->samples + totals->unknown;
	int i, n = 0;

	vt_output_printf(out, "Procedures %" PRIu64 ", cycles %.0f, samples %" PRIu64,
			 totals->procedures, totals->cycles, all);
	for (i = VT_NCONFIDENCES - 1; i >= 0 && all; i--) {
		uint64_t samples = vt_culprits_samples(totals, (enum vt_confidence)i);

		if (samples)
			vt_output_printf(out, "%s%.1f %% %s", n++ ? ", " : ": ",
					 100.0 * (double)samples / (double)all,
					 i == VT_CONFIDENCE_NONE ? "without an estimate"
								 : vt_confidence_name((uint64_t)i));
	}
	vt_output_text(out, "\n");
	if (totals->without_code)
		vt_output_printf(out, "Procedures whose code is not there: %" PRIu64 "\n",
				 totals->without_code);
	if (totals->outside)
		vt_output_printf(out, "Places in no procedure: %" PRIu64 " of %" PRIu64 "\n",
				 totals->outside, totals->places);
	if (check->not_judged > 0)
		vt_output_printf(out,
				 "Not judged, as samples are too few or counts too uncertain: "
				 "%.1f %% of the cycles\n",
				 stall_percent(check->not_judged, check->cycles));
	print_blame_letters(totals, out);
	vt_output_text(out, "\n");
}

static void print_true_stalls(const struct vt_culpritcheck_totals *c, struct vt_output *out)
{
	unsigned i;

	vt_output_printf(out,
			 "True stalls: %.1f %% of the cycles with an estimate, %.1f %% of them "
			 "dynamic\n"
			 "Where the true main cause is listed: %.2f %% of these stall cycles, "
			 "%.2f %% of dynamic ones\n"
			 "Causes listed: %.2f a stall, %.2f by cycles; unexplained: %.2f %% of all "
			 "cycles\n"
			 "Not compared: %.1f %% of all true stall cycles, in code without an "
			 "estimate\n\n",
			 stall_percent(c->stalled, c->cycles),
			 stall_percent(c->dynamic, c->stalled), stall_percent(c->found, c->stalled),
			 stall_percent(c->dynamic_found, c->dynamic),
			 c->stalls ? (double)c->listed / (double)c->stalls : 0,
			 c->weight > 0 ? c->weighted / c->weight : 0,
			 stall_percent(c->unexplained, c->cycles), compute_not_compared(c));
	for (i = 0; i < VT_NSTALLS; i++)
		if (c->truth[i] > 0 || vt_culpritcheck_high(c, i) > 0)
			vt_output_printf(out, "%-28s true %6.2f %%  estimated %6.2f to %6.2f %%\n",
					 vt_stall_text(i), stall_percent(c->truth[i], c->cycles),
					 stall_percent(c->low[i], c->cycles),
					 stall_percent(vt_culpritcheck_high(c, i), c->cycles));
	vt_output_text(out, "\n");
}

static int print_table(struct vt_culprittop *t, const struct vt_culprittop_options *o,
		       struct vt_table *table, struct vt_output *out, struct vt_error *err)
{
	size_t left = fill_stalls_table(t, o, table);
	bool text = o->form == VT_TABLE_TEXT;
	int code;

	if (o->json) {
		json_t *doc = make_culprit_json(o);

		json_object_set_new(doc, "rows", vt_json_table(table));
		json_object_set_new(doc, "rows_left_out", json_integer((json_int_t)left));
		vt_json_write(out, doc, true);
		return 0;
	}
	if (text)
		print_stalls_header(o->totals, vt_culpritcheck_totals(o->check), out);
	if (text && o->truth)
		print_true_stalls(vt_culpritcheck_totals(o->check), out);
	if (text && o->summary)
		return 0;
	code = vt_table_print(table, out, o->form, o->color, err);
	if (code == 0 && left && text)
		vt_output_printf(out, "(%zu more instructions)\n", left);
	return code;
}

int vt_culprittop_print(struct vt_culprittop *t, const struct vt_culprittop_options *o,
			struct vt_output *out, struct vt_error *err)
{
	struct vt_table *table = vt_table_new();
	int code = table ? print_table(t, o, table, out, err) : vt_error_nomem(err);

	vt_table_free(table);
	return code;
}
