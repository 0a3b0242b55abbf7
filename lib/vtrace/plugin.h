/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VTRACE_PLUGIN_H
#define VTRACE_PLUGIN_H

/*
 * Customisation modules for vinterp(1) (value sampling 2.4): what to capture of instructions that
 * are interpreted, how to turn it into the values that
 * are profiled, and how to write these.  A module is a shared object that defines
 *
 *	const struct vtrace_plugin vtrace_plugin = {
 *		.abi = VTRACE_PLUGIN_ABI,
 *		.size = sizeof(struct vtrace_plugin),
 *		...
 *	};
 *
 * See vtrace-plugin(5).  All in this file is stable: within one VTRACE_PLUGIN_ABI, numbers keep
 * their meaning, new ones may come, struct vtrace_plugin and struct vtrace_run may grow at their
 * ends, and all other structs stay as they are.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VTRACE_PLUGIN_ABI 1u

/* What an instruction is: bits. */
#define VTRACE_LOAD	   (1u << 0) /* reads memory, the stack included */
#define VTRACE_STORE	   (1u << 1) /* writes it */
#define VTRACE_BRANCH	   (1u << 2) /* any transfer of control but system calls */
#define VTRACE_CONDITIONAL (1u << 3)
#define VTRACE_JUMP	   (1u << 4)
#define VTRACE_CALL	   (1u << 5)
#define VTRACE_RETURN	   (1u << 6)
#define VTRACE_INDIRECT	   (1u << 7) /* a jump or call through a register or memory */
#define VTRACE_SYSCALL	   (1u << 8)
#define VTRACE_DIVIDE	   (1u << 9)
#define VTRACE_MULTIPLY	   (1u << 10)
#define VTRACE_STRING	   (1u << 11) /* movs, stos, cmps, scas, lods */
#define VTRACE_FLOAT	   (1u << 12) /* works on floating-point numbers */
#define VTRACE_VECTOR	   (1u << 13) /* works on vector registers */
#define VTRACE_ATOMIC	   (1u << 14)
#define VTRACE_PUSH	   (1u << 15)
#define VTRACE_POP	   (1u << 16)
#define VTRACE_MOVE	   (1u << 17) /* copies a value and does nothing else */
#define VTRACE_COMPARE	   (1u << 18) /* writes nothing but flags */
#define VTRACE_ANY	   (1u << 31) /* all instructions have this bit */

/* What can be captured of an instruction. */
enum vtrace_what {
	VTRACE_INSN,	 /* itself: its first 8 bytes, lowest first; `size` is its length */
	VTRACE_OPERAND,	 /* what a register that it reads holds */
	VTRACE_RESULT,	 /* what a register that it writes holds afterwards */
	VTRACE_REGISTER, /* what the register that the rule names holds before it */
	VTRACE_LOAD_ADDRESS,
	VTRACE_STORE_ADDRESS,
	VTRACE_LOAD_VALUE,
	VTRACE_STORE_VALUE,
	VTRACE_LATENCY,	       /* of the sampled instruction, in cycles, where it was measured */
	VTRACE_TARGET,	       /* where a branch went */
	VTRACE_ARGUMENT,       /* what a register that passes an argument holds at a call */
	VTRACE_RETURN_ADDRESS, /* of the procedure that the run began in, at its first instruction
				*/
	VTRACE_NWHATS
};

#define VTRACE_BIT(what) (1u << (what))

/* Registers; vector register n (xmm, ymm, zmm) is VTRACE_REG_VECTOR + n. */
enum vtrace_register {
	VTRACE_REG_AX,
	VTRACE_REG_BX,
	VTRACE_REG_CX,
	VTRACE_REG_DX,
	VTRACE_REG_SI,
	VTRACE_REG_DI,
	VTRACE_REG_BP,
	VTRACE_REG_SP,
	VTRACE_REG_R8 = 16, /* to r15, 23 */
	VTRACE_REG_R9,
	VTRACE_REG_R10,
	VTRACE_REG_R11,
	VTRACE_REG_R12,
	VTRACE_REG_R13,
	VTRACE_REG_R14,
	VTRACE_REG_R15,
	VTRACE_REG_VECTOR = 32 /* to 63 */
};

/* Of an instruction with any of `classes` and none of `except`, `what` is captured. */
struct vtrace_rule {
	uint32_t classes;
	uint32_t except;
	uint32_t what; /* VTRACE_BIT(enum vtrace_what) … */
	uint32_t reg;  /* of VTRACE_REGISTER: general ones only */
};

/* What sort of number a value is, and how it is printed. */
enum vtrace_format {
	VTRACE_HEX,
	VTRACE_UNSIGNED,
	VTRACE_SIGNED,
	VTRACE_IEEE, /* floating-point, of 4 or 8 bytes as the value's size says */
	VTRACE_ADDRESS
};

/* One captured value.  A value of more than 8 bytes is several tuples, by lane. */
struct vtrace_tuple {
	uint64_t pc;
	uint64_t value;	  /* 0 when not known */
	uint32_t insn;	  /* number of the instruction in its run, from 0 */
	uint32_t classes; /* of the instruction */
	uint16_t what;	  /* enum vtrace_what */
	uint16_t reg;	  /* of an operand, result, register or argument; else 0 */
	uint16_t size;	  /* bytes of the whole value */
	uint8_t lane;	  /* bytes 8 * lane and up are in `value` */
	uint8_t known;	  /* 1: the value is certain; 0: nobody knows it */
	uint8_t format;	  /* enum vtrace_format: what the instruction takes it for */
	uint8_t element;  /* bytes of each number in it: less than `size` when it is packed */
	uint8_t zero[6];
};

/* A run of instructions that were interpreted one after the other. */
struct vtrace_run {
	const struct vtrace_tuple *tuples; /* in the order in which things happened */
	size_t ntuples;
	uint32_t insns;
	uint32_t begins; /* 0: it goes on where the thread's last run ended */
	int64_t pid;
	int64_t tid;
	uint64_t time;	 /* ns */
	uint64_t weight; /* how many samples, or executions, it stands for */
};

/* A kind of value that the module makes: each has hot lists of its own. */
struct vtrace_kind {
	const char *name; /* as listings call it: 1 to VTRACE_MAX_NAME printable ASCII characters */
	enum vtrace_format format; /* of values that the module's `format` does not write */
};

#define VTRACE_MAX_NAME	 31
#define VTRACE_MAX_KINDS 64
#define VTRACE_MAX_RULES 64
#define VTRACE_MAX_TEXT	 63 /* bytes of what `format` writes, without the final zero */
#define VTRACE_MAX_EMIT	 64 /* values for each instruction of a run */

/* A (pc, value) pair. */
struct vtrace_value {
	uint64_t pc; /* of an instruction of the run */
	uint64_t value;
	uint32_t kind; /* index into the module's kinds */
	uint32_t size; /* bytes, 1 to 8; what lies above them in `value` must be 0 */
};

/*
 * Gives one value to the profile.  0, or -1: it was refused, and `process` should return.  `host`
 * is what `process` got.
 */
typedef int vtrace_emit(void *host, const struct vtrace_value *value);

/*
 * The module.  Its functions are called by one thread.  `state` is what `create` returned.
 * Functions marked optional may be NULL.
 */
struct vtrace_plugin {
	uint32_t abi;  /* VTRACE_PLUGIN_ABI */
	uint32_t size; /* sizeof(struct vtrace_plugin) */
	const char *name;
	const char *description; /* one line of at most 200 bytes */
	const struct vtrace_kind *kinds;
	uint32_t nkinds;
	uint32_t nrules;
	const struct vtrace_rule *rules; /* what all fitting rules name is captured */

	/*
	 * Optional.  Begins: `options` is the text behind the module's name on the command line, ""
	 * without one.  NULL is failure, with the reason in `error`, a zero-terminated text of at
	 * most `size` bytes.  A module without this takes no options, and its state is NULL.
	 */
	void *(*create)(const char *options, char *error, size_t size);
	/* Optional.  Ends. */
	void (*destroy)(void *state);
	/* Turns a run's tuples into values.  0, or a negative number to give up. */
	int (*process)(void *state, const struct vtrace_run *run, vtrace_emit *emit, void *host);
	/* Optional.  The stream has ended: all runs were processed. */
	int (*finish)(void *state);
	/*
	 * Optional, after `finish`: what a value that was emitted is to be in the profile, now that
	 * all of them were seen.  The result must fit the value's size.
	 */
	uint64_t (*settle)(void *state, uint32_t kind, uint64_t value);
	/*
	 * Optional, after `finish`: writes what listings show for a value, zero-terminated UTF-8
	 * without control characters, into `buf` of `size` bytes (VTRACE_MAX_TEXT + 1).  Returns
	 * its length; 0 leaves it to the kind's format.
	 */
	size_t (*format)(void *state, uint32_t kind, uint64_t value, char *buf, size_t size);
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const struct vtrace_plugin vtrace_plugin;

#ifdef __cplusplus
}
#endif
#endif
