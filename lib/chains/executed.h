/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CHAINS_EXECUTED_H
#define VT_CHAINS_EXECUTED_H

#include "base/error.h"
#include "chains/tree.h"
#include "profile/context.h"
#include "stream/record.h"

/*
 * The call tree of executed code: exact, from the calls and returns of each thread's blocks
 * (flow/callstack.h).  Every executed instruction counts at its place, below the calls that led
 * there.
 *
 * After a gap, at the edge of a window and after an execve(), the callers are unknown until they
 * return; code before is at the root.  A signal's handler is below the instruction that it
 * interrupted.  Of a chain of more than VT_CHAIN_MAX frames, the innermost ones are left out.
 *
 * Memory: an entry for each block in each chain that it was executed in.
 */
struct vti_execchains;

/* Finds or adds the key of a place in a process's user mode.  -VT_E_NOMEM. */
typedef int vti_place_key_fn(void *arg, int32_t pid, uint64_t address, uint32_t *key,
			     struct vt_error *err);

/* `root` is a node of the tree; all are borrowed.  NULL: VT_E_NOMEM. */
struct vti_execchains *vti_execchains_new(struct vt_context *context, struct vt_calltree *tree,
					  uint32_t root, vti_place_key_fn *place, void *arg);
void vti_execchains_free(struct vti_execchains *c);

/*
 * Takes a record of the context's stream.  Records that contradict themselves are left out, as by a
 * profile.  -VT_E_NOMEM.
 */
int vti_execchains_feed(struct vti_execchains *c, const struct vt_record *rec,
			struct vt_error *err);

/* Counts the instructions in the tree, once, after the last record.  -VT_E_NOMEM. */
int vti_execchains_finish(struct vti_execchains *c, struct vt_error *err);

/* The executed instructions, and those of them in chains that were cut. */
uint64_t vti_execchains_insns(const struct vti_execchains *c);
uint64_t vti_execchains_cut(const struct vti_execchains *c);

#endif
