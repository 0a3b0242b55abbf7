#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record --sample-values --bpf: values of a static program, of a process that runs already and
# of the kernel, which are those that the program was made to have.

. "$(dirname "$0")/../lib.sh"
t_need gcc "$PYTHON" setpriv

t_status "no program" 2 vtrace record --sample-values --bpf
t_like "is asked for" 'which program' "$T_ERR"
t_status "without its option" 2 vtrace record --bpf true
t_like "is refused" '^vtrace record: --bpf: goes with --sample-values$' "$T_ERR"
t_status "single steps" 2 vtrace record --sample-values --bpf --steps true
t_like "are not done" '--steps: not with --bpf' "$T_ERR"
t_status "all processors and a process" 2 vtrace record --sample-values --bpf -a -p 1
t_status "all processors without the option" 2 vtrace record --sample-values -a

# Whoever may not load programs into the kernel is told so; a user that owns nothing may not.
if [ "$(id -u)" = 0 ] && cp "$VT_BUILD/bin/vtrace" . && chmod 755 . vtrace; then
	t_status "a user without rights" 3 setpriv --reuid=65534 --regid=65534 --clear-groups \
		./vtrace record --sample-values --bpf -o - true
	t_like "is refused" '^vtrace record: --bpf: .*: it takes root, or CAP_BPF and CAP_PERFMON$' "$T_ERR"
	t_is "and gets no stream" "$(wc -c <"$T_OUT")" 0
else
	t_skip "a user without rights" "it takes root to become another user"
fi

if ! vtrace record --sample-values --bpf -o probe.vt -- true 2>refused; then
	if grep -q -e '--bpf: ' refused; then
		t_skip "recordings" "$(sed 's/^[^:]*: //;q' refused)"
		t_done
	fi
fi

# The loop's load is always the same number; calls pass two numbers to the kernel, which fails.
cat >planted.c <<'END'
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile unsigned long magic = 0x1122334455667788;
__attribute__((noinline)) unsigned long spin(unsigned long n)
{
	unsigned long sum = 0;
	while (n--)
		sum += magic;
	return sum;
}
int main(int argc, char **argv)
{
	int i, k;
	for (i = 0; i < atoi(argv[1]); i++) {
		spin(200000);
		for (k = 0; k < 3000; k++)
			syscall(SYS_lseek, -1, 0x1234567890L, 0x77);
	}
	return argc > 2 ? 7 : 0;
}
END
t_ok "a static program" gcc -O1 -static -o planted planted.c

# Values that vinterp found: loads of the magic number's address, and the kernel's of the numbers.
cat >count.py <<'END'
import subprocess, sys
magic = int(sys.argv[2], 16)
seen = {'magic': 0, 'other': 0, 'offset': 0, 'kernel': 0, 'user': 0}
rows = subprocess.run(['vtrace', 'dump', '--values', sys.argv[1]], stdout=subprocess.PIPE,
                      text=True, check=True).stdout.splitlines()
for row in rows:
    pid, tid, caller, ip, what, reg, size, lane, value = row.split('\t')[:9]
    kernel = int(ip, 16) >> 63
    seen['kernel' if kernel else 'user'] += 1
    if kernel and int(value, 16) == 0x1234567890:
        seen['offset'] += 1
    if what == 'load' and int(ip, 16) == magic:
        seen['magic' if int(value, 16) == 0x1122334455667788 else 'other'] += 1
print(' '.join(f'{k}={v}' for k, v in seen.items()))
END
# The address of the loop's load of the number.
load=$(objdump -d --no-show-raw-insn planted | sed -n '/<spin>:/,/ret/s/^ *\([0-9a-f]*\):.*mov .*<magic>.*/\1/p' | head -1)
if [ -n "$load" ]; then t_pass "the load is found"; else t_fail "the load is found"; fi

count_of()
{
	sed "s/.*\\<$1=\\([0-9]*\\).*/\\1/" counts
}

judge()
{
	t_ok "$1: interpreted" bash -c "vinterp -l 16 '$2' >i.vt"
	t_ok "$1: counted" bash -c "$PYTHON count.py i.vt '$load' >counts"
	if [ "$(count_of magic)" -ge "$3" ]; then t_pass "$1: the constant is seen"; else t_fail "$1: the constant is seen" "$(cat counts)"; fi
	t_is "$1: and nothing else there" "$(count_of other)" 0
	if [ "$(count_of offset)" -ge "$4" ]; then t_pass "$1: the kernel has the offset"; else t_fail "$1: the kernel has the offset" "$(cat counts)"; fi
}

t_status "it is recorded, with its status" 7 vtrace record --sample-values --bpf -F 4000 -o p.vt -- ./planted 700 x
t_like "and what was recorded is said" '^vtrace record: [0-9]+ samples of [0-9.]+ instructions, [0-9]+ of them in the kernel; ' "$T_ERR"
judge "a program" p.vt 5 3
t_ok "what was read" bash -c "vtrace info p.vt >info; vtrace info i.vt >>info"
share()
{
	awk -v k="$1" -v a="$2" '$1 == k ":" { k = $2 } $1 == a ":" { a = $2 } END { printf "%d\n", 1000 * k / a }' info
}
known=$(share vinterp.known.load vinterp.values.load)
if [ "$known" -ge 950 ]; then t_pass "loads are known"; else t_fail "loads are known" "$known of 1000"; fi
runs=$(share vinterp.stop.length vinterp.runs)
if [ "$runs" -ge 850 ]; then t_pass "runs are long"; else t_fail "runs are long" "$runs of 1000"; fi
t_ok "hot values" bash -c "vhot i.vt >h.vt"
t_ok "the kernel's procedure is listed" bash -c "vlist --values h.vt ksys_lseek"
t_like "with its symbol" '^ksys_lseek in \[kernel.kallsyms\]' "$T_OUT"
t_like "and the offset" ' 100% 0x1234567890' "$T_OUT"

./planted 100000 &
planted=$!
t_ok "a process that runs" timeout --preserve-status -s INT 3 vtrace record --sample-values --bpf -F 4000 -p $planted -o q.vt
judge "a process" q.vt 5 3
t_ok "all processors" vtrace record --sample-values --bpf -a -F 4000 -o a.vt -- sleep 2
judge "all processors" a.vt 3 1
kill $planted 2>errors
t_ok "processes have their names" bash -c "vprof a.vt"
t_like "and images" 'spin +.*planted' "$T_OUT"
# has_buildid STREAM FILE: the file's build-id is that of the stream's image.
has_buildid()
{
	t_is "the build-id of ${2##*/} in $1" \
		"$(vtrace dump -k IMAGE -F path,buildid "$1" 2>/dev/null | awk -F '\t' -v f="$2" '$1 == f { print $2 }' | sort -u)" \
		"$(readelf -n "$2" | sed -nE 's/ *Build ID: //p')"
}
has_buildid q.vt "$PWD/planted"
has_buildid a.vt "$PWD/planted"
has_buildid a.vt "$(realpath "$(ldd /bin/bash | sed -nE 's|.* => (/[^ ]*/libc.so.6) .*|\1|p')")"
t_status "a process that does not run" 3 vtrace record --sample-values --bpf -p 4194304 -o x.vt
t_done
