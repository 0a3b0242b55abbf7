/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_RECORDING_SESSION_H
#define FORMATS_RECORDING_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/recording/blocks.h"
#include "formats/recording/images.h"
#include "formats/recording/recording.h"
#include "formats/recording/ring.h"
#include "stream/writer.h"

/*
 * The most blocks, and bytes of values, of an EXEC record, which always has at least one block:
 * enough that its other fields cost little, and few enough for the second-level cache.
 */
#define RC_CHUNK_IDS  49152
#define RC_CHUNK_DATA ((size_t)256 << 10)

/* A mapped ring, with the fields of its header when it was mapped, checked against the file. */
struct rc_ring {
	uint8_t *base;
	size_t size;
	uint32_t nbuffers;
	uint64_t mapped; /* the address of `base` in the recorder */
	struct {
		size_t ids, data, events; /* offsets of the areas */
		uint32_t ids_size, data_size, events_size;
	} buffers[VT_RING_BUFFERS];
};

/* A thread of a process. */
struct rc_thread {
	int32_t tid;
	bool inside;  /* it is in the function of --toggle */
	bool dropped; /* it has run unrecorded since it was last recorded */
};

/* A recorded process, or an earlier program of it. */
struct rc_process {
	int32_t pid, ppid;
	uint32_t seq;
	bool started;	       /* its START event has been read */
	bool broken;	       /* its ring is contradictory: it is not read any more */
	bool exited;	       /* its EXIT event has been read */
	bool execs;	       /* its last event is EXEC: it runs another program */
	bool unfollowed;       /* that other program is not recorded */
	struct vt_buf program; /* its name */
	struct rc_ring ring;
	uint64_t next; /* number of the next buffer */
	uint64_t time; /* of the current buffer */
	uint64_t first;
	uint64_t skip;	/* instructions until the window begins */
	uint64_t count; /* instructions left in the window; UINT64_MAX: no end */
	struct rc_thread *threads;
	size_t nthreads;
	size_t threads_cap;
	size_t running; /* index of the thread that runs */
	/* The registers at the window's first instruction, if that comes after `window_skip`
	 * instructions of the next block; window_tid: their thread, 0: there are none. */
	struct vt_ring_registers window;
	uint64_t window_skip;
	int32_t window_tid;
};

/* The EXEC record that is being made; its values are contiguous in the ring. */
struct rc_chunk {
	uint32_t n;
	uint32_t skip;
	uint32_t low, high; /* ids */
	uint64_t insns;
	const uint8_t *data;
	size_t size;
	uint32_t ids[RC_CHUNK_IDS];
	uint8_t packed[RC_CHUNK_IDS * sizeof(uint32_t)];
};

struct vt_recording {
	char *dir;
	int dirfd;
	int control; /* the fifo's two ends */
	int writer;
	struct vt_ring_shared *shared;
	struct vt_writer *w;
	struct vt_recording_options opt;
	struct vt_recording_summary sum;
	struct rc_blocks blocks;
	struct rc_images images;
	struct rc_process **processes; /* in the order of their messages */
	size_t nprocesses;
	size_t processes_cap;
	struct rc_chunk *chunk;
	bool stopped;	      /* nothing more is read */
	struct vt_buf events; /* a copy of the current buffer's, which the program cannot change */
	uint8_t message[sizeof(struct vt_ring_message)];
	size_t message_size; /* bytes of it that have been read */
};

/* ---- ringfile.c ---- */

/* Maps a ring and checks its header.  VT_E_READ, VT_E_DAMAGED. */
int vti_rc_ring_map(struct rc_ring *ring, int dirfd, const char *name, struct vt_error *err);
void vti_rc_ring_unmap(struct rc_ring *ring);

/* A buffer's content. */
struct rc_filled {
	bool cut; /* the recorder died while it filled the buffer */
	int32_t tid;
	uint64_t time;
	const uint8_t *ids, *data, *events;
	uint32_t ids_size, data_size, events_size; /* bytes used, a whole number of ids */
};

/* Finds the full buffer with that number: 1; 0: it is not full yet; -1: its header is false. */
int vti_rc_ring_full(const struct rc_ring *ring, uint64_t number, struct rc_filled *out);

/* Finds the buffer that a dead recorder was filling; same result. */
int vti_rc_ring_current(const struct rc_ring *ring, uint64_t number, struct rc_filled *out);

/* Gives a buffer back to the recorder. */
void vti_rc_ring_release(const struct rc_ring *ring, uint32_t index);

/* ---- runs.c ---- */

/* Executed blocks in a buffer. */
struct rc_run {
	const uint8_t *ids; /* u32 each */
	size_t n;
	const uint8_t *data;
	size_t size;
	uint32_t partial; /* instructions of the last block that were executed; 0: all */
	bool cut;	  /* the end may be incomplete: what does not fit is left out */
	bool open;	  /* the next run continues its last record, unless that is full */
};

/*
 * Writes the part of a run that is in the window as EXEC records.  -VT_E_DAMAGED: it contradicts
 * the blocks; -VT_E_NOMEM.
 */
int vti_rc_run(struct vt_recording *r, struct rc_process *p, const struct rc_run *run,
	       struct vt_error *err);

/* Writes the EXEC record that an open run has left. */
void vti_rc_end_record(struct vt_recording *r, struct rc_process *p);

/* The instructions that the process has executed in the window so far. */
uint64_t vti_rc_position(const struct vt_recording *r, const struct rc_process *p);

/* Puts a STATE record. */
void vti_rc_put_state(struct vt_recording *r, const struct rc_process *p, int32_t tid,
		      const struct vt_ring_registers *s);

/* True if the running thread is recorded now. */
bool vti_rc_in_window(const struct vt_recording *r, const struct rc_process *p);

/* ---- events.c ---- */

/* Sets VT_E_DAMAGED with a text, and returns it negative. */
int vti_rc_damaged(struct vt_error *err, const char *why);

/* Reads one buffer.  -VT_E_DAMAGED: the ring is contradictory; -VT_E_NOMEM. */
int vti_rc_read(struct vt_recording *r, struct rc_process *p, const struct rc_filled *f,
		struct vt_error *err);

/* Makes a thread the running one.  -VT_E_NOMEM, -VT_E_DAMAGED: too many. */
int vti_rc_switch(struct rc_process *p, int32_t tid, struct vt_error *err);

/* Puts a THREAD record; `comm` may be NULL. */
void vti_rc_put_thread(struct vt_recording *r, const struct rc_process *p, enum vt_thread_op op,
		       int32_t tid, int32_t parent, const struct vt_buf *comm);

/* Puts a GAP record, and counts it. */
void vti_rc_gap(struct vt_recording *r, const struct rc_process *p, const char *why,
		uint64_t bytes);

#endif
