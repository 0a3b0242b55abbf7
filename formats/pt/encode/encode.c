/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/encode/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "formats/pt/block.h"
#include "formats/pt/encode/internal.h"
#include "formats/pt/encode/putpacket.h"
#include "stream/exec.h"

/* The time that a program needs to write new code, in instructions: some hundred nanoseconds. */
#define MAKING_INSNS 1000

const struct vt_pt_encode_options vt_pt_encode_defaults = {
	.psb_bytes = 4096,
	.tnt_bits = 6,
	.clock = {.mtc_period = 3, .nominal_ratio = 32, .ctc_numerator = 256, .ctc_denominator = 2},
	.cbr = 32,
	.cpi = 1000000,
	.start_tsc = 1ull << 32,
	.seed = 1,
};

/* The index of a thread, by pid and tid. */
struct key {
	int64_t pid;
	int64_t tid;
	uint64_t index; /* the value */
};

struct vt_pt_encode *vt_pt_encode_new(const struct vt_pt_encode_options *opt,
				      vt_pt_encode_sink *sink, void *arg)
{
	struct vt_pt_encode *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->opt = *opt;
	e->sink = sink;
	e->arg = arg;
	e->timed = opt->tsc || opt->mtc || opt->cyc;
	e->mode = 64;
	e->dict = vt_bblocks_new();
	vt_hash_init(&e->index, sizeof(struct key), offsetof(struct key, index));
	if (!e->dict) {
		vt_pt_encode_free(e);
		return NULL;
	}
	return e;
}

void vt_pt_encode_free(struct vt_pt_encode *e)
{
	size_t i;

	if (!e)
		return;
	for (i = 0; i < e->nthreads; i++) {
		free(e->threads[i]->buffer);
		free(e->threads[i]);
	}
	free(e->threads);
	free(e->blocks);
	vt_hash_fini(&e->index);
	vt_bblocks_free(e->dict);
	free(e);
}

/* ---- threads ---- */

static void init_encoded_thread(struct vt_pt_encode *e, struct enc_thread *t)
{
	t->h.out = t->buffer;
	t->h.tnt = 1;
	t->prev = (struct enc_block){.end = ENC_OFF};
	t->off = true;
	t->mode = e->mode;
	t->full = 1ull << e->opt.tnt_bits;
	t->compress = !e->opt.no_retcomp;
	t->tick = UINT64_MAX;
	vt_rng_init(&t->rng, e->opt.seed + t->pub.index);
	t->overflow_at = UINT64_MAX;
	if (e->opt.overflow)
		t->overflow_at = vti_enc_jitter(t, e->opt.overflow);
	if (e->opt.damage)
		t->damage_at = vti_enc_jitter(t, e->opt.damage);
}

static struct enc_thread *add_encoded_thread(struct vt_pt_encode *e, const struct key *key)
{
	struct enc_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->buffer = malloc(ENC_BUFFER + ENC_SLACK);
	if (!t->buffer ||
	    !vt_array_grow(&e->threads, &e->threads_cap, e->nthreads + 1, sizeof(void *))) {
		free(t->buffer);
		free(t);
		return NULL;
	}
	t->pub.pid = key->pid;
	t->pub.tid = key->tid;
	t->pub.index = e->nthreads;
	init_encoded_thread(e, t);
	e->threads[e->nthreads++] = t;
	e->sum.threads = e->nthreads;
	return t;
}

static struct enc_thread *find_encoded_thread(struct vt_pt_encode *e, int64_t pid, int64_t tid)
{
	struct key key = {.pid = pid, .tid = tid};
	const struct key *k = vt_hash_find(&e->index, &key);

	return k ? e->threads[k->index] : NULL;
}

/* The thread of an EXEC record, added if it is new; NULL: no memory. */
static struct enc_thread *get_encoded_thread(struct vt_pt_encode *e, int64_t pid, int64_t tid)
{
	struct key key = {.pid = pid, .tid = tid}, *k;
	struct enc_thread *t = find_encoded_thread(e, pid, tid);

	if (t)
		return t;
	k = vt_hash_add(&e->index, &key, NULL);
	if (!k)
		return NULL;
	k->index = e->nthreads;
	t = add_encoded_thread(e, &key);
	if (!t)
		return NULL;
	t->away = e->total;
	t->cycles = vti_enc_get_cycles(e, t);
	vti_enc_put_psb(e, t, false, 0);
	return t;
}

static bool is_wanted_thread(const struct vt_pt_encode *e, int64_t pid, int64_t tid)
{
	return (!e->opt.pid || e->opt.pid == pid) && (!e->opt.tid || e->opt.tid == tid);
}

/* ---- switches of threads: time passes for all threads ---- */

/* Continues where vt_pt_encode_pause() has interrupted a thread. */
static void resume_thread(struct vt_pt_encode *e, struct enc_thread *t)
{
	if (!t->interrupted.last)
		return;
	t->interrupted.addr = t->interrupted.next - t->interrupted.last;
	vti_enc_put_tip(e, t, VT_PT_OP_PGE, t->interrupted.addr);
	t->prev = t->interrupted;
	t->off = false;
	t->interrupted.last = 0;
}

/* Makes a thread the running one, from `ip` on; time has passed since it ran. */
static void switch_to_thread(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip)
{
	uint64_t away = e->total - t->h.insns;

	if (e->running == t)
		return;
	e->running = t;
	vti_enc_make_room(e, t);
	if (e->timed && away != t->away) {
		vti_enc_break(e, t, ip);
		t->away = away;
		t->cycles = vti_enc_get_cycles(e, t);
		vti_enc_put_psb(e, t, false, 0);
	}
	resume_thread(e, t);
}

/* Interrupts a thread before its last instruction, whose target is not known yet. */
static void interrupt_encoded_thread(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t ip = t->prev.next - t->prev.last;

	vti_enc_end_loss(e, t, true, ip);
	vti_enc_put_tip(e, t, VT_PT_OP_FUP, ip);
	vti_enc_put_off(e, t);
	t->interrupted = t->prev;
	t->prev = (struct enc_block){.end = ENC_OFF};
	t->off = true;
}

int vt_pt_encode_pause(struct vt_pt_encode *e, int64_t pid, int64_t tid, struct vt_error *err)
{
	struct enc_thread *t = find_encoded_thread(e, pid, tid);

	if (!t)
		return 0;
	e->err = err;
	/* A repeated string instruction may continue: decoders would count it twice. */
	if (t->off || (t->prev.end == VT_PT_END_FALL && !t->prev.repeats) ||
	    t->prev.end >= VT_PT_END_FAR_CALL)
		vti_enc_break_unknown(e, t);
	else
		interrupt_encoded_thread(e, t);
	vti_enc_drain(e, t);
	e->running = NULL;
	return e->failed;
}

void vt_pt_encode_resume(struct vt_pt_encode *e, int64_t pid, int64_t tid)
{
	struct enc_thread *t = find_encoded_thread(e, pid, tid);

	if (t && t->off)
		switch_to_thread(e, t, 0);
}

void vt_pt_encode_idle(struct vt_pt_encode *e, uint64_t insns)
{
	e->total += insns;
	e->running = NULL;
}

uint64_t vt_pt_encode_now(const struct vt_pt_encode *e)
{
	struct enc_thread all = {.h = {.insns = e->total + e->ahead}};

	return e->timed ? vti_enc_convert_to_tsc(e, vti_enc_get_cycles(e, &all)) : 0;
}

void vt_pt_encode_sync(struct vt_pt_encode *e, int64_t pid)
{
	size_t i;

	if (!e->opt.tsc)
		return;
	for (i = 0; i < e->nthreads; i++) {
		struct enc_thread *t = e->threads[i];

		if (t->pub.pid != pid)
			continue;
		t->psb_at = vti_enc_get_position(t);
		vti_enc_set_stop(t);
	}
}

/* ---- blocks ---- */

/* The end of a block without code, from its record. */
static uint8_t convert_block_end(enum vt_block_end end)
{
	switch (end) {
	case VT_END_BRANCH:
		return VT_PT_END_COND;
	case VT_END_JUMP:
		return VT_PT_END_JUMP;
	case VT_END_JUMP_INDIRECT:
		return VT_PT_END_JUMP_INDIRECT;
	case VT_END_CALL:
		return VT_PT_END_CALL;
	case VT_END_CALL_INDIRECT:
		return VT_PT_END_CALL_INDIRECT;
	case VT_END_RETURN:
		return VT_PT_END_RET;
	case VT_END_SYSCALL:
		return VT_PT_END_FAR_CALL;
	default:
		return VT_PT_END_FALL;
	}
}

/* True for movs, cmps, stos, lods and scas with a prefix REP, REPE or REPNE. */
static bool is_repeated_string(const uint8_t *code, unsigned length, unsigned mode)
{
	bool repeated = false;
	unsigned i;

	for (i = 0; i < length; i++) {
		uint8_t c = code[i];

		if (c == 0xf2 || c == 0xf3)
			repeated = true;
		else if (c != 0x66 && c != 0x67 && (c & 0xe7) != 0x26 && c != 0x64 && c != 0x65 &&
			 !(mode == 64 && (c & 0xf0) == 0x40))
			break;
	}
	return repeated && i + 1 == length &&
	       ((code[i] & 0xfc) == 0xa4 || (code[i] >= 0xaa && code[i] <= 0xaf));
}

/* Sets the end of a block from the code of its last instruction. */
static void classify_enc_insn(struct enc_block *to, const uint8_t *code, unsigned length,
			      unsigned mode)
{
	uint64_t target;
	uint8_t end, mark;

	to->repeats = is_repeated_string(code, length, mode);
	if (vt_pt_insn_classify(code, length, mode, to->next - length, &end, &target, &mark) !=
	    length)
		return;
	to->end = end;
	to->target = target;
}

static void finish_enc_block(struct enc_block *b)
{
	b->branch = b->end == VT_PT_END_COND;
	b->direct = b->end <= VT_PT_END_COND;
	if (b->end == VT_PT_END_FALL)
		b->target = b->next;
	b->other = b->branch ? b->next : b->target;
	/* A call of the next instruction only reads the address, and never returns. */
	b->call = b->end == VT_PT_END_CALL && b->target != b->next;
}

/*
 * Cuts the piece of a block that begins with instruction `from`, up to the first transfer of
 * control or to before `until`.  Returns the beginning of the next piece.  Without code, only the
 * block's last instruction transfers control, as its record says.
 */
static uint32_t cut_block_piece(struct enc_block *to, const struct vt_bblock *b, uint32_t from,
				uint32_t until, unsigned mode)
{
	uint64_t addr = vt_bblock_insn_addr(b, from);
	const uint8_t *code = b->code ? b->code + (addr - b->addr) : NULL;
	uint32_t i;

	*to = (struct enc_block){.addr = addr, .next = addr, .end = VT_PT_END_FALL};
	for (i = from; i < until && to->end == VT_PT_END_FALL; i++) {
		to->last = b->lengths[i];
		to->next += to->last;
		to->insns++;
		if (code) {
			classify_enc_insn(to, code, to->last, mode);
			code += to->last;
		}
	}
	if (!code && until == b->ninsns) {
		to->end = convert_block_end(b->end);
		to->target = b->target;
	}
	finish_enc_block(to);
	return i;
}

static int encode_block(struct vt_pt_encode *e, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_BLOCK_ID);
	const struct vt_bblock *b;
	int r = vt_bblocks_add(e->dict, rec, err);

	if (r < 0)
		return r;
	if (!vt_array_grow(&e->blocks, &e->blocks_cap, id + 1, sizeof(*e->blocks)))
		return vt_error_nomem(err);
	for (; e->nblocks <= id; e->nblocks++)
		e->blocks[e->nblocks] = (struct enc_block){.insns = 0};
	b = vt_bblocks_get(e->dict, id);
	if (cut_block_piece(&e->blocks[id], b, 0, b->ninsns, e->mode) < b->ninsns)
		e->blocks[id].insns = 0;
	if (e->watch_all)
		vt_pt_encode_watch(e, id, e->watcher);
	return 0;
}

void vt_pt_encode_watch(struct vt_pt_encode *e, uint64_t id, vt_pt_encode_watcher *watcher)
{
	if (id >= e->nblocks)
		return;
	e->blocks[id].watched = true;
	e->blocks[id].insns = 0;
	e->watcher = watcher;
}

void vt_pt_encode_watch_all(struct vt_pt_encode *e, vt_pt_encode_watcher *watcher)
{
	uint64_t id;

	e->watch_all = true;
	e->watcher = watcher;
	for (id = 0; id < e->nblocks; id++)
		vt_pt_encode_watch(e, id, watcher);
}

void vt_pt_encode_leave_out(struct vt_pt_encode *e, uint64_t id)
{
	if (id >= e->nblocks)
		return;
	e->blocks[id].left_out = true;
	e->blocks[id].insns = 0;
}

/*
 * Asks the watcher if the code of a block has changed.  The trace before that must be decoded with
 * the old code, so some time has to pass in between, at which the change can be recorded.
 */
static void ask_watcher(struct vt_pt_encode *e, struct enc_thread *t, const struct vt_bblock *b,
			uint64_t ip)
{
	int r;

	e->ahead = t->h.insns - e->began;
	r = e->watcher(e->arg, t->pub.pid, b, e->err);
	if (r < 0)
		e->failed = r;
	if (r > 0 && e->timed) {
		vti_enc_make_room(e, t);
		vti_enc_break(e, t, ip);
		e->total += MAKING_INSNS;
		t->away += MAKING_INSNS;
		t->cycles = vti_enc_get_cycles(e, t);
		vti_enc_put_psb(e, t, false, 0);
	}
	e->ahead = 0;
}

/* Encodes instructions `from` up to `to` of a block. */
static void encode_part(struct vt_pt_encode *e, struct enc_thread *t, const struct vt_bblock *b,
			uint32_t from, uint32_t to)
{
	struct enc_block part;

	if (e->blocks[b->id].left_out) {
		vti_enc_make_room(e, t);
		vti_enc_break_unknown(e, t);
		t->repeated += to - from;
		from = to;
	}
	if (e->blocks[b->id].watched && from < to && !e->failed)
		ask_watcher(e, t, b, vt_bblock_insn_addr(b, from));
	e->blocks[b->id].used = true;
	while (from < to) {
		from = cut_block_piece(&part, b, from, to, e->mode);
		vti_enc_step_to(e, t, &part);
	}
	t->blocks++;
}

static int report_bad_exec(struct vt_error *err, const char *why)
{
	return vt_error_set(err, VT_E_FORMAT, "executed blocks: %s", why);
}

/* Encodes the blocks of a run between the first and the last. */
static int encode_whole(struct vt_pt_encode *e, struct enc_thread *t, struct vt_exec *x,
			struct vt_error *err)
{
	uint64_t before = t->h.insns + t->repeated, insns;
	const struct vt_bblock *b;

	while (x->blocks > 1) {
		size_t n = vti_enc_run_blocks(e, t, x->ids, x->width, x->base, x->blocks - 1);

		x->ids += n * x->width;
		x->blocks -= (uint32_t)n;
		if (x->blocks == 1)
			break;
		b = vt_bblocks_get(e->dict, vt_exec_id(x, 0));
		if (!b)
			return report_bad_exec(err, "an unknown block");
		encode_part(e, t, b, 0, b->ninsns);
		x->ids += x->width;
		x->blocks--;
	}
	insns = t->h.insns + t->repeated - before;
	if (insns >= x->insns)
		return report_bad_exec(err, "more of them than instructions");
	x->insns -= insns;
	return 0;
}

/* Encodes the blocks of an EXEC record. */
static int encode_blocks(struct vt_pt_encode *e, struct enc_thread *t, const struct vt_record *rec,
			 struct vt_error *err)
{
	const struct vt_bblock *b;
	struct vt_exec x;
	uint32_t n;
	int r = vt_exec_open(&x, e->dict, rec, err);

	if (r < 0 || !x.blocks)
		return r;
	b = vt_bblocks_get(e->dict, vt_exec_id(&x, 0));
	n = b->ninsns - x.skip;
	if (x.insns < n && x.blocks > 1)
		return report_bad_exec(err, "more of them than instructions");
	n = x.insns < n ? (uint32_t)x.insns : n;
	switch_to_thread(e, t, vt_bblock_insn_addr(b, x.skip));
	encode_part(e, t, b, x.skip, x.skip + n);
	x.ids += x.width;
	x.insns -= n;
	if (!--x.blocks)
		return x.insns ? report_bad_exec(err, "fewer instructions than were said") : 0;
	r = encode_whole(e, t, &x, err);
	if (r < 0)
		return r;
	b = vt_bblocks_get(e->dict, vt_exec_id(&x, 0));
	if (!b)
		return report_bad_exec(err, "an unknown block");
	if (x.insns > b->ninsns)
		return report_bad_exec(err, "fewer instructions than were said");
	encode_part(e, t, b, 0, (uint32_t)x.insns);
	return 0;
}

static int encode_exec(struct vt_pt_encode *e, const struct vt_record *rec, struct vt_error *err)
{
	int64_t pid = vt_record_i64(rec, VT_EXEC_PID), tid = vt_record_i64(rec, VT_EXEC_TID);
	uint64_t insns, blocks;
	struct enc_thread *t;
	int r;

	if (!is_wanted_thread(e, pid, tid))
		return 0;
	t = get_encoded_thread(e, pid, tid);
	if (!t)
		return vt_error_nomem(err);
	t->mode = e->mode;
	if (t->h.out == t->buffer)
		t->pub.time = vt_record_u64(rec, VT_EXEC_TIME);
	insns = e->began = t->h.insns;
	blocks = t->blocks;
	r = encode_blocks(e, t, rec, err);
	if (r < 0)
		vti_enc_break_unknown(e, t);
	e->total += t->h.insns - insns;
	e->sum.insns += t->h.insns - insns;
	e->sum.blocks += t->blocks - blocks;
	return r;
}

/* ---- events between blocks ---- */

static int encode_signal(struct vt_pt_encode *e, const struct vt_record *rec)
{
	struct enc_thread *t = find_encoded_thread(e, vt_record_i64(rec, VT_SIGNAL_PID),
						   vt_record_i64(rec, VT_SIGNAL_TID));

	if (t)
		vti_enc_break(e, t, vt_record_u64(rec, VT_SIGNAL_IP));
	return 0;
}

/* Part of the execution is missing, of a thread, of a process (tid 0), or of all (pid 0, too). */
static void lose_threads(struct vt_pt_encode *e, int64_t pid, int64_t tid)
{
	size_t i;

	for (i = 0; i < e->nthreads; i++) {
		struct enc_thread *t = e->threads[i];

		if ((pid && t->pub.pid != pid) || (tid && t->pub.tid != tid) || t->off)
			continue;
		e->sum.breaks++;
		vti_enc_break_unknown(e, t);
	}
}

static int encode_state(struct vt_pt_encode *e, const struct vt_record *rec)
{
	if (vt_record_u64(rec, VT_STATE_REASON) == VT_STATE_WINDOW)
		lose_threads(e, vt_record_i64(rec, VT_STATE_PID), vt_record_i64(rec, VT_STATE_TID));
	return 0;
}

static int encode_gap(struct vt_pt_encode *e, const struct vt_record *rec)
{
	lose_threads(e, vt_record_i64(rec, VT_GAP_PID), vt_record_i64(rec, VT_GAP_TID));
	return 0;
}

static int encode_trace(struct vt_pt_encode *e, const struct vt_record *rec)
{
	struct enc_thread *t = find_encoded_thread(e, vt_record_i64(rec, VT_TRACE_PID),
						   vt_record_i64(rec, VT_TRACE_TID));
	uint64_t ip = vt_record_u64(rec, VT_TRACE_IP), to = vt_record_u64(rec, VT_TRACE_TO);

	switch (vt_record_u64(rec, VT_TRACE_EVENT)) {
	case VT_TRACE_EXEC_MODE:
		e->mode = vt_record_u64(rec, VT_TRACE_VALUE) == 32   ? 32
			  : vt_record_u64(rec, VT_TRACE_VALUE) == 16 ? 16
								     : 64;
		break;
	case VT_TRACE_DISABLED:
		if (t)
			vti_enc_leave(e, t, to);
		break;
	case VT_TRACE_ASYNC_DISABLED:
		if (t)
			vti_enc_break(e, t, ip);
		break;
	case VT_TRACE_ASYNC_BRANCH:
		if (t)
			vti_enc_interrupt(e, t, ip, to);
		break;
	default:
		break;
	}
	return 0;
}

static int encode_value(struct vt_pt_encode *e, const struct vt_record *rec)
{
	struct enc_thread *t = find_encoded_thread(e, vt_record_i64(rec, VT_VALUE_PID),
						   vt_record_i64(rec, VT_VALUE_TID));

	if (t && vt_record_u64(rec, VT_VALUE_WHAT) == VT_WHAT_PTWRITE)
		vti_enc_ptwrite(e, t, vt_record_u64(rec, VT_VALUE_IP),
				vt_record_u64(rec, VT_VALUE_VALUE),
				vt_record_u64(rec, VT_VALUE_SIZE) == 4 ? 4 : 8);
	return 0;
}

static int check_meta(const struct vt_record *rec, struct vt_error *err)
{
	if (!vt_record_is_meta(rec, "sampling"))
		return 0;
	return vt_error_set(err, VT_E_ABSENT, VT_IS_SAMPLED);
}

static int encode_record(struct vt_pt_encode *e, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_BLOCK:
		return encode_block(e, rec, err);
	case VT_EXEC:
		return encode_exec(e, rec, err);
	case VT_SIGNAL:
		return encode_signal(e, rec);
	case VT_STATE:
		return encode_state(e, rec);
	case VT_GAP:
		return encode_gap(e, rec);
	case VT_TRACE:
		return encode_trace(e, rec);
	case VT_VALUE:
		return encode_value(e, rec);
	case VT_META:
		return check_meta(rec, err);
	default:
		return 0;
	}
}

int vt_pt_encode_record(struct vt_pt_encode *e, const struct vt_record *rec, struct vt_error *err)
{
	int r;

	e->err = err;
	r = encode_record(e, rec, err);
	if (e->failed)
		return e->failed;
	if (r != -VT_E_FORMAT)
		return r;
	if (!e->sum.bad++)
		memcpy(e->bad, err->text, sizeof(e->bad));
	return 0;
}

int vt_pt_encode_flush(struct vt_pt_encode *e, struct vt_error *err)
{
	size_t i;

	e->err = err;
	for (i = 0; i < e->nthreads && !e->failed; i++)
		vti_enc_drain(e, e->threads[i]);
	return e->failed;
}

int vt_pt_encode_finish(struct vt_pt_encode *e, struct vt_error *err)
{
	size_t i;

	e->err = err;
	for (i = 0; i < e->nthreads && !e->failed; i++) {
		vti_enc_break_unknown(e, e->threads[i]);
		vti_enc_end_loss(e, e->threads[i], false, 0);
	}
	return vt_pt_encode_flush(e, err);
}

/* ---- totals ---- */

const struct vt_pt_encode_totals *vt_pt_encode_totals(const struct vt_pt_encode *e)
{
	return &e->sum;
}
