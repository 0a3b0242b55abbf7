#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace encode --perf-data: perf decodes of it what was recorded.

. "$(dirname "$0")/../lib.sh"

t_need perf valgrind
[ -z "$VT_SAN" ] || t_skip_all "perf decodes the same bytes whatever the build"
tools=$VT_BUILD/tests/tools

# record NAME COMMAND...: into NAME.vt
record()
{
	local name=$1
	shift
	vtrace record --full --blocks --follow -o "$name.vt" -- "$@" >/dev/null 2>"$name.err" || :
	t_ok "$name is recorded" vtrace info "$name.vt"
}

flow()
{
	"$PYTHON" "$ROOT/tests/perf_flow.py" "$@"
}

errors()
{
	perf script --itrace=e -i "$1" 2>/dev/null | grep -c 'instruction trace error'
}

# same NAME OPTION...: perf decodes it without an error, and the same
same()
{
	local name=$1
	shift
	t_ok "$name $*: encoded" vtrace encode --perf-data "$@" -o x.data "$name.vt"
	t_is "$name $*: perf has no error" "$(errors x.data)" 0
	t_ok "$name $*: the same instructions and branches" flow "$name.vt" x.data
}

# ours NAME OPTION...: our own reader of perf.data decodes it, and the same
ours()
{
	local name=$1
	shift
	vtrace encode --perf-data "$@" -o x.data "$name.vt"
	t_ok "$name $*: vtrace decodes it" vtrace decode -o z.vt x.data
	t_ok "$name $*: likewise" flow "$name.vt" z.vt
}

head -c 1000 "$ROOT/LICENSE" >text
record pack "$tools/rec_work" pack text
record calls "$tools/rec_calls" 20
record threads "$tools/rec_threads"
record signals "$tools/rec_signals"
record fork "$tools/rec_fork"
record longjmp "$tools/rec_longjmp"
record dlopen "$tools/rec_dlopen"
for p in pack calls threads signals fork longjmp dlopen; do
	same $p
done
same calls --tnt64 --psb 200
same calls --no-retcomp --tnt-bits 1
same fork --tsc
same signals --mtc 3 --cyc --tnt64
same dlopen --tsc
for p in threads signals fork; do
	same $p --tsc --cpi 2 --cpus 3 --slice 5000
	same $p --mtc 3 --cyc --cpi 2 --cpus 2 --cpu-wide --slice 20000
done

same signals --tsc --cpi 2 --cpus 2 --slice 1
record exec "$tools/rec_fork" "$tools/rec_longjmp" 5
same exec --tsc

ours threads
ours fork --tsc
ours fork
vprof --by image z.vt >images
t_unlike "fork: without times, too, the child has its parent's mappings" 'no mapping' images
ours signals --tsc --cpus 3 --slice 5000
ours threads --mtc 3 --cyc --cpus 2 --cpu-wide --slice 1000

# Nothing but the encoder's model and the trace tells perf the time.
t_ok "timed by TSC and MTC" vtrace encode --perf-data --mtc 3 --cpi 2 -o x.data calls.vt
t_ok "times lie in the tick" "$PYTHON" "$ROOT/tests/perf_times.py" 2 6 360 10 calls.vt x.data
t_ok "timed by CYC" vtrace encode --perf-data --mtc 3 --cyc --tnt-bits 1 --cpi 2 -o x.data calls.vt
t_ok "times are those of the branches" "$PYTHON" "$ROOT/tests/perf_times.py" 2 1 40 25 calls.vt x.data

# A tick of a TSC at 200 MHz takes 5 ns: 2^32 of them before the trace begins, from 1 s on.
t_ok "timed by a slow TSC" vtrace encode --perf-data --tsc --nom-freq 2 -o x.data calls.vt
t_is "its ticks are as long as they are" \
	"$(perf script --itrace=b -F time -i x.data 2>/dev/null | sed -n '1s/^ *\([0-9]*\)\..*/\1/p')" 22

# Parts: perf must find its way again after each.
t_ok "overflows" vtrace encode --perf-data --overflow 500 -o x.data threads.vt
lost=$(sed -n 's/.*: \([0-9]*\) overflows made.*/\1/p' "$T_ERR")
t_is "are many" "$((lost > 20))" 1
t_ok "pieces of the recording are left" flow $((lost * 4)) threads.vt x.data
t_is "perf sees them" "$(($(errors x.data) >= lost / 2))" 1
t_ok "a snapshot" vtrace encode --perf-data --tsc --psb 512 --snapshot 4000 -o x.data threads.vt
t_ok "has the ends" flow 60 threads.vt x.data
t_is "and no error" "$(errors x.data)" 0
t_ok "damage" vtrace encode --perf-data --damage 1000 -o x.data threads.vt
t_is "is seen by perf" "$(($(errors x.data) > 0))" 1

# Code that is in no file breaks nothing else.
record jit "$tools/rec_jit"
t_ok "generated code" vtrace encode --perf-data --tsc --psb 256 -o x.data jit.vt
t_is "perf has no such code" "$(($(errors x.data) > 0))" 1
t_ok "and all but it" flow 100 jit.vt x.data

# What a decoder has made of a trace can be encoded again.
vtrace encode --tnt64 -o raw.pt calls.vt
vtrace dump -k IMAGE,MAP calls.vt | tr '\t' ' ' >maps
images=()
while IFS='|' read -r id path; do
	pattern=$([ "$id" = 0 ] && echo '^[^@]*$' || echo "^[^@]*@$id\$")
	map=$(sed -n 's/ image=\([0-9]*\)\(.*\)/\2@\1/; /^MAP.*prot=0x5/p' maps | grep -m 1 "$pattern") || continue
	start=$(sed -n 's/.* start=\(0x[0-9a-f]*\).*/\1/p' <<<"$map")
	offset=$(sed -n 's/.* offset=\(0x[0-9a-f]*\).*/\1/p' <<<"$map")
	images+=(--image "$path:$((start - ${offset:-0}))")
done < <(sed -n 's/^IMAGE id=\([0-9]*\) type=file path=\(\/[^ ]*\).*/\1|\2/p; s/^IMAGE type=file path=\(\/[^ ]*\).*/0|\1/p' maps)
t_ok "a raw trace is decoded" vtrace decode "${images[@]}" -o decoded.vt raw.pt
same decoded

# Through a pipe perf reads the same.
t_pipe "a pipe" 'vtrace encode --perf-data threads.vt | perf script -i - --itrace=i1i -F tid,ip >piped'
vtrace encode --perf-data -o x.data threads.vt
perf script -i x.data --itrace=i1i -F tid,ip >file
t_is "has as many lines" "$(wc -l <piped)" "$(wc -l <file)"
sort piped >a && sort file >b
t_same "and the same ones" a b

# What else perf makes of it.
t_pipe "a report" 'perf report -i x.data --stdio >report'
t_like "with names" 'rec_threads' report
perf script -i x.data --show-mmap-events --show-task-events >events 2>/dev/null
t_like "mappings" 'PERF_RECORD_MMAP2 .* r-xp .*/rec_threads$' events
t_is "forks of threads" "$(grep -c PERF_RECORD_FORK events)" 4
t_pipe "build-ids" 'perf buildid-list -i x.data >ids'
t_like "of the program" "^[0-9a-f]{40} .*/rec_threads" ids
t_ok "once more" vtrace encode --perf-data -o y.data threads.vt
t_same "the same bytes" x.data y.data

# What perf.data cannot hold is left out, and all else is there.
cat >bad.txt <<'END'
IMAGE id=1 path=%2fa%00b
IMAGE id=2 path=/bin/true buildid=0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20
MAP pid=1 tid=1 start=0xfffffffffffff000 length=0x2000 image=2 prot=5
MAP pid=1 tid=1 start=0x1000 image=2 prot=5
MAP pid=1 tid=1 start=0x1000 length=0x1000 image=1 prot=5
MAP pid=99999999999 tid=1 start=0x1000 length=0x1000 image=2 prot=5
MAP pid=1 tid=1 start=0x1000 length=0x1000 image=77 prot=5
THREAD pid=1 tid=99999999999 op=2
THREAD pid=1 tid=1 op=3 ppid=99999999999
BLOCK id=1 pid=1 addr=0x1000 size=2 insns=1 end=jump target=0x1000 lengths=02 code=ebfe
EXEC pid=99999999999 tid=1 blocks=3 insns=3 base=1 width=2 ids=000000000000
EXEC pid=1 tid=99999999999 blocks=3 insns=3 base=1 width=2 ids=000000000000
EXEC pid=1 tid=1 blocks=3 insns=3 base=1 width=2 ids=000000000000
END
"$VT_BUILD/tests/tools/stream_make" <bad.txt >bad.vt
for o in --no-retcomp '--tsc --cpus 3'; do
	# shellcheck disable=SC2086 # words on purpose
	t_status "absurd mappings and threads, $o" 1 vtrace encode --perf-data $o -o bad.data bad.vt
	t_like "are told" '^vtrace encode: [79] mappings or threads are left out; the first: .' "$T_ERR"
	t_pipe "and the rest is there" 'perf script -i bad.data --itrace=b -F tid,ip,addr | grep "=> *1000" >/dev/null'
done

t_status "processors need times" 2 vtrace encode --perf-data --cpus 2 -o y.data threads.vt
t_like "says which" 'TSC' "$T_ERR"
t_status "processors need perf.data" 2 vtrace encode --cpus 2 -o y.data threads.vt
t_status "no pages" 2 vtrace encode --perf-data --pages y -o y.data threads.vt
t_status "nowhere to write" 4 vtrace encode --perf-data -o no/such/y.data threads.vt
t_done
