/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/table.h"

#include <string.h>

#include "base/buf.h"
#include "image/unwind.h"

/* Larger tables than interpreters and parsers have. */
#define MAX_ENTRIES 65536

/* ---- the image's constants ---- */

static bool is_constant(void *arg, uint64_t vaddr)
{
	struct vti_targets *t = arg;

	return t->elf && vt_elf_is_constant(t->elf, vaddr);
}

static bool read_byte(struct vti_targets *t, uint64_t vaddr, uint8_t *byte)
{
	uint64_t line = vaddr / VT_IMAGEDATA_LINE * VT_IMAGEDATA_LINE;

	if (line != t->line_at) {
		t->line_known = vt_imagedata_line(t->data, 0, line, true, t->line);
		t->line_at = line;
	}
	*byte = t->line[vaddr - line];
	return t->line_known >> (vaddr - line) & 1;
}

static bool read_word(void *arg, uint64_t vaddr, unsigned size, uint64_t *value)
{
	struct vti_targets *t = arg;
	uint8_t byte;
	unsigned i;

	*value = 0;
	for (i = 0; i < size; i++) {
		if (!t->data || !read_byte(t, vaddr + i, &byte))
			return false;
		*value |= (uint64_t)byte << 8 * i;
	}
	return true;
}

/* ---- tables ---- */

static bool in_procedure(const struct vti_targets *t, uint64_t target)
{
	return target - t->w->src->start < t->w->src->size;
}

static bool in_code(const struct vti_targets *t, uint64_t target)
{
	size_t n, i;
	const struct vt_elf_segment *g = vt_elf_segments(t->elf, &n);

	for (i = 0; i < n; i++)
		if (g[i].exec && target >= g[i].vaddr && target - g[i].vaddr < g[i].filesz)
			return true;
	return false;
}

/* Whether an instruction begins there, as far as is known. */
static bool is_insn(const struct vti_targets *t, uint64_t target)
{
	uint32_t offset = (uint32_t)(target - t->w->src->start), back;

	if (t->w->at[offset])
		return true;
	for (back = 1; back < VT_MAX_INSN && back <= offset; back++) {
		uint32_t at = t->w->at[offset - back];

		if (at)
			return t->w->nodes[at - 1].length <= back;
	}
	return true;
}

static bool is_full(const struct vti_targets *t)
{
	return t->w->work >= VTI_MAX_WORK || t->w->njumps >= VTI_MAX_JUMPS;
}

static bool add_jump(struct vti_targets *t, uint32_t from, uint64_t target)
{
	struct vti_walk *w = t->w;
	uint32_t to = (uint32_t)(target - w->src->start);

	if (!vt_array_grow(&w->jumps, &w->jumps_cap, w->njumps + 1, sizeof(*w->jumps)))
		return false;
	w->jumps[w->njumps++] = (struct vti_jump){from, to};
	return vti_walk_queue(w, to);
}

static uint64_t entry_target(const struct vti_value *v, uint64_t word)
{
	uint64_t sign = v->size && v->size < 8 ? UINT64_C(1) << (8 * v->size - 1) : 0;

	if (v->is_signed)
		word = (word ^ sign) - sign;
	return word + v->add;
}

/*
 * Takes the entries of a table, `count` of them; when that is not known, up to the first that leads
 * to no instruction of the procedure.
 */
static bool take_entries(struct vti_targets *t, struct vti_node *n, const struct vti_value *v,
			 uint64_t count, bool known)
{
	size_t before = t->w->njumps;
	uint64_t i, word, target = 0;

	for (i = 0; i < count; i++) {
		if (is_full(t) || !read_word(t, v->lo + i * v->stride, v->size, &word))
			break;
		t->w->work++;
		target = entry_target(v, word);
		if (in_procedure(t, target) && (known || is_insn(t, target))) {
			if (!add_jump(t, n->offset, target)) {
				t->failed = true;
				return false;
			}
		} else if (known && in_code(t, target)) {
			n->leaves = true;
		} else {
			break;
		}
	}
	if (known && i == count)
		return true;
	if (!known && i > 1) {
		/* It may go on, with what another part of the procedure does. */
		n->unknown = i == count || in_code(t, target);
		return true;
	}
	/* Its first targets stay queued: they may be code that nothing else leads to. */
	t->w->njumps = before;
	n->leaves = false;
	return false;
}

static bool take_table(struct vti_targets *t, struct vti_node *n, const struct vti_value *v)
{
	uint64_t count = v->stride ? (v->hi - v->lo) / v->stride + 1 : 1;
	/* All that fits a byte or two, or counts bits, may be more than the program has in mind. */
	bool natural = count == 64 || count == 256 || count == 65536;

	if (count <= MAX_ENTRIES && take_entries(t, n, v, count, true))
		return true;
	return (count > MAX_ENTRIES || natural) && take_entries(t, n, v, MAX_ENTRIES, false);
}

/* Targets that are computed: a place, or several at equal distances. */
static bool take_places(struct vti_targets *t, struct vti_node *n, const struct vti_value *v)
{
	uint64_t count = v->stride ? (v->hi - v->lo) / v->stride + 1 : 1, i;

	if (count > 256 || v->stride == 1)
		return false;
	for (i = 0; i < count; i++)
		if (!in_procedure(t, v->lo + i * v->stride))
			return false;
	for (i = 0; i < count; i++)
		if (!add_jump(t, n->offset, v->lo + i * v->stride)) {
			t->failed = true;
			return false;
		}
	return true;
}

/* With the stack as it was, what a pointer leads to is another procedure. */
bool vti_targets_take(struct vti_targets *t, struct vti_node *n, const struct vti_value *v,
		      bool at_start)
{
	n->unknown = false;
	n->leaves = false;
	if (v->entry && take_table(t, n, v))
		return !n->unknown;
	if (!v->entry && !is_full(t) && take_places(t, n, v))
		return true;
	n->leaves = true;
	n->unknown = v->entry || v->computed || !at_start || is_full(t);
	if (!v->entry && v->lo == v->hi && t->elf && in_code(t, v->lo))
		n->unknown = false;
	return !n->unknown;
}

bool vti_targets_fixed(struct vti_targets *t, struct vti_node *n, const struct vt_facts *f)
{
	uint64_t next = t->w->src->start + n->offset + n->length, word = 0;
	const uint8_t *bytes = NULL;
	size_t avail, i;

	if (!f->nmemories || f->memories[0].base != VT_REG_IP)
		return false;
	n->leaves = true;
	n->unknown = false;
	if (t->elf)
		bytes = vt_elf_bytes(t->elf, next + (uint64_t)f->memories[0].displacement, &avail);
	for (i = 0; bytes && avail >= 8 && i < 8; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	if (word == next && in_procedure(t, next) && !add_jump(t, n->offset, next))
		t->failed = true;
	return true;
}

/* ---- the stack ---- */

#define STACK 0x10000 /* as good as any */

static bool stack_only(void *arg, unsigned reg, uint64_t *value)
{
	(void)arg;
	*value = STACK;
	return reg == VT_REG_SP;
}

static bool any_word(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	(void)arg;
	(void)address;
	(void)size;
	*value = 0;
	return true;
}

bool vti_targets_at_start(struct vti_targets *t, const struct vti_node *n)
{
	const struct vt_cfg_source *src = t->w->src;
	const struct vt_unwind_state state = {NULL, stack_only, any_word};
	struct vt_unwind *u = src->images ? vt_images_unwind(src->images, src->image) : NULL;
	struct vt_return ret;

	return u && vt_unwind_find(u, src->start + n->offset, 0, &state, &ret) && ret.slot == STACK;
}

/* ---- all of it ---- */

void vti_targets_open(struct vti_targets *t, struct vti_walk *w)
{
	enum vt_unknown why;

	memset(t, 0, sizeof(*t));
	t->w = w;
	t->line_at = UINT64_MAX;
	t->memory = (struct vti_memory){t, is_constant, read_word};
	if (!w->src->images)
		return;
	t->elf = vt_images_elf(w->src->images, w->src->image, &why);
	t->data = vt_images_data(w->src->images, w->src->image);
}
