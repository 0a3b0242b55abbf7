/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "formats/pt/encode/internal.h"

#define PAGE 4096

struct page {
	uint64_t addr;
	uint8_t known[PAGE / 8];
	uint8_t bytes[PAGE];
};

/* One byte of code; the page of the last one is at hand. */
static bool put_byte(struct vt_pt_encode *e, struct vt_hash *pages, struct page **at, uint64_t addr,
		     uint8_t byte)
{
	uint64_t page = addr / PAGE * PAGE;
	unsigned i = addr % PAGE;
	struct page *p = *at;

	if (!p || p->addr != page)
		p = *at = vt_hash_add(pages, &page, NULL);
	if (!p)
		return false;
	if ((p->known[i / 8] >> i % 8 & 1) && p->bytes[i] != byte)
		e->sum.rewritten++;
	p->known[i / 8] |= (uint8_t)(1u << i % 8);
	p->bytes[i] = byte;
	return true;
}

static bool put_code(struct vt_pt_encode *e, struct vt_hash *pages)
{
	struct page *at = NULL;
	size_t id;
	uint32_t i;

	for (id = 0; id < e->nblocks; id++) {
		const struct vt_bblock *b = vt_bblocks_get(e->dict, id);

		if (!b || !b->code || !e->blocks[id].used)
			continue;
		for (i = 0; i < b->size; i++)
			if (!put_byte(e, pages, &at, b->addr + i, b->code[i]))
				return false;
	}
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct page *x = *(const struct page *const *)a;
	const struct page *y = *(const struct page *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool put_pages(const struct vt_hash *pages, struct vt_output *dump, struct vt_output *addr)
{
	const struct page **sorted = calloc(pages->count + 1, sizeof(void *));
	uint8_t word[8];
	size_t i;

	if (!sorted)
		return false;
	for (i = 0; i < pages->count; i++)
		sorted[i] = vt_hash_at(pages, i);
	qsort(sorted, pages->count, sizeof(const struct page *), by_address);
	for (i = 0; i < pages->count; i++) {
		vt_put_le64(word, sorted[i]->addr);
		vt_output_put(addr, word, sizeof(word));
		vt_output_put(dump, sorted[i]->bytes, PAGE);
	}
	free(sorted);
	return true;
}

int vt_pt_encode_pages(struct vt_pt_encode *e, struct vt_output *dump, struct vt_output *addr,
		       struct vt_error *err)
{
	struct vt_hash pages;
	bool done;

	vt_hash_init(&pages, sizeof(struct page), sizeof(uint64_t));
	done = put_code(e, &pages) && put_pages(&pages, dump, addr);
	vt_hash_fini(&pages);
	return done ? 0 : vt_error_nomem(err);
}
