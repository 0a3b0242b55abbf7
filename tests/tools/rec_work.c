/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_work pack|sort|count FILE
 *
 * Some millions of instructions of the sorts of work that programs do, on a text:
 *
 *	pack	compresses it: repeats are found by chains of hashes, and coded bit by bit in a
 *range sort	prints its lines in order, from lists in memory of their own that are merged count
 *prints how many words there are, of how many kinds, the most frequent, the mean and the deviation
 *of their lengths: a hash table, and floating point
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *why)
{
	fprintf(stderr, "rec_work: %s\n", why);
	exit(2);
}

static void *get(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		die("no memory");
	return p;
}

/* The file with a zero after it. */
static char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	size_t cap = 0, n;

	if (!f)
		die("no such file");
	*size = 0;
	do {
		if (*size + 4096 > cap) {
			cap = 2 * cap + 8192;
			text = realloc(text, cap);
			if (!text)
				die("no memory");
		}
		n = fread(text + *size, 1, 4095, f);
		*size += n;
	} while (n > 0);
	fclose(f);
	text[*size] = '\0';
	return text;
}

/* ---- pack ---- */

#define WINDOW	   (1u << 15)
#define MIN_REPEAT 3
#define MAX_REPEAT 258
#define MAX_CHAIN  64

/* Nobody unpacks it: what is carried to bytes that are out already is dropped. */
struct coder {
	uint64_t low;
	uint32_t range;
	uint16_t bits[3 << 16]; /* how probable a 0 is, for each kind of number and its bits so far
				 */
};

static void put_bit(struct coder *c, uint16_t *p, unsigned bit)
{
	uint32_t bound = (c->range >> 12) * *p;

	if (bit) {
		c->low += bound;
		c->range -= bound;
		*p -= *p >> 5;
	} else {
		c->range = bound;
		*p += (4096 - *p) >> 5;
	}
	while (c->range < 1u << 24) {
		putchar((int)(c->low >> 56));
		c->low <<= 8;
		c->range <<= 8;
	}
}

static void put_number(struct coder *c, unsigned kind, unsigned bits, unsigned value)
{
	unsigned state = 1;

	while (bits-- > 0) {
		unsigned bit = value >> bits & 1;

		put_bit(c, &c->bits[kind << 16 | state], bit);
		state = state << 1 | bit;
	}
}

static unsigned hash_at(const uint8_t *p)
{
	return (p[0] * 2654435761u ^ p[1] * 40503u ^ p[2] * 69069u) & (WINDOW - 1);
}

/* The longest repeat of what begins at `at`: its length and, if there is any, how far it is. */
static unsigned find_repeat(const uint8_t *text, size_t at, size_t size, const uint32_t *head,
			    const uint32_t *prev, unsigned *distance)
{
	size_t most = size - at < MAX_REPEAT ? size - at : MAX_REPEAT;
	uint32_t try = head[hash_at(text + at)];
	unsigned best = 0, chain, n;

	for (chain = 0; try && at + 1 - try < WINDOW && chain < MAX_CHAIN; chain++) {
		const uint8_t *from = text + try - 1;

		for (n = 0; n < most && from[n] == text[at + n]; n++)
			;
		if (n > best) {
			best = n;
			*distance = (unsigned)(at + 1 - try);
		}
		try = prev[(try - 1) & (WINDOW - 1)];
	}
	return best;
}

static void pack(const char *data, size_t size)
{
	const uint8_t *text = (const uint8_t *)data;
	uint32_t *head = get(WINDOW * sizeof(*head)), *prev = get(WINDOW * sizeof(*prev));
	struct coder *c = get(sizeof(*c));
	size_t at = 0, i;

	c->range = UINT32_MAX;
	for (i = 0; i < sizeof(c->bits) / sizeof(c->bits[0]); i++)
		c->bits[i] = 2048;
	while (at < size) {
		unsigned distance = 0, n = 0, step;

		if (size - at >= MIN_REPEAT)
			n = find_repeat(text, at, size, head, prev, &distance);
		step = n < MIN_REPEAT ? 1 : n;
		put_number(c, 0, 9, step > 1 ? step - MIN_REPEAT + 256 : text[at]);
		if (step > 1)
			put_number(c, 1, 15, distance);
		for (; step > 0; step--, at++) {
			if (size - at < MIN_REPEAT)
				continue;
			prev[at & (WINDOW - 1)] = head[hash_at(text + at)];
			head[hash_at(text + at)] = (uint32_t)at + 1;
		}
	}
	put_number(c, 2, 15, 0);
	free(head);
	free(prev);
	free(c);
}

/* ---- sort ---- */

struct line {
	struct line *next;
	char text[];
};

static struct line *merge(struct line *a, struct line *b)
{
	struct line *first = NULL, **end = &first;

	while (a && b) {
		struct line **least = strcmp(a->text, b->text) <= 0 ? &a : &b;

		*end = *least;
		end = &(*least)->next;
		*least = *end;
	}
	*end = a ? a : b;
	return first;
}

static struct line *sort_list(struct line *l)
{
	struct line *middle = l, *end = l, *second;

	if (!l || !l->next)
		return l;
	while (end->next && end->next->next) {
		middle = middle->next;
		end = end->next->next;
	}
	second = middle->next;
	middle->next = NULL;
	return merge(sort_list(l), sort_list(second));
}

static void sort(char *text)
{
	struct line *lines = NULL, *next;
	char *save, *s;

	for (s = strtok_r(text, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		struct line *l = get(sizeof(*l) + strlen(s) + 1);

		strcpy(l->text, s);
		l->next = lines;
		lines = l;
	}
	for (lines = sort_list(lines); lines; lines = next) {
		next = lines->next;
		puts(lines->text);
		free(lines);
	}
}

/* ---- count ---- */

struct word {
	const char *text;
	unsigned times;
};

static struct word *find_word(struct word *table, size_t size, const char *text)
{
	uint32_t h = 2166136261u;
	const char *p;
	size_t i;

	for (p = text; *p; p++)
		h = (h ^ (uint8_t)*p) * 16777619u;
	for (i = h % size; table[i].text && strcmp(table[i].text, text) != 0; i = (i + 1) % size)
		;
	return &table[i];
}

static struct word *grow(struct word *old, size_t size)
{
	struct word *table = get(2 * size * sizeof(*table));
	size_t i;

	for (i = 0; i < size; i++)
		if (old[i].text)
			*find_word(table, 2 * size, old[i].text) = old[i];
	free(old);
	return table;
}

static void count(char *text)
{
	struct word *table = get(64 * sizeof(*table));
	const struct word *most;
	size_t size = 64, kinds = 0, i;
	double n = 0, sum = 0, squares = 0;
	char *save, *s;

	for (s = strtok_r(text, " \t\n", &save); s; s = strtok_r(NULL, " \t\n", &save)) {
		struct word *w = find_word(table, size, s);
		double length = (double)strlen(s);

		n++;
		sum += length;
		squares += length * length;
		kinds += w->times++ == 0;
		w->text = s;
		if (2 * kinds > size) {
			table = grow(table, size);
			size *= 2;
		}
	}
	for (most = table, i = 0; i < size; i++)
		if (table[i].times > most->times)
			most = &table[i];
	printf("%.0f words, %zu kinds, most often %s: %u\n", n, kinds,
	       most->text ? most->text : "none", most->times);
	printf("%.3f long, deviation %.3f\n", n > 0 ? sum / n : 0,
	       n > 0 ? sqrt(squares / n - sum / n * (sum / n)) : 0);
	free(table);
}

int main(int argc, char **argv)
{
	size_t size;
	char *text;

	if (argc != 3)
		die("usage: rec_work pack|sort|count FILE");
	text = read_file(argv[2], &size);
	if (strcmp(argv[1], "pack") == 0)
		pack(text, size);
	else if (strcmp(argv[1], "sort") == 0)
		sort(text);
	else if (strcmp(argv[1], "count") == 0)
		count(text);
	else
		die("pack, sort or count");
	free(text);
	return 0;
}
