/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "machine/insn/insn.h"
#include "paths/internal.h"
#include "profile/procedure_code.h"

struct proc_entry {
	uint64_t start;
	uint32_t image;
	int32_t pid;
	uint32_t proc; /* UINT32_MAX: it has no code */
	uint32_t padding;
};

/* Where control is known to arrive. */
struct arrival {
	uint64_t vaddr;
	uint32_t image;
	int32_t pid;
};

/* Vaddrs in a procedure, where control arrives. */
struct entries {
	uint64_t *vaddrs;
	size_t count;
	size_t cap;
};

/* Sorted. */
struct arrivals {
	struct arrival *list;
	size_t count;
};

struct builder {
	struct vt_pathgraph *g;
	struct arrivals targets; /* of transfers */
	struct arrivals blocks;	 /* that were executed, wherever control came from */
};

/* ---- nodes of a procedure ---- */

static int compare_arrivals(const void *x, const void *y)
{
	const struct arrival *a = x, *b = y;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static size_t find_arrival(const struct arrivals *a, const struct arrival *key)
{
	size_t low = 0, high = a->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_arrivals(&a->list[mid], key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_target(const struct builder *b, const struct vt_procedure *p, uint64_t vaddr)
{
	const struct arrival key = {vaddr, p->image, p->pid};
	size_t i = find_arrival(&b->targets, &key);

	return i < b->targets.count && compare_arrivals(&b->targets.list[i], &key) == 0;
}

static struct vt_pathnode *add_node(struct vt_pathgraph *g)
{
	struct vt_pathnode *n;

	if (!vt_array_grow(&g->nodes, &g->nodes_cap, g->nnodes + 1, sizeof(*g->nodes)))
		return NULL;
	n = &g->nodes[g->nnodes++];
	*n = (struct vt_pathnode){.site = VT_PATHNODE_NONE};
	return n;
}

/* What its last instruction does. */
static void describe_end(struct vt_pathnode *n, const struct vt_pathproc *p,
			 const struct vt_proccode *code)
{
	const struct vt_cfg_insn *last = &p->cfg->insns[n->insn + n->ninsns - 1];
	uint64_t at = last->addr - p->proc.start;
	struct vt_flow f;

	n->flags = last->flags;
	if (at >= code->size || !vt_flow_decode(code->bytes + at, code->size - at, &f))
		return;
	n->flags = f.flags;
	if (f.has_target)
		n->target = last->addr + (uint64_t)f.target;
}

/* A string instruction with a prefix that repeats it: Intel SDM volume 2, REP. */
static bool is_repeated(const uint8_t *bytes, size_t size)
{
	bool prefix = false;
	size_t i;

	for (i = 0; i < size; i++) {
		uint8_t b = bytes[i];

		if (b == 0xf2 || b == 0xf3)
			prefix = true;
		else if (b != 0x66 && b != 0x67 && (b & 0xf0) != 0x40)
			return prefix && ((b >= 0xa4 && b <= 0xa7) || (b >= 0xaa && b <= 0xaf) ||
					  (b >= 0x6c && b <= 0x6f));
	}
	return false;
}

static bool has_repeated(const struct vt_pathproc *p, const struct vt_pathnode *n,
			 const struct vt_proccode *code)
{
	uint32_t i;

	for (i = n->insn; i < n->insn + n->ninsns; i++) {
		const struct vt_cfg_insn *insn = &p->cfg->insns[i];
		uint64_t at = insn->addr - p->proc.start;

		if (at + insn->length <= code->size && is_repeated(code->bytes + at, insn->length))
			return true;
	}
	return false;
}

/* The nodes of a block: each but the last ends in a call. */
static bool add_block_nodes(struct vt_pathgraph *g, uint32_t proc, uint32_t block,
			    const struct vt_proccode *code)
{
	struct vt_pathproc *p = &g->procs[proc];
	const struct vt_cfg_block *b = &p->cfg->blocks[block];
	uint32_t i, first = b->insn;

	for (i = b->insn; i < b->insn + b->ninsns; i++) {
		const struct vt_cfg_insn *insn = &p->cfg->insns[i];
		bool last = i + 1 == b->insn + b->ninsns;
		struct vt_pathnode *n;

		p->node[i] = (uint32_t)g->nnodes;
		if (!last && !(insn->flags & VT_FACT_CALL))
			continue;
		n = add_node(g);
		if (!n)
			return false;
		n->proc = proc;
		n->insn = first;
		n->ninsns = i + 1 - first;
		n->start = p->cfg->insns[first].addr;
		n->end = insn->addr + insn->length;
		n->incomplete = last && b->incomplete;
		describe_end(n, p, code);
		if (first > b->insn)
			n->site = (uint32_t)g->nnodes - 2;
		n->repeats = has_repeated(p, n, code);
		first = i + 1;
	}
	return true;
}

/* Control leaves the procedure; where it goes to is known of returns, calls and direct jumps. */
static void mark_exit(struct vt_pathgraph *g, const struct vt_pathproc *p, uint32_t node)
{
	struct vt_pathnode *n = &g->nodes[node];
	bool jumps = n->target && (n->target < p->proc.start || n->target >= p->proc.end);

	n->leaves |= !jumps && !(n->flags & (VT_FACT_RETURN | VT_FACT_CALL));
}

/* Marks where control comes from elsewhere, and what is behind a call that ends a block. */
static void mark_entries(const struct builder *b, uint32_t proc)
{
	struct vt_pathgraph *g = b->g;
	const struct vt_pathproc *p = &g->procs[proc];
	const struct vt_cfg *c = p->cfg;
	uint32_t i;

	for (i = 0; i < c->nedges; i++) {
		const struct vt_cfg_edge *e = &c->edges[i];
		const struct vt_cfg_block *from = &c->blocks[e->from];
		struct vt_pathnode *to;

		if (e->to == VT_CFG_EXIT && e->from >= VT_CFG_FIRST && from->ninsns)
			mark_exit(g, p, p->node[from->insn + from->ninsns - 1]);
		if (e->to < VT_CFG_FIRST || !c->blocks[e->to].ninsns)
			continue;
		to = &g->nodes[p->node[c->blocks[e->to].insn]];
		if (e->from == VT_CFG_ENTRY)
			to->entry |=
				to->start == p->proc.start || !is_target(b, &p->proc, to->start);
		else if (e->kind == VT_EDGE_FALL && from->ninsns &&
			 g->nodes[p->node[from->insn + from->ninsns - 1]].flags & VT_FACT_CALL)
			to->site = p->node[from->insn + from->ninsns - 1];
	}
}

/* Adds arrivals in a procedure to its entries; with `missing`, those that its graph does not have.
 */
static bool add_entries(const struct arrivals *a, const struct vt_pathproc *p, bool missing,
			struct entries *e)
{
	const struct arrival key = {p->proc.start, p->proc.image, p->proc.pid};
	size_t i = find_arrival(a, &key);

	for (; i < a->count && a->list[i].image == key.image && a->list[i].pid == key.pid &&
	       a->list[i].vaddr < p->proc.end;
	     i++) {
		if (missing && vt_cfg_insn_at(p->cfg, a->list[i].vaddr) != UINT32_MAX)
			continue;
		if (!vt_array_grow(&e->vaddrs, &e->cap, e->count + 1, sizeof(*e->vaddrs)))
			return false;
		e->vaddrs[e->count++] = a->list[i].vaddr;
	}
	return true;
}

static int make_cfg(const struct builder *b, struct vt_pathproc *p, const struct vt_proccode *code,
		    const struct entries *e, struct vt_error *err)
{
	const struct vt_cfg_source src = {.code = code->bytes,
					  .size = code->size,
					  .start = p->proc.start,
					  .images = b->g->images,
					  .image = p->proc.image,
					  .entries = e->vaddrs,
					  .nentries = e->count};

	vt_cfg_free(p->cfg);
	p->cfg = vt_cfg_new(&src, err);
	return p->cfg ? 0 : -(int)err->code;
}

/*
 * The graph of a procedure.  An executed block that it does not have is behind a jump whose targets
 * are not known: the graph is made again, with that block as an entry.
 */
static int find_cfg(const struct builder *b, struct vt_pathproc *p, const struct vt_proccode *code,
		    struct vt_error *err)
{
	struct entries e = {.count = 0};
	size_t known;
	int rc = add_entries(&b->targets, p, false, &e) ? 0 : vt_error_nomem(err);

	if (rc == 0)
		rc = make_cfg(b, p, code, &e, err);
	known = e.count;
	if (rc == 0 && !add_entries(&b->blocks, p, true, &e))
		rc = vt_error_nomem(err);
	if (rc == 0 && e.count > known)
		rc = make_cfg(b, p, code, &e, err);
	free(e.vaddrs);
	return rc;
}

static int add_nodes(struct builder *b, uint32_t proc, const struct vt_proccode *code,
		     struct vt_error *err)
{
	struct vt_pathgraph *g = b->g;
	struct vt_pathproc *p = &g->procs[proc];
	uint32_t k;

	p->node = malloc(((size_t)p->cfg->ninsns + 1) * sizeof(*p->node));
	if (!p->node)
		return vt_error_nomem(err);
	for (k = 0; k < p->cfg->ninsns; k++)
		p->node[k] = VT_PATHNODE_NONE;
	p->first = (uint32_t)g->nnodes;
	for (k = VT_CFG_FIRST; k < p->cfg->nblocks; k++)
		if (!add_block_nodes(g, proc, k, code))
			return vt_error_nomem(err);
	p->count = (uint32_t)g->nnodes - p->first;
	mark_entries(b, proc);
	return 0;
}

/* Its code; a procedure whose code is not there, or is too large, stays without nodes. */
static int load_procedure(struct builder *b, uint32_t proc, struct vt_error *err)
{
	struct vt_pathgraph *g = b->g;
	struct vt_pathproc *p = &g->procs[proc];
	struct vt_proccode code = {0};
	int rc;

	if (g->nnodes >= VT_PATHGRAPH_NODES) {
		g->left_out++;
		return 0;
	}
	rc = vt_proccode_find(g->images, g->code, &p->proc, &code, err);
	if (rc == 0)
		rc = find_cfg(b, p, &code, err);
	if (rc == 0)
		rc = add_nodes(b, proc, &code, err);
	else if (rc == -VT_E_NOTFOUND || rc == -VT_E_LIMIT)
		g->no_code++;
	vt_proccode_fini(&code);
	return rc == -VT_E_NOTFOUND || rc == -VT_E_LIMIT ? 0 : rc;
}

/* ---- procedures ---- */

static bool find_procedure(struct vt_pathgraph *g, uint32_t image, int32_t pid, uint64_t vaddr,
			   struct vt_procedure *out)
{
	enum vt_unknown why;
	struct vt_symbols *t = vt_images_symbols(g->images, image, pid, &why);
	const struct vt_symbol *s = t ? vt_symbols_find(t, vaddr) : NULL;

	if (!s)
		return false;
	s = vt_symbols_outermost(t, s);
	*out = (struct vt_procedure){.image = image,
				     .pid = pid,
				     .start = s->start,
				     .end = s->end,
				     .symbol = s->name,
				     .name = s->name};
	return s->end > s->start;
}

static int add_procedure(struct builder *b, uint32_t image, int32_t pid, uint64_t vaddr,
			 struct vt_error *err)
{
	struct vt_pathgraph *g = b->g;
	struct vt_procedure proc;
	struct proc_entry key = {.image = image, .pid = pid}, *e;
	bool added;

	if (!find_procedure(g, image, pid, vaddr, &proc))
		return 0;
	key.start = proc.start;
	e = vt_hash_add(&g->index, &key, &added);
	if (!e)
		return vt_error_nomem(err);
	if (!added)
		return 0;
	e->proc = (uint32_t)g->nprocs;
	if (!vt_array_grow(&g->procs, &g->procs_cap, g->nprocs + 1, sizeof(*g->procs)))
		return vt_error_nomem(err);
	g->procs[g->nprocs++] = (struct vt_pathproc){.proc = proc};
	return load_procedure(b, (uint32_t)g->nprocs - 1, err);
}

/* The procedures that one calls or jumps to. */
static int add_reached(struct builder *b, uint32_t proc, struct vt_error *err)
{
	struct vt_pathgraph *g = b->g;
	uint32_t i, first = g->procs[proc].first, n = g->procs[proc].count;
	int code = 0;

	for (i = first; i < first + n && code == 0; i++) {
		const struct vt_procedure *p = &g->procs[proc].proc;
		uint64_t target = g->nodes[i].target;

		if (target && (target < p->start || target >= p->end))
			code = add_procedure(b, p->image, p->pid, target, err);
	}
	return code;
}

/* The number of the graph's procedure that a vaddr is in; UINT32_MAX: none. */
static uint32_t find_known_procedure(const struct vt_pathgraph *g, uint32_t image, int32_t pid,
				     uint64_t vaddr)
{
	struct vt_procedure proc;
	struct proc_entry key = {.image = image, .pid = pid};
	const struct proc_entry *e;

	if (!find_procedure((struct vt_pathgraph *)g, image, pid, vaddr, &proc))
		return UINT32_MAX;
	key.start = proc.start;
	e = vt_hash_find(&g->index, &key);
	return e ? e->proc : UINT32_MAX;
}

uint32_t vti_pathgraph_begins(const struct vt_pathgraph *g, uint32_t image, int32_t pid,
			      uint64_t vaddr)
{
	uint32_t proc = find_known_procedure(g, image, pid, vaddr);

	return proc == UINT32_MAX ? VT_PATHNODE_NONE : vti_pathproc_node(g, proc, vaddr);
}

uint32_t vti_pathgraph_ends(const struct vt_pathgraph *g, uint32_t image, int32_t pid,
			    uint64_t vaddr)
{
	uint32_t proc = vaddr ? find_known_procedure(g, image, pid, vaddr - 1) : UINT32_MAX, i;
	const struct vt_pathproc *p;

	if (proc == UINT32_MAX)
		return VT_PATHNODE_NONE;
	p = &g->procs[proc];
	for (i = p->first; i < p->first + p->count; i++)
		if (g->nodes[i].end == vaddr)
			return i;
	return VT_PATHNODE_NONE;
}

uint32_t vti_pathproc_node(const struct vt_pathgraph *g, uint32_t proc, uint64_t vaddr)
{
	const struct vt_pathproc *p = &g->procs[proc];
	uint32_t i = p->cfg ? vt_cfg_insn_at(p->cfg, vaddr) : UINT32_MAX;
	uint32_t n = i == UINT32_MAX ? VT_PATHNODE_NONE : p->node[i];

	return n != VT_PATHNODE_NONE && g->nodes[n].start == vaddr ? n : VT_PATHNODE_NONE;
}

/* ---- places ---- */

/* The vaddr of a place; false: its image is not there. */
static bool find_vaddr(const struct vt_pathgraph *g, const struct vt_pathplace *at, uint64_t *vaddr)
{
	struct vt_location loc = {.symbol = NULL};

	vt_images_symbol(g->images, at->image, at->pid, at->offset, &loc);
	*vaddr = loc.vaddr;
	return loc.symbol != NULL;
}

uint32_t vt_pathgraph_find(const struct vt_pathgraph *g, uint32_t place, uint32_t *nth)
{
	const struct vt_pathplace *at = vt_pathplaces_get(g->places, place);
	const struct vt_pathproc *p;
	uint64_t vaddr;
	uint32_t proc, i, n;

	if (!find_vaddr(g, at, &vaddr))
		return VT_PATHNODE_NONE;
	proc = find_known_procedure(g, at->image, at->pid, vaddr);
	p = proc == UINT32_MAX ? NULL : &g->procs[proc];
	i = p && p->cfg ? vt_cfg_insn_at(p->cfg, vaddr) : UINT32_MAX;
	n = i == UINT32_MAX ? VT_PATHNODE_NONE : p->node[i];
	if (n != VT_PATHNODE_NONE)
		*nth = i - g->nodes[n].insn;
	return n;
}

uint64_t vt_pathgraph_insn(const struct vt_pathgraph *g, uint32_t node, uint32_t nth)
{
	const struct vt_pathnode *n = &g->nodes[node];

	return g->procs[n->proc].cfg->insns[n->insn + nth].addr;
}

void vt_pathgraph_place(const struct vt_pathgraph *g, uint32_t node, uint32_t *image,
			uint64_t *offset)
{
	const struct vt_procedure *p = &g->procs[g->nodes[node].proc].proc;

	*image = p->image;
	*offset = g->nodes[node].start;
	vt_images_offset(g->images, p->image, g->nodes[node].start, offset);
}

/* ---- all of it ---- */

static bool find_targets(struct builder *b)
{
	const struct vt_pathplaces *places = b->g->places;
	size_t i, n = places->transfers.count;

	b->targets.list = malloc((n + 1) * sizeof(*b->targets.list));
	for (i = 0; b->targets.list && i < n; i++) {
		const struct vt_pathtransfer *t = vt_hash_at(&places->transfers, i);
		const struct vt_pathplace *at = vt_pathplaces_get(places, t->to);
		const struct vt_pathplace *from = vt_pathplaces_get(places, t->from);
		struct arrival *a = &b->targets.list[b->targets.count];

		/* What follows is no target; if it is that, too, the code shows it. */
		if (at->image == from->image && at->offset - from->offset <= VT_MAX_INSN)
			continue;
		*a = (struct arrival){.image = at->image, .pid = at->pid};
		b->targets.count += find_vaddr(b->g, at, &a->vaddr);
	}
	if (b->targets.list)
		qsort(b->targets.list, b->targets.count, sizeof(*b->targets.list),
		      compare_arrivals);
	return b->targets.list != NULL;
}

/* Where executed blocks of images start.  Those of anonymous code are in no image. */
static bool find_blocks(struct builder *b)
{
	size_t i, n = b->g->code ? vt_blockcode_count(b->g->code) : 0, cap = 0;
	struct arrivals *a = &b->blocks;

	for (i = 0; i < n; i++) {
		const struct vt_blockinsn insn = vt_blockcode_insn(b->g->code, i);
		const struct vt_pathplace at = {.offset = insn.offset, .image = insn.image};

		if (!insn.starts || insn.image == VT_UNMAPPED_IMAGE)
			continue;
		if (!vt_array_grow(&a->list, &cap, a->count + 1, sizeof(*a->list)))
			return false;
		a->list[a->count] = (struct arrival){.image = insn.image};
		a->count += find_vaddr(b->g, &at, &a->list[a->count].vaddr);
	}
	if (a->count)
		qsort(a->list, a->count, sizeof(*a->list), compare_arrivals);
	return true;
}

static int add_procedures(struct builder *b, struct vt_error *err)
{
	struct vt_pathgraph *g = b->g;
	size_t i, n = g->places->places.count;
	int code = 0;

	for (i = 0; i < n && code == 0; i++) {
		const struct vt_pathplace *at = vt_pathplaces_get(g->places, (uint32_t)i);
		uint64_t vaddr;

		if (find_vaddr(g, at, &vaddr))
			code = add_procedure(b, at->image, at->pid, vaddr, err);
	}
	for (i = 0; i < g->nprocs && code == 0 && g->across; i++)
		code = add_reached(b, (uint32_t)i, err);
	return code;
}

struct vt_pathgraph *vt_pathgraph_new(const struct vt_pathgraph_options *o, struct vt_error *err)
{
	struct vt_pathgraph *g = calloc(1, sizeof(*g));
	struct builder b = {.g = g};
	int code = 0;

	if (!g) {
		vt_error_nomem(err);
		return NULL;
	}
	g->images = o->images;
	g->code = o->code;
	g->places = o->places;
	g->across = o->across;
	vt_hash_init(&g->index, sizeof(struct proc_entry), offsetof(struct proc_entry, proc));
	if (!find_targets(&b) || !find_blocks(&b))
		code = vt_error_nomem(err);
	if (code == 0)
		code = add_procedures(&b, err);
	if (code == 0)
		code = vti_pathedges_make(g, o, err);
	free(b.targets.list);
	free(b.blocks.list);
	if (code == 0)
		return g;
	vt_pathgraph_free(g);
	return NULL;
}

void vt_pathgraph_free(struct vt_pathgraph *g)
{
	size_t i;

	if (!g)
		return;
	for (i = 0; i < g->nprocs; i++) {
		vt_cfg_free(g->procs[i].cfg);
		free(g->procs[i].node);
	}
	free(g->procs);
	free(g->nodes);
	free(g->edges);
	free(g->choices);
	vt_hash_fini(&g->index);
	free(g);
}

/* ---- weights ---- */

static bool is_call(const struct vt_pathchoice *c)
{
	return c->kind == VT_PATHEDGE_CALL;
}

static int compare_choices(const void *x, const void *y)
{
	const struct vt_pathchoice *a = x, *b = y;

	if (is_call(a) != is_call(b))
		return is_call(a) - is_call(b);
	if (a->part != b->part)
		return a->part > b->part ? -1 : 1;
	return (a->edge > b->edge) - (a->edge < b->edge);
}

static void sort_choices(struct vt_pathgraph *g, struct vt_pathnode *n)
{
	struct vt_pathchoice *c = g->choices + n->first;
	double rest[2] = {0, 0};
	uint32_t i, bit;

	n->others = 0;
	for (i = 0; i < n->count; i++) {
		c[i] = vt_pathchoice_make(g, n->first + i);
		n->others += !is_call(&c[i]);
	}
	if (n->count > 1)
		qsort(c, n->count, sizeof(*c), compare_choices);
	for (i = n->count; i-- > 0;) {
		if (i + 1 == n->others)
			rest[0] = rest[1] = 0;
		for (bit = 0; bit < 2; bit++) {
			rest[bit] += c[i].bit == 1 - bit ? 0 : c[i].part;
			c[i].rest[bit] = (float)rest[bit];
		}
	}
}

static void weigh_node(struct vt_pathgraph *g, struct vt_pathnode *n)
{
	struct vt_pathedge *e = g->edges + n->first;
	double sum = n->elsewhere;
	uint32_t i;

	for (i = 0; i < n->count; i++)
		sum += e[i].count;
	n->unknown = sum > 0 ? n->elsewhere / sum : 0;
	n->calls = 0;
	for (i = 0; i < n->count; i++) {
		e[i].part = sum > 0 ? e[i].count / sum : 1.0 / n->count;
		if (e[i].kind == VT_PATHEDGE_CALL)
			n->calls += e[i].part;
	}
	sort_choices(g, n);
}

void vt_pathgraph_weigh(struct vt_pathgraph *g)
{
	size_t i;

	for (i = 0; i < g->nnodes; i++)
		weigh_node(g, &g->nodes[i]);
}
