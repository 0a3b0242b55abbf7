/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_SPE_PACKET_H
#define FORMATS_SPE_PACKET_H

#include <stddef.h>
#include <stdint.h>

/*
 * Packets of the Arm Statistical Profiling Extension, and the records that they make up.  Source:
 * Arm Architecture Reference Manual for A-profile (DDI 0487), "Statistical Profiling Extension
 * Sample Record Specification".
 */

enum vt_spe_kind {
	VT_SPE_PAD, /* padding or an alignment */
	VT_SPE_END,
	VT_SPE_TIMESTAMP,
	VT_SPE_EVENTS,
	VT_SPE_SOURCE,
	VT_SPE_CONTEXT,
	VT_SPE_OP,
	VT_SPE_ADDRESS,
	VT_SPE_COUNTER,
	VT_SPE_NKINDS
};

struct vt_spe_packet {
	enum vt_spe_kind kind;
	unsigned index; /* of an address, a counter or a context; the class of an operation */
	unsigned bytes; /* of the payload; 0: there is none */
	uint64_t payload;
};

/* What prevents a packet or a record from being read. */
#define VT_SPE_CUT     (-1) /* it goes on after the end */
#define VT_SPE_UNKNOWN (-2) /* a header that is not known */
#define VT_SPE_ENDLESS (-3) /* another record begins, or it is too long */

/*
 * Reads the packet at `p`, which is before `end`.  `offset` is that of `p` in the AUX area, for
 * alignments.  Returns its size, VT_SPE_CUT or VT_SPE_UNKNOWN; *packet is undefined then.
 */
int vt_spe_packet_read(struct vt_spe_packet *packet, const uint8_t *p, const uint8_t *end,
		       uint64_t offset);

/* Bits of vt_spe_record.has. */
#define VT_SPE_HAS_ADDR(index)	  (1u << (index))	/* index < VT_SPE_NADDRS */
#define VT_SPE_HAS_COUNTER(index) (1u << (8 + (index))) /* index < VT_SPE_NCOUNTERS */
#define VT_SPE_HAS_TIME		  (1u << 16)
#define VT_SPE_HAS_EVENTS	  (1u << 17)
#define VT_SPE_HAS_SOURCE	  (1u << 18)
#define VT_SPE_HAS_CONTEXT	  (1u << 19)
#define VT_SPE_HAS_OP		  (1u << 20)

enum vt_spe_addr {
	VT_SPE_PC,
	VT_SPE_TARGET,
	VT_SPE_DATA,	/* virtual */
	VT_SPE_PHYS,	/* of the data */
	VT_SPE_PREVIOUS /* target of the branch before */
};

enum vt_spe_counter {
	VT_SPE_TOTAL, /* from dispatch to completion */
	VT_SPE_ISSUE, /* from dispatch to issue */
	VT_SPE_XLAT   /* of the translation of the data's address */
};

enum vt_spe_class {
	VT_SPE_OTHER,
	VT_SPE_MEMORY, /* loads, stores, atomics */
	VT_SPE_BRANCH
};

#define VT_SPE_NADDRS	 5
#define VT_SPE_NCOUNTERS 3

/* A record: the payloads of its packets as they are. */
struct vt_spe_record {
	uint32_t has;
	unsigned op_class;
	unsigned event_bits; /* the width of `events` */
	uint64_t op;
	uint64_t events;
	uint64_t source;
	uint64_t context; /* of the last context packet */
	uint64_t time;
	uint64_t addrs[VT_SPE_NADDRS];
	uint64_t counters[VT_SPE_NCOUNTERS];
};

/* The most bytes of a record, from its first packet: PMSIDR_EL1.MaxSize. */
#define VT_SPE_MAX_RECORD 2048

/*
 * Reads the record at `p` and the padding before it.  Returns the number of bytes; 0: there is only
 * padding up to the end; or a negative number as above.  Packets of an index that is not known are
 * skipped.
 */
int64_t vt_spe_record_read(struct vt_spe_record *r, const uint8_t *p, const uint8_t *end,
			   uint64_t offset);

/*
 * Returns where records go on after damage at `p`: behind the first packet that ends a record and
 * is followed by a whole record with an address and an operation, or by padding only.  Else `end`.
 */
const uint8_t *vt_spe_resume(const uint8_t *p, const uint8_t *end, uint64_t offset);

#endif
