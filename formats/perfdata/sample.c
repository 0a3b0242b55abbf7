/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/perfdata/session.h"

#include <string.h>

void vti_pd_words_copy(uint64_t *out, const struct pd_words *w, bool big)
{
	size_t i;

	for (i = 0; i < w->count; i++)
		out[i] = vti_pd_u64(w->p + 8 * i, big);
}

size_t vti_pd_read_words(const uint8_t *p, size_t left, uint64_t format, bool big)
{
	unsigned times = (unsigned)__builtin_popcountll(
		format & (PD_FORMAT_TOTAL_TIME_ENABLED | PD_FORMAT_TOTAL_TIME_RUNNING));
	unsigned value =
		1 + (unsigned)__builtin_popcountll(format & (PD_FORMAT_ID | PD_FORMAT_LOST));
	uint64_t nr;

	if (!(format & PD_FORMAT_GROUP))
		return left >= times + value ? times + value : 0;
	if (left < 1 + times)
		return 0;
	nr = vti_pd_u64(p, big);
	if (nr > (left - 1 - times) / value)
		return 0;
	return 1 + times + (size_t)nr * value;
}

/* Takes the next word, which `c` has. */
static inline uint64_t take_word(struct vt_cursor *c)
{
	c->p += 8;
	return vti_pd_u64(c->p - 8, c->big);
}

/* Parses the first words, which have fixed positions; `c` has all of them. */
static void parse_fixed(struct pd_sample *s, uint64_t t, struct vt_cursor *c)
{
	if (t & PD_SAMPLE_IDENTIFIER)
		s->id = take_word(c);
	if (t & PD_SAMPLE_IP)
		s->ip = take_word(c);
	if (t & PD_SAMPLE_TID) {
		s->pid = (int32_t)vti_pd_u32(c->p, c->big);
		s->tid = (int32_t)vti_pd_u32(c->p + 4, c->big);
		c->p += 8;
	}
	if (t & PD_SAMPLE_TIME)
		s->time = take_word(c);
	if (t & PD_SAMPLE_ADDR)
		s->addr = take_word(c);
	if (t & PD_SAMPLE_ID)
		s->id = take_word(c);
	if (t & PD_SAMPLE_STREAM_ID)
		s->stream_id = take_word(c);
	if (t & PD_SAMPLE_CPU) {
		s->cpu = vti_pd_u32(c->p, c->big);
		c->p += 8;
	}
	if (t & PD_SAMPLE_PERIOD)
		s->period = take_word(c);
}

/* Takes entries of so many words each. */
static void take_entries(struct vt_cursor *c, struct pd_words *w, uint64_t count, unsigned words)
{
	if (count > vt_cursor_left(c) / (8 * words)) {
		c->bad = true;
		return;
	}
	w->count = (size_t)count * words;
	w->p = vt_cursor_take(c, 8 * w->count);
}

static void take_words(struct vt_cursor *c, struct pd_words *w, uint64_t count)
{
	take_entries(c, w, count, 1);
}

static void parse_branches(struct pd_sample *s, const struct pd_attr *a, struct vt_cursor *c)
{
	uint64_t nr = vt_cursor_u64(c);

	if (a->branch_type & PD_BRANCH_HW_INDEX)
		s->br_hw_idx = vt_cursor_u64(c);
	take_entries(c, &s->branches, nr, 3);
	if (a->branch_type & PD_BRANCH_COUNTERS)
		take_words(c, &s->counters, nr);
}

static void parse_stack(struct pd_sample *s, struct vt_cursor *c)
{
	uint64_t size = vt_cursor_u64(c);

	/* Without room for a dump the kernel writes the size 0 and nothing else. */
	if (!size)
		return;
	s->stack_start = c->p;
	s->stack_room = size;
	s->stack = vt_cursor_take(c, size);
	s->stack_dyn_size = vt_cursor_u64(c);
	if (s->stack_dyn_size > size)
		c->bad = true;
	s->stack_size = (size_t)s->stack_dyn_size;
}

static uint64_t parse_regs(struct pd_words *w, uint64_t mask, struct vt_cursor *c)
{
	uint64_t abi = vt_cursor_u64(c);

	if (abi)
		take_words(c, w, (unsigned)__builtin_popcountll(mask));
	return abi;
}

static void parse_weight(struct pd_sample *s, uint64_t t, struct vt_cursor *c)
{
	uint64_t w = vt_cursor_u64(c);

	s->weight = w;
	/* union perf_sample_weight is declared so that the word is the same in both byte orders. */
	if (t & PD_SAMPLE_WEIGHT_STRUCT) {
		s->weight = (uint32_t)w;
		s->weight2 = w >> 32 & 0xffff;
		s->weight3 = (uint32_t)(w >> 48);
	}
}

/* The fields of variable size, in the order in which the kernel writes them. */
static void parse_variable(struct pd_sample *s, const struct pd_attr *a, struct vt_cursor *c)
{
	uint64_t t = a->sample_type;

	if (t & PD_SAMPLE_READ) {
		size_t n = vti_pd_read_words(c->p, vt_cursor_left(c) / 8, a->read_format, c->big);

		if (!n)
			c->bad = true;
		take_words(c, &s->read, n);
	}
	if (t & PD_SAMPLE_CALLCHAIN)
		take_words(c, &s->callchain, vt_cursor_u64(c));
	if (t & PD_SAMPLE_RAW) {
		s->raw_size = vt_cursor_u32(c);
		s->raw = vt_cursor_take(c, s->raw_size);
	}
	if (t & PD_SAMPLE_BRANCH_STACK)
		parse_branches(s, a, c);
	if (t & PD_SAMPLE_REGS_USER)
		s->uregs_abi = parse_regs(&s->uregs, a->regs_user, c);
	if (t & PD_SAMPLE_STACK_USER)
		parse_stack(s, c);
	if (t & (PD_SAMPLE_WEIGHT | PD_SAMPLE_WEIGHT_STRUCT))
		parse_weight(s, t, c);
	if (t & PD_SAMPLE_DATA_SRC)
		s->data_src = vt_cursor_u64(c);
	if (t & PD_SAMPLE_TRANSACTION)
		s->transaction = vt_cursor_u64(c);
	if (t & PD_SAMPLE_REGS_INTR)
		s->iregs_abi = parse_regs(&s->iregs, a->regs_intr, c);
	if (t & PD_SAMPLE_PHYS_ADDR)
		s->phys_addr = vt_cursor_u64(c);
	if (t & PD_SAMPLE_CGROUP)
		s->cgroup = vt_cursor_u64(c);
	if (t & PD_SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = vt_cursor_u64(c);
	if (t & PD_SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = vt_cursor_u64(c);
	if (t & PD_SAMPLE_AUX) {
		uint64_t size = vt_cursor_u64(c);

		s->aux = vt_cursor_take(c, size);
		s->aux_size = s->aux ? (size_t)size : 0;
	}
}

bool vti_pd_sample_parse(struct pd_sample *s, const struct pd_attr *a, const uint8_t *payload,
			 size_t size, bool big)
{
	struct vt_cursor c = vt_cursor_make(payload, size, big);
	uint64_t t = a->sample_type;

	memset(s, 0, sizeof(*s));
	if (size / 8 < (unsigned)__builtin_popcountll(t & PD_SAMPLE_FIXED))
		return false;
	parse_fixed(s, t, &c);
	if (t & ~(uint64_t)PD_SAMPLE_FIXED)
		parse_variable(s, a, &c);
	s->size = (size_t)(c.p - payload);
	return !c.bad;
}

bool vti_pd_trailer_parse(struct pd_sample *s, const struct pd_attr *a, const uint8_t *payload,
			  size_t size, bool big, size_t *body)
{
	struct vt_cursor c;
	uint64_t t = a->sample_type;
	size_t bytes;

	memset(s, 0, sizeof(*s));
	*body = size;
	if (!(a->flags & PD_ATTR_SAMPLE_ID_ALL))
		return true;
	bytes = 8 * (size_t)vti_pd_trailer_words(t);
	/* A record that is not a multiple of 8 long has its padding after the sample id. */
	size &= ~(size_t)7;
	if (size < bytes)
		return false;
	*body = size - bytes;
	c = vt_cursor_make(payload + *body, bytes, big);
	if (t & PD_SAMPLE_TID) {
		s->pid = (int32_t)vt_cursor_u32(&c);
		s->tid = (int32_t)vt_cursor_u32(&c);
	}
	if (t & PD_SAMPLE_TIME)
		s->time = vt_cursor_u64(&c);
	if (t & PD_SAMPLE_ID)
		s->id = vt_cursor_u64(&c);
	if (t & PD_SAMPLE_STREAM_ID)
		s->stream_id = vt_cursor_u64(&c);
	if (t & PD_SAMPLE_CPU) {
		s->cpu = vt_cursor_u32(&c);
		vt_cursor_u32(&c);
	}
	if (t & PD_SAMPLE_IDENTIFIER)
		s->id = vt_cursor_u64(&c);
	return true;
}
