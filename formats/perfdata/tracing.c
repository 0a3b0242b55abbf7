/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trace data: what the kernel's tracing directory says of each tracepoint, in the layout that
 * trace-cmd.dat(5) describes up to its fourth part.  Only the tracepoints' names are taken from it.
 */
#include "formats/perfdata/session.h"

#include <stdlib.h>

static const uint8_t *zero_ended(struct vt_cursor *c, size_t *size)
{
	const uint8_t *p = c->p;

	*size = vti_pd_text(p, vt_cursor_left(c));
	vt_cursor_take(c, (uint64_t)*size + 1);
	return p;
}

/* The text after `key` up to the end of its line, or NULL. */
static const char *line_value(const char *p, const char *end, const char *key, size_t *size)
{
	size_t n = strlen(key);

	while ((size_t)(end - p) > n) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		if (!eol)
			eol = end;
		if ((size_t)(eol - p) > n && !memcmp(p, key, n)) {
			*size = (size_t)(eol - p) - n;
			return p + n;
		}
		p = eol < end ? eol + 1 : end;
	}
	return NULL;
}

/* Names the events of the tracepoint whose format file this is. */
static int format_file(struct pd_session *s, const uint8_t *system, size_t system_size,
		       const uint8_t *file, size_t size)
{
	const char *p = (const char *)file, *end = p + size, *name, *id;
	struct vt_buf b = VT_BUF_INIT;
	size_t name_size, id_size, i;
	uint64_t number = 0;
	int code = 0;

	name = line_value(p, end, "name: ", &name_size);
	id = line_value(p, end, "ID: ", &id_size);
	if (!name || !id)
		return 0;
	for (i = 0; i < id_size && id[i] >= '0' && id[i] <= '9'; i++)
		number = number * 10 + (uint64_t)(id[i] - '0');
	vt_buf_put(&b, system, system_size);
	vt_buf_put_u8(&b, ':');
	vt_buf_put(&b, name, name_size);
	for (i = 0; i < s->nevents && code == 0 && !b.failed; i++) {
		const struct pd_attr *a = &s->events[i].attr;

		if (a->type == PD_TYPE_TRACEPOINT && a->config == number)
			code = vti_pd_event_name(s, i, b.data, b.size, true);
	}
	if (b.failed)
		code = vt_error_set(s->err, VT_E_NOMEM, "%s: out of memory", s->in->name);
	vt_buf_free(&b);
	return code;
}

/* Whether any event waits for a name from here. */
static bool wanted(const struct pd_session *s)
{
	size_t i;

	for (i = 0; i < s->nevents; i++) {
		if (s->events[i].attr.type == PD_TYPE_TRACEPOINT && !s->events[i].name)
			return true;
	}
	return false;
}

int vti_pd_tracing(struct pd_session *s, const uint8_t *data, size_t size)
{
	static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
	struct vt_cursor c = vt_cursor_make(data, size, false);
	const uint8_t *p = vt_cursor_take(&c, sizeof(magic));
	const uint8_t *system, *file;
	size_t text_size;
	uint32_t n, nfiles, i, j;
	uint64_t file_size;
	int code;

	if (!p || memcmp(p, magic, sizeof(magic)) || !wanted(s))
		return 0;
	zero_ended(&c, &text_size); /* version */
	c.big = vt_cursor_u8(&c) == 1;
	vt_cursor_u8(&c);  /* size of a long */
	vt_cursor_u32(&c); /* size of a page */
	for (i = 0; i < 2; i++) {
		zero_ended(&c, &text_size); /* "header_page", "header_event" */
		vt_cursor_take(&c, vt_cursor_u64(&c));
	}
	n = vt_cursor_u32(&c);
	for (i = 0; i < n && !c.bad; i++) /* ftrace's own events */
		vt_cursor_take(&c, vt_cursor_u64(&c));
	n = vt_cursor_u32(&c);
	for (i = 0; i < n && !c.bad; i++) {
		system = zero_ended(&c, &text_size);
		nfiles = vt_cursor_u32(&c);
		for (j = 0; j < nfiles && !c.bad; j++) {
			file_size = vt_cursor_u64(&c);
			file = vt_cursor_take(&c, file_size);
			if (!file)
				break;
			code = format_file(s, system, text_size, file, (size_t)file_size);
			if (code < 0)
				return code;
		}
	}
	return 0;
}
