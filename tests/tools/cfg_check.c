/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks control-flow graphs.
 *
 *	cfg_check -a [-v] FILE...	the graphs of all procedures of ELF files: how many are
 *					complete; with -v those that are not
 *	cfg_check [-v] STREAM		each step of a recording from one instruction to another is
 *					an edge of the graph of its procedure, or the graph is
 *marked incomplete there
 *
 * Prints counts, one "name number" on each line.  Exits 1 when an edge is missing or there is
 * nothing to check.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "flow/cfg.h"
#include "image/addrspace.h"
#include "image/images.h"
#include "machine/insn/insn.h"
#include "stream/bblock.h"
#include "stream/exec.h"
#include "stream/reader.h"
#include "tests/unit/common/graphs.h"

static struct vt_error err;

static void die(const char *what)
{
	fprintf(stderr, "cfg_check: %s: %s\n", what, err.text);
	exit(1);
}

/* ---- all procedures ---- */

struct totals {
	uint64_t procedures, complete, insns, blocks, edges, unknown, bad;
};

static bool is_code(const struct vt_elf *e, const struct vt_symbol *sym)
{
	size_t n, i;
	const struct vt_elf_segment *s = vt_elf_segments(e, &n);

	if (sym->flags & (VT_SYMBOL_OBJECT | VT_SYMBOL_PLT))
		return false;
	for (i = 0; i < n; i++)
		if (s[i].exec && sym->start >= s[i].vaddr && sym->start - s[i].vaddr < s[i].filesz)
			return true;
	return false;
}

static void tell(const char *path, const struct vt_symbol *sym, const struct vt_cfg *g)
{
	uint32_t i, n = 0;

	for (i = VT_CFG_FIRST; i < g->nblocks; i++)
		if (g->blocks[i].incomplete) {
			printf("incomplete %s %s 0x%" PRIx64 "\n", path, sym->name,
			       g->insns[g->blocks[i].insn + g->blocks[i].ninsns - 1].addr);
			n++;
		}
	if (!n)
		printf("no-code %s %s 0x%" PRIx64 "\n", path, sym->name, sym->start);
}

static void take(struct totals *t, const char *path, const struct vt_symbol *sym,
		 const struct vt_cfg *g, bool verbose)
{
	uint32_t i, unknown = 0;

	t->procedures++;
	t->complete += g->complete;
	t->insns += g->ninsns;
	t->blocks += g->nblocks;
	t->edges += g->nedges;
	for (i = VT_CFG_FIRST; i < g->nblocks; i++)
		unknown += g->blocks[i].incomplete;
	t->unknown += unknown;
	t->bad += !g->complete && !unknown;
	if (verbose && !g->complete)
		tell(path, sym, g);
}

static void all_of(struct vt_images *images, uint32_t id, const char *path, struct totals *t,
		   bool verbose)
{
	enum vt_unknown why;
	struct vt_symbols *symbols = vt_images_symbols(images, id, 0, &why);
	const struct vt_elf *e = vt_images_elf(images, id, &why);
	size_t i;

	if (!symbols || !e)
		die(path);
	for (i = 0; i < vt_symbols_count(symbols); i++) {
		const struct vt_symbol *sym = vt_symbols_at(symbols, i);
		struct vt_cfg *g;

		if (!is_code(e, sym) || sym->end <= sym->start)
			continue;
		g = image_graph(images, id, sym->start, sym->end, &err);
		if (!g)
			die(path);
		take(t, path, sym, g, verbose);
		vt_cfg_free(g);
	}
}

static int all(struct vt_images *images, char **files, int n, bool verbose)
{
	struct totals t = {0};
	clock_t start = clock();
	int i;

	for (i = 0; i < n; i++) {
		if (vt_images_add(images, (uint32_t)i + 1, VT_IMAGE_FILE, files[i],
				  strlen(files[i]), NULL, 0, &err) < 0)
			die(files[i]);
		all_of(images, (uint32_t)i + 1, files[i], &t, verbose);
	}
	printf("procedures %" PRIu64 "\ncomplete %" PRIu64 "\nunknown_jumps %" PRIu64
	       "\nbad_code %" PRIu64 "\ninsns %" PRIu64 "\nblocks %" PRIu64 "\nedges %" PRIu64 "\n",
	       t.procedures, t.complete, t.unknown, t.bad, t.insns, t.blocks, t.edges);
	fprintf(stderr, "%.2f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
	return t.procedures == 0;
}

/* ---- a recording ---- */

enum count {
	STEPS,	     /* different pairs of instructions */
	WITHIN,	     /* in one procedure */
	LEAVING,     /* a jump to another */
	ARRIVING,    /* a jump from another, not to its start */
	RETURNING,   /* to behind a call */
	OTHER,	     /* a return to elsewhere, a system call, code of no file … */
	INCOMPLETE,  /* not there, and the graph says so */
	MISSING,     /* an edge that is not there */
	NO_ENTRY,    /* arrives where control should not */
	NO_COMEBACK, /* returns from a call that should not */
	NO_INSN,     /* an instruction that is not there */
	PROCEDURES,
	COMPLETE,
	NCOUNTS
};

static const char *const names[NCOUNTS] = {
	"steps",   "within",   "leaving",     "arriving", "returning",	"other",   "incomplete",
	"missing", "no_entry", "no_comeback", "no_insn",  "procedures", "complete"};

struct pair {
	int64_t pid; /* first three: the key */
	uint64_t from;
	uint64_t to;
};

struct known {
	uint64_t image; /* first two: the key */
	uint64_t start;
	struct vt_cfg *g;
};

struct place {
	uint64_t vaddr;
	const struct vt_symbol *sym;
	uint32_t image;
};

struct thread {
	int64_t key[2]; /* pid, tid; first: the key */
	const struct vt_bblock *block;
	uint32_t insn_end;
};

struct checker {
	struct vt_images *images;
	struct vt_addrspace *as;
	struct vt_bblocks *dict;
	struct vt_hash threads, pairs, graphs;
	uint64_t n[NCOUNTS];
	bool verbose;
};

static bool place_of(struct checker *c, int64_t pid, uint64_t addr, struct place *p)
{
	const struct vt_map *m = vt_addrspace_find(c->as, (int32_t)pid, addr, 2);
	struct vt_location loc;

	if (!m || m->type != VT_IMAGE_FILE)
		return false;
	p->image = m->image;
	if (vt_images_symbol(c->images, m->image, (int32_t)pid, vt_map_offset(m, addr), &loc) !=
	    VT_KNOWN)
		return false;
	p->vaddr = loc.vaddr;
	p->sym = loc.symbol;
	return true;
}

static const struct vt_cfg *graph_of(struct checker *c, const struct place *p)
{
	struct known key = {p->image, p->sym->start, NULL}, *k;
	bool added;

	k = vt_hash_add(&c->graphs, &key, &added);
	if (!k)
		die("out of memory");
	if (added) {
		k->g = image_graph(c->images, p->image, p->sym->start, p->sym->end, &err);
		if (!k->g)
			die(p->sym->name);
		c->n[PROCEDURES]++;
		c->n[COMPLETE] += k->g->complete;
	}
	return k->g;
}

static void fault(struct checker *c, enum count which, const struct place *from,
		  const struct place *to)
{
	c->n[which]++;
	if (c->verbose)
		printf("%s: %s+0x%" PRIx64 " -> %s+0x%" PRIx64 " (%s 0x%" PRIx64 " 0x%" PRIx64
		       ")\n",
		       names[which], from->sym->name, from->vaddr - from->sym->start, to->sym->name,
		       to->vaddr - to->sym->start, vt_images_get(c->images, from->image)->name,
		       from->vaddr, to->vaddr);
}

static bool leads(const struct vt_cfg *g, uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = 0; i < g->blocks[from].nout; i++)
		if (g->edges[g->blocks[from].out + i].to == to)
			return true;
	return false;
}

static bool is_last(const struct vt_cfg *g, uint32_t block, uint32_t insn)
{
	return g->blocks[block].insn + g->blocks[block].ninsns == insn + 1;
}

/* The block that an instruction is in, where those overlap. */
static uint32_t block_of(const struct vt_cfg *g, uint32_t insn)
{
	uint32_t low = VT_CFG_FIRST, high = g->nblocks;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (g->blocks[middle].insn <= insn)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void check_within(struct checker *c, const struct place *from, const struct place *to)
{
	const struct vt_cfg *g = graph_of(c, from);
	uint32_t a = vt_cfg_insn_at(g, from->vaddr), b = vt_cfg_insn_at(g, to->vaddr);
	uint32_t ablock, bblock;

	c->n[WITHIN]++;
	if (a == UINT32_MAX) {
		fault(c, NO_INSN, from, to);
		return;
	}
	ablock = block_of(g, a);
	if (b != UINT32_MAX) {
		bblock = block_of(g, b);
		if (ablock == bblock && b == a + 1)
			return;
		if (is_last(g, ablock, a) && g->blocks[bblock].insn == b &&
		    leads(g, ablock, bblock))
			return;
	}
	if (g->blocks[ablock].incomplete)
		c->n[INCOMPLETE]++;
	/* A tail call of itself through a pointer. */
	else if (to->vaddr != to->sym->start || !(g->insns[a].flags & VT_FACT_INDIRECT) ||
		 !leads(g, ablock, VT_CFG_EXIT))
		fault(c, MISSING, from, to);
}

static void check_leaving(struct checker *c, const struct place *from, const struct place *to)
{
	const struct vt_cfg *g = graph_of(c, from);
	uint32_t a = vt_cfg_insn_at(g, from->vaddr), block;

	c->n[LEAVING]++;
	if (a == UINT32_MAX) {
		fault(c, NO_INSN, from, to);
		return;
	}
	block = block_of(g, a);
	if (is_last(g, block, a) && leads(g, block, VT_CFG_EXIT))
		return;
	if (g->blocks[block].incomplete)
		c->n[INCOMPLETE]++;
	else
		fault(c, MISSING, from, to);
}

static void check_arriving(struct checker *c, const struct place *from, const struct place *to)
{
	const struct vt_cfg *g = graph_of(c, to);
	uint32_t b = vt_cfg_insn_at(g, to->vaddr), block;

	c->n[ARRIVING]++;
	if (b == UINT32_MAX) {
		fault(c, NO_INSN, from, to);
		return;
	}
	block = block_of(g, b);
	if (g->blocks[block].insn != b || !leads(g, VT_CFG_ENTRY, block))
		fault(c, NO_ENTRY, from, to);
}

static void check_return(struct checker *c, const struct place *from, const struct place *to)
{
	const struct vt_cfg *g = graph_of(c, to);
	uint32_t b = vt_cfg_insn_at(g, to->vaddr), block;
	const struct vt_cfg_insn *call;

	if (b == UINT32_MAX) {
		fault(c, NO_COMEBACK, from, to);
		return;
	}
	call = &g->insns[b ? b - 1 : 0];
	if (!b || call->addr + call->length != to->vaddr || !(call->flags & VT_FACT_CALL)) {
		c->n[OTHER]++;
		return;
	}
	c->n[RETURNING]++;
	block = block_of(g, b);
	if (block != block_of(g, b - 1) && !leads(g, block_of(g, b - 1), block))
		fault(c, NO_COMEBACK, from, to);
}

static void check(struct checker *c, const struct vt_bblock *b, uint32_t insn, uint64_t pc)
{
	struct place from, to;
	bool last = insn + 1 == b->ninsns;

	c->n[STEPS]++;
	if (!place_of(c, b->pid, vt_bblock_insn_addr(b, insn), &from) ||
	    !place_of(c, b->pid, pc, &to)) {
		c->n[OTHER]++;
		return;
	}
	if (last && b->end == VT_END_RETURN) {
		check_return(c, &from, &to);
	} else if (last && (b->end == VT_END_SYSCALL || b->end == VT_END_CALL ||
			    b->end == VT_END_CALL_INDIRECT)) {
		c->n[OTHER]++;
	} else if (from.image == to.image && from.sym == to.sym) {
		check_within(c, &from, &to);
	} else {
		check_leaving(c, &from, &to);
		if (to.vaddr != to.sym->start)
			check_arriving(c, &from, &to);
	}
}

static void step(struct checker *c, struct thread *t, const struct vt_step *s)
{
	uint64_t pc = vt_bblock_insn_addr(s->block, s->insn);
	struct pair key = {t->key[0], 0, pc};
	bool added;

	if (t->block) {
		key.from = vt_bblock_insn_addr(t->block, t->insn_end - 1);
		if (!vt_hash_add(&c->pairs, &key, &added))
			die("out of memory");
		/* A repeated instruction. */
		if (added && key.from != pc)
			check(c, t->block, t->insn_end - 1, pc);
	}
	t->block = s->block;
	t->insn_end = s->insn_end;
}

static int run_exec(struct checker *c, const struct vt_record *rec)
{
	int64_t key[2] = {vt_record_i64(rec, VT_EXEC_PID), vt_record_i64(rec, VT_EXEC_TID)};
	struct thread *t = vt_hash_add(&c->threads, key, NULL);
	struct vt_exec x;
	struct vt_step s;
	int rc = vt_exec_open(&x, c->dict, rec, &err);

	if (!t)
		die("out of memory");
	while (rc >= 0 && (rc = vt_exec_next(&x, &s, &err)) > 0)
		step(c, t, &s);
	return rc;
}

/* What comes next does not follow from what was. */
static void forget(struct checker *c)
{
	size_t i;

	for (i = 0; i < c->threads.count; i++)
		((struct thread *)vt_hash_at(&c->threads, i))->block = NULL;
}

static int run(struct checker *c, struct vt_reader *r)
{
	struct vt_record rec;
	int rc;

	while ((rc = vt_reader_next(r, &rec, &err)) > 0) {
		if (vt_images_feed(c->images, &rec, &err) < 0 ||
		    vt_addrspace_feed(c->as, &rec, &err) < 0)
			return -1;
		if (rec.kind == VT_BLOCK && vt_bblocks_add(c->dict, &rec, &err) < 0)
			return -1;
		if (rec.kind == VT_EXEC && run_exec(c, &rec) < 0)
			return -1;
		if (rec.kind == VT_SIGNAL || rec.kind == VT_STATE || rec.kind == VT_THREAD)
			forget(c);
	}
	return rc;
}

static int recording(struct vt_images *images, const char *path, bool verbose)
{
	struct checker c = {.images = images, .verbose = verbose};
	struct vt_reader *r = vt_reader_open(path, &err);
	size_t i;

	c.as = vt_addrspace_new();
	c.dict = vt_bblocks_new();
	if (!r || !c.as || !c.dict)
		die(path);
	vt_hash_init(&c.threads, sizeof(struct thread), 2 * sizeof(int64_t));
	vt_hash_init(&c.pairs, sizeof(struct pair), sizeof(struct pair));
	vt_hash_init(&c.graphs, sizeof(struct known), 2 * sizeof(uint64_t));
	if (run(&c, r) < 0)
		die(path);
	for (i = 0; i < NCOUNTS; i++)
		printf("%s %" PRIu64 "\n", names[i], c.n[i]);
	for (i = 0; i < c.graphs.count; i++)
		vt_cfg_free(((struct known *)vt_hash_at(&c.graphs, i))->g);
	vt_hash_fini(&c.threads);
	vt_hash_fini(&c.pairs);
	vt_hash_fini(&c.graphs);
	vt_bblocks_free(c.dict);
	vt_addrspace_free(c.as);
	vt_reader_close(r);
	return !c.n[WITHIN] || c.n[MISSING] || c.n[NO_INSN] || c.n[NO_ENTRY] || c.n[NO_COMEBACK];
}

int main(int argc, char **argv)
{
	const struct vt_images_options o = {.warn = NULL};
	struct vt_images *images = vt_images_new(&o, &err);
	bool files = false, verbose = false;
	int opt, rc;

	if (!images)
		die("images");
	while ((opt = getopt(argc, argv, "av")) != -1) {
		if (opt == '?')
			return 2;
		files |= opt == 'a';
		verbose |= opt == 'v';
	}
	if (files)
		rc = all(images, argv + optind, argc - optind, verbose);
	else
		rc = recording(images, optind < argc ? argv[optind] : "-", verbose);
	vt_images_free(images);
	return rc;
}
