/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ELF files put together byte by byte have: notes, sections, and headers of what is not there.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf.h"
#include "image/internal.h"

#define FILE_SIZE 0x3000

static struct vt_error err;
static uint8_t file[FILE_SIZE];

static struct vt_elf *open_file(void)
{
	struct vt_elf *e = vt_elf_open_memory(file, FILE_SIZE, "made", &err);

	assert_non_null(e);
	return e;
}

/* One segment, and so many headers of sections somewhere. */
static void put_segment(const Elf64_Phdr *p, uint64_t shoff, unsigned shnum)
{
	const Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_shoff = shoff,
		.e_phentsize = sizeof(*p),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)shnum,
	};

	memset(file, 0, FILE_SIZE);
	memcpy(file, &h, sizeof(h));
	memcpy(file + sizeof(h), p, sizeof(*p));
}

/* A build-id of so many bytes, in a note; of long ones the first 64 are kept. */
static void test_notes(void **state)
{
	static const Elf64_Phdr phdr = {PT_NOTE, PF_R, 0x1000, 0, 0, 0x200, 0x200, 4};
	static const uint32_t sizes[] = {1, 20, 63, 64, 65, 100};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const Elf64_Nhdr note = {4, sizes[i], NT_GNU_BUILD_ID};
		const uint8_t *id = file + 0x1000 + sizeof(note) + 4;
		struct vt_elf *e;

		put_segment(&phdr, 0, 0);
		memcpy(file + 0x1000, &note, sizeof(note));
		memcpy(file + 0x1000 + sizeof(note), "GNU", 4);
		memset(file + 0x1000 + sizeof(note) + 4, 0x40 + (int)i, sizes[i]);
		e = open_file();
		assert_int_equal(vt_elf_info(e)->buildid_size, sizes[i] < 64 ? sizes[i] : 64);
		assert_memory_equal(vt_elf_info(e)->buildid, id, sizes[i] < 64 ? sizes[i] : 64);
		vt_elf_close(e);
	}
}

/* ---- sections ---- */

enum { NO_NAME, A_TEXT, A_DATA = 7, DEBUG_INFO = 13, ZDEBUG_INFO = 25, BEYOND = 1000 };

static const char section_names[] = "\0.text\0.data\0.debug_info\0.zdebug_info";

/* A file with these sections, and one of their names behind them, headers at the end. */
static struct vt_elf *open_sections(unsigned type, const Elf64_Shdr *s, unsigned n)
{
	const Elf64_Shdr strings = {
		.sh_type = SHT_STRTAB, .sh_offset = 0x100, .sh_size = sizeof(section_names)};
	const Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = (Elf64_Half)type,
		.e_version = EV_CURRENT,
		.e_shoff = FILE_SIZE - (n + 2) * sizeof(*s),
		.e_shentsize = sizeof(*s),
		.e_shnum = (Elf64_Half)(n + 2),
		.e_shstrndx = (Elf64_Half)(n + 1),
	};
	struct vt_elf *e;

	memset(file, 0, FILE_SIZE);
	memcpy(file, &h, sizeof(h));
	memcpy(file + 0x100, section_names, sizeof(section_names));
	memcpy(file + h.e_shoff + sizeof(*s), s, n * sizeof(*s));
	memcpy(file + FILE_SIZE - sizeof(*s), &strings, sizeof(strings));
	e = open_file();
	assert_false(vt_elf_info(e)->cut);
	return e;
}

/* What a file has, by the type, name, flags and size of each section. */
static void test_contents(void **state)
{
	static const struct {
		struct {
			unsigned name, type, flags, size;
		} sections[2];
		bool symtab, dynsym, dwarf, only_debug;
	} rows[] = {
		{{{A_TEXT, SHT_PROGBITS, SHF_EXECINSTR, 1}}, false, false, false, false},
		{{{A_TEXT, SHT_NOBITS, SHF_EXECINSTR, 1}}, false, false, false, true},
		{{{A_TEXT, SHT_NOBITS, SHF_EXECINSTR, 0}}, false, false, false, false},
		{{{A_TEXT, SHT_NOBITS, SHF_WRITE, 1}}, false, false, false, false},
		{{{A_TEXT, SHT_NOBITS, SHF_EXECINSTR, 1}, {A_TEXT, SHT_PROGBITS, SHF_EXECINSTR, 1}},
		 false,
		 false,
		 false,
		 false},
		{{{A_TEXT, SHT_NOBITS, SHF_EXECINSTR, 1}, {A_TEXT, SHT_PROGBITS, SHF_EXECINSTR, 0}},
		 false,
		 false,
		 false,
		 true},
		{{{NO_NAME, SHT_SYMTAB, 0, 0}, {NO_NAME, SHT_NULL, 0, 0}},
		 true,
		 false,
		 false,
		 false},
		{{{NO_NAME, SHT_DYNSYM, 0, 0}, {NO_NAME, SHT_NULL, 0, 0}},
		 false,
		 true,
		 false,
		 false},
		{{{NO_NAME, SHT_DYNSYM, 0, 0}, {NO_NAME, SHT_SYMTAB, 0, 0}},
		 true,
		 true,
		 false,
		 false},
		{{{DEBUG_INFO, SHT_PROGBITS, 0, 1}}, false, false, true, false},
		{{{ZDEBUG_INFO, SHT_PROGBITS, 0, 1}}, false, false, true, false},
		{{{DEBUG_INFO, SHT_PROGBITS, 0, 0}}, false, false, false, false},
		{{{DEBUG_INFO, SHT_NOBITS, 0, 1}}, false, false, false, false},
		{{{A_DATA, SHT_PROGBITS, 0, 1}}, false, false, false, false},
		{{{BEYOND, SHT_PROGBITS, 0, 1}}, false, false, false, false},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct vt_elf_info *info;
		Elf64_Shdr s[2];
		struct vt_elf *e;

		for (k = 0; k < 2; k++)
			s[k] = (Elf64_Shdr){.sh_name = rows[i].sections[k].name,
					    .sh_type = rows[i].sections[k].type,
					    .sh_flags = rows[i].sections[k].flags,
					    .sh_offset = 0x200,
					    .sh_size = rows[i].sections[k].size};
		e = open_sections(ET_EXEC, s, 2);
		info = vt_elf_info(e);
		assert_int_equal(info->has_symtab, rows[i].symtab);
		assert_int_equal(info->has_dynsym, rows[i].dynsym);
		assert_int_equal(info->has_dwarf, rows[i].dwarf);
		assert_int_equal(info->only_debug, rows[i].only_debug);
		vt_elf_close(e);
	}
}

/* A section's content is what lies inside the file; the first of a name that has any is taken. */
static void test_section_data(void **state)
{
	static const Elf64_Shdr data = {
		.sh_name = A_DATA, .sh_type = SHT_PROGBITS, .sh_offset = 0x300, .sh_size = 7};
	static const struct {
		unsigned type;
		uint64_t offset, size;
		bool inside;
	} rows[] = {
		{SHT_PROGBITS, 0x200, 5, true},
		{SHT_PROGBITS, 0x200, FILE_SIZE - 0x200, true},
		{SHT_PROGBITS, 0x200, FILE_SIZE - 0x1ff, false},
		{SHT_PROGBITS, FILE_SIZE, 1, false},
		{SHT_PROGBITS, FILE_SIZE + 1, 1, false},
		{SHT_PROGBITS, FILE_SIZE + 1, UINT64_MAX, false},
		{SHT_NOBITS, 0x200, 5, false},
	};
	struct vt_elf *e;
	GElf_Shdr shdr;
	Elf_Data *d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Shdr s[2] = {data, data};

		s[0].sh_type = rows[i].type;
		s[0].sh_offset = rows[i].offset;
		s[0].sh_size = rows[i].size;
		e = open_sections(ET_EXEC, s, 2);
		assert_non_null(vti_elf_section(e, ".data", &shdr, &d));
		assert_int_equal(shdr.sh_offset, rows[i].inside ? rows[i].offset : 0x300);
		assert_int_equal(d->d_size, rows[i].inside ? rows[i].size : 7);
		assert_non_null(vti_elf_section(e, ".data", &shdr, NULL));
		assert_int_equal(shdr.sh_offset, rows[i].offset);
		assert_null(vti_elf_section(e, ".text", &shdr, &d));
		assert_null(vti_elf_section_data(e, NULL));
		vt_elf_close(e);
	}
}

/* In a relocatable file, offsets count from .text; sections that are loaded are segments. */
static void test_sections_as_segments(void **state)
{
	static const Elf64_Shdr s[] = {
		{.sh_name = A_DATA,
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC | SHF_WRITE,
		 .sh_offset = 0x200,
		 .sh_size = 0x10},
		{.sh_name = A_TEXT,
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		 .sh_offset = 0x400,
		 .sh_size = 0x20},
		{.sh_name = A_DATA, .sh_type = SHT_PROGBITS, .sh_offset = 0x600, .sh_size = 0x10},
	};
	struct vt_elf *e = open_sections(ET_REL, s, 3);
	uint64_t offset, vaddr;
	size_t n;

	(void)state;
	vt_elf_segments(e, &n);
	assert_int_equal(n, 2);
	assert_true(vt_elf_offset_to_vaddr(e, 0x1f, &vaddr));
	assert_int_equal(vaddr, 0x41f);
	assert_true(vt_elf_offset_to_vaddr(e, UINT64_MAX - 0x1ff, &vaddr));
	assert_int_equal(vaddr, 0x200);
	assert_true(vt_elf_vaddr_to_offset(e, 0x41f, &offset));
	assert_int_equal(offset, 0x1f);
	assert_false(vt_elf_vaddr_to_offset(e, 0x600, &offset));
	vt_elf_close(e);
	/* Of an executable they are not. */
	e = open_sections(ET_EXEC, s, 3);
	assert_null(vt_elf_segments(e, &n));
	assert_int_equal(n, 0);
	assert_false(vt_elf_offset_to_vaddr(e, 0x400, &vaddr));
	vt_elf_close(e);
}

/* Headers, or what they say of segments, behind the end of the file. */
static void test_cut(void **state)
{
	static const struct {
		uint64_t shoff;
		unsigned shnum;
		uint64_t offset, size;
		bool cut;
	} rows[] = {
		{0, 0, 0x1000, FILE_SIZE - 0x1000, false},
		{0, 0, 0x1000, FILE_SIZE - 0xfff, true},
		{0, 0, FILE_SIZE, 0, false},
		{0, 0, FILE_SIZE + 1, 0, false},
		{0, 0, FILE_SIZE, 1, true},
		{0, 0, FILE_SIZE + 1, 1, true},
		{FILE_SIZE - 128, 2, 0, 0, false},
		{FILE_SIZE - 128, 3, 0, 0, true},
		{FILE_SIZE - 127, 2, 0, 0, true},
		{FILE_SIZE, 0, 0, 0, false},
		{FILE_SIZE + 1, 0, 0, 0, true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const Elf64_Phdr p = {PT_LOAD, PF_R,	     rows[i].offset, 0x1000,
				      0,       rows[i].size, rows[i].size,   8};
		struct vt_elf *e;

		put_segment(&p, rows[i].shoff, rows[i].shnum);
		e = open_file();
		assert_int_equal(vt_elf_info(e)->cut, rows[i].cut);
		vt_elf_close(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes),	     cmocka_unit_test(test_contents),
		cmocka_unit_test(test_section_data), cmocka_unit_test(test_sections_as_segments),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
