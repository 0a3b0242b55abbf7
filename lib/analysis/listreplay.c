/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/listreplay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "image/lines.h"

#define NUMBER_SIZE 24 /* digits of a META's number, and the zero */

struct pair {
	uint64_t row[VT_CONFLICT_NFIELDS];
};

struct vt_listreplay {
	struct vt_images *images;
	enum vt_syntax syntax;
	struct pair *pairs;
	size_t npairs;
	size_t cap;
	uint64_t insns;
	uint64_t accesses;
	uint64_t known;
};

struct vt_listreplay *vt_listreplay_new(struct vt_images *images, enum vt_syntax syntax)
{
	struct vt_listreplay *l = calloc(1, sizeof(*l));

	if (l) {
		l->images = images;
		l->syntax = syntax;
	}
	return l;
}

void vt_listreplay_free(struct vt_listreplay *l)
{
	if (!l)
		return;
	free(l->pairs);
	free(l);
}

static void take_meta(struct vt_listreplay *l, const struct vt_record *rec)
{
	const struct {
		const char *key;
		uint64_t *sum;
	} known[] = {{"replay.insns", &l->insns},
		     {"replay.accesses", &l->accesses},
		     {"replay.known", &l->known}};
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	char text[NUMBER_SIZE];
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (key.size != strlen(known[i].key) || value.size >= sizeof(text) ||
		    memcmp(key.data, known[i].key, key.size) != 0)
			continue;
		memcpy(text, value.data, value.size);
		text[value.size] = 0;
		*known[i].sum += strtoull(text, NULL, 10);
	}
}

int vt_listreplay_feed(struct vt_listreplay *l, const struct vt_record *rec, struct vt_error *err)
{
	unsigned f;

	if (rec->kind == VT_META)
		take_meta(l, rec);
	if (rec->kind != VT_CONFLICT)
		return 0;
	if (!vt_array_grow(&l->pairs, &l->cap, l->npairs + 1, sizeof(*l->pairs)))
		return vt_error_set(err, VT_E_NOMEM, "out of memory");
	for (f = 0; f < VT_CONFLICT_NFIELDS; f++)
		l->pairs[l->npairs].row[f] = vt_record_u64(rec, f);
	l->npairs++;
	return 0;
}

/* Samples and counts downwards, then places and types upwards. */
static int compare(const void *pa, const void *pb)
{
	static const unsigned fields[] = {VT_CONFLICT_SAMPLES, VT_CONFLICT_COUNT,
					  VT_CONFLICT_IMAGE,   VT_CONFLICT_OFFSET,
					  VT_CONFLICT_TYPE,    VT_CONFLICT_EARLIER_IMAGE,
					  VT_CONFLICT_EARLIER};
	const uint64_t *a = ((const struct pair *)pa)->row, *b = ((const struct pair *)pb)->row;
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint64_t x = a[fields[i]], y = b[fields[i]];

		if (x != y)
			return (x < y) == (i < 2) ? 1 : -1;
	}
	return 0;
}

/* ---- a place ---- */

static void put_insn(struct vt_listreplay *l, struct vt_table *t, uint32_t image, uint64_t vaddr)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(l->images, image, &why);
	struct vt_error ignored = VT_ERROR_INIT;
	const struct vt_elf_info *info = elf ? vt_elf_info(elf) : NULL;
	size_t size = 0;
	const uint8_t *bytes = elf ? vt_elf_bytes(elf, vaddr, &size) : NULL;
	struct vt_disasm *d = bytes && size ? vt_disasm_new(info->machine, info->bits, info->big,
							    l->syntax, &ignored)
					    : NULL;
	struct vt_insn insn;

	if (!d) {
		vt_table_empty(t);
		return;
	}
	vt_disasm_at(d, bytes, size, vaddr, &insn);
	vt_table_str(t, insn.text);
	vt_disasm_free(d);
}

/* Five cells: procedure, file and line, instruction, address, image. */
static void put_place(struct vt_listreplay *l, struct vt_table *t, uint32_t image, uint64_t offset)
{
	const struct vt_image *i = vt_images_get(l->images, image);
	struct vt_location loc = {.vaddr = offset};
	struct vt_lines *lines;
	struct vt_line line;

	if (!i) {
		vt_table_str(t, "?");
		vt_table_empty(t);
		vt_table_empty(t);
		vt_table_number(t, offset);
		vt_table_empty(t);
		return;
	}
	if (vt_images_symbol(l->images, image, 0, offset, &loc) == VT_KNOWN)
		vt_table_str(t, vt_images_display(l->images, image, 0, loc.symbol));
	else
		vt_table_printf(t, "[%s]", vt_unknown_text(loc.why));
	lines = vt_images_lines(l->images, image);
	if (lines && vt_lines_at(lines, loc.vaddr, &line) && line.line) {
		const char *name = strrchr(line.file, '/');

		vt_table_printf(t, "%s:%u", name ? name + 1 : line.file, line.line);
	} else {
		vt_table_empty(t);
	}
	put_insn(l, t, image, loc.vaddr);
	vt_table_number(t, loc.vaddr);
	vt_table_str(t, i->name);
}

static void add_columns(struct vt_table *t)
{
	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "count", "count", VT_FORMAT_NUMBER);
	vt_table_column(t, "per_1000", "per 1000", VT_FORMAT_REAL);
	vt_table_column(t, "distance", "apart", VT_FORMAT_REAL);
	vt_table_column(t, "nearest", "nearest", VT_FORMAT_NUMBER);
	vt_table_column(t, "type", "type", VT_FORMAT_TEXT);
	vt_table_column_max(t, "procedure", "later", VT_FORMAT_TEXT, 32);
	vt_table_column_max(t, "line", "line", VT_FORMAT_TEXT, 24);
	vt_table_column_max(t, "instruction", "instruction", VT_FORMAT_TEXT, 36);
	vt_table_column(t, "address", "address", VT_FORMAT_HEX);
	vt_table_column(t, "image", NULL, VT_FORMAT_TEXT);
	vt_table_column_max(t, "earlier_procedure", "earlier", VT_FORMAT_TEXT, 32);
	vt_table_column_max(t, "earlier_line", "line", VT_FORMAT_TEXT, 24);
	vt_table_column_max(t, "earlier_instruction", "instruction", VT_FORMAT_TEXT, 36);
	vt_table_column(t, "earlier_address", "address", VT_FORMAT_HEX);
	vt_table_column(t, "earlier_image", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "executions", NULL, VT_FORMAT_NUMBER);
}

static void add_row(struct vt_listreplay *l, struct vt_table *t, const uint64_t *row)
{
	double count = (double)row[VT_CONFLICT_COUNT];
	double executions = (double)row[VT_CONFLICT_EXECUTIONS];

	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, row[VT_CONFLICT_SAMPLES]);
	vt_table_number(t, row[VT_CONFLICT_COUNT]);
	if (row[VT_CONFLICT_EXECUTIONS])
		vt_table_real(t, 1000 * count / executions);
	else
		vt_table_empty(t);
	if (row[VT_CONFLICT_COUNT])
		vt_table_real(t, (double)row[VT_CONFLICT_DISTANCE] / count);
	else
		vt_table_empty(t);
	vt_table_number(t, row[VT_CONFLICT_NEAREST]);
	vt_table_str(t, vt_conflict_name(row[VT_CONFLICT_TYPE]));
	put_place(l, t, (uint32_t)row[VT_CONFLICT_IMAGE], row[VT_CONFLICT_OFFSET]);
	put_place(l, t, (uint32_t)row[VT_CONFLICT_EARLIER_IMAGE], row[VT_CONFLICT_EARLIER]);
	vt_table_number(t, row[VT_CONFLICT_EXECUTIONS]);
}

size_t vt_listreplay_fill(struct vt_listreplay *l, struct vt_table *t, uint64_t top)
{
	size_t i;

	if (l->npairs)
		qsort(l->pairs, l->npairs, sizeof(*l->pairs), compare);
	add_columns(t);
	for (i = 0; i < l->npairs && (!top || i < top); i++)
		add_row(l, t, l->pairs[i].row);
	return l->npairs;
}

void vt_listreplay_header(const struct vt_listreplay *l, struct vt_output *out)
{
	vt_output_printf(out, "%zu pairs of accesses that may conflict", l->npairs);
	if (l->insns)
		vt_output_printf(out, ", in %" PRIu64 " instructions", l->insns);
	if (l->accesses)
		vt_output_printf(out, "; %.2f%% of %" PRIu64 " accesses had known addresses",
				 100.0 * (double)l->known / (double)l->accesses, l->accesses);
	vt_output_text(out, "\n\n");
}
