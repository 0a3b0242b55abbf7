/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "profile/data_source.h"
#include "stream/profileme.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define PAGE_SIZE     4096u

const char *const vt_group_words[] = {"process", "comm",   "thread", "cpu",
				      "time",	 "source", "page",   NULL};

static const struct {
	uint32_t has;
	unsigned field;
	bool number;
} facts[VT_NGROUPS] = {
	[VT_GROUP_PROCESS] = {VT_HAS_TID, VT_SAMPLE_PID, true},
	[VT_GROUP_COMM] = {VT_HAS_TID, VT_SAMPLE_TID, false},
	[VT_GROUP_THREAD] = {VT_HAS_TID, VT_SAMPLE_TID, true},
	[VT_GROUP_CPU] = {VT_HAS_CPU, VT_SAMPLE_CPU, true},
	[VT_GROUP_TIME] = {VT_HAS_TIME, VT_SAMPLE_TIME, false},
	[VT_GROUP_SOURCE] = {VT_HAS_DATA_SRC, VT_SAMPLE_DATA_SRC, false},
	[VT_GROUP_PAGE] = {VT_HAS_ADDR, VT_SAMPLE_ADDR, false},
	[VT_GROUP_MODE] = {VT_HAS_IP, VT_SAMPLE_MISC, true},
	[VT_GROUP_ADDRESS] = {VT_HAS_IP, VT_SAMPLE_IP, false},
};

/* The values of the keys in the order given; all of it is the key of the table. */
struct group {
	uint64_t values[VT_NGROUPS];
	uint64_t known; /* a bit for each */
};

struct vt_groups {
	enum vt_group_key keys[VT_NGROUPS];
	size_t nkeys;
	uint64_t slice;
	struct vt_threads *threads;
	struct vt_intern *texts; /* the values of COMM and SOURCE */
	struct vt_hash groups;
};

struct vt_groups *vt_groups_new(const enum vt_group_key *keys, size_t count, uint64_t slice)
{
	struct vt_groups *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	memcpy(g->keys, keys, count * sizeof(*keys));
	g->nkeys = count;
	g->slice = slice ? slice : 1;
	vt_hash_init(&g->groups, sizeof(struct group), sizeof(struct group));
	g->threads = vt_threads_new();
	g->texts = vt_intern_new();
	if (g->threads && g->texts)
		return g;
	vt_groups_free(g);
	return NULL;
}

void vt_groups_free(struct vt_groups *g)
{
	if (!g)
		return;
	vt_hash_fini(&g->groups);
	vt_threads_free(g->threads);
	vt_intern_free(g->texts);
	free(g);
}

int vt_groups_feed(void *groups, const struct vt_block *block, uint32_t first, uint32_t count,
		   struct vt_error *err)
{
	struct vt_groups *g = groups;

	return vt_threads_feed(g->threads, block, first, count, err);
}

/* ---- from a sample to its group ---- */

/* Whether `source` names what answered. */
static bool has_source(const struct vt_record *rec)
{
	uint64_t source = vt_record_u64(rec, VT_SAMPLE_SOURCE);

	return vt_record_u64(rec, VT_SAMPLE_PM_HAS) & VT_PM_BIT(SOURCE) &&
	       source != VT_SOURCE_UNKNOWN && source < VT_NSOURCES;
}

/* Prefers `source`, which has the same words on all machines, to the kernel's data source. */
static const char *source_text(const struct vt_record *rec, char buf[VT_DATA_SOURCE_SIZE])
{
	return has_source(rec) ? vt_pm_source_name(vt_record_u64(rec, VT_SAMPLE_SOURCE))
			       : vt_data_source_text(vt_record_u64(rec, VT_SAMPLE_DATA_SRC), buf);
}

static bool is_told(const struct vt_record *rec, enum vt_group_key key)
{
	return vt_record_u64(rec, VT_SAMPLE_HAS) & facts[key].has ||
	       (key == VT_GROUP_SOURCE && has_source(rec));
}

static bool find_value(struct vt_groups *g, const struct vt_record *rec, enum vt_group_key key,
		       uint64_t *value)
{
	uint64_t raw = vt_record_u64(rec, facts[key].field);
	char comm[VT_COMM_SIZE], source[VT_DATA_SOURCE_SIZE];

	*value = raw;
	if (key == VT_GROUP_COMM)
		*value = vt_intern_str(g->texts, vt_threads_comm(g->threads, (int32_t)raw, comm));
	else if (key == VT_GROUP_SOURCE)
		*value = vt_intern_str(g->texts, source_text(rec, source));
	else if (key == VT_GROUP_TIME)
		*value = raw - raw % g->slice;
	else if (key == VT_GROUP_PAGE)
		*value = raw - raw % PAGE_SIZE;
	else if (key == VT_GROUP_MODE)
		*value = raw & VT_MISC_CPUMODE;
	else
		return true;
	return *value != UINT32_MAX || (key != VT_GROUP_COMM && key != VT_GROUP_SOURCE);
}

int vt_groups_of(struct vt_groups *g, const struct vt_record *rec, uint32_t *group,
		 struct vt_error *err)
{
	bool sample = rec && rec->kind == VT_SAMPLE;
	struct group values = {{0}, 0};
	struct group *found;
	size_t i;

	for (i = 0; i < g->nkeys; i++) {
		if (!sample || !is_told(rec, g->keys[i]))
			continue;
		if (!find_value(g, rec, g->keys[i], &values.values[i]))
			return vt_error_nomem(err);
		values.known |= UINT64_C(1) << i;
	}
	found = vt_hash_add(&g->groups, &values, NULL);
	if (!found)
		return vt_error_nomem(err);
	*group = (uint32_t)vt_hash_index(&g->groups, found);
	return 0;
}

/* ---- what it is ---- */

size_t vt_groups_nkeys(const struct vt_groups *g)
{
	return g->nkeys;
}

enum vt_group_key vt_groups_key(const struct vt_groups *g, size_t i)
{
	return g->keys[i];
}

bool vt_groups_is_number(const struct vt_groups *g, size_t i)
{
	return facts[g->keys[i]].number;
}

const char *vt_groups_last_comm(const struct vt_groups *g, int32_t tid, char buf[VT_COMM_SIZE])
{
	return vt_threads_comm(g->threads, tid, buf);
}

static bool is_known(const struct group *v, size_t i)
{
	return v->known >> i & 1;
}

bool vt_groups_number(const struct vt_groups *g, uint32_t group, size_t i, int64_t *number)
{
	const struct group *v = vt_hash_at(&g->groups, group);

	*number = (int64_t)v->values[i];
	return is_known(v, i);
}

/* With as many decimals as slices of this length need. */
static void print_seconds(uint64_t ns, uint64_t slice, struct vt_buf *out)
{
	uint64_t fraction = ns % NS_PER_SECOND;
	int digits = 9;

	for (; digits && slice % 10 == 0; digits--) {
		slice /= 10;
		fraction /= 10;
	}
	vt_buf_printf(out, "%" PRIu64, ns / NS_PER_SECOND);
	if (digits)
		vt_buf_printf(out, ".%0*" PRIu64, digits, fraction);
}

void vt_groups_text(const struct vt_groups *g, uint32_t group, size_t i, struct vt_buf *out)
{
	const struct group *v = vt_hash_at(&g->groups, group);

	if (!is_known(v, i)) {
		vt_buf_printf(out, "[unknown]");
		return;
	}
	switch (g->keys[i]) {
	case VT_GROUP_COMM:
	case VT_GROUP_SOURCE:
		vt_buf_printf(out, "%s", vt_intern_get(g->texts, (uint32_t)v->values[i]));
		break;
	case VT_GROUP_TIME:
		print_seconds(v->values[i], g->slice, out);
		break;
	case VT_GROUP_PAGE:
	case VT_GROUP_ADDRESS:
		vt_buf_printf(out, "%" PRIx64, v->values[i]);
		break;
	default:
		vt_buf_printf(out, "%" PRId64, (int64_t)v->values[i]);
		break;
	}
}

/* ---- order ---- */

struct sorted_group {
	const struct vt_groups *groups;
	const struct group *values;
};

static int compare_values(const struct vt_groups *g, size_t i, uint64_t a, uint64_t b)
{
	if (a == b)
		return 0;
	if (g->keys[i] == VT_GROUP_COMM || g->keys[i] == VT_GROUP_SOURCE)
		return strcmp(vt_intern_get(g->texts, (uint32_t)a),
			      vt_intern_get(g->texts, (uint32_t)b));
	if (facts[g->keys[i]].number)
		return (int64_t)a < (int64_t)b ? -1 : 1;
	return a < b ? -1 : 1;
}

static int compare_groups(const void *pa, const void *pb)
{
	const struct sorted_group *a = pa, *b = pb;
	size_t i;
	int c = 0;

	for (i = 0; i < a->groups->nkeys && c == 0; i++) {
		c = is_known(b->values, i) - is_known(a->values, i);
		if (c == 0)
			c = compare_values(a->groups, i, a->values->values[i],
					   b->values->values[i]);
	}
	return c;
}

uint32_t *vt_groups_places(const struct vt_groups *g)
{
	size_t i, n = g->groups.count;
	struct sorted_group *sorted = calloc(n + 1, sizeof(*sorted));
	uint32_t *places = calloc(n + 1, sizeof(*places));

	if (!sorted || !places) {
		free(sorted);
		free(places);
		return NULL;
	}
	for (i = 0; i < n; i++)
		sorted[i] = (struct sorted_group){g, vt_hash_at(&g->groups, i)};
	qsort(sorted, n, sizeof(*sorted), compare_groups);
	for (i = 0; i < n; i++)
		places[vt_hash_index(&g->groups, sorted[i].values)] = (uint32_t)i;
	free(sorted);
	return places;
}
