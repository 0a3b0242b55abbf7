/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_COMMAND_H
#define CMD_RECORD_COMMAND_H

#include <signal.h>
#include <stdbool.h>

#include "base/buf.h"
#include "cmd/common/app.h"

/*
 * Checks before a recording.  Each function reports what is wrong in one line, sets APP_INPUT and
 * returns false.
 */

/* 0 if execvp() would find and run a program of that name, else its errno. */
int find_program(const char *name);

/* Puts the path of the program that execvp() would run; false: there is none. */
bool find_program_path(const char *name, struct vt_buf *path);

/* Checks that the program to be recorded can be run. */
bool check_program_name(struct app *a, const char *name);

/* Checks that a file of that name can be written or created; "-" always can. */
bool check_output_name(struct app *a, const char *path);

/* ---- streams that are recorded directly: samples with memory, and full recordings ---- */

bool is_pipe(int fd);

/* The output that was asked for, or if NULL, standard output if it is a pipe, else vtrace.vt. */
const char *choose_stream_output(const char *asked);

/* The compression that was asked for, or if NULL, `of_files` unless the output is no file. */
const char *choose_stream_compression(const char *output, const char *asked, const char *of_files);

/*
 * Restores the mask of signals, and forgets those that came while they were blocked: they were for
 * the recording, which has ended.
 */
void restore_signals(const sigset_t *mask);

/* The arguments of a command line are in a buffer one after the other, each zero-terminated. */

void add_argument(struct vt_buf *command, const char *arg);

/*
 * The arguments for execvp(): owned by the caller, with texts borrowed from `command`.  NULL: no
 * memory.
 */
char **list_arguments(const struct vt_buf *command);

/* Puts the operands, with a backslash before each blank and backslash in them. */
void put_command_line(const struct app *a, struct vt_buf *line);

/*
 * Prints a command line quoted for a shell, with VARIABLE=VALUE before it unless `variable` is
 * NULL.
 */
void print_command(struct app *a, const char *variable, const char *value,
		   const struct vt_buf *command);

#endif
