/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_STACKS_H
#define CMD_COMMON_STACKS_H

#include <stdbool.h>

#include "base/opt.h"
#include "chains/gather.h"
#include "cmd/common/app.h"
#include "stacks/stacks.h"

/* How a stream is read into counted stacks. */
struct app_stacks_how {
	const char *path; /* NULL: standard input */
	const char *symfs;
	const struct vt_opt_list *events;
	bool all;	/* values of each event; otherwise of the first one */
	bool both;	/* two values of an event: its samples, and the sum of their periods */
	bool by_period; /* otherwise one: this one, if set */
	bool inlined;	/* with inlined functions as frames */
	bool lines;	/* with source lines */
	bool labels;	/* with a root for each thread on each CPU */
};

/* The stacks, and what the program says of them. */
struct app_stacks {
	struct vt_stacks *stacks;
	const char *name;	     /* of the input */
	struct vt_callcounts chains; /* of the first value's event */
	bool sampled;		     /* that is one of the stream, not executed code or the like */
};

/*
 * Reads a stream.  Without a choice of the user, the first value is of the first event with call
 * chains, or with samples at all.  False after app_fail().  Call app_stacks_end() in either case.
 */
bool app_stacks_read(struct app *a, const struct app_stacks_how *how, struct app_stacks *s);
void app_stacks_end(struct app_stacks *s);

#endif
