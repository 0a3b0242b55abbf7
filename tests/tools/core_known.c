/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: core_known CORE STREAM...
 *
 * How many of the instructions that a recording executed the core's table of timings knows.
 * Repetitions of string instructions are left out: no table is to know them.  A line for each
 * stream: its name, instructions, those known, and the forms not known, the most executed first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/insn/form.h"
#include "machine/pipeline/core.h"
#include "profile/executions.h"
#include "stream/reader.h"

#define MAX_FORMS 512

struct unknown {
	char form[VT_FORM_SIZE];
	uint64_t count;
};

struct tally {
	uint64_t insns;
	uint64_t known;
	struct unknown forms[MAX_FORMS];
	unsigned nforms;
};

static void fail(const struct vt_error *err)
{
	fprintf(stderr, "core_known: %s\n", err->text);
	exit(3);
}

static void note(struct tally *t, const char *form, uint64_t count)
{
	unsigned i;

	for (i = 0; i < t->nforms && strcmp(t->forms[i].form, form) != 0; i++)
		;
	if (i == MAX_FORMS)
		return;
	if (i == t->nforms) {
		memcpy(t->forms[i].form, form, VT_FORM_SIZE);
		t->forms[i].count = 0;
		t->nforms++;
	}
	t->forms[i].count += count;
}

static void tally_block(const struct vt_core *m, const struct vt_execcount *c,
			const struct vt_bblock *b, struct tally *t)
{
	struct vt_facts f;
	struct vt_mop op;
	char form[VT_FORM_SIZE];
	uint32_t i;
	bool known;

	for (i = 0; i < b->ninsns; i++) {
		const uint64_t at = vt_bblock_insn_addr(b, i) - b->addr;
		const uint64_t count = vt_execcount_of(c, b->id, i);

		if (!count || !b->code)
			continue;
		known = vt_core_op(m, b->code + at, b->size - at, &op) && !op.estimated;
		if (op.flags & VT_FACT_REPEATED)
			continue;
		t->insns += count;
		if (known)
			t->known += count;
		else if (vt_facts_decode_form(b->code + at, b->size - at, &f, form))
			note(t, form, count);
	}
}

static int by_count(const void *a, const void *b)
{
	const struct unknown *x = a, *y = b;

	return x->count == y->count ? strcmp(x->form, y->form) : x->count < y->count ? 1 : -1;
}

static void one(const struct vt_core *m, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_bblocks *dict = vt_bblocks_new();
	struct vt_execcount *c = vt_execcount_new(dict);
	struct vt_reader *r = vt_reader_open(path, &err);
	static struct tally t;
	struct vt_record rec;
	uint64_t id;
	unsigned i;
	int got;

	if (!c || !r)
		fail(&err);
	while ((got = vt_reader_next(r, &rec, &err)) > 0) {
		if (rec.kind == VT_BLOCK)
			got = vt_bblocks_add(dict, &rec, &err);
		else if (rec.kind == VT_EXEC)
			got = vt_execcount_exec(c, &rec, &err);
		if (got < 0)
			fail(&err);
	}
	if (got < 0)
		fail(&err);
	memset(&t, 0, sizeof(t));
	for (id = 0; id < vt_bblocks_end(dict); id++) {
		const struct vt_bblock *b = vt_bblocks_get(dict, id);

		if (b)
			tally_block(m, c, b, &t);
	}
	qsort(t.forms, t.nforms, sizeof(*t.forms), by_count);
	printf("%s\t%" PRIu64 "\t%" PRIu64, path, t.insns, t.known);
	for (i = 0; i < t.nforms && i < 5; i++)
		printf("\t%s: %" PRIu64, t.forms[i].form, t.forms[i].count);
	putchar('\n');
	vt_reader_close(r);
	vt_execcount_free(c);
	vt_bblocks_free(dict);
}

int main(int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_core m;
	int i;

	if (argc < 3) {
		fprintf(stderr, "usage: core_known CORE STREAM...\n");
		return 2;
	}
	if (vt_core_load(&m, argv[1], &err) < 0)
		fail(&err);
	for (i = 2; i < argc; i++)
		one(&m, argv[i]);
	return 0;
}
