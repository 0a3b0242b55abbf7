/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/json.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/escape.h"

json_t *app_json_text(const void *text, size_t size)
{
	json_t *v = json_stringn(text, size);
	struct vt_buf b = VT_BUF_INIT;

	if (v)
		return v;
	vt_escape(&b, text, size);
	v = json_string(vt_buf_str(&b));
	vt_buf_free(&b);
	return v;
}

json_t *app_json_hex(uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, v);
	return json_string(text);
}

json_t *app_json_bytes(const void *data, size_t size)
{
	struct vt_buf b = VT_BUF_INIT;
	const uint8_t *p = data;
	json_t *v;
	size_t i;

	for (i = 0; i < size; i++)
		vt_buf_printf(&b, "%02x", p[i]);
	v = json_string(vt_buf_str(&b));
	vt_buf_free(&b);
	return v;
}

json_t *app_json_u64(uint64_t v)
{
	char text[24];

	if (v <= INT64_MAX)
		return json_integer((json_int_t)v);
	snprintf(text, sizeof(text), "%" PRIu64, v);
	return json_string(text);
}

void app_json_set(json_t *object, const char *name, json_t *value)
{
	struct vt_buf b = VT_BUF_INIT;

	json_incref(value);
	if (json_object_set_new(object, name, value) < 0) {
		vt_escape_str(&b, name);
		json_object_set(object, vt_buf_str(&b), value);
		vt_buf_free(&b);
	}
	json_decref(value);
}

json_t *app_json_doc(const char *schema)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "schema", json_string(schema));
	return doc;
}

void app_json_losses(json_t *object, const struct app_losses *l)
{
	json_t *lost = json_object(), *gaps = json_object();

	json_object_set_new(lost, "places", app_json_u64(l->lost_places));
	json_object_set_new(lost, "records", app_json_u64(l->lost));
	json_object_set_new(gaps, "places", app_json_u64(l->gaps));
	json_object_set_new(gaps, "records", app_json_u64(l->gap_records));
	json_object_set_new(gaps, "bytes", app_json_u64(l->gap_bytes));
	json_object_set_new(object, "lost", lost);
	json_object_set_new(object, "gaps", gaps);
}

static int put(const char *data, size_t size, void *out)
{
	vt_output_put(out, data, size);
	return 0;
}

void app_json_write(struct vt_output *out, json_t *value, bool pretty)
{
	size_t flags = JSON_PRESERVE_ORDER | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9) |
		       (pretty ? JSON_INDENT(2) : 0);

	if (!value || json_dump_callback(value, put, out, flags) < 0) {
		if (out->err.code == VT_OK)
			vt_error_set(&out->err, VT_E_NOMEM, "%s: out of memory", out->name);
	}
	vt_output_text(out, "\n");
	json_decref(value);
}
