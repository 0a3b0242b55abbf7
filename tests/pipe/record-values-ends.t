#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record --sample-values when things go wrong: programs without an agent, interrupts, full
# disks, closed pipes. What was recorded is readable, and messages and statuses say what happened.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON"

mkdir tmp
export VTRACE_TMPDIR=$PWD/tmp
if ! vtrace record --sample-values -o probe.vt -- true >/dev/null 2>probe.err; then
	t_skip_all "vtrace record --sample-values does not work here: $(tail -n 1 probe.err)"
fi

record()
{
	timeout -k 5 120 vtrace record --sample-values -F 2000 "$@"
}

samples()
{
	vtrace dump -k SAMPLE -F tid "$1" 2>/dev/null | wc -l
}

meta()
{
	vtrace dump -k META x.vt 2>/dev/null | sed -n "s/^META	key=$1	value=//p"
}

end_of()
{
	"$PYTHON" "$ROOT/tests/vt_reader.py" --end "$1" | cut -f 1
}

cat >busy.sh <<'END'
i=0
while [ $i -lt "${1:-3000000}" ]; do
	i=$((i + 1))
	[ $i != 30000 ] || echo begun
done
echo finished
END

# ---- more samples than the kernel takes ----

limit=/proc/sys/kernel/perf_event_max_sample_rate
echo 1500 >limit
if ! [ -e $limit ] || ! unshare -m mount --bind limit $limit 2>/dev/null; then
	t_skip "a rate above the kernel's limit" "only root can make another look of it"
else
	with_limit()
	{
		unshare -m sh -c "mount --bind limit $limit; exec \"\$@\"" - vtrace record --sample-values "$@"
	}
	t_ok "a rate above the kernel's limit" with_limit -F 2000 -o limit.vt -- true
	if grep -q ' cycles, and' "$T_ERR"; then
		t_skip "is told" "cycles are counted"
	else
		t_like "is told" "2000 samples a second: above the kernel's limit, 1500 " "$T_ERR"
	fi
	t_ok "another" with_limit -F 1000 -o limit.vt -- true
	t_unlike "is not" 'limit' "$T_ERR"
fi

# ---- programs without an agent ----

echo 'int main(void) { return 3; }' >static.c
if command -v gcc >/dev/null && gcc -static -o static static.c 2>/dev/null; then
	t_status "a static program" 3 record -o x.vt -- ./static
	t_like "is refused, with what can be done" 'static is static: no agent .*--regs' "$T_ERR"
	t_is "and there is no output" "$(ls -d x.vt* 2>/dev/null)" ""
	t_status "a static program that another executes" 3 record -o x.vt -- sh -c './static; ./static'
	t_is "is counted" "$(meta agent.not_sampled.static)" 2
	t_like "and told" '2 executed programs are not sampled: static' "$T_ERR"
else
	t_skip "a static program" "there is no compiler, or no static C library"
fi
t_status "another environment" 0 record -o x.vt -- env -i /bin/true
t_is "is counted" "$(meta agent.not_sampled.other)" 1
t_like "and told" '1 executed program is not sampled: without an agent' "$T_ERR"
t_status "no such program" 3 record -o x.vt -- no-such-program
t_like "is told" 'no-such-program: (No such file|Permission denied)' "$T_ERR"
t_status "no program" 2 record -o x.vt
t_is "nothing is written" "$(ls tmp)" ""

# ---- who ends it ----

start()
{
	: >out
	# A shell's background commands ignore interrupts.
	env --default-signal=INT vtrace record --sample-values -F 2000 -o x.vt -- "$@" >out 2>err &
	recorder=$!
	until grep -q begun out; do
		kill -0 "$recorder" 2>/dev/null || break
		sleep 0.05
	done
}

finish()
{
	status=0
	wait "$recorder" || status=$?
}

for how in INT:130 TERM:143 HUP:129; do
	rm -f x.vt
	start sh busy.sh
	kill "-${how%:*}" "$recorder"
	finish
	t_is "${how%:*}: ends the program, and has its status" "$status" "${how#*:}"
	t_is "${how%:*}: the program did not go on" "$(tail -n 1 out)" begun
	t_is "${how%:*}: what was recorded is there" "$(($(samples x.vt) > 5))" 1
	t_is "${how%:*}: and nothing else" "$(find . -path './tmp/*' -o -name 'x.vt?*')" ""
done

# From a terminal the whole group is interrupted, once.
cat >terminal.py <<'END'
import os, pty, sys

pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
sent = False
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    text += part
    if b"begun" in text and not sent:
        os.write(fd, b"\x03")
        sent = True
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(text.count(b"caught"), status)
END
cat >catches.sh <<'END'
trap 'echo caught; exit 5' INT
. ./busy.sh
END
t_ok "an interrupt from the terminal" timeout 120 "$PYTHON" terminal.py \
	vtrace record --sample-values -o x.vt -- bash catches.sh
t_is "reaches the program once, whose status counts" "$(cat "$T_OUT")" "1 5"
t_is "and the recording is whole" "$(end_of x.vt) $(($(samples x.vt) > 5))" "0 1"

# ---- shared memory, disks, pipes ----

mkfifo go
cat >waits.sh <<'END'
echo begun
read -r word <go
i=0
while [ $i -lt 100000 ]; do i=$((i + 1)); done
env sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
echo finished
END
start sh waits.sh
rm tmp/*
echo >go
finish
t_is "the shared file is removed: the program runs on" "$status $(tail -n 1 out)" "0 finished"
t_is "it is sampled" "$(($(samples x.vt) > 5))" 1
t_is "programs that start later are counted" "$(($(meta agent.not_sampled.other) > 0))" 1

VTRACE_TMPDIR=$PWD/none t_ok "no such directory for it" record -o x.vt -- true
t_like "is told, and another one taken" 'none: No such file' "$T_ERR"

mkdir gone
cat >removes.sh <<'END'
rm -r gone
echo finished
END
t_status "the output's directory is removed" 4 record -o gone/x.vt -- sh removes.sh
t_is "after the program has run on" "$(tail -n 1 "$T_OUT")" finished
t_like "is told" 'gone/x.vt.*No such file' "$T_ERR"
t_is "once" "$(grep -c 'No such file' "$T_ERR")" 1

# The shared memory stays, since processes of the program may still want it, until the next recording.
mkdir killed killed-tmp
# shellcheck disable=SC2016 # for the program's shell
VTRACE_TMPDIR=$PWD/killed-tmp t_status "a recorder that is killed" 137 bash -c 'vtrace record --sample-values -o killed/x.vt -- sh -c "kill -9 \$PPID"'
t_is "leaves no file beside the output" "$(ls killed)" ""
t_is "and its shared memory" "$(find killed-tmp -type f -size +0 -name 'vtrace.??????' | wc -l)" 1
echo kept >killed-tmp/vtrace.other
"$PYTHON" -c 'import fcntl, sys, time
f = open("killed-tmp/vtrace.locked", "w+")
f.write("kept")
f.flush()
fcntl.flock(f, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()' <go >locked &
until [ -s locked ]; do sleep 0.05; done &
exec 8>go
wait $!
VTRACE_TMPDIR=$PWD/killed-tmp t_ok "the next one" record -o x.vt -- true
t_is "removes that, but not what is in use, or no file of ours" "$(cd killed-tmp && echo *)" "vtrace.locked vtrace.other"
exec 8>&-

if mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
	t_status "a full disk" 4 record -o small/x.vt -- sh busy.sh 1000000
	t_is "does not hold the program up" "$(tail -n 1 "$T_OUT")" finished
	t_like "is told" 'No space left on device' "$T_ERR"
	rm -f small/*
	VTRACE_TMPDIR=$PWD/small t_status "no room for shared memory" 3 record -o x.vt -- sh busy.sh 10
	t_like "is told" 'shared memory: No space left on device' "$T_ERR"
	t_is "and nothing runs" "$(cat "$T_OUT")" ""
	mount -o remount,size=6m small
	VTRACE_TMPDIR=$PWD/small t_ok "a little room for it" record -o x.vt -- sh busy.sh 1000000
	t_is "is enough" "$(($(samples x.vt) > 5))" 1
	t_like "and that it is little is told" 'small/vtrace.* has little room: buffers of [0-9]+ KB instead of 1024' "$T_ERR"
	umount small
else
	t_skip "a full disk" "only root can make one"
fi

# shellcheck disable=SC2016 # for the other shell
t_run bash -c 'vtrace record --sample-values -o - -- sh busy.sh 300000 2>err | head -c 8 >first
echo "${PIPESTATUS[0]}"'
t_is "a pipe that is closed is a failure" "$(($(cat "$T_OUT") != 0))" 1
t_like "after the program has run on" finished err
t_pipe "a pipe that is read" \
	'vtrace record --sample-values -o - -- sh busy.sh 300000 2>/dev/null | cat >x.vt'
t_is "has the samples" "$(($(samples x.vt) > 5))" 1

t_is "nothing is left" "$(ls tmp)" ""
t_done
