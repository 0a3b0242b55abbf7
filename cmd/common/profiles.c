/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/profiles.h"

#include <inttypes.h>
#include <string.h>

#include "base/plural.h"
#include "cmd/common/hots.h"
#include "cmd/common/stream.h"
#include "events/code.h"
#include "events/gather.h"
#include "memory/memory.h"
#include "stream/kinds.h"

/* Whether it is a META record of this key whose value begins so. */
static bool has_meta(const struct vt_record *rec, const char *key, const char *begin)
{
	struct vt_bytes value;

	if (!vt_record_is_meta(rec, key))
		return false;
	value = vt_record_bytes(rec, VT_META_VALUE);
	return value.size >= strlen(begin) && memcmp(value.data, begin, strlen(begin)) == 0;
}

static int note_analyses(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
			 struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct app_profile *p = arg;

	(void)err;
	for (; rec.row - first < count; rec.row++) {
		p->estimated = p->estimated || vt_record_is_meta(&rec, "vfreq.samples");
		p->assumed = p->assumed || has_meta(&rec, "vfreq.clock", "assumed");
		p->untold = p->untold || has_meta(&rec, "vfreq.exact", "untold ");
	}
	p->stalls = p->stalls || rec.kind == VT_STALL;
	return 0;
}

static void tell_bad(struct app *a, const char *name, uint64_t bad)
{
	if (!bad)
		return;
	app_say_lossy(a, "%s: %" PRIu64 " record%s of executed code that contradict%s, left out",
		      name, bad, vt_plural(bad), bad == 1 ? "s itself" : " themselves");
}

void app_tell_chains(struct app *a, const char *name, const struct vt_calldamage *damage)
{
	if (damage->refused)
		app_say_lossy(a,
			      "%s: %" PRIu64 " CHAIN record%s contradict%s, left out; the first: "
			      "%s",
			      name, damage->refused, vt_plural(damage->refused),
			      damage->refused == 1 ? "s itself" : " themselves",
			      damage->first.text);
}

static bool read_profile_stream(struct app *a, struct app_profile *p, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r;
	bool ok;

	a->drop_stacks = !p->chains;
	r = app_open_reader(a, path);
	ok = r && app_each_run(a, r, vt_context_feed, p->in.context);
	p->name = app_input_name(path);
	ok = ok && (vt_profile_finish(p->profile, &err) == 0 || app_fail(a, &err));
	if (ok)
		tell_bad(a, vt_reader_name(r), vt_profile_bad(p->profile));
	if (ok && p->chains)
		app_tell_chains(a, vt_reader_name(r), vt_callgather_damage(p->chains));
	p->listed = r && app_came_through(r, "vhot");
	p->explained = r && app_came_through(r, "vculprit");
	app_close_reader(a, r);
	return ok;
}

bool app_profile_open(struct app *a, struct app_profile *p, const char *symfs)
{
	if (!app_context_open(a, &p->in, symfs))
		return false;
	p->profile = vt_profile_new(p->in.context);
	p->code = vt_blockcode_new(p->in.context);
	if (!p->profile || !p->code)
		return app_no_memory(a);
	vt_context_add(p->in.context,
		       &(struct vt_consumer){.take = vt_profile_feed, .arg = p->profile});
	vt_context_add(p->in.context,
		       &(struct vt_consumer){.take = vt_blockcode_feed, .arg = p->code});
	return true;
}

bool app_profile_read(struct app *a, struct app_profile *p, const char *path, const char *symfs)
{
	return app_profile_read_groups(a, p, path, symfs, NULL);
}

bool app_profile_read_groups(struct app *a, struct app_profile *p, const char *path,
			     const char *symfs, struct vt_groups *groups)
{
	struct vt_error err = VT_ERROR_INIT;

	*p = (struct app_profile){0};
	if (!app_profile_open(a, p, symfs))
		return false;
	vt_profile_estimates(p->profile);
	vt_profile_group_by(p->profile, groups);
	if (!read_profile_stream(a, p, path) || !app_need_samples(a, p->name))
		return false;
	return vt_blockcode_finish(p->code, &err) == 0 || app_fail(a, &err);
}

bool app_profile_read_chains(struct app *a, struct app_profile *p, const char *path,
			     const char *symfs, struct vt_groups *groups)
{
	*p = (struct app_profile){0};
	if (!app_profile_open(a, p, symfs))
		return false;
	p->chains = vt_callgather_new(p->in.context);
	if (!p->chains)
		return app_no_memory(a);
	vt_profile_group_by(p->profile, groups);
	vt_callgather_group_by(p->chains, groups);
	vt_context_add(p->in.context, &(struct vt_consumer){.take = vt_callgather_feed,
							    .arg = p->chains,
							    .kinds = VT_CALLGATHER_KINDS});
	return read_profile_stream(a, p, path) && app_need_samples(a, p->name);
}

bool app_profile_read_values(struct app *a, struct app_profile *p, const char *path,
			     const char *symfs)
{
	const struct vt_memory_options mo = {
		.recorded = true, .warn = app_bad_record, .warn_arg = a};
	struct vt_error err = VT_ERROR_INIT;

	*p = (struct app_profile){0};
	if (!app_profile_open(a, p, symfs))
		return false;
	p->lists = vt_hotprofile_new(0);
	if (!p->lists)
		return app_no_memory(a);
	vt_context_add(p->in.context,
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = p->lists});
	p->locations = vt_memory_new(&mo, p->in.context, &err);
	if (!p->locations)
		return app_fail(a, &err);
	if (!read_profile_stream(a, p, path))
		return false;
	if (vt_hotprofile_end(p->lists, &err) < 0 || vt_blockcode_finish(p->code, &err) < 0)
		return app_fail(a, &err);
	if (vt_memory_finish(p->locations, &err) < 0)
		return app_fail(a, &err);
	if (vt_memory_grain(p->locations) && !vt_hotprofile_count(p->lists))
		return true;
	vt_memory_free(p->locations);
	p->locations = NULL;
	if (!vt_profile_nplaces(p->profile) &&
	    vt_hotprofile_count_executions(p->lists, p->profile, &err) < 0)
		return app_fail(a, &err);
	return app_hots_check(a, p->lists, p->name, p->listed);
}

static int note_images(struct app_profile *p, struct vt_error *err)
{
	size_t i, n = vt_profile_nplaces(p->profile);
	bool ok = true;

	for (i = 0; i < p->freq_images->count && ok; i++)
		ok = vt_hash_add(&p->seen_images, vt_hash_at(p->freq_images, i), NULL) != NULL;
	for (i = 0; i < n && ok; i++) {
		uint32_t image = vt_profile_place(p->profile, i)->image;

		ok = image == VT_UNMAPPED_IMAGE ||
		     vt_hash_add(&p->seen_images, &image, NULL) != NULL;
	}
	return ok ? 0 : vt_error_nomem(err);
}

bool app_profile_open_freqs(struct app *a, struct app_profile *p, const char *symfs)
{
	*p = (struct app_profile){0};
	vt_hash_init(&p->seen_images, sizeof(uint32_t), sizeof(uint32_t));
	if (!app_profile_open(a, p, symfs))
		return false;
	p->freqs = vt_freqprofile_new();
	if (!p->freqs)
		return app_no_memory(a);
	p->freq_images = vt_freqprofile_images(p->freqs);
	vt_context_add(p->in.context,
		       &(struct vt_consumer){.take = vt_freqprofile_feed, .arg = p->freqs});
	vt_context_add(p->in.context, &(struct vt_consumer){.take = note_analyses, .arg = p});
	return true;
}

void app_profile_tell_doubts(struct app *a, const struct app_profile *p, const char *name)
{
	if (p->assumed)
		app_say(a,
			"%s: the clock is assumed to be 1 GHz: stalls are as wrong as that is "
			"(vfreq --clock sets it)",
			name);
	if (p->untold)
		app_say(a,
			"%s: executions are those of another run, taken to be as long as this one: "
			"if it was not, stalls are wrong",
			name);
}

bool app_profile_read_freqs(struct app *a, struct app_profile *p, const char *path,
			    const char *symfs, bool none)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_profile_open_freqs(a, p, symfs) || !read_profile_stream(a, p, path))
		return false;
	if (!p->freq_images->count && !none)
		return app_lacks(a, p->name, p->estimated ? APP_NO_ESTIMATES : APP_NO_FREQS);
	app_profile_tell_doubts(a, p, p->name);
	vt_freqprofile_finish(p->freqs);
	if (vt_blockcode_finish(p->code, &err) < 0 || note_images(p, &err) < 0 ||
	    (!vt_profile_nplaces(p->profile) &&
	     vt_freqprofile_count_cycles(p->freqs, p->profile, &err) < 0))
		return app_fail(a, &err);
	return true;
}

void app_profile_end(struct app_profile *p)
{
	vt_freqprofile_free(p->freqs);
	vt_hash_fini(&p->seen_images);
	vt_profile_free(p->profile);
	vt_callgather_free(p->chains);
	vt_hotprofile_free(p->lists);
	vt_memory_free(p->locations);
	vt_blockcode_free(p->code);
	app_context_close(&p->in);
}

/* ---- events of single instructions ---- */

#define NO_FOLLOWED                                                                                \
	"no samples of single instructions (vsim --profileme, IBS with --raw-samples, SPE, perf "  \
	"mem record): see profileme(7)"

static int take_cpu(void *cpu, const struct vt_record *rec, struct vt_error *err)
{
	return vt_cpu_feed(cpu, rec, err);
}

bool app_events_open(struct app *a, struct app_events *e, struct vt_context *context, int by)
{
	*e = (struct app_events){.gather = vt_evgather_new(context, (enum vt_evby)by)};
	if (!e->gather)
		return app_no_memory(a);
	vt_evgather_warn(e->gather, app_bad_record, a);
	vt_context_add(context, &(struct vt_consumer){.take = vt_evgather_feed,
						      .arg = e->gather,
						      .kinds = VT_EVGATHER_KINDS});
	vt_context_add(context, &(struct vt_consumer){.record = take_cpu,
						      .arg = &e->cpu,
						      .kinds = VT_KIND(VT_META)});
	return true;
}

/* *known: a model is known. */
static bool choose_core(struct app *a, struct app_events *e, const char *name, bool *known)
{
	struct vt_error err = VT_ERROR_INIT;

	if (strcmp(name, "auto") == 0)
		name = vt_core_for_cpu(e->cpu.model, e->cpu.id, e->cpu.description);
	*known = name != NULL;
	if (!name)
		return true;
	if (vt_core_load(&e->core, name, &err) < 0)
		return app_fail(a, &err);
	/* Without one, it only takes longer. */
	e->core.cache = vt_opcache_new();
	return true;
}

/* Whether any event has sums that were divided. */
static bool is_divided(const struct vt_evstats *s)
{
	size_t i;

	for (i = 0; i < vt_evstats_nevents(s); i++) {
		enum vt_evdivision d = vt_evstats_event_at(s, i)->division;

		if (d == VT_EVDIV_DONE || d == VT_EVDIV_PARTLY)
			return true;
	}
	return false;
}

bool app_events_finish(struct app *a, struct app_events *e, const char *name, const char *model,
		       struct vt_images *images, const struct vt_blockcode *code)
{
	struct vt_evstats *stats = vt_evgather_stats(e->gather);
	struct vt_evstats *groups = vt_evgather_groups(e->gather);
	struct vt_evseen seen = vt_evgather_seen(e->gather);
	struct vt_evcode_source src = {.stats = stats, .images = images, .code = code};
	struct vt_error err = VT_ERROR_INIT;
	bool known;

	if (!seen.samples && !seen.estimates)
		return app_lacks(a, name, NO_FOLLOWED);
	if (!seen.samples && groups)
		return app_lacks(a, name,
				 "no samples: its estimates are by place (vevent --by source, page "
				 "and addr need the samples)");
	if (seen.counted)
		app_say(a,
			"%s: %" PRIu64 " sample%s beside its estimates %s not in them: only their "
			"number is there (vevent makes estimates of each run, before vtrace merge)",
			name, seen.counted, seen.counted == 1 ? "" : "s",
			seen.counted == 1 ? "is" : "are");
	if (!choose_core(a, e, model, &known))
		return false;
	src.core = known ? &e->core : NULL;
	/* What only estimates are of was checked when they were made. */
	if (!seen.samples)
		return true;
	if (vt_evstats_settle(stats, &err) < 0 || (groups && vt_evstats_settle(groups, &err) < 0) ||
	    vt_evcode_run(&src, &err) < 0)
		return app_fail(a, &err);
	e->divisor = known && is_divided(stats) ? e->core.name : NULL;
	return true;
}

void app_events_close(struct app_events *e)
{
	vt_evgather_free(e->gather);
	vt_cpu_fini(&e->cpu);
	vt_opcache_free(e->core.cache);
}

/* What has no samples is listed by those that its estimates rest on. */
static int count_followed(struct app_profile *p, const struct vt_evstats *s, struct vt_error *err)
{
	struct vt_evtotal all;
	struct vt_evkey key;
	size_t i;
	int code = 0;

	for (i = 0; i < vt_evstats_nplaces(s) && code == 0; i++) {
		vt_evcounts_all(vt_evstats_place(s, i, &key), &all);
		if (all.samples >= 1)
			code = vt_profile_count(p->profile, VT_PROFILE_FOLLOWED, key.image,
						key.offset, (uint64_t)all.samples, err);
	}
	return code;
}

bool app_profile_read_events(struct app *a, struct app_profile *p, const char *path,
			     const char *symfs, struct app_events *e)
{
	struct vt_error err = VT_ERROR_INIT;

	*p = (struct app_profile){0};
	if (!app_profile_open(a, p, symfs) ||
	    !app_events_open(a, e, p->in.context, VT_EVBY_PLACE) ||
	    !read_profile_stream(a, p, path))
		return false;
	if (vt_blockcode_finish(p->code, &err) < 0)
		return app_fail(a, &err);
	if (!app_events_finish(a, e, p->name, "auto", p->in.images.store, p->code))
		return false;
	return vt_evgather_seen(e->gather).samples ||
	       count_followed(p, vt_evgather_stats(e->gather), &err) == 0 || app_fail(a, &err);
}
