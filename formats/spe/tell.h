/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_SPE_TELL_H
#define FORMATS_SPE_TELL_H

#include <stdint.h>

#include "formats/spe/packet.h"

/* What a record tells, as fields of a SAMPLE. */

/* The address of an instruction or of a branch's target, in full. */
uint64_t vt_spe_code_addr(uint64_t payload);

/* The virtual address of data, without its tag. */
uint64_t vt_spe_data_addr(uint64_t payload);

/*
 * Sets the fields of `row`, of a SAMPLE, that come from the record alone: `ip`, `misc`, the
 * addresses, `has` for these, and the fields from `pm_has` on.  `midr` is the MIDR_EL1 of the
 * processor, which says what its data sources mean; 0: not known.
 */
void vt_spe_tell(uint64_t *row, const struct vt_spe_record *r, uint64_t midr);

/* enum vt_source for a payload of a data source packet; VT_SOURCE_UNKNOWN if nobody knows. */
unsigned vt_spe_source(uint64_t payload, uint64_t midr);

#endif
