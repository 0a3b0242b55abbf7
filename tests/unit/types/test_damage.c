/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types of programs whose DWARF is damaged, cut or made to go in circles. */
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
	"#include <stdlib.h>\n"
	"struct node { struct node *next; int key : 5; union { int i; float f; } u[3]; };\n"
	"typedef struct node node_t; struct later; struct later *soon;\n"
	"node_t table[4]; void (*hook)(node_t *, const char *const *);\n"
	"enum { A, B } choice; static void *volatile sink;\n"
	"static inline __attribute__((always_inline)) node_t *make(node_t *p) {\n"
	"  node_t *n = malloc(sizeof *n); if (!n) abort(); n->next = p; return n; }\n"
	"__attribute__((noinline)) int work(int n) {\n"
	"  static int count; struct { int a; long b[4]; } s = {n, {n}}; sink = &s;\n"
	"  for (int i = 0; i < n; i++) { node_t l = {0}; sink = &l; table[i & 3].next = make(&l); "
	"}\n"
	"  return count++; }\n"
	"int main(int c, char **v) { (void)v; return work(c); }\n";

/* A file in memory. */
struct file {
	uint8_t *bytes;
	size_t size;
};

static struct file read_file(const char *path)
{
	struct file f = {NULL, 0};
	FILE *in = fopen(path, "rb");

	assert_non_null(in);
	f.bytes = malloc(1 << 20);
	assert_non_null(f.bytes);
	f.size = fread(f.bytes, 1, 1 << 20, in);
	fclose(in);
	return f;
}

struct range {
	size_t first, size;
};

/* The sections of debug information in the file. */
static size_t find_sections(const char *dir, struct range *v, size_t max)
{
	char *text = toolbox_run(dir, "readelf -SW p | sed 's/^ *\\[ *[0-9]*\\]//'"), *line;
	char *save = NULL;
	size_t n = 0;

	for (line = strtok_r(text, "\n", &save); line && n < max;
	     line = strtok_r(NULL, "\n", &save)) {
		char name[64];
		uint64_t first, size;

		if (sscanf(line, " %63s %*s %*x %" SCNx64 " %" SCNx64, name, &first, &size) == 3 &&
		    strncmp(name, ".debug_", 7) == 0 && strcmp(name, ".debug_line"))
			v[n++] = (struct range){(size_t)first, (size_t)size};
	}
	free(text);
	return n;
}

static void ask_type(struct vt_types *t, const struct vt_ctype *type)
{
	const struct vt_typemember *m;
	struct vt_typeplace place;
	unsigned i;
	size_t n, j;

	for (i = 0; type && i < 8; i++) {
		if (vt_type_members(t, type, &m, &n) == VT_TYPED)
			for (j = 0; j < n; j++)
				assert_true(m[j].path != NULL && (m[j].padding || m[j].type));
		for (j = 0; j < 40; j += 3)
			if (vt_type_place(t, type, j, 4, &place) == VT_TYPED)
				assert_true(strlen(place.path) < 100000);
		vt_type_place_in(t, type, 96, 33, 8, &place);
		type = vt_type_target(t, type);
	}
}

static void ask_code(struct vt_types *t, uint64_t first, uint64_t end)
{
	struct vt_local locals[16];
	struct vt_heaptype h;
	struct vt_variable v;
	uint64_t at, offset;
	bool through;
	size_t n, i;

	for (at = first; at < end; at += 5) {
		vt_types_locals(t, at, locals, 16, &n);
		assert_true(n <= 16);
		for (i = 0; i < n; i++)
			ask_type(t, locals[i].variable.type);
		vt_types_operand(t, at, 7, 8, 4, &v, &offset, &through);
		vt_types_operand(t, at, 0, 8, 4, &v, &offset, &through);
		if (vt_types_access(t, at, &v, &offset, &through) == VT_TYPED)
			ask_type(t, v.type);
		if (vt_types_heap(t, at, 40, &h) == VT_TYPED)
			ask_type(t, h.type);
	}
}

/* Asks everything of a file; whatever the answers are, they end. */
static void ask(const struct file *f)
{
	struct vt_error err = VT_ERROR_INIT;
	uint8_t *copy = malloc(f->size + 1);
	struct vt_lines *lines;
	struct vt_types_lost lost;
	struct vt_variable v;
	struct vt_unwind *u;
	struct vt_types *t;
	struct vt_elf *e;
	uint64_t at, offset;

	assert_non_null(copy);
	memcpy(copy, f->bytes, f->size);
	e = vt_elf_open_memory(copy, f->size, "damaged", &err);
	lines = e ? vt_lines_new(e, &err) : NULL;
	u = e ? vt_unwind_new(e, &err) : NULL;
	t = vt_types_new(lines, e, u, &err);
	if (t) {
		for (at = 0x404000; at < 0x404200; at += 8)
			if (vt_types_global(t, at, &v, &offset) == VT_TYPED)
				ask_type(t, v.type);
		ask_code(t, 0x401040, 0x401240);
		vt_types_lost(t, &lost);
	}
	vt_types_free(t);
	vt_unwind_free(u);
	vt_lines_free(lines);
	vt_elf_close(e);
	free(copy);
}

static unsigned long stride(void)
{
	const char *s = getenv("VT_MUTATIONS");

	return s ? 1 : 29;
}

static void build(struct subject *s, const char *compiler)
{
	s->dir = toolbox_dir();
	toolbox_write(s->dir, "p.c", program);
	free(toolbox_run(s->dir, "%s -no-pie -fno-pie p.c -o p", compiler));
}

static void changed_bytes_do_no_harm(void **state)
{
	static const char *const compilers[] = {"gcc -g -O2", "gcc -gdwarf-4 -O1", "clang -g -O1"};
	static const uint8_t values[] = {0x00, 0xff, 0x7f, 0x01};
	struct range sections[32];
	size_t i, j, k, n, total = 0;

	(void)state;
	for (i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		struct subject s;
		struct file f;

		build(&s, compilers[i]);
		f = read_file(toolbox_path(s.dir, "p"));
		n = find_sections(s.dir, sections, 32);
		assert_true(n >= 4);
		for (j = 0; j < n; j++)
			for (k = i; k < sections[j].size; k += stride()) {
				uint8_t *b = &f.bytes[sections[j].first + k], old = *b;

				*b = total % 3 ? (uint8_t)(old ^ 1u << total % 8)
					       : values[total / 3 % 4];
				ask(&f);
				*b = old;
				total++;
			}
		free(f.bytes);
		toolbox_remove(s.dir);
	}
	assert_true(total > 100);
}

static void cut_files_do_no_harm(void **state)
{
	struct range sections[32];
	struct subject s;
	struct file f;
	size_t n, i, size;

	(void)state;
	build(&s, "gcc -g -O1");
	f = read_file(toolbox_path(s.dir, "p"));
	n = find_sections(s.dir, sections, 32);
	size = f.size;
	for (i = 0; i < n; i++) {
		/* The middle of a section becomes zeros; then, the file ends there. */
		size_t half = sections[i].size / 2;
		uint8_t *at = &f.bytes[sections[i].first + half];
		uint8_t *kept = malloc(sections[i].size + 1);

		assert_non_null(kept);
		memcpy(kept, at, sections[i].size - half);
		memset(at, 0, sections[i].size - half);
		ask(&f);
		memcpy(at, kept, sections[i].size - half);
		f.size = sections[i].first + half;
		ask(&f);
		f.size = size;
		free(kept);
	}
	free(f.bytes);
	toolbox_remove(s.dir);
}

/* DWARF by hand: 4-byte references to entries of the unit, by labels. */
#define HEAD                                                                                          \
	".section .debug_abbrev,\"\",@progbits\n"                                                     \
	".uleb128 1; .uleb128 0x11; .byte 1; .uleb128 0x13; .uleb128 0xb; .byte 0, 0\n" /* 2:         \
											   structure, \
											   children:  \
											   name,      \
											   byte_size  \
											 */           \
	".uleb128 2; .uleb128 0x13; .byte 1; .uleb128 3; .uleb128 8; .uleb128 0xb; .uleb128 0xb;"     \
	" .byte 0, 0\n" /* 3: member: name, type, data_member_location */                             \
	".uleb128 3; .uleb128 0xd; .byte 0; .uleb128 3; .uleb128 8; .uleb128 0x49; .uleb128 0x13;"    \
	" .uleb128 0x38; .uleb128 0xb; .byte 0, 0\n" /* 4: typedef: name, type */                     \
	".uleb128 4; .uleb128 0x16; .byte 0; .uleb128 3; .uleb128 8; .uleb128 0x49;"                  \
	" .uleb128 0x13; .byte 0, 0\n" /* 5: variable: name, type, location */                        \
	".uleb128 5; .uleb128 0x34; .byte 0; .uleb128 3; .uleb128 8; .uleb128 0x49;"                  \
	" .uleb128 0x13; .uleb128 2; .uleb128 0x18; .byte 0, 0\n" /* 6: pointer: type */              \
	".uleb128 6; .uleb128 0xf; .byte 0; .uleb128 0x49; .uleb128 0x13; .byte 0, 0\n" /* 7:         \
											   array      \
											   of 2,      \
											   children:  \
											   type;      \
											   8: its     \
											   range      \
											 */           \
	".uleb128 7; .uleb128 1; .byte 1; .uleb128 0x49; .uleb128 0x13; .byte 0, 0\n"                 \
	".uleb128 8; .uleb128 0x21; .byte 0; .uleb128 0x37; .uleb128 0xb; .byte 0, 0\n" /* 9:         \
											   function   \
											   type:      \
											   type,      \
											   children;  \
											   10:        \
											   parameter: \
											   type */    \
	".uleb128 9; .uleb128 0x15; .byte 1; .uleb128 0x49; .uleb128 0x13; .byte 0, 0\n"              \
	".uleb128 10; .uleb128 5; .byte 0; .uleb128 0x49; .uleb128 0x13; .byte 0, 0\n" /* 11:         \
											  union,      \
											  children:   \
											  name,       \
											  byte_size   \
											*/            \
	".uleb128 11; .uleb128 0x17; .byte 1; .uleb128 3; .uleb128 8; .uleb128 0xb; .uleb128 0xb;"    \
	" .byte 0, 0; .byte 0\n"                                                                      \
	".data\n.globl x\nx: .quad 0, 0\n.text\n.globl _start\n_start: ret\n"                         \
	".section .debug_info,\"\",@progbits\nu: .4byte e - b\nb: .2byte 5; .byte 1, 8;"              \
	" .4byte 0\n.uleb128 1; .byte 12\n"
#define VARIABLE(type)                                                                             \
	".uleb128 5; .asciz \"x\"; .4byte " type " - u; .uleb128 9; .byte 3; .quad x\n"
#define TAIL ".byte 0\ne:\n"

static const char *const circles[] = {
	/* Typedefs of each other; a typedef of itself. */
	HEAD VARIABLE("t1") "t1: .uleb128 4; .asciz \"a\"; .4byte t2 - u\n"
			    "t2: .uleb128 4; .asciz \"b\"; .4byte t1 - u\n" TAIL,
	HEAD VARIABLE("t1") "t1: .uleb128 4; .asciz \"a\"; .4byte t1 - u\n" TAIL,
	/* A pointer to itself, an array of itself. */
	HEAD VARIABLE("t1") "t1: .uleb128 6; .4byte t1 - u\n" TAIL,
	HEAD VARIABLE("t1") "t1: .uleb128 7; .4byte t1 - u; .uleb128 8; .byte 2; .byte 0\n" TAIL,
	/* A structure that is its own members, twice at the same place. */
	HEAD VARIABLE("t1") "t1: .uleb128 2; .asciz \"s\"; .byte 16\n"
			    ".uleb128 3; .asciz \"m\"; .4byte t1 - u; .byte 0\n"
			    ".uleb128 3; .asciz \"n\"; .4byte t1 - u; .byte 0\n.byte 0\n" TAIL,
	/* A union of itself and a structure of it. */
	HEAD VARIABLE("t1") "t1: .uleb128 11; .asciz \"u\"; .byte 16\n"
			    ".uleb128 3; .asciz \"m\"; .4byte t1 - u; .byte 0\n"
			    ".uleb128 3; .asciz \"n\"; .4byte t2 - u; .byte 0\n.byte 0\n"
			    "t2: .uleb128 2; .asciz \"s\"; .byte 16\n"
			    ".uleb128 3; .asciz \"m\"; .4byte t1 - u; .byte 0\n"
			    ".uleb128 3; .asciz \"n\"; .4byte t2 - u; .byte 0\n.byte 0\n" TAIL,
	/* A function whose parameters and result are itself. */
	HEAD VARIABLE("t1") "t1: .uleb128 9; .4byte t1 - u\n"
			    ".uleb128 10; .4byte t1 - u; .uleb128 10; .4byte t1 - u\n"
			    ".uleb128 10; .4byte t1 - u; .byte 0\n" TAIL,
	/* A type that is the variable, one outside of the unit, one inside of an entry. */
	HEAD "t1: " VARIABLE("t1") TAIL,
	HEAD VARIABLE("(u + 0x7fffffff)") TAIL,
	HEAD VARIABLE("(u + 13)") TAIL,
};

static void circles_end(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(circles) / sizeof(circles[0]); i++) {
		struct vt_variable v;
		struct subject s;
		uint64_t x, offset;

		s.dir = toolbox_dir();
		toolbox_write(s.dir, "p.s", circles[i]);
		free(toolbox_run(s.dir, "gcc -nostdlib -static -no-pie p.s -o p"));
		subject_open(&s);
		assert_non_null(s.types);
		assert_true(vt_symbols_address_of(s.symbols, "x", &x));
		if (vt_types_global(s.types, x, &v, &offset) == VT_TYPED) {
			assert_string_equal(v.name, "x");
			assert_true(strlen(v.type->name) < 2000);
			ask_type(s.types, v.type);
		}
		subject_demolish(&s);
	}
}

/* Structures inside each other, deeper than any limit. */
static void deep_types_end(void **state)
{
	enum { DEPTH = 20000 };
	struct vt_typeplace place;
	struct vt_types_lost lost;
	struct vt_variable v;
	struct subject s;
	uint64_t x, offset;
	FILE *out;
	int i;

	(void)state;
	s.dir = toolbox_dir();
	out = fopen(toolbox_path(s.dir, "p.s"), "w");
	assert_non_null(out);
	fputs(HEAD VARIABLE("t0"), out);
	for (i = 0; i < DEPTH; i++)
		fprintf(out,
			"t%d: .uleb128 2; .asciz \"s\"; .byte 16; .uleb128 3; .asciz \"m\";"
			" .4byte t%d - u; .byte 0; .byte 0\n",
			i, (i + 1) % DEPTH);
	fputs(TAIL, out);
	fclose(out);
	free(toolbox_run(s.dir, "gcc -nostdlib -static -no-pie p.s -o p"));
	subject_open(&s);
	assert_true(vt_symbols_address_of(s.symbols, "x", &x));
	assert_int_equal(vt_types_global(s.types, x, &v, &offset), VT_TYPED);
	assert_string_equal(v.type->name, "struct s");
	assert_int_equal(vt_type_place(s.types, v.type, 0, 4, &place), VT_UNTYPED_LIMIT);
	vt_types_lost(s.types, &lost);
	assert_true(lost.limits > 0);
	subject_demolish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(cut_files_do_no_harm),
		cmocka_unit_test(circles_end),
		cmocka_unit_test(deep_types_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
