/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "paths/paths.h"
#include "stream/sum.h"

static bool are_images(struct vt_words images)
{
	size_t i;

	for (i = 0; i < images.count; i++)
		if (images.data[i] > UINT32_MAX)
			return false;
	return images.count > 0;
}

bool vt_path_is_sound(const struct vt_record *rec)
{
	struct vt_words images = vt_record_words(rec, VT_PATH_IMAGES);
	double probability = vt_record_f64(rec, VT_PATH_PROBABILITY);
	double samples = vt_record_f64(rec, VT_PATH_SAMPLES);

	return are_images(images) && vt_record_u64(rec, VT_PATH_IMAGE) <= UINT32_MAX &&
	       vt_record_u64(rec, VT_PATH_BRANCHES) <= VT_PATHWALK_BRANCHES &&
	       images.count == vt_record_words(rec, VT_PATH_OFFSETS).count && vt_is_sum(samples) &&
	       vt_is_sum(vt_record_f64(rec, VT_PATH_EXECUTIONS)) && probability >= 0 &&
	       probability <= 1.000001 &&
	       vt_is_sum(probability > 0 ? samples / probability : samples);
}

/* A path with what it is ranked by. */
struct rank {
	double executions;
	double samples;
	const struct vt_pathplace *place;
	const char *nodes;
	size_t size;
	uint32_t index;
};

/* Paths of equal counts come by place and then in the order of their nodes. */
static int compare_ranks(const void *x, const void *y)
{
	const struct rank *a = x, *b = y;
	size_t n = a->size < b->size ? a->size : b->size;
	int by;

	if (a->executions != b->executions)
		return a->executions > b->executions ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->place->image != b->place->image)
		return a->place->image < b->place->image ? -1 : 1;
	if (a->place->offset != b->place->offset)
		return a->place->offset < b->place->offset ? -1 : 1;
	by = n ? memcmp(a->nodes, b->nodes, n) : 0;
	if (by == 0 && a->size != b->size)
		by = a->size < b->size ? -1 : 1;
	return by ? by : (a->index > b->index) - (a->index < b->index);
}

uint32_t *vt_paths_rank(const struct vt_paths *p)
{
	struct rank *ranks = malloc((p->list.count + 1) * sizeof(*ranks));
	uint32_t *order = malloc((p->list.count + 1) * sizeof(*order));
	size_t i;

	for (i = 0; ranks && order && i < p->list.count; i++) {
		const struct vt_path *path = vt_hash_at(&p->list, i);

		ranks[i] = (struct rank){path->executions,
					 path->samples,
					 vt_pathplaces_get(p->samples->places, path->place),
					 vt_intern_get(p->lists, path->nodes),
					 vt_intern_size(p->lists, path->nodes),
					 (uint32_t)i};
	}
	if (ranks && order) {
		qsort(ranks, p->list.count, sizeof(*ranks), compare_ranks);
		for (i = 0; i < p->list.count; i++)
			order[i] = ranks[i].index;
	} else {
		free(order);
		order = NULL;
	}
	free(ranks);
	return order;
}

static void write_path(const struct vt_paths *p, const struct vt_path *path, uint64_t *images,
		       struct vt_writer *w)
{
	const struct vt_pathplace *place = vt_pathplaces_get(p->samples->places, path->place);
	size_t n = vt_intern_size(p->lists, path->nodes) / sizeof(uint32_t), i;
	const char *nodes = vt_intern_get(p->lists, path->nodes);
	uint64_t *offsets = images + n;
	uint64_t *row = vt_writer_row(w, VT_PATH);

	row[VT_PATH_IMAGE] = place->image;
	row[VT_PATH_OFFSET] = place->offset;
	row[VT_PATH_EVENT] = path->event;
	row[VT_PATH_BRANCHES] = path->branches;
	row[VT_PATH_METHOD] = path->method;
	vt_row_set_f64(&row[VT_PATH_SAMPLES], path->samples);
	vt_row_set_f64(&row[VT_PATH_EXECUTIONS], path->executions);
	vt_row_set_f64(&row[VT_PATH_PROBABILITY], path->probability);
	for (i = 0; i < n; i++) {
		uint32_t node, image;

		memcpy(&node, nodes + i * sizeof(node), sizeof(node));
		vt_pathgraph_place(p->g, node, &image, &offsets[i]);
		images[i] = image;
	}
	vt_writer_words(w, VT_PATH_IMAGES, images, n);
	vt_writer_words(w, VT_PATH_OFFSETS, offsets, n);
}

int vt_paths_write(const struct vt_paths *p, struct vt_writer *w, struct vt_error *err)
{
	uint32_t *order = vt_paths_rank(p);
	uint64_t *images = malloc(2 * sizeof(*images) * VT_PATHS_NODES);
	size_t i;

	for (i = 0; order && images && i < p->list.count; i++)
		write_path(p, vt_hash_at(&p->list, order[i]), images, w);
	i = order && images;
	free(order);
	free(images);
	return i ? vt_writer_error(w, err) : vt_error_nomem(err);
}
