/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "merge/internal.h"
#include "paths/paths.h"

/* A path of PATH records: what it is, as numbers of the text that follows in this order. */
enum { EVENT, METHOD, BRANCHES, IMAGE, OFFSET, BLOCKS /* image and offset of each */ };

/* A record of the current stream, and a path of all. */
struct merged_path {
	uint32_t text; /* in vt_merge.strings */
	uint32_t padding;
	double samples;
	double executions;
	double found; /* samples before they were counted by their probabilities */
	bool known;   /* their probabilities */
};

void vti_paths_init(struct vti_paths *p)
{
	vt_hash_init(&p->own, sizeof(struct merged_path), sizeof(uint32_t));
	vt_hash_init(&p->all, sizeof(struct merged_path), sizeof(uint32_t));
}

void vti_paths_fini(struct vti_paths *p)
{
	vt_hash_fini(&p->own);
	vt_hash_fini(&p->all);
}

static bool add_merged(struct vt_merge *m, struct vt_hash *to, const uint64_t *words, size_t n,
		       const struct merged_path *from)
{
	uint32_t text = vt_intern_add(m->strings, words, n * sizeof(*words));
	struct merged_path *p = text == UINT32_MAX ? NULL : vt_hash_add(to, &text, NULL);

	if (!p)
		return false;
	p->samples += from->samples;
	p->executions += from->executions;
	p->found += from->found;
	p->known = from->known;
	return true;
}

bool vti_feed_path(struct vt_merge *m, const struct vt_record *rec)
{
	struct vt_words images = vt_record_words(rec, VT_PATH_IMAGES);
	struct vt_words offsets = vt_record_words(rec, VT_PATH_OFFSETS);
	double probability = vt_record_f64(rec, VT_PATH_PROBABILITY);
	struct merged_path p = {.samples = vt_record_f64(rec, VT_PATH_SAMPLES),
				.executions = vt_record_f64(rec, VT_PATH_EXECUTIONS)};
	uint64_t *words;
	size_t i;
	bool ok;

	p.known = probability > 0;
	p.found = p.known ? p.samples / probability : p.samples;
	if (!vt_path_is_sound(rec)) {
		vti_leave_out(m, "PATH record: it contradicts itself");
		return true;
	}
	vti_has_sums(m, VTI_PATHS);
	words = malloc((BLOCKS + 2 * images.count) * sizeof(*words));
	if (!words)
		return false;
	words[EVENT] = vt_record_u64(rec, VT_PATH_EVENT);
	words[METHOD] = vt_record_u64(rec, VT_PATH_METHOD);
	words[BRANCHES] = vt_record_u64(rec, VT_PATH_BRANCHES);
	words[IMAGE] = vt_record_u64(rec, VT_PATH_IMAGE);
	words[OFFSET] = vt_record_u64(rec, VT_PATH_OFFSET);
	for (i = 0; i < images.count; i++) {
		words[BLOCKS + 2 * i] = images.data[i];
		words[BLOCKS + 2 * i + 1] = offsets.data[i];
	}
	ok = add_merged(m, &m->paths.own, words, BLOCKS + 2 * images.count, &p);
	free(words);
	return ok;
}

/* The words of a path; the caller frees them.  NULL: out of memory. */
static uint64_t *get_words(const struct vt_merge *m, uint32_t text, size_t *n)
{
	size_t size = vt_intern_size(m->strings, text);
	uint64_t *words = malloc(size + sizeof(*words));

	*n = size / sizeof(*words);
	if (words)
		memcpy(words, vt_intern_get(m->strings, text), size);
	return words;
}

static bool join_path(struct vt_merge *m, const struct merged_path *p, const uint32_t *events)
{
	size_t n, i;
	uint64_t *words = get_words(m, p->text, &n);
	bool ok = words != NULL;
	uint32_t image;

	if (!ok)
		return false;
	words[EVENT] = events[vt_tally_event_index(&m->tally, VT_PROFILE_EVENT, words[EVENT])];
	for (i = IMAGE; ok && i < n; i += 2) {
		ok = vti_join_image_id(m, words[i], &image);
		words[i] = image;
	}
	ok = ok && add_merged(m, &m->paths.all, words, n, p);
	free(words);
	return ok;
}

bool vti_declare_paths(struct vt_merge *m)
{
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < m->paths.own.count; i++) {
		const struct merged_path *p = vt_hash_at(&m->paths.own, i);
		uint64_t event;

		memcpy(&event, vt_intern_get(m->strings, p->text), sizeof(event));
		ok = vt_tally_declare(&m->tally, event);
	}
	return ok;
}

bool vti_join_paths(struct vt_merge *m, const uint32_t *events)
{
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < m->paths.own.count; i++)
		ok = join_path(m, vt_hash_at(&m->paths.own, i), events);
	vt_hash_clear(&m->paths.own);
	return ok;
}

/* ---- writing ---- */

struct written_path {
	struct merged_path path;
	uint64_t *words; /* with the ids of the stream that is written */
	size_t n;
};

static int compare_written(const void *x, const void *y)
{
	const struct written_path *a = x, *b = y;
	size_t i, n = a->n < b->n ? a->n : b->n;

	if (a->path.executions != b->path.executions)
		return a->path.executions > b->path.executions ? -1 : 1;
	for (i = 0; i < n; i++)
		if (a->words[i] != b->words[i])
			return a->words[i] < b->words[i] ? -1 : 1;
	return (a->n > b->n) - (a->n < b->n);
}

static bool write_path(const struct written_path *p, struct vt_writer *w)
{
	size_t n = (p->n - BLOCKS) / 2, i;
	uint64_t *words = malloc(2 * n * sizeof(*words) + 1);
	uint64_t *row;

	if (!words)
		return false;
	row = vt_writer_row(w, VT_PATH);
	row[VT_PATH_EVENT] = p->words[EVENT];
	row[VT_PATH_METHOD] = p->words[METHOD];
	row[VT_PATH_BRANCHES] = p->words[BRANCHES];
	row[VT_PATH_IMAGE] = p->words[IMAGE];
	row[VT_PATH_OFFSET] = p->words[OFFSET];
	vt_row_set_f64(&row[VT_PATH_SAMPLES], p->path.samples);
	vt_row_set_f64(&row[VT_PATH_EXECUTIONS], p->path.executions);
	vt_row_set_f64(&row[VT_PATH_PROBABILITY],
		       p->path.known && p->path.found > 0 ? p->path.samples / p->path.found : 0);
	for (i = 0; i < n; i++) {
		words[i] = p->words[BLOCKS + 2 * i];
		words[n + i] = p->words[BLOCKS + 2 * i + 1];
	}
	vt_writer_words(w, VT_PATH_IMAGES, words, n);
	vt_writer_words(w, VT_PATH_OFFSETS, words + n, n);
	free(words);
	return true;
}

static bool name_path(const struct vt_merge *m, const struct merged_path *p, struct written_path *w)
{
	size_t i;

	w->path = *p;
	w->words = get_words(m, p->text, &w->n);
	if (!w->words)
		return false;
	w->words[EVENT] = vti_written_event_id(m, (uint32_t)w->words[EVENT]);
	for (i = IMAGE; i < w->n; i += 2)
		w->words[i] = vti_written_image_id(m, (uint32_t)w->words[i]);
	return true;
}

int vti_write_paths(const struct vt_merge *m, struct vt_writer *w, struct vt_error *err)
{
	size_t n = m->paths.all.count, i;
	struct written_path *list = calloc(n + 1, sizeof(*list));
	bool ok = list != NULL;

	for (i = 0; ok && i < n; i++)
		ok = name_path(m, vt_hash_at(&m->paths.all, i), &list[i]);
	if (ok)
		qsort(list, n, sizeof(*list), compare_written);
	for (i = 0; ok && i < n; i++)
		ok = write_path(&list[i], w);
	for (i = 0; list && i < n; i++)
		free(list[i].words);
	free(list);
	return ok ? 0 : vt_error_nomem(err);
}
