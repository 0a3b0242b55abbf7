/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "culprit/internal.h"
#include "freq/region.h"

/*
 * Stalls on machines that issue out of order.
 *
 * There, an instruction has the samples of the time in which it was the oldest, while others made
 * progress behind it.  Only where it was so for long is that its own doing: its stall has the
 * causes that it can have itself.  What else is lost is lost by a region (freq/region.h), and any
 * of its instructions may be the cause.  A cause is ruled out where facts (facts.c) allow it next
 * to nothing of the stall.
 */

/* A cause that can account for less than this share of a stall is ruled out. */
#define NEXT_TO_NOTHING 0.05

/* And what can for less than this, if others can account for all of it. */
#define MINOR (1.0 / 3)

/*
 * Other programs, interrupts and the processor's other thread take up to this share of all time,
 * and what loops that nothing stalls show of them.
 */
#define OTHERS 0.1

/* The least samples of an instruction's stall: its 90 % interval is 41 % wide to each side. */
#define PEAK_SAMPLES 16

/* What the static schedule may be above the processor. */
#define SURE_SCHEDULE 0.9

/* What is known of a cause of one stall. */
struct suspicion {
	double bound;
	double sure; /* what was measured of it at least */
	double most; /* of one instruction */
	enum vt_stall_why why;
	uint32_t nguilty;
	uint32_t guilty[VT_CULPRIT_GUILTY]; /* those that facts allow most first */
	double allowed[VT_CULPRIT_GUILTY];
};

/* A stall: of an instruction, or what its region loses otherwise. */
struct excess {
	uint32_t insn;
	uint32_t region;
	uint32_t flags; /* enum vt_stall_flags */
	double cycles;	/* beyond the schedule */
	double low;	/* 90 % interval */
	double high;
	double sure;   /* what not even a better processor than the model's could save */
	double others; /* what other programs may have taken */
	double told;   /* of what was measured of causes, what other stalls may have had of it */
	bool peak;     /* so that something at this instruction must be the cause */
};

struct judge {
	const struct vti_culprit *c;
	struct vt_culprit_stalls *out;
	struct vt_regions *r;
	double *peaks;		/* by instruction: cycles of its own stall; 0: it has none */
	struct suspicion *sums; /* VTI_FACTS by region */
	struct vt_error *err;
};

static uint32_t get_region(const struct judge *j, uint32_t insn)
{
	return j->r->of[j->c->block[insn]];
}

/* ---- suspicion ---- */

static void suspect_insn(struct suspicion *s, uint32_t insn, const struct vti_fact *f)
{
	uint32_t i = s->nguilty;

	if (s->why == VT_WHY_NONE)
		s->why = f->why;
	if (!(f->bound > 0))
		return;
	s->bound += f->bound;
	s->sure += f->sure;
	if (f->bound > s->most) {
		s->most = f->bound;
		s->why = f->why;
	}
	if (i == VT_CULPRIT_GUILTY && !(f->bound > s->allowed[--i]))
		return;
	for (; i > 0 && s->allowed[i - 1] < f->bound; i--) {
		s->guilty[i] = s->guilty[i - 1];
		s->allowed[i] = s->allowed[i - 1];
	}
	s->guilty[i] = insn;
	s->allowed[i] = f->bound;
	if (s->nguilty < VT_CULPRIT_GUILTY)
		s->nguilty++;
}

/* Adds what facts allow each cause at an instruction. */
static void add_facts(const struct judge *j, uint32_t insn, struct suspicion *s)
{
	struct vti_stalled st;
	uint32_t i;

	if (!vti_culprit_stalled(j->c, insn, &st))
		return;
	for (i = 0; i < VTI_FACTS; i++) {
		struct vti_fact f = vti_culprit_fact(&st, i);

		suspect_insn(&s[i], insn, &f);
	}
}

/* What is fetched behind an instruction is awaited while it is the last that was executed. */
static void add_fetches(const struct judge *j, uint32_t insn, struct suspicion *s)
{
	const struct vt_cfg *g = j->c->cfg;
	const struct vt_cfg_block *b = &g->blocks[j->c->block[insn]];
	struct suspicion behind[VTI_FACTS] = {{0}};
	uint32_t i;

	if (insn + 1 < b->insn + b->ninsns)
		add_facts(j, insn + 1, behind);
	else
		for (i = b->out; i < b->out + b->nout; i++)
			if (g->blocks[g->edges[i].to].ninsns)
				add_facts(j, g->blocks[g->edges[i].to].insn, behind);
	for (i = 0; i < VTI_FACTS; i++) {
		enum vt_stall_cause cause = vti_culprit_fact_cause(i);
		const struct vti_fact f = {behind[i].bound, behind[i].sure, behind[i].why};

		if ((cause == VT_STALL_ICACHE || cause == VT_STALL_ITLB) && behind[i].why)
			suspect_insn(&s[i], behind[i].nguilty ? behind[i].guilty[0] : insn, &f);
	}
}

/* Its target waits for a mispredicted branch, unless samples are charged to what was before. */
static void add_arrivals(const struct judge *j, uint32_t insn, struct suspicion *s)
{
	struct vti_stalled st;
	struct vti_fact fact;
	uint32_t guilty, i;

	if (j->c->in->charged_before || !vti_culprit_stalled(j->c, insn, &st))
		return;
	fact = vti_culprit_arrival_fact(&st, &guilty);
	for (i = 0; i < VTI_FACTS; i++)
		if (vti_culprit_fact_cause(i) == VT_STALL_MISPREDICT && fact.bound > 0)
			suspect_insn(&s[i], guilty, &fact);
}

/* ---- one stall ---- */

/* The order of suspects: what was measured most of first, then what facts allow most. */
static bool goes_before(const struct suspicion *a, const struct suspicion *b)
{
	if (a->sure != b->sure)
		return a->sure > b->sure;
	return a->bound > b->bound;
}

static void sort_suspects(const struct suspicion *s, uint32_t *order)
{
	uint32_t i, k;

	for (i = 0; i < VTI_FACTS; i++) {
		for (k = i; k > 0 && goes_before(&s[i], &s[order[k - 1]]); k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

/*
 * Acquits whom facts allow next to nothing, and then, the least suspected first, who can account
 * for less than a third, as long as the others can account for all.  Returns what the accused can
 * account for at most; *minor is what the second sort could have.
 */
static double acquit(const struct excess *x, const struct suspicion *s, enum vt_stall_why *why,
		     double *minor)
{
	uint32_t order[VTI_FACTS], i;
	double all = 0, least = fmax(x->low, NEXT_TO_NOTHING * x->cycles);

	*minor = 0;
	sort_suspects(s, order);
	for (i = 0; i < VTI_FACTS; i++) {
		why[i] = s[i].why ? s[i].why : VT_WHY_ABSENT;
		if (!(s[i].bound >= NEXT_TO_NOTHING * least))
			why[i] = s[i].bound > 0 ? VT_WHY_SMALL : VT_WHY_ABSENT;
		else
			all += fmin(s[i].bound, x->high);
	}
	for (i = VTI_FACTS; i-- > 0;) {
		const struct suspicion *one = &s[order[i]];

		if (vt_why_acquits(why[order[i]]) || one->sure > 0 ||
		    one->bound >= MINOR * x->high || all - one->bound < x->high)
			continue;
		all -= one->bound;
		*minor += one->bound;
		why[order[i]] = VT_WHY_MINOR;
	}
	return all;
}

/*
 * That a miss is the cause is claimed only where it shows at one instruction, and that numbers are
 * denormal nowhere.
 */
static bool may_claim(const struct excess *x, enum vt_stall_cause cause, enum vt_stall_why why)
{
	bool miss = cause >= VT_STALL_ICACHE && cause <= VT_STALL_DTLB;

	return why != VT_WHY_DENORMAL && (x->peak || !miss);
}

/* What all others can account for, at most and, as measured, at least. */
struct others {
	double most;
	double least;
};

/* `sure` is what was measured of the cause itself. */
static void set_cycles(const struct excess *x, double sure, const struct others *others,
		       struct vt_culprit_stall *stall)
{
	stall->high = fmin(stall->bound, x->high);
	if (x->flags & VT_STALL_OVERLAPS)
		return;
	if (may_claim(x, stall->cause, stall->why))
		stall->low = fmin(fmax(fmin(sure, x->low), x->low - others->most), stall->high);
	stall->high = fmax(fmin(stall->high, x->high - others->least), stall->low);
}

static double get_sure(const struct excess *x, const struct suspicion *s)
{
	return s->sure > x->told ? s->sure - x->told : 0;
}

static int append_cause(const struct judge *j, const struct excess *x, enum vt_stall_cause cause,
			const struct suspicion *s, enum vt_stall_why why,
			const struct others *others)
{
	struct vt_culprit_stall stall = {
		.insn = x->insn,
		.cause = cause,
		.nguilty = s->nguilty,
		.confidence = j->c->in->insns[x->insn].confidence,
		.cycles = x->cycles,
		.bound = s->bound,
		.why = why,
		.flags = x->flags,
		.region = x->region,
	};

	if (!vt_culprit_is_acquittal(&stall))
		set_cycles(x, get_sure(x, s), others, &stall);
	memcpy(stall.guilty, s->guilty, sizeof(stall.guilty));
	return vti_culprit_append(j->out, &stall, j->err);
}

/* Nobody could: what is left beyond all doubt of the schedule. */
static int append_unexplained(const struct judge *j, const struct excess *x, double left)
{
	const struct vt_culprit_stall stall = {
		.insn = x->insn,
		.cause = VT_STALL_UNEXPLAINED,
		.low = left,
		.high = left,
		.confidence = j->c->in->insns[x->insn].confidence,
		.cycles = x->cycles,
		.bound = left,
		.why = VT_WHY_NOBODY,
		.flags = x->flags,
		.region = x->region,
	};

	return left > 0 ? vti_culprit_append(j->out, &stall, j->err) : 0;
}

static bool computes_in_floating_point(const struct judge *j, uint32_t insn)
{
	return j->c->in->insns[insn].executions > 0 &&
	       vt_mop_has(&j->c->ops[insn], 1U << VT_OP_FADD | 1U << VT_OP_FMUL | 1U << VT_OP_FDIV);
}

/*
 * Microcode computes with denormal numbers, in a hundred cycles and more.  No fact rules that out
 * of any computation, so that it is suspected only of what nothing else can account for: of the
 * instruction itself, or else of all in its region.
 */
static bool suspect_denormals(const struct judge *j, const struct excess *x, struct suspicion *s)
{
	const struct vti_fact fact = {INFINITY, 0, VT_WHY_DENORMAL};
	bool own = !(x->flags & VT_STALL_OF_REGION) && computes_in_floating_point(j, x->insn);
	uint32_t i, first = own ? x->insn : 0, end = own ? x->insn + 1 : j->c->cfg->ninsns;

	for (i = first; i < end; i++)
		if (get_region(j, i) == x->region && computes_in_floating_point(j, i))
			suspect_insn(s, i, &fact);
	return s->bound > 0;
}

static double get_unexplained(const struct excess *x, double explained)
{
	double left = x->sure - explained - x->others;

	return left > NEXT_TO_NOTHING * x->cycles ? left : 0;
}

/* A cause's least is what was measured of it, or what all others together cannot account for. */
static int judge_excess(const struct judge *j, const struct excess *x,
			const struct suspicion *by_facts)
{
	struct suspicion s[VTI_FACTS];
	enum vt_stall_why why[VTI_FACTS];
	double minor, all, sure = 0;
	uint32_t i;
	int code = 0;

	memcpy(s, by_facts, sizeof(s));
	all = acquit(x, s, why, &minor);
	if (get_unexplained(x, all + minor) > 0 && suspect_denormals(j, x, &s[VTI_FACT_OTHER]))
		all = acquit(x, s, why, &minor);
	for (i = 0; i < VTI_FACTS; i++)
		sure += get_sure(x, &s[i]);
	for (i = 0; i < VTI_FACTS && code == 0; i++) {
		const struct others others = {
			.most = all - fmin(s[i].bound, x->high) + minor + x->others,
			.least = sure - get_sure(x, &s[i]),
		};

		code = append_cause(j, x, vti_culprit_fact_cause(i), &s[i], why[i], &others);
	}
	return code ? code : append_unexplained(j, x, get_unexplained(x, all + minor));
}

/* ---- instructions that stall for long ---- */

/* What others may have taken of a time. */
static double get_others(const struct vt_culprit_input *input, double cycles)
{
	return input->exact_time ? 0 : (OTHERS + input->slowed) * cycles;
}

/* Sets what of a time is beyond the schedule; `width` is half of the time's interval. */
static void set_excess(const struct judge *j, double cycles, double best, double width,
		       struct excess *x)
{
	x->cycles = cycles - best;
	x->low = fmax(0, cycles - width - best);
	x->high = cycles + width - SURE_SCHEDULE * best;
	x->sure = cycles - width - best / SURE_SCHEDULE;
	x->others = get_others(j->c->in, cycles);
}

static double get_half_width(const struct vt_culprit_input *input, uint32_t insn)
{
	const struct vt_culprit_insn *in = &input->insns[insn];

	if (input->exact_time)
		return vt_region_half_width(INFINITY, 0, in->cycles, in->doubt);
	return vt_region_half_width((double)in->time_samples, 1, in->cycles, in->doubt);
}

/*
 * Whether an instruction takes so much longer each time than `head` cycles, which the schedule
 * gives it, that this is its own time, and has enough samples to tell: by the low end of the time's
 * interval, less what others may have taken, it does take longer.
 */
static bool is_peak(const struct vt_culprit_input *input, uint32_t insn, double head)
{
	const struct vt_culprit_insn *in = &input->insns[insn];
	double low = in->cycles * (1 - get_half_width(input, insn)) - get_others(input, in->cycles);

	return in->executions > 0 && isfinite(in->executions * in->cycles) && isfinite(in->doubt) &&
	       in->cycles - head >= input->least_peak && low > head &&
	       (input->exact_time || in->time_samples >= PEAK_SAMPLES);
}

static bool has_peak(const struct judge *j, uint32_t insn)
{
	return is_peak(j->c->in, insn, (double)j->c->costs[insn].head);
}

bool vt_culprit_may_accuse(const struct vt_culprit_input *in)
{
	double samples = 0;
	uint32_t i;

	if (in->core->order == VT_IN_ORDER || in->exact_time)
		return true;
	for (i = 0; i < in->flow->cfg->ninsns; i++) {
		samples += (double)in->insns[i].time_samples;
		if (is_peak(in, i, 0))
			return true;
	}
	return vt_region_half_width(samples, 0, 1, 0) <= VT_REGIONS_WIDTH;
}

static uint32_t get_overlap_flag(const struct judge *j, uint32_t region)
{
	return j->r->list[region].overlaps ? VT_STALL_OVERLAPS : 0;
}

static bool has_suspects(const struct suspicion *s, double cycles)
{
	uint32_t i;

	for (i = 0; i < VTI_FACTS; i++)
		if (s[i].bound >= NEXT_TO_NOTHING * cycles)
			return true;
	return false;
}

/* Where nothing at the instruction could be the cause, samples may have slipped to it. */
static int judge_peak(const struct judge *j, uint32_t insn)
{
	const struct vt_culprit_insn *in = &j->c->in->insns[insn];
	struct suspicion own[VTI_FACTS] = {{0}};
	struct excess x = {.insn = insn, .region = get_region(j, insn)};
	double cycles = in->cycles * in->executions;

	x.flags = get_overlap_flag(j, x.region);
	set_excess(j, cycles, (double)j->c->costs[insn].head * in->executions,
		   get_half_width(j->c->in, insn) * cycles, &x);
	add_facts(j, insn, own);
	add_fetches(j, insn, own);
	add_arrivals(j, insn, own);
	x.peak = has_suspects(own, x.cycles);
	/* What its region's causes are known to have taken may be of any of its instructions. */
	x.told = x.peak ? 0 : INFINITY;
	return judge_excess(j, &x, x.peak ? own : &j->sums[(size_t)x.region * VTI_FACTS]);
}

/* ---- regions ---- */

static uint32_t get_first_insn(const struct judge *j, const struct vt_region *r)
{
	return r->head == VT_CFG_ENTRY ? 0 : j->c->cfg->blocks[r->head].insn;
}

static int append_gain(const struct judge *j, const struct excess *x, double gain)
{
	const struct vt_culprit_stall stall = {
		.insn = x->insn,
		.cause = VT_STALL_GAIN,
		.low = gain,
		.high = gain,
		.confidence = j->c->in->insns[x->insn].confidence,
		.cycles = gain,
		.flags = x->flags,
		.region = x->region,
	};

	return vti_culprit_append(j->out, &stall, j->err);
}

/* What a region takes beyond its schedule, without its instructions' own stalls. */
static int judge_region(const struct judge *j, uint32_t which, double peaks)
{
	const struct vt_region *r = &j->r->list[which];
	struct excess x = {.insn = get_first_insn(j, r), .region = which};

	if (!isfinite(r->cycles) || !isfinite(r->best) || !vt_region_is_told(r))
		return 0;
	x.flags = VT_STALL_OF_REGION | get_overlap_flag(j, which) |
		  (r->head != VT_CFG_ENTRY ? VT_STALL_OF_LOOP : 0U);
	if (r->cycles * (1 + r->half) < r->least)
		return append_gain(j, &x, fmax(r->best, r->least) - r->cycles);
	set_excess(j, r->cycles - peaks, r->best, r->half * r->cycles, &x);
	x.others = get_others(j->c->in, r->cycles);
	x.told = peaks;
	/* What others may have taken is no stall of the region. */
	if (!(x.low > x.others))
		return 0;
	return judge_excess(j, &x, &j->sums[(size_t)which * VTI_FACTS]);
}

/*
 * A cache does not take in more than a line in a cycle.  What a loop uses in each round stays there
 * if rounds are so short that others cannot have taken most of it in between.
 */
#define TAKEN 4

static void keep_used_lines(const struct judge *j, uint32_t insn)
{
	const struct vt_region *r = &j->r->list[get_region(j, insn)];
	const struct vt_cache_shape *cache = &j->c->core->dcache;

	if (r->head != VT_CFG_ENTRY && cache->line &&
	    r->cycles * TAKEN < r->rounds * cache->size / cache->line &&
	    j->c->in->insns[insn].executions >= r->rounds && vti_culprit_is_fixed(j->c, insn)) {
		j->c->data_lines[insn] = fmin(j->c->data_lines[insn], r->visits);
		j->c->data_pages[insn] = fmin(j->c->data_pages[insn], r->visits);
	}
}

/* Sums what facts allow in the regions that are judged, or have an instruction that is. */
static int sum_facts(const struct judge *j)
{
	const struct vt_cfg *g = j->c->cfg;
	bool *judged = calloc((size_t)j->r->count + 1, sizeof(*judged));
	uint32_t i;

	if (!judged)
		return vt_error_nomem(j->err);
	for (i = 0; i < j->r->count; i++)
		judged[i] = vt_region_is_told(&j->r->list[i]);
	for (i = 0; i < g->ninsns; i++) {
		judged[get_region(j, i)] |= has_peak(j, i);
		keep_used_lines(j, i);
	}
	for (i = 0; i < g->ninsns; i++)
		if (judged[get_region(j, i)])
			add_facts(j, i, &j->sums[(size_t)get_region(j, i) * VTI_FACTS]);
	free(judged);
	return 0;
}

static int judge_all(const struct judge *j)
{
	const struct vt_cfg *g = j->c->cfg;
	double *peaks = calloc((size_t)j->r->count + 1, sizeof(*peaks));
	uint32_t i;
	int code = peaks ? sum_facts(j) : vt_error_nomem(j->err);

	for (i = 0; i < g->ninsns && code == 0; i++) {
		if (!has_peak(j, i))
			continue;
		peaks[get_region(j, i)] +=
			(j->c->in->insns[i].cycles - (double)j->c->costs[i].head) *
			j->c->in->insns[i].executions;
		code = judge_peak(j, i);
	}
	for (i = 0; i < j->r->count && code == 0; i++)
		code = judge_region(j, i, peaks[i]);
	free(peaks);
	return code;
}

/* ---- the regions themselves ---- */

static struct vt_regions *find_regions(const struct vti_culprit *c, struct vt_error *err)
{
	size_t n = c->cfg->ninsns, i;
	double *numbers = malloc((3 * n + 1) * sizeof(*numbers));
	uint64_t *samples = malloc((n + 1) * sizeof(*samples));
	struct vt_regions *r = NULL;

	if (numbers && samples) {
		const struct vt_regions_input in = {.core = c->core,
						    .flow = c->in->flow,
						    .executions = numbers,
						    .edges = c->in->edges,
						    .doubt = numbers + n,
						    .samples = samples,
						    .cycles = numbers + 2 * n,
						    .exact_time = c->in->exact_time};

		for (i = 0; i < n; i++) {
			const struct vt_culprit_insn *at = &c->in->insns[i];
			double executions = at->executions > 0 ? at->executions : 0;

			numbers[i] = executions;
			numbers[n + i] = at->doubt;
			numbers[2 * n + i] = at->cycles > 0 ? at->cycles * executions : 0;
			samples[i] = at->time_samples;
		}
		r = vt_regions_new(&in, err);
	} else {
		vt_error_nomem(err);
	}
	free(numbers);
	free(samples);
	return r;
}

int vti_culprit_by_region(const struct vti_culprit *c, struct vt_culprit_stalls *out,
			  struct vt_error *err)
{
	struct judge j = {.c = c, .out = out, .r = find_regions(c, err), .err = err};
	int code = j.r ? 0 : -VT_E_NOMEM;

	vt_regions_free(out->regions);
	out->regions = j.r;
	if (code == 0) {
		j.sums = calloc((size_t)j.r->count * VTI_FACTS + 1, sizeof(*j.sums));
		code = j.sums ? judge_all(&j) : vt_error_nomem(err);
	}
	free(j.sums);
	return code;
}
