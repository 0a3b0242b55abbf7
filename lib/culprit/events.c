/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "culprit/internal.h"

/* Samples of events, and what they prove. */

/* DCPI's names and perf's, without modifiers: perf-list(1), perf's generic and hardware events. */
static const struct {
	const char *name;
	enum vt_culprit_event event;
} names[] = {
	{"imiss", VT_CULPRIT_IMISS},
	{"L1-icache-load-misses", VT_CULPRIT_IMISS},
	{"L1-icache-misses", VT_CULPRIT_IMISS},
	{"frontend_retired.l1i_miss", VT_CULPRIT_IMISS},
	{"itbmiss", VT_CULPRIT_ITBMISS},
	{"iTLB-load-misses", VT_CULPRIT_ITBMISS},
	{"iTLB-misses", VT_CULPRIT_ITBMISS},
	{"frontend_retired.itlb_miss", VT_CULPRIT_ITBMISS},
	{"dmiss", VT_CULPRIT_DMISS},
	{"L1-dcache-load-misses", VT_CULPRIT_DMISS},
	{"mem_load_retired.l1_miss", VT_CULPRIT_DMISS},
	{"cache-misses", VT_CULPRIT_LLCMISS},
	{"LLC-load-misses", VT_CULPRIT_LLCMISS},
	{"mem_load_retired.l3_miss", VT_CULPRIT_LLCMISS},
	{"dtbmiss", VT_CULPRIT_DTBMISS},
	{"dTLB-load-misses", VT_CULPRIT_DTBMISS},
	{"dTLB-misses", VT_CULPRIT_DTBMISS},
	{"branchmp", VT_CULPRIT_BRANCHMP},
	{"branch-misses", VT_CULPRIT_BRANCHMP},
	{"branches-misses", VT_CULPRIT_BRANCHMP},
	{"br_misp_retired.all_branches", VT_CULPRIT_BRANCHMP},
};

const char *vti_culprit_event_word(const char *name, size_t *length)
{
	static const char *const units[] = {"cpu/", "cpu_core/", "cpu_atom/"};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strncmp(name, units[i], strlen(units[i])) == 0) {
			name += strlen(units[i]);
			break;
		}
	}
	*length = strcspn(name, ":/,");
	return name;
}

enum vt_culprit_event vt_culprit_event_of(const char *name)
{
	size_t length, i;

	name = vti_culprit_event_word(name, &length);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == length && strncmp(name, names[i].name, length) == 0)
			return names[i].event;
	return VT_NCULPRIT_EVENTS;
}

double vti_culprit_at_most(double n)
{
	return n + 2 * sqrt(n) + 4;
}

/*
 * How far behind the instruction samples of its events are looked for, in cycles and blocks; and in
 * instructions, for a block may have any number of them that take no time.  Chosen; the latter two
 * bound the time.
 */
#define BEHIND	   2
#define MAX_BLOCKS 12
#define MAX_INSNS  4096

struct ahead {
	const struct vti_culprit *c;
	enum vt_culprit_event event;
	double samples;
	double cycles; /* how far to go */
};

/* Adds up a block's from an instruction on; returns the time at its end, INFINITY: far enough. */
static double go_on(struct ahead *a, uint32_t insn, uint32_t block, double time)
{
	const struct vt_cfg_block *b = &a->c->cfg->blocks[block];
	uint32_t i;

	for (i = insn; i < b->insn + b->ninsns; i++) {
		const struct vt_culprit_insn *in = &a->c->in->insns[i];

		a->samples += (double)in->samples[a->event];
		time += in->cycles > 0 ? in->cycles : 0;
		if ((time > a->cycles && i > insn) || i - insn == MAX_INSNS)
			return INFINITY;
	}
	return time;
}

/*
 * A sample falls on the instruction that is at the head some cycles after the event: one that waits
 * for what was missed, or one on the way that control has taken since.
 */
static double samples_behind(const struct vti_culprit *c, enum vt_culprit_event event,
			     uint32_t insn)
{
	const struct vt_cfg *g = c->cfg;
	struct ahead a = {.c = c, .event = event, .cycles = (double)c->core->skid + BEHIND};
	uint32_t blocks[MAX_BLOCKS], n = 1, at, i, k;
	double time[MAX_BLOCKS] = {0};

	blocks[0] = c->block[insn];
	for (at = 0; at < n; at++) {
		const struct vt_cfg_block *b = &g->blocks[blocks[at]];
		double end = go_on(&a, at ? b->insn : insn, blocks[at], time[at]);

		for (i = 0; i < b->nout && end <= a.cycles && n < MAX_BLOCKS; i++) {
			uint32_t to = g->edges[b->out + i].to;

			for (k = 0; k < n && blocks[k] != to; k++)
				continue;
			if (to >= VT_CFG_FIRST && k == n) {
				time[n] = end;
				blocks[n++] = to;
			}
		}
	}
	return a.samples;
}

/* What is to be expected where no sample was seen, in samples.  Chosen. */
#define UNSEEN 0.3

/*
 * As many as are to be expected are those at the stalled instruction itself, because samples fall
 * on it while it waits; only a wrong branch makes nobody wait for as long as a sample takes.
 */
double vti_culprit_events(const struct vti_stalled *st, enum vt_culprit_event event, uint32_t insn)
{
	const struct vti_culprit *c = st->c;
	double n, period = c->in->period[event];

	if (!(period > 0))
		return INFINITY;
	if (st->expected && event != VT_CULPRIT_BRANCHMP)
		return ((double)c->in->insns[st->insn].samples[event] + UNSEEN) * period;
	n = samples_behind(c, event, insn);
	if (insn != st->insn)
		n += samples_behind(c, event, st->insn);
	return (st->expected ? n + UNSEEN : vti_culprit_at_most(n)) * period;
}
