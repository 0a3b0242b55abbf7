/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/run.h"

#include <string.h>

int vt_coproc_run_init(struct vt_coproc_run *r, const struct vt_ucode *u, struct vt_context *c,
		       const struct vt_coproc_options *o, struct vt_error *err)
{
	struct vt_buffer_options b = {
		.bytes = o->sizes.buffer_bytes,
		.clock = o->clock,
		.ipc = o->ipc,
		.max_words = o->max_words,
		.turn = o->turn,
		.host = vt_host_interrupt,
	};

	memset(r, 0, sizeof(*r));
	r->u = u;
	r->o = *o;
	r->coproc = vt_coproc_new(u, o->sizes.cam_bytes, o->sizes.data_bytes, err);
	if (!r->coproc || vt_filters_init(&r->filters, o->sizes.filter_bits, err) < 0)
		return -(int)err->code;
	r->filters.partition_hash = o->partition_hash;
	r->filters.table_hash = o->table_hash;
	r->host = vt_host_new(u, r->coproc, &r->filters, &o->masking);
	if (!r->host)
		return vt_error_nomem(err);
	b.host_arg = r->host;
	r->buffer = vt_buffer_new(r->coproc, u, &b, err);
	if (!r->buffer)
		return -(int)err->code;
	r->feed = vt_feed_new(c, u, &r->filters, r->buffer, o->warn, o->warn_arg);
	if (!r->feed)
		return vt_error_nomem(err);
	if (o->count)
		vt_feed_limit(r->feed, o->count);
	if (o->timed)
		vt_feed_use_cycles(r->feed);
	vt_context_add(c, &(struct vt_consumer){.record = vt_feed_record,
						.arg = r->feed,
						.kinds = VT_FEED_KINDS});
	return 0;
}

void vt_coproc_run_fini(struct vt_coproc_run *r)
{
	vt_feed_free(r->feed);
	vt_buffer_free(r->buffer);
	vt_host_free(r->host);
	vt_filters_fini(&r->filters);
	vt_coproc_free(r->coproc);
	memset(r, 0, sizeof(*r));
}

int vt_coproc_run_finish(struct vt_coproc_run *r, struct vt_error *err)
{
	int code = vt_buffer_drain(r->buffer, err);

	return code < 0 ? code : vt_host_finish(r->host, vt_buffer_stats(r->buffer)->retired, err);
}

double vt_coproc_run_cycles(const struct vt_coproc_run *r)
{
	const struct vt_buffer_stats *s = vt_buffer_stats(r->buffer);

	return s->cycles + (double)(s->retired - s->timed) / r->o.ipc;
}
