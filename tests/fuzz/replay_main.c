/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plain main for the fuzz targets: runs each file named on the command line through the target
 * once, so that a kept corpus or a crash file is checked by any build, without libFuzzer.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Far above what libFuzzer generates; a larger file is a mistake on the command line. */
#define MAX_INPUT ((size_t)64 << 20)

static int replay(const char *name)
{
	FILE *f = fopen(name, "rb");
	uint8_t *data = NULL;
	size_t size = 0, room = 0, got;

	if (!f)
		goto fail;
	do {
		if (size == room) {
			uint8_t *bigger = room < MAX_INPUT ? realloc(data, room + (1 << 16)) : NULL;

			if (!bigger)
				goto fail;
			data = bigger;
			room += 1 << 16;
		}
		got = fread(data + size, 1, room - size, f);
		size += got;
	} while (got > 0);
	if (ferror(f))
		goto fail;
	fclose(f);

	/* An exact-size copy lets the address sanitizer see a read one byte past the end. */
	f = NULL;
	uint8_t *exact = malloc(size ? size : 1);

	if (!exact)
		goto fail;
	if (size)
		memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return 0;
fail:
	fprintf(stderr, "replay: %s: %s\n", name, strerror(errno));
	free(data);
	if (f)
		fclose(f);
	return 1;
}

int main(int argc, char **argv)
{
	int i, failed = 0;

	for (i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	return failed;
}
