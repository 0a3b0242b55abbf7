/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program behind the sample recording of memory: it sorts parcels into the lists of their
 * depots and adds up their weights.  Most of what it keeps of a parcel is never looked at.  It
 * stands without a C library, as heat.c does, and brings its own allocator.
 */
#include <stddef.h>
#include <stdint.h>

#define PARCELS 400
#define DEPOTS	32
#define ROUNDS	10

/* Each of them stays a procedure of its own. */
#define PROCEDURE __attribute__((noinline, noclone, noipa)) static

struct parcel {
	uint32_t number;
	uint32_t insured; /* never: always 0 */
	struct parcel *next;
	double weight;
	uint64_t sent; /* noted, and never looked at */
};

static struct parcel *depots[DEPOTS];
static volatile uint32_t unit = 1000; /* grams: never changes */
static volatile uint64_t progress;    /* stored for nobody */
static volatile uint32_t state;	      /* the same is stored again and again */

/* ---- an allocator of blocks, and of the last one again ---- */

static uint8_t arena[1 << 16] __attribute__((aligned(16)));
static size_t used, last;

__attribute__((noinline, noclone, noipa)) void *malloc(size_t size)
{
	last = used;
	used += (size + 15) & ~(size_t)15;
	return arena + last;
}

__attribute__((noinline, noclone, noipa)) void free(void *p)
{
	if (p == arena + last)
		used = last;
}

/* ---- parcels ---- */

PROCEDURE struct parcel *take_parcel(uint32_t number, uint64_t now)
{
	struct parcel *p = malloc(sizeof(*p));

	p->number = number;
	p->insured = 0;
	p->weight = 0.5 * (number % 40);
	p->sent = now;
	return p;
}

PROCEDURE void sort_parcel(struct parcel *p)
{
	struct parcel **depot = &depots[p->number % DEPOTS];

	p->next = *depot;
	*depot = p;
}

PROCEDURE double weigh_depot(const struct parcel *p)
{
	double sum = 0;

	for (; p; p = p->next)
		sum += p->insured ? 2 * p->weight : p->weight;
	return sum;
}

/* A label is written, and thrown away unread. */
PROCEDURE void print_label(uint32_t number)
{
	volatile char *label = malloc(8);
	int i;

	for (i = 0; i < 8; i++)
		label[i] = (char)('0' + (number >> i) % 10);
	free((void *)label);
}

PROCEDURE double weigh_all(void)
{
	double sum = 0;

	for (int i = 0; i < DEPOTS; i++) {
		sum += weigh_depot(depots[i]) * unit;
		progress++;
		state = 1;
	}
	return sum;
}

/* Never returns: there is no C library to return to. */
__attribute__((noreturn)) static void leave(int status)
{
	__asm__ volatile("syscall" : : "a"(231), "D"(status) : "rcx", "r11", "memory");
	__builtin_unreachable();
}

__attribute__((noreturn, force_align_arg_pointer)) void start(void)
{
	double sum = 0;

	for (uint32_t i = 0; i < PARCELS; i++) {
		sort_parcel(take_parcel(7 * i, i));
		print_label(i);
	}
	for (int i = 0; i < ROUNDS; i++)
		sum += weigh_all();
	leave(sum > 0 ? 0 : 1);
}
