/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Features one by one: what each says, also where its bytes end too soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/perfdata/session.h"
#include "tests/unit/formats/perfdata/pdfile.h"
#include "tests/unit/formats/perfdata/pdsession.h"

static const struct pdfile little;

static void u32(struct vt_buf *b, uint32_t v)
{
	pdfile_u32(&little, b, v);
}

static void u64(struct vt_buf *b, uint64_t v)
{
	pdfile_u64(&little, b, v);
}

static void string(struct vt_buf *b, const char *text)
{
	pdfile_string(&little, b, text);
}

/* What a feature of these bytes makes of a session that knows nothing yet. */
static void feature(struct pdsession *p, unsigned bit, const struct vt_buf *b, size_t size)
{
	assert_int_equal(vti_pd_feature(&p->s, bit, b->data, size, 9), 0);
}

static void put_topology(struct vt_buf *b)
{
	u32(b, 2);
	string(b, "0-1");
	string(b, "2-3");
	u32(b, 1);
	string(b, "0");
}

static void put_numa(struct vt_buf *b)
{
	u32(b, 2);
	u32(b, 0);
	u64(b, 10);
	u64(b, 11);
	string(b, "0-3");
	u32(b, 1);
	u64(b, 12);
	u64(b, 13);
	string(b, "4");
}

static void put_cache(struct vt_buf *b)
{
	unsigned i;

	u32(b, 1);
	u32(b, 2);
	for (i = 0; i < 2; i++) {
		u32(b, 1 + i);
		u32(b, 64);
		u32(b, 65);
		u32(b, 8 + i);
		string(b, "Data");
		string(b, "32K");
		string(b, "0");
	}
}

static void put_pmus(struct vt_buf *b)
{
	u32(b, 2);
	u32(b, 4);
	string(b, "cpu");
	u32(b, 8);
	string(b, "ibs_op");
}

static void put_groups(struct vt_buf *b)
{
	u32(b, 2);
	string(b, "g");
	u32(b, 0);
	u32(b, 2);
	string(b, "h");
	u32(b, 2);
	u32(b, 3);
}

static void put_pairs(struct vt_buf *b)
{
	u32(b, 2);
	string(b, "a");
	string(b, "1");
	string(b, "b");
	string(b, "2");
}

static void put_caps(struct vt_buf *b)
{
	u32(b, 2);
	put_pairs(b);
	string(b, "cpu");
	u32(b, 1);
	string(b, "c");
	string(b, "3");
	string(b, "ibs");
}

static void put_command(struct vt_buf *b)
{
	u32(b, 3);
	string(b, "perf");
	string(b, "a b");
	string(b, "c\\d");
}

static void put_name(struct vt_buf *b)
{
	string(b, "box");
}

static void put_two(struct vt_buf *b)
{
	u32(b, 8);
	u32(b, 4);
}

static void put_word(struct vt_buf *b)
{
	u64(b, 123);
}

static void put_words(struct vt_buf *b)
{
	u64(b, 5);
	u64(b, 6);
}

static void put_zstd(struct vt_buf *b)
{
	unsigned i;

	for (i = 0; i < 5; i++)
		u32(b, 1 + i / 2);
}

static void put_attrs(struct vt_buf *b)
{
	u32(b, 2);
	u32(b, 8);
	vt_buf_put(b, "an attr.", 8);
	u32(b, 2);
	string(b, "first");
	u64(b, 1);
	u64(b, 2);
	vt_buf_put(b, "another.", 8);
	u32(b, 0);
	string(b, "second");
}

static const struct known {
	unsigned bit;
	const char *name;
	void (*put)(struct vt_buf *b);
	const char *lines;
	const char *cut; /* without the last byte: before what says so */
} known[] = {
	{PD_FEAT_HOSTNAME, "hostname", put_name, "META key=hostname value=box\n", ""},
	{PD_FEAT_ARCH, "arch", put_name, "META key=arch value=box\n", ""},
	{PD_FEAT_CPUID, "cpuid", put_name, "META key=cpuid value=box\n", ""},
	{PD_FEAT_NRCPUS, "nrcpus", put_two,
	 "META key=nrcpus.available value=8\nMETA key=nrcpus.online value=4\n", ""},
	{PD_FEAT_TOTAL_MEM, "total_mem", put_word, "META key=total_mem value=123 kB\n", ""},
	{PD_FEAT_CLOCKID, "clockid_res_ns", put_word, "META key=clockid_res_ns value=123\n", ""},
	{PD_FEAT_DIR_FORMAT, "dir_format", put_word, "META key=dir_format value=123\n", ""},
	{PD_FEAT_CMDLINE, "cmdline", put_command, "META key=cmdline value=perf a\\ b c\\\\d\n",
	 "META key=cmdline value=perf a\\ b \n"},
	{PD_FEAT_CPU_TOPOLOGY, "cpu_topology", put_topology,
	 "META key=cpu_topology.cores value=0-1\nMETA key=cpu_topology.cores value=2-3\n"
	 "META key=cpu_topology.threads value=0\n",
	 "META key=cpu_topology.cores value=0-1\nMETA key=cpu_topology.cores value=2-3\n"},
	{PD_FEAT_NUMA_TOPOLOGY, "numa_topology", put_numa,
	 "META key=numa_topology.node value=node 0 total 10 kB free 11 kB cpus 0-3\n"
	 "META key=numa_topology.node value=node 1 total 12 kB free 13 kB cpus 4\n",
	 "META key=numa_topology.node value=node 0 total 10 kB free 11 kB cpus 0-3\n"},
	{PD_FEAT_PMU_MAPPINGS, "pmu_mappings", put_pmus,
	 "META key=pmu.4 value=cpu\nMETA key=pmu.8 value=ibs_op\n", "META key=pmu.4 value=cpu\n"},
	{PD_FEAT_GROUP_DESC, "group_desc", put_groups,
	 "META key=group value=leader 0 members 2 name g\n"
	 "META key=group value=leader 2 members 3 name h\n",
	 "META key=group value=leader 0 members 2 name g\n"},
	{PD_FEAT_CACHE, "cache", put_cache,
	 "META key=cache value=L1 line 64 sets 65 ways 8 Data 32K 0\n"
	 "META key=cache value=L2 line 64 sets 65 ways 9 Data 32K 0\n",
	 "META key=cache value=L1 line 64 sets 65 ways 8 Data 32K 0\n"},
	{PD_FEAT_SAMPLE_TIME, "sample_time", put_words,
	 "META key=sample_time.first value=5\nMETA key=sample_time.last value=6\n", ""},
	{PD_FEAT_COMPRESSED, "compressed", put_zstd,
	 "META key=compressed value=version 1 type zstd level 2 ratio 2 buffer 3\n", ""},
	{PD_FEAT_CPU_PMU_CAPS, "cpu_pmu_caps", put_pairs,
	 "META key=cpu_pmu_caps value=a=1\nMETA key=cpu_pmu_caps value=b=2\n",
	 "META key=cpu_pmu_caps value=a=1\n"},
	{PD_FEAT_HYBRID_TOPOLOGY, "hybrid_topology", put_pairs,
	 "META key=hybrid_topology value=a=1\nMETA key=hybrid_topology value=b=2\n",
	 "META key=hybrid_topology value=a=1\n"},
	{PD_FEAT_PMU_CAPS, "pmu_caps", put_caps,
	 "META key=pmu_caps.cpu value=a=1\nMETA key=pmu_caps.cpu value=b=2\n"
	 "META key=pmu_caps.ibs value=c=3\n",
	 "META key=pmu_caps.cpu value=a=1\nMETA key=pmu_caps.cpu value=b=2\n"},
	{PD_FEAT_EVENT_DESC, "event_desc", put_attrs, "", ""},
};

static void says_where_features_are_cut(void **state)
{
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct known *k = &known[i];
		struct vt_buf b = VT_BUF_INIT;
		struct pdsession p;
		char lines[400];

		k->put(&b);
		pdsession_init(&p, PD_SAMPLE_IP);
		feature(&p, k->bit, &b, b.size);
		assert_int_equal(p.sum.damaged, 0);
		pdsession_expect(&p, k->lines);
		feature(&p, k->bit, &b, b.size - 1);
		snprintf(lines, sizeof(lines),
			 "%sGAP reason=the feature section %s is cut input=test offset=9 "
			 "bytes=%zu\n",
			 k->cut, k->name, b.size - 1);
		pdsession_expect(&p, lines);
		for (n = 0; n < b.size; n++) {
			p.sum.damaged = 0;
			feature(&p, k->bit, &b, n);
			assert_int_equal(p.sum.damaged, 1);
		}
		pdsession_fini(&p);
		vt_buf_free(&b);
	}
}

/* What is not known keeps its bytes, in pieces of 1 MiB. */
static void keeps_bytes(void **state)
{
	static const struct {
		unsigned bit;
		const char *line;
	} raw[] = {
		{PD_FEAT_BRANCH_STACK, "META key=branch_stack data=010000006162\n"},
		{PD_FEAT_AUXTRACE, "META key=auxtrace data=010000006162\n"},
		{PD_FEAT_STAT, "META key=stat data=010000006162\n"},
		{PD_FEAT_MEM_TOPOLOGY, "META key=mem_topology data=010000006162\n"},
		{PD_FEAT_BPF_PROG_INFO, "META key=bpf_prog_info data=010000006162\n"},
		{PD_FEAT_BPF_BTF, "META key=bpf_btf data=010000006162\n"},
		{PD_FEAT_CLOCK_DATA, "META key=clock_data data=010000006162\n"},
		{PD_FEAT_TRACING_DATA, "META key=tracing_data data=010000006162\n"},
		{0, "META key=feature.0 data=010000006162\n"},
		{32, "META key=feature.32 data=010000006162\n"},
		{255, "META key=feature.255 data=010000006162\n"},
	};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t i;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP);
	u32(&b, 1);
	vt_buf_put(&b, "ab", 2);
	for (i = 0; i < sizeof(raw) / sizeof(raw[0]); i++) {
		feature(&p, raw[i].bit, &b, b.size);
		pdsession_expect(&p, raw[i].line);
	}
	feature(&p, PD_FEAT_STAT, &b, 0);
	pdsession_expect(&p, "META key=stat\n");
	/* A cache's second version, of which nothing is known but that. */
	b.size = 0;
	u32(&b, 2);
	u32(&b, 7);
	u32(&b, 8);
	feature(&p, PD_FEAT_CACHE, &b, b.size);
	pdsession_expect(&p, "META key=cache data=08000000\n");
	/* A topology's cores and sockets behind its lists. */
	b.size = 0;
	put_topology(&b);
	u32(&b, 6);
	feature(&p, PD_FEAT_CPU_TOPOLOGY, &b, b.size);
	pdsession_expect(&p, "META key=cpu_topology.cores value=0-1\n"
			     "META key=cpu_topology.cores value=2-3\n"
			     "META key=cpu_topology.threads value=0\n"
			     "META key=cpu_topology data=06000000\n");
	b.size = 0;
	for (i = 0; i < 5; i++)
		u32(&b, 9);
	feature(&p, PD_FEAT_COMPRESSED, &b, b.size);
	pdsession_expect(&p, "META key=compressed value=version 9 type unknown level 9 ratio 9 "
			     "buffer 9\n");
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* The line of n bytes 'a'. */
static void put_piece(struct vt_buf *lines, size_t n)
{
	vt_buf_printf(lines, "META key=stat data=");
	while (n--)
		vt_buf_put(lines, "61", 2);
	vt_buf_put_u8(lines, '\n');
}

static void keeps_many_bytes_in_pieces(void **state)
{
	struct vt_buf b = VT_BUF_INIT, lines = VT_BUF_INIT;
	const size_t mib = (size_t)1 << 20;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP);
	while (b.size < 2 * mib + 1)
		vt_buf_put_u8(&b, 'a');
	feature(&p, PD_FEAT_STAT, &b, mib);
	put_piece(&lines, mib);
	feature(&p, PD_FEAT_STAT, &b, 2 * mib + 1);
	put_piece(&lines, mib);
	put_piece(&lines, mib);
	put_piece(&lines, 1);
	pdsession_expect(&p, vt_buf_str(&lines));
	pdsession_fini(&p);
	vt_buf_free(&lines);
	vt_buf_free(&b);
}

static void knows_machines(void **state)
{
	/* EM_* of elf.h */
	static const struct {
		const char *arch;
		uint32_t machine;
	} cases[] = {{"x86_64", 62}, {"aarch64", 183}, {"arm64", 183},	 {"i386", 3},
		     {"i486", 3},    {"i586", 3},      {"i686", 3},	 {"arm", 40},
		     {"armv7l", 40}, {"ppc64le", 21},  {"s390x", 22},	 {"riscv64", 243},
		     {"sparc", 0},   {"x86_6", 0},     {"x86_64 ?", 62}, {"", 0}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_buf b = VT_BUF_INIT;
		struct pdsession p;

		pdsession_init(&p, PD_SAMPLE_IP);
		string(&b, cases[i].arch);
		p.s.events[0].dirty = false;
		feature(&p, PD_FEAT_ARCH, &b, b.size);
		assert_int_equal(p.s.machine, cases[i].machine);
		assert_true(p.s.has_arch);
		assert_true(p.s.events[0].dirty);
		vt_buf_free(&b);
		pdsession_fini(&p);
	}
}

static void knows_vendors(void **state)
{
	static const struct {
		const char *cpuid;
		bool amd;
	} cases[] = {{"AuthenticAMD", true},  {"AuthenticAM", false}, {"AuthenticAMD,25,1", true},
		     {"HygonGenuine", true},  {"HygonGenuin", false}, {"GenuineIntel,6", false},
		     {"AuthenticAMX", false}, {"HygonGenuinX", false}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_buf b = VT_BUF_INIT;
		struct pdsession p;

		pdsession_init(&p, PD_SAMPLE_IP);
		string(&b, cases[i].cpuid);
		p.s.events[0].dirty = false;
		feature(&p, PD_FEAT_CPUID, &b, b.size);
		assert_int_equal(p.s.amd, cases[i].amd);
		assert_true(p.s.events[0].dirty);
		vt_buf_free(&b);
		pdsession_fini(&p);
	}
}

/* The last type has no place any more; one that is known gets another name. */
static void bounds_pmus(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	uint32_t i;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP);
	u32(&b, 65536 + 2);
	for (i = 0; i < 65536 + 2; i++) {
		u32(&b, i == 65537 ? 5 : i);
		u32(&b, 2);
		vt_buf_put(&b, i == 65537 ? "q" : "p", 2);
	}
	feature(&p, PD_FEAT_PMU_MAPPINGS, &b, b.size);
	assert_int_equal(p.s.pmus.count, 65536);
	i = 5;
	i = ((const uint32_t *)vt_hash_find(&p.s.pmus, &i))[1];
	assert_string_equal(vt_intern_get(p.s.strings, i), "q");
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* A name of the file comes after one that perf has given. */
static void names_events(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP);
	pdsession_event(&p, &p.s.events[0].attr);
	vti_pd_event_name(&p.s, 1, (const uint8_t *)"own", 3, false);
	put_attrs(&b);
	feature(&p, PD_FEAT_EVENT_DESC, &b, b.size);
	assert_string_equal(p.s.events[0].name, "first");
	assert_string_equal(p.s.events[1].name, "own");
	vt_buf_free(&b);
	pdsession_fini(&p);
}

/* Rows are records; the first perfs had no process in them, but the kernel's name 4 bytes on. */
static void reads_tables_of_build_ids(void **state)
{
	static const char *const names[] = {"[kernel.kallsyms]", "[kernel.kallsymz]"};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		pdsession_init(&p, PD_SAMPLE_IP);
		b.size = 0;
		u32(&b, 0);
		u32(&b, PD_MISC_KERNEL | (8 + 24 + 20) << 16);
		vt_buf_put(&b, "ABCDEFGHIJKLMNOPQRST\0\0\0\0", 24);
		vt_buf_put(&b, names[i], 18);
		vt_buf_put(&b, "\0", 2);
		feature(&p, PD_FEAT_BUILD_ID, &b, b.size);
		feature(&p, PD_FEAT_BUILD_ID, &b, 0);
		assert_int_equal(p.sum.damaged, 0);
		vti_pd_image(&p.s, (const uint8_t *)"[kernel.kallsyms]", 17, true, NULL);
		pdsession_expect(&p, i ? "IMAGE type=1 path=[kernel.kallsyms] "
					 "buildid=45464748494a4b4c4d4e4f505152535400000000\n"
				       : "IMAGE type=1 path=[kernel.kallsyms] "
					 "buildid=4142434445464748494a4b4c4d4e4f5051525354\n");
		/* Of fewer than 8 bytes behind the last row nothing is expected. */
		vt_buf_put(&b, "1234567", 7);
		feature(&p, PD_FEAT_BUILD_ID, &b, b.size);
		assert_int_equal(p.sum.damaged, 0);
		b.data[6]++;
		b.size -= 7;
		feature(&p, PD_FEAT_BUILD_ID, &b, b.size);
		assert_int_equal(p.sum.damaged, 1);
		b.data[6] = 7;
		feature(&p, PD_FEAT_BUILD_ID, &b, b.size);
		assert_int_equal(p.sum.damaged, 2);
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

/* ---- trace data ---- */

static void put_format(struct vt_buf *b, const char *text)
{
	u64(b, strlen(text));
	vt_buf_put(b, text, strlen(text));
}

/* One format file of the system "net". */
static void put_tracing(struct vt_buf *b, const char *format)
{
	b->size = 0;
	vt_buf_put(b, "\x17\x08\x44tracing0.6\0", 14);
	vt_buf_put(b, "\0\10", 2);
	u32(b, 4096);
	vt_buf_put(b, "header_page\0", 12);
	put_format(b, "a page");
	vt_buf_put(b, "header_event\0", 13);
	put_format(b, "an event");
	u32(b, 1);
	put_format(b, "name: own\nID: 9\n");
	u32(b, 1);
	vt_buf_put(b, "net\0", 4);
	u32(b, 1);
	put_format(b, format);
}

static void add_tracepoint(struct pdsession *p)
{
	const struct pd_attr a = {.type = PD_TYPE_TRACEPOINT, .config = 31};

	pdsession_init(p, PD_SAMPLE_IP);
	p->s.events[0].attr.config = 31;
	pdsession_event(p, &a);
}

static void reads_format_files(void **state)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{"name: xmit\nID: 31\n", "net:xmit"},
		{"ID: 31\nname: xmit", "net:xmit"},
		{"ID: 31x\nname: x", "net:x"},
		{"ID: 31 \nformat:\nname: x\nname: y\n", "net:x"},
		{"ID: 310\nname: x", NULL},
		{"ID: 3:\nname: x", NULL},
		{"ID: 3/\nname: x", NULL},
		{"ID: 32\nname: x", NULL},
		{"ID: \nname: x", NULL},
		{"ID: 31\nname: \n", NULL},
		{"ID: 31\nname: ", NULL},
		{"ID: 31\nname:", NULL},
		{"XID: 31\nname: x", NULL},
		{"", NULL},
	};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add_tracepoint(&p);
		put_tracing(&b, cases[i].text);
		assert_int_equal(vti_pd_feature(&p.s, PD_FEAT_TRACING_DATA, b.data, b.size, 0), 0);
		assert_null(p.s.events[0].name);
		if (cases[i].name)
			assert_string_equal(p.s.events[1].name, cases[i].name);
		else
			assert_null(p.s.events[1].name);
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

/* Neither where they are cut, nor where they begin in another way, nor where a name is there. */
static void takes_whole_trace_data(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	size_t n;

	(void)state;
	put_tracing(&b, "name: xmit\nID: 31\n");
	add_tracepoint(&p);
	for (n = 0; n < b.size; n++)
		assert_int_equal(vti_pd_feature(&p.s, PD_FEAT_TRACING_DATA, b.data, n, 0), 0);
	for (n = 0; n < 10; n++) {
		b.data[n]++;
		assert_int_equal(vti_pd_feature(&p.s, PD_FEAT_TRACING_DATA, b.data, b.size, 0), 0);
		b.data[n]--;
	}
	assert_null(p.s.events[1].name);
	vti_pd_event_name(&p.s, 1, (const uint8_t *)"own", 3, false);
	assert_int_equal(vti_pd_feature(&p.s, PD_FEAT_TRACING_DATA, b.data, b.size, 0), 0);
	assert_string_equal(p.s.events[1].name, "own");
	pdsession_fini(&p);
	vt_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_where_features_are_cut),
		cmocka_unit_test(keeps_bytes),
		cmocka_unit_test(keeps_many_bytes_in_pieces),
		cmocka_unit_test(knows_machines),
		cmocka_unit_test(knows_vendors),
		cmocka_unit_test(bounds_pmus),
		cmocka_unit_test(names_events),
		cmocka_unit_test(reads_tables_of_build_ids),
		cmocka_unit_test(reads_format_files),
		cmocka_unit_test(takes_whole_trace_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
