/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/buf.h"
#include "image/procdata.h"
#include "interpret/internal.h"
#include "machine/insn/insn.h"

/* "endbr64; bnd jmp *disp32(%rip)". */
#define STUB_SIZE 16

#define NEAR_CALL 0xe8 /* call rel32 */
#define MAX_CALL  9    /* bytes: notrack, REX, opcode, ModRM, SIB, displacement */

void vti_callers_init(struct vti_callers *c, struct vti_spaces *spaces, struct vt_interp *machine,
		      struct vt_known_memory *memory)
{
	*c = (struct vti_callers){.spaces = spaces, .machine = machine, .memory = memory};
}

void vti_callers_fini(struct vti_callers *c)
{
	free(c->list);
}

static bool get_reg(void *arg, unsigned reg, uint64_t *value)
{
	const struct vti_callers *c = arg;
	struct vt_word w = vt_interp_get(c->machine, reg, 0);

	*value = w.value;
	return vt_word_is_known(w);
}

static bool load_caller_memory(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	struct vti_callers *c = arg;
	struct vt_word w;

	vt_known_memory_load(c->memory, address, size, &w);
	*value = w.value;
	return vt_word_is_known(w);
}

/*
 * What a program begins with was not called, though its call frame information may say so, if it is
 * written in C: then something else stands where the return address would.
 */
static bool is_behind_call(const struct vti_callers *c, uint64_t address)
{
	uint8_t code[MAX_CALL];
	struct vt_facts f;
	size_t size;

	if (address < MAX_CALL ||
	    vti_spaces_code(c->spaces, c->pid, address - MAX_CALL, code, MAX_CALL) != MAX_CALL)
		return false;
	if (code[MAX_CALL - 5] == NEAR_CALL)
		return true;
	for (size = 2; size <= MAX_CALL; size++)
		if (vt_facts_decode(code + MAX_CALL - size, size, &f) && f.length == size &&
		    f.flags & VT_FACT_CALL)
			return true;
	return false;
}

static uint64_t unwind_caller(struct vti_callers *c, uint64_t ip)
{
	const struct vt_unwind_state s = {c, get_reg, load_caller_memory};
	struct vt_return r;

	if (!vt_procdata_return(c->spaces->images, c->spaces->maps, (int32_t)c->pid, ip, &s, &r) ||
	    !is_behind_call(c, r.ret))
		return 0;
	return r.ret;
}

static bool is_at_plt_stub(const struct vti_callers *c, uint64_t ip)
{
	uint8_t code[STUB_SIZE];
	int64_t slot;

	return vt_code_is_plt(code, vti_spaces_code(c->spaces, c->pid, ip, code, sizeof(code)),
			      &slot);
}

static void add_run_caller(struct vti_callers *c, struct vt_run_caller one)
{
	if (vt_array_grow(&c->list, &c->cap, c->count + 1, sizeof(*c->list)))
		c->list[c->count++] = one;
	else
		c->no_memory = true;
}

void vti_callers_note(struct vti_callers *c, uint32_t insn, uint64_t ip, uint64_t caller)
{
	if (!c->count || c->list[c->count - 1].caller != caller)
		add_run_caller(c, (struct vt_run_caller){.ip = ip, .caller = caller, .insn = insn});
}

void vti_callers_begin(struct vti_callers *c, int64_t pid)
{
	uint64_t ip = 0;

	c->pid = pid;
	c->in_stub = c->no_memory = false;
	get_reg(c, VT_REG_IP, &ip);
	add_run_caller(c, (struct vt_run_caller){.ip = ip, .caller = unwind_caller(c, ip)});
}

void vti_callers_transfer(void *arg, uint32_t insn, bool call)
{
	struct vti_callers *c = arg;
	struct vt_run_caller one = {.insn = insn};
	uint64_t sp;

	/* What is run before what counts. */
	if (!c->count)
		return;
	get_reg(c, VT_REG_IP, &one.ip);
	call = call && get_reg(c, VT_REG_SP, &sp) && load_caller_memory(c, sp, 8, &one.caller) &&
	       one.caller != one.ip;
	if (call || c->in_stub) {
		/* A stub goes on to the procedure that was called. */
		if (!call)
			one.caller = c->list[c->count - 1].caller;
		c->in_stub = is_at_plt_stub(c, one.ip);
		one.entered = !c->in_stub;
	} else {
		one.caller = unwind_caller(c, one.ip);
	}
	if (one.entered || one.caller != c->list[c->count - 1].caller)
		add_run_caller(c, one);
}

uint64_t vt_run_caller(const struct vt_run *run, uint32_t insn, size_t *at)
{
	if (!run->ncallers)
		return run->caller;
	if (*at >= run->ncallers || run->callers[*at].insn > insn)
		*at = 0;
	while (*at + 1 < run->ncallers && run->callers[*at + 1].insn <= insn)
		++*at;
	return run->callers[*at].caller;
}
