/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random code with random accesses, against an oracle that keeps for each register and each
 * instruction, however long ago, what they depend on and wait for, and looks at all pairs byte by
 * byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "conflict/conflict.h"

#define NINSNS 500
#define NREGS  6
#define LINE   64

struct step {
	struct vt_conflict_code code;
	struct vt_access accesses[2];
	size_t n;
};

/* A set of instructions. */
struct set {
	uint8_t has[NINSNS];
};

struct oracle {
	const struct vt_conflict_model *m;
	const struct step *steps;
	int at;
	int begin; /* of the run */
	int floor; /* nothing before it is in flight */
	struct set access[NREGS];
	struct set late[NREGS];
	struct set data[NINSNS];
	struct set data_late[NINSNS];
	struct set address_late[NINSNS];
	uint8_t told[VT_NCONFLICTS][NINSNS][NINSNS];
	uint64_t ruled_out;
	/* Of the instruction at hand. */
	struct set load_access, load_late, store_late, all, all_late, loaded, loaded_late;
};

static void join(struct set *to, const struct set *from)
{
	int i;

	for (i = 0; i < NINSNS; i++)
		to->has[i] |= from->has[i];
}

static struct set gather(const struct set *of, uint64_t regs)
{
	struct set s = {{0}};
	int r;

	for (r = 0; r < NREGS; r++)
		if (regs >> r & 1)
			join(&s, &of[r]);
	return s;
}

/* ---- code ---- */

static uint64_t some_registers(struct vt_rng *rng)
{
	return UINT64_C(1) << vt_rng_below(rng, NREGS);
}

static struct vt_access some_access(struct vt_rng *rng, uint64_t pages, bool store)
{
	return (struct vt_access){.addr = 0x10000 + 4096 * vt_rng_below(rng, pages) +
					  vt_rng_below(rng, 2) * 64 + vt_rng_below(rng, 72),
				  .size = (uint16_t)(1u << vt_rng_below(rng, 6)),
				  .store = store,
				  .known = vt_rng_below(rng, 10) != 0};
}

static void make_step(struct step *s, uint32_t place, uint64_t pages, struct vt_rng *rng)
{
	struct vt_conflict_code *c = &s->code;
	uint64_t kind = vt_rng_below(rng, 12);
	bool loads = kind < 4 || kind == 8, stores = (kind >= 4 && kind < 7) || kind == 8;

	memset(s, 0, sizeof(*s));
	c->place = place;
	c->loads = loads ? some_registers(rng) : 0;
	c->stores = stores ? (loads ? c->loads : some_registers(rng)) : 0;
	c->reads = c->loads | c->stores | some_registers(rng);
	c->slow = kind == 9;
	c->barrier = vt_rng_below(rng, 120) == 0;
	c->repeated = vt_rng_below(rng, 40) == 0;
	if (kind == 6)
		c->updates = c->stores;
	else if (!stores)
		c->results = some_registers(rng);
	c->replaced = vt_rng_below(rng, 4) ? c->results : 0;
	if (loads)
		s->accesses[s->n++] = some_access(rng, pages, false);
	if (stores) {
		s->accesses[s->n] = some_access(rng, pages, true);
		/* What is changed in place. */
		if (loads)
			s->accesses[s->n].addr = s->accesses[0].addr;
		s->n++;
	}
}

/* ---- the oracle ---- */

static bool crosses(const struct oracle *o, const struct vt_access *a)
{
	uint32_t unit = o->m->crossing;

	return unit && a->addr / unit != (a->addr + a->size - 1) / unit;
}

static void tell(struct oracle *o, enum vt_conflict type, int earlier, bool stores)
{
	const struct set *waits = stores ? &o->all : &o->load_access;

	if (!(o->m->types >> type & 1))
		return;
	if (waits->has[earlier])
		o->ruled_out++;
	else
		o->told[type][o->at][earlier] = 1;
}

/* Whether the store of `earlier` may still not know where, when the load at hand does. */
static bool may_pass(const struct oracle *o, int window, int earlier)
{
	int i;

	for (i = 0; i < NINSNS; i++)
		if (o->address_late[earlier].has[i] && !o->load_late.has[i] && i >= o->at - window)
			return true;
	return false;
}

static bool has_byte(const struct vt_access *a, uint64_t addr)
{
	return addr >= a->addr && addr < a->addr + a->size;
}

static int window_of(const struct oracle *o)
{
	uint32_t d = o->m->distance, l = o->m->loads_distance;

	return (int)(d > l ? d : l);
}

/* A load against one store: `got` says which of its bytes younger ones have. */
static void meet_store(struct oracle *o, const struct vt_access *l, const struct vt_access *e,
		       int earlier, uint8_t *got, bool *seen)
{
	bool within = o->at - earlier <= (int)o->m->distance, shares = false, contains = true;
	bool gets = false;
	int i;

	for (i = 0; i < l->size; i++) {
		bool has = has_byte(e, l->addr + (unsigned)i);

		shares = shares || has;
		contains = contains && has;
		gets = gets || (has && !got[i]);
		got[i] |= has;
	}
	if (gets) {
		join(&o->loaded, &o->data[earlier]);
		join(&o->loaded_late, &o->data_late[earlier]);
		o->loaded.has[earlier] = 1;
	}
	if (!shares || (o->m->youngest && !gets))
		return;
	if (within && !*seen && (!contains || crosses(o, e) || crosses(o, l)))
		tell(o, VT_CONFLICT_FORWARD, earlier, false);
	*seen = true;
	if (within && e->size < l->size)
		tell(o, VT_CONFLICT_SIZE, earlier, false);
	if (within && (!o->m->late_address || may_pass(o, window_of(o), earlier)))
		tell(o, VT_CONFLICT_ORDER, earlier, false);
}

static void meet_synonym(struct oracle *o, const struct vt_access *l, const struct vt_access *e,
			 int earlier)
{
	uint64_t way = o->m->cache_size / o->m->cache_ways, a = l->addr, b = e->addr;
	bool loads = !l->store && !e->store;
	uint32_t bound = loads && o->m->loads_distance ? o->m->loads_distance : o->m->distance;

	if (a / LINE != b / LINE && a % way / LINE == b % way / LINE &&
	    o->at - earlier <= (int)bound)
		tell(o, VT_CONFLICT_SYNONYM, earlier, l->store);
}

static void wait_for_line(struct oracle *o, const struct vt_access *l)
{
	int i, k;

	o->loaded_late.has[o->at] = 1;
	if (!l->known)
		return;
	for (i = o->at - 1; i >= o->begin; i--) {
		for (k = 0; k < (int)o->steps[i].n; k++) {
			const struct vt_access *e = &o->steps[i].accesses[k];

			if (e->store || !e->known || e->addr / LINE != l->addr / LINE ||
			    !o->data_late[i].has[i])
				continue;
			if (o->at - i <= window_of(o))
				join(&o->loaded_late, &o->data_late[i]);
			return;
		}
	}
}

static bool is_looked_at(const struct step *s, const struct vt_access *a)
{
	return a->known && !s->code.barrier && !s->code.repeated;
}

static void take_access(struct oracle *o, const struct vt_access *a)
{
	uint8_t got[VT_CONFLICT_MAX_ACCESS] = {0};
	bool seen = false, all = true, looked = is_looked_at(&o->steps[o->at], a);
	int i, k;

	for (i = o->at - 1; looked && i >= o->floor && o->at - i <= window_of(o); i--) {
		for (k = (int)o->steps[i].n - 1; k >= 0; k--) {
			const struct vt_access *e = &o->steps[i].accesses[k];

			if (!is_looked_at(&o->steps[i], e))
				continue;
			meet_synonym(o, a, e, i);
			if (e->store && !a->store)
				meet_store(o, a, e, i, got, &seen);
		}
	}
	for (i = 0; i < a->size; i++)
		all = all && got[i];
	if (!a->store && !(looked && all))
		wait_for_line(o, a);
}

static void close_step(struct oracle *o, const struct step *s)
{
	const struct vt_conflict_code *c = &s->code;
	struct set moved = gather(o->access, c->loads | c->stores);
	struct set moved_late = gather(o->late, c->loads | c->stores);
	int r;

	if (c->loads) {
		join(&o->all, &o->loaded);
		join(&o->all_late, &o->loaded_late);
		o->all.has[o->at] = 1;
	}
	o->all_late.has[o->at] |= c->slow;
	o->data[o->at] = o->all;
	o->data_late[o->at] = o->all_late;
	o->address_late[o->at] = o->store_late;
	for (r = 0; r < NREGS; r++) {
		if (c->updates >> r & 1) {
			o->access[r] = moved;
			o->late[r] = moved_late;
		}
		if (!(c->results >> r & 1))
			continue;
		if (c->replaced >> r & 1)
			memset(&o->access[r], 0, sizeof(o->access[r]));
		if (c->replaced >> r & 1)
			memset(&o->late[r], 0, sizeof(o->late[r]));
		join(&o->access[r], &o->all);
		join(&o->late[r], &o->all_late);
	}
	if (c->barrier)
		o->floor = o->at + 1;
}

static void take_step(struct oracle *o, int at)
{
	const struct step *s = &o->steps[at];
	const struct set none = {{0}};
	size_t i;

	o->at = at;
	o->load_access = gather(o->access, s->code.loads);
	o->load_late = gather(o->late, s->code.loads);
	o->store_late = gather(o->late, s->code.stores);
	o->all = gather(o->access, s->code.reads);
	o->all_late = gather(o->late, s->code.reads);
	o->loaded = o->loaded_late = none;
	for (i = 0; i < s->n; i++)
		take_access(o, &s->accesses[i]);
	close_step(o, s);
}

/* ---- */

/* Every step is a place of its own: each pair that is told, and no other, is in the oracle. */
static void compare(const struct vt_conflicts *c, const struct oracle *o,
		    uint64_t told[VT_NCONFLICTS])
{
	uint64_t pairs = 0;
	size_t i;
	int type, k, e;

	for (i = 0; i < vt_conflicts_count(c); i++) {
		const struct vt_conflict_pair *p = vt_conflicts_at(c, i);

		assert_true(o->told[p->type][p->later][p->earlier]);
		assert_int_equal(p->count, 1);
		assert_int_equal(p->nearest, p->later - p->earlier);
		told[p->type]++;
	}
	for (type = 0; type < VT_NCONFLICTS; type++)
		for (k = 0; k < NINSNS; k++)
			for (e = 0; e < NINSNS; e++)
				pairs += o->told[type][k][e];
	assert_int_equal(vt_conflicts_count(c), pairs);
	assert_int_equal(vt_conflicts_totals(c)->ruled_out, o->ruled_out);
}

static void run(const struct vt_conflict_model *m, uint64_t seed, uint64_t told[VT_NCONFLICTS],
		uint64_t *ruled_out)
{
	static struct step steps[NINSNS];
	static struct oracle o;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_conflicts *c = vt_conflicts_new(m, false, &err);
	/* Ways of a cache, or lines that are all remembered. */
	uint64_t pages = m->types & 1u << VT_CONFLICT_SYNONYM ? 20 : 3;
	struct vt_rng rng;
	int i;

	assert_non_null(c);
	memset(&o, 0, sizeof(o));
	o.m = m;
	o.steps = steps;
	vt_rng_init(&rng, seed);
	vt_conflicts_begin(c);
	for (i = 0; i < NINSNS; i++) {
		if (vt_rng_below(&rng, 250) == 0) {
			vt_conflicts_begin(c);
			o.begin = o.floor = i;
			memset(o.access, 0, sizeof(o.access));
			memset(o.late, 0, sizeof(o.late));
		}
		make_step(&steps[i], (uint32_t)i, pages, &rng);
		assert_int_equal(
			vt_conflicts_insn(c, &steps[i].code, steps[i].accesses, steps[i].n, &err),
			0);
		take_step(&o, i);
	}
	compare(c, &o, told);
	*ruled_out += o.ruled_out;
	vt_conflicts_free(c);
}

static void against_oracle(const char *model, uint32_t crossing, uint32_t types)
{
	static const uint32_t distances[] = {3, 40, 64, 130, 192, 224, 448};
	uint64_t told[VT_NCONFLICTS] = {0}, ruled_out = 0;
	size_t i;
	int type;

	for (i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		struct vt_conflict_model m = *vt_conflict_model(model);

		/* Aliases are looked for in test_conflict.c; a bound of stores is none of time. */
		m.types &= ~(1u << VT_CONFLICT_ALIAS_4K);
		m.distance = distances[i];
		m.stores = 0;
		m.crossing = crossing;
		run(&m, i, told, &ruled_out);
	}
	for (type = 1; type < VT_NCONFLICTS; type++)
		assert_int_equal(told[type] > 0, types >> type & 1);
	assert_true(ruled_out > 0);
}

static void today(void **state)
{
	(void)state;
	against_oracle("generic", 0, 1u << VT_CONFLICT_FORWARD | 1u << VT_CONFLICT_ORDER);
}

static void crossing_lines(void **state)
{
	(void)state;
	against_oracle("generic", LINE, 1u << VT_CONFLICT_FORWARD | 1u << VT_CONFLICT_ORDER);
}

static void traps_of_alpha(void **state)
{
	(void)state;
	against_oracle("alpha", 0,
		       1u << VT_CONFLICT_SIZE | 1u << VT_CONFLICT_ORDER |
			       1u << VT_CONFLICT_SYNONYM);
}

/* ---- long runs ---- */

#define LONG 9000
#define TAIL 500

/* Of random code but its first `skip` instructions, the pairs of the last TAIL; how many. */
static size_t run_tail(const struct vt_conflict_model *m, const struct step *steps, size_t skip,
		       struct vt_conflict_pair *pairs, size_t room)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_conflicts *c = vt_conflicts_new(m, false, &err);
	size_t i, n = 0;

	assert_non_null(c);
	vt_conflicts_begin(c);
	for (i = skip; i < LONG; i++)
		assert_int_equal(
			vt_conflicts_insn(c, &steps[i].code, steps[i].accesses, steps[i].n, &err),
			0);
	for (i = 0; i < vt_conflicts_count(c); i++) {
		const struct vt_conflict_pair *p = vt_conflicts_at(c, i);

		if (p->later < LONG - TAIL)
			continue;
		assert_true(n < room);
		pairs[n] = *p;
		pairs[n++].last = 0; /* counts from where it began */
	}
	vt_conflicts_free(c);
	return n;
}

/* What is further back than the window makes no difference, in windows of 4, 8 and 16 words. */
static void long_runs(void **state)
{
	static const uint32_t distances[] = {40, 192, 193, 448, 449, VT_CONFLICT_MAX_DISTANCE};
	static struct vt_conflict_pair pairs[2][100000];
	static struct step steps[LONG];
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		struct vt_conflict_model m = *vt_conflict_model("alpha");
		struct vt_rng rng;
		uint32_t k;

		m.distance = distances[i];
		m.loads_distance = 0;
		m.late_address = true;
		vt_rng_init(&rng, i);
		for (k = 0; k < LONG; k++)
			make_step(&steps[k], k, 20, &rng);
		n = run_tail(&m, steps, 0, pairs[0], 100000);
		assert_true(n > 100);
		assert_int_equal(run_tail(&m, steps, LONG - TAIL - distances[i], pairs[1], 100000),
				 n);
		assert_memory_equal(pairs[0], pairs[1], n * sizeof(pairs[0][0]));
	}
}

/* ---- by hand ---- */

/* A load into register 1, so many instructions that do nothing, and a load by way of that. */
static void far_dependences(void **state)
{
	static const uint32_t windows[] = {191, 192, 193, 448, 449, 895, 896, 960};
	const struct vt_access first = {.addr = 0x8000, .size = 8, .known = true};
	const struct vt_access last = {.addr = 0x10000, .size = 8, .known = true};
	size_t i;

	(void)state;
	for (i = 0; i < 64 * sizeof(windows) / sizeof(windows[0]); i++) {
		const struct vt_conflict_code load = {.place = 1, .results = 2, .replaced = 2};
		const struct vt_conflict_code other = {.place = 0};
		const struct vt_conflict_code end = {.place = 2, .reads = 2, .loads = 2};
		struct vt_conflict_model m = *vt_conflict_model("alpha");
		struct vt_error err = VT_ERROR_INIT;
		struct vt_conflicts *c;
		uint32_t k;

		m.distance = windows[i / 64];
		m.loads_distance = 0;
		c = vt_conflicts_new(&m, false, &err);
		assert_non_null(c);
		vt_conflicts_begin(c);
		for (k = 0; k < i % 64; k++)
			assert_int_equal(vt_conflicts_insn(c, &other, NULL, 0, &err), 0);
		assert_int_equal(vt_conflicts_insn(c, &load, &first, 1, &err), 0);
		for (k = 1; k < m.distance; k++)
			assert_int_equal(vt_conflicts_insn(c, &other, NULL, 0, &err), 0);
		assert_int_equal(vt_conflicts_insn(c, &end, &last, 1, &err), 0);
		assert_int_equal(vt_conflicts_count(c), 0);
		assert_int_equal(vt_conflicts_totals(c)->ruled_out, 1);
		vt_conflicts_free(c);
	}
}

/*
 * A store's address comes from a load, which waits for a division. A load after it whose address
 * comes from another load may pass it, unless that load waits for the same line.
 */
static void lines_wait(void **state)
{
	static const struct vt_conflict_code codes[] = {
		{.place = 0, .slow = true, .results = 1 << 1, .replaced = 1 << 1},
		{.place = 1,
		 .reads = 1 << 1,
		 .loads = 1 << 1,
		 .results = 1 << 3,
		 .replaced = 1 << 3},
		{.place = 2, .results = 1 << 2, .replaced = 1 << 2},
		{.place = 3, .reads = 1 << 3, .stores = 1 << 3},
		{.place = 4, .reads = 1 << 2, .loads = 1 << 2},
	};
	uint64_t line;

	(void)state;
	for (line = 0; line < 600; line++) {
		const struct vt_access accesses[] = {
			{.size = 0},
			{.addr = 64 * 5 + 56, .size = 8, .known = true},
			{.addr = 64 * line, .size = 8, .known = true},
			{.addr = 0x90000, .size = 8, .known = true, .store = true},
			{.addr = 0x90000, .size = 8, .known = true},
		};
		struct vt_error err = VT_ERROR_INIT;
		struct vt_conflicts *c =
			vt_conflicts_new(vt_conflict_model("generic"), false, &err);
		size_t i;

		assert_non_null(c);
		vt_conflicts_begin(c);
		for (i = 0; i < 5; i++)
			assert_int_equal(
				vt_conflicts_insn(c, &codes[i], &accesses[i], i != 0, &err), 0);
		assert_int_equal(vt_conflicts_count(c), line != 5);
		if (line != 5)
			assert_int_equal(vt_conflicts_at(c, 0)->type, VT_CONFLICT_ORDER);
		vt_conflicts_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(today),	   cmocka_unit_test(crossing_lines),
		cmocka_unit_test(traps_of_alpha),  cmocka_unit_test(long_runs),
		cmocka_unit_test(far_dependences), cmocka_unit_test(lines_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
