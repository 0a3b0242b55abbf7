/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which symbols a table keeps and finds: worked examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/name.h"
#include "image/symbol_search.h"
#include "image/symbols.h"

static bool count_hit(void *arg, const struct vt_symbol *sym)
{
	const struct vt_symbol **hit = arg;

	*hit = sym;
	return true;
}

/* A table of symbols with these names, one after the other. */
static struct vt_symbols *named(const char *const *names, size_t n)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(vt_symbols_add(t, 0x1000 + i * 16, 16, 0, names[i], &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	return t;
}

static void search_by_readable_name(void **state)
{
	static const char *const names[] = {"_ZN2ns3FooC1Ev",	       "_ZN2ns3Foo3barEi",
					    "_ZN2ns3Foo3barEd",	       "_ZN2ns3FooclEi",
					    "_ZN12_GLOBAL__N_13bazEv", "plain"};
	struct vt_symbols *t = named(names, sizeof(names) / sizeof(*names));
	const struct vt_symbol *hit = NULL;

	(void)state;
	assert_int_equal(vt_symbols_search(t, "plain", count_hit, &hit), 1);
	assert_int_equal(vt_symbols_search(t, "_ZN2ns3Foo3barEd", count_hit, &hit), 1);
	assert_int_equal(vt_symbols_search(t, "ns::Foo::bar", count_hit, &hit), 2);
	assert_int_equal(vt_symbols_search(t, "bar", count_hit, &hit), 2);
	assert_int_equal(vt_symbols_search(t, "Foo::bar", count_hit, &hit), 2);
	assert_int_equal(vt_symbols_search(t, "ar", count_hit, &hit), 0);
	assert_int_equal(vt_symbols_search(t, "", count_hit, &hit), 0);
	assert_int_equal(vt_symbols_search(t, "ns::Foo::bar(int)", count_hit, &hit), 1);
	assert_string_equal(hit->name, "_ZN2ns3Foo3barEi");
	assert_int_equal(vt_symbols_search(t, "Foo::operator()", count_hit, &hit), 1);
	assert_string_equal(hit->name, "_ZN2ns3FooclEi");
	assert_int_equal(vt_symbols_search(t, "(anonymous namespace)::baz", count_hit, &hit), 1);
	assert_int_equal(vt_symbols_search(t, "baz", count_hit, &hit), 1);
	assert_string_equal(vt_symbols_display(t, hit), "(anonymous namespace)::baz");
	vt_symbols_free(t);
}

/* Mangled names that do not have the last word of the readable one; a word that is very long. */
/* What a function's local class has: the parameters are those behind the last name. */
static void search_behind_parameters(void **state)
{
	static const char *const words[] = {"run_", "runa", "runz", "runA", "runZ", "run0", "run9"};
	const struct vt_symbol *hit = NULL;
	char mangled[64], name[64];
	const char *const names[] = {mangled};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct vt_symbols *t;

		snprintf(mangled, sizeof(mangled), "_ZZ1fvEN5Local4%sEi", words[i]);
		snprintf(name, sizeof(name), "Local::%s", words[i]);
		t = named(names, 1);
		assert_int_equal(vt_symbols_search(t, name, count_hit, &hit), 1);
		assert_int_equal(vt_symbols_search(t, words[i], count_hit, &hit), 1);
		assert_int_equal(vt_symbols_search(t, "f", count_hit, &hit), 0);
		vt_symbols_free(t);
	}
}

static bool stop_at_hit(void *arg, const struct vt_symbol *sym)
{
	count_hit(arg, sym);
	return false;
}

/* A label inside of a function is a name of that function, whichever label it is. */
static void search_by_label(void **state)
{
	static const char *const labels[] = {"first", "second", "first"};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();
	const struct vt_symbol *hit = NULL;
	size_t i;

	(void)state;
	assert_int_equal(vt_symbols_add(t, 0x1000, 0x40, 0, "function", &err), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(
			vt_symbols_add(t, 0x1010 + i * 16, 0, VT_SYMBOL_LABEL, labels[i], &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	assert_int_equal(vt_symbols_search(t, "second", count_hit, &hit), 1);
	assert_string_equal(hit->name, "function");
	assert_int_equal(vt_symbols_search(t, "first", count_hit, &hit), 2);
	assert_int_equal(vt_symbols_search(t, "first", stop_at_hit, &hit), 1);
	assert_int_equal(vt_symbols_search(t, "third", count_hit, &hit), 0);
	vt_symbols_free(t);
}

static void search_words_that_mangling_hides(void **state)
{
	static char longest[3][300];
	const char *const names[] = {"_ZN3FoonwEm", "_ZNSaIcEC1Ev", longest[0], longest[1],
				     longest[2]};
	const struct vt_symbol *hit = NULL;
	struct vt_symbols *t;
	char name[256];
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		memset(name, 'a' + i, sizeof(name));
		name[127 + i] = 0;
		snprintf(longest[i], sizeof(longest[i]), "_Z%d%sv", 127 + i, name);
	}
	t = named(names, sizeof(names) / sizeof(*names));
	assert_int_equal(vt_symbols_search(t, "Foo::operator new", count_hit, &hit), 1);
	assert_string_equal(hit->name, names[0]);
	assert_int_equal(vt_symbols_search(t, "std::allocator<char>::allocator", count_hit, &hit),
			 1);
	assert_string_equal(hit->name, names[1]);
	for (i = 0; i < 3; i++) {
		memset(name, 'a' + i, sizeof(name));
		name[127 + i] = 0;
		assert_int_equal(vt_symbols_search(t, name, count_hit, &hit), 1);
		assert_string_equal(hit->name, longest[i]);
	}
	vt_symbols_free(t);
}

static void search_clones(void **state)
{
	static const char *const names[] = {"work.constprop.0", "work.part.1.cold", "twice",
					    "twice.isra.0",	"once.12",	    "worker"};
	struct vt_symbols *t = named(names, sizeof(names) / sizeof(*names));
	const struct vt_symbol *hit = NULL;

	(void)state;
	assert_int_equal(vt_symbols_search(t, "work", count_hit, &hit), 1);
	assert_string_equal(hit->name, "work.constprop.0");
	assert_int_equal(vt_symbols_search(t, "twice", count_hit, &hit), 1);
	assert_string_equal(hit->name, "twice");
	assert_int_equal(vt_symbols_search(t, "once", count_hit, &hit), 0);
	vt_symbols_free(t);
}

/* ---- what is kept, as perf keeps it: each rule by two symbols at one address ---- */

struct rival {
	uint64_t size;
	uint32_t flags;
	const char *name;
};

static void check_winner(struct rival winner, struct rival loser)
{
	const struct rival *order[2] = {&winner, &loser};
	struct vt_error err = VT_ERROR_INIT;
	unsigned first, i;

	for (first = 0; first < 2; first++) {
		struct vt_symbols *t = vt_symbols_new();
		uint64_t address = 0;

		for (i = 0; i < 2; i++) {
			const struct rival *r = order[(first + i) % 2];

			assert_int_equal(
				vt_symbols_add(t, 0x1000, r->size, r->flags, r->name, &err), 0);
		}
		assert_int_equal(vt_symbols_add(t, 0x2000, 16, 0, "next", &err), 0);
		assert_int_equal(vt_symbols_finish(t, &err), 0);
		assert_int_equal(vt_symbols_count(t), 2);
		if (strcmp(vt_symbols_find(t, 0x1000)->name, winner.name) != 0)
			fail_msg("%s wins over %s", loser.name, winner.name);
		assert_true(vt_symbols_address_of(t, loser.name, &address));
		assert_int_equal(address, 0x1000);
		vt_symbols_free(t);
	}
}

static void rules_of_choice(void **state)
{
	const uint32_t weak = VT_SYMBOL_WEAK, global = VT_SYMBOL_GLOBAL, frame = VT_SYMBOL_FRAME;

	(void)state;
	/* A symbol beats a mere frame, a strong one a weak one, a global one a local one. */
	check_winner((struct rival){16, weak, "a"}, (struct rival){16, frame | global, "b"});
	check_winner((struct rival){16, 0, "a"}, (struct rival){16, weak | global, "b"});
	check_winner((struct rival){16, global, "a"}, (struct rival){16, 0, "b"});
	check_winner((struct rival){16, global, "__a"}, (struct rival){16, 0, "longer"});
	/* Fewer underscores in front, then the longer name, both as people see them. */
	check_winner((struct rival){16, 0, "a"}, (struct rival){16, 0, "_longer"});
	check_winner((struct rival){16, 0, "_ab"}, (struct rival){16, 0, "__a"});
	check_winner((struct rival){16, 0, "abc"}, (struct rival){16, 0, "ab"});
	check_winner((struct rival){16, 0, "_Z1fv"}, (struct rival){16, 0, "_longerstill"});
	check_winner((struct rival){16, 0, "ab"}, (struct rival){16, 0, "_Z1fv"});
}

/* A label inside a function is dropped, one inside anything else is not; nor is it with a size. */
static void labels_in_others(void **state)
{
	static const struct {
		uint32_t flags;
		uint64_t at, size;
		bool dropped;
	} rows[] = {
		{0, 0x1000, 0, true},
		{VT_SYMBOL_WEAK, 0x1010, 0, true},
		{VT_SYMBOL_GLOBAL, 0x10ff, 0, true},
		{0, 0x1100, 0, false},
		{0, 0xfff, 0, false},
		{0, 0x1010, 1, false},
		{VT_SYMBOL_OBJECT, 0x1010, 0, false},
		{VT_SYMBOL_PLT, 0x1010, 0, false},
		{VT_SYMBOL_FRAME, 0x1010, 0, false},
		{VT_SYMBOL_LABEL, 0x1010, 0, false},
	};
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vt_symbols *t = vt_symbols_new();
		uint64_t address;

		assert_int_equal(
			vt_symbols_add(t, rows[i].at, rows[i].size, VT_SYMBOL_LABEL, "label", &err),
			0);
		assert_int_equal(vt_symbols_add(t, 0x1000, 0x100, rows[i].flags, "outer", &err), 0);
		assert_int_equal(vt_symbols_add(t, 0x1004, 4, 0, "inner", &err), 0);
		assert_int_equal(vt_symbols_finish(t, &err), 0);
		assert_int_equal(vt_symbols_count(t), rows[i].dropped ? 2 : 3);
		assert_true(vt_symbols_address_of(t, "label", &address));
		assert_int_equal(address, rows[i].at);
		vt_symbols_free(t);
	}
}

/* Of equals, the first is kept; but not if it is an alias of a system call. */
static void last_ties(void **state)
{
	static const struct {
		const char *first, *second, *winner;
	} cases[] = {
		{"one", "two", "one"},
		{"SyS_read", "sys_read", "sys_read"},
		{"sys_read", "SyS_read", "sys_read"},
		{"compat_SyS_a", "compat_sys_a", "compat_sys_a"},
		{"compat_sys_a", "compat_SyS_a", "compat_sys_a"},
		{"SySx", "SyXS", "SyXS"},
		{"compat_SxS", "compat_SyS", "compat_SxS"},
	};
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_symbols *t = vt_symbols_new();

		assert_int_equal(vt_symbols_add(t, 0x1000, 16, 0, cases[i].first, &err), 0);
		assert_int_equal(vt_symbols_add(t, 0x1000, 16, 0, cases[i].second, &err), 0);
		assert_int_equal(vt_symbols_finish(t, &err), 0);
		assert_string_equal(vt_symbols_find(t, 0x1000)->name, cases[i].winner);
		vt_symbols_free(t);
	}
}

/* perf's rule for symbols without a size, at the edges of pages and of addresses. */
static void ends_of_unsized(void **state)
{
	static const struct {
		uint64_t start, end;
	} last[] = {
		{0x1000, 0x2000},
		{0x1001, 0x3000},
		{0x1fff, 0x3000},
		{UINT64_MAX - 8192, UINT64_MAX - 4095},
		{UINT64_MAX - 8191, UINT64_MAX},
		{UINT64_MAX - 5, UINT64_MAX},
	};
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_symbol *s;
	struct vt_symbols *t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(last) / sizeof(*last); i++) {
		t = vt_symbols_new();
		assert_int_equal(vt_symbols_add(t, last[i].start, 0, 0, "last", &err), 0);
		assert_int_equal(vt_symbols_finish(t, &err), 0);
		s = vt_symbols_at(t, 0);
		assert_int_equal(s->end, last[i].end);
		assert_int_equal(s->flags, VT_SYMBOL_UNSIZED);
		vt_symbols_free(t);
	}
	/* To the next one, but entries of a PLT do not count, nor get an end themselves. */
	t = vt_symbols_new();
	assert_int_equal(vt_symbols_add(t, 0x1000, 0, 0, "label", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x1100, 16, VT_SYMBOL_PLT, "f@plt", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x1200, 0, VT_SYMBOL_PLT, "g@plt", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x1300, 8, 0, "sized", &err), 0);
	assert_int_equal(vt_symbols_add(t, UINT64_MAX - 3, 100, 0, "top", &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	assert_int_equal(vt_symbols_count(t), 5);
	assert_int_equal(vt_symbols_at(t, 0)->end, 0x1300);
	assert_int_equal(vt_symbols_at(t, 1)->end, 0x1110);
	assert_int_equal(vt_symbols_at(t, 2)->end, 0x1200);
	assert_int_equal(vt_symbols_at(t, 3)->end, 0x1308);
	assert_int_equal(vt_symbols_at(t, 3)->flags, 0);
	assert_int_equal(vt_symbols_at(t, 4)->end, UINT64_MAX);
	assert_string_equal(vt_symbols_find(t, 0x1110)->name, "label");
	vt_symbols_free(t);
}

/* Each letter of nm(1), and lines that are not quite as they should be. */
static void letters_of_kallsyms(void **state)
{
	static const char text[] = "1000 T t1\n"
				   "1010 t t2\n"
				   "1018 T \t[mod]\n"
				   "1020 W w1\n"
				   "1030 w w2\n"
				   "1040 D d1\n"
				   "1050 d d2\n"
				   "1060 B b1\n"
				   "1070 b b2\n"
				   "1080 R no\n"
				   "1090 A no\n"
				   "10a0 T $x\n"
				   "10b0 T \n"
				   "10c0 TT no\n"
				   "10d0  T no\n"
				   "g0 T no\n"
				   "/0 T no\n"
				   ":0 T no\n"
				   "@0 T no\n"
				   "`0 T no\n"
				   " T no\n"
				   "0x T no\n"
				   "10000000000000000 T no\n"
				   "ffffffffffff0000 T top\n"
				   "0x10e0 T x1\n"
				   "0X10FA T x2\n"
				   "10fe T c";
	static const struct {
		uint64_t start;
		const char *name;
		uint32_t flags;
	} want[] = {
		{0x1000, "t1", VT_SYMBOL_GLOBAL},
		{0x1010, "t2", 0},
		{0x1020, "w1", VT_SYMBOL_WEAK},
		{0x1030, "w2", VT_SYMBOL_WEAK},
		{0x1040, "d1", VT_SYMBOL_GLOBAL | VT_SYMBOL_OBJECT},
		{0x1050, "d2", VT_SYMBOL_OBJECT},
		{0x1060, "b1", VT_SYMBOL_GLOBAL | VT_SYMBOL_OBJECT},
		{0x1070, "b2", VT_SYMBOL_OBJECT},
		{0x10e0, "x1", VT_SYMBOL_GLOBAL},
		{0x10fa, "x2", VT_SYMBOL_GLOBAL},
		{0x10fe, "c", VT_SYMBOL_GLOBAL},
		{0xffffffffffff0000, "top", VT_SYMBOL_GLOBAL},
	};
	const size_t n = sizeof(want) / sizeof(*want);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();
	size_t i;

	(void)state;
	assert_int_equal(vt_symbols_add_kallsyms(t, text, sizeof(text) - 1, NULL, &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	assert_int_equal(vt_symbols_count(t), n);
	for (i = 0; i < n; i++) {
		const struct vt_symbol *s = vt_symbols_at(t, i);

		assert_int_equal(s->start, want[i].start);
		assert_string_equal(s->name, want[i].name);
		assert_int_equal(s->flags, want[i].flags | VT_SYMBOL_UNSIZED);
	}
	vt_symbols_free(t);
}

/* Names lie in pieces of 64 KB: one that just fits, one that does not, one that is longer. */
static void long_names_of_texts(void **state)
{
	static const size_t sizes[] = {65000, 534, 1, 65535, 65536, 70000, 3};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();
	size_t i, k;

	(void)state;
	for (i = 0; i < 7; i++) {
		char *line = malloc(sizes[i] + 16);
		int at = sprintf(line, "%x 10 ", (unsigned)(0x1000 * (i + 1)));

		memset(line + at, 'a' + (int)i, sizes[i]);
		assert_int_equal(vt_symbols_add_perf_map(t, line, (size_t)at + sizes[i], &err), 0);
		free(line);
	}
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	assert_int_equal(vt_symbols_count(t), 7);
	for (i = 0; i < 7; i++) {
		const struct vt_symbol *s = vt_symbols_at(t, i);

		assert_int_equal(strlen(s->name), sizes[i]);
		for (k = 0; k < sizes[i]; k++)
			assert_true(s->name[k] == 'a' + (char)i);
	}
	vt_symbols_free(t);
}

static bool stop_at_second(void *arg, const struct vt_symbol *sym)
{
	int *calls = arg;

	(void)sym;
	return ++*calls < 2;
}

/* How many a name means, of each of the three ways; and that the search ends when it is told to. */
static void searches(void **state)
{
	static const char *const names[] = {
		"f.constprop.0",   "f.isra.1",	     "f.part.2",	"f.lto_priv.3",
		"f.cold",	   "f.part.2.cold",  "fg.isra.0",	"f.other.1",
		"_Z1hi",	   "_Z1hd",	     "_Z1hc",		"_Z2ghv",
		"_ZN1n1kIiEEvT_",  "_ZN1neqERiS0_",  "_ZZ1fvEN1L1aEi",	"_ZZ1fvEN1L1zEi",
		"_ZZ1fvEN1L1AEi",  "_ZZ1fvEN1L1ZEi", "_ZZ1fvEN1L2x0Ei", "_ZZ1fvEN1L2x9Ei",
		"_ZZ1fvEN1L2x_Ei",
	};
	static const struct {
		const char *name;
		int calls;
	} cases[] = {
		{"f", 4},
		{"f.part.2", 1},
		{"fg", 1},
		{"f.", 0},
		{"h", 3},
		{"h(int)", 1},
		{"h(double)", 1},
		{"h(long)", 0},
		{"gh", 1},
		{"n::k", 1},
		{"k", 1},
		{"k<" VT_ELLIPSIS ">", 1},
		{"n::k<" VT_ELLIPSIS ">", 1},
		{"k<long>", 0},
		{"void n::k<int>(int)", 1},
		{"k<int>(int)", 1},
		{"k<int>", 1},
		{"n::k<int>", 1},
		{"n::operator==", 1},
		{"operator==", 1},
		{"::h", 0},
		{"n", 0},
		/* Parameters stand behind a word, whatever letter it ends in. */
		{"L::a", 1},
		{"L::z", 1},
		{"L::A", 1},
		{"L::Z", 1},
		{"L::x0", 1},
		{"L::x9", 1},
		{"L::x_", 1},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();
	const struct vt_symbol *hit;
	size_t i;
	int calls = 0;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(vt_symbols_add(t, 0x1000 + i * 16, 16, 0, names[i], &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int n = vt_symbols_search(t, cases[i].name, count_hit, &hit);

		if (n != cases[i].calls)
			fail_msg("%s: %d", cases[i].name, n);
	}
	assert_int_equal(vt_symbols_search(t, "f", stop_at_second, &calls), 2);
	calls = 0;
	assert_int_equal(vt_symbols_search(t, "h", stop_at_second, &calls), 2);
	calls = 1;
	assert_int_equal(vt_symbols_search(t, "_Z1hi", stop_at_second, &calls), 1);
	vt_symbols_free(t);
}

/* Of what a name may mean, the most certain is meant, whatever comes first. */
static void takes_the_most_certain(void **state)
{
	static const char *const names[] = {
		"_ZN1n4workIiEEvT_", /* void n::work<int>(int) */
		"_Z4workIiEvT_",     /* void work<int>(int) */
		"_ZN1n4workEv",	     /* n::work() */
		"_Z4workv",	     /* work() */
		"work.isra.0",	     "work",
		"Lcom/A;::work",     "_ZNSs6appendEPKc", /* std::string::append(char const*) */
		"_ZNSsC1Ev",				 /* std::string::string() */
	};
	/* The index of the symbol that each meaning has, or -1: several, -2: none. */
	static const struct {
		const char *name;
		int of[VT_NMATCHES];
	} cases[] = {
		{"work", {5, 4, -1, -1, -1}},
		{"_Z4workv", {3, -2, -2, -2, -2}},
		{"n::work", {-2, -2, 2, -1, -1}},
		{"work()", {-2, -2, 3, -2, -1}},
		{"n::work()", {-2, -2, 2, -2, 2}},
		{"work<int>", {-2, -2, 1, -2, -1}},
		{"n::work<" VT_ELLIPSIS ">", {-2, -2, 0, -2, 0}},
		{"Lcom/A;::work", {6, -2, 6, 6, 6}},
		{"string::append", {-2, -2, -2, -2, 7}},
		{"std::string::append", {-2, -2, 7, 7, 7}},
		{"basic_string", {-2, -2, -2, -2, 8}},
		{"ork", {-2, -2, -2, -2, -2}},
		{"", {-2, -2, -2, -2, -2}},
	};
	struct vt_symbols *t = named(names, sizeof(names) / sizeof(*names));
	size_t i;
	int how;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (how = 0; how < VT_NMATCHES; how++) {
			const struct vt_symbol *hit = NULL;
			int n = vt_symbols_match(t, (enum vt_match)how, cases[i].name, count_hit,
						 &hit);
			int got = n > 1 ? -1 : n == 0 ? -2 : (int)(hit - vt_symbols_at(t, 0));

			if (got != cases[i].of[how])
				fail_msg("%s, %d: %d", cases[i].name, how, got);
		}
	vt_symbols_free(t);
}

/* The deepest nesting that is followed is 64. */
static void deep_nesting(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();
	const struct vt_symbol *s;
	char name[16];
	unsigned i;

	(void)state;
	for (i = 0; i < 70; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		assert_int_equal(vt_symbols_add(t, 0x1000 + i, 0x1000 - 2 * i, 0, name, &err), 0);
	}
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	s = vt_symbols_find(t, 0x1000 + 64);
	assert_string_equal(s->name, "s64");
	assert_string_equal(vt_symbols_outermost(t, s)->name, "s0");
	s = vt_symbols_find(t, 0x1000 + 65);
	assert_string_equal(vt_symbols_outermost(t, s)->name, "s1");
	vt_symbols_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_of_choice),
		cmocka_unit_test(labels_in_others),
		cmocka_unit_test(last_ties),
		cmocka_unit_test(ends_of_unsized),
		cmocka_unit_test(letters_of_kallsyms),
		cmocka_unit_test(long_names_of_texts),
		cmocka_unit_test(searches),
		cmocka_unit_test(takes_the_most_certain),
		cmocka_unit_test(deep_nesting),
		cmocka_unit_test(search_by_readable_name),
		cmocka_unit_test(search_words_that_mangling_hides),
		cmocka_unit_test(search_behind_parameters),
		cmocka_unit_test(search_by_label),
		cmocka_unit_test(search_clones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
