/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "value/hot_record.h"

/* Strings are numbers of one pool, so that equal keys have equal bytes. */
struct image {
	uint32_t buildid; /* if there is one, type and path are no part of the key: 0 */
	uint32_t type_key;
	uint32_t path_key;
	uint32_t path; /* the first that was met */
	uint64_t type;
	uint64_t machine;
	uint32_t id; /* in the stream that is written */
};

struct event {
	uint32_t name;
	uint32_t unit;
	uint32_t policy;
};

struct list {
	struct vt_site site; /* the key */
	struct vt_hotlist *list;
	uint64_t size;
};

struct count {
	uint64_t offset;
	uint32_t image;
	uint32_t event;
	uint64_t samples;
	uint64_t period;
};

/* A mapping, once between two blocks of code, however often it was made. */
struct map {
	uint64_t start;
	uint64_t length;
	uint64_t offset;
	int64_t pid;
	uint64_t image;
	uint64_t prot;
	uint64_t flags;
	uint64_t ncode; /* of the blocks of code that came before it */
	uint64_t last;	/* greater than that of mappings made for the last time before it */
};

#define MAP_KEY_SIZE offsetof(struct map, last)

/* A block of code that no file has. */
struct code {
	struct vt_bblock block;
	size_t bytes;	/* where its code and */
	size_t lengths; /* its instructions' lengths are in `code_bytes` */
};

struct vt_sites {
	struct vt_hotlists *lists;
	struct vt_intern *strings;
	struct vt_packs *packs;
	struct vt_plugin_names *plugins;
	struct vt_hash images;
	struct vt_hash events;
	struct vt_hash places; /* struct list */
	struct vt_hash counts;
	struct vt_hash maps;
	uint64_t nmaps; /* made so far */
	struct code *code;
	size_t ncode, code_cap;
	struct vt_buf code_bytes;
};

struct vt_sites *vt_sites_new(const struct vt_hotlist_options *options, struct vt_error *err)
{
	struct vt_sites *s = calloc(1, sizeof(*s));

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	vt_hash_init(&s->images, sizeof(struct image), offsetof(struct image, path));
	vt_hash_init(&s->events, sizeof(struct event), sizeof(struct event));
	vt_hash_init(&s->places, sizeof(struct list), sizeof(struct vt_site));
	vt_hash_init(&s->counts, sizeof(struct count), offsetof(struct count, samples));
	vt_hash_init(&s->maps, sizeof(struct map), MAP_KEY_SIZE);
	s->strings = vt_intern_new();
	s->plugins = vt_plugin_names_new();
	s->packs = vt_packs_new();
	s->lists = vt_hotlists_new(options, err);
	if (!s->strings || !s->plugins || !s->packs || !s->lists) {
		if (s->lists)
			vt_error_nomem(err);
		vt_sites_free(s);
		return NULL;
	}
	return s;
}

void vt_sites_free(struct vt_sites *s)
{
	if (!s)
		return;
	vt_hash_fini(&s->images);
	vt_hash_fini(&s->events);
	vt_hash_fini(&s->places);
	vt_hash_fini(&s->counts);
	vt_hash_fini(&s->maps);
	free(s->code);
	vt_buf_free(&s->code_bytes);
	vt_intern_free(s->strings);
	vt_plugin_names_free(s->plugins);
	vt_packs_free(s->packs);
	vt_hotlists_free(s->lists);
	free(s);
}

struct vt_hotlists *vt_sites_lists(struct vt_sites *s)
{
	return s->lists;
}

struct vt_packs *vt_sites_packs(struct vt_sites *s)
{
	return s->packs;
}

struct vt_plugin_names *vt_sites_plugins(struct vt_sites *s)
{
	return s->plugins;
}

size_t vt_sites_nlists(const struct vt_sites *s)
{
	return s->places.count;
}

struct vt_hotlist *vt_sites_list_at(const struct vt_sites *s, size_t i, const struct vt_site **site,
				    uint32_t *size)
{
	const struct list *l = vt_hash_at(&s->places, i);

	*site = &l->site;
	*size = (uint32_t)l->size;
	return l->list;
}

const char *vt_sites_image_path(const struct vt_sites *s, uint32_t image)
{
	const struct image *i;

	if (image >= s->images.count)
		return "[unmapped]";
	i = vt_hash_at(&s->images, image);
	return vt_intern_get(s->strings, i->path);
}

/* ---- filling ---- */

static uint32_t add_site_image(struct vt_sites *s, const struct image *key)
{
	bool added;
	struct image *i;

	if (key->path == UINT32_MAX || key->buildid == UINT32_MAX)
		return UINT32_MAX;
	i = vt_hash_add(&s->images, key, &added);
	if (!i)
		return UINT32_MAX;
	if (added)
		*i = *key;
	return (uint32_t)vt_hash_index(&s->images, i);
}

uint32_t vt_sites_image(struct vt_sites *s, const struct vt_record *rec)
{
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct vt_bytes buildid = vt_record_bytes(rec, VT_IMAGE_BUILDID);
	struct image key = {
		.buildid = vt_intern_add(s->strings, buildid.data, buildid.size),
		.path = vt_intern_add(s->strings, path.data, path.size),
		.type = vt_record_u64(rec, VT_IMAGE_TYPE),
		.machine = vt_record_u64(rec, VT_IMAGE_MACHINE),
	};

	if (!key.buildid) {
		key.type_key = (uint32_t)key.type;
		key.path_key = key.path;
	}
	return add_site_image(s, &key);
}

uint32_t vt_sites_made_image(struct vt_sites *s, enum vt_image_type type, const char *path)
{
	struct image key = {.type_key = type, .type = type};

	key.path = key.path_key = vt_intern_str(s->strings, path);
	return add_site_image(s, &key);
}

struct vt_hotlist *vt_sites_list(struct vt_sites *s, const struct vt_site *site, uint32_t size)
{
	struct list *l = vt_hash_add(&s->places, site, NULL);

	if (!l)
		return NULL;
	/* Also when memory had run out at the first attempt. */
	if (!l->list) {
		l->list = vt_hotlists_add(s->lists);
		l->size = size;
	}
	return l->list;
}

uint32_t vt_sites_event(struct vt_sites *s, const char *name, enum vt_policy policy,
			const char *unit)
{
	struct event key = {vt_intern_str(s->strings, name), vt_intern_str(s->strings, unit),
			    policy};
	struct event *e;

	if (key.name == UINT32_MAX || key.unit == UINT32_MAX)
		return UINT32_MAX;
	e = vt_hash_add(&s->events, &key, NULL);
	return e ? (uint32_t)vt_hash_index(&s->events, e) : UINT32_MAX;
}

int vt_sites_count(struct vt_sites *s, uint32_t image, uint64_t offset, uint32_t event,
		   uint64_t samples, uint64_t period, struct vt_error *err)
{
	struct count key = {.offset = offset, .image = image, .event = event};
	struct count *c = vt_hash_add(&s->counts, &key, NULL);

	if (!c)
		return vt_error_nomem(err);
	c->samples += samples;
	c->period += period;
	return 0;
}

int vt_sites_map(struct vt_sites *s, uint32_t image, const struct vt_record *map,
		 struct vt_error *err)
{
	struct map key = {
		.start = vt_record_u64(map, VT_MAP_START),
		.length = vt_record_u64(map, VT_MAP_LENGTH),
		.offset = vt_record_u64(map, VT_MAP_OFFSET),
		.pid = vt_record_i64(map, VT_MAP_PID),
		.image = image,
		.prot = vt_record_u64(map, VT_MAP_PROT),
		.flags = vt_record_u64(map, VT_MAP_FLAGS),
		.ncode = s->ncode,
	};

	struct map *m = vt_hash_add(&s->maps, &key, NULL);

	if (!m)
		return vt_error_nomem(err);
	m->last = ++s->nmaps;
	return 0;
}

int vt_sites_code(struct vt_sites *s, const struct vt_bblock *b, struct vt_error *err)
{
	struct code *c;

	if (!vt_array_grow(&s->code, &s->code_cap, s->ncode + 1, sizeof(*s->code)))
		return vt_error_nomem(err);
	c = &s->code[s->ncode++];
	c->block = *b;
	c->block.nslots = 0;
	c->bytes = s->code_bytes.size;
	vt_buf_put(&s->code_bytes, b->code, b->size);
	c->lengths = s->code_bytes.size;
	vt_buf_put(&s->code_bytes, b->lengths, b->ninsns);
	return s->code_bytes.failed ? vt_error_nomem(err) : 0;
}

/* ---- writing ---- */

/* Entries in order: what sorting needs of each. */
struct rank {
	const struct vt_sites *sites;
	size_t index;
};

typedef int compare_fn(const void *a, const void *b);

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_string(const struct vt_sites *s, uint32_t a, uint32_t b)
{
	size_t na = vt_intern_size(s->strings, a), nb = vt_intern_size(s->strings, b);
	int c = memcmp(vt_intern_get(s->strings, a), vt_intern_get(s->strings, b),
		       na < nb ? na : nb);

	return c ? c : by_number(na, nb);
}

static int compare_site_images(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	const struct image *i = vt_hash_at(&x->sites->images, x->index);
	const struct image *k = vt_hash_at(&y->sites->images, y->index);
	int c = by_string(x->sites, i->path, k->path);

	if (!c)
		c = by_string(x->sites, i->buildid, k->buildid);
	return c ? c : by_number(i->type, k->type);
}

static uint32_t get_site_image_id(const struct vt_sites *s, uint64_t image)
{
	const struct image *i;

	if (image == VT_SITES_NO_IMAGE)
		return VT_SITES_NO_IMAGE;
	i = vt_hash_at(&s->images, image);
	return i->id;
}

static int compare_maps(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	const struct map *m = vt_hash_at(&x->sites->maps, x->index);
	const struct map *n = vt_hash_at(&y->sites->maps, y->index);

	/* What is mapped over something else is to stay the later one. */
	return by_number(m->last, n->last);
}

static int compare_counts(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	const struct count *m = vt_hash_at(&x->sites->counts, x->index);
	const struct count *n = vt_hash_at(&y->sites->counts, y->index);
	int c = by_number(get_site_image_id(x->sites, m->image),
			  get_site_image_id(y->sites, n->image));

	if (!c)
		c = by_number(m->offset, n->offset);
	return c ? c : by_number(m->event, n->event);
}

static int compare_site_lists(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	const struct vt_site *m = vt_hash_at(&x->sites->places, x->index);
	const struct vt_site *n = vt_hash_at(&y->sites->places, y->index);
	const uint64_t p[] = {get_site_image_id(x->sites, m->image),
			      m->offset,
			      m->what,
			      m->reg,
			      m->lane,
			      m->caller ? get_site_image_id(x->sites, m->caller_image) : 0,
			      m->caller};
	const uint64_t q[] = {get_site_image_id(y->sites, n->image),
			      n->offset,
			      n->what,
			      n->reg,
			      n->lane,
			      n->caller ? get_site_image_id(y->sites, n->caller_image) : 0,
			      n->caller};
	size_t i;

	for (i = 0; i < sizeof(p) / sizeof(p[0]) - 1 && p[i] == q[i]; i++)
		;
	return by_number(p[i], q[i]);
}

static struct rank *make_sorted_ranks(const struct vt_sites *s, const struct vt_hash *h,
				      compare_fn *compare)
{
	struct rank *r = calloc(h->count ? h->count : 1, sizeof(*r));
	size_t i;

	if (!r)
		return NULL;
	for (i = 0; i < h->count; i++)
		r[i] = (struct rank){s, i};
	qsort(r, h->count, sizeof(*r), compare);
	return r;
}

static void write_string(const struct vt_sites *s, struct vt_writer *w, unsigned field, uint32_t id)
{
	vt_writer_bytes(w, field, vt_intern_get(s->strings, id), vt_intern_size(s->strings, id));
}

static void write_site_events(struct vt_sites *s, struct vt_writer *w)
{
	size_t i;

	for (i = 0; i < s->events.count; i++) {
		const struct event *e = vt_hash_at(&s->events, i);
		uint64_t *row = vt_writer_row(w, VT_EVENT);

		row[VT_EVENT_ID] = i;
		row[VT_EVENT_POLICY] = e->policy;
		row[VT_EVENT_PERIOD] = e->policy == VT_POLICY_EXACT ? 1 : 0;
		write_string(s, w, VT_EVENT_NAME, e->name);
		write_string(s, w, VT_EVENT_UNIT, e->unit);
	}
}

static int write_images(struct vt_sites *s, struct vt_writer *w, struct vt_error *err)
{
	struct rank *r = make_sorted_ranks(s, &s->images, compare_site_images);
	size_t k;

	if (!r)
		return vt_error_nomem(err);
	for (k = 0; k < s->images.count; k++) {
		struct image *i = vt_hash_at(&s->images, r[k].index);
		uint64_t *row = vt_writer_row(w, VT_IMAGE);

		i->id = (uint32_t)k;
		row[VT_IMAGE_ID] = k;
		row[VT_IMAGE_TYPE] = i->type;
		row[VT_IMAGE_MACHINE] = i->machine;
		write_string(s, w, VT_IMAGE_PATH, i->path);
		write_string(s, w, VT_IMAGE_BUILDID, i->buildid);
		vt_packs_write(s->packs, (unsigned)i->type, vt_intern_get(s->strings, i->path),
			       vt_intern_size(s->strings, i->path),
			       vt_intern_get(s->strings, i->buildid),
			       vt_intern_size(s->strings, i->buildid), i->id, w);
	}
	free(r);
	return 0;
}

static void write_map(const struct vt_sites *s, const struct map *m, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = (uint64_t)m->pid;
	row[VT_MAP_TID] = (uint64_t)m->pid;
	row[VT_MAP_START] = m->start;
	row[VT_MAP_LENGTH] = m->length;
	row[VT_MAP_OFFSET] = m->offset;
	row[VT_MAP_IMAGE] = get_site_image_id(s, m->image);
	row[VT_MAP_PROT] = m->prot;
	row[VT_MAP_FLAGS] = m->flags;
}

/* Ids are the order: readers take dense ones only. */
static void write_code(const struct vt_sites *s, size_t id, struct vt_writer *w)
{
	struct vt_bblock b = s->code[id].block;

	b.code = s->code_bytes.data + s->code[id].bytes;
	b.lengths = s->code_bytes.data + s->code[id].lengths;
	vt_bblock_write(&b, id, false, w);
}

/* A block goes behind the mappings that were made before it: they say in which image it lies. */
static int write_maps(struct vt_sites *s, struct vt_writer *w, struct vt_error *err)
{
	struct rank *r = make_sorted_ranks(s, &s->maps, compare_maps);
	size_t k, id = 0;

	if (!r)
		return vt_error_nomem(err);
	for (k = 0; k < s->maps.count; k++) {
		const struct map *m = vt_hash_at(&s->maps, r[k].index);

		for (; id < m->ncode; id++)
			write_code(s, id, w);
		write_map(s, m, w);
	}
	for (; id < s->ncode; id++)
		write_code(s, id, w);
	free(r);
	return 0;
}

static int write_site_counts(struct vt_sites *s, struct vt_writer *w, struct vt_error *err)
{
	struct rank *r = make_sorted_ranks(s, &s->counts, compare_counts);
	size_t k;

	if (!r)
		return vt_error_nomem(err);
	for (k = 0; k < s->counts.count; k++) {
		const struct count *c = vt_hash_at(&s->counts, r[k].index);
		uint64_t *row = vt_writer_row(w, VT_COUNT);

		row[VT_COUNT_IMAGE] = get_site_image_id(s, c->image);
		row[VT_COUNT_OFFSET] = c->offset;
		row[VT_COUNT_EVENT] = c->event;
		row[VT_COUNT_SAMPLES] = c->samples;
		row[VT_COUNT_PERIOD] = c->period;
	}
	free(r);
	return 0;
}

static int write_site_lists(struct vt_sites *s, struct vt_writer *w, struct vt_error *err)
{
	struct rank *r = make_sorted_ranks(s, &s->places, compare_site_lists);
	struct vt_hot hot = {.nvalues = 0};
	int code = r ? 0 : vt_error_nomem(err);
	size_t k;

	for (k = 0; k < s->places.count && code == 0; k++) {
		const struct list *l = vt_hash_at(&s->places, r[k].index);

		if (!l->list || !l->list->total)
			continue;
		code = vt_hotlist_read(s->lists, l->list, &hot, err);
		if (code < 0)
			break;
		hot.key = (struct vt_hot_key){.offset = l->site.offset,
					      .caller = l->site.caller,
					      .what = l->site.what,
					      .reg = l->site.reg,
					      .lane = l->site.lane};
		hot.size = (uint32_t)l->size;
		vt_hot_put(&hot, get_site_image_id(s, l->site.image),
			   l->site.caller ? get_site_image_id(s, l->site.caller_image) : 0, w);
	}
	vt_hot_fini(&hot);
	free(r);
	return code;
}

int vt_sites_write(struct vt_sites *s, struct vt_writer *w, struct vt_error *err)
{
	/* Images first: the rest has the ids, and the order, that they get here. */
	int code = write_images(s, w, err);

	write_site_events(s, w);
	vt_plugin_names_write(s->plugins, w);
	if (code == 0)
		code = write_maps(s, w, err);
	if (code == 0)
		code = write_site_counts(s, w, err);
	return code == 0 ? write_site_lists(s, w, err) : code;
}

void vt_sites_write_loss(struct vt_writer *w, const struct vt_record *lost)
{
	struct vt_bytes source = vt_record_bytes(lost, VT_LOST_SOURCE);
	uint64_t *row = vt_writer_row(w, VT_LOST);

	row[VT_LOST_TIME] = vt_record_u64(lost, VT_LOST_TIME);
	row[VT_LOST_PID] = vt_record_u64(lost, VT_LOST_PID);
	row[VT_LOST_TID] = vt_record_u64(lost, VT_LOST_TID);
	row[VT_LOST_CPU] = vt_record_u64(lost, VT_LOST_CPU);
	row[VT_LOST_COUNT] = vt_record_u64(lost, VT_LOST_COUNT);
	vt_writer_bytes(w, VT_LOST_SOURCE, source.data, source.size);
}
