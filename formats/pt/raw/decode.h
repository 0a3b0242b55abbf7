/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_RAW_DECODE_H
#define FORMATS_PT_RAW_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/common/format.h"

/* The input format "pt": the packets of a processor in a file. */

/*
 * True if these are the first bytes of a raw trace: they contain a PSB packet.  The rest of a
 * packet whose beginning was overwritten may come before.
 */
bool vt_pt_probe(const uint8_t *bytes, size_t size);

/* vt_input_format.decode(): opt->pt names the code. */
int vt_pt_decode(struct vt_input *in, struct vt_writer *w, const struct vt_format_options *opt,
		 struct vt_format_summary *sum, struct vt_error *err);

#endif
