/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/names.h"

#include <string.h>

bool names_init(struct names *n)
{
	*n = (struct names){.arch = 0};
	vt_hash_init(&n->events, sizeof(struct named_event), sizeof(uint64_t));
	vt_hash_init(&n->images, sizeof(struct named_image), sizeof(uint64_t));
	n->strings = vt_intern_new();
	return n->strings != NULL;
}

void names_fini(struct names *n)
{
	vt_hash_fini(&n->events);
	vt_hash_fini(&n->images);
	vt_intern_free(n->strings);
}

static bool keep(struct names *n, const struct vt_record *rec, unsigned field, uint32_t *string)
{
	struct vt_bytes b = vt_record_bytes(rec, field);

	*string = vt_intern_add(n->strings, b.data, b.size);
	return *string != UINT32_MAX;
}

static bool feed_event(struct names *n, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);
	struct named_event *e = vt_hash_add(&n->events, &id, NULL);

	if (!e)
		return false;
	e->policy = vt_record_u64(rec, VT_EVENT_POLICY);
	e->regs_user = vt_record_u64(rec, VT_EVENT_REGS_USER);
	e->regs_intr = vt_record_u64(rec, VT_EVENT_REGS_INTR);
	return keep(n, rec, VT_EVENT_NAME, &e->name) && keep(n, rec, VT_EVENT_UNIT, &e->unit);
}

static bool feed_image(struct names *n, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct named_image *i = vt_hash_add(&n->images, &id, NULL);

	if (!i)
		return false;
	i->type = vt_record_u64(rec, VT_IMAGE_TYPE);
	return keep(n, rec, VT_IMAGE_PATH, &i->path) && keep(n, rec, VT_IMAGE_BUILDID, &i->buildid);
}

static bool feed_meta(struct names *n, const struct vt_record *rec)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);

	if (key.size != 4 || memcmp(key.data, "arch", 4) != 0)
		return true;
	return keep(n, rec, VT_META_VALUE, &n->arch);
}

bool names_feed(struct names *n, const struct vt_record *rec)
{
	switch (rec->kind) {
	case VT_EVENT:
		return feed_event(n, rec);
	case VT_IMAGE:
		return feed_image(n, rec);
	case VT_META:
		return feed_meta(n, rec);
	default:
		return true;
	}
}

const struct named_event *names_event(const struct names *n, uint64_t id)
{
	return vt_hash_find(&n->events, &id);
}

const struct named_image *names_image(const struct names *n, uint64_t id)
{
	return vt_hash_find(&n->images, &id);
}
