/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_FRAMES_H
#define VT_MEMORY_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The stack frames of a thread, by the addresses where its calls stored their return addresses.
 * As a stack grows down, a frame is gone as soon as something is called from, or returns to, an
 * address above it: so frames that a longjmp or an exception leaves are dropped in time.
 *
 * Initialize with zeros, free with vti_frames_fini().
 */
#define VTI_MAX_FRAMES 65536 /* at that depth, the outer half is dropped */

/* So far from the stack seen so far, an address may still be on it: the default limit of linux. */
#define VTI_STACK_REACH (UINT64_C(8) << 20)

struct vti_frame {
	uint64_t slot;	 /* the address of the return address */
	uint64_t back;	 /* the return address; 0: the thread began here */
	uint64_t entry;	 /* of the procedure called; 0: not known yet */
	uint32_t object; /* for the caller's use; UINT32_MAX at first */
};

struct vti_frames {
	struct vti_frame *list; /* innermost last: slots descend */
	size_t count;
	size_t cap;
	uint64_t low; /* [low, high): the stack as far as it was seen; both 0: not at all */
	uint64_t high;
	bool entering; /* the last instruction was a call */
};

void vti_frames_fini(struct vti_frames *f);
void vti_frames_clear(struct vti_frames *f);

/* The stack pointer is known to have been here: part of the stack. */
void vti_frames_see(struct vti_frames *f, uint64_t sp);

/* A call stored `back` at `slot`.  Returns false when memory runs out. */
bool vti_frames_call(struct vti_frames *f, uint64_t slot, uint64_t back);

/* A return loaded its target from `slot`. */
void vti_frames_return(struct vti_frames *f, uint64_t slot);

/*
 * The block after a call begins: it is the procedure's first; a `stub` is followed by the block
 * that is.
 */
static inline void vti_frames_enter(struct vti_frames *f, uint64_t address, bool stub)
{
	if (f->count) {
		f->list[f->count - 1].entry = address;
		f->list[f->count - 1].object = UINT32_MAX;
	}
	f->entering = stub;
}

static inline bool vti_frames_hold(const struct vti_frames *f, uint64_t address)
{
	return address - f->low < f->high - f->low;
}

/*
 * Returns the frame that an address on the stack belongs to: the innermost whose slot is not below
 * it, as a procedure's variables lie below its return address.  NULL: above all known frames.
 */
struct vti_frame *vti_frames_at(struct vti_frames *f, uint64_t address);

#endif
