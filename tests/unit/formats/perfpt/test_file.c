/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records of a perf.data with Intel PT, number by number, as linux/perf_event.h and
 * tools/perf/Documentation/perf.data-file-format.txt of the kernel have them.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/perfdata/abi.h"
#include "tests/unit/formats/perfpt/ptwrapped.h"

/* jmp to itself: one instruction, of which the trace tells nothing; jmp *%rax: a TIP each. */
enum { LOOP = 1, JUMP = 2 };

#define LOOP_AT 0x1000
#define JUMP_AT 0x2000

#define MOST_JUMPS 200000

static void begin_blocks(struct made *m)
{
	begin(m);
	put_block(m, LOOP, LOOP_AT, "\2", "\xeb\xfe");
	put_block(m, JUMP, JUMP_AT, "\2", "\xff\xe0");
}

/* A thread executes n instructions. */
static void put_loop(struct made *m, int64_t pid, int64_t tid, size_t n)
{
	static const uint16_t ids[] = {LOOP, LOOP, LOOP, LOOP, LOOP, LOOP, LOOP, LOOP};

	put_run(m, pid, tid, ids, n, n);
}

/* ---- events and what is said of the trace ---- */

#define SIDE 0x1802300 /* mmap, comm, task, mmap2, comm_exec */
#define USER 0x40062   /* inherit, exclude_kernel, exclude_hv, sample_id_all */

/* Bits of the configuration as in /sys/bus/event_source/devices/intel_pt/format. */
static const struct {
	bool tsc, mtc, cyc, no_retcomp;
	uint8_t period;
	uint32_t cpus;
	uint64_t config, sample_type, flags[2];
} events[] = {
	{.config = 0x3001, .sample_type = 0x10003, .flags = {USER | SIDE}},
	{.no_retcomp = 1, .config = 0x3801, .sample_type = 0x10003, .flags = {USER | SIDE}},
	{.cyc = 1, .config = 0x3003, .sample_type = 0x10003, .flags = {USER | SIDE}},
	{.mtc = 1, .period = 3, .config = 0xf201, .sample_type = 0x10003, .flags = {USER | SIDE}},
	{.mtc = 1, .period = 15, .config = 0x3f201, .sample_type = 0x10003, .flags = {USER | SIDE}},
	{.mtc = 1, .period = 19, .config = 0xf201, .sample_type = 0x10003, .flags = {USER | SIDE}},
	{.tsc = 1, .config = 0x3401, .sample_type = 0x10007, .flags = {USER, USER | SIDE}},
	{.tsc = 1,
	 .cpus = 1,
	 .config = 0x3401,
	 .sample_type = 0x10087,
	 .flags = {USER, USER | SIDE | 1 << 26}},
};

static void test_events(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct vt_pt_wrap_options opt = untimed_options();
		struct wrapped f;
		struct made m;

		opt.encode.tsc = events[i].tsc;
		opt.encode.mtc = events[i].mtc;
		opt.encode.cyc = events[i].cyc;
		opt.encode.no_retcomp = events[i].no_retcomp;
		opt.encode.clock.mtc_period = events[i].period;
		opt.cpus = events[i].cpus;
		begin(&m);
		wrap(&f, &m, &opt);
		EXPECT(&f, PD_HEADER_ATTR, 0, PAIR(8, 128), events[i].config, 1,
		       events[i].sample_type, 0, events[i].flags[0], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		       1);
		if (events[i].tsc)
			EXPECT(&f, PD_HEADER_ATTR, 0, PAIR(PD_TYPE_SOFTWARE, 128), 9, 1,
			       events[i].sample_type, 0, events[i].flags[1], 0, 0, 0, 0, 0, 0, 0, 0,
			       0, 0, 2);
		assert_null(find_record(&f, PD_HEADER_ATTR));
		free(f.bytes);
	}
}

/* Words of AUXTRACE_INFO as in tools/perf/util/intel-pt.h. */
static void test_info(void **state)
{
	struct vt_pt_wrap_options opt = untimed_options();
	struct wrapped f;
	struct made m;

	(void)state;
	begin(&m);
	wrap(&f, &m, &opt);
	check_words(find_record(&f, PD_AUXTRACE_INFO), PD_AUXTRACE_INFO, 0,
		    (const uint64_t[]){1, 8, 0, 0, 0, 0, 0x400, 0x800, 0, 0, 0, 0x200, 0x3c000, 256,
				       2, 2, 32, 0, 0},
		    19);
	assert_null(next_record(&f));
	free(f.bytes);
	opt = timed_options();
	opt.cpus = 1;
	opt.snapshot = 100;
	for (opt.wide = 0;; opt.wide = 1) {
		begin(&m);
		wrap(&f, &m, &opt);
		check_words(find_record(&f, PD_AUXTRACE_INFO), PD_AUXTRACE_INFO, 0,
			    (const uint64_t[]){1, 8, 31, UINT64_C(1) << 31, 1000000000, 1, 0x400,
					       0x800, opt.wide ? 3 : 2, 1, 1, 0x200, 0x3c000, 256,
					       2, 2, 10, 0, 0},
			    19);
		EXPECT(&f, PD_TIME_CONV, 0, 31, UINT64_C(1) << 31, 1000000000);
		assert_null(next_record(&f));
		free(f.bytes);
		if (opt.wide)
			break;
	}
}

/* ns = ticks * mult >> shift, where mult is the largest of 32 bits, with a shift of at most 31. */
static void test_conversion(void **state)
{
	static const struct {
		uint8_t ratio;
		uint64_t shift, mult;
	} cases[] = {{1, 28, 2684354560}, {4, 30, 2684354560}, {5, 30, 2147483648},
		     {6, 31, 3579139413}, {32, 31, 671088640}, {255, 31, 84215045}};
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct made m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		opt.encode.clock.nominal_ratio = cases[i].ratio;
		begin(&m);
		wrap(&f, &m, &opt);
		check_words(find_record(&f, PD_TIME_CONV), PD_TIME_CONV, 0,
			    (const uint64_t[]){cases[i].shift, cases[i].mult, 1000000000}, 3);
		free(f.bytes);
	}
	/* Of a TSC whose rate is not known, there are no times. */
	opt.encode.clock.nominal_ratio = 0;
	begin(&m);
	wrap(&f, &m, &opt);
	check_words(find_record(&f, PD_AUXTRACE_INFO), PD_AUXTRACE_INFO, 0,
		    (const uint64_t[]){1, 8, 31, 0, 1000000000, 1, 0x400, 0x800, 0, 0, 0, 0x200,
				       0x3c000, 256, 2, 2, 0, 0, 0},
		    19);
	assert_null(next_record(&f));
	free(f.bytes);
}

/* What is said of the recording: a feature's number, then a text with its size, or two counts. */
static const uint8_t *find_feature(struct wrapped *f, uint64_t number)
{
	const uint8_t *record;

	f->at = f->bytes + 16;
	do
		record = find_record(f, PD_HEADER_FEATURE);
	while (record && vt_le64(record + 8) != number);
	return record ? record + 16 : NULL;
}

static void put_meta(struct made *m, const char *key, const char *value)
{
	vt_writer_row(m->w, VT_META);
	vt_writer_text(m->w, VT_META_KEY, key);
	vt_writer_text(m->w, VT_META_VALUE, value);
}

static void test_features(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	char longest[4096 + 1];
	struct wrapped f;
	struct made m;

	(void)state;
	begin(&m);
	wrap(&f, &m, &opt);
	assert_string_equal((const char *)find_feature(&f, PD_FEAT_ARCH) + 4, "x86_64");
	assert_string_equal((const char *)find_feature(&f, PD_FEAT_VERSION) + 4, "test");
	assert_null(find_feature(&f, PD_FEAT_CMDLINE));
	assert_null(find_feature(&f, PD_FEAT_NRCPUS));
	free(f.bytes);
	opt.cpus = 3;
	begin(&m);
	memset(longest, 'a', 4096);
	longest[4096] = 0;
	put_meta(&m, "cmdlinf", "other");
	put_meta(&m, "cmdline2", "other");
	put_meta(&m, "arci", "other");
	put_meta(&m, "arch2", "other");
	put_meta(&m, "cmdline", longest); /* a byte too long */
	put_meta(&m, "cmdline", longest + 1);
	put_meta(&m, "cmdline", "second");
	put_meta(&m, "arch", "armv7");
	wrap(&f, &m, &opt);
	assert_string_equal((const char *)find_feature(&f, PD_FEAT_ARCH) + 4, "armv7");
	/* One text. */
	assert_string_equal((const char *)find_feature(&f, PD_FEAT_CMDLINE) + 8, longest + 1);
	assert_int_equal(vt_le32(find_feature(&f, PD_FEAT_NRCPUS)), 3);
	free(f.bytes);
}

/* ---- mappings ---- */

#define ID_TEXT "12345678901234567890"

/* Behind the options there are the events, and what is said of the trace. */
static void skip_head(struct wrapped *f, bool timed)
{
	assert_non_null(find_record(f, PD_AUXTRACE_INFO));
	if (timed)
		assert_non_null(next_record(f));
}

static void test_maps(void **state)
{
	struct vt_pt_wrap_options opt = untimed_options();
	struct wrapped f;
	struct made m;
	uint64_t *row;

	(void)state;
	begin(&m);
	put_path(&m, 1, VT_IMAGE_FILE, "/file");
	row = put_mapping(&m, 1, 7, 0x10000, 0x3000);
	row[VT_MAP_TID] = 8;
	row[VT_MAP_OFFSET] = 0x5000;
	row[VT_MAP_PROT] = 5;
	row[VT_MAP_FLAGS] = 0x1002;
	row[VT_MAP_MAJ] = 11;
	row[VT_MAP_MIN] = 12;
	row[VT_MAP_INO] = 13;
	row[VT_MAP_INO_GENERATION] = 14;
	/* Of no image that is known; a protection without flags is told with those of a copy. */
	put_mapping(&m, 9, 7, 0x20000, 0x1000)[VT_MAP_PROT] = 4;
	put_mapping(&m, 9, 7, 0x30000, 0x1000);
	put_mapping(&m, 9, 7, 0x40000, 0x1000)[VT_MAP_FLAGS] = 1;
	put_mapping(&m, 9, 7, 0x50000, 0x1000)[VT_MAP_PROT] = 3; /* data */
	put_mapping(&m, 9, -1, 0x60000, 0x1000);		 /* the kernel's */
	wrap(&f, &m, &opt);
	skip_head(&f, false);
	EXPECT(&f, PD_MMAP2, 2, PAIR(7, 8), 0x10000, 0x3000, 0x5000, PAIR(11, 12), 13, 14,
	       PAIR(5, 0x1002), text_word("/file"), PAIR(7, 8), 1);
	EXPECT(&f, PD_MMAP2, 2, PAIR(7, 7), 0x20000, 0x1000, 0, 0, 0, 0, PAIR(4, 2),
	       text_word("//anon"), PAIR(7, 7), 1);
	EXPECT(&f, PD_MMAP2, 2, PAIR(7, 7), 0x30000, 0x1000, 0, 0, 0, 0, 0, text_word("//anon"),
	       PAIR(7, 7), 1);
	EXPECT(&f, PD_MMAP2, 2, PAIR(7, 7), 0x40000, 0x1000, 0, 0, 0, 0, PAIR(0, 1),
	       text_word("//anon"), PAIR(7, 7), 1);
	EXPECT(&f, PD_MMAP2, 2 | 1 << 13, PAIR(7, 7), 0x50000, 0x1000, 0, 0, 0, 0, PAIR(3, 2),
	       text_word("//anon"), PAIR(7, 7), 1);
	assert_null(next_record(&f));
	assert_int_equal(f.sum.maps, 5);
	assert_int_equal(f.sum.left_out, 0);
	free(f.bytes);
}

/* A build-id takes the place of device and inode, and is told once for each announced image. */
static void test_buildids(void **state)
{
	struct vt_pt_wrap_options opt = untimed_options();
	uint64_t id[3];
	struct wrapped f;
	struct made m;
	unsigned i;

	(void)state;
	memcpy(id, ID_TEXT "\0\0\0\0", sizeof(id));
	begin(&m);
	for (i = 0; i < 2; i++) {
		put_path(&m, 1, VT_IMAGE_FILE, "/file");
		vt_writer_bytes(m.w, VT_IMAGE_BUILDID, ID_TEXT, 20);
		put_mapping(&m, 1, 7, 0x10000, 0x1000);
		put_mapping(&m, 1, 7, 0x20000, 0x1000);
	}
	/* One that is too long is none; without a path it is a nameless mapping's. */
	put_path(&m, 2, VT_IMAGE_FILE, "/long");
	vt_writer_bytes(m.w, VT_IMAGE_BUILDID, ID_TEXT "1", 21);
	put_mapping(&m, 2, 7, 0x30000, 0x1000);
	put_path(&m, 3, VT_IMAGE_FILE, "");
	vt_writer_bytes(m.w, VT_IMAGE_BUILDID, ID_TEXT, 2);
	put_mapping(&m, 3, 7, 0x40000, 0x1000);
	wrap(&f, &m, &opt);
	skip_head(&f, false);
	for (i = 0; i < 2; i++) {
		EXPECT(&f, PD_MMAP2, 0x4002, PAIR(7, 7), 0x10000, 0x1000, 0,
		       20 | (id[0] & UINT32_MAX) << 32, id[0] >> 32 | id[1] << 32,
		       id[1] >> 32 | id[2] << 32, 0, text_word("/file"), PAIR(7, 7), 1);
		EXPECT(&f, PD_HEADER_BUILD_ID, 0x8002, PAIR(-1, id[0]), id[0] >> 32 | id[1] << 32,
		       id[1] >> 32 | id[2] << 32, 20 | text_word("/fil") << 32, text_word("e"));
		assert_int_equal(vt_le32(next_record(&f)), PD_MMAP2);
	}
	EXPECT(&f, PD_MMAP2, 2, PAIR(7, 7), 0x30000, 0x1000, 0, 0, 0, 0, 0, text_word("/long"),
	       PAIR(7, 7), 1);
	EXPECT(&f, PD_MMAP2, 0x4002, PAIR(7, 7), 0x40000, 0x1000, 0, 2 | text_word("12") << 32, 0,
	       0, 0, text_word("//anon"), PAIR(7, 7), 1);
	free(f.bytes);
}

/* A path may have as many bytes as perf has room for; of a longer one the image is nameless. */
static void test_long_paths(void **state)
{
	struct vt_pt_wrap_options opt = untimed_options();
	const uint8_t *record;
	struct wrapped f;
	struct made m;
	char path[4096 + 1];

	(void)state;
	memset(path, 'a', 4096);
	path[4096] = 0;
	begin(&m);
	put_path(&m, 1, VT_IMAGE_FILE, path + 1);
	put_mapping(&m, 1, 7, 0x10000, 0x1000);
	put_path(&m, 1, VT_IMAGE_FILE, path);
	put_mapping(&m, 1, 7, 0x20000, 0x1000);
	wrap(&f, &m, &opt);
	record = find_record(&f, PD_MMAP2);
	assert_string_equal((const char *)record + 72, path + 1);
	record = find_record(&f, PD_MMAP2);
	assert_string_equal((const char *)record + 72, "//anon");
	assert_string_equal(f.bad, "an image with a path of 4096 bytes");
	assert_int_equal(f.sum.left_out, 1);
	free(f.bytes);
}

/* ---- threads ---- */

/*
 * AUX and AUXTRACE of a piece, written after so many instructions, with 0 to 7 zeros behind it; the
 * size of what is told.  `cpu` -1: the buffer is the thread's.
 */
static uint64_t expect_piece(struct wrapped *f, uint32_t index, int32_t cpu, uint64_t who,
			     uint64_t insns, uint64_t offset, uint64_t flags)
{
	const uint8_t *aux = next_record(f);
	uint64_t size = vt_le64(aux + 16);

	if (cpu < 0)
		check_words(aux, PD_AUX, 0,
			    (const uint64_t[]){offset, size, flags, who, TIME(insns), 1}, 6);
	else
		check_words(aux, PD_AUX, 0,
			    (const uint64_t[]){offset, size, flags, who, TIME(insns), cpu, 1}, 7);
	EXPECT(f, PD_AUXTRACE, 0, (size + 7) / 8 * 8, offset, TICK(insns),
	       PAIR(index, cpu < 0 ? who >> 32 : UINT32_MAX), PAIR(cpu, 0));
	return size;
}

static void test_threads(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct made m;
	uint64_t *row, size;

	(void)state;
	begin_blocks(&m);
	put_task(&m, VT_OP_COMM, 7, 7, "name");
	put_task(&m, VT_OP_COMM, 7, 7, "");
	put_loop(&m, 7, 7, 3);
	row = put_task(&m, VT_OP_FORK, 7, 9, "forked");
	row[VT_THREAD_PPID] = 5;
	row[VT_THREAD_PTID] = 6;
	put_task(&m, VT_OP_EXEC, 7, 7, "other");
	row = put_task(&m, VT_OP_EXIT, 7, 9, "end");
	row[VT_THREAD_PPID] = 3;
	row[VT_THREAD_PTID] = 4;
	/* Whoever nobody has told of gets a name. */
	put_loop(&m, 7, 12, 2);
	wrap(&f, &m, &opt);
	skip_head(&f, true);
	EXPECT(&f, PD_COMM, 0, PAIR(7, 7), text_word("name"), PAIR(7, 7), TIME(0), 2);
	EXPECT(&f, PD_FORK, 0, PAIR(7, 5), PAIR(9, 6), TIME(3), PAIR(7, 9), TIME(3), 2);
	EXPECT(&f, PD_COMM, 0, PAIR(7, 9), text_word("forked"), PAIR(7, 9), TIME(3), 2);
	EXPECT(&f, PD_COMM, 1 << 13, PAIR(7, 7), text_word("other"), PAIR(7, 7), TIME(3), 2);
	EXPECT(&f, PD_ITRACE_START, 0, PAIR(7, 7), PAIR(7, 7), TIME(3), 1);
	EXPECT(&f, PD_EXIT, 0, PAIR(7, 3), PAIR(9, 4), TIME(3), PAIR(7, 9), TIME(3), 2);
	EXPECT(&f, PD_COMM, 0, PAIR(7, 12), text_word(":12"), PAIR(7, 12), TIME(5), 2);
	EXPECT(&f, PD_ITRACE_START, 0, PAIR(7, 12), PAIR(7, 12), TIME(5), 1);
	size = expect_piece(&f, 0, -1, PAIR(7, 7), 5, 0, 0);
	size += expect_piece(&f, 1, -1, PAIR(7, 12), 5, 0, 0);
	assert_int_equal(f.sum.bytes, size);
	assert_null(next_record(&f));
	free(f.bytes);
}

/* A thread that ends has its trace in front of that, and what it executes after all behind it. */
static void test_end(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	uint64_t size[2];
	struct wrapped f;
	struct made m;

	(void)state;
	begin_blocks(&m);
	put_task(&m, VT_OP_COMM, 7, 8, "");
	put_loop(&m, 7, 8, 4);
	put_task(&m, VT_OP_EXIT, 7, 8, "");
	put_loop(&m, 7, 8, 2);
	wrap(&f, &m, &opt);
	skip_head(&f, true);
	EXPECT(&f, PD_ITRACE_START, 0, PAIR(7, 8), PAIR(7, 8), TIME(4), 1);
	size[0] = expect_piece(&f, 0, -1, PAIR(7, 8), 4, 0, 0);
	EXPECT(&f, PD_EXIT, 0, PAIR(7, 0), PAIR(8, 0), TIME(4), PAIR(7, 8), TIME(4), 2);
	size[1] = expect_piece(&f, 0, -1, PAIR(7, 8), 6, size[0], 0);
	assert_int_equal(f.sum.bytes, size[0] + size[1]);
	assert_null(next_record(&f));
	free(f.bytes);
	/* Of a snapshot, only what is there in the end counts. */
	opt.snapshot = size[0] + size[1];
	begin_blocks(&m);
	put_task(&m, VT_OP_COMM, 7, 8, "");
	put_loop(&m, 7, 8, 4);
	put_task(&m, VT_OP_EXIT, 7, 8, "");
	put_loop(&m, 7, 8, 2);
	wrap(&f, &m, &opt);
	skip_head(&f, true);
	EXPECT(&f, PD_ITRACE_START, 0, PAIR(7, 8), PAIR(7, 8), TIME(4), 1);
	EXPECT(&f, PD_EXIT, 0, PAIR(7, 0), PAIR(8, 0), TIME(4), PAIR(7, 8), TIME(4), 2);
	assert_int_equal(expect_piece(&f, 0, -1, PAIR(7, 8), 6, 0, 2), opt.snapshot);
	assert_null(next_record(&f));
	free(f.bytes);
}

/* ---- traces ---- */

/* Many packets, as a thread's one buffer. */
static void put_jumps(struct made *m, int64_t pid, int64_t tid, size_t n)
{
	static uint16_t ids[MOST_JUMPS];
	size_t i;

	for (i = 0; i < n; i++)
		ids[i] = JUMP;
	put_run(m, pid, tid, ids, n, n);
}

/*
 * The bytes of all pieces of a file's only buffer, from an offset on, which are told without a gap;
 * how many pieces there are.
 */
static size_t gather(struct wrapped *f, struct vt_buf *to, uint64_t start, uint64_t flags)
{
	const uint8_t *record;
	size_t pieces;

	for (pieces = 0; (record = find_record(f, PD_AUX)); pieces++) {
		uint64_t size = vt_le64(record + 16);

		assert_int_equal(vt_le64(record + 8), start + to->size);
		assert_int_equal(vt_le64(record + 24), flags);
		/* Only what ends a buffer may have been padded. */
		assert_int_equal(to->size % 8, 0);
		record = find_record(f, PD_AUXTRACE);
		assert_int_equal(vt_le64(record + 8), (size + 7) / 8 * 8);
		assert_int_equal(vt_le64(record + 16), start + to->size);
		assert_int_equal(vt_le64(record + 24), 0); /* no time */
		vt_buf_put(to, record + 48, size);
	}
	assert_int_equal(f->sum.bytes, to->size);
	free(f->bytes);
	return pieces;
}

static void wrap_jumps(struct wrapped *f, const struct vt_pt_wrap_options *opt, size_t n)
{
	struct made m;

	begin_blocks(&m);
	put_jumps(&m, 7, 7, n);
	wrap(f, &m, opt);
}

/* A long trace is written in pieces; of a snapshot there is the end. */
static void test_pieces(void **state)
{
	struct vt_pt_wrap_options opt = untimed_options();
	struct vt_buf all = VT_BUF_INIT, tail = VT_BUF_INIT;
	struct wrapped f;
	size_t n;

	(void)state;
	for (n = MOST_JUMPS - 3; n <= MOST_JUMPS; n++) {
		vt_buf_free(&all);
		wrap_jumps(&f, &opt, n);
		assert_int_equal(gather(&f, &all, 0, 0), 3);
		assert_true(all.size > 1 << 19);
	}
	for (opt.snapshot = 1; opt.snapshot < all.size; opt.snapshot *= 8) {
		uint64_t start = all.size - opt.snapshot;

		wrap_jumps(&f, &opt, MOST_JUMPS);
		assert_int_equal(gather(&f, &tail, start, 2), 1);
		assert_int_equal(tail.size, opt.snapshot);
		assert_memory_equal(tail.data, all.data + start, tail.size);
		vt_buf_free(&tail);
	}
	/* More than there is. */
	opt.snapshot = all.size + 1;
	wrap_jumps(&f, &opt, MOST_JUMPS);
	assert_int_equal(gather(&f, &tail, 0, 2), 1);
	assert_int_equal(tail.size, all.size);
	vt_buf_free(&tail);
	vt_buf_free(&all);
}

/* ---- processors ---- */

#define COST 512 /* instructions of the kernel, to go and to come */

/* Two processes take turns on the second and first of three processors, the third is idle. */
static void test_switches(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct made m;

	(void)state;
	opt.cpus = 3;
	opt.wide = true;
	opt.slice = 3;
	begin_blocks(&m);
	put_task(&m, VT_OP_COMM, 7, 8, "");
	put_task(&m, VT_OP_COMM, 9, 10, "");
	put_loop(&m, 7, 8, 3);	/* comes to 0 */
	put_loop(&m, 7, 8, 2);	/* stays: the slice counts from its second record on */
	put_loop(&m, 9, 10, 1); /* comes to 1 */
	put_loop(&m, 7, 8, 1);	/* uses its slice up */
	put_loop(&m, 7, 8, 1);	/* goes to 2 */
	put_loop(&m, 9, 10, 4); /* stays, and uses its slice up */
	put_loop(&m, 9, 10, 1); /* goes to 0 */
	put_task(&m, VT_OP_EXIT, 7, 8, "");
	wrap(&f, &m, &opt);
	skip_head(&f, true);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2, 0, PAIR(7, 8), TIME(0), 0, 2);
	EXPECT(&f, PD_ITRACE_START, 0, PAIR(7, 8), PAIR(7, 8), TIME(0), 0, 1);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2, 0, PAIR(9, 10), TIME(COST + 5), 1, 2);
	EXPECT(&f, PD_ITRACE_START, 0, PAIR(9, 10), PAIR(9, 10), TIME(COST + 5), 1, 1);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2 | 1 << 13, 0, PAIR(7, 8), TIME(3 * COST + 7), 0, 2);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2, 0, PAIR(7, 8), TIME(3 * COST + 7), 2, 2);
	EXPECT(&f, PD_ITRACE_START, 0, PAIR(7, 8), PAIR(7, 8), TIME(3 * COST + 7), 2, 1);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2 | 1 << 13, 0, PAIR(9, 10), TIME(5 * COST + 12), 1, 2);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2, 0, PAIR(9, 10), TIME(5 * COST + 12), 0, 2);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2 | 1 << 13, 0, PAIR(7, 8), TIME(7 * COST + 13), 2, 2);
	EXPECT(&f, PD_EXIT, 0, PAIR(7, 0), PAIR(8, 0), TIME(7 * COST + 13), PAIR(7, 8),
	       TIME(7 * COST + 13), 0, 2);
	/* Of a processor's bytes, who wrote the last of them counts. */
	expect_piece(&f, 0, 0, PAIR(9, 10), 7 * COST + 13, 0, 0);
	expect_piece(&f, 1, 1, PAIR(9, 10), 7 * COST + 13, 0, 0);
	expect_piece(&f, 2, 2, PAIR(7, 8), 7 * COST + 13, 0, 0);
	assert_null(next_record(&f));
	assert_int_equal(f.sum.switches, 4);
	free(f.bytes);
}

/* Two processes on one processor: each switch names who goes and who comes. */
static void test_one_processor(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct made m;

	(void)state;
	opt.cpus = 1;
	opt.wide = true;
	begin_blocks(&m);
	put_task(&m, VT_OP_COMM, 7, 8, "");
	put_task(&m, VT_OP_COMM, 9, 10, "");
	put_loop(&m, 7, 8, 3);
	put_loop(&m, 9, 10, 1);
	wrap(&f, &m, &opt);
	skip_head(&f, true);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2, 0, PAIR(7, 8), TIME(0), 0, 2);
	EXPECT(&f, PD_ITRACE_START, 0, PAIR(7, 8), PAIR(7, 8), TIME(0), 0, 1);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2 | 3 << 13, PAIR(9, 10), PAIR(7, 8), TIME(2 * COST + 3), 0,
	       2);
	EXPECT(&f, PD_SWITCH_CPU_WIDE, 2, 0, PAIR(9, 10), TIME(2 * COST + 3), 0, 2);
	expect_piece(&f, 0, 0, PAIR(9, 10), 3 * COST + 4, 0, 0);
	assert_null(next_record(&f));
	free(f.bytes);
}

/* What is told of a thread happens while that has a processor. */
static void test_happens_on_processor(void **state)
{
	static const unsigned kinds[][3] = {
		{VT_SIGNAL, VT_SIGNAL_PID, VT_SIGNAL_TID},
		{VT_TRACE, VT_TRACE_PID, VT_TRACE_TID},
		{VT_VALUE, VT_VALUE_PID, VT_VALUE_TID},
	};
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct made m;
	size_t i;

	(void)state;
	opt.cpus = 1;
	for (i = 0; i < 3; i++) {
		uint64_t *row;

		begin_blocks(&m);
		put_task(&m, VT_OP_COMM, 7, 7, "");
		put_task(&m, VT_OP_COMM, 8, 9, "");
		put_loop(&m, 7, 7, 3);
		row = vt_writer_row(m.w, kinds[i][0]);
		row[kinds[i][1]] = 8;
		row[kinds[i][2]] = 9;
		wrap(&f, &m, &opt);
		assert_int_equal(f.sum.switches, 2);
		check_words(find_record(&f, PD_SWITCH), PD_SWITCH, 2,
			    (const uint64_t[]){PAIR(7, 7), TIME(0), 0, 2}, 4);
		check_words(find_record(&f, PD_SWITCH), PD_SWITCH, 2 | 3 << 13,
			    (const uint64_t[]){PAIR(7, 7), TIME(2 * COST + 3), 0, 2}, 4);
		check_words(find_record(&f, PD_SWITCH), PD_SWITCH, 2,
			    (const uint64_t[]){PAIR(8, 9), TIME(2 * COST + 3), 0, 2}, 4);
		free(f.bytes);
	}
}

/* The packets that have an address behind the last PSB+ of the next piece. */
static void show_packets(struct wrapped *f, char *text, size_t size)
{
	const uint8_t *record = find_record(f, PD_AUXTRACE), *end = record + 48;
	struct vt_pt_packet k;
	uint64_t ip = 0;

	text[0] = 0;
	for (end += vt_le64(record + 8), record += 48; record < end; record += k.size) {
		size_t n = strlen(text);

		assert_true(vt_pt_packet_read(&k, record, end, 0) > 0);
		if (k.kind == VT_PT_PSBEND)
			text[0] = 0;
		else if (vt_pt_ip_update(&ip, &k))
			snprintf(text + n, size - n, "%s:%x ", vt_pt_kind_name(k.kind),
				 (unsigned)ip);
	}
}

/* An interrupted thread goes on before it is told what happened to it, so that its jump is told. */
static void test_goes_on(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct made m;
	char text[256];

	(void)state;
	opt.cpus = 1;
	begin_blocks(&m);
	put_task(&m, VT_OP_COMM, PID, PID, "");
	put_task(&m, VT_OP_COMM, 8, 9, "");
	put_jumps(&m, PID, PID, 1);
	put_loop(&m, 8, 9, 1);
	m.tid = PID;
	put_signal(&m, LOOP_AT, JUMP_AT);
	wrap(&f, &m, &opt);
	show_packets(&f, text, sizeof(text));
	assert_string_equal(text, "TIP.PGE:2000 TIP:1000 FUP:1000 ");
	free(f.bytes);
}

/* A thread whose numbers perf cannot hold has neither a trace nor a processor. */
static void test_impossible_threads(void **state)
{
	struct vt_pt_wrap_options opt = timed_options();
	struct wrapped f;
	struct made m;

	(void)state;
	for (opt.cpus = 0; opt.cpus < 2; opt.cpus++) {
		begin_blocks(&m);
		put_task(&m, VT_OP_COMM, 7, 7, "");
		put_loop(&m, INT32_MAX + INT64_C(1), 7, 3);
		put_loop(&m, 7, INT32_MAX + INT64_C(1), 3);
		put_loop(&m, 7, 7, 3);
		wrap(&f, &m, &opt);
		assert_string_equal(f.bad, "a thread whose numbers are none");
		/* By the record as well, where there are processors; each by its trace. */
		assert_int_equal(f.sum.left_out, opt.cpus ? 4 : 2);
		assert_int_equal(f.sum.switches, opt.cpus);
		assert_null(find_record(&f, PD_COMM));
		free(f.bytes);
	}
}

/* ---- when the traces tell the time ---- */

/* PSB packets of all pieces. */
static size_t count_psbs(struct wrapped *f)
{
	static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	const uint8_t *record;
	size_t n = 0, i;

	while ((record = find_record(f, PD_AUXTRACE)))
		for (i = 0; i + sizeof(psb) <= vt_le64(record + 8); i++)
			n += memcmp(record + 48 + i, psb, sizeof(psb)) == 0;
	free(f->bytes);
	return n;
}

/* One more PSB stands behind what changes where code is, or who a thread is, and behind no other.
 */
static void test_sync(void **state)
{
	enum { NOTHING, META, IMAGE, COMM, MAP };
	static const struct {
		unsigned what;
		int64_t pid;
		uint64_t prot;
		size_t psbs;
	} cases[] = {
		{NOTHING, 7, 0, 1}, {META, 7, 0, 1}, {IMAGE, 7, 0, 1}, {COMM, 7, 0, 2},
		{COMM, 8, 0, 1},    {MAP, 7, 0, 2},  {MAP, 7, 4, 2},   {MAP, 7, 5, 2},
		{MAP, 7, 3, 1},	    {MAP, 7, 8, 1},  {MAP, 8, 5, 1},   {MAP, -1, 5, 1},
	};
	struct vt_pt_wrap_options opt = timed_options();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wrapped f;
		struct made m;

		begin_blocks(&m);
		put_task(&m, VT_OP_COMM, 7, 7, "");
		put_loop(&m, 7, 7, 3);
		if (cases[i].what == META)
			put_meta(&m, "arch", "x86_64");
		else if (cases[i].what == IMAGE)
			put_path(&m, 1, VT_IMAGE_FILE, "/file");
		else if (cases[i].what == COMM)
			put_task(&m, VT_OP_COMM, cases[i].pid, 8, "");
		else if (cases[i].what == MAP)
			put_mapping(&m, 1, cases[i].pid, 0x10000, 0x1000)[VT_MAP_PROT] =
				cases[i].prot;
		put_jumps(&m, 7, 7, 3);
		wrap(&f, &m, &opt);
		assert_int_equal(count_psbs(&f), cases[i].psbs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_conversion),
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_buildids),
		cmocka_unit_test(test_long_paths),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_one_processor),
		cmocka_unit_test(test_happens_on_processor),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_impossible_threads),
		cmocka_unit_test(test_sync),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
