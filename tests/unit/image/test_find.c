/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where files of images are looked for, which is taken, and what is said of those that are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/find.h"
#include "tests/unit/common/toolbox.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The files of this test: "one" and "two" have these build-ids, "none" has none. */
#define ONE   "0x1111111111111111"
#define TWO   "0x2222222222222222"
#define ONE_D ".build-id/11/11111111111111"

static const uint8_t one[] = {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11};

static char *files; /* the directory that they are in */

static int make_files(void **state)
{
	(void)state;
	files = toolbox_dir();
	toolbox_write(files, "p.s", ".globl _start\n_start: ret\n");
	free(toolbox_run(files, "gcc -g -nostdlib -c p.s && ld -o one --build-id=" ONE
				" p.o && ld -o two --build-id=" TWO
				" p.o && ld -o none --build-id=none p.o && rm p.o p.s"));
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	toolbox_remove(files);
	return 0;
}

/* A directory with a copy of them, where commands have been run. */
static char *prepare(const char *commands)
{
	char *dir = toolbox_dir();

	free(toolbox_run(dir, "cp %s/* . ; %s", files, *commands ? commands : ":"));
	return dir;
}

/* ---- images ---- */

struct place {
	const char *commands; /* in the directory, with its files */
	const char *path;     /* "D" begins the directory's */
	bool symfs, cache, accept_mismatch;
	unsigned buildid_size; /* of the recorded one, which is that of "one" */
	enum vt_errcode code;
	bool verified;
	const char *found; /* or the text of the error; "D" is the directory */
};

static const struct place places[] = {
	/* As it was recorded. */
	{"", "D/one", .buildid_size = 8, .verified = true, .found = "D/one"},
	{"", "D/one", .buildid_size = 0, .found = "D/one"},
	{"", "D/none", .buildid_size = 8, .found = "D/none"},
	{"", "D/gone", .buildid_size = 8, .code = VT_E_NOTFOUND, .found = "D/gone: no such file"},
	{"", "D", .buildid_size = 0, .code = VT_E_NOTFOUND, .found = "D: no such file"},
	{"", "D/one/x", .buildid_size = 0, .code = VT_E_NOTFOUND, .found = "D/one/x: no such file"},
	{"", "D/two", .buildid_size = 8, .code = VT_E_MISMATCH,
	 .found = "D/two has build-id 2222222222222222, but 1111111111111111 was recorded"},
	{"", "D/two", .buildid_size = 8, .accept_mismatch = true, .found = "D/two"},
	{"ln -s loop loop", "D/loop", .buildid_size = 0, .code = VT_E_READ,
	 .found = "D/loop: Too many levels of symbolic links"},
	/* A name in brackets, or of no file; one that is relative. */
	{"", "[one]", .buildid_size = 8, .code = VT_E_NOTFOUND, .found = "[one]: no such file"},
	{"", "/D/one", .buildid_size = 8, .code = VT_E_NOTFOUND, .found = "/D/one: no such file"},
	{"", "one", .buildid_size = 8, .verified = true, .found = "one"},
	{"", "one", .buildid_size = 0, .code = VT_E_NOTFOUND, .found = "one: no such file"},
	{"", "none", .buildid_size = 8, .code = VT_E_NOTFOUND, .found = "none: no such file"},
	/* Deleted: another one may have its name. */
	{"", "D/one (deleted)", .buildid_size = 8, .verified = true, .found = "D/one"},
	{"", "D/one (deleted)", .buildid_size = 0, .code = VT_E_NOTFOUND,
	 .found = "D/one (deleted): no such file"},
	{"mv one ' (deleted)'", " (deleted)", .buildid_size = 8, .verified = true,
	 .found = " (deleted)"},
	/* Below symfs: by its path, by its name alone, by its build-id. */
	{"mkdir -p fs/o && mv one fs/o/x && cp two fs/x", "/o/x", .symfs = true, .buildid_size = 8,
	 .verified = true, .found = "D/fs//o/x"},
	{"mkdir fs && mv one fs/x", "/o/x", .symfs = true, .buildid_size = 8, .verified = true,
	 .found = "D/fs/x"},
	{"mkdir fs && mv one fs/x", "x", .symfs = true, .buildid_size = 8, .verified = true,
	 .found = "D/fs/x"},
	{"mkdir -p fs/.build-id/11 && mv one fs/" ONE_D, "/o/x", .symfs = true, .buildid_size = 8,
	 .verified = true, .found = "D/fs/" ONE_D},
	{"mkdir -p fs/.build-id/11 && mv none fs/" ONE_D, "/o/x", .symfs = true, .buildid_size = 8,
	 .code = VT_E_NOTFOUND, .found = "/o/x: no such file"},
	{"mkdir fs && mv none fs/x", "/o/x", .symfs = true, .buildid_size = 8, .found = "D/fs/x"},
	/* A copy of perf's cache: directories by path, and links to them by build-id; verified. */
	{"mkdir -p fs/o/x/1 fs/.build-id/11 && ln -s ../../o/x/1 fs/" ONE_D
	 " && mv one fs/o/x/1/elf",
	 "/o/x", .symfs = true, .buildid_size = 8, .verified = true, .found = "D/fs/" ONE_D "/elf"},
	{"mkdir -p 'fs/[v]/1' fs/.build-id/11 && ln -s '../../[v]/1' fs/" ONE_D
	 " && mv one 'fs/[v]/1/vdso' && cp two 'fs/[v]/1/elf'",
	 "[v]", .symfs = true, .buildid_size = 8, .verified = true, .found = "D/fs/" ONE_D "/vdso"},
	{"mkdir -p fs/" ONE_D " && mv none fs/" ONE_D "/elf", "/o/x", .symfs = true,
	 .buildid_size = 8, .code = VT_E_NOTFOUND, .found = "/o/x: no such file"},
	{"mkdir -p fs/" ONE_D " && mv two fs/" ONE_D "/elf", "/o/x", .symfs = true,
	 .buildid_size = 8, .code = VT_E_MISMATCH,
	 .found = "D/fs/" ONE_D
		  "/elf has build-id 2222222222222222, but 1111111111111111 was recorded"},
	{"mkdir -p fs/.build-id && mv one fs/.build-id/elf", "/o/x", .symfs = true,
	 .buildid_size = 0, .code = VT_E_NOTFOUND, .found = "/o/x: no such file"},
	{"mkdir -p fs/" ONE_D " c/" ONE_D " && cp one fs/" ONE_D "/elf && mv one c/" ONE_D "/elf",
	 "/o/x", .symfs = true, .cache = true, .buildid_size = 8, .verified = true,
	 .found = "D/fs/" ONE_D "/elf"},
	/* Outside of it only what has the build-id. */
	{"mkdir fs", "D/one", .symfs = true, .buildid_size = 8, .verified = true, .found = "D/one"},
	{"mkdir fs", "D/none", .symfs = true, .buildid_size = 8, .code = VT_E_NOTFOUND,
	 .found = "D/none: no such file"},
	/* The cache: three names, in this order; before the path. */
	{"mkdir -p c/" ONE_D " && mv one c/" ONE_D "/elf && cp two c/" ONE_D "/vdso", "D/two",
	 .cache = true, .buildid_size = 8, .verified = true, .found = "D/c/" ONE_D "/elf"},
	{"mkdir -p c/" ONE_D " && mv one c/" ONE_D "/vdso && cp two c/" ONE_D "/elf", "D/two",
	 .cache = true, .buildid_size = 8, .verified = true, .found = "D/c/" ONE_D "/vdso"},
	{"mkdir -p c/.build-id/11 && mv one c/" ONE_D, "D/two", .cache = true, .buildid_size = 8,
	 .verified = true, .found = "D/c/" ONE_D},
	{"mkdir -p c/" ONE_D " && cp none c/" ONE_D "/elf", "D/one", .cache = true,
	 .buildid_size = 8, .found = "D/c/" ONE_D "/elf"},
	/* A byte of a build-id is no place in it. */
	{"mkdir -p c/.build-id/11 && cp one c/.build-id/11/elf && cp one c/.build-id/11/", "D/gone",
	 .cache = true, .buildid_size = 1, .code = VT_E_NOTFOUND, .found = "D/gone: no such file"},
	{"mkdir -p c/.build-id/11/11 && cp none c/.build-id/11/11/elf", "D/gone", .cache = true,
	 .buildid_size = 2, .found = "D/c/.build-id/11/11/elf"},
	/* The first that is wrong is told of, but another build-id before what is no ELF file. */
	{"mkdir -p fs/o && echo x >fs/o/x && echo y >fs/x", "/o/x", .symfs = true,
	 .buildid_size = 8, .code = VT_E_FORMAT, .found = "D/fs//o/x: not an ELF file"},
	{"mkdir -p fs/o && echo x >fs/o/x && cp two fs/x", "/o/x", .symfs = true, .buildid_size = 8,
	 .code = VT_E_MISMATCH,
	 .found = "D/fs/x has build-id 2222222222222222, but 1111111111111111 was recorded"},
	{"mkdir -p fs/o && cp two fs/o/x && cp two fs/x", "/o/x", .symfs = true, .buildid_size = 8,
	 .code = VT_E_MISMATCH,
	 .found = "D/fs//o/x has build-id 2222222222222222, but 1111111111111111 was recorded"},
	{"mkdir -p fs/o && cp two fs/o/x && echo y >fs/x", "/o/x", .symfs = true, .buildid_size = 8,
	 .code = VT_E_MISMATCH,
	 .found = "D/fs//o/x has build-id 2222222222222222, but 1111111111111111 was recorded"},
	/* Another build-id is taken only if the right one is nowhere; the first of several. */
	{"mkdir -p fs/o && cp two fs/o/x && mv one fs/x", "/o/x", .symfs = true,
	 .accept_mismatch = true, .buildid_size = 8, .verified = true, .found = "D/fs/x"},
	{"mkdir -p fs/o && cp two fs/o/x && cp two fs/x", "/o/x", .symfs = true,
	 .accept_mismatch = true, .buildid_size = 8, .found = "D/fs//o/x"},
};

/* A text with the directory for each "D". */
static const char *expand(const char *text, const char *dir)
{
	static char texts[2][600];
	static unsigned next;
	char *to = texts[next++ % 2];
	size_t n = 0;

	for (; *text; text++)
		n += (size_t)snprintf(to + n, sizeof(texts[0]) - n, *text == 'D' ? "%s" : "%.1s",
				      *text == 'D' ? dir : text);
	to[n] = '\0';
	return to;
}

static void images(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(places); i++) {
		const struct place *p = &places[i];
		char *dir = prepare(p->commands), *here;
		const struct vt_find_options opt = {
			.symfs = p->symfs ? toolbox_path(dir, "fs") : NULL,
			.buildid_cache = p->cache ? toolbox_path(dir, "c") : NULL,
			.accept_mismatch = p->accept_mismatch,
		};
		struct vt_error err = VT_ERROR_INIT;
		bool verified = !p->verified;
		struct vt_elf *elf;

		here = toolbox_enter(dir);
		elf = vt_find_image(&opt, expand(p->path, dir), one, p->buildid_size, &verified,
				    &err);
		toolbox_leave(here);
		assert_string_equal(elf ? vt_elf_info(elf)->path : err.text, expand(p->found, dir));
		assert_int_equal(err.code, p->code);
		assert_int_equal(verified, p->verified);
		vt_elf_close(elf);
		toolbox_remove(dir);
	}
}

/* ---- debug files ---- */

/* "one" has lost what the debug file has: by build-id, or by a link whose checksum must fit. */
#define STRIP "objcopy --only-keep-debug one one.debug && strip one && "
#define LINK  STRIP "objcopy --add-gnu-debuglink=one.debug one && "

static const struct {
	const char *commands;
	bool symfs, cache, dirs; /* directories for debug files: D/a and D/b */
	bool accept_mismatch;
	bool elf;
	const char *path;  /* by which the program is opened */
	const char *found; /* NULL: none */
} debugs[] = {
	{STRIP "mkdir -p fs/.build-id/11 && mv one.debug fs/" ONE_D ".debug", .symfs = true,
	 .found = "D/fs/" ONE_D ".debug"},
	{STRIP "mkdir -p fs/" ONE_D " && mv one.debug fs/" ONE_D "/debug", .symfs = true,
	 .found = "D/fs/" ONE_D "/debug"},
	{STRIP "mkdir -p fs/" ONE_D " && mv two fs/" ONE_D "/debug", .symfs = true},
	{STRIP "mkdir -p fs/" ONE_D " && cp one.debug fs/" ONE_D ".debug && mv one.debug fs/" ONE_D
	       "/debug",
	 .symfs = true, .found = "D/fs/" ONE_D ".debug"},
	{STRIP "mkdir -p fs/D/b/.build-id/11 && mv one.debug fs/D/b/" ONE_D ".debug", .symfs = true,
	 .dirs = true, .found = "D/fsD/b/" ONE_D ".debug"},
	{STRIP "mkdir -p fs/D/b/.build-id/11 && mv one.debug fs/D/b/" ONE_D ".debug",
	 .symfs = true},
	{STRIP "mkdir -p fs/D/a/.build-id/11 fs/D/b && mv one.debug fs/D/a/" ONE_D ".debug",
	 .symfs = true, .dirs = true, .found = "D/fsD/a/" ONE_D ".debug"},
	{STRIP "mkdir -p b/.build-id/11 && mv one.debug b/" ONE_D ".debug", .dirs = true,
	 .found = "D/b/" ONE_D ".debug"},
	{STRIP "mkdir -p a/.build-id/11 b/.build-id/11 && cp one.debug a/" ONE_D
	       ".debug && mv one.debug b/" ONE_D ".debug",
	 .dirs = true, .found = "D/a/" ONE_D ".debug"},
	{STRIP "mkdir -p b/.build-id/11 && cp two b/" ONE_D ".debug", .dirs = true},
	{STRIP "mkdir -p b/.build-id/11 && cp two b/" ONE_D ".debug", .dirs = true,
	 .accept_mismatch = true},
	{STRIP "mkdir -p c/" ONE_D " && mv one.debug c/" ONE_D "/debug", .cache = true,
	 .found = "D/c/" ONE_D "/debug"},
	{STRIP "mkdir -p c/" ONE_D " b/.build-id/11 && cp one.debug b/" ONE_D
	       ".debug && mv one.debug c/" ONE_D "/debug",
	 .cache = true, .dirs = true, .found = "D/b/" ONE_D ".debug"},
	/* Beside it, in .debug there, below the directories; by its whole path only. */
	{LINK ":", .elf = true, .path = "D/one", .found = "D/one.debug"},
	{LINK ":", .path = "D/one"},
	{LINK ":", .elf = true, .path = "one", .found = "./one.debug"},
	{LINK "mkdir .debug && mv one.debug .debug", .elf = true, .path = "D/one",
	 .found = "D/.debug/one.debug"},
	{LINK "mkdir .debug && cp one.debug .debug", .elf = true, .path = "D/one",
	 .found = "D/one.debug"},
	{LINK "mkdir -p bD && mv one.debug bD", .elf = true, .dirs = true, .path = "D/one",
	 .found = "D/bD/one.debug"},
	{LINK "mkdir -p b/. && mv one.debug b", .elf = true, .dirs = true, .path = "one"},
	{LINK "printf x >>one.debug", .elf = true, .path = "D/one"},
	{LINK "cp one.debug x && printf x >>one.debug && mkdir .debug && mv x .debug/one.debug",
	 .elf = true, .path = "D/one", .found = "D/.debug/one.debug"},
	/* The name leads nowhere else. */
	{LINK "mkdir x && mv one.debug x/e.debug && sed -i s,one.debug,x/e.debug, one", .elf = true,
	 .path = "D/one"},
	{STRIP ":", .elf = true, .path = "D/one"},
};

static void debug_files(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(debugs); i++) {
		char *dir = prepare(":"), *here;
		char a[300], b[300];
		const char *const dirs[] = {a, b};
		const struct vt_find_options opt = {
			.symfs = debugs[i].symfs ? toolbox_path(dir, "fs") : NULL,
			.buildid_cache = debugs[i].cache ? toolbox_path(dir, "c") : NULL,
			.debugdirs = dirs,
			.ndebugdirs = debugs[i].dirs ? 2 : 0,
			.accept_mismatch = debugs[i].accept_mismatch,
		};
		struct vt_error err = VT_ERROR_INIT;
		struct vt_elf *elf = NULL, *debug;

		snprintf(a, sizeof(a), "%s/a", dir);
		snprintf(b, sizeof(b), "%s/b", dir);
		free(toolbox_run(dir, "%s", expand(debugs[i].commands, dir)));
		here = toolbox_enter(dir);
		if (debugs[i].elf)
			elf = vt_elf_open(expand(debugs[i].path, dir), &err);
		debug = vt_find_debug(&opt, elf, one, sizeof(one), &err);
		toolbox_leave(here);
		assert_int_equal(elf != NULL, debugs[i].elf);
		assert_string_equal(debug ? vt_elf_info(debug)->path : err.text,
				    debugs[i].found ? expand(debugs[i].found, dir)
						    : "debug file: no such file");
		assert_int_equal(err.code, debugs[i].found ? VT_OK : VT_E_NOTFOUND);
		vt_elf_close(debug);
		vt_elf_close(elf);
		toolbox_remove(dir);
	}
}

/* ---- what is fetched ---- */

/* A source that has one file. */
struct source {
	const char *path; /* NULL: none */
	unsigned asked;
	size_t buildid_size;
	enum vt_find_kind kind;
};

static char *fetch(void *arg, const uint8_t *buildid, size_t buildid_size, enum vt_find_kind kind)
{
	struct source *s = arg;

	s->asked++;
	s->buildid_size = buildid_size;
	s->kind = kind;
	assert_memory_equal(buildid, one, buildid_size);
	return s->path ? strdup(s->path) : NULL;
}

/* An image is fetched if it is nowhere else, and has to be the one. */
static void fetched_images(void **state)
{
	static const struct {
		const char *commands, *path, *kept;
		unsigned buildid_size, asked;
		const char *found; /* or the error */
		bool accept_mismatch;
	} rows[] = {
		{"mkdir k && mv one k", "D/one", "D/k/one", 8, 1, "D/k/one", false},
		{"mkdir k && mv one k", "[one]", "D/k/one", 8, 1, "D/k/one", false},
		{"mkdir k && mv one k && mv two one", "D/one", "D/k/one", 8, 1, "D/k/one", true},
		{"mkdir k && cp one k", "D/one", "D/k/one", 8, 0, "D/one", false},
		{"mkdir k && mv one k", "D/one", "D/k/one", 0, 0, "D/one: no such file", false},
		{"mkdir k && mv one k", "D/one", "D/k/one", 1, 0, "D/one: no such file", false},
		{"rm one", "D/one", NULL, 8, 1, "D/one: no such file", false},
		{"rm one", "D/one", "D/one", 8, 1, "D/one: no such file", false},
		{"rm one", "D/one", "D/none", 8, 1, "D/one: no such file", false},
		{"rm one", "D/one", "D/two", 8, 1,
		 "D/two has build-id 2222222222222222, but 1111111111111111 was recorded", false},
		{"mkdir k && mv one k && strip --only-keep-debug k/one", "D/one", "D/k/one", 8, 1,
		 "D/k/one has debug information only, not the code", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		char *dir = prepare(rows[i].commands);
		struct source source = {.path = NULL};
		const struct vt_find_options opt = {.fetch = fetch,
						    .fetch_arg = &source,
						    .accept_mismatch = rows[i].accept_mismatch};
		struct vt_error err = VT_ERROR_INIT;
		bool verified;
		struct vt_elf *elf;

		if (rows[i].kept)
			source.path = toolbox_path(dir, rows[i].kept + 2);
		elf = vt_find_image(&opt, expand(rows[i].path, dir), one, rows[i].buildid_size,
				    &verified, &err);
		assert_string_equal(elf ? vt_elf_info(elf)->path : err.text,
				    expand(rows[i].found, dir));
		assert_int_equal(source.asked, rows[i].asked);
		if (source.asked) {
			assert_int_equal(source.buildid_size, 8);
			assert_int_equal(source.kind, VT_FIND_CODE);
			assert_int_equal(verified, elf != NULL);
		}
		vt_elf_close(elf);
		toolbox_remove(dir);
	}
}

/* So is debug information, but none of a kernel. */
static void fetched_debug_files(void **state)
{
	char *dir = prepare(STRIP "mkdir k && mv one.debug two k");
	struct source source = {.path = toolbox_path(dir, "k/one.debug")};
	const struct vt_find_options opt = {.fetch = fetch, .fetch_arg = &source};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_elf *elf = vt_elf_open(toolbox_path(dir, "one"), &err), *debug;

	(void)state;
	debug = vt_find_debug(&opt, elf, one, sizeof(one), &err);
	assert_string_equal(vt_elf_info(debug)->path, toolbox_path(dir, "k/one.debug"));
	assert_int_equal(source.asked, 1);
	assert_int_equal(source.kind, VT_FIND_DEBUG);
	vt_elf_close(debug);
	source.path = toolbox_path(dir, "k/two");
	assert_null(vt_find_debug(&opt, elf, one, sizeof(one), &err));
	assert_int_equal(err.code, VT_E_NOTFOUND);
	assert_int_equal(source.asked, 2);
	assert_null(vt_find_vmlinux(&opt, one, sizeof(one), &err));
	assert_int_equal(source.asked, 2);
	vt_elf_close(elf);
	toolbox_remove(dir);
}

/* ---- the kernel ---- */

static void kernels(void **state)
{
	static const struct {
		const char *commands;
		bool cache, dirs;
		const char *found;
		bool symfs;
	} rows[] = {
		{"mkdir -p fs/" ONE_D " c/" ONE_D " && cp one fs/" ONE_D "/elf && mv one c/" ONE_D
		 "/elf",
		 true, true, "D/fs/" ONE_D "/elf", true},
		{"mkdir -p fs/" ONE_D " && mv none fs/" ONE_D "/elf", true, true, NULL, true},
		{"mkdir -p fs/.build-id/11 && mv one fs/" ONE_D ".debug", true, true,
		 "D/fs/" ONE_D ".debug", true},
		{"mkdir -p fs/" ONE_D " && mv one fs/" ONE_D "/debug", false, false,
		 "D/fs/" ONE_D "/debug", true},
		{"mkdir -p c/" ONE_D " && mv one c/" ONE_D "/elf", true, true, "D/c/" ONE_D "/elf",
		 false},
		{"mkdir -p a/.build-id/11 && mv one a/" ONE_D ".debug", true, true,
		 "D/a/" ONE_D ".debug", false},
		{"mkdir -p a/.build-id/11 && mv one a/" ONE_D ".debug", true, false, NULL, false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		char *dir = prepare(rows[i].commands);
		const char *const dirs[] = {toolbox_path(dir, "a")};
		const struct vt_find_options opt = {
			.symfs = rows[i].symfs ? toolbox_path(dir, "fs") : NULL,
			.buildid_cache = rows[i].cache ? toolbox_path(dir, "c") : NULL,
			.debugdirs = dirs,
			.ndebugdirs = rows[i].dirs,
		};
		struct vt_error err = VT_ERROR_INIT;
		struct vt_elf *elf = vt_find_vmlinux(&opt, one, sizeof(one), &err);

		assert_int_equal(elf != NULL, rows[i].found != NULL);
		if (elf)
			assert_string_equal(vt_elf_info(elf)->path, expand(rows[i].found, dir));
		else
			assert_int_equal(err.code, VT_E_NOTFOUND);
		vt_elf_close(elf);
		toolbox_remove(dir);
	}
}

#define LISTED "[kernel.kallsyms]/1111111111111111"

/*
 * A list of the kernel's symbols: by either name of perf's cache below symfs, then in the cache,
 * then as the kernel of a mirror.
 */
static void kallsyms(void **state)
{
	static const struct {
		bool cached, listed, symfs; /* where there is one */
		bool cache, mirror;	    /* where is looked */
		unsigned buildid_size;
		const char *text;
		bool symfs_cached, symfs_listed;
	} rows[] = {
		{true, true, true, true, true, 8, "fs cached", true, true},
		{true, true, true, true, true, 8, "fs listed", false, true},
		{true, true, true, true, true, 0, "symfs", true, true},
		{true, true, true, true, false, 8, "cached", true, true},
		{false, false, false, false, true, 8, "fs listed", false, true},
		{false, false, false, false, true, 0, NULL, true, true},
		{true, true, true, true, true, 8, "cached", false, false},
		{false, true, true, true, true, 8, "listed", false, false},
		{false, false, true, true, true, 8, "symfs", false, false},
		{true, true, true, false, true, 8, "symfs", false, false},
		{true, true, true, true, true, 0, "symfs", false, false},
		{true, true, true, true, true, 1, "symfs", false, false},
		{true, true, true, false, false, 8, NULL, false, false},
		{true, true, true, true, false, 0, NULL, false, false},
		{false, false, false, true, true, 8, NULL, false, false},
	};
	size_t i, size = 0;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		char *dir = toolbox_dir(), *text;
		const struct vt_find_options opt = {
			.buildid_cache = rows[i].cache ? toolbox_path(dir, "c") : NULL,
			.symfs = rows[i].mirror ? toolbox_path(dir, "fs") : NULL,
		};
		struct vt_error err = VT_ERROR_INIT;

		free(toolbox_run(dir, "mkdir -p c/" ONE_D " 'c/" LISTED "' 'fs/" LISTED
				      "' fs/" ONE_D " fs/proc"));
		if (rows[i].symfs_cached)
			toolbox_write(dir, "fs/" ONE_D "/kallsyms", "fs cached");
		if (rows[i].symfs_listed)
			toolbox_write(dir, "fs/" LISTED "/kallsyms", "fs listed");
		if (rows[i].cached)
			toolbox_write(dir, "c/" ONE_D "/kallsyms", "cached");
		if (rows[i].listed)
			toolbox_write(dir, "c/" LISTED "/kallsyms", "listed");
		if (rows[i].symfs)
			toolbox_write(dir, "fs/proc/kallsyms", "symfs");
		text = vt_find_kallsyms(&opt, one, rows[i].buildid_size, &size, &err);
		assert_int_equal(text != NULL, rows[i].text != NULL);
		if (text) {
			assert_string_equal(text, rows[i].text);
			assert_int_equal(size, strlen(text));
		} else {
			assert_int_equal(err.code, VT_E_NOTFOUND);
		}
		free(text);
		toolbox_remove(dir);
	}
}

/* The build-id of the kernel that runs, of which it tells in a note; false: it does not. */
static bool running_buildid(uint8_t id[20])
{
	static const uint8_t head[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
	FILE *f = fopen("/sys/kernel/notes", "rb");
	uint8_t notes[4096];
	size_t n = f ? fread(notes, 1, sizeof(notes), f) : 0, i;

	if (f)
		fclose(f);
	for (i = 0; i + sizeof(head) + 20 <= n; i += 4)
		if (memcmp(notes + i, head, sizeof(head)) == 0) {
			memcpy(id, notes + i + sizeof(head), 20);
			return true;
		}
	return false;
}

static void kallsyms_of_the_running_kernel(void **state)
{
	const struct vt_find_options opt = {.symfs = NULL};
	struct vt_error err = VT_ERROR_INIT;
	uint8_t id[20] = {0};
	size_t size;
	char *text;

	(void)state;
	if (!running_buildid(id) || access("/proc/kallsyms", R_OK) != 0)
		skip();
	text = vt_find_kallsyms(&opt, id, sizeof(id), &size, &err);
	assert_non_null(text);
	assert_non_null(strstr(text, " _text\n"));
	free(text);
	/* Its memory can be read or not, but it is asked for. */
	vt_kcore_close(vt_find_kcore(&opt, id, sizeof(id), 0x1000, 0x2000, &err));
	assert_memory_equal(err.text, "/proc/kcore: ", 13);
	id[19] ^= 1;
	assert_null(vt_find_kcore(&opt, id, sizeof(id), 0x1000, 0x2000, &err));
	assert_string_equal(err.text, "/proc/kcore is not that kernel's");
	assert_null(vt_find_kallsyms(&opt, id, sizeof(id), &size, &err));
	assert_int_equal(err.code, VT_E_NOTFOUND);
	assert_null(vt_find_kallsyms(&opt, id, 0, &size, &err));
	assert_string_equal(err.text, "no kallsyms of kernel without build-id");
}

/* ---- files ---- */

static void reading(void **state)
{
	char *dir = toolbox_dir(), *text;
	struct vt_error err = VT_ERROR_INIT;
	size_t size = 7, i;

	(void)state;
	free(toolbox_run(dir,
			 ": >empty; printf abc >three; head -c 200000 /dev/zero | tr '\\0' x >x"));
	text = vt_find_read(toolbox_path(dir, "empty"), 0, &size, &err);
	assert_string_equal(text, "");
	assert_int_equal(size, 0);
	free(text);
	text = vt_find_read(toolbox_path(dir, "three"), 3, &size, &err);
	assert_string_equal(text, "abc");
	assert_int_equal(size, 3);
	free(text);
	text = vt_find_read(toolbox_path(dir, "x"), 1 << 20, &size, &err);
	assert_int_equal(size, 200000);
	for (i = 0; i < size; i++)
		assert_int_equal(text[i], 'x');
	assert_int_equal(text[size], 0);
	free(text);
	assert_int_equal(err.code, VT_OK);
	assert_null(vt_find_read(toolbox_path(dir, "three"), 2, &size, &err));
	assert_int_equal(err.code, VT_E_LIMIT);
	assert_string_equal(err.text, expand("D/three: more than 2 bytes", dir));
	assert_null(vt_find_read(toolbox_path(dir, "none"), 2, &size, &err));
	assert_int_equal(err.code, VT_E_NOTFOUND);
	assert_string_equal(err.text, expand("D/none: No such file or directory", dir));
	assert_null(vt_find_read(toolbox_path(dir, "three/x"), 2, &size, &err));
	assert_int_equal(err.code, VT_E_NOTFOUND);
	assert_null(vt_find_read(dir, 2, &size, &err));
	assert_int_equal(err.code, VT_E_READ);
	assert_string_equal(err.text, expand("D: Is a directory", dir));
	/* A file that opens, but cannot be read. */
	assert_null(vt_find_read("/proc/self/mem", 2, &size, &err));
	assert_int_equal(err.code, VT_E_READ);
	assert_string_equal(err.text, "/proc/self/mem: Input/output error");
	toolbox_remove(dir);
}

/* A name that is longer than any file's is that of none. */
static void long_names(void **state)
{
	const struct vt_find_options opt = {.symfs = NULL};
	struct vt_error err = VT_ERROR_INIT;
	char path[302] = "/";
	bool verified;

	(void)state;
	memset(path + 1, 'x', 300);
	assert_null(vt_find_image(&opt, path, one, 8, &verified, &err));
	assert_int_equal(err.code, VT_E_NOTFOUND);
}

static void options_that_cannot_be_meant(void **state)
{
	struct vt_find_options opt = {.symfs = NULL};
	struct vt_error err = VT_ERROR_INIT;

	(void)state;
	assert_int_equal(vt_find_check(&opt, &err), 0);
	opt.symfs = files;
	assert_int_equal(vt_find_check(&opt, &err), 0);
	opt.symfs = toolbox_path(files, "one");
	assert_int_equal(vt_find_check(&opt, &err), -VT_E_READ);
	assert_string_equal(err.text, expand("D/one: Not a directory", files));
}

/* What the kernel calls memory that no file has, and what is one. */
static void test_types(void **state)
{
	static const struct {
		const char *path;
		enum vt_image_type type;
	} rows[] = {
		{"[vdso]", VT_IMAGE_VDSO},
		{"[vsyscall]", VT_IMAGE_VDSO},
		{"[heap]", VT_IMAGE_ANON},
		{"[anon:code]", VT_IMAGE_ANON},
		{"", VT_IMAGE_ANON},
		{"//anon", VT_IMAGE_ANON},
		{"/dev/zero (deleted)", VT_IMAGE_ANON},
		{"/anon_hugepage (deleted)", VT_IMAGE_ANON},
		{"/SYSV00000000 (deleted)", VT_IMAGE_ANON},
		{"anon_inode:[perf_event]", VT_IMAGE_ANON},
		{"/memfd:code (deleted)", VT_IMAGE_ANON},
		{"/memfd", VT_IMAGE_FILE},
		{"/tmp/ffi (deleted)", VT_IMAGE_FILE},
		{"/usr/bin/x", VT_IMAGE_FILE},
		{"x", VT_IMAGE_FILE},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(vt_find_type(rows[i].path, strlen(rows[i].path)), rows[i].type);
	/* The name ends where its size says. */
	assert_int_equal(vt_find_type("/memfd:", 6), VT_IMAGE_FILE);
	assert_int_equal(vt_find_type("/x", 0), VT_IMAGE_ANON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(images),
		cmocka_unit_test(debug_files),
		cmocka_unit_test(kernels),
		cmocka_unit_test(kallsyms),
		cmocka_unit_test(kallsyms_of_the_running_kernel),
		cmocka_unit_test(reading),
		cmocka_unit_test(options_that_cannot_be_meant),
		cmocka_unit_test(long_names),
		cmocka_unit_test(fetched_images),
		cmocka_unit_test(fetched_debug_files),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
