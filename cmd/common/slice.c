/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/slice.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "memory/records.h"
#include "stream/kinds.h"

/* The options, and what a sample has to have for them. */
static const struct {
	const char *option;
	const char *field;
} words[VT_NSLICES] = {
	[VT_SLICE_PID] = {"--pid", "process"},	[VT_SLICE_TID] = {"--tid", "thread"},
	[VT_SLICE_CPU] = {"--cpu", "CPU"},	[VT_SLICE_TIME] = {"--time", "time"},
	[VT_SLICE_COMM] = {"--comm", "thread"}, [VT_SLICE_IMAGE] = {"--image", ""},
	[VT_SLICE_SYMBOL] = {"--symbol", ""},
};

static bool add_filters(struct app_slice *s, int by)
{
	const struct vt_opt_list *list = &s->lists[by];
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	for (i = 0; i < list->count; i++) {
		int code = vt_slice_add(s->slice, (enum vt_slice_by)by, list->items[i], &err);

		if (code == -VT_E_USAGE)
			return app_usage(s->app, "%s: %s", words[by].option, err.text);
		if (code < 0)
			return app_fail(s->app, &err);
	}
	return true;
}

bool app_slice_start(struct app *a, struct app_slice *s, const char *symfs)
{
	size_t given = 0;
	int by;

	s->app = a;
	s->symfs = symfs;
	for (by = 0; by < VT_NSLICES; by++)
		given += s->lists[by].count;
	if (!given)
		return true;
	s->slice = vt_slice_new();
	if (!s->slice)
		return app_no_memory(a);
	for (by = 0; by < VT_NSLICES; by++)
		if (!add_filters(s, by))
			return false;
	a->slice = s;
	return true;
}

static void close_images(struct app_slice *s)
{
	app_context_close(&s->in);
	s->in = (struct app_context){.images.quiet = !s->alone};
}

void app_slice_end(struct app_slice *s)
{
	int by;

	close_images(s);
	vt_slice_free(s->slice);
	for (by = 0; by < VT_NSLICES; by++)
		vt_opt_list_fini(&s->lists[by]);
}

bool app_slice_begin(struct app_slice *s)
{
	struct vt_error err = VT_ERROR_INIT;

	close_images(s);
	if (vt_slice_restart(s->slice, &err) < 0)
		return app_fail(s->app, &err);
	if (!vt_slice_has(s->slice, VT_SLICE_IMAGE) && !vt_slice_has(s->slice, VT_SLICE_SYMBOL))
		return true;
	if (!app_context_open(s->app, &s->in, s->symfs))
		return false;
	vt_slice_set_context(s->slice, s->in.context);
	return true;
}

int app_slice_feed(struct app_slice *s, const struct vt_block *block, uint32_t first,
		   uint32_t count, vt_consume_fn *take, void *arg, struct vt_error *err)
{
	if (s->in.context && vt_context_feed(s->in.context, block, first, count, err) < 0)
		return -(int)err->code;
	return vt_slice_feed(s->slice, block, first, count, take, arg, err);
}

/* What makes estimates of some samples; paths and memory profiles of such cannot be had. */
static void tell_estimates(const struct vt_slice_counts *c, struct vt_buf *b)
{
	static const struct {
		uint32_t kind;
		const char *program;
	} others[] = {{VT_EVSTAT, "vevent --where"}, {VT_PAIRSTAT, "vpair --where"}};
	const char *programs[3];
	uint64_t kinds = c->estimate_kinds & ~(VT_KIND(VT_PATH) | VT_MEMRECORDS);
	unsigned i, n = 0;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (kinds & VT_KIND(others[i].kind))
			programs[n++] = others[i].program;
		kinds &= ~VT_KIND(others[i].kind);
	}
	if (kinds)
		programs[n++] = "vfreq";
	vt_buf_printf(b, "; %" PRIu64 " estimates from all of them are left out", c->estimates);
	for (i = 0; i < n; i++)
		vt_buf_printf(b, "%s%s", !i ? ": " : i + 1 < n ? ", " : " and ", programs[i]);
	if (n)
		vt_buf_printf(b, " make%s them of a slice", n == 1 ? "s" : "");
}

static void tell_counts(const struct app_slice *s, const char *name,
			const struct vt_slice_counts *c)
{
	struct vt_buf b = VT_BUF_INIT;
	int by;

	vt_buf_printf(&b, "%s: %" PRIu64 " of %" PRIu64 " samples are in the slice", name, c->taken,
		      c->seen);
	for (by = 0; by < VT_NSLICES; by++)
		if (c->without[by])
			vt_buf_printf(&b, "; %" PRIu64 " do not tell their %s", c->without[by],
				      words[by].field);
	if (c->estimates)
		tell_estimates(c, &b);
	if (c->chains)
		vt_buf_printf(&b, "; call trees of all of them are left out");
	app_say(s->app, "%s", vt_buf_str(&b));
	vt_buf_free(&b);
}

const char *app_slice_tell(struct app_slice *s, const char *name)
{
	const struct vt_slice_counts *c = vt_slice_counted(s->slice);
	int by;

	for (by = 0; by < VT_NSLICES && !c->without[by];)
		by++;
	/* That there is none at all is said at the end. */
	if ((c->taken && c->taken != c->seen) || by < VT_NSLICES || c->estimates || c->chains)
		tell_counts(s, name, c);
	if (c->taken)
		return NULL;
	if (c->seen)
		return "no samples in the slice";
	if (s->app->kinds >> VT_EXEC & 1)
		return "no samples to pick: executed code is not sliced (vsample takes samples of "
		       "it)";
	return NULL;
}
