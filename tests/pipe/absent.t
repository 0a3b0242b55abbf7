#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every program with streams of every kind: one that has nothing for the program gives status 3 and
# one line that says what is missing of which stream, and which stage makes it; one that has
# something does not; one of events of which no sample was taken is a profile of 0 samples.

. "$(dirname "$0")/../lib.sh"

PATH=$VT_BUILD/tests/tools:$PATH

# ---- a stream of each kind ----

event='EVENT id=1 name=cycles policy=interrupt unit=cycles'
count='COUNT image=1 offset=0x1000 event=1 samples=10 period=10000'

# What is mapped, and the records that the arguments are.
make_stream()
{
	printf '%s\n' 'THREAD pid=10 tid=10 op=1 comm=x' 'IMAGE id=1 path=/synthetic' \
		'MAP pid=10 tid=10 start=0x400000 length=0x10000 image=1 prot=5' "$@" | stream_make
}

stream_make </dev/null >empty.vt
make_stream >maps.vt
make_stream "$event" >declared.vt
make_stream "$event" 'SAMPLE time=1 pid=10 tid=10 event=1 ip=0x401000 period=1000' >samples.vt
make_stream "$event" "$count" >counts.vt
make_stream 'VALUE pid=10 tid=10 ip=0x401000 what=load size=8 value=7 weight=1' >values.vt
freq='FREQ image=1 offset=0x1000 event=1 samples=10 period=10000 executions=100 cycles=10'
make_stream 'META key=vfreq.model value=skylake' "$event" "$count" "$freq" >freqs.vt
make_stream "$event" 'META key=vfreq.samples value=0' >estimated.vt
make_stream 'CONFLICT image=1 offset=0x1004 earlier_image=1 earlier=0x1000 type=1 count=3 executions=5' \
	>pairs.vt
stream_exec -n 20000 >path.vt
stream_exec -n 20000 -v 3 >full.vt
t_pipe "a sample and lists of executed code" \
	'vsample -n 1000 --burst 4 full.vt -o sampled.vt; vhot full.vt -o lists.vt'

all="empty maps declared samples counts values freqs estimated pairs path full sampled lists"

# ---- programs ----

# check SERVED PATTERN COMMAND...: the streams SERVED have something for it, @ being the stream; all
# others lack what PATTERN says.
check()
{
	local served=$1 pattern=$2 program s
	shift 2
	program=$1
	[ "$program" != vtrace ] || program="vtrace $2"
	for s in $all; do
		t_run "${@//@/$s.vt}"
		case " $served " in
		*" $s "*)
			t_is "$* on $s: done" "$((T_STATUS <= 1))" 1
			;;
		*)
			t_is "$* on $s: status" "$T_STATUS" 3
			t_is "$* on $s: one line" "$(wc -l <"$T_ERR")" 1
			t_like "$* on $s: what is missing" "^$program: ${s}[.]vt: $pattern" "$T_ERR"
			;;
		esac
	done
}

# The event and what was counted; executed code is counted as well.
samples="declared samples counts freqs estimated path full sampled lists"
none='no samples \(vtrace decode makes them of perf.data, vsample and vsim of a recording\)$'
check "$samples" "$none" vprof @
check "$samples" "$none" vstats @ @
check "$samples" "$none" vlist --all -i @
check "$samples" "$none" vdb --db test.db add @
check "samples counts freqs path full sampled lists" "$none" vprof --diff @ @

none='no executed code \(vtrace record --full records it, vtrace decode makes it of Intel PT\)$'
some='samples of executed code, not all of it \(vtrace record --full records it\)$'
check "path full" "$none|$some" vsample -o out.vt @
check "path full" "$none|$some" vsample --per-instruction -o out.vt @
check "" "$none|$some|no times of executed code" vsample -e cycles -o out.vt @
check "full" "$none|$some|no loads \(vtrace record --full" vsample -e loads -o out.vt @
check "path full" "$none|$some" vsim -o out.vt @
check "path full" "$none|$some" vtrace encode -o out.pt @
check "path full" "$none|$some" vtrace encode --perf-data -o out.data @
check "path full sampled" "$none" vinterp --path -o out.vt @
check "path full sampled lists" "$none" vcmp --truth @ freqs.vt
check "path full sampled lists" "$none" vfreq -o out.vt --exact @ freqs.vt

none='no samples of cycles( or other time, but of instructions)? '
none+='\(vtrace decode makes them of perf.data, vsim of a recording\)$'
check "declared samples counts freqs estimated" "$none" vfreq -o out.vt @
check "declared samples counts freqs estimated" "$none" vfreq --json @
none='no samples with registers \(vtrace record --regs\) or latencies \(perf mem record\)$'
check "declared estimated" "$none" vinterp -o out.vt @
check "declared estimated" "$none" vinterp --summary @

none='no values \(vtrace record --full records them, vinterp finds them behind samples\)$'
none+='|hot lists, and no values to make them of \(vtrace merge adds hot lists\)$'
check "values path full sampled" "$none" vhot -o out.vt @
check "values path full sampled" "$none" vhot -w arg -o out.vt @
check "values full sampled" "$none" vinv --intervals 2 @

none='no hot lists \(vhot makes them\)$'
check lists "$none" vinv @
check lists "$none" vinv --curve inv-top @
check lists "$none" vcmp lists.vt @
check lists "$none" vcmp @ lists.vt
check lists "$none" vlist --values -i @
check "full sampled lists" 'no (samples|values) \(vtrace ' vspec @

none='no frequencies( \(vfreq estimates them\)|: vfreq had no samples that it could use)$'
check "freqs estimated" "$none" vculprit -o out.vt @
check "freqs" "$none" vlist --summary -i @
check "" "$none|no stalls \(vculprit finds them\)$" vlist --stall dcache -i @
check "freqs" "$none" vcmp --truth full.vt @
check "" 'no stalls \(vsim --truth knows them\)$' vculprit --truth @ -o out.vt freqs.vt
check pairs 'no pairs of conflicting accesses \(vreplay finds them\)$' vlist --replay -i @

# Of executed code, vreplay says first which images have no file.
all="empty maps declared samples counts values freqs estimated pairs lists"
none='neither executed code \(vtrace record --full --mem\) nor samples with registers '
none+='\(vtrace record --regs\)$'
check "declared estimated" "$none" vreplay -o out.vt @
check "declared estimated" "$none" vreplay --summary @
for s in path full sampled; do
	t_status "vreplay on $s" 3 vreplay $s.vt
	t_like "vreplay on $s: what is missing" "$s.vt: no address of any access.*vtrace record" "$T_ERR"
done

# What takes any stream.
all="empty maps declared samples counts values freqs estimated pairs path full sampled lists"
check "$all" . vtrace dump @
check "$all" . vtrace info @
check "$all" . vtrace merge -o out.vt @

# ---- stage after stage ----

# What was left out by an option is not missing, and vhot's output does not ask for vhot.
t_ok "lists of what is not there" vhot -w arg -o none.vt full.vt
t_like "are none, which is told" '^vhot: full.vt: no values of these kinds$' "$T_ERR"
t_status "they cannot be listed" 3 vinv none.vt
t_is "which is not for want of vhot" "$(cat "$T_ERR")" \
	"vinv: none.vt: no hot lists: vhot found no such values"
t_status "nor seen" 3 vlist --values -i none.vt
t_is "for the same reason" "$(cat "$T_ERR")" \
	"vlist: none.vt: no hot lists: vhot found no such values"

t_done
