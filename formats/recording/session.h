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
 * An EXEC record holds at most so many blocks, and so many bytes of values (but one block always):
 * large enough that its own fields cost nothing, small enough for the second-level cache.
 */
#define RC_CHUNK_IDS  49152
#define RC_CHUNK_DATA ((size_t)256 << 10)

/* A mapped ring; what its header said when it was mapped, checked against the file. */
struct rc_ring {
	uint8_t *base;
	size_t size;
	uint32_t nbuffers;
	uint64_t mapped; /* where the recorder sees `base` */
	struct {
		size_t ids, data, events; /* where the areas are */
		uint32_t ids_size, data_size, events_size;
	} buffers[VT_RING_BUFFERS];
};

/* A thread of a process. */
struct rc_thread {
	int32_t tid;
	bool inside;  /* the function of --toggle */
	bool dropped; /* it has run on since it was last recorded */
};

/* A recorded process, or what it was before it executed another program. */
struct rc_process {
	int32_t pid, ppid;
	uint32_t seq;
	bool bye;	       /* it said that it is through */
	bool started;	       /* its START event has been read */
	bool broken;	       /* its ring contradicts itself: nothing more is read from it */
	bool exited;	       /* its EXIT event has been read */
	bool execs;	       /* its last event says that it runs another program */
	bool unfollowed;       /* that other program is not recorded */
	struct vt_buf program; /* its name */
	struct rc_ring ring;
	uint64_t next; /* number of the buffer that is to be read next */
	uint64_t time; /* of the buffer at hand */
	uint64_t first;
	uint64_t skip;	/* instructions until the window begins */
	uint64_t count; /* that are left of the window; UINT64_MAX for no end */
	struct rc_thread *threads;
	size_t nthreads;
	size_t threads_cap;
	size_t running; /* index of the thread that runs */
	/* The registers at the window's first instruction, if that is `window_skip` instructions
	 * into the block that comes next; window_tid: of this thread, 0: there are none. */
	struct vt_ring_registers window;
	uint64_t window_skip;
	int32_t window_tid;
};

/* The EXEC record that is being put together; its values lie in the ring, one after the other. */
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
	struct vt_buf events; /* those of the buffer at hand, out of the recorder's reach */
	uint8_t message[sizeof(struct vt_ring_message)];
	size_t message_size; /* bytes of it that have been read */
};

/* ---- ringfile.c ---- */

/* Maps a ring and checks its header.  VT_E_READ, VT_E_DAMAGED. */
int vti_rc_ring_map(struct rc_ring *ring, int dirfd, const char *name, struct vt_error *err);
void vti_rc_ring_unmap(struct rc_ring *ring);

/* A buffer's content. */
struct rc_filled {
	uint32_t index;
	bool cut; /* the recorder died while it filled it */
	int32_t tid;
	uint64_t time;
	const uint8_t *ids, *data, *events;
	uint32_t ids_size, data_size, events_size; /* bytes used, a whole number of ids */
};

/* The full buffer with that number: 1; 0 when it is not full yet; -1 when what it says is false. */
int vti_rc_ring_full(const struct rc_ring *ring, uint64_t number, struct rc_filled *out);

/* The buffer that a dead recorder had at hand; same result. */
int vti_rc_ring_current(const struct rc_ring *ring, uint64_t number, struct rc_filled *out);

/* Gives a buffer back to the recorder. */
void vti_rc_ring_release(const struct rc_ring *ring, uint32_t index);

/* ---- runs.c ---- */

/* Blocks as they lie in a buffer. */
struct rc_run {
	const uint8_t *ids; /* u32 each */
	size_t n;
	const uint8_t *data;
	size_t size;
	uint32_t partial; /* instructions of the last block that were executed; 0: all */
	bool cut;	  /* the end may be torn: what does not fit is left out */
};

/*
 * Writes what of a run lies in the window as EXEC records.  -VT_E_DAMAGED: it contradicts the
 * blocks; -VT_E_NOMEM.
 */
int vti_rc_run(struct vt_recording *r, struct rc_process *p, const struct rc_run *run,
	       struct vt_error *err);

/* A STATE record. */
void vti_rc_put_state(struct vt_recording *r, const struct rc_process *p, int32_t tid,
		      const struct vt_ring_registers *s);

/* Whether what the running thread does now is recorded. */
bool vti_rc_in_window(const struct vt_recording *r, const struct rc_process *p);

/* ---- events.c ---- */

/* Reads one buffer.  -VT_E_DAMAGED: the ring contradicts itself; -VT_E_NOMEM. */
int vti_rc_read(struct vt_recording *r, struct rc_process *p, const struct rc_filled *f,
		struct vt_error *err);

/* Makes a thread the running one.  -VT_E_NOMEM, -VT_E_DAMAGED: too many. */
int vti_rc_switch(struct rc_process *p, int32_t tid, struct vt_error *err);

/* A THREAD record; `comm` may be NULL. */
void vti_rc_put_thread(struct vt_recording *r, const struct rc_process *p, enum vt_thread_op op,
		       int32_t tid, int32_t parent, const struct vt_buf *comm);

/* A GAP record; also counted. */
void vti_rc_gap(struct vt_recording *r, const struct rc_process *p, const char *why,
		uint64_t bytes);

#endif
