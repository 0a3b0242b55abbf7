#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# One library takes the place of another that was closed: what was executed of both is decoded, each
# up to where the next one's mappings, those without code first, come.
. "$(dirname "$0")/../lib.sh"
t_need valgrind gcc

cat >lib.c <<'END'
long step(long i)
{
	return i * FACTOR + 1;
}
END
cat >main.c <<'END'
#include <dlfcn.h>

int main(int argc, char **argv)
{
	volatile long sum = 0;
	int i, k;

	for (i = 1; i < argc; i++) {
		void *lib = dlopen(argv[i], RTLD_NOW);
		long (*step)(long) = lib ? (long (*)(long))dlsym(lib, "step") : 0;

		if (!step)
			return 1;
		for (k = 0; k < 100; k++)
			sum += step(k);
		dlclose(lib);
	}
	return 0;
}
END
gcc -O1 -shared -fPIC -DFACTOR=3 -o first.so lib.c
gcc -O1 -shared -fPIC -DFACTOR=4 -o second.so lib.c
gcc -O1 -o main main.c

t_ok "the program is recorded" \
	vtrace record --full --blocks -o full.vt -- ./main "$PWD/first.so" "$PWD/second.so" "$PWD/first.so"
t_is "the libraries have one place" "$(vtrace dump -k MAP -F start,prot full.vt | sort | uniq -c |
	awk '$1 == 3 && $3 == "0x5"' | wc -l)" 1
"$VT_BUILD/tests/tools/exec_ips" full.vt >want
for options in "--tsc" "--mtc 3 --cyc" "--tsc --cpus 2 --slice 3000"; do
	# shellcheck disable=SC2086 # words on purpose
	t_ok "$options: encoded" vtrace encode --perf-data $options -o full.data full.vt
	for engine in fast libipt; do
		t_ok "$options: $engine decodes it" vtrace decode --engine=$engine -o back.vt full.data
		"$VT_BUILD/tests/tools/exec_ips" back.vt >got
		t_same "$options: $engine finds what was executed" got want
	done
done
t_done
