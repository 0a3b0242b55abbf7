/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample/interval.h"

#include <math.h>

/* DCPI's range is 2K to either side of 62K. */
#define DCPI_HALF 31

/* Of linux/perf_event.h: PERF_RECORD_MISC_USER. */
#define MISC_USER 2

const char *const vt_interval_words[VT_NINTERVALS + 1] = {"uniform", "geometric", "fixed", NULL};

struct vt_interval vt_interval_make(enum vt_interval_kind kind, uint64_t mean)
{
	struct vt_interval v = {.kind = kind, .mean = mean};

	if (kind == VT_INTERVAL_UNIFORM && mean > 1)
		v.half = (mean + DCPI_HALF - 1) / DCPI_HALF;
	return v;
}

/*
 * By inversion: the trials up to the first success, whose probability is 1/mean.  For a mean of 1,
 * log1p() is minus infinity, and the result is 1.
 */
static uint64_t draw_geometric(uint64_t mean, struct vt_rng *rng)
{
	double u = ((double)(vt_rng_next(rng) >> 11) + 0.5) * 0x1p-53;

	return 1 + (uint64_t)(log(u) / log1p(-1.0 / (double)mean));
}

uint64_t vt_interval_next(const struct vt_interval *v, struct vt_rng *rng)
{
	if (v->kind == VT_INTERVAL_GEOMETRIC)
		return draw_geometric(v->mean, rng);
	return v->mean - v->half + (v->half ? vt_rng_below(rng, 2 * v->half + 1) : 0);
}

uint64_t vt_interval_first(const struct vt_interval *v, struct vt_rng *rng)
{
	uint64_t least = v->mean - v->half;
	uint64_t range = 2 * v->half + 1;

	/* A geometric distribution has no memory. */
	if (v->kind == VT_INTERVAL_GEOMETRIC)
		return draw_geometric(v->mean, rng);
	for (;;) {
		uint64_t k = 1 + vt_rng_below(rng, v->mean + v->half);

		if (k <= least || vt_rng_below(rng, range) < v->mean + v->half + 1 - k)
			return k;
	}
}

uint64_t *vt_sample_write(struct vt_writer *w, uint64_t event, uint64_t time, int64_t pid,
			  int64_t tid, uint64_t ip, uint64_t period)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_TIME] = time;
	row[VT_SAMPLE_PID] = (uint64_t)pid;
	row[VT_SAMPLE_TID] = (uint64_t)tid;
	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_PERIOD] = period;
	row[VT_SAMPLE_MISC] = MISC_USER;
	row[VT_SAMPLE_HAS] = VT_HAS_IP | VT_HAS_TID | VT_HAS_PERIOD | (time ? VT_HAS_TIME : 0);
	return row;
}

void vt_sample_refuse(struct vt_writer *w, vt_warn_fn *warn, void *arg, const struct vt_error *err)
{
	uint64_t *row = vt_writer_row(w, VT_GAP);

	if (warn)
		warn(arg, err->text);
	row[VT_GAP_RECORDS] = 1;
	vt_writer_text(w, VT_GAP_REASON, "executed code that contradicts itself");
}
