/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SPECIALISE_JUDGE_H
#define VT_SPECIALISE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "specialise/uses.h"
#include "value/hot_profile.h"

/* What a value that hardly changes is good for: value profiling 2.4 and 7; value sampling 3.1. */
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

/* "call", "divisor-power" …: for programs. */
const char *vt_spec_name(enum vt_spec_kind kind);

/* A value as the judge sees it. */
struct vt_spec_value {
	const struct vt_hot *hot; /* of lane 0 */
	struct vt_uses uses;
	enum vt_source source; /* of a load */
	bool pointer;	       /* the top value is an address */
	bool fixed;	       /* it lies where nothing changes it: the compiler knew it too */
	const char *variable;  /* what a load of VT_SOURCE_FIXED reads is called; NULL: nothing */
	double others;	       /* the least share of a top value in the further lanes; 1: none */
};

struct vt_spec_verdict {
	enum vt_spec_kind kind;
	double share; /* of the profiled executions that had the value, or a power of two */
	double low;   /* lower end of its 95 % confidence interval */
	uint64_t value;
	/*
	 * What of the program's instructions hangs on one execution: the latency of a division,
	 * multiplication or load, or of a mispredicted branch (Intel 64 and IA-32 optimization
	 * manual, appendix D, rounded), as if each cycle were an instruction.
	 */
	double cost;
	bool whole; /* all of the procedure hangs on it */
};

/* A value below this share is never called invariant, whatever the caller asks for. */
#define VT_SPEC_MIN_SHARE 0.3

/*
 * Judges one value.  True if it is worth telling: its share's `low` is at least `min`, and it is
 * not a value that no source code has a hold on (saved registers, constants, jumps of a PLT).
 */
bool vt_spec_judge(const struct vt_spec_value *v, double min, struct vt_spec_verdict *out);

/* The lower end of the 95 % confidence interval of a share that was seen in n trials (Wilson). */
double vt_share_low(double share, double n);

/*
 * Appends one line of advice: "shift instead of dividing: the divisor, argument 2 (rsi), is always
 * 8".  `value` is the value as text.
 */
void vt_spec_advice(const struct vt_spec_value *v, const struct vt_spec_verdict *verdict,
		    const char *value, struct vt_buf *out);

/* Appends only what is so: "argument 2 (rsi) is always 8". */
void vt_spec_fact(const struct vt_spec_value *v, const struct vt_spec_verdict *verdict,
		  const char *value, struct vt_buf *out);

/* The number of a register that passes an argument, from 1; 0 for others (System V ABI, 3.2.3). */
unsigned vt_argument_number(unsigned reg);

#endif
