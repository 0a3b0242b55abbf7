#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Control-flow graphs: how many procedures have complete ones, of programs built here; and each step
# of recorded runs is an edge of a graph, or the graph is marked incomplete there.
#
# The machine's programs are looked at, too, since their compilers, languages and assembly are others:
# whatever they are, each step of theirs is an edge.  How many of their graphs are complete, and how
# many of these programs there are, is only told.

. "$(dirname "$0")/../lib.sh"

t_need strip
check=$VT_BUILD/tests/tools/cfg_check

number()
{
	awk -v name="$1" '$1 == name { print $2 }' "$2"
}

# ---- all procedures of programs, as they are and stripped ----

strip -o vtrace "$VT_BUILD/bin/vtrace"
t_ok "graphs of all procedures of a program built here" "$check" -a "$VT_BUILD/bin/vtrace" "$PWD/vtrace"
procedures=$(number procedures "$T_OUT")
complete=$(number complete "$T_OUT")
echo "# $complete of $procedures procedures are complete"
t_is "97 % are complete" "$((procedures > 1000)) $((complete * 100 >= procedures * 97))" "1 1"

files=()
for name in gzip bzip2 sort grep sed mawk xz perl tar diff objdump gdb sqlite3 find make; do
	path=$(command -v "$name") && files+=("$(readlink -f "$path")")
done
libc=$(ldd "$(command -v sort)" | awk '/libc\.so/ { print $3 }')
[ -f "$libc" ] && files+=("$libc")
t_ok "graphs of all procedures of ${#files[@]} files" "$check" -a "${files[@]}"
echo "# $(number complete "$T_OUT") of $(number procedures "$T_OUT") procedures of the machine's are complete"

# ---- recorded runs ----

if ! vtrace record --full -o probe.vt true >/dev/null 2>&1; then
	t_skip "recordings" "vtrace record --full does not work here: $(head -c 200 "$T_ERR")"
	t_done
fi

seq 1 4000 | sed 's/$/ line of text with a word or two, and a number/' >text.txt
sort -R --random-source=text.txt text.txt >mixed.txt
gzip -k text.txt
cat >words.awk <<'END'
{ n[$5]++ } END { for (i in n) print i, n[i] }
END
cat >words.pl <<'END'
while (<>) { $n{$1}++ if /(w\w+)/ }
print %n
END

# So many instructions of a program from its first on.
run_of()
{
	command -v "$1" >/dev/null || return
	vtrace record --full --count 3000000 -o run.vt -- "$@" >/dev/null 2>&1
	[ -s run.vt ] || return
	t_ok "every step of ${1##*/}${2:+ $2} is an edge" "$check" run.vt
	echo "# $1: $(number within "$T_OUT") edges within $(number procedures "$T_OUT") procedures," \
		"$(number incomplete "$T_OUT") from incomplete blocks"
	rm run.vt
}

run_of gzip -9 -c text.txt
run_of gzip -dc text.txt.gz
run_of bzip2 -c text.txt
run_of xz -T1 -c text.txt
run_of sort mixed.txt
run_of grep -E -c '(word|text).*[0-9]{3}' text.txt
run_of sed -E 's/([a-z]+)ord/\1ing/g' text.txt
run_of awk -f words.awk text.txt
run_of sha256sum text.txt
run_of diff text.txt mixed.txt
run_of tar cf - text.txt mixed.txt
run_of perl words.pl text.txt
run_of od -c text.txt
run_of find / -maxdepth 1 -newer text.txt
for mode in pack sort count; do
	run_of "$VT_BUILD/tests/tools/rec_work" $mode text.txt
done
t_done
