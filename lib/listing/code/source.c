/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/code/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "image/find.h"

struct source_file {
	uint64_t name; /* id of the path */
	char *text;    /* NULL: not there */
	size_t size;
	size_t *starts; /* where each line starts, and one past the last */
	size_t nlines;
};

struct vt_sources {
	const char *const *dirs;
	size_t ndirs;
	struct vt_intern *names;
	struct vt_hash files;
};

struct vt_sources *vt_sources_new(const char *const *dirs, size_t ndirs)
{
	struct vt_sources *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->dirs = dirs;
	s->ndirs = ndirs;
	s->names = vt_intern_new();
	vt_hash_init(&s->files, sizeof(struct source_file), sizeof(uint64_t));
	if (!s->names) {
		vt_sources_free(s);
		return NULL;
	}
	return s;
}

void vt_sources_free(struct vt_sources *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->files.count; i++) {
		struct source_file *f = vt_hash_at(&s->files, i);

		free(f->text);
		free(f->starts);
	}
	vt_hash_fini(&s->files);
	vt_intern_free(s->names);
	free(s);
}

static char *read_source_below(const char *dir, const char *path, size_t *size)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf b = VT_BUF_INIT;
	char *text;

	vt_buf_printf(&b, "%s/%s", dir, path);
	text = vt_find_read(vt_buf_str(&b), VT_MAX_SOURCE, size, &err);
	vt_buf_free(&b);
	return text;
}

static char *read_source(const struct vt_sources *s, const char *path, size_t *size)
{
	const char *name = vt_source_name(path);
	struct vt_error err = VT_ERROR_INIT;
	char *text = NULL;
	size_t i;

	for (i = 0; i < s->ndirs && !text; i++) {
		text = read_source_below(s->dirs[i], path, size);
		if (!text && name != path)
			text = read_source_below(s->dirs[i], name, size);
	}
	return text ? text : vt_find_read(path, VT_MAX_SOURCE, size, &err);
}

static void split_source_lines(struct source_file *f)
{
	size_t i, n = 1, line = 0;

	for (i = 0; i < f->size; i++)
		n += f->text[i] == '\n';
	f->starts = calloc(n + 1, sizeof(*f->starts));
	if (!f->starts)
		return;
	for (i = 0; i < f->size; i++)
		if (f->text[i] == '\n')
			f->starts[++line] = i + 1;
	f->starts[line + 1] = f->size + 1;
	f->nlines = line + 1;
}

const char *vt_sources_line(struct vt_sources *s, const char *file, unsigned line, size_t *size)
{
	uint64_t name = vt_intern_str(s->names, file);
	struct source_file *f;
	bool added;

	f = name == UINT32_MAX ? NULL : vt_hash_add(&s->files, &name, &added);
	if (!f)
		return NULL;
	if (added) {
		f->text = read_source(s, file, &f->size);
		if (f->text)
			split_source_lines(f);
	}
	if (!line || line > f->nlines)
		return NULL;
	*size = f->starts[line] - 1 - f->starts[line - 1];
	return f->text + f->starts[line - 1];
}

const char *vt_source_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void vt_source_cell(struct vt_table *t, struct vt_lines *lines, uint64_t vaddr)
{
	struct vt_line line;

	if (lines && vt_lines_at(lines, vaddr, &line) && line.line)
		vt_table_printf(t, "%s:%u", vt_source_name(line.file), line.line);
	else
		vt_table_empty(t);
}
