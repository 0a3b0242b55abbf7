/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resynchronisation after damage.  perf.data has no sync marks: a record is found by the size of
 * the previous one.  The search looks for a chain of headers, each at the end of the previous
 * record, with types, sizes, ids and times that are possible in this recording, and with sizes that
 * fit the records' contents.
 *
 * Foreign bytes (a dumped stack, registers, raw data) may contain such a chain, even a real one. So
 * the first candidate is the end of the damaged record by its own contents, which is after all its
 * foreign bytes.  A chain elsewhere counts only if it is longer than the foreign bytes of one
 * sample, so that it extends beyond the record in which it begins.
 */
#include "formats/perfdata/session.h"

#include <assert.h>

/* The least records of a chain without foreign bytes: eight headers do not fit by chance. */
#define CHAIN_RECORDS 8
/* Bits of misc that are 0 in all records: linux/perf_event.h defines 0 to 2 and 12 to 15. */
#define MISC_UNUSED 0x0ff8
/* No recording pauses for 13 days: a time so much (in ns) after the latest one is invalid. */
#define TIME_LEAP (UINT64_C(1) << 50)
/* User callchains come from the stack: kernel.perf_event_max_stack is at most 64 Ki frames, and 127
 * by default. */
#define CALLCHAIN_USUAL 127
/* The entries of the deepest branch stack (AMD 16, Intel 32, Arm BRBE 64). */
#define BRANCHES_MOST 64

static bool is_known(uint32_t type)
{
	return (type >= PD_MMAP && type <= PD_AUX_OUTPUT_HW_ID) ||
	       (type >= PD_USER_START && type <= PD_BPF_METADATA);
}

/* The misc of perf's own records may have any value. */
static bool header_fits(const struct pd_rec *r, uint64_t left)
{
	return r->size >= PD_HEADER_SIZE && r->size <= left &&
	       (r->type >= PD_USER_START || (r->size % 8 == 0 && !(r->misc & MISC_UNUSED)));
}

/* ---- chains ---- */

/* The most foreign bytes of a sample: those with arbitrary content. */
static size_t count_foreign_bytes(const struct pd_attr *a)
{
	uint64_t t = a->sample_type;
	size_t n = 0;

	if (t & (PD_SAMPLE_RAW | PD_SAMPLE_AUX) || !vti_pd_extent_known(a))
		return PD_RECORD_MAX;
	if (t & PD_SAMPLE_CALLCHAIN)
		n += 8 * (1 + CALLCHAIN_USUAL);
	if (t & PD_SAMPLE_BRANCH_STACK)
		n += 8 * (2 + 4 * BRANCHES_MOST);
	if (t & PD_SAMPLE_REGS_USER)
		n += 8 * 65;
	if (t & PD_SAMPLE_REGS_INTR)
		n += 8 * 65;
	if (t & PD_SAMPLE_STACK_USER)
		n += 16 + (size_t)a->stack_user;
	return n < PD_RECORD_MAX ? n : PD_RECORD_MAX;
}

static size_t find_longest_foreign(const struct pd_session *s)
{
	size_t most = 0, i;

	for (i = 0; i < s->nevents; i++) {
		size_t n = count_foreign_bytes(&s->events[i].attr);

		most = n > most ? n : most;
	}
	return most;
}

/* True if a sample's id is one of the file's, and the half word after its CPU is 0. */
static bool sample_fits(struct pd_session *s, const struct pd_rec *r)
{
	int event = vti_pd_event_of(s, r);
	const struct pd_layout *l;
	uint64_t id;

	/* If no event is known, samples are only counted. */
	if (event < 0)
		return !s->nevents;
	l = &s->events[event].layout;
	if (l->id >= 0 && s->ids.count) {
		id = vti_pd_u64(r->payload + 8 * (size_t)l->id, s->big);
		if (!vt_hash_find(&s->ids, &id))
			return false;
	}
	return l->cpu < 0 || !vti_pd_u32(r->payload + 8 * (size_t)l->cpu + 4, s->big);
}

static bool trailer_fits(struct pd_session *s, const struct pd_rec *r)
{
	struct pd_sample id;
	size_t body;

	if (!s->nevents)
		return true;
	if (!vti_pd_trailer_parse(&id, &s->events[0].attr, r->payload, r->left, s->big, &body))
		return false;
	/* perf itself writes records of earlier processes, with id 0. */
	return !id.id || !s->ids.count || vt_hash_find(&s->ids, &id.id);
}

static bool time_fits(struct pd_session *s, const struct pd_rec *r)
{
	const struct pd_order *o = &s->order;
	uint64_t time = s->ordered ? vti_pd_order_time(s, r) : 0;

	if (!time || !o->newest)
		return true;
	if (time > o->newest && time - o->newest > TIME_LEAP)
		return false;
	/* Records are released when no older ones can come; except if the queue was full, or older
	 * ones have come nevertheless. */
	return o->late || o->last > o->release || time >= o->last;
}

/* True if a record of an unknown type has the sample id of all kernel records at its end. */
static bool unknown_ends(struct pd_session *s, const struct pd_rec *r)
{
	return r->type >= PD_USER_START || (trailer_fits(s, r) && time_fits(s, r));
}

/*
 * True if a record begins with an attribute that fits into it.  Most strings of perf have the
 * length 64, which with the text after it looks like an attribute's record of any size.
 */
static bool holds_attr(const struct pd_session *s, const struct pd_rec *r)
{
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	uint32_t size;

	vt_cursor_u32(&c); /* type */
	size = vt_cursor_u32(&c);
	return !c.bad && size >= PD_ATTR_SIZE_MIN && size % 8 == 0 && size <= r->left;
}

/* True if the complete record r is possible in this recording.  *after: foreign bytes after it. */
static bool record_fits(struct pd_session *s, const struct pd_view *v, size_t at,
			const struct pd_rec *r, uint64_t *after)
{
	size_t extent = vti_pd_extent(s, v->p + at, r->size);
	struct vt_cursor c = vt_cursor_make(r->payload, r->left, s->big);
	bool nested = r->type == PD_COMPRESSED || r->type == PD_COMPRESSED2 ||
		      r->type == PD_AUXTRACE || r->type == PD_TRACING_DATA;

	if ((extent != PD_EXTENT_UNKNOWN && extent != r->size) || (v->inner && nested))
		return false;
	if (r->type == PD_SAMPLE)
		return sample_fits(s, r) && time_fits(s, r);
	if (r->type < PD_USER_START)
		return trailer_fits(s, r) && time_fits(s, r);
	if (r->type == PD_HEADER_ATTR)
		return holds_attr(s, r);
	if (r->type == PD_AUXTRACE)
		*after = vt_cursor_u64(&c);
	else if (r->type == PD_TRACING_DATA && s->pipe)
		*after = ((uint64_t)vt_cursor_u32(&c) + 7) & ~UINT64_C(7);
	return !c.bad && *after <= v->left - at - r->size;
}

enum chain { CHAIN_NONE, CHAIN_OPEN, CHAIN_GOOD };

/*
 * Marks a position as visited; false if it was before.  If a walk fails, so does any other walk
 * from a position on its way, so each position is visited only once.
 */
static bool first_visit(struct pd_recover *d, size_t at)
{
	uint64_t bit = UINT64_C(1) << (at % 64);

	if (d->seen[at / 64] & bit)
		return false;
	d->seen[at / 64] |= bit;
	return true;
}

/* The result of a walk at the end of the view.  enough: a chain at the hint that has no error. */
static enum chain end_open_chain(const struct pd_view *v, bool enough)
{
	if (!v->whole)
		return CHAIN_OPEN;
	return enough ? CHAIN_GOOD : CHAIN_NONE;
}

/*
 * True if a record whose contents do not show its size may be in a chain.  It could lead from bytes
 * that only look like records to real ones.  After the first samples, only compressed ones may.
 */
static bool may_lead(const struct pd_session *s, const struct pd_rec *r)
{
	return !(s->sum->samples || s->order.count) || (r->type == PD_COMPRESSED && s->inflate);
}

/*
 * True if a chain can begin with a record.  An unknown record can begin one only at the hint, if
 * its size and misc are such as newer perfs write: of random bytes, one in 4,096 looks like that.
 */
static bool may_begin(const struct pd_rec *r, bool led)
{
	return is_known(r->type) ||
	       (led && r->type && r->size % 8 == 0 && !(r->misc & MISC_UNUSED));
}

/* True if the complete record at `at` can be in a chain. */
static bool link_fits(struct pd_session *s, const struct pd_view *v, size_t at,
		      const struct pd_rec *r, uint64_t *after, bool strict)
{
	bool exact = vti_pd_extent(s, v->p + at, v->have - at) != PD_EXTENT_UNKNOWN;

	/* After a known record another one begins, of any type. */
	if (!is_known(r->type))
		return unknown_ends(s, r);
	return (exact || !strict || may_lead(s, r)) && record_fits(s, v, at, r, after);
}

static enum chain walk_chain(struct pd_session *s, const struct pd_view *v, size_t start)
{
	struct pd_recover *d = &s->recover;
	bool led = start && start == d->hint;
	size_t foreign = led ? 0 : d->foreign, at = start;
	unsigned n = 0;

	while (n < CHAIN_RECORDS || at - start < foreign) {
		uint64_t after = 0;
		struct pd_rec r;

		if (at == v->left || (at == v->have && v->ends))
			return n || led ? CHAIN_GOOD : CHAIN_NONE;
		if (v->have - at < PD_HEADER_SIZE)
			return end_open_chain(v, led);
		r = vti_pd_rec(s, v->p + at, 0);
		if (!header_fits(&r, v->left - at) || !(n || may_begin(&r, led)) ||
		    !first_visit(d, at))
			return CHAIN_NONE;
		/* Bytes of a block often look like an unknown record that is cut at the end. */
		if (v->have - at < r.size)
			return end_open_chain(v, led && (n || is_known(r.type)));
		if (!link_fits(s, v, at, &r, &after, foreign > 0))
			return CHAIN_NONE;
		n += is_known(r.type);
		at += r.size;
		/* A large AUX area extends beyond the view, but its record is distinctive. */
		if (after > v->have - at)
			return r.misc ? CHAIN_NONE : CHAIN_GOOD;
		at += (size_t)after;
		if (at - start > PD_LOOK - PD_RECORD_MAX)
			return n > 1 ? CHAIN_GOOD : CHAIN_NONE;
	}
	return CHAIN_GOOD;
}

/* Resets which positions of the view have been visited. */
static void reset_walks(struct pd_session *s, const struct pd_view *v)
{
	struct pd_recover *d = &s->recover;

	assert(v->have <= PD_VIEW_MAX);
	memset(d->seen, 0, (v->have / 64 + 1) * sizeof(d->seen[0]));
	d->hint = 0;
	d->foreign = find_longest_foreign(s);
}

/* ---- from a damaged record ---- */

/*
 * Looks for a chain at the end of a record of size `extent`.  This position does not come from the
 * search, so eight records suffice, whatever their foreign bytes.
 */
static enum chain try_hint(struct pd_session *s, const struct pd_view *v, size_t extent)
{
	enum chain found;

	if (extent == PD_EXTENT_UNKNOWN || extent == PD_EXTENT_CUT || extent > v->left)
		return CHAIN_NONE;
	if (extent > v->have)
		return v->whole ? CHAIN_NONE : CHAIN_OPEN;
	s->recover.hint = extent;
	found = walk_chain(s, v, extent);
	s->recover.hint = 0;
	return found;
}

/* The same, without the positions visited before. */
static enum chain try_hint_anew(struct pd_session *s, const struct pd_view *v, size_t extent)
{
	reset_walks(s, v);
	return try_hint(s, v, extent);
}

/*
 * The end of an AUX area whose record has a damaged size, which is a constant; 0: it is no such
 * record.  An area can be far larger than a view.
 */
static uint64_t find_aux_end(const struct pd_session *s, const struct pd_view *v)
{
	struct pd_rec r = vti_pd_rec(s, v->p, 0);
	struct vt_cursor c;
	uint64_t total;

	if (r.type != PD_AUXTRACE || r.misc || v->inner || v->have < PD_AUXTRACE_SIZE)
		return 0;
	c = vt_cursor_make(v->p + PD_HEADER_SIZE, PD_AUXTRACE_SIZE - PD_HEADER_SIZE, s->big);
	total = vt_cursor_u64(&c);
	vt_cursor_take(&c, PD_AUXTRACE_SIZE - PD_HEADER_SIZE - 8 - 4);
	if (vt_cursor_u32(&c) || total % 8 || total > v->left - PD_AUXTRACE_SIZE)
		return 0;
	return PD_AUXTRACE_SIZE + total;
}

/* Event ids count from 1 and do not come near 2^32; nearly all records have other words in them. */
uint64_t vti_pd_attr_end(const struct pd_session *s, const uint8_t *p, uint64_t size, uint64_t next)
{
	struct pd_attr a;
	uint64_t at;

	if (!vti_pd_attr_parse(&a, p + PD_HEADER_SIZE, (size_t)next - PD_HEADER_SIZE, s->big))
		return 0;
	if (size < PD_HEADER_SIZE + (uint64_t)a.size || size > next || size % 8)
		return next;
	for (at = size; at + 8 <= next; at += 8) {
		uint64_t word = vti_pd_u64(p + at, s->big);

		if (!word || word > UINT32_MAX)
			return size;
	}
	return next;
}

/* Finds the end of an attribute's record, after its ids. */
static enum chain find_attr_end(struct pd_session *s, const struct pd_view *v, uint64_t *at)
{
	struct pd_rec r = vti_pd_rec(s, v->p, 0);
	enum chain found = CHAIN_NONE;
	struct pd_attr a;
	size_t end;

	if (r.type != PD_HEADER_ATTR || v->inner ||
	    !vti_pd_attr_parse(&a, r.payload, v->have - PD_HEADER_SIZE, s->big))
		return CHAIN_NONE;
	end = PD_HEADER_SIZE + (size_t)a.size;
	for (; end <= PD_RECORD_MAX && found == CHAIN_NONE; end += 8) {
		found = try_hint(s, v, end);
		*at = end;
	}
	return found;
}

/* True if a block of a COMPRESSED record ends at the end of the record, if its size is `size`. */
static bool block_ends_at(const struct pd_view *v, size_t size)
{
	size_t end = vti_pd_block_end(v->p, v->have, PD_HEADER_SIZE);

	while (end && end < size)
		end = vti_pd_block_end(v->p, v->have, end);
	return end && end == size;
}

/* Finds the end of a COMPRESSED record: that of its first block which records follow. */
static enum chain find_blocks_end(struct pd_session *s, const struct pd_view *v, uint64_t *at)
{
	size_t end = vti_pd_block_end(v->p, v->have, PD_HEADER_SIZE);
	enum chain found = CHAIN_NONE;

	while (end && end <= PD_RECORD_MAX && found == CHAIN_NONE) {
		found = try_hint(s, v, end);
		*at = end;
		end = vti_pd_block_end(v->p, v->have, end);
	}
	return found;
}

/* Finds the end of the damaged record by its own contents, if records continue there. */
static enum chain follow_record_contents(struct pd_session *s, const struct pd_view *v,
					 uint64_t *at)
{
	size_t extents[2] = {vti_pd_extent(s, v->p, v->have),
			     vti_pd_extent_sample(s, v->p, v->have)};
	enum chain found;
	unsigned i;

	*at = find_aux_end(s, v);
	if (*at)
		return CHAIN_GOOD;
	if (vti_pd_rec(s, v->p, 0).type == PD_COMPRESSED)
		found = find_blocks_end(s, v, at);
	else
		found = find_attr_end(s, v, at);
	for (i = 0; i < 2 && found == CHAIN_NONE; i++) {
		found = try_hint(s, v, extents[i]);
		*at = extents[i];
	}
	if (found != CHAIN_GOOD)
		*at = 0;
	return found;
}

/* True if the header at `at` has a known type, or is the end: the record before it is good. */
static bool next_is_known(const struct pd_session *s, const struct pd_view *v, size_t at)
{
	if (v->have < at + PD_HEADER_SIZE)
		return v->ends;
	return is_known(vti_pd_rec(s, v->p + at, 0).type);
}

static bool has_foreign_after(const struct pd_session *s, const struct pd_rec *r)
{
	return r->type == PD_AUXTRACE || (r->type == PD_TRACING_DATA && s->pipe);
}

/* Finds the next chain after the view's start, as far as the view shows it. */
static bool find_next_chain(struct pd_session *s, const struct pd_view *v, size_t from,
			    uint64_t *at)
{
	enum chain found = CHAIN_NONE;
	size_t i;

	*at = 0;
	reset_walks(s, v);
	if (from) {
		found = follow_record_contents(s, v, at);
		if (found != CHAIN_NONE)
			return found == CHAIN_GOOD;
	}
	for (i = from; i < v->have; i++) {
		found = walk_chain(s, v, i);
		if (found != CHAIN_NONE)
			break;
	}
	*at = i;
	return found == CHAIN_GOOD;
}

/*
 * Checks a record whose contents do not show its size, and after which something like the header of
 * a damaged record follows.  It is good if the next chain begins only after that header.
 */
static enum pd_fit fits_before_damage(struct pd_session *s, const struct pd_view *v, size_t size)
{
	uint64_t at;
	bool found;

	if (!next_is_known(s, v, size))
		return PD_DAMAGED;
	found = find_next_chain(s, v, 1, &at);
	if (size < at)
		return PD_FITS;
	return found || v->whole ? PD_DAMAGED : PD_UNDECIDED;
}

/* perf pads what it writes so that each record begins at a multiple of so many bytes. */
#define ALIGNMENT 8

/*
 * Checks a record whose contents do not show its size, and which records follow.  It is damaged if
 * a chain begins inside it: then its size is too large.
 *
 * Only records in step with this one count.  At other addresses the bytes of two numbers together
 * may be any header, whose size leads to a real record sooner or later; an intact record must not
 * look damaged.  In step with it the size is the upper quarter of a number, which for an id, a CPU
 * or a thread is 0.
 */
static enum pd_fit fits_around(struct pd_session *s, const struct pd_view *v, size_t size)
{
	enum chain found = CHAIN_NONE;
	size_t i;

	reset_walks(s, v);
	for (i = ALIGNMENT; i < size && found != CHAIN_OPEN; i += ALIGNMENT) {
		found = walk_chain(s, v, i);
		if (found == CHAIN_GOOD)
			return PD_DAMAGED;
	}
	return found == CHAIN_OPEN ? PD_UNDECIDED : PD_FITS;
}

/*
 * Checks a record of an unknown type: its size is right if records continue after it, and no chain
 * begins inside it.
 */
static enum pd_fit unknown_fits(struct pd_session *s, const struct pd_view *v)
{
	struct pd_rec r;
	enum chain found;

	if (v->have < PD_HEADER_SIZE)
		return v->ends ? PD_FITS : PD_UNDECIDED;
	r = vti_pd_rec(s, v->p, 0);
	if (r.size < PD_HEADER_SIZE || r.size > v->left ||
	    (v->have >= r.size && !unknown_ends(s, &r)))
		return PD_DAMAGED;
	found = try_hint_anew(s, v, r.size);
	if (found != CHAIN_GOOD)
		return found == CHAIN_OPEN ? PD_UNDECIDED : PD_DAMAGED;
	return fits_around(s, v, r.size);
}

/* The view from `at` on. */
static struct pd_view make_view_from(const struct pd_view *v, size_t at)
{
	struct pd_view w = *v;

	w.p += at;
	w.have -= at;
	w.left -= w.left == UINT64_MAX ? 0 : at;
	return w;
}

/* Checks a record whose contents show another size, or none, by what follows it. */
static enum pd_fit followed_fits(struct pd_session *s, const struct pd_view *v, size_t extent)
{
	struct pd_rec r = vti_pd_rec(s, v->p, 0);
	enum chain found = try_hint_anew(s, v, extent);

	if (found != CHAIN_NONE)
		return found == CHAIN_GOOD ? PD_DAMAGED : PD_UNDECIDED;
	found = try_hint_anew(s, v, r.size);
	if (found == CHAIN_NONE)
		return fits_before_damage(s, v, r.size);
	if (found == CHAIN_OPEN)
		return PD_UNDECIDED;
	/* Compressed bytes, and contents of kernel records, may look like anything. */
	if (extent != PD_EXTENT_UNKNOWN || r.type < PD_USER_START || r.type == PD_COMPRESSED)
		return PD_FITS;
	return fits_around(s, v, r.size);
}

/*
 * The same for a COMPRESSED record, also by the ends of its blocks.  Its own size is tried first,
 * because a block can begin like a record of an unknown type, and then a chain begins inside.
 */
static enum pd_fit compressed_fits(struct pd_session *s, const struct pd_view *v, size_t size)
{
	bool own = block_ends_at(v, size);
	enum chain found = CHAIN_NONE;
	uint64_t end;

	reset_walks(s, v);
	if (own)
		found = try_hint(s, v, size);
	if (found != CHAIN_NONE)
		return found == CHAIN_GOOD ? PD_FITS : PD_UNDECIDED;
	found = find_blocks_end(s, v, &end);
	if (found == CHAIN_GOOD && end < size)
		return PD_DAMAGED;
	/* Not every writer ends blocks with its records: then the records that follow decide. */
	if (found == CHAIN_GOOD)
		return try_hint_anew(s, v, size) == CHAIN_GOOD ? PD_FITS : PD_DAMAGED;
	if (found == CHAIN_OPEN)
		return PD_UNDECIDED;
	/* The damage is after the end of its blocks. */
	return own ? PD_FITS : followed_fits(s, v, PD_EXTENT_UNKNOWN);
}

/* The same for an attribute, after whose ids a damaged record may follow. */
static enum pd_fit attr_fits(struct pd_session *s, const struct pd_view *v, size_t size)
{
	enum chain found;
	uint64_t end;

	if (v->have < PD_HEADER_SIZE + PD_ATTR_SIZE_MIN && !v->whole)
		return PD_UNDECIDED;
	reset_walks(s, v);
	found = find_attr_end(s, v, &end);
	if (found == CHAIN_GOOD && end == size)
		return PD_FITS;
	if (found == CHAIN_GOOD && vti_pd_attr_end(s, v->p, size, end) != size)
		return PD_DAMAGED;
	return found == CHAIN_OPEN ? PD_UNDECIDED : followed_fits(s, v, PD_EXTENT_UNKNOWN);
}

enum pd_fit vti_pd_fits(struct pd_session *s, const struct pd_view *v)
{
	struct pd_rec r = vti_pd_rec(s, v->p, 0);
	size_t extent = vti_pd_extent(s, v->p, v->have);
	struct pd_view next;

	if (!is_known(r.type))
		return unknown_fits(s, v);
	if (r.type == PD_COMPRESSED)
		return compressed_fits(s, v, r.size);
	if (r.type == PD_HEADER_ATTR && !v->inner)
		return attr_fits(s, v, r.size);
	if (extent != r.size)
		return followed_fits(s, v, extent);
	if (has_foreign_after(s, &r) || next_is_known(s, v, extent))
		return PD_FITS;
	next = make_view_from(v, extent);
	return unknown_fits(s, &next);
}

bool vti_pd_search(struct pd_session *s, const struct pd_view *v, size_t from, uint64_t *at)
{
	struct pd_rec r = vti_pd_rec(s, v->p, 0);

	/* No record begins inside one of the right size: the damage is after it, or it is cut. */
	if (from && vti_pd_extent(s, v->p, v->have) == r.size)
		from = r.size < v->have ? r.size : v->have;
	return find_next_chain(s, v, from, at);
}
