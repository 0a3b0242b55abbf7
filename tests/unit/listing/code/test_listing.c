/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Listings of one procedure: every row and cell of those of a small program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/disasm.h"
#include "listing/code/internal.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define MISSING_IMAGE 7
#define JIT	      8
#define ODD	      9

static struct vt_error err;
static char *dir;
static struct scene s;
static struct vt_event_choice events;
static struct vt_sources *sources;

/* Of f, 100 cycles and 4 misses; 7 and 4 cycles elsewhere; 3 in a file that is not there. */
static int begin(void **state)
{
	static const char *dirs[1];
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	dir = toolbox_dir();
	dirs[0] = dir;
	scene_program(dir, scene_walk);
	toolbox_write(dir, "a.c",
		      "1\n2\nlong f(long *p)\t{\n\tlong\t x = h(*p);\r\n\tg\r();\n}\n7\n8\n"
		      "void g(void) {}\n10\n");
	toolbox_write(dir, "b.h", "1\nadd\nmul\n4\n");
	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	scene_event(w, 2, "misses", VT_POLICY_INTERRUPT);
	scene_image(w, 1, toolbox_path(dir, "prog"));
	scene_image(w, MISSING_IMAGE, "/no/such/lib");
	vt_writer_text(w, VT_IMAGE_BUILDID, "\xab\xcd\xef");
	scene_map(w, 0x400000, 1);
	scene_map(w, 0x700000, MISSING_IMAGE);
	scene_samples(w, 1, 0x401000, 0, 1, 10);
	scene_samples(w, 1, 0x401004, 0, 1, 30);
	scene_samples(w, 1, 0x401005, 0, 1, 5);
	scene_samples(w, 1, 0x40101b, 0, 1, 55);
	scene_samples(w, 1, 0x40101c, 0, 1, 7);
	scene_samples(w, 1, 0x40101e, 0, 1, 4);
	scene_samples(w, 1, 0x700020, 0, 1, 2);
	scene_samples(w, 1, 0x700030, 0, 1, 1);
	scene_samples(w, 2, 0x401004, 0, 1, 3);
	scene_samples(w, 2, 0x401013, 0, 1, 1);
	scene_read(&s, fd, w, false);
	assert_int_equal(vt_event_choice_init(&events, s.profile, NULL, 0, &err), 0);
	sources = vt_sources_new(dirs, 1);
	return sources ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	vt_sources_free(sources);
	vt_event_choice_fini(&events);
	scene_drop(&s);
	toolbox_remove(dir);
	return 0;
}

/* ---- what is printed ---- */

static const struct vt_procedure f = {
	.image = 1, .start = 0x401000, .end = 0x40101c, .symbol = "f", .name = "f"};
static const struct vt_procedure g = {
	.image = 1, .start = 0x40101c, .end = 0x40101e, .symbol = "g", .name = "g"};
static const struct vt_procedure rest = {.image = 1, .name = "", .why = VT_UNKNOWN_NO_SYMBOL};
static const struct vt_procedure missing = {
	.image = MISSING_IMAGE, .name = "", .why = VT_UNKNOWN_NO_FILE};

static struct vt_listing *list(const struct vt_procedure *proc,
			       const struct vt_listing_options *opt)
{
	struct vt_listing *l = vt_listing_new(s.profile, s.images, proc, opt, &err);

	assert_non_null(l);
	return l;
}

static const char *table(const struct vt_listing *l, enum vt_list_view view,
			 enum vt_table_form form, bool color)
{
	struct vt_table *t = vt_table_new();
	const char *text;

	assert_non_null(t);
	vt_listing_columns(t, l, view, &events);
	vt_listing_rows(t, l, &events);
	text = print_table(t, form, color);
	vt_table_free(t);
	return scene_text(text, dir);
}

/* The rows as people see them. */
static void check(const struct vt_procedure *proc, const struct vt_listing_options *opt,
		  const char *want)
{
	struct vt_listing *l = list(proc, opt);

	assert_string_equal(table(l, opt->view, VT_TABLE_TEXT, false), want);
	vt_listing_free(l);
}

static void check_header(const struct vt_procedure *proc, const struct vt_listing_options *opt,
			 bool color, const char *want)
{
	struct vt_listing *l = list(proc, opt);
	struct vt_output out;

	print_begin(&out);
	vt_listing_header(l, s.profile, &events, color, &out);
	assert_string_equal(scene_text(print_end(&out), dir), want);
	vt_listing_free(l);
}

/* ---- assembly ---- */

#define KEYS                                                                                       \
	"cycles,cycles.percent,misses,misses.percent,address,shown_line,code,kind,file,line,"      \
	"function,inlined_into,procedure,image\n"

static void test_assembly(void **state)
{
	const struct vt_listing_options opt = {.view = VT_LIST_ASM};
	struct vt_listing *l = list(&f, &opt);

	(void)state;
	assert_string_equal(
		table(l, VT_LIST_ASM, VT_TABLE_CSV, false), KEYS
		"10,10,,,0x401000,,push   %rbx,instruction,/src/a.c,3,f,,f,D/prog\n"
		",,,,0x401001,,\"mov    (%rdi),%rbx\",instruction,/src/a.c,4,f,,f,D/prog\n"
		"30,30,3,75,0x401004,,\"add    $0x1,%rbx\",instruction,/src/b.h,2,h,,f,D/prog\n"
		"5,5,,,0x401005,,[not the start of an instruction],inside,/src/b.h,2,h,,f,D/prog\n"
		",,,,0x401008,,\"imul   %rbx,%rbx\",instruction,/src/b.h,3,h,,f,D/prog\n"
		",,,,0x40100c,,je     401000 <f>,instruction,/src/a.c,4,f,,f,D/prog\n"
		",,,,0x40100e,,call   40101c <g>,instruction,/src/a.c,5,f,,f,D/prog\n"
		",,1,25,0x401013,,\"mov    0x10(%rip),%rax        # 40102a\",instruction,"
		"/src/a.c,5,f,,f,D/prog\n"
		",,,,0x40101a,,pop    %rbx,instruction,/src/a.c,6,f,,f,D/prog\n"
		"55,55,,,0x40101b,,ret,instruction,/src/a.c,6,f,,f,D/prog\n");
	/* What other programs read of the rows. */
	assert_int_equal(vt_listing_nrows(l), 10);
	assert_int_equal(vt_listing_row(l, 0)->size, 1);
	assert_int_equal(vt_listing_row(l, 1)->size, 3);
	assert_int_equal(vt_listing_row(l, 3)->size, 0);
	assert_int_equal(vt_listing_row(l, 5)->type, VT_INSN_CONDITIONAL);
	assert_int_equal(vt_listing_row(l, 6)->type, VT_INSN_CALL);
	assert_int_equal(vt_listing_total(l, 0).samples, 100);
	assert_int_equal(vt_listing_total(l, 0).period, 100);
	assert_int_equal(vt_listing_total(l, 1).samples, 4);
	assert_int_equal(vt_listing_row(l, 2)->tallies[0].period, 30);
	assert_null(vt_listing_missing(l));
	vt_listing_free(l);
}

/* A procedure that ends within an instruction, as GNU objdump shows it with --stop-address. */
static void test_cut(void **state)
{
	const struct vt_listing_options opt = {.view = VT_LIST_ASM};
	struct vt_procedure cut = f;
	struct vt_listing *l;

	(void)state;
	cut.end = 0x401003;
	l = list(&cut, &opt);
	assert_string_equal(table(l, VT_LIST_ASM, VT_TABLE_CSV, false), KEYS
			    "10,100,,,0x401000,,push   %rbx,instruction,/src/a.c,3,f,,f,D/prog\n"
			    ",,,,0x401001,,rex.W,instruction,/src/a.c,4,f,,f,D/prog\n"
			    ",,,,0x401002,,.byte 0x8b,instruction,/src/a.c,4,f,,f,D/prog\n");
	vt_listing_free(l);
}

/* With colours: rows with 10 percent of an event are hot, one with 5 warm. */
static void test_colors(void **state)
{
	const struct vt_listing_options opt = {
		.view = VT_LIST_MIXED, .sources = sources, .partial = true};
	struct vt_listing *l = list(&f, &opt);

	(void)state;
	assert_string_equal(
		table(l, VT_LIST_MIXED, VT_TABLE_TEXT, true),
		"\033[1mcycles\033[0m       \033[1m%\033[0m  \033[1mmisses\033[0m       "
		"\033[1m%\033[0m  \033[1maddress\033[0m  \033[1mline\033[0m  "
		"\033[1mcode\033[0m\n"
		"                                               \033[2mf  (/src/a.c)\033[0m\n"
		"                                            3  \033[36mlong f(long *p) "
		"{\033[0m\n"
		"    \033[1;31m10\033[0m  \033[1;31m10.00%\033[0m                   "
		"\033[1;31m401000\033[0m        \033[1;31mpush   %rbx\033[0m\n"
		"                                               \033[2m... 1 instruction "
		"without samples\033[0m\n"
		"                                               \033[2mh, inlined into f at "
		"/src/a.c:4  (/src/b.h)\033[0m\n"
		"                                            2  \033[36madd\033[0m\n"
		"    \033[1;31m30\033[0m  \033[1;31m30.00%\033[0m       \033[1;31m3\033[0m  "
		"\033[1;31m75.00%\033[0m   \033[1;31m401004\033[0m        \033[1;31madd    "
		"$0x1,%rbx\033[0m\n"
		"     \033[33m5\033[0m   \033[33m5.00%\033[0m                   "
		"\033[33m401005\033[0m        \033[33m[not the start of an "
		"instruction]\033[0m\n"
		"                                               \033[2m... 3 instructions "
		"without samples\033[0m\n"
		"                     \033[1;31m1\033[0m  \033[1;31m25.00%\033[0m   "
		"\033[1;31m401013\033[0m        \033[1;31mmov    0x10(%rip),%rax        # "
		"40102a\033[0m\n"
		"                                               \033[2m... 1 instruction "
		"without samples\033[0m\n"
		"    \033[1;31m55\033[0m  \033[1;31m55.00%\033[0m                   "
		"\033[1;31m40101b\033[0m        \033[1;31mret\033[0m\n");
	vt_listing_free(l);
}

static void test_intel(void **state)
{
	const struct vt_listing_options opt = {.view = VT_LIST_ASM, .syntax = VT_SYNTAX_INTEL};
	struct vt_listing *l = list(&f, &opt);

	(void)state;
	assert_string_equal(vt_listing_row(l, 2)->text, "add    rbx,0x1");
	vt_listing_free(l);
}

/* ---- with source between ---- */

#define HEADING "cycles       %  misses       %  address  line  code\n"

static void test_mixed(void **state)
{
	const struct vt_listing_options opt = {.view = VT_LIST_MIXED, .sources = sources};
	struct vt_listing *l = list(&f, &opt);

	(void)state;
	assert_string_equal(
		table(l, VT_LIST_MIXED, VT_TABLE_TEXT, false), HEADING
		"                                               f  (/src/a.c)\n"
		"                                            3  long f(long *p) {\n"
		"    10  10.00%                   401000        push   %rbx\n"
		"                                            4          long     x = h(*p);\n"
		"                                 401001        mov    (%rdi),%rbx\n"
		"                                               h, inlined into f at /src/a.c:4  "
		"(/src/b.h)\n"
		"                                            2  add\n"
		"    30  30.00%       3  75.00%   401004        add    $0x1,%rbx\n"
		"     5   5.00%                   401005        [not the start of an "
		"instruction]\n"
		"                                               h, inlined into f  (/src/b.h)\n"
		"                                            3  mul\n"
		"                                 401008        imul   %rbx,%rbx\n"
		"                                               f  (/src/a.c)\n"
		"                                            4          long     x = h(*p);\n"
		"                                 40100c        je     401000 <f>\n"
		"                                            5          g\\x0d();\n"
		"                                 40100e        call   40101c <g>\n"
		"                     1  25.00%   401013        mov    0x10(%rip),%rax        # "
		"40102a\n"
		"                                            6  }\n"
		"                                 40101a        pop    %rbx\n"
		"    55  55.00%                   40101b        ret\n");
	vt_listing_free(l);
}

/* Where a place and a line are, for programs. */
static void test_mixed_cells(void **state)
{
	const struct vt_listing_options opt = {.view = VT_LIST_MIXED};
	struct vt_listing *l = list(&f, &opt);
	const char *text = table(l, VT_LIST_MIXED, VT_TABLE_CSV, false);

	(void)state;
	assert_non_null(strstr(text, "\n,,,,,,f  (/src/a.c),place,/src/a.c,,f,,f,D/prog\n"
				     ",,,,,3,/src/a.c:3,line,/src/a.c,3,,,f,D/prog\n"
				     "10,10,"));
	assert_non_null(strstr(text, "\n,,,,,,\"h, inlined into f at /src/a.c:4  (/src/b.h)\","
				     "place,/src/b.h,,h,f,f,D/prog\n"
				     ",,,,,2,/src/b.h:2,line,/src/b.h,2,,,f,D/prog\n"));
	vt_listing_free(l);
}

/* ---- what is far from samples ---- */

#define PUSH   "    10  10.00%                   401000  push   %rbx\n"
#define LOAD   "                                 401001  mov    (%rdi),%rbx\n"
#define ADD    "    30  30.00%       3  75.00%   401004  add    $0x1,%rbx\n"
#define INSIDE "     5   5.00%                   401005  [not the start of an instruction]\n"
#define IMUL   "                                 401008  imul   %rbx,%rbx\n"
#define JUMP   "                                 40100c  je     401000 <f>\n"
#define CALL   "                                 40100e  call   40101c <g>\n"
#define MISS   "                     1  25.00%   401013  mov    0x10(%rip),%rax        # 40102a\n"
#define POP    "                                 40101a  pop    %rbx\n"
#define RET    "    55  55.00%                   40101b  ret\n"
#define CUT(n) "                                         ... " n " without samples\n"
#define ASM    "cycles       %  misses       %  address  code\n"

static void test_partial(void **state)
{
	struct vt_listing_options opt = {.view = VT_LIST_ASM, .partial = true};

	(void)state;
	check(&f, &opt,
	      ASM PUSH CUT("1 instruction") ADD INSIDE CUT("3 instructions")
		      MISS CUT("1 instruction") RET);
	opt.context = 1;
	check(&f, &opt, ASM PUSH LOAD ADD INSIDE IMUL CUT("1 instruction") CALL MISS POP RET);
	opt.context = 2;
	check(&f, &opt, ASM PUSH LOAD ADD INSIDE IMUL JUMP CALL MISS POP RET);
	opt.context = UINT64_MAX;
	check(&f, &opt, ASM PUSH LOAD ADD INSIDE IMUL JUMP CALL MISS POP RET);
	/* At the end; with source, that of what stays. */
	opt.context = 0;
	check(&g, &opt,
	      "cycles        %  address  code\n"
	      "     7  100.00%   40101c  nop\n"
	      "                          ... 1 instruction without samples\n");
	opt.view = VT_LIST_MIXED;
	opt.sources = sources;
	check(&f, &opt,
	      HEADING
	      "                                               f  (/src/a.c)\n"
	      "                                            3  long f(long *p) {\n"
	      "    10  10.00%                   401000        push   %rbx\n"
	      "                                               ... 1 instruction without samples\n"
	      "                                               h, inlined into f at /src/a.c:4  "
	      "(/src/b.h)\n"
	      "                                            2  add\n"
	      "    30  30.00%       3  75.00%   401004        add    $0x1,%rbx\n"
	      "     5   5.00%                   401005        [not the start of an instruction]\n"
	      "                                               ... 3 instructions without samples\n"
	      "                     1  25.00%   401013        mov    0x10(%rip),%rax        # "
	      "40102a\n"
	      "                                               ... 1 instruction without samples\n"
	      "    55  55.00%                   40101b        ret\n");
}

/* ---- source lines ---- */

#define SOURCE "cycles       %  misses       %  line  code\n"

/* Those with samples, of the procedure's own file first. */
static void test_source(void **state)
{
	struct vt_listing_options opt = {.view = VT_LIST_SOURCE, .sources = sources};
	struct vt_listing *l = list(&f, &opt);

	(void)state;
	assert_string_equal(table(l, VT_LIST_SOURCE, VT_TABLE_CSV, false),
			    KEYS ",,,,,,/src/a.c,place,/src/a.c,,,,f,D/prog\n"
				 "10,10,,,,3,long f(long *p) {,line,/src/a.c,3,,,f,D/prog\n"
				 ",,1,25,,5,        g\\x0d();,line,/src/a.c,5,,,f,D/prog\n"
				 "55,55,,,,6,},line,/src/a.c,6,,,f,D/prog\n"
				 ",,,,,,/src/b.h,place,/src/b.h,,,,f,D/prog\n"
				 "35,35,3,75,,2,add,line,/src/b.h,2,,,f,D/prog\n");
	assert_null(vt_listing_missing(l));
	assert_int_equal(vt_listing_row(l, 5)->tallies[0].period, 35);
	vt_listing_free(l);
	check(&f, &opt,
	      SOURCE "                                      /src/a.c\n"
		     "    10  10.00%                     3  long f(long *p) {\n"
		     "                     1  25.00%     5          g\\x0d();\n"
		     "    55  55.00%                     6  }\n"
		     "                                      /src/b.h\n"
		     "    35  35.00%       3  75.00%     2  add\n");
	opt.partial = true;
	opt.context = 1;
	check(&f, &opt,
	      SOURCE "                                      /src/a.c\n"
		     "                                   2  2\n"
		     "    10  10.00%                     3  long f(long *p) {\n"
		     "                                   4          long     x = h(*p);\n"
		     "                     1  25.00%     5          g\\x0d();\n"
		     "    55  55.00%                     6  }\n"
		     "                                   7  7\n"
		     "                                      /src/b.h\n"
		     "                                   1  1\n"
		     "    35  35.00%       3  75.00%     2  add\n"
		     "                                   3  mul\n");
	opt.context = 2;
	check(&f, &opt,
	      SOURCE "                                      /src/a.c\n"
		     "                                   1  1\n"
		     "                                   2  2\n"
		     "    10  10.00%                     3  long f(long *p) {\n"
		     "                                   4          long     x = h(*p);\n"
		     "                     1  25.00%     5          g\\x0d();\n"
		     "    55  55.00%                     6  }\n"
		     "                                   7  7\n"
		     "                                   8  8\n"
		     "                                      /src/b.h\n"
		     "                                   1  1\n"
		     "    35  35.00%       3  75.00%     2  add\n"
		     "                                   3  mul\n"
		     "                                   4  4\n");
	/* As far as the file goes, to what is behind its last end of a line. */
	opt.context = UINT64_MAX;
	check(&g, &opt,
	      "cycles        %  line  code\n"
	      "                       /src/a.c\n"
	      "                    1  1\n"
	      "                    2  2\n"
	      "                    3  long f(long *p) {\n"
	      "                    4          long     x = h(*p);\n"
	      "                    5          g\\x0d();\n"
	      "                    6  }\n"
	      "                    7  7\n"
	      "                    8  8\n"
	      "     7  100.00%     9  void g(void) {}\n"
	      "                   10  10\n"
	      "                   11\n");
	/* Where there is no text, the lines with samples alone. */
	opt.sources = NULL;
	check(&g, &opt,
	      "cycles        %  line  code\n"
	      "                       /src/a.c\n"
	      "     7  100.00%     9  /src/a.c:9\n");
}

/* ---- code that is in no procedure, or not at hand ---- */

static void test_rest(void **state)
{
	struct vt_listing_options opt = {.view = VT_LIST_ASM};

	(void)state;
	check(&rest, &opt,
	      "cycles        %  address  code\n"
	      "     4  100.00%   40101e  nop\n");
	check_header(&rest, &opt, false,
		     "[no symbol covers it] in D/prog, no build-id recorded\n"
		     "cycles: 4 samples, 3.51% of all 114\n"
		     "misses: 0 samples, 0.00% of all 4\n\n");
	check(&missing, &opt,
	      "cycles       %  address  code\n"
	      "     2  66.67%       20  [file not found]\n"
	      "     1  33.33%       30  [file not found]\n");
	check_header(&missing, &opt, true,
		     "\033[1m[file not found]\033[0m in /no/such/lib, build-id abcdef\n"
		     "cycles: 3 samples, 2.63% of all 114\n"
		     "misses: 0 samples, 0.00% of all 4\n\n");
	opt.view = VT_LIST_SOURCE;
	check(&missing, &opt,
	      "cycles        %  line  code\n"
	      "                       [no line information]\n"
	      "     3  100.00%        [no line]\n");
	check_header(&missing, &opt, false,
		     "[file not found] in /no/such/lib, build-id abcdef\n"
		     "cycles: 3 samples, 2.63% of all 114\n"
		     "misses: 0 samples, 0.00% of all 4\n\n");
}

static void test_header(void **state)
{
	struct vt_listing_options opt = {.view = VT_LIST_ASM};
	struct vt_procedure z = {
		.image = 1, .start = 0x402000, .end = 0x402008, .symbol = "z", .name = "z\t"};

	(void)state;
	check_header(&f, &opt, true,
		     "\033[1mf\033[0m in D/prog, no build-id recorded\n"
		     "cycles: 100 samples, 87.72% of all 114\n"
		     "misses: 4 samples, 100.00% of all 4\n\n");
	check_header(&z, &opt, false,
		     "z\\t in D/prog, no build-id recorded\n"
		     "cycles: 0 samples, 0.00% of all 114\n"
		     "misses: 0 samples, 0.00% of all 4\n"
		     "(its code is not in the file)\n\n");
}

/* What was recorded of code that no file has. */
static void test_recorded(void **state)
{
	static const uint8_t inc[] = {0x48, 0xff, 0xc0}, dec[] = {0x48, 0xff, 0xc8};
	static const uint8_t ret[] = {0xc3};
	struct vt_listing_options opt = {.view = VT_LIST_ASM};
	static const struct vt_procedure jit = {
		.image = JIT, .pid = 10, .name = "", .why = VT_UNKNOWN_NO_JIT_MAP};
	struct scene shared = s;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_listing *l;
	uint64_t *row;

	(void)state;
	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	scene_event(w, 2, "misses", VT_POLICY_INTERRUPT);
	scene_image(w, 1, toolbox_path(dir, "prog"));
	scene_image(w, MISSING_IMAGE, "/no/such/lib");
	scene_map(w, 0x400000, 1);
	row = vt_writer_row(w, VT_IMAGE);
	row[VT_IMAGE_ID] = JIT;
	row[VT_IMAGE_TYPE] = VT_IMAGE_ANON;
	scene_map(w, 0x700000, MISSING_IMAGE);
	scene_map(w, 0x800000, JIT);
	scene_samples(w, 1, 0x800100, 0, 1, 2);
	scene_samples(w, 1, 0x700020, 0, 1, 1);
	scene_samples(w, 1, 0x700030, 0, 1, 3);
	scene_block(w, 0, 0x700020, inc, 3);
	scene_block(w, 1, 0x401004, dec, 3);
	scene_block(w, 2, 0x40101b, ret, 1);
	scene_block(w, 3, 0x800100, dec, 3);
	scene_read(&s, fd, w, false);
	opt.code = s.code;
	check(&missing, &opt,
	      "cycles       %  address  code\n"
	      "     1  25.00%       20  inc    %rax\n"
	      "     3  75.00%       30  [file not found]\n");
	l = list(&missing, &opt);
	assert_int_equal(vt_listing_row(l, 0)->kind, VT_ROW_INSTRUCTION);
	assert_int_equal(vt_listing_row(l, 0)->size, 3);
	assert_int_equal(vt_listing_row(l, 1)->kind, VT_ROW_RAW);
	assert_string_equal(vt_listing_missing(l), "file not found");
	vt_listing_free(l);
	/* Where all is known, nothing is missing. */
	check(&jit, &opt,
	      "cycles        %  address  code\n"
	      "     2  100.00%   800100  dec    %rax\n");
	l = list(&jit, &opt);
	assert_null(vt_listing_missing(l));
	vt_listing_free(l);
	opt.code = NULL;
	l = list(&jit, &opt);
	assert_string_equal(vt_listing_missing(l), "generated code without a perf map");
	assert_string_equal(vt_listing_row(l, 0)->text, "[generated code without a perf map]");
	assert_int_equal(vt_listing_row(l, 0)->kind, VT_ROW_RAW);
	vt_listing_free(l);
	opt.code = s.code;
	/* The program could write to two instructions: what ran of the one is known. */
	vt_images_patch(s.images, 1, 0x1004, 0x18);
	l = list(&f, &opt);
	assert_string_equal(vt_listing_row(l, 1)->text, "mov    (%rdi),%rbx");
	assert_string_equal(vt_listing_row(l, 2)->text, "dec    %rax  [patched at run time]");
	assert_int_equal(vt_listing_row(l, 2)->size, 3);
	assert_string_equal(vt_listing_row(l, 3)->text,
			    "[perhaps patched at run time; in the file: add    %ecx,0xf(%rax)]");
	vt_listing_free(l);
	l = list(&f, &opt);
	assert_string_equal(vt_listing_row(l, vt_listing_nrows(l) - 1)->text, "ret");
	vt_listing_free(l);
	opt.code = NULL;
	l = list(&f, &opt);
	assert_string_equal(vt_listing_row(l, 2)->text,
			    "[perhaps patched at run time; in the file: add    $0x1,%rbx]");
	vt_listing_free(l);
	scene_drop(&s);
	s = shared;
}

/* The procedure or label that an address is in, and where it is in that. */
static void test_names(void **state)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(s.images, 1, 0, &why);
	struct vt_buf b = VT_BUF_INIT;

	(void)state;
	vt_disasm_name_symbol(symbols, 0x401000, &b);
	vt_disasm_name_symbol(symbols, 0x40101b, &b);
	vt_disasm_name_symbol(symbols, 0x409999, &b);
	vt_disasm_name_symbol(NULL, 0x401000, &b);
	assert_string_equal(vt_buf_str(&b), "ff+0x1b");
	vt_buf_free(&b);
}

/* A file of a machine that nobody disassembles. */
static void test_odd_machine(void **state)
{
	struct vt_listing_options opt = {.view = VT_LIST_ASM};
	struct vt_procedure odd = f;
	struct vt_listing *l;
	const char *path;

	(void)state;
	/* e_machine of an ELF file. */
	free(toolbox_run(dir, "cp prog odd && printf '\\001\\001' | "
			      "dd of=odd bs=1 seek=18 conv=notrunc 2>&1"));
	path = toolbox_path(dir, "odd");
	assert_int_equal(
		vt_images_add(s.images, ODD, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err), 0);
	odd.image = ODD;
	l = list(&odd, &opt);
	assert_string_equal(vt_listing_missing(l), "no disassembler for this machine");
	assert_int_equal(vt_listing_nrows(l), 0);
	vt_listing_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_assembly),    cmocka_unit_test(test_colors),
		cmocka_unit_test(test_intel),	    cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_mixed_cells), cmocka_unit_test(test_partial),
		cmocka_unit_test(test_source),	    cmocka_unit_test(test_rest),
		cmocka_unit_test(test_header),	    cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_names),	    cmocka_unit_test(test_odd_machine),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
