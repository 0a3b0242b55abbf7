/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* sbrk(), madvise() */
#include "cmd/common/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of x86-64 and AArch64. */
#define SMALL_PAGE ((size_t)4 << 10)
#define HUGE_PAGE  ((uintptr_t)2 << 20)

/* So much address space is asked for at once, and only this part is of huge pages. */
#define HEAP_SIZE (64 << 20)

/* The most that glibc allows. */
#define MMAP_THRESHOLD (32 << 20)

static size_t bytes_to_huge_page(const char *p)
{
	return -(uintptr_t)p & (HUGE_PAGE - 1);
}

/* Where it does not work, the heap is as it would have been. */
void heap_use_huge_pages(void)
{
	char *start = sbrk(0), *end;
	void *volatile first;

	/* Who tunes malloc(3) knows better. */
	if (getenv("MALLOC_TOP_PAD_") || getenv("GLIBC_TUNABLES"))
		return;
	/* Threads allocate rarely, and heaps of their own would be of small pages. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, HEAP_SIZE);
	mallopt(M_TRIM_THRESHOLD, HEAP_SIZE);
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	/* The first block, which makes the heap, is in a small page: the huge ones are still
	 * unused. */
	sbrk((intptr_t)bytes_to_huge_page(start + SMALL_PAGE));
	start = sbrk(0);
	start += bytes_to_huge_page(start);
	first = malloc(1);
	free(first);
	end = sbrk(0);
	if (end > start)
		madvise(start, (size_t)(end - start), MADV_HUGEPAGE);
}

void heap_give_back(void)
{
	malloc_trim(0);
}
