/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/encode/putpacket.h"

#include <string.h>

#include "base/bytes.h"

/* Puts a little-endian number of `size` bytes. */
static uint8_t *put_le_number(uint8_t *to, uint64_t v, unsigned size)
{
	for (; size; size--, v >>= 8)
		*to++ = (uint8_t)v;
	return to;
}

/* Puts a packet with an opcode of two bytes. */
static uint8_t *put_extended(uint8_t *to, unsigned opcode, uint64_t payload, unsigned size)
{
	*to++ = 0x02;
	*to++ = (uint8_t)opcode;
	return put_le_number(to, payload, size);
}

static uint8_t *put_ip_packet(uint8_t *to, unsigned opcode, const struct vt_pt_packet *k)
{
	static const uint8_t sizes[8] = {0, 2, 4, 6, 6, 0, 8, 0};

	if (k->ipc > VT_PT_IPC_FULL || k->ipc == 5)
		return to;
	*to = (uint8_t)(opcode | (unsigned)k->ipc << 5);
	return put_le_number(to + 1, k->payload, sizes[k->ipc]);
}

static uint8_t *put_decisions(uint8_t *to, const struct vt_pt_packet *k, unsigned most)
{
	uint64_t bits = 1ull << (k->count & 63);

	if (!k->count || k->count > most)
		return to;
	bits |= k->payload & (bits - 1);
	if (k->kind == VT_PT_TNT64)
		return put_extended(to, 0xa3, bits, 6);
	*to = (uint8_t)(bits << 1);
	return to + 1;
}

/* MODE.Exec has CS.L and CS.D in bits 0 and 1, and IF in bit 2. */
static uint8_t *put_mode_packet(uint8_t *to, const struct vt_pt_packet *k)
{
	unsigned v = k->payload == 64 ? 1 : k->payload == 32 ? 2 : 0;

	*to++ = 0x99;
	*to++ = (uint8_t)(k->kind == VT_PT_MODE_TSX ? 0x20 | (k->payload & 3) : v | k->flag << 2);
	return to;
}

static uint8_t *put_cycles(uint8_t *to, uint64_t cycles)
{
	uint8_t byte = (uint8_t)((cycles & 31) << 3 | 3);
	uint64_t left = cycles >> 5;

	*to++ = (uint8_t)(byte | (left ? 4 : 0));
	for (; left; left >>= 7)
		*to++ = (uint8_t)((left & 127) << 1 | (left >> 7 ? 1 : 0));
	return to;
}

static uint8_t *put_psb(uint8_t *to)
{
	unsigned i;

	for (i = 0; i < VT_PT_PSB_SIZE; i += 2)
		to = put_extended(to, 0x82, 0, 0);
	return to;
}

static uint8_t *put_ptwrite(uint8_t *to, const struct vt_pt_packet *k)
{
	if (k->count != 4 && k->count != 8)
		return to;
	return put_extended(to, 0x12u | (k->count == 8 ? 0x20u : 0) | (k->ip ? 0x80u : 0),
			    k->payload, k->count);
}

/* Power states: the SDM counts them in bytes 2 and 3 of PWRE, and in byte 2 of PWRX. */
static uint8_t *put_power(uint8_t *to, const struct vt_pt_packet *k)
{
	if (k->kind == VT_PT_MWAIT)
		return put_extended(to, 0xc2, (k->payload & 0xffffffff) | k->extra << 32, 8);
	if (k->kind == VT_PT_PWRE)
		return put_extended(
			to, 0x22,
			(k->flag ? 0x80u : 0) | (k->payload & 15) << 12 | (k->extra & 15) << 8, 2);
	return put_extended(to, 0xa2,
			    (k->payload & 15) << 4 | (k->payload >> 4 & 15) | (k->extra & 15) << 8,
			    5);
}

/* Blocks of items, and events. */
static uint8_t *put_item(uint8_t *to, const struct vt_pt_packet *k)
{
	switch (k->kind) {
	case VT_PT_BBP:
		return put_extended(to, 0x63, (k->count == 1 ? 0x80u : 0) | (k->payload & 31), 1);
	case VT_PT_BIP:
		*to++ = (uint8_t)((k->payload & 31) << 3 | 4);
		return put_le_number(to, k->extra, k->size == 5 ? 4 : 8);
	case VT_PT_BEP:
		return put_extended(to, k->ip ? 0xb3 : 0x33, 0, 0);
	case VT_PT_CFE:
		return put_extended(
			to, 0x13, (k->ip ? 0x80u : 0) | (k->payload & 31) | (k->extra & 0xff) << 8,
			2);
	default:
		to = put_extended(to, 0x53, k->payload & 63, 1);
		return put_le_number(to, k->extra, 8);
	}
}

/* A TRIG with a count of instructions, or without. */
static uint8_t *put_trigger(uint8_t *to, const struct vt_pt_packet *k)
{
	bool counted = k->size == 5;

	*to++ = 0xd9;
	*to++ = (uint8_t)((k->ip ? 0x80 : 0) | (counted ? 0x40 : 0));
	to = put_le_number(to, k->payload, 1);
	return counted ? put_le_number(to, k->extra, 2) : to;
}

static uint8_t *put_time_packet(uint8_t *to, const struct vt_pt_packet *k)
{
	switch (k->kind) {
	case VT_PT_TSC:
		*to++ = 0x19;
		return put_le_number(to, k->payload, 7);
	case VT_PT_TMA:
		return put_extended(to, 0x73, (k->payload & 0xffff) | (k->extra & 0x1ff) << 24, 5);
	case VT_PT_MTC:
		*to++ = 0x59;
		return put_le_number(to, k->payload, 1);
	case VT_PT_CBR:
		return put_extended(to, 0x03, k->payload & 0xff, 2);
	default:
		return put_cycles(to, k->payload);
	}
}

uint8_t *vt_pt_packet_write(uint8_t *to, const struct vt_pt_packet *k)
{
	switch (k->kind) {
	case VT_PT_PAD:
		return put_le_number(to, 0, 1);
	case VT_PT_PSB:
		return put_psb(to);
	case VT_PT_PSBEND:
		return put_extended(to, 0x23, 0, 0);
	case VT_PT_TNT8:
		return put_decisions(to, k, 6);
	case VT_PT_TNT64:
		return put_decisions(to, k, 47);
	case VT_PT_TIP:
		return put_ip_packet(to, VT_PT_OP_TIP, k);
	case VT_PT_TIP_PGE:
		return put_ip_packet(to, VT_PT_OP_PGE, k);
	case VT_PT_TIP_PGD:
		return put_ip_packet(to, VT_PT_OP_PGD, k);
	case VT_PT_FUP:
		return put_ip_packet(to, VT_PT_OP_FUP, k);
	case VT_PT_MODE_EXEC:
	case VT_PT_MODE_TSX:
		return put_mode_packet(to, k);
	case VT_PT_PIP:
		return put_extended(to, 0x43, (k->payload >> 5 & 0x7fffffffffff) << 1 | k->flag, 6);
	case VT_PT_VMCS:
		return put_extended(to, 0xc8, k->payload >> 12, 5);
	case VT_PT_TSC:
	case VT_PT_TMA:
	case VT_PT_MTC:
	case VT_PT_CBR:
	case VT_PT_CYC:
		return put_time_packet(to, k);
	case VT_PT_OVF:
		return put_extended(to, 0xf3, 0, 0);
	case VT_PT_STOP:
		return put_extended(to, 0x83, 0, 0);
	case VT_PT_MNT:
		to = put_extended(to, 0xc3, 0x88, 1);
		return put_le_number(to, k->payload, 8);
	case VT_PT_PTW:
		return put_ptwrite(to, k);
	case VT_PT_EXSTOP:
		return put_extended(to, k->ip ? 0xe2 : 0x62, 0, 0);
	case VT_PT_MWAIT:
	case VT_PT_PWRE:
	case VT_PT_PWRX:
		return put_power(to, k);
	case VT_PT_BBP:
	case VT_PT_BIP:
	case VT_PT_BEP:
	case VT_PT_CFE:
	case VT_PT_EVD:
		return put_item(to, k);
	case VT_PT_TRIG:
		return put_trigger(to, k);
	default:
		return to;
	}
}
