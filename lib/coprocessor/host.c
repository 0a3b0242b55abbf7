/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "coprocessor/host_internal.h"

/* ---- making ---- */

/* The columns of rows: keys first. */
static void choose_columns(struct vt_host *h)
{
	const struct vt_ucode *u = h->u;
	bool counts = u->host == VT_HOST_COUNTS;
	unsigned i;

	if (u->host > VT_HOST_LOG)
		return;
	h->ncolumns = counts;
	for (i = 0; i < u->nbases; i++)
		if (u->bases[i].key)
			h->columns[h->ncolumns++] = &u->bases[i];
	h->nkeys = h->ncolumns;
	for (i = 0; i < u->nbases && counts; i++)
		if (!u->bases[i].key && !u->bases[i].keep)
			h->columns[h->ncolumns++] = &u->bases[i];
	/* Equal rows of a log are counted. */
	h->ncolumns += !counts;
}

/* To load all takes about 500 stores of 64 bits (3.5); here, those of what the program has. */
static uint64_t loading_stores(const struct vt_ucode *u)
{
	uint64_t bytes = u->nwords * 6u + VT_NCLASSES + u->nconstants * 8u + u->nbases * 2u +
			 u->ntargets + u->nindexes * 2u;

	return (bytes + 7) / 8;
}

struct vt_host *vt_host_new(const struct vt_ucode *u, struct vt_coproc *c, struct vt_filters *f,
			    const struct vt_host_masking *masking)
{
	struct vt_host *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->u = u;
	h->c = c;
	h->filters = f;
	h->masking = *masking;
	choose_columns(h);
	vt_hash_init(&h->rows, (h->ncolumns + 1) * sizeof(uint64_t),
		     (h->nkeys ? h->nkeys : 1) * sizeof(uint64_t));
	vt_hash_init(&h->sites, sizeof(struct vt_host_site), sizeof(uint64_t));
	vt_hash_init(&h->values, sizeof(struct vti_value_key), offsetof(struct vti_value_key, at));
	if (!vt_array_grow(&h->partitions, &h->partitions_cap, 1, sizeof(*h->partitions))) {
		vt_host_free(h);
		return NULL;
	}
	h->partitions[0] = (struct vti_partition){0, 0};
	h->npartitions = 1;
	h->stats.partitions = 1;
	h->stats.stores = loading_stores(u);
	return h;
}

void vt_host_free(struct vt_host *h)
{
	size_t i;

	if (!h)
		return;
	for (i = 0; i < h->sites.count; i++)
		free(((struct vt_host_site *)vt_hash_at(&h->sites, i))->values);
	vt_hash_fini(&h->rows);
	vt_hash_fini(&h->sites);
	vt_hash_fini(&h->values);
	free(h->partitions);
	free(h);
}

/* ---- the co-processor's state ---- */

void vti_host_restart(struct vt_host *h)
{
	vt_coproc_invalidate(h->c);
	vt_coproc_clear(h->c);
	vt_coproc_restart(h->c);
	h->restarted_at = h->now;
	/* Index registers, two special operations, mask and match, and to go on. */
	h->stats.stores += (h->u->nindexes * 2u + 7) / 8 + 2 + 1 + 1;
}

static uint64_t words_of(uint64_t bytes)
{
	return (bytes + 7) / 8;
}

/* A value of a column in slot or row i. */
static uint64_t read_column(const struct vt_host *h, unsigned column, uint32_t i)
{
	const struct vt_ucode_base *b = h->columns[column];
	uint64_t key;

	if (b)
		return vt_coproc_data(h->c, b, i & (b->elements - 1u));
	vt_coproc_entry(h->c, i, &key);
	return key;
}

/* Adds what slot or row i has to the profile in memory. */
static int add_row(struct vt_host *h, uint32_t i, struct vt_error *err)
{
	uint64_t key[VT_UCODE_BASES + 1] = {0}, *row;
	unsigned k;

	for (k = 0; k < h->nkeys; k++)
		key[k] = read_column(h, k, i);
	h->stats.records++;
	row = h->rows.count < VT_HOST_MAX_ROWS ? vt_hash_add(&h->rows, key, NULL)
					       : vt_hash_find(&h->rows, key);
	if (!row && h->rows.count >= VT_HOST_MAX_ROWS) {
		h->stats.left_out++;
		return 0;
	}
	if (!row)
		return vt_error_nomem(err);
	if (h->u->host == VT_HOST_LOG)
		row[h->nkeys]++;
	for (k = h->nkeys; h->u->host == VT_HOST_COUNTS && k < h->ncolumns; k++)
		row[k] += read_column(h, k, i);
	return 0;
}

static unsigned index_number(const struct vt_ucode *u, const char *name)
{
	return (unsigned)(vt_ucode_find_index(u, name) - u->indexes);
}

/* ---- counts ---- */

static int take_counts(struct vt_host *h, struct vt_error *err)
{
	uint64_t key, bytes = 0;
	uint32_t i;
	unsigned k;

	for (i = 0; i < h->u->slots; i++)
		if (vt_coproc_entry(h->c, i, &key) && add_row(h, i, err) < 0)
			return -(int)err->code;
	for (k = 0; k < h->ncolumns; k++)
		bytes += h->columns[k] ? h->columns[k]->bits / 8u : h->u->cam_bits / 8u;
	h->stats.reads += words_of(bytes * h->u->slots);
	vti_host_restart(h);
	return 0;
}

/* ---- rows ---- */

static bool add_sample(struct vt_host *h, const struct vt_ucode_base *pc,
		       const struct vt_ucode_base *value, uint32_t i)
{
	struct vt_host_site *s = vti_host_site(h, vt_coproc_data(h->c, pc, i));

	if (!s)
		return false;
	s->total++;
	s->weighted++;
	h->stats.records++;
	return vti_host_add_value(h, s, vt_coproc_data(h->c, value, i), 1, 0) != NULL;
}

/* The first n elements of arrays are rows; n that went round stands for all. */
static int take_log(struct vt_host *h, bool last, struct vt_error *err)
{
	const struct vt_ucode *u = h->u;
	bool samples = u->host == VT_HOST_SAMPLES;
	const struct vt_ucode_base *pc = vt_ucode_find_base(u, "pc");
	const struct vt_ucode_base *value = vt_ucode_find_base(u, "value");
	const struct vt_ucode_base *first = samples ? pc : h->columns[0];
	unsigned n = index_number(u, "n"), k;
	uint32_t rows = vt_coproc_index(h->c, n), i;
	uint64_t bytes = samples ? (pc->bits + value->bits) / 8u : 0;

	if (!rows && !last && first)
		rows = first->elements;
	for (i = 0; i < rows; i++)
		if (samples ? !add_sample(h, pc, value, i) : add_row(h, i, err) < 0)
			return vt_error_nomem(err);
	for (k = 0; k < h->nkeys; k++)
		bytes += h->columns[k]->bits / 8u;
	h->stats.reads += words_of(bytes * rows);
	vt_coproc_set_index(h->c, n, 0);
	h->stats.stores += 2; /* n, and to go on */
	return 0;
}

/* ---- interrupts ---- */

int vt_host_interrupt(void *host, bool turn, uint64_t retired, struct vt_error *err)
{
	struct vt_host *h = host;

	h->now = retired;
	h->stats.interrupts += !turn;
	if (h->u->host == VT_HOST_VALUES)
		return vti_host_values(h, turn, false, err);
	if (turn)
		return 0;
	h->stats.copies++;
	return h->u->host == VT_HOST_COUNTS ? take_counts(h, err) : take_log(h, false, err);
}

int vt_host_finish(struct vt_host *h, uint64_t retired, struct vt_error *err)
{
	size_t i;
	int code;

	h->now = retired;
	code = h->u->host == VT_HOST_VALUES   ? vti_host_values(h, false, true, err)
	       : h->u->host == VT_HOST_COUNTS ? take_counts(h, err)
					      : take_log(h, true, err);
	for (i = 0; i < h->sites.count && code == 0; i++)
		vt_host_estimate(vt_hash_at(&h->sites, i), h->masking.by_hits);
	return code;
}

const struct vt_host_stats *vt_host_stats(const struct vt_host *h)
{
	return &h->stats;
}

double vt_host_overhead(const struct vt_host *h, const struct vt_host_costs *c)
{
	return (double)h->stats.interrupts * c->interrupt +
	       (double)(h->stats.reads + h->stats.stores) * c->access +
	       (double)h->stats.records * c->record;
}

/* ---- the profile ---- */

size_t vt_host_rows(const struct vt_host *h)
{
	return h->rows.count;
}

const uint64_t *vt_host_row(const struct vt_host *h, size_t i)
{
	return vt_hash_at(&h->rows, i);
}

unsigned vt_host_keys(const struct vt_host *h)
{
	return h->nkeys;
}

unsigned vt_host_columns(const struct vt_host *h)
{
	return h->ncolumns;
}

const char *vt_host_column(const struct vt_host *h, unsigned i)
{
	if (h->u->host == VT_HOST_LOG && i == h->nkeys)
		return "count";
	return h->columns[i] ? h->columns[i]->name : h->u->key;
}

unsigned vt_host_column_bits(const struct vt_host *h, unsigned i)
{
	if (h->u->host == VT_HOST_LOG && i == h->nkeys)
		return 64;
	return h->columns[i] ? h->columns[i]->bits : h->u->cam_bits;
}

size_t vt_host_sites(const struct vt_host *h)
{
	return h->sites.count;
}

const struct vt_host_site *vt_host_site(const struct vt_host *h, size_t i)
{
	return vt_hash_at(&h->sites, i);
}
