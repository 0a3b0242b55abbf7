/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/info_missing.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/vtrace/summary.h"
#include "formats/pt/decode/engine.h"
#include "image/images.h"
#include "listing/json.h"

#define MIB	 (UINT64_C(1) << 20)
#define MAX_ROWS 20 /* what a person reads */

bool missing_code_init(struct missing_code *m)
{
	vt_hash_init(&m->ranges, sizeof(struct missing_range), 2 * sizeof(uint64_t));
	m->as = vt_addrspace_new();
	return m->as != NULL;
}

void missing_code_fini(struct missing_code *m)
{
	vt_hash_fini(&m->ranges);
	vt_addrspace_free(m->as);
}

static bool feed_gap(struct missing_code *m, const struct vt_record *rec)
{
	struct vt_bytes reason = vt_record_bytes(rec, VT_GAP_REASON);
	const char *no_code = vt_pt_error_text(VT_PT_ERR_NO_CODE);
	uint64_t place = vt_record_u64(rec, VT_GAP_ADDR);
	struct missing_range key = {.image = MISSING_UNMAPPED, .mib = place & ~(MIB - 1)}, *r;
	const struct vt_map *map;
	bool added;

	/* Code that is there but is none has an address, too. */
	if (!place || reason.size != strlen(no_code) ||
	    memcmp(reason.data, no_code, reason.size) != 0)
		return true;
	map = vt_addrspace_find(m->as, (int32_t)vt_record_i64(rec, VT_GAP_PID), place, 0);
	if (map) {
		key = (struct missing_range){.image = map->image};
		place = vt_map_offset(map, place);
	}
	if (m->ranges.count >= SUMMARY_MAX && !vt_hash_find(&m->ranges, &key))
		return true;
	r = vt_hash_add(&m->ranges, &key, &added);
	if (!r)
		return false;
	r->places++;
	r->bytes += vt_record_u64(rec, VT_GAP_BYTES);
	r->first = added || place < r->first ? place : r->first;
	r->last = place > r->last ? place : r->last;
	return true;
}

bool missing_code_feed(struct missing_code *m, const struct vt_record *rec)
{
	struct vt_error err = VT_ERROR_INIT;

	if (rec->kind == VT_GAP)
		return feed_gap(m, rec);
	return vt_addrspace_feed(m->as, rec, &err) != -VT_E_NOMEM;
}

/* Most places first; then in the order of images and addresses. */
static int compare(const void *a, const void *b)
{
	const struct missing_range *x = a, *y = b;

	if (x->places != y->places)
		return x->places < y->places ? 1 : -1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->mib < y->mib ? -1 : x->mib > y->mib;
}

/* Owned by the caller; NULL: no memory. */
static struct missing_range *sorted(const struct missing_code *m)
{
	struct missing_range *list = malloc((m->ranges.count + 1) * sizeof(*list));
	size_t i;

	for (i = 0; list && i < m->ranges.count; i++)
		list[i] = *(const struct missing_range *)vt_hash_at(&m->ranges, i);
	if (list)
		qsort(list, m->ranges.count, sizeof(*list), compare);
	return list;
}

static const struct named_image *image_of(const struct missing_range *r, const struct names *names)
{
	return r->image == MISSING_UNMAPPED ? NULL : names_image(names, r->image);
}

static void put_row(struct vt_table *t, const struct missing_range *r, const struct names *names)
{
	const struct named_image *image = image_of(r, names);

	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, r->places);
	vt_table_number(t, r->bytes);
	vt_table_number(t, r->first);
	vt_table_number(t, r->last);
	if (image)
		vt_table_text(t, vt_intern_get(names->strings, image->path),
			      vt_intern_size(names->strings, image->path));
	else
		vt_table_printf(t, "(%s)",
				vt_unknown_text(r->image == MISSING_UNMAPPED
							? VT_UNKNOWN_NO_MAP
							: VT_UNKNOWN_NO_IMAGE));
}

struct vt_table *missing_code_table(const struct missing_code *m, const struct names *names,
				    size_t *left)
{
	struct missing_range *list = sorted(m);
	struct vt_table *t = list ? vt_table_new() : NULL;
	size_t i;

	*left = m->ranges.count > MAX_ROWS ? m->ranges.count - MAX_ROWS : 0;
	if (t) {
		vt_table_column(t, "places", "places", VT_FORMAT_NUMBER);
		vt_table_column(t, "bytes", "bytes", VT_FORMAT_NUMBER);
		vt_table_column(t, "first", "first", VT_FORMAT_HEX);
		vt_table_column(t, "last", "last", VT_FORMAT_HEX);
		vt_table_column(t, "image", "image", VT_FORMAT_TEXT);
		for (i = 0; i < m->ranges.count - *left; i++)
			put_row(t, &list[i], names);
	}
	free(list);
	return t;
}

json_t *missing_code_json(const struct missing_code *m, const struct names *names)
{
	struct missing_range *list = sorted(m);
	json_t *a = json_array();
	size_t i;

	for (i = 0; list && i < m->ranges.count; i++) {
		const struct named_image *image = image_of(&list[i], names);
		json_t *o = json_object();

		if (image)
			json_object_set_new(
				o, "image",
				vt_json_text(vt_intern_get(names->strings, image->path),
					     vt_intern_size(names->strings, image->path)));
		json_object_set_new(o, "first", vt_json_hex(list[i].first));
		json_object_set_new(o, "last", vt_json_hex(list[i].last));
		json_object_set_new(o, "places", vt_json_u64(list[i].places));
		json_object_set_new(o, "bytes", vt_json_u64(list[i].bytes));
		json_array_append_new(a, o);
	}
	free(list);
	return a;
}
