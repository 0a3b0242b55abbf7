#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record --sample-values: programs of the system print the same with it and without.

# compare() hands its texts to a shell.
# shellcheck disable=SC2016

. "$(dirname "$0")/../lib.sh"

mkdir tmp
export VTRACE_TMPDIR=$PWD/tmp
if ! vtrace record --sample-values -o probe.vt -- true >/dev/null 2>probe.err; then
	t_skip_all "vtrace record --sample-values does not work here: $(tail -n 1 probe.err)"
fi

# What they work on: text with many different lines, and a program.
for file in "$ROOT"/lib/base/*.c "$ROOT"/man/*.1; do
	cat "$file"
done >text
cat text text text >long
cp "$VT_BUILD/bin/vtrace" program
mkdir tree && cp "$ROOT"/lib/base/*.[ch] tree
cat >input.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
double work(double *a, int n)
{
	double s = 0;
	for (int i = 0; i < n; i++)
		s += a[i] > 0 ? sqrt(a[i]) : strlen("text") * exp(a[i]);
	return s;
}
int main(void) { double a[9] = {1, 2, 3}; printf("%f\n", work(a, 9)); return 0; }
END
cat >work.py <<'END'
import json, re, hashlib, collections
text = open('text').read()
words = collections.Counter(re.findall(r'\w+', text))
print(json.dumps(words.most_common(50)))
print(hashlib.sha256(repr(sorted(words)).encode()).hexdigest())
print(sum(i * i % 7 for i in range(300000)))
END
cat >work.pl <<'END'
my %n; open my $f, '<', 'text'; while (<$f>) { $n{$_}++ for /\w+/g }
print "$_ $n{$_}\n" for sort keys %n; my $s = 0; $s += $_ ** 2 % 7 for 1 .. 300000; print "$s\n";
END
cat >forks.sh <<'END'
for i in $(seq 60); do
	x=$(echo "$i" | sed 's/^/n/' | tr n m) && echo "$x" | (read -r y; echo "$y$y")
done
(exit 3); echo $?
END
cat >Makefile <<'END'
all: a b c d
a b c d:
	@i=0; while [ $$i -lt 20000 ]; do i=$$((i + 1)); done; echo $@
END
cat >work.sql <<'END'
create table t(a, b);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000)
	insert into t select i, i * 7919 % 1000 from n;
select b, count(*), sum(a) from t group by b order by 3 desc limit 40;
END
cat >Work.java <<'END'
public class Work {
	public static void main(String[] x) {
		java.util.TreeMap<Integer, Integer> m = new java.util.TreeMap<>();
		for (int i = 0; i < 3000000; i++)
			m.merge((int) ((long) i * 7919 % 1009), i, Integer::sum);
		System.out.println(m);
		try { Object o = null; o.hashCode(); } catch (NullPointerException e) { System.out.println("null"); }
	}
}
END
cat >work.js <<'END'
let m = new Map();
for (let i = 0; i < 3000000; i++) { let k = i * 7919 % 1009; m.set(k, (m.get(k) || 0) + i); }
console.log(JSON.stringify([...m].slice(0, 50)));
END
# Exceptions are unwound in four threads.
cat >throw.cc <<'END'
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>
static int check(int i)
{
	if (i % 3 == 0)
		throw std::runtime_error("three");
	if (i % 5 == 0)
		throw i;
	return i;
}
static long sum(int from)
{
	long n = 0;
	for (int i = from; i < from + 200000; i++) {
		try { n += check(i); }
		catch (std::runtime_error &) { n += 2; }
		catch (int k) { n += k * 3; }
	}
	return n;
}
int main()
{
	std::vector<long> sums(4);
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&sums, i] { sums[i] = sum(i * 7); });
	for (auto &t : threads)
		t.join();
	for (long n : sums)
		std::printf("%ld\n", n);
}
END
as_file=
if command -v gcc >/dev/null; then
	gcc -O2 -S -o input.s input.c && gcc -c -o input.o input.c && as_file=input.s
fi

compared=0
# compare PROGRAM SHELL-TEXT: the shell text runs it; $R is put before it.
compare()
{
	local want=0 got=0
	if ! command -v "$1" >/dev/null; then
		t_skip "$1" "it is not installed"
		return
	fi
	compared=$((compared + 1))
	R='' bash -c "$2" >want 2>want.err || want=$?
	R="timeout -k 5 120 vtrace record --sample-values -F 5000 --insns 64 -o x.vt --" \
		bash -c "$2" >got 2>got.err || got=$?
	if [ "$want" != "$got" ]; then
		t_fail "$1" "status $got, without recording $want: $(tail -n 5 got.err)"
	else
		t_same "$1" want got
	fi
}

compare gzip '$R gzip -9c long'
compare bzip2 '$R bzip2 -c long'
compare xz '$R xz -1c text'
compare zstd '$R zstd -T2 -9 -c long'
compare sort '$R sort --parallel=2 -k 2 long'
compare awk "\$R awk '{ n[\$1] += NF } END { for (i = 0; i < 100000; i++) s += i % 7; print s; for (k in n) print k, n[k] | \"sort\" }' text"
compare sed '$R sed -E "s/([a-z]+)_([a-z]+)/\2\1/g" text'
compare grep '$R grep -nE "([a-z]+)_\1|vt_[a-z]*" long'
compare perl 'PERL_HASH_SEED=1 $R perl work.pl'
compare python3 'PYTHONHASHSEED=1 $R python3 work.py'
compare md5sum '$R md5sum program program program'
compare sha256sum '$R sha256sum program program program'
compare tar '$R tar --sort=name --mtime=@0 --owner=0 --group=0 -cf - tree program'
compare find '$R find "$ROOT/lib" "$ROOT/tests" "$ROOT/man" -name "*.[ch15]" -size +1k'
compare bc 'echo "scale=600; 4*a(1); e(1)" | $R bc -l'
compare dc 'echo "2 3000^ p 3 2000^ p *p" | $R dc'
compare bash '$R bash forks.sh'
compare diff '$R diff text long'
compare od '$R od -A x -t x1z text'
compare objdump '$R objdump -d program --no-show-raw-insn --stop-address=0x40000'
compare nm '$R nm -D program'
compare readelf '$R readelf -W -S -l program'
compare jq 'seq 20000 | $R jq -s "map(. * 3 % 17) | group_by(.) | map(length)"'
compare sqlite3 '$R sqlite3 :memory: <work.sql'
compare make '$R make -s -O -j 2 | sort'
if [ -n "$as_file" ]; then
	compare gcc '$R gcc -O2 -S -o - input.c'
	compare as '$R as -o out.o input.s && cat out.o'
	compare ld '$R ld -r -o out.o input.o input.o -z muldefs && cat out.o'
fi
# Their own debuggers find nothing of ours in their way.
compare strace '$R strace -f -o trace.out sh -c "echo a; (echo b)"'
compare gdb 'echo | $R gdb -q -nx -batch -ex "break puts" -ex run -ex "stepi" -ex "stepi" -ex continue --args /bin/echo word 2>/dev/null | grep -c word'
if [ -d "$ROOT/.git" ] && git -C "$ROOT" log -1 >/dev/null 2>&1; then
	compare git '$R git -C "$ROOT" log --no-decorate --stat -n 30'
fi
compare g++ 'if [ -z "$R" ]; then g++ -O2 -pthread -o throw throw.cc; fi; $R ./throw'
# It preloads a library of its own.
compare stdbuf '$R stdbuf -o0 sh -c "echo a; i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done; echo \$i"'
compare java 'if [ -z "$R" ]; then javac Work.java; fi; $R java -Xshare:auto Work'
compare node '$R node work.js'

# All but what Debian's base system may lack, with its compiler or without.
t_is "enough were there to compare" "$((compared >= 14))" 1
t_is "nothing is left" "$(ls tmp)" ""
t_done
