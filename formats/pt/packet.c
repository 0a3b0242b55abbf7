/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/packet.h"

#include <string.h>

#include "base/bytes.h"

/* First bytes, and the masks under which they are recognised. */
enum {
	BYTE_PAD = 0x00,
	BYTE_EXTENDED = 0x02,
	BYTE_MTC = 0x59,
	BYTE_MODE = 0x99,
	BYTE_TSC = 0x19,
	BYTE_TRIG = 0xd9,
	BYTE_CYC = 0x03, /* in the bits of MASK_CYC */
	MASK_CYC = 0x03,
	BYTE_TIP = 0x0d, /* in the bits of MASK_IP */
	BYTE_TIP_PGE = 0x11,
	BYTE_TIP_PGD = 0x01,
	BYTE_FUP = 0x1d,
	MASK_IP = 0x1f,
	BYTE_BIP = 0x04, /* in the bits of MASK_BIP, inside a block */
	MASK_BIP = 0x07,
	THIRD_MNT = 0x88,
};

/* A packet whose first byte is BYTE_EXTENDED, by its second byte. */
struct extended {
	uint8_t kind;
	uint8_t size; /* 0: there is no such packet */
};

static const struct extended extended[256] = {
	[0x82] = {VT_PT_PSB, VT_PT_PSB_SIZE},
	[0x23] = {VT_PT_PSBEND, 2},
	[0xa3] = {VT_PT_TNT64, 8},
	[0x43] = {VT_PT_PIP, 8},
	[0xc8] = {VT_PT_VMCS, 7},
	[0x73] = {VT_PT_TMA, 7},
	[0x03] = {VT_PT_CBR, 4},
	[0xf3] = {VT_PT_OVF, 2},
	[0x83] = {VT_PT_STOP, 2},
	[0xc3] = {VT_PT_MNT, 11},
	[0x12] = {VT_PT_PTW, 6},
	[0x32] = {VT_PT_PTW, 10},
	[0x92] = {VT_PT_PTW, 6},
	[0xb2] = {VT_PT_PTW, 10},
	[0x62] = {VT_PT_EXSTOP, 2},
	[0xe2] = {VT_PT_EXSTOP, 2},
	[0xc2] = {VT_PT_MWAIT, 10},
	[0x22] = {VT_PT_PWRE, 4},
	[0xa2] = {VT_PT_PWRX, 7},
	[0x63] = {VT_PT_BBP, 3},
	[0x33] = {VT_PT_BEP, 2},
	[0xb3] = {VT_PT_BEP, 2},
	[0x13] = {VT_PT_CFE, 4},
	[0x53] = {VT_PT_EVD, 11},
};

/* Bytes of an address by enum vt_pt_ipc; NO_IPC: reserved. */
enum { NO_IPC = 255 };
static const uint8_t ip_bytes[8] = {0, 2, 4, 6, 6, NO_IPC, 8, NO_IPC};

/* A little-endian number of up to 8 bytes. */
static uint64_t read_le_number(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static int read_ip(struct vt_pt_packet *out, uint8_t kind, const uint8_t *p, const uint8_t *end)
{
	unsigned ipc = p[0] >> 5;
	unsigned bytes = ip_bytes[ipc];

	if (bytes == NO_IPC)
		return VT_PT_BAD;
	if ((size_t)(end - p) < 1 + bytes)
		return VT_PT_CUT;
	out->kind = kind;
	out->ipc = (uint8_t)ipc;
	out->payload = read_le_number(p + 1, bytes);
	return 1 + (int)bytes;
}

/* The highest 1 ends the decisions; there is at least one. */
static int read_tnt(struct vt_pt_packet *out, uint8_t kind, uint64_t bits, int size)
{
	unsigned n;

	if (bits < 2)
		return VT_PT_BAD;
	n = 63 - (unsigned)__builtin_clzll(bits);
	out->kind = kind;
	out->count = (uint8_t)n;
	out->payload = bits & ~(UINT64_C(1) << n);
	return size;
}

/* 5 bits in the first byte, 7 in each that follows; more than 64 are malformed. */
static int read_cyc(struct vt_pt_packet *out, const uint8_t *p, const uint8_t *end)
{
	uint64_t cycles = p[0] >> 3;
	unsigned bits = 5;
	bool more = p[0] & 4;
	int size = 1;

	while (more) {
		if (p + size == end)
			return VT_PT_CUT;
		if (bits + 7 > 64)
			return VT_PT_BAD;
		cycles |= (uint64_t)(p[size] >> 1) << bits;
		bits += 7;
		more = p[size++] & 1;
	}
	out->kind = VT_PT_CYC;
	out->payload = cycles;
	return size;
}

static int read_mode(struct vt_pt_packet *out, uint8_t mode)
{
	static const uint8_t bits[4] = {16, 64, 32, 0};

	switch (mode >> 5) {
	case 0:
		out->kind = VT_PT_MODE_EXEC;
		out->payload = bits[mode & 3];
		out->flag = mode & 4;
		return 2;
	case 1:
		out->kind = VT_PT_MODE_TSX;
		out->payload = mode & 3;
		return 2;
	default:
		return VT_PT_BAD;
	}
}

static int read_trig(struct vt_pt_packet *out, const uint8_t *p, const uint8_t *end)
{
	int size = p + 1 < end && p[1] & 0x40 ? 5 : 3;

	if (end - p < size)
		return VT_PT_CUT;
	out->kind = VT_PT_TRIG;
	out->ip = p[1] & 0x80;
	out->payload = p[2];
	out->extra = size == 5 ? vt_le16(p + 3) : 0;
	return size;
}

static bool is_psb(const uint8_t *p)
{
	static const uint8_t psb[VT_PT_PSB_SIZE] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
						    2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

	return !memcmp(p, psb, sizeof(psb));
}

/* Reads the payload p of a packet with an opcode of two bytes. */
static bool read_payload(struct vt_pt_packet *out, uint8_t second, const uint8_t *p)
{
	switch (out->kind) {
	case VT_PT_PSB:
		return is_psb(p - 2);
	case VT_PT_TNT64:
		return read_tnt(out, VT_PT_TNT64, read_le_number(p, 6), 1) > 0;
	case VT_PT_PIP:
		out->flag = p[0] & 1;
		out->payload = read_le_number(p, 6) >> 1 << 5;
		return true;
	case VT_PT_VMCS:
		out->payload = read_le_number(p, 5) << 12;
		return true;
	case VT_PT_TMA:
		out->payload = vt_le16(p);
		out->extra = vt_le16(p + 3);
		return !p[2] && out->extra < 512;
	case VT_PT_CBR:
		out->payload = p[0];
		return true;
	case VT_PT_MNT:
		out->payload = vt_le64(p + 1);
		return true;
	case VT_PT_PTW:
		out->count = second & 0x20 ? 8 : 4;
		out->payload = read_le_number(p, out->count);
		out->ip = second & 0x80;
		return true;
	case VT_PT_EXSTOP:
	case VT_PT_BEP:
		out->ip = second & 0x80;
		return true;
	case VT_PT_MWAIT:
		out->payload = vt_le32(p);
		out->extra = vt_le32(p + 4);
		return true;
	case VT_PT_PWRE:
		out->flag = p[0] & 0x80;
		out->payload = p[1] >> 4;
		out->extra = p[1] & 15;
		return true;
	case VT_PT_PWRX:
		out->payload = p[0] >> 4 | (p[0] & 15) << 4;
		out->extra = p[1] & 15;
		return true;
	case VT_PT_BBP:
		out->count = p[0] >> 7;
		out->payload = p[0] & 0x1f;
		return true;
	case VT_PT_CFE:
		out->ip = p[0] & 0x80;
		out->payload = p[0] & 0x1f;
		out->extra = p[1];
		return true;
	case VT_PT_EVD:
		out->payload = p[0] & 0x3f;
		out->extra = vt_le64(p + 1);
		return true;
	default:
		return true;
	}
}

static int read_extended(struct vt_pt_packet *out, const uint8_t *p, const uint8_t *end)
{
	const struct extended *x;

	if (end - p < 2)
		return VT_PT_CUT;
	x = &extended[p[1]];
	if (!x->size)
		return VT_PT_BAD;
	if (x->kind == VT_PT_MNT && end - p > 2 && p[2] != THIRD_MNT)
		return VT_PT_BAD;
	if (end - p < x->size)
		return VT_PT_CUT;
	out->kind = x->kind;
	return read_payload(out, p[1], p + 2) ? x->size : VT_PT_BAD;
}

static int read_bip(struct vt_pt_packet *out, const uint8_t *p, const uint8_t *end, unsigned bip)
{
	if ((size_t)(end - p) < 1 + bip)
		return VT_PT_CUT;
	out->kind = VT_PT_BIP;
	out->payload = p[0] >> 3;
	out->extra = read_le_number(p + 1, bip);
	return 1 + (int)bip;
}

static int read_any(struct vt_pt_packet *out, const uint8_t *p, const uint8_t *end, unsigned bip)
{
	uint8_t first = p[0];

	if (bip && (first & MASK_BIP) == BYTE_BIP)
		return read_bip(out, p, end, bip);
	if (first == BYTE_EXTENDED)
		return read_extended(out, p, end);
	if (first == BYTE_PAD)
		return 1;
	if (!(first & 1))
		return read_tnt(out, VT_PT_TNT8, first >> 1, 1);
	if ((first & MASK_CYC) == BYTE_CYC)
		return read_cyc(out, p, end);
	switch (first & MASK_IP) {
	case BYTE_TIP:
		return read_ip(out, VT_PT_TIP, p, end);
	case BYTE_TIP_PGE:
		return read_ip(out, VT_PT_TIP_PGE, p, end);
	case BYTE_TIP_PGD:
		return read_ip(out, VT_PT_TIP_PGD, p, end);
	case BYTE_FUP:
		return read_ip(out, VT_PT_FUP, p, end);
	default:
		break;
	}
	switch (first) {
	case BYTE_TSC:
		if (end - p < 8)
			return VT_PT_CUT;
		out->kind = VT_PT_TSC;
		out->payload = vt_le64(p) >> 8;
		return 8;
	case BYTE_MTC:
		if (end - p < 2)
			return VT_PT_CUT;
		out->kind = VT_PT_MTC;
		out->payload = p[1];
		return 2;
	case BYTE_MODE:
		return end - p < 2 ? VT_PT_CUT : read_mode(out, p[1]);
	case BYTE_TRIG:
		return read_trig(out, p, end);
	default:
		return VT_PT_BAD;
	}
}

int vt_pt_packet_read(struct vt_pt_packet *out, const uint8_t *p, const uint8_t *end, unsigned bip)
{
	int size;

	*out = (struct vt_pt_packet){.kind = VT_PT_PAD};
	if (p >= end)
		return VT_PT_CUT;
	size = read_any(out, p, end, bip & ~VT_PT_SKZ84);
	if (size == VT_PT_BAD && bip & VT_PT_SKZ84 && p[0] == 0x02 && p[1] == 0x73) {
		*out = (struct vt_pt_packet){.kind = VT_PT_PAD};
		size = end - p < 8 ? (int)(end - p) : 8;
	}
	if (size > 0)
		out->size = (uint8_t)size;
	return size;
}

unsigned vt_pt_bip_after(unsigned bip, const struct vt_pt_packet *p)
{
	switch (p->kind) {
	case VT_PT_BBP:
		return p->count ? 4 : 8;
	case VT_PT_BIP:
	case VT_PT_PAD:
	case VT_PT_TSC:
	case VT_PT_TMA:
	case VT_PT_MTC:
	case VT_PT_CBR:
	case VT_PT_CYC:
	case VT_PT_MNT:
	case VT_PT_FUP:
		return bip;
	default:
		return 0;
	}
}

const char *vt_pt_kind_name(unsigned kind)
{
	static const char *const names[VT_PT_NKINDS] = {
		[VT_PT_PAD] = "PAD",	       [VT_PT_PSB] = "PSB",
		[VT_PT_PSBEND] = "PSBEND",     [VT_PT_TNT8] = "TNT-8",
		[VT_PT_TNT64] = "TNT-64",      [VT_PT_TIP] = "TIP",
		[VT_PT_TIP_PGE] = "TIP.PGE",   [VT_PT_TIP_PGD] = "TIP.PGD",
		[VT_PT_FUP] = "FUP",	       [VT_PT_MODE_EXEC] = "MODE.Exec",
		[VT_PT_MODE_TSX] = "MODE.TSX", [VT_PT_PIP] = "PIP",
		[VT_PT_VMCS] = "VMCS",	       [VT_PT_TSC] = "TSC",
		[VT_PT_TMA] = "TMA",	       [VT_PT_MTC] = "MTC",
		[VT_PT_CBR] = "CBR",	       [VT_PT_CYC] = "CYC",
		[VT_PT_OVF] = "OVF",	       [VT_PT_STOP] = "TraceStop",
		[VT_PT_MNT] = "MNT",	       [VT_PT_PTW] = "PTW",
		[VT_PT_EXSTOP] = "EXSTOP",     [VT_PT_MWAIT] = "MWAIT",
		[VT_PT_PWRE] = "PWRE",	       [VT_PT_PWRX] = "PWRX",
		[VT_PT_BBP] = "BBP",	       [VT_PT_BIP] = "BIP",
		[VT_PT_BEP] = "BEP",	       [VT_PT_CFE] = "CFE",
		[VT_PT_EVD] = "EVD",	       [VT_PT_TRIG] = "TRIG",
	};

	return kind < VT_PT_NKINDS ? names[kind] : "?";
}

bool vt_pt_ip_update(uint64_t *last, const struct vt_pt_packet *p)
{
	static const unsigned kept[8] = {
		[VT_PT_IPC_UPDATE16] = 16,
		[VT_PT_IPC_UPDATE32] = 32,
		[VT_PT_IPC_UPDATE48] = 48,
	};
	unsigned low = kept[p->ipc & 7];

	switch (p->ipc) {
	case VT_PT_IPC_UPDATE16:
	case VT_PT_IPC_UPDATE32:
	case VT_PT_IPC_UPDATE48:
		*last = *last >> low << low | p->payload;
		return true;
	case VT_PT_IPC_SEXT48:
		*last = p->payload & UINT64_C(1) << 47 ? p->payload | UINT64_C(0xffff) << 48
						       : p->payload;
		return true;
	case VT_PT_IPC_FULL:
		*last = p->payload;
		return true;
	default:
		return false;
	}
}

/* Any PSB contains a whole word of 8 bytes at a multiple of 8 from p: only these are checked. */
const uint8_t *vt_pt_find_psb(const uint8_t *p, const uint8_t *end)
{
	const uint64_t even = UINT64_C(0x8202820282028202), odd = UINT64_C(0x0282028202820282);
	size_t size = p && p < end ? (size_t)(end - p) : 0;
	size_t at, from, last;

	for (at = 0; at + 8 <= size; at += 8) {
		uint64_t word = vt_le64(p + at);

		if (word != even && word != odd)
			continue;
		from = at < 7 ? 0 : at - 7;
		for (last = at; from <= last && from + VT_PT_PSB_SIZE <= size; from++) {
			if (!is_psb(p + from))
				continue;
			while (from + 2 + VT_PT_PSB_SIZE <= size && is_psb(p + from + 2))
				from += 2;
			return p + from;
		}
	}
	return NULL;
}
