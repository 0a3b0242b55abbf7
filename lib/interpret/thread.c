/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "interpret/path.h"

static int set_thread_nomem(struct vt_error *err)
{
	return vt_error_set(err, VT_E_NOMEM, "out of memory for threads");
}

struct vti_path_process *vti_path_process(struct vti_paths *p, int64_t pid, struct vt_error *err)
{
	struct vti_path_process *process = vt_hash_add(&p->processes, &pid, NULL);

	if (!process)
		set_thread_nomem(err);
	return process;
}

void vti_path_free_state(struct vti_paths *p)
{
	unsigned i;

	for (i = 0; i < VTI_PATH_THREADS; i++)
		free(p->threads[i].registers);
	for (i = 0; i < VTI_PATH_THREADS; i++)
		vt_callstack_fini(&p->threads[i].stack);
	for (i = 0; i < VTI_PATH_MEMORIES; i++)
		vt_known_memory_free(p->memories[i].known);
}

/* ---- memory ---- */

/* Only data that no store can change: when the dynamic linker is done with other data is unknown.
 */
static uint64_t fill_constant_line(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE],
				   bool lasting)
{
	const struct vti_path_memory *m = arg;

	(void)lasting;
	return vti_spaces_constants(&m->paths->in->spaces, m->pid, addr, false, bytes);
}

static void begin_memory(struct vti_path_memory *m, bool shared)
{
	vt_known_memory_reset(m->known);
	if (shared)
		vt_known_memory_share(m->known);
}

static struct vti_path_memory *find_memory(struct vti_paths *p, int64_t pid)
{
	unsigned i;

	for (i = 0; i < VTI_PATH_MEMORIES; i++)
		if (p->memories[i].used && p->memories[i].pid == pid)
			return &p->memories[i];
	return NULL;
}

/* That of a process which was not used for the longest time is given up. */
static struct vti_path_memory *new_memory(struct vti_paths *p, int64_t pid)
{
	struct vti_path_memory *m = &p->memories[0];
	unsigned i;

	for (i = 1; i < VTI_PATH_MEMORIES; i++)
		if (p->memories[i].used < m->used)
			m = &p->memories[i];
	if (!m->known)
		m->known = vt_known_memory_new(fill_constant_line, m, VTI_PATH_MEMORY);
	if (!m->known)
		return NULL;
	m->paths = p;
	m->pid = pid;
	m->space = 0;
	return m;
}

static int switch_memory(struct vti_paths *p, int64_t pid, struct vt_error *err)
{
	const struct vti_path_process *process = vti_path_process(p, pid, err);
	struct vti_path_memory *m = find_memory(p, pid);
	uint64_t space = vti_spaces_number(&p->in->spaces, pid, err);

	if (!process || !space)
		return -VT_E_NOMEM;
	if (!m)
		m = new_memory(p, pid);
	if (!m)
		return set_thread_nomem(err);
	m->used = p->clock;
	/* Elsewhere mapped, constants are others. */
	if (m->space != space)
		begin_memory(m, process->many && !p->valgrind);
	m->space = space;
	p->memory = m;
	vt_interp_set_memory(p->machine, m->known);
	return 0;
}

void vti_path_lose_memory(struct vti_paths *p, int64_t pid)
{
	struct vti_path_memory *m = find_memory(p, pid);

	/* As if mapped elsewhere. */
	if (m)
		m->space = 0;
}

/* ---- threads ---- */

static struct vti_path_thread *thread_of(struct vti_paths *p, int64_t pid, int64_t tid)
{
	struct vti_path_thread *t = &p->threads[0];
	void *registers;
	unsigned i;

	for (i = 0; i < VTI_PATH_THREADS; i++) {
		if (p->threads[i].used && p->threads[i].pid == pid && p->threads[i].tid == tid)
			return &p->threads[i];
		if (p->threads[i].used < t->used)
			t = &p->threads[i];
	}
	registers = t->registers ? t->registers : malloc(vt_interp_state_size());
	if (!registers)
		return NULL;
	vt_callstack_fini(&t->stack);
	*t = (struct vti_path_thread){.pid = pid, .tid = tid, .registers = registers};
	return t;
}

static int switch_path_thread(struct vti_paths *p, int64_t pid, int64_t tid, struct vt_error *err)
{
	struct vti_path_thread *t = p->at;

	if (t && t->pid == pid && t->tid == tid)
		return 0;
	if (t)
		vt_interp_save(p->machine, t->registers);
	t = thread_of(p, pid, tid);
	if (!t)
		return set_thread_nomem(err);
	if (!p->valgrind || !t->used)
		t->goes_on = VTI_GOES_NOWHERE;
	t->used = ++p->clock;
	p->at = t;
	if (t->goes_on == VTI_GOES_NOWHERE)
		vt_interp_forget(p->machine);
	else
		vt_interp_restore(p->machine, t->registers);
	return 0;
}

/* A process that turns out to have a second thread had it, perhaps, for long. */
static int note_path_thread(struct vti_paths *p, int64_t pid, int64_t tid, struct vt_error *err)
{
	struct vti_path_process *process = vti_path_process(p, pid, err);

	if (!process)
		return -VT_E_NOMEM;
	if (process->begun && process->tid != tid && !process->many) {
		process->many = true;
		if (!p->valgrind)
			vti_path_lose_memory(p, pid);
	}
	return 0;
}

int vti_path_switch(struct vti_paths *p, int64_t pid, int64_t tid, struct vt_error *err)
{
	if (note_path_thread(p, pid, tid, err) < 0 || switch_path_thread(p, pid, tid, err) < 0)
		return -VT_E_NOMEM;
	return switch_memory(p, pid, err);
}

void vti_path_lose(struct vti_paths *p)
{
	p->at->goes_on = VTI_GOES_NOWHERE;
	vt_callstack_clear(&p->at->stack);
	vt_interp_forget(p->machine);
	vt_known_memory_forget(p->memory->known);
}

static void lose_state(struct vti_paths *p, bool all, int64_t pid)
{
	unsigned i;

	for (i = 0; i < VTI_PATH_THREADS; i++) {
		struct vti_path_thread *t = &p->threads[i];

		if (!t->used || (!all && t->pid != pid))
			continue;
		t->goes_on = VTI_GOES_NOWHERE;
		vt_callstack_clear(&t->stack);
		t->in_syscall = t->in_kernel = false;
		if (t == p->at)
			vt_interp_forget(p->machine);
	}
	for (i = 0; i < VTI_PATH_MEMORIES; i++)
		if (all || p->memories[i].pid == pid)
			p->memories[i].space = 0;
}

void vti_path_lose_process(struct vti_paths *p, int64_t pid)
{
	lose_state(p, false, pid);
}

void vti_path_lose_all(struct vti_paths *p)
{
	lose_state(p, true, 0);
}
