/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: loop_time [-k] [-u] CORE <BODIES
 *
 * What a round of each loop takes on a core when nothing dynamic stalls it: a line of hexadecimal
 * bytes is a loop's body, without its branch; a line of cycles comes out for it.  With -k also the
 * least that the core's widths and ports allow, and the kind of code.  With -u
 * copies stand one behind the other in memory, so that no micro-op cache holds them, as where BHive
 * measures.  A body that is no code makes "-" with -k, else it ends the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/pipeline/core.h"
#include "machine/pipeline/schedule.h"

#define MAX_BODY 1024 /* instructions */
#define ROUNDS	 60
#define COUNTED	 40 /* the last of them */

/* Copies of a body whose times are compared: multiples of the bytes of a block that is fetched. */
#define FEW    100
#define MANY   200
#define FILLED UINT64_C(0x2324000) /* what registers and memory hold where BHive measures */

static void fail(const char *text)
{
	fprintf(stderr, "loop_time: %s\n", text);
	exit(3);
}

/* ---- kinds of code, those that say most first ---- */

static const char *const kinds[] = {"scalar", "load", "store", "partial",
				    "vector", "x87",  "divide"};

enum { SCALAR, LOAD, STORE, PARTIAL, VECTOR, DIVIDE };

/* Whether it shifts, or writes a part of a register. */
static bool is_partial(const struct vt_facts *f)
{
	static const char *const shifts[] = {"shl", "shr", "sar", "rol", "ror", "rcl", "rcr"};
	size_t i;

	for (i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++)
		if (strncmp(f->mnemonic, shifts[i], strlen(shifts[i])) == 0)
			return true;
	for (i = 0; i < f->nresults; i++)
		if (f->results[i].reg < VT_REG_VECTOR && f->results[i].size < 4)
			return true;
	return false;
}

static int kind_of(const struct vt_facts *f)
{
	if (f->flags & VT_FACT_DIVIDE)
		return DIVIDE;
	if (f->flags & (VT_FACT_VECTOR | VT_FACT_X87))
		return VECTOR;
	if (is_partial(f))
		return PARTIAL;
	return f->flags & VT_FACT_STORE ? STORE : f->flags & VT_FACT_LOAD ? LOAD : SCALAR;
}

/* ---- a body ---- */

struct body {
	struct vt_mop ops[MAX_BODY];
	size_t n;
	int kind;
};

static bool read_body(const struct vt_core *m, const char *line, struct body *b)
{
	static uint8_t code[MAX_BODY * 4];
	size_t size = 0, at = 0;
	char digits[3] = "";
	struct vt_facts f;

	for (; line[0] && line[1] && size < sizeof(code); line += 2) {
		digits[0] = line[0];
		digits[1] = line[1];
		code[size++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	b->n = 0;
	b->kind = SCALAR;
	while (at < size && b->n < MAX_BODY && vt_core_op(m, code + at, size - at, &b->ops[b->n])) {
		vt_facts_decode(code + at, size - at, &f);
		if (kind_of(&f) > b->kind)
			b->kind = kind_of(&f);
		at += b->ops[b->n++].length;
	}
	return size && at == size;
}

static double time_loop(const struct vt_core *m, const struct body *b)
{
	static const struct vt_mop *list[MAX_BODY * ROUNDS];
	static struct vt_schedule_cost costs[MAX_BODY * COUNTED];
	struct vt_error err = VT_ERROR_INIT;
	double sum = 0;
	size_t i;

	for (i = 0; i < b->n * ROUNDS; i++)
		list[i] = &b->ops[i % b->n];
	if (vt_schedule(m, list, b->n * ROUNDS, b->n * (ROUNDS - COUNTED), costs, &err) < 0)
		fail(err.text);
	for (i = 0; i < b->n * COUNTED; i++)
		sum += (double)costs[i].head;
	return sum / COUNTED;
}

/* As BHive measures: how much longer many copies take than fewer, in memory full of one number. */
static double time_unrolled(const struct vt_core *m, const struct body *b)
{
	struct vt_ooo *e = vt_ooo_new(m, NULL);
	struct vt_ooo_insn in = {.brief = true};
	struct vt_inorder_cost cost = {0};
	uint64_t few = 0;
	size_t i;

	if (!e)
		fail("no memory");
	vt_ooo_set_uncached(e, true);
	vt_ooo_empty(e);
	vt_ooo_fill(e, FILLED);
	for (i = 0; i < b->n * MANY; i++) {
		in.op = &b->ops[i % b->n];
		vt_ooo_run(e, &in, &cost, NULL);
		if (i + 1 == b->n * FEW)
			few = cost.cycle;
	}
	vt_ooo_free(e);
	return (double)(cost.cycle - few) / (MANY - FEW);
}

static double units_of(const struct vt_core *m, enum vt_op_class c)
{
	unsigned i, n = 0;

	for (i = 0; i < m->nunits; i++)
		n += m->units[i].classes >> c & 1;
	return n ? n : 1;
}

/* No schedule is shorter: so many slots, loads and stores there are. */
static double least_time(const struct vt_core *m, const struct body *b)
{
	double slots = 0, loads = 0, stores = 0, least;
	size_t i, k;

	for (i = 0; i < b->n; i++) {
		slots += b->ops[i].slots;
		for (k = 0; k < b->ops[i].nuops; k++) {
			loads += b->ops[i].uops[k].op_class == VT_OP_LOAD;
			stores += b->ops[i].uops[k].op_class == VT_OP_STORE;
		}
	}
	least = slots / m->decode;
	loads /= units_of(m, VT_OP_LOAD);
	stores /= units_of(m, VT_OP_STORE);
	least = loads > least ? loads : least;
	return stores > least ? stores : least;
}

int main(int argc, char **argv)
{
	static struct body body;
	static char line[MAX_BODY * 8];
	struct vt_error err = VT_ERROR_INIT;
	bool told = false, unrolled = false;
	struct vt_core m;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		told = told || strcmp(argv[i], "-k") == 0;
		unrolled = unrolled || strcmp(argv[i], "-u") == 0;
	}
	if (i + 1 != argc)
		fail("usage: loop_time [-k] [-u] CORE <BODIES");
	if (vt_core_load(&m, argv[i], &err) < 0)
		fail(err.text);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!read_body(&m, line, &body)) {
			if (!told)
				fail("a body that is not code");
			puts("-");
			continue;
		}
		printf("%.3f", (unrolled ? time_unrolled : time_loop)(&m, &body));
		if (told)
			printf(" %.3f %s", least_time(&m, &body), kinds[body.kind]);
		putchar('\n');
	}
	return 0;
}
