/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_COMMAND_H
#define CMD_RECORD_COMMAND_H

#include <stdbool.h>

#include "base/buf.h"
#include "cmd/common/app.h"

/*
 * What can be known before a recording begins.  Each says in one line what is wrong, sets APP_INPUT
 * and returns false.
 */

/* 0 if execvp() finds a program of that name that it may run, else its errno. */
int find_program(const char *name);

/* The program that is to be recorded can be run. */
bool check_program_name(struct app *a, const char *name);

/* A file of that name can be written, or made; "-" always can. */
bool check_output_name(struct app *a, const char *path);

/* The arguments of a command line lie in a buffer one behind the other, each zero-terminated. */

void add_argument(struct vt_buf *command, const char *arg);

/*
 * The arguments as execvp() wants them: owned by the caller, but the texts stay those of `command`.
 * NULL: no memory.
 */
char **list_arguments(const struct vt_buf *command);

/* Prints a command line as a shell takes it, with VARIABLE=VALUE before it unless `variable` is
 * NULL. */
void print_command(struct app *a, const char *variable, const char *value,
		   const struct vt_buf *command);

#endif
