/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/buf.h"
#include "flow/calls.h"
#include "image/lines.h"
#include "image/packed.h"
#include "pack/internal.h"
#include "stream/kinds.h"

/* ---- the file ---- */

void vti_pack_write_file(const struct vti_kept *k, uint64_t flags, struct vt_writer *w)
{
	struct vti_packed_file file = {.flags = flags, .base = vt_images_base(k->images, k->image)};
	size_t i;

	if (k->elf)
		file.bytes = vt_elf_file(k->elf, &file.total);
	/* The first has no bytes, so that the flags are there in any case. */
	vti_packed_put_file(w, k->image, &file, 0, 0);
	for (i = 0; i < k->file.count; i++)
		vti_packed_put_file(w, k->image, &file, k->file.v[i].first, k->file.v[i].end);
}

/* ---- symbols ---- */

/* Writes a name or a fact that is no symbol of its own. */
static void write_note(const struct vti_kept *k, uint64_t addr, uint32_t flags, const char *name,
		       struct vt_writer *w)
{
	vti_packed_put_symbol(w, k->image, k->pid, &(struct vt_symbol){addr, addr, name, flags});
}

static int compare_indices(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts a hash table of numbers, which is searched no more. */
static void sort_numbers(const struct vt_hash *h)
{
	if (h->count)
		qsort(h->entries, h->count, h->entry_size, compare_indices);
}

static const struct vt_symbol *name_at(const struct vti_kept *k, size_t i)
{
	return vt_symbols_at(k->symbols, *(const uint64_t *)vt_hash_at(&k->names, i));
}

/* Whether the symbol at an address is kept; the names are sorted. */
static bool is_kept_at(const struct vti_kept *k, uint64_t addr)
{
	uint64_t index = vti_pack_symbol_from(k->symbols, addr);
	size_t i = vt_array_below(k->names.entries, k->names.count, sizeof(index), index);

	return i < k->names.count && name_at(k, i)->start == addr;
}

static void write_aliases(const struct vti_kept *k, struct vt_writer *w)
{
	const char *name;
	uint64_t addr;
	size_t i;

	for (i = 0; vti_symbols_alias(k->symbols, i, &name, &addr); i++)
		if (is_kept_at(k, addr) || vti_spans_hold(&k->procedures, addr))
			write_note(k, addr, VT_SYMBOL_ALIAS, name, w);
}

struct entry_writer {
	const struct vti_kept *kept;
	struct vt_writer *w;
};

static bool write_entry(void *arg, uint64_t vaddr)
{
	const struct entry_writer *e = arg;

	write_note(e->kept, vaddr, VT_SYMBOL_ENTERED, "", e->w);
	return true;
}

/* Writes where other procedures jump into one whose code is kept. */
static void write_entries(const struct vti_kept *k, const struct vt_symbol *sym,
			  struct vt_writer *w)
{
	struct entry_writer entries = {k, w};

	if (!(sym->flags & VT_SYMBOL_OBJECT) && vti_spans_hold(&k->procedures, sym->start) &&
	    vt_symbols_outermost(k->symbols, sym) == sym)
		vt_calls_into(k->images, k->image, sym->start, sym->end - sym->start, write_entry,
			      &entries);
}

void vti_pack_write_symbols(const struct vti_kept *k, struct vt_writer *w)
{
	size_t i;

	sort_numbers(&k->names);
	sort_numbers(&k->ends);
	for (i = 0; i < k->names.count; i++)
		vti_packed_put_symbol(w, k->image, k->pid, name_at(k, i));
	if (k->symbols)
		write_aliases(k, w);
	for (i = 0; i < k->ends.count; i++)
		write_note(k, *(uint64_t *)vt_hash_at(&k->ends, i), VT_SYMBOL_ENDS, "", w);
	for (i = 0; i < k->names.count && k->elf; i++)
		write_entries(k, name_at(k, i), w);
}

/* ---- lines ---- */

static void write_frame(const struct vti_kept *k, uint64_t addr, uint64_t end, uint64_t depth,
			uint64_t flags, const struct vt_frame *f, struct vt_writer *w)
{
	vti_packed_put_line(
		w, k->image,
		&(struct vti_packed_source){.addr = addr,
					    .size = end - addr,
					    .depth = depth,
					    .flags = flags,
					    .function = f->function,
					    .line = {.file = f->file, .line = f->line}});
}

/* Writes the lines of [addr, end), in which they do not change. */
static void write_line_at(const struct vti_kept *k, struct vt_lines *lines, uint64_t addr,
			  uint64_t end, struct vt_writer *w)
{
	struct vt_frame frames[VT_MAX_INLINE];
	size_t i, n = vt_lines_frames(lines, addr, frames, VT_MAX_INLINE);
	struct vti_packed_source s = {
		.addr = addr, .size = end - addr, .function = "", .line = {.file = ""}};

	if (vt_lines_at(lines, addr, &s.line))
		s.flags |= VT_LINE_KNOWN | (s.line.is_stmt ? (unsigned)VT_LINE_STATEMENT : 0);
	if (n) {
		s.flags |= VT_LINE_FRAME;
		s.function = frames[0].function;
	}
	if (s.flags)
		vti_packed_put_line(w, k->image, &s);
	for (i = 1; i < n; i++)
		write_frame(k, addr, end, i, VT_LINE_FRAME, &frames[i], w);
}

static void write_declaration(const struct vti_kept *k, struct vt_lines *lines,
			      const struct vt_symbol *sym, struct vt_writer *w)
{
	struct vt_frame f;

	if (vt_lines_function(lines, sym->start, &f))
		write_frame(k, sym->start, sym->end, 0, VT_LINE_DECLARED, &f, w);
}

static void write_procedure_lines(const struct vti_kept *k, struct vt_lines *lines,
				  const struct vti_span *p, struct vt_writer *w)
{
	uint64_t at, next;

	for (at = p->first; at < p->end; at = next) {
		next = vt_lines_change(lines, at);
		if (next > p->end)
			next = p->end;
		write_line_at(k, lines, at, next, w);
	}
}

void vti_pack_write_lines(const struct vti_kept *k, struct vt_writer *w)
{
	struct vt_lines *lines = vt_images_lines(k->images, k->image);
	size_t i;

	if (!lines)
		return;
	for (i = 0; i < k->procedures.count; i++)
		write_procedure_lines(k, lines, &k->procedures.v[i], w);
	for (i = 0; i < k->points.count; i++) {
		uint64_t at = k->points.v[i].first;

		if (!vti_spans_hold(&k->procedures, at))
			write_line_at(k, lines, at, at + 1, w);
	}
	for (i = 0; i < k->names.count; i++)
		if (!(name_at(k, i)->flags & VT_SYMBOL_OBJECT))
			write_declaration(k, lines, name_at(k, i), w);
}
