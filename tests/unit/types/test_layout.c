/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables and members against what the program itself says of addresses, offsets and sizes. */
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
	"#include <stddef.h>\n"
	"#include <stdio.h>\n"
	"struct inner { short s; long l; };\n"
	"typedef unsigned long word_t;\n"
	"struct node {\n"
	"  struct node *next; int key; char tag; struct inner in;\n"
	"  struct { int x, y; } pt[3];\n"
	"  union { int i; float f; char c[8]; } u;\n"
	"  unsigned a : 3, b : 5, c : 20;\n"
	"  word_t w; int m[2][3]; void (*fn)(int, char *); const char *const *names;\n"
	"  union { int left; struct { short lo, hi; }; };\n"
	"};\n"
	"struct flex { int n; double v[]; };\n"
	"struct node head;\n"
	"static struct node *table[7];\n"
	"word_t counter = 3;\n"
	"const char text[12] = \"text\";\n"
	"struct flex flex = { 1, { 2, 3 } };\n"
	"enum color { RED, BLUE } color = BLUE;\n"
	"#define G(v) printf(\"g %s %lx %zu\\n\", #v, (unsigned long)&v, sizeof(v))\n"
	"#define M(m) printf(\"m %s %zu %zu\\n\", #m, offsetof(struct node, m), \\\n"
	"                    sizeof(((struct node *)0)->m))\n"
	"int calls(void) {\n"
	"  static long count; { static int deep[2]; G(deep); deep[1]++; }\n"
	"  G(count); return (int)count++; }\n"
	"int main(void) {\n"
	"  G(head); G(table); G(counter); G(text); G(flex); G(color); calls();\n"
	"  M(next); M(key); M(tag); M(in.s); M(in.l); M(w); M(fn); M(names); M(pt); M(u); M(m);\n"
	"  M(left); M(lo); M(hi);\n"
	"  printf(\"t %zu\\n\", sizeof(struct node)); table[0] = &head; return 0; }\n";

static void check_global(struct subject *s, const char *name, uint64_t addr, uint64_t size)
{
	struct vt_variable v;
	uint64_t offset = 99;
	bool inside = strcmp(name, "count") == 0 || strcmp(name, "deep") == 0;

	assert_int_equal(vt_types_global(s->types, addr, &v, &offset), VT_TYPED);
	assert_string_equal(v.name, name);
	assert_int_equal(offset, 0);
	assert_true(v.type->sized);
	assert_int_equal(v.type->size, size);
	assert_int_equal(inside, v.function != NULL);
	if (inside)
		assert_string_equal(v.function, "calls");
	assert_int_equal(vt_types_global(s->types, addr + size - 1, &v, &offset), VT_TYPED);
	assert_string_equal(v.name, name);
	assert_int_equal(offset, size - 1);
}

/* "in.s" and what the program says of it. */
static void check_member(struct subject *s, const struct vt_ctype *node, const char *path,
			 uint64_t offset, uint64_t size)
{
	struct vt_typeplace place;
	size_t n = strlen(path);
	enum vt_untyped why = vt_type_place(s->types, node, offset, size, &place);

	assert_int_equal(why, VT_TYPED);
	if (strcmp(path, "left") == 0) {
		assert_string_equal(place.path, "left|lo..hi");
	} else if (strcmp(path, "lo") == 0) {
		assert_string_equal(place.path, "left|lo");
		assert_int_equal(place.members, 2);
		assert_int_equal(place.type->kind, VT_CTYPE_UNION);
		return;
	} else if (strcmp(path, "hi") == 0) {
		assert_string_equal(place.path, "left|hi");
		return;
	} else {
		assert_memory_equal(place.path, path, n);
	}
	if (strcmp(path, "pt") && strcmp(path, "u") && strcmp(path, "m") && strcmp(path, "left")) {
		assert_string_equal(place.path, path);
		assert_int_equal(place.offset, 0);
		assert_int_equal(place.type->size, size);
		assert_false(place.several);
	}
}

static const struct vt_ctype *type_of_global(struct subject *s, const char *name)
{
	struct vt_variable v;
	uint64_t address, offset;

	assert_true(vt_symbols_address_of(s->symbols, name, &address));
	assert_int_equal(vt_types_global(s->types, address, &v, &offset), VT_TYPED);
	return v.type;
}

static const char *path_at(struct subject *s, const struct vt_ctype *type, uint64_t offset,
			   uint64_t size)
{
	struct vt_typeplace place;

	assert_int_equal(vt_type_place(s->types, type, offset, size, &place), VT_TYPED);
	return place.path;
}

static void what_the_program_says_is_found(void **state)
{
	static const char *const compilers[] = {
		"gcc -g -O0",
		"gcc -g -O2",
		"gcc -gdwarf-4 -O1",
		"clang -g -O0",
		"clang -gdwarf-4 -O2",
		"gcc -g -fdebug-types-section",
		"gcc -gdwarf-4 -gstrict-dwarf -O1",
		"gcc -g -gsplit-dwarf",
		"clang -g -gsplit-dwarf",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		struct subject s;
		char *text, *line, *save = NULL;
		const struct vt_ctype *node;
		unsigned globals = 0, members = 0;

		subject_build(&s, program, "p.c", compilers[i]);
		node = type_of_global(&s, "head");
		text = toolbox_run(s.dir, "./p");
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			char name[64];
			uint64_t a, b;

			if (sscanf(line, "g %63s %" SCNx64 " %" SCNu64, name, &a, &b) == 3) {
				check_global(&s, name, a, b);
				globals++;
			} else if (sscanf(line, "m %63s %" SCNu64 " %" SCNu64, name, &a, &b) == 3) {
				check_member(&s, node, name, a, b);
				members++;
			} else {
				assert_int_equal(sscanf(line, "t %" SCNu64, &a), 1);
				assert_int_equal(node->size, a);
			}
		}
		assert_int_equal(globals, 8);
		assert_int_equal(members, 14);
		free(text);
		subject_demolish(&s);
	}
}

static void paths_name_each_byte(void **state)
{
	struct vt_typeplace place;
	const struct vt_ctype *node;
	struct subject s;

	(void)state;
	subject_build(&s, program, "p.c", "gcc -g");
	node = type_of_global(&s, "head");
	assert_string_equal(node->name, "struct node");
	assert_string_equal(path_at(&s, node, 0, 8), "next");
	assert_string_equal(path_at(&s, node, 3, 1), "next");
	assert_string_equal(path_at(&s, node, 12, 1), "tag");
	assert_string_equal(path_at(&s, node, 13, 3), "(padding)");
	assert_string_equal(path_at(&s, node, 12, 4), "tag..(padding)");
	assert_string_equal(path_at(&s, node, 8, 8), "key..(padding)");
	assert_string_equal(path_at(&s, node, 18, 2), "in.(padding)");
	assert_string_equal(path_at(&s, node, 24, 8), "in.l");
	assert_string_equal(path_at(&s, node, 0, 16), "next..(padding)");
	assert_string_equal(path_at(&s, node, 8, 5), "key..tag");
	assert_string_equal(path_at(&s, node, 32, 4), "pt[].x");
	assert_string_equal(path_at(&s, node, 44, 4), "pt[].y");
	assert_string_equal(path_at(&s, node, 40, 8), "pt[].x..y");
	assert_string_equal(path_at(&s, node, 36, 8), "pt[]");
	assert_string_equal(path_at(&s, node, 56, 4), "u.i|u.f|u.c[]");
	assert_string_equal(path_at(&s, node, 60, 1), "u.c[]");
	assert_string_equal(path_at(&s, node, 64, 4), "a..c");
	assert_string_equal(path_at(&s, node, 64, 1), "a..b");
	assert_string_equal(path_at(&s, node, 66, 1), "c");
	assert_string_equal(path_at(&s, node, 68, 4), "(padding)");
	assert_string_equal(path_at(&s, node, 80 + 20, 4), "m[][]");
	assert_int_equal(vt_type_place(s.types, node, 72, 8, &place), VT_TYPED);
	assert_string_equal(place.type->name, "word_t");
	assert_int_equal(vt_type_place(s.types, node, 0, 8, &place), VT_TYPED);
	assert_string_equal(place.type->name, "struct node *");
	assert_ptr_equal(vt_type_target(s.types, place.type), node);
	assert_int_equal(vt_type_place(s.types, node, 104, 8, &place), VT_TYPED);
	assert_string_equal(place.type->name, "void (*)(int, char *)");
	assert_int_equal(vt_type_place(s.types, node, 112, 8, &place), VT_TYPED);
	assert_string_equal(place.type->name, "const char * const *");
	assert_int_equal(vt_type_place(s.types, node, 36, 8, &place), VT_TYPED);
	assert_true(place.several);
	assert_int_equal(place.offset, 4);
	assert_int_equal(vt_type_place(s.types, node, node->size - 1, 2, &place),
			 VT_UNTYPED_OUTSIDE);
	assert_int_equal(vt_type_place(s.types, node, 0, 0, &place), VT_UNTYPED_OUTSIDE);
	assert_int_equal(vt_type_place(s.types, node, UINT64_MAX - 1, 4, &place),
			 VT_UNTYPED_OUTSIDE);
	assert_string_equal(type_of_global(&s, "text")->name, "const char[12]");
	assert_string_equal(type_of_global(&s, "table")->name, "struct node *[7]");
	assert_string_equal(path_at(&s, type_of_global(&s, "table"), 8, 8), "[]");
	assert_string_equal(type_of_global(&s, "color")->name, "enum color");
	subject_demolish(&s);
}

static void objects_on_the_heap_are_folded(void **state)
{
	const struct vt_ctype *node, *flex;
	struct vt_typeplace place;
	struct subject s;

	(void)state;
	subject_build(&s, program, "p.c", "gcc -g");
	node = type_of_global(&s, "head");
	flex = type_of_global(&s, "flex");
	assert_int_equal(vt_type_place_in(s.types, node, node->size, 8, 4, &place), VT_TYPED);
	assert_string_equal(place.path, "key");
	assert_int_equal(vt_type_place_in(s.types, node, 3 * node->size, node->size + 8, 4, &place),
			 VT_TYPED);
	assert_string_equal(place.path, "[].key");
	assert_int_equal(vt_type_place_in(s.types, node, 3 * node->size, node->size - 4, 8, &place),
			 VT_TYPED);
	assert_string_equal(place.path, "[]");
	assert_true(place.several);
	assert_int_equal(vt_type_place_in(s.types, node, node->size + 5, node->size + 1, 1, &place),
			 VT_UNTYPED_OUTSIDE);
	assert_true(flex->array_tail);
	assert_int_equal(flex->size, 8);
	assert_int_equal(vt_type_place_in(s.types, flex, 8 + 80, 8 + 16, 8, &place), VT_TYPED);
	assert_string_equal(place.path, "v[]");
	assert_string_equal(place.type->name, "double");
	assert_int_equal(vt_type_place_in(s.types, flex, 8 + 80, 4, 4, &place), VT_TYPED);
	assert_string_equal(place.path, "(padding)");
	assert_true(place.padding);
	subject_demolish(&s);
}

static void members_are_listed(void **state)
{
	static const struct {
		const char *path, *type;
		unsigned offset, size, count, bits, bit;
	} want[] = {
		{"next", "struct node *", 0, 8, 1, 0, 0},
		{"key", "int", 8, 4, 1, 0, 0},
		{"tag", "char", 12, 1, 1, 0, 0},
		{"(padding)", NULL, 13, 3, 1, 0, 0},
		{"in.s", "short int", 16, 2, 1, 0, 0},
		{"in.(padding)", NULL, 18, 6, 1, 0, 0},
		{"in.l", "long int", 24, 8, 1, 0, 0},
		{"pt[].x", "int", 32, 4, 3, 0, 0},
		{"pt[].y", "int", 36, 4, 3, 0, 0},
		{"u.i", "int", 56, 4, 1, 0, 0},
		{"u.f", "float", 56, 4, 1, 0, 0},
		{"u.c[]", "char", 56, 1, 8, 0, 0},
		{"a", "unsigned int", 64, 1, 1, 3, 0},
		{"b", "unsigned int", 64, 1, 1, 5, 3},
		{"c", "unsigned int", 65, 3, 1, 20, 0},
		{"(padding)", NULL, 68, 4, 1, 0, 0},
		{"w", "word_t", 72, 8, 1, 0, 0},
		{"m[][]", "int", 80, 4, 6, 0, 0},
		{"fn", "void (*)(int, char *)", 104, 8, 1, 0, 0},
		{"names", "const char * const *", 112, 8, 1, 0, 0},
		{"left", "int", 120, 4, 1, 0, 0},
		{"lo", "short int", 120, 2, 1, 0, 0},
		{"hi", "short int", 122, 2, 1, 0, 0},
		{"(padding)", NULL, 124, 4, 1, 0, 0},
	};
	const struct vt_typemember *m;
	struct subject s;
	size_t n, i;

	(void)state;
	subject_build(&s, program, "p.c", "gcc -g");
	assert_int_equal(vt_type_members(s.types, type_of_global(&s, "head"), &m, &n), VT_TYPED);
	assert_int_equal(n, sizeof(want) / sizeof(want[0]));
	for (i = 0; i < n; i++) {
		assert_string_equal(m[i].path, want[i].path);
		assert_int_equal(m[i].offset, want[i].offset);
		assert_int_equal(m[i].size, want[i].size);
		assert_int_equal(m[i].count, want[i].count);
		assert_int_equal(m[i].bits, want[i].bits);
		assert_int_equal(m[i].bit, want[i].bit);
		assert_int_equal(m[i].padding, want[i].type == NULL);
		if (want[i].type)
			assert_string_equal(m[i].type->name, want[i].type);
	}
	assert_int_equal(vt_type_members(s.types, type_of_global(&s, "counter"), &m, &n), VT_TYPED);
	assert_int_equal(n, 1);
	assert_string_equal(m[0].path, "");
	assert_int_equal(m[0].size, 8);
	subject_demolish(&s);
}

static void nothing_is_found_where_nothing_is(void **state)
{
	struct vt_variable v;
	struct subject s;
	uint64_t main, offset;

	(void)state;
	subject_build(&s, program, "p.c", "gcc -g");
	assert_true(vt_symbols_address_of(s.symbols, "main", &main));
	assert_int_equal(vt_types_global(s.types, main, &v, &offset), VT_UNTYPED_NO_VARIABLE);
	assert_int_equal(vt_types_global(s.types, 0, &v, &offset), VT_UNTYPED_NO_VARIABLE);
	assert_int_equal(vt_types_global(s.types, UINT64_MAX, &v, &offset), VT_UNTYPED_NO_VARIABLE);
	subject_demolish(&s);
	subject_build(&s, program, "p.c", "gcc");
	assert_null(s.types);
	subject_demolish(&s);
}

static void a_missing_split_file_is_said(void **state)
{
	struct vt_types_lost lost;
	struct vt_variable v;
	struct subject s;
	uint64_t address, offset;

	(void)state;
	subject_build(&s, program, "p.c", "gcc -g -gsplit-dwarf");
	free(toolbox_run(s.dir, "rm -f *.dwo; mkfifo p-p.dwo p.dwo"));
	assert_true(vt_symbols_address_of(s.symbols, "head", &address));
	assert_int_equal(vt_types_global(s.types, address, &v, &offset), VT_UNTYPED_SPLIT);
	vt_types_lost(s.types, &lost);
	assert_int_equal(lost.split, 1);
	subject_demolish(&s);
}

static void a_missing_shared_file_is_said(void **state)
{
	struct vt_types_lost lost;
	struct vt_variable v;
	struct subject s;
	uint64_t address, offset;

	(void)state;
	subject_build(&s, program, "p.c", "gcc -g");
	vt_types_lost(s.types, &lost);
	assert_false(lost.alternate);
	subject_close(&s);
	free(toolbox_run(s.dir, "printf 'gone\\0aaaaaaaaaaaaaaaaaaaa' >link && objcopy "
				"--add-section .gnu_debugaltlink=link p"));
	subject_open(&s);
	vt_types_lost(s.types, &lost);
	assert_true(lost.alternate);
	/* What does not refer to it is known. */
	assert_true(vt_symbols_address_of(s.symbols, "counter", &address));
	assert_int_equal(vt_types_global(s.types, address, &v, &offset), VT_TYPED);
	subject_demolish(&s);
}

/* The image's file has only the code; what it is linked to has the types. */
static void separate_debug_files_are_found(void **state)
{
	struct vt_images_options options = {0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_images *images;
	struct vt_types *types;
	struct vt_variable v;
	struct subject s;
	uint64_t address, offset;
	const char *path;

	(void)state;
	subject_build(&s, program, "p.c", "gcc -g");
	assert_true(vt_symbols_address_of(s.symbols, "counter", &address));
	free(toolbox_run(s.dir, "objcopy --only-keep-debug p p.debug && strip p -o q &&"
				" objcopy --add-gnu-debuglink=p.debug q"));
	images = vt_images_new(&options, &err);
	assert_non_null(images);
	path = toolbox_path(s.dir, "q");
	assert_int_equal(vt_images_add(images, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err),
			 0);
	types = vt_types_new_image(images, 1, &err);
	assert_non_null(types);
	assert_int_equal(vt_types_global(types, address + 4, &v, &offset), VT_TYPED);
	assert_string_equal(v.name, "counter");
	assert_string_equal(v.type->name, "word_t");
	assert_int_equal(offset, 4);
	vt_types_free(types);
	assert_null(vt_types_new_image(images, 2, &err));
	assert_int_equal(err.code, VT_E_NOTFOUND);
	vt_images_free(images);
	subject_demolish(&s);
}

static void reasons_have_texts(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < VT_NUNTYPED; i++)
		assert_true(strlen(vt_untyped_text((enum vt_untyped)i)) > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_program_says_is_found),
		cmocka_unit_test(paths_name_each_byte),
		cmocka_unit_test(objects_on_the_heap_are_folded),
		cmocka_unit_test(members_are_listed),
		cmocka_unit_test(nothing_is_found_where_nothing_is),
		cmocka_unit_test(a_missing_split_file_is_said),
		cmocka_unit_test(a_missing_shared_file_is_said),
		cmocka_unit_test(separate_debug_files_are_found),
		cmocka_unit_test(reasons_have_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
