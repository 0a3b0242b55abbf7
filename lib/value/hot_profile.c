/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/hot_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/rng.h"

/* Strings are numbers of one pool, so that equal keys have equal bytes. */
struct known_image {
	uint32_t buildid; /* if there is one, type and path are no part of the key: 0 */
	uint32_t type_key;
	uint32_t path_key;
	uint32_t path; /* of several paths of one build-id the first in the alphabet */
	uint32_t type;
	uint32_t machine;
	uint32_t id;	 /* in the stream that had it last */
	uint32_t number; /* in the order of images */
};

#define IMAGE_KEY_SIZE offsetof(struct known_image, path)

struct declared_image {
	uint64_t id;
	struct known_image image;
};

struct vt_hotprofile {
	struct vt_intern *strings;
	struct vt_plugin_names *plugins;
	struct vt_rng rng;
	struct vt_hash known;	 /* struct known_image */
	struct vt_hash declared; /* struct declared_image of the stream at hand */
	bool ended;		 /* what comes next is another stream */
	struct vt_hot_image *images;
	uint32_t *order; /* the index in `known` of each image */
	size_t nimages;
	struct vt_hot *lists; /* in order; while a stream is read, its own follow */
	size_t nlists;
	size_t nown;
	size_t cap;
	struct vt_hot_damage damage;
};

struct vt_hotprofile *vt_hotprofile_new(uint64_t seed)
{
	struct vt_hotprofile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	vt_rng_init(&p->rng, seed);
	vt_hash_init(&p->known, sizeof(struct known_image), IMAGE_KEY_SIZE);
	vt_hash_init(&p->declared, sizeof(struct declared_image), sizeof(uint64_t));
	p->strings = vt_intern_new();
	p->plugins = vt_plugin_names_new();
	if (!p->strings || !p->plugins) {
		vt_hotprofile_free(p);
		return NULL;
	}
	return p;
}

void vt_hotprofile_free(struct vt_hotprofile *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->nlists + p->nown; i++)
		vt_hot_fini(&p->lists[i]);
	free(p->lists);
	free(p->images);
	free(p->order);
	vt_hash_fini(&p->known);
	vt_hash_fini(&p->declared);
	vt_intern_free(p->strings);
	vt_plugin_names_free(p->plugins);
	free(p);
}

/* ---- one stream ---- */

static int add_declared_image(struct vt_hotprofile *p, const struct vt_record *rec,
			      struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct vt_bytes buildid = vt_record_bytes(rec, VT_IMAGE_BUILDID);
	struct declared_image *d = vt_hash_add(&p->declared, &id, NULL);
	struct known_image *i;

	if (!d)
		return vt_error_nomem(err);
	i = &d->image;
	i->buildid = vt_intern_add(p->strings, buildid.data, buildid.size);
	i->path = vt_intern_add(p->strings, path.data, path.size);
	if (i->buildid == UINT32_MAX || i->path == UINT32_MAX)
		return vt_error_nomem(err);
	i->type = (uint32_t)vt_record_u64(rec, VT_IMAGE_TYPE);
	i->machine = (uint32_t)vt_record_u64(rec, VT_IMAGE_MACHINE);
	i->path_key = i->buildid ? 0 : i->path;
	i->type_key = i->buildid ? 0 : i->type;
	return 0;
}

static int take_list(struct vt_hotprofile *p, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_hot *h;
	struct vt_error why;
	int code;

	if (!vt_array_grow(&p->lists, &p->cap, p->nlists + p->nown + 1, sizeof(*p->lists)))
		return vt_error_nomem(err);
	h = &p->lists[p->nlists + p->nown];
	code = vt_hot_load(h, rec, &why);
	if (code == -VT_E_DAMAGED) {
		if (p->damage.rejected++ == 0)
			memcpy(p->damage.first, why.text, sizeof(p->damage.first));
		return 0;
	}
	if (code < 0)
		return vt_error_nomem(err);
	/* Lists of one place are joined in the order in which they came, which is in `zero`. */
	h->key.zero = (uint32_t)++p->nown;
	return p->nown < UINT32_MAX ? 0 : vt_error_set(err, VT_E_LIMIT, "too many hot lists");
}

static void begin_hot_stream(struct vt_hotprofile *p)
{
	vt_hash_clear(&p->declared);
	vt_plugin_names_begin(p->plugins);
	p->damage = (struct vt_hot_damage){.rejected = 0};
}

int vt_hotprofile_feed(void *profile, const struct vt_block *block, uint32_t first, uint32_t count,
		       struct vt_error *err)
{
	struct vt_hotprofile *p = profile;
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	if (block->kind != VT_IMAGE && block->kind != VT_HOT && block->kind != VT_MODULE &&
	    block->kind != VT_LABEL)
		return 0;
	if (p->ended)
		begin_hot_stream(p);
	p->ended = false;
	for (; rec.row - first < count && code == 0; rec.row++)
		code = block->kind == VT_IMAGE ? add_declared_image(p, &rec, err)
		       : block->kind == VT_HOT ? take_list(p, &rec, err)
					       : vt_plugin_names_feed(p->plugins, &rec, err);
	return code;
}

/* ---- images ---- */

/* The index in `known` of the image that the stream at hand calls `id`. */
static int add_known_image(struct vt_hotprofile *p, uint64_t id, uint32_t *index,
			   struct vt_error *err)
{
	struct known_image undeclared = {.type_key = VT_IMAGE_FILE, .type = VT_IMAGE_FILE};
	const struct declared_image *d = vt_hash_find(&p->declared, &id);
	const struct known_image *i = d ? &d->image : &undeclared;
	struct known_image *k;
	char name[40];
	bool added;

	if (!d) {
		snprintf(name, sizeof(name), "[image %" PRIu64 "]", id);
		undeclared.path = undeclared.path_key = vt_intern_str(p->strings, name);
	}
	k = vt_hash_add(&p->known, i, &added);
	if (!k || i->path == UINT32_MAX || p->known.count >= VT_HOT_NO_IMAGE)
		return vt_error_nomem(err);
	if (added ||
	    strcmp(vt_intern_get(p->strings, i->path), vt_intern_get(p->strings, k->path)) < 0) {
		k->path = i->path;
		k->type = i->type;
		k->machine = i->machine;
	}
	k->id = (uint32_t)id;
	*index = (uint32_t)vt_hash_index(&p->known, k);
	return 0;
}

/* The image of a place or a caller in the terms of `known`. */
static int add_known_place(struct vt_hotprofile *p, uint32_t *image, struct vt_error *err)
{
	return *image == VT_HOT_NO_IMAGE ? 0 : add_known_image(p, *image, image, err);
}

static bool has_caller(const struct vt_hot_key *key)
{
	return key->caller || key->caller_image;
}

static int add_own_images(struct vt_hotprofile *p, struct vt_error *err)
{
	uint32_t index;
	size_t i;
	int code = 0;

	for (i = 0; i < p->declared.count && code == 0; i++)
		code = add_known_image(p, *(uint64_t *)vt_hash_at(&p->declared, i), &index, err);
	for (i = p->nlists; i < p->nlists + p->nown && code == 0; i++) {
		struct vt_hot_key *key = &p->lists[i].key;
		bool called = has_caller(key);

		if (key->what == VT_WHAT_MODULE)
			key->reg = vt_plugin_names_number(p->plugins, key->reg);
		if (key->what == VT_WHAT_MODULE && key->reg == UINT32_MAX)
			return vt_error_nomem(err);
		code = add_known_place(p, &key->image, err);
		if (code == 0 && called)
			code = add_known_place(p, &key->caller_image, err);
		/* A caller at offset 0 of image 0 would look like none. */
		if (code == 0 && called && !key->caller)
			key->caller_image = VT_HOT_NO_IMAGE;
	}
	return code;
}

struct image_rank {
	const char *path;
	const char *buildid;
	size_t buildid_size;
	uint32_t type;
	uint32_t index;
};

static int compare_image_ranks(const void *a, const void *b)
{
	const struct image_rank *x = a, *y = b;
	size_t size = x->buildid_size < y->buildid_size ? x->buildid_size : y->buildid_size;
	int c = strcmp(x->path, y->path);

	if (c == 0 && size)
		c = memcmp(x->buildid, y->buildid, size);
	if (c == 0)
		c = (x->buildid_size > y->buildid_size) - (x->buildid_size < y->buildid_size);
	return c ? c : (x->type > y->type) - (x->type < y->type);
}

static void show_image(const struct vt_hotprofile *p, const struct known_image *k,
		       struct vt_hot_image *image)
{
	const char *slash;

	image->path = vt_intern_get(p->strings, k->path);
	slash = strrchr(image->path, '/');
	image->name = slash && slash[1] ? slash + 1 : image->path;
	image->buildid = (const uint8_t *)vt_intern_get(p->strings, k->buildid);
	image->buildid_size = vt_intern_size(p->strings, k->buildid);
	image->type = k->type;
	image->machine = k->machine;
	image->id = k->id;
}

/* Numbers the known images in their order. */
static int order_images(struct vt_hotprofile *p, struct vt_error *err)
{
	size_t n = p->known.count, i;
	struct image_rank *ranks = malloc((n + 1) * sizeof(*ranks));
	struct vt_hot_image *images = malloc((n + 1) * sizeof(*images));
	uint32_t *order = malloc((n + 1) * sizeof(*order));

	if (!ranks || !images || !order) {
		free(ranks);
		free(images);
		free(order);
		return vt_error_nomem(err);
	}
	for (i = 0; i < n; i++) {
		const struct known_image *k = vt_hash_at(&p->known, i);

		ranks[i] = (struct image_rank){
			vt_intern_get(p->strings, k->path), vt_intern_get(p->strings, k->buildid),
			vt_intern_size(p->strings, k->buildid), k->type, (uint32_t)i};
	}
	qsort(ranks, n, sizeof(*ranks), compare_image_ranks);
	for (i = 0; i < n; i++) {
		struct known_image *k = vt_hash_at(&p->known, ranks[i].index);

		order[i] = ranks[i].index;
		k->number = (uint32_t)i;
		show_image(p, k, &images[i]);
	}
	free(ranks);
	free(p->images);
	free(p->order);
	p->images = images;
	p->order = order;
	p->nimages = n;
	return 0;
}

static void number_image(const struct vt_hotprofile *p, uint32_t *image)
{
	if (*image != VT_HOT_NO_IMAGE)
		*image = ((const struct known_image *)vt_hash_at(&p->known, *image))->number;
}

/* ---- joining ---- */

/* Lists that are there already go back to the terms of `known`, which stay as images are added. */
static void restore_known_numbers(struct vt_hotprofile *p)
{
	size_t i;

	for (i = 0; i < p->nlists; i++) {
		struct vt_hot_key *key = &p->lists[i].key;

		if (key->image != VT_HOT_NO_IMAGE)
			key->image = p->order[key->image];
		if (key->caller && key->caller_image != VT_HOT_NO_IMAGE)
			key->caller_image = p->order[key->caller_image];
	}
}

static int name_place(const struct vt_hotprofile *p, const struct vt_hot_key *key,
		      struct vt_error *err)
{
	const struct vt_hot_image *image = vt_hotprofile_image(p, key->image);

	return vt_error_prefix(err, "%s at 0x%" PRIx64 " of %s", vt_what_name(key->what),
			       key->offset, image ? image->path : "[unmapped]");
}

static int compare_hot_keys(const void *a, const void *b)
{
	return vt_hot_key_compare(&((const struct vt_hot *)a)->key,
				  &((const struct vt_hot *)b)->key);
}

/* Adds `nown` lists, all of them in the terms of `known`, to those that are there. */
static int join_lists(struct vt_hotprofile *p, struct vt_error *err)
{
	size_t n = p->nlists + p->nown, i, kept = 0;
	int code = 0;

	for (i = 0; i < n; i++) {
		number_image(p, &p->lists[i].key.image);
		if (p->lists[i].key.caller)
			number_image(p, &p->lists[i].key.caller_image);
	}
	if (n)
		qsort(p->lists, n, sizeof(*p->lists), compare_hot_keys);
	for (i = 0; i < n && code == 0; i++) {
		struct vt_hot *h = &p->lists[i];

		h->key.zero = 0;
		if (kept && vt_hot_key_compare(&p->lists[kept - 1].key, &h->key) == 0) {
			code = vt_hot_merge(&p->lists[kept - 1], h, &p->rng, err);
			if (code == 0)
				vt_hot_fini(h);
			else
				name_place(p, &h->key, err);
		} else if (kept++ != i) {
			p->lists[kept - 1] = *h;
			*h = (struct vt_hot){.values = NULL};
		}
	}
	p->nlists = code == 0 ? kept : n;
	p->nown = 0;
	return code;
}

int vt_hotprofile_end(struct vt_hotprofile *p, struct vt_error *err)
{
	int code;

	if (p->ended)
		begin_hot_stream(p);
	p->ended = true;
	restore_known_numbers(p);
	code = add_own_images(p, err);
	if (code == 0)
		code = order_images(p, err);
	return code == 0 ? join_lists(p, err) : code;
}

/* ---- what it holds ---- */

size_t vt_hotprofile_count(const struct vt_hotprofile *p)
{
	return p->nlists;
}

const struct vt_hot *vt_hotprofile_at(const struct vt_hotprofile *p, size_t i)
{
	return &p->lists[i];
}

/* The index of the first list that is not before a key. */
static size_t lower_bound(const struct vt_hotprofile *p, const struct vt_hot_key *key)
{
	size_t low = 0, high = p->nlists;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (vt_hot_key_compare(&p->lists[mid].key, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t vt_hotprofile_find(const struct vt_hotprofile *p, uint32_t image, uint64_t offset,
			  size_t *first)
{
	struct vt_hot_key key = {.image = image, .offset = offset};
	size_t i = lower_bound(p, &key);

	*first = i;
	while (i < p->nlists && p->lists[i].key.image == image && p->lists[i].key.offset == offset)
		i++;
	return i - *first;
}

int vt_hotprofile_count_executions(const struct vt_hotprofile *p, struct vt_profile *profile,
				   struct vt_error *err)
{
	size_t i, k, n;
	int code = 0;

	for (i = 0; i < p->nlists && code == 0; i += n) {
		const struct vt_hot_key *key = &p->lists[i].key;
		uint64_t most = 0;

		n = vt_hotprofile_find(p, key->image, key->offset, &i);
		for (k = i; k < i + n; k++)
			if (p->lists[k].total > most)
				most = p->lists[k].total;
		if (key->image != VT_HOT_NO_IMAGE)
			code = vt_profile_count(profile, VT_PROFILE_LISTED,
						p->images[key->image].id, key->offset, most, err);
	}
	return code;
}

const struct vt_hot *vt_hotprofile_get(const struct vt_hotprofile *p, const struct vt_hot_key *key)
{
	size_t i = lower_bound(p, key);

	if (i == p->nlists || vt_hot_key_compare(&p->lists[i].key, key) != 0)
		return NULL;
	return &p->lists[i];
}

size_t vt_hotprofile_nimages(const struct vt_hotprofile *p)
{
	return p->nimages;
}

const struct vt_hot_image *vt_hotprofile_image(const struct vt_hotprofile *p, uint32_t image)
{
	return image < p->nimages ? &p->images[image] : NULL;
}

static uint32_t find_image_number(const struct vt_hotprofile *p, const struct known_image *key)
{
	const struct known_image *k = vt_hash_find(&p->known, key);

	return k ? k->number : VT_HOT_NO_IMAGE;
}

uint32_t vt_hotprofile_image_of(const struct vt_hotprofile *p, uint64_t id)
{
	const struct declared_image *d = vt_hash_find(&p->declared, &id);

	return d ? find_image_number(p, &d->image) : VT_HOT_NO_IMAGE;
}

uint32_t vt_hotprofile_same_image(const struct vt_hotprofile *p, const struct vt_hot_image *image)
{
	struct known_image key = {.type = 0};

	key.buildid = vt_intern_find(p->strings, image->buildid, image->buildid_size);
	if (!image->buildid_size) {
		key.path_key = vt_intern_find(p->strings, image->path, strlen(image->path));
		key.type_key = image->type;
	}
	return find_image_number(p, &key);
}

const struct vt_plugin_names *vt_hotprofile_plugins(const struct vt_hotprofile *p)
{
	return p->plugins;
}

const struct vt_hot_damage *vt_hotprofile_damage(const struct vt_hotprofile *p)
{
	return &p->damage;
}
