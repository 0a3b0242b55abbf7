/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "listing/code/internal.h"

/* A source line with samples. */
struct source_line_key {
	uint64_t file; /* address of the interned name: the same for equal names */
	uint64_t line;
};

struct source_line {
	struct source_line_key key;
	const char *file;
	struct vt_tally *tallies;
	bool own; /* in the file where the procedure itself is declared */
};

static int compare_lines(const void *pa, const void *pb)
{
	const struct source_line *a = pa;
	const struct source_line *b = pb;

	if (a->own != b->own)
		return a->own ? -1 : 1;
	if (a->key.file != b->key.file)
		return strcmp(a->file, b->file);
	return a->key.line < b->key.line ? -1 : a->key.line > b->key.line;
}

static bool add_point_to_line(struct vt_listing *l, struct vt_lines *lines, const char *own,
			      const struct vti_point *point, struct vt_hash *found)
{
	struct vt_line at = {.file = ""};
	struct source_line_key key;
	struct source_line *line;
	const char *file;
	bool added;
	size_t e;

	if (!lines || !vt_lines_at(lines, point->vaddr, &at))
		at = (struct vt_line){.file = ""};
	file = vti_listing_text(l, at.file, strlen(at.file));
	key = (struct source_line_key){(uintptr_t)file, at.line};
	line = vt_hash_add(found, &key, &added);
	if (!line)
		return false;
	if (added) {
		line->file = file;
		line->own = file == own;
		line->tallies = l->line_tallies + (found->count - 1) * l->nevents;
	}
	for (e = 0; e < l->nevents; e++) {
		line->tallies[e].samples += point->tallies[e].samples;
		line->tallies[e].period += point->tallies[e].period;
	}
	return true;
}

static void put_file_row(struct vt_listing *l, const char *file)
{
	struct vt_list_row *row = vti_listing_row(l, VT_ROW_PLACE);

	row->file = file;
	row->text = *file ? file : "[no line information]";
	row->text_size = strlen(row->text);
}

/* Lines up to `context` around those with samples that exist; they have no samples themselves. */
static void put_context_lines(struct vt_listing *l, struct vt_sources *sources, const char *file,
			      uint64_t from, uint64_t to)
{
	size_t size;

	for (; from < to; from++)
		if (sources && vt_sources_line(sources, file, (unsigned)from, &size))
			vti_listing_line(l, sources, file, (unsigned)from, NULL);
}

static void put_source_lines(struct vt_listing *l, const struct vt_listing_options *opt,
			     const struct source_line *lines, size_t n)
{
	uint64_t context = !opt->partial ? 0 : opt->context < 1000000 ? opt->context : 1000000;
	uint64_t next = 1; /* the first line of the file that was not yet shown */
	size_t i;

	for (i = 0; i < n && !l->failed; i++) {
		uint64_t line = lines[i].key.line;
		uint64_t from = line > context ? line - context : 1;
		uint64_t until = line + context + 1;

		if (i == 0 || lines[i].file != lines[i - 1].file) {
			put_file_row(l, lines[i].file);
			next = 1;
		}
		put_context_lines(l, opt->sources, lines[i].file, from > next ? from : next, line);
		vti_listing_line(l, opt->sources, lines[i].file, (unsigned)line, lines[i].tallies);
		next = line + 1;
		if (i + 1 < n && lines[i + 1].file == lines[i].file &&
		    lines[i + 1].key.line < until)
			until = lines[i + 1].key.line;
		if (line)
			put_context_lines(l, opt->sources, lines[i].file, next, until);
		next = until > next ? until : next;
	}
}

void vti_listing_source(struct vt_listing *l, const struct vt_listing_options *opt)
{
	struct vt_lines *lines = vt_images_lines(l->images, l->proc.image);
	const char *own = "";
	struct vt_hash found;
	struct vt_frame function;
	size_t i;

	if (!lines)
		l->missing = "no line information";
	if (lines && l->proc.symbol && vt_lines_function(lines, l->proc.start, &function))
		own = vti_listing_text(l, function.file, strlen(function.file));
	vt_hash_init(&found, sizeof(struct source_line), sizeof(struct source_line_key));
	l->line_tallies = calloc(l->npoints * l->nevents + 1, sizeof(*l->line_tallies));
	l->failed = l->failed || !l->line_tallies;
	for (i = 0; i < l->npoints && !l->failed; i++)
		if (!add_point_to_line(l, lines, own, &l->points[i], &found))
			l->failed = true;
	if (!l->failed && found.count) {
		qsort(found.entries, found.count, sizeof(struct source_line), compare_lines);
		put_source_lines(l, opt, (const struct source_line *)found.entries, found.count);
	}
	vt_hash_fini(&found);
}
