/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks what a recording of executed blocks says about control flow:
 *   - each block follows from the one before it in its thread: it is where that one falls through
 *or goes to, where the loaded value of a return or of an indirect jump through memory points, where
 *     a signal's handler begins or where the thread was interrupted;
 *   - each block is what its code says: lengths, end and target as decoded from the bytes, and
 *     those loads and stores that the instructions have;
 *   - the code is that of the file which is mapped there;
 *   - each run begins as many instructions after the process's start as there were before it.
 *
 *	flow_check [STREAM]
 *
 * Prints counts, one "name number" on each line, and the first faults on standard error.  Exits 1
 * when there is any, or nothing to check.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "machine/insn/insn.h"
#include "stream/bblock.h"
#include "stream/exec.h"
#include "stream/reader.h"

#define MOST_SHOWN   5	/* of each sort */
#define MOST_SIGNALS 16 /* handlers within handlers */
#define SYSCALL_SIZE 2	/* bytes of the instruction */

enum count {
	BLOCKS_KNOWN,
	BLOCKS_NO_CODE,
	INSNS_KNOWN,
	BAD_LENGTH,
	BAD_END,
	BAD_TARGET,
	BAD_SLOT,
	LOADS_UNCAUGHT,
	STORES_UNCAUGHT,
	CODE_IN_FILE,
	CODE_NOT_IN_FILE,
	CODE_OTHER,
	INSTRUCTIONS,
	EXECUTED,
	BEGUN,
	GOES_ON,
	FELL,
	BRANCHED,
	JUMPED,
	CALLED,
	BY_VALUE,
	BY_UNKNOWN,
	AFTER_SYSCALL,
	REPEATED,
	HANDLERS,
	SIGRETURNS,
	BAD_FLOW,
	BAD_FIRST,
	NCOUNTS
};

static const struct {
	const char *name;
	bool fault;
} counts[NCOUNTS] = {
	[BLOCKS_KNOWN] = {"blocks", false},
	[BLOCKS_NO_CODE] = {"blocks_without_code", false},
	[INSNS_KNOWN] = {"insns", false},
	[BAD_LENGTH] = {"bad_length", true},
	[BAD_END] = {"bad_end", true},
	[BAD_TARGET] = {"bad_target", true},
	[BAD_SLOT] = {"bad_slot", true},
	[LOADS_UNCAUGHT] = {"loads_uncaught", false},
	[STORES_UNCAUGHT] = {"stores_uncaught", false},
	[CODE_IN_FILE] = {"code_as_in_file", false},
	[CODE_NOT_IN_FILE] = {"code_without_file", false},
	[CODE_OTHER] = {"code_differs_from_file", false},
	[INSTRUCTIONS] = {"instructions", false},
	[EXECUTED] = {"blocks_executed", false},
	[BEGUN] = {"begun", false},
	[GOES_ON] = {"went_on", false},
	[FELL] = {"fell", false},
	[BRANCHED] = {"branched", false},
	[JUMPED] = {"jumped", false},
	[CALLED] = {"called", false},
	[BY_VALUE] = {"by_value", false},
	[BY_UNKNOWN] = {"by_unknown", false},
	[AFTER_SYSCALL] = {"after_syscall", false},
	[REPEATED] = {"repeated", false},
	[HANDLERS] = {"handlers", false},
	[SIGRETURNS] = {"sigreturns", false},
	[BAD_FLOW] = {"bad_flow", true},
	[BAD_FIRST] = {"bad_first", true},
};

struct image {
	uint64_t id; /* first: the key */
	char *path;
};

struct mapping {
	int64_t pid;
	uint64_t start, end, offset, image;
};

struct process {
	int64_t pid; /* first: the key */
	uint64_t executed;
	bool begun;
};

struct thread {
	int64_t key[2]; /* pid, tid; first: the key */
	const struct vt_bblock *block;
	uint32_t insn_end;
	bool has_value; /* what the block's last instruction loaded, 8 bytes: */
	uint64_t value;
	uint64_t handler;
	uint64_t interrupted[MOST_SIGNALS];
	size_t nsignals;
};

struct checker {
	struct vt_bblocks *dict;
	struct vt_hash processes, threads, images;
	struct mapping *maps;
	size_t nmaps, maps_cap;
	bool values;	/* loads are recorded */
	bool addresses; /* and stores */
	uint64_t n[NCOUNTS];
};

static void die(const char *what)
{
	fprintf(stderr, "flow_check: %s\n", what);
	exit(1);
}

static void note(struct checker *c, enum count which, const char *fmt, ...) VT_PRINTF(3, 4);

static void note(struct checker *c, enum count which, const char *fmt, ...)
{
	va_list ap;

	if (c->n[which]++ >= MOST_SHOWN)
		return;
	fprintf(stderr, "flow_check: %s: ", counts[which].name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* ---- what blocks are ---- */

static enum vt_block_end end_of(const struct vt_facts *f)
{
	if (f->flags & VT_FACT_SYSCALL)
		return VT_END_SYSCALL;
	if (f->flags & VT_FACT_RETURN)
		return VT_END_RETURN;
	if (f->flags & VT_FACT_CALL)
		return f->flags & VT_FACT_INDIRECT ? VT_END_CALL_INDIRECT : VT_END_CALL;
	if (f->flags & VT_FACT_JUMP)
		return f->flags & VT_FACT_INDIRECT ? VT_END_JUMP_INDIRECT : VT_END_JUMP;
	if (f->flags & VT_FACT_CONDITIONAL && f->flags & VT_FACT_BRANCH)
		return VT_END_BRANCH;
	return VT_END_FALL;
}

static bool has_slot(const struct vt_bblock *b, uint32_t insn, enum vt_what what)
{
	uint32_t i;

	for (i = 0; i < b->nslots; i++)
		if (b->slots[i].insn == insn && b->slots[i].what == what)
			return true;
	return false;
}

static void check_accesses(struct checker *c, const struct vt_bblock *b, uint32_t i,
			   const struct vt_facts *f)
{
	uint64_t at = vt_bblock_insn_addr(b, i);
	bool again = f->flags & VT_FACT_REPEATED; /* no more to do */
	bool load = has_slot(b, i, VT_WHAT_LOAD), store = has_slot(b, i, VT_WHAT_STORE);

	if (c->values && f->flags & VT_FACT_LOAD && !load && !again)
		note(c, LOADS_UNCAUGHT, "%s at %#" PRIx64, f->mnemonic, at);
	if (c->addresses && f->flags & VT_FACT_STORE && !store && !again)
		note(c, STORES_UNCAUGHT, "%s at %#" PRIx64, f->mnemonic, at);
	if (load && !(f->flags & VT_FACT_LOAD) && !(f->flags & VT_FACT_MASKED))
		note(c, BAD_SLOT, "a load of %s at %#" PRIx64, f->mnemonic, at);
	if (store && !(f->flags & VT_FACT_STORE))
		note(c, BAD_SLOT, "a store of %s at %#" PRIx64, f->mnemonic, at);
}

static void check_block(struct checker *c, const struct vt_bblock *b)
{
	struct vt_facts f = {0};
	uint32_t i, at = 0;

	c->n[BLOCKS_KNOWN]++;
	c->n[INSNS_KNOWN] += b->ninsns;
	if (!b->code) {
		c->n[BLOCKS_NO_CODE]++;
		return;
	}
	for (i = 0; i < b->ninsns; i++) {
		if (!vt_facts_decode(b->code + at, b->size - at, &f) || f.length != b->lengths[i])
			note(c, BAD_LENGTH, "%#" PRIx64 ": %u, not %u", b->addr + at, b->lengths[i],
			     f.length);
		if (i + 1 < b->ninsns && end_of(&f) != VT_END_FALL)
			note(c, BAD_END, "%s within a block at %#" PRIx64, f.mnemonic,
			     b->addr + at);
		check_accesses(c, b, i, &f);
		at += b->lengths[i];
	}
	if (b->end != VT_END_OTHER && end_of(&f) != b->end)
		note(c, BAD_END, "%s at %#" PRIx64 " is a %s", f.mnemonic,
		     vt_bblock_insn_addr(b, b->ninsns - 1), vt_block_end_name(b->end));
	if (f.has_target && b->end != VT_END_OTHER &&
	    b->target != vt_bblock_insn_addr(b, b->ninsns - 1) + (uint64_t)f.target)
		note(c, BAD_TARGET, "%s at %#" PRIx64 " goes to %#" PRIx64, f.mnemonic,
		     vt_bblock_insn_addr(b, b->ninsns - 1), b->target);
}

/* Compares the code with the file that was mapped there last. */
static void check_file(struct checker *c, const struct vt_bblock *b)
{
	uint8_t data[VT_MAX_BLOCK_INSNS * VT_MAX_INSN];
	size_t i = c->nmaps;

	while (i--) {
		const struct mapping *m = &c->maps[i];
		const struct image *image;
		ssize_t n = -1;
		int fd;

		if (m->pid != b->pid || b->addr < m->start || b->addr + b->size > m->end)
			continue;
		image = vt_hash_find(&c->images, &m->image);
		fd = image && image->path[0] == '/' ? open(image->path, O_RDONLY) : -1;
		if (fd >= 0) {
			n = pread(fd, data, b->size, (off_t)(b->addr - m->start + m->offset));
			close(fd);
		}
		if (n < 0)
			break;
		if (n == b->size && memcmp(data, b->code, b->size) == 0)
			c->n[CODE_IN_FILE]++;
		else
			note(c, CODE_OTHER, "%s: %#" PRIx64, image->path, b->addr);
		return;
	}
	c->n[CODE_NOT_IN_FILE]++;
}

static int learn_block(struct checker *c, const struct vt_record *rec, struct vt_error *err)
{
	int code = vt_bblocks_add(c->dict, rec, err);
	const struct vt_bblock *b;
	uint32_t i;

	if (code < 0)
		return code;
	b = vt_bblocks_get(c->dict, vt_record_u64(rec, VT_BLOCK_ID));
	for (i = 0; i < b->nslots; i++) {
		c->values |= b->slots[i].what == VT_WHAT_LOAD;
		c->addresses |= b->slots[i].what == VT_WHAT_STORE;
	}
	check_block(c, b);
	if (b->code)
		check_file(c, b);
	return 0;
}

static void learn_image(struct checker *c, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct image *m = vt_hash_add(&c->images, &id, NULL);

	if (!m)
		die("out of memory");
	free(m->path);
	m->path = strndup((const char *)path.data, path.size);
}

static void learn_map(struct checker *c, const struct vt_record *rec)
{
	struct mapping m = {.pid = vt_record_i64(rec, VT_MAP_PID),
			    .start = vt_record_u64(rec, VT_MAP_START),
			    .offset = vt_record_u64(rec, VT_MAP_OFFSET),
			    .image = vt_record_u64(rec, VT_MAP_IMAGE)};

	m.end = m.start + vt_record_u64(rec, VT_MAP_LENGTH);
	if (!vt_array_grow(&c->maps, &c->maps_cap, c->nmaps + 1, sizeof(m)))
		die("out of memory");
	c->maps[c->nmaps++] = m;
}

/* ---- what follows what ---- */

static struct thread *thread_of(struct checker *c, int64_t pid, int64_t tid)
{
	int64_t key[2] = {pid, tid};
	struct thread *t = vt_hash_add(&c->threads, key, NULL);

	if (!t)
		die("out of memory");
	return t;
}

/* True when a thread that has executed t->block may go on at `pc`; counts how. */
static bool follows(struct checker *c, struct thread *t, uint64_t pc)
{
	const struct vt_bblock *b = t->block;
	uint64_t next = b->addr + b->size;
	uint64_t last = vt_bblock_insn_addr(b, b->ninsns - 1);
	enum count how = FELL;
	bool good = pc == next;

	if (t->insn_end < b->ninsns) {
		good = pc == vt_bblock_insn_addr(b, t->insn_end);
		how = GOES_ON;
	} else if (b->end == VT_END_BRANCH && pc == b->target) {
		good = true;
		how = BRANCHED;
	} else if (b->end == VT_END_JUMP || b->end == VT_END_CALL) {
		good = pc == b->target;
		how = b->end == VT_END_CALL ? CALLED : JUMPED;
	} else if (b->end == VT_END_RETURN || b->end == VT_END_CALL_INDIRECT ||
		   b->end == VT_END_JUMP_INDIRECT) {
		good = !t->has_value || pc == t->value;
		how = t->has_value ? BY_VALUE : BY_UNKNOWN;
	} else if (b->end == VT_END_SYSCALL) {
		how = AFTER_SYSCALL;
		if (!good && t->nsignals && (pc == t->interrupted[t->nsignals - 1])) {
			t->nsignals--;
			good = true;
			how = SIGRETURNS;
		}
	} else if (b->end == VT_END_OTHER && pc == last) {
		good = true;
		how = REPEATED;
	}
	if (good)
		c->n[how]++;
	return good;
}

static void check_flow(struct checker *c, struct thread *t, uint64_t pc)
{
	if (t->handler) {
		if (pc != t->handler)
			note(c, BAD_FLOW, "handler at %#" PRIx64 ", not %#" PRIx64, pc, t->handler);
		c->n[HANDLERS]++;
		t->handler = 0;
	} else if (!t->block) {
		c->n[BEGUN]++;
	} else if (!follows(c, t, pc)) {
		note(c, BAD_FLOW,
		     "pid %" PRId64 " tid %" PRId64 " at %#" PRIx64 " after the %s of %#" PRIx64
		     " (%u of %u instructions), which ends before %#" PRIx64 ", target %#" PRIx64
		     ", value %#" PRIx64,
		     t->key[0], t->key[1], pc, vt_block_end_name(t->block->end), t->block->addr,
		     t->insn_end, t->block->ninsns, t->block->addr + t->block->size,
		     t->block->target, t->value);
	}
}

/* What the last instruction of a step loaded, as an address. */
static void keep_value(struct thread *t, const struct vt_step *s)
{
	uint32_t i = s->slot_end;

	t->has_value = false;
	while (i-- > s->slot && s->block->slots[i].insn + 1u == s->block->ninsns) {
		if (s->block->slots[i].what != VT_WHAT_LOAD || s->block->slots[i].size != 8)
			continue;
		t->has_value = true;
		t->value = vt_step_value(s, i, 0);
	}
}

static int run_exec(struct checker *c, const struct vt_record *rec, struct vt_error *err)
{
	int64_t pid = vt_record_i64(rec, VT_EXEC_PID);
	struct thread *t = thread_of(c, pid, vt_record_i64(rec, VT_EXEC_TID));
	struct process *p = vt_hash_add(&c->processes, &pid, NULL);
	uint64_t first = vt_record_u64(rec, VT_EXEC_FIRST);
	struct vt_exec x;
	struct vt_step s;
	int code = vt_exec_open(&x, c->dict, rec, err);

	if (code < 0)
		return code;
	if (!p)
		die("out of memory");
	if (first != p->executed)
		note(c, BAD_FIRST, "%" PRIu64 ", not %" PRIu64, first, p->executed);
	p->executed = first + x.insns;
	c->n[INSTRUCTIONS] += x.insns;
	while ((code = vt_exec_next(&x, &s, err)) > 0) {
		c->n[EXECUTED]++;
		check_flow(c, t, vt_bblock_insn_addr(s.block, s.insn));
		t->block = s.block;
		t->insn_end = s.insn_end;
		keep_value(t, &s);
	}
	return code;
}

/* Interrupted where it could have gone on, or in a system call that is to be made again. */
static void run_signal(struct checker *c, const struct vt_record *rec)
{
	struct thread *t =
		thread_of(c, vt_record_i64(rec, VT_SIGNAL_PID), vt_record_i64(rec, VT_SIGNAL_TID));
	uint64_t ip = vt_record_u64(rec, VT_SIGNAL_IP);
	uint64_t handler = vt_record_u64(rec, VT_SIGNAL_HANDLER);

	if (!handler)
		return;
	if (t->handler) {
		if (ip != t->handler)
			note(c, BAD_FLOW, "a signal before the first instruction of a handler");
	} else if (t->block && !follows(c, t, ip) &&
		   !(t->block->end == VT_END_SYSCALL &&
		     ip == t->block->addr + t->block->size - SYSCALL_SIZE)) {
		note(c, BAD_FLOW, "a signal hit %#" PRIx64 " after %#" PRIx64, ip, t->block->addr);
	}
	if (t->nsignals == MOST_SIGNALS)
		die("too many signals in signals");
	t->interrupted[t->nsignals++] = ip;
	t->handler = handler;
}

/* A child runs where its parent is, as far as this thread is concerned; a program begins anew. */
static void run_thread(struct checker *c, const struct vt_record *rec)
{
	int64_t pid = vt_record_i64(rec, VT_THREAD_PID);
	int64_t ppid = vt_record_i64(rec, VT_THREAD_PPID);
	struct process *p;
	size_t i;

	if (vt_record_u64(rec, VT_THREAD_OP) == VT_OP_EXEC)
		for (i = 0; i < c->threads.count; i++) {
			struct thread *t = vt_hash_at(&c->threads, i);

			if (t->key[0] == pid) {
				t->block = NULL;
				t->nsignals = 0;
			}
		}
	if (vt_record_u64(rec, VT_THREAD_OP) != VT_OP_FORK || ppid == pid)
		return;
	for (i = c->nmaps; i--;)
		if (c->maps[i].pid == ppid) {
			if (!vt_array_grow(&c->maps, &c->maps_cap, c->nmaps + 1, sizeof(*c->maps)))
				die("out of memory");
			c->maps[c->nmaps] = c->maps[i];
			c->maps[c->nmaps++].pid = pid;
		}
	p = vt_hash_add(&c->processes, &pid, NULL);
	if (!p)
		die("out of memory");
}

/* Between windows nothing is recorded. */
static void run_state(struct checker *c, const struct vt_record *rec)
{
	struct thread *t =
		thread_of(c, vt_record_i64(rec, VT_STATE_PID), vt_record_i64(rec, VT_STATE_TID));

	if (vt_record_u64(rec, VT_STATE_REASON) != VT_STATE_WINDOW)
		return;
	t->block = NULL;
	t->handler = 0;
	t->nsignals = 0;
}

static int run(struct checker *c, struct vt_reader *r, struct vt_error *err)
{
	struct vt_record rec;
	int code;

	while ((code = vt_reader_next(r, &rec, err)) > 0) {
		switch (rec.kind) {
		case VT_BLOCK:
			code = learn_block(c, &rec, err);
			break;
		case VT_EXEC:
			code = run_exec(c, &rec, err);
			break;
		case VT_SIGNAL:
			run_signal(c, &rec);
			break;
		case VT_STATE:
			run_state(c, &rec);
			break;
		case VT_IMAGE:
			learn_image(c, &rec);
			break;
		case VT_MAP:
			learn_map(c, &rec);
			break;
		case VT_THREAD:
			run_thread(c, &rec);
			break;
		default:
			break;
		}
		if (code < 0)
			return code;
	}
	return code;
}

static void clear(struct checker *c)
{
	size_t i;

	for (i = 0; i < c->images.count; i++)
		free(((struct image *)vt_hash_at(&c->images, i))->path);
	vt_hash_fini(&c->images);
	vt_hash_fini(&c->threads);
	vt_hash_fini(&c->processes);
	vt_bblocks_free(c->dict);
	free(c->maps);
}

int main(int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open(argc > 1 ? argv[1] : "-", &err);
	struct checker c = {.dict = vt_bblocks_new()};
	bool bad;
	int i;

	if (!r || !c.dict) {
		fprintf(stderr, "flow_check: %s\n", err.text);
		return 1;
	}
	vt_hash_init(&c.processes, sizeof(struct process), sizeof(int64_t));
	vt_hash_init(&c.threads, sizeof(struct thread), 2 * sizeof(int64_t));
	vt_hash_init(&c.images, sizeof(struct image), sizeof(uint64_t));
	bad = run(&c, r, &err) < 0;
	if (bad)
		fprintf(stderr, "flow_check: %s\n", err.text);
	bad |= !c.n[EXECUTED];
	for (i = 0; i < NCOUNTS; i++) {
		printf("%s %" PRIu64 "\n", counts[i].name, c.n[i]);
		bad |= counts[i].fault && c.n[i];
	}
	clear(&c);
	vt_reader_close(r);
	return bad;
}
