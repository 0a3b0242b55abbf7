/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

/* The bits of `has`: recorded fields, in the numbers of linux/perf_event.h. */
#define HAS_MASK ((UINT64_C(1) << 25) - 1)

static uint64_t get_default_period(const struct pd_event *e)
{
	return e->attr.flags & PD_ATTR_FREQ ? 1 : e->attr.period;
}

static void put_words(struct pd_session *s, unsigned field, const struct pd_words *w)
{
	if (!w->count)
		return;
	vti_pd_words_copy(s->words, w, s->big);
	vt_writer_words(s->w, field, s->words, w->count);
}

static void put_branches(struct pd_session *s, const struct pd_sample *smp)
{
	size_t n = smp->branches.count / 3, i;
	unsigned column;

	/* From entries of three words each to three arrays. */
	for (column = 0; column < 3; column++) {
		for (i = 0; i < n; i++) {
			const uint8_t *p = smp->branches.p + 24 * i + 8 * (size_t)column;

			s->words[i] = vti_pd_u64(p, s->big);
			if (column == 2)
				s->words[i] = vti_pd_branch_flags(s->words[i], s->big);
		}
		vt_writer_words(s->w, VT_SAMPLE_BR_FROM + column, s->words, n);
	}
	put_words(s, VT_SAMPLE_BR_COUNTERS, &smp->counters);
}

static void put_variable(struct pd_session *s, const struct pd_sample *smp, bool raw)
{
	put_words(s, VT_SAMPLE_CALLCHAIN, &smp->callchain);
	put_words(s, VT_SAMPLE_UREGS, &smp->uregs);
	put_words(s, VT_SAMPLE_IREGS, &smp->iregs);
	if (smp->stack_size)
		vt_writer_bytes(s->w, VT_SAMPLE_STACK, smp->stack, smp->stack_size);
	if (smp->branches.count)
		put_branches(s, smp);
	put_words(s, VT_SAMPLE_READ, &smp->read);
	if (smp->raw_size && raw)
		vt_writer_bytes(s->w, VT_SAMPLE_RAW, smp->raw, smp->raw_size);
	if (smp->aux_size)
		vt_writer_bytes(s->w, VT_SAMPLE_AUX, smp->aux, smp->aux_size);
}

/* ---- the machine of the registers ---- */

/*
 * The masks of registers that perf requests by default: arch/x86/include/uapi/asm/perf_regs.h (all
 * but four segment registers) and arch/arm64's.  Only x86 has vector registers, from bit 32 on.
 */
#define X86_64_REGS UINT64_C(0x00ff0fff)
#define ARM64_REGS  UINT64_C(0x1ffffffff)
#define X86_PC	    8
#define ARM64_PC    32

static bool is_pc(const struct pd_session *s, const struct pd_words *w, uint64_t mask, unsigned bit,
		  uint64_t ip)
{
	size_t at = (size_t)__builtin_popcountll(mask & ((UINT64_C(1) << bit) - 1));
	const uint8_t *p = w->p + 8 * at;

	return mask >> bit & 1 && at < w->count && (vti_pd_u64(p, s->big)) == ip;
}

/* The machine (of elf.h) that these registers belong to; 0: unknown. */
static uint32_t infer_regs_machine(const struct pd_session *s, const struct pd_words *w,
				   uint64_t mask, uint64_t ip)
{
	if (!w->count || s->big)
		return 0;
	if (mask == ARM64_REGS || is_pc(s, w, mask, ARM64_PC, ip))
		return 183;
	if ((mask & UINT32_MAX) == X86_64_REGS || is_pc(s, w, mask, X86_PC, ip))
		return 62;
	return 0;
}

/* Infers the machine: a pipe of an old perf, or an unfinished file, does not name it. */
static void infer_machine(struct pd_session *s, const struct pd_attr *a,
			  const struct pd_sample *smp)
{
	uint32_t machine = infer_regs_machine(s, &smp->uregs, a->regs_user, smp->ip);

	if (!machine)
		machine = infer_regs_machine(s, &smp->iregs, a->regs_intr, smp->ip);
	if (!machine)
		return;
	s->machine = machine;
	vti_pd_meta_str(s, "arch", machine == 62 ? "x86_64" : "aarch64");
	vti_pd_meta_str(s, "arch.from", "the registers of the samples");
}

static void put_sample_row(struct pd_session *s, const struct pd_rec *r, size_t event,
			   const struct pd_sample *smp)
{
	uint64_t t = s->events[event].attr.sample_type;
	enum pd_followed followed = s->events[event].followed;
	bool values = followed == PD_FOLLOWED_VALUES && vti_pd_are_values(smp);
	uint64_t *row = vt_writer_row(s->w, VT_SAMPLE);

	row[VT_SAMPLE_TIME] = smp->time;
	row[VT_SAMPLE_PID] = (uint64_t)(int64_t)smp->pid;
	row[VT_SAMPLE_TID] = (uint64_t)(int64_t)smp->tid;
	row[VT_SAMPLE_CPU] = smp->cpu;
	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_IP] = smp->ip;
	row[VT_SAMPLE_PERIOD] = smp->period;
	row[VT_SAMPLE_MISC] = r->misc;
	row[VT_SAMPLE_HAS] = t & HAS_MASK;
	row[VT_SAMPLE_ADDR] = smp->addr;
	row[VT_SAMPLE_ID] = smp->id;
	row[VT_SAMPLE_STREAM_ID] = smp->stream_id;
	s->sum->samples++;
	row[VT_SAMPLE_WEIGHT] = smp->weight;
	row[VT_SAMPLE_WEIGHT2] = smp->weight2;
	row[VT_SAMPLE_WEIGHT3] = smp->weight3;
	row[VT_SAMPLE_DATA_SRC] = smp->data_src;
	row[VT_SAMPLE_PHYS_ADDR] = smp->phys_addr;
	row[VT_SAMPLE_DATA_PAGE_SIZE] = smp->data_page_size;
	row[VT_SAMPLE_CODE_PAGE_SIZE] = smp->code_page_size;
	row[VT_SAMPLE_CGROUP] = smp->cgroup;
	row[VT_SAMPLE_TRANSACTION] = smp->transaction;
	row[VT_SAMPLE_UREGS_ABI] = smp->uregs_abi;
	row[VT_SAMPLE_IREGS_ABI] = smp->iregs_abi;
	row[VT_SAMPLE_STACK_DYN_SIZE] = smp->stack_dyn_size;
	row[VT_SAMPLE_BR_HW_IDX] = smp->br_hw_idx;
	if (values)
		vti_pd_put_values(s, r, smp, row);
	else if (followed != PD_FOLLOWED_NOT && followed != PD_FOLLOWED_VALUES)
		vti_pd_put_followed(s, r, followed, smp, row);
	put_variable(s, smp, !values);
}

static uint64_t read_count_word(const struct pd_session *s, const struct pd_sample *smp, size_t i)
{
	return vti_pd_u64(smp->read.p + 8 * i, s->big);
}

/*
 * Puts a sample for one counter of a read value, like perf: of the counter's event, its period
 * being the counter's increase since the last read value.  An unchanged counter gives no sample.
 */
static void put_count_sample(struct pd_session *s, const struct pd_rec *r, struct pd_sample *smp,
			     uint64_t value, uint64_t id)
{
	struct pd_id *e = vt_hash_find(&s->ids, &id);

	if (!e)
		return;
	smp->period = value - e->value;
	smp->id = id;
	e->value = value;
	if (smp->period)
		put_sample_row(s, r, e->event, smp);
}

static void put_read_samples(struct pd_session *s, const struct pd_rec *r, uint64_t format,
			     struct pd_sample *smp)
{
	size_t times = !!(format & PD_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(format & PD_FORMAT_TOTAL_TIME_RUNNING);
	size_t step = 2 + !!(format & PD_FORMAT_LOST), i;

	if (!(format & PD_FORMAT_GROUP)) {
		put_count_sample(s, r, smp, read_count_word(s, smp, 0),
				 read_count_word(s, smp, 1 + times));
		return;
	}
	for (i = 1 + times; i + step <= smp->read.count; i += step)
		put_count_sample(s, r, smp, read_count_word(s, smp, i),
				 read_count_word(s, smp, i + 1));
}

static inline uint64_t read_plain_word(const struct pd_session *s, const struct pd_rec *r, int at)
{
	return at < 0 ? 0 : vti_pd_u64(r->payload + 8 * (size_t)at, s->big);
}

/* The fast path for samples with only single words: most samples of most files. */
static void put_plain_sample(struct pd_session *s, const struct pd_rec *r, size_t event,
			     const struct pd_event *e)
{
	const struct pd_layout *l = &e->layout;
	uint64_t *row = vt_writer_row(s->w, VT_SAMPLE);

	row[VT_SAMPLE_TIME] = read_plain_word(s, r, l->time);
	if (l->tid >= 0) {
		const uint8_t *p = r->payload + 8 * (size_t)l->tid;

		row[VT_SAMPLE_PID] = (uint64_t)(int64_t)(int32_t)(vti_pd_u32(p, s->big));
		row[VT_SAMPLE_TID] = (uint64_t)(int64_t)(int32_t)(vti_pd_u32(p + 4, s->big));
	}
	if (l->cpu >= 0) {
		const uint8_t *p = r->payload + 8 * (size_t)l->cpu;

		row[VT_SAMPLE_CPU] = vti_pd_u32(p, s->big);
	}
	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_IP] = read_plain_word(s, r, l->ip);
	row[VT_SAMPLE_PERIOD] =
		l->period >= 0 ? read_plain_word(s, r, l->period) : get_default_period(e);
	row[VT_SAMPLE_MISC] = r->misc;
	row[VT_SAMPLE_HAS] = e->attr.sample_type;
	row[VT_SAMPLE_ADDR] = read_plain_word(s, r, l->addr);
	row[VT_SAMPLE_ID] = read_plain_word(s, r, l->id);
	row[VT_SAMPLE_STREAM_ID] = read_plain_word(s, r, l->stream_id);
	s->sum->samples++;
}

int vti_pd_deliver_sample(struct pd_session *s, const struct pd_rec *r, size_t event)
{
	const struct pd_event *e = &s->events[event];
	const struct pd_attr *a = &e->attr;
	struct pd_sample smp;

	if (e->layout.plain && r->left / 8 == e->layout.words) {
		put_plain_sample(s, r, event, e);
		return 0;
	}
	if (!vti_pd_sample_parse(&smp, a, r->payload, r->left, s->big)) {
		vti_pd_bad_record(s, r, "the sample is shorter than its fields");
		return 0;
	}
	if (vti_pd_extent_known(a) && smp.size != r->left) {
		vti_pd_bad_record(s, r, "the sample is longer than its fields");
		return 0;
	}
	if (!s->machine && !s->has_arch)
		infer_machine(s, a, &smp);
	if (!(a->sample_type & PD_SAMPLE_PERIOD))
		smp.period = get_default_period(e);
	if (a->sample_type & PD_SAMPLE_READ && a->read_format & PD_FORMAT_ID)
		put_read_samples(s, r, a->read_format, &smp);
	else
		put_sample_row(s, r, event, &smp);
	return 0;
}
