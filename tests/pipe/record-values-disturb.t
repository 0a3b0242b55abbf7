#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record --sample-values disturbs no program: signals, stacks, threads, processes and files are
# what they are without it, and nothing is lost that need not be.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON"

mkdir tmp
export VTRACE_TMPDIR=$PWD/tmp
programs=$VT_BUILD/tests/tools
# Crashes are wanted, their images of memory are not.
ulimit -c 0

if ! vtrace record --sample-values -o probe.vt -- true >/dev/null 2>probe.err; then
	t_skip_all "vtrace record --sample-values does not work here: $(tail -n 1 probe.err)"
fi

# More samples than anybody takes: what is rare happens. A program that hangs is ended.
record()
{
	timeout -k 5 120 vtrace record --sample-values -F 5000 --insns 64 -o x.vt -- "$@"
}

# The number of different values of a field of the samples.
distinct()
{
	vtrace dump -k SAMPLE -F "$1" x.vt 2>/dev/null | sort -u | wc -l
}

samples()
{
	vtrace dump -k SAMPLE -F tid x.vt 2>/dev/null | wc -l
}

meta()
{
	vtrace dump -k META x.vt | sed -n "s/^META	key=$1	value=//p"
}

# same PROGRAM CASE: the same output and status as when it is not recorded.
same()
{
	local want=0 tries=3
	"$programs/$1" "$2" >want 2>/dev/null || want=$?
	# raise() blocks signals for a moment: one of the kernel's own that comes then, and the program's,
	# are one pending SIGTRAP.  It would be a rare one, of a few in a thousand.
	while t_run record "$programs/$1" "$2" && [ "$2" = block-trap ] && [ $((tries -= 1)) -gt 0 ]; do
		cmp -s want "$T_OUT" && break
	done
	t_is "$2: its status" "$T_STATUS" "$want"
	t_same "$2: its output" want "$T_OUT"
}

# ---- signals, stacks ----

for what in $("$programs/rec_disturb_signals"); do
	same rec_disturb_signals "$what" 2>/dev/null
	# A call that a signal of its own interrupts is the machine's: none may be the agent's.
	case $what in
	interrupts) t_is "interrupts: none" "$(awk '{ n += $2 } END { print NR, n }' "$T_OUT")" "7 0" ;;
	die-*) t_like "$what: is told" 'ended by signal (5|11) ' "$T_ERR" ;;
	steps | settings | longjmp) ;;
	siginterrupt | block-trap | otherwise | overflow) ;;
	# It worked for 20 ms or more: samples of 0.2 ms each have room to fail.
	*) t_is "$what: was sampled" "$(($(samples) > 10))" 1 ;;
	esac
done

# ---- threads, processes, files ----

for what in threads small-stacks exec-in-thread children programs exit-in-thread files code registers; do
	same rec_disturb_process "$what"
	t_is "$what: is whole" "$("$PYTHON" "$ROOT/tests/vt_reader.py" --end x.vt 2>&1 | cut -c 1)" 0
	case $what in
	# Each has 5 ms or more of the processor, 25 periods.
	threads) t_is "threads: all are sampled" "$(($(distinct tid) >= 190))" 1 ;;
	# 100 periods; none of 200 may be missing.
	children) t_is "children: all are sampled" "$(($(distinct pid) >= 200))" 1 ;;
	small-stacks) t_is "small-stacks: all are sampled" "$(($(distinct tid) >= 4))" 1 ;;
	*) t_is "$what: was sampled" "$(($(samples) > 10))" 1 ;;
	esac
done

# A thread that exec() ends in the middle of a sample has a ring for itself, which must become free.
cat >owners.py <<'END'
import glob
import struct

with open(glob.glob("tmp/vtrace.*")[0], "rb") as f:
    (rings,) = struct.unpack_from("<I", f.read(12), 8)
    taken = 0
    for i in range(rings):
        f.seek(4096 * (1 + i))
        taken += struct.unpack("<I", f.read(4))[0] != 0
print(rings > 0, taken)
END
: >out
record "$programs/rec_disturb_process" execs >out 2>err &
recorder=$!
until grep -q begun out; do
	kill -0 "$recorder" 2>/dev/null || break
	sleep 0.05
done
sleep 0.5
t_ok "60 programs one after the other in a process" "$PYTHON" owners.py
t_is "leave no ring taken" "$(cat "$T_OUT")" "True 0"
wait "$recorder"

# ---- what a killed process had written ----

t_status "killed" 137 record "$programs/rec_disturb_process" killed
read -r killed <"$T_OUT"
last=$(vtrace dump -k SAMPLE -F time x.vt | sort -n | tail -n 1)
# It used the processor to the end; on a busy machine it may have waited for it.  After it looked at
# the clock, it printed the time.
t_is "the last sample is of its last moments" \
	"$((killed - last < 500000000 && last - killed < 500000000))" 1
t_is "and there are as many as its time has room for" "$(($(samples) > 300))" 1
t_like "it is told" 'ended by signal 9 ' "$T_ERR"

# ---- debuggers ----

cat >debugger.py <<'END'
import ctypes, os, signal, sys
ptrace = ctypes.CDLL(None).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
child = os.fork()
if child == 0:
    ptrace(0, 0, 0, 0)  # PTRACE_TRACEME
    os.execv(sys.argv[1], sys.argv[1:])
stops = []
while True:
    status = os.waitpid(child, 0)[1]
    if not os.WIFSTOPPED(status):
        break
    stops.append(signal.Signals(os.WSTOPSIG(status)).name)
    ptrace(7, child, 0, 0)  # PTRACE_CONT
print(*stops, os.WEXITSTATUS(status))
END
t_ok "debugger: runs" record "$PYTHON" debugger.py "$PYTHON" -c 'sum(range(10**7))'
t_is "debugger: stops at exec() alone" "$(cat "$T_OUT")" "SIGTRAP 0"
t_is "debugger: is counted" "$(meta agent.traced)" 1
t_like "debugger: is told" '1 .*in a debugger: not sampled' "$T_ERR"
t_is "debugger: itself is sampled" "$(($(samples) > 10))" 1

# ---- sandboxes ----

same rec_disturb_process sandbox
t_like "sandbox: is told" '1 times? .*seccomp' "$T_ERR"
t_is "sandbox: is counted" "$(meta agent.sandbox)" 1
t_is "sandbox: was sampled before" "$(($(samples) > 10))" 1
same rec_disturb_process strict-sandbox
t_is "strict-sandbox: is counted" "$(meta agent.sandbox)" 1

# ---- a program that writes to the recorder's memory ----

for round in 1 2 3; do
	t_status "hostile, round $round: damage" 1 record "$programs/rec_disturb_process" hostile
	t_like "is told" 'of shared memory damaged' "$T_ERR"
	t_run vtrace dump -k SAMPLE x.vt
	t_is "and the recording can be read" "$((T_STATUS <= 1))" 1
done

t_is "nothing is left" "$(ls tmp)" ""
t_done
