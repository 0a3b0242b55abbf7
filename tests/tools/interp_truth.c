/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares what the interpreter says with a recording of what was executed.
 *
 *	interp_truth [-s SEED] [-v] [-w N] [STREAM]
 *
 * Needs addresses (record --full --values=all --mem).  The interpreter follows the recording, told
 * what loads read.  From random places on, others run for 16 to 128 instructions: freely or along
 * the recorded path, with all registers or some, with the memory that the recording tells or the
 * stack alone.  Each value that they say to know must be the recorded one.
 *
 * Prints for each way of running its name, instructions, runs, those of full length, values
 * captured, values compared, and differences, and their sums; with -v also why runs ended and
 * values by their kind.  With -w, one result in N is falsified first.  The first differences are on
 *standard error.  Exits 1 when there is any, or nothing to compare.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "stream/reader.h"
#include "tests/tools/common/accesses.h"
#include "tests/tools/common/shadow.h"
#include "tests/tools/common/truth.h"
#include "tests/tools/common/truth_run.h"

#define STEPS  4096 /* looked at together */
#define PROT_X 4    /* PROT_EXEC */

struct process {
	int64_t pid; /* first: the key */
	struct shadow memory, code;
};

struct thread {
	int64_t tid; /* first: the key */
	struct registers registers, recorded;
};

struct image {
	uint64_t id; /* first: the key */
	char *path;
};

struct replay {
	struct vt_bblocks *dict;
	struct vt_hash processes, threads, images;
	struct truth truth;
	struct vt_step steps[STEPS];
};

static void die(const char *what)
{
	fprintf(stderr, "interp_truth: %s\n", what);
	exit(1);
}

static struct process *process_of(struct replay *p, int64_t pid)
{
	bool added;
	struct process *a = vt_hash_add(&p->processes, &pid, &added);

	if (!a)
		die("out of memory");
	if (added) {
		shadow_init(&a->memory);
		shadow_init(&a->code);
	}
	return a;
}

static struct thread *thread_of(struct replay *p, int64_t tid)
{
	struct thread *t = vt_hash_add(&p->threads, &tid, NULL);

	if (!t)
		die("out of memory");
	return t;
}

/* The follower has the registers of one thread. */
static void turn_to(struct replay *p, int64_t pid, int64_t tid)
{
	struct truth *t = &p->truth;
	struct process *a = process_of(p, pid);
	struct thread *th;

	t->memory = &a->memory;
	t->code = &a->code;
	if (t->pid != pid)
		vt_known_memory_forget(t->known);
	if (t->pid == pid && t->tid == tid)
		return;
	th = thread_of(p, t->tid);
	registers_get(&th->registers, t->follower);
	th->recorded = t->recorded;
	th = thread_of(p, tid);
	vt_interp_forget(t->follower);
	registers_set(t->follower, &th->registers);
	t->recorded = th->recorded;
	t->pid = pid;
	t->tid = tid;
}

/* ---- executed code ---- */

static int run_exec(struct replay *p, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_exec x;
	size_t n = 0;
	int code = vt_exec_open(&x, p->dict, rec, err);

	if (code < 0)
		return code;
	turn_to(p, x.pid, x.tid);
	while ((code = vt_exec_next(&x, &p->steps[n], err)) > 0) {
		if (++n < STEPS)
			continue;
		truth_steps(&p->truth, p->steps, n - 1, truth_addr(&p->steps[n - 1]));
		p->steps[0] = p->steps[n - 1];
		n = 1;
	}
	if (n)
		truth_steps(&p->truth, p->steps, n, 0);
	return code;
}

/* ---- what the kernel does ---- */

/* System calls that change what memory holds without writing to it (asm/unistd_64.h). */
enum {
	NR_MMAP = 9,
	NR_MUNMAP = 11,
	NR_BRK = 12,
	NR_MREMAP = 25,
	NR_MADVISE = 28,
	NR_SHMAT = 30,
	NR_ARCH_PRCTL = 158
};

#define SET_FS 0x1002 /* ARCH_SET_FS of asm/prctl.h */

#define HEAP_MOST (UINT64_C(1) << 40)

static void system_call(struct replay *p, const struct vt_record *rec)
{
	struct vt_words args = vt_record_words(rec, VT_SYSCALL_ARGS);
	uint64_t result = vt_record_u64(rec, VT_SYSCALL_RESULT);
	struct shadow *m;

	turn_to(p, vt_record_i64(rec, VT_SYSCALL_PID), vt_record_i64(rec, VT_SYSCALL_TID));
	m = p->truth.memory;
	p->truth.recorded.w[VT_REG_AX][0] = vt_word_of(result);
	vt_interp_set(p->truth.follower, VT_REG_AX, 0, vt_word_of(result));
	if (args.count < 6)
		return;
	switch (vt_record_u64(rec, VT_SYSCALL_NUMBER)) {
	case NR_MMAP:
		shadow_forget(m, result, args.data[1]);
		break;
	case NR_MUNMAP:
	case NR_MADVISE:
		shadow_forget(m, args.data[0], args.data[1]);
		break;
	case NR_MREMAP:
		shadow_forget(m, args.data[0], args.data[1]);
		shadow_forget(m, result, args.data[2]);
		break;
	case NR_BRK:
	case NR_SHMAT:
		shadow_forget(m, result, HEAP_MOST);
		break;
	case NR_ARCH_PRCTL:
		if (args.data[0] == SET_FS && !result)
			vt_interp_set(p->truth.follower, VT_REG_FS, 0, vt_word_of(args.data[1]));
		break;
	default:
		break;
	}
}

static void kernel_write(struct replay *p, const struct vt_record *rec)
{
	struct vt_bytes b = vt_record_bytes(rec, VT_MEMORY_DATA);
	int64_t pid = vt_record_i64(rec, VT_MEMORY_PID);
	uint64_t addr = vt_record_u64(rec, VT_MEMORY_ADDR);

	shadow_put(&process_of(p, pid)->memory, addr, b.data, b.size, 1);
	if (pid == p->truth.pid)
		vt_known_memory_set(p->truth.known, addr, b.data, b.size);
}

/* Somebody wrote to memory, and nobody tells where. */
static void forget_memory(struct replay *p, int64_t pid)
{
	shadow_forget(&process_of(p, pid)->memory, 0, UINT64_MAX);
	vt_known_memory_forget(p->truth.known);
}

static void new_state(struct replay *p, const struct vt_record *rec)
{
	struct vt_words regs = vt_record_words(rec, VT_STATE_REGS);
	struct vt_bytes vector = vt_record_bytes(rec, VT_STATE_VECTOR);
	struct registers *r = &p->truth.recorded;
	unsigned i, lane;

	turn_to(p, vt_record_i64(rec, VT_STATE_PID), vt_record_i64(rec, VT_STATE_TID));
	memset(r, 0, sizeof(*r));
	if (vt_record_u64(rec, VT_STATE_REASON) == VT_STATE_WINDOW)
		forget_memory(p, p->truth.pid);
	for (i = 0; i < regs.count && i <= VT_REG_R15; i++)
		r->w[i][0] = vt_word_of(regs.data[i]);
	for (i = 0; i < 16 && 32 * (size_t)(i + 1) <= vector.size; i++)
		for (lane = 0; lane < 4; lane++)
			r->w[VT_REG_VECTOR + i][lane] = vt_word_of(
				bytes_number(vector.data + 32 * (size_t)i + 8 * (size_t)lane, 8));
	vt_interp_forget(p->truth.follower);
	registers_set(p->truth.follower, r);
	r->w[VT_REG_IP][0] = r->w[VT_REG_FLAGS][0] = (struct vt_word){0, 0};
}

/* ---- code ---- */

static void learn_image(struct replay *p, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_IMAGE_ID);
	struct vt_bytes path = vt_record_bytes(rec, VT_IMAGE_PATH);
	struct image *m = vt_hash_add(&p->images, &id, NULL);

	if (!m)
		die("out of memory");
	free(m->path);
	m->path = strndup((const char *)path.data, path.size);
}

static void learn_map(struct replay *p, const struct vt_record *rec)
{
	uint64_t id = vt_record_u64(rec, VT_MAP_IMAGE), start = vt_record_u64(rec, VT_MAP_START);
	uint64_t length = vt_record_u64(rec, VT_MAP_LENGTH), got = 0;
	struct process *a = process_of(p, vt_record_i64(rec, VT_MAP_PID));
	const struct image *m = vt_hash_find(&p->images, &id);
	uint8_t data[SHADOW_PAGE];
	ssize_t n;
	int fd;

	if (!(vt_record_u64(rec, VT_MAP_PROT) & PROT_X))
		return;
	shadow_forget(&a->code, start, length);
	truth_forget_code(&p->truth, a->pid);
	fd = m && m->path && m->path[0] == '/' ? open(m->path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	while (got < length && (n = pread(fd, data, sizeof(data),
					  (off_t)(vt_record_u64(rec, VT_MAP_OFFSET) + got))) > 0) {
		shadow_put(&a->code, start + got, data, (uint64_t)n, 1);
		got += (uint64_t)n;
	}
	close(fd);
}

static void thread_event(struct replay *p, const struct vt_record *rec)
{
	int64_t pid = vt_record_i64(rec, VT_THREAD_PID);
	struct process *a = process_of(p, pid);

	switch (vt_record_u64(rec, VT_THREAD_OP)) {
	case VT_OP_EXIT: /* the kernel clears the thread's number */
		forget_memory(p, pid);
		break;
	case VT_OP_EXEC:
		forget_memory(p, pid);
		shadow_forget(&a->code, 0, UINT64_MAX);
		truth_forget_code(&p->truth, pid);
		break;
	default:
		break;
	}
}

/* ---- the stream ---- */

static int feed(struct replay *p, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_BLOCK:
		return vt_bblocks_add(p->dict, rec, err);
	case VT_EXEC:
		return run_exec(p, rec, err);
	case VT_MEMORY:
		kernel_write(p, rec);
		break;
	case VT_SIGNAL: /* Valgrind writes more than it says */
		forget_memory(p, vt_record_i64(rec, VT_SIGNAL_PID));
		break;
	case VT_STATE:
		new_state(p, rec);
		break;
	case VT_SYSCALL:
		system_call(p, rec);
		break;
	case VT_IMAGE:
		learn_image(p, rec);
		break;
	case VT_MAP:
		learn_map(p, rec);
		break;
	case VT_THREAD:
		thread_event(p, rec);
		break;
	default:
		break;
	}
	return 0;
}

static void clear(struct replay *p)
{
	size_t i;

	for (i = 0; i < p->processes.count; i++) {
		struct process *a = vt_hash_at(&p->processes, i);

		shadow_fini(&a->memory);
		shadow_fini(&a->code);
	}
	for (i = 0; i < p->images.count; i++)
		free(((struct image *)vt_hash_at(&p->images, i))->path);
	vt_hash_fini(&p->processes);
	vt_hash_fini(&p->threads);
	vt_hash_fini(&p->images);
	vt_bblocks_free(p->dict);
	truth_fini(&p->truth);
}

static int replay(const char *path, uint64_t seed, uint64_t falsify, bool verbose)
{
	static struct replay p;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open(path, &err);
	struct vt_record rec;
	int code = 0;

	p.dict = vt_bblocks_new();
	if (!r || !p.dict || !truth_init(&p.truth, seed, &err))
		die(err.text);
	p.truth.falsify = falsify;
	vt_hash_init(&p.processes, sizeof(struct process), sizeof(int64_t));
	vt_hash_init(&p.threads, sizeof(struct thread), sizeof(int64_t));
	vt_hash_init(&p.images, sizeof(struct image), sizeof(uint64_t));
	while (code >= 0 && (code = vt_reader_next(r, &rec, &err)) > 0)
		code = feed(&p, &rec, &err);
	if (code < 0)
		fprintf(stderr, "interp_truth: %s\n", err.text);
	if (!truth_report(&p.truth, verbose))
		code = -1;
	clear(&p);
	vt_reader_close(r);
	return code < 0;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, falsify = 0;
	bool verbose = false;
	int c;

	while ((c = getopt(argc, argv, "s:vw:")) != -1) {
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'w':
			falsify = strtoull(optarg, NULL, 0);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			fprintf(stderr, "usage: interp_truth [-s SEED] [-v] [-w N] [STREAM]\n");
			return 2;
		}
	}
	return replay(optind < argc ? argv[optind] : "-", seed, falsify, verbose);
}
