/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/cursor.h"

/* After a vain search over so many bytes the cursor stays there: no trace takes quadratic time. */
#define MAX_LOOKED 4096

/*
 * The errata of processors, as in libipt 2.0.5 and Intel's specification updates.  All are taken to
 * have BDM70 (engine.h).
 */
struct model {
	uint8_t model; /* of family 6 */
	unsigned errata;
};

#define BROADWELL (VTI_PT_BDM70 | VTI_PT_BDM64)
#define SKYLAKE	  (VTI_PT_BDM70 | VTI_PT_SKD007 | VTI_PT_SKD022 | VTI_PT_SKD010)
#define LATER	  (VTI_PT_BDM70 | VTI_PT_SKD022)
#define SERVER	  (LATER | VTI_PT_SKZ84)
#define APOLLO	  (VTI_PT_APL11 | VTI_PT_APL12)
#define ATOM	  VTI_PT_APL11
#define HYBRID	  (LATER | ATOM)

static const struct model models[] = {
	{0x3d, BROADWELL}, {0x47, BROADWELL}, {0x4f, BROADWELL}, {0x56, BROADWELL}, {0x4e, SKYLAKE},
	{0x5e, SKYLAKE},   {0x8e, SKYLAKE},   {0x9e, SKYLAKE},	 {0xa5, SKYLAKE},   {0xa6, SKYLAKE},
	{0x55, SERVER},	   {0x66, LATER},     {0x6a, SERVER},	 {0x6c, SERVER},    {0x7d, LATER},
	{0x7e, LATER},	   {0x8c, LATER},     {0x8d, LATER},	 {0x8f, SERVER},    {0xa7, LATER},
	{0xa8, LATER},	   {0x7a, ATOM},      {0x86, ATOM},	 {0x96, ATOM},	    {0x9c, ATOM},
	{0x97, HYBRID},	   {0x9a, HYBRID},    {0xbf, HYBRID},	 {0x5c, APOLLO},    {0x5f, APOLLO},
};

unsigned vti_pt_errata(const struct vt_pt_options *opt)
{
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (opt->family == 6 && models[i].model == opt->model)
			return models[i].errata | VTI_PT_BDM70;
	}
	return VTI_PT_BDM70;
}

bool vti_pt_hides_overflow(unsigned errata, const uint8_t *p, const uint8_t *end,
			   const struct vt_pt_packet *cyc)
{
	return errata & VTI_PT_SKD007 && cyc->kind == VT_PT_CYC && cyc->size == 2 &&
	       (cyc->payload & 0xffe0) == 0x20 && p + 2 < end && p[2] == 0xf3;
}

void vti_pt_cursor_init(struct vti_pt_cursor *c, const uint8_t *trace, size_t size,
			const struct vt_pt_options *opt)
{
	*c = (struct vti_pt_cursor){.begin = trace, .p = trace, .end = trace + size};
	c->errata = vti_pt_errata(opt);
	c->skz84 = c->errata & VTI_PT_SKZ84 ? VT_PT_SKZ84 : 0;
	vt_pt_timing_init(&c->timing, &opt->clock);
}

/*
 * Moves past the next packet of the wanted kinds, and returns it; NULL if one of the kinds `stop`
 * comes first, or `limit`.
 */
static const uint8_t *read_to_kind(struct vti_pt_cursor *c, uint64_t wanted, uint64_t stop,
				   const uint8_t *limit, struct vt_pt_packet *packet)
{
	while (c->p < limit) {
		const uint8_t *at = c->p;
		int size = vt_pt_packet_read(packet, c->p, c->end, c->bip | c->skz84);

		if (size <= 0)
			return NULL;
		if (vti_pt_hides_overflow(c->errata, c->p, c->end, packet)) {
			at++;
			size = 3;
			packet->kind = VT_PT_OVF;
		}
		c->p += size;
		c->bip = vt_pt_bip_after(c->bip, packet);
		if (packet->kind == VT_PT_OVF)
			vt_pt_timing_gap(&c->timing);
		vt_pt_timing_packet(&c->timing, packet);
		if (VT_PT_BIT(packet->kind) & wanted)
			return at;
		if (VT_PT_BIT(packet->kind) & stop)
			return NULL;
	}
	return NULL;
}

static const uint8_t *clamp_limit(const struct vti_pt_cursor *c, uint64_t offset)
{
	uint64_t size = (uint64_t)(c->end - c->begin);

	return c->begin + (offset < size ? offset : size);
}

void vti_pt_cursor_sync(struct vti_pt_cursor *c, uint64_t offset)
{
	vt_pt_timing_gap(&c->timing);
	vti_pt_cursor_begin(c, offset);
}

void vti_pt_cursor_warm(struct vti_pt_cursor *c, const uint8_t *from, const uint8_t *to)
{
	struct vt_pt_packet packet;

	c->p = from;
	read_to_kind(c, 0, 0, to, &packet);
}

void vti_pt_cursor_begin(struct vti_pt_cursor *c, uint64_t offset)
{
	struct vt_pt_packet packet;
	const uint8_t *at;

	c->p = clamp_limit(c, offset);
	c->bip = c->tnt = 0;
	c->pending_end = VT_PT_END_FALL;
	at = read_to_kind(c, VT_PT_BIT(VT_PT_PSBEND) | VT_PT_BIT(VT_PT_OVF), 0, c->end, &packet);
	/* An OVF ends the header, and is an event of its own. */
	if (at && packet.kind == VT_PT_OVF)
		c->p = at;
}

/*
 * Moves to the packet of a decision, or of an address.  A TNT packet may lie before the TIP of an
 * earlier branch: its decisions are kept.
 */
static bool find_decision(struct vti_pt_cursor *c, bool address, const uint8_t *limit,
			  struct vt_pt_packet *packet)
{
	uint64_t tnt = VT_PT_BIT(VT_PT_TNT8) | VT_PT_BIT(VT_PT_TNT64);
	uint64_t off = VT_PT_BIT(VT_PT_TIP_PGE) | VT_PT_BIT(VT_PT_TIP_PGD);
	struct vti_pt_cursor saved = *c;

	while (read_to_kind(c, tnt | VT_PT_BIT(VT_PT_TIP), off, limit, packet)) {
		if (packet->kind == VT_PT_TIP)
			return true;
		if (c->tnt)
			break;
		c->tnt = packet->count;
		if (address)
			continue;
		c->tnt--;
		return true;
	}
	*c = saved;
	return false;
}

bool vti_pt_cursor_decide(struct vti_pt_cursor *c, unsigned end, uint64_t limit)
{
	bool address = end != VT_PT_END_COND && end != VT_PT_END_RET;
	struct vt_pt_packet packet;

	c->pending_end = VT_PT_END_FALL;
	if (c->tnt && !address) {
		c->tnt--;
		return false;
	}
	if (find_decision(c, address, clamp_limit(c, limit), &packet))
		return true;
	c->pending_end = (uint8_t)end;
	return false;
}

bool vti_pt_cursor_decide_pending(struct vti_pt_cursor *c, uint64_t limit)
{
	return c->pending_end != VT_PT_END_FALL && vti_pt_cursor_decide(c, c->pending_end, limit);
}

bool vti_pt_cursor_suppressed(const struct vti_pt_cursor *c, unsigned end, uint64_t limit,
			      uint64_t *behind)
{
	struct vti_pt_cursor ahead = *c;
	bool address = end != VT_PT_END_COND && end != VT_PT_END_RET;
	struct vt_pt_packet packet;

	if (end < VT_PT_END_RET || (c->tnt && !address))
		return false;
	if (!find_decision(&ahead, address, clamp_limit(c, limit), &packet) ||
	    packet.kind != VT_PT_TIP || packet.ipc != VT_PT_IPC_SUPPRESSED)
		return false;
	*behind = (uint64_t)(ahead.p - c->begin);
	return true;
}

/*
 * Moves past the packet that a change of mode or address space is bound to, which comes later: the
 * end of tracing, which may have no event of its own, or the beginning, whose event comes first.
 */
static void pass_bound_packet(struct vti_pt_cursor *c, const uint8_t *limit)
{
	uint64_t bound = VT_PT_BIT(VT_PT_TIP) | VT_PT_BIT(VT_PT_TIP_PGE) | VT_PT_BIT(VT_PT_TIP_PGD);
	struct vti_pt_cursor saved = *c;
	struct vt_pt_packet packet;

	if (read_to_kind(c, bound, VT_PT_BIT(VT_PT_TNT8) | VT_PT_BIT(VT_PT_TNT64), limit, &packet))
		c->pending_end = VT_PT_END_FALL;
	else
		*c = saved;
}

/* Moves past the TIP that gives an OVF its address if the FUP is missing (SKD010). */
static void pass_address_packet(struct vti_pt_cursor *c, const uint8_t *limit)
{
	uint64_t others = VT_PT_BIT(VT_PT_FUP) | VT_PT_BIT(VT_PT_TIP_PGE) |
			  VT_PT_BIT(VT_PT_TIP_PGD) | VT_PT_BIT(VT_PT_TNT8) |
			  VT_PT_BIT(VT_PT_TNT64) | VT_PT_BIT(VT_PT_PSB) | VT_PT_BIT(VT_PT_OVF);
	struct vti_pt_cursor saved = *c;
	struct vt_pt_packet packet;

	if (!read_to_kind(c, VT_PT_BIT(VT_PT_TIP), others, limit, &packet))
		*c = saved;
}

uint64_t vti_pt_cursor_seek(struct vti_pt_cursor *c, uint64_t kinds, uint64_t limit)
{
	struct vti_pt_cursor saved = *c;
	struct vt_pt_packet packet;
	const uint8_t *at = read_to_kind(c, kinds, 0, clamp_limit(c, limit), &packet);

	if (!at && c->p - saved.p < MAX_LOOKED)
		*c = saved;
	else
		c->tnt = 0;
	if (kinds & (VT_PT_BIT(VT_PT_TIP) | VT_PT_BIT(VT_PT_TIP_PGE) | VT_PT_BIT(VT_PT_TIP_PGD) |
		     VT_PT_BIT(VT_PT_OVF)))
		c->pending_end = VT_PT_END_FALL;
	if (at &&
	    kinds & (VT_PT_BIT(VT_PT_MODE_EXEC) | VT_PT_BIT(VT_PT_PIP) | VT_PT_BIT(VT_PT_VMCS)))
		pass_bound_packet(c, clamp_limit(c, limit));
	if (at && kinds & VT_PT_BIT(VT_PT_OVF))
		pass_address_packet(c, clamp_limit(c, limit));
	return (uint64_t)((at ? at : c->p) - c->begin);
}

/* Each PSB found lies after the previous one, so no part of a trace is decoded twice. */
const uint8_t *vti_pt_resync(const uint8_t *begin, const uint8_t *end, const uint8_t *pos,
			     const uint8_t *sync)
{
	const uint8_t *first = sync ? sync + VT_PT_PSB_SIZE : begin;
	const uint8_t *from = pos - begin < VT_PT_PSB_SIZE ? begin : pos - VT_PT_PSB_SIZE + 1;

	return vt_pt_find_psb(from < first ? first : from, end);
}
