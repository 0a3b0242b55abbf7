#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record --full when things go wrong: crashes, kills, interrupts, full disks. What was
# recorded is readable, and messages and statuses say what happened.

. "$(dirname "$0")/../lib.sh"

mkdir tmp
export VTRACE_TMPDIR=$PWD/tmp
vtrace record --full -o probe.vt true >/dev/null 2>&1 ||
	t_skip_all "vtrace record --full does not work here"
programs=$VT_BUILD/tests/tools

insns()
{
	vtrace dump -k EXEC -F insns "$1" 2>/dev/null | awk '{ n += $1 } END { printf "%d", n }'
}

# A program that says when millions of instructions are behind it, and then works for a long time
# unless it is stopped.
cat >busy.sh <<'END'
i=0
while [ $i -lt "${1:-150000}" ]; do
	i=$((i + 1))
	[ $i != 1000 ] || echo begun
done
echo finished
END

# Waits until the program that $recorder records has begun.
until_begun()
{
	until grep -q begun out; do
		kill -0 "$recorder" 2>/dev/null || break
		sleep 0.05
	done
}

# Starts a recording of busy.sh and waits until it has begun: its number is in $recorder.
start()
{
	: >out
	# A shell's background commands ignore interrupts.
	env --default-signal=INT vtrace record --full "$@" -- sh busy.sh >out 2>err &
	recorder=$!
	until_begun
}

program_of()
{
	local child
	read -r child _ <"/proc/$1/task/$1/children"
	echo "$child"
}

finish()
{
	status=0
	wait "$recorder" || status=$?
}

# What the END record says: its status; and who failed, and why.
end_of()
{
	"$PYTHON" "$ROOT/tests/vt_reader.py" --end "$1"
}

for how in load:139:11 abort:134:6 divide:136:8 kill:137:9; do
	IFS=: read -r what status number <<<"$how"
	t_status "a program that crashes: $what" "$status" \
		vtrace record --full -o x.vt -- "$programs/rec_crash" "$what"
	t_like "is told" "ended by signal $number " "$T_ERR"
	t_ok "and is a whole recording" vtrace info x.vt
	t_is "with all its instructions" "$(($(insns x.vt) > 10000))" 1
	t_is "and its end" "$(end_of x.vt)" 0
done

start -o x.vt
kill -KILL "$(program_of "$recorder")"
finish
t_is "killed" "$status" 137
t_like "is told" 'ended by signal 9' err
t_like "and how far it was recorded" '1 process was killed: recorded up to there' err
t_status "the stream says so" 1 vtrace info x.vt
t_like "in words" 'interrupted' "$T_OUT"
t_is "in its end" "$(end_of x.vt)" 2
t_is "it has what had been executed" "$(($(insns x.vt) > 1000000))" 1
t_is "and a build-id, a thread, its end" "$(vtrace dump -k THREAD -F op x.vt 2>/dev/null)" "exec
exit"

start -o x.vt
kill -INT "$recorder"
finish
t_is "an interrupt ends the program" "$status" 130
t_like "is told" 'interrupted: recorded up to there' err
t_status "the stream is whole but interrupted" 1 vtrace info x.vt
t_unlike "not cut" 'truncated|cut' "$T_ERR"
t_is "as its end says" "$(end_of x.vt)" 2

start -o x.vt
kill -TERM "$recorder"
finish
t_is "so does a wish to end" "$status" 143

cat >stubborn.sh <<'END'
trap 'echo caught' INT
. ./busy.sh
END
: >out
env --default-signal=INT vtrace record --full -o x.vt -- sh stubborn.sh 50000 >out 2>err &
recorder=$!
until_begun
kill -INT "$recorder"
finish
t_is "a program that does not mind goes on" "$status:$(grep -c caught out):$(tail -n 1 out)" 0:1:finished

start -o x.vt
child=$(program_of "$recorder")
kill -KILL "$recorder"
finish 2>/dev/null
t_is "the recorder's reader killed" "$status" 137
# It may stay as a zombie where nobody waits for orphans.
while kill -0 "$child" 2>/dev/null && ! grep -q '^State:[[:space:]]*Z' "/proc/$child/status"; do
	sleep 0.1
done
t_is "the program runs on" "$(tail -n 1 out)" finished
t_status "what had been written can be read" 1 vtrace info x.vt
rm -rf tmp/*

: >hello
t_status "a full disk" 4 vtrace record --full -o /dev/full -- sh busy.sh 10000
t_like "is told once" '/dev/full: No space left on device' "$T_ERR"
t_is "once" "$(grep -c 'No space' "$T_ERR")" 1
t_is "and does not hold the program up" "$(tail -n 1 "$T_OUT")" finished
if mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
	t_status "a disk that is full after a while" 4 \
		vtrace record --full -o small/x.vt -- sh busy.sh 10000
	t_is "does not hold the program up" "$(tail -n 1 "$T_OUT")" finished
	t_run vtrace dump small/x.vt
	t_is "what fitted can be read" "$(($(grep -c '^BLOCK' "$T_OUT") > 100))" 1
	umount small
else
	t_skip "a disk that is full after a while" "only root can make one"
fi

# ---- what goes wrong in the middle ----

mkfifo go
cat >waits.sh <<'END'
echo begun
read -r word <go
(: ; echo child)
/bin/echo other
exec /bin/echo finished
END
# Starts a recording of waits.sh; it goes on when something is written to `go`.
start_waiting()
{
	: >out
	vtrace record --full -o x.vt "$@" -- sh waits.sh >out 2>err &
	recorder=$!
	until_begun
	sleep 0.3
}

# What the recorder has put into its ring, and not handed over, is overwritten.
cat >overwrite.py <<'END'
import glob
import struct

with open(glob.glob('tmp/*/ring.*')[0], 'r+b') as f:
    head = f.read(4096)
    current = struct.unpack_from('<I', head, 104)[0]
    ids = struct.unpack_from('<Q', head, 112 + 72 * current + 24)[0]
    f.seek(ids)
    f.write(b'\xff' * 64)
END
start_waiting
t_ok "a ring that is overwritten" "$PYTHON" overwrite.py
echo >go
finish
t_is "does not hold the program up" "$status $(tail -n 1 out)" "1 finished"
t_like "is told" 'process [0-9]+: an undeclared basic block' err
t_is "and that some is lost" "$(end_of x.vt)" 1

start_waiting --follow
rm -r tmp/*
echo >go
finish
t_is "children and programs that cannot be recorded" "$status $(tr '\n' ' ' <out)" "1 begun child other finished "
t_like "are told" '3 processes or programs could not be recorded' err
t_like "each" 'no reader there, or no room: not recorded' err
t_unlike "not as killed" 'killed' err
t_is "and that they are lost" "$(end_of x.vt)" 1

# Without any more memory: the program runs on.
if [ -n "$VT_SAN" ]; then
	t_skip "memory runs out" "sanitizers need more"
else
	export MALLOC_TOP_PAD_=0 MALLOC_MMAP_THRESHOLD_=4096 MALLOC_TRIM_THRESHOLD_=0
	: >out
	vtrace record --full --values none -o x.vt -- "$PYTHON" -I -S -c \
		'print("begun", flush=True); open("go").read(); import json, decimal; print("finished")' >out 2>err &
	recorder=$!
	unset MALLOC_TOP_PAD_ MALLOC_MMAP_THRESHOLD_ MALLOC_TRIM_THRESHOLD_
	until_begun
	prlimit --pid "$recorder" --as=$((1 << 20))
	echo >go
	finish
	t_is "memory runs out: the program runs on" "$status $(tail -n 1 out)" "3 finished"
	t_like "what failed is told" '^vtrace record: (x\.vt: )?out of memory$' err
	# If the writer of the stream was the first to need memory, the stream has no end.
	case $(end_of x.vt 2>&1) in
	"2	vtrace record	out of memory" | *"ends without END") told=1 ;;
	*) told=0 ;;
	esac
	t_is "in the stream, too" "$told" 1
	t_is "which has what was recorded" "$(($(insns x.vt) > 1000000))" 1
fi

t_status "a window that is never reached" 1 vtrace record --full --skip 1000000000 -o x.vt -- true
t_is "is told" "$(tail -n 1 "$T_ERR")" \
	"vtrace record: nothing is recorded: it ended within the 1000000000 instructions of --skip"
t_ok "a window ends, the program does not" vtrace record --full --count 1000 -o x.vt -- sh busy.sh 10000
t_is "to its end" "$(tail -n 1 "$T_OUT")" finished
t_is "nothing is left" "$(ls tmp)" ""
t_done
