/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_BPF_H
#define CMD_RECORD_BPF_H

#include "cmd/common/app.h"
#include "cmd/record/values.h"

/*
 * `vtrace record --sample-values --bpf`: the samples of record_values() by a program in the kernel,
 * of any program, of processes that run already, of the whole machine, and of the kernel itself.
 *
 * Returns the exit status of the operands' program, or 128 + the signal that ended it; 0 without
 * one.  Errors of the recording are in the app's status.
 */
int record_bpf(struct app *a, const struct values_options *o);

#endif
