/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/pack.h"

#include <inttypes.h>

#include "cmd/common/find.h"
#include "cmd/common/images.h"
#include "cmd/common/stream.h"
#include "formats/common/tempfile.h"
#include "pack/pack.h"

struct packing {
	struct app *app;
	const struct app_pack *o;
	struct vt_reader *reader;
	struct app_context in;
	struct vt_spool spool;
	struct vt_pack *pack;
};

/* ---- the first pass: what is needed ---- */

static int spool_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct packing *p = arg;

	vt_writer_copy(p->spool.w, rec);
	return vt_writer_error(p->spool.w, err);
}

static bool gather_needs(struct packing *p)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_consumer spool = {.record = spool_record, .arg = p};

	if (vt_spool_open(&p->spool, app_tmpdir(), p->reader, &err) < 0)
		return app_fail(p->app, &err);
	if (!app_context_open(p->app, &p->in, p->o->symfs))
		return false;
	p->pack = vt_pack_new(p->in.context);
	if (!p->pack)
		return app_no_memory(p->app);
	vt_context_add(p->in.context, &spool);
	if (!app_each_run(p->app, p->reader, vt_context_feed, p->in.context))
		return false;
	return vt_pack_finish(p->pack, &err) == 0 || app_fail(p->app, &err);
}

/* ---- the second pass ---- */

static int write_packed_run(struct packing *p, struct vt_writer *w, const struct vt_block *b,
			    uint32_t first, uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};
	int code = 0;

	for (; rec.row - first < count && code == 0; rec.row++) {
		vt_writer_copy(w, &rec);
		if (rec.kind == VT_IMAGE)
			code = vt_pack_write(p->pack, (uint32_t)vt_record_u64(&rec, VT_IMAGE_ID), w,
					     err);
	}
	return code ? code : vt_writer_error(w, err);
}

static void write_packed(struct packing *p, struct vt_writer *w)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_block *b;
	uint32_t first, count;
	int code = vt_spool_rewind(&p->spool, &err);

	if (code == 0)
		code = 1;
	while (code > 0) {
		code = vt_reader_next_run(p->spool.r, &b, &first, &count, &err);
		if (code > 0 && write_packed_run(p, w, b, first, count, &err) < 0)
			code = -1;
	}
	if (code < 0)
		app_fail(p->app, &err);
}

/* Code that is not decoded yet is not seen. */
static void tell_undecoded(const struct packing *p)
{
	if (app_saw(p->app, VT_AUXTRACE))
		app_say(p->app,
			"%s: its processor trace is not decoded, and nothing is packed for it: "
			"vtrace decode first",
			vt_reader_name(p->reader));
}

static void tell_packed(const struct packing *p)
{
	const struct vt_pack_totals *t = vt_pack_totals(p->pack);

	if (!t->images && app_saw(p->app, VT_FILE)) {
		app_say(p->app, "%s: is packed already", vt_reader_name(p->reader));
		return;
	}
	app_say(p->app, "%s: packed %" PRIu64 " image%s: %" PRIu64 " procedures, %" PRIu64 " kB",
		vt_reader_name(p->reader), t->images, t->images == 1 ? "" : "s", t->procedures,
		(t->bytes + 512) / 1024);
	if (t->missing)
		app_say(p->app, "%" PRIu64 " image%s not packed: neither file nor symbols found",
			t->missing, t->missing == 1 ? "" : "s");
	if (t->redeclared)
		app_say(p->app, "%" PRIu64 " image%s not packed: an id stands for several files",
			t->redeclared, t->redeclared == 1 ? "" : "s");
}

static void write_output(struct packing *p)
{
	struct vt_writer *w = app_open_writer(p->app, p->o->output, p->o->compress, &p->reader, 1);

	if (!w)
		return;
	if (p->o->facts)
		p->o->facts(p->o->facts_arg, w);
	write_packed(p, w);
	if (!app_close_writer(p->app, w))
		return;
	tell_packed(p);
	tell_undecoded(p);
}

void app_pack(struct app *a, const struct app_pack *o, const char *path)
{
	struct packing p = {.app = a, .o = o, .spool = {.fd = -1}};

	app_make_stream(a, o->output);
	p.reader = app_open_reader(a, path);
	if (p.reader && gather_needs(&p))
		write_output(&p);
	vt_pack_free(p.pack);
	if (p.in.images.store)
		app_context_close(&p.in);
	vt_spool_close(&p.spool);
	app_close_reader(a, p.reader);
}
