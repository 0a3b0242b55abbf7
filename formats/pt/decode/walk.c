/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "formats/pt/decode/runs.h"
#include "formats/pt/decode/walk.h"

#define LOCK_TRIES 1000

/* ---- code --------------------------------------------------------------------- */

void vti_pt_walk_begin_epoch(struct vti_pt_walk *w)
{
	w->query.epoch++;
}

static int set_walk_nomem(struct vti_pt_walk *w)
{
	w->error = -VT_E_NOMEM;
	return -VTI_PT_NOMEM;
}

/* The block at an address; borrowed until the next one is added. */
static int find_walk_block(struct vti_pt_walk *w, uint64_t ip, uint32_t *index,
			   const struct vt_pt_block **k)
{
	uint8_t byte;

	if (!w->code)
		return -VTI_PT_NOMAP;
	if (!w->mode)
		return vt_pt_code_read(w->code, ip, &byte, 1) ? -VTI_PT_INSN : -VTI_PT_NOMAP;
	if (vt_pt_blocks_at(w->blocks, ip, w->mode, index))
		return set_walk_nomem(w);
	*k = vt_pt_blocks_get(w->blocks, *index);
	return 0;
}

static int put_walk_block(struct vti_pt_walk *w, uint32_t index, unsigned insns)
{
	struct vti_pt_output *o = &w->out;

	if (!vt_array_grow(&o->ids, &o->ids_cap, o->nids + 1, sizeof(*o->ids)))
		return set_walk_nomem(w);
	o->ids[o->nids++] = index;
	o->insns += insns;
	return 0;
}

int vti_pt_walk_flush(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	unsigned n = q->open_insns;
	uint32_t index = q->open_index;

	if (!n)
		return 0;
	q->open_insns = 0;
	if (vt_pt_blocks_cut(w->blocks, index, n, &index))
		return set_walk_nomem(w);
	return put_walk_block(w, index, n);
}

/* Enters a block.  A block entered twice in an epoch is a loop that no packet ends. */
static int enter_walk_block(struct vti_pt_walk *w, uint32_t index)
{
	struct vti_pt_query *q = &w->query;

	if (index >= q->nentered) {
		size_t n = vt_pt_blocks_count(w->blocks) + (size_t)1024;
		uint64_t *entered = realloc(q->entered, n * sizeof(*entered));

		if (!entered)
			return set_walk_nomem(w);
		memset(entered + q->nentered, 0, (n - q->nentered) * sizeof(*entered));
		q->entered = entered;
		q->nentered = n;
	}
	if (q->entered[index] == q->epoch)
		return -VTI_PT_LOOP;
	q->entered[index] = q->epoch;
	return 0;
}

/* Counts a block's instructions before an address, at least `from`; all if it is not inside. */
static unsigned count_insns_before_ip(const struct vti_pt_walk *w, const struct vt_pt_block *k,
				      unsigned from, uint64_t ip)
{
	const uint8_t *lengths = vt_pt_block_lengths(w->blocks, k);
	uint64_t at = w->ip;
	unsigned i;

	if (ip - w->ip >= k->addr + k->size - w->ip)
		return k->insns;
	for (i = from; i < k->insns && at != ip; i++)
		at += lengths[i];
	return i;
}

/* True for vmlaunch and vmresume. */
static bool is_vm_entry(const uint8_t *p, size_t size)
{
	while (size &&
	       (*p == 0x66 || *p == 0xf2 || *p == 0xf3 || *p == 0x67 || (*p & 0xf0) == 0x40)) {
		p++;
		size--;
	}
	return size >= 3 && p[0] == 0x0f && p[1] == 0x01 && (p[2] == 0xc2 || p[2] == 0xc3);
}

static void classify_walk_insn(struct vti_pt_insn *insn, const uint8_t *p, size_t size,
			       unsigned mode, uint64_t ip)
{
	memset(insn, 0, sizeof(*insn));
	insn->ip = ip;
	insn->next =
		ip + vt_pt_insn_classify(p, size, mode, ip, &insn->end, &insn->target, &insn->mark);
	insn->vm_entry = insn->end == VT_PT_END_FAR_RET && is_vm_entry(p, size);
}

static bool is_far(const struct vti_pt_insn *insn)
{
	return insn->end == VT_PT_END_FAR_CALL || insn->end == VT_PT_END_FAR_RET ||
	       insn->end == VT_PT_END_FAR_JUMP;
}

bool vti_pt_insn_is(const struct vti_pt_insn *insn, enum vti_pt_want want)
{
	switch (want) {
	case VTI_PT_WANT_CR3:
		return insn->mark & VT_PT_MARK_CR3;
	case VTI_PT_WANT_PAGING:
		return insn->mark & VT_PT_MARK_CR3 || is_far(insn);
	case VTI_PT_WANT_VMCS:
		return insn->mark & VT_PT_MARK_VMPTRLD || is_far(insn);
	case VTI_PT_WANT_PTWRITE:
		return insn->mark & VT_PT_MARK_PTWRITE;
	default:
		return false;
	}
}

/* Counts a block's instructions up to the first wanted one from `from` on; 0: there is none. */
static unsigned count_insns_to_wanted(const struct vti_pt_walk *w, const struct vt_pt_block *k,
				      unsigned from, enum vti_pt_want want,
				      struct vti_pt_insn *last)
{
	const uint8_t *lengths = vt_pt_block_lengths(w->blocks, k);
	const uint8_t *code = vt_pt_block_code(w->blocks, k);
	size_t at = (size_t)(w->ip - k->addr);
	unsigned i;

	if (!k->marks)
		return 0;
	for (i = from; i < k->insns; i++) {
		classify_walk_insn(last, code + at, lengths[i], k->mode, k->addr + at);
		if (vti_pt_insn_is(last, want))
			return i + 1;
		at += lengths[i];
	}
	return 0;
}

static void get_last_insn(const struct vti_pt_walk *w, const struct vt_pt_block *k,
			  struct vti_pt_insn *last)
{
	const uint8_t *code = vt_pt_block_code(w->blocks, k);

	memset(last, 0, sizeof(*last));
	last->ip = k->next - k->last;
	last->next = k->next;
	last->target = k->target;
	last->end = k->end;
	last->vm_entry =
		k->end == VT_PT_END_FAR_RET && is_vm_entry(code + k->size - k->last, k->last);
}

/* Moves past a block that has been put out completely.  0: continue at w->ip. */
static int walk_behind_block(struct vti_pt_walk *w, const struct vt_pt_block *k,
			     enum vti_pt_want want, uint64_t ip, struct vti_pt_insn *last)
{
	switch (k->end) {
	case VT_PT_END_FALL:
		w->ip = k->next;
		return 0;
	case VT_PT_END_CALL:
		/* A call of the next instruction only reads the address. */
		if (k->target != k->next)
			vti_pt_walk_push(w, k->next);
		w->ip = k->target;
		break;
	case VT_PT_END_JUMP:
		w->ip = k->target;
		break;
	case VT_PT_END_NO_CODE:
	case VT_PT_END_BAD_CODE:
		w->ip = k->next;
		if (want == VTI_PT_WANT_IP && w->ip == ip)
			return 1;
		return k->end == VT_PT_END_NO_CODE ? -VTI_PT_NOMAP : -VTI_PT_INSN;
	default:
		if (k->end == VT_PT_END_CALL_INDIRECT)
			vti_pt_walk_push(w, k->next);
		get_last_insn(w, k, last);
		w->ip = last->ip;
		return vti_pt_insn_is(last, want) ? 1 : -VTI_PT_QUERY;
	}
	return 0;
}

/* The block at w->ip, and the number of its instructions that have been walked. */
static int get_current_block(struct vti_pt_walk *w, uint32_t *index, const struct vt_pt_block **k,
			     unsigned *from)
{
	struct vti_pt_query *q = &w->query;
	int r;

	*from = q->open_insns;
	if (*from) {
		*index = q->open_index;
		*k = vt_pt_blocks_get(w->blocks, *index);
		return 0;
	}
	r = find_walk_block(w, w->ip, index, k);
	return r || !(*k)->insns ? r : enter_walk_block(w, *index);
}

/* Records that n instructions of a block have been walked; puts it out if these are all. */
static int set_walked_insns(struct vti_pt_walk *w, uint32_t index, const struct vt_pt_block *k,
			    unsigned n)
{
	struct vti_pt_query *q = &w->query;

	q->decision = VT_PT_END_FALL;
	q->open_index = index;
	q->open_insns = n;
	if (n < k->insns)
		return 0;
	q->open_insns = 0;
	q->decision = vt_pt_end_needs_packet(k->end) ? k->end : (uint8_t)VT_PT_END_FALL;
	return n ? put_walk_block(w, index, n) : 0;
}

static int walk_piece(struct vti_pt_walk *w, enum vti_pt_want want, uint64_t ip,
		      struct vti_pt_insn *last)
{
	const struct vt_pt_block *k;
	unsigned from, n = 0;
	uint32_t index;
	int r = get_current_block(w, &index, &k, &from);

	if (r)
		return r;
	w->query.branched = false;
	if (want == VTI_PT_WANT_IP) {
		n = count_insns_before_ip(w, k, from, ip);
		if (n < k->insns) {
			w->ip = ip;
			r = set_walked_insns(w, index, k, n);
			return r ? r : 1;
		}
	} else if (want != VTI_PT_WANT_NOTHING) {
		n = count_insns_to_wanted(w, k, from, want, last);
		if (n) {
			w->ip = last->ip;
			r = set_walked_insns(w, index, k, n);
			return r ? r : 1;
		}
	}
	r = set_walked_insns(w, index, k, k->insns);
	if (r)
		return r;
	w->query.branched = k->end != VT_PT_END_FALL;
	return walk_behind_block(w, k, want, ip, last);
}

int vti_pt_walk_code(struct vti_pt_walk *w, enum vti_pt_want want, uint64_t ip,
		     struct vti_pt_insn *last)
{
	int r;

	do {
		if (want == VTI_PT_WANT_IP && w->ip == ip)
			return 1;
		r = walk_piece(w, want, ip, last);
	} while (!r);
	return r;
}

int vti_pt_walk_insn(struct vti_pt_walk *w, uint64_t ip, struct vti_pt_insn *insn)
{
	const struct vt_pt_block *k;
	uint32_t index;
	int r = find_walk_block(w, ip, &index, &k);

	if (r)
		return r;
	if (!k->insns)
		return k->end == VT_PT_END_NO_CODE ? -VTI_PT_NOMAP : -VTI_PT_INSN;
	classify_walk_insn(insn, vt_pt_block_code(w->blocks, k),
			   vt_pt_block_lengths(w->blocks, k)[0], k->mode, ip);
	return 0;
}

int vti_pt_walk_one(struct vti_pt_walk *w, struct vti_pt_insn *last)
{
	const struct vt_pt_block *k;
	unsigned from;
	uint32_t index;
	int r = vti_pt_walk_insn(w, w->ip, last);

	if (r)
		return r;
	r = get_current_block(w, &index, &k, &from);
	if (!r)
		r = set_walked_insns(w, index, k, from + 1);
	if (r)
		return r;
	if ((last->end == VT_PT_END_CALL && last->target != last->next) ||
	    last->end == VT_PT_END_CALL_INDIRECT)
		vti_pt_walk_push(w, last->next);
	return 1;
}

int vti_pt_walk_next_ip(const struct vti_pt_insn *insn, uint64_t *ip)
{
	switch (insn->end) {
	case VT_PT_END_FALL:
		*ip = insn->next;
		return 0;
	case VT_PT_END_JUMP:
	case VT_PT_END_CALL:
		*ip = insn->target;
		return 0;
	default:
		return -VTI_PT_QUERY;
	}
}

int vti_pt_walk_decide(struct vti_pt_walk *w, const struct vti_pt_insn *insn)
{
	bool taken;
	int r = -VTI_PT_QUERY;

	if (insn->end == VT_PT_END_COND || insn->end == VT_PT_END_RET) {
		r = vti_pt_query_cond(w, &taken);
		if (r < 0 && (r != -VTI_PT_QUERY || insn->end == VT_PT_END_COND))
			return r;
	}
	if (r == -VTI_PT_QUERY) {
		r = vti_pt_query_indirect(w, &w->ip);
		if (r < 0)
			return r;
		w->query.flags = (unsigned)r;
		vti_pt_walk_begin_epoch(w);
		return r & VTI_PT_UNKNOWN_IP ? -VTI_PT_NOIP : 0;
	}
	w->query.flags = (unsigned)r;
	vti_pt_walk_begin_epoch(w);
	if (insn->end == VT_PT_END_COND) {
		w->ip = taken ? insn->target : insn->next;
		return 0;
	}
	if (!taken)
		return -VTI_PT_RETCOMP;
	return vti_pt_walk_pop(w, &w->ip) ? 0 : -VTI_PT_RETSTACK;
}

/* ---- gaps -------------------------------------------------------------------------- */

static int sync_at_psb(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	const uint8_t *psb = vti_pt_resync(w->begin, w->end, w->pos, q->sync);
	int r;

	w->mode = 0;
	w->ip = 0;
	w->enabled = false;
	w->ret_count = 0;
	q->processing = false;
	q->postponed = false;
	q->bound_paging = q->bound_vmcs = q->bound_ptwrite = false;
	q->flags = 0;
	if (!psb)
		return -VTI_PT_EOS;
	r = vti_pt_query_sync(w, psb, &w->ip);
	if (r < 0)
		return r;
	q->flags = (unsigned)r;
	w->enabled = !(r & VTI_PT_UNKNOWN_IP);
	return vti_pt_walk_trailing(w, false);
}

static enum vt_pt_error map_walk_fault(int fault)
{
	switch (fault) {
	case VTI_PT_OPCODE:
	case VTI_PT_PACKET:
	case VTI_PT_CONTEXT:
		return VT_PT_ERR_BAD_PACKET;
	case VTI_PT_NOMAP:
		return VT_PT_ERR_NO_CODE;
	case VTI_PT_INSN:
		return VT_PT_ERR_BAD_CODE;
	case VTI_PT_QUERY:
	case VTI_PT_DISABLED:
	case VTI_PT_STATUS:
		return VT_PT_ERR_MISMATCH;
	case VTI_PT_RETSTACK:
	case VTI_PT_RETCOMP:
		return VT_PT_ERR_RETURN;
	case VTI_PT_NOIP:
	case VTI_PT_SUPPRESSED:
		return VT_PT_ERR_NO_IP;
	case VTI_PT_LOOP:
		return VT_PT_ERR_LOOP;
	default:
		return VT_PT_ERR_OTHER;
	}
}

static uint64_t get_walk_offset(const struct vti_pt_walk *w)
{
	return (uint64_t)(w->pos - w->begin);
}

/* Resumes at the next good PSB.  Returns its offset, or that of the end. */
static uint64_t sync_walk(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;

	q->has_mode = false;
	for (;;) {
		q->status = sync_at_psb(w);
		if (q->status >= 0)
			return (uint64_t)(q->sync - w->begin);
		if (q->status == -VTI_PT_EOS || w->error) {
			q->ended = true;
			return (uint64_t)(w->end - w->begin);
		}
	}
}

static void mark_walk_synced(struct vti_pt_walk *w, uint64_t offset, bool gap)
{
	if (w->query.ended)
		return;
	if (gap)
		vti_pt_cursor_sync(&w->query.cursor, offset);
	else
		vti_pt_cursor_begin(&w->query.cursor, offset);
	vti_pt_walk_mark(w, &w->query.cursor.timing);
}

static void start_pt_walk(struct vti_pt_walk *w)
{
	uint64_t sync = sync_walk(w), i = 0;
	struct vt_pt_note n = {
		.type = VT_PT_NOTE_ERROR,
		.error = VT_PT_ERR_BAD_PACKET,
		.bytes = sync,
	};

	w->query.started = true;
	while (i < sync && w->begin[i] == 0)
		i++;
	if (i < sync && !vti_pt_walk_note(w, &n))
		return;
	mark_walk_synced(w, sync, false);
}

/* Decoding failed at `offset`. */
static void put_walk_gap(struct vti_pt_walk *w, int fault, uint64_t offset)
{
	struct vti_pt_query *q = &w->query;
	struct vt_pt_note n = {
		.type = VT_PT_NOTE_ERROR,
		.error = (uint8_t)map_walk_fault(fault),
		.offset = offset,
		.tsc = q->cursor.timing.tsc,
		.cycles = q->cursor.timing.cycles,
	};
	uint64_t sync;

	if (n.error == VT_PT_ERR_NO_CODE || n.error == VT_PT_ERR_BAD_CODE) {
		n.has_ip = true;
		n.ip = w->ip;
	}
	if (fault == VTI_PT_EOS || fault == VTI_PT_NOSYNC) {
		q->ended = true;
		vti_pt_walk_flush(w);
		return;
	}
	if (vti_pt_walk_flush(w))
		return;
	w->pos = w->begin + offset;
	sync = sync_walk(w);
	n.bytes = sync > n.offset ? sync - n.offset : 0;
	vti_pt_walk_begin_epoch(w);
	if (vti_pt_walk_note(w, &n))
		mark_walk_synced(w, sync, true);
}

/* ---- steps ------------------------------------------------------------------------ */

static bool is_walk_lazy(const struct vti_pt_walk *w)
{
	const struct vti_pt_query *q = &w->query;

	return w->enabled && w->mode && !w->tnt_count && !q->open_insns && !q->processing &&
	       !q->postponed && !q->consume && !q->queues[VTI_PT_BIND_TIP].count &&
	       !q->queues[VTI_PT_BIND_FUP].count && w->blocks && !(q->flags & VTI_PT_PENDING) &&
	       (q->next == VT_PT_TNT8 || q->next == VT_PT_TNT64 || q->next == VT_PT_TIP);
}

/* Sets the clock at w->pos: the cursor is after the last packet that was used up. */
static bool set_clock_here(struct vti_pt_walk *w)
{
	const struct vti_pt_cursor *c = &w->query.cursor;
	const uint8_t *p = c->p;
	struct vt_pt_packet pkt;

	w->timing = w->settled = c->timing;
	w->used = p;
	for (; p < w->pos; p += pkt.size) {
		if (vti_pt_packet(w, &pkt, p) < 0)
			return false;
		vt_pt_timing_packet(&w->timing, &pkt);
	}
	return p == w->pos;
}

void vti_pt_walk_lock(struct vti_pt_walk *w)
{
	unsigned tries = LOCK_TRIES;

	if (!w->lock)
		return;
	while (pthread_mutex_trylock(w->lock) != 0) {
		if (!tries--) {
			pthread_mutex_lock(w->lock);
			return;
		}
	}
}

void vti_pt_walk_unlock(struct vti_pt_walk *w)
{
	if (w->lock)
		pthread_mutex_unlock(w->lock);
}

/* Lets the accelerator take packets.  True if it took any. */
static bool run_accelerator(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	int r;

	if (!set_clock_here(w))
		return false;
	w->saw_tsc = false;
	vti_pt_walk_unlock(w);
	r = vti_pt_run_fast_loop(w);
	vti_pt_walk_lock(w);
	if (r <= 0)
		return false;
	q->cursor.timing = w->settled;
	q->cursor.p = w->used;
	q->cursor.tnt = w->tnt_count;
	q->cursor.bip = 0;
	q->cursor.pending_end = VT_PT_END_FALL;
	/* The last block put out led to a decision. */
	q->branched = true;
	if (w->saw_tsc) {
		q->has_tsc = true;
		q->has_tma = false;
	}
	vti_pt_walk_begin_epoch(w);
	vti_pt_fetch(w->pos, w->end, &q->next);
	q->flags = q->next == VT_PT_TIP_PGD && !w->tnt_count ? VTI_PT_PENDING : 0;
	q->status = 0;
	return true;
}

/* Walks one block.  *offset: where the gap begins if the block ends in one. */
static int walk_next_block(struct vti_pt_walk *w, uint64_t *offset)
{
	struct vti_pt_query *q = &w->query;
	unsigned end;
	int r;

	/* Code of an unknown mode cannot be decoded. */
	if (w->enabled && !q->has_mode)
		return -VTI_PT_STATUS;
	q->decision = VT_PT_END_FALL;
	r = vti_pt_walk_block(w);
	end = q->decision;
	*offset = get_walk_offset(w);
	if (r != -VTI_PT_NOMEM &&
	    vti_pt_cursor_suppressed(&q->cursor, end, get_walk_offset(w), offset))
		return -VTI_PT_NOIP;
	if (r >= 0 && end != VT_PT_END_FALL &&
	    vti_pt_cursor_decide(&q->cursor, end, get_walk_offset(w)))
		vti_pt_walk_mark(w, &q->cursor.timing);
	return r;
}

static void step_walk(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	uint64_t offset = get_walk_offset(w);
	int r = q->status;

	if (!q->started) {
		start_pt_walk(w);
		return;
	}
	if (r >= 0) {
		if (r & VTI_PT_PENDING) {
			r = vti_pt_walk_take_event(w);
			offset = get_walk_offset(w);
		} else if (r & VTI_PT_AT_END)
			r = -VTI_PT_EOS;
		else if (w->stop && w->pos >= w->stop && is_walk_lazy(w)) {
			w->reached = true;
			return;
		} else if (!w->careful && is_walk_lazy(w) && w->out.nids < VT_PT_BATCH &&
			   run_accelerator(w))
			return;
		else
			r = walk_next_block(w, &offset);
		q->status = r;
	}
	if (r < 0 && !q->stopped && !w->error)
		put_walk_gap(w, -r, offset);
}

/* ---- a walk as a whole ------------------------------------------------------------- */

/* Doubled three times, this is the room for a batch. */
#define FIRST_IDS ((VT_PT_BATCH + VTI_PT_MARGIN) / 8)

struct vti_pt_walk *vti_pt_walk_open(const uint8_t *trace, size_t size,
				     const struct vt_pt_options *opt, struct vt_error *err)
{
	struct vti_pt_walk *w = calloc(1, sizeof(*w));

	if (w) {
		w->begin = w->pos = trace;
		w->end = trace + size;
		w->opt = *opt;
		w->out.ids_cap = FIRST_IDS;
		w->out.ids = malloc(w->out.ids_cap * sizeof(*w->out.ids));
		w->query.epoch = 1;
		w->query.next = VTI_PT_NONE;
		w->query.ended = !size;
		w->query.errata = vti_pt_errata(opt);
		vti_pt_cursor_init(&w->query.cursor, trace, size, opt);
	}
	if (!w || !w->out.ids) {
		vti_pt_walk_close(w);
		vt_error_nomem(err);
		return NULL;
	}
	return w;
}

void vti_pt_walk_close(struct vti_pt_walk *w)
{
	if (!w)
		return;
	vti_pt_runs_free(w->runs);
	free(w->query.entered);
	vti_pt_output_fini(&w->out);
	free(w);
}

static void begin_walk_batch(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	struct vt_pt_note n = q->held;

	vti_pt_output_reset(&w->out);
	if (!q->stopped)
		return;
	q->stopped = false;
	if (vti_pt_walk_note(w, &n) && !q->stopped)
		vti_pt_walk_mark(w, &q->cursor.timing);
}

/* Forgets runs and links between blocks when the code has changed. */
static void note_code_change(struct vti_pt_walk *w)
{
	if (!w->code || vt_pt_code_generation(w->code) == w->generation)
		return;
	w->generation = vt_pt_code_generation(w->code);
	vti_pt_walk_begin_epoch(w);
	vti_pt_runs_forget(w->runs);
}

int vti_pt_walk_next(struct vti_pt_walk *w, uint64_t until, struct vt_pt_batch *batch,
		     struct vt_error *err)
{
	struct vti_pt_query *q = &w->query;

	if (q->ended && !q->stopped)
		return 0;
	note_code_change(w);
	q->until = until;
	begin_walk_batch(w);
	w->reached = false;
	while (!w->error && !q->ended && !q->stopped && !w->reached &&
	       ((w->out.nids < VT_PT_BATCH && w->out.nnotes < VTI_PT_NOTES) || q->open_insns))
		step_walk(w);
	if (w->error)
		return vt_error_nomem(err);
	*batch = vti_pt_output_batch(&w->out, w->blocks);
	return 1;
}
