/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_PT_SAME_H
#define TESTS_PT_SAME_H

#include <intel-pt.h>

#include <string.h>

#include "formats/pt/decode/scan.h"
#include "formats/pt/packet.h"

/*
 * One packet as libipt reads it against the same as we do.  libipt's decoder is the caller's, and
 * stands at p.
 */

/* What libipt says in our terms: a size, VT_PT_CUT or VT_PT_BAD. */
static inline int pt_libipt_size(int size)
{
	return size > 0 ? size : size == -pte_eos ? VT_PT_CUT : VT_PT_BAD;
}

static inline bool pt_same_mode(const struct vt_pt_packet *v, const struct pt_packet_mode *m)
{
	if (m->leaf == pt_mol_tsx)
		return v->kind == VT_PT_MODE_TSX &&
		       v->payload == (m->bits.tsx.intx | (unsigned)m->bits.tsx.abrt << 1);
	switch (pt_get_exec_mode(&m->bits.exec)) {
	case ptem_16bit:
		return v->kind == VT_PT_MODE_EXEC && v->payload == 16;
	case ptem_32bit:
		return v->kind == VT_PT_MODE_EXEC && v->payload == 32;
	case ptem_64bit:
		return v->kind == VT_PT_MODE_EXEC && v->payload == 64;
	default:
		return v->kind == VT_PT_MODE_EXEC && v->payload == 0;
	}
}

static inline bool pt_same_power(const struct vt_pt_packet *v, const struct pt_packet *p)
{
	if (p->type == ppt_pwre)
		return v->kind == VT_PT_PWRE && v->payload == p->payload.pwre.state &&
		       v->extra == p->payload.pwre.sub_state;
	return v->kind == VT_PT_PWRX &&
	       v->payload == (p->payload.pwrx.last | (unsigned)p->payload.pwrx.deepest << 4) &&
	       (v->extra & 13) ==
		       (p->payload.pwrx.interrupt | (unsigned)p->payload.pwrx.store << 2 |
			(unsigned)p->payload.pwrx.autonomous << 3);
}

static inline bool pt_same_content(const struct vt_pt_packet *v, const struct pt_packet *p)
{
	static const struct {
		enum pt_packet_type type;
		enum vt_pt_kind kind;
	} ips[] = {{ppt_fup, VT_PT_FUP},
		   {ppt_tip, VT_PT_TIP},
		   {ppt_tip_pge, VT_PT_TIP_PGE},
		   {ppt_tip_pgd, VT_PT_TIP_PGD}};
	size_t i;

	for (i = 0; i < sizeof(ips) / sizeof(ips[0]); i++)
		if (p->type == ips[i].type)
			return v->kind == ips[i].kind && v->ipc == p->payload.ip.ipc &&
			       v->payload == p->payload.ip.ip;
	switch (p->type) {
	case ppt_pad:
		return v->kind == VT_PT_PAD;
	case ppt_psb:
		return v->kind == VT_PT_PSB;
	case ppt_psbend:
		return v->kind == VT_PT_PSBEND;
	case ppt_tnt_8:
	case ppt_tnt_64:
		return v->kind == (p->type == ppt_tnt_8 ? VT_PT_TNT8 : VT_PT_TNT64) &&
		       v->count == p->payload.tnt.bit_size && v->payload == p->payload.tnt.payload;
	case ppt_mode:
		return pt_same_mode(v, &p->payload.mode);
	case ppt_pip:
		return v->kind == VT_PT_PIP && v->payload == p->payload.pip.cr3 &&
		       v->flag == p->payload.pip.nr;
	case ppt_vmcs:
		return v->kind == VT_PT_VMCS && v->payload == p->payload.vmcs.base;
	case ppt_cbr:
		return v->kind == VT_PT_CBR && v->payload == p->payload.cbr.ratio;
	case ppt_tsc:
		return v->kind == VT_PT_TSC && v->payload == p->payload.tsc.tsc;
	case ppt_tma:
		return v->kind == VT_PT_TMA && v->payload == p->payload.tma.ctc &&
		       v->extra == p->payload.tma.fc;
	case ppt_mtc:
		return v->kind == VT_PT_MTC && v->payload == p->payload.mtc.ctc;
	case ppt_cyc:
		return v->kind == VT_PT_CYC && v->payload == p->payload.cyc.value;
	case ppt_stop:
		return v->kind == VT_PT_STOP;
	case ppt_ovf:
		return v->kind == VT_PT_OVF;
	case ppt_mnt:
		return v->kind == VT_PT_MNT && v->payload == p->payload.mnt.payload;
	case ppt_exstop:
		return v->kind == VT_PT_EXSTOP && v->ip == p->payload.exstop.ip;
	case ppt_mwait:
		return v->kind == VT_PT_MWAIT && v->payload == p->payload.mwait.hints &&
		       v->extra == p->payload.mwait.ext;
	case ppt_pwre:
	case ppt_pwrx:
		return pt_same_power(v, p);
	case ppt_ptw:
		return v->kind == VT_PT_PTW && v->payload == p->payload.ptw.payload &&
		       v->count == (p->payload.ptw.plc ? 8 : 4) && v->ip == p->payload.ptw.ip;
	default:
		return false;
	}
}

/* True when bytes that we take for a packet, or the start of one, have an opcode new to libipt. */
static inline bool pt_is_new(const uint8_t *p, const uint8_t *end)
{
	if (*p == 0xd9)
		return true;
	if (*p != 2 || end - p < 2)
		return false;
	return p[1] == 0x63 || p[1] == 0x33 || p[1] == 0xb3 || p[1] == 0x13 || p[1] == 0x53;
}

/* *size is what we say of the packet at p. */
static inline bool pt_same(struct pt_packet_decoder *d, const uint8_t *p, const uint8_t *end,
			   struct vt_pt_packet *v, int *size)
{
	struct pt_packet packet;
	int want = pt_libipt_size(pt_pkt_next(d, &packet, sizeof(packet)));

	*size = vt_pt_packet_read(v, p, end, 0);
	if (p < end && pt_is_new(p, end))
		return want == VT_PT_BAD && (*size < 0 || v->kind >= VT_PT_BBP);
	if (*size != want)
		return false;
	return *size < 0 || (v->size == *size && pt_same_content(v, &packet));
}

/* Whether two ways of counting came to the same. */
static inline bool pt_same_scan(const struct vt_pt_scan *a, const struct vt_pt_scan *b)
{
	size_t i;

	for (i = 0; i < VT_PT_SCAN_PLACES; i++) {
		if (a->bad[i].offset != b->bad[i].offset || a->bad[i].bytes != b->bad[i].bytes ||
		    a->bad[i].cut != b->bad[i].cut)
			return false;
	}
	return !memcmp(a->count, b->count, sizeof(a->count)) &&
	       !memcmp(a->bytes, b->bytes, sizeof(a->bytes)) && a->packets == b->packets &&
	       a->size == b->size && a->before == b->before && a->places == b->places &&
	       a->bad_bytes == b->bad_bytes && a->decisions == b->decisions &&
	       a->taken == b->taken && a->first_tsc == b->first_tsc && a->min_cbr == b->min_cbr &&
	       a->max_cbr == b->max_cbr && a->timing.tsc == b->timing.tsc &&
	       a->timing.cycles == b->timing.cycles && a->timing.lost == b->timing.lost;
}

#endif
