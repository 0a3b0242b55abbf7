/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SPECIALISE_JUDGE_H
#define VT_SPECIALISE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "specialise/uses.h"
#include "value/hot_profile.h"

/*
 * Kinds of specialisation by an almost constant value: value profiling 2.4 and 7; value
 * sampling 3.1.
 */
enum vt_spec_kind {
	VT_SPEC_NONE,
	VT_SPEC_CALL, /* an indirect call goes to one procedure */
	VT_SPEC_JUMP, /* an indirect jump to one place */
	VT_SPEC_DIVISOR_ONE,
	VT_SPEC_DIVISOR_POWER,	/* is one power of two */
	VT_SPEC_DIVISOR_POWERS, /* is a power of two, though not always the same */
	VT_SPEC_DIVISOR,
	VT_SPEC_FACTOR_ZERO,
	VT_SPEC_FACTOR_ONE,
	VT_SPEC_FACTOR_POWER,
	VT_SPEC_FACTOR,
	VT_SPEC_BOUND, /* of a loop */
	VT_SPEC_ARGUMENT,
	VT_SPEC_ARGUMENT_POINTER,
	VT_SPEC_ZERO,	 /* a load gives 0 */
	VT_SPEC_NUMBER,	 /* a load gives one number */
	VT_SPEC_POINTER, /* a load gives one address */
	VT_SPEC_RESULT,	 /* an instruction computes one number */
	VT_NSPECS
};

/* Returns the name of a kind for machine-readable output: "call", "divisor-power" …. */
const char *vt_spec_name(enum vt_spec_kind kind);

/* The input of vt_spec_judge(). */
struct vt_spec_value {
	const struct vt_hot *hot; /* of lane 0 */
	struct vt_uses uses;
	enum vt_source source; /* of a load */
	bool pointer;	       /* the top value is an address */
	bool at_call;	      /* an argument that one call passes, not a procedure's of all calls */
	bool fixed;	      /* loaded from constant data, which the compiler knew too */
	const char *variable; /* name of the variable of a VT_SOURCE_FIXED load, or NULL */
	double others;	      /* minimum share of the top values of other lanes; 1: none */
};

struct vt_spec_verdict {
	enum vt_spec_kind kind;
	double share; /* of the profiled executions with the value, or with a power of two */
	double low;   /* lower end of its 95 % confidence interval */
	uint64_t value;
	/*
	 * The cost of one execution in instructions: the latency of a division, multiplication or
	 * load, or of a mispredicted branch (Intel 64 and IA-32 optimization manual, appendix D,
	 * rounded), where each cycle counts as an instruction.
	 */
	double cost;
	bool whole; /* all of the procedure depends on it */
};

/* The lower limit of vt_spec_judge()'s `min`: values below this share are not invariant. */
#define VT_SPEC_MIN_SHARE 0.3

/*
 * Judges one value.  Returns true if it can be reported: the `low` of its share is at least `min`,
 * and a change of source code could use it, unlike saved registers, constants and jumps of a PLT.
 */
bool vt_spec_judge(const struct vt_spec_value *v, double min, struct vt_spec_verdict *out);

/* Returns the lower end of the 95 % confidence interval of a share of n trials (Wilson). */
double vt_share_low(double share, double n);

/*
 * Appends one line of advice: "shift instead of dividing: the divisor, argument 2 (rsi), is always
 * 8".  `value` is the value as text.
 */
void vt_spec_advice(const struct vt_spec_value *v, const struct vt_spec_verdict *verdict,
		    const char *value, struct vt_buf *out);

/* Appends only the fact: "argument 2 (rsi) is always 8". */
void vt_spec_fact(const struct vt_spec_value *v, const struct vt_spec_verdict *verdict,
		  const char *value, struct vt_buf *out);

/*
 * Returns the number of the argument that a register passes, from 1, or 0 for other registers
 * (System V ABI, 3.2.3).
 */
unsigned vt_argument_number(unsigned reg);

#endif
