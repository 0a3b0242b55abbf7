/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "value/collect_internal.h"

/* More occurrences of a value in one record are not believed. */
#define MAX_WEIGHT (UINT64_C(1) << 40)

/* The key of what is remembered of VALUE rows.  No padding. */
struct value_key {
	int64_t pid;
	uint64_t ip;
	uint64_t caller;
	uint32_t what;
	uint32_t reg;
	uint32_t lane;
	uint32_t size;
};

struct value_list {
	struct value_key key;
	struct vt_hotlist *list;
	uint64_t unmapped;
};

struct image_number {
	uint64_t id;
	uint64_t image;
};

/* ---- life ---- */

struct vt_collect *vt_collect_new(struct vt_sites *sites, const struct vt_collect_options *options)
{
	struct vt_collect *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sites = sites;
	c->lists = vt_sites_lists(sites);
	c->options = *options;
	vt_hash_init(&c->images, sizeof(struct image_number), sizeof(uint64_t));
	vt_hash_init(&c->values, sizeof(struct value_list), sizeof(struct value_key));
	vti_collect_init_exec(c);
	return c;
}

static void forget_stream(struct vt_collect *c)
{
	vti_collect_forget_exec(c);
	vt_hash_clear(&c->images);
	vt_packs_end_stream(vt_sites_packs(c->sites));
	vt_hash_clear(&c->values);
}

void vt_collect_free(struct vt_collect *c)
{
	if (!c)
		return;
	forget_stream(c);
	vt_hash_fini(&c->threads);
	vt_hash_fini(&c->processes);
	vt_hash_fini(&c->images);
	vt_hash_fini(&c->values);
	free(c);
}

/* ---- places ---- */

/* Code without a file is another one in each process. */
static uint32_t get_anonymous_image(struct vt_collect *c, int64_t pid)
{
	char path[40];

	snprintf(path, sizeof(path), "//anon/%" PRId64, pid);
	return vt_sites_made_image(c->sites, VT_IMAGE_ANON, path);
}

uint32_t vt_collect_image(struct vt_collect *c, uint64_t id, int64_t pid)
{
	const struct image_number *n = vt_hash_find(&c->images, &id);

	if (pid)
		return get_anonymous_image(c, pid);
	/* One that was never declared has no name, but is one. */
	return n ? (uint32_t)n->image : vt_sites_made_image(c->sites, VT_IMAGE_FILE, "");
}

int vti_collect_place(struct vt_collect *c, int64_t pid, uint64_t address, struct place *place,
		      bool *mapped, struct vt_error *err)
{
	const struct vt_map *m =
		vt_addrspace_find(vt_context_space(c->context), (int32_t)pid, address, 0);

	*mapped = m != NULL;
	if (m && m->type != VT_IMAGE_ANON) {
		place->offset = vt_map_offset(m, address);
		place->image = vt_collect_image(c, m->image, 0);
	} else {
		place->offset = address;
		place->image = get_anonymous_image(c, pid);
	}
	return place->image == UINT32_MAX ? vt_error_nomem(err) : 0;
}

struct vt_hotlist *vti_collect_list(struct vt_collect *c, const struct place *at, int64_t pid,
				    uint64_t caller, const struct vt_slot *slot, uint32_t lane)
{
	struct vt_site site = {.offset = at->offset,
			       .image = at->image,
			       .what = slot->what,
			       .reg = slot->reg,
			       .lane = lane};
	struct vt_error ignored = VT_ERROR_INIT;
	struct place from;
	bool mapped;

	if (caller) {
		if (vti_collect_place(c, pid, caller, &from, &mapped, &ignored) < 0)
			return NULL;
		site.caller = from.offset;
		site.caller_image = from.image;
	}
	return vt_sites_list(c->sites, &site, slot->size);
}

/* ---- records ---- */

static int collect_image(struct vt_collect *c, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct image_number *n = vt_hash_add(&c->images, &id, NULL);
	uint32_t image = vt_sites_image(c->sites, rec);

	if (!n || image == UINT32_MAX)
		return vt_error_nomem(err);
	n->image = image;
	if (vt_packs_feed(vt_sites_packs(c->sites), rec->block, rec->row, 1, err) < 0)
		return -(int)err->code;
	return vt_context_refused(c->context, err);
}

static int take_map(struct vt_collect *c, const struct vt_record *rec, struct vt_error *err)
{
	uint32_t image = vt_collect_image(c, vt_record_u64(rec, VT_MAP_IMAGE), 0);
	int code = vt_context_refused(c->context, err);

	vt_hash_clear(&c->values);
	if (code < 0)
		return code;
	if (image == UINT32_MAX)
		return vt_error_nomem(err);
	return vt_sites_map(c->sites, image, rec, err);
}

static int collect_thread(struct vt_collect *c, const struct vt_record *rec, struct vt_error *err)
{
	if (vt_record_u64(rec, VT_THREAD_OP) == VT_OP_EXEC) {
		vti_collect_break(c, vt_record_i64(rec, VT_THREAD_PID));
		vt_hash_clear(&c->values);
	}
	return vt_context_refused(c->context, err);
}

static void collect_state(struct vt_collect *c, const struct vt_record *rec)
{
	if (vt_record_u64(rec, VT_STATE_REASON) == VT_STATE_WINDOW)
		vti_collect_break(c, vt_record_i64(rec, VT_STATE_PID));
}

/* The list of a VALUE row that is not remembered yet. */
static int find_value_list(struct vt_collect *c, struct value_list *v, struct vt_error *err)
{
	const struct vt_slot slot = {.what = (uint8_t)v->key.what,
				     .size = (uint16_t)v->key.size,
				     .reg = (uint16_t)v->key.reg};
	struct place at;
	bool mapped;
	int code = vti_collect_place(c, v->key.pid, v->key.ip, &at, &mapped, err);

	if (code < 0)
		return code;
	v->unmapped = !mapped;
	v->list = vti_collect_list(c, &at, v->key.pid, v->key.caller, &slot, v->key.lane);
	return v->list ? 0 : vt_error_nomem(err);
}

static int take_value(struct vt_collect *c, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t weight = vt_record_u64(rec, VT_VALUE_WEIGHT);
	uint64_t what = vt_record_u64(rec, VT_VALUE_WHAT);
	uint64_t reg = vt_record_u64(rec, VT_VALUE_REG);
	uint64_t lane = vt_record_u64(rec, VT_VALUE_LANE);
	uint64_t size = vt_record_u64(rec, VT_VALUE_SIZE);
	struct value_key key = {.pid = vt_record_i64(rec, VT_VALUE_PID),
				.ip = vt_record_u64(rec, VT_VALUE_IP)};
	struct value_list *v;
	int code;

	if (what >= VT_NWHATS || reg > UINT16_MAX || size > UINT16_MAX || lane > UINT16_MAX ||
	    weight > MAX_WEIGHT)
		return vt_error_set(err, VT_E_FORMAT, "a value: impossible %s",
				    what >= VT_NWHATS	  ? "kind"
				    : weight > MAX_WEIGHT ? "weight"
							  : "register, lane or size");
	if (!vti_collect_wants(c, (uint32_t)what))
		return 0;
	/* The same plugin has other numbers in other streams. */
	if (what == VT_WHAT_MODULE) {
		reg = vt_plugin_names_number(vt_sites_plugins(c->sites), reg);
		if (reg == UINT32_MAX)
			return vt_error_nomem(err);
		if (reg > UINT16_MAX)
			return vt_error_set(err, VT_E_FORMAT, "a value: too many plugins");
	}
	key.caller = c->options.by_caller ? vt_record_u64(rec, VT_VALUE_CALLER) : 0;
	key.what = (uint32_t)what;
	key.reg = (uint32_t)reg;
	key.lane = (uint32_t)lane;
	key.size = (uint32_t)size;
	v = vt_hash_add(&c->values, &key, NULL);
	if (!v)
		return vt_error_nomem(err);
	if (!v->list) {
		code = find_value_list(c, v, err);
		if (code < 0)
			return code;
	}
	c->stats.unmapped += v->unmapped;
	vt_hotlist_put_many(c->lists, v->list, vt_record_u64(rec, VT_VALUE_VALUE),
			    weight ? weight : 1);
	return 0;
}

static int collect_record(struct vt_collect *c, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_EXEC:
		return vti_collect_exec(c, rec, err);
	case VT_VALUE:
		return take_value(c, rec, err);
	case VT_BLOCK:
	case VT_KSYMBOL:
		return vt_context_refused(c->context, err);
	case VT_IMAGE:
		return collect_image(c, rec, err);
	case VT_FILE:
	case VT_SYMBOL:
	case VT_LINE:
		return vt_packs_feed(vt_sites_packs(c->sites), rec->block, rec->row, 1, err);
	case VT_MAP:
		return take_map(c, rec, err);
	case VT_THREAD:
		return collect_thread(c, rec, err);
	case VT_MODULE:
	case VT_LABEL:
		return vt_plugin_names_feed(vt_sites_plugins(c->sites), rec, err);
	case VT_SIGNAL:
		vti_collect_signal(c, vt_record_i64(rec, VT_SIGNAL_PID),
				   vt_record_i64(rec, VT_SIGNAL_TID));
		return 0;
	case VT_STATE:
		collect_state(c, rec);
		return 0;
	case VT_GAP:
	case VT_LOST:
		vti_collect_break_all(c);
		return 0;
	case VT_HOT:
		c->stats.lists++;
		return 0;
	default:
		return 0;
	}
}

/* Returns only -VT_E_NOMEM; warns of records that contradict themselves and ignores them. */
static int survive_record(void *collect, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_collect *c = collect;
	int code = collect_record(c, rec, err);

	if (code >= 0 || code == -VT_E_NOMEM)
		return code;
	c->stats.damaged++;
	if (c->options.warn)
		c->options.warn(c->options.warn_arg, err->text);
	return 0;
}

/* ---- streams ---- */

void vt_collect_begin(struct vt_collect *c, struct vt_context *context)
{
	forget_stream(c);
	c->context = context;
	vt_context_add(context, &(struct vt_consumer){.record = survive_record, .arg = c});
	vt_plugin_names_begin(vt_sites_plugins(c->sites));
}

int vt_collect_end(struct vt_collect *c, bool counts, struct vt_error *err)
{
	int code = vti_collect_counts(c, counts, err);

	forget_stream(c);
	return code;
}

const struct vt_collect_stats *vt_collect_stats(const struct vt_collect *c)
{
	return &c->stats;
}
