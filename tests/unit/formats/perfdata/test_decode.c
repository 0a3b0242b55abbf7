/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files made number by number, and what must come out of them: each number is another one, in the
 * places that linux/perf_event.h and the kernel's perf.data-file-format.txt give them.
 */
#include "formats/perfdata/perfdata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/perfdata/abi.h"
#include "tests/unit/formats/perfdata/pdfile.h"

#define FIELDS                                                                                     \
	(PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CPU |    \
	 PD_SAMPLE_PERIOD)

static const struct pdfile_attr plain = {.type = 4,
					 .config = 461,
					 .period = 1000,
					 .sample_type = FIELDS,
					 .flags = PD_ATTR_SAMPLE_ID_ALL,
					 .first_id = 11,
					 .nids = 2};

/* process 100, thread 101, the time, processor 3, event id 12 */
static void put_id(struct pdfile *f, uint64_t time)
{
	pdfile_u32(f, &f->data, 100);
	pdfile_u32(f, &f->data, 101);
	pdfile_u64(f, &f->data, time);
	pdfile_u32(f, &f->data, 3);
	pdfile_u32(f, &f->data, 0);
	pdfile_u64(f, &f->data, 12);
	pdfile_end(f);
}

/* What a record's payload consists of. */
struct part {
	char what; /* 2, 4, 8: bytes of a number; t: text; b: 8 bytes as they are */
	uint64_t v;
	const char *text;
};

static void put_parts(struct pdfile *f, struct vt_buf *b, const struct part *p)
{
	for (; p->what; p++) {
		switch (p->what) {
		case '2':
			pdfile_u16(f, b, (uint16_t)p->v);
			break;
		case '4':
			pdfile_u32(f, b, (uint32_t)p->v);
			break;
		case '8':
			pdfile_u64(f, b, p->v);
			break;
		case 't':
			pdfile_text(b, p->text);
			break;
		case 's':
			pdfile_string(f, b, p->text);
			break;
		default:
			vt_buf_put(b, p->text, 8);
		}
	}
}

#define N2(v)                                                                                      \
	{                                                                                          \
		'2', v, NULL                                                                       \
	}
#define N4(v)                                                                                      \
	{                                                                                          \
		'4', v, NULL                                                                       \
	}
#define N8(v)                                                                                      \
	{                                                                                          \
		'8', v, NULL                                                                       \
	}
#define TX(t)                                                                                      \
	{                                                                                          \
		't', 0, t                                                                          \
	}
#define ST(t)                                                                                      \
	{                                                                                          \
		's', 0, t                                                                          \
	}
#define BY(t)                                                                                      \
	{                                                                                          \
		'b', 0, t                                                                          \
	}

static const struct {
	uint32_t type;
	uint16_t misc;
	struct part parts[14];
} kernels[] = {
	{PD_MMAP, 1, {N4(-1U), N4(0), N8(4096), N8(8192), N8(256), TX("[kernel.kallsyms]_text")}},
	{PD_MMAP, 1, {N4(-1U), N4(0), N8(65536), N8(4096), N8(0), TX("[ext4]")}},
	{PD_MMAP, 2 | 1 << 13, {N4(100), N4(101), N8(32), N8(33), N8(34), TX("//anon")}},
	{PD_COMM, 1 << 13, {N4(100), N4(101), TX("prog")}},
	{PD_COMM, 0, {N4(100), N4(101), TX("a longer one")}},
	{PD_MMAP2,
	 2,
	 {N4(100), N4(101), N8(40), N8(41), N8(42), N4(8), N4(1), N8(43), N8(44), N4(5), N4(2),
	  TX("/bin/prog")}},
	{PD_MMAP2,
	 2 | 1 << 14,
	 {N4(100), N4(101), N8(50), N8(51), N8(52), BY("\4\0\0\0ABCD"), BY("EFGHIJKL"),
	  BY("MNOPQRST"), N4(5), N4(2), TX("/lib/own")}},
	{PD_FORK, 0, {N4(100), N4(99), N4(101), N4(98), N8(77)}},
	{PD_EXIT, 0, {N4(100), N4(99), N4(101), N4(98), N8(77)}},
	{PD_LOST, 0, {N8(11), N8(42)}},
	{PD_LOST_SAMPLES, 0, {N8(5)}},
	{PD_LOST_SAMPLES, 1 << 15, {N8(6)}},
	{PD_THROTTLE, 0, {N8(60), N8(11), N8(61)}},
	{PD_UNTHROTTLE, 0, {N8(62), N8(12), N8(63)}},
	{PD_AUX, 0, {N8(64), N8(65), N8(3)}},
	{PD_ITRACE_START, 0, {N4(70), N4(71)}},
	{PD_SWITCH, 0, {{0}}},
	{PD_SWITCH, 1 << 13, {{0}}},
	{PD_SWITCH_CPU_WIDE, 3 << 13, {N4(200), N4(201)}},
	{PD_NAMESPACES, 0, {N4(100), N4(101), N8(2), N8(3), N8(80), N8(4), N8(81)}},
	{PD_KSYMBOL, 0, {N8(90), N4(91), N2(1), N2(2), TX("bpf_prog")}},
	{PD_BPF_EVENT, 0, {N2(1), N2(2), N4(9), BY("\1\2\3\4\5\6\7\10")}},
	{PD_CGROUP, 0, {N8(77), TX("/user")}},
	{PD_TEXT_POKE, 0, {N8(95), N2(2), N2(1), N4(0x11223344)}},
	{PD_AUX_OUTPUT_HW_ID, 0, {N8(10)}},
	{PD_READ, 0, {N4(100), N4(101), BY("counters")}},
	{PD_SAMPLE, 2, {N8(12), N8(600), N4(100), N4(102), N8(2000), N4(4), N4(0), N8(700)}},
};

#define ID "pid=100 tid=101 cpu=3"

/* An attribute's two ids are those of the first event: event=0 is not shown. */
static const char *const kernel_lines[] = {
	"IMAGE type=1 path=[kernel.kallsyms]",
	"MAP time=1000 pid=-1 start=4096 length=8192 offset=256 prot=5 misc=1",
	"IMAGE id=1 type=2 path=[ext4]",
	"MAP time=1001 pid=-1 start=65536 length=4096 image=1 prot=5 misc=1",
	"IMAGE id=2 type=4 path=//anon",
	"MAP time=1002 pid=100 tid=101 start=32 length=33 offset=34 image=2 prot=1 misc=8194",
	"THREAD time=1003 pid=100 tid=101 op=1 comm=prog",
	"THREAD time=1004 pid=100 tid=101 comm=a longer one",
	"IMAGE id=3 path=/bin/prog",
	"MAP time=1005 pid=100 tid=101 start=40 length=41 offset=42 image=3 prot=5 flags=2 misc=2 "
	"maj=8 min=1 ino=43 ino_generation=44",
	"IMAGE id=4 path=/lib/own buildid=41424344",
	"MAP time=1006 pid=100 tid=101 start=50 length=51 offset=52 image=4 prot=5 flags=2 "
	"misc=16386",
	"THREAD time=1007 pid=100 tid=101 op=2 ppid=99 ptid=98",
	"THREAD time=1008 pid=100 tid=101 op=3 ppid=99 ptid=98",
	"LOST time=1009 " ID " count=42 source=LOST",
	"LOST time=1010 " ID " count=5 source=LOST_SAMPLES",
	"META key=record.filtered_samples value=event=0 count=6",
	"THROTTLE time=60 cpu=3 on=1 stream_id=61",
	"THROTTLE time=62 cpu=3 stream_id=63",
	"AUX time=1014 " ID " offset=64 size=65 flags=3",
	"ITRACE time=1015 pid=70 tid=71 cpu=3",
	"SWITCH time=1016 " ID,
	"SWITCH time=1017 " ID " out=1",
	"SWITCH time=1018 " ID " out=1 preempt=1 other_pid=200 other_tid=201",
	"NAMESPACES time=1019 pid=100 tid=101 dev=3,4 ino=80,81",
	"KSYMBOL time=1020 addr=90 length=91 type=1 flags=2 name=bpf_prog",
	"BPF time=1021 type=1 flags=2 id=9 tag=0102030405060708",
	"CGROUP time=1022 id=77 path=/user",
	NULL, /* depends on the order of bytes */
	"META key=record.aux_output_hw_id value=time=1024 cpu=3 id=12 event=0 hw_id=0xa",
	"META key=record.read value=time=1025 pid=100 tid=101 event=0 data=636f756e74657273",
	"SAMPLE time=2000 pid=100 tid=102 cpu=4 ip=600 period=700 misc=2 has=65927 id=12",
};

#define NLINES (sizeof(kernel_lines) / sizeof(kernel_lines[0]))

/* Records are put in the opposite order: their times put them right. */
static void make_kernel(struct pdfile *f)
{
	size_t i;

	for (i = sizeof(kernels) / sizeof(kernels[0]); i-- > 0;) {
		pdfile_begin(f, kernels[i].type, kernels[i].misc);
		put_parts(f, &f->data, kernels[i].parts);
		if (kernels[i].type == PD_SAMPLE)
			pdfile_end(f);
		else
			put_id(f, 1000 + i);
	}
}

static void decodes_all_of_the_kernels_records(void **state)
{
	const char *lines[NLINES];
	unsigned form;

	(void)state;
	for (form = 0; form < 4; form++) {
		struct pdfile f = {.big = form & 1, .pipe = form & 2};

		const char **poke = lines;

		memcpy(lines, kernel_lines, sizeof(lines));
		while (*poke)
			poke++;
		*poke = f.big ? "TEXTPOKE time=1023 addr=95 old=1122 new=33"
			      : "TEXTPOKE time=1023 addr=95 old=4433 new=22";
		pdfile_attr(&f, &plain);
		make_kernel(&f);
		PDFILE_EXPECT(&f, "EVENT ", lines);
		pdfile_free(&f);
	}
}

/* ---- samples ---- */

#define MOST_FIELDS                                                                                \
	(((1u << 25) - 1) & ~(PD_SAMPLE_WEIGHT_STRUCT | PD_SAMPLE_IDENTIFIER | PD_SAMPLE_READ))

static void put_most_fields(struct pdfile *f)
{
	const struct part first[] = {N8(600),
				     N4(100),
				     N4(102),
				     N8(2000),
				     N8(601),
				     N8(12),
				     N8(602),
				     N4(4),
				     N4(0),
				     N8(603),
				     /* a callchain of two, raw data of four bytes */
				     N8(2),
				     N8(604),
				     N8(605),
				     N4(4),
				     {0}};
	const struct part more[] = {
		/* branches: a count, an index, from, to, flags (3 cycles), a counter */
		N8(1),
		N8(9),
		N8(16),
		N8(32),
		N8(f->big ? UINT64_C(3) << 44 : 3 << 4),
		N8(64),
		/* registers 0, 2 and 4; a stack of 16 bytes, of which 8 are filled */
		N8(2),
		N8(1),
		N8(2),
		N8(3),
		N8(16),
		BY("stack of"),
		BY("unfilled"),
		N8(8),
		{0}};
	const struct part last[] = {/* weight, data_src, transaction; registers 0 and 1 */
				    N8(55),
				    N8(56),
				    N8(57),
				    N8(1),
				    N8(6),
				    N8(7),
				    /* phys_addr, cgroup, sizes of pages, AUX */
				    N8(58),
				    N8(59),
				    N8(4096),
				    N8(8192),
				    N8(8),
				    BY("aux data"),
				    {0}};

	pdfile_begin(f, PD_SAMPLE, 2);
	put_parts(f, &f->data, first);
	vt_buf_put(&f->data, "raw!", 4);
	put_parts(f, &f->data, more);
	put_parts(f, &f->data, last);
	pdfile_end(f);
}

static void decodes_all_fields_of_samples(void **state)
{
#define BEFORE_STACK                                                                               \
	"SAMPLE time=2000 pid=100 tid=102 cpu=4 ip=600 period=603 misc=2 has=16711663 "            \
	"addr=601 weight=55 data_src=56 phys_addr=58 data_page_size=4096 "                         \
	"code_page_size=8192 cgroup=59 transaction=57 id=12 stream_id=602 "                        \
	"callchain=604,605 uregs_abi=2 uregs=1,2,3 iregs_abi=1 iregs=6,7 "
#define AFTER_STACK                                                                                \
	"br_from=16 br_to=32 br_flags=48 br_counters=64 br_hw_idx=9 raw=72617721 "                 \
	"aux=6175782064617461 pm_has=1 events_told=30720 events=16384"
	static const char *const lines[] = {BEFORE_STACK
					    "stack=737461636b206f66 stack_dyn_size=8 " AFTER_STACK};
	static const char *const without[] = {BEFORE_STACK AFTER_STACK};
	struct pdfile_attr a = plain;
	unsigned form;

	(void)state;
	a.sample_type = MOST_FIELDS;
	a.branch_type = PD_BRANCH_HW_INDEX | PD_BRANCH_COUNTERS;
	a.regs_user = 0x15;
	a.regs_intr = 3;
	a.stack_user = 16;
	for (form = 0; form < 8; form++) {
		struct pdfile f = {.big = form & 1, .pipe = form & 2, .drop_stacks = form & 4};

		pdfile_attr(&f, &a);
		put_most_fields(&f);
		pdfile_expect(&f, "EVENT ", f.drop_stacks ? without : lines, 1);
		pdfile_free(&f);
	}
}

/* A period that was not recorded is the event's, or 1 of one that was sampled by frequency. */
static void takes_periods_from_events(void **state)
{
	static const struct part sample[] = {N8(600), N8(55), {0}};
	static const char *const fixed[] = {"SAMPLE ip=600 period=1000 misc=1 has=16385 weight=55"};
	static const char *const by_frequency[] = {
		"SAMPLE ip=600 period=1 misc=1 has=16385 weight=55"};
	static const char *const bare[] = {"SAMPLE ip=600 period=1000 misc=1 has=1"};
	struct pdfile_attr a = plain;
	unsigned form;

	(void)state;
	for (form = 0; form < 6; form++) {
		struct pdfile f = {.big = form & 1};

		a.flags = form / 2 == 1 ? PD_ATTR_FREQ : 0;
		a.sample_type = form / 2 == 2 ? PD_SAMPLE_IP : PD_SAMPLE_IP | PD_SAMPLE_WEIGHT;
		pdfile_attr(&f, &a);
		pdfile_begin(&f, PD_SAMPLE, 1);
		put_parts(&f, &f.data, sample);
		if (form / 2 == 2)
			f.data.size -= 8;
		pdfile_end(&f);
		pdfile_expect(&f, "EVENT ",
			      form / 2 == 0   ? fixed
			      : form / 2 == 1 ? by_frequency
					      : bare,
			      1);
		pdfile_free(&f);
	}
}

/* Samples whose program counter is among the registers say what machine they are of. */
static void tells_machines_by_registers(void **state)
{
	static const char *const x86[] = {
		"META key=arch value=x86_64",
		"META key=arch.from value=the registers of the samples",
		"SAMPLE ip=600 period=1000 misc=2 has=4097 uregs_abi=2 uregs=1,600"};
	static const char *const unknown[] = {
		"SAMPLE ip=600 period=1000 misc=2 has=4097 uregs_abi=2 uregs=1,601"};
	struct pdfile_attr a = plain;
	unsigned other;

	(void)state;
	a.sample_type = PD_SAMPLE_IP | PD_SAMPLE_REGS_USER;
	a.flags = 0;
	/* Register 8 of x86 is the program counter. */
	a.regs_user = 1 << 1 | 1 << 8;
	for (other = 0; other < 2; other++) {
		const struct part sample[] = {N8(600), N8(2), N8(1), N8(600 + other), {0}};
		struct pdfile f = {.big = false};

		pdfile_attr(&f, &a);
		pdfile_begin(&f, PD_SAMPLE, 2);
		put_parts(&f, &f.data, sample);
		pdfile_end(&f);
		if (other)
			PDFILE_EXPECT(&f, "EVENT ", unknown);
		else
			PDFILE_EXPECT(&f, "EVENT ", x86);
		pdfile_free(&f);
	}
}

/* Registers that perf asks for by itself say it, too: x86's without four segments, all of Arm's. */
static void tells_machines_by_which_registers(void **state)
{
	static const struct {
		uint64_t mask;
		unsigned pc; /* the one that is the program counter */
		const char *arch;
	} cases[] = {{0xff0fff, 64, "x86_64"},
		     {UINT64_C(0xffff00ff0fff), 64, "x86_64"},
		     {0x1ffffffff, 64, "aarch64"},
		     {0xff0ffe, 64, NULL},
		     {0x0ffffffff, 64, NULL},
		     {UINT64_C(1) << 32, 32, "aarch64"},
		     {UINT64_C(1) << 32, 64, NULL},
		     {UINT64_C(1) << 33, 33, NULL},
		     {UINT64_C(1) << 32 | 1, 32, "aarch64"},
		     {0x101, 8, "x86_64"}};
	struct pdfile_attr a = plain;
	unsigned i, n;

	(void)state;
	a.sample_type = PD_SAMPLE_IP | PD_SAMPLE_REGS_INTR;
	a.flags = 0;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pdfile f = {.big = false};
		char arch[64], sample[400];
		const char *lines[] = {
			arch, "META key=arch.from value=the registers of the samples", sample};
		size_t at;

		a.regs_intr = cases[i].mask;
		pdfile_attr(&f, &a);
		pdfile_begin(&f, PD_SAMPLE, 2);
		pdfile_u64(&f, &f.data, 600);
		pdfile_u64(&f, &f.data, 2);
		at = (size_t)snprintf(sample, sizeof(sample),
				      "SAMPLE ip=600 period=1000 misc=2 has=262145 iregs_abi=2 ");
		for (n = 0; n < 64; n++) {
			unsigned value = n == cases[i].pc ? 600 : 7;

			if (!(cases[i].mask >> n & 1))
				continue;
			pdfile_u64(&f, &f.data, value);
			at += (size_t)snprintf(sample + at, sizeof(sample) - at, "%s%u",
					       sample[at - 1] == ' ' ? "iregs=" : ",", value);
		}
		pdfile_end(&f);
		snprintf(arch, sizeof(arch), "META key=arch value=%s",
			 cases[i].arch ? cases[i].arch : "");
		pdfile_expect(&f, "EVENT ", cases[i].arch ? lines : lines + 2,
			      cases[i].arch ? 3 : 1);
		pdfile_free(&f);
	}
}

/* A group's counters become samples whose periods are how far they moved since the last one. */
static void splits_group_reads(void **state)
{
	static const char *const lines[] = {
		"SAMPLE time=1 period=100 has=65556 id=11 read=2,7,8,100,11,1,50,12,2",
		"SAMPLE time=1 event=1 period=50 has=65556 id=12 read=2,7,8,100,11,1,50,12,2",
		"SAMPLE time=2 period=30 has=65556 id=11 read=2,7,8,130,11,1,50,12,2",
		"SAMPLE time=3 period=2 has=65556 id=11 read=2,7,8,132,11,1,51,12,2",
		"SAMPLE time=3 event=1 period=1 has=65556 id=12 read=2,7,8,132,11,1,51,12,2"};
	static const uint64_t counts[3][2] = {{100, 50}, {130, 50}, {132, 51}};
	struct pdfile_attr a = plain, b;
	unsigned form, i;

	(void)state;
	a.sample_type = PD_SAMPLE_IDENTIFIER | PD_SAMPLE_TIME | PD_SAMPLE_READ;
	a.read_format = PD_FORMAT_GROUP | PD_FORMAT_ID | PD_FORMAT_LOST |
			PD_FORMAT_TOTAL_TIME_ENABLED | PD_FORMAT_TOTAL_TIME_RUNNING;
	a.nids = 1;
	b = a;
	b.first_id = 12;
	for (form = 0; form < 4; form++) {
		struct pdfile f = {.big = form & 1, .pipe = form & 2};

		pdfile_attr(&f, &a);
		pdfile_attr(&f, &b);
		for (i = 0; i < 3; i++) {
			const struct part sample[] = {N8(11), N8(1 + i), N8(2),
						      N8(7),  N8(8),	 N8(counts[i][0]),
						      N8(11), N8(1),	 N8(counts[i][1]),
						      N8(12), N8(2),	 {0}};

			pdfile_begin(&f, PD_SAMPLE, 0);
			put_parts(&f, &f.data, sample);
			pdfile_end(&f);
		}
		PDFILE_EXPECT(&f, "EVENT ", lines);
		pdfile_free(&f);
	}
}

/* ---- what perf adds ---- */

static const struct {
	unsigned bit;
	struct part parts[14];
} features[] = {
	{PD_FEAT_HOSTNAME, {ST("box")}},
	{PD_FEAT_OSRELEASE, {ST("6.1")}},
	{PD_FEAT_VERSION, {ST("6.2")}},
	{PD_FEAT_ARCH, {ST("x86_64")}},
	{PD_FEAT_NRCPUS, {N4(8), N4(4)}},
	{PD_FEAT_CPUDESC, {ST("fast")}},
	{PD_FEAT_CPUID, {ST("AuthenticAMD,25")}},
	{PD_FEAT_TOTAL_MEM, {N8(123)}},
	{PD_FEAT_CMDLINE, {N4(3), ST("perf"), ST("a b"), ST("c\\d")}},
	{PD_FEAT_CPU_TOPOLOGY, {N4(1), ST("0-1"), N4(2), ST("0"), ST("1"), N4(6), N4(7), N4(8)}},
	{PD_FEAT_NUMA_TOPOLOGY, {N4(1), N4(2), N8(3), N8(4), ST("0-1")}},
	{PD_FEAT_PMU_MAPPINGS, {N4(2), N4(4), ST("cpu"), N4(8), ST("ibs_op")}},
	{PD_FEAT_GROUP_DESC, {N4(1), ST("g"), N4(0), N4(2)}},
	{PD_FEAT_CACHE,
	 {N4(1), N4(1), N4(1), N4(64), N4(65), N4(8), ST("Data"), ST("32K"), ST("0")}},
	{PD_FEAT_SAMPLE_TIME, {N8(5), N8(6)}},
	{PD_FEAT_CLOCKID, {N8(7)}},
	{PD_FEAT_COMPRESSED, {N4(1), N4(1), N4(2), N4(3), N4(4)}},
	{PD_FEAT_CPU_PMU_CAPS, {N4(2), ST("a"), ST("b"), ST("c"), ST("d")}},
	{PD_FEAT_PMU_CAPS,
	 {N4(2), N4(1), ST("e"), ST("f"), ST("cpu"), N4(1), ST("g"), ST("h"), ST("ibs_op")}},
	{40, {BY("whatever")}},
};

static const char *const feature_lines[] = {
	"META key=hostname value=box",
	"META key=osrelease value=6.1",
	"META key=perf_version value=6.2",
	"META key=arch value=x86_64",
	"META key=nrcpus.available value=8",
	"META key=nrcpus.online value=4",
	"META key=cpudesc value=fast",
	"META key=cpuid value=AuthenticAMD,25",
	"META key=total_mem value=123 kB",
	"META key=cmdline value=perf a\\ b c\\\\d",
	"META key=cpu_topology.cores value=0-1",
	"META key=cpu_topology.threads value=0",
	"META key=cpu_topology.threads value=1",
	NULL, /* depends on the order of bytes */
	"META key=numa_topology.node value=node 2 total 3 kB free 4 kB cpus 0-1",
	"META key=pmu.4 value=cpu",
	"META key=pmu.8 value=ibs_op",
	"META key=group value=leader 0 members 2 name g",
	"META key=cache value=L1 line 64 sets 65 ways 8 Data 32K 0",
	"META key=sample_time.first value=5",
	"META key=sample_time.last value=6",
	"META key=clockid_res_ns value=7",
	"META key=compressed value=version 1 type zstd level 2 ratio 3 buffer 4",
	"META key=cpu_pmu_caps value=a=b",
	"META key=cpu_pmu_caps value=c=d",
	"META key=pmu_caps.cpu value=e=f",
	"META key=pmu_caps.ibs_op value=g=h",
	"META key=feature.40 data=7768617465766572",
	/* AMD's precise events are its IBS: chosen at dispatch. The flags are
	 * sample_id_all (2^18) and precise_ip 2 from bit 15 on (2^16). */
	("EVENT name=raw 0x1cd:pp policy=3 unit=events type=4 config=461 period=1000 precise=2 "
	 "sample_type=65927 attr_flags=327680"),
};

static void decodes_features(void **state)
{
	const char *lines[sizeof(feature_lines) / sizeof(feature_lines[0])];
	struct pdfile_attr a = plain;
	unsigned form;
	size_t i;

	(void)state;
	a.flags |= UINT64_C(2) << PD_ATTR_PRECISE_SHIFT;
	for (form = 0; form < 4; form++) {
		struct pdfile f = {.big = form & 1, .pipe = form & 2};
		struct vt_buf b = VT_BUF_INIT;

		memcpy(lines, feature_lines, sizeof(lines));
		for (i = 0; lines[i]; i++)
			continue;
		lines[i] = f.big ? "META key=cpu_topology data=000000060000000700000008"
				 : "META key=cpu_topology data=060000000700000008000000";
		pdfile_attr(&f, &a);
		for (i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
			b.size = 0;
			put_parts(&f, &b, features[i].parts);
			pdfile_feature(&f, features[i].bit, &b);
		}
		/* A file without records counts as unfinished. */
		pdfile_begin(&f, PD_FINISHED_INIT, 0);
		pdfile_end(&f);
		PDFILE_EXPECT(&f, "-", lines);
		vt_buf_free(&b);
		pdfile_free(&f);
	}
}

static const struct {
	uint32_t type;
	struct part parts[10];
} users[] = {
	{PD_AUXTRACE_INFO, {N4(1), N4(0), N8(10), N8(20)}},
	{PD_TIME_CONV, {N8(31), N8(5), N8(6)}},
	{PD_TIME_CONV, {N8(31), N8(5), N8(6), N8(7), N8(8), BY("\1\1\0\0\0\0\0")}},
	{PD_AUXTRACE_ERROR,
	 {N4(1), N4(2), N4(3), N4(100), N4(101), N4(1), N8(4096), N8(50), TX("lost")}},
	{PD_HEADER_EVENT_TYPE, {BY("eventtyp")}},
	{PD_ID_INDEX, {BY("id index")}},
	{PD_THREAD_MAP, {BY("threads!")}},
	{PD_CPU_MAP, {BY("cpu map!")}},
	{PD_STAT_CONFIG, {BY("statconf")}},
	{PD_STAT, {BY("stat!!!!")}},
	{PD_STAT_ROUND, {BY("st round")}},
	{PD_BPF_METADATA, {BY("metadata")}},
	{PD_FINISHED_INIT, {{0}}},
	{PD_EVENT_UPDATE, {N8(2), N8(12), TX("named")}},
	{60000, {N8(1)}},
	{60000, {N8(1)}},
	{99, {{0}}},
	{PD_AUXTRACE, {N8(16), N8(5), N8(6), N4(7), N4(8), N4(9), N4(0)}},
};

static void decodes_perfs_own_records(void **state)
{
	static const char *const lines[] = {
		"AUXINFO type=1 priv=10,20",
		"TIMECONV shift=31 mult=5 zero=6",
		"TIMECONV shift=31 mult=5 zero=6 cycles=7 mask=8 caps=3",
		("GAP time=50 pid=100 tid=101 cpu=3 reason=AUX trace error type 1 code 2 ip "
		 "0x1000: lost input=in offset="),
		"META key=record.event_type data=6576656e74747970",
		"META key=record.id_index data=696420696e646578",
		"META key=record.thread_map data=7468726561647321",
		"META key=record.cpu_map data=637075206d617021",
		"META key=record.stat_config data=73746174636f6e66",
		"META key=record.stat data=7374617421212121",
		"META key=record.stat_round data=737420726f756e64",
		"META key=record.bpf_metadata data=6d65746164617461",
		("EVENT name=named policy=1 unit=events type=4 config=461 period=1000 "
		 "sample_type=65927 attr_flags=1310720"),
		("AUXTRACE index=7 cpu=9 tid=8 offset=5 reference=6 total=16 "
		 "data=73697874656e206279746573206f6621"),
		"GAP reason=unknown record type 60000 input=in offset=",
		"GAP reason=unknown record type 99 input=in offset=",
	};
	const char *want[sizeof(lines) / sizeof(lines[0])];
	static char gaps[3][200];
	struct pdfile_attr a = plain;
	unsigned form;

	(void)state;
	a.flags |= PD_ATTR_EXCLUDE_GUEST;
	for (form = 0; form < 4; form++) {
		struct pdfile f = {.big = form & 1, .pipe = form & 2};
		size_t i, at[sizeof(users) / sizeof(users[0])], from;

		pdfile_attr(&f, &a);
		from = f.pipe ? 16 : 104 + 16 + 136 + 16;
		for (i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
			at[i] = from + f.data.size;
			pdfile_begin(&f, users[i].type, 0);
			put_parts(&f, &f.data, users[i].parts);
			pdfile_end(&f);
		}
		vt_buf_put(&f.data, "sixten bytes of!", 16);
		memcpy(want, lines, sizeof(lines));
		snprintf(gaps[0], sizeof(gaps[0]), "%s%zu", lines[3], at[3]);
		snprintf(gaps[1], sizeof(gaps[1]), "%s%zu bytes=32 records=2", lines[14], at[14]);
		snprintf(gaps[2], sizeof(gaps[2]), "%s%zu bytes=8 records=1", lines[15], at[16]);
		want[3] = gaps[0];
		want[14] = gaps[1];
		want[15] = gaps[2];
		assert_int_equal(PDFILE_EXPECT(&f, "-", want).unknown, 3);
		pdfile_free(&f);
	}
}

/*
 * What perf counts at the end holds what the kernel's records of losses tell: of 100 that are lost
 * in all 40 have been told.
 */
static void counts_losses_once(void **state)
{
	static const char *const lines[] = {
		"LOST time=5 pid=100 tid=101 cpu=3 count=40 source=LOST",
		"META key=record.lost_samples value=event=0 count=100",
		"LOST count=60 source=LOST_SAMPLES",
	};
	static const struct part lost[] = {N8(11), N8(40), {0}};
	static const struct part final[] = {N8(100), N4(0), N4(0),  N8(0),
					    N4(0),   N4(0), N8(12), {0}};
	struct pdfile_attr a = plain;
	struct pdfile f = {.big = false};

	(void)state;
	a.read_format = PD_FORMAT_LOST;
	pdfile_attr(&f, &a);
	pdfile_begin(&f, PD_LOST, 0);
	put_parts(&f, &f.data, lost);
	put_id(&f, 5);
	pdfile_begin(&f, PD_FINISHED_ROUND, 0);
	pdfile_end(&f);
	pdfile_begin(&f, PD_FINISHED_ROUND, 0);
	pdfile_end(&f);
	pdfile_begin(&f, PD_LOST_SAMPLES, 0);
	put_parts(&f, &f.data, final);
	pdfile_end(&f);
	assert_int_equal(PDFILE_EXPECT(&f, "EVENT ", lines).lost, 100);
	pdfile_free(&f);
}

/* Build-ids of the table are those of the images with the same name. */
static void gives_images_their_build_ids(void **state)
{
	static const struct part map[] = {N4(100), N4(101),	    N8(32), N8(33),
					  N8(34),  TX("/bin/prog"), {0}};
	static const struct part module[] = {N4(-1U), N4(0),	   N8(64), N8(65),
					     N8(0),   TX("[x_y]"), {0}};
	static const char *const lines[] = {
		"IMAGE path=/bin/prog buildid=616263646566676869",
		"MAP time=5 pid=100 tid=101 start=32 length=33 offset=34 prot=5 misc=2",
		("IMAGE id=1 type=2 path=[x_y] "
		 "buildid=4142434445464748494a4b4c4d4e4f5051525354"),
		"MAP time=6 pid=-1 start=64 length=65 image=1 prot=5 misc=1",
	};
	struct pdfile f = {.big = false};
	struct vt_buf b = VT_BUF_INIT;

	(void)state;
	/* A header with 9 bytes of 20 in use, the process, the bytes, their number, the name. */
	pdfile_u32(&f, &b, 0);
	pdfile_u16(&f, &b, 2 | 1 << 15);
	pdfile_u16(&f, &b, 8 + 4 + 24 + 16);
	pdfile_u32(&f, &b, (uint32_t)-1);
	vt_buf_put(&b, "abcdefghixxxxxxxxxxx\11\0\0\0/bin/prog\0\0\0\0\0\0", 24 + 16);
	/* A module's file, of the kernel: all 20 bytes are in use. */
	pdfile_u32(&f, &b, 0);
	pdfile_u16(&f, &b, 1);
	pdfile_u16(&f, &b, 8 + 4 + 24 + 16);
	pdfile_u32(&f, &b, (uint32_t)-1);
	vt_buf_put(&b, "ABCDEFGHIJKLMNOPQRST\0\0\0\0/lib/x-y.ko\0\0\0\0", 24 + 16);
	pdfile_attr(&f, &plain);
	pdfile_feature(&f, PD_FEAT_BUILD_ID, &b);
	pdfile_begin(&f, PD_MMAP, 2);
	put_parts(&f, &f.data, map);
	put_id(&f, 5);
	pdfile_begin(&f, PD_MMAP, 1);
	put_parts(&f, &f.data, module);
	put_id(&f, 6);
	PDFILE_EXPECT(&f, "EVENT ", lines);
	vt_buf_free(&b);
	pdfile_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_all_of_the_kernels_records),
		cmocka_unit_test(decodes_all_fields_of_samples),
		cmocka_unit_test(takes_periods_from_events),
		cmocka_unit_test(tells_machines_by_registers),
		cmocka_unit_test(tells_machines_by_which_registers),
		cmocka_unit_test(splits_group_reads),
		cmocka_unit_test(decodes_features),
		cmocka_unit_test(decodes_perfs_own_records),
		cmocka_unit_test(counts_losses_once),
		cmocka_unit_test(gives_images_their_build_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
