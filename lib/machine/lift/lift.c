/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/lift.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libvex_guest_amd64.h>

#include "machine/lift/amend.h"

/* Where a straight piece of code ends. */
#define ENDS (VT_FACT_BRANCH | VT_FACT_SYSCALL)

static bool is_cut_off(const uint8_t *bytes, size_t size)
{
	uint8_t padded[VT_MAX_INSN] = {0};
	struct vt_facts f;

	if (size >= VT_MAX_INSN)
		return false;
	memcpy(padded, bytes, size);
	return vt_facts_decode(padded, sizeof(padded), &f) && f.length > size;
}

/* ud0, ud1, ud2: no instruction on purpose, of which VEX knows nothing. */
static bool is_undefined(const struct vt_facts *f)
{
	return f->mnemonic[0] == 'u' && f->mnemonic[1] == 'd' && f->mnemonic[2] >= '0' &&
	       f->mnemonic[2] <= '2' && !f->mnemonic[3];
}

/* Finds the instructions: Zydis, not VEX, says where they are. */
static void scan(struct vti_build *b, const uint8_t *bytes, size_t size, unsigned max_insns)
{
	b->ninsns = b->length = 0;
	b->bad = b->no_code = false;
	while (b->ninsns < max_insns) {
		struct vti_build_insn *n = &b->insns[b->ninsns];
		size_t left = size - b->length;

		if (!left) {
			b->no_code = true;
			return;
		}
		if (!vt_facts_decode(bytes + b->length, left, &n->facts) ||
		    is_undefined(&n->facts)) {
			b->no_code = is_cut_off(bytes + b->length, left);
			b->bad = !b->no_code;
			n->offset = b->length;
			return;
		}
		n->offset = b->length;
		b->length += n->facts.length;
		b->ninsns++;
		if (n->facts.flags & ENDS)
			return;
	}
}

/* ---- instructions that VEX does not know ---- */

static void forget_state(struct vti_build *b, size_t offset, unsigned size)
{
	vti_build_add(b,
		      (struct vti_op){.op = (uint16_t)vti_sized(VTI_PUT1, size),
				      .a = vti_build_unknown(b, size),
				      .imm = offset},
		      (struct vti_widths){.a = (uint8_t)((size + 7) / 8)});
}

/* What facts do not tell: the x87 and MMX registers.  MXCSR is the interpreter's business. */
static void forget_floating_point(struct vti_build *b)
{
	size_t i;

	for (i = 0; i < 8; i++)
		forget_state(b, offsetof(VexGuestAMD64State, guest_FPREG) + 8 * i, 8);
	forget_state(b, offsetof(VexGuestAMD64State, guest_FPTAG), 8);
	forget_state(b, offsetof(VexGuestAMD64State, guest_FTOP), 4);
	forget_state(b, offsetof(VexGuestAMD64State, guest_FPROUND), 8);
	forget_state(b, offsetof(VexGuestAMD64State, guest_FC3210), 8);
}

/*
 * Facts say nothing of the state of x87 and MXCSR.  What came with AVX and later leaves it alone,
 * but for vldmxcsr: those are the names that begin with v, and the masks' with k.
 */
static bool may_write_fp(const struct vt_facts *f)
{
	const char *m = f->mnemonic;

	if ((f->flags & VT_FACT_NOP) || strncmp(m, "sha", 3) == 0)
		return false;
	return (m[0] != 'v' && m[0] != 'k') || strcmp(m, "vldmxcsr") == 0;
}

/* Those that are not a result's. */
static void forget_other_flags(struct vti_build *b)
{
	forget_state(b, offsetof(VexGuestAMD64State, guest_DFLAG), 8);
	forget_state(b, offsetof(VexGuestAMD64State, guest_ACFLAG), 8);
	forget_state(b, offsetof(VexGuestAMD64State, guest_IDFLAG), 8);
}

/* True: the block ends with it. */
static bool add_unlifted(struct vti_build *b)
{
	const struct vt_facts *f = &b->insns[b->emitted].facts;
	struct vti_unlifted u;

	vti_insn_begin(b);
	memset(&u, 0, sizeof(u));
	u.writes = f->writes & ~(UINT64_C(1) << VT_REG_IP | UINT64_C(1) << VT_REG_FLAGS);
	u.writes_flags = f->writes >> VT_REG_FLAGS & 1;
	u.writes_memory = f->flags & VT_FACT_STORE;
	u.writes_fp = may_write_fp(f);
	if (strcmp(f->mnemonic, "xbegin") == 0)
		u.writes |= UINT64_C(1) << VT_REG_AX;
	/* Facts tell no registers of these. */
	if (strncmp(f->mnemonic, "xrstor", 6) == 0)
		u.writes |= UINT64_C(0xffff) << VT_REG_VECTOR;
	/* Under Valgrind, the answer is there behind the request. */
	if (b->request)
		u.writes |= UINT64_C(1) << VT_REG_AX | UINT64_C(1) << VT_REG_DX;
	b->request = false;
	if (strcmp(f->mnemonic, "wrfsbase") == 0)
		u.writes |= UINT64_C(1) << VT_REG_FS;
	if (strcmp(f->mnemonic, "wrgsbase") == 0)
		u.writes |= UINT64_C(1) << VT_REG_GS;
	if (strcmp(f->mnemonic, "std") == 0 || strcmp(f->mnemonic, "cld") == 0 ||
	    strncmp(f->mnemonic, "popf", 4) == 0)
		forget_other_flags(b);
	b->nunlifted++;
	vti_build_add(b,
		      (struct vti_op){.op = VTI_UNLIFTED, .imm = vti_build_more(b, &u, sizeof(u))},
		      (struct vti_widths){0});
	if (u.writes_fp)
		forget_floating_point(b);
	vti_capture_unlifted(b);
	if (!(f->flags & ENDS))
		return false;
	vti_build_add(b,
		      (struct vti_op){.op = VTI_END,
				      .a = vti_build_unknown(b, 8),
				      .aux = (uint16_t)Ijk_Boring},
		      (struct vti_widths){.a = 1});
	return true;
}

/* ---- the block ---- */

/* One piece from instruction b->emitted on. */
static enum vti_piece add_piece(struct vti_build *b, const uint8_t *bytes)
{
	uint32_t at = b->insns[b->emitted].offset, end;
	IRSB *in;

	for (b->limit = b->emitted + 1; b->limit < b->ninsns; b->limit++)
		if (vti_ends_piece(&b->insns[b->limit - 1].facts))
			break;
	end = b->limit < b->ninsns ? b->insns[b->limit].offset : b->length;
	in = vti_vex_lift(b->addr + at, bytes + at, end - at);
	/* One instruction that VEX gives up at does not cost the others. */
	if (!in)
		in = vti_vex_lift(b->addr + at, bytes + at, b->insns[b->emitted].facts.length);
	return in ? vti_flatten(b, in) : VTI_PIECE_UNLIFTED;
}

static bool is_bit_test(const struct vti_build *b)
{
	const struct vti_build_insn *n = &b->insns[b->emitted];

	return vti_is_register_bit_test(&n->facts) &&
	       !vti_has_idle_prefix(b->bytes + n->offset, n->facts.length);
}

static void add_all(struct vti_build *b, const uint8_t *bytes)
{
	while (b->emitted < b->ninsns && !b->failed && !b->full) {
		enum vti_piece what = add_piece(b, bytes);

		if (what == VTI_PIECE_UNLIFTED && is_bit_test(b)) {
			vti_lift_bit_test(b);
			continue;
		}
		if (what == VTI_PIECE_END || (what == VTI_PIECE_UNLIFTED && add_unlifted(b))) {
			b->bad = b->no_code = false;
			return;
		}
	}
	b->insn = b->emitted;
	if (b->bad || b->no_code)
		vti_build_add(b, (struct vti_op){.op = VTI_STOP}, (struct vti_widths){0});
	else
		vti_build_add(b,
			      (struct vti_op){.op = VTI_END,
					      .a = vti_build_u64(b, b->addr + b->length),
					      .aux = (uint16_t)Ijk_Boring},
			      (struct vti_widths){.a = 1});
}

static void restart(struct vti_build *b)
{
	b->nops = b->nslots = b->more.size = 0;
	b->emitted = b->insn = b->nunlifted = b->nunknown = 0;
	b->full = b->request = false;
}

struct vti_block *vti_lift(uint64_t addr, const uint8_t *bytes, size_t size, unsigned max_insns,
			   uint32_t capture, struct vt_error *err)
{
	struct vti_build *b = calloc(1, sizeof(*b));
	struct vti_block *k = NULL;

	if (!b) {
		vt_error_set(err, VT_E_NOMEM, "no memory to lift code");
		return NULL;
	}
	b->addr = addr;
	b->bytes = bytes;
	b->capture = capture;
	if (max_insns > VTI_LIFT_INSNS)
		max_insns = VTI_LIFT_INSNS;
	do {
		restart(b);
		scan(b, bytes, size, max_insns);
		add_all(b, bytes);
		max_insns = b->ninsns / 2;
	} while (b->full && !b->failed && max_insns);
	if (b->full) {
		vt_error_set(err, VT_E_SYSTEM, "an instruction is too long in VEX's code");
	} else {
		k = vti_build_finish(b);
		if (!k)
			vt_error_set(err, VT_E_NOMEM, "no memory to lift code");
	}
	vti_build_free(b);
	return k;
}

void vti_block_free(struct vti_block *b)
{
	if (b)
		free(b->arena);
}
