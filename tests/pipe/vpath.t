#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vpath: the paths that led to samples, against what python makes of their branch stacks; merged,
# listed, and from damaged records.

. "$(dirname "$0")/../lib.sh"

orders=$ROOT/tests/data/demo/orders.vt
symfs=$ROOT/tests/data/demo/symfs
args=(-m alpha21264 --symfs "$symfs" --profileme 200 --pairs 50 --history 12 --branches 32)

t_ok "samples with histories and stacks" vsim "${args[@]}" -o s.vt "$orders"

# ---- options ----

t_status "no branches" 2 vpath -n 0 s.vt
t_status "too many branches" 2 vpath -n 65 s.vt
t_status "an unknown method" 2 vpath --method guess s.vt
t_status "a chart of nothing" 2 vpath --plot x.svg s.vt
t_status "two forms" 2 vpath --json --csv s.vt
t_status "the truth of a list" 2 vpath --truth --top 3 s.vt
t_status "samples without histories" 3 vpath --symfs "$symfs" --top 1 "$ROOT/tests/data/demo/perf.data"
t_like "what makes them" 'no samples with a history of branches \(vsim --profileme --history\)' "$T_ERR"
for n in 13 64; do
	t_status "the truth beyond the histories: $n" 3 vpath --symfs "$symfs" --across-calls --truth -n $n s.vt
	t_like "the longest is told" "s.vt: no history of $n branches \\(-n\\): the longest is of 12$" "$T_ERR"
	t_is "nothing is scored" "$(wc -c <"$T_OUT")" 0
done
t_ok "the truth of the longest" vpath --symfs "$symfs" --across-calls --truth -n 12 s.vt
vsim "${args[@]}" --branches 4 -o short.vt "$orders"
vsim "${args[@]:0:8}" -o none.vt "$orders"
for f in short none; do
	t_status "the truth without long stacks: $f" 3 vpath --symfs "$symfs" --across-calls --truth --json $f.vt
	t_like "which is said" "$f.vt: no (branch stacks|histories) as long as" "$T_ERR"
done
t_status "counts of nothing" 3 vpath --symfs "$symfs" --counts s.vt --top 1 s.vt
if command -v valgrind >/dev/null; then
	vtrace record --full -o other.vt -- "$VT_BUILD/tests/tools/rec_distinct" 3 >/dev/null 2>&1
	t_status "no counts of another program" 3 vpath --symfs "$symfs" --counts other.vt --top 1 s.vt
	t_like "which is said" 'nothing was executed in their images' "$T_ERR"
else
	t_skip "no counts of another program" "valgrind is not installed"
fi
t_status "no instructions to take" 2 vpath --every 0 "$orders"

# ---- executed code ----

# All paths by executed code, by a decoded trace of it, and by the branch stacks that the model gives
# each instruction; only it knows that nothing lies before the first branch.
cat >paths.py <<'END'
import json, sys
def load(name):
    d = json.load(open(name))
    at = {b["id"]: b["address"] for b in d["blocks"]}
    return {(p["address"], tuple(at[b] for b in p["blocks"])): (p["samples"], p["executions"])
            for p in d["paths"]}
a, b = load(sys.argv[1]), load(sys.argv[2])
print(len(set(a) - set(b)), len(set(b) - set(a)), sum(a[k] != b[k] for k in set(a) & set(b)),
      len(a), int(sum(n for n, _ in a.values())))
END
all=(vpath --symfs "$symfs" --across-calls --json --top 0)
t_ok "all that was executed" "${all[@]}" --every 1 -o executed.json "$orders"
t_like "but what no branch leads to" 'of 668153 instructions, 8 have no branch before them' "$T_ERR"
vsim -m skylake --symfs "$symfs" --profileme 1 --interval fixed --branches 32 -o each.vt "$orders" 2>/dev/null
t_ok "with the branches of each instruction" "${all[@]}" -o each.json each.vt
t_is "are the same paths" "$("$PYTHON" paths.py executed.json each.json)" "0 8 0 1031 668145"
vtrace encode --perf-data --tsc -o pt.data "$orders" && vtrace decode --symfs "$symfs" -o pt.vt pt.data
t_ok "of Intel PT" "${all[@]}" --every 1 -o pt.json pt.vt
t_is "they are the same, too" "$("$PYTHON" paths.py executed.json pt.json)" "0 0 0 1031 668145"
"${all[@]}" --every 100 -o some.json "$orders"
t_is "one in a hundred stands for all, in the mean" "$(jq '.paths | [(map(.samples) | add | . > 6600 and . < 6760),
	all(.executions == .samples * 100)] | all' some.json)" true
t_status "an instruction of a million" 3 vpath --symfs "$symfs" --every 100000000 --top 1 "$orders"
t_like "is none of fewer" 'no instruction with a branch before it is among those taken' "$T_ERR"
vsample -n 1000 -o sampled.vt "$orders"
t_status "not of samples of executed code" 3 vpath --symfs "$symfs" --top 1 sampled.vt
t_like "which say so" 'samples of executed code, not all of it' "$T_ERR"
head -c 60000 "$orders" >cut.vt
t_status "cut off" 1 vpath --symfs "$symfs" --every 1 --top 1 cut.vt

# Ten times, two of them by each of the five: an indirect jump to the next instruction is a branch as
# well, and a conditional one that is not taken ends a block.
cat >next.S <<'END'
.globl _start
.type _start, @function
_start:
	mov $10, %ecx
again:	lea behind(%rip), %rdx
	jmp *%rdx
behind:	test $1, %cl
	jz even
	nop
even:	dec %ecx
	jnz again
	mov $60, %eax
	xor %edi, %edi
	syscall
.size _start, . - _start
END
if command -v valgrind >/dev/null; then
	gcc -nostdlib -static -no-pie -o next next.S
	vtrace record --full -o next.vt -- ./next 2>/dev/null
	t_ok "paths over a jump to the next instruction" vpath -n 2 --every 1 --csv --top 0 -o next.csv next.vt
	t_like "are all there, but of the first block" 'of 69 instructions, 3 have no branch before them' "$T_ERR"
	t_is "and none is lost" "$(wc -l <"$T_ERR")" 1
	t_is "after five even and four odd ones" "$(awk -F, '$11 == "_start+0x5" { print $1, $2, $5, $7 }' next.csv)" \
		"1 5 2 0x40100e
1 5 2 0x401014
1 5 2 0x401005
8 4 2 0x40100e
8 4 2 0x401013
8 4 2 0x401014
8 4 2 0x401005"
else
	t_skip "paths over a jump to the next instruction" "valgrind is not installed"
fi

# An interpreter that fills its table of handlers at run time: what its indirect jump leads to is in
# no file, and looks like padding.
cat >table.S <<'END'
.globl _start
.type fill_table, @function
fill_table:
	movq $.Leven, table
	movq $.Lodd, table + 8
	ret
.size fill_table, . - fill_table
.type _start, @function
_start:
	call fill_table
	mov $20000, %ecx
.Lnext:	mov %ecx, %eax
	and $1, %eax
	jmp *table(,%rax,8)
.Leven:	nop
	test $2, %cl
	jz .Lend
	add %rax, %rsi
	jmp .Lend
.Lodd:	nop
	add $3, %rsi
.Lend:	dec %ecx
	jnz .Lnext
	mov $60, %eax
	xor %edi, %edi
	syscall
.size _start, . - _start
.comm table, 16, 8
END
if command -v valgrind >/dev/null; then
	gcc -nostdlib -static -no-pie -o table table.S
	vtrace record --full -o table.vt -- ./table 2>/dev/null
	vsim -m alpha21264 --profileme 5000 --history 8 -o few.vt table.vt 2>/dev/null
	t_ok "paths by handlers that only executed blocks show" vpath -n 2 --top 0 --json -o few.json few.vt
	t_unlike "have code" 'no procedure with code' "$T_ERR"
	t_ok "executed instructions are an event" vpath -n 2 --every 10 -o table.paths table.vt
	t_is "with a name" "$(vlist --paths --csv --top 1 table.paths | tail -n 1 | cut -d, -f12)" instructions
	t_is "and a period" "$(vtrace dump -k EVENT -F name,period,unit table.paths | tail -n 1)" "instructions	10	instructions"
	t_ok "listed at once" vpath -n 2 --every 10 --json --top 1 -o table.json table.vt
	t_is "it has the name, too" "$(jq -r '.paths[0].event' table.json)" instructions
	vtrace record --full -o signals.vt -- "$VT_BUILD/tests/tools/rec_signals" >/dev/null 2>&1
	t_ok "paths across signals" vpath --across-calls --every 1 --json --top 0 -o signals.json signals.vt
	t_unlike "are not lost" 'no path that agrees' "$T_ERR"
	t_like "but end there" 'end where no code shows how control came there' "$T_ERR"
	t_is "all others are paths" "$(jq '[.paths[].samples] | add' signals.json)" \
		"$(awk '/ have no branch before them$/ { n += $4 - $6 } / in no procedure / { n -= $6 } END { print n }' "$T_ERR")"
	# Hand-written code runs on into the next procedure; with local labels, it is one procedure.
	cat >apart.S <<-'END'
		.globl _start
		_start:	mov $200, %ebx
		outer:	mov $10, %ecx
		inner:	add $1, %eax
			dec %ecx
			jnz inner
			mov $5, %ecx
		other:	imul %esi, %esi
			dec %ecx
			jnz other
			dec %ebx
			jnz outer
			mov $60, %eax
			xor %edi, %edi
			syscall
	END
	sed -E 's/\<(outer|inner|other)\>/.L\1/' apart.S >joined.S
	for name in apart joined; do
		gcc -nostdlib -static -no-pie -o $name $name.S
		vtrace record --full -o $name.vt -- ./$name 2>/dev/null
		t_ok "$name: paths across procedures" vpath --every 1 -n 2 --across-calls --top 0 --csv $name.vt
		t_unlike "$name: end nowhere" 'no code shows' "$T_ERR"
		cut -d, -f2-7 "$T_OUT" >$name.csv
		t_ok "$name: paths within them" vpath --every 1 -n 2 --top 0 -o $name.paths $name.vt
		t_unlike "$name: end at their entries" 'no code shows' "$T_ERR"
	done
	t_same "labels make no difference" apart.csv joined.csv
	t_is "as many times as the loop goes" "$(grep -c '^1600,1600,1,2,exact,0x40100a$' apart.csv)" 9
	t_ok "where samples tell of paths" vpath --every 10 --top 1 s.vt
	t_like "--every says that it does nothing" "its samples tell of paths" "$T_ERR"
else
	t_skip "paths by handlers that only executed blocks show" "valgrind is not installed"
fi

# ---- within procedures ----

t_ok "likely paths that end at entries" vpath --symfs "$symfs" --method likely -n 8 -o within.vt s.vt
t_is "have the branches that lie on them: none to 8, and no more than blocks before the last" \
	"$(vtrace dump -k PATH -F branches,offsets within.vt | awk -F '\t' '{
		blocks = split($2, b, ","); bad += $1 >= blocks; n[$1 + 0]++ }
		END { print bad + 0, (n[0] > 0), (n[8] > 0) }')" "0 1 1"

# ---- exact, by the branch stacks ----

t_ok "exact paths" vpath --symfs "$symfs" --across-calls -n 6 -o exact.vt s.vt
cat >oracle.py <<'END'
# Paths over 6 conditional branches by the branch stacks of samples, from code alone.
import collections
import subprocess
import sys

symfs, stream, paths = sys.argv[1:]


def dump(kind, fields, name):
    out = subprocess.run(['vtrace', 'dump', '-k', kind, '-F', fields, name], check=True,
                         capture_output=True, text=True).stdout
    return [line.split('\t') for line in out.splitlines()]


images = {path: int(number) for number, path in dump('IMAGE', 'id,path', stream)}
maps = [(int(start, 0), int(length, 0), int(offset or '0', 0), images[image])
        for start, length, offset, image in dump('MAP', 'start,length,offset,image', stream)
        if image in images]


def place(address):
    for start, length, offset, image in reversed(maps):
        if start <= address < start + length:
            return image, address - start + offset
    return None


got = collections.Counter()
blocks = set()
lists = []
for image, offset, numbers, offsets, branches, samples, method in dump(
        'PATH', 'image,offset,images,offsets,branches,samples,method', paths):
    assert method == 'exact', method
    path = list(zip(map(int, numbers.split(',')), (int(x, 0) for x in offsets.split(','))))
    blocks.update(path)
    got[images[image], int(offset, 0), int(branches), tuple(path)] += int(float(samples))


def conditional(data, at):
    return 0x70 <= data[at] <= 0x7f or (data[at] == 0x0f and 0x80 <= data[at + 1] <= 0x8f)


def ends_conditional(data, end):
    return 0x70 <= data[end - 2] <= 0x7f or (data[end - 6] == 0x0f and
                                             0x80 <= data[end - 5] <= 0x8f)


def walk(ip, sources, targets, files):
    at = place(ip)
    starts = sorted(b for b in blocks if b[0] == at[0])
    here = max(b for b in starts if b <= at)
    path, n = [here], 0
    for source, target in zip(sources, targets):
        goal = place(target)
        while path[-1] != goal:
            before = max(b for b in starts if b < path[-1])
            path.append(before)
            n += ends_conditional(files[at[0]], path[-2][1])
            if n == 6:
                return n, path
        source = place(source)
        if source[0] != at[0]:
            return None
        path.append(max(b for b in starts if b <= source))
        n += conditional(files[at[0]], source[1])
        if n == 6:
            return n, path
    return n, path


files = {}
for path, number in images.items():
    try:
        files[number] = open(symfs + path, 'rb').read()
    except OSError:
        files[number] = b''
want = collections.Counter()
left = 0
for ip, sources, targets, events in dump('SAMPLE', 'ip,br_from,br_to,events', stream):
    if 'retired' not in events or not sources:
        continue
    where = place(int(ip, 0))
    numbers = [[int(x, 0) for x in column.split(',')] for column in (sources, targets)]
    found = walk(int(ip, 0), *numbers, files) if where and files[where[0]] else None
    if not found or found[0] != 6:
        left += 1
        continue
    want[where[0], where[1], 6, tuple(reversed(found[1]))] += 1
wrong = sum((want - got).values())
print('wrong', wrong)
print('checked', 'most' if sum(want.values()) > 1000 and left * 10 < sum(want.values()) else
      (sum(want.values()), left))
END
t_ok "paths by python" "$PYTHON" oracle.py "$symfs" s.vt exact.vt
t_is "are the same" "$(cat "$T_OUT")" "wrong 0
checked most"

# ---- likely ----

for how in "" "--counts $orders"; do
	# shellcheck disable=SC2086
	t_ok "scores $how" vpath --symfs "$symfs" --across-calls --truth --json $how s.vt
	t_is "no only path is wrong $how" \
		"$(jq '[.scores[0].methods[].only_wrong] | add' "$T_OUT")" 0
	t_is "likely is right more often $how" "$(jq '.scores[0].methods |
		map({(.method): .right}) | add | .likely > .counts * 1.2 and .likely > .history * 1.2' \
		"$T_OUT")" true
	t_is "in four of five $how" \
		"$(jq '.scores[0] | .methods[4].right > .8 * .samples and .samples > 6000' "$T_OUT")" true
done
t_ok "scores within procedures" vpath --symfs "$symfs" --truth -n 4 --plot scores.svg s.vt
t_is "for each number of branches" "$(grep -cE '^ +[1-4]  +[0-9]+ +[0-9.]+%' "$T_OUT")" 4
t_like "a chart" '^<svg ' scores.svg
for m in counts history history+pairs likely; do
	t_ok "$m" vpath --symfs "$symfs" --across-calls --method $m -o $m.vt s.vt
	t_is "$m by name" "$(vtrace dump -k PATH -F method $m.vt | sort -u)" $m
done
t_ok "again" vpath --symfs "$symfs" --across-calls --method likely -o again.vt s.vt
vtrace dump -k PATH likely.vt >want
vtrace dump -k PATH again.vt >got
t_same "the same again" got want
t_is "each sample is in a path, by its probability" \
	"$(vtrace dump -k PATH -F samples,probability likely.vt | awk '{ n += $1 / $2 } END { printf "%.0f", n }')" \
	"$(vtrace dump -k SAMPLE -F events s.vt | grep -c retired)"

# A path of no branch is the block itself: its executions are those of its instruction.  Samples of one
# group share their period.
t_ok "samples, one by one" vsim "${args[@]:0:6}" --branches 32 --truth truth.vt -o ones.vt "$orders"
t_ok "and in groups of three" vsim "${args[@]}" --ways 3 -o groups.vt "$orders"
for f in s ones groups; do
	vpath --symfs "$symfs" -n 1 -o $f.paths $f.vt
	t_is "in all, as many executions as the model knows, within 2 %: $f" \
		"$({ vtrace dump -k EVSTAT -F what,sum truth.vt | grep ^retired
			vtrace dump -k PATH -F method,executions $f.paths; } | awk '{ n[$1] += $2 }
			END { print (n["exact"] > 0.98 * n["retired"] && n["exact"] < 1.02 * n["retired"]) }')" 1
done
vsim -m skylake --symfs "$symfs" -S cycles:200 --branches 16 -o cycles.vt "$orders"
t_ok "stacks of time samples" vpath --symfs "$symfs" -o cycles.paths cycles.vt
t_is "have paths, whose executions are not known" \
	"$(vtrace dump -k PATH -F executions cycles.paths | sort -u)" 0
vsim -m skylake --symfs "$symfs" -S cycles:400 --profileme 400 --branches 16 -o both.vt "$orders"
t_ok "paths of two events" vpath --symfs "$symfs" --top 2000 --json both.vt
t_is "are told apart, and those whose executions are known come first" \
	"$(jq -r '.paths[] | [.event, (.executions != null)] | join(" ")' "$T_OUT" | uniq)" \
	"profileme true
cycles false"
t_status "the likeliest paths of time samples" 3 vpath --method likely --symfs "$symfs" --top 1 cycles.vt
t_like "have no history" 'no samples with a history of branches \(vsim --profileme --history\)$' "$T_ERR"
t_status "executed code has no histories" 3 vpath --method likely --symfs "$symfs" --top 1 "$orders"

# ---- merged and listed ----

t_ok "paths are added" vtrace merge -o twice.vt likely.vt likely.vt
vtrace dump -k PATH -F offset,offsets,samples,executions likely.vt |
	awk -F '\t' '{ print $1, $2, 2 * $3, 2 * $4 }' | sort >want
vtrace dump -k PATH -F offset,offsets,samples,executions twice.vt | awk -F '\t' '{ print $1, $2, $3 + 0, $4 + 0 }' | sort >got
t_same "each twice" got want
vpath --symfs "$symfs" -o within.vt s.vt 2>/dev/null
vpath --symfs "$symfs" --across-calls -o across.vt s.vt 2>/dev/null
t_status "paths within procedures, and across calls" 3 vtrace merge -o sum.vt within.vt across.vt
t_like "are not added" 'across.vt: its paths are of another extent.*META vpath.across-calls' "$T_ERR"
t_ok "each with its kind" vtrace merge -o sum.vt across.vt across.vt
t_is "the kind is told" "$(vtrace dump -k META -F value --where 'key == "vpath.across-calls"' sum.vt)" yes
vpath --symfs "$symfs" --across-calls -n 4 -o four.vt s.vt 2>/dev/null
t_status "paths over another number of branches" 3 vtrace merge -o sum.vt across.vt four.vt
t_like "are not added, either" 'four.vt: its paths are of another number of branches \(META vpath.branches\)' "$T_ERR"
t_ok "paths over as many" vtrace merge -o sum.vt four.vt four.vt
t_is "are, and say so" "$(vtrace dump -k META -F value --where 'key == "vpath.branches"' sum.vt)" 4
t_ok "a listing" vlist --symfs "$symfs" --paths --top 1 likely.vt
t_like "by blocks" 'find\+0x[0-9a-f]+ +orders.c:[0-9]+' "$T_OUT"

# The rest is told: paths beyond the first, and what the samples of all of them are of other paths.
rest() {
	vtrace dump -k PATH -F executions,samples,probability "$2" | sort -t "$(printf '\t')" -k1,1gr -k2,2gr |
		awk -v shown="$1" '{ e += $1 / $3; s += $2 / $3; es += $1; ss += $2 }
			NR > shown { n++; el += $1; sl += $2 }
			END { if (n) printf "(%d more path%s: %.1f%% of the executions, %.1f%% of the samples)\n",
				n, n == 1 ? "" : "s", 100 * el / e, 100 * sl / s
			if (s - ss > 1e-6 * s) printf "(less likely paths, of which there are no rows: %.1f%% of the %s, %.1f%% of the samples)\n",
				100 * (e - es) / e, "executions", 100 * (s - ss) / s }'
}
t_is "what it does not show is told" "$(grep -E '^\(' "$T_OUT")" "$(rest 1 likely.vt)"
t_is "which is much" "$(rest 1 likely.vt | wc -l)" 2
for n in 0 3; do
	for f in likely exact; do
		vlist --symfs "$symfs" --paths --top $n $f.vt | grep -E '^\(' >got
		rest $((n ? n : 1000000)) $f.vt >want
		t_same "of $n of $f" got want
	done
done
t_ok "in JSON as well" vlist --symfs "$symfs" --paths --json --top 3 likely.vt
t_is "as sums" "$(jq -r '.executions_left_out, .samples_left_out, .executions_less_likely, .samples_less_likely |
	. * 1000 | round / 1000' "$T_OUT" | xargs printf '%.2f ')" \
	"$(vtrace dump -k PATH -F executions,samples,probability likely.vt | sort -t "$(printf '\t')" -k1,1gr -k2,2gr |
		awk '{ eo += $1 / $3 - $1; so += $2 / $3 - $2 } NR > 3 { el += $1; sl += $2 }
			END { printf "%.2f %.2f %.2f %.2f ", el, sl, eo, so }')"
t_is "the most executed come first" "$(vlist --symfs "$symfs" --paths --json --all likely.vt |
	jq '[.paths[].executions // 0] | . == (sort | reverse)')" true
t_ok "of a procedure" vlist --symfs "$symfs" --paths --csv likely.vt find
t_is "all lead to it" "$(awk -F , 'NR > 1 { last[$1] = $8 } END { for (p in last) print last[p] }' "$T_OUT" | sort -u)" find
cp "$T_OUT" find.csv
image=$(vtrace dump -k IMAGE -F path likely.vt | grep '/orders$')
for name in 'fin?' '/^fin.$/' "$image:find" "${image##*/}:find" 0x"$(nm "$symfs/$image" | awk '$3 == "find" { print $1 }')"; do
	t_ok "of $name" vlist --symfs "$symfs" --paths --csv likely.vt "$name"
	t_same "are those" "$T_OUT" find.csv
done
t_ok "of all that a pattern means" vlist --symfs "$symfs" --paths --csv likely.vt '*'
cp "$T_OUT" any.csv
vlist --symfs "$symfs" --paths --csv --all likely.vt >all.csv
t_same "are all" any.csv all.csv
t_is "as many as there are" "$(awk -F , 'NR > 1 { print $1 }' all.csv | sort -u | wc -l)" \
	"$(vtrace dump -k PATH -F offset likely.vt | wc -l)"
t_ok "0 of the most executed" vlist --symfs "$symfs" --paths --csv --top 0 likely.vt
t_same "are all, too" "$T_OUT" all.csv
vpath --symfs "$symfs" -o both.paths both.vt 2>/dev/null
t_ok "of one event" vlist --symfs "$symfs" --paths --csv --all -e cycles both.paths
t_is "and no other" "$(awk -F , 'NR > 1 { print $NF }' "$T_OUT" | sort -u)" cycles
t_is "all of them" "$(awk -F , 'NR > 1 { print $1 }' "$T_OUT" | sort -u | wc -l)" \
	"$(vtrace dump -k PATH --where 'event == "cycles"' -F offset both.paths 2>/dev/null | wc -l)"
t_status "of an event that is not there" 2 vlist --paths -e misses both.paths
t_like "it is named" "no event of paths is 'misses'" "$T_ERR"
t_status "of two events" 2 vlist --paths -e cycles -e profileme both.paths
for option in --asm --context=3 --intel --att -I. --source; do
	t_status "no code is listed: $option" 2 vlist --paths "$option" likely.vt
done
t_status "of no procedure" 2 vlist --symfs "$symfs" --paths likely.vt nosuch
t_like "it is named" "nosuch: no such procedure" "$T_ERR"
printf '%s\n' "IMAGE id=1 path=$image" 'PATH image=1 offset=0x1370 samples=1 executions=1 images=1 offsets=0x1370' |
	"$VT_BUILD/tests/tools/stream_make" >start.paths
t_ok "of the only one" vlist --symfs "$symfs" --paths start.paths start
t_status "of one that no path leads to" 3 vlist --symfs "$symfs" --paths start.paths find
t_like "that is told" 'start.paths: no path leads there' "$T_ERR"
t_status "without paths" 3 vlist --paths s.vt
for what in "" --events --pairs --paths; do
	t_status "a file that is not there: vlist $what" 3 eval "vlist $what nosuch.vt find </dev/null"
	t_like "what was taken for a procedure is told" \
		'no operand is a file .* procedures of standard input were looked for: nosuch.vt, find$' "$T_ERR"
done
for m in exact counts history history+pairs likely; do
	method=(--method "$m")
	[ $m = exact ] && method=()
	vpath --symfs "$symfs" "${method[@]}" --top 2 --json s.vt >totals.json 2>told
	t_is "each sample is told of once: $m" "$(jq '.samples - .wrong_path - .untold - .dropped - .outside - .found -
		.several - .none - .given_up' totals.json)" 0
	t_is "of all: $m" "$(jq .samples totals.json)" "$(vtrace dump -k SAMPLE -F ip s.vt | wc -l)"
	t_is "as messages say: $m" "$(jq -r '[.wrong_path, .untold, .outside, .several, .none, .given_up, .ended, .capped] |
		map(select(. > 0)) | sort | @tsv' totals.json)" \
		"$(sed -E 's/.* samples, ([0-9]+) .*/\1/' told | sort -n | paste -sd '\t')"
done
t_is "what is not looked at weighs little" "$(jq '.not_looked_at > 0 and .not_looked_at < .01 * .capped' totals.json)" true
vpath --symfs "$symfs" --truth --json s.vt >totals.json 2>told
t_is "scores tell of all samples" "$(jq '.samples - .wrong_path - .untold - .dropped - .unmapped ==
	(.scores[0] | .samples + .brief + .cut + .untrue + .outside)' totals.json)" true
t_ok "JSON" vpath --symfs "$symfs" --across-calls --top 2 --json s.vt
t_is "ids of blocks are those of blocks" \
	"$(jq '([.paths[].blocks[]] | unique) == ([.blocks[].id] | sort)' "$T_OUT")" true

# ---- bad input ----

head -c $(($(stat -c %s likely.vt) - 20)) likely.vt >cut.vt
t_status "a stream that is cut" 1 vtrace merge -o merged.vt cut.vt
t_status "is listed as far as it goes" 1 vlist --symfs "$symfs" --paths cut.vt
head -c $(($(stat -c %s s.vt) / 2)) s.vt >cut.vt
t_status "samples that are cut" 1 vpath --symfs "$symfs" --top 1 cut.vt
t_ok "no code" vpath --across-calls --method likely --top 1 s.vt
t_done
