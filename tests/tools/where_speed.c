/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Evaluates an expression of vt-filter(7) over N samples in memory, by runs of rows, and tells how
 * many a second of processor time that was: where_speed EXPRESSION N
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "stream/profileme.h"
#include "stream/where.h"

#define ROWS 4096

struct samples {
	uint64_t numbers[VT_SAMPLE_NFIELDS][ROWS];
	uint32_t off[2];
	struct vt_column columns[VT_SAMPLE_NFIELDS];
	struct vt_block block;
};

/* Most samples are loads, a quarter with a long latency, an eighth with a miss. */
static void fill(struct samples *s, const struct vt_schema *schema)
{
	struct vt_rng rng;
	unsigned f, i;

	vt_rng_init(&rng, 1);
	for (f = 0; f < VT_SAMPLE_NFIELDS; f++)
		s->columns[f] =
			(struct vt_column){.v = s->numbers[f], .mask = SIZE_MAX, .off = s->off};
	for (i = 0; i < ROWS; i++) {
		uint64_t n = vt_rng_next(&rng);

		s->numbers[VT_SAMPLE_IP][i] = 0x400000 + (n >> 40);
		s->numbers[VT_SAMPLE_PM_HAS][i] =
			VT_PM_BIT(EVENTS) | (n & 3 ? VT_PM_BIT(LAT_LOAD) : 0);
		s->numbers[VT_SAMPLE_EVENTS_TOLD][i] =
			VT_PM_EVENT(RETIRED) | VT_PM_EVENT(DCACHE_MISS);
		s->numbers[VT_SAMPLE_EVENTS][i] = n >> 2 & 7 ? 1 : VT_PM_EVENT(DCACHE_MISS);
		s->numbers[VT_SAMPLE_LAT_LOAD][i] = n >> 8 & 255;
	}
	s->block = (struct vt_block){VT_SAMPLE, ROWS, VT_SAMPLE_NFIELDS, &schema->kinds[VT_SAMPLE],
				     s->columns};
}

static void measure(const char *text, struct vt_where_expr *w, const struct vt_block *block,
		    uint64_t n)
{
	static uint8_t truth[ROWS];
	uint64_t done, passed = 0;
	clock_t start = clock();
	double seconds;
	unsigned i;

	for (done = 0; done < n; done += ROWS) {
		vt_where_select(w, block, 0, ROWS, truth);
		for (i = 0; i < ROWS; i++)
			passed += truth[i] == VT_TRUE;
	}
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	printf("%s: %.1f million a second, %" PRIu64 " of %" PRIu64 " passed\n", text,
	       (double)done / seconds / 1e6, passed, done);
}

int main(int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	static struct samples s;
	struct vt_where_expr *w;
	struct vt_schema schema;

	if (argc != 3) {
		fprintf(stderr, "usage: where_speed EXPRESSION N\n");
		return 2;
	}
	if (vt_schema_init(&schema, &err) < 0)
		return 1;
	fill(&s, &schema);
	w = vt_where_compile(argv[1], &schema, VT_SAMPLE, NULL, &err);
	if (w)
		measure(argv[1], w, &s.block, strtoull(argv[2], NULL, 0));
	else
		fprintf(stderr, "where_speed: %s\n", err.text);
	vt_where_free(w);
	vt_schema_fini(&schema);
	return w ? 0 : 1;
}
