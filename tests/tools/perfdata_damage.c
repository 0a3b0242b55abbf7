/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfdata_damage FILE N SEED [pipe|zstd]: damages the headers of records of a perf.data in N ways
 * and decodes each: from a regular file, through a pipe, or with the damaged records in zstd's
 * compression (of a file whose records are not).  Fails when a sample comes out that the undamaged
 * file does not have, when there are missing more than those of the damaged records and of one on
 * each side (a record of a group has two), when one damaged record costs 5 %, or when no GAP says
 * so.  Prints how many were missing.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/rng.h"
#include "formats/perfdata/perfdata.h"
#include "stream/reader.h"

#define FILE_MAX    (64u << 20)
#define ATTR	    64
#define AUXTRACE    71
#define COMPRESSED  81
#define COMPRESSED2 83
#define PIECE_MAX   30000

enum form { IN_FILE, IN_PIPE, IN_ZSTD };

struct place {
	size_t at;
	uint32_t type;
	uint32_t size;
};

struct digests {
	uint64_t *v;
	size_t count;
	size_t cap;
	uint64_t gap_bytes;
	uint64_t gaps;
};

struct job {
	uint8_t *data;
	size_t size;
	size_t from; /* the records */
	size_t to;
	struct place *places;
	size_t nplaces;
	size_t places_cap;
	enum form form;
	struct digests whole;
	FILE *in;
	FILE *out;
};

static void die(const char *what, uint64_t where)
{
	fprintf(stderr, "perfdata_damage: %s (case %" PRIu64 ")\n", what, where);
	exit(1);
}

static void read_whole(struct job *j, const char *path)
{
	FILE *f = fopen(path, "rb");

	j->data = malloc(FILE_MAX);
	if (!f || !j->data)
		die(path, 0);
	j->size = fread(j->data, 1, FILE_MAX, f);
	fclose(f);
	if (j->size < 104 || j->size == FILE_MAX || memcmp(j->data, "PERFILE2", 8) != 0)
		die("no perf.data that can be used", j->size);
	j->from = vt_le64(j->data + 8) == 16 ? 16 : vt_le64(j->data + 40);
	j->to = j->from == 16 ? j->size : j->from + vt_le64(j->data + 48);
	if (j->to > j->size)
		die("the file is cut", j->to);
}

static void find_places(struct job *j)
{
	size_t at = j->from;

	while (at + 8 <= j->to) {
		const uint8_t *p = j->data + at;
		struct place x = {at, vt_le32(p), vt_le16(p + 6)};

		if (!vt_array_grow(&j->places, &j->places_cap, j->nplaces + 1, sizeof(*j->places)))
			die("out of memory", 0);
		j->places[j->nplaces++] = x;
		if (x.size < 8)
			die("a record of no size", at);
		at += x.size;
		if (x.type == AUXTRACE)
			at += vt_le64(p + 8);
	}
}

/* ---- decoding ---- */

static uint64_t field_digest(const struct vt_record *rec, unsigned field, char type)
{
	struct vt_bytes b;
	struct vt_words w;
	uint64_t v;

	switch (type) {
	case VT_TYPE_S:
	case VT_TYPE_B:
		b = vt_record_bytes(rec, field);
		return vt_hash_bytes(b.data, b.size);
	case VT_TYPE_A:
		w = vt_record_words(rec, field);
		return vt_hash_bytes(w.data, w.count * sizeof(*w.data));
	default:
		v = vt_record_u64(rec, field);
		return vt_hash_bytes(&v, sizeof(v));
	}
}

/* Of all of a sample but the period of a group read, which counts from the sample before it. */
static uint64_t digest(const struct vt_record *rec)
{
	bool group = vt_record_words(rec, VT_SAMPLE_READ).count > 0;
	uint64_t all[2] = {0, 0};
	unsigned i;

	for (i = 0; i < rec->block->ncolumns; i++) {
		if (group && i == VT_SAMPLE_PERIOD)
			continue;
		all[1] = field_digest(rec, i, (char)rec->block->desc->fields[i].type);
		all[0] = vt_hash_bytes(all, sizeof(all));
	}
	return all[0];
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void read_digests(struct job *j, struct digests *d, uint64_t where)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	struct vt_reader *r;
	int code;

	d->count = 0;
	d->gaps = d->gap_bytes = 0;
	if (lseek(fileno(j->out), 0, SEEK_SET) < 0)
		die("lseek", where);
	r = vt_reader_open_fd(fileno(j->out), "written", &err);
	if (!r)
		die(err.text, where);
	while ((code = vt_reader_next(r, &rec, &err)) == 1) {
		if (rec.kind == VT_GAP && vt_record_u64(&rec, VT_GAP_BYTES)) {
			d->gaps++;
			d->gap_bytes += vt_record_u64(&rec, VT_GAP_BYTES);
		}
		if (rec.kind != VT_SAMPLE)
			continue;
		if (!vt_array_grow(&d->v, &d->cap, d->count + 1, sizeof(*d->v)))
			die("out of memory", where);
		d->v[d->count++] = digest(&rec);
	}
	if (code < 0)
		die(err.text, where);
	vt_reader_close(r);
	qsort(d->v, d->count, sizeof(*d->v), by_value);
}

/* Starts a process that writes the bytes to the pipe whose other end is returned. */
static int feed(const uint8_t *p, size_t size, pid_t *child)
{
	int ends[2];

	if (pipe(ends) < 0 || (*child = fork()) < 0)
		die("pipe", 0);
	if (*child == 0) {
		close(ends[0]);
		while (size) {
			ssize_t n = write(ends[1], p, size);

			if (n < 0)
				_exit(1);
			p += n;
			size -= (size_t)n;
		}
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

/* Decodes the bytes; what came out is in *d. */
static void decode(struct job *j, const uint8_t *p, size_t size, struct digests *d, uint64_t where)
{
	struct vt_writer_options wopt = {.compression = VT_COMPRESS_NONE};
	/* What a sample's fields mean depends on records that may be damaged: on the processor. */
	struct vt_format_options opt = {.keep_aux = true, .keep_raw = true};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_format_summary sum;
	struct vt_writer *w;
	struct vt_input in;
	pid_t child = 0;
	int fd = fileno(j->in);

	rewind(j->in);
	rewind(j->out);
	if (ftruncate(fd, 0) || ftruncate(fileno(j->out), 0))
		die("truncate", where);
	if (j->form == IN_PIPE)
		fd = feed(p, size, &child);
	else if (pwrite(fd, p, size, 0) != (ssize_t)size || lseek(fd, 0, SEEK_SET) < 0)
		die("cannot set up", where);
	if (vt_input_open_fd(&in, fd, "test", &err) < 0)
		die(err.text, where);
	w = vt_writer_open_fd(fileno(j->out), "out", &wopt, &err);
	if (!w || vt_perfdata_decode(&in, w, &opt, &sum, &err) < 0 ||
	    vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0)
		die(err.text, where);
	vt_input_close(&in);
	if (child) {
		close(fd);
		waitpid(child, NULL, 0);
	}
	read_digests(j, d, where);
}

/* The same file with its records in compressed ones, and without features. */
static void pack(const struct job *j, const uint8_t *p, struct vt_buf *out)
{
	size_t n = j->to - j->from, room = ZSTD_compressBound(n), at, piece;
	uint8_t *z = malloc(room);

	if (!z)
		die("out of memory", 0);
	n = ZSTD_compress(z, room, p + j->from, n, 1);
	if (ZSTD_isError(n))
		die("zstd", 0);
	out->size = 0;
	vt_buf_put(out, p, j->from);
	for (at = 0; at < n; at += piece) {
		piece = n - at < PIECE_MAX ? n - at : PIECE_MAX;
		vt_buf_put_le32(out, 81);
		vt_buf_put_le32(out, (uint32_t)(piece + 8) << 16);
		vt_buf_put(out, z + at, piece);
	}
	free(z);
	if (out->failed)
		die("out of memory", 0);
	if (j->from == 16)
		return;
	vt_put_le64(out->data + 48, out->size - j->from);
	memset(out->data + 72, 0, 32);
}

static void decode_form(struct job *j, const uint8_t *p, struct digests *d, uint64_t where)
{
	struct vt_buf b = VT_BUF_INIT;

	if (j->form == IN_ZSTD) {
		pack(j, p, &b);
		decode(j, b.data, b.size, d, where);
	} else {
		decode(j, p, j->size, d, where);
	}
	vt_buf_free(&b);
}

/* ---- damage ---- */

static void set_size(uint8_t *p, uint64_t size)
{
	vt_put_le16(p + 6, (uint16_t)size);
}

/* Nothing makes good for an attribute or a piece of a compressed stream that is gone. */
static bool is_vital(uint32_t type)
{
	return type == ATTR || type == COMPRESSED || type == COMPRESSED2;
}

/* Damages the record at place i, maybe some behind it, too; returns how many samples are hit. */
static size_t damage(struct job *j, uint8_t *copy, size_t i, struct vt_rng *rng)
{
	uint8_t *p = copy + j->places[i].at;
	size_t size = j->places[i].size, hit = 1, n;

	switch (vt_rng_below(rng, is_vital(j->places[i].type) ? 6 : 7)) {
	case 0:
		set_size(p, 0);
		break;
	case 1:
		set_size(p, vt_rng_below(rng, 8));
		break;
	case 2: /* any other size */
		set_size(p, size + 1 + vt_rng_below(rng, 65535));
		break;
	case 3: /* one that looks right */
		set_size(p, (size + 8 + 8 * vt_rng_below(rng, 40)) & 0xfff8);
		break;
	case 4: /* that of this record and some more */
		n = i + 1 < j->nplaces ? j->places[i + 1].size : 8;
		set_size(p, size + n);
		break;
	case 5: /* one that ends inside of it */
		set_size(p, 8 + 8 * vt_rng_below(rng, size > 16 ? size / 8 - 1 : 1));
		if (vt_le16(p + 6) == size)
			set_size(p, size + 8);
		break;
	default: /* a stretch of anything, from a header on */
		n = 8 + vt_rng_below(rng, 600);
		for (; n-- && p < copy + j->to; p++) {
			bool next =
				i + 1 < j->nplaces && p - copy == (ptrdiff_t)j->places[i + 1].at;

			if (next && is_vital(j->places[i + 1].type))
				break;
			i += next;
			hit += next;
			*p = (uint8_t)vt_rng_next(rng);
		}
	}
	return hit;
}

/* The samples that came out must be among those that are there; returns how many are missing. */
static size_t compare(const struct job *j, const struct digests *d, uint64_t where)
{
	size_t i, k = 0;

	for (i = 0; i < d->count; i++) {
		while (k < j->whole.count && j->whole.v[k] < d->v[i])
			k++;
		if (k == j->whole.count || j->whole.v[k] != d->v[i])
			die("a sample is invented", where);
		k++;
	}
	return j->whole.count - d->count;
}

static void run(struct job *j, uint64_t times, uint64_t seed)
{
	struct digests d = {.v = NULL};
	uint8_t *copy = malloc(j->size);
	size_t most = 0, missing, hit;
	uint64_t i, all = 0;
	struct vt_rng rng;

	if (!copy)
		die("out of memory", 0);
	vt_rng_init(&rng, seed);
	for (i = 1; i <= times; i++) {
		size_t at = (size_t)vt_rng_below(&rng, j->nplaces);

		memcpy(copy, j->data, j->size);
		hit = damage(j, copy, at, &rng);
		decode_form(j, copy, &d, i);
		missing = compare(j, &d, i);
		if (missing > 2 * (hit + 2) ||
		    (hit == 1 && missing > 3 && 20 * missing > j->whole.count)) {
			fprintf(stderr, "record %zu at 0x%zx: %zu of %zu missing, %zu hit\n", at,
				j->places[at].at, missing, j->whole.count, hit);
			die("too many samples are missing", i);
		}
		if (missing && !d.gaps)
			die("no GAP says what is missing", i);
		most = missing > most ? missing : most;
		all += missing;
	}
	printf("%zu samples, %" PRIu64 " times damaged: at most %zu missing, %.3f on average\n",
	       j->whole.count, times, most, times ? (double)all / (double)times : 0);
	free(d.v);
	free(copy);
}

int main(int argc, char **argv)
{
	struct job j = {.in = tmpfile(), .out = tmpfile()};

	if (argc < 4 || argc > 5 || !j.in || !j.out)
		die("usage: perfdata_damage FILE N SEED [pipe|zstd]", 0);
	if (argc == 5)
		j.form = strcmp(argv[4], "zstd") == 0 ? IN_ZSTD : IN_PIPE;
	read_whole(&j, argv[1]);
	find_places(&j);
	decode_form(&j, j.data, &j.whole, 0);
	run(&j, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	free(j.whole.v);
	free(j.places);
	free(j.data);
	fclose(j.in);
	fclose(j.out);
	return 0;
}
