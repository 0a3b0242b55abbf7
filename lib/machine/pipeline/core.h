/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_CORE_H
#define VT_MACHINE_PIPELINE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/insn/insn.h"
#include "stream/record.h"

/*
 * A processor core, as a small text file describes it (vt-core(5)): widths, queues, units,
 * caches, predictors; and what each instruction needs of it.
 */

/* What kind of work a micro-operation is. */
enum vt_op_class {
	VT_OP_NOP, /* takes a slot, and no unit */
	VT_OP_INT, /* add, logic, compare, move, lea */
	VT_OP_SHIFT,
	VT_OP_MULTIPLY,
	VT_OP_DIVIDE,
	VT_OP_LOAD,
	VT_OP_STORE,
	VT_OP_BRANCH, /* any transfer of control */
	VT_OP_FADD,   /* add, compare, convert: scalar or vector */
	VT_OP_FMUL,   /* multiply, and multiply-add */
	VT_OP_FDIV,   /* divide, square root */
	VT_OP_VINT,   /* integers in vectors */
	VT_OP_SHUFFLE,
	VT_OP_SYNC, /* fences and what waits for all before it */
	VT_OP_SLOW, /* microcode: system calls, cpuid, … */
	VT_NOPCLASSES
};

/* What a micro-operation needs. */
struct vt_uop {
	uint8_t op_class; /* enum vt_op_class */
	uint8_t operands; /* VT_UOP_…: what it waits for, what it makes */
	uint16_t latency; /* cycles from its issue until its result can be used; loads: a hit in L1
			   */
	uint16_t busy;	  /* cycles for which it occupies its unit; 1: pipelined */
	uint32_t units;	  /* bit n: unit n of the machine can do it; 0: it needs none */
};

/* Bits of vt_uop.operands. */
enum {
	VT_UOP_READS = 1,    /* the instruction's register operands */
	VT_UOP_ADDRESS = 2,  /* the registers of its address */
	VT_UOP_PREVIOUS = 4, /* the result of the micro-operation before, as of its load */
	VT_UOP_WRITES = 8,   /* makes the instruction's results */
};

#define VT_MOP_UOPS 4

/* base + index * scale + displacement; VT_REG_NONE where there is no register. */
struct vt_mop_sum {
	int32_t displacement;
	uint16_t size; /* bytes of what is accessed or computed; 0: unknown */
	uint8_t base;
	uint8_t index;
	uint8_t scale;
	uint8_t segment; /* VT_REG_FS or VT_REG_GS */
};

/* The value that a general register has after an instruction. */
enum vt_mop_result {
	VT_RESULT_OTHER, /* some function of all that the instruction reads */
	VT_RESULT_SUM,	 /* vt_mop.sum */
	VT_RESULT_LOAD,	 /* what it loads */
};

/* What an instruction needs of a machine. */
struct vt_mop {
	uint32_t flags;	 /* enum vt_fact */
	uint8_t length;	 /* bytes; 0: no instruction could be decoded */
	uint8_t nuops;	 /* at most VT_MOP_UOPS; those of longer microcode are one SLOW */
	uint8_t slots;	 /* micro-operations that it counts for, fused ones once; at least 1 */
	uint8_t decoded; /* in the decoders, which keep fused what is taken apart behind them */
	bool estimated;	 /* it is in no table, so that the timing of its class is used */
	uint64_t reads;	 /* registers by number (insn.h), but those of addresses only */
	uint64_t address_reads; /* registers that addresses are made of */
	uint64_t writes;
	uint64_t late; /* of `reads`, what is needed only `lateness` cycles after the issue */
	uint16_t lateness;
	uint32_t id;	   /* equal instructions have the same */
	int16_t moves;	   /* bytes by which a push, pop, call or return moves the stack pointer */
	uint8_t result;	   /* enum vt_mop_result, of `target` */
	uint8_t target;	   /* a general register, or VT_REG_NONE */
	uint8_t prefixes;  /* bytes before the opcode */
	bool ends_group;   /* nothing is decoded in its cycle behind it */
	bool changes_size; /* a prefix changes the length of its immediate number */
	struct vt_mop_sum load, store, sum;
	struct vt_uop uops[VT_MOP_UOPS];
};

/* The address of a load or store micro-operation. */
struct vt_ooo_place {
	uint64_t addr;
	uint32_t size; /* bytes; 0: unknown */
};

/* Returns whether an instruction has a micro-operation of these classes (bit n: class n). */
static inline bool vt_mop_has(const struct vt_mop *op, uint32_t classes)
{
	unsigned i;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		if (classes >> op->uops[i].op_class & 1)
			return true;
	return false;
}

/* A memory access of an instruction, in the order in which the recorder saw them. */
struct vt_sim_access {
	uint64_t addr;
	uint32_t size; /* bytes */
	bool store;
};

/* An executed instruction. */
struct vt_sim_insn {
	const struct vt_mop *op;
	uint64_t tag;	 /* the caller's id: the same for each execution */
	uint64_t addr;	 /* of its first byte */
	uint64_t next;	 /* the address of the thread's next instruction; 0: unknown */
	uint64_t target; /* of a direct branch, jump or call; else 0 */
	uint32_t naccesses;
	const struct vt_sim_access *accesses;
};

enum vt_order { VT_IN_ORDER, VT_OUT_OF_ORDER };

/* The instruction that a sample is attributed to. */
enum vt_attribution {
	VT_ATTRIBUTE_ISSUE,  /* the oldest that has not been issued: DCPI 4.1.2 */
	VT_ATTRIBUTE_COMMIT, /* the oldest that has not been retired */
};

enum vt_predictor { VT_PREDICT_NONE, VT_PREDICT_BIMODAL, VT_PREDICT_GSHARE, VT_PREDICT_TOURNAMENT };

struct vt_cache_shape {
	uint32_t size; /* bytes; 0: there is none */
	uint32_t line; /* bytes, a power of 2 */
	uint32_t ways;
	uint32_t latency; /* cycles from the access until its data can be used, if it hits */
	uint32_t misses;  /* that can be under way at a time; 0: any number */
};

struct vt_tlb_shape {
	uint32_t entries; /* 0: there is none */
	uint32_t ways;
	uint32_t page;	  /* bytes, a power of 2 */
	uint32_t latency; /* cycles that a miss takes more */
};

struct vt_unit {
	char name[12];
	uint32_t classes; /* bit n: enum vt_op_class n */
};

#define VT_CORE_UNITS 32
#define VT_CORE_NAME  32

/* Bits of vt_core.eliminates: what renaming does. */
enum {
	VT_ELIMINATE_INT = 1,	 /* copies between general registers of 4 bytes or more */
	VT_ELIMINATE_VECTOR = 2, /* and between vector registers */
	VT_ELIMINATE_ADD = 4,	 /* sums of a general register of 8 bytes and a small number */
	VT_ELIMINATE_LOAD = 8,	 /* the forwarding of a store to a load */
};

/* Bits of vt_core.fuses: what stands as one in the reorder buffer with its load and its store. */
enum {
	VT_FUSE_INT = 1,   /* arithmetic and logic of integers in memory */
	VT_FUSE_SHIFT = 2, /* and shifts and rotations */
};

/* What with an index in its address is taken apart behind the decoders. */
enum vt_indexed {
	VT_INDEXED_FUSED,
	VT_INDEXED_NEW, /* a load whose operation does not read the register that it writes */
	VT_INDEXED_ALL, /* each load with an operation, and each store */
};

#define VT_CORE_MERGES 128

struct vt_opcache;

struct vt_core {
	char name[VT_CORE_NAME];
	char timing[VT_CORE_NAME]; /* the table of timings (timing.h); "": by class alone */
	enum vt_order order;
	enum vt_attribution attribution;
	uint32_t skid;	 /* cycles between a counter's overflow and the sample */
	uint32_t fetch;	 /* instructions a cycle, each */
	uint32_t decode; /* out of order by vt_mop.slots, as `retire` */
	/* Of code that no micro-op cache holds; 0: there is no limit. */
	uint32_t fetch_bytes; /* a cycle, of an aligned block */
	uint32_t predecode;   /* instructions whose length is found in a cycle */
	uint32_t fetch_queue; /* instructions between that and the decoders */
	uint32_t decoders;    /* instructions a cycle; the first alone takes several slots */
	uint32_t decoded;     /* slots a cycle */
	uint32_t pop_first;   /* 1: only the first decoder takes "pop r12" and "pop rsp" */
	uint32_t prefix;      /* cycles that a prefix takes which changes the length */
	uint32_t issue;	      /* micro-operations a cycle, to the units */
	uint32_t retire;      /* instructions a cycle */
	uint32_t front;	      /* stages from fetch to issue */
	uint32_t rob;	      /* micro-operations; of out-of-order machines, as the next five */
	uint32_t queue;	      /* waiting to be issued */
	uint32_t loads;
	uint32_t stores;
	uint32_t written; /* stores of a line that are written in a cycle; 0: one, as of others */
	uint32_t int_registers; /* for renaming */
	uint32_t fp_registers;
	uint32_t write_buffer; /* lines; 0: stores never wait */
	uint32_t drain;	       /* cycles that the write buffer takes to write a line out */
	uint8_t eliminates;    /* VT_ELIMINATE_… */
	uint8_t fuses;	       /* VT_FUSE_… */
	enum vt_indexed indexed;
	char merges[VT_CORE_MERGES]; /* mnemonics that wait for the register they write */
	uint32_t banks;	     /* bytes: loads of one cycle in different blocks of so many conflict if
				their place in them is the same; 0: they never do */
	uint32_t pointer;    /* latency of a load by a pointer that was loaded; 0: as of others */
	uint32_t stack_sync; /* cycles to add up what pushes and pops moved; 0: they move it */
	uint32_t high_byte;  /* cycles that reading or writing bits 8 to 15 takes more, each */
	uint32_t scaled_index; /* cycles that LEA takes more if its index is multiplied */
	uint32_t forward;      /* cycles from a store to a load of the same bytes */
	uint32_t blocked;      /* and if the store does not hold all of them */
	enum vt_predictor predictor;
	uint32_t predictor_bits; /* log2 of its counters */
	uint32_t history;	 /* branches that the index is made of */
	uint32_t btb;		 /* targets of indirect jumps */
	uint32_t returns;	 /* return address stack */
	uint32_t mispredict;	 /* cycles from a branch's resolution to the first issue after it */
	uint32_t nunits;
	struct vt_unit units[VT_CORE_UNITS];
	struct {
		uint16_t latency;
		uint16_t busy;
	} classes[VT_NOPCLASSES];
	struct vt_cache_shape icache;
	struct vt_cache_shape dcache;
	struct vt_cache_shape l2;
	struct vt_cache_shape l3;
	uint32_t memory; /* latency in cycles */
	struct vt_tlb_shape itlb;
	struct vt_tlb_shape dtlb;
	struct vt_tlb_shape stlb;     /* behind both */
	const struct vti_text *table; /* borrowed, static; NULL: none */
	struct vt_opcache *cache;     /* borrowed; NULL: none */
	struct vt_ooopool *pool;      /* likewise: machines out of order (ooo.h) */
};

/*
 * The machine of this name, one that vtrace brings along, or of this file's description if the name
 * has a '/'.  0; -VT_E_NOTFOUND, the text naming those there are; -VT_E_FORMAT with the line;
 * -VT_E_READ.
 */
int vt_core_load(struct vt_core *m, const char *name, struct vt_error *err);

/* Returns the name of the i-th machine that is part of vtrace; NULL after the last. */
const char *vt_core_name(size_t i);

/*
 * Returns the name of the machine for a stream's CPU, from META records: `model` is the machine of
 * vsim(1), `cpuid` is perf's "GenuineIntel,6,85,7", `description` is the brand text; each may be
 * NULL.  Returns NULL if no machine matches.
 */
const char *vt_core_for_cpu(const char *model, const char *cpuid, const char *description);

/*
 * The processor of a stream, from META records: the arguments of vt_core_for_cpu(), and the core
 * that vfreq(1) used, by name or path.  Unknown ones are NULL.  Initialize it with zeros.
 */
struct vt_cpu {
	char *model;
	char *id;
	char *description;
	char *arch;
	char *chosen;
};

/* Reads a record of any kind; later values replace earlier ones.  Returns 0 or -VT_E_NOMEM. */
int vt_cpu_feed(struct vt_cpu *cpu, const struct vt_record *rec, struct vt_error *err);
void vt_cpu_fini(struct vt_cpu *cpu);

/*
 * Sets *op to the needs of the instruction at the start of `code`.  Returns false if there is no
 * instruction; then *op takes one slot and has length 0.
 */
bool vt_core_op(const struct vt_core *m, const uint8_t *code, size_t size, struct vt_mop *op);

/*
 * A cache of results of vt_core_op(), by the bytes of instructions, because programs consist of a
 * few thousand different ones.  It is for vt_core.cache of one machine, and only for calls in which
 * `size` is the instruction's.  Owned by the caller; returns NULL when memory runs out.
 */
struct vt_opcache *vt_opcache_new(void);
void vt_opcache_free(struct vt_opcache *c);

/* Returns the name of a class as in core descriptions: "load", "fadd" …. */
const char *vt_op_class_name(unsigned op_class);

#endif
