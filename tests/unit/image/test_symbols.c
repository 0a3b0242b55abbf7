/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols and ELF files against nm, objdump and c++filt on programs compiled here. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/demangle.h"
#include "image/symbols.h"
#include "tests/unit/common/toolbox.h"

static const char program[] =
	"#include <math.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"__attribute__((noinline)) static int helper(int x) { return x * 3; }\n"
	"__attribute__((noinline)) int smooth_(int x) { return helper(x) + 1; }\n"
	"__attribute__((weak, alias(\"smooth_\"))) int weak_name(int x);\n"
	"__attribute__((alias(\"smooth_\"))) int __under(int x);\n"
	"int table[4] = {1, 2, 3, 4};\n"
	"__asm__(\".text\\n.globl bare_label\\nbare_label: nop; nop; ret\\n\"\n"
	"        \".globl after_label\\n.type after_label,@function\\nafter_label: ret\\n\"\n"
	"        \".size after_label, 1\\n\");\n"
	"int main(int c, char **v) {\n"
	"  int (*volatile put)(const char *) = puts; put(\"x\"); puts(\"y\");\n"
	"  int (*volatile number)(const char *) = atoi;\n"
	"  printf(\"%d %f\\n\", number(v[0]) + smooth_(c) + atoi(v[0]) + table[c & 3], sqrt(c));\n"
	"  return 0; }\n";

static struct vt_symbols *load(const char *path, struct vt_elf **elf)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();

	*elf = vt_elf_open(path, &err);
	if (!*elf)
		fail_msg("%s", err.text);
	assert_non_null(t);
	assert_int_equal(vt_symbols_add_elf(t, *elf, NULL, &err), 0);
	assert_int_equal(vt_symbols_add_plt(t, *elf, &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	return t;
}

/* Every sized function of nm must be found at its first and last byte, under a name at its address.
 */
static size_t compare_with_nm(const struct vt_symbols *t, char *nm)
{
	size_t n = 0;
	char *line, *save = NULL;

	for (line = strtok_r(nm, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const struct vt_symbol *s;
		uint64_t start, size, address;
		char type, name[256];

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %255s", &start, &size, &type, name) !=
		    4)
			continue;
		if (!strchr("tTwWi", type))
			continue;
		s = vt_symbols_find(t, start);
		assert_non_null(s);
		assert_true(s->start == start);
		assert_true(s->end == start + size);
		assert_ptr_equal(vt_symbols_find(t, start + size - 1), s);
		assert_true(vt_symbols_address_of(t, name, &address));
		n++;
	}
	return n;
}

static void check_build(const char *dir, const char *options)
{
	struct vt_symbols *t;
	struct vt_elf *elf;
	char *nm;

	free(toolbox_run(dir, "gcc -O1 %s p.c -o p -lm", options));
	t = load(toolbox_path(dir, "p"), &elf);
	nm = toolbox_run(dir, "nm -S p");
	assert_true(compare_with_nm(t, nm) >= 4);
	free(nm);
	vt_symbols_free(t);
	vt_elf_close(elf);
}

static void functions_are_those_of_nm(void **state)
{
	static const char *const builds[] = {"", "-no-pie", "-static", "-static-pie",
					     "-shared -fPIC"};
	char *dir = toolbox_dir();
	size_t i;

	(void)state;
	toolbox_write(dir, "p.c", program);
	for (i = 0; i < sizeof(builds) / sizeof(*builds); i++)
		check_build(dir, builds[i]);
	toolbox_remove(dir);
}

static void best_of_several_names(void **state)
{
	char *dir = toolbox_dir();
	const struct vt_symbol *s;
	struct vt_symbols *t;
	struct vt_elf *elf;
	uint64_t address, bare;

	(void)state;
	toolbox_write(dir, "p.c", program);
	free(toolbox_run(dir, "gcc -O1 p.c -o p -lm"));
	t = load(toolbox_path(dir, "p"), &elf);
	assert_true(vt_symbols_address_of(t, "weak_name", &address));
	s = vt_symbols_find(t, address);
	assert_string_equal(s->name, "smooth_");
	assert_true(vt_symbols_address_of(t, "__under", &address));
	assert_ptr_equal(vt_symbols_find(t, address), s);
	/* A label without a size reaches to the next symbol. */
	assert_true(vt_symbols_address_of(t, "bare_label", &bare));
	assert_true(vt_symbols_address_of(t, "after_label", &address));
	s = vt_symbols_find(t, bare + 2);
	assert_string_equal(s->name, "bare_label");
	assert_true(s->end == address);
	assert_true(s->flags & VT_SYMBOL_UNSIZED);
	vt_symbols_free(t);
	vt_elf_close(elf);
	toolbox_remove(dir);
}

/* The label of `inside` takes none of its code; nm says where both begin. */
static void labels_inside_functions(void **state)
{
	char *dir = toolbox_dir();
	const struct vt_symbol *s;
	struct vt_symbols *t;
	struct vt_elf *elf;
	uint64_t function, label;

	(void)state;
	toolbox_write(dir, "p.s",
		      ".globl inside, middle, _start, sized, a_long_first\n"
		      "_start: nop\n" /* without a type and a size, too, but inside nothing */
		      "a_long_first:\n.type inside,@function\ninside: nop\nmiddle: nop\nnop\n"
		      "sized: nop\n.size sized, 1\nret\n.size inside, . - inside\n");
	free(toolbox_run(dir, "gcc -nostdlib p.s -o p"));
	t = load(toolbox_path(dir, "p"), &elf);
	assert_true(vt_symbols_address_of(t, "inside", &function));
	assert_true(vt_symbols_address_of(t, "a_long_first", &label));
	assert_true(label == function);
	assert_true(vt_symbols_address_of(t, "middle", &label));
	assert_true(label == function + 1);
	s = vt_symbols_find(t, function);
	assert_string_equal(s->name, "inside");
	assert_true(s->end == function + 5);
	assert_ptr_equal(vt_symbols_find(t, label), s);
	assert_ptr_equal(vt_symbols_find(t, label + 1), s);
	assert_string_equal(vt_symbols_find(t, label + 2)->name, "sized");
	assert_ptr_equal(vt_symbols_find(t, label + 3), s);
	assert_string_equal(vt_symbols_find(t, function - 1)->name, "_start");
	vt_symbols_free(t);
	vt_elf_close(elf);
	toolbox_remove(dir);
}

/* objdump names PLT entries in its disassembly: `0000000000001030 <puts@plt>:`. */
static void compare_with_objdump(const char *dir)
{
	char *text, *line, *save = NULL;
	const struct vt_symbol *s;
	struct vt_symbols *t;
	struct vt_elf *elf;
	size_t n = 0;

	t = load(toolbox_path(dir, "p"), &elf);
	text = toolbox_run(dir, "objdump -d p");
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char name[256], *end;
		uint64_t start;

		if (sscanf(line, "%" SCNx64 " <%255[^>]>:", &start, name) != 2)
			continue;
		end = strstr(name, "@plt");
		/* objdump calls the header of the table by the entry behind it, or the section. */
		if ((end && !strcmp(end, "@plt-0x10")) || !strcmp(name, ".plt"))
			strcpy(name, ".plt");
		else if (!end || end[4] || !strncmp(name, "*ABS*", 5))
			continue;
		s = vt_symbols_find(t, start);
		assert_non_null(s);
		assert_true(s->start == start);
		assert_string_equal(s->name, name);
		assert_true(s->flags & VT_SYMBOL_PLT);
		n++;
	}
	assert_true(n >= 2);
	free(text);
	vt_symbols_free(t);
	vt_elf_close(elf);
}

static void plt_names_are_those_of_objdump(void **state)
{
	static const char *const builds[] = {"", "-no-pie", "-fcf-protection -Wl,-z,ibtplt",
					     "-Wl,-z,now", "-Wl,-z,lazy"};
	char *dir = toolbox_dir();
	size_t i;

	(void)state;
	toolbox_write(dir, "p.c", program);
	for (i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		free(toolbox_run(dir, "gcc -O1 %s p.c -o p -lm && strip p", builds[i]));
		compare_with_objdump(dir);
	}
	toolbox_remove(dir);
}

/* Of 32 bits: of i386, whose relocations have no addends, and of x32, whose relocations have. */
static void libraries_of_32_bits(void **state)
{
	static const char *const builds[] = {"as --32 p.s -o p.o && ld -m elf_i386",
					     "as --x32 p.s -o p.o && ld -m elf32_x86_64"};
	char *dir = toolbox_dir(), *nm;
	size_t i;

	(void)state;
	toolbox_write(dir, "p.s",
		      ".globl f, g, h\n.type f, @function\nf: call one@plt\ncall two@plt\nret\n"
		      ".size f, . - f\n.type g, @function\ng: ret\n.size g, 1\n"
		      ".type h, @function\nh: ret\n.size h, 1\n");
	for (i = 0; i < 2; i++) {
		struct vt_symbols *t;
		struct vt_elf *elf;

		free(toolbox_run(dir, "%s -shared p.o -o p", builds[i]));
		compare_with_objdump(dir);
		t = load(toolbox_path(dir, "p"), &elf);
		nm = toolbox_run(dir, "nm -S p");
		assert_int_equal(compare_with_nm(t, nm), 3);
		/* The table's header and its two entries, and two of the linker's own. */
		assert_int_equal(vt_symbols_count(t), 8);
		free(nm);
		vt_symbols_free(t);
		vt_elf_close(elf);
	}
	toolbox_remove(dir);
}

static void unknown_after_strip(void **state)
{
	char *dir = toolbox_dir();
	struct vt_symbols *t;
	struct vt_elf *elf;
	uint64_t address;
	char *nm;

	(void)state;
	toolbox_write(dir, "p.c", program);
	free(toolbox_run(dir, "gcc -O1 p.c -o p -lm"));
	nm = toolbox_run(dir, "nm p | sed -n 's/ T main//p'; strip p");
	t = load(toolbox_path(dir, "p"), &elf);
	assert_false(vt_symbols_address_of(t, "main", &address));
	assert_null(vt_symbols_find(t, strtoull(nm, NULL, 16)));
	free(nm);
	vt_symbols_free(t);
	vt_elf_close(elf);
	/* What other files may call stays. */
	free(toolbox_run(dir, "gcc -O1 -rdynamic p.c -o p -lm"));
	nm = toolbox_run(dir, "nm p | sed -n 's/ T smooth_//p'; strip p");
	t = load(toolbox_path(dir, "p"), &elf);
	assert_true(vt_symbols_address_of(t, "smooth_", &address));
	assert_int_equal(address, strtoull(nm, NULL, 16));
	free(nm);
	vt_symbols_free(t);
	vt_elf_close(elf);
	toolbox_remove(dir);
}

static void innermost_of_nested(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();

	(void)state;
	assert_int_equal(vt_symbols_add(t, 0x1000, 0x100, 0, "outer", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x1020, 0x10, 0, "inner", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x1040, 0x10, 0, "second", &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	assert_string_equal(vt_symbols_find(t, 0x1025)->name, "inner");
	assert_string_equal(vt_symbols_find(t, 0x1030)->name, "outer");
	assert_string_equal(vt_symbols_find(t, 0x104f)->name, "second");
	assert_string_equal(vt_symbols_find(t, 0x10ff)->name, "outer");
	assert_null(vt_symbols_find(t, 0x1100));
	assert_null(vt_symbols_find(t, 0xfff));
	vt_symbols_free(t);
}

static void outermost_has_a_size_and_holds_all(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();

	(void)state;
	assert_int_equal(vt_symbols_add(t, 0xf00, 0, 0, "unsized", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x1000, 0x100, 0, "outer", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x1020, 0x40, 0, "inner", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x1030, 0x10, 0, "innermost", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x1080, 0, 0, "label", &err), 0);
	assert_int_equal(vt_symbols_add(t, 0x10f0, 0x20, 0, "astride", &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	assert_string_equal(vt_symbols_outermost(t, vt_symbols_find(t, 0x1035))->name, "outer");
	assert_string_equal(vt_symbols_outermost(t, vt_symbols_find(t, 0x1005))->name, "outer");
	assert_string_equal(vt_symbols_outermost(t, vt_symbols_find(t, 0x1081))->name, "outer");
	assert_string_equal(vt_symbols_outermost(t, vt_symbols_find(t, 0x10f5))->name, "astride");
	assert_string_equal(vt_symbols_outermost(t, vt_symbols_find(t, 0xf00))->name, "unsized");
	vt_symbols_free(t);
}

static void kallsyms_by_module(void **state)
{
	static const char text[] = "0000000000000000 A fixed\n"
				   "ffffffff81000000 T _text\n"
				   "ffffffff81000000 T startup_64\n"
				   "ffffffff81000100 t local\n"
				   "ffffffff81000200 r rodata\n"
				   "not a line\n"
				   "ffffffff81000300 W weak\n"
				   "ffffffffc0000000 t mod_a\t[mod]\n"
				   "ffffffffc0000040 T mod_b\t[mod]\n"
				   "ffffffffc0001000 T other\t[module]";
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *k = vt_symbols_new(), *m = vt_symbols_new();
	uint64_t address;

	(void)state;
	assert_int_equal(vt_symbols_add_kallsyms(k, text, sizeof(text) - 1, NULL, &err), 0);
	assert_int_equal(vt_symbols_finish(k, &err), 0);
	assert_int_equal(vt_symbols_count(k), 3);
	assert_string_equal(vt_symbols_find(k, 0xffffffff810002ff)->name, "local");
	/* Two unsized symbols at one address: the one that reaches somewhere is kept. */
	assert_string_equal(vt_symbols_find(k, 0xffffffff81000000)->name, "startup_64");
	assert_true(vt_symbols_address_of(k, "_text", &address));
	assert_true(address == 0xffffffff81000000);
	assert_int_equal(vt_symbols_add_kallsyms(m, text, sizeof(text) - 1, "mod", &err), 0);
	assert_int_equal(vt_symbols_finish(m, &err), 0);
	assert_int_equal(vt_symbols_count(m), 2);
	assert_string_equal(vt_symbols_find(m, 0xffffffffc000003f)->name, "mod_a");
	assert_string_equal(vt_symbols_find(m, 0xffffffffc0000041)->name, "mod_b");
	vt_symbols_free(k);
	vt_symbols_free(m);
}

static void perf_map_lines(void **state)
{
	static const char text[] = "7f0000001000 20 LazyCompile:~f /a b.js:1\n"
				   "0x7f0000002000 0x10 other\n"
				   "zz 10 bad\n7f0000003000\n7f0000003000 10\n"
				   "7f0000004000 10 \n7f0000005000 10 x";
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *t = vt_symbols_new();

	(void)state;
	assert_int_equal(vt_symbols_add_perf_map(t, text, sizeof(text) - 1, &err), 0);
	assert_int_equal(vt_symbols_finish(t, &err), 0);
	assert_int_equal(vt_symbols_count(t), 3);
	assert_string_equal(vt_symbols_find(t, 0x7f0000005000)->name, "x");
	assert_string_equal(vt_symbols_find(t, 0x7f000000101f)->name, "LazyCompile:~f /a b.js:1");
	assert_null(vt_symbols_find(t, 0x7f0000001020));
	assert_string_equal(vt_symbols_find(t, 0x7f0000002001)->name, "other");
	vt_symbols_free(t);
}

static void demangled_as_by_cxxfilt(void **state)
{
	static const char *const names[] = {
		"_ZNSt6vectorIiSaIiEE9push_backERKi",
		"_ZN3FooC2Ev",
		"_ZZ4mainENKUlvE_clEv",
		"_Z3fooi.constprop.0",
		"_ZNKSt8functionIFviEEclEi",
		"_GLOBAL__I__Z3fooi",
		"_RNvC6_123foo3bar",
		"_RNvMs_Cs4fqI2P2rA04_13const_genericINtB4_6UnsgndKh3_E3foo",
	};
	/* What is no mangled name, ends too soon, or turns out to be none while it is printed. */
	static const char *const others[] = {
		"main",
		"_Z",
		"aZ3foov",
		"Z3foov",
		"__Z3foov",
		"RNvC3foo3bar",
		"",
		"_",
		"_RNvC3foo3ba",
		"_Z3fo",
		"_Z1fIiEvT0_",
		"_ZN3foo3bar",
		"_@",
		"_start@plt",
		"_Z3fo@plt",
		"_Z1fIiEvT0_@V1",
		"@_Z3foov",
	};
	static const char v0[] = "_RNvC3foo";
	struct vt_buf b = VT_BUF_INIT, name = VT_BUF_INIT;
	unsigned n;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *want = toolbox_run("/", "c++filt -i '%s'", names[i]);

		want[strcspn(want, "\n")] = 0;
		b.size = 0;
		assert_true(vt_demangle(&b, names[i], true));
		assert_string_equal(vt_buf_str(&b), want);
		free(want);
	}
	/* Rust's older mangling: the hash goes. */
	b.size = 0;
	assert_true(vt_demangle(&b, "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", true));
	assert_string_equal(vt_buf_str(&b), "core::fmt::Formatter::pad");
	b.size = 0;
	assert_true(vt_demangle(&b, "_Z3fooi@plt", false));
	assert_string_equal(vt_buf_str(&b), "foo@plt");
	b.size = 0;
	assert_true(vt_demangle(&b, "_Z3fooi@@V2.1", true));
	assert_string_equal(vt_buf_str(&b), "foo(int)@@V2.1");
	/* A hash alone is no name of Rust. */
	b.size = 0;
	assert_true(vt_demangle(&b, "_ZN17h0123456789abcdefE", true));
	assert_string_equal(vt_buf_str(&b), "h0123456789abcdef");
	b.size = 0;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_false(vt_demangle(&b, others[i], true));
		assert_int_equal(b.size, 0);
	}
	/* 65536 bytes, and 65537. */
	for (n = 65522; n < 65524; n++) {
		name.size = b.size = 0;
		vt_buf_printf(&name, "%s%u", v0, n);
		for (i = 0; i < n; i++)
			vt_buf_put(&name, "a", 1);
		assert_int_equal(vt_demangle(&b, vt_buf_str(&name), true), n == 65522);
		assert_int_equal(b.size, n == 65522 ? strlen("foo::") + n : 0);
	}
	vt_buf_free(&name);
	vt_buf_free(&b);
}

/* Each step doubles the name: without a bound it would be longer than any memory. */
static void demangling_is_bounded(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct vt_buf name = VT_BUF_INIT, b = VT_BUF_INIT;
	char letters[198];
	int extra;
	size_t i;

	(void)state;
	vt_buf_printf(&name, "_Z1fI1AE1BIS_S_E");
	for (i = 1; i < 30; i++)
		vt_buf_printf(&name, "1BIS%c_S%c_E", digits[i], digits[i]);
	vt_demangle(&b, vt_buf_str(&name), true);
	assert_true(b.size <= VT_DEMANGLE_MAX);
	name.size = b.size = 0;
	vt_buf_printf(&name, "_Z1f");
	for (i = 0; i < 30; i++)
		vt_buf_printf(&name, "PFv");
	for (i = 0; i < 100000; i++)
		vt_buf_printf(&name, "P");
	assert_false(vt_demangle(&b, vt_buf_str(&name), true));
	/* A function of 136 letters, and one of 137, with 327 parameters of a type of 198. */
	memset(letters, 'n', sizeof(letters));
	for (extra = 0; extra < 2; extra++) {
		name.size = b.size = 0;
		vt_buf_printf(&name, "_Z%d%.*s198%.198s", 136 + extra, 136 + extra, letters,
			      letters);
		for (i = 1; i < 327; i++)
			vt_buf_printf(&name, "S_");
		vt_buf_put(&b, "kept", 4);
		assert_int_equal(vt_demangle(&b, vt_buf_str(&name), true), !extra);
		assert_int_equal(b.size, 4 + (extra ? 0 : VT_DEMANGLE_MAX));
		assert_memory_equal(b.data, extra ? "kept" : "keptnnnn", extra ? 4 : 8);
	}
	vt_buf_free(&name);
	vt_buf_free(&b);
}

static void elf_tells_what_readelf_tells(void **state)
{
	char *dir = toolbox_dir(), id[2 * VT_BUILDID_MAX + 1], *want;
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_elf_info *info;
	uint64_t offset, vaddr;
	const uint8_t *bytes;
	struct vt_elf *elf;
	size_t avail;

	(void)state;
	toolbox_write(dir, "p.c", program);
	free(toolbox_run(dir, "gcc -g -no-pie -Wl,--build-id p.c -o p -lm && "
			      "objcopy --only-keep-debug p p.debug && strip p && "
			      "objcopy --add-gnu-debuglink=p.debug p"));
	elf = vt_elf_open(toolbox_path(dir, "p"), &err);
	assert_non_null(elf);
	info = vt_elf_info(elf);
	vt_buildid_format(info->buildid, info->buildid_size, id);
	want = toolbox_run(dir, "readelf -n p | sed -n 's/.*Build ID: //p' | tr -d '\\n'");
	assert_string_equal(id, want);
	free(want);
	assert_int_equal(info->type, 2);
	assert_int_equal(info->machine, VT_MACHINE_X86_64);
	assert_false(info->has_symtab);
	assert_false(info->has_dwarf);
	assert_string_equal(info->debuglink, "p.debug");
	/* The entry point's bytes, by way of its offset, are those of the file. */
	assert_true(vt_elf_vaddr_to_offset(elf, info->entry, &offset));
	assert_true(vt_elf_offset_to_vaddr(elf, offset, &vaddr));
	assert_true(vaddr == info->entry);
	bytes = vt_elf_bytes(elf, vaddr, &avail);
	assert_true(avail >= 8);
	want = toolbox_run(dir, "dd if=p bs=1 skip=%llu count=8 2>/dev/null",
			   (unsigned long long)offset);
	assert_memory_equal(bytes, want, 8);
	free(want);
	vt_elf_close(elf);
	elf = vt_elf_open(toolbox_path(dir, "p.debug"), &err);
	assert_non_null(elf);
	assert_true(vt_elf_info(elf)->has_dwarf);
	vt_elf_close(elf);
	assert_null(vt_elf_open(toolbox_path(dir, "p.c"), &err));
	assert_int_equal(err.code, VT_E_FORMAT);
	assert_null(vt_elf_open(dir, &err));
	assert_null(vt_elf_open(toolbox_path(dir, "none"), &err));
	assert_int_equal(err.code, VT_E_READ);
	toolbox_remove(dir);
}

static void buildids_as_perf_cuts_them(void **state)
{
	uint8_t a[32] = {1, 2, 3, 4, 5, 6, 7, 8}, b[20] = {1, 2, 3, 4, 5, 6, 7, 8};

	(void)state;
	assert_true(vt_buildid_equal(a, 8, b, 20));
	assert_true(vt_buildid_equal(b, 20, a, 8));
	b[10] = 1;
	assert_false(vt_buildid_equal(a, 8, b, 20));
	assert_false(vt_buildid_equal(a, 20, b, 20));
	assert_true(vt_buildid_equal(a, 20, a, 20));
	assert_false(vt_buildid_equal(a, 0, b, 20));
	assert_true(vt_buildid_equal(a, 0, b, 0));
	memset(a, 7, sizeof(a));
	memset(b, 7, sizeof(b));
	assert_true(vt_buildid_equal(a, 32, b, 20));
}

/* Damage at every byte of the headers and at many places of the rest: no crash, no endless loop. */
static void damaged_elf(void **state)
{
	char *dir = toolbox_dir(), *file, *copy;
	size_t size = 0, i;
	char *text;

	(void)state;
	toolbox_write(dir, "p.c", program);
	free(toolbox_run(dir, "gcc -O1 -g p.c -o p -lm"));
	text = toolbox_run(dir, "wc -c <p");
	size = strtoull(text, NULL, 10);
	free(text);
	file = toolbox_run(dir, "cat p");
	copy = malloc(size);
	assert_non_null(copy);
	for (i = 0; i < 3000; i++) {
		size_t at = i < 1000 ? i : (i * 7919u) % size;
		size_t cut = i % 10 == 9 ? at : size;
		struct vt_error err = VT_ERROR_INIT;
		struct vt_symbols *t;
		struct vt_elf *elf;

		memcpy(copy, file, size);
		/* The section headers are at the end. */
		if (i % 3 == 1)
			at = size - 1 - at % 2048;
		copy[at] ^= (char)(1u << (i % 8));
		elf = vt_elf_open_memory(copy, cut, "damaged", &err);
		if (!elf)
			continue;
		t = vt_symbols_new();
		if (vt_symbols_add_elf(t, elf, NULL, &err) == 0 &&
		    vt_symbols_add_plt(t, elf, &err) == 0)
			vt_symbols_finish(t, &err);
		vt_symbols_free(t);
		vt_elf_close(elf);
	}
	free(copy);
	free(file);
	toolbox_remove(dir);
}

/* A table of names whose last byte is not zero, though the byte behind it is, has none. */
static void names_end_in_their_table(void **state)
{
	/* $1 and $2 are the section's offset and its size. */
	static const char *const changes[] = {
		"true", "printf x | dd of=p bs=1 seek=$((0x$1 + 0x$2 - 1)) conv=notrunc 2>&1"};
	char *dir = toolbox_assemble(".globl _start\n.type _start,@function\n_start: ret\n"
				     ".size _start,.-_start\n");
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		struct vt_symbols *t;
		struct vt_elf *elf;
		uint64_t vaddr;

		free(toolbox_run(
			dir,
			"set -- $(readelf -SW p | sed -n 's/.* [.]strtab *STRTAB *[0-9a-f]* "
			"\\([0-9a-f]*\\) \\([0-9a-f]*\\) .*/\\1 \\2/p'); %s",
			changes[i]));
		t = load(toolbox_path(dir, "p"), &elf);
		assert_int_equal(vt_symbols_address_of(t, "_start", &vaddr), !i);
		vt_symbols_free(t);
		vt_elf_close(elf);
	}
	toolbox_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_those_of_nm),
		cmocka_unit_test(best_of_several_names),
		cmocka_unit_test(labels_inside_functions),
		cmocka_unit_test(plt_names_are_those_of_objdump),
		cmocka_unit_test(libraries_of_32_bits),
		cmocka_unit_test(unknown_after_strip),
		cmocka_unit_test(innermost_of_nested),
		cmocka_unit_test(outermost_has_a_size_and_holds_all),
		cmocka_unit_test(kallsyms_by_module),
		cmocka_unit_test(perf_map_lines),
		cmocka_unit_test(demangled_as_by_cxxfilt),
		cmocka_unit_test(demangling_is_bounded),
		cmocka_unit_test(elf_tells_what_readelf_tells),
		cmocka_unit_test(buildids_as_perf_cuts_them),
		cmocka_unit_test(damaged_elf),
		cmocka_unit_test(names_end_in_their_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
