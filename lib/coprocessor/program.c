/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/program.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

static const char magic[8] = "vtucode\1";

const char *const vt_ucode_hosts[VT_NHOSTS] = {
	[VT_HOST_COUNTS] = "counts",
	[VT_HOST_LOG] = "log",
	[VT_HOST_SAMPLES] = "samples",
	[VT_HOST_VALUES] = "values",
};

/* The operands of a that a value register, constant, … stands for: all are read through a or b. */
static bool reads(const struct vt_uword *w, unsigned operand)
{
	bool alu = w->alu != VT_ALU_NONE || w->cond >= VT_COND_EQ;

	return (alu || w->cam == VT_CAM_MATCH || w->cam == VT_CAM_ENTER) &&
	       (w->a == operand || w->b == operand);
}

static bool is_constant(unsigned operand)
{
	return operand >= VT_OP_C0 && operand < VT_OP_C0 + VT_UCODE_CONSTANTS;
}

uint32_t vt_ucode_data_bytes(const struct vt_ucode *u)
{
	uint32_t end = 0;
	unsigned i;

	for (i = 0; i < u->nbases; i++) {
		const struct vt_ucode_base *b = &u->bases[i];
		uint32_t e = b->start + (uint32_t)b->elements * b->bits / 8;

		end = e > end ? e : end;
	}
	return end;
}

const struct vt_ucode_base *vt_ucode_find_base(const struct vt_ucode *u, const char *name)
{
	unsigned i;

	for (i = 0; i < u->nbases; i++)
		if (strcmp(u->bases[i].name, name) == 0)
			return &u->bases[i];
	return NULL;
}

const struct vt_ucode_index_register *vt_ucode_find_index(const struct vt_ucode *u,
							  const char *name)
{
	unsigned i;

	for (i = 0; i < u->nindexes; i++)
		if (strcmp(u->indexes[i].name, name) == 0)
			return &u->indexes[i];
	return NULL;
}

uint32_t vt_ucode_reads(const struct vt_ucode *u)
{
	uint32_t mask = 0;
	unsigned i, op;

	for (i = 0; i < u->nwords; i++)
		for (op = VT_OP_MISSED; op < VT_NOPERANDS; op++)
			if (reads(&u->fields[i], op))
				mask |= UINT32_C(1) << op;
	return mask;
}

/* ---- checks ---- */

static int check_branch(const struct vt_ucode *u, unsigned at, const struct vt_uword *w,
			struct vt_error *err)
{
	int to;

	if (w->cond == VT_COND_NEVER || w->target >= VT_TARGET_DONE)
		to = -1;
	else if (w->target >= VT_TARGET_REGISTER)
		to = w->target - VT_TARGET_REGISTER < (int)u->ntargets
			     ? u->targets[w->target - VT_TARGET_REGISTER].word
			     : VT_UCODE_WORDS;
	else if (w->target >= VT_TARGET_BACK)
		to = (int)at - 1 - (w->target - VT_TARGET_BACK) < 0
			     ? VT_UCODE_WORDS
			     : (int)at - 1 - (w->target - VT_TARGET_BACK);
	else
		to = (int)at + 1 + w->target;
	if (to >= (int)u->nwords)
		return vt_error_set(err, VT_E_FORMAT, "target: the branch goes to no word");
	if (w->cond != VT_COND_ALWAYS && at + 1 >= u->nwords)
		return vt_error_set(err, VT_E_FORMAT,
				    "target: the last word goes on to the next, which is none");
	return 0;
}

/* An index must not reach beyond its sub-array. */
static int check_memory(const struct vt_ucode *u, const struct vt_uword *w, struct vt_error *err)
{
	const struct vt_ucode_base *b = &u->bases[w->base];
	uint32_t reach = w->index == VT_INDEX_X	  ? UINT32_C(1) << u->indexes[w->x].bits
			 : w->index == VT_INDEX_M ? u->slots
						  : 1;

	if (w->memory == VT_MEM_NONE)
		return 0;
	if (w->base >= u->nbases)
		return vt_error_set(err, VT_E_FORMAT, "base: there is no base register %u",
				    w->base);
	if (reach > b->elements)
		return vt_error_set(err, VT_E_FORMAT,
				    "index: %u elements can be picked, and %s has %u", reach,
				    b->name, b->elements);
	return 0;
}

static int check_word(const struct vt_ucode *u, unsigned at, const struct vt_uword *w,
		      struct vt_error *err)
{
	bool entry = w->cam == VT_CAM_ENTER || w->cam == VT_CAM_INVALIDATE;
	bool x = reads(w, VT_OP_X) || w->step != VT_STEP_NONE ||
		 (w->memory != VT_MEM_NONE && w->index == VT_INDEX_X) || (entry && !w->cam_m);
	unsigned i;

	if (x && w->x >= u->nindexes)
		return vt_error_set(err, VT_E_FORMAT, "x: there is no index register %u", w->x);
	if (entry && !w->cam_m && (UINT32_C(1) << u->indexes[w->x].bits) > u->slots)
		return vt_error_set(err, VT_E_FORMAT,
				    "entry: %s has %u bits, and there are %u slots",
				    u->indexes[w->x].name, u->indexes[w->x].bits, u->slots);
	for (i = 0; i < VT_UCODE_CONSTANTS; i++)
		if (reads(w, VT_OP_C0 + i) && i >= u->nconstants)
			return vt_error_set(err, VT_E_FORMAT, "a, b: there is no constant %u", i);
	if (is_constant(w->a) && is_constant(w->b) && w->a != w->b)
		return vt_error_set(err, VT_E_FORMAT,
				    "b: the constants have one port: a word reads one of them");
	if (w->alu == VT_ALU_NONE && w->dest)
		return vt_error_set(err, VT_E_FORMAT, "dest: the ALU computes nothing");
	if (check_memory(u, w, err) < 0)
		return -(int)err->code;
	return check_branch(u, at, w, err);
}

static int check_registers(const struct vt_ucode *u, struct vt_error *err)
{
	unsigned i;

	for (i = 0; i < u->nindexes; i++)
		if (u->indexes[i].bits < 1 || u->indexes[i].bits > 16 ||
		    u->indexes[i].start >> u->indexes[i].bits)
			return vt_error_set(err, VT_E_FORMAT, "index register %u: bad width", i);
	for (i = 0; i < u->nbases; i++) {
		const struct vt_ucode_base *b = &u->bases[i];
		uint32_t size = (uint32_t)b->elements * b->bits / 8;

		if ((b->bits != 8 && b->bits != 16 && b->bits != 32 && b->bits != 64) ||
		    !b->elements || b->elements & (b->elements - 1) ||
		    b->start % (size < 8 ? 8 : size) || b->start >= 1u << 16)
			return vt_error_set(err, VT_E_FORMAT,
					    "base register %u: not an aligned power of two", i);
	}
	for (i = 0; i < VT_NCLASSES; i++)
		if (u->start[i] != VT_UCODE_NO_START && u->start[i] >= u->nwords)
			return vt_error_set(err, VT_E_FORMAT, "class %s begins at no word",
					    vt_ucode_classes[i]);
	if ((u->cam_bits != 32 && u->cam_bits != 64) || u->random_bits < 1 || u->random_bits > 16 ||
	    !u->slots || u->slots > VT_UCODE_MAX_SLOTS || u->slots & (u->slots - 1))
		return vt_error_set(err, VT_E_FORMAT, "slots, cam or random: bad size");
	return 0;
}

static bool has_names(const struct vt_ucode *u)
{
	bool n = vt_ucode_find_index(u, "n") != NULL;
	static const char *const slot[] = {"value", "hits", "misses", "total"};
	static const char *const counter[] = {"failed", "dropped", "samples"};
	unsigned i;

	if (u->host == VT_HOST_COUNTS)
		return true;
	if (u->host == VT_HOST_LOG)
		return n && u->nbases;
	if (u->host == VT_HOST_SAMPLES)
		return n && vt_ucode_find_base(u, "pc") && vt_ucode_find_base(u, "value");
	for (i = 0; i < 4; i++)
		if (!vt_ucode_find_base(u, slot[i]) ||
		    vt_ucode_find_base(u, slot[i])->elements < u->slots)
			return false;
	for (i = 0; i < 3; i++)
		if (!vt_ucode_find_index(u, counter[i]))
			return false;
	return true;
}

int vt_ucode_check(struct vt_ucode *u, unsigned *word, struct vt_error *err)
{
	unsigned i, classes = 0;

	*word = UINT_MAX;
	if (!u->nwords || u->nwords > VT_UCODE_WORDS)
		return vt_error_set(err, VT_E_FORMAT, "a program has 1 to %d words",
				    VT_UCODE_WORDS);
	if (check_registers(u, err) < 0)
		return -(int)err->code;
	for (i = 0; i < VT_NCLASSES; i++)
		classes += u->start[i] != VT_UCODE_NO_START;
	if (!classes)
		return vt_error_set(err, VT_E_FORMAT, "no class of operations is profiled");
	if (!has_names(u))
		return vt_error_set(err, VT_E_FORMAT,
				    "host %s: arrays or registers that it reads are not there",
				    vt_ucode_hosts[u->host]);
	for (i = 0; i < u->nwords; i++) {
		*word = i;
		if (vt_ucode_unpack(&u->fields[i], u->words[i], err) < 0 ||
		    check_word(u, i, &u->fields[i], err) < 0)
			return -(int)err->code;
	}
	*word = UINT_MAX;
	return 0;
}

/* ---- the binary form ---- */

static void put_name(struct vt_buf *out, const char *name)
{
	char bytes[VT_UCODE_NAME] = "";

	snprintf(bytes, sizeof(bytes), "%s", name);
	vt_buf_put(out, bytes, sizeof(bytes));
}

void vt_ucode_save(const struct vt_ucode *u, struct vt_buf *out)
{
	size_t begin = out->size;
	unsigned i, k;

	vt_buf_put(out, magic, sizeof(magic));
	vt_buf_put_u8(out, (uint8_t)u->nwords);
	vt_buf_put_u8(out, (uint8_t)u->nconstants);
	vt_buf_put_u8(out, (uint8_t)u->nindexes);
	vt_buf_put_u8(out, (uint8_t)u->nbases);
	vt_buf_put_u8(out, (uint8_t)u->ntargets);
	vt_buf_put_u8(out, (uint8_t)u->host);
	vt_buf_put_u8(out, u->cam_bits);
	vt_buf_put_u8(out, u->random_bits);
	vt_buf_put_le32(out, u->slots);
	put_name(out, u->key);
	vt_buf_put(out, u->start, sizeof(u->start));
	for (i = 0; i < u->nwords; i++)
		for (k = 0; k < VT_UCODE_BITS; k += 8)
			vt_buf_put_u8(out, (uint8_t)(u->words[i] >> k));
	for (i = 0; i < u->nconstants; i++) {
		put_name(out, u->constants[i].name);
		vt_buf_put_le64(out, u->constants[i].value);
	}
	for (i = 0; i < u->nindexes; i++) {
		put_name(out, u->indexes[i].name);
		vt_buf_put_u8(out, u->indexes[i].bits);
		vt_buf_put_u8(out, u->indexes[i].keep);
		vt_buf_put_le32(out, u->indexes[i].start);
	}
	for (i = 0; i < u->nbases; i++) {
		put_name(out, u->bases[i].name);
		vt_buf_put_le32(out, u->bases[i].start);
		vt_buf_put_le32(out, u->bases[i].elements);
		vt_buf_put_u8(out, u->bases[i].bits);
		vt_buf_put_u8(out, (uint8_t)(u->bases[i].key | u->bases[i].keep << 1));
	}
	for (i = 0; i < u->ntargets; i++) {
		put_name(out, u->targets[i].name);
		vt_buf_put_u8(out, u->targets[i].word);
	}
	if (!out->failed)
		vt_buf_put_le64(out, vt_hash_bytes(out->data + begin, out->size - begin));
}

bool vt_ucode_is_binary(const void *data, size_t size)
{
	return size >= sizeof(magic) - 1 && memcmp(data, magic, sizeof(magic) - 1) == 0;
}

/* Names are those of the assembler: they can be printed. */
static bool take_name(struct vt_cursor *c, char name[VT_UCODE_NAME])
{
	const uint8_t *p = vt_cursor_take(c, VT_UCODE_NAME);
	unsigned i;

	if (!p || p[VT_UCODE_NAME - 1])
		return false;
	memcpy(name, p, VT_UCODE_NAME);
	for (i = 0; name[i]; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:",
			    name[i]))
			return false;
	return true;
}

static bool take_registers(struct vt_ucode *u, struct vt_cursor *c)
{
	bool ok = true;
	unsigned i;

	for (i = 0; i < u->nconstants && ok; i++) {
		ok = take_name(c, u->constants[i].name);
		u->constants[i].value = vt_cursor_u64(c);
	}
	for (i = 0; i < u->nindexes && ok; i++) {
		ok = take_name(c, u->indexes[i].name);
		u->indexes[i].bits = vt_cursor_u8(c);
		u->indexes[i].keep = vt_cursor_u8(c) & 1;
		u->indexes[i].start = (uint16_t)vt_cursor_u32(c);
	}
	for (i = 0; i < u->nbases && ok; i++) {
		uint8_t flags;

		ok = take_name(c, u->bases[i].name);
		u->bases[i].start = vt_cursor_u32(c);
		u->bases[i].elements = (uint16_t)vt_cursor_u32(c);
		u->bases[i].bits = vt_cursor_u8(c);
		flags = vt_cursor_u8(c);
		u->bases[i].key = flags & 1;
		u->bases[i].keep = flags >> 1 & 1;
	}
	for (i = 0; i < u->ntargets && ok; i++) {
		ok = take_name(c, u->targets[i].name);
		u->targets[i].word = vt_cursor_u8(c);
	}
	return ok;
}

static bool take_program(struct vt_ucode *u, struct vt_cursor *c)
{
	const uint8_t *p;
	unsigned i;

	vt_cursor_take(c, sizeof(magic));
	u->nwords = vt_cursor_u8(c);
	u->nconstants = vt_cursor_u8(c);
	u->nindexes = vt_cursor_u8(c);
	u->nbases = vt_cursor_u8(c);
	u->ntargets = vt_cursor_u8(c);
	u->host = vt_cursor_u8(c);
	u->cam_bits = vt_cursor_u8(c);
	u->random_bits = vt_cursor_u8(c);
	u->slots = (uint16_t)vt_cursor_u32(c);
	if (u->nwords > VT_UCODE_WORDS || u->nconstants > VT_UCODE_CONSTANTS ||
	    u->nindexes > VT_UCODE_INDEXES || u->nbases > VT_UCODE_BASES ||
	    u->ntargets > VT_UCODE_TARGETS || u->host >= VT_NHOSTS || !take_name(c, u->key))
		return false;
	p = vt_cursor_take(c, sizeof(u->start));
	if (!p)
		return false;
	memcpy(u->start, p, sizeof(u->start));
	for (i = 0; i < u->nwords; i++) {
		uint64_t low = vt_cursor_u32(c);

		u->words[i] = low | (uint64_t)vt_cursor_u16(c) << 32;
	}
	return take_registers(u, c);
}

int vt_ucode_load(struct vt_ucode *u, const void *data, size_t size, struct vt_error *err)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	unsigned word;

	memset(u, 0, sizeof(*u));
	if (size < sizeof(magic) || memcmp(data, magic, sizeof(magic)) != 0)
		return vt_error_set(err, VT_E_FORMAT, "not a program, or of another version");
	if (!take_program(u, &c) || c.bad || vt_cursor_left(&c) != 8)
		return vt_error_set(err, VT_E_FORMAT, "the program is cut or damaged");
	if (vt_cursor_u64(&c) != vt_hash_bytes(data, size - 8))
		return vt_error_set(err, VT_E_FORMAT, "the program is damaged: bad checksum");
	if (vt_ucode_check(u, &word, err) < 0)
		return word == UINT_MAX ? -(int)err->code : vt_error_prefix(err, "word %u", word);
	return 0;
}
