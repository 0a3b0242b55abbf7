/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of events that the file does not name: those of perf's command line (perf-list(1)),
 * with the modifiers that the attribute's flags stand for.
 */
#include "formats/perfdata/attr.h"

#include <inttypes.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
				     "iTLB",	  "branch",    "node"};
static const char *const cache_ops[] = {"load", "store", "prefetch"};
static const char *const cache_ops_many[] = {"loads", "stores", "prefetches"};

static void put_cache_name(struct vt_buf *out, uint64_t config)
{
	unsigned cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= COUNT(caches) || op >= COUNT(cache_ops) || result > 1) {
		vt_buf_printf(out, "invalid-cache");
		return;
	}
	if (result)
		vt_buf_printf(out, "%s-%s-misses", caches[cache], cache_ops[op]);
	else
		vt_buf_printf(out, "%s-%s", caches[cache], cache_ops_many[op]);
}

static void put_breakpoint_name(struct vt_buf *out, const struct pd_attr *a)
{
	vt_buf_printf(out, "mem:0x%" PRIx64 ":", a->config1);
	if (a->bp_type & 1)
		vt_buf_printf(out, "r");
	if (a->bp_type & 2)
		vt_buf_printf(out, "w");
	if (a->bp_type & 4)
		vt_buf_printf(out, "x");
}

/* k, u, h: the rings that are not excluded; p: precision; H, G: host and guest. */
static void put_modifiers(struct vt_buf *out, const struct pd_attr *a)
{
	const uint64_t rings = PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_HV;
	bool guest_excluded = a->flags & PD_ATTR_EXCLUDE_GUEST;
	bool usual = false;
	char text[16];
	size_t n = 0;
	unsigned i;

	if (a->flags & rings) {
		if (!(a->flags & PD_ATTR_EXCLUDE_KERNEL))
			text[n++] = 'k';
		if (!(a->flags & PD_ATTR_EXCLUDE_USER))
			text[n++] = 'u';
		if (!(a->flags & PD_ATTR_EXCLUDE_HV))
			text[n++] = 'h';
		usual = true;
	}
	for (i = 0; i < vti_pd_attr_precise(a); i++) {
		text[n++] = 'p';
		usual = true;
	}
	/* With a ring or a precision given, perf itself excludes guests; without, it does not. */
	if (a->flags & PD_ATTR_EXCLUDE_HOST || guest_excluded == usual) {
		if (!(a->flags & PD_ATTR_EXCLUDE_HOST))
			text[n++] = 'H';
		if (!guest_excluded)
			text[n++] = 'G';
	}
	if (n)
		vt_buf_printf(out, ":%.*s", (int)n, text);
}

void vti_pd_attr_name(struct vt_buf *out, const struct pd_attr *a)
{
	switch (a->type) {
	case PD_TYPE_HARDWARE:
		/* The upper half names the PMU on hybrid CPUs. */
		vt_buf_printf(out, "%s",
			      (uint32_t)a->config < COUNT(hardware) ? hardware[(uint32_t)a->config]
								    : "unknown-hardware");
		put_modifiers(out, a);
		break;
	case PD_TYPE_SOFTWARE:
		vt_buf_printf(out, "%s",
			      a->config < COUNT(software) ? software[a->config]
							  : "unknown-software");
		put_modifiers(out, a);
		break;
	case PD_TYPE_TRACEPOINT:
		vt_buf_printf(out, "unknown tracepoint");
		break;
	case PD_TYPE_HW_CACHE:
		put_cache_name(out, a->config);
		put_modifiers(out, a);
		break;
	case PD_TYPE_RAW:
		vt_buf_printf(out, "raw 0x%" PRIx64, a->config);
		put_modifiers(out, a);
		break;
	case PD_TYPE_BREAKPOINT:
		put_breakpoint_name(out, a);
		put_modifiers(out, a);
		break;
	default:
		vt_buf_printf(out, "unknown attr type: %" PRIu32, a->type);
		break;
	}
}
