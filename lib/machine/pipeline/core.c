/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/core.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "machine/pipeline/core_text.h"

#define MAX_TEXT  (64u << 10) /* bytes of a description */
#define MAX_WORDS 24	      /* of a line: a unit and all classes fit */
#define MAX_WORD  31

/* The table of timings of this name, static; NULL: there is none. */
static const struct vti_text *find_timing_table(const char *name)
{
	const struct vti_text *t;

	for (t = vti_timing_texts; t->name; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

/* ---- what a line may say ---- */

static const char *const class_names[VT_NOPCLASSES] = {
	[VT_OP_NOP] = "nop",	       [VT_OP_INT] = "int",	  [VT_OP_SHIFT] = "shift",
	[VT_OP_MULTIPLY] = "multiply", [VT_OP_DIVIDE] = "divide", [VT_OP_LOAD] = "load",
	[VT_OP_STORE] = "store",       [VT_OP_BRANCH] = "branch", [VT_OP_FADD] = "fadd",
	[VT_OP_FMUL] = "fmul",	       [VT_OP_FDIV] = "fdiv",	  [VT_OP_VINT] = "vint",
	[VT_OP_SHUFFLE] = "shuffle",   [VT_OP_SYNC] = "sync",	  [VT_OP_SLOW] = "slow",
};

const char *vt_op_class_name(unsigned op_class)
{
	return op_class < VT_NOPCLASSES ? class_names[op_class] : "?";
}

static const char *const predictors[] = {"none", "bimodal", "gshare", "tournament", NULL};

/* A number of struct vt_core; `key` is NULL for those that stand alone after the line's name. */
struct field {
	const char *line;
	const char *key;
	size_t offset;
	uint32_t max;
};

#define FIELD(row, key, member, max)                                                               \
	{                                                                                          \
		row, key, offsetof(struct vt_core, member), max                                    \
	}

/* A number of a cache or TLB, which is the member `part` of struct vt_core. */
#define PART_FIELD(row, key, part, type, member, max)                                              \
	{                                                                                          \
		row, key, offsetof(struct vt_core, part) + offsetof(struct type, member), max      \
	}

/* clang-format off */
#define CACHE_FIELDS(row, cache)                                           \
	PART_FIELD(row, "size", cache, vt_cache_shape, size, 1u << 30),    \
	PART_FIELD(row, "line", cache, vt_cache_shape, line, 4096),        \
	PART_FIELD(row, "ways", cache, vt_cache_shape, ways, 1024),        \
	PART_FIELD(row, "latency", cache, vt_cache_shape, latency, 10000), \
	PART_FIELD(row, "misses", cache, vt_cache_shape, misses, 1024)

#define TLB_FIELDS(row, tlb)                                               \
	PART_FIELD(row, "entries", tlb, vt_tlb_shape, entries, 1u << 16),  \
	PART_FIELD(row, "ways", tlb, vt_tlb_shape, ways, 1024),            \
	PART_FIELD(row, "page", tlb, vt_tlb_shape, page, 1u << 30),        \
	PART_FIELD(row, "latency", tlb, vt_tlb_shape, latency, 10000)
/* clang-format on */

static const struct field fields[] = {
	FIELD("skid", NULL, skid, 1000),
	FIELD("fetch", NULL, fetch, 64),
	FIELD("fetch", "bytes", fetch_bytes, 256),
	FIELD("fetch", "predecode", predecode, 64),
	FIELD("fetch", "queue", fetch_queue, 256),
	FIELD("fetch", "decoders", decoders, 64),
	FIELD("fetch", "slots", decoded, 64),
	FIELD("fetch", "pop", pop_first, 1),
	FIELD("fetch", "prefix", prefix, 64),
	FIELD("decode", NULL, decode, 64),
	FIELD("issue", NULL, issue, 64),
	FIELD("retire", NULL, retire, 64),
	FIELD("front", NULL, front, 100),
	FIELD("rob", NULL, rob, 4096),
	FIELD("queue", NULL, queue, 4096),
	FIELD("loads", NULL, loads, 4096),
	FIELD("stores", NULL, stores, 4096),
	FIELD("stores", "written", written, 64),
	FIELD("registers", "int", int_registers, 4096),
	FIELD("registers", "fp", fp_registers, 4096),
	FIELD("write-buffer", "entries", write_buffer, 1024),
	FIELD("write-buffer", "drain", drain, 10000),
	FIELD("banks", NULL, banks, 4096),
	FIELD("pointer", "latency", pointer, 1000),
	FIELD("stack", "sync", stack_sync, 64),
	FIELD("high-byte", NULL, high_byte, 64),
	FIELD("scaled-index", NULL, scaled_index, 64),
	FIELD("forward", "latency", forward, 1000),
	FIELD("forward", "blocked", blocked, 1000),
	FIELD("branch", "bits", predictor_bits, 24),
	FIELD("branch", "history", history, 64),
	FIELD("branch", "targets", btb, 1u << 16),
	FIELD("branch", "returns", returns, 1024),
	FIELD("branch", "penalty", mispredict, 1000),
	CACHE_FIELDS("icache", icache),
	CACHE_FIELDS("dcache", dcache),
	CACHE_FIELDS("l2", l2),
	CACHE_FIELDS("l3", l3),
	FIELD("memory", "latency", memory, 100000),
	TLB_FIELDS("itlb", itlb),
	TLB_FIELDS("dtlb", dtlb),
	TLB_FIELDS("stlb", stlb),
};

/* ---- reading lines ---- */

struct reader {
	struct vt_core *m;
	const char *name; /* of the file, for messages */
	unsigned line;
	unsigned nwords;
	char words[MAX_WORDS][MAX_WORD + 1];
	struct vt_error *err;
};

static int report_line(struct reader *r, const char *what, const char *word)
{
	return vt_error_set(r->err, VT_E_FORMAT, "%s: line %u: %s%s%s%s", r->name, r->line, what,
			    *word ? " \"" : "", word, *word ? "\"" : "");
}

/* Words are printable ASCII, so that messages can repeat them. */
static int split_line(struct reader *r, const char *p, const char *end)
{
	r->nwords = 0;
	while (p < end && *p != '#') {
		size_t n = 0;

		if (*p == ' ' || *p == '\t' || *p == '\r') {
			p++;
			continue;
		}
		if (r->nwords == MAX_WORDS)
			return report_line(r, "too many words", "");
		for (; p<end && * p> ' ' && *p < 0x7f && *p != '#'; p++) {
			if (n == MAX_WORD)
				return report_line(r, "a word is too long", "");
			r->words[r->nwords][n++] = *p;
		}
		if (!n)
			return report_line(r, "a byte is not printable ASCII", "");
		r->words[r->nwords++][n] = 0;
	}
	return 0;
}

/* Decimal, with K or M for 1024 and its square. */
static int parse_core_number(struct reader *r, const char *word, uint32_t max, uint32_t *v)
{
	const char *p = word;
	char what[64];
	uint64_t n = 0;

	for (; isdigit((unsigned char)*p); p++)
		if (n <= UINT32_MAX)
			n = n * 10 + (uint64_t)(*p - '0');
	if (p == word)
		return report_line(r, "not a number:", word);
	if (*p == 'K' || *p == 'M') {
		n <<= *p == 'K' ? 10 : 20;
		p++;
	}
	if (*p)
		return report_line(r, "not a number:", word);
	if (n > max) {
		snprintf(what, sizeof(what), "too large a number (at most %" PRIu32 "):", max);
		return report_line(r, what, word);
	}
	*v = (uint32_t)n;
	return 0;
}

static int op_class(struct reader *r, const char *word, unsigned *c)
{
	for (*c = 0; *c < VT_NOPCLASSES; ++*c)
		if (strcmp(word, class_names[*c]) == 0)
			return 0;
	return report_line(r, "not a class of operations:", word);
}

static int parse_choice(struct reader *r, const char *word, const char *const *choices,
			unsigned *chosen)
{
	for (*chosen = 0; choices[*chosen]; ++*chosen)
		if (strcmp(word, choices[*chosen]) == 0)
			return 0;
	return report_line(r, "not one of the choices:", word);
}

/* unit NAME CLASS... */
static int parse_unit(struct reader *r)
{
	struct vt_unit *u = &r->m->units[r->m->nunits];
	unsigned i, c;
	int e;

	if (r->nwords < 2)
		return report_line(r, "a unit needs a name", "");
	if (r->m->nunits == VT_CORE_UNITS)
		return report_line(r, "too many units", "");
	if (strlen(r->words[1]) >= sizeof(u->name))
		return report_line(r, "too long a name:", r->words[1]);
	for (i = 0; i < r->m->nunits; i++)
		if (strcmp(r->m->units[i].name, r->words[1]) == 0)
			return report_line(r, "a second unit", r->words[1]);
	memset(u, 0, sizeof(*u));
	memcpy(u->name, r->words[1], strlen(r->words[1]));
	for (i = 2; i < r->nwords; i++) {
		e = op_class(r, r->words[i], &c);
		if (e < 0)
			return e;
		u->classes |= 1u << c;
	}
	r->m->nunits++;
	return 0;
}

/* class NAME LATENCY [BUSY] */
static int parse_class(struct reader *r)
{
	uint32_t latency = 0, busy = 1;
	unsigned c;
	int e;

	if (r->nwords != 3 && r->nwords != 4)
		return report_line(r, "a class has a latency, and perhaps for how long it is busy",
				   "");
	e = op_class(r, r->words[1], &c);
	if (e == 0)
		e = parse_core_number(r, r->words[2], 10000, &latency);
	if (e == 0 && r->nwords == 4)
		e = parse_core_number(r, r->words[3], 10000, &busy);
	if (e < 0)
		return e;
	r->m->classes[c].latency = (uint16_t)latency;
	r->m->classes[c].busy = (uint16_t)busy;
	return 0;
}

/* The bits of several choices, in their order. */
static int parse_choices(struct reader *r, const char *const *kinds, uint8_t *bits)
{
	unsigned i, chosen;
	int e = 0;

	*bits = 0;
	for (i = 1; e == 0 && i < r->nwords; i++) {
		e = parse_choice(r, r->words[i], kinds, &chosen);
		if (e == 0)
			*bits |= (uint8_t)(1u << chosen);
	}
	return e;
}

/* eliminate [int] [vector] [add] [load] */
static int parse_eliminate(struct reader *r)
{
	static const char *const kinds[] = {"int", "vector", "add", "load", NULL};

	return parse_choices(r, kinds, &r->m->eliminates);
}

/* fuse [int] [shift] */
static int parse_fuse(struct reader *r)
{
	static const char *const kinds[] = {"int", "shift", NULL};

	return parse_choices(r, kinds, &r->m->fuses);
}

/* merge MNEMONIC... */
static int parse_merge(struct reader *r)
{
	size_t at = 0, n;
	unsigned i;

	memset(r->m->merges, 0, sizeof(r->m->merges));
	for (i = 1; i < r->nwords; i++) {
		n = strlen(r->words[i]);
		if (at + n + 2 > sizeof(r->m->merges))
			return report_line(r, "too many mnemonics", "");
		if (at)
			r->m->merges[at++] = ' ';
		memcpy(r->m->merges + at, r->words[i], n);
		at += n;
	}
	return 0;
}

/* What is neither a number nor starts a list; 1: it is none of these. */
static int parse_word(struct reader *r)
{
	static const char *const orders[] = {"in", "out", NULL};
	static const char *const attributions[] = {"issue", "commit", NULL};
	static const char *const indexed[] = {"fused", "new", "all", NULL};
	const char *key = r->words[0], *word = r->words[1];
	unsigned chosen;
	int e;

	if (r->nwords != 2)
		return 1;
	if (strcmp(key, "order") == 0) {
		e = parse_choice(r, word, orders, &chosen);
		if (e == 0)
			r->m->order = (enum vt_order)chosen;
		return e;
	}
	if (strcmp(key, "sample") == 0) {
		e = parse_choice(r, word, attributions, &chosen);
		if (e == 0)
			r->m->attribution = (enum vt_attribution)chosen;
		return e;
	}
	if (strcmp(key, "indexed") == 0) {
		e = parse_choice(r, word, indexed, &chosen);
		if (e == 0)
			r->m->indexed = (enum vt_indexed)chosen;
		return e;
	}
	if (strcmp(key, "timing") == 0) {
		r->m->table = find_timing_table(word);
		if (!r->m->table)
			return report_line(r, "no such table of timings:", word);
		memset(r->m->timing, 0, sizeof(r->m->timing));
		memcpy(r->m->timing, word, strlen(word));
		return 0;
	}
	return 1;
}

static int parse_field(struct reader *r, const char *key, const char *word)
{
	size_t i;
	uint32_t v;
	int e;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const struct field *f = &fields[i];

		if (strcmp(f->line, r->words[0]) != 0 || !f->key != !key ||
		    (key && strcmp(f->key, key) != 0))
			continue;
		e = parse_core_number(r, word, f->max, &v);
		if (e == 0)
			memcpy((char *)r->m + f->offset, &v, sizeof(v));
		return e;
	}
	return report_line(r, "unknown:", key ? key : r->words[0]);
}

static int parse_line(struct reader *r)
{
	unsigned i = 1, chosen;
	int e;

	if (strcmp(r->words[0], "unit") == 0)
		return parse_unit(r);
	if (strcmp(r->words[0], "class") == 0)
		return parse_class(r);
	if (strcmp(r->words[0], "merge") == 0)
		return parse_merge(r);
	if (strcmp(r->words[0], "eliminate") == 0)
		return parse_eliminate(r);
	if (strcmp(r->words[0], "fuse") == 0)
		return parse_fuse(r);
	e = parse_word(r);
	if (e != 1)
		return e;
	if (r->nwords == 2)
		return parse_field(r, NULL, r->words[1]);
	if (strcmp(r->words[0], "branch") == 0 && r->nwords > 1) {
		e = parse_choice(r, r->words[1], predictors, &chosen);
		if (e < 0)
			return e;
		r->m->predictor = (enum vt_predictor)chosen;
		i = 2;
	}
	if (r->nwords == 1 || (r->nwords - i) % 2)
		return report_line(r, "a value is missing after", r->words[r->nwords - 1]);
	for (e = 0; e == 0 && i < r->nwords; i += 2)
		e = parse_field(r, r->words[i], r->words[i + 1]);
	return e;
}

/* ---- what a machine must have ---- */

static bool is_power_of_2(uint32_t v)
{
	return v && !(v & (v - 1));
}

static const char *cache_fault(const struct vt_cache_shape *c)
{
	uint64_t set = (uint64_t)c->line * c->ways;

	if (!c->size)
		return NULL;
	if (!is_power_of_2(c->line) || c->line < 8)
		return "a cache's line is no power of 2";
	if (!set || c->size % set)
		return "a cache is no multiple of line times ways";
	return NULL;
}

static const char *tlb_fault(const struct vt_tlb_shape *t)
{
	if (!t->entries)
		return NULL;
	if (!is_power_of_2(t->page) || t->page < 1024)
		return "a TLB's page is no power of 2";
	if (!t->ways || t->entries % t->ways)
		return "a TLB is no multiple of its ways";
	return NULL;
}

/* Eight registers more than those of the instruction set let anything be renamed. */
#define MIN_REGISTERS 40

static const char *queue_fault(const struct vt_core *m)
{
	if (m->order == VT_IN_ORDER)
		return NULL;
	if (m->rob < m->decode || !m->queue || !m->loads || !m->stores)
		return "out of order needs rob, queue, loads and stores";
	if (m->int_registers < MIN_REGISTERS || m->fp_registers < MIN_REGISTERS)
		return "out of order needs at least 40 registers of each kind";
	return NULL;
}

static int check_core(const struct vt_core *m, const char *name, struct vt_error *err)
{
	const struct vt_cache_shape caches[] = {m->icache, m->dcache, m->l2, m->l3};
	const struct vt_tlb_shape tlbs[] = {m->itlb, m->dtlb, m->stlb};
	const char *fault = queue_fault(m);
	uint32_t classes = 0;
	unsigned i;

	if (!m->fetch || !m->decode || !m->issue || !m->retire)
		fault = "fetch, decode, issue and retire must be at least 1";
	for (i = 0; !fault && i < sizeof(caches) / sizeof(*caches); i++)
		fault = cache_fault(&caches[i]);
	for (i = 0; !fault && i < sizeof(tlbs) / sizeof(*tlbs); i++)
		fault = tlb_fault(&tlbs[i]);
	if (fault)
		return vt_error_set(err, VT_E_FORMAT, "%s: %s", name, fault);
	for (i = 0; i < m->nunits; i++)
		classes |= m->units[i].classes;
	for (i = 0; i < VT_NOPCLASSES; i++)
		if (i != VT_OP_NOP && !(classes & 1u << i))
			return vt_error_set(err, VT_E_FORMAT, "%s: no unit does \"%s\"", name,
					    class_names[i]);
	return 0;
}

static int parse_core(struct vt_core *m, const char *name, const char *text, size_t size,
		      struct vt_error *err)
{
	struct reader r = {.m = m, .name = name, .err = err};
	const char *p = text, *end = text + size;
	unsigned i;
	int e;

	for (i = 0; i < VT_NOPCLASSES; i++)
		m->classes[i].latency = m->classes[i].busy = 1;
	while (p < end) {
		const char *next = memchr(p, '\n', (size_t)(end - p));
		const char *stop = next ? next : end;

		r.line++;
		e = split_line(&r, p, stop);
		if (e == 0 && r.nwords)
			e = parse_line(&r);
		if (e < 0)
			return e;
		p = next ? next + 1 : end;
	}
	return check_core(m, name, err);
}

/* ---- where descriptions come from ---- */

const char *vt_core_name(size_t i)
{
	size_t n;

	for (n = 0; vti_core_texts[n].name; n++)
		if (n == i)
			return vti_core_texts[n].name;
	return NULL;
}

static int report_unknown_core(const char *name, struct vt_error *err)
{
	char known[VT_ERROR_SIZE / 2] = "";
	size_t i, n = 0;

	for (i = 0; vti_core_texts[i].name && n < sizeof(known); i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", i ? ", " : "",
				      vti_core_texts[i].name);
	return vt_error_set(
		err, VT_E_NOTFOUND,
		"%.64s: no such machine; there are %s, and files with a / in their name", name,
		known);
}

static int load_file(struct vt_core *m, const char *path, struct vt_error *err)
{
	const char *base = strrchr(path, '/') + 1;
	size_t have = 0, n = strcspn(base, ".");
	struct vt_input in;
	int e = vt_input_open(&in, path, err);

	if (e < 0)
		return e;
	memcpy(m->name, base, n < sizeof(m->name) ? n : sizeof(m->name) - 1);
	e = vt_input_fill(&in, MAX_TEXT + 1, &have, err);
	if (e == 0 && have > MAX_TEXT)
		e = vt_error_set(err, VT_E_FORMAT, "%s: too large for a machine's description",
				 path);
	if (e == 0)
		e = parse_core(m, path, (const char *)vt_input_data(&in), have, err);
	vt_input_close(&in);
	return e;
}

int vt_core_load(struct vt_core *m, const char *name, struct vt_error *err)
{
	const struct vti_text *t;

	memset(m, 0, sizeof(*m));
	if (strchr(name, '/'))
		return load_file(m, name, err);
	for (t = vti_core_texts; t->name; t++) {
		if (strcmp(t->name, name) != 0)
			continue;
		snprintf(m->name, sizeof(m->name), "%s", name);
		return parse_core(m, name, t->text, t->size, err);
	}
	return report_unknown_core(name, err);
}
