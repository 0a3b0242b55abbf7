#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace decode, and the manners of all programs: inputs, outputs, statuses, messages.

. "$(dirname "$0")/../lib.sh"

demo=$ROOT/tests/data/demo/perf.data
reader()
{
	"$PYTHON" "$ROOT/tests/vt_reader.py" "$@"
}

# Where it reads from.
cp "$demo" perf.data
t_ok "a named file" vtrace decode perf.data -o named.vt
vtrace dump named.vt >named.dump
t_is "with samples in it" "$(($(grep -c ^SAMPLE named.dump) > 100))" 1
t_pipe "no name: perf.data" 'vtrace decode </dev/null -o x.vt && vtrace dump x.vt | cmp - named.dump'
# What it says at its end of events and images belongs to what comes before.
t_pipe "a pipe" 'cat perf.data | vtrace decode - >x.vt; vtrace dump x.vt | cmp - named.dump'
t_pipe "a compressed file" 'gzip -c perf.data >x.gz; vtrace decode x.gz >x.vt; vtrace dump x.vt | cmp - named.dump'
t_status "a pipe without room for a temporary file" 4 sh -c 'cat perf.data | TMPDIR=/dev/null vtrace decode - -o x.vt'
t_like "is named" '^vtrace decode: /dev/null: cannot make a temporary file: ' "$T_ERR"
t_pipe "a redirected file" 'vtrace decode - <perf.data >x.vt; vtrace dump x.vt | cmp - named.dump'
# An open standard input that nobody meant: a pipe that never ends, as under ssh, and a loop's.
mkfifo never
t_pipe "standard input is not waited for" 'exec 8<>never
	timeout 600 vtrace decode -o x.vt <&8 && vtrace dump x.vt | cmp - named.dump'
printf '%s\n' one two three >list
# shellcheck disable=SC2016 # another shell expands it
t_pipe "nor eaten" 'while read -r name; do vtrace decode -o "$name.vt"; done <list
	cmp one.vt two.vt && cmp one.vt three.vt && vtrace dump one.vt | cmp - named.dump'
mkdir empty
t_status "no perf.data" 3 bash -c 'cd empty && vtrace decode </dev/null'
t_like "is named" '^vtrace decode: perf.data: No such file' "$T_ERR"

# The same records in each form, the same bytes for the same options.
for how in none zlib zlib:1 9 zstd zstd:19; do
	t_pipe "written anew with -z $how" "vtrace decode -z $how named.vt -o form.vt &&
		vtrace dump form.vt | cmp - named.dump"
	t_pipe "the same bytes again: $how" "vtrace decode -z $how -o again.vt named.vt &&
		cmp form.vt again.vt"
done
vtrace decode -z none named.vt -o none.vt
vtrace decode -z zlib named.vt -o zlib.vt
t_is "zlib is smaller" "$(($(wc -c <zlib.vt) < $(wc -c <none.vt)))" 1
t_is "none in a pipe" "$(vtrace decode named.vt | reader --blocks | cut -f 3 | sort -u)" 0
t_pipe "another reader gets the same from both" "\"$PYTHON\" '$ROOT/tests/vt_reader.py' none.vt >a;
	\"$PYTHON\" '$ROOT/tests/vt_reader.py' zlib.vt | cmp - a"
"$VT_BUILD/tests/tools/stream_mixed" zlib 3000 >mixed.vt
t_status "unknown kinds, written anew" 1 vtrace decode mixed.vt -o mixed2.vt
"$VT_BUILD/tests/tools/stream_mixed" lines 3000 >made
reader mixed2.vt >got
t_same "are all there" got made
for how in lzma zlib:10 zlib:x zlib: zstd:23 0 -1 none:1 10; do
	t_status "-z $how is refused" 2 vtrace decode -z "$how" perf.data -o refused.vt
done
t_is "and nothing is written" "$([ -e refused.vt ] || echo none)" none

# Provenance: the options in their long form, not where the output went.
vtrace decode -zzstd -oanother.vt perf.data
t_is "the chain" "$(reader --stages another.vt)" \
	"$(printf 'vtrace\t%s\t0\tdecode\t--compress\tzstd\tperf.data' "$(vtrace --version | awk '{ print $3 }')")"
vtrace decode another.vt -o third.vt
t_is "grows" "$(reader --stages third.vt | wc -l)" 2

# Damage.
size=$(wc -c <perf.data)
head -c $((size * 2 / 3)) perf.data >cut.data
t_status "a trace cut off" 1 vtrace decode cut.data -o cut.vt
t_like "says so, with file and offset" '^vtrace decode: cut.data: .*(0x[0-9a-f]+|[0-9]+)' "$T_ERR"
t_status "its stream says so, too" 1 vtrace info --json cut.vt
t_is "as its status" "$("$PYTHON" -c 'import json; print(json.load(open("'"$T_OUT"'"))["status"])')" lossy
t_is "what came before is there" "$(($(vtrace dump cut.vt 2>/dev/null | grep -c ^SAMPLE) > 50))" 1
t_status "and the next program passes it on" 1 vtrace decode cut.vt -o cut2.vt
t_status "and the next" 1 vtrace info cut2.vt
head -c $(($(wc -c <none.vt) * 2 / 3)) none.vt >cut3.vt
t_status "a stream cut off" 1 vtrace decode cut3.vt -o cut4.vt
t_like "says so" '^vtrace decode: cut3.vt: truncated' "$T_ERR"
t_status "it is whole now, but marked" 1 vtrace info cut4.vt
t_like "as lossy" 'cut4.vt: lossy' "$T_OUT"
vtrace dump cut3.vt >before 2>/dev/null
vtrace dump cut4.vt >after 2>/dev/null
t_same "with the same records" before after
t_status "a producer that died in a pipe" 1 bash -c 'head -c 20000 none.vt | vtrace dump -F pid'

# What is not a trace.
: >nothing
echo "Hello, world. This is a text that is no trace at all, of whatever kind it may be." >text
for f in nothing text missing /; do
	t_status "$f cannot be read" 3 vtrace decode "$f" -o none-such.vt
	t_is "one line about $f" "$(wc -l <"$T_ERR")" 1
done
t_is "no output is left" "$([ -e none-such.vt ] || echo none)" none
for f in perf.data named.vt; do
	t_status "a kernel without need that is not there: $f" 3 vtrace decode --kernel missing "$f" -o k.vt
	t_like "is named: $f" 'missing: No such file' "$T_ERR"
done
t_status "two files at once" 2 vtrace decode perf.data perf.data
t_status "an unknown format" 2 vtrace decode --format nothing perf.data
t_ok "a known format" vtrace decode --format perf perf.data -o x.vt
t_status "that it is not" 3 vtrace decode --format perf text -o x.vt
t_status "standard input is closed" 3 bash -c 'vtrace decode - -o x.vt <&-'
t_status "standard output is closed" 4 bash -c 'vtrace decode perf.data >&-'
# Root may read everything, and so becomes somebody else, with a copy of the program that everybody can reach.
as_other=()
if [ "$(id -u)" -eq 0 ]; then
	as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chmod 755 "$T_DIR"
fi
cp "$VT_BUILD/bin/vtrace" reader
mkdir locked && cp perf.data locked/ && chmod 0 locked
t_status "a directory without permission" 3 "${as_other[@]}" ./reader decode locked/perf.data
chmod 700 locked

# Outputs.
t_status "a full disk" 4 bash -c 'vtrace decode perf.data >/dev/full'
t_like "is told" '^vtrace decode: standard output: No space left' "$T_ERR"
t_status "a full disk by name" 4 vtrace decode perf.data -o /dev/full
t_status "a full disk for text" 4 bash -c 'vtrace dump named.vt >/dev/full'
t_status "a full disk for little text" 4 bash -c 'vtrace --help >/dev/full'
t_status "no such directory" 4 vtrace decode perf.data -o no/such/dir.vt
cp named.vt self.vt
t_status "the output is the input" 2 vtrace decode self.vt -o self.vt
t_status "under another name" 2 vtrace decode self.vt -o ./self.vt
t_status "for text, too" 2 vtrace dump self.vt -o self.vt
t_same "which is as it was" self.vt named.vt
t_is "a closed pipe ends it quietly" "$(vtrace decode perf.data 2>err | head -c 100 | wc -c; cat err)" 100
t_is "also where SIGPIPE is ignored" \
	"$(trap '' PIPE; vtrace dump named.vt 2>err | head -c 100 | wc -c; cat err)" 100

# Terminals: on one, binary is refused; and it is sent no control characters.
on_terminal()
{
	"$PYTHON" -c '
import os, pty, sys
status = pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 4096))
sys.exit(os.waitstatus_to_exitcode(status))' "$@" </dev/null
}
t_status "no stream to a terminal" 2 on_terminal vtrace decode perf.data
t_like "it says why" 'terminal' "$T_OUT"
for from in 'vtrace info -' 'vtrace decode -o x.vt -' 'vprof -' 'vdb add -'; do
	# shellcheck disable=SC2086
	t_status "$from: nothing from a terminal" 2 on_terminal $from
	t_like "$from: it says why" 'standard input is a terminal' "$T_OUT"
done
# A line on standard error tells how far it is, but only after two seconds, and only to a terminal.
slowly()
{
	head -c 10000 none.vt
	sleep 2.5
	tail -c +10001 none.vt
}
export -f slowly
t_ok "slow work on a terminal" on_terminal bash -c 'slowly | vtrace dump -o x.txt >/dev/null'
t_like "shows progress" 'vtrace dump: 0.0 MB, ([2-9]|[1-9][0-9]+) s' "$T_OUT"
t_like "and wipes it" "$(printf '\033').\[?K" "$T_OUT"
# Fast it is only where the machine had time for it: another ten times, if need be.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	before=$(date +%s%N)
	t_run on_terminal bash -c 'vtrace dump none.vt >/dev/null'
	[ $(($(date +%s%N) - before)) -ge 1900000000 ] || break
done
t_is "fast work on a terminal" "$T_STATUS" 0
t_is "shows none" "$(cat "$T_OUT")" ""
t_ok "slow work without a terminal" bash -c 'slowly | vtrace dump >/dev/null'
t_is "shows none" "$(cat "$T_ERR")" ""
name=$(printf 'a\nb\033[31mc\\d\ttab')
cp cut.data "$name"
t_status "a path with newline and escape codes" 1 vtrace decode "$name" -o x.vt
t_like "is printed escaped" 'a\\nb\\x1b\[31mc\\\\d\\ttab' "$T_ERR"
t_unlike "not raw" "$(printf '\033')" "$T_ERR"
t_unlike "and no message is broken in two" '^b' "$T_ERR"
t_status "in a listing" 1 vtrace info x.vt
t_unlike "neither" "$(printf '\033')" "$T_OUT"
t_unlike "nor broken in two" '^b' "$T_OUT"
t_done
