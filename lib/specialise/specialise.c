/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "specialise/specialise.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/value_text.h"
#include "specialise/entry.h"
#include "stream/kinds.h"

/* Where instructions were not counted: how many there are for each load, as a rule. */
#define INSNS_PER_LOAD 4

/*
 * An address of a program is above its first pages, and below the kernel.  What a program allocates
 * lies above the first megabyte; numbers of 8 bytes beyond sixteen that never change are addresses
 * nearly always, and those below it where others of the program's addresses are near.
 */
#define MIN_ADDRESS   65536
#define LOW_ADDRESS   (UINT64_C(1) << 20)
#define HIGH_ADDRESS  (UINT64_C(1) << 24)
#define LIMIT_ADDRESS (UINT64_C(1) << 47)
#define NEAR_SHIFT    20 /* megabytes */

/* Registers that pass arguments. */
#define NARGUMENTS 6

/* How a procedure was found: by its symbol, by where procedures begin, or not at all. */
enum found { BY_SYMBOL, BY_ENTRY, BY_NOTHING };

/* No padding: the key of a table. */
struct procedure_key {
	uint64_t start;
	uint32_t image;
	int32_t pid;
	uint32_t found;
	uint32_t why;
};

struct procedure_entry {
	struct procedure_key key;
	struct vt_spec_procedure p;
	bool counted;		   /* its instructions were */
	double loads;		   /* executed */
	double passed[NARGUMENTS]; /* calls with the i-th argument, of lists at calls */
	size_t rank;		   /* in the list */
};

struct place_key {
	uint64_t offset;
	uint64_t image;
};

struct place_entry {
	struct place_key key;
	uint64_t samples;
};

struct vt_spec {
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_hotprofile *hot;
	struct vt_spec_options opt;
	struct vt_hash procedures; /* struct procedure_entry, in the order of discovery */
	struct vt_hash places;	   /* struct place_entry */
	struct vti_entries entries;
	struct vt_spec_procedure *list; /* what procedures became, in order */
	struct vt_spec_row *rows;
	size_t nrows;
	size_t rows_cap;
	struct vt_spec_value
		last; /* looked at; the next list may be of the same, for another caller */
	struct vt_hash megabytes; /* uint64_t: that hold addresses which lie in no image */
	uint64_t lists[VT_NWHATS];
	uint64_t blind;
	uint64_t of_run; /* rows left out for being addresses of this run */
	uint64_t rare;	 /* and for having been seen too rarely */
	uint64_t cold;	 /* lists of procedures with too little time */
};

static const uint8_t *elf_bytes(const void *arg, uint64_t vaddr, size_t *avail)
{
	return vt_elf_bytes(arg, vaddr, avail);
}

bool vt_spec_code(struct vt_images *images, uint32_t image, struct vt_code *code)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(images, image, &why);

	*code = (struct vt_code){elf_bytes, elf};
	return elf && vt_elf_info(elf)->machine == VT_MACHINE_X86_64;
}

uint32_t vt_spec_image(const struct vt_spec *s, uint32_t hot_image)
{
	if (hot_image == VT_HOT_NO_IMAGE)
		return VT_UNMAPPED_IMAGE;
	return vt_hotprofile_image(s->hot, hot_image)->id;
}

/* ---- procedures ---- */

/* Arguments of interpreted samples are at calls, where no procedure begins. */
static bool is_entry(const struct vt_spec *s, const struct vt_hot *h, uint32_t image)
{
	struct vt_code code;

	if (h->key.image == VT_HOT_NO_IMAGE || h->key.what == VT_WHAT_RETURN)
		return h->key.image != VT_HOT_NO_IMAGE;
	return h->key.what == VT_WHAT_ARG &&
	       !(vt_spec_code(s->images, image, &code) &&
		 vt_code_is_call(&code, vt_spec_vaddr(s->images, image, h->key.offset)));
}

/* Where procedures begin that have no symbols: as far as call frames tell, and calls. */
static int find_entries(struct vt_spec *s, struct vt_error *err)
{
	size_t i, n = vt_hotprofile_count(s->hot);
	uint32_t last = VT_HOT_NO_IMAGE;
	int code = 0;

	for (i = 0; i < n && code == 0; i++) {
		const struct vt_hot *h = vt_hotprofile_at(s->hot, i);
		uint32_t image = vt_spec_image(s, h->key.image);

		/* Lists are in the order of images. */
		if (h->key.image != last && h->key.image != VT_HOT_NO_IMAGE)
			code = vti_entries_add_image(&s->entries, s->images, image, err);
		last = h->key.image;
		if (code == 0 && is_entry(s, h, image))
			code = vti_entries_add(&s->entries, image, h->key.offset, err);
	}
	vti_entries_sort(&s->entries);
	return code;
}

uint64_t vt_spec_vaddr(struct vt_images *images, uint32_t image, uint64_t offset)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(images, image, &why);
	uint64_t vaddr;

	return elf && vt_elf_offset_to_vaddr(elf, offset, &vaddr) ? vaddr : offset;
}

/* What the procedure that holds a place is called in the table; also its symbol, and its end. */
static struct procedure_key key_of(const struct vt_spec *s, uint32_t image, int32_t pid,
				   uint64_t offset, struct vt_location *at, uint64_t *end_of)
{
	struct procedure_key key = {.image = image, .pid = pid, .found = BY_NOTHING};
	struct vt_location loc = {.why = VT_UNKNOWN_NO_MAP};
	const struct vti_entry *entry = NULL;
	uint64_t end = 0;

	if (image != VT_UNMAPPED_IMAGE)
		vt_images_symbol(s->images, image, pid, offset, &loc);
	if (loc.why == VT_KNOWN) {
		key.found = BY_SYMBOL;
		key.start = loc.symbol->start;
		end = loc.symbol->end;
	} else if (image != VT_UNMAPPED_IMAGE) {
		key.why = loc.why;
		entry = vti_entries_before(&s->entries, image, offset, &end);
		if (entry) {
			key.found = BY_ENTRY;
			key.start = vt_spec_vaddr(s->images, image, entry->offset);
			end = end ? vt_spec_vaddr(s->images, image, end) : 0;
		}
	}
	*at = loc;
	*end_of = key.found == BY_NOTHING ? 0 : end;
	return key;
}

/* The procedure that holds a place: its index in the table, or -VT_E_NOMEM. */
static int64_t procedure_at(struct vt_spec *s, uint32_t image, int32_t pid, uint64_t offset)
{
	struct vt_location loc;
	uint64_t end;
	struct procedure_key key = key_of(s, image, pid, offset, &loc, &end);
	struct procedure_entry *e;
	bool added;

	e = vt_hash_add(&s->procedures, &key, &added);
	if (!e)
		return -VT_E_NOMEM;
	if (added)
		e->p = (struct vt_spec_procedure){
			.image = image,
			.pid = pid,
			.start = key.start,
			.end = end,
			.why = loc.why,
			.name = loc.why ? "" : vt_images_display(s->images, image, pid, loc.symbol),
		};
	return (int64_t)vt_hash_index(&s->procedures, e);
}

static struct procedure_entry *get_procedure_entry(const struct vt_spec *s, size_t i)
{
	return vt_hash_at(&s->procedures, i);
}

/* ---- time ---- */

bool vt_spec_is_counted(const struct vt_profile_event *e)
{
	return e->policy == VT_POLICY_EXACT && e->samples == e->period;
}

static bool counts_instructions(const struct vt_profile_event *e)
{
	return vt_spec_is_counted(e) && !strcmp(e->name, "instructions");
}

static int count_place(struct vt_spec *s, const struct vt_place *place, struct vt_error *err)
{
	bool insns = counts_instructions(vt_profile_event(s->profile, place->event));
	struct place_key key = {place->offset, place->image};
	struct procedure_entry *p;
	struct place_entry *e;
	int64_t i;

	if (place->event != s->opt.event && !insns)
		return 0;
	i = procedure_at(s, place->image, place->pid, place->offset);
	if (i < 0)
		return vt_error_nomem(err);
	p = get_procedure_entry(s, (size_t)i);
	if (insns) {
		p->counted = true;
		p->p.insns += (double)place->samples;
	}
	if (place->event != s->opt.event)
		return 0;
	p->p.samples += place->samples;
	e = vt_hash_add(&s->places, &key, NULL);
	if (!e)
		return vt_error_nomem(err);
	e->samples += place->samples;
	return 0;
}

static int count_time(struct vt_spec *s, struct vt_error *err)
{
	uint64_t all = vt_spec_total(s);
	size_t i;

	for (i = 0; i < vt_profile_nplaces(s->profile); i++)
		if (count_place(s, vt_profile_place(s->profile, i), err) < 0)
			return -VT_E_NOMEM;
	for (i = 0; i < s->procedures.count; i++) {
		struct procedure_entry *p = get_procedure_entry(s, i);

		p->p.time = all ? (double)p->p.samples / (double)all : 0;
	}
	return 0;
}

/* ---- values ---- */

static bool same_but_lane(const struct vt_hot *a, const struct vt_hot *b)
{
	struct vt_hot_key k = b->key;

	k.lane = a->key.lane;
	return !memcmp(&a->key, &k, sizeof(k));
}

/* The least invariance among the further lanes of a value. */
static double share_of_others(const struct vt_spec *s, size_t i)
{
	const struct vt_hot *first = vt_hotprofile_at(s->hot, i);
	size_t n = vt_hotprofile_count(s->hot);
	double least = 1;

	/* Lanes of one place stand near each other: only the caller is behind the lane in the
	 * order. */
	for (i++; i < n; i++) {
		const struct vt_hot *h = vt_hotprofile_at(s->hot, i);
		double share;

		if (h->key.image != first->key.image || h->key.offset != first->key.offset ||
		    h->key.what != first->key.what || h->key.reg != first->key.reg)
			break;
		if (!same_but_lane(first, h))
			continue;
		share = h->nvalues && h->profiled ? vt_hot_estimate(h, 0) / (double)h->profiled : 0;
		least = share < least ? share : least;
	}
	return least;
}

/* ---- addresses ---- */

enum address {
	NO_ADDRESS,
	OF_IMAGE, /* the same place of an image in each run */
	OF_RUN,	  /* on the stack, the heap: nothing that a programmer could write down */
};

/* Whether a value can be an address at all. */
static bool may_point(const struct vt_hot *h, uint64_t v)
{
	return (h->size >= 8 || h->key.what == VT_WHAT_ARG || h->key.what == VT_WHAT_TARGET) &&
	       v >= MIN_ADDRESS && v < LIMIT_ADDRESS;
}

/* Whether an address is of an image, also of what that has beyond its file's bytes. */
static bool lies_in_image(const struct vt_spec *s, uint64_t address)
{
	const struct vt_value_style style = {VT_VALUE_SYMBOL, s->profile, s->images};
	struct vt_buf name = VT_BUF_INIT;
	bool found = vt_value_name(&name, address, &style);

	vt_buf_free(&name);
	return found;
}

/* Notes where what an instruction uses as an address lies outside of all images. */
static int note_outside_addresses(struct vt_spec *s, const struct vt_spec_value *v,
				  struct vt_error *err)
{
	const struct vt_hot *h = v->hot;
	uint32_t i;

	for (i = 0; (v->uses.uses & VT_USE_ADDRESS) && i < h->nvalues; i++) {
		uint64_t megabyte = h->values[i] >> NEAR_SHIFT;

		if (may_point(h, h->values[i]) && h->values[i] >= LOW_ADDRESS &&
		    !vt_hash_find(&s->megabytes, &megabyte) && !lies_in_image(s, h->values[i]) &&
		    !vt_hash_add(&s->megabytes, &megabyte, NULL))
			return vt_error_nomem(err);
	}
	return 0;
}

static bool is_near_addresses(const struct vt_spec *s, uint64_t v)
{
	uint64_t megabyte;

	for (megabyte = (v >> NEAR_SHIFT) - 1; megabyte <= (v >> NEAR_SHIFT) + 1; megabyte++)
		if (vt_hash_find(&s->megabytes, &megabyte))
			return true;
	return false;
}

/*
 * What sort of number a value is.  What divides or multiplies is none of an address; what a pointer
 * that walks along is compared with is one, though nothing may be loaded from there.
 */
static enum address sort_of(const struct vt_spec *s, const struct vt_spec_value *v)
{
	const struct vt_hot *h = v->hot;
	uint64_t value = h->nvalues ? h->values[0] : 0;
	unsigned uses = v->uses.uses;

	if (!may_point(h, value))
		return NO_ADDRESS;
	if (lies_in_image(s, value))
		return OF_IMAGE;
	if (h->key.what == VT_WHAT_TARGET)
		return OF_RUN;
	if (value < LOW_ADDRESS)
		return NO_ADDRESS;
	if (!(uses & VT_USE_ADDRESS) && (uses & (VT_USE_DIVISOR | VT_USE_FACTOR)))
		return NO_ADDRESS;
	return (uses & (VT_USE_ADDRESS | VT_USE_BOUND)) || value >= HIGH_ADDRESS ||
			       is_near_addresses(s, value)
		       ? OF_RUN
		       : NO_ADDRESS;
}

/* ---- rows ---- */

static bool is_plt(const struct vt_code *code, uint64_t vaddr)
{
	size_t avail = 0;
	const uint8_t *p = code->bytes(code->arg, vaddr, &avail);
	int64_t slot;

	return p && vt_code_is_plt(p, avail, &slot);
}

/* A call or jump whose target the loader chose, not the program. */
static bool is_linkage(const struct vt_spec *s, const struct vt_spec_row *r,
		       const struct vt_code *code)
{
	const struct vt_spec_procedure *p = &get_procedure_entry(s, r->procedure)->p;
	uint64_t from;

	if (vt_load_vaddr(code, r->vaddr, &from) && vt_elf_is_constant(code->arg, from))
		return true;
	/* A stub may begin with endbr64, then the list belongs to the jump behind it. */
	return is_plt(code, r->vaddr) || (p->start < r->vaddr && is_plt(code, p->start));
}

static void look_at_code(const struct vt_spec *s, struct vt_spec_row *r, const struct vt_code *code)
{
	struct vt_spec_value *v = &r->value;
	const struct vt_hot *h = v->hot;
	uint64_t from;

	switch (h->key.what) {
	case VT_WHAT_LOAD:
		v->source = vt_uses_of_load(code, r->vaddr, &v->uses);
		v->fixed =
			vt_load_vaddr(code, r->vaddr, &from) && vt_elf_is_constant(code->arg, from);
		break;
	case VT_WHAT_ARG:
		vt_uses_of_argument(code, r->entry, h->key.reg, &v->uses);
		break;
	case VT_WHAT_RESULT:
		vt_uses_of_result(code, r->vaddr, h->key.reg, &v->uses);
		v->fixed = !vt_code_computes(code, r->vaddr);
		break;
	case VT_WHAT_TARGET:
		v->uses.uses = vt_code_is_call(code, r->vaddr) ? VT_USE_TARGET : 0;
		v->fixed = is_linkage(s, r, code);
		break;
	default:
		break;
	}
}

/* As look_at_code(), but once for all lists of one place, which have different callers. */
static void look_once(struct vt_spec *s, struct vt_spec_row *r, const struct vt_code *code)
{
	const struct vt_hot *before = s->last.hot, *h = r->value.hot;

	if (before && before->key.image == h->key.image && before->key.offset == h->key.offset &&
	    before->key.what == h->key.what && before->key.reg == h->key.reg) {
		r->value.uses = s->last.uses;
		r->value.source = s->last.source;
		r->value.fixed = s->last.fixed;
	} else {
		look_at_code(s, r, code);
	}
	s->last = r->value;
}

static bool is_at_call(const struct vt_spec *s, const struct vt_hot *h, uint64_t vaddr,
		       const struct vt_code *code)
{
	struct vt_location loc;
	uint64_t end;

	/* A procedure may begin with a call, as of __fentry__. */
	return h->key.what == VT_WHAT_ARG && vt_code_is_call(code, vaddr) &&
	       key_of(s, vt_spec_image(s, h->key.image), 0, h->key.offset, &loc, &end).start !=
		       vaddr;
}

bool vt_spec_is_at_call(const struct vt_spec *s, const struct vt_hot *h)
{
	uint32_t image = vt_spec_image(s, h->key.image);
	struct vt_code code;

	return image != VT_UNMAPPED_IMAGE && vt_spec_code(s->images, image, &code) &&
	       is_at_call(s, h, vt_spec_vaddr(s->images, image, h->key.offset), &code);
}

/*
 * Turns the row of an argument of a call to the called procedure, at *offset.  Returns false if it
 * is not known: the call is indirect, or goes to another image.
 */
static bool follow_call(const struct vt_spec *s, struct vt_spec_row *r, uint32_t image,
			const struct vt_code *code, uint64_t *offset)
{
	if (!is_at_call(s, r->value.hot, r->vaddr, code))
		return true;
	r->value.at_call = true;
	r->entry = vt_code_called(code, r->vaddr);
	return r->entry && !is_plt(code, r->entry) &&
	       vt_images_offset(s->images, image, r->entry, offset);
}

/* Which of the sums of a procedure's calls counts those of the list of an argument. */
static double *passed_of(struct procedure_entry *p, const struct vt_hot *h)
{
	unsigned n = vt_argument_number(h->key.reg);

	return n && n <= NARGUMENTS ? &p->passed[n - 1] : NULL;
}

static void score_row(struct vt_spec_row *r, struct procedure_entry *p)
{
	double insns = p->counted ? p->p.insns : p->loads * INSNS_PER_LOAD;
	double part = 1;

	if (r->verdict.whole && r->value.at_call)
		part = (double)r->value.hot->total / *passed_of(p, r->value.hot);
	else if (!r->verdict.whole && insns > 0)
		part = r->verdict.cost * (double)r->value.hot->total / insns;
	r->stake = p->p.time * (part < 1 ? part : 1);
	r->score = r->stake * r->verdict.low;
}

/* What is known of a list, if its place is known; it is judged when all of them are. */
static int add_spec_row(struct vt_spec *s, size_t i, struct vt_error *err)
{
	const struct vt_hot *h = vt_hotprofile_at(s->hot, i);
	uint32_t image = vt_spec_image(s, h->key.image);
	struct vt_spec_row r = {.value = {.hot = h, .others = share_of_others(s, i)}};
	uint64_t offset = h->key.offset;
	struct vt_code code;
	bool has_code;
	int64_t p;

	if (h->key.lane || image == VT_UNMAPPED_IMAGE)
		return 0;
	r.entry = r.vaddr = vt_spec_vaddr(s->images, image, offset);
	has_code = vt_spec_code(s->images, image, &code);
	if (has_code && !follow_call(s, &r, image, &code, &offset))
		return 0;
	p = procedure_at(s, image, 0, offset);
	if (p < 0)
		return vt_error_nomem(err);
	r.procedure = (size_t)p;
	if (r.value.at_call && passed_of(get_procedure_entry(s, r.procedure), h))
		*passed_of(get_procedure_entry(s, r.procedure), h) += (double)h->total;
	if (h->key.what == VT_WHAT_LOAD)
		get_procedure_entry(s, r.procedure)->loads += (double)h->total;
	if (has_code) {
		look_once(s, &r, &code);
	} else {
		s->blind++;
		r.value.uses.uses = VT_USE_READ;
	}
	if (note_outside_addresses(s, &r.value, err) < 0)
		return -VT_E_NOMEM;
	if (get_procedure_entry(s, r.procedure)->p.time < s->opt.min_time) {
		s->cold++;
		return 0;
	}
	if (!vt_array_grow(&s->rows, &s->rows_cap, s->nrows + 1, sizeof(*s->rows)))
		return vt_error_nomem(err);
	s->rows[s->nrows++] = r;
	return 0;
}

/* Whether it is worth telling. */
static bool judge_row(struct vt_spec *s, struct vt_spec_row *r)
{
	const struct vt_hot_key *key = &r->value.hot->key;
	enum address sort = sort_of(s, &r->value);

	r->value.pointer = sort != NO_ADDRESS;
	if (!vt_spec_judge(&r->value, s->opt.min_invariance, &r->verdict)) {
		s->rare += r->verdict.kind != VT_SPEC_NONE &&
			   r->verdict.share >= s->opt.min_invariance;
		return false;
	}
	if (sort == OF_RUN) {
		s->of_run++;
		return false;
	}
	r->samples = vt_spec_samples(s, vt_spec_image(s, key->image), key->offset);
	return true;
}

static int judge_rows(struct vt_spec *s, struct vt_error *err)
{
	size_t i, n = vt_hotprofile_count(s->hot), kept = 0;

	for (i = 0; i < n; i++) {
		uint32_t what = vt_hotprofile_at(s->hot, i)->key.what;

		if (what < VT_NWHATS)
			s->lists[what]++;
		if (add_spec_row(s, i, err) < 0)
			return -VT_E_NOMEM;
	}
	for (i = 0; i < s->nrows; i++)
		if (judge_row(s, &s->rows[i]))
			s->rows[kept++] = s->rows[i];
	s->nrows = kept;
	/* Only now are the loads of each procedure added up. */
	for (i = 0; i < s->nrows; i++) {
		struct procedure_entry *p = get_procedure_entry(s, s->rows[i].procedure);

		score_row(&s->rows[i], p);
		p->p.score += s->rows[i].score;
		if (p->p.score > p->p.time)
			p->p.score = p->p.time;
	}
	return 0;
}

/* ---- order ---- */

static int compare_doubles(double a, double b)
{
	return a > b ? -1 : a < b;
}

/* A procedure to be sorted. */
struct ranked {
	double score;
	double time;
	size_t index; /* in the table, in the order of the input */
};

static int compare_procedures(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int c = compare_doubles(x->score, y->score);

	if (!c)
		c = compare_doubles(x->time, y->time);
	return c ? c : x->index < y->index ? -1 : x->index > y->index;
}

static int compare_rows(const void *a, const void *b)
{
	const struct vt_spec_row *x = a, *y = b;
	int c;

	if (x->procedure != y->procedure)
		return x->procedure < y->procedure ? -1 : 1;
	c = compare_doubles(x->score, y->score);
	if (!c)
		c = compare_doubles(x->verdict.cost, y->verdict.cost);
	if (c)
		return c;
	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	/* Lists are in the order of the hot profile. */
	return x->value.hot < y->value.hot ? -1 : x->value.hot > y->value.hot;
}

static int put_in_order(struct vt_spec *s, struct vt_error *err)
{
	size_t n = s->procedures.count, i;
	struct ranked *order = calloc(n + 1, sizeof(*order));

	s->list = calloc(n + 1, sizeof(*s->list));
	if (!order || !s->list) {
		free(order);
		return vt_error_nomem(err);
	}
	for (i = 0; i < n; i++)
		order[i] = (struct ranked){get_procedure_entry(s, i)->p.score,
					   get_procedure_entry(s, i)->p.time, i};
	qsort(order, n, sizeof(*order), compare_procedures);
	for (i = 0; i < n; i++) {
		get_procedure_entry(s, order[i].index)->rank = i;
		s->list[i] = get_procedure_entry(s, order[i].index)->p;
	}
	for (i = 0; i < s->nrows; i++)
		s->rows[i].procedure = get_procedure_entry(s, s->rows[i].procedure)->rank;
	if (s->nrows)
		qsort(s->rows, s->nrows, sizeof(*s->rows), compare_rows);
	free(order);
	return 0;
}

struct vt_spec *vt_spec_new(const struct vt_profile *profile, struct vt_images *images,
			    const struct vt_hotprofile *hot, const struct vt_spec_options *opt,
			    struct vt_error *err)
{
	struct vt_spec *s = calloc(1, sizeof(*s));

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	s->profile = profile;
	s->images = images;
	s->hot = hot;
	s->opt = *opt;
	vt_hash_init(&s->procedures, sizeof(struct procedure_entry), sizeof(struct procedure_key));
	vt_hash_init(&s->places, sizeof(struct place_entry), sizeof(struct place_key));
	vt_hash_init(&s->megabytes, sizeof(uint64_t), sizeof(uint64_t));
	if (find_entries(s, err) < 0 || count_time(s, err) < 0 || judge_rows(s, err) < 0 ||
	    put_in_order(s, err) < 0) {
		vt_spec_free(s);
		return NULL;
	}
	return s;
}

void vt_spec_free(struct vt_spec *s)
{
	if (!s)
		return;
	vt_hash_fini(&s->procedures);
	vt_hash_fini(&s->places);
	vt_hash_fini(&s->megabytes);
	vti_entries_fini(&s->entries);
	free(s->list);
	free(s->rows);
	free(s);
}

size_t vt_spec_nprocedures(const struct vt_spec *s)
{
	return s->procedures.count;
}

const struct vt_spec_procedure *vt_spec_procedure(const struct vt_spec *s, size_t i)
{
	return &s->list[i];
}

size_t vt_spec_nrows(const struct vt_spec *s)
{
	return s->nrows;
}

const struct vt_spec_row *vt_spec_row(const struct vt_spec *s, size_t i)
{
	return &s->rows[i];
}

size_t vt_spec_find(const struct vt_spec *s, uint32_t image, uint64_t offset)
{
	struct vt_location loc;
	uint64_t end;
	struct procedure_key key = key_of(s, image, 0, offset, &loc, &end);
	const struct procedure_entry *e = vt_hash_find(&s->procedures, &key);

	return e ? e->rank : SIZE_MAX;
}

uint64_t vt_spec_samples(const struct vt_spec *s, uint32_t image, uint64_t offset)
{
	struct place_key key = {offset, image};
	const struct place_entry *e = vt_hash_find(&s->places, &key);

	return e ? e->samples : 0;
}

uint64_t vt_spec_total(const struct vt_spec *s)
{
	return vt_profile_event(s->profile, s->opt.event)->samples;
}

uint64_t vt_spec_lists(const struct vt_spec *s, enum vt_what what)
{
	return (unsigned)what < VT_NWHATS ? s->lists[what] : 0;
}

uint64_t vt_spec_of_run(const struct vt_spec *s)
{
	return s->of_run;
}

uint64_t vt_spec_rare(const struct vt_spec *s)
{
	return s->rare;
}

uint64_t vt_spec_cold(const struct vt_spec *s)
{
	return s->cold;
}

uint64_t vt_spec_blind(const struct vt_spec *s)
{
	return s->blind;
}
