#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record --calibrate: what it asks for, what it keeps, and, where samples can be taken, that
# its figures are of a machine that can be.  Times are not judged: others may use the machine.

. "$(dirname "$0")/../lib.sh"
t_need jq
make=$VT_BUILD/tests/tools/calibration_make

while read -r want args; do
	# shellcheck disable=SC2086 # several arguments
	t_status "record $args" 2 vtrace record $args
	t_like "says why" "^vtrace record: ${want//_/ }" "$T_ERR"
done <<'END'
--calibrate:_runs_no_program --calibrate true
--output:_standard_output_has_the_text --calibrate -o -
--freq:_not_with_--calibrate --calibrate -F 10
--pid:_not_with_--calibrate --calibrate -p 1
--full:_not_with_--calibrate --calibrate --full
--values:_not_with_--calibrate --calibrate --values all
--dry-run:_not_with_--calibrate --calibrate --dry-run
--calibration:_not_with_--calibrate --calibrate --calibration x.vt
--compress:_not_one_of --calibrate -z best -o x.vt
--json:_goes_with_--calibrate --json true
--output:_not_with_--calibration_alone --calibration x.vt -o y.vt
--calibration:_goes_with_an_output_named --calibration x.vt true
--calibration:_goes_with_an_output_named --calibration x.vt -o y.data -p 1
--calibration:_is_of_time --calibration x.vt -e cs -o y.vt true
--calibration:_not_with_--full --calibration x.vt --full -o y.vt true
END
t_status "a file that cannot be written" 3 vtrace record --calibrate -o no/such/x.vt

# Files.
t_ok "a calibration" "$make" NoSuch,1,2,3 'cpu-clock:u' other.vt
t_ok "is printed" vtrace record --calibration other.vt
t_like "with its machine" '^sampled by cpu-clock:u on NoSuch,1,2,3$' "$T_OUT"
t_like "its figures" '^  one instruction on +96\.0 %$' "$T_OUT"
t_like "and what follows" 'least 40 cycles a visit' "$T_OUT"
t_ok "as JSON" vtrace record --calibration other.vt --json
t_is "has the same" "$(jq -c '[.cpu, .policy, .regions.least, (.rates[0].cost * 1e6 | round), .recording.period]' "$T_OUT")" \
	'["NoSuch,1,2,3","interrupt",40,30,1000003]'
t_ok "names that are no text" "$make" $'a\033[31m' $'b\nc' odd.vt
t_ok "are printed" vtrace record --calibration odd.vt
t_like "escaped" '^sampled by b\\nc on a\\x1b\[31m$' "$T_OUT"
refuse()
{
	t_status "$1" 3 vtrace record --calibration "$2" -o r.vt true
	t_like "why" "^vtrace record: $2: $3" "$T_ERR"
	t_is "nothing was recorded" "$(ls r.vt* 2>/dev/null)" ""
}
refuse "one of another processor" other.vt 'the calibration of another processor: NoSuch,1,2,3, this is '
refuse "a stream without" "$ROOT/tests/data/demo/orders.vt" 'no calibration'
refuse "no stream" "$ROOT/README.md" 'not a vt stream'
refuse "no file" none.vt 'No such file'
head -c -20 other.vt >cut.vt
refuse "a cut one" cut.vt 'truncated at 0x'
cp other.vt bad.vt
at=$(grep -abo 'record.calibrate.skid.own' bad.vt | head -n 1 | cut -d : -f 1)
printf '\125' | dd of=bad.vt bs=1 seek="$at" conv=notrunc 2>/dev/null
refuse "a damaged one" bad.vt 'block at 0x'

# Samples.
if [ "$(vtrace doctor --json | jq '.findings[] | select(.what == "samples") | .there')" != true ]; then
	t_status "without samples" 3 vtrace record --calibrate
	t_like "it says why" 'no event can be opened' "$T_ERR"
	t_skip "figures" "this machine lets no event be opened"
	t_done
fi
t_ok "calibrate" vtrace record --calibrate --json -o c.vt
cp "$T_OUT" c.json
t_like "standard error says what is done" 'sampling planted loops by c' "$T_ERR"
t_ok "figures can be" jq -e '
def part: . >= 0 and . <= 1;
(.skid | .samples > 0 and (.own | part) and (.next | part) and .own + .next <= 1 + 1e-9) and
(.clock | .ghz > 0.2 and .ghz < 10 and .tsc > 0.2 and .tsc < 10 and .spread >= 0 and
	.multiply > 0.5 and .multiply < 30) and
(.rates | length == 2 and .[0].hz == 1000 and .[1].hz == 10000 and
	all(.rate > 0 and .effective > 0 and .lost < 1)) and
(.lengths | length == 9 and . == sort_by(.cycles) and .[0].cycles > 3 and
	all(.sigma > 0 and .samples > 0)) and
(.regions | .least == null or (.least >= .from and .error > 0)) and
(.recording.period == 1000003)' c.json
t_ok "what it kept says the same" vtrace record --calibration c.vt --json
t_is "as JSON" "$(jq -c '[.cpu, .event, .policy, (.lengths | map(.samples)), .regions.least]' "$T_OUT")" \
	"$(jq -c '[.cpu, .event, .policy, (.lengths | map(.samples)), .regions.least]' c.json)"
t_ok "as text" vtrace record --calibration c.vt
t_like "with sentences" '^what may be believed$' "$T_OUT"

if ! perf record -q -e cpu-clock -o probe.data true >/dev/null 2>&1; then
	t_skip "in a recording" "perf record does not work here"
	t_done
fi
for how in "" --pack; do
	# shellcheck disable=SC2086 # an argument, or none
	t_ok "[$how] in a recording" vtrace record --calibration c.vt $how -o x.vt true
	vtrace info --json x.vt | jq -c '[.facts[] | select(.key | startswith("record.calibrate."))]' >kept
	vtrace info --json c.vt | jq -c .facts >whole
	t_same "[$how] are all facts" kept whole
done
t_ok "of something that takes time" \
	vtrace record --calibration c.vt -F 4000 -o x.vt -- "$PYTHON" -c 'for i in range(2000000): pass'
t_ok "is told the clock of its rate" vfreq --model skylake -o f.vt x.vt
t_ok "between those of the two rates" "$PYTHON" -c '
import json, sys
rates = json.load(open("c.json"))["rates"]
facts = dict(line.rstrip("\n").split("\t") for line in sys.stdin)
clocks = sorted(r["effective"] for r in rates)
assert facts["vfreq.clock"] == "calibrated", facts
assert clocks[0] <= float(facts["vfreq.scale"]) <= clocks[1], (facts, clocks)' \
	< <(vtrace dump -k META -F key,value f.vt | grep '^vfreq\.')
t_like "and the option is in its provenance" '"--calibration"' <(vtrace info --json x.vt)
t_ok "of another event" "$make" "$(jq -r .cpu c.json)" no-such-event event.vt
refuse "is none" event.vt 'the calibration of another event: no-such-event, not c'
t_done
