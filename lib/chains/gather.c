/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chains/gather.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "chains/chain.h"
#include "chains/executed.h"
#include "chains/records.h"
#include "chains/sums.h"
#include "chains/unwound.h"

/* Keys are less than VT_CALL_SKID; a tree cannot have as many places as that. */
#define MAX_PLACES (VT_CALL_SKID - 1)

/* Where a frame lies, without padding. */
struct frame_place {
	uint64_t offset; /* in the image, or enum vt_unmapped */
	uint32_t image;	 /* id, or VT_UNMAPPED_IMAGE */
	int32_t pid;	 /* of anonymous code, else 0 */
};

/* Of the samples of an event in a group; the first three are the key. */
struct event_chains {
	uint64_t id;
	uint64_t group;
	uint64_t executed; /* 1: of executed instructions, which have no id */
	struct vt_callcounts counts;
	uint64_t period; /* sum over CHAIN records */
	bool full;	 /* some of them are without place */
};

/* What COUNT records have of an event at a place; the first two are the key. */
struct counted_place {
	uint32_t place; /* its key */
	uint32_t event; /* index of the root */
	struct vt_tally counted;
	struct vt_tally chained; /* of these, in CHAIN records */
};

/*
 * While mappings stay as they are: a map that was found, for the next frame, and the sample before,
 * whose outermost `nkeys` frames and keys are in the gather's `before` and `keys`.
 */
struct recent {
	struct vt_map map;
	enum vt_frame_mode mode;
	int32_t pid;
	bool known;
	int32_t chain_pid;
	uint64_t has;
	size_t nkeys;
};

struct vt_callgather {
	struct vt_context *context;
	struct vt_hash places;	  /* struct frame_place */
	struct vt_hash events;	  /* struct event_chains; its index is the root's key */
	struct vt_groups *groups; /* NULL: none */
	struct vt_calltree *tree;
	struct vti_execchains *executed; /* NULL: nothing is */
	struct vti_chainrecords *records;
	struct vt_hash counted; /* struct counted_place */
	struct vt_calldamage damage;
	struct vt_ranking *rows;
	uint32_t *order;
	struct vt_chain chain; /* of the sample at hand */
	uint32_t keys[VT_CHAIN_MAX];
	struct vt_frame before[VT_CHAIN_MAX]; /* outermost first, as the keys */
};

struct vt_callgather *vt_callgather_new(struct vt_context *context)
{
	struct vt_callgather *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->context = context;
	vt_hash_init(&g->places, sizeof(struct frame_place), sizeof(struct frame_place));
	vt_hash_init(&g->events, sizeof(struct event_chains),
		     offsetof(struct event_chains, counts));
	vt_hash_init(&g->counted, sizeof(struct counted_place),
		     offsetof(struct counted_place, counted));
	g->tree = vt_calltree_new(VT_CALLTREE_NODES);
	g->records = g->tree ? vti_chainrecords_new(g->tree) : NULL;
	if (g->records)
		return g;
	vt_callgather_free(g);
	return NULL;
}

void vt_callgather_free(struct vt_callgather *g)
{
	if (!g)
		return;
	vti_execchains_free(g->executed);
	vti_chainrecords_free(g->records);
	vt_hash_fini(&g->counted);
	vt_hash_fini(&g->places);
	vt_hash_fini(&g->events);
	vt_calltree_free(g->tree);
	vt_ranking_free(g->rows);
	free(g->order);
	free(g);
}

void vt_callgather_group_by(struct vt_callgather *g, struct vt_groups *groups)
{
	g->groups = groups;
}

/* ---- samples ---- */

static const struct vt_map *find_map(struct vt_callgather *g, struct recent *last, int32_t pid,
				     const struct vt_frame *f)
{
	const struct vt_map *m;

	if (last->known && last->mode == f->mode && last->pid == pid &&
	    f->address >= last->map.start && f->address < last->map.end)
		return &last->map;
	m = vt_addrspace_find(vt_context_space(g->context), pid, f->address, f->mode);
	if (!m)
		return NULL;
	last->map = *m;
	last->mode = f->mode;
	last->pid = pid;
	last->known = true;
	return m;
}

/* The place of a frame of a sample. */
static struct frame_place locate_frame(struct vt_callgather *g, struct recent *last,
				       const struct vt_record *sample, const struct vt_frame *f)
{
	int32_t pid = (int32_t)vt_record_i64(sample, VT_SAMPLE_PID);
	const struct vt_map *m = find_map(g, last, pid, f);
	struct frame_place p = {.image = VT_UNMAPPED_IMAGE};

	if (m) {
		p.image = m->image;
		p.offset = vt_map_offset(m, f->address);
		p.pid = m->type == VT_IMAGE_ANON ? pid : 0;
	} else {
		p.offset = vt_unmapped_cause(f->address, f->mode,
					     vt_record_u64(sample, VT_SAMPLE_HAS));
	}
	return p;
}

static int find_key(struct vt_callgather *g, const struct frame_place *at, uint32_t *key,
		    struct vt_error *err)
{
	const struct frame_place *p = vt_hash_add(&g->places, at, NULL);

	if (!p || g->places.count > MAX_PLACES)
		return vt_error_nomem(err);
	*key = (uint32_t)vt_hash_index(&g->places, p);
	return 0;
}

/* The number of outermost frames that the sample before has, too. */
static size_t count_same_frames(const struct vt_callgather *g, struct recent *last,
				const struct vt_record *sample)
{
	int32_t pid = (int32_t)vt_record_i64(sample, VT_SAMPLE_PID);
	uint64_t has = vt_record_u64(sample, VT_SAMPLE_HAS);
	const struct vt_chain *c = &g->chain;
	size_t n = 0;

	if (last->chain_pid == pid && last->has == has)
		while (n < last->nkeys && n < c->count &&
		       c->frames[c->count - 1 - n].address == g->before[n].address &&
		       c->frames[c->count - 1 - n].mode == g->before[n].mode)
			n++;
	last->chain_pid = pid;
	last->has = has;
	return n;
}

/* Fills g->keys with the places of g->chain, outermost first. */
static int find_keys(struct vt_callgather *g, struct recent *last, const struct vt_record *sample,
		     struct vt_error *err)
{
	const struct vt_chain *c = &g->chain;
	size_t i;

	for (i = count_same_frames(g, last, sample); i < c->count; i++) {
		const struct vt_frame *f = &c->frames[c->count - 1 - i];
		struct frame_place at = locate_frame(g, last, sample, f);

		if (find_key(g, &at, &g->keys[i], err) < 0)
			return -VT_E_NOMEM;
		g->before[i] = *f;
	}
	/* Only the innermost key may have the flag. */
	last->nkeys = c->count - c->skid;
	if (c->skid)
		g->keys[c->count - 1] |= VT_CALL_SKID;
	return 0;
}

static void count_chain(struct vt_callcounts *n, const struct vt_chain *c, bool unwound)
{
	n->samples++;
	n->chains += c->recorded || unwound;
	n->unwound += unwound;
	n->damaged += c->damaged;
	n->cut += c->cut;
	n->shortened += c->shortened;
}

/* `sample` is NULL for what is no sample.  NULL: no memory. */
static struct event_chains *find_event(struct vt_callgather *g, uint64_t id,
				       const struct vt_record *sample, struct vt_error *err)
{
	struct event_chains key = {.id = id};
	uint32_t group = 0;

	if (g->groups && vt_groups_of(g->groups, sample, &group, err) < 0)
		return NULL;
	key.group = group;
	return vt_hash_add(&g->events, &key, NULL);
}

static int gather_sample(struct vt_callgather *g, struct recent *last,
			 const struct vt_record *sample, struct vt_error *err)
{
	uint64_t id = vt_record_u64(sample, VT_SAMPLE_EVENT);
	struct vt_tally tally = {.samples = 1, .period = vt_record_u64(sample, VT_SAMPLE_PERIOD)};
	const struct vt_event *event = vt_context_event(g->context, id, err);
	struct event_chains *e = event ? find_event(g, id, sample, err) : NULL;
	bool unwound;

	if (!event || !e)
		return vt_error_nomem(err);
	/* As in a profile. */
	if (!tally.period && !(vt_record_u64(sample, VT_SAMPLE_HAS) & VT_HAS_PERIOD))
		tally.period = event->period ? event->period : 1;
	tally.squares = vt_tally_squares(1, tally.period);
	vt_chain_read(&g->chain, sample, event->branch_type);
	unwound =
		vt_context_images(g->context) &&
		vt_chain_unwind(&g->chain, sample, event->regs_user, vt_context_images(g->context),
				vt_context_space(g->context), NULL, NULL);
	count_chain(&e->counts, &g->chain, unwound);
	if (find_keys(g, last, sample, err) < 0)
		return -VT_E_NOMEM;
	return vt_calltree_add(g->tree, (uint32_t)vt_hash_index(&g->events, e), g->keys,
			       g->chain.count, tally, err);
}

/* ---- executed code ---- */

/* A vti_place_key_fn. */
static int find_place_key(void *arg, int32_t pid, uint64_t address, uint32_t *key,
			  struct vt_error *err)
{
	struct vt_callgather *g = arg;
	const struct vt_map *m =
		vt_addrspace_find(vt_context_space(g->context), pid, address, VT_FRAME_USER);
	struct frame_place at = {.image = VT_UNMAPPED_IMAGE, .offset = VT_UNMAPPED_USER};

	if (m) {
		at.image = m->image;
		at.offset = vt_map_offset(m, address);
		at.pid = m->type == VT_IMAGE_ANON ? pid : 0;
	}
	return find_key(g, &at, key, err);
}

static int start_executed(struct vt_callgather *g, struct vt_error *err)
{
	struct event_chains key = {.executed = 1}, *e;
	uint32_t group = 0, root = 0;

	if (g->groups && vt_groups_of(g->groups, NULL, &group, err) < 0)
		return -VT_E_NOMEM;
	key.group = group;
	e = vt_hash_add(&g->events, &key, NULL);
	if (!e ||
	    vt_calltree_add_root(g->tree, (uint32_t)vt_hash_index(&g->events, e), &root, err) < 0)
		return vt_error_nomem(err);
	g->executed = vti_execchains_new(g->context, g->tree, root, find_place_key, g);
	return g->executed ? 0 : vt_error_nomem(err);
}

/* Executed code that only surrounds samples is not counted, as in a profile. */
static int gather_executed(struct vt_callgather *g, const struct vt_record *rec,
			   struct vt_error *err)
{
	if (vt_context_is_sampled(g->context))
		return 0;
	if (!g->executed && rec->kind == VT_EXEC && start_executed(g, err) < 0)
		return -VT_E_NOMEM;
	return g->executed ? vti_execchains_feed(g->executed, rec, err) : 0;
}

static int finish_executed(struct vt_callgather *g, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < g->events.count; i++) {
		struct event_chains *e = vt_hash_at(&g->events, i);

		if (!e->executed)
			continue;
		e->counts.samples = vti_execchains_insns(g->executed);
		e->counts.chains = e->counts.samples;
		e->counts.cut = vti_execchains_cut(g->executed);
	}
	return g->executed ? vti_execchains_finish(g->executed, err) : 0;
}

/* ---- counts, and call trees of them ---- */

static int find_counted(struct vt_callgather *g, const struct event_chains *e, uint32_t place,
			struct counted_place **counted, struct vt_error *err)
{
	const struct counted_place key = {.place = place,
					  .event = (uint32_t)vt_hash_index(&g->events, e)};

	*counted = vt_hash_add(&g->counted, &key, NULL);
	return *counted ? 0 : vt_error_nomem(err);
}

static int gather_count(struct vt_callgather *g, const struct vt_record *rec, struct vt_error *err)
{
	const struct frame_place at = {.image = (uint32_t)vt_record_u64(rec, VT_COUNT_IMAGE),
				       .offset = vt_record_u64(rec, VT_COUNT_OFFSET)};
	const struct event_chains *e = find_event(g, vt_record_u64(rec, VT_COUNT_EVENT), NULL, err);
	struct counted_place *counted;
	uint32_t key = 0;

	if (!e)
		return vt_error_nomem(err);
	if (find_key(g, &at, &key, err) < 0 || find_counted(g, e, key, &counted, err) < 0)
		return -VT_E_NOMEM;
	vt_tally_add(&counted->counted,
		     (struct vt_tally){.samples = vt_record_u64(rec, VT_COUNT_SAMPLES),
				       .period = vt_record_u64(rec, VT_COUNT_PERIOD)});
	return 0;
}

static bool is_sum_high(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a;
}

static bool has_place(const struct vt_record *chain)
{
	return vt_record_u64(chain, VT_CHAIN_PARENT) &&
	       !(vt_record_u64(chain, VT_CHAIN_FLAGS) & VT_CHAIN_FULL);
}

static int check_chain_image(const struct vt_callgather *g, const struct vt_record *rec,
			     struct vt_error *err)
{
	const struct vt_images *images = vt_context_images(g->context);
	uint64_t image = vt_record_u64(rec, VT_CHAIN_IMAGE);
	bool known = image == VT_UNMAPPED_IMAGE
			     ? vt_record_u64(rec, VT_CHAIN_OFFSET) < VT_NUNMAPPED
			     : image < VT_UNMAPPED_IMAGE &&
				       (!images || vt_images_get(images, (uint32_t)image));

	if (!has_place(rec) || known)
		return 0;
	return vt_error_set(err, VT_E_FORMAT, "CHAIN %" PRIu64 ": there is no image %" PRIu64,
			    vt_record_u64(rec, VT_CHAIN_ID), image);
}

/* Adds what a record has to an event's numbers, or refuses it. */
static int count_chain_record(struct event_chains *e, const struct vt_record *rec,
			      struct vt_error *err)
{
	const struct {
		uint64_t *to;
		uint64_t n;
	} sums[] = {
		{&e->counts.samples, vt_record_u64(rec, VT_CHAIN_SAMPLES)},
		{&e->period, vt_record_u64(rec, VT_CHAIN_PERIOD)},
		{&e->counts.chains, vt_record_u64(rec, VT_CHAIN_CHAINS)},
		{&e->counts.unwound, vt_record_u64(rec, VT_CHAIN_UNWOUND)},
		{&e->counts.damaged, vt_record_u64(rec, VT_CHAIN_DAMAGED)},
		{&e->counts.cut, vt_record_u64(rec, VT_CHAIN_CUT)},
		{&e->counts.shortened, vt_record_u64(rec, VT_CHAIN_SHORTENED)},
	};
	size_t i, n = sizeof(sums) / sizeof(sums[0]);

	for (i = 0; i < n; i++)
		if (is_sum_high(*sums[i].to, sums[i].n))
			return vt_error_set(err, VT_E_FORMAT,
					    "CHAIN %" PRIu64 ": a sum is impossibly high",
					    vt_record_u64(rec, VT_CHAIN_ID));
	for (i = 0; i < n; i++)
		*sums[i].to += sums[i].n;
	e->full = e->full || vt_record_u64(rec, VT_CHAIN_FLAGS) & VT_CHAIN_FULL;
	return 0;
}

/* Finds the key of a record's place, and notes its samples there. */
static int find_chain_place(struct vt_callgather *g, const struct vt_record *rec,
			    const struct event_chains *e, uint32_t *key, struct vt_error *err)
{
	const struct frame_place at = {.image = (uint32_t)vt_record_u64(rec, VT_CHAIN_IMAGE),
				       .offset = vt_record_u64(rec, VT_CHAIN_OFFSET)};
	struct counted_place *counted;

	if (find_key(g, &at, key, err) < 0)
		return -VT_E_NOMEM;
	if (vt_record_u64(rec, VT_CHAIN_SAMPLES)) {
		if (find_counted(g, e, *key, &counted, err) < 0)
			return -VT_E_NOMEM;
		vt_tally_add(&counted->chained,
			     (struct vt_tally){.samples = vt_record_u64(rec, VT_CHAIN_SAMPLES),
					       .period = vt_record_u64(rec, VT_CHAIN_PERIOD)});
	}
	if (vt_record_u64(rec, VT_CHAIN_FLAGS) & VT_CHAIN_SKID)
		*key |= VT_CALL_SKID;
	return 0;
}

static int refuse_chain(struct vt_callgather *g, const struct vt_error *why)
{
	if (g->damage.refused++ == 0)
		g->damage.first = *why;
	return 0;
}

static int gather_chain(struct vt_callgather *g, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_error why = VT_ERROR_INIT;
	struct event_chains *e;
	uint32_t key = 0;

	if (vti_chainrecords_check(g->records, rec, &why) < 0 ||
	    check_chain_image(g, rec, &why) < 0)
		return refuse_chain(g, &why);
	e = find_event(g, vt_record_u64(rec, VT_CHAIN_EVENT), NULL, err);
	if (!e)
		return vt_error_nomem(err);
	if (count_chain_record(e, rec, &why) < 0)
		return refuse_chain(g, &why);
	if (has_place(rec) && find_chain_place(g, rec, e, &key, err) < 0)
		return -VT_E_NOMEM;
	return vti_chainrecords_add(g->records, rec, (uint32_t)vt_hash_index(&g->events, e), key,
				    err);
}

/* What is in COUNT records alone has no chain.  Of a full tree, it is not known what that is. */
static int add_counted(struct vt_callgather *g, const struct counted_place *c, struct vt_error *err)
{
	struct event_chains *e = vt_hash_at(&g->events, c->event);
	struct vt_tally rest = {.samples = c->counted.samples - c->chained.samples};

	if (e->full || c->counted.samples <= c->chained.samples)
		return 0;
	if (c->counted.period > c->chained.period)
		rest.period = c->counted.period - c->chained.period;
	rest.squares = vt_tally_squares(rest.samples, rest.period);
	e->counts.samples += rest.samples;
	return vt_calltree_add(g->tree, c->event, &c->place, 1, rest, err);
}

int vt_callgather_end(struct vt_callgather *g, struct vt_error *err)
{
	int code = finish_executed(g, err);
	size_t i;

	for (i = 0; i < g->counted.count && code == 0; i++)
		code = add_counted(g, vt_hash_at(&g->counted, i), err);
	return code;
}

int vt_callgather_feed(void *gather, const struct vt_block *block, uint32_t first, uint32_t count,
		       struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct recent last = {.known = false};
	struct vt_callgather *g = gather;
	int code = 0;

	for (; rec.row - first < count && code == 0; rec.row++)
		code = rec.kind == VT_SAMPLE  ? gather_sample(g, &last, &rec, err)
		       : rec.kind == VT_COUNT ? gather_count(g, &rec, err)
		       : rec.kind == VT_CHAIN ? gather_chain(g, &rec, err)
					      : gather_executed(g, &rec, err);
	return code;
}

/* ---- procedures ---- */

/* The rows of each place in a ranking, as a struct vt_callmap. */
struct place_rows {
	uint32_t *first;
	uint32_t *rows;
	size_t count;
	size_t cap;
};

static void free_rows(struct place_rows *m)
{
	free(m->first);
	free(m->rows);
}

static int add_rows(struct place_rows *m, struct vt_ranking *rows, const struct frame_place *p,
		    struct vt_error *err)
{
	const struct vt_place place = {.offset = p->offset, .image = p->image, .pid = p->pid};
	size_t found[VT_RANK_ROWS];
	int i, n = vt_ranking_rows(rows, &place, found, err);

	if (n < 0)
		return n;
	if (!vt_array_grow(&m->rows, &m->cap, m->count + (size_t)n, sizeof(*m->rows)))
		return vt_error_nomem(err);
	for (i = 0; i < n; i++)
		m->rows[m->count++] = (uint32_t)found[i];
	return 0;
}

/* Call free_rows() in either case. */
static int find_rows(const struct vt_callgather *g, struct vt_ranking *rows, struct place_rows *m,
		     struct vt_error *err)
{
	int code;
	size_t i;

	*m = (struct place_rows){.first = calloc(g->places.count + 1, sizeof(*m->first))};
	code = m->first ? 0 : vt_error_nomem(err);
	for (i = 0; i < g->places.count && code == 0; i++) {
		code = add_rows(m, rows, vt_hash_at(&g->places, i), err);
		m->first[i + 1] = (uint32_t)m->count;
	}
	return code;
}

struct named_row {
	const struct vt_rank *rank;
	uint32_t row;
};

static int compare_rows(const void *pa, const void *pb)
{
	const struct named_row *a = pa, *b = pb;
	int c = vt_rank_compare(a->rank, b->rank);

	if (c)
		return c;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int order_rows(struct vt_callgather *g, struct vt_error *err)
{
	size_t i, n = vt_ranking_count(g->rows);
	struct named_row *list = calloc(n + 1, sizeof(*list));

	g->order = calloc(n + 1, sizeof(*g->order));
	if (!list || !g->order) {
		free(list);
		return vt_error_nomem(err);
	}
	for (i = 0; i < n; i++)
		list[i] = (struct named_row){vt_ranking_at(g->rows, i), (uint32_t)i};
	qsort(list, n, sizeof(*list), compare_rows);
	for (i = 0; i < n; i++)
		g->order[list[i].row] = (uint32_t)i;
	free(list);
	return 0;
}

/* The procedure of each place, as its row in a ranking that is gone. */
static int find_procedures(struct vt_callgather *g, struct vt_images *images, struct place_rows *m,
			   struct vt_error *err)
{
	struct vt_ranking *procedures = vt_ranking_new_empty(images, VT_LEVEL_PROCEDURE, err);
	int code = procedures ? find_rows(g, procedures, m, err) : -VT_E_NOMEM;

	vt_ranking_free(procedures);
	return code;
}

/* Puts a tree of rows in the place of the tree of places. */
static int map_tree(struct vt_callgather *g, struct vt_images *images, struct vt_error *err)
{
	enum vt_level level = vt_ranking_level(g->rows);
	bool finer = level == VT_LEVEL_INSTRUCTION || level == VT_LEVEL_INLINED;
	struct place_rows map, same = {.rows = NULL};
	struct vt_calltree *tree = NULL;
	int code = find_rows(g, g->rows, &map, err);

	if (code == 0 && finer)
		code = find_procedures(g, images, &same, err);
	if (code == 0)
		tree = vt_calltree_map(g->tree, &(struct vt_callmap){map.first, map.rows},
				       finer ? same.rows : map.rows, err);
	free_rows(&map);
	free_rows(&same);
	if (!tree)
		return -VT_E_NOMEM;
	vt_calltree_free(g->tree);
	g->tree = tree;
	return 0;
}

int vt_callgather_finish(struct vt_callgather *g, struct vt_images *images, enum vt_level level,
			 bool by_period, struct vt_error *err)
{
	g->rows = vt_ranking_new_empty(images, level, err);
	if (!g->rows || vt_callgather_end(g, err) < 0)
		return -VT_E_NOMEM;
	if (map_tree(g, images, err) < 0)
		return -VT_E_NOMEM;
	if (order_rows(g, err) < 0)
		return -VT_E_NOMEM;
	return vt_calltree_sort(g->tree, g->order, by_period, err);
}

/* Sets an event's samples in the rows; row[key] is that of a key of the tree. */
static int rank_event(struct vt_callgather *g, uint32_t root, struct vt_ranking *ranking,
		      const uint32_t *row, size_t event, struct vt_error *err)
{
	struct vt_callsums sums;
	int code = vt_callsums_init(&sums, g->tree, root, err);
	size_t i;

	for (i = 0; i < sums.procedures.count && code == 0; i++) {
		const struct vt_callsum *s = vt_hash_at(&sums.procedures, i);

		if (s->key != VT_CALL_CUT)
			code = vt_ranking_set(ranking, row[s->key], event, s->total, err);
	}
	vt_callsums_fini(&sums);
	return code;
}

int vt_callgather_rank_children(struct vt_callgather *g, const struct vt_profile *profile,
				struct vt_ranking *ranking, struct vt_error *err)
{
	uint32_t *row = calloc(vt_ranking_count(g->rows) + 1, sizeof(*row));
	struct place_rows from, to = {.rows = NULL};
	size_t i, n = vt_profile_nevents(profile);
	int code = find_rows(g, g->rows, &from, err);

	if (code == 0)
		code = find_rows(g, ranking, &to, err);
	if (code == 0 && !row)
		code = vt_error_nomem(err);
	/* Of equal levels: a place has as many rows in both. */
	for (i = 0; i < from.count && code == 0; i++)
		row[from.rows[i]] = to.rows[i];
	for (i = 0; i < n && code == 0; i++) {
		const struct vt_profile_event *e = vt_profile_event(profile, i);

		code = rank_event(g, vt_callgather_root(g, e), ranking, row, i, err);
	}
	free_rows(&from);
	free_rows(&to);
	free(row);
	return code;
}

const struct vt_calltree *vt_callgather_tree(const struct vt_callgather *g)
{
	return g->tree;
}

struct vt_ranking *vt_callgather_rows(const struct vt_callgather *g)
{
	return g->rows;
}

const uint32_t *vt_callgather_order(const struct vt_callgather *g)
{
	return g->order;
}

bool vt_callgather_root_at(const struct vt_callgather *g, size_t i, struct vt_callroot *root)
{
	const struct event_chains *e;

	if (i >= g->events.count)
		return false;
	e = vt_hash_at(&g->events, i);
	*root = (struct vt_callroot){e->id, e->executed, (uint32_t)e->group,
				     vt_calltree_root(g->tree, (uint32_t)i), e->counts};
	return true;
}

struct vt_callplace vt_callgather_place(const struct vt_callgather *g, uint32_t key)
{
	const struct frame_place *p = vt_hash_at(&g->places, key & ~VT_CALL_SKID);

	return (struct vt_callplace){p->offset, p->image};
}

const struct vt_calldamage *vt_callgather_damage(const struct vt_callgather *g)
{
	return &g->damage;
}

bool vt_callroot_is(const struct vt_callroot *root, const struct vt_profile_event *event)
{
	if (event->kind == VT_PROFILE_EXECUTED)
		return root->executed;
	return event->kind == VT_PROFILE_EVENT && !root->executed && root->event == event->id;
}

uint32_t vt_callgather_root(const struct vt_callgather *g, const struct vt_profile_event *event)
{
	struct vt_callroot root;
	size_t i;

	for (i = 0; vt_callgather_root_at(g, i, &root); i++)
		if (vt_callroot_is(&root, event) && !root.group)
			return root.node;
	return VT_CALL_NONE;
}

struct vt_callcounts vt_callgather_counts(const struct vt_callgather *g,
					  const struct vt_profile_event *event)
{
	struct vt_callcounts sum = {0};
	struct vt_callroot root;
	size_t i;

	for (i = 0; vt_callgather_root_at(g, i, &root); i++) {
		if (!vt_callroot_is(&root, event))
			continue;
		sum.samples += root.counts.samples;
		sum.chains += root.counts.chains;
		sum.unwound += root.counts.unwound;
		sum.damaged += root.counts.damaged;
		sum.cut += root.counts.cut;
		sum.shortened += root.counts.shortened;
	}
	return sum;
}
