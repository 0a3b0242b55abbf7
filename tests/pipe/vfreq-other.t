#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vfreq --exact with counts of another run: one that was twice as long, as long, in other procedures,
# or of which nothing is known.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc jq

# Procedures of 6, 6 and 3 million cycles, and one of 3 million that waits for something.
cat >loops.s <<'END'
.text
.macro	loop name, rounds, times
	.type	\name, @function
\name:	mov	$\rounds, %ecx
1:	.rept	\times
	imul	%rbx, %rax
	.endr
	dec	%ecx
	jne	1b
	ret
	.size	\name, . - \name
.endm
	loop	six, 1000000, 2
	loop	twelve, 500000, 4
	loop	three, 1000000, 1
	loop	slow, 1000000, 1
	.globl	_start
_start:	mov	$3, %ebx
	call	six
	call	twelve
	call	three
	call	slow
	mov	$60, %eax
	xor	%edi, %edi
	syscall
END
gcc -nostdlib -static -no-pie -Wl,--build-id=sha1 -o loops loops.s || t_fail "it is built"
vtrace record --full --blocks -o loops.vt -- ./loops >/dev/null 2>&1 ||
	t_skip_all "vtrace record --full does not work here"
pid=$(vtrace dump -k MAP -F pid loops.vt | sort -u)

# usage: sampled PID TYPE SIX TWELVE THREE SLOW: samples of each loop, of 1000 cycles (TYPE 0) or ns (1); an
# interrupt is taken behind the instruction that retired, the first of a loop.
cat >sampled.py <<'END'
import json, os, subprocess, sys
pid, kind, *counts = map(int, sys.argv[1:])
names = {f[2]: int(f[0], 16) for f in map(str.split, subprocess.run(
    ["nm", "loops"], capture_output=True, text=True, check=True).stdout.splitlines())}
notes = subprocess.run(["readelf", "-n", "loops"], capture_output=True, text=True).stdout
path = os.path.abspath("loops")
start = names["_start"] & ~0xfff
samples = [{"ip": names[n] + 5 + 4, "pid": pid} for n, count in
           zip(("six", "twelve", "three", "slow"), counts) for _ in range(count)]
print(json.dumps({"maps": [{"start": start, "length": 0x1000, "offset": start - 0x400000,
                            "path": path, "pid": pid}],
                  "buildids": {path: notes.split("Build ID: ")[1].split()[0]},
                  "type": kind, "config": 0, "samples": samples}))
END
sampled()
{
	"$PYTHON" sampled.py "$@" >sampled.json && "$PYTHON" "$ROOT/tests/mkperfdata.py" -d sampled.json sampled.data
}

# usage: found PROCEDURE: executions, low, high and confidence of its loop's first instruction.
found()
{
	local at

	at=$(printf '0x%x' $((0x$(nm loops | awk -v p="$1" '$3 == p { print $1 }') - 0x400000 + 5)))
	vtrace dump -k FREQ -F offset,executions,low,high,confidence out.vt |
		awk -F '\t' -v at="$at" '$1 == at' | cut -f 2-
}

other=$((pid + 1))
sampled $other 0 12000 12000 6000 12000
t_ok "twice as long" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_like "is said" '^vfreq: the counts are of another run, and multiplied by (1.99|2|2.01) \(1.8[78] to 2.1[23]\), which 4 loops' "$T_ERR"
t_like "and in the stream" '^vfreq.exact	scaled (1.99|2(\.00)?)[0-9]* 0.03[01]' \
	<(vtrace dump -k META -F key,value out.vt)
t_is "two million rounds, 6 % to each side" "$(found six | awk '{ print ($1 > 1.99e6 && $1 < 2.01e6 &&
	($3 - $1) / $1 > 0.06 && ($3 - $1) / $1 < 0.064 && $1 - $2 < $3 - $1 + 1 && $4 == "high") }')" 1
t_is "a million of the other" "$(found twelve | awk '{ printf "%.2f\n", $1 / 1e6 }')" 1.00
t_is "the one that waits, too" "$(found slow | awk '{ printf "%.2f\n", $1 / 2e6 }')" 1.00
t_ok "in JSON" vfreq -m skylake --exact loops.vt --json sampled.data
t_is "with its factor" "$(jq -r '.other_run | [.verdict, (.factor * 50 | round), .loops, (.doubt * 100 | round),
	(.spread * 100 | round), .elsewhere] | @tsv' "$T_OUT")" "$(printf 'scaled\t100\t4\t3\t31\t0')"

sampled "$pid" 0 12000 12000 6000 12000
t_ok "the same process" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_is "is the same run" "$(found six)" "$(printf '1000000\t1000000\t1000000\texact')"
t_unlike "of which nothing is said" 'another run' "$T_ERR"
t_is "in the stream either" "$(vtrace dump -k META -F key out.vt | grep -c vfreq.exact)" 0
t_ok "nor in JSON" vfreq -m skylake --exact loops.vt --json sampled.data
t_is "but that" "$(jq .other_run "$T_OUT")" null

sampled $other 0 6000 6000 3000 6000
t_ok "as long" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_is "is taken as it is" "$(found six)" "$(printf '1000000\t1000000\t1000000\texact')"
t_unlike "and nothing is said" 'another run' "$T_ERR"
t_like "but in the stream" '^vfreq.exact	alike ' <(vtrace dump -k META -F key,value out.vt)

# Of the faster half, 13,500 of 19,500 samples are at 1.5 times the rest: 33.7 %, and the schedule's 3 %.
sampled $other 0 6000 9000 4500 6000
t_ok "as long by loops that differ" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_like "does not tell" 'taken to be as long as this one: the loops that nothing stalls differ' "$T_ERR"
t_like "nor does the stream" '^vfreq.exact	untold ' <(vtrace dump -k META -F key,value out.vt)
t_like "but vculprit does" 'executions are those of another run, taken to be as long' \
	<(vculprit --top 1 out.vt 2>&1)
t_is "and it is taken as it is" "$(found six)" "$(printf '1000000\t1000000\t1000000\texact')"

# Counts of another program, and of another build.
vtrace record --full --blocks -o true.vt -- true >/dev/null 2>&1
t_ok "counts of something else" vfreq -m skylake --exact true.vt -o out.vt sampled.data
t_like "are named" '^vfreq: true.vt: no counts of /.*/loops, which has most samples \(100 %\)$' "$T_ERR"
cp loops kept
sed 's/1000000, 1$/1000001, 1/' loops.s >again.s
gcc -nostdlib -static -no-pie -Wl,--build-id=sha1 -o loops again.s
vtrace record --full --blocks -o again.vt -- ./loops >/dev/null 2>&1
cp kept loops
t_ok "counts of another build" vfreq -m skylake --exact again.vt -o out.vt sampled.data
t_like "are named, too" 'again.vt: no counts of .*: those of that name are of another build$' "$T_ERR"

# 6.18 % more is two deviations of 3.09 %.
sampled $other 0 6240 6240 3120 6000
t_ok "4 % more" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_is "may be the schedule's" "$(found six | cut -f 4)" exact
sampled $other 0 6600 6600 3300 6600
t_ok "10 % more" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_is "is not" "$(found six | awk '{ printf "%.2f\n", $1 / 1e6 }')" 1.10

sampled $other 1 3000 3000 1500 3000
t_ok "nanoseconds" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_like "tell the clock or the factor" 'taken to be as long as this one: without --clock, nanoseconds' "$T_ERR"
t_is "so that it is 1" "$(found six)" "$(printf '1000000\t1000000\t1000000\texact')"
sampled $other 1 600 600 300 600
t_ok "a run that would have run at 10 GHz" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_like "was not as long" 'was not as long: for that, what nothing stalls \(4 loops\) would run at (9.9.|10) GHz: ratios only' "$T_ERR"
t_is "and has no limit" "$(found six | cut -f 3)" inf
t_ok "in JSON" vfreq -m skylake --exact loops.vt --json sampled.data
t_is "with that clock" "$(jq -r '.other_run | [.verdict, (.clock | round), .factor] | @tsv' "$T_OUT")" \
	"$(printf 'ratios\t10\t1')"
sampled $other 1 3000 3000 1500 3000
t_ok "with the clock" vfreq -m skylake --clock 4 --exact loops.vt -o out.vt sampled.data
t_is "they tell it" "$(found six | awk '{ printf "%.2f\n", $1 / 2e6 }')" 1.00

sampled $other 0 100 100 100 100
t_ok "few samples" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_like "do not" 'taken to be as long as this one: fewer than three loops' "$T_ERR"

sampled $other 0 300 300 6000 6000
t_ok "loops that differ" vfreq -m skylake --exact loops.vt -o out.vt sampled.data
t_like "leave ratios" \
	'did something else \(0 % of .*; 4 loops that nothing stalls differ by 1[12][0-9] %\): ratios only$' "$T_ERR"
t_is "whose limits are open" "$(found six)" "$(printf '1000000\t0\tinf\tlow')"
t_pipe "which others read" "vculprit <out.vt | vlist --calc six"
t_ok "in JSON, too" vfreq -m skylake --exact loops.vt --json sampled.data
t_is "without a deviation" "$(jq -r '.other_run | [.verdict, .doubt, .factor] | @tsv' "$T_OUT")" "$(printf 'ratios\t\t1')"

t_done
