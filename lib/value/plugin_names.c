/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "value/plugin_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"

#define OR	" or "
#define OR_SIZE (sizeof(OR) - 1)

/* Strings are numbers of one pool.  No padding: all of it is the key. */
struct plugin {
	uint32_t name;
	uint32_t format;
};

struct own {
	uint64_t id;
	uint64_t number;
};

struct label {
	uint64_t plugin;
	uint64_t value;
	uint64_t text;
};

struct vt_plugin_names {
	struct vt_intern *strings;
	struct vt_hash plugins;
	struct vt_hash own; /* of the stream at hand */
	struct vt_hash labels;
};

struct vt_plugin_names *vt_plugin_names_new(void)
{
	struct vt_plugin_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	vt_hash_init(&n->plugins, sizeof(struct plugin), sizeof(struct plugin));
	vt_hash_init(&n->own, sizeof(struct own), sizeof(uint64_t));
	vt_hash_init(&n->labels, sizeof(struct label), offsetof(struct label, text));
	n->strings = vt_intern_new();
	if (!n->strings) {
		free(n);
		return NULL;
	}
	return n;
}

void vt_plugin_names_free(struct vt_plugin_names *n)
{
	if (!n)
		return;
	vt_hash_fini(&n->plugins);
	vt_hash_fini(&n->own);
	vt_hash_fini(&n->labels);
	vt_intern_free(n->strings);
	free(n);
}

void vt_plugin_names_begin(struct vt_plugin_names *n)
{
	vt_hash_clear(&n->own);
}

/* ---- filling ---- */

/* For what has no name. */
static uint32_t make_name(struct vt_plugin_names *n, uint64_t id)
{
	char name[40];

	snprintf(name, sizeof(name), "plugin %" PRIu64, id);
	return vt_intern_str(n->strings, name);
}

/* The stream at hand calls a plugin of this name and format `id`. */
static uint32_t declare_plugin(struct vt_plugin_names *n, uint64_t id, uint32_t name,
			       uint32_t format)
{
	const struct plugin key = {name, format};
	struct own *own;
	struct plugin *m;

	if (name == UINT32_MAX || format == UINT32_MAX)
		return UINT32_MAX;
	own = vt_hash_add(&n->own, &id, NULL);
	m = own ? vt_hash_add(&n->plugins, &key, NULL) : NULL;
	if (!m)
		return UINT32_MAX;
	own->number = vt_hash_index(&n->plugins, m);
	return (uint32_t)own->number;
}

static int feed_plugin(struct vt_plugin_names *n, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_MODULE_NAME);
	struct vt_bytes format = vt_record_bytes(rec, VT_MODULE_FORMAT);
	uint64_t id = vt_record_u64(rec, VT_MODULE_ID);
	uint32_t number = declare_plugin(n, id,
					 name.size ? vt_intern_add(n->strings, name.data, name.size)
						   : make_name(n, id),
					 vt_intern_add(n->strings, format.data, format.size));

	return number == UINT32_MAX ? vt_error_nomem(err) : 0;
}

static bool has_part(const char *all, size_t size, struct vt_bytes part)
{
	size_t at, end;

	for (at = 0; at + part.size <= size; at++) {
		end = at + part.size;
		if ((at == 0 || (at >= OR_SIZE && memcmp(all + at - OR_SIZE, OR, OR_SIZE) == 0)) &&
		    (end == size ||
		     (size - end >= OR_SIZE && memcmp(all + end, OR, OR_SIZE) == 0)) &&
		    (!part.size || memcmp(all + at, part.data, part.size) == 0))
			return true;
	}
	return false;
}

/* Another stream calls the value so. */
static int add_text(struct vt_plugin_names *n, struct label *l, struct vt_bytes text,
		    struct vt_error *err)
{
	const char *old = vt_intern_get(n->strings, (uint32_t)l->text);
	size_t size = vt_intern_size(n->strings, (uint32_t)l->text);
	struct vt_buf both = VT_BUF_INIT;
	uint32_t string;

	if (has_part(old, size, text) || size + OR_SIZE + text.size > VT_PLUGIN_NAMES_MAX_TEXT)
		return 0;
	vt_buf_put(&both, old, size);
	vt_buf_put(&both, OR, OR_SIZE);
	vt_buf_put(&both, text.data, text.size);
	string = both.failed ? UINT32_MAX : vt_intern_add(n->strings, both.data, both.size);
	vt_buf_free(&both);
	if (string == UINT32_MAX)
		return vt_error_nomem(err);
	l->text = string;
	return 0;
}

static int feed_label(struct vt_plugin_names *n, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes text = vt_record_bytes(rec, VT_LABEL_TEXT);
	struct label key = {.value = vt_record_u64(rec, VT_LABEL_VALUE)};
	uint32_t number = vt_plugin_names_number(n, vt_record_u64(rec, VT_LABEL_MODULE));
	uint32_t string = vt_intern_add(n->strings, text.data, text.size);
	struct label *l;

	if (number == UINT32_MAX || string == UINT32_MAX)
		return vt_error_nomem(err);
	key.plugin = number;
	l = vt_hash_find(&n->labels, &key);
	if (l && l->text != string)
		return add_text(n, l, text, err);
	if (l || n->labels.count >= VT_PLUGIN_NAMES_MAX_LABELS)
		return 0;
	l = vt_hash_add(&n->labels, &key, NULL);
	if (!l)
		return vt_error_nomem(err);
	l->text = string;
	return 0;
}

int vt_plugin_names_feed(struct vt_plugin_names *n, const struct vt_record *rec,
			 struct vt_error *err)
{
	if (rec->kind == VT_MODULE)
		return feed_plugin(n, rec, err);
	return rec->kind == VT_LABEL ? feed_label(n, rec, err) : 0;
}

uint32_t vt_plugin_names_number(struct vt_plugin_names *n, uint64_t id)
{
	const struct own *own = vt_hash_find(&n->own, &id);

	if (own)
		return (uint32_t)own->number;
	return declare_plugin(n, id, make_name(n, id), vt_intern_str(n->strings, "hex"));
}

/* ---- what there is ---- */

static const struct plugin *get_plugin(const struct vt_plugin_names *n, uint32_t number)
{
	return number < n->plugins.count ? vt_hash_at(&n->plugins, number) : NULL;
}

static uint32_t same_string(const struct vt_plugin_names *n, const struct vt_plugin_names *of,
			    uint32_t string)
{
	return vt_intern_find(n->strings, vt_intern_get(of->strings, string),
			      vt_intern_size(of->strings, string));
}

uint32_t vt_plugin_names_same(const struct vt_plugin_names *n, const struct vt_plugin_names *of,
			      uint32_t number)
{
	const struct plugin *m = get_plugin(of, number), *found = NULL;
	struct plugin key;

	if (m) {
		key.name = same_string(n, of, m->name);
		key.format = same_string(n, of, m->format);
		found = vt_hash_find(&n->plugins, &key);
	}
	return found ? (uint32_t)vt_hash_index(&n->plugins, found) : UINT32_MAX;
}

const char *vt_plugin_name(const struct vt_plugin_names *n, uint32_t number)
{
	const struct plugin *m = get_plugin(n, number);

	return m ? vt_intern_get(n->strings, m->name) : "?";
}

const char *vt_plugin_format(const struct vt_plugin_names *n, uint32_t number)
{
	const struct plugin *m = get_plugin(n, number);

	return m ? vt_intern_get(n->strings, m->format) : "?";
}

const char *vt_plugin_label(const struct vt_plugin_names *n, uint32_t number, uint64_t value)
{
	const struct label key = {.plugin = number, .value = value};
	const struct label *l = vt_hash_find(&n->labels, &key);

	return l ? vt_intern_get(n->strings, (uint32_t)l->text) : NULL;
}

static void write_interned_string(const struct vt_plugin_names *n, struct vt_writer *w,
				  unsigned field, uint32_t string)
{
	vt_writer_bytes(w, field, vt_intern_get(n->strings, string),
			vt_intern_size(n->strings, string));
}

void vt_plugin_names_write(const struct vt_plugin_names *n, struct vt_writer *w)
{
	size_t i;

	for (i = 0; i < n->plugins.count; i++) {
		const struct plugin *m = vt_hash_at(&n->plugins, i);

		vt_writer_row(w, VT_MODULE)[VT_MODULE_ID] = i;
		write_interned_string(n, w, VT_MODULE_NAME, m->name);
		write_interned_string(n, w, VT_MODULE_FORMAT, m->format);
	}
	for (i = 0; i < n->labels.count; i++) {
		const struct label *l = vt_hash_at(&n->labels, i);
		uint64_t *row = vt_writer_row(w, VT_LABEL);

		row[VT_LABEL_MODULE] = l->plugin;
		row[VT_LABEL_VALUE] = l->value;
		write_interned_string(n, w, VT_LABEL_TEXT, (uint32_t)l->text);
	}
}
