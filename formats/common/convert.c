/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/common/convert.h"

#include <errno.h>
#include <unistd.h>

static void *convert_input(void *conversion)
{
	struct vt_conversion *c = conversion;
	const struct vt_writer_options options = {.compression = VT_COMPRESS_NONE,
						  .stage = c->stage};
	struct vt_writer *w = vt_writer_open_fd(c->pipe[1], c->in->name, &options, &c->err);

	if (w && c->decode(c->in, w, &c->options, &c->summary, &c->err) < 0)
		vt_writer_abandon(w);
	else if (w)
		vt_writer_close(w, c->summary.damaged ? VT_STATUS_LOSSY : VT_STATUS_COMPLETE,
				&c->err);
	close(c->pipe[1]);
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
	if (pipe(c->pipe) < 0) {
		vt_error_errno(err, VT_E_READ, errno, "a pipe");
		return NULL;
	}
	code = pthread_create(&c->thread, NULL, convert_input, c);
	if (code) {
		vt_error_errno(err, VT_E_NOMEM, code, "a thread");
		close(c->pipe[0]);
		close(c->pipe[1]);
		return NULL;
	}
	c->running = true;
	r = vt_reader_open_fd(c->pipe[0], in->name, err);
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
	char rest[4096];

	if (!c->running)
		return;
	/* A write to a pipe that nobody reads would raise SIGPIPE. */
	while (read(c->pipe[0], rest, sizeof(rest)) > 0)
		;
	pthread_join(c->thread, NULL);
	close(c->pipe[0]);
	c->running = false;
}
