/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PERFDATA_WRITE_H
#define FORMATS_PERFDATA_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "formats/perfdata/abi.h"

/*
 * Writes a perf.data that perf reads: little-endian, attributes of 128 bytes, as perf 5.13 to 6.x
 * write them.  Sources: linux/perf_event.h and the kernel's
 * tools/perf/Documentation/perf.data-file-format.txt.
 *
 * A regular file gets perf's file format: its header is written last, into the room left for it.
 * Any other output gets the pipe format, which has the same records.  Only one record and an index
 * of 16 bytes for each AUXTRACE record are kept in memory.
 *
 * Functions return 0 or, for invalid arguments, -VT_E_FORMAT, -VT_E_LIMIT or -VT_E_NOMEM.  Errors
 * of writing stick to the output, and vt_perfdata_writer_close() returns them.
 */

struct vt_perfdata_writer;

/* An event; its id is its index + 1.  Texts are borrowed. */
struct vt_perfdata_event {
	const char *name;
	uint32_t type;
	uint64_t config;
	uint64_t period;
	uint64_t sample_type; /* PD_SAMPLE_IDENTIFIER is added */
	uint64_t flags;	      /* PD_ATTR_…; PD_ATTR_SAMPLE_ID_ALL is added */
	uint64_t regs_user;   /* the registers of PD_SAMPLE_REGS_USER, by asm/perf_regs.h */
};

#define VT_PERFDATA_WRITE_EVENTS  16   /* at most */
#define VT_PERFDATA_WRITE_PATH	  4095 /* bytes of a path or name at most: perf's PATH_MAX */
#define VT_PERFDATA_WRITE_BUILDID 20   /* bytes of a build-id at most */

/* Properties of the recording, for features; all may be NULL or 0.  Borrowed. */
struct vt_perfdata_about {
	const char *arch;
	const char *version; /* of the program that writes it */
	const char *cmdline;
	uint32_t cpus;
};

/* The sample id of a record; fields that are not in the event's sample type are not written. */
struct vt_perfdata_stamp {
	unsigned event; /* index */
	int32_t pid;
	int32_t tid;
	uint64_t time; /* ns */
	uint32_t cpu;
};

/*
 * Begins a perf.data at the start of `out`, which is borrowed and must be freshly opened.  Owned by
 * the caller; NULL with *err set.
 */
struct vt_perfdata_writer *
vt_perfdata_writer_new(struct vt_output *out, const struct vt_perfdata_event *events,
		       size_t nevents, const struct vt_perfdata_about *about, struct vt_error *err);

/*
 * Writes features and header, flushes `out` (but does not close it), and frees the writer; NULL is
 * allowed.  If `keep` is false it only frees.
 */
int vt_perfdata_writer_close(struct vt_perfdata_writer *w, bool keep, struct vt_error *err);

/* A mapping of the thread of `s`.  A build-id of up to 20 bytes replaces device and inode. */
struct vt_perfdata_map {
	uint64_t start;
	uint64_t length;
	uint64_t offset;
	uint32_t prot;
	uint32_t flags;
	uint32_t maj;
	uint32_t min;
	uint64_t ino;
	uint64_t ino_generation;
	const uint8_t *buildid;
	size_t buildid_size;
	const char *path;
	size_t path_size;
};

int vt_perfdata_put_map(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			const struct vt_perfdata_map *m, struct vt_error *err);

/* Adds a row to the table of build-ids; a build-id of more than 20 bytes is -VT_E_LIMIT. */
int vt_perfdata_put_buildid(struct vt_perfdata_writer *w, const uint8_t *buildid, size_t size,
			    const char *path, size_t path_size, struct vt_error *err);

/* Puts the name of a thread, truncated to 15 bytes like the kernel's; exec: set by exec(). */
int vt_perfdata_put_comm(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			 const char *comm, size_t size, bool exec, struct vt_error *err);

/* Puts the start (PD_FORK) or the end (PD_EXIT) of the thread of `s`. */
int vt_perfdata_put_task(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			 enum pd_record type, int32_t ppid, int32_t ptid, struct vt_error *err);

int vt_perfdata_put_itrace_start(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
				 struct vt_error *err);

/* Puts an AUX record: bytes offset .. offset+size-1 of an AUX area have become valid. */
int vt_perfdata_put_aux(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			uint64_t offset, uint64_t size, uint64_t flags, struct vt_error *err);

/*
 * A switch to the thread of `s`, or away from it (out; preempt: it was still runnable).  wide: all
 * threads of a CPU are recorded, and the record has the other thread, too.
 */
struct vt_perfdata_switch {
	bool out;
	bool preempt;
	bool wide;
	int32_t other_pid;
	int32_t other_tid;
};

int vt_perfdata_put_switch(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			   const struct vt_perfdata_switch *sw, struct vt_error *err);

/* Puts AUXTRACE_INFO: how AUX areas are to be decoded. */
int vt_perfdata_put_auxtrace_info(struct vt_perfdata_writer *w, uint32_t type, const uint64_t *priv,
				  size_t count, struct vt_error *err);

/* A piece of an AUX area; its bytes are padded with zeros to a multiple of 8, which is its size. */
struct vt_perfdata_auxtrace {
	uint64_t offset; /* in the area */
	uint64_t reference;
	uint32_t index; /* of the area */
	int32_t tid;	/* or -1 */
	int32_t cpu;	/* or -1 */
};

int vt_perfdata_put_auxtrace(struct vt_perfdata_writer *w, const struct vt_perfdata_auxtrace *a,
			     const void *data, size_t size, struct vt_error *err);

/*
 * Puts any other record, with its payload unchanged.  With `s`, for kernel records other than
 * PD_SAMPLE, the sample id is appended; of a sample, only the time is noted.
 */
int vt_perfdata_put_record(struct vt_perfdata_writer *w, uint32_t type, uint16_t misc,
			   const struct vt_perfdata_stamp *s, const void *payload, size_t size,
			   struct vt_error *err);

#endif
