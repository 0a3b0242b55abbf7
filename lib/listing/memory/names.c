/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "image/demangle.h"
#include "image/lines.h"
#include "listing/code/source.h"
#include "listing/memory/internal.h"
#include "listing/memory/objects.h"

/* "make t.cc:8": the procedure of a return address and the line of its call. */
static void put_code_name(struct vt_buf *out, struct vt_images *images,
			  const struct vt_memory_place *p)
{
	const struct vt_image *image = vt_images_get(images, p->image);
	struct vt_location loc;
	struct vt_lines *lines;
	struct vt_line line;

	if (!image) {
		vt_buf_printf(out, "0x%" PRIx64, p->offset);
		return;
	}
	/* The call is the instruction before. */
	if (vt_images_symbol(images, p->image, 0, p->offset - 1, &loc) == VT_KNOWN)
		vt_buf_printf(out, "%s", vt_images_display(images, p->image, 0, loc.symbol));
	else
		vt_buf_printf(out, "%s+0x%" PRIx64, image->name, loc.vaddr + 1);
	lines = vt_images_lines(images, p->image);
	if (lines && vt_lines_at(lines, loc.vaddr, &line) && line.line)
		vt_buf_printf(out, " %s:%u", vt_source_name(line.file), line.line);
}

static void put_chain_name(struct vt_buf *out, struct vt_images *images,
			   const struct vt_memory_object *o)
{
	uint32_t i;

	for (i = 0; i < o->nplaces; i++) {
		if (i)
			vt_buf_printf(out, " < ");
		put_code_name(out, images, &o->places[i]);
	}
}

static void put_raw_name(struct vt_buf *out, const char *name)
{
	if (!vt_demangle(out, name, false))
		vt_buf_printf(out, "%s", name);
}

static void put_symbol_name(struct vt_buf *out, struct vt_images *images,
			    const struct vt_memory_object *o)
{
	const struct vt_memory_place *p = &o->places[0];
	const struct vt_image *image = vt_images_get(images, p->image);

	if (o->symbol)
		vt_buf_printf(out, "%s", vt_images_display(images, p->image, 0, o->symbol));
	else if (o->name)
		put_raw_name(out, o->name);
	else if (image)
		vt_buf_printf(out, "%s+0x%" PRIx64, image->name, p->offset);
	else
		vt_buf_printf(out, "0x%" PRIx64, p->offset);
}

void vt_memory_name(struct vt_buf *out, struct vt_images *images, const struct vt_memory_object *o)
{
	const struct vt_image *image =
		o->nplaces ? vt_images_get(images, o->places[0].image) : NULL;

	switch (o->type) {
	case VT_OBJECT_GLOBAL:
		put_symbol_name(out, images, o);
		break;
	case VT_OBJECT_STACK:
		if (o->nplaces)
			put_symbol_name(out, images, o);
		else
			vt_buf_printf(out, "[above all frames]");
		break;
	case VT_OBJECT_HEAP:
	case VT_OBJECT_MAPPED:
		put_chain_name(out, images, o);
		break;
	case VT_OBJECT_IMAGE:
		vt_buf_printf(out, "%s", image ? image->name : "?");
		if (*vt_memory_raw_name(o))
			vt_buf_printf(out, " %s", vt_memory_raw_name(o));
		break;
	case VT_OBJECT_FREE:
		vt_buf_printf(out, "[not allocated]");
		break;
	default:
		vt_buf_printf(out, "[%s]", vt_object_type_name(o->type));
		break;
	}
}

void vti_memlist_value(struct vt_table *t, struct vt_buf *text, uint64_t value, unsigned size,
		       bool people)
{
	const struct vt_value_style style = {.format = VT_VALUE_AUTO};
	const struct vt_number_type type = {
		.number = VT_NUMBER_UNSIGNED, .size = (uint8_t)size, .elements = 1};

	text->size = 0;
	if (people)
		vt_value_text(text, value, size, type, &style);
	else
		vt_buf_printf(text, value >> 32 ? "0x%" PRIx64 : "%" PRIu64, value);
	vt_table_str(t, vt_buf_str(text));
}

const char *vti_memlist_name(struct vt_buf *text, struct vt_images *images,
			     const struct vt_memory_object *o)
{
	text->size = 0;
	vt_memory_name(text, images, o);
	return vt_buf_str(text);
}
