/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/context.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define PROT_EXEC 4u /* of sys/mman.h, on every Linux */

/* The kinds of records that change the context. */
#define OWN_KINDS                                                                                  \
	(VT_KIND(VT_IMAGE) | VT_KIND(VT_MAP) | VT_KIND(VT_THREAD) | VT_KIND(VT_KSYMBOL) |          \
	 VT_KIND(VT_META) | VT_KIND(VT_EVENT) | VT_KIND(VT_BLOCK) | VT_KIND(VT_LOST) |             \
	 VT_KIND(VT_GAP) | VT_KIND(VT_FILE) | VT_KIND(VT_SYMBOL) | VT_KIND(VT_LINE))

static_assert(VT_NKINDS <= 64, "a bit for each kind");

/* The latest mapping of a stretch of an image. */
struct stretch {
	uint64_t offset; /* with `image`, the key */
	uint64_t image;
	uint64_t start;
	uint64_t length;
	uint64_t age; /* later mappings have greater numbers */
	bool data;    /* it never was executable */
};

struct vt_context {
	struct vt_images *images;
	struct vt_addrspace *space;
	struct vt_bblocks *blocks;
	struct vt_hash stretches;
	uint64_t nmaps;
	bool only_added;       /* the last MAP record replaced no mapping */
	struct vt_hash events; /* struct vt_event */
	struct vt_losses losses;
	bool sampled;
	struct vt_error refused; /* of the record at hand; code VT_OK: it was taken */
	struct vt_consumer consumers[VT_CONTEXT_CONSUMERS];
	size_t nconsumers;
};

struct vt_context *vt_context_new(struct vt_images *images)
{
	struct vt_context *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->images = images;
	c->space = vt_addrspace_new();
	c->blocks = vt_bblocks_new();
	vt_hash_init(&c->stretches, sizeof(struct stretch), offsetof(struct stretch, start));
	vt_hash_init(&c->events, sizeof(struct vt_event), sizeof(uint64_t));
	if (c->space && c->blocks)
		return c;
	vt_context_free(c);
	return NULL;
}

void vt_context_free(struct vt_context *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->events.count; i++) {
		struct vt_event *e = vt_hash_at(&c->events, i);

		free(e->name);
		free(e->unit);
	}
	vt_hash_fini(&c->events);
	vt_hash_fini(&c->stretches);
	vt_addrspace_free(c->space);
	vt_bblocks_free(c->blocks);
	free(c);
}

void vt_context_add(struct vt_context *c, const struct vt_consumer *consumer)
{
	assert(c->nconsumers < VT_CONTEXT_CONSUMERS);
	c->consumers[c->nconsumers++] = *consumer;
}

/* ---- events ---- */

static char *copy_text(struct vt_bytes text)
{
	char *s = malloc(text.size + 1);

	if (s) {
		memcpy(s, text.data, text.size);
		s[text.size] = '\0';
	}
	return s;
}

static int set_event_texts(struct vt_event *e, struct vt_bytes name, struct vt_bytes unit,
			   struct vt_error *err)
{
	char *new_name = copy_text(name);
	char *new_unit = copy_text(unit);

	if (!new_name || !new_unit) {
		free(new_name);
		free(new_unit);
		return vt_error_nomem(err);
	}
	free(e->name);
	free(e->unit);
	e->name = new_name;
	e->unit = new_unit;
	return 0;
}

static int apply_event(struct vt_context *c, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID), policy = vt_record_u64(rec, VT_EVENT_POLICY);
	struct vt_event *e = vt_hash_add(&c->events, &id, NULL);

	if (!e)
		return vt_error_nomem(err);
	e->policy = policy < VT_NPOLICIES ? (enum vt_policy)policy : VT_POLICY_UNKNOWN;
	e->period = vt_record_u64(rec, VT_EVENT_PERIOD);
	e->freq = vt_record_u64(rec, VT_EVENT_FREQ);
	e->precise = vt_record_u64(rec, VT_EVENT_PRECISE);
	e->branch_type = vt_record_u64(rec, VT_EVENT_BRANCH_TYPE);
	e->regs_user = vt_record_u64(rec, VT_EVENT_REGS_USER);
	return set_event_texts(e, vt_record_bytes(rec, VT_EVENT_NAME),
			       vt_record_bytes(rec, VT_EVENT_UNIT), err);
}

const struct vt_event *vt_context_event(struct vt_context *c, uint64_t id, struct vt_error *err)
{
	struct vt_event *e = vt_hash_add(&c->events, &id, NULL);

	if (!e)
		vt_error_nomem(err);
	if (e && !e->name) {
		char text[40];
		struct vt_bytes name = {(const uint8_t *)text, 0};
		struct vt_bytes unit = {(const uint8_t *)"", 0};

		name.size = (size_t)snprintf(text, sizeof(text), "event %" PRIu64, id);
		if (set_event_texts(e, name, unit, err) < 0)
			return NULL;
	}
	return e;
}

/* ---- mappings ---- */

static int note_stretch(struct vt_context *c, const struct vt_record *rec, struct vt_error *err)
{
	const uint64_t id = vt_record_u64(rec, VT_MAP_IMAGE);
	const struct vt_image *image = c->images ? vt_images_get(c->images, (uint32_t)id) : NULL;
	/* As vt_map_offset() has it, an offset of anonymous code is an address. */
	bool anonymous = image && image->type == VT_IMAGE_ANON;
	struct stretch key = {.offset =
				      vt_record_u64(rec, anonymous ? VT_MAP_START : VT_MAP_OFFSET),
			      .image = id};
	uint64_t prot = vt_record_u64(rec, VT_MAP_PROT);
	bool added;
	struct stretch *s = vt_hash_add(&c->stretches, &key, &added);

	if (!s)
		return vt_error_nomem(err);
	s->data = (added || s->data) && prot && !(prot & PROT_EXEC);
	s->start = vt_record_u64(rec, VT_MAP_START);
	s->length = vt_record_u64(rec, VT_MAP_LENGTH);
	s->age = ++c->nmaps;
	return 0;
}

static bool is_free_range(const struct vt_context *c, const struct vt_record *map)
{
	uint64_t start = vt_record_u64(map, VT_MAP_START);
	const struct vt_map *below, *above;

	vt_addrspace_around(c->space, (int32_t)vt_record_i64(map, VT_MAP_PID), start, &below,
			    &above);
	return (!below || start >= below->end) &&
	       (!above || above->start - start >= vt_record_u64(map, VT_MAP_LENGTH));
}

static int apply_mapping(struct vt_context *c, const struct vt_record *rec, struct vt_error *err)
{
	bool free_before = rec->kind == VT_MAP && is_free_range(c, rec);
	size_t count = vt_addrspace_count(c->space);
	int code = vt_addrspace_feed(c->space, rec, err);

	c->only_added = free_before && vt_addrspace_count(c->space) == count + 1;
	if (code == 0 && c->images)
		code = vt_images_feed(c->images, rec, err);
	if (code == 0 && rec->kind == VT_MAP)
		code = note_stretch(c, rec, err);
	return code;
}

/* The image and offset of an address by a stretch; NULL: there is none. */
static bool place_in(const struct stretch *s, uint64_t address, uint32_t *image, uint64_t *offset)
{
	if (!s)
		return false;
	*image = (uint32_t)s->image;
	*offset = address - s->start + s->offset;
	return true;
}

bool vt_context_find(const struct vt_context *c, uint64_t address, uint32_t *image,
		     uint64_t *offset)
{
	const struct stretch *best = NULL;
	size_t i;

	for (i = 0; i < c->stretches.count; i++) {
		const struct stretch *s = vt_hash_at(&c->stretches, i);

		if (address - s->start < s->length && (!best || s->age > best->age))
			best = s;
	}
	return place_in(best, address, image, offset);
}

bool vt_context_has_code(const struct vt_context *c, uint32_t image)
{
	size_t i;

	for (i = 0; i < c->stretches.count; i++) {
		const struct stretch *s = vt_hash_at(&c->stretches, i);

		if (s->image == image && !s->data)
			return true;
	}
	return false;
}

bool vt_context_find_before(const struct vt_context *c, uint64_t address, uint32_t *image,
			    uint64_t *offset)
{
	const struct stretch *best = NULL;
	size_t i;

	for (i = 0; i < c->stretches.count; i++) {
		const struct stretch *s = vt_hash_at(&c->stretches, i);

		if (s->start > address || !vt_context_has_code(c, (uint32_t)s->image))
			continue;
		if (!best || s->start > best->start ||
		    (s->start == best->start && s->age > best->age))
			best = s;
	}
	return place_in(best, address, image, offset);
}

/* ---- records ---- */

bool vt_picked_parse(struct vt_bytes value, struct vt_picked *p, struct vt_bytes *kind,
		     struct vt_bytes *expression)
{
	char text[128];
	size_t size = value.size < sizeof(text) - 1 ? value.size : sizeof(text) - 1, at;
	int end = 0;

	memcpy(text, value.data, size);
	text[size] = '\0';
	if (sscanf(text, "%" SCNu64 " of %" SCNu64 " pass, %" SCNu64 " unknown, %n", &p->passed,
		   &p->seen, &p->unknown, &end) != 3 ||
	    !end)
		return false;
	for (at = (size_t)end; at + 1 < value.size; at++)
		if (value.data[at] == ':' && value.data[at + 1] == ' ')
			break;
	if (at + 1 >= value.size)
		return false;
	*kind = (struct vt_bytes){value.data + end, at - (size_t)end};
	*expression = (struct vt_bytes){value.data + at + 2, value.size - at - 2};
	return true;
}

void vt_picked_add(struct vt_picked *sum, const struct vt_picked *p)
{
	sum->seen += p->seen;
	sum->passed += p->passed;
	sum->unknown += p->unknown;
}

void vt_losses_add(struct vt_losses *l, const struct vt_record *rec)
{
	struct vt_bytes kind, expression;
	struct vt_picked p;

	if (rec->kind == VT_LOST) {
		l->lost_places++;
		l->lost += vt_record_u64(rec, VT_LOST_COUNT);
	} else if (rec->kind == VT_GAP) {
		l->gaps++;
		l->gap_bytes += vt_record_u64(rec, VT_GAP_BYTES);
		l->gap_records += vt_record_u64(rec, VT_GAP_RECORDS);
	} else if (vt_record_is_meta(rec, VT_META_WHERE)) {
		if (vt_picked_parse(vt_record_bytes(rec, VT_META_VALUE), &p, &kind, &expression))
			vt_picked_add(&l->picked, &p);
	}
}

void vt_picked_value(const struct vt_picked *p, const char *kind, const char *expression,
		     struct vt_buf *b)
{
	vt_buf_printf(b, "%" PRIu64 " of %" PRIu64 " pass, %" PRIu64 " unknown, %s: %s", p->passed,
		      p->seen, p->unknown, kind, expression);
}

void vt_picked_text(const struct vt_picked *p, const char *what, struct vt_buf *b)
{
	vt_buf_printf(b, "%" PRIu64 " of %" PRIu64 " %s pass --where", p->passed, p->seen, what);
	if (p->unknown)
		vt_buf_printf(b, "; of %" PRIu64 " it is not known", p->unknown);
}

/* The symbols of a kernel depend on which one was recorded. */
static int apply_meta(struct vt_context *c, const struct vt_record *rec, struct vt_error *err)
{
	if (vt_record_is_meta(rec, "sampling"))
		c->sampled = true;
	vt_losses_add(&c->losses, rec);
	return c->images ? vt_images_feed(c->images, rec, err) : 0;
}

static int apply_context_record(struct vt_context *c, const struct vt_record *rec,
				struct vt_error *err)
{
	switch (rec->kind) {
	case VT_EVENT:
		return apply_event(c, rec, err);
	case VT_META:
		return apply_meta(c, rec, err);
	case VT_BLOCK:
		return vt_bblocks_add(c->blocks, rec, err);
	case VT_LOST:
	case VT_GAP:
		vt_losses_add(&c->losses, rec);
		return 0;
	default:
		return apply_mapping(c, rec, err);
	}
}

static bool consumer_wants(const struct vt_consumer *consumer, uint32_t kind)
{
	return !consumer->kinds || (kind < 64 && (consumer->kinds & VT_KIND(kind)));
}

static int feed_consumer(const struct vt_consumer *to, const struct vt_block *block, uint32_t first,
			 uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	if (to->take)
		return to->take(to->arg, block, first, count, err);
	for (; rec.row - first < count && code == 0; rec.row++)
		code = to->record(to->arg, &rec, err);
	return code;
}

static int feed_consumers(const struct vt_context *c, const struct vt_block *block, uint32_t first,
			  uint32_t count, struct vt_error *err)
{
	size_t i;
	int code = 0;

	for (i = 0; i < c->nconsumers && code == 0; i++)
		if (consumer_wants(&c->consumers[i], block->kind))
			code = feed_consumer(&c->consumers[i], block, first, count, err);
	return code;
}

/* A record that changes the context. */
static int feed_context_row(struct vt_context *c, const struct vt_record *rec, struct vt_error *err)
{
	int code = 0;
	size_t i;

	for (i = 0; i < c->nconsumers && code == 0; i++)
		if (c->consumers[i].before && consumer_wants(&c->consumers[i], rec->kind))
			code = c->consumers[i].before(c->consumers[i].arg, rec, err);
	if (code)
		return code;
	code = apply_context_record(c, rec, err);
	if (code == -VT_E_NOMEM)
		return code;
	c->refused.code = VT_OK;
	if (code < 0)
		c->refused = *err;
	return feed_consumers(c, rec->block, rec->row, 1, err);
}

int vt_context_feed(void *context, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	struct vt_context *c = context;
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	c->refused.code = VT_OK;
	if (block->kind >= 64 || !(OWN_KINDS & VT_KIND(block->kind)))
		return feed_consumers(c, block, first, count, err);
	for (; rec.row - first < count && code == 0; rec.row++)
		code = feed_context_row(c, &rec, err);
	return code;
}

/* ---- what it knows ---- */

int vt_context_refused(const struct vt_context *c, struct vt_error *err)
{
	if (c->refused.code != VT_OK)
		*err = c->refused;
	return -(int)c->refused.code;
}

bool vt_context_only_added(const struct vt_context *c)
{
	return c->only_added;
}

struct vt_addrspace *vt_context_space(const struct vt_context *c)
{
	return c->space;
}

struct vt_images *vt_context_images(const struct vt_context *c)
{
	return c->images;
}

const struct vt_bblocks *vt_context_blocks(const struct vt_context *c)
{
	return c->blocks;
}

const struct vt_losses *vt_context_losses(const struct vt_context *c)
{
	return &c->losses;
}

bool vt_context_is_sampled(const struct vt_context *c)
{
	return c->sampled;
}
