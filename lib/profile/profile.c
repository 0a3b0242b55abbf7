/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "image/imagedata.h"
#include "image/procdata.h"
#include "profile/executions.h"
#include "profile/tally.h"

#define PLACE_KEY_SIZE offsetof(struct vt_place, samples)

/* PERF_RECORD_MISC_USER of linux/perf_event.h; only user code is recorded as executed. */
#define MODE_USER 2u

/* The id of an event of the stream, and its column. */
struct event_entry {
	uint64_t id;
	uint64_t index;
};

/* Places in the order of vt_place_compare(); outdated if `count` is not their number. */
struct place_order {
	const struct vt_place **places;
	size_t count;
};

/* Where a block's first instruction lies. */
struct block_place {
	bool known;
	struct vt_place place;
};

struct vt_profile {
	struct vt_context *context;
	struct vt_groups *groups; /* NULL: none */
	struct vt_hash places;
	struct place_order *order;     /* made on demand */
	struct vt_hash ids;	       /* struct event_entry */
	size_t own[VT_PROFILE_NKINDS]; /* columns of other kinds: 1 + the index, or 0 */
	struct vt_profile_event *events;
	size_t nevents;
	size_t events_cap;
	bool estimates; /* FREQ records are to be counted */
	uint64_t bad;
	struct vt_execcount *executed; /* NULL: nothing yet, or all of it is in the places */
	struct block_place *blocks;    /* by id */
	size_t nblocks;
};

const char *vt_unmapped_text(uint64_t why)
{
	static const char *const text[VT_NUNMAPPED] = {
		[VT_UNMAPPED_USER] = "no mapping, user mode",
		[VT_UNMAPPED_KERNEL] = "no mapping, kernel mode",
		[VT_UNMAPPED_HYPERVISOR] = "in the hypervisor",
		[VT_UNMAPPED_GUEST_KERNEL] = "in a guest's kernel",
		[VT_UNMAPPED_GUEST_USER] = "in a guest's user mode",
		[VT_UNMAPPED_MODE] = "no mapping, unknown mode",
		[VT_UNMAPPED_NO_IP] = "no address recorded",
	};

	return why < VT_NUNMAPPED ? text[why] : "?";
}

struct vt_profile *vt_profile_new(struct vt_context *context)
{
	struct vt_profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->order = calloc(1, sizeof(*p->order));
	if (!p->order) {
		free(p);
		return NULL;
	}
	p->context = context;
	vt_hash_init(&p->places, sizeof(struct vt_place), PLACE_KEY_SIZE);
	vt_hash_init(&p->ids, sizeof(struct event_entry), sizeof(uint64_t));
	return p;
}

void vt_profile_free(struct vt_profile *p)
{
	if (!p)
		return;
	free(p->events);
	free(p->order->places);
	free(p->order);
	vt_hash_fini(&p->places);
	vt_hash_fini(&p->ids);
	vt_execcount_free(p->executed);
	free(p->blocks);
	free(p);
}

void vt_profile_group_by(struct vt_profile *p, struct vt_groups *groups)
{
	p->groups = groups;
}

const struct vt_groups *vt_profile_groups(const struct vt_profile *p)
{
	return p->groups;
}

/* ---- events ---- */

/* Columns that are no events of the stream. */
static const struct {
	const char *name;
	const char *unit;
	enum vt_policy policy;
	const char *origin;
} own_columns[VT_PROFILE_NKINDS] = {
	[VT_PROFILE_EXECUTED] = {"instructions", "instructions", VT_POLICY_EXACT, "executed"},
	[VT_ESTIMATE_EXECUTIONS] = {"executions", "", VT_POLICY_MODEL, "estimated"},
	[VT_ESTIMATE_CYCLES] = {"head cycles", "", VT_POLICY_MODEL, "estimated"},
	[VT_ESTIMATE_STALL] = {"stall cycles", "", VT_POLICY_MODEL, "estimated"},
	[VT_PROFILE_LISTED] = {"executions", "", VT_POLICY_EXACT, "listed"},
	[VT_PROFILE_CYCLES] = {"estimated cycles", "", VT_POLICY_EXACT, "estimated"},
	[VT_PROFILE_FOLLOWED] = {"samples", "", VT_POLICY_EXACT, "estimated"},
};

/* The number of the first of them, for FREQ records of executed code. */
#define OWN_NUMBERS 0x76730000u

/* Adds a column without samples.  -VT_E_NOMEM. */
static int add_profile_column(struct vt_profile *p, struct vt_profile_event column,
			      struct vt_error *err)
{
	if (!vt_array_grow(&p->events, &p->events_cap, p->nevents + 1, sizeof(*p->events)))
		return vt_error_nomem(err);
	p->events[p->nevents++] = column;
	return 0;
}

/* Finds or adds the column of an event of the stream, as it is declared now. */
static int find_declared(struct vt_profile *p, uint64_t id, size_t *index, struct vt_error *err)
{
	const struct vt_event *declared = vt_context_event(p->context, id, err);
	struct event_entry *e;
	bool added;

	if (!declared)
		return -VT_E_NOMEM;
	e = vt_hash_add(&p->ids, &id, &added);
	if (!e)
		return vt_error_nomem(err);
	if (added) {
		e->index = p->nevents;
		if (add_profile_column(p, (struct vt_profile_event){.id = id}, err) < 0)
			return -VT_E_NOMEM;
	}
	*index = e->index;
	p->events[*index].name = declared->name;
	p->events[*index].unit = declared->unit;
	p->events[*index].policy = declared->policy;
	p->events[*index].precise = declared->precise;
	p->events[*index].sampling = declared->period;
	p->events[*index].freq = declared->freq;
	return 0;
}

/* Finds or adds the column of another kind. */
static int find_own(struct vt_profile *p, enum vt_profile_kind kind, uint32_t *index,
		    struct vt_error *err)
{
	const struct vt_profile_event column = {
		.kind = kind,
		.id = OWN_NUMBERS + kind - VT_PROFILE_EXECUTED,
		.name = own_columns[kind].name,
		.unit = own_columns[kind].unit,
		.policy = own_columns[kind].policy,
		.sampling = kind == VT_PROFILE_EXECUTED,
		.estimate = own_columns[kind].policy == VT_POLICY_MODEL,
		.origin = own_columns[kind].origin,
	};

	assert(kind != VT_PROFILE_EVENT);
	if (!p->own[kind]) {
		if (add_profile_column(p, column, err) < 0)
			return -VT_E_NOMEM;
		p->own[kind] = p->nevents;
	}
	*index = (uint32_t)p->own[kind] - 1;
	return 0;
}

/* ---- samples ---- */

enum vt_unmapped vt_unmapped_cause(uint64_t ip, uint64_t misc, uint64_t has)
{
	static const enum vt_unmapped by_mode[VT_MISC_CPUMODE + 1] = {
		VT_UNMAPPED_MODE,	VT_UNMAPPED_KERNEL,	  VT_UNMAPPED_USER,
		VT_UNMAPPED_HYPERVISOR, VT_UNMAPPED_GUEST_KERNEL, VT_UNMAPPED_GUEST_USER,
		VT_UNMAPPED_MODE,	VT_UNMAPPED_MODE,
	};

	if (!ip && !(has & VT_HAS_IP))
		return VT_UNMAPPED_NO_IP;
	return by_mode[misc & VT_MISC_CPUMODE];
}

/* The group of a record, or of what is no sample (NULL). */
static int find_group(struct vt_profile *p, const struct vt_record *rec, uint32_t *group,
		      struct vt_error *err)
{
	return p->groups ? vt_groups_of(p->groups, rec, group, err) : 0;
}

static int add_count(struct vt_profile *p, const struct vt_place *key, uint64_t samples,
		     uint64_t period, struct vt_error *err)
{
	struct vt_profile_event *e = &p->events[key->event];
	struct vt_place *place = vt_hash_add(&p->places, key, NULL);
	double squares = vt_tally_squares(samples, period);

	if (!place)
		return vt_error_nomem(err);
	place->samples += samples;
	place->period += period;
	place->squares += squares;
	e->samples += samples;
	e->period += period;
	e->squares += squares;
	return 0;
}

/* The results of the last lookups.  No sample changes a mapping, so they hold for a run. */
struct recent {
	uint64_t event_id;
	size_t event;
	bool has_event;
	struct vt_map map;
	uint64_t mode;
	int32_t pid;
	bool has_map;
};

static const struct vt_map *find_recent_map(struct vt_profile *p, struct recent *last, int32_t pid,
					    uint64_t ip, uint64_t mode)
{
	const struct vt_map *m;

	if (last->has_map && last->mode == mode && last->pid == pid && ip >= last->map.start &&
	    ip < last->map.end)
		return &last->map;
	m = vt_addrspace_find(vt_context_space(p->context), pid, ip, mode);
	last->has_map = m != NULL;
	if (m) {
		last->map = *m;
		last->mode = mode;
		last->pid = pid;
	}
	return m;
}

static int count_sample_run(struct vt_profile *p, const struct vt_block *block, uint32_t first,
			    uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct recent last = {0};

	for (; rec.row - first < count; rec.row++) {
		uint64_t id = vt_record_u64(&rec, VT_SAMPLE_EVENT);
		uint64_t ip = vt_record_u64(&rec, VT_SAMPLE_IP);
		uint64_t misc = vt_record_u64(&rec, VT_SAMPLE_MISC);
		uint64_t has = vt_record_u64(&rec, VT_SAMPLE_HAS);
		uint64_t period = vt_record_u64(&rec, VT_SAMPLE_PERIOD);
		int32_t pid = (int32_t)vt_record_i64(&rec, VT_SAMPLE_PID);
		struct vt_place key = {.image = VT_UNMAPPED_IMAGE};
		const struct vt_map *m;
		int code;

		if (!last.has_event || last.event_id != id) {
			code = find_declared(p, id, &last.event, err);
			if (code < 0)
				return code;
			last.event_id = id;
			last.has_event = true;
		}
		m = find_recent_map(p, &last, pid, ip, misc & VT_MISC_CPUMODE);
		if (m) {
			key.image = m->image;
			key.offset = vt_map_offset(m, ip);
			key.pid = m->type == VT_IMAGE_ANON ? pid : 0;
		} else {
			key.offset = vt_unmapped_cause(ip, misc, has);
		}
		key.event = (uint32_t)last.event;
		/* Recorders omit the period if it is the same for all samples. */
		if (!period && !(has & VT_HAS_PERIOD))
			period =
				p->events[last.event].sampling ? p->events[last.event].sampling : 1;
		code = find_group(p, &rec, &key.group, err);
		if (code == 0)
			code = add_count(p, &key, 1, period, err);
		if (code < 0)
			return code;
		p->events[last.event].single++;
		p->events[last.event].exact_ip += !!(misc & VT_MISC_EXACT_IP);
	}
	return 0;
}

static int count_count_record(struct vt_profile *p, const struct vt_record *rec,
			      struct vt_error *err)
{
	struct vt_place key = {.offset = vt_record_u64(rec, VT_COUNT_OFFSET),
			       .image = (uint32_t)vt_record_u64(rec, VT_COUNT_IMAGE)};
	size_t event = 0;
	int code = find_declared(p, vt_record_u64(rec, VT_COUNT_EVENT), &event, err);

	if (code == 0)
		code = find_group(p, NULL, &key.group, err);
	if (code < 0)
		return code;
	key.event = (uint32_t)event;
	return add_count(p, &key, vt_record_u64(rec, VT_COUNT_SAMPLES),
			 vt_record_u64(rec, VT_COUNT_PERIOD), err);
}

/* ---- estimates ---- */

void vt_profile_estimates(struct vt_profile *p)
{
	p->estimates = true;
}

int vt_profile_count(struct vt_profile *p, enum vt_profile_kind kind, uint32_t image,
		     uint64_t offset, uint64_t amount, struct vt_error *err)
{
	struct vt_place key = {.offset = offset, .image = image};

	if (find_own(p, kind, &key.event, err) < 0 || find_group(p, NULL, &key.group, err) < 0)
		return -VT_E_NOMEM;
	return add_count(p, &key, amount, amount, err);
}

static int count_estimates(struct vt_profile *p, const struct vt_record *rec, struct vt_error *err)
{
	double executions = vt_record_f64(rec, VT_FREQ_EXECUTIONS);
	double cycles = vt_record_f64(rec, VT_FREQ_CYCLES);
	double issue = vt_record_f64(rec, VT_FREQ_ISSUE);
	const struct {
		enum vt_profile_kind kind;
		double amount;
	} estimates[] = {
		{VT_ESTIMATE_EXECUTIONS, executions},
		{VT_ESTIMATE_CYCLES, executions * cycles},
		{VT_ESTIMATE_STALL, executions * (cycles - issue)},
	};
	size_t i;
	int code = 0;

	for (i = 0; i < 3 && p->estimates && code == 0; i++) {
		double amount = estimates[i].amount;

		/* Skip impossible estimates: negative, NaN or beyond 64 bits. */
		if (amount >= 0.5 && amount < 9e18)
			code = vt_profile_count(
				p, estimates[i].kind, (uint32_t)vt_record_u64(rec, VT_FREQ_IMAGE),
				vt_record_u64(rec, VT_FREQ_OFFSET), (uint64_t)(amount + 0.5), err);
	}
	return code;
}

/* ---- executed code ---- */

static void locate_bblock(struct vt_profile *p, const struct vt_bblock *b)
{
	struct block_place *at = &p->blocks[b->id];
	const struct vt_map *m = vt_addrspace_find(vt_context_space(p->context), (int32_t)b->pid,
						   b->addr, MODE_USER);

	at->known = m != NULL;
	at->place = (struct vt_place){.image = VT_UNMAPPED_IMAGE, .offset = VT_UNMAPPED_USER};
	if (!m)
		return;
	at->place.image = m->image;
	at->place.offset = vt_map_offset(m, b->addr);
	at->place.pid = m->type == VT_IMAGE_ANON ? (int32_t)b->pid : 0;
}

static int locate_new_block(struct vt_profile *p, const struct vt_record *rec, struct vt_error *err)
{
	const struct vt_bblocks *dict = vt_context_blocks(p->context);
	const struct vt_bblock *b = vt_bblocks_get(dict, vt_record_u64(rec, VT_BLOCK_ID));
	size_t had = p->nblocks;
	int code = vt_context_refused(p->context, err);

	if (code < 0)
		return code;
	if (!vt_array_grow(&p->blocks, &p->nblocks, b->id + 1, sizeof(*p->blocks)))
		return vt_error_nomem(err);
	memset(p->blocks + had, 0, (p->nblocks - had) * sizeof(*p->blocks));
	locate_bblock(p, b);
	return 0;
}

/* Counts a record that contradicts itself as bad and goes on. */
static int count_executed_code(struct vt_profile *p, const struct vt_record *rec,
			       struct vt_error *err)
{
	int code;

	if (vt_context_is_sampled(p->context))
		return 0;
	if (!p->executed)
		p->executed = vt_execcount_new(vt_context_blocks(p->context));
	if (!p->executed)
		return vt_error_nomem(err);
	code = rec->kind == VT_BLOCK ? locate_new_block(p, rec, err)
				     : vt_execcount_exec(p->executed, rec, err);
	p->bad += code == -VT_E_FORMAT;
	return code == -VT_E_FORMAT ? 0 : code;
}

/* Looks again for a block that was not mapped when its record came. */
static int count_block(struct vt_profile *p, const struct vt_bblock *b, uint32_t event,
		       struct vt_error *err)
{
	struct block_place *at = &p->blocks[b->id];
	struct vt_place place;
	uint32_t i;
	int code = 0;

	if (!at->known)
		locate_bblock(p, b);
	place = at->place;
	place.event = event;
	code = find_group(p, NULL, &place.group, err);
	for (i = 0; i < b->ninsns && code == 0; i++) {
		uint64_t n = vt_execcount_of(p->executed, b->id, i);

		if (n)
			code = add_count(p, &place, n, n, err);
		if (at->known)
			place.offset += b->lengths[i];
	}
	return code;
}

int vt_profile_finish(struct vt_profile *p, struct vt_error *err)
{
	const struct vt_bblocks *dict = vt_context_blocks(p->context);
	uint32_t event = 0;
	uint64_t id;
	int code;

	if (!p->executed || !vt_execcount_totals(p->executed)->insns)
		return 0;
	code = find_own(p, VT_PROFILE_EXECUTED, &event, err);
	for (id = 0; id < p->nblocks && code == 0; id++)
		if (vt_bblocks_get(dict, id))
			code = count_block(p, vt_bblocks_get(dict, id), event, err);
	vt_execcount_free(p->executed);
	p->executed = NULL;
	return code;
}

/* ---- other records ---- */

/* PROT_EXEC of sys/mman.h. */
#define CAN_EXEC 4

/* The dynamic linker writes once to text with relocations, which stays as in the file. */
static bool is_relocated_map(struct vt_profile *p, const struct vt_map *m)
{
	const struct vt_imagedata *data;
	uint64_t bias;

	if (m->found || m->writes != 1)
		return false;
	data = vt_procdata_code(vt_context_images(p->context), m, &bias);
	return data && vt_imagedata_is_relocated(data, m->start - bias);
}

/* Marks code as patched if the program could write to it, as a mapping record shows. */
static void note_patched_code(struct vt_profile *p, const struct vt_record *rec)
{
	int32_t pid = (int32_t)vt_record_i64(rec, VT_MAP_PID);
	uint64_t at = vt_record_u64(rec, VT_MAP_START);
	uint64_t end = at + vt_record_u64(rec, VT_MAP_LENGTH);
	const struct vt_map *m;

	if (pid < 0 || !(vt_record_u64(rec, VT_MAP_PROT) & CAN_EXEC))
		return;
	for (; at < end; at = m->end) {
		m = vt_addrspace_find(vt_context_space(p->context), pid, at, MODE_USER);
		if (!m || m->end <= at)
			return;
		if (m->writes && (m->type == VT_IMAGE_FILE || m->type == VT_IMAGE_VDSO) &&
		    !is_relocated_map(p, m))
			vt_images_patch(vt_context_images(p->context), m->image,
					vt_map_offset(m, m->start), m->end - m->start);
	}
}

static int check_mapping(struct vt_profile *p, const struct vt_record *rec, struct vt_error *err)
{
	int code = vt_context_refused(p->context, err);

	if (code == 0 && rec->kind == VT_MAP && vt_context_images(p->context))
		note_patched_code(p, rec);
	return code;
}

/* What is packed of an image and contradicts itself is left out, and the rest is as good. */
static int check_packed(struct vt_profile *p, struct vt_error *err)
{
	int code = vt_context_refused(p->context, err);

	p->bad += code == -VT_E_FORMAT;
	return code == -VT_E_FORMAT ? 0 : code;
}

static int count_record(struct vt_profile *p, const struct vt_record *rec, struct vt_error *err)
{
	size_t event;

	switch (rec->kind) {
	case VT_EVENT:
		return find_declared(p, vt_record_u64(rec, VT_EVENT_ID), &event, err);
	case VT_IMAGE:
	case VT_MAP:
	case VT_THREAD:
	case VT_KSYMBOL:
		return check_mapping(p, rec, err);
	case VT_FILE:
	case VT_SYMBOL:
	case VT_LINE:
		return check_packed(p, err);
	case VT_META:
		return vt_context_refused(p->context, err);
	case VT_COUNT:
		return count_count_record(p, rec, err);
	case VT_FREQ:
		return count_estimates(p, rec, err);
	case VT_BLOCK:
	case VT_EXEC:
		return count_executed_code(p, rec, err);
	default:
		return 0;
	}
}

int vt_profile_feed(void *profile, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	struct vt_profile *p = profile;
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	if (block->kind == VT_SAMPLE)
		return count_sample_run(p, block, first, count, err);
	if (p->groups)
		code = vt_groups_feed(p->groups, block, first, count, err);
	for (; rec.row - first < count && code == 0; rec.row++)
		code = count_record(p, &rec, err);
	return code;
}

/* ---- what it holds ---- */

size_t vt_profile_nevents(const struct vt_profile *p)
{
	return p->nevents;
}

const struct vt_profile_event *vt_profile_event(const struct vt_profile *p, size_t event)
{
	return &p->events[event];
}

size_t vt_profile_estimate_event(const struct vt_profile *p, enum vt_profile_kind kind)
{
	/* 0 wraps around to SIZE_MAX. */
	return p->own[kind] - 1;
}

size_t vt_profile_nplaces(const struct vt_profile *p)
{
	return p->places.count;
}

const struct vt_place *vt_profile_place(const struct vt_profile *p, size_t i)
{
	return vt_hash_at(&p->places, i);
}

int vt_place_compare(const void *pa, const void *pb)
{
	const struct vt_place *a = pa, *b = pb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->group < b->group ? -1 : a->group > b->group;
}

static int compare_ordered(const void *pa, const void *pb)
{
	return vt_place_compare(*(const void *const *)pa, *(const void *const *)pb);
}

/* The order holds until a place is added: places are never removed. */
static bool sort_profile_places(const struct vt_profile *p)
{
	struct place_order *o = p->order;
	const struct vt_place **list;
	size_t i;

	if (o->count == p->places.count)
		return true;
	list = realloc(o->places, p->places.count * sizeof(struct vt_place *));
	if (!list)
		return false;
	o->places = list;
	o->count = p->places.count;
	for (i = 0; i < o->count; i++)
		list[i] = vt_profile_place(p, i);
	qsort(list, o->count, sizeof(struct vt_place *), compare_ordered);
	return true;
}

/* The number of places before this one. */
static size_t count_before(const struct place_order *o, const struct vt_place *place)
{
	size_t low = 0, high = o->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (vt_place_compare(o->places[middle], place) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool vt_profile_find_places(const struct vt_profile *p, uint32_t image, int32_t pid, uint64_t first,
			    uint64_t last, const struct vt_place *const **places, size_t *n)
{
	struct vt_place from = {.image = image, .pid = pid, .offset = first};
	struct vt_place to = {.image = image, .pid = pid, .offset = last, .event = UINT32_MAX};
	size_t at;

	if (!sort_profile_places(p))
		return false;
	if (last < first) {
		*n = 0;
		return true;
	}
	at = count_before(p->order, &from);
	*places = p->order->places ? p->order->places + at : NULL;
	*n = count_before(p->order, &to) - at;
	assert(at + *n <= p->order->count);
	return true;
}

struct vt_context *vt_profile_context(const struct vt_profile *p)
{
	return p->context;
}

uint64_t vt_profile_bad(const struct vt_profile *p)
{
	return p->bad;
}
