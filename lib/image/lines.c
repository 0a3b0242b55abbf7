/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/lines.h"

#include <assert.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "image/internal.h"
#include "image/packed.h"

/* Limit on the nesting of namespaces, functions and blocks. */
#define MAX_DEPTH 200

#define NONE UINT32_MAX

/* Limit on indexed units; a distribution's browser has some 40,000. */
#define MAX_UNITS 1000000

/* Limit on the ranges of all units, or of one unit's functions.  In damaged files, all entries may
 * refer to the same list. */
#define MAX_RANGES ((size_t)1 << 23)

struct code_range {
	uint64_t lo; /* first: the key */
	uint64_t hi;
	uint64_t die; /* offset of a unit's or a function's entry in .debug_info */
};

struct code_ranges {
	struct code_range *v;
	size_t count;
	size_t cap;
};

struct dwarf_unit {
	uint64_t entry; /* names its entry; the key */
	bool functions_read;
	bool deep; /* functions inside functions were read, too */
	struct code_ranges functions;
};

/* The calls inlined into one function, nested by their ranges. */
struct inline_nest {
	uint64_t function; /* offset of its entry; 0: none read yet */
	struct code_ranges calls;
	uint32_t *outer; /* for each range, the nearest one before that reaches beyond its start */
};

struct vt_lines {
	Dwarf *dwarf;
	struct vt_intern *names; /* absolute names of files */
	Dwarf_Aranges *aranges;
	bool indexed;		  /* `units` covers all units */
	struct code_ranges units; /* for files whose .debug_aranges is missing or incomplete */
	struct vt_hash loaded;	  /* of struct dwarf_unit */
	struct inline_nest nest;  /* of the function requested last */
	struct vt_packed *packed; /* instead of all these; or NULL */
};

/* A walk through debugging entries for the code ranges of those that have a certain tag. */
struct die_walk {
	struct code_ranges *out;
	uint64_t left; /* entries still to visit; a walk of a damaged tree might not end */
	int wanted;    /* the tag whose entries are collected */
	bool (*enters)(int tag); /* whether to visit the children of an entry */
};

struct vt_lines *vt_lines_new(const struct vt_elf *elf, struct vt_error *err)
{
	const struct vt_elf_info *info = vt_elf_info(elf);
	struct vt_lines *l;
	size_t n;

	if (!info->has_dwarf || info->type == ET_REL) {
		vt_error_set(err, VT_E_NOTFOUND, "%s: no debug information", info->path);
		return NULL;
	}
	l = calloc(1, sizeof(*l));
	if (l)
		l->names = vt_intern_new();
	if (!l || !l->names) {
		free(l);
		vt_error_set(err, VT_E_NOMEM, "%s: out of memory", info->path);
		return NULL;
	}
	l->dwarf = dwarf_begin_elf(vti_elf_handle(elf), DWARF_C_READ, NULL);
	if (!l->dwarf) {
		vt_error_set(err, VT_E_DAMAGED, "%s: %s", info->path, dwarf_errmsg(-1));
		vt_intern_free(l->names);
		free(l);
		return NULL;
	}
	vt_hash_init(&l->loaded, sizeof(struct dwarf_unit), sizeof(uint64_t));
	if (dwarf_getaranges(l->dwarf, &l->aranges, &n) != 0)
		l->aranges = NULL;
	return l;
}

struct vt_lines *vti_lines_new_packed(struct vt_packed *packed, struct vt_error *err)
{
	struct vt_lines *l = calloc(1, sizeof(*l));

	if (l)
		l->packed = packed;
	else
		vt_error_nomem(err);
	return l;
}

void vt_lines_free(struct vt_lines *l)
{
	size_t i;

	if (!l)
		return;
	if (l->packed) {
		free(l);
		return;
	}
	for (i = 0; i < l->loaded.count; i++)
		free(((struct dwarf_unit *)vt_hash_at(&l->loaded, i))->functions.v);
	vt_hash_fini(&l->loaded);
	free(l->units.v);
	free(l->nest.calls.v);
	free(l->nest.outer);
	vt_intern_free(l->names);
	dwarf_end(l->dwarf);
	free(l);
}

/* Adds the address ranges of an entry. */
static void add_ranges(struct code_ranges *r, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	while (r->count < MAX_RANGES && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (lo >= hi || !vt_array_grow(&r->v, &r->cap, r->count + 1, sizeof(*r->v)))
			continue;
		r->v[r->count++] = (struct code_range){lo, hi, dwarf_dieoffset(die)};
	}
}

static int compare_code_ranges(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	/* The larger first, so that a backward search finds the innermost first. */
	if (x->hi != y->hi)
		return x->hi > y->hi ? -1 : 1;
	return (x->die > y->die) - (x->die < y->die);
}

static void sort_ranges(struct code_ranges *r)
{
	if (r->count)
		qsort(r->v, r->count, sizeof(*r->v), compare_code_ranges);
}

/* Returns the index of the last range that starts at or before the address, or NONE. */
static uint32_t find_last_start(const struct code_ranges *r, uint64_t addr)
{
	size_t n = vt_array_up_to(r->v, r->count, sizeof(*r->v), addr);

	return n ? (uint32_t)n - 1 : NONE;
}

/* Returns the last range that holds the address and starts at or before it. */
static const struct code_range *find_range_holding(const struct code_ranges *r, uint64_t addr)
{
	const uint32_t look_back = 64; /* overlaps are rare and shallow */
	uint32_t last = find_last_start(r, addr), i;

	for (i = 0; last != NONE && i < look_back && i <= last; i++)
		if (addr < r->v[last - i].hi)
			return &r->v[last - i];
	return NULL;
}

/* Reads the first entry of each unit, once, for files without a complete .debug_aranges. */
static void index_units(struct vt_lines *l)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;
	size_t n = 0;

	l->indexed = true;
	while (n++ < MAX_UNITS && dwarf_get_units(l->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_ranges(&l->units, &die);
	sort_ranges(&l->units);
}

/* Finds the entry of the unit that holds an address. */
static bool find_dwarf_unit(struct vt_lines *l, uint64_t addr, Dwarf_Die *die)
{
	const struct code_range *r;
	Dwarf_Arange *arange;
	Dwarf_Off offset;

	arange = l->aranges ? dwarf_getarange_addr(l->aranges, addr) : NULL;
	if (arange && dwarf_getarangeinfo(arange, NULL, NULL, &offset) == 0)
		return dwarf_offdie(l->dwarf, offset, die) != NULL;
	if (!l->indexed)
		index_units(l);
	r = find_range_holding(&l->units, addr);
	return r && dwarf_offdie(l->dwarf, r->die, die) != NULL;
}

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module;
}

/* Functions inside other functions, such as those of local classes. */
static bool holds_hidden_functions(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	default:
		return holds_functions(tag);
	}
}

uint64_t vti_dwarf_unit_size(Dwarf_Die *die)
{
	Dwarf_Off unit = dwarf_dieoffset(die) - dwarf_cuoffset(die), next;
	Dwarf *dwarf = dwarf_cu_getdwarf(die->cu);
	size_t header;

	if (dwarf_nextcu(dwarf, unit, &next, &header, NULL, NULL, NULL) != 0 || next < unit)
		return 0;
	return next - unit;
}

static void walk_dies(struct die_walk *w, Dwarf_Die *parent, int depth)
{
	Dwarf_Off before = dwarf_dieoffset(parent);
	Dwarf_Die die;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		/* In valid files, references to siblings lead forward. */
		if (dwarf_dieoffset(&die) <= before || w->left == 0)
			return;
		before = dwarf_dieoffset(&die);
		w->left--;
		if (tag == w->wanted)
			add_ranges(w->out, &die);
		if (w->enters(tag))
			walk_dies(w, &die, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void read_functions(struct dwarf_unit *u, Dwarf_Die *die, bool deep)
{
	struct die_walk w = {&u->functions, vti_dwarf_unit_size(die), DW_TAG_subprogram,
			     deep ? holds_hidden_functions : holds_functions};

	u->functions_read = true;
	u->deep = deep;
	u->functions.count = 0;
	walk_dies(&w, die, 0);
	sort_ranges(&u->functions);
}

/* Entries of split DWARF are in other files: their offsets do not name them, their bytes do. */
static uint64_t unit_key(const Dwarf_Die *cu)
{
	return (uint64_t)(uintptr_t)cu->addr;
}

/* Finds the function, not inlined, that holds an address. */
static bool find_dwarf_function(struct vt_lines *l, Dwarf_Die *cu, uint64_t addr,
				Dwarf_Die *function)
{
	uint64_t key = unit_key(cu);
	struct dwarf_unit *u = vt_hash_add(&l->loaded, &key, NULL);
	const struct code_range *r;

	if (!u)
		return false;
	if (!u->functions_read)
		read_functions(u, cu, false);
	r = find_range_holding(&u->functions, addr);
	if (!r && !u->deep) {
		read_functions(u, cu, true);
		r = find_range_holding(&u->functions, addr);
	}
	return r && dwarf_offdie(dwarf_cu_getdwarf(cu->cu), r->die, function) != NULL;
}

Dwarf *vti_lines_dwarf(const struct vt_lines *l)
{
	return l->dwarf;
}

bool vti_lines_unit_die(struct vt_lines *l, uint64_t vaddr, Dwarf_Die *unit)
{
	return !l->packed && find_dwarf_unit(l, vaddr, unit);
}

bool vti_lines_function_die(struct vt_lines *l, Dwarf_Die *unit, uint64_t vaddr,
			    Dwarf_Die *function)
{
	return !l->packed && find_dwarf_function(l, unit, vaddr, function);
}

/*
 * Returns a file's name, a relative one prefixed with the compilation directory.  A relative
 * compilation directory (reproducible builds have ".") is not added.
 */
static const char *make_absolute(struct vt_lines *l, Dwarf_Die *cu, const char *file)
{
	struct vt_buf b = VT_BUF_INIT;
	Dwarf_Attribute attr;
	const char *dir;
	uint32_t id;

	while (file[0] == '.' && file[1] == '/')
		file += 2;
	if (file[0] == '/' || !dwarf_attr(cu, DW_AT_comp_dir, &attr))
		return file;
	dir = dwarf_formstring(&attr);
	if (!dir || dir[0] != '/')
		return file;
	vt_buf_printf(&b, "%s/%s", dir, file);
	id = vt_intern_str(l->names, vt_buf_str(&b));
	vt_buf_free(&b);
	return id == UINT32_MAX ? file : vt_intern_get(l->names, id);
}

static bool read_line(struct vt_lines *l, Dwarf_Die *cu, uint64_t addr, struct vt_line *line)
{
	Dwarf_Line *found = dwarf_getsrc_die(cu, addr);
	const char *file = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
	unsigned discriminator = 0;
	bool is_stmt = false;
	int no = 0, column = 0;

	if (!file || dwarf_lineno(found, &no) != 0)
		return false;
	dwarf_linecol(found, &column);
	dwarf_linediscriminator(found, &discriminator);
	dwarf_linebeginstatement(found, &is_stmt);
	*line = (struct vt_line){make_absolute(l, cu, file), no > 0 ? (unsigned)no : 0,
				 column > 0 ? (unsigned)column : 0, discriminator, is_stmt};
	return true;
}

bool vt_lines_at(struct vt_lines *l, uint64_t vaddr, struct vt_line *line)
{
	Dwarf_Die cu;

	if (l->packed)
		return vti_packed_line(l->packed, vaddr, line);
	return find_dwarf_unit(l, vaddr, &cu) && read_line(l, &cu, vaddr, line);
}

/* ---- inlined calls ------------------------------------------------------------- */

static const char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *s = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		s = dwarf_formstring(&attr);
	if (!s)
		s = dwarf_diename(die);
	return s ? s : "";
}

static void read_call_site(struct vt_lines *l, Dwarf_Die *cu, Dwarf_Die *inlined,
			   struct vt_frame *caller)
{
	Dwarf_Word file = 0, line = 0;
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	const char *name = NULL;

	if (dwarf_attr(inlined, DW_AT_call_line, &attr))
		dwarf_formudata(&attr, &line);
	if (dwarf_attr(inlined, DW_AT_call_file, &attr) && dwarf_formudata(&attr, &file) == 0 &&
	    dwarf_getsrcfiles(cu, &files, NULL) == 0)
		name = dwarf_filesrc(files, file, NULL, NULL);
	caller->file = name ? make_absolute(l, cu, name) : "";
	caller->line = line <= UINT32_MAX ? (unsigned)line : 0;
}

static bool holds_calls(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block;
}

/* Reads the inlined calls of a function into l->nest. */
static bool read_nest(struct vt_lines *l, Dwarf_Die *function)
{
	struct inline_nest *n = &l->nest;
	struct die_walk w = {&n->calls, vti_dwarf_unit_size(function), DW_TAG_inlined_subroutine,
			     holds_calls};
	size_t i;

	if (n->function == dwarf_dieoffset(function))
		return true;
	n->function = 0;
	n->calls.count = 0;
	walk_dies(&w, function, 0);
	sort_ranges(&n->calls);
	free(n->outer);
	n->outer = malloc((n->calls.count + 1) * sizeof(*n->outer));
	if (!n->outer || n->calls.count >= NONE)
		return false;
	for (i = 0; i < n->calls.count; i++) {
		uint32_t o = i ? (uint32_t)i - 1 : NONE;

		while (o != NONE && n->calls.v[o].hi <= n->calls.v[i].lo)
			o = n->outer[o];
		assert(o == NONE || o < i);
		n->outer[i] = o;
	}
	n->function = dwarf_dieoffset(function);
	return true;
}

/* Stores the entries of the calls that hold an address, innermost first.  Returns their number. */
static size_t find_calls(const struct vt_lines *l, uint64_t addr, Dwarf_Die *calls, size_t max)
{
	const struct inline_nest *nest = &l->nest;
	size_t n = 0;
	uint32_t i;

	for (i = find_last_start(&nest->calls, addr); i != NONE && n < max; i = nest->outer[i])
		if (addr < nest->calls.v[i].hi &&
		    dwarf_offdie(l->dwarf, nest->calls.v[i].die, &calls[n]))
			n++;
	return n;
}

size_t vt_lines_frames(struct vt_lines *l, uint64_t vaddr, struct vt_frame *frames, size_t max)
{
	struct vt_line line = {.file = ""};
	Dwarf_Die chain[VT_MAX_INLINE], cu, function;
	size_t n, i;

	if (l->packed)
		return vti_packed_frames(l->packed, vaddr, frames, max);
	if (!find_dwarf_unit(l, vaddr, &cu) || !find_dwarf_function(l, &cu, vaddr, &function) ||
	    !read_nest(l, &function))
		return 0;
	n = find_calls(l, vaddr, chain, VT_MAX_INLINE - 1);
	assert(n < VT_MAX_INLINE);
	chain[n++] = function;
	read_line(l, &cu, vaddr, &line);
	for (i = 0; i < n && i < max; i++) {
		frames[i].function = function_name(&chain[i]);
		frames[i].inlined = i + 1 < n;
		if (i == 0) {
			frames[i].file = line.file;
			frames[i].line = line.line;
		} else {
			read_call_site(l, &cu, &chain[i - 1], &frames[i]);
		}
	}
	return i;
}

/* Lowers *next to an address after `vaddr`. */
static void lower_change(uint64_t *next, uint64_t vaddr, uint64_t at)
{
	if (at > vaddr && at < *next)
		*next = at;
}

/* Lowers *next to the first start or end of a range after `vaddr`. */
static void lower_to_ranges(uint64_t *next, uint64_t vaddr, const struct code_ranges *r)
{
	size_t i;

	for (i = 0; i < r->count && r->v[i].lo < *next; i++) {
		lower_change(next, vaddr, r->v[i].lo);
		lower_change(next, vaddr, r->v[i].hi);
	}
}

/* Lowers *next to the row of the line table after `vaddr`. */
static void lower_to_rows(uint64_t *next, uint64_t vaddr, Dwarf_Die *cu)
{
	Dwarf_Addr at = 0;
	Dwarf_Lines *rows;
	size_t low = 0, high;

	if (dwarf_getsrclines(cu, &rows, &high) != 0)
		return;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (dwarf_lineaddr(dwarf_onesrcline(rows, mid), &at) == 0 && at <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (dwarf_lineaddr(dwarf_onesrcline(rows, low), &at) == 0)
		lower_change(next, vaddr, at);
}

uint64_t vt_lines_change(struct vt_lines *l, uint64_t vaddr)
{
	uint64_t next = UINT64_MAX;
	Dwarf_Die cu, function;
	const struct dwarf_unit *u;
	uint64_t key;

	if (l->packed)
		return vti_packed_change(l->packed, vaddr);
	if (!find_dwarf_unit(l, vaddr, &cu)) {
		if (!l->indexed)
			index_units(l);
		lower_to_ranges(&next, vaddr, &l->units);
		return next;
	}
	lower_to_rows(&next, vaddr, &cu);
	if (find_dwarf_function(l, &cu, vaddr, &function) && read_nest(l, &function))
		lower_to_ranges(&next, vaddr, &l->nest.calls);
	key = unit_key(&cu);
	u = vt_hash_find(&l->loaded, &key);
	if (u)
		lower_to_ranges(&next, vaddr, &u->functions);
	return next;
}

bool vt_lines_function(struct vt_lines *l, uint64_t vaddr, struct vt_frame *function)
{
	Dwarf_Die cu, die;
	const char *file;
	int line = 0;

	if (l->packed)
		return vti_packed_function(l->packed, vaddr, function);
	if (!find_dwarf_unit(l, vaddr, &cu) || !find_dwarf_function(l, &cu, vaddr, &die))
		return false;
	file = dwarf_decl_file(&die);
	dwarf_decl_line(&die, &line);
	*function = (struct vt_frame){function_name(&die), file ? make_absolute(l, &cu, file) : "",
				      line > 0 ? (unsigned)line : 0, false};
	return true;
}
