/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The program of `vtrace record --sample-values --bpf` in the kernel: at each event of time it
 * walks the next instructions by the operations that the recorder has made of them, and hands over
 * the registers and the lines that they read.  It stops nothing and writes to no process.
 */
#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "cmd/bpf/program.h"
#include "cmd/walker/walk.h"
#include "formats/common/value_sample.h"

char LICENSE[] SEC("license") = "GPL";

/* What is read of the kernel's own structures; libbpf puts in this kernel's offsets. */
struct thread_struct {
	unsigned long fsbase;
	unsigned long gsbase;
} __attribute__((preserve_access_index));

struct task_struct {
	struct thread_struct thread;
	__u64 self_exec_id;
} __attribute__((preserve_access_index));

struct bpf_walk_shared shared;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_WALK_CODES);
	__type(key, struct bpf_walk_at);
	__type(value, __u32);
} codes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} samples SEC(".maps");

static bool walk_read(__u64 addr, void *bytes, __u32 size)
{
	if (addr >> 63)
		return bpf_probe_read_kernel(bytes, size, (const void *)addr) == 0;
	return bpf_probe_read_user(bytes, size, (const void *)addr) == 0;
}

static bool walk_find(const struct bpf_walk_at *at, __u32 *op)
{
	__u32 *found = bpf_map_lookup_elem(&codes, at);

	if (found)
		*op = *found;
	return found;
}

static const struct bpf_walk_op *walk_op(__u32 index)
{
	index &= BPF_WALK_POOL - 1;
	return &shared.pool[index];
}

#include "cmd/bpf/step.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walk_state);
} states SEC(".maps");

static long run_op(__u32 i, struct walk_state **s)
{
	(void)i;
	return walk_step(*s) ? 0 : 1;
}

static void take_registers(struct walk_state *s, const bpf_user_pt_regs_t *r)
{
	__u32 i;

	s->reg[0] = r->rax;
	s->reg[1] = r->rcx;
	s->reg[2] = r->rdx;
	s->reg[3] = r->rbx;
	s->reg[4] = r->rsp;
	s->reg[5] = r->rbp;
	s->reg[6] = r->rsi;
	s->reg[7] = r->rdi;
	s->reg[8] = r->r8;
	s->reg[9] = r->r9;
	s->reg[10] = r->r10;
	s->reg[11] = r->r11;
	s->reg[12] = r->r12;
	s->reg[13] = r->r13;
	s->reg[14] = r->r14;
	s->reg[15] = r->r15;
	for (i = 0; i < 16; i++)
		s->out.gpr[i] = s->reg[i];
	s->out.ip = r->rip;
	s->out.flags = r->eflags;
	s->out.cs = r->cs;
	s->out.ss = r->ss;
}

/* In the kernel GS has the base of the processor's own data, and FS is the thread's. */
static void take_bases(struct walk_state *s, struct task_struct *task, bool kernel)
{
	s->known = (1u << BPF_WALK_TEMP) - 1;
	s->out.gs_base = 0;
	s->out.fs_base = BPF_CORE_READ(task, thread.fsbase);
	if (!kernel) {
		s->out.gs_base = BPF_CORE_READ(task, thread.gsbase);
	} else if (!shared.cpu_offsets ||
		   bpf_probe_read_kernel(&s->out.gs_base, 8,
					 (const __u64 *)shared.cpu_offsets + s->out.cpu)) {
		s->out.gs_base = VT_VALUE_SAMPLE_NO_BASE;
		s->known &= ~(1u << BPF_WALK_GS);
	}
	s->reg[BPF_WALK_FS] = s->out.fs_base;
	s->reg[BPF_WALK_GS] = s->out.gs_base;
	s->flags_kind = WALK_FLAGS_RAW;
	s->flags_a = s->out.flags;
	s->flags_unknown = 0;
}

/* The recorder does not know this code yet: what registers point at is read. */
static void touch_registers(struct walk_state *s)
{
	__u32 i;

	s->out.missing = s->out.ip;
	s->out.stop = WALK_CODE;
	walk_touch(s, s->out.ip);
	walk_touch(s, s->out.ip + 15);
	for (i = 0; i < 16; i++)
		if (s->reg[i] >= 4096)
			walk_touch(s, s->reg[i]);
	s->out.unreadable = 0; /* numbers are no addresses */
}

#define USER32_CS 0x23 /* of asm/segment.h, which is the kernel's own */

// cppcheck-suppress unknownMacro
SEC("perf_event")
int take_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 ids = bpf_get_current_pid_tgid(), begin = bpf_ktime_get_ns();
	bool kernel = !(ctx->regs.cs & 3);
	struct bpf_walk_at at;
	__u32 zero = 0;
	struct walk_state *s = bpf_map_lookup_elem(&states, &zero);
	__u64 size;

	if (!s || !ids)
		return 0;
	if (ctx->regs.cs == USER32_CS) {
		__sync_fetch_and_add(&shared.foreign, 1);
		return 0;
	}
	s->out.time = begin;
	s->out.pid = (__u32)(ids >> 32);
	s->out.tid = (__u32)ids;
	s->out.cpu = bpf_get_smp_processor_id();
	s->out.space = kernel ? 0 : s->out.pid | BPF_CORE_READ(task, self_exec_id) << 32;
	s->out.missing = 0;
	s->out.nlines = 0;
	s->out.walked = 0;
	s->out.unreadable = 0;
	s->limit = (__u32)shared.limit;
	s->code_line = 0;
	take_registers(s, &ctx->regs);
	take_bases(s, task, kernel);
	at.space = s->out.space;
	at.pc = s->out.ip;
	if (walk_find(&at, &s->op)) {
		s->out.stop = WALK_FULL;
		bpf_loop(s->limit * 32, run_op, &s, 0);
	} else {
		touch_registers(s);
	}
	size = s->out.nlines;
	if (size > BPF_WALK_LINES)
		return 0;
	size = offsetof(struct bpf_walk_sample, line) + size * sizeof(struct bpf_walk_line);
	/* The recorder compiles what is missing at once, and reads the rest from time to time. */
	if (bpf_ringbuf_output(&samples, &s->out, size,
			       s->out.missing ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&shared.lost, 1);
	__sync_fetch_and_add(&shared.lines_read, s->out.nlines);
	__sync_fetch_and_add(&shared.lines_bad, s->out.unreadable);
	__sync_fetch_and_add(&shared.ticks, bpf_ktime_get_ns() - begin);
	return 0;
}

/* ---- the kernel's code, for the recorder ---- */

// cppcheck-suppress unknownMacro
SEC("syscall")
int read_kernel_line(struct bpf_walk_text *c)
{
	__u8 bytes[BPF_WALK_LINE] = {0};

	c->read = bpf_probe_read_kernel(bytes, BPF_WALK_LINE, (const void *)c->addr) == 0;
	__builtin_memcpy(c->bytes, bytes, BPF_WALK_LINE);
	return 0;
}
