/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a recording goes in memory when it is run: which accesses are made, and of what size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tests/unit/common/simruns.h"

/*
 * 1000: 48 8b 06     mov (%rsi),%rax
 * 1003: 48 0f 44 07  cmove (%rdi),%rax
 * 1007: 48 8b 03     mov (%rbx),%rax
 */
static const uint8_t guarded_code[] = {0x48, 0x8b, 0x06, 0x48, 0x0f, 0x44, 0x07, 0x48, 0x8b, 0x03};

static const struct block guarded = {
	CODE,
	0,
	guarded_code,
	10,
	3,
	{3, 4, 3},
	4,
	{LOADS(0), SLOT(1, VT_WHAT_GUARD, 1), LOADS(1), LOADS(2)},
	VT_END_FALL,
};

static uint8_t guard;

static void put_guarded(struct vt_writer *w)
{
	const struct run r = {PID, PID, 0, 3, "0", 0, 0};
	uint8_t data[25];

	put_block(w, 0, &guarded, PID, true);
	vt_put_le64(data, 0x1000);
	data[8] = guard;
	vt_put_le64(data + 9, 0x2000);
	vt_put_le64(data + 17, 0x2008);
	put_data(w, &r, data, sizeof(data));
}

/* The guard of an instruction that accesses nothing, as no recorder writes it. */
static void put_alone(struct vt_writer *w)
{
	static const struct block alone = {
		CODE,
		0,
		guarded_code,
		10,
		3,
		{3, 4, 3},
		2,
		{SLOT(1, VT_WHAT_GUARD, 1), LOADS(2)},
		VT_END_FALL,
	};
	const struct run r = {PID, PID, 0, 3, "0", 0, 0};
	uint8_t data[9] = {guard};

	put_block(w, 0, &alone, PID, true);
	vt_put_le64(data + 1, 0x1000);
	put_data(w, &r, data, sizeof(data));
}

/* Each miss of a cache of four lines is sampled. */
static void run_misses(put_fn *put, bool truth, struct out *o)
{
	const struct vt_simulate_event event = {VT_SIMULATE_DMISS,
						vt_interval_make(VT_INTERVAL_FIXED, 1)};
	struct vt_core core = plain_core();
	struct vt_simulate_options options = {.core = &core, .events = &event, .nevents = 1};

	core.dcache = (struct vt_cache_shape){.size = 128, .line = 32, .ways = 1};
	run_options(put, &options, truth, o);
}

/* A load that is not made misses nothing: then the one behind it does. */
static void test_guards(void **state)
{
	static struct out o;

	(void)state;
	for (guard = 0; guard < 2; guard++) {
		run_misses(put_guarded, false, &o);
		assert_int_equal(o.totals.insns, 3);
		assert_int_equal(o.totals.loads, 3);
		assert_int_equal(o.totals.addressed, 3);
		assert_int_equal(o.nsamples, 2);
		assert_int_equal(o.samples[0].ip, CODE);
		assert_int_equal(o.samples[1].ip, guard ? CODE + 3 : CODE + 7);
		run_misses(put_alone, false, &o);
		assert_int_equal(o.nsamples, 1);
		assert_int_equal(o.samples[0].ip, CODE + 7);
	}
}

/* An instruction with this many loads, all of one line but the last; one of that line behind it. */
static unsigned wide;

static void put_wide(struct vt_writer *w)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x06, 0x48, 0x8b, 0x03};
	static const uint8_t lengths[] = {3, 3};
	const struct run r = {PID, PID, 0, 2, "0", 0, 0};
	uint64_t *row = vt_writer_row(w, VT_BLOCK), slots[80];
	uint8_t data[8 * 80];
	unsigned i;

	for (i = 0; i <= wide; i++) {
		slots[i] = LOADS(i == wide);
		vt_put_le64(data + 8 * i, i + 1 < wide ? 0x40 : 0x20);
	}
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = CODE;
	row[VT_BLOCK_SIZE] = sizeof(code);
	row[VT_BLOCK_INSNS] = 2;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, lengths, 2);
	vt_writer_bytes(w, VT_BLOCK_CODE, code, sizeof(code));
	vt_writer_words(w, VT_BLOCK_SLOTS, slots, wide + 1);
	put_data(w, &r, data, 8 * ((size_t)wide + 1));
}

/* Of one instruction 64 accesses are made: then the one behind them finds their line. */
static void test_wide_accesses(void **state)
{
	static struct out o;

	(void)state;
	for (wide = 63; wide <= 66; wide++) {
		run_misses(put_wide, false, &o);
		assert_int_equal(o.totals.insns, 2);
		assert_int_equal(o.nsamples, wide > 64 ? 2 : 1);
	}
}

/* Blocks whose one store or load is at an address, then a load of the line at 0x20. */
static const struct {
	uint8_t code[4];
	uint8_t size;
	uint8_t nslots;
	uint64_t slots[2];
	uint64_t addr;
	bool crosses; /* into that line */
} sizes[] = {
	/* mov %rax,(%rsi): 8 bytes, as the code says; mov %al,(%rsi); mov %eax,(%rsi) */
	{{0x48, 0x89, 0x06}, 3, 1, {STORES(0)}, 0x19, true},
	{{0x48, 0x89, 0x06}, 3, 1, {STORES(0)}, 0x18, false},
	{{0x88, 0x06}, 2, 1, {STORES(0)}, 0x1f, false},
	{{0x89, 0x06}, 2, 1, {STORES(0)}, 0x1d, true},
	{{0x89, 0x06}, 2, 1, {STORES(0)}, 0x1c, false},
	/* Or as the value says that goes with it, of either. */
	{{0x89, 0x06}, 2, 2, {STORES(0), SLOT(0, VT_WHAT_STORE, 2)}, 0x1e, false},
	{{0x89, 0x06}, 2, 2, {STORES(0), SLOT(0, VT_WHAT_STORE, 2)}, 0x1f, true},
	{{0x8b, 0x06}, 2, 2, {LOADS(0), SLOT(0, VT_WHAT_LOAD, 2)}, 0x1e, false},
	{{0x8b, 0x06}, 2, 2, {LOADS(0), SLOT(0, VT_WHAT_LOAD, 2)}, 0x1f, true},
	/* Loads likewise; another value is none. */
	{{0x8b, 0x06}, 2, 1, {LOADS(0)}, 0x1d, true},
	{{0x8b, 0x06}, 2, 1, {LOADS(0)}, 0x1c, false},
	{{0x48, 0x8b, 0x06}, 3, 1, {LOADS(0)}, 0x19, true},
	{{0x48, 0x8b, 0x06}, 3, 1, {LOADS(0)}, 0x18, false},
	{{0x8b, 0x06}, 2, 2, {LOADS(0), SLOT(0, VT_WHAT_RESULT, 2)}, 0x1d, true},
};

static unsigned size_row;

static void put_size(struct vt_writer *w)
{
	static const uint8_t load[] = {0x8b, 0x03};
	const struct block after = {CODE + 0x10, 0, load, 2, 1, {2}, 1, {LOADS(0)}, VT_END_FALL};
	const struct run r = {PID, PID, 0, 2, "01", 0, 0};
	struct block b = {.addr = CODE,
			  .code = sizes[size_row].code,
			  .size = sizes[size_row].size,
			  .ninsns = 1,
			  .lengths = {sizes[size_row].size},
			  .nslots = sizes[size_row].nslots};
	size_t size = b.nslots > 1 ? 10 : 8;
	uint8_t data[18] = {0};

	memcpy(b.slots, sizes[size_row].slots, sizeof(sizes[size_row].slots));
	put_block(w, 0, &b, PID, true);
	put_block(w, 1, &after, PID, true);
	vt_put_le64(data, sizes[size_row].addr);
	vt_put_le64(data + size, 0x20);
	put_data(w, &r, data, size + 8);
}

static void test_sizes(void **state)
{
	static struct out o;

	(void)state;
	for (size_row = 0; size_row < sizeof(sizes) / sizeof(sizes[0]); size_row++) {
		run_misses(put_size, true, &o);
		if (o.nsamples != (sizes[size_row].crosses ? 1 : 2))
			fail_msg("row %u: %u misses", size_row, o.nsamples);
		run_misses(put_size, false, &o);
		assert_int_equal(o.nsamples, sizes[size_row].crosses ? 1 : 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guards),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_wide_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
