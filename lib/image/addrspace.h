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
 * What is mapped where, in every process and in the kernel, at the current moment of a stream.
 * Fed with a stream's records in order, it answers which image lies at an address.
 *
 * Memory: what is live, plus the maps of the VT_DEAD_PROCESSES processes that ended last (samples
 * of a process may trail its end), plus 32 bytes for each process number ever seen.
 */
struct vt_addrspace;

#define VT_DEAD_PROCESSES 256
#define VT_MAX_PROCESSES  4194304 /* PID_MAX_LIMIT of linux/threads.h, 64 bit */
#define VT_MAX_MAPS	  2097152 /* mappings that are live at one time, all processes */

/* The process number of the kernel's own mappings. */
#define VT_PID_KERNEL (-1)

/*
 * Generated kernel code (KSYMBOL records: BPF programs, trampolines) belongs to no IMAGE record.
 * The n-th such record, from 0, that announces a symbol makes an image with this id; vt_images,
 * fed with the same stream, counts in the same way.
 */
#define VT_KSYMBOL_IMAGE 0x80000000u

/* The flag of a KSYMBOL record whose symbol goes: linux/perf_event.h,
 * PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER. */
#define VT_KSYMBOL_GOES 1

/* Owned by the caller; NULL when memory runs out. */
struct vt_addrspace *vt_addrspace_new(void);
void vt_addrspace_free(struct vt_addrspace *as);

/*
 * Takes one record: IMAGE, MAP, THREAD and KSYMBOL count, the others are ignored.  Returns 0 or
 * -VT_E_NOMEM, -VT_E_LIMIT (the record is then ignored; going on is possible).
 */
int vt_addrspace_feed(struct vt_addrspace *as, const struct vt_record *rec, struct vt_error *err);

/* Tells an image's type (enum vt_image_type) before it is mapped; unknown images are files. */
int vt_addrspace_image(struct vt_addrspace *as, uint32_t image, unsigned type,
		       struct vt_error *err);

/*
 * Maps [start, start + length) of a process to an image from `offset` on.  What was mapped there is
 * cut away.  A length of 0 does nothing, except for the kernel itself, where old recorders left
 * it out: there it reaches to the end of the address space.
 */
int vt_addrspace_map(struct vt_addrspace *as, int32_t pid, uint64_t start, uint64_t length,
		     uint64_t offset, uint32_t image, uint32_t prot, uint32_t flags,
		     struct vt_error *err);
int vt_addrspace_unmap(struct vt_addrspace *as, int32_t pid, uint64_t start, uint64_t length,
		       struct vt_error *err);

/* A symbol of generated kernel code comes at an address; or goes from there. */
int vt_addrspace_ksymbol(struct vt_addrspace *as, uint64_t start, uint64_t length, bool comes,
			 struct vt_error *err);

/*
 * True if the recorder announces all mappings of the process with their protection, not only those
 * that can be executed.  Only then is it known that pages with constants were never writable.
 */
bool vt_addrspace_tells_data(const struct vt_addrspace *as, int32_t pid);

/*
 * A process (pid != ppid) or a thread starts.  With `inherit`, a process gets its parent's maps;
 * without (the record is a snapshot: its own maps follow), it starts with none.
 */
int vt_addrspace_fork(struct vt_addrspace *as, int32_t pid, int32_t ppid, bool inherit,
		      struct vt_error *err);

/* The process starts another program: its maps go. */
void vt_addrspace_exec(struct vt_addrspace *as, int32_t pid);

/*
 * A thread ends, and with its main thread the process.  Threads are not counted: recorders tell of
 * the end of one several times (once for each event), or never told of its start.
 */
void vt_addrspace_exit(struct vt_addrspace *as, int32_t pid, int32_t tid);

/*
 * What is mapped at an address of a process; NULL if nothing is known.  `misc` holds the CPU mode
 * as in linux/perf_event.h (PERF_RECORD_MISC_CPUMODE_MASK): 1 looks in the kernel, 2 in the
 * process; 0, unknown, looks in the kernel for addresses of the upper half; hypervisor and guests
 * are never found.  Borrowed until the next call that changes anything.
 */
const struct vt_map *vt_addrspace_find(struct vt_addrspace *as, int32_t pid, uint64_t address,
				       uint64_t misc);

/*
 * The mappings of a process (not of the kernel) next to an address that none holds: the last below
 * it and the first above it, each NULL if there is none.  Borrowed as above.
 */
void vt_addrspace_around(struct vt_addrspace *as, int32_t pid, uint64_t address,
			 const struct vt_map **below, const struct vt_map **above);

/* Mappings now held, for tests and figures. */
size_t vt_addrspace_count(const struct vt_addrspace *as);

#endif
