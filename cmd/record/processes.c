/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/processes.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

/* The two kinds come from different sources, so they are put in order at the end. */
struct process_event {
	uint64_t time;
	int32_t pid;
	int8_t why; /* of an exec, by its file */
	bool attach;
	bool looked; /* the file was there */
};

const char *unsampled_name(enum unsampled why)
{
	static const char *const names[NUNSAMPLED] = {
		"static", "set-user-id", "of another architecture", "without an agent"};

	return why >= 0 && why < NUNSAMPLED ? names[why] : "";
}

/* True if one of the program headers names a dynamic linker. */
static bool has_interpreter(int fd, const Elf64_Ehdr *e)
{
	Elf64_Phdr p;
	unsigned i;

	for (i = 0; i < e->e_phnum; i++) {
		off_t at = (off_t)(e->e_phoff + (uint64_t)i * e->e_phentsize);

		if (pread(fd, &p, sizeof(p), at) != (ssize_t)sizeof(p))
			return false;
		if (p.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* A script, and what cannot be read, is left to the kernel and to the program that it names. */
enum unsampled look_at_program(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum unsampled why = UNSAMPLED_NOT;
	struct stat st;
	Elf64_Ehdr e;

	if (fd < 0)
		return UNSAMPLED_NOT;
	if (read(fd, &e, sizeof(e)) == (ssize_t)sizeof(e) &&
	    memcmp(e.e_ident, ELFMAG, SELFMAG) == 0) {
		if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != EM_X86_64)
			why = UNSAMPLED_FOREIGN;
		else if (!has_interpreter(fd, &e))
			why = UNSAMPLED_STATIC;
		else if (fstat(fd, &st) == 0 &&
			 (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
			  ((st.st_mode & S_ISGID) && st.st_gid != getegid())))
			why = UNSAMPLED_SETUID;
	}
	close(fd);
	return why;
}

static void add_event(struct processes *p, struct process_event e)
{
	if (!vt_array_grow(&p->events, &p->cap, p->nevents + 1, sizeof(e)))
		p->no_memory = true;
	else
		p->events[p->nevents++] = e;
}

void processes_exec(struct processes *p, int32_t pid, uint64_t time)
{
	struct process_event e = {.time = time, .pid = pid};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	e.looked = access(path, R_OK) == 0;
	e.why = (int8_t)look_at_program(path);
	add_event(p, e);
}

/* How far back an exec is looked for. */
#define RECENT 64

void processes_map(struct processes *p, int32_t pid, const char *path)
{
	size_t i;

	for (i = 0; i < RECENT && i < p->nevents; i++) {
		struct process_event *e = &p->events[p->nevents - 1 - i];

		if (e->pid != pid || e->attach)
			continue;
		if (!e->looked)
			e->why = (int8_t)look_at_program(path);
		e->looked = true;
		return;
	}
}

void processes_attach(struct processes *p, int32_t pid, uint64_t time)
{
	add_event(p, (struct process_event){.time = time, .pid = pid, .attach = true});
}

static int compare_events(const void *a, const void *b)
{
	const struct process_event *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

void processes_end(struct processes *p)
{
	const struct process_event *e, *end = p->events + p->nevents;

	if (p->nevents)
		qsort(p->events, p->nevents, sizeof(*p->events), compare_events);
	for (e = p->events; e < end; e++) {
		bool attached = e + 1 < end && e[1].pid == e->pid && e[1].attach;

		if (!e->attach && !attached)
			p->count[e->why == UNSAMPLED_NOT ? UNSAMPLED_OTHER : e->why]++;
	}
	free(p->events);
	p->events = NULL;
	p->nevents = 0;
}
