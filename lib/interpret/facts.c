/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/bytes.h"
#include "interpret/path.h"
#include "machine/insn/insn.h"

/* Of asm/unistd_64.h and asm/prctl.h. */
#define NR_RT_SIGRETURN 15
#define NR_ARCH_PRCTL	158
#define ARCH_SET_FS	0x1002

#define STATE_REGS   24	 /* from AX to R15 of asm/perf_regs.h */
#define STATE_VECTOR 512 /* bytes */

/* ---- registers ---- */

static void set_state_registers(struct vti_paths *p, struct vt_words regs, struct vt_bytes vector)
{
	unsigned reg, lane;

	for (reg = 0; reg < STATE_REGS; reg++)
		if (reg != VT_REG_IP)
			vt_interp_set(p->machine, reg, 0, vt_word_of(regs.data[reg]));
	for (reg = 0; vector.size == STATE_VECTOR && reg < STATE_VECTOR / 32; reg++)
		for (lane = 0; lane < 4; lane++)
			vt_interp_set(p->machine, VT_REG_VECTOR + reg, lane,
				      vt_word_of(vt_le64(vector.data + 32 * (size_t)reg +
							 8 * (size_t)lane)));
}

int vti_path_state(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_words regs = vt_record_words(rec, VT_STATE_REGS);
	int code = vti_path_switch(p, vt_record_i64(rec, VT_STATE_PID),
				   vt_record_i64(rec, VT_STATE_TID), err);

	if (code < 0)
		return code;
	/* Earlier actions of the thread, and of the kernel on its stack, are not recorded. */
	vti_path_lose(p);
	if (regs.count != STATE_REGS)
		return 0;
	set_state_registers(p, regs, vt_record_bytes(rec, VT_STATE_VECTOR));
	vt_interp_set_mxcsr(p->machine, (uint32_t)vt_record_u64(rec, VT_STATE_MXCSR));
	p->at->goes_on = VTI_GOES_TO;
	p->at->to[0] = p->at->to[1] = regs.data[VT_REG_IP];
	return 0;
}

/* ---- system calls ---- */

/* The thread comes back; if another one ran meanwhile, what it loaded may have been overwritten. */
static int come_back(struct vti_paths *p, int64_t pid, int64_t tid, struct vt_error *err)
{
	struct vti_path_process *process = vti_path_process(p, pid, err);

	if (!process || vti_path_switch(p, pid, tid, err) < 0)
		return -VT_E_NOMEM;
	if (process->tid != tid)
		vt_known_memory_forget(p->memory->known);
	process->tid = tid;
	return 0;
}

int vti_path_syscall(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_words args = vt_record_words(rec, VT_SYSCALL_ARGS);
	uint64_t number = vt_record_u64(rec, VT_SYSCALL_NUMBER);
	int64_t result = vt_record_i64(rec, VT_SYSCALL_RESULT);
	int code = come_back(p, vt_record_i64(rec, VT_SYSCALL_PID),
			     vt_record_i64(rec, VT_SYSCALL_TID), err);

	if (code < 0 || !p->at->in_syscall || number == NR_RT_SIGRETURN)
		return code;
	vt_interp_set(p->machine, VT_REG_AX, 0, vt_word_of((uint64_t)result));
	if (number == NR_ARCH_PRCTL && result == 0 && args.count >= 2 &&
	    args.data[0] == ARCH_SET_FS)
		vt_interp_set(p->machine, VT_REG_FS, 0, vt_word_of(args.data[1]));
	return 0;
}

int vti_path_written(struct vti_paths *p, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes data = vt_record_bytes(rec, VT_MEMORY_DATA);
	int code = come_back(p, vt_record_i64(rec, VT_MEMORY_PID),
			     vt_record_i64(rec, VT_MEMORY_TID), err);

	if (code == 0)
		vt_known_memory_set(p->memory->known, vt_record_u64(rec, VT_MEMORY_ADDR), data.data,
				    data.size);
	return code;
}

/* ---- ptwrite ---- */

static void set_ptwritten_register(struct vti_paths *p, const struct vt_operand *o, uint64_t value)
{
	uint64_t mask = vt_low_bits(8u * o->size);
	struct vt_word w = vt_interp_get(p->machine, o->reg, 0);

	if ((w.value ^ value) & w.known & mask)
		p->in->totals.stale++;
	w.value = (w.value & ~mask) | (value & mask);
	w.known |= mask;
	vt_interp_set(p->machine, o->reg, 0, w);
}

/* The address of an operand in memory; false where it is not known. */
static bool address_of(const struct vti_paths *p, const struct vt_memory *m, uint64_t behind,
		       uint64_t *addr)
{
	struct vt_word base = vt_word_of(0), index = vt_word_of(0), segment = vt_word_of(0);

	if (m->base == VT_REG_IP)
		base = vt_word_of(behind);
	else if (m->base != VT_REG_NONE)
		base = vt_interp_get(p->machine, m->base, 0);
	if (m->index != VT_REG_NONE)
		index = vt_interp_get(p->machine, m->index, 0);
	if (m->segment != VT_REG_NONE)
		segment = vt_interp_get(p->machine, m->segment, 0);
	*addr = base.value + index.value * m->scale + segment.value + (uint64_t)m->displacement;
	return vt_word_is_known((struct vt_word){0, base.known & index.known & segment.known});
}

static void set_ptwritten_memory(struct vti_paths *p, const struct vt_memory *m, uint64_t behind,
				 uint64_t value)
{
	uint64_t addr;
	uint8_t bytes[8];

	vt_put_le64(bytes, value);
	if (m->size <= sizeof(bytes) && address_of(p, m, behind, &addr))
		vt_known_memory_set(p->memory->known, addr, bytes, m->size);
}

/* The operand of ptwrite has the recorded value, if no other instruction was run since. */
void vti_path_value(struct vti_paths *p, const struct vt_record *rec)
{
	const struct vti_path_thread *t = p->at;
	uint64_t ip = vt_record_u64(rec, VT_VALUE_IP);
	uint64_t value = vt_record_u64(rec, VT_VALUE_VALUE);
	const struct vt_bblock *b = t ? t->block : NULL;
	struct vt_facts f;

	if (vt_record_u64(rec, VT_VALUE_WHAT) != VT_WHAT_PTWRITE || !b ||
	    t->pid != vt_record_i64(rec, VT_VALUE_PID) ||
	    t->tid != vt_record_i64(rec, VT_VALUE_TID) || t->goes_on == VTI_GOES_NOWHERE ||
	    ip != vt_bblock_insn_addr(b, t->insn_end - 1) ||
	    !vt_facts_decode(b->code + (ip - b->addr), b->size - (ip - b->addr), &f) ||
	    f.flags & VT_FACT_SYSCALL)
		return;
	p->in->totals.ptwritten++;
	if (f.nsources && f.sources[0].where == VT_WHERE_REGISTER &&
	    f.sources[0].size <= sizeof(value))
		set_ptwritten_register(p, &f.sources[0], value);
	else if (f.nmemories == 1)
		set_ptwritten_memory(p, &f.memories[0], ip + f.length, value);
}
