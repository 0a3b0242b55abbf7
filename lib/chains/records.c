/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chains/records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "chains/chain.h"

/* The node of an id. */
struct known_node {
	uint64_t event; /* id */
	uint32_t node;
	uint16_t depth; /* of its chain: 0 for a root */
	bool known;
	bool full; /* VT_CHAIN_FULL: nothing is below it */
};

struct vti_chainrecords {
	struct vt_calltree *tree;
	struct known_node *nodes; /* by id */
	size_t count;
	size_t last; /* id */
};

struct vti_chainrecords *vti_chainrecords_new(struct vt_calltree *tree)
{
	struct vti_chainrecords *c = calloc(1, sizeof(*c));

	if (c)
		c->tree = tree;
	return c;
}

void vti_chainrecords_free(struct vti_chainrecords *c)
{
	if (!c)
		return;
	free(c->nodes);
	free(c);
}

static bool is_full(const struct vt_record *rec)
{
	return vt_record_u64(rec, VT_CHAIN_FLAGS) & VT_CHAIN_FULL;
}

static const struct known_node *find_parent(const struct vti_chainrecords *c,
					    const struct vt_record *rec)
{
	uint64_t parent = vt_record_u64(rec, VT_CHAIN_PARENT);

	return parent < c->count && c->nodes[parent].known ? &c->nodes[parent] : NULL;
}

static int check_root(const struct vt_record *rec, struct vt_error *err)
{
	if (vt_record_u64(rec, VT_CHAIN_SAMPLES) || vt_record_u64(rec, VT_CHAIN_PERIOD) ||
	    vt_record_u64(rec, VT_CHAIN_FLAGS))
		return vt_error_set(err, VT_E_FORMAT,
				    "CHAIN %" PRIu64 " has samples or flags, but no parent",
				    vt_record_u64(rec, VT_CHAIN_ID));
	return 0;
}

static int check_parent(const struct vti_chainrecords *c, const struct vt_record *rec,
			struct vt_error *err)
{
	const struct known_node *parent = find_parent(c, rec);
	uint64_t id = vt_record_u64(rec, VT_CHAIN_ID);

	if (!parent)
		return vt_error_set(err, VT_E_FORMAT,
				    "CHAIN %" PRIu64 ": its parent %" PRIu64 " is not before it",
				    id, vt_record_u64(rec, VT_CHAIN_PARENT));
	if (parent->event != vt_record_u64(rec, VT_CHAIN_EVENT))
		return vt_error_set(err, VT_E_FORMAT,
				    "CHAIN %" PRIu64 ": its parent is of another event", id);
	if (parent->full || (parent->depth && is_full(rec)))
		return vt_error_set(err, VT_E_FORMAT,
				    "CHAIN %" PRIu64 " is below samples without chains", id);
	if (parent->depth == VT_CHAIN_MAX)
		return vt_error_set(err, VT_E_FORMAT, "CHAIN %" PRIu64 ": more than %d frames", id,
				    VT_CHAIN_MAX);
	return 0;
}

int vti_chainrecords_check(const struct vti_chainrecords *c, const struct vt_record *rec,
			   struct vt_error *err)
{
	uint64_t id = vt_record_u64(rec, VT_CHAIN_ID);

	if (id <= c->last || id > VT_CHAIN_IDS)
		return vt_error_set(err, VT_E_FORMAT,
				    "CHAIN %" PRIu64 " after %zu: ids rise, to %d at most", id,
				    c->last, VT_CHAIN_IDS);
	return vt_record_u64(rec, VT_CHAIN_PARENT) ? check_parent(c, rec, err)
						   : check_root(rec, err);
}

static int add_node(struct vti_chainrecords *c, const struct vt_record *rec, uint32_t root,
		    uint32_t key, struct known_node *to, struct vt_error *err)
{
	const struct known_node *parent = find_parent(c, rec);
	struct vt_tally tally = {.samples = vt_record_u64(rec, VT_CHAIN_SAMPLES),
				 .period = vt_record_u64(rec, VT_CHAIN_PERIOD)};
	int code;

	if (!parent)
		return vt_calltree_add_root(c->tree, root, &to->node, err);
	to->depth = (uint16_t)(parent->depth + 1);
	tally.squares = vt_tally_squares(tally.samples, tally.period);
	code = vt_calltree_child(c->tree, parent->node, to->full ? VT_CALL_CUT : key, &to->node,
				 err);
	if (code == 0)
		vt_calltree_count_at(c->tree, to->node, tally);
	return code;
}

int vti_chainrecords_add(struct vti_chainrecords *c, const struct vt_record *rec, uint32_t root,
			 uint32_t key, struct vt_error *err)
{
	size_t id = vt_record_u64(rec, VT_CHAIN_ID), had = c->count;
	struct known_node to = {
		.event = vt_record_u64(rec, VT_CHAIN_EVENT), .known = true, .full = is_full(rec)};

	if (!vt_array_grow(&c->nodes, &c->count, id + 1, sizeof(*c->nodes)))
		return vt_error_nomem(err);
	memset(c->nodes + had, 0, (c->count - had) * sizeof(*c->nodes));
	if (add_node(c, rec, root, key, &to, err) < 0)
		return -VT_E_NOMEM;
	c->nodes[id] = to;
	c->last = id;
	return 0;
}
