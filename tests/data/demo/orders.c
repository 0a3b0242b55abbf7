/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program behind the sample recording: it prices orders by rules that could be anything and
 * never change.  Which ones these are, no compiler can know; a value profile does.  It stands
 * without a C library, as heat.c does.
 */
#include <stddef.h>
#include <stdint.h>

#define ORDERS 4000
#define ITEMS  256

/* Each of them stays a procedure of its own, with all its arguments. */
#define PROCEDURE __attribute__((noinline, noclone, noipa)) static

struct rules {
	uint32_t lot; /* items are sold by the lot: always 8 of them */
	uint32_t discounts;
	double tax; /* not here: always 0 */
	double (*round)(double);
};

struct item {
	uint32_t id;
	uint32_t weight;
	double price;
};

struct order {
	uint32_t id;
	uint32_t quantity;
};

static struct item items[ITEMS];
static struct order orders[ORDERS];

PROCEDURE double to_cents(double x)
{
	return (double)(int64_t)(x * 100 + 0.5) / 100;
}

PROCEDURE double to_units(double x)
{
	return (double)(int64_t)(x + 0.5);
}

/* Items lie in the order of their numbers: a binary search, whose loads are never the same. */
PROCEDURE const struct item *find(uint32_t id)
{
	size_t low = 0, high = ITEMS;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (items[mid].id <= id)
			low = mid;
		else
			high = mid;
	}
	return &items[low];
}

PROCEDURE double price(const struct item *item, uint32_t quantity, const struct rules *rules)
{
	double sum = (quantity + rules->lot - 1) / rules->lot * item->price;

	if (rules->discounts && quantity > 100 * rules->lot)
		sum -= sum / 10;
	sum += sum * rules->tax;
	return rules->round(sum);
}

/* `unit` is in grams: 1, says every caller. */
PROCEDURE uint64_t weigh(const struct item *item, uint32_t quantity, uint32_t unit)
{
	return (uint64_t)item->weight * quantity / unit;
}

PROCEDURE double total(const struct rules *rules, uint64_t *weight)
{
	double sum = 0;

	for (size_t i = 0; i < ORDERS; i++) {
		const struct item *item = find(orders[i].id);

		sum += price(item, orders[i].quantity, rules);
		*weight += weigh(item, orders[i].quantity, 1);
	}
	return sum;
}

PROCEDURE void fill(uint32_t seed)
{
	for (uint32_t i = 0; i < ITEMS; i++)
		items[i] = (struct item){7 * i, 100 + i % 50, 0.25 * (i % 40)};
	for (size_t i = 0; i < ORDERS; i++) {
		seed = seed * 1664525 + 1013904223;
		orders[i] = (struct order){(seed >> 8) % (7 * ITEMS), 1 + (seed >> 24) % 64};
	}
}

/* Never returns: there is no C library to return to. */
__attribute__((noreturn)) static void leave(int status)
{
	__asm__ volatile("syscall" : : "a"(231), "D"(status) : "rcx", "r11", "memory");
	__builtin_unreachable();
}

static struct rules rules = {8, 0, 0, to_cents};
static volatile uint32_t whole;

__attribute__((noreturn, force_align_arg_pointer)) void start(void)
{
	uint64_t weight = 0;
	double sum;

	if (whole)
		rules.round = to_units;
	fill(1);
	sum = total(&rules, &weight);
	leave(sum > 0 && weight > 0 ? 0 : 1);
}
