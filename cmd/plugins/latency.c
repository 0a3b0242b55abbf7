/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Load latencies in bins, as in figure 1 of value sampling (3.3).  Where the bins end is what the
 * recorder has measured (the fact "latency.levels"), or else found from the data: a processor's
 * loads take the times of the levels of its memory, so the density of their logarithms has a hill
 * for each level.  Bins end in the valleys between hills that stand out.
 *
 * Options: "bins=A,B,C" sets the upper ends of all bins but the last instead, in cycles; "max=N"
 * allows at most N bins (2 to 6, default 4), found from the data.
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
#define MAX_NAME 24

/* Latencies are counted in steps of a 16th of their power of two, and exactly below 32. */
#define EXACT 32
#define STEPS 16
#define CELLS (EXACT + 59 * STEPS)

/* The density is taken at so many points for each power of two, by a Gaussian kernel. */
#define POINTS (64 * STEPS)
#define WIDTH  (STEPS / 4.0)
#define REACH  (3 * STEPS / 4)

/*
 * A valley counts when it is at most half as high as the lower one of its two hills, and that hill
 * is no chance: higher than the valley by so many standard deviations.
 */
#define DEPTH  0.5
#define SURELY 3.0

/* Of the lowest stretch of a valley the middle is taken; what is that low there. */
#define FLAT 0.02

/* Hills are at least two points apart. */
#define MAX_HILLS (POINTS / 2)

struct state {
	uint64_t counts[CELLS];
	uint32_t max;
	uint32_t nbins;
	uint64_t ends[MAX_BINS]; /* a bin has latencies below its end; that of the last is not used
				  */
	bool given;
	bool chosen;   /* how many, at most */
	bool measured; /* by the recorder, who has named them */
	char names[MAX_BINS][MAX_NAME];
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

static void *create_latency(const char *options, char *error, size_t size)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s) {
		snprintf(error, size, "out of memory");
		return NULL;
	}
	s->max = 4;
	if (strncmp(options, "max=", 4) == 0 && options[4] >= '2' && options[4] <= '6' &&
	    !options[5]) {
		s->max = (uint32_t)(options[4] - '0');
		s->chosen = true;
	} else if (*options && (strncmp(options, "bins=", 5) != 0 || !parse_bins(s, options + 5))) {
		snprintf(error, size,
			 "\"%.80s\": neither bins=A,B,... (rising, at most %d) nor max=2 to 6",
			 options, MAX_BINS - 1);
		free(s);
		return NULL;
	}
	return s;
}

/* ---- what the recorder tells ---- */

/* "L1/L2<40 L3<160 memory": names without blanks, each but the last with its end. */
static bool parse_levels(struct state *s, const char *text)
{
	uint64_t last = 0;
	char *end;

	for (s->nbins = 0; s->nbins < MAX_BINS; s->nbins++) {
		size_t n = strcspn(text, "< ");

		if (!n || n >= MAX_NAME)
			return false;
		memcpy(s->names[s->nbins], text, n);
		s->names[s->nbins][n] = '\0';
		text += n;
		if (!*text) {
			s->nbins++;
			return true;
		}
		if (*text != '<' || text[1] < '0' || text[1] > '9')
			return false;
		errno = 0;
		s->ends[s->nbins] = strtoull(text + 1, &end, 10);
		if (errno || s->ends[s->nbins] <= last || *end != ' ')
			return false;
		last = s->ends[s->nbins];
		text = end + 1;
	}
	return false;
}

static void take_fact(void *state, const char *key, const char *value)
{
	struct state *s = state;

	if (!s->given && !s->chosen && !s->measured && strcmp(key, "latency.levels") == 0)
		s->measured = parse_levels(s, value);
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

static double middle_of(uint32_t cell)
{
	uint32_t power = 5 + (cell - EXACT) / STEPS;

	if (cell < EXACT)
		return cell;
	return ldexp(1 + ((cell - EXACT) % STEPS + 0.5) / STEPS, (int)power);
}

static int process_latency(void *state, const struct vtrace_run *run, vtrace_emit *emit, void *host)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < run->ntuples; i++) {
		const struct vtrace_tuple *t = &run->tuples[i];
		const struct vtrace_value v = {t->pc, t->value, 0, 8};

		if (t->what != VTRACE_LATENCY || !t->known)
			continue;
		/* Some processors measure stores as well. */
		if ((t->classes & (VTRACE_LOAD | VTRACE_STORE)) == VTRACE_STORE)
			continue;
		s->counts[cell_of(t->value)] += run->weight;
		if (emit(host, &v) < 0)
			return -1;
	}
	return 0;
}

/* ---- where bins end ---- */

/* Hills of the density from left to right, and the lowest point behind each but the last. */
struct hills {
	double density[POINTS];
	uint32_t top[MAX_HILLS];
	uint32_t valley[MAX_HILLS];
	uint32_t count;
};

/* How many latencies are near each point: one that is right there counts as 1. */
static void spread_counts(struct hills *h, const uint64_t *counts)
{
	uint32_t c;

	for (c = 1; c < CELLS; c++) {
		double x = log2(middle_of(c)) * STEPS;
		int from = (int)x - REACH, to = (int)x + REACH, i;

		for (i = from < 0 ? 0 : from; counts[c] && i <= to && i < POINTS; i++)
			h->density[i] +=
				(double)counts[c] * exp(-0.5 * (i - x) * (i - x) / (WIDTH * WIDTH));
	}
}

static void find_hills(struct hills *h)
{
	const double *d = h->density;
	uint32_t i, lowest = 0;
	bool rising = true;

	for (i = 1; i < POINTS; i++) {
		if (d[i] < d[i - 1]) {
			rising = false;
			lowest = i;
		} else if (d[i] > d[i - 1]) {
			if (!rising)
				h->valley[h->count++] = lowest;
			rising = true;
			h->top[h->count] = i;
		}
	}
	h->count++;
}

static double lower_top(const struct hills *h, uint32_t i)
{
	double a = h->density[h->top[i]], b = h->density[h->top[i + 1]];

	return a < b ? a : b;
}

/* How little a valley parts its hills: 0 is all, 1 nothing. */
static double get_valley_weakness(const struct hills *h, uint32_t i)
{
	double top = lower_top(h, i), low = h->density[h->valley[i]];

	return top - low < SURELY * sqrt(top) ? 1 : low / top;
}

/* The two hills beside a valley become one. */
static void join_hills(struct hills *h, uint32_t i)
{
	uint32_t k;

	if (h->density[h->top[i + 1]] < h->density[h->top[i]])
		h->top[i + 1] = h->top[i];
	for (k = i; k + 1 < h->count; k++) {
		h->top[k] = h->top[k + 1];
		h->valley[k] = h->valley[k + 1];
	}
	h->count--;
}

/* Leaves no valley that does not count, and at most `max` hills: the weakest go first. */
static void merge_weak_hills(struct hills *h, uint32_t max)
{
	while (h->count > 1) {
		uint32_t i, weakest = 0;

		for (i = 1; i + 1 < h->count; i++) {
			double a = get_valley_weakness(h, i), b = get_valley_weakness(h, weakest);

			if (a > b || (a == b && lower_top(h, i) < lower_top(h, weakest)))
				weakest = i;
		}
		if (get_valley_weakness(h, weakest) <= DEPTH && h->count <= max)
			return;
		join_hills(h, weakest);
	}
}

/* Where a valley is lowest; in the middle of that when it is wide. */
static uint64_t edge_of(const struct hills *h, uint32_t i)
{
	double low = h->density[h->valley[i]] + FLAT * lower_top(h, i);
	uint32_t from = h->valley[i], to = from;

	while (h->density[from - 1] <= low)
		from--;
	while (h->density[to + 1] <= low)
		to++;
	return (uint64_t)ceil(exp2((from + to) / 2.0 / STEPS));
}

static int finish_latency(void *state)
{
	struct state *s = state;
	struct hills *h;
	uint32_t i;

	if (s->given || s->measured)
		return 0;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -1;
	spread_counts(h, s->counts);
	find_hills(h);
	merge_weak_hills(h, s->max);
	s->nbins = h->count;
	for (i = 0; i + 1 < s->nbins; i++)
		s->ends[i] = edge_of(h, i);
	free(h);
	return 0;
}

/* ---- values and labels ---- */

static uint64_t settle_latency(void *state, uint32_t kind, uint64_t value)
{
	const struct state *s = state;
	uint64_t bin = 0;

	(void)kind;
	while (bin + 1 < s->nbins && value >= s->ends[bin])
		bin++;
	return bin;
}

static const char *name_bin(const struct state *s, uint64_t bin, char name[MAX_NAME])
{
	if (s->measured)
		return s->names[bin];
	if (bin + 1 == s->nbins)
		return "M";
	snprintf(name, MAX_NAME, "L%u", (unsigned)bin + 1);
	return name;
}

/* "L1 (<12)", "L2 (12-39)", "M (>=180)": the last one is memory, those before are caches. */
static size_t format_latency(void *state, uint32_t kind, uint64_t value, char *buf, size_t size)
{
	const struct state *s = state;
	unsigned long long from, end;
	char own[MAX_NAME];
	const char *name;
	int n;

	(void)kind;
	if (value >= s->nbins || s->nbins < 2)
		return (size_t)snprintf(buf, size, "all");
	from = value ? s->ends[value - 1] : 0;
	end = s->ends[value];
	name = name_bin(s, value, own);
	if (value + 1 == s->nbins)
		n = snprintf(buf, size, "%s (>=%llu)", name, from);
	else if (value)
		n = snprintf(buf, size, "%s (%llu-%llu)", name, from, end - 1);
	else
		n = snprintf(buf, size, "%s (<%llu)", name, end);
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
	.create = create_latency,
	.destroy = free,
	.process = process_latency,
	.finish = finish_latency,
	.settle = settle_latency,
	.format = format_latency,
	.fact = take_fact,
};
