/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* madvise() */
#include "image/packed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/intern.h"
#include "stream/kinds.h"

/* Limit on the size of a packed file; only its pieces use memory. */
#define MAX_FILE ((uint64_t)1 << 36)

struct packed_symbol {
	uint64_t addr;
	uint64_t size;
	int32_t pid;
	uint32_t flags;
	uint32_t name; /* id in `texts` */
};

struct packed_line {
	uint64_t addr; /* first: the key */
	uint64_t size;
	uint32_t depth;
	uint32_t flags;
	uint32_t function; /* ids in `texts` */
	uint32_t file;
	uint32_t line;
	uint32_t column;
	uint32_t discriminator;
};

struct packed_lines {
	struct packed_line *v;
	size_t count;
	size_t cap;
	bool sorted;
};

struct vt_packed {
	uint64_t flags;
	uint64_t base;
	uint64_t total;
	uint8_t *data; /* `total` bytes of address space; NULL: none */
	struct vt_file_range *held;
	size_t nheld;
	size_t held_cap;
	bool filed;   /* there was a FILE record */
	bool several; /* its addresses differ between streams: it is not written again */
	bool opened;  /* the pieces are in use and do not change any more */
	struct packed_symbol *symbols;
	size_t nsymbols;
	size_t symbols_cap;
	struct packed_lines lines;
	struct packed_lines declared;
	struct vt_intern *texts;
};

struct vt_packed *vti_packed_new(void)
{
	struct vt_packed *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->texts = vt_intern_new();
	if (p->texts)
		return p;
	free(p);
	return NULL;
}

void vti_packed_free(struct vt_packed *p)
{
	if (!p)
		return;
	if (p->data)
		munmap(p->data, (size_t)p->total);
	free(p->held);
	free(p->symbols);
	free(p->lines.v);
	free(p->declared.v);
	vt_intern_free(p->texts);
	free(p);
}

static bool take_packed(uint64_t *left, uint64_t n)
{
	if (n > *left)
		return false;
	*left -= n;
	return true;
}

/* Returns the id of a text; false when memory runs out. */
static bool intern_text(struct vt_packed *p, struct vt_bytes text, uint32_t *id)
{
	const void *zero = text.size ? memchr(text.data, 0, text.size) : NULL;

	if (zero)
		text.size = (size_t)((const uint8_t *)zero - text.data);
	*id = vt_intern_add(p->texts, text.data, text.size);
	return *id != UINT32_MAX;
}

/* ---- pieces of the file ---- */

/* Reserves address space: a piece uses memory only where it lies. */
static int reserve_file(struct vt_packed *p, uint64_t total, struct vt_error *err)
{
	void *data;

	if (total > MAX_FILE)
		return vt_error_set(err, VT_E_LIMIT, "a packed file of %llu bytes",
				    (unsigned long long)total);
	data = mmap(NULL, (size_t)total, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (data == MAP_FAILED)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for a packed file");
	/* Pieces are small and far apart. */
	madvise(data, (size_t)total, MADV_NOHUGEPAGE);
	p->data = data;
	p->total = total;
	return 0;
}

/* Adds a range, which joins those that it overlaps or touches. */
static bool add_held(struct vt_packed *p, uint64_t first, uint64_t end)
{
	size_t at = vt_array_below(p->held, p->nheld, sizeof(*p->held), first), after;

	if (at && p->held[at - 1].end >= first)
		first = p->held[--at].first;
	for (after = at; after < p->nheld && p->held[after].first <= end; after++)
		end = p->held[after].end > end ? p->held[after].end : end;
	if (after == at && !vt_array_grow(&p->held, &p->held_cap, p->nheld + 1, sizeof(*p->held)))
		return false;
	memmove(&p->held[at + 1], &p->held[after], (p->nheld - after) * sizeof(*p->held));
	p->nheld = p->nheld - (after - at) + 1;
	p->held[at] = (struct vt_file_range){first, end};
	return true;
}

static int add_piece(struct vt_packed *p, uint64_t offset, struct vt_bytes data,
		     struct vti_packed_left *left, struct vt_error *err)
{
	if (offset > p->total || data.size > p->total - offset || p->opened)
		return vt_error_set(err, VT_E_FORMAT, "a piece of a packed file outside of it");
	if (!take_packed(&left->bytes, data.size) || !take_packed(&left->entries, 1))
		return vt_error_set(err, VT_E_LIMIT, "packed files have too many bytes");
	if (!add_held(p, offset, offset + data.size))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for packed files");
	memcpy(p->data + offset, data.data, data.size);
	return 0;
}

static int feed_file(struct vt_packed *p, const struct vt_record *rec, struct vti_packed_left *left,
		     struct vt_error *err)
{
	uint64_t total = vt_record_u64(rec, VT_FILE_TOTAL);
	struct vt_bytes data = vt_record_bytes(rec, VT_FILE_DATA);
	int code = 0;

	if (p->data && total != p->total)
		return vt_error_set(err, VT_E_FORMAT, "a packed file of two sizes");
	if (!p->data && total)
		code = reserve_file(p, total, err);
	if (code < 0)
		return code;
	p->several |= p->filed && p->base != vt_record_u64(rec, VT_FILE_BASE);
	p->filed = true;
	p->flags |= vt_record_u64(rec, VT_FILE_FLAGS);
	p->base = vt_record_u64(rec, VT_FILE_BASE);
	return data.size ? add_piece(p, vt_record_u64(rec, VT_FILE_OFFSET), data, left, err) : 0;
}

struct vt_elf *vti_packed_elf(struct vt_packed *p, const char *name, struct vt_error *err)
{
	if (!p->data) {
		vt_error_set(err, VT_E_NOTFOUND, "%s: only symbols were packed", name);
		return NULL;
	}
	p->opened = true;
	return vt_elf_open_held(p->data, (size_t)p->total, p->held, p->nheld, name, err);
}

uint64_t vti_packed_flags(const struct vt_packed *p)
{
	return p->flags;
}

uint64_t vti_packed_base(const struct vt_packed *p)
{
	return p->base;
}

/* ---- symbols ---- */

static int feed_symbol(struct vt_packed *p, const struct vt_record *rec, struct vt_error *err)
{
	struct packed_symbol s = {.addr = vt_record_u64(rec, VT_SYMBOL_ADDR),
				  .size = vt_record_u64(rec, VT_SYMBOL_SIZE),
				  .pid = (int32_t)vt_record_i64(rec, VT_SYMBOL_PID),
				  .flags = (uint32_t)vt_record_u64(rec, VT_SYMBOL_FLAGS)};

	if (!intern_text(p, vt_record_bytes(rec, VT_SYMBOL_NAME), &s.name) ||
	    !vt_array_grow(&p->symbols, &p->symbols_cap, p->nsymbols + 1, sizeof(s)))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for packed symbols");
	p->symbols[p->nsymbols++] = s;
	return 0;
}

/* A record without a name of its own says something of the code at an address. */
static bool is_fact(const struct vt_packed *p, const struct packed_symbol *s)
{
	return s->flags & (VT_SYMBOL_ENDS | VT_SYMBOL_ENTERED) &&
	       !vt_intern_get(p->texts, s->name)[0];
}

int vti_packed_symbols(const struct vt_packed *p, int32_t pid, struct vt_symbols *t,
		       struct vt_error *err)
{
	const uint32_t flags = VT_SYMBOL_ALIAS - 1;
	size_t i;
	int code = 0;

	for (i = 0; i < p->nsymbols && code == 0; i++) {
		const struct packed_symbol *s = &p->symbols[i];
		const char *name = vt_intern_get(p->texts, s->name);

		if (s->pid != pid || is_fact(p, s))
			continue;
		if (s->flags & VT_SYMBOL_ALIAS)
			code = vti_symbols_add_alias(t, s->addr, name, err);
		else
			code = vt_symbols_add(t, s->addr, s->size, s->flags & flags, name, err);
	}
	return code;
}

bool vti_packed_has_process(const struct vt_packed *p, int32_t pid)
{
	size_t i;

	for (i = 0; i < p->nsymbols; i++)
		if (p->symbols[i].pid == pid)
			return true;
	return false;
}

bool vt_packed_each_fact(const struct vt_packed *p,
			 bool (*fn)(void *arg, uint64_t vaddr, uint32_t flags), void *arg)
{
	size_t i;

	for (i = 0; i < p->nsymbols; i++)
		if (is_fact(p, &p->symbols[i]) && !fn(arg, p->symbols[i].addr, p->symbols[i].flags))
			return false;
	return true;
}

/* ---- lines ---- */

static uint32_t small_number(uint64_t n)
{
	return n <= UINT32_MAX ? (uint32_t)n : 0;
}

static int feed_line(struct vt_packed *p, const struct vt_record *rec, struct vt_error *err)
{
	struct packed_line l = {.addr = vt_record_u64(rec, VT_LINE_ADDR),
				.size = vt_record_u64(rec, VT_LINE_SIZE),
				.depth = small_number(vt_record_u64(rec, VT_LINE_DEPTH)),
				.flags = (uint32_t)vt_record_u64(rec, VT_LINE_FLAGS),
				.line = small_number(vt_record_u64(rec, VT_LINE_LINE)),
				.column = small_number(vt_record_u64(rec, VT_LINE_COLUMN)),
				.discriminator =
					small_number(vt_record_u64(rec, VT_LINE_DISCRIMINATOR))};
	struct packed_lines *to = l.flags & VT_LINE_DECLARED ? &p->declared : &p->lines;

	if (!intern_text(p, vt_record_bytes(rec, VT_LINE_FUNCTION), &l.function) ||
	    !intern_text(p, vt_record_bytes(rec, VT_LINE_FILE), &l.file) ||
	    !vt_array_grow(&to->v, &to->cap, to->count + 1, sizeof(l)))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for packed lines");
	to->v[to->count++] = l;
	to->sorted = false;
	return 0;
}

/* ---- lookup ---- */

static int compare_packed_lines(const void *a, const void *b)
{
	const struct packed_line *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

/*
 * Sorts the lines and removes those that are there twice, as in merged streams.  Where lines of
 * code overlap, they agree; each then reaches as far as those before it.
 */
static void sort_packed_lines(struct packed_lines *l)
{
	uint64_t end = 0;
	size_t i, n = 0;

	l->sorted = true;
	if (!l->count)
		return;
	qsort(l->v, l->count, sizeof(*l->v), compare_packed_lines);
	for (i = 0; i < l->count; i++)
		if (!n || compare_packed_lines(&l->v[n - 1], &l->v[i]) != 0)
			l->v[n++] = l->v[i];
		else if (l->v[i].size > l->v[n - 1].size)
			l->v[n - 1].size = l->v[i].size;
	l->count = n;
	for (i = 0; i < n && !(l->v[i].flags & VT_LINE_DECLARED); i++) {
		struct packed_line *v = &l->v[i];

		if (end > v->addr && v->size < end - v->addr)
			v->size = end - v->addr;
		if (v->size < UINT64_MAX - v->addr && v->addr + v->size > end)
			end = v->addr + v->size;
	}
}

/* Symbols nest hardly, so a few declarations before an address are enough. */
#define LOOK_BACK 16

/* Returns the entry of depth 0 that holds an address, or NULL. */
static const struct packed_line *find_packed(struct packed_lines *l, uint64_t vaddr)
{
	size_t at, back;

	if (!l->sorted)
		sort_packed_lines(l);
	at = vt_array_up_to(l->v, l->count, sizeof(*l->v), vaddr);
	for (back = 0; at && vaddr - l->v[at - 1].addr >= l->v[at - 1].size; at--)
		if (back++ == LOOK_BACK)
			return NULL;
	if (!at)
		return NULL;
	at = vt_array_below(l->v, at, sizeof(*l->v), l->v[at - 1].addr);
	return l->v[at].depth == 0 ? &l->v[at] : NULL;
}

bool vti_packed_line(struct vt_packed *p, uint64_t vaddr, struct vt_line *line)
{
	const struct packed_line *l = find_packed(&p->lines, vaddr);

	if (!l || !(l->flags & VT_LINE_KNOWN))
		return false;
	*line = (struct vt_line){vt_intern_get(p->texts, l->file), l->line, l->column,
				 l->discriminator, (l->flags & VT_LINE_STATEMENT) != 0};
	return true;
}

static struct vt_frame make_frame(const struct vt_packed *p, const struct packed_line *l)
{
	return (struct vt_frame){vt_intern_get(p->texts, l->function),
				 vt_intern_get(p->texts, l->file), l->line, false};
}

size_t vti_packed_frames(struct vt_packed *p, uint64_t vaddr, struct vt_frame *frames, size_t max)
{
	const struct packed_line *first = find_packed(&p->lines, vaddr), *l;
	const struct packed_line *end = p->lines.v + p->lines.count;
	size_t n = 0;

	for (l = first;
	     l && l < end && l->addr == first->addr && l->flags & VT_LINE_FRAME && l->depth == n;
	     l++) {
		if (n)
			frames[n - 1].inlined = true;
		if (n == max)
			break;
		frames[n++] = make_frame(p, l);
	}
	return n;
}

uint64_t vti_packed_change(struct vt_packed *p, uint64_t vaddr)
{
	const struct packed_line *l = find_packed(&p->lines, vaddr);
	size_t next = vt_array_up_to(p->lines.v, p->lines.count, sizeof(*p->lines.v), vaddr);
	uint64_t end = l && l->size < UINT64_MAX - l->addr ? l->addr + l->size : UINT64_MAX;

	return next < p->lines.count && p->lines.v[next].addr < end ? p->lines.v[next].addr : end;
}

bool vti_packed_function(struct vt_packed *p, uint64_t vaddr, struct vt_frame *function)
{
	const struct packed_line *l = find_packed(&p->declared, vaddr);

	if (l)
		*function = make_frame(p, l);
	return l != NULL;
}

/* ---- records ---- */

unsigned vti_packed_image_field(uint32_t kind)
{
	return kind == VT_FILE	   ? (unsigned)VT_FILE_IMAGE
	       : kind == VT_SYMBOL ? (unsigned)VT_SYMBOL_IMAGE
				   : (unsigned)VT_LINE_IMAGE;
}

int vti_packed_feed(struct vt_packed *p, const struct vt_record *rec, struct vti_packed_left *left,
		    struct vt_error *err)
{
	if (rec->kind == VT_FILE)
		return feed_file(p, rec, left, err);
	if (!take_packed(&left->entries, 1))
		return vt_error_set(err, VT_E_LIMIT, "more than %llu packed symbols and lines",
				    (unsigned long long)VTI_PACKED_ENTRIES);
	return rec->kind == VT_SYMBOL ? feed_symbol(p, rec, err) : feed_line(p, rec, err);
}

/* ---- writing ---- */

/* Bytes of a file in one record: far below the limit of a frame. */
#define PIECE_SIZE ((uint64_t)1 << 20)

static void put_piece(struct vt_writer *w, uint32_t image, const struct vti_packed_file *f,
		      uint64_t at, uint64_t size)
{
	uint64_t *row = vt_writer_row(w, VT_FILE);

	row[VT_FILE_IMAGE] = image;
	row[VT_FILE_FLAGS] = f->flags;
	row[VT_FILE_BASE] = f->base;
	row[VT_FILE_TOTAL] = f->total;
	row[VT_FILE_OFFSET] = at;
	if (size)
		vt_writer_bytes(w, VT_FILE_DATA, f->bytes + at, (size_t)size);
}

void vti_packed_put_file(struct vt_writer *w, uint32_t image, const struct vti_packed_file *f,
			 uint64_t first, uint64_t end)
{
	uint64_t size;

	if (first == end)
		put_piece(w, image, f, first, 0);
	for (; first < end; first += size) {
		size = end - first < PIECE_SIZE ? end - first : PIECE_SIZE;
		put_piece(w, image, f, first, size);
	}
}

void vti_packed_put_symbol(struct vt_writer *w, uint32_t image, int32_t pid,
			   const struct vt_symbol *symbol)
{
	uint64_t *row = vt_writer_row(w, VT_SYMBOL);

	row[VT_SYMBOL_IMAGE] = image;
	row[VT_SYMBOL_PID] = (uint64_t)(int64_t)pid;
	row[VT_SYMBOL_ADDR] = symbol->start;
	row[VT_SYMBOL_SIZE] = symbol->end - symbol->start;
	row[VT_SYMBOL_FLAGS] = symbol->flags;
	vt_writer_text(w, VT_SYMBOL_NAME, symbol->name);
}

void vti_packed_put_line(struct vt_writer *w, uint32_t image, const struct vti_packed_source *s)
{
	uint64_t *row = vt_writer_row(w, VT_LINE);

	row[VT_LINE_IMAGE] = image;
	row[VT_LINE_ADDR] = s->addr;
	row[VT_LINE_SIZE] = s->size;
	row[VT_LINE_DEPTH] = s->depth;
	row[VT_LINE_FLAGS] = s->flags;
	row[VT_LINE_LINE] = s->line.line;
	row[VT_LINE_COLUMN] = s->line.column;
	row[VT_LINE_DISCRIMINATOR] = s->line.discriminator;
	vt_writer_text(w, VT_LINE_FUNCTION, s->function);
	vt_writer_text(w, VT_LINE_FILE, s->line.file);
}

static void write_packed_lines(const struct vt_packed *p, const struct packed_lines *lines,
			       uint32_t id, struct vt_writer *w)
{
	size_t i;

	for (i = 0; i < lines->count; i++) {
		const struct packed_line *l = &lines->v[i];

		vti_packed_put_line(
			w, id,
			&(struct vti_packed_source){l->addr,
						    l->size,
						    l->depth,
						    l->flags,
						    vt_intern_get(p->texts, l->function),
						    {.file = vt_intern_get(p->texts, l->file),
						     .line = l->line,
						     .column = l->column,
						     .discriminator = l->discriminator}});
	}
}

void vti_packed_write(const struct vt_packed *p, uint32_t id, struct vt_writer *w)
{
	const struct vti_packed_file file = {p->flags, p->base, p->total, p->data};
	size_t i;

	if (p->several)
		return;
	vti_packed_put_file(w, id, &file, 0, 0);
	for (i = 0; i < p->nheld; i++)
		vti_packed_put_file(w, id, &file, p->held[i].first, p->held[i].end);
	for (i = 0; i < p->nsymbols; i++) {
		const struct packed_symbol *s = &p->symbols[i];

		vti_packed_put_symbol(w, id, s->pid,
				      &(struct vt_symbol){s->addr, s->addr + s->size,
							  vt_intern_get(p->texts, s->name),
							  s->flags});
	}
	write_packed_lines(p, &p->lines, id, w);
	write_packed_lines(p, &p->declared, id, w);
}
