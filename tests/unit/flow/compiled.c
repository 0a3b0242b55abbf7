/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/flow/compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/symbol_search.h"
#include "tests/unit/common/graphs.h"
#include "tests/unit/common/toolbox.h"

static struct vt_error err;

void compiled_make(struct compiled *p, const char *options, const char *text)
{
	const struct vt_images_options o = {.warn = NULL, .threads = 3};
	const char *path;

	p->dir = toolbox_dir();
	toolbox_write(p->dir, "p.c", text);
	free(toolbox_run(p->dir, "gcc %s -o p p.c", options));
	p->images = vt_images_new(&o, &err);
	assert_non_null(p->images);
	path = toolbox_path(p->dir, "p");
	assert_int_equal(
		vt_images_add(p->images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err), 0);
}

void compiled_free(struct compiled *p)
{
	vt_images_free(p->images);
	toolbox_remove(p->dir);
}

static bool keep_symbol(void *arg, const struct vt_symbol *sym)
{
	*(const struct vt_symbol **)arg = sym;
	return false;
}

struct vt_cfg *compiled_graph(struct compiled *p, const char *name)
{
	const struct vt_symbol *sym = NULL;
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(p->images, 1, 0, &why);
	struct vt_cfg *g;

	assert_non_null(symbols);
	vt_symbols_search(symbols, name, keep_symbol, (void *)&sym);
	assert_non_null(sym);
	g = image_graph(p->images, 1, sym->start, sym->end, &err);
	assert_non_null(g);
	return g;
}
