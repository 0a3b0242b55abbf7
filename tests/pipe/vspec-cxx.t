#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vspec of C++: what it advises holds for each run. The program is recorded twice, with its heap and
# its stack elsewhere: where a row differs, it is about addresses of the run.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" g++ valgrind

t_ok "the program is compiled" g++ -O1 -g -o objects "$ROOT/tests/data/objects/objects.cc"
for shift in 0 70000; do
	t_ok "and recorded, shifted by $shift" vtrace record --full --args --values all -o "$shift.vt" -- \
		./objects "$shift"
	vspec --json --top 0 --each 0 --min-time 0 "$shift.vt" >"$shift.json"
done
t_ok "no row depends on the run" "$PYTHON" - <<'END'
import json


def rows(path):
    with open(path) as source:
        doc = json.load(source)
    mine = [r for r in doc["rows"] if r["place.image"].endswith("/objects")]
    assert len(mine) >= 10, mine
    return doc, {(r["place.address"], r["what"], r.get("register"), r["kind"], r["advice"]) for r in mine}


one, first = rows("0.json")
other, second = rows("70000.json")
# Numbers that follow from the shift itself are main's alone.
print(sorted(first ^ second))
assert not first ^ second, sorted(first ^ second)
assert one["addresses_left_out"] > 10
advice = {a for *_, a in first}
kinds = {(r["procedure"].split("(")[0], r["kind"]): r for r in one["rows"]}
# The end of a vector is no bound, that of a static array is told by its name.
assert not [a for *_, kind, a in first if kind == "bound"], first
assert any("&table+0x1e0" in a for a in advice), advice
assert kinds["modulo", "divisor"]["value.hex"] in (3000000, "0x2dc6c0"), kinds["modulo", "divisor"]
assert any(r["kind"] == "call" and "square::area" in r["advice"] for r in one["rows"])
assert any("argument 2 (rsi) is always 2" in a for a in advice), advice
END
sed 's/^/# /' "$T_ERR"
vspec 0.vt >text
t_like "it is said how many are left out" \
	'^Left out: [0-9]+ values that are addresses of this run \(stack, heap\)$' text
t_is "also from what vhot made" "$(vhot --what default,callers 0.vt | vspec)" "$(cat text)"
t_done
