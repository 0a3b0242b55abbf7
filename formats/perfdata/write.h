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
 * A regular file gets perf's file format: its header is written last, over the room left for it.
 * Anything else gets the pipe format, which has the same records.  Nothing is kept in memory but an
 * index of 16 bytes for each AUXTRACE record, and what a record needs.
 *
 * Functions that can fail for what they are told return 0 or -VT_E_FORMAT, -VT_E_LIMIT or
 * -VT_E_NOMEM; errors of writing stick to the output and are returned by
 * vt_perfdata_writer_close().
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
};

#define VT_PERFDATA_WRITE_EVENTS 16   /* at most */
#define VT_PERFDATA_WRITE_PATH	 4095 /* bytes of a path or name at most: perf's PATH_MAX */

/* What a recording is made with, for features; all may be NULL or 0.  Borrowed. */
struct vt_perfdata_about {
	const char *arch;
	const char *version; /* of what writes it */
	const char *cmdline;
	uint32_t cpus;
};

/* Of whom a record tells, and when: what is not in the event's sample type is not written. */
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
 * Ends it (features and header; `out` is flushed, not closed) and frees the writer; NULL is
 * allowed.  With `keep` false it only frees.
 */
int vt_perfdata_writer_close(struct vt_perfdata_writer *w, bool keep, struct vt_error *err);

/*
 * A mapping of an executable, in the name of `s`.  A build-id of up to 20 bytes takes the place of
 * device and inode.
 */
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

/* A row for the table of build-ids; a build-id of more than 20 bytes is -VT_E_LIMIT. */
int vt_perfdata_put_buildid(struct vt_perfdata_writer *w, const uint8_t *buildid, size_t size,
			    const char *path, size_t path_size, struct vt_error *err);

/* A name of at most 15 bytes (the rest is cut off, as the kernel does); `exec`: by exec(). */
int vt_perfdata_put_comm(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			 const char *comm, size_t size, bool exec, struct vt_error *err);

/* The thread of `s` starts (PD_FORK) or ends (PD_EXIT). */
int vt_perfdata_put_task(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			 enum pd_record type, int32_t ppid, int32_t ptid, struct vt_error *err);

int vt_perfdata_put_itrace_start(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
				 struct vt_error *err);

/* Bytes offset .. offset+size-1 of an AUX area have become valid. */
int vt_perfdata_put_aux(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *s,
			uint64_t offset, uint64_t size, uint64_t flags, struct vt_error *err);

/*
 * The thread of `s` comes, or goes (`out`; `preempt`: it could have run on).  `wide`: all threads
 * of a CPU are watched, and the one before or after it is told.
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

/* How AUX areas are to be decoded. */
int vt_perfdata_put_auxtrace_info(struct vt_perfdata_writer *w, uint32_t type, const uint64_t *priv,
				  size_t count, struct vt_error *err);

/* A piece of an AUX area; its bytes are padded to a multiple of 8 with zeros, which are counted. */
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
 * Any other record: its payload as it is.  With `s`, for the kernel's records other than
 * PD_SAMPLE, the sample id is appended.
 */
int vt_perfdata_put_record(struct vt_perfdata_writer *w, uint32_t type, uint16_t misc,
			   const struct vt_perfdata_stamp *s, const void *payload, size_t size,
			   struct vt_error *err);

#endif
