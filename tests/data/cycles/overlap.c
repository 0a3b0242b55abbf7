/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: overlap [WHICH [ROUNDS [SLOTS]]]
 *
 * Four procedures that are called in turn on keys of their own, so that a processor works on
 * several of them at once: what each takes alone, together with the others and beyond them are
 * three numbers.  WHICH is a sum of those that are called: 1 search, 2 hash, 4 sort, 8 crc.  SLOTS,
 * a power of two, is the size of the hash table.
 */
#include "loops.h"

#define SORTED 16384
#define KEYS   8

static uint32_t *sorted, *slots;
static size_t mask;

static size_t slot_of(uint32_t key)
{
	return (size_t)(key * 2654435761u >> 8) & mask;
}

NOINLINE static uint32_t search(uint32_t key)
{
	uint32_t low = 0, high = SORTED, mid;

	MARK(1);
	while (low < high) {
		mid = (low + high) / 2;
		MARK(2);
		if (sorted[mid] < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

NOINLINE static uint32_t hash(uint32_t key)
{
	size_t at = slot_of(key);
	uint32_t n = 0;

	MARK(3);
	while (slots[at] && slots[at] != key && n < 8) {
		MARK(4);
		at = (at + 1) & mask;
		n++;
	}
	return n;
}

NOINLINE static uint32_t sort(uint32_t key)
{
	uint32_t a[KEYS], x;
	int i, j;

	MARK(5);
	for (i = 0; i < KEYS; i++)
		a[i] = key = key * 1664525u + 1013904223u;
	for (i = 1; i < KEYS; i++) {
		x = a[i];
		MARK(6);
		for (j = i - 1; j >= 0 && a[j] > x; j--) {
			MARK(7);
			a[j + 1] = a[j];
		}
		a[j + 1] = x;
	}
	return a[KEYS / 2];
}

NOINLINE static uint32_t crc(uint32_t key)
{
	int i;

	MARK(8);
	for (i = 0; i < 12; i++) {
		MARK(9);
		key = key >> 1 ^ (0xedb88320u & -(key & 1));
	}
	return key;
}

/* Half full, of keys that are not 0. */
static void fill_tables(void)
{
	size_t i, at;
	uint32_t key;

	sorted = (uint32_t *)make_room(SORTED, sizeof(*sorted), 1);
	slots = (uint32_t *)make_room(mask + 1, sizeof(*slots), 1);
	for (i = 0; i < SORTED; i++)
		sorted[i] = (uint32_t)i << 18;
	for (i = 0; i <= mask / 2; i++) {
		key = next_number() | 1;
		for (at = slot_of(key); slots[at]; at = (at + 1) & mask)
			;
		slots[at] = key;
	}
}

static uint32_t run_all(unsigned which)
{
	uint32_t key = next_number(), sum = 0;

	MARK(10);
	if (which & 1)
		sum += search(key);
	if (which & 2)
		sum += hash(key);
	if (which & 4)
		sum += sort(key);
	if (which & 8)
		sum += crc(key);
	return sum;
}

#define PARTS 20 /* of which one is the fastest */

int main(int argc, char **argv)
{
	ALIGN_STACK;
	unsigned which = argc > 1 ? (unsigned)atoi(argv[1]) : 15;
	uint64_t rounds = (argc > 2 ? strtoull(argv[2], NULL, 10) : 3000000) / PARTS, part, r;
	uint64_t ticks, all = 0, least = UINT64_MAX;
	uint32_t sum = 0;

	mask = (argc > 3 ? strtoull(argv[3], NULL, 10) : 1 << 22) - 1;
	fill_tables();
	for (part = 0; part < PARTS; part++) {
		ticks = __rdtsc();
		for (r = 0; r < rounds; r++)
			sum += run_all(which);
		ticks = __rdtsc() - ticks;
		all += ticks;
		if (ticks < least)
			least = ticks;
	}
	printf("%u\t%lu\t%.2f\t%.2f\t%u\n", which, PARTS * rounds,
	       (double)all / (double)(PARTS * rounds), (double)least / (double)rounds, sum);
	return 0;
}
