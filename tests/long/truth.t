#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A hundred million values that the interpreter says to know of real programs, in runs that begin
# anywhere with all registers and all memory that is recorded, are those that were recorded; so are
# those of runs that know less.
#
# The programs are the machine's, for what they have that ours have not: other languages, compilers
# and assembly.  Whatever they are, no value may be wrong; those that are missing are skipped, and how
# much is compared is only bounded from below.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/truth.sh"
t_need valgrind

cat "$ROOT"/man/*.[135] "$ROOT"/formats/vt.md "$ROOT"/README.md | head -c 400000 >in.txt
head -c 120000 in.txt >small.txt
cat in.txt in.txt in.txt | gzip -c >big.gz
cp "$ROOT/lib/machine/insn/insn.c" "$ROOT/lib/base/hash.c" .
gcc -E -I"$ROOT/lib" -o hash.i hash.c
gcc -S -O2 -I"$ROOT/lib" -o insn.s insn.c
gcc -c -o insn.o insn.s
cc1=$(gcc -print-prog-name=cc1)

# usage: program NAME SKIP COMMAND...: its start, and a piece from SKIP on; if it is there.
program()
{
	local name=$1 skip=$2
	shift 2
	if ! command -v "$1" >/dev/null; then
		t_skip "$name" "$1 is not installed"
		return
	fi
	truth "$name" 0 3000000 500000 "$@"
	truth "$name" "$skip" 5000000 2000000 "$@"
}

cat >math.py <<'EOF'
import hashlib, json, math, re, struct
total = 0.0
for i in range(1, 4000):
    x = i * 0.37
    total += math.sin(x) * math.exp(-x / 900) + math.sqrt(x) / math.log(x + 2) + math.atan2(x, i)
    total += math.fmod(x, 3) + math.pow(x, 1.5) + float("%.9e" % x) + round(x) + (i << 70) % 1000003
    hashlib.blake2b(struct.pack("<dqf", x, i, x)).digest()
print(json.dumps(re.findall(r"\d", repr(total))))
EOF
cat >work.pl <<'EOF'
my %n;
while (<>) { $n{lc $1}++ while /(\w+)/g; tr/a-y/b-z/; $x += sin(length) * exp(-$. / 500); }
print "$_ $n{$_}\n" for sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
printf "%.12g %s\n", $x, join ",", map { sprintf "%e", log(1 + $_) } 1 .. 300;
EOF
cat >work.awk <<'EOF'
{ for (i = 1; i <= NF; i++) { n[$i]++; s += length($i) ^ 0.5 * cos(NR) } }
END { for (w in n) t += n[w] * log(n[w]); printf "%.10f %.10f\n", s, t }
EOF
cat >work.bc <<'EOF'
scale = 120
for (i = 1; i < 60; i++) x = x + s(i) * l(i) / sqrt(i) + e(1 / i)
x; 3 ^ 2000 % 1000003
quit
EOF
# shellcheck disable=SC2016 # for the recorded shell
shell='f() { local i=$1; while [ "$i" -gt 0 ]; do s=${s//a/bb}x$((i * 7919 % 101)); i=$((i - 1)); s=${s:0:40}; done; }; f 1500; echo "$s"; for w in *; do case $w in *.txt) echo "${w^^}" ;; esac; done; (echo sub) | cat'

truth_header
program gzip 20000000 gzip -9 -c in.txt
program gunzip 3000000 gzip -d -c big.gz
program xz 30000000 xz -6 -T1 -c small.txt
program bzip2 20000000 bzip2 -9 -c in.txt
program zstd 10000000 zstd -12 --single-thread -q -c in.txt
program sort 10000000 sort --parallel=2 -k 2 in.txt in.txt
program mawk 10000000 mawk -f work.awk in.txt
program sed 5000000 sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g; s/[0-9]+/<&>/' in.txt
program grep 5000000 grep -c -i -E '(recor|interpret)[a-z]*.*value|^.{3,9}x' in.txt in.txt in.txt
program perl 10000000 perl work.pl in.txt
program python3 60000000 /usr/bin/python3 -I math.py
program bash 5000000 bash -c "$shell"
program cc1 60000000 "$cc1" -quiet -fpreprocessed -O2 -o /dev/null hash.i
program as 10000000 as -o /dev/null insn.s
program objdump 10000000 objdump -d insn.o
program tar 3000000 tar -c -f - "$ROOT/tests" "$ROOT/lib"
program find 4000000 find /usr/share/doc -name '*.gz' -newer /etc/passwd
program sha256sum 4000000 sha256sum in.txt in.txt
program jq 8000000 jq -n '[range(3000) | {a: (. * 1.5), b: "\(.)"}] | map(.a | sqrt) | add'
program openssl 10000000 openssl enc -aes-256-cbc -pbkdf2 -iter 20000 -k x -in in.txt -out /dev/null
program sqlite3 10000000 sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c where x<20000) select sum(x*1.5), count(distinct x%97), avg(length(hex(x))) from c'
program bc 3000000 bc -l -q work.bc
truth threads 0 10000000 100000 "$VT_BUILD/tests/tools/rec_threads"
truth signals 0 10000000 100000 "$VT_BUILD/tests/tools/rec_signals"

read -ra names <<<"$truth_programs"
printf '# %-12s %12s %8s %12d %12d\n' "${#names[@]} programs" '' '' "$truth_free" "$truth_values"
t_is "at least twelve programs" "$((${#names[@]} >= 12))" 1
t_is "a hundred million values of runs that know all" "$((truth_free >= 100000000))" 1
t_done
