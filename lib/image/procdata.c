/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/procdata.h"

#include <string.h>

#include "stream/kinds.h"

/* PERF_RECORD_MISC_USER of linux/perf_event.h and PROT_EXEC of sys/mman.h, as recorded. */
#define MODE_USER 2
#define CAN_EXEC  4

/* Maximum distance, in mappings, of an image's code from its others; linkers make four or five. */
#define MAX_STEPS 8

#define PAGE UINT64_C(4096)

/* An image and its load bias according to one of its mappings. */
struct image_place {
	const struct vt_imagedata *data;
	uint32_t image;
	uint64_t bias;
};

const struct vt_imagedata *vt_procdata_code(struct vt_images *im, const struct vt_map *map,
					    uint64_t *bias)
{
	const struct vt_imagedata *data = vt_images_data(im, map->image);

	if (!data || !vt_imagedata_bias(data, map->start, vt_map_offset(map, map->start), bias))
		return NULL;
	return data;
}

static bool get_image_place(struct vt_images *im, const struct vt_map *map, struct image_place *p)
{
	/* Recorders without protections record only code. */
	if ((map->type != VT_IMAGE_FILE && map->type != VT_IMAGE_VDSO) ||
	    (map->prot && !(map->prot & CAN_EXEC)))
		return false;
	p->image = map->image;
	p->data = vt_procdata_code(im, map, &p->bias);
	return p->data != NULL;
}

static bool covers_address(const struct image_place *p, uint64_t address)
{
	uint64_t first, end;

	vt_imagedata_span(p->data, &first, &end);
	return address - p->bias >= first && address - p->bias < end;
}

/* Finds the code of a mapping's image among the next few mappings up or down. */
static bool find_code_mapping(struct vt_images *im, struct vt_addrspace *as, int32_t pid,
			      const struct vt_map *map, bool up, struct image_place *p)
{
	const struct vt_map *m = map, *next[2];
	unsigned i;

	for (i = 0; m && m->image == map->image && i < MAX_STEPS; i++) {
		if (get_image_place(im, m, p) && covers_address(p, map->start))
			return true;
		if (up ? m->end == 0 : m->start == 0)
			return false;
		/* The first mapping that starts above this one, or the last below it. */
		vt_addrspace_around(as, pid, up ? m->start : m->start - 1, &next[0], &next[1]);
		m = next[up];
	}
	return false;
}

/* Returns true if a mapping maps the byte of the file that the image has at the address. */
static bool maps_file_byte(struct vt_images *im, const struct vt_map *map, uint64_t address,
			   const struct image_place *p)
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

static bool find_image_place(struct vt_images *im, struct vt_addrspace *as, int32_t pid,
			     uint64_t address, struct image_place *p)
{
	const struct vt_map *map = vt_addrspace_find(as, pid, address, MODE_USER), *next[2];
	unsigned i;

	if (map)
		return (find_code_mapping(im, as, pid, map, false, p) ||
			find_code_mapping(im, as, pid, map, true, p)) &&
		       covers_address(p, address) && maps_file_byte(im, map, address, p);
	vt_addrspace_around(as, pid, address, &next[0], &next[1]);
	for (i = 0; i < 2; i++)
		if (next[i] && get_image_place(im, next[i], p) && covers_address(p, address))
			return true;
	return false;
}

uint64_t vt_procdata_line(struct vt_images *im, struct vt_addrspace *as, int32_t pid,
			  uint64_t address, bool relro, uint8_t bytes[VT_IMAGEDATA_LINE])
{
	struct image_place p;

	if (find_image_place(im, as, pid, address, &p))
		return vt_imagedata_line(p.data, p.bias, address, relro, bytes);
	memset(bytes, 0, VT_IMAGEDATA_LINE);
	return 0;
}

bool vt_procdata_find(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t address,
		      uint32_t *image, uint64_t *bias)
{
	struct image_place p;

	if (!find_image_place(im, as, pid, address, &p))
		return false;
	*image = p.image;
	*bias = p.bias;
	return true;
}

/* How many segments are mapped where they should be. */
static size_t count_agreeing(struct vt_addrspace *as, int32_t pid, const struct vt_map *map,
			     const struct vt_elf_segment *list, size_t n, uint64_t bias)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++) {
		uint64_t address = bias + list[i].vaddr;
		const struct vt_map *at = vt_addrspace_find(as, pid, address, MODE_USER);

		count += at && at->image == map->image &&
			 vt_map_offset(at, address) == list[i].offset;
	}
	return count;
}

bool vt_procdata_bias(const struct vt_elf *elf, struct vt_addrspace *as, int32_t pid,
		      const struct vt_map *map, uint64_t *bias)
{
	uint64_t offset = vt_map_offset(map, map->start);
	size_t n, i, agree, most = 0;
	const struct vt_elf_segment *s = vt_elf_segments(elf, &n);
	bool found = false;

	for (i = 0; i < n; i++) {
		uint64_t by = map->base + s[i].offset - s[i].vaddr;

		/* It begins at the page where the segment does, or further in. */
		if (offset < s[i].offset / PAGE * PAGE ||
		    (offset >= s[i].offset && offset - s[i].offset >= s[i].filesz))
			continue;
		agree = count_agreeing(as, pid, map, s, n, by);
		if (!found || agree > most) {
			*bias = by;
			most = agree;
			found = true;
		}
	}
	return found;
}

bool vt_procdata_return(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t pc,
			const struct vt_unwind_state *s, struct vt_return *f)
{
	struct vt_unwind *u;
	struct image_place p;

	if (!find_image_place(im, as, pid, pc, &p))
		return false;
	u = vt_images_unwind(im, p.image);
	if (!u || !vt_unwind_find(u, pc - p.bias, p.bias, s, f))
		return false;
	f->entry += p.bias;
	return true;
}

bool vt_procdata_has_frame(struct vt_images *im, struct vt_addrspace *as, int32_t pid,
			   uint64_t address)
{
	struct vt_unwind *u;
	struct image_place p;

	if (!find_image_place(im, as, pid, address, &p))
		return true;
	u = vt_images_unwind(im, p.image);
	return !u || vt_unwind_covers(u, address - p.bias);
}

bool vt_procdata_step(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t address,
		      struct vt_unwind_regs *regs,
		      bool (*load)(void *arg, uint64_t address, unsigned size, uint64_t *value),
		      void *arg)
{
	struct vt_unwind *u;
	struct image_place p;

	if (!find_image_place(im, as, pid, address, &p))
		return false;
	u = vt_images_unwind(im, p.image);
	return u && vt_unwind_step(u, address - p.bias, p.bias, regs, load, arg);
}
