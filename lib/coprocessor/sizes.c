/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/sizes.h"

#include "coprocessor/buffer.h"
#include "coprocessor/filters.h"
#include "coprocessor/machine.h"

void vt_coproc_structures(const struct vt_coproc_sizes *s,
			  struct vt_coproc_structure rows[VT_COPROC_STRUCTURES])
{
	/* Table 1: sizes, ports and transistors of the baseline; "<1k" is taken for as many a bit
	 * as the other small register files have. */
	const struct {
		const char *name;
		const char *ports;
		uint64_t bits, base, transistors;
	} table[VT_COPROC_STRUCTURES] = {
		{"PC filter bit-mask", "one", s->filter_bits, VT_FILTER_TABLE_BITS, 25000},
		{"sample buffer", "1W/1R", s->buffer_bytes * UINT64_C(8), VT_BUFFER_BYTES * 8,
		 65000},
		{"microcode array", "one", VT_UCODE_WORDS * VT_UCODE_BITS,
		 VT_UCODE_WORDS * VT_UCODE_BITS, 18000},
		{"associative array", "one", s->cam_bytes * UINT64_C(8), VT_COPROC_CAM_BYTES * 8,
		 74000},
		{"data array", "one", s->data_bytes * UINT64_C(8), VT_COPROC_DATA_BYTES * 8, 98000},
		{"value registers", "2R/1W", 4 * 64, 4 * 64, 3000},
		{"index registers", "1R/1W", 8 * 16, 8 * 16, 2000},
		{"constant registers", "one", 4 * 64, 4 * 64, 2000},
		{"base address registers", "one", 8 * 16, 8 * 16, 1000},
		{"jump target registers", "one", 4 * 6, 4 * 6, 200},
		{"decoder/field extractor", "one", VT_NCLASSES * 6, VT_NCLASSES * 6, 1000},
	};
	size_t i;

	for (i = 0; i < VT_COPROC_STRUCTURES; i++) {
		rows[i].name = table[i].name;
		rows[i].ports = table[i].ports;
		rows[i].bits = table[i].bits;
		rows[i].transistors =
			(table[i].transistors * table[i].bits + table[i].base / 2) / table[i].base;
	}
}
