/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/values/conflicts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "listing/code/source.h"
#include "listing/json.h"

#define NUMBER_SIZE 24 /* digits of a META's number, and the zero */

struct conflict_pair {
	uint64_t row[VT_CONFLICT_NFIELDS];
};

struct vt_listreplay {
	struct vt_images *images;
	enum vt_syntax syntax;
	struct conflict_pair *pairs;
	size_t npairs;
	size_t cap;
	bool replayed;
	const struct vt_elf *elf; /* the image of `disasm` */
	struct vt_disasm *disasm;
	uint64_t insns;
	uint64_t accesses;
	uint64_t known;
	uint64_t relative;
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
	vt_disasm_free(l->disasm);
	free(l->pairs);
	free(l);
}

static void take_replay_meta(struct vt_listreplay *l, const struct vt_record *rec)
{
	const struct {
		const char *key;
		uint64_t *sum;
	} known[] = {{"replay.insns", &l->insns},
		     {"replay.accesses", &l->accesses},
		     {"replay.known", &l->known},
		     {"replay.relative", &l->relative}};
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	char text[NUMBER_SIZE];
	size_t i;

	l->replayed = l->replayed || vt_record_is_meta(rec, "replay.model");
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (value.size >= sizeof(text) || !vt_record_is_meta(rec, known[i].key))
			continue;
		memcpy(text, value.data, value.size);
		text[value.size] = 0;
		*known[i].sum += strtoull(text, NULL, 10);
	}
}

int vt_listreplay_feed(void *list, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_listreplay *l = list;
	unsigned f;

	if (rec->kind == VT_META)
		take_replay_meta(l, rec);
	if (rec->kind != VT_CONFLICT)
		return 0;
	if (!vt_array_grow(&l->pairs, &l->cap, l->npairs + 1, sizeof(*l->pairs)))
		return vt_error_nomem(err);
	for (f = 0; f < VT_CONFLICT_NFIELDS; f++)
		l->pairs[l->npairs].row[f] = vt_record_u64(rec, f);
	l->npairs++;
	return 0;
}

bool vt_listreplay_replayed(const struct vt_listreplay *l)
{
	return l->replayed || l->npairs;
}

/* Most samples, then highest count first; then by place and type. */
static int compare_conflicts(const void *pa, const void *pb)
{
	static const unsigned fields[] = {VT_CONFLICT_SAMPLES, VT_CONFLICT_COUNT,
					  VT_CONFLICT_IMAGE,   VT_CONFLICT_OFFSET,
					  VT_CONFLICT_TYPE,    VT_CONFLICT_EARLIER_IMAGE,
					  VT_CONFLICT_EARLIER};
	const uint64_t *a = ((const struct conflict_pair *)pa)->row,
		       *b = ((const struct conflict_pair *)pb)->row;
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint64_t x = a[fields[i]], y = b[fields[i]];

		if (x != y)
			return (x < y) == (i < 2) ? 1 : -1;
	}
	return 0;
}

/* ---- a place ---- */

/* Where an access is, as listings show it. */
struct access_place {
	const char *procedure; /* NULL: unknown, `why` is the reason */
	const char *file;      /* NULL: no line is known */
	unsigned line;
	uint64_t address;
	const char *image; /* NULL: in none */
	enum vt_unknown why;
};

static struct access_place find_access_place(struct vt_listreplay *l, uint32_t image,
					     uint64_t offset)
{
	const struct vt_image *i = vt_images_get(l->images, image);
	struct vt_location loc = {.vaddr = offset};
	struct access_place p = {.address = offset, .why = VT_UNKNOWN_NO_MAP};
	struct vt_lines *lines;
	struct vt_line line;

	if (!i)
		return p;
	p.image = i->name;
	p.why = vt_images_symbol(l->images, image, 0, offset, &loc);
	p.address = loc.vaddr;
	if (p.why == VT_KNOWN)
		p.procedure = vt_images_display(l->images, image, 0, loc.symbol);
	lines = vt_images_lines(l->images, image);
	if (lines && vt_lines_at(lines, loc.vaddr, &line) && line.line) {
		p.file = vt_source_name(line.file);
		p.line = line.line;
	}
	return p;
}

/* Returns the disassembler of an image, which is kept until another image needs one. */
static struct vt_disasm *disasm_of(struct vt_listreplay *l, const struct vt_elf *elf)
{
	const struct vt_elf_info *info = vt_elf_info(elf);
	struct vt_error ignored = VT_ERROR_INIT;

	if (l->elf != elf) {
		vt_disasm_free(l->disasm);
		l->disasm =
			vt_disasm_new(info->machine, info->bits, info->big, l->syntax, &ignored);
		l->elf = elf;
	}
	return l->disasm;
}

/* False if the code is not available.  The text is valid until the next call. */
static bool disassemble_access(struct vt_listreplay *l, uint32_t image, uint64_t vaddr,
			       struct vt_insn *insn)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(l->images, image, &why);
	size_t size = 0;
	const uint8_t *bytes = elf ? vt_elf_bytes(elf, vaddr, &size) : NULL;
	struct vt_disasm *d = bytes && size ? disasm_of(l, elf) : NULL;

	if (d)
		vt_disasm_at(d, bytes, size, vaddr, insn);
	return d != NULL;
}

static void put_access_procedure(struct vt_table *t, const struct access_place *p)
{
	if (p->procedure)
		vt_table_str(t, p->procedure);
	else if (p->image)
		vt_table_printf(t, "[%s]", vt_unknown_text(p->why));
	else
		vt_table_str(t, "?");
}

static void put_access_line(struct vt_table *t, const struct access_place *p)
{
	if (p->file)
		vt_table_printf(t, "%s:%u", p->file, p->line);
	else
		vt_table_empty(t);
}

static void put_access_image(struct vt_table *t, const struct access_place *p)
{
	if (p->image)
		vt_table_str(t, p->image);
	else
		vt_table_empty(t);
}

/* ---- for programs ---- */

/* Fills five cells: procedure, file and line, instruction, address, image. */
static void put_access_cells(struct vt_listreplay *l, struct vt_table *t, uint32_t image,
			     uint64_t offset)
{
	struct access_place p = find_access_place(l, image, offset);
	struct vt_insn insn;

	put_access_procedure(t, &p);
	put_access_line(t, &p);
	if (disassemble_access(l, image, p.address, &insn))
		vt_table_str(t, insn.text);
	else
		vt_table_empty(t);
	vt_table_number(t, p.address);
	put_access_image(t, &p);
}

static void add_program_columns(struct vt_table *t)
{
	static const struct {
		const char *key;
		enum vt_format format;
	} columns[] = {
		{"samples", VT_FORMAT_NUMBER},	    {"count", VT_FORMAT_NUMBER},
		{"per_1000", VT_FORMAT_REAL},	    {"distance", VT_FORMAT_REAL},
		{"nearest", VT_FORMAT_NUMBER},	    {"type", VT_FORMAT_TEXT},
		{"procedure", VT_FORMAT_TEXT},	    {"line", VT_FORMAT_TEXT},
		{"instruction", VT_FORMAT_TEXT},    {"address", VT_FORMAT_HEX},
		{"image", VT_FORMAT_TEXT},	    {"earlier_procedure", VT_FORMAT_TEXT},
		{"earlier_line", VT_FORMAT_TEXT},   {"earlier_instruction", VT_FORMAT_TEXT},
		{"earlier_address", VT_FORMAT_HEX}, {"earlier_image", VT_FORMAT_TEXT},
		{"executions", VT_FORMAT_NUMBER},
	};
	size_t i;

	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		vt_table_column(t, columns[i].key, NULL, columns[i].format);
}

static void add_program_row(struct vt_listreplay *l, struct vt_table *t, const uint64_t *row)
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
	put_access_cells(l, t, (uint32_t)row[VT_CONFLICT_IMAGE], row[VT_CONFLICT_OFFSET]);
	put_access_cells(l, t, (uint32_t)row[VT_CONFLICT_EARLIER_IMAGE], row[VT_CONFLICT_EARLIER]);
	vt_table_number(t, row[VT_CONFLICT_EXECUTIONS]);
}

/* ---- for people ---- */

/* A pair has two rows, to fit a terminal.  Columns without information are left out. */
struct text_layout {
	bool samples;
	bool lines;
	bool images; /* there are several */
};

static void note_access_place(struct vt_listreplay *l, struct text_layout *k, uint32_t image,
			      uint64_t offset, uint32_t first)
{
	struct access_place p = find_access_place(l, image, offset);

	k->lines = k->lines || p.file;
	k->images = k->images || image != first;
}

static struct text_layout choose_text_columns(struct vt_listreplay *l, size_t n)
{
	struct text_layout k = {.samples = false};
	size_t i;

	for (i = 0; i < n; i++) {
		const uint64_t *row = l->pairs[i].row;
		uint32_t first = (uint32_t)l->pairs[0].row[VT_CONFLICT_IMAGE];

		k.samples = k.samples || row[VT_CONFLICT_SAMPLES];
		note_access_place(l, &k, (uint32_t)row[VT_CONFLICT_IMAGE], row[VT_CONFLICT_OFFSET],
				  first);
		note_access_place(l, &k, (uint32_t)row[VT_CONFLICT_EARLIER_IMAGE],
				  row[VT_CONFLICT_EARLIER], first);
	}
	return k;
}

static void add_text_columns(struct vt_table *t, const struct text_layout *k)
{
	vt_table_column(t, "samples", k->samples ? "samples" : NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "count", "count", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "distance", "apart", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "type", "type", VT_FORMAT_RIGHT_TEXT);
	vt_table_column(t, "address", "address", VT_FORMAT_HEX);
	vt_table_column_max(t, "instruction", "instruction", VT_FORMAT_TEXT, 32);
	vt_table_column_max(t, "procedure", "procedure", VT_FORMAT_NAME, 32);
	vt_table_column_max(t, "line", k->lines ? "line" : NULL, VT_FORMAT_PATH, 24);
	vt_table_column(t, "image", k->images ? "image" : NULL, VT_FORMAT_PATH);
}

/* Puts mnemonic, one space and operands: without the alignment and comments of listings. */
static void put_access_insn(struct vt_listreplay *l, struct vt_table *t, uint32_t image,
			    uint64_t vaddr)
{
	struct vt_insn insn;
	size_t mnemonic, blanks, operands;

	if (!disassemble_access(l, image, vaddr, &insn)) {
		vt_table_empty(t);
		return;
	}
	mnemonic = strcspn(insn.text, " ");
	blanks = strspn(insn.text + mnemonic, " ");
	operands = strcspn(insn.text + mnemonic + blanks, "#");
	while (operands && insn.text[mnemonic + blanks + operands - 1] == ' ')
		operands--;
	vt_table_printf(t, "%.*s%s%.*s", (int)mnemonic, insn.text, operands ? " " : "",
			(int)operands, insn.text + mnemonic + blanks);
}

/* Fills the cells from the address on. */
static void put_text_access(struct vt_listreplay *l, struct vt_table *t, uint32_t image,
			    uint64_t offset)
{
	struct access_place p = find_access_place(l, image, offset);

	vt_table_number(t, p.address);
	put_access_insn(l, t, image, p.address);
	put_access_procedure(t, &p);
	put_access_line(t, &p);
	put_access_image(t, &p);
}

static void add_text_rows(struct vt_listreplay *l, struct vt_table *t, const uint64_t *row)
{
	uint64_t count = row[VT_CONFLICT_COUNT];
	double apart = count ? (double)row[VT_CONFLICT_DISTANCE] / (double)count : 0;

	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, row[VT_CONFLICT_SAMPLES]);
	vt_table_printf(t, "%" PRIu64, count);
	vt_table_printf(t, "%.*f", apart < 10 ? 1 : 0, apart);
	vt_table_str(t, vt_conflict_name(row[VT_CONFLICT_TYPE]));
	put_text_access(l, t, (uint32_t)row[VT_CONFLICT_IMAGE], row[VT_CONFLICT_OFFSET]);
	vt_table_row(t, VT_STYLE_FAINT);
	vt_table_empty(t);
	vt_table_printf(t, "of %" PRIu64, row[VT_CONFLICT_EXECUTIONS]);
	vt_table_printf(t, "from %" PRIu64, row[VT_CONFLICT_NEAREST]);
	vt_table_str(t, "after");
	put_text_access(l, t, (uint32_t)row[VT_CONFLICT_EARLIER_IMAGE], row[VT_CONFLICT_EARLIER]);
}

size_t vt_listreplay_fill(struct vt_listreplay *l, struct vt_table *t, uint64_t top, bool people)
{
	size_t n = top && top < l->npairs ? (size_t)top : l->npairs, i;
	struct text_layout k;

	if (l->npairs)
		qsort(l->pairs, l->npairs, sizeof(*l->pairs), compare_conflicts);
	if (people) {
		k = choose_text_columns(l, n);
		add_text_columns(t, &k);
	} else {
		add_program_columns(t);
	}
	for (i = 0; i < n; i++)
		(people ? add_text_rows : add_program_row)(l, t, l->pairs[i].row);
	return l->npairs - n;
}

void vt_listreplay_header(const struct vt_listreplay *l, struct vt_output *out)
{
	vt_output_printf(out, "%zu pair%s of accesses that may conflict", l->npairs,
			 l->npairs == 1 ? "" : "s");
	if (l->insns)
		vt_output_printf(out, ", in %" PRIu64 " instructions", l->insns);
	if (l->accesses)
		vt_output_printf(out, ";\n%.2f%% of %" PRIu64 " accesses had known addresses",
				 100.0 * (double)l->known / (double)l->accesses, l->accesses);
	if (l->accesses && l->relative)
		vt_output_printf(out, ", %.2f%% relative to a register",
				 100.0 * (double)l->relative / (double)l->accesses);
	vt_output_text(out, "\n\n");
	if (l->npairs)
		vt_output_text(out, "Above is the later access, below the earlier one: how often "
				    "they met, of how\nmany executions; how many instructions "
				    "apart, on the mean and at least.\n\n");
}

int vt_listreplay_print(struct vt_listreplay *l, uint64_t top, const struct vt_losses *losses,
			enum vt_table_form form, bool color, struct vt_output *out,
			struct vt_error *err)
{
	bool people = !losses && form == VT_TABLE_TEXT;
	struct vt_table *t = vt_table_new();
	size_t left_out;
	int code = 0;

	if (!t)
		return vt_error_nomem(err);
	left_out = vt_listreplay_fill(l, t, top, people);
	if (losses) {
		json_t *v = vt_json_doc("vlist-replay/1");

		vt_json_losses(v, losses);
		json_object_set_new(v, "pairs", vt_json_table(t));
		json_object_set_new(v, "pairs_left_out", vt_json_u64(left_out));
		vt_json_write(out, v, true);
	} else {
		if (people)
			vt_listreplay_header(l, out);
		code = vt_table_print(t, out, form, color, err);
		if (left_out && people)
			vt_output_printf(out, "(%zu more pairs)\n", left_out);
	}
	vt_table_free(t);
	return code;
}

/* ---- what a replay looked at ---- */

const char *vt_replay_remedy(enum vt_replay_source source)
{
	switch (source) {
	case VT_REPLAY_NOTHING:
		return "neither executed code (vtrace record --full --mem) nor samples with "
		       "registers (vtrace record --regs)";
	case VT_REPLAY_SAMPLES:
		return "no address of any access is known behind the samples: vinterp --summary "
		       "says how far they were interpreted";
	case VT_REPLAY_PATH:
		return "no address of any access is known along the path: vtrace record --full "
		       "--mem records them";
	default:
		return "no address of any access of memory is known: vtrace record --full --mem "
		       "records them";
	}
}

static const char *source_name(const struct vt_replay *rp)
{
	static const char *const names[] = {
		[VT_REPLAY_NOTHING] = "nothing",
		[VT_REPLAY_RECORDED] = "recorded addresses",
		[VT_REPLAY_PATH] = "the path, interpreted",
		[VT_REPLAY_SAMPLES] = "samples, interpreted",
	};

	return names[vt_replay_source(rp)];
}

static json_t *make_replay_totals(const struct vt_replay *rp, const struct vt_conflict_model *model,
				  const struct vt_losses *losses)
{
	const struct vt_replay_totals *t = vt_replay_totals(rp);
	json_t *v = vt_json_doc("vreplay/1");

	vt_json_losses(v, losses);
	json_object_set_new(v, "from", json_string(source_name(rp)));
	json_object_set_new(v, "model", json_string(model->name));
	json_object_set_new(v, "distance", vt_json_u64(model->distance));
	json_object_set_new(v, "runs", vt_json_u64(t->of.runs));
	json_object_set_new(v, "instructions", vt_json_u64(t->of.insns));
	json_object_set_new(v, "accesses", vt_json_u64(t->of.accesses));
	json_object_set_new(v, "known", vt_json_u64(t->of.known));
	json_object_set_new(v, "relative", vt_json_u64(t->of.relative));
	json_object_set_new(v, "apart", vt_json_u64(t->of.apart));
	json_object_set_new(v, "dependent", vt_json_u64(t->of.ruled_out));
	json_object_set_new(v, "samples", vt_json_u64(t->samples));
	return v;
}

static void print_replay_totals(const struct vt_replay *rp, const struct vt_conflict_model *model,
				struct vt_output *out)
{
	const struct vt_replay_totals *t = vt_replay_totals(rp);

	vt_output_printf(out, "from          %s\n", source_name(rp));
	vt_output_printf(out, "model         %s, %u instructions apart at most\n", model->name,
			 model->distance);
	vt_output_printf(out, "instructions  %" PRIu64 " in %" PRIu64 " runs\n", t->of.insns,
			 t->of.runs);
	vt_output_printf(out, "accesses      %" PRIu64, t->of.accesses);
	if (t->of.accesses)
		vt_output_printf(out, ", %.2f%% of them with known addresses",
				 100.0 * (double)t->of.known / (double)t->of.accesses);
	if (t->of.relative)
		vt_output_printf(out, ",\n              %.2f%% relative to an unknown register",
				 100.0 * (double)t->of.relative / (double)t->of.accesses);
	vt_output_printf(out, "\nleft out      %" PRIu64 " repeated, wide or locked accesses\n",
			 t->of.apart);
	vt_output_printf(out, "ruled out     %" PRIu64 " times, as one depends on the other\n",
			 t->of.ruled_out);
	vt_output_printf(out, "samples       %" PRIu64 "\n\n", t->samples);
}

static struct vt_table *make_conflict_types(const struct vt_replay *rp,
					    const struct vt_conflict_model *model)
{
	const struct vt_replay_totals *t = vt_replay_totals(rp);
	struct vt_table *table = vt_table_new();
	uint32_t type;

	if (!table)
		return NULL;
	vt_table_column(table, "type", "type", VT_FORMAT_TEXT);
	vt_table_column(table, "pairs", "pairs", VT_FORMAT_NUMBER);
	vt_table_column(table, "count", "times met", VT_FORMAT_NUMBER);
	for (type = 1; type < VT_NCONFLICTS; type++) {
		if (!(model->types & 1u << type))
			continue;
		vt_table_row(table, VT_STYLE_PLAIN);
		vt_table_str(table, vt_conflict_name(type));
		vt_table_number(table, t->pairs[type]);
		vt_table_number(table, t->met[type]);
	}
	return table;
}

int vt_replay_summarize(const struct vt_replay *rp, const struct vt_conflict_model *model,
			const struct vt_losses *losses, struct vt_output *out, struct vt_error *err)
{
	struct vt_table *t = make_conflict_types(rp, model);
	int code = 0;

	if (!t)
		return vt_error_nomem(err);
	if (losses) {
		json_t *v = make_replay_totals(rp, model, losses);

		json_object_set_new(v, "types", vt_json_table(t));
		vt_json_write(out, v, true);
	} else {
		print_replay_totals(rp, model, out);
		code = vt_table_print(t, out, VT_TABLE_TEXT, false, err);
	}
	vt_table_free(t);
	return code;
}
