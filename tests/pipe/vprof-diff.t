#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof --diff --check in a build's daily life: the program is built again at the same path, the
# old file is gone, and the recordings are compared. Recordings are made here, sample by sample.
. "$(dirname "$0")/../lib.sh"
t_need gcc jq readelf

cat >p.c <<'EOF'
int mark = MARK;
__attribute__((noinline, aligned(4096))) int work(int x) { return x * 3 + mark; }
__attribute__((noinline, aligned(4096))) int other(int x) { return x * 5 + mark; }
int main(int c, char **v) { (void)v; return work(c) + other(c); }
EOF
mkdir build
# build N: the same code again, of another build-id
build()
{
	gcc -O1 -g -no-pie -Wl,--build-id=sha1 -DMARK="$1" -o build/p p.c
	mkdir -p "kept$1$PWD/build"
	cp build/p "kept$1$PWD/build/p"
}
cat >recorded.py <<'END'
import json, subprocess, sys
tool, out, program, buildid, work, other, nwork, nother, nowhere, event = sys.argv[1:]
work, other = int(work, 16), int(other, 16)
start = min(work, other) & ~0xfff
kinds = {"cpu-clock": (1, 0, []), "cycles": (0, 0, []),
         "cpu-clock:u": (1, 0, ["exclude_kernel", "exclude_hv"])}
type, config, flags = kinds[event]
flags.append("exclude_guest")
json.dump({"maps": [[start, 0x3000, start - 0x400000, program],
                    [0x7fff0000, 0x1000, 0, "/nowhere/q"]], "buildids": {program: buildid},
           "samples": [{"ip": work}] * int(nwork) + [{"ip": other}] * int(nother) +
           [{"ip": 0x7fff0000}] * int(nowhere),
           "type": type, "config": config, "flags": flags}, open("x.json", "w"))
subprocess.run([tool, "-d", "x.json", out], check=True)
END
# recorded FILE WORK OTHER [NOWHERE [EVENT]]: of build/p, with so many samples in each
recorded()
{
	"$PYTHON" recorded.py "$ROOT/tests/mkperfdata.py" x.data "$PWD/build/p" \
		"$(readelf -n build/p | sed -n 's/.*Build ID: //p')" \
		"$(nm build/p | sed -n 's/ T work$//p')" "$(nm build/p | sed -n 's/ T other$//p')" \
		"$2" "$3" "${4:-0}" "${5:-cpu-clock}"
	vtrace decode --engine=none x.data -o "$1"
}
check() { vprof --diff --check 5 "$@"; }

build 1
recorded before.vt 900 100
recorded mixed.vt 900 60 40
build 2
recorded after.vt 900 100
recorded slower.vt 900 400
build 3

# ---- which files each side has ----

for percent in 0 -1; do
	t_status "--check $percent" 2 vprof --diff --check "$percent" before.vt after.vt
	t_like "looks for no growth" 'above 0$' "$T_ERR"
done
t_status "the old file is gone: --check cannot tell" 6 check before.vt after.vt
t_like "says how much is unknown, of which stream, and why" \
	'before.vt: 100% of the samples are of unknown code; most of it: .*/build/p: file has another build-id: .*cannot tell' "$T_ERR"
t_like "and what helps" '\-\-before-symfs DIR' "$T_ERR"
t_unlike "what names nothing is not significant" '\*$|\* ' <(grep -e '\[file has' "$T_OUT")
t_like "and has no chance" '\[file has another build-id\]' "$T_OUT"
t_status "--before-symfs alone finds one" 6 check --before-symfs kept1 before.vt after.vt
t_like "and the other is said" 'after.vt: 100% of the samples are of unknown' "$T_ERR"
t_status "--symfs alone finds one" 6 check --symfs kept1 before.vt after.vt
t_status "with both files, identical code has not grown" 0 \
	check --before-symfs kept1 --symfs kept2 before.vt after.vt
t_is "in silence" "$(cat "$T_ERR")" ""
cp "kept2$PWD/build/p" build/p
t_status "one may lie where it was recorded" 0 check --before-symfs kept1 before.vt after.vt
t_status "a growth is found" 5 check --before-symfs kept1 before.vt slower.vt
t_like "and named" 'grown by 5% of all before, or more: other in p \(\+30%\), the total \(\+30%\), of that \+30% in other' "$T_ERR"
t_status "the other way it shrank" 0 check --symfs kept1 --before-symfs kept2 slower.vt before.vt
t_like "and is named, too" 'shrunk by 5% of all before, or more: other in p \(-23.1%\)' "$T_ERR"
t_status "sets of runs do the same" 6 check --before before.vt --before before.vt after.vt after.vt
t_status "with files" 0 check --before-symfs kept1 --before before.vt --before before.vt after.vt after.vt
t_status "--before-symfs needs --diff" 2 vprof --before-symfs kept1 after.vt
# A side without symbols has other names for the same procedures.
cp -r kept1 kept4
strip -s "kept4$PWD/build/p"
t_like "a stripped file calls procedures by address" '^sub_' \
	<(vprof --json --symfs kept4 before.vt | jq -r '.rows[].procedure')
t_status "symbols of one side alone" 6 check --before-symfs kept1 --symfs kept4 before.vt before.vt
t_like "are told" 'stripped of symbols on one side alone, not compared: p \(after\)$' "$T_ERR"
t_unlike "and nothing else" 'grown|shrunk|most of it' "$T_ERR"
t_status "of unknown code, too" 6 check --before-symfs kept1 --symfs kept4 mixed.vt mixed.vt
t_unlike "of which there is less" 'most of it' "$T_ERR"
t_status "of the other" 6 check --before-symfs kept4 --symfs kept1 before.vt before.vt
t_like "are told, too" 'not compared: p \(before\)$' "$T_ERR"
t_status "of some lines" 6 check --by line --before-symfs kept4 --symfs kept1 before.vt before.vt
t_status "images have names" 0 check --by image --before-symfs kept4 --symfs kept1 before.vt before.vt
t_is "and say nothing" "$(cat "$T_ERR")" ""
t_status "no side has symbols" 0 check --before-symfs kept4 --symfs kept4 before.vt before.vt
t_is "the same addresses are compared" "$(cat "$T_ERR")" ""

t_status "an output that cannot be written is graver" 4 check -o /dev/full before.vt after.vt

# ---- how much may be unknown ----

recorded few.vt 900 100 52
recorded more.vt 900 100 54
t_status "4.9 % unknown is told apart" 0 check few.vt few.vt
t_status "5.1 % is not" 6 check few.vt more.vt
t_like "the share is told" 'more.vt: 5\.12% of the samples are of unknown code' "$T_ERR"
recorded many.vt 900 100 600
t_status "the total grew by 548 of 1052, whatever its code is called" 5 check few.vt many.vt
t_like "and is named" 'grown by 5% of all before, or more: the total \(\+52\.1%\), of that' "$T_ERR"
t_unlike "what is unknown is not called a growth" 'or more: \[' "$T_ERR"
t_status "a total that shrank does not tell" 6 check many.vt few.vt
recorded moved.vt 400 100 552
t_status "what is unknown may grow as it likes" 6 check few.vt moved.vt
t_unlike "and is not called a growth, either" 'grown' "$T_ERR"

# ---- runs that do not vary ----

recorded none.vt 1000 0
recorded one.vt 1000 1
t_ok "0, 0, 0 against 1, 1, 1" vprof --diff --json --before none.vt --before none.vt \
	--before none.vt one.vt one.vt one.vt
t_is "is three coins on one side: no star" \
	"$(jq -c '[.rows[] | select(.procedure == "other") | .events[0] | (.p * 1000 | round), .significant]' "$T_OUT")" \
	"[250,0]"

# ---- the total of runs ----

# total FILE SAMPLES: of fifty images that all have as many
total()
{
	{
		echo "EVENT id=0 name=cycles policy=1 unit=cycles"
		for image in $(seq 50); do
			echo "IMAGE id=$image path=/opt/i$image buildid="
			echo "COUNT image=$image offset=16 event=0 samples=$(($2 / 50)) period=$2"
		done
	} | "$VT_BUILD/tests/tools/stream_make" >"$1"
}
total a1.vt 1000
total a2.vt 1200
total a3.vt 1400
total b1.vt 2500
total b2.vt 3000
total b3.vt 3500
runs=(--before a1.vt --before a2.vt --before a3.vt b1.vt b2.vt b3.vt)
t_status "three runs that take 2.5 times as long" 5 vprof --diff --by image --check "${runs[@]}"
t_is "no row has a star, the total has" "$(grep -c ' \* ' "$T_OUT") $(grep "^Total of" "$T_OUT")" \
	"0 Total of cycles: 1200.0 before, 3000.0 after (+150%), chance 1.47% *; with runs that vary so much, no change below 89.6% would be"
t_like "and is told" 'grown by 1% of all before, or more: the total \(\+150%\), of that \+3% in ' "$T_ERR"
vprof --diff --by image --json "${runs[@]}" >total.json
t_is "JSON has an object of it" \
	"$(jq -c '.total.events[0] | [.name, .before, .after, .delta, .percent, (.p * 1e4 | round), .significant, (.least_percent | round)]' total.json)" \
	'["cycles",1200,3000,1800,150,147,1,90]'
t_status "at a level that three runs do not reach" 0 \
	vprof --diff --by image --check --false-rate 0.01 "${runs[@]}"
t_like "it says what they would reach" '150%\), chance 1.47%, not significant; .*no change below [0-9]{3}% would be' "$T_OUT"
t_status "the same runs have not grown" 0 vprof --diff --by image --check \
	--before a1.vt --before a2.vt --before a3.vt a3.vt a1.vt a2.vt
t_like "and say so" 'Total of cycles: 1200.0 before, 1200.0 after \(\+0%\), chance 100%, not significant' "$T_OUT"
t_status "one run a side: 1000 and 1200, by counts" 5 vprof --diff --by image --check a1.vt a2.vt
t_is "of rows of 20 and 24 no one shows it" "$(grep -c ' \* ' "$T_OUT")" 0

# ---- events ----

recorded user.vt 900 100 0 cpu-clock:u
recorded cycles.vt 900 100 0 cycles
t_like "perf's modifier is in the name" '^cpu-clock:u' <(vprof --json user.vt | jq -r '.events[0].name')
t_status "modifiers do not keep events apart" 0 check after.vt user.vt
t_is "they are one column" "$(vprof --diff --json after.vt user.vt | jq -c '[.rows[].events | length] | unique')" "[1]"
t_status "no event of both" 3 check after.vt cycles.vt
t_like "is an error that names them" 'nothing to compare: no event is both before and after: cpu-clock, cycles' "$T_ERR"
vtrace merge after.vt cycles.vt -o both.vt
t_status "an event of one side alone" 0 check after.vt both.vt
t_like "is left out, and said" 'only before or only after, not compared: cycles' "$T_ERR"
t_ok "vlist pairs them, too" vlist --diff after.vt -i user.vt --json work
t_is "all samples are the same before and after" \
	"$(jq -c '[.procedures[0].rows[].events[0].delta] | unique' "$T_OUT")" "[0]"
# ---- great changes ----

for samples in 100 1334; do
	"$VT_BUILD/tests/tools/stream_make" >$samples.vt <<-END
		EVENT id=0 name=cycles policy=1 unit=cycles
		IMAGE id=0 path=/opt/one buildid=0102030405060708
		COUNT image=0 offset=16 event=0 samples=$samples period=$samples
	END
done
t_status "thirteen times as much" 5 vprof --diff --by image --check 5 100.vt 1334.vt
t_like "is told in digits" 'the total \(\+1234%\), of that \+1234% in ' "$T_ERR"
# ---- other rates ----

PATH=$VT_BUILD/tests/tools:$PATH
at=$(nm build/p | sed -n 's/ T work$//p')
# rated FILE RATE PERIOD SAMPLES: a run of 100 ms, all of it in work
rated()
{
	{
		echo "EVENT id=1 name=clock unit=ns $2"
		echo "IMAGE id=1 path=$PWD/build/p"
		echo "MAP pid=7 start=$((0x$at / 4096 * 4096)) length=4096" \
			"offset=$((0x$at / 4096 * 4096 - 0x400000)) image=1 prot=5"
		for ((i = 0; i < $4; i++)); do
			echo "SAMPLE event=1 pid=7 ip=0x$at misc=2 has=0x103 period=$3"
		done
	} | stream_make >"$1"
}
rated f1.vt freq=1000 1000000 100
rated f4.vt freq=4000 250000 400
rated p4.vt period=250000 250000 400
t_status "four times the rate is no growth" 6 check f1.vt f4.vt
t_like "which is told" '^vprof: f1.vt was sampled 1000 times a second, f4.vt 4000 times a second: their counts do not compare; --period weighs each sample$' "$T_ERR"
t_unlike "in one line" 'grown' "$T_ERR"
t_status "nor against a period" 6 check f1.vt p4.vt
t_like "which is told" ' 1000 times a second, p4.vt every 250000 ns: ' "$T_ERR"
t_ok "both are 100 ms" vprof --diff --period --check f1.vt f4.vt
t_unlike "so periods compare" 'do not compare' "$T_ERR"
t_ok "without --check it is told, too" vprof --diff f1.vt f4.vt
t_like "all the same" 'do not compare' "$T_ERR"
t_ok "one rate" vprof --diff f1.vt f1.vt
t_unlike "is none to speak of" 'do not compare' "$T_ERR"

# ---- periods ----

# Half of them 1 and half k, n samples are worth n (1 + k)^2 / 2 (1 + k^2): 95 % at k = 1.595.
for k in 1590 1610; do
	{
		echo "EVENT id=1 name=clock unit=ns freq=100"
		for ((i = 0; i < 100; i++)); do
			echo "SAMPLE event=1 ip=0x401000 misc=2 has=0x101 period=$((i % 2 ? k : 1000))"
		done
	} | stream_make >mixed$k.vt
done
vprof mixed1590.vt >equal.list
vprof mixed1610.vt >unequal.list
t_unlike "periods that are about equal" 'unequal periods' equal.list
t_like "periods that are not, and what to do" \
	'^The samples have unequal periods: --period weighs each by its own, as perf report does\.$' unequal.list
vprof --period mixed1610.vt >weighed.list
t_unlike "which is then done" 'unequal periods' weighed.list
t_done
