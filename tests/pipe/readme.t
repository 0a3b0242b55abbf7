#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The README's tour is true: each `$ command` in its console blocks runs in a copy of the sample trace's
# folder and prints what stands below it. A line of three dots stands for any number of lines.
# Nothing is left to chance: the traces are kept ones, the programs' random numbers have fixed seeds, and
# commands that record are left out.

. "$(dirname "$0")/../lib.sh"

cp -r "$ROOT/tests/data/demo" tour
cd tour || exit 99
chmod -R u+w .

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
awk '
	/^```console$/ { inside = 1; next }
	/^```$/ { inside = 0; next }
	!inside { next }
	/^\$ / { n++; print n "\t" substr($0, 3); printf "" > ("want." n); next }
	n { print > ("want." n) }
' "$ROOT/README.md" >commands

while IFS=$'\t' read -r n command <&3; do
	case $command in
	make\ * | git\ * | sudo\ * | 'perf record'* | 'vtrace record'*)
		continue # other tests run these, or other machines
		;;
	esac
	bash -o pipefail -c "$command" >got 2>&1
	status=$?
	if [ "$status" -eq 0 ] && "$PYTHON" "$T_AUX/compare.py" got "want.$n" >difference; then
		t_pass "README: $command"
	else
		t_fail "README: $command" "status $status, printed:
$(cat difference)"
	fi
done 3<commands
t_done
