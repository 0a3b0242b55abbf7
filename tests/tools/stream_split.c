/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deals the samples of a stream out to two: every third to the second.  What else there is goes to
 * both, but what is lost only to the first: so the two together say what the one did.
 *
 *	stream_split IN OUT OUT
 */
#include <stdio.h>

#include "stream/reader.h"
#include "stream/writer.h"

static int deal(struct vt_reader *r, struct vt_writer *w[2], struct vt_error *err)
{
	struct vt_record rec;
	unsigned samples = 0;
	int code;

	while ((code = vt_reader_next(r, &rec, err)) > 0) {
		unsigned to = rec.kind == VT_SAMPLE && samples++ % 3 == 2;

		vt_writer_copy(w[to], &rec);
		if (rec.kind != VT_SAMPLE && rec.kind != VT_LOST && rec.kind != VT_GAP)
			vt_writer_copy(w[1], &rec);
	}
	return code;
}

static int run(char **argv, struct vt_error *err)
{
	struct vt_reader *r = vt_reader_open(argv[1], err);
	const struct vt_reader *const inputs[] = {r};
	struct vt_writer_options opt = {VT_COMPRESS_NONE, .inputs = inputs, .ninputs = 1};
	struct vt_writer *w[2] = {NULL, NULL};
	int code, i;

	if (!r)
		return -1;
	for (i = 0; i < 2; i++) {
		w[i] = vt_writer_open(argv[2 + i], &opt, err);
		if (!w[i])
			return -1;
	}
	code = deal(r, w, err);
	for (i = 0; i < 2; i++)
		if (vt_writer_close(w[i], VT_STATUS_COMPLETE, err) < 0)
			code = -1;
	vt_reader_close(r);
	return code;
}

int main(int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;

	if (argc != 4) {
		fprintf(stderr, "usage: stream_split IN OUT OUT\n");
		return 2;
	}
	if (run(argv, &err) == 0)
		return 0;
	fprintf(stderr, "stream_split: %s\n", err.text);
	return 1;
}
