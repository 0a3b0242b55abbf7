/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/profile/json.h"

#include <string.h>

#include "listing/json.h"

static json_t *make_event(const struct vt_profile *p, size_t event, const char *label,
			  const struct vt_ranking *ranking)
{
	const struct vt_profile_event *e = vt_profile_event(p, event);
	json_t *v = json_object();

	json_object_set_new(v, "name", vt_json_text(label, strlen(label)));
	json_object_set_new(v, "policy", json_string(vt_policy_name(e->policy)));
	json_object_set_new(v, "samples", vt_json_u64(e->samples));
	json_object_set_new(v, "period", vt_json_u64(e->period));
	json_object_set_new(v, "unit", vt_json_text(e->unit, strlen(e->unit)));
	if (ranking) {
		struct vt_tally t = vt_ranking_unknown(ranking, event);

		json_object_set_new(v, "unknown", vt_json_u64(t.samples));
		json_object_set_new(v, "unknown_period", vt_json_u64(t.period));
		t = vt_ranking_unverified(ranking, event);
		json_object_set_new(v, "unverified", vt_json_u64(t.samples));
	}
	return v;
}

void vt_json_profile(json_t *object, const struct vt_profile *p,
		     const struct vt_event_choice *events, const struct vt_ranking *ranking)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < events->count; i++)
		json_array_append_new(list,
				      make_event(p, events->index[i], events->label[i], ranking));
	json_object_set_new(object, "events", list);
	vt_json_losses(object, vt_context_losses(vt_profile_context(p)));
}
