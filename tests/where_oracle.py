#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
Evaluates expressions of vt-filter(7) over the JSON of `vtrace dump`, by itself.

    where_oracle.py make N            N samples of random fields, for tests/tools/stream_make
    where_oracle.py check FILE N      N random expressions: does `vtrace dump --where` pick the same
                                      samples of the stream FILE?

A value is a number (int, or float where the type is real) with what is known of it: KNOWN, LEAST if
it is this much or more, or MOST, this much or less; or None, unknown. Truth is True, False or None.
"""
import json
import math
import random
import subprocess
import sys

KNOWN, LEAST, MOST = 1, 2, 3
EVENTS = ["retired", "aborted", "icache_miss", "dcache_miss", "l2_miss", "l3_miss", "itlb_miss",
          "dtlb_miss", "branch", "taken", "mispredicted", "load", "store", "locked", "prefetch",
          "microcode", "misaligned", "remote", "forwarded", "trap"]
SOURCES = ["unknown", "l1", "fill-buffer", "l2", "l3", "l4", "peer-near", "peer-far", "cache", "dram",
           "dram-far", "pmem", "extended", "io", "uncached", "forward"]
FOLLOWED = ["events", "lat_fetch", "lat_map", "lat_ready", "lat_issue", "lat_exec", "lat_retire",
            "lat_load", "lat_tlb", "lat_total", "lat_dispatch", "source", "open_misses", "width",
            "target", "history", "history_n", "trap", "pair", "pair_distance", "pair_cycles",
            "pair_weight"]
INTEGERS = ["pid", "tid", "cpu", "period", "addr", "weight", "misc", "lat_load", "lat_exec", "open_misses"]
FIELDS = INTEGERS + ["source", "id", "has", "pm_has", "pm_least", "events_told", "events", "pair_weight"]
LARGEST = 2**64 - 1


# ---- samples ----

def make(count, rng):
    for i in range(1, count + 1):
        def number():
            return rng.choice([0, 1, rng.randrange(10), rng.randrange(300), 2**rng.randrange(64),
                               LARGEST - rng.randrange(3)])
        row = {"id": i, "has": rng.choice([0, 2**6 + 2**24 + 2**7, 2**6 + 2**3]),
               "pid": rng.randrange(-5, 5), "tid": rng.choice([-2**63, 2**63 - 1, 3, -1])}
        for name in ("period", "addr", "misc"):
            row[name] = number()
        for name in ("cpu", "weight"):
            row[name] = rng.randrange(5)
        told = [b for b in range(len(FOLLOWED)) if rng.random() < 0.6]
        row["pm_has"] = sum(1 << b for b in told)
        row["pm_least"] = sum(1 << b for b in told if FOLLOWED[b] == "lat_load" and rng.random() < 0.5)
        for b in told:
            name = FOLLOWED[b]
            if name in ("lat_load", "lat_exec", "open_misses"):
                row[name] = number()
            elif name == "source":
                row[name] = rng.randrange(len(SOURCES))
            elif name == "events":
                row["events_told"] = rng.choice([(1 << 20) - 1, rng.getrandbits(20)])
                row[name] = rng.getrandbits(20)
            elif name == "pair_weight":
                row[name] = rng.choice([0.0, 0.5, -1.25, 3.0, 1e18, rng.random()])
        print("SAMPLE", *("%s=%r" % f for f in row.items()))


# ---- records as JSON has them ----

def bits(names, of):
    return sum(1 << (int(n) if n.isdigit() else of.index(n)) for n in names)


def read_fields(row):
    """Values by name, and the mask of told events."""
    values = {}
    least = bits(row["pm_least"] or [], FOLLOWED)
    for name in FIELDS:
        v = row[name]
        if v is None:
            values[name] = None
            continue
        if name in ("pm_has", "pm_least"):
            v = bits(v, FOLLOWED)
        elif name in ("events", "events_told"):
            v = bits(v, EVENTS)
        elif name == "source":
            v = SOURCES.index(v)
        elif isinstance(v, str):
            v = int(v, 0)
        more = name in FOLLOWED and least >> FOLLOWED.index(name) & 1
        values[name] = (v, LEAST if more else KNOWN)
    values["told"] = values["events_told"][0] if values["events"] else 0
    return values


# ---- expressions ----

LEVEL = {"||": 0, "&&": 1, "!": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "|": 4, "^": 5,
         "&": 6, "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9, "%": 9, "neg": 10, "~": 10}
ARITHMETIC = ["+", "-", "*", "/", "%"]
BITS = ["&", "|", "^", "<<", ">>"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]


def is_real(e):
    if e[0] == "field":
        return e[1] == "pair_weight"
    if e[0] == "number":
        return isinstance(e[1], float)
    return e[0] in ARITHMETIC + ["neg"] and any(is_real(x) for x in e[1:])


def number(rng, depth, real=True):
    """A random expression for a number; not real for operators of bits."""
    kind = rng.randrange(8) if depth else rng.randrange(3)
    if kind == 0:
        if real and rng.random() < 0.3:
            return ("number", rng.choice([0.5, 2.0, 1e3, 0.0, 1.25e-2]))
        return ("number", rng.choice([0, 1, 2, 3, 7, 8, 63, 64, 200, LARGEST, rng.randrange(300)]))
    if kind <= 2:
        return ("field", rng.choice(INTEGERS + (["pair_weight"] if real else [])))
    if kind <= 4:
        return (rng.choice(ARITHMETIC), number(rng, depth - 1, real), number(rng, depth - 1, real))
    if kind == 5:
        return (rng.choice(BITS), number(rng, depth - 1, False), number(rng, depth - 1, False))
    if kind == 6:
        e = number(rng, depth - 1, real)
        return ("neg" if real or rng.random() < 0.5 else "~", e)
    if rng.random() < 0.3:
        return ("has", rng.choice(INTEGERS + ["source", "events", "pair_weight"]))
    return condition(rng, depth - 1)


def condition(rng, depth):
    kind = rng.randrange(9) if depth else rng.randrange(5)
    if kind == 0 and rng.random() < 0.5:
        return ("same", rng.choice(["==", "!="]), rng.choice([None, rng.getrandbits(20)]),
                rng.choice([0, 1, rng.getrandbits(20), 1 << rng.randrange(20), 1 << 30]))
    if kind == 0:
        return ("events", rng.sample(EVENTS[:-1], rng.randrange(1, 4)), rng.choice(["", " == 0", " != 0"]))
    if kind == 1:
        return ("source", rng.choice(["==", "!="]), rng.choice(SOURCES))
    if kind <= 4:
        return (rng.choice(COMPARISONS), number(rng, depth), number(rng, depth))
    if kind <= 6:
        return (rng.choice(["&&", "||"]), condition(rng, depth - 1), condition(rng, depth - 1))
    if kind == 7:
        return ("!", condition(rng, depth - 1))
    return number(rng, depth)


def text_of(e):
    """The expression and its level, with no parentheses that are not needed."""
    op = e[0]
    if op == "field":
        return e[1], 11
    if op == "number":
        return repr(e[1]), 11
    if op == "has":
        return "has(%s)" % e[1], 11
    if op == "events":
        mask = " | ".join(e[1])
        return "events & (%s)%s" % (mask, e[2]), 3 if e[2] else 6
    if op == "same":
        return "events %s%s %d" % ("" if e[2] is None else "& %d " % e[2], e[1], e[3]), 3
    if op == "source":
        return "source %s %s" % (e[1], e[2].replace("-", "_")), 3
    level = LEVEL[op]

    def inner(x, least):
        text, of = text_of(x)
        return text if of >= least else "(%s)" % text
    if op in ("neg", "~"):
        return ("- " if op == "neg" else "~") + inner(e[1], 10), level
    if op == "!":
        return "!" + inner(e[1], 2), level
    left = level + 1 if op in COMPARISONS else level
    return "%s %s %s" % (inner(e[1], left), op, inner(e[2], level + 1)), level


# ---- evaluation ----

def known_truth(v):
    if v is None:
        return None
    if v[1] == LEAST:
        return True if v[0] > 0 else None
    if v[1] == MOST:
        return True if v[0] < 0 else None
    return v[0] != 0


def integer(v, state):
    return (v, state) if abs(v) <= LARGEST else None


NEGATED = {KNOWN: KNOWN, LEAST: MOST, MOST: LEAST}


def arithmetic(op, a, b, real):
    if a is None or b is None:
        return None
    (x, s), (y, t) = a, b
    if op == "-":
        t = NEGATED[t]
    states = {s, t} - {KNOWN}
    if len(states) > 1 or (states and op not in "+-"):
        return None
    state = states.pop() if states else KNOWN
    if op in "/%" and y == 0:
        return None
    if real:
        x, y = float(x), float(y)
        v = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y,
             "%": lambda: math.fmod(x, y)}[op]()
        return None if math.isnan(v) else (v, state)
    if op in "/%":
        q = abs(x) // abs(y)
        q = -q if (x < 0) != (y < 0) else q
        return integer(q if op == "/" else x - q * y, state)
    return integer({"+": x + y, "-": x - y, "*": x * y}[op], state)


def of_bits(op, a, b):
    if a is None or b is None or (a[1], b[1]) != (KNOWN, KNOWN):
        return None
    x, y = a[0] & LARGEST, b[0] & LARGEST
    if op in ("<<", ">>"):
        if b[0] < 0:
            return None
        return (0 if y > 63 else x << y & LARGEST if op == "<<" else x >> y, KNOWN)
    return ({"&": x & y, "|": x | y, "^": x ^ y}[op], KNOWN)


def holds(op, x, y):
    return {"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op]


def compare(op, a, b, real):
    """Tries the values that a side that is bounded may have: its bound, the other's, and far ones."""
    if a is None or b is None:
        return None
    x, y = (float(a[0]), float(b[0])) if real else (a[0], b[0])
    far = {KNOWN: (), LEAST: (max(x, y), 2.0**200, 2.0**201), MOST: (min(x, y), -2.0**200, -2.0**201)}
    xs, ys = {x, *far[a[1]]}, {y, *far[b[1]]}
    answers = {holds(op, p, q) for p in xs for q in ys}
    return answers.pop() if len(answers) == 1 else None


def as_number(t):
    return None if t is None else (int(t), KNOWN)


def truth(e, row):
    op = e[0]
    if op == "!":
        t = truth(e[1], row)
        return None if t is None else not t
    if op in ("&&", "||"):
        sides = truth(e[1], row), truth(e[2], row)
        if (op == "||") in sides:
            return op == "||"
        return None if None in sides else op == "&&"
    if op == "events":
        mask = bits(e[1], EVENTS)
        told = row["told"] if row["events"] else 0
        found = row["events"][0] & told & mask if row["events"] else 0
        t = True if found else False if not mask & ~told else None
        return t if t is None or e[2] != " == 0" else not t
    if op == "same":
        # A told bit that differs decides, as does one that no event under the mask can have.
        told = row["told"] if row["events"] else 0
        found = row["events"][0] & told if row["events"] else 0
        mask = (1 << 20) - 1 if e[2] is None else e[2]
        if (found ^ e[3]) & mask & told or e[3] & ~mask:
            return e[1] == "!="
        return None if mask & ~told else e[1] == "=="
    if op == "source":
        return compare(e[1], row["source"], (SOURCES.index(e[2]), KNOWN), False)
    if op in COMPARISONS:
        return compare(op, value(e[1], row), value(e[2], row), is_real(e[1]) or is_real(e[2]))
    return known_truth(value(e, row))


def value(e, row):
    op = e[0]
    if op == "number":
        return (e[1], KNOWN)
    if op == "field":
        return row[e[1]]
    if op == "has":
        return (int(row[e[1]] is not None), KNOWN)
    if op in ("neg", "~"):
        v = value(e[1], row)
        if v is None or (op == "~" and v[1] != KNOWN):
            return None
        return (-v[0], NEGATED[v[1]]) if op == "neg" else (~v[0] & LARGEST, KNOWN)
    if op in ARITHMETIC:
        return arithmetic(op, value(e[1], row), value(e[2], row), is_real(e))
    if op in BITS:
        return of_bits(op, value(e[1], row), value(e[2], row))
    if op == "events":
        mask = bits(e[1], EVENTS)
        if e[2]:
            return as_number(truth(e, row))
        if not row["events"] or mask & ~row["told"]:
            return None
        return (row["events"][0] & mask, KNOWN)
    return as_number(truth(e, row))


def dump(*args):
    p = subprocess.run(["vtrace", "dump", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode and (p.returncode != 3 or b" pass --where" not in p.stderr):
        sys.exit("%s: status %d: %s" % (args, p.returncode, p.stderr.decode()))
    return p.stdout.decode()


def check(path, count, rng):
    rows = [json.loads(line) for line in dump("--json", "-F", ",".join(FIELDS), path).splitlines()]
    samples = [(row["id"], read_fields(row)) for row in rows]
    bad, picked, unknown = 0, 0, 0
    for _ in range(count):
        e = condition(rng, rng.randrange(1, 5))
        text = text_of(e)[0]
        truths = [(i, truth(e, row)) for i, row in samples]
        want = [i for i, t in truths if t]
        unknown += sum(t is None for _, t in truths)
        have = [int(w) for w in dump("-F", "id", "--where", text, path).split()]
        picked += len(have)
        if have != want:
            bad += 1
            print(text, "\n  only by vtrace:", sorted(set(have) - set(want))[:5], "only here:",
                  sorted(set(want) - set(have))[:5])
    print("%d expressions, %d samples: %d picked, %d unknown" % (count, len(samples), picked, unknown))
    return bad


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), random.Random(1))
    else:
        sys.exit(check(sys.argv[2], int(sys.argv[3]), random.Random(2)) != 0)
