/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tools/common/mutate.h"

#include <string.h>

#include "base/rng.h"

#define SHORT 256  /* most bytes of a stretch that is deleted, made up or repeated */
#define LONG  4096 /* and of one that is taken from another input */

struct variant {
	const struct mutate_input *in;
	size_t count;
	struct vt_rng rng;
	uint8_t *p;
	size_t size;
	size_t max;
};

static size_t draw(struct variant *v, size_t bound)
{
	return (size_t)vt_rng_below(&v->rng, bound);
}

/* Mostly short: 0 only if there is nothing. */
static size_t draw_size(struct variant *v, size_t most, size_t left)
{
	size_t n = most;

	while (n > 1 && draw(v, 3))
		n /= 2;
	n = 1 + draw(v, n);
	return n < left ? n : left;
}

/* Puts `size` bytes from elsewhere in the place of `old` bytes, as far as there is room. */
static void replace(struct variant *v, size_t at, size_t old, const uint8_t *from, size_t size)
{
	size_t behind = v->size - at - old;

	if (size > v->max - at - behind)
		size = v->max - at - behind;
	if (behind)
		memmove(v->p + at + size, v->p + at + old, behind);
	if (size)
		memcpy(v->p + at, from, size);
	v->size = at + size + behind;
}

/* Puts them over what is there, or between. */
static void put(struct variant *v, const uint8_t *from, size_t size)
{
	size_t at = draw(v, v->size + 1), left = v->size - at;

	replace(v, at, draw(v, 2) ? 0 : size < left ? size : left, from, size);
}

static void flip_bit(struct variant *v)
{
	if (v->size)
		v->p[draw(v, v->size)] ^= (uint8_t)(1 << draw(v, 8));
}

/* A little-endian word becomes one at a limit of its range, or a little more or less. */
static void change_word(struct variant *v)
{
	static const uint64_t limits[] = {0,
					  1,
					  0x7f,
					  0x80,
					  0xff,
					  0x7fff,
					  0x8000,
					  0xffff,
					  0x7fffffff,
					  0x80000000,
					  0xffffffff,
					  INT64_MAX,
					  (uint64_t)INT64_MAX + 1,
					  UINT64_MAX};
	size_t bytes = (size_t)1 << draw(v, 4), at, i;
	uint64_t word = 0;

	if (v->size < bytes)
		return;
	at = draw(v, v->size - bytes + 1);
	for (i = 0; i < bytes; i++)
		word |= (uint64_t)v->p[at + i] << 8 * i;
	if (draw(v, 2))
		word = limits[draw(v, sizeof(limits) / sizeof(limits[0]))];
	else
		word += draw(v, 33) - (uint64_t)16;
	for (i = 0; i < bytes; i++)
		v->p[at + i] = (uint8_t)(word >> 8 * i);
}

static void delete_some(struct variant *v)
{
	size_t at = draw(v, v->size + 1);

	replace(v, at, draw_size(v, SHORT, v->size - at), NULL, 0);
}

/* Bytes of chance, or all the same. */
static void make_up(struct variant *v)
{
	uint8_t bytes[SHORT];
	size_t n = draw_size(v, SHORT, SHORT), i;

	memset(bytes, (int)draw(v, 256), n);
	for (i = draw(v, 2) ? n : 0; i < n; i++)
		bytes[i] = (uint8_t)draw(v, 256);
	put(v, bytes, n);
}

/* A stretch of it comes elsewhere, too, perhaps several times. */
static void repeat(struct variant *v)
{
	uint8_t bytes[SHORT];
	size_t from = draw(v, v->size + 1), n = draw_size(v, SHORT, v->size - from), used = n;
	size_t times = draw(v, 4) ? 1 : 1 + draw(v, 16);

	if (!n)
		return;
	memcpy(bytes, v->p + from, n);
	for (; times > 1 && used + n <= sizeof(bytes); times--, used += n)
		memcpy(bytes + used, bytes, n);
	put(v, bytes, used);
}

/* A stretch of another input, or all of it from somewhere on. */
static void splice(struct variant *v)
{
	const struct mutate_input *other = &v->in[draw(v, v->count)];
	size_t from = draw(v, other->size + 1), n = draw_size(v, LONG, other->size - from);

	if (!other->size)
		return;
	if (draw(v, 4)) {
		put(v, other->data + from, n);
	} else {
		size_t at = draw(v, v->size + 1);

		replace(v, at, v->size - at, other->data + from, other->size - from);
	}
}

size_t mutate_inputs(const struct mutate_input *in, size_t count, uint64_t seed, uint64_t n,
		     uint8_t *out, size_t max)
{
	static void (*const changes[])(struct variant * v) = {
		flip_bit, change_word, delete_some, make_up, repeat, splice,
	};
	struct variant v = {.in = in, .count = count, .p = out, .max = max};
	const struct mutate_input *base;
	size_t times;

	vt_rng_init(&v.rng, seed);
	vt_rng_init(&v.rng, vt_rng_next(&v.rng) + n);
	base = &in[draw(&v, count)];
	replace(&v, 0, 0, base->data, base->size);
	for (times = draw_size(&v, 16, 16); times; times--)
		changes[draw(&v, sizeof(changes) / sizeof(changes[0]))](&v);
	return v.size;
}
