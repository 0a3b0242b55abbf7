/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/profiles.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/common/hots.h"
#include "cmd/common/stream.h"
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
		      name, bad, bad == 1 ? "" : "s", bad == 1 ? "s itself" : " themselves");
}

void app_tell_chains(struct app *a, const char *name, const struct vt_calldamage *damage)
{
	if (damage->refused)
		app_say_lossy(a,
			      "%s: %" PRIu64 " CHAIN records contradict themselves, left out; "
			      "the first: %s",
			      name, damage->refused, damage->first.text);
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
	struct vt_error err = VT_ERROR_INIT;

	*p = (struct app_profile){0};
	if (!app_profile_open(a, p, symfs))
		return false;
	p->lists = vt_hotprofile_new(0);
	if (!p->lists)
		return app_no_memory(a);
	vt_context_add(p->in.context,
		       &(struct vt_consumer){.take = vt_hotprofile_feed, .arg = p->lists});
	if (!read_profile_stream(a, p, path))
		return false;
	if (vt_hotprofile_end(p->lists, &err) < 0 || vt_blockcode_finish(p->code, &err) < 0)
		return app_fail(a, &err);
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
	vt_blockcode_free(p->code);
	app_context_close(&p->in);
}
