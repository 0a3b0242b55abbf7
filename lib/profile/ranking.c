/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/ranking.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "image/demangle.h"
#include "image/lines.h"

_Static_assert(VT_RANK_ROWS > VT_MAX_INLINE, "a procedure and all that is inlined");

const char *const vt_level_words[] = {"procedure", "image", "line", "instruction", "inlined", NULL};

/* What makes two places fall into one row. */
struct place_key {
	uint64_t value;
	uint32_t image;
	int32_t pid;
	uint32_t kind;
	uint32_t line;
	uint32_t group;
	uint32_t zero; /* the key has no padding */
};

enum key_kind {
	KEY_UNMAPPED,	 /* value: enum vt_unmapped */
	KEY_IMAGE,	 /* the image says all */
	KEY_CAUSE,	 /* value: enum vt_unknown */
	KEY_PROCEDURE,	 /* value: where it starts */
	KEY_LINE,	 /* value: the file's id */
	KEY_INSTRUCTION, /* value: the offset */
	KEY_INLINED,	 /* value: the function's id */
	KEY_ALL,	 /* the group says all */
};

struct ranking_row {
	struct place_key key;
	struct vt_rank rank;
};

/* The samples of one event in one row. */
struct cell {
	uint64_t row; /* with `event`, the key */
	uint64_t event;
	struct vt_tally tally;
};

struct ranked_row {
	int64_t time; /* of its group, where rows are in the order of that */
	uint64_t weight;
	const struct ranking_row *row;
	size_t index;
	uint32_t group; /* its place among groups */
};

struct vt_ranking {
	enum vt_level level;
	struct vt_images *images;
	const struct vt_groups *groups; /* NULL: none */
	struct vt_hash rows;
	struct vt_hash cells; /* few rows have samples of all of many events */
	struct vt_tally *unknown;
	struct vt_tally *unverified;
	size_t nevents;
	struct ranked_row *order;
	struct vt_intern *strings; /* source files, and functions that are inlined */
};

void vt_ranking_free(struct vt_ranking *r)
{
	if (!r)
		return;
	vt_hash_fini(&r->rows);
	vt_intern_free(r->strings);
	vt_hash_fini(&r->cells);
	free(r->unknown);
	free(r->unverified);
	free(r->order);
	free(r);
}

/* ---- from a place to its row ---- */

/* A place, looked up as far as the level asks for. */
struct found {
	struct vt_location loc;
	struct vt_line line;
	bool has_line;
	const char *inlined; /* of VT_LEVEL_INLINED: a function that is inlined there; else NULL */
};

static void look_up_place(struct vt_ranking *r, const struct vt_place *p, struct found *f)
{
	struct vt_lines *lines;

	memset(f, 0, sizeof(*f));
	if (p->image == VT_UNMAPPED_IMAGE || r->level == VT_LEVEL_ALL)
		return;
	vt_images_symbol(r->images, p->image, p->pid, p->offset, &f->loc);
	if (r->level != VT_LEVEL_LINE)
		return;
	lines = vt_images_lines(r->images, p->image);
	f->has_line = lines && vt_lines_at(lines, f->loc.vaddr, &f->line) && f->line.line;
}

/*
 * The functions that are inlined at a place that was looked up, innermost first.  `frames` has room
 * for VT_MAX_INLINE.
 */
static size_t find_inlined(struct vt_ranking *r, const struct vt_place *p, const struct found *f,
			   struct vt_frame *frames)
{
	struct vt_lines *lines = f->loc.symbol ? vt_images_lines(r->images, p->image) : NULL;
	size_t n = lines ? vt_lines_frames(lines, f->loc.vaddr, frames, VT_MAX_INLINE) : 0;

	return n ? n - 1 : 0;
}

static struct place_key procedure_key(const struct vt_place *p, const struct found *f)
{
	struct place_key k = {.image = p->image,
			      .pid = p->pid,
			      .kind = KEY_CAUSE,
			      .value = f->loc.why,
			      .group = p->group};

	if (f->loc.symbol) {
		k.kind = KEY_PROCEDURE;
		k.value = f->loc.symbol->start;
	}
	return k;
}

static struct place_key make_row_key(struct vt_ranking *r, const struct vt_place *p,
				     const struct found *f)
{
	struct place_key k = {.image = p->image, .pid = p->pid, .group = p->group};

	if (r->level == VT_LEVEL_ALL)
		return (struct place_key){.kind = KEY_ALL, .group = p->group};
	if (p->image == VT_UNMAPPED_IMAGE) {
		k.value = p->offset;
		return k;
	}
	if (r->level == VT_LEVEL_IMAGE) {
		k.kind = KEY_IMAGE;
	} else if (r->level == VT_LEVEL_INSTRUCTION) {
		k.kind = KEY_INSTRUCTION;
		k.value = p->offset;
	} else if (f->inlined) {
		k.kind = KEY_INLINED;
		k.value = vt_intern_str(r->strings, f->inlined);
	} else if (r->level == VT_LEVEL_LINE && f->has_line) {
		k.kind = KEY_LINE;
		k.value = vt_intern_str(r->strings, f->line.file);
		k.line = f->line.line;
	} else {
		return procedure_key(p, f);
	}
	return k;
}

/* The path says more than the name, where it is one. */
static const char *image_path(struct vt_ranking *r, uint32_t id)
{
	const struct vt_image *image = vt_images_get(r->images, id);

	if (!image)
		return "[unknown image]";
	return image->path[0] == '/' ? image->path : image->name;
}

static void fill_rank(struct vt_ranking *r, const struct vt_place *p, const struct found *f,
		      const struct place_key *key, struct vt_rank *k)
{
	const struct vt_symbol *sym = f->loc.symbol;

	*k = (struct vt_rank){.image = p->image,
			      .pid = p->pid,
			      .path = "",
			      .procedure = "",
			      .symbol = "",
			      .cause = "",
			      .file = "",
			      .group = p->group};
	if (key->kind == KEY_ALL)
		return;
	if (key->kind == KEY_UNMAPPED) {
		k->path = "[unknown]";
		k->cause = vt_unmapped_text(p->offset);
		return;
	}
	k->path = image_path(r, p->image);
	if (key->kind == KEY_IMAGE)
		return;
	k->stripped = vt_images_stripped(r->images, p->image);
	if (key->kind == KEY_INLINED)
		return;
	if (key->kind == KEY_LINE) {
		k->file = vt_intern_get(r->strings, (uint32_t)key->value);
		k->line = key->line;
		return;
	}
	k->address = f->loc.vaddr;
	if (sym) {
		k->symbol = sym->name;
		k->procedure = vt_images_display(r->images, p->image, p->pid, sym);
		k->start = sym->start;
		k->cause = r->level == VT_LEVEL_LINE ? "no line" : "";
	} else {
		k->cause = vt_unknown_text(f->loc.why);
	}
}

/* -VT_E_NOMEM. */
static int fill_inlined(struct vt_ranking *r, const struct place_key *key, struct vt_rank *k,
			struct vt_error *err)
{
	struct vt_buf name = VT_BUF_INIT;
	uint32_t id;

	k->inlined = true;
	k->symbol = vt_intern_get(r->strings, (uint32_t)key->value);
	id = vt_intern_str(r->strings, vt_demangle_inlined(&name, k->symbol));
	vt_buf_free(&name);
	if (id == UINT32_MAX)
		return vt_error_nomem(err);
	k->procedure = vt_intern_get(r->strings, id);
	return 0;
}

static bool is_unverified(struct vt_ranking *r, uint32_t id)
{
	const struct vt_image *image = vt_images_get(r->images, id);

	return image && image->type == VT_IMAGE_FILE && !vt_images_verified(r->images, id);
}

/* Finds or adds the row of a place that was looked up. */
static int find_row(struct vt_ranking *r, const struct vt_place *p, const struct found *f,
		    size_t *index, struct vt_error *err)
{
	struct place_key key = make_row_key(r, p, f);
	bool added, named = key.kind == KEY_LINE || key.kind == KEY_INLINED;
	struct ranking_row *row = vt_hash_add(&r->rows, &key, &added);

	if (!row || (named && key.value == UINT32_MAX))
		return vt_error_nomem(err);
	if (added)
		fill_rank(r, p, f, &key, &row->rank);
	*index = vt_hash_index(&r->rows, row);
	return added && key.kind == KEY_INLINED ? fill_inlined(r, &key, &row->rank, err) : 0;
}

/* Looks a place up, and finds or adds its row. */
static int find_place_row(struct vt_ranking *r, const struct vt_place *p, struct found *f,
			  size_t *index, struct vt_error *err)
{
	struct vt_frame frames[VT_MAX_INLINE];

	look_up_place(r, p, f);
	if (r->level == VT_LEVEL_INLINED && find_inlined(r, p, f, frames))
		f->inlined = frames[0].function;
	return find_row(r, p, f, index, err);
}

int vt_ranking_row(struct vt_ranking *r, const struct vt_place *p, size_t *row,
		   struct vt_error *err)
{
	struct found f;

	return find_place_row(r, p, &f, row, err);
}

int vt_ranking_rows(struct vt_ranking *r, const struct vt_place *p, size_t *rows,
		    struct vt_error *err)
{
	struct vt_frame frames[VT_MAX_INLINE];
	struct found f;
	size_t i, n;

	look_up_place(r, p, &f);
	n = r->level == VT_LEVEL_INLINED ? find_inlined(r, p, &f, frames) : 0;
	if (find_row(r, p, &f, &rows[0], err) < 0)
		return -VT_E_NOMEM;
	for (i = 0; i < n; i++) {
		f.inlined = frames[n - 1 - i].function;
		if (find_row(r, p, &f, &rows[i + 1], err) < 0)
			return -VT_E_NOMEM;
	}
	return (int)n + 1;
}

static int rank_place(struct vt_ranking *r, const struct vt_place *p, struct vt_error *err)
{
	struct found f;
	struct cell at, *cell;
	struct vt_tally tally = {p->samples, p->period, p->squares};
	size_t row = 0;

	if (find_place_row(r, p, &f, &row, err) < 0)
		return -VT_E_NOMEM;
	at.row = row;
	at.event = p->event;
	cell = vt_hash_add(&r->cells, &at, NULL);
	if (!cell)
		return vt_error_nomem(err);
	vt_tally_add(&cell->tally, tally);
	if (r->level == VT_LEVEL_ALL)
		return 0;
	if (!f.loc.symbol)
		vt_tally_add(&r->unknown[p->event], tally);
	else if (is_unverified(r, p->image))
		vt_tally_add(&r->unverified[p->event], tally);
	return 0;
}

static struct vt_ranking *make_ranking(struct vt_images *images, enum vt_level level,
				       size_t nevents)
{
	struct vt_ranking *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->level = level;
	r->images = images;
	r->nevents = nevents;
	vt_hash_init(&r->rows, sizeof(struct ranking_row), sizeof(struct place_key));
	vt_hash_init(&r->cells, sizeof(struct cell), offsetof(struct cell, tally));
	r->unknown = calloc(r->nevents + 1, sizeof(*r->unknown));
	r->unverified = calloc(r->nevents + 1, sizeof(*r->unverified));
	r->strings = vt_intern_new();
	if (r->unknown && r->unverified && r->strings)
		return r;
	vt_ranking_free(r);
	return NULL;
}

struct vt_ranking *vt_ranking_new(const struct vt_profile *p, struct vt_images *images,
				  enum vt_level level, struct vt_error *err)
{
	struct vt_ranking *r = make_ranking(images, level, vt_profile_nevents(p));
	size_t i, n = vt_profile_nplaces(p);

	if (!r) {
		vt_error_nomem(err);
		return NULL;
	}
	r->groups = vt_profile_groups(p);
	for (i = 0; i < n; i++) {
		if (rank_place(r, vt_profile_place(p, i), err) < 0) {
			vt_ranking_free(r);
			return NULL;
		}
	}
	return r;
}

struct vt_ranking *vt_ranking_new_empty(struct vt_images *images, enum vt_level level,
					struct vt_error *err)
{
	struct vt_ranking *r = make_ranking(images, level, 0);

	if (!r)
		vt_error_nomem(err);
	return r;
}

int vt_ranking_set(struct vt_ranking *r, size_t row, size_t event, struct vt_tally tally,
		   struct vt_error *err)
{
	struct cell at = {.row = row, .event = event}, *cell;

	assert(row < r->rows.count && event < r->nevents);
	cell = vt_hash_add(&r->cells, &at, NULL);
	if (!cell)
		return vt_error_nomem(err);
	cell->tally = tally;
	return 0;
}

static struct vt_tally find_row_tally(const struct vt_ranking *r, size_t row, size_t event)
{
	struct cell at = {.row = row, .event = event};
	const struct cell *cell = vt_hash_find(&r->cells, &at);

	return cell ? cell->tally : at.tally;
}

/* ---- order ---- */

int vt_rank_compare(const struct vt_rank *a, const struct vt_rank *b)
{
	int c = strcmp(a->path, b->path);

	if (!c)
		c = strcmp(a->procedure, b->procedure);
	if (!c)
		c = strcmp(a->file, b->file);
	if (!c && a->line != b->line)
		c = a->line < b->line ? -1 : 1;
	if (!c)
		c = strcmp(a->cause, b->cause);
	if (!c && a->inlined != b->inlined)
		c = a->inlined ? 1 : -1;
	if (!c)
		c = strcmp(a->symbol, b->symbol);
	if (!c && a->start != b->start)
		c = a->start < b->start ? -1 : 1;
	if (!c && a->address != b->address)
		c = a->address < b->address ? -1 : 1;
	return c;
}

static int compare_order(const void *pa, const void *pb)
{
	const struct ranked_row *a = pa;
	const struct ranked_row *b = pb;
	int c;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	c = vt_rank_compare(&a->row->rank, &b->row->rank);
	if (c)
		return c;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* When a group's slice of time begins, if the groups are by time first; the unknown is last. */
static int64_t group_time(const struct vt_groups *g, uint32_t group)
{
	int64_t time;

	if (!g || vt_groups_key(g, 0) != VT_GROUP_TIME)
		return 0;
	return vt_groups_number(g, group, 0, &time) ? time : INT64_MAX;
}

int vt_ranking_sort(struct vt_ranking *r, size_t event, bool by_period, struct vt_error *err)
{
	struct ranked_row *order = calloc(r->rows.count + 1, sizeof(*order));
	uint32_t *groups = r->groups ? vt_groups_places(r->groups) : NULL;
	size_t i;

	if (!order || (r->groups && !groups)) {
		free(order);
		free(groups);
		return vt_error_nomem(err);
	}
	for (i = 0; i < r->rows.count; i++) {
		order[i].row = vt_hash_at(&r->rows, i);
		order[i].index = i;
		order[i].time = group_time(r->groups, order[i].row->rank.group);
		order[i].group = groups ? groups[order[i].row->rank.group] : 0;
		if (event < r->nevents) {
			struct vt_tally t = find_row_tally(r, i, event);

			order[i].weight = by_period ? t.period : t.samples;
		}
	}
	qsort(order, r->rows.count, sizeof(*order), compare_order);
	free(groups);
	free(r->order);
	r->order = order;
	return 0;
}

enum vt_level vt_ranking_level(const struct vt_ranking *r)
{
	return r->level;
}

size_t vt_ranking_count(const struct vt_ranking *r)
{
	return r->rows.count;
}

static size_t row_index(const struct vt_ranking *r, size_t i)
{
	return r->order ? r->order[i].index : i;
}

const struct vt_rank *vt_ranking_at(const struct vt_ranking *r, size_t i)
{
	const struct ranking_row *row = vt_hash_at(&r->rows, row_index(r, i));

	return &row->rank;
}

struct vt_tally vt_ranking_tally(const struct vt_ranking *r, size_t i, size_t event)
{
	return find_row_tally(r, row_index(r, i), event);
}

struct vt_tally vt_ranking_unknown(const struct vt_ranking *r, size_t event)
{
	return r->unknown[event];
}

struct vt_tally vt_ranking_unverified(const struct vt_ranking *r, size_t event)
{
	return r->unverified[event];
}

void vt_rank_label(const struct vt_rank *k, enum vt_level level, struct vt_buf *out)
{
	if (*k->file)
		vt_buf_printf(out, "%s:%u", k->file, k->line);
	else if (*k->procedure && level == VT_LEVEL_INSTRUCTION)
		vt_buf_printf(out, "%s+0x%" PRIx64, k->procedure, k->address - k->start);
	else if (*k->procedure)
		vt_buf_printf(out, k->inlined ? "%s (inlined)" : "%s", k->procedure);
	else if (level == VT_LEVEL_INSTRUCTION && k->image != VT_UNMAPPED_IMAGE)
		vt_buf_printf(out, "0x%" PRIx64 " [%s]", k->address, k->cause);
	else if (*k->cause)
		vt_buf_printf(out, "[%s]", k->cause);
	if (*k->procedure && *k->cause)
		vt_buf_printf(out, " [%s]", k->cause);
}
