/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/bytes.h"
#include "formats/perfpt/internal.h"
#include "formats/pt/sideband/ptinfo.h"

/*
 * The first records of the file: the events and AUXTRACE_INFO.  The bits of the event's
 * configuration are those of Linux's driver, /sys/bus/event_source/devices/intel_pt/format.
 */

#define PMU_TYPE 8 /* any number that is not the type of another event */

#define CONFIG_PT	       (UINT64_C(1) << 0)
#define CONFIG_CYC	       (UINT64_C(1) << 1)
#define CONFIG_MTC	       (UINT64_C(1) << 9)
#define CONFIG_TSC	       (UINT64_C(1) << 10)
#define CONFIG_NORETCOMP       (UINT64_C(1) << 11)
#define CONFIG_PTW	       (UINT64_C(1) << 12)
#define CONFIG_BRANCH	       (UINT64_C(1) << 13)
#define CONFIG_MTC_PERIOD      (UINT64_C(15) << 14)
#define CONFIG_MTC_PERIOD_BIT0 14

static uint64_t make_pt_config(const struct vt_pt_encode_options *o)
{
	uint64_t c = CONFIG_PT | CONFIG_BRANCH | CONFIG_PTW;

	if (o->no_retcomp)
		c |= CONFIG_NORETCOMP;
	if (o->tsc)
		c |= CONFIG_TSC;
	if (o->cyc)
		c |= CONFIG_CYC;
	if (o->mtc)
		c |= CONFIG_MTC |
		     ((uint64_t)o->clock.mtc_period << CONFIG_MTC_PERIOD_BIT0 & CONFIG_MTC_PERIOD);
	return c;
}

static int put_auxtrace_info(struct vt_pt_wrap *p, struct vt_error *err)
{
	const struct vt_pt_encode_options *o = &p->opt.encode;
	uint64_t priv[VT_PT_PRIV_COUNT] = {
		[VT_PT_PRIV_PMU_TYPE] = PMU_TYPE,
		[VT_PT_PRIV_TSC_BIT] = CONFIG_TSC,
		[VT_PT_PRIV_NORETCOMP_BIT] = CONFIG_NORETCOMP,
		[VT_PT_PRIV_SNAPSHOT_MODE] = p->opt.snapshot != 0,
		[VT_PT_PRIV_MTC_BIT] = CONFIG_MTC,
		[VT_PT_PRIV_MTC_FREQ_BITS] = CONFIG_MTC_PERIOD,
		[VT_PT_PRIV_TSC_CTC_N] = o->clock.ctc_numerator,
		[VT_PT_PRIV_TSC_CTC_D] = o->clock.ctc_denominator,
		[VT_PT_PRIV_CYC_BIT] = CONFIG_CYC,
		[VT_PT_PRIV_MAX_NONTURBO_RATIO] = o->clock.nominal_ratio,
	};

	if (p->timed) {
		priv[VT_PT_PRIV_TIME_SHIFT] = p->conv.shift;
		priv[VT_PT_PRIV_TIME_MULT] = p->conv.mult;
		priv[VT_PT_PRIV_TIME_ZERO] = p->conv.zero;
		priv[VT_PT_PRIV_CAP_USER_TIME_ZERO] = 1;
	}
	if (p->opt.cpus) {
		priv[VT_PT_PRIV_HAVE_SCHED_SWITCH] = p->opt.wide ? 3 : 2;
		priv[VT_PT_PRIV_PER_CPU_MMAPS] = 1;
	}
	return vt_perfdata_put_auxtrace_info(p->w, VT_PT_AUXINFO_TYPE, priv, VT_PT_PRIV_COUNT, err);
}

/* Puts the conversion of ticks to times, which perf needs for dumps of generated code. */
static int put_time_conv(struct vt_pt_wrap *p, struct vt_error *err)
{
	uint8_t payload[24];

	if (!p->conv.known)
		return 0;
	vt_put_le64(payload, p->conv.shift);
	vt_put_le64(payload + 8, p->conv.mult);
	vt_put_le64(payload + 16, p->conv.zero);
	return vt_perfdata_put_record(p->w, PD_TIME_CONV, 0, NULL, payload, sizeof(payload), err);
}

/*
 * Opens the writer with an event for the trace and, with times, one for other records, as perf
 * does.
 */
static struct vt_perfdata_writer *open_perfdata_writer(struct vt_pt_wrap *p, struct vt_error *err)
{
	struct vt_perfdata_about about = {.arch = p->arch.size ? vt_buf_str(&p->arch) : "x86_64",
					  .version = p->opt.version,
					  .cmdline =
						  p->cmdline.size ? vt_buf_str(&p->cmdline) : NULL,
					  .cpus = p->opt.cpus};
	const uint64_t side =
		PD_ATTR_MMAP | PD_ATTR_MMAP2 | PD_ATTR_COMM | PD_ATTR_COMM_EXEC | PD_ATTR_TASK;
	struct vt_perfdata_event events[2] = {
		{.name = "intel_pt//u",
		 .type = PMU_TYPE,
		 .config = make_pt_config(&p->opt.encode),
		 .period = 1,
		 .sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID,
		 .flags = PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV | PD_ATTR_INHERIT},
		{.name = "dummy:u",
		 .type = PD_TYPE_SOFTWARE,
		 .config = 9, /* PERF_COUNT_SW_DUMMY */
		 .period = 1,
		 .sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID,
		 .flags = PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV | PD_ATTR_INHERIT | side},
	};
	unsigned i;

	if (!p->timed)
		events[0].flags |= side;
	for (i = 0; i < 2; i++) {
		if (p->timed)
			events[i].sample_type |= PD_SAMPLE_TIME;
		if (p->opt.cpus)
			events[i].sample_type |= PD_SAMPLE_CPU;
	}
	if (p->opt.cpus)
		events[1].flags |= PD_ATTR_CONTEXT_SWITCH;
	return vt_perfdata_writer_new(p->out, events, p->timed ? 2 : 1, &about, err);
}

bool vti_wrap_begin(struct vt_pt_wrap *p, struct vt_error *err)
{
	p->w = open_perfdata_writer(p, err);
	return p->w && put_auxtrace_info(p, err) >= 0 && put_time_conv(p, err) >= 0;
}
