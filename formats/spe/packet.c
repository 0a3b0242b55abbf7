/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/spe/packet.h"

#include <stdbool.h>

/* Headers, with the bits that tell packets apart. */
#define HEADER_PAD	 0x00
#define HEADER_END	 0x01
#define HEADER_TIMESTAMP 0x71

/* Short and long headers have the index and the size of the payload in their last byte. */
static const struct header {
	uint8_t mask, value;
	uint8_t index; /* mask of the index */
	bool extended; /* may follow a byte with more bits of the index */
	enum vt_spe_kind kind;
} headers[] = {
	{0xff, HEADER_TIMESTAMP, 0, false, VT_SPE_TIMESTAMP},
	{0xcf, 0x42, 0, false, VT_SPE_EVENTS},
	{0xcf, 0x43, 0, false, VT_SPE_SOURCE},
	{0xfc, 0x64, 3, false, VT_SPE_CONTEXT},
	{0xfc, 0x48, 3, false, VT_SPE_OP},
	{0xf8, 0xb0, 7, true, VT_SPE_ADDRESS},
	{0xf8, 0x98, 7, true, VT_SPE_COUNTER},
};

/* The first byte of a long header. */
static bool is_extension(uint8_t byte)
{
	return (byte & 0xfc) == 0x20;
}

static const struct header *find_header(uint8_t byte, bool extended)
{
	size_t i;

	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if ((byte & headers[i].mask) == headers[i].value)
			return !extended || headers[i].extended ? &headers[i] : NULL;
	}
	return NULL;
}

static int read_empty(struct vt_spe_packet *packet, enum vt_spe_kind kind, size_t size, size_t left)
{
	*packet = (struct vt_spe_packet){.kind = kind};
	return size <= left ? (int)size : VT_SPE_CUT;
}

int vt_spe_packet_read(struct vt_spe_packet *packet, const uint8_t *p, const uint8_t *end,
		       uint64_t offset)
{
	const size_t left = (size_t)(end - p);
	const struct header *h;
	unsigned extension = 0, bytes, i;
	size_t size = 1;
	uint64_t unit;

	if (*p == HEADER_PAD)
		return read_empty(packet, VT_SPE_PAD, 1, left);
	if (*p == HEADER_END)
		return read_empty(packet, VT_SPE_END, 1, left);
	if (is_extension(*p)) {
		if (left < 2)
			return VT_SPE_CUT;
		if (p[1] == 0) {
			unit = UINT64_C(2) << (*p & 3);
			return read_empty(packet, VT_SPE_PAD, (size_t)(unit - offset % unit), left);
		}
		extension = (*p & 3u) << 3;
		size = 2;
	}
	h = find_header(p[size - 1], size == 2);
	if (!h)
		return VT_SPE_UNKNOWN;
	bytes = 1u << (p[size - 1] >> 4 & 3);
	if (left < size + bytes)
		return VT_SPE_CUT;
	*packet = (struct vt_spe_packet){
		.kind = h->kind, .index = extension | (p[size - 1] & h->index), .bytes = bytes};
	for (i = 0; i < bytes; i++)
		packet->payload |= (uint64_t)p[size + i] << (8 * i);
	return (int)(size + bytes);
}

/* ---- records ---- */

/* Adds a packet to a record.  False: the packet is of the next record. */
static bool add_packet(struct vt_spe_record *r, const struct vt_spe_packet *k)
{
	switch (k->kind) {
	case VT_SPE_TIMESTAMP:
		r->time = k->payload;
		r->has |= VT_SPE_HAS_TIME;
		break;
	case VT_SPE_EVENTS:
		r->events = k->payload;
		r->event_bits = 8 * k->bytes;
		r->has |= VT_SPE_HAS_EVENTS;
		break;
	case VT_SPE_SOURCE:
		r->source = k->payload;
		r->has |= VT_SPE_HAS_SOURCE;
		break;
	case VT_SPE_CONTEXT:
		r->context = k->payload;
		r->has |= VT_SPE_HAS_CONTEXT;
		break;
	case VT_SPE_OP:
		if (r->has & VT_SPE_HAS_OP)
			return false;
		r->op_class = k->index;
		r->op = k->payload;
		r->has |= VT_SPE_HAS_OP;
		break;
	case VT_SPE_ADDRESS:
		if (k->index >= VT_SPE_NADDRS)
			break;
		if (r->has & VT_SPE_HAS_ADDR(k->index))
			return false;
		r->addrs[k->index] = k->payload;
		r->has |= VT_SPE_HAS_ADDR(k->index);
		break;
	case VT_SPE_COUNTER:
		if (k->index >= VT_SPE_NCOUNTERS)
			break;
		if (r->has & VT_SPE_HAS_COUNTER(k->index))
			return false;
		r->counters[k->index] = k->payload;
		r->has |= VT_SPE_HAS_COUNTER(k->index);
		break;
	default:
		break;
	}
	return true;
}

int64_t vt_spe_record_read(struct vt_spe_record *r, const uint8_t *p, const uint8_t *end,
			   uint64_t offset)
{
	const uint8_t *at = p, *begin = NULL;
	struct vt_spe_packet k;
	int size;

	*r = (struct vt_spe_record){.has = 0};
	while (at < end) {
		if (*at == HEADER_PAD && !begin) {
			at++;
			continue;
		}
		size = vt_spe_packet_read(&k, at, end, offset + (uint64_t)(at - p));
		if (size < 0)
			return size;
		if (!begin && k.kind != VT_SPE_PAD)
			begin = at;
		if (!add_packet(r, &k) || (begin && at + size - begin > VT_SPE_MAX_RECORD))
			return VT_SPE_ENDLESS;
		at += size;
		if (k.kind == VT_SPE_END || k.kind == VT_SPE_TIMESTAMP)
			return at - p;
	}
	return begin ? VT_SPE_CUT : 0;
}

const uint8_t *vt_spe_resume(const uint8_t *p, const uint8_t *end, uint64_t offset)
{
	const uint32_t wanted = VT_SPE_HAS_ADDR(VT_SPE_PC) | VT_SPE_HAS_OP;
	const uint8_t *at, *next;
	const ptrdiff_t look = 2 * VT_SPE_MAX_RECORD; /* bounds the work */
	struct vt_spe_record r;
	int64_t size;

	for (at = p; at < end; at++) {
		if (*at != HEADER_END && *at != HEADER_TIMESTAMP)
			continue;
		next = at + (*at == HEADER_END ? 1 : 9);
		if (next > end)
			continue;
		size = vt_spe_record_read(&r, next, end - next < look ? end : next + look,
					  offset + (uint64_t)(next - p));
		if (size == 0 || (size > 0 && (r.has & wanted) == wanted))
			return next;
	}
	return end;
}
