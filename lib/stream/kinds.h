/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_KINDS_H
#define VT_STREAM_KINDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * VT_EVENT, VT_IMAGE …: the known kinds, numbered from 0; foreign kinds follow from VT_NKINDS on.
 */
enum vt_kind {
#define KIND(kind, id) VT_##kind,
#define FIELD(kind, constant, name, type, unit)
#define END(kind)
#include "stream/kinds.def"
#undef KIND
#undef FIELD
#undef END
	VT_NKINDS
};

/* VT_SAMPLE_TIME …: a kind's fields in canonical order; VT_SAMPLE_NFIELDS is how many there are. */
#define KIND(kind, id)                                                                             \
	enum vt_##kind##_field                                                                     \
	{
#define FIELD(kind, constant, name, type, unit) VT_##kind##_##constant,
#define END(kind)                                                                                  \
	VT_##kind##_NFIELDS                                                                        \
	}                                                                                          \
	;
#include "stream/kinds.def"
#undef KIND
#undef FIELD
#undef END

/* How a field travels and how its value is to be understood. */
enum vt_type {
	VT_TYPE_U = 'U', /* unsigned 64-bit number */
	VT_TYPE_I = 'I', /* signed 64-bit number */
	VT_TYPE_F = 'F', /* IEEE 754 double, as its bits */
	VT_TYPE_S = 'S', /* text: bytes that are meant to be read, no terminating zero */
	VT_TYPE_B = 'B', /* bytes */
	VT_TYPE_A = 'A', /* array of unsigned 64-bit numbers */
};

/*
 * How an event's pc was chosen.  Errors differ by an order of magnitude between the policies, so
 * samples of different ones are not added up unless the user asks.
 */
enum vt_policy {
	VT_POLICY_UNKNOWN,
	VT_POLICY_INTERRUPT, /* where the interrupt happened to be taken: skid */
	VT_POLICY_PRECISE,   /* the instruction next to commit (PEBS, precise_ip) */
	VT_POLICY_DISPATCH,  /* an instruction tagged at dispatch (IBS, SPE) */
	VT_POLICY_MODEL,     /* chosen by a simulator */
	VT_POLICY_EXACT,     /* counted, not sampled: tracepoints, software events at their cause */
	VT_NPOLICIES
};

enum vt_image_type {
	VT_IMAGE_FILE,
	VT_IMAGE_KERNEL,
	VT_IMAGE_MODULE,
	VT_IMAGE_VDSO,
	VT_IMAGE_ANON, /* code without a file: a JIT's */
	VT_IMAGE_BPF,
	VT_NIMAGETYPES
};

enum vt_thread_op { VT_OP_COMM, VT_OP_EXEC, VT_OP_FORK, VT_OP_EXIT, VT_NOPS };

/* Names for the values above, as `vtrace dump` prints them; "?" for a value that has none. */
const char *vt_policy_name(uint64_t policy);
const char *vt_image_type_name(uint64_t type);
const char *vt_thread_op_name(uint64_t op);

#ifdef __cplusplus
}
#endif
#endif
