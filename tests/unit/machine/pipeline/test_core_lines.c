/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each line of a machine's description: what it sets, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/pipeline/core.h"

#define BASE_LINES 7
static const char base[] =
	"order in\nfetch 2\ndecode 2\nissue 2\nretire 2\n"
	"unit a int shift multiply divide load store branch fadd fmul fdiv vint shuffle\n"
	"unit b sync slow\n";

static int load_bytes(struct vt_core *m, const char *text, size_t size, struct vt_error *err)
{
	char path[] = "/tmp/vt-core-XXXXXX";
	int fd = mkstemp(path), e;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
	/* Nothing of what was there before stays. */
	memset(m, 0xa5, sizeof(*m));
	e = vt_core_load(m, path, err);
	remove(path);
	return e;
}

/* A description that is complete, with `more` behind it. */
static int load_text(struct vt_core *m, const char *more, struct vt_error *err)
{
	char text[4096];
	const int n = snprintf(text, sizeof(text), "%s%s", base, more);

	assert_true(n > 0 && (size_t)n < sizeof(text));
	return load_bytes(m, text, (size_t)n, err);
}

static struct vt_core accept(const char *more)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;

	if (load_text(&m, more, &err) != 0)
		fail_msg("%s: %s", more, err.text);
	return m;
}

/* Refused for exactly this reason, in the first line of `more`. */
static void refuse(const char *more, const char *told)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	const char *colon;
	char want[200];

	snprintf(want, sizeof(want), ": line %d: %s", BASE_LINES + 1, told);
	if (load_text(&m, more, &err) != -VT_E_FORMAT)
		fail_msg("accepted: %s", more);
	colon = strchr(err.text, ':');
	if (!colon || strcmp(colon, want) != 0)
		fail_msg("%s: told \"%s\"", more, err.text);
}

/* ---- words ---- */

static void words_are_of_printable_bytes(void **state)
{
	(void)state;
	assert_int_equal(accept("skid\t5\r\n").skid, 5);
	assert_int_equal(accept(" \t skid 5").skid, 5);
	assert_int_equal(accept("skid 5# 7\n").skid, 5);
	assert_int_equal(accept("skid 5\n#skid 7\n\n   # skid 8").skid, 5);
	refuse("!~ 5\n", "unknown: \"!~\"");
	refuse("skid 5\x7f\n", "a byte is not printable ASCII");
	refuse("skid \x1f\n", "a byte is not printable ASCII");
	refuse("skid 5 \x80\n", "a byte is not printable ASCII");
	/* 31 letters, and 32. */
	refuse("a234567890123456789012345678901 1\n",
	       "unknown: \"a234567890123456789012345678901\"");
	refuse("a2345678901234567890123456789012 1\n", "a word is too long");
	/* 24 words, and 25. */
	assert_int_equal(accept("unit c int int int int int int int int int int int int int int "
				"int int int int int int int shift\n")
				 .units[2]
				 .classes,
			 1 << VT_OP_INT | 1 << VT_OP_SHIFT);
	refuse("unit c int int int int int int int int int int int int int int int int int int int "
	       "int int int shift\n",
	       "too many words");
}

static void numbers_are_decimal(void **state)
{
	(void)state;
	assert_int_equal(accept("skid 0\n").skid, 0);
	assert_int_equal(accept("skid 9\n").skid, 9);
	assert_int_equal(accept("skid 0010\n").skid, 10);
	assert_int_equal(accept("banks 1K\n").banks, 1024);
	assert_int_equal(accept("banks 4K\n").banks, 4096);
	assert_int_equal(accept("memory latency 97K\n").memory, 97 * 1024);
	assert_int_equal(accept("dcache size 3M line 64 ways 3\n").dcache.size, 3 << 20);
	refuse("skid K\n", "not a number: \"K\"");
	refuse("skid -1\n", "not a number: \"-1\"");
	refuse("skid 1k\n", "not a number: \"1k\"");
	refuse("skid 1Kx\n", "not a number: \"1Kx\"");
	refuse("skid 0KK\n", "not a number: \"0KK\"");
	refuse("skid 0x10\n", "not a number: \"0x10\"");
	refuse("skid :\n", "not a number: \":\"");
	refuse("skid 5/\n", "not a number: \"5/\"");
	/* More than 32 and 64 bits hold. */
	refuse("skid 4294967296\n", "too large a number (at most 1000): \"4294967296\"");
	refuse("skid 4294967295M\n", "too large a number (at most 1000): \"4294967295M\"");
	refuse("skid 18446744073709551616\n",
	       "too large a number (at most 1000): \"18446744073709551616\"");
	refuse("skid 42949672970\n", "too large a number (at most 1000): \"42949672970\"");
}

/* ---- lines ---- */

/* Each number has its own place. */
static void numbers_go_where_they_belong(void **state)
{
	const struct vt_core m = accept(
		"skid 1\nfetch 3\nfetch bytes 16 predecode 5 queue 18 decoders 6 slots 7 "
		"pop 1 prefix 8\ndecode 4\nissue 9\nretire 10\nfront 11\nrob 12\nqueue 13\n"
		"loads 14\nstores 15\nstores written 47\nregisters int 41 fp 42\n"
		"write-buffer entries 19 drain 20\nbanks 21\npointer latency 22\n"
		"stack sync 23\nhigh-byte 24\nscaled-index 46\nforward latency 25 blocked 26\n"
		"branch gshare bits 17 history 27 targets 28 returns 29 penalty 30\n"
		"memory latency 31\n"
		"icache size 96 line 32 ways 3 latency 33 misses 34\n"
		"dcache size 320 line 64 ways 5 latency 35 misses 36\n"
		"l2 size 896 line 128 ways 7 latency 37 misses 38\n"
		"l3 size 2816 line 256 ways 11 latency 39 misses 40\n"
		"itlb entries 26 ways 13 page 4K latency 43\n"
		"dtlb entries 34 ways 17 page 8K latency 44\n"
		"stlb entries 38 ways 19 page 16K latency 45\n");

	(void)state;
	assert_int_equal(m.skid, 1);
	assert_int_equal(m.fetch, 3);
	assert_int_equal(m.fetch_bytes, 16);
	assert_int_equal(m.predecode, 5);
	assert_int_equal(m.fetch_queue, 18);
	assert_int_equal(m.decoders, 6);
	assert_int_equal(m.decoded, 7);
	assert_int_equal(m.pop_first, 1);
	assert_int_equal(m.prefix, 8);
	assert_int_equal(m.decode, 4);
	assert_int_equal(m.issue, 9);
	assert_int_equal(m.retire, 10);
	assert_int_equal(m.front, 11);
	assert_int_equal(m.rob, 12);
	assert_int_equal(m.queue, 13);
	assert_int_equal(m.loads, 14);
	assert_int_equal(m.stores, 15);
	assert_int_equal(m.written, 47);
	assert_int_equal(m.int_registers, 41);
	assert_int_equal(m.fp_registers, 42);
	assert_int_equal(m.write_buffer, 19);
	assert_int_equal(m.drain, 20);
	assert_int_equal(m.banks, 21);
	assert_int_equal(m.pointer, 22);
	assert_int_equal(m.stack_sync, 23);
	assert_int_equal(m.high_byte, 24);
	assert_int_equal(m.scaled_index, 46);
	assert_int_equal(m.forward, 25);
	assert_int_equal(m.blocked, 26);
	assert_int_equal(m.predictor, VT_PREDICT_GSHARE);
	assert_int_equal(m.predictor_bits, 17);
	assert_int_equal(m.history, 27);
	assert_int_equal(m.btb, 28);
	assert_int_equal(m.returns, 29);
	assert_int_equal(m.mispredict, 30);
	assert_int_equal(m.memory, 31);
#define IS_CACHE(c, s, l, w, t, n)                                                                 \
	assert_memory_equal(&(c), (&(struct vt_cache_shape){s, l, w, t, n}), sizeof(c))
	IS_CACHE(m.icache, 96, 32, 3, 33, 34);
	IS_CACHE(m.dcache, 320, 64, 5, 35, 36);
	IS_CACHE(m.l2, 896, 128, 7, 37, 38);
	IS_CACHE(m.l3, 2816, 256, 11, 39, 40);
#undef IS_CACHE
#define IS_TLB(c, e, w, p, t)                                                                      \
	assert_memory_equal(&(c), (&(struct vt_tlb_shape){e, w, p, t}), sizeof(c))
	IS_TLB(m.itlb, 26, 13, 4096, 43);
	IS_TLB(m.dtlb, 34, 17, 8192, 44);
	IS_TLB(m.stlb, 38, 19, 16384, 45);
#undef IS_TLB
}

/* The largest number of each is taken, the next one is not. */
static void the_largest_numbers_are_taken(void **state)
{
	static const struct {
		const char *format;
		unsigned max;
	} cases[] = {
		{"fetch bytes %u\n", 256},	{"fetch predecode %u\n", 64},
		{"fetch queue %u\n", 256},	{"fetch decoders %u\n", 64},
		{"fetch slots %u\n", 64},	{"fetch pop %u\n", 1},
		{"fetch prefix %u\n", 64},	{"banks %u\n", 4096},
		{"pointer latency %u\n", 1000}, {"stack sync %u\n", 64},
		{"high-byte %u\n", 64},
	};
	char text[100], told[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), cases[i].format, cases[i].max);
		accept(text);
		snprintf(text, sizeof(text), cases[i].format, cases[i].max + 1);
		snprintf(told, sizeof(told), "too large a number (at most %u): \"%u\"",
			 cases[i].max, cases[i].max + 1);
		refuse(text, told);
	}
}

static void words_are_of_their_lines(void **state)
{
	(void)state;
	refuse("skid bytes 4\n", "unknown: \"bytes\"");
	refuse("bytes 4\n", "unknown: \"bytes\"");
	refuse("fetch skid 4\n", "unknown: \"skid\"");
	refuse("dcache 4\n", "unknown: \"dcache\"");
	refuse("fetch bytes 4 queue\n", "a value is missing after \"queue\"");
	refuse("fetch bytes 4 queue x\n", "not a number: \"x\"");
	refuse("fetch bytes x queue 4\n", "not a number: \"x\"");
	refuse("fetch\n", "a value is missing after \"fetch\"");
	refuse("branch\n", "a value is missing after \"branch\"");
	refuse("branch none bits\n", "a value is missing after \"bits\"");
	refuse("branch nothing bits 3\n", "not one of the choices: \"nothing\"");
	refuse("branch bits 3 targets 4\n", "not one of the choices: \"bits\"");
	refuse("order in out\n", "unknown: \"in\"");
	refuse("order sideways\n", "not one of the choices: \"sideways\"");
	refuse("sample never\n", "not one of the choices: \"never\"");
	refuse("indexed some\n", "not one of the choices: \"some\"");
	refuse("eliminate int float\n", "not one of the choices: \"float\"");
	refuse("fuse int vector\n", "not one of the choices: \"vector\"");
	refuse("eliminate float int\n", "not one of the choices: \"float\"");
	refuse("timing stopwatch\n", "no such table of timings: \"stopwatch\"");
	refuse("class int\n", "a class has a latency, and perhaps for how long it is busy");
	refuse("class int 1 2 3\n", "a class has a latency, and perhaps for how long it is busy");
	refuse("class integer 1\n", "not a class of operations: \"integer\"");
	refuse("class int x\n", "not a number: \"x\"");
	refuse("class int 1 x\n", "not a number: \"x\"");
	refuse("unit\n", "a unit needs a name");
	refuse("unit twelve_chars int\n", "too long a name: \"twelve_chars\"");
	refuse("unit b int\n", "a second unit \"b\"");
	refuse("unit c int integer\n", "not a class of operations: \"integer\"");
	/* What follows is looked at although a line before was good. */
	refuse("skod 4\nskid 4\n", "unknown: \"skod\"");
}

static void choices_are_in_their_order(void **state)
{
	static const char *const predictors[] = {"none", "bimodal", "gshare", "tournament"};
	static const char *const indexed[] = {"fused", "new", "all"};
	char text[100];
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "branch %s bits 3\n", predictors[i]);
		assert_int_equal(accept(text).predictor, i);
	}
	for (i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "indexed %s\n", indexed[i]);
		assert_int_equal(accept(text).indexed, i);
	}
	assert_int_equal(VT_INDEXED_ALL, 2);
	assert_int_equal(VT_PREDICT_TOURNAMENT, 3);
	assert_int_equal(accept("sample issue\n").attribution, VT_ATTRIBUTE_ISSUE);
	assert_int_equal(accept("sample commit\n").attribution, VT_ATTRIBUTE_COMMIT);
	assert_int_equal(accept("order in\n").order, VT_IN_ORDER);
	assert_int_equal(accept("order out\nrob 2\nqueue 1\nloads 1\nstores 1\n"
				"registers int 40 fp 40\n")
				 .order,
			 VT_OUT_OF_ORDER);
}

/* Of lines that give a list, the last counts. */
static void lists_are_replaced(void **state)
{
	struct vt_core m = accept("merge lzcnt\n");

	(void)state;
	assert_string_equal(m.merges, "lzcnt");
	m = accept("merge lzcnt tzcnt popcnt\n");
	assert_string_equal(m.merges, "lzcnt tzcnt popcnt");
	m = accept("merge lzcnt tzcnt\nmerge bsf\n");
	assert_string_equal(m.merges, "bsf");
	m = accept("merge lzcnt\nmerge\n");
	assert_string_equal(m.merges, "");
	assert_int_equal(accept("eliminate int\neliminate vector\n").eliminates,
			 VT_ELIMINATE_VECTOR);
	assert_int_equal(accept("eliminate vector int\n").eliminates,
			 VT_ELIMINATE_VECTOR | VT_ELIMINATE_INT);
	assert_int_equal(accept("eliminate int\neliminate\n").eliminates, 0);
	/* The shorter name leaves nothing of the longer one. */
	m = accept("timing alderlake\ntiming zen2\n");
	assert_memory_equal(m.timing, "zen2\0\0\0\0\0", 10);
	assert_ptr_equal(m.table, accept("timing zen2\n").table);
	assert_ptr_not_equal(m.table, accept("timing alderlake\n").table);
	assert_null(accept("").table);
}

/* 127 letters and blanks have room: 1, 30, 31, 31 and 30 letters, four blanks. */
static void merges_have_their_room(void **state)
{
#define WORD_29 "a2345678901234567890123456789"
#define FIRST	"b " WORD_29 "x " WORD_29 "xx " WORD_29 "yy "
	struct vt_core m = accept("merge " FIRST WORD_29 "z\n");

	(void)state;
	assert_int_equal(strlen(FIRST WORD_29 "z"), 127);
	assert_string_equal(m.merges, FIRST WORD_29 "z");
	refuse("merge " FIRST WORD_29 "zz\n", "too many mnemonics");
}

/* A class is of one cycle, and pipelined, unless it is said otherwise. */
static void classes_have_latencies(void **state)
{
	const struct vt_core m = accept("class slow 10000 9999\nclass fdiv 20\nclass nop 0 0\n");
	unsigned c;

	(void)state;
	for (c = 0; c < VT_NOPCLASSES; c++) {
		const unsigned latency = c == VT_OP_SLOW   ? 10000
					 : c == VT_OP_FDIV ? 20
							   : c != VT_OP_NOP;
		const unsigned busy = c == VT_OP_SLOW ? 9999 : c != VT_OP_NOP;

		assert_int_equal(m.classes[c].latency, latency);
		assert_int_equal(m.classes[c].busy, busy);
	}
}

/* ---- units and classes ---- */

static void units_are_numbered_as_they_come(void **state)
{
	char text[400];
	struct vt_core m;
	size_t n = 0;
	unsigned i;

	(void)state;
	for (i = 2; i < VT_CORE_UNITS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "unit u%u\n", i);
	m = accept(text);
	assert_int_equal(m.nunits, 32);
	assert_string_equal(m.units[0].name, "a");
	assert_string_equal(m.units[1].name, "b");
	assert_int_equal(m.units[1].classes, 1 << VT_OP_SYNC | 1 << VT_OP_SLOW);
	assert_string_equal(m.units[31].name, "u31");
	assert_int_equal(m.units[31].classes, 0);
	{
		struct vt_error err = VT_ERROR_INIT;

		snprintf(text + n, sizeof(text) - n, "unit u32\n");
		assert_int_equal(load_text(&m, text, &err), -VT_E_FORMAT);
		assert_non_null(strstr(err.text, ": line 38: too many units"));
	}
	/* A name is not the beginning of another. */
	m = accept("unit ab int\nunit abcdefghijk shift load\n");
	assert_int_equal(m.nunits, 4);
	assert_int_equal(m.units[2].classes, 1 << VT_OP_INT);
	assert_memory_equal(m.units[2].name, "ab\0\0\0\0\0\0\0\0\0", 12);
	assert_string_equal(m.units[3].name, "abcdefghijk");
	assert_int_equal(m.units[3].classes, 1 << VT_OP_SHIFT | 1 << VT_OP_LOAD);
}

/* Each class but "nop" is done by a unit. */
static void every_class_has_a_unit(void **state)
{
	static const char *const names[VT_NOPCLASSES] = {
		"nop",	"int",	"shift", "multiply", "divide",	"load", "store", "branch",
		"fadd", "fmul", "fdiv",	 "vint",     "shuffle", "sync", "slow"};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	unsigned without, c;

	(void)state;
	for (without = 0; without < VT_NOPCLASSES; without++) {
		char text[400], told[40];
		size_t n = (size_t)snprintf(text, sizeof(text),
					    "fetch 1\ndecode 1\nissue 1\nretire 1\n");

		assert_string_equal(vt_op_class_name(without), names[without]);
		for (c = 0; c < VT_NOPCLASSES; c++)
			if (c != without)
				n += (size_t)snprintf(text + n, sizeof(text) - n, "unit %u %s\n", c,
						      names[c]);
		if (without == VT_OP_NOP) {
			assert_int_equal(load_bytes(&m, text, n, &err), 0);
			continue;
		}
		assert_int_equal(load_bytes(&m, text, n, &err), -VT_E_FORMAT);
		snprintf(told, sizeof(told), ": no unit does \"%s\"", names[without]);
		assert_string_equal(strchr(err.text, ':'), told);
	}
	assert_string_equal(vt_op_class_name(VT_NOPCLASSES), "?");
	assert_string_equal(vt_op_class_name(UINT32_MAX), "?");
}

/* ---- the whole ---- */

static void what_a_machine_lacks_is_not_looked_at(void **state)
{
	struct vt_core m = accept("dcache size 0 line 3 ways 0\nitlb entries 0 page 3 ways 0\n");

	(void)state;
	assert_int_equal(m.dcache.line, 3);
	/* In order, nothing of what follows is needed. */
	accept("order in\nrob 1\nregisters int 1 fp 1\n");
	/* Lines of 2^32 bytes in a set are no divisor of anything. */
	accept("l3 size 4M line 4096 ways 1024\n");
}

static void shapes_must_fit(void **state)
{
	static const struct {
		const char *text, *told;
	} cases[] = {
		{"icache size 96 line 48 ways 2\n", "a cache's line is no power of 2"},
		{"dcache size 96 line 0 ways 2\n", "a cache's line is no power of 2"},
		{"l2 size 96 line 32 ways 2\n", "a cache is no multiple of line times ways"},
		{"l3 size 96 line 32 ways 0\n", "a cache is no multiple of line times ways"},
		{"itlb entries 4 ways 2 page 3K\n", "a TLB's page is no power of 2"},
		{"dtlb entries 4 ways 3 page 4K\n", "a TLB is no multiple of its ways"},
		{"stlb entries 4 ways 0 page 4K\n", "a TLB is no multiple of its ways"},
		{"dtlb entries 4 ways 2 page 0\n", "a TLB's page is no power of 2"},
		{"order out\n", "out of order needs rob, queue, loads and stores"},
		{"fetch 0\norder out\n", "fetch, decode, issue and retire must be at least 1"},
		{"issue 0\n", "fetch, decode, issue and retire must be at least 1"},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(load_text(&m, cases[i].text, &err), -VT_E_FORMAT);
		assert_string_equal(strchr(err.text, ':') + 2, cases[i].told);
	}
}

/* A file of 64 KB is read, one byte more is too much. */
static void files_have_a_largest_size(void **state)
{
	enum { MOST = 64 << 10 };
	static const char last[] = "skid 5";
	char *text = malloc(MOST + 1);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;

	(void)state;
	assert_non_null(text);
	memset(text, '\n', MOST + 1);
	memcpy(text, base, sizeof(base) - 1);
	memcpy(text + MOST - (sizeof(last) - 1), last, sizeof(last) - 1);
	assert_int_equal(load_bytes(&m, text, MOST, &err), 0);
	assert_int_equal(m.skid, 5);
	assert_int_equal(load_bytes(&m, text, MOST + 1, &err), -VT_E_FORMAT);
	assert_non_null(strstr(err.text, ": too large for a machine's description"));
	free(text);
}

/* All of those there are are named, with commas between them. */
static void unknown_names_tell_the_known(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	char want[1000];
	size_t i, n;

	(void)state;
	n = (size_t)snprintf(want, sizeof(want), "sky: no such machine; there are ");
	for (i = 0; vt_core_name(i); i++)
		n += (size_t)snprintf(want + n, sizeof(want) - n, "%s%s", i ? ", " : "",
				      vt_core_name(i));
	snprintf(want + n, sizeof(want) - n, ", and files with a / in their name");
	assert_int_equal(vt_core_load(&m, "sky", &err), -VT_E_NOTFOUND);
	assert_string_equal(err.text, want);
	assert_null(vt_core_name(i + 1));
	assert_null(vt_core_name(SIZE_MAX));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_of_printable_bytes),
		cmocka_unit_test(numbers_are_decimal),
		cmocka_unit_test(numbers_go_where_they_belong),
		cmocka_unit_test(the_largest_numbers_are_taken),
		cmocka_unit_test(words_are_of_their_lines),
		cmocka_unit_test(choices_are_in_their_order),
		cmocka_unit_test(lists_are_replaced),
		cmocka_unit_test(merges_have_their_room),
		cmocka_unit_test(classes_have_latencies),
		cmocka_unit_test(units_are_numbered_as_they_come),
		cmocka_unit_test(every_class_has_a_unit),
		cmocka_unit_test(what_a_machine_lacks_is_not_looked_at),
		cmocka_unit_test(shapes_must_fit),
		cmocka_unit_test(files_have_a_largest_size),
		cmocka_unit_test(unknown_names_tell_the_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
