/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pack/pack.h"

#include <stdlib.h>
#include <string.h>

#include "image/lines.h"
#include "pack/internal.h"
#include "stream/kinds.h"

/* Ranges of a file that are less apart are kept in one record, with what is between them. */
#define GAP 64

/* The records that lie somewhere. */
#define PLACED_KINDS                                                                               \
	(VT_KIND(VT_SAMPLE) | VT_KIND(VT_BLOCK) | VT_KIND(VT_EXEC) | VT_KIND(VT_VALUE) |           \
	 VT_KIND(VT_COUNT) | VT_KIND(VT_FREQ) | VT_KIND(VT_STALL) | VT_KIND(VT_EDGE) |             \
	 VT_KIND(VT_REGION) | VT_KIND(VT_MISPREDICT) | VT_KIND(VT_LOADS) | VT_KIND(VT_EVSTAT) |    \
	 VT_KIND(VT_PAIRSTAT) | VT_KIND(VT_PATH) | VT_KIND(VT_CONFLICT) | VT_KIND(VT_HOT) |        \
	 VT_KIND(VT_CHAIN) | VT_KIND(VT_OBJECT) | VT_KIND(VT_HEAP) | VT_KIND(VT_IMAGE))

struct vt_pack *vt_pack_new(struct vt_context *context)
{
	struct vt_pack *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->context = context;
	vt_hash_init(&p->places, sizeof(struct vti_place), offsetof(struct vti_place, hits));
	vt_hash_init(&p->loose, sizeof(struct vti_loose), sizeof(uint64_t));
	vt_hash_init(&p->done, sizeof(uint32_t), sizeof(uint32_t));
	vt_hash_init(&p->several, sizeof(uint32_t), sizeof(uint32_t));
	p->chain = vti_pack_new_chain();
	if (!p->chain) {
		vt_pack_free(p);
		return NULL;
	}
	vt_context_add(context, &(struct vt_consumer){.record = vti_pack_record,
						      .before = vti_pack_before,
						      .arg = p,
						      .kinds = PLACED_KINDS});
	return p;
}

void vt_pack_free(struct vt_pack *p)
{
	if (!p)
		return;
	vt_hash_fini(&p->places);
	vt_hash_fini(&p->loose);
	vt_hash_fini(&p->done);
	vt_hash_fini(&p->several);
	free(p->chain);
	free(p);
}

static int compare_places(const void *a, const void *b)
{
	const struct vti_place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

int vt_pack_finish(struct vt_pack *p, struct vt_error *err)
{
	uint64_t offset;
	uint32_t image;
	size_t i;

	for (i = 0; i < p->loose.count; i++) {
		const struct vti_loose *l = vt_hash_at(&p->loose, i);

		if (vt_context_find(p->context, l->address, &image, &offset) &&
		    vti_pack_hit(p, image, 0, offset, l->hits, err) < 0)
			return -VT_E_NOMEM;
	}
	if (p->places.count)
		qsort(p->places.entries, p->places.count, p->places.entry_size, compare_places);
	return 0;
}

/* ---- one image ---- */

static void kept_fini(struct vti_kept *k)
{
	free(k->procedures.v);
	free(k->points.v);
	free(k->file.v);
	vt_hash_fini(&k->names);
	vt_hash_fini(&k->ends);
}

/* Sorts a place into procedures and points. */
static bool keep_place(struct vti_kept *k, const struct vti_place *at)
{
	const struct vt_symbol *outer;
	struct vt_location loc;

	vt_images_symbol(k->images, at->image, at->pid, at->offset, &loc);
	if (!loc.symbol || !(at->hits & VTI_HIT_CODE) || loc.symbol->flags & VT_SYMBOL_OBJECT)
		return vti_spans_add(&k->points, loc.vaddr, loc.vaddr + 1);
	outer = vt_symbols_outermost(k->symbols, loc.symbol);
	return vti_spans_add(&k->procedures, outer->start, outer->end);
}

static bool keep_places(struct vti_kept *k, const struct vti_place *places, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!keep_place(k, &places[i]))
			return false;
	vti_spans_join(&k->procedures, 0);
	return true;
}

static void keep_needed(void *arg, uint64_t offset, uint64_t size)
{
	struct vti_kept *k = arg;

	k->nomem |= !vti_spans_add(&k->file, offset, offset + size);
}

static uint64_t file_flags(const struct vti_kept *k)
{
	uint64_t flags = 0;

	if (vt_images_verified(k->images, k->image))
		flags |= VT_FILE_VERIFIED;
	if (vt_images_changed(k->images, k->image))
		flags |= VT_FILE_CHANGED;
	if (vt_images_stripped(k->images, k->image))
		flags |= VT_FILE_STRIPPED;
	if (vt_images_lines(k->images, k->image))
		flags |= VT_FILE_LINES;
	return flags;
}

static bool write_kept(struct vt_pack *p, struct vti_kept *k, const struct vti_place *places,
		       size_t count, struct vt_writer *w)
{
	unsigned what = 0;
	size_t i;

	if (!keep_places(k, places, count) || !vti_pack_code(k))
		return false;
	if (k->elf && (p->stacks || k->procedures.count))
		what |= VT_ELF_FRAMES;
	if (k->elf && k->relocations)
		what |= VT_ELF_RELOCATIONS;
	if (k->elf)
		vt_elf_each_needed(k->elf, what, keep_needed, k);
	if (k->nomem)
		return false;
	vti_spans_join(&k->file, GAP);
	for (i = 0; i < k->file.count; i++)
		p->totals.bytes += k->file.v[i].end - k->file.v[i].first;
	p->totals.procedures += k->procedures.count;
	vti_pack_write_file(k, file_flags(k), w);
	vti_pack_write_symbols(k, w);
	vti_pack_write_lines(k, w);
	return true;
}

/* Packs the places of an image in one process, which are `count` in a row. */
static int pack_places(struct vt_pack *p, const struct vti_place *places, size_t count,
		       struct vt_writer *w, struct vt_error *err)
{
	struct vt_images *images = vt_context_images(p->context);
	struct vti_kept k = {.images = images, .image = places->image, .pid = places->pid};
	enum vt_unknown why;
	bool ok;

	k.symbols = vt_images_symbols(images, k.image, k.pid, &why);
	k.elf = vt_images_elf(images, k.image, &why);
	if (!k.symbols && !k.elf) {
		p->totals.missing++;
		return 0;
	}
	vt_hash_init(&k.names, sizeof(uint64_t), sizeof(uint64_t));
	vt_hash_init(&k.ends, sizeof(uint64_t), sizeof(uint64_t));
	p->totals.images++;
	ok = write_kept(p, &k, places, count, w);
	kept_fini(&k);
	return ok ? 0 : vt_error_nomem(err);
}

/* Whether the image is to be packed now; -VT_E_NOMEM. */
static int begin_image(struct vt_pack *p, uint32_t image, struct vt_error *err)
{
	bool added;

	if (vt_images_packed(vt_context_images(p->context), image))
		return 0;
	if (!vt_hash_add(&p->done, &image, &added))
		return vt_error_nomem(err);
	if (added && vt_hash_find(&p->several, &image)) {
		p->totals.redeclared++;
		return 0;
	}
	return added;
}

int vt_pack_write(struct vt_pack *p, uint32_t image, struct vt_writer *w, struct vt_error *err)
{
	const struct vti_place *places = (const struct vti_place *)p->places.entries;
	size_t low = 0, high = p->places.count, n;
	int code = begin_image(p, image, err);

	if (code <= 0)
		return code;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (places[mid].image < image)
			low = mid + 1;
		else
			high = mid;
	}
	for (code = 0; low < p->places.count && places[low].image == image && code == 0; low += n) {
		for (n = 1; low + n < p->places.count; n++)
			if (places[low + n].image != image ||
			    places[low + n].pid != places[low].pid)
				break;
		code = pack_places(p, &places[low], n, w, err);
	}
	return code;
}

const struct vt_pack_totals *vt_pack_totals(const struct vt_pack *p)
{
	return &p->totals;
}
