/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfdata_mutate FILE N [pt]: decodes FILE cut at every byte, and through a pipe at every fifth,
 * then N mutations of it, half of them through a pipe.  Fails when a decoding takes too long, when
 * more memory than allowed was ever in use, when a shorter cut yields more samples than a longer
 * one, when damage goes unsaid, or when what was written does not read back.  Crashes are left to
 * the sanitizers and the shell.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/auxtrace.h"
#include "formats/pt/options.h"
#include "stream/reader.h"
#include "tests/tools/common/mutate.h"

#define SECONDS_EACH 60
#define PIPE_ROOM    60000

struct state {
	FILE *in;
	FILE *out;
	size_t size;
	uint8_t *data;
	uint64_t warnings;
	bool pt; /* there is Intel PT: its gaps are no warnings, its images may be missing */
};

static void die(const char *what, size_t where)
{
	fprintf(stderr, "perfdata_mutate: %s (case %zu)\n", what, where);
	exit(1);
}

static void count_warning(void *arg, const char *text)
{
	struct state *s = arg;

	/* Each names file and offset. */
	if (!s->pt && (!strstr(text, "test: ") || !strstr(text, " at 0x")))
		die(text, 0);
	s->warnings++;
}

static int fill_pipe(const uint8_t *data, size_t size)
{
	int ends[2];

	if (pipe(ends) < 0 || write(ends[1], data, size) != (ssize_t)size)
		die("pipe", 0);
	close(ends[1]);
	return ends[0];
}

static void read_back(struct state *s, uint64_t samples, size_t where)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct vt_reader *r;
	int code;

	rewind(s->out);
	r = vt_reader_open_fd(fileno(s->out), "written", &err);
	if (!r)
		die(err.text, where);
	while ((code = vt_reader_next(r, &rec, &err)) == 1)
		samples -= rec.kind == VT_SAMPLE;
	if (code < 0)
		die(err.text, where);
	if (samples)
		die("not all samples can be read back", where);
	vt_reader_close(r);
}

/* Decodes `size` bytes; returns the negative error or 0, and what there was in *sum. */
static int decode(struct state *s, const uint8_t *data, size_t size, bool piped, size_t where,
		  struct vt_format_summary *sum)
{
	struct vt_writer_options wopt = {.compression = VT_COMPRESS_NONE};
	/* Made-up files have no real trace: where one is kept as it is, all warnings are the
	 * reader's. */
	static const struct vt_pt_decode_options kept = {.engine = "none"};
	struct vt_format_options opt = {
		.warn = count_warning, .warn_arg = s, .pt = s->pt ? NULL : &kept};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w;
	struct vt_input in;
	int code, fd;

	alarm(SECONDS_EACH);
	rewind(s->in);
	if (ftruncate(fileno(s->in), 0) || ftruncate(fileno(s->out), 0))
		die(strerror(errno), where);
	if (size && (fwrite(data, size, 1, s->in) != 1 || fflush(s->in)))
		die(strerror(errno), where);
	rewind(s->in);
	rewind(s->out);
	fd = piped ? fill_pipe(data, size) : fileno(s->in);
	if (lseek(fileno(s->out), 0, SEEK_SET) < 0 || (!piped && lseek(fd, 0, SEEK_SET) < 0) ||
	    vt_input_open_fd(&in, fd, "test", &err) < 0)
		die("cannot set up", where);
	w = vt_writer_open_fd(fileno(s->out), "out", &wopt, &err);
	if (!w)
		die(err.text, where);
	s->warnings = 0;
	code = vt_auxtrace_decode(&in, w, &opt, sum, &err);
	if (code < 0 && !strstr(err.text, "test: "))
		die(err.text, where);
	if (code == 0 && sum->damaged && !s->warnings && !s->pt)
		die("damage without a warning", where);
	vt_input_close(&in);
	if (piped)
		close(fd);
	if (vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0)
		die(err.text, where);
	if (where % 16 == 0)
		read_back(s, sum->samples, where);
	return code;
}

static void cut_each(struct state *s, size_t step, bool piped)
{
	struct vt_format_summary sum;
	/* The size of the header, in either byte order, is that of a file's. */
	bool is_file = s->data[8] == 104 || s->data[15] == 104;
	uint64_t last = 0;
	size_t n;
	int code;

	for (n = 0; n < s->size; n += step) {
		code = decode(s, s->data, n, piped, n, &sum);
		if (n < 16 && code != -VT_E_FORMAT)
			die("a cut header is not refused", n);
		/* A pipe that ends between two records may be all there ever was; a file not. */
		if (code == 0 && is_file && !sum.damaged)
			die("a cut goes unsaid", n);
		if (sum.samples < last)
			die("a longer file yields fewer samples", n);
		last = sum.samples;
	}
	if (decode(s, s->data, s->size, piped, 0, &sum) < 0 || (sum.damaged && !s->pt) ||
	    !sum.records)
		die("the whole file is not read", s->size);
	if (sum.samples < last)
		die("the whole file yields fewer samples than a part", s->size);
}

static void mutate_often(struct state *s, uint64_t count)
{
	const struct mutate_input whole = {s->data, s->size};
	uint8_t *copy = malloc(PIPE_ROOM);
	struct vt_format_summary sum;
	uint64_t i;

	if (!copy)
		die("out of memory", 0);
	for (i = 0; i < count; i++)
		decode(s, copy, mutate_inputs(&whole, 1, 20, i, copy, PIPE_ROOM), i % 2, (size_t)i,
		       &sum);
	free(copy);
}

static void read_whole(struct state *s, const char *path)
{
	FILE *f = fopen(path, "rb");

	s->data = malloc(PIPE_ROOM);
	if (!f || !s->data)
		die(path, 0);
	s->size = fread(s->data, 1, PIPE_ROOM, f);
	if (!s->size || s->size == PIPE_ROOM)
		die("the file is empty or too large", s->size);
	fclose(f);
}

int main(int argc, char **argv)
{
	const char *limit = getenv("VT_MUTATE_MAX_MB");
	struct state s = {.in = tmpfile(), .out = tmpfile()};
	struct rusage usage;

	if (argc < 3 || argc > 4 || !s.in || !s.out)
		die("usage: perfdata_mutate FILE N [pt]", 0);
	s.pt = argc == 4;
	read_whole(&s, argv[1]);
	cut_each(&s, 1, false);
	/* Records begin at multiples of 8: an odd step meets each of their bytes. */
	cut_each(&s, 5, true);
	mutate_often(&s, strtoull(argv[2], NULL, 10));
	getrusage(RUSAGE_SELF, &usage);
	printf("%zu bytes, at most %ld MB\n", s.size, usage.ru_maxrss / 1024);
	if (limit && usage.ru_maxrss / 1024 > atol(limit))
		die("too much memory was in use", (size_t)usage.ru_maxrss);
	free(s.data);
	fclose(s.in);
	fclose(s.out);
	return 0;
}
