/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_ENCODE_PUTPACKET_H
#define FORMATS_PT_ENCODE_PUTPACKET_H

#include <stdint.h>

#include "base/bytes.h"
#include "formats/pt/packet.h"

/*
 * Writes packets: the reverse of formats/pt/packet.h, and of the same manual.
 */

/*
 * Writes a packet of any kind; `to` has room for VT_PT_MAX_PACKET bytes.  Of `k`, all fields count
 * that vt_pt_packet_read() sets; `size` only for BIP and TRIG, which have two.  What does not fit
 * its field in the packet is cut off.  Returns where the next one goes; `to` itself when the kind,
 * or the count or compression, is none.
 */
uint8_t *vt_pt_packet_write(uint8_t *to, const struct vt_pt_packet *k);

/* Opcodes in the low five bits of packets with an address; its compression is in the upper three.
 */
#define VT_PT_OP_TIP 0x0d
#define VT_PT_OP_PGE 0x11
#define VT_PT_OP_PGD 0x01
#define VT_PT_OP_FUP 0x1d

/* The shortest way to tell an address behind another one. */
static inline enum vt_pt_ipc vt_pt_ip_compress(uint64_t last, uint64_t ip)
{
	uint64_t differs = last ^ ip;

	if (!(differs >> 16))
		return VT_PT_IPC_UPDATE16;
	if (!(differs >> 32))
		return VT_PT_IPC_UPDATE32;
	return (uint64_t)((int64_t)(ip << 16) >> 16) == ip ? VT_PT_IPC_SEXT48 : VT_PT_IPC_FULL;
}

/*
 * The same as a packet with one of the opcodes above: at most 9 bytes, behind which 7 more may be
 * overwritten.
 */
static inline uint8_t *vt_pt_put_ip(uint8_t *to, unsigned opcode, uint64_t *last, uint64_t ip)
{
	enum vt_pt_ipc ipc = vt_pt_ip_compress(*last, ip);

	*last = ip;
	*to = (uint8_t)(opcode | (unsigned)ipc << 5);
	vt_put_le64(to + 1, ip);
	return to + (ipc == VT_PT_IPC_FULL ? 9 : 1 + 2 * (unsigned)ipc);
}

/*
 * Decisions, the oldest highest, below a 1: as they lie in a TNT packet.  None are written as
 * nothing; up to 6 take 1 byte, else 8.
 */
static inline uint8_t *vt_pt_put_tnt(uint8_t *to, uint64_t bits)
{
	if (bits < 128) {
		*to = (uint8_t)(bits << 1);
		return to + (bits > 1);
	}
	vt_put_le64(to, bits << 16 | 0xa302);
	return to + 8;
}

#endif
