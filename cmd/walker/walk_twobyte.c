/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integer instructions behind 0F, 0F 38 and 0F 3A without VEX; the rest is vectors. */
#include "cmd/walker/walk_bits.h"
#include "cmd/walker/walk_state.h"

static unsigned group(const struct walk *w)
{
	return w->insn.modrm >> 3 & 7;
}

static void forget(struct walk *w, unsigned n)
{
	set_gpr(w, n, 8, unknown());
}

/* ---- the system ---- */

/* 0F 01 */
static void group7(struct walk *w)
{
	if (w->insn.memory) {
		if (group(w) < 2)
			walk_spoil_memory(w, 10);
		else if (group(w) == 4)
			walk_spoil_memory(w, 2);
		else
			end_walk(w, WALK_INSN);
		return;
	}
	switch (w->insn.modrm) {
	case 0xd0: /* xgetbv */
		forget(w, AX);
		forget(w, DX);
		break;
	case 0xd6: /* xtest */
		set_flags(w, FLAGS6, 0, false);
		break;
	case 0xee: /* rdpkru */
		forget(w, AX);
		set_gpr(w, DX, 8, known(0));
		break;
	case 0xe8: /* serialize */
	case 0xef: /* wrpkru */
		break;
	case 0xf9: /* rdtscp */
		forget(w, AX);
		forget(w, CX);
		forget(w, DX);
		break;
	default:
		end_walk(w, WALK_INSN);
		break;
	}
}

/* Bytes that xsave writes, from the components that edx:eax asks for: SDM volume 1, 13.4. */
static uint64_t size_of_xsave(const struct walk *w, bool compact)
{
	static const uint16_t size[10] = {0, 0, 256, 64, 64, 64, 512, 1024, 0, 64};
	uint64_t bytes = 576, mask = w->gpr[AX];
	unsigned i;

	if (w->gpr_known[AX] != 0xff)
		return 2752;
	for (i = 2; i < 10; i++)
		if (mask >> i & 1)
			bytes = compact ? bytes + size[i] : i > 7 ? 2752 : i > 2 ? 2688 : 832;
	return bytes;
}

static void forget_vectors(struct walk *w)
{
	unsigned i;

	w->vec_loaded = UINT32_MAX;
	for (i = 0; i < 32; i++)
		w->vec_known[i] = 0;
	w->kmask_loaded = 0xff;
	w->kmask_known = 0;
}

static void segment_base(struct walk *w)
{
	unsigned size = w->insn.w ? 8 : 4;
	uint64_t *base = group(w) & 1 ? &w->gs_base : &w->fs_base;
	struct val x;

	if (group(w) < 2) {
		walk_set_reg(w, w->insn.rm, size, known(*base & bits_of(size)));
		return;
	}
	x = walk_get_reg(w, w->insn.rm, size);
	*base = x.v;
	if (!x.known) /* whatever is addressed by it is not */
		end_walk(w, WALK_INSN);
}

/* 0F AE */
static void group15(struct walk *w)
{
	unsigned operation = group(w);

	if (!w->insn.memory) {
		if (operation < 4 && w->insn.pp == INSN_PP_F3)
			segment_base(w);
		else if (operation == 6 && w->insn.pp) /* umonitor, tpause, umwait */
			set_flags(w, FLAGS6, 0, false);
		else if (operation < 5)
			end_walk(w, WALK_INSN);
		return; /* else fences, incssp */
	}
	switch (operation) {
	case 0: /* fxsave */
		walk_spoil_memory(w, 512);
		break;
	case 1: /* fxrstor, xrstor */
	case 5:
		if (w->ea_state == WALK_ADDRESS_KNOWN)
			walk_touch(w, w->ea, operation == 1 ? 512 : size_of_xsave(w, true), 48);
		forget_vectors(w);
		break;
	case 2: /* ldmxcsr */
		walk_get_rm(w, 4);
		break;
	case 3: /* stmxcsr */
		walk_spoil_memory(w, 4);
		break;
	case 4: /* xsave, xsaveopt */
	case 6:
		if (w->insn.pp == INSN_PP_NONE)
			walk_spoil_memory(w, size_of_xsave(w, false));
		break; /* else clwb */
	default:       /* clflush, clflushopt */
		break;
	}
}

/* ---- compare and exchange ---- */

static void compare_exchange(struct walk *w, unsigned size)
{
	struct val a = get_gpr(w, AX, size), d = walk_get_rm(w, size);
	struct val s = walk_get_reg(w, w->insn.reg, size);

	walk_alu(w, ALU_CMP, size, a, d);
	/* Processors differ in whether a register that is not exchanged is written. */
	if (!w->insn.memory && size == 4 && !(a.known && d.known && a.v == d.v))
		set_gpr(w, w->insn.rm, 8, unknown());
	if (!a.known || !d.known) {
		if (w->insn.memory || size != 4)
			walk_set_rm(w, size, unknown());
		set_gpr(w, AX, size, unknown());
	} else if (a.v == d.v) {
		walk_set_rm(w, size, s);
	} else {
		if (w->insn.memory)
			walk_set_rm(w, size, d);
		set_gpr(w, AX, size, d);
	}
}

/* cmpxchg8b, cmpxchg16b */
static void compare_exchange_pair(struct walk *w)
{
	unsigned size = w->insn.w ? 8 : 4;
	struct val low = unknown(), high = unknown(), a = get_gpr(w, AX, size),
		   d = get_gpr(w, DX, size);
	bool ok, same;

	if (w->ea_state == WALK_ADDRESS_KNOWN) {
		low = walk_load(w, w->ea, size);
		high = walk_load(w, w->ea + size, size);
	}
	ok = a.known && d.known && low.known && high.known;
	same = a.v == low.v && d.v == high.v;
	set_flags(w, FLAG_Z, same ? FLAG_Z : 0, ok);
	if (!ok) {
		walk_spoil_memory(w, (uint64_t)size * 2);
	} else if (same) {
		walk_store(w, w->ea, size, get_gpr(w, BX, size));
		walk_store(w, w->ea + size, size, get_gpr(w, CX, size));
	}
	if (!same || !ok) {
		set_gpr(w, AX, size, (struct val){low.v, ok});
		set_gpr(w, DX, size, (struct val){high.v, ok});
	}
}

/* 0F C7 */
static void group9(struct walk *w)
{
	if (w->insn.memory && group(w) == 1) {
		compare_exchange_pair(w);
	} else if (w->insn.memory && (group(w) == 4 || group(w) == 5)) { /* xsavec, xsaves */
		walk_spoil_memory(w, size_of_xsave(w, true));
	} else if (!w->insn.memory && group(w) >= 6) { /* rdrand, rdseed, rdpid */
		walk_set_reg(w, w->insn.rm, 8, unknown());
		if (w->insn.pp != INSN_PP_F3)
			set_flags(w, FLAGS6, 0, false);
	} else {
		end_walk(w, WALK_INSN);
	}
}

/* ---- moves ---- */

static void exchange_add(struct walk *w, unsigned size)
{
	struct val a = walk_get_rm(w, size), b = walk_get_reg(w, w->insn.reg, size);
	struct val r = walk_alu(w, ALU_ADD, size, a, b);

	/* Of a register with itself, the sum stays. */
	walk_set_reg(w, w->insn.reg, size, a);
	walk_set_rm(w, size, r);
}

static void move_if(struct walk *w)
{
	unsigned size = op_size(&w->insn);
	struct val condition = walk_condition(w, w->insn.op & 15), a = walk_get_rm(w, size);
	struct val b = walk_get_reg(w, w->insn.reg, size);

	if (!condition.known)
		a = (struct val){a.v, a.known && b.known && a.v == b.v};
	else if (!condition.v)
		a = b;
	walk_set_reg(w, w->insn.reg, size, a);
}

static void move_extended(struct walk *w)
{
	unsigned size = op_size(&w->insn), from = w->insn.op & 1 ? 2 : 1;
	struct val a = walk_get_rm(w, from);

	if (w->insn.op & 8)
		a.v = sign_extend(a.v, from) & bits_of(size);
	walk_set_reg(w, w->insn.reg, size, a);
}

/* bswap; of 16 bits it is undefined */
static void swap(struct walk *w)
{
	unsigned size = op_size(&w->insn), n = w->insn.rm;
	struct val a = get_gpr(w, n, size);

	if (size == 2)
		a.known = false;
	a.v = __builtin_bswap64(a.v) >> (64 - 8 * size);
	set_gpr(w, n, size, a);
}

static void move_swapped(struct walk *w)
{
	unsigned size = op_size(&w->insn);
	struct val a =
		w->insn.op == 0xf0 ? walk_get_rm(w, size) : walk_get_reg(w, w->insn.reg, size);

	a.v = __builtin_bswap64(a.v) >> (64 - 8 * size);
	if (w->insn.op == 0xf0)
		walk_set_reg(w, w->insn.reg, size, a);
	else
		walk_set_rm(w, size, a);
}

static void shift_double(struct walk *w)
{
	unsigned size = op_size(&w->insn), op = w->insn.op;
	struct val count = op & 1 ? get_gpr(w, CX, 1) : known((uint64_t)w->insn.imm & 0xff);
	struct val a = walk_get_rm(w, size), b = walk_get_reg(w, w->insn.reg, size);

	walk_set_rm(w, size, walk_shift_double(w, op >= 0xa8, size, a, b, count));
}

/* ---- the maps ---- */

static void walk_00_to_3f(struct walk *w)
{
	unsigned op = w->insn.op;

	if (op == 0x01) {
		group7(w);
	} else if (op == 0x05 || op == 0x34) {
		end_walk(w, WALK_SYSCALL);
	} else if (op == 0x31 || op == 0x33) { /* rdtsc, rdpmc */
		forget(w, AX);
		forget(w, DX);
	} else if (op == 0x0d || op == 0x0e || (op >= 0x18 && op < 0x20)) {
		/* Nops, prefetches, endbr; rdssp. */
		if (op == 0x1e && w->insn.pp == INSN_PP_F3 && !w->insn.memory && group(w) == 1)
			walk_set_reg(w, w->insn.rm, op_size(&w->insn), unknown());
	} else if (op == 0x0f || (op >= 0x10 && op < 0x18) || op >= 0x28) {
		if (op < 0x30)
			walk_vector(w);
		else
			end_walk(w, WALK_INSN);
	} else {
		end_walk(w, WALK_INSN);
	}
}

static void walk_a0_to_af(struct walk *w)
{
	switch (w->insn.op) {
	case 0xa0: /* push fs, gs */
	case 0xa8:
		walk_push(w, w->insn.data16 && !w->insn.w ? 2 : 8, unknown());
		break;
	case 0xa2: /* cpuid */
		forget(w, AX);
		forget(w, BX);
		forget(w, CX);
		forget(w, DX);
		break;
	case 0xa3:
	case 0xab:
		walk_bit_test(w, w->insn.op >> 3 & 3, false);
		break;
	case 0xa4:
	case 0xa5:
	case 0xac:
	case 0xad:
		shift_double(w);
		break;
	case 0xae:
		group15(w);
		break;
	case 0xaf: {
		unsigned size = op_size(&w->insn);
		struct val a = walk_get_reg(w, w->insn.reg, size), b = walk_get_rm(w, size);

		walk_set_reg(w, w->insn.reg, size, walk_multiply_low(w, size, a, b));
		break;
	}
	default:
		end_walk(w, WALK_INSN);
		break;
	}
}

static void walk_b0_to_bf(struct walk *w)
{
	unsigned op = w->insn.op;

	switch (op) {
	case 0xb0:
	case 0xb1:
		compare_exchange(w, op & 1 ? op_size(&w->insn) : 1);
		break;
	case 0xb3:
	case 0xbb:
		walk_bit_test(w, op >> 3 & 3, false);
		break;
	case 0xba:
		if (group(w) >= 4)
			walk_bit_test(w, group(w) & 3, true);
		else
			end_walk(w, WALK_INSN);
		break;
	case 0xb6:
	case 0xb7:
	case 0xbe:
	case 0xbf:
		move_extended(w);
		break;
	case 0xb8:
		if (w->insn.pp == INSN_PP_F3)
			walk_count_ones(w);
		else
			end_walk(w, WALK_INSN);
		break;
	case 0xbc:
	case 0xbd:
		if (w->insn.pp == INSN_PP_F3)
			walk_count_zeros(w, op & 1);
		else
			walk_bit_scan(w, op & 1);
		break;
	default:
		end_walk(w, WALK_INSN);
		break;
	}
}

static void walk_c0_to_cf(struct walk *w)
{
	unsigned op = w->insn.op, size = op_size(&w->insn);

	if (op < 0xc2)
		exchange_add(w, op & 1 ? size : 1);
	else if (op >= 0xc8)
		swap(w);
	else if (op == 0xc7)
		group9(w);
	else if (op == 0xc3) /* movnti */
		walk_set_rm(w, size, walk_get_reg(w, w->insn.reg, size));
	else
		walk_vector(w);
}

void walk_two_bytes(struct walk *w)
{
	unsigned op = w->insn.op;

	if (op < 0x40) {
		walk_00_to_3f(w);
	} else if (op < 0x50) {
		move_if(w);
	} else if (op < 0x80 || op >= 0xd0) {
		if (op == 0xff)
			end_walk(w, WALK_INSN);
		else
			walk_vector(w);
	} else if (op < 0x90) {
		struct val condition = walk_condition(w, op & 15);

		if (w->insn.data16 && !w->insn.w)
			end_walk(w, WALK_INSN);
		else if (!condition.known)
			end_walk(w, WALK_BRANCH);
		else if (condition.v)
			w->ip += (uint64_t)w->insn.imm;
	} else if (op < 0xa0) {
		walk_set_rm(w, 1, walk_condition(w, op & 15));
	} else if (op < 0xb0) {
		walk_a0_to_af(w);
	} else if (op < 0xc0) {
		walk_b0_to_bf(w);
	} else {
		walk_c0_to_cf(w);
	}
}

void walk_three_bytes(struct walk *w)
{
	unsigned op = w->insn.op;

	if (w->insn.map == 3 || op < 0xf0) {
		walk_vector(w);
	} else if (op < 0xf2) {
		if (w->insn.pp == INSN_PP_F2)
			walk_crc32(w);
		else
			move_swapped(w);
	} else if (op == 0xf6 && (w->insn.pp == INSN_PP_66 || w->insn.pp == INSN_PP_F3)) {
		walk_add_carry(w, w->insn.pp == INSN_PP_66 ? FLAG_C : FLAG_O);
	} else if (op == 0xf9) { /* movdiri */
		walk_set_rm(w, w->insn.w ? 8 : 4, walk_get_reg(w, w->insn.reg, w->insn.w ? 8 : 4));
	} else {
		end_walk(w, WALK_INSN);
	}
}
