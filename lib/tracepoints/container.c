/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracepoints/container.h"

#include <string.h>

#include "base/bytes.h"

static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

static struct vt_bytes take_zero_ended(struct vt_cursor *c)
{
	size_t left = vt_cursor_left(c);
	const uint8_t *zero = left ? memchr(c->p, 0, left) : NULL;
	struct vt_bytes text = {c->p, zero ? (size_t)(zero - c->p) : left};

	vt_cursor_take(c, (uint64_t)text.size + 1);
	return text;
}

static struct vt_bytes take_file(struct vt_cursor *c)
{
	uint64_t size = vt_cursor_u64(c);
	const uint8_t *p = vt_cursor_take(c, size);
	struct vt_bytes text = {p, p ? (size_t)size : 0};

	return text;
}

/* The text after `key` up to the end of its line.  NULL: no line begins with it. */
static struct vt_bytes find_line_value(struct vt_bytes text, const char *key)
{
	const uint8_t *p = text.data, *end = p + text.size;
	struct vt_bytes value = {NULL, 0};
	size_t n = strlen(key);

	while ((size_t)(end - p) > n) {
		const uint8_t *eol = memchr(p, '\n', (size_t)(end - p));

		if (!eol)
			eol = end;
		if ((size_t)(eol - p) > n && !memcmp(p, key, n)) {
			value.data = p + n;
			value.size = (size_t)(eol - p) - n;
			return value;
		}
		p = eol < end ? eol + 1 : end;
	}
	return value;
}

bool vt_format_file_ident(struct vt_bytes text, struct vt_bytes *name, uint64_t *id)
{
	struct vt_bytes number = find_line_value(text, "ID: ");
	size_t i;

	*name = find_line_value(text, "name: ");
	*id = 0;
	for (i = 0; i < number.size && number.data[i] >= '0' && number.data[i] <= '9'; i++)
		*id = *id * 10 + (uint64_t)(number.data[i] - '0');
	return name->data && number.data;
}

bool vt_tracing_begins(const uint8_t *data, size_t size)
{
	return size >= sizeof(magic) && !memcmp(data, magic, sizeof(magic));
}

/* Moves to the descriptions of events. */
static bool read_header(struct vt_cursor *c, struct vt_tracing *t)
{
	uint32_t n, i;

	vt_cursor_take(c, sizeof(magic));
	take_zero_ended(c); /* version */
	t->big = c->big = vt_cursor_u8(c) == 1;
	t->long_size = vt_cursor_u8(c);
	t->page_size = vt_cursor_u32(c);
	for (i = 0; i < 2; i++) {
		take_zero_ended(c); /* "header_page", "header_event" */
		take_file(c);
	}
	n = vt_cursor_u32(c);
	for (i = 0; i < n && !c->bad; i++) /* ftrace's own events */
		take_file(c);
	return !c->bad;
}

int vt_tracing_walk(const uint8_t *data, size_t size, vt_format_file_fn *fn, void *arg)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	struct vt_tracing t;
	uint32_t n, nfiles, i, j;

	if (!vt_tracing_begins(data, size) || !read_header(&c, &t))
		return 1;
	n = vt_cursor_u32(&c);
	for (i = 0; i < n && !c.bad; i++) {
		struct vt_bytes system = take_zero_ended(&c);

		nfiles = vt_cursor_u32(&c);
		for (j = 0; j < nfiles && !c.bad; j++) {
			struct vt_bytes text = take_file(&c);
			int code = c.bad ? 0 : fn(arg, &t, system, text);

			if (code < 0)
				return code;
		}
	}
	return c.bad;
}
