/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reading side of full recordings, fed by a recorder that is made up: what comes out as records
 * is what was executed, in any window, and up to a kill; rings that are false do no harm.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/rng.h"
#include "stream/bblock.h"
#include "stream/exec.h"
#include "stream/reader.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/formats/recording/rings.h"

#define PID    500
#define BLOCKS 60
#define STEPS  4000

/* ---- what was executed, instruction by instruction ---- */

/* For each instruction its thread, block and number, and its values; `at` is where each begins. */
struct trace {
	struct vt_buf bytes;
	size_t *at;
	size_t n;
	size_t cap;
};

static void trace_free(struct trace *t)
{
	vt_buf_free(&t->bytes);
	free(t->at);
}

static void trace_insn(struct trace *t, int64_t tid, uint64_t id, uint32_t insn)
{
	assert_true(vt_array_grow(&t->at, &t->cap, t->n + 1, sizeof(*t->at)));
	t->at[t->n++] = t->bytes.size;
	vt_buf_put_le64(&t->bytes, (uint64_t)tid);
	vt_buf_put_le64(&t->bytes, id);
	vt_buf_put_le32(&t->bytes, insn);
}

static void trace_copy(struct trace *to, const struct trace *from, size_t i)
{
	size_t begin = from->at[i];
	size_t end = i + 1 < from->n ? from->at[i + 1] : from->bytes.size;

	assert_true(vt_array_grow(&to->at, &to->cap, to->n + 1, sizeof(*to->at)));
	to->at[to->n++] = to->bytes.size;
	vt_buf_put(&to->bytes, from->bytes.data + begin, end - begin);
}

/* The instructions from..to-1 of `whole` are those of `part`. */
static void assert_part(const struct trace *part, const struct trace *whole, size_t from, size_t to)
{
	size_t begin = from < whole->n ? whole->at[from] : whole->bytes.size;
	size_t end = to < whole->n ? whole->at[to] : whole->bytes.size;

	assert_int_equal(part->n, (to < whole->n ? to : whole->n) - from);
	assert_int_equal(part->bytes.size, end - begin);
	if (part->n)
		assert_memory_equal(part->bytes.data, whole->bytes.data + begin, end - begin);
}

static void trace_step(struct trace *t, int64_t tid, const struct vt_step *s)
{
	uint32_t insn, i = s->slot;

	for (insn = s->insn; insn < s->insn_end; insn++) {
		trace_insn(t, tid, s->block->id, insn);
		for (; i < s->slot_end && s->block->slots[i].insn == insn; i++)
			vt_buf_put(&t->bytes,
				   s->data + (s->block->slots[i].offset - s->data_offset),
				   s->block->slots[i].size);
	}
}

/* What a stream says, and how many records of each kind it has. */
struct told {
	struct trace trace;
	uint64_t kinds[VT_NKINDS];
	uint64_t edges;	  /* STATE of reason window */
	uint64_t next[2]; /* what `first` of the next EXEC is to be, of PID and its child */
};

static void take_exec(struct told *t, const struct vt_bblocks *d, const struct vt_record *rec)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_step step;
	struct vt_exec x;
	int rc;

	assert_int_equal(vt_exec_open(&x, d, rec, &err), 0);
	assert_int_equal(x.first, t->next[x.pid - PID]);
	t->next[x.pid - PID] += x.insns;
	while ((rc = vt_exec_next(&x, &step, &err)) > 0)
		trace_step(&t->trace, x.tid, &step);
	assert_int_equal(rc, 0);
}

static void read_told(int fd, struct told *t)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_bblocks *d = vt_bblocks_new();
	struct vt_record rec;
	struct vt_reader *r;
	int rc;

	*t = (struct told){.trace = {.bytes = VT_BUF_INIT}};
	lseek(fd, 0, SEEK_SET);
	r = vt_reader_open_fd(fd, "test", &err);
	assert_non_null(r);
	while ((rc = vt_reader_next(r, &rec, &err)) > 0) {
		t->kinds[rec.kind]++;
		if (rec.kind == VT_BLOCK)
			assert_int_equal(vt_bblocks_add(d, &rec, &err), 0);
		if (rec.kind == VT_EXEC)
			take_exec(t, d, &rec);
		if (rec.kind == VT_STATE && vt_record_u64(&rec, VT_STATE_REASON) == VT_STATE_WINDOW)
			t->edges++;
	}
	assert_int_equal(rc, 0);
	vt_reader_close(r);
	vt_bblocks_free(d);
}

/* ---- a recording ---- */

struct session {
	char *dir;
	int fd;
	struct vt_writer *w;
	struct vt_recording *rec;
	int warnings;
};

static void count_warning(void *arg, const char *text)
{
	struct session *s = arg;

	assert_true(*text);
	s->warnings++;
}

static void session_begin(struct session *s, const struct vt_recording_options *opt)
{
	struct vt_writer_options how = {.compression = VT_COMPRESS_NONE};
	struct vt_recording_options o = *opt;
	struct vt_error err = VT_ERROR_INIT;

	s->warnings = 0;
	s->dir = toolbox_dir();
	s->fd = scratch_file();
	s->w = vt_writer_open_fd(s->fd, "test", &how, &err);
	assert_non_null(s->w);
	o.warn = count_warning;
	o.warn_arg = s;
	s->rec = vt_recording_open(s->dir, s->w, &o, &err);
	assert_non_null(s->rec);
}

/* Ends the recording; what the stream says goes to *t. */
static void session_end(struct session *s, struct told *t)
{
	struct vt_error err = VT_ERROR_INIT;
	char *left;

	assert_int_equal(vt_recording_running(s->rec, 0), 0);
	vt_recording_close(s->rec);
	assert_int_equal(vt_writer_close(s->w, VT_STATUS_COMPLETE, &err), 0);
	left = toolbox_run(s->dir, "ls");
	assert_string_equal(left, "");
	free(left);
	toolbox_remove(s->dir);
	read_told(s->fd, t);
	close(s->fd);
}

/* ---- a program that is made up ---- */

struct block {
	uint32_t ninsns;
	uint32_t nslots;
	uint64_t slots[12];
};

struct program {
	struct block blocks[BLOCKS + 1];
	uint32_t told; /* blocks 1..told have been */
	struct vt_rng rng;
	struct trace all;
};

static uint32_t below(struct program *p, uint32_t n)
{
	return (uint32_t)vt_rng_below(&p->rng, n);
}

static void program_init(struct program *p, uint64_t seed)
{
	uint32_t i, k;

	*p = (struct program){.all = {.bytes = VT_BUF_INIT}};
	vt_rng_init(&p->rng, seed);
	for (i = 1; i <= BLOCKS; i++) {
		struct block *b = &p->blocks[i];
		struct vt_slot slot = {.what = VT_WHAT_LOAD};

		b->ninsns = 1 + below(p, 9);
		b->nslots = below(p, 13);
		for (k = 0; k < b->nslots; k++) {
			slot.insn = (uint16_t)(slot.insn + below(p, 2));
			if (slot.insn >= b->ninsns)
				slot.insn = (uint16_t)(b->ninsns - 1);
			slot.size = (uint16_t)(1 + below(p, 32));
			b->slots[k] = vt_slot_pack(&slot);
		}
	}
}

/* Executes `insns` instructions of a block. */
static void execute(struct program *p, struct rings *r, uint32_t id, uint32_t insns)
{
	const struct block *b = &p->blocks[id];
	uint8_t data[12 * 32];
	uint32_t insn, k = 0, i;
	size_t size = 0;

	while (p->told < id) {
		p->told++;
		rings_block(r, p->told, p->blocks[p->told].ninsns, p->blocks[p->told].slots,
			    p->blocks[p->told].nslots);
	}
	for (insn = 0; insn < insns; insn++) {
		trace_insn(&p->all, r->tid, id, insn);
		for (; k < b->nslots && (b->slots[k] & 0xffff) == insn; k++) {
			uint32_t n = b->slots[k] >> 32 & 0xffff;

			for (i = 0; i < n; i++)
				data[size + i] = (uint8_t)below(p, 256);
			vt_buf_put(&p->all.bytes, data + size, n);
			size += n;
		}
	}
	rings_run(r, id, data, size);
	if (insns < b->ninsns)
		rings_number(r, VT_RING_PARTIAL, r->tid, insns);
}

/* Threads, signals that cut blocks short, flushes at any place; the same for the same seed. */
static void run_program(struct program *p, struct rings *r, uint32_t steps)
{
	while (steps--) {
		uint32_t id = 1 + below(p, BLOCKS), insns = p->blocks[id].ninsns;
		uint32_t event = below(p, 200);

		if (event == 0 && insns > 1)
			insns = 1 + below(p, insns - 1);
		execute(p, r, id, insns);
		if (event == 1) {
			r->tid = PID + (int32_t)below(p, 3);
			rings_event(r, VT_RING_SWITCH, r->tid, NULL, 0, NULL, 0);
		} else if (event == 2) {
			rings_flush(r);
		}
	}
}

static void record_program(struct session *s, struct program *p, uint64_t seed,
			   const struct vt_recording_options *opt)
{
	struct rings r;

	session_begin(s, opt);
	program_init(p, seed);
	rings_begin(&r, s->rec, s->dir, PID, 1, 0);
	rings_start(&r, 1, 0, "/bin/program");
	run_program(p, &r, STEPS);
	rings_number(&r, VT_RING_EXIT, PID, 0);
	rings_end(&r);
}

/* ---- tests ---- */

static void test_whole(void **state)
{
	const struct vt_recording_options opt = {0};
	struct session s;
	struct program p;
	struct told t;

	(void)state;
	record_program(&s, &p, 1, &opt);
	assert_int_equal(vt_recording_summary(s.rec)->insns, p.all.n);
	assert_int_equal(vt_recording_summary(s.rec)->cut, 0);
	session_end(&s, &t);
	assert_part(&t.trace, &p.all, 0, p.all.n);
	assert_int_equal(t.kinds[VT_BLOCK], BLOCKS);
	assert_int_equal(t.kinds[VT_THREAD], 2);
	assert_int_equal(t.kinds[VT_GAP], 0);
	assert_int_equal(t.edges, 0);
	assert_int_equal(s.warnings, 0);
	trace_free(&t.trace);
	trace_free(&p.all);
}

static void test_windows(void **state)
{
	static const struct {
		uint64_t skip, count;
	} windows[] = {{0, 1},	   {1, 1},	 {7, 3},     {100, 1000},   {12345, 4000},
		       {0, 20000}, {3, 1000000}, {10000, 0}, {1000000, 10}, {1000000, 0}};
	struct session s;
	struct program p;
	struct told t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		const struct vt_recording_options opt = {.skip = windows[i].skip,
							 .count = windows[i].count};
		uint64_t from, to;

		record_program(&s, &p, 2, &opt);
		session_end(&s, &t);
		from = opt.skip < p.all.n ? opt.skip : p.all.n;
		to = opt.count ? from + opt.count : p.all.n;
		assert_part(&t.trace, &p.all, from, to);
		/* Each thread that ran before the window has an edge when it comes to it. */
		assert_true(t.trace.n == 0 || opt.skip == 0 || t.edges >= 1);
		assert_true(t.edges <= 3);
		assert_int_equal(t.kinds[VT_BLOCK], to < p.all.n ? t.kinds[VT_BLOCK] : BLOCKS);
		trace_free(&t.trace);
		trace_free(&p.all);
	}
}

static void test_toggle(void **state)
{
	const struct vt_recording_options opt = {.toggle = true, .skip = 2, .count = 45};
	struct trace inside = {.bytes = VT_BUF_INIT};
	struct session s;
	struct program p;
	struct rings r;
	struct told t;
	int in = 0;
	uint32_t i;

	(void)state;
	session_begin(&s, &opt);
	program_init(&p, 3);
	rings_begin(&r, s.rec, s.dir, PID, 1, 0);
	rings_start(&r, 1, 0, "/bin/program");
	for (i = 0; i < 20; i++) {
		size_t from = p.all.n;

		/* The second thread runs while the first one is in the function, and is not meant.
		 */
		r.tid = PID + (i % 3 == 2);
		rings_event(&r, VT_RING_SWITCH, r.tid, NULL, 0, NULL, 0);
		if (i % 3 == 1)
			rings_number(&r, VT_RING_TOGGLE, PID, in = 1);
		if (i % 6 == 3)
			rings_number(&r, VT_RING_TOGGLE, PID, in = 0);
		execute(&p, &r, 1 + i, p.blocks[1 + i].ninsns);
		for (; in && r.tid == PID && from < p.all.n; from++)
			trace_copy(&inside, &p.all, from);
	}
	rings_end(&r);
	session_end(&s, &t);
	assert_part(&t.trace, &inside, 2, 2 + 45);
	assert_true(t.edges > 1);
	trace_free(&t.trace);
	trace_free(&p.all);
	trace_free(&inside);
}

/* Killed without a word, at a place that it had told or some blocks later. */
static void test_killed(void **state)
{
	const struct vt_recording_options opt = {0};
	struct vt_error err = VT_ERROR_INIT;
	uint32_t later, i;
	struct session s;
	struct program p;
	struct rings r;
	struct told t;

	(void)state;
	for (later = 0; later < 5; later++) {
		uint64_t ids, data;
		size_t whole;

		session_begin(&s, &opt);
		program_init(&p, 4);
		rings_begin(&r, s.rec, s.dir, PID, 1, 0);
		rings_start(&r, 1, 0, "/bin/program");
		run_program(&p, &r, 300);
		execute(&p, &r, BLOCKS, p.blocks[BLOCKS].ninsns);
		rings_flush(&r);
		run_program(&p, &r, 3);
		ids = r.ring->ids_next;
		data = r.ring->data_next;
		whole = p.all.n;
		/* Of these the last may not have come to its end. */
		for (i = 0; i < later; i++) {
			whole = p.all.n;
			execute(&p, &r, 1 + i, p.blocks[1 + i].ninsns);
		}
		r.ring->ids_next = ids;
		r.ring->data_next = data;
		rings_drop(&r);
		assert_int_equal(vt_recording_running(s.rec, 0), PID);
		assert_int_equal(vt_recording_dead(s.rec, PID, &err), 0);
		assert_int_equal(vt_recording_summary(s.rec)->cut, 1);
		session_end(&s, &t);
		assert_part(&t.trace, &p.all, 0, whole);
		assert_int_equal(t.kinds[VT_GAP], 0);
		trace_free(&t.trace);
		trace_free(&p.all);
	}
}

/* A child uses its parent's blocks; which of them speaks first does not matter. */
static void test_fork(void **state)
{
	const struct vt_recording_options opt = {.follow = true};
	const struct vt_ring_fork fork = {.child = PID + 1, .recorded = 1};
	struct rings r, child;
	struct session s;
	struct program p;
	struct told t;
	int late;

	(void)state;
	for (late = 0; late < 2; late++) {
		session_begin(&s, &opt);
		program_init(&p, 5);
		rings_begin(&r, s.rec, s.dir, PID, 1, 0);
		rings_start(&r, 1, 0, "/bin/program");
		execute(&p, &r, 9, p.blocks[9].ninsns);
		rings_flush(&r);
		if (late) {
			rings_event(&r, VT_RING_FORK, PID, &fork, sizeof(fork), NULL, 0);
			rings_flush(&r);
		}
		rings_begin(&child, s.rec, s.dir, PID + 1, PID, 0);
		rings_start(&child, PID, 1, "/bin/program");
		execute(&p, &child, 3, p.blocks[3].ninsns);
		rings_flush(&child);
		if (!late)
			rings_event(&r, VT_RING_FORK, PID, &fork, sizeof(fork), NULL, 0);
		rings_end(&r);
		assert_int_equal(vt_recording_running(s.rec, 0), PID + 1);
		rings_end(&child);
		assert_int_equal(vt_recording_summary(s.rec)->processes, 1);
		session_end(&s, &t);
		assert_part(&t.trace, &p.all, 0, p.all.n);
		assert_int_equal(t.kinds[VT_THREAD], 2);
		assert_int_equal(t.kinds[VT_GAP], 0);
		trace_free(&t.trace);
		trace_free(&p.all);
	}
}

/* A false ring: never a crash, and other processes are not disturbed. */
static void test_damage(void **state)
{
	const struct vt_recording_options opt = {0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_rng rng;
	uint64_t seed, gaps = 0;

	(void)state;
	for (seed = 0; seed < 300; seed++) {
		struct vt_ring_buffer *b;
		struct session s;
		struct program p;
		struct rings r;
		struct told t;
		int i;

		session_begin(&s, &opt);
		program_init(&p, seed);
		vt_rng_init(&rng, seed);
		rings_begin(&r, s.rec, s.dir, PID, 1, 0);
		rings_start(&r, 1, 0, "/bin/program");
		run_program(&p, &r, 100);
		b = &r.ring->buffers[r.ring->current];
		for (i = 0; i < 1 + (int)(seed % 4); i++) {
			uint64_t area = seed % 3 == 0 ? b->ids_offset : b->events_offset;
			uint64_t at =
				area + vt_rng_below(&rng, seed % 3 == 0 ? 300 : b->events + 8);

			((uint8_t *)r.ring)[at] = (uint8_t)vt_rng_below(&rng, 256);
		}
		if (seed % 16 == 5)
			b->number += 1;
		if (seed % 16 == 6)
			b->state = VT_RING_FULL, b->ids = UINT32_MAX;
		if (seed % 16 == 7)
			r.ring->ids_next = vt_rng_next(&rng);
		rings_drop(&r);
		assert_int_equal(vt_recording_dead(s.rec, PID, &err), 0);
		gaps += vt_recording_summary(s.rec)->gaps;
		session_end(&s, &t);
		trace_free(&t.trace);
		trace_free(&p.all);
	}
	assert_true(gaps > 50);
}

static void test_false_header(void **state)
{
	const struct vt_recording_options opt = {0};
	size_t at;

	(void)state;
	for (at = 0; at < offsetof(struct vt_ring, buffers[1]); at++) {
		struct vt_error err = VT_ERROR_INIT;
		struct vt_ring_message m = {.type = VT_RING_HELLO, .pid = PID, .ppid = 1, .seq = 1};
		struct session s;
		struct rings r;
		struct told t;
		uint8_t *ring;
		char path[4096];
		int fd;

		session_begin(&s, &opt);
		rings_begin(&r, s.rec, s.dir, PID, 1, 0);
		/* A copy with one byte changed, or cut. */
		snprintf(path, sizeof(path), "%s/ring.%d.1", s.dir, PID);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
		assert_true(fd >= 0);
		ring = (uint8_t *)r.ring;
		ring[at] ^= 0x81;
		assert_int_equal(write(fd, ring, at % 5 ? r.size : at * 16),
				 at % 5 ? r.size : at * 16);
		ring[at] ^= 0x81;
		close(fd);
		assert_int_equal(write(r.control, &m, sizeof(m)), sizeof(m));
		assert_int_equal(vt_recording_read(s.rec, &err), 1);
		rings_drop(&r);
		vt_recording_dead(s.rec, PID, &err);
		session_end(&s, &t);
		trace_free(&t.trace);
	}
}

/* When the output fails, recorders are told, and never left waiting. */
static void test_full_disk(void **state)
{
	const struct vt_recording_options opt = {0};
	struct vt_writer_options how = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	struct session s;
	struct program p;
	struct rings r;
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	session_begin(&s, &opt);
	vt_recording_close(s.rec);
	vt_writer_abandon(s.w);
	s.w = vt_writer_open_fd(fd, "full", &how, &err);
	assert_non_null(s.w);
	s.rec = vt_recording_open(s.dir, s.w, &opt, &err);
	assert_non_null(s.rec);
	program_init(&p, 6);
	rings_begin(&r, s.rec, s.dir, PID, 1, 0);
	rings_start(&r, 1, 0, "/bin/program");
	run_program(&p, &r, 100000); /* rings_flush() asserts that there is a free buffer */
	rings_end(&r);
	assert_int_equal(vt_writer_error(s.w, &err), -VT_E_WRITE);
	vt_recording_close(s.rec);
	vt_writer_abandon(s.w);
	toolbox_remove(s.dir);
	close(s.fd);
	close(fd);
	trace_free(&p.all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	     cmocka_unit_test(test_windows),
		cmocka_unit_test(test_toggle),	     cmocka_unit_test(test_killed),
		cmocka_unit_test(test_fork),	     cmocka_unit_test(test_damage),
		cmocka_unit_test(test_false_header), cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
