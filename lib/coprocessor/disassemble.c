/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coprocessor/assemble.h"

/* ---- names ---- */

static const char *operand_name(const struct vt_ucode *u, const struct vt_uword *w, unsigned op)
{
	if (op == VT_OP_X)
		return u->indexes[w->x].name;
	if (op >= VT_OP_C0 && op < VT_OP_C0 + VT_UCODE_CONSTANTS)
		return u->constants[op - VT_OP_C0].name;
	return vt_ucode_operands[op];
}

/* The word that a branch goes to by an offset; -1: it goes elsewhere. */
static int offset_target(unsigned at, const struct vt_uword *w)
{
	if (w->cond == VT_COND_NEVER || w->target >= VT_TARGET_REGISTER)
		return -1;
	if (w->target >= VT_TARGET_BACK)
		return (int)at - 1 - (w->target - VT_TARGET_BACK);
	return (int)at + 1 + w->target;
}

static void print_target(const struct vt_ucode *u, unsigned at, const struct vt_uword *w,
			 struct vt_buf *out)
{
	int to = offset_target(at, w);

	if (to >= 0)
		vt_buf_printf(out, "w%d", to);
	else if (w->target >= VT_TARGET_DONE)
		vt_buf_printf(out, "%s", w->target == VT_TARGET_DONE ? "done" : "interrupt");
	else
		vt_buf_printf(out, "%s", u->targets[w->target - VT_TARGET_REGISTER].name);
}

/* ---- operations ---- */

static void separate(struct vt_buf *out, bool *any)
{
	if (*any)
		vt_buf_printf(out, " | ");
	*any = true;
}

static bool compares(const struct vt_uword *w)
{
	return w->cond >= VT_COND_EQ && w->cond <= VT_COND_GT;
}

static void print_alu(const struct vt_ucode *u, const struct vt_uword *w, struct vt_buf *out,
		      bool *any)
{
	bool two = w->alu == VT_ALU_NONE || (w->alu >= VT_ALU_ADD && w->alu <= VT_ALU_XOR);
	/* Operand a of the associative array is told with its operation. */
	bool told = w->cam == VT_CAM_MATCH || w->cam == VT_CAM_ENTER;

	if (w->alu == VT_ALU_NONE && !compares(w) && !w->b && (told || !w->a))
		return;
	separate(out, any);
	vt_buf_printf(out, "%s ", vt_ucode_alus[w->alu]);
	if (w->alu != VT_ALU_NONE && w->dest)
		vt_buf_printf(out, "v%d, ", w->dest - 1);
	else if (w->alu != VT_ALU_NONE)
		vt_buf_printf(out, "-, ");
	vt_buf_printf(out, "%s", operand_name(u, w, w->a));
	if (two)
		vt_buf_printf(out, ", %s", operand_name(u, w, w->b));
}

static void print_memory(const struct vt_ucode *u, const struct vt_uword *w, struct vt_buf *out,
			 bool *any)
{
	if (w->memory == VT_MEM_NONE)
		return;
	separate(out, any);
	vt_buf_printf(out, "%s %s", vt_ucode_memories[w->memory], u->bases[w->base].name);
	if (w->index != VT_INDEX_NONE)
		vt_buf_printf(out, "[%s]", w->index == VT_INDEX_M ? "m" : u->indexes[w->x].name);
}

static void print_cam(const struct vt_ucode *u, const struct vt_uword *w, struct vt_buf *out,
		      bool *any)
{
	if (w->cam == VT_CAM_NONE)
		return;
	separate(out, any);
	vt_buf_printf(out, "%s ", vt_ucode_cams[w->cam]);
	if (w->cam != VT_CAM_MATCH)
		vt_buf_printf(out, "%s%s", w->cam_m ? "m" : u->indexes[w->x].name,
			      w->cam == VT_CAM_ENTER ? ", " : "");
	if (w->cam != VT_CAM_INVALIDATE)
		vt_buf_printf(out, "%s", operand_name(u, w, w->a));
}

void vt_ucode_print_word(const struct vt_ucode *u, unsigned at, struct vt_buf *out)
{
	const struct vt_uword *w = &u->fields[at];
	bool any = false;

	print_cam(u, w, out, &any);
	print_alu(u, w, out, &any);
	print_memory(u, w, out, &any);
	if (w->step != VT_STEP_NONE) {
		separate(out, &any);
		vt_buf_printf(out, "%s %s", vt_ucode_steps[w->step], u->indexes[w->x].name);
	}
	if (w->cond != VT_COND_NEVER) {
		separate(out, &any);
		if (w->cond == VT_COND_ALWAYS)
			vt_buf_printf(out, "go ");
		else
			vt_buf_printf(out, "if %s ", vt_ucode_conds[w->cond]);
		print_target(u, at, w, out);
	}
	if (!any)
		vt_buf_printf(out, "nop");
}

/* ---- the whole program ---- */

static void print_registers(const struct vt_ucode *u, struct vt_buf *out)
{
	unsigned i;

	for (i = 0; i < u->nconstants; i++)
		vt_buf_printf(out, ".constant %s %" PRIu64 "\n", u->constants[i].name,
			      u->constants[i].value);
	for (i = 0; i < u->nindexes; i++) {
		const struct vt_ucode_index_register *x = &u->indexes[i];

		vt_buf_printf(out, ".index %s %u", x->name, x->bits);
		if (x->start)
			vt_buf_printf(out, " = %u", x->start);
		vt_buf_printf(out, "%s\n", x->keep ? " keep" : "");
	}
	for (i = 0; i < u->nbases; i++) {
		const struct vt_ucode_base *b = &u->bases[i];

		vt_buf_printf(out, ".base %s %u %u%s%s\n", b->name, b->bits, b->elements,
			      b->key ? " key" : "", b->keep ? " keep" : "");
	}
}

void vt_ucode_disassemble(const struct vt_ucode *u, struct vt_buf *out)
{
	bool labels[VT_UCODE_WORDS] = {false};
	unsigned i;

	vt_buf_printf(out, ".host %s\n.slots %u\n.cam %u %s\n.random %u\n", vt_ucode_hosts[u->host],
		      u->slots, u->cam_bits, u->key, u->random_bits);
	print_registers(u, out);
	for (i = 0; i < u->ntargets; i++) {
		vt_buf_printf(out, ".target %s -> w%u\n", u->targets[i].name, u->targets[i].word);
		labels[u->targets[i].word] = true;
	}
	for (i = 0; i < VT_NCLASSES; i++)
		if (u->start[i] != VT_UCODE_NO_START) {
			vt_buf_printf(out, ".class %s -> w%u\n", vt_ucode_classes[i], u->start[i]);
			labels[u->start[i]] = true;
		}
	for (i = 0; i < u->nwords; i++)
		if (offset_target(i, &u->fields[i]) >= 0)
			labels[offset_target(i, &u->fields[i])] = true;
	vt_buf_printf(out, "\n");
	for (i = 0; i < u->nwords; i++) {
		char label[16] = "";

		if (labels[i])
			snprintf(label, sizeof(label), "w%u:", i);
		vt_buf_printf(out, "%s\t", label);
		vt_ucode_print_word(u, i, out);
		vt_buf_printf(out, "\n");
	}
}
