/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_FLAME_INTERNAL_H
#define VT_LISTING_FLAME_INTERNAL_H

#include "base/hash.h"
#include "listing/flame/flame.h"
#include "profile/share.h"

/* Pixels beside the frames. */
#define VTI_FLAME_MARGIN 12

static inline struct vt_flame_frame *vti_flame_frame(const struct vt_flame *f, size_t i)
{
	return vt_hash_at(&f->frames, i);
}

/* A colour, 0xRRGGBB, of a frame. */
uint32_t vti_flame_color(const struct vt_flame *f, const struct vt_flame_frame *frame);

/* The same of a kind, for the legend. */
uint32_t vti_flame_kind_color(enum vt_flame_kind kind);

/* A frame's share of a side's weight. */
struct vt_share vti_flame_share(const struct vt_flame *f, const struct vt_flame_frame *frame,
				int side);

/* What the picture does in a browser, and how its parts look. */
extern const char vti_flame_script[];
extern const char vti_flame_style[];

#endif
