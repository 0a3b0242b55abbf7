/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_GRAPHS_H
#define TESTS_UNIT_COMMON_GRAPHS_H

#include "flow/cfg.h"
#include "image/images.h"

/* The graph of the procedure at [start, end) of an image, for vt_cfg_free(); NULL: it has no code.
 */
static inline struct vt_cfg *image_graph(struct vt_images *images, uint32_t image, uint64_t start,
					 uint64_t end, struct vt_error *err)
{
	struct vt_cfg_source src = {.start = start, .images = images, .image = image};
	enum vt_unknown why;
	const struct vt_elf *e = vt_images_elf(images, image, &why);

	src.code = e ? vt_elf_bytes(e, start, &src.size) : NULL;
	if (!src.code)
		return NULL;
	if (src.size > end - start)
		src.size = (size_t)(end - start);
	return vt_cfg_new(&src, err);
}

#endif
