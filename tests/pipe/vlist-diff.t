#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vlist --diff: two streams of one program, and of two builds of it, row by row.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc valgrind

# ---- the same code ----

demo=$ROOT/tests/data/demo
list() { vlist --symfs "$demo/symfs" "$@"; }
t_ok "the sample trace is decoded" vtrace decode "$demo/perf.data" -o one.vt
t_ok "twice" vtrace merge one.vt one.vt -o two.vt
list -i one.vt --asm --json smooth >one.json
list -i two.vt --diff one.vt --json smooth >diff.json
t_ok "instructions are those of the listing, with the samples of both" "$PYTHON" -c '
from listed import load
one = [r for r in load(open("one.json"))["procedures"][0]["rows"] if "address" in r]
doc, = load(open("diff.json"))["procedures"]
assert len(one) == len(doc["rows"]) > 10, (len(one), len(doc["rows"]))
for a, d in zip(one, doc["rows"]):
    n = a.get("cpu-clock", 0)
    assert d["cpu-clock.before"] == n and d["cpu-clock.after"] == 2 * n, (a, d)
    assert d["cpu-clock.delta"] == n and d["address.before"] == d["address.after"] == a["address"]
    assert not d.get("only")
assert doc["only_before"] == doc["only_after"] == 0 and doc["aligned"]
stars = sum(d.get("cpu-clock.significant") == 1 for d in doc["rows"])
assert doc["significant"] == stars > 3'
list -i two.vt --source --diff one.vt --json smooth >source.json
t_ok "source lines add up to the same" "$PYTHON" -c '
from listed import load
lines, code = (load(open(f))["procedures"][0] for f in ("source.json", "diff.json"))
for key in "before", "after":
    total = [sum(r["cpu-clock." + key] for r in d["rows"]) for d in (lines, code)]
    assert total[0] == total[1] > 0, total
assert all("line.before" in r for r in lines["rows"])'
list -i one.vt --diff one.vt smooth >same
t_like "what did not change" '^0 changes are significant' same

# ---- two builds, every execution counted ----

cat >p.c <<'EOF'
#include <stdio.h>
double total;
__attribute__((noinline)) void work(const double *a, int n)
{
	for (int i = 0; i < n; i++) {
		total += a[i] * 1.5;
#ifdef MORE
		total /= 1.0625;
#endif
	}
}
#ifdef MORE
__attribute__((noinline)) void shift(void) { puts("addresses move"); }
#endif
int main(void)
{
	double a[100] = {1};
#ifdef MORE
	shift();
#endif
	for (int k = 0; k < 20; k++)
		work(a, 100);
	return total < 0;
}
EOF
mkdir -p before after
t_ok "a build" gcc -O1 -g -o before/p p.c
t_ok "another" gcc -O1 -g -DMORE -o after/p p.c
for build in before after; do
	t_ok "$build: recorded" vtrace record --full --blocks -o $build.vt -- ./$build/p
done
vlist -i after.vt --diff before.vt --json work >work.json
t_ok "what was put in is what only one has; all else is aligned, with exact counts" "$PYTHON" -c '
from listed import load
doc, = load(open("work.json"))["procedures"]
rows = doc["rows"]
for r in rows:
    name = r["code"].split()[0]
    if r.get("only") == ">":
        assert r["instructions.before"] == 0
    elif r.get("only") == "<":
        assert r["instructions.after"] == 0
    else:
        assert r["instructions.before"] == r["instructions.after"], r
assert [r for r in rows if r["code"].startswith("divsd") and r.get("only") == ">"
        and r["instructions.after"] == 2000]
both = [r for r in rows if not r.get("only")]
assert any(r["code"].startswith("mulsd") and r["instructions.after"] == 2000 for r in both)
assert any(r["code"].startswith("j") for r in both)
assert doc["only_after"] == sum(r.get("only") == ">" for r in rows) > 0
assert doc["only_before"] == sum(r.get("only") == "<" for r in rows)
assert doc["only_before"] < 6 < len(both), (doc["only_before"], len(both))'
vlist -i after.vt --diff before.vt work >text
t_like "people see it" '^ +0 +2000 +\+2000 +\* +> +[0-9a-f]+ +divsd ' text
vlist -i after.vt --diff before.vt --csv work main >csv
t_is "programs get all procedures in one table" "$(grep -c '^instructions.before' csv)" 1

# ---- all that there are ----

t_ok "all procedures, of which one is new" vlist -i after.vt --diff before.vt --all
cp "$T_OUT" all
t_like "the new one is told" '^vlist: before.vt: p:shift: no such procedure' "$T_ERR"
t_is "and not listed" "$(grep -c '^shift$' all)" 0
t_is "the others are" "$(grep -cE '^(main|work)$' all)" 2
t_ok "the hottest" vlist -i after.vt --diff before.vt --top 1
t_is "is listed" "$(grep -c '^Before:' "$T_OUT")" 1
cat >twin.c <<'EOF'
static __attribute__((noinline)) int twin(int n) { return n * N; }
__attribute__((noinline)) int NAME(int n) { return twin(n) + 1; }
EOF
echo 'int one(int); int two(int); int main(void) { return one(1) + two(2) > 100; }' >main.c
gcc -O1 -DN=3 -DNAME=one -c -o one.o twin.c
gcc -O1 -DN=5 -DNAME=two -c -o two.o twin.c
t_ok "two static functions of one name" gcc -O1 -o twins main.c one.o two.o
t_ok "are executed" vtrace record --full --blocks -o twins.vt -- ./twins
vlist -i twins.vt --diff twins.vt --all >all 2>said
t_is "each is beside itself" "$(grep -c '^twin$' all) $(grep -c twin said)" "2 0"

# ---- errors ----

mkdir none
t_status "nothing but code that is not there" 3 vlist --symfs none -i one.vt --diff one.vt --all
t_like "says so" '^vlist: nothing to compare: ' "$T_ERR"

t_status "a procedure that was not there before" 2 vlist -i after.vt --diff before.vt shift
t_status "no such file" 3 vlist -i after.vt --diff missing.vt work
t_status "--diff and --values" 2 vlist -i after.vt --diff before.vt --values work
t_status "--diff and --context" 2 vlist -i after.vt --diff before.vt --context 3 work
t_status "/dev/full" 4 vlist -i after.vt --diff before.vt -o /dev/full work

t_done
