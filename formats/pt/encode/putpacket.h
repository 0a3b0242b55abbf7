/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_ENCODE_PUTPACKET_H
#define FORMATS_PT_ENCODE_PUTPACKET_H

#include <stdint.h>

#include "base/bytes.h"
#include "formats/pt/packet.h"

/* Writes packets: the reverse of formats/pt/packet.h, from the same manual. */

/*
 * Writes a packet of any kind; `to` has room for VT_PT_MAX_PACKET bytes.  Uses all fields of `k`
 * that vt_pt_packet_read() sets; `size` only for BIP and TRIG, which have two sizes.  Values are
 * truncated to their field in the packet.  Returns the end of the packet; `to` itself if the kind,
 * count or compression is invalid.
 */
uint8_t *vt_pt_packet_write(uint8_t *to, const struct vt_pt_packet *k);

/* The low five bits of packets with an address; its compression is in the upper three. */
#define VT_PT_OP_TIP 0x0d
#define VT_PT_OP_PGE 0x11
#define VT_PT_OP_PGD 0x01
#define VT_PT_OP_FUP 0x1d

/* The shortest compression of an address after another one. */
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
 * Puts a packet with one of the opcodes above, with the shortest compression.  It has at most 9
 * bytes; 7 bytes after it may be overwritten.
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
 * Puts a TNT packet.  `bits` are the decisions, the oldest highest, below a 1.  Without decisions
 * puts nothing; up to 6 take 1 byte, else 8.
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
