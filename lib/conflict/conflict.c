/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/hash.h"
#include "conflict/conflict_internal.h"

/* ---- processors ---- */

#define FORWARD	 (1u << VT_CONFLICT_FORWARD)
#define ALIAS_4K (1u << VT_CONFLICT_ALIAS_4K)
#define ORDER	 (1u << VT_CONFLICT_ORDER)
#define SIZE	 (1u << VT_CONFLICT_SIZE)
#define SYNONYM	 (1u << VT_CONFLICT_SYNONYM)

/* What x86 processors of today have in common: each core's first cache, too. */
/* clang-format off */
#define TODAY \
	.late_address = true, .youngest = true, \
	.cache_size = 32768, .cache_ways = 8, .cache_line = 64

const struct vt_conflict_model *vt_conflict_model(const char *name)
{
	static const struct vt_conflict_model models[] = {
		{.name = "generic", .types = FORWARD | ALIAS_4K | ORDER,
		 .distance = 224, .stores = 56, TODAY},
		{.name = "skylake", .types = FORWARD | ALIAS_4K | ORDER,
		 .distance = 224, .stores = 56, TODAY},
		{.name = "zen4", .types = FORWARD | ORDER, .distance = 320, .stores = 64, TODAY},
		{.name = "alpha", .types = ORDER | SIZE | SYNONYM,
		 .distance = 80, .loads_distance = 128,
		 .cache_size = 65536, .cache_ways = 2, .cache_line = 64},
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (strcmp(models[i].name, name) == 0)
			return &models[i];
	return NULL;
}

int vt_conflict_model_cache(struct vt_conflict_model *m, const char *text, struct vt_error *err)
{
	uint32_t *const parts[] = {&m->cache_size, &m->cache_ways, &m->cache_line};
	uint32_t way;
	size_t i;

	if (!(m->types & SYNONYM))
		return vt_error_set(err, VT_E_USAGE, "the model %s has no conflicts of its cache",
				    m->name);
	for (i = 0; i < 3; i++) {
		char *end = (char *)text;
		unsigned long v = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

		if (i == 0 && (*end == 'k' || *end == 'K') && v <= 1u << 20) {
			v *= 1024;
			end++;
		}
		if (!v || v > 1u << 30 || *end != (i < 2 ? ':' : '\0'))
			return vt_error_set(err, VT_E_USAGE,
					    "SIZE:WAYS:LINE is wanted, as in 64k:2:64");
		*parts[i] = (uint32_t)v;
		text = end + 1;
	}
	way = m->cache_size / m->cache_ways;
	if ((m->cache_line & (m->cache_line - 1)) || way < m->cache_line || way % m->cache_line)
		return vt_error_set(err, VT_E_USAGE, "lines of %u bytes do not make ways of %u",
				    m->cache_line, way);
	return 0;
}

/* Whether a text holds a name, in capitals or not. */
static bool contains_name(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (; *text; text++)
		if (strncasecmp(text, name, n) == 0)
			return true;
	return false;
}

/* Intel's and AMD's event lists. */
bool vt_conflict_event_fits(enum vt_conflict type, const char *event)
{
	static const struct {
		enum vt_conflict type;
		const char *event;
	} known[] = {
		{VT_CONFLICT_FORWARD, "ld_blocks.store_forward"},
		{VT_CONFLICT_FORWARD, "load_blocks.store_forward"},
		{VT_CONFLICT_FORWARD, "ls_bad_status2.stli_other"},
		{VT_CONFLICT_ALIAS_4K, "ld_blocks_partial.address_alias"},
		{VT_CONFLICT_ALIAS_4K, "ld_blocks.address_alias"},
		{VT_CONFLICT_ORDER, "machine_clears.memory_ordering"},
		{VT_CONFLICT_ORDER, "machine_clears.disambiguation"},
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].type == type && contains_name(event, known[i].event))
			return true;
	return false;
}

/* ---- what an instruction does to registers ---- */

#define BIT(reg) (UINT64_C(1) << (reg))

static uint64_t plain_register_bit(unsigned reg)
{
	return reg < VT_NREGS && reg != VT_REG_IP ? BIT(reg) : 0;
}

static bool is_barrier(const struct vt_facts *f)
{
	static const char *const names[] = {"mfence", "cpuid", "serialize", "iretq", "rsm"};
	size_t i;

	if (f->flags & (VT_FACT_ATOMIC | VT_FACT_SYSCALL))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(f->mnemonic, names[i]) == 0)
			return true;
	return false;
}

/* xor, sub and the like of a register with itself: the result is the same whatever it held. */
static bool breaks_dependence(const struct vt_facts *f)
{
	static const char *const names[] = {"xor", "sub", "pxor", "vpxor", "xorps", "vxorps"};
	uint64_t read = f->reads & ~BIT(VT_REG_FLAGS);
	size_t i;

	if (f->nmemories || f->has_immediate || f->nresults != 1 || !read || (read & (read - 1)))
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(f->mnemonic, names[i]) == 0)
			return f->results[0].size >= 4;
	return false;
}

void vt_conflict_code_make(struct vt_conflict_code *code, const struct vt_facts *f)
{
	uint64_t kept = 0;
	unsigned i;

	memset(code, 0, sizeof(*code));
	code->slow = f->flags & VT_FACT_DIVIDE;
	code->barrier = is_barrier(f);
	code->repeated = f->flags & VT_FACT_REPEATED;
	for (i = 0; i < f->nmemories; i++) {
		const struct vt_memory *m = &f->memories[i];
		uint64_t regs = plain_register_bit(m->base) | plain_register_bit(m->index) |
				plain_register_bit(m->segment);

		code->loads |= m->read ? regs : 0;
		code->stores |= m->written ? regs : 0;
	}
	if (!breaks_dependence(f))
		code->reads = f->reads & ~BIT(VT_REG_IP);
	code->results = f->writes & ~BIT(VT_REG_IP);
	/* Of what a push, pop, call or leave writes, rsp is the one that facts keep out of results.
	 */
	code->updates = code->results & BIT(VT_REG_SP);
	for (i = 0; i < f->nresults; i++) {
		const struct vt_operand *r = &f->results[i];

		code->updates &= ~plain_register_bit(r->reg);
		if (r->reg < VT_REG_VECTOR && r->size < 4)
			kept |= plain_register_bit(r->reg);
	}
	if (f->flags & VT_FACT_STRING)
		code->updates |= code->results & (BIT(VT_REG_SI) | BIT(VT_REG_DI) | BIT(VT_REG_CX));
	code->results &= ~code->updates;
	if ((f->flags & VT_FACT_MASKED) || strncmp(f->mnemonic, "cmov", 4) == 0)
		kept = code->results;
	code->replaced = code->results & ~kept;
}

/* ---- the state of a search ---- */

/*
 * Accesses of the window are chained by where they lie, modulo a page or a cache's way: those that
 * may conflict with one share a chain with it, and most loads meet none.  Sizes are of memory and
 * time alone, but PAGE: addresses alias that have their last 12 bits in common (Intel's
 * optimization manual, 4-Kbyte aliasing).
 */
#define CHUNK	   64
#define PAGE	   4096
#define MAX_CHUNKS 1024
#define PAGE_MASK  (PAGE - 1u)
#define MAX_WINDOW 4096 /* accesses, a power of 2; older ones are forgotten */

/* An access in the window. */
struct access {
	uint64_t addr;
	uint64_t base;
	uint64_t number; /* of its instruction */
	uint32_t place;
	uint16_t size;
	bool store;
	uint64_t store_number; /* stores before it */
	uint64_t before[2];    /* the chains of its first and last byte go on there */
};

struct vt_conflicts {
	struct vt_conflict_model model;
	bool dependent;
	bool keep_loads; /* loads are among the earlier ones, too */
	uint64_t sets;	 /* of the cache */
	uint64_t window; /* instructions */
	uint64_t number; /* of the next instruction of the run */
	uint64_t serial; /* of executions, all runs */
	uint64_t nstores;
	uint64_t first, end; /* of `accesses`, modulo MAX_WINDOW; the first that ever was is 1 */
	struct access *accesses;
	uint64_t nchunks;	     /* a power of 2; 1: one chain of all */
	uint64_t chains[MAX_CHUNKS]; /* the youngest, by the number that counts in first and end */
	struct vti_depends depends;
	struct vt_hash pairs;
	uint64_t *executions; /* by place */
	size_t nexecutions;
	struct vt_conflict_totals totals;
};

/* ---- making one ---- */

static bool is_sensible(const struct vt_conflict_model *m)
{
	uint64_t way = m->cache_ways ? m->cache_size / m->cache_ways : 0;

	return m->distance && m->distance <= VT_CONFLICT_MAX_DISTANCE &&
	       m->loads_distance <= VT_CONFLICT_MAX_DISTANCE && m->cache_line &&
	       !(m->cache_line & (m->cache_line - 1)) && way >= m->cache_line &&
	       way % m->cache_line == 0;
}

/* Bytes of one page offset share a chunk, and so do lines of one set of the cache. */
static uint64_t count_chunks(const struct vt_conflicts *c)
{
	uint64_t n = PAGE / CHUNK;

	if (!c->keep_loads)
		return n;
	if (c->model.cache_line != CHUNK)
		return 1;
	if (c->model.types & 1u << VT_CONFLICT_ALIAS_4K)
		return c->sets % n ? 1 : n;
	for (n = MAX_CHUNKS; c->sets % n; n /= 2)
		;
	return n;
}

struct vt_conflicts *vt_conflicts_new(const struct vt_conflict_model *m, bool dependent,
				      struct vt_error *err)
{
	struct vt_conflicts *c;

	if (!is_sensible(m)) {
		vt_error_set(err, VT_E_USAGE, "a model of a processor that makes no sense");
		return NULL;
	}
	c = aligned_alloc(_Alignof(struct vt_conflicts), sizeof(*c));
	if (c) {
		memset(c, 0, sizeof(*c));
		c->model = *m;
		c->dependent = dependent;
		c->keep_loads = m->types & 1u << VT_CONFLICT_SYNONYM;
		c->sets = m->cache_size / m->cache_ways / m->cache_line;
		c->nchunks = count_chunks(c);
		c->first = c->end = 1;
		c->window = m->distance > m->loads_distance ? m->distance : m->loads_distance;
		c->accesses = calloc(MAX_WINDOW, sizeof(*c->accesses));
		vt_hash_init(&c->pairs, sizeof(struct vt_conflict_pair),
			     offsetof(struct vt_conflict_pair, count));
	}
	if (!c || !c->accesses || !vti_depends_init(&c->depends, c->window)) {
		vt_conflicts_free(c);
		vt_error_nomem(err);
		return NULL;
	}
	return c;
}

void vt_conflicts_free(struct vt_conflicts *c)
{
	if (!c)
		return;
	vti_depends_fini(&c->depends);
	vt_hash_fini(&c->pairs);
	free(c->accesses);
	free(c->executions);
	free(c);
}

/* ---- the window ---- */

static uint64_t *chain_of(struct vt_conflicts *c, uint64_t addr, uint64_t base)
{
	return &c->chains[(addr / CHUNK + base) & (c->nchunks - 1)];
}

static void remember_access(struct vt_conflicts *c, const struct vt_access *a, uint32_t place)
{
	uint64_t *first = chain_of(c, a->addr, a->base);
	uint64_t *last = chain_of(c, a->addr + a->size - 1, a->base);
	struct access *kept;

	if (c->end - c->first == MAX_WINDOW)
		c->first++;
	kept = &c->accesses[c->end % MAX_WINDOW];
	*kept = (struct access){.addr = a->addr,
				.base = a->base,
				.number = c->number,
				.place = place,
				.size = a->size,
				.store = a->store,
				.store_number = c->nstores,
				.before = {*first, *last}};
	*first = *last = c->end++;
	c->nstores += a->store;
}

void vt_conflicts_begin(struct vt_conflicts *c)
{
	c->first = c->end;
	c->number = 0;
	c->totals.runs++;
	vti_depends_begin(&c->depends);
}

/* ---- two accesses ---- */

/* An instruction that accesses memory, as the later one of pairs. */
struct later {
	const struct vt_access *access;
	uint32_t place;
	uint64_t left; /* bytes of a load that no store so far has */
	bool seen;     /* a store that has some of them */
	bool confused; /* a store that looks as if it had */
};

static bool accesses_overlap(const struct access *e, const struct vt_access *l)
{
	return e->addr - l->addr < l->size || l->addr - e->addr < e->size;
}

static bool contains_access(const struct access *e, const struct vt_access *l)
{
	return l->addr - e->addr < e->size && l->addr - e->addr + l->size <= e->size;
}

static bool overlap_in_page(const struct access *e, const struct vt_access *l)
{
	return ((e->addr - l->addr) & PAGE_MASK) < l->size ||
	       ((l->addr - e->addr) & PAGE_MASK) < e->size;
}

static bool crosses_unit(uint64_t addr, uint32_t size, uint32_t unit)
{
	return unit && addr / unit != (addr + size - 1) / unit;
}

/* Which bytes of a load a store has: bit n for byte n. */
static uint64_t get_common_bytes(const struct access *e, const struct vt_access *l)
{
	uint64_t mask = 0, n;

	if (contains_access(e, l))
		return UINT64_MAX;
	for (n = 0; n < l->size; n++)
		mask |= (uint64_t)(l->addr + n - e->addr < e->size) << n;
	return mask;
}

static bool is_within(const struct vt_conflicts *c, const struct access *e, bool later_stores)
{
	bool loads = !e->store && !later_stores;
	uint32_t bound =
		loads && c->model.loads_distance ? c->model.loads_distance : c->model.distance;

	if (c->number - e->number > bound)
		return false;
	return !e->store || !c->model.stores || c->nstores - e->store_number <= c->model.stores;
}

/* Whether what happens at the later access waits for the result of the earlier one anyway. */
static bool depends_on_earlier(const struct vt_conflicts *c, const struct access *e,
			       const struct vt_access *l)
{
	return vti_set_has(&c->depends, l->store ? &c->depends.all_access : &c->depends.load_access,
			   e->number);
}

static bool count_conflict(struct vt_conflicts *c, const struct later *l, const struct access *e,
			   enum vt_conflict type)
{
	struct vt_conflict_pair key = {.later = l->place, .earlier = e->place, .type = type};
	struct vt_conflict_pair *pair;
	uint64_t distance = c->number - e->number;

	if (!(c->model.types & 1u << type))
		return true;
	if (!c->dependent && depends_on_earlier(c, e, l->access)) {
		c->totals.ruled_out++;
		return true;
	}
	pair = vt_hash_add(&c->pairs, &key, NULL);
	if (!pair)
		return false;
	/* Met several times by one execution, the nearest counts, which comes first. */
	if (pair->count && pair->last == c->serial)
		return true;
	if (!pair->count || distance < pair->nearest)
		pair->nearest = distance;
	pair->count++;
	pair->distance += distance;
	pair->last = c->serial;
	return true;
}

/* ---- a load against the stores before it ---- */

static bool load_meets_bytes(struct vt_conflicts *c, struct later *l, const struct access *e)
{
	uint64_t bytes = get_common_bytes(e, l->access) & l->left;
	const struct vt_conflict_model *m = &c->model;
	bool first = !l->seen, ok = true;

	if (!bytes && m->youngest)
		return true;
	l->seen = true;
	l->left &= ~bytes;
	if (bytes)
		vti_depends_forward(&c->depends, e->number);
	if (!is_within(c, e, false))
		return true;
	if (first && (!contains_access(e, l->access) ||
		      crosses_unit(e->addr, e->size, e->base ? 0 : m->crossing)))
		ok = count_conflict(c, l, e, VT_CONFLICT_FORWARD);
	if (ok && e->size < l->access->size)
		ok = count_conflict(c, l, e, VT_CONFLICT_SIZE);
	if (ok && (!m->late_address || vti_depends_may_pass(&c->depends, e->number)))
		ok = count_conflict(c, l, e, VT_CONFLICT_ORDER);
	return ok;
}

static bool meet_synonym(struct vt_conflicts *c, const struct later *l, const struct access *e)
{
	uint64_t line = c->model.cache_line, a = e->addr / line, b = l->access->addr / line;

	/* Where lines begin is not known of what is relative: only ways apart are certain. */
	if (e->base && (e->addr - l->access->addr) % line)
		return true;
	if (a == b || a % c->sets != b % c->sets || !is_within(c, e, l->access->store))
		return true;
	return count_conflict(c, l, e, VT_CONFLICT_SYNONYM);
}

static bool meet_access(struct vt_conflicts *c, struct later *l, const struct access *e)
{
	if (c->keep_loads && !meet_synonym(c, l, e))
		return false;
	if (l->access->store || !e->store)
		return true;
	if (accesses_overlap(e, l->access))
		return load_meets_bytes(c, l, e);
	/* The youngest store that seems to have the bytes is the one that is looked at. */
	if (!l->confused && !l->seen && overlap_in_page(e, l->access)) {
		l->confused = true;
		if (is_within(c, e, false))
			return count_conflict(c, l, e, VT_CONFLICT_ALIAS_4K);
	}
	return true;
}

/* An access whose bytes are known, against the window, the youngest first.  *forwarded: where it
 * has looked, whether stores have all of its bytes. */
static bool look_back(struct vt_conflicts *c, const struct vt_access *a, uint32_t place,
		      bool *forwarded)
{
	const uint64_t *const chains[] = {chain_of(c, a->addr, a->base),
					  chain_of(c, a->addr + a->size - 1, a->base)};
	uint64_t at[] = {*chains[0], *chains[1]}, i;
	struct later l = {.access = a, .place = place};

	l.left = a->size < 64 ? (UINT64_C(1) << a->size) - 1 : UINT64_MAX;
	if (a->store && !c->keep_loads)
		return true;
	while ((i = at[0] > at[1] ? at[0] : at[1]) >= c->first) {
		const struct access *e = &c->accesses[i % MAX_WINDOW];
		int k;

		if (e->number != c->number && e->base == a->base && !meet_access(c, &l, e))
			return false;
		if (!l.left && c->model.youngest)
			break;
		for (k = 0; k < 2; k++)
			if (at[k] == i)
				at[k] = e->before[chain_of(c, e->addr, e->base) != chains[k]];
	}
	*forwarded = !l.left;
	return true;
}

/* ---- instructions ---- */

static bool count_execution(struct vt_conflicts *c, uint32_t place)
{
	size_t had = c->nexecutions;

	if (place >= had) {
		if (!vt_array_grow(&c->executions, &c->nexecutions, (size_t)place + 1,
				   sizeof(*c->executions)))
			return false;
		memset(c->executions + had, 0, (c->nexecutions - had) * sizeof(*c->executions));
	}
	c->executions[place]++;
	return true;
}

static bool take_accesses(struct vt_conflicts *c, const struct vt_conflict_code *code,
			  const struct vt_access *accesses, size_t n)
{
	bool forwarded;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct vt_access *a = &accesses[i];
		bool apart = code->repeated || code->barrier || a->size > VT_CONFLICT_MAX_ACCESS ||
			     !a->size;

		c->totals.accesses++;
		c->totals.known += a->known && !a->base;
		c->totals.relative += a->known && a->base;
		c->totals.apart += a->known && apart;
		forwarded = false;
		if (a->known && !apart && !look_back(c, a, code->place, &forwarded))
			return false;
		if (a->store)
			vti_depends_store(&c->depends);
		else
			vti_depends_load(&c->depends, a, forwarded);
		if (a->known && !apart && (a->store || c->keep_loads))
			remember_access(c, a, code->place);
	}
	return true;
}

int vt_conflicts_insn(struct vt_conflicts *c, const struct vt_conflict_code *code,
		      const struct vt_access *accesses, size_t n, struct vt_error *err)
{
	bool ok = true;

	c->totals.insns++;
	c->serial++;
	while (c->first < c->end &&
	       c->number - c->accesses[c->first % MAX_WINDOW].number > c->window)
		c->first++;
	vti_depends_open(&c->depends, c->number, code, n);
	if (n)
		ok = count_execution(c, code->place) && take_accesses(c, code, accesses, n);
	vti_depends_close(&c->depends, code);
	if (code->barrier)
		c->first = c->end;
	c->number++;
	return ok ? 0 : vt_error_nomem(err);
}

size_t vt_conflicts_count(const struct vt_conflicts *c)
{
	return c->pairs.count;
}

const struct vt_conflict_pair *vt_conflicts_at(const struct vt_conflicts *c, size_t i)
{
	return vt_hash_at(&c->pairs, i);
}

uint64_t vt_conflicts_executions(const struct vt_conflicts *c, uint32_t place)
{
	return place < c->nexecutions ? c->executions[place] : 0;
}

const struct vt_conflict_totals *vt_conflicts_totals(const struct vt_conflicts *c)
{
	return &c->totals;
}
