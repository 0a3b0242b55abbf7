#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Value profiles from samples agree with full ones: for each of Debian's own programs, the part of
# the most frequent values of a full recording that interpreting samples has found, of instructions
# of which 30 values or more are known.  Compared are lists that chance misses once in 100 million at
# most.  A program's part falls below 80 % when one is missed that has a fifth of its executions: there
# are five of these at most, and eleven programs, so that is a false alarm in 1.8 million.

. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/find-top.sh"

top_needs
top_input 6000
export PYTHONHASHSEED=0 # of the program that is measured: sets would differ from run to run

# try NAME RUNS COMMAND...
try()
{
	local name=$1
	shift
	command -v "$2" >/dev/null || return 0
	result=$(top_compare -c "$@")
	printf '# %-10s %s\n' "$name" "$result"
	echo "$name $result" >>results
}

try gzip 100 gzip -6 -c text
try bzip2 40 bzip2 -c text
try xz 30 xz -1 -c text
try zcat 300 gzip -dc text.gz
try perl 20 perl work.pl
try python3 20 /usr/bin/python3 work.py
# shellcheck disable=SC2016 # awk's own variables
try mawk 150 mawk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { print length(n) }' text
try sort 150 sort -k2n shuffled
try sed 40 sed -E 's/([0-9]+).([0-9]+)/\2_\1/g' text
try grep 60 grep -acE '([0-9])\1\1.*line.[13579]' text
try objdump 20 objdump -d "$(command -v gzip)"

awk '{ sum += $3; n++ } END { printf "mean %.2f of %d programs\n", n ? sum / n : 0, n }' results >mean
sed 's/^/# /' mean
t_is "values of eight programs or more are compared" "$(awk '$5 > 50' results | wc -l | awk '{ print ($1 >= 8) }')" 1
t_is "at least 95 % of the most frequent values are found, on average" "$(awk '{ print ($2 >= 95) }' mean)" 1
t_is "and most of each program's" "$(awk '$3 < 80' results)" ''
t_done
