/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast code is decoded into basic blocks, for a bench.
 *
 * usage: pt_code_speed FILE RUNS [ADDR ENTRIES]
 *
 * The code is the whole of FILE at ADDR, 0 without it.  ENTRIES lists the addresses of the blocks
 * in hexadecimal, a line each; without it every block is entered where another one ends.
 * Prints how many instructions and blocks there are, and of the fastest run the nanoseconds of CPU
 * for each instruction.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "formats/common/wholefile.h"
#include "formats/pt/block.h"

struct entries {
	uint64_t *all;
	size_t count;
	size_t cap;
};

static void die(const char *what)
{
	fprintf(stderr, "pt_code_speed: %s\n", what);
	exit(1);
}

static void add_entry(struct entries *e, uint64_t addr)
{
	if (!vt_array_grow(&e->all, &e->cap, e->count + 1, sizeof(*e->all)))
		die("out of memory");
	e->all[e->count++] = addr;
}

static void read_entries(struct entries *e, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[64];

	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f))
		add_entry(e, strtoull(line, NULL, 16));
	fclose(f);
}

/* One block behind the other, past bytes that are no code. */
static void sweep(struct entries *e, struct vt_pt_blocks *b, uint64_t size)
{
	uint64_t ip = 0;

	while (ip < size) {
		const struct vt_pt_block *k;
		uint32_t index;

		if (vt_pt_blocks_at(b, ip, 64, &index) < 0)
			die("out of memory");
		add_entry(e, ip);
		k = vt_pt_blocks_get(b, index);
		ip = k->next + (k->end >= VT_PT_END_NO_CODE);
	}
}

static double run(const struct entries *e, const struct vt_pt_code *code, uint64_t *insns)
{
	struct vt_pt_blocks *b = vt_pt_blocks_new(code);
	struct timespec from, to;
	uint32_t index;
	size_t i;

	if (!b)
		die("out of memory");
	*insns = 0;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (i = 0; i < e->count; i++) {
		if (vt_pt_blocks_at(b, e->all[i], 64, &index) < 0)
			die("out of memory");
		*insns += vt_pt_blocks_get(b, index)->insns;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	vt_pt_blocks_free(b);
	return (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
}

int main(int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	struct entries e = {0};
	struct vt_pt_code *code = vt_pt_code_new();
	struct vt_wholefile f;
	struct vt_pt_section s;
	double best = 0;
	uint64_t insns = 0;
	long i, runs;

	if (argc < 3 || !code)
		die("usage: pt_code_speed FILE RUNS [ADDR ENTRIES]");
	if (vt_wholefile_open(&f, argv[1], &err) < 0)
		die(err.text);
	if (argc > 4)
		read_entries(&e, argv[4]);
	s = (struct vt_pt_section){argc > 4 ? strtoull(argv[3], NULL, 0) : 0, f.size, f.bytes, NULL,
				   0};
	if (vt_pt_code_add(code, &s, &err) < 0)
		die(err.text);
	if (argc <= 4) {
		struct vt_pt_blocks *b = vt_pt_blocks_new(code);

		if (!b)
			die("out of memory");
		sweep(&e, b, f.size);
		vt_pt_blocks_free(b);
	}
	runs = strtol(argv[2], NULL, 10);
	for (i = 0; i < runs; i++) {
		const double took = run(&e, code, &insns);

		best = i == 0 || took < best ? took : best;
	}
	printf("%" PRIu64 " %zu %.1f\n", insns, e.count, insns ? best / (double)insns : 0);
	free(e.all);
	vt_pt_code_free(code);
	vt_wholefile_fini(&f);
	return 0;
}
