/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of procedures without what makes them long, and texts cut to a width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/name.h"
#include "base/width.h"

#define E VT_ELLIPSIS

static void check(const char *name, const char *want)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_buf_put(&b, "|", 1);
	vt_name_shorten(&b, name, strlen(name));
	assert_string_equal(vt_buf_str(&b) + 1, want);
	vt_buf_free(&b);
}

static void check_same(const char *name)
{
	check(name, name);
}

static void elides_template_arguments(void **state)
{
	(void)state;
	check("std::__introsort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int, "
	      "std::allocator<int> > >, long, __gnu_cxx::__ops::_Iter_less_iter>",
	      "std::__introsort_loop<" E ">");
	check("a<b>::c<d<e>>::f", "a<" E ">::c<" E ">::f");
	check("std::vector<int>::~vector", "std::vector<" E ">::~vector");
	check("std::function<int (int)>::operator()", "std::function<" E ">::operator()");
	check("f<(A)1, (3>2)>", "f<" E ">");
	check("f<decltype (a->b)>::g", "f<" E ">::g");
	check("f<a->b>::g", "f<" E ">::g");
	check("f[abi:cxx11]<int>", "f[abi:cxx11]<" E ">");
	check("f<int> [clone .cold]", "f<" E "> [clone .cold]");
	check("f<int>@plt", "f<" E ">@plt");
	check("f<int>+0x1c", "f<" E ">+0x1c");
	check("\xc3\xa9<int>", "\xc3\xa9<" E ">");
	check_same("f<>");
	check_same("std::sort");
	check_same("main");
	check_same("");
}

static void keeps_operators(void **state)
{
	(void)state;
	check_same("A::operator<");
	check_same("A::operator<<");
	check_same("A::operator<=");
	check_same("A::operator<<=");
	check_same("A::operator<=>");
	check_same("A::operator>");
	check_same("A::operator>>");
	check_same("A::operator>>=");
	check_same("A::operator->");
	check_same("A::operator->*");
	check_same("A::operator()");
	check_same("A::operator[]");
	check_same("A::operator bool");
	check_same("operator new[]");
	check_same("operator delete");
	check_same("operator\"\"_kg");
	check("A<int>::operator<", "A<" E ">::operator<");
	check("A<int>::operator< <int>", "A<" E ">::operator< <" E ">");
	check("A<int>::operator<< <int>", "A<" E ">::operator<< <" E ">");
	check("A<int>::operator<=<int>", "A<" E ">::operator<=<" E ">");
	check("A::operator<=><int*, std::vector<int> >", "A::operator<=><" E ">");
	check("A::operator-><int>", "A::operator-><" E ">");
	check("A::operator()<int>", "A::operator()<" E ">");
	check("A::operator[]<int>", "A::operator[]<" E ">");
	check("A::operator==<int*, char>", "A::operator==<" E ">");
	check("A::operator-<int*, char>", "A::operator-<" E ">");
	check("f<&A::operator<, &A::operator->, &A::operator()>::g", "f<" E ">::g");
	check("f<(&A::operator<)>::g", "f<" E ">::g");
	check("A::operator std::vector<int>", "A::operator std::vector<" E ">");
	check("A::operator B<C>*<D>", "A::operator B<" E ">*<D>");
	/* No operators. */
	check("my_operator<int>", "my_operator<" E ">");
	check("operators<int>", "operators<" E ">");
	check("operator_<int>", "operator_<" E ">");
}

static void keeps_what_has_no_name(void **state)
{
	(void)state;
	check_same("(anonymous namespace)::f");
	check("(anonymous namespace)::A<int>::f", "(anonymous namespace)::A<" E ">::f");
	check("f<(anonymous namespace)::A<int> >", "f<" E ">");
	check_same("main::{lambda(int)#1}::operator()");
	check_same("main::{lambda(int, char)#2}");
	check("f<int>(int)::{lambda(std::vector<int>)#1}::operator()(std::vector<int>) "
	      "const::{lambda(int, int)#1}::operator()<long>",
	      "f<" E ">(" E ")::{lambda(std::vector<" E ">)#1}::operator()(" E ") "
	      "const::{lambda(int, int)#1}::operator()<" E ">");
	check_same("f()::{lambda()#1}::operator()");
	check("f(int)::{unnamed type#1}::g", "f(" E ")::{unnamed type#1}::g");
}

static void elides_parameters(void **state)
{
	(void)state;
	check("f(int, char)", "f(" E ")");
	check("f(void (*)(int))", "f(" E ")");
	check("A<B>::f(std::vector<int>&) const", "A<" E ">::f(" E ") const");
	check("f(A<(B)1>) [clone .part.0]", "f(" E ") [clone .part.0]");
	check("f(int)+0x10", "f(" E ")+0x10");
	check_same("f()");
	/* A file's name, of code that was made on the way. */
	check_same("LazyCompile:~f /tmp/a(1).js:3");
	check_same("main.(*T).f");
}

/* A type that a name begins with, and other languages' names with angles. */
static void keeps_types_that_are_names(void **state)
{
	(void)state;
	check("<alloc::vec::Vec<T> as core::ops::Drop>::drop",
	      "<alloc::vec::Vec<" E "> as core::ops::Drop>::drop");
	check("core::ptr::drop_in_place::<alloc::vec::Vec<u8>>",
	      "core::ptr::drop_in_place::<" E ">");
	check("core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<" E ">");
	check_same("core::fmt::num::<impl core::fmt::Display for i32>::fmt");
	check_same("Lcom/A;::<init>");
	check_same("Lcom/A;::<clinit>");
	check_same("JS:*<anonymous> a.js:1");
	check_same("smooth.c:12");
	check_same("[no symbol covers it]");
}

/* Names that no compiler makes are left alone. */
static void leaves_what_does_not_match(void **state)
{
	static const char *const names[] = {
		"f<int",  "f<a<b>",   "f<a>::g<b", "f(a",	   "f<(a>", "f<)>(",
		"<",	  ">",	      "<<<<",	   "(((",	   ")))",   "}}}f",
		"{{{",	  "operator", "operator<", "f<->",	   "f<[>",  "a>b",
		"f(a)(b", "f<a>(",    "f(a",	   "operator< <a", "a<\n",  "a(b)c<",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		check_same(names[i]);
	check("f<a}>b", "f<" E ">b");
	check("f<a\nb\\>", "f<" E ">");
	check("f\n<a>", "f\n<a>");
}

static void check_bare(const char *name, const char *want)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_name_bare(&b, name, strlen(name));
	assert_string_equal(vt_buf_str(&b), want);
	vt_buf_free(&b);
}

static void strips_names(void **state)
{
	(void)state;
	check_bare("std::__introsort_loop<int*, A<B> >", "std::__introsort_loop");
	check_bare("a<b>::c<>::f(int) const", "a::c::f const");
	check_bare("f[abi:cxx11]<int>", "f");
	check_bare("f[abi:cxx11]", "f");
	check_bare("f()", "f");
	check_bare("A<B>::operator()<int>(int)", "A::operator()");
	check_bare("A::operator<< <int>", "A::operator<<");
	check_bare("A::operator<=><int>", "A::operator<=>");
	check_bare("A::operator std::vector<int>", "A::operator std::vector");
	check_bare("operator new[]", "operator new[]");
	check_bare("main::{lambda(A<B>)#1}::operator()", "main::{lambda(A)#1}::operator()");
	check_bare("(anonymous namespace)::f<int>", "(anonymous namespace)::f");
	check_bare("<Vec<T> as Drop>::drop", "<Vec as Drop>::drop");
	check_bare("f<a", "f<a");
	check_bare("f[abi:x", "f[abi:x");
	check_bare("", "");
}

/* Brackets that are looked through again and again would take hours. */
static void takes_linear_time(void **state)
{
	static const char *const parts[] = {"<",  "(",	  "a(",	  "a<",	 "operator<", "operator< <",
					    "{(", "a(b)", "a<b>", "<a(", "operator+"};
	size_t i, k, n = 1 << 20;
	char *text = malloc(n + 16);
	clock_t start = clock();

	(void)state;
	assert_non_null(text);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		size_t size = strlen(parts[i]);
		struct vt_buf b = VT_BUF_INIT;

		for (k = 0; k < n; k++)
			text[k] = parts[i][k % size];
		vt_name_shorten(&b, text, n);
		assert_true(b.size <= 2 * n);
		/* The same with all that closes it. */
		memset(text + n / 2, parts[i][size - 1] == '<' ? '>' : ')', n / 2);
		vt_name_shorten(&b, text, n);
		vt_buf_free(&b);
	}
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 60);
	free(text);
}

static void check_cut(const char *text, size_t columns, const char *want)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_text_cut(&b, text, strlen(text), columns);
	assert_string_equal(vt_buf_str(&b), want);
	assert_true(vt_text_width(vt_buf_str(&b), b.size) <= columns);
	vt_buf_free(&b);
}

static void cuts_in_the_middle(void **state)
{
	(void)state;
	check_cut("abcdefgh", 9, "abcdefgh");
	check_cut("abcdefgh", 8, "abcdefgh");
	check_cut("abcdefgh", 7, "abc" E "fgh");
	check_cut("abcdefgh", 6, "abc" E "gh");
	check_cut("abcdefgh", 3, "a" E "h");
	check_cut("abcdefgh", 2, "a" E);
	check_cut("abcdefgh", 1, E);
	check_cut("abcdefgh", 0, "");
	check_cut("", 0, "");
	check_cut("", 5, "");
	/* Two columns each: the cut may be narrower. */
	check_cut("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 6,
		  "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2");
	check_cut("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 5, "\xe6\xbc\xa2" E "\xe6\xbc\xa2");
	check_cut("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 4, "\xe6\xbc\xa2" E);
	/* A mark stays with its letter. */
	check_cut("e\xcc\x81"
		  "bcde\xcc\x81",
		  3, "e\xcc\x81" E "e\xcc\x81");
	check_cut("abe\xcc\x81", 2, "a" E);
	/* So do escapes. */
	check_cut("\\x1b\\x1b\\x1b", 11, "\\x1b" E "\\x1b");
	check_cut("\\x1b\\x1b\\x1b", 8, "\\x1b" E);
	check_cut("ab\\\\cdef", 5, "ab" E "ef");
	check_cut("a\\nb\\n", 4, "a" E);
	check_cut("abc\\", 3, "a" E "\\");
	check_cut("abcd\\x", 4, "ab" E);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elides_template_arguments),
		cmocka_unit_test(keeps_operators),
		cmocka_unit_test(keeps_what_has_no_name),
		cmocka_unit_test(elides_parameters),
		cmocka_unit_test(keeps_types_that_are_names),
		cmocka_unit_test(leaves_what_does_not_match),
		cmocka_unit_test(strips_names),
		cmocka_unit_test(takes_linear_time),
		cmocka_unit_test(cuts_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
