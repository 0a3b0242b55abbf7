/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/written.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Of linux/mman.h. */
#define CAN_WRITE  2
#define CAN_EXEC   4
#define MAP_SHARED 1

enum name { NAME_IMAGE = 1, NAME_INODE, NAME_BUILDID };
#define NAMES 3

/* An identification of a file. */
struct file_key {
	uint64_t kind; /* enum name */
	uint8_t id[VT_BUILDID_MAX];
};

struct written_file {
	struct file_key key;
	struct vti_ranges written;
	bool code; /* it was mapped executable */
};

void vti_ranges_fini(struct vti_ranges *r)
{
	free(r->list);
	*r = (struct vti_ranges){0};
}

bool vti_ranges_add(struct vti_ranges *r, uint64_t offset, uint64_t length)
{
	struct vti_range new = {offset, offset + length}, *p;
	size_t i;

	if (new.end <= offset)
		return false;
	for (i = 0; i < r->count; i++) {
		p = &r->list[i];
		if (new.first <= p->end && p->first <= new.end)
			break;
	}
	if (i == r->count && i < VTI_MAX_RANGES &&
	    vt_array_grow(&r->list, &r->cap, i + 1, sizeof(*p))) {
		r->list[r->count++] = new;
		return true;
	}
	if (i == r->count && i)
		i--;
	if (i == r->count)
		return false;
	p = &r->list[i];
	if (p->first <= new.first &&new.end <= p->end)
		return false;
	p->first = new.first < p->first ? new.first : p->first;
	p->end = new.end > p->end ? new.end : p->end;
	return true;
}

bool vti_ranges_has(const struct vti_ranges *r, uint64_t offset)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		if (offset >= r->list[i].first && offset < r->list[i].end)
			return true;
	return false;
}

void vti_written_init(struct vti_written *w)
{
	*w = (struct vti_written){.any = false};
	vt_hash_init(&w->files, sizeof(struct written_file), sizeof(struct file_key));
}

void vti_written_fini(struct vti_written *w)
{
	size_t i;

	for (i = 0; i < w->files.count; i++)
		vti_ranges_fini(&((struct written_file *)vt_hash_at(&w->files, i))->written);
	vt_hash_fini(&w->files);
}

/* Lists the identifications of an image's file.  Returns their number. */
static size_t list_file_names(const struct vt_image *image, const struct vti_inode *inode,
			      struct file_key names[NAMES])
{
	size_t n = 0;

	memset(names, 0, NAMES * sizeof(*names));
	names[n].kind = NAME_IMAGE;
	memcpy(names[n++].id, &image->id, sizeof(image->id));
	if (inode->ino) {
		names[n].kind = NAME_INODE;
		memcpy(names[n++].id, inode, sizeof(*inode));
	}
	if (image->buildid_size && image->buildid_size <= VT_BUILDID_MAX) {
		names[n].kind = NAME_BUILDID;
		memcpy(names[n++].id, image->buildid, image->buildid_size);
	}
	return n;
}

int vti_written_feed(struct vti_written *w, const struct vt_image *image,
		     const struct vti_inode *inode, const struct vt_record *rec,
		     struct vt_error *err)
{
	uint64_t prot = vt_record_u64(rec, VT_MAP_PROT);
	bool writes = prot & CAN_WRITE && vt_record_u64(rec, VT_MAP_FLAGS) & MAP_SHARED;
	struct file_key names[NAMES];
	size_t n, i;

	if (image->type != VT_IMAGE_FILE || !(writes || prot & CAN_EXEC))
		return 0;
	n = list_file_names(image, inode, names);
	for (i = 0; i < n; i++) {
		struct written_file *f = vt_hash_add(&w->files, &names[i], NULL);

		if (!f)
			return vt_error_nomem(err);
		f->code |= (prot & CAN_EXEC) != 0;
		if (writes && vti_ranges_add(&f->written, vt_record_u64(rec, VT_MAP_OFFSET),
					     vt_record_u64(rec, VT_MAP_LENGTH)))
			w->code_changes += f->code;
	}
	w->any |= writes;
	return 0;
}

bool vti_written_has(const struct vti_written *w, const struct vt_image *image,
		     const struct vti_inode *inode, uint64_t offset)
{
	struct file_key names[NAMES];
	size_t n, i;

	if (!w->any)
		return false;
	n = list_file_names(image, inode, names);
	for (i = 0; i < n; i++) {
		const struct written_file *f = vt_hash_find(&w->files, &names[i]);

		if (f && vti_ranges_has(&f->written, offset))
			return true;
	}
	return false;
}
