/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_TOOLS_PT_DAMAGE_H
#define TESTS_TOOLS_PT_DAMAGE_H

/* Damage to traces of Intel PT, by chance: for pt_compare and the unit test of the engines. */

#include "base/rng.h"
#include "formats/pt/packet.h"
#include "tests/tools/pt_engines.h"

/* A trace that is being damaged. */
struct victim {
	uint8_t *data;
	size_t size;
	size_t cap;
	size_t *starts; /* of packets, before the damage */
	size_t nstarts;
	size_t starts_cap;
	uint64_t *ips; /* addresses that the trace tells */
	size_t nips;
	size_t ips_cap;
};

static inline void find_packets(struct victim *v)
{
	struct vt_pt_packet p;
	uint64_t last = 0;
	size_t at = 0;

	v->nstarts = v->nips = 0;
	while (at < v->size) {
		int n = vt_pt_packet_read(&p, v->data + at, v->data + v->size, 0);

		if (n <= 0) {
			at++;
			continue;
		}
		v->starts = grow(v->starts, &v->starts_cap, v->nstarts + 1, sizeof(*v->starts));
		v->starts[v->nstarts++] = at;
		if (p.kind == VT_PT_PSB)
			last = 0;
		if ((p.kind == VT_PT_TIP || p.kind == VT_PT_FUP || p.kind == VT_PT_TIP_PGE ||
		     p.kind == VT_PT_TIP_PGD) &&
		    vt_pt_ip_update(&last, &p)) {
			v->ips = grow(v->ips, &v->ips_cap, v->nips + 1, sizeof(*v->ips));
			v->ips[v->nips++] = last;
		}
		at += (size_t)n;
	}
}

static inline void splice(struct victim *v, size_t at, size_t gone, const uint8_t *bytes, size_t n)
{
	if (at > v->size)
		at = v->size;
	if (gone > v->size - at)
		gone = v->size - at;
	v->data = grow(v->data, &v->cap, v->size + n, 1);
	memmove(v->data + at + n, v->data + at + gone, v->size - at - gone);
	if (n)
		memcpy(v->data + at, bytes, n);
	v->size = v->size - gone + n;
}

static inline size_t a_place(const struct victim *v, struct vt_rng *rng)
{
	if (v->nstarts && vt_rng_below(rng, 4)) {
		size_t at = v->starts[vt_rng_below(rng, v->nstarts)];

		return at < v->size ? at : v->size;
	}
	return vt_rng_below(rng, v->size + 1);
}

static inline size_t put_ip(uint8_t *out, uint8_t opcode, const struct victim *v,
			    struct vt_rng *rng)
{
	static const uint8_t sizes[] = {0, 2, 4, 6, 6, 0, 8, 0};
	uint64_t ip = v->nips ? v->ips[vt_rng_below(rng, v->nips)] : 0;
	unsigned ipc = (unsigned)vt_rng_below(rng, 16), i;

	ipc = ipc < 8 ? ipc : ipc < 12 ? 3 : 6;
	if (!vt_rng_below(rng, 4))
		ip += vt_rng_below(rng, 16);
	out[0] = (uint8_t)(opcode | ipc << 5);
	for (i = 0; i < sizes[ipc]; i++)
		out[1 + i] = (uint8_t)(ip >> 8 * i);
	return 1 + sizes[ipc];
}

/* A packet, more or less well-formed. */
static inline size_t make_packet(uint8_t *out, const struct victim *v, struct vt_rng *rng)
{
	static const struct {
		uint8_t size;
		uint8_t bytes[3];
		uint8_t fixed;
	} plain[] = {
		{2, {0x02, 0xf3}, 2}, /* OVF */
		{2, {0x02, 0xf3}, 2},  {2, {0x02, 0x23}, 2},  {2, {0x02, 0x83}, 2},
		{4, {0x02, 0x03}, 2},  {7, {0x02, 0x73}, 2},  {8, {0x02, 0x43}, 2},
		{7, {0x02, 0xc8}, 2},  {8, {0x02, 0xa3}, 2},  {11, {0x02, 0xc3, 0x88}, 3},
		{6, {0x02, 0x12}, 2},  {10, {0x02, 0x32}, 2}, {6, {0x02, 0x92}, 2},
		{10, {0x02, 0xb2}, 2}, {2, {0x02, 0x62}, 2},  {2, {0x02, 0xe2}, 2},
		{10, {0x02, 0xc2}, 2}, {4, {0x02, 0x22}, 2},  {7, {0x02, 0xa2}, 2},
		{2, {0x99, 0x01}, 2},  {2, {0x99, 0x02}, 2},  {2, {0x99, 0x00}, 2},
		{2, {0x99, 0x21}, 2},  {2, {0x99, 0x22}, 2},  {2, {0x99, 0x20}, 2},
		{8, {0x19}, 1},	       {2, {0x59}, 1},	      {1, {0x03}, 0},
		{3, {0x02, 0x63}, 2},  {4, {0x02, 0x13}, 2},  {1, {0x00}, 1},
		{1, {0x00}, 0},
	};
	static const uint8_t ips[] = {0x0d, 0x11, 0x01, 0x1d, 0x1d};
	unsigned what = (unsigned)vt_rng_below(rng, 56), i;
	size_t n;

	if (what < sizeof(plain) / sizeof(plain[0])) {
		for (i = 0; i < plain[what].size; i++)
			out[i] = i < plain[what].fixed ? plain[what].bytes[i]
						       : (uint8_t)vt_rng_next(rng);
		/* What is reserved is mostly 0; a long TNT may have no decision. */
		if (plain[what].bytes[1] == 0x73)
			out[4] = out[6] = 0;
		else if (plain[what].bytes[1] == 0xa3 && !vt_rng_below(rng, 4))
			memset(out + 2, 0, 6);
		return plain[what].size;
	}
	if (what < 36) {
		out[0] = (uint8_t)(vt_rng_next(rng) & 0xf8) | 3;
		return 1;
	}
	if (what < 40) {
		out[0] = (uint8_t)(vt_rng_next(rng) & 0xfe);
		return 1;
	}
	if (what < 44) {
		for (i = 0; i < VT_PT_PSB_SIZE; i++)
			out[i] = i & 1 ? 0x82 : 0x02;
		n = VT_PT_PSB_SIZE;
		if (vt_rng_below(rng, 2)) {
			out[n++] = 0x99;
			out[n++] = (uint8_t)(vt_rng_below(rng, 4));
		}
		if (vt_rng_below(rng, 2))
			n += put_ip(out + n, 0x1d, v, rng);
		out[n++] = 0x02;
		out[n++] = 0x23;
		return n;
	}
	return put_ip(out, ips[what % sizeof(ips)], v, rng);
}

static inline void damage(struct victim *v, struct vt_rng *rng)
{
	size_t at = a_place(v, rng), to = a_place(v, rng), n, i;
	uint8_t bytes[256];

	switch (vt_rng_below(rng, 10)) {
	case 0: /* a bit */
		if (at < v->size)
			v->data[at] ^= (uint8_t)(1u << vt_rng_below(rng, 8));
		break;
	case 1: /* a byte */
		bytes[0] = (uint8_t)vt_rng_next(rng);
		splice(v, at, 1, bytes, 1);
		break;
	case 2: /* something is missing */
		splice(v, at, 1 + vt_rng_below(rng, vt_rng_below(rng, 2) ? 8 : 2048), NULL, 0);
		break;
	case 3: /* noise */
		n = 1 + vt_rng_below(rng, 8);
		for (i = 0; i < n; i++)
			bytes[i] = (uint8_t)vt_rng_next(rng);
		splice(v, at, vt_rng_below(rng, 2) * n, bytes, n);
		break;
	case 4: /* something comes again */
		n = 1 + vt_rng_below(rng, sizeof(bytes));
		if (to + n > v->size)
			break;
		memcpy(bytes, v->data + to, n);
		splice(v, at, vt_rng_below(rng, 2) * n, bytes, n);
		break;
	case 5: /* the end is missing */
		if (!vt_rng_below(rng, 4))
			v->size = at;
		break;
	case 6: /* packets are missing */
		if (at < to && to - at < 64)
			splice(v, at, to - at, NULL, 0);
		break;
	default: /* a packet too many, or instead of others */
		n = make_packet(bytes, v, rng);
		splice(v, at, vt_rng_below(rng, 3) ? 0 : n, bytes, n);
		break;
	}
}

#endif
