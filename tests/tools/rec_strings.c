/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that calls the string functions of the C library, ROUNDS times, on strings of many
 * lengths at many alignments, and prints a sum of what they return.
 *
 *	rec_strings ROUNDS
 *
 * They are called by way of pointers, so that the compiler puts nothing in their place.
 */
#define _GNU_SOURCE /* memrchr() */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 4096

static char one[ROOM], two[ROOM];

static size_t (*volatile length_of)(const char *) = strlen;
static size_t (*volatile bounded_length)(const char *, size_t) = strnlen;
static void *(*volatile find_byte)(const void *, int, size_t) = memchr;
static void *(*volatile find_last)(const void *, int, size_t) = memrchr;
static int (*volatile compare_bytes)(const void *, const void *, size_t) = memcmp;
static int (*volatile compare)(const char *, const char *) = strcmp;
static int (*volatile compare_some)(const char *, const char *, size_t) = strncmp;
static char *(*volatile find)(const char *, int) = strchr;
static char *(*volatile find_from_end)(const char *, int) = strrchr;
static char *(*volatile find_string)(const char *, const char *) = strstr;
static size_t (*volatile span)(const char *, const char *) = strspn;
static char *(*volatile copy_string)(char *, const char *) = strcpy;
static void *(*volatile move)(void *, const void *, size_t) = memmove;
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
static void *(*volatile fill)(void *, int, size_t) = memset;

static uint64_t distance(const void *found, const char *from)
{
	return found ? (uint64_t)((const char *)found - from) : 1;
}

/* All of them on strings of `n` bytes at two alignments. */
static uint64_t call_all(size_t n, size_t at, size_t other)
{
	char *a = one + at, *b = two + other;
	uint64_t sum = 0;

	fill(a, 'a', n);
	a[n] = 0;
	copy_string(b, a);
	if (n > 2)
		b[n - 2] = 'c';
	sum += length_of(a) + bounded_length(b, n / 2);
	sum += distance(find_byte(b, 'c', n + 1), b) + distance(find_last(b, 'a', n), b);
	sum += (uint64_t)(compare_bytes(a, b, n) < 0) + (uint64_t)(compare(a, b) < 0);
	sum += (uint64_t)(compare_some(a, b, n / 2) == 0);
	sum += distance(find(b, 'c'), b) + distance(find_from_end(b, 'a'), b);
	sum += distance(find_string(b, "ca"), b) + span(b, "ab");
	move(a + 3, a, n);
	copy(b, a, n);
	return sum + (uint64_t)(unsigned char)b[n / 2];
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, r;
	uint64_t sum = 0;
	size_t n;

	for (r = 0; r < rounds; r++)
		for (n = 0; n < 1200; n += 1 + n / 16)
			sum += call_all(n, (r * 7 + n) % 64, (r * 13) % 64);
	printf("%" PRIu64 "\n", sum);
	return 0;
}
