/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/packs.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/intern.h"
#include "image/packed.h"
#include "stream/kinds.h"

/* What makes images the same; numbers are ids of strings. */
struct pack_key {
	uint32_t buildid; /* 0: none, then there are type and path */
	uint32_t type;
	uint32_t path;
	uint32_t unused;
};

struct pack {
	struct pack_key key; /* first */
	struct vt_packed *packed;
	bool partial; /* another stream has the image, and is not packed */
};

struct pack_id {
	uint32_t id; /* the key */
	uint32_t unused;
	uint64_t pack; /* index in `packs`, or LEFT_OUT */
};

#define LEFT_OUT UINT64_MAX

struct vt_packs {
	struct vt_intern *strings;
	struct vt_hash packs; /* struct pack */
	struct vt_hash ids;   /* struct pack_id, of the current stream */
	struct vti_packed_left left;
	bool stream_packed; /* the current stream has something packed */
};

struct vt_packs *vt_packs_new(void)
{
	struct vt_packs *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->strings = vt_intern_new();
	if (!p->strings) {
		free(p);
		return NULL;
	}
	p->left = (struct vti_packed_left){VTI_PACKED_BYTES, VTI_PACKED_ENTRIES};
	vt_hash_init(&p->packs, sizeof(struct pack), sizeof(struct pack_key));
	vt_hash_init(&p->ids, sizeof(struct pack_id), sizeof(uint32_t));
	return p;
}

void vt_packs_free(struct vt_packs *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->packs.count; i++)
		vti_packed_free(((struct pack *)vt_hash_at(&p->packs, i))->packed);
	vt_hash_fini(&p->packs);
	vt_hash_fini(&p->ids);
	vt_intern_free(p->strings);
	free(p);
}

/* The pack of an image; NULL: no memory. */
static struct pack *find_pack(struct vt_packs *p, const struct vt_record *rec)
{
	struct vt_bytes buildid = vt_record_bytes(rec, VT_IMAGE_BUILDID);
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct pack_key key = {.buildid = 0};

	if (buildid.size) {
		key.buildid = vt_intern_add(p->strings, buildid.data, buildid.size);
	} else {
		key.type = (uint32_t)vt_record_u64(rec, VT_IMAGE_TYPE);
		key.path = vt_intern_add(p->strings, path.data, path.size);
	}
	return key.buildid == UINT32_MAX || key.path == UINT32_MAX
		       ? NULL
		       : vt_hash_add(&p->packs, &key, NULL);
}

static int note_image(struct vt_packs *p, const struct vt_record *rec, struct vt_error *err)
{
	uint32_t id = (uint32_t)vt_record_u64(rec, VT_IMAGE_ID);
	struct pack_id *known = vt_hash_add(&p->ids, &id, NULL);
	const struct pack *pack;

	if (!known)
		return vt_error_nomem(err);
	known->pack = LEFT_OUT;
	if (vt_record_u64(rec, VT_IMAGE_TYPE) == VT_IMAGE_ANON)
		return 0;
	pack = find_pack(p, rec);
	if (!pack)
		return vt_error_nomem(err);
	known->pack = vt_hash_index(&p->packs, pack);
	return 0;
}

static int feed_pack(struct vt_packs *p, const struct vt_record *rec, struct vt_error *err)
{
	uint32_t id = (uint32_t)vt_record_u64(rec, vti_packed_image_field(rec->kind));
	const struct pack_id *known = vt_hash_find(&p->ids, &id);
	struct pack *pack;

	p->stream_packed = true;
	if (!known)
		return vt_error_set(err, VT_E_FORMAT, "a packed image that was not declared");
	if (known->pack == LEFT_OUT)
		return 0;
	pack = vt_hash_at(&p->packs, (size_t)known->pack);
	if (!pack->packed)
		pack->packed = vti_packed_new();
	return pack->packed ? vti_packed_feed(pack->packed, rec, &p->left, err)
			    : vt_error_nomem(err);
}

int vt_packs_feed(struct vt_packs *p, const struct vt_block *b, uint32_t first, uint32_t count,
		  struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};
	int code = 0, one;

	if (b->kind != VT_IMAGE && b->kind != VT_FILE && b->kind != VT_SYMBOL && b->kind != VT_LINE)
		return 0;
	for (; rec.row - first < count && code != -VT_E_NOMEM; rec.row++) {
		one = b->kind == VT_IMAGE ? note_image(p, &rec, err) : feed_pack(p, &rec, err);
		if (one < 0)
			code = one;
	}
	return code;
}

void vt_packs_end_stream(struct vt_packs *p)
{
	size_t i;

	for (i = 0; i < p->ids.count && !p->stream_packed; i++) {
		const struct pack_id *id = vt_hash_at(&p->ids, i);

		if (id->pack != LEFT_OUT)
			((struct pack *)vt_hash_at(&p->packs, (size_t)id->pack))->partial = true;
	}
	p->stream_packed = false;
	vt_hash_clear(&p->ids);
}

void vt_packs_write(const struct vt_packs *p, unsigned type, const void *path, size_t path_size,
		    const void *buildid, size_t buildid_size, uint32_t id, struct vt_writer *w)
{
	struct pack_key key = {.buildid = 0};
	const struct pack *pack;

	if (buildid_size) {
		key.buildid = vt_intern_find(p->strings, buildid, buildid_size);
	} else {
		key.type = type;
		key.path = vt_intern_find(p->strings, path, path_size);
	}
	pack = key.buildid == UINT32_MAX || key.path == UINT32_MAX ? NULL
								   : vt_hash_find(&p->packs, &key);
	if (pack && pack->packed && !pack->partial)
		vti_packed_write(pack->packed, id, w);
}
