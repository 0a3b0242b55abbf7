/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/values.h"

#include <stdlib.h>

#include "value/hot_record.h"

#define SIZE   4 /* bytes of a value that are kept */
#define STEADY 3

#define ROUNDING 1e-6 /* of estimates that are sums */

struct place {
	const struct vt_host_site *site;
	const struct vt_feed_place *at;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->at->image != y->at->image)
		return x->at->image < y->at->image ? -1 : 1;
	if (x->at->offset != y->at->offset)
		return x->at->offset < y->at->offset ? -1 : 1;
	return (x->site->pc > y->site->pc) - (x->site->pc < y->site->pc);
}

static int write_site(const struct place *p, struct vt_writer *w, struct vt_error *err)
{
	const struct vt_host_site *s = p->site;
	struct vt_hot hot = {.algo = VT_ALGO_RANDOM,
			     .size = SIZE,
			     .steady = STEADY,
			     .scale = 1,
			     .total = s->total,
			     .profiled = s->total};
	size_t i;
	int code = vt_hot_alloc(&hot, (uint32_t)s->nvalues, false, err);

	if (code < 0)
		return code;
	hot.key.image = p->at->image;
	hot.key.offset = p->at->offset;
	hot.key.what = VT_WHAT_LOAD;
	for (i = 0; i < s->nvalues; i++) {
		hot.values[i] = s->values[i].value;
		hot.counts[i] = (uint64_t)(s->values[i].estimate + ROUNDING);
		if (!hot.values[i])
			hot.zero = hot.counts[i];
	}
	hot.first = hot.last = s->nvalues ? s->values[0].value : 0;
	code = vt_hot_write(&hot, p->at->image, 0, w, err);
	vt_hot_fini(&hot);
	return code;
}

int vt_coproc_write_values(const struct vt_host *h, const struct vt_feed *f, struct vt_writer *w,
			   struct vt_error *err)
{
	size_t n = vt_host_sites(h), i, count = 0;
	struct place *places = calloc(n + 1, sizeof(*places));
	int code = 0;

	if (!places)
		return vt_error_nomem(err);
	for (i = 0; i < n; i++) {
		places[count].site = vt_host_site(h, i);
		places[count].at = vt_feed_find(f, places[count].site->pc);
		count += places[count].at != NULL;
	}
	qsort(places, count, sizeof(*places), compare_places);
	for (i = 0; i < count && code == 0; i++)
		code = write_site(&places[i], w, err);
	free(places);
	return code;
}
