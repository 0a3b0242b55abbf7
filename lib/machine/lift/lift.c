/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/lift.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libvex.h>
#include <libvex_guest_amd64.h>

#include "machine/lift/corrections.h"
#include "machine/lift/evex_emit.h"
#include "machine/lift/flatten.h"

/* Where a straight piece of code ends. */
#define ENDS (VT_FACT_BRANCH | VT_FACT_SYSCALL)

/* ---- VEX's part ---- */

#define PADDING 32
#define NO_INSN 0x06 /* pushes es, where there is no 64-bit mode */

/*
 * VEX is one translator for the whole process and keeps its own state in variables.  So does this,
 * for VEX tells of failures through a function that takes no argument and must not return.
 */
static jmp_buf vex_failed;
static bool vex_ready;
/* VEX has no notion of where code ends: it looks behind the last instruction. */
static uint8_t vex_bytes[VTI_LIFT_BYTES + PADDING];

static void __attribute__((noreturn)) on_failure(void)
{
	longjmp(vex_failed, 1);
}

static void on_log(const HChar *text, SizeT size)
{
	(void)text;
	(void)size;
}

static Bool refuse_chase(void *arg, Addr to)
{
	(void)arg;
	(void)to;
	return False;
}

static UInt self_check(void *arg, VexRegisterUpdates *px, const VexGuestExtents *extents)
{
	(void)arg;
	(void)px;
	(void)extents;
	return 0;
}

/* Registers are in the guest state at each instruction; a block is a straight piece of code. */
static void start_vex(void)
{
	VexControl c;

	LibVEX_default_VexControl(&c);
	c.iropt_level = 1;
	c.iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	c.guest_chase = False;
	c.guest_max_insns = VTI_LIFT_INSNS;
	LibVEX_Init(on_failure, on_log, 0, &c);
	vex_ready = true;
}

static void describe_machine(VexTranslateArgs *args)
{
	LibVEX_default_VexArchInfo(&args->archinfo_guest);
	args->archinfo_guest.endness = VexEndnessLE;
	args->archinfo_guest.hwcaps =
		VEX_HWCAPS_AMD64_SSE3 | VEX_HWCAPS_AMD64_SSSE3 | VEX_HWCAPS_AMD64_CX16 |
		VEX_HWCAPS_AMD64_LZCNT | VEX_HWCAPS_AMD64_AVX | VEX_HWCAPS_AMD64_AVX2 |
		VEX_HWCAPS_AMD64_BMI | VEX_HWCAPS_AMD64_F16C | VEX_HWCAPS_AMD64_RDRAND |
		VEX_HWCAPS_AMD64_RDTSCP | VEX_HWCAPS_AMD64_RDSEED;
	args->archinfo_host = args->archinfo_guest;
	args->arch_guest = args->arch_host = VexArchAMD64;
	LibVEX_default_VexAbiInfo(&args->abiinfo_both);
	args->abiinfo_both.guest_stack_redzone_size = 128;
	args->abiinfo_both.guest_amd64_assume_fs_is_const = True;
	args->abiinfo_both.guest_amd64_assume_gs_is_const = True;
}

/*
 * The instructions in `size` bytes, at most VTI_LIFT_BYTES, up to the first branch, as VEX has
 * them; what it makes of the end of the bytes, an instruction of no length, comes last.  Borrowed
 * until the next call; NULL when VEX gave up.
 */
static IRSB *vex_lift(uint64_t addr, const uint8_t *bytes, size_t size)
{
	VexRegisterUpdates px = VexRegUpdAllregsAtEachInsn;
	VexGuestExtents extents;
	VexTranslateResult result;
	VexTranslateArgs args;
	UChar no_code[1];
	Int used;

	if (size > VTI_LIFT_BYTES || setjmp(vex_failed))
		return NULL;
	if (!vex_ready)
		start_vex();
	memcpy(vex_bytes, bytes, size);
	memset(vex_bytes + size, NO_INSN, sizeof(vex_bytes) - size);
	memset(&args, 0, sizeof(args));
	describe_machine(&args);
	args.guest_bytes = vex_bytes;
	args.guest_bytes_addr = addr;
	args.chase_into_ok = refuse_chase;
	args.guest_extents = &extents;
	args.needs_self_check = self_check;
	/* Machine code is not made, but places for it have to be named. */
	args.host_bytes = no_code;
	args.host_bytes_size = sizeof(no_code);
	args.host_bytes_used = &used;
	args.disp_cp_chain_me_to_slowEP = args.disp_cp_chain_me_to_fastEP = no_code;
	args.disp_cp_xindir = args.disp_cp_xassisted = no_code;
	return LibVEX_FrontEnd(&args, &result, &px);
}

#define ENDS (VT_FACT_BRANCH | VT_FACT_SYSCALL)

/* ---- instructions ---- */

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
static void scan_insns(struct vti_build *b, const uint8_t *bytes, size_t size, unsigned max_insns)
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
	vti_emit_put(b, (unsigned)offset, size, vti_build_unknown(b, size));
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

	memset(&u, 0, sizeof(u));
	u.writes = (uint64_t)vti_unlifted_masks(b) << VT_REG_MASK;
	vti_emit_begin(b);
	b->cleared = 0;
	u.writes |= f->writes & ~(UINT64_C(1) << VT_REG_IP | UINT64_C(1) << VT_REG_FLAGS);
	u.writes_flags = f->writes >> VT_REG_FLAGS & 1;
	u.writes_memory = f->flags & VT_FACT_STORE;
	u.writes_fp = may_write_fp(f);
	if (strcmp(f->mnemonic, "xbegin") == 0)
		u.writes |= UINT64_C(1) << VT_REG_AX;
	/* Facts tell no registers of these. */
	if (strncmp(f->mnemonic, "xrstor", 6) == 0)
		u.writes |= UINT64_C(0xffffffff) << VT_REG_VECTOR;
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
	vti_build_add_with(b, (struct vti_op){.op = VTI_UNLIFTED}, (struct vti_widths){0}, &u,
			   sizeof(u));
	if (u.writes_fp)
		forget_floating_point(b);
	vti_capture_unlifted(b);
	if (!(f->flags & ENDS))
		return false;
	vti_emit_end(b, vti_build_unknown(b, 8), Ijk_Boring, false);
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
	in = vex_lift(b->addr + at, bytes + at, end - at);
	/* One instruction that VEX gives up at does not cost the others. */
	if (!in)
		in = vex_lift(b->addr + at, bytes + at, b->insns[b->emitted].facts.length);
	return in ? vti_flatten(b, in) : VTI_PIECE_UNLIFTED;
}

static void add_all(struct vti_build *b, const uint8_t *bytes)
{
	while (b->emitted < b->ninsns && !b->failed && !b->full) {
		enum vti_piece what = add_piece(b, bytes);

		if (what == VTI_PIECE_UNLIFTED && (vti_lift_bit_test(b) || vti_lift_evex(b)))
			continue;
		if (what == VTI_PIECE_END || (what == VTI_PIECE_UNLIFTED && add_unlifted(b))) {
			b->bad = b->no_code = false;
			return;
		}
	}
	b->insn = b->emitted;
	if (b->bad || b->no_code)
		vti_build_add(b, (struct vti_op){.op = VTI_STOP}, (struct vti_widths){0});
	else
		vti_emit_end(b, vti_build_u64(b, b->addr + b->length), Ijk_Boring, false);
}

static void restart_build(struct vti_build *b)
{
	b->nops = b->nslots = b->more.size = 0;
	b->emitted = b->insn = b->nunlifted = b->nunknown = 0;
	b->full = b->request = false;
	b->cleared = 0;
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
		restart_build(b);
		scan_insns(b, bytes, size, max_insns);
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
