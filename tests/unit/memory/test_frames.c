/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stack frames by the addresses of return addresses: calls, returns, what is left behind, limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "memory/frames.h"

#define TOP 0x7fff0000u

static uint64_t slot_at(struct vti_frames *f, uint64_t address)
{
	const struct vti_frame *found = vti_frames_at(f, address);

	return found ? found->slot : 0;
}

static void calls_and_returns(void **state)
{
	struct vti_frames f = {0};

	(void)state;
	assert_false(vti_frames_hold(&f, TOP));
	assert_true(vti_frames_call(&f, TOP - 0x10, 0x401000));
	assert_true(vti_frames_call(&f, TOP - 0x50, 0x402000));
	assert_true(vti_frames_call(&f, TOP - 0x80, 0x403000));
	assert_int_equal(f.count, 3);
	assert_int_equal(f.list[2].back, 0x403000);
	/* Variables lie below the return address, up to that of the next frame. */
	assert_int_equal(slot_at(&f, TOP - 0x90), TOP - 0x80);
	assert_int_equal(slot_at(&f, TOP - 0x80), TOP - 0x80);
	assert_int_equal(slot_at(&f, TOP - 0x78), TOP - 0x50);
	assert_int_equal(slot_at(&f, TOP - 0x50), TOP - 0x50);
	assert_int_equal(slot_at(&f, TOP - 0x48), TOP - 0x10);
	assert_int_equal(slot_at(&f, TOP - 0x10), TOP - 0x10);
	assert_int_equal(slot_at(&f, TOP - 0x08), 0);
	vti_frames_return(&f, TOP - 0x80);
	assert_int_equal(f.count, 2);
	/* A return that was missed, as of a longjmp: the call above drops what is below it. */
	assert_true(vti_frames_call(&f, TOP - 0x10, 0x404000));
	assert_int_equal(f.count, 1);
	assert_int_equal(f.list[0].back, 0x404000);
	vti_frames_return(&f, TOP - 0x10);
	assert_int_equal(f.count, 0);
	vti_frames_fini(&f);
}

static void entries(void **state)
{
	struct vti_frames f = {0};

	(void)state;
	assert_true(vti_frames_call(&f, TOP, 0x401000));
	assert_true(f.entering);
	assert_int_equal(f.list[0].entry, 0);
	assert_int_equal(f.list[0].object, UINT32_MAX);
	f.list[0].object = 7;
	/* A stub comes first: the block after it is the procedure's. */
	vti_frames_enter(&f, 0x500000, true);
	assert_int_equal(f.list[0].entry, 0x500000);
	assert_true(f.entering);
	assert_int_equal(f.list[0].object, UINT32_MAX);
	vti_frames_enter(&f, 0x600000, false);
	assert_int_equal(f.list[0].entry, 0x600000);
	assert_false(f.entering);
	vti_frames_clear(&f);
	assert_int_equal(f.count, 0);
	vti_frames_enter(&f, 0x700000, true);
	assert_true(f.entering);
	vti_frames_fini(&f);
}

static void extent(void **state)
{
	struct vti_frames f = {0};

	(void)state;
	vti_frames_see(&f, TOP);
	assert_true(vti_frames_hold(&f, TOP));
	assert_true(vti_frames_hold(&f, TOP + 7));
	assert_false(vti_frames_hold(&f, TOP + 8));
	assert_false(vti_frames_hold(&f, TOP - 1));
	vti_frames_see(&f, TOP - VTI_STACK_REACH);
	assert_true(vti_frames_hold(&f, TOP - VTI_STACK_REACH));
	/* What is further away is another stack. */
	vti_frames_see(&f, TOP - 2 * VTI_STACK_REACH - 1);
	assert_false(vti_frames_hold(&f, TOP - VTI_STACK_REACH - 1));
	vti_frames_see(&f, TOP + VTI_STACK_REACH + 8);
	assert_false(vti_frames_hold(&f, TOP + 8));
	vti_frames_see(&f, TOP + VTI_STACK_REACH);
	assert_true(vti_frames_hold(&f, TOP + VTI_STACK_REACH + 7));
	vti_frames_fini(&f);
}

static void depth(void **state)
{
	struct vti_frames f = {0};
	uint64_t i;

	(void)state;
	for (i = 0; i < VTI_MAX_FRAMES; i++)
		assert_true(vti_frames_call(&f, TOP - 8 * i, i));
	assert_int_equal(f.count, VTI_MAX_FRAMES);
	assert_true(vti_frames_call(&f, TOP - 8 * i, i));
	assert_int_equal(f.count, VTI_MAX_FRAMES / 2 + 1);
	assert_int_equal(f.list[0].back, VTI_MAX_FRAMES / 2);
	assert_int_equal(f.list[f.count - 1].back, VTI_MAX_FRAMES);
	vti_frames_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_returns),
		cmocka_unit_test(entries),
		cmocka_unit_test(extent),
		cmocka_unit_test(depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
