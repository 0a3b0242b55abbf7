/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/scan.h"

#include <string.h>

#include "formats/pt/decode/cursor.h"

/* A PSB, the byte before it that shows its phase, and two behind it that may continue it. */
#define SEARCH_KEEP (VT_PT_PSB_SIZE + 1)

/* What vt_pt_packet_read() returns for a corrupted TMA; at the end of the trace it may be less. */
#define CORRUPTED_SIZE 8

void vt_pt_scan_init(struct vt_pt_scan *s, const struct vt_pt_options *opt)
{
	static const struct vt_pt_options unknown;

	memset(s, 0, sizeof(*s));
	opt = opt ? opt : &unknown;
	s->skz84 = vti_pt_errata(opt) & VTI_PT_SKZ84 ? VT_PT_SKZ84 : 0;
	vt_pt_timing_init(&s->timing, &opt->clock);
}

/* Bytes that are no packet begin. */
static void start_bad_bytes(struct vt_pt_scan *s, bool cut)
{
	s->synced = false;
	s->lost = true;
	s->bip = 0;
	s->bad_start = s->at;
	if (s->places < VT_PT_SCAN_PLACES)
		s->bad[s->places] = (struct vt_pt_bad){.offset = s->at, .cut = cut};
	s->places++;
	vt_pt_timing_gap(&s->timing);
}

/* Counts the bytes since the last packet, up to the current position. */
static void count_skipped_bytes(struct vt_pt_scan *s)
{
	uint64_t bytes = s->at - s->bad_start;

	if (s->lost) {
		s->bad_bytes += bytes;
		if (s->places <= VT_PT_SCAN_PLACES)
			s->bad[s->places - 1].bytes = bytes;
	} else {
		s->before += bytes;
	}
}

static void count_scanned_packet(struct vt_pt_scan *s, const struct vt_pt_packet *p)
{
	s->count[p->kind]++;
	s->bytes[p->kind] += p->size;
	s->packets++;
	s->bip = vt_pt_bip_after(s->bip, p);
	switch (p->kind) {
	case VT_PT_TNT8:
	case VT_PT_TNT64:
		s->decisions += p->count;
		s->taken += (unsigned)__builtin_popcountll(p->payload);
		return;
	case VT_PT_CBR:
		if (!s->min_cbr || p->payload < s->min_cbr)
			s->min_cbr = (uint8_t)p->payload;
		if (p->payload > s->max_cbr)
			s->max_cbr = (uint8_t)p->payload;
		break;
	case VT_PT_TSC:
		if (!s->timing.has_tsc)
			s->first_tsc = p->payload;
		break;
	default:
		break;
	}
	if (vt_pt_timing_cares(p->kind))
		vt_pt_timing_packet(&s->timing, p);
}

/* Counts a TMA that erratum SKZ84 has corrupted; it does not move the clock. */
static void count_corrupted(struct vt_pt_scan *s, size_t size)
{
	s->count[VT_PT_TMA]++;
	s->bytes[VT_PT_TMA] += size;
	s->packets++;
}

/*
 * Looks for the next PSB.  Returns how many bytes are finished; *found if a PSB follows them.  Of a
 * longer run of the pattern the end counts, so a PSB at the end of the bytes has to wait for more.
 */
static size_t search_psb(const uint8_t *p, size_t size, bool final, bool *found)
{
	const uint8_t *psb = vt_pt_find_psb(p, p + size);

	*found = psb && (final || (size_t)(p + size - psb) >= VT_PT_PSB_SIZE + 2);
	if (*found)
		return (size_t)(psb - p);
	if (final)
		return size;
	return size < SEARCH_KEEP ? 0 : size - SEARCH_KEEP;
}

/* Counts the packets that are complete.  Returns how many bytes are finished. */
static size_t scan_packets(struct vt_pt_scan *s, const uint8_t *p, size_t size, bool final)
{
	struct vt_pt_packet packet;
	size_t done = 0, n;
	int got;

	for (;;) {
		if (!s->synced) {
			n = search_psb(p + done, size - done, final, &s->synced);
			done += n;
			s->at += n;
			if (!s->synced)
				return done;
			count_skipped_bytes(s);
		}
		/* There may be a lot of padding; it changes nothing, not even inside a block. */
		for (n = 0; done + n < size && !p[done + n]; n++)
			;
		s->count[VT_PT_PAD] += n;
		s->bytes[VT_PT_PAD] += n;
		s->packets += n;
		s->at += n;
		done += n;
		got = vt_pt_packet_read(&packet, p + done, p + size, s->bip | s->skz84);
		if (got == VT_PT_CUT && (!final || done == size))
			return done;
		if (got < 0) {
			start_bad_bytes(s, got == VT_PT_CUT);
			continue;
		}
		if (got == 1 || packet.kind != VT_PT_PAD)
			count_scanned_packet(s, &packet);
		else if (got == CORRUPTED_SIZE || final)
			count_corrupted(s, (size_t)got);
		else
			return done;
		done += (size_t)got;
		s->at += (size_t)got;
	}
}

void vt_pt_scan_feed(struct vt_pt_scan *s, const uint8_t *p, size_t size)
{
	size_t n, done;

	if (!size)
		return;
	s->size += size;
	while (s->kept_size && size) {
		n = sizeof(s->kept) - s->kept_size;
		n = n < size ? n : size;
		memcpy(s->kept + s->kept_size, p, n);
		done = scan_packets(s, s->kept, s->kept_size + n, false);
		if (done >= s->kept_size) {
			p += done - s->kept_size;
			size -= done - s->kept_size;
			s->kept_size = 0;
			break;
		}
		s->kept_size += n - done;
		memmove(s->kept, s->kept + done, s->kept_size);
		p += n;
		size -= n;
	}
	if (!size)
		return;
	done = scan_packets(s, p, size, false);
	s->kept_size = size - done;
	memcpy(s->kept, p + done, s->kept_size);
}

void vt_pt_scan_break(struct vt_pt_scan *s)
{
	scan_packets(s, s->kept, s->kept_size, true);
	s->kept_size = 0;
	if (!s->synced)
		count_skipped_bytes(s);
	s->synced = s->lost = false;
	s->bip = 0;
	s->bad_start = s->at;
	vt_pt_timing_gap(&s->timing);
}

void vt_pt_scan_end(struct vt_pt_scan *s)
{
	vt_pt_scan_break(s);
}

static void put_packets_row(struct vt_writer *w, uint64_t index, const char *name, uint64_t packets,
			    uint64_t bytes)
{
	uint64_t *row = vt_writer_row(w, VT_PACKETS);

	row[VT_PACKETS_INDEX] = index;
	row[VT_PACKETS_COUNT] = packets;
	row[VT_PACKETS_BYTES] = bytes;
	vt_writer_text(w, VT_PACKETS_NAME, name);
}

void vt_pt_packets_total(struct vt_writer *w, uint64_t index, uint64_t packets, uint64_t bytes)
{
	put_packets_row(w, index, "", packets, bytes);
}

void vt_pt_scan_write(const struct vt_pt_scan *s, uint64_t index, struct vt_writer *w)
{
	unsigned kind;

	vt_pt_packets_total(w, index, s->packets, s->size);
	for (kind = 0; kind < VT_PT_NKINDS; kind++) {
		if (s->count[kind])
			put_packets_row(w, index, vt_pt_kind_name(kind), s->count[kind],
					s->bytes[kind]);
	}
	if (s->before + s->bad_bytes)
		put_packets_row(w, index, "none", s->places, s->before + s->bad_bytes);
}

void vt_pt_packets_write(struct vt_writer *w, uint64_t index, const uint8_t *trace, size_t size,
			 bool kinds)
{
	struct vt_pt_scan s;

	if (!kinds) {
		vt_pt_packets_total(w, index, 0, size);
		return;
	}
	vt_pt_scan_init(&s, NULL);
	vt_pt_scan_feed(&s, trace, size);
	vt_pt_scan_end(&s);
	vt_pt_scan_write(&s, index, w);
}
