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
#include "base/rng.h"
#include "formats/pt/packet.h"
#include "formats/pt/rawcode.h"
#include "tests/tools/pt_engines.h"

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

/* A trace that is being damaged. */
struct victim {
	uint8_t *data;
	size_t size;
	size_t cap;
	size_t *starts; /* of packets, before the damage */
	size_t nstarts;
	size_t starts_cap;
	uint64_t *ips; /* addresses that the trace tells */
	size_t nips;
	size_t ips_cap;
};

static void find_packets(struct victim *v)
{
	struct vt_pt_packet p;
	uint64_t last = 0;
	size_t at = 0;

	v->nstarts = v->nips = 0;
	while (at < v->size) {
		int n = vt_pt_packet_read(&p, v->data + at, v->data + v->size, 0);

		if (n <= 0) {
			at++;
			continue;
		}
		v->starts = grow(v->starts, &v->starts_cap, v->nstarts + 1, sizeof(*v->starts));
		v->starts[v->nstarts++] = at;
		if (p.kind == VT_PT_PSB)
			last = 0;
		if ((p.kind == VT_PT_TIP || p.kind == VT_PT_FUP || p.kind == VT_PT_TIP_PGE ||
		     p.kind == VT_PT_TIP_PGD) &&
		    vt_pt_ip_update(&last, &p)) {
			v->ips = grow(v->ips, &v->ips_cap, v->nips + 1, sizeof(*v->ips));
			v->ips[v->nips++] = last;
		}
		at += (size_t)n;
	}
}

static void splice(struct victim *v, size_t at, size_t gone, const uint8_t *bytes, size_t n)
{
	if (at > v->size)
		at = v->size;
	if (gone > v->size - at)
		gone = v->size - at;
	v->data = grow(v->data, &v->cap, v->size + n, 1);
	memmove(v->data + at + n, v->data + at + gone, v->size - at - gone);
	if (n)
		memcpy(v->data + at, bytes, n);
	v->size = v->size - gone + n;
}

static size_t a_place(const struct victim *v, struct vt_rng *rng)
{
	if (v->nstarts && vt_rng_below(rng, 4)) {
		size_t at = v->starts[vt_rng_below(rng, v->nstarts)];

		return at < v->size ? at : v->size;
	}
	return vt_rng_below(rng, v->size + 1);
}

static size_t put_ip(uint8_t *out, uint8_t opcode, const struct victim *v, struct vt_rng *rng)
{
	static const uint8_t sizes[] = {0, 2, 4, 6, 6, 0, 8, 0};
	uint64_t ip = v->nips ? v->ips[vt_rng_below(rng, v->nips)] : 0;
	unsigned ipc = (unsigned)vt_rng_below(rng, 16), i;

	ipc = ipc < 8 ? ipc : ipc < 12 ? 3 : 6;
	if (!vt_rng_below(rng, 4))
		ip += vt_rng_below(rng, 16);
	out[0] = (uint8_t)(opcode | ipc << 5);
	for (i = 0; i < sizes[ipc]; i++)
		out[1 + i] = (uint8_t)(ip >> 8 * i);
	return 1 + sizes[ipc];
}

/* A packet, more or less well-formed. */
static size_t make_packet(uint8_t *out, const struct victim *v, struct vt_rng *rng)
{
	static const struct {
		uint8_t size;
		uint8_t bytes[3];
		uint8_t fixed;
	} plain[] = {
		{2, {0x02, 0xf3}, 2}, /* OVF */
		{2, {0x02, 0xf3}, 2},  {2, {0x02, 0x23}, 2},  {2, {0x02, 0x83}, 2},
		{4, {0x02, 0x03}, 2},  {7, {0x02, 0x73}, 2},  {8, {0x02, 0x43}, 2},
		{7, {0x02, 0xc8}, 2},  {8, {0x02, 0xa3}, 2},  {11, {0x02, 0xc3, 0x88}, 3},
		{6, {0x02, 0x12}, 2},  {10, {0x02, 0x32}, 2}, {6, {0x02, 0x92}, 2},
		{10, {0x02, 0xb2}, 2}, {2, {0x02, 0x62}, 2},  {2, {0x02, 0xe2}, 2},
		{10, {0x02, 0xc2}, 2}, {4, {0x02, 0x22}, 2},  {7, {0x02, 0xa2}, 2},
		{2, {0x99, 0x01}, 2},  {2, {0x99, 0x02}, 2},  {2, {0x99, 0x00}, 2},
		{2, {0x99, 0x21}, 2},  {2, {0x99, 0x22}, 2},  {2, {0x99, 0x20}, 2},
		{8, {0x19}, 1},	       {2, {0x59}, 1},	      {1, {0x03}, 0},
		{3, {0x02, 0x63}, 2},  {4, {0x02, 0x13}, 2},  {1, {0x00}, 1},
		{1, {0x00}, 0},
	};
	static const uint8_t ips[] = {0x0d, 0x11, 0x01, 0x1d, 0x1d};
	unsigned what = (unsigned)vt_rng_below(rng, 56), i;
	size_t n;

	if (what < sizeof(plain) / sizeof(plain[0])) {
		for (i = 0; i < plain[what].size; i++)
			out[i] = i < plain[what].fixed ? plain[what].bytes[i]
						       : (uint8_t)vt_rng_next(rng);
		/* What is reserved is mostly 0. */
		if (plain[what].bytes[1] == 0x73)
			out[4] = out[6] = 0;
		return plain[what].size;
	}
	if (what < 36) {
		out[0] = (uint8_t)(vt_rng_next(rng) & 0xf8) | 3;
		return 1;
	}
	if (what < 40) {
		out[0] = (uint8_t)(vt_rng_next(rng) & 0xfe);
		return 1;
	}
	if (what < 44) {
		for (i = 0; i < VT_PT_PSB_SIZE; i++)
			out[i] = i & 1 ? 0x82 : 0x02;
		n = VT_PT_PSB_SIZE;
		if (vt_rng_below(rng, 2)) {
			out[n++] = 0x99;
			out[n++] = (uint8_t)(vt_rng_below(rng, 4));
		}
		if (vt_rng_below(rng, 2))
			n += put_ip(out + n, 0x1d, v, rng);
		out[n++] = 0x02;
		out[n++] = 0x23;
		return n;
	}
	return put_ip(out, ips[what % sizeof(ips)], v, rng);
}

static void damage(struct victim *v, struct vt_rng *rng)
{
	size_t at = a_place(v, rng), to = a_place(v, rng), n, i;
	uint8_t bytes[256];

	switch (vt_rng_below(rng, 10)) {
	case 0: /* a bit */
		if (at < v->size)
			v->data[at] ^= (uint8_t)(1u << vt_rng_below(rng, 8));
		break;
	case 1: /* a byte */
		bytes[0] = (uint8_t)vt_rng_next(rng);
		splice(v, at, 1, bytes, 1);
		break;
	case 2: /* something is missing */
		splice(v, at, 1 + vt_rng_below(rng, vt_rng_below(rng, 2) ? 8 : 2048), NULL, 0);
		break;
	case 3: /* noise */
		n = 1 + vt_rng_below(rng, 8);
		for (i = 0; i < n; i++)
			bytes[i] = (uint8_t)vt_rng_next(rng);
		splice(v, at, vt_rng_below(rng, 2) * n, bytes, n);
		break;
	case 4: /* something comes again */
		n = 1 + vt_rng_below(rng, sizeof(bytes));
		if (to + n > v->size)
			break;
		memcpy(bytes, v->data + to, n);
		splice(v, at, vt_rng_below(rng, 2) * n, bytes, n);
		break;
	case 5: /* the end is missing */
		if (!vt_rng_below(rng, 4))
			v->size = at;
		break;
	case 6: /* packets are missing */
		if (at < to && to - at < 64)
			splice(v, at, to - at, NULL, 0);
		break;
	default: /* a packet too many, or instead of others */
		n = make_packet(bytes, v, rng);
		splice(v, at, vt_rng_below(rng, 3) ? 0 : n, bytes, n);
		break;
	}
}

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
