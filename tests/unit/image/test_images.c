/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding files, and why an address has no symbol. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/images.h"
#include "image/lines.h"
#include "stream/kinds.h"
#include "tests/unit/common/toolbox.h"

struct subject {
	char *dir;
	char warning[1024];
	struct vt_images *images;
	uint8_t buildid[20];
	uint64_t offset; /* of work() in the file */
};

static void warned(void *arg, const char *text)
{
	struct subject *s = arg;

	snprintf(s->warning, sizeof(s->warning), "%s", text);
}

/* Builds DIR/p, which has a build-id of 20 bytes 0x11 and a function work(). */
static void build(struct subject *s)
{
	char *text;

	memset(s, 0, sizeof(*s));
	s->dir = toolbox_dir();
	toolbox_write(s->dir, "p.c",
		      "__attribute__((noinline)) int work(int x) { return x * x; }\n"
		      "int main(int c, char **v) { (void)v; return work(c); }\n");
	free(toolbox_run(s->dir, "gcc -O1 -g -no-pie p.c -o p -Wl,-Ttext-segment=0x400000 "
				 "-Wl,--build-id=0x$(printf '11%%.0s' $(seq 20))"));
	memset(s->buildid, 0x11, sizeof(s->buildid));
	text = toolbox_run(s->dir, "nm p | sed -n 's/ T work//p'");
	s->offset = strtoull(text, NULL, 16) - 0x400000;
	free(text);
}

static void open_store(struct subject *s, const struct vt_images_options *opt)
{
	struct vt_images_options o = *opt;
	struct vt_error err = VT_ERROR_INIT;

	o.warn = warned;
	o.warn_arg = s;
	vt_images_free(s->images);
	s->warning[0] = 0;
	s->images = vt_images_new(&o, &err);
	if (!s->images)
		fail_msg("%s", err.text);
}

static void demolish(struct subject *s)
{
	vt_images_free(s->images);
	toolbox_remove(s->dir);
}

static void add(struct subject *s, uint32_t id, unsigned type, const char *path,
		const uint8_t *buildid)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_images_add(s->images, id, type, path, strlen(path), buildid,
				       buildid ? sizeof(s->buildid) : 0, &err),
			 0);
}

static enum vt_unknown why_not(struct subject *s, uint32_t id, uint64_t offset)
{
	struct vt_location loc;

	return vt_images_symbol(s->images, id, 1, offset, &loc);
}

static void is_work(struct subject *s, uint32_t id)
{
	struct vt_location loc;

	assert_int_equal(vt_images_symbol(s->images, id, 1, s->offset + 1, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "work");
	assert_true(loc.vaddr == s->offset + 1 + 0x400000);
}

/* Its symbols are gone: what is left is where its procedures begin. */
static void is_stripped(struct subject *s, uint32_t id)
{
	struct vt_location loc;
	char name[32];

	assert_int_equal(vt_images_symbol(s->images, id, 1, s->offset + 1, &loc), VT_KNOWN);
	assert_true(loc.symbol->flags & VT_SYMBOL_FRAME);
	snprintf(name, sizeof(name), "sub_%llx", (unsigned long long)s->offset + 0x400000);
	assert_string_equal(loc.symbol->name, name);
}

/* "%s" is the path of the program. */
static void check_warning(const struct subject *s, const char *want)
{
	char text[600];

	snprintf(text, sizeof(text), want, toolbox_path(s->dir, "p"));
	assert_string_equal(s->warning, text);
}

static void plain_path(void **state)
{
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_location loc;
	uint64_t offset;
	struct subject s;
	uint8_t other[20];

	(void)state;
	build(&s);
	memset(other, 0x22, sizeof(other));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	add(&s, 2, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), NULL);
	add(&s, 3, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), other);
	add(&s, 4, VT_IMAGE_FILE, toolbox_path(s.dir, "gone"), NULL);
	add(&s, 5, VT_IMAGE_FILE, toolbox_path(s.dir, "p.c"), NULL);
	add(&s, 6, VT_IMAGE_FILE, toolbox_path(s.dir, "p (deleted)"), NULL);
	add(&s, 7, VT_IMAGE_FILE, toolbox_path(s.dir, "p (deleted)"), s.buildid);
	add(&s, 8, VT_IMAGE_FILE, "[heap]", NULL);
	is_work(&s, 1);
	assert_true(vt_images_verified(s.images, 1));
	assert_string_equal(s.warning, "");
	is_work(&s, 2);
	assert_false(vt_images_verified(s.images, 2));
	assert_int_equal(why_not(&s, 3, s.offset), VT_UNKNOWN_MISMATCH);
	/* Both ids are told. */
	assert_non_null(strstr(s.warning, "1111111111111111111111111111111111111111"));
	assert_non_null(strstr(s.warning, "2222222222222222222222222222222222222222"));
	assert_int_equal(why_not(&s, 4, s.offset), VT_UNKNOWN_NO_FILE);
	assert_int_equal(why_not(&s, 5, s.offset), VT_UNKNOWN_UNREADABLE);
	assert_int_equal(why_not(&s, 6, s.offset), VT_UNKNOWN_NO_FILE);
	is_work(&s, 7);
	assert_int_equal(why_not(&s, 8, 0), VT_UNKNOWN_NO_FILE);
	assert_int_equal(why_not(&s, 9, 0), VT_UNKNOWN_NO_IMAGE);
	assert_int_equal(why_not(&s, 1, 0x10000000), VT_UNKNOWN_OUTSIDE);
	assert_int_equal(why_not(&s, 1, 0), VT_UNKNOWN_NO_SYMBOL);
	assert_int_equal(vt_images_symbol(s.images, 1, 1, s.offset, &loc), VT_KNOWN);
	assert_true(vt_images_offset(s.images, 1, loc.vaddr, &offset));
	assert_true(offset == s.offset);
	assert_string_equal(vt_images_get(s.images, 1)->name, "p");
	assert_int_equal(vt_images_count(s.images), 8);
	/* By their order, what was looked for and not found. */
	assert_int_equal(vt_images_missing(s.images, 0), VT_KNOWN);
	assert_int_equal(vt_images_missing(s.images, 2), VT_UNKNOWN_MISMATCH);
	assert_int_equal(vt_images_missing(s.images, 3), VT_UNKNOWN_NO_FILE);
	assert_int_equal(vt_images_missing(s.images, 4), VT_UNKNOWN_UNREADABLE);
	assert_int_equal(why_not(&s, 3, 0x10000000), VT_UNKNOWN_MISMATCH);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "gone"), NULL);
	assert_int_equal(why_not(&s, 1, s.offset), VT_UNKNOWN_NO_FILE);
	free(toolbox_run(s.dir, "strip p"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	is_stripped(&s, 1);
	opt.find.accept_mismatch = true;
	open_store(&s, &opt);
	add(&s, 3, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), other);
	is_stripped(&s, 3);
	check_warning(&s,
		      "%s is used although its build-id is 1111111111111111111111111111111111111111"
		      " and 2222222222222222222222222222222222222222 was recorded");
	free(toolbox_run(s.dir, "objcopy -R .eh_frame_hdr -R .eh_frame p"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	assert_int_equal(why_not(&s, 1, s.offset), VT_UNKNOWN_STRIPPED);
	assert_int_equal(why_not(&s, 1, 0x10000000), VT_UNKNOWN_OUTSIDE);
	free(toolbox_run(s.dir, "objcopy -R .note.gnu.build-id p"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	assert_int_equal(why_not(&s, 1, s.offset), VT_UNKNOWN_STRIPPED);
	check_warning(&s, "%s is used although it has no build-id and"
			  " 1111111111111111111111111111111111111111 was recorded");
	demolish(&s);
}

/*
 * What is left of a file says whose code that is no more, or says it wrongly: in one of debug
 * information alone, segments begin where the code does not lie.
 */
static void parts_of_a_file(void **state)
{
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct subject s;
	char wanted[300];

	(void)state;
	build(&s);
	free(toolbox_run(s.dir,
			 "size=$(stat -c %%s p) && cp p whole && head -c $((size - 1)) whole >p"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	assert_int_equal(why_not(&s, 1, s.offset), VT_UNKNOWN_CUT);
	assert_int_equal(why_not(&s, 1, 0x10000000), VT_UNKNOWN_CUT);
	/* Without section headers a file is whole that has all of its segments. */
	free(toolbox_run(s.dir, "cp whole p && printf '\\0\\0\\0\\0\\0\\0\\0\\0' |"
				" dd of=p bs=1 seek=40 conv=notrunc status=none"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), NULL);
	assert_int_equal(why_not(&s, 1, 0x10000000), VT_UNKNOWN_OUTSIDE);
	free(toolbox_run(s.dir, "truncate -s 4097 p"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), NULL);
	assert_int_equal(why_not(&s, 1, 0x10000000), VT_UNKNOWN_CUT);

	free(toolbox_run(s.dir, "objcopy --only-keep-debug whole p"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	assert_int_equal(why_not(&s, 1, s.offset), VT_UNKNOWN_ONLY_DEBUG);
	snprintf(wanted, sizeof(wanted), "%s/p has debug information only, not the code", s.dir);
	assert_string_equal(s.warning, wanted);
	/* The file itself is looked for on. */
	opt.find.symfs = s.dir;
	free(toolbox_run(s.dir, "mkdir -p .build-id/11 && "
				"cp whole .build-id/11/$(printf '11%%.0s' $(seq 19))"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	is_work(&s, 1);
	demolish(&s);
}

/* The recorded path does not exist here; the file is in a mirror of the recorded machine. */
static void below_symfs(void **state)
{
	static const char *const layouts[] = {
		"mkdir -p fs/opt/app && mv p fs/opt/app/p",
		"mkdir fs && mv p fs/p",
		"mkdir -p fs/.build-id/11 && mv p fs/.build-id/11/$(printf '11%.0s' $(seq 19))",
	};
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_error err = VT_ERROR_INIT;
	struct subject s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		build(&s);
		free(toolbox_run(s.dir, "%s", layouts[i]));
		opt.find.symfs = toolbox_path(s.dir, "fs");
		open_store(&s, &opt);
		add(&s, 1, VT_IMAGE_FILE, "/opt/app/p", s.buildid);
		is_work(&s, 1);
		assert_true(vt_images_verified(s.images, 1));
		demolish(&s);
	}
	build(&s);
	/* With a mirror, a file outside of it counts only if its build-id fits. */
	free(toolbox_run(s.dir, "mkdir fs"));
	opt.find.symfs = toolbox_path(s.dir, "fs");
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), NULL);
	add(&s, 2, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	assert_int_equal(why_not(&s, 1, s.offset), VT_UNKNOWN_NO_FILE);
	is_work(&s, 2);
	opt.find.symfs = toolbox_path(s.dir, "none");
	assert_null(vt_images_new(&opt, &err));
	assert_int_equal(err.code, VT_E_READ);
	assert_non_null(strstr(err.text, "none"));
	demolish(&s);
}

static void in_the_cache_of_perf(void **state)
{
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct subject s;

	(void)state;
	build(&s);
	/* As perf lays it out: a symbolic link to a directory with the file in it. */
	free(toolbox_run(s.dir,
			 "id=$(printf '11%%.0s' $(seq 20)); mkdir -p c/.build-id/11 c/opt/p/$id; "
			 "mv p c/opt/p/$id/elf; "
			 "ln -s ../../opt/p/$id c/.build-id/11/${id#11}"));
	opt.find.buildid_cache = toolbox_path(s.dir, "c");
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, "/opt/p", s.buildid);
	add(&s, 2, VT_IMAGE_FILE, "/opt/p", NULL);
	is_work(&s, 1);
	assert_int_equal(why_not(&s, 2, s.offset), VT_UNKNOWN_NO_FILE);
	demolish(&s);
}

static void separate_debug_files(void **state)
{
	static const char *const layouts[] = {
		"d=d/.build-id/11; mkdir -p $d && mv p.debug $d/$(printf '11%.0s' $(seq 19)).debug",
		"objcopy --add-gnu-debuglink=p.debug p",
		"objcopy --add-gnu-debuglink=p.debug p && mkdir .debug && mv p.debug .debug",
		"objcopy --add-gnu-debuglink=p.debug p && mkdir -p d/$PWD && mv p.debug d/$PWD",
	};
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	const char *dirs[1];
	struct vt_line line;
	struct subject s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		build(&s);
		free(toolbox_run(s.dir, "objcopy --only-keep-debug p p.debug && strip p"));
		free(toolbox_run(s.dir, "%s", layouts[i]));
		dirs[0] = toolbox_path(s.dir, "d");
		opt.find.debugdirs = dirs;
		opt.find.ndebugdirs = 1;
		open_store(&s, &opt);
		add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
		is_work(&s, 1);
		assert_non_null(vt_images_lines(s.images, 1));
		assert_true(vt_lines_at(vt_images_lines(s.images, 1), s.offset + 0x400000, &line));
		assert_int_equal(line.line, 1);
		demolish(&s);
	}
	/* What was found for its symbols is there for its lines, too. */
	build(&s);
	free(toolbox_run(s.dir, "objcopy --only-keep-debug p p.debug && strip p && "
				"objcopy --add-gnu-debuglink=p.debug p"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	is_work(&s, 1);
	assert_int_equal(remove(toolbox_path(s.dir, "p.debug")), 0);
	assert_non_null(vt_images_lines(s.images, 1));
	demolish(&s);
	/* A debug file that does not belong to the program is not taken. */
	build(&s);
	free(toolbox_run(s.dir, "objcopy --only-keep-debug p p.debug && strip p && "
				"objcopy --add-gnu-debuglink=p.debug p && printf x >>p.debug"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	is_stripped(&s, 1);
	assert_null(vt_images_lines(s.images, 1));
	demolish(&s);
}

static void generated_code(void **state)
{
	char warning[600];
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_location loc;
	struct subject s;

	(void)state;
	build(&s);
	toolbox_write(s.dir, "perf-1.map", "7f0000001000 100 jitted\n");
	opt.perf_map_dir = s.dir;
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_ANON, "//anon", NULL);
	assert_int_equal(vt_images_symbol(s.images, 1, 1, 0x7f0000001010, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "jitted");
	assert_string_equal(vt_images_display(s.images, 1, 1, loc.symbol), "jitted");
	assert_int_equal(vt_images_symbol(s.images, 1, 1, 0x7f0000001100, &loc),
			 VT_UNKNOWN_NO_SYMBOL);
	assert_int_equal(vt_images_symbol(s.images, 1, 2, 0x7f0000001010, &loc),
			 VT_UNKNOWN_NO_JIT_MAP);
	assert_string_equal(s.warning, "");
	free(toolbox_run(s.dir, "mkdir perf-3.map"));
	assert_int_equal(vt_images_symbol(s.images, 1, 3, 0x7f0000001010, &loc),
			 VT_UNKNOWN_UNREADABLE);
	snprintf(warning, sizeof(warning), "%s: Is a directory", toolbox_path(s.dir, "perf-3.map"));
	assert_string_equal(s.warning, warning);
	opt.perf_map_dir = NULL;
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_ANON, "//anon", NULL);
	assert_int_equal(vt_images_symbol(s.images, 1, 1, 0x7f0000001010, &loc),
			 VT_UNKNOWN_NO_JIT_MAP);
	demolish(&s);
}

static void kernel_and_modules(void **state)
{
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_location loc;
	uint64_t offset;
	struct subject s;

	(void)state;
	build(&s);
	free(toolbox_run(s.dir, "mkdir -p c/.build-id/11/$(printf '11%%.0s' $(seq 19))"));
	toolbox_write(s.dir, "k",
		      "0000000000000000 A fixed\nffffffff9a000000 T _stext\n"
		      "ffffffff9a000000 T _text\nffffffff9a001000 T schedule\n"
		      "ffffffff9a001100 T after\nffffffffc0400000 t mod_fn\t[nf_tables]\n");
	free(toolbox_run(s.dir, "mv k c/.build-id/11/$(printf '11%%.0s' $(seq 19))/kallsyms"));
	opt.find.buildid_cache = toolbox_path(s.dir, "c");
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_KERNEL, "[kernel.kallsyms]_text", s.buildid);
	add(&s, 2, VT_IMAGE_MODULE, "[nf_tables]", NULL);
	add(&s, 3, VT_IMAGE_KERNEL, "[kernel.kallsyms]_gone", s.buildid);
	add(&s, 4, VT_IMAGE_KERNEL, "[kernel.kallsyms]_text", NULL);
	vt_images_set_base(s.images, 2, 0xffffffffc0400000);
	assert_string_equal(vt_images_get(s.images, 1)->name, "[kernel.kallsyms]");
	assert_int_equal(vt_images_symbol(s.images, 1, 1, 0x10ff, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "schedule");
	assert_true(loc.vaddr == 0xffffffff9a0010ff);
	assert_true(vt_images_offset(s.images, 1, 0xffffffff9a0010ff, &offset));
	assert_int_equal(offset, 0x10ff);
	/* Without the reference symbol's address, recordings count from 0. */
	assert_int_equal(vt_images_symbol(s.images, 1, 1, 0xffffffff9a0010ff, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "schedule");
	assert_true(loc.vaddr == 0xffffffff9a0010ff);
	assert_int_equal(why_not(&s, 3, 0x10ff), VT_UNKNOWN_NO_KALLSYMS);
	assert_int_equal(why_not(&s, 4, 0x10ff), VT_UNKNOWN_NO_KALLSYMS);
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_KERNEL, "[kernel.kallsyms]_text", s.buildid);
	add(&s, 2, VT_IMAGE_MODULE, "[nf_tables]", NULL);
	vt_images_set_base(s.images, 2, 0xffffffffc0400000);
	assert_int_equal(vt_images_symbol(s.images, 2, 1, 0x10, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "mod_fn");
	assert_true(loc.vaddr == 0xffffffffc0400010);
	demolish(&s);
	build(&s);
	free(toolbox_run(s.dir, "mkdir -p 'c/[kernel.kallsyms]/'$(printf '11%%.0s' $(seq 20))"));
	toolbox_write(s.dir, "k",
		      "ffffffff9a000000 T _text\nffffffffc0400000 t mod_fn\t[nf_tables]\n");
	free(toolbox_run(s.dir,
			 "mv k 'c/[kernel.kallsyms]/'$(printf '11%%.0s' $(seq 20))/kallsyms"));
	opt.find.buildid_cache = toolbox_path(s.dir, "c");
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_KERNEL, "[kernel.kallsyms]_text", s.buildid);
	add(&s, 2, VT_IMAGE_MODULE, "/lib/modules/6.1/kernel/net/nf-tables.ko.xz", NULL);
	vt_images_set_base(s.images, 2, 0xffffffffc0400000);
	assert_int_equal(vt_images_symbol(s.images, 2, 1, 0x10, &loc), VT_KNOWN);
	assert_string_equal(loc.symbol->name, "mod_fn");
	demolish(&s);
}

#define KTEXT	 UINT64_C(0xffffffff9a000000)
#define KSIZE	 0x3000
#define KOFFSET	 0x2000 /* of the code in the core file */
#define KSEGMENT (KTEXT - 0x1000)

/*
 * r/proc/kcore: a note, a segment of other memory and one that has the code, and 0x1000 bytes more
 * on either side; the byte at an address of the code is the address divided by 16.
 */
static void write_kcore(const struct subject *s, uint16_t type, uint64_t vaddr, size_t size)
{
	Elf64_Ehdr h = {.e_type = type,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3};
	const Elf64_Phdr p[3] = {
		{.p_type = PT_NOTE, .p_vaddr = vaddr, .p_filesz = KSIZE + 0x2000},
		{.p_type = PT_LOAD, .p_vaddr = UINT64_C(0xffff888000000000), .p_filesz = 0x1000},
		{.p_type = PT_LOAD,
		 .p_vaddr = vaddr,
		 .p_offset = KOFFSET - 0x1000,
		 .p_filesz = KSIZE + 0x2000},
	};
	uint8_t *bytes = calloc(1, KOFFSET + KSIZE + 0x1000);
	FILE *out;
	size_t i;

	assert_non_null(bytes);
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), p, sizeof(p));
	for (i = 0; i < KSIZE; i++)
		bytes[KOFFSET + i] = (uint8_t)(i / 16);
	out = fopen(toolbox_path(s->dir, "r/proc/kcore"), "wb");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, size, 1, out), 1);
	assert_int_equal(fclose(out), 0);
	free(bytes);
}

/* Why the kernel's code is not known, or VT_KNOWN; opens the store anew. */
static enum vt_unknown kernel_code(struct subject *s, const struct vt_elf **elf)
{
	struct vt_images_options opt = {.find = {.symfs = toolbox_path(s->dir, "r")}};
	enum vt_unknown why;

	open_store(s, &opt);
	add(s, 1, VT_IMAGE_KERNEL, "[kernel.kallsyms]_text", NULL);
	*elf = vt_images_elf(s->images, 1, &why);
	return why;
}

/* Code of a kernel that has no file is read from its memory, between two of its symbols. */
static void kernel_memory(void **state)
{
	const size_t all = KOFFSET + KSIZE + 0x1000;
	const struct vt_elf *elf;
	const uint8_t *code;
	const struct vt_elf_segment *segments;
	struct subject s;
	size_t avail, n;

	(void)state;
	build(&s);
	free(toolbox_run(s.dir, "mkdir -p r/proc"));
	toolbox_write(s.dir, "r/proc/kallsyms",
		      "ffffffff9a000000 T _text\nffffffff9a001000 T schedule\n"
		      "ffffffff9a003000 T _etext\n");
	assert_int_equal(kernel_code(&s, &elf), VT_UNKNOWN_NO_VMLINUX);
	assert_string_equal(s.warning, "");
	write_kcore(&s, ET_CORE, KSEGMENT, all);
	assert_int_equal(kernel_code(&s, &elf), VT_KNOWN);
	assert_int_equal(vt_elf_info(elf)->machine, EM_X86_64);
	code = vt_elf_bytes(elf, KTEXT + 0x1230, &avail);
	assert_non_null(code);
	assert_int_equal(avail, KSIZE - 0x1230);
	assert_int_equal(code[0], 0x23);
	assert_int_equal(code[16], 0x24);
	assert_null(vt_elf_bytes(elf, KTEXT - 1, &avail));
	assert_null(vt_elf_bytes(elf, KTEXT + KSIZE, &avail));
	segments = vt_elf_segments(elf, &n);
	assert_int_equal(n, 1);
	assert_true(segments->exec);
	assert_false(segments->write);
	/* A segment may end with the code, and begin with it, but not within it. */
	write_kcore(&s, ET_CORE, KSEGMENT - 0x1000, all);
	assert_int_equal(kernel_code(&s, &elf), VT_KNOWN);
	write_kcore(&s, ET_CORE, KSEGMENT - 0x1001, all);
	assert_int_equal(kernel_code(&s, &elf), VT_UNKNOWN_NO_VMLINUX);
	assert_non_null(strstr(s.warning, "no segment has the kernel's code"));
	write_kcore(&s, ET_CORE, KTEXT, all);
	assert_int_equal(kernel_code(&s, &elf), VT_KNOWN);
	write_kcore(&s, ET_CORE, KTEXT + 1, all);
	assert_int_equal(kernel_code(&s, &elf), VT_UNKNOWN_NO_VMLINUX);
	/* It is cut off, or something else. */
	write_kcore(&s, ET_CORE, KSEGMENT, KOFFSET + KSIZE);
	assert_int_equal(kernel_code(&s, &elf), VT_KNOWN);
	write_kcore(&s, ET_CORE, KSEGMENT, KOFFSET + KSIZE - 1);
	assert_int_equal(kernel_code(&s, &elf), VT_UNKNOWN_NO_VMLINUX);
	assert_non_null(strstr(s.warning, "it ends at 0x4fff"));
	write_kcore(&s, ET_EXEC, KSEGMENT, all);
	assert_int_equal(kernel_code(&s, &elf), VT_UNKNOWN_NO_VMLINUX);
	assert_non_null(strstr(s.warning, "no core file"));
	/* One page of code, a segment full of it, and one that is shorter. */
	write_kcore(&s, ET_CORE, KTEXT, all);
	toolbox_write(s.dir, "r/proc/kallsyms",
		      "ffffffff9a000000 T _text\nffffffff9a001000 T _etext\n");
	assert_int_equal(kernel_code(&s, &elf), VT_KNOWN);
	assert_non_null(vt_elf_bytes(elf, KTEXT, &avail));
	assert_int_equal(avail, 0x1000);
	toolbox_write(s.dir, "r/proc/kallsyms",
		      "ffffffff9a000000 T _text\nffffffff9a005000 T _etext\n");
	assert_int_equal(kernel_code(&s, &elf), VT_KNOWN);
	toolbox_write(s.dir, "r/proc/kallsyms",
		      "ffffffff9a000000 T _text\nffffffff9a005001 T _etext\n");
	assert_int_equal(kernel_code(&s, &elf), VT_UNKNOWN_NO_VMLINUX);
	assert_non_null(strstr(s.warning, "no segment has the kernel's code"));
	/* Where the code ends is not known. */
	write_kcore(&s, ET_CORE, KSEGMENT, all);
	toolbox_write(s.dir, "r/proc/kallsyms", "ffffffff9a000000 T _text\n");
	assert_int_equal(kernel_code(&s, &elf), VT_UNKNOWN_NO_VMLINUX);
	demolish(&s);
}

/* What no recorder writes: slashes in the brackets, or behind them; a build-id of one byte. */
static void odd_kernels(void **state)
{
	static const char *const paths[][2] = {
		{"[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/]_text",
		 "[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/]"},
		{"[kernel.kallsyms]/x", "[kernel.kallsyms]"},
		{"/boot/vmlinux]", "vmlinux]"},
	};
	struct vt_images_options opt = {.find = {.buildid_cache = "/none"}};
	struct subject s = {.dir = NULL};
	struct vt_error err = VT_ERROR_INIT;
	const uint8_t one = 0x11;
	uint32_t i;

	(void)state;
	open_store(&s, &opt);
	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		assert_int_equal(vt_images_add(s.images, i, VT_IMAGE_KERNEL, paths[i][0],
					       strlen(paths[i][0]), &one, 1, &err),
				 0);
		assert_string_equal(vt_images_get(s.images, i)->name, paths[i][1]);
		assert_int_equal(why_not(&s, i, 0x10), VT_UNKNOWN_NO_KALLSYMS);
	}
	vt_images_free(s.images);
}

/* The same samples in any order and with any neighbours give the same symbols. */
static void no_answer_depends_on_the_one_before(void **state)
{
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_location loc, again;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_images *fresh;
	struct subject s;
	uint64_t i;

	(void)state;
	build(&s);
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), NULL);
	for (i = 0; i < 3000; i++) {
		uint64_t offset = 0x1000 + (i * 37) % 0x400;
		const char *path = toolbox_path(s.dir, "p");

		vt_images_symbol(s.images, 1, 1, offset, &loc);
		if (i % 100)
			continue;
		fresh = vt_images_new(&opt, &err);
		assert_int_equal(
			vt_images_add(fresh, 1, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err),
			0);
		vt_images_symbol(fresh, 1, 1, offset, &again);
		assert_int_equal(loc.why, again.why);
		assert_int_equal(loc.symbol != NULL, again.symbol != NULL);
		if (loc.symbol)
			assert_string_equal(loc.symbol->name, again.symbol->name);
		vt_images_free(fresh);
	}
	demolish(&s);
}

/* Each is looked for once, whatever becomes of the file. */
static void what_is_found_is_kept(void **state)
{
	const struct vt_images_options opt = {.find = {.symfs = NULL}};
	enum vt_unknown why;
	struct subject s;
	const void *found[5];
	size_t i, k;

	(void)state;
	build(&s);
	free(toolbox_run(s.dir, "cp p q"));
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), s.buildid);
	add(&s, 2, VT_IMAGE_FILE, toolbox_path(s.dir, "r"), s.buildid);
	for (k = 1; k <= 2; k++) {
		for (i = 0; i < 2; i++) {
			const void *now[] = {
				vt_images_elf(s.images, (uint32_t)k, &why),
				vt_images_symbols(s.images, (uint32_t)k, 1, &why),
				vt_images_lines(s.images, (uint32_t)k),
				vt_images_data(s.images, (uint32_t)k),
				vt_images_unwind(s.images, (uint32_t)k),
			};
			size_t n;

			for (n = 0; n < 5; n++) {
				assert_int_equal(now[n] != NULL, k == 1);
				assert_true(!i || now[n] == found[n]);
				found[n] = now[n];
			}
			assert_int_equal(why, k == 1 ? VT_KNOWN : VT_UNKNOWN_NO_FILE);
			/* The second image's file comes too late. */
			if (k == 2)
				free(toolbox_run(s.dir, "cp q r"));
		}
	}
	demolish(&s);
}

/* Of what is no ELF file a warning tells if a build-id says that it was one. */
static void warnings(void **state)
{
	const struct vt_images_options opt = {.find = {.symfs = NULL}};
	enum vt_unknown why;
	char text[600];
	struct subject s;

	(void)state;
	build(&s);
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p.c"), NULL);
	add(&s, 2, VT_IMAGE_FILE, toolbox_path(s.dir, "gone"), s.buildid);
	add(&s, 3, VT_IMAGE_FILE, toolbox_path(s.dir, "p.c"), s.buildid);
	assert_null(vt_images_elf(s.images, 1, &why));
	assert_int_equal(why, VT_UNKNOWN_UNREADABLE);
	assert_null(vt_images_elf(s.images, 2, &why));
	assert_int_equal(why, VT_UNKNOWN_NO_FILE);
	assert_string_equal(s.warning, "");
	assert_null(vt_images_elf(s.images, 3, &why));
	assert_int_equal(why, VT_UNKNOWN_UNREADABLE);
	snprintf(text, sizeof(text), "%s: not an ELF file", toolbox_path(s.dir, "p.c"));
	assert_string_equal(s.warning, text);
	demolish(&s);
}

/* Of a symbol and a gap behind it, then of one before: what was found last says nothing of these.
 */
static void gaps_between_symbols(void **state)
{
	static const struct {
		uint64_t at; /* from `one` on */
		const char *name;
	} asked[] = {
		{0x40, "two"}, {0x4f, "two"}, {0x00, "one"}, {0x10, NULL}, {0x0f, "one"},
		{0x3f, NULL},  {0x40, "two"}, {0x50, NULL},  {0x20, NULL}, {0x00, "one"},
		{0x60, "out"}, {0x68, "in"},  {0x62, "out"}, {0x6f, "in"}, {0x60, "out"},
		{0x70, "out"}, {0x69, "in"},  {0x7f, "out"}, {0x80, NULL},
	};
	struct vt_images_options opt = {.find = {.symfs = NULL}};
	struct vt_location loc;
	struct subject s = {.dir = toolbox_dir()};
	uint64_t one;
	char *text;
	size_t i;

	(void)state;
	/* Names, offsets from the first, sizes. */
	toolbox_write(s.dir, "p.s",
		      ".globl _start\n_start: .skip 64\n"
		      ".macro sym name, at, size\n.set \\name, base + \\at\n"
		      ".type \\name, @function\n.size \\name, \\size\n.endm\n"
		      "base: sym one, 0, 16\nsym two, 0x40, 16\n"
		      "sym out, 0x60, 32\nsym in, 0x68, 8\n.skip 256\n");
	free(toolbox_run(s.dir, "gcc -nostdlib -static -no-pie -o p p.s && objcopy -N base p"));
	text = toolbox_run(s.dir, "nm p | sed -n 's/ t one//p'");
	one = strtoull(text, NULL, 16) - 0x400000;
	free(text);
	open_store(&s, &opt);
	add(&s, 1, VT_IMAGE_FILE, toolbox_path(s.dir, "p"), NULL);
	for (i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		assert_int_equal(vt_images_symbol(s.images, 1, 1, one + asked[i].at, &loc),
				 asked[i].name ? VT_KNOWN : VT_UNKNOWN_NO_SYMBOL);
		if (asked[i].name)
			assert_string_equal(loc.symbol->name, asked[i].name);
	}
	demolish(&s);
}

static void every_reason_has_a_text(void **state)
{
	int i, k;

	(void)state;
	for (i = 0; i < VT_NUNKNOWNS; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(vt_unknown_text(i), vt_unknown_text(k));
	assert_string_equal(vt_unknown_text(VT_NUNKNOWNS - 1),
			    "no vmlinux of that kernel, nor a readable /proc/kcore");
	assert_string_equal(vt_unknown_text(VT_NUNKNOWNS), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_path),
		cmocka_unit_test(parts_of_a_file),
		cmocka_unit_test(below_symfs),
		cmocka_unit_test(in_the_cache_of_perf),
		cmocka_unit_test(separate_debug_files),
		cmocka_unit_test(generated_code),
		cmocka_unit_test(kernel_and_modules),
		cmocka_unit_test(kernel_memory),
		cmocka_unit_test(odd_kernels),
		cmocka_unit_test(no_answer_depends_on_the_one_before),
		cmocka_unit_test(what_is_found_is_kept),
		cmocka_unit_test(warnings),
		cmocka_unit_test(gaps_between_symbols),
		cmocka_unit_test(every_reason_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
