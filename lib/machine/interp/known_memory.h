/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_KNOWN_MEMORY_H
#define VT_MACHINE_INTERP_KNOWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "machine/lift/word.h"

/*
 * The known bytes of a process's memory: initial contents (a sample's stack, data of images), and
 * later stores.  It grows with the memory that is stored to, up to a limit.  Bytes beyond the limit
 * are unknown.
 */
struct vt_known_memory;

#define VT_KNOWN_LINE 64 /* bytes, aligned */

/*
 * Returns the initial contents of the line at `addr`: fills `bytes` and returns a mask of the known
 * ones, bit i for byte i.  With `lasting`, only bytes that no store of the program can change are
 * known.
 */
typedef uint64_t vt_known_fill_fn(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE],
				  bool lasting);

/*
 * Owned by the caller.  `fill` may be NULL: then all memory is unknown at first.  `max_bytes`
 * limits the memory used.  Returns NULL when memory runs out.
 */
struct vt_known_memory *vt_known_memory_new(vt_known_fill_fn *fill, void *arg, size_t max_bytes);
void vt_known_memory_free(struct vt_known_memory *m);

/* Resets the memory to its initial contents.  This is fast, because it is done for each sample. */
void vt_known_memory_reset(struct vt_known_memory *m);

/*
 * Declares that other threads store to the memory at any time.  All memory that can be stored to is
 * unknown from now on, also after stores, until vt_known_memory_reset().
 */
void vt_known_memory_share(struct vt_known_memory *m);

/* Makes all memory that can be stored to unknown, after a store to an unknown address. */
void vt_known_memory_forget(struct vt_known_memory *m);

/* Makes `size` bytes unknown, to which the kernel or another thread wrote. */
void vt_known_memory_forget_range(struct vt_known_memory *m, uint64_t addr, uint64_t size);

/*
 * Load and store `size` bytes, 1 to 32, with one word for each 8 of them.  A last word of fewer
 * bytes is extended with known zeros.  A stored byte with an unknown bit is unknown in memory.
 */
void vt_known_memory_load(struct vt_known_memory *m, uint64_t addr, unsigned size,
			  struct vt_word *words);
void vt_known_memory_store(struct vt_known_memory *m, uint64_t addr, unsigned size,
			   const struct vt_word *words);

/* Sets bytes to known values, which a system call wrote or a recorder recorded. */
void vt_known_memory_set(struct vt_known_memory *m, uint64_t addr, const uint8_t *bytes,
			 size_t size);

#endif
