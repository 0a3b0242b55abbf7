/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/where_internal.h"

int vti_where_error(struct vt_error *err, enum vt_errcode code, uint32_t column, const char *fmt,
		    ...)
{
	char text[VT_ERROR_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return vt_error_set(err, code, "column %" PRIu32 ": %s", column, text);
}

/* ---- words and signs ---- */

enum token { TOKEN_END, TOKEN_NUMBER, TOKEN_REAL, TOKEN_NAME, TOKEN_STRING, TOKEN_SIGN };

struct lexer {
	const char *text;
	const char *next; /* what has not been read */
	enum token token;
	const char *start; /* of the token, with `size` bytes */
	size_t size;
	uint64_t number; /* of a real, its bits */
	bool pair;	 /* `1.ip` may stand for a field */
	struct vt_error *err;
};

static uint32_t column_of(const struct lexer *l, const char *at)
{
	return (uint32_t)(at - l->text) + 1;
}

static int wrong(const struct lexer *l, const char *what)
{
	return vti_where_error(l->err, VT_E_USAGE, column_of(l, l->start), "%s", what);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The size of digits, a point with digits, and an exponent; *real: it has either. */
static size_t number_size(const char *s, bool *real)
{
	size_t n = strspn(s, "0123456789"), e;

	*real = false;
	if (s[n] == '.' && is_digit(s[n + 1])) {
		n += 1 + strspn(s + n + 1, "0123456789");
		*real = true;
	}
	if (s[n] == 'e' || s[n] == 'E') {
		e = n + 1 + (s[n + 1] == '+' || s[n + 1] == '-');
		if (is_digit(s[e])) {
			n = e + strspn(s + e, "0123456789");
			*real = true;
		}
	}
	return n;
}

static int read_real(struct lexer *l)
{
	char text[VT_WHERE_MAX_TEXT + 1];
	double d;

	memcpy(text, l->start, l->size);
	text[l->size] = '\0';
	d = strtod(text, NULL);
	memcpy(&l->number, &d, sizeof(d));
	l->token = TOKEN_REAL;
	return isinf(d) ? wrong(l, "too large for a floating number") : 0;
}

static int read_number(struct lexer *l)
{
	bool hex = l->start[0] == '0' && (l->start[1] == 'x' || l->start[1] == 'X'), real = false;

	if (hex)
		l->size = 2 + strspn(l->start + 2, "0123456789abcdefABCDEF");
	else
		l->size = number_size(l->start, &real);
	l->next = l->start + l->size;
	if (is_letter(*l->next) || is_digit(*l->next) || (hex && l->size == 2))
		return wrong(l, "not a number");
	if (!hex && l->start[0] == '0' && is_digit(l->start[1]))
		return wrong(l, "a decimal number does not begin with 0: write 8 or 0x8");
	if (real)
		return read_real(l);
	errno = 0;
	l->number = strtoull(l->start, NULL, hex ? 16 : 10);
	l->token = TOKEN_NUMBER;
	return errno ? wrong(l, "a number of more than 64 bits") : 0;
}

static int read_string(struct lexer *l)
{
	const char *p;

	for (p = l->start + 1; *p && *p != '"'; p++)
		if (*p == '\\' && *++p != '"' && *p != '\\')
			return wrong(l, "in a string, a backslash stands before \" or another");
	if (!*p)
		return wrong(l, "the string does not end");
	l->token = TOKEN_STRING;
	l->size = (size_t)(p + 1 - l->start);
	return 0;
}

static size_t sign_size(const char *s)
{
	static const char pairs[][3] = {"&&", "||", "==", "!=", "<=", ">=", "<<", ">>"};
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (strncmp(s, pairs[i], 2) == 0)
			return 2;
	return strchr("+-*/%&|^~<>!().", *s) ? 1 : 0;
}

static bool is_side(const struct lexer *l)
{
	const char *s = l->start;

	return (*s == '1' || *s == '2') && s[1] == '.' && is_letter(s[2]);
}

static int read_name(struct lexer *l)
{
	bool side = is_side(l);

	l->token = TOKEN_NAME;
	l->size = side ? 2 : 0;
	while (is_letter(l->start[l->size]) || is_digit(l->start[l->size]))
		l->size++;
	if (!side || l->pair)
		return 0;
	return vti_where_error(l->err, VT_E_USAGE, column_of(l, l->start),
			       "'%.*s' is of a pair of samples, which vpair --metric has: "
			       "of one record, write '%.*s'",
			       (int)l->size, l->start, (int)l->size - 2, l->start + 2);
}

/* Reads the next token. */
static int advance(struct lexer *l)
{
	int code = 0;

	l->start = l->next + strspn(l->next, " \t\n");
	l->size = 0;
	if (!*l->start) {
		l->token = TOKEN_END;
	} else if (*l->start == '.' && is_digit(l->start[1])) {
		return wrong(l, "digits are missing before the point: write 0.5");
	} else if (is_letter(*l->start) || is_side(l)) {
		code = read_name(l);
	} else if (is_digit(*l->start)) {
		code = read_number(l);
	} else if (*l->start == '"') {
		code = read_string(l);
	} else {
		l->token = TOKEN_SIGN;
		l->size = sign_size(l->start);
		if (!l->size)
			return wrong(l, *l->start == '=' ? "equality is '=='"
							 : "no part of an expression");
	}
	l->next = l->start + l->size;
	return code;
}

static bool is_token(const struct lexer *l, enum token token, const char *text)
{
	return l->token == token && l->size == strlen(text) && memcmp(l->start, text, l->size) == 0;
}

static bool is_sign(const struct lexer *l, const char *text)
{
	return is_token(l, TOKEN_SIGN, text);
}

bool vt_where_asks_places(const char *text)
{
	struct vt_error ignored = VT_ERROR_INIT;
	struct lexer l = {.text = text, .next = text, .err = &ignored};

	if (strlen(text) > VT_WHERE_MAX_TEXT)
		return false;
	while (advance(&l) == 0 && l.token != TOKEN_END)
		if (is_token(&l, TOKEN_NAME, "in"))
			return true;
	return false;
}

/* ---- the tree ---- */

/* How tightly operators bind; those of one level from left to right. */
enum level {
	LEVEL_ANY,
	LEVEL_ALL,
	LEVEL_NOT,
	LEVEL_COMPARE,
	LEVEL_OR,
	LEVEL_XOR,
	LEVEL_AND,
	LEVEL_SHIFT,
	LEVEL_ADD,
	LEVEL_MUL,
	LEVEL_SIGNED
};

static const struct {
	char sign[3];
	enum level level;
	enum vti_where_op op;
} binaries[] = {
	{"||", LEVEL_ANY, VTI_WHERE_ANY},    {"&&", LEVEL_ALL, VTI_WHERE_ALL},
	{"==", LEVEL_COMPARE, VTI_WHERE_EQ}, {"!=", LEVEL_COMPARE, VTI_WHERE_NE},
	{"<", LEVEL_COMPARE, VTI_WHERE_LT},  {"<=", LEVEL_COMPARE, VTI_WHERE_LE},
	{">", LEVEL_COMPARE, VTI_WHERE_GT},  {">=", LEVEL_COMPARE, VTI_WHERE_GE},
	{"|", LEVEL_OR, VTI_WHERE_OR},	     {"^", LEVEL_XOR, VTI_WHERE_XOR},
	{"&", LEVEL_AND, VTI_WHERE_AND},     {"<<", LEVEL_SHIFT, VTI_WHERE_SHL},
	{">>", LEVEL_SHIFT, VTI_WHERE_SHR},  {"+", LEVEL_ADD, VTI_WHERE_ADD},
	{"-", LEVEL_ADD, VTI_WHERE_SUB},     {"*", LEVEL_MUL, VTI_WHERE_MUL},
	{"/", LEVEL_MUL, VTI_WHERE_DIV},     {"%", LEVEL_MUL, VTI_WHERE_MOD},
};

struct parser {
	struct lexer lex;
	struct vti_where_tree *tree;
	unsigned depth;
};

/* Appends a term that begins at the current token.  Returns its index, or a negative error. */
static int add_node(struct parser *p, enum vti_where_op op)
{
	struct vti_where_tree *t = p->tree;
	uint32_t column = column_of(&p->lex, p->lex.start);

	if (t->count == VT_WHERE_MAX_TERMS)
		return vti_where_error(p->lex.err, VT_E_LIMIT, column, "more than %d terms",
				       VT_WHERE_MAX_TERMS);
	t->nodes[t->count] = (struct vti_where_node){.op = op, .column = column, .field = -1};
	return (int)t->count++;
}

/* The same, with the text of the token, which is a name or a string. */
static int add_text(struct parser *p, enum vti_where_op op)
{
	bool string = p->lex.token == TOKEN_STRING;
	const char *s = p->lex.start + string, *end = p->lex.start + p->lex.size - string;
	struct vt_buf *texts = &p->tree->texts;
	int node = add_node(p, op);

	if (node < 0)
		return node;
	p->tree->nodes[node].text = (uint32_t)texts->size;
	for (; s < end; s++) {
		s += string && *s == '\\';
		vt_buf_put_u8(texts, (uint8_t)*s);
	}
	vt_buf_put_u8(texts, 0);
	return texts->failed ? vt_error_nomem(p->lex.err) : node;
}

/* Steps over the current token; returns `node`, or a negative error. */
static int then(struct parser *p, int node)
{
	int code = node < 0 ? node : advance(&p->lex);

	return code < 0 ? code : node;
}

static int expect(struct parser *p, const char *sign, const char *what)
{
	return is_sign(&p->lex, sign) ? advance(&p->lex) : wrong(&p->lex, what);
}

static int parse_level(struct parser *p, enum level level);

/* Counts what is in each other. */
static int parse_inner(struct parser *p, enum level level)
{
	int node;

	if (p->depth == VT_WHERE_MAX_DEPTH)
		return vti_where_error(p->lex.err, VT_E_LIMIT, column_of(&p->lex, p->lex.start),
				       "more than %d parentheses and signs in each other",
				       VT_WHERE_MAX_DEPTH);
	p->depth++;
	node = parse_level(p, level);
	p->depth--;
	return node;
}

static int parse_parentheses(struct parser *p)
{
	int code = advance(&p->lex);
	int node = code < 0 ? code : parse_inner(p, LEVEL_ANY);

	if (node < 0)
		return node;
	code = expect(p, ")", "')' is missing here");
	return code < 0 ? code : node;
}

/* After a name and the parenthesis behind it. */
static int parse_has(struct parser *p)
{
	int code = advance(&p->lex), node;

	if (code < 0)
		return code;
	if (p->lex.token != TOKEN_NAME)
		return wrong(&p->lex, "has() takes the name of a field");
	node = then(p, add_text(p, VTI_WHERE_HAS));
	if (node < 0)
		return node;
	code = expect(p, ")", "')' is missing here");
	return code < 0 ? code : node;
}

static int parse_name(struct parser *p)
{
	bool has = is_token(&p->lex, TOKEN_NAME, "has");
	int node = then(p, add_text(p, VTI_WHERE_NAME)), code;

	if (node < 0)
		return node;
	if (has && is_sign(&p->lex, "("))
		return parse_has(p);
	if (!is_sign(&p->lex, "."))
		return node;
	code = advance(&p->lex);
	if (code < 0)
		return code;
	if (!is_token(&p->lex, TOKEN_NAME, "count"))
		return wrong(&p->lex, "only 'count' follows a point");
	p->tree->nodes[node].op = VTI_WHERE_COUNT;
	return then(p, node);
}

static int parse_number(struct parser *p, enum vti_where_op op)
{
	int node = add_node(p, op);

	if (node >= 0)
		p->tree->nodes[node].number = p->lex.number;
	return then(p, node);
}

static int parse_operand(struct parser *p)
{
	switch (p->lex.token) {
	case TOKEN_NUMBER:
		return parse_number(p, VTI_WHERE_NUMBER);
	case TOKEN_REAL:
		return parse_number(p, VTI_WHERE_REAL);
	case TOKEN_NAME:
		return parse_name(p);
	case TOKEN_STRING:
		return then(p, add_text(p, VTI_WHERE_STRING));
	default:
		if (is_sign(&p->lex, "("))
			return parse_parentheses(p);
		if (is_sign(&p->lex, "!"))
			return wrong(&p->lex, "here, '!' and its operand need parentheses");
		return wrong(&p->lex, p->lex.token == TOKEN_END ? "an operand is missing at the end"
								: "an operand is missing here");
	}
}

/* An operator with one operand, which extends to the end of `level`. */
static int parse_sign(struct parser *p, enum vti_where_op op, enum level level)
{
	int node = then(p, add_node(p, op)), operand;

	if (node < 0)
		return node;
	operand = parse_inner(p, level);
	if (operand >= 0)
		p->tree->nodes[node].left = (uint16_t)operand;
	return operand < 0 ? operand : node;
}

/* After the field and `in`. */
static int parse_place(struct parser *p, int field)
{
	static const char *const words[VT_WHERE_NPLACES] = {"procedure", "image"};
	struct vti_where_node *n;
	uint16_t place = 0;
	int code, node;

	if (p->tree->nodes[field].op != VTI_WHERE_NAME)
		return wrong(&p->lex, "'in' goes with the name of a field");
	code = advance(&p->lex);
	if (code < 0)
		return code;
	while (place < VT_WHERE_NPLACES && !is_token(&p->lex, TOKEN_NAME, words[place]))
		place++;
	if (place == VT_WHERE_NPLACES)
		return wrong(&p->lex, "'procedure' or 'image' follows 'in'");
	code = advance(&p->lex);
	if (code < 0)
		return code;
	if (p->lex.token != TOKEN_STRING)
		return wrong(&p->lex, "a name in double quotes is missing here");
	node = add_text(p, VTI_WHERE_IN);
	if (node < 0)
		return node;
	n = &p->tree->nodes[node];
	n->left = (uint16_t)field;
	n->place = place;
	return then(p, node);
}

/* The index of the operator of this level at the current token in `binaries`; -1: there is none. */
static int find_binary(const struct parser *p, enum level level)
{
	size_t i;

	for (i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
		if (binaries[i].level == level && is_sign(&p->lex, binaries[i].sign))
			return (int)i;
	return -1;
}

static int parse_right(struct parser *p, int left, int binary)
{
	int node = then(p, add_node(p, binaries[binary].op)), right;

	if (node < 0)
		return node;
	right = parse_level(p, (enum level)(binaries[binary].level + 1));
	if (right < 0)
		return right;
	p->tree->nodes[node].left = (uint16_t)left;
	p->tree->nodes[node].right = (uint16_t)right;
	return node;
}

static int parse_level(struct parser *p, enum level level)
{
	int node, binary, compared = 0;

	if (level == LEVEL_NOT && is_sign(&p->lex, "!"))
		return parse_sign(p, VTI_WHERE_NOT, LEVEL_NOT);
	if (level == LEVEL_SIGNED && is_sign(&p->lex, "-"))
		return parse_sign(p, VTI_WHERE_NEG, LEVEL_SIGNED);
	if (level == LEVEL_SIGNED && is_sign(&p->lex, "~"))
		return parse_sign(p, VTI_WHERE_INVERT, LEVEL_SIGNED);
	if (level == LEVEL_SIGNED)
		return parse_operand(p);
	node = parse_level(p, (enum level)(level + 1));
	if (node >= 0 && level == LEVEL_COMPARE && is_token(&p->lex, TOKEN_NAME, "in"))
		return parse_place(p, node);
	while (node >= 0 && (binary = find_binary(p, level)) >= 0) {
		if (level == LEVEL_COMPARE && compared++)
			return wrong(&p->lex, "comparisons do not chain: a < b && b < c");
		node = parse_right(p, node, binary);
	}
	return node;
}

int vti_where_parse(struct vti_where_tree *t, const char *text, struct vt_error *err)
{
	struct parser p = {.lex = {.text = text, .next = text, .pair = t->pair, .err = err},
			   .tree = t};
	int node;

	if (strlen(text) > VT_WHERE_MAX_TEXT)
		return vti_where_error(err, VT_E_LIMIT, VT_WHERE_MAX_TEXT + 1,
				       "more than %d characters", VT_WHERE_MAX_TEXT);
	node = advance(&p.lex);
	if (node == 0)
		node = parse_level(&p, LEVEL_ANY);
	if (node < 0)
		return node;
	if (p.lex.token != TOKEN_END)
		return wrong(&p.lex, "an operator is missing before this");
	t->root = (uint32_t)node;
	return 0;
}

void vti_where_tree_fini(struct vti_where_tree *t)
{
	vt_buf_free(&t->texts);
}

const char *vti_where_text(const struct vti_where_tree *t, const struct vti_where_node *n)
{
	return (const char *)t->texts.data + n->text;
}
