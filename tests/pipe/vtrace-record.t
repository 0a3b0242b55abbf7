#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record: what it asks of perf, and, where perf can record, what comes of it.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" jq

t_ok "only print" vtrace record --dry-run -- prog 'a b' "it's" ''
t_like "quoted for a shell" "^perf record .* -o perf.data -- prog 'a b' 'it'\\\\''s' ''\$" "$T_OUT"
t_is "as one line" "$(wc -l <"$T_OUT")" 1
t_is "and a shell takes it apart again" "$(eval "set -- $(cat "$T_OUT")" && shift $(($# - 3)) && echo "$1|$2|$3|")" "a b|it's||"
t_like "time, in prime steps" '-e (cycles|cpu-clock)[^ ]* -c 1000003 ' "$T_OUT"
t_ok "registers" vtrace record --dry-run --regs true
t_like "of the user, and the stack" '--user-regs .*--call-graph dwarf,8192 ' "$T_OUT"
t_ok "less stack" vtrace record --dry-run --regs --stack 256 true
t_like "as told" '--call-graph dwarf,256 ' "$T_OUT"
t_ok "no stack" vtrace record --dry-run --regs --stack 0 true
t_unlike "as told" call-graph "$T_OUT"
t_ok "callers" vtrace record --dry-run -g prog -x
t_like "from the stack" ' --call-graph dwarf,8192 .*-- prog -x$' "$T_OUT"
t_like "and what that takes" ': about [89]\.[0-9] MB for (a second of processor time|10\^9 cycles)$' "$T_ERR"
t_ok "callers by frame pointers" vtrace record --dry-run --call-graph=fp -F 100 true
t_like "as told" ' -F 100 --call-graph fp ' "$T_OUT"
t_like "and what that takes" ': about 0\.0[12] MB for a second of processor time$' "$T_ERR"
t_ok "a rate that is not known" vtrace record --dry-run -e page-faults -c 1 true
t_unlike "has no size" 'about' "$T_ERR"
t_ok "the short option" vtrace record --dry-run -gfp true
t_like "a word after the letter" '--call-graph fp ' "$T_OUT"
t_status "chains of a kind that is none" 2 vtrace record --dry-run --call-graph=guess true
t_status "two kinds of chains" 2 vtrace record --dry-run --call-graph=fp --regs true
t_ok "registers and chains without a copy of the stack" vtrace record --dry-run --call-graph=fp --regs --stack 0 true
t_status "chains from no stack" 2 vtrace record --dry-run -g --stack 0 true
t_ok "events" vtrace record --dry-run -e page-faults -e cs:u -F 99 true
t_like "as told" '-e page-faults -e cs:u -F 99 ' "$T_OUT"
t_ok "a process" vtrace record --dry-run -p 17 -o x.data
t_like "as told" '-p 17 -o x.data$' "$T_OUT"
t_ok "all processors" vtrace record --dry-run -a -o x.data
t_like "as told" '-a -o x.data$' "$T_OUT"
t_status "a process and all processors" 2 vtrace record --dry-run -p 17 -a -o x.data
t_like "exclude each other" 'all-cpus and --pid exclude each other' "$T_ERR"
limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null)
if [ "${limit:-0}" -gt 0 ]; then
	t_ok "more samples than the kernel allows" vtrace record --dry-run -F $((limit + 1)) true
	t_like "it says the limit" "limit, $limit a second .*: perf will take the limit" "$T_ERR"
	t_ok "as many as it allows" vtrace record --dry-run -F "$limit" true
	t_unlike "it says nothing" 'limit' "$T_ERR"
else
	t_skip "more samples than the kernel allows" "its limit cannot be read"
fi
# What perf's users type.
t_status "chains with their bytes" 2 vtrace record --dry-run --call-graph=dwarf,4096 true
t_like "it says where bytes go" 'not one of dwarf, fp, lbr \(bytes of stack: --stack BYTES\)' "$T_ERR"
for word in fp dwarf lbr dwarf,4096; do
	t_status "--call-graph $word" 2 vtrace record --dry-run --call-graph $word true
	t_like "it says how" "there is no program $word: is it --call-graph=${word%,*}[?]" "$T_ERR"
done
t_ok "options of the program are its own" vtrace record --dry-run ls -a -o y
t_like "and passed on" '-o perf.data -- ls -a -o y$' "$T_OUT"
t_status "nothing to record" 2 vtrace record
t_status "both frequency and period" 2 vtrace record -F 100 -c 100 true
t_status "an odd stack" 2 vtrace record --regs --stack 100 true
t_status "a large stack" 2 vtrace record --regs --stack 65536 true
t_status "no pid" 2 vtrace record -p 0
t_status "compression of perf.data" 2 vtrace record -z zlib true

mkdir bin && ln -s "$(command -v vtrace)" bin/
t_status "no perf" 3 env PATH="$PWD/bin" vtrace record true
t_like "says what to install" '^vtrace record: perf: No such file .*linux-perf' "$T_ERR"
t_status "no perf, for a stream" 3 env PATH="$PWD/bin" vtrace record -o x.vt true
t_is "leaves nothing" "$(find . -name 'x.vt*')" ""

# Names are looked at before anything runs: one line each. A perf that would do anything says so.
cat >bin/perf <<'END'
#!/bin/sh
echo "perf: ran" >&2
exit 9
END
chmod +x bin/perf
mkdir directory
echo text >plain.txt
for how in "" --full; do
	while read -r want args; do
		[ -z "$how" ] || command -v valgrind >/dev/null || continue
		# shellcheck disable=SC2086 # several arguments
		t_status "[$how] record $args" 3 env PATH="$PWD/bin:$PATH" vtrace record $how $args
		t_like "[$how] says why" "^vtrace record: ${want//_/ }" "$T_ERR"
		t_is "[$how] in one line" "$(wc -l <"$T_ERR")" 1
	done <<'END'
no-such-program:_No_such_file no-such-program
./no-such-program:_No_such_file ./no-such-program
./directory:_Permission_denied ./directory
./plain.txt:_Permission_denied ./plain.txt
no/such/x.data:_No_such_file -o no/such/x.data true
no/such/x.vt:_No_such_file -o no/such/x.vt true
directory:_Is_a_directory -o directory true
END
done
t_is "the directory is left where it was" "$(ls -d directory*)" directory
if [ "$(id -u)" != 0 ]; then
	mkdir locked && : >locked/x.data && chmod 500 locked && chmod 400 locked/x.data
	for name in locked/x.data locked/new.data; do
		t_status "-o $name without permission" 3 env PATH="$PWD/bin:$PATH" \
			vtrace record -o "$name" true
		t_like "says so" "$name: Permission denied" "$T_ERR"
	done
	chmod 700 locked
fi
# A status of perf without a recording is not the program's.
for output in x.data x.vt; do
	t_status "perf itself fails: $output" 3 env PATH="$PWD/bin:$PATH" vtrace record -o $output true
	t_like "what perf has to say is not kept back" '^perf: ran' "$T_ERR"
	t_is "and one line says what that means" "$(tail -n 1 "$T_ERR")" \
		"vtrace record: perf recorded nothing; its exit status was 9"
	t_is "no output" "$(ls -d $output* 2>/dev/null)" ""
done
echo old >x.data
t_status "an older recording is none of this program" 3 env PATH="$PWD/bin:$PATH" \
	vtrace record -o x.data true

# A perf that records, of a program of any status: 127 is one, too.
cat >bin/perf <<END
#!/bin/sh
while [ "\$1" != -o ]; do shift; done
cp '$ROOT/tests/data/demo/perf.data' "\$2"
[ "\$5" != wait ] || { echo waits >&2; trap 'exit 5' TERM; while :; do sleep 0.1; done; }
exit "\$5"
END
for status in 0 1 3 127 255; do
	for output in r.data r.vt; do
		rm -f $output
		t_status "a program's status $status, into $output" $status \
			env PATH="$PWD/bin:$PATH" vtrace record -o $output true "$status"
		t_is "its recording is kept" "$(vtrace decode $output | vtrace info --json |
			jq '.records.SAMPLE')" 3642
	done
done
rm -f r.*
t_status "compression is looked at before" 2 env PATH="$PWD/bin:$PATH" \
	vtrace record -z zstd:99 -o r.vt true 0
t_like "why" '^vtrace record: --compress: zstd:99: levels are' "$T_ERR"
t_status "so are names of it" 2 env PATH="$PWD/bin:$PATH" vtrace record -z best -o r.vt true 0
t_like "why" "^vtrace record: --compress: not one of none, zlib, zstd: 'best'" "$T_ERR"
t_is "nothing was recorded" "$(find . -name 'r.*')" ""
env PATH="$PWD/bin:$PATH" vtrace record -o r.vt true wait 2>said &
for ((i = 0; i < 200; i++)); do
	! grep -q waits said || break
	sleep 0.1
done
kill -TERM $!
wait $!
t_is "a signal to it ends perf, too" $? 5
t_is "and what there is is kept" "$(vtrace info --json r.vt | jq .records.SAMPLE)" 3642
if command -v valgrind >/dev/null; then
	(
		trap "" XFSZ
		ulimit -f 0
		VTRACE_TMPDIR=$PWD exec vtrace record --full -o f.vt true
	) 2>&1 | cat >said
	t_is "no room beside the recorder" "${PIPESTATUS[0]}" 3
	t_like "says so" '/shared: File too large$' said
fi
t_ok "perf is not asked to be quiet" vtrace record --dry-run true
t_unlike "in no form" '^perf record.* (-q|--quiet) ' "$T_OUT"

if ! perf record -q -e cpu-clock -o probe.data true >/dev/null 2>&1; then
	t_skip "a recording" "perf record does not work here"
	t_done
fi
# The shell counts for .05 s or more: 200 samples at perf's 4000 Hz, of which 4 are wanted.  Were they
# thrown at random, which is worse than a timer, fewer than 4 of 25 would come with a chance of
# e^-25 (1 + 25 + 25^2 / 2 + 25^3 / 6) = 4e-8: so much for a machine that is eight times as fast.
cat >busy.sh <<'END'
i=0
while [ $i -lt 100000 ]; do i=$((i + 1)); done
echo finished
exit 7
END
t_status "the program's status" 7 vtrace record -o p.data sh busy.sh
t_is "and its output" "$(cat "$T_OUT")" finished
t_pipe "is a trace" 'vtrace decode p.data | vtrace info --json >p.json'
t_status "straight into a stream" 7 vtrace record --regs -o x.vt sh busy.sh
t_is "the program's output stays its own" "$(cat "$T_OUT")" finished
t_is "nothing else is left" "$(ls -d x.vt*)" x.vt
vtrace dump -F time,uregs x.vt >regs
t_is "samples have registers" "$(($(grep -c 'ABI:.* SP:0x\| sp:0x' regs) > 3))" 1
t_is "and stack" "$(($(vtrace dump -F stack x.vt | grep -c '^[0-9a-f]\{64\}') > 3))" 1
t_like "the samples are of time" '"name": "(cycles|cpu-clock)' <(vtrace info --json x.vt)
t_status "killed by a signal" 1 bash -c 'vtrace record -o k.vt sh -c "kill -TERM \$\$"; [ $? = 0 ]'

# A terminal for all of its output, which a program that is recorded needs for itself.
cat >terminal.py <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    while data := os.read(fd, 4096):
        sys.stdout.buffer.write(data)
except OSError:
    pass
os.waitpid(pid, 0)
END
sleep 60 &
sleeper=$!
"$PYTHON" terminal.py timeout --foreground -s INT 4 vtrace record -o shown.data -p $sleeper >shown
kill $sleeper
t_like "a terminal shows how much there is, and for how long" 'vtrace record: 0\.[0-9] MB, 2 s' shown
"$PYTHON" terminal.py vtrace record -o shown.data sleep 3 >shown
t_unlike "but not beside a program" 'MB, 2 s' shown
t_done
