# SPDX-License-Identifier: GPL-3.0-or-later
"""The latencies of loads of "Efficient and Flexible Value Sampling", section 3.3: the profile of figure 1
and table 1, by `vtrace record --sample-values --latency`, on programs whose loads come from known levels."""

import json
import os
import re
import subprocess

from programs import Failure, run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAPER_FIGURE = "94.3% D  3.6% M  2.2% B", "84.9% M  15.1% D"
# Miss rates in percent, up to; the paper's share of the blocks.
PAPER_BANDS = (0, 88), (20, 4), (40, 2), (60, 2), (80, 1), (100, 3)
DISTANCES = 0, 64, 128, 256, 512, 1024
BLOCK_DISTANCES = 0, 512
LEAST = 20  # loads of a block


class Loads:
    """The program of one's own, and the timed loads of recordings."""

    def __init__(self, study):
        self.study = study
        self.blocks = cache_lines()
        self.program, self.levels = study.path("latency"), study.path("levels")
        planted = os.path.join(ROOT, "tests/data/planted/latency.c")
        run(["gcc", "-O2", "-g", f"-DBLOCKS={self.blocks}", "-I", ROOT, "-o", self.program, planted,
             os.path.join(ROOT, "cmd/agent/timed.c")])
        run(["gcc", "-O2", "-o", self.levels, os.path.join(ROOT, "tests/tools/rec_levels.c")])

    def record(self, command, distance=None):
        """Returns what the program printed."""
        options = [] if distance is None else ["--distance", str(distance)]
        return run(["vtrace", "record", "--sample-values", "--latency", "-F", str(self.study.args.rate),
                    *options, "-o", self.study.path("l.vt"), "--", *command], cwd=self.study.work,
                   stdin=subprocess.DEVNULL)

    def dump(self, *options):
        return run(["vtrace", "dump", *options, self.study.path("l.vt")]).decode().splitlines()

    def timed(self):
        """(address of the instruction, of the data, ticks, whether it was told as memory) of each load."""
        for line in self.dump("-F", "event,ip,addr,weight,data_source"):
            event, ip, addr, ticks, source = line.split("\t")
            if event == "loads:u":
                yield int(ip, 16), int(addr, 16), int(ticks), "Local RAM" in source

    def classes(self):
        """The levels as they were measured, with the ticks that each is below, as "L1<60 L2/L3<189 memory"."""
        for line in self.dump("-k", "META", "-F", "key,value"):
            key, _, value = line.partition("\t")
            if key == "latency.levels":
                return value
        raise Failure("the recording does not say its levels")


def cache_lines():
    size = subprocess.run(["getconf", "LEVEL1_DCACHE_SIZE"], stdout=subprocess.PIPE, check=False).stdout
    return int(size) // 64 if size.strip().isdigit() and int(size) else 512


def percent(n, of):
    return 100 * n / of if of else float("nan")


# ---- figure 1 ----


def figure(loads, millions):
    steps, *flushed = map(int, loads.record([loads.program, "multiply", str(millions)]).split())
    hot = loads.study.path("l.hot")
    with subprocess.Popen(["vinterp", "--plugin", "latency.so", loads.study.path("l.vt")],
                          stdout=subprocess.PIPE) as p:
        run(["vhot", "-o", hot], stdin=p.stdout)
    rows = json.loads(run(["vlist", "--values", "--json", "multiply", hot]))["procedures"][0]["rows"]
    code = {r["address"]: " ".join(r["code"].split()) for r in rows if r["kind"] == "instruction"}
    told = [r for r in rows if r.get("module") == "latency"]
    print(f"Figure 1: two loads into one multiplication, {steps} times; levels in ticks: {loads.classes()}\n")
    print("%-22s %7s  %-44s %14s  %s" % ("instruction", "vtot", "latencies", "from memory", "the paper's"))
    for row, n, paper in zip(told, flushed, PAPER_FIGURE):
        print("%-22s %7d  %-44s %12.1f %%  %s" % (
            code[row["of"]], row["total"], "  ".join("%.1f%% %s" % (v["percent"], v["text"]) for v in row["list"]),
            percent(n, steps), paper))
    print("from memory: of all executions, by construction\n")


# ---- known levels ----


def known(loads, millions):
    print("Loads told as memory, in percent, by the distance behind the sample in instructions; each line is\n"
          "near: of the first cache; chain: flushed, its address from the load before; free: flushed, its\n"
          "address computed, so that the processor loads ahead\n")
    print("distance" + "%10s" * 3 % ("near", "chain", "free"))
    for distance in DISTANCES:
        cells = []
        for mode, factor in ("near", 40), ("chain", 1), ("free", 4):
            start, size = loads.record([loads.levels, mode, str(max(1, millions * factor // 8))], distance).split()
            first = int(start, 16)
            far = [m for _, addr, _, m in loads.timed() if first <= addr < first + int(size)]
            cells.append(percent(sum(far), len(far)))
        print("%8d" % distance + "%10.1f" * 3 % tuple(cells), flush=True)
    print()


def best_part(near, far):
    """The percentage of two lists of ticks, taken as one, that the best threshold tells right."""
    return max(50 * (sum(t < limit for t in near) / len(near) + sum(t >= limit for t in far) / len(far))
               for limit in sorted(set(near + far)))


def ways(loads, count):
    ticks = {}
    for line in run([loads.program, "ways", str(count)]).decode().splitlines():
        level, way, n = line.split()
        ticks.setdefault((way, level), []).append(int(n))
    print("Two ways to time a load, outside of the recorder: loads of two levels that the best threshold tells\n"
          "right, in percent (50: none are told)\n")
    print("%-22s %10s %16s" % ("way", "L1 or L2", "L2 or memory"))
    for way, name in ("byte", "the load of a byte"), ("line", "the copy of its line"):
        print("%-22s %10.1f %16.1f" % (name, best_part(ticks[way, "L1"], ticks[way, "L2"]),
                                       best_part(ticks[way, "L2"], ticks[way, "memory"])))
    print()


# ---- table 1 ----


def bands(rates):
    """The share of rates in each of the paper's bands."""
    counts = [0] * len(PAPER_BANDS)
    for rate in rates:
        counts[next(i for i, (to, _) in enumerate(PAPER_BANDS) if rate <= to)] += 1
    return [percent(n, len(rates)) for n in counts]


def miss_rates(timed, first, size, limit):
    """Of each of these lines with enough loads: the percentage that took `limit` ticks or more."""
    blocks = {}
    for _, addr, ticks, _ in timed:
        if first <= addr < first + size:
            blocks.setdefault(addr // 64, []).append(ticks >= limit)
    return [percent(sum(b), len(b)) for b in blocks.values() if len(b) >= LEAST]


def table(loads, millions):
    columns = []
    for distance in BLOCK_DISTANCES:
        start, size = loads.record([loads.program, "blocks", str(millions)], distance).split()
        levels = loads.classes()
        limit = re.match(r"(\S+)<(\d+) ", levels)
        if not limit:
            print(f"Table 1: the clock tells no level from another ({levels}): not repeated\n")
            return
        columns.append((distance, limit[1], miss_rates(loads.timed(), int(start, 16), int(size), int(limit[2]))))
    print(f"Table 1: {loads.blocks} lines of the first cache, each loaded by an instruction of its own; of those with\n"
          f"{LEAST} timed loads, the share by miss rate, in percent.  A miss is a load that is slower than one of\n"
          f"{columns[0][1]}.\n")
    print("%-12s" % "miss rate" + "".join("%14s" % f"distance {d}" for d, _, _ in columns) + "   the paper's")
    shares = [bands(rates) for _, _, rates in columns]
    low = -1
    for i, (to, paper) in enumerate(PAPER_BANDS):
        print("%-12s" % ("0%" if to == 0 else f"{low + 1}-{to}%") + "".join("%14.1f" % s[i] for s in shares) + "%14d" % paper)
        low = to
    print("%-12s" % "lines" + "".join("%14d" % len(rates) for _, _, rates in columns) + "\n")


PARTS = {"figure1": lambda study: figure(Loads(study), 4 * study.args.latency),
         "levels": lambda study: known(Loads(study), study.args.latency),
         "ways": lambda study: ways(Loads(study), 1000 * study.args.latency),
         "table1": lambda study: table(Loads(study), 10000 * study.args.latency)}
