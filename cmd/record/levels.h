/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_LEVELS_H
#define CMD_RECORD_LEVELS_H

#include "base/buf.h"
#include "base/error.h"
#include "calibrate/levels.h"

/* What loads take on this machine, measured as the agent measures those of programs. */
struct levels {
	uint32_t clock; /* ticks that reading the clock takes, the mean */
	struct vt_level_class classes[VT_LEVELS_MAX];
	size_t count;
};

/*
 * Measures loads that hit each cache, and loads of lines that were flushed from all of them
 * (CLFLUSH): for some hundredths of a second.  0 or -VT_E_NOMEM.
 */
int levels_measure(struct levels *l, struct vt_error *err);

/* The ticks that a load took, of what was measured; at least 1. */
uint32_t levels_net(const struct levels *l, uint64_t measured);

/* A load of so many ticks in the words of perf_event_open(2), data_src. */
uint64_t levels_source(const struct levels *l, uint32_t ticks);

/* Appends what the classes are: "L1/L2<40 L3<160 memory", as the plugin latency.so reads it. */
void levels_name(const struct levels *l, struct vt_buf *text);

#endif
