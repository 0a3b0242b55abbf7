/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_BPF_COMPILE_H
#define CMD_BPF_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "cmd/bpf/program.h"

/*
 * Compiles x86-64 code to the operations of the walk (program.h).  Each instruction is compiled
 * once for each space of addresses; both sides of a branch are followed.
 */

#define BPF_CODE_MAX 15 /* bytes of an instruction */

/* Copies code at `pc` to `bytes`: how many bytes could be read, up to BPF_CODE_MAX. */
typedef size_t bpf_fetch_fn(void *arg, uint64_t space, uint64_t pc, uint8_t bytes[BPF_CODE_MAX]);

/* Where the operations of an instruction begin. */
struct bpf_code_entry {
	struct bpf_walk_at at; /* first: the key of the table */
	uint32_t op;
	uint32_t pad; /* 0 */
};

struct bpf_compiler {
	struct bpf_walk_op *pool; /* of BPF_WALK_POOL, borrowed */
	bpf_fetch_fn *fetch;
	void *fetch_arg;
	uint32_t used;		     /* operations of the pool */
	struct vt_hash codes;	     /* of bpf_code_entry; new ones are at its end */
	struct bpf_pending *pending; /* private from here on */
	size_t npending;
	struct bpf_fixup *fixups;
	size_t nfixups;
};

/* 0 or -VT_E_NOMEM.  `pool` and `fetch` are borrowed. */
int bpf_compiler_init(struct bpf_compiler *c, struct bpf_walk_op *pool, bpf_fetch_fn *fetch,
		      void *fetch_arg, struct vt_error *err);
void bpf_compiler_fini(struct bpf_compiler *c);

/* Whether there may be no room for what bpf_compile() adds; bpf_compiler_clear() makes room. */
bool bpf_compiler_is_full(const struct bpf_compiler *c);
void bpf_compiler_clear(struct bpf_compiler *c);

/*
 * Compiles what the next `depth` instructions from `pc` on may be, as far as their code can be
 * read; the rest is looked up in the map of code when a walk comes there.  Entries are added to
 * `codes`.  0 or -VT_E_NOMEM.
 */
int bpf_compile(struct bpf_compiler *c, uint64_t space, uint64_t pc, uint32_t depth,
		struct vt_error *err);

#endif
