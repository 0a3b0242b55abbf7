/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_SPE_DECODE_H
#define FORMATS_SPE_DECODE_H

#include "formats/common/format.h"

/*
 * The decoder of AUX areas with records of the Arm Statistical Profiling Extension.  The first pass
 * collects the areas.  The second one copies each record except AUXTRACE, and makes a SAMPLE of
 * each SPE record, of the event of its PMU.  If timestamps can be converted to the time of the
 * other records, samples are written before the first record that is not earlier; an SPE record
 * that is earlier than the one before it keeps its time and its place.  Else an area of a thread
 * comes before the record of its end, and others at the end.
 */
extern const struct vt_aux_decoder vt_spe_aux_decoder;

#endif
