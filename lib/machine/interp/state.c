/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/internal.h"

#include <string.h>

#include "machine/interp/flags.h"
#include "machine/lift/fastop.h"

/* Bits of rflags outside the thunk. */
#define FLAG_ONE (1u << 1) /* always 1 */
#define FLAG_IF	 (1u << 9) /* 1 in a program */
#define FLAG_DF	 (1u << 10)
#define FLAG_AC	 (1u << 18)
#define FLAG_ID	 (1u << 21)

/* What programs never see set, or that is always zero: Intel SDM volume 1, 3.4.3. */
#define FLAGS_ZERO (~UINT64_C(0x3fffff) | 1u << 3 | 1u << 5 | 1u << 15)

/* ---- the guest state by offset ---- */

static uint64_t byte_of(uint64_t word, unsigned i)
{
	return word >> (8 * (i % 8)) & 0xff;
}

/* It lies in one word, or is whole words. */
static bool is_plain(unsigned offset, unsigned size)
{
	return size <= 8 ? offset % 8 + size <= 8 : !(offset % 8 || size % 8);
}

void vti_state_get(const struct vt_interp *m, unsigned offset, unsigned size, struct vt_word *words)
{
	const struct vt_word *w = &m->state[offset / 8];
	unsigned i;

	if (is_plain(offset, size)) {
		if (size < 8)
			*words = vti_fast_field(vti_word_at(w), 8 * (offset % 8), 8 * size);
		else
			vti_words_copy(words, w, size / 8);
		return;
	}
	memset(words, 0, (size + 7) / 8 * sizeof(*words));
	for (i = 0; i < size; i++) {
		w = &m->state[(offset + i) / 8];
		words[i / 8].value |= byte_of(w->value, offset + i) << (8 * (i % 8));
		words[i / 8].known |= byte_of(w->known, offset + i) << (8 * (i % 8));
	}
	if (size % 8)
		words[size / 8].known |= ~vt_low_bits(8 * (size % 8));
}

static void put_word_bits(struct vt_word *to, struct vt_word from, unsigned at, unsigned bits)
{
	uint64_t place = vt_low_bits(bits) << at;

	to->value = (to->value & ~place) | (from.value << at & place);
	to->known = (to->known & ~place) | (from.known << at & place);
}

void vti_state_put(struct vt_interp *m, unsigned offset, unsigned size, const struct vt_word *words)
{
	struct vt_word *w = &m->state[offset / 8];
	unsigned i;

	if (is_plain(offset, size)) {
		if (size < 8)
			put_word_bits(w, *words, 8 * (offset % 8), 8 * size);
		else
			vti_words_copy(w, words, size / 8);
		return;
	}
	for (i = 0; i < size; i++) {
		struct vt_word byte = {byte_of(words[i / 8].value, i),
				       byte_of(words[i / 8].known, i)};

		put_word_bits(&m->state[(offset + i) / 8], byte, 8 * ((offset + i) % 8), 8);
	}
}

void vti_state_forget(struct vt_interp *m, unsigned offset, unsigned size)
{
	static const struct vt_word nothing[4];
	unsigned n;

	for (; size; offset += n, size -= n) {
		n = size < 32 ? size : 32;
		vti_state_put(m, offset, n, nothing);
	}
}

/* ---- registers ---- */

/* Index of a general register in the guest state, or 0. */
static unsigned find_general_register(unsigned reg)
{
	static const uint16_t at[VT_REG_R15 + 1] = {
		[VT_REG_AX] = VTI_STATE(RAX),	   [VT_REG_BX] = VTI_STATE(RBX),
		[VT_REG_CX] = VTI_STATE(RCX),	   [VT_REG_DX] = VTI_STATE(RDX),
		[VT_REG_SI] = VTI_STATE(RSI),	   [VT_REG_DI] = VTI_STATE(RDI),
		[VT_REG_BP] = VTI_STATE(RBP),	   [VT_REG_SP] = VTI_STATE(RSP),
		[VT_REG_IP] = VTI_STATE(RIP),	   [VT_REG_FS] = VTI_STATE(FS_CONST),
		[VT_REG_GS] = VTI_STATE(GS_CONST), [VT_REG_R8] = VTI_STATE(R8),
		[VT_REG_R8 + 1] = VTI_STATE(R9),   [VT_REG_R8 + 2] = VTI_STATE(R10),
		[VT_REG_R8 + 3] = VTI_STATE(R11),  [VT_REG_R8 + 4] = VTI_STATE(R12),
		[VT_REG_R8 + 5] = VTI_STATE(R13),  [VT_REG_R8 + 6] = VTI_STATE(R14),
		[VT_REG_R15] = VTI_STATE(R15),
	};

	return reg <= VT_REG_R15 ? at[reg] : 0;
}

/* Index of a register's lane, or 0. */
static unsigned find_register_lane(unsigned reg, unsigned lane)
{
	if (reg >= VT_REG_VECTOR && reg < VT_REG_VECTOR + 32)
		return lane < VTI_ZMM_WORDS ? vti_vector_at(reg - VT_REG_VECTOR, lane) / 8 : 0;
	if (reg >= VT_REG_MASK && reg < VT_REG_MASK + 8)
		return lane ? 0 : vti_mask_at(reg - VT_REG_MASK) / 8;
	return lane ? 0 : find_general_register(reg);
}

static struct vt_word one_flag(struct vt_word w, uint64_t value, unsigned flag)
{
	return vt_word_is_known(w) ? (struct vt_word){w.value == value ? flag : 0, flag}
				   : (struct vt_word){0, 0};
}

static struct vt_word get_flags(const struct vt_interp *m)
{
	const struct vt_word *s = m->state;
	struct vt_word w = vti_flags_all(s[VTI_STATE(CC_OP)], s[VTI_STATE(CC_DEP1)],
					 s[VTI_STATE(CC_DEP2)], s[VTI_STATE(CC_NDEP)]);
	struct vt_word more[3] = {
		one_flag(s[VTI_STATE(DFLAG)], UINT64_MAX, FLAG_DF),
		one_flag(s[VTI_STATE(ACFLAG)], 1, FLAG_AC),
		one_flag(s[VTI_STATE(IDFLAG)], 1, FLAG_ID),
	};
	unsigned i;

	w.known = (w.known & VTI_FLAGS) | FLAGS_ZERO | FLAG_ONE | FLAG_IF;
	w.value |= FLAG_ONE | FLAG_IF;
	for (i = 0; i < 3; i++) {
		w.value |= more[i].value;
		w.known |= more[i].known;
	}
	return w;
}

static void set_flag(struct vt_word *to, struct vt_word flags, unsigned flag, uint64_t yes,
		     uint64_t no)
{
	if (flags.known & flag)
		*to = vt_word_of(flags.value & flag ? yes : no);
	else
		*to = vt_word_unknown(64);
}

static void set_flags(struct vt_interp *m, struct vt_word w)
{
	struct vt_word *s = m->state;

	s[VTI_STATE(CC_OP)] = vt_word_of(0); /* the flags themselves are in the next one */
	s[VTI_STATE(CC_DEP1)] = (struct vt_word){w.value & VTI_FLAGS, w.known | ~VTI_FLAGS};
	s[VTI_STATE(CC_DEP2)] = vt_word_of(0);
	s[VTI_STATE(CC_NDEP)] = vt_word_of(0);
	set_flag(&s[VTI_STATE(DFLAG)], w, FLAG_DF, UINT64_MAX, 1);
	set_flag(&s[VTI_STATE(ACFLAG)], w, FLAG_AC, 1, 0);
	set_flag(&s[VTI_STATE(IDFLAG)], w, FLAG_ID, 1, 0);
}

struct vt_word vt_interp_get(const struct vt_interp *m, unsigned reg, unsigned lane)
{
	unsigned at = find_register_lane(reg, lane);

	if (reg == VT_REG_FLAGS && !lane)
		return get_flags(m);
	return at ? m->state[at] : vt_word_unknown(64);
}

void vt_interp_set(struct vt_interp *m, unsigned reg, unsigned lane, struct vt_word w)
{
	unsigned at = find_register_lane(reg, lane);

	w.value &= w.known;
	if (reg == VT_REG_FLAGS && !lane)
		set_flags(m, w);
	else if (at)
		m->state[at] = w;
	m->wide |= at >= VTI_MASKS_AT / 8;
}

void vt_interp_set_general(struct vt_interp *m, uint64_t mask, const uint64_t *values)
{
	for (mask &= vt_low_bits(VT_REG_R15 + 1); mask; mask &= mask - 1, values++) {
		unsigned at = find_general_register((unsigned)__builtin_ctzll(mask));

		if (at)
			m->state[at] = vt_word_of(*values);
	}
}

void vti_round(struct vt_interp *m, struct vt_word rounding)
{
	m->state[VTI_STATE(SSEROUND)] = rounding;
	m->fp.rounding = vt_word_is_known(rounding) ? (int)(rounding.value & 3) : -1;
	/* Operators that have no operand for it round to nearest there. */
	if (m->opt.valgrind)
		m->fp.rounding = 0;
}

/* Intel SDM volume 1, 10.2.3: bits 13 and 14 round. */
void vti_set_mxcsr(struct vt_interp *m, struct vt_word mxcsr)
{
	uint64_t zeroes = VTI_MXCSR_DAZ | VTI_MXCSR_FTZ;

	vti_round(m, vti_fast_field(mxcsr, 13, 2));
	m->fp.zeroes = (mxcsr.known & zeroes) == zeroes ? (int)(mxcsr.value & zeroes) : -1;
	if (m->opt.valgrind)
		m->fp.zeroes = 0;
}

void vt_interp_set_mxcsr(struct vt_interp *m, uint32_t mxcsr)
{
	vti_set_mxcsr(m, vt_word_of(mxcsr));
}

void vt_interp_forget(struct vt_interp *m)
{
	memset(m->state, 0, m->wide ? sizeof(m->state) : VTI_MASKS_AT / 8 * sizeof(*m->state));
	m->wide = false;
	vti_set_mxcsr(m, m->opt.mxcsr);
}

/* ---- threads ---- */

struct saved {
	struct vt_word state[VTI_STATE_WORDS];
	struct vti_fpmode fp;
};

size_t vt_interp_state_size(void)
{
	return sizeof(struct saved);
}

void vt_interp_save(const struct vt_interp *m, void *state)
{
	struct saved *s = state;

	memcpy(s->state, m->state, sizeof(s->state));
	s->fp = m->fp;
}

void vt_interp_restore(struct vt_interp *m, const void *state)
{
	const struct saved *s = state;

	memcpy(m->state, s->state, sizeof(m->state));
	m->wide = true;
	m->fp = s->fp;
}

void vt_interp_set_memory(struct vt_interp *m, struct vt_known_memory *mem)
{
	m->mem = mem;
}
