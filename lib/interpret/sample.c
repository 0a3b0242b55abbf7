/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "interpret/internal.h"

/* Of linux/perf_event.h: PERF_RECORD_MISC_* and PERF_SAMPLE_*, and PERF_SAMPLE_REGS_ABI_64. */
#define MISC_MODE     7
#define MISC_KERNEL   1
#define MISC_USER     2
#define MISC_EXACT_IP (1u << 14)
#define HAS_WEIGHTS   (1u << 14 | 1u << 24)
#define HAS_SOURCE    (1u << 15)
#define SOURCE_NA     1 /* PERF_MEM_OP_NA and PERF_MEM_OP_LOAD, lowest in data_src */
#define SOURCE_LOAD   2
#define ABI_64	      2

/* Bits of a mask of asm/perf_regs.h from which on there are two for each vector register. */
#define MASK_VECTOR 32

#define VECTORS 16 /* vector registers that the interpreter has */

#define BASE_UNKNOWN UINT64_MAX /* of fs_base and gs_base */

#define FLAGS_EXACT 8 /* PERF_EFLAGS_EXACT, in a bit of rflags that is always 0 */

struct event {
	uint64_t id;
	uint64_t user; /* masks of registers */
	uint64_t intr;
	bool precise;
};

/* What is interpreted of a sample. */
struct start {
	int64_t pid;
	const uint64_t *regs;
	uint64_t mask;
	uint64_t ip;
	uint64_t stack_addr;
	struct vt_bytes stack;
};

struct vti_samples {
	struct vt_interpret *in;
	struct vt_interp *machine;
	struct vt_known_memory *memory;
	struct vti_callers callers;
	struct vt_rng rng;
	struct vt_hash events;
	bool intel; /* the recording machine is */
	bool lines; /* there were samples with lines */
	struct start at;
};

/* ---- what is behind it ---- */

static size_t fetch_image_code(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes,
			       size_t size)
{
	struct vti_samples *s = arg;

	(void)space;
	return vti_spaces_code(&s->in->spaces, s->at.pid, addr, bytes, size);
}

/* What the line at an address has of the sample's stack; what is not stack is left as it is. */
static uint64_t fill_stack(const struct start *at, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE])
{
	uint64_t from = at->stack_addr - addr; /* of the stack in the line, or */
	uint64_t skip = addr - at->stack_addr; /* of the line in the stack */
	uint64_t n;

	if (skip < at->stack.size) {
		n = at->stack.size - skip;
		n = n < VT_KNOWN_LINE ? n : VT_KNOWN_LINE;
		memcpy(bytes, at->stack.data + skip, n);
		return vt_low_bits((unsigned)n);
	}
	if (from >= VT_KNOWN_LINE || !at->stack.size)
		return 0;
	n = VT_KNOWN_LINE - from;
	n = n < at->stack.size ? n : at->stack.size;
	memcpy(bytes + from, at->stack.data, n);
	return vt_low_bits((unsigned)n) << from;
}

/*
 * What the sample's lines have, its stack, and what images hold for good.  Where both have a byte,
 * lines are of the moment of the registers, while the kernel copies a stack piece by piece.
 */
static uint64_t fill_sample_line(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE],
				 bool lasting)
{
	struct vti_samples *s = arg;
	uint64_t known = 0;

	if (!lasting)
		known = vti_lines_fill(&s->in->spaces.sample, s->at.pid, addr, bytes);
	if (!known && !lasting)
		known = fill_stack(&s->at, addr, bytes);
	return known ? known : vti_spaces_line(&s->in->spaces, s->at.pid, addr, bytes);
}

/* ---- life ---- */

struct vti_samples *vti_samples_new(struct vt_interpret *in, struct vt_error *err)
{
	struct vti_samples *s = calloc(1, sizeof(*s));
	struct vt_interp_options o = {
		.fetch = fetch_image_code,
		.fetch_arg = s,
		.capture = in->o.capture,
		.max_code = VTI_MAX_CODE,
		.mxcsr = vti_assumed_mxcsr(&in->o),
	};

	if (s && in->o.callers) {
		o.transfer = vti_callers_transfer;
		o.transfer_arg = &s->callers;
	}
	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	s->in = in;
	in->spaces.sample.totals = &in->totals;
	vt_rng_init(&s->rng, in->o.seed);
	vt_hash_init(&s->events, sizeof(struct event), sizeof(uint64_t));
	s->memory = vt_known_memory_new(fill_sample_line, s, VTI_MAX_MEMORY);
	if (!s->memory)
		vt_error_nomem(err);
	else
		s->machine = vt_interp_new(&o, s->memory, err);
	vti_callers_init(&s->callers, &in->spaces, s->machine, s->memory);
	if (s->machine)
		return s;
	vti_samples_free(s);
	return NULL;
}

void vti_samples_free(struct vti_samples *s)
{
	if (!s)
		return;
	vti_callers_fini(&s->callers);
	vt_interp_free(s->machine);
	vt_known_memory_free(s->memory);
	vt_hash_fini(&s->events);
	free(s);
}

uint64_t vti_samples_unlifted(const struct vti_samples *s)
{
	uint64_t blocks, unlifted;

	vt_interp_lifted(s->machine, &blocks, &unlifted);
	return unlifted;
}

/* ---- a sample's registers ---- */

static bool choose_registers(struct start *at, struct vt_words regs, uint64_t mask, uint64_t abi)
{
	at->regs = regs.data;
	at->mask = mask;
	return abi == ABI_64 && regs.count && regs.count == (size_t)__builtin_popcountll(mask);
}

/* The value of a register that the mask has. */
static bool reg_of(const struct start *at, unsigned reg, uint64_t *value)
{
	uint64_t bit = UINT64_C(1) << reg;

	if (!(at->mask & bit))
		return false;
	*value = at->regs[__builtin_popcountll(at->mask & (bit - 1))];
	return true;
}

static void take_stack(struct start *at, const struct vt_record *rec)
{
	uint64_t dynamic = vt_record_u64(rec, VT_SAMPLE_STACK_DYN_SIZE);

	at->stack = vt_record_bytes(rec, VT_SAMPLE_STACK);
	if (at->stack.size > dynamic)
		at->stack.size = dynamic;
	if (!reg_of(at, VT_REG_SP, &at->stack_addr) || at->stack.size > UINT64_MAX - at->stack_addr)
		at->stack.size = 0;
}

/*
 * A precise sample's own registers are those behind its instruction (Intel SDM 3B, "PEBS record
 * format"), and its address is that of the next one or, with MISC_EXACT_IP, of itself.  A jump
 * leaves no trace in them but their address, so it can be run again; another straight instruction
 * is left behind.  AMD's precise samples have the registers of a later moment.
 */
static bool precise_start(struct vti_samples *s, const struct vt_record *rec)
{
	struct start *at = &s->at;
	uint8_t code[VT_MAX_INSN];
	struct vt_facts f;
	size_t n;

	if (!s->intel)
		return false;
	if (!(vt_record_u64(rec, VT_SAMPLE_MISC) & MISC_EXACT_IP))
		return true;
	n = vti_spaces_code(&s->in->spaces, at->pid, at->ip, code, sizeof(code));
	if (!vt_facts_decode(code, n, &f) || f.flags & (VT_FACT_SYSCALL | VT_FACT_REPEATED))
		return false;
	if (f.flags & (VT_FACT_CONDITIONAL | VT_FACT_JUMP))
		return true;
	at->ip += f.length;
	return !(f.flags & VT_FACT_BRANCH);
}

/*
 * Are the registers those of the sample's own code?  Of a sample in the kernel, a perf event has
 * those at the entry; who followed the instructions has those of the moment.
 */
static bool has_own_registers(const struct vt_record *rec)
{
	uint64_t mode = vt_record_u64(rec, VT_SAMPLE_MISC) & MISC_MODE;

	return mode == MISC_USER ||
	       (mode == MISC_KERNEL && vt_record_u64(rec, VT_SAMPLE_WALK_STOP) != VT_WALK_NOT);
}

/* Finds where a run from the sample starts and what is known there. */
static bool find_start(struct vti_samples *s, const struct vt_record *rec)
{
	struct vt_interpret_totals *t = &s->in->totals;
	uint64_t id = vt_record_u64(rec, VT_SAMPLE_EVENT), ip = vt_record_u64(rec, VT_SAMPLE_IP);
	const struct event *e = vt_hash_find(&s->events, &id);
	bool user = e && !e->precise &&
		    choose_registers(&s->at, vt_record_words(rec, VT_SAMPLE_UREGS), e->user,
				     vt_record_u64(rec, VT_SAMPLE_UREGS_ABI));

	if (!user && !(e && choose_registers(&s->at, vt_record_words(rec, VT_SAMPLE_IREGS), e->intr,
					     vt_record_u64(rec, VT_SAMPLE_IREGS_ABI)))) {
		t->no_registers++;
		t->late += e && e->precise && vt_record_words(rec, VT_SAMPLE_UREGS).count;
		return false;
	}
	s->at.pid = vt_record_i64(rec, VT_SAMPLE_PID);
	s->at.stack.size = 0;
	if (!has_own_registers(rec) || !reg_of(&s->at, VT_REG_IP, &s->at.ip) || s->at.ip != ip ||
	    (e->precise && !precise_start(s, rec))) {
		t->elsewhere++;
		return false;
	}
	if (!e->precise)
		take_stack(&s->at, rec);
	return true;
}

/* The selectors in the places of FS and GS are not their bases. */
static void set_sample_registers(struct vti_samples *s)
{
	const struct start *at = &s->at;
	uint64_t flags, vectors = at->mask >> MASK_VECTOR;
	const uint64_t *v = at->regs + __builtin_popcountll(at->mask & UINT32_MAX);
	unsigned bit;

	vt_interp_forget(s->machine);
	vt_interp_set_general(s->machine, at->mask & UINT32_MAX, at->regs);
	vt_interp_set(s->machine, VT_REG_FS, 0, vt_word_unknown(64));
	vt_interp_set(s->machine, VT_REG_GS, 0, vt_word_unknown(64));
	if (reg_of(at, VT_REG_FLAGS, &flags))
		vt_interp_set(s->machine, VT_REG_FLAGS, 0,
			      vt_word_of(flags & ~(uint64_t)FLAGS_EXACT));
	for (; vectors; vectors &= vectors - 1) {
		bit = (unsigned)__builtin_ctzll(vectors);
		vt_interp_set(s->machine, VT_REG_VECTOR + bit / 2, bit % 2, vt_word_of(*v++));
	}
	vt_interp_set(s->machine, VT_REG_IP, 0, vt_word_of(at->ip));
}

/*
 * Masks and wide vectors: what has no entry is zero if its register has one, but the low 16 bytes
 * of the first 16 vector registers.
 */
static void set_state(struct vti_samples *s, const struct vt_record *rec)
{
	struct vt_words at = vt_record_words(rec, VT_SAMPLE_STATE_REG);
	struct vt_words value = vt_record_words(rec, VT_SAMPLE_STATE);
	unsigned reg = 0, lane;
	size_t i;

	for (i = 0; i < at.count && i < value.count; i++) {
		if (at.data[i] >= 8 * (uint64_t)VT_NREGS || at.data[i] < 8 * (uint64_t)VT_REG_MASK)
			return;
		if (reg != at.data[i] / 8) {
			reg = (unsigned)(at.data[i] / 8);
			lane = reg >= VT_REG_VECTOR && reg < VT_REG_VECTOR + VECTORS ? 2 : 0;
			for (; lane < 8; lane++)
				vt_interp_set(s->machine, reg, lane, vt_word_of(0));
		}
		vt_interp_set(s->machine, reg, at.data[i] % 8, vt_word_of(value.data[i]));
	}
}

static void set_base(struct vti_samples *s, unsigned reg, uint64_t base)
{
	if (base != BASE_UNKNOWN)
		vt_interp_set(s->machine, reg, 0, vt_word_of(base));
}

/* What a recorder tells of the registers if it followed the next instructions. */
static void set_walked_registers(struct vti_samples *s, const struct vt_record *rec)
{
	uint64_t mxcsr = vt_record_u64(rec, VT_SAMPLE_MXCSR);

	if (vt_record_u64(rec, VT_SAMPLE_WALK_STOP) == VT_WALK_NOT)
		return;
	set_base(s, VT_REG_FS, vt_record_u64(rec, VT_SAMPLE_FS_BASE));
	set_base(s, VT_REG_GS, vt_record_u64(rec, VT_SAMPLE_GS_BASE));
	if (mxcsr)
		vt_interp_set_mxcsr(s->machine, (uint32_t)mxcsr);
	set_state(s, rec);
}

/* ---- a run ---- */

static enum vt_stop skip_random_insns(struct vti_samples *s, uint64_t space, struct vt_error *err)
{
	uint64_t n = vt_rng_below(&s->rng, s->in->o.length), done;
	enum vt_stop stop = n ? vt_interp_run(s->machine, space, n, &done, err) : VT_STOP_LENGTH;

	vt_interp_clear(s->machine);
	return stop;
}

bool vt_sample_latency(const struct vt_record *rec, uint64_t *latency)
{
	uint64_t has = vt_record_u64(rec, VT_SAMPLE_HAS);

	*latency = vt_record_u64(rec, VT_SAMPLE_WEIGHT);
	return has & HAS_WEIGHTS && *latency &&
	       vt_record_u64(rec, VT_SAMPLE_MISC) & MISC_EXACT_IP &&
	       (!(has & HAS_SOURCE) ||
		vt_record_u64(rec, VT_SAMPLE_DATA_SRC) & (SOURCE_NA | SOURCE_LOAD));
}

static void get_registers(struct vti_samples *s, struct vt_word regs[VT_RUN_REGS])
{
	unsigned i;

	for (i = 0; i < VT_RUN_REGS; i++)
		regs[i] = vt_interp_get(s->machine, i, 0);
}

/* There is no code where the run has come to. */
static void count_withheld(struct vti_samples *s)
{
	struct vt_word ip = vt_interp_get(s->machine, VT_REG_IP, 0);
	enum vt_withheld why = VT_WITHHELD_NOT;

	if (vt_word_is_known(ip))
		why = vti_spaces_code_withheld(&s->in->spaces, s->at.pid, ip.value);
	s->in->totals.code_withheld[why] += why != VT_WITHHELD_NOT;
}

/* The kernel's code is the same in all processes. */
static int64_t code_pid(const struct vti_samples *s)
{
	return s->at.ip >> 63 ? -1 : s->at.pid;
}

static int run_sample(struct vti_samples *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_word regs[VT_RUN_REGS];
	const struct vt_interpret_options *o = &s->in->o;
	uint64_t space = vti_spaces_number(&s->in->spaces, code_pid(s), err), done = 0;
	struct vt_run r = {
		.time = vt_record_u64(rec, VT_SAMPLE_TIME),
		.pid = s->at.pid,
		.tid = vt_record_i64(rec, VT_SAMPLE_TID),
		.event = vt_record_u64(rec, VT_SAMPLE_EVENT),
		.weight = 1,
		.latency = vt_record_u64(rec, VT_SAMPLE_WEIGHT),
		.has_latency = vt_record_u64(rec, VT_SAMPLE_HAS) & HAS_WEIGHTS,
		.begins = true,
	};

	if (!space || vti_spaces_ran(&s->in->spaces, s->at.pid, s->at.ip, err) < 0)
		return -VT_E_NOMEM;
	vt_known_memory_reset(s->memory);
	if (s->lines)
		vt_interp_recheck_code(s->machine);
	set_sample_registers(s);
	set_walked_registers(s, rec);
	vt_interp_clear(s->machine);
	s->callers.count = 0;
	r.stop = o->skip_random ? skip_random_insns(s, space, err) : VT_STOP_LENGTH;
	if (o->registers) {
		get_registers(s, regs);
		r.regs = regs;
	}
	if (o->callers && r.stop == VT_STOP_LENGTH)
		vti_callers_begin(&s->callers, s->at.pid);
	if (r.stop == VT_STOP_LENGTH)
		r.stop = vt_interp_run(s->machine, space, o->length, &done, err);
	if (r.stop == VT_STOP_MEMORY)
		return -VT_E_NOMEM;
	if (s->callers.no_memory)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for return addresses");
	if (r.stop == VT_STOP_CODE)
		count_withheld(s);
	if (r.stop == VT_STOP_CODE && !done) {
		s->in->totals.no_code++;
		return 0;
	}
	r.insns = (uint32_t)done;
	r.callers = s->callers.list;
	r.ncallers = s->callers.count;
	r.caller = r.ncallers ? r.callers[0].caller : 0;
	r.captures = vt_interp_captures(s->machine, &r.ncaptures);
	return vti_interpret_deliver(s->in, &r, err);
}

static int feed_sample(struct vti_samples *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_lines *lines = &s->in->spaces.sample;
	int rc = vti_lines_take(lines, rec, err);

	s->in->totals.samples++;
	if (rc < 0)
		return rc;
	s->lines |= lines->count > 0;
	if (find_start(s, rec)) {
		if (s->in->o.frequency > 1 && vt_rng_below(&s->rng, s->in->o.frequency))
			s->in->totals.left_out++;
		else
			rc = run_sample(s, rec, err);
	}
	lines->count = 0;
	return rc;
}

/* ---- records ---- */

static int feed_sample_event(struct vti_samples *s, const struct vt_record *rec,
			     struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_EVENT_ID);
	struct event *e = vt_hash_add(&s->events, &id, NULL);

	if (!e)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for events");
	e->user = vt_record_u64(rec, VT_EVENT_REGS_USER);
	e->intr = vt_record_u64(rec, VT_EVENT_REGS_INTR);
	e->precise = vt_record_u64(rec, VT_EVENT_PRECISE) != 0;
	return 0;
}

static void feed_sample_meta(struct vti_samples *s, const struct vt_record *rec)
{
	static const char intel[] = "GenuineIntel";
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);

	if (vt_record_is_meta(rec, "cpuid"))
		s->intel = value.size >= sizeof(intel) - 1 &&
			   memcmp(value.data, intel, sizeof(intel) - 1) == 0;
}

int vti_samples_feed(struct vti_samples *s, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_SAMPLE:
		return feed_sample(s, rec, err);
	case VT_EVENT:
		return feed_sample_event(s, rec, err);
	case VT_META:
		feed_sample_meta(s, rec);
		return 0;
	default:
		return 0;
	}
}
