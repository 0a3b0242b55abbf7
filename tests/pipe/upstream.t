#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Pipelines in which a program fails: its END record says so, each program behind it says one line,
# passes the failure on and has the status of incomplete input; streams made by hand, too, whose END
# records lie.

. "$(dirname "$0")/../lib.sh"

PATH=$VT_BUILD/tests/tools:$PATH

stream_exec -n 20000 -v 3 >full.vt
vhot full.vt -o lists.vt
stream_make >counts.vt <<'END'
IMAGE id=1 path=/synthetic
EVENT id=1 name=cycles policy=interrupt unit=cycles
COUNT image=1 offset=0x1000 event=1 samples=10 period=10000
END
echo "no trace" >broken.data
reader() { "$PYTHON" "$ROOT/tests/vt_reader.py" "$@"; }

# ---- the first program fails ----

# Whatever it is, all those behind it have one line, and no other; of text, nothing is left.
first='vtrace decode broken.data
vtrace decode nosuch.data
vtrace record --full --blocks ./nosuch
vhot nosuch.vt
vsample nosuch.vt
vsim nosuch.vt
vfreq nosuch.vt
vculprit nosuch.vt
vinterp nosuch.vt
vreplay nosuch.vt
vpair nosuch.vt
vtrace merge nosuch.vt
vdb --db nosuch.db cat
vhot counts.vt
vsim counts.vt
vfreq full.vt
vculprit full.vt
vinterp full.vt
vreplay counts.vt
vtrace decode --engine none-such broken.data
vtrace decode --cpuid-15h x broken.data
vinterp --plugin none-such.so full.vt
vinterp --mxcsr x full.vt
vhot --what none-such full.vt
vsample --fraction 2/1 full.vt
vsim --sample none-such full.vt
vsim --branches 99 full.vt
vsim --model none-such full.vt
vreplay --cache 1 full.vt
vfreq --clock 0 counts.vt'
while read -r command; do
	name=${command%% -*}
	case $command in vtrace*) name=$(cut -d' ' -f1,2 <<<"$command") ;; *) name=${command%% *} ;; esac
	t_status "$command | vlist" 3 bash -c "$command 2>why | vtrace merge 2>merge.err | vlist --values 2>list.err"
	t_is "$command: says why" "$(wc -l <why)" 1
	t_is "$command | vtrace merge: one line" "$(cat merge.err)" \
		"vtrace merge: standard input: $name failed upstream: the input is incomplete"
	t_is "$command | vtrace merge | vlist: one line" "$(cat list.err)" \
		"vlist: standard input: $name failed upstream: the input is incomplete"
	bash -c "$command 2>/dev/null | vtrace merge" >end.vt 2>/dev/null
	t_is "$command: END is passed on" "$(reader --end end.vt)" "2	$name	$(sed "s/^$name: //" why)"
done <<<"$first"

# Where options cannot even be read, nobody knows whether they ask for a stream.
t_status "an option that does not exist" 3 bash -c 'vhot --none-such full.vt 2>/dev/null | vinv'
t_is "is one line of the next" "$(cat "$T_ERR")" \
	"vinv: standard input: what comes before it in the pipeline wrote nothing"
t_status "an empty file is another matter" 3 vinv /dev/null
t_like "is told as such" '^vinv: /dev/null: the file is empty' "$T_ERR"

# ---- the second one has written an event, but of nothing a sample ----

while read -r command; do
	t_status "vsample | $command" 3 bash -c "vtrace decode nosuch.data 2>why | vsample -n 10 2>/dev/null | $command"
	t_is "vsample | $command: one line" "$(cat "$T_ERR")" \
		"${command%% *}: standard input: vtrace decode failed upstream: the input is incomplete"
done <<'END'
vinterp -o out.vt
vfreq -o out.vt
vreplay -o out.vt
vhot -o out.vt
vlist main
vlist --all
vprof
END

# ---- behind it, every program has one line ----

stream_make </dev/null | vfreq 2>/dev/null >failed.vt
while read -r command; do
	t_status "$command" 3 bash -c "$command <failed.vt"
	t_is "$command: one line" "$(cat "$T_ERR")" "${command%% *}: standard input: vfreq failed upstream: the input is incomplete"
done <<'END'
vprof
vprof -e cycles
vlist --all
vlist main
vlist --values
vlist --calc main
vlist --summary
vlist --stall dcache
vlist --replay
vhot -o out.vt
vsample -o out.vt
vsim -o out.vt
vfreq -o out.vt
vfreq -e cycles -o out.vt
vfreq --json
vculprit -o out.vt
vculprit --top 5
vinterp -o out.vt
vinterp --path -o out.vt
vinterp --summary
vreplay -o out.vt
vreplay --summary
vpair -o out.vt
vpair --top 3
vlist --pairs
vinv
vcmp - lists.vt
vspec
vstats - counts.vt
END
for command in "vtrace dump" "vtrace info" "vtrace merge -o out.vt" "vtrace decode -o out.vt -"; do
	t_status "$command takes what there is" 1 bash -c "$command <failed.vt"
	t_is "$command: one line" "$(cat "$T_ERR")" \
		"$(cut -d' ' -f1,2 <<<"$command"): standard input: vfreq failed upstream: the input is incomplete"
done
vtrace info failed.vt >told 2>/dev/null
t_like "vtrace info shows who failed, and why" '^failed: vfreq: standard input: no samples of cycles' told
t_is "for programs, too" "$(vtrace info --json failed.vt 2>/dev/null | jq -r .failure.program)" vfreq
vculprit counts.vt >partial.vt 2>/dev/null
t_status "nothing of it goes into a database" 3 vdb --db test.db add partial.vt
t_is "which says so in one line" "$(cat "$T_ERR")" \
	"vdb: partial.vt: vculprit failed upstream: the input is incomplete: nothing of it was added (--partial adds what there is)"
t_is "as any stream that was not failed has no failure" "$(vtrace info --json full.vt | jq .failure)" null

# ---- a program in the middle fails ----

t_status "vtrace merge | vsim | vprof" 1 bash -c 'vtrace merge counts.vt | vsim 2>why | vprof'
t_like "vsim says why" '^vsim: standard input: no executed code' why
t_is "vprof says who" "$(cat "$T_ERR")" \
	"vprof: standard input: vsim failed upstream: the input is incomplete"
t_status "what it passed on is used" 1 bash -c 'vtrace merge counts.vt | vculprit 2>why | vprof'
t_like "with what there was" '^ *10 .*100.00%' "$T_OUT"
t_is "and the failure told once" "$(cat "$T_ERR")" \
	"vprof: standard input: vculprit failed upstream: the input is incomplete"
t_status "far below as well" 1 bash -c 'vculprit counts.vt 2>why | vtrace merge 2>/dev/null | vtrace merge'
t_is "by the first that failed" "$(reader --end "$T_OUT" | cut -f1,2)" "2	vculprit"
t_is "with what was passed on" "$(vtrace dump -k COUNT -F samples "$T_OUT" 2>/dev/null)" 10
t_status "a file is not complete either" 3 vculprit -o file.vt counts.vt
t_status "which its reader says" 1 vprof file.vt
t_is "by name" "$(cat "$T_ERR")" "vprof: file.vt: vculprit failed upstream: the input is incomplete"

# ---- a program that is killed ----

size=$(stat -c %s lists.vt)
t_status "a stream without its end" 1 bash -c "head -c $((size - 30)) lists.vt | vinv --summary"
t_is "one line" "$(wc -l <"$T_ERR")" 1
t_like "says so" 'vinv: standard input: truncated at 0x[0-9a-f]+: no END record$' "$T_ERR"
t_status "one that was cut before there was anything" 3 bash -c 'head -c 6000 counts.vt | head -c -60 | vinv'
t_is "has one line, too" "$(wc -l <"$T_ERR")" 1
head -c -60 counts.vt >cut.vt
for command in "vhot:no values (vtrace record --full" "vinv:no hot lists (vhot makes them)" \
	"vsim:no executed code (vtrace record --full"; do
	t_status "a file that was cut: ${command%%:*}" 3 "${command%%:*}" cut.vt
	t_is "says what it has not" "$(grep -cF "${command%%:*}: cut.vt: up to there: ${command#*:}" "$T_ERR")" 1
done
t_status "not a byte" 3 bash -c 'true | vhot | vlist --values'
t_is "one line each" "$(cut -d: -f1 "$T_ERR" | sort | uniq -c | tr -s ' \n' ' ')" " 1 vhot 1 vlist "

# ---- where no stream is wanted ----

t_status "no file is made of a failure" 3 vhot -o none.vt nosuch.vt
t_is "none" "$(test -e none.vt || echo none)" none
for command in "vfreq --json nosuch.vt" "vinterp --summary nosuch.vt" "vculprit --top 3 nosuch.vt" \
	"vprof nosuch.vt" "vhot --nonsense"; do
	# shellcheck disable=SC2086 # options are words
	t_run $command
	t_is "$command: standard output is empty" "$(wc -c <"$T_OUT")" 0
done

# ---- END records that lie ----

# end.py FILE BYTES: the stream, whose END has these bytes behind its counts and the status 2.
cat >end.py <<'END'
import struct, sys, zlib
s = open(sys.argv[1], "rb").read()
at = s.rindex(bytes.fromhex("f676d362"))
head, payload = s[at:at + 40], s[at + 40:]
if head[26]:
    payload = zlib.decompress(payload)
payload = b"\x02" + payload[1:] + eval(sys.argv[2])
n = struct.pack("<I", len(payload))
rest = struct.pack("<I", zlib.crc32(payload)) + n + n + head[20:26] + b"\0" + head[27:]
sys.stdout.buffer.write(s[:at] + head[:4] + struct.pack("<I", zlib.crc32(rest)) + rest + payload)
END
lie()
{
	"$PYTHON" end.py counts.vt "$1" >lie.vt
	t_status "$2: is read" 1 vprof lie.vt
	t_is "$2: one line, and a second one of what is damaged" \
		"$(grep -vc "without its file" "$T_ERR")" $((1 + $(grep -c "bad END" "$T_ERR")))
	t_like "$2: bounded and without control characters" "$3" <(LC_ALL=C cut -c 1-200 "$T_ERR")
	t_unlike "$2: none" '[[:cntrl:]]' "$T_ERR"
}
lie 'b""' "stopped, and nobody failed" 'its producer was stopped before the end$'
lie 'b"\x03abc\x00"' "a failure" 'lie.vt: abc failed upstream: the input is incomplete$'
lie 'b"\x06a\x1b[2J\x0a\x00"' "control characters" 'lie.vt: a\\x1b\[2J\\n failed upstream'
lie 'b"\x00\x00"' "no name" 'bad END record'
lie 'b"\x03a\x00b\x00"' "a zero in a name" 'bad END record'
lie 'b"\x03abc"' "no reason" 'bad END record'
lie 'b"\x41" + 65 * b"x" + b"\x00"' "a long name" 'bad END record'
lie 'b"\x03abc\x80\x04" + 512 * b"y"' "a long reason" 'bad END record'
lie 'b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01abc"' "a length that is none" 'bad END record'
lie 'b"\x40" + 64 * b"x" + b"\xff\x03" + 511 * b"y"' "all that there may be" 'lie.vt: x{64} failed upstream'
t_is "its reason is shown" "$(vtrace info lie.vt 2>/dev/null | grep -c "^failed: x\{64\}: y\{511\}$")" 1
t_is "and read by others" "$(reader --end lie.vt | cut -f2 | wc -c)" 65

t_done
