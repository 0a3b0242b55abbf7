/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/collect.h"

#include <inttypes.h>

bool app_collect_open(struct app_collect *c, struct app *a, const struct vt_hotlist_options *lists,
		      uint32_t what, bool by_caller)
{
	struct vt_collect_options how = {
		.what = what, .by_caller = by_caller, .warn = app_bad_record, .warn_arg = a};
	struct vt_error err = VT_ERROR_INIT;

	*c = (struct app_collect){.app = a};
	c->sites = vt_sites_new(lists, &err);
	if (!c->sites)
		return app_fail(a, &err);
	c->collect = vt_collect_new(c->sites, &how);
	if (!c->collect)
		return app_no_memory(a);
	return true;
}

void app_collect_close(struct app_collect *c)
{
	vt_profile_free(c->profile);
	vt_context_free(c->context);
	vt_collect_free(c->collect);
	vt_sites_free(c->sites);
	*c = (struct app_collect){0};
}

bool app_collect_begin(struct app_collect *c, struct vt_images *images)
{
	vt_profile_free(c->profile);
	vt_context_free(c->context);
	c->context = vt_context_new(images);
	c->profile = c->context ? vt_profile_new(c->context) : NULL;
	if (!c->profile)
		return app_no_memory(c->app);
	vt_collect_begin(c->collect, c->context);
	/* What is executed is counted with its values. */
	vt_context_add(c->context,
		       &(struct vt_consumer){.take = vt_profile_feed,
					     .arg = c->profile,
					     .kinds = ~(VT_KIND(VT_EXEC) | VT_KIND(VT_BLOCK))});
	return true;
}

/* Where time went, as far as the stream itself says so. */
static int keep_samples(struct app_collect *c, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < vt_profile_nplaces(c->profile); i++) {
		const struct vt_place *p = vt_profile_place(c->profile, i);
		const struct vt_profile_event *e = vt_profile_event(c->profile, p->event);
		uint32_t event = vt_sites_event(c->sites, e->name, e->policy, e->unit);
		uint32_t image = p->image == VT_UNMAPPED_IMAGE
					 ? VT_SITES_NO_IMAGE
					 : vt_collect_image(c->collect, p->image, p->pid);
		int code;

		if (event == UINT32_MAX)
			return vt_error_nomem(err);
		code = vt_sites_count(c->sites, image, p->offset, event, p->samples, p->period,
				      err);
		if (code < 0)
			return code;
	}
	return 0;
}

bool app_collect_end(struct app_collect *c)
{
	bool sampled = vt_profile_nplaces(c->profile) > 0;
	struct vt_error err = VT_ERROR_INIT;

	if (keep_samples(c, &err) < 0 || vt_collect_end(c->collect, !sampled, &err) < 0)
		return app_fail(c->app, &err);
	return true;
}

void app_collect_tell(struct app_collect *c)
{
	const struct vt_collect_stats *stats = vt_collect_stats(c->collect);

	if (stats->unmapped)
		app_say_lossy(
			c->app,
			"%" PRIu64
			" executed instructions or single values lie in no image that is known: "
			"listed by address",
			stats->unmapped);
}
