/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_PROCESSES_H
#define CMD_RECORD_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which programs that were started have an agent, and why others have none. */

enum unsampled {
	UNSAMPLED_STATIC,  /* no dynamic linker loads an agent */
	UNSAMPLED_SETUID,  /* or does not for a program with other rights than its caller's */
	UNSAMPLED_FOREIGN, /* of 32 bits, or of another machine */
	UNSAMPLED_OTHER,   /* as with another environment */
	NUNSAMPLED,
	UNSAMPLED_NOT = -1
};

/* What a message calls them: "static", "set-user-id" …. */
const char *unsampled_name(enum unsampled why);

/* Looks at a program's file: whether, and why, no agent can be loaded.  UNSAMPLED_NOT: it can. */
enum unsampled look_at_program(const char *path);

struct processes {
	struct process_event *events; /* private */
	size_t nevents;
	size_t cap;
	uint64_t count[NUNSAMPLED];
	bool no_memory;
};

/* A process has executed a program, or has an agent.  Initially all zero. */
void processes_exec(struct processes *p, int32_t pid, uint64_t time);
/*
 * A process has mapped code of a file.  The first one after an exec is the program, which a process
 * that ended soon is not there to tell.
 */
void processes_map(struct processes *p, int32_t pid, const char *path);
void processes_attach(struct processes *p, int32_t pid, uint64_t time);

/* Counts those that never had an agent, and frees. */
void processes_end(struct processes *p);

#endif
