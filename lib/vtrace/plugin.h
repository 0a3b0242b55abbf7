/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VTRACE_PLUGIN_H
#define VTRACE_PLUGIN_H

/*
 * Plugins of vinterp(1), the customisation modules of value sampling 2.4.  A plugin selects what to
 * capture of interpreted instructions, computes the values to profile from that, and formats them.
 * It is a shared object that defines
 *
 *	const struct vtrace_plugin vtrace_plugin = {
 *		.abi = VTRACE_PLUGIN_ABI,
 *		.size = sizeof(struct vtrace_plugin),
 *		...
 *	};
 *
 * See vtrace-plugin(5).  This interface is stable.  Within one VTRACE_PLUGIN_ABI, numbers keep
 *their meaning and new ones may be added, struct vtrace_plugin and struct vtrace_run may grow at
 *the end, and all other structs remain unchanged.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VTRACE_PLUGIN_ABI 1u

/* Classes of instructions, as bits. */
#define VTRACE_LOAD	   (1u << 0) /* reads memory, the stack included */
#define VTRACE_STORE	   (1u << 1) /* writes memory */
#define VTRACE_BRANCH	   (1u << 2) /* any transfer of control except system calls */
#define VTRACE_CONDITIONAL (1u << 3)
#define VTRACE_JUMP	   (1u << 4)
#define VTRACE_CALL	   (1u << 5)
#define VTRACE_RETURN	   (1u << 6)
#define VTRACE_INDIRECT	   (1u << 7) /* a jump or call through a register or memory */
#define VTRACE_SYSCALL	   (1u << 8)
#define VTRACE_DIVIDE	   (1u << 9)
#define VTRACE_MULTIPLY	   (1u << 10)
#define VTRACE_STRING	   (1u << 11) /* movs, stos, cmps, scas, lods */
#define VTRACE_FLOAT	   (1u << 12) /* operates on floating-point numbers */
#define VTRACE_VECTOR	   (1u << 13) /* operates on vector registers */
#define VTRACE_ATOMIC	   (1u << 14)
#define VTRACE_PUSH	   (1u << 15)
#define VTRACE_POP	   (1u << 16)
#define VTRACE_MOVE	   (1u << 17) /* only copies a value */
#define VTRACE_COMPARE	   (1u << 18) /* writes only flags */
#define VTRACE_ANY	   (1u << 31) /* all instructions have this bit */

/* What can be captured of an instruction. */
enum vtrace_what {
	VTRACE_INSN,	 /* its first 8 bytes, lowest first; `size` is its length */
	VTRACE_OPERAND,	 /* a register that it reads */
	VTRACE_RESULT,	 /* a register that it writes, afterwards */
	VTRACE_REGISTER, /* the register that the rule names, before it */
	VTRACE_LOAD_ADDRESS,
	VTRACE_STORE_ADDRESS,
	VTRACE_LOAD_VALUE,
	VTRACE_STORE_VALUE,
	VTRACE_LATENCY,	       /* of the sampled instruction, in cycles, if measured */
	VTRACE_TARGET,	       /* the target of a branch */
	VTRACE_ARGUMENT,       /* a register that passes an argument, at a call */
	VTRACE_RETURN_ADDRESS, /* of the run's first procedure, at its first instruction */
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

/* Captures `what` of instructions with any of `classes` and none of `except`. */
struct vtrace_rule {
	uint32_t classes;
	uint32_t except;
	uint32_t what; /* VTRACE_BIT(enum vtrace_what) … */
	uint32_t reg;  /* for VTRACE_REGISTER: a general register */
};

/* The type of a value, which determines how it is printed. */
enum vtrace_format {
	VTRACE_HEX,
	VTRACE_UNSIGNED,
	VTRACE_SIGNED,
	VTRACE_IEEE, /* floating-point, of 4 or 8 bytes by the value's size */
	VTRACE_ADDRESS
};

/* A captured value.  A value of more than 8 bytes is several tuples, one per lane. */
struct vtrace_tuple {
	uint64_t pc;
	uint64_t value;	  /* 0 if unknown */
	uint32_t insn;	  /* number of the instruction in its run, from 0 */
	uint32_t classes; /* of the instruction */
	uint16_t what;	  /* enum vtrace_what */
	uint16_t reg;	  /* for an operand, result, register or argument; else 0 */
	uint16_t size;	  /* bytes of the whole value */
	uint8_t lane;	  /* `value` has the bytes from 8 * lane on */
	uint8_t known;	  /* 1: the value is known; 0: it is unknown */
	uint8_t format;	  /* enum vtrace_format, the type for this instruction */
	uint8_t element;  /* bytes of each number in it; less than `size` if packed */
	uint8_t zero[6];
};

/* A run of consecutively interpreted instructions. */
struct vtrace_run {
	const struct vtrace_tuple *tuples; /* in the order of the captures */
	size_t ntuples;
	uint32_t insns;
	uint32_t begins; /* 0: it continues where the thread's last run ended */
	int64_t pid;
	int64_t tid;
	uint64_t time;	 /* ns */
	uint64_t weight; /* number of samples, or executions, that it represents */
};

/* A kind of value that the plugin makes.  Each kind has its own hot lists. */
struct vtrace_kind {
	const char *name; /* in listings: 1 to VTRACE_MAX_NAME printable ASCII characters */
	enum vtrace_format format; /* of values that the plugin's `format` does not write */
};

#define VTRACE_MAX_NAME	 31
#define VTRACE_MAX_KINDS 64
#define VTRACE_MAX_RULES 64
#define VTRACE_MAX_TEXT	 63 /* bytes of a text of `format`, without the final zero */
#define VTRACE_MAX_EMIT	 64 /* values per instruction of a run */

/* A value to profile, at an instruction. */
struct vtrace_value {
	uint64_t pc; /* of an instruction of the run */
	uint64_t value;
	uint32_t kind; /* index into the plugin's kinds */
	uint32_t size; /* bytes, 1 to 8; higher bits of `value` must be 0 */
};

/*
 * Adds a value to the profile; `host` is the argument of `process`.  Returns 0, or -1 if the value
 * is rejected: then `process` should return.
 */
typedef int vtrace_emit(void *host, const struct vtrace_value *value);

/*
 * A plugin.  One thread calls its functions.  `state` is the result of `create`.  Functions marked
 * optional may be NULL.
 */
struct vtrace_plugin {
	uint32_t abi;  /* VTRACE_PLUGIN_ABI */
	uint32_t size; /* sizeof(struct vtrace_plugin) */
	const char *name;
	const char *description; /* one line of at most 200 bytes */
	const struct vtrace_kind *kinds;
	uint32_t nkinds;
	uint32_t nrules;
	const struct vtrace_rule *rules; /* all rules that match an instruction apply */

	/*
	 * Optional.  Creates the state.  `options` is the text after the plugin's name on the
	 * command line, or "".  On failure, returns NULL with the reason in `error`,
	 * zero-terminated in at most `size` bytes.  A plugin without this function accepts no
	 * options, and its state is NULL.
	 */
	void *(*create)(const char *options, char *error, size_t size);
	/* Optional.  Frees the state. */
	void (*destroy)(void *state);
	/* Computes values from the tuples of a run.  Returns 0, or a negative number to abort. */
	int (*process)(void *state, const struct vtrace_run *run, vtrace_emit *emit, void *host);
	/* Optional.  Called at the end of the stream, after all runs.  Returns as `process`. */
	int (*finish)(void *state);
	/*
	 * Optional, called after `finish`.  Returns the final value in the profile for a value that
	 * was emitted, when all are known.  The result must fit the value's size.
	 */
	uint64_t (*settle)(void *state, uint32_t kind, uint64_t value);
	/*
	 * Optional, called after `finish`.  Writes a value's text for listings, zero-terminated
	 * UTF-8 without control characters, into `buf` of `size` bytes (VTRACE_MAX_TEXT + 1).
	 * Returns its length; 0 selects the kind's format.
	 */
	size_t (*format)(void *state, uint32_t kind, uint64_t value, char *buf, size_t size);
	/*
	 * Optional; not in plugins whose `size` does not reach it.  Called for each fact that the
	 * stream tells of its recording (META), between runs.  Keys and values of more than 255
	 * bytes, or with a zero, are left out.
	 */
	void (*fact)(void *state, const char *key, const char *value);
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const struct vtrace_plugin vtrace_plugin;

#ifdef __cplusplus
}
#endif
#endif
