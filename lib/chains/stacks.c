/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chains/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "image/demangle.h"
#include "image/lines.h"
#include "profile/groups.h"

/* Samples of an event and group at a row, that no chain has counted yet. */
struct rest {
	uint64_t row; /* this and the next two are the key */
	uint32_t event;
	uint32_t group;
	struct vt_tally tally;
};

struct making {
	const struct vt_callstacks *how;
	struct vt_ranking *rows; /* those of the chains, and then others that the profile has */
	struct vt_stacks *out;
	struct vt_hash roots;  /* struct known: those of the stacks, by group */
	struct vt_hash images; /* struct known: those of the stacks, by id */
	struct vt_hash places; /* struct known: those of the stacks, by row */
	struct vt_hash rests;  /* struct rest */
};

struct known {
	uint64_t key;
	uint64_t index;
};

/* The index of something in the stacks, which is made of a row or group if it is not known. */
static uint32_t find_known(struct making *m, struct vt_hash *known, uint64_t key, uint32_t from,
			   uint32_t (*make)(struct making *m, uint32_t from))
{
	bool added = false;
	struct known *k = vt_hash_add(known, &key, &added);
	uint32_t index;

	if (!k) {
		m->out->failed = true;
		return VT_STACK_NONE;
	}
	if (!added)
		return (uint32_t)k->index;
	index = make(m, from);
	/* The table may have grown. */
	k = vt_hash_find(known, &key);
	k->index = index;
	return index;
}

/* ---- roots ---- */

/* Adds the root of a group. */
static uint32_t add_root(struct making *m, uint32_t group)
{
	const struct vt_groups *groups = vt_profile_groups(m->how->profile);
	struct vt_stack_label label = {"", -1, -1, -1};
	struct vt_buf comm = VT_BUF_INIT;
	size_t i, n = groups ? vt_groups_nkeys(groups) : 0;
	uint32_t root;

	for (i = 0; i < n; i++) {
		enum vt_group_key key = vt_groups_key(groups, i);
		int64_t number;

		if (!vt_groups_number(groups, group, i, &number))
			continue;
		if (key == VT_GROUP_COMM)
			vt_groups_text(groups, group, i, &comm);
		else if (key == VT_GROUP_PROCESS)
			label.pid = number;
		else if (key == VT_GROUP_THREAD)
			label.tid = number;
		else if (key == VT_GROUP_CPU)
			label.cpu = number;
	}
	label.comm = vt_buf_str(&comm);
	root = vt_stacks_add_root(m->out, &label);
	m->out->failed = m->out->failed || comm.failed;
	vt_buf_free(&comm);
	return root;
}

static uint32_t find_root(struct making *m, uint32_t group)
{
	return find_known(m, &m->roots, group, group, add_root);
}

/* ---- images ---- */

/* Where the code of an image is in its file and in its addresses. */
static void find_bounds(struct vt_images *images, uint32_t id, struct vt_stack_image *to)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(images, id, &why);
	const struct vt_elf_segment *s;
	size_t i, n = 0;

	if (!elf)
		return;
	s = vt_elf_segments(elf, &n);
	for (i = 0; i < n; i++) {
		if (!s[i].exec)
			continue;
		if (!to->limit) {
			to->start = s[i].vaddr;
			to->offset = s[i].offset;
		}
		to->limit = s[i].vaddr + s[i].memsz;
	}
}

static uint32_t add_image(struct making *m, uint32_t row)
{
	const struct vt_rank *rank = vt_ranking_at(m->rows, row);
	const struct vt_image *image = vt_images_get(m->how->images, rank->image);
	struct vt_stack_image to = {.path = rank->path};
	char id[2 * VT_BUILDID_MAX + 1] = "";

	if (image && image->buildid_size <= VT_BUILDID_MAX)
		vt_buildid_format(image->buildid, image->buildid_size, id);
	to.buildid = id;
	if (image && image->type == VT_IMAGE_FILE)
		find_bounds(m->how->images, rank->image, &to);
	return vt_stacks_add_image(m->out, &to);
}

static enum vt_stack_mode find_mode(const struct making *m, const struct vt_rank *rank)
{
	const struct vt_image *image = vt_images_get(m->how->images, rank->image);

	if (rank->image == VT_UNMAPPED_IMAGE || !image)
		return VT_STACK_UNKNOWN;
	return image->type == VT_IMAGE_KERNEL || image->type == VT_IMAGE_MODULE ||
			       image->type == VT_IMAGE_BPF
		       ? VT_STACK_KERNEL
		       : VT_STACK_USER;
}

/* ---- places ---- */

/* The lines of a place; names that had to be made are in `names`. */
struct place_lines {
	struct vt_stack_line lines[VT_MAX_INLINE + 1];
	struct vt_buf names[VT_MAX_INLINE + 1];
	size_t count;
};

static void find_start(struct vt_lines *lines, uint64_t address, struct vt_stack_line *l)
{
	struct vt_frame declared;

	if (vt_lines_function(lines, address, &declared) && strcmp(declared.file, l->file) == 0)
		l->start_line = declared.line;
}

/* Sets the file and line of a procedure's row without regard to inlined calls. */
static void find_line(struct vt_lines *lines, uint64_t address, struct vt_stack_line *l)
{
	struct vt_frame frames[VT_MAX_INLINE];
	size_t n = vt_lines_frames(lines, address, frames, VT_MAX_INLINE);
	struct vt_line line;

	if (n) {
		l->file = frames[n - 1].file;
		l->line = frames[n - 1].line;
	} else if (vt_lines_at(lines, address, &line)) {
		l->file = line.file;
		l->line = line.line;
	}
	find_start(lines, address, l);
}

/* Adds the functions that are inlined at an address, innermost first. */
static void find_inlined(struct vt_lines *lines, uint64_t address, struct place_lines *p)
{
	struct vt_frame frames[VT_MAX_INLINE];
	size_t i, n = vt_lines_frames(lines, address, frames, VT_MAX_INLINE);

	for (i = 0; i + 1 < n; i++)
		p->lines[p->count++] = (struct vt_stack_line){
			.name = vt_demangle_inlined(&p->names[i], frames[i].function),
			.symbol = frames[i].function,
			.file = frames[i].file,
			.line = frames[i].line};
}

/* The procedure; without one, the cause and the image: "[no symbol] libc.so.6". */
static void put_name(const struct making *m, const struct vt_rank *rank, struct vt_buf *name)
{
	const struct vt_image *image = vt_images_get(m->how->images, rank->image);

	vt_rank_label(rank, VT_LEVEL_PROCEDURE, name);
	if (!*rank->procedure && rank->image != VT_UNMAPPED_IMAGE && image)
		vt_buf_printf(name, " %s", image->name);
}

static void find_lines(struct making *m, const struct vt_rank *rank, struct place_lines *p)
{
	bool source = *rank->procedure && (m->how->inlined || m->how->lines);
	struct vt_lines *lines = source ? vt_images_lines(m->how->images, rank->image) : NULL;
	struct vt_stack_line *last;

	if (lines && m->how->inlined)
		find_inlined(lines, rank->address, p);
	last = &p->lines[p->count];
	*last = (struct vt_stack_line){.symbol = rank->symbol, .file = ""};
	put_name(m, rank, &p->names[p->count]);
	last->name = vt_buf_str(&p->names[p->count++]);
	if (!*last->name)
		last->name = "[unknown]";
	if (lines)
		find_line(lines, rank->address, last);
}

static uint32_t add_place(struct making *m, uint32_t row)
{
	const struct vt_rank *rank = vt_ranking_at(m->rows, row);
	struct vt_stack_place place = {
		.image = VT_STACK_NONE, .mode = find_mode(m, rank), .address = rank->address};
	struct place_lines p = {.count = 0};
	uint32_t index;
	size_t i;

	if (rank->image != VT_UNMAPPED_IMAGE)
		place.image = find_known(m, &m->images, rank->image, row, add_image);
	find_lines(m, rank, &p);
	index = vt_stacks_add_place(m->out, &place, p.lines, p.count);
	for (i = 0; i < p.count; i++) {
		m->out->failed = m->out->failed || p.names[i].failed;
		vt_buf_free(&p.names[i]);
	}
	return index;
}

static uint32_t find_place(struct making *m, uint32_t row)
{
	return find_known(m, &m->places, row, row, add_place);
}

/* ---- counts ---- */

/* Counts samples of an event at a node. */
static void count_tally(struct making *m, uint32_t node, size_t event, struct vt_tally t)
{
	size_t v;

	for (v = 0; v < m->how->count; v++)
		if (m->how->values[v].event == event)
			vt_stacks_count(m->out, node, v,
					m->how->values[v].period ? t.period : t.samples);
}

static bool is_wanted(const struct making *m, size_t event)
{
	size_t v;

	for (v = 0; v < m->how->count; v++)
		if (m->how->values[v].event == event)
			return true;
	return false;
}

static struct rest *find_rest(struct making *m, uint64_t row, size_t event, uint32_t group)
{
	const struct rest at = {.row = row, .event = (uint32_t)event, .group = group};
	struct rest *r = vt_hash_add(&m->rests, &at, NULL);

	if (!r)
		m->out->failed = true;
	return r;
}

/* What the profile has, by row. */
static int gather_rests(struct making *m, struct vt_error *err)
{
	size_t i, row, n = vt_profile_nplaces(m->how->profile);

	for (i = 0; i < n; i++) {
		struct vt_place p = *vt_profile_place(m->how->profile, i);
		struct vt_tally tally = {.samples = p.samples, .period = p.period};
		struct rest *r;
		uint32_t group;

		if (!is_wanted(m, p.event))
			continue;
		group = p.group;
		p.group = 0;
		if (vt_ranking_row(m->rows, &p, &row, err) < 0)
			return -VT_E_NOMEM;
		r = find_rest(m, row, p.event, group);
		if (!r)
			return vt_error_nomem(err);
		vt_tally_add(&r->tally, tally);
	}
	return 0;
}

/* Takes samples with chains from what is left at a row. */
static void take_counted(struct making *m, uint32_t row, size_t event, uint32_t group,
			 struct vt_tally t)
{
	struct rest *r = find_rest(m, row, event, group);

	if (!r)
		return;
	r->tally.samples -= t.samples < r->tally.samples ? t.samples : r->tally.samples;
	r->tally.period -= t.period < r->tally.period ? t.period : r->tally.period;
}

/* A walk of the chains of an event and group. */
struct chain_walk {
	struct making *m;
	const struct vt_calltree *tree;
	size_t event;
	struct vt_callroot from; /* of the tree */
	uint32_t root;		 /* of the stacks */
	uint32_t *nodes;	 /* by node of the tree: that of the stacks */
};

static bool enter_node(void *arg, uint32_t node, unsigned depth)
{
	struct chain_walk *w = arg;
	const struct vt_callnode *n = vt_calltree_at(w->tree, node);
	uint32_t parent = n->parent == w->from.node ? w->root : w->nodes[n->parent];

	(void)depth;
	/* What had no room in the tree is a rest. */
	if (n->key == VT_CALL_CUT || w->m->out->failed)
		return false;
	w->nodes[node] = vt_stacks_push(w->m->out, parent, find_place(w->m, n->key));
	if (n->self.samples || n->self.period) {
		count_tally(w->m, w->nodes[node], w->event, n->self);
		take_counted(w->m, n->key, w->event, w->from.group, n->self);
	}
	return true;
}

static int add_chains(struct making *m, size_t event, struct vt_error *err)
{
	const struct vt_profile_event *e = vt_profile_event(m->how->profile, event);
	struct chain_walk w = {.m = m, .tree = vt_callgather_tree(m->how->gather), .event = event};
	const struct vt_calltree_visitor v = {enter_node, NULL, &w};
	size_t i;

	w.nodes = calloc(vt_calltree_count(w.tree) + 1, sizeof(*w.nodes));
	if (!w.nodes)
		return vt_error_nomem(err);
	for (i = 0; vt_callgather_root_at(m->how->gather, i, &w.from); i++) {
		if (!vt_callroot_is(&w.from, e) || w.from.node == VT_CALL_NONE)
			continue;
		w.root = find_root(m, w.from.group);
		vt_calltree_walk(w.tree, w.from.node, &v);
	}
	free(w.nodes);
	return 0;
}

static void add_rests(struct making *m)
{
	size_t i;

	for (i = 0; i < m->rests.count && !m->out->failed; i++) {
		const struct rest *r = vt_hash_at(&m->rests, i);

		if (r->tally.samples || r->tally.period)
			count_tally(m,
				    vt_stacks_push(m->out, find_root(m, r->group),
						   find_place(m, (uint32_t)r->row)),
				    r->event, r->tally);
	}
}

/* ---- all ---- */

static void add_values(struct making *m)
{
	const struct vt_profile_event *e;
	size_t v;

	for (v = 0; v < m->how->count; v++)
		vt_stacks_add_value(m->out, m->how->values[v].name, m->how->values[v].unit);
	if (!m->how->count)
		return;
	e = vt_profile_event(m->how->profile, m->how->values[0].event);
	vt_stacks_set_period(m->out, e->sampling, e->name, e->unit);
}

static int make_stacks(struct making *m, struct vt_error *err)
{
	size_t v, w;
	int code = 0;

	add_values(m);
	code = gather_rests(m, err);
	for (v = 0; v < m->how->count && code == 0; v++) {
		/* Two values of an event are counted at once. */
		for (w = 0; m->how->values[w].event != m->how->values[v].event; w++)
			;
		if (w == v)
			code = add_chains(m, m->how->values[v].event, err);
	}
	if (code == 0)
		add_rests(m);
	if (code == 0 && m->out->failed)
		code = vt_error_nomem(err);
	return code;
}

struct vt_stacks *vt_callstacks_make(const struct vt_callstacks *c, struct vt_error *err)
{
	struct making m = {.how = c, .rows = vt_callgather_rows(c->gather), .out = vt_stacks_new()};
	int code = m.out ? 0 : vt_error_nomem(err);

	vt_hash_init(&m.roots, sizeof(struct known), sizeof(uint64_t));
	vt_hash_init(&m.images, sizeof(struct known), sizeof(uint64_t));
	vt_hash_init(&m.places, sizeof(struct known), sizeof(uint64_t));
	vt_hash_init(&m.rests, sizeof(struct rest), offsetof(struct rest, tally));
	if (code == 0)
		code = make_stacks(&m, err);
	vt_hash_fini(&m.roots);
	vt_hash_fini(&m.images);
	vt_hash_fini(&m.places);
	vt_hash_fini(&m.rests);
	if (code == 0)
		return m.out;
	vt_stacks_free(m.out);
	return NULL;
}
