#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Call trees of executed code: exact counts of instructions below the calls that led to them.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" as ld

# All counts are known: a is called four times, leaf five times, the last time by a jump.
cat >prog.s <<'END'
	.globl _start
_start:	mov $3, %ebx
1:	call a
	dec %ebx
	jnz 1b
	call b
	mov $60, %eax
	xor %edi, %edi
	syscall
	.type _start, @function
	.size _start, .-_start
a:	nop
	nop
	call leaf
	ret
	.type a, @function
	.size a, .-a
b:	call a
	jmp leaf
	.type b, @function
	.size b, .-b
leaf:	nop
	ret
	.type leaf, @function
	.size leaf, .-leaf
END
# 3000 calls deep, and back; 10 calls deep, and back at once.
for depth in 3000 10; do
	case $depth in
	3000) back=nop ;;
	10) back='lea -8(%rbp), %rsp' ;;
	esac
	cat >deep$depth.s <<-END
		.globl _start
	_start:	mov %rsp, %rbp
		mov \$$depth, %ecx
		call deep
		call last
		mov \$60, %eax
		xor %edi, %edi
		syscall
		.type _start, @function
		.size _start, .-_start
	deep:	dec %ecx
		jz 1f
		call deep
	1:	$back
		ret
		.type deep, @function
		.size deep, .-deep
	last:	ret
		.type last, @function
		.size last, .-last
	END
done
for p in prog deep3000 deep10; do
	{ as -o $p.o $p.s && ld -o $p $p.o; } || t_skip_all "no x86-64 assembler"
	vtrace record --full -o $p.vt -- ./$p 2>err || t_skip_all "vtrace record --full does not work here"
done

# check NAME PYTHON-TEXT FILE OPTION...: the text may use `doc` and `rows`.
check()
{
	local name=$1 text=$2
	shift 2
	vprof --json "$@" >doc.json
	t_ok "$name" "$PYTHON" -c 'import json
doc = json.load(open("doc.json"))
rows = doc["rows"]
'"$text"
}
tree='got = [(r["depth"], r["procedure"], r["children"], r["self"]) for r in rows]'
check "the tree of calls" "$tree"'
assert got == [
    (0, "_start", 42, 14),
    (1, "a", 18, 12), (2, "leaf", 6, 6),
    (1, "b", 8, 2), (2, "a", 6, 4), (3, "leaf", 2, 2),
    (1, "leaf", 2, 2)], got
assert doc["chains"] == 42 and doc["cut_chains"] == 0, doc' --tree prog.vt
check "inclusive totals" '
assert {r["procedure"]: (r["children"], r["self"]) for r in rows} == {
    "_start": (42, 14), "a": (24, 16), "b": (8, 2), "leaf": (10, 10)}, rows' --children prog.vt
check "who calls whom" '
assert {(r["procedure"], r["caller"]): r["samples"] for r in rows if r.get("caller")} == {
    ("_start", "[no caller]"): 42, ("a", "_start"): 18, ("a", "b"): 6, ("b", "_start"): 8,
    ("leaf", "_start"): 2, ("leaf", "a"): 8}, rows' --callers prog.vt
t_is "stacks for flame graphs" "$(vexport --to folded prog.vt | sort | tr '\n' ',')" \
	"_start 14,_start;a 12,_start;a;leaf 6,_start;b 2,_start;b;a 4,_start;b;a;leaf 2,_start;leaf 2,"
check "differences of what was called" '
assert {r["procedure"]: r["events"][0]["after"] for r in rows} == {
    "_start": 42, "a": 24, "b": 8, "leaf": 10}, rows' --diff --children prog.vt prog.vt
t_ok "in words" vprof --tree prog.vt
t_like "what is counted" '^Instructions with a call chain: 42$' "$T_OUT"
t_is "without intervals" "$(grep -c ± "$T_OUT")" 0

# 7 of _start, 5 of each deep but 4 of the innermost, one of last.
check "deep recursion is cut, not lost" '
by = {r["procedure"]: r for r in rows}
assert by["_start"]["children"] == 7 + 5 * 2999 + 4 + 1 == doc["chains"], rows
assert by["deep"]["self"] == 5 * 2999 + 4 and doc["cut_chains"] == 5 * 1976 + 4, doc' \
	--children deep3000.vt
check "to its end and back" "$tree"'
assert got[0] == (0, "_start", 15007, 7) and got[-1] == (1, "last", 1, 1), (got[0], got[-1])
assert max(r["depth"] for r in rows) == 1023' --tree deep3000.vt
check "a return that leaves frames behind" "$tree"'
assert got[0] == (0, "_start", 7 + 9 * 3 + 2 + 2 + 1, 7) and got[-1] == (1, "last", 1, 1), got' \
	--tree deep10.vt

# A merge has the same trees.
vtrace merge --chains prog.vt deep3000.vt prog.vt -o merged.vt
for p in prog deep3000; do
	vexport --to folded $p.vt >$p.folded
done
sort prog.folded prog.folded deep3000.folded | awk '{ n[$1] += $2 } END { for (s in n) print s, n[s] }' |
	LC_ALL=C sort >expected
vexport --to folded merged.vt | LC_ALL=C sort >merged.folded
t_same "merged trees are the sums" merged.folded expected
check "what was cut remains so" '
assert doc["cut_chains"] == 5 * 1976 + 4 and doc["chains"] == 2 * 42 + 15007, doc' \
	--children merged.vt

vsample -n 5 -o sampled.vt prog.vt
t_status "samples of executed code have no chains" 3 vprof --children sampled.vt
t_like "which is said" 'no call chains' "$T_ERR"
t_done
