#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vflame's pictures: frames of made-up chains, names that are hostile to XML, options, comparisons.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" as ld
PATH=$VT_BUILD/tests/tools:$PATH

# main, work, leaf: 16 bytes each, from 0x401000; names of bad characters follow.
"$PYTHON" - >prog.s <<'END'
names = [b'main', b'work', b'leaf', b'</title><script>alert(1)</script>', b']]>&amp;&#0;', b'"\'\x1b[31m',
         b'\xff\xfe\xed\xa0\x80', b'\xef\xbf\xbe\xef\xbf\xbf', 'sm\u00f6rg\u00e5s\u202e'.encode(),
         b'std::sort<std::vector<int>, int>']
import sys
for i, n in enumerate(names):
    n = ''.join(chr(b) if 32 <= b < 127 and b not in b'"\\' else '\\%03o' % b for b in n)
    sys.stdout.write('p%d:\t.skip 16, 0x90\n\t.type p%d, @function\n\t.size p%d, 16\n' % (i, i, i))
sys.stdout.write('\t.globl _start\n_start:\tnop\n')
END
{ as -o prog.o prog.s && ld -Ttext=0x401000 -o prog prog.o; } || t_skip_all "no x86-64 assembler"
# No assembler takes all of these names: they are put into the table of names.
"$PYTHON" - <<'END'
names = [b'main', b'work', b'leaf', b'</title><script>alert(1)</script>', b']]>&amp;&#0;', b'"\'\x1b[31m',
         b'\xff\xfe\xed\xa0\x80', b'\xef\xbf\xbe\xef\xbf\xbf', 'sm\u00f6rg\u00e5s\u202e'.encode(),
         b'std::sort<std::vector<int>, int>']
import struct
elf = bytearray(open('prog', 'rb').read())
shoff, = struct.unpack_from('<Q', elf, 40)
shentsize, shnum, _ = struct.unpack_from('<HHH', elf, 58)
sections = [struct.unpack_from('<IIQQQQIIQQ', elf, shoff + i * shentsize) for i in range(shnum)]
symtab = next(i for i, s in enumerate(sections) if s[1] == 2)
strtab = sections[symtab][6]
old = bytes(elf[sections[strtab][4]:][:sections[strtab][5]])
table = bytearray(old)
for i in range(sections[symtab][5] // 24):
    at = sections[symtab][4] + 24 * i
    name, = struct.unpack_from('<I', elf, at)
    text = old[name:old.index(0, name)]
    if text[:1] == b'p' and text[1:].isdigit():
        struct.pack_into('<I', elf, at, len(table))
        table += names[int(text[1:])] + b'\0'
struct.pack_into('<QQ', elf, shoff + strtab * shentsize + 24, len(elf), len(table))
open('prog', 'wb').write(elf + table)
END

USER=0xfffffffffffffe00
sample="SAMPLE pid=10 tid=10 misc=2 has=0x121 event=1"
stream()
{
	{
		echo "EVENT id=1 name=cycles policy=interrupt unit=cycles period=100"
		echo "IMAGE id=1 path=$T_DIR/prog"
		echo "MAP pid=10 tid=10 start=0x401000 length=0x1000 offset=0x1000 image=1 prot=5 misc=2"
		cat
	} | stream_make
}

# picture NAME FILE PYTHON-TEXT: the text may use `frames`, by name: x, y, width, tip, fill, class; and
# `texts`, all that is said outside of frames.
picture()
{
	t_ok "$1" "$PYTHON" -c 'import sys, xml.etree.ElementTree as ET
svg = "{http://www.w3.org/2000/svg}"
root = ET.parse(sys.argv[1]).getroot()
frames = {}
for g in root.find(svg + "g"):
    rect = g.find(svg + "rect")
    tip = g.find(svg + "title").text
    label = g.find(svg + "text")
    frames[tip.split("\n")[0]] = dict(x=float(rect.get("x")), y=int(rect.get("y")), tip=tip,
        width=float(rect.get("width")), fill=rect.get("fill"), kind=g.get("class"),
        label=None if label is None else label.text)
texts = "\n".join(t.text or "" for t in root.findall(svg + "text"))
scripts = root.findall(".//" + svg + "script")
'"$3" "$2"
}

stream >x.vt <<END
$sample period=1 ip=0x401025 callchain=$USER,0x401025,0x401018,0x401008
$sample period=2 ip=0x401026 callchain=$USER,0x401026,0x401018,0x401010
$sample period=5 ip=0x401018 callchain=$USER,0x401018,0x401008
$sample period=2 ip=0x401002
$sample period=10 ip=0x999999
LOST count=3
END

t_ok "a picture" vflame -o x.svg --width 1024 --title "Hot & <cold>" x.vt
picture "frames stand on their callers, as wide as their samples" x.svg '
assert {n: (round(f["x"]), round(f["width"])) for n, f in frames.items()} == {
    "all": (12, 1000), "[no mapping, user mode]": (12, 200), "main": (212, 800),
    "work": (212, 600), "leaf": (212, 400)}, frames
assert frames["all"]["y"] == frames["main"]["y"] + 18 == frames["leaf"]["y"] + 54
assert frames["leaf"]["kind"] == "user" and frames["[no mapping, user mode]"]["kind"] == "unknown"
assert frames["work"]["label"] == "work"'
picture "tips and the lines around tell counts" x.svg '
assert frames["work"]["tip"].split("\n") == ["work", "'"$T_DIR/prog"'",
    "3 of 5, 60.00 % (95 %: 17.04 to 92.74); in itself 1"], frames["work"]["tip"]
assert "Hot & <cold>" in texts and "x.vt" in texts
assert "Width: samples of cycles, all: 5; unknown code: 20.00 %; lost while recording: 3" in texts, texts'
t_unlike "nothing from elsewhere is needed" '(href|src|url|@import|http:[^"'\'']*//)[^w]*//' x.svg
vflame --title "Hot & <cold>" --width 1024 <x.vt >y.svg
t_same "the same bytes" <(sed '/standard input/d' y.svg) <(sed '/x\.vt/d' x.svg)
vflame --icicle x.vt >icicle.svg
picture "--icicle grows downwards" icicle.svg '
assert frames["all"]["y"] == frames["main"]["y"] - 18 == frames["leaf"]["y"] - 54'
vflame --period --width 1024 x.vt >period.svg
picture "-p weighs by periods" period.svg '
assert round(frames["work"]["width"]) == 400 and "Width: periods of cycles, in cycles, all: 20" in texts, texts'
vflame --min 50 x.vt >min.svg
picture "--min leaves frames out, and says so" min.svg '
assert sorted(frames) == ["all", "main", "work"] and "2 frames under 50 % left out" in texts, texts'

# ---- names ----

for i in 2 3 4 5 6 7 8 9; do
	echo "$sample period=1 ip=0x4010${i}4"
done | stream >names.vt
t_ok "hostile names" vflame -o names.svg names.vt
picture "they stay text" names.svg '
assert len(scripts) == 1 and "alert" not in scripts[0].text
names = sorted(n for n in frames if n not in ("all", "leaf"))
assert names == sorted(["</title><script>alert(1)</script>", "]]>&amp;&#0;", "\"\x27\\x1b[31m",
    "\\xff\\xfe\\xed\\xa0\\x80", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf", "sm\u00f6rg\u00e5s\\xe2\\x80\\xae",
    "std::sort<std::vector<int>, int>"]), names
assert frames["std::sort<std::vector<int>, int>"]["label"] == "std::sort<\u2026>"'

# ---- comparisons ----

for i in $(seq 400); do
	echo "$sample period=1 ip=0x401002"
	[ $((i % 4)) -ne 0 ] || echo "$sample period=1 ip=0x401012"
	[ $((i % 4)) -ne 0 ] || echo "$sample period=1 ip=0x401022"
done >samples
stream <samples >before.vt
for i in $(seq 3); do grep 0x401012 samples; done | cat samples - | grep -v 0x401022 | stream >after.vt
t_ok "--diff" vflame --diff --width 1024 before.vt after.vt
cp "$T_OUT" diff.svg
picture "has the widths of after, and tells both" diff.svg '
assert {n: round(f["width"]) for n, f in frames.items()} == {"all": 1000, "main": 500, "work": 500}
assert "before: 100 of 600, 16.67 %" in frames["work"]["tip"], frames["work"]["tip"]
assert "after: 400 of 800, 50.00 %" in frames["work"]["tip"]
assert "change: +33.33 points" in frames["work"]["tip"]
assert "all: 800 (before: 600)" in texts and "1 frame only before" in texts, texts
red, blue = frames["work"]["fill"], frames["main"]["fill"]
assert int(red[1:3], 16) > int(red[5:], 16) and int(blue[1:3], 16) < int(blue[5:], 16), (red, blue)'
vflame --diff before.vt before.vt >same.svg
picture "of the same has no colours" same.svg '
assert {frames[n]["fill"] for n in ("main", "work", "leaf")} == {"#e8e6e2"}'

# ---- usage ----

t_status "two files" 2 vflame x.vt x.vt
t_status "--diff of one" 2 vflame --diff x.vt
t_status "--before-symfs without --diff" 2 vflame --before-symfs . x.vt
t_status "two events" 2 vflame -e cycles -e cycles x.vt
t_status "no percentage" 2 vflame --min 101 x.vt
t_status "too narrow" 2 vflame --width 299 x.vt
t_status "no samples" 3 vflame --pid 11 x.vt
t_status "/dev/full" 4 vflame -o /dev/full x.vt

t_done
