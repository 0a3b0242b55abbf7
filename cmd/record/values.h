/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_VALUES_H
#define CMD_RECORD_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "cmd/common/app.h"
#include "cmd/record/loads.h"

/*
 * `vtrace record --sample-values`: samples a program by an agent in its processes, with the memory
 * that the next instructions read.
 */

#define VALUES_INSNS	 16 /* by default */
#define VALUES_INSNS_MAX 128
/* The kernel's timer has no shorter period, and a handler takes 4 to 10 microseconds. */
#define VALUES_RATE_MAX	  100000 /* samples in a second */
#define VALUES_PERIOD_MIN 10000
#define VALUES_OWN_ARGS                                                                            \
	32 /* more than the options of the recorder, which are kept with the others */
#define VALUES_FREQUENCY 1000 /* samples in a second of processor time, by default */

struct values_options {
	bool on;
	bool insns_given;
	bool steps;   /* single-step what was walked, and record the registers of each step */
	bool latency; /* time loads, so many instructions behind what a sample has */
	bool distance_given;
	uint64_t distance;
	uint64_t insns;
	uint64_t one_in;      /* so many samples has registers and memory */
	const char *fraction; /* "1/K", as it was given, or NULL */
	uint64_t frequency;
	uint64_t period; /* 0: that of the frequency */
	bool pack;
	bool bpf;	    /* by a program in the kernel: record_bpf(), with these two */
	bool all_cpus;	    /* sample the whole machine */
	uint64_t pid;	    /* or this process; 0: not given */
	const char *output; /* NULL: standard output if that is a pipe, else vtrace.vt */
	const char *compress;
};

/* The options for these; `o`: the struct values_options. */
#define VALUES_OPTIONS(o)                                                                          \
	{0, "sample-values", VT_OPT_FLAG, &(o).on,                                                 \
	 .help = "samples of time, each with the memory that the next instructions read:\n"        \
		 "what vinterp needs to know their values (-z zstd:15); with it:"},                \
		{0,                                                                                \
		 "insns",                                                                          \
		 VT_OPT_U64,                                                                       \
		 &(o).insns,                                                                       \
		 .arg = "N",                                                                       \
		 .min = 1,                                                                         \
		 .max = VALUES_INSNS_MAX,                                                          \
		 .given = &(o).insns_given,                                                        \
		 .help = "the next N instructions (default 16)"},                                  \
		{0,                                                                                \
		 "frequency",                                                                      \
		 VT_OPT_STRING,                                                                    \
		 &(o).fraction,                                                                    \
		 .arg = "1/K",                                                                     \
		 .help = "only one in K samples, chosen at random; the others are of time alone"}, \
		{0, "latency", VT_OPT_FLAG, &(o).latency,                                          \
		 .help = "also time loads further on, as samples of the event loads:u"},           \
		{0,                                                                                \
		 "distance",                                                                       \
		 VT_OPT_U64,                                                                       \
		 &(o).distance,                                                                    \
		 .arg = "N",                                                                       \
		 .max = LOADS_DISTANCE_MAX,                                                        \
		 .given = &(o).distance_given,                                                     \
		 .help = "at least N instructions further on (default 512)"},                      \
		{0, "steps", VT_OPT_FLAG, &(o).steps,                                              \
		 .help = "also single-step them and record each step: to check values by, slow"},  \
	{                                                                                          \
		0, "bpf", VT_OPT_FLAG, &(o).bpf,                                                   \
			.help = "by a program in the kernel: any program, with -p and -a, and "    \
				"the kernel"                                                       \
	}

/*
 * Runs the program of the operands.  Returns its exit status, or 128 + the signal that ended it;
 * errors of the recording are in the app's status.
 */
int record_values(struct app *a, const struct values_options *o);

#endif
