/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include "cmd/agent/place.h"

#include <sys/mman.h>
#include <x86intrin.h>

#include "cmd/agent/agent.h"
#include "cmd/walker/walk.h"

/* Two frames of a signal with the largest registers that there are (AMX), and more. */
#define STACK_SIZE 32768

static struct own_memory {
	uint8_t stack[STACK_SIZE];
	struct walk walk;
} __attribute__((aligned(64))) * memories; /* one for each ring */

bool agent_make_places(void)
{
	void *p = mmap(NULL, agent.shared->nrings * sizeof(*memories), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	memories = p;
	return true;
}

/* void call_on_stack(void (*fn)(void *), void *arg, void *stack), which is a multiple of 16. */
__asm__(".pushsection .text\n"
	".type call_on_stack, @function\n"
	"call_on_stack:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	movq %rdx, %rsp\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	call *%rax\n"
	"	movq %rbp, %rsp\n"
	"	popq %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_on_stack, . - call_on_stack\n"
	".popsection\n");

extern void call_on_stack(void (*fn)(void *), void *arg, void *stack)
	__attribute__((visibility("hidden")));

void agent_call_in_place(const struct agent_place *p, void (*fn)(void *arg), void *arg)
{
	call_on_stack(fn, arg, p->stack);
}

/* Linux keeps the number of the processor where RDTSCP reads it. */
static uint32_t read_cpu(void)
{
	unsigned aux;

	__rdtscp(&aux);
	return aux & 0xfff;
}

static struct agent_ring *ring_at(uint32_t i)
{
	return (struct agent_ring *)((uint8_t *)agent.shared + AGENT_PAGE * (size_t)(1 + i));
}

void agent_free_places(void)
{
	uint32_t i, own;

	for (i = 0; i < agent.shared->nrings; i++) {
		own = (uint32_t)agent.pid;
		__atomic_compare_exchange_n(&ring_at(i)->owner, &own, 0, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED);
	}
}

bool agent_take_place(struct agent_place *p)
{
	uint32_t n = agent.shared->nrings, tries, i;

	p->cpu = read_cpu();
	i = p->cpu % n;
	for (tries = 0; tries < n; tries++, i = i + 1 == n ? 0 : i + 1) {
		struct agent_ring *r = ring_at(i);
		uint32_t free = 0;

		if (!__atomic_compare_exchange_n(&r->owner, &free, (uint32_t)agent.pid, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		p->ring = r;
		p->data = (uint8_t *)agent.shared + AGENT_PAGE * (size_t)(1 + n) +
			  agent.shared->ring_size * (size_t)i;
		p->walk = &memories[i].walk;
		p->stack = memories[i].stack + STACK_SIZE;
		return true;
	}
	return false;
}

void agent_leave_place(struct agent_place *p)
{
	__atomic_store_n(&p->ring->owner, 0, __ATOMIC_RELEASE);
}

struct agent_record *agent_reserve(struct agent_place *p, uint32_t size)
{
	uint64_t ring = agent.shared->ring_size, head = p->ring->head, at = head & (ring - 1);
	uint64_t rest = ring - at, need = size > rest ? size + rest : size;
	struct agent_record *pad = (struct agent_record *)(p->data + at);

	if (head - __atomic_load_n(&p->ring->tail, __ATOMIC_ACQUIRE) + need > ring)
		return NULL;
	if (size > rest) {
		pad->size = (uint32_t)rest;
		pad->type = AGENT_PAD;
		head += rest;
		at = 0;
	}
	p->head = head;
	return (struct agent_record *)(p->data + at);
}

void agent_commit(struct agent_place *p, uint32_t size)
{
	__atomic_store_n(&p->ring->head, p->head + size, __ATOMIC_RELEASE);
}
