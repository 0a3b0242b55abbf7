/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_RUNNABLE_H
#define CMD_VTRACE_RUNNABLE_H

#include <stdbool.h>

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

#endif
