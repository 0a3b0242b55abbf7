#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vinterp --path: what is known along executed code, against recordings of the same executions.

. "$(dirname "$0")/../lib.sh"

t_status "not of samples" 2 vinterp --path -f 1/2 x.vt
t_status "nor by chance" 2 vinterp --path --skip random x.vt
vtrace decode -o samples.vt "$ROOT/tests/data/demo/perf.data"
t_ok "a stream that has none" vinterp --path -o none.vt samples.vt
t_like "is told" 'no executed code' "$T_ERR"

t_need valgrind
tools=$VT_BUILD/tests/tools

# record NAME COMMAND...: into NAME.vt
record()
{
	local name=$1
	shift
	vtrace record --full --values all --mem --follow -o "$name.vt" -- "$@" >/dev/null 2>"$name.err" || :
	t_ok "$name is recorded" vtrace info "$name.vt"
}

# same WHAT LEAST STREAM...: that at least so many results are known, and all values right
same()
{
	local what=$1 least=$2
	shift 2
	t_ok "$what: what is known is what was recorded" "$tools/interp_path" "$@"
	cp "$T_OUT" found
	t_is "$what: no contradiction" "$(grep '^contradictions' found)" "contradictions 0"
	t_is "$what: all of it is followed" "$(grep '^lost' found)" "lost 0"
	t_is "$what: enough is known" "$(awk -v n="$least" '/^result-known/ { print ($2 > n) }' found)" 1
	t_is "$what: branches teach" "$(awk '/^taught/ { print ($2 > 1000) }' found)" 1
}

head -c 1000 "$ROOT/LICENSE" >text
record gzip gzip -c text
record threads "$tools/rec_threads"
record signals "$tools/rec_signals"
record fork "$tools/rec_fork"
record jit "$tools/rec_jit"
for p in gzip threads signals fork jit; do
	same $p 5000 $p.vt
	vtrace encode --perf-data -o $p.data $p.vt
	vtrace decode -o $p.pt.vt $p.data
	same "the trace of $p" 5000 $p.vt $p.pt.vt
done

# The test itself can fail: the path of one program, the values of another.
t_status "differences are found" 1 "$tools/interp_path" jit.vt fork.vt

# ---- the program ----

vinterp --path -o one.vt gzip.pt.vt
vinterp --path -o two.vt gzip.pt.vt
t_same "twice the same" one.vt two.vt
summary() { vinterp --path --summary --json "$@"; }
t_is "every word of each known value is told" \
	"$(vtrace dump -k VALUE -F what,size,lane one.vt | awk -f "$ROOT/tests/told.awk")" \
	"$(summary gzip.pt.vt | jq .values.all.known)"
t_is "all instructions" "$(summary gzip.pt.vt | jq .insns)" \
	"$(vtrace dump -k EXEC -F insns gzip.pt.vt | awk '{ n += $1 } END { print n }')"
t_is "totals are in the stream" "$(vtrace dump -k META -F key,value one.vt | awk '$1 == "vinterp.insns" { print $2 }')" \
	"$(summary gzip.pt.vt | jq -r .insns)"
t_is "the table has the same numbers" "$(vinterp --path --summary gzip.pt.vt | awk '$1 == "all" { print $2, $3 }')" \
	"$(summary gzip.pt.vt | jq -r '.values.all | "\(.count) \(.known)"')"
vinterp --path -o values.vt gzip.vt
t_is "recorded values go, for they would count twice" "$(vtrace dump -k BLOCK values.vt | grep -c slots=)" 0
t_is "the path stays" "$(vtrace dump -k EXEC -F insns values.vt | cksum)" "$(vtrace dump -k EXEC -F insns gzip.vt | cksum)"
vinterp --path --keep -o kept.vt gzip.vt
t_is "unless they are kept" "$(vtrace dump -k EXEC kept.vt | cksum)" "$(vtrace dump -k EXEC gzip.vt | cksum)"
t_pipe "values are counted" 'vinterp --path gzip.pt.vt | vhot -o hot.vt'
t_is "there are hot lists" "$(($(vtrace dump -k HOT hot.vt | wc -l) > 1000))" 1
t_done
