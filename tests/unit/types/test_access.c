/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What instructions access, by pointers that are followed from where they were loaded. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/insn/insn.h"
#include "tests/unit/types/subject.h"

static const char program[] =
	"struct pair { int a; long b; };\n"
	"struct node { struct node *next; struct pair p; long v[6]; struct pair *out; };\n"
	"static struct node first, second, third; struct node *head = &first; int table[10];\n"
	"struct two { int a, b; } twos[4];\n"
	"struct pair pairs[4];\n"
	"#define F __attribute__((noinline))\n"
	"F long chain(struct node *n) { return n->next->next->p.b; }\n"
	"F long from_global(void) { return head->next->p.a; }\n"
	"F long fourth(struct node *n) { return n->next->out[3].b; }\n"
	"F int indexed(long i) { return table[i]; }\n"
	"F long elements(struct node *n, long i) { return n->next->v[i]; }\n"
	"F struct node *make(long n) { return n > 1 ? &second : &first; }\n"
	"F long made(long n) { return make(n)->p.b; }\n"
	"F void store(struct node *n) { n->next->next->p.a = 5; }\n"
	"F long each(struct two *p, long i) { return p[i].b; }\n"
	"F int shifted(long i) { return table[i - 9]; }\n"
	"F long beside(struct node *n) { struct pair *p = &n->p; return p->a + n->v[1]; }\n"
	"F void apart(void *p, long i) { ((long *)p)[i] = i; }\n"
	"int main(int c, char **v) { (void)v; first.next = &second; second.next = &third;\n"
	"  third.next = &first; second.out = pairs; pairs[3].b = 7;\n"
	"  apart(&third.p.b, 0); store(&first);\n"
	"  return (int)(chain(&first) + from_global() + fourth(&first) + indexed(c) + made(c)\n"
	"               + elements(&first, c) + each(twos, c) + shifted(c + 8) + beside(&first) - "
	"12); }\n";

static const struct {
	const char *function;
	const char *paths; /* in any order, each between blanks; the last must be found */
	const char *last;
} want[] = {
	{"chain", " next p.b ", "p.b"},
	{"from_global", " next p.a ", "p.a"},
	{"fourth", " next out ", "out"},
	{"indexed", " ", NULL},
	{"elements", " next ", "next"},
	{"each", " b ", "b"},
	{"shifted", " ", NULL},
	{"beside", " p.a a v[] ", "v[]"},
	{"made", " p.b ", "p.b"},
	{"store", " next p.a ", "p.a"},
	{"apart", " ", NULL}, /* nobody says what it points to */
};

/* An access is by the first operand if the instruction does just that with it alone. */
static void check_operand(struct subject *s, uint64_t at, const struct vt_facts *f)
{
	const struct vt_memory *m = &f->memories[0];
	bool fixed = m->base == VT_REG_IP || m->base == VT_REG_NONE, through, found;
	uint64_t offset, size = 0, same;
	struct vt_variable v;

	if (f->nmemories != 1)
		return;
	found = vt_types_access(s->types, at, &v, &same, &through) == VT_TYPED;
	assert_int_equal(vt_types_access_by(s->types, at, m->read, m->written, &v, &offset, &size,
					    &through) == VT_TYPED,
			 found && !fixed);
	assert_int_equal(size, m->size);
	if (found && !fixed)
		assert_int_equal(offset, same);
	if (!m->read || !m->written)
		assert_int_equal(
			vt_types_access_by(s->types, at, true, true, &v, &offset, &size, &through),
			VT_UNTYPED_INEXACT);
	assert_int_equal(
		vt_types_access_by(s->types, at, false, false, &v, &offset, &size, &through),
		VT_UNTYPED_INEXACT);
}

/* Checks the paths of all accesses of a procedure but those of variables as a whole. */
static void check_function(struct subject *s, size_t i, bool plain)
{
	const struct vt_symbol *symbol;
	struct vt_facts f;
	uint64_t at, address;
	bool found = false;

	assert_true(vt_symbols_address_of(s->symbols, want[i].function, &address));
	symbol = vt_symbols_find(s->symbols, address);
	for (at = symbol->start; at < symbol->end; at += f.length) {
		struct vt_typeplace place;
		struct vt_variable v;
		char between[64];
		uint64_t offset;
		bool through;
		size_t avail;
		const uint8_t *code = vt_elf_bytes(s->elf, at, &avail);

		assert_true(vt_facts_decode(code, avail, &f));
		if (f.flags & (VT_FACT_LOAD | VT_FACT_STORE))
			check_operand(s, at, &f);
		if (!(f.flags & (VT_FACT_LOAD | VT_FACT_STORE)) || f.memories[0].implied ||
		    vt_types_access(s->types, at, &v, &offset, &through) != VT_TYPED)
			continue;
		assert_int_equal(
			vt_type_place(s->types, v.type, offset, f.memories[0].size, &place),
			VT_TYPED);
		if (!place.path[0])
			continue;
		snprintf(between, sizeof(between), " %s ", place.path);
		if (!strstr(want[i].paths, between))
			print_error("%s at %" PRIx64 ": %s\n", want[i].function, at, place.path);
		assert_non_null(strstr(want[i].paths, between));
		found |= want[i].last && strcmp(place.path, want[i].last) == 0;
	}
	/* Without optimization, the index is added to the pointer. */
	if (!plain || strcmp(want[i].function, "each"))
		assert_int_equal(found, want[i].last != NULL);
}

static void pointers_are_followed(void **state)
{
	static const char *const compilers[] = {"gcc -g -O0",	       "gcc -g -O2",
						"gcc -gdwarf-4 -O1",   "clang -g -O0",
						"clang -gdwarf-4 -O1", "clang -g -O2"};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		struct subject s;

		subject_build(&s, program, "p.c", compilers[i]);
		for (j = 0; j < sizeof(want) / sizeof(want[0]); j++)
			check_function(&s, j, strstr(compilers[i], "-O0") != NULL);
		subject_demolish(&s);
	}
}

static void nothing_follows_from_nothing(void **state)
{
	struct vt_variable v;
	struct subject s;
	uint64_t offset, size;
	bool through;

	(void)state;
	subject_build(&s, program, "p.c", "gcc -g -O1");
	assert_int_equal(vt_types_access_by(s.types, 0, true, false, &v, &offset, &size, &through),
			 VT_UNTYPED_NO_CODE);
	assert_int_equal(vt_types_access(s.types, 0, &v, &offset, &through), VT_UNTYPED_NO_CODE);
	assert_int_equal(vt_types_access(s.types, UINT64_MAX, &v, &offset, &through),
			 VT_UNTYPED_NO_CODE);
	subject_demolish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_are_followed),
		cmocka_unit_test(nothing_follows_from_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
