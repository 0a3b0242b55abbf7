#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace encode: what was recorded comes back out of the trace, instruction by instruction, through
# libipt's instruction decoder and through vtrace decode; the time is the model's; what cannot be
# encoded is told.

. "$(dirname "$0")/../lib.sh"

tools=$VT_BUILD/tests/tools
t_need valgrind

record()
{
	local name=$1
	shift
	vtrace record --full --blocks -o "$name.vt" "$@" >record.out 2>record.err ||
		{ [ "$name" = crash ] || sed 's/^/# /' record.err; }
}

# The file of each thread, behind the thread's number.
files()
{
	vtrace dump -k EXEC -F tid "$1.vt" | awk -v f="$1.pt" '
		!seen[$1]++ { print $1, f (NR > 1 ? "." $1 : "") }'
}

# round NAME OPTION...: NAME.vt comes back, with these options of the encoder.
round()
{
	local name=$1 tid file
	shift
	rm -f "$name".pt*
	t_ok "$name${*:+, $*}" vtrace encode "$@" --pages "$name" -o "$name.pt" "$name.vt"
	while read -r tid file; do
		"$tools/exec_ips" "$name.vt" "$tid" >want
		"$tools/pt_ips" "$file" "$name" >got
		t_same "libipt finds what was executed ($file)" got want
		vtrace decode --pages "$name.dump,$name.addr" "$file" >back.vt
		"$tools/exec_ips" back.vt >got
		t_same "and so does vtrace decode" got want
	done < <(files "$name")
}

record calls -- "$tools/rec_calls"
record signals -- "$tools/rec_signals"
record longjmp -- "$tools/rec_longjmp"
record threads -- "$tools/rec_threads"
record forks --follow -- "$tools/rec_fork"
record crash -- "$tools/rec_crash" segv
record window --skip 90007 --count 5003 -- "$tools/rec_work" count "$ROOT/LICENSE"
record handlers --toggle on_usr1 -- "$tools/rec_signals"
head -c 3000 "$ROOT/LICENSE" >text
record pack -- "$tools/rec_work" pack text

for name in calls signals longjmp threads forks crash window handlers pack; do
	round "$name"
done
round calls --tnt64
round calls --no-retcomp
round calls --tnt-bits 1 --psb 64
round signals --mtc 3 --cyc --psb 300
round threads --tsc --cpi 0.25 --tnt64
t_like "an unknown way on is told" 'does not say how execution went on' \
	<(vtrace encode handlers.vt 2>&1 >/dev/null)
t_ok "a trace is small" test "$(stat -c %s window.pt)" -lt 1000

# The encoder takes what a decoder found, too.
vtrace encode --pages a -o a.pt calls.vt
vtrace decode --pages a.dump,a.addr -o a.vt a.pt
vtrace encode --pages b -o b.pt a.vt
t_same "decoded and encoded again, the trace is the same" b.pt a.pt

# Two traces of what is forked, or one by its number.
vtrace dump -k EXEC -F pid,tid forks.vt | sort -u >pids
read -r pid tid < <(sed -n 2p pids)
vtrace encode --pid "$pid" --tid "$tid" --pages one -o one.pt forks.vt
"$tools/exec_ips" forks.vt "$tid" >want
"$tools/pt_ips" one.pt one >got
t_same "a thread alone" got want
t_status "standard output has room for one thread" 1 bash -c 'vtrace encode threads.vt >one.pt'
t_like "the others are told" 'more threads are left out' "$T_ERR"
vtrace encode --tid "$(files threads | sed -n '1s/ .*//p')" threads.vt >first.pt
t_same "it is the first" one.pt first.pt

# ---- time ----

times()
{
	local name=$1 options=$2
	shift 2
	eval "vtrace encode $options --pages calls -o time.pt calls.vt"
	vtrace decode --mtc 3 --nom-freq 20 --cpuid-15h 2,256 --pages calls.dump,calls.addr \
		-o time.vt time.pt
	t_ok "$name" "$PYTHON" "$ROOT/tests/pt_times.py" time.vt "$@"
	t_ok "and it is told often enough" test "$(cat "$T_OUT")" -ge "$least"
}

least=20000
times "cycles are exact at each decision" "--cyc --tnt-bits 1" 1 0 1
times "fractions of them, too" "--cyc --tnt-bits 1 --cpi 0.37" 0.37 0 1
least=4000
times "they are those of the first decision in a packet" "--cyc --cpi 3" 3 0 1
least=20000
times "the TSC follows from MTC and CYC" \
	"--cyc --mtc 3 --cpi 1.5 --tnt-bits 1 --nom-freq 20 --cbr 30" 1.5 4294967296 2/3 1000 1024
least=100
times "or from MTC alone" \
	"--mtc 3 --cpi 1.5 --tnt-bits 1 --nom-freq 20 --cbr 30" 1.5 4294967296 2/3 1000 1024

# ---- damage ----

vtrace encode --overflow 300 -s 3 --pages calls -o lost.pt calls.vt 2>lost.err
t_like "overflows are told" '^vtrace encode: [1-9][0-9]* overflows made' lost.err
vtrace info lost.pt >told
t_like "and are in the trace" '[1-9][0-9]* overflows' told
"$tools/pt_ips" lost.pt calls >got
t_is "a decoder goes on behind them" "$(wc -l <got)" 1
t_ok "and finds a lot" test "$(cut -d ' ' -f 1 got)" -gt 10000
vtrace encode --overflow 300 -s 3 -o again.pt calls.vt 2>again.err
t_same "the same seed loses the same" again.pt lost.pt
vtrace encode --overflow 300 -s 4 -o again.pt calls.vt 2>again.err
t_status "another seed loses others" 1 cmp again.pt lost.pt
vtrace encode -o whole.pt calls.vt
vtrace encode --damage 500 -o bad.pt calls.vt 2>bad.err
t_is "damage keeps the length" "$(stat -c %s bad.pt)" "$(stat -c %s whole.pt)"
t_is "and is counted" "$(cmp -l whole.pt bad.pt | wc -l)" \
	"$(sed -n 's/.* \([0-9]*\) bytes damaged$/\1/p' bad.err)"
vtrace encode --damage 500 -o again.pt calls.vt 2>again.err
t_same "it is the same again" again.pt bad.pt

# ---- what cannot be encoded, and other streams ----

"$tools/stream_exec" --insns 100000 >loop.vt
t_ok "a stream without code" vtrace encode -o loop.pt loop.vt
t_ok "the same through pipes" bash -c 'cat loop.vt | vtrace encode >pipe.pt'
t_same "gives the same" loop.pt pipe.pt
head -c 16 loop.pt | od -An -v -tx1 | tr -d ' \n' >begin
t_is "it begins with a PSB" "$(cat begin)" "02820282028202820282028202820282"

vsample -n 10000 loop.vt >sample.vt
t_status "samples of executed code are refused" 3 vtrace encode -o x.pt sample.vt
t_like "and told" 'sample.vt: samples of executed code, not all of it' "$T_ERR"
vtrace decode "$ROOT/tests/data/demo/perf.data" -o time.vt
t_status "so is a stream without blocks" 3 vtrace encode -o x.pt time.vt
t_like "and told" 'no executed code \(vtrace record --full' "$T_ERR"
head -c $(($(stat -c %s pack.vt) - 200)) pack.vt >cut.vt
t_status "a stream that breaks off" 1 vtrace encode --pages pack -o cut.pt cut.vt
"$tools/pt_ips" cut.pt pack >got
t_is "gives a good trace" "$(wc -l <got)" 1
cat >bad.txt <<'END'
block 1 7 0x1000 branch 0x1000 4,2
exec 7 7 0 0 6 0 1,1,1
exec 7 7 6 0 9 0 1,1
exec 7 7 6 0 4 0 1,9
exec 7 7 6 0 2 0 1
END
"$tools/stream_exec" --script <bad.txt >bad.vt
t_status "records that contradict themselves" 1 vtrace encode -o bad.pt bad.vt
t_like "are counted" '2 bad records, left out; the first: executed blocks: ' "$T_ERR"
t_status "an impossible clock" 2 vtrace encode --cpi 0 -o x.pt calls.vt
t_status "an impossible crystal" 2 vtrace encode --cpuid-15h 2 -o x.pt calls.vt
t_status "its own input" 2 vtrace encode -o calls.vt calls.vt
[ -c /dev/full ] && t_status "a full disk" 4 vtrace encode -o /dev/full calls.vt
t_done
