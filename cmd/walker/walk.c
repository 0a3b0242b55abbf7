/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/walker/walk.h"

#include "cmd/walker/walk_state.h"

/* ---- code ---- */

/* Whether a store of the walk has changed the code from here on. */
static bool code_changed(const struct walk *w, unsigned size)
{
	uint32_t i;

	if (w->memory_unknown || w->ip >= w->stores_to || w->ip + size <= w->stores_from)
		return false;
	for (i = 0; i < w->nstores; i++)
		if (w->store[i].addr < w->ip + size && w->store[i].addr + w->store[i].size > w->ip)
			return true;
	return false;
}

/* An instruction that reaches into the next line.  0: that cannot be read. */
static int decode_across(struct walk *w, const uint8_t *line, unsigned have)
{
	const uint8_t *next;
	unsigned i;
	int got;

	for (i = 0; i < have; i++)
		w->code[i] = line[WALK_LINE - have + i];
	next = walk_line(w, (w->ip | (WALK_LINE - 1)) + 1, UINT64_MAX);
	if (!next)
		return 0;
	for (; i < INSN_MAX; i++)
		w->code[i] = next[i - have];
	got = insn_decode(&w->insn, w->code, INSN_MAX);
	return got ? got : -1;
}

static bool fetch(struct walk *w)
{
	unsigned at = w->ip % WALK_LINE, have = WALK_LINE - at;
	const uint8_t *line;
	int got = 0;

	if (w->ip >= UINT64_C(1) << 47) {
		end_walk(w, WALK_TRAP);
		return false;
	}
	line = walk_line(w, w->ip - at, UINT64_MAX);
	if (line) {
		got = insn_decode(&w->insn, line + at, have);
		if (got == 0 && have < INSN_MAX)
			got = decode_across(w, line, have);
		else if (got == 0)
			got = -1;
	}
	if (got < 0)
		end_walk(w, WALK_INSN);
	else if (got == 0)
		end_walk(w, WALK_CODE);
	if (got > 0 && code_changed(w, (unsigned)got))
		end_walk(w, WALK_CODE);
	return !w->stop;
}

/* ---- addresses ---- */

static void find_address(struct walk *w)
{
	const struct insn *i = &w->insn;
	uint64_t addr = (uint64_t)(int64_t)i->disp;
	bool ok = true;

	if (i->base == INSN_IP) {
		addr += w->ip; /* of the next instruction already */
	} else if (i->base != INSN_NONE) {
		addr += w->gpr[i->base];
		ok = w->gpr_known[i->base] == 0xff;
	}
	if (i->index != INSN_NONE) {
		addr += w->gpr[i->index] << i->scale;
		ok = ok && w->gpr_known[i->index] == 0xff;
	}
	if (i->addr32)
		addr = (uint32_t)addr;
	if (i->segment)
		addr += i->segment == 0x64 ? w->fs_base : w->gs_base;
	w->ea = addr;
	w->ea_state = ok ? WALK_ADDRESS_KNOWN : WALK_ADDRESS_UNKNOWN;
}

/* ---- running ---- */

static void execute(struct walk *w)
{
	const struct insn *i = &w->insn;

	if (i->memory)
		find_address(w);
	else
		w->ea_state = WALK_ADDRESS_NONE;
	if (i->encoding != INSN_LEGACY) {
		if (walk_is_vex_integer(i))
			walk_vex_integer(w);
		else
			walk_vector(w);
		return;
	}
	if (i->map == 0)
		walk_one_byte(w);
	else if (i->map == 1)
		walk_two_bytes(w);
	else
		walk_three_bytes(w);
}

static void begin(struct walk *w, const struct walk_start *start, walk_read_fn *read, void *arg)
{
	unsigned i;

	w->walked = 0;
	w->stop = 0;
	w->wide = false;
	w->nlines = 0;
	w->read = read;
	w->read_arg = arg;
	w->load = NULL;
	w->drops_lines = false;
	w->start = start;
	for (i = 0; i < 16; i++) {
		w->gpr[i] = start->gpr[i];
		w->gpr_known[i] = 0xff;
	}
	w->ip = start->ip;
	w->flags = start->flags;
	w->flags_known = UINT32_MAX;
	w->fs_base = start->fs_base;
	w->gs_base = start->gs_base;
	w->vec_loaded = 0;
	w->vec_cleared = 0;
	w->kmask_loaded = 0;
	w->kmask_known = 0;
	w->last_line = 0;
	w->nbad = 0;
	w->nstores = 0;
	w->memory_unknown = false;
	w->stores_from = UINT64_MAX;
	w->stores_to = 0;
}

/* Until so many were walked in all. */
static void walk_until(struct walk *w, uint32_t insns)
{
	while (w->walked < insns) {
		uint64_t ip = w->ip;

		if (!fetch(w))
			return;
		w->ip += w->insn.length;
		execute(w);
		if (w->stop) {
			w->ip = ip;
			return;
		}
		w->walked++;
	}
	end_walk(w, WALK_LENGTH);
}

void walk_run(struct walk *w, const struct walk_start *start, uint32_t insns, walk_read_fn *read,
	      void *read_arg)
{
	begin(w, start, read, read_arg);
	walk_until(w, insns);
}

void walk_go_on(struct walk *w, uint32_t insns, walk_load_fn *load, void *load_arg)
{
	uint32_t i;

	if (w->stop != WALK_LENGTH)
		return;
	w->stop = 0;
	w->load = load;
	w->load_arg = load_arg;
	for (i = 0; i < w->nstores && !w->drops_lines; i++)
		walk_touch_store(w, &w->store[i]);
	w->drops_lines = true;
	walk_until(w, w->walked + insns);
}
