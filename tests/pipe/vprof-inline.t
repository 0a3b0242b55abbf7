#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof --inline: functions that are inlined have rows of their own.  A sample at every byte of a
# procedure; addr2line says which functions are active there.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc addr2line nm
PATH=$VT_BUILD/tests/tools:$PATH

cat >prog.c <<'END'
static volatile long sink;
static inline __attribute__((always_inline)) long inner(long n)
{
	long s = 0;
	for (long i = 0; i < n; i++)
		s += i ^ sink;
	return s;
}
static inline __attribute__((always_inline)) long middle(long n)
{
	return inner(n) * sink + inner(n + 1);
}
__attribute__((noinline)) long work(long n)
{
	long r = middle(n) + sink;
	sink = r;
	return r + 1;
}
int main(int argc, char **argv)
{
	return (int)work(argc + (long)argv) + 1;
}
END
gcc -O1 -g -no-pie -o prog prog.c || t_skip_all "no program can be made"

# The samples of work, called by main, and what addr2line makes of them.
cat >samples.py <<'END'
import collections, json, subprocess

nm = {w[3]: (int(w[0], 16), int(w[1], 16)) for w in (l.split() for l in subprocess.run(
    ['nm', '-S', 'prog'], stdout=subprocess.PIPE, text=True, check=True).stdout.split('\n'))
    if len(w) == 4}
start, size = nm['work']
own, below, edges = collections.Counter(), collections.Counter(), collections.Counter()
with open('samples.txt', 'w') as f:
    for at in range(start, start + size):
        print('SAMPLE pid=10 tid=10 misc=2 has=0x121 event=1 period=1 ip=%d '
              'callchain=0xfffffffffffffe00,%d,%d' % (at, at, nm['main'][0] + 4), file=f)
        chain = subprocess.run(['addr2line', '-f', '-i', '-e', 'prog', hex(at)],
                               stdout=subprocess.PIPE, text=True, check=True).stdout.split()[::2]
        chain = [n if n == 'work' else n + ' (inlined)' for n in chain] + ['main']
        own[chain[0]] += 1
        for name in set(chain):
            below[name] += 1
        for caller, callee in set(zip(chain[1:], chain)):
            edges[caller + ' > ' + callee] += 1
assert len(below) == 4, below
json.dump([own, below, edges], open('truth.json', 'w'))
END
t_ok "functions of each byte by addr2line" "$PYTHON" samples.py
{
	echo "EVENT id=1 name=cycles policy=interrupt"
	echo "IMAGE id=1 path=$T_DIR/prog"
	echo "MAP pid=10 tid=10 start=0x401000 length=0x1000 offset=0x1000 image=1 prot=5 misc=2"
	cat samples.txt
} | stream_make >x.vt

# check NAME PYTHON-TEXT OPTION...: the text may use `rows`, `own`, `below` and `edges`.
check()
{
	local name=$1 text=$2
	shift 2
	vprof --inline --json "$@" >doc.json
	t_ok "$name" "$PYTHON" -c 'import json
doc = json.load(open("doc.json"))
rows = doc["rows"]
own, below, edges = json.load(open("truth.json"))
'"$text"
}
check "own samples" '
assert {r["procedure"]: r["events"][0]["samples"] for r in rows} == own, rows
assert doc["by"] == "inlined"' x.vt
vprof -b inlined --json x.vt >by.json
t_is "is --by inlined" "$(vprof --inline --json x.vt | cksum)" "$(cksum <by.json)"
check "with what they call" '
assert {r["procedure"]: r["children"] for r in rows} == below, rows
assert {r["procedure"]: r["self"] for r in rows if r["self"]} == own, rows' --children x.vt
check "who calls whom" '
got = {r["procedure"] + " > " + r["callee"]: r["samples"] for r in rows
       if r.get("callee") and r["callee"] != "[self]"}
assert got == edges, (got, edges)' --callees x.vt
vprof --tree --inline x.vt >tree
t_like "the tree of calls" '^ .* {8}inner \(inlined\) ' tree
t_ok "a pattern without the word" vprof --children --inline --procedure 'inn*' x.vt
t_is "finds it" "$(grep -c 'inlined' "$T_OUT")" 1
check "differences" '
assert {r["procedure"]: r["events"][0]["after"] for r in rows} == below, rows' \
	--diff --children x.vt x.vt

vtrace pack -o packed.vt x.vt 2>/dev/null
for how in "--inline" "--children --inline" "--tree --inline"; do
	# shellcheck disable=SC2086 # options
	vprof $how x.vt >whole.txt
	mv prog away
	# shellcheck disable=SC2086 # options
	t_ok "packed: $how" vprof $how packed.vt
	t_is "as with the file" "$(cksum <"$T_OUT")" "$(cksum <whole.txt)"
	mv away prog
done

strip -g -o stripped prog
mv stripped prog
check "without debug information, procedures" '
assert [r["procedure"] for r in rows] == ["work"], rows' x.vt
t_status "by line" 2 vprof --inline -b line x.vt
t_like "is told" 'goes with rows of procedures' "$T_ERR"
t_done
