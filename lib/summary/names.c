/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "summary/names.h"

#include <string.h>

bool vt_names_init(struct vt_names *n)
{
	*n = (struct vt_names){.arch = 0};
	vt_hash_init(&n->events, sizeof(struct vt_named_event), sizeof(uint64_t));
	vt_hash_init(&n->images, sizeof(struct vt_named_image), sizeof(uint64_t));
	n->strings = vt_intern_new();
	return n->strings != NULL;
}

void vt_names_fini(struct vt_names *n)
{
	vt_hash_fini(&n->events);
	vt_hash_fini(&n->images);
	vt_intern_free(n->strings);
}

static bool intern_field(struct vt_names *n, const struct vt_record *rec, unsigned field,
			 uint32_t *string)
{
	struct vt_bytes b = vt_record_bytes(rec, field);

	*string = vt_intern_add(n->strings, b.data, b.size);
	return *string != UINT32_MAX;
}

bool vt_names_add_event(struct vt_names *n, uint64_t id, const char *name)
{
	struct vt_named_event *e = vt_hash_add(&n->events, &id, NULL);

	if (!e)
		return false;
	e->name = vt_intern_add(n->strings, name, strlen(name));
	return e->name != UINT32_MAX;
}

static bool add_named_event(struct vt_names *n, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);
	struct vt_named_event *e = vt_hash_add(&n->events, &id, NULL);

	if (!e)
		return false;
	e->policy = vt_record_u64(rec, VT_EVENT_POLICY);
	e->regs_user = vt_record_u64(rec, VT_EVENT_REGS_USER);
	e->regs_intr = vt_record_u64(rec, VT_EVENT_REGS_INTR);
	return intern_field(n, rec, VT_EVENT_NAME, &e->name) &&
	       intern_field(n, rec, VT_EVENT_UNIT, &e->unit);
}

static bool add_named_image(struct vt_names *n, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct vt_named_image *i = vt_hash_add(&n->images, &id, NULL);

	if (!i)
		return false;
	i->type = vt_record_u64(rec, VT_IMAGE_TYPE);
	return intern_field(n, rec, VT_IMAGE_PATH, &i->path) &&
	       intern_field(n, rec, VT_IMAGE_BUILDID, &i->buildid);
}

static bool set_named_arch(struct vt_names *n, const struct vt_record *rec)
{
	if (!vt_record_is_meta(rec, "arch"))
		return true;
	return intern_field(n, rec, VT_META_VALUE, &n->arch);
}

bool vt_names_feed(struct vt_names *n, const struct vt_record *rec)
{
	switch (rec->kind) {
	case VT_EVENT:
		return add_named_event(n, rec);
	case VT_IMAGE:
		return add_named_image(n, rec);
	case VT_META:
		return set_named_arch(n, rec);
	default:
		return true;
	}
}

const struct vt_named_event *vt_names_event(const struct vt_names *n, uint64_t id)
{
	return vt_hash_find(&n->events, &id);
}

const struct vt_named_image *vt_names_image(const struct vt_names *n, uint64_t id)
{
	return vt_hash_find(&n->images, &id);
}

enum vt_truth vt_names_is_event(void *names, uint64_t id, const char *name)
{
	const struct vt_names *n = names;
	const struct vt_named_event *e = vt_names_event(n, id);

	if (!e)
		return VT_UNKNOWN;
	return strcmp(vt_intern_get(n->strings, e->name), name) == 0 ? VT_TRUE : VT_FALSE;
}
