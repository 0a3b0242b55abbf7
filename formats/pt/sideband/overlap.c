/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/overlap.h"

#include <string.h>

#include "formats/pt/packet.h"

/* Buffers are padded to a multiple of the size of a word, or of what the processor writes. */
#define PADDING_MAX 64

/* Bytes of an initial TSC packet within PSB+, at which two PSBs can be told apart. */
static bool psb_tsc(const uint8_t *p, const uint8_t *end, uint64_t *tsc)
{
	struct vt_pt_packet packet;

	for (;;) {
		int size = vt_pt_packet_read(&packet, p, end, 0);

		if (size <= 0 || packet.kind == VT_PT_PSBEND)
			return false;
		if (packet.kind == VT_PT_TSC) {
			*tsc = packet.payload;
			return true;
		}
		p += size;
	}
}

/* A snapshot's last bytes may be padding that the trace, going on, does not have. */
static size_t without_padding(const uint8_t *psb, size_t size)
{
	unsigned n;

	/* This ends at the PSB, whose last byte is not 0. */
	for (n = 0; n < PADDING_MAX && !psb[size - 1]; n++)
		size--;
	return size;
}

/* Whether b begins with all of a, which begins with a PSB. */
static bool begins_with(const uint8_t *b, size_t bsize, const uint8_t *a, size_t asize,
			size_t *used)
{
	size_t bare = without_padding(a, asize);

	if (asize <= bsize && !memcmp(a, b, asize)) {
		*used = asize;
		return true;
	}
	if (bare <= bsize && !memcmp(a, b, bare)) {
		*used = bare;
		return true;
	}
	return false;
}

size_t vti_pt_overlap(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize, bool *joined)
{
	const uint8_t *bend = b + bsize, *aend = a + asize;
	const uint8_t *first = vt_pt_find_psb(b, bend), *p;
	uint64_t tsc = 0, other;
	bool timed;
	size_t used;

	*joined = false;
	if (!first)
		return bsize;
	timed = psb_tsc(first, bend, &tsc);
	for (p = vt_pt_find_psb(a, aend); p; p = vt_pt_find_psb(p + VT_PT_PSB_SIZE, aend)) {
		/* Comparing is short where the times differ: long runs of the same code look alike.
		 */
		if (timed && psb_tsc(p, aend, &other) && other != tsc)
			continue;
		if (begins_with(first, (size_t)(bend - first), p, (size_t)(aend - p), &used)) {
			*joined = true;
			return (size_t)(first - b) + used;
		}
	}
	return (size_t)(first - b);
}
