/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes or reads a stream of small records (COUNT: image, offset, event, samples) and tells on
 * standard error how many a second of this process's own processor time that was.
 *
 *	stream_speed write N     N records to standard output
 *	stream_speed read        all records from standard input, one by one
 *	stream_speed runs        the same by runs of rows
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/rng.h"
#include "stream/reader.h"
#include "stream/writer.h"

static double cpu_seconds(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
	       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1e-6;
}

static int fail(const struct vt_error *err)
{
	fprintf(stderr, "stream_speed: %s\n", err->text);
	return 1;
}

static int write_records(uint64_t n)
{
	struct vt_writer_options opt = {.compression = VT_COMPRESS_AUTO};
	struct vt_error err;
	struct vt_writer *w = vt_writer_open("-", &opt, &err);
	uint8_t gaps[4096];
	struct vt_rng rng;
	uint64_t offset = 0, i;

	if (!w)
		return fail(&err);
	/* Gaps of one to sixteen bytes and counts below 16: what a profile looks like. */
	vt_rng_init(&rng, 1);
	for (i = 0; i < sizeof(gaps); i++)
		gaps[i] = (uint8_t)vt_rng_below(&rng, 256);
	for (i = 0; i < n; i++) {
		uint64_t *row = vt_writer_row(w, VT_COUNT);
		uint8_t bits = gaps[i % sizeof(gaps)];

		offset += 1 + (bits & 15);
		row[VT_COUNT_IMAGE] = 3;
		row[VT_COUNT_OFFSET] = offset;
		row[VT_COUNT_EVENT] = 1;
		row[VT_COUNT_SAMPLES] = bits >> 4;
	}
	return vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0 ? fail(&err) : 0;
}

static int read_records(uint64_t *n, uint64_t *sum)
{
	struct vt_error err;
	struct vt_reader *r = vt_reader_open("-", &err);
	struct vt_record rec;
	int code;

	if (!r)
		return fail(&err);
	while ((code = vt_reader_next(r, &rec, &err)) == 1) {
		*sum += vt_record_u64(&rec, VT_COUNT_OFFSET) +
			vt_record_u64(&rec, VT_COUNT_SAMPLES);
		++*n;
	}
	vt_reader_close(r);
	return code < 0 ? fail(&err) : 0;
}

static int read_runs(uint64_t *n, uint64_t *sum)
{
	struct vt_error err;
	struct vt_reader *r = vt_reader_open("-", &err);
	const struct vt_block *b;
	uint32_t first, count, i;
	int code;

	if (!r)
		return fail(&err);
	while ((code = vt_reader_next_run(r, &b, &first, &count, &err)) == 1) {
		const struct vt_column *offset = &b->columns[VT_COUNT_OFFSET];
		const struct vt_column *samples = &b->columns[VT_COUNT_SAMPLES];

		for (i = first; i < first + count; i++)
			*sum += offset->v[i & offset->mask] + samples->v[i & samples->mask];
		*n += count;
	}
	vt_reader_close(r);
	return code < 0 ? fail(&err) : 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	uint64_t n = 0, sum = 0;
	int code;

	if (strcmp(mode, "write") == 0 && argc == 3) {
		n = strtoull(argv[2], NULL, 10);
		code = write_records(n);
	} else if (strcmp(mode, "read") == 0) {
		code = read_records(&n, &sum);
	} else if (strcmp(mode, "runs") == 0) {
		code = read_runs(&n, &sum);
	} else {
		fprintf(stderr, "usage: stream_speed write N | read | runs\n");
		return 2;
	}
	fprintf(stderr, "%s: %llu records, %.1f million a second (checksum %llu)\n", mode,
		(unsigned long long)n, (double)n / cpu_seconds() * 1e-6, (unsigned long long)sum);
	return code;
}
