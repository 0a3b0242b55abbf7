/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/data_source.h"
#include "profile/groups.h"
#include "profile/profile.h"
#include "profile/ranking.h"
#include "stream/profileme.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"

#define ALL 0x808f /* ip, tid, time, addr, cpu, data_src */

static struct vt_error err;

static void put_comm(struct vt_writer *w, int64_t tid, const char *comm)
{
	uint64_t *row = vt_writer_row(w, VT_THREAD);

	row[VT_THREAD_PID] = row[VT_THREAD_TID] = (uint64_t)tid;
	row[VT_THREAD_OP] = VT_OP_COMM;
	vt_writer_text(w, VT_THREAD_COMM, comm);
}

static uint64_t *put_sample(struct vt_writer *w, int64_t pid, int64_t tid, uint64_t cpu,
			    uint64_t time, uint64_t has)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_PID] = (uint64_t)pid;
	row[VT_SAMPLE_TID] = (uint64_t)tid;
	row[VT_SAMPLE_CPU] = cpu;
	row[VT_SAMPLE_TIME] = time;
	row[VT_SAMPLE_PERIOD] = 1;
	row[VT_SAMPLE_HAS] = has;
	return row;
}

/* Reads a stream into a profile by these keys, and ranks it at a level. */
struct grouped {
	struct vt_groups *groups;
	struct vt_profile *profile;
	struct vt_ranking *ranking;
};

static struct grouped group(int fd, struct vt_writer *w, const enum vt_group_key *keys, size_t n,
			    uint64_t slice, enum vt_level level)
{
	struct grouped g = {vt_groups_new(keys, n, slice), new_profile(NULL), NULL};

	vt_profile_group_by(g.profile, g.groups);
	read_context(vt_profile_context(g.profile), fd, w);
	g.ranking = vt_ranking_new(g.profile, NULL, level, &err);
	assert_non_null(g.ranking);
	assert_int_equal(vt_ranking_sort(g.ranking, 0, false, &err), 0);
	return g;
}

static void free_grouped(struct grouped *g)
{
	vt_ranking_free(g->ranking);
	free_profile(g->profile);
	vt_groups_free(g->groups);
}

/* The i-th row: "5 main 10". */
static void expect_row(const struct grouped *g, size_t i, const char *want)
{
	struct vt_buf text = VT_BUF_INIT;
	size_t k;

	vt_buf_printf(&text, "%d", (int)vt_ranking_tally(g->ranking, i, 0).samples);
	for (k = 0; k < vt_groups_nkeys(g->groups); k++) {
		vt_buf_printf(&text, " ");
		vt_groups_text(g->groups, vt_ranking_at(g->ranking, i)->group, k, &text);
	}
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
}

static struct vt_writer *start_samples(int fd)
{
	struct vt_writer *w = start_stream(fd);

	put_comm(w, 10, "main");
	put_sample(w, 10, 10, 0, 1000000000, ALL);
	put_sample(w, 10, 10, 1, 1049999999, ALL);
	put_sample(w, 10, 11, 1, 1050000000, ALL);
	put_sample(w, 20, 20, 12, 2000000001, ALL);
	put_comm(w, 10, "work");
	put_sample(w, 10, 10, 0, 2000000001, ALL);
	put_sample(w, 10, 10, 0, 2000000001, ALL);
	put_sample(w, 10, 10, 0, 2000000001, 1);
	return w;
}

static void groups_by_several_keys(void **state)
{
	static const enum vt_group_key keys[] = {VT_GROUP_COMM, VT_GROUP_CPU};
	int fd = scratch_file();
	struct grouped g = group(fd, start_samples(fd), keys, 2, 0, VT_LEVEL_ALL);
	int64_t number;

	(void)state;
	assert_int_equal(vt_ranking_count(g.ranking), 6);
	/* Equal counts by name and number, what is unknown last. */
	expect_row(&g, 0, "2 work 0");
	expect_row(&g, 1, "1 :11 1");
	expect_row(&g, 2, "1 :20 12");
	expect_row(&g, 3, "1 main 0");
	expect_row(&g, 4, "1 main 1");
	expect_row(&g, 5, "1 [unknown] [unknown]");
	assert_int_equal(vt_groups_key(g.groups, 1), VT_GROUP_CPU);
	assert_true(vt_groups_is_number(g.groups, 1));
	assert_false(vt_groups_is_number(g.groups, 0));
	assert_true(vt_groups_number(g.groups, vt_ranking_at(g.ranking, 2)->group, 1, &number));
	assert_int_equal(number, 12);
	assert_false(vt_groups_number(g.groups, vt_ranking_at(g.ranking, 5)->group, 1, &number));
	free_grouped(&g);
}

static void groups_by_time(void **state)
{
	static const enum vt_group_key key = VT_GROUP_TIME;
	int fd = scratch_file();
	struct grouped g = group(fd, start_samples(fd), &key, 1, 50000000, VT_LEVEL_ALL);

	(void)state;
	assert_int_equal(vt_ranking_count(g.ranking), 4);
	expect_row(&g, 0, "2 1.00");
	expect_row(&g, 1, "1 1.05");
	expect_row(&g, 2, "3 2.00");
	expect_row(&g, 3, "1 [unknown]");
	free_grouped(&g);
	fd = scratch_file();
	g = group(fd, start_samples(fd), &key, 1, 1000000000, VT_LEVEL_ALL);
	expect_row(&g, 0, "3 1");
	expect_row(&g, 1, "3 2");
	free_grouped(&g);
	fd = scratch_file();
	g = group(fd, start_samples(fd), &key, 1, 1, VT_LEVEL_ALL);
	expect_row(&g, 3, "3 2.000000001");
	free_grouped(&g);
}

static void groups_by_data(void **state)
{
	static const enum vt_group_key keys[] = {VT_GROUP_PAGE, VT_GROUP_SOURCE, VT_GROUP_PROCESS};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct grouped g;
	uint64_t *row;

	(void)state;
	row = put_sample(w, -1, 1, 0, 0, ALL);
	row[VT_SAMPLE_ADDR] = UINT64_MAX;
	row[VT_SAMPLE_DATA_SRC] = 0x68100142;
	row = put_sample(w, -1, 1, 0, 0, ALL);
	row[VT_SAMPLE_ADDR] = UINT64_MAX - 4095;
	row[VT_SAMPLE_DATA_SRC] = 0x68100144;
	row = put_sample(w, 7, 1, 0, 0, ALL);
	row[VT_SAMPLE_ADDR] = 4096;
	/* What was decoded goes before the kernel's words, if it names a place. */
	row = put_sample(w, 7, 1, 0, 0, 1);
	row[VT_SAMPLE_PM_HAS] = VT_PM_BIT(SOURCE);
	row[VT_SAMPLE_SOURCE] = VT_SOURCE_DRAM_FAR;
	row = put_sample(w, 8, 1, 0, 0, ALL);
	row[VT_SAMPLE_DATA_SRC] = 0x68100142;
	row[VT_SAMPLE_PM_HAS] = VT_PM_BIT(SOURCE);
	row[VT_SAMPLE_SOURCE] = VT_SOURCE_PEER_NEAR;
	row = put_sample(w, 9, 1, 0, 0, ALL);
	row[VT_SAMPLE_DATA_SRC] = 0x68100142;
	row[VT_SAMPLE_PM_HAS] = VT_PM_BIT(SOURCE);
	row = put_sample(w, 10, 1, 0, 0, 1);
	row[VT_SAMPLE_PM_HAS] = VT_PM_BIT(LAT_LOAD);
	row[VT_SAMPLE_SOURCE] = VT_SOURCE_L2;
	g = group(fd, w, keys, 3, 0, VT_LEVEL_ALL);
	expect_row(&g, 0, "2 fffffffffffff000 L1 hit -1");
	expect_row(&g, 1, "1 0 L1 hit 9");
	expect_row(&g, 2, "1 0 peer-near 8");
	expect_row(&g, 3, "1 1000 N/A 7");
	expect_row(&g, 4, "1 [unknown] dram-far [unknown]");
	expect_row(&g, 5, "1 [unknown] [unknown] [unknown]");
	free_grouped(&g);
}

/* The rows of a level in each group; what is only counted is in a group of its own. */
static void splits_levels(void **state)
{
	static const enum vt_group_key key = VT_GROUP_THREAD;
	int fd = scratch_file();
	struct vt_writer *w = start_samples(fd);
	struct grouped g;
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	(void)state;
	row[VT_COUNT_IMAGE] = VT_UNMAPPED_IMAGE;
	row[VT_COUNT_OFFSET] = VT_UNMAPPED_MODE;
	row[VT_COUNT_SAMPLES] = 9;
	g = group(fd, w, &key, 1, 0, VT_LEVEL_IMAGE);
	assert_int_equal(vt_ranking_count(g.ranking), 4);
	expect_row(&g, 0, "10 [unknown]");
	expect_row(&g, 1, "4 10");
	expect_row(&g, 2, "1 11");
	expect_row(&g, 3, "1 20");
	assert_string_equal(vt_ranking_at(g.ranking, 0)->cause, "no mapping, unknown mode");
	free_grouped(&g);
}

/* In perf's words: perf_mem__lvl_scnprintf(). */
static void names_data_sources(void **state)
{
	static const struct {
		uint64_t data_src;
		const char *text;
	} cases[] = {
		{0, "N/A"},
		{0x68100142, "L1 hit"},
		{0x68100144, "L1 hit"},
		{UINT64_C(1) << 5 | 1 << 6 | 1 << 9, "LFB/MAB hit"},
		{1 << 7 | 1 << 11, "L3 miss"},
		{1 << 6 | 1 << 12, "Local RAM hit"},
		{1 << 6 | 1 << 8 | 1 << 9, "L1 or LFB/MAB hit"},
		{UINT64_C(2) << 33, "L2"},
		{UINT64_C(13) << 33 | UINT64_C(1) << 37 | 1 << 6, "Remote RAM hit"},
		{UINT64_C(8) << 33, "N/A"},
		{UINT64_MAX,
		 "Remote L1 or LFB/MAB or L2 or L3 or Local RAM or Remote RAM (1 hop) or Remote "
		 "RAM (2 "
		 "hops) or Remote Cache (1 hop) or Remote Cache (2 hops) or I/O or Uncached hit "
		 "miss"},
	};
	char buf[VT_DATA_SOURCE_SIZE];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(vt_data_source_text(cases[i].data_src, buf), cases[i].text);
}

/* As perf script 6.1 prints them. */
static void describes_data_sources(void **state)
{
	static const struct {
		uint64_t data_src;
		const char *text;
	} cases[] = {
		{0, "|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
		{0x68100142, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"},
		{0x5080021, "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A"},
		{UINT64_C(0x92000004) | 1 << 7 | 1 << 11 | 1 << 22,
		 "|OP STORE|LVL L3 miss|SNP Miss|TLB Walker miss|LCK Yes|BLK  N/A"},
		{8 | UINT64_C(2) << 33 | 1 << 6 | UINT64_C(1) << 38,
		 "|OP PFETCH|LVL L2 hit|SNP Fwd|TLB N/A|LCK No|BLK  N/A"},
		{16 | 1 << 8 | 1 << 9 | 1 << 6 | 1 << 23 | UINT64_C(6) << 40,
		 "|OP EXEC|LVL L1 or LFB/MAB hit|SNP HitM|TLB N/A|LCK No|BLK  Data Addr"},
		{2 | UINT64_C(13) << 33 | UINT64_C(1) << 37 | UINT64_C(2) << 43 | 1 << 6,
		 "|OP LOAD|LVL Remote node, same socket RAM hit|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
	};
	char buf[VT_DATA_SOURCE_SIZE];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(vt_data_source_line(cases[i].data_src, buf), cases[i].text);
}

#define LOAD	  2
#define HIT	  (1 << 6)
#define MISS	  (1 << 7)
#define L1	  (1 << 8)
#define FILL	  (1 << 9)
#define L2	  (1 << 10)
#define NUMBER(n) ((uint64_t)(n) << 33)
#define REMOTE	  (UINT64_C(1) << 37)
#define HOPS(n)	  ((uint64_t)(n) << 43)
#define TLB(n)	  ((uint64_t)(n) << 26)

/*
 * Data sources as Linux makes them for Intel, AMD, POWER and Arm, and some that nobody makes.  Of
 * the TLB, bits 1 and 2 are hit and miss, 3 and 4 the two TLBs, 5 and 6 the walker and the kernel.
 */
static void tells_outcomes_of_loads(void **state)
{
	static const struct {
		uint64_t data_src;
		bool load;
		struct vt_load_outcome told; /* the cache, the TLB: known, missed */
	} cases[] = {
		/* Ivy Bridge and Skylake: L1, the fill buffer, L2, L3 without a TLB's entry. */
		{0x68100142, true, {true, false, true, false}},
		{UINT64_C(0x10268100142), true, {true, false, true, false}},
		{UINT64_C(0x11868100242), true, {true, true, true, false}},
		{UINT64_C(0x10468100442), true, {true, true, true, false}},
		{UINT64_C(0x10650100842), true, {true, true, true, true}},
		/* A store, a prefetch, nothing; what is not available. */
		{0x68100144, false, {false, false, false, false}},
		{0x68100148, false, {false, false, false, false}},
		{0, false, {false, false, false, false}},
		{1, false, {false, false, false, false}},
		{0x5080021, false, {false, false, false, false}},
		{LOAD | 1 << 5 | NUMBER(15) | TLB(1), true, {false, false, false, false}},
		{LOAD, true, {false, false, false, false}},
		{LOAD | HIT, true, {false, false, false, false}},
		/* The level by its bit, by its number, by both. */
		{LOAD | L1 | MISS, true, {true, true, false, false}},
		{LOAD | NUMBER(1), true, {true, false, false, false}},
		{LOAD | NUMBER(1) | MISS, true, {true, true, false, false}},
		{LOAD | NUMBER(2), true, {true, true, false, false}},
		{LOAD | NUMBER(12), true, {true, true, false, false}},
		{LOAD | NUMBER(13), true, {true, true, false, false}},
		{LOAD | L1 | HIT | NUMBER(15), true, {true, false, false, false}},
		{LOAD | L1 | HIT | NUMBER(11), true, {true, false, false, false}},
		{LOAD | L1 | HIT | NUMBER(2), true, {true, true, false, false}},
		{LOAD | FILL | HIT | NUMBER(1), true, {true, true, false, false}},
		{LOAD | 1 << 18 | HIT, true, {true, true, false, false}},
		/* One of several levels. */
		{LOAD | L1 | L2 | HIT, true, {false, false, false, false}},
		{LOAD | L1 | L2 | HIT | NUMBER(15), true, {false, false, false, false}},
		{LOAD | L1 | L2 | HIT | NUMBER(2), true, {true, true, false, false}},
		{LOAD | L1 | L2 | MISS, true, {true, true, false, false}},
		{LOAD | L1 | L2 | HIT | REMOTE, true, {true, true, false, false}},
		/* Some cache: of another core, or of nobody knows whom. */
		{LOAD | NUMBER(11) | HIT, true, {false, false, false, false}},
		{LOAD | NUMBER(11) | HIT | HOPS(1), true, {true, true, false, false}},
		{LOAD | NUMBER(11) | HIT | REMOTE, true, {true, true, false, false}},
		{LOAD | L1 | HIT | REMOTE, true, {true, true, false, false}},
		{LOAD | L1 | HIT | HOPS(4), true, {true, true, false, false}},
		/* The TLB. */
		{LOAD | TLB(2 | 8), true, {false, false, true, false}},
		{LOAD | TLB(2 | 16), true, {false, false, true, false}},
		{LOAD | TLB(4 | 16), true, {false, false, true, true}},
		{LOAD | TLB(4 | 8), true, {false, false, true, true}},
		{LOAD | TLB(2 | 32), true, {false, false, true, true}},
		{LOAD | TLB(4 | 32), true, {false, false, true, true}},
		{LOAD | TLB(2 | 64), true, {false, false, true, true}},
		{LOAD | TLB(2 | 16 | 32), true, {false, false, true, true}},
		{LOAD | TLB(2 | 4 | 8), true, {false, false, true, true}},
		{LOAD | TLB(8 | 16), true, {false, false, false, false}},
		{LOAD | TLB(32), true, {false, false, false, false}},
		{LOAD | TLB(2), true, {false, false, false, false}},
		{LOAD | TLB(4), true, {false, false, false, false}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_load_outcome got = {true, true, true, true}, want = cases[i].told;

		if (vt_data_source_load(cases[i].data_src, &got) != cases[i].load ||
		    got.cache_known != want.cache_known || got.cache_missed != want.cache_missed ||
		    got.tlb_known != want.tlb_known || got.tlb_missed != want.tlb_missed)
			fail_msg("case %zu, %#llx", i, (unsigned long long)cases[i].data_src);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_outcomes_of_loads), cmocka_unit_test(groups_by_several_keys),
		cmocka_unit_test(groups_by_time),	   cmocka_unit_test(groups_by_data),
		cmocka_unit_test(splits_levels),	   cmocka_unit_test(names_data_sources),
		cmocka_unit_test(describes_data_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
