/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/stream/places.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/pattern.h"
#include "image/disasm.h"
#include "image/lines.h"
#include "stream/kinds.h"

/* A text that is kept: its position in the texts, plus 1; 0: not looked up yet. */
typedef uint32_t kept_text;

struct vt_spot {
	uint64_t offset; /* in the image; 0 in VT_UNMAPPED_IMAGE */
	uint32_t image;
	int32_t pid; /* of anonymous code, else 0; the last of the key */
	struct vt_location at;
	const char *procedure;
	kept_text path, line, insn;
	bool located;
};

/* A disassembler for one machine. */
struct machine {
	unsigned number, bits;
	bool big;
	struct vt_disasm *disasm; /* NULL: there is none for it */
};

#define MACHINES 4

struct vt_places {
	struct vt_context *context;
	struct vt_images *images;
	struct vt_hash spots;
	struct vt_buf texts;
	struct machine machines[MACHINES];
	unsigned nmachines;
	struct {
		struct vt_map map;
		uint64_t mode;
		int32_t pid;
		bool known;
	} last; /* the last mapping that was found */
};

struct vt_places *vt_places_new(struct vt_context *context)
{
	struct vt_places *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->context = context;
	p->images = vt_context_images(context);
	vt_hash_init(&p->spots, sizeof(struct vt_spot), offsetof(struct vt_spot, at));
	return p;
}

static void free_machines(struct vt_places *p)
{
	while (p->nmachines)
		vt_disasm_free(p->machines[--p->nmachines].disasm);
}

void vt_places_free(struct vt_places *p)
{
	if (!p)
		return;
	free_machines(p);
	vt_hash_fini(&p->spots);
	vt_buf_free(&p->texts);
	free(p);
}

static void forget_places(struct vt_places *p)
{
	vt_hash_clear(&p->spots);
	p->texts.size = 0;
}

void vt_places_feed(struct vt_places *p, const struct vt_record *rec)
{
	switch (rec->kind) {
	case VT_IMAGE:
	case VT_KSYMBOL: /* names of an image that is replaced are gone */
		forget_places(p);
		p->last.known = false;
		break;
	case VT_MAP:
	case VT_THREAD:
		p->last.known = false;
		break;
	default:
		break;
	}
}

/* ---- finding ---- */

static const struct vt_map *find_place_map(struct vt_places *p, int32_t pid, uint64_t address,
					   uint64_t mode)
{
	const struct vt_map *m;

	if (p->last.known && p->last.mode == mode && p->last.pid == pid &&
	    address >= p->last.map.start && address < p->last.map.end)
		return &p->last.map;
	m = vt_addrspace_find(vt_context_space(p->context), pid, address, mode);
	p->last.known = m != NULL;
	if (m) {
		p->last.map = *m;
		p->last.mode = mode;
		p->last.pid = pid;
	}
	return m;
}

struct vt_spot *vt_places_find(struct vt_places *p, int32_t pid, uint64_t address, uint64_t mode)
{
	const struct vt_map *m = find_place_map(p, pid, address, mode);
	struct vt_spot key = {.image = VT_UNMAPPED_IMAGE};

	if (m) {
		key.image = m->image;
		key.offset = vt_map_offset(m, address);
		key.pid = m->type == VT_IMAGE_ANON ? pid : 0;
	}
	if (p->spots.count >= VT_PLACES_MAX || p->texts.size >= VT_PLACES_TEXT)
		forget_places(p);
	return vt_hash_add(&p->spots, &key, NULL);
}

/* Begins a text, which keep_text() ends; both are at the end of the texts. */
static size_t begin_text(struct vt_places *p)
{
	return p->texts.size;
}

static kept_text keep_text(struct vt_places *p, size_t start)
{
	vt_buf_put_u8(&p->texts, '\0');
	if (!p->texts.failed)
		return (kept_text)start + 1;
	/* Without memory, there are no names: the caller's own buffer fails as well, or nothing. */
	p->texts.size = start;
	p->texts.failed = false;
	return 0;
}

static const char *text_at(const struct vt_places *p, kept_text t)
{
	return t ? (const char *)p->texts.data + t - 1 : "";
}

/* ---- procedures and images ---- */

static void locate_spot(struct vt_places *p, struct vt_spot *s)
{
	if (s->located)
		return;
	s->located = true;
	s->procedure = "";
	if (s->image == VT_UNMAPPED_IMAGE)
		return;
	vt_images_symbol(p->images, s->image, s->pid, s->offset, &s->at);
	if (s->at.symbol)
		s->procedure = vt_images_display(p->images, s->image, s->pid, s->at.symbol);
}

const char *vt_places_procedure(struct vt_places *p, struct vt_spot *s, uint64_t *offset)
{
	locate_spot(p, s);
	*offset = s->at.symbol ? s->at.vaddr - s->at.symbol->start : 0;
	return s->procedure;
}

const char *vt_places_image(struct vt_places *p, struct vt_spot *s)
{
	const struct vt_image *image;
	size_t start;

	if (s->path)
		return text_at(p, s->path);
	image = s->image == VT_UNMAPPED_IMAGE ? NULL : vt_images_get(p->images, s->image);
	start = begin_text(p);
	if (image && (image->type == VT_IMAGE_KERNEL || !*image->path))
		vt_buf_put(&p->texts, image->name, strlen(image->name));
	else if (image)
		vt_buf_put(&p->texts, image->path, strlen(image->path));
	s->path = keep_text(p, start);
	return text_at(p, s->path);
}

/* ---- lines ---- */

const char *vt_places_line(struct vt_places *p, struct vt_spot *s)
{
	struct vt_lines *lines;
	struct vt_line line;
	const char *slash;
	size_t start;

	if (s->line)
		return text_at(p, s->line);
	locate_spot(p, s);
	lines = s->image == VT_UNMAPPED_IMAGE ? NULL : vt_images_lines(p->images, s->image);
	start = begin_text(p);
	if (lines && vt_lines_at(lines, s->at.vaddr, &line)) {
		slash = strrchr(line.file, '/');
		vt_buf_printf(&p->texts, "%s:%u", slash ? slash + 1 : line.file, line.line);
	}
	s->line = keep_text(p, start);
	return text_at(p, s->line);
}

/* ---- instructions ---- */

static struct vt_disasm *find_machine(struct vt_places *p, unsigned number, unsigned bits, bool big)
{
	struct vt_error ignored = VT_ERROR_INIT;
	struct machine *m;
	unsigned i;

	for (i = 0; i < p->nmachines; i++) {
		m = &p->machines[i];
		if (m->number == number && m->bits == bits && m->big == big)
			return m->disasm;
	}
	if (p->nmachines == MACHINES)
		free_machines(p);
	m = &p->machines[p->nmachines++];
	*m = (struct machine){number, bits, big,
			      vt_disasm_new(number, bits, big, VT_SYNTAX_ATT, &ignored)};
	return m->disasm;
}

static void put_instruction(struct vt_places *p, struct vt_spot *s, struct vt_disasm *d,
			    const uint8_t *bytes, size_t size, uint64_t vaddr)
{
	enum vt_unknown why;
	struct vt_insn insn;

	vt_disasm_set_symbols(d, vt_disasm_name_symbol,
			      s->image == VT_UNMAPPED_IMAGE
				      ? NULL
				      : vt_images_symbols(p->images, s->image, s->pid, &why));
	vt_disasm_at(d, bytes, size, vaddr, &insn);
	vt_buf_put(&p->texts, insn.text, strlen(insn.text));
}

/* Longer than any instruction. */
#define CODE_SIZE 16

const char *vt_places_insn(struct vt_places *p, struct vt_spot *s)
{
	const struct vt_elf_info *info;
	const struct vt_elf *elf = NULL;
	struct vt_disasm *d = NULL;
	const uint8_t *bytes = NULL;
	enum vt_unknown why;
	size_t start, size = 0;

	if (s->insn)
		return text_at(p, s->insn);
	locate_spot(p, s);
	if (s->image != VT_UNMAPPED_IMAGE)
		elf = vt_images_elf(p->images, s->image, &why);
	if (elf && !vt_images_is_patched(p->images, s->image, s->offset))
		bytes = vt_elf_bytes(elf, s->at.vaddr, &size);
	if (bytes && size) {
		info = vt_elf_info(elf);
		d = find_machine(p, info->machine, info->bits, info->big);
	}
	start = begin_text(p);
	if (d)
		put_instruction(p, s, d, bytes, size < CODE_SIZE ? size : CODE_SIZE, s->at.vaddr);
	s->insn = keep_text(p, start);
	return text_at(p, s->insn);
}

const char *vt_places_decode(struct vt_places *p, struct vt_spot *s, unsigned bits,
			     const uint8_t *bytes, size_t size, uint64_t address)
{
	struct vt_disasm *d =
		find_machine(p, bits == 64 ? VT_MACHINE_X86_64 : VT_MACHINE_I386, bits, false);
	uint64_t vaddr = address;
	size_t start;

	if (!d || !size)
		return "";
	locate_spot(p, s);
	/* Names of operands are found at the image's own addresses. */
	if (s->image != VT_UNMAPPED_IMAGE && s->at.vaddr)
		vaddr = s->at.vaddr;
	start = begin_text(p);
	put_instruction(p, s, d, bytes, size, vaddr);
	/* It is not kept: other code may run at the same place. */
	return text_at(p, keep_text(p, start));
}

/* ---- places as conditions ---- */

static int32_t process_of(const struct vt_record *rec)
{
	int field = rec->kind == VT_SAMPLE ? VT_SAMPLE_PID
					   : vt_schema_find_field(rec->block->desc, "pid");

	return field < 0 ? 0 : (int32_t)vt_record_i64(rec, (unsigned)field);
}

static bool is_path_named(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');

	return vt_pattern_matches(pattern, path) ||
	       (slash && vt_pattern_matches(pattern, slash + 1));
}

enum vt_truth vt_places_in(void *places, const struct vt_record *rec, unsigned field,
			   enum vt_where_place place, const char *name)
{
	struct vt_places *p = places;
	bool is_ip = rec->kind == VT_SAMPLE && field == VT_SAMPLE_IP;
	uint64_t mode = is_ip ? vt_record_u64(rec, VT_SAMPLE_MISC) & VT_MISC_CPUMODE : 0;
	struct vt_spot *s = vt_places_find(p, process_of(rec), vt_record_u64(rec, field), mode);
	uint64_t distance;
	const char *found;

	if (!s)
		return VT_UNKNOWN;
	if (place == VT_WHERE_IMAGE) {
		found = vt_places_image(p, s);
		return *found ? (enum vt_truth)is_path_named(name, found) : VT_UNKNOWN;
	}
	found = vt_places_procedure(p, s, &distance);
	return *found ? (enum vt_truth)vt_pattern_names(name, found) : VT_UNKNOWN;
}
