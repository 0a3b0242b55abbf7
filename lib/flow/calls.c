/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What of an image as a whole the graphs of its procedures depend on: which procedures never
 * return, and where control goes from the middle of one procedure into the middle of another.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/internal.h"
#include "machine/insn/insn.h"

/* Procedures of libraries that never return, by their manual pages and headers (noreturn). */
static const char *const ends[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_unexpected",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_start_main",
	"__longjmp_chk",
	"__siglongjmp",
	"__stack_chk_fail",
	"__stack_chk_fail_local",
	"_exit",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

/* What a procedure linkage table's symbols end in (symbols.h). */
static const char plt[] = "@plt";

static bool name_ends(const char *name)
{
	size_t size = strlen(name), i;

	if (size >= strlen(plt) && strcmp(name + size - strlen(plt), plt) == 0)
		size -= strlen(plt);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strlen(ends[i]) == size && memcmp(ends[i], name, size) == 0)
			return true;
	/* libstdc++'s std::__throw_bad_alloc() … */
	return strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_") != NULL;
}

/* A direct jump out of its procedure. */
struct jump {
	uint64_t to;
	uint64_t from;
};

struct places {
	uint64_t *list; /* sorted */
	size_t count;
	size_t cap;
};

struct calls {
	struct jump *jumps; /* sorted */
	size_t njumps;
	size_t jumps_cap;
	struct places ends; /* starts of procedures that never return */
};

/* A symbol on the way to knowing whether it returns. */
struct candidate {
	uint64_t start;
	uint64_t end;
	bool ends;
};

struct survey {
	struct calls *calls;
	const struct vt_elf *elf;
	struct vt_symbols *symbols;
	struct candidate *list; /* sorted, as the symbols are */
	size_t count;
	uint64_t left; /* bytes of code that may still be walked */
};

/* Symbols may overlap, but hardly do: all together they are not so many times the code. */
#define MAX_OVERLAP 8

/* ---- one procedure ---- */

static bool add_jump(struct calls *c, uint64_t from, uint64_t to)
{
	if (!vt_array_grow(&c->jumps, &c->jumps_cap, c->njumps + 1, sizeof(*c->jumps)))
		return false;
	c->jumps[c->njumps++] = (struct jump){to, from};
	return true;
}

/*
 * Walks the bytes of a procedure, one instruction after the other.  It may end without return only
 * if it has none, nor an indirect jump, and does not run out of its end.
 */
static bool survey_code(struct survey *s, struct candidate *k, const uint8_t *code, size_t size)
{
	uint32_t last = 0;
	struct vt_flow f;
	bool stops = false;
	size_t at;

	for (at = 0; at < size; at += f.length) {
		uint64_t from = k->start + at, to;

		if (!vt_flow_decode(code + at, size - at, &f)) {
			f.length = 1;
			k->ends = false;
			continue;
		}
		/* Padding is passed over: what came before it counts. */
		if ((f.flags & (VT_FACT_BRANCH | VT_FACT_SYSCALL)) || f.stops) {
			last = f.flags;
			stops = f.stops;
		}
		if ((f.flags & VT_FACT_RETURN) || (f.flags & (VT_FACT_JUMP | VT_FACT_INDIRECT)) ==
							  (VT_FACT_JUMP | VT_FACT_INDIRECT))
			k->ends = false;
		to = from + (uint64_t)f.target;
		if (f.has_target && !(f.flags & VT_FACT_CALL) && to - k->start >= size &&
		    !add_jump(s->calls, from, to))
			return false;
	}
	k->ends &= stops || (last & (VT_FACT_JUMP | VT_FACT_CALL));
	return true;
}

static uint64_t text_size(const struct vt_elf *e)
{
	size_t n, i;
	const struct vt_elf_segment *g = vt_elf_segments(e, &n);
	uint64_t size = 0;

	for (i = 0; i < n; i++)
		if (g[i].exec && g[i].filesz > size)
			size = g[i].filesz;
	return size;
}

static bool is_text(const struct vt_elf *e, uint64_t vaddr)
{
	size_t n, i;
	const struct vt_elf_segment *g = vt_elf_segments(e, &n);

	for (i = 0; i < n; i++)
		if (g[i].exec && vaddr >= g[i].vaddr && vaddr - g[i].vaddr < g[i].filesz)
			return true;
	return false;
}

static bool survey_symbol(struct survey *s, const struct vt_symbol *sym)
{
	struct candidate *k = &s->list[s->count];
	const uint8_t *code;
	size_t size;

	*k = (struct candidate){sym->start, sym->end, name_ends(sym->name)};
	if ((sym->flags & VT_SYMBOL_OBJECT) || sym->end <= sym->start ||
	    !is_text(s->elf, sym->start))
		return true;
	s->count++;
	if (k->ends || (sym->flags & VT_SYMBOL_PLT))
		return true;
	code = vt_elf_bytes(s->elf, sym->start, &size);
	if (!code)
		return true;
	if (size > sym->end - sym->start)
		size = (size_t)(sym->end - sym->start);
	if (size > s->left)
		return true;
	s->left -= size;
	k->ends = true;
	return survey_code(s, k, code, size);
}

/* ---- all of them ---- */

static struct candidate *candidate_at(const struct survey *s, uint64_t vaddr)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && vaddr < s->list[low - 1].end ? &s->list[low - 1] : NULL;
}

static int by_target(const void *x, const void *y)
{
	const struct jump *a = x, *b = y;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* Whether a procedure may end without return no longer, because of a jump out of it. */
static bool goes_on(const struct survey *s, const struct jump *j, size_t *from)
{
	struct candidate *k = candidate_at(s, j->from);

	if (!k || !k->ends)
		return false;
	k->ends = false;
	*from = (size_t)(k - s->list);
	return true;
}

/* The first jump to this address or a later one. */
static size_t first_jump(const struct calls *c, uint64_t to)
{
	size_t low = 0, high = c->njumps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->jumps[middle].to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What goes on in a procedure that returns, returns; so does what goes to nobody knows where. */
static bool knock_out(struct survey *s)
{
	const struct calls *c = s->calls;
	size_t *out = malloc((s->count + 1) * sizeof(*out)), n = 0, i;

	if (!out)
		return false;
	for (i = 0; i < c->njumps; i++) {
		const struct candidate *to = candidate_at(s, c->jumps[i].to);

		if (!to || !to->ends)
			n += goes_on(s, &c->jumps[i], &out[n]);
	}
	while (n) {
		const struct candidate *k = &s->list[out[--n]];

		for (i = first_jump(c, k->start);
		     i < c->njumps && candidate_at(s, c->jumps[i].to) == k; i++)
			n += goes_on(s, &c->jumps[i], &out[n]);
	}
	free(out);
	return true;
}

static bool survey_all(struct survey *s)
{
	size_t i, n = vt_symbols_count(s->symbols);
	struct places *ends = &s->calls->ends;

	for (i = 0; i < n; i++)
		if (!survey_symbol(s, vt_symbols_at(s->symbols, i)))
			return false;
	if (s->calls->njumps)
		qsort(s->calls->jumps, s->calls->njumps, sizeof(*s->calls->jumps), by_target);
	if (!knock_out(s))
		return false;
	for (i = 0; i < s->count; i++) {
		if (!s->list[i].ends)
			continue;
		if (!vt_array_grow(&ends->list, &ends->cap, ends->count + 1, sizeof(*ends->list)))
			return false;
		ends->list[ends->count++] = s->list[i].start;
	}
	return true;
}

static void calls_free(void *what)
{
	struct calls *c = what;

	free(c->jumps);
	free(c->ends.list);
	free(c);
}

/* The image's survey, made when first asked for; NULL: there are no symbols, or no memory. */
static const struct calls *calls_of(const struct vt_cfg_source *src)
{
	enum vt_unknown why;
	struct survey s = {.count = 0};
	bool ok;

	if (!src->images)
		return NULL;
	s.calls = vt_images_kept(src->images, src->image);
	if (s.calls)
		return s.calls;
	s.elf = vt_images_elf(src->images, src->image, &why);
	s.symbols = vt_images_symbols(src->images, src->image, 0, &why);
	if (!s.elf || !s.symbols)
		return NULL;
	s.calls = calloc(1, sizeof(*s.calls));
	s.list = calloc(vt_symbols_count(s.symbols) + 1, sizeof(*s.list));
	s.left = MAX_OVERLAP * text_size(s.elf);
	ok = s.calls && s.list && survey_all(&s) &&
	     vt_images_keep(src->images, src->image, s.calls, calls_free);
	free(s.list);
	if (ok)
		return s.calls;
	if (s.calls)
		calls_free(s.calls);
	return NULL;
}

bool vti_call_ends(const struct vt_cfg_source *src, uint64_t target)
{
	const struct calls *c = calls_of(src);
	size_t low = 0, high = c ? c->ends.count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->ends.list[middle] < target)
			low = middle + 1;
		else
			high = middle;
	}
	return c && low < c->ends.count && c->ends.list[low] == target;
}

bool vti_calls_into(const struct vt_cfg_source *src, bool (*fn)(void *arg, uint64_t vaddr),
		    void *arg)
{
	const struct calls *c = calls_of(src);
	size_t i = c ? first_jump(c, src->start) : 0;

	for (; c && i < c->njumps && c->jumps[i].to - src->start < src->size; i++)
		if (c->jumps[i].from - src->start >= src->size && !fn(arg, c->jumps[i].to))
			return false;
	return true;
}
