/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "listing/events/internal.h"
#include "listing/json.h"

static const char *const populations[] = {
	[VT_EVPOP_UNKNOWN] = "of what, is not known",
	[VT_EVPOP_INSTRUCTIONS] = "of instructions",
	[VT_EVPOP_UOPS] = "of micro-operations",
	[VT_EVPOP_OPERATIONS] = "of operations",
	[VT_EVPOP_CYCLES] = "of what is dispatched at the end of so many cycles: sums are cycles",
	[VT_EVPOP_FETCHES] = "of fetches of code, not of instructions",
};

static const char *const divisions[] = {
	[VT_EVDIV_NONE] = NULL,
	[VT_EVDIV_DONE] = "divided by the micro-operations of each instruction",
	[VT_EVDIV_UNDONE] = "not divided by the micro-operations of each instruction: a model of "
			    "the processor, or code, is missing",
	[VT_EVDIV_PARTLY] = "divided by the micro-operations of each instruction where its code is "
			    "there and the model knows them",
};

/* Whether an event's samples are random: what was found, for people. */
static void put_check(const struct vt_evevent *e, struct vt_buf *b)
{
	const struct vt_evcheck *c = &e->check;

	if (!vt_evcheck_known(c))
		vt_buf_printf(b, "It cannot be checked whether they are random: %s.  No intervals",
			      e->population == VT_EVPOP_CYCLES || e->population == VT_EVPOP_FETCHES
				      ? "they are not chosen from instructions"
			      : e->unlocated ? "too few samples are of code that is there"
					     : "too few instructions of one block have samples");
	else if (vt_evcheck_differs(c))
		vt_buf_printf(b,
			      "NOT a random sample: the samples of instructions that execute "
			      "equally often vary %.3g times as much as chance makes them; all "
			      "intervals are %.3g times as wide",
			      vt_evcheck_factor(c), sqrt(vt_evcheck_factor(c)));
	else
		vt_buf_printf(b,
			      "A random sample: those of instructions that execute equally often "
			      "vary %.3g times as much as chance makes them (%.0f degrees of "
			      "freedom)",
			      c->squares / c->freedom, c->freedom);
}

void vti_event_header(const char *label, const struct vt_evevent *e, const struct vt_evtotal *all,
		      struct vt_output *out)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, label);
	vt_buf_printf(&b, ": %.0f samples %s", all->samples, populations[e->population]);
	if (all->samples > 0)
		vt_buf_printf(&b, ", each for %.6g", all->k / all->samples);
	if (divisions[e->division])
		vt_buf_printf(&b, "; %s", divisions[e->division]);
	if (e->unlocated)
		vt_buf_printf(&b, "; %" PRIu64 " of code that is not there", e->unlocated);
	vt_buf_printf(&b, "\n  ");
	put_check(e, &b);
	vt_output_printf(out, "%s\n", vt_buf_str(&b));
	vt_buf_free(&b);
}

void vti_evrows_header(const struct vti_evrows *r, struct vt_output *out)
{
	const struct vt_losses *l = r->report->losses;
	struct vt_evseen seen = vt_evgather_seen(r->report->gather);
	size_t i;

	for (i = 0; i < r->nevents; i++)
		if (r->sums[i].all.samples > 0)
			vti_event_header(r->labels[i], &r->events[i], &r->sums[i].all, out);
	if (seen.others)
		vt_output_printf(out, "Samples that follow no instruction, left out: %" PRIu64 "\n",
				 seen.others);
	if (seen.seconds)
		vt_output_printf(out, "Later samples of pairs, left out: %" PRIu64 "\n",
				 seen.seconds);
	if (l->lost_places)
		vt_output_printf(out, "Lost while recording: %" PRIu64 " records\n", l->lost);
	if (l->gaps)
		vt_output_printf(out,
				 "Gaps in the input: %" PRIu64 ", with %" PRIu64
				 " bytes and %" PRIu64 " records known to be missing\n",
				 l->gaps, l->gap_bytes, l->gap_records);
	if (l->picked.seen) {
		struct vt_buf b = VT_BUF_INIT;

		vt_picked_text(&l->picked, "records", &b);
		vt_output_printf(out, "Not all of the recording: %s\n", vt_buf_str(&b));
		vt_buf_free(&b);
	}
	vt_output_text(out, "\n");
}

json_t *vti_evrows_json(const struct vti_evrows *r)
{
	static const char *const names[] = {"unknown",	  "instructions", "micro-operations",
					    "operations", "cycles",	  "fetches"};
	static const char *const divided[] = {NULL, "all", "none", "some"};
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < r->nevents; i++) {
		const struct vt_evevent *e = &r->events[i];
		bool known = vt_evcheck_known(&e->check);
		json_t *v = json_object();

		json_object_set_new(v, "name", vt_json_text(r->labels[i], strlen(r->labels[i])));
		json_object_set_new(v, "samples", vt_json_real(r->sums[i].all.samples));
		json_object_set_new(v, "sum", vt_json_real(r->sums[i].all.k));
		json_object_set_new(v, "of", json_string(names[e->population]));
		if (divided[e->division])
			json_object_set_new(v, "divided", json_string(divided[e->division]));
		json_object_set_new(v, "without_code", vt_json_u64(e->unlocated));
		json_object_set_new(v, "checked", json_boolean(known));
		json_object_set_new(v, "chi_square", vt_json_real(e->check.squares));
		json_object_set_new(v, "freedom", vt_json_real(e->check.freedom));
		if (known) {
			json_object_set_new(v, "random",
					    json_boolean(!vt_evcheck_differs(&e->check)));
			json_object_set_new(v, "factor",
					    vt_json_real(vt_evcheck_factor(&e->check)));
		}
		json_array_append_new(list, v);
	}
	return list;
}
