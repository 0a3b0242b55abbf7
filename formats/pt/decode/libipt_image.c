/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <intel-pt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "formats/pt/decode/libipt.h"

struct vti_ipt_images {
	struct pt_image_section_cache *caches[VTI_IPT_MODES];
	struct vti_ipt_image *all;
	size_t n;
	size_t cap;
};

struct vti_ipt_images *vti_ipt_images_new(void)
{
	struct vti_ipt_images *s = calloc(1, sizeof(*s));
	unsigned i;

	for (i = 0; s && i < VTI_IPT_MODES; i++) {
		s->caches[i] = pt_iscache_alloc(NULL);
		/* libipt keeps decoded blocks of a section while it is mapped: keep all mapped. */
		if (!s->caches[i] || pt_iscache_set_limit(s->caches[i], UINT64_MAX) < 0) {
			vti_ipt_images_free(s);
			return NULL;
		}
	}
	return s;
}

static void free_code_images(struct vti_ipt_image *m)
{
	unsigned i;

	for (i = 0; i < VTI_IPT_MODES; i++) {
		pt_image_free(m->images[i]);
		m->images[i] = NULL;
	}
}

void vti_ipt_images_free(struct vti_ipt_images *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n; i++) {
		free_code_images(&s->all[i]);
		vt_pt_blocks_free(s->all[i].blocks);
	}
	free(s->all);
	for (i = 0; i < VTI_IPT_MODES; i++)
		pt_iscache_free(s->caches[i]);
	free(s);
}

/* Reads code that libipt finds in no file: compressed images, the kernel's code, … */
static int read_code_bytes(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
			   void *context)
{
	size_t n = vt_pt_code_read(context, ip, buffer, size < INT_MAX ? size : INT_MAX);

	(void)asid;
	return n ? (int)n : -pte_nomap;
}

static struct pt_image *make_libipt_image(struct pt_image_section_cache *cache,
					  const struct vt_pt_code *code)
{
	struct pt_image *image = pt_image_alloc(NULL);
	size_t i, n = vt_pt_code_count(code);
	void *context;

	if (!image)
		return NULL;
	for (i = 0; i < n; i++) {
		const struct vt_pt_section *k = vt_pt_code_section(code, i);
		int id;

		if (!k->path)
			continue;
		id = pt_iscache_add_file(cache, k->path, k->offset, k->size, k->start);
		/* If the file is gone, read_code_bytes() finds the bytes in the section. */
		if (id > 0)
			pt_image_add_cached(image, cache, id, NULL);
	}
	memcpy(&context, &code, sizeof(context));
	pt_image_set_callback(image, read_code_bytes, context);
	return image;
}

static struct vti_ipt_image *add_code_images(struct vti_ipt_images *s,
					     const struct vt_pt_code *code)
{
	struct vti_ipt_image *m;

	if (!vt_array_grow(&s->all, &s->cap, s->n + 1, sizeof(*s->all)))
		return NULL;
	m = &s->all[s->n];
	*m = (struct vti_ipt_image){.code = code, .blocks = vt_pt_blocks_new(code)};
	if (!m->blocks)
		return NULL;
	s->n++;
	return m;
}

struct vti_ipt_image *vti_ipt_image_of(struct vti_ipt_images *s, const struct vt_pt_code *code,
				       unsigned mode, struct pt_image **image)
{
	unsigned which = mode == 64 ? 2 : mode == 32;
	struct vti_ipt_image *m = NULL;
	size_t i;

	for (i = 0; i < s->n && !m; i++) {
		if (s->all[i].code == code)
			m = &s->all[i];
	}
	if (!m)
		m = add_code_images(s, code);
	if (!m)
		return NULL;
	if (m->generation != vt_pt_code_generation(code))
		free_code_images(m);
	m->generation = vt_pt_code_generation(code);
	if (!m->images[which])
		m->images[which] = make_libipt_image(s->caches[which], code);
	*image = m->images[which];
	return *image ? m : NULL;
}
