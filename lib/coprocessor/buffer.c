/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/buffer.h"

#include <inttypes.h>
#include <stdlib.h>

#define TICKS 65536 /* in a cycle of the co-processor */

/* A time at which all begin anew at 0, far from where they overflow. */
#define LATE (UINT64_C(1) << 62)

struct vt_buffer {
	struct vt_coproc *m;
	struct vt_buffer_options o;
	struct vt_sample *ring;
	uint64_t *arrivals; /* ticks, of the entries of the ring */
	uint32_t entries;   /* as many as the ring has */
	uint32_t head, count;
	uint64_t per_insn; /* ticks */
	uint64_t usual;	   /* ticks, at the rate of the options */
	uint64_t paced;	   /* instructions until that is the rate again */
	uint64_t now;	   /* ticks */
	uint64_t free_at;  /* when the co-processor is done with the sample before */
	uint64_t turn;	   /* retired instructions at the end of the turn */
	struct vt_buffer_stats stats;
};

unsigned vt_buffer_entry_bytes(const struct vt_ucode *u)
{
	uint32_t r = vt_ucode_reads(u);
	unsigned i, bytes = 0, classes = 0;
	static const struct {
		uint32_t whole, half; /* fields of which one contains the other */
		unsigned bytes;
	} fields[] = {
		{1u << VT_OP_PC, 1u << VT_OP_PC_LO, 8},
		{1u << VT_OP_VALUE, 1u << VT_OP_VALUE_LO, 8},
		{1u << VT_OP_ADDR | 1u << VT_OP_WORD | 1u << VT_OP_LINE, 1u << VT_OP_ADDR_LO, 8},
		{1u << VT_OP_TARGET, 1u << VT_OP_TARGET_LO, 8},
		{1u << VT_OP_NEXT, 0, 8},
		{1u << VT_OP_CODE, 0, 8},
		{1u << VT_OP_TID, 0, 4},
		{1u << VT_OP_SIZE, 0, 1},
		{1u << VT_OP_TAKEN, 0, 1},
		{1u << VT_OP_MISSED, 0, 1},
	};

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		bytes += r & fields[i].whole  ? fields[i].bytes
			 : r & fields[i].half ? fields[i].bytes / 2
					      : 0;
	for (i = 0; i < VT_NCLASSES; i++)
		classes += u->start[i] != VT_UCODE_NO_START;
	/* Where there is one class, nothing has to tell which. */
	return bytes + (classes > 1 || !bytes);
}

struct vt_buffer *vt_buffer_new(struct vt_coproc *m, const struct vt_ucode *u,
				const struct vt_buffer_options *o, struct vt_error *err)
{
	struct vt_buffer *b;
	uint32_t entries = o->bytes / vt_buffer_entry_bytes(u);

	if (!entries) {
		vt_error_set(err, VT_E_USAGE,
			     "the sample buffer of %u bytes has no room for an entry of %u",
			     o->bytes, vt_buffer_entry_bytes(u));
		return NULL;
	}
	b = calloc(1, sizeof(*b));
	if (b) {
		b->ring = calloc(entries, sizeof(*b->ring));
		b->arrivals = calloc(entries, sizeof(*b->arrivals));
	}
	if (!b || !b->ring || !b->arrivals) {
		vt_buffer_free(b);
		vt_error_nomem(err);
		return NULL;
	}
	b->m = m;
	b->o = *o;
	b->entries = entries;
	b->usual = (uint64_t)(TICKS * o->clock / o->ipc + .5);
	b->per_insn = b->usual;
	b->turn = o->turn ? o->turn : UINT64_MAX;
	return b;
}

void vt_buffer_free(struct vt_buffer *b)
{
	if (!b)
		return;
	free(b->ring);
	free(b->arrivals);
	free(b);
}

static int report_stuck(const struct vt_buffer *b, const struct vt_sample *s, struct vt_error *err)
{
	struct vt_buf state = VT_BUF_INIT;

	vt_coproc_describe(b->m, &state);
	vt_error_set(err, VT_E_LIMIT,
		     "the program does not say done within %" PRIu64 " words: sample %" PRIu64
		     ", a %s at 0x%" PRIx64 ": %s",
		     b->o.max_words, vt_coproc_stats(b->m)->samples, vt_ucode_classes[s->class],
		     s->pc, vt_buf_str(&state));
	vt_buf_free(&state);
	return -VT_E_LIMIT;
}

/* Executes the routine of the oldest sample, from `begin` on. */
static int process_head(struct vt_buffer *b, uint64_t begin, struct vt_error *err)
{
	const struct vt_sample *s = &b->ring[b->head];
	uint64_t cycles;
	enum vt_coproc_end end = vt_coproc_run(b->m, s, b->o.max_words, &cycles);

	b->head = b->head + 1 == b->entries ? 0 : b->head + 1;
	b->count--;
	b->free_at = begin + cycles * TICKS;
	if (end == VT_COPROC_DONE)
		return 0;
	if (end == VT_COPROC_STUCK)
		return report_stuck(b, s, err);
	b->stats.interrupts++;
	return b->o.host ? b->o.host(b->o.host_arg, false, b->stats.retired, err) : 0;
}

/* What the co-processor begins up to a time. */
static inline int process_until(struct vt_buffer *b, uint64_t time, struct vt_error *err)
{
	while (b->count) {
		uint64_t arrival = b->arrivals[b->head];
		uint64_t begin = b->free_at > arrival ? b->free_at : arrival;
		int code;

		if (begin > time)
			return 0;
		code = process_head(b, begin, err);
		if (code < 0)
			return code;
	}
	return 0;
}

void vt_buffer_pace(struct vt_buffer *b, uint64_t n, double cycles)
{
	b->per_insn = (uint64_t)(TICKS * b->o.clock * cycles / (double)n + .5);
	b->paced = n;
	b->stats.timed += n;
	b->stats.cycles += cycles;
}

/* Lets the time begin anew. */
static int restart_time(struct vt_buffer *b, struct vt_error *err)
{
	int code = process_until(b, b->now, err);
	uint32_t i;

	/* What is left waits for the co-processor: when it arrived does not matter any longer. */
	for (i = 0; i < b->entries; i++)
		b->arrivals[i] = 0;
	b->free_at = b->free_at > b->now ? b->free_at - b->now : 0;
	b->now = 0;
	return code;
}

int vt_buffer_retire(struct vt_buffer *b, uint64_t n, struct vt_error *err)
{
	int code = 0;

	b->stats.retired += n;
	b->now += n * b->per_insn;
	if (b->paced) {
		b->paced = b->paced > n ? b->paced - n : 0;
		if (!b->paced)
			b->per_insn = b->usual;
	}
	if (b->now >= LATE)
		code = restart_time(b, err);
	if (code < 0 || b->stats.retired < b->turn)
		return code;
	code = process_until(b, b->now, err);
	if (code < 0)
		return code;
	b->turn = b->stats.retired + b->o.turn;
	b->stats.turns++;
	return b->o.host ? b->o.host(b->o.host_arg, true, b->stats.retired, err) : 0;
}

int vt_buffer_claim(struct vt_buffer *b, uint32_t ahead, bool pass, struct vt_sample **place,
		    struct vt_error *err)
{
	uint64_t time;
	uint32_t at;
	int code;

	*place = NULL;
	b->stats.offered++;
	if (!pass) {
		b->stats.filtered++;
		return 0;
	}
	time = b->now + ahead * b->per_insn;
	code = process_until(b, time, err);
	if (code < 0)
		return code;
	/* A sample that is being processed has its place until it is done. */
	if (b->count + (b->free_at > time) >= b->entries) {
		b->stats.dropped++;
		return 0;
	}
	at = b->head + b->count;
	at = at >= b->entries ? at - b->entries : at;
	b->arrivals[at] = time;
	b->count++;
	*place = &b->ring[at];
	return 0;
}

int vt_buffer_drain(struct vt_buffer *b, struct vt_error *err)
{
	return process_until(b, UINT64_MAX, err);
}

const struct vt_buffer_stats *vt_buffer_stats(const struct vt_buffer *b)
{
	return &b->stats;
}

uint32_t vt_buffer_entries(const struct vt_buffer *b)
{
	return b->entries;
}
