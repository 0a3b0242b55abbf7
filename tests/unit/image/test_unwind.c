/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "image/internal.h"
#include "image/procedures.h"
#include "image/unwind.h"
#include "tests/unit/common/toolbox.h"

/* What is right is tested against running programs (tests/pipe/unwind.t); this is what is not known
 * and what is damaged. */

#define SP   0x7ffffffde000
#define RET  0x555555556789
#define BIAS 0x555555554000

static struct vt_error err;

struct fixture {
	uint8_t *data;
	size_t size;
	struct vt_elf *elf;
	uint64_t *starts;
	int64_t nstarts;
	size_t offset; /* of .eh_frame in the file */
	size_t frame_size;
};

static int setup(void **state)
{
	static struct fixture f;
	Elf_Data *data;
	GElf_Shdr shdr;

	f.data = toolbox_read_self(&f.size);
	f.elf = vt_elf_open_memory(f.data, f.size, "self", &err);
	assert_non_null(f.elf);
	f.nstarts = vt_procedure_starts(f.elf, &f.starts, &err);
	assert_true(f.nstarts > 100);
	assert_non_null(vti_elf_section(f.elf, ".eh_frame", &shdr, &data));
	f.offset = shdr.sh_offset;
	f.frame_size = shdr.sh_size;
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vt_elf_close(f->elf);
	free(f->starts);
	free(f->data);
	return 0;
}

/* What is known: bit n for register n; and memory. */
struct known {
	uint64_t regs;
	bool memory;
	unsigned loads;
};

static bool get_reg(void *arg, unsigned reg, uint64_t *value)
{
	const struct known *k = arg;

	assert_true(reg < 24 && reg != 8);
	*value = reg == 7 ? SP : UINT64_C(0x1000000) * reg;
	return k->regs >> reg & 1;
}

static bool load(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	struct known *k = arg;

	assert_true(size == 1 || size == 2 || size == 4 || size == 8);
	k->loads++;
	*value = address == SP ? RET : 0;
	return k->memory;
}

static bool find(struct vt_unwind *u, uint64_t vaddr, struct known k, struct vt_return *r)
{
	const struct vt_unwind_state s = {&k, get_reg, load};

	return vt_unwind_find(u, vaddr, BIAS, &s, r);
}

/* Where a procedure begins, its return address is on top of the stack. */
static void test_beginnings(void **state)
{
	struct fixture *f = *state;
	struct vt_unwind *u = vt_unwind_new(f->elf, &err);
	int64_t i, entries = 0;
	struct vt_return r;

	assert_non_null(u);
	for (i = 0; i < f->nstarts; i++) {
		if (!find(u, f->starts[i], (struct known){~UINT64_C(0), true, 0}, &r) ||
		    r.slot != SP)
			continue;
		assert_int_equal(r.ret, RET);
		assert_int_equal(r.entry, f->starts[i]);
		entries++;
		/* A part of a procedure that lies elsewhere may begin with another frame. */
		assert_true(find(u, f->starts[i], (struct known){UINT64_C(1) << 7, true, 0}, &r));
		assert_false(
			find(u, f->starts[i], (struct known){~(UINT64_C(1) << 7), true, 0}, &r));
		assert_false(find(u, f->starts[i], (struct known){~UINT64_C(0), false, 0}, &r));
	}
	assert_true(entries > f->nstarts * 3 / 4);
	vt_unwind_free(u);
}

/*
 * What is told of the place without a state is what unwinding with a state finds: at the first and
 * at the last instruction that it is told for.
 */
static void check_slot(struct vt_unwind *u, uint64_t vaddr, unsigned reg, int64_t offset)
{
	struct vt_return r;

	/* The other registers are unknown, and so is memory, but that with the return address. */
	assert_true(find(u, vaddr, (struct known){UINT64_C(1) << reg, true, 0}, &r));
	assert_true(r.slot == (reg == 7 ? SP : UINT64_C(0x1000000) * reg) + (uint64_t)offset);
}

static void test_slots(void **state)
{
	struct fixture *f = *state;
	struct vt_unwind *u = vt_unwind_new(f->elf, &err);
	uint64_t vaddr, end, stop, rows = 0, unknown = 0;
	int64_t i, offset, at_first = 0;
	unsigned reg;

	assert_non_null(u);
	for (i = 0; i + 1 < f->nstarts; i++) {
		stop = f->starts[i + 1];
		for (vaddr = f->starts[i]; vaddr < stop; vaddr = end, rows++) {
			if (!vt_unwind_slot(u, vaddr, &end, &reg, &offset)) {
				unknown++;
			} else {
				at_first += vaddr == f->starts[i] && reg == 7 && offset == 0;
				check_slot(u, vaddr, reg, offset);
				check_slot(u, (end < stop ? end : stop) - 1, reg, offset);
			}
			assert_true(end > vaddr);
		}
	}
	/* Procedures begin with the return address on top of the stack. */
	assert_true(at_first > f->nstarts * 3 / 4);
	assert_true(rows > 2 * (uint64_t)f->nstarts && unknown < rows / 2);
	/* Outside of all procedures. */
	assert_false(vt_unwind_slot(u, UINT64_MAX - 100, &end, &reg, &offset));
	vt_unwind_free(u);
}

static void test_nowhere(void **state)
{
	static const uint64_t places[] = {0, 1, 0x1000, UINT64_MAX, UINT64_C(1) << 63, 0x7fffffff};
	struct fixture *f = *state;
	struct vt_unwind *u = vt_unwind_new(f->elf, &err);
	struct vt_return r;
	uint64_t entry = vt_elf_info(f->elf)->entry;
	size_t i;

	assert_non_null(u);
	for (i = 0; i < sizeof(places) / sizeof(*places); i++)
		assert_false(find(u, places[i], (struct known){~UINT64_C(0), true, 0}, &r));
	/* The first procedure of all returns to nobody, and says so. */
	assert_false(find(u, entry, (struct known){~UINT64_C(0), true, 0}, &r));
	vt_unwind_free(u);
}

/*
 * Asks about each 31st byte of all code, so several times about most procedures; returns how often
 * something was known.
 */
static uint64_t walk(const struct fixture *f, uint8_t *bytes, size_t size)
{
	struct vt_elf *e = vt_elf_open_memory(bytes, size, "damaged", &err);
	struct vt_unwind *u;
	uint64_t at, known = 0;
	struct vt_return r;

	if (!e)
		return 0;
	u = vt_unwind_new(e, &err);
	assert_non_null(u);
	for (at = f->starts[0]; at < f->starts[f->nstarts - 1]; at += 31)
		known += find(u, at, (struct known){~UINT64_C(0), true, 0}, &r);
	vt_unwind_free(u);
	vt_elf_close(e);
	return known;
}

/* Only the section is ever changed. */
static void restore(const struct fixture *f, uint8_t *bytes)
{
	memcpy(bytes + f->offset, f->data + f->offset, f->frame_size);
}

static void test_damaged(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes = malloc(f->size);
	uint64_t whole, least = UINT64_MAX;
	struct vt_rng r;
	unsigned i, n;

	assert_non_null(bytes);
	memcpy(bytes, f->data, f->size);
	whole = walk(f, bytes, f->size);
	assert_true(whole > 1000);
	vt_rng_init(&r, 11);
	for (i = 0; i < 300; i += 3) {
		uint64_t known;

		restore(f, bytes);
		for (n = 0; n < 1 + i; n++)
			bytes[f->offset + vt_rng_below(&r, f->frame_size)] =
				(uint8_t)vt_rng_next(&r);
		known = walk(f, bytes, f->size);
		if (known < least)
			least = known;
	}
	assert_true(least < whole / 2);
	/* A length of all the rest, of nothing, of DWARF with 64 bits. */
	for (i = 0; i < 3; i++) {
		static const uint32_t lengths[] = {0x7ffffff0, 0, 0xffffffff};

		restore(f, bytes);
		memcpy(bytes + f->offset, &lengths[i], 4);
		assert_int_equal(walk(f, bytes, f->size), 0);
	}
	free(bytes);
}

/* Only the first bytes of the section are in the file. */
static void test_cut(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes = malloc(f->size);
	size_t i;

	assert_non_null(bytes);
	memcpy(bytes, f->data, f->size);
	for (i = 0; i < 16; i++) {
		size_t size = f->offset + f->frame_size * i / 16;

		restore(f, bytes);
		memset(bytes + size, 0, f->offset + f->frame_size - size);
		walk(f, bytes, f->size);
		restore(f, bytes);
		walk(f, bytes, size);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beginnings), cmocka_unit_test(test_slots),
		cmocka_unit_test(test_nowhere),	   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
