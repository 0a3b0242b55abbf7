/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_ADDRSPACE_H
#define VT_IMAGE_ADDRSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/map.h"
#include "stream/record.h"

/*
 * The mappings of all processes and of the kernel at the current position in a stream.  Feed it the
 * stream's records in order, and ask which image is mapped at an address.
 *
 * Memory: the live mappings, those of the VT_DEAD_PROCESSES processes that ended last (samples of a
 * process may follow its end), and 32 bytes per process number ever seen.
 */
struct vt_addrspace;

#define VT_DEAD_PROCESSES 256
#define VT_MAX_PROCESSES  4194304 /* PID_MAX_LIMIT of linux/threads.h, 64 bit */
#define VT_MAX_MAPS	  2097152 /* live mappings of all processes together */

/* The process number of the kernel's own mappings. */
#define VT_PID_KERNEL (-1)

/*
 * Generated kernel code (KSYMBOL records: BPF programs, trampolines) has no IMAGE record.  The n-th
 * KSYMBOL record, from 0, that registers a symbol makes an image with id VT_KSYMBOL_IMAGE + n.
 * vt_images, fed the same stream, numbers them in the same way.
 */
#define VT_KSYMBOL_IMAGE 0x80000000u

/* The flag of a KSYMBOL record that unregisters a symbol: linux/perf_event.h,
 * PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER. */
#define VT_KSYMBOL_GOES 1

/* Returns an empty address space set, owned by the caller, or NULL when memory runs out. */
struct vt_addrspace *vt_addrspace_new(void);
void vt_addrspace_free(struct vt_addrspace *as);

/*
 * Processes a record: IMAGE, MAP, THREAD or KSYMBOL; others are ignored.  A mapping replaces what
 * it overlaps.  A mapping of length 0 is ignored, except the kernel's own, which then extends to
 * the end of the address space.  Returns 0, or -VT_E_NOMEM or -VT_E_LIMIT: the record is then
 * ignored, and the caller may continue.
 */
int vt_addrspace_feed(struct vt_addrspace *as, const struct vt_record *rec, struct vt_error *err);

/* Sets the type (enum vt_image_type) of an image before it is mapped; the default is a file. */
int vt_addrspace_image(struct vt_addrspace *as, uint32_t image, unsigned type,
		       struct vt_error *err);

/* At least 1, and another number after each change of a mapping. */
uint64_t vt_addrspace_changes(const struct vt_addrspace *as);

/*
 * Maps an image of a process: `map` has the addresses, the base, the image, the protection and the
 * type.
 */
int vt_addrspace_map(struct vt_addrspace *as, int32_t pid, const struct vt_map *map,
		     struct vt_error *err);

/* Unmaps [start, start + length) of a process. */
int vt_addrspace_unmap(struct vt_addrspace *as, int32_t pid, uint64_t start, uint64_t length,
		       struct vt_error *err);

/* Registers (`comes`) or unregisters a symbol of generated kernel code at an address. */
int vt_addrspace_ksymbol(struct vt_addrspace *as, uint64_t start, uint64_t length, bool comes,
			 struct vt_error *err);

/*
 * Returns true if the recorder records all mappings of the process with their protection, not only
 * executable ones.  Only then is it certain that pages with constants were never writable.
 */
bool vt_addrspace_reports_data(const struct vt_addrspace *as, int32_t pid);

/*
 * Handles the start of a process (pid != ppid) or of a thread.  With `inherit`, a process inherits
 * its parent's mappings.  Otherwise it starts with none: the record is part of a snapshot, and the
 * process's own mappings follow.
 */
int vt_addrspace_fork(struct vt_addrspace *as, int32_t pid, int32_t ppid, bool inherit,
		      struct vt_error *err);

/* Handles an exec: removes the mappings of the process. */
void vt_addrspace_exec(struct vt_addrspace *as, int32_t pid);

/*
 * Handles the end of a thread; that of the main thread ends the process.  Threads are not counted,
 * because recorders write the end of a thread once per event, or omit its start.
 */
void vt_addrspace_exit(struct vt_addrspace *as, int32_t pid, int32_t tid);

/*
 * Returns the mapping at an address of a process, or NULL if none is known.  `misc` has the CPU
 * mode of linux/perf_event.h (PERF_RECORD_MISC_CPUMODE_MASK): 1 searches the kernel, 2 the process;
 * 0, unknown, searches the kernel for addresses in the upper half.  Nothing is found for
 * hypervisors and guests.  Borrowed until the next change.
 */
const struct vt_map *vt_addrspace_find(struct vt_addrspace *as, int32_t pid, uint64_t address,
				       uint64_t misc);

/*
 * Finds the mappings of a process around an address: the last that starts at or below it, and the
 * first above it, each NULL if there is none.  Borrowed as above.
 */
void vt_addrspace_around(struct vt_addrspace *as, int32_t pid, uint64_t address,
			 const struct vt_map **below, const struct vt_map **above);

/* Returns the number of mappings, for tests and statistics. */
size_t vt_addrspace_count(const struct vt_addrspace *as);

#endif
