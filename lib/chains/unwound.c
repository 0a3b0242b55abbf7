/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chains/unwound.h"

#include "base/bytes.h"
#include "flow/leave.h"
#include "image/procdata.h"
#include "stream/kinds.h"

/* PERF_SAMPLE_REGS_ABI_64 of linux/perf_event.h. */
#define ABI_64 2

/* A mask with the instruction pointer of AArch64, where x86-64 has no register of user mode. */
#define ARM64_IP 32

/* How far above its pointer a stack may go: the usual limit of ulimit -s. */
#define MOST_STACK (8 << 20)

/* The copy of a stack. */
struct stack_copy {
	struct vt_bytes bytes;
	uint64_t start;
	bool shortened; /* a word beyond its end was asked for */
};

static bool load_stack(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	struct stack_copy *s = arg;
	uint64_t at = address - s->start;
	unsigned i;

	if (at > s->bytes.size || s->bytes.size - at < size) {
		/* What is smaller is no return address: code that is followed reads it. */
		s->shortened = s->shortened || (size == 8 && at < MOST_STACK);
		return false;
	}
	if (size == 8) {
		*value = vt_le64(s->bytes.data + at);
		return true;
	}
	*value = 0;
	for (i = 0; i < size; i++)
		*value |= (uint64_t)s->bytes.data[at + i] << (8 * i);
	return true;
}

/* Takes the sample's registers; false if it lacks the stack or the instruction pointer. */
static bool take_registers(const struct vt_record *sample, uint64_t mask, struct vt_unwind_regs *r)
{
	struct vt_words words = vt_record_words(sample, VT_SAMPLE_UREGS);
	const uint32_t needed = 1u << VT_UNWIND_SP | 1u << VT_UNWIND_IP;
	unsigned reg;
	size_t at = 0;

	*r = (struct vt_unwind_regs){.known = 0};
	if (vt_record_u64(sample, VT_SAMPLE_UREGS_ABI) != ABI_64 || mask >> ARM64_IP & 1)
		return false;
	for (reg = 0; reg < VT_UNWIND_REGS && at < words.count; reg++) {
		if (!(mask >> reg & 1))
			continue;
		r->value[reg] = words.data[at++];
		r->known |= 1u << reg;
	}
	return (r->known & needed) == needed;
}

static bool has_user_part(const struct vt_chain *c)
{
	size_t i;

	for (i = 1; i < c->count; i++)
		if (c->frames[i].mode == VT_FRAME_USER)
			return true;
	return false;
}

/* The procedure that the registers are of: the sample's own, or the one that entered the kernel. */
static void append_first(struct vt_chain *c, uint64_t ip)
{
	if (c->frames[0].mode == VT_FRAME_USER && c->frames[0].address == ip)
		return;
	c->skid = c->skid || c->count == 1;
	vt_chain_append(c, ip, VT_FRAME_USER);
}

bool vt_chain_unwind(struct vt_chain *c, const struct vt_record *sample, uint64_t mask,
		     struct vt_images *images, struct vt_addrspace *space, vt_chain_visit_fn *visit,
		     void *arg)
{
	int32_t pid = (int32_t)vt_record_i64(sample, VT_SAMPLE_PID);
	struct stack_copy stack = {.bytes = vt_record_bytes(sample, VT_SAMPLE_STACK)};
	const struct vt_leave how = {images, space, pid, load_stack, &stack, visit, arg};
	struct vt_unwind_regs regs;
	uint64_t address, sp;
	bool called = false;

	if (!stack.bytes.size || has_user_part(c) || !take_registers(sample, mask, &regs))
		return false;
	stack.start = regs.value[VT_UNWIND_SP];
	address = regs.value[VT_UNWIND_IP];
	append_first(c, address);
	do {
		sp = regs.value[VT_UNWIND_SP];
		stack.shortened = false;
		if (!vt_procdata_step(images, space, pid, address, &regs, load_stack, &stack) &&
		    !vt_leave_by_code(&how, &regs)) {
			c->shortened = stack.shortened;
			break;
		}
		/* The handler of a signal was not called by a trampoline: it returns to its start.
		 */
		if (regs.interrupted && called)
			c->frames[c->count - 1].address++;
		/* The call, not where it returns to. */
		called = !regs.interrupted;
		address = regs.value[VT_UNWIND_IP] - called;
		/* The stack grows down: a caller's part of it lies above. */
		if (regs.value[VT_UNWIND_SP] <= sp ||
		    !vt_addrspace_find(space, pid, address, VT_FRAME_USER))
			break;
		vt_chain_append(c, address, VT_FRAME_USER);
	} while (!c->cut);
	return true;
}
