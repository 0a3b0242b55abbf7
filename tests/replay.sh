# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# For tests of vreplay: makes the program ./conflicts of tests/data/replay, whose procedures have pairs
# of conflicting accesses at known labels, or ends the test where that is not possible.

t_need gcc nm "$PYTHON"

gcc -O1 -Wl,-z,now -o conflicts "$ROOT/tests/data/replay/conflicts.c" \
	"$ROOT/tests/data/replay/conflicts.S" || t_skip_all "the program with planted pairs does not compile"

# at LABEL: its address in the file's terms, in hexadecimal; text is mapped where its offset is.
at()
{
	nm conflicts | awk -v l="$1" '$3 == l { sub(/^0+/, "", $1); print "0x" $1 }'
}

# pairs STREAM [OPTIONS]: those in the procedures of the assembly, "TYPE EARLIER LATER COUNT".
replay_first=$(at narrow)
pairs()
{
	local stream=$1 type earlier later count
	shift
	vreplay --image conflicts "$@" "$stream" 2>/dev/null |
		vtrace dump -k CONFLICT -F type,earlier,offset,count - |
		while read -r type earlier later count; do
			((later < replay_first)) || echo "$type $earlier $later $count"
		done
}

# planted TIMES NAME TYPE [OPTIONS]: the pair is found so often, and nothing else.
planted()
{
	local times=$1 name=$2 type=$3
	shift 3
	t_is "$name: $type, each time${*:+ ($*)}" "$(pairs "$name.vt" "$@")" \
		"$type $(at "$name.E") $(at "$name.L") $times"
}
