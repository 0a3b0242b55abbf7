#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Control-flow graphs: how many procedures of Debian's binaries have complete ones; and each step of
# recorded runs is an edge of a graph, or the graph is marked incomplete there.

. "$(dirname "$0")/../lib.sh"

check=$VT_BUILD/tests/tools/cfg_check

number()
{
	awk -v name="$1" '$1 == name { print $2 }' "$2"
}

# ---- all procedures of programs as they are installed: most are stripped ----

files=()
for name in gzip bzip2 sort grep sed mawk xz perl tar diff objdump gdb sqlite3 find make; do
	path=$(command -v "$name") && files+=("$(readlink -f "$path")")
done
libc=$(ldd "$(command -v sort)" | awk '/libc\.so/ { print $3 }')
[ -f "$libc" ] && files+=("$libc")
t_ok "graphs of all procedures of ${#files[@]} files" "$check" -a "${files[@]}"
cp "$T_OUT" all.txt
procedures=$(number procedures all.txt)
complete=$(number complete all.txt)
echo "# $complete of $procedures procedures are complete"
if [ "$((complete * 100))" -ge "$((procedures * 97))" ]; then
	t_pass "97 % are complete"
else
	t_fail "97 % are complete" "$complete of $procedures"
fi

# ---- recorded runs ----

if ! vtrace record --full -o probe.vt true >/dev/null 2>&1; then
	t_skip "recordings" "vtrace record --full does not work here: $(head -c 200 "$T_ERR")"
	t_done
fi

seq 1 4000 | sed 's/$/ line of text with a word or two, and a number/' >text.txt
sort -R --random-source=text.txt text.txt >mixed.txt
gzip -k text.txt
echo 'for (i = 0; i < 300; i++) { s += sqrt(i) }; s' >sum.bc

# All of a run, from its first instruction on, up to so many.
runs=(
	"gzip -9 -c text.txt"
	"gzip -dc text.txt.gz"
	"bzip2 -c text.txt"
	"xz -T1 -c text.txt"
	"sort mixed.txt"
	"grep -E -c (word|text).*[0-9]{3} text.txt"
	"sed -E s/([a-z]+)ord/\\1ing/g text.txt"
	"awk { n[\$5]++ } END { for (i in n) print i, n[i] } text.txt"
	"sha256sum text.txt"
	"diff text.txt mixed.txt"
	"tar cf - text.txt mixed.txt"
	"perl -ne \$n{\$1}++ if /(w\\w+)/; END { print %n }"
	"od -c text.txt"
	"find / -maxdepth 1 -newer text.txt"
)
recorded=0
for run in "${runs[@]}"; do
	name=${run%% *}
	command -v "$name" >/dev/null || continue
	# The words of awk's and perl's programs are one argument.
	case $run in
	awk*) set -- awk '{ n[$5]++ } END { for (i in n) print i, n[i] }' text.txt ;;
	perl*) set -- perl -ne '$n{$1}++ if /(w\w+)/; END { print %n }' text.txt ;;
	# shellcheck disable=SC2086 # words are wanted
	*) set -- $run ;;
	esac
	vtrace record --full --count 3000000 -o run.vt -- "$@" >/dev/null 2>&1
	[ -s run.vt ] || continue
	recorded=$((recorded + 1))
	t_ok "every step of $name is an edge" "$check" run.vt
	echo "# $name: $(number within "$T_OUT") edges within $(number procedures "$T_OUT") procedures," \
		"$(number incomplete "$T_OUT") from incomplete blocks"
	rm run.vt
done
if [ "$recorded" -ge 12 ]; then
	t_pass "twelve programs or more"
else
	t_skip "twelve programs or more" "only $recorded could be recorded"
fi

t_done
