/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Local variables against the addresses that the program itself prints. */
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

/* What it prints of itself: name, an address of code in its scope, distance from the CFA, size. */
static const char program[] =
	"#include <stdio.h>\n"
	"struct pair { int a; long b; };\n"
	"struct node { struct node *next; struct pair p; };\n"
	"static void *volatile sink;\n"
	"#define S(v) printf(\"s %s %lx %ld %zu\\n\", #v, (unsigned long)pc, \\\n"
	"                    (long)((char *)&v - (char *)cfa), sizeof(v))\n"
	"#define KEEP(v) __asm__ volatile(\"\" : : \"r\"(&v) : \"memory\")\n"
	"#define HERE() __asm__ volatile(\"lea 0(%%rip), %0\" : \"=r\"(pc) : : \"memory\")\n"
	"__attribute__((noinline)) int plain(int n, long m) {\n"
	"  void *cfa = __builtin_dwarf_cfa(); void *pc; int local = n; struct pair pair = {n, m};\n"
	"  char buffer[40]; sink = buffer; sink = &local; sink = &pair; sink = &n; sink = &m;\n"
	"  HERE();\n"
	"  KEEP(local); KEEP(pair); KEEP(buffer); KEEP(n); KEEP(m);\n"
	"  S(local); S(pair); S(buffer); S(n); S(m);\n"
	"  for (int i = 0; i < 1; i++) {\n"
	"    long inner[3] = {n, m, i}; sink = inner;\n"
	"    HERE(); KEEP(inner); KEEP(local); S(inner); S(local); local += (int)inner[n & 1];\n"
	"  }\n"
	"  return local; }\n"
	"static inline __attribute__((always_inline)) long deep(long x, void *cfa) {\n"
	"  struct pair within = {(int)x, x}; void *pc; sink = &within;\n"
	"  HERE(); KEEP(within); S(within); return within.b; }\n"
	"__attribute__((noinline)) long outer(long n) {\n"
	"  return deep(n, __builtin_dwarf_cfa()); }\n"
	"__attribute__((noinline)) long sum(struct node *list) {\n"
	"  long s = 0; for (; list; list = list->next) s += list->p.b; return s; }\n"
	"int main(int argc, char **argv) {\n"
	"  struct node n = {0, {1, 2}}; (void)argv;\n"
	"  plain(argc, argc + 1); outer(argc); return (int)sum(&n) - 2; }\n";

struct said {
	char name[64];
	uint64_t pc, size;
	int64_t cfa;
};

/* Returns false if an optimizing compiler has the value of a scalar in a register at that time. */
static bool check_variable(struct subject *s, const struct said *w, bool optimized)
{
	enum vt_untyped why;
	struct vt_variable v;
	uint64_t offset;

	why = vt_types_stack(s->types, w->pc, w->cfa, w->size, &v, &offset);
	if (why == VT_UNTYPED_NO_VARIABLE && optimized && w->size <= 8)
		return false;
	assert_int_equal(why, VT_TYPED);
	assert_string_equal(v.name, w->name);
	assert_int_equal(offset, 0);
	assert_int_equal(v.type->size, w->size);
	assert_int_equal(v.parameter, strcmp(w->name, "n") == 0 || strcmp(w->name, "m") == 0);
	assert_string_equal(v.function, strcmp(w->name, "within") ? "plain" : "deep");
	assert_int_equal(
		vt_types_stack(s->types, w->pc, w->cfa + (int64_t)w->size - 1, 1, &v, &offset),
		VT_TYPED);
	assert_string_equal(v.name, w->name);
	assert_int_equal(offset, w->size - 1);
	return true;
}

/* The same through a memory operand: the register that the CFA is computed from. */
static void check_operand(struct subject *s, const struct said *w)
{
	struct vt_variable v;
	uint64_t offset;
	int64_t cfa;
	unsigned reg;
	bool through;

	assert_true(vt_unwind_cfa(s->unwind, w->pc, &reg, &cfa));
	assert_int_equal(
		vt_types_operand(s->types, w->pc, reg, w->cfa + cfa + 1, 1, &v, &offset, &through),
		VT_TYPED);
	assert_string_equal(v.name, w->name);
	assert_int_equal(offset, 1);
	assert_false(through);
}

static void locals_are_where_the_program_has_them(void **state)
{
	static const char *const compilers[] = {
		"gcc -g -O0",
		"gcc -g -O2",
		"gcc -gdwarf-4 -O1",
		"gcc -g -O1 -fno-omit-frame-pointer",
		"clang -g -O0",
		"clang -gdwarf-4 -O1",
		"clang -g -O2 -fno-omit-frame-pointer",
		"gcc -g -O1 -gsplit-dwarf",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		struct subject s;
		char *text, *line, *save = NULL;
		unsigned n = 0;

		subject_build(&s, program, "p.c", compilers[i]);
		text = toolbox_run(s.dir, "./p");
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			struct said w;

			assert_int_equal(sscanf(line, "s %63s %" SCNx64 " %" SCNd64 " %" SCNu64,
						w.name, &w.pc, &w.cfa, &w.size),
					 4);
			if (check_variable(&s, &w, strstr(compilers[i], "-O0") == NULL))
				check_operand(&s, &w);
			n++;
		}
		assert_int_equal(n, 8);
		free(text);
		subject_demolish(&s);
	}
}

static void a_pointer_in_a_register_leads_to_its_object(void **state)
{
	static const char *const compilers[] = {"gcc -g -O2", "gcc -gdwarf-4 -O1", "clang -g -O1"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		const struct vt_symbol *sum;
		struct subject s;
		struct vt_facts f;
		uint64_t at, address;
		unsigned n = 0;

		subject_build(&s, program, "p.c", compilers[i]);
		assert_true(vt_symbols_address_of(s.symbols, "sum", &address));
		sum = vt_symbols_find(s.symbols, address);
		for (at = sum->start; at < sum->end; at += f.length) {
			size_t avail;
			const uint8_t *code = vt_elf_bytes(s.elf, at, &avail);
			struct vt_typeplace place;
			struct vt_variable v;
			uint64_t offset;
			bool through;

			assert_true(vt_facts_decode(code, avail, &f));
			if (!(f.flags & VT_FACT_LOAD) || f.memories[0].implied)
				continue;
			assert_int_equal(vt_types_operand(s.types, at, f.memories[0].base,
							  f.memories[0].displacement, 8, &v,
							  &offset, &through),
					 VT_TYPED);
			assert_true(through);
			assert_string_equal(v.name, "list");
			assert_string_equal(v.type->name, "struct node");
			assert_int_equal(vt_type_place(s.types, v.type, offset, 8, &place),
					 VT_TYPED);
			assert_string_equal(place.path,
					    f.memories[0].displacement ? "p.b" : "next");
			n++;
		}
		assert_true(n >= 2);
		subject_demolish(&s);
	}
}

static void nothing_else_is_found(void **state)
{
	struct vt_local locals[4];
	struct vt_variable v;
	struct subject s;
	uint64_t plain, offset;
	size_t n;

	(void)state;
	subject_build(&s, program, "p.c", "gcc -g -O0");
	assert_true(vt_symbols_address_of(s.symbols, "plain", &plain));
	/* The return address, and far above. */
	assert_int_equal(vt_types_stack(s.types, plain + 20, -8, 8, &v, &offset),
			 VT_UNTYPED_NO_VARIABLE);
	assert_int_equal(vt_types_stack(s.types, plain + 20, 4000, 8, &v, &offset),
			 VT_UNTYPED_NO_VARIABLE);
	assert_int_equal(vt_types_stack(s.types, 1, -16, 8, &v, &offset), VT_UNTYPED_NO_CODE);
	assert_int_equal(vt_types_locals(s.types, plain + 20, locals, 4, &n), VT_TYPED);
	assert_int_equal(n, 4);
	subject_demolish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locals_are_where_the_program_has_them),
		cmocka_unit_test(a_pointer_in_a_register_leads_to_its_object),
		cmocka_unit_test(nothing_else_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
