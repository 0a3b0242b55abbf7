/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/vex.h"

#include <setjmp.h>
#include <string.h>

#include <libvex.h>

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

static Bool chase(void *arg, Addr to)
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
static void start(void)
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

IRSB *vti_vex_lift(uint64_t addr, const uint8_t *bytes, size_t size)
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
		start();
	memcpy(vex_bytes, bytes, size);
	memset(vex_bytes + size, NO_INSN, sizeof(vex_bytes) - size);
	memset(&args, 0, sizeof(args));
	describe_machine(&args);
	args.guest_bytes = vex_bytes;
	args.guest_bytes_addr = addr;
	args.chase_into_ok = chase;
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
