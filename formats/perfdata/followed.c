/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_ibs(const struct pd_session *s, const struct pd_event *e, const char *pmu)
{
	const char *name = vti_pd_pmu_name(s, e->attr.type);

	if (!*name && e->name)
		name = e->name;
	return strncmp(name, pmu, strlen(pmu)) == 0;
}

/*
 * AMD has no PEBS: its kernel driver samples precise events with IBS, whose registers are then in
 * the raw bytes, too.  Events of other types have raw bytes of their own.
 */
static bool is_precise_amd(const struct pd_session *s, const struct pd_attr *a)
{
	return s->amd && vti_pd_attr_precise(a) &&
	       (a->type == PD_TYPE_HARDWARE || a->type == PD_TYPE_RAW);
}

enum pd_followed vti_pd_choose_followed(const struct pd_session *s, const struct pd_event *e)
{
	uint64_t t = e->attr.sample_type;

	if (s->opt->keep_raw || e->attr.type == PD_TYPE_TRACEPOINT)
		return PD_FOLLOWED_NOT;
	if (t & PD_SAMPLE_RAW && (is_ibs(s, e, "ibs_op") || is_precise_amd(s, &e->attr)))
		return PD_FOLLOWED_IBS_OP;
	if (t & PD_SAMPLE_RAW && is_ibs(s, e, "ibs_fetch"))
		return PD_FOLLOWED_IBS_FETCH;
	if (t & (PD_SAMPLE_DATA_SRC | PD_SAMPLE_WEIGHT | PD_SAMPLE_WEIGHT_STRUCT))
		return PD_FOLLOWED_MEMORY;
	if (t & PD_SAMPLE_RAW && !s->big &&
	    (e->attr.type == PD_TYPE_SOFTWARE || e->attr.type == PD_TYPE_HARDWARE))
		return PD_FOLLOWED_VALUES;
	return PD_FOLLOWED_NOT;
}

static void count_ibs_result(struct pd_session *s, const struct pd_rec *r,
			     enum vt_ibs_result result)
{
	if ((result == VT_IBS_CUT || result == VT_IBS_INVALID) && !s->ibs_cut && !s->ibs_invalid)
		s->ibs_offset = r->offset;
	s->ibs_cut += result == VT_IBS_CUT;
	s->ibs_invalid += result == VT_IBS_INVALID;
	s->ibs_no_rip += result == VT_IBS_NO_RIP;
}

/* The registers tell more than what the kernel makes of them, which is for want of them. */
void vti_pd_put_followed(struct pd_session *s, const struct pd_rec *r, enum pd_followed followed,
			 const struct pd_sample *smp, uint64_t *row)
{
	enum vt_ibs_result result = VT_IBS_READ;

	if (followed == PD_FOLLOWED_IBS_OP)
		result = vt_ibs_read_op(row, smp->raw, smp->raw_size, s->cpu);
	else if (followed == PD_FOLLOWED_IBS_FETCH)
		result = vt_ibs_read_fetch(row, smp->raw, smp->raw_size, s->cpu);
	count_ibs_result(s, r, result);
	if (followed == PD_FOLLOWED_MEMORY)
		vt_pebs_read(row, s->vendor);
}

static void put_ibs_gap(struct pd_session *s, const char *reason, uint64_t records)
{
	if (!records)
		return;
	vti_pd_gap(s, reason, s->ibs_offset, 0, records);
	s->sum->damaged++;
}

void vti_pd_followed_emit(struct pd_session *s)
{
	char text[24];

	put_ibs_gap(s, "samples whose IBS registers are cut", s->ibs_cut);
	put_ibs_gap(s, "samples whose IBS registers are not valid", s->ibs_invalid);
	if (!s->ibs_no_rip)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, s->ibs_no_rip);
	vti_pd_meta_str(s, "ibs.no_rip", text);
}
