/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/interpret.h"

#include <stdlib.h>

#include "analysis/interpret_internal.h"

struct vt_interpret *vt_interpret_new(const struct vt_interpret_options *opt,
				      struct vt_images *images, vt_run_fn *fn, void *arg,
				      struct vt_error *err)
{
	struct vt_interpret *in = calloc(1, sizeof(*in));

	if (!in || !vti_spaces_init(&in->spaces, images)) {
		vt_error_set(err, VT_E_NOMEM, "out of memory");
		vt_interpret_free(in);
		return NULL;
	}
	in->o = *opt;
	in->fn = fn;
	in->arg = arg;
	if (in->o.path)
		in->paths = vti_paths_new(in, err);
	else
		in->samples = vti_samples_new(in, err);
	if (in->samples || in->paths)
		return in;
	vt_interpret_free(in);
	return NULL;
}

void vt_interpret_free(struct vt_interpret *in)
{
	if (!in)
		return;
	vti_samples_free(in->samples);
	vti_paths_free(in->paths);
	vti_spaces_fini(&in->spaces);
	free(in);
}

int vt_interpret_feed(struct vt_interpret *in, const struct vt_record *rec, struct vt_error *err)
{
	int code = vti_spaces_feed(&in->spaces, rec, err);

	if (code < 0)
		return code;
	return in->paths ? vti_paths_feed(in->paths, rec, err)
			 : vti_samples_feed(in->samples, rec, err);
}

void vt_interpret_end(struct vt_interpret *in)
{
	if (in->paths)
		vti_paths_end(in->paths);
	else
		in->totals.unlifted = vti_samples_unlifted(in->samples);
}

const struct vt_interpret_totals *vt_interpret_totals(const struct vt_interpret *in)
{
	return &in->totals;
}

size_t vt_interpret_code(struct vt_interpret *in, int64_t pid, uint64_t ip, uint8_t *bytes,
			 size_t size)
{
	return vti_spaces_code(&in->spaces, pid, ip, bytes, size);
}

int vti_interpret_tell(struct vt_interpret *in, const struct vt_run *run, struct vt_error *err)
{
	struct vt_interpret_totals *t = &in->totals;
	uint64_t all[VT_NWHATS] = {0}, known[VT_NWHATS] = {0};
	size_t i;

	for (i = 0; i < run->ncaptures; i++) {
		all[run->captures[i].what]++;
		known[run->captures[i].what] += run->captures[i].known;
	}
	/* The captures of whole instructions are no values. */
	for (i = VT_WHAT_UNKNOWN + 1; i < VT_NWHATS; i++) {
		t->values_of[i] += all[i];
		t->known_of[i] += known[i];
		t->values += all[i];
		t->values_known += known[i];
	}
	t->runs++;
	t->insns += run->insns;
	t->results += all[VT_WHAT_RESULT];
	t->results_known += known[VT_WHAT_RESULT];
	t->stops[run->stop]++;
	return in->fn ? in->fn(in->arg, run, err) : 0;
}
