/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a perf.data, read from a regular file and, when they fit into one, from a pipe. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/perfdata/perfdata.h"

/* What a pipe takes without a reader: PIPE_BUF pages by default, see pipe(7). */
#define PIPE_ROOM 60000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct vt_format_summary decode(int fd, bool drop_stacks)
{
	struct vt_writer_options wopt = {.compression = VT_COMPRESS_NONE};
	struct vt_format_options opt = {.drop_stacks = drop_stacks};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_format_summary sum = {0};
	struct vt_writer *w;
	struct vt_input in;
	int out = open("/dev/null", O_WRONLY);

	if (out < 0 || vt_input_open_fd(&in, fd, "fuzz", &err) < 0)
		abort();
	w = vt_writer_open_fd(out, "null", &wopt, &err);
	if (!w)
		abort();
	vt_perfdata_decode(&in, w, &opt, &sum, &err);
	vt_input_close(&in);
	if (vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0)
		abort();
	close(out);
	return sum;
}

/* Without stacks, which are then not even read, it is the same but for them. */
static void decode_file(FILE *f)
{
	struct vt_format_summary with, without;

	if (lseek(fileno(f), 0, SEEK_SET) < 0)
		abort();
	with = decode(fileno(f), false);
	if (lseek(fileno(f), 0, SEEK_SET) < 0)
		abort();
	without = decode(fileno(f), true);
	if (with.records != without.records || with.samples != without.samples ||
	    with.damaged != without.damaged || with.unread != without.unread ||
	    with.lost != without.lost || with.unknown != without.unknown) {
		fprintf(stderr, "fuzz_perfdata: without stacks, other records\n");
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *f = tmpfile();
	int ends[2];

	if (!f || (size && fwrite(data, size, 1, f) != 1) || fflush(f))
		abort();
	decode_file(f);
	fclose(f);
	if (size > PIPE_ROOM)
		return 0;
	if (pipe(ends) < 0 || write(ends[1], data, size) != (ssize_t)size)
		abort();
	close(ends[1]);
	decode(ends[0], false);
	close(ends[0]);
	return 0;
}
