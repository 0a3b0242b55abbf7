#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How fast code is decoded into basic blocks: all of the pages of the longest trace, and only the
# blocks of it that were executed, each time into an empty table.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$build/tests/tools:$PATH
data=${VTRACE_DATA:-$here/../../../shared/data}/pt/mruby
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if [ ! -e "$data/data.dump" ]; then
	echo "pt-code: no optional test data at \$VTRACE_DATA or ../shared/data"
	exit 0
fi
read -r insns blocks time < <(pt_code_speed "$data/data.dump" 20)
printf 'pt-code  all pages: %d instructions in %d blocks, %.1f ns each\n' "$insns" "$blocks" "$time"
{ vtrace decode --pages "$data/data.dump,$data/data.addr" "$data/trace" 2>/dev/null || :; } |
	{ vtrace dump -k BLOCK -F addr 2>/dev/null || :; } | sed 's/.*addr=//' >"$dir/entries"
base=0x$(od -An -v -tx8 -N8 "$data/data.addr" | tr -d ' ')
read -r insns blocks time < <(pt_code_speed "$data/data.dump" 20 "$base" "$dir/entries")
printf 'pt-code  executed: %d instructions in %d blocks, %.1f ns each (aim: 60)\n' "$insns" "$blocks" "$time"
