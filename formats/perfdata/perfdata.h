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
 * Reads what `perf record` writes: perf.data in file mode (versions 1 and 2) and pipe mode, of
 * either byte order, plain or with zstd-compressed records.
 *
 * What becomes of it:
 *
 * - Each attribute becomes an EVENT whose id is its index in the file and whose name is the one
 *   that perf prints.  When names or PMUs become known only later (pipe mode), the EVENT is written
 *   again: a later EVENT or IMAGE of the same id replaces the earlier one.
 * - PERF_RECORD_SAMPLE becomes SAMPLE.  A group read ({a,b}:S) gives one SAMPLE for each member
 *   whose count moved, as perf has it.  Of the dumped user stack the dyn_size bytes that the kernel
 *   filled are kept.  A period that was not recorded is the event's fixed one, or 1 when
 *   the event was sampled by frequency; `has` tells them from recorded ones.
 * - MMAP and MMAP2 become IMAGE (on first use) and MAP; kernel maps keep pid -1.
 * - Features become META: a key and a value for those that are understood, the raw bytes in `data`
 *   (as they lie in the file, in its byte order) for the others, in pieces of at most 1 MiB.
 * - Records of perf itself that have no kind become META "record.NAME" with the raw payload.
 * - AUXTRACE payloads become AUXTRACE pieces of at most 1 MiB in the order of the file.
 *
 * A file in file mode that cannot be read at any place (a pipe) is first put into a temporary file.
 *
 * Order: that of perf.  Records with a time wait in a queue; each FINISHED_ROUND releases those
 * that are not newer than the newest one known at the round before.  The queue holds at most
 * VT_PERFDATA_QUEUE_BYTES and VT_PERFDATA_QUEUE_RECORDS; beyond that its older half is
 * released early, and a record that then comes too late is delivered late and counted in
 * `out_of_order`.
 *
 * Damage: a record whose size its contents or what follows it belie becomes a GAP that reaches to
 * the next chain of records (recover.c); the bytes of a GAP inside compressed records are those of
 * the records, its offset that of the compressed one.
 *
 * Memory: the limits below, one feature section (VT_PERFDATA_SECTION_MAX), and the tables of events
 * and images.
 */

#define VT_PERFDATA_QUEUE_BYTES	  (24u << 20)
#define VT_PERFDATA_QUEUE_RECORDS (512u << 10)

/* Limits on what a file may claim; each is far above what perf itself writes. */
#define VT_PERFDATA_SECTION_MAX (32u << 20) /* bytes of a feature section that are looked at */
#define VT_PERFDATA_EVENTS_MAX	65536	    /* attributes */
#define VT_PERFDATA_IDS_MAX	(1u << 20)  /* event ids, over all attributes */
#define VT_PERFDATA_IMAGES_MAX	(1u << 18)  /* images, and rows of the build-id table */
#define VT_PERFDATA_NAMES_MAX	(32u << 20) /* bytes of names of images and PMUs */
#define VT_PERFDATA_ZSTD_LOG	27 /* log2 of zstd's window: 128 MiB of address space at most */

/* True when the first bytes of an input are those of a perf.data file; 8 bytes suffice. */
bool vt_perfdata_probe(const uint8_t *bytes, size_t size);

/*
 * What AUX areas hold according to the AUXTRACE_INFO record, an input at its first byte, which is
 * looked at and not consumed: PERF_AUXTRACE_* of tools/perf/util/auxtrace.h; 0: there is none where
 * perf puts it.  0 or -VT_E_READ, -VT_E_NOMEM.
 */
#define VT_PERFDATA_AUX_INTEL_PT 1
int vt_perfdata_auxtrace_type(struct vt_input *in, uint32_t *type, struct vt_error *err);

/* What that type stands for, in words. */
const char *vt_perfdata_auxtrace_name(uint32_t type);

/* How the reason of a GAP begins that stands for an AUX area which nothing decodes. */
#define VT_PERFDATA_AUX_GAP "AUX area of "

/*
 * Converts a whole perf.data to stream records; `in` stands at its first byte.  Regular files are
 * also read out of order through in->fd with pread().
 *
 * Returns 0 when the end was reached; damage on the way (cut file, corrupt record) is then
 * in *sum, in GAP records and told to opt->warn.  Negative: VT_E_FORMAT (no perf.data), VT_E_READ,
 * VT_E_NOMEM, or the writer's first error.
 */
int vt_perfdata_decode(struct vt_input *in, struct vt_writer *w,
		       const struct vt_format_options *opt, struct vt_format_summary *sum,
		       struct vt_error *err);

#endif
