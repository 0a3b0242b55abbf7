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

/* An event of single instructions, by its index among those of all streams. */
struct followed {
	uint32_t event;
	uint32_t estimates; /* the first stream that has such of it, a number of a text; 0: none */
	uint32_t samples;   /* likewise */
	uint32_t population;
	uint64_t setting[NSETTINGS]; /* of the first with estimates that names one; 0: unknown */
};

void vti_followed_init(struct vti_followed *f)
{
	vt_hash_init(&f->own, sizeof(uint64_t), sizeof(uint64_t));
	vt_hash_init(&f->all, sizeof(struct followed), sizeof(uint32_t));
}

void vti_followed_fini(struct vti_followed *f)
{
	vt_hash_fini(&f->own);
	vt_hash_fini(&f->all);
}

bool vti_feed_followed(struct vt_merge *m, const struct vt_block *b, uint32_t first, uint32_t count)
{
	const struct vt_column *has = &b->columns[VT_SAMPLE_PM_HAS];
	const struct vt_column *event = &b->columns[VT_SAMPLE_EVENT];
	uint64_t last = 0;
	bool known = false;
	uint32_t row;

	for (row = first; row - first < count; row++) {
		uint64_t id = event->v[row & event->mask];

		if (!has->v[row & has->mask] || (known && id == last))
			continue;
		if (!vt_hash_add(&m->followed.own, &id, NULL))
			return false;
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
				      *(const uint64_t *)vt_hash_at(&m->followed.own, i));
	return ok;
}

static const char *event_name(const struct vt_merge *m, const struct followed *f)
{
	return vt_intern_get(
		m->strings,
		((const struct vti_merged_event *)vt_hash_at(&m->events, f->event))->name);
}

/* Samples would be but counted: their sum with estimates would be of neither. */
static int check_both(const struct vt_merge *m, const struct followed *f, bool own_estimates,
		      struct vt_error *err)
{
	if (!f->estimates || !f->samples)
		return 0;
	return vt_error_set(
		err, VT_E_MISMATCH,
		"its %s of '%s' do not add up with the %s of %s: vevent takes both files",
		own_estimates ? "estimates" : "samples of single instructions", event_name(m, f),
		own_estimates ? "samples of single instructions" : "estimates",
		vt_intern_get(m->strings, own_estimates ? f->samples : f->estimates));
}

static int check_setting(const struct vt_merge *m, struct followed *f, unsigned i, uint64_t own,
			 struct vt_error *err)
{
	if (own && f->setting[i] && own != f->setting[i])
		return vt_error_set(err, VT_E_MISMATCH,
				    "its estimates of '%s' are of another event than those of %s: "
				    "%s is 0x%" PRIx64 ", not 0x%" PRIx64,
				    event_name(m, f), vt_intern_get(m->strings, f->estimates),
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
				    event_name(m, f), vt_intern_get(m->strings, f->estimates));
	if (code < 0)
		return code;
	f->population = e->population ? e->population : f->population;
	f->estimates = f->estimates ? f->estimates : name;
	return check_both(m, f, true, err);
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
		uint64_t id = *(const uint64_t *)vt_hash_at(&m->followed.own, i);
		size_t index = vt_tally_event_index(&m->tally, VT_PROFILE_EVENT, id);
		struct followed *f = vt_hash_add(&m->followed.all, &events[index], NULL);

		if (!f)
			return vt_error_nomem(err);
		f->samples = f->samples ? f->samples : name;
		code = check_both(m, f, false, err);
	}
	vt_hash_clear(&m->followed.own);
	return code;
}
