# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics of value profiles, computed from what `vtrace dump --json` prints of HOT records.

    hot_metrics.py make SEED [BASE [alike]]     a made-up profile, as stream_make reads it; with
                                        BASE, the text of another, one of the same program; `alike`:
                                        in tables of the same size
    hot_metrics.py invariance FILE      what vinv --json is to print as "overall"
    hot_metrics.py curve METRIC FILE    what vinv --curve prints
    hot_metrics.py compare A B [M [T]]  what vcmp --json is to print
    hot_metrics.py same FILE FILE       whether two JSON texts agree, numbers to 1e-6
    hot_metrics.py merge FILE...        the lists of profiles, joined: of TNV tables and exact ones

It is written from the definitions in the paper and in the man pages, not from the programs.
"""
import json
import math
import random
import subprocess
import sys

WHATS = ("unknown load store load-address store-address result arg state guard target return "
         "ptwrite operand latency").split()


# ---- making profiles ----

def make_values(rng, total, room, kind):
    """Values and counts of an instruction that was executed so often."""
    left, counts = total, {}
    share = {"steady": 1.0, "mostly": 0.8, "random": 0.02, "mixed": rng.random()}[kind]
    while left and len(counts) < room:
        n = min(left, max(1, int(left * share * rng.random() * 1.2)))
        value = rng.choice([0, 0, 1, 2, 7, rng.getrandbits(64), rng.getrandbits(8)])
        counts[value] = counts.get(value, 0) + n
        left -= n
    return counts


def make(seed, base, alike):
    rng = random.Random(seed)
    steady, clear = rng.choice([(3, 3), (1, 4), (25, 25)])
    algo = [1, 2, 4, 6][seed % 4]
    if alike:
        first = next(line for line in open(base) if line.startswith("HOT"))
        field = dict(f.split("=") for f in first.split()[1:])
        steady = int(field["steady"])
        clear = int(field["capacity"]) - steady
    lines = ["IMAGE id=3 path=/bin/one buildid=aa01", "IMAGE id=9 path=/lib/two.so"]
    places = []
    if base:
        for line in open(base):
            if line.startswith("HOT"):
                places.append(tuple(f for f in line.split()
                                    if f.split("=")[0] in ("image", "offset", "what", "reg",
                                                           "lane", "caller_image", "caller")))
        places = [p for p in places if rng.random() < 0.9]
    while len(places) < (400 if not base else 380):
        image = rng.choice([3, 9])
        place = ["image=%d" % image, "offset=0x%x" % rng.randrange(0x1000, 0x4000),
                 "what=%d" % rng.choice([1, 1, 1, 2, 5, 6])]
        if rng.random() < 0.1:
            place.append("lane=%d" % rng.randrange(1, 4))
        if rng.random() < 0.1:
            place += ["caller_image=9", "caller=0x%x" % rng.randrange(1, 0x4000)]
        if tuple(place) not in places:
            places.append(tuple(place))
    rng.shuffle(places)
    for place in places:
        total = int(10 ** (rng.random() * 6))
        profiled = total if algo != 4 else max(1, int(total * rng.random()))
        counts = make_values(rng, profiled, steady + clear,
                             rng.choice(["steady", "mostly", "random", "mixed"]))
        ranked = sorted(counts.items(), key=lambda c: (-c[1], c[0]))
        fields = list(place) + [
            "size=8", "algo=%d" % algo, "capacity=%d" % (steady + clear), "steady=%d" % steady,
            "total=%d" % total, "profiled=%d" % profiled, "zero=%d" % rng.randrange(total + 1),
            "same=%d" % rng.randrange(total + 1), "stride=%d" % rng.randrange(total + 1),
            "first=%d" % rng.randrange(2), "last=%d" % rng.randrange(2),
            "values=" + ",".join("0x%x" % v for v, _ in ranked)]
        if algo == 1:
            level = rng.randrange(4)
            fields += ["factor=1.25", "level=%d" % level]
            fields.append("counts=" + ",".join(str(max(1, int(c / 1.25 ** level)))
                                               for _, c in ranked))
        else:
            fields.append("counts=" + ",".join(str(c) for _, c in ranked))
        if algo == 6:
            fields.append("errors=" + ",".join(str(rng.randrange(c + 1)) for _, c in ranked))
        lines.append("HOT " + " ".join(fields))
    print("\n".join(lines))


# ---- reading them ----

class List:
    def __init__(self, o):
        self.record = o
        self.total = int(o.get("total", 0))
        self.profiled = int(o.get("profiled", 0))
        self.zero, self.same = int(o.get("zero", 0)), int(o.get("same", 0))
        self.stride = int(o.get("stride", 0))
        self.steady = int(o.get("steady", 0))
        values = [int(v, 16) for v in o.get("values", [])]
        counts = [int(c) for c in o.get("counts", [])]
        errors = [int(e) for e in o.get("errors", [])] or [0] * len(counts)
        scale = float(o.get("factor", 0)) ** int(o.get("level", 0))
        self.ranked = sorted(((v, (c - e) * scale, c) for v, c, e in zip(values, counts, errors)),
                             key=lambda x: (-x[1], -x[2], x[0]))

    def inv(self, m):
        return min(1.0, sum(n for _, n, _ in self.ranked[:m]) / self.profiled)

    def metric(self, name):
        return {"inv_top": lambda: self.inv(1), "inv_all": lambda: self.inv(self.steady),
                "lvp": lambda: self.same / self.total, "zero": lambda: self.zero / self.total,
                "stride": lambda: self.stride / self.total}[name]()


def read(path):
    images, lists = {}, {}
    text = subprocess.run(["vtrace", "dump", "--json", path], stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    for line in text.splitlines():
        o = json.loads(line)
        if o["kind"] == "IMAGE":
            images[o.get("id", 0)] = o.get("buildid") or o.get("path")
        elif o["kind"] == "HOT":
            caller = o.get("caller", 0)
            key = (images[o.get("image", 0)], o.get("offset", 0), o.get("what"), o.get("reg", 0),
                   o.get("lane", 0), images[o.get("caller_image", 0)] if caller else 0, caller)
            assert key not in lists, key
            lists[key] = List(o)
    return {k: h for k, h in lists.items() if h.profiled}


METRICS = ["inv_top", "inv_all", "lvp", "zero", "stride"]


def mean(pairs):
    pairs = list(pairs)
    weight = math.fsum(w for w, _ in pairs)
    return math.fsum(w * v for w, v in pairs) / weight if weight else 0


def overall(lists, name):
    row = {"what": name, "lists": len(lists), "executions": sum(h.total for h in lists)}
    row["profiled"] = 100 * sum(h.profiled for h in lists) / row["executions"]
    for m in METRICS:
        row[m] = 100 * mean((h.total, h.metric(m)) for h in lists)
    return row


def invariance(path):
    lists = read(path)
    rows = []
    for what in WHATS:
        some = [h for k, h in lists.items() if k[2] == what]
        if some:
            rows.append(overall(some, what))
    if len(rows) > 1:
        rows.append(overall(list(lists.values()), "all"))
    return rows


def curve(metric, path):
    """Section 4.4, execution by execution: each bucket is the mean of a hundredth of them."""
    points = sorted((h.metric(metric), h.total) for h in read(path).values())
    size = sum(w for _, w in points) / 100
    rows, at = [], 0.0
    i, left = 0, points[0][1]
    for k in range(100):
        need, total = size, 0.0
        while need > 1e-9 * size and i < len(points):
            part = min(need, left)
            total += part * points[i][0]
            need -= part
            left -= part
            if left <= 0:
                i += 1
                left = points[i][1] if i < len(points) else 0
        rows.append({"percent": k + 1,
                     "inputs": [{"name": path, "value": 100 * total / (size - need)}]})
    return rows


def compare(path_a, path_b, m, threshold):
    a, b = read(path_a), read(path_b)
    both = [(a[k], b[k]) for k in a if k in b]
    if not m:
        m = min(max(h.steady for h in a.values()), max(h.steady for h in b.values()))
    candidates = [(x, y) for x, y in both if x.inv(1) > threshold / 100]

    def diff(f):
        return 100 * mean((x.total, abs(f(x) - f(y))) for x, y in both)

    def found(x, y):
        return x.ranked[0][0] in [v for v, _, _ in y.ranked[:y.steady]]

    doc = {
        "find_top": 100 * mean((x.total, found(x, y)) for x, y in candidates),
        "diff_top": diff(lambda h: h.inv(1)),
        "diff_all": diff(lambda h: h.inv(m)) / m,
        "rms": 100 * math.sqrt(mean((x.total, (x.inv(1) - y.inv(1)) ** 2) for x, y in both)),
        "instructions": len(both),
        "covered": 100 * sum(x.total for x, _ in both) / sum(h.total for h in a.values()),
        "profiled": overall(list(b.values()), "")["profiled"],
        "m": m, "candidates": len(candidates), "only_first": len(a) - len(both),
        "only_second": len(b) - len(both), "second": path_b,
        "diff_lvp": diff(lambda h: h.metric("lvp")), "diff_zero": diff(lambda h: h.metric("zero")),
        "diff_inv": diff(lambda h: h.inv(1)),
    }
    for name, lists in (("first", a), ("second", b)):
        row = overall(list(lists.values()), "")
        for short, metric in (("lvp", "lvp"), ("zero", "zero"), ("inv", "inv_top")):
            doc[short + "_" + name] = row[metric]
    return doc


def sums(path):
    """The fields that joining adds up, and the values."""
    table = {}
    for key, h in read(path).items():
        o = h.record
        table[key] = {
            "numbers": [h.total, h.profiled, h.zero, h.same, h.stride],
            "ends": [o.get("first", "0x0"), o.get("last", "0x0")],
            "capacity": o.get("capacity", 0), "steady": h.steady,
            "counts": dict(zip(o.get("values", []), o.get("counts", [])))}
    return table


def join(a, b):
    numbers = [x + y for x, y in zip(a["numbers"], b["numbers"])]
    numbers[3] += a["ends"][1] == b["ends"][0]
    counts = dict(a["counts"])
    for v, n in b["counts"].items():
        counts[v] = counts.get(v, 0) + n
    best = sorted(counts.items(), key=lambda c: (-c[1], int(c[0], 16)))
    return {"numbers": numbers, "ends": [a["ends"][0], b["ends"][1]], "capacity": a["capacity"],
            "steady": max(a["steady"], b["steady"]),
            "counts": dict(best[:a["capacity"] or None])}


def merge(paths):
    table = sums(paths[0])
    for path in paths[1:]:
        for key, h in sums(path).items():
            table[key] = join(table[key], h) if key in table else h
    return [[list(k), table[k]] for k in sorted(table)]


def same(a, b, where="top"):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        assert abs(a - b) <= 1e-6 * max(1, abs(a)), (where, a, b)
    elif isinstance(a, dict):
        assert isinstance(b, dict) and sorted(a) == sorted(b), (where, sorted(a), sorted(b))
        for k in a:
            same(a[k], b[k], where + "." + k)
    elif isinstance(a, list):
        assert isinstance(b, list) and len(a) == len(b), (where, len(a), len(b))
        for i, (x, y) in enumerate(zip(a, b)):
            same(x, y, "%s[%d]" % (where, i))
    else:
        assert a == b, (where, a, b)


def main(argv):
    if argv[0] == "make":
        make(int(argv[1]), argv[2] if len(argv) > 2 else None, len(argv) > 3)
    elif argv[0] == "invariance":
        print(json.dumps(invariance(argv[1])))
    elif argv[0] == "curve":
        print(json.dumps(curve(argv[1].replace("-", "_"), argv[2])))
    elif argv[0] == "compare":
        print(json.dumps(compare(argv[1], argv[2], int(argv[3]) if len(argv) > 3 else 0,
                                 float(argv[4]) if len(argv) > 4 else 30)))
    elif argv[0] == "merge":
        print(json.dumps(merge(argv[1:])))
    elif argv[0] == "same":
        same(json.load(open(argv[1])), json.load(open(argv[2])))
        print("same")


main(sys.argv[1:])
