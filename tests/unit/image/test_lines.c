/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and inlined calls against addr2line, disassembly against objdump. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/disasm.h"
#include "image/lines.h"
#include "image/symbols.h"
#include "tests/unit/common/toolbox.h"

static const char program[] =
	"#include <stdio.h>\n"
	"#include \"inc/deep.h\"\n"
	"static inline __attribute__((always_inline)) int mid(int x)\n"
	"{\n"
	"  int s = 0;\n"
	"  for (int i = 0; i < x; i++)\n"
	"    s += deep(i ^ x);\n"
	"  return s;\n"
	"}\n"
	"__attribute__((noinline)) int run(int n)\n"
	"{\n"
	"  int t = 0;\n"
	"  for (int i = 0; i < n; i++) {\n"
	"    t += mid(i);\n"
	"    if (t & 1) t ^= deep(t); else printf(\"%d\\n\", mid(n) + deep(n));\n"
	"  }\n"
	"  return t;\n"
	"}\n"
	"int main(int c, char **v) { (void)v; return run(c) + mid(c); }\n";

static const char header[] = "static inline __attribute__((always_inline)) int deep(int x)\n"
			     "{\n"
			     "  if (x > 100)\n"
			     "    return x / 7;\n"
			     "  return x * x + 1;\n"
			     "}\n";

struct subject {
	char *dir;
	struct vt_elf *elf;
	struct vt_symbols *symbols;
	struct vt_lines *lines;
};

/* Reads the program. */
static void open_subject(struct subject *s)
{
	struct vt_error err = VT_ERROR_INIT;

	s->elf = vt_elf_open(toolbox_path(s->dir, "p"), &err);
	assert_non_null(s->elf);
	s->symbols = vt_symbols_new();
	assert_int_equal(vt_symbols_add_elf(s->symbols, s->elf, NULL, &err), 0);
	assert_int_equal(vt_symbols_finish(s->symbols, &err), 0);
	s->lines = vt_lines_new(s->elf, &err);
}

static void build(struct subject *s, const char *compiler)
{
	s->dir = toolbox_dir();
	free(toolbox_run(s->dir, "mkdir inc"));
	toolbox_write(s->dir, "p.c", program);
	toolbox_write(s->dir, "inc/deep.h", header);
	free(toolbox_run(s->dir, "%s p.c -o p", compiler));
	open_subject(s);
}

static void demolish(struct subject *s)
{
	vt_lines_free(s->lines);
	vt_symbols_free(s->symbols);
	vt_elf_close(s->elf);
	toolbox_remove(s->dir);
}

static const struct vt_symbol *function(const struct subject *s, const char *name)
{
	uint64_t address;

	assert_true(vt_symbols_address_of(s->symbols, name, &address));
	return vt_symbols_find(s->symbols, address);
}

/* "a/inc/../b" and "a/./b" as one means them. */
static void same_place(const struct vt_frame *f, const char *want, const char *dir)
{
	const char *colon = strrchr(want, ':');

	assert_non_null(colon);
	/* Line 0 is a question mark there. */
	assert_int_equal(f->line, atoi(colon + 1));
	if (f->line == 0)
		return;
	assert_int_equal(strncmp(f->file, dir, strlen(dir)), 0);
	assert_int_equal(strncmp(want, dir, strlen(dir)), 0);
	assert_memory_equal(strrchr(f->file, '/'), strrchr(want, '/'),
			    strlen(strrchr(f->file, '/')));
}

/* Every byte of the function: the chain of calls is what addr2line says, file and line each. */
static size_t compare_chains(struct subject *s, const char *name, bool names)
{
	const struct vt_symbol *sym = function(s, name);
	char *text, *line, *save = NULL, previous[256] = "";
	struct vt_frame frames[VT_MAX_INLINE] = {{0}};
	size_t n = 0, i = 0, inlined = 0;
	uint64_t at = 0;

	text = toolbox_run(s->dir,
			   "seq %" PRIu64 " %" PRIu64
			   " | while read a; do printf '%%x\\n' $a; done | "
			   "addr2line -a -i -f -e p",
			   sym->start, sym->end - 1);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "0x", 2)) {
			assert_int_equal(i, n);
			at = strtoull(line, NULL, 16);
			n = vt_lines_frames(s->lines, at, frames, VT_MAX_INLINE);
			assert_true(n >= 1);
			i = 0;
		} else if (strchr(line, '/') || strchr(line, '?')) {
			assert_true(i < n);
			same_place(&frames[i], line, s->dir);
			if (names)
				assert_string_equal(frames[i].function, previous);
			assert_int_equal(frames[i].inlined, i + 1 < n);
			inlined += i++ > 0;
		} else {
			snprintf(previous, sizeof(previous), "%s", line);
		}
	}
	assert_true(at == sym->end - 1);
	assert_true(n > 0);
	assert_string_equal(frames[n - 1].function, name);
	free(text);
	return inlined;
}

static void inlined_calls_are_those_of_addr2line(void **state)
{
	static const char *const compilers[] = {"gcc -g -O2 -gdwarf-4", "gcc -g -O2",
						"gcc -g -O1 -no-pie", "gcc -g -O2 -gz"};
	struct vt_frame f;
	struct subject s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(compilers) / sizeof(*compilers); i++) {
		build(&s, compilers[i]);
		assert_non_null(s.lines);
		/* addr2line 2.40 loses some names of DWARF 5. */
		assert_true(compare_chains(&s, "run", i == 0) > 10);
		compare_chains(&s, "main", i == 0);
		assert_true(vt_lines_function(s.lines, function(&s, "run")->start, &f));
		assert_string_equal(f.function, "run");
		assert_int_equal(f.line, 10);
		demolish(&s);
	}
}

/* Without .debug_aranges, the units' own ranges are used. */
static void without_an_address_index(void **state)
{
	struct vt_frame frames[VT_MAX_INLINE];
	struct vt_line line, again;
	struct subject with, without;
	uint64_t at;

	(void)state;
	build(&with, "gcc -g -O2");
	build(&without, "f() { gcc -g -O2 \"$@\" && objcopy -R .debug_aranges p; }; f");
	for (at = function(&with, "run")->start; at < function(&with, "run")->end; at++) {
		assert_true(vt_lines_at(with.lines, at, &line));
		assert_true(vt_lines_at(without.lines, at, &again));
		assert_int_equal(line.line, again.line);
		assert_int_equal(line.column, again.column);
		assert_true(vt_lines_frames(without.lines, at, frames, VT_MAX_INLINE) > 0);
	}
	assert_false(vt_lines_at(without.lines, 0, &line));
	assert_int_equal(vt_lines_frames(without.lines, UINT64_MAX, frames, VT_MAX_INLINE), 0);
	demolish(&with);
	demolish(&without);
}

/* Six units whose code is in the opposite order, without .debug_aranges. */
static void units_in_any_order(void **state)
{
	uint64_t before = UINT64_MAX;
	char name[3], file[16];
	struct subject s = {.dir = toolbox_dir()};
	struct vt_line line;
	unsigned i;

	(void)state;
	free(toolbox_run(
		s.dir, "for n in 0 1 2 3 4 5; do printf 'int f%%d(void);\n"
		       "__attribute__((section(\".text.s%%d\"))) int f%%d(void)\n{ return 7; }\n' "
		       "$n $((9 - n)) $n >u$n.c; done; gcc -g -O1 -nostdlib -static -Wl,-e,f0 "
		       "-Wl,--sort-section=name u?.c -o p && objcopy -R .debug_aranges p"));
	open_subject(&s);
	for (i = 0; i < 6; i++) {
		uint64_t at;

		snprintf(name, sizeof(name), "f%u", i);
		snprintf(file, sizeof(file), "/u%u.c", i);
		at = function(&s, name)->start;
		assert_true(at < before);
		before = at;
		assert_true(vt_lines_at(s.lines, at, &line));
		assert_string_equal(strrchr(line.file, '/'), file);
		assert_int_equal(line.line, 3);
	}
	demolish(&s);
}

static void no_debug_information(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct subject s;

	(void)state;
	build(&s, "gcc -O2");
	assert_null(s.lines);
	assert_null(vt_lines_new(s.elf, &err));
	assert_int_equal(err.code, VT_E_NOTFOUND);
	demolish(&s);
}

static void damaged_debug_information(void **state)
{
	struct vt_frame frames[VT_MAX_INLINE];
	struct vt_error err = VT_ERROR_INIT;
	uint64_t start, end, at;
	size_t size, i, k;
	struct subject s;
	char *file, *copy, *text;

	(void)state;
	build(&s, "gcc -g -O2");
	start = function(&s, "run")->start;
	end = function(&s, "run")->end;
	text = toolbox_run(s.dir, "wc -c <p");
	size = strtoull(text, NULL, 10);
	free(text);
	file = toolbox_run(s.dir, "cat p");
	copy = malloc(size);
	assert_non_null(copy);
	for (i = 0; i < 400; i++) {
		struct vt_lines *lines;
		struct vt_line line;
		struct vt_elf *elf;

		memcpy(copy, file, size);
		/* The debug sections make up the file's second half. */
		for (k = 0; k < 8; k++)
			copy[size / 2 + (i * 7919u + k * 104729u) % (size / 2)] ^=
				(char)(1u << ((i + k) % 8));
		elf = vt_elf_open_memory(copy, size, "damaged", &err);
		lines = elf ? vt_lines_new(elf, &err) : NULL;
		for (at = start; lines && at < end; at += 3) {
			vt_lines_at(lines, at, &line);
			vt_lines_frames(lines, at, frames, VT_MAX_INLINE);
		}
		vt_lines_free(lines);
		vt_elf_close(elf);
	}
	free(copy);
	free(file);
	demolish(&s);
}

/* ---- disassembly ------------------------------------------------------------------ */

static void name_target(void *arg, uint64_t address, struct vt_buf *out)
{
	struct vt_symbols *symbols = arg;
	const struct vt_symbol *s = vt_symbols_find(symbols, address);

	if (s && s->flags & VT_SYMBOL_OBJECT)
		return;
	if (s && s->start == address)
		vt_buf_printf(out, "%s", s->name);
	else if (s)
		vt_buf_printf(out, "%s+0x%" PRIx64, s->name, address - s->start);
}

/*
 * objdump's line is "  address:\tinstruction", with tabs where ours has blanks.  It names data
 * after whatever symbol comes before, near or far; that is left out.
 */
static void compare_with_objdump(struct subject *s, const char *options, enum vt_syntax syntax)
{
	const struct vt_elf_info *info = vt_elf_info(s->elf);
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_symbol *sym = function(s, "run");
	char *text, *line, *save = NULL;
	uint64_t at = sym->start;
	size_t calls = 0, branches = 0;
	struct vt_disasm *d;

	d = vt_disasm_new(info->machine, info->bits, info->big, syntax, &err);
	assert_non_null(d);
	vt_disasm_set_symbols(d, name_target, s->symbols);
	text = toolbox_run(
		s->dir,
		"objdump -d --no-show-raw-insn %s --disassemble=run p | grep '^ .*:\t' | "
		"tr '\\t' ' ' | sed 's/ *$//; s/\\(# [0-9a-f]*\\) <.*/\\1/'",
		options);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct vt_insn insn;
		const uint8_t *bytes;
		size_t avail;

		assert_true(strtoull(line, NULL, 16) == at);
		bytes = vt_elf_bytes(s->elf, at, &avail);
		assert_non_null(bytes);
		vt_disasm_at(d, bytes, avail, at, &insn);
		line = strchr(line, ':') + 2;
		assert_string_equal(insn.text, line);
		if (insn.type == VT_INSN_CALL) {
			assert_true(insn.has_target);
			calls++;
		} else if (insn.type == VT_INSN_CONDITIONAL) {
			assert_true(insn.target >= sym->start && insn.target < sym->end);
			branches++;
		}
		at += insn.size;
	}
	assert_true(at == sym->end);
	assert_true(calls > 0);
	assert_true(branches > 0);
	free(text);
	vt_disasm_free(d);
}

static void instructions_are_those_of_objdump(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct subject s;

	(void)state;
	build(&s, "gcc -g -O2");
	assert_int_equal(vt_symbols_add_plt(s.symbols, s.elf, &err), 0);
	vt_symbols_free(s.symbols);
	s.symbols = vt_symbols_new();
	assert_int_equal(vt_symbols_add_elf(s.symbols, s.elf, NULL, &err), 0);
	assert_int_equal(vt_symbols_add_plt(s.symbols, s.elf, &err), 0);
	assert_int_equal(vt_symbols_finish(s.symbols, &err), 0);
	compare_with_objdump(&s, "", VT_SYNTAX_ATT);
	compare_with_objdump(&s, "-M intel", VT_SYNTAX_INTEL);
	demolish(&s);
}

struct known {
	unsigned machine;
	unsigned bits;
	uint8_t bytes[8];
	const char *text;
	enum vt_insn_type type;
	uint64_t target; /* 0: none */
};

/* Encodings from the architectures' manuals. */
static const struct known known[] = {
	{VT_MACHINE_X86_64, 64, {0xe8, 0x0b, 0, 0, 0}, "call   1010", VT_INSN_CALL, 0x1010},
	{VT_MACHINE_X86_64, 64, {0xff, 0xd0}, "call   *%rax", VT_INSN_CALL, 0},
	{VT_MACHINE_X86_64, 64, {0xeb, 0xfe}, "jmp    1000", VT_INSN_BRANCH, 0x1000},
	{VT_MACHINE_X86_64, 64, {0x3e, 0xff, 0xe0}, "notrack jmp *%rax", VT_INSN_BRANCH, 0},
	{VT_MACHINE_X86_64, 64, {0x06}, "(bad)", VT_INSN_BAD, 0},
	{VT_MACHINE_I386, 32, {0x06}, "push   %es", VT_INSN_OTHER, 0},
	{VT_MACHINE_AARCH64, 64, {0x04, 0, 0, 0x94}, "bl 1010", VT_INSN_CALL, 0x1010},
	{VT_MACHINE_AARCH64, 64, {0x40, 0, 0, 0xb4}, "cbz x0, 1008", VT_INSN_CONDITIONAL, 0x1008},
	{VT_MACHINE_AARCH64, 64, {0, 0, 0, 0x14}, "b 1000", VT_INSN_BRANCH, 0x1000},
	{VT_MACHINE_AARCH64, 64, {0x20, 0, 0x02, 0x8b}, "add x0, x1, x2", VT_INSN_OTHER, 0},
	{VT_MACHINE_ARM, 32, {0x02, 0, 0, 0xeb}, "bl 1010", VT_INSN_CALL, 0x1010},
	{VT_MACHINE_ARM, 32, {0, 0, 0, 0x0a}, "beq 1008", VT_INSN_CONDITIONAL, 0x1008},
	{VT_MACHINE_ARM, 32, {0x02, 0, 0x81, 0xe0}, "add r0, r1, r2", VT_INSN_OTHER, 0},
};

static void known_encodings(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_insn insn;
	struct vt_disasm *d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct known *k = &known[i];

		d = vt_disasm_new(k->machine, k->bits, false, VT_SYNTAX_ATT, &err);
		assert_non_null(d);
		vt_disasm_at(d, k->bytes, sizeof(k->bytes), 0x1000, &insn);
		assert_string_equal(insn.text, k->text);
		assert_int_equal(insn.type, k->type);
		assert_int_equal(insn.has_target, k->target != 0);
		assert_true(insn.target == k->target);
		vt_disasm_free(d);
	}
	assert_null(vt_disasm_new(0xffff, 64, false, VT_SYNTAX_ATT, &err));
	assert_int_equal(err.code, VT_E_NOTFOUND);
}

/* An instruction that is cut off is data. */
static void end_of_the_bytes(void **state)
{
	const uint8_t call[] = {0xe8, 0x0b};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_insn insn;
	struct vt_disasm *d = vt_disasm_new(VT_MACHINE_X86_64, 64, false, VT_SYNTAX_ATT, &err);

	(void)state;
	assert_non_null(d);
	vt_disasm_at(d, call, sizeof(call), 0x1000, &insn);
	assert_int_equal(insn.type, VT_INSN_BAD);
	assert_int_equal(insn.size, 1);
	assert_string_equal(insn.text, ".byte 0xe8");
	vt_disasm_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_calls_are_those_of_addr2line),
		cmocka_unit_test(without_an_address_index),
		cmocka_unit_test(units_in_any_order),
		cmocka_unit_test(no_debug_information),
		cmocka_unit_test(damaged_debug_information),
		cmocka_unit_test(instructions_are_those_of_objdump),
		cmocka_unit_test(known_encodings),
		cmocka_unit_test(end_of_the_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
