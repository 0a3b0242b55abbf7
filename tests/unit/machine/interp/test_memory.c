/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interpreter's operations on memory and on the guest state, one at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/interp/internal.h"
#include "machine/interp/memory.h"
#include "machine/lift/fastop.h"

#define MEM    0x7000u /* where operations load and store */
#define PIECE  100u    /* number of the first instruction of a path */
#define INSN   7u      /* and of the operation's in its block */
#define AT(f)  ((unsigned)offsetof(VexGuestAMD64State, guest_##f))
#define UNSEEN UINT64_C(0x5555555555555555)

/* What hooks were asked, and what they answer. */
struct asked {
	unsigned loads, guards;
	uint32_t insn;
	struct vt_word addr;
	unsigned size;
	unsigned answer; /* this word of a load becomes known, the n-th counted from 1 */
	bool knows_guard, guard;
};

struct fixture {
	struct vt_known_memory *mem;
	struct vt_interp *m;
	struct vt_interp_hooks hooks;
	struct asked asked;
	struct vt_word slots[32];
	struct vti_op op;
};

static void on_load(void *arg, uint32_t insn, struct vt_word addr, unsigned size,
		    struct vt_word *words)
{
	struct asked *a = arg;

	a->loads++;
	a->insn = insn;
	a->addr = addr;
	a->size = size;
	if (a->answer)
		words[a->answer - 1] = vt_word_of(0x11 * a->answer);
}

static bool on_guard(void *arg, uint32_t insn, bool *done)
{
	struct asked *a = arg;

	a->guards++;
	a->insn = insn;
	*done = a->guard;
	return a->knows_guard;
}

static void begin(struct fixture *f)
{
	static const struct vt_interp_options opt;
	struct vt_error err = VT_ERROR_INIT;
	unsigned i;

	memset(f, 0, sizeof(*f));
	f->mem = vt_known_memory_new(NULL, NULL, 1 << 20);
	assert_non_null(f->mem);
	f->m = vt_interp_new(&opt, f->mem, &err);
	assert_non_null(f->m);
	f->m->hooks = &f->hooks;
	f->m->piece = PIECE;
	f->hooks.arg = &f->asked;
	f->op.insn = INSN;
	for (i = 0; i < 32; i++)
		f->slots[i] = (struct vt_word){UNSEEN, UNSEEN};
}

static void end(struct fixture *f)
{
	vt_interp_free(f->m);
	vt_known_memory_free(f->mem);
}

static void expect(struct vt_word w, uint64_t value, uint64_t known)
{
	assert_int_equal(w.value, value);
	assert_int_equal(w.known, known);
}

static void expect_unseen(struct vt_word w)
{
	expect(w, UNSEEN, UNSEEN);
}

/* Bytes 0x80, 0x81 … at MEM - 8 and up. */
static void fill_memory(struct fixture *f)
{
	uint8_t bytes[64];
	unsigned i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(0x80 + i);
	vt_known_memory_set(f->mem, MEM - 8, bytes, sizeof(bytes));
}

/* What fill_memory() has at MEM + offset, of so many bytes. */
static uint64_t filled(unsigned offset, unsigned size)
{
	uint64_t v = 0;
	unsigned i;

	for (i = 0; i < size; i++)
		v |= (uint64_t)(0x88 + offset + i) << (8 * i);
	return v;
}

static struct vt_word memory_at(struct fixture *f, int64_t offset, unsigned size)
{
	struct vt_word w;

	vt_known_memory_load(f->mem, (uint64_t)((int64_t)MEM + offset), size, &w);
	return w;
}

static void expect_bytes(struct fixture *f, int64_t offset, unsigned size, uint64_t value)
{
	expect(memory_at(f, offset, size), value, UINT64_MAX);
}

/* ---- loads and stores ---- */

static void loads_from_nowhere_are_unknown(void **state)
{
	static const unsigned sizes[] = {1, 2, 4, 8, 16, 32};
	struct fixture f;
	unsigned i, k;

	(void)state;
	begin(&f);
	for (i = 0; i < 6; i++) {
		unsigned words = sizes[i] < 8 ? 1 : sizes[i] / 8;

		for (k = 0; k < 5; k++)
			f.slots[k] = (struct vt_word){UNSEEN, UNSEEN};
		vti_load(f.m, &f.op, (struct vt_word){MEM, ~UINT64_C(1)}, sizes[i], f.slots);
		for (k = 0; k < words; k++)
			expect(f.slots[k], 0, sizes[i] < 8 ? UINT64_MAX << (8 * sizes[i]) : 0);
		expect_unseen(f.slots[words]);
	}
	end(&f);
}

static void recordings_are_asked_and_remembered(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.hooks.load = on_load;
	vti_load(f.m, &f.op, vt_word_of(MEM), 16, f.slots);
	assert_int_equal(f.asked.loads, 1);
	assert_int_equal(f.asked.insn, PIECE + INSN);
	assert_int_equal(f.asked.addr.value, MEM);
	assert_int_equal(f.asked.size, 16);
	expect(memory_at(&f, 0, 8), 0, 0);
	/* The second word: the first stays as it is. */
	f.asked.answer = 2;
	vti_load(f.m, &f.op, vt_word_of(MEM), 16, f.slots);
	expect(f.slots[0], 0, 0);
	expect(f.slots[1], 0x22, UINT64_MAX);
	expect(memory_at(&f, 0, 8), 0, 0);
	expect_bytes(&f, 8, 8, 0x22);
	/* What comes from nowhere is known, but remembered nowhere. */
	f.asked.answer = 1;
	vti_load(f.m, &f.op, (struct vt_word){MEM, ~UINT64_C(1)}, 8, f.slots);
	expect(f.slots[0], 0x11, UINT64_MAX);
	expect(memory_at(&f, 0, 8), 0, 0);
	vti_load(f.m, &f.op, vt_word_of(MEM + 32), 1, f.slots);
	expect_bytes(&f, 32, 1, 0x11);
	expect(memory_at(&f, 33, 1), 0, ~UINT64_C(0xff));
	end(&f);
}

static void stores_to_nowhere_forget_all(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	fill_memory(&f);
	f.slots[0] = vt_word_of(0x1122);
	vti_store(f.m, vt_word_of(MEM), 2, f.slots);
	expect_bytes(&f, 0, 8, (filled(0, 8) & ~UINT64_C(0xffff)) | 0x1122);
	vti_store(f.m, (struct vt_word){MEM, ~UINT64_C(1)}, 2, f.slots);
	expect(memory_at(&f, 0, 8), 0, 0);
	end(&f);
}

/* ---- compare and swap ---- */

enum { ADDR, EXPECT0, EXPECT1, DATA0, DATA1, OLD0, OLD1, NSLOTS };

static const struct vti_cas one = {
	ADDR, {EXPECT0, VTI_NO_SLOT}, {DATA0, VTI_NO_SLOT}, {OLD0, VTI_NO_SLOT}, 0};
static const struct vti_cas two = {ADDR, {EXPECT0, EXPECT1}, {DATA0, DATA1}, {OLD0, OLD1}, 0};

/* Expects what is in memory, and would put other numbers there. */
static struct vti_cas set_up_cas(struct fixture *f, const struct vti_cas *shape, unsigned size)
{
	struct vti_cas cas = *shape;

	begin(f);
	fill_memory(f);
	cas.size = (uint8_t)size;
	f->slots[ADDR] = vt_word_of(MEM);
	f->slots[EXPECT0] = vt_word_of(filled(0, size));
	f->slots[EXPECT1] = vt_word_of(filled(size, size));
	f->slots[DATA0] = vt_word_of(UINT64_C(0x0102030405060708) & vt_low_bits(8 * size));
	f->slots[DATA1] = vt_word_of(UINT64_C(0x1112131415161718) & vt_low_bits(8 * size));
	return cas;
}

static void swap(struct fixture *f, const struct vti_cas *cas, bool tries_again)
{
	f->op.data = cas;
	f->op.aux = tries_again;
	vti_compare_and_swap(f->m, &f->op, f->slots);
}

/* Memory is as filled, or has the data; the old values are those that were there. */
static void check_swap(struct fixture *f, const struct vti_cas *cas, bool done)
{
	const unsigned size = cas->size;
	const bool pair = cas->old[1] != VTI_NO_SLOT;

	expect_bytes(f, -1, 1, 0x87);
	expect_bytes(f, 0, size, done ? f->slots[DATA0].value : filled(0, size));
	expect_bytes(f, size, size, pair && done ? f->slots[DATA1].value : filled(size, size));
	expect_bytes(f, 2 * (int64_t)size, 1, filled(2 * size, 1));
	expect(f->slots[OLD0], filled(0, size), UINT64_MAX);
	if (pair)
		expect(f->slots[OLD1], filled(size, size), UINT64_MAX);
	else
		expect_unseen(f->slots[OLD1]);
	expect_unseen(f->slots[NSLOTS]);
}

static void swaps_happen_when_all_is_as_expected(void **state)
{
	static const unsigned sizes[] = {1, 2, 4, 8};
	unsigned i, pair;

	(void)state;
	for (i = 0; i < 4; i++)
		for (pair = 0; pair < 2; pair++) {
			const struct vti_cas *shape = pair ? &two : &one;
			struct fixture f;
			struct vti_cas cas = set_up_cas(&f, shape, sizes[i]);

			swap(&f, &cas, false);
			check_swap(&f, &cas, true);
			end(&f);
			cas = set_up_cas(&f, shape, sizes[i]);
			f.slots[EXPECT0].value ^= 1;
			swap(&f, &cas, false);
			check_swap(&f, &cas, false);
			end(&f);
			/* The other half counts if there is one. */
			cas = set_up_cas(&f, shape, sizes[i]);
			f.slots[EXPECT1].value ^= UINT64_C(0x80) << (8 * sizes[i] - 8);
			swap(&f, &cas, false);
			check_swap(&f, &cas, !pair);
			end(&f);
		}
}

/* Nobody came between: what is in memory is what was expected, whatever is known of it. */
static void swaps_that_try_again_have_happened(void **state)
{
	struct fixture f;
	struct vti_cas cas = set_up_cas(&f, &two, 4);

	(void)state;
	vt_known_memory_forget(f.mem);
	f.hooks.guard = on_guard;
	swap(&f, &cas, true);
	assert_int_equal(f.asked.guards, 1);
	assert_int_equal(f.asked.loads, 0);
	expect_bytes(&f, 0, 4, 0x05060708);
	expect_bytes(&f, 4, 4, 0x15161718);
	expect(f.slots[OLD0], filled(0, 4), UINT64_MAX);
	expect(f.slots[OLD1], filled(4, 4), UINT64_MAX);
	end(&f);
}

/* The lowest byte is not known: so are those that a swap would change, but not the others. */
static void swaps_may_have_happened(void **state)
{
	unsigned half;

	(void)state;
	for (half = 0; half < 2; half++) {
		struct fixture f;
		struct vti_cas cas = set_up_cas(&f, &two, 8);
		uint64_t changed[2] = {0, 0};

		vt_known_memory_forget_range(f.mem, MEM + 8 * half, 1);
		f.slots[DATA0] = vt_word_of(filled(0, 8));
		f.slots[DATA1] = vt_word_of(filled(8, 8) ^ UINT64_C(0xff) << 56);
		changed[half] |= 0xff;
		changed[1] |= UINT64_C(0xff) << 56;
		swap(&f, &cas, false);
		expect(memory_at(&f, 0, 8), filled(0, 8) & ~changed[0], ~changed[0]);
		expect(memory_at(&f, 8, 8), filled(8, 8) & ~changed[1], ~changed[1]);
		expect(f.slots[OLD0], filled(0, 8) & ~(half ? 0ull : 0xff),
		       ~UINT64_C(0) ^ (half ? 0 : 0xff));
		end(&f);
	}
}

static void recordings_tell_whether_swaps_happened(void **state)
{
	unsigned happened;

	(void)state;
	for (happened = 0; happened < 2; happened++) {
		struct fixture f;
		struct vti_cas cas = set_up_cas(&f, &one, 8);

		vt_known_memory_forget_range(f.mem, MEM, 1);
		f.hooks.guard = on_guard;
		f.asked.knows_guard = true;
		f.asked.guard = happened;
		swap(&f, &cas, false);
		assert_int_equal(f.asked.insn, PIECE + INSN);
		if (happened)
			expect_bytes(&f, 0, 8, f.slots[DATA0].value);
		else
			expect(memory_at(&f, 0, 8), filled(0, 8) & ~UINT64_C(0xff),
			       ~UINT64_C(0xff));
		/* What is known is not doubted. */
		vt_known_memory_set(f.mem, MEM, (const uint8_t *)"\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f",
				    8);
		f.asked.guard = !happened;
		swap(&f, &cas, false);
		expect_bytes(&f, 0, 8, f.slots[DATA0].value);
		end(&f);
	}
}

/* ---- guarded accesses ---- */

enum { GUARD = 1, VALUE = 8, DST = 16 };

static struct vti_guarded set_up_guarded(struct fixture *f, unsigned size, struct vt_word guard)
{
	unsigned i;

	begin(f);
	fill_memory(f);
	f->slots[ADDR] = vt_word_of(MEM);
	f->slots[GUARD] = guard;
	/* It differs from what is in memory in the lowest bit of each word. */
	for (i = 0; i < 4; i++)
		f->slots[VALUE + i] = vt_word_of(filled(8 * i, size < 8 ? size : 8) ^ 1);
	return (struct vti_guarded){ADDR, GUARD,	 VALUE,
				    DST,  (uint8_t)size, (uint16_t)ILGop_IdentV128};
}

static void guards_decide_loads(void **state)
{
	static const unsigned sizes[] = {1, 2, 4, 8, 16, 32};
	static const struct vt_word guards[] = {
		{0, UINT64_MAX}, {1, UINT64_MAX}, {0, ~UINT64_C(1)}};
	unsigned i, g, k;

	(void)state;
	for (i = 0; i < 6; i++)
		for (g = 0; g < 3; g++) {
			struct fixture f;
			struct vti_guarded guarded = set_up_guarded(&f, sizes[i], guards[g]);
			const unsigned words = sizes[i] < 8 ? 1 : sizes[i] / 8;

			f.op.data = &guarded;
			vti_load_guarded(f.m, &f.op, f.slots);
			for (k = 0; k < words; k++) {
				const uint64_t there = filled(8 * k, sizes[i] < 8 ? sizes[i] : 8);

				expect(f.slots[DST + k],
				       g == 0	? there ^ 1
				       : g == 1 ? there
						: there & ~UINT64_C(1),
				       g < 2 ? UINT64_MAX : ~UINT64_C(1));
			}
			expect_unseen(f.slots[DST + words]);
			end(&f);
		}
}

static void guards_decide_stores(void **state)
{
	static const unsigned sizes[] = {1, 2, 4, 8, 16, 32};
	static const struct vt_word guards[] = {
		{0, UINT64_MAX}, {1, UINT64_MAX}, {0, ~UINT64_C(1)}};
	unsigned i, g, k;

	(void)state;
	for (i = 0; i < 6; i++)
		for (g = 0; g < 3; g++) {
			struct fixture f;
			struct vti_guarded guarded = set_up_guarded(&f, sizes[i], guards[g]);
			const unsigned size = sizes[i] < 8 ? sizes[i] : 8;

			f.op.data = &guarded;
			vti_store_guarded(f.m, &f.op, f.slots);
			/* Bytes are known in memory or not. */
			for (k = 0; k < sizes[i] / size; k++)
				expect(memory_at(&f, 8 * k, size),
				       g == 0	? filled(8 * k, size)
				       : g == 1 ? filled(8 * k, size) ^ 1
						: filled(8 * k, size) & ~UINT64_C(0xff),
				       g < 2 ? UINT64_MAX : ~UINT64_C(0xff));
			expect_bytes(&f, sizes[i], 1, filled(sizes[i], 1));
			end(&f);
		}
	{
		/* To nobody knows where, perhaps. */
		struct fixture f;
		struct vti_guarded guarded = set_up_guarded(&f, 8, guards[2]);

		f.op.data = &guarded;
		f.slots[ADDR].known = ~UINT64_C(1);
		vti_store_guarded(f.m, &f.op, f.slots);
		expect(memory_at(&f, 0, 8), 0, 0);
		end(&f);
	}
}

static void loads_are_widened(void **state)
{
	static const struct {
		uint8_t size;
		uint16_t conversion;
		uint64_t want;
	} cases[] = {
		{1, ILGop_8Sto32, 0xffffff88},
		{1, ILGop_8Uto32, 0x88},
		{2, ILGop_16Sto32, 0xffff8988},
		{2, ILGop_16Uto32, 0x8988},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct fixture f;
		struct vti_guarded guarded = set_up_guarded(&f, cases[i].size, vt_word_of(1));

		guarded.conversion = cases[i].conversion;
		f.op.data = &guarded;
		vti_load_guarded(f.m, &f.op, f.slots);
		expect(f.slots[DST], cases[i].want, UINT64_MAX);
		end(&f);
	}
}

/* ---- rings ---- */

static void rings_are_indexed_from_their_base(void **state)
{
	const struct vti_array ring = {(uint16_t)AT(FPREG), 8, 8, -3};
	struct fixture f;
	unsigned i;

	(void)state;
	begin(&f);
	for (i = 0; i < 12; i++)
		f.m->state[VTI_STATE(FPREG) - 2 + i] = vt_word_of(100 + i);
	f.op = (struct vti_op){.a = 0, .b = 1, .dst = 2, .data = &ring};
	for (i = 0; i < 11; i++) {
		f.slots[0] = vt_word_of(i);
		vti_get_element(f.m, &f.op, f.slots);
		expect(f.slots[2], 102 + (i + 5) % 8, UINT64_MAX);
		expect_unseen(f.slots[3]);
	}
	/* An index of 32 bits wraps around. */
	f.slots[0] = vt_word_of(UINT32_MAX);
	vti_get_element(f.m, &f.op, f.slots);
	expect(f.slots[2], 102 + 4, UINT64_MAX);
	f.slots[0] = vt_word_of(4);
	f.slots[1] = vt_word_of(77);
	vti_put_element(f.m, &f.op, f.slots);
	for (i = 0; i < 12; i++)
		expect(f.m->state[VTI_STATE(FPREG) - 2 + i], i == 3 ? 77 : 100 + i, UINT64_MAX);
	f.slots[0].known = ~UINT64_C(1);
	vti_get_element(f.m, &f.op, f.slots);
	expect(f.slots[2], 0, 0);
	expect_unseen(f.slots[3]);
	vti_put_element(f.m, &f.op, f.slots);
	for (i = 0; i < 12; i++)
		expect(f.m->state[VTI_STATE(FPREG) - 2 + i], i >= 2 && i < 10 ? 0 : 100 + i,
		       i >= 2 && i < 10 ? 0 : UINT64_MAX);
	end(&f);
}

/* ---- what VEX does not know ---- */

#define REG(r) (UINT64_C(1) << (r))

static void check_unlifted(const struct vti_unlifted *u)
{
	const uint64_t flags = u->writes_flags || u->writes & REG(VT_REG_FLAGS) ? 0x8d5 : 0;
	struct fixture f;
	unsigned reg, lane;

	begin(&f);
	fill_memory(&f);
	for (reg = 0; reg < VT_NREGS; reg++)
		for (lane = 0; lane < 4; lane++)
			vt_interp_set(f.m, reg, lane, vt_word_of(0));
	f.m->state[VTI_STATE(FTOP)] = vt_word_of(3);
	f.m->state[VTI_STATE(FTOP) - 1] = vt_word_of(4);
	f.m->state[VTI_STATE(FPREG) + 7] = vt_word_of(5);
	f.m->state[VTI_STATE(FC3210)] = vt_word_of(6);
	f.m->state[VTI_STATE(EMNOTE)] = vt_word_of(7);
	vt_interp_set_mxcsr(f.m, 0x1f80);
	vti_run_unlifted(f.m, u);
	for (reg = 0; reg <= VT_REG_R15; reg++) {
		const bool gone = reg != VT_REG_IP && u->writes >> reg & 1;

		if (reg == VT_REG_FLAGS)
			assert_int_equal(~vt_interp_get(f.m, reg, 0).known & 0x8d5, flags);
		else if (reg < VT_REG_CS || reg > VT_REG_ES)
			expect(vt_interp_get(f.m, reg, 0), 0, gone ? 0 : UINT64_MAX);
	}
	for (reg = 0; reg < 16; reg++)
		for (lane = 0; lane < 4; lane++)
			expect(vt_interp_get(f.m, VT_REG_VECTOR + reg, lane), 0,
			       u->writes >> (VT_REG_VECTOR + reg) & 1 ? 0 : UINT64_MAX);
	expect(f.m->state[VTI_STATE(FTOP) - 1], 4, UINT64_MAX);
	assert_int_equal(f.m->state[VTI_STATE(FTOP)].known, u->writes_fp ? 0 : UINT64_MAX);
	assert_int_equal(f.m->state[VTI_STATE(FPREG) + 7].known, u->writes_fp ? 0 : UINT64_MAX);
	assert_int_equal(f.m->state[VTI_STATE(FC3210)].known, u->writes_fp ? 0 : UINT64_MAX);
	assert_int_equal(f.m->state[VTI_STATE(EMNOTE)].known & 0xff, 0xff);
	assert_int_equal(f.m->fp.rounding, u->writes_fp ? -1 : 0);
	assert_int_equal(memory_at(&f, 0, 8).known, u->writes_memory ? 0 : UINT64_MAX);
	end(&f);
}

static void what_is_not_lifted_is_forgotten(void **state)
{
	static const struct vti_unlifted cases[] = {
		{0, false, false, false},
		{REG(VT_REG_AX) | REG(VT_REG_R15) | REG(VT_REG_FS), false, false, false},
		{REG(VT_REG_IP) | REG(VT_REG_FLAGS), false, false, false},
		{REG(VT_REG_VECTOR) | REG(VT_REG_VECTOR + 15), false, false, false},
		{0, true, false, false},
		{0, false, true, false},
		{0, false, false, true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_unlifted(&cases[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_from_nowhere_are_unknown),
		cmocka_unit_test(recordings_are_asked_and_remembered),
		cmocka_unit_test(stores_to_nowhere_forget_all),
		cmocka_unit_test(swaps_happen_when_all_is_as_expected),
		cmocka_unit_test(swaps_that_try_again_have_happened),
		cmocka_unit_test(swaps_may_have_happened),
		cmocka_unit_test(recordings_tell_whether_swaps_happened),
		cmocka_unit_test(guards_decide_loads),
		cmocka_unit_test(guards_decide_stores),
		cmocka_unit_test(loads_are_widened),
		cmocka_unit_test(rings_are_indexed_from_their_base),
		cmocka_unit_test(what_is_not_lifted_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
