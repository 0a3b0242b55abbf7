/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"

struct runs_key {
	uint32_t image; /* ids of the texts */
	uint32_t label;
	uint32_t unknown; /* it is named by a cause, as no symbol can be */
};

/* How the procedures of an image are called. */
enum naming {
	BY_NAME = 1,
	BY_ADDRESS = 2,
};

struct runs_image {
	uint32_t name;	  /* id of the text */
	unsigned now;	  /* a set of enum naming: in the run at hand */
	size_t names;	  /* runs that have names only, */
	size_t addresses; /* those that have addresses only, */
	size_t last;	  /* and the last of these */
};

struct runs_row {
	struct runs_key key;
	uint32_t path;
};

/* Of one run: tallies[row * nevents + event]; rows that came later have none. */
struct run_tallies {
	struct vt_tally *tallies;
	size_t rows;
	size_t cap;
};

struct vt_runs {
	size_t nevents;
	struct vt_hash rows;
	struct vt_hash images;
	struct vt_intern *texts;
	struct run_tallies *runs;
	size_t nruns;
	size_t runs_cap;
};

struct vt_runs *vt_runs_new(size_t nevents)
{
	struct vt_runs *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->nevents = nevents;
	vt_hash_init(&r->rows, sizeof(struct runs_row), sizeof(struct runs_key));
	vt_hash_init(&r->images, sizeof(struct runs_image), sizeof(uint32_t));
	r->texts = vt_intern_new();
	if (!r->texts) {
		vt_runs_free(r);
		return NULL;
	}
	return r;
}

void vt_runs_free(struct vt_runs *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->nruns; i++)
		free(r->runs[i].tallies);
	free(r->runs);
	vt_hash_fini(&r->rows);
	vt_hash_fini(&r->images);
	vt_intern_free(r->texts);
	free(r);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The number of a ranking's row among all runs'; SIZE_MAX: no memory. */
static size_t find_runs_row(struct vt_runs *r, const struct vt_rank *k, const struct vt_buf *label)
{
	uint32_t path = vt_intern_str(r->texts, k->path);
	struct runs_key key = {vt_intern_str(r->texts, file_name(k->path)),
			       vt_intern_add(r->texts, label->data, label->size),
			       *k->cause && !*k->symbol};
	struct runs_image *image;
	struct runs_row *row;

	if (label->failed || path == UINT32_MAX || key.image == UINT32_MAX ||
	    key.label == UINT32_MAX)
		return SIZE_MAX;
	row = vt_hash_add(&r->rows, &key, NULL);
	image = vt_hash_add(&r->images, &key.image, NULL);
	if (!row || !image)
		return SIZE_MAX;
	row->path = path;
	if (k->stripped)
		image->now |= BY_ADDRESS;
	else if (*k->symbol || *k->file)
		image->now |= BY_NAME;
	return (size_t)((uint8_t *)row - r->rows.entries) / sizeof(*row);
}

static bool grow_run_tallies(const struct vt_runs *r, struct run_tallies *run, size_t rows)
{
	size_t had = run->rows * r->nevents;
	size_t want = rows * r->nevents;

	if (want <= had)
		return true;
	if (!vt_array_grow(&run->tallies, &run->cap, want, sizeof(*run->tallies)))
		return false;
	memset(run->tallies + had, 0, (want - had) * sizeof(*run->tallies));
	run->rows = rows;
	return true;
}

/* Several rows of a ranking may have one name: they add up. */
static bool add_ranking_row(struct vt_runs *r, struct run_tallies *run,
			    const struct vt_ranking *ranking, size_t i, const size_t *events,
			    struct vt_buf *label)
{
	const struct vt_rank *k = vt_ranking_at(ranking, i);
	size_t row, e;

	label->size = 0;
	vt_rank_label(k, vt_ranking_level(ranking), label);
	row = find_runs_row(r, k, label);
	if (row == SIZE_MAX || !grow_run_tallies(r, run, r->rows.count))
		return false;
	for (e = 0; e < r->nevents; e++) {
		struct vt_tally *sum = &run->tallies[row * r->nevents + e];
		struct vt_tally t;

		if (events[e] == SIZE_MAX)
			continue;
		t = vt_ranking_tally(ranking, i, events[e]);
		sum->samples += t.samples;
		sum->period += t.period;
	}
	return true;
}

/* At the end of a run.  Several images of one name may be called by either: that says nothing. */
static void note_naming(struct vt_runs *r)
{
	size_t i;

	for (i = 0; i < r->images.count; i++) {
		struct runs_image *image = vt_hash_at(&r->images, i);

		image->names += image->now == BY_NAME;
		image->addresses += image->now == BY_ADDRESS;
		if (image->now == BY_ADDRESS)
			image->last = r->nruns - 1;
		image->now = 0;
	}
}

int vt_runs_add(struct vt_runs *r, const struct vt_ranking *ranking, const size_t *events,
		struct vt_error *err)
{
	struct vt_buf label = VT_BUF_INIT;
	struct run_tallies *run;
	bool ok;
	size_t i;

	ok = vt_array_grow(&r->runs, &r->runs_cap, r->nruns + 1, sizeof(*r->runs));
	if (ok) {
		run = &r->runs[r->nruns++];
		*run = (struct run_tallies){0};
		for (i = 0; i < vt_ranking_count(ranking) && ok; i++)
			ok = add_ranking_row(r, run, ranking, i, events, &label);
		note_naming(r);
	}
	vt_buf_free(&label);
	return ok ? 0 : vt_error_nomem(err);
}

size_t vt_runs_count(const struct vt_runs *r)
{
	return r->nruns;
}

size_t vt_runs_rows(const struct vt_runs *r)
{
	return r->rows.count;
}

static const struct runs_row *runs_row_at(const struct vt_runs *r, size_t row)
{
	return vt_hash_at(&r->rows, row);
}

const char *vt_runs_label(const struct vt_runs *r, size_t row)
{
	return vt_intern_get(r->texts, runs_row_at(r, row)->key.label);
}

const char *vt_runs_image(const struct vt_runs *r, size_t row)
{
	return vt_intern_get(r->texts, runs_row_at(r, row)->key.image);
}

const char *vt_runs_path(const struct vt_runs *r, size_t row)
{
	return vt_intern_get(r->texts, runs_row_at(r, row)->path);
}

size_t vt_runs_images(const struct vt_runs *r)
{
	return r->images.count;
}

const char *vt_runs_misnamed(const struct vt_runs *r, size_t i, size_t *run)
{
	const struct runs_image *image = vt_hash_at(&r->images, i);

	*run = image->last;
	return image->names && image->addresses ? vt_intern_get(r->texts, image->name) : NULL;
}

bool vt_runs_half_stripped(const struct vt_runs *r, size_t row)
{
	const struct runs_key *key = &runs_row_at(r, row)->key;
	const struct runs_image *image = vt_hash_find(&r->images, &key->image);

	return image && image->names && image->addresses;
}

bool vt_runs_unknown(const struct vt_runs *r, size_t row)
{
	return runs_row_at(r, row)->key.unknown || vt_runs_half_stripped(r, row);
}

struct vt_tally vt_runs_tally(const struct vt_runs *r, size_t row, size_t run, size_t event)
{
	static const struct vt_tally none = {0};
	const struct run_tallies *of = &r->runs[run];

	return row < of->rows ? of->tallies[row * r->nevents + event] : none;
}
