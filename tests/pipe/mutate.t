#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# scripts/mutate on a tree of one small source, of which every change is known.
. "$(dirname "$0")/../lib.sh"
t_need nm ar gcc python3

mkdir -p tree/{scripts,lib/{base,shown},formats,cmd,tests/{unit,pipe}} \
	tree/build/{bin,obj/{lib/{base,shown},cmd,tests/unit}}
cp "$ROOT/scripts/mutate" tree/scripts/
cd tree || exit 99
: >scripts/mutate-equivalent

cat >lib/base/sum.c <<'E2'
#include <assert.h>
#include <stdlib.h>
#define START 0
int vt_error_set(int code, const char *text);
int vt_error_nomem(void);
int vt_sum(const int *v, int n)
{
	assert(n + 1 > 0);
	int s = START, *copy = malloc(4 * sizeof *copy);
	if (!copy)
		return vt_error_nomem();
	int *other = calloc(1, sizeof *other);
	if (!copy || !other)
		return s;
	free(other);
	for (int i = 0; i < n; i++)
		s += v[i];
	free(copy);
	if (s > 100)
		return vt_error_set(3 + 4, "more than 100");
	return s;
}

int vt_difference(int a, int b)
{
	return a - 4 * b;
}
E2
cat >tests/unit/test_sum.c <<'E2'
int vt_sum(const int *v, int n);
int vt_error_set(int code, const char *text)
{
	(void)text;
	return -code;
}
int vt_error_nomem(void)
{
	return -1;
}
int main(void)
{
	const int some[] = {1, 2, 3}, hundred[] = {60, 40}, more[] = {60, 41};
	return vt_sum(some, 3) != 6 || vt_sum(hundred, 2) != 100 || vt_sum(more, 2) != -7;
}
E2
echo 'int vt_unreached(int a) { return a + 1; }' >lib/base/lonely.c

# A source that only a program calls: the program's own shell tests see it.
echo 'int vt_shown(int a) { return a * 3; }' >lib/shown/shown.c
cat >cmd/vshow.c <<'E2'
#include <stdio.h>
int vt_shown(int a);
int cmd_show(void)
{
	return printf("%d\n", vt_shown(7)) < 0;
}
E2
cat >cmd/vtrace.c <<'E2'
int cmd_show(void);
int main(void)
{
	return cmd_show();
}
E2
cat >tests/pipe/vshow.t <<'E2'
#!/bin/sh
[ "$("$VT_BUILD/bin/vshow")" = 21 ]
E2
chmod +x tests/pipe/vshow.t
for f in lib/base/sum lib/base/lonely lib/shown/shown cmd/vshow cmd/vtrace tests/unit/test_sum; do
	gcc -std=c11 -c -o "build/obj/$f.o" $f.c
done
ar rcs build/libvtrace.a build/obj/lib/*/*.o
gcc -o build/bin/vtrace build/obj/cmd/*.o build/libvtrace.a
ln -s vtrace build/bin/vshow
ar rcs build/libvtools.a

mutate()
{
	B=build MUTATE_COMPILE='gcc -std=c11' MUTATE_LIBS='' scripts/mutate "$@"
}

# Each change there is: of what is asserted, of text, of want of memory, of room and of free, none.
t_status 'below its aim: 3 survive of what a test should see' 1 mutate -v -n 100
cp "$T_OUT" all
t_like 'what the test does not call survives' '^lib/base/sum\.c:26: survived$' all
t_is 'before and after are shown' "$(grep -B1 '+ return a + 4' all)" \
	"    - return a - 4 * b;
    + return a + 4 * b;"
t_unlike 'assertions stay' 'assert' all
t_unlike 'whether there is memory stays' '^ *- .*(!copy|!other)' all
t_unlike 'want of memory and text stay' 'vt_error_[a-z]*\(.*(nomem|\b[0-9] [-*] 4|[2346789], )' all
t_unlike 'releases stay' '^ *- .*free' all
t_is 'each kind of change is made' "$(grep -cE '^ *- (#define START 0|s \+= v\[i\];|if \(s > 100\)|for )' all)" 9
t_unlike 'room stays' '^ *- .*malloc' all
t_is 'all others are killed, those that would never end too' "$(grep -c ': survived' all)" 3
t_like 'a file without tests is named' '^no test reaches lib/base/lonely.c' all

t_like 'a shell test kills' '^lib/shown +([0-9]+) +\1 100.0% +85%$' all

mutate -n 5 -j 1 >one
mutate -n 5 -j 3 >three
t_same 'the same draw whatever the number of jobs' one three
mutate -n 5 -s 2 >two
t_status 'another seed draws others' 1 cmp -s one two
t_status 'a path picks' 2 mutate no/such

for other in '+ 4 *' '- 3 *' '- 5 *' '- 4 /' '- 4 +'; do
	printf 'lib/base/sum.c\treturn a - 4 * b;\treturn a %s b;\tfor the test\n' "$other"
done >scripts/mutate-equivalent
t_status 'equivalent ones are not drawn' 0 mutate -n 100
printf 'lib/base/sum.c\treturn a * b;\treturn a / b;\tgone\n' >>scripts/mutate-equivalent
t_status 'one that no longer fits is refused' 2 mutate
t_like 'and named' 'mutate-equivalent:6: lib/base/sum.c has no such line' "$T_ERR"
t_ok "those of this repository fit" env B="$VT_BUILD" "$ROOT/scripts/mutate" -l
t_done
