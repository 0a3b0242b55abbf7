/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pprof.pb-c.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/escape.h"
#include "formats/export/export.h"

/*
 * pprof's format: a Profile message of Protocol Buffers in gzip's format.  Messages one after the
 * other are one message with the fields of all, so the profile is written as many small ones.
 */

/* Bytes that are compressed at a time. */
#define PIECE 65536

typedef Vti__Pprof__Profile profile;

/* The key of a function; strings are ids. */
struct function {
	uint32_t name, symbol, file, start_line;
};

struct pprof {
	const struct vt_stacks *stacks;
	struct vt_output *out;
	struct vt_intern *strings; /* an id is the index in the string table; that of "" is 0 */
	uint32_t nstrings;
	struct vt_hash functions; /* struct function; the id is the index plus 1 */
	struct vt_buf text;	  /* for one string */
	struct vt_buf packed;	  /* messages that are not compressed yet */
	z_stream zip;
	bool failed; /* memory ran out */
};

/* ---- bytes ---- */

static void compress_packed(struct pprof *p, int flush)
{
	uint8_t piece[16384];

	p->zip.next_in = p->packed.data;
	p->zip.avail_in = (uInt)p->packed.size;
	do {
		p->zip.next_out = piece;
		p->zip.avail_out = sizeof(piece);
		deflate(&p->zip, flush);
		vt_output_put(p->out, piece, sizeof(piece) - p->zip.avail_out);
	} while (!p->zip.avail_out);
	p->packed.size = 0;
}

static void put_message(struct pprof *p, const profile *message)
{
	size_t size = vti__pprof__profile__get_packed_size(message);
	uint8_t *to = vt_buf_reserve(&p->packed, size);

	if (!to) {
		p->failed = true;
		return;
	}
	vti__pprof__profile__pack(message, to);
	p->packed.size += size;
	if (p->packed.size >= PIECE)
		compress_packed(p, Z_NO_FLUSH);
}

/* The id of a string, which may be any bytes: the table has only UTF-8. */
static uint32_t find_string(struct pprof *p, const char *text)
{
	uint32_t id;

	p->text.size = 0;
	vt_escape_str(&p->text, text);
	id = p->text.failed ? UINT32_MAX : vt_intern_add(p->strings, p->text.data, p->text.size);
	p->failed = p->failed || id == UINT32_MAX;
	if (!p->failed && id >= p->nstrings)
		p->nstrings = id + 1;
	return id;
}

/* ---- values ---- */

static void put_values(struct pprof *p, const char *title)
{
	const struct vt_stacks *s = p->stacks;
	Vti__Pprof__ValueType type = VTI__PPROF__VALUE_TYPE__INIT, *list = &type;
	profile m = VTI__PPROF__PROFILE__INIT;
	int64_t comment = find_string(p, title);
	size_t i;

	m.n_sample_type = 1;
	m.sample_type = &list;
	for (i = 0; i < s->nvalues; i++) {
		type.type = find_string(p, s->values[i].name);
		type.unit = find_string(p, s->values[i].unit);
		put_message(p, &m);
	}
	m = (profile)VTI__PPROF__PROFILE__INIT;
	if (s->nvalues)
		m.default_sample_type = find_string(p, s->values[0].name);
	m.n_comment = 1;
	m.comment = &comment;
	if (s->period) {
		type.type = find_string(p, s->period_name);
		type.unit = find_string(p, s->period_unit);
		m.period_type = &type;
		m.period = (int64_t)s->period;
	}
	put_message(p, &m);
}

/* ---- places ---- */

static void put_mapping(struct pprof *p, size_t image)
{
	const struct vt_stacks *s = p->stacks;
	const struct vt_stack_image *from = &s->images[image];
	Vti__Pprof__Mapping mapping = VTI__PPROF__MAPPING__INIT, *list = &mapping;
	profile m = VTI__PPROF__PROFILE__INIT;
	size_t i, k;

	m.n_mapping = 1;
	m.mapping = &list;
	mapping.id = image + 1;
	mapping.memory_start = from->start;
	mapping.memory_limit = from->limit;
	mapping.file_offset = from->offset;
	mapping.filename = find_string(p, from->path);
	mapping.build_id = find_string(p, from->buildid);
	for (i = 0; i < s->nplaces; i++) {
		const struct vt_stack_place *at = &s->places[i];

		if (at->image != image)
			continue;
		mapping.has_inline_frames |= at->nlines > 1;
		for (k = at->line; k < at->line + at->nlines; k++) {
			mapping.has_functions |= *s->lines[k].symbol != 0;
			mapping.has_filenames |= *s->lines[k].file != 0;
			mapping.has_line_numbers |= s->lines[k].line != 0;
		}
	}
	put_message(p, &m);
}

/* The image with most samples, which pprof takes for the program; the kernel only if need be. */
static size_t find_main_image(const struct vt_stacks *s)
{
	uint64_t *counts = calloc(s->nimages + 1, sizeof(*counts));
	size_t i, best = 0;

	for (i = 0; i < s->nodes.count && counts; i++) {
		const struct vt_stack_node *n = vt_stacks_node(s, i);
		const struct vt_stack_place *at = &s->places[n->place];

		if (n->parent != VT_STACK_NONE && at->image != VT_STACK_NONE &&
		    at->mode == VT_STACK_USER)
			counts[at->image] += vt_stacks_get(s, i, 0);
	}
	for (i = 1; i < s->nimages && counts; i++)
		if (counts[i] > counts[best])
			best = i;
	free(counts);
	return best;
}

static void put_mappings(struct pprof *p)
{
	size_t i, first = find_main_image(p->stacks);

	if (p->stacks->nimages)
		put_mapping(p, first);
	for (i = 0; i < p->stacks->nimages; i++)
		if (i != first)
			put_mapping(p, i);
}

/* The id of a line's function, which is written when it is new. */
static uint64_t find_function(struct pprof *p, const struct vt_stack_line *l)
{
	const struct function key = {find_string(p, l->name), find_string(p, l->symbol),
				     find_string(p, l->file), l->start_line};
	Vti__Pprof__Function function = VTI__PPROF__FUNCTION__INIT, *list = &function;
	profile m = VTI__PPROF__PROFILE__INIT;
	bool added = false;
	const struct function *f = vt_hash_add(&p->functions, &key, &added);

	if (!f) {
		p->failed = true;
		return 0;
	}
	function.id = vt_hash_index(&p->functions, f) + 1;
	if (!added)
		return function.id;
	function.name = key.name;
	function.system_name = key.symbol ? key.symbol : key.name;
	function.filename = key.file;
	function.start_line = key.start_line;
	m.n_function = 1;
	m.function = &list;
	put_message(p, &m);
	return function.id;
}

static void put_location(struct pprof *p, size_t place)
{
	const struct vt_stack_place *at = &p->stacks->places[place];
	Vti__Pprof__Location location = VTI__PPROF__LOCATION__INIT, *list = &location;
	Vti__Pprof__Line *lines = calloc(at->nlines, sizeof(*lines));
	Vti__Pprof__Line **refs = calloc(at->nlines, sizeof(Vti__Pprof__Line *));
	profile m = VTI__PPROF__PROFILE__INIT;
	uint32_t i;

	for (i = 0; i < at->nlines && lines && refs; i++) {
		const struct vt_stack_line *l = &p->stacks->lines[at->line + i];

		lines[i] = (Vti__Pprof__Line)VTI__PPROF__LINE__INIT;
		lines[i].function_id = find_function(p, l);
		lines[i].line = l->line;
		refs[i] = &lines[i];
	}
	location.id = place + 1;
	location.mapping_id = at->image == VT_STACK_NONE ? 0 : at->image + 1u;
	location.address = at->address;
	location.n_line = at->nlines;
	location.line = refs;
	m.n_location = 1;
	m.location = &list;
	if (lines && refs)
		put_message(p, &m);
	else
		p->failed = true;
	free(lines);
	free(refs);
}

/* ---- samples ---- */

#define LABELS 4

/* Fills the labels of a stack; returns their number. */
static size_t fill_labels(struct pprof *p, const struct vt_stack_label *from,
			  Vti__Pprof__Label *labels)
{
	const struct {
		const char *key;
		int64_t number;
	} numbers[] = {{"pid", from->pid}, {"tid", from->tid}, {"cpu", from->cpu}};
	size_t i, n = 0;

	for (i = 0; i < LABELS; i++)
		labels[i] = (Vti__Pprof__Label)VTI__PPROF__LABEL__INIT;
	if (*from->comm) {
		labels[n].key = find_string(p, "comm");
		labels[n++].str = find_string(p, from->comm);
	}
	for (i = 0; i < 3; i++) {
		if (numbers[i].number < 0)
			continue;
		labels[n].key = find_string(p, numbers[i].key);
		labels[n++].num = numbers[i].number;
	}
	return n;
}

/* A sample in the making, with arrays that are used again. */
struct sample {
	uint64_t *ids;
	size_t cap;
	int64_t *values;
};

static void put_sample(struct pprof *p, struct sample *s, uint32_t node)
{
	const struct vt_stack_node *n = vt_stacks_node(p->stacks, node);
	Vti__Pprof__Label labels[LABELS], *refs[LABELS];
	Vti__Pprof__Sample sample = VTI__PPROF__SAMPLE__INIT, *list = &sample;
	profile m = VTI__PPROF__PROFILE__INIT;
	size_t i;

	for (i = 0; n->parent != VT_STACK_NONE; n = vt_stacks_node(p->stacks, n->parent), i++) {
		if (!vt_array_grow(&s->ids, &s->cap, i + 1, sizeof(*s->ids))) {
			p->failed = true;
			return;
		}
		s->ids[i] = n->place + 1u;
	}
	sample.n_location_id = i;
	sample.location_id = s->ids;
	for (i = 0; i < p->stacks->nvalues; i++) {
		uint64_t v = vt_stacks_get(p->stacks, node, i);

		s->values[i] = v > INT64_MAX ? INT64_MAX : (int64_t)v;
	}
	sample.n_value = p->stacks->nvalues;
	sample.value = s->values;
	sample.n_label = fill_labels(p, &p->stacks->labels[n->place], labels);
	for (i = 0; i < sample.n_label; i++)
		refs[i] = &labels[i];
	sample.label = refs;
	m.n_sample = 1;
	m.sample = &list;
	put_message(p, &m);
}

static void put_samples(struct pprof *p)
{
	struct sample s = {.values = calloc(p->stacks->nvalues + 1, sizeof(*s.values))};
	size_t i;

	p->failed = p->failed || !s.values;
	for (i = 0; i < p->stacks->nodes.count && !p->failed; i++)
		if (vt_stacks_counted(p->stacks, i))
			put_sample(p, &s, (uint32_t)i);
	free(s.ids);
	free(s.values);
}

/* ---- all ---- */

static void put_strings(struct pprof *p)
{
	profile m = VTI__PPROF__PROFILE__INIT;
	char *text;
	uint32_t i;

	m.n_string_table = 1;
	m.string_table = &text;
	for (i = 0; i < p->nstrings; i++) {
		text = (char *)vt_intern_get(p->strings, i);
		put_message(p, &m);
	}
}

static int write_pprof(const struct vt_stacks *s, const char *title, struct vt_output *out,
		       struct vt_error *err)
{
	struct pprof p = {.stacks = s, .out = out, .strings = vt_intern_new(), .nstrings = 1};
	size_t i;

	vt_hash_init(&p.functions, sizeof(struct function), sizeof(struct function));
	/* The format of gzip; its header has no time. */
	if (!p.strings || deflateInit2(&p.zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
				       Z_DEFAULT_STRATEGY) != Z_OK) {
		vt_intern_free(p.strings);
		return vt_error_nomem(err);
	}
	put_values(&p, title);
	put_mappings(&p);
	for (i = 0; i < s->nplaces && !p.failed; i++)
		put_location(&p, i);
	put_samples(&p);
	put_strings(&p);
	compress_packed(&p, Z_FINISH);
	deflateEnd(&p.zip);
	vt_hash_fini(&p.functions);
	vt_intern_free(p.strings);
	vt_buf_free(&p.text);
	vt_buf_free(&p.packed);
	return p.failed ? vt_error_nomem(err) : 0;
}

const struct vt_export_format vti_export_pprof = {.name = "pprof",
						  .binary = true,
						  .all = true,
						  .labels = true,
						  .inlined = true,
						  .write = write_pprof};
