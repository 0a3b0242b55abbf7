/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The size of a record by its contents.  The kernel and perf write exactly the fields that
 * linux/perf_event.h and tools/lib/perf/include/perf/event.h describe, rounded up to 8 bytes.
 */
#include "formats/perfdata/session.h"

#define PAD8(n) (((n) + 7) & ~(size_t)7)

/* Bits of an attribute whose fields are known: those of later kernels add fields to a sample. */
#define SAMPLE_KNOWN ((UINT64_C(1) << 25) - 1)
#define READ_KNOWN   ((UINT64_C(1) << 5) - 1)
#define BRANCH_KNOWN ((UINT64_C(1) << 20) - 1)

/* RFC 8878, 3.1.1.2.4: the largest block of zstd. */
#define BLOCK_MAX (128u << 10)

/*
 * The body of a record, before its sample id: a fixed part, and the kind of the rest.  That of a
 * READ depends on its event, whose id is at the unknown end.
 */
enum rest { NOTHING, TEXT, SETS, POKE };

struct body {
	uint8_t fixed;
	uint8_t rest; /* enum rest */
	bool known;
};

static const struct body bodies[PD_USER_START] = {
	[PD_MMAP] = {32, TEXT, true},
	[PD_LOST] = {16, NOTHING, true},
	[PD_COMM] = {8, TEXT, true},
	[PD_EXIT] = {24, NOTHING, true},
	[PD_THROTTLE] = {24, NOTHING, true},
	[PD_UNTHROTTLE] = {24, NOTHING, true},
	[PD_FORK] = {24, NOTHING, true},
	[PD_READ] = {8, NOTHING, false},
	[PD_MMAP2] = {64, TEXT, true},
	[PD_AUX] = {24, NOTHING, true},
	[PD_ITRACE_START] = {8, NOTHING, true},
	[PD_LOST_SAMPLES] = {8, NOTHING, true},
	[PD_SWITCH] = {0, NOTHING, true},
	[PD_SWITCH_CPU_WIDE] = {8, NOTHING, true},
	[PD_NAMESPACES] = {8, SETS, true},
	[PD_KSYMBOL] = {16, TEXT, true},
	[PD_BPF_EVENT] = {16, NOTHING, true},
	[PD_CGROUP] = {8, TEXT, true},
	[PD_TEXT_POKE] = {8, POKE, true},
	[PD_AUX_OUTPUT_HW_ID] = {8, NOTHING, true},
};

bool vti_pd_extent_known(const struct pd_attr *a)
{
	return !(a->sample_type & ~SAMPLE_KNOWN) && !(a->read_format & ~READ_KNOWN) &&
	       !(a->branch_type & ~BRANCH_KNOWN);
}

size_t vti_pd_extent_sample(struct pd_session *s, const uint8_t *p, size_t have)
{
	struct pd_rec r = {
		.type = PD_SAMPLE, .payload = p + PD_HEADER_SIZE, .left = have - PD_HEADER_SIZE};
	int event = vti_pd_event_of(s, &r);
	const struct pd_event *e;
	struct pd_sample smp;
	size_t size;

	if (event < 0)
		return PD_EXTENT_UNKNOWN;
	e = &s->events[event];
	if (e->layout.plain)
		return PD_HEADER_SIZE + 8 * (size_t)e->layout.words;
	if (!vti_pd_extent_known(&e->attr))
		return PD_EXTENT_UNKNOWN;
	size = r.left < PD_RECORD_MAX - PD_HEADER_SIZE ? r.left : PD_RECORD_MAX - PD_HEADER_SIZE;
	if (!vti_pd_sample_parse(&smp, &e->attr, r.payload, size, s->big))
		return PD_EXTENT_CUT;
	return PD_HEADER_SIZE + smp.size;
}

static size_t rest_size(enum rest rest, struct vt_cursor *c)
{
	size_t left = vt_cursor_left(c), n;

	switch (rest) {
	case TEXT:
		/* A text without a zero here is cut. */
		n = vti_pd_text(c->p, left);
		return n < left ? PAD8(n + 1) : PD_EXTENT_CUT;
	case SETS:
		n = vt_cursor_u64(c) & 0xffff;
		return 8 + 16 * n;
	case POKE:
		n = vt_cursor_u16(c);
		n += vt_cursor_u16(c);
		return PAD8(4 + n);
	default:
		return 0;
	}
}

static size_t kernel_extent(const struct pd_session *s, const struct body *b, struct vt_cursor *c)
{
	const struct pd_attr *a = s->nevents ? &s->events[0].attr : NULL;
	size_t size = PD_HEADER_SIZE + b->fixed, rest;

	if (!b->known || !a || a->sample_type & ~SAMPLE_KNOWN)
		return PD_EXTENT_UNKNOWN;
	vt_cursor_take(c, b->fixed);
	rest = rest_size((enum rest)b->rest, c);
	if (c->bad || rest == PD_EXTENT_CUT)
		return PD_EXTENT_CUT;
	if (a->flags & PD_ATTR_SAMPLE_ID_ALL)
		size += 8 * (size_t)vti_pd_trailer_words(a->sample_type);
	return size + rest;
}

/* `size` is what the record's header says. */
static size_t user_extent(uint32_t type, unsigned size, struct vt_cursor *c)
{
	uint64_t n;

	switch (type) {
	case PD_FINISHED_ROUND:
	case PD_FINISHED_INIT:
		return PD_HEADER_SIZE;
	case PD_AUXTRACE:
		return PD_AUXTRACE_SIZE;
	case PD_TRACING_DATA:
		/* Since 6.1, perf rounds it up to a multiple of 8. */
		return PD_HEADER_SIZE + (size == PD_HEADER_SIZE + 8 ? 8 : 4);
	case PD_COMPRESSED2:
		n = vt_cursor_u64(c);
		return !c->bad && n <= PD_RECORD_MAX ? PAD8(PD_HEADER_SIZE + 8 + (size_t)n)
						     : PD_EXTENT_CUT;
	default:
		return PD_EXTENT_UNKNOWN;
	}
}

size_t vti_pd_extent(struct pd_session *s, const uint8_t *p, size_t have)
{
	uint32_t type = vti_pd_u32(p, s->big);
	struct vt_cursor c = vt_cursor_make(p + PD_HEADER_SIZE, have - PD_HEADER_SIZE, s->big);

	if (type == PD_SAMPLE)
		return vti_pd_extent_sample(s, p, have);
	if (type < PD_USER_START)
		return kernel_extent(s, &bodies[type], &c);
	return user_extent(type, vti_pd_rec(s, p, 0).size, &c);
}

/* RFC 8878, 3.1.1.1: the header of a frame whose descriptor this is, with its magic number. */
static size_t frame_header(uint8_t descriptor)
{
	static const uint8_t dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
	bool single = descriptor >> 5 & 1;
	size_t size = descriptor >> 6 ? content[descriptor >> 6] : single;

	return 4 + 1 + !single + dictionary[descriptor & 3] + size;
}

size_t vti_pd_block_end(const uint8_t *p, size_t have, size_t at)
{
	unsigned type;
	size_t size;

	if (at <= have && have - at > 4 && vt_le32(p + at) == 0xfd2fb528)
		at += frame_header(p[at + 4]);
	if (at > have || have - at < 3)
		return 0;
	/* RFC 8878, 3.1.1.2: 1 bit for the last block, 2 of its type, 21 of its size. */
	type = p[at] >> 1 & 3;
	size = (size_t)p[at] >> 3 | (size_t)p[at + 1] << 5 | (size_t)p[at + 2] << 13;
	if (type == 3 || size > BLOCK_MAX)
		return 0;
	return at + 3 + (type == 1 ? 1 : size);
}
