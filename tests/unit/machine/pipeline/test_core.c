/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptions of machines, and which processors they are of. */
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
#include "tests/unit/common/streams.h"

/* ---- descriptions ---- */

static void all_of_them_load(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	size_t i;

	(void)state;
	for (i = 0; vt_core_name(i); i++) {
		if (vt_core_load(&m, vt_core_name(i), &err) != 0)
			fail_msg("%s: %s", vt_core_name(i), err.text);
		assert_string_equal(m.name, vt_core_name(i));
		assert_true(m.issue >= 2 && m.dcache.size >= 8192 && m.memory > m.l2.latency);
	}
	assert_true(i >= 4);
}

static void numbers_are_those_of_the_text(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;

	(void)state;
	assert_int_equal(vt_core_load(&m, "alpha21164", &err), 0);
	assert_int_equal(m.order, VT_IN_ORDER);
	assert_int_equal(m.attribution, VT_ATTRIBUTE_ISSUE);
	assert_int_equal(m.skid, 6);
	assert_int_equal(m.issue, 4);
	assert_int_equal(m.nunits, 4);
	assert_string_equal(m.units[1].name, "E1");
	assert_int_equal(m.units[1].classes, 1 << VT_OP_INT | 1 << VT_OP_LOAD | 1 << VT_OP_BRANCH);
	assert_int_equal(m.classes[VT_OP_FADD].latency, 4);
	assert_int_equal(m.classes[VT_OP_MULTIPLY].busy, 4);
	assert_int_equal(m.dcache.size, 8192);
	assert_int_equal(m.l2.ways, 3);
	assert_int_equal(m.l3.size, 2 << 20);
	assert_int_equal(m.write_buffer, 6);
	assert_int_equal(m.itlb.entries, 48);
	assert_int_equal(m.dtlb.entries, 64);
	assert_int_equal(m.dtlb.page, 8192);
	assert_int_equal(m.mispredict, 5);
	assert_int_equal(m.predictor, VT_PREDICT_BIMODAL);
}

static void an_unknown_name_tells_the_known(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;

	(void)state;
	assert_int_equal(vt_core_load(&m, "pentium", &err), -VT_E_NOTFOUND);
	assert_non_null(strstr(err.text, "alpha21164"));
	assert_non_null(strstr(err.text, "skylake"));
	assert_int_equal(vt_core_load(&m, "/nonexistent/x.core", &err), -VT_E_READ);
}

/* A description that is complete, with `more` behind it. */
static int load_text(struct vt_core *m, const char *more, struct vt_error *err)
{
	static const char base[] =
		"order in\nfetch 2\ndecode 2\nissue 2\nretire 2\n"
		"unit a int shift multiply divide load store branch fadd fmul fdiv vint shuffle\n"
		"unit b sync slow # comment\n";
	char path[] = "/tmp/vt-core-XXXXXX";
	int fd = mkstemp(path), e;
	FILE *f;

	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fprintf(f, "%s%s", base, more);
	fclose(f);
	e = vt_core_load(m, path, err);
	remove(path);
	return e;
}

/* A file's machine is named after the file, up to the first dot, as far as there is room. */
static void files_name_their_machines(void **state)
{
	static const struct {
		const char *file;
		const char *name;
	} cases[] = {
		{"a.b.core", "a"},
		{"plain", "plain"},
		{".core", ""},
		/* 31, 32 and 33 letters */
		{"abcdefghijklmnopqrstuvwxyz01234.core", "abcdefghijklmnopqrstuvwxyz01234"},
		{"abcdefghijklmnopqrstuvwxyz012345.core", "abcdefghijklmnopqrstuvwxyz01234"},
		{"abcdefghijklmnopqrstuvwxyz0123456.core", "abcdefghijklmnopqrstuvwxyz01234"},
	};
	static const char text[] =
		"order in\nfetch 2\ndecode 2\nissue 2\nretire 2\n"
		"unit a int shift multiply divide load store branch fadd fmul fdiv vint shuffle\n"
		"unit b sync slow\n";
	char folder[] = "/tmp/vt-core-XXXXXX", path[128];
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_error err = VT_ERROR_INIT;
		struct vt_core m;
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", folder, cases[i].file);
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(text, f);
		assert_int_equal(fclose(f), 0);
		assert_int_equal(vt_core_load(&m, path, &err), 0);
		assert_memory_equal(m.name, cases[i].name, strlen(cases[i].name) + 1);
		remove(path);
	}
	rmdir(folder);
}

static void faults_are_told_with_their_line(void **state)
{
	static const struct {
		const char *text;
		const char *told;
	} cases[] = {
		{"speed 4\n", "line 8: unknown: \"speed\""},
		{"issue\n", "line 8: a value is missing"},
		{"\nissue x\n", "line 9: not a number: \"x\""},
		{"issue 65\n", "line 8: too large"},
		{"issue 99999999999999999999\n", "line 8: too large"},
		{"dcache size 8K colour 3\n", "line 8: unknown: \"colour\""},
		{"dcache size\n", "unknown: \"dcache\""},
		{"dcache size 8K line\n", "line 8: a value is missing after \"line\""},
		{"dcache size 8K line 48 ways 1\n", "no power of 2"},
		{"dcache size 8K line 32 ways 3\n", "no multiple"},
		{"dcache size 8K line 32\n", "no multiple"},
		{"itlb entries 8 page 5000 ways 1\n", "no power of 2"},
		{"itlb entries 8 page 4K ways 3\n", "no multiple"},
		{"branch clever bits 3\n", "line 8: not one of the choices: \"clever\""},
		{"unit a\n", "line 8: a second unit \"a\""},
		{"unit c fly\n", "line 8: not a class of operations: \"fly\""},
		{"class int\n", "line 8: a class has"},
		{"order out\n", "out of order needs"},
		{"issue \xff\n", "line 8: a byte is not"},
		{"x123456789012345678901234567890123 1\n", "line 8: a word is too long"},
		{"issue 0\n", "at least 1"},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	size_t i;

	(void)state;
	assert_int_equal(load_text(&m, "", &err), 0);
	assert_int_equal(m.units[1].classes, 1 << VT_OP_SYNC | 1 << VT_OP_SLOW);
	assert_memory_equal(m.name, "vt-core-", 8);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (load_text(&m, cases[i].text, &err) != -VT_E_FORMAT)
			fail_msg("accepted: %s", cases[i].text);
		if (!strstr(err.text, cases[i].told))
			fail_msg("%s: told \"%s\"", cases[i].text, err.text);
	}
}

/* The largest number of each kind is taken, the next one is not. */
static void limits_are_exact(void **state)
{
	static const struct {
		const char *format;
		uint32_t max;
		const char *told;
	} cases[] = {
		{"class int 1 %u\n", 10000, "too large"},
		{"class int %u\n", 10000, "too large"},
		{"skid %u\n", 1000, "too large"},
		{"issue %u\n", 64, "too large"},
		{"front %u\n", 100, "too large"},
		{"rob %u\n", 4096, "too large"},
		{"registers fp %u\n", 4096, "too large"},
		{"write-buffer entries 1 drain %u\n", 10000, "too large"},
		{"forward latency 2 blocked %u\n", 1000, "too large"},
		{"branch gshare bits %u history 4\n", 24, "too large"},
		{"branch gshare bits 4 history %u\n", 64, "too large"},
		{"branch none targets %u\n", 1 << 16, "too large"},
		{"branch none returns %u\n", 1024, "too large"},
		{"branch none penalty %u\n", 1000, "too large"},
		{"dcache size 1024M line 4096 ways 1 latency 1 misses %u\n", 1024, "too large"},
		{"dcache size 1024M line 4096 ways 1 latency %u\n", 10000, "too large"},
		{"dcache size 4M ways %u line 4096\n", 1024, "too large"},
		{"l3 line 64 ways 16 size %uM\n", 1024, "too large"},
		{"memory latency %u\n", 100000, "too large"},
		{"dtlb page 4K ways 1 entries %u\n", 1 << 16, "too large"},
		{"stlb entries 2048 page 4K latency 1 ways %u\n", 1024, "too large"},
		{"itlb entries 4 ways 4 page %uM\n", 1024, "too large"},
		{"fetch %u\n", 64, "too large"},
		{"decode %u\n", 64, "too large"},
		{"retire %u\n", 64, "too large"},
		{"queue %u\n", 4096, "too large"},
		{"loads %u\n", 4096, "too large"},
		{"stores %u\n", 4096, "too large"},
		{"registers int %u\n", 4096, "too large"},
		{"write-buffer entries %u\n", 1024, "too large"},
		{"forward latency %u\n", 1000, "too large"},
		{"icache line 64 ways 16 size %uM\n", 1024, "too large"},
		{"icache size 1024M ways 1 line %u\n", 4096, "too large"},
		{"icache size 4M line 4096 ways %u\n", 1024, "too large"},
		{"icache latency %u\n", 10000, "too large"},
		{"icache misses %u\n", 1024, "too large"},
		{"dcache line 64 ways 16 size %uM\n", 1024, "too large"},
		{"dcache size 1024M ways 1 line %u\n", 4096, "too large"},
		{"l2 line 64 ways 16 size %uM\n", 1024, "too large"},
		{"l2 size 1024M ways 1 line %u\n", 4096, "too large"},
		{"l2 size 4M line 4096 ways %u\n", 1024, "too large"},
		{"l2 latency %u\n", 10000, "too large"},
		{"l2 misses %u\n", 1024, "too large"},
		{"l3 size 1024M ways 1 line %u\n", 4096, "too large"},
		{"l3 size 4M line 4096 ways %u\n", 1024, "too large"},
		{"l3 latency %u\n", 10000, "too large"},
		{"l3 misses %u\n", 1024, "too large"},
		{"itlb page 4K ways 1 entries %u\n", 1 << 16, "too large"},
		{"itlb entries 2048 page 4K ways %u\n", 1024, "too large"},
		{"itlb latency %u\n", 10000, "too large"},
		{"dtlb entries 2048 page 4K ways %u\n", 1024, "too large"},
		{"dtlb entries 4 ways 4 page %uM\n", 1024, "too large"},
		{"dtlb latency %u\n", 10000, "too large"},
		{"stlb page 4K ways 1 entries %u\n", 1 << 16, "too large"},
		{"stlb entries 4 ways 4 page %uM\n", 1024, "too large"},
		{"stlb latency %u\n", 10000, "too large"},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	char text[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), cases[i].format, cases[i].max);
		if (load_text(&m, text, &err) != 0)
			fail_msg("%s: %s", text, err.text);
		snprintf(text, sizeof(text), cases[i].format, cases[i].max + 1);
		if (load_text(&m, text, &err) != -VT_E_FORMAT || !strstr(err.text, cases[i].told))
			fail_msg("accepted: %s", text);
	}
}

/* What is one less than a machine needs is refused, what it needs is not. */
static void least_is_exact(void **state)
{
#define OUT "order out\nloads 1\nstores 1\n"
	static const struct {
		const char *enough, *less, *told;
	} cases[] = {
		{"l2 size 8K line 8 ways 2\n", "l2 size 8K line 4 ways 2\n", "no power of 2"},
		{"itlb entries 8 page 1024 ways 8\n", "itlb entries 8 page 512 ways 8\n",
		 "no power of 2"},
		{OUT "queue 1\nrob 2\nregisters int 40 fp 40\n",
		 OUT "queue 1\nrob 1\nregisters int 40 fp 40\n", "out of order needs rob"},
		{OUT "queue 1\nrob 2\nregisters int 40 fp 40\n",
		 OUT "queue 0\nrob 2\nregisters int 40 fp 40\n", "out of order needs rob"},
		{OUT "queue 1\nrob 2\nregisters int 40 fp 40\n",
		 OUT "queue 1\nloads 0\nrob 2\nregisters int 40 fp 40\n", "needs rob"},
		{OUT "queue 1\nrob 2\nregisters int 40 fp 40\n",
		 OUT "queue 1\nstores 0\nrob 2\nregisters int 40 fp 40\n", "needs rob"},
		{OUT "queue 1\nrob 2\nregisters int 40 fp 40\n",
		 OUT "queue 1\nrob 2\nregisters int 39 fp 40\n", "at least 40"},
		{OUT "queue 1\nrob 2\nregisters int 40 fp 40\n",
		 OUT "queue 1\nrob 2\nregisters int 40 fp 39\n", "at least 40"},
		{"fetch 1\n", "fetch 0\n", "at least 1"},
		{"decode 1\n", "decode 0\n", "at least 1"},
		{"retire 1\n", "retire 0\n", "at least 1"},
		{"unit elevenchars\n", "unit twelve_chars\n", "too long a name"},
	};
#undef OUT
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (load_text(&m, cases[i].enough, &err) != 0)
			fail_msg("%s: %s", cases[i].enough, err.text);
		if (load_text(&m, cases[i].less, &err) != -VT_E_FORMAT ||
		    !strstr(err.text, cases[i].told))
			fail_msg("%s: %s", cases[i].less, err.text);
	}
}

/* Everything that is no number, and what is not said. */
static void words_are_taken(void **state)
{
	static const char text[] = "sample commit\neliminate vector\nclass int 3\n"
				   "class load 4 2\nbranch tournament bits 3\nskid 2K # 2048\n";
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;

	(void)state;
	assert_int_equal(load_text(&m, "branch tournament bits 3\r\n\tclass int 3", &err), 0);
	assert_int_equal(m.predictor, VT_PREDICT_TOURNAMENT);
	assert_int_equal(m.predictor_bits, 3);
	assert_int_equal(m.classes[VT_OP_INT].latency, 3);
	assert_int_equal(m.classes[VT_OP_INT].busy, 1);
	assert_int_equal(m.classes[VT_OP_LOAD].latency, 1);
	assert_int_equal(m.classes[VT_OP_LOAD].busy, 1);
	assert_int_equal(m.eliminates, 0);
	assert_int_equal(load_text(&m, text, &err), -VT_E_FORMAT);
	assert_non_null(strstr(err.text, "line 13: too large a number (at most 1000): \"2K\""));
	assert_int_equal(m.attribution, VT_ATTRIBUTE_COMMIT);
	assert_int_equal(m.eliminates, VT_ELIMINATE_VECTOR);
	assert_int_equal(m.classes[VT_OP_LOAD].latency, 4);
	assert_int_equal(m.classes[VT_OP_LOAD].busy, 2);
	assert_int_equal(load_text(&m, "eliminate int vector\n", &err), 0);
	assert_int_equal(m.eliminates, VT_ELIMINATE_INT | VT_ELIMINATE_VECTOR);
	assert_int_equal(load_text(&m, "eliminate add\n", &err), 0);
	assert_int_equal(m.eliminates, VT_ELIMINATE_ADD);
	assert_int_equal(load_text(&m, "eliminate int load\n", &err), 0);
	assert_int_equal(m.eliminates, VT_ELIMINATE_INT | VT_ELIMINATE_LOAD);
	assert_int_equal(m.fuses, 0);
	assert_int_equal(load_text(&m, "fuse int\n", &err), 0);
	assert_int_equal(m.fuses, VT_FUSE_INT);
	assert_int_equal(load_text(&m, "fuse shift\n", &err), 0);
	assert_int_equal(m.fuses, VT_FUSE_SHIFT);
	assert_int_equal(load_text(&m, "timing skylake\n", &err), 0);
	assert_string_equal(m.timing, "skylake");
	assert_non_null(m.table);
	assert_int_equal(load_text(&m, "timing alderlake\ntiming zen2\n", &err), 0);
	assert_string_equal(m.timing, "zen2");
	assert_int_equal(load_text(&m, "timing nothing\n", &err), -VT_E_FORMAT);
	assert_non_null(strstr(err.text, "no such table of timings: \"nothing\""));
}

static void expect_model(const char *vendor, unsigned family, unsigned model, const char *want)
{
	const char *got;
	char cpu[48];

	snprintf(cpu, sizeof(cpu), "%s,%u,%u,1", vendor, family, model);
	got = vt_core_for_cpu(NULL, cpu, NULL);
	if (strcmp(got ? got : "none", want) != 0)
		fail_msg("%s: %s", cpu, got ? got : "none");
}

/* Models by their numbers, after Linux' asm/intel-family.h and AMD's revision guides; no others. */
static void models_are_as_their_makers_number_them(void **state)
{
	static const char *const cores[] = {"none",	 "inorder", "ivybridge", "haswell",
					    "broadwell", "skylake", "icelake",	 "alderlake",
					    "zen2",	 "zen3",    "zen4",	 "zen5"};
	enum {
		INORDER = 1,
		IVYBRIDGE,
		HASWELL,
		BROADWELL,
		SKYLAKE,
		ICELAKE,
		ALDERLAKE,
		ZEN2,
		ZEN3,
		ZEN4,
		ZEN5
	};
	static const uint8_t intel[256] = {
		[0x1c] = INORDER,   [0x26] = INORDER,	[0x27] = INORDER,   [0x35] = INORDER,
		[0x36] = INORDER,   [0x4e] = SKYLAKE,	[0x55] = SKYLAKE,   [0x5e] = SKYLAKE,
		[0x8e] = SKYLAKE,   [0x9e] = SKYLAKE,	[0xa5] = SKYLAKE,   [0xa6] = SKYLAKE,
		[0x6a] = ICELAKE,   [0x6c] = ICELAKE,	[0x7d] = ICELAKE,   [0x7e] = ICELAKE,
		[0x8c] = ICELAKE,   [0x8d] = ICELAKE,	[0xa7] = ICELAKE,   [0x8f] = ALDERLAKE,
		[0x97] = ALDERLAKE, [0x9a] = ALDERLAKE, [0xb7] = ALDERLAKE, [0xba] = ALDERLAKE,
		[0xbf] = ALDERLAKE, [0xcf] = ALDERLAKE, [0x3a] = IVYBRIDGE, [0x3e] = IVYBRIDGE,
		[0x3c] = HASWELL,   [0x3f] = HASWELL,	[0x45] = HASWELL,   [0x46] = HASWELL,
		[0x3d] = BROADWELL, [0x47] = BROADWELL, [0x4f] = BROADWELL, [0x56] = BROADWELL,
	};
	static const uint8_t zen_3_4[16] = {ZEN3, ZEN4, ZEN3, ZEN3, ZEN3, ZEN3,
					    ZEN4, ZEN4, ZEN4, ZEN4, ZEN4};
	/* Family 1Ah, from Linux' bsp_determine_snp(); 50h and 80h on are Zen 6. */
	static const uint8_t zen_5[16] = {ZEN5, ZEN5, ZEN5, 0, ZEN5, 0, ZEN5, ZEN5};
	unsigned family, model;

	(void)state;
	for (family = 5; family < 0x1b; family++)
		for (model = 0; model < 256; model++) {
			const bool zen_2 = family == 0x17 && model >= 0x30 && model <= 0x9f;

			expect_model("GenuineIntel", family, model,
				     cores[family == 6 ? intel[model] : 0]);
			expect_model("AuthenticAMD", family, model,
				     cores[zen_2	    ? ZEN2
					   : family == 0x19 ? zen_3_4[model / 16]
					   : family == 0x1a ? zen_5[model / 16]
							    : 0]);
		}
}

static void cpus_find_their_machines(void **state)
{
	(void)state;
	assert_string_equal(vt_core_for_cpu("alpha21264", NULL, NULL), "alpha21264");
	assert_string_equal(vt_core_for_cpu("nonsense", "GenuineIntel,6,85,7", NULL), "skylake");
	assert_string_equal(vt_core_for_cpu(NULL, "GenuineIntel,6,28", NULL), "inorder");
	assert_string_equal(vt_core_for_cpu(NULL, "GenuineIntel,6,143,8", NULL), "alderlake");
	assert_string_equal(vt_core_for_cpu(NULL, "GenuineIntel,6,106,6", NULL), "icelake");
	assert_string_equal(vt_core_for_cpu(NULL, "AuthenticAMD,23,49,0", NULL), "zen2");
	assert_string_equal(vt_core_for_cpu(NULL, "AuthenticAMD,25,1,1", NULL), "zen3");
	assert_string_equal(vt_core_for_cpu(NULL, "AuthenticAMD,25,97,2", NULL), "zen4");
	assert_string_equal(vt_core_for_cpu(NULL, NULL, "13th Gen Intel(R) Core(TM) i7-13700"),
			    "alderlake");
	assert_string_equal(vt_core_for_cpu(NULL, NULL, "Intel Core Processor (Haswell, IBRS)"),
			    "haswell");
	assert_string_equal(vt_core_for_cpu(NULL, NULL, "Intel Core Processor (Broadwell)"),
			    "broadwell");
	assert_string_equal(vt_core_for_cpu(NULL, NULL, "Intel Xeon E3-12xx v2 (Ivy Bridge)"),
			    "ivybridge");
	assert_string_equal(vt_core_for_cpu(NULL, NULL, "AMD EPYC-Turin Processor"), "zen5");
	/* Sandy Bridge has no core of its own. */
	assert_null(vt_core_for_cpu(NULL, "GenuineIntel,6,42,7", NULL));
	assert_null(vt_core_for_cpu(NULL, "GenuineIntel,6,1,7", NULL));
	assert_null(vt_core_for_cpu(NULL, "AuthenticAMD,23,1,2", NULL));
	assert_null(vt_core_for_cpu(NULL, "GenuineIntel,6", NULL));
	/* Whole numbers of a whole vendor, and no others. */
	assert_string_equal(vt_core_for_cpu(NULL, "GenuineIntel,6,85", NULL), "skylake");
	assert_null(vt_core_for_cpu(NULL, "GenuineIntel,6,85x", NULL));
	assert_null(vt_core_for_cpu(NULL, "GenuineIntel,6x,85,7", NULL));
	assert_null(vt_core_for_cpu(NULL, "GenuineIntel.6,85,7", NULL));
	assert_null(vt_core_for_cpu(NULL, "Genuine,6,85,7", NULL));
	assert_null(vt_core_for_cpu(NULL, "GenuineIntelX,6,85,7", NULL));
	assert_null(vt_core_for_cpu(NULL, "AuthenticAMD,6,85,7", NULL));
	assert_null(vt_core_for_cpu(NULL, "GenuineIntel", "QEMU Virtual CPU version 2.5+"));
	assert_null(vt_core_for_cpu(NULL, NULL, NULL));
	assert_string_equal(vt_core_for_cpu(NULL, NULL, "Intel Xeon Processor (Skylake, IBRS)"),
			    "skylake");
}

/* What META records say of the processor: the last one with a fact counts. */
static void cpus_are_read(void **state)
{
	static const char *const facts[][2] = {
		{"cpuid", "x"},		  {"cpu.model", "m"},	  {"cpudesc", "some text"},
		{"cpudescription", "no"}, {"vfreq.model", "./c"}, {"cpuid", "GenuineIntel,6,85,7"},
		{"arch", "aarch64"},
	};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_cpu cpu = {.model = NULL};
	struct vt_record rec;
	struct vt_reader *r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		vt_writer_meta(w, facts[i][0], facts[i][1]);
	vt_writer_row(w, VT_LOST);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_cpu_feed(&cpu, &rec, &err), 0);
	assert_string_equal(cpu.id, "GenuineIntel,6,85,7");
	assert_string_equal(cpu.model, "m");
	assert_string_equal(cpu.description, "some text");
	assert_string_equal(cpu.chosen, "./c");
	assert_string_equal(cpu.arch, "aarch64");
	vt_cpu_fini(&cpu);
	vt_reader_close(r);
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_them_load),
		cmocka_unit_test(numbers_are_those_of_the_text),
		cmocka_unit_test(an_unknown_name_tells_the_known),
		cmocka_unit_test(files_name_their_machines),
		cmocka_unit_test(faults_are_told_with_their_line),
		cmocka_unit_test(limits_are_exact),
		cmocka_unit_test(least_is_exact),
		cmocka_unit_test(words_are_taken),
		cmocka_unit_test(models_are_as_their_makers_number_them),
		cmocka_unit_test(cpus_find_their_machines),
		cmocka_unit_test(cpus_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
