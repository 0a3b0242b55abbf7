/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_KNOWN_MEMORY_H
#define VT_MACHINE_INTERP_KNOWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "machine/lift/word.h"

/*
 * What is known of a process's memory, byte by byte: what is behind it from the start (a sample's
 * stack, data of images), and what was stored since.  It grows with the memory that is stored to,
 * up to a limit; what does not fit any more is unknown.
 */
struct vt_known_memory;

#define VT_KNOWN_LINE 64 /* bytes, aligned */

/*
 * Says what is known of the line at `addr` as far as nothing has been stored there: fills `bytes`
 * and returns a mask of those that are known, bit i for byte i.  With `lasting`, only what no store
 * of the program can change counts.
 */
typedef uint64_t vt_known_fill_fn(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE],
				  bool lasting);

/* `fill` may be NULL: nothing is known.  `max_bytes` bounds the memory.  NULL when there is none.
 */
struct vt_known_memory *vt_known_memory_new(vt_known_fill_fn *fill, void *arg, size_t max_bytes);
void vt_known_memory_free(struct vt_known_memory *m);

/* Back to what `fill` says: cheap, for it is done for each sample. */
void vt_known_memory_reset(struct vt_known_memory *m);

/*
 * Others store to the same memory at any time, unseen: of what can be stored to, nothing is known
 * from now on, whatever is stored; until vt_known_memory_reset().
 */
void vt_known_memory_share(struct vt_known_memory *m);

/* Something was stored nobody knows where: of what can be stored to, nothing is known any more. */
void vt_known_memory_forget(struct vt_known_memory *m);

/* Nothing is known any more of `size` bytes: the kernel or another thread wrote there. */
void vt_known_memory_forget_range(struct vt_known_memory *m, uint64_t addr, uint64_t size);

/*
 * Reads `size` bytes, 1 to 32, into one word for each 8 of them (a last word of fewer bytes has
 * known zeros above); writes them.  A byte of which not each bit is known is unknown in memory.
 */
void vt_known_memory_load(struct vt_known_memory *m, uint64_t addr, unsigned size,
			  struct vt_word *words);
void vt_known_memory_store(struct vt_known_memory *m, uint64_t addr, unsigned size,
			   const struct vt_word *words);

/* Known bytes from elsewhere: what a system call wrote, what a recorder saw. */
void vt_known_memory_set(struct vt_known_memory *m, uint64_t addr, const uint8_t *bytes,
			 size_t size);

#endif
