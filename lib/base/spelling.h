/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_SPELLING_H
#define VT_BASE_SPELLING_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The edit distance of two words, at most `limit`; also `limit` for words over 64 bytes.  An edit
 * inserts, deletes or replaces a byte, or swaps two neighbours (optimal string alignment).
 */
unsigned vt_spelling_distance(const char *a, const char *b, unsigned limit);

/* The least distance at which two words are no misspellings of each other: one error in three. */
unsigned vt_spelling_limit(const char *word);

/* Of several words, the one that is nearest to a word: the first of equals. */
struct vt_spelling {
	const char *word; /* as typed */
	const char *best; /* NULL: none is near enough */
	unsigned distance;
};

struct vt_spelling vt_spelling_start(const char *word);

/* Compares with one more word, which is borrowed. */
void vt_spelling_try(struct vt_spelling *s, const char *candidate);

#ifdef __cplusplus
}
#endif
#endif
