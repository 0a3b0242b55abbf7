/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "machine/insn/access.h"
#include "machine/insn/insn.h"
#include "machine/pipeline/memory.h"
#include "pairs/pairs.h"
#include "simulate/internal.h"

/* PERF_SAMPLE_BRANCH_USER and _ANY of linux/perf_event.h. */
#define BRANCHES (1u << 0 | 1u << 3)

/* What an access takes if nothing tells. */
#define USUAL_SIZE 8

/* Bytes of a line of the host's caches, more or less. */
#define HOST_LINE 64

/* ---- META and EVENT records of the streams ---- */

static void write_both_meta(struct vt_simulate *s, const char *key, const char *value)
{
	struct vt_writer *const streams[] = {s->w, s->o.truth};
	size_t i;

	for (i = 0; i < 2 && streams[i]; i++)
		vt_writer_meta(streams[i], key, value);
}

static void write_total(struct vt_simulate *s, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	write_both_meta(s, key, text);
}

static uint64_t *write_event(struct vt_writer *w, uint64_t nth, uint64_t period, const char *name,
			     const char *unit)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = VTI_SIMULATE_EVENT + nth;
	row[VT_EVENT_POLICY] = VT_POLICY_MODEL;
	row[VT_EVENT_PERIOD] = period;
	vt_writer_text(w, VT_EVENT_NAME, name);
	vt_writer_text(w, VT_EVENT_UNIT, unit);
	return row;
}

static void write_counter_events(struct vt_simulate *s, struct vt_writer *w)
{
	size_t i;

	for (i = 0; w && i < s->o.nevents; i++) {
		const char *name = vt_simulate_name(s->events[i].kind);

		write_event(w, i, s->events[i].interval.mean, name, name)[VT_EVENT_BRANCH_TYPE] =
			s->o.stack ? BRANCHES : 0;
	}
	if (w && s->o.profileme.interval.mean)
		write_event(w, i, s->o.profileme.interval.mean, "profileme",
			    "instructions")[VT_EVENT_BRANCH_TYPE] = s->o.stack ? BRANCHES : 0;
}

/* Each miss is told: where there is no sample of one, there was none. */
static void write_misses(struct vt_simulate *s)
{
	const struct vt_cache_shape *c = &s->o.core->dcache;

	write_event(s->w, vti_sim_miss_event(s) - VTI_SIMULATE_EVENT, 1, "misses", "misses");
	vt_writer_meta(s->w, VT_MISSES_META, "every one of the first data cache");
	vt_writer_meta_u64(s->w, VT_MISSES_META_SETS, vt_simmem_sets(c));
	vt_writer_meta_u64(s->w, VT_MISSES_META_WAYS, c->ways);
	vt_writer_meta_u64(s->w, VT_MISSES_META_LINE, c->line);
}

static void write_sampling(struct vt_simulate *s)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	vt_buf_printf(&b, "a model of %s", s->o.core->name);
	for (i = 0; i < s->o.nevents; i++)
		vt_buf_printf(&b, ", %s, interval %" PRIu64 " %s",
			      vt_simulate_name(s->events[i].kind), s->events[i].interval.mean,
			      vt_interval_words[s->events[i].interval.kind]);
	if (s->o.profileme.interval.mean)
		vt_buf_printf(&b, ", profileme, interval %" PRIu64 " %s",
			      s->o.profileme.interval.mean,
			      vt_interval_words[s->o.profileme.interval.kind]);
	write_both_meta(s, "cpu.model", s->o.core->name);
	/* Where all executed code is passed on, it is no sample. */
	vt_writer_meta(s->w, s->o.misses ? "vsim.sampling" : "sampling", vt_buf_str(&b));
	if (s->o.truth)
		vt_writer_meta(s->o.truth, "sampling", vt_buf_str(&b));
	if (s->o.profileme.interval.mean && s->o.profileme.ways > 1) {
		write_total(s, VT_PAIRS_META_WINDOW, s->o.profileme.window);
		write_total(s, "vsim.ways", s->o.profileme.ways);
	}
	vt_buf_free(&b);
}

/* ---- accesses ---- */

static void add_access(struct vti_simblock *k, const struct vt_access_slots *a, uint32_t *count)
{
	k->insns[a->insn].naccesses++;
	k->whole &= a->guard == VT_ACCESS_NO_SLOT;
	k->slots[(*count)++] = (struct vti_simslot){
		.slot = (uint16_t)a->address,
		.guard = a->guard == VT_ACCESS_NO_SLOT ? UINT16_MAX : (uint16_t)a->guard,
		.offset = k->b->slots[a->address].offset,
		.size = a->size ? a->size : USUAL_SIZE,
		.store = a->store,
	};
}

/* The accesses whose addresses were recorded. */
static bool add_accesses(struct vti_simblock *k)
{
	const struct vt_bblock *b = k->b;
	struct vt_access_cursor c = {.block = b};
	struct vt_access_slots a;
	uint32_t i, at = 0, count = 0;

	k->whole = true;
	k->slots = calloc((size_t)b->nslots + 1, sizeof(*k->slots));
	if (!k->slots)
		return false;
	for (i = 0; i < b->ninsns; at += b->lengths[i++]) {
		struct vt_facts f;

		if (b->code)
			vt_facts_decode(b->code + at, b->lengths[i], &f);
		k->insns[i].access = count;
		vt_access_start(&c, i, b->code ? &f : NULL);
		while (vt_access_next(&c, &a))
			if (a.address != VT_ACCESS_NO_SLOT)
				add_access(k, &a, &count);
	}
	k->nslots = count;
	return true;
}

/* Makes the block ready to be run as a whole. */
static bool make_whole_run(struct vti_simblock *k)
{
	const struct vt_bblock *b = k->b;
	struct vt_simulate_totals totals = {.insns = 0};
	size_t n = (size_t)k->nslots + 1;
	uint64_t addr = b->addr;
	uint32_t i;

	for (i = 0; i < b->ninsns; i++)
		k->whole &= k->insns[i].naccesses <= VTI_SIM_ACCESSES;
	if (!k->whole)
		return true;
	k->run.ninsns = b->ninsns;
	k->run.insns = calloc(b->ninsns, sizeof(*k->run.insns));
	k->accesses = calloc(n, sizeof(*k->accesses) + sizeof(*k->offsets));
	if (!k->run.insns || !k->accesses)
		return false;
	k->offsets = (uint32_t *)(k->accesses + n);
	for (i = 0; i < k->nslots; i++) {
		k->accesses[i] = (struct vt_sim_access){.size = k->slots[i].size,
							.store = k->slots[i].store};
		k->offsets[i] = k->slots[i].offset;
	}
	for (i = 0; i < b->ninsns; i++) {
		const struct vti_siminsn *insn = &k->insns[i];

		k->run.insns[i] = (struct vt_sim_insn){
			.op = &insn->op,
			.tag = insn->place,
			.addr = addr,
			.next = addr + b->lengths[i],
			.naccesses = insn->naccesses,
			.accesses = k->accesses + insn->access,
		};
		addr += b->lengths[i];
		vti_sim_count(insn, insn->naccesses != 0, &totals);
	}
	k->run.insns[b->ninsns - 1].target = b->target;
	k->loads = (uint16_t)totals.loads;
	k->addressed = (uint16_t)totals.addressed;
	k->undecoded = (uint16_t)totals.undecoded;
	return true;
}

/* ---- instructions ---- */

uint32_t vti_sim_place(struct vt_simulate *s, int64_t pid, uint64_t addr)
{
	const struct vt_map *m =
		vt_addrspace_find(vt_context_space(s->o.context), (int32_t)pid, addr, VTI_SIM_MODE);

	return vti_simtruth_place(&s->truth, m ? m->image : VT_UNMAPPED_IMAGE,
				  m ? vt_map_offset(m, addr) : addr);
}

static bool add_insns(struct vt_simulate *s, struct vti_simblock *k)
{
	const struct vt_bblock *b = k->b;
	uint64_t at = 0;
	uint32_t i;

	for (i = 0; i < b->ninsns; at += b->lengths[i++]) {
		struct vti_siminsn *insn = &k->insns[i];

		vt_core_op(s->o.core, b->code ? b->code + at : NULL, b->code ? b->size - at : 0,
			   &insn->op);
		insn->counts =
			!insn->op.length || (insn->op.flags & (VT_FACT_LOAD | VT_FACT_STORE));
		insn->place = vti_sim_place(s, b->pid, b->addr + at);
		if (insn->place == VTI_NONE)
			return false;
		vti_simplace_at(&s->truth, insn->place)->repeats =
			insn->op.flags & VT_FACT_REPEATED;
		if (i)
			vti_simplace_at(&s->truth, insn[-1].place)->next = insn->place;
	}
	if (b->target) {
		uint32_t to = vti_sim_place(s, b->pid, b->target);

		if (to == VTI_NONE)
			return false;
		vti_simplace_at(&s->truth, to)->leads = true;
	}
	return true;
}

static void free_block(struct vti_simblock *k)
{
	if (k) {
		vt_sim_block_fini(&k->run);
		free(k->run.insns);
		free(k->accesses);
		free(k->slots);
	}
	free(k);
}

static struct vti_simblock *new_block(struct vt_simulate *s, const struct vt_bblock *b)
{
	size_t size = sizeof(struct vti_simblock) + b->ninsns * sizeof(struct vti_siminsn);
	struct vti_simblock *k;

	size = (size + HOST_LINE - 1) / HOST_LINE * HOST_LINE;
	k = aligned_alloc(HOST_LINE, size);
	if (!k)
		return NULL;
	memset(k, 0, size);
	k->b = b;
	k->addr = b->addr;
	k->data_size = b->data_size;
	k->edge[0] = k->edge[1] = VTI_NONE;
	if (add_insns(s, k) && add_accesses(k) && make_whole_run(k))
		return k;
	free_block(k);
	return NULL;
}

static int add_simblock(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	int code = vt_context_refused(s->o.context, err);
	const struct vt_bblock *b;
	size_t had = s->nblocks;

	if (code < 0)
		return code;
	b = vt_bblocks_get(vt_context_blocks(s->o.context), vt_record_u64(rec, VT_BLOCK_ID));
	if (!vt_array_grow(&s->blocks, &s->nblocks, b->id + 1, sizeof(void *)))
		return vt_error_nomem(err);
	memset(s->blocks + had, 0, (s->nblocks - had) * sizeof(void *));
	s->blocks[b->id] = new_block(s, b);
	return s->blocks[b->id] ? 0 : vt_error_nomem(err);
}

static void free_blocks(struct vt_simulate *s)
{
	size_t i;

	for (i = 0; i < s->nblocks; i++)
		free_block(s->blocks[i]);
	free(s->blocks);
}

/* ---- records ---- */

static int refuse_code(struct vt_simulate *s, struct vt_error *err)
{
	if (err->code == VT_E_NOMEM)
		return -VT_E_NOMEM;
	s->totals.bad++;
	vt_sample_refuse(s->w, s->o.warn, s->o.warn_arg, err);
	vti_sim_interrupt(s, NULL);
	return 0;
}

static int simulate_block(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	if (add_simblock(s, rec, err) < 0)
		return refuse_code(s, err);
	return vti_sim_pass(s, rec, err);
}

static int simulate_exec(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	int code;

	vti_sim_end_turn(s, vt_record_i64(rec, VT_EXEC_PID), vt_record_i64(rec, VT_EXEC_TID));
	code = vti_sim_exec(s, rec, err);
	if (code < 0) {
		if (s->o.misses)
			vti_sim_interrupt(s, NULL);
		code = refuse_code(s, err);
	}
	return code < 0 || !s->o.misses ? code : vti_sim_pass_code(s, rec, err);
}

static bool key_begins(const struct vt_record *rec, const char *with)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);
	size_t n = strlen(with);

	return key.size >= n && memcmp(key.data, with, n) == 0;
}

static int copy_simulate_meta(struct vt_simulate *s, const struct vt_record *rec,
			      struct vt_error *err)
{
	if (vt_record_is_meta(rec, "sampling"))
		return vt_error_set(err, VT_E_ABSENT, VT_IS_SAMPLED);
	/* Of an earlier run of the same code, whose samples are not passed on either. */
	if (vt_record_is_meta(rec, VT_MISSES_META))
		s->again = true;
	if (s->again && (key_begins(rec, "vsim.") || key_begins(rec, VT_MISSES_META)))
		return 0;
	return vti_sim_pass(s, rec, err);
}

/* A thread whose recording begins or goes on, or which is another program now. */
static int simulate_state(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_simthread *t;

	/* Where a stack begins matters to those who ask what addresses are of. */
	if ((vt_record_u64(rec, VT_STATE_REASON) == VT_STATE_START || s->o.misses) &&
	    vti_sim_pass(s, rec, err) < 0)
		return -(int)err->code;
	if (vt_record_u64(rec, VT_STATE_REASON) != VT_STATE_WINDOW)
		return 0;
	t = vti_sim_thread(s, vt_record_i64(rec, VT_STATE_PID), vt_record_i64(rec, VT_STATE_TID),
			   err);
	if (!t)
		return -(int)err->code;
	vti_sim_interrupt(s, t);
	return 0;
}

static int simulate_record(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_BLOCK:
		return simulate_block(s, rec, err);
	case VT_EXEC:
		return simulate_exec(s, rec, err);
	case VT_META:
		return copy_simulate_meta(s, rec, err);
	case VT_STATE:
		return simulate_state(s, rec, err);
	case VT_SYSCALL:
	case VT_MEMORY:
		return s->o.misses ? vti_sim_pass(s, rec, err) : 0;
	case VT_GAP:
	case VT_LOST:
		vti_sim_interrupt(s, NULL);
		break;
	case VT_EVENT:
		return 0;
	case VT_SAMPLE:
		s->totals.samples++;
		return 0;
	default:
		break;
	}
	return vti_sim_pass(s, rec, err);
}

static int feed_simulate(void *simulate, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_simulate *s = simulate;
	int code = simulate_record(s, rec, err);

	/* A long recording is not read for nothing. */
	if (code == 0)
		code = vt_writer_error(s->w, err);
	if (code == 0 && s->o.truth)
		code = vt_writer_error(s->o.truth, err);
	return code;
}

/* ---- making and freeing ---- */

struct vt_simulate *vt_simulate_new(const struct vt_simulate_options *o, struct vt_writer *w,
				    struct vt_error *err)
{
	struct vt_simulate *s = calloc(1, sizeof(*s));

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	s->o = *o;
	s->w = w;
	if (s->o.nevents > VT_SIMULATE_EVENTS)
		s->o.nevents = VT_SIMULATE_EVENTS;
	if (s->o.nevents)
		memcpy(s->events, o->events, s->o.nevents * sizeof(s->events[0]));
	s->o.events = s->events;
	vt_hash_init(&s->processes, sizeof(int64_t) + sizeof(void *), sizeof(int64_t));
	vt_hash_init(&s->threads, 2 * sizeof(int64_t) + sizeof(void *), 2 * sizeof(int64_t));
	vti_simtruth_init(&s->truth);
	vt_context_add(o->context, &(struct vt_consumer){.record = feed_simulate, .arg = s});
	write_counter_events(s, w);
	write_counter_events(s, o->truth);
	if (s->o.misses)
		write_misses(s);
	write_sampling(s);
	return s;
}

void vt_simulate_free(struct vt_simulate *s)
{
	if (!s)
		return;
	free_blocks(s);
	vti_sim_free_threads(s);
	vti_simtruth_fini(&s->truth);
	vti_pmtruth_fini(&s->pmtruth);
	vt_held_fini(&s->held);
	free(s);
}

/* ---- the end ---- */

/* The event of cycles: what frequencies rest on. */
static uint64_t time_event(const struct vt_simulate *s)
{
	size_t i;

	for (i = 0; i + 1 < s->o.nevents; i++)
		if (s->events[i].kind == VT_SIMULATE_CYCLES)
			break;
	return VTI_SIMULATE_EVENT + i;
}

static int write_truth(struct vt_simulate *s, struct vt_error *err)
{
	const struct vti_simplace **places;
	size_t n;
	int code = vti_simtruth_write(&s->truth, vt_sim_slots(s->o.core), time_event(s), s->o.truth,
				      err);

	if (code < 0 || !s->o.profileme.interval.mean)
		return code;
	places = vti_simtruth_sort(&s->truth, false, &n);
	if (!places || s->pmtruth.failed)
		code = vt_error_nomem(err);
	else
		vti_pmtruth_write(&s->pmtruth, &s->truth, places, n,
				  VTI_SIMULATE_EVENT + s->o.nevents, s->o.truth);
	free(places);
	return code;
}

int vt_simulate_finish(struct vt_simulate *s, struct vt_error *err)
{
	if (!s->totals.execs)
		return vt_error_set(err, VT_E_ABSENT,
				    s->totals.bad ? "no executed code that could be run"
						  : VT_NO_EXECUTED_CODE);
	vti_sim_interrupt(s, NULL);
	write_total(s, "vsim.instructions", s->totals.insns);
	write_total(s, "vsim.cycles", s->totals.cycles);
	write_total(s, "vsim.accesses", s->totals.loads);
	write_total(s, "vsim.accesses_addressed", s->totals.addressed);
	write_total(s, "vsim.undecoded", s->totals.undecoded);
	if (s->o.misses)
		vt_writer_meta_u64(s->w, "vsim.misses", s->totals.misses);
	vti_sim_end(s);
	if (s->o.profileme.interval.mean) {
		write_total(s, "vsim.fetched", s->totals.insns + s->totals.astray);
		write_total(s, "vsim.wrong_path", s->totals.astray);
		write_total(s, "vsim.wrong_path_empty", s->totals.empty);
	}
	if (s->truth.failed)
		return vt_error_nomem(err);
	return s->o.truth ? write_truth(s, err) : 0;
}

const struct vt_simulate_totals *vt_simulate_totals(const struct vt_simulate *s)
{
	return &s->totals;
}
