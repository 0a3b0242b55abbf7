/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_PTRECORDING_H
#define TESTS_UNIT_COMMON_PTRECORDING_H

/* Streams of what perf records with Intel PT, record by record. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "stream/kinds.h"
#include "tests/unit/common/pttrace.h"
#include "tests/unit/common/streams.h"

#define PMU	 9
#define TSC_BIT	 (1U << 10)
#define MTC_BIT	 (1U << 9)
#define MTC_BITS (15U << 14)
#define EVENT	 3 /* sched:sched_switch, where there is one */

/*
 * Of two processes, each with a program at BASE; a decision tells which ran,
 * for it takes one instruction in the first (je to itself) and two in the
 * second (nop; je back).
 */
enum { ONE = 5, TWO = 6 };

static const char *const programs[] = {"\x74\xfe\xc3", "\x90\x74\xfd\xc3"};
static char files[2][32];

static inline int make_files(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		int fd;

		snprintf(files[i], sizeof(files[i]), "/tmp/vt-session-XXXXXX");
		fd = mkstemp(files[i]);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, programs[i], 4), 4);
		close(fd);
	}
	return 0;
}

static inline int remove_files(void **state)
{
	(void)state;
	unlink(files[0]);
	unlink(files[1]);
	return 0;
}

/* ---- recordings ---- */

struct recording {
	int fd;
	struct vt_writer *w;
};

enum { NO_TIMES = 1, SNAPSHOT = 2, SCHED = 4 };

static inline void put_info(struct recording *m, unsigned style)
{
	/* As perf numbers them. */
	const uint64_t priv[] = {PMU, 0,       1,	 0, 1, TSC_BIT, 0, 0, style & SNAPSHOT,
				 0,   MTC_BIT, MTC_BITS, 2, 1, 0,	32};
	uint64_t *row = vt_writer_row(m->w, VT_EVENT);

	row[VT_EVENT_TYPE] = PMU;
	row[VT_EVENT_CONFIG] = TSC_BIT;
	row[VT_EVENT_SAMPLE_TYPE] = style & NO_TIMES ? 0 : 4;
	if (style & SCHED) {
		row = vt_writer_row(m->w, VT_EVENT);
		row[VT_EVENT_ID] = EVENT;
		vt_writer_text(m->w, VT_EVENT_NAME, "sched:sched_switch");
	}
	row = vt_writer_row(m->w, VT_AUXINFO);
	row[VT_AUXINFO_TYPE] = 1;
	vt_writer_words(m->w, VT_AUXINFO_PRIV, priv, sizeof(priv) / sizeof(priv[0]));
}

static inline void put_process(struct recording *m, unsigned number, int64_t pid, uint64_t time)
{
	uint64_t *row = vt_writer_row(m->w, VT_IMAGE);

	row[VT_IMAGE_ID] = number;
	vt_writer_text(m->w, VT_IMAGE_PATH, files[number]);
	row = vt_writer_row(m->w, VT_MAP);
	row[VT_MAP_TIME] = time;
	row[VT_MAP_PID] = row[VT_MAP_TID] = (uint64_t)pid;
	row[VT_MAP_START] = BASE;
	row[VT_MAP_LENGTH] = 4096;
	row[VT_MAP_IMAGE] = number;
	row[VT_MAP_PROT] = 5;
}

static inline void begin(struct recording *m, unsigned style)
{
	m->fd = scratch_file();
	m->w = start_stream(m->fd);
	put_info(m, style);
	put_process(m, 0, ONE, style & NO_TIMES ? 0 : 1);
	put_process(m, 1, TWO, style & NO_TIMES ? 0 : 1);
}

static inline void put_area(struct recording *m, uint64_t index, int64_t cpu, int64_t tid,
			    uint64_t offset, const void *bytes, size_t size)
{
	uint64_t *row = vt_writer_row(m->w, VT_AUXTRACE);

	row[VT_AUXTRACE_INDEX] = index;
	row[VT_AUXTRACE_CPU] = (uint64_t)cpu;
	row[VT_AUXTRACE_TID] = (uint64_t)tid;
	row[VT_AUXTRACE_OFFSET] = offset;
	row[VT_AUXTRACE_TOTAL] = size;
	vt_writer_bytes(m->w, VT_AUXTRACE_DATA, bytes, size);
}

/* A thread runs on a processor from a time on. */
static inline void put_itrace(struct recording *m, uint64_t time, uint64_t cpu, int64_t id)
{
	uint64_t *row = vt_writer_row(m->w, VT_ITRACE);

	row[VT_ITRACE_TIME] = time;
	row[VT_ITRACE_CPU] = cpu;
	row[VT_ITRACE_PID] = row[VT_ITRACE_TID] = (uint64_t)id;
}

static inline void put_switch(struct recording *m, uint64_t time, uint64_t cpu, int64_t id,
			      bool out, int64_t other)
{
	uint64_t *row = vt_writer_row(m->w, VT_SWITCH);

	row[VT_SWITCH_TIME] = time;
	row[VT_SWITCH_CPU] = cpu;
	row[VT_SWITCH_PID] = row[VT_SWITCH_TID] = (uint64_t)id;
	row[VT_SWITCH_OUT] = out;
	row[VT_SWITCH_OTHER_PID] = row[VT_SWITCH_OTHER_TID] = (uint64_t)other;
}

static inline void put_sched(struct recording *m, uint64_t time, uint64_t cpu, uint32_t next,
			     size_t size)
{
	uint64_t *row = vt_writer_row(m->w, VT_SAMPLE);
	uint8_t raw[64] = {0};

	row[VT_SAMPLE_EVENT] = EVENT;
	row[VT_SAMPLE_TIME] = time;
	row[VT_SAMPLE_CPU] = cpu;
	vt_put_le32(raw + 56, next);
	vt_writer_bytes(m->w, VT_SAMPLE_RAW, raw, size);
}

static inline void put_thread(struct recording *m, unsigned op, uint64_t time, int64_t pid,
			      int64_t tid)
{
	uint64_t *row = vt_writer_row(m->w, VT_THREAD);

	row[VT_THREAD_TIME] = time;
	row[VT_THREAD_OP] = op;
	row[VT_THREAD_PID] = (uint64_t)pid;
	row[VT_THREAD_TID] = (uint64_t)tid;
}

static inline void put_aux(struct recording *m, uint64_t cpu, int64_t tid, uint64_t offset,
			   uint64_t size, uint64_t flags)
{
	uint64_t *row = vt_writer_row(m->w, VT_AUX);

	row[VT_AUX_TIME] = 7;
	row[VT_AUX_CPU] = cpu;
	row[VT_AUX_TID] = (uint64_t)tid;
	row[VT_AUX_OFFSET] = offset;
	row[VT_AUX_SIZE] = size;
	row[VT_AUX_FLAGS] = flags;
}

/* A slice of a processor's time: from a TSC on, so many decisions. */
static inline void put_slice(struct trace *t, uint64_t tsc, unsigned decisions)
{
	put_kind(t, VT_PT_PSB, 0);
	put_kind(t, VT_PT_TSC, tsc);
	put_kind(t, VT_PT_MODE_EXEC, 64);
	put_kind(t, VT_PT_PSBEND, 0);
	put_ip(t, VT_PT_TIP_PGE, BASE);
	for (; decisions; decisions--)
		put_tnt(t, "1");
	put_ip(t, VT_PT_FUP, BASE);
	put_no_ip(t, VT_PT_TIP_PGD);
}

static inline struct recording new_recording(void)
{
	struct recording m = {.fd = scratch_file()};

	m.w = start_stream(m.fd);
	return m;
}

#endif
