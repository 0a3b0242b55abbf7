/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracepoints/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"

/* A stretch of the text of a format file. */
struct span {
	const char *p;
	const char *end;
};

static size_t span_size(struct span s)
{
	return (size_t)(s.end - s.p);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static struct span trim(struct span s)
{
	while (s.p < s.end && is_blank(*s.p))
		s.p++;
	while (s.p < s.end && is_blank(s.end[-1]))
		s.end--;
	return s;
}

/* Takes the text up to `stop`, and `stop`; all that is left if there is none. */
static struct span take_until(struct span *s, char stop)
{
	const char *at = s->p < s->end ? memchr(s->p, stop, span_size(*s)) : NULL;
	struct span part = {s->p, at ? at : s->end};

	s->p = at ? at + 1 : s->end;
	return part;
}

static bool take_prefix(struct span *s, const char *prefix)
{
	size_t n = strlen(prefix);

	if (span_size(*s) < n || memcmp(s->p, prefix, n) != 0)
		return false;
	s->p += n;
	return true;
}

/* A decimal number that is all of the text, and at most INT32_MAX. */
static bool read_decimal(struct span s, uint32_t *value)
{
	uint64_t v = 0;

	if (s.p == s.end)
		return false;
	for (; s.p < s.end; s.p++) {
		if (*s.p < '0' || *s.p > '9')
			return false;
		v = v * 10 + (uint64_t)(*s.p - '0');
		if (v > INT32_MAX)
			return false;
	}
	*value = (uint32_t)v;
	return true;
}

/* "offset:8" and the like. */
static bool take_number(struct span *line, const char *key, uint32_t *value)
{
	struct span s = trim(take_until(line, ';'));

	return take_prefix(&s, key) && read_decimal(s, value);
}

static bool has_word(struct span type, const char *word)
{
	size_t n = strlen(word);
	const char *p;

	for (p = type.p; p < type.end; p++) {
		const char *start = p;

		while (p < type.end && is_word(*p))
			p++;
		if ((size_t)(p - start) == n && !memcmp(start, word, n))
			return true;
	}
	return false;
}

/* The size of a C type by its name, 0 if it is not known. */
static uint32_t type_size(struct span type, unsigned long_size)
{
	static const struct {
		const char *word;
		uint32_t size;
	} types[] = {
		{"char", 1}, {"u8", 1},	   {"__u8", 1},	    {"s8", 1},	     {"uint8_t", 1},
		{"bool", 1}, {"u16", 2},   {"__u16", 2},    {"s16", 2},	     {"uint16_t", 2},
		{"u32", 4},  {"__u32", 4}, {"s32", 4},	    {"uint32_t", 4}, {"u64", 8},
		{"s64", 8},  {"__u64", 8}, {"uint64_t", 8}, {"short", 2},
	};
	size_t i;

	if (type.p < type.end && type.end[-1] == '*')
		return long_size;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (has_word(type, types[i].word))
			return types[i].size;
	if (has_word(type, "long"))
		return long_size;
	if (has_word(type, "cpumask_t"))
		return long_size;
	return has_word(type, "int") || has_word(type, "unsigned") ? 4 : 0;
}

/* Takes "[...]" from the end of a declaration.  False if there is none. */
static bool take_brackets(struct span *decl, struct span *inside)
{
	const char *p = decl->end;

	if (p == decl->p || p[-1] != ']')
		return false;
	for (p--; p > decl->p && *p != '['; p--)
		;
	if (*p != '[')
		return false;
	*inside = (struct span){p + 1, decl->end - 1};
	decl->end = p;
	*decl = trim(*decl);
	return true;
}

static void describe_array(struct vt_trace_field *f, struct span type, struct span length,
			   unsigned long_size)
{
	uint32_t n;

	f->text = has_word(type, "char") && !has_word(type, "unsigned") &&
		  !has_word(type, "signed") && type.end[-1] != '*';
	f->element = type_size(type, long_size);
	if (f->place == VT_FIELD_FIXED && read_decimal(length, &n) && n && f->size % n == 0)
		f->element = f->size / n;
}

/* Reads a declaration, as in C but for __data_loc and __rel_loc. */
static bool read_declaration(struct vt_trace_field *f, struct span decl, unsigned long_size)
{
	struct span length = {NULL, NULL}, type;
	const char *p;

	decl = trim(decl);
	f->declaration.data = (const uint8_t *)decl.p;
	f->declaration.size = span_size(decl);
	if (take_prefix(&decl, "__data_loc "))
		f->place = VT_FIELD_DATA_LOC;
	else if (take_prefix(&decl, "__rel_loc "))
		f->place = VT_FIELD_REL_LOC;
	f->array = take_brackets(&decl, &length) || f->place != VT_FIELD_FIXED;
	for (p = decl.end; p > decl.p && is_word(p[-1]); p--)
		;
	if (p == decl.end)
		return false;
	f->name.data = (const uint8_t *)p;
	f->name.size = (size_t)(decl.end - p);
	f->common = f->name.size >= 7 && !memcmp(f->name.data, "common_", 7);
	type = trim((struct span){decl.p, p});
	if (f->place != VT_FIELD_FIXED)
		take_brackets(&type, &length);
	f->element = f->size;
	if (f->array && type.p < type.end)
		describe_array(f, type, length, long_size);
	return true;
}

/* TYPE NAME;	offset:N;	size:N;	signed:N; */
static bool read_field(struct vt_trace_field *f, struct span line, unsigned long_size)
{
	struct span decl;
	uint32_t is_signed = 0;

	decl = take_until(&line, ';');
	if (!take_number(&line, "offset:", &f->offset) || !take_number(&line, "size:", &f->size))
		return false;
	take_number(&line, "signed:", &is_signed);
	f->is_signed = is_signed;
	return read_declaration(f, decl, long_size);
}

bool vt_trace_format_read(struct vt_trace_format *f, struct vt_bytes text, unsigned long_size)
{
	struct span rest = {(const char *)text.data, (const char *)text.data + text.size};

	*f = (struct vt_trace_format){.whole = true};
	while (rest.p < rest.end) {
		struct span line = trim(take_until(&rest, '\n'));
		struct vt_trace_field field = {.place = VT_FIELD_FIXED};

		if (take_prefix(&line, "print fmt:"))
			break;
		if (!take_prefix(&line, "field:"))
			continue;
		if (f->nfields == VT_TRACE_FIELDS_MAX || !read_field(&field, line, long_size)) {
			f->whole = false;
			continue;
		}
		if (!vt_array_grow(&f->fields, &f->cap, f->nfields + 1, sizeof(field)))
			return false;
		f->fields[f->nfields++] = field;
	}
	return true;
}

void vt_trace_format_free(struct vt_trace_format *f)
{
	free(f->fields);
	*f = (struct vt_trace_format){.fields = NULL};
}

uint64_t vt_trace_number(const uint8_t *p, size_t size, bool big, bool is_signed)
{
	struct vt_cursor c = vt_cursor_make(p, size, big);

	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)p[0] : p[0];
	case 2: {
		uint16_t v = vt_cursor_u16(&c);

		return is_signed ? (uint64_t)(int16_t)v : v;
	}
	case 4: {
		uint32_t v = vt_cursor_u32(&c);

		return is_signed ? (uint64_t)(int32_t)v : v;
	}
	default:
		return vt_cursor_u64(&c);
	}
}

bool vt_trace_field_bytes(const struct vt_trace_field *f, struct vt_bytes raw, bool big,
			  struct vt_bytes *bytes)
{
	uint64_t at = f->offset, size = f->size;

	if (f->place != VT_FIELD_FIXED) {
		uint64_t where;

		if (size != 4 || at + size > raw.size)
			return false;
		where = vt_trace_number(raw.data + at, 4, big, false);
		at = (where & 0xffff) + (f->place == VT_FIELD_REL_LOC ? at + size : 0);
		size = where >> 16;
	}
	if (at + size > raw.size)
		return false;
	bytes->data = raw.data + at;
	bytes->size = (size_t)size;
	return true;
}
