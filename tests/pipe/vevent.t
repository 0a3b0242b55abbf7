#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vevent: what samples of single instructions tell of each place, against sums of what `vtrace dump`
# prints, and against the truth of the model that they are from.

. "$(dirname "$0")/../lib.sh"

orders=$ROOT/tests/data/demo/orders.vt
symfs=$ROOT/tests/data/demo/symfs

# ---- options ----

t_status "no such rows" 2 vevent --by nothing "$orders"
t_status "no such total" 2 vevent --histogram dcache_miss "$orders"
t_status "bins without a histogram" 2 vevent --bins 4 "$orders"
t_status "too many bins" 2 vevent --histogram lat_load --bins 1001 "$orders"
t_status "a histogram of rows" 2 vevent --histogram lat_load --by line "$orders"
t_status "samples of no instruction" 3 vevent --top 1 "$orders"
t_status "vlist: so, too" 3 vlist --events "$orders"

# ---- sums ----

for m in skylake alpha21164; do
	vsim -m $m --symfs "$symfs" --profileme 20 --pairs 5 --truth truth.vt -o s.vt "$orders" 2>/dev/null
	t_ok "on $m" vevent --symfs "$symfs" -o e.vt s.vt
	t_ok "on $m, the sums of samples" "$PYTHON" "$ROOT/tests/events_oracle.py" s.vt e.vt
	for by in procedure line instruction image; do
		vevent --symfs "$symfs" --by $by --top 0 --csv s.vt >want
		vevent --symfs "$symfs" --by $by --top 0 --csv e.vt >got
		t_same "on $m, estimates are listed as samples are, by $by" got want
	done
done
t_status "an unknown latency or event" 2 vevent -w nothing s.vt
t_status "an unknown event of the recording" 2 vevent -e nothing s.vt
t_pipe "the check and its outcome are said" "vevent --symfs '$symfs' --top 1 s.vt | grep -q '^  A random sample'"
mkdir empty
vevent --symfs "$symfs" -o with.e s.vt
vevent --symfs empty -o without.e s.vt 2>/dev/null
sums() { vtrace dump -k EVSTAT -F image,offset,what,k,sum,sum2,had,variance "$@"; }
t_same "without the files, the sums are the same" <(sums without.e) <(sums with.e)
t_is "and the code of the recording checks them" "$(vtrace dump -k META -F key,value with.e without.e |
	awk '$1 == "vevent.check" { f[++n] = $6; u += $7 } END { print (f[2] > .9 * f[1] && f[2] <= f[1]), u }')" "1 0"
t_pipe "also beside the code" \
	"vlist --symfs empty --events s.vt 2>/dev/null | grep -q '^  A random sample'"
vevent --symfs "$symfs" --by source --json --top 0 s.vt >j
t_is "by source: all samples" "$("$PYTHON" -c 'import json; d = json.load(open("j"))
print(sum(r["samples"] for r in d["rows"]) == d["events"][0]["samples"])')" True
vevent --symfs "$symfs" --histogram lat_total --json s.vt >j
t_is "the histogram has all instructions" "$("$PYTHON" -c 'import json; h = json.load(open("j"))["histograms"][0]
print(sum(r["sum"] for r in h["rows"]) == 20 * h["samples"])')" True
vevent --symfs "$symfs" --where 'events & load' -w lat_load --top 0 --csv s.vt >got
t_is "--where picks samples" "$(awk -F , 'NR > 1 { n += $1 } END { print n }' got)" \
	"$(vtrace dump -k SAMPLE -F pair,events s.vt | awk -F '\t' '$1 == 1' | grep -c '\<load\>')"

# ---- two runs ----

vsim -m alpha21164 --profileme 20 -s 1 -o a.vt "$orders" 2>/dev/null
vsim -m alpha21164 --profileme 20 -s 2 -o b.vt "$orders" 2>/dev/null
vevent --symfs "$symfs" -o a.e a.vt
vevent --symfs "$symfs" -o b.e b.vt
t_ok "estimates of two runs are merged" vtrace merge -o ab.e a.e b.e
vtrace merge -o ba.e b.e a.e
t_same "in any order" <(sums ab.e) <(sums ba.e)
{ sums a.e; sums b.e; } | awk -F '\t' '{ k = $1 FS $2 FS $3; for (i = 4; i <= 8; i++) n[k, i] += $i; a[k] }
	END { for (k in a) print k, n[k, 4], n[k, 5], n[k, 6], n[k, 7], n[k, 8] }' | sort >want
sums ab.e | awk -F '\t' '{ print $1 FS $2 FS $3, $4 + 0, $5 + 0, $6 + 0, $7 + 0, $8 + 0 }' | sort >got
t_same "with the sums of both" got want
vtrace merge -o a1.e a.e
vevent --symfs "$symfs" --by instruction --top 0 --csv a.e >want
vevent --symfs "$symfs" --by instruction --top 0 --csv a1.e >got
t_same "one alone stays what it was" got want

# ---- the code ----

vlist --symfs "$symfs" --events --csv --all -i a.e >got
t_is "vlist --events has all samples" \
	"$("$PYTHON" -c 'import csv; print(sum(int(r["samples"] or 0) for r in csv.DictReader(open("got"))))')" \
	"$(vtrace dump -k SAMPLE a.vt | wc -l)"
t_ok "for people" vlist --symfs "$symfs" --events a.vt
t_like "beside the code" 'retired .*lat_exec .*address .*code' "$T_OUT"

# ---- the truth ----

vsim -m skylake --symfs "$symfs" --profileme 100 --truth truth.vt -o s.vt "$orders" 2>/dev/null
vevent --symfs "$symfs" -o e.vt s.vt
"$PYTHON" "$ROOT/tests/events_check.py" e.vt truth.vt >coverage
t_is "intervals have the truth" "$(awk '$1 == "events" { print ($2 > 100 && $3 >= 92) }' coverage)" 1

# ---- in step with a loop ----

vsim -m skylake --symfs "$symfs" --interval fixed --profileme 64 -o step.vt "$orders" 2>/dev/null
t_ok "a period in step with a loop" vevent --symfs "$symfs" --by instruction -w retired --csv --top 0 step.vt
t_ok "for people" vevent --symfs "$symfs" --top 1 step.vt
t_like "it is no random sample" '^  NOT a random sample: .* vary 17.1 times .* are 4.13 times as wide' "$T_OUT"

# ---- what a stream does not have ----

for f in ibs-op spe; do
	if [ ! -e "$VT_DATA/ibs-spe/$f.data" ]; then
		t_skip "$f: no procedure is known" "no $VT_DATA/ibs-spe/$f.data"
		continue
	fi
	t_status "$f: no procedure is known" 3 vlist --events "$VT_DATA/ibs-spe/$f.data"
	t_is "$f: nothing is printed" "$(cat "$T_OUT")" ""
	t_like "$f: what lists it is named" 'no procedure is known.*vevent --by instruction' "$T_ERR"
	t_status "$f: nor without --events" 3 vlist "$VT_DATA/ibs-spe/$f.data"
	t_is "$f: nothing is printed, either" "$(cat "$T_OUT")" ""
	t_like "$f: what lists it is named, too" 'no procedure is known.*vprof --by instruction' "$T_ERR"
done
for by in source page addr; do
	t_status "estimates by $by" 3 vevent --by $by e.vt
	t_is "print nothing, by $by" "$(cat "$T_OUT")" ""
done
vsim -m skylake --symfs "$symfs" -S cycles:1000 --profileme 100 -o mixed.vt "$orders" 2>/dev/null
vevent --symfs "$symfs" -o mixed.e mixed.vt
for f in mixed.vt mixed.e; do
	for how in '' --json '--histogram lat_total' --together; do
		# shellcheck disable=SC2086
		t_status "$f: an event that follows no instruction $how" 3 vevent -e cycles $how --symfs "$symfs" $f
		t_is "$f: nothing is printed $how" "$(cat "$T_OUT")" ""
		t_like "$f: it is named $how" "no sample of 'cycles' follows" "$T_ERR"
	done
	t_status "$f: vlist: so, too" 3 vlist --events -e cycles --symfs "$symfs" $f
	t_status "$f: of two names one is unknown" 2 vevent -e profileme -e nothing --symfs "$symfs" $f
	t_ok "$f: the other event" vevent -e profileme --symfs "$symfs" $f
done
t_status "a latency that no sample tells" 3 vevent --histogram lat_load --where '!(events & load)' s.vt
t_is "without half an output" "$(cat "$T_OUT")" ""

# ---- several files ----

vtrace dump ab.e >want
vevent --symfs "$symfs" -o both.e a.vt b.vt
vtrace dump both.e >got
t_same "two recordings are added up as their estimates are" got want
for by in procedure instruction; do
	vevent --symfs "$symfs" --by $by --top 0 --json ab.e >want
	for f in "a.vt b.vt" "b.vt a.vt" "a.e b.vt" "b.e a.e"; do
		# shellcheck disable=SC2086
		vevent --symfs "$symfs" --by $by --top 0 --json $f >got
		t_same "$f: one sum, by $by" got want
	done
done
vevent --symfs "$symfs" --by instruction --top 0 --csv - b.vt <a.vt >got
vevent --symfs "$symfs" --by instruction --top 0 --csv ab.e >want
t_same "one of them from standard input" got want
for by in source page; do
	vevent --by $by --json --top 0 --symfs "$symfs" a.vt b.vt >got
	for f in a b; do
		vevent --by $by --json --top 0 --symfs "$symfs" $f.vt >$f.j
	done
	t_is "sums by $by are those of both" "$("$PYTHON" -c 'import json
def rows(*names):
    sums = {}
    for name in names:
        d = json.load(open(name))
        for r in d["rows"]:
            for t in r["totals"]:
                key = [v for k, v in r.items() if k in ("source", "page", "name")], t["name"]
                old = sums.setdefault(str(key), [0, 0, 0])
                for i, what in enumerate(("sum", "samples", "told")):
                    old[i] += t.get(what, 0)
    return sums
print(rows("got") == rows("a.j", "b.j") and len(rows("got")) > 1)')" True
done
vevent --histogram lat_total --json --symfs "$symfs" a.vt b.vt >j
t_is "the histogram is of both" "$("$PYTHON" -c 'import json; h = json.load(open("j"))["histograms"][0]
print(sum(r["sum"] for r in h["rows"]) == 20 * h["samples"], int(h["samples"]))')" \
	"True $(($(vtrace dump -k SAMPLE a.vt | wc -l) + $(vtrace dump -k SAMPLE b.vt | wc -l)))"
vevent --symfs "$symfs" --where 'events & load' -o w.e a.vt b.vt 2>/dev/null
passed() { vtrace dump -k META -F value --where 'key == "where"' "$1" 2>/dev/null; }
picked=$(vtrace dump --where 'events & load' -k SAMPLE -F ip a.vt b.vt 2>/dev/null | wc -l)
t_is "what --where left out of both is kept" "$(passed w.e)" \
	"$picked of $(vtrace dump -k SAMPLE -F ip a.vt b.vt | wc -l) pass, 0 unknown, SAMPLE: events & load"
vevent --symfs "$symfs" --where 'events & load' -o wa.e a.vt 2>/dev/null
vevent --symfs "$symfs" --where 'events & load' -o wb.e b.vt 2>/dev/null
t_ok "estimates of the samples that pass one condition" vtrace merge -o sum.e wa.e wb.e
t_same "are those of both files" <(vtrace dump -k EVSTAT sum.e 2>/dev/null) <(vtrace dump -k EVSTAT w.e 2>/dev/null)
t_is "and so is what was left out" "$(passed sum.e)" "$(passed w.e)"
vevent --symfs "$symfs" --where '!(events&load)' -o other.e a.vt 2>/dev/null
for other in a.e other.e; do
	t_status "they and others" 3 vtrace merge -o sum.e "$other" wb.e
	t_like "are refused" "wb.e: its estimates are of another choice of samples" "$T_ERR"
	t_status "they and others, by vevent" 3 vevent --top 1 "$other" wb.e
	t_like "are refused" "wb.e: its estimates are of another choice of samples" "$T_ERR"
done
rm -f sum.e
t_status "files that do not add up" 3 vevent -o sum.e a.vt wb.e
t_is "leave no output" "$([ -e sum.e ] || echo none)" none
for command in "vtrace merge" vevent; do
	t_status "$command: through a pipe" 3 eval "$command a.e wb.e >sum.e"
	t_status "there are no records" 1 vtrace dump sum.e
	t_is "none" "$(cat "$T_OUT")" ""
	t_like "and it is said whose fault it is" "sum.e: ${command% } failed upstream" "$T_ERR"
	t_status "a listing says so, too" 3 vevent --top 1 sum.e
done
t_status "a file without such samples" 3 vevent --top 1 a.vt "$orders"
t_is "lists nothing" "$(cat "$T_OUT")" ""
t_like "and is named" "orders.vt: no samples of single instructions" "$T_ERR"
t_status "by source, of estimates" 3 vevent --by source a.vt b.e
t_like "they are named" "b.e: no samples: its estimates are by place" "$T_ERR"
t_status "a file that is not there" 3 vevent --top 1 a.vt nothing.vt

# ---- estimates of one run, samples of another ----

t_status "samples beside estimates" 3 vtrace merge -o half.vt a.e b.vt
t_like "both are named" \
	"b.vt: its samples of single instructions of 'profileme' do not .* estimates of a.e: vevent takes" "$T_ERR"
t_status "in the other order" 3 vtrace merge -o half.vt b.vt a.e
t_like "both are named, too" "a.e: its estimates of 'profileme' do not .* of b.vt: vevent takes" "$T_ERR"
t_ok "samples alone are counted" vtrace merge -o counts.vt a.vt b.vt
t_ok "and can be beside estimates" vtrace merge -o half.vt a.e counts.vt
n=$(vtrace dump -k SAMPLE a.vt b.vt | wc -l)
t_ok "counts beside estimates" vevent --symfs "$symfs" --csv half.vt
t_like "are said not to be in them" "half.vt: $n samples beside its estimates are not in them" "$T_ERR"
cp "$T_OUT" got
vevent --symfs "$symfs" --csv a.e >want
t_same "and are not" got want
vtrace decode "$ROOT/tests/data/demo/perf.data" -o perf.vt
vtrace merge -o other.vt a.e perf.vt
t_is "of other events: no word" "$(vevent --symfs "$symfs" --top 1 other.vt 2>&1 | grep -c 'beside its')" 0

# ---- two machines ----

vsim -m skylake --symfs "$symfs" --profileme 50 --pairs 5 -o sky.vt "$orders" 2>/dev/null
vsim -m alpha21264 --symfs "$symfs" --profileme 50 --pairs 5 -o alpha.vt "$orders" 2>/dev/null
vsim -m skylake --symfs "$symfs" --profileme 50 --pairs 6 -o wide.vt "$orders" 2>/dev/null
for v in sky alpha wide; do
	for p in event pair path; do
		v$p --symfs "$symfs" -o $v.$p $v.vt 2>/dev/null
	done
done
for p in event pair path; do
	t_status "v$p: of two machines" 3 vtrace merge -o two.vt sky.$p alpha.$p
	t_like "v$p: is refused" 'alpha.*of another model of a processor' "$T_ERR"
	t_status "v$p: in the other order" 3 vtrace merge -o two.vt alpha.$p sky.$p
	t_status "v$p: after a merge, too" 3 eval "vtrace merge sky.$p sky.$p | vtrace merge -o two.vt - alpha.$p"
	[ $p != path ] ||
		t_ok "v$p: beside samples of another machine" vtrace merge -o two.vt alpha.vt sky.$p alpha.vt
	t_ok "v$p: of one machine" vtrace merge -o two.vt sky.$p sky.$p
done
t_status "vpair: of two windows" 3 vtrace merge -o two.vt sky.pair wide.pair
t_like "is refused" 'wide.pair.*of another window' "$T_ERR"
t_status "after a merge, too" 3 eval "vtrace merge sky.pair sky.pair | vtrace merge -o two.vt - wide.pair"
for p in event path; do
	t_ok "v$p: the window is of no account" vtrace merge -o two.vt sky.$p wide.$p
done
t_status "vevent: of two machines" 3 vevent --top 1 --symfs "$symfs" sky.vt alpha.vt
t_like "is refused" 'alpha.vt: its estimates are of another model of a processor' "$T_ERR"
t_ok "paths are of the program" vtrace merge -o two.vt sky.event sky.pair alpha.path
t_is "the others are of one machine" "$(vtrace dump -k META -F value --where 'key == "cpu.model"' two.vt)" skylake
t_status "of which there is one in a stream" 3 vtrace merge -o two.vt sky.event alpha.pair
t_like "is refused" 'alpha.pair: its sums of pairs are of another model .*than the estimates of sky.event' "$T_ERR"

# ---- damage ----

head -c $(($(stat -c %s e.vt) - 9)) e.vt >cut.vt
t_status "what is cut is said" 1 vevent --top 1 cut.vt
t_done
