/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "listing/flame/internal.h"

/* A kind's colours: text is dark, so all are light; a name's hash picks among them. */
static const struct {
	uint8_t base[3];
	uint8_t range[3];
} palettes[VT_FLAME_NKINDS] = {
	[VT_FLAME_ALL] = {{214, 214, 214}, {1, 1, 1}},
	[VT_FLAME_USER] = {{236, 146, 84}, {18, 62, 30}},
	[VT_FLAME_KERNEL] = {{126, 178, 206}, {34, 34, 26}},
	[VT_FLAME_INLINED] = {{240, 218, 118}, {12, 22, 44}},
	[VT_FLAME_UNKNOWN] = {{190, 188, 186}, {20, 20, 20}},
};

static uint32_t mix(unsigned r, unsigned g, unsigned b)
{
	return r << 16 | g << 8 | b;
}

static uint32_t pick_color(enum vt_flame_kind kind, uint64_t hash)
{
	unsigned c[3];
	size_t i;

	for (i = 0; i < 3; i++)
		c[i] = palettes[kind].base[i] +
		       (unsigned)((hash >> (20 * i) & 0xfffff) % palettes[kind].range[i]);
	return mix(c[0], c[1], c[2]);
}

uint32_t vti_flame_kind_color(enum vt_flame_kind kind)
{
	return mix(palettes[kind].base[0] + palettes[kind].range[0] / 2u,
		   palettes[kind].base[1] + palettes[kind].range[1] / 2u,
		   palettes[kind].base[2] + palettes[kind].range[2] / 2u);
}

struct vt_share vti_flame_share(const struct vt_flame *f, const struct vt_flame_frame *frame,
				int side)
{
	double whole = (double)vti_flame_frame(f, 0)->total[side];

	return vt_share_of_part(whole > 0 ? (double)frame->total[side] / whole : 0,
				(double)f->samples[side]);
}

/* Red: the share has grown; blue: it has shrunk; grey: that may be chance. */
static uint32_t diff_color(const struct vt_flame *f, const struct vt_flame_frame *frame)
{
	struct vt_share a = vti_flame_share(f, frame, 0), b = vti_flame_share(f, frame, 1);
	double change = b.part - a.part, most = fmax(a.part, b.part);
	double strength = most > 0 ? fabs(change) / most : 0;
	unsigned fade = (unsigned)(150 * (0.3 + 0.7 * strength));

	if (frame->kind == VT_FLAME_ALL)
		return vti_flame_kind_color(VT_FLAME_ALL);
	if (f->how.sampled && a.known && b.known && a.low <= b.high && b.low <= a.high)
		return mix(232, 230, 226);
	return change > 0 ? mix(250, 250 - fade, 240 - fade)
			  : mix(240 - fade, 250 - fade * 2 / 3, 252);
}

uint32_t vti_flame_color(const struct vt_flame *f, const struct vt_flame_frame *frame)
{
	if (f->diff)
		return diff_color(f, frame);
	return pick_color(frame->kind, vt_hash_bytes(frame->name, strlen(frame->name)));
}
