/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tools/common/shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void no_memory(void)
{
	fprintf(stderr, "out of memory for a shadow\n");
	exit(1);
}

void shadow_init(struct shadow *s)
{
	vt_hash_init(&s->pages, sizeof(struct shadow_page), sizeof(uint64_t));
	s->last = 0;
}

void shadow_fini(struct shadow *s)
{
	size_t i;

	for (i = 0; i < s->pages.count; i++)
		free(((struct shadow_page *)vt_hash_at(&s->pages, i))->data);
	vt_hash_fini(&s->pages);
}

struct shadow_page *shadow_page(struct shadow *s, uint64_t number, bool make)
{
	struct shadow_page *g;
	bool added;

	if (s->last < s->pages.count) {
		g = vt_hash_at(&s->pages, s->last);
		if (g->number == number)
			return g;
	}
	if (!make) {
		g = vt_hash_find(&s->pages, &number);
	} else {
		g = vt_hash_add(&s->pages, &number, &added);
		if (g && added)
			g->data = calloc(2, SHADOW_PAGE);
		if (!g || !g->data)
			no_memory();
	}
	if (g)
		s->last = (size_t)((uint8_t *)g - s->pages.entries) / sizeof(*g);
	return g;
}

void shadow_put(struct shadow *s, uint64_t addr, const uint8_t *data, uint64_t size, uint8_t mark)
{
	while (size) {
		struct shadow_page *g = shadow_page(s, addr / SHADOW_PAGE, true);
		uint64_t at = addr % SHADOW_PAGE;
		uint64_t n = size < SHADOW_PAGE - at ? size : SHADOW_PAGE - at;

		if (data)
			memcpy(g->data + at, data, n);
		else
			memset(g->data + at, 0, n);
		memset(g->data + SHADOW_PAGE + at, mark, n);
		addr += n;
		size -= n;
		data = data ? data + n : NULL;
	}
}

void shadow_get(struct shadow *s, uint64_t addr, uint8_t *data, uint8_t *marks, size_t size)
{
	while (size) {
		const struct shadow_page *g = shadow_page(s, addr / SHADOW_PAGE, false);
		size_t at = addr % SHADOW_PAGE;
		size_t n = size < SHADOW_PAGE - at ? size : SHADOW_PAGE - at;

		if (g) {
			memcpy(data, g->data + at, n);
			memcpy(marks, g->data + SHADOW_PAGE + at, n);
		} else {
			memset(data, 0, n);
			memset(marks, 0, n);
		}
		addr += n;
		data += n;
		marks += n;
		size -= n;
	}
}

void shadow_forget(struct shadow *s, uint64_t addr, uint64_t size)
{
	uint64_t first = addr / SHADOW_PAGE, last = (addr + size - 1) / SHADOW_PAGE;
	size_t i;

	if (!size || last < first)
		return;
	for (i = 0; i < s->pages.count; i++) {
		struct shadow_page *g = vt_hash_at(&s->pages, i);

		if (g->number >= first && g->number <= last)
			memset(g->data + SHADOW_PAGE, 0, SHADOW_PAGE);
	}
}

void shadow_copy(struct shadow *to, const struct shadow *from)
{
	size_t i;

	for (i = 0; i < from->pages.count; i++) {
		const struct shadow_page *g = vt_hash_at(&from->pages, i);

		memcpy(shadow_page(to, g->number, true)->data, g->data, 2 * (size_t)SHADOW_PAGE);
	}
}
