/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Load latencies in bins, as in figure 1 of value sampling (3.3).  Where the bins end is found from
 * the data: a processor's loads take the times of the levels of its memory, so the histogram of
 * their logarithms has a heap for each level, and valleys between.  The histogram is parted where
 * that lowers the variance within the parts most (Fisher's natural breaks), as long as another part
 * lowers it noticeably.
 *
 * Options: "bins=A,B,C" sets the upper ends of all bins but the last instead, in cycles; "max=N"
 * allows at most N bins (2 to 6, default 4).
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vtrace/plugin.h>

static const struct vtrace_kind kinds[] = {{"latency", VTRACE_UNSIGNED}};
static const struct vtrace_rule rules[] = {{VTRACE_ANY, 0, VTRACE_BIT(VTRACE_LATENCY), 0}};

#define MAX_BINS 6

/* Latencies are counted in steps of a 16th of their power of two, and exactly below 32. */
#define EXACT 32
#define STEPS 16
#define CELLS (EXACT + 59 * STEPS)

/* Another bin must take away this share of what variance is left. */
#define WORTH 0.5

struct state {
	uint64_t counts[CELLS];
	uint32_t max;
	uint32_t nbins;
	uint64_t ends[MAX_BINS]; /* a bin has latencies below its end; that of the last is not used
				  */
	bool given;
};

/* ---- options ---- */

static bool parse_bins(struct state *s, const char *text)
{
	uint64_t last = 0;
	char *end;

	for (s->nbins = 1;; s->nbins++) {
		uint64_t v;

		errno = 0;
		v = strtoull(text, &end, 10);
		if (end == text || *text < '0' || *text > '9' || errno || v <= last ||
		    s->nbins == MAX_BINS)
			return false;
		s->ends[s->nbins - 1] = last = v;
		if (!*end)
			break;
		if (*end != ',')
			return false;
		text = end + 1;
	}
	s->nbins++;
	s->given = true;
	return s->nbins <= MAX_BINS;
}

static void *create(const char *options, char *error, size_t size)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s) {
		snprintf(error, size, "out of memory");
		return NULL;
	}
	s->max = 4;
	if (strncmp(options, "max=", 4) == 0 && options[4] >= '2' && options[4] <= '6' &&
	    !options[5])
		s->max = (uint32_t)(options[4] - '0');
	else if (*options && (strncmp(options, "bins=", 5) != 0 || !parse_bins(s, options + 5))) {
		snprintf(error, size,
			 "\"%.80s\": neither bins=A,B,... (rising, at most %d) nor max=2 to 6",
			 options, MAX_BINS - 1);
		free(s);
		return NULL;
	}
	return s;
}

/* ---- while the stream is read ---- */

static uint32_t cell_of(uint64_t latency)
{
	uint32_t power = 5;

	if (latency < EXACT)
		return (uint32_t)latency;
	while (latency >> (power + 1))
		power++;
	return EXACT + (power - 5) * STEPS + (uint32_t)(latency >> (power - 4) & (STEPS - 1));
}

static uint64_t lowest_of(uint32_t cell)
{
	uint32_t power = 5 + (cell - EXACT) / STEPS;

	if (cell < EXACT)
		return cell;
	return (UINT64_C(1) << power) | (uint64_t)((cell - EXACT) % STEPS) << (power - 4);
}

static int process(void *state, const struct vtrace_run *run, vtrace_emit *emit, void *host)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < run->ntuples; i++) {
		const struct vtrace_tuple *t = &run->tuples[i];
		const struct vtrace_value v = {t->pc, t->value, 0, 8};

		if (t->what != VTRACE_LATENCY || !t->known)
			continue;
		s->counts[cell_of(t->value)] += run->weight;
		if (emit(host, &v) < 0)
			return -1;
	}
	return 0;
}

/* ---- where bins end ---- */

/* The cells that have something in them, and sums over those before each. */
struct sums {
	uint32_t cell[CELLS];
	double n[CELLS + 1];
	double x[CELLS + 1];
	double xx[CELLS + 1];
	double best[MAX_BINS][CELLS + 1];  /* variance of the first i cells in k + 1 parts */
	uint32_t cut[MAX_BINS][CELLS + 1]; /* where the last part begins */
	uint32_t count;
};

static double variance(const struct sums *s, uint32_t from, uint32_t to)
{
	double n = s->n[to] - s->n[from], x = s->x[to] - s->x[from];
	double v = s->xx[to] - s->xx[from] - x * x / n;

	return v > 0 ? v : 0;
}

static void fill_sums(struct sums *s, const uint64_t *counts)
{
	uint32_t c;

	for (c = 0; c < CELLS; c++) {
		double x = log2((double)lowest_of(c) + 1), n = (double)counts[c];
		uint32_t i = s->count;

		if (!counts[c])
			continue;
		s->cell[i] = c;
		s->n[i + 1] = s->n[i] + n;
		s->x[i + 1] = s->x[i] + n * x;
		s->xx[i + 1] = s->xx[i] + n * x * x;
		s->count++;
	}
}

/* The best parting of all first cells into each number of parts (Fisher 1958). */
static void part(struct sums *s, uint32_t max)
{
	uint32_t k, i, from;

	for (i = 1; i <= s->count; i++)
		s->best[0][i] = variance(s, 0, i);
	for (k = 1; k < max; k++) {
		for (i = k + 1; i <= s->count; i++) {
			s->best[k][i] = INFINITY;
			for (from = k; from < i; from++) {
				double v = s->best[k - 1][from] + variance(s, from, i);

				if (v < s->best[k][i]) {
					s->best[k][i] = v;
					s->cut[k][i] = from;
				}
			}
		}
	}
}

/* A variance of rounding alone: a 16th of a power of two either way. */
static uint32_t choose(const struct sums *s, uint32_t max)
{
	double noise = s->n[s->count] / (12.0 * STEPS * STEPS);
	uint32_t k = 0;

	while (k + 1 < max && k + 1 < s->count && s->best[k][s->count] > noise &&
	       s->best[k + 1][s->count] < WORTH * s->best[k][s->count])
		k++;
	return k + 1;
}

static int finish(void *state)
{
	struct state *s = state;
	struct sums *sums;
	uint32_t k, at;

	if (s->given)
		return 0;
	sums = calloc(1, sizeof(*sums));
	if (!sums)
		return -1;
	fill_sums(sums, s->counts);
	s->nbins = 1;
	if (sums->count) {
		part(sums, s->max);
		s->nbins = choose(sums, s->max);
	}
	for (k = s->nbins - 1, at = sums->count; k > 0; k--) {
		at = sums->cut[k][at];
		s->ends[k - 1] = lowest_of(sums->cell[at]);
	}
	free(sums);
	return 0;
}

/* ---- what is told ---- */

static uint64_t settle(void *state, uint32_t kind, uint64_t value)
{
	const struct state *s = state;
	uint64_t bin = 0;

	(void)kind;
	while (bin + 1 < s->nbins && value >= s->ends[bin])
		bin++;
	return bin;
}

/* "L1 (<12)", "L2 (12-39)", "M (>=180)": the last one is memory, those before are caches. */
static size_t format(void *state, uint32_t kind, uint64_t value, char *buf, size_t size)
{
	const struct state *s = state;
	unsigned long long from, end;
	int n;

	(void)kind;
	if (value >= s->nbins || s->nbins < 2)
		return (size_t)snprintf(buf, size, "all");
	from = value ? s->ends[value - 1] : 0;
	end = s->ends[value];
	if (value + 1 == s->nbins)
		n = snprintf(buf, size, "M (>=%llu)", from);
	else if (value)
		n = snprintf(buf, size, "L%u (%llu-%llu)", (unsigned)value + 1, from, end - 1);
	else
		n = snprintf(buf, size, "L1 (<%llu)", end);
	return n > 0 ? (size_t)n : 0;
}

const struct vtrace_plugin vtrace_plugin = {
	.abi = VTRACE_PLUGIN_ABI,
	.size = sizeof(struct vtrace_plugin),
	.name = "latency",
	.description = "load latencies by level of memory, the levels found from the data",
	.kinds = kinds,
	.nkinds = 1,
	.rules = rules,
	.nrules = 1,
	.create = create,
	.destroy = free,
	.process = process,
	.finish = finish,
	.settle = settle,
	.format = format,
};
