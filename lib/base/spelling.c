/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/spelling.h"

#include <stddef.h>
#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The row of the table for a[0..i], from those for one and two characters less. */
static void fill_row(unsigned *row, const unsigned *last, const unsigned *before, const char *a,
		     size_t i, const char *b, size_t nb)
{
	size_t j;

	row[0] = (unsigned)i;
	for (j = 1; j <= nb; j++) {
		row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
		row[j] = least(row[j], least(last[j], row[j - 1]) + 1);
		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
			row[j] = least(row[j], before[j - 2] + 1);
	}
}

unsigned vt_spelling_distance(const char *a, const char *b, unsigned limit)
{
	enum { LONGEST = 64 };
	size_t na = strlen(a), nb = strlen(b), i, j;
	unsigned rows[3][LONGEST + 1];

	if (na > LONGEST || nb > LONGEST)
		return limit;
	for (j = 0; j <= nb; j++)
		rows[0][j] = (unsigned)j;
	for (i = 1; i <= na; i++)
		fill_row(rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3], a, i, b, nb);
	return least(rows[na % 3][nb], limit);
}

unsigned vt_spelling_limit(const char *word)
{
	return 1 + (unsigned)strlen(word) / 3;
}

struct vt_spelling vt_spelling_start(const char *word)
{
	return (struct vt_spelling){word, NULL, vt_spelling_limit(word)};
}

void vt_spelling_try(struct vt_spelling *s, const char *candidate)
{
	unsigned distance = vt_spelling_distance(s->word, candidate, s->distance);

	if (distance < s->distance) {
		s->best = candidate;
		s->distance = distance;
	}
}
