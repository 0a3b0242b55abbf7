/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pt_compare [OPTION]... TRACE: runs two engines on a raw trace and compares what they make of it:
 * blocks, notes, times.  Prints the first difference and exits 1, or counts and exits 0.
 *
 *	--engines A,B		which; libipt,fast
 *	--image SPEC		code, as `vtrace decode` takes it
 *	--pages DUMP,ADDRS
 *	--model N		a processor of family 6, for its errata
 *	--mutate SEED COUNT	compares damaged variants of pieces of the trace, too
 *	--window BYTES		how long these pieces may be; 16384
 *	--only N		of the variants only that one
 *	--write FILE		leaves the last variant there
 *	--corpus FILE		leaves it there for the fuzz targets, with the code it ran through
 */
#include "formats/pt/raw/code.h"
#include "tests/tools/pt_damage.h"

#define MAX_SPECS 64

struct job {
	const struct vt_pt_engine_ops *engines[2];
	const struct vt_pt_code *code;
	struct vt_pt_options opt;
	struct result results[2];
	uint64_t variants;
	uint64_t insns;
	uint64_t gaps;
};

static void print_note(const char *name, const struct result *r, size_t i)
{
	const struct vt_pt_note *n = &r->notes[i].note;

	if (i >= r->nnotes) {
		printf("%-8s note %zu: none\n", name, i);
		return;
	}
	printf("%-8s note %zu at %" PRIu64 ": type %u error %u flag %d offset 0x%" PRIx64
	       " bytes %" PRIu64 " ip %d 0x%" PRIx64 " to %d 0x%" PRIx64 " value 0x%" PRIx64
	       " extra 0x%" PRIx64 " tsc 0x%" PRIx64 " cycles %" PRIu64 "\n",
	       name, i, r->notes[i].at, n->type, n->error, n->flag, n->offset, n->bytes, n->has_ip,
	       n->ip, n->has_to, n->to, n->value, n->extra, n->tsc, n->cycles);
}

static void print_block(const char *name, const struct result *r, size_t i)
{
	if (i >= r->nblocks)
		printf("%-8s block %zu: none\n", name, i);
	else
		printf("%-8s block %zu: 0x%" PRIx64 " size %" PRIu32 " insns %" PRIu32 "\n", name,
		       i, r->blocks[i].addr, r->blocks[i].size, r->blocks[i].insns);
}

static void print_mark(const char *name, const struct result *r, size_t i)
{
	if (i >= r->nmarks)
		printf("%-8s mark %zu: none\n", name, i);
	else
		printf("%-8s mark %zu at %" PRIu64 ": tsc 0x%" PRIx64 " cycles %" PRIu64 "\n", name,
		       i, r->marks[i].at, r->marks[i].tsc, r->marks[i].cycles);
}

static void print_around(const struct job *j,
			 void (*print)(const char *name, const struct result *r, size_t i),
			 size_t i, size_t before)
{
	size_t at;

	for (at = i > before ? i - before : 0; at < i + 4; at++) {
		print(j->engines[0]->name, &j->results[0], at);
		print(j->engines[1]->name, &j->results[1], at);
	}
}

/* True if both engines make the same of a trace. */
static bool compare(struct job *j, const uint8_t *trace, size_t size)
{
	const struct result *a = &j->results[0], *b = &j->results[1];
	size_t note, block, mark, i;

	for (i = 0; i < 2; i++)
		run_engine(j->engines[i], j->code, &j->opt, trace, size, false, &j->results[i]);
	j->variants++;
	j->insns += a->insns;
	for (i = 0; i < a->nnotes; i++)
		j->gaps += a->notes[i].note.type == VT_PT_NOTE_ERROR;
	note = first_note(a, b);
	block = first_block(a, b);
	mark = first_mark(a, b);
	if (note == SIZE_MAX && block == SIZE_MAX && mark == SIZE_MAX)
		return true;
	printf("%zu and %zu blocks, %zu and %zu notes, %zu and %zu marks\n", a->nblocks, b->nblocks,
	       a->nnotes, b->nnotes, a->nmarks, b->nmarks);
	if (block != SIZE_MAX)
		print_around(j, print_block, block, 6);
	if (note != SIZE_MAX)
		print_around(j, print_note, note, 3);
	if (mark != SIZE_MAX)
		print_around(j, print_mark, mark, 3);
	return false;
}

/* ---- damage ------------------------------------------------------------------------ */

struct mutation {
	uint64_t seed;
	uint64_t count;
	uint64_t only; /* UINT64_MAX: all */
	size_t window;
	const char *write;
	const char *corpus;
};

/* A piece of the trace, from a PSB on. */
static void make_variant(struct victim *v, const uint8_t *trace, size_t size,
			 const struct mutation *m, uint64_t number)
{
	struct vt_rng rng;
	const uint8_t *from;
	unsigned n;

	vt_rng_init(&rng, m->seed * 1000003 + number);
	from = vt_pt_find_psb(trace + vt_rng_below(&rng, size), trace + size);
	if (!from || size <= m->window)
		from = trace;
	v->size = (size_t)(trace + size - from);
	if (v->size > m->window)
		v->size = 1 + vt_rng_below(&rng, m->window);
	v->data = grow(v->data, &v->cap, v->size, 1);
	memcpy(v->data, from, v->size);
	find_packets(v);
	for (n = 1 + (unsigned)vt_rng_below(&rng, 6); n; n--)
		damage(v, &rng);
}

static int by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* As fuzz_pt_both wants it: sections of code, then the trace. */
static void write_corpus(struct job *j, const struct victim *v, const char *path)
{
	struct result *r = &j->results[0];
	FILE *f = fopen(path, "wb");
	uint8_t bytes[4096 + 10];
	uint64_t end;
	size_t i = 0, n;
	unsigned k;

	if (!f)
		die("a corpus cannot be written");
	fputc(0, f);
	qsort(r->blocks, r->nblocks, sizeof(*r->blocks), by_address);
	while (i < r->nblocks) {
		uint64_t addr = r->blocks[i].addr;

		for (end = addr; i < r->nblocks && r->blocks[i].addr <= end + 16 &&
				 r->blocks[i].addr + r->blocks[i].size - addr < 4000;
		     i++) {
			if (r->blocks[i].addr + r->blocks[i].size > end)
				end = r->blocks[i].addr + r->blocks[i].size;
		}
		n = vt_pt_code_read(j->code, addr, bytes + 10, end + 16 - addr);
		for (k = 0; k < 8; k++)
			bytes[k] = (uint8_t)(addr >> 8 * k);
		bytes[8] = (uint8_t)n;
		bytes[9] = (uint8_t)(n >> 8);
		fwrite(bytes, 1, n + 10, f);
	}
	memset(bytes, 0, 10);
	fwrite(bytes, 1, 10, f);
	fwrite(v->data, 1, v->size, f);
	fclose(f);
}

static int mutate(struct job *j, const uint8_t *trace, size_t size, const struct mutation *m)
{
	struct victim v = {.size = 0};
	uint64_t i, different = 0;

	for (i = 0; i < m->count && size; i++) {
		if (m->only != UINT64_MAX && i != m->only)
			continue;
		make_variant(&v, trace, size, m, i);
		if (!compare(j, v.data, v.size)) {
			printf("variant %" PRIu64 " of seed %" PRIu64 " differs\n", i, m->seed);
			if (++different == 1 && m->write)
				break;
		}
	}
	if (m->write && i <= m->count) {
		FILE *f = fopen(m->write, "wb");

		if (!f || fwrite(v.data, 1, v.size, f) != v.size || fclose(f))
			die("a variant cannot be written");
	}
	if (m->corpus)
		write_corpus(j, &v, m->corpus);
	free(v.data);
	free(v.starts);
	free(v.ips);
	return different != 0;
}

/* ---- the command line -------------------------------------------------------------- */

static const struct vt_pt_engine_ops *engine_named(const char *name, size_t len)
{
	static const struct vt_pt_engine_ops *const all[] = {&vt_pt_libipt, &vt_pt_fast,
							     &vt_pt_careful};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strlen(all[i]->name) == len && !memcmp(all[i]->name, name, len))
			return all[i];
	}
	die("no such engine");
}

struct command {
	const char *images[MAX_SPECS];
	const char *pages[MAX_SPECS];
	size_t nimages, npages;
	const char *trace;
	struct mutation m;
};

static void take_option(struct job *j, struct command *c, char ***arg)
{
	const char *name = *(*arg)++, *value = **arg;

	if (!value)
		die("an option lacks its argument");
	++*arg;
	if (!strcmp(name, "--engines") && strchr(value, ',')) {
		const char *comma = strchr(value, ',');

		j->engines[0] = engine_named(value, (size_t)(comma - value));
		j->engines[1] = engine_named(comma + 1, strlen(comma + 1));
	} else if (!strcmp(name, "--image") && c->nimages < MAX_SPECS) {
		c->images[c->nimages++] = value;
	} else if (!strcmp(name, "--pages") && c->npages < MAX_SPECS) {
		c->pages[c->npages++] = value;
	} else if (!strcmp(name, "--model")) {
		j->opt.family = 6;
		j->opt.model = (uint8_t)strtoul(value, NULL, 0);
	} else if (!strcmp(name, "--window")) {
		c->m.window = strtoull(value, NULL, 0);
	} else if (!strcmp(name, "--only")) {
		c->m.only = strtoull(value, NULL, 0);
	} else if (!strcmp(name, "--write")) {
		c->m.write = value;
	} else if (!strcmp(name, "--corpus")) {
		c->m.corpus = value;
	} else if (!strcmp(name, "--mutate") && **arg) {
		c->m.seed = strtoull(value, NULL, 0);
		c->m.count = strtoull(*(*arg)++, NULL, 0);
	} else {
		die("unknown option");
	}
}

int main(int argc, char **argv)
{
	struct command c = {.m = {.only = UINT64_MAX, .window = 16384}};
	struct job j = {.engines = {&vt_pt_libipt, &vt_pt_fast}, .opt = {.clock = {3, 37, 308, 2}}};
	struct vt_pt_decode_options opt = {.images = c.images, .pages = c.pages};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_rawcode *code;
	uint8_t *trace;
	size_t size, i;
	int rc;

	for (argv++, argc--; *argv && !strncmp(*argv, "--", 2);)
		take_option(&j, &c, &argv);
	if (!*argv || argv[1])
		die("one trace is needed");
	opt.nimages = c.nimages;
	opt.npages = c.npages;
	code = vt_pt_rawcode_new(&opt, &err);
	if (!code)
		die(err.text);
	j.code = vt_pt_rawcode_code(code);
	trace = load_trace(*argv, &size);
	rc = c.m.only != UINT64_MAX || compare(&j, trace, size) ? 0 : 1;
	if (mutate(&j, trace, size, &c.m))
		rc = 1;
	printf("%" PRIu64 " traces, %" PRIu64 " instructions, %" PRIu64 " gaps: %s\n", j.variants,
	       j.insns, j.gaps, rc ? "different" : "the same");
	for (i = 0; i < 2; i++)
		free_result(&j.results[i]);
	free(trace);
	vt_pt_rawcode_free(code);
	return rc;
}
