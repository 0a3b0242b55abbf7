/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/libipt.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "formats/pt/decode/engine.h"

/* A block of which libipt has given a part: the next one may be its rest. */
struct open_block {
	uint32_t index;
	uint16_t have; /* instructions that libipt has given; 0: there is no open block */
	uint16_t insns;
	uint64_t next; /* the address after it */
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
	bool stopped; /* by `held`, a note that has to wait */
	struct vt_pt_note held;
	struct open_block open;
	struct vti_pt_reported reported;
	bool has_mode;	     /* since the last PSB that decoding went on at */
	unsigned mode;	     /* of the image that libipt has */
	const uint8_t *sync; /* the last PSB that was tried */
	struct vti_pt_marked marked;

	/* The epoch in which each block was last entered.  A packet that is used up begins one. */
	uint32_t *entered;
	size_t entered_cap;
	uint32_t nentered;
	uint32_t epoch;

	struct vti_pt_output out;
};

/* ---- opening ---- */

static void close_libipt_engine(struct vt_pt_engine *e)
{
	if (!e)
		return;
	pt_blk_free_decoder(e->decoder);
	vti_ipt_images_free(e->images);
	free(e->entered);
	vti_pt_output_fini(&e->out);
	free(e);
}

static void configure_libipt(struct pt_config *c, const uint8_t *trace, size_t size,
			     const struct vt_pt_options *opt)
{
	pt_config_init(c);
	/* libipt does not write to the trace, but its pointer is not const. */
	memcpy(&c->begin, &trace, sizeof(trace));
	c->end = c->begin + size;
	c->flags.variant.block.end_on_call = 1;
	c->flags.variant.block.end_on_jump = 1;
	if (opt->family) {
		c->cpu.vendor = pcv_intel;
		c->cpu.family = opt->family;
		c->cpu.model = opt->model;
		c->cpu.stepping = opt->stepping;
		/* For an unknown processor this sets no errata. */
		pt_cpu_errata(&c->errata, &c->cpu);
	}
	/* Many processors have BDM70, and its workaround harms no other (engine.h). */
	c->errata.bdm70 = 1;
}

static struct vt_pt_engine *open_libipt_engine(const uint8_t *trace, size_t size,
					       const struct vt_pt_options *opt,
					       struct vt_error *err)
{
	struct vt_pt_engine *e = calloc(1, sizeof(*e));
	struct pt_config config;

	if (e) {
		configure_libipt(&config, trace, size, opt);
		e->trace = trace;
		e->size = size;
		e->mode = 64;
		vti_pt_cursor_init(&e->cursor, trace, size, opt);
		e->images = vti_ipt_images_new();
		e->decoder = size ? pt_blk_alloc_decoder(&config) : NULL;
		e->ended = !size;
		e->epoch = 1;
	}
	if (!e || !e->images || (size && !e->decoder)) {
		close_libipt_engine(e);
		vt_error_nomem(err);
		return NULL;
	}
	return e;
}

static int set_libipt_code(struct vt_pt_engine *e, const struct vt_pt_code *code,
			   struct vt_error *err)
{
	struct pt_image *image;
	struct vti_ipt_image *m = vti_ipt_image_of(e->images, code, e->mode, &image);

	if (!m)
		return vt_error_nomem(err);
	e->code = code;
	if (e->blocks != m->blocks) {
		e->nentered = 0;
		e->blocks = m->blocks;
	}
	if (e->decoder)
		pt_blk_set_image(e->decoder, image);
	return 0;
}

/* ---- output ---- */

static uint64_t get_libipt_offset(const struct vt_pt_engine *e)
{
	uint64_t offset = 0;

	return pt_blk_get_offset(e->decoder, &offset) < 0 ? 0 : offset;
}

/* A packet was used up: blocks may be entered again. */
static void begin_libipt_epoch(struct vt_pt_engine *e)
{
	if (++e->epoch == 0) {
		e->nentered = 0;
		e->epoch = 1;
	}
}

/* Adds a time mark before the next block if the time has moved. */
static int mark_libipt_time(struct vt_pt_engine *e, struct vt_error *err)
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

/* Ends the open block after the instructions that libipt has given. */
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

static enum vt_pt_error map_libipt_error(int status)
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

/* Resumes at the next good PSB from *offset on; *offset is then its offset. */
static void sync_libipt(struct vt_pt_engine *e, uint64_t *offset)
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
			psb = e->trace + get_libipt_offset(e);
		}
	} while (e->status < 0 && e->status != -pte_eos);
	if (e->status < 0) {
		e->ended = true;
		*offset = e->size;
	}
}

/* Decoding failed at `offset`.  bad: the address of missing or bad code, or NULL. */
static int put_libipt_gap(struct vt_pt_engine *e, enum vt_pt_error why, uint64_t offset,
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
	sync_libipt(e, &sync);
	n.bytes = sync > offset ? sync - offset : 0;
	rc = put_note(e, &n, err);
	begin_libipt_epoch(e);
	if (rc == 0 && !e->ended) {
		vti_pt_cursor_sync(&e->cursor, sync);
		rc = mark_libipt_time(e, err);
	}
	return rc;
}

/*
 * libipt reports an error, or the end of the trace.  It may also have taken the bogus byte after a
 * TMA corrupted by erratum SKZ84 although the trace ends before it; inside a PSB+ it then reports
 * that it is not synchronised.
 */
static int take_libipt_error(struct vt_pt_engine *e, int status, struct vt_error *err)
{
	if (status == -pte_eos || status == -pte_nosync || get_libipt_offset(e) > e->size) {
		e->ended = true;
		return cut_open(e, err);
	}
	return put_libipt_gap(e, map_libipt_error(status), get_libipt_offset(e), NULL, err);
}

/* Moves to the first PSB: the bytes before it are a gap. */
static int start_libipt(struct vt_pt_engine *e, struct vt_error *err)
{
	uint64_t sync = 0, i = 0;

	e->started = true;
	sync_libipt(e, &sync);
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
	return mark_libipt_time(e, err);
}

/* ---- blocks ---- */

/* Enters a block.  1; 0: it is a loop without trace; or a negative error. */
static int enter_libipt_block(struct vt_pt_engine *e, uint64_t ip, unsigned mode,
			      struct vt_error *err)
{
	struct vt_pt_block *k;
	uint32_t index;

	if (vt_pt_blocks_at(e->blocks, ip, mode, &index) < 0)
		return vt_error_nomem(err);
	if (index >= e->nentered) {
		uint32_t count = vt_pt_blocks_count(e->blocks);

		if (!vt_array_grow(&e->entered, &e->entered_cap, count, sizeof(*e->entered)))
			return vt_error_nomem(err);
		memset(e->entered + e->nentered, 0, (count - e->nentered) * sizeof(*e->entered));
		e->nentered = count;
	}
	if (e->entered[index] == e->epoch)
		return 0;
	e->entered[index] = e->epoch;
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
 * Takes a block of libipt.  It is the start, a piece, or the end of one of our blocks.  It is
 * several of our blocks if these end at their limit of length, or if it ends in a PTWRITE whose
 * address is in a FUP: libipt adds that after the call or jump that should have ended the block.
 * Returns the end of the last block if it needs a decision, else VT_PT_END_FALL; or WRONG + the
 * error.
 */
#define WRONG 256

static int take_libipt_block(struct vt_pt_engine *e, const struct pt_block *b, struct vt_error *err)
{
	uint64_t ip = b->ip;
	unsigned left = b->ninsn, end = VT_PT_END_FALL;
	int rc;

	while (left) {
		unsigned n;

		if (!e->open.have) {
			rc = enter_libipt_block(e, ip, vti_ipt_mode(b->mode), err);
			if (rc <= 0)
				return rc < 0 ? rc : WRONG + VT_PT_ERR_LOOP;
		}
		n = e->open.insns - e->open.have;
		/* Our own instruction decoder knows fewer instructions. */
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
	return !e->open.have && vt_pt_end_needs_packet(end) ? (int)end : VT_PT_END_FALL;
}

/* True if a TIP without address comes where one is needed, which libipt may not notice. */
static bool is_suppressed(const struct vt_pt_engine *e, int end, uint64_t *behind)
{
	return vti_pt_cursor_suppressed(&e->cursor, (unsigned)end, get_libipt_offset(e), behind);
}

static int decode_libipt_block(struct vt_pt_engine *e, struct vt_error *err)
{
	enum vt_pt_error why;
	struct pt_block b;
	int status = pt_blk_next(e->decoder, &b, sizeof(b));
	int end = take_libipt_block(e, &b, err);
	uint64_t behind;

	e->status = status;
	if (end < 0)
		return end;
	if (end >= WRONG) {
		why = (enum vt_pt_error)(end - WRONG);
		return put_libipt_gap(e, why, get_libipt_offset(e),
				      why == VT_PT_ERR_BAD_CODE ? &e->open.next : NULL, err);
	}
	if (is_suppressed(e, end, &behind))
		return put_libipt_gap(e, VT_PT_ERR_NO_IP, behind, NULL, err);
	/* The missing or bad code comes after what libipt has given. */
	why = map_libipt_error(status);
	if (why == VT_PT_ERR_NO_CODE || why == VT_PT_ERR_BAD_CODE)
		return put_libipt_gap(e, why, get_libipt_offset(e), b.ninsn ? &e->open.next : &b.ip,
				      err);
	if (status < 0)
		return take_libipt_error(e, status, err);
	if (end == VT_PT_END_FALL)
		return 0;
	begin_libipt_epoch(e);
	return vti_pt_cursor_decide(&e->cursor, (unsigned)end, get_libipt_offset(e))
		       ? mark_libipt_time(e, err)
		       : 0;
}

/* ---- events ---- */

/* Changes the mode of the code; 0: libipt does not know it. */
static int change_mode(struct vt_pt_engine *e, int ipt_mode, struct vt_error *err)
{
	unsigned mode = vti_ipt_mode(ipt_mode);

	e->has_mode = mode;
	if (!mode || mode == e->mode)
		return 0;
	e->mode = mode;
	return set_libipt_code(e, e->code, err);
}

/* The flag of a PWRE, which libipt reads from another bit. */
static bool is_autonomous(const struct vt_pt_engine *e, const struct vt_pt_note *n)
{
	return n->type == VT_PT_NOTE_PWRE && n->offset + 3 < e->size &&
	       e->trace[n->offset + 1] == 0x22 && e->trace[n->offset + 2] & 0x80;
}

/* After an event that bound to the same instruction, a decision may have been taken. */
static int decide_pending_libipt(struct vt_pt_engine *e, struct vt_error *err)
{
	return vti_pt_cursor_decide_pending(&e->cursor, get_libipt_offset(e))
		       ? mark_libipt_time(e, err)
		       : 0;
}

static int take_libipt_event(struct vt_pt_engine *e, const struct pt_event *ev,
			     struct vt_error *err)
{
	struct vt_pt_note n = {.offset = 0};
	uint64_t kinds = vti_ipt_packets(ev);
	bool fresh;

	begin_libipt_epoch(e);
	if (ev->type == ptev_exec_mode && change_mode(e, ev->variant.exec_mode.mode, err) < 0)
		return -VT_E_NOMEM;
	fresh = vti_ipt_note(&n, ev, &e->reported);
	n.offset = vti_pt_cursor_seek(&e->cursor, kinds, get_libipt_offset(e));
	n.flag |= is_autonomous(e, &n);
	if (!fresh)
		return decide_pending_libipt(e, err);
	n.tsc = e->cursor.timing.tsc;
	n.cycles = e->cursor.timing.cycles;
	if (put_note(e, &n, err) < 0 || (!e->stopped && mark_libipt_time(e, err) < 0))
		return -VT_E_NOMEM;
	return e->stopped ? 0 : decide_pending_libipt(e, err);
}

static int take_next_event(struct vt_pt_engine *e, struct vt_error *err)
{
	struct pt_event ev;
	int rc = 0;

	memset(&ev, 0, sizeof(ev));
	/* An error may be in the event, which then is not given, or in the packets after it. */
	ev.reserved[0] = UINT64_MAX;
	e->status = pt_blk_event(e->decoder, &ev, sizeof(ev));
	if (ev.reserved[0] != UINT64_MAX)
		rc = take_libipt_event(e, &ev, err);
	if (rc == 0 && e->status < 0 && !e->stopped)
		rc = take_libipt_error(e, e->status, err);
	return rc;
}

/* ---- batches ---- */

static int step_libipt(struct vt_pt_engine *e, struct vt_error *err)
{
	if (!e->started)
		return start_libipt(e, err);
	if (e->status < 0)
		return take_libipt_error(e, e->status, err);
	if (e->status & pts_event_pending)
		return take_next_event(e, err);
	if (e->status & pts_eos) {
		e->ended = true;
		return cut_open(e, err);
	}
	/* libipt would decode code without knowing its mode. */
	if (!(e->status & pts_ip_suppressed) && !e->has_mode)
		return put_libipt_gap(e, VT_PT_ERR_MISMATCH, get_libipt_offset(e), NULL, err);
	return decode_libipt_block(e, err);
}

static int begin_libipt_batch(struct vt_pt_engine *e, struct vt_error *err)
{
	struct vt_pt_note n = e->held;

	vti_pt_output_reset(&e->out);
	/* The code may have changed. */
	if (set_libipt_code(e, e->code, err) < 0)
		return -VT_E_NOMEM;
	if (!e->stopped)
		return 0;
	e->stopped = false;
	if (put_note(e, &n, err) < 0)
		return -VT_E_NOMEM;
	if (e->stopped)
		return 0;
	return mark_libipt_time(e, err) < 0 ? -VT_E_NOMEM : decide_pending_libipt(e, err);
}

static int decode_libipt_batch(struct vt_pt_engine *e, uint64_t until, struct vt_pt_batch *batch,
			       struct vt_error *err)
{
	int rc;

	if (e->ended && !e->stopped)
		return 0;
	e->until = until;
	rc = begin_libipt_batch(e, err);
	while (rc == 0 && !e->ended && !e->stopped && (e->out.nids < VT_PT_BATCH || e->open.have))
		rc = step_libipt(e, err);
	if (rc < 0)
		return rc;
	*batch = vti_pt_output_batch(&e->out, e->blocks);
	return 1;
}

const struct vt_pt_engine_ops vt_pt_libipt = {
	.name = "libipt",
	.open = open_libipt_engine,
	.set_code = set_libipt_code,
	.next = decode_libipt_batch,
	.close = close_libipt_engine,
};
