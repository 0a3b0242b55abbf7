/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a perf.data, read from a regular file and, when they fit into one, from a pipe. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/perfdata/perfdata.h"

/* What a pipe takes without a reader: PIPE_BUF pages by default, see pipe(7). */
#define PIPE_ROOM 60000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(int fd)
{
	struct vt_writer_options wopt = {.compression = VT_COMPRESS_NONE};
	struct vt_format_options opt = {.warn = NULL};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_format_summary sum;
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *f = tmpfile();
	int ends[2];

	if (!f || (size && fwrite(data, size, 1, f) != 1) || fflush(f) ||
	    lseek(fileno(f), 0, SEEK_SET) < 0)
		abort();
	decode(fileno(f));
	fclose(f);
	if (size > PIPE_ROOM)
		return 0;
	if (pipe(ends) < 0 || write(ends[1], data, size) != (ssize_t)size)
		abort();
	close(ends[1]);
	decode(ends[0]);
	close(ends[0]);
	return 0;
}
