/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "analysis/culprit_internal.h"

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

enum vt_culprit_event vt_culprit_event_of(const char *name)
{
	size_t length, i;

	/* "cpu/branch-misses/u", "branch-misses:pp" */
	for (i = 0; i < 3; i++) {
		static const char *const units[] = {"cpu/", "cpu_core/", "cpu_atom/"};

		if (strncmp(name, units[i], strlen(units[i])) == 0) {
			name += strlen(units[i]);
			break;
		}
	}
	length = strcspn(name, ":/,");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == length && strncmp(name, names[i].name, length) == 0)
			return names[i].event;
	return VT_NCULPRIT_EVENTS;
}

/*
 * How many samples there may have been where n were seen: the upper end of a Poisson mean's 97.5 %
 * interval (n + 2 sqrt(n) + 4 is above it for every n).
 */
static double at_most(double n)
{
	return n + 2 * sqrt(n) + 4;
}

/*
 * A sample falls on the instruction at which the event is noticed, or on one shortly behind it: so
 * those of a few more instructions count, too.
 */
#define SKID 6

double vti_culprit_events(const struct vti_stalled *st, enum vt_culprit_event event, uint32_t insn)
{
	const struct vti_culprit *c = st->c;
	double n = 0, period = c->in->period[event];
	uint32_t i;

	if (!(period > 0))
		return INFINITY;
	for (i = insn; i < c->cfg->ninsns && i <= insn + SKID; i++)
		n += (double)c->in->insns[i].samples[event];
	return at_most(n) * period;
}
