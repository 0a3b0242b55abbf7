/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/disasm.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* bfd.h requires the macros of a configured package. */
#define PACKAGE "vtrace"
#include <bfd.h>
#include <dis-asm.h>

#include "image/symbols.h"

/* The longest x86 instruction; the others have 4. */
#define MAX_INSN 15

/*
 * libopcodes is loaded with the first disassembler: to load it, and libbfd that it needs, takes
 * longer than all else that a program does to start.  The one for this machine alone has a quarter
 * of the relocations of the one for all machines.
 */
struct opcodes {
	void *library;
	__typeof__(init_disassemble_info) *init;
	__typeof__(disassembler) *choose;
	__typeof__(disassemble_init_for_target) *prepare;
	__typeof__(disassemble_free_target) *end;
};

struct vt_disasm {
	struct opcodes opcodes;
	struct disassemble_info info;
	disassembler_ftype print;
	bfd_byte bytes[MAX_INSN];
	struct vt_buf text;
	vt_disasm_symbol_fn *symbols;
	void *symbols_arg;
	bool printed;	  /* an address was printed, */
	uint64_t address; /* the last one being this */
	bool failed;	  /* libopcodes read beyond the available bytes */
};

/* libopcodes passes its `stream`, which is the disassembler. */
static int vappend_text(struct vt_disasm *d, const char *fmt, va_list ap)
{
	char text[256];
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	if (n > 0)
		vt_buf_put(&d->text, text, strlen(text));
	return n;
}

static int VT_PRINTF(2, 3) append_text(void *stream, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vappend_text(stream, fmt, ap);
	va_end(ap);
	return n;
}

static int VT_PRINTF(3, 4)
	append_styled_text(void *stream, enum disassembler_style style, const char *fmt, ...)
{
	va_list ap;
	int n;

	(void)style;
	va_start(ap, fmt);
	n = vappend_text(stream, fmt, ap);
	va_end(ap);
	return n;
}

static void print_address(bfd_vma address, struct disassemble_info *info)
{
	struct vt_disasm *d = info->stream;
	size_t before;

	d->printed = true;
	d->address = address;
	vt_buf_printf(&d->text, "%llx", (unsigned long long)address);
	if (!d->symbols)
		return;
	before = d->text.size;
	vt_buf_printf(&d->text, " <");
	d->symbols(d->symbols_arg, address, &d->text);
	if (d->text.size == before + 2)
		d->text.size = before;
	else
		vt_buf_printf(&d->text, ">");
}

static void note_memory_error(int status, bfd_vma address, struct disassemble_info *info)
{
	struct vt_disasm *d = info->stream;

	(void)status;
	(void)address;
	d->failed = true;
}

static bool choose_arch(struct disassemble_info *info, unsigned machine, unsigned bits,
			enum vt_syntax syntax)
{
	unsigned long intel = syntax == VT_SYNTAX_INTEL ? bfd_mach_i386_intel_syntax : 0;

	switch (machine) {
	case VT_MACHINE_X86_64:
		info->arch = bfd_arch_i386;
		info->mach = (bits == 32 ? bfd_mach_x64_32 : bfd_mach_x86_64) | intel;
		return true;
	case VT_MACHINE_I386:
		info->arch = bfd_arch_i386;
		info->mach = (bits == 16 ? bfd_mach_i386_i8086 : bfd_mach_i386_i386) | intel;
		return true;
	case VT_MACHINE_AARCH64:
		info->arch = bfd_arch_aarch64;
		info->mach = bfd_mach_aarch64;
		return true;
	case VT_MACHINE_ARM:
		info->arch = bfd_arch_arm;
		info->mach = bfd_mach_arm_unknown;
		return true;
	default:
		return false;
	}
}

static bool is_native(unsigned machine)
{
#if defined(__x86_64__)
	return machine == VT_MACHINE_X86_64 || machine == VT_MACHINE_I386;
#elif defined(__aarch64__)
	return machine == VT_MACHINE_AARCH64;
#else
	(void)machine;
	return false;
#endif
}

static bool load_opcodes(struct opcodes *o, unsigned machine, struct vt_error *err)
{
	/* It stays loaded for the next disassembler. */
	const int mode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

	o->library = is_native(machine) ? dlopen(VT_LIBOPCODES_NATIVE, mode) : NULL;
	if (!o->library)
		o->library = dlopen(VT_LIBOPCODES, mode);
	if (o->library) {
		/* POSIX: a pointer that dlsym() returns can be converted to one of a function. */
		o->init = (__typeof__(o->init))dlsym(o->library, "init_disassemble_info");
		o->choose = (__typeof__(o->choose))dlsym(o->library, "disassembler");
		o->prepare =
			(__typeof__(o->prepare))dlsym(o->library, "disassemble_init_for_target");
		o->end = (__typeof__(o->end))dlsym(o->library, "disassemble_free_target");
		if (o->init && o->choose && o->prepare && o->end)
			return true;
	}
	vt_error_set(err, VT_E_ABSENT, "no disassembler: %s", dlerror());
	return false;
}

static void free_disasm(struct vt_disasm *d)
{
	if (d->opcodes.library)
		dlclose(d->opcodes.library);
	vt_buf_free(&d->text);
	free(d);
}

struct vt_disasm *vt_disasm_new(unsigned machine, unsigned bits, bool big, enum vt_syntax syntax,
				struct vt_error *err)
{
	struct vt_disasm *d = calloc(1, sizeof(*d));

	if (!d) {
		vt_error_set(err, VT_E_NOMEM, "out of memory for a disassembler");
		return NULL;
	}
	if (!load_opcodes(&d->opcodes, machine, err)) {
		free_disasm(d);
		return NULL;
	}
	d->opcodes.init(&d->info, d, append_text, append_styled_text);
	d->info.endian = big ? BFD_ENDIAN_BIG : BFD_ENDIAN_LITTLE;
	/* Instructions of AArch64 are always little-endian, those of ARM since version 6. */
	d->info.endian_code = BFD_ENDIAN_LITTLE;
	if (choose_arch(&d->info, machine, bits, syntax))
		d->print = d->opcodes.choose(d->info.arch, false, d->info.mach, NULL);
	if (!d->print) {
		free_disasm(d);
		vt_error_set(err, VT_E_NOTFOUND, "no disassembler for ELF machine %u", machine);
		return NULL;
	}
	d->opcodes.prepare(&d->info);
	d->info.print_address_func = print_address;
	d->info.memory_error_func = note_memory_error;
	return d;
}

void vt_disasm_free(struct vt_disasm *d)
{
	if (!d)
		return;
	d->opcodes.end(&d->info);
	free_disasm(d);
}

void vt_disasm_set_symbols(struct vt_disasm *d, vt_disasm_symbol_fn *fn, void *arg)
{
	d->symbols = fn;
	d->symbols_arg = arg;
}

void vt_disasm_name_symbol(void *symbols, uint64_t address, struct vt_buf *out)
{
	struct vt_symbols *t = symbols;
	const struct vt_symbol *sym = t ? vt_symbols_find(t, address) : NULL;

	if (!sym)
		return;
	vt_buf_printf(out, "%s", vt_symbols_display(t, sym));
	if (address != sym->start)
		vt_buf_printf(out, "+0x%" PRIx64, address - sym->start);
}

/* Replaces tabs and line ends by blanks, and removes blanks at the end. */
static void trim_insn_text(struct vt_buf *b)
{
	size_t i;

	for (i = 0; i < b->size; i++)
		if (b->data[i] < ' ')
			b->data[i] = ' ';
	while (b->size && b->data[b->size - 1] == ' ')
		b->size--;
}

static bool word_is(const char *s, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(s, word, n) && (s[n] == ' ' || s[n] == 0 || s[n] == ',');
}

/* libopcodes does not return the type of an instruction, so it is derived from its name. */
static enum vt_insn_type classify_x86(const char *s)
{
	static const char *const prefixes[] = {"bnd",	 "notrack", "cs", "ds",
					       "data16", "repz",    NULL};
	size_t i = 0;

	while (prefixes[i]) {
		if (word_is(s, prefixes[i++])) {
			s += strcspn(s, " ");
			s += strspn(s, " ");
			i = 0;
		}
	}
	if (!strncmp(s, "call", 4))
		return VT_INSN_CALL;
	if (!strncmp(s, "jmp", 3))
		return VT_INSN_BRANCH;
	if (s[0] == 'j' || !strncmp(s, "loop", 4) || !strncmp(s, "xbegin", 6))
		return VT_INSN_CONDITIONAL;
	return VT_INSN_OTHER;
}

static enum vt_insn_type classify_a64(const char *s)
{
	if (word_is(s, "bl") || !strncmp(s, "blr", 3))
		return VT_INSN_CALL;
	if (word_is(s, "b") || word_is(s, "br") || !strncmp(s, "bra", 3))
		return VT_INSN_BRANCH;
	if (!strncmp(s, "b.", 2) || !strncmp(s, "cbz", 3) || !strncmp(s, "cbnz", 4) ||
	    !strncmp(s, "tbz", 3) || !strncmp(s, "tbnz", 4))
		return VT_INSN_CONDITIONAL;
	return VT_INSN_OTHER;
}

/* The name of a conditional instruction ends with the two letters of its condition. */
static enum vt_insn_type classify_arm(const char *s)
{
	size_t n = strcspn(s, " .");

	if (!strncmp(s, "bl", 2) && (n == 2 || n == 4 || (s[2] == 'x' && (n == 3 || n == 5))))
		return VT_INSN_CALL;
	if (s[0] == 'b' && (n == 1 || (n == 2 && s[1] == 'x')))
		return VT_INSN_BRANCH;
	if ((s[0] == 'b' && n == 3 && strncmp(s, "bic", 3) != 0 && strncmp(s, "bfc", 3) != 0 &&
	     strncmp(s, "bfi", 3) != 0) ||
	    !strncmp(s, "cbz", 3) || !strncmp(s, "cbnz", 4))
		return VT_INSN_CONDITIONAL;
	return VT_INSN_OTHER;
}

static enum vt_insn_type classify_insn(const struct vt_disasm *d, const char *text)
{
	if (strstr(text, "(bad)") || text[0] == '.')
		return VT_INSN_BAD;
	switch (d->info.arch) {
	case bfd_arch_i386:
		return classify_x86(text);
	case bfd_arch_aarch64:
		return classify_a64(text);
	default:
		return classify_arm(text);
	}
}

/* Shows bytes that are not an instruction as a directive of the assembler. */
static void show_as_data(struct vt_disasm *d, const uint8_t *bytes, size_t size,
			 struct vt_insn *insn)
{
	size_t i, n = d->info.arch == bfd_arch_i386 ? 1 : size < 4 ? size : 4;

	d->text.size = 0;
	for (i = 0; i < n; i++)
		vt_buf_printf(&d->text, "%s0x%02x", i ? "," : ".byte ", bytes[i]);
	insn->size = (unsigned)n;
	insn->type = VT_INSN_BAD;
}

void vt_disasm_at(struct vt_disasm *d, const uint8_t *bytes, size_t size, uint64_t address,
		  struct vt_insn *insn)
{
	int n;

	*insn = (struct vt_insn){.size = 1};
	d->text.size = 0;
	d->printed = false;
	d->failed = false;
	d->info.buffer = d->bytes;
	d->info.buffer_vma = address;
	d->info.buffer_length = size < MAX_INSN ? size : MAX_INSN;
	memcpy(d->bytes, bytes, d->info.buffer_length);
	n = d->print(address, &d->info);
	if (n <= 0 || (size_t)n > size || d->failed) {
		show_as_data(d, bytes, size, insn);
	} else {
		insn->size = (unsigned)n;
		trim_insn_text(&d->text);
		insn->type = classify_insn(d, vt_buf_str(&d->text));
		insn->has_target =
			d->printed && insn->type != VT_INSN_OTHER && insn->type != VT_INSN_BAD &&
			!strchr(vt_buf_str(&d->text), '*') && !strchr(vt_buf_str(&d->text), '[');
		insn->target = insn->has_target ? d->address : 0;
	}
	insn->text = vt_buf_str(&d->text);
}
