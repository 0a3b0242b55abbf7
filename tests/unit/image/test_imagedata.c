/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "image/imagedata.h"

/* What is right is tested against running programs (tests/pipe/imagedata.t); this is what is not
 * well-formed. */

static struct vt_error err;

/* ---- a file put together byte by byte, of which every known byte is known ---- */

#define TEXT  0x1000
#define DATA  0x2000 /* protected up to PLAIN */
#define PLAIN 0x3000
#define END   0x4000
#define RELA  0x1800 /* tables, in the text */
#define PLT   0x1a80
#define RELR  0x1b00
#define SYMS  0x1c00
#define GOT   0x2400
#define DYN   0x2e00
#define NDYN  0x100 /* bytes of it */
#define BIAS  UINT64_C(0x555555554000)

struct parts {
	bool no_interp, needed, two_dynamics, no_dynamic, two_relros, no_symtab;
	bool from_zero; /* the text begins at 0, and a relocation changes its first word */
	uint64_t relro, relro_size;	/* 0 for DATA, 0x1000 */
	uint64_t tag, value;		/* one more entry of _DYNAMIC */
	uint64_t first_tag;		/* and one before all others, with the value 0 */
	uint64_t dynamic_size;		/* 0: NDYN */
	uint64_t file_size;		/* of data; 0: all */
	uint64_t symbols;		/* where they are; 0: SYMS */
	uint64_t relas, plt, relr, got; /* where tables are; 0: RELA, PLT, RELR, GOT */
	uint64_t place;			/* one more word of DT_RELR */
	unsigned copy_at;		/* R_X86_64_COPY here; 0: none */
	bool no_end;			/* _DYNAMIC is not ended */
	bool no_rela; /* the entry makes relocations unreadable, that of text as well */
	bool no_copy;
	bool irelative; /* a relocation calls a procedure that chooses another */
	unsigned ifunc; /* so does one by a symbol: 1, which is elsewhere; 2, here */
};

static uint8_t made[END];

static size_t put_rela(size_t at, uint64_t place, uint64_t type, uint64_t addend)
{
	Elf64_Rela r = {place, type, (Elf64_Sxword)addend};

	memcpy(made + at, &r, sizeof(r));
	return at + sizeof(r);
}

static uint64_t either(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

static void put_symbols(const struct parts *parts)
{
	/* The first symbol is none, whatever it says. */
	const Elf64_Sym syms[2] = {
		[0] = {.st_info = STT_GNU_IFUNC, .st_shndx = 1},
		[1] = {.st_info =
			       ELF64_ST_INFO(STB_GLOBAL, parts->ifunc ? STT_GNU_IFUNC : STT_FUNC),
		       .st_shndx = parts->ifunc == 1 ? SHN_UNDEF : 1},
	};

	memcpy(made + either(parts->symbols, SYMS), syms, sizeof(syms));
}

static size_t put_relocations(const struct parts *parts)
{
	const size_t first = either(parts->relas, RELA);
	size_t at = first;

	at = put_rela(at, 0x2008, R_X86_64_RELATIVE, 0x1234);
	at = put_rela(at, 0x2010, R_X86_64_GLOB_DAT, 0);
	at = put_rela(at, 0x2020, R_X86_64_TLSDESC, 0);
	at = put_rela(at, 0x2040, R_X86_64_NONE, 7);
	at = put_rela(at, 0x1010, R_X86_64_RELATIVE, 0x99);
	at = put_rela(at, 0x2054, R_X86_64_RELATIVE, 1);
	at = put_rela(at, 0x2050, R_X86_64_RELATIVE, 2);
	at = put_rela(at, 0x2060, R_X86_64_RELATIVE, 3);
	at = put_rela(at, 0x2068, R_X86_64_RELATIVE, 4);
	at = put_rela(at, 0x207c, R_X86_64_RELATIVE, 0x0102030405060708);
	/* One that nobody knows may write as much as any; the last that is known, a word. */
	at = put_rela(at, 0x2090, 100, 0);
	at = put_rela(at, 0x2160, R_X86_64_RELATIVE64, 0);
	at = put_rela(at, 0x2180, R_X86_64_RELATIVE64 + 1, 0);
	/* Of 16 bytes, the last is the next line's first; and one that reaches two others. */
	at = put_rela(at, 0x2131, R_X86_64_TLSDESC, 0);
	at = put_rela(at, 0x224b, R_X86_64_RELATIVE, 0x1112131415161718);
	at = put_rela(at, 0x2242, R_X86_64_RELATIVE, 5);
	at = put_rela(at, 0x2240, R_X86_64_TLSDESC, 0);
	at = put_rela(at, 0x2f10, R_X86_64_RELATIVE, 6);
	at = put_rela(at, 0x2f14, R_X86_64_RELATIVE, 7);
	at = put_rela(at, UINT64_C(1) << 47, R_X86_64_64, 0);
	if (parts->from_zero)
		at = put_rela(at, 0, R_X86_64_RELATIVE, 0);
	if (parts->irelative)
		at = put_rela(at, 0x3010, R_X86_64_IRELATIVE, 0x1000);
	if (parts->ifunc)
		at = put_rela(at, 0x3018, ELF64_R_INFO(1, R_X86_64_GLOB_DAT), 0);
	if (parts->copy_at)
		at = put_rela(at, parts->copy_at, R_X86_64_COPY, 0);
	if (!parts->no_copy)
		at = put_rela(at, 0x3800, R_X86_64_COPY, 0);
	put_rela(at, 0x2f40, R_X86_64_RELATIVE, 8); /* behind the table */
	return at - first;
}

static void put_headers(const struct parts *parts)
{
	const uint64_t text = parts->from_zero ? 0 : TEXT, relro = either(parts->relro, DATA);
	const Elf64_Phdr phdrs[] = {
		{PT_LOAD, PF_R | PF_X, text, text, 0, DATA - text, DATA - text, 0x1000},
		{PT_LOAD, PF_R | PF_W, DATA, DATA, 0, either(parts->file_size, 0x2000), 0x2000,
		 0x1000},
		{parts->no_dynamic ? PT_NOTE : PT_DYNAMIC, PF_R, DYN, DYN, 0, NDYN,
		 either(parts->dynamic_size, NDYN), 8},
		{PT_GNU_RELRO, PF_R, relro, relro, 0, 0x1000, either(parts->relro_size, 0x1000), 1},
		{parts->no_interp ? PT_NOTE : PT_INTERP, PF_R, TEXT, TEXT, 0, 8, 8, 1},
		{parts->two_dynamics ? PT_DYNAMIC : PT_NOTE, PF_R, DYN, DYN, 0, NDYN, NDYN, 8},
		{parts->two_relros ? PT_GNU_RELRO : PT_NOTE, PF_R, DATA, DATA, 0, 0x1000, 0x1000,
		 1},
	};
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		/* Read as a symbol, a procedure that chooses another. */
		.e_entry = UINT64_C(1) << 48 | (uint64_t)STT_GNU_IFUNC << 32,
		.e_phoff = sizeof(h),
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(*phdrs),
		.e_phnum = sizeof(phdrs) / sizeof(*phdrs),
	};

	memcpy(made, &h, sizeof(h));
	memcpy(made + sizeof(h), phdrs, sizeof(phdrs));
}

static void put_dynamic(const struct parts *parts)
{
	/* A place, then two words of bits: the 1st, 4th and 63rd after it, and the 64th. */
	const uint64_t relr[] = {0x2100, 1 | 1 << 1 | 1 << 4 | UINT64_C(1) << 63, 1 | 1 << 1,
				 parts->place};
	const uint64_t relr_size = parts->place ? 32 : 24;
	uint64_t dynamic[NDYN / 8] = {0};
	size_t n = 0;

#define ENTRY(tag, value) (dynamic[n++] = (tag), dynamic[n++] = (value))
	if (parts->first_tag)
		ENTRY(parts->first_tag, 0);
	ENTRY(DT_PLTREL, DT_RELA);
	ENTRY(37, 8);
	ENTRY(DT_RELAENT, 24);
	ENTRY(DT_PLTGOT, either(parts->got, GOT));
	ENTRY(parts->no_symtab ? DT_DEBUG : DT_SYMTAB, either(parts->symbols, SYMS));
	ENTRY(35, relr_size);
	ENTRY(36, either(parts->relr, RELR));
	ENTRY(DT_PLTRELSZ, 24);
	ENTRY(DT_JMPREL, either(parts->plt, PLT));
	ENTRY(DT_RELASZ, put_relocations(parts));
	ENTRY(DT_RELA, either(parts->relas, RELA));
	if (parts->needed)
		ENTRY(DT_NEEDED, 1);
	if (parts->tag)
		ENTRY(parts->tag, parts->value);
	for (; parts->no_end && n < NDYN / 8;)
		ENTRY(DT_DEBUG, 0);
	put_rela(either(parts->plt, PLT), 0x20c0, R_X86_64_JUMP_SLOT, 0);
	memcpy(made + either(parts->relr, RELR), relr, relr_size);
	memcpy(made + DYN, dynamic, sizeof(dynamic));
}

static void put_all(const struct parts *parts)
{
	size_t i;

	for (i = 0; i < END; i++)
		made[i] = (uint8_t)(i * 13 + (i >> 8) * 7 + 1);
	put_headers(parts);
	put_symbols(parts);
	put_dynamic(parts);
}

static struct vt_imagedata *open_made(struct vt_elf **e)
{
	struct vt_imagedata *d;

	*e = vt_elf_open_memory(made, END, "made", &err);
	assert_non_null(*e);
	d = vt_imagedata_new(*e, &err);
	assert_non_null(d);
	return d;
}

static struct vt_imagedata *make(const struct parts *parts, struct vt_elf **e)
{
	put_all(parts);
	return open_made(e);
}

static void unmake(struct vt_imagedata *d, struct vt_elf *e)
{
	vt_imagedata_free(d);
	vt_elf_close(e);
}

struct model {
	bool known[END];
	uint8_t bytes[END];
};

static void forget(struct model *m, uint64_t at, uint64_t n)
{
	memset(m->known + at, 0, n);
}

static void point(struct model *m, uint64_t at, uint64_t value)
{
	value += BIAS;
	memcpy(m->bytes + at, &value, 8);
}

static uint64_t word_at(uint64_t at)
{
	uint64_t v;

	memcpy(&v, made + at, 8);
	return v;
}

/* What the relocations above leave, as the header of imagedata.h says. */
static void expect(struct model *m, bool text, bool data)
{
	static const uint16_t relr[] = {0x2100, 0x2108, 0x2120, 0x22f8, 0x2300};
	size_t i;

	memset(m, 0, sizeof(*m));
	memcpy(m->bytes, made, END);
	memset(m->known + TEXT, text, 0x1000);
	memset(m->known + DATA, data, 0x1000);
	forget(m, 0x1010, 8);
	point(m, 0x2008, 0x1234);
	forget(m, 0x2010, 8);
	forget(m, 0x2020, 16);
	forget(m, 0x2050, 12);
	point(m, 0x2060, 3);
	point(m, 0x2068, 4);
	point(m, 0x207c, 0x0102030405060708);
	forget(m, 0x2090, 16);
	forget(m, 0x20c0, 8);
	for (i = 0; i < 5; i++)
		point(m, relr[i], word_at(relr[i]));
	point(m, 0x224b, 0x1112131415161718);
	forget(m, 0x2131, 16);
	forget(m, 0x2160, 8);
	forget(m, 0x2180, 16);
	forget(m, 0x2240, 16);
	forget(m, 0x2f10, 12);
	forget(m, GOT, 24);
	forget(m, DYN, NDYN);
}

static void compare(const struct vt_imagedata *d, bool relro, const struct model *m)
{
	uint64_t vaddr, known;
	unsigned i;

	for (vaddr = 0; vaddr < 2 * END; vaddr += VT_IMAGEDATA_LINE) {
		uint8_t bytes[VT_IMAGEDATA_LINE];

		known = vt_imagedata_line(d, BIAS, vaddr + BIAS, relro, bytes);
		for (i = 0; i < VT_IMAGEDATA_LINE; i++) {
			uint64_t at = vaddr + i;
			bool want = at < END && m->known[at];

			if ((known >> i & 1) != want || bytes[i] != (want ? m->bytes[at] : 0))
				fail_msg("byte 0x%llx: known %d, 0x%02x", (unsigned long long)at,
					 (int)(known >> i & 1), bytes[i]);
		}
	}
}

/* Code ends with its segment, and where a relocation changes it: 8 bytes from 0x1010 on. */
static void check_code(const struct vt_imagedata *d)
{
	static const struct {
		uint64_t vaddr;
		size_t room, size;
	} rows[] = {
		{0x1ff0, 64, 16}, {0x1ff0, 15, 15}, {0x2000, 64, 0},  {0xfff, 64, 0},
		{0x1000, 64, 16}, {0x1000, 16, 16}, {0x1000, 17, 16}, {0x100f, 64, 1},
		{0x1010, 64, 0},  {0x1011, 64, 0},  {0x1017, 1, 0},   {0x1018, 64, 64},
		{0x1001, 8, 8},	  {0x1fff, 1, 1},
	};
	uint8_t bytes[64];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(vt_imagedata_code(d, rows[i].vaddr, bytes, rows[i].room),
				 rows[i].size);
		assert_memory_equal(bytes, made + rows[i].vaddr, rows[i].size);
	}
}

static void test_every_byte(void **state)
{
	static struct model m;
	uint64_t first, end;
	struct vt_imagedata *d;
	struct vt_elf *e;

	(void)state;
	d = make(&(struct parts){0}, &e);
	expect(&m, true, true);
	compare(d, true, &m);
	expect(&m, true, false);
	compare(d, false, &m);
	vt_imagedata_span(d, &first, &end);
	assert_int_equal(first, TEXT);
	assert_int_equal(end, END);
	assert_false(vt_imagedata_is_relocated(d, 0x1010));
	assert_true(vt_imagedata_is_relocated(d, 0x2000));
	assert_true(vt_imagedata_is_relocated(d, 0x2fff));
	assert_false(vt_imagedata_is_relocated(d, 0x3000));
	check_code(d);
	unmake(d, e);
}

/* What makes protected data unknown, and text too; each alone. */
static void test_contradictions(void **state)
{
	static const struct {
		struct parts parts;
		bool text, data;
	} cases[] = {
		{{.needed = true, .no_interp = true}, true, true},
		{{.no_interp = true}, true, false},
		{{.two_dynamics = true}, true, false},
		{{.relro_size = 0x1fff}, true, true},
		{{.relro_size = 0xfff}, true, false},
		{{.tag = DT_RELAENT, .value = 25}, true, false},
		{{.tag = DT_RELAENT, .value = 24}, true, true},
		{{.tag = 37, .value = 4}, true, false},
		{{.tag = DT_PLTREL, .value = DT_REL}, true, false},
		{{.tag = DT_REL, .value = 0}, true, false},
		{{.tag = DT_RELSZ, .value = 0}, true, false},
		{{.tag = 0x6000000f, .value = 0}, true, false},
		{{.tag = 0x60000011, .value = 0}, true, false},
		{{.tag = DT_FLAGS, .value = DF_BIND_NOW}, true, true},
		/* Tables that end in the middle of an entry, or beyond their segment. */
		{{.tag = DT_RELASZ, .value = 25, .no_rela = true}, true, false},
		{{.tag = DT_RELA, .value = DATA - 24, .no_rela = true}, true, false},
		{{.tag = DT_PLTRELSZ, .value = 23}, true, false},
		{{.tag = DT_JMPREL, .value = DATA - 23}, true, false},
		{{.tag = 35, .value = 23}, true, false},
		{{.tag = 36, .value = DATA - 23}, true, false},
		{{.tag = 36, .value = 4 * END}, true, false},
		{{.two_relros = true}, true, false},
		{{.relro_size = 1}, true, false},
		{{.no_dynamic = true, .no_rela = true}, true, false},
		{{.first_tag = DT_REL}, true, false},
		{{.first_tag = DT_TEXTREL, .no_end = true}, false, false},
		{{.first_tag = DT_TEXTREL, .tag = DT_FLAGS}, true, true},
		/* Tables that end where their segment does, and one that does not. */
		{{.relas = DATA - 21 * 24}, true, true},
		{{.plt = DATA - 24}, true, true},
		{{.relr = DATA - 24}, true, true},
		{{.relas = DATA - 21 * 24 + 8, .no_rela = true}, true, false},
		{{.dynamic_size = 0xbf}, true, false},
		{{.copy_at = 0xfff}, true, true},
		{{.copy_at = 0x1f00}, true, false},
		{{.copy_at = 0x3000}, true, true},
		{{.copy_at = 0x2500}, true, false},
		{{.copy_at = 0x2fff}, true, false},
		/* Behind the words that are the linker's. */
		{{.copy_at = GOT + 23}, true, true},
		{{.no_end = true}, true, false},
		{{.no_end = true, .tag = DT_TEXTREL}, false, false},
		{{.no_end = true, .tag = DT_FLAGS, .value = DF_TEXTREL}, false, false},
	};
	static struct model m;
	struct vt_imagedata *d;
	struct vt_elf *e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		d = make(&cases[i].parts, &e);
		expect(&m, cases[i].text, cases[i].data);
		forget(&m, cases[i].parts.copy_at, 16);
		if (cases[i].parts.no_rela)
			memset(m.known + 0x1010, true, 8);
		compare(d, true, &m);
		unmake(d, e);
	}
}

/* ---- segments ---- */

static struct vt_imagedata *open_headers(unsigned type, const Elf64_Phdr *phdrs, size_t n,
					 struct vt_elf **e)
{
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = (Elf64_Half)type,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(*phdrs),
		.e_phnum = (Elf64_Half)n,
	};

	memcpy(made, &h, sizeof(h));
	memcpy(made + sizeof(h), phdrs, n * sizeof(*phdrs));
	return open_made(e);
}

/* Where the image ends; 0 if it contradicts itself. */
static uint64_t take_end(struct vt_imagedata *d, struct vt_elf *e)
{
	uint64_t first, end;

	vt_imagedata_span(d, &first, &end);
	assert_true(end || !first);
	unmake(d, e);
	return end;
}

static uint64_t end_of(const Elf64_Phdr *phdrs, size_t n)
{
	struct vt_elf *e;
	struct vt_imagedata *d = open_headers(ET_DYN, phdrs, n, &e);

	return take_end(d, e);
}

#define USER_END (UINT64_C(1) << 47)

/* Segments come in order, each on pages of its own, at the places in a page that they have in the
 * file. */
static void test_order_of_segments(void **state)
{
	static const struct {
		struct {
			uint64_t vaddr, offset, size;
		} segments[2];
		uint64_t end;
	} rows[] = {
		{{{0x1000, 0x1000, 0x1000}, {0x2000, 0x2000, 1}}, 0x3000},
		{{{0x1000, 0x1000, 0xfff}, {0x2008, 0x1008, 0xff8}}, 0x3000},
		{{{0x1000, 0x1000, 0xfff}, {0x2008, 0x1008, 0xff9}}, 0x4000},
		{{{0x1000, 0x1000, 0x1001}, {0x2000, 0x2000, 1}}, 0},
		{{{0x1000, 0x1000, 0x1001}, {0x2fff, 0x2fff, 1}}, 0},
		{{{0x1000, 0x1000, 0x1001}, {0x3000, 0x3000, 1}}, 0x4000},
		{{{0x2000, 0x2000, 1}, {0x1000, 0x1000, 1}}, 0},
		{{{0x1000, 0x1000, 1}, {0x2001, 0x2002, 1}}, 0},
		{{{0x1001, 0x1000, 1}, {0x2000, 0x2000, 1}}, 0},
		{{{0x1000, 0x1000, 1}, {USER_END - 1, 0x1fff, 1}}, USER_END},
		{{{0x1000, 0x1000, 1}, {USER_END, 0x2000, 1}}, 0},
		{{{0x1000, 0x1000, 1}, {0x2000, 0x2000, USER_END}}, 0},
		{{{0x1000, 0x1000, 1}, {0x2000, 0x2000, USER_END - 0x1000}}, USER_END + 0x1000},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Phdr p[2];

		for (k = 0; k < 2; k++)
			p[k] = (Elf64_Phdr){.p_type = PT_LOAD,
					    .p_vaddr = rows[i].segments[k].vaddr,
					    .p_offset = rows[i].segments[k].offset,
					    .p_filesz = rows[i].segments[k].size,
					    .p_memsz = rows[i].segments[k].size};
		assert_int_equal(end_of(p, 2), rows[i].end);
	}
}

/* Images of other machines, and files that are none. */
static void test_others(void **state)
{
	static const Elf32_Phdr phdr = {PT_LOAD, 0, 0, 0, 0x1000, 0x1000, PF_R, 0x1000};
	static const Elf32_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(phdr),
		.e_phnum = 1,
	};
	static const struct {
		unsigned type, machine;
		uint64_t end;
	} rows[] = {{ET_DYN, EM_X86_64, END}, {ET_EXEC, EM_X86_64, END}, {ET_REL, EM_X86_64, 0},
		    {ET_CORE, EM_X86_64, 0},  {ET_DYN, EM_386, 0},	 {ET_DYN, EM_AARCH64, 0}};
	struct vt_imagedata *d;
	struct vt_elf *e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put_all(&(struct parts){0});
		made[16] = (uint8_t)rows[i].type;
		made[18] = (uint8_t)rows[i].machine;
		d = open_made(&e);
		assert_int_equal(take_end(d, e), rows[i].end);
	}
	memcpy(made, &h, sizeof(h));
	memcpy(made + sizeof(h), &phdr, sizeof(phdr));
	d = open_made(&e);
	assert_int_equal(take_end(d, e), 0);
}

/* Where an image lies, from a mapping of its code; 1: nobody knows. */
static void test_bias(void **state)
{
	static const struct {
		unsigned type;
		struct {
			uint64_t vaddr, offset, size;
			unsigned flags;
		} segments[2];
		uint64_t address, offset, bias;
	} rows[] = {
		/* All of the pages that code is on, and no more. */
		{ET_DYN, {{0x5008, 0x1008, 0xff8, PF_X}}, 0x7000, 0x1000, 0x2000},
		{ET_DYN, {{0x5008, 0x1008, 0xff8, PF_X}}, 0x7fff, 0x1fff, 0x2000},
		{ET_DYN, {{0x5008, 0x1008, 0xff8, PF_X}}, 0x7fff, 0xfff, 1},
		{ET_DYN, {{0x5008, 0x1008, 0xff8, PF_X}}, 0x8000, 0x2000, 1},
		{ET_DYN, {{0x5008, 0x1008, 0xff9, PF_X}}, 0x8000, 0x2000, 0x2000},
		{ET_DYN, {{0x5008, 0x1008, 0xff9, PF_X}}, 0x9000, 0x3000, 1},
		{ET_DYN, {{0x5000, 0x1000, 0x1000, PF_R}}, 0x7000, 0x1000, 1},
		/* A page of the file in two segments, or in one of two. */
		{ET_DYN,
		 {{0x5000, 0x1000, 0x800, PF_X}, {0x6800, 0x1800, 0x800, PF_X}},
		 0x7000,
		 0x1000,
		 1},
		{ET_DYN,
		 {{0x5000, 0x1000, 0x800, PF_X}, {0x6800, 0x2800, 0x800, PF_X}},
		 0x8000,
		 0x2000,
		 0x2000},
		{ET_DYN,
		 {{0x5000, 0x1000, 0x1001, PF_X}, {0x7000, 0x3000, 0x800, PF_X}},
		 0x8000,
		 0x2000,
		 0x2000},
		/* An executable lies where it says. */
		{ET_EXEC, {{0x5000, 0x1000, 0x1000, PF_X}}, 0x5000, 0x1000, 0},
		{ET_EXEC, {{0x5000, 0x1000, 0x1000, PF_X}}, 0x6000, 0x1000, 1},
		/* One may lie below what it says. */
		{ET_DYN, {{0x5000, 0x1000, 0x1000, PF_X}}, 0x2000, 0x1000, UINT64_MAX - 0x2fff},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Phdr p[2] = {{0}};
		struct vt_imagedata *d;
		struct vt_elf *e;
		uint64_t bias;

		for (k = 0; k < 2 && rows[i].segments[k].size; k++)
			p[k] = (Elf64_Phdr){.p_type = PT_LOAD,
					    .p_flags = rows[i].segments[k].flags,
					    .p_vaddr = rows[i].segments[k].vaddr,
					    .p_offset = rows[i].segments[k].offset,
					    .p_filesz = rows[i].segments[k].size,
					    .p_memsz = rows[i].segments[k].size};
		d = open_headers(rows[i].type, p, k, &e);
		assert_int_equal(vt_imagedata_bias(d, rows[i].address, rows[i].offset, &bias),
				 rows[i].bias != 1);
		if (rows[i].bias != 1)
			assert_int_equal(bias, rows[i].bias);
		unmake(d, e);
	}
}

/* More headers than 64, or segments than 32, no image has. */
static void test_many_segments(void **state)
{
	Elf64_Phdr p[66];
	uint64_t i;

	(void)state;
	for (i = 0; i < 66; i++)
		p[i] = (Elf64_Phdr){.p_type = i < 32 ? PT_LOAD : PT_NOTE,
				    .p_vaddr = 0x1000 * i,
				    .p_filesz = 8,
				    .p_memsz = 8};
	assert_int_equal(end_of(p + 32, 2), 0);
	assert_int_equal(end_of(p, 64), 0x20000);
	assert_int_equal(end_of(p, 65), 0);
	p[32].p_type = PT_LOAD;
	assert_int_equal(end_of(p, 33), 0);
}

/* What relocations fill in is known, and nothing else of the protected data. */
static void expect_resolved(struct model *m)
{
	static const uint16_t words[] = {0x2008, 0x2060, 0x2068, 0x207c, 0x2100,
					 0x2108, 0x2120, 0x22f8, 0x2300};
	size_t i;

	expect(m, true, true);
	forget(m, DATA, 0x1000);
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		memset(m->known + words[i], true, 8);
	memset(m->known + 0x2250, true, 3);
}

/* Code that runs before the linker protects data may write to it; that of other images does not. */
static void test_resolvers(void **state)
{
	static const struct parts with[] = {
		{.irelative = true},
		{.ifunc = 2},
		{.ifunc = 2, .symbols = DATA - 48},
		{.ifunc = 1},
	};
	static struct model m;
	struct vt_imagedata *d;
	struct vt_elf *e;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		d = make(&with[i], &e);
		if (i < 3)
			expect_resolved(&m);
		else
			expect(&m, true, true);
		compare(d, true, &m);
		unmake(d, e);
	}
}

/* How far things reach: what differs from the expected, a few ranges each. */
static void test_reach(void **state)
{
	static const struct {
		struct parts parts;
		struct {
			uint64_t at, size;
			bool known;
		} ranges[2];
	} rows[] = {
		{{.dynamic_size = 0xc0}, {{DYN + 0xc0, 0x40, true}}},
		{{.dynamic_size = UINT64_MAX}, {{DYN, 0x200, false}}},
		{{.got = 0x1fe8}, {{GOT, 24, true}}},
		{{.got = 0x1ff0}, {{GOT, 24, true}, {0x2000, 8, false}}},
		{{.got = 0x2000}, {{GOT, 24, true}, {0x2000, 24, false}}},
		{{.got = 0x2ff0}, {{GOT, 24, true}, {0x2ff0, 16, false}}},
		{{.got = 0x3000}, {{GOT, 24, true}}},
		{{.relro_size = 0x800, .relro = 0x2800}, {{DATA, 0x800, false}}},
		{{.relro_size = 0x800, .relro = 0x2801}, {{DATA, 0x801, false}}},
		{{.relro_size = 0x1800, .relro = 0x1800}, {{DATA, 0x1000, false}}},
		{{.relro = 0x4000}, {{DATA, 0x1000, false}}},
		{{.relro = 0x3000, .no_copy = true},
		 {{DATA, 0x1000, false}, {PLAIN, 0x1000, true}}},
		{{.relro_size = 0x2000, .no_copy = true}, {{PLAIN, 0x1000, true}}},
		{{.relro_size = 0x3000, .no_copy = true}, {{PLAIN, 0x1000, true}}},
		{{.file_size = 0xffc}, {{0x2ffc, 4, false}}},
		{{.file_size = 0xffc, .place = 0x2ff4}, {{0x2ffc, 4, false}}},
		{{.file_size = 0xffc, .place = 0x2ff6}, {{0x2ff6, 10, false}}},
		{{.from_zero = true}, {{0, 0x1000, true}, {0, 8, false}}},
		{{.from_zero = true, .no_symtab = true, .ifunc = 2},
		 {{0, 0x1000, true}, {0, 8, false}}},
		{{.symbols = DATA - 47, .ifunc = 2}, {{0, 0, false}}},
	};
	static struct model m;
	struct vt_imagedata *d;
	struct vt_elf *e;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		d = make(&rows[i].parts, &e);
		expect(&m, true, true);
		if (rows[i].parts.place)
			point(&m, rows[i].parts.place, word_at(rows[i].parts.place));
		for (k = 0; k < 2; k++)
			memset(m.known + rows[i].ranges[k].at, rows[i].ranges[k].known,
			       rows[i].ranges[k].size);
		compare(d, true, &m);
		unmake(d, e);
	}
}

/* Text that the linker relocates is written to, unless nothing of the text is certain anyway. */
static void test_relocated_text(void **state)
{
	static const struct parts with[] = {
		{.tag = DT_TEXTREL},
		{.tag = DT_FLAGS, .value = DF_TEXTREL},
		{.tag = DT_TEXTREL, .irelative = true},
	};
	struct vt_imagedata *d;
	struct vt_elf *e;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		d = make(&with[i], &e);
		assert_int_equal(vt_imagedata_is_relocated(d, 0x1000), i < 2);
		assert_int_equal(vt_imagedata_is_relocated(d, 0x1fff), i < 2);
		assert_true(vt_imagedata_is_relocated(d, 0x2000));
		unmake(d, e);
	}
}

/* Reads all lines of the first bytes of the image, from memory of that size. */
static void walk(size_t size)
{
	uint8_t *copy = malloc(size + 1), bytes[VT_IMAGEDATA_LINE];
	struct vt_imagedata *d;
	uint64_t at, known;
	struct vt_elf *e;
	unsigned i;

	assert_non_null(copy);
	memcpy(copy + 1, made, size);
	e = vt_elf_open_memory(copy + 1, size, "damaged", &err);
	if (!e) {
		free(copy);
		return;
	}
	d = vt_imagedata_new(e, &err);
	assert_non_null(d);
	for (at = 0; at < 2 * END; at += VT_IMAGEDATA_LINE) {
		known = vt_imagedata_line(d, BIAS, at + BIAS, true, bytes);
		for (i = 0; i < VT_IMAGEDATA_LINE; i++)
			assert_true(known >> i & 1 || !bytes[i]);
		vt_imagedata_code(d, at + 5, bytes, sizeof(bytes));
	}
	vt_imagedata_bias(d, 0x7ffff7dd0000, 0x1000, &known);
	unmake(d, e);
	free(copy);
}

/* Anything at all in the headers, _DYNAMIC and the relocations. */
static void test_damaged(void **state)
{
	static const struct {
		unsigned at, size;
	} places[] = {{64, 7 * 56}, {DYN, NDYN}, {RELA, RELR + 24 - RELA}};
	static uint8_t whole[END];
	struct vt_rng r;
	unsigned i, n;

	(void)state;
	put_all(&(struct parts){.ifunc = 2});
	memcpy(whole, made, END);
	vt_rng_init(&r, 3);
	for (i = 0; i < 3000; i++) {
		memcpy(made, whole, END);
		for (n = 1 + (unsigned)vt_rng_below(&r, 4); n; n--)
			made[places[i % 3].at + vt_rng_below(&r, places[i % 3].size)] =
				(uint8_t)vt_rng_next(&r);
		walk(vt_rng_below(&r, 8) ? END : vt_rng_below(&r, END));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_relocated_text),
		cmocka_unit_test(test_order_of_segments),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_bias),
		cmocka_unit_test(test_many_segments),
		cmocka_unit_test(test_resolvers),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
