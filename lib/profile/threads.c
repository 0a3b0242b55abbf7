/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct thread {
	int32_t tid; /* the key */
	int32_t pid;
	char comm[VT_COMM_SIZE]; /* "": none is known */
};

struct vt_threads {
	struct vt_hash threads;
};

struct vt_threads *vt_threads_new(void)
{
	struct vt_threads *t = calloc(1, sizeof(*t));

	if (t)
		vt_hash_init(&t->threads, sizeof(struct thread), sizeof(int32_t));
	return t;
}

void vt_threads_free(struct vt_threads *t)
{
	if (!t)
		return;
	vt_hash_fini(&t->threads);
	free(t);
}

static struct thread *find_thread(const struct vt_threads *t, int32_t tid)
{
	return vt_hash_find(&t->threads, &tid);
}

static struct thread *add_thread(struct vt_threads *t, int32_t tid, struct vt_error *err)
{
	struct thread *th = find_thread(t, tid);

	if (!th && t->threads.count >= VT_THREADS_MAX)
		vt_error_set(err, VT_E_LIMIT, "more than %d threads", VT_THREADS_MAX);
	else if (!th && !(th = vt_hash_add(&t->threads, &tid, NULL)))
		vt_error_nomem(err);
	return th;
}

static int name_thread(struct vt_threads *t, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes comm = vt_record_bytes(rec, VT_THREAD_COMM);
	struct thread *th = add_thread(t, (int32_t)vt_record_i64(rec, VT_THREAD_TID), err);
	size_t size = comm.size < VT_COMM_SIZE - 1 ? comm.size : VT_COMM_SIZE - 1;

	if (!th)
		return -(int)err->code;
	th->pid = (int32_t)vt_record_i64(rec, VT_THREAD_PID);
	memcpy(th->comm, comm.data, size);
	memset(th->comm + size, 0, sizeof(th->comm) - size);
	return 0;
}

/* The thread id may have belonged to another thread before, as may the parent's. */
static int fork_thread(struct vt_threads *t, const struct vt_record *rec, struct vt_error *err)
{
	const int32_t ptid = (int32_t)vt_record_i64(rec, VT_THREAD_PTID);
	const struct thread *parent = find_thread(t, ptid);
	char comm[VT_COMM_SIZE] = "";
	struct thread *th;

	if (parent && parent->pid == (int32_t)vt_record_i64(rec, VT_THREAD_PPID))
		memcpy(comm, parent->comm, sizeof(comm));
	else if (ptid == 0)
		snprintf(comm, sizeof(comm), "swapper");
	th = add_thread(t, (int32_t)vt_record_i64(rec, VT_THREAD_TID), err);
	if (!th)
		return -(int)err->code;
	th->pid = (int32_t)vt_record_i64(rec, VT_THREAD_PID);
	memcpy(th->comm, comm, sizeof(comm));
	return 0;
}

int vt_threads_feed(void *threads, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct vt_threads *t = threads;
	int code = 0;

	if (rec.kind != VT_THREAD)
		return 0;
	for (; rec.row - first < count && code == 0; rec.row++) {
		uint64_t op = vt_record_u64(&rec, VT_THREAD_OP);

		if (op == VT_OP_COMM || op == VT_OP_EXEC)
			code = name_thread(t, &rec, err);
		else if (op == VT_OP_FORK)
			code = fork_thread(t, &rec, err);
	}
	return code;
}

const char *vt_threads_comm(const struct vt_threads *t, int32_t tid, char buf[VT_COMM_SIZE])
{
	const struct thread *th = find_thread(t, tid);

	if (th && *th->comm)
		return th->comm;
	if (tid == 0)
		return "swapper";
	snprintf(buf, VT_COMM_SIZE, ":%" PRId32, tid);
	return buf;
}
