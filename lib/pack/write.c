/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "flow/calls.h"
#include "image/lines.h"
#include "pack/internal.h"
#include "stream/kinds.h"

/* Bytes of a file in one record: far below the limit of a frame. */
#define PIECE_SIZE ((uint64_t)1 << 20)

/* ---- the file ---- */

static uint64_t *start_file_record(const struct vti_kept *k, uint64_t flags, uint64_t total,
				   struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_FILE);

	row[VT_FILE_IMAGE] = k->image;
	row[VT_FILE_FLAGS] = flags;
	row[VT_FILE_BASE] = vt_images_base(k->images, k->image);
	row[VT_FILE_TOTAL] = total;
	return row;
}

void vti_pack_write_file(const struct vti_kept *k, uint64_t flags, struct vt_writer *w)
{
	uint64_t total = 0, at, size;
	const uint8_t *bytes = k->elf ? vt_elf_file(k->elf, &total) : NULL;
	size_t i;

	/* The first has no bytes, so that the flags are there in any case. */
	start_file_record(k, flags, total, w);
	for (i = 0; i < k->file.count; i++)
		for (at = k->file.v[i].first; at < k->file.v[i].end; at += size) {
			size = k->file.v[i].end - at;
			if (size > PIECE_SIZE)
				size = PIECE_SIZE;
			start_file_record(k, flags, total, w)[VT_FILE_OFFSET] = at;
			vt_writer_bytes(w, VT_FILE_DATA, bytes + at, (size_t)size);
		}
}

/* ---- symbols ---- */

static void write_symbol(const struct vti_kept *k, uint64_t addr, uint64_t size, uint32_t flags,
			 const char *name, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_SYMBOL);

	row[VT_SYMBOL_IMAGE] = k->image;
	row[VT_SYMBOL_PID] = (uint64_t)(int64_t)k->pid;
	row[VT_SYMBOL_ADDR] = addr;
	row[VT_SYMBOL_SIZE] = size;
	row[VT_SYMBOL_FLAGS] = flags;
	vt_writer_text(w, VT_SYMBOL_NAME, name);
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

static bool has_name_at(const struct vti_kept *k, uint64_t addr)
{
	size_t i, low = 0, high = k->names.count;

	while (low < high) {
		i = low + (high - low) / 2;
		if (vt_symbols_at(k->symbols, *(uint64_t *)vt_hash_at(&k->names, i))->start < addr)
			low = i + 1;
		else
			high = i;
	}
	return low < k->names.count &&
	       vt_symbols_at(k->symbols, *(uint64_t *)vt_hash_at(&k->names, low))->start == addr;
}

static void write_aliases(const struct vti_kept *k, struct vt_writer *w)
{
	const char *name;
	uint64_t addr;
	size_t i;

	for (i = 0; vti_symbols_alias(k->symbols, i, &name, &addr); i++)
		if (has_name_at(k, addr) || vti_spans_hold(&k->procedures, addr))
			write_symbol(k, addr, 0, VT_SYMBOL_ALIAS, name, w);
}

struct entry_writer {
	const struct vti_kept *kept;
	struct vt_writer *w;
};

static bool write_entry(void *arg, uint64_t vaddr)
{
	const struct entry_writer *e = arg;

	write_symbol(e->kept, vaddr, 0, VT_SYMBOL_ENTERED, "", e->w);
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
	for (i = 0; i < k->names.count; i++) {
		const struct vt_symbol *s =
			vt_symbols_at(k->symbols, *(uint64_t *)vt_hash_at(&k->names, i));

		write_symbol(k, s->start, s->end - s->start, s->flags, s->name, w);
	}
	if (k->symbols)
		write_aliases(k, w);
	for (i = 0; i < k->ends.count; i++)
		write_symbol(k, *(uint64_t *)vt_hash_at(&k->ends, i), 0, VT_SYMBOL_ENDS, "", w);
	for (i = 0; i < k->names.count && k->elf; i++)
		write_entries(k, vt_symbols_at(k->symbols, *(uint64_t *)vt_hash_at(&k->names, i)),
			      w);
}

/* ---- lines ---- */

static uint64_t *start_line(const struct vti_kept *k, uint64_t addr, uint64_t end, uint64_t flags,
			    struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_LINE);

	row[VT_LINE_IMAGE] = k->image;
	row[VT_LINE_ADDR] = addr;
	row[VT_LINE_SIZE] = end - addr;
	row[VT_LINE_FLAGS] = flags;
	return row;
}

static void write_frame_line(const struct vti_kept *k, uint64_t addr, uint64_t end, uint64_t depth,
			     const struct vt_frame *f, struct vt_writer *w)
{
	uint64_t *row = start_line(k, addr, end, VT_LINE_FRAME, w);

	row[VT_LINE_DEPTH] = depth;
	row[VT_LINE_LINE] = f->line;
	vt_writer_text(w, VT_LINE_FUNCTION, f->function);
	vt_writer_text(w, VT_LINE_FILE, f->file);
}

/* Writes the lines of [addr, end), in which they do not change. */
static void write_line_at(const struct vti_kept *k, struct vt_lines *lines, uint64_t addr,
			  uint64_t end, struct vt_writer *w)
{
	struct vt_frame frames[VT_MAX_INLINE];
	size_t i, n = vt_lines_frames(lines, addr, frames, VT_MAX_INLINE);
	struct vt_line line = {.file = ""};
	bool known = vt_lines_at(lines, addr, &line);
	uint64_t *row, flags = 0;

	if (!known && !n)
		return;
	if (known)
		flags |= VT_LINE_KNOWN | (line.is_stmt ? (unsigned)VT_LINE_STATEMENT : 0);
	if (n)
		flags |= VT_LINE_FRAME;
	row = start_line(k, addr, end, flags, w);
	row[VT_LINE_LINE] = line.line;
	row[VT_LINE_COLUMN] = line.column;
	row[VT_LINE_DISCRIMINATOR] = line.discriminator;
	vt_writer_text(w, VT_LINE_FUNCTION, n ? frames[0].function : "");
	vt_writer_text(w, VT_LINE_FILE, line.file);
	for (i = 1; i < n; i++)
		write_frame_line(k, addr, end, i, &frames[i], w);
}

static void write_declaration(const struct vti_kept *k, struct vt_lines *lines,
			      const struct vt_symbol *sym, struct vt_writer *w)
{
	struct vt_frame f;

	if (!vt_lines_function(lines, sym->start, &f))
		return;
	start_line(k, sym->start, sym->end, VT_LINE_DECLARED, w)[VT_LINE_LINE] = f.line;
	vt_writer_text(w, VT_LINE_FUNCTION, f.function);
	vt_writer_text(w, VT_LINE_FILE, f.file);
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
	for (i = 0; i < k->names.count; i++) {
		const struct vt_symbol *sym =
			vt_symbols_at(k->symbols, *(uint64_t *)vt_hash_at(&k->names, i));

		if (!(sym->flags & VT_SYMBOL_OBJECT))
			write_declaration(k, lines, sym, w);
	}
}
