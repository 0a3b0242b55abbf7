/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that is no code: each input's bytes are lifted, run from registers and memory of which some
 * is known, and followed as a path.  Whatever they are, lifting good code must work afterwards, and
 * the shape of what is lifted holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "machine/interp/interp.h"
#include "machine/lift/lift.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define AT    0x401000u
#define STEPS 300

struct code {
	const uint8_t *bytes;
	size_t size;
	struct vt_rng rng;
};

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_lift: %s\n", what);
		abort();
	}
}

static size_t fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size)
{
	const struct code *c = arg;

	(void)space;
	if (addr < AT || addr - AT >= c->size)
		return 0;
	if (size > c->size - (addr - AT))
		size = c->size - (addr - AT);
	memcpy(bytes, c->bytes + (addr - AT), size);
	return size;
}

/* Every other line is known, but for its first bytes. */
static uint64_t fill(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE], bool lasting)
{
	struct code *c = arg;
	unsigned i;

	if (lasting || (addr / VT_KNOWN_LINE) % 2)
		return 0;
	for (i = 0; i < VT_KNOWN_LINE; i++)
		bytes[i] = (uint8_t)vt_rng_next(&c->rng);
	return UINT64_MAX << vt_rng_below(&c->rng, VT_KNOWN_LINE);
}

static struct vt_word draw(struct vt_rng *rng)
{
	struct vt_word w = {vt_rng_next(rng), UINT64_MAX};

	if (vt_rng_below(rng, 2))
		w.value &= 0xffff;
	if (!vt_rng_below(rng, 4))
		w.known = vt_rng_next(rng);
	w.value &= w.known;
	return w;
}

static void set_registers(struct vt_interp *m, struct vt_rng *rng)
{
	unsigned reg, lane;

	vt_interp_forget(m);
	for (reg = 0; reg < VT_NREGS; reg++)
		for (lane = 0; lane < 4; lane++)
			vt_interp_set(m, reg, lane, draw(rng));
	vt_interp_set_mxcsr(m, (uint32_t)vt_rng_next(rng));
	vt_interp_set(m, VT_REG_IP, 0, vt_word_of(AT));
}

static void check_words(const struct vt_interp *m)
{
	unsigned reg, lane;

	for (reg = 0; reg < VT_NREGS; reg++) {
		for (lane = 0; lane < 4; lane++) {
			struct vt_word w = vt_interp_get(m, reg, lane);

			check(!(w.value & ~w.known), "an unknown bit has a value");
		}
	}
}

static void run(struct code *c, uint8_t how)
{
	struct vt_interp_options opt = {.fetch = fetch, .fetch_arg = c};
	struct vt_known_memory *mem = vt_known_memory_new(fill, c, 1 << 20);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_interp *m;
	uint64_t done;

	opt.capture = how & 1 ? UINT32_MAX : 0;
	opt.valgrind = how & 2;
	check(mem != NULL, "no memory");
	m = vt_interp_new(&opt, mem, &err);
	check(m != NULL, "no interpreter");
	set_registers(m, &c->rng);
	check(vt_interp_run(m, 1, STEPS, &done, &err) < VT_NSTOPS, "no reason to stop");
	check(done <= STEPS, "too many steps");
	check_words(m);
	vt_interp_clear(m);
	set_registers(m, &c->rng);
	vt_known_memory_reset(mem);
	vt_interp_follow(m, 1, AT, 1 + (how >> 4), how & 4 ? AT : 0, &err);
	check_words(m);
	vt_interp_free(m);
	vt_known_memory_free(mem);
}

static void lift(const struct code *c, uint8_t how)
{
	static const uint8_t good[] = {0x48, 0x01, 0xd8, 0xc3}; /* add rax,rbx; ret */
	struct vt_error err = VT_ERROR_INIT;
	struct vti_block *b;

	b = vti_lift(AT, c->bytes, c->size, 1 + (how >> 2), how & 1 ? UINT32_MAX : 0, &err);
	check(b != NULL, err.text);
	check(b->nops && b->ninsns <= VTI_LIFT_INSNS, "a block without an end");
	check(b->offset[b->ninsns] <= c->size, "a block that is longer than its code");
	check(b->nconstants <= b->nslots, "more constants than slots");
	vti_block_free(b);
	b = vti_lift(AT, good, sizeof(good), 9, 0, &err);
	check(b && b->ninsns == 2 && !b->nunlifted, "good code is not lifted any more");
	vti_block_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vt_cursor in = vt_cursor_make(data, size, false);
	uint8_t how = vt_cursor_u8(&in);
	struct code c;

	vt_rng_init(&c.rng, vt_cursor_u8(&in));
	c.size = vt_cursor_left(&in);
	c.bytes = vt_cursor_take(&in, c.size);
	if (!c.size)
		return 0;
	lift(&c, how);
	run(&c, how);
	return 0;
}
