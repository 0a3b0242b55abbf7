/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of procedure linkage tables, of files put together byte by byte. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf.h"
#include "image/symbols.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PLT 0x1000
#define SEC 0x2000 /* .plt.sec */
#define GOT 0x3000 /* .plt.got */

/* ---- files ---- */

static uint8_t file[0x4000];
static size_t file_size;
static Elf64_Shdr headers[10];
static size_t nheaders;
static char names[200];
static size_t names_size;

static void put_section(const char *name, uint32_t type, uint64_t addr, const void *data,
			size_t size, uint64_t entsize, unsigned link)
{
	headers[nheaders++] = (Elf64_Shdr){.sh_name = (Elf64_Word)names_size,
					   .sh_type = type,
					   .sh_flags = SHF_ALLOC,
					   .sh_addr = addr,
					   .sh_offset = file_size,
					   .sh_size = size,
					   .sh_link = link,
					   .sh_entsize = entsize};
	strcpy(names + names_size, name);
	names_size += strlen(name) + 1;
	if (data)
		memcpy(file + file_size, data, size);
	file_size += (size + 15) / 16 * 16;
}

/* Symbols 1 to 3; 4 has no name, 5 one that is not there. */
static void begin_file(void)
{
	static const char strings[] = "\0one\0two\0three";
	static const Elf64_Sym symbols[] = {
		{.st_name = 0}, {.st_name = 1}, {.st_name = 5},
		{.st_name = 9}, {.st_name = 0}, {.st_name = 500},
	};

	memset(file, 0, sizeof(file));
	memset(headers, 0, sizeof(headers));
	nheaders = 1;
	names_size = 1;
	file_size = sizeof(Elf64_Ehdr);
	put_section(".dynstr", SHT_STRTAB, 0, strings, sizeof(strings), 0, 0);
	put_section(".dynsym", SHT_DYNSYM, 0, symbols, sizeof(symbols), sizeof(*symbols), 1);
}

static struct vt_elf *end_file(unsigned machine)
{
	struct vt_error err = VT_ERROR_INIT;
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = (Elf64_Half)machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(h),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	struct vt_elf *e;

	put_section(".shstrtab", SHT_STRTAB, 0, names, sizeof(names), 0, 0);
	memcpy(file + headers[nheaders - 1].sh_offset, names, sizeof(names));
	h.e_shoff = file_size;
	h.e_shnum = (Elf64_Half)nheaders;
	h.e_shstrndx = (Elf64_Half)(nheaders - 1);
	memcpy(file, &h, sizeof(h));
	memcpy(file + file_size, headers, sizeof(headers));
	e = vt_elf_open_memory(file, file_size + sizeof(headers), "made", &err);
	assert_non_null(e);
	return e;
}

/* ---- symbols ---- */

struct expected {
	uint64_t start, end;
	const char *name;
};

/* All symbols of linkage tables: these and no others. */
static void expect(unsigned machine, const struct expected *want, size_t n)
{
	struct vt_elf *e = end_file(machine);
	struct vt_symbols *t = vt_symbols_new();
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	assert_non_null(t);
	assert_int_equal(vt_symbols_add_plt(t, e, &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	for (i = 0; i < n && want[i].name; i++) {
		const struct vt_symbol *s = vt_symbols_at(t, i);

		assert_true(i < vt_symbols_count(t));
		assert_string_equal(s->name, want[i].name);
		assert_int_equal(s->start, want[i].start);
		assert_int_equal(s->end, want[i].end);
		assert_int_equal(s->flags, VT_SYMBOL_GLOBAL | VT_SYMBOL_PLT);
	}
	assert_int_equal(vt_symbols_count(t), i);
	vt_symbols_free(t);
	vt_elf_close(e);
}

/* Relocations of symbols 1, 2 and of a resolver at 0x777, with addends or without. */
static void put_relocations(bool rela, size_t n)
{
	static const Elf64_Rela relas[] = {
		{0x5000, ELF64_R_INFO(1, 7), 0},
		{0x5008, ELF64_R_INFO(2, 7), 0},
		{0x5010, ELF64_R_INFO(0, 37), 0x777},
	};
	static const Elf64_Rel rels[] = {
		{0x5000, ELF64_R_INFO(1, 7)}, {0x5008, ELF64_R_INFO(2, 7)}, {0x5010, 0}};

	if (rela)
		put_section(".rela.plt", SHT_RELA, 0, relas, n * sizeof(*relas), sizeof(*relas), 2);
	else
		put_section(".rel.plt", SHT_REL, 0, rels, n * sizeof(*rels), sizeof(*rels), 2);
}

/* What becomes of .plt and .plt.sec of a size, with so many relocations. */
static const struct {
	unsigned machine;
	bool rela;
	size_t nrelocations, plt_size, sec_size;
	struct expected want[8];
} tables[] = {
	{EM_X86_64,
	 true,
	 3,
	 64,
	 0,
	 {{PLT, PLT + 16, ".plt"},
	  {PLT + 16, PLT + 32, "one@plt"},
	  {PLT + 32, PLT + 48, "two@plt"},
	  {PLT + 48, PLT + 64, "*ABS*+0x777@plt"}}},
	/* The table is longer than its relocations tell, or shorter. */
	{EM_X86_64, true, 1, 64, 0, {{PLT, PLT + 16, ".plt"}, {PLT + 16, PLT + 32, "one@plt"}}},
	{EM_X86_64, true, 3, 47, 0, {{PLT, PLT + 16, ".plt"}, {PLT + 16, PLT + 32, "one@plt"}}},
	{EM_X86_64, true, 3, 16, 0, {{PLT, PLT + 16, ".plt"}}},
	{EM_X86_64, true, 3, 15, 0, {{0, 0, NULL}}},
	{EM_X86_64, true, 3, 0, 0, {{0, 0, NULL}}},
	/* A second table has no header. */
	{EM_X86_64,
	 true,
	 2,
	 16,
	 32,
	 {{PLT, PLT + 16, ".plt"}, {SEC, SEC + 16, "one@plt"}, {SEC + 16, SEC + 32, "two@plt"}}},
	/* Entries of 24 bytes are of another machine. */
	{EM_X86_64,
	 true,
	 2,
	 16 + 48,
	 0,
	 {{PLT, PLT + 16, ".plt"},
	  {PLT + 16, PLT + 32, "one@plt"},
	  {PLT + 32, PLT + 48, "two@plt"}}},
	{EM_ARM,
	 false,
	 3,
	 56,
	 0,
	 {{PLT, PLT + 20, ".plt"},
	  {PLT + 20, PLT + 32, "one@plt"},
	  {PLT + 32, PLT + 44, "two@plt"},
	  {PLT + 44, PLT + 56, "*ABS*+0x0@plt"}}},
	{EM_AARCH64,
	 true,
	 2,
	 64,
	 0,
	 {{PLT, PLT + 32, ".plt"},
	  {PLT + 32, PLT + 48, "one@plt"},
	  {PLT + 48, PLT + 64, "two@plt"}}},
	{EM_AARCH64,
	 true,
	 2,
	 80,
	 0,
	 {{PLT, PLT + 32, ".plt"},
	  {PLT + 32, PLT + 56, "one@plt"},
	  {PLT + 56, PLT + 80, "two@plt"}}},
	{EM_AARCH64,
	 true,
	 2,
	 81,
	 0,
	 {{PLT, PLT + 32, ".plt"},
	  {PLT + 32, PLT + 48, "one@plt"},
	  {PLT + 48, PLT + 64, "two@plt"}}},
	{EM_AARCH64, true, 2, 32, 0, {{PLT, PLT + 32, ".plt"}}},
	{EM_AARCH64, true, 2, 31, 0, {{0, 0, NULL}}},
};

static void tables_in_order(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(tables); i++) {
		begin_file();
		put_section(".plt", SHT_PROGBITS, PLT, NULL, tables[i].plt_size, 16, 0);
		if (tables[i].sec_size)
			put_section(".plt.sec", SHT_PROGBITS, SEC, NULL, tables[i].sec_size, 16, 0);
		put_relocations(tables[i].rela, tables[i].nrelocations);
		expect(tables[i].machine, tables[i].want, COUNT(tables[i].want));
	}
	/* Without relocations nothing is told of it. */
	begin_file();
	put_section(".plt", SHT_PROGBITS, PLT, NULL, 64, 16, 0);
	expect(EM_X86_64, NULL, 0);
}

/* An indirect jump to a slot, at a byte of the table. */
static void put_jump(uint8_t *code, size_t at, uint64_t slot)
{
	uint32_t distance = (uint32_t)(slot - (GOT + at + 6));

	code[at] = 0xff;
	code[at + 1] = 0x25;
	memcpy(code + at + 2, &distance, 4);
}

static void jumps_to_slots(void **state)
{
	static const Elf64_Rela relas[] = {
		{0x6000, ELF64_R_INFO(1, 6), 0}, {0x6020, ELF64_R_INFO(99, 6), 0},
		{0x6008, ELF64_R_INFO(2, 6), 0}, {0x6010, ELF64_R_INFO(4, 6), 0},
		{0x6018, ELF64_R_INFO(5, 6), 0}, {0x2ff0, ELF64_R_INFO(3, 6), 0},

	};
	static const struct {
		uint64_t entsize;
		size_t size;
		/* Where jumps stand, and where to. */
		struct {
			size_t at;
			uint64_t slot;
		} jumps[8];
		struct expected want[8];
	} rows[] = {
		/* In no order, backwards, without a relocation that has a name. */
		{8,
		 56,
		 {{0, 0x6008},
		  {8, 0x2ff0},
		  {16, 0x6000},
		  {24, 0x6010},
		  {32, 0x6018},
		  {40, 0x6020},
		  {48, 0x6028}},
		 {{GOT, GOT + 8, "two@plt"},
		  {GOT + 8, GOT + 16, "three@plt"},
		  {GOT + 16, GOT + 24, "one@plt"}}},
		/* Behind other instructions; reaching into the next; none. */
		{8,
		 32,
		 {{2, 0x6000}, {11, 0x6008}, {24, 0x6008}},
		 {{GOT, GOT + 8, "one@plt"}, {GOT + 24, GOT + 32, "two@plt"}}},
		{16,
		 48,
		 {{5, 0x6000}, {26, 0x6008}, {43, 0x6000}},
		 {{GOT, GOT + 16, "one@plt"}, {GOT + 16, GOT + 32, "two@plt"}}},
		/* The last one is cut. */
		{8, 15, {{0, 0x6000}, {8, 0x6008}}, {{GOT, GOT + 8, "one@plt"}}},
		{16, 31, {{0, 0x6000}, {16, 0x6008}}, {{GOT, GOT + 16, "one@plt"}}},
		{0, 8, {{0, 0x6000}}, {{GOT, GOT + 8, "one@plt"}}},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		uint8_t code[64];

		memset(code, 0x90, sizeof(code));
		for (k = 0; k < COUNT(rows[i].jumps) && rows[i].jumps[k].slot; k++)
			put_jump(code, rows[i].jumps[k].at, rows[i].jumps[k].slot);
		begin_file();
		put_section(".plt.got", SHT_PROGBITS, GOT, code, rows[i].size, rows[i].entsize, 0);
		put_section(".rela.dyn", SHT_RELA, 0, relas, sizeof(relas), sizeof(*relas), 2);
		expect(EM_X86_64, rows[i].want, COUNT(rows[i].want));
		begin_file();
		put_section(".plt.got", SHT_PROGBITS, GOT, code, rows[i].size, rows[i].entsize, 0);
		put_section(".rela.dyn", SHT_RELA, 0, relas, sizeof(relas), sizeof(*relas), 2);
		expect(EM_AARCH64, NULL, 0);
	}
	/* Bytes that are half of a jump. */
	for (i = 0; i < 2; i++) {
		uint8_t code[8];

		memset(code, 0x90, sizeof(code));
		put_jump(code, 0, 0x6000);
		code[i] ^= 1;
		begin_file();
		put_section(".plt.got", SHT_PROGBITS, GOT, code, 8, 8, 0);
		put_section(".rela.dyn", SHT_RELA, 0, relas, sizeof(relas), sizeof(*relas), 2);
		expect(EM_X86_64, NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_in_order),
		cmocka_unit_test(jumps_to_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
