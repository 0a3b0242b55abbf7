/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/recording/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/recording/session.h"

static const char control_name[] = "control";
static const char shared_name[] = "shared";

#define RING_NAME_SIZE 64

static char *format_ring_name(char name[RING_NAME_SIZE], int32_t pid, uint32_t seq)
{
	snprintf(name, RING_NAME_SIZE, "ring.%d.%u", (int)pid, (unsigned)seq);
	return name;
}

/* ---- opening ---- */

static int set_system_error(const struct vt_recording *r, const char *name, struct vt_error *err)
{
	return vt_error_errno(err, VT_E_SYSTEM, errno, "%s/%s", r->dir, name);
}

static int make_shared(struct vt_recording *r, struct vt_error *err)
{
	int fd = openat(r->dirfd, shared_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	void *p = MAP_FAILED;

	/* posix_fallocate() returns its error. */
	if (fd >= 0)
		errno = posix_fallocate(fd, 0, sizeof(*r->shared));
	if (fd >= 0 && !errno)
		p = mmap(NULL, sizeof(*r->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		int rc = set_system_error(r, shared_name, err);

		if (fd >= 0)
			close(fd);
		return rc;
	}
	close(fd);
	r->shared = p;
	*r->shared = (struct vt_ring_shared){.magic = VT_RING_MAGIC, .next_id = 1};
	return 0;
}

static int start_recording(struct vt_recording *r, struct vt_error *err)
{
	r->dirfd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dirfd < 0)
		return set_system_error(r, "", err);
	if (mkfifoat(r->dirfd, control_name, 0600) < 0)
		return set_system_error(r, control_name, err);
	r->control = openat(r->dirfd, control_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* With our own writer, reading does not find the end while there is no recorder. */
	if (r->control >= 0)
		r->writer = openat(r->dirfd, control_name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->writer < 0)
		return set_system_error(r, control_name, err);
	r->chunk = calloc(1, sizeof(*r->chunk));
	if (!r->chunk)
		return vt_error_nomem(err);
	if (vti_rc_images_init(&r->images, err) < 0)
		return -(int)err->code;
	return make_shared(r, err);
}

struct vt_recording *vt_recording_open(const char *dir, struct vt_writer *w,
				       const struct vt_recording_options *opt, struct vt_error *err)
{
	struct vt_recording *r = calloc(1, sizeof(*r));

	if (r)
		r->dir = strdup(dir);
	if (!r || !r->dir) {
		free(r);
		vt_error_nomem(err);
		return NULL;
	}
	r->dirfd = r->control = r->writer = -1;
	r->w = w;
	r->opt = *opt;
	if (start_recording(r, err) < 0) {
		vt_recording_close(r);
		return NULL;
	}
	return r;
}

int vt_recording_fd(const struct vt_recording *r)
{
	return r->control;
}

/* ---- processes ---- */

static struct rc_process *find_recorded_process(const struct vt_recording *r, int32_t pid)
{
	size_t i;

	for (i = r->nprocesses; i > 0; i--)
		if (r->processes[i - 1]->pid == pid)
			return r->processes[i - 1];
	return NULL;
}

static struct rc_process *add_process(struct vt_recording *r, int32_t pid, int32_t ppid,
				      struct vt_error *err)
{
	struct rc_process *p = calloc(1, sizeof(*p));

	if (!p ||
	    !vt_array_grow(&r->processes, &r->processes_cap, r->nprocesses + 1, sizeof(void *))) {
		free(p);
		vt_error_nomem(err);
		return NULL;
	}
	p->pid = pid;
	p->ppid = ppid;
	p->skip = r->opt.skip;
	p->count = r->opt.count ? r->opt.count : UINT64_MAX;
	r->processes[r->nprocesses++] = p;
	return p;
}

static void free_process(struct rc_process *p)
{
	vti_rc_ring_unmap(&p->ring);
	vt_buf_free(&p->program);
	free(p->threads);
	free(p);
}

static void warn_of_process(const struct vt_recording *r, const struct rc_process *p,
			    const char *text)
{
	char line[VT_ERROR_SIZE + 64];

	if (!r->opt.warn)
		return;
	snprintf(line, sizeof(line), "process %d: %s", (int)p->pid, text);
	r->opt.warn(r->opt.warn_arg, line);
}

/* ---- reading buffers ---- */

/* 0, or -VT_E_NOMEM.  Writes a GAP record of damage, after which the ring is not read any more. */
static int handle_damage(struct vt_recording *r, struct rc_process *p, int rc, uint64_t bytes,
			 struct vt_error *err)
{
	struct vt_error why = *err;

	if (rc == 0)
		return 0;
	if (rc != -VT_E_DAMAGED)
		return rc;
	vti_rc_gap(r, p, why.text, bytes);
	warn_of_process(r, p, why.text);
	p->broken = true;
	return 0;
}

static int read_ring_buffer(struct vt_recording *r, struct rc_process *p, const struct rc_filled *f,
			    struct vt_error *err)
{
	struct vt_error write_error = VT_ERROR_INIT;
	int rc = 0;

	if (!r->stopped && vt_writer_error(r->w, &write_error) < 0)
		vt_recording_stop(r);
	if (!r->stopped && !p->broken)
		rc = handle_damage(r, p, vti_rc_read(r, p, f, err),
				   f->ids_size + (uint64_t)f->data_size, err);
	return rc;
}

/* Reads the buffers that are full. */
static int read_full_buffers(struct vt_recording *r, struct rc_process *p, struct vt_error *err)
{
	struct rc_filled f;
	int got, rc = 0;

	while (rc == 0 && (got = vti_rc_ring_full(&p->ring, p->next, &f)) != 0) {
		if (got > 0) {
			rc = read_ring_buffer(r, p, &f, err);
		} else if (!p->broken) {
			vt_error_set(err, VT_E_DAMAGED, "a buffer with false bounds");
			rc = handle_damage(r, p, -VT_E_DAMAGED, 0, err);
		}
		vti_rc_ring_release(&p->ring, (uint32_t)(p->next % p->ring.nbuffers));
		p->next++;
	}
	return rc;
}

static void remove_process(struct vt_recording *r, struct rc_process *p)
{
	size_t i;

	for (i = 0; r->processes[i] != p; i++)
		;
	for (; i + 1 < r->nprocesses; i++)
		r->processes[i] = r->processes[i + 1];
	r->nprocesses--;
	free_process(p);
}

/* Removes the ring files of a process; those of its former programs are empty. */
static void remove_ring_files(const struct vt_recording *r, const struct rc_process *p)
{
	char name[RING_NAME_SIZE];
	uint32_t seq;

	for (seq = 0; seq <= p->seq; seq++)
		unlinkat(r->dirfd, format_ring_name(name, p->pid, seq), 0);
}

/* Puts a THREAD record if the process continued as an unrecorded program. */
static void put_exec_end(struct vt_recording *r, const struct rc_process *p)
{
	if (p->execs && p->unfollowed) {
		vti_rc_put_thread(r, p, VT_OP_EXEC, p->pid, p->pid, &p->program);
		r->sum.unfollowed++;
	}
}

static int end_process(struct vt_recording *r, struct rc_process *p, struct vt_error *err)
{
	int rc = read_full_buffers(r, p, err);

	put_exec_end(r, p);
	remove_ring_files(r, p);
	remove_process(r, p);
	return rc;
}

/* Reads what a dead process, or the former program of a process, had not announced. */
static int recover_ring(struct vt_recording *r, struct rc_process *p, struct vt_error *err)
{
	struct rc_filled f;
	int rc, got;

	rc = read_full_buffers(r, p, err);
	if (rc < 0 || p->broken || r->stopped)
		return rc;
	got = vti_rc_ring_current(&p->ring, p->next, &f);
	if (got > 0)
		return read_ring_buffer(r, p, &f, err);
	if (got < 0) {
		vt_error_set(err, VT_E_DAMAGED, "a last buffer with false bounds");
		return handle_damage(r, p, -VT_E_DAMAGED, 0, err);
	}
	return 0;
}

/* ---- messages ---- */

/* Maps the ring that a process has made. */
static int take_ring(struct vt_recording *r, struct rc_process *p, uint32_t seq)
{
	struct vt_error why = VT_ERROR_INIT;
	char name[RING_NAME_SIZE];
	int old;

	/* The name stays, so that recorders do not use it again. */
	if (p->ring.base) {
		old = openat(r->dirfd, format_ring_name(name, p->pid, p->seq),
			     O_WRONLY | O_CLOEXEC);
		if (old >= 0) {
			(void)!ftruncate(old, 0);
			close(old);
		}
	}
	format_ring_name(name, p->pid, seq);
	p->seq = seq;
	p->next = 0;
	p->started = p->execs = p->unfollowed = p->exited = p->broken = false;
	p->nthreads = p->running = 0;
	vti_rc_ring_unmap(&p->ring);
	if (vti_rc_ring_map(&p->ring, r->dirfd, name, &why) < 0) {
		vti_rc_gap(r, p, why.text, 0);
		warn_of_process(r, p, why.text);
		return -1;
	}
	return 0;
}

/*
 * Takes the message of a process that has made a ring.  If it was forked, the blocks of its parent
 * are known: the parent announces its buffer before it forks.
 */
static int take_hello(struct vt_recording *r, const struct vt_ring_message *m, struct vt_error *err)
{
	struct rc_process *p = find_recorded_process(r, m->pid);
	int rc = p ? recover_ring(r, p, err) : 0;

	if (rc < 0)
		return rc;
	if (!p)
		p = add_process(r, m->pid, m->ppid, err);
	if (!p)
		return -VT_E_NOMEM;
	if (take_ring(r, p, m->seq) < 0)
		remove_process(r, p);
	return 0;
}

static int take_message(struct vt_recording *r, const struct vt_ring_message *m,
			struct vt_error *err)
{
	struct rc_process *p;

	if (m->type == VT_RING_HELLO && m->pid > 0)
		return take_hello(r, m, err);
	p = find_recorded_process(r, m->pid);
	if (!p || p->seq != m->seq)
		return 0;
	return m->type == VT_RING_BYE ? end_process(r, p, err) : read_full_buffers(r, p, err);
}

int vt_recording_read(struct vt_recording *r, struct vt_error *err)
{
	struct vt_ring_message m;
	bool any = false;
	ssize_t n;
	int rc;

	for (;;) {
		n = read(r->control, r->message + r->message_size, sizeof(m) - r->message_size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return set_system_error(r, control_name, err);
		if (n <= 0)
			return any;
		any = true;
		r->message_size += (size_t)n;
		if (r->message_size < sizeof(m))
			continue;
		r->message_size = 0;
		memcpy(&m, r->message, sizeof(m));
		rc = take_message(r, &m, err);
		if (rc < 0)
			return rc;
	}
}

/* ---- the end ---- */

int32_t vt_recording_running(const struct vt_recording *r, size_t i)
{
	return i < r->nprocesses ? r->processes[i]->pid : 0;
}

int vt_recording_dead(struct vt_recording *r, int32_t pid, struct vt_error *err)
{
	struct rc_process *p = find_recorded_process(r, pid);
	int rc;

	if (!p)
		return 0;
	rc = recover_ring(r, p, err);
	/* Another program began, without a recorder. */
	p->unfollowed = p->unfollowed || p->execs;
	if (!p->exited && !r->stopped && !(p->execs && p->unfollowed)) {
		r->sum.cut += !p->broken; /* what it did last is not known */
		vti_rc_put_thread(r, p, VT_OP_EXIT, p->pid, p->pid, NULL);
	}
	return rc < 0 ? rc : end_process(r, p, err);
}

void vt_recording_stop(struct vt_recording *r)
{
	r->stopped = true;
	atomic_store((_Atomic uint32_t *)&r->shared->stop, 1);
}

const struct vt_recording_summary *vt_recording_summary(const struct vt_recording *r)
{
	return &r->sum;
}

/* Removes what is left in the directory. */
static void clear_directory(const struct vt_recording *r)
{
	DIR *d = opendir(r->dir);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (strncmp(e->d_name, "ring.", 5) == 0)
			unlinkat(r->dirfd, e->d_name, 0);
	if (d)
		closedir(d);
	unlinkat(r->dirfd, control_name, 0);
	unlinkat(r->dirfd, shared_name, 0);
}

void vt_recording_close(struct vt_recording *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->nprocesses; i++)
		free_process(r->processes[i]);
	free(r->processes);
	if (r->shared)
		munmap(r->shared, sizeof(*r->shared));
	if (r->dirfd >= 0) {
		clear_directory(r);
		close(r->dirfd);
	}
	if (r->control >= 0)
		close(r->control);
	if (r->writer >= 0)
		close(r->writer);
	vti_rc_images_fini(&r->images);
	vti_rc_blocks_fini(&r->blocks);
	vt_buf_free(&r->events);
	free(r->chunk);
	free(r->dir);
	free(r);
}
