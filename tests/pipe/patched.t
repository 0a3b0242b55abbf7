#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that write to their code or constants: what their file has is not taken for what ran. The
# recordings are described here, mapping by mapping, so that they are the same everywhere; and what is
# to be known of each sample follows from the text of the program.

. "$(dirname "$0")/../lib.sh"

t_need cc nm
# Two pages of code, one of constants.
cat >prog.s <<'END'
	.globl _start
	.text
_start:	mov $0x1111, %eax
	add $1, %eax
	syscall
reads:	mov table(%rip), %rdx
	lea 1(%rdx), %rdx
	syscall
	.balign 4096
two:	mov $0x2222, %eax
	add $1, %eax
	syscall
	.balign 4096
	.section .rodata
	.balign 4096
table:	.quad 22
	.balign 4096
END
t_ok "build a program" cc -nostdlib -static -no-pie -Wl,-z,separate-code -Wl,--build-id=0x0102030405060708 \
	-o prog prog.s
nm prog | sed 's/^0*//' | awk '{ print $3, "0x" $1 }' >symbols

# describe NAME MAPS SAMPLES [MORE]: one, two and reads are where samples fall, 1000 the first one's
# time; A and B are the pages of code, C that of constants.
cat >describe.py <<'END'
import json
import sys

at = {name: int(a, 16) for name, a in (line.split() for line in open('symbols'))}
PATH = sys.argv[1]
A, B, C = at['_start'], at['two'], at['table']
one, two, reads = A, B, at['reads']
PAGE = 4096
R, W, X = 1, 2, 4


def m(start, length, prot, time=500, **more):
    offset = {A: 0x1000, B: 0x2000, C: 0x3000}[start]
    return dict({'start': start, 'length': length, 'offset': offset, 'prot': prot, 'time': time,
                 'path': PATH}, **more)


def text(**more):
    return m(A, 2 * PAGE, R | X, **more)


def data(**more):
    return m(C, PAGE, R, **more)


def sample(ip, pid=100):
    regs = [0x1000 + n for n in range(24)]
    regs[8], regs[9] = ip, 0x202
    return {'ip': ip, 'regs': regs, 'pid': pid}


def spec(maps, samples, **more):
    return dict({'maps': maps, 'buildids': {PATH: '0102030405060708'},
                 'samples': [sample(*s) if isinstance(s, tuple) else sample(s) for s in samples]},
                **more)


json.dump(eval(sys.stdin.read().strip()), open('spec.json', 'w'))
END

# check NAME WANTED [OPTION...] <SPEC: which values are known of which sample, by its number.
check()
{
	local name=$1 wanted=$2
	shift 2
	"$PYTHON" describe.py "$PWD/prog" || exit 99
	"$PYTHON" "$ROOT/tests/mkperfdata.py" -a 128 -d spec.json spec.data || exit 99
	vtrace decode -o spec.vt spec.data
	t_is "$name" "$(vinterp -l 2 -w results "$@" spec.vt 2>errors | vtrace dump -k VALUE -F time,value |
		sed 's/^100//; s/\t/ /' | tr '\n' ';')" "$wanted"
}

# withheld KIND REASON: how often, in the summary of what was checked last.
withheld() { vinterp -l 2 --summary --json spec.vt 2>errors | jq ".withheld.$2.$1"; }

both='0 0x1111;0 0x1112;1 0x2222;1 0x2223;'
check "code that nobody wrote to" "$both" <<<'spec([text()], [one, two])'
check "constants, where the recording would show writes to them" '0 0x16;0 0x17;' <<<'spec([text(), data()], [reads])'
check "and where it would not" '' <<<'spec([text()], [reads])'
t_is "that is counted" "$(withheld constants unseen)" 1
t_like "and said" '^vinterp: constants are withheld: .*perf record --data' errors
check "unless that is taken for granted" '0 0x16;0 0x17;' --trust constants <<<'spec([text()], [reads])'

check "patched: before, and on another page" '0 0x1111;0 0x1112;2 0x2222;2 0x2223;' <<<'
	spec([text(), m(A, PAGE, R | W | X, 1001), m(A, PAGE, R | X, 1001)], [one, one, two])'
t_is "patched code is counted" "$(withheld code patched)" 1
t_like "and said" '^vinterp: code or constants were patched at run time: 1 times' errors
t_ok "a listing" vlist -i spec.vt _start
t_like "says which code is the file's only" '\[perhaps patched at run time; in the file: mov +[$]0x1111,%eax\]' "$T_OUT"
t_ok "of another page" vlist -i spec.vt two
t_unlike "says nothing" 'patched' "$T_OUT"
t_status "no frequencies are told from code that did not run" 3 sh -c 'vfreq spec.vt | vlist --calc _start'
check "and left writable" '1 0x2222;1 0x2223;' <<<'
	spec([text(), m(A, PAGE, R | W | X)], [one, two])'
check "protected again, together with its neighbour" '1 0x2222;1 0x2223;' <<<'
	spec([text(), m(A, PAGE, R | W | X), text(time=600)], [one, two])'
check "patched while it could not be executed, which is not announced" '1 0x2222;1 0x2223;' <<<'
	spec([text(), m(A, PAGE, R | X, 600)], [one, two])'
check "all of it so" '' <<<'spec([text(), text(time=600)], [one, two])'
check "the same where it is announced" '1 0x2222;1 0x2223;' <<<'
	spec([text(), data(), m(A, PAGE, R | W, 600), m(A, PAGE, R | X, 601)], [one, two])'
check "mapped again, and never writable" "$both" <<<'
	spec([text(), data(), m(A, PAGE, R, 600), text(time=601)], [one, two])'
check "writable from the start" '' <<<'
	spec([m(A, 2 * PAGE, R | W | X), m(A, 2 * PAGE, R | X, 600)], [one, two])'
check "behind generated code" '1 0x2222;1 0x2223;' <<<'
	spec([text(), {"start": A, "length": PAGE, "path": "//anon", "prot": 7, "time": 600}], [one, two])'
check "mapped anew where something else was" "$both" <<<'
	spec([text(), m(A, PAGE, R | W | X), {"start": A, "length": PAGE, "path": "/else", "time": 600},
	      m(A, PAGE, R | X, 601)], [one, two])'
check "a child has its parent'\''s patch, and not a later one" '1 0x2222;1 0x2223;3 0x2222;3 0x2223;' <<<'
	spec([text(), m(A, PAGE, R | W | X, 600), m(B, PAGE, R | W | X, 800)],
	     [(one, 200), (two, 200), (two, 100), (two, 300)],
	     forks=[{"pid": 200, "ppid": 100, "time": 700}, {"pid": 300, "ppid": 200, "time": 900}])'
check "a parent not its child'\''s" '1 0x1111;1 0x1112;' <<<'
	spec([text(), m(A, PAGE, R | W | X, 800, pid=200)], [(one, 200), (one, 100)],
	     forks=[{"pid": 200, "ppid": 100, "time": 700}])'
check "constants that were patched" '0 0x16;0 0x17;' <<<'
	spec([text(), data(), m(C, PAGE, R | W, 1001), data(time=1001)], [reads, reads])'
t_is "they are counted" "$(withheld constants patched)" 1
check "while they can be written" '' <<<'spec([text(), data(), m(C, PAGE, R | W, 600)], [reads])'
check "in a page of code" '' <<<'
	spec([text(), m(C, PAGE, R | X), m(C, PAGE, R | W | X, 600)], [reads])' --trust constants

# A shared mapping writes to the file, which all processes have at all addresses.
shared() { echo "{'start': 0x700000, 'length': PAGE, 'offset': $1, 'prot': $2, 'flags': 1, 'time': 1001, 'path': $3}"; }
check "its file, written by a shared mapping" "0 0x1111;0 0x1112;2 0x2222;2 0x2223;" <<<"
	spec([text(), $(shared 0x1000 3 PATH)], [one, one, two])"
t_is "it is counted as patched" "$(withheld code patched)" 1
t_ok "a listing of it" vlist -i spec.vt _start
t_like "says so" '\[perhaps patched at run time; in the file: mov +[$]0x1111,%eax\]' "$T_OUT"
check "by another process" "0 0x1111;0 0x1112;2 0x2222;2 0x2223;" <<<"
	spec([text(), dict($(shared 0x1000 3 PATH), pid=200)], [one, one, two])"
check "under another name, a hard link" "0 0x1111;0 0x1112;2 0x2222;2 0x2223;" <<<"
	spec([text(), $(shared 0x1000 3 "'/other'")], [one, one, two])"
check "of which only the build-id is told" "0 0x1111;0 0x1112;2 0x2222;2 0x2223;" <<<"
	spec([text(), dict($(shared 0x1000 3 "'/other'"), ino=0)], [one, one, two],
	     buildids={PATH: '0102030405060708', '/other': '0102030405060708'})"
check "before its code was mapped" '1 0x2222;1 0x2223;' <<<"
	spec([dict($(shared 0x1000 3 PATH), time=400), text()], [one, two])"
check "another file" '0 0x1111;0 0x1112;1 0x1111;1 0x1112;' <<<"
	spec([text(), dict($(shared 0x1000 3 "'/other'"), ino=43)], [one, one])"
check "shared, and never writable" '0 0x1111;0 0x1112;1 0x1111;1 0x1112;' <<<"
	spec([text(), $(shared 0x1000 1 PATH)], [one, one])"
check "writable, and not shared" '0 0x1111;0 0x1112;1 0x1111;1 0x1112;' <<<"
	spec([text(), dict($(shared 0x1000 3 PATH), flags=2)], [one, one])"
check "constants of its file" '0 0x16;0 0x17;' <<<"
	spec([text(), data(), $(shared 0x3000 3 PATH)], [reads, reads])"
t_is "they are counted as patched" "$(withheld constants patched)" 1

# An image is the recorded one if its build-id says so, or its inode and the time.
check "without a build-id" '' <<<'spec([text(), data()], [one, reads], buildids={})'
t_is "that is counted" "$(withheld code unverified)" 2
t_like "and said" "nothing shows that $PWD/prog is the recorded image" errors
check "unless that is taken for granted" '0 0x1111;0 0x1112;1 0x16;1 0x17;' --trust images <<<'
	spec([text(), data()], [one, reads], buildids={})'
check "with another one" '' --trust images <<<'
	spec([text(), data()], [one, reads], buildids={PATH: "1122334455667788"})'
t_is "its file is not there" "$(withheld code missing)" 2
check "two files of one name" '' <<<'
	spec([text(), data(), text(pid=200, ino=77, time=501)], [one, (one, 200)])'

cat >clock.py <<'END'
import json
import os
import sys

s, shift = os.stat(sys.argv[1]), int(sys.argv[2])
json.dump({'ino': s.st_ino, 'maj': os.major(s.st_dev), 'min': os.minor(s.st_dev),
           # It was mapped, at 500, so many nanoseconds after its inode changed.
           'clock': [1, s.st_ctime_ns + shift, 500], 'host': os.uname().nodename}, sys.stdout)
END
# file NS [CHANGE]: a spec without build-ids, of a file that was mapped NS after it was changed.
file()
{
	"$PYTHON" clock.py prog "$1" >clock.json
	echo "(lambda c: spec([text(ino=c['ino'] + ${2:-0}, maj=c['maj'], min=c['min'])], [one], buildids={},
		hostname=c['host'] + '${3-}', clock=c['clock']))(json.load(open('clock.json')))"
}
# A file's times are those of the kernel's last tick, which may be 10 ms ago.
check "a file that has not changed since" '0 0x1111;0 0x1112;' <<<"$(file 10000001)"
check "one that may have been written to within the tick" '' <<<"$(file 10000000)"
check "one that was written to afterwards" '' <<<"$(file -1)"
check "another inode" '' <<<"$(file 10000001 1)"
check "another machine" '' <<<"$(file 10000001 0 x)"
spec=$(file 10000001)
with_id=${spec/buildids=\{\},/}
check "with a build-id" '0 0x1111;0 0x1112;' <<<"$with_id"
ln prog link
check "and a new name" '0 0x1111;0 0x1112;' <<<"$with_id"
cp prog other && cat other >prog
check "overwritten in place" '' <<<"$spec"
check "with its build-id" '' <<<"$with_id"
t_like "that is said" "^vinterp: .*prog was written to after it was mapped: what it holds is withheld" errors
check "unless that is taken for granted" '0 0x1111;0 0x1112;' --trust images <<<"$with_id"
mkdir -p "$HOME/.debug/.build-id/01/02030405060708"
cp other "$HOME/.debug/.build-id/01/02030405060708/elf"
check "where perf has a copy of it" '' <<<"$with_id"
t_done
