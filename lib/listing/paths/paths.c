/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/paths/paths.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "listing/code/source.h"
#include "listing/json.h"
#include "listing/paths/score.h"
#include "paths/trail.h"
#include "profile/context.h"
#include "stream/sum.h"
#include "summary/names.h"

struct listed_block {
	uint64_t offset; /* the key, with the next two */
	uint32_t image;
	uint32_t padding;
};

struct listed_path {
	uint64_t event;
	uint64_t offset;
	uint32_t image;
	uint32_t method;
	uint64_t branches;
	double samples;
	double executions;
	double probability;
	size_t first; /* of its blocks, in vt_listpaths.blocks */
	size_t count;
};

struct vt_listpaths {
	struct vt_images *images;
	const char *schema;
	struct vt_names names; /* of events */
	const char *event;     /* of these alone; NULL: of all */
	bool events;	       /* there are paths of several */
	uint64_t others;       /* left out */
	struct listed_path *paths;
	size_t npaths;
	size_t paths_cap;
	uint32_t *blocks; /* indices in `known` */
	size_t nblocks;
	size_t blocks_cap;
	struct vt_hash known;	    /* struct listed_block: what JSON numbers */
	struct vt_profile *profile; /* of where they end, or NULL */
	uint64_t bad;
	const struct vt_paths *found; /* the analysis that they are of, or NULL */
};

struct vt_listpaths *vt_listpaths_new(struct vt_images *images, const char *schema)
{
	struct vt_listpaths *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->images = images;
	l->schema = schema;
	vt_hash_init(&l->known, sizeof(struct listed_block), sizeof(struct listed_block));
	if (vt_names_init(&l->names))
		return l;
	vt_listpaths_free(l);
	return NULL;
}

void vt_listpaths_free(struct vt_listpaths *l)
{
	if (!l)
		return;
	vt_names_fini(&l->names);
	vt_hash_fini(&l->known);
	free(l->paths);
	free(l->blocks);
	free(l);
}

uint64_t vt_listpaths_bad(const struct vt_listpaths *l)
{
	return l->bad;
}

void vt_listpaths_count_ends(struct vt_listpaths *l, struct vt_profile *p)
{
	l->profile = p;
}

void vt_listpaths_choose(struct vt_listpaths *l, const char *event)
{
	l->event = event;
}

uint64_t vt_listpaths_others(const struct vt_listpaths *l)
{
	return l->others;
}

size_t vt_listpaths_count(const struct vt_listpaths *l)
{
	return l->npaths;
}

/* ---- taking paths ---- */

static bool add_listed_block(struct vt_listpaths *l, uint32_t image, uint64_t offset)
{
	const struct listed_block key = {.offset = offset, .image = image};
	void *entry;

	if (!vt_array_grow(&l->blocks, &l->blocks_cap, l->nblocks + 1, sizeof(*l->blocks)))
		return false;
	entry = vt_hash_add(&l->known, &key, NULL);
	if (entry)
		l->blocks[l->nblocks++] = (uint32_t)vt_hash_index(&l->known, entry);
	return entry != NULL;
}

static struct listed_path *add_listed_path(struct vt_listpaths *l, uint64_t event)
{
	if (!vt_array_grow(&l->paths, &l->paths_cap, l->npaths + 1, sizeof(*l->paths)))
		return NULL;
	l->paths[l->npaths] = (struct listed_path){.event = event, .first = l->nblocks};
	l->events |= event != l->paths[0].event;
	return &l->paths[l->npaths++];
}

/* Less than a sample is one, so that a path's end is found. */
static int count_end(const struct vt_listpaths *l, const struct listed_path *p,
		     struct vt_error *err)
{
	double samples = p->samples < VT_MOST_COUNT ? p->samples : VT_MOST_COUNT;

	return vt_profile_count(l->profile, VT_PROFILE_LISTED, p->image, p->offset,
				samples < 1 ? 1 : (uint64_t)samples, err);
}

int vt_listpaths_feed(void *list, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_listpaths *l = list;
	struct vt_words images, offsets;
	struct listed_path *p;
	size_t i;

	if (rec->kind == VT_EVENT)
		return vt_names_feed(&l->names, rec) ? 0 : vt_error_nomem(err);
	if (rec->kind != VT_PATH)
		return 0;
	if (!vt_path_is_sound(rec)) {
		l->bad++;
		return 0;
	}
	if (l->event &&
	    vt_names_is_event(&l->names, vt_record_u64(rec, VT_PATH_EVENT), l->event) != VT_TRUE) {
		l->others++;
		return 0;
	}
	p = add_listed_path(l, vt_record_u64(rec, VT_PATH_EVENT));
	if (!p)
		return vt_error_nomem(err);
	images = vt_record_words(rec, VT_PATH_IMAGES);
	offsets = vt_record_words(rec, VT_PATH_OFFSETS);
	p->image = (uint32_t)vt_record_u64(rec, VT_PATH_IMAGE);
	p->offset = vt_record_u64(rec, VT_PATH_OFFSET);
	p->method = (uint32_t)vt_record_u64(rec, VT_PATH_METHOD);
	p->branches = vt_record_u64(rec, VT_PATH_BRANCHES);
	p->samples = vt_record_f64(rec, VT_PATH_SAMPLES);
	p->executions = vt_record_f64(rec, VT_PATH_EXECUTIONS);
	p->probability = vt_record_f64(rec, VT_PATH_PROBABILITY);
	p->count = images.count;
	for (i = 0; i < images.count; i++)
		if (!add_listed_block(l, (uint32_t)images.data[i], offsets.data[i]))
			return vt_error_nomem(err);
	return l->profile ? count_end(l, p, err) : 0;
}

static bool take_path(struct vt_listpaths *l, const struct vt_paths *all,
		      const struct vt_path *path)
{
	const struct vt_pathplace *place = vt_pathplaces_get(all->samples->places, path->place);
	const char *nodes = vt_intern_get(all->lists, path->nodes);
	struct listed_path *p = add_listed_path(l, path->event);
	size_t i;

	if (!p)
		return false;
	p->image = place->image;
	p->offset = place->offset;
	p->method = path->method;
	p->branches = path->branches;
	p->samples = path->samples;
	p->executions = path->executions;
	p->probability = path->probability;
	p->count = vt_intern_size(all->lists, path->nodes) / sizeof(uint32_t);
	for (i = 0; i < p->count; i++) {
		uint32_t node, image;
		uint64_t offset;

		memcpy(&node, nodes + i * sizeof(node), sizeof(node));
		vt_pathgraph_place(all->g, node, &image, &offset);
		if (!add_listed_block(l, image, offset))
			return false;
	}
	return true;
}

int vt_listpaths_take(struct vt_listpaths *l, const struct vt_paths *p, struct vt_error *err)
{
	uint32_t *order = vt_paths_rank(p);
	bool ok =
		order && vt_names_add_event(&l->names, VT_PATHTRAIL_EVENT, VT_PATHTRAIL_EVENT_NAME);
	size_t i;

	l->found = p;
	for (i = 0; ok && i < p->list.count; i++)
		ok = take_path(l, p, vt_hash_at(&p->list, order[i]));
	free(order);
	return ok ? 0 : vt_error_nomem(err);
}

/* ---- places ---- */

struct path_spot {
	const char *procedure; /* NULL: unknown, `why` is the reason */
	const char *symbol;
	const char *image; /* NULL: in none */
	const char *file;  /* NULL: no line is known */
	unsigned line;
	uint64_t vaddr;
	uint64_t within; /* bytes from the procedure's start */
	enum vt_unknown why;
};

static struct path_spot find_spot(const struct vt_listpaths *l, uint32_t image, uint64_t offset)
{
	const struct vt_image *i = vt_images_get(l->images, image);
	struct path_spot s = {.vaddr = offset, .why = VT_UNKNOWN_NO_MAP};
	struct vt_location loc = {.vaddr = offset};
	struct vt_lines *lines;
	struct vt_line line;

	if (!i)
		return s;
	s.image = i->name;
	s.why = vt_images_symbol(l->images, image, 0, offset, &loc);
	s.vaddr = loc.vaddr;
	if (s.why == VT_KNOWN) {
		s.procedure = vt_images_display(l->images, image, 0, loc.symbol);
		s.symbol = loc.symbol->name;
		s.within = loc.vaddr - loc.symbol->start;
	}
	lines = vt_images_lines(l->images, image);
	if (lines && vt_lines_at(lines, loc.vaddr, &line) && line.line) {
		s.file = vt_source_name(line.file);
		s.line = line.line;
	}
	return s;
}

/* Whether a place is in a procedure, or in the rest of an image that is in none. */
static bool leads_to(const struct vt_procedure *proc, uint32_t image, const struct path_spot *s)
{
	if (proc->image != image)
		return false;
	if (!proc->end)
		return !s->procedure && proc->why == s->why;
	return s->vaddr >= proc->start && s->vaddr < proc->end;
}

size_t vt_listpaths_pick(struct vt_listpaths *l, const struct vt_found *found)
{
	size_t i, k, kept = 0;

	for (i = 0; i < l->npaths; i++) {
		const struct listed_path *p = &l->paths[i];
		const struct path_spot s = find_spot(l, p->image, p->offset);

		for (k = 0; k < found->count && !leads_to(&found->list[k], p->image, &s); k++)
			;
		if (k < found->count)
			l->paths[kept++] = *p;
	}
	l->npaths = kept;
	return kept;
}

/* The most executed first; what came first of equal ones. */
static int compare_paths(const void *x, const void *y)
{
	const struct listed_path *a = x, *b = y;

	if (a->executions != b->executions)
		return a->executions > b->executions ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* ---- sums ---- */

/* Executions and samples. */
struct amounts {
	double executions;
	double samples;
};

struct sums {
	struct amounts all;	 /* of whatever path the samples of these paths took */
	struct amounts left_out; /* of paths beyond the first */
	struct amounts others;	 /* of paths less likely than the likeliest, which is told */
};

/* What the samples of a path have in all: it has a part of that, its probability. */
static double whole_amount(double amount, double probability)
{
	double whole = probability > 0 && probability < 1 ? amount / probability : amount;

	return vt_is_sum(whole) ? whole : amount;
}

static void add_amounts(struct amounts *sum, double executions, double samples)
{
	sum->executions += executions;
	sum->samples += samples;
}

static struct sums sum_paths(const struct vt_listpaths *l, size_t shown)
{
	struct sums sums = {{0, 0}, {0, 0}, {0, 0}};
	size_t i;

	for (i = 0; i < l->npaths; i++) {
		const struct listed_path *p = &l->paths[i];
		double executions = whole_amount(p->executions, p->probability);
		double samples = whole_amount(p->samples, p->probability);

		add_amounts(&sums.all, executions, samples);
		add_amounts(&sums.others, executions - p->executions, samples - p->samples);
		if (i >= shown)
			add_amounts(&sums.left_out, p->executions, p->samples);
	}
	return sums;
}

static void print_shares(const struct amounts *part, const struct amounts *all,
			 struct vt_output *out)
{
	if (all->executions > 0)
		vt_output_printf(out, "%.1f%% of the executions, ",
				 100 * part->executions / all->executions);
	vt_output_printf(out, "%.1f%% of the samples)\n",
			 all->samples > 0 ? 100 * part->samples / all->samples : 0);
}

/* What the table does not show of its paths and their samples. */
static void print_rest(const struct vt_listpaths *l, size_t shown, struct vt_output *out)
{
	const struct sums sums = sum_paths(l, shown);
	size_t n = l->npaths - shown;

	if (n) {
		vt_output_printf(out, "(%zu more path%s: ", n, n == 1 ? "" : "s");
		print_shares(&sums.left_out, &sums.all, out);
	}
	if (sums.others.samples > 0) {
		vt_output_printf(out, "(less likely paths, of which there are no rows: ");
		print_shares(&sums.others, &sums.all, out);
	}
}

static void set_amounts(json_t *doc, const char *executions, const char *samples,
			const struct amounts *part, const struct amounts *all)
{
	if (all->executions > 0)
		json_object_set_new(doc, executions, vt_json_real(part->executions));
	json_object_set_new(doc, samples, vt_json_real(part->samples));
}

/* ---- tables ---- */

static void put_spot(struct vt_table *t, const struct path_spot *s, bool people)
{
	vt_table_number(t, s->vaddr);
	if (!s->procedure)
		vt_table_printf(t, "[%s]", vt_unknown_text(s->why));
	else if (people)
		vt_table_printf(t, "%s+0x%" PRIx64, s->procedure, s->within);
	else
		vt_table_str(t, s->procedure);
	if (s->file)
		vt_table_printf(t, "%s:%u", s->file, s->line);
	else
		vt_table_empty(t);
	if (s->image)
		vt_table_str(t, s->image);
	else
		vt_table_empty(t);
}

/* The columns of a path; those of its blocks follow. */
#define NUMBERS 6

/* 0 is not known. */
static void put_amount(struct vt_table *t, double amount, bool people)
{
	if (!(amount > 0))
		vt_table_empty(t);
	else if (people)
		vt_table_printf(t, "%.0f", amount);
	else
		vt_table_real(t, amount);
}

static struct vt_bytes event_name(const struct vt_listpaths *l, uint64_t id)
{
	const struct vt_named_event *e = vt_names_event(&l->names, id);

	return e ? (struct vt_bytes){(const uint8_t *)vt_intern_get(l->names.strings, e->name),
				     vt_intern_size(l->names.strings, e->name)}
		 : (struct vt_bytes){(const uint8_t *)"?", 1};
}

/* Where the sampled instruction is. */
static void put_end(struct vt_table *t, const struct vt_listpaths *l, const struct listed_path *p)
{
	const struct path_spot s = find_spot(l, p->image, p->offset);

	if (s.procedure)
		vt_table_printf(t, "%s+0x%" PRIx64, s.procedure, s.within);
	else
		vt_table_printf(t, "0x%" PRIx64, s.vaddr);
}

static void put_event(struct vt_table *t, const struct vt_listpaths *l, const struct listed_path *p)
{
	struct vt_bytes name = event_name(l, p->event);

	vt_table_printf(t, "%.*s", (int)name.size, (const char *)name.data);
}

static void put_numbers(struct vt_table *t, const struct listed_path *p, size_t number, bool people)
{
	vt_table_number(t, number);
	put_amount(t, p->executions, people);
	put_amount(t, p->samples, people);
	if (!(p->probability > 0))
		vt_table_empty(t);
	else if (people)
		vt_table_printf(t, "%.1f%%", 100 * p->probability);
	else
		vt_table_real(t, p->probability);
	vt_table_number(t, p->branches);
	vt_table_str(t, vt_path_method_name(p->method));
}

static void put_path(const struct vt_listpaths *l, struct vt_table *t, size_t number, bool people)
{
	const struct listed_path *p = &l->paths[number];
	size_t i;
	int k;

	for (i = 0; i < p->count; i++) {
		const struct listed_block *b = vt_hash_at(&l->known, l->blocks[p->first + i]);
		const struct path_spot s = find_spot(l, b->image, b->offset);

		vt_table_row(t, people && i ? VT_STYLE_FAINT : VT_STYLE_PLAIN);
		if (!people || i == 0)
			put_numbers(t, p, number + 1, people);
		else
			for (k = 0; k < NUMBERS; k++)
				vt_table_empty(t);
		put_spot(t, &s, people);
		if (!people || i + 1 == p->count)
			put_end(t, l, p);
		else
			vt_table_empty(t);
		if (!people || (l->events && i == 0))
			put_event(t, l, p);
		else if (l->events)
			vt_table_empty(t);
	}
}

static struct vt_table *make_table(const struct vt_listpaths *l, size_t n, bool people)
{
	const enum vt_format amounts = people ? VT_FORMAT_RIGHT_TEXT : VT_FORMAT_REAL;
	struct vt_table *t = vt_table_new();
	size_t i;

	if (!t)
		return NULL;
	vt_table_column(t, "path", "path", VT_FORMAT_NUMBER);
	vt_table_column(t, "executions", "executions", amounts);
	vt_table_column(t, "samples", "samples", amounts);
	vt_table_column(t, "probability", "likely", people ? VT_FORMAT_RIGHT_TEXT : VT_FORMAT_REAL);
	vt_table_column(t, "branches", "branches", VT_FORMAT_NUMBER);
	vt_table_column(t, "method", "method", VT_FORMAT_TEXT);
	vt_table_column(t, "address", "address", VT_FORMAT_HEX);
	vt_table_column(t, "procedure", "block", VT_FORMAT_NAME);
	vt_table_column(t, "line", "line", VT_FORMAT_PATH);
	vt_table_column(t, "image", "image", VT_FORMAT_PATH);
	vt_table_column(t, "to", "to", VT_FORMAT_NAME);
	if (!people || l->events)
		vt_table_column(t, "event", "event", VT_FORMAT_TEXT);
	for (i = 0; i < n; i++)
		put_path(l, t, i, people);
	return t;
}

/* ---- JSON ---- */

static void set_spot(json_t *o, const struct path_spot *s)
{
	json_object_set_new(o, "address", vt_json_hex(s->vaddr));
	if (s->procedure)
		json_object_set_new(o, "procedure",
				    vt_json_text(s->procedure, strlen(s->procedure)));
	if (s->file)
		json_object_set_new(o, "file", vt_json_text(s->file, strlen(s->file)));
	if (s->file)
		json_object_set_new(o, "line", json_integer(s->line));
	if (s->image)
		json_object_set_new(o, "image", vt_json_text(s->image, strlen(s->image)));
}

static json_t *make_blocks(const struct vt_listpaths *l, const bool *used)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < l->known.count; i++) {
		const struct listed_block *b = vt_hash_at(&l->known, i);
		const struct path_spot s = find_spot(l, b->image, b->offset);
		json_t *o;

		if (!used[i])
			continue;
		o = json_object();
		json_object_set_new(o, "id", json_integer((json_int_t)i));
		set_spot(o, &s);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *make_path(const struct vt_listpaths *l, const struct listed_path *p, bool *used)
{
	const struct path_spot s = find_spot(l, p->image, p->offset);
	struct vt_bytes event = event_name(l, p->event);
	json_t *o = json_object(), *blocks = json_array();
	size_t i;

	json_object_set_new(o, "event", vt_json_text((const char *)event.data, event.size));
	if (p->executions > 0)
		json_object_set_new(o, "executions", vt_json_real(p->executions));
	json_object_set_new(o, "samples", vt_json_real(p->samples));
	if (p->probability > 0)
		json_object_set_new(o, "probability", vt_json_real(p->probability));
	json_object_set_new(o, "branches", vt_json_u64(p->branches));
	json_object_set_new(o, "method", json_string(vt_path_method_name(p->method)));
	set_spot(o, &s);
	for (i = 0; i < p->count; i++) {
		used[l->blocks[p->first + i]] = true;
		json_array_append_new(blocks, json_integer(l->blocks[p->first + i]));
	}
	json_object_set_new(o, "blocks", blocks);
	return o;
}

/* What became of each sample. */
static void set_totals(json_t *doc, const struct vt_paths *p)
{
	const struct vt_paths_totals *t = &p->totals;

	vt_pathsamples_json(doc, p->samples);
	json_object_set_new(doc, "outside", vt_json_u64(p->samples->unmapped + t->outside));
	json_object_set_new(doc, "found", vt_json_u64(t->found));
	json_object_set_new(doc, "several", vt_json_u64(t->several));
	json_object_set_new(doc, "none", vt_json_u64(t->none));
	json_object_set_new(doc, "given_up", vt_json_u64(t->given_up));
	json_object_set_new(doc, "ended", vt_json_u64(t->ended));
	json_object_set_new(doc, "capped", vt_json_u64(t->capped));
	json_object_set_new(doc, "not_looked_at", vt_json_real(t->left_out));
	json_object_set_new(doc, "procedures_left_out", vt_json_u64(p->g->left_out));
}

static int print_json(const struct vt_listpaths *l, size_t n, const struct vt_losses *losses,
		      struct vt_output *out, struct vt_error *err)
{
	bool *used = calloc(l->known.count + 1, sizeof(*used));
	json_t *doc = vt_json_doc(l->schema), *paths = json_array();
	const struct sums sums = sum_paths(l, n);
	size_t i;

	if (!used || !doc || !paths) {
		free(used);
		json_decref(doc);
		json_decref(paths);
		return vt_error_nomem(err);
	}
	for (i = 0; i < n; i++)
		json_array_append_new(paths, make_path(l, &l->paths[i], used));
	vt_json_losses(doc, losses);
	if (l->found)
		set_totals(doc, l->found);
	json_object_set_new(doc, "paths", paths);
	json_object_set_new(doc, "paths_left_out", vt_json_u64(l->npaths - n));
	set_amounts(doc, "executions_left_out", "samples_left_out", &sums.left_out, &sums.all);
	set_amounts(doc, "executions_less_likely", "samples_less_likely", &sums.others, &sums.all);
	json_object_set_new(doc, "blocks", make_blocks(l, used));
	vt_json_write(out, doc, true);
	free(used);
	return 0;
}

int vt_listpaths_print(struct vt_listpaths *l, uint64_t top, const struct vt_losses *losses,
		       enum vt_table_form form, bool color, struct vt_output *out,
		       struct vt_error *err)
{
	size_t n = top && top < l->npaths ? (size_t)top : l->npaths;
	struct vt_table *t;
	int code;

	if (l->npaths)
		qsort(l->paths, l->npaths, sizeof(*l->paths), compare_paths);
	if (losses)
		return print_json(l, n, losses, out, err);
	t = make_table(l, n, form == VT_TABLE_TEXT);
	if (!t)
		return vt_error_nomem(err);
	code = vt_table_print(t, out, form, color, err);
	if (form == VT_TABLE_TEXT)
		print_rest(l, n, out);
	vt_table_free(t);
	return code;
}
