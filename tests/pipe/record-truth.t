#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Whole recordings checked against themselves, the programs' files and another tool: each load finds
# what was stored there last, control flow follows the code, and as many instructions are executed
# as valgrind's lackey counts.
. "$(dirname "$0")/../lib.sh"
t_need valgrind bash

PATH=$VT_BUILD/tests/tools:$PATH
cat "$ROOT"/man/*.1 "$ROOT"/formats/vt.md | head -c 100000 >in.txt
head -c 40000 in.txt >small.txt

# usage: count NAME FILE: what a checker counted.
count()
{
	sed -n "s/^$1 //p" "$2"
}

# usage: check NAME LOADS COMMAND...: at least so many loads of it are checked.
check()
{
	local name=$1 least=$2 known loads
	shift 2
	t_ok "$name: is recorded" vtrace record --full --values=all --mem --follow -o r.vt "$@"
	t_ok "$name: each load has what was stored there last" shadow_check r.vt
	cp "$T_OUT" shadow
	sed "s/^/# $name: /" shadow | grep -E ' (instructions|loads|stores|differences|loads_)'
	loads=$(count loads shadow)
	known=$((loads - $(count loads_unknown shadow)))
	if [ "$known" -ge "$least" ] && [ "$known" -ge $((loads * 60 / 100)) ]; then
		t_pass "$name: most loads were checked"
	else
		t_fail "$name: most loads were checked" "$known of $loads"
	fi
	t_ok "$name: the blocks are the code's and follow each other" flow_check r.vt
	cp "$T_OUT" flow
	t_is "$name: no load or store is missing" \
		"$(count loads_uncaught flow) $(count stores_uncaught flow)" "0 0"
}

check pack 200000 rec_work pack small.txt
check sort 100000 rec_work sort in.txt
t_is "sort: its code is that of the files" "$(count code_differs_from_file flow)" 0
# shellcheck disable=SC2016 # for the inner shell
check "forks and signals" 100000 bash -c \
	'(echo a | cat); (echo b | cat); trap "echo hi" USR1; kill -USR1 $$; true; wait'
t_is "the handlers have run and returned" \
	"$(($(count handlers flow) > 0)) $(count sigreturns flow)" "1 $(count handlers flow)"
check "all sorts of loads" 50000 rec_loads loads.log 1
check "threads" 20000 rec_threads
check "code made at run time" 20000 rec_jit
check "longjmp" 20000 rec_longjmp
check "a window" 50000 --skip 3000000 --count 500000 rec_work pack in.txt
if command -v xz >/dev/null; then
	check "threads of xz" 100000 xz -0 -T2 --block-size=20000 -c small.txt
else
	t_skip "threads of xz" "xz is not installed"
fi

# The checkers can fail: the same blocks and values, told to be elsewhere or other ones.
stream_exec -n 1000 -v 1 >made.vt
t_status "made-up control flow is found" 1 flow_check made.vt
cat >made.txt <<'END'
block 1 7 0x1000 fall 0 4,4 0:4:8 0:2:8 1:3:8 1:1:8
exec 7 7 0 0 4 0 1,1 00100000000000001100000000000000001000000000000011000000000000000010000000000000120000000000000000100000000000001200000000000000
END
stream_exec --script <made.txt >made.vt
t_run shadow_check made.vt
t_is "a load that is as the store" "$(count loads "$T_OUT") $(count differences "$T_OUT")" "2 0"
sed -i 's/1200000000000000$/1300000000000000/' made.txt
stream_exec --script <made.txt >made.vt
t_run shadow_check made.vt
t_is "a load that differs from the store is found" "$(count differences "$T_OUT")" 1

# The same environment for both, down to the lengths of paths: the dynamic linker reads it all.
lackey=/usr/libexec/valgrind/lackey-amd64-linux
mkdir bin
cp "$VT_BUILD/bin/vtrace" bin/
cp -r "$VT_BUILD/libexec" .
# usage: totals NAME COMMAND...
totals()
{
	local name=$1 ours theirs
	shift
	env -i PATH=/usr/bin:/bin "$T_DIR/bin/vtrace" record --full --values stores -o b.vt -- \
		"$@" >/dev/null
	flow_check b.vt >flow
	ours=$(($(count instructions flow) + $("$PYTHON" "$ROOT/tests/extra_looks.py" b.vt)))
	theirs=$(env -i PATH=/usr/bin:/bin VALGRIND_LIB="$T_DIR/bin/../libexec/vtrace" valgrind.bin \
		--command-line-only=yes --tool=lackey --vgdb=no --trace-children=no \
		--vex-guest-chase=no -- "$@" 2>&1 >/dev/null |
		sed -n 's/.*guest instrs: *//p' | tr -d ,)
	t_is "$name: as many instructions as lackey counts" "$ours" "${theirs:-none}"
	echo "# $name: $ours instructions"
}
if [ -x "$lackey" ] && command -v valgrind.bin >/dev/null && [ -z "$VT_SAN" ]; then
	ln -s "$lackey" libexec/vtrace/
	totals pack "$VT_BUILD/tests/tools/rec_work" pack small.txt
	totals sort "$VT_BUILD/tests/tools/rec_work" sort small.txt
else
	t_skip "instruction totals" "valgrind's lackey is not installed"
fi
t_done
