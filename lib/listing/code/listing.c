/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/code/listing.h"

#include <stdlib.h>
#include <string.h>

#include "listing/code/internal.h"

static struct vt_list_row blank_row(enum vt_list_kind kind)
{
	return (struct vt_list_row){.kind = kind,
				    .file = "",
				    .function = "",
				    .caller = "",
				    .text = "",
				    .what = "",
				    .context = "",
				    .values = ""};
}

struct vt_list_row *vti_listing_row(struct vt_listing *l, enum vt_list_kind kind)
{
	/* Without memory, callers overwrite the last row; the listing fails as a whole. */
	if (!vt_array_grow(&l->rows, &l->rows_cap, l->nrows + 2, sizeof(*l->rows))) {
		l->failed = true;
		if (l->nrows)
			l->nrows--;
	}
	l->rows[l->nrows] = blank_row(kind);
	return &l->rows[l->nrows++];
}

const char *vti_listing_text(struct vt_listing *l, const void *text, size_t size)
{
	uint32_t id = vt_intern_add(l->texts, text, size);

	if (id == UINT32_MAX) {
		l->failed = true;
		return "";
	}
	return vt_intern_get(l->texts, id);
}

const char *vti_listing_keep(struct vt_listing *l, struct vt_buf *b)
{
	const char *text = vti_listing_text(l, b->data, b->size);

	vt_buf_free(b);
	return text;
}

/* Tabs would be printed as \t; other control characters are left to the printer. */
static void expand_tabs(struct vt_buf *out, const char *text, size_t size)
{
	size_t i, column = 0;

	for (i = 0; i < size; i++) {
		if (text[i] == '\t') {
			do {
				vt_buf_put_u8(out, ' ');
			} while (++column % 8);
		} else if (text[i] != '\r' || i + 1 < size) {
			vt_buf_put_u8(out, (uint8_t)text[i]);
			column++;
		}
	}
}

void vti_listing_line(struct vt_listing *l, struct vt_sources *sources, const char *file,
		      unsigned line, const struct vt_tally *tallies)
{
	struct vt_list_row *row = vti_listing_row(l, VT_ROW_LINE);
	struct vt_buf b = VT_BUF_INIT;
	const char *text = NULL;
	size_t size;

	row->file = vti_listing_text(l, file, strlen(file));
	row->line = line;
	row->tallies = tallies;
	if (sources && line)
		text = vt_sources_line(sources, file, line, &size);
	if (text)
		expand_tabs(&b, text, size);
	else if (line)
		vt_buf_printf(&b, "%s:%u", file, line);
	else
		vt_buf_printf(&b, "[no line]");
	row->text_size = b.size;
	row->text = vti_listing_keep(l, &b);
}

/* ---- leaving out what is far from samples ---- */

/* Marks rows of code up to `context` rows of code behind (or before) one with samples. */
static void mark_context(const struct vt_listing *l, uint64_t context, bool backwards, bool *keep)
{
	uint64_t left = 0;
	size_t n;

	for (n = 0; n < l->nrows; n++) {
		size_t i = backwards ? l->nrows - 1 - n : n;

		if (!vt_list_row_is_code(&l->rows[i]))
			continue;
		if (l->rows[i].tallies)
			left = context < UINT64_MAX ? context + 1 : context;
		if (left) {
			keep[i] = true;
			left--;
		}
	}
}

static struct vt_list_row cut_row(struct vt_listing *l, size_t instructions)
{
	struct vt_list_row row = blank_row(VT_ROW_CUT);
	struct vt_buf b = VT_BUF_INIT;

	vt_buf_printf(&b, "... %zu instruction%s without samples", instructions,
		      instructions == 1 ? "" : "s");
	row.text_size = b.size;
	row.text = vti_listing_keep(l, &b);
	return row;
}

/* Source lines and places belong to the instruction after them, hot lists to the one before. */
static void cut_rows(struct vt_listing *l, uint64_t context)
{
	bool *keep = calloc(l->nrows + 1, sizeof(*keep));
	size_t i, from = 0, out = 0, gone = 0;

	if (!keep) {
		l->failed = true;
		return;
	}
	mark_context(l, context, false, keep);
	mark_context(l, context, true, keep);
	for (i = 0; i < l->nrows; i++) {
		if (vt_list_row_is_of_list(&l->rows[i])) {
			l->rows[out] = l->rows[i];
			out += !gone;
			from = i + 1;
			continue;
		}
		if (!vt_list_row_is_code(&l->rows[i]))
			continue;
		if (!keep[i]) {
			gone++;
			from = i + 1;
			continue;
		}
		if (gone)
			l->rows[out++] = cut_row(l, gone);
		gone = 0;
		while (from <= i)
			l->rows[out++] = l->rows[from++];
	}
	if (gone)
		l->rows[out++] = cut_row(l, gone);
	l->nrows = out;
	free(keep);
}

/* ---- */

struct vt_listing *vt_listing_new(const struct vt_profile *p, struct vt_images *images,
				  const struct vt_procedure *proc,
				  const struct vt_listing_options *opt, struct vt_error *err)
{
	struct vt_listing *l = calloc(1, sizeof(*l));

	if (l) {
		l->proc = *proc;
		l->images = images;
		l->image = vt_images_get(images, proc->image);
		l->nevents = vt_profile_nevents(p);
		l->values = opt->view == VT_LIST_SOURCE ? NULL : opt->values;
		l->total = calloc(l->nevents + 1, sizeof(*l->total));
		l->texts = vt_intern_new();
		l->failed = !l->total || !l->texts || !vti_listing_gather(l, p) ||
			    !vt_array_grow(&l->rows, &l->rows_cap, 1, sizeof(*l->rows));
	}
	if (l && !l->failed) {
		if (opt->view == VT_LIST_SOURCE)
			vti_listing_source(l, opt);
		else
			vti_listing_code(l, opt);
		if (opt->partial && opt->view != VT_LIST_SOURCE)
			cut_rows(l, opt->context);
		if (l->values)
			vti_listing_values_finish(l);
	}
	if (!l || l->failed) {
		vt_listing_free(l);
		vt_error_nomem(err);
		return NULL;
	}
	return l;
}

void vt_listing_free(struct vt_listing *l)
{
	if (!l)
		return;
	free(l->total);
	free(l->tallies);
	free(l->line_tallies);
	free(l->points);
	free(l->rows);
	vt_intern_free(l->texts);
	free(l);
}

size_t vt_listing_nrows(const struct vt_listing *l)
{
	return l->nrows;
}

const struct vt_list_row *vt_listing_row(const struct vt_listing *l, size_t i)
{
	return &l->rows[i];
}

struct vt_tally vt_listing_total(const struct vt_listing *l, size_t event)
{
	return l->total[event];
}

const char *vt_listing_missing(const struct vt_listing *l)
{
	return l->missing;
}
