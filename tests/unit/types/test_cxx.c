/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes, namespaces and several units, against what the program says of itself. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/types/subject.h"

static const char program[] =
	"#include <cstdio>\n"
	"namespace ns {\n"
	"struct Empty {};\n"
	"struct Base { virtual ~Base() {} int b = 1; };\n"
	"enum class Kind : unsigned char { ONE, TWO };\n"
	"template <class T> struct Box : Base, Empty {\n"
	"  T value; static int made; T &ref; Kind kind; T Box::*member;\n"
	"  Box() : ref(value), kind(Kind::TWO), member(&Box::value) {} };\n"
	"template <class T> int Box<T>::made = 3;\n"
	"struct Virtual : virtual Base { int v; };\n"
	"int count; namespace { long hidden = 4; }\n"
	"int bump() { static short calls; printf(\"g calls %lx %zu\\n\", (unsigned long)&calls,\n"
	"  sizeof calls); return ++calls + ++hidden; }\n"
	"}\n"
	"struct Later; extern Later *soon; Later *soon;\n"
	"ns::Box<short> box; ns::Virtual virt;\n"
	"#define G(n, v) printf(\"g %s %lx %zu\\n\", n, (unsigned long)&v, sizeof(v))\n"
	"#define M(n, v) printf(\"m %s %zu %zu\\n\", n, (size_t)((char *)&v - (char *)&box), "
	"sizeof(v))\n"
	"void other();\n"
	"int main() {\n"
	"  G(\"box\", box); G(\"virt\", virt); G(\"ns::count\", ns::count); G(\"soon\", soon);\n"
	"  G(\"ns::(anonymous namespace)::hidden\", ns::hidden); ns::bump(); other();\n"
	"  M(\"value\", box.value); M(\"kind\", box.kind); M(\"member\", box.member);\n"
	"  M(\"ns::Base::b\", box.b); printf(\"made %lx\\n\", (unsigned long)&box.made); return 0; "
	"}\n";

static const char second[] = "struct Later { int a; long b; }; extern Later *soon; Later here;\n"
			     "void other() { soon = new Later{1, 2}; }\n";

static void build(struct subject *s, const char *compiler)
{
	s->dir = toolbox_dir();
	toolbox_write(s->dir, "p.cc", program);
	toolbox_write(s->dir, "q.cc", second);
	free(toolbox_run(s->dir, "%s -Wno-psabi -no-pie -fno-pie p.cc q.cc -o p", compiler));
	subject_open(s);
}

static void check_class(struct subject *s, const struct vt_ctype *box, char *line)
{
	struct vt_typeplace place;
	uint64_t offset, size;
	char name[64];

	assert_int_equal(sscanf(line, "m %63s %" SCNu64 " %" SCNu64, name, &offset, &size), 3);
	assert_int_equal(vt_type_place(s->types, box, offset, size, &place), VT_TYPED);
	assert_string_equal(place.path, name);
	assert_int_equal(place.type->size, size);
}

/* "ns::(anonymous namespace)::hidden ADDRESS SIZE" */
static const struct vt_ctype *check_global(struct subject *s, char *name)
{
	char *space = strrchr(name, ' ');
	struct vt_variable v;
	uint64_t size, addr, offset;

	assert_non_null(space);
	size = strtoull(space, NULL, 10);
	*space = 0;
	space = strrchr(name, ' ');
	assert_non_null(space);
	addr = strtoull(space, NULL, 16);
	*space = 0;
	assert_int_equal(vt_types_global(s->types, addr, &v, &offset), VT_TYPED);
	assert_string_equal(v.name, name);
	assert_int_equal(v.type->size, size);
	if (strcmp(name, "calls") == 0)
		assert_string_equal(v.function, "bump");
	else
		assert_null(v.function);
	return v.type;
}

static void check_static_member(struct subject *s, uint64_t addr)
{
	struct vt_variable v;
	uint64_t offset;

	assert_int_equal(vt_types_global(s->types, addr, &v, &offset), VT_TYPED);
	assert_memory_equal(v.name, "ns::Box<short", 13);
	assert_string_equal(strrchr(v.name, ':'), ":made");
	assert_string_equal(v.type->name, "int");
}

static void check_types(struct subject *s, const struct vt_ctype *box, const struct vt_ctype *virt,
			const struct vt_ctype *soon)
{
	const struct vt_typemember *m;
	struct vt_typeplace place;
	size_t n, i, unknown = 0;

	assert_int_equal(vt_type_place(s->types, box, 0, 8, &place), VT_TYPED);
	assert_memory_equal(place.path, "ns::Base::_vptr", 15);
	assert_memory_equal(box->name, "ns::Box<short", 13);
	/* Where a virtual base class lies depends on the object. */
	assert_int_equal(vt_type_members(s->types, virt, &m, &n), VT_TYPED);
	for (i = 0; i < n; i++)
		unknown += strcmp(m[i].path, "(unknown)") == 0;
	assert_true(unknown > 0);
	/* Defined in the other unit only. */
	assert_string_equal(soon->name, "Later *");
	assert_non_null(vt_type_target(s->types, soon));
	assert_int_equal(vt_type_target(s->types, soon)->size, 16);
	assert_int_equal(vt_type_place(s->types, vt_type_target(s->types, soon), 8, 8, &place),
			 VT_TYPED);
	assert_string_equal(place.path, "b");
}

static void classes_are_as_the_program_has_them(void **state)
{
	static const char *const compilers[] = {"g++ -g", "g++ -gdwarf-4 -O2",
						"clang++ -g -fstandalone-debug",
						"g++ -g -fdebug-types-section"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		const struct vt_ctype *types[5] = {NULL};
		char *text, *line, *save = NULL;
		struct subject s;
		unsigned globals = 0, members = 0;

		build(&s, compilers[i]);
		text = toolbox_run(s.dir, "./p");
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			if (line[0] == 'g') {
				const struct vt_ctype *type = check_global(&s, line + 2);

				if (globals < 5)
					types[globals] = type;
				globals++;
			} else if (strncmp(line, "made ", 5) == 0) {
				check_static_member(&s, strtoull(line + 5, NULL, 16));
			} else {
				assert_true(globals == 6);
				check_class(&s, types[0], line);
				members++;
			}
		}
		assert_int_equal(globals, 6);
		assert_int_equal(members, 4);
		check_types(&s, types[0], types[1], types[3]);
		free(text);
		subject_demolish(&s);
	}
}

/* Two units define a type differently, and a third one only declares it; or nobody defines it. */
static void contradicting_definitions_are_no_definition(void **state)
{
	struct vt_variable v;
	struct subject s;
	uint64_t address, offset;

	(void)state;
	s.dir = toolbox_dir();
	toolbox_write(s.dir, "p.c",
		      "struct s *s; struct t *t; struct u *u; struct w *w;"
		      "int main(void) { return 0; }");
	toolbox_write(s.dir, "q.c",
		      "struct s { int a; } qs; struct t { int a; } qt; struct w { int a; } w1;");
	toolbox_write(s.dir, "r.c",
		      "struct s { long a; } rs; struct t { int b; } rt; struct w { int a; } w2;");
	free(toolbox_run(s.dir, "gcc -g -no-pie -fno-pie p.c q.c r.c -o p"));
	subject_open(&s);
	assert_true(vt_symbols_address_of(s.symbols, "s", &address));
	assert_int_equal(vt_types_global(s.types, address, &v, &offset), VT_TYPED);
	assert_string_equal(v.type->name, "struct s *");
	assert_false(vt_type_target(s.types, v.type)->sized);
	assert_true(vt_symbols_address_of(s.symbols, "t", &address));
	assert_int_equal(vt_types_global(s.types, address, &v, &offset), VT_TYPED);
	assert_false(vt_type_target(s.types, v.type)->sized);
	assert_true(vt_symbols_address_of(s.symbols, "w", &address));
	assert_int_equal(vt_types_global(s.types, address, &v, &offset), VT_TYPED);
	assert_int_equal(vt_type_target(s.types, v.type)->size, 4);
	assert_true(vt_symbols_address_of(s.symbols, "u", &address));
	assert_int_equal(vt_types_global(s.types, address, &v, &offset), VT_TYPED);
	assert_false(vt_type_target(s.types, v.type)->sized);
	subject_demolish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_are_as_the_program_has_them),
		cmocka_unit_test(contradicting_definitions_are_no_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
