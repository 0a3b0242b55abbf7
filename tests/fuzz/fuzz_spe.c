/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as an AUX area of Arm SPE: its packets and records, then all of it as samples and gaps.
 * The first byte of an input tells what the recording has besides.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/common/tempfile.h"
#include "formats/spe/decode.h"
#include "formats/spe/info.h"
#include "formats/spe/packet.h"
#include "stream/kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bits of the first byte. */
#define CLOCK	 1
#define EVENT	 2
#define IN_PARTS 4
#define SWITCHES 8

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_spe: %s\n", what);
		abort();
	}
}

static void read_packets(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *at, *next;
	struct vt_spe_packet k;
	struct vt_spe_record r;
	int64_t n;
	int size;

	for (at = p; at < end; at++) {
		size = vt_spe_packet_read(&k, at, end, (uint64_t)(at - p));
		check(size != 0 && size <= end - at, "a packet of another size");
		check(size < 0 || (k.kind < VT_SPE_NKINDS && k.bytes <= 8), "a packet of no kind");
	}
	for (at = p; at < end; at += n) {
		n = vt_spe_record_read(&r, at, end, (uint64_t)(at - p));
		check(n <= end - at, "a record that is too long");
		if (n == 0)
			break;
		if (n > 0)
			continue;
		next = vt_spe_resume(at, end, (uint64_t)(at - p));
		check(next > at && next <= end, "no progress");
		n = next - at;
	}
}

static struct vt_writer *start_null(int *fd)
{
	const struct vt_writer_options opt = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w;

	*fd = open("/dev/null", O_WRONLY);
	check(*fd >= 0, "no /dev/null");
	w = vt_writer_open_fd(*fd, "null", &opt, &err);
	check(w != NULL, "no writer");
	return w;
}

/* The records of the recording, besides AUXTRACE. */
static void put_records(struct vt_spool *s, unsigned how)
{
	const uint64_t priv[2] = {33, 1};
	uint64_t *row = vt_writer_row(s->w, VT_AUXINFO), i;

	row[VT_AUXINFO_TYPE] = VT_SPE_AUXINFO_TYPE;
	vt_writer_words(s->w, VT_AUXINFO_PRIV, priv, 2);
	if (how & EVENT)
		vt_writer_row(s->w, VT_EVENT)[VT_EVENT_TYPE] = priv[0];
	if (how & CLOCK)
		vt_writer_row(s->w, VT_TIMECONV)[VT_TIMECONV_MULT] = 1;
	for (i = 1; i < 64 && how & SWITCHES; i++) {
		row = vt_writer_row(s->w, i % 5 ? VT_SWITCH : VT_AUX);
		row[VT_SWITCH_TIME] = i << (i / 2);
		row[VT_SWITCH_TID] = i;
		if (i % 5 == 0)
			row[VT_AUX_FLAGS] = i;
	}
}

static void pass(struct vt_aux_session *a, struct vt_spool *s,
		 int (*take)(struct vt_aux_session *a, const struct vt_record *rec,
			     struct vt_error *err))
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;

	check(vt_spool_rewind(s, &err) == 0, "no rewind");
	while (vt_reader_next(s->r, &rec, &err) > 0)
		check(take(a, &rec, &err) == 0, "a record is refused");
}

static void decode(const uint8_t *p, size_t size, unsigned how)
{
	const struct vt_aux_decoder *d = &vt_spe_aux_decoder;
	const struct vt_format_options opt = {.keep_aux = false};
	struct vt_format_auxtrace piece = {
		.tid = how & SWITCHES ? -1 : 1, .bytes = p, .size = size};
	struct vt_format_summary sum = {.records = 0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_spool spool;
	struct vt_writer *w;
	struct vt_aux_session *a;
	int fd;

	check(vt_spool_open(&spool, "/tmp", NULL, &err) == 0, "no spool");
	a = d->open(&opt, "fuzz", &err);
	check(a != NULL, "no session");
	put_records(&spool, how);
	if (how & IN_PARTS)
		piece.size = size / 2;
	check(d->scan_piece(a, &piece, &err) == 0, "a piece is refused");
	piece.offset = piece.size + 3;
	piece.bytes += piece.size;
	piece.size = size - piece.size;
	check(d->scan_piece(a, &piece, &err) == 0, "a piece is refused");
	pass(a, &spool, d->scan_record);
	w = start_null(&fd);
	check(vt_spool_rewind(&spool, &err) == 0, "no rewind");
	check(vt_writer_add_input(w, spool.r, &err) == 0, "no input");
	check(d->begin_output(a, w, &err) == 0, "no output");
	pass(a, &spool, d->decode_record);
	check(d->end_output(a, &sum, &err) == 0, "no end");
	check(vt_writer_close(w, VT_STATUS_COMPLETE, &err) == 0, "no close");
	check(sum.unread <= size + 3, "more is unread than there is");
	check(sum.samples <= size, "more samples than bytes");
	d->close(a);
	vt_spool_close(&spool);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	read_packets(data + 1, data + size);
	decode(data + 1, size - 1, data[0]);
	return 0;
}
