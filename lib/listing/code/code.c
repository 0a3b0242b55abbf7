/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "image/demangle.h"
#include "listing/code/internal.h"

/* The walk over a procedure's code. */
struct code_walk {
	struct vt_listing *l;
	const struct vt_listing_options *opt;
	const struct vt_elf *elf;
	struct vt_symbols *symbols;
	struct vt_lines *lines;
	struct vt_disasm *disasm;
	bool x86;	   /* what it disassembles */
	bool recorded;	   /* code that no file has was found in the stream */
	bool uncoded;	   /* there was an address without code */
	size_t point;	   /* the next whose samples have no row yet */
	const char *place; /* text of the last PLACE row */
	const char *file;  /* of the last LINE row */
	unsigned line;
	const char *function;	/* at the address last looked up, for people */
	const char *raw;	/* the last function's name as the DWARF has it */
	const char *shown;	/* and for people: demangling takes time */
	const char *raw_caller; /* the same of what it was last inlined into */
	const char *shown_caller;
};

static const char *keep_readable_name(struct vt_listing *l, const char *function)
{
	struct vt_buf b = VT_BUF_INIT;

	if (!vt_demangle(&b, function, false))
		vt_buf_put(&b, function, strlen(function));
	return vti_listing_keep(l, &b);
}

/* ---- source between the code ---- */

static void put_place_row(struct code_walk *w, const struct vt_frame *frames, size_t n,
			  const char *file)
{
	struct vt_listing *l = w->l;
	struct vt_buf b = VT_BUF_INIT;
	const char *caller = "", *text;
	struct vt_list_row *row;

	if (n)
		vt_buf_printf(&b, "%s", w->function);
	if (n > 1) {
		if (frames[1].function != w->raw_caller) {
			w->raw_caller = frames[1].function;
			w->shown_caller = keep_readable_name(l, w->raw_caller);
		}
		caller = w->shown_caller;
		vt_buf_printf(&b, ", inlined into %s", caller);
		if (frames[1].line)
			vt_buf_printf(&b, " at %s:%u", frames[1].file, frames[1].line);
	}
	vt_buf_printf(&b, "%s(%s)", b.size ? "  " : "", file);
	text = vti_listing_text(l, b.data, b.size);
	if (text != w->place) {
		row = vti_listing_row(l, VT_ROW_PLACE);
		row->file = vti_listing_text(l, file, strlen(file));
		row->function = w->function;
		row->caller = caller;
		row->text = text;
		row->text_size = b.size;
		w->place = text;
		w->line = 0;
	}
	vt_buf_free(&b);
}

/* Finds function and line of an address; where they change, rows say so. */
static void put_source_rows(struct code_walk *w, uint64_t vaddr, struct vt_line *line)
{
	struct vt_frame frames[VT_MAX_INLINE];
	bool mixed = w->opt->view == VT_LIST_MIXED;
	size_t n;

	*line = (struct vt_line){.file = ""};
	w->function = "";
	if (!w->lines || !vt_lines_at(w->lines, vaddr, line))
		return;
	line->file = vti_listing_text(w->l, line->file, strlen(line->file));
	n = vt_lines_frames(w->lines, vaddr, frames, VT_MAX_INLINE);
	if (n && frames[0].function != w->raw) {
		w->raw = frames[0].function;
		w->shown = keep_readable_name(w->l, w->raw);
	}
	if (n)
		w->function = w->shown;
	if (!mixed || !line->line)
		return;
	put_place_row(w, frames, n, line->file);
	if (line->line != w->line || line->file != w->file) {
		vti_listing_line(w->l, w->opt->sources, line->file, line->line, NULL);
		w->line = line->line;
		w->file = line->file;
	}
}

/* ---- code ---- */

static struct vt_list_row *put_code_row(struct code_walk *w, enum vt_list_kind kind, uint64_t vaddr,
					const struct vt_line *line, const char *text, size_t size)
{
	struct vt_list_row *row;

	text = vti_listing_text(w->l, text, size);
	row = vti_listing_row(w->l, kind);
	row->address = vaddr;
	row->file = line->file;
	row->line = line->line;
	row->function = w->function;
	row->text = text;
	row->text_size = size;
	return row;
}

/* The bytes at an address, and how many of them belong to the procedure. */
static const uint8_t *procedure_code_at(const struct code_walk *w, uint64_t vaddr, size_t *size)
{
	const uint8_t *bytes = w->elf && w->disasm ? vt_elf_bytes(w->elf, vaddr, size) : NULL;

	if (bytes && w->l->proc.end && *size > w->l->proc.end - vaddr)
		*size = (size_t)(w->l->proc.end - vaddr);
	return bytes && *size ? bytes : NULL;
}

/* The hot lists of an instruction whose bytes are these, or are not known. */
static void put_value_rows(struct code_walk *w, const struct vti_point *point, const uint8_t *bytes,
			   size_t size)
{
	if (w->l->values && point->nlists)
		vti_listing_values(w->l, point, w->x86 ? bytes : NULL, size);
}

/*
 * The instruction at an address of the file, and the text of its row: what ran where a recording
 * has that, or else what the file has.  Where they differ, or may differ, that is said.
 */
static const uint8_t *disassemble_insn(struct code_walk *w, uint64_t vaddr, const uint8_t *bytes,
				       size_t *size, struct vt_insn *insn, struct vt_buf *text)
{
	const struct vt_blockcode *code = w->opt->code;
	uint32_t image = w->l->proc.image;
	uint64_t offset = 0;
	bool placed = vt_images_offset(w->l->images, image, vaddr, &offset);
	const uint8_t *ran = NULL;
	size_t length = 0;

	if (placed && code)
		ran = vt_blockcode_at(code, image, offset, &length);
	if (ran) {
		vt_disasm_at(w->disasm, ran, length, vaddr, insn);
		vt_buf_printf(text, "%s", insn->text);
		if (length > *size || memcmp(ran, bytes, length) != 0 ||
		    vt_blockcode_varies(code, image, offset))
			vt_buf_printf(text, "  [patched at run time]");
		*size = length;
		return ran;
	}
	vt_disasm_at(w->disasm, bytes, *size, vaddr, insn);
	if (!placed || !vt_images_is_patched(w->l->images, image, offset)) {
		vt_buf_printf(text, "%s", insn->text);
		return bytes;
	}
	vt_buf_printf(text, "[perhaps patched at run time; in the file: %s]", insn->text);
	return NULL;
}

/* The instruction at a point that no instruction before it leads to, and its text. */
static const uint8_t *disassemble_point(struct code_walk *w, const struct vti_point *point,
					size_t *size, struct vt_insn *insn, struct vt_buf *text)
{
	const struct vt_image *image = w->l->image;
	const uint8_t *bytes = NULL;
	uint32_t id = w->l->proc.image;

	if (!w->l->proc.symbol)
		bytes = procedure_code_at(w, point->vaddr, size);
	if (bytes)
		return disassemble_insn(w, point->vaddr, bytes, size, insn, text);
	if (image && image->type == VT_IMAGE_ANON)
		id = VT_UNMAPPED_IMAGE;
	if (w->opt->code && w->disasm)
		bytes = vt_blockcode_at(w->opt->code, id, point->offset, size);
	w->recorded = w->recorded || bytes;
	w->uncoded = w->uncoded || !bytes;
	if (!bytes)
		return NULL;
	vt_disasm_at(w->disasm, bytes, *size, point->vaddr, insn);
	vt_buf_printf(text, "%s", insn->text);
	return bytes;
}

/* What is said of an address without code. */
static void put_missing_reason(const struct code_walk *w, uint64_t vaddr, struct vt_buf *text)
{
	const struct vt_procedure *proc = &w->l->proc;

	if (!proc->symbol)
		vt_buf_printf(text, "[%s]", vt_unknown_text(proc->why));
	else if (w->l->missing)
		vt_buf_printf(text, "%s+0x%" PRIx64, proc->name, vaddr - proc->start);
	else
		vt_buf_printf(text, "[not the start of an instruction]");
}

/* A row for the samples at an address without code before it. */
static void put_point_row(struct code_walk *w, const struct vti_point *point)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vt_insn insn = {0};
	struct vt_list_row *row;
	struct vt_line line;
	size_t size = 0;
	const uint8_t *bytes = disassemble_point(w, point, &size, &insn, &b);
	enum vt_list_kind kind = b.size ? VT_ROW_INSTRUCTION : VT_ROW_RAW;

	put_source_rows(w, point->vaddr, &line);
	if (!b.size)
		put_missing_reason(w, point->vaddr, &b);
	row = put_code_row(w, w->l->proc.symbol && !w->l->missing ? VT_ROW_INSIDE : kind,
			   point->vaddr, &line, vt_buf_str(&b), b.size);
	row->type = insn.type;
	row->size = insn.size;
	row->tallies = point->tallies;
	vt_buf_free(&b);
	put_value_rows(w, point, bytes, size);
}

static void put_points_below(struct code_walk *w, uint64_t vaddr)
{
	while (w->point < w->l->npoints && w->l->points[w->point].vaddr < vaddr)
		put_point_row(w, &w->l->points[w->point++]);
}

static void walk_code(struct code_walk *w)
{
	uint64_t vaddr = w->l->proc.start;
	struct vt_buf text = VT_BUF_INIT;

	while (vaddr < w->l->proc.end && !w->l->failed) {
		struct vt_list_row *row;
		struct vt_insn insn;
		struct vt_line line;
		size_t size = 0;
		const uint8_t *bytes = procedure_code_at(w, vaddr, &size);

		if (!bytes)
			break;
		text.size = 0;
		bytes = disassemble_insn(w, vaddr, bytes, &size, &insn, &text);
		put_source_rows(w, vaddr, &line);
		row = put_code_row(w, VT_ROW_INSTRUCTION, vaddr, &line, vt_buf_str(&text),
				   text.size);
		row->type = insn.type;
		row->size = insn.size;
		if (w->point < w->l->npoints && w->l->points[w->point].vaddr == vaddr) {
			const struct vti_point *point = &w->l->points[w->point++];

			row->tallies = point->tallies;
			put_value_rows(w, point, bytes, size);
		}
		vaddr += insn.size;
		put_points_below(w, vaddr);
	}
	vt_buf_free(&text);
	if (vaddr == w->l->proc.start && w->l->proc.symbol)
		w->l->missing = "its code is not in the file";
}

static void open_code(struct code_walk *w)
{
	struct vt_listing *l = w->l;
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_elf_info *info;
	enum vt_unknown why = VT_KNOWN;

	if (l->proc.image == VT_UNMAPPED_IMAGE)
		why = VT_UNKNOWN_NO_MAP;
	else
		w->elf = vt_images_elf(l->images, l->proc.image, &why);
	if (!w->elf) {
		if (l->image && l->image->type == VT_IMAGE_ANON)
			why = VT_UNKNOWN_NO_JIT_MAP;
		l->missing = vt_unknown_text(why);
		/* Blocks are recorded on x86-64 only. */
		if (w->opt->code) {
			w->x86 = true;
			w->disasm = vt_disasm_new(EM_X86_64, 64, false, w->opt->syntax, &err);
		}
		return;
	}
	info = vt_elf_info(w->elf);
	w->x86 = info->machine == EM_X86_64 && info->bits == 64;
	w->disasm = vt_disasm_new(info->machine, info->bits, info->big, w->opt->syntax, &err);
	if (!w->disasm)
		l->missing = "no disassembler for this machine";
	else if (w->symbols)
		vt_disasm_set_symbols(w->disasm, vt_disasm_name_symbol, w->symbols);
}

void vti_listing_code(struct vt_listing *l, const struct vt_listing_options *opt)
{
	struct code_walk w = {.l = l, .opt = opt, .place = "", .file = "", .function = ""};
	enum vt_unknown why;

	if (l->proc.image != VT_UNMAPPED_IMAGE) {
		w.symbols = vt_images_symbols(l->images, l->proc.image, l->proc.pid, &why);
		w.lines = vt_images_lines(l->images, l->proc.image);
	}
	open_code(&w);
	if (w.elf && w.disasm && l->proc.symbol)
		walk_code(&w);
	put_points_below(&w, UINT64_MAX);
	if (w.point < l->npoints)
		put_point_row(&w, &l->points[w.point]);
	if (w.recorded && !w.uncoded)
		l->missing = NULL;
	vt_disasm_free(w.disasm);
}
