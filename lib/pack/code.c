/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/buf.h"
#include "flow/calls.h"
#include "machine/insn/insn.h"
#include "pack/internal.h"

/*
 * Bytes that are kept of constants from an address on that code refers to: a table of 2048 entries
 * of 8 bytes, for switches, is larger than what compilers make.
 */
#define CONSTANT_SIZE 16384

/* Code around a sample that is in no procedure: an instruction. */
#define LOOSE_SIZE VT_MAX_INSN

/* ---- the file ---- */

/* Adds bytes that are loaded from the file to `vaddr` on, at most `size` of them. */
static bool keep_bytes(struct vti_kept *k, uint64_t vaddr, uint64_t size)
{
	const struct vt_elf_segment *s;
	size_t n, i;

	s = vt_elf_segments(k->elf, &n);
	for (i = 0; i < n; i++) {
		uint64_t at = vaddr - s[i].vaddr;

		if (vaddr < s[i].vaddr || at >= s[i].filesz)
			continue;
		if (size > s[i].filesz - at)
			size = s[i].filesz - at;
		return vti_spans_add(&k->file, s[i].offset + at, s[i].offset + at + size);
	}
	return true;
}

/* ---- names ---- */

static bool keep_symbol(struct vti_kept *k, const struct vt_symbol *sym)
{
	uint64_t index = (uint64_t)(sym - vt_symbols_at(k->symbols, 0));

	return vt_hash_add(&k->names, &index, NULL) != NULL;
}

bool vti_pack_name(struct vti_kept *k, uint64_t vaddr)
{
	const struct vt_symbol *sym = k->symbols ? vt_symbols_find(k->symbols, vaddr) : NULL;

	return !sym ||
	       (keep_symbol(k, sym) && keep_symbol(k, vt_symbols_outermost(k->symbols, sym)));
}

/* ---- what code refers to ---- */

static bool keep_target(struct vti_kept *k, uint64_t vaddr)
{
	if (!vti_pack_name(k, vaddr))
		return false;
	return !vt_calls_end(k->images, k->image, vaddr) ||
	       vt_hash_add(&k->ends, &vaddr, NULL) != NULL;
}

/* Whether the file's bytes at a vaddr are data that is protected after relocation. */
static bool is_relro(const struct vt_elf *e, uint64_t vaddr)
{
	const struct vt_elf_segment *s;
	size_t n, i;

	s = vt_elf_segments(e, &n);
	for (i = 0; i < n; i++)
		if (vaddr >= s[i].vaddr && vaddr - s[i].vaddr < s[i].memsz)
			return s[i].write;
	return false;
}

static bool is_lea(const struct vt_facts *f)
{
	return vt_facts_has_mnemonic(f, "lea");
}

/*
 * Keeps what an operand of known address refers to, if that is constant, or the slot of a stub of a
 * procedure linkage table, whose first value tells that it is one.  lea, and code with an index,
 * may read more than the operand's own bytes there.
 */
static bool keep_operand(struct vti_kept *k, const struct vt_facts *f, const struct vt_memory *m,
			 uint64_t next)
{
	bool table = is_lea(f) || m->index != VT_REG_NONE;
	uint64_t vaddr = (uint64_t)m->displacement;

	if (m->base == VT_REG_IP)
		vaddr += next;
	else if (m->base != VT_REG_NONE || m->segment != VT_REG_NONE)
		return true;
	if (!vti_pack_name(k, vaddr))
		return false;
	if (f->flags & VT_FACT_JUMP && !table)
		return keep_bytes(k, vaddr, VT_ADDRESS_SIZE);
	if (!vt_elf_is_constant(k->elf, vaddr) || vt_elf_is_code(k->elf, vaddr))
		return true;
	k->relocations |= table && is_relro(k->elf, vaddr);
	return keep_bytes(k, vaddr, table ? CONSTANT_SIZE : m->size);
}

static bool keep_references(struct vti_kept *k, const uint8_t *code, size_t size, uint64_t start)
{
	struct vt_facts f;
	size_t at, i, n;

	for (at = 0; at < size; at += f.length) {
		if (!vt_facts_decode(code + at, size - at, &f)) {
			f.length = 1;
			continue;
		}
		if (f.has_target && !keep_target(k, start + at + (uint64_t)f.target))
			return false;
		/* The address that lea computes is no access. */
		n = is_lea(&f) ? 1 : f.nmemories;
		for (i = 0; i < n; i++)
			if (!keep_operand(k, &f, &f.memories[i], start + at + f.length))
				return false;
	}
	return true;
}

/* ---- procedures ---- */

size_t vti_pack_symbol_from(const struct vt_symbols *t, uint64_t vaddr)
{
	size_t n = vt_symbols_count(t);

	return n ? vt_array_below(vt_symbols_at(t, 0), n, sizeof(struct vt_symbol), vaddr) : 0;
}

/* Adds the symbols that begin in a range. */
static bool keep_symbols_in(struct vti_kept *k, const struct vti_span *p)
{
	size_t i = vti_pack_symbol_from(k->symbols, p->first);

	for (; i < vt_symbols_count(k->symbols); i++) {
		const struct vt_symbol *sym = vt_symbols_at(k->symbols, i);

		if (sym->start >= p->end)
			break;
		if (!keep_symbol(k, sym))
			return false;
	}
	return true;
}

static bool keep_code(struct vti_kept *k, const struct vti_span *p)
{
	const bool x86 = vt_elf_info(k->elf)->machine == VT_MACHINE_X86_64;
	size_t avail;
	const uint8_t *code = vt_elf_bytes(k->elf, p->first, &avail);

	if (!code)
		return true;
	if (avail > p->end - p->first)
		avail = (size_t)(p->end - p->first);
	return keep_bytes(k, p->first, avail) &&
	       (!x86 || keep_references(k, code, avail, p->first));
}

bool vti_pack_code(struct vti_kept *k)
{
	size_t i;

	for (i = 0; i < k->procedures.count; i++)
		if ((k->symbols && !keep_symbols_in(k, &k->procedures.v[i])) ||
		    (k->elf && !keep_code(k, &k->procedures.v[i])))
			return false;
	for (i = 0; i < k->points.count; i++)
		if (!vti_pack_name(k, k->points.v[i].first) ||
		    (k->elf && !keep_bytes(k, k->points.v[i].first, LOOSE_SIZE)))
			return false;
	return true;
}
