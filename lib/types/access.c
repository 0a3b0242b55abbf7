/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dwarf.h>
#include <stdlib.h>

#include "types/track.h"

/* Limit on the bytes of a procedure that is looked through for where its blocks begin. */
#define MAX_PROCEDURE (1 << 18)

/* Limit on the instructions of a block that are followed. */
#define MAX_BLOCK 400

static bool decode(const struct vt_types *t, uint64_t at, struct vt_facts *f)
{
	size_t avail;
	const uint8_t *code = vt_elf_bytes(t->elf, at, &avail);

	return code && vt_elf_info(t->elf)->machine == VT_MACHINE_X86_64 &&
	       vt_facts_decode(code, avail, f);
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void add_entry(struct vt_types *t, uint64_t at)
{
	if (vt_array_grow(&t->entries, &t->entries_cap, t->nentries + 1, sizeof(*t->entries)))
		t->entries[t->nentries++] = at;
	else
		t->nomem = true;
}

/* Collects where control may come from elsewhere, in [start, end). */
static void read_entries(struct vt_types *t, uint64_t start, uint64_t end)
{
	uint64_t at;

	t->nentries = 0;
	add_entry(t, start);
	for (at = start; at < end;) {
		size_t avail;
		const uint8_t *code = vt_elf_bytes(t->elf, at, &avail);
		struct vt_flow f;

		/* Data, perhaps: what is behind it is not known to begin where it seems to. */
		if (!code || !vt_flow_decode(code, avail, &f) || !f.length)
			break;
		if (f.has_target && !(f.flags & VT_FACT_CALL))
			add_entry(t, at + (uint64_t)f.target);
		at += f.length;
		if (f.stops || f.flags & (VT_FACT_JUMP | VT_FACT_RETURN))
			add_entry(t, at);
	}
	t->decoded_end = at;
	qsort(t->entries, t->nentries, sizeof(*t->entries), compare_addresses);
}

/* Finds the start of the code that runs straight on to `pc`. */
static bool find_start(struct vt_types *t, uint64_t pc, uint64_t *start)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	Dwarf_Die function;
	unsigned n = 0;
	size_t i;

	if (vti_function_at(t, pc, &function))
		return false;
	while (n++ < 100 && (at = dwarf_ranges(&function, at, &base, &lo, &hi)) > 0)
		if (pc >= lo && pc < hi)
			break;
	if (at <= 0 || pc < lo || pc >= hi || hi - lo > MAX_PROCEDURE)
		return false;
	if (!t->nentries || t->entries_start != lo)
		read_entries(t, lo, hi);
	t->entries_start = lo;
	i = vt_array_up_to(t->entries, t->nentries, sizeof(*t->entries), pc);
	if (!i || pc >= t->decoded_end)
		return false;
	*start = t->entries[i - 1];
	return *start >= lo;
}

/* Follows the block up to `pc`. */
static bool follow(struct vt_types *t, uint64_t pc, struct vti_track *k)
{
	unsigned n = 0;
	uint64_t at;

	if (!find_start(t, pc, &at))
		return false;
	while (at < pc) {
		struct vt_facts f;

		if (n++ == MAX_BLOCK || !decode(t, at, &f))
			return false;
		vti_track_step(t, k, at, &f);
		at += f.length;
	}
	return at == pc;
}

enum vt_untyped vt_types_access(struct vt_types *t, uint64_t pc, struct vt_variable *v,
				uint64_t *offset, bool *through)
{
	struct vti_track k = {{{NULL, 0}}};
	enum vt_untyped why;
	struct vt_facts f;

	*through = false;
	if (!decode(t, pc, &f))
		return VT_UNTYPED_NO_CODE;
	why = vti_track_operand(t, &k, pc, &f, v, offset, through);
	if (why != VT_UNTYPED_NO_VARIABLE || !f.nmemories || f.memories[0].base >= VTI_TRACK_REGS ||
	    !follow(t, pc, &k))
		return why;
	return vti_track_operand(t, &k, pc, &f, v, offset, through);
}

/* Whether the first operand alone is accessed as an access was. */
static bool is_only_operand(const struct vt_facts *f, bool loads, bool stores)
{
	unsigned i;

	for (i = 0; i < f->nmemories; i++) {
		const struct vt_memory *m = &f->memories[i];

		if (i ? (loads && m->read) || (stores && m->written)
		      : (loads && !m->read) || (stores && !m->written))
			return false;
	}
	return i > 0 && (loads || stores);
}

enum vt_untyped vt_types_access_by(struct vt_types *t, uint64_t pc, bool loads, bool stores,
				   struct vt_variable *v, uint64_t *offset, uint64_t *size,
				   bool *through)
{
	struct vt_facts f;

	*through = false;
	if (!decode(t, pc, &f))
		return VT_UNTYPED_NO_CODE;
	if (!is_only_operand(&f, loads, stores))
		return VT_UNTYPED_INEXACT;
	*size = f.memories[0].size;
	if (f.memories[0].base == VT_REG_IP || f.memories[0].base == VT_REG_NONE)
		return VT_UNTYPED_NO_VARIABLE;
	return vt_types_access(t, pc, v, offset, through);
}
