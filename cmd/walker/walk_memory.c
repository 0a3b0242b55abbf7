/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/walker/walk_state.h"

/* Linux gives programs no more, unless they ask for it. */
#define USER_END (UINT64_C(1) << 47)

#define NO_ROOM UINT32_MAX

#define TOUCHED 4096 /* bytes of a store, whose lines are read for it */

static void copy(uint8_t *to, const uint8_t *from, uint64_t n)
{
	while (n--)
		*to++ = *from++;
}

/* ---- lines ---- */

static bool is_bad(const struct walk *w, uint64_t addr)
{
	uint32_t i;

	for (i = 0; i < w->nbad; i++)
		if (w->bad[i] == addr)
			return true;
	return false;
}

static const uint8_t *read_line(struct walk *w, uint64_t addr, uint64_t read)
{
	uint32_t n = w->nlines;

	if (w->nbad && is_bad(w, addr))
		return NULL;
	if (n == WALK_LINES_MAX && !w->drops_lines) {
		end_walk(w, WALK_FULL);
		return NULL;
	}
	n %= WALK_LINES_MAX;
	if (!w->read(w->read_arg, addr, w->line[n])) {
		if (w->nbad < WALK_BAD)
			w->bad[w->nbad++] = addr;
		return NULL;
	}
	w->line_addr[n] = addr;
	w->line_read[n] = read;
	w->last_line = n;
	w->nlines = n + 1;
	return w->line[n];
}

const uint8_t *walk_line(struct walk *w, uint64_t addr, uint64_t read)
{
	uint32_t i = w->nlines;

	if (i && w->line_addr[w->last_line] == addr) {
		w->line_read[w->last_line] |= read;
		return w->line[w->last_line];
	}
	while (i--)
		if (w->line_addr[i] == addr) {
			w->last_line = i;
			w->line_read[i] |= read;
			return w->line[i];
		}
	return read_line(w, addr, read);
}

/* The mask of `size` bytes of a line, at least 1, from byte `at` on. */
static uint64_t bytes_mask(unsigned at, unsigned size)
{
	return UINT64_MAX >> (WALK_LINE - size) << at;
}

bool walk_may_access(struct walk *w, uint64_t addr, uint64_t size)
{
	if (addr < USER_END && size <= USER_END - addr)
		return true;
	end_walk(w, WALK_TRAP);
	return false;
}

/* ---- stores of the walk ---- */

static bool overlaps(const struct walk *w, uint64_t addr, uint64_t size)
{
	return addr < w->stores_to && addr + size > w->stores_from;
}

/* Puts one store's bytes over what was read.  False: they are unknown. */
static bool overlay(const struct walk_store *s, uint64_t addr, unsigned size, uint8_t *out)
{
	uint64_t from = s->addr > addr ? s->addr : addr;
	uint64_t end = s->addr + s->size < addr + size ? s->addr + s->size : addr + size;

	if (from >= end)
		return true;
	if (s->known)
		copy(out + (from - addr), s->bytes + (from - s->addr), end - from);
	return s->known;
}

/* Bytes that an unknown store wrote may be written again: bit n of *bad is byte n. */
static uint64_t overlay_all(const struct walk *w, uint64_t addr, unsigned size, uint8_t *out)
{
	uint64_t bad = 0;
	uint32_t i;

	for (i = 0; i < w->nstores; i++) {
		const struct walk_store *s = &w->store[i];
		uint64_t from = s->addr > addr ? s->addr - addr : 0, end, bits;

		if (s->addr >= addr + size || s->addr + s->size <= addr)
			continue;
		end = s->addr + s->size - addr;
		if (end > size)
			end = size;
		bits = bytes_mask((unsigned)from, (unsigned)(end - from));
		bad = overlay(s, addr, size, out) ? bad & ~bits : bad | bits;
	}
	return bad;
}

/* ---- loads ---- */

/* Whether a line is one of a store that did not touch all of its own. */
static bool is_of_large_store(const struct walk *w, uint64_t line)
{
	uint32_t i;

	if (!overlaps(w, line, WALK_LINE))
		return false;
	for (i = 0; i < w->nstores; i++)
		if (w->store[i].size > TOUCHED && w->store[i].addr < line + WALK_LINE &&
		    w->store[i].addr + w->store[i].size > line)
			return true;
	return false;
}

static void tell_load(struct walk *w, uint64_t addr, uint64_t size)
{
	uint64_t line = addr & ~(uint64_t)(WALK_LINE - 1);

	if (w->load && !w->memory_unknown && size <= WALK_LINE - (addr - line) &&
	    !is_of_large_store(w, line))
		w->load(w->load_arg, w->ip - w->insn.length, addr);
}

bool walk_read_bytes(struct walk *w, uint64_t addr, unsigned size, uint8_t *out)
{
	uint64_t first = addr & ~(uint64_t)(WALK_LINE - 1);
	unsigned at = addr % WALK_LINE, n = size < WALK_LINE - at ? size : WALK_LINE - at;
	bool ok = true;
	const uint8_t *line;

	if (!walk_may_access(w, addr, size))
		return false;
	tell_load(w, addr, size);
	line = walk_line(w, first, bytes_mask(at, n));
	if (line)
		copy(out, line + at, n);
	else
		ok = false;
	if (n < size) {
		line = walk_line(w, first + WALK_LINE, bytes_mask(0, size - n));
		if (line)
			copy(out + n, line, size - n);
		else
			ok = false;
	}
	if (!ok || w->memory_unknown)
		return false;
	return !overlaps(w, addr, size) || overlay_all(w, addr, size, out) == 0;
}

struct val walk_load(struct walk *w, uint64_t addr, unsigned size)
{
	union {
		uint64_t v;
		uint8_t bytes[8];
	} u = {0};

	if (!walk_read_bytes(w, addr, size, u.bytes))
		return unknown();
	return known(u.v);
}

static void touch_lines(struct walk *w, uint64_t addr, uint64_t size, unsigned lines)
{
	uint64_t end = addr + size;

	for (; addr < end && lines; lines--) {
		unsigned at = addr % WALK_LINE, n = WALK_LINE - at;

		n = n < end - addr ? n : (unsigned)(end - addr);
		walk_line(w, addr - at, bytes_mask(at, n));
		addr += n;
	}
}

void walk_touch(struct walk *w, uint64_t addr, uint64_t size, unsigned lines)
{
	if (size == 0 || !walk_may_access(w, addr, size))
		return;
	tell_load(w, addr, size);
	touch_lines(w, addr, size, lines);
}

void walk_touch_store(struct walk *w, const struct walk_store *s)
{
	if (s->size <= TOUCHED)
		touch_lines(w, s->addr, s->size, TOUCHED / WALK_LINE + 1);
}

void walk_write_bytes(struct walk *w, uint64_t addr, uint64_t size, const uint8_t *bytes)
{
	struct walk_store *s;

	if (size == 0 || !walk_may_access(w, addr, size))
		return;
	if (w->nstores == WALK_STORES) {
		w->memory_unknown = true;
		return;
	}
	s = &w->store[w->nstores++];
	s->addr = addr;
	s->size = size;
	s->known = bytes != NULL;
	if (bytes)
		copy(s->bytes, bytes, size);
	if (addr < w->stores_from)
		w->stores_from = addr;
	if (addr + size > w->stores_to)
		w->stores_to = addr + size;
	if (w->drops_lines)
		walk_touch_store(w, s);
}

void walk_store(struct walk *w, uint64_t addr, unsigned size, struct val x)
{
	union {
		uint64_t v;
		uint8_t bytes[8];
	} u = {x.v};

	walk_write_bytes(w, addr, size, x.known ? u.bytes : NULL);
}

/* ---- operands ---- */

/* Whether a number is ah, ch, dh or bh. */
static bool is_high(const struct walk *w, unsigned n, unsigned size)
{
	return size == 1 && n >= 4 && n < 8 && !w->insn.rex && w->insn.encoding == INSN_LEGACY;
}

struct val walk_get_reg(const struct walk *w, unsigned n, unsigned size)
{
	if (is_high(w, n, size))
		return (struct val){w->gpr[n - 4] >> 8 & 0xff, w->gpr_known[n - 4] >> 1 & 1};
	return get_gpr(w, n & 15, size);
}

void walk_set_reg(struct walk *w, unsigned n, unsigned size, struct val x)
{
	if (!is_high(w, n, size)) {
		set_gpr(w, n & 15, size, x);
		return;
	}
	n -= 4;
	w->gpr[n] = (w->gpr[n] & ~UINT64_C(0xff00)) | (x.v & 0xff) << 8;
	w->gpr_known[n] = (uint8_t)(x.known ? w->gpr_known[n] | 2 : w->gpr_known[n] & ~2);
}

struct val walk_get_rm(struct walk *w, unsigned size)
{
	if (!w->insn.memory)
		return walk_get_reg(w, w->insn.rm, size);
	if (w->ea_state != WALK_ADDRESS_KNOWN)
		return unknown();
	return walk_load(w, w->ea, size);
}

void walk_spoil_memory(struct walk *w, uint64_t size)
{
	if (w->ea_state == WALK_ADDRESS_KNOWN)
		walk_write_bytes(w, w->ea, size, NULL);
	else
		w->memory_unknown = true;
}

void walk_set_rm(struct walk *w, unsigned size, struct val x)
{
	if (!w->insn.memory)
		walk_set_reg(w, w->insn.rm, size, x);
	else if (w->ea_state == WALK_ADDRESS_KNOWN)
		walk_store(w, w->ea, size, x);
	else
		w->memory_unknown = true;
}
