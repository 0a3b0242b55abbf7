/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/coprocessor/counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row and what it is ranked by. */
struct ranked {
	const uint64_t *row;
	uint64_t sum;
	unsigned keys;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	unsigned i;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	for (i = 0; i < x->keys; i++)
		if (x->row[i] != y->row[i])
			return x->row[i] < y->row[i] ? -1 : 1;
	return 0;
}

static struct ranked *rank_rows(const struct vt_host *h)
{
	size_t n = vt_host_rows(h), i;
	struct ranked *rows = calloc(n + 1, sizeof(*rows));
	unsigned k;

	for (i = 0; rows && i < n; i++) {
		rows[i].row = vt_host_row(h, i);
		rows[i].keys = vt_host_keys(h);
		for (k = rows[i].keys; k < vt_host_columns(h); k++)
			rows[i].sum += rows[i].row[k];
	}
	if (rows)
		qsort(rows, n, sizeof(*rows), compare_ranked);
	return rows;
}

/* ---- columns ---- */

/* Where a key's name is divided, if it is. */
static const char *find_dash(const struct vt_host *h, unsigned column)
{
	return vt_host_column_bits(h, column) == 64 ? strchr(vt_host_column(h, column), '-') : NULL;
}

/* Whether a key is 32 bits of an instruction in each row that has one. */
static bool has_places(const struct vt_coproc_run *r, unsigned column)
{
	const struct vt_host *h = r->host;
	bool all = vt_host_column_bits(h, column) == 32;
	size_t i;

	for (i = 0; all && i < vt_host_rows(h); i++) {
		uint64_t key = vt_host_row(h, i)[column];

		all = !key || vt_feed_find(r->feed, key);
	}
	return all || find_dash(h, column);
}

static void add_key_column(struct vt_table *t, const char *name, size_t size, bool places)
{
	char key[VT_UCODE_NAME], place[VT_UCODE_NAME + 8];

	snprintf(key, sizeof(key), "%.*s", (int)size, name);
	snprintf(place, sizeof(place), "%s_place", key);
	vt_table_column(t, key, key, VT_FORMAT_HEX);
	if (places)
		vt_table_column(t, place, "place", VT_FORMAT_NAME);
}

static void add_columns(struct vt_table *t, const struct vt_coproc_run *r, bool *places)
{
	const struct vt_host *h = r->host;
	unsigned i;

	for (i = 0; i < vt_host_keys(h); i++) {
		const char *name = vt_host_column(h, i), *dash = find_dash(h, i);

		places[i] = has_places(r, i);
		add_key_column(t, name, dash ? (size_t)(dash - name) : strlen(name), places[i]);
		if (dash)
			add_key_column(t, dash + 1, strlen(dash + 1), true);
	}
	for (; i < vt_host_columns(h); i++)
		vt_table_column(t, vt_host_column(h, i), vt_host_column(h, i), VT_FORMAT_NUMBER);
}

/* ---- cells ---- */

static void put_place(struct vt_table *t, const struct vt_feed_place *p, struct vt_images *images)
{
	struct vt_location loc;

	if (!p ||
	    vt_images_symbol(images, p->image, (int32_t)p->pid, p->offset, &loc) != VT_KNOWN ||
	    !loc.symbol) {
		vt_table_empty(t);
		return;
	}
	vt_table_printf(t, "%s+0x%" PRIx64,
			vt_images_display(images, p->image, (int32_t)p->pid, loc.symbol),
			loc.vaddr - loc.symbol->start);
}

/* Half of a key that is divided, or a key that is 32 bits of an instruction. */
static void put_pc(struct vt_table *t, const struct vt_coproc_run *r, struct vt_images *images,
		   uint64_t key)
{
	vt_table_number(t, key);
	put_place(t, vt_feed_find(r->feed, key), images);
}

static void put_row(struct vt_table *t, const struct vt_coproc_run *r, struct vt_images *images,
		    const uint64_t *row, const bool *places)
{
	const struct vt_host *h = r->host;
	unsigned i;

	vt_table_row(t, VT_STYLE_PLAIN);
	for (i = 0; i < vt_host_keys(h); i++) {
		if (find_dash(h, i)) {
			put_pc(t, r, images, row[i] >> 32);
			put_pc(t, r, images, (uint32_t)row[i]);
		} else if (places[i]) {
			put_pc(t, r, images, row[i]);
		} else {
			vt_table_number(t, row[i]);
		}
	}
	for (; i < vt_host_columns(h); i++)
		vt_table_number(t, row[i]);
}

struct vt_table *vt_coproc_counts_table(const struct vt_coproc_run *r, struct vt_images *images,
					uint64_t top, uint64_t *left_out)
{
	struct vt_table *t = vt_table_new();
	struct ranked *rows = t ? rank_rows(r->host) : NULL;
	size_t n = vt_host_rows(r->host), i;
	bool places[VT_UCODE_BASES + 1] = {false};

	if (!rows) {
		vt_table_free(t);
		return NULL;
	}
	add_columns(t, r, places);
	*left_out = top && n > top ? n - top : 0;
	for (i = 0; i < n - *left_out; i++)
		put_row(t, r, images, rows[i].row, places);
	free(rows);
	return t;
}
