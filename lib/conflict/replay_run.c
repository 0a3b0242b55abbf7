/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/buf.h"
#include "conflict/replay_internal.h"

/* What an interpreter must capture for the accesses of a run. */
#define CAPTURE                                                                                    \
	(1u << VT_WHAT_UNKNOWN | 1u << VT_WHAT_LOAD | 1u << VT_WHAT_STORE |                        \
	 1u << VT_WHAT_LOAD_ADDRESS | 1u << VT_WHAT_STORE_ADDRESS)

/* Code as it was decoded at an address of a process: the key has no padding. */
struct insn {
	uint64_t ip;
	int64_t pid;
	uint16_t load_size; /* bytes of its first load, where no capture tells */
	uint16_t store_size;
	struct vti_base_operand load, store;
	struct vti_base_code moves;
	struct vt_conflict_code code;
};

#define KEY_SIZE offsetof(struct insn, load_size)

void vti_replay_insns_init(struct vt_hash *insns)
{
	vt_hash_init(insns, sizeof(struct insn), KEY_SIZE);
}

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

static void decode(struct vt_replay *rp, struct insn *insn, const uint8_t *bytes, size_t size)
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
	insn->load_size = vti_replay_size(&f, false);
	insn->store_size = vti_replay_size(&f, true);
	insn->code.place = vti_replay_place(rp, insn->pid, insn->ip);
}

static const struct insn *insn_of(struct vt_replay *rp, int64_t pid, uint64_t ip)
{
	const struct insn key = {.ip = ip, .pid = pid};
	uint8_t bytes[VT_MAX_INSN];
	bool added;
	struct insn *insn = vt_hash_add(&rp->insns, &key, &added);

	if (insn && added)
		decode(rp, insn, bytes,
		       vt_interpret_code(rp->interpret[rp->source], pid, ip, bytes, sizeof(bytes)));
	return insn;
}

/* Blocks have their code with them, as it was when they were executed. */
static int take_block(struct vt_replay *rp, uint32_t id, struct vt_error *err)
{
	const struct vt_bblock *b = vt_bblocks_get(rp->dict, id);
	uint32_t i, at = 0;

	if (!b || !b->code || b->mode != 64)
		return 0;
	for (i = 0; i < b->ninsns; i++) {
		const struct insn key = {.ip = b->addr + at, .pid = b->pid};
		struct insn *insn = vt_hash_add(&rp->insns, &key, NULL);

		if (!insn)
			return vt_error_nomem(err);
		decode(rp, insn, b->code + at, b->lengths[i]);
		at += b->lengths[i];
	}
	return 0;
}

/* The accesses that the captures of one instruction tell of: an address, then its value. */
static size_t gather(const struct insn *insn, const struct vt_capture *c, size_t n,
		     struct vt_access *out)
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
	const struct insn *insn = insn_of(rp, run->pid, c->ip);
	size_t count;

	if (!insn || insn->code.place == UINT32_MAX ||
	    !vt_array_grow(&rp->accesses, &rp->accesses_cap, n, sizeof(*rp->accesses)))
		return vt_error_nomem(err);
	count = gather(insn, c, n, rp->accesses);
	if (!add_bases(&rp->bases, insn, rp->accesses, count))
		return vt_error_nomem(err);
	vti_bases_step(&rp->bases, &insn->moves);
	return vt_conflicts_insn(rp->conflicts, &insn->code, rp->accesses, count, err);
}

/* A run of the interpreter: what one instruction captured begins with itself. */
static int take_run(void *arg, const struct vt_run *run, struct vt_error *err)
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

bool vti_replay_interpreters(struct vt_replay *rp, struct vt_error *err)
{
	struct vt_interpret_options o = {
		.length = rp->o.length,
		.frequency = 1,
		.capture = CAPTURE,
		.trust = rp->o.trust,
	};

	rp->interpret[VT_REPLAY_SAMPLES] = vt_interpret_new(&o, rp->o.images, take_run, rp, err);
	o.path = true;
	if (rp->interpret[VT_REPLAY_SAMPLES])
		rp->interpret[VT_REPLAY_PATH] =
			vt_interpret_new(&o, rp->o.images, take_run, rp, err);
	return rp->interpret[VT_REPLAY_PATH] != NULL;
}

void vti_replay_decide(struct vt_replay *rp, enum vt_replay_source source)
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
static bool look_at(struct vt_replay *rp, const struct vt_record *rec, int *code,
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
			*code = take_block(rp, (uint32_t)vt_record_u64(rec, VT_BLOCK_ID), err);
		return true;
	case VT_SAMPLE:
		return rp->source == VT_REPLAY_SAMPLES;
	case VT_EXEC:
		return rp->source == VT_REPLAY_PATH;
	default:
		return true;
	}
}

int vti_replay_interpret(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	int code = 0, i;

	if (!look_at(rp, rec, &code, err))
		return 0;
	if (code == 0)
		code = vt_images_feed(rp->o.images, rec, err);
	for (i = 0; i < VT_REPLAY_NSOURCES && code == 0; i++)
		if (rp->interpret[i])
			code = vt_interpret_feed(rp->interpret[i], rec, err);
	return code == -VT_E_LIMIT || code == -VT_E_DAMAGED ? -VT_E_FORMAT : code;
}
