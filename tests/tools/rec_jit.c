/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_jit
 *
 * Writes a function into memory that is mapped for it, calls it, and changes it, ten times: first
 * its constant, then its length, and at last in another mapping at the same address. Prints the
 * sums of what the calls returned.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

typedef uint32_t (*function)(uint32_t);

/* mov $value, %eax; add %edi, %eax; ret, after `pad` nops */
static function generate(unsigned char *at, uint32_t value, unsigned pad)
{
	static const unsigned char tail[] = {0x01, 0xf8, 0xc3};
	function f;

	memset(at, 0x90, pad);
	at[pad] = 0xb8;
	memcpy(at + pad + 1, &value, 4);
	memcpy(at + pad + 5, tail, sizeof(tail));
	memcpy(&f, &at, sizeof(f));
	return f;
}

static unsigned char *map(void *hint, int flags)
{
	return mmap(hint, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

int main(void)
{
	unsigned char *code = map(NULL, 0);
	uint32_t constants = 0, lengths = 0, mappings = 0;

	if (code == MAP_FAILED)
		return 1;
	for (uint32_t i = 0; i < 10; i++)
		constants += generate(code, i * 100, 0)(i);
	for (uint32_t i = 0; i < 10; i++)
		lengths += generate(code, 1000, i)(i);
	for (uint32_t i = 0; i < 10; i++) {
		munmap(code, PAGE);
		if (map(code, MAP_FIXED) != code)
			return 1;
		mappings += generate(code, 5, 0)(i);
	}
	printf("constants %u lengths %u mappings %u\n", constants, lengths, mappings);
	return 0;
}
