/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_dlopen LIBRARY FUNCTION [LIBRARY FUNCTION]...
 *
 * Opens each library, calls its function, of type double(double), with 1, and closes it again,
 * three times over. Prints what it returned.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int call(const char *library, const char *name, int say)
{
	void *handle = dlopen(library, RTLD_NOW);
	void *symbol = handle ? dlsym(handle, name) : NULL;
	double (*f)(double);

	if (!symbol) {
		fprintf(stderr, "rec_dlopen: %s: no %s\n", library, name);
		return 1;
	}
	memcpy(&f, &symbol, sizeof(f));
	if (say)
		printf("%s(1) = %g\n", name, f(1));
	else
		f(1);
	dlclose(handle);
	return 0;
}

int main(int argc, char **argv)
{
	for (int round = 0; round < 3; round++) {
		for (int i = 1; i + 1 < argc; i += 2) {
			if (call(argv[i], argv[i + 1], round == 2) != 0)
				return 1;
		}
	}
	return 0;
}
