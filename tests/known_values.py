# SPDX-License-Identifier: GPL-3.0-or-later
"""Are the values that vinterp tells of rec_known the ones that it computed?

    known_values.py SYMBOLS LOOP PARENT < VALUES

SYMBOLS is what `nm` prints of the program, LOOP and PARENT what it printed itself; VALUES what
`vtrace dump -k VALUE -F time,tid,ip,what,reg,lane,size,value` prints of samples of the program
alone. The counter n of a run is found from one value and holds for all others, until it counts up.
Prints how many values of how many runs were compared, and each that is wrong.
"""
import sys

WIDE = (1 << 64) - 1
ODD = 0x9e3779b97f4a7c15
MIXED = 0x123456789abcdef1
AX, BX, CX, DX, SI, DI, BP, SP = range(8)
R8, R9, R10, R11, R12, R13, R14, R15 = range(16, 24)
XMM1 = 33


def product(n):
    return n * ODD & WIDE


def mixed(n):
    return (product(n) & WIDE >> 8) | (product(n) & 255) << 56


def borrow(n):
    return WIDE if product(n) < ODD else 0


def less(n):
    """A byte of a register whose others stay: the sign of what was borrowed."""
    return (mixed(n) & ~255) | (borrow(n) & 1)


# What each instruction computes: by kind and register; a load and the result of a move are one.
def table(at, parent):
    def both(reg, f, what="load"):
        return {(what, 0): f, ("result", reg): f}

    return {
        "k_leaf": {("result", R10): lambda n: product(n) + 5 & WIDE},
        "k_return": {("load", 0): lambda n: at["k_after"]},
        "k_move": {("result", AX): lambda n: n},
        "k_multiply": {("result", AX): product},
        "k_store": {("store", 0): product},
        "k_load": both(CX, product),
        "k_xor": {("load", 0): lambda n: MIXED, ("result", CX): lambda n: product(n) ^ MIXED},
        "k_byte": {("store", 0): lambda n: product(n) & 255},
        "k_mixed": both(DX, mixed),
        "k_low": {("result", SI): lambda n: n & 0xffffffff},
        "k_mask": {("result", SI): lambda n: n & 15},
        "k_table": both(DI, lambda n: (n & 15) ** 2),
        "k_jump": {("target", 0): lambda n: at["k_vector"]},
        "k_vector": {("result", XMM1): product},
        "k_double": {("result", XMM1): lambda n: 2 * product(n) & WIDE},
        "k_back": {("result", R8): lambda n: 2 * product(n) & WIDE},
        "k_last": both(R9, lambda n: product(n - 1)),
        "k_more": {("result", R10): lambda n: product(n - 1) + 1 & WIDE},
        "k_set": {("store", 0): product},
        "k_borrow": {("result", CX): borrow},
        "k_less": {("result", DX): less},
        "k_push": {("store", 0): borrow},
        "k_pop": both(R11, borrow),
        "k_call": {("store", 0): lambda n: at["k_after"],
                   ("arg", DI): lambda n: (n & 15) ** 2, ("arg", SI): lambda n: n & 15,
                   ("arg", DX): less, ("arg", CX): borrow,
                   ("arg", R8): lambda n: 2 * product(n) & WIDE,
                   ("arg", R9): lambda n: product(n - 1)},
        "k_after": {("result", R8): lambda n: product(n) + 5 & WIDE},
        "k_copy": {("result", AX): lambda n: n},
        "k_zero": {("result", DX): lambda n: 0},
        "k_divide": {("result", AX): lambda n: n // 1000003, ("result", DX): lambda n: n % 1000003},
        "k_number": {("result", AX): lambda n: 110},
        "k_parent": {("result", R9): lambda n: parent},
        "k_next": {("result", R12): lambda n: n + 1},
    }


# From which of them n follows.
INVERSE = {
    ("k_move", "result", AX): lambda v: v,
    ("k_copy", "result", AX): lambda v: v,
    ("k_next", "result", R12): lambda v: v - 1,
}
for label, what, reg in (("k_multiply", "result", AX), ("k_store", "store", 0),
                         ("k_load", "load", 0), ("k_set", "store", 0),
                         ("k_vector", "result", XMM1)):
    INVERSE[label, what, reg] = lambda v: v * pow(ODD, -1, 1 << 64) & WIDE


class Run:
    """The values of one run, in order, each with its place in the program."""

    def __init__(self):
        self.values = []

    def counter(self, order):
        """n at its first instruction, from the first value that says."""
        passed = 0
        for i, (label, what, reg, lane, value) in enumerate(self.values):
            if i and order[label] < order[self.values[i - 1][0]]:
                passed += 1
            f = INVERSE.get((label, what, reg))
            if f and not lane:
                return f(value) - passed
        return None


def check(run, expected, order, seen, wrong):
    n = run.counter(order)
    if n is None:
        return 0
    previous = None
    for label, what, reg, lane, value in run.values:
        if previous is not None and order[label] < order[previous]:
            n += 1
        previous = label
        f = expected[label].get((what, reg))
        if not f:
            wrong.append("%s %s %d: %x is not expected" % (label, what, reg, value))
            continue
        want = 0 if lane else f(n)
        seen.add((label, what, reg))
        if value != want:
            wrong.append("%s %s %d with n=%d: %x, not %x" % (label, what, reg, n, value, want))
    return len(run.values)


def main():
    at = {}
    for line in open(sys.argv[1]):
        address, _, name = line.split()[-3:]
        if name.startswith("k_") or name == "known_loop":
            at[name] = int(address, 16)
    bias = int(sys.argv[2], 0) - at["known_loop"]
    at = {name: address + bias for name, address in at.items()}
    labels = {address: name for name, address in at.items()}
    expected = table(at, int(sys.argv[3]))
    # In the order in which they are run: the leaf is called between k_call and k_after.
    places = sorted(expected, key=lambda name: at[name])
    leaf = [name for name in places if name in ("k_leaf", "k_return")]
    places = [name for name in places if name not in leaf]
    places[places.index("k_after"):places.index("k_after")] = leaf
    order = {name: i for i, name in enumerate(places)}
    runs = {}
    for line in sys.stdin:
        time, tid, ip, what, reg, lane, _, value = line.rstrip("\n").split("\t")
        label = labels.get(int(ip, 16))
        if label in expected:
            runs.setdefault((time, tid), Run()).values.append(
                (label, what, int(reg), int(lane), int(value, 16)))
    seen, wrong = set(), []
    compared = sum(check(run, expected, order, seen, wrong) for run in runs.values())
    for line in wrong[:20]:
        print("wrong:", line)
    missing = sorted("%s %s %d" % (label, what, reg) for label in expected
                     for what, reg in expected[label] if (label, what, reg) not in seen)
    for line in missing:
        print("never known:", line)
    print("compared %d runs %d wrong %d never-known %d" %
          (compared, len(runs), len(wrong), len(missing)))


if __name__ == "__main__":
    main()
