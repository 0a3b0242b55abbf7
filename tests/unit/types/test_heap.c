/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The types of objects that an allocator of the program returns, which tells of its callers. */
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

static const char in_c[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"struct node { struct node *next; int key; };\n"
	"struct other { long a, b, c; };\n"
	"struct flex { long n; int v[]; };\n"
	"struct hidden;\n"
	"struct holder { int id; struct node *list; struct other *others[4]; };\n"
	"const char *site; struct node *global; struct holder held; static void *volatile sink;\n"
	"struct node **slots;\n"
	"__attribute__((noinline)) void *get(size_t n) {\n"
	"  printf(\"h %s %lx %zu\\n\", site, (unsigned long)__builtin_return_address(0), n);\n"
	"  return malloc(n); }\n"
	"static inline __attribute__((always_inline)) void *xget(size_t n) {\n"
	"  void *p = get(n); if (!p) abort(); return p; }\n"
	"#define F __attribute__((noinline))\n"
	"#define AT site = __func__\n"
	"F void variable(int n) { AT; struct node *p = get(sizeof *p); p->key = n; sink = p; }\n"
	"F void array(int n) { AT; struct node *p = get(n * sizeof *p); p[1].key = n; sink = p; }\n"
	"F void checked(int n) { AT; struct node *p = get(sizeof *p);\n"
	"  if (!p) { puts(\"out\"); return; } p->key = n; p->next = p; sink = p; }\n"
	"F void wrapped(int n) { AT; struct node *p = xget(sizeof *p); p->key = n; sink = p; }\n"
	"F void to_global(void) { AT; global = get(sizeof *global); }\n"
	"F void to_member(void) { AT; held.list = get(sizeof *held.list); }\n"
	"F void to_element(int n) { AT; held.others[n] = get(sizeof(struct other)); }\n"
	"F void through(struct node *p) { AT; p->next = get(sizeof *p); }\n"
	"F struct node *returned(void) { AT; struct node *p = get(sizeof *p); p->key = 1; return "
	"p; }\n"
	"F struct node *at_once(void) { AT; return get(sizeof(struct node)); }\n"
	"F void *as_void(size_t n) { AT; void *p = get(n); if (!p) abort(); return p; }\n"
	"F void as_text(int n) { AT; char *p = get(n); memset(p, 'a', n); sink = p; }\n"
	"F void disagree(int n) { AT; void *v = get(sizeof(struct other)); struct node *p = v;\n"
	"  struct other *o = v; sink = p; p->key = n; o->c = n; sink = o; }\n"
	"F void tail(int n) { AT; struct flex *p = get(sizeof *p + n * sizeof(int)); p->v[0] = n;\n"
	"  sink = p; }\n"
	"F void nowhere(int n) { AT; sink = get(n); }\n"
	"F void incomplete(int n) { AT; struct hidden *p = get(n); sink = p; memset((void *)p, 0, "
	"n); }\n"
	"F void later(int n) { AT; struct node *p; struct other *o = get(sizeof *o); o->a = n;\n"
	"  sink = o; site = \"second\"; p = get(sizeof *p); p->key = n; sink = p; }\n"
	"int main(int c, char **v) { (void)v; c += 2;\n"
	"  variable(c); array(c); checked(c); wrapped(c); to_global(); to_member(); "
	"to_element(1);\n"
	"  through(global); sink = returned(); sink = at_once(); sink = as_void(24); as_text(c);\n"
	"  disagree(c); tail(c); nowhere(c); incomplete(8); later(c); return 0; }\n";

struct expected {
	const char *site;
	enum vt_untyped why;
	const char *type, *name;
	enum vt_heaptype_how how;
};

static const struct expected of_c[] = {
	{"variable", VT_TYPED, "struct node", "p", VT_HEAPTYPE_VARIABLE},
	{"array", VT_TYPED, "struct node", "p", VT_HEAPTYPE_VARIABLE},
	{"checked", VT_TYPED, "struct node", "p", VT_HEAPTYPE_VARIABLE},
	{"wrapped", VT_TYPED, "struct node", "p", VT_HEAPTYPE_VARIABLE},
	{"to_global", VT_TYPED, "struct node", "global", VT_HEAPTYPE_VARIABLE},
	{"to_member", VT_TYPED, "struct node", "list", VT_HEAPTYPE_MEMBER},
	{"to_element", VT_UNTYPED_NO_VARIABLE, NULL, NULL, 0},
	{"through", VT_TYPED, "struct node", "next", VT_HEAPTYPE_MEMBER},
	{"returned", VT_TYPED, "struct node", "p", VT_HEAPTYPE_VARIABLE},
	{"at_once", VT_TYPED, "struct node", "at_once", VT_HEAPTYPE_RETURN},
	{"as_void", VT_UNTYPED_RETURNED, NULL, NULL, 0},
	{"as_text", VT_UNTYPED_VOID, NULL, NULL, 0},
	{"disagree", VT_UNTYPED_AMBIGUOUS, NULL, NULL, 0},
	{"tail", VT_TYPED, "struct flex", "p", VT_HEAPTYPE_VARIABLE},
	{"nowhere", VT_UNTYPED_VOID, NULL, NULL, 0},
	{"incomplete", VT_UNTYPED_INCOMPLETE, NULL, NULL, 0},
	{"later", VT_TYPED, "struct other", "o", VT_HEAPTYPE_VARIABLE},
	{"second", VT_TYPED, "struct node", "p", VT_HEAPTYPE_VARIABLE},
};

static const char in_cxx[] =
	"#include <cstdio>\n"
	"#include <cstdlib>\n"
	"#include <map>\n"
	"#include <memory>\n"
	"#include <new>\n"
	"#include <string>\n"
	"#include <vector>\n"
	"static const char *site = \"\"; static void *volatile sink;\n"
	"__attribute__((noinline)) void *operator new(std::size_t n) {\n"
	"  if (*site) printf(\"h %s %lx %zu\\n\", site, (unsigned "
	"long)__builtin_return_address(0), n);\n"
	"  return malloc(n); }\n"
	"void operator delete(void *p) noexcept { free(p); }\n"
	"void operator delete(void *p, std::size_t) noexcept { free(p); }\n"
	"namespace ns {\n"
	"struct Plain { int a; long b; };\n"
	"class Made { public: __attribute__((noinline)) Made(int n) : x(n), y(n) {} int x, y; };\n"
	"struct Base { __attribute__((noinline)) Base(int n) : id(n) {}\n"
	"  virtual ~Base() {} virtual int f() { return id; } int id; };\n"
	"struct Derived : Base { Derived(int n) : Base(n), more{n, n} {} int f() override { return "
	"2; }\n"
	"  long more[4]; };\n"
	"}\n"
	"#define F __attribute__((noinline))\n"
	"#define AT site = __func__\n"
	"F void plain(int n) { AT; auto *p = new ns::Plain; p->a = n; sink = p; site = \"\"; }\n"
	"F void made(int n) { AT; sink = new ns::Made(n); site = \"\"; }\n"
	"F void derived(int n) { AT; ns::Base *p = new ns::Derived(n); sink = p; site = \"\"; }\n"
	"F void vector(std::vector<ns::Plain> &v) { AT; v.push_back(ns::Plain{1, 2}); site = \"\"; "
	"}\n"
	"F void tree(std::map<int, ns::Plain> &m) { AT; m[3].b = 4; site = \"\"; }\n"
	"F void text(std::string &s, int n) { AT; s.assign(100 + n, 'x'); site = \"\"; }\n"
	"int main(int c, char **) { std::vector<ns::Plain> v; std::map<int, ns::Plain> m;\n"
	"  std::string s; setvbuf(stdout, nullptr, _IOLBF, 4096); plain(c); made(c); derived(c);\n"
	"  vector(v); tree(m); text(s, c); return 0; }\n";

static const struct expected of_cxx[] = {
	{"plain", VT_TYPED, "ns::Plain", "p", VT_HEAPTYPE_VARIABLE},
	{"made", VT_TYPED, "ns::Made", "Made", VT_HEAPTYPE_CONSTRUCTOR},
	{"derived", VT_TYPED, "ns::Derived", NULL, 0},
	{"vector", VT_TYPED, "ns::Plain", NULL, 0},
	{"tree", VT_TYPED, "std::_Rb_tree_node<", NULL, 0},
	{"text", VT_UNTYPED_NO_CODE, NULL, NULL, 0},
};

static void check(struct subject *s, const struct expected *e, uint64_t ret, uint64_t size)
{
	struct vt_heaptype h;
	enum vt_untyped why = vt_types_heap(s->types, ret, size, &h);

	if (why != e->why)
		print_error("%s: %s\n", e->site, vt_untyped_text(why));
	assert_int_equal(why, e->why);
	if (!e->type)
		return;
	assert_memory_equal(h.type->name, e->type, strlen(e->type));
	assert_true(h.type->size <= size);
	if (!e->name)
		return;
	assert_string_equal(h.type->name, e->type);
	assert_string_equal(h.name, e->name);
	assert_int_equal(h.how, e->how);
}

/* Checks each call that the program tells of.  Returns the number of the calls. */
static size_t run(const char *program, const char *file, const char *compiler,
		  const struct expected *want, size_t nwant)
{
	char *text, *line, *save = NULL;
	struct vt_heaptype h;
	struct subject s;
	size_t n = 0, i;

	subject_build(&s, program, file, compiler);
	text = toolbox_run(s.dir, "./p");
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char site[64];
		uint64_t ret, size;

		assert_int_equal(sscanf(line, "h %63s %" SCNx64 " %" SCNu64, site, &ret, &size), 3);
		for (i = 0; i < nwant && strcmp(want[i].site, site); i++)
			;
		assert_true(i < nwant);
		check(&s, &want[i], ret, size);
		if (want == of_cxx && i < 3) {
			assert_int_equal(vt_types_heap(s.types, ret, 0, &h), VT_TYPED);
			assert_string_equal(h.type->name, want[i].type);
			assert_int_equal(vt_types_heap(s.types, ret, 4, &h), VT_UNTYPED_OUTSIDE);
		}
		n++;
	}
	free(text);
	subject_demolish(&s);
	return n;
}

static void assigned_pointers_type_their_objects(void **state)
{
	static const char *const compilers[] = {"gcc -g -O0", "gcc -g -O2", "gcc -gdwarf-4 -O1",
						"clang -g -O0", "clang -gdwarf-4 -O2"};
	size_t i, n = sizeof(of_c) / sizeof(of_c[0]);

	(void)state;
	for (i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++)
		assert_int_equal(run(in_c, "p.c", compilers[i], of_c, n), n);
}

static void so_do_constructors_and_containers(void **state)
{
	static const char *const compilers[] = {"g++ -g -O0", "g++ -g -O2", "clang++ -g -O0",
						"clang++ -g -O2"};
	size_t i, n = sizeof(of_cxx) / sizeof(of_cxx[0]);

	(void)state;
	/* A compiler may leave out an allocation that nobody sees. */
	for (i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++)
		assert_true(run(in_cxx, "p.cc", compilers[i], of_cxx, n) >= n - 1);
}

static void other_addresses_are_unknown(void **state)
{
	struct vt_heaptype h;
	struct subject s;

	(void)state;
	subject_build(&s, in_c, "p.c", "gcc -g");
	assert_int_equal(vt_types_heap(s.types, 0, 8, &h), VT_UNTYPED_NO_CODE);
	assert_int_equal(vt_types_heap(s.types, 1, 8, &h), VT_UNTYPED_NO_CODE);
	assert_int_equal(vt_types_heap(s.types, UINT64_MAX, 8, &h), VT_UNTYPED_NO_CODE);
	subject_demolish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(assigned_pointers_type_their_objects),
		cmocka_unit_test(so_do_constructors_and_containers),
		cmocka_unit_test(other_addresses_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
