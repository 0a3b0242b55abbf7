/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "interpret/interpret.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interpret/internal.h"

struct vt_interpret *vt_interpret_new(const struct vt_interpret_options *opt,
				      struct vt_context *context, vt_run_fn *fn, void *arg,
				      struct vt_error *err)
{
	struct vt_interpret *in = calloc(1, sizeof(*in));

	if (!in || !vti_spaces_init(&in->spaces, context, opt->trust)) {
		vt_error_nomem(err);
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

int vt_interpret_feed(void *interpret, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_interpret *in = interpret;
	int code = vti_spaces_feed(&in->spaces, rec, err);

	if (code == 0)
		code = vt_context_refused(in->spaces.context, err);
	if (code < 0)
		return code;
	return in->paths ? vti_paths_feed(in->paths, rec, err)
			 : vti_samples_feed(in->samples, rec, err);
}

void vt_interpret_end(struct vt_interpret *in)
{
	const struct vt_images *images = in->spaces.images;
	size_t i;

	for (i = 0; i < vt_images_count(images); i++)
		in->totals.missing += vt_images_missing(images, i) != VT_KNOWN;
	if (in->paths)
		vti_paths_end(in->paths);
	else
		in->totals.unlifted = vti_samples_unlifted(in->samples);
	memcpy(in->totals.constants_withheld, in->spaces.constants_withheld,
	       sizeof(in->totals.constants_withheld));
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

/* What an instruction leaves behind. */
static bool is_left(unsigned what)
{
	return what == VT_WHAT_RESULT || what == VT_WHAT_STORE;
}

/* Counts one value and says where the next begins. */
static size_t count_value(struct vt_interpret_totals *t, const struct vt_run *run, size_t i,
			  bool *known)
{
	const struct vt_capture *c = &run->captures[i];

	for (*known = c->known; ++i < run->ncaptures && run->captures[i].lane;)
		*known &= run->captures[i].known;
	if (c->what != VT_WHAT_UNKNOWN) {
		t->values[c->what]++;
		t->known[c->what] += *known;
	}
	return i;
}

static void count_values(struct vt_interpret_totals *t, const struct vt_run *run)
{
	size_t i, next;

	for (i = 0; i < run->ncaptures;) {
		uint32_t insn = run->captures[i].insn;
		bool leaves = false, all = true, known;

		for (; i < run->ncaptures && run->captures[i].insn == insn; i = next) {
			bool left = is_left(run->captures[i].what);

			next = count_value(t, run, i, &known);
			leaves |= left;
			all &= known || !left;
		}
		t->leaving += leaves;
		t->leaving_known += leaves && all;
	}
}

int vti_interpret_deliver(struct vt_interpret *in, const struct vt_run *run, struct vt_error *err)
{
	struct vt_interpret_totals *t = &in->totals;

	t->runs++;
	t->insns += run->insns;
	t->stops[run->stop]++;
	count_values(t, run);
	return in->fn ? in->fn(in->arg, run, err) : 0;
}

#define MXCSR_DEFAULT 0x1f80 /* at the start of a program: System V ABI for AMD64, 3.4.1 */
#define MXCSR_BITS    0xffff /* the others are reserved: Intel SDM volume 1, 10.2.3 */

int vt_interpret_set_mxcsr(struct vt_interpret_options *o, const char *text, struct vt_error *err)
{
	unsigned long value = MXCSR_DEFAULT;
	char *end;

	if (strcmp(text, "default") != 0) {
		errno = 0;
		value = strtoul(text, &end, 16);
		if (!isxdigit((unsigned char)*text) || *end || errno || value > MXCSR_BITS)
			return vt_error_set(err, VT_E_USAGE,
					    "'%s' is neither 'default' nor 0 to ffff", text);
	}
	o->has_mxcsr = true;
	o->mxcsr = (uint32_t)value;
	return 0;
}
