/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * String instructions.  With a prefix to repeat them they count as one instruction; of what they
 * read a limited number of lines is kept.
 */
#include "cmd/walker/walk_state.h"

#define MOST_LINES 32	/* that one instruction keeps */
#define MOST_BYTES 512	/* that are copied or filled exactly */
#define MOST_STEPS 1024 /* elements that are compared */
#define FAR	   (UINT64_C(1) << 47)

static unsigned element(const struct insn *i)
{
	return i->op & 1 ? op_size(i) : 1;
}

static unsigned address_size(const struct insn *i)
{
	return i->addr32 ? 4 : 8;
}

static uint64_t source_base(const struct walk *w)
{
	return w->insn.segment == 0x64 ? w->fs_base : w->insn.segment ? w->gs_base : 0;
}

static bool has_source(unsigned op)
{
	return op < 0xa8 || op == 0xac || op == 0xad;
}

static bool has_destination(unsigned op)
{
	return op != 0xac && op != 0xad;
}

static bool stores(unsigned op)
{
	return op == 0xa4 || op == 0xa5 || op == 0xaa || op == 0xab;
}

static bool compares(unsigned op)
{
	return op == 0xa6 || op == 0xa7 || op >= 0xae;
}

/* Moves si and di over so many elements. */
static void advance(struct walk *w, struct val elements)
{
	unsigned size = address_size(&w->insn), op = w->insn.op;
	struct val d = get_flag(w, FLAG_D), at;
	uint64_t by = elements.v * element(&w->insn);
	bool ok = elements.known && (d.known || elements.v == 0);

	if (d.v)
		by = -by;
	if (has_source(op)) {
		at = get_gpr(w, SI, size);
		set_gpr(w, SI, size, (struct val){at.v + by, at.known && ok});
	}
	if (has_destination(op)) {
		at = get_gpr(w, DI, size);
		set_gpr(w, DI, size, (struct val){at.v + by, at.known && ok});
	}
}

/* ---- one element ---- */

static struct val load_at(struct walk *w, struct val at, uint64_t base)
{
	return at.known ? walk_load(w, at.v + base, element(&w->insn)) : unknown();
}

static void store_at(struct walk *w, struct val at, struct val x)
{
	if (at.known)
		walk_store(w, at.v, element(&w->insn), x);
	else
		w->memory_unknown = true;
}

static void one(struct walk *w)
{
	unsigned op = w->insn.op & 0xfe, size = element(&w->insn), wide = address_size(&w->insn);
	struct val si = get_gpr(w, SI, wide), di = get_gpr(w, DI, wide), a = get_gpr(w, AX, size);
	struct val b;

	if (has_source(op))
		a = load_at(w, si, source_base(w));
	if (compares(op)) {
		b = load_at(w, di, 0);
		walk_alu(w, ALU_CMP, size, a, b);
	} else if (stores(op)) {
		store_at(w, di, a);
	} else {
		set_gpr(w, AX, size, a);
	}
	advance(w, known(1));
}

/* ---- many ---- */

/* The first byte of `total` bytes at a register. */
static uint64_t first_byte(const struct walk *w, uint64_t at, uint64_t total)
{
	return w->flags & FLAG_D ? at + element(&w->insn) - total : at;
}

static void copy_exactly(struct walk *w, uint64_t from, uint64_t to, uint64_t total)
{
	uint64_t done;

	for (done = 0; done < total; done += 64) {
		unsigned n = total - done < 64 ? (unsigned)(total - done) : 64;
		bool ok = walk_read_bytes(w, from + done, n, w->operand[0]);

		walk_write_bytes(w, to + done, n, ok ? w->operand[0] : NULL);
	}
}

static void fill_exactly(struct walk *w, uint64_t to, uint64_t total, struct val x)
{
	unsigned size = element(&w->insn), k;
	uint64_t done;

	for (k = 0; k < 64; k++)
		w->operand[0][k] = (uint8_t)(x.v >> 8 * (k % size));
	for (done = 0; done < total; done += 64)
		walk_write_bytes(w, to + done, total - done < 64 ? total - done : 64,
				 x.known ? w->operand[0] : NULL);
}

/* Overlapping copies repeat bytes: their results are left unknown. */
static void move_block(struct walk *w, struct val si, struct val di, uint64_t total)
{
	uint64_t from, to;
	bool apart, small;

	from = first_byte(w, si.v, total) + source_base(w);
	to = first_byte(w, di.v, total);
	apart = from + total <= to || to + total <= from;
	small = total <= MOST_BYTES && w->nstores + total / 64 + 1 <= WALK_STORES;
	if (si.known && di.known && apart && small) {
		copy_exactly(w, from, to, total);
		return;
	}
	if (si.known)
		walk_touch(w, from, total, MOST_LINES);
	if (di.known)
		walk_write_bytes(w, to, total, NULL);
	else
		w->memory_unknown = true;
}

static void fill_block(struct walk *w, struct val di, uint64_t total)
{
	uint64_t to = first_byte(w, di.v, total);

	if (!di.known)
		w->memory_unknown = true;
	else if (total <= MOST_BYTES && w->nstores + total / 64 + 1 <= WALK_STORES)
		fill_exactly(w, to, total, get_gpr(w, AX, element(&w->insn)));
	else
		walk_write_bytes(w, to, total, NULL);
}

static void load_block(struct walk *w, struct val si, uint64_t total)
{
	unsigned size = element(&w->insn);
	uint64_t from = first_byte(w, si.v, total) + source_base(w);
	uint64_t last = w->flags & FLAG_D ? from : from + total - size;

	if (si.known) {
		walk_touch(w, from, total, MOST_LINES);
		set_gpr(w, AX, size, walk_load(w, last, size));
	} else {
		set_gpr(w, AX, size, unknown());
	}
}

/* movs, stos, lods, whose count alone tells when they end. */
static void repeat_counted(struct walk *w)
{
	unsigned wide = address_size(&w->insn), op = w->insn.op & 0xfe;
	struct val si = get_gpr(w, SI, wide), di = get_gpr(w, DI, wide),
		   count = get_gpr(w, CX, wide);
	uint64_t total;

	if (count.known && count.v == 0)
		return;
	if (count.known && count.v >= FAR / 8) {
		end_walk(w, WALK_TRAP);
		return;
	}
	if (!count.known || !(w->flags_known & FLAG_D)) {
		w->memory_unknown = w->memory_unknown || stores(op);
		if (op == 0xac)
			set_gpr(w, AX, element(&w->insn), unknown());
		count.known = false;
	} else {
		total = count.v * element(&w->insn);
		if (op == 0xa4)
			move_block(w, si, di, total);
		else if (op == 0xaa)
			fill_block(w, di, total);
		else
			load_block(w, si, total);
	}
	advance(w, count);
	set_gpr(w, CX, wide, known(0));
}

/* cmps, scas: element by element until they differ, or are the same. */
static void repeat_compared(struct walk *w)
{
	unsigned wide = address_size(&w->insn), steps;
	bool same = w->insn.rep == 0xf3;
	struct val count = get_gpr(w, CX, wide), zero;
	uint32_t lines = w->nlines;

	for (steps = 0; count.known && steps < MOST_STEPS && w->nlines - lines < MOST_LINES;
	     steps++) {
		if (count.v == 0)
			return;
		one(w);
		count.v--;
		set_gpr(w, CX, wide, count);
		zero = get_flag(w, FLAG_Z);
		if (!zero.known || w->stop)
			break;
		if (zero.v != same)
			return;
	}
	if (count.known && count.v == 0 && steps < MOST_STEPS)
		return;
	set_flags(w, FLAGS6, 0, false);
	set_gpr(w, CX, wide, unknown());
	advance(w, unknown());
}

void walk_string(struct walk *w)
{
	if (!w->insn.rep)
		one(w);
	else if (compares(w->insn.op))
		repeat_compared(w);
	else
		repeat_counted(w);
}
