/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/stream/traced.h"

#include <stdbool.h>
#include <string.h>

#include "listing/json.h"
#include "listing/stream/columns.h"

#define DAMAGED "[damaged]"

/* What a field's bytes are. */
static bool is_number_size(size_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool is_number(const struct vt_trace_field *f, struct vt_bytes v)
{
	return !f->array && is_number_size(v.size);
}

static bool is_array(const struct vt_trace_field *f, struct vt_bytes v)
{
	return f->array && is_number_size(f->element) && v.size % f->element == 0;
}

static size_t text_size(struct vt_bytes v)
{
	const uint8_t *zero = v.size ? memchr(v.data, 0, v.size) : NULL;

	return zero ? (size_t)(zero - v.data) : v.size;
}

/* ---- text ---- */

static void put_number(struct vt_buf *b, const struct vt_trace_field *f, const uint8_t *p,
		       size_t size, bool big)
{
	uint64_t v = vt_trace_number(p, size, big, f->is_signed);

	if (f->is_signed)
		vt_dump_signed(b, v);
	else
		vt_dump_decimal(b, v);
}

static void put_value(struct vt_buf *b, const struct vt_trace_field *f, struct vt_bytes v, bool big)
{
	size_t i;

	if (f->text) {
		vt_buf_put(b, v.data, text_size(v));
	} else if (is_number(f, v)) {
		put_number(b, f, v.data, v.size, big);
	} else if (is_array(f, v)) {
		vt_buf_put_u8(b, '{');
		for (i = 0; i < v.size; i += f->element) {
			if (i)
				vt_buf_put_u8(b, ',');
			put_number(b, f, v.data + i, f->element, big);
		}
		vt_buf_put_u8(b, '}');
	} else {
		for (i = 0; i < v.size; i++)
			vt_buf_printf(b, "%02x", v.data[i]);
	}
}

void vt_traced_fields(const struct vt_tracepoint *p, struct vt_bytes raw, struct vt_buf *b)
{
	size_t start = b->size, i;

	for (i = 0; i < p->format.nfields; i++) {
		const struct vt_trace_field *f = &p->format.fields[i];
		struct vt_bytes v;

		if (f->common)
			continue;
		if (b->size > start)
			vt_buf_put_u8(b, ' ');
		vt_buf_put(b, f->name.data, f->name.size);
		vt_buf_put_u8(b, '=');
		if (vt_trace_field_bytes(f, raw, p->machine.big, &v))
			put_value(b, f, v, p->machine.big);
		else
			vt_buf_put(b, DAMAGED, strlen(DAMAGED));
	}
}

/* ---- JSON ---- */

static json_t *number_json(const struct vt_trace_field *f, const uint8_t *p, size_t size, bool big)
{
	uint64_t v = vt_trace_number(p, size, big, f->is_signed);

	return f->is_signed ? json_integer((int64_t)v) : vt_json_u64(v);
}

static json_t *value_json(const struct vt_trace_field *f, struct vt_bytes v, bool big)
{
	json_t *a;
	size_t i;

	if (f->text)
		return vt_json_text(v.data, text_size(v));
	if (is_number(f, v))
		return number_json(f, v.data, v.size, big);
	if (!is_array(f, v))
		return vt_json_bytes(v.data, v.size);
	a = json_array();
	for (i = 0; i < v.size; i += f->element)
		json_array_append_new(a, number_json(f, v.data + i, f->element, big));
	return a;
}

json_t *vt_traced_json(const struct vt_tracepoint *p, struct vt_bytes raw)
{
	json_t *o = json_object();
	struct vt_buf name = VT_BUF_INIT;
	size_t i;

	for (i = 0; i < p->format.nfields && o; i++) {
		const struct vt_trace_field *f = &p->format.fields[i];
		struct vt_bytes v;

		if (f->common)
			continue;
		name.size = 0;
		vt_buf_put(&name, f->name.data, f->name.size);
		vt_json_set(o, vt_buf_str(&name),
			    vt_trace_field_bytes(f, raw, p->machine.big, &v)
				    ? value_json(f, v, p->machine.big)
				    : json_null());
	}
	vt_buf_free(&name);
	return o;
}
