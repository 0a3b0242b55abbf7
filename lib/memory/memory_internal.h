/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_INTERNAL_H
#define VT_MEMORY_INTERNAL_H

#include "image/maptree.h"
#include "memory/accesses.h"
#include "memory/cells.h"
#include "memory/frames.h"
#include "memory/loads.h"
#include "memory/memory.h"
#include "memory/objects.h"
#include "memory/records.h"
#include "stream/misses.h"

/* Live allocations and anonymous mappings of all processes together. */
#define VTI_MAX_ALLOCATIONS (1u << 24)

/* An allocation: a map's `image` is the index of one. */
struct vti_instance {
	uint64_t start;
	uint64_t size;
	uint64_t born;	 /* executed instructions of the process */
	uint32_t object; /* VTI_NO_OBJECT: free for another allocation */
	bool mapping;	 /* by mmap or mremap */
	bool inherited;	 /* by a fork: its object does not count it */
};

/* A HEAP record that waits for its place in the executed code. */
struct vti_heap_event {
	uint64_t first;
	uint64_t addr;
	uint64_t size;
	uint64_t old;
	uint64_t caller;
	int64_t tid;
	uint32_t op; /* enum vt_heap_op */
};

struct vti_memory_thread {
	int64_t tid;
	struct vti_frames frames;
	uint64_t epoch; /* of its process when it ran last */
};

struct vti_memory_process {
	int64_t pid;
	uint32_t number; /* of vt_memory.processes */
	struct vti_cells cells;
	struct vti_node *allocations;
	struct vti_node *regions; /* anonymous mappings that the kernel made, and the heap of brk */
	uint64_t brk;		  /* where the heap begins; 0: not known */
	uint64_t brk_end;
	struct vt_hash entries; /* procedures by their address: struct vti_entry_object */
	uint64_t changes;	/* of the address space, when `entries` was right */
	struct vti_heap_event *waiting;
	size_t nwaiting;
	size_t waiting_cap;
	struct vt_hash thread_ids;
	struct vti_memory_thread **threads;
	size_t nthreads;
	size_t threads_cap;
	uint64_t next;	/* instructions before the run that continues the last one */
	uint64_t epoch; /* one more each time that the order breaks off */
};

struct vt_memory {
	struct vt_memory_options o;
	struct vt_context *context;
	struct vti_objects objects;
	struct vti_block_accesses *blocks; /* by id */
	size_t nblocks;
	struct vt_hash process_ids;
	struct vti_memory_process **processes;
	size_t nprocesses;
	size_t processes_cap;
	struct vti_nodes allocation_nodes;
	struct vti_nodes region_nodes;
	struct vti_instance *instances;
	size_t ninstances;
	size_t instances_cap;
	uint32_t *free_instances;
	size_t nfree_instances;
	size_t free_instances_cap;
	struct vti_sharing sharing;
	struct vt_memrecords *records; /* of a profile that was made before */
	struct vti_loads loads;
	struct vt_hash sampled; /* locations of samples with a grain of 0: samples.c */
	uint64_t nsampled;	/* so many, those before the last drop included */
	struct vt_misses misses;
	struct vt_memory_totals totals;
	/* After vt_memory_finish(). */
	struct vt_shared_line **lines;
	size_t nlines;
};

/* Where the memory at an address belongs. */
struct vti_memory_at {
	uint64_t base; /* the address of the object's offset 0 */
	uint64_t low;  /* [low, high) is the object's */
	uint64_t high;
	uint32_t object;
	bool stack; /* `base` is the top of a frame, which lies below it */
};

struct vti_memory_process *vti_memory_process(struct vt_memory *m, int64_t pid);
struct vti_memory_thread *vti_memory_thread(struct vti_memory_process *p, int64_t tid);

/* ---- allocations.c ---- */

/* Applies what happened before the instruction `position` of the process.  0 or an error. */
int vti_memory_heap_until(struct vt_memory *m, struct vti_memory_process *p, uint64_t position,
			  struct vt_error *err);
/* Takes a HEAP record; a SYSCALL record, for mappings and the heap of brk. */
int vti_memory_heap(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err);
int vti_memory_mappings(struct vt_memory *m, struct vti_memory_process *p, uint64_t number,
			const uint64_t *args, int64_t result, struct vt_error *err);
/* The allocation that holds an address, or NULL. */
const struct vti_instance *vti_memory_instance(const struct vt_memory *m,
					       const struct vti_memory_process *p,
					       uint64_t address);

void vti_memory_forget_allocations(struct vt_memory *m, struct vti_memory_process *p);
/* A process begins with copies of what another has. */
int vti_memory_inherit(struct vt_memory *m, const struct vti_memory_process *from,
		       struct vti_memory_process *to, struct vt_error *err);

/* ---- resolve.c ---- */

/* Finds the object of an address that is in none of the thread's known frames.  False: no memory.
 */
bool vti_memory_resolve(struct vt_memory *m, struct vti_memory_process *p,
			struct vti_memory_thread *t, uint64_t address, struct vti_memory_at *at);
/* The object of an address on a thread's stack. */
bool vti_memory_on_stack(struct vt_memory *m, struct vti_memory_process *p,
			 struct vti_memory_thread *t, uint64_t address, struct vti_memory_at *at);
/* Adds the place of a code address to a key. */
void vti_memory_key_code(struct vt_memory *m, const struct vti_memory_process *p, uint64_t address,
			 struct vti_object_key *key);

/* The mapping of an address, or NULL; the object of the procedure that holds a code address. */
const struct vt_map *vti_memory_map(struct vt_memory *m, const struct vti_memory_process *p,
				    uint64_t address);
bool vti_memory_procedure(struct vt_memory *m, struct vti_memory_process *p, uint64_t entry,
			  struct vti_memory_at *at);

/* ---- samples.c ---- */

void vti_memory_samples_init(struct vt_memory *m);
/* Takes a SAMPLE record.  0 or an error. */
int vti_memory_sample(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err);

/* ---- touch.c ---- */

/* Drops the half of the locations, at their limit.  False: no memory. */
bool vti_memory_drop(struct vt_memory *m);

struct vti_touch {
	uint64_t addr;
	uint64_t ip;
	uint64_t position;    /* of the instruction in the process's */
	const uint8_t *value; /* `size` bytes */
	uint32_t size;
	bool store;
};

/* Counts an access.  0 or -VT_E_NOMEM. */
int vti_memory_touch(struct vt_memory *m, struct vti_memory_process *p, struct vti_memory_thread *t,
		     const struct vti_touch *a, struct vt_error *err);
/* The kernel wrote or read memory: changes what is known of it, and counts nothing. */
int vti_memory_kernel_wrote(struct vt_memory *m, struct vti_memory_process *p, uint64_t addr,
			    const uint8_t *data, size_t size, struct vt_error *err);
void vti_memory_kernel_read(struct vt_memory *m, struct vti_memory_process *p, uint64_t addr,
			    uint64_t size);
/* A range belongs to another object from now on; `dead`: what nobody loaded is lost. */
void vti_memory_new_owner(struct vt_memory *m, struct vti_memory_process *p, uint64_t start,
			  uint64_t size, bool dead);

#endif
