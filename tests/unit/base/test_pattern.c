/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/name.h"
#include "base/pattern.h"

static void matches_what_it_stands_for(void **state)
{
	static const struct {
		const char *pattern, *text;
		int matches;
	} cases[] = {
		{"", "", 1},
		{"", "a", 0},
		{"a", "", 0},
		{"heat", "heat", 1},
		{"heat", "heats", 0},
		{"heats", "heat", 0},
		{"*", "", 1},
		{"*", "anything", 1},
		{"**", "a", 1},
		{"h*", "heat", 1},
		{"h*t", "heat", 1},
		{"h*t", "heats", 0},
		{"*at", "heat", 1},
		{"*a*a*", "banana", 1},
		{"*a*a*a*a*", "banana", 0},
		{"*nab", "bananab", 1},
		{"*ana", "bananana", 1},
		{"h?at", "heat", 1},
		{"h?at", "hat", 0},
		{"?", "", 0},
		{"????", "heat", 1},
		/* Brackets are bytes like others. */
		{"[vdso]", "[vdso]", 1},
		{"[vdso]", "v", 0},
		{"[*]", "[kernel.kallsyms]", 1},
		/* What is meant as it stands. */
		{"operator\\*", "operator*", 1},
		{"operator\\*", "operator-", 0},
		{"\\?", "?", 1},
		{"\\?", "a", 0},
		{"a\\\\b", "a\\b", 1},
		{"a\\", "a\\", 1},
		/* The same text is itself, whatever is in it. */
		{"\\*", "\\*", 1},
		{"operator\\\\*", "operator\\\\*", 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (vt_pattern_matches(cases[i].pattern, cases[i].text) != cases[i].matches)
			fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].text);
}

static void names_procedures(void **state)
{
	static const char sort[] = "std::__sort<int*, less<int> >(int*, int*)";
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
		{"std::__sort<int*, less<int> >(int*, int*)", sort, true},
		{"std::__sort", sort, true},
		{"__sort", sort, true},
		{"__so*", sort, true},
		{"sort", sort, false},
		{"std", sort, false},
		{"std::__sort<" VT_ELLIPSIS ">*", sort, true},
		{"*<int>*", sort, true},
		{"main", "main", true},
		{"operator<", "geo::operator<", true},
		{"", "", true},
		{"", "main", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (vt_pattern_names(cases[i].pattern, cases[i].name) != cases[i].matches)
			fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
}

/* Many stars take no more than the product of the lengths: this ends. */
static void ends_soon(void **state)
{
	char pattern[2001], text[20001];
	size_t i;

	(void)state;
	for (i = 0; i < 2000; i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[1999] = 'b';
	pattern[2000] = '\0';
	memset(text, 'a', 20000);
	text[20000] = '\0';
	assert_false(vt_pattern_matches(pattern, text));
	text[19999] = 'b';
	assert_true(vt_pattern_matches(pattern, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_what_it_stands_for),
		cmocka_unit_test(names_procedures),
		cmocka_unit_test(ends_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
