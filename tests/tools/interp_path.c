/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks what the interpreter knows along a path against a recording of the same execution:
 *
 *	interp_path RECORDING [PATH]
 *
 * RECORDING has values (record --full --values=all --mem), PATH is the stream whose path is
 * followed: the recording itself, or what was decoded from a trace made of it.  Each value that is
 * called known must be the recorded one.  Repetitions of a string instruction, which only the
 * recording has one by one, are passed over.  Prints counts, one "name number" on each line, and
 *the first differences on standard error.  Exits 1 when there is any, or nothing was compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "interpret/interpret.h"
#include "stream/exec.h"

#define MOST_SHOWN 20

struct value {
	uint8_t what;
	uint8_t reg;
	uint16_t size;
	uint32_t bytes; /* offset */
};

struct insn {
	uint64_t ip;
	uint32_t value; /* first of its values; they end with those of the next one */
};

/* What one thread has executed. */
struct truth {
	int64_t tid;
	struct insn *insns;
	size_t ninsns, insns_cap;
	struct value *values;
	size_t nvalues, values_cap;
	struct vt_buf bytes;
	size_t at; /* the next instruction of the path */
};

struct checker {
	struct truth *threads;
	size_t nthreads, threads_cap;
	uint64_t insns, lost, compared[VT_NWHATS], alone[VT_NWHATS], differences;
	size_t nth[VT_NWHATS]; /* accesses of the instruction at hand so far, */
	size_t all[VT_NWHATS]; /* and in all */
	size_t insn;	       /* of the truth */
	bool found;
};

static void die(const char *what, const struct vt_error *err)
{
	fprintf(stderr, "interp_path: %s%s%s\n", what, err ? ": " : "", err ? err->text : "");
	exit(1);
}

static struct truth *truth_of(struct checker *c, int64_t tid)
{
	size_t i;

	for (i = 0; i < c->nthreads; i++)
		if (c->threads[i].tid == tid)
			return &c->threads[i];
	if (!vt_array_grow(&c->threads, &c->threads_cap, c->nthreads + 1, sizeof(*c->threads)))
		die("out of memory", NULL);
	c->threads[c->nthreads] = (struct truth){.tid = tid};
	return &c->threads[c->nthreads++];
}

/* ---- the recording ---- */

static void take_step(struct truth *t, const struct vt_step *s)
{
	const struct vt_bblock *b = s->block;
	uint32_t i, slot = s->slot;

	for (i = s->insn; i < s->insn_end; i++) {
		if (!vt_array_grow(&t->insns, &t->insns_cap, t->ninsns + 1, sizeof(*t->insns)))
			die("out of memory", NULL);
		t->insns[t->ninsns++] =
			(struct insn){vt_bblock_insn_addr(b, i), (uint32_t)t->nvalues};
		for (; slot < s->slot_end && b->slots[slot].insn == i; slot++) {
			const struct vt_slot *v = &b->slots[slot];

			if (!vt_array_grow(&t->values, &t->values_cap, t->nvalues + 1,
					   sizeof(*t->values)))
				die("out of memory", NULL);
			t->values[t->nvalues++] = (struct value){v->what, (uint8_t)v->reg, v->size,
								 (uint32_t)t->bytes.size};
			vt_buf_put(&t->bytes, s->data + (v->offset - s->data_offset), v->size);
		}
	}
}

static void read_truth(struct checker *c, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open(path, &err);
	struct vt_bblocks *dict = vt_bblocks_new();
	struct vt_record rec;
	struct vt_exec x;
	struct vt_step s;
	int code;

	if (!r || !dict)
		die(path, &err);
	while ((code = vt_reader_next(r, &rec, &err)) > 0) {
		if (rec.kind == VT_BLOCK && vt_bblocks_add(dict, &rec, &err) < 0)
			die(path, &err);
		if (rec.kind != VT_EXEC)
			continue;
		code = vt_exec_open(&x, dict, &rec, &err);
		while (code >= 0 && (code = vt_exec_next(&x, &s, &err)) > 0)
			take_step(truth_of(c, x.tid), &s);
		if (code < 0)
			break;
	}
	if (code < 0)
		die(path, &err);
	vt_bblocks_free(dict);
	vt_reader_close(r);
}

/* ---- the path ---- */

static void differ(struct checker *c, const struct truth *t, const struct vt_capture *v,
		   uint64_t recorded)
{
	if (c->differences++ < MOST_SHOWN)
		fprintf(stderr,
			"interp_path: tid %" PRId64 " at %#" PRIx64 " (instruction %zu): %s of "
			"register %u, lane %u: %#" PRIx64 ", recorded %#" PRIx64 "\n",
			t->tid, v->ip, c->insn, vt_what_name(v->what), v->reg, v->lane, v->value,
			recorded);
}

/* The number in a lane of a recorded value; *bytes of it are there. */
static uint64_t number(const struct truth *t, const struct value *v, unsigned lane, unsigned *bytes)
{
	const uint8_t *p = t->bytes.data + v->bytes + 8 * (size_t)lane;
	uint64_t n = 0;
	unsigned i;

	*bytes = v->size > 8 * lane ? v->size - 8 * lane : 0;
	if (*bytes > 8)
		*bytes = 8;
	for (i = *bytes; i; i--)
		n = n << 8 | p[i - 1];
	return n;
}

/* The recorded value that a captured one must be, or NULL: it is not recorded. */
static const struct value *recorded(struct checker *c, const struct truth *t,
				    const struct vt_capture *v)
{
	size_t i = t->insns[c->insn].value, n = 0;
	size_t end = c->insn + 1 < t->ninsns ? t->insns[c->insn + 1].value : t->nvalues;
	bool by_register = v->what == VT_WHAT_RESULT || v->what == VT_WHAT_ARG;
	const struct value *found = NULL;

	for (; i < end; i++) {
		const struct value *r = &t->values[i];

		/* What did not happen has a value nonetheless. */
		if (r->what == VT_WHAT_GUARD && !by_register)
			return NULL;
		if (r->what != v->what)
			continue;
		n++;
		if (by_register ? r->reg == v->reg : n == c->nth[v->what])
			found = r;
	}
	/* Accesses of helpers are only in one of the two. */
	return by_register || n == c->all[v->what] ? found : NULL;
}

static void check(struct checker *c, const struct truth *t, const struct vt_capture *v)
{
	const struct value *r;
	unsigned bytes = 8, mine = v->size > 8u * v->lane ? v->size - 8u * v->lane : 0;
	uint64_t n, mask;

	if (v->what == VT_WHAT_TARGET && c->insn + 1 < t->ninsns) {
		n = t->insns[c->insn + 1].ip;
	} else {
		r = recorded(c, t, v);
		if (!r || (r->size != v->size && v->what != VT_WHAT_RESULT)) {
			c->alone[v->what]++;
			return;
		}
		n = number(t, r, v->lane, &bytes);
	}
	if (bytes > mine)
		bytes = mine;
	if (!bytes) {
		c->alone[v->what]++;
		return;
	}
	mask = UINT64_MAX >> (64 - 8 * bytes);
	c->compared[v->what]++;
	if ((n ^ v->value) & mask)
		differ(c, t, v, n);
}

/* Finds the instruction in the recording: the next one, or that behind some repetitions. */
static void go_to(struct checker *c, struct truth *t, uint64_t ip)
{
	size_t at = t->at;

	while (at && at < t->ninsns && t->insns[at].ip != ip &&
	       t->insns[at].ip == t->insns[at - 1].ip)
		at++;
	c->found = at < t->ninsns && t->insns[at].ip == ip;
	c->lost += !c->found;
	c->insns++;
	c->insn = at;
	if (c->found)
		t->at = at + 1;
}

static void count_accesses(struct checker *c, const struct vt_capture *v,
			   const struct vt_capture *end)
{
	memset(c->nth, 0, sizeof(c->nth));
	memset(c->all, 0, sizeof(c->all));
	for (; v < end && v->what != VT_WHAT_UNKNOWN; v++)
		c->all[v->what] += v->lane == 0;
}

static int take_run(void *arg, const struct vt_run *run, struct vt_error *err)
{
	struct checker *c = arg;
	struct truth *t = truth_of(c, run->tid);
	size_t i;

	(void)err;
	for (i = 0; i < run->ncaptures; i++) {
		const struct vt_capture *v = &run->captures[i];

		if (v->what == VT_WHAT_UNKNOWN) {
			go_to(c, t, v->ip);
			count_accesses(c, v + 1, run->captures + run->ncaptures);
			continue;
		}
		c->nth[v->what] += v->lane == 0;
		if (v->known && c->found)
			check(c, t, v);
	}
	return 0;
}

static void follow(const char *path, struct vt_context *context)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open(path, &err);
	const struct vt_block *block;
	uint32_t first, count;
	int code;

	if (!r)
		die(path, &err);
	while ((code = vt_reader_next_run(r, &block, &first, &count, &err)) > 0) {
		if (vt_context_feed(context, block, first, count, &err) < 0)
			die(path, &err);
	}
	if (code < 0)
		die(path, &err);
	vt_reader_close(r);
}

static void print_totals(const struct checker *c, const struct vt_interpret_totals *t)
{
	unsigned i;

	printf("instructions %" PRIu64 "\nlost %" PRIu64 "\nbegun %" PRIu64 "\ninferred %" PRIu64
	       "\ncontradictions %" PRIu64 "\n",
	       c->insns, c->lost, t->begun, t->inferred, t->stops[VT_STOP_PATH] + t->stale);
	for (i = 0; i < VT_NWHATS; i++)
		if (t->values[i])
			printf("%s %" PRIu64 "\n%s-known %" PRIu64 "\n%s-compared %" PRIu64
			       "\n%s-alone %" PRIu64 "\n",
			       vt_what_name(i), t->values[i], vt_what_name(i), t->known[i],
			       vt_what_name(i), c->compared[i], vt_what_name(i), c->alone[i]);
	printf("differences %" PRIu64 "\n", c->differences);
}

int main(int argc, char **argv)
{
	struct vt_interpret_options o = {
		.path = true, .length = 1, .frequency = 1, .capture = ~UINT32_C(0)};
	struct vt_images_options io = {.warn = NULL};
	struct vt_error err = VT_ERROR_INIT;
	struct checker c = {.nthreads = 0};
	struct vt_images *images = vt_images_new(&io, &err);
	struct vt_context *context = images ? vt_context_new(images) : NULL;
	struct vt_interpret *in;
	uint64_t compared = 0;
	size_t i;

	if (argc < 2 || argc > 3)
		die("usage: interp_path RECORDING [PATH]", NULL);
	in = context ? vt_interpret_new(&o, context, take_run, &c, &err) : NULL;
	if (!in)
		die("cannot begin", &err);
	vt_context_add(context, &(struct vt_consumer){.record = vt_interpret_feed, .arg = in});
	read_truth(&c, argv[1]);
	follow(argv[argc - 1], context);
	vt_interpret_end(in);
	print_totals(&c, vt_interpret_totals(in));
	for (i = 0; i < VT_NWHATS; i++)
		compared += c.compared[i];
	for (i = 0; i < c.nthreads; i++) {
		free(c.threads[i].insns);
		free(c.threads[i].values);
		vt_buf_free(&c.threads[i].bytes);
	}
	free(c.threads);
	vt_interpret_free(in);
	vt_context_free(context);
	vt_images_free(images);
	return c.differences || !compared;
}
