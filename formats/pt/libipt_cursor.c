/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/libipt.h"
#include "formats/pt/packet.h"

#define BIT(kind) (UINT64_C(1) << (kind))

/* What is looked for in vain so far on is passed over: no trace takes quadratic time. */
#define MAX_LOOKED 4096

void vti_ipt_cursor_init(struct vti_ipt_cursor *c, const uint8_t *trace, size_t size,
			 const struct vt_pt_clock *clock)
{
	*c = (struct vti_ipt_cursor){.begin = trace, .p = trace, .end = trace + size};
	vt_pt_timing_init(&c->timing, clock);
}

/*
 * Reads on to a packet of the wanted kinds, which is returned and passed; NULL when one of the
 * kinds `stop` comes first, or `limit`.
 */
static const uint8_t *read_on(struct vti_ipt_cursor *c, uint64_t wanted, uint64_t stop,
			      const uint8_t *limit, struct vt_pt_packet *packet)
{
	while (c->p < limit) {
		const uint8_t *at = c->p;
		int size = vt_pt_packet_read(packet, c->p, c->end, c->bip);

		if (size <= 0)
			return NULL;
		c->p += size;
		if (packet->kind == VT_PT_BBP)
			c->bip = packet->count ? 4 : 8;
		else if (packet->kind != VT_PT_BIP)
			c->bip = 0;
		if (packet->kind == VT_PT_OVF)
			vt_pt_timing_gap(&c->timing);
		vt_pt_timing_packet(&c->timing, packet);
		if (BIT(packet->kind) & wanted)
			return at;
		if (BIT(packet->kind) & stop)
			return NULL;
	}
	return NULL;
}

static const uint8_t *limit_of(const struct vti_ipt_cursor *c, uint64_t offset)
{
	uint64_t size = (uint64_t)(c->end - c->begin);

	return c->begin + (offset < size ? offset : size);
}

void vti_ipt_cursor_sync(struct vti_ipt_cursor *c, uint64_t offset)
{
	struct vt_pt_packet packet;

	vt_pt_timing_gap(&c->timing);
	c->p = limit_of(c, offset);
	c->bip = c->tnt = 0;
	read_on(c, BIT(VT_PT_PSBEND), 0, c->end, &packet);
}

bool vti_ipt_cursor_decide(struct vti_ipt_cursor *c, uint64_t limit)
{
	struct vti_ipt_cursor saved;
	struct vt_pt_packet packet;

	if (c->tnt) {
		c->tnt--;
		return false;
	}
	saved = *c;
	if (!read_on(c, BIT(VT_PT_TNT8) | BIT(VT_PT_TNT64) | BIT(VT_PT_TIP),
		     BIT(VT_PT_TIP_PGE) | BIT(VT_PT_TIP_PGD), limit_of(c, limit), &packet)) {
		*c = saved;
		return false;
	}
	c->tnt = packet.kind == VT_PT_TIP ? 0 : packet.count - 1u;
	return true;
}

uint64_t vti_ipt_cursor_seek(struct vti_ipt_cursor *c, uint64_t kinds, uint64_t limit)
{
	struct vti_ipt_cursor saved = *c;
	struct vt_pt_packet packet;
	const uint8_t *at = read_on(c, kinds, 0, limit_of(c, limit), &packet);

	if (!at && c->p - saved.p < MAX_LOOKED)
		*c = saved;
	else
		c->tnt = 0;
	return (uint64_t)((at ? at : c->p) - c->begin);
}
