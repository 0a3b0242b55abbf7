/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The collector's table of samples, against lists that are searched from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "profile/sample_table.h"

#define BUCKETS 4
#define WAYS	3

static struct vt_sample_key key(uint64_t pc, int32_t pid, uint32_t event, uint32_t mode)
{
	return (struct vt_sample_key){.pc = pc, .pid = pid, .event = event, .mode = mode};
}

/* ---- a table that nothing is shared with ---- */

struct list {
	struct vt_sample_entry entry[WAYS];
	unsigned n;
};

struct model {
	enum vt_sample_victim victim;
	enum vt_sample_hash hash;
	struct list lists[BUCKETS];
	unsigned turn;
	struct vt_sampletable_counts counts;
};

static struct list *list_of(struct model *m, const struct vt_sample_key *k)
{
	uint64_t h = m->hash == VT_SAMPLE_HASH_FOLD
			     ? (k->pc + 64 * (uint64_t)(uint32_t)k->pid + k->event) / 2
			     : vt_hash_bytes(k, sizeof(*k));

	return &m->lists[h % BUCKETS];
}

static void put_first(struct list *l, unsigned at)
{
	struct vt_sample_entry e = l->entry[at];

	for (; at; at--)
		l->entry[at] = l->entry[at - 1];
	l->entry[0] = e;
}

static bool add(struct model *m, const struct vt_sample_key *k, uint64_t period,
		struct vt_sample_entry *evicted)
{
	struct list *l = list_of(m, k);
	unsigned i, at;
	bool full = l->n == WAYS;

	m->counts.samples++;
	for (i = 0; i < l->n; i++) {
		m->counts.compared++;
		if (l->entry[i].key.pc == k->pc && l->entry[i].key.pid == k->pid &&
		    l->entry[i].key.event == k->event && l->entry[i].key.mode == k->mode)
			break;
	}
	if (i < l->n) {
		l->entry[i].samples++;
		l->entry[i].period += period;
		if (m->victim == VT_VICTIM_LAST)
			put_first(l, i);
		return false;
	}
	m->counts.misses++;
	at = l->n;
	if (full) {
		at = WAYS - 1;
		if (m->victim == VT_VICTIM_ROUND_ROBIN)
			at = m->turn++ % WAYS;
		*evicted = l->entry[at];
		m->counts.evictions++;
	} else {
		l->n++;
	}
	l->entry[at] = (struct vt_sample_entry){*k, 1, period};
	if (m->victim == VT_VICTIM_LAST)
		put_first(l, at);
	return full;
}

/* ---- the same samples for both ---- */

static void assert_same(const struct vt_sample_entry *a, const struct vt_sample_entry *b)
{
	assert_memory_equal(&a->key, &b->key, sizeof(a->key));
	assert_int_equal(a->samples, b->samples);
	assert_int_equal(a->period, b->period);
}

/* All that is left comes out, in the order of buckets and their ways. */
static void check_taken(struct vt_sampletable *t, const struct model *m)
{
	struct vt_sample_entry e;
	unsigned b, i;

	for (b = 0; b < BUCKETS; b++)
		for (i = 0; i < m->lists[b].n; i++) {
			assert_true(vt_sampletable_take(t, &e));
			assert_same(&e, &m->lists[b].entry[i]);
		}
	assert_false(vt_sampletable_take(t, &e));
	assert_false(vt_sampletable_take(t, &e));
}

static void test_samples(void **state)
{
	unsigned victim, hash, i, round;

	(void)state;
	for (victim = 0; victim < VT_NVICTIMS; victim++)
		for (hash = 0; hash < VT_NSAMPLEHASHES; hash++) {
			const struct vt_sampletable_shape shape = {BUCKETS, WAYS,
								   (enum vt_sample_victim)victim,
								   (enum vt_sample_hash)hash};
			struct vt_sampletable *t = vt_sampletable_new(&shape);
			struct model m = {.victim = shape.victim, .hash = shape.hash};
			struct vt_rng rng;

			assert_non_null(t);
			vt_rng_init(&rng, 3 + victim + 2 * hash);
			for (round = 0; round < 3; round++) {
				for (i = 0; i < 500; i++) {
					uint64_t r = vt_rng_below(&rng, 20);
					struct vt_sample_key k =
						key(r * 2, (int32_t)(r % 3) - 1, r % 2, r > 17);
					struct vt_sample_entry a = {.samples = 0}, b = a;
					uint64_t period = vt_rng_below(&rng, 100);

					assert_int_equal(vt_sampletable_add(t, &k, period, &a),
							 add(&m, &k, period, &b));
					assert_same(&a, &b);
				}
				assert_memory_equal(vt_sampletable_counts(t), &m.counts,
						    sizeof(m.counts));
				check_taken(t, &m);
				memset(m.lists, 0, sizeof(m.lists));
			}
			assert_true(m.counts.evictions > 100);
			assert_true(m.counts.misses > m.counts.evictions);
			vt_sampletable_free(t);
		}
}

/* Keys that are folded to the same number share a bucket: pc + 64 pid + event, halved. */
static void test_fold(void **state)
{
	static const struct {
		struct vt_sample_key k;
		bool meets; /* the key of pc 64 */
	} rows[] = {
		{{.pc = 65}, true},
		{{.pc = 66}, false},
		{{.pc = 63}, false},
		{{.pc = 63, .event = 1}, true},
		{{.pid = 1}, true},
		{{.pc = 128, .pid = -1}, true},
		{{.pc = 64, .mode = 9}, true},
		{{.pc = 72}, true},
		{{.pc = 68}, false},
	};
	const struct vt_sampletable_shape shape = {BUCKETS, 1, VT_VICTIM_ROUND_ROBIN,
						   VT_SAMPLE_HASH_FOLD};
	const struct vt_sample_key first = {.pc = 64};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_sampletable *t = vt_sampletable_new(&shape);
		struct vt_sample_entry e;

		assert_non_null(t);
		assert_false(vt_sampletable_add(t, &first, 1, &e));
		assert_int_equal(vt_sampletable_add(t, &rows[i].k, 1, &e), rows[i].meets);
		vt_sampletable_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_fold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
