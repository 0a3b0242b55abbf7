/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a perf.data can have around its records: compression, trace data, AUX areas' kind. */
#include "formats/perfdata/perfdata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/bytes.h"
#include "formats/perfdata/abi.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/formats/perfdata/pdexpect.h"

#define NSAMPLES 50

static const struct pdfile_attr plain = {.type = 4,
					 .config = 461,
					 .period = 1000,
					 .sample_type = PD_SAMPLE_IP | PD_SAMPLE_TIME,
					 .flags = PD_ATTR_SAMPLE_ID_ALL,
					 .first_id = 11,
					 .nids = 1};

static void put_samples(struct pdfile *f)
{
	unsigned i;

	for (i = 0; i < NSAMPLES; i++) {
		pdfile_begin(f, PD_SAMPLE, 2);
		pdfile_u64(f, &f->data, 600 + i);
		pdfile_u64(f, &f->data, 2000 + i);
		pdfile_end(f);
	}
}

/* Puts the records behind `from` into compressed ones of at most `piece` bytes. */
static void compress_records(struct pdfile *f, size_t from, uint32_t type, size_t piece)
{
	size_t n = f->data.size - from, room = ZSTD_compressBound(n), at;
	uint8_t *z = malloc(room);

	assert_non_null(z);
	n = ZSTD_compress(z, room, f->data.data + from, n, 1);
	assert_false(ZSTD_isError(n));
	f->data.size = from;
	for (at = 0; at < n; at += piece) {
		size_t size = n - at < piece ? n - at : piece, left = -size % 8;

		pdfile_begin(f, type, 0);
		if (type == PD_COMPRESSED2)
			pdfile_u64(f, &f->data, size);
		vt_buf_put(&f->data, z + at, size);
		while (type == PD_COMPRESSED2 && left--)
			vt_buf_put_u8(&f->data, 0);
		pdfile_end(f);
	}
	free(z);
}

/* Records go on from one compressed one to the next. */
static void inflates(void **state)
{
	static const size_t pieces[] = {10, 33, 60000};
	static char text[NSAMPLES][80];
	const char *lines[NSAMPLES];
	unsigned form, i;

	(void)state;
	for (i = 0; i < NSAMPLES; i++) {
		snprintf(text[i], sizeof(text[i]), "SAMPLE time=%u ip=%u period=1000 misc=2 has=5",
			 2000 + i, 600 + i);
		lines[i] = text[i];
	}
	for (form = 0; form < 24; form++) {
		struct pdfile f = {.big = form & 1, .pipe = form & 2};
		struct vt_format_summary sum;
		size_t from;

		pdfile_attr(&f, &plain);
		from = f.data.size;
		put_samples(&f);
		compress_records(&f, from, form & 4 ? PD_COMPRESSED : PD_COMPRESSED2,
				 pieces[form / 8]);
		sum = PDFILE_EXPECT(&f, "EVENT ", lines);
		assert_int_equal(sum.samples, NSAMPLES);
		assert_int_equal(sum.damaged, 0);
		pdfile_free(&f);
	}
}

/* ---- trace data ---- */

static void put_file(const struct pdfile *f, struct vt_buf *b, const char *text)
{
	pdfile_u64(f, b, strlen(text));
	vt_buf_put(b, text, strlen(text));
}

/* trace-cmd.dat(5): the parts before and the format files of tracepoints. */
static void put_tracing(const struct pdfile *f, struct vt_buf *b)
{
	vt_buf_put(b, "\x17\x08\x44tracing0.6\0", 14);
	vt_buf_put_u8(b, f->big);
	vt_buf_put_u8(b, 8);
	pdfile_u32(f, b, 4096);
	vt_buf_put(b, "header_page\0", 12);
	put_file(f, b, "a page");
	vt_buf_put(b, "header_event\0", 13);
	put_file(f, b, "an event");
	pdfile_u32(f, b, 2);
	put_file(f, b, "name: own\nID: 314\n");
	put_file(f, b, "name: another\nID: 315\n");
	pdfile_u32(f, b, 2);
	vt_buf_put(b, "sched\0", 6);
	pdfile_u32(f, b, 3);
	put_file(f, b, "name: switch\nID: 314\nformat:\n");
	put_file(f, b, "name: nameless\n");
	put_file(f, b, "name: wake\nID: 315");
	vt_buf_put(b, "net\0", 4);
	pdfile_u32(f, b, 1);
	put_file(f, b, "name: xmit\nID: 9\n");
}

static void names_tracepoints(void **state)
{
	static const char *const lines[] = {
		"EVENT name=sched:wake policy=5 unit=events type=2 config=315 period=1000 "
		"sample_type=5 attr_flags=262144",
		"EVENT id=1 name=sched:switch policy=5 unit=events type=2 config=314 period=1000 "
		"sample_type=5 attr_flags=262144",
		"EVENT id=2 name=net:xmit policy=5 unit=events type=2 config=9 period=1000 "
		"sample_type=5 attr_flags=262144",
		"EVENT id=3 name=raw 0x13a:HG policy=1 unit=events type=4 config=314 period=1000 "
		"sample_type=5 attr_flags=262144",
	};
	static const uint64_t ids[] = {315, 314, 9, 314};
	unsigned form, i;

	(void)state;
	for (form = 0; form < 4; form++) {
		struct pdfile f = {.big = form & 1, .pipe = form & 2};
		struct pdfile_attr a = plain;
		struct vt_buf b = VT_BUF_INIT;

		for (i = 0; i < 4; i++) {
			a.type = i < 3 ? PD_TYPE_TRACEPOINT : 4;
			a.config = ids[i];
			a.first_id = 11 + i;
			pdfile_attr(&f, &a);
		}
		put_tracing(&f, &b);
		if (f.pipe) {
			/* It follows its record, up to a multiple of 8; so does the record
			 * since 6.1. */
			pdfile_begin(&f, PD_TRACING_DATA, 0);
			pdfile_u32(&f, &f.data, (uint32_t)b.size);
			if (f.big)
				pdfile_u32(&f, &f.data, 0);
			pdfile_end(&f);
			vt_buf_put(&f.data, b.data, b.size);
			vt_buf_put(&f.data, "\0\0\0\0\0\0\0", -b.size % 8);
		} else {
			pdfile_feature(&f, PD_FEAT_TRACING_DATA, &b);
		}
		pdfile_begin(&f, PD_FINISHED_INIT, 0);
		pdfile_end(&f);
		PDFILE_EXPECT(&f, "META key=tracing_data", lines);
		vt_buf_free(&b);
		pdfile_free(&f);
	}
}

/* ---- who makes samples ---- */

/* What precise_ip means: PEBS, AMD's IBS, nothing on Arm; what the PMU's name says. */
static void tells_how_samples_are_chosen(void **state)
{
	static const struct {
		unsigned bit;
		const char *text;
		unsigned precise, policy;
	} cases[] = {
		{PD_FEAT_CPUID, "GenuineIntel,6", 1, 2},
		{PD_FEAT_CPUID, "GenuineIntel,6", 0, 1},
		{PD_FEAT_CPUID, "AuthenticAMD,25", 1, 3},
		{PD_FEAT_CPUID, "HygonGenuine,24", 1, 3},
		{PD_FEAT_CPUID, "HygonGenuin", 1, 2},
		{PD_FEAT_ARCH, "aarch64", 3, 1},
		{PD_FEAT_ARCH, "riscv64", 1, 1},
		{PD_FEAT_ARCH, "armv7l", 1, 1},
		{PD_FEAT_ARCH, "x86_64", 3, 2},
		{PD_FEAT_PMU_MAPPINGS, "ibs_op", 0, 3},
		{PD_FEAT_PMU_MAPPINGS, "arm_spe_0", 0, 3},
		{PD_FEAT_PMU_MAPPINGS, "uprobe", 0, 5},
		{PD_FEAT_PMU_MAPPINGS, "kprobe", 0, 5},
		{PD_FEAT_PMU_MAPPINGS, "intel_pt", 0, 0},
		{PD_FEAT_PMU_MAPPINGS, "intel_bts", 0, 0},
		{PD_FEAT_PMU_MAPPINGS, "cs_etm", 0, 0},
		{PD_FEAT_PMU_MAPPINGS, "cpu", 0, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pdfile_attr a = plain;
		struct pdfile f = {.big = i & 1};
		struct vt_buf b = VT_BUF_INIT;
		char policy[32] = "", precise[32] = "", line[200];
		const char *lines[] = {line};

		a.flags |= (uint64_t)cases[i].precise << PD_ATTR_PRECISE_SHIFT |
			   PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV;
		if (cases[i].policy)
			snprintf(policy, sizeof(policy), " policy=%u", cases[i].policy);
		if (cases[i].precise)
			snprintf(precise, sizeof(precise), " precise=%u", cases[i].precise);
		snprintf(line, sizeof(line),
			 "EVENT name=raw 0x1cd:u%s%s unit=events type=4 config=461 period=1000%s "
			 "sample_type=5 attr_flags=%llu",
			 &"ppp"[3 - cases[i].precise], policy, precise,
			 (unsigned long long)a.flags);
		if (cases[i].bit == PD_FEAT_PMU_MAPPINGS) {
			pdfile_u32(&f, &b, 1);
			pdfile_u32(&f, &b, 4);
		}
		pdfile_string(&f, &b, cases[i].text);
		pdfile_attr(&f, &a);
		pdfile_feature(&f, cases[i].bit, &b);
		pdfile_begin(&f, PD_FINISHED_INIT, 0);
		pdfile_end(&f);
		PDFILE_EXPECT(&f, "META ", lines);
		vt_buf_free(&b);
		pdfile_free(&f);
	}
}

/* ---- files that are not right ---- */

/* The header has 104 bytes, an id 8, an attribute 136 and 16; then a record of 8, a feature. */
#define DATA	 (104 + 8 + 136 + 16)
#define FEATURES (DATA + 8)

static const struct {
	size_t at;
	uint64_t value;
	size_t cut;
	const char *lines[3];
} wrong[] = {
	{0, 0, 0, {"META key=hostname value=box"}},
	/* an event's ids, which are behind its attribute */
	{DATA - 8,
	 8 * ((UINT64_C(1) << 20) + 1),
	 0,
	 {"GAP reason=an event claims 1048577 ids input=in offset=104",
	  "META key=hostname value=box"}},
	{DATA - 8,
	 8 * (UINT64_C(1) << 20),
	 0,
	 {"GAP reason=event ids lie outside of the file input=in offset=104",
	  "META key=hostname value=box"}},
	/* the attributes: their size, and that of all */
	{16,
	 79,
	 0,
	 {"GAP reason=the header claims attributes of 79 bytes input=in offset=16",
	  "GAP reason=the file has no attributes input=in offset=112",
	  "META key=hostname value=box"}},
	{16,
	 65536,
	 0,
	 {"GAP reason=the header claims attributes of 65536 bytes input=in offset=16",
	  "GAP reason=the file has no attributes input=in offset=112",
	  "META key=hostname value=box"}},
	{32,
	 152 * 65537,
	 0,
	 {"GAP reason=the header claims 65537 attributes input=in offset=24",
	  "GAP reason=the file has no attributes input=in offset=112",
	  "META key=hostname value=box"}},
	{24,
	 1 << 20,
	 0,
	 {"GAP reason=attributes lie outside of the file input=in offset=1048576",
	  "GAP reason=the file has no attributes input=in offset=1048576",
	  "META key=hostname value=box"}},
	/* a feature */
	{FEATURES + 8,
	 (32 << 20) + 1,
	 0,
	 {"GAP reason=feature section 3 claims 33554433 bytes input=in offset=288"}},
	{FEATURES + 8,
	 32 << 20,
	 0,
	 {"GAP reason=feature section 3 lies outside of the file input=in offset=288"}},
	{FEATURES + 8,
	 67,
	 0,
	 {"GAP reason=the feature section hostname is cut input=in offset=288 bytes=67"}},
	{0, 0, 69, {"GAP reason=the table of feature sections is cut input=in offset=272"}},
	{0,
	 0,
	 68 + 16 + 3,
	 {"GAP reason=the table of feature sections is cut input=in offset=272",
	  "GAP reason=the input ends inside a record's header input=in offset=264 "
	  "bytes=5"}},
};
static void says_what_is_wrong(void **state)
{
	unsigned i, form, n;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		for (form = 0; form < 2; form++) {
			struct pdfile f = {.big = form,
					   .patch_at = wrong[i].at,
					   .patch = wrong[i].value,
					   .cut = wrong[i].cut};
			struct vt_buf b = VT_BUF_INIT;
			struct vt_format_summary sum;
			uint64_t gaps = 0;

			pdfile_attr(&f, &plain);
			pdfile_begin(&f, PD_FINISHED_INIT, 0);
			pdfile_end(&f);
			pdfile_string(&f, &b, "box");
			pdfile_feature(&f, PD_FEAT_HOSTNAME, &b);
			for (n = 0; n < 3 && wrong[i].lines[n]; n++)
				gaps += !strncmp(wrong[i].lines[n], "GAP", 3);
			sum = pdfile_expect(&f, "EVENT ", wrong[i].lines, n);
			assert_int_equal(sum.damaged, gaps);
			vt_buf_free(&b);
			pdfile_free(&f);
		}
	}
}

/* ---- old forms of the header ---- */

static void expect_hostname(struct pdfile *f)
{
	static const char *const lines[] = {"META key=hostname value=box"};
	struct vt_buf b = VT_BUF_INIT;

	pdfile_attr(f, &plain);
	pdfile_string(f, &b, "box");
	pdfile_feature(f, PD_FEAT_HOSTNAME, &b);
	pdfile_begin(f, PD_FINISHED_INIT, 0);
	pdfile_end(f);
	assert_int_equal(PDFILE_EXPECT(f, "EVENT ", lines).damaged, 0);
	vt_buf_free(&b);
	pdfile_free(f);
}

/* Version 1 has one magic: the size of the header, 104 or 16, tells the order. */
static void reads_version_1_of_both_orders(void **state)
{
	unsigned form;

	(void)state;
	for (form = 0; form < 4; form++) {
		struct pdfile f = {.big = form & 1, .pipe = form & 2, .version1 = true};

		expect_hostname(&f);
	}
}

/* The first word of feature bits is behind 72 bytes; 32-bit big-endian writers have bit 3 first. */
static void exchanges_the_halves_of_feature_bits(void **state)
{
	struct pdfile f = {.big = true, .patch_at = 72, .patch = UINT64_C(8) << 32};

	(void)state;
	expect_hostname(&f);
}

/* ---- how a file can be read ---- */

/* A file of two features behind its samples. */
static void put_file_with_features(struct pdfile *f)
{
	struct vt_buf b = VT_BUF_INIT;

	pdfile_attr(f, &pdexpect_plain);
	pdexpect_put_samples(f, 1000, 3);
	vt_buf_put(&b, "zero", 4);
	pdfile_feature(f, 0, &b);
	b.size = 0;
	pdfile_string(f, &b, "box");
	pdfile_feature(f, PD_FEAT_HOSTNAME, &b);
	b.size = 0;
	vt_buf_put(&b, "hundred", 7);
	pdfile_feature(f, 100, &b);
	vt_buf_free(&b);
}

static void expect_features(void)
{
	pdexpect("META key=feature.0 data=7a65726f");
	pdexpect("META key=hostname value=box");
	pdexpect("META key=feature.100 data=68756e64726564");
}

/* Where the descriptor can be read anywhere the features come first, else what comes first. */
static void reads_features_before_records(void **state)
{
	static const size_t pieces[] = {0, 1, 50, 100000}, leads[] = {0, 1, 5000};
	unsigned i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		for (k = 0; k < 3; k++) {
			struct pdfile f = {.piece = pieces[i], .lead = leads[k]};

			put_file_with_features(&f);
			expect_features();
			pdexpect_samples(1000, 3);
			assert_int_equal(pdexpect_check(&f).damaged, 0);
		}
	}
}

/* Ids before where the reading is can only be had from a file. */
static void reads_ids_before_what_it_has_read(void **state)
{
	unsigned piece;

	(void)state;
	for (piece = 0; piece < 2; piece++) {
		struct pdfile f = {.piece = piece, .patch_at = 104 + 8 + 136, .patch = 103};

		pdfile_attr(&f, &pdexpect_plain);
		pdexpect_put_samples(&f, 1000, 3);
		pdexpect_samples(1000, 3);
		pdexpect_check(&f);
	}
}

/* An unfinished file has features only by its header. */
static void reads_no_features_of_unfinished_files(void **state)
{
	unsigned piece;

	(void)state;
	for (piece = 0; piece < 2; piece++) {
		struct pdfile f = {.piece = piece, .patch_at = 48};

		put_file_with_features(&f);
		f.cut = f.features.size + 3 * 16;
		pdexpect("GAP reason=the recording was not finished (data size 0) input=in "
			 "offset=48");
		pdexpect_samples(1000, 3);
		assert_int_equal(pdexpect_check(&f).damaged, 1);
	}
}

/* The section of the first is put behind that of the second, and is that of the third. */
static void reads_features_by_their_places(void **state)
{
	unsigned piece;

	(void)state;
	for (piece = 0; piece < 2; piece++) {
		struct pdfile f = {.piece = piece};
		struct vt_buf b = VT_BUF_INIT;

		pdfile_attr(&f, &pdexpect_plain);
		pdexpect_put_samples(&f, 1000, 1);
		vt_buf_put(&b, "abcd", 4);
		pdfile_feature(&f, 40, &b);
		pdfile_feature(&f, 41, &b);
		b.data[0] = 'x';
		pdfile_feature(&f, 42, &b);
		f.patch_at = pdexpect_place(&f);
		f.patch = f.patch_at + 3 * 16 + 8;
		pdexpect("META key=feature.41 data=61626364");
		pdexpect("META key=feature.40 data=78626364");
		pdexpect("META key=feature.42 data=78626364");
		pdexpect_samples(1000, 1);
		pdexpect_check(&f);
		vt_buf_free(&b);
	}
}

/* Records without sample ids have no times: a file's stay as they are, a pipe's samples do not. */
static void orders_what_has_times(void **state)
{
	struct pdfile_attr a = pdexpect_plain;
	unsigned pipe, i;

	(void)state;
	a.flags = 0;
	for (pipe = 0; pipe < 2; pipe++) {
		struct pdfile f = {.pipe = pipe};

		pdfile_attr(&f, &a);
		for (i = 0; i < 3; i++)
			pdexpect_put_samples(&f, 1002 - i, 1);
		for (i = 0; i < 3; i++)
			pdexpect_samples(pipe ? 1000 + i : 1002 - i, 1);
		pdexpect_check(&f);
	}
}

/*
 * An attribute of 72 bytes: behind it stands where its ids are, though the header gives more room.
 * Its id makes its samples known as those of the second event.
 */
static void reads_small_attributes(void **state)
{
	const uint64_t words[] = {21, 600, 1000};
	struct pdfile_attr a = pdexpect_plain;
	unsigned big;

	(void)state;
	a.sample_type |= PD_SAMPLE_IDENTIFIER;
	for (big = 0; big < 2; big++) {
		struct pdfile f = {.big = big};

		a.branch_type = a.regs_user = 0;
		a.first_id = 11;
		pdfile_attr(&f, &a);
		a.first_id = 21;
		/* The ids of both are behind the header. */
		a.branch_type = 104 + 8;
		a.regs_user = 8;
		f.patch_at = 104 + 16 + 152;
		f.patch = big ? UINT64_C(4) << 32 | 72 : UINT64_C(72) << 32 | 4;
		pdfile_attr(&f, &a);
		pdexpect_put_words(&f, PD_SAMPLE, words, 3);
		pdexpect("EVENT name=raw 0x1cd:HG policy=1 unit=events type=4 config=461 "
			 "period=1000 sample_type=65541 attr_flags=262144");
		pdexpect("EVENT id=1 name=raw 0x1cd:HG policy=1 unit=events type=4 config=461 "
			 "period=1000 sample_type=65541 attr_flags=262144");
		pdexpect("SAMPLE time=1000 event=1 ip=600 period=1000 has=65541 id=21");
		assert_int_equal(pdexpect_check_but(&f, "-").damaged, 0);
	}
}

static void refuses_what_is_no_perf_data(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		uint64_t header; /* its size */
		int code;
		const char *what;
	} cases[] = {
		{"PERFILE3", 200, 104, -VT_E_FORMAT, "in: not a perf.data file"},
		{"", 0, 0, -VT_E_FORMAT, "in: not a perf.data file"},
		{"PERFILE2", 7, 104, -VT_E_FORMAT, "in: not a perf.data file"},
		{"PERFILE2", 8, 104, -VT_E_FORMAT, "in: the header is cut at 8 bytes"},
		{"PERFILE2", 15, 104, -VT_E_FORMAT, "in: the header is cut at 15 bytes"},
		{"PERFILE2", 16, 104, -VT_E_FORMAT, "in: the header is cut or corrupt"},
		{"PERFILE2", 71, 104, -VT_E_FORMAT, "in: the header is cut or corrupt"},
		{"PERFILE2", 103, 104, -VT_E_FORMAT, "in: the header is cut or corrupt"},
		{"PERFILE2", 104, 104, 0, ""},
		{"PERFILE2", 72, 72, 0, ""},
		{"PERFILE2", 71, 72, -VT_E_FORMAT, "in: the header is cut or corrupt"},
		{"PERFILE2", 104, 71, -VT_E_FORMAT, "in: the header is cut or corrupt"},
		{"PERFILE2", 72, 103, 0, ""},
		{"PERFILE2", 16, 16, 0, ""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_error err = VT_ERROR_INIT;
		uint8_t bytes[200] = {0};

		memcpy(bytes, cases[i].text, strlen(cases[i].text));
		vt_put_le64(bytes + 8, cases[i].header);
		assert_int_equal(pdfile_try(bytes, cases[i].size, NULL, &err), cases[i].code);
		assert_string_equal(err.text, cases[i].what);
	}
}

/* ---- what AUX areas hold ---- */

static uint32_t aux_type(const struct pdfile *f, size_t cut)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf b = VT_BUF_INIT;
	struct vt_input in;
	uint32_t type = 99;
	int fd = scratch_file();

	pdfile_put(f, &b);
	assert_int_equal(write(fd, b.data, b.size - cut), b.size - cut);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(vt_input_open_fd(&in, fd, "in", &err), 0);
	assert_int_equal(vt_perfdata_auxtrace_type(&in, &type, &err), 0);
	assert_int_equal(in.offset, 0);
	vt_input_close(&in);
	close(fd);
	vt_buf_free(&b);
	return type;
}

/* Behind whatever perf puts first, but before all samples. */
static void looks_ahead_for_the_kind_of_aux_areas(void **state)
{
	unsigned form;

	(void)state;
	for (form = 0; form < 8; form++) {
		struct pdfile f = {.big = form & 1, .pipe = form & 2};

		pdfile_attr(&f, &plain);
		if (f.pipe) {
			pdfile_begin(&f, PD_TRACING_DATA, 0);
			pdfile_u32(&f, &f.data, 9);
			pdfile_end(&f);
			vt_buf_put(&f.data, "trace data\0\0\0\0\0", 16);
		}
		if (form & 4)
			put_samples(&f);
		pdfile_begin(&f, PD_AUXTRACE_INFO, 0);
		pdfile_u32(&f, &f.data, 4);
		pdfile_u32(&f, &f.data, 0);
		pdfile_end(&f);
		assert_int_equal(aux_type(&f, 0), form & 4 ? 0 : 4);
		assert_int_equal(aux_type(&f, 4), form & 4 ? 0 : 4);
		assert_int_equal(aux_type(&f, 5), 0);
		pdfile_free(&f);
	}
	assert_string_equal(vt_perfdata_auxtrace_name(1), "Intel PT");
	assert_string_equal(vt_perfdata_auxtrace_name(7), "PowerPC VPA DTL");
	assert_string_equal(vt_perfdata_auxtrace_name(8), "an unknown kind");
	assert_string_equal(vt_perfdata_auxtrace_name(0), "an unknown kind");
}

static uint32_t aux_type_behind(struct pdfile *f)
{
	uint32_t type;

	pdfile_begin(f, PD_AUXTRACE_INFO, 0);
	pdfile_u32(f, &f->data, 4);
	pdfile_u32(f, &f->data, 0);
	pdfile_end(f);
	type = aux_type(f, 0);
	pdfile_free(f);
	return type;
}

/* Not behind a record that comes late, nor behind one that is smaller than its header. */
static void looks_no_further_than_early_records(void **state)
{
	static const struct {
		uint32_t type, aux;
		bool empty;
	} first[] = {{PD_FINISHED_INIT, 4, false}, {PD_FINISHED_INIT, 0, true},
		     {PD_SAMPLE, 0, false},	   {PD_FINISHED_ROUND, 0, false},
		     {PD_AUXTRACE, 0, false},	   {PD_COMPRESSED, 0, false},
		     {PD_COMPRESSED2, 0, false}};
	unsigned i, form;

	(void)state;
	for (i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		for (form = 0; form < 4; form++) {
			struct pdfile f = {.big = form & 1, .pipe = form & 2};

			pdfile_attr(&f, &plain);
			pdfile_begin(&f, first[i].type, 0);
			if (!first[i].empty)
				pdfile_end(&f);
			assert_int_equal(aux_type_behind(&f), first[i].aux);
		}
	}
}

/* Trace data fill a multiple of 8 bytes. */
static void looks_behind_trace_data(void **state)
{
	static const struct {
		uint32_t says, fills;
	} sizes[] = {{0, 0}, {1, 8}, {8, 8}, {9, 16}, {16, 16}};
	unsigned i, form;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (form = 0; form < 2; form++) {
			struct pdfile f = {.big = form, .pipe = true};

			pdfile_attr(&f, &plain);
			pdfile_begin(&f, PD_TRACING_DATA, 0);
			pdfile_u32(&f, &f.data, sizes[i].says);
			pdfile_end(&f);
			vt_buf_put(&f.data, "trace data\0\0\0\0\0", sizes[i].fills);
			assert_int_equal(aux_type_behind(&f), 4);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inflates),
		cmocka_unit_test(names_tracepoints),
		cmocka_unit_test(tells_how_samples_are_chosen),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(reads_version_1_of_both_orders),
		cmocka_unit_test(exchanges_the_halves_of_feature_bits),
		PDEXPECT_TEST(reads_features_before_records),
		PDEXPECT_TEST(reads_ids_before_what_it_has_read),
		PDEXPECT_TEST(reads_no_features_of_unfinished_files),
		PDEXPECT_TEST(reads_features_by_their_places),
		PDEXPECT_TEST(orders_what_has_times),
		PDEXPECT_TEST(reads_small_attributes),
		cmocka_unit_test(refuses_what_is_no_perf_data),
		cmocka_unit_test(looks_ahead_for_the_kind_of_aux_areas),
		cmocka_unit_test(looks_no_further_than_early_records),
		cmocka_unit_test(looks_behind_trace_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
