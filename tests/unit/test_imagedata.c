/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "image/imagedata.h"
#include "toolbox.h"

/* What is right is tested against running programs (tests/pipe/imagedata.t); this is what is not
 * well-formed. */

static struct vt_error err;

/* Reads the lines of so many bytes; those that are not known are 0. */
static uint64_t walk(const struct vt_imagedata *d, uint64_t most)
{
	uint64_t first, end, at, known, count = 0;
	uint8_t bytes[VT_IMAGEDATA_LINE];
	unsigned i;

	vt_imagedata_span(d, &first, &end);
	assert_true(first <= end);
	if (end - first > most)
		end = first + most;
	for (at = first; at < end; at += VT_IMAGEDATA_LINE) {
		known = vt_imagedata_line(d, 0x555555554000, at + 0x555555554000, true, bytes);
		for (i = 0; i < VT_IMAGEDATA_LINE; i++) {
			assert_true(known >> i & 1 || !bytes[i]);
			count += known >> i & 1;
		}
		vt_imagedata_code(d, at + 5, bytes, sizeof(bytes));
	}
	return count;
}

static uint64_t known_within(uint64_t most, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	struct vt_imagedata *d;
	uint64_t bias, count;
	struct vt_elf *e;

	assert_non_null(copy);
	memcpy(copy, data, size);
	e = vt_elf_open_memory(copy, size, "test", &err);
	if (!e) {
		free(copy);
		return 0;
	}
	d = vt_imagedata_new(e, &err);
	assert_non_null(d);
	count = walk(d, most);
	vt_imagedata_bias(d, 0x7ffff7dd0000, 0x4000, &bias);
	vt_imagedata_free(d);
	vt_elf_close(e);
	free(copy);
	return count;
}

/* The program header of a type; an entry of _DYNAMIC. */
static uint8_t *header_of(uint8_t *data, uint32_t type)
{
	unsigned i;

	for (i = 0; i < data[56]; i++)
		if (memcmp(data + 64 + (size_t)i * 56, &type, 4) == 0)
			return data + 64 + (size_t)i * 56;
	fail();
	return NULL;
}

static uint8_t *dynamic_of(uint8_t *data, uint64_t tag)
{
	uint64_t offset;
	unsigned i;

	memcpy(&offset, header_of(data, 2) + 8, 8);
	for (i = 0; i < 100; i++)
		if (memcmp(data + offset + 16 * (size_t)i, &tag, 8) == 0)
			return data + offset + 16 * (size_t)i;
	fail();
	return NULL;
}

/* More than any build of this program spans: some have megabytes of zeroes. */
static uint64_t known_of(const uint8_t *data, size_t size)
{
	return known_within(1 << 28, data, size);
}

/* Anything at all in the headers, _DYNAMIC and the relocations. */
static void test_damaged(void **state)
{
	uint64_t dynamic, rela, size_of_rela;
	uint8_t *data, *bad;
	struct vt_rng r;
	size_t size;
	unsigned i, n;

	(void)state;
	data = toolbox_read_self(&size);
	bad = malloc(size);
	assert_non_null(bad);
	memcpy(&dynamic, header_of(data, 2) + 8, 8);
	memcpy(&rela, dynamic_of(data, 7) + 8, 8);
	memcpy(&size_of_rela, dynamic_of(data, 8) + 8, 8);
	vt_rng_init(&r, 3);
	for (i = 0; i < 600; i++) {
		memcpy(bad, data, size);
		for (n = 1 + (unsigned)vt_rng_below(&r, 4); n; n--) {
			uint64_t at = 64 + vt_rng_below(&r, 13 * 56);

			if (i % 3 == 1)
				at = dynamic + vt_rng_below(&r, 480);
			else if (i % 3 == 2)
				at = rela + vt_rng_below(&r, size_of_rela);
			bad[at] = (uint8_t)vt_rng_next(&r);
		}
		known_within(1 << 22, bad, vt_rng_below(&r, 8) ? size : vt_rng_below(&r, size));
	}
	free(bad);
	free(data);
}

/* What makes protected data, or everything, uncertain. */
static void test_uncertain(void **state)
{
	const uint64_t rel = 17, far_away = UINT64_C(1) << 46, textrel = 22;
	uint64_t all, text;
	uint8_t *data, *at;
	size_t size;

	(void)state;
	data = toolbox_read_self(&size);
	all = known_of(data, size);

	/* A table of a kind that this machine has not: what is protected may be anything. */
	at = dynamic_of(data, 0x6ffffffb);
	memcpy(at, &rel, 8);
	text = known_of(data, size);
	assert_true(text > 10000 && text < all);

	/* It may even be meant for the text. */
	memcpy(dynamic_of(data, 0x6ffffff9), &textrel, 8);
	assert_int_equal(known_of(data, size), 0);
	free(data);

	/* Relocations that are not in the file. */
	data = toolbox_read_self(&size);
	memcpy(dynamic_of(data, 7) + 8, &far_away, 8);
	assert_int_equal(known_of(data, size), text);
	free(data);

	/* Segments in the wrong order, or of another machine. */
	data = toolbox_read_self(&size);
	memcpy(header_of(data, 1) + 16, &far_away, 8);
	assert_int_equal(known_of(data, size), 0);
	free(data);
	data = toolbox_read_self(&size);
	data[18] = 183;
	assert_int_equal(known_of(data, size), 0);
	free(data);
}

/* ---- a file put together byte by byte, of which every known byte is known ---- */

#define TEXT  0x1000
#define DATA  0x2000 /* protected up to PLAIN */
#define PLAIN 0x3000
#define END   0x4000
#define RELA  0x1800 /* tables, in the text */
#define PLT   0x1a00
#define RELR  0x1b00
#define SYMS  0x1c00
#define GOT   0x2400
#define DYN   0x2e00
#define BIAS  UINT64_C(0x555555554000)

struct parts {
	bool no_interp, needed, two_dynamics;
	uint64_t relro_size;
	uint64_t tag, value; /* one more entry of _DYNAMIC */
	unsigned copy_at;    /* R_X86_64_COPY here; 0: none */
	bool no_end;	     /* _DYNAMIC is not ended */
	bool no_rela;	     /* the entry makes relocations unreadable, that of text as well */
	bool irelative;	     /* a relocation calls a procedure that chooses another */
	unsigned ifunc;	     /* so does one by a symbol: 1, which is elsewhere; 2, which is here */
};

static uint8_t made[END];

static size_t put_rela(size_t at, uint64_t place, uint64_t type, uint64_t addend)
{
	Elf64_Rela r = {place, type, (Elf64_Sxword)addend};

	memcpy(made + at, &r, sizeof(r));
	return at + sizeof(r);
}

static void put_symbols(unsigned ifunc)
{
	const Elf64_Sym syms[2] = {
		[1] = {.st_info = ELF64_ST_INFO(STB_GLOBAL, ifunc ? STT_GNU_IFUNC : STT_FUNC),
		       .st_shndx = ifunc == 1 ? SHN_UNDEF : 1},
	};

	memcpy(made + SYMS, syms, sizeof(syms));
}

static size_t put_relocations(const struct parts *parts)
{
	size_t at = RELA;

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
	at = put_rela(at, 0x2090, 100, 0);
	at = put_rela(at, UINT64_C(1) << 47, R_X86_64_64, 0);
	at = put_rela(at, 0x3800, R_X86_64_COPY, 0);
	if (parts->irelative)
		at = put_rela(at, 0x3010, R_X86_64_IRELATIVE, 0x1000);
	if (parts->ifunc)
		at = put_rela(at, 0x3018, ELF64_R_INFO(1, R_X86_64_GLOB_DAT), 0);
	if (parts->copy_at)
		at = put_rela(at, parts->copy_at, R_X86_64_COPY, 0);
	return at - RELA;
}

static void put_headers(const struct parts *parts)
{
	const Elf64_Phdr phdrs[] = {
		{PT_LOAD, PF_R | PF_X, TEXT, TEXT, 0, 0x1000, 0x1000, 0x1000},
		{PT_LOAD, PF_R | PF_W, DATA, DATA, 0, 0x2000, 0x2000, 0x1000},
		{PT_DYNAMIC, PF_R, DYN, DYN, 0, 0x100, 0x100, 8},
		{PT_GNU_RELRO, PF_R, DATA, DATA, 0, 0x1000, parts->relro_size, 1},
		{parts->no_interp ? PT_NOTE : PT_INTERP, PF_R, TEXT, TEXT, 0, 8, 8, 1},
		{parts->two_dynamics ? PT_DYNAMIC : PT_NOTE, PF_R, DYN, DYN, 0, 0x100, 0x100, 8},
	};
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(*phdrs),
		.e_phnum = sizeof(phdrs) / sizeof(*phdrs),
	};

	memcpy(made, &h, sizeof(h));
	memcpy(made + sizeof(h), phdrs, sizeof(phdrs));
}

static struct vt_imagedata *make(const struct parts *parts, struct vt_elf **e)
{
	/* A place, then two words of bits: the 1st and 4th after it, and the 64th. */
	static const uint64_t relr[] = {0x2100, 1 | 1 << 1 | 1 << 4, 1 | 1 << 1};
	uint64_t dynamic[32] = {0};
	struct vt_imagedata *d;
	size_t i, n = 0;

	for (i = 0; i < END; i++)
		made[i] = (uint8_t)(i * 13 + (i >> 8) * 7 + 1);
	put_headers(parts);
	put_symbols(parts->ifunc);
#define ENTRY(tag, value) (dynamic[n++] = (tag), dynamic[n++] = (value))
	ENTRY(DT_PLTREL, DT_RELA);
	ENTRY(37, 8);
	ENTRY(DT_RELAENT, 24);
	ENTRY(DT_PLTGOT, GOT);
	ENTRY(DT_SYMTAB, SYMS);
	ENTRY(35, sizeof(relr));
	ENTRY(36, RELR);
	ENTRY(DT_PLTRELSZ, 24);
	ENTRY(DT_JMPREL, PLT);
	ENTRY(DT_RELASZ, put_relocations(parts));
	ENTRY(DT_RELA, RELA);
	if (parts->needed)
		ENTRY(DT_NEEDED, 1);
	if (parts->tag)
		ENTRY(parts->tag, parts->value);
	for (; parts->no_end && n < 32;)
		ENTRY(DT_DEBUG, 0);
	put_rela(PLT, 0x20c0, R_X86_64_JUMP_SLOT, 0);
	memcpy(made + RELR, relr, sizeof(relr));
	memcpy(made + DYN, dynamic, sizeof(dynamic));
	*e = vt_elf_open_memory(made, END, "made", &err);
	assert_non_null(*e);
	d = vt_imagedata_new(*e, &err);
	assert_non_null(d);
	return d;
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
	static const uint16_t relr[] = {0x2100, 0x2108, 0x2120, 0x2300};
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
	for (i = 0; i < 4; i++)
		point(m, relr[i], word_at(relr[i]));
	forget(m, GOT, 24);
	forget(m, DYN, 0x100);
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
	struct parts parts = {.relro_size = 0x1000};
	uint64_t first, end, bias;
	struct vt_imagedata *d;
	struct vt_elf *e;

	(void)state;
	d = make(&parts, &e);
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
	assert_true(vt_imagedata_bias(d, 0x7f0000001000, 0x1000, &bias));
	assert_int_equal(bias, 0x7f0000000000);
	assert_false(vt_imagedata_bias(d, 0x7f0000001001, 0x1000, &bias));
	assert_false(vt_imagedata_bias(d, 0x7f0000001000, 0xfff, &bias));
	assert_true(vt_imagedata_bias(d, 0x7f0000001fff, 0x1fff, &bias));
	assert_int_equal(bias, 0x7f0000000000);
	assert_false(vt_imagedata_bias(d, 0x7f0000002000, 0x2000, &bias));
	check_code(d);
	vt_imagedata_free(d);
	vt_elf_close(e);
}

/* What makes protected data unknown, and text too; each alone. */
static void test_contradictions(void **state)
{
	static const struct {
		struct parts parts;
		bool text, data;
	} cases[] = {
		{{.relro_size = 0x1000, .needed = true, .no_interp = true}, true, true},
		{{.relro_size = 0x1000, .no_interp = true}, true, false},
		{{.relro_size = 0x1000, .two_dynamics = true}, true, false},
		{{.relro_size = 0x1fff}, true, true},
		{{.relro_size = 0xfff}, true, false},
		{{.relro_size = 0x1000, .tag = DT_RELAENT, .value = 25}, true, false},
		{{.relro_size = 0x1000, .tag = DT_RELAENT, .value = 24}, true, true},
		{{.relro_size = 0x1000, .tag = 37, .value = 4}, true, false},
		{{.relro_size = 0x1000, .tag = DT_PLTREL, .value = DT_REL}, true, false},
		{{.relro_size = 0x1000, .tag = DT_REL, .value = 0}, true, false},
		{{.relro_size = 0x1000, .tag = DT_RELSZ, .value = 0}, true, false},
		{{.relro_size = 0x1000, .tag = 0x6000000f, .value = 0}, true, false},
		{{.relro_size = 0x1000, .tag = 0x60000011, .value = 0}, true, false},
		{{.relro_size = 0x1000, .tag = DT_FLAGS, .value = DF_BIND_NOW}, true, true},
		/* Tables that end in the middle of an entry, or beyond their segment. */
		{{.relro_size = 0x1000, .tag = DT_RELASZ, .value = 25, .no_rela = true},
		 true,
		 false},
		{{.relro_size = 0x1000, .tag = DT_RELA, .value = DATA - 24, .no_rela = true},
		 true,
		 false},
		{{.relro_size = 0x1000, .tag = DT_PLTRELSZ, .value = 23}, true, false},
		{{.relro_size = 0x1000, .tag = DT_JMPREL, .value = DATA - 23}, true, false},
		{{.relro_size = 0x1000, .tag = 35, .value = 23}, true, false},
		{{.relro_size = 0x1000, .tag = 36, .value = DATA - 23}, true, false},
		{{.relro_size = 0x1000, .tag = 36, .value = 4 * END}, true, false},
		{{.relro_size = 0x1000, .copy_at = 0x2500}, true, false},
		{{.relro_size = 0x1000, .copy_at = 0x2fff}, true, false},
		/* Behind the words that are the linker's. */
		{{.relro_size = 0x1000, .copy_at = GOT + 23}, true, true},
		{{.relro_size = 0x1000, .no_end = true}, true, false},
		{{.relro_size = 0x1000, .no_end = true, .tag = DT_TEXTREL}, false, false},
		{{.relro_size = 0x1000, .no_end = true, .tag = DT_FLAGS, .value = DF_TEXTREL},
		 false,
		 false},
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
		vt_imagedata_free(d);
		vt_elf_close(e);
	}
}

/* ---- segments ---- */

/* Where an image of these headers ends; 0 if it contradicts itself. */
static uint64_t end_of(const Elf64_Phdr *phdrs, size_t n)
{
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(*phdrs),
		.e_phnum = (Elf64_Half)n,
	};
	struct vt_imagedata *d;
	uint64_t first, end;
	struct vt_elf *e;

	memcpy(made, &h, sizeof(h));
	memcpy(made + sizeof(h), phdrs, n * sizeof(*phdrs));
	e = vt_elf_open_memory(made, END, "made", &err);
	assert_non_null(e);
	d = vt_imagedata_new(e, &err);
	assert_non_null(d);
	vt_imagedata_span(d, &first, &end);
	assert_true(end || !first);
	vt_imagedata_free(d);
	vt_elf_close(e);
	return end;
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
	static const uint16_t words[] = {0x2008, 0x2060, 0x2068, 0x207c,
					 0x2100, 0x2108, 0x2120, 0x2300};
	size_t i;

	expect(m, true, true);
	forget(m, DATA, 0x1000);
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		memset(m->known + words[i], true, 8);
}

/* Code that runs before the linker protects data may write to it; that of other images does not. */
static void test_resolvers(void **state)
{
	static const struct parts with[] = {
		{.relro_size = 0x1000, .irelative = true},
		{.relro_size = 0x1000, .ifunc = 2},
		{.relro_size = 0x1000, .ifunc = 1},
	};
	static struct model m;
	struct vt_imagedata *d;
	struct vt_elf *e;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		d = make(&with[i], &e);
		if (i < 2)
			expect_resolved(&m);
		else
			expect(&m, true, true);
		compare(d, true, &m);
		vt_imagedata_free(d);
		vt_elf_close(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte),	  cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_order_of_segments), cmocka_unit_test(test_many_segments),
		cmocka_unit_test(test_resolvers),	  cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_uncertain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
