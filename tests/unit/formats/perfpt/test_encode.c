/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A perf.data with Intel PT of executed blocks: what its reader decodes is what was executed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/auxtrace.h"
#include "formats/perfpt/encode.h"
#include "formats/pt/options.h"
#include "stream/exec.h"
#include "stream/kinds.h"
#include "tests/unit/common/ptwalker.h"

/* ---- recordings ---- */

static char image[] = "/tmp/vt-ptwrap-XXXXXX";

static int make_image(void **state)
{
	uint8_t bytes[MEM_SIZE];
	int fd = mkstemp(image);

	(void)state;
	fill_code(bytes);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	return close(fd);
}

static int remove_image(void **state)
{
	(void)state;
	return unlink(image);
}

static void put_image(struct made *m, uint64_t id, const char *path)
{
	uint64_t *row = vt_writer_row(m->w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	vt_writer_text(m->w, VT_IMAGE_PATH, path);
}

static void put_long_image(struct made *m, uint64_t id)
{
	char path[4097];

	memset(path, 'a', sizeof(path));
	path[4096] = 0;
	put_image(m, id, path);
}

static void put_map(struct made *m, uint64_t id, int64_t pid, uint64_t start, uint64_t prot)
{
	uint64_t *row = vt_writer_row(m->w, VT_MAP);

	row[VT_MAP_PID] = row[VT_MAP_TID] = (uint64_t)pid;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 4096;
	row[VT_MAP_OFFSET] = 0;
	row[VT_MAP_IMAGE] = id;
	row[VT_MAP_PROT] = prot;
}

static void put_thread(struct made *m, unsigned op, int64_t tid, const char *comm)
{
	uint64_t *row = vt_writer_row(m->w, VT_THREAD);

	row[VT_THREAD_OP] = op;
	row[VT_THREAD_PID] = PID;
	row[VT_THREAD_TID] = (uint64_t)tid;
	row[VT_THREAD_PPID] = row[VT_THREAD_PTID] = PID;
	vt_writer_text(m->w, VT_THREAD_COMM, comm);
}

static struct walker walkers[2];
static uint64_t ends[64]; /* instructions of both up to the end of each turn */

/* Two threads in turns, of which the second begins later and ends; `file`: their code is in one. */
static void put_recording_of(struct made *m, size_t turns, size_t insns, bool file)
{
	size_t skip[2] = {0}, i;
	uint64_t now = 0;

	begin(m);
	if (file) {
		put_image(m, 1, image);
		put_map(m, 1, PID, MEM, 5);
	}
	put_thread(m, VT_OP_COMM, PID, "first");
	put_blocks(m);
	start_walker(&walkers[0], 1);
	start_walker(&walkers[1], 2);
	for (i = 0; i < turns; i++) {
		if (i == 1)
			put_thread(m, VT_OP_FORK, PID + 1, "second");
		m->tid = PID + (int64_t)(i & 1);
		put_piece(m, &walkers[i & 1], &skip[i & 1], insns, &now);
		ends[i] = now;
	}
	put_thread(m, VT_OP_EXIT, PID + 1, "");
}

static void put_recording(struct made *m, size_t turns, size_t insns)
{
	put_recording_of(m, turns, insns, true);
}

/* ---- and back ---- */

static struct vt_pt_wrap_totals sum;

/* Who has which processor, by the rule: a thread takes the next one when it has none, or its slice
 * is used up. */
struct schedule {
	int cpu[2]; /* -1: none */
	uint64_t left[2];
	unsigned next;
	uint64_t switches;
};

static void schedule(struct schedule *s, const struct vt_pt_wrap_options *opt, size_t thread,
		     uint64_t insns)
{
	if (s->cpu[thread] >= 0 && s->left[thread]) {
		s->left[thread] -= insns < s->left[thread] ? insns : s->left[thread];
		return;
	}
	s->cpu[thread] = (int)(s->next++ % opt->cpus);
	if (s->cpu[!thread] == s->cpu[thread])
		s->cpu[!thread] = -1;
	s->left[thread] = opt->slice;
	s->switches++;
}

static void schedule_record(struct schedule *s, const struct vt_pt_wrap_options *opt,
			    const struct vt_record *rec)
{
	if (opt->cpus && rec->kind == VT_EXEC)
		schedule(s, opt, (size_t)(vt_record_i64(rec, VT_EXEC_TID) - PID),
			 vt_record_u64(rec, VT_EXEC_INSNS));
	else if (opt->cpus && rec->kind == VT_SIGNAL)
		schedule(s, opt, (size_t)(vt_record_i64(rec, VT_SIGNAL_TID) - PID), 0);
}

/* The perf.data of the recording. */
static int wrap(struct made *m, const struct vt_pt_wrap_options *opt)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = reread_stream(m->fd, m->w);
	int fd = scratch_file();
	struct vt_output out;
	struct vt_pt_wrap *p;
	struct vt_record rec;
	struct schedule sched = {.cpu = {-1, -1}};

	assert_int_equal(vt_output_open_fd(&out, fd, "out", &err), 0);
	p = vt_pt_wrap_new(&out, opt, &err);
	assert_non_null(p);
	while (vt_reader_next(r, &rec, &err) > 0) {
		assert_int_equal(vt_pt_wrap_record(p, &rec, &err), 0);
		schedule_record(&sched, opt, &rec);
	}
	assert_int_equal(vt_pt_wrap_finish(p, &err), 0);
	assert_string_equal(vt_pt_wrap_bad(p), "");
	sum = *vt_pt_wrap_totals(p);
	assert_int_equal(sum.switches, sched.switches);
	vt_pt_wrap_free(p);
	assert_int_equal(vt_output_close(&out, &err), 0);
	vt_reader_close(r);
	close(m->fd);
	return fd;
}

static struct vt_format_summary summary;
static const char *engine; /* NULL: the default */

/* The stream that is decoded of a perf.data. */
static struct vt_reader *decode(int fd, int to)
{
	const struct vt_pt_decode_options pt = {.jobs = 1, .engine = engine};
	const struct vt_format_options opt = {.pt = &pt};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = start_stream(to);
	struct vt_input in;

	summary = (struct vt_format_summary){.records = 0};
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(vt_input_open_fd(&in, fd, "in", &err), 0);
	if (vt_auxtrace_decode(&in, w, &opt, &summary, &err) < 0)
		fail_msg("%s", err.text);
	vt_input_close(&in);
	close(fd);
	return reread_stream(to, w);
}

/* What came back. */
struct back {
	uint64_t insns[2][MOST_INSNS];
	size_t ninsns[2];
	struct vt_buf text; /* of other records */
	uint64_t raw;	    /* bytes of areas */
};

/* What is repeated may be told again after an interruption: it is one instruction. */
static void put_insn(struct back *b, size_t thread, uint64_t ip)
{
	size_t n = b->ninsns[thread];

	assert_true(n < MOST_INSNS);
	if (n && ip == blocks[R].addr && b->insns[thread][n - 1] == ip)
		return;
	b->insns[thread][b->ninsns[thread]++] = ip;
}

static void take_exec(struct back *b, const struct vt_bblocks *dict, const struct vt_record *rec)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_exec x;
	uint32_t i, k;
	size_t thread;

	assert_int_equal(vt_exec_open(&x, dict, rec, &err), 0);
	assert_int_equal(x.pid, PID);
	assert_in_range(x.tid, PID, PID + 1);
	thread = (size_t)(x.tid - PID);
	for (i = 0; i < x.blocks; i++) {
		const struct vt_bblock *block = vt_bblocks_get(dict, vt_exec_id(&x, i));

		for (k = i ? 0 : x.skip; k < block->ninsns && x.insns; k++, x.insns--) {
			put_insn(b, thread, vt_bblock_insn_addr(block, k));
		}
	}
	assert_int_equal(x.insns, 0);
}

static uint64_t aux_bytes;

static void say(struct vt_buf *to, const struct vt_record *rec)
{
	struct vt_bytes text;

	switch (rec->kind) {
	case VT_MAP:
		vt_buf_printf(to, "map %d %x+%x prot %u at %u; ",
			      (int)vt_record_i64(rec, VT_MAP_PID),
			      (unsigned)vt_record_u64(rec, VT_MAP_START),
			      (unsigned)vt_record_u64(rec, VT_MAP_LENGTH),
			      (unsigned)vt_record_u64(rec, VT_MAP_PROT),
			      (unsigned)vt_record_u64(rec, VT_MAP_TIME));
		break;
	case VT_THREAD:
		text = vt_record_bytes(rec, VT_THREAD_COMM);
		vt_buf_printf(to, "thread %d/%d op %u %.*s at %u; ",
			      (int)vt_record_i64(rec, VT_THREAD_PID),
			      (int)vt_record_i64(rec, VT_THREAD_TID),
			      (unsigned)vt_record_u64(rec, VT_THREAD_OP), (int)text.size,
			      (const char *)text.data,
			      (unsigned)vt_record_u64(rec, VT_THREAD_TIME));
		break;
	case VT_SWITCH:
		vt_buf_printf(to, "switch %u: %d out %u preempt %u other %d at %u; ",
			      (unsigned)vt_record_u64(rec, VT_SWITCH_CPU),
			      (int)vt_record_i64(rec, VT_SWITCH_TID),
			      (unsigned)vt_record_u64(rec, VT_SWITCH_OUT),
			      (unsigned)vt_record_u64(rec, VT_SWITCH_PREEMPT),
			      (int)vt_record_i64(rec, VT_SWITCH_OTHER_TID),
			      (unsigned)vt_record_u64(rec, VT_SWITCH_TIME));
		break;
	case VT_ITRACE:
		vt_buf_printf(to, "itrace %u: %d at %u; ",
			      (unsigned)vt_record_u64(rec, VT_ITRACE_CPU),
			      (int)vt_record_i64(rec, VT_ITRACE_TID),
			      (unsigned)vt_record_u64(rec, VT_ITRACE_TIME));
		break;
	case VT_AUX:
		aux_bytes += vt_record_u64(rec, VT_AUX_SIZE);
		vt_buf_printf(to, "aux %u flags %u; ", (unsigned)vt_record_u64(rec, VT_AUX_CPU),
			      (unsigned)vt_record_u64(rec, VT_AUX_FLAGS));
		break;
	case VT_GAP:
		text = vt_record_bytes(rec, VT_GAP_REASON);
		vt_buf_printf(to, "[%.*s] ", (int)text.size, (const char *)text.data);
		break;
	default:
		break;
	}
}

static struct back back;

/* It is a thread's, or a processor's. */
static void take_area(struct back *b, const struct vt_record *rec,
		      const struct vt_pt_wrap_options *opt)
{
	int64_t cpu = vt_record_i64(rec, VT_AUXTRACE_CPU),
		tid = vt_record_i64(rec, VT_AUXTRACE_TID);

	b->raw += vt_record_bytes(rec, VT_AUXTRACE_DATA).size;
	if (opt->cpus) {
		assert_in_range(cpu, 0, opt->cpus - 1);
		assert_int_equal(tid, -1);
	} else {
		assert_int_equal(cpu, -1);
		assert_in_range(tid, PID, PID + 1);
	}
}

static void go(struct made *m, const struct vt_pt_wrap_options *opt)
{
	int to = scratch_file();
	struct vt_reader *r = decode(wrap(m, opt), to);
	struct vt_bblocks *dict = vt_bblocks_new();
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;

	back = (struct back){.ninsns = {0}};
	aux_bytes = 0;
	while (vt_reader_next(r, &rec, &err) > 0) {
		if (rec.kind == VT_BLOCK)
			assert_int_equal(vt_bblocks_add(dict, &rec, &err), 0);
		else if (rec.kind == VT_EXEC)
			take_exec(&back, dict, &rec);
		else if (rec.kind == VT_AUXTRACE)
			take_area(&back, &rec, opt);
		else
			say(&back.text, &rec);
	}
	assert_int_equal(aux_bytes, sum.bytes);
	vt_bblocks_free(dict);
	vt_reader_close(r);
	close(to);
}

/* A thread that is interrupted at its last instruction, and does not go on, lacks that. */
static void compare_thread(unsigned i)
{
	size_t n = back.ninsns[i];

	assert_in_range(walkers[i].ninsns - n, 0, 1);
	assert_memory_equal(back.insns[i], walkers[i].insns, n * sizeof(uint64_t));
}

static const struct vt_pt_wrap_options defaults = {.slice = VT_PT_WRAP_SLICE, .version = "test"};

/* Code that was generated is in a dump, from which it comes back. */
static void test_generated(void **state)
{
	struct vt_pt_wrap_options opt = defaults;
	char dir[] = "/tmp/vt-ptwrap-XXXXXX", dump[64];
	struct made m;
	unsigned i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(dump, sizeof(dump), "%s/jit-%d.dump", dir, PID);
	opt.encode = vt_pt_encode_defaults;
	opt.encode.tsc = true;
	for (i = 0; i < 2; i++) {
		opt.cpus = i;
		opt.jit_dir = dir;
		put_recording_of(&m, 6, 300, false);
		go(&m, &opt);
		compare_thread(0);
		compare_thread(1);
		assert_int_equal(sum.generated_left_out, 0);
		assert_int_equal(sum.generated, NBLOCKS);
		vt_buf_free(&back.text);
		/* There is nowhere to put it. */
		opt.jit_dir = NULL;
		put_recording_of(&m, 6, 300, false);
		go(&m, &opt);
		assert_int_equal(sum.generated_left_out, NBLOCKS);
		assert_int_equal(sum.generated, 0);
		assert_int_equal(back.ninsns[0] + back.ninsns[1], 0);
		vt_buf_free(&back.text);
	}
	unlink(dump);
	rmdir(dir);
}

/* What is decoded is summed up; without an engine the areas stay as they are. */
static void test_summary(void **state)
{
	struct vt_pt_wrap_options opt = defaults;
	struct made m;

	(void)state;
	opt.encode = vt_pt_encode_defaults;
	put_recording(&m, 4, 300);
	go(&m, &opt);
	assert_true(summary.traced);
	assert_int_equal(summary.insns, walkers[0].ninsns + walkers[1].ninsns);
	assert_int_equal(summary.damaged, 0);
	assert_int_equal(summary.aux_areas, 0);
	vt_buf_free(&back.text);
	engine = "none";
	for (opt.cpus = 0; opt.cpus < 3; opt.cpus++) {
		opt.encode.tsc = opt.cpus;
		put_recording(&m, 4, 300);
		go(&m, &opt);
		assert_false(summary.traced);
		assert_int_equal(back.ninsns[0] + back.ninsns[1], 0);
		/* Each piece is padded to a multiple of 8. */
		assert_int_equal(back.raw % 8, 0);
		assert_in_range(back.raw - sum.bytes, 0, 3 * 7);
		vt_buf_free(&back.text);
	}
	engine = NULL;
}

/* In buffers of threads and of processors, with times and without. */
static void test_back(void **state)
{
	struct vt_pt_wrap_options opt = defaults;
	unsigned i;

	(void)state;
	for (i = 0; i < 8; i++) {
		struct made m;

		opt.encode = vt_pt_encode_defaults;
		opt.encode.tsc = i > 0;
		opt.encode.cyc = opt.encode.mtc = i > 1;
		opt.cpus = i > 2 ? i - 2 : 0;
		opt.slice = i & 1 ? 50 : 100000;
		opt.wide = i > 5;
		put_recording(&m, 40, 300);
		go(&m, &opt);
		compare_thread(0);
		compare_thread(1);
		assert_int_equal(sum.maps, 1);
		assert_int_equal(sum.left_out, 0);
		assert_true(opt.cpus ? sum.switches > 1 : !sum.switches);
		vt_buf_free(&back.text);
	}
}

/* A TSC of 3.2 GHz begins at 2^32, and the time with it at one second. */
static unsigned at(uint64_t insns)
{
	return (unsigned)(1000000000 + ((UINT64_C(1) << 32) + insns) * 5 / 16);
}

static void expect(const char *fmt, ...) VT_PRINTF(1, 2);

static void expect(const char *fmt, ...)
{
	char want[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	assert_string_equal(vt_buf_str(&back.text), want);
	vt_buf_free(&back.text);
}

/* What is told beside the traces, by threads: without times, and with those of the model. */
static void test_side(void **state)
{
	struct vt_pt_wrap_options opt = defaults;
	struct made m;

	(void)state;
	opt.encode = vt_pt_encode_defaults;
	put_recording(&m, 3, 10);
	go(&m, &opt);
	expect("map 7 401000+1000 prot 5 at 0; thread 7/7 op 0 first at 0; "
	       "thread 7/8 op 2  at 0; thread 7/8 op 0 second at 0; "
	       "itrace 0: 7 at 0; itrace 0: 8 at 0; aux 0 flags 0; thread 7/8 op 3  at 0; "
	       "aux 0 flags 0; aux 0 flags 0; ");
	opt.encode.tsc = true;
	put_recording(&m, 3, 10);
	go(&m, &opt);
	expect("map 7 401000+1000 prot 5 at %u; thread 7/7 op 0 first at %u; "
	       "thread 7/8 op 2  at %u; thread 7/8 op 0 second at %u; "
	       "itrace 0: 7 at %u; itrace 0: 8 at %u; aux 0 flags 0; thread 7/8 op 3  at %u; "
	       "aux 0 flags 0; aux 0 flags 0; ",
	       at(0), at(0), at(ends[0]), at(ends[0]), at(ends[2]), at(ends[2]), at(ends[2]));
}

#define COST 512 /* instructions of the kernel, to go and to come */

/* One processor for both, in turns. */
static void test_one_cpu(void **state)
{
	struct vt_pt_wrap_options opt = defaults;
	unsigned wide;

	(void)state;
	opt.encode = vt_pt_encode_defaults;
	opt.encode.tsc = true;
	opt.cpus = 1;
	for (wide = 0; wide < 2; wide++) {
		unsigned first, second, third;
		struct made m;

		opt.wide = wide;
		put_recording(&m, 3, 10);
		first = at(2 * COST + ends[0]);
		second = at(4 * COST + ends[1]);
		third = at(5 * COST + ends[2]);
		go(&m, &opt);
		expect("map 7 401000+1000 prot 5 at %u; thread 7/7 op 0 first at %u; "
		       "switch 0: 7 out 0 preempt 0 other 0 at %u; itrace 0: 7 at %u; "
		       "thread 7/8 op 2  at %u; thread 7/8 op 0 second at %u; "
		       "switch 0: 7 out 1 preempt 1 other %u at %u; "
		       "switch 0: 8 out 0 preempt 0 other 0 at %u; "
		       "switch 0: 8 out 1 preempt 1 other %u at %u; "
		       "switch 0: 7 out 0 preempt 0 other 0 at %u; "
		       "thread 7/8 op 3  at %u; aux 0 flags 0; ",
		       at(0), at(0), at(0), at(0), at(COST + ends[0]), at(COST + ends[0]),
		       wide ? 8 : 0, first, first, wide ? 7 : 0, second, second, third);
	}
}

/* One for each: they keep it, and the second leaves its own. */
static void test_two_cpus(void **state)
{
	struct vt_pt_wrap_options opt = defaults;
	unsigned second, end;
	struct made m;

	(void)state;
	opt.encode = vt_pt_encode_defaults;
	opt.encode.tsc = true;
	opt.cpus = 2;
	put_recording(&m, 4, 10);
	second = at(COST + ends[0]);
	end = at(3 * COST + ends[3]);
	go(&m, &opt);
	expect("map 7 401000+1000 prot 5 at %u; thread 7/7 op 0 first at %u; "
	       "switch 0: 7 out 0 preempt 0 other 0 at %u; itrace 0: 7 at %u; "
	       "thread 7/8 op 2  at %u; thread 7/8 op 0 second at %u; "
	       "switch 1: 8 out 0 preempt 0 other 0 at %u; itrace 1: 8 at %u; "
	       "switch 1: 8 out 1 preempt 0 other 0 at %u; thread 7/8 op 3  at %u; "
	       "aux 0 flags 0; aux 1 flags 0; ",
	       at(0), at(0), at(0), at(0), second, second, second, second, end, end);
}

/* The last bytes of each buffer: what they tell of is the last of what was executed. */
static void test_snapshot(void **state)
{
	struct vt_pt_wrap_options opt = defaults;
	struct made m;
	unsigned i;

	(void)state;
	opt.encode = vt_pt_encode_defaults;
	opt.encode.tsc = true;
	opt.encode.psb_bytes = 256;
	opt.snapshot = 1000;
	put_recording(&m, 40, 500);
	go(&m, &opt);
	assert_int_equal(sum.bytes, 2 * 1000);
	for (i = 0; i < 2; i++) {
		size_t n = back.ninsns[i], last = walkers[i].ninsns;

		/* A byte has six decisions at most. */
		assert_in_range(n, 500, 2 * 6000);
		while (last > n && last > walkers[i].ninsns - 2 &&
		       memcmp(back.insns[i], walkers[i].insns + last - n, n * 8) != 0)
			last--;
		assert_memory_equal(back.insns[i], walkers[i].insns + last - n, n * 8);
	}
	vt_buf_free(&back.text);
}

/* What is known of images and of the recording is there, too. */
static void test_about(void **state)
{
	static const char *const metas[][2] = {
		{"cmdline", "first"}, {"cmdline", "second"}, {"only", "x86"}, {"arch", "aarch64"}};
	struct vt_pt_wrap_options opt = defaults;
	struct vt_error err = VT_ERROR_INIT;
	unsigned images = 0, texts = 0, n;
	struct vt_record rec;
	struct vt_reader *r;
	int to = scratch_file();
	struct made m;

	(void)state;
	opt.encode = vt_pt_encode_defaults;
	begin(&m);
	for (n = 0; n < 4; n++) {
		vt_writer_row(m.w, VT_META);
		vt_writer_text(m.w, VT_META_KEY, metas[n][0]);
		vt_writer_text(m.w, VT_META_VALUE, metas[n][1]);
	}
	put_image(&m, 3, "/none");
	vt_writer_bytes(m.w, VT_IMAGE_BUILDID, "12345678901234567890", 20);
	put_map(&m, 3, PID, 0x500000, 5);
	put_map(&m, 3, PID, 0x600000, 5);
	r = decode(wrap(&m, &opt), to);
	assert_int_equal(sum.maps, 2);
	while (vt_reader_next(r, &rec, &err) > 0) {
		struct vt_bytes b = {.size = 0};

		if (rec.kind == VT_IMAGE)
			b = vt_record_bytes(&rec, VT_IMAGE_BUILDID);
		else if (rec.kind == VT_META)
			b = vt_record_bytes(&rec, VT_META_VALUE);
		images += b.size == 20 && memcmp(b.data, "12345678901234567890", 20) == 0;
		texts += b.size == 5 && memcmp(b.data, "first", 5) == 0;
		texts += b.size == 7 && memcmp(b.data, "aarch64", 7) == 0;
		assert_int_not_equal(rec.kind, VT_GAP);
	}
	assert_int_equal(images, 1);
	assert_int_equal(texts, 2);
	vt_reader_close(r);
	close(to);
}

/* Of parents whose numbers are none there are none. */
static void test_parents(void **state)
{
	static const int64_t parents[][2] = {
		{3, 4}, {-1, 4}, {3, -1}, {0, INT32_MAX}, {INT32_MAX + 1LL, 4}};
	static const int64_t want[][2] = {{3, 4}, {0, 0}, {0, 0}, {0, INT32_MAX}, {0, 0}};
	struct vt_pt_wrap_options opt = defaults;
	struct vt_error err = VT_ERROR_INIT;
	int to = scratch_file();
	struct vt_record rec;
	struct vt_reader *r;
	struct made m;
	size_t i, n = 0;

	(void)state;
	opt.encode = vt_pt_encode_defaults;
	begin(&m);
	for (i = 0; i < 5; i++) {
		uint64_t *row = vt_writer_row(m.w, VT_THREAD);

		row[VT_THREAD_OP] = VT_OP_FORK;
		row[VT_THREAD_PID] = PID;
		row[VT_THREAD_TID] = PID + i;
		row[VT_THREAD_PPID] = (uint64_t)parents[i][0];
		row[VT_THREAD_PTID] = (uint64_t)parents[i][1];
	}
	r = decode(wrap(&m, &opt), to);
	while (vt_reader_next(r, &rec, &err) > 0) {
		if (rec.kind != VT_THREAD)
			continue;
		assert_int_equal(vt_record_i64(&rec, VT_THREAD_PPID), want[n][0]);
		assert_int_equal(vt_record_i64(&rec, VT_THREAD_PTID), want[n][1]);
		n++;
	}
	assert_int_equal(n, 5);
	vt_reader_close(r);
	close(to);
}

/* Records that a perf.data cannot hold are left out, and the first is told of. */
static void test_left_out(void **state)
{
	static const struct {
		int64_t pid, tid;
		uint64_t left_out;
	} cases[] = {{PID, PID, 0},	{PID, INT32_MAX, 0}, {PID, INT32_MAX + 1LL, 1},
		     {INT32_MAX, 1, 0}, {-2, 1, 1},	     {INT32_MAX + 1LL, 1, 1},
		     {0, 0, 0},		{PID, -1, 1}};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_record rec;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_pt_wrap_options opt = defaults;
		int fd = scratch_file(), n;
		struct vt_output out;
		struct vt_pt_wrap *p;
		struct vt_reader *r;
		struct made m;

		opt.encode = vt_pt_encode_defaults;
		assert_int_equal(vt_output_open_fd(&out, fd, "out", &err), 0);
		p = vt_pt_wrap_new(&out, &opt, &err);
		begin(&m);
		for (n = 0; n < 2; n++) {
			uint64_t *row = vt_writer_row(m.w, VT_THREAD);

			row[VT_THREAD_OP] = VT_OP_COMM;
			row[VT_THREAD_PID] = (uint64_t)cases[i].pid;
			row[VT_THREAD_TID] = (uint64_t)cases[i].tid;
			vt_writer_text(m.w, VT_THREAD_COMM, "name");
		}
		/* A path that is too long. */
		put_long_image(&m, n);
		r = reread_stream(m.fd, m.w);
		while (vt_reader_next(r, &rec, &err) > 0)
			assert_int_equal(vt_pt_wrap_record(p, &rec, &err), 0);
		assert_int_equal(vt_pt_wrap_totals(p)->left_out, 2 * cases[i].left_out + 1);
		assert_string_equal(vt_pt_wrap_bad(p),
				    cases[i].left_out ? "a thread whose numbers are none"
						      : "an image with a path of 4096 bytes");
		assert_int_equal(vt_pt_wrap_finish(p, &err), 0);
		vt_pt_wrap_free(p);
		assert_int_equal(vt_output_close(&out, &err), 0);
		vt_reader_close(r);
		close(m.fd);
		close(fd);
	}
}

static void test_refused(void **state)
{
	struct vt_pt_wrap_options opt = defaults;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output out;
	struct vt_pt_wrap *p;

	(void)state;
	assert_int_equal(vt_output_open_fd(&out, STDERR_FILENO, "out", &err), 0);
	opt.encode = vt_pt_encode_defaults;
	opt.cpus = 1;
	assert_null(vt_pt_wrap_new(&out, &opt, &err));
	assert_int_equal(err.code, VT_E_USAGE);
	opt.encode.tsc = true;
	opt.cpus = VT_PT_WRAP_CPUS + 1;
	assert_null(vt_pt_wrap_new(&out, &opt, &err));
	assert_int_equal(err.code, VT_E_LIMIT);
	opt.cpus = VT_PT_WRAP_CPUS;
	opt.snapshot = VT_PT_WRAP_SNAPSHOT + 1;
	assert_null(vt_pt_wrap_new(&out, &opt, &err));
	opt.snapshot = VT_PT_WRAP_SNAPSHOT;
	p = vt_pt_wrap_new(&out, &opt, &err);
	assert_non_null(p);
	vt_pt_wrap_free(p);
	assert_int_equal(vt_output_close(&out, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_back),	  cmocka_unit_test(test_side),
		cmocka_unit_test(test_one_cpu),	  cmocka_unit_test(test_two_cpus),
		cmocka_unit_test(test_snapshot),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_generated), cmocka_unit_test(test_summary),
		cmocka_unit_test(test_left_out),  cmocka_unit_test(test_about),
		cmocka_unit_test(test_parents),
	};

	return cmocka_run_group_tests(tests, make_image, remove_image);
}
