/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/common/convert.h"

static void *convert_input(void *conversion)
{
	struct vt_conversion *c = conversion;
	const struct vt_writer_options options = {.stage = c->stage};
	struct vt_writer *w = vt_writer_open_channel(c->channel, c->in->name, &options, &c->err);

	if (w && c->decode(c->in, w, &c->options, &c->summary, &c->err) < 0)
		vt_writer_abandon(w);
	else if (w)
		vt_writer_close(w, c->summary.damaged ? VT_STATUS_LOSSY : VT_STATUS_COMPLETE,
				&c->err);
	return NULL;
}

struct vt_reader *vt_conversion_start(struct vt_conversion *c, struct vt_input *in,
				      vt_decode_fn *decode, const struct vt_format_options *options,
				      const struct vt_stage *stage, struct vt_error *err)
{
	struct vt_reader *r;
	int code;

	*c = (struct vt_conversion){
		.in = in, .decode = decode, .options = *options, .stage = stage};
	c->channel = vt_channel_new();
	if (!c->channel) {
		vt_error_nomem(err);
		return NULL;
	}
	code = pthread_create(&c->thread, NULL, convert_input, c);
	if (code) {
		vt_error_errno(err, VT_E_NOMEM, code, "a thread");
		vt_channel_free(c->channel);
		c->channel = NULL;
		return NULL;
	}
	r = vt_reader_open_channel(c->channel, in->name, err);
	if (r)
		return r;
	vt_conversion_end(c);
	/* The cause is what the thread met, if it met anything. */
	if (c->err.code)
		*err = c->err;
	return NULL;
}

void vt_conversion_end(struct vt_conversion *c)
{
	if (!c->channel)
		return;
	vt_channel_stop(c->channel);
	pthread_join(c->thread, NULL);
	vt_channel_free(c->channel);
	c->channel = NULL;
}
