/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_SIMRUNS_H
#define TESTS_UNIT_COMMON_SIMRUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "simulate/simulate.h"
#include "tests/unit/common/streams.h"

/* Recordings that are run on a machine on which each instruction takes a cycle, and what comes of
 * it. */

#define PID	5
#define CODE	0x1000
#define PENALTY 7
#define EVENT	0x76740001u
#define ROWS	256

/* As a BLOCK's field has them. */
#define SLOT(insn, what, size) ((insn) | (uint64_t)(what) << 16 | (uint64_t)(size) << 32)
#define LOADS(insn)	       SLOT(insn, VT_WHAT_LOAD_ADDRESS, 8)
#define STORES(insn)	       SLOT(insn, VT_WHAT_STORE_ADDRESS, 8)

/* The blocks of put_code(). */
enum { LOAD, BRANCH, STORE, NBLOCKS };

struct block {
	uint64_t addr;
	uint64_t target;
	const uint8_t *code;
	uint8_t size;
	uint8_t ninsns;
	uint8_t lengths[4];
	uint8_t nslots;
	uint64_t slots[4];
	uint8_t end; /* enum vt_block_end */
};

void put_block(struct vt_writer *w, uint64_t id, const struct block *b, uint64_t pid,
	       bool has_code);

/* A process's image, whose offsets are 0xc00 below addresses, and its blocks from this id on. */
extern const struct block simruns_blocks[NBLOCKS];
void put_code(struct vt_writer *w, uint64_t pid, uint64_t first_id);

struct run {
	uint64_t pid;
	uint64_t tid;
	uint64_t skip;
	uint64_t insns;
	const char *ids; /* '0' and so on */
	uint64_t time;
	size_t values; /* of 8 bytes: addresses 0x100, 0x200 ... */
};

/* An EXEC record with these values, or with run->values of them. */
void put_data(struct vt_writer *w, const struct run *run, const uint8_t *data, size_t size);
void put_exec(struct vt_writer *w, const struct run *run);

void put_state(struct vt_writer *w, uint64_t tid, enum vt_state_reason reason);

struct sample {
	uint64_t event;
	uint64_t ip;
	uint64_t time;
	uint64_t pid;
	uint64_t tid;
	uint64_t period;
	uint64_t has;
	uint64_t misc;
	uint64_t nbranches;
	uint64_t from[4];
	uint64_t to[4];
	uint64_t flags[4];
	uint64_t addr;
	/* of an instruction that was followed */
	uint64_t pm_has;
	uint64_t events;
	uint64_t told;
	uint64_t total; /* cycles */
	uint64_t history;
	uint64_t history_n;
	uint64_t target;
	uint64_t pair;
	uint64_t distance;
	uint64_t cycles;
	double weight;
};

struct event {
	uint64_t id;
	uint64_t policy;
	uint64_t period;
	uint64_t branch_type;
	char name[16];
	char unit[16];
};

struct edge {
	uint64_t from;
	uint64_t to;
	double n;
};

struct out {
	struct vt_simulate_totals totals;
	struct sample samples[ROWS];
	unsigned nsamples;
	struct event events[2][VT_SIMULATE_EVENTS]; /* of both streams */
	unsigned kinds[VT_NKINDS];		    /* records of the first stream */
	unsigned true_kinds[VT_NKINDS];
	struct edge edges[ROWS];
	unsigned nedges;
	struct {
		uint64_t offset;
		double n;
		double cycles;
		uint64_t samples;
		uint64_t period;
	} freqs[ROWS];
	unsigned nfreqs;
	uint64_t freq_event;
	char meta[512]; /* key=value; of the first stream */
	char warning[256];
	char error[512];
	int finished; /* what feeding or finishing returned */
};

/* All instructions, of any class, take one cycle of one unit; no branch is predicted. */
struct vt_core plain_core(void);

typedef void put_fn(struct vt_writer *w);

/* Runs what `put` writes; with the truth, or without. */
void run_options(put_fn *put, struct vt_simulate_options *options, bool truth, struct out *o);

/* Each mispredicted branch, each cycle and each instruction is sampled: EVENT, + 1, + 2. */
void run_all(put_fn *put, bool truth, uint32_t stack, struct out *o);

/* Cycles alone, so that blocks are run as a whole. */
void run_cycles(put_fn *put, bool truth, struct out *o);

/* How often an edge was taken; samples of an event, at an address unless that is 0. */
double edge(const struct out *o, uint64_t from, uint64_t to);
unsigned count_samples(const struct out *o, uint64_t event, uint64_t ip);

#endif
