/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_PTENCODED_H
#define TESTS_UNIT_COMMON_PTENCODED_H

/* Streams of a few made-up blocks, and the traces that are encoded of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "formats/pt/encode/encode.h"
#include "formats/pt/packet.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/streams.h"

#define PID   7
#define BEGIN "PSB MODE.Exec=40 PSBEND "

struct made {
	int fd;
	struct vt_writer *w;
	int64_t tid;
	struct vt_buf trace;
	struct vt_buf other; /* of the second thread */
	struct vt_buf text;
	/* At the end. */
	struct vt_pt_encode_totals sum;
	uint64_t now;
	/* What the sink was told last. */
	uint64_t tsc;
	uint64_t insns;
};

static inline void begin(struct made *m)
{
	struct vt_writer_options none = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;

	*m = (struct made){.fd = scratch_file(), .tid = PID};
	m->w = vt_writer_open_fd(m->fd, "made", &none, &err);
	assert_non_null(m->w);
}

/* A block of instructions of these lengths, 0 at the end. */
static inline void put_block(struct made *m, uint64_t id, uint64_t addr, const char *lengths,
			     const char *code)
{
	uint64_t *row = vt_writer_row(m->w, VT_BLOCK), size = 0;
	size_t n;

	for (n = 0; lengths[n]; n++)
		size += (uint8_t)lengths[n];
	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = addr;
	row[VT_BLOCK_SIZE] = size;
	row[VT_BLOCK_INSNS] = n;
	vt_writer_bytes(m->w, VT_BLOCK_LENGTHS, lengths, n);
	vt_writer_bytes(m->w, VT_BLOCK_CODE, code, size);
}

/* A run of blocks, ids of two bytes; `insns` in all, of the first `skip` are left out. */
static inline void put_exec(struct made *m, const uint16_t *ids, size_t n, uint64_t insns,
			    uint64_t skip)
{
	uint64_t *row = vt_writer_row(m->w, VT_EXEC);

	row[VT_EXEC_PID] = PID;
	row[VT_EXEC_TID] = (uint64_t)m->tid;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_INSNS] = insns;
	row[VT_EXEC_SKIP] = skip;
	row[VT_EXEC_WIDTH] = 2;
	vt_writer_bytes(m->w, VT_EXEC_IDS, ids, 2 * n);
}

static inline void put_signal(struct made *m, uint64_t ip, uint64_t handler)
{
	uint64_t *row = vt_writer_row(m->w, VT_SIGNAL);

	row[VT_SIGNAL_PID] = PID;
	row[VT_SIGNAL_TID] = (uint64_t)m->tid;
	row[VT_SIGNAL_IP] = ip;
	row[VT_SIGNAL_HANDLER] = handler;
}

static inline int keep(void *arg, struct vt_pt_encode_thread *t, const uint8_t *bytes, size_t size,
		       struct vt_error *err)
{
	struct made *m = arg;
	struct vt_buf *to = t->index ? &m->other : &m->trace;

	(void)err;
	assert_int_equal(t->pid, PID);
	assert_int_equal(t->bytes, to->size);
	m->tsc = t->tsc;
	m->insns = t->insns;
	vt_buf_put(to, bytes, size);
	return 0;
}

/* Threads that take turns on a processor, in the order of their EXEC records. */
enum { NO_TURNS, PAUSE = 1, IDLE = 2, SYNC = 4 };
#define IDLE_INSNS 500

static inline void take_turns(struct vt_pt_encode *e, const struct vt_record *rec, unsigned turns,
			      int64_t *running)
{
	struct vt_error err = VT_ERROR_INIT;
	int64_t tid = rec->kind == VT_EXEC ? vt_record_i64(rec, VT_EXEC_TID) : *running;

	if (*running == tid)
		return;
	if (*running && turns & PAUSE)
		assert_int_equal(vt_pt_encode_pause(e, PID, *running, &err), 0);
	if (*running && turns & IDLE)
		vt_pt_encode_idle(e, IDLE_INSNS);
	if (turns & SYNC)
		vt_pt_encode_sync(e, PID);
	if (turns & PAUSE)
		vt_pt_encode_resume(e, PID, tid);
	*running = tid;
}

static inline void encode_turns(struct made *m, const struct vt_pt_encode_options *opt,
				unsigned turns)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_encode *e = vt_pt_encode_new(opt, keep, m);
	struct vt_reader *r;
	struct vt_record rec;
	int64_t running = 0;

	assert_int_equal(vt_writer_close(m->w, VT_STATUS_COMPLETE, &err), 0);
	assert_int_equal(lseek(m->fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(m->fd, "made", &err);
	assert_non_null(r);
	assert_non_null(e);
	while (vt_reader_next(r, &rec, &err) > 0) {
		if (turns)
			take_turns(e, &rec, turns, &running);
		assert_int_equal(vt_pt_encode_record(e, &rec, &err), 0);
	}
	assert_int_equal(vt_pt_encode_finish(e, &err), 0);
	m->sum = *vt_pt_encode_totals(e);
	m->now = vt_pt_encode_now(e);
	assert_int_equal(m->sum.bad, 0);
	assert_int_equal(m->sum.bytes, m->trace.size + m->other.size);
	vt_pt_encode_free(e);
	vt_reader_close(r);
	close(m->fd);
}

static inline void encode(struct made *m, const struct vt_pt_encode_options *opt)
{
	encode_turns(m, opt, NO_TURNS);
}

/* ---- packets as text ---- */

static inline void put_packet(struct vt_buf *to, const struct vt_pt_packet *k, uint64_t *last)
{
	unsigned i;

	switch (k->kind) {
	case VT_PT_PSB:
		*last = 0;
		break;
	case VT_PT_TNT8:
	case VT_PT_TNT64:
		for (i = k->count; i; i--)
			vt_buf_put_u8(to, k->payload >> (i - 1) & 1 ? 'T' : 'N');
		vt_buf_put_u8(to, ' ');
		return;
	default:
		break;
	}
	vt_buf_printf(to, "%s", vt_pt_kind_name(k->kind));
	if (k->kind == VT_PT_TIP || k->kind == VT_PT_TIP_PGE || k->kind == VT_PT_TIP_PGD ||
	    k->kind == VT_PT_FUP) {
		if (vt_pt_ip_update(last, k))
			vt_buf_printf(to, "=%llx", (unsigned long long)*last);
	} else if (k->kind != VT_PT_PSB && k->kind != VT_PT_PSBEND) {
		vt_buf_printf(to, "=%llx", (unsigned long long)k->payload);
	}
	if (k->kind == VT_PT_TMA)
		vt_buf_printf(to, "+%llx", (unsigned long long)k->extra);
	vt_buf_put_u8(to, ' ');
}

/* Whole packets; *last is the last address before them, and becomes that of theirs. */
static inline void put_packets(struct vt_buf *to, const uint8_t *p, size_t size, uint64_t *last)
{
	const uint8_t *end = p + size;
	struct vt_pt_packet k;
	int n;

	for (; p < end; p += n) {
		n = vt_pt_packet_read(&k, p, end, 0);
		assert_true(n > 0);
		put_packet(to, &k, last);
	}
}

static inline void put_times(struct vt_buf *to, unsigned n, const char *text)
{
	while (n--)
		vt_buf_put(to, text, strlen(text));
}

#endif
