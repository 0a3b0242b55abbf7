/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FORMATS_PT_ENCODE_PTLIVE_H
#define TESTS_UNIT_FORMATS_PT_ENCODE_PTLIVE_H

/* Records that are given to an encoder one by one, and the packets that it tells after each. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/common/onerecord.h"
#include "tests/unit/common/ptencoded.h"

#define THREADS 3

/* An encoder to which records are given one by one, and what it has told. */
struct live {
	struct vt_pt_encode *e;
	struct vt_buf trace[THREADS];
	size_t told[THREADS]; /* bytes that were looked at */
	uint64_t last[THREADS];
	uint64_t time; /* of what the sink got last */
	unsigned calls;
	int fault; /* what the sink returns */
	/* The watcher: what it was asked of last, when, and what it answers. */
	unsigned asked;
	int64_t pid;
	uint64_t addr;
	uint64_t now;
	int answer;
};

static inline int collect(void *arg, struct vt_pt_encode_thread *t, const uint8_t *bytes,
			  size_t size, struct vt_error *err)
{
	struct live *l = arg;

	(void)err;
	assert_true(t->index < THREADS && size);
	assert_int_equal(t->bytes, l->trace[t->index].size);
	vt_buf_put(&l->trace[t->index], bytes, size);
	l->time = t->time;
	l->calls++;
	return l->fault;
}

static inline void begin_live(struct live *l, const struct vt_pt_encode_options *opt)
{
	*l = (struct live){.e = NULL};
	l->e = vt_pt_encode_new(opt, collect, l);
	assert_non_null(l->e);
}

static inline void end_live(struct live *l)
{
	size_t i;

	vt_pt_encode_free(l->e);
	for (i = 0; i < THREADS; i++)
		vt_buf_free(&l->trace[i]);
}

/* ---- records ---- */

/* Gives it a record of these numbers and two texts. */
static inline int give(struct live *l, uint32_t kind, const uint64_t *v, struct field_bytes a,
		       struct field_bytes b)
{
	struct vt_error err = VT_ERROR_INIT;
	struct one_record r;

	return vt_pt_encode_record(l->e, make_record(&r, kind, v, a, b), &err);
}

static inline int give_numbers(struct live *l, uint32_t kind, const uint64_t *v)
{
	struct vt_error err = VT_ERROR_INIT;
	struct one_record r;

	return vt_pt_encode_record(l->e, make_numbers(&r, kind, v), &err);
}

static inline void block(struct live *l, uint64_t id, uint64_t addr, const char *lengths,
			 const void *code)
{
	uint64_t v[FIELDS] = {[VT_BLOCK_ID] = id, [VT_BLOCK_PID] = PID, [VT_BLOCK_ADDR] = addr};
	size_t n;

	for (n = 0; lengths[n]; n++)
		v[VT_BLOCK_SIZE] += (uint8_t)lengths[n];
	v[VT_BLOCK_INSNS] = n;
	assert_int_equal(give(l, VT_BLOCK, v, (struct field_bytes){VT_BLOCK_LENGTHS, lengths, n},
			      (struct field_bytes){VT_BLOCK_CODE, code, (size_t)v[VT_BLOCK_SIZE]}),
			 0);
}

/* Ids of two or four bytes each. */
static inline int run(struct live *l, int64_t tid, const void *ids, size_t n, unsigned width,
		      uint64_t base, uint64_t insns)
{
	const uint64_t v[FIELDS] = {
		[VT_EXEC_PID] = tid == 9 ? 9 : PID,
		[VT_EXEC_TID] = (uint64_t)tid,
		[VT_EXEC_TIME] = (uint64_t)insns * 10,
		[VT_EXEC_BLOCKS] = n,
		[VT_EXEC_INSNS] = insns,
		[VT_EXEC_BASE] = base,
		[VT_EXEC_WIDTH] = width,
	};

	return give(l, VT_EXEC, v, (struct field_bytes){VT_EXEC_IDS, ids, n * width},
		    (struct field_bytes){VT_EXEC_DATA, NULL, 0});
}

/* Up to four blocks, each a digit. */
static inline void exec(struct live *l, int64_t tid, const char *digits, uint64_t insns)
{
	uint16_t ids[8];
	size_t i;

	for (i = 0; digits[i]; i++)
		ids[i] = (uint16_t)(digits[i] - '0');
	assert_int_equal(run(l, tid, ids, i, 2, 0, insns), 0);
}

static inline void gap(struct live *l, uint64_t pid, uint64_t tid)
{
	assert_int_equal(
		give_numbers(l, VT_GAP, (uint64_t[FIELDS]){[VT_GAP_PID] = pid, [VT_GAP_TID] = tid}),
		0);
}

static inline void state_of(struct live *l, uint64_t pid, uint64_t tid, uint64_t reason)
{
	assert_int_equal(give_numbers(l, VT_STATE,
				      (uint64_t[FIELDS]){[VT_STATE_PID] = pid,
							 [VT_STATE_TID] = tid,
							 [VT_STATE_REASON] = reason}),
			 0);
}

static inline void traced(struct live *l, uint64_t tid, uint64_t event, uint64_t ip, uint64_t to)
{
	assert_int_equal(give_numbers(l, VT_TRACE,
				      (uint64_t[FIELDS]){[VT_TRACE_PID] = PID,
							 [VT_TRACE_TID] = tid,
							 [VT_TRACE_EVENT] = event,
							 [VT_TRACE_IP] = ip,
							 [VT_TRACE_TO] = to}),
			 0);
}

static inline void told_value(struct live *l, uint64_t tid, uint64_t what, uint64_t size)
{
	assert_int_equal(give_numbers(l, VT_VALUE,
				      (uint64_t[FIELDS]){[VT_VALUE_PID] = PID,
							 [VT_VALUE_TID] = tid,
							 [VT_VALUE_IP] = 0x1001,
							 [VT_VALUE_WHAT] = what,
							 [VT_VALUE_SIZE] = size,
							 [VT_VALUE_VALUE] = 0x1122334455667788}),
			 0);
}

/* The packets of a thread since they were last looked at. */
static inline void said_by(struct live *l, unsigned thread, const char *text)
{
	struct vt_buf got = VT_BUF_INIT;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf *trace = &l->trace[thread];

	assert_int_equal(vt_pt_encode_flush(l->e, &err), 0);
	if (trace->size)
		put_packets(&got, trace->data + l->told[thread], trace->size - l->told[thread],
			    &l->last[thread]);
	l->told[thread] = trace->size;
	assert_string_equal(vt_buf_str(&got), text);
	vt_buf_free(&got);
}

static inline void said(struct live *l, const char *text)
{
	said_by(l, 0, text);
}

static inline const struct vt_pt_encode_totals *totals(const struct live *l)
{
	return vt_pt_encode_totals(l->e);
}

/* Blocks that most of the tests have: nop, nop; nop, jmp to 1000; three times nop. */
static inline void put_common(struct live *l)
{
	block(l, 1, 0x1000, "\1\1", "\x90\x90");
	block(l, 2, 0x1002, "\1\2", "\x90\xeb\xfb");
	block(l, 3, 0x2000, "\1\1\1", "\x90\x90\x90");
}

#endif
