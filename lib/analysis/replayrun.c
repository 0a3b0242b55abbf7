/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/replay_internal.h"
#include "base/buf.h"

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
	struct vt_conflict_code code;
};

#define KEY_SIZE offsetof(struct insn, load_size)

void vti_replay_insns_init(struct vt_hash *insns)
{
	vt_hash_init(insns, sizeof(struct insn), KEY_SIZE);
}

static const struct insn *insn_of(struct vt_replay *rp, int64_t pid, uint64_t ip)
{
	const struct insn key = {.ip = ip, .pid = pid};
	uint8_t bytes[VT_MAX_INSN];
	struct vt_facts f;
	bool added;
	struct insn *insn = vt_hash_add(&rp->insns, &key, &added);
	size_t size;

	if (!insn || !added)
		return insn;
	size = vt_interpret_code(rp->interpret, pid, ip, bytes, sizeof(bytes));
	vt_facts_decode(bytes, size, &f);
	vt_conflict_code_make(&insn->code, &f);
	insn->load_size = vti_replay_size(&f, false);
	insn->store_size = vti_replay_size(&f, true);
	insn->code.place = vti_replay_place(rp, pid, ip);
	return insn;
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

static int take_insn(struct vt_replay *rp, const struct vt_run *run, const struct vt_capture *c,
		     size_t n, struct vt_error *err)
{
	const struct insn *insn = insn_of(rp, run->pid, c->ip);

	if (!insn || insn->code.place == UINT32_MAX ||
	    !vt_array_grow(&rp->accesses, &rp->accesses_cap, n, sizeof(*rp->accesses)))
		return vti_replay_no_memory(err);
	return vt_conflicts_insn(rp->conflicts, &insn->code, rp->accesses,
				 gather(insn, c, n, rp->accesses), err);
}

/* A run of the interpreter: what one instruction captured begins with itself. */
static int take_run(void *arg, const struct vt_run *run, struct vt_error *err)
{
	struct vt_replay *rp = arg;
	size_t i, end;
	int code = 0;

	if (run->begins || run->pid != rp->pid || run->tid != rp->tid)
		vt_conflicts_begin(rp->conflicts);
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

bool vti_replay_interpreter(struct vt_replay *rp, struct vt_error *err)
{
	const struct vt_interpret_options o = {
		.length = rp->o.length, .frequency = 1, .capture = CAPTURE};

	rp->interpret = vt_interpret_new(&o, rp->o.images, take_run, rp, err);
	return rp->interpret != NULL;
}

/*
 * What tells of processes and their code is for the interpreter at any rate; samples are if there
 * is no executed code.
 */
int vti_replay_interpret(struct vt_replay *rp, const struct vt_record *rec, struct vt_error *err)
{
	int code;

	switch (rec->kind) {
	case VT_IMAGE:
	case VT_MAP:
	case VT_THREAD:
		/* Other code may be where this was. */
		vt_hash_clear(&rp->insns);
		break;
	case VT_SAMPLE:
		if (rp->source != VT_REPLAY_SAMPLES)
			return 0;
		break;
	case VT_BLOCK:
	case VT_EXEC:
		return 0;
	default:
		break;
	}
	code = vt_images_feed(rp->o.images, rec, err);
	if (code == 0)
		code = vt_interpret_feed(rp->interpret, rec, err);
	return code == -VT_E_LIMIT || code == -VT_E_DAMAGED ? -VT_E_FORMAT : code;
}
