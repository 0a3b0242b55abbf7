/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "summary/missing_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define MIB (UINT64_C(1) << 20)

bool vt_missing_code_init(struct vt_missing_code *m)
{
	vt_hash_init(&m->ranges, sizeof(struct vt_missing_range), 2 * sizeof(uint64_t));
	m->as = vt_addrspace_new();
	return m->as != NULL;
}

void vt_missing_code_fini(struct vt_missing_code *m)
{
	vt_hash_fini(&m->ranges);
	vt_addrspace_free(m->as);
}

static bool add_gap(struct vt_missing_code *m, const struct vt_record *rec)
{
	struct vt_bytes reason = vt_record_bytes(rec, VT_GAP_REASON);
	uint64_t place = vt_record_u64(rec, VT_GAP_ADDR);
	struct vt_missing_range key = {.image = VT_MISSING_UNMAPPED, .mib = place & ~(MIB - 1)}, *r;
	const struct vt_map *map;
	bool added;

	/* Other gaps have addresses, too: of bytes that are no instructions. */
	if (!place || reason.size != strlen(VT_REASON_NO_CODE) ||
	    memcmp(reason.data, VT_REASON_NO_CODE, reason.size) != 0)
		return true;
	map = vt_addrspace_find(m->as, (int32_t)vt_record_i64(rec, VT_GAP_PID), place, 0);
	if (map) {
		key = (struct vt_missing_range){.image = map->image};
		place = vt_map_offset(map, place);
	}
	if (m->ranges.count >= VT_MISSING_RANGES && !vt_hash_find(&m->ranges, &key))
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

bool vt_missing_code_feed(struct vt_missing_code *m, const struct vt_record *rec)
{
	struct vt_error err = VT_ERROR_INIT;

	if (rec->kind == VT_GAP)
		return add_gap(m, rec);
	return vt_addrspace_feed(m->as, rec, &err) != -VT_E_NOMEM;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct vt_missing_range *x = a, *y = b;

	if (x->places != y->places)
		return x->places < y->places ? 1 : -1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->mib < y->mib ? -1 : x->mib > y->mib;
}

struct vt_missing_range *vt_missing_code_sort(const struct vt_missing_code *m)
{
	struct vt_missing_range *list = malloc((m->ranges.count + 1) * sizeof(*list));
	size_t i;

	for (i = 0; list && i < m->ranges.count; i++)
		list[i] = *(const struct vt_missing_range *)vt_hash_at(&m->ranges, i);
	if (list)
		qsort(list, m->ranges.count, sizeof(*list), compare_ranges);
	return list;
}
