/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_MACHINE_H
#define VT_COPROCESSOR_MACHINE_H

#include "coprocessor/program.h"

/*
 * The co-processor's data path and control (3.3, 3.4): it executes one word a cycle in a pipeline
 * of two stages, so that a mispredicted branch costs one cycle.  Each word has a 2-bit predictor.
 */
struct vt_coproc;

#define VT_COPROC_CAM_BYTES  1024 /* table 1 */
#define VT_COPROC_DATA_BYTES 2048
#define VT_COPROC_PENALTY    1 /* cycles of a misprediction: the pipeline has two stages */

/* An operation that the main processor retired, as the sample buffer brings it. */
struct vt_sample {
	uint64_t pc;
	uint64_t value;
	uint64_t addr;
	uint64_t target; /* of a branch: where control went */
	uint64_t next;	 /* the address behind the instruction */
	uint64_t code;
	uint32_t tid;
	uint8_t class; /* enum vt_ucode_class */
	uint8_t size;
	uint8_t taken;
	uint8_t missed;
};

struct vt_coproc_stats {
	uint64_t samples;  /* processed */
	uint64_t words;	   /* executed */
	uint64_t branches; /* conditional ones executed */
	uint64_t mispredicted;
	uint64_t cycles;
};

enum vt_coproc_end {
	VT_COPROC_DONE,
	VT_COPROC_INTERRUPT,
	VT_COPROC_STUCK, /* after max_words words */
};

/* Called with each word after its execution: the machine has the state behind it. */
typedef void vt_coproc_trace_fn(void *arg, const struct vt_coproc *m, unsigned word);

/*
 * `u` is borrowed and was checked.  Returns NULL with -VT_E_USAGE if the program does not fit the
 * arrays, which are powers of two of bytes, or -VT_E_NOMEM.
 */
struct vt_coproc *vt_coproc_new(const struct vt_ucode *u, uint32_t cam_bytes, uint32_t data_bytes,
				struct vt_error *err);
void vt_coproc_free(struct vt_coproc *m);

/* Has the next executions traced; NULL ends it. */
void vt_coproc_trace(struct vt_coproc *m, vt_coproc_trace_fn *fn, void *arg);

/* Executes the routine of a sample, whose class the program profiles.  *cycles gets its time. */
enum vt_coproc_end vt_coproc_run(struct vt_coproc *m, const struct vt_sample *s, uint64_t max_words,
				 uint64_t *cycles);

const struct vt_coproc_stats *vt_coproc_stats(const struct vt_coproc *m);

/*
 * Appends the state as one line: the word executed last, the value registers, the latches and the
 * index registers.
 */
void vt_coproc_describe(const struct vt_coproc *m, struct vt_buf *out);

/* ---- the host access bus (3.5): what the main processor reads and writes ---- */

/* An element of an array, i below its elements. */
uint64_t vt_coproc_data(const struct vt_coproc *m, const struct vt_ucode_base *b, uint32_t i);

/* Whether an entry of the associative array is valid, and its key. */
bool vt_coproc_entry(const struct vt_coproc *m, uint32_t i, uint64_t *key);

uint16_t vt_coproc_index(const struct vt_coproc *m, unsigned i);
void vt_coproc_set_index(struct vt_coproc *m, unsigned i, uint16_t v);

/* What an operand reads: of a sample, a register or a latch. */
uint64_t vt_coproc_operand(const struct vt_coproc *m, enum vt_ucode_operand op);

/*
 * The special operations (3.5): invalidate the associative array; clear the data array but arrays
 * that are kept; and set the index registers but those that are kept to their first values.
 */
void vt_coproc_invalidate(struct vt_coproc *m);
void vt_coproc_clear(struct vt_coproc *m);
void vt_coproc_restart(struct vt_coproc *m);

#endif
