/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

/* A machine for the walker's tests: code and data at chosen addresses. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/walker/walk.h"
#include "cmd/walker/walk_state.h"

#define CODE  UINT64_C(0x401000)
#define DATA  UINT64_C(0x600000)
#define STACK UINT64_C(0x7ffe0000)
#define PAGE  4096

/* Three pages; what is behind the code is not mapped. */
struct machine {
	uint8_t code[PAGE];
	uint8_t data[PAGE];
	uint8_t stack[PAGE];
	unsigned reads;
	bool hides_data;
	struct walk_start start;
	struct walk w;
};

static struct machine m;

static inline bool read_line(void *arg, uint64_t addr, uint8_t bytes[WALK_LINE])
{
	struct machine *x = arg;

	x->reads++;
	assert_int_equal(addr % WALK_LINE, 0);
	if (addr >= CODE && addr < CODE + PAGE)
		memcpy(bytes, x->code + (addr - CODE), WALK_LINE);
	else if (addr >= DATA && addr < DATA + PAGE && !x->hides_data)
		memcpy(bytes, x->data + (addr - DATA), WALK_LINE);
	else if (addr >= STACK && addr < STACK + PAGE)
		memcpy(bytes, x->stack + (addr - STACK), WALK_LINE);
	else
		return false;
	return true;
}

static inline int set_up(void **state)
{
	unsigned i;

	(void)state;
	memset(&m, 0, sizeof(m));
	memset(&m.w, 0xa5, sizeof(m.w));
	memset(m.code, 0x90, sizeof(m.code));
	for (i = 0; i < PAGE; i++)
		m.data[i] = (uint8_t)i;
	for (i = 0; i < 16; i++)
		m.start.gpr[i] = UINT64_C(0x1111111111111111) * i;
	m.start.gpr[SP] = STACK + 2048;
	m.start.gpr[SI] = DATA;
	m.start.gpr[DI] = DATA + 1024;
	m.start.ip = CODE;
	m.start.flags = 0x202;
	return 0;
}

/* Runs a string of machine code. */
#define RUN(insns, code_bytes) run(insns, (const uint8_t *)(code_bytes), sizeof(code_bytes) - 1)

static inline void run(unsigned insns, const uint8_t *code, size_t size)
{
	memcpy(m.code, code, size);
	walk_run(&m.w, &m.start, insns, read_line, &m);
}

static inline bool has_line(uint64_t addr)
{
	uint32_t i;

	for (i = 0; i < m.w.nlines; i++)
		if (m.w.line_addr[i] == addr)
			return true;
	return false;
}

static inline void assert_gpr(unsigned n, uint64_t value)
{
	assert_int_equal(m.w.gpr_known[n], 0xff);
	assert_int_equal(m.w.gpr[n], value);
}

static inline void assert_flags(uint64_t known, uint64_t value)
{
	assert_int_equal(m.w.flags_known & FLAGS6, known);
	assert_int_equal(m.w.flags & known, value);
}

#endif
