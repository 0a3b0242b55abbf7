/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_PROGRAM_H
#define VT_COPROCESSOR_PROGRAM_H

#include "base/buf.h"
#include "coprocessor/ucode.h"

/*
 * A program of the profiling co-processor: its words, and what the main processor loads into the
 * read-only registers with it (3.3).  Sizes of register files: table 1.
 */
#define VT_UCODE_CONSTANTS 4
#define VT_UCODE_INDEXES   8
#define VT_UCODE_BASES	   8
#define VT_UCODE_TARGETS   4
#define VT_UCODE_NAME	   16 /* bytes of a name, its final 0 included */
#define VT_UCODE_NO_START  0xff
#define VT_UCODE_SLOTS	   256 /* 5.3: the baseline, of 1 kB associative memory */
#define VT_UCODE_MAX_SLOTS 8192

/* What the main processor does when it is interrupted. */
enum vt_ucode_host {
	VT_HOST_COUNTS,	 /* adds the slots of the associative array up by their keys */
	VT_HOST_LOG,	 /* adds up equal rows of the first n elements of arrays */
	VT_HOST_SAMPLES, /* each of the n rows is a value of an instruction: simple sampling */
	VT_HOST_VALUES,	 /* the value profiler of section 5 and appendix A */
	VT_NHOSTS
};

extern const char *const vt_ucode_hosts[VT_NHOSTS];

/* A sub-array of the data array: aligned, with a power of two of elements (3.3). */
struct vt_ucode_base {
	char name[VT_UCODE_NAME];
	uint32_t start;	   /* bytes */
	uint16_t elements; /* a power of two */
	uint8_t bits;	   /* of an element: 8, 16, 32 or 64 */
	bool key;	   /* part of what rows are told apart by, not a count */
	bool keep;	   /* stays when the main processor clears the array */
};

struct vt_ucode_index_register {
	char name[VT_UCODE_NAME];
	uint8_t bits; /* 1 to 16 */
	bool keep;
	uint16_t start; /* its value at first */
};

struct vt_ucode_constant {
	char name[VT_UCODE_NAME];
	uint64_t value;
};

struct vt_ucode_target {
	char name[VT_UCODE_NAME];
	uint8_t word;
};

struct vt_ucode {
	uint64_t words[VT_UCODE_WORDS];
	struct vt_uword fields[VT_UCODE_WORDS]; /* the same, unpacked */
	unsigned nwords;
	uint8_t start[VT_NCLASSES]; /* the word to begin at, or VT_UCODE_NO_START */
	struct vt_ucode_constant constants[VT_UCODE_CONSTANTS];
	struct vt_ucode_index_register indexes[VT_UCODE_INDEXES];
	struct vt_ucode_base bases[VT_UCODE_BASES];
	struct vt_ucode_target targets[VT_UCODE_TARGETS];
	unsigned nconstants, nindexes, nbases, ntargets;
	enum vt_ucode_host host;
	char key[VT_UCODE_NAME]; /* what the entries of the associative array are */
	uint8_t cam_bits;	 /* of an entry: 32 or 64 */
	uint8_t random_bits;	 /* of `rand`, 1 to 16 */
	uint16_t slots;		 /* entries of the associative array that are used */
};

/* Bytes of the data array up to the last sub-array's end. */
uint32_t vt_ucode_data_bytes(const struct vt_ucode *u);

/* The sub-array or index register of a name, or NULL. */
const struct vt_ucode_base *vt_ucode_find_base(const struct vt_ucode *u, const char *name);
const struct vt_ucode_index_register *vt_ucode_find_index(const struct vt_ucode *u,
							  const char *name);

/* A bit 1 << enum vt_ucode_operand for each field of samples that the program reads. */
uint32_t vt_ucode_reads(const struct vt_ucode *u);

/*
 * Checks what words and registers must agree in: targets within the program, indexes that reach no
 * other array, registers that exist, one port of the constants.  Unpacks the words.  Returns 0 or
 * -VT_E_FORMAT; *word is then the word that is wrong, or UINT_MAX.
 */
int vt_ucode_check(struct vt_ucode *u, unsigned *word, struct vt_error *err);

/* The binary form (vt-ucode(5)). */
void vt_ucode_save(const struct vt_ucode *u, struct vt_buf *out);

/* Whether bytes begin as the binary form does. */
bool vt_ucode_is_binary(const void *data, size_t size);

/* Returns 0 or -VT_E_FORMAT: cut, damaged, or what no assembler makes. */
int vt_ucode_load(struct vt_ucode *u, const void *data, size_t size, struct vt_error *err);

#endif
