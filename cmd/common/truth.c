/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/truth.h"

#include "cmd/common/counts.h"
#include "cmd/common/stream.h"
#include "listing/cycles/estimates.h"

/* The stream with estimates. */
struct estimate {
	struct app_context in;
	struct vt_profile *profile;
	struct vt_freqprofile *freqs;
	uint64_t nfreqs;
	bool assumed; /* the clock */
};

static int note_freqs(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		      struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct estimate *e = arg;

	(void)err;
	if (rec.kind == VT_FREQ)
		e->nfreqs += count;
	for (; rec.kind == VT_META && rec.row - first < count; rec.row++)
		if (vt_record_is_meta(&rec, "vfreq.clock"))
			e->assumed = vt_bytes_are(vt_record_bytes(&rec, VT_META_VALUE), "assumed");
	return 0;
}

static bool read_estimate(struct app *a, struct estimate *e, const struct app_truth *o)
{
	if (!app_context_open(a, &e->in, o->symfs))
		return false;
	e->profile = vt_profile_new(e->in.context);
	e->freqs = vt_freqprofile_new();
	if (!e->profile || !e->freqs)
		return app_no_memory(a);
	vt_context_add(e->in.context,
		       &(struct vt_consumer){.take = vt_profile_feed,
					     .arg = e->profile,
					     .kinds = ~(VT_KIND(VT_EXEC) | VT_KIND(VT_BLOCK))});
	vt_context_add(e->in.context,
		       &(struct vt_consumer){.take = vt_freqprofile_feed, .arg = e->freqs});
	vt_context_add(e->in.context, &(struct vt_consumer){.take = note_freqs, .arg = e});
	if (!app_read_stream(a, o->estimate, vt_context_feed, e->in.context))
		return false;
	vt_freqprofile_finish(e->freqs);
	return e->nfreqs || app_lacks(a, app_input_name(o->estimate), APP_NO_FREQS);
}

static void estimate_end(struct estimate *e)
{
	vt_profile_free(e->profile);
	vt_freqprofile_free(e->freqs);
	app_context_close(&e->in);
}

static bool compare_with_truth(struct app *a, const struct app_truth *o, const struct estimate *e,
			       const struct app_counts *truth)
{
	const struct vt_freqcompare_input in = {
		.estimate = e->freqs,
		.samples = e->profile,
		.images = e->in.images.store,
		.truth = truth->counts,
		.truth_images = truth->in.images.store,
		.fit = e->assumed,
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_freqcompare c;
	struct vt_output *out;

	if (vt_freqcompare(&in, &c, &err) < 0)
		return app_fail(a, &err);
	out = app_text(a, o->form->output);
	if (out)
		vt_freqcompare_print(&c, o->form->json ? &a->losses : NULL, out);
	return out;
}

bool app_truth(struct app *a, const struct app_truth *o)
{
	struct estimate e = {0};
	struct app_counts truth;
	bool ok = app_counts_read(a, &truth, o->truth, o->symfs) && read_estimate(a, &e, o) &&
		  compare_with_truth(a, o, &e, &truth);

	estimate_end(&e);
	app_counts_end(&truth);
	return ok;
}
