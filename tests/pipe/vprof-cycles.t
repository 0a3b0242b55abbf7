#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof of frequencies: what a model knows exactly against the recording that it ran, and as a
# difference.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON"

demo=$ROOT/tests/data/demo
prof() { vprof --symfs "$demo/symfs" "$@"; }

vsim -m alpha21164 -S cycles:500 --truth truth.vt "$demo/orders.vt" -o samples.vt 2>/dev/null
t_ok "the model has a truth" test -s truth.vt
for level in procedure line instruction; do
	prof --by $level --json truth.vt >truth.json
	prof --by $level --json "$demo/orders.vt" >counted.json
	t_ok "by $level: executions are what was counted; cycles by executions are CPI" "$PYTHON" - $level <<'EOF'
import sys
from listed import load
truth, counted = (load(open(n))["rows"] for n in ("truth.json", "counted.json"))
def name(row):
    return row["image"], row.get("procedure", ""), row.get("line", ""), row.get("address", 0)
exact = {name(r): r["instructions"] for r in counted}
seen = 0
for row in truth:
    assert row["executions"] == exact.get(name(row), 0), row
    assert row["cpi"] * row["executions"] + 1 >= row["stall cycles"] >= 0, row
    seen += row["executions"]
assert seen == sum(exact.values()) > 600000, (seen, sum(exact.values()))
EOF
done
# What stalls is not more than what time there was; the model's samples say how much that is.
prof --json -e cycles samples.vt >samples.json
prof --json truth.vt >truth.json
t_ok "cycles agree with the model's samples of cycles" "$PYTHON" -c '
from listed import load
period = load(open("samples.json"))["events"][0]["period"]
rows = load(open("truth.json"))["rows"]
total = sum(r["cpi"] * r["executions"] for r in rows)
assert abs(total - period) < 0.01 * total, (total, period)
assert sum(r["stall cycles"] for r in rows) < total'

prof --diff --json truth.vt truth.vt >diff.json
t_ok "a difference has executions and CPI, and no chance of estimates" "$PYTHON" -c '
from listed import load
rows = load(open("diff.json"))["rows"]
assert len(rows) >= 7
for r in rows:
    assert r["executions.delta"] == 0 and r["cpi.before"] == r["cpi.after"] > 0, r
    assert "executions.p" not in r'
t_is "people see them" "$(prof --diff truth.vt truth.vt | grep -c 'cpi before  after')" 1
t_like "the heading says that it is an estimate" '^Estimated executions = 668153$' <(prof truth.vt)

t_done
