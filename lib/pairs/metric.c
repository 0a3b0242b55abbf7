/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pairs/metric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream/profileme.h"

/* ---- names ---- */

#define MAX_CYCLES 1000000 /* on each side */

static const struct {
	const char *name;
	const char *unit;
	const char *per;
} metrics[] = {
	[VT_PAIR_WASTED] = {"wasted", "slots", ""},
	[VT_PAIR_USEFUL] = {"useful-concurrency", "instructions/cycle",
			    "each cycle in which the instruction is in progress"},
	[VT_PAIR_QUEUED] = {"issue-while-queued", "instructions",
			    "each time the instruction retires"},
	[VT_PAIR_RETIRES] = {"retire-within:", "instructions", "each time the instruction retires"},
	[VT_PAIR_IPC] = {"ipc:", "instructions/cycle", "each cycle around its retirement"},
	[VT_PAIR_UNIT] = {"same-unit", "instructions", "each time the instruction retires"},
	[VT_PAIR_OPEN] = {"open-misses", "misses", "each miss whose sample tells it"},
	[VT_PAIR_WHERE] = {"", "instructions", "each time the instruction is fetched"},
};

/* Whether a metric of this name is followed by a number of cycles. */
static bool takes_cycles(enum vt_pair_measure m)
{
	return m == VT_PAIR_RETIRES || m == VT_PAIR_IPC;
}

static enum vt_pair_measure find_metric(const char *text)
{
	enum vt_pair_measure i = VT_PAIR_WASTED;

	for (; i < VT_PAIR_WHERE; i++)
		if (takes_cycles(i) ? strncmp(text, metrics[i].name, strlen(metrics[i].name)) == 0
				    : strcmp(text, metrics[i].name) == 0)
			break;
	return i;
}

static int parse_cycles(struct vt_pairmetric *m, const char *text, struct vt_error *err)
{
	char *end = NULL;

	errno = 0;
	m->cycles = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || m->cycles > MAX_CYCLES)
		return vt_error_set(err, VT_E_USAGE, "'%s' is no number of cycles up to %d", text,
				    MAX_CYCLES);
	return 0;
}

/* A name without its ":N". */
static bool lacks_cycles(const char *text)
{
	enum vt_pair_measure i = VT_PAIR_WASTED;
	size_t size = strlen(text);

	for (; i < VT_PAIR_WHERE; i++)
		if (takes_cycles(i) && strlen(metrics[i].name) == size + 1 &&
		    strncmp(text, metrics[i].name, size) == 0)
			return true;
	return false;
}

int vt_pairmetric_parse(struct vt_pairmetric *m, const char *text, struct vt_error *err)
{
	*m = (struct vt_pairmetric){.measure = find_metric(text)};
	if (takes_cycles(m->measure))
		return parse_cycles(m, text + strlen(metrics[m->measure].name), err);
	if (m->measure != VT_PAIR_WHERE)
		return 0;
	if (lacks_cycles(text))
		return vt_error_set(err, VT_E_USAGE, "'%s' lacks a number of cycles: %s:N", text,
				    text);
	m->where = vt_where_compile_pair(text, err);
	return m->where ? 0 : -(int)err->code;
}

void vt_pairmetric_fini(struct vt_pairmetric *m)
{
	vt_where_free(m->where);
	m->where = NULL;
}

bool vt_pairmetric_is_timed(const struct vt_pairmetric *m)
{
	return takes_cycles(m->measure);
}

bool vt_pairmetric_is_single(const char *text)
{
	return find_metric(text) == VT_PAIR_OPEN;
}

bool vt_pairmetric_is_total(const char *text)
{
	return find_metric(text) == VT_PAIR_WASTED;
}

const char *vt_pairmetric_unit(const char *text)
{
	return metrics[find_metric(text)].unit;
}

const char *vt_pairmetric_per(const char *text)
{
	return metrics[find_metric(text)].per;
}

/* ---- what a sample tells ---- */

/* Sums of a few of these fit in 64 bits, and in a double. */
#define MAX_LATENCY (UINT64_C(1) << 40)

/* Adds a latency to a cycle; false: it is not known.  `has` and `least` are the masks of the row.
 */
static inline bool add_latency(const struct vt_record *rec, unsigned field, uint64_t has,
			       uint64_t least, struct vt_followed *f, uint64_t from, uint64_t *to)
{
	uint64_t bit = VT_PM_BIT_OF(field), cycles = vt_record_u64(rec, field);

	if (!(has & bit) || cycles > MAX_LATENCY)
		return false;
	f->stopped = f->stopped || least & bit;
	*to = from + cycles;
	return !(least & bit);
}

static inline unsigned read_stages(const struct vt_record *rec, uint64_t has, uint64_t least,
				   struct vt_followed *f)
{
	uint64_t ready = 0;

	if (!add_latency(rec, VT_SAMPLE_LAT_MAP, has, least, f, f->fetched, &f->mapped))
		return 0;
	if (!add_latency(rec, VT_SAMPLE_LAT_READY, has, least, f, f->mapped, &ready) ||
	    !add_latency(rec, VT_SAMPLE_LAT_ISSUE, has, least, f, ready, &f->issued))
		return VT_FOLLOWED_MAPPED;
	if (!add_latency(rec, VT_SAMPLE_LAT_EXEC, has, least, f, f->issued, &f->done))
		return VT_FOLLOWED_MAPPED | VT_FOLLOWED_ISSUED;
	return VT_FOLLOWED_MAPPED | VT_FOLLOWED_ISSUED | VT_FOLLOWED_DONE;
}

void vt_followed_read(struct vt_followed *f, const struct vt_record *rec)
{
	uint64_t has = vt_record_u64(rec, VT_SAMPLE_PM_HAS);
	uint64_t least = vt_record_u64(rec, VT_SAMPLE_PM_LEAST);
	uint64_t events =
		vt_record_u64(rec, VT_SAMPLE_EVENTS) & vt_record_u64(rec, VT_SAMPLE_EVENTS_TOLD);

	*f = (struct vt_followed){0};
	events = has & VT_PM_BIT(EVENTS) ? events : 0;
	f->retired = events & VT_PM_EVENT(RETIRED);
	if (f->retired || events & VT_PM_EVENT(ABORTED))
		f->knows |= VT_FOLLOWED_FATE;
	if (!add_latency(rec, VT_SAMPLE_PAIR_CYCLES, has, least, f, 0, &f->fetched))
		return;
	f->knows |= read_stages(rec, has, least, f);
	if (add_latency(rec, VT_SAMPLE_LAT_TOTAL, has, least, f, f->fetched, &f->ended))
		f->knows |= VT_FOLLOWED_ENDED;
	/* One that is aborted is in progress until then. */
	if (f->knows & VT_FOLLOWED_FATE && !f->retired) {
		f->done = f->ended;
		f->knows &= ~(unsigned)VT_FOLLOWED_DONE;
		f->knows |= f->knows & VT_FOLLOWED_ENDED ? VT_FOLLOWED_DONE : 0;
	}
}

/* ---- pairs ---- */

static bool knows_all(const struct vt_followed *f, unsigned what)
{
	return (f->knows & what) == what;
}

static bool is_between(uint64_t cycle, uint64_t begin, uint64_t end)
{
	return cycle >= begin && cycle < end;
}

/* Whether both retire within so many cycles. */
static bool retire_within(const struct vt_followed *a, const struct vt_followed *b, uint64_t cycles)
{
	uint64_t apart = a->ended > b->ended ? a->ended - b->ended : b->ended - a->ended;

	return apart <= cycles;
}

/* Whether both are being executed in some cycle, by units of one kind. */
static bool share_unit(const struct vt_followed *a, const struct vt_followed *b)
{
	return a->units & b->units && a->issued < b->done && b->issued < a->done;
}

/* Whether the other one counts. */
static bool overlaps(const struct vt_pairmetric *m, const struct vt_followed *self,
		     const struct vt_followed *other, enum vt_truth truth)
{
	if (m->measure == VT_PAIR_WHERE)
		return truth == VT_TRUE;
	if (!other->retired)
		return false;
	if (m->measure == VT_PAIR_WASTED || m->measure == VT_PAIR_USEFUL)
		return is_between(other->issued, self->fetched, self->done);
	if (m->measure == VT_PAIR_QUEUED)
		return is_between(other->issued, self->mapped, self->issued);
	if (m->measure == VT_PAIR_UNIT)
		return share_unit(self, other);
	return retire_within(self, other, m->cycles);
}

/* What has to be known of an instruction, and of another one if that retires. */
struct needs {
	unsigned self;
	unsigned other;
};

static const struct needs needs[] = {
	[VT_PAIR_WASTED] = {VT_FOLLOWED_DONE, VT_FOLLOWED_ISSUED},
	[VT_PAIR_USEFUL] = {VT_FOLLOWED_DONE, VT_FOLLOWED_ISSUED},
	[VT_PAIR_QUEUED] = {VT_FOLLOWED_MAPPED | VT_FOLLOWED_ISSUED, VT_FOLLOWED_ISSUED},
	[VT_PAIR_RETIRES] = {VT_FOLLOWED_ENDED, VT_FOLLOWED_ENDED},
	[VT_PAIR_IPC] = {VT_FOLLOWED_ENDED, VT_FOLLOWED_ENDED},
	[VT_PAIR_UNIT] = {VT_FOLLOWED_ISSUED | VT_FOLLOWED_DONE,
			  VT_FOLLOWED_ISSUED | VT_FOLLOWED_DONE},
	[VT_PAIR_OPEN] = {0, 0},
	[VT_PAIR_WHERE] = {0, 0},
};

static bool knows_enough(const struct vt_pairmetric *m, const struct vt_followed *f, unsigned need)
{
	return knows_all(f, need) && (m->measure != VT_PAIR_UNIT || f->units);
}

/* Whether what is needed is known; the cycles of another one that is aborted never matter. */
static enum vt_pair_outcome check_known(const struct vt_pairmetric *m,
					const struct vt_followed *self,
					const struct vt_followed *other, enum vt_truth truth)
{
	const struct needs *n = &needs[m->measure];
	bool progress = m->measure == VT_PAIR_WASTED || m->measure == VT_PAIR_USEFUL;

	if (m->measure == VT_PAIR_WHERE)
		return truth == VT_UNKNOWN ? VT_PAIR_UNKNOWN : VT_PAIR_MEASURED;
	if (!knows_all(self, VT_FOLLOWED_FATE) || !knows_all(other, VT_FOLLOWED_FATE))
		return VT_PAIR_UNKNOWN;
	if (!progress && !self->retired)
		return VT_PAIR_APART;
	if (!knows_enough(m, self, n->self))
		return VT_PAIR_UNKNOWN;
	return !other->retired || knows_enough(m, other, n->other) ? VT_PAIR_MEASURED
								   : VT_PAIR_UNKNOWN;
}

enum vt_pair_outcome vt_pair_measure(const struct vt_pairmetric *m, const struct vt_followed *self,
				     const struct vt_followed *other, enum vt_truth truth,
				     const struct vt_pairscale *scale, struct vt_pairterm *t)
{
	enum vt_pair_outcome outcome = check_known(m, self, other, truth);
	double one = scale->period / 2, cycles = (double)(self->done - self->fetched) * one;

	if (outcome != VT_PAIR_MEASURED)
		return outcome;
	*t = (struct vt_pairterm){.y = one, .overlaps = overlaps(m, self, other, truth)};
	t->x = t->overlaps ? scale->weight * scale->window * scale->period : 0;
	if (m->measure == VT_PAIR_USEFUL)
		t->y = cycles;
	if (m->measure == VT_PAIR_WASTED) {
		t->x = cycles * scale->width - t->x;
		t->y = scale->weight - 1;
		t->cycles = cycles;
	}
	if (m->measure == VT_PAIR_IPC) {
		t->x += one;
		t->y = one * (double)(2 * m->cycles + 1);
	}
	return outcome;
}

uint64_t vt_pair_cycles(const struct vt_pairmetric *m, const struct vt_followed *self)
{
	switch (m->measure) {
	case VT_PAIR_WASTED:
	case VT_PAIR_USEFUL:
		return self->done - self->fetched;
	case VT_PAIR_QUEUED:
		return self->issued - self->mapped;
	case VT_PAIR_UNIT:
		return self->done - self->issued;
	default:
		return self->knows & VT_FOLLOWED_ENDED ? self->ended - self->fetched : 0;
	}
}
