/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packets of Intel PT from any bytes: each place of them is read by us and by libipt, PSBs are
 * looked for by both, the whole is counted in one piece and in small ones, and the clock runs on.
 * Of an input the first HEAD bytes are the clock's parameters and how large the pieces are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/tools/pt_same.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD 8

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_pt_packet: %s\n", what);
		abort();
	}
}

static struct pt_packet_decoder *libipt(uint8_t *p, uint8_t *end)
{
	struct pt_packet_decoder *d;
	struct pt_config config;

	pt_config_init(&config);
	config.begin = p;
	config.end = end;
	d = pt_pkt_alloc_decoder(&config);
	check(d, "no memory");
	return d;
}

/*
 * All PSBs, one after the other.  libipt looks at the byte behind a PSB's pattern even when that is
 * the end, so it gets a copy with a byte to spare.
 */
static void find(const uint8_t *bytes, size_t size)
{
	struct pt_packet_decoder *d;
	const uint8_t *ours;
	uint8_t *spare = malloc(size + 1), *p = spare, *end = spare + size;
	uint64_t offset = 0;
	int tries;

	check(spare, "no memory");
	memcpy(spare, bytes, size);
	*end = 0;
	for (tries = 0; p < end && tries < 64; tries++) {
		d = libipt(p, end);
		ours = vt_pt_find_psb(bytes + (p - spare), bytes + size);
		if (pt_pkt_sync_forward(d) < 0) {
			check(!ours, "a PSB that libipt does not find");
			p = end;
		} else {
			check(pt_pkt_get_offset(d, &offset) == 0, "no offset");
			check(ours == bytes + (p - spare) + offset,
			      "another PSB than libipt finds");
			p += offset + 1;
		}
		pt_pkt_free_decoder(d);
	}
	free(spare);
}

static void read_all(uint8_t *begin, uint8_t *end, const struct vt_pt_clock *clock)
{
	struct pt_packet_decoder *d = libipt(begin, end);
	const uint8_t *p, *next = begin;
	struct vt_pt_timing t;
	struct vt_pt_packet v;
	uint64_t tsc = 0, cycles = 0, ip = 0;
	unsigned bip = 0;
	int size;

	vt_pt_timing_init(&t, clock);
	for (p = begin; p < end; p++) {
		pt_pkt_sync_set(d, (uint64_t)(p - begin));
		check(pt_same(d, p, end, &v, &size), "libipt reads another packet");
		check(size < 0 || (size <= end - p && size <= VT_PT_MAX_PACKET), "too large");
		if (p < next)
			continue;
		size = vt_pt_packet_read(&v, p, end, bip);
		check(size < 0 || (size <= end - p && size <= VT_PT_MAX_PACKET), "too large");
		bip = size < 0 ? 0 : vt_pt_bip_after(bip, &v);
		next = size < 0 ? p + 1 : p + size;
		if (size < 0)
			continue;
		vt_pt_ip_update(&ip, &v);
		vt_pt_timing_packet(&t, &v);
		check(t.tsc >= tsc && t.cycles >= cycles, "time goes back");
		tsc = t.tsc;
		cycles = t.cycles;
	}
	pt_pkt_free_decoder(d);
}

static void count(const uint8_t *p, size_t size, const struct vt_pt_clock *clock, size_t piece)
{
	const struct vt_pt_options opt = {.clock = *clock};
	struct vt_pt_scan whole, parts;
	uint64_t bytes = 0;
	size_t at, n;
	unsigned k;

	vt_pt_scan_init(&whole, &opt);
	vt_pt_scan_feed(&whole, p, size);
	vt_pt_scan_end(&whole);
	vt_pt_scan_init(&parts, &opt);
	for (at = 0; at < size; at += n) {
		n = piece < size - at ? piece : size - at;
		vt_pt_scan_feed(&parts, p + at, n);
	}
	vt_pt_scan_end(&parts);
	for (k = 0; k < VT_PT_NKINDS; k++)
		bytes += whole.bytes[k];
	check(bytes + whole.before + whole.bad_bytes == size, "bytes are missing");
	check(pt_same_scan(&whole, &parts), "pieces make a difference");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vt_pt_clock clock;
	uint8_t *copy;

	if (size <= HEAD)
		return 0;
	clock = (struct vt_pt_clock){data[0] & 31, data[1], vt_le16(data + 2), vt_le16(data + 4)};
	size -= HEAD;
	copy = malloc(size);
	check(copy, "no memory");
	memcpy(copy, data + HEAD, size);
	find(copy, size);
	read_all(copy, copy + size, &clock);
	count(copy, size, &clock, 1 + vt_le16(data + 6) % 300);
	free(copy);
	return 0;
}
