/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends the program at an input that begins with '!': for the test of replay_main.c. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == '!')
		abort();
	return 0;
}
