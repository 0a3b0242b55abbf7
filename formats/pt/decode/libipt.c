/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/libipt.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "formats/pt/decode/engine.h"

/* A block of which libipt has told a part: what follows may be its rest. */
struct open_block {
	uint32_t index;
	uint16_t have; /* instructions; 0: there is none */
	uint16_t insns;
	uint64_t next; /* where it goes on */
};

struct vt_pt_engine {
	struct pt_block_decoder *decoder;
	const uint8_t *trace;
	size_t size;
	struct vti_ipt_images *images;
	const struct vt_pt_code *code;
	struct vt_pt_blocks *blocks; /* of the code */
	struct vti_pt_cursor cursor;
	bool started, ended;
	int status; /* libipt's, of its last call: enum pt_status_flag */
	uint64_t until;
	bool stopped; /* by a note that has to wait: */
	struct vt_pt_note held;
	struct open_block open;
	struct vti_pt_reported reported;
	bool has_mode;	     /* since the last PSB that decoding went on at */
	unsigned mode;	     /* of the image that libipt has */
	const uint8_t *sync; /* the last PSB that was tried */
	struct vti_pt_marked marked;

	/* Blocks entered since a packet was used up have its number here. */
	uint32_t *turns;
	size_t turns_cap;
	uint32_t nturns;
	uint32_t turn;

	struct vti_pt_output out;
};

/* ---- opening ---- */

static void close_engine(struct vt_pt_engine *e)
{
	if (!e)
		return;
	pt_blk_free_decoder(e->decoder);
	vti_ipt_images_free(e->images);
	free(e->turns);
	vti_pt_output_fini(&e->out);
	free(e);
}

static void configure(struct pt_config *c, const uint8_t *trace, size_t size,
		      const struct vt_pt_options *opt)
{
	pt_config_init(c);
	/* It does not write to it, but does not say so. */
	memcpy(&c->begin, &trace, sizeof(trace));
	c->end = c->begin + size;
	c->flags.variant.block.end_on_call = 1;
	c->flags.variant.block.end_on_jump = 1;
	if (opt->family) {
		c->cpu.vendor = pcv_intel;
		c->cpu.family = opt->family;
		c->cpu.model = opt->model;
		c->cpu.stepping = opt->stepping;
		/* Of a processor that it does not know it knows no errata. */
		pt_cpu_errata(&c->errata, &c->cpu);
	}
	/* What it is about is wrong on any processor, and processors that have it are many. */
	c->errata.bdm70 = 1;
}

static struct vt_pt_engine *open_engine(const uint8_t *trace, size_t size,
					const struct vt_pt_options *opt, struct vt_error *err)
{
	struct vt_pt_engine *e = calloc(1, sizeof(*e));
	struct pt_config config;

	if (e) {
		configure(&config, trace, size, opt);
		e->trace = trace;
		e->size = size;
		e->mode = 64;
		vti_pt_cursor_init(&e->cursor, trace, size, opt);
		e->images = vti_ipt_images_new();
		e->decoder = size ? pt_blk_alloc_decoder(&config) : NULL;
		e->ended = !size;
		e->turn = 1;
	}
	if (!e || !e->images || (size && !e->decoder)) {
		close_engine(e);
		vt_error_nomem(err);
		return NULL;
	}
	return e;
}

static int set_code(struct vt_pt_engine *e, const struct vt_pt_code *code, struct vt_error *err)
{
	struct pt_image *image;
	struct vti_ipt_image *m = vti_ipt_image_of(e->images, code, e->mode, &image);

	if (!m)
		return vt_error_nomem(err);
	e->code = code;
	if (e->blocks != m->blocks) {
		e->nturns = 0;
		e->blocks = m->blocks;
	}
	if (e->decoder)
		pt_blk_set_image(e->decoder, image);
	return 0;
}

/* ---- what is put out ---- */

static uint64_t position(const struct vt_pt_engine *e)
{
	uint64_t offset = 0;

	return pt_blk_get_offset(e->decoder, &offset) < 0 ? 0 : offset;
}

/* A packet was used up. */
static void next_turn(struct vt_pt_engine *e)
{
	if (++e->turn == 0) {
		e->nturns = 0;
		e->turn = 1;
	}
}

/* Tells the time of the next block if it has moved. */
static int mark_time(struct vt_pt_engine *e, struct vt_error *err)
{
	if (vti_pt_output_mark(&e->out, &e->marked, &e->cursor.timing))
		return 0;
	return vt_error_nomem(err);
}

static int put_id(struct vt_pt_engine *e, uint32_t index, unsigned insns, struct vt_error *err)
{
	struct vti_pt_output *o = &e->out;

	if (!vt_array_grow(&o->ids, &o->ids_cap, o->nids + 1, sizeof(*o->ids)))
		return vt_error_nomem(err);
	o->ids[o->nids++] = index;
	o->insns += insns;
	return 0;
}

/* What libipt told of the open block is all of it. */
static int cut_open(struct vt_pt_engine *e, struct vt_error *err)
{
	struct open_block *o = &e->open;
	uint32_t index;

	if (!o->have)
		return 0;
	if (vt_pt_blocks_cut(e->blocks, o->index, o->have, &index) < 0 ||
	    put_id(e, index, o->have, err) < 0)
		return vt_error_nomem(err);
	o->have = 0;
	return 0;
}

static int put_note(struct vt_pt_engine *e, const struct vt_pt_note *n, struct vt_error *err)
{
	if (cut_open(e, err) < 0)
		return -VT_E_NOMEM;
	if (vt_pt_note_waits(n, e->until)) {
		e->held = *n;
		e->stopped = true;
		return 0;
	}
	return vti_pt_output_note(&e->out, n) ? 0 : vt_error_nomem(err);
}

/* ---- gaps ---- */

static enum vt_pt_error error_of(int status)
{
	switch (pt_errcode(status)) {
	case pte_bad_opc:
	case pte_bad_packet:
	case pte_bad_context:
		return VT_PT_ERR_BAD_PACKET;
	case pte_nomap:
		return VT_PT_ERR_NO_CODE;
	case pte_bad_insn:
		return VT_PT_ERR_BAD_CODE;
	case pte_bad_query:
	case pte_event_ignored:
	case pte_no_enable:
	case pte_bad_status_update:
		return VT_PT_ERR_MISMATCH;
	case pte_retstack_empty:
	case pte_bad_retcomp:
		return VT_PT_ERR_RETURN;
	case pte_noip:
	case pte_ip_suppressed:
		return VT_PT_ERR_NO_IP;
	default:
		return VT_PT_ERR_OTHER;
	}
}

/* Goes on from *offset at the next PSB that is good; *offset is where it lies. */
static void synchronise(struct vt_pt_engine *e, uint64_t *offset)
{
	const uint8_t *end = e->trace + e->size, *psb = e->trace + *offset;

	e->has_mode = false;
	do {
		psb = vti_pt_resync(e->trace, end, psb, e->sync);
		e->status = -pte_eos;
		if (psb) {
			e->sync = psb;
			*offset = (uint64_t)(psb - e->trace);
			e->status = pt_blk_sync_set(e->decoder, *offset);
			psb = e->trace + position(e);
		}
	} while (e->status < 0 && e->status != -pte_eos);
	if (e->status < 0) {
		e->ended = true;
		*offset = e->size;
	}
}

/* Nothing could be decoded from `offset` on.  bad: the address of missing or bad code, or NULL. */
static int put_gap(struct vt_pt_engine *e, enum vt_pt_error why, uint64_t offset,
		   const uint64_t *bad, struct vt_error *err)
{
	struct vt_pt_note n = {
		.type = VT_PT_NOTE_ERROR,
		.error = (uint8_t)why,
		.offset = offset,
		.has_ip = bad,
		.ip = bad ? *bad : 0,
		.tsc = e->cursor.timing.tsc,
		.cycles = e->cursor.timing.cycles,
	};
	uint64_t sync = offset;
	int rc;

	if (cut_open(e, err) < 0)
		return -VT_E_NOMEM;
	synchronise(e, &sync);
	n.bytes = sync > offset ? sync - offset : 0;
	rc = put_note(e, &n, err);
	next_turn(e);
	if (rc == 0 && !e->ended) {
		vti_pt_cursor_sync(&e->cursor, sync);
		rc = mark_time(e, err);
	}
	return rc;
}

/*
 * libipt says that it cannot go on; or that there is nothing more: of a TMA corrupted by erratum
 * SKZ84, it has taken the bogus byte behind the last one of the trace, and in the header of a PSB
 * says then that it is not in step.
 */
static int take_error(struct vt_pt_engine *e, int status, struct vt_error *err)
{
	if (status == -pte_eos || status == -pte_nosync || position(e) > e->size) {
		e->ended = true;
		return cut_open(e, err);
	}
	return put_gap(e, error_of(status), position(e), NULL, err);
}

/* To the first PSB: what is before it was lost. */
static int start(struct vt_pt_engine *e, struct vt_error *err)
{
	uint64_t sync = 0, i = 0;

	e->started = true;
	synchronise(e, &sync);
	while (i < sync && e->trace[i] == 0)
		i++;
	if (i < sync) {
		struct vt_pt_note n = {
			.type = VT_PT_NOTE_ERROR,
			.error = VT_PT_ERR_BAD_PACKET,
			.bytes = sync,
		};

		if (put_note(e, &n, err) < 0)
			return -VT_E_NOMEM;
	}
	if (e->ended)
		return 0;
	vti_pt_cursor_sync(&e->cursor, sync);
	return mark_time(e, err);
}

/* ---- blocks ---- */

static bool is_decision(unsigned end)
{
	return end == VT_PT_END_COND || (end >= VT_PT_END_RET && end <= VT_PT_END_FAR_JUMP);
}

/* Enters a block.  1; 0: for the second time, and nothing happened in between. */
static int enter(struct vt_pt_engine *e, uint64_t ip, unsigned mode, struct vt_error *err)
{
	struct vt_pt_block *k;
	uint32_t index;

	if (vt_pt_blocks_at(e->blocks, ip, mode, &index) < 0)
		return vt_error_nomem(err);
	if (index >= e->nturns) {
		uint32_t count = vt_pt_blocks_count(e->blocks);

		if (!vt_array_grow(&e->turns, &e->turns_cap, count, sizeof(*e->turns)))
			return vt_error_nomem(err);
		memset(e->turns + e->nturns, 0, (count - e->nturns) * sizeof(*e->turns));
		e->nturns = count;
	}
	if (e->turns[index] == e->turn)
		return 0;
	e->turns[index] = e->turn;
	k = vt_pt_blocks_get(e->blocks, index);
	e->open = (struct open_block){index, 0, k->insns, k->next};
	return 1;
}

/* All of the open block was executed.  *end is how it ends. */
static int finish_open(struct vt_pt_engine *e, unsigned *end, struct vt_error *err)
{
	*end = vt_pt_blocks_get(e->blocks, e->open.index)->end;
	e->open.have = 0;
	return put_id(e, e->open.index, e->open.insns, err);
}

/*
 * Takes what libipt calls a block: the start, a piece, or the end of one of ours, or several that
 * each end at their limit of length, or of which a PTWRITE whose address a FUP tells is the last:
 * libipt puts it behind the call or jump that should have ended the block.  How the last ends if
 * with a decision, else VT_PT_END_FALL; or WRONG + the reason why it cannot be.
 */
#define WRONG 256

static int take_block(struct vt_pt_engine *e, const struct pt_block *b, struct vt_error *err)
{
	uint64_t ip = b->ip;
	unsigned left = b->ninsn, end = VT_PT_END_FALL;
	int rc;

	while (left) {
		unsigned n;

		if (!e->open.have) {
			rc = enter(e, ip, vti_ipt_mode(b->mode), err);
			if (rc <= 0)
				return rc < 0 ? rc : WRONG + VT_PT_ERR_LOOP;
		}
		n = e->open.insns - e->open.have;
		/* Our own decoder of instructions knows fewer of them. */
		if (!n)
			return WRONG + VT_PT_ERR_BAD_CODE;
		n = n < left ? n : left;
		e->open.have = (uint16_t)(e->open.have + n);
		left -= n;
		if (e->open.have < e->open.insns)
			continue;
		ip = e->open.next;
		if (finish_open(e, &end, err) < 0)
			return -VT_E_NOMEM;
		if (end == VT_PT_END_CALL || end == VT_PT_END_JUMP)
			ip = vt_pt_blocks_get(e->blocks, e->open.index)->target;
		else if (left && end != VT_PT_END_FALL)
			return WRONG + VT_PT_ERR_BAD_CODE;
	}
	return !e->open.have && is_decision(end) ? (int)end : VT_PT_END_FALL;
}

/* Does a TIP without an address come where one is needed?  libipt may not see that. */
static bool is_suppressed(const struct vt_pt_engine *e, int end, uint64_t *behind)
{
	return vti_pt_cursor_suppressed(&e->cursor, (unsigned)end, position(e), behind);
}

static int next_block(struct vt_pt_engine *e, struct vt_error *err)
{
	enum vt_pt_error why;
	struct pt_block b;
	int status = pt_blk_next(e->decoder, &b, sizeof(b));
	int end = take_block(e, &b, err);
	uint64_t behind;

	e->status = status;
	if (end < 0)
		return end;
	if (end >= WRONG) {
		why = (enum vt_pt_error)(end - WRONG);
		return put_gap(e, why, position(e),
			       why == VT_PT_ERR_BAD_CODE ? &e->open.next : NULL, err);
	}
	if (is_suppressed(e, end, &behind))
		return put_gap(e, VT_PT_ERR_NO_IP, behind, NULL, err);
	/* libipt stands at the missing or bad code, behind what it has told. */
	why = error_of(status);
	if (why == VT_PT_ERR_NO_CODE || why == VT_PT_ERR_BAD_CODE)
		return put_gap(e, why, position(e), b.ninsn ? &e->open.next : &b.ip, err);
	if (status < 0)
		return take_error(e, status, err);
	if (end == VT_PT_END_FALL)
		return 0;
	next_turn(e);
	return vti_pt_cursor_decide(&e->cursor, (unsigned)end, position(e)) ? mark_time(e, err) : 0;
}

/* ---- events ---- */

/* A mode of code that is told; 0: libipt does not know. */
static int change_mode(struct vt_pt_engine *e, int told, struct vt_error *err)
{
	unsigned mode = vti_ipt_mode(told);

	e->has_mode = mode;
	if (!mode || mode == e->mode)
		return 0;
	e->mode = mode;
	return set_code(e, e->code, err);
}

/* libipt looks for it in another bit. */
static bool is_autonomous(const struct vt_pt_engine *e, const struct vt_pt_note *n)
{
	return n->type == VT_PT_NOTE_PWRE && n->offset + 3 < e->size &&
	       e->trace[n->offset + 1] == 0x22 && e->trace[n->offset + 2] & 0x80;
}

/* Behind an event that bound to the same instruction, a decision may have been taken. */
static int pay(struct vt_pt_engine *e, struct vt_error *err)
{
	return vti_pt_cursor_pay(&e->cursor, position(e)) ? mark_time(e, err) : 0;
}

static int take_event(struct vt_pt_engine *e, const struct pt_event *ev, struct vt_error *err)
{
	struct vt_pt_note n = {.offset = 0};
	uint64_t kinds = vti_ipt_packets(ev);
	bool fresh;

	next_turn(e);
	if (ev->type == ptev_exec_mode && change_mode(e, ev->variant.exec_mode.mode, err) < 0)
		return -VT_E_NOMEM;
	fresh = vti_ipt_note(&n, ev, &e->reported);
	n.offset = vti_pt_cursor_seek(&e->cursor, kinds, position(e));
	n.flag |= is_autonomous(e, &n);
	if (!fresh)
		return pay(e, err);
	n.tsc = e->cursor.timing.tsc;
	n.cycles = e->cursor.timing.cycles;
	if (put_note(e, &n, err) < 0 || (!e->stopped && mark_time(e, err) < 0))
		return -VT_E_NOMEM;
	return e->stopped ? 0 : pay(e, err);
}

static int next_event(struct vt_pt_engine *e, struct vt_error *err)
{
	struct pt_event ev;
	int rc = 0;

	memset(&ev, 0, sizeof(ev));
	/* An error may be of the event, which then is not given, or of what comes behind it. */
	ev.reserved[0] = UINT64_MAX;
	e->status = pt_blk_event(e->decoder, &ev, sizeof(ev));
	if (ev.reserved[0] != UINT64_MAX)
		rc = take_event(e, &ev, err);
	if (rc == 0 && e->status < 0 && !e->stopped)
		rc = take_error(e, e->status, err);
	return rc;
}

/* ---- batches ---- */

static int step(struct vt_pt_engine *e, struct vt_error *err)
{
	if (!e->started)
		return start(e, err);
	if (e->status < 0)
		return take_error(e, e->status, err);
	if (e->status & pts_event_pending)
		return next_event(e, err);
	if (e->status & pts_eos) {
		e->ended = true;
		return cut_open(e, err);
	}
	/* libipt would decode code of any mode. */
	if (!(e->status & pts_ip_suppressed) && !e->has_mode)
		return put_gap(e, VT_PT_ERR_MISMATCH, position(e), NULL, err);
	return next_block(e, err);
}

static int begin_batch(struct vt_pt_engine *e, struct vt_error *err)
{
	struct vt_pt_note n = e->held;

	vti_pt_output_reset(&e->out);
	/* The code may have changed. */
	if (set_code(e, e->code, err) < 0)
		return -VT_E_NOMEM;
	if (!e->stopped)
		return 0;
	e->stopped = false;
	if (put_note(e, &n, err) < 0)
		return -VT_E_NOMEM;
	if (e->stopped)
		return 0;
	return mark_time(e, err) < 0 ? -VT_E_NOMEM : pay(e, err);
}

static int next(struct vt_pt_engine *e, uint64_t until, struct vt_pt_batch *batch,
		struct vt_error *err)
{
	int rc;

	if (e->ended && !e->stopped)
		return 0;
	e->until = until;
	rc = begin_batch(e, err);
	while (rc == 0 && !e->ended && !e->stopped && (e->out.nids < VT_PT_BATCH || e->open.have))
		rc = step(e, err);
	if (rc < 0)
		return rc;
	*batch = vti_pt_output_batch(&e->out, e->blocks);
	return 1;
}

const struct vt_pt_engine_ops vt_pt_libipt = {
	.name = "libipt",
	.open = open_engine,
	.set_code = set_code,
	.next = next,
	.close = close_engine,
};
