/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "coprocessor/assemble_internal.h"

bool vti_asm_fail_at(struct assembler *as, unsigned line, unsigned column, const char *fmt, ...)
{
	char text[VT_ERROR_SIZE / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	vt_error_set(as->err, VT_E_FORMAT, "%u:%u: %s", line, column, text);
	return false;
}

/* ---- tokens ---- */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

void vti_asm_advance(struct assembler *as)
{
	const char *p = as->p;

	while (p < as->end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	as->token.at = p;
	as->token.column = (unsigned)(p - as->line_start) + 1;
	if (p == as->end || *p == '#')
		as->end = p;
	else if (*p == '-' && p + 1 < as->end && p[1] == '>')
		p += 2;
	else if (isalnum((unsigned char)*p) || *p == '_' || *p == '.')
		while (p < as->end && is_name_char(*p))
			p++;
	else
		p++;
	as->token.size = (size_t)(p - as->token.at);
	as->p = p;
}

bool vti_asm_is(const struct assembler *as, const char *text)
{
	return as->token.size == strlen(text) && memcmp(as->token.at, text, as->token.size) == 0;
}

bool vti_asm_accept(struct assembler *as, const char *text)
{
	if (!vti_asm_is(as, text))
		return false;
	vti_asm_advance(as);
	return true;
}

bool vti_asm_expect(struct assembler *as, const char *text)
{
	return vti_asm_accept(as, text) || FAIL(as, as->token, "expected \"%s\"", text);
}

/* The text of the token at hand, for messages: cut, and nothing but what can be printed. */
static const char *shown(const struct assembler *as, char buf[32])
{
	size_t i, n = as->token.size < 31 ? as->token.size : 31;

	for (i = 0; i < n; i++)
		buf[i] = isprint((unsigned char)as->token.at[i]) ? as->token.at[i] : '?';
	buf[n] = 0;
	return n ? buf : "the end of the line";
}

bool vti_asm_unexpected(struct assembler *as, const char *what)
{
	char buf[32];

	return FAIL(as, as->token, "%s is no %s", shown(as, buf), what);
}

bool vti_asm_name(struct assembler *as, const char *what, char name[VT_UCODE_NAME])
{
	const struct token *t = &as->token;
	size_t i;

	if (!t->size || !(isalpha((unsigned char)*t->at) || *t->at == '_'))
		return FAIL(as, *t, "expected the name of %s", what);
	if (t->size >= VT_UCODE_NAME)
		return FAIL(as, *t, "a name has at most %d characters", VT_UCODE_NAME - 1);
	for (i = 0; i < t->size; i++)
		if (t->at[i] == '.')
			return FAIL(as, *t, "a name has no dot");
	memset(name, 0, VT_UCODE_NAME);
	memcpy(name, t->at, t->size);
	vti_asm_advance(as);
	return true;
}

/* The number of the token in a table of names; -1: it is none of them. */
int vti_asm_word(const struct assembler *as, const char *const *words, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (words[i] && words[i][0] && vti_asm_is(as, words[i]))
			return i;
	return -1;
}

/* ---- numbers ---- */

static bool take_term(struct assembler *as, uint64_t *v)
{
	struct vt_error ignored = VT_ERROR_INIT;
	char digits[32];

	if (vti_asm_accept(as, "slots")) {
		as->slots_used = true;
		*v = as->u->slots;
		return true;
	}
	if (!as->token.size || as->token.size >= sizeof(digits) ||
	    !isdigit((unsigned char)*as->token.at))
		return FAIL(as, as->token, "expected a number");
	memcpy(digits, as->token.at, as->token.size);
	digits[as->token.size] = 0;
	if (vt_parse_u64(digits, "", v, &ignored) < 0)
		return vti_asm_unexpected(as, "number");
	vti_asm_advance(as);
	return true;
}

/* NUMBER { + - * NUMBER }, from left to right. */
bool vti_asm_number(struct assembler *as, uint64_t *v)
{
	uint64_t w = 0;

	if (!take_term(as, v))
		return false;
	for (;;) {
		char op = as->token.size == 1 ? *as->token.at : 0;

		if (op != '+' && op != '-' && op != '*')
			return true;
		vti_asm_advance(as);
		if (!take_term(as, &w))
			return false;
		*v = op == '+' ? *v + w : op == '-' ? *v - w : *v * w;
	}
}

bool vti_asm_between(struct assembler *as, uint64_t low, uint64_t high, const char *what,
		     uint64_t *v)
{
	struct token at = as->token;

	if (!vti_asm_number(as, v))
		return false;
	return (*v >= low && *v <= high) || FAIL(as, at, "%s is %llu to %llu", what,
						 (unsigned long long)low, (unsigned long long)high);
}
