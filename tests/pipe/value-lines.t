#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Samples of values: recordings whose samples carry the memory that the next instructions read.
# What vinterp finds is compared with arithmetic on the bytes that were put there, and with what it
# finds where the same memory is the sample's stack.
. "$(dirname "$0")/../lib.sh"

# figures FILE KEY...: numbers of a summary
figures()
{
	"$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(*(d[k] for k in sys.argv[2:]))' "$@"
}

# 40 samples of generated code at one address, of two kinds, with data of a fixed sequence; the
# lines of every other one are in descending order, and one is there twice.
cat >make.py <<'END'
import json

CODE, DATA = 0x10000, 0x20fc0
# mov (%rbx),%rax; mov 56(%rbx),%rcx; add/sub %rcx,%rax; mov %fs:8,%rdx; mov 60(%rbx),%rsi;
# mov 0x1000(%rbx),%rdi; syscall
code = "488b03 488b4b38 48%s 64488b142508000000 488b733c 488bbb00100000 0f05"
state, samples, want = 1, [], []
for i in range(40):
    data = bytearray()
    while len(data) < 192:
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        data += (state >> 32).to_bytes(4, "little")
    lines = [[CODE, code.replace(" ", "") % ("01c8", "29c8")[i % 2]]]
    lines += [[DATA + 64 * k, data[64 * k:64 * k + 64].hex()] for k in range(3)]
    if i % 2:
        lines = [lines[2]] + lines[::-1]
    regs = [0] * 24
    regs[1], regs[8] = DATA, CODE
    samples.append({"ip": CODE, "regs": regs, "values": {"lines": lines, "fs": DATA + 120}})
    word = lambda at: int.from_bytes(data[at:at + 8], "little")
    total = word(0) + (-word(56) if i % 2 else word(56)) & (1 << 64) - 1
    # %fs:8 is at DATA + 128; the word at DATA + 0x1000 is unknown.
    want += [word(0), word(56), total, word(128), word(60)]
json.dump({"type": 1, "config": 0, "maps": [], "samples": samples}, open("x.json", "w"))
print("\n".join("0x%x" % w for w in want))
END
"$PYTHON" make.py >want
"$PYTHON" "$ROOT/tests/mkperfdata.py" -d x.json x.data
t_ok "decode" vtrace decode -o x.vt x.data
t_ok "vinterp" vinterp -l 16 -w results -o out.vt x.vt
# But %rcx and %r11 of the system call.
vtrace dump -k VALUE -F ip,value out.vt | awk '$1 <= "0x1001b" { print $2 }' >got
t_same "loads, sums, and what is behind FS" got want
t_is "lines are in order, none twice" \
	"$(vtrace dump -k SAMPLE -F line_addr,walked,walk_stop,fs_base,mxcsr x.vt | sort -u)" \
	"0x10000,0x20fc0,0x21000,0x21040	16	length	0x21038	0x1f80"
t_is "raw bytes are not there twice" "$(vtrace dump -k SAMPLE -F raw x.vt | sort -u)" ''
t_is "fields have served" "$(vtrace dump -k SAMPLE out.vt | grep -c -e line -e walk -e fs_base)" 0
vinterp --keep -l 16 x.vt | vtrace dump -k SAMPLE | sort >kept
vtrace dump -k SAMPLE x.vt | sort >all
t_same "--keep passes all on" kept all
vinterp --summary --json x.vt >summary.json
t_is "the summary counts them" "$(figures summary.json with_lines bad_lines no_code runs)" "40 0 0 40"

vtrace decode --no-decode-raw -o raw.vt x.data
t_is "on request, raw bytes are kept alone" \
	"$(vtrace dump -k SAMPLE -F raw,line_addr,walk_stop raw.vt | grep -c '^564c5332.*[0-9a-f]		')" 40

vtrace info --json x.vt >info.json
t_is "vtrace info counts walks" "$("$PYTHON" -c 'import json
print(json.load(open("info.json"))["walks"])')" \
	"[{'stop': 'length', 'samples': 40, 'insns': 640, 'lines': 160}]"
t_ok "vtrace info" vtrace info x.vt
t_like "and has their means" '^ *40  *16\.00  *4\.00  *length$' "$T_OUT"

# The same without lines: no code is known, also not that of other samples.
"$PYTHON" - <<'END'
import json
d = json.load(open("x.json"))
for s in d["samples"][1::2]:
    s["values"]["lines"] = []
json.dump(d, open("half.json", "w"))
END
"$PYTHON" "$ROOT/tests/mkperfdata.py" -d half.json half.data
vtrace decode half.data | vinterp --summary --json - >summary.json
t_is "code of one sample is not that of another" \
	"$(figures summary.json with_lines bad_lines no_code runs)" "20 0 20 20"

# ---- damage: the third of five samples ----

# damage NAME CODE: changes what the sample `s` has
damage()
{
	"$PYTHON" - "$2" <<'END'
import json, sys
d = json.load(open("x.json"))
d["samples"] = d["samples"][:5]
s = d["samples"][2]
exec(sys.argv[1], {"s": s, "v": s["values"], "lines": s["values"]["lines"]})
if "raw" in s:
    del s["values"]
json.dump(d, open("bad.json", "w"))
END
	"$PYTHON" "$ROOT/tests/mkperfdata.py" -d bad.json bad.data
	t_status "$1: decode" 1 vtrace decode -o bad.vt bad.data
	t_is "$1: is told" "$(vtrace dump -k GAP -F reason,records bad.vt)" \
		"samples ${3:-whose lines of memory are damaged}	1"
	t_is "$1: the sample is there" "$(vtrace dump -k SAMPLE bad.vt | wc -l)" 5
	vtrace dump -k SAMPLE -F line_addr bad.vt >lines
}
while read -r name code; do
	damage "$name" "$code"
	t_is "$name: without lines" "$(sed -n 3p lines)|$(sort -u lines | wc -l)" "|2"
done <<'END'
more-lines v["nlines"] = 5
most-lines v["nlines"] = 2**32 - 1
fewer-lines v["nlines"] = 3
unaligned lines[1][0] += 8
empty-mask lines[1][1:] = ["", 0]
more-bytes lines[1][1:] = ["11" * 28, 0xff]
fewer-bytes lines[1][1:] = ["11" * 8, 0xffffffff]
no-stop v["stop"] = 0
unknown-stop v["stop"] = 9
more-state v["nstate"] = 2
most-state v["nstate"] = 2**63
no-mask v["state"] = [[191, 1]]
half-mask v["state"] = [[193, 1]]
no-vector v["state"] = [[512, 1]]
state-twice v["state"] = [[258, 1], [258, 1]]
state-descends v["state"] = [[260, 1], [258, 1]]
magic-only s["raw"] = "564c5332"
cut s["raw"] = "564c5332100001000100000000000000"
END
damage contradictory 'lines.append([lines[1][0], "ff"])' "with contradictory lines of memory"
t_is "contradictory: without that line" "$(sed -n 3p lines)" "0x10000,0x21000,0x21040"
vinterp -l 16 -w results bad.vt 2>/dev/null | vtrace dump -k VALUE -F time,ip,value 2>/dev/null |
	awk '$1 == 1002 && $2 <= "0x1001b" { print $3 }' >got
t_same "contradictory: what else is known" got <(sed -n 14p want)

# ---- what is none ----

"$PYTHON" "$ROOT/tests/mkperfdata.py" -b -d x.json big.data
sed 's/"type": 1/"type": 4/' x.json >other.json
"$PYTHON" "$ROOT/tests/mkperfdata.py" -d other.json other.data
for name in big other; do
	vtrace decode -o $name.vt $name.data 2>/dev/null
	t_is "$name: raw bytes are left alone" \
		"$(vtrace dump -k SAMPLE -F raw,line_addr $name.vt | grep -c '[0-9a-f]	$')" 40
done

# ---- a sample's stack as lines ----

cp -r "$ROOT/tests/data/demo" demo
vtrace decode -o regs.vt demo/regs.data
cat >lines.py <<'END'
import sys

WORDS = {"type": ["file"], "op": ["comm", "exec", "fork", "exit"]}
for line in sys.stdin:
    kind, *fields = line.rstrip("\n").split("\t")
    f = dict(x.split("=", 1) for x in fields)
    if kind not in ("EVENT", "IMAGE", "MAP", "THREAD", "SAMPLE"):
        continue
    for name, words in WORDS.items():
        if f.get(name) in words:
            f[name] = str(words.index(f[name]))
    if "stack" in f:
        at, stack = int(f["uregs"].split(",")[7], 16), bytes.fromhex(f.pop("stack"))
        stack = bytes(at % 64) + stack[:int(f.pop("stack_dyn_size"))]
        n = len(stack) // 64
        f["line_addr"] = ",".join(str(at // 64 * 64 + 64 * i) for i in range(n))
        f["lines"] = stack[:64 * n].hex()
    print(kind, *("%s=%s" % (k, v.replace("%", "%25").replace(" ", "%20")) for k, v in f.items()))
END
vtrace dump regs.vt | "$PYTHON" lines.py | "$VT_BUILD/tests/tools/stream_make" >lines.vt
for form in regs lines; do
	vinterp --trust images --symfs demo/symfs -l 4 -w all -o $form.values.vt $form.vt
	vtrace dump -k VALUE -F time,ip,what,reg,lane,value,caller $form.values.vt | sort >$form.values
	awk -F '\t' '$7 != "0x0"' $form.values >$form.called
	vhot --context caller -o $form.hot $form.values.vt
done
t_is "values have callers" "$(($(wc -l <regs.called) > 500))" 1
t_is "the same as from a stack" "$(comm -23 regs.called lines.called | wc -l)" 0
t_is "listed by caller" "$(vtrace dump -k HOT -F caller lines.hot | grep -c 0x)" \
	"$(vtrace dump -k HOT -F caller regs.hot | grep -c 0x)"
t_done
