/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Procedures of rankings, and what lies in none. */
#include <stdlib.h>

#include "base/escape.h"
#include "base/hash.h"
#include "profile/locate.h"

bool vt_procedure_of_rank(struct vt_images *images, const struct vt_rank *rank,
			  struct vt_procedure *out)
{
	enum vt_unknown why;
	struct vt_symbols *symbols;
	const struct vt_symbol *sym;

	if (rank->image == VT_UNMAPPED_IMAGE)
		return false;
	*out = (struct vt_procedure){.image = rank->image, .pid = rank->pid, .name = ""};
	symbols = vt_images_symbols(images, rank->image, rank->pid, &why);
	sym = symbols && *rank->symbol ? vt_symbols_find(symbols, rank->start) : NULL;
	if (sym && sym->start == rank->start) {
		out->start = sym->start;
		out->end = sym->end;
		out->symbol = sym->name;
		out->name = rank->procedure;
	} else {
		out->why = symbols ? VT_UNKNOWN_NO_SYMBOL : why;
	}
	return true;
}

/* ---- what lies in no procedure ---- */

/* Samples of an image that lie in no procedure. */
struct unknown_samples {
	uint64_t image;
	uint64_t samples;
	enum vt_unknown why;
};

static const struct unknown_samples *most_unknown(const struct vt_profile *p,
						  struct vt_images *images, size_t event,
						  struct vt_hash *unknown)
{
	const struct unknown_samples *most = NULL;
	size_t i, n = vt_profile_nplaces(p);

	for (i = 0; i < n; i++) {
		const struct vt_place *place = vt_profile_place(p, i);
		uint64_t image = place->image;
		struct vt_location loc;
		struct unknown_samples *u;
		bool added = false;

		if ((event != SIZE_MAX && place->event != event) || image == VT_UNMAPPED_IMAGE)
			continue;
		vt_images_symbol(images, place->image, place->pid, place->offset, &loc);
		u = loc.symbol ? NULL : vt_hash_add(unknown, &image, &added);
		if (!u)
			continue;
		if (added)
			*u = (struct unknown_samples){image, 0, loc.why};
		u->samples += place->samples;
	}
	for (i = 0; i < unknown->count; i++) {
		const struct unknown_samples *u = vt_hash_at(unknown, i);

		if (!most || u->samples > most->samples)
			most = u;
	}
	return most;
}

bool vt_locate_unknown(const struct vt_profile *p, struct vt_images *images, size_t event,
		       struct vt_buf *b)
{
	const struct vt_image *image;
	const struct unknown_samples *most;
	struct vt_hash unknown;

	vt_hash_init(&unknown, sizeof(struct unknown_samples), sizeof(uint64_t));
	most = most_unknown(p, images, event, &unknown);
	if (most) {
		image = vt_images_get(images, (uint32_t)most->image);
		vt_escape_str(b, image ? image->path : "?");
		vt_buf_printf(b, ": %s", vt_unknown_text(most->why));
	}
	vt_hash_fini(&unknown);
	return most != NULL;
}
