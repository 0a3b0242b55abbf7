/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/table.h"
#include "base/width.h"
#include "culprit/cause.h"
#include "listing/cycles/calc.h"

/* The widest column of instructions; longer ones stick out. */
#define MAX_CODE 52

/* A stall of more lines is shortened to three: the first, its length, and the last. */
#define MAX_BUBBLES 4

/* The most culprits shown of one cause. */
#define MAX_CULPRITS 6

/* The most source lines shown of a block. */
#define MAX_LINES 6
#define MAX_TEXT  100 /* bytes of each */

/* Percent of the procedure's cycles from which a line stands out on a terminal. */
#define WARM 2
#define HOT  10

struct printer {
	const struct vt_calc *c;
	struct vt_output *out;
	struct vt_sources *sources;
	bool color;
	int digits; /* of addresses */
	int code;   /* width of the instructions */
	int samples;
	bool explained[VT_NSTALLS]; /* letters of causes */
};

/* ---- bubbles: DCPI figure 2; each line is half a cycle ---- */

struct bubble {
	unsigned causes[VT_NSTALLS];
	unsigned ncauses;
	double cycles; /* of each execution */
	double length; /* all cycles at the head of the queue: shown in a shortened one */
};

static enum vt_style choose_heat(const struct printer *p, double cycles)
{
	double share = p->c->sum.cycles > 0 ? 100 * cycles / p->c->sum.cycles : 0;

	return share >= HOT ? VT_STYLE_HOT : share >= WARM ? VT_STYLE_WARM : VT_STYLE_PLAIN;
}

/* Explains letters on their first use: one on a line, all remaining ones on the last line. */
static void explain_letters(struct printer *p, const struct bubble *b, bool last)
{
	const char *sep = "  (";
	unsigned i;

	for (i = 0; i < b->ncauses; i++) {
		unsigned cause = b->causes[i];

		if (p->explained[cause])
			continue;
		vt_output_printf(p->out, "%s%c = %s", sep, vt_stall_letter(cause),
				 vt_stall_text(cause));
		p->explained[cause] = true;
		sep = ", ";
		if (!last)
			break;
	}
	if (*sep == ',')
		vt_output_text(p->out, ")");
}

static void print_bubble(struct printer *p, const struct bubble *b, double total)
{
	enum vt_style style = p->color ? choose_heat(p, total) : VT_STYLE_PLAIN;
	double halves = floor(2 * b->cycles + 0.5);
	int lines = halves > MAX_BUBBLES ? 3 : (int)halves;
	int i;
	unsigned k;

	for (i = 0; i < lines; i++) {
		vt_output_printf(p->out, "%*s%s", p->digits + 18, "", vt_style_start(style));
		for (k = 0; k < b->ncauses; k++)
			vt_output_printf(p->out, "%c", vt_stall_letter(b->causes[k]));
		if (halves > MAX_BUBBLES && i == 1)
			vt_output_printf(p->out, " ... %.1fcy", b->length);
		else
			explain_letters(p, b, i == lines - 1);
		vt_output_printf(p->out, "%s\n", style == VT_STYLE_PLAIN ? "" : VT_STYLE_END);
	}
}

/* Inserts a cause, ordered by the cycles that it may have taken. */
static void add_bubble_cause(struct bubble *b, const struct vt_calc_insn *insn, unsigned cause)
{
	double high[VT_NSTALLS] = {0};
	unsigned i;
	size_t k;

	for (k = 0; k < insn->nstalls; k++)
		if ((unsigned)insn->stalls[k].cause < VT_NSTALLS)
			high[insn->stalls[k].cause] += insn->stalls[k].high;
	for (i = 0; i < b->ncauses && b->causes[i] != cause; i++)
		continue;
	if (i < b->ncauses || high[cause] <= 0)
		return;
	for (i = b->ncauses++; i > 0 && high[b->causes[i - 1]] < high[cause]; i--)
		b->causes[i] = b->causes[i - 1];
	b->causes[i] = cause;
}

static void print_bubbles(struct printer *p, const struct vt_calc_insn *insn)
{
	double n = insn->freq ? insn->freq->executions : 0;
	struct bubble dynamic = {.ncauses = 0};
	size_t k;

	if (n <= 0)
		return;
	for (k = 0; k < insn->nstalls; k++) {
		const struct vt_stall *st = &insn->stalls[k];

		if ((unsigned)st->cause >= VT_NSTALLS || st->cause == VT_STALL_GAIN)
			continue;
		if (vt_stall_is_static(st->cause)) {
			struct bubble b = {.ncauses = 0};

			add_bubble_cause(&b, insn, st->cause);
			b.cycles = b.length = (st->low + st->high) / 2 / n;
			print_bubble(p, &b, b.cycles * n);
		} else {
			add_bubble_cause(&dynamic, insn, st->cause);
		}
	}
	if (!dynamic.ncauses)
		return;
	dynamic.cycles = vt_calc_dynamic(insn);
	dynamic.length = insn->freq->cycles;
	print_bubble(p, &dynamic, dynamic.cycles * n);
}

/* ---- instructions ---- */

static bool same_culprits(const struct vt_stall *a, const struct vt_stall *b)
{
	return a->nculprits == b->nculprits &&
	       (!a->nculprits ||
		memcmp(a->culprits, b->culprits, a->nculprits * sizeof(*a->culprits)) == 0);
}

static bool has_culprits(const struct vt_stall *s)
{
	return s->nculprits && s->high > 0 && (unsigned)s->cause < VT_NSTALLS;
}

/* Prints "9810", or "d:9810 p:97f4" if causes have different culprits. */
static void print_culprits(const struct printer *p, const struct vt_calc_insn *insn)
{
	bool several = false;
	size_t i, k, first = SIZE_MAX;

	for (i = 0; i < insn->nstalls; i++) {
		if (!has_culprits(&insn->stalls[i]))
			continue;
		if (first == SIZE_MAX)
			first = i;
		several = several || !same_culprits(&insn->stalls[first], &insn->stalls[i]);
	}
	for (i = first; i < insn->nstalls; i++) {
		const struct vt_stall *s = &insn->stalls[i];

		if (!has_culprits(s) || (!several && i != first))
			continue;
		vt_output_text(p->out, " ");
		if (several)
			vt_output_printf(p->out, "%c:", vt_stall_letter(s->cause));
		for (k = 0; k < s->nculprits && k < MAX_CULPRITS; k++)
			vt_output_printf(p->out, "%s%" PRIx64, k ? "," : "",
					 s->culprits[k] + p->c->base);
		vt_output_text(p->out, k < s->nculprits ? ",..." : "");
	}
}

/* Out of order, samples show where the machine waited; what a part of it took they do not. */
static void print_region_share(const struct printer *p, const struct vt_calc_insn *insn)
{
	double all = insn->region ? (double)insn->region->samples : 0;

	if (all > 0)
		vt_output_printf(p->out, "%13.1f%%", 100 * (double)insn->freq->samples / all);
	else
		vt_output_printf(p->out, "%14s", "-");
}

static void print_cycles(const struct printer *p, const struct vt_freq *f)
{
	bool free = f->cycles < 0.05 && !(f->issue >= 0.05);

	if (f->executions <= 0 || !isfinite(f->cycles))
		vt_output_printf(p->out, "%14s", f->samples ? "?" : "");
	else if (free)
		vt_output_printf(p->out, "%14s", "(same cycle)");
	else
		vt_output_printf(p->out, "%12.1fcy", f->cycles);
}

static void print_insn(struct printer *p, const struct vt_calc_insn *insn)
{
	const struct vt_freq *f = insn->freq;
	struct vt_buf text = VT_BUF_INIT;
	double cycles = f ? f->executions * f->cycles : 0;
	enum vt_style style = p->color ? choose_heat(p, cycles) : VT_STYLE_PLAIN;
	int width;

	print_bubbles(p, insn);
	vt_escape(&text, insn->text, insn->size);
	vt_buf_str(&text);
	width = (int)vt_text_width((const char *)text.data, text.size);
	vt_output_printf(p->out, "%s%0*" PRIx64 "  ", vt_style_start(style), p->digits,
			 insn->address);
	vt_output_put(p->out, text.data, text.size);
	vt_buf_free(&text);
	if (f) {
		vt_output_printf(p->out, "%*s  %*" PRIu64, width < p->code ? p->code - width : 0,
				 "", p->samples, f->samples);
		if (vt_calc_is_timed(p->c, insn))
			print_cycles(p, f);
		else
			print_region_share(p, insn);
		print_culprits(p, insn);
	}
	vt_output_printf(p->out, "%s\n", style == VT_STYLE_PLAIN ? "" : VT_STYLE_END);
}

/* ---- blocks ---- */

/* What a block has a share of. */
static const char *name_shares(const struct vt_calc *c)
{
	return vt_calc_shares_samples(c) ? "samples" : "cycles";
}

static void print_freq(struct printer *p, double n, double low, double high,
		       enum vt_confidence confidence)
{
	if (confidence == VT_CONFIDENCE_NONE) {
		vt_output_text(p->out, ": executions unknown");
		return;
	}
	vt_output_printf(p->out, ": executed %.0f time%s", n, n > 0.5 && n < 1.5 ? "" : "s");
	if (isinf(high))
		vt_output_printf(p->out, " (%.0f or more)", low);
	else if (low < n || high > n)
		vt_output_printf(p->out, " (%.0f to %.0f)", low, high);
	if (confidence == VT_CONFIDENCE_EXACT)
		vt_output_text(p->out, ", counted exactly");
	else
		vt_output_printf(p->out, ", %s confidence", vt_confidence_name(confidence));
}

static void print_next(struct printer *p, uint32_t block)
{
	const struct vt_cfg_block *b = &p->c->cfg->blocks[block];
	const char *sep = "*** Next        ";
	uint32_t e;

	for (e = b->out; e < b->out + b->nout; e++) {
		const struct vt_calc_edge *edge = &p->c->edges[e];

		vt_output_text(p->out, sep);
		if (edge->edge->to == VT_CFG_EXIT)
			vt_output_text(p->out, "exit");
		else
			vt_output_printf(p->out, "%" PRIx64,
					 p->c->cfg->blocks[edge->edge->to].start);
		if (edge->freq)
			vt_output_printf(p->out, " %.0f (%s)", edge->freq->executions,
					 vt_confidence_name(edge->freq->confidence));
		sep = ", ";
	}
	if (b->incomplete) {
		vt_output_text(p->out, sep);
		vt_output_text(p->out, "and perhaps elsewhere");
		sep = ", ";
	}
	if (*sep == ',')
		vt_output_text(p->out, "\n");
}

/* Prints "smooth.c:41  for (;;)" for an instruction; false if the source cannot be read. */
static bool print_source_line(struct printer *p, const struct vt_calc_insn *insn, const char *what)
{
	const char *text = NULL;
	struct vt_buf b = VT_BUF_INIT;
	size_t size = 0;
	bool cut;

	if (p->sources)
		text = vt_sources_line(p->sources, insn->file, insn->line, &size);
	for (; size && (*text == ' ' || *text == '\t'); size--)
		text++;
	cut = size > MAX_TEXT;
	size = cut ? MAX_TEXT : size;
	vt_escape_str(&b, vt_source_name(insn->file));
	vt_buf_printf(&b, ":%u%s", insn->line, size ? "  " : "");
	if (size)
		vt_escape(&b, text, size);
	vt_output_printf(p->out, "*** %-12s%s%s\n", what, vt_buf_str(&b), cut ? "..." : "");
	vt_buf_free(&b);
	return text != NULL;
}

static bool same_line(const struct vt_calc_insn *a, const struct vt_calc_insn *b)
{
	return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* Prints the source line where a block begins, and its other lines while their text is known. */
static void print_source(struct printer *p, const struct vt_calc_block *b)
{
	const struct vt_calc_insn *lines[MAX_LINES];
	uint32_t i, k, n = 0;

	for (i = 0; i < b->block->ninsns; i++) {
		const struct vt_calc_insn *insn = &b->insns[i];

		for (k = 0; k < n && !same_line(lines[k], insn); k++)
			continue;
		if (!insn->line || k < n)
			continue;
		if (n == MAX_LINES) {
			vt_output_text(p->out, "***             ...\n");
			return;
		}
		lines[n++] = insn;
		if (!print_source_line(p, insn, n == 1 ? "Source" : ""))
			return;
	}
}

static void print_block(struct printer *p, uint32_t number)
{
	const struct vt_calc_block *b = &p->c->blocks[number];
	double n = b->freq ? b->freq->executions : 0;
	uint32_t i;

	vt_output_printf(p->out, "\n*** Block %u of %u, %.1f%% of the %s", number - 1,
			 p->c->cfg->nblocks - VT_CFG_FIRST, vt_calc_block_share(p->c, b),
			 name_shares(p->c));
	if (b->freq)
		print_freq(p, n, b->freq->low, b->freq->high, b->freq->confidence);
	vt_output_text(p->out, "\n");
	if (n > 0 && !p->c->nregions) {
		double m = b->sum.executions / n;

		if (b->sum.schedule)
			vt_output_printf(p->out, "*** Best-case   %.1f/%.0f = %.2fCPI\n",
					 b->sum.best / n, m, b->sum.best / b->sum.executions);
		if (b->sum.timed)
			vt_output_printf(p->out, "*** Actual      %.1f/%.0f = %.2fCPI\n",
					 b->sum.cycles / n, m, b->sum.cycles / b->sum.executions);
	}
	print_source(p, b);
	print_next(p, number);
	vt_output_text(p->out, "\n");
	for (i = 0; i < b->block->ninsns; i++)
		print_insn(p, &b->insns[i]);
}

/* ---- the whole ---- */

static int digits_of(uint64_t v, unsigned base)
{
	int n = 1;

	while (v /= base)
		n++;
	return n;
}

static void measure_calc_columns(struct printer *p)
{
	const struct vt_cfg *g = p->c->cfg;
	uint64_t most = 0;
	uint32_t i;

	p->digits = digits_of(g->end, 16);
	p->code = (int)strlen("Instruction");
	for (i = 0; i < g->ninsns; i++) {
		const struct vt_calc_insn *insn = &p->c->insns[i];
		int width = (int)vt_text_width(insn->text, insn->size);

		if (width > MAX_CODE)
			width = MAX_CODE;
		p->code = width > p->code ? width : p->code;
		if (insn->freq && insn->freq->samples > most)
			most = insn->freq->samples;
	}
	p->samples = digits_of(most, 10);
	if (p->samples < (int)strlen("Samples"))
		p->samples = (int)strlen("Samples");
}

static void print_calc_header(struct printer *p)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, p->c->proc.name);
	if (p->c->image) {
		vt_buf_printf(&b, "  ");
		vt_escape_str(&b, p->c->image->path);
	}
	vt_output_printf(p->out, "%s%s%s\n", p->color ? vt_style_start(VT_STYLE_HEADING) : "",
			 vt_buf_str(&b), p->color ? VT_STYLE_END : "");
	vt_buf_free(&b);
	vt_cyclesum_print_shares(&p->c->sum, p->out);
	vt_cyclesum_print_cpi(&p->c->sum, p->out);
	if (!p->c->cfg->complete)
		vt_output_text(p->out, "*** The flow graph is not complete.\n");
	vt_calc_print_regions(p->c, p->out);
	vt_output_printf(p->out, "\n%*s  %-*s  %*s%14s Culprit\n", p->digits, "Addr", p->code,
			 "Instruction", p->samples, "Samples",
			 p->c->nregions ? "of region" : "CPI ");
}

void vt_calc_print(const struct vt_calc *c, struct vt_sources *sources, double cutoff, bool color,
		   struct vt_output *out)
{
	struct printer p = {.c = c, .out = out, .sources = sources, .color = color};
	double left_out = 0;
	uint32_t b, n = 0;

	measure_calc_columns(&p);
	print_calc_header(&p);
	for (b = VT_CFG_FIRST; b < c->cfg->nblocks; b++) {
		double share = vt_calc_block_share(c, &c->blocks[b]);

		if (cutoff > 0 && share < cutoff) {
			left_out += share;
			n++;
			continue;
		}
		print_block(&p, b);
	}
	if (n)
		vt_output_printf(out,
				 "\n*** %u block%s of less than %g%%, %.1f%% of the %s together\n",
				 n, n == 1 ? "" : "s", cutoff, left_out, name_shares(c));
}
