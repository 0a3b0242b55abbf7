/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFDATA_PERFDATA_H
#define FORMATS_PERFDATA_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"
#include "formats/common/format.h"
#include "stream/writer.h"

/*
 * Reads the output of `perf record`: perf.data in file mode (versions 1 and 2) and pipe mode, of
 * either byte order, plain or with zstd-compressed records.
 *
 * The records of the stream:
 *
 * - Each attribute becomes an EVENT whose id is its index in the file and whose name is the one
 *   that perf prints.  If names or PMUs become known only later (pipe mode), the EVENT is written
 *   again: a later EVENT or IMAGE of the same id replaces the earlier one.
 * - PERF_RECORD_SAMPLE becomes SAMPLE.  A group read ({a,b}:S) gives one SAMPLE for each member
 *   whose count increased, as in perf.  A SAMPLE has the dyn_size bytes of the user stack that the
 *   kernel has filled.  A period that was not recorded is the event's fixed period, or 1 if the
 *   event was sampled by frequency; `has` shows if it was recorded.
 * - MMAP and MMAP2 become IMAGE (on first use) and MAP; kernel maps keep pid -1.
 * - Features become META: a key and a value for known features, the raw bytes in `data` (in the
 *   file's byte order) for others, in pieces of at most 1 MiB.
 * - Records of perf itself without a kind of their own become META "record.NAME" with the raw
 *   payload.
 * - AUXTRACE payloads become AUXTRACE pieces of at most 1 MiB in the order of the file.
 *
 * A file in file mode that does not allow random access (a pipe) is first copied to a temporary
 * file.
 *
 * The order is that of perf.  Records with a time wait in a queue; each FINISHED_ROUND releases
 * those that are not later than the latest time at the previous round.  The queue has at most
 * VT_PERFDATA_QUEUE_BYTES and VT_PERFDATA_QUEUE_RECORDS; beyond that its older half is released
 * early, and a record that then comes too late is delivered late and counted in `out_of_order`.
 *
 * Damage: a record whose size does not fit its contents or the next records becomes a GAP up to the
 * next chain of records (recover.c).  For a GAP inside compressed records, the bytes are those of
 * the inner records, and the offset is that of the compressed record.
 *
 * Memory: the limits below, one feature section (VT_PERFDATA_SECTION_MAX), and the tables of events
 * and images.
 */

#define VT_PERFDATA_QUEUE_BYTES	  (24u << 20)
#define VT_PERFDATA_QUEUE_RECORDS (512u << 10)

/* Limits on what a file may claim; each is far above what perf itself writes. */
#define VT_PERFDATA_SECTION_MAX (32u << 20) /* bytes of a feature section */
#define VT_PERFDATA_EVENTS_MAX	65536	    /* attributes */
#define VT_PERFDATA_IDS_MAX	(1u << 20)  /* event ids, over all attributes */
#define VT_PERFDATA_IMAGES_MAX	(1u << 18)  /* images, and rows of the build-id table */
#define VT_PERFDATA_NAMES_MAX	(32u << 20) /* bytes of names of images and PMUs */
#define VT_PERFDATA_ZSTD_LOG	27 /* log2 of zstd's window: 128 MiB of address space at most */

/* True if the first bytes of an input are those of a perf.data file; 8 bytes suffice. */
bool vt_perfdata_probe(const uint8_t *bytes, size_t size);

/*
 * The type of the AUX areas by the AUXTRACE_INFO record: PERF_AUXTRACE_* of
 * tools/perf/util/auxtrace.h; 0: there is none near the start.  The input is at its first byte, and
 * is not consumed.  0 or -VT_E_READ, -VT_E_NOMEM.
 */
#define VT_PERFDATA_AUX_INTEL_PT 1
int vt_perfdata_auxtrace_type(struct vt_input *in, uint32_t *type, struct vt_error *err);

/* The name of that type, for messages. */
const char *vt_perfdata_auxtrace_name(uint32_t type);

/* The begin of the reason of a GAP for an AUX area without a decoder. */
#define VT_PERFDATA_AUX_GAP "AUX area of "

/*
 * Converts a whole perf.data to stream records; `in` is at its first byte.  Regular files are also
 * read out of order through in->fd with pread().
 *
 * Returns 0 at the end.  Damage (a cut file, a corrupt record) is reported in *sum, in GAP records
 * and by opt->warn.  Negative: VT_E_FORMAT (no perf.data), VT_E_READ, VT_E_NOMEM, or the writer's
 * first error.
 */
int vt_perfdata_decode(struct vt_input *in, struct vt_writer *w,
		       const struct vt_format_options *opt, struct vt_format_summary *sum,
		       struct vt_error *err);

#endif
