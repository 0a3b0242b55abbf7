/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/procdata.h"

#include <string.h>

#include "stream/kinds.h"

/* linux/perf_event.h, PERF_RECORD_MISC_USER; and sys/mman.h, PROT_EXEC: formats, not this host's.
 */
#define MODE_USER 2
#define CAN_EXEC  4

/* How far the code of an image may be from its other mappings: linkers make four or five. */
#define MAX_STEPS 8

/* An image and where it lies, as one of its mappings tells. */
struct place {
	const struct vt_imagedata *data;
	uint32_t image;
	uint64_t bias;
};

static bool place_of(struct vt_images *im, const struct vt_map *map, struct place *p)
{
	/* A recorder that does not tell protections tells of code only. */
	if ((map->type != VT_IMAGE_FILE && map->type != VT_IMAGE_VDSO) ||
	    (map->prot && !(map->prot & CAN_EXEC)))
		return false;
	p->image = map->image;
	p->data = vt_images_data(im, map->image);
	return p->data &&
	       vt_imagedata_bias(p->data, map->start, vt_map_offset(map, map->start), &p->bias);
}

static bool reaches(const struct place *p, uint64_t address)
{
	uint64_t first, end;

	vt_imagedata_span(p->data, &first, &end);
	return address - p->bias >= first && address - p->bias < end;
}

/* The code that a mapping of the same image belongs to, a few mappings further up or down. */
static bool find_code(struct vt_images *im, struct vt_addrspace *as, int32_t pid,
		      const struct vt_map *map, bool up, struct place *p)
{
	const struct vt_map *m = map, *next[2];
	unsigned i;

	for (i = 0; m && m->image == map->image && i < MAX_STEPS; i++) {
		if (place_of(im, m, p) && reaches(p, map->start))
			return true;
		if (up ? m->end == 0 : m->start == 0)
			return false;
		/* The first that starts above the one at hand, or the last below it. */
		vt_addrspace_around(as, pid, up ? m->start : m->start - 1, &next[0], &next[1]);
		m = next[up];
	}
	return false;
}

/* Whether a mapping has the byte of the file that belongs to the address. */
static bool agrees(struct vt_images *im, const struct vt_map *map, uint64_t address,
		   const struct place *p)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(im, p->image, &why);
	uint64_t offset;

	/* A segment may start or end inside the line. */
	if (elf && !vt_elf_vaddr_to_offset(elf, address - p->bias, &offset))
		address += VT_IMAGEDATA_LINE - 1;
	return elf && vt_elf_vaddr_to_offset(elf, address - p->bias, &offset) &&
	       offset == vt_map_offset(map, address);
}

static bool find_place(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t address,
		       struct place *p)
{
	const struct vt_map *map = vt_addrspace_find(as, pid, address, MODE_USER), *next[2];
	unsigned i;

	if (map)
		return (find_code(im, as, pid, map, false, p) ||
			find_code(im, as, pid, map, true, p)) &&
		       reaches(p, address) && agrees(im, map, address, p);
	vt_addrspace_around(as, pid, address, &next[0], &next[1]);
	for (i = 0; i < 2; i++)
		if (next[i] && place_of(im, next[i], p) && reaches(p, address))
			return true;
	return false;
}

uint64_t vt_procdata_line(struct vt_images *im, struct vt_addrspace *as, int32_t pid,
			  uint64_t address, bool relro, uint8_t bytes[VT_IMAGEDATA_LINE])
{
	struct place p;

	if (find_place(im, as, pid, address, &p))
		return vt_imagedata_line(p.data, p.bias, address, relro, bytes);
	memset(bytes, 0, VT_IMAGEDATA_LINE);
	return 0;
}

bool vt_procdata_find(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t address,
		      uint32_t *image, uint64_t *bias)
{
	struct place p;

	if (!find_place(im, as, pid, address, &p))
		return false;
	*image = p.image;
	*bias = p.bias;
	return true;
}

bool vt_procdata_return(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t pc,
			const struct vt_unwind_state *s, struct vt_return *f)
{
	struct vt_unwind *u;
	struct place p;

	if (!find_place(im, as, pid, pc, &p))
		return false;
	u = vt_images_unwind(im, p.image);
	if (!u || !vt_unwind_find(u, pc - p.bias, p.bias, s, f))
		return false;
	f->entry += p.bias;
	return true;
}
