/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "culprit/cause.h"
#include "freq/region.h"
#include "listing/cycles/calc.h"

/* The most culprits shown of one cause. */
#define MAX_CULPRITS 4

/* ---- what a region takes ---- */

static bool holds_offset(const struct vt_regionfreq *r, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < r->nranges; i += 2)
		if (offset >= r->ranges[i] && offset < r->ranges[i + 1])
			return true;
	return false;
}

/* Whether some of its code was executed several times each time: loops that are a part of it. */
static bool has_loops(const struct vt_calc *c, const struct vt_regionfreq *r)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->cfg->ninsns; i++)
		n += c->insns[i].region == r;
	return r->insns > n;
}

static void print_rounds(const struct vt_calc *c, const struct vt_regionfreq *r,
			 struct vt_output *out)
{
	double cycles = r->cycles * r->rounds;

	vt_output_printf(out, "\n*** %s %" PRIx64 ", %.1f%% of the cycles: ",
			 r->flags & VT_REGION_IS_LOOP ? "Loop at"
			 : has_loops(c, r)	      ? "Code with loops too uncertain alone, from"
						      : "Code outside of loops, from",
			 r->offset + c->base, c->sum.cycles > 0 ? 100 * cycles / c->sum.cycles : 0);
	if (r->flags & VT_REGION_IS_LOOP)
		vt_output_printf(out, "%.0f rounds in %.0f visits", r->rounds, r->visits);
	else
		vt_output_printf(out, "executed %.0f time%s", r->rounds, r->rounds == 1 ? "" : "s");
	vt_output_printf(out, ", %.1f instructions each\n", r->insns);
}

static void print_interval(double low, double high, struct vt_output *out)
{
	vt_output_printf(out, "(%.1f ", low);
	if (isinf(high))
		vt_output_text(out, "or more)");
	else
		vt_output_printf(out, "to %.1f)", high);
}

/* The greatest of what makes its time uncertain. */
static const char *explain_width(const struct vt_regionfreq *r)
{
	double cycles = r->cycles * r->rounds;
	double chance = vt_region_half_width((double)r->samples, 0, cycles, 0);
	double borders = vt_region_half_width(INFINITY, r->visits, cycles, 0);
	double all = cycles > 0 && isfinite(r->high) ? r->high / r->cycles - 1 : INFINITY;
	double counts = sqrt(fmax(all * all - chance * chance - borders * borders, 0));

	if (!(chance < INFINITY) || (chance >= borders && chance >= counts))
		return "Too few samples";
	return borders >= counts ? "Too short visits" : "Too uncertain counts";
}

static void print_times(const struct vt_regionfreq *r, struct vt_output *out)
{
	vt_output_printf(out, "*** Best-case   %.1f cycles, at least %.1f\n", r->best, r->least);
	vt_output_printf(out, "*** Actual      %.1f cycles ", r->cycles);
	print_interval(r->low, r->high, out);
	if (r->insns > 0)
		vt_output_printf(out, ", %.2fCPI", r->cycles / r->insns);
	vt_output_text(out, "\n");
	if (r->flags & VT_REGION_CALLS) {
		vt_output_printf(out, "*** With calls  %.1f cycles ", r->with_calls);
		print_interval(r->with_calls_low, r->with_calls_high, out);
		if (r->flags & VT_REGION_CALLS_UNKNOWN)
			vt_output_text(out, ", without code whose time is not known");
		vt_output_text(out, "\n");
	} else if (r->flags & VT_REGION_CALLS_UNKNOWN) {
		vt_output_text(out, "*** With calls  not known\n");
	}
	if (r->flags & VT_REGION_OVERLAPS)
		vt_output_text(out, "*** Overlaps with what is executed before and after it: its "
				    "cycles are those\n***             in which it was the oldest; "
				    "without it, others may take them\n");
	if (r->flags & VT_REGION_IS_WIDE)
		vt_output_printf(out, "*** %s for claims about it\n", explain_width(r));
}

/* ---- its stalls ---- */

static void print_suspects(const struct vt_calc *c, const struct vt_stall *s, struct vt_output *out)
{
	uint32_t i;

	for (i = 0; i < s->nculprits && i < MAX_CULPRITS; i++)
		vt_output_printf(out, "%s%" PRIx64, i ? "," : ": ", s->culprits[i] + c->base);
	if (i < s->nculprits)
		vt_output_text(out, ",...");
}

/* "d D-cache miss  0.0 to 588.7  an access goes anywhere: 18a7" */
static void print_cause(const struct vt_calc *c, const struct vt_stall *s, double times,
			struct vt_output *out)
{
	vt_output_printf(out, "***   %c %-26s %7.1f to %7.1f  %s", vt_stall_letter(s->cause),
			 vt_stall_text(s->cause), s->low / times, s->high / times,
			 vt_stall_why_text(s->cause, s->why));
	print_suspects(c, s, out);
	vt_output_text(out, "\n");
}

static bool is_same_stall(const struct vt_stall *a, const struct vt_stall *b)
{
	return a->offset == b->offset && !((a->flags ^ b->flags) & VT_STALL_SCOPE);
}

/* Columns of a line that lists what was ruled out. */
#define LINE 84

static void print_acquittals(const struct vt_calc *c, const struct vt_stall *stall,
			     struct vt_output *out)
{
	size_t i, width = 0;

	for (i = 0; i < c->nacquittals; i++) {
		const struct vt_stall *s = &c->acquittals[i];
		const char *cause = vt_stall_text(s->cause);
		const char *why = vt_stall_why_text(s->cause, s->why);
		size_t size = strlen(cause) + strlen(why) + strlen(" (),");

		if (!is_same_stall(s, stall))
			continue;
		if (!width)
			vt_output_text(out, "***   ruled out:");
		else
			vt_output_text(out, width + size > LINE ? ",\n***             " : ",");
		vt_output_printf(out, " %s (%s)", cause, why);
		width = width && width + size <= LINE ? width + size : size;
	}
	if (width)
		vt_output_text(out, "\n");
}

/* Those that facts allow most first. */
static int compare_suspects(const void *x, const void *y)
{
	const struct vt_stall *a = x, *b = y;

	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	if (a->bound != b->bound)
		return a->bound > b->bound ? -1 : 1;
	return (int)a->cause - (int)b->cause;
}

/* The causes of a stall, which begin at c->stalls[i]; returns where the next begins. */
static size_t print_stall(const struct vt_calc *c, size_t i, double times, struct vt_output *out)
{
	const struct vt_stall *first = &c->stalls[i];
	bool region = first->flags & VT_STALL_OF_REGION;
	struct vt_stall list[VT_NSTALLS] = {{0}};
	size_t n = 0, k;

	if (first->cause == VT_STALL_GAIN)
		vt_output_printf(out,
				 "*** Faster than the model by %.1f cycles: the model is wrong\n",
				 first->cycles / times);
	else if (region)
		vt_output_printf(out, "*** Stalls      %.1f cycles\n", first->cycles / times);
	else
		vt_output_printf(out, "*** Stalls      %.1f cycles at %" PRIx64 "\n",
				 first->cycles / times, first->offset + c->base);
	for (; i < c->nstalls && n < VT_NSTALLS && is_same_stall(&c->stalls[i], first); i++)
		if (c->stalls[i].cause != VT_STALL_GAIN && !vt_stall_is_static(c->stalls[i].cause))
			list[n++] = c->stalls[i];
	qsort(list, n, sizeof(list[0]), compare_suspects);
	for (k = 0; k < n; k++)
		print_cause(c, &list[k], times, out);
	print_acquittals(c, first, out);
	return i;
}

static bool is_of_region(const struct vt_stall *s, const struct vt_regionfreq *r)
{
	bool loop = r->flags & VT_REGION_IS_LOOP;

	if (s->flags & VT_STALL_OF_REGION)
		return s->offset == r->offset && loop == !!(s->flags & VT_STALL_OF_LOOP);
	return !vt_stall_is_static(s->cause) && holds_offset(r, s->offset);
}

static double count_times(const struct vt_calc *c, const struct vt_regionfreq *r,
			  const struct vt_stall *s)
{
	const struct vt_calc_insn *insn = vt_calc_insn_at(c, s->offset);

	if (s->flags & VT_STALL_OF_REGION)
		return r->rounds;
	return insn && insn->freq ? insn->freq->executions : 0;
}

static void print_region_stalls(const struct vt_calc *c, const struct vt_regionfreq *r,
				struct vt_output *out)
{
	size_t i;

	for (i = 0; i < c->nstalls;) {
		const struct vt_stall *s = &c->stalls[i];
		double times = is_of_region(s, r) ? count_times(c, r, s) : 0;

		if (times > 0)
			i = print_stall(c, i, times, out);
		else
			i++;
	}
}

void vt_calc_print_regions(const struct vt_calc *c, struct vt_output *out)
{
	size_t i;

	for (i = 0; i < c->nregions; i++) {
		print_rounds(c, &c->regions[i], out);
		print_times(&c->regions[i], out);
		print_region_stalls(c, &c->regions[i], out);
	}
}
