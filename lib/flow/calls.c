/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/ordered.h"
#include "image/packed.h"
#include "machine/insn/insn.h"
#include "stream/kinds.h"

/* Library procedures that never return, according to manual pages and headers (noreturn). */
static const char *const noreturn_names[] = {
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

/* The suffix of symbols of a procedure linkage table (symbols.h). */
static const char plt[] = "@plt";

static bool is_noreturn_name(const char *name)
{
	size_t size = strlen(name), i;

	if (size >= strlen(plt) && strcmp(name + size - strlen(plt), plt) == 0)
		size -= strlen(plt);
	for (i = 0; i < sizeof(noreturn_names) / sizeof(noreturn_names[0]); i++)
		if (strlen(noreturn_names[i]) == size && memcmp(noreturn_names[i], name, size) == 0)
			return true;
	/* libstdc++'s std::__throw_bad_alloc() … */
	return strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_") != NULL;
}

/* A direct jump out of its procedure. */
struct outward_jump {
	uint64_t to;
	uint64_t from;
};

/* The survey of an image. */
struct calls {
	struct outward_jump *jumps; /* sorted */
	size_t njumps;
	size_t jumps_cap;
	uint64_t *ends; /* starts of procedures that never return, sorted */
	size_t nends;
	size_t ends_cap;
};

/* A procedure during the survey. */
struct candidate {
	uint64_t start;
	uint64_t end;
	const uint8_t *code; /* NULL: it is not decoded */
	size_t size;
	bool ends; /* it may never return */
};

struct survey {
	struct calls *calls;
	const struct vt_elf *elf;
	struct vt_symbols *symbols;
	unsigned threads;
	struct candidate *list; /* sorted by start */
	size_t count;
	uint64_t left; /* bytes of code that may still be decoded */
	bool failed;   /* no memory */
};

/* Candidates that a thread decodes at once; `calls` gets their jumps. */
struct survey_part {
	struct candidate *list;
	size_t count;
	struct calls calls;
	bool ok;
};

#define PART_CODE ((size_t)64 << 10)

/* Limit on the sum of all symbols' sizes, in multiples of the code: symbols hardly overlap. */
#define MAX_OVERLAP 8

/* ---- one procedure ---- */

static bool append_outward_jump(struct calls *c, uint64_t from, uint64_t to)
{
	if (!vt_array_grow(&c->jumps, &c->jumps_cap, c->njumps + 1, sizeof(*c->jumps)))
		return false;
	c->jumps[c->njumps++] = (struct outward_jump){to, from};
	return true;
}

/*
 * Decodes the instructions of a procedure.  It may never return only if it has no return, no
 * indirect jump, and does not fall through its end.  Returns false when memory runs out.
 */
static bool survey_code(struct calls *c, struct candidate *k)
{
	const uint8_t *code = k->code;
	size_t size = k->size;
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
		/* Ignore padding at the end. */
		if ((f.flags & (VT_FACT_BRANCH | VT_FACT_SYSCALL)) || f.stops) {
			last = f.flags;
			stops = f.stops;
		}
		if ((f.flags & VT_FACT_RETURN) || (f.flags & (VT_FACT_JUMP | VT_FACT_INDIRECT)) ==
							  (VT_FACT_JUMP | VT_FACT_INDIRECT))
			k->ends = false;
		to = from + (uint64_t)f.target;
		if (f.has_target && !(f.flags & VT_FACT_CALL) && to - k->start >= size &&
		    !append_outward_jump(c, from, to))
			return false;
	}
	k->ends &= stops || (last & (VT_FACT_JUMP | VT_FACT_CALL));
	return true;
}

static uint64_t get_text_size(const struct vt_elf *e)
{
	size_t n, i;
	const struct vt_elf_segment *g = vt_elf_segments(e, &n);
	uint64_t size = 0;

	for (i = 0; i < n; i++)
		if (g[i].exec && g[i].filesz > size)
			size = g[i].filesz;
	return size;
}

static void list_candidate(struct survey *s, const struct vt_symbol *sym)
{
	struct candidate *k = &s->list[s->count];
	const uint8_t *code;
	size_t size;

	*k = (struct candidate){
		.start = sym->start, .end = sym->end, .ends = is_noreturn_name(sym->name)};
	if ((sym->flags & VT_SYMBOL_OBJECT) || sym->end <= sym->start ||
	    !vt_elf_is_code(s->elf, sym->start))
		return;
	s->count++;
	if (k->ends || (sym->flags & VT_SYMBOL_PLT))
		return;
	code = vt_elf_bytes(s->elf, sym->start, &size);
	if (!code)
		return;
	if (size > sym->end - sym->start)
		size = (size_t)(sym->end - sym->start);
	if (size > s->left)
		return;
	s->left -= size;
	k->ends = true;
	k->code = code;
	k->size = size;
}

static void survey_part(void *survey, void *part)
{
	struct survey_part *p = part;
	size_t i;

	(void)survey;
	for (i = 0; i < p->count && p->ok; i++)
		if (p->list[i].code)
			p->ok = survey_code(&p->calls, &p->list[i]);
}

static void take_part(void *survey, void *part)
{
	struct survey *s = survey;
	struct survey_part *p = part;
	struct calls *c = s->calls;

	if (p->ok && vt_array_grow(&c->jumps, &c->jumps_cap, c->njumps + p->calls.njumps + 1,
				   sizeof(*c->jumps))) {
		if (p->calls.njumps)
			memcpy(c->jumps + c->njumps, p->calls.jumps,
			       p->calls.njumps * sizeof(*c->jumps));
		c->njumps += p->calls.njumps;
	} else {
		s->failed = true;
	}
	free(p->calls.jumps);
	free(p);
}

/* Decodes the code of all that are listed, in several threads.  False: no memory. */
static bool survey_listed(struct survey *s)
{
	const struct vt_ordered_work how = {survey_part, take_part, s, UINT64_MAX};
	struct vt_ordered *o = vt_ordered_new(s->threads, &how);
	size_t first, end, size;

	for (first = 0; o && first < s->count && !s->failed; first = end) {
		struct survey_part *p = malloc(sizeof(*p));

		for (end = first, size = 0; end < s->count && size < PART_CODE; end++)
			size += s->list[end].size;
		if (p) {
			*p = (struct survey_part){
				.list = s->list + first, .count = end - first, .ok = true};
			vt_ordered_put(o, p, 1);
		}
		s->failed |= !p;
	}
	vt_ordered_free(o);
	return o && !s->failed;
}

/* ---- all procedures ---- */

static struct candidate *find_candidate(const struct survey *s, uint64_t vaddr)
{
	size_t n = vt_array_up_to(s->list, s->count, sizeof(*s->list), vaddr);

	return n && vaddr < s->list[n - 1].end ? &s->list[n - 1] : NULL;
}

static int compare_jump_targets(const void *x, const void *y)
{
	const struct outward_jump *a = x, *b = y;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* Marks the procedure of a jump as returning.  Returns true if that is new. */
static bool mark_returning(const struct survey *s, const struct outward_jump *j, size_t *from)
{
	struct candidate *k = find_candidate(s, j->from);

	if (!k || !k->ends)
		return false;
	k->ends = false;
	*from = (size_t)(k - s->list);
	return true;
}

/* Returns the index of the first jump to this or a later address. */
static size_t find_first_jump(const struct calls *c, uint64_t to)
{
	return vt_array_below(c->jumps, c->njumps, sizeof(*c->jumps), to);
}

/* A procedure returns if it jumps to a procedure that returns, or to an unknown address. */
static bool find_returning(struct survey *s)
{
	const struct calls *c = s->calls;
	size_t *out = malloc((s->count + 1) * sizeof(*out)), n = 0, i;

	if (!out)
		return false;
	for (i = 0; i < c->njumps; i++) {
		const struct candidate *to = find_candidate(s, c->jumps[i].to);

		if (!to || !to->ends)
			n += mark_returning(s, &c->jumps[i], &out[n]);
	}
	while (n) {
		const struct candidate *k = &s->list[out[--n]];

		for (i = find_first_jump(c, k->start);
		     i < c->njumps && find_candidate(s, c->jumps[i].to) == k; i++)
			n += mark_returning(s, &c->jumps[i], &out[n]);
	}
	free(out);
	return true;
}

static bool survey_all(struct survey *s)
{
	size_t i, n = vt_symbols_count(s->symbols);
	struct calls *c = s->calls;

	for (i = 0; i < n; i++)
		list_candidate(s, vt_symbols_at(s->symbols, i));
	if (!survey_listed(s))
		return false;
	if (c->njumps)
		qsort(c->jumps, c->njumps, sizeof(*c->jumps), compare_jump_targets);
	if (!find_returning(s))
		return false;
	for (i = 0; i < s->count; i++) {
		if (!s->list[i].ends)
			continue;
		if (!vt_array_grow(&c->ends, &c->ends_cap, c->nends + 1, sizeof(*c->ends)))
			return false;
		c->ends[c->nends++] = s->list[i].start;
	}
	return true;
}

static void free_calls(void *what)
{
	struct calls *c = what;

	if (!c)
		return;
	free(c->jumps);
	free(c->ends);
	free(c);
}

/* Fills `c` by a survey of the image's file.  False without symbols or memory. */
static bool survey_image(struct calls *c, struct vt_images *images, uint32_t image)
{
	enum vt_unknown why;
	struct survey s = {.calls = c};
	bool ok;

	s.elf = vt_images_elf(images, image, &why);
	s.symbols = vt_images_symbols(images, image, 0, &why);
	if (!s.elf || !s.symbols)
		return false;
	s.list = calloc(vt_symbols_count(s.symbols) + 1, sizeof(*s.list));
	s.left = MAX_OVERLAP * get_text_size(s.elf);
	s.threads = vt_images_threads(images);
	ok = s.list && survey_all(&s);
	free(s.list);
	return ok;
}

/* ---- packed images ---- */

/* Where packed jumps come from is unknown, but not inside the procedures that they lead to. */
#define ELSEWHERE UINT64_MAX

static bool take_packed_fact(void *arg, uint64_t vaddr, uint32_t flags)
{
	struct calls *c = arg;

	if (flags & VT_SYMBOL_ENTERED && !append_outward_jump(c, ELSEWHERE, vaddr))
		return false;
	if (!(flags & VT_SYMBOL_ENDS))
		return true;
	if (!vt_array_grow(&c->ends, &c->ends_cap, c->nends + 1, sizeof(*c->ends)))
		return false;
	c->ends[c->nends++] = vaddr;
	return true;
}

static int compare_addresses(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static bool take_packed_facts(struct calls *c, const struct vt_packed *packed)
{
	if (!vt_packed_each_fact(packed, take_packed_fact, c))
		return false;
	if (c->njumps)
		qsort(c->jumps, c->njumps, sizeof(*c->jumps), compare_jump_targets);
	if (c->nends)
		qsort(c->ends, c->nends, sizeof(*c->ends), compare_addresses);
	return true;
}

/* ---- any image ---- */

/* Returns the facts of an image, found on the first call; NULL without symbols or memory. */
static const struct calls *get_calls(struct vt_images *images, uint32_t image)
{
	const struct vt_packed *packed;
	struct calls *c;

	if (!images)
		return NULL;
	c = vt_images_kept(images, image);
	if (c)
		return c;
	packed = vt_images_packed(images, image);
	c = calloc(1, sizeof(*c));
	if (c && (packed ? take_packed_facts(c, packed) : survey_image(c, images, image)) &&
	    vt_images_keep(images, image, c, free_calls))
		return c;
	free_calls(c);
	return NULL;
}

bool vt_calls_end(struct vt_images *images, uint32_t image, uint64_t target)
{
	const struct calls *c = get_calls(images, image);
	size_t i = c ? vt_array_below(c->ends, c->nends, sizeof(*c->ends), target) : 0;

	return c && i < c->nends && c->ends[i] == target;
}

bool vt_calls_into(struct vt_images *images, uint32_t image, uint64_t start, uint64_t size,
		   bool (*fn)(void *arg, uint64_t vaddr), void *arg)
{
	const struct calls *c = get_calls(images, image);
	size_t i = c ? find_first_jump(c, start) : 0;

	for (; c && i < c->njumps && c->jumps[i].to - start < size; i++)
		if (c->jumps[i].from - start >= size && !fn(arg, c->jumps[i].to))
			return false;
	return true;
}
