#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# An option's letter means the same in every program that has it; a table says what. perf's letters
# mean what they mean in perf.

. "$(dirname "$0")/../lib.sh"

sort >table <<'END'
-F --fields
-F --freq
-E --epoch
-I --source-dir
-L --label
-N --entries
-S --sample
-V --version
-a --all-cpus
-b --branch
-b --by
-c --period
-d --db
-e --event
-f --fraction
-g --call-graph
-h --help
-i --input
-j --jobs
-k --kinds
-l --length
-m --model
-n --branches
-n --count
-n --every
-n --top
-n --worst
-o --output
-p --pid
-r --regs
-s --seed
-t --threshold
-t --truth
-w --what
-x --exact
-z --compress
END

# -F is perf's in both: `perf record -F` is a frequency, `perf script -F` names fields.  So is -b of
# record, branches, where nothing is sorted.  -n is how many: of the rows that are listed, the
# records that are printed, the instructions of one sample, the branches of one path.  -t is vsim's
# truth, as a model has no threshold.
for program in $(vtrace help | awk '/^  [a-z]/ { print $1 }'); do
	vtrace help "$program" | sed -n "s/^  \(-.\), \(--[a-z-]*\).*/\1 \2 $program/p"
done >used
t_like "programs are found" '^-o --output prof$' used
t_is "options that mean something else" \
	"$(awk 'NR == FNR { table[$1, $2] = 1; next } !(($1, $2) in table)' table used)" ""
t_is "letters of the table that no program has" "$(cut -d ' ' -f 1,2 used | sort -u | comm -13 - table)" ""
t_is "letters with two meanings" "$(cut -c 2 table | uniq -d | tr -d '\n')" Fbnt

# A compression that is none is refused by the parser of options: nothing is opened or written.
t_like "programs that compress" '^-z --compress sim$' used
awk '$1 == "-z" { print $3 }' used >packers
while read -r program; do
	for how in 99 lzma zlib:10 zstd:23 none:1; do
		vtrace "$program" -z "$how" </dev/null >out 2>err
		t_is "$program -z $how: is a wrong command" "$?" 2
		t_is "$program -z $how: writes nothing" "$(wc -c <out)" 0
		t_like "$program -z $how: says why" "^[a-z ]+: --compress: (not one of none, zlib, zstd: '$how'|$how: levels are 1 to 9 of zlib, )" err
	done
done <packers

# What perf calls otherwise is accepted, too.
demo=$ROOT/tests/data/demo/perf.data
for pair in "symbol procedure" "dso image"; do
	read -r perf ours <<<"$pair"
	t_ok "vprof --by $perf" vprof --by "$perf" "$demo"
	t_is "is --by $ours" "$(cat "$T_OUT")" "$(vprof --by "$ours" "$demo")"
done
t_ok "a slice by dso" vprof --dso '*' "$demo"
t_is "as by image" "$(cat "$T_OUT")" "$(vprof --image '*' "$demo")"
t_done
