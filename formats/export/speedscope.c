/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/escape.h"
#include "base/version.h"
#include "formats/export/export.h"

/*
 * speedscope's file format, https://www.speedscope.app/file-format-schema.json: a "sampled"
 * profile, whose samples are stacks of frames, outermost first, each with a weight.  Stacks of the
 * same functions are one sample, in the order of first appearance.
 */

/* The key of a frame: ids of strings, and the line where the function begins. */
struct frame {
	uint32_t name, file, line;
};

struct speedscope {
	const struct vt_stacks *stacks;
	struct vt_output *out;
	struct vt_intern *strings;
	struct vt_hash frames;	   /* struct frame */
	struct vt_intern *samples; /* arrays of indexes of frames */
	uint64_t *weights;	   /* by id of the sample */
	size_t weights_cap;
	bool failed; /* memory ran out */
};

/* ---- stacks ---- */

static uint32_t find_frame(struct speedscope *f, const struct vt_stack_place *at, uint32_t line)
{
	const struct vt_stacks *s = f->stacks;
	const struct vt_stack_line *l = &s->lines[line];
	const char *image = at->image == VT_STACK_NONE ? "" : s->images[at->image].path;
	const struct frame key = {vt_intern_str(f->strings, l->name),
				  vt_intern_str(f->strings, *l->file ? l->file : image),
				  l->start_line};
	const struct frame *known = vt_hash_add(&f->frames, &key, NULL);

	if (!known || key.name == UINT32_MAX || key.file == UINT32_MAX) {
		f->failed = true;
		return 0;
	}
	return (uint32_t)vt_hash_index(&f->frames, known);
}

static void count_sample(struct speedscope *f, const struct vt_buf *ids, uint64_t weight)
{
	uint32_t id = ids->failed ? UINT32_MAX : vt_intern_add(f->samples, ids->data, ids->size);
	size_t cap = f->weights_cap;

	if (id == UINT32_MAX ||
	    !vt_array_grow(&f->weights, &f->weights_cap, id + 1, sizeof(*f->weights))) {
		f->failed = true;
		return;
	}
	if (f->weights_cap > cap)
		memset(f->weights + cap, 0, (f->weights_cap - cap) * sizeof(*f->weights));
	f->weights[id] += weight;
}

static void gather_samples(struct speedscope *f)
{
	const struct vt_stacks *s = f->stacks;
	struct vt_stack_path path = {0};
	struct vt_buf ids = VT_BUF_INIT;
	size_t i, k;

	for (i = 0; i < s->nodes.count && !f->failed; i++) {
		uint64_t weight = vt_stacks_get(s, i, 0);

		if (!weight)
			continue;
		f->failed = !vt_stacks_path(s, (uint32_t)i, &path);
		ids.size = 0;
		for (k = 0; k < path.count && !f->failed; k++)
			vt_buf_put_le32(&ids, find_frame(f, path.places[k], path.lines[k]));
		if (!f->failed)
			count_sample(f, &ids, weight);
	}
	vt_stack_path_fini(&path);
	vt_buf_free(&ids);
}

/* ---- text ---- */

/* Untrusted text as JSON; what is not UTF-8 is escaped. */
static json_t *make_text(const char *text)
{
	struct vt_buf b = VT_BUF_INIT;
	json_t *value = json_string(text);

	if (value)
		return value;
	vt_escape_str(&b, text);
	value = b.failed ? NULL : json_string(vt_buf_str(&b));
	vt_buf_free(&b);
	return value;
}

/* Writes a value and releases it; NULL is no memory. */
static void write_value(struct speedscope *f, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (text)
		vt_output_text(f->out, text);
	else
		f->failed = true;
	free(text);
	json_decref(value);
}

static void write_frames(struct speedscope *f)
{
	size_t i;

	for (i = 0; i < f->frames.count && !f->failed; i++) {
		const struct frame *at = vt_hash_at(&f->frames, i);
		json_t *frame = json_object();

		json_object_set_new(frame, "name", make_text(vt_intern_get(f->strings, at->name)));
		if (at->file)
			json_object_set_new(frame, "file",
					    make_text(vt_intern_get(f->strings, at->file)));
		if (at->line)
			json_object_set_new(frame, "line", json_integer(at->line));
		vt_output_text(f->out, i ? ",\n" : "\n");
		write_value(f, frame);
	}
}

static void write_samples(struct speedscope *f)
{
	bool first = true;
	size_t i, k;

	for (i = 0; i < f->weights_cap; i++) {
		const char *bytes = f->weights[i] ? vt_intern_get(f->samples, (uint32_t)i) : NULL;
		size_t n = bytes ? vt_intern_size(f->samples, (uint32_t)i) / 4 : 0;

		if (!bytes)
			continue;
		vt_output_text(f->out, first ? "\n[" : ",\n[");
		for (k = 0; k < n; k++) {
			uint32_t id = vt_le32((const uint8_t *)bytes + 4 * k);

			vt_output_printf(f->out, k ? ",%" PRIu32 : "%" PRIu32, id);
		}
		vt_output_text(f->out, "]");
		first = false;
	}
}

static void write_weights(struct speedscope *f)
{
	bool first = true;
	size_t i;

	for (i = 0; i < f->weights_cap; i++) {
		if (!f->weights[i])
			continue;
		vt_output_printf(f->out, first ? "%" PRIu64 : ",%" PRIu64, f->weights[i]);
		first = false;
	}
}

static void write_file(struct speedscope *f, const char *title)
{
	const struct vt_stack_value *value = &f->stacks->values[0];

	vt_output_text(f->out,
		       "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		       "\"exporter\":\"vtrace " VT_VERSION "\",\n\"name\":");
	write_value(f, make_text(title));
	vt_output_text(f->out, ",\n\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[");
	write_frames(f);
	vt_output_text(f->out, "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":");
	write_value(f, make_text(value->name));
	vt_output_printf(f->out,
			 ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64
			 ",\n\"samples\":[",
			 strcmp(value->unit, "ns") == 0 ? "nanoseconds" : "none",
			 vt_stacks_total(f->stacks, 0));
	write_samples(f);
	vt_output_text(f->out, "],\n\"weights\":[");
	write_weights(f);
	vt_output_text(f->out, "]}]}\n");
}

static int write_speedscope(const struct vt_stacks *s, const char *title, struct vt_output *out,
			    struct vt_error *err)
{
	struct speedscope f = {
		.stacks = s, .out = out, .strings = vt_intern_new(), .samples = vt_intern_new()};

	vt_hash_init(&f.frames, sizeof(struct frame), sizeof(struct frame));
	f.failed = !f.strings || !f.samples;
	if (!f.failed)
		gather_samples(&f);
	if (!f.failed)
		write_file(&f, title);
	vt_hash_fini(&f.frames);
	vt_intern_free(f.strings);
	vt_intern_free(f.samples);
	free(f.weights);
	return f.failed ? vt_error_nomem(err) : 0;
}

const struct vt_export_format vti_export_speedscope = {.name = "speedscope",
						       .write = write_speedscope};
