#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vevent: samples that count micro-operations (IBS with cnt_ctl=1) are divided by those of each
# instruction, those that count cycles (cnt_ctl=0) and Arm's are not.  The code is one loop whose
# micro-operations are published: AMD's Software Optimization Guide for Family 19h, and uops.info.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" as ld

zen3=AuthenticAMD,25,1,1

# Micro-operations of Zen 3, and the instruction; 0: microcode, which no table has.
cat >code.txt <<'END'
1 nop
1 add %rax, %rbx
2 xchg %rax, %rbx
1 imul %rcx, %rdx
1 push %rax
1 pop %rax
2 mulq %rcx
2 div %rcx
1 lea 8(%rax), %rdx
1 sub %rdx, %rcx
1 xor %rdi, %rsi
1 mov (%rsp), %rdi
1 mov %rdi, -8(%rsp)
1 add %rax, -16(%rsp)
0 cpuid
1 cmp %rax, %rbx
END
{
	printf '.globl _start, f\n.text\n_start:\n.type f, @function\nf:\n'
	cut -d ' ' -f 2- code.txt
	printf 'jne f\nret\n.size f, .-f\n'
} >code.s
{ as -o code.o code.s && ld -o code code.o; } 2>/dev/null || t_skip_all "no x86-64 assembler"

# Samples of each instruction: EACH for each of its micro-operations (one for microcode), and MORE of
# the third.  The first line is the mapping, the address of f is that of the first instruction.
samples()
{
	"$PYTHON" - "$1" "$2" "$PWD/${3-code}" <<'END'
import struct, sys
each, more, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
elf = open("code", "rb").read()
phoff, n = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
for i in range(n):
    kind, flags, offset, vaddr, _, size = struct.unpack_from("<IIQQQQ", elf, phoff + 56 * i)
    if kind == 1 and flags & 1:
        break
print("map %x %x %x %s" % (vaddr, size, offset, path))
# Lengths of the instructions, by hand.
lengths = [1, 3, 2, 4, 1, 1, 3, 3, 4, 3, 3, 4, 5, 5, 2, 3]
at = vaddr
for i, (line, length) in enumerate(zip(open("code.txt"), lengths)):
    uops = int(line.split()[0])
    for k in range(each * (uops or 1) + (more if i == 2 else 0)):
        # Retired; cycles from tag to retirement 32, from completion 2.
        print("op 1ff 60000 %x 4000200020 0 0 0 0" % at)
    at += length
END
}
made()
{
	local out=$1
	shift
	"$PYTHON" "$ROOT/tests/mkibs.py" "$@" "$out"
}
rows() { vevent --by instruction --json --top 0 -w retired "$@"; }
# The sums of `retired`, by address; then of the event: divided, checked, chi-square and freedom.
show()
{
	"$PYTHON" -c '
import json
d = json.load(open("j"))
rows = sorted(d["rows"], key=lambda r: int(str(r["address"]), 0))
print(*["%g" % t["sum"] for r in rows for t in r["totals"] if t["name"] == "retired"], flush=True)
e = d["events"][0]
print(e["of"], e.get("divided"), e["checked"], "%.6f %g" % (e["chi_square"], e["freedom"]), e["without_code"])'
}

samples 6 0 >equal.txt
made uops.data -u -c $zen3 <equal.txt
rows uops.data >j
# A sample stands for 100,000 micro-operations: of 6 for each, instructions of 1 and of 2 alike
# executed 600,000 times.  The microcode stays as it is, and is said.
t_is "each instruction of the loop executed equally often" "$(show)" \
	"$(yes 600000 | head -16 | xargs)
micro-operations some True 0.000000 14 0"
t_ok "for people" vevent --top 1 uops.data
t_like "the heading says what was divided" \
	'114 samples of micro-operations.*; divided by .* where its code is there and the model knows them' "$T_OUT"
microcode=$(awk '/^op/ { print $4 }' equal.txt | uniq | sed -n 15p)
grep -v " $microcode " equal.txt | made known.data -u -c $zen3
rows known.data >j
t_is "without microcode all of it is divided" "$(show | tail -1)" "micro-operations all True 0.000000 14 0"

# On Zen 4, an operation on memory is two, as uops.info has measured.
made zen4.data -u -c AuthenticAMD,25,97,2 <equal.txt
rows zen4.data >j
t_is "on another core an operation on memory is two" "$(show | sed -n 1p | cut -d ' ' -f 13-14)" "600000 300000"

# 6 more of the third: it has 18 of 120 samples, and 2 of 18 micro-operations, that are known.
samples 6 6 | made more.data -u -c $zen3
rows more.data >j
t_is "18 samples of 2 micro-operations are 900,000 executions" "$(show | sed -n 1p)" \
	"600000 600000 900000 $(yes 600000 | head -13 | xargs)"
t_is "chi-square is that of unequal shares" "$(show | tail -1)" "$("$PYTHON" -c '
uops = [1, 1, 2, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1]
had = [6 * u for u in uops]
had[2] += 6
want = [sum(had) * u / sum(uops) for u in uops]
print("micro-operations some True %.6f 14 0" % sum((h - w) ** 2 / w for h, w in zip(had, want)))')"

# The same samples where cycles choose: as they are, and nothing is compared.
made cycles.data -c $zen3 <<<"$(samples 6 0)"
rows cycles.data >j
t_is "samples by cycles are not divided" "$(show)" \
	"600000 600000 1.2e+06 600000 600000 600000 1.2e+06 1.2e+06 $(yes 600000 | head -8 | xargs)
cycles None False 0.000000 0 0"
t_ok "for people" vevent --top 1 cycles.data
t_like "sums are cycles" 'at the end of so many cycles: sums are cycles' "$T_OUT"

# Without a model, or without the code.
made other.data -u -c GenuineOther,6,1,1 <<<"$(samples 6 0)"
rows other.data >j
t_is "of a processor without a table nothing is divided" "$(show | sed -n 1p)" \
	"600000 600000 1.2e+06 600000 600000 600000 1.2e+06 1.2e+06 $(yes 600000 | head -8 | xargs)"
t_like "which is said" '"divided": "none"' j
rows -m zen3 other.data >j
t_is "-m names one" "$(show | tail -1)" "micro-operations some True 0.000000 14 0"

# A stream of estimates names the model, by which they add up.
divisor() { vtrace dump -k META -F value --where 'key == "vevent.model"' "$1"; }
vevent -o zen3.e uops.data
t_is "the model that is known is named" "$(divisor zen3.e)" zen3
vevent -m zen4 -o zen4.e uops.data
t_is "one that is given, too" "$(divisor zen4.e)" zen4
t_ok "estimates of one model add up" vtrace merge -o sum.e zen3.e zen3.e
t_is "which the sum names" "$(divisor sum.e)" zen3
t_ok "vevent keeps it" vevent -o again.e sum.e
t_is "once" "$(divisor again.e)" zen3
for p in 'vtrace merge -o sum.e' 'vevent -o sum.e' vevent; do
	read -ra command <<<"$p"
	t_status "two models: $p" 3 "${command[@]}" zen4.e again.e
	t_like "are refused" \
		'again.e: its estimates are of another model of micro-operations .META vevent.model. than the estimates of zen4.e' \
		"$T_ERR"
done
vevent -o uops.e -m zen3 uops.data cycles.data
t_is "two files have one" "$(divisor uops.e)" zen3
for o in other.data cycles.data; do
	vevent -o none.e $o
	t_is "$o: what is not divided is of none" "$(divisor none.e)" ""
done
t_ok "and adds up with all" vtrace merge -o sum.e none.e zen4.e

samples 6 0 nothing | made gone.data -u -c $zen3
rows gone.data >j 2>/dev/null
t_is "of code that is not there nothing is divided" "$(show | tail -1)" \
	"micro-operations none False 0.000000 0 114"

# Added up, each stays what it was; and counts of cycles are no micro-operations.
rows uops.data more.data >j
t_is "two files add up" "$(show | sed -n 1p)" "1.2e+06 1.2e+06 1.5e+06 $(yes 1.2e+06 | head -13 | xargs)"
t_ok "the two ways of counting are two events" vevent --by instruction --json --top 0 uops.data cycles.data
t_is "which stay apart" "$("$PYTHON" -c 'import json, sys
print([(e["name"], e["of"]) for e in json.load(open(sys.argv[1]))["events"] if e["samples"]])' "$T_OUT")" \
	"[('ibs_op//', 'cycles'), ('ibs_op/cnt_ctl=1/', 'micro-operations')]"

# Arm: operations, of which there is no table.
"$PYTHON" "$ROOT/tests/mkspe.py" spe.data <<'END'
pc=401000/0 tot=40 ev2=2 other=0 ts=1
pc=401000/0 tot=42 ev2=2 other=0 ts=2
pc=401004/0 tot=44 ev2=2 other=0 ts=3
END
rows spe.data >j
t_is "operations are not divided" "$(show | tail -1)" "operations none False 0.000000 0 3"
period=$(vtrace decode spe.data | vtrace dump -k SAMPLE -F period | sort -u)
t_is "each sample stands for its period" "$(show | sed -n 1p)" "$((3 * period))"
t_done
