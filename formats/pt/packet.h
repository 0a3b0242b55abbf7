/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_PACKET_H
#define FORMATS_PT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Packets of an Intel PT trace, one at a time.  Source: Intel SDM volume 3C, "Intel Processor
 * Trace", the section on packets.
 */

enum vt_pt_kind {
	VT_PT_PAD,
	VT_PT_PSB,
	VT_PT_PSBEND,
	VT_PT_TNT8,
	VT_PT_TNT64,
	VT_PT_TIP,
	VT_PT_TIP_PGE,
	VT_PT_TIP_PGD,
	VT_PT_FUP,
	VT_PT_MODE_EXEC,
	VT_PT_MODE_TSX,
	VT_PT_PIP,
	VT_PT_VMCS,
	VT_PT_TSC,
	VT_PT_TMA,
	VT_PT_MTC,
	VT_PT_CBR,
	VT_PT_CYC,
	VT_PT_OVF,
	VT_PT_STOP, /* TraceStop */
	VT_PT_MNT,
	VT_PT_PTW,
	VT_PT_EXSTOP,
	VT_PT_MWAIT,
	VT_PT_PWRE,
	VT_PT_PWRX,
	VT_PT_BBP, /* libipt 2.0.5 does not know this kind nor those after it */
	VT_PT_BIP,
	VT_PT_BEP,
	VT_PT_CFE,
	VT_PT_EVD,
	VT_PT_TRIG,
	VT_PT_NKINDS
};

/* A kind in a set of kinds. */
#define VT_PT_BIT(kind) (UINT64_C(1) << (kind))

#define VT_PT_PSB_SIZE	 16
#define VT_PT_MAX_PACKET 16 /* bytes */

/* How an address is compressed: the IPBytes field of TIP, TIP.PGE, TIP.PGD and FUP. */
enum vt_pt_ipc {
	VT_PT_IPC_SUPPRESSED = 0,
	VT_PT_IPC_UPDATE16 = 1,
	VT_PT_IPC_UPDATE32 = 2,
	VT_PT_IPC_SEXT48 = 3,
	VT_PT_IPC_UPDATE48 = 4,
	VT_PT_IPC_FULL = 6,
};

struct vt_pt_packet {
	uint8_t kind; /* enum vt_pt_kind */
	uint8_t size; /* bytes in the trace */
	uint8_t ipc;  /* of an address: enum vt_pt_ipc */
	/* TNT: how many decisions; PTW: bytes of the payload; BBP: 1 for small items; else 0. */
	uint8_t count;
	bool ip; /* PTW, EXSTOP, BEP, CFE, TRIG: a FUP with the address follows */
	/* PIP: nonroot; MODE.EXEC: interrupts are enabled; PWRE: entered by the hardware */
	bool flag;
	/*
	 * TNT: the decisions, the oldest in bit count-1 (taken: 1).  Addresses: the compressed
	 * bytes.  MODE.EXEC: 16, 32 or 64, the bits of the code; 0: the packet is contradictory.
	 * MODE.TSX: bit 0 in a transaction, bit 1 aborted.  PIP: CR3.  VMCS: its base.  TSC: 56
	 * bits.  TMA: the CTC, in `extra` the fast counter.  MTC: 8 bits.  CBR: the ratio.  CYC:
	 * cycles.  MNT, PTW: the value.  MWAIT: hints, in `extra` the extensions.  PWRE: state,
	 * sub-state in `extra`.  PWRX: last and deepest core C-state in bits 0-3 and 4-7, in
	 * `extra` the wake reason: bit 0 an interrupt, 1 a timer's deadline, 2 a store to the
	 * monitored address, 3 the hardware.  BBP: type; BIP: id, in `extra` the value.  CFE: type,
	 * in `extra` the vector.  EVD: type, in `extra` the payload.  TRIG: the trigger, in `extra`
	 * the number of instructions since.
	 */
	uint64_t payload;
	uint64_t extra;
};

/* What vt_pt_packet_read() returns for bytes that are no packet. */
#define VT_PT_CUT (-1) /* the trace ends inside the packet or before it */
#define VT_PT_BAD (-2) /* no such packet, or a malformed one */

/*
 * Reads the packet at p, before `end`.  Returns its size in bytes, VT_PT_CUT or VT_PT_BAD.  Inside
 * a block of BIP packets (after BBP, up to BEP or anything else) an item may look like another
 * packet: `bip` is 0 outside, 4 or 8 inside, the bytes of an item.
 */
int vt_pt_packet_read(struct vt_pt_packet *out, const uint8_t *p, const uint8_t *end, unsigned bip);

/*
 * Or-ed to `bip` for a processor with erratum SKZ84: in a guest whose TSC has an offset or is
 * scaled, a TMA is corrupted and followed by a bogus byte.  An invalid TMA is then read as 8 bytes
 * of padding, as in libipt 2.0.5; as fewer at the end of the trace.
 */
#define VT_PT_SKZ84 16U

/* The value of `bip` after packet p, from that before it. */
unsigned vt_pt_bip_after(unsigned bip, const struct vt_pt_packet *p);

/* The name of a kind, such as "TIP.PGE"; "?" for any other number. */
const char *vt_pt_kind_name(unsigned kind);

/*
 * Computes the address of a packet from the last address, which it replaces.  False if the address
 * is suppressed, or the compression unknown: *last is then unchanged.
 */
bool vt_pt_ip_update(uint64_t *last, const struct vt_pt_packet *p);

/*
 * The first PSB at or after p; NULL if there is none.  If the pattern continues beyond one PSB, its
 * last 16 bytes are the PSB.
 */
const uint8_t *vt_pt_find_psb(const uint8_t *p, const uint8_t *end);

#endif
