#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the README and vtrace-tutorial(7) show is true: each `$ command` runs in a copy of the sample
# traces' folder and prints what stands below it. A line of three dots stands for any number of lines.
# The tour leaves no file behind, so it runs twice. Nothing is left to chance: the traces are kept ones,
# the programs' random numbers have fixed seeds, and commands that record are left out.

. "$(dirname "$0")/../lib.sh"

cat >"$T_AUX/compare.py" <<'EOF'
"""Does the output (argv[1]) match the expected text (argv[2]), '...' being any lines?"""
import sys

have = [l.rstrip() for l in open(sys.argv[1], encoding="utf-8").read().splitlines()]
want = [l.rstrip() for l in open(sys.argv[2], encoding="utf-8").read().splitlines()]


def match(h, w):
    if w == len(want):
        return h == len(have)
    if want[w].strip() == "...":
        return any(match(k, w + 1) for k in range(h, len(have) + 1))
    return h < len(have) and have[h] == want[w] and match(h + 1, w + 1)


if not match(0, 0):
    print("\n".join(have))
    sys.exit(1)
EOF

# One line a command: its number, a tab, the command; what it should print goes to want.N.
split_commands()
{
	rm -f want.*
	awk '
		/^\$ / { n++; print n "\t" substr($0, 3); printf "" > ("want." n); next }
		n { print > ("want." n) }
	' >commands
}

# The console blocks of a text in Markdown.
console_blocks()
{
	awk '/^```console$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1"
}

# The displays of a manual page, up to its examples, as a reader sees them.
displays()
{
	awk '/^\.Sh EXAMPLES/ { exit } /^\.Bd -literal$/ { inside = 1; next } /^\.Ed$/ { inside = 0 } inside' "$1" |
		sed 's/^\\&//; s/\\e/\\/g'
}

run_commands()
{
	local n command status
	while IFS=$'\t' read -r n command <&3; do
		(cd tour && bash -o pipefail -c "$command") >got 2>&1
		status=$?
		if [ "$status" -eq 0 ] && "$PYTHON" "$T_AUX/compare.py" got "want.$n" >difference; then
			t_pass "$1: $command"
		else
			t_fail "$1: $command" "status $status, printed:
$(cat difference)"
		fi
	done 3<commands
}

fresh_folder()
{
	rm -rf tour && cp -r "$ROOT/tests/data/demo" tour && chmod -R u+w tour || exit 99
}

fresh_folder
console_blocks "$ROOT/README.md" | split_commands
t_is "the README shows three commands" "$(wc -l <commands)" 3
t_is "by line 20" "$(head -n 20 "$ROOT/README.md" | grep -c '^\$ ')" 3
run_commands README

fresh_folder
displays "$ROOT/man/vtrace-tutorial.7" | split_commands
t_is "the tour has many commands" "$(($(wc -l <commands) > 30))" 1
run_commands "the tour"
t_same "it leaves no file behind" <(cd tour && find . | sort) <(cd "$ROOT/tests/data/demo" && find . | sort)
run_commands "again"
t_done
