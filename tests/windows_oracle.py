#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: tests/windows_oracle.py EXECUTED.vt SUMS.vt METRIC

Works out what vpair is to say of executed code with times in cycles, instruction by instruction, and
compares that with the PAIRSTAT records of SUMS.vt, which also have the others of each place; METRIC is
ipc:N or retire-within:N.  Prints the numbers of places, of instructions that were measured, and of
others.
"""
import json
import subprocess
import sys

import vt_exec

GROUP_INSNS, GROUP_WINDOWS = 1024, 4


class Windows(vt_exec.Reader):
    def __init__(self, path, metric):
        super().__init__(path, None, self.map)
        self.ipc = metric.startswith("ipc:")
        self.length = 2 * int(metric.partition(":")[2]) + 1
        self.maps, self.last, self.sums = [], {}, {}
        self.measured = self.untimed = 0

    def map(self, kind, row):
        if kind == "MAP":
            self.maps.append(row)

    def place(self, pid, addr):
        for m in reversed(self.maps):
            if m["pid"] == pid and m["start"] <= addr < m["start"] + m["length"]:
                return m["image"], addr - m["start"] + m["offset"]
        sys.exit("windows_oracle.py: no mapping at %#x" % addr)

    def run(self, row):
        """Finds the addresses of a run's instructions, and its times: {cycle: instructions before}."""
        ids = memoryview(row["ids"]).cast("H" if row["width"] == 2 else "I")
        thread = row["pid"], row["tid"]
        times = dict(zip(row["time_at"], row["time_cycles"]))
        times[0] = 0 if row["cycles"] == self.last.get(thread) else row["cycles"]
        addrs, marks = [], {}
        for i, number in enumerate(ids):
            b = self.blocks[row["base"] + number]
            if times.get(i):
                marks[times[i]] = len(addrs)
            addrs += b.addrs[row["skip"] if i == 0 else 0 : b.insns]
        addrs = addrs[: row["insns"]]
        if marks:
            self.last[thread] = max(marks)
        self.measure(row["pid"], addrs, sorted(marks.items()))

    def measure(self, pid, addrs, marks):
        spans = [None] * len(addrs)
        for (c0, i0), (c1, i1) in zip(marks, marks[1:]):
            for i in range(i0, i1):
                pace = (c1 - c0) / (i1 - i0)
                spans[i] = c0 + (i - i0) * pace, pace, c1 - c0 <= self.length
        found = [(i, self.count(spans, i, marks)) for i in range(len(addrs))]
        group, begin, n = {}, 0, 0
        for i, count in found:
            if count is None:
                self.untimed += 1
                self.sum(pid, addrs[i])[6] += 1
                continue
            middle = spans[i][0] + spans[i][1] / 2
            if n >= GROUP_INSNS and middle >= begin + GROUP_WINDOWS * self.length:
                self.end(group)
                group, n = {}, 0
            begin = begin if n else middle
            n += 1
            g = group.setdefault((pid, addrs[i]), [0, 0, 0])
            g[0] += 1
            g[1] += count if self.ipc else count - 1
            g[2] += self.length if self.ipc else 1
        self.end(group)

    def count(self, spans, i, marks):
        """How many retire in the window of instruction i; None: unknown."""
        if spans[i] is None or not spans[i][2]:
            return None
        low = spans[i][0] + spans[i][1] / 2 - self.length / 2
        high = low + self.length
        if low < marks[0][0] or high > marks[-1][0]:
            return None
        first, last = i, i + 1
        while first > 0 and spans[first - 1] and spans[first][0] > low:
            first -= 1
        while last < len(spans) and spans[last] and spans[last][0] < high:
            last += 1
        if not all(s[2] for s in spans[first:last]):
            return None
        return sum((min(high, s[0] + s[1]) - max(low, s[0])) / s[1] for s in spans[first:last])

    def sum(self, pid, addr):
        return self.sums.setdefault(self.place(pid, addr), [0] * 7)

    def end(self, group):
        for (pid, addr), (n, x, y) in group.items():
            self.measured += n
            s = self.sum(pid, addr)
            for i, v in enumerate((n, x, x * x, y, y * y, x * y)):
                s[i] += v


def main():
    executed, sums, metric = sys.argv[1:]
    w = Windows(executed, metric)
    w.read()
    text = subprocess.run(["vtrace", "dump", "--json", "-k", "PAIRSTAT", sums], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    got = {}
    for r in map(json.loads, text.splitlines()):
        assert r["metric"] == metric and r["method"] == "counted" and not r.get("event"), r
        got[r.get("image", 0), int(r.get("offset", "0x0"), 0)] = [
            r.get(f, 0) for f in ("pairs", "x", "x2", "y", "y2", "xy", "missing")]
    for place in set(got) | set(w.sums):
        a, b = got.get(place), w.sums.get(place)
        if not a or not b or any(abs(p - q) > 1e-6 * max(1, abs(q)) for p, q in zip(a, b)):
            sys.exit("%r: %r, not %r" % (place, a, b))
    print(len(w.sums), w.measured, w.untimed)


main()
