/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/call.h"

#include <string.h>

#include "machine/interp/flags.h"
#include "machine/interp/memory.h"
#include "machine/lift/fastop.h"

/* What is done for a helper when its operands are known; for any that is not listed, nothing. */
enum kind {
	UNKNOWN,
	PURE,	   /* it is called */
	CONDITION, /* these work with operands that are known in part */
	FLAGS,
	CARRY,
	MXCSR,	   /* takes a new MXCSR */
	DEFAULTS,  /* tells the bits that VEX keeps, and what it takes the others to be */
	CLASS,	   /* says what sort of number is in an x87 register */
	ON_STATE,  /* computes with the guest state alone */
	LOAD_F80,  /* from 80 bits to 64 */
	STORE_F80, /* from 64 bits to 80 */
};

static const struct {
	const char *name;
	enum kind kind;
} helpers[] = {
	{"amd64g_calculate_condition", CONDITION},
	{"amd64g_calculate_rflags_all", FLAGS},
	{"amd64g_calculate_rflags_c", CARRY},
	{"amd64g_calculate_RCL", PURE},
	{"amd64g_calculate_RCR", PURE},
	{"amd64g_calc_crc32b", PURE},
	{"amd64g_calc_crc32w", PURE},
	{"amd64g_calc_crc32l", PURE},
	{"amd64g_calc_crc32q", PURE},
	{"amd64g_calc_mpsadbw", PURE},
	{"amd64g_calculate_mmx_pmaddwd", PURE},
	{"amd64g_calculate_mmx_psadbw", PURE},
	{"amd64g_calculate_sse_phminposuw", PURE},
	{"amd64g_calculate_pclmul", PURE},
	{"amd64g_calculate_pdep", PURE},
	{"amd64g_calculate_pext", PURE},
	{"amd64g_check_fldcw", PURE},
	{"amd64g_check_ldmxcsr", MXCSR},
	{"amd64g_create_mxcsr", DEFAULTS},
	{"amd64g_create_fpucw", DEFAULTS},
	{"amd64g_calculate_FXAM", CLASS},
	{"amd64g_dirtyhelper_PCMPxSTRx", ON_STATE},
	{"amd64g_dirtyhelper_AES", ON_STATE},
	{"amd64g_dirtyhelper_AESKEYGENASSIST", ON_STATE},
	{"amd64g_dirtyhelper_FINIT", ON_STATE},
	{"amd64g_dirtyhelper_loadF80le", LOAD_F80},
	{"amd64g_dirtyhelper_storeF80le", STORE_F80},
};

unsigned vti_call_kind(const struct vti_call *call)
{
	size_t i;

	for (i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		if (!strcmp(helpers[i].name, call->name))
			return helpers[i].kind;
	return UNKNOWN;
}

bool vti_call_is_condition(const struct vti_op *op)
{
	return op->op == VTI_CCALL && op->aux == CONDITION;
}

/* ---- calling them ---- */

typedef unsigned long fn1(unsigned long);
typedef unsigned long fn2(unsigned long, unsigned long);
typedef unsigned long fn3(unsigned long, unsigned long, unsigned long);
typedef unsigned long fn4(unsigned long, unsigned long, unsigned long, unsigned long);
typedef unsigned long fn5(unsigned long, unsigned long, unsigned long, unsigned long,
			  unsigned long);
typedef unsigned long fn6(unsigned long, unsigned long, unsigned long, unsigned long, unsigned long,
			  unsigned long);

#define MAX_ARGS 6

/* Helpers that return nothing are called so, too: what is returned then is not used. */
static uint64_t call_with_words(void *fn, const uint64_t *a, unsigned n)
{
	switch (n) {
	case 0:
	case 1:
		return ((fn1 *)fn)(a[0]);
	case 2:
		return ((fn2 *)fn)(a[0], a[1]);
	case 3:
		return ((fn3 *)fn)(a[0], a[1], a[2]);
	case 4:
		return ((fn4 *)fn)(a[0], a[1], a[2], a[3]);
	case 5:
		return ((fn5 *)fn)(a[0], a[1], a[2], a[3], a[4]);
	default:
		return ((fn6 *)fn)(a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}

static bool known_args(const struct vti_call *c, const struct vt_word *slots, uint64_t *args)
{
	unsigned i;

	for (i = 0; i < c->nargs; i++) {
		const struct vt_word *w = &slots[c->args[i]];

		if (!vt_word_is_known(*w))
			return false;
		args[i] = w->value;
	}
	return true;
}

static void set_result(const struct vti_call *c, struct vt_word *slots, uint64_t value)
{
	if (c->result_size)
		slots[c->dst] = vti_fast_cut(vt_word_of(value), 8u * c->result_size);
}

static void unknown_result(const struct vti_call *c, struct vt_word *slots)
{
	unsigned i;

	if (!c->result_size || c->dst == VTI_NO_SLOT)
		return;
	if (c->result_size < 8)
		slots[c->dst] = vt_word_unknown(8u * c->result_size);
	for (i = 0; i < c->result_size / 8u; i++)
		slots[c->dst + i] = vt_word_unknown(64);
}

/* ---- without effects ---- */

/* Denormal numbers of 64 bits are none in the 80 bits that the machine has. */
static bool same_class(const struct vt_interp *m, uint64_t f64)
{
	bool denormal = !(f64 >> 52 & 0x7ff) && f64 << 12;

	return m->opt.valgrind || !denormal;
}

static bool may_call(struct vt_interp *m, unsigned kind, const uint64_t *args)
{
	switch (kind) {
	case PURE:
	case MXCSR:
		return true;
	case DEFAULTS:
		return m->opt.valgrind;
	case CLASS:
		return same_class(m, args[1]);
	default:
		return false;
	}
}

void vti_call_pure(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots)
{
	const struct vti_call *c = (const struct vti_call *)op->data;
	const uint16_t *a = c->args;
	uint64_t args[VTI_CALL_ARGS];

	switch (op->aux) {
	case CONDITION:
		slots[c->dst] = vti_flags_condition(slots[a[0]], slots[a[1]], slots[a[2]],
						    slots[a[3]], slots[a[4]]);
		return;
	case FLAGS:
		slots[c->dst] = vti_flags_all(slots[a[0]], slots[a[1]], slots[a[2]], slots[a[3]]);
		return;
	case CARRY:
		slots[c->dst] = vti_fast_cut(
			vti_flags_all(slots[a[0]], slots[a[1]], slots[a[2]], slots[a[3]]), 1);
		return;
	case MXCSR:
		vti_set_mxcsr(m, slots[a[0]]);
		break;
	default:
		break;
	}
	if (c->nargs <= MAX_ARGS && c->result_size <= 8 && known_args(c, slots, args) &&
	    may_call(m, op->aux, args))
		set_result(c, slots, call_with_words(c->fn, args, c->nargs));
	else
		unknown_result(c, slots);
}

/* ---- with effects ---- */

#define EFFECT_READ  1u
#define EFFECT_WRITE 2u

static bool reads_known(const struct vt_interp *m, const struct vti_call *c)
{
	unsigned i, n;

	for (i = 0; i < c->nstate; i++) {
		unsigned offset = c->state[i].offset, end = offset + c->state[i].size;

		if (!(c->state[i].effect & EFFECT_READ))
			continue;
		for (; offset < end; offset += n) {
			struct vt_word w;

			n = end - offset < 8 ? end - offset : 8;
			vti_state_get(m, offset, n, &w);
			if (!vt_word_is_known(w))
				return false;
		}
	}
	return true;
}

/* On a copy of the guest state, of which only what the helper writes is taken back. */
static bool call_on_state(struct vt_interp *m, const struct vti_call *c, struct vt_word *slots)
{
	union {
		VexGuestAMD64State vex;
		uint64_t words[sizeof(VexGuestAMD64State) / 8];
		uint8_t bytes[sizeof(VexGuestAMD64State)];
	} copy;
	uint64_t args[VTI_CALL_ARGS + 1];
	uint64_t value;
	unsigned i, k;

	if (c->nargs + 1u > MAX_ARGS || !c->passes_state || !reads_known(m, c) ||
	    !known_args(c, slots, args + 1))
		return false;
	for (i = 0; i < sizeof(copy.words) / 8; i++)
		copy.words[i] = m->state[i].value;
	args[0] = (uintptr_t)&copy.vex;
	value = call_with_words(c->fn, args, c->nargs + 1u);
	for (i = 0; i < c->nstate; i++) {
		if (!(c->state[i].effect & EFFECT_WRITE))
			continue;
		for (k = 0; k < c->state[i].size; k++) {
			unsigned at = c->state[i].offset + k;
			struct vt_word w = vt_word_of(copy.bytes[at]);

			vti_state_put(m, at, 1, &w);
		}
	}
	set_result(c, slots, value);
	return true;
}

static bool is_nan(uint64_t f64)
{
	return f64 << 1 > UINT64_C(0x7ff) << 53;
}

static bool call_store_f80(struct vt_interp *m, const struct vti_call *c, struct vt_word *slots)
{
	uint64_t args[VTI_CALL_ARGS], bytes[2] = {0, 0};
	struct vt_word words[2];

	if (c->nargs != 2 || !known_args(c, slots, args) || is_nan(args[1]))
		return false;
	args[0] = (uintptr_t)bytes;
	call_with_words(c->fn, args, 2);
	words[0] = vt_word_of(bytes[0]);
	words[1] = vt_word_of(bytes[1]);
	vti_store(m, slots[c->address], 10, words);
	return true;
}

/* VEX's, which no header of it declares. */
void amd64g_dirtyhelper_storeF80le(unsigned long addr, unsigned long f64);

/* Only a number that 64 bits hold, too. */
static bool call_load_f80(struct vt_interp *m, const struct vti_op *op, const struct vti_call *c,
			  struct vt_word *slots)
{
	uint64_t bytes[2] = {0, 0}, back[2] = {0, 0}, arg = (uintptr_t)bytes, value;
	struct vt_word words[2];

	vti_load(m, op, slots[c->address], 10, words);
	if (c->nargs != 1 || !vt_word_is_known(words[0]) || !vt_word_is_known(words[1]))
		return false;
	bytes[0] = words[0].value;
	bytes[1] = words[1].value;
	value = call_with_words(c->fn, &arg, 1);
	if (is_nan(value))
		return false;
	amd64g_dirtyhelper_storeF80le((uintptr_t)back, value);
	if (memcmp(bytes, back, 10) != 0)
		return false;
	set_result(c, slots, value);
	return true;
}

/* A store to who knows where, when `slots` do not tell. */
static void forget_effects(struct vt_interp *m, const struct vti_call *c,
			   const struct vt_word *slots)
{
	unsigned i;

	for (i = 0; i < c->nstate; i++)
		if (c->state[i].effect & EFFECT_WRITE)
			vti_state_forget(m, c->state[i].offset, c->state[i].size);
	if (!(c->memory & EFFECT_WRITE))
		return;
	if (slots && vt_word_is_known(slots[c->address]))
		vt_known_memory_forget_range(m->mem, slots[c->address].value, c->size);
	else
		vt_known_memory_forget(m->mem);
}

/* Whoever recorded the run knows what it left. */
static void ask_state(struct vt_interp *m, const struct vti_op *op, const struct vti_call *c)
{
	unsigned i, k, n;

	for (i = 0; i < c->nstate; i++) {
		if (!(c->state[i].effect & EFFECT_WRITE))
			continue;
		for (k = 0; k < c->state[i].size; k += n) {
			struct vt_word words[4];
			unsigned at = c->state[i].offset + k;

			n = c->state[i].size - k < 32 ? c->state[i].size - k : 32;
			vti_state_get(m, at, n, words);
			m->hooks->state(m->hooks->arg, m->piece + op->insn, at, n, words);
			vti_state_put(m, at, n, words);
		}
	}
}

/*
 * MXCSR's rounding is a part of the guest state that the loop has a copy of.  What writes it
 * otherwise than ldmxcsr does (fxrstor) has all of MXCSR, which VEX does not keep.
 */
static void sync_rounding(struct vt_interp *m, const struct vti_call *c)
{
	unsigned at = offsetof(VexGuestAMD64State, guest_SSEROUND), i;

	for (i = 0; i < c->nstate; i++) {
		if (!(c->state[i].effect & EFFECT_WRITE) || c->state[i].offset > at ||
		    c->state[i].offset + c->state[i].size <= at)
			continue;
		if (m->opt.valgrind)
			vti_round(m, m->state[VTI_STATE(SSEROUND)]);
		else
			vti_set_mxcsr(m, m->opt.mxcsr);
	}
}

static bool call_helper(struct vt_interp *m, const struct vti_op *op, const struct vti_call *c,
			struct vt_word *slots)
{
	switch (op->aux) {
	case ON_STATE:
		return call_on_state(m, c, slots);
	case LOAD_F80:
		return call_load_f80(m, op, c, slots);
	case STORE_F80:
		return call_store_f80(m, c, slots);
	default:
		return false;
	}
}

void vti_call_dirty(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots)
{
	const struct vti_call *c = (const struct vti_call *)op->data;
	struct vt_word guard =
		c->guard == VTI_NO_SLOT ? vt_word_of(1) : vti_guard(m, op, slots[c->guard]);

	if (vt_word_is_known(guard) && !guard.value) {
		unknown_result(c, slots);
		return;
	}
	if (!vt_word_is_known(guard) || !call_helper(m, op, c, slots)) {
		forget_effects(m, c, slots);
		unknown_result(c, slots);
	}
	if (m->hooks->state)
		ask_state(m, op, c);
	sync_rounding(m, c);
}

void vti_call_forget(struct vt_interp *m, const struct vti_call *c)
{
	forget_effects(m, c, NULL);
	sync_rounding(m, c);
}
