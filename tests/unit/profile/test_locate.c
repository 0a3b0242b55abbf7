/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What users mean by a name or an address: each way to say it, and what is told where it fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/locate.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

enum { PROG = 1, OTHER, LIB, WRONG, JIT, KMOD, FAR, NEVER, LIB2, LONE, TWICE, NOR };

/* 63 letters: with one more, as long as names may be that are compared. */
#define A7  "aaaaaaa"
#define A63 A7 A7 A7 A7 A7 A7 A7 A7 A7

static struct vt_error err;
static char *dir;
static struct scene s;

/* From 0x401000 on, 3 bytes each; 4 that are of none at 0x40101e; from 0x401022 on, 3 again. */
static const char program[] = ".text\n"
			      ".macro proc name\n.globl \\name\n.type \\name,@function\n"
			      "\\name: nop\nnop\nret\n.size \\name,.-\\name\n.endm\n"
			      "proc compute\nproc compare\nproc helper\nproc helper.cold\n"
			      "proc _Z3foov\nproc _Z3foov.cold\n"
			      "proc hold_a\nproc hold_b\nproc hold_c\nproc hold_d\n"
			      "nop\nnop\nnop\nret\n"
			      "proc _Z3bari\nproc _Z3barv\n"
			      "proc _Z3quxv.cold\nproc _Z3quxv\nproc _ZN1n3quxEv.cold\n"
			      "proc _Z3zapv.cold\nproc _Z3zapi.cold\n"
			      "proc _Z3tipv.cold\nproc _Z3tipv\n"
			      "proc " A63 "a\nproc b" A63 "a\nproc solo\n";

static void put_image(struct vt_writer *w, uint64_t id, enum vt_image_type type, const char *path,
		      const char *buildid)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = type;
	vt_writer_text(w, VT_IMAGE_PATH, path);
	vt_writer_text(w, VT_IMAGE_BUILDID, buildid);
}

/* Generated code of a process of its own, and `n` samples in it. */
static void put_other_process(struct vt_writer *w, uint64_t start, unsigned n)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = row[VT_MAP_TID] = 11;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x10000;
	row[VT_MAP_IMAGE] = TWICE;
	row[VT_MAP_PROT] = 5;
	row[VT_MAP_MISC] = 2;
	for (; n; n--) {
		row = vt_writer_row(w, VT_SAMPLE);
		row[VT_SAMPLE_EVENT] = 1;
		row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = 11;
		row[VT_SAMPLE_IP] = start + 0x100;
		row[VT_SAMPLE_MISC] = 2;
		row[VT_SAMPLE_PERIOD] = 1;
		row[VT_SAMPLE_HAS] = 0x101;
	}
}

static void make_files(void)
{
	dir = toolbox_dir();
	scene_program(dir, program);
	free(toolbox_run(dir, "cp prog other && as -o w.o prog.s && "
			      "ld --build-id=0x12345678 -e 0x401000 -o wrong w.o && "
			      "sed s/compare/onlyhere/ prog.s >k.s && as -o k.o k.s && "
			      "ld -e 0 -Ttext=0 -o kmod k.o && "
			      "strip -N _end -N _edata -N __bss_start kmod && "
			      "sed s/compare/farone/ prog.s >f.s && as -o f.o f.s && "
			      "ld -e 0x401000 -Ttext=0xc01100 -o f:ar f.o"));
}

/* Samples of two events in both programs, in what lies in no procedure, and in missing files. */
static int begin(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t at;

	(void)state;
	make_files();
	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	scene_event(w, 2, "misses", VT_POLICY_INTERRUPT);
	put_image(w, PROG, VT_IMAGE_FILE, toolbox_path(dir, "prog"), "");
	put_image(w, OTHER, VT_IMAGE_FILE, toolbox_path(dir, "other"), "");
	put_image(w, LIB, VT_IMAGE_FILE, "/no/such/lib.so", "");
	put_image(w, WRONG, VT_IMAGE_FILE, toolbox_path(dir, "wrong"), "\xab\xcd\xef\x01");
	put_image(w, JIT, VT_IMAGE_ANON, "", "");
	put_image(w, KMOD, VT_IMAGE_MODULE, toolbox_path(dir, "kmod"), "");
	put_image(w, FAR, VT_IMAGE_FILE, toolbox_path(dir, "f:ar"), "");
	put_image(w, NEVER, VT_IMAGE_FILE, "/never/sampled", "");
	put_image(w, LIB2, VT_IMAGE_FILE, "/no/such/lib2.so", "");
	put_image(w, LONE, VT_IMAGE_ANON, "", "");
	put_image(w, NOR, VT_IMAGE_FILE, "/nor/sampled", "");
	put_image(w, TWICE, VT_IMAGE_ANON, "", "");
	scene_map(w, 0x400000, PROG);
	scene_map(w, 0x500000, OTHER);
	scene_map(w, 0x600000, LIB);
	scene_map(w, 0x700000, WRONG);
	scene_map(w, 0x800000, JIT);
	scene_map(w, 0x850000, JIT);
	scene_map(w, 0xe00000, TWICE);
	scene_map(w, 0xa00000, KMOD);
	scene_map(w, 0xb00000, FAR);
	scene_map(w, 0xf00000, LIB2);
	scene_map(w, 0xd00000, LONE);
	/* The first of all places, where there is no other of the image. */
	scene_samples(w, 1, 0xd00100, 0, 1, 5);
	scene_samples(w, 1, 0x401000, 0, 1, 5);
	scene_samples(w, 2, 0x401001, 0, 1, 2);
	scene_samples(w, 1, 0x401003, 0, 1, 3);
	scene_samples(w, 1, 0x401006, 0, 1, 4);
	scene_samples(w, 1, 0x401009, 0, 1, 1);
	scene_samples(w, 1, 0x40100c, 0, 1, 1);
	scene_samples(w, 1, 0x40100f, 0, 1, 3);
	scene_samples(w, 1, 0x401012, 0, 1, 11);
	scene_samples(w, 1, 0x401015, 0, 1, 12);
	scene_samples(w, 1, 0x401018, 0, 1, 13);
	scene_samples(w, 1, 0x40101b, 0, 1, 14);
	scene_samples(w, 1, 0x40101e, 0, 1, 1);
	scene_samples(w, 1, 0x40101f, 0, 1, 1);
	scene_samples(w, 1, 0x401022, 0, 1, 2);
	scene_samples(w, 1, 0x401025, 0, 1, 3);
	for (at = 0x401028; at <= 0x401037; at += 3)
		scene_samples(w, 1, at, 0, 1, 1);
	scene_samples(w, 1, 0x40103d, 0, 1, 1);
	scene_samples(w, 1, 0x401040, 0, 1, 1);
	scene_samples(w, 1, 0x50103a, 0, 1, 1);
	scene_samples(w, 1, 0x501003, 0, 1, 6);
	scene_samples(w, 1, 0x600010, 0, 1, 2);
	scene_samples(w, 1, 0x701000, 0, 1, 1);
	scene_samples(w, 1, 0x800100, 0, 1, 8);
	scene_samples(w, 1, 0x900000, 0, 1, 9);
	scene_samples(w, 1, 0x850100, 0, 1, 3);
	scene_samples(w, 1, 0xa01000, 0, 1, 2);
	scene_samples(w, 1, 0xa0101e, 0, 1, 1);
	scene_samples(w, 1, 0xb00103, 0, 1, 1);
	scene_samples(w, 1, 0xf00010, 0, 1, 1);
	scene_samples(w, 1, 0xf00020, 0, 1, 3);
	scene_samples(w, 1, 0x501043, 0, 1, 1);
	/* Two processes have code of their own at one address. */
	scene_samples(w, 1, 0xe00100, 0, 1, 1);
	put_other_process(w, 0xe00000, 7);
	/* Another image lies there at last, of which there are no samples. */
	scene_map(w, 0x850000, NEVER);
	scene_map(w, 0xd00000, NOR);
	scene_read(&s, fd, w, false);
	return 0;
}

static int end(void **state)
{
	(void)state;
	scene_drop(&s);
	toolbox_remove(dir);
	return 0;
}

/* ---- what is found ---- */

#define NONE "no such procedure in the images with samples; vprof lists them"

/* One procedure as one line: image, address, name or cause, samples. */
static void describe(const struct vt_procedure *p, char *text, size_t size)
{
	snprintf(text, size, "%u:%llx-%llx %s%s %llu", p->image, (unsigned long long)p->start,
		 (unsigned long long)p->end, p->symbol ? p->symbol : "",
		 p->symbol ? "" : vt_unknown_text(p->why), (unsigned long long)p->samples);
}

static void check(const char *what, const char *want)
{
	struct vt_found f = {NULL, 0, 0};
	char text[256];
	int code = vt_locate(s.profile, s.images, what, &f, &err);

	if (code != 0)
		fail_msg("%s: %s", what, err.text);
	if (f.count != 1)
		fail_msg("%s: %zu found", what, f.count);
	describe(&f.list[0], text, sizeof(text));
	assert_string_equal(text, want);
	vt_found_fini(&f);
	assert_true(!f.list && !f.count && !f.cap);
}

static void check_error(const char *what, int code, const char *want)
{
	struct vt_found f = {NULL, 0, 0};

	if (vt_locate(s.profile, s.images, what, &f, &err) != -code)
		fail_msg("%s: %zu found", what, f.count);
	assert_string_equal(scene_text(err.text, dir), want);
	vt_found_fini(&f);
}

static void check_two(const char *what, const char *first, const char *second)
{
	struct vt_found f = {NULL, 0, 0};
	char text[256];

	assert_int_equal(vt_locate(s.profile, s.images, what, &f, &err), -VT_E_AMBIGUOUS);
	assert_int_equal(f.count, 2);
	describe(&f.list[0], text, sizeof(text));
	assert_string_equal(text, first);
	describe(&f.list[1], text, sizeof(text));
	assert_string_equal(text, second);
	vt_found_fini(&f);
}

static void test_names(void **state)
{
	(void)state;
	/* Where one of two has samples, that is meant; of all events together. */
	check("compute", "1:401000-401003 compute 7");
	check("prog:compare", "1:401003-401006 compare 3");
	check("other:compare", "2:401003-401006 compare 6");
	check("other:compute", "2:401000-401003 compute 0");
	check("solo", "2:401043-401046 solo 1");
	/* A colon may be part of the image's name. */
	check("f:ar:farone", "7:c01103-c01106 farone 1");
	check(toolbox_path(dir, "other:compare"), "2:401003-401006 compare 6");
	check("helper.cold", "1:401009-40100c helper.cold 1");
	check_error("none:compute", VT_E_NOTFOUND, "none:compute: " NONE);
	check_error("pro:compute", VT_E_NOTFOUND, "pro:compute: " NONE);
	check_error("prog2:compute", VT_E_NOTFOUND, "prog2:compute: " NONE);
	check_error("prag:compute", VT_E_NOTFOUND, "prag:compute: " NONE);
	check_error("/no/such/lib.sa:x", VT_E_NOTFOUND, "/no/such/lib.sa:x: " NONE);
	check_error("prog:none", VT_E_NOTFOUND, "prog:none: " NONE);
}

/* All that it may be are told; what was found before stays. */
static void test_ambiguous(void **state)
{
	static const char *const want[] = {"2:401003-401006 compare 6",
					   "1:401003-401006 compare 3"};
	struct vt_found f = {NULL, 0, 0};
	char text[256];
	unsigned i;

	(void)state;
	assert_int_equal(vt_locate(s.profile, s.images, "compute", &f, &err), 0);
	assert_int_equal(vt_locate(s.profile, s.images, "compare", &f, &err), -VT_E_AMBIGUOUS);
	assert_string_equal(err.text, "compare: means 2 procedures");
	assert_int_equal(f.count, 3);
	for (i = 0; i < 2; i++) {
		describe(&f.list[i + 1], text, sizeof(text));
		assert_string_equal(text, want[i]);
	}
	/* The same again, as if nothing had been found before. */
	assert_int_equal(vt_locate(s.profile, s.images, "compute", &f, &err), 0);
	assert_int_equal(f.count, 4);
	describe(&f.list[3], text, sizeof(text));
	assert_string_equal(text, "1:401000-401003 compute 7");
	assert_int_equal(vt_locate(s.profile, s.images, "none", &f, &err), -VT_E_NOTFOUND);
	assert_int_equal(f.count, 4);
	vt_found_fini(&f);
}

/* Of the process; of a listing, where no process had it; within an image. */
static void test_addresses(void **state)
{
	(void)state;
	check("0x401000", "1:401000-401003 compute 7");
	check("0X401002", "1:401000-401003 compute 7");
	check("0x401003", "1:401003-401006 compare 3");
	check("0x501004", "2:401003-401006 compare 6");
	check("0x501000", "2:401000-401003 compute 0");
	check("0x40101f", "1:0-0 no symbol covers it 2");
	check("0x600020", "3:0-0 file not found 2");
	check("prog:0x401004", "1:401003-401006 compare 3");
	check("other:0x401004", "2:401003-401006 compare 6");
	check("prog:0x40101f", "1:0-0 no symbol covers it 2");
	check("prog:0x999999", "1:0-0 no symbol covers it 2");
	check("0x0000000000401000", "1:401000-401003 compute 7");
	/* What has no samples is not listed together. */
	check_error("0x50101f", VT_E_NOTFOUND, "0x50101f: " NONE);
	check_error("other:0x40101f", VT_E_NOTFOUND, "other:0x40101f: " NONE);
	check_error("0x999999999", VT_E_NOTFOUND, "0x999999999: " NONE);
	/* An offset in the file is none. */
	check_error("0x1003", VT_E_NOTFOUND, "0x1003: " NONE);
	/* No addresses. */
	check_error("0x", VT_E_NOTFOUND, "0x: " NONE);
	check_error("0x40100g", VT_E_NOTFOUND, "0x40100g: " NONE);
	check_error("1x401000", VT_E_NOTFOUND, "1x401000: " NONE);
	check_error("0y401000", VT_E_NOTFOUND, "0y401000: " NONE);
	check_error("0x00000000000401000", VT_E_NOTFOUND, "0x00000000000401000: " NONE);
}

static void test_causes(void **state)
{
	(void)state;
	check_two("[no symbol covers it]", "1:0-0 no symbol covers it 2",
		  "6:0-0 no symbol covers it 1");
	check("prog:[no symbol covers it]", "1:0-0 no symbol covers it 2");
	check_two("[file not found]", "9:0-0 file not found 4", "3:0-0 file not found 2");
	check("lib.so:[file not found]", "3:0-0 file not found 2");
	check("/no/such/lib.so:[file not found]", "3:0-0 file not found 2");
	/* An image of which nothing can be named is all of one piece. */
	check("lib.so:anything", "3:0-0 file not found 2");
	check("lib.so:0x10", "3:0-0 file not found 2");
	/* Not quite. */
	check_error("xfile not found]", VT_E_NOTFOUND, "xfile not found]: " NONE);
	check_error("[file not foundx", VT_E_NOTFOUND, "[file not foundx: " NONE);
	check_error("[fxle not found]", VT_E_NOTFOUND, "[fxle not found]: " NONE);
	check_error("[file not]", VT_E_NOTFOUND, "[file not]: " NONE);
	check_error("[]", VT_E_NOTFOUND, "[]: " NONE);
	check_error("]", VT_E_NOTFOUND, "]: " NONE);
	check_error("other:[no symbol covers it]", VT_E_NOTFOUND,
		    "other:[no symbol covers it]: " NONE);
}

/* Of the parts of a procedure that have its name for people, the whole one is meant. */
static void test_parts(void **state)
{
	(void)state;
	check("foo", "1:40100c-40100f _Z3foov 1");
	check("foo()", "1:40100c-40100f _Z3foov 1");
	check("_Z3foov.cold", "1:40100f-401012 _Z3foov.cold 3");
	/* Others have another name, or parameters; and there may be no whole one. */
	check_two("bar", "1:401025-401028 _Z3barv 3", "1:401022-401025 _Z3bari 2");
	check("qux", "1:40102b-40102e _Z3quxv 1");
	check_two("zap", "1:401031-401034 _Z3zapv.cold 1", "1:401034-401037 _Z3zapi.cold 1");
	check_two("tip", "2:40103a-40103d _Z3tipv 1", "1:401037-40103a _Z3tipv.cold 1");
}

/* All that a pattern matches, the most samples first. */
static void check_all(const char *what, const char *want)
{
	struct vt_found f = {NULL, 0, 0};
	char all[4096] = "", text[256];
	size_t i;

	assert_int_equal(vt_locate(s.profile, s.images, what, &f, &err), -VT_E_AMBIGUOUS);
	for (i = 0; i < f.count; i++) {
		describe(&f.list[i], text, sizeof(text));
		strcat(strcat(all, text), "\n");
	}
	assert_string_equal(all, want);
	vt_found_fini(&f);
}

static void test_patterns(void **state)
{
	static const char holds[] = "1:40101b-40101e hold_d 14\n1:401018-40101b hold_c 13\n"
				    "1:401015-401018 hold_b 12\n1:401012-401015 hold_a 11\n";

	(void)state;
	check_all("hold_*", holds);
	check_all("hold_?", holds);
	check_all("*old*_?", holds);
	check_all("/^hold_/", holds);
	check_all("/^hold_[a-d]$/", holds);
	check_all("prog:hold_*", holds);
	check_all("prog:/old_./", holds);
	check("hold_?#4", "1:401012-401015 hold_a 11");
	check("*_d", "1:40101b-40101e hold_d 14");
	check("/_c$/", "1:401018-40101b hold_c 13");
	check("/hold_(c|x+)/", "1:401018-40101b hold_c 13");
	check("*comp*re#2", "1:401003-401006 compare 3");
	/* Demangled names are matched. */
	check("ba?#1", "1:401025-401028 _Z3barv 3");
	check_error("_Z3ba?", VT_E_NOTFOUND, "_Z3ba?: " NONE);
	/* Of procedures that have samples. */
	check_error("other:com*te", VT_E_NOTFOUND, "other:com*te: " NONE);
	/* The kernel's come last. */
	check_all("*comp*e", "1:401000-401003 compute 7\n2:401003-401006 compare 6\n"
			     "1:401003-401006 compare 3\n");
	check("kmod:*comp*", "6:0-3 compute 2");
	check_error("mold*zzz", VT_E_NOTFOUND, "mold*zzz: " NONE);
	check_error("//", VT_E_NOTFOUND, "//: " NONE);
	check_error("/", VT_E_NOTFOUND, "/: " NONE);
	check_error("/hold_(/", VT_E_USAGE, "/hold_(/: Unmatched ( or \\(");
	check_error("prog:/hold_(/", VT_E_USAGE, "prog:/hold_(/: Unmatched ( or \\(");
}

/* One of several is meant by its number in the order in which they are told. */
static void test_numbers(void **state)
{
	(void)state;
	check("compare#1", "2:401003-401006 compare 6");
	check("compare#2", "1:401003-401006 compare 3");
	check("compute#1", "1:401000-401003 compute 7");
	check("prog:compare#1", "1:401003-401006 compare 3");
	check("[file not found]#2", "3:0-0 file not found 2");
	check("bar#2", "1:401022-401025 _Z3bari 2");
	check_error("compare#3", VT_E_USAGE, "compare#3: compare means 2 procedures");
	check_error("compare#0", VT_E_USAGE, "compare#0: compare means 2 procedures");
	check_error("solo#2", VT_E_USAGE, "solo#2: solo means 1 procedure");
	check_error("none#1", VT_E_NOTFOUND, "none#1: " NONE);
	check_error("compare#", VT_E_NOTFOUND,
		    "compare#: no such procedure; did you mean compare?");
	check_error("compare#x", VT_E_NOTFOUND,
		    "compare#x: no such procedure; did you mean compare?");
	check_error("compare#1x", VT_E_NOTFOUND,
		    "compare#1x: no such procedure; did you mean compare?");
	check_error("#1", VT_E_NOTFOUND, "#1: " NONE);
}

/* What is a name is looked for as such alone. */
static void test_names_alone(void **state)
{
	struct vt_found f = {NULL, 0, 0};

	(void)state;
	assert_int_equal(vt_locate_name(s.profile, s.images, "compare#1", &f, &err),
			 -VT_E_NOTFOUND);
	assert_int_equal(vt_locate_name(s.profile, s.images, "hold_*", &f, &err), -VT_E_NOTFOUND);
	assert_int_equal(vt_locate_name(s.profile, s.images, "/hold_d/", &f, &err), -VT_E_NOTFOUND);
	assert_int_equal(vt_locate_name(s.profile, s.images, "prog:hold_*", &f, &err),
			 -VT_E_NOTFOUND);
	assert_int_equal(vt_locate_name(s.profile, s.images, "prog:hold_d", &f, &err), 0);
	assert_int_equal(f.count, 1);
	vt_found_fini(&f);
}

/* Code that a program made, which is told by its address; modules of the kernel come last. */
static void test_kinds(void **state)
{
	(void)state;
	check_error("0x850104", VT_E_NOTFOUND, "0x850104: " NONE);
	check_error("0x850000", VT_E_NOTFOUND, "0x850000: " NONE);
	check("0x850100", "5:0-0 generated code without a perf map 11");
	check("0x800100", "5:0-0 generated code without a perf map 11");
	check("0xd00100", "10:0-0 generated code without a perf map 5");
	check("onlyhere", "6:3-6 onlyhere 0");
	check("0x3", "6:3-6 onlyhere 0");
	check("0xc01103", "7:c01103-c01106 farone 1");
	check("kmod:compute", "6:0-3 compute 2");
}

/* What lies in no procedure of one image is meant of all processes; of several images, it is not.
 */
static void test_rests(void **state)
{
	struct vt_found f = {NULL, 0, 0};
	char text[256];

	(void)state;
	assert_int_equal(vt_locate(s.profile, s.images, "compute", &f, &err), 0);
	assert_int_equal(vt_locate(s.profile, s.images, "0xe00100", &f, &err), 0);
	assert_int_equal(f.count, 3);
	describe(&f.list[1], text, sizeof(text));
	assert_string_equal(text, "11:0-0 generated code without a perf map 7");
	describe(&f.list[2], text, sizeof(text));
	assert_string_equal(text, "11:0-0 generated code without a perf map 1");
	assert_int_equal(
		vt_locate(s.profile, s.images, "[generated code without a perf map]", &f, &err),
		-VT_E_AMBIGUOUS);
	assert_int_equal(f.count, 3 + 4);
	vt_found_fini(&f);
}

/* The recorded file is not there, but another one of its name. */
static void test_mismatch(void **state)
{
	static const char no_file[] = "D/wrong: no file with the recorded build-id abcdef01";

	(void)state;
	check_error("0x701000", VT_E_MISMATCH, no_file);
	check_error("wrong:compute", VT_E_MISMATCH, no_file);
	check_error("[file has another build-id]", VT_E_MISMATCH, no_file);
}

/* Names with less than a third of their letters changed, and those that hold what is told. */
static void test_similar(void **state)
{
	static const char two[] = ": no such procedure; did you mean compare, compute?";
	static const struct {
		const char *what, *similar;
	} rows[] = {
		{"compote", two},
		{"compite", two},
		{"comp", two},
		{"omp", two},
		{"cxxpute", ": no such procedure; did you mean compute?"},
		{"cxxxute", ": " NONE},
		{"xmpute", ": no such procedure; did you mean compute?"},
		{"helpe", ": no such procedure; did you mean helper, helper.cold?"},
		{"elpers", ": no such procedure; did you mean helper?"},
		{"xxlper", ": no such procedure; did you mean helper?"},
		{"helpr", ": no such procedure; did you mean helper?"},
		{"hlper", ": no such procedure; did you mean helper?"},
		{"helpxxer", ": no such procedure; did you mean helper?"},
		{"helpxxxxer", ": " NONE},
		{"hold_", ": no such procedure; did you mean hold_d, hold_c, hold_b?"},
		{"pe", ": " NONE},
		{"xxxper", ": " NONE},
		{"x" A63, ": no such procedure; did you mean " A63 "a?"},
		{"ute", ": no such procedure; did you mean compute?"},
	};
	char want[256];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(want, sizeof(want), "%s%s", rows[i].what, rows[i].similar);
		check_error(rows[i].what, VT_E_NOTFOUND, want);
	}
	/* Of more than 64 letters, none is. */
	memset(want, 0, sizeof(want));
	memset(want, 'x', 65);
	assert_int_equal(vt_locate(s.profile, s.images, want, &(struct vt_found){NULL, 0, 0}, &err),
			 -VT_E_NOTFOUND);
	assert_string_equal(err.text + 65, ": " NONE);
}

/* What the rows of a ranking are: the first, and what has no symbol. */
static void test_ranks(void **state)
{
	struct vt_ranking *r = vt_ranking_new(s.profile, s.images, VT_LEVEL_PROCEDURE, &err);
	struct vt_procedure p;
	char text[256], all[4096] = "";
	size_t i, unmapped = 0;

	(void)state;
	assert_non_null(r);
	assert_int_equal(vt_ranking_sort(r, 0, false, &err), 0);
	for (i = 0; i < vt_ranking_count(r); i++) {
		if (!vt_procedure_of_rank(s.images, vt_ranking_at(r, i), &p)) {
			unmapped++;
			continue;
		}
		describe(&p, text, sizeof(text));
		strcat(strcat(all, text), "\n");
		assert_string_equal(p.name, p.symbol ? vt_ranking_at(r, i)->procedure : "");
	}
	assert_int_equal(unmapped, 1);
	assert_int_equal(strncmp(all, "1:40101b-40101e hold_d 0\n", 25), 0);
	assert_non_null(strstr(all, "\n2:401003-401006 compare 0\n"));
	assert_non_null(strstr(all, "\n1:40100c-40100f _Z3foov 0\n"));
	assert_non_null(strstr(all, "\n1:0-0 no symbol covers it 0\n"));
	assert_non_null(strstr(all, "\n3:0-0 file not found 0\n"));
	assert_non_null(strstr(all, "\n6:0-0 no symbol covers it 0\n"));
	assert_non_null(strstr(all, "\n5:0-0 generated code without a perf map 0\n"));
	vt_ranking_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	    cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_addresses),   cmocka_unit_test(test_causes),
		cmocka_unit_test(test_parts),	    cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_mismatch),    cmocka_unit_test(test_similar),
		cmocka_unit_test(test_ranks),	    cmocka_unit_test(test_rests),
		cmocka_unit_test(test_patterns),    cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_names_alone),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
