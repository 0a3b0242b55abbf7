/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "merge/internal.h"

/* The settings of an event: its samples are of other things where these differ. */
static const struct {
	unsigned field;
	const char *name;
} settings[] = {
	{VT_EVENT_CONFIG, "config"}, {VT_EVENT_CONFIG1, "config1"}, {VT_EVENT_CONFIG2, "config2"}};
#define NSETTINGS (sizeof(settings) / sizeof(settings[0]))

/* What does not add up: samples would be but counted, and the sum with estimates be of neither. */
static const struct {
	enum vti_told sums, samples;
	const char *sums_name, *samples_name, *advice;
} pairs[] = {
	{VTI_TOLD_ESTIMATES, VTI_TOLD_SAMPLES, "estimates", "samples of single instructions",
	 "vevent takes both files"},
	{VTI_TOLD_PAIR_SUMS, VTI_TOLD_PAIRS, "sums of pairs", "samples of pairs",
	 "vpair makes sums of these, too"},
};

/* What the current stream has of an event. */
struct own {
	uint64_t id;
	uint64_t what; /* enum vti_told */
};

/* An event of single instructions, by its index among those of all streams. */
struct followed {
	uint32_t event;
	uint32_t population;
	/* The first stream that has such of it, a number of a text; 0: none. */
	uint32_t stream[VTI_NTOLD];
	uint64_t setting[NSETTINGS]; /* of the first with estimates that names one; 0: unknown */
};

void vti_followed_init(struct vti_followed *f)
{
	vt_hash_init(&f->own, sizeof(struct own), sizeof(struct own));
	vt_hash_init(&f->all, sizeof(struct followed), sizeof(uint32_t));
}

void vti_followed_fini(struct vti_followed *f)
{
	vt_hash_fini(&f->own);
	vt_hash_fini(&f->all);
}

bool vti_tells(struct vt_merge *m, uint64_t id, enum vti_told what)
{
	const struct own own = {id, what};

	return vt_hash_add(&m->followed.own, &own, NULL) != NULL;
}

bool vti_feed_followed(struct vt_merge *m, const struct vt_block *b, uint32_t first, uint32_t count)
{
	const struct vt_column *has = &b->columns[VT_SAMPLE_PM_HAS];
	const struct vt_column *event = &b->columns[VT_SAMPLE_EVENT];
	const struct vt_column *pair = &b->columns[VT_SAMPLE_PAIR];
	uint64_t last = 0;
	bool known = false, paired = false;
	uint32_t row;

	for (row = first; row - first < count; row++) {
		uint64_t id = event->v[row & event->mask], bits = has->v[row & has->mask];
		bool pairs = bits & VT_PM_BIT(PAIR) && pair->v[row & pair->mask];

		if (!bits || (known && id == last && (paired || !pairs)))
			continue;
		if (!vti_tells(m, id, VTI_TOLD_SAMPLES) ||
		    (pairs && !vti_tells(m, id, VTI_TOLD_PAIRS)))
			return false;
		paired = pairs || (known && id == last && paired);
		last = id;
		known = true;
	}
	return true;
}

bool vti_declare_followed(struct vt_merge *m)
{
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < m->followed.own.count; i++)
		ok = vt_tally_declare(&m->tally,
				      ((const struct own *)vt_hash_at(&m->followed.own, i))->id);
	return ok;
}

static const char *event_name(const struct vt_merge *m, const struct followed *f)
{
	return vt_intern_get(
		m->strings,
		((const struct vti_merged_event *)vt_hash_at(&m->events, f->event))->name);
}

/* Notes that the stream called `name` has such of an event. */
static int tell(struct vt_merge *m, struct followed *f, enum vti_told what, uint32_t name,
		struct vt_error *err)
{
	size_t i;

	f->stream[what] = f->stream[what] ? f->stream[what] : name;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		bool sums = what == pairs[i].sums;

		if ((!sums && what != pairs[i].samples) || !f->stream[pairs[i].sums] ||
		    !f->stream[pairs[i].samples])
			continue;
		return vt_error_set(
			err, VT_E_MISMATCH, "its %s of '%s' do not add up with the %s of %s: %s",
			sums ? pairs[i].sums_name : pairs[i].samples_name, event_name(m, f),
			sums ? pairs[i].samples_name : pairs[i].sums_name,
			vt_intern_get(m->strings,
				      f->stream[sums ? pairs[i].samples : pairs[i].sums]),
			pairs[i].advice);
	}
	return 0;
}

static int check_setting(const struct vt_merge *m, struct followed *f, unsigned i, uint64_t own,
			 struct vt_error *err)
{
	if (own && f->setting[i] && own != f->setting[i])
		return vt_error_set(err, VT_E_MISMATCH,
				    "its estimates of '%s' are of another event than those of %s: "
				    "%s is 0x%" PRIx64 ", not 0x%" PRIx64,
				    event_name(m, f),
				    vt_intern_get(m->strings, f->stream[VTI_TOLD_ESTIMATES]),
				    settings[i].name, own, f->setting[i]);
	f->setting[i] = own ? own : f->setting[i];
	return 0;
}

static int join_estimated(struct vt_merge *m, const struct vt_evevent *e, const uint32_t *events,
			  uint32_t name, struct vt_error *err)
{
	size_t index = vt_tally_event_index(&m->tally, VT_PROFILE_EVENT, e->id);
	const struct vt_tally_event *own = vt_hash_at(&m->tally.events, index);
	struct followed *f = vt_hash_add(&m->followed.all, &events[index], NULL);
	int code = 0;
	unsigned i;

	if (!f)
		return vt_error_nomem(err);
	for (i = 0; i < NSETTINGS && code == 0; i++)
		code = check_setting(m, f, i, own->row[settings[i].field], err);
	if (code == 0 && f->population && e->population && f->population != e->population)
		code = vt_error_set(err, VT_E_MISMATCH,
				    "its estimates of '%s' are of another kind of samples than "
				    "those of %s (META " VT_EV_META ")",
				    event_name(m, f),
				    vt_intern_get(m->strings, f->stream[VTI_TOLD_ESTIMATES]));
	if (code < 0)
		return code;
	f->population = e->population ? e->population : f->population;
	return tell(m, f, VTI_TOLD_ESTIMATES, name, err);
}

int vti_join_followed(struct vt_merge *m, const uint32_t *events, const char *stream,
		      struct vt_error *err)
{
	uint32_t name = vt_intern_str(m->strings, stream);
	int code = name == UINT32_MAX ? vt_error_nomem(err) : 0;
	size_t i;

	for (i = 0; i < vt_evstats_nevents(m->own_evstats) && code == 0; i++) {
		const struct vt_evevent *e = vt_evstats_event_at(m->own_evstats, i);

		if (e->estimated)
			code = join_estimated(m, e, events, name, err);
	}
	for (i = 0; i < m->followed.own.count && code == 0; i++) {
		const struct own *own = vt_hash_at(&m->followed.own, i);
		size_t index = vt_tally_event_index(&m->tally, VT_PROFILE_EVENT, own->id);
		struct followed *f = vt_hash_add(&m->followed.all, &events[index], NULL);

		if (!f)
			return vt_error_nomem(err);
		code = tell(m, f, (enum vti_told)own->what, name, err);
	}
	vt_hash_clear(&m->followed.own);
	return code;
}
