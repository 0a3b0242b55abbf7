/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

/*
 * The compiler calls these for copies of structures.  The C library's are chosen when they are
 * called first, which a signal handler must not do, and the program may have its own.
 */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int c, size_t size);
int memcmp(const void *a, const void *b, size_t size);

void *memcpy(void *to, const void *from, size_t size)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
	return to;
}

void *memset(void *to, int c, size_t size)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(c) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *p = a, *q = b;
	size_t i;

	for (i = 0; i < size; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}
