/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conflict/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "conflict/replay_internal.h"
#include "profile/event_choice.h"
#include "stream/exec.h"

/* Of executed code, the profile counts nothing here; of mappings, it would load patched images. */
#define PROFILED (VT_KIND(VT_EVENT) | VT_KIND(VT_SAMPLE) | VT_KIND(VT_COUNT))

/* What an interpreter must capture for the accesses of a run. */
#define CAPTURE                                                                                    \
	(1u << VT_WHAT_UNKNOWN | 1u << VT_WHAT_LOAD | 1u << VT_WHAT_STORE |                        \
	 1u << VT_WHAT_LOAD_ADDRESS | 1u << VT_WHAT_STORE_ADDRESS)

/* Code as it was decoded at an address of a process: the key has no padding. */
struct insn {
	uint64_t ip;
	int64_t pid;
	uint16_t load_size; /* bytes of its first load, if no capture contains it */
	uint16_t store_size;
	struct vti_base_operand load, store;
	struct vti_base_code moves;
	struct vt_conflict_code code;
};

#define KEY_SIZE offsetof(struct insn, load_size)

/* ---- places ---- */

/* The number of an instruction's place, or UINT32_MAX when memory ran out. */
static uint32_t number_place(struct vt_replay *rp, int64_t pid, uint64_t ip)
{
	const struct vt_map *m =
		vt_addrspace_find(vt_context_space(rp->context), (int32_t)pid, ip, 0);
	struct vti_place key = {.offset = m ? vt_map_offset(m, ip) : ip,
				.image = m ? m->image : VT_UNMAPPED_IMAGE,
				.pid = m ? 0 : (uint32_t)pid};
	const uint8_t *place = vt_hash_add(&rp->places, &key, NULL);

	return place ? (uint32_t)((size_t)(place - rp->places.entries) / sizeof(key)) : UINT32_MAX;
}

/* ---- recorded executions: what is known of a block ---- */

/* The accesses of one instruction. */
static bool add_block_accesses(struct vti_block *k, struct vt_access_cursor *c, uint32_t insn,
			       const struct vt_facts *f)
{
	size_t before = k->naccesses;
	struct vt_access_slots a;

	vt_access_start(c, insn, f);
	while (vt_access_next(c, &a)) {
		if (!vt_array_grow(&k->accesses, &k->accesses_cap, k->naccesses + 1,
				   sizeof(*k->accesses)))
			return false;
		k->accesses[k->naccesses++] = a;
	}
	if (k->naccesses - before > k->most)
		k->most = k->naccesses - before;
	return true;
}

static bool make_code(struct vt_replay *rp, struct vti_block *k, const struct vt_bblock *b)
{
	struct vt_access_cursor c = {.block = b};
	struct vt_facts f;
	uint32_t i, at = 0;

	for (i = 0; i < b->ninsns; i++) {
		memset(&f, 0, sizeof(f));
		f.mnemonic = "";
		if (b->code && b->mode == 64)
			vt_facts_decode(b->code + at, b->lengths[i], &f);
		vt_conflict_code_make(&k->code[i], &f);
		k->code[i].place = number_place(rp, b->pid, b->addr + at);
		if (k->code[i].place == UINT32_MAX || !add_block_accesses(k, &c, i, &f))
			return false;
		at += b->lengths[i];
	}
	return true;
}

static struct vti_block *block_of(struct vt_replay *rp, const struct vt_bblock *b)
{
	size_t had = rp->nblocks;
	struct vti_block *k;

	if (b->id >= had) {
		if (!vt_array_grow(&rp->blocks, &rp->nblocks, b->id + 1, sizeof(*rp->blocks)))
			return NULL;
		memset(rp->blocks + had, 0, (rp->nblocks - had) * sizeof(*rp->blocks));
	}
	k = &rp->blocks[b->id];
	if (k->code)
		return k;
	k->code = calloc(b->ninsns, sizeof(*k->code));
	if (!k->code || !make_code(rp, k, b) ||
	    !vt_array_grow(&rp->accesses, &rp->accesses_cap, k->most + 1, sizeof(*rp->accesses)))
		return NULL;
	return k;
}

/* ---- recorded executions ---- */

/* The accesses of an instruction in this execution; a shut guard says that one did not happen. */
static size_t collect_recorded_accesses(const struct vt_step *step, const struct vti_block *k,
					size_t at, size_t end, struct vt_access *out)
{
	size_t count = 0;

	for (; at < end; at++) {
		const struct vt_access_slots *a = &k->accesses[at];

		if (a->guard != VT_ACCESS_NO_SLOT && !vt_step_value(step, a->guard, 0))
			continue;
		out[count] = (struct vt_access){.size = a->size, .store = a->store};
		if (a->address != VT_ACCESS_NO_SLOT) {
			out[count].addr = vt_step_value(step, a->address, 0);
			out[count].known = true;
		}
		count++;
	}
	return count;
}

static int replay_step(struct vt_replay *rp, const struct vt_step *step, struct vt_error *err)
{
	const struct vti_block *k = block_of(rp, step->block);
	size_t at = 0, end;
	uint32_t i;
	int code = 0;

	if (!k)
		return vt_error_nomem(err);
	while (at < k->naccesses && k->accesses[at].insn < step->insn)
		at++;
	for (i = step->insn; i < step->insn_end && code == 0; i++) {
		size_t n;

		for (end = at; end < k->naccesses && k->accesses[end].insn == i; end++)
			;
		n = collect_recorded_accesses(step, k, at, end, rp->accesses);
		code = vt_conflicts_insn(rp->conflicts, &k->code[i], rp->accesses, n, err);
		at = end;
	}
	return code;
}

/* Takes an EXEC record whose addresses are known. */
static int replay_exec(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_step step;
	struct vt_exec x;
	int code = vt_exec_open(&x, vt_context_blocks(rp->context), rec, err);

	if (code < 0)
		return code;
	if (!rp->runs || x.pid != rp->pid || x.tid != rp->tid || x.first != rp->next)
		vt_conflicts_begin(rp->conflicts);
	rp->runs = true;
	rp->pid = x.pid;
	rp->tid = x.tid;
	rp->next = x.first + x.insns;
	while ((code = vt_exec_next(&x, &step, err)) > 0) {
		code = replay_step(rp, &step, err);
		if (code < 0)
			break;
	}
	if (code < 0)
		rp->runs = false;
	return code;
}

/* ---- interpreted runs ---- */

/* Whether there is a prefix 67 before the opcode. */
static bool has_short_addresses(const uint8_t *bytes, size_t size)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e,
					   0x36, 0x3e, 0x26, 0x64, 0x65};
	size_t i;

	for (i = 0; i < size && memchr(prefixes, bytes[i], sizeof(prefixes)); i++)
		if (bytes[i] == 0x67)
			return true;
	return false;
}

static void decode_replay_insn(struct vt_replay *rp, struct insn *insn, const uint8_t *bytes,
			       size_t size)
{
	struct vt_facts f;

	vt_facts_decode(bytes, size, &f);
	vt_conflict_code_make(&insn->code, &f);
	vti_bases_make(&insn->moves, &f);
	vti_bases_operand(&f, false, &insn->load);
	vti_bases_operand(&f, true, &insn->store);
	/* Addresses of 32 bits are only a part of their registers. */
	if (has_short_addresses(bytes, size))
		insn->load.base = insn->store.base = VT_REG_NONE;
	insn->load_size = vt_access_size(&f, false);
	insn->store_size = vt_access_size(&f, true);
	insn->code.place = number_place(rp, insn->pid, insn->ip);
}

static const struct insn *find_replay_insn(struct vt_replay *rp, int64_t pid, uint64_t ip)
{
	const struct insn key = {.ip = ip, .pid = pid};
	uint8_t bytes[VT_MAX_INSN];
	bool added;
	struct insn *insn = vt_hash_add(&rp->insns, &key, &added);

	if (insn && added)
		decode_replay_insn(rp, insn, bytes,
				   vt_interpret_code(rp->interpret[rp->source], pid, ip, bytes,
						     sizeof(bytes)));
	return insn;
}

/* Blocks have their code with them, as it was when they were executed. */
static int decode_block(struct vt_replay *rp, uint32_t id, struct vt_error *err)
{
	const struct vt_bblock *b = vt_bblocks_get(vt_context_blocks(rp->context), id);
	uint32_t i, at = 0;

	if (!b || !b->code || b->mode != 64)
		return 0;
	for (i = 0; i < b->ninsns; i++) {
		const struct insn key = {.ip = b->addr + at, .pid = b->pid};
		struct insn *insn = vt_hash_add(&rp->insns, &key, NULL);

		if (!insn)
			return vt_error_nomem(err);
		decode_replay_insn(rp, insn, b->code + at, b->lengths[i]);
		at += b->lengths[i];
	}
	return 0;
}

/* The accesses that the captures of one instruction tell of: an address, then its value. */
static size_t collect_captured_accesses(const struct insn *insn, const struct vt_capture *c,
					size_t n, struct vt_access *out)
{
	size_t count = 0, i;

	for (i = 0; i < n; i++) {
		bool store = c[i].what == VT_WHAT_STORE_ADDRESS;
		unsigned value = store ? VT_WHAT_STORE : VT_WHAT_LOAD;

		if (c[i].what != VT_WHAT_LOAD_ADDRESS && !store)
			continue;
		out[count] = (struct vt_access){.addr = c[i].known ? c[i].value : 0,
						.size = store ? insn->store_size : insn->load_size,
						.store = store,
						.known = c[i].known};
		if (i + 1 < n && c[i + 1].what == value)
			out[count].size = c[i + 1].size;
		count++;
	}
	return count;
}

/* Unknown addresses may be known relative to a register, if it is clear which is which. */
static bool add_bases(struct vti_bases *b, const struct insn *insn, struct vt_access *a, size_t n)
{
	size_t loads = 0, i;

	for (i = 0; i < n; i++)
		loads += !a[i].store;
	for (i = 0; i < n; i++) {
		if (a[i].known || (a[i].store ? n - loads : loads) > 1)
			continue;
		if (!vti_bases_find(b, a[i].store ? &insn->store : &insn->load, &a[i]))
			return false;
		a[i].known = a[i].base;
	}
	return true;
}

static int take_insn(struct vt_replay *rp, const struct vt_run *run, const struct vt_capture *c,
		     size_t n, struct vt_error *err)
{
	const struct insn *insn = find_replay_insn(rp, run->pid, c->ip);
	size_t count;

	if (!insn || insn->code.place == UINT32_MAX ||
	    !vt_array_grow(&rp->accesses, &rp->accesses_cap, n, sizeof(*rp->accesses)))
		return vt_error_nomem(err);
	count = collect_captured_accesses(insn, c, n, rp->accesses);
	if (!add_bases(&rp->bases, insn, rp->accesses, count))
		return vt_error_nomem(err);
	vti_bases_step(&rp->bases, &insn->moves);
	return vt_conflicts_insn(rp->conflicts, &insn->code, rp->accesses, count, err);
}

/* A run of the interpreter: what one instruction captured begins with itself. */
static int replay_run(void *arg, const struct vt_run *run, struct vt_error *err)
{
	struct vt_replay *rp = arg;
	size_t i, end;
	int code = 0;

	if (run->begins || !rp->runs || run->pid != rp->pid || run->tid != rp->tid) {
		vt_conflicts_begin(rp->conflicts);
		vti_bases_begin(&rp->bases);
	}
	rp->runs = true;
	rp->pid = run->pid;
	rp->tid = run->tid;
	for (i = 0; i < run->ncaptures && code == 0; i = end) {
		for (end = i + 1;
		     end < run->ncaptures && run->captures[end].what != VT_WHAT_UNKNOWN; end++)
			;
		code = take_insn(rp, run, &run->captures[i], end - i, err);
	}
	return code;
}

/* False on error. */
static bool make_interpreters(struct vt_replay *rp, struct vt_error *err)
{
	struct vt_interpret_options o = {
		.length = rp->o.length,
		.frequency = 1,
		.capture = CAPTURE,
		.trust = rp->o.trust,
	};

	rp->interpret[VT_REPLAY_SAMPLES] = vt_interpret_new(&o, rp->context, replay_run, rp, err);
	o.path = true;
	if (rp->interpret[VT_REPLAY_SAMPLES])
		rp->interpret[VT_REPLAY_PATH] =
			vt_interpret_new(&o, rp->context, replay_run, rp, err);
	return rp->interpret[VT_REPLAY_PATH] != NULL;
}

/* From now on it is clear how accesses come to be known. */
static void set_replay_source(struct vt_replay *rp, enum vt_replay_source source)
{
	int i;

	rp->source = source;
	for (i = 0; i < VT_REPLAY_NSOURCES; i++) {
		if (i == (int)source)
			continue;
		vt_interpret_free(rp->interpret[i]);
		rp->interpret[i] = NULL;
	}
	if (source != VT_REPLAY_PATH)
		vt_hash_clear(&rp->insns);
}

/* What a record means for the code that is known.  False: the interpreters do not need it. */
static bool update_known_code(struct vt_replay *rp, const struct vt_record *rec, int *code,
			      struct vt_error *err)
{
	switch (rec->kind) {
	case VT_IMAGE:
	case VT_MAP:
	case VT_THREAD:
		/* Other code may be where this was. */
		if (rp->source == VT_REPLAY_SAMPLES)
			vt_hash_clear(&rp->insns);
		return true;
	case VT_BLOCK:
		if (rp->source == VT_REPLAY_PATH || rp->source == VT_REPLAY_NOTHING)
			*code = decode_block(rp, (uint32_t)vt_record_u64(rec, VT_BLOCK_ID), err);
		return true;
	case VT_SAMPLE:
		return rp->source == VT_REPLAY_SAMPLES;
	case VT_EXEC:
		return rp->source == VT_REPLAY_PATH;
	default:
		return true;
	}
}

static int interpret_record(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	int code = 0, i;

	if (!update_known_code(rp, rec, &code, err))
		return 0;
	for (i = 0; i < VT_REPLAY_NSOURCES && code == 0; i++)
		if (rp->interpret[i])
			code = vt_interpret_feed(rp->interpret[i], rec, err);
	return code;
}

/* ---- records ---- */

static void note_recorded_addresses(struct vt_replay *rp, const struct vt_record *rec)
{
	struct vt_words slots = vt_record_words(rec, VT_BLOCK_SLOTS);
	size_t i;

	for (i = 0; i < slots.count && !rp->has_addresses; i++) {
		unsigned what = slots.data[i] >> 16 & 0xff;

		rp->has_addresses = what == VT_WHAT_LOAD_ADDRESS || what == VT_WHAT_STORE_ADDRESS;
	}
}

static int replay_exec_record(struct vt_replay *rp, const struct vt_record *rec,
			      struct vt_error *err)
{
	if (rp->source == VT_REPLAY_NOTHING)
		set_replay_source(rp, rp->has_addresses ? VT_REPLAY_RECORDED : VT_REPLAY_PATH);
	rp->totals.ignored += rp->source == VT_REPLAY_SAMPLES;
	return rp->source == VT_REPLAY_RECORDED ? replay_exec(rp, rec, err) : 0;
}

static int replay_record(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_EXEC:
		return replay_exec_record(rp, rec, err);
	case VT_BLOCK:
		note_recorded_addresses(rp, rec);
		return 0;
	case VT_SAMPLE:
		if (rp->source == VT_REPLAY_NOTHING && !rp->has_addresses &&
		    vt_record_words(rec, VT_SAMPLE_UREGS).count)
			set_replay_source(rp, VT_REPLAY_SAMPLES);
		return 0;
	case VT_GAP:
	case VT_LOST:
	case VT_SIGNAL:
		rp->runs = false;
		return 0;
	default:
		return 0;
	}
}

/* What contradicts itself is left out; too many mappings or processes end the reading. */
static int take_both(void *replay, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_replay *rp = replay;
	int code = replay_record(rp, rec, err);

	if (code == 0)
		code = vt_context_refused(rp->context, err);
	if (code == 0)
		code = interpret_record(rp, rec, err);
	if (code != -VT_E_FORMAT &&
	    (code != -VT_E_LIMIT || rec->kind == VT_MAP || rec->kind == VT_THREAD))
		return code;
	rp->totals.bad++;
	if (rp->o.warn)
		rp->o.warn(rp->o.warn_arg, err->text);
	return 0;
}

int vt_replay_feed(struct vt_replay *rp, const struct vt_block *block, uint32_t first,
		   uint32_t count, struct vt_error *err)
{
	return vt_context_feed(rp->context, block, first, count, err);
}

enum vt_replay_source vt_replay_source(const struct vt_replay *rp)
{
	return rp->source;
}

/* ---- beginning and end ---- */

struct vt_replay *vt_replay_new(const struct vt_replay_options *opt, struct vt_error *err)
{
	struct vt_replay *rp = calloc(1, sizeof(*rp));

	if (!rp) {
		vt_error_nomem(err);
		return NULL;
	}
	rp->o = *opt;
	vt_hash_init(&rp->places, sizeof(struct vti_place), sizeof(struct vti_place));
	vt_hash_init(&rp->insns, sizeof(struct insn), KEY_SIZE);
	vti_bases_init(&rp->bases);
	rp->conflicts = vt_conflicts_new(opt->model, opt->dependent, err);
	rp->context = vt_context_new(rp->o.images);
	rp->profile = rp->context ? vt_profile_new(rp->context) : NULL;
	if (rp->conflicts && !rp->profile)
		vt_error_nomem(err);
	else if (rp->conflicts && make_interpreters(rp, err)) {
		vt_context_add(rp->context, &(struct vt_consumer){.take = vt_profile_feed,
								  .arg = rp->profile,
								  .kinds = PROFILED});
		vt_context_add(rp->context, &(struct vt_consumer){.record = take_both, .arg = rp});
		return rp;
	}
	vt_replay_free(rp);
	return NULL;
}

void vt_replay_free(struct vt_replay *rp)
{
	size_t i;

	if (!rp)
		return;
	set_replay_source(rp, VT_REPLAY_NOTHING);
	for (i = 0; i < rp->nblocks; i++) {
		free(rp->blocks[i].code);
		free(rp->blocks[i].accesses);
	}
	free(rp->blocks);
	vt_hash_fini(&rp->places);
	vt_hash_fini(&rp->insns);
	vti_bases_fini(&rp->bases);
	vt_conflicts_free(rp->conflicts);
	vt_profile_free(rp->profile);
	vt_context_free(rp->context);
	free(rp->accesses);
	free(rp->pairs);
	free(rp);
}

/* ---- the pairs ---- */

static bool is_wanted(const struct vt_replay *rp, uint32_t image)
{
	const struct vt_image *i = vt_images_get(rp->o.images, image);
	const char *path = i ? i->path : "", *name = strrchr(path, '/');

	return !rp->o.image || strcmp(path, rp->o.image) == 0 ||
	       (name && strcmp(name + 1, rp->o.image) == 0);
}

static int compare_pairs(const void *pa, const void *pb)
{
	const struct vti_replay_pair *a = pa, *b = pb;
	const uint64_t x[] = {a->image,	  a->offset,	    a->type,
			      a->nearest, a->earlier_image, a->earlier};
	const uint64_t y[] = {b->image,	  b->offset,	    b->type,
			      b->nearest, b->earlier_image, b->earlier};
	size_t i;

	for (i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static bool gather_pairs(struct vt_replay *rp)
{
	size_t i, n = vt_conflicts_count(rp->conflicts);

	rp->pairs = calloc(n + 1, sizeof(*rp->pairs));
	for (i = 0; rp->pairs && i < n; i++) {
		const struct vt_conflict_pair *p = vt_conflicts_at(rp->conflicts, i);
		const struct vti_place *later = vt_hash_at(&rp->places, p->later);
		const struct vti_place *earlier = vt_hash_at(&rp->places, p->earlier);

		if (!is_wanted(rp, later->image))
			continue;
		rp->totals.pairs[p->type]++;
		rp->totals.met[p->type] += p->count;
		rp->pairs[rp->npairs++] = (struct vti_replay_pair){
			.image = later->image,
			.earlier_image = earlier->image,
			.offset = later->offset,
			.earlier = earlier->offset,
			.type = (enum vt_conflict)p->type,
			.count = p->count,
			.executions = vt_conflicts_executions(rp->conflicts, p->later),
			.distance = p->distance,
			.nearest = p->nearest};
	}
	if (rp->pairs)
		qsort(rp->pairs, rp->npairs, sizeof(*rp->pairs), compare_pairs);
	return rp->pairs != NULL;
}

/* ---- their samples ---- */

static bool is_chosen(const struct vt_replay *rp, const struct vt_event_choice *chosen,
		      uint32_t event, enum vt_conflict type)
{
	size_t i;

	if (!rp->o.nevents)
		return vt_conflict_event_fits(type, vt_profile_event(rp->profile, event)->name);
	for (i = 0; i < chosen->count; i++)
		if (chosen->index[i] == event)
			return true;
	return false;
}

/* The samples of one place belong to all pairs whose later instruction is there. */
static void add_samples(struct vt_replay *rp, const struct vt_event_choice *chosen,
			const struct vt_place *at)
{
	size_t low = 0, high = rp->npairs;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct vti_replay_pair *p = &rp->pairs[mid];

		if (p->image < at->image || (p->image == at->image && p->offset < at->offset))
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < rp->npairs && rp->pairs[low].image == at->image &&
	       rp->pairs[low].offset == at->offset;
	     low++) {
		if (!is_chosen(rp, chosen, at->event, rp->pairs[low].type))
			continue;
		rp->pairs[low].samples += at->samples;
		rp->totals.samples += at->samples;
	}
}

int vt_replay_finish(struct vt_replay *rp, struct vt_error *err)
{
	struct vt_event_choice chosen = {0};
	int code = vt_profile_finish(rp->profile, err);
	size_t i;

	rp->totals.of = *vt_conflicts_totals(rp->conflicts);
	if (code == 0 && !gather_pairs(rp))
		code = vt_error_nomem(err);
	if (code == 0 && rp->o.nevents)
		code = vt_event_choice_init(&chosen, rp->profile, rp->o.events, rp->o.nevents, err);
	if (code < 0)
		return code;
	for (i = 0; i < vt_profile_nplaces(rp->profile); i++)
		add_samples(rp, &chosen, vt_profile_place(rp->profile, i));
	vt_event_choice_fini(&chosen);
	return 0;
}

const struct vt_replay_totals *vt_replay_totals(const struct vt_replay *rp)
{
	return &rp->totals;
}

/* ---- writing ---- */

static void write_pair(const struct vti_replay_pair *p, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_CONFLICT);

	row[VT_CONFLICT_IMAGE] = p->image;
	row[VT_CONFLICT_OFFSET] = p->offset;
	row[VT_CONFLICT_EARLIER_IMAGE] = p->earlier_image;
	row[VT_CONFLICT_EARLIER] = p->earlier;
	row[VT_CONFLICT_TYPE] = p->type;
	row[VT_CONFLICT_COUNT] = p->count;
	row[VT_CONFLICT_EXECUTIONS] = p->executions;
	row[VT_CONFLICT_DISTANCE] = p->distance;
	row[VT_CONFLICT_NEAREST] = p->nearest;
	row[VT_CONFLICT_SAMPLES] = p->samples;
}

static void write_place(const struct vt_replay *rp, const struct vt_place *p, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	row[VT_COUNT_IMAGE] = p->image;
	row[VT_COUNT_OFFSET] = p->offset;
	row[VT_COUNT_EVENT] = vt_profile_event(rp->profile, p->event)->id;
	row[VT_COUNT_SAMPLES] = p->samples;
	row[VT_COUNT_PERIOD] = p->period;
}

void vt_replay_write(const struct vt_replay *rp, struct vt_writer *w)
{
	const struct vt_replay_totals *t = &rp->totals;
	size_t i;

	for (i = 0; i < vt_profile_nplaces(rp->profile); i++)
		write_place(rp, vt_profile_place(rp->profile, i), w);
	for (i = 0; i < rp->npairs; i++)
		write_pair(&rp->pairs[i], w);
	vt_writer_meta(w, "replay.model", rp->o.model->name);
	vt_writer_meta_u64(w, "replay.distance", rp->o.model->distance);
	for (i = 0; i < rp->o.nevents; i++)
		vt_writer_meta(w, "replay.event", rp->o.events[i]);
	vt_writer_meta_u64(w, "replay.runs", t->of.runs);
	vt_writer_meta_u64(w, "replay.insns", t->of.insns);
	vt_writer_meta_u64(w, "replay.accesses", t->of.accesses);
	vt_writer_meta_u64(w, "replay.known", t->of.known);
	vt_writer_meta_u64(w, "replay.relative", t->of.relative);
	vt_writer_meta_u64(w, "replay.apart", t->of.apart);
	vt_writer_meta_u64(w, "replay.dependent", t->of.ruled_out);
}
