/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "formats/export/export.h"

/*
 * Folded stacks, as flame graph programs read them: a line "outer;inner;innermost COUNT" for each
 * stack, sorted by bytes.  A semicolon in a name becomes a colon; a name has no line breaks, as
 * vt_escape() leaves none.  Readers split the count off at the last space of the line.
 */

struct folding {
	struct vt_intern *lines;
	uint64_t *counts; /* by id of the line */
	size_t cap;
};

struct folded_line {
	const char *text;
	uint64_t count;
};

static void put_name(struct vt_buf *line, const char *name)
{
	size_t i, start = line->size;

	vt_escape_str(line, name);
	for (i = start; i < line->size; i++)
		if (line->data[i] == ';')
			line->data[i] = ':';
}

/* Adds to the count of a line. */
static bool count_line(struct folding *f, const struct vt_buf *line, uint64_t count)
{
	uint32_t id = line->failed ? UINT32_MAX : vt_intern_add(f->lines, line->data, line->size);
	size_t cap = f->cap;

	if (id == UINT32_MAX || !vt_array_grow(&f->counts, &f->cap, id + 1, sizeof(*f->counts)))
		return false;
	if (f->cap > cap)
		memset(f->counts + cap, 0, (f->cap - cap) * sizeof(*f->counts));
	f->counts[id] += count;
	return true;
}

static bool fold_stacks(const struct vt_stacks *s, struct folding *f)
{
	struct vt_stack_path path = {0};
	struct vt_buf line = VT_BUF_INIT;
	size_t i, k;
	bool ok = true;

	for (i = 0; i < s->nodes.count && ok; i++) {
		uint64_t count = vt_stacks_get(s, i, 0);

		if (!count)
			continue;
		ok = vt_stacks_path(s, (uint32_t)i, &path);
		line.size = 0;
		for (k = 0; k < path.count && ok; k++) {
			if (k)
				vt_buf_put_u8(&line, ';');
			put_name(&line, s->lines[path.lines[k]].name);
		}
		ok = ok && count_line(f, &line, count);
	}
	vt_stack_path_fini(&path);
	vt_buf_free(&line);
	return ok;
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct folded_line *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

static int write_lines(const struct folding *f, struct vt_output *out, struct vt_error *err)
{
	struct folded_line *list = calloc(f->cap + 1, sizeof(*list));
	size_t i, n = 0;

	if (!list)
		return vt_error_nomem(err);
	for (i = 0; i < f->cap; i++)
		if (f->counts[i])
			list[n++] = (struct folded_line){vt_intern_get(f->lines, (uint32_t)i),
							 f->counts[i]};
	qsort(list, n, sizeof(*list), compare_lines);
	for (i = 0; i < n; i++)
		vt_output_printf(out, "%s %" PRIu64 "\n", list[i].text, list[i].count);
	free(list);
	return 0;
}

static int write_folded(const struct vt_stacks *s, const char *title, struct vt_output *out,
			struct vt_error *err)
{
	struct folding f = {.lines = vt_intern_new()};
	int code;

	(void)title;
	if (f.lines && fold_stacks(s, &f))
		code = write_lines(&f, out, err);
	else
		code = vt_error_nomem(err);
	vt_intern_free(f.lines);
	free(f.counts);
	return code;
}

const struct vt_export_format vti_export_folded = {.name = "folded", .write = write_folded};
