#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace doctor: what it says can be recorded is what perf can record, and the other way round.

. "$(dirname "$0")/../lib.sh"
t_need jq gcc perf

t_ok "text" vtrace doctor
t_is "a line for each finding" "$(grep -cE '^(yes|no) ' "$T_OUT")" "$(vtrace doctor --json | jq '.findings | length')"
t_is "in 100 columns at most, but for what to do" "$(grep -v ' fix: ' "$T_OUT" | awk 'length > 100')" ""
t_ok "JSON" vtrace doctor --json
cp "$T_OUT" found.json
there()
{
	jq -r --arg what "$1" '.findings[] | select(.what == $what) | .there' found.json
}
records()
{
	perf record -q -o x.data "$@" -- true >/dev/null 2>&1 && echo true || echo false
}
t_is "samples" "$(there samples)" "$(records -e cpu-clock:u)"
t_is "of the kernel" "$(there kernel)" "$(records -e cpu-clock:k)"
t_is "of all processors" "$(there all_cpus)" "$(records -a -e cpu-clock:u)"
# perf takes the CPU clock where there are no cycles, and says so in the file.
records_cycles()
{
	records -e "$1" >/dev/null
	perf evlist -i x.data 2>/dev/null | grep -q '^cycles' && echo true || echo false
}
t_is "by cycles" "$(there cycles)" "$(records_cycles cycles:u)"
t_is "precisely" "$(there precise)" "$(records_cycles cycles:up)"
t_is "with branches" "$(there branches)" "$(records -e cycles:u -j any,u)"
t_is "Intel PT" "$(there intel_pt)" "$(records -e intel_pt//u)"
t_is "names of the kernel" "$(there kernel_names)" \
	"$(grep -qvE '^0* ' /proc/kallsyms && echo true || echo false)"
t_is "perf is here" "$(there perf)" true
t_is "vtrace record --full" "$(there full)" \
	"$(vtrace record --full -o x.vt true >/dev/null 2>&1 && echo true || echo false)"
mkdir bin && ln -s "$(command -v vtrace)" bin/
PATH=$PWD/bin vtrace doctor --json >found.json
t_is "without perf" "$(there perf)" false
t_like "what to install" 'linux-perf' found.json

echo 'int main(void) { return 0; }' >m.c
gcc -g -o lines m.c
gcc -Wl,--build-id=none -o names m.c
strip -o stripped lines
cp lines whole && objcopy --only-keep-debug lines lines.debug && strip whole &&
	objcopy --add-gnu-debuglink=lines.debug whole
for row in lines:true,true,true names:false,true,false stripped:true,false,false whole:true,true,true; do
	vtrace doctor --json "./${row%%:*}" >found.json
	t_is "a program with ${row%%:*}" \
		"$(there program_id),$(there program_names),$(there program_lines)" "${row#*:}"
done
vtrace doctor --json m.c >found.json
t_is "what is no program" "$(there program)" false
t_ok "a name that is no text" vtrace doctor $'no\033[31m\nsuch'
t_like "is escaped" 'no\\x1b\[31m\\nsuch' "$T_OUT"
t_status "too many programs" 2 vtrace doctor 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17
t_done
