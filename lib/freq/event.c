/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/event.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* ---- which event measures time ---- */

static const char *const time_events[] = {
	"cycles", "cpu-cycles", "cpu/cycles", "cpu_core/cycles", "cpu-clock", "task-clock",
};

/* "cycles" is cycles, cycles:u, cycles:upp, cpu/cycles/. */
static bool has_name(const struct vt_profile_event *e, const char *name)
{
	size_t n = strlen(name);

	return e->name && strncmp(e->name, name, n) == 0 &&
	       (!e->name[n] || e->name[n] == ':' || e->name[n] == '/' || e->name[n] == ',');
}

static bool find_named_event(const struct vt_profile *p, const char *name, size_t *event)
{
	size_t i;

	for (i = 0; i < vt_profile_nevents(p); i++)
		if (has_name(vt_profile_event(p, i), name)) {
			*event = i;
			return true;
		}
	return false;
}

static bool is_clock(const struct vt_profile_event *e)
{
	return e->unit && strcmp(e->unit, "ns") == 0;
}

static int reject_event(const struct vt_profile *p, const char *name, struct vt_error *err)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	for (i = 0; i < vt_profile_nevents(p); i++)
		if (vt_profile_event(p, i)->samples)
			vt_buf_printf(&b, "%s%.60s", b.size ? ", " : "",
				      vt_profile_event(p, i)->name);
	if (name)
		vt_error_set(err, VT_E_NOTFOUND, "no event %s; samples there are of: %s", name,
			     b.size ? vt_buf_str(&b) : "nothing");
	else
		vt_error_set(err, VT_E_ABSENT,
			     "no samples of cycles%s%.200s (vtrace decode makes them of perf.data, "
			     "vsim of a recording)",
			     b.size ? " or other time, but of " : "", vt_buf_str(&b));
	vt_buf_free(&b);
	return -(int)err->code;
}

int vt_freqrun_event(const struct vt_profile *p, const char *name, size_t *event,
		     struct vt_error *err)
{
	size_t i;

	if (name)
		return find_named_event(p, name, event) ? 0 : reject_event(p, name, err);
	for (i = 0; i < sizeof(time_events) / sizeof(time_events[0]); i++)
		if (find_named_event(p, time_events[i], event) &&
		    vt_profile_event(p, *event)->samples)
			return 0;
	for (i = 0; i < vt_profile_nevents(p); i++) {
		const struct vt_profile_event *e = vt_profile_event(p, i);

		if (e->samples && (is_clock(e) || strcmp(e->unit, "cycles") == 0)) {
			*event = i;
			return 0;
		}
	}
	return reject_event(p, NULL, err);
}

static double described_clock(const char *text)
{
	const char *at = text ? strrchr(text, '@') : NULL;
	double ghz = at ? strtod(at + 1, NULL) : 0;

	return at && strstr(at, "GHz") && ghz > 0 && ghz < 100 ? ghz : 0;
}

const char *vt_freqrun_scale(const struct vt_profile_event *e, double given, double calibrated,
			     const char *description, double *scale)
{
	*scale = 1;
	if (!is_clock(e))
		return NULL;
	if (given > 0) {
		*scale = given;
		return "given";
	}
	if (calibrated > 0) {
		*scale = calibrated;
		return "calibrated";
	}
	if (!(described_clock(description) > 0))
		return "assumed";
	*scale = described_clock(description);
	return "described";
}

/* ---- which event branch stacks are sampled by ---- */

/* By their codes: perf may not know the names for the processor at hand. */
static const struct vt_stack_event near_taken = {"br_inst_retired.near_taken", "r20c4", "upp",
						 200003};
static const struct vt_stack_event ret_brn_tkn = {"ex_ret_brn_tkn", "rc4", "u", 200003};
static const struct vt_stack_event precise = {"instructions", "instructions", "upp", 1000003};
static const struct vt_stack_event instructions = {"instructions", "instructions", "u", 1000003};

const struct vt_stack_event *vt_stack_event_of(const struct vt_stack_offer *o)
{
	if (o->near_taken)
		return &near_taken;
	if (o->ret_brn_tkn)
		return &ret_brn_tkn;
	if (o->instructions)
		return o->precise ? &precise : &instructions;
	return NULL;
}
