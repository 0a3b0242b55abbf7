/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_WHERE_INTERNAL_H
#define VT_STREAM_WHERE_INTERNAL_H

#include "base/buf.h"
#include "stream/where.h"

/* ---- the tree of an expression: where_parse.c ---- */

enum vti_where_op {
	VTI_WHERE_NUMBER,
	VTI_WHERE_REAL,
	VTI_WHERE_STRING,
	VTI_WHERE_NAME,	 /* of a field, or a word of the unit of another field */
	VTI_WHERE_COUNT, /* of the elements of a field */
	VTI_WHERE_HAS,
	VTI_WHERE_IN,
	VTI_WHERE_NEG,
	VTI_WHERE_INVERT,
	VTI_WHERE_NOT,
	VTI_WHERE_MUL,
	VTI_WHERE_DIV,
	VTI_WHERE_MOD,
	VTI_WHERE_ADD,
	VTI_WHERE_SUB,
	VTI_WHERE_SHL,
	VTI_WHERE_SHR,
	VTI_WHERE_AND,
	VTI_WHERE_XOR,
	VTI_WHERE_OR,
	VTI_WHERE_EQ,
	VTI_WHERE_NE,
	VTI_WHERE_LT,
	VTI_WHERE_LE,
	VTI_WHERE_GT,
	VTI_WHERE_GE,
	VTI_WHERE_ALL,
	VTI_WHERE_ANY,
};

/* A term: an operator with one operand has it at the left. */
struct vti_where_node {
	enum vti_where_op op;
	uint32_t column; /* from 1 */
	uint16_t left, right;
	uint16_t place;	  /* enum vt_where_place */
	int field;	  /* -1: none */
	uint64_t number;  /* of a real, its bits */
	uint32_t text;	  /* offset of a name or string in the tree's texts */
	const char *unit; /* if words belong to it; NULL: none */
};

struct vti_where_tree {
	struct vti_where_node nodes[VT_WHERE_MAX_TERMS];
	uint32_t count;
	uint32_t root;
	struct vt_buf texts; /* each zero-terminated */
	bool pair;	     /* set before parsing: names may begin with `1.` or `2.` */
};

/* The tree is zero at first; vti_where_tree_fini() in any case.  -VT_E_USAGE, -VT_E_LIMIT, … */
int vti_where_parse(struct vti_where_tree *t, const char *text, struct vt_error *err);
void vti_where_tree_fini(struct vti_where_tree *t);

const char *vti_where_text(const struct vti_where_tree *t, const struct vti_where_node *n);

/* Sets an error with the column before its text; returns -code. */
int vti_where_error(struct vt_error *err, enum vt_errcode code, uint32_t column, const char *fmt,
		    ...) VT_PRINTF(4, 5);

/* ---- names: where_names.c ---- */

/* Finds fields, and puts numbers in the place of words.  As vti_where_parse(), and -VT_E_ABSENT. */
int vti_where_resolve(struct vti_where_tree *t, const struct vt_kind_desc *desc, uint32_t kind,
		      struct vt_error *err);

/* ---- the program: where_compile.c makes it, where.c runs it ---- */

/* Rows that are evaluated at a time. */
#define VTI_WHERE_ROWS 256

/* What is known of a value. */
enum vti_where_state {
	VTI_UNKNOWN,
	VTI_KNOWN,
	VTI_LEAST, /* it is this much or more */
	VTI_MOST,  /* this much or less */
	VTI_NSTATES
};

/* The orders of two sides: less, equal, more. */
#define VTI_ORDERS 3

/*
 * A column of values.  Integers are a sign and a magnitude, so that a difference of two unsigned
 * fields is exact.
 */
struct vti_where_register {
	uint64_t v[VTI_WHERE_ROWS];
	uint8_t state[VTI_WHERE_ROWS];
	uint8_t negative[VTI_WHERE_ROWS]; /* only of type VTI_TYPE_SIGNED; a zero is not */
};

enum vti_where_type { VTI_TYPE_UNSIGNED, VTI_TYPE_SIGNED, VTI_TYPE_REAL, VTI_TYPE_TEXT };

struct vti_where_insn;

/* Computes `count` rows of a register from others, or from rows of a block. */
typedef void vti_where_fn(struct vt_where_expr *w, const struct vti_where_insn *in,
			  const struct vt_block *block, uint32_t first, uint32_t count);

struct vti_where_insn {
	vti_where_fn *run;
	enum vti_where_op op;
	uint16_t out, a, b;
	bool a_signed, b_signed;
	unsigned field;
	unsigned sample;  /* the column with the first field of its sample */
	uint64_t pm_bit;  /* of a sample: the bit in pm_has and pm_least; 0: none */
	uint64_t has;	  /* of a sample: vt_sample_has_bits() */
	bool masked;	  /* of a comparison of `events`: only bits of `a` are compared with `b` */
	const char *text; /* of a comparison or a place */
	int other;	  /* the field that a text is compared with; -1: with `text` */
	enum vt_where_place place;
	/* Of a comparison, by the states and the order of its sides. */
	uint8_t truth[VTI_NSTATES][VTI_NSTATES][VTI_ORDERS];
};

struct vt_where_expr {
	struct vti_where_tree tree;
	struct vti_where_insn insns[2 * VT_WHERE_MAX_TERMS];
	uint32_t ninsns;
	struct vti_where_register *registers;
	uint16_t result;
	struct vt_where_names names;
};

/* What an instruction runs: by where it gets its value, or by its operator and type. */
vti_where_fn vti_where_load, vti_where_load_signed, vti_where_load_real, vti_where_load_events;
vti_where_fn vti_where_count, vti_where_has, vti_where_in, vti_where_event_name,
	vti_where_same_text;
vti_where_fn vti_where_events_and, vti_where_events_any, vti_where_load_events_any,
	vti_where_events_same;
vti_where_fn vti_where_truth_of, vti_where_truth_of_real;
vti_where_fn vti_where_to_real, vti_where_integers, vti_where_reals, vti_where_bits;
vti_where_fn vti_where_compare, vti_where_compare_signed, vti_where_compare_real;
vti_where_fn vti_where_logic;

#endif
