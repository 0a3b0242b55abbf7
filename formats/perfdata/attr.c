/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <inttypes.h>
#include <string.h>

static uint64_t reverse_bits(uint64_t v)
{
	uint64_t r = 0;
	unsigned i;

	for (i = 0; i < 64; i++)
		r |= (v >> i & 1) << (63 - i);
	return r;
}

uint64_t vti_pd_attr_flags(uint64_t word, bool big)
{
	uint64_t precise = (uint64_t)3 << PD_ATTR_PRECISE_SHIFT;

	if (!big)
		return word;
	return (reverse_bits(word) & ~precise) | (word >> (64 - PD_ATTR_PRECISE_SHIFT - 2) & 3)
							 << PD_ATTR_PRECISE_SHIFT;
}

uint64_t vti_pd_branch_flags(uint64_t word, bool big)
{
	/* The widths of the fields of struct perf_branch_entry, in order of declaration. */
	static const uint8_t widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};
	unsigned i, at = 0;
	uint64_t r = 0;

	if (!big)
		return word;
	for (i = 0; i < sizeof(widths); i++) {
		uint64_t mask = (UINT64_C(1) << widths[i]) - 1;

		r |= (word >> (64 - at - widths[i]) & mask) << at;
		at += widths[i];
	}
	return r;
}

bool vti_pd_attr_parse(struct pd_attr *a, const uint8_t *data, size_t size, bool big)
{
	struct vt_cursor c;
	uint8_t full[128] = {0};

	if (size < PD_ATTR_SIZE_MIN)
		return false;
	c = vt_cursor_make(data, size, big);
	c.p += 4;
	a->size = vt_cursor_u32(&c);
	if (a->size == 0)
		a->size = PD_ATTR_SIZE_MIN;
	/* What lies past the attribute's own size is not part of it. */
	if (size > a->size)
		size = a->size < PD_ATTR_SIZE_MIN ? PD_ATTR_SIZE_MIN : a->size;
	memcpy(full, data, size < sizeof(full) ? size : sizeof(full));

	c = vt_cursor_make(full, sizeof(full), big);
	a->type = vt_cursor_u32(&c);
	vt_cursor_u32(&c);
	a->config = vt_cursor_u64(&c);
	a->period = vt_cursor_u64(&c);
	a->sample_type = vt_cursor_u64(&c);
	a->read_format = vt_cursor_u64(&c);
	a->flags = vti_pd_attr_flags(vt_cursor_u64(&c), big);
	vt_cursor_u32(&c); /* wakeup_events */
	a->bp_type = vt_cursor_u32(&c);
	a->config1 = vt_cursor_u64(&c);
	a->config2 = vt_cursor_u64(&c);
	a->branch_type = vt_cursor_u64(&c);
	a->regs_user = vt_cursor_u64(&c);
	a->stack_user = vt_cursor_u32(&c);
	vt_cursor_u32(&c); /* clockid */
	a->regs_intr = vt_cursor_u64(&c);
	return true;
}

unsigned vti_pd_trailer_words(uint64_t sample_type)
{
	return (unsigned)__builtin_popcountll(sample_type & (PD_SAMPLE_TID | PD_SAMPLE_TIME |
							     PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID |
							     PD_SAMPLE_CPU | PD_SAMPLE_IDENTIFIER));
}

/* ---- names ---- */

/*
 * Those of perf's command line (perf-list(1)), with the modifiers that the attribute's flags stand
 * for, for events that the file does not name.
 */
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

#define RINGS (PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_HV)

/* k, u, h: the rings that are not excluded, if some are; p: precision.  Returns their number. */
static size_t find_modifiers(const struct pd_attr *a, char text[16])
{
	size_t n = 0;
	unsigned i;

	if (a->flags & RINGS) {
		if (!(a->flags & PD_ATTR_EXCLUDE_KERNEL))
			text[n++] = 'k';
		if (!(a->flags & PD_ATTR_EXCLUDE_USER))
			text[n++] = 'u';
		if (!(a->flags & PD_ATTR_EXCLUDE_HV))
			text[n++] = 'h';
	}
	for (i = 0; i < vti_pd_attr_precise(a); i++)
		text[n++] = 'p';
	return n;
}

/* The same, and H, G: host and guest. */
static void put_modifiers(struct vt_buf *out, const struct pd_attr *a)
{
	bool guest_excluded = a->flags & PD_ATTR_EXCLUDE_GUEST;
	bool usual = a->flags & RINGS || vti_pd_attr_precise(a);
	char text[16];
	size_t n = find_modifiers(a, text);

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

/*
 * Terms of one bit of `config`.  Sources: linux, arch/x86/events/amd/ibs.c and
 * drivers/perf/arm_spe_pmu.c.
 */
static const struct {
	const char *pmu; /* a prefix of its name */
	unsigned bit;
	const char *term;
} terms[] = {
	{"ibs_op", 16, "l3missonly"},	  {"ibs_op", 19, "cnt_ctl"},
	{"ibs_fetch", 57, "rand_en"},	  {"ibs_fetch", 59, "l3missonly"},
	{"arm_spe", 0, "ts_enable"},	  {"arm_spe", 1, "pa_enable"},
	{"arm_spe", 2, "pct_enable"},	  {"arm_spe", 16, "jitter"},
	{"arm_spe", 32, "branch_filter"}, {"arm_spe", 33, "load_filter"},
	{"arm_spe", 34, "store_filter"},
};

/* Appends "name=value" and a comma before it if there is a term before. */
static void put_term(struct vt_buf *out, bool *any, const char *name, uint64_t value)
{
	if (!value)
		return;
	vt_buf_printf(out, value == 1 ? "%s%s=%" PRIu64 : "%s%s=0x%" PRIx64, *any ? "," : "", name,
		      value);
	*any = true;
}

/* As on perf's command line: ibs_op/cnt_ctl=1/u.  Bits without a name are given as a word. */
static void put_pmu_name(struct vt_buf *out, const struct pd_attr *a, const char *pmu)
{
	uint64_t rest = a->config;
	bool any = false;
	char text[16];
	size_t i;

	vt_buf_printf(out, "%s/", pmu);
	for (i = 0; i < COUNT(terms); i++)
		if (strncmp(pmu, terms[i].pmu, strlen(terms[i].pmu)) == 0)
			rest &= ~(UINT64_C(1) << terms[i].bit);
	for (i = 0; i < COUNT(terms) && !rest; i++)
		if (strncmp(pmu, terms[i].pmu, strlen(terms[i].pmu)) == 0)
			put_term(out, &any, terms[i].term, a->config >> terms[i].bit & 1);
	put_term(out, &any, "config", rest ? a->config : 0);
	put_term(out, &any, "config1", a->config1);
	put_term(out, &any, "config2", a->config2);
	vt_buf_printf(out, "/%.*s", (int)find_modifiers(a, text), text);
}

void vti_pd_attr_name(struct vt_buf *out, const struct pd_attr *a, const char *pmu)
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
		if (*pmu)
			put_pmu_name(out, a, pmu);
		else
			vt_buf_printf(out, "unknown attr type: %" PRIu32, a->type);
		break;
	}
}
