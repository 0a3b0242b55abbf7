/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ELF files put together byte by byte, so that every segment's and symbol's number is known; among
 * them what no linker writes.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf.h"
#include "image/symbols.h"
#include "tests/unit/common/toolbox.h"

static struct vt_error err;

/* ---- segments ---- */

#define FILE_SIZE 0x3000

static uint8_t file[FILE_SIZE];

static struct vt_elf *open_segments(unsigned type, const Elf64_Phdr *phdrs, unsigned n)
{
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = (Elf64_Half)type,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = 0x401234,
		.e_phoff = sizeof(h),
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(*phdrs),
		.e_phnum = (Elf64_Half)n,
	};
	struct vt_elf *e;
	size_t i;

	for (i = 0; i < FILE_SIZE; i++)
		file[i] = (uint8_t)(i * 7 + (i >> 8));
	memcpy(file, &h, sizeof(h));
	memcpy(file + sizeof(h), phdrs, n * sizeof(*phdrs));
	e = vt_elf_open_memory(file, FILE_SIZE, "made", &err);
	assert_non_null(e);
	return e;
}

/* Text, data with .bss, and three that are not what they say. */
static const Elf64_Phdr segments[] = {
	{PT_LOAD, PF_R | PF_X, 0x1100, 0x401100, 0, 0x300, 0x300, 0x1000},
	{PT_LOAD, PF_R | PF_W, 0x2000, 0x500000, 0, 0x100, 0x1800, 0x1000},
	{PT_NOTE, PF_R, 0x1000, 0x600000, 0, 0x100, 0x100, 4},
	/* Longer than the file; beyond it; more bytes in the file than in memory. */
	{PT_LOAD, PF_R, 0x2f00, 0x700000, 0, 0x200, 0x400, 0x1000},
	{PT_LOAD, PF_R, 0x4000, 0x800000, 0, 0x200, 0x400, 0x1000},
	{PT_LOAD, PF_R, 0x2800, 0x900000, 0, 0x200, 0x80, 0x1000},
	/* Up to the end of all addresses, and past it. */
	{PT_LOAD, PF_R, 0x2c00, UINT64_MAX - 0xff, 0, 0x40, 0x1000, 0x1000},
};

static void test_segments(void **state)
{
	static const struct vt_elf_segment want[] = {
		{0x401100, 0x1100, 0x300, 0x300, true, false},
		{0x500000, 0x2000, 0x100, 0x1800, false, true},
		{0x700000, 0x2f00, 0x100, 0x400, false, false},
		{0x800000, 0x4000, 0, 0x400, false, false},
		{0x900000, 0x2800, 0x80, 0x80, false, false},
		{UINT64_MAX - 0xff, 0x2c00, 0x40, 0xff, false, false},
	};
	struct vt_elf *e = open_segments(ET_EXEC, segments, 7);
	const struct vt_elf_segment *s;
	size_t n, i;

	(void)state;
	s = vt_elf_segments(e, &n);
	assert_int_equal(n, 6);
	for (i = 0; i < n; i++) {
		assert_int_equal(s[i].vaddr, want[i].vaddr);
		assert_int_equal(s[i].offset, want[i].offset);
		assert_int_equal(s[i].filesz, want[i].filesz);
		assert_int_equal(s[i].memsz, want[i].memsz);
		assert_int_equal(s[i].exec, want[i].exec);
		assert_int_equal(s[i].write, want[i].write);
	}
	assert_int_equal(vt_elf_info(e)->type, ET_EXEC);
	assert_int_equal(vt_elf_info(e)->machine, VT_MACHINE_X86_64);
	assert_int_equal(vt_elf_info(e)->bits, 64);
	assert_false(vt_elf_info(e)->big);
	assert_int_equal(vt_elf_info(e)->entry, 0x401234);
	assert_int_equal(vt_elf_info(e)->buildid_size, 0);
	vt_elf_close(e);
}

static void check_vaddr(const struct vt_elf *e, uint64_t offset, uint64_t want)
{
	uint64_t vaddr = 0;

	assert_int_equal(vt_elf_offset_to_vaddr(e, offset, &vaddr), want != 0);
	assert_int_equal(vaddr, want);
}

/* First what segments hold, then the rest of text's pages, then .bss; 0: nothing. */
static void test_offset_to_vaddr(void **state)
{
	struct vt_elf *e = open_segments(ET_EXEC, segments, 2);

	(void)state;
	check_vaddr(e, 0x1100, 0x401100);
	check_vaddr(e, 0x13ff, 0x4013ff);
	check_vaddr(e, 0x1400, 0x401400);
	check_vaddr(e, 0x1fff, 0x401fff);
	check_vaddr(e, 0x10ff, 0x4010ff);
	check_vaddr(e, 0x1000, 0x401000);
	check_vaddr(e, 0x0fff, 0);
	check_vaddr(e, 0x2000, 0x500000);
	check_vaddr(e, 0x20ff, 0x5000ff);
	check_vaddr(e, 0x2100, 0x500100);
	check_vaddr(e, 0x37ff, 0x5017ff);
	check_vaddr(e, 0x3800, 0);
	vt_elf_close(e);
}

/* Pages that are full, data without a page's rest, .bss alone, and what memory has without end. */
static void test_offset_to_vaddr_of_others(void **state)
{
	static const Elf64_Phdr phdrs[] = {
		{PT_LOAD, PF_R | PF_X, 0x1000, 0x401000, 0, 0x1000, 0x3000, 0x1000},
		{PT_LOAD, PF_R | PF_W, 0x2810, 0x500810, 0, 0x10, 0x10, 0x1000},
		{PT_LOAD, PF_R | PF_W, 0x2900, 0x600900, 0, 0, 0x100, 0x1000},
		{PT_LOAD, PF_R | PF_W, 0x2a00, 0, 0, 0x10, UINT64_MAX, 0x1000},
	};
	struct vt_elf *e = open_segments(ET_EXEC, phdrs, 3);

	(void)state;
	check_vaddr(e, 0x1fff, 0x401fff);
	check_vaddr(e, 0x2000, 0);
	check_vaddr(e, 0x280f, 0);
	check_vaddr(e, 0x281f, 0x50081f);
	check_vaddr(e, 0x2820, 0);
	check_vaddr(e, 0x2900, 0);
	vt_elf_close(e);
	e = open_segments(ET_EXEC, phdrs, 4);
	check_vaddr(e, 0x29ff, 0);
	check_vaddr(e, 0x2fff, 0x5ff);
	vt_elf_close(e);
}

/* Of segments, 4096 count. */
static void test_many_segments(void **state)
{
	const unsigned n = 4098;
	const size_t size = sizeof(Elf64_Ehdr) + n * sizeof(Elf64_Phdr);
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)n,
	};
	uint8_t *bytes = calloc(1, size);
	struct vt_elf *e;
	size_t count, i;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, &h, sizeof(h));
	for (i = 0; i < n; i++) {
		const Elf64_Phdr p = {PT_LOAD, PF_R, 0, 0x1000 * (i + 1), 0, 8, 8, 8};

		memcpy(bytes + sizeof(h) + i * sizeof(p), &p, sizeof(p));
	}
	e = vt_elf_open_memory(bytes, size, "many", &err);
	assert_non_null(e);
	assert_int_equal(vt_elf_segments(e, &count)[4095].vaddr, 0x1000000);
	assert_int_equal(count, 4096);
	assert_true(vt_elf_is_constant(e, 0x1000000));
	assert_false(vt_elf_is_constant(e, 0x1001000));
	vt_elf_close(e);
	free(bytes);
}

static void check_vaddr_to_offset(const struct vt_elf *e, uint64_t vaddr, uint64_t want)
{
	uint64_t offset = 0;

	assert_int_equal(vt_elf_vaddr_to_offset(e, vaddr, &offset), want != 0);
	assert_int_equal(offset, want);
}

static void check_bytes(const struct vt_elf *e, uint64_t vaddr, size_t offset, size_t want)
{
	size_t avail = 77;
	const uint8_t *p = vt_elf_bytes(e, vaddr, &avail);

	assert_int_equal(avail, want);
	assert_ptr_equal(p, want ? file + offset : NULL);
}

static void test_vaddr_to_offset(void **state)
{
	struct vt_elf *e = open_segments(ET_EXEC, segments, 7);

	(void)state;
	check_vaddr_to_offset(e, 0x4010ff, 0);
	check_vaddr_to_offset(e, 0x401100, 0x1100);
	check_vaddr_to_offset(e, 0x4013ff, 0x13ff);
	check_vaddr_to_offset(e, 0x401400, 0);
	check_vaddr_to_offset(e, 0x500000, 0x2000);
	check_vaddr_to_offset(e, 0x5017ff, 0x37ff);
	check_vaddr_to_offset(e, 0x501800, 0);
	check_vaddr_to_offset(e, 0x600000, 0);
	check_bytes(e, 0x4010ff, 0, 0);
	check_bytes(e, 0x401100, 0x1100, 0x300);
	check_bytes(e, 0x4013ff, 0x13ff, 1);
	check_bytes(e, 0x401400, 0, 0);
	check_bytes(e, 0x5000ff, 0x20ff, 1);
	check_bytes(e, 0x500100, 0, 0);
	check_bytes(e, 0x7000ff, 0x2fff, 1);
	check_bytes(e, 0x700100, 0, 0);
	check_bytes(e, 0x800000, 0, 0);
	vt_elf_close(e);
}

/* The CRC-32 of ISO 3309, bit by bit, of all bytes of the file. */
static void test_crc(void **state)
{
	struct vt_elf *e = open_segments(ET_EXEC, segments, 1);
	uint32_t crc = UINT32_MAX;
	size_t i;
	int bit;

	(void)state;
	for (i = 0; i < FILE_SIZE; i++) {
		crc ^= file[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	assert_int_equal(vt_elf_crc(e), ~crc);
	vt_elf_close(e);
}

static void test_constant(void **state)
{
	static const Elf64_Phdr phdrs[] = {
		{PT_LOAD, PF_R, 0x1000, 0x400000, 0, 0x1000, 0x1000, 0x1000},
		{PT_LOAD, PF_R | PF_W, 0x2000, 0x500000, 0, 0x1000, 0x2000, 0x1000},
		{PT_GNU_RELRO, PF_R, 0x2000, 0x500000, 0, 0x800, 0x800, 1},
		{PT_TLS, PF_R, 0x2900, 0x500900, 0, 0x10, 0x10, 1},
	};
	struct vt_elf *e = open_segments(ET_DYN, phdrs, 4);

	(void)state;
	assert_false(vt_elf_is_constant(e, 0x3fffff));
	assert_true(vt_elf_is_constant(e, 0x400000));
	assert_true(vt_elf_is_constant(e, 0x400fff));
	assert_false(vt_elf_is_constant(e, 0x401000));
	assert_true(vt_elf_is_constant(e, 0x500000));
	assert_true(vt_elf_is_constant(e, 0x5007ff));
	assert_false(vt_elf_is_constant(e, 0x500800));
	assert_false(vt_elf_is_constant(e, 0x500900));
	assert_false(vt_elf_is_constant(e, 0x501fff));
	vt_elf_close(e);
}

static void test_buildids(void **state)
{
	static const uint8_t id[20] = {0x01, 0x23, 0xab, 0xcd, 0, 0xff};
	static const uint8_t zeroes[32] = {0x01, 0x23, 0xab, 0xcd, 0, 0xff};
	uint8_t other[20], longer[32];
	char text[2 * VT_BUILDID_MAX + 1];
	static const uint8_t large[VT_BUILDID_MAX + 8];

	(void)state;
	vt_buildid_format(id, 6, text);
	assert_string_equal(text, "0123abcd00ff");
	vt_buildid_format(id, 0, text);
	assert_string_equal(text, "");
	vt_buildid_format(large, sizeof(large), text);
	assert_int_equal(strlen(text), 2 * VT_BUILDID_MAX);
	/* perf keeps 20 bytes: shorter ones are filled with zeroes, which nobody else adds. */
	assert_true(vt_buildid_equal(id, 20, id, 20));
	assert_true(vt_buildid_equal(id, 6, id, 20));
	assert_true(vt_buildid_equal(id, 20, id, 6));
	assert_true(vt_buildid_equal(NULL, 0, NULL, 0));
	assert_false(vt_buildid_equal(NULL, 0, id, 6));
	assert_false(vt_buildid_equal(id, 6, NULL, 0));
	memcpy(other, id, 20);
	other[5] = 0xfe;
	assert_false(vt_buildid_equal(id, 6, other, 6));
	memcpy(other, id, 20);
	other[19] = 1;
	assert_false(vt_buildid_equal(id, 6, other, 20));
	memcpy(other, id, 20);
	other[6] = 1;
	assert_false(vt_buildid_equal(id, 6, other, 20));
	/* One of 32 bytes was cut to 20 by perf, whatever its last twelve are. */
	memcpy(longer, zeroes, 32);
	longer[20] = longer[31] = 9;
	assert_true(vt_buildid_equal(id, 20, longer, 32));
	longer[19] = 9;
	assert_false(vt_buildid_equal(id, 20, longer, 32));
}

/* Notes of a name of some size, a type and a build-id; the id is in the last of them. */
static void test_buildids_in_notes(void **state)
{
	static const uint32_t other[] = {3, 5, 1, 0x00333231, 0x78777675, 0x79},
			      id[] = {4, 8, 3, 0x00554e47, 0x04030201, 0x08070605};
	static const uint8_t want[] = {1, 2, 3, 4, 5, 6, 7, 8}, less[] = {1, 2, 3, 4, 5, 6, 7, 9};
	static const struct {
		unsigned at;
		uint32_t value;
	} changes[] = {{0, 3}, {0, 5}, {0, 8}, {1, 7}, {1, 9}, {2, 2}, {2, 4}, {3, 0x00554e48}};
	uint32_t notes[12];
	size_t i;

	(void)state;
	memcpy(notes, other, sizeof(other));
	memcpy(notes + 6, id, sizeof(id));
	assert_true(vt_buildid_in_notes(notes, sizeof(notes), want, 8));
	assert_true(vt_buildid_in_notes(notes + 6, sizeof(id), want, 8));
	assert_false(vt_buildid_in_notes(notes, sizeof(notes), less, 8));
	for (i = 0; i < sizeof(notes); i++)
		assert_false(vt_buildid_in_notes(notes, i, want, 8));
	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		memcpy(notes, id, sizeof(id));
		notes[changes[i].at] = changes[i].value;
		assert_false(vt_buildid_in_notes(notes, sizeof(id), want, 8));
	}
}

/* Code that memory was let go of comes again. */
static void test_rest(void **state)
{
	struct vt_elf *e = vt_elf_open("/proc/self/exe", &err);
	const struct vt_elf_segment *list;
	const uint8_t *bytes;
	size_t i, n, size, compared = 0;
	uint8_t *copy;

	(void)state;
	assert_non_null(e);
	list = vt_elf_segments(e, &n);
	for (i = 0; i < n; i++) {
		bytes = vt_elf_bytes(e, list[i].vaddr, &size);
		if (!list[i].exec || !bytes)
			continue;
		copy = malloc(size);
		assert_non_null(copy);
		memcpy(copy, bytes, size);
		vt_elf_rest(e);
		assert_memory_equal(vt_elf_bytes(e, list[i].vaddr, &size), copy, size);
		compared += size;
		free(copy);
	}
	assert_true(compared > 4096);
	vt_elf_close(e);
}

static void test_refused(void **state)
{
	static uint8_t bytes[64] = {0x7f, 'E', 'L', 'F', 9, 9, 9};
	struct vt_error clean = VT_ERROR_INIT;
	struct vt_elf *e;
	char *dir;

	(void)state;
	assert_null(vt_elf_open_memory(bytes, 4, "short", &err));
	assert_int_equal(err.code, VT_E_FORMAT);
	memset(bytes, 'x', sizeof(bytes));
	assert_null(vt_elf_open_memory(bytes, sizeof(bytes), "text", &err));
	assert_string_equal(err.text, "text: not an ELF file");
	dir = toolbox_dir();
	toolbox_write(dir, "empty", "");
	assert_null(vt_elf_open(toolbox_path(dir, "empty"), &err));
	assert_int_equal(err.code, VT_E_FORMAT);
	toolbox_remove(dir);
	e = vt_elf_open("/proc/self/exe", &clean);
	assert_non_null(e);
	assert_int_equal(clean.code, VT_OK);
	vt_elf_close(e);
	assert_null(vt_elf_open("/nowhere/at/all", &err));
	assert_int_equal(err.code, VT_E_READ);
	assert_null(vt_elf_open("/dev/null", &err));
	assert_int_equal(err.code, VT_E_FORMAT);
	assert_null(vt_elf_open("/", &err));
	assert_string_equal(err.text, "/: not an ELF file");
	assert_int_equal(err.code, VT_E_FORMAT);
}

/* Files of 32 bits, or of the other order of bytes. */
static void test_classes(void **state)
{
	static const uint8_t magic[] = {0x7f, 'E', 'L', 'F'};
	static const struct {
		uint8_t class, data;
	} rows[] = {{ELFCLASS64, ELFDATA2LSB},
		    {ELFCLASS64, ELFDATA2MSB},
		    {ELFCLASS32, ELFDATA2LSB},
		    {ELFCLASS32, ELFDATA2MSB}};
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		bool big = rows[i].data == ELFDATA2MSB;
		struct vt_elf *e;

		memset(file, 0, sizeof(file));
		memcpy(file, magic, sizeof(magic));
		file[EI_CLASS] = rows[i].class;
		file[EI_DATA] = rows[i].data;
		file[EI_VERSION] = EV_CURRENT;
		file[16 + big] = ET_EXEC;
		file[18 + big] = EM_ARM;
		file[big ? 23 : 20] = EV_CURRENT;
		e = vt_elf_open_memory(file, FILE_SIZE, "made", &err);
		assert_non_null(e);
		assert_int_equal(vt_elf_info(e)->bits, rows[i].class == ELFCLASS64 ? 64 : 32);
		assert_int_equal(vt_elf_info(e)->big, big);
		assert_int_equal(vt_elf_info(e)->type, ET_EXEC);
		assert_int_equal(vt_elf_info(e)->machine, EM_ARM);
		vt_elf_close(e);
	}
}

/* ---- symbols ---- */

#define NSECTIONS 8

enum { NONE, TEXT, DATA, OTHER, COMMENT, SYMTAB, STRTAB, SHSTRTAB };

static const char shstrtab[] = "\0.text\0.data\0.init\0.comment\0.symtab\0.strtab\0.shstrtab";

static const struct made {
	const char *name;
	uint64_t value, size;
	unsigned info, other, section;
	/* What becomes of it: its flags, or -1 for nothing. */
	int flags;
} made[] = {
	{"func", 0x1000, 0x10, STT_FUNC, 0, TEXT, 0},
	{"global", 0x1010, 0x10, STB_GLOBAL << 4 | STT_FUNC, 0, TEXT, VT_SYMBOL_GLOBAL},
	{"weak", 0x1021, 0x10, STB_WEAK << 4 | STT_FUNC, 0, TEXT, VT_SYMBOL_WEAK},
	{"ifunc", 0x1030, 0x10, STB_GLOBAL << 4 | STT_GNU_IFUNC, 0, TEXT, VT_SYMBOL_GLOBAL},
	{"object", 0x2001, 8, STB_GLOBAL << 4 | STT_OBJECT, 0, DATA,
	 VT_SYMBOL_GLOBAL | VT_SYMBOL_OBJECT},
	{"label", 0x1040, 4, STT_NOTYPE, 0, TEXT, VT_SYMBOL_LABEL},
	{"datalabel", 0x2010, 4, STT_NOTYPE, 0, DATA, VT_SYMBOL_LABEL},
	{"otherlabel", 0x3000, 4, STT_NOTYPE, 0, OTHER, -1},
	{"otherfunc", 0x3010, 4, STT_FUNC, STV_HIDDEN, OTHER, 0},
	{"hidden", 0x1050, 4, STT_NOTYPE, STV_HIDDEN, TEXT, -1},
	{"internal", 0x1058, 4, STT_NOTYPE, STV_INTERNAL, TEXT, -1},
	{"protected", 0x1060, 4, STT_NOTYPE, STV_PROTECTED, TEXT, VT_SYMBOL_LABEL},
	{"file", 0x1070, 4, STT_FILE, 0, TEXT, -1},
	{"tls", 0x1078, 4, STT_TLS, 0, TEXT, -1},
	{"undefined", 0x1080, 4, STT_FUNC, 0, SHN_UNDEF, -1},
	{"absolute", 0x1088, 4, STT_FUNC, 0, SHN_ABS, -1},
	{"reserved", 0x1090, 4, STT_FUNC, 0, SHN_LORESERVE, -1},
	{"nosection", 0x1098, 4, STT_FUNC, 0, NSECTIONS, -1},
	{"comment", 0x10a0, 4, STT_FUNC, 0, COMMENT, -1},
	{"", 0x10b0, 4, STT_FUNC, 0, TEXT, -1},
	{"$x", 0x10c0, 4, STT_FUNC, 0, TEXT, 0},
	{"$d.5", 0x10c8, 4, STT_FUNC, 0, TEXT, 0},
	{"$y", 0x10d0, 4, STT_FUNC, 0, TEXT, 0},
	{"$", 0x10d8, 4, STT_FUNC, 0, TEXT, 0},
	{"$xy", 0x10e0, 4, STT_FUNC, 0, TEXT, 0},
	{"x$", 0x10e8, 4, STT_FUNC, 0, TEXT, 0},
};

#define NMADE (sizeof(made) / sizeof(*made))

static struct vt_symbols *load_made(unsigned type, unsigned machine, struct vt_elf **e)
{
	static const unsigned names[NSECTIONS] = {0, 1, 7, 13, 19, 28, 36, 44};
	Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = (Elf64_Half)type,
		.e_machine = (Elf64_Half)machine,
		.e_version = EV_CURRENT,
		.e_shoff = 0x40,
		.e_ehsize = sizeof(h),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NSECTIONS,
		.e_shstrndx = SHSTRTAB,
	};
	Elf64_Shdr s[NSECTIONS] = {
		[TEXT] = {.sh_type = SHT_PROGBITS,
			  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			  .sh_offset = 0x2000},
		[DATA] = {.sh_type = SHT_PROGBITS,
			  .sh_flags = SHF_ALLOC | SHF_WRITE,
			  .sh_offset = 0x2100},
		[OTHER] = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_offset = 0x2200},
		[COMMENT] = {.sh_type = SHT_PROGBITS, .sh_offset = 0x2300},
		[SYMTAB] = {.sh_type = SHT_SYMTAB,
			    .sh_offset = 0x400,
			    .sh_size = (NMADE + 1) * sizeof(Elf64_Sym),
			    .sh_entsize = sizeof(Elf64_Sym),
			    .sh_link = STRTAB},
		[STRTAB] = {.sh_type = SHT_STRTAB, .sh_offset = 0x1000},
		[SHSTRTAB] = {.sh_type = SHT_STRTAB,
			      .sh_offset = 0x1800,
			      .sh_size = sizeof(shstrtab)},
	};
	struct vt_symbols *t = vt_symbols_new();
	size_t at = 1, i;

	memset(file, 0, sizeof(file));
	for (i = 0; i < NMADE; i++) {
		Elf64_Sym sym = {.st_name = (Elf64_Word)at,
				 .st_info = (unsigned char)made[i].info,
				 .st_other = (unsigned char)made[i].other,
				 .st_shndx = (Elf64_Section)made[i].section,
				 .st_value = made[i].value,
				 .st_size = made[i].size};

		memcpy(file + 0x400 + (i + 1) * sizeof(sym), &sym, sizeof(sym));
		strcpy((char *)file + 0x1000 + at, made[i].name);
		at += strlen(made[i].name) + 1;
	}
	s[STRTAB].sh_size = at;
	for (i = 0; i < NSECTIONS; i++)
		s[i].sh_name = names[i];
	memcpy(file, &h, sizeof(h));
	memcpy(file + 0x40, s, sizeof(s));
	memcpy(file + 0x1800, shstrtab, sizeof(shstrtab));
	*e = vt_elf_open_memory(file, FILE_SIZE, "made", &err);
	assert_non_null(*e);
	assert_non_null(t);
	assert_int_equal(vt_symbols_add_elf(t, *e, NULL, &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	return t;
}

static void check_made(const struct vt_symbols *t, size_t i, int flags, uint64_t start)
{
	const struct vt_symbol *s = vt_symbols_find(t, start);

	if (flags < 0) {
		if (s && !strcmp(s->name, made[i].name))
			fail_msg("%s is a symbol", made[i].name);
		return;
	}
	if (!s)
		fail_msg("%s is none", made[i].name);
	assert_string_equal(s->name, made[i].name);
	assert_int_equal(s->flags, flags);
	assert_int_equal(s->start, start);
	assert_int_equal(s->end, start + made[i].size);
}

static void test_which_symbols(void **state)
{
	struct vt_symbols *t;
	size_t i, n = 0;
	struct vt_elf *e;

	(void)state;
	t = load_made(ET_EXEC, EM_X86_64, &e);
	for (i = 0; i < NMADE; i++) {
		check_made(t, i, made[i].flags, made[i].value);
		n += made[i].flags >= 0;
	}
	assert_int_equal(vt_symbols_count(t), n);
	assert_true(vt_elf_info(e)->has_symtab);
	assert_false(vt_elf_info(e)->has_dynsym);
	assert_false(vt_elf_info(e)->has_dwarf);
	vt_symbols_free(t);
	vt_elf_close(e);
}

/* ARM: bit 0 of a function says Thumb; $x, $d.5 and $t mark what is code and what is data. */
static void test_symbols_of_arm(void **state)
{
	static const unsigned machines[] = {EM_ARM, EM_AARCH64};
	struct vt_symbols *t;
	struct vt_elf *e;
	size_t i, k;

	(void)state;
	for (k = 0; k < 2; k++) {
		t = load_made(ET_EXEC, machines[k], &e);
		for (i = 0; i < NMADE; i++) {
			bool mark = !strcmp(made[i].name, "$x") || !strcmp(made[i].name, "$d.5");
			bool thumb = machines[k] == EM_ARM && (made[i].info & 15) == STT_FUNC;

			check_made(t, i, mark ? -1 : made[i].flags,
				   thumb ? made[i].value & ~UINT64_C(1) : made[i].value);
		}
		vt_symbols_free(t);
		vt_elf_close(e);
	}
}

/* In a relocatable file, addresses count from the section. */
static void test_symbols_of_relocatable(void **state)
{
	static const uint64_t offsets[] = {0, 0x2000, 0x2100, 0x2200};
	const struct vt_elf_segment *s;
	struct vt_symbols *t;
	struct vt_elf *e;
	size_t i, n;

	(void)state;
	t = load_made(ET_REL, EM_X86_64, &e);
	for (i = 0; i < NMADE; i++)
		if (made[i].flags >= 0)
			check_made(t, i, made[i].flags, made[i].value + offsets[made[i].section]);
	/* Its sections are its segments. */
	s = vt_elf_segments(e, &n);
	assert_int_equal(n, 3);
	for (i = 0; i < n; i++) {
		assert_true(s[i].vaddr == offsets[i + 1] && s[i].offset == offsets[i + 1]);
		assert_int_equal(s[i].exec, i + 1 == TEXT);
		assert_int_equal(s[i].write, i + 1 == DATA);
	}
	vt_symbols_free(t);
	vt_elf_close(e);
}

/* More symbols than are taken of a file, with nothing but zeroes. */
static void test_too_many_symbols(void **state)
{
	const size_t symbols = (VT_MAX_SYMBOLS + 1) * sizeof(Elf64_Sym), size = 0x200 + symbols;
	const Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(h),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
	};
	const Elf64_Shdr s[3] = {
		[1] = {.sh_type = SHT_SYMTAB,
		       .sh_offset = 0x200,
		       .sh_size = symbols,
		       .sh_link = 2,
		       .sh_entsize = sizeof(Elf64_Sym)},
		[2] = {.sh_type = SHT_STRTAB, .sh_offset = 0x1f0, .sh_size = 1},
	};
	uint8_t *bytes = calloc(1, size);
	struct vt_symbols *t = vt_symbols_new();
	struct vt_elf *e;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), s, sizeof(s));
	e = vt_elf_open_memory(bytes, size, "many", &err);
	assert_non_null(e);
	assert_int_equal(vt_symbols_add_elf(t, e, NULL, &err), -VT_E_LIMIT);
	assert_string_equal(err.text, "many: 16000001 symbols");
	vt_symbols_free(t);
	vt_elf_close(e);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_offset_to_vaddr),
		cmocka_unit_test(test_offset_to_vaddr_of_others),
		cmocka_unit_test(test_many_segments),
		cmocka_unit_test(test_vaddr_to_offset),
		cmocka_unit_test(test_crc),
		cmocka_unit_test(test_constant),
		cmocka_unit_test(test_buildids),
		cmocka_unit_test(test_buildids_in_notes),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_which_symbols),
		cmocka_unit_test(test_too_many_symbols),
		cmocka_unit_test(test_symbols_of_arm),
		cmocka_unit_test(test_symbols_of_relocatable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
