#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Branch stacks as processors spoil them.

usage: stackbias.py HOW STREAM OUT

Writes a perf.data with the samples of a stream that `vsim --branches` made, whose stacks are as they should
be, each changed in the way of HOW:

none       not at all
held       half of the interrupts come when the next wait of eight cycles or more is over: the
           stack is that of an earlier sample's, cut at the last such wait in it
favoured   behind a wait of eight cycles or more, samples are a quarter more likely
twice      the newest branch of one stack in four is there twice
clamped    no branch is told to come in the same cycle as another
shallow    16 branches
untimed    no cycles
mispredicted  all branches are said to be so
empty      entries at the end of one stack in ten have not been written yet

Periods of all samples are raised so that they add up to the same time.  Chance is that of a fixed
seed.
"""
import random
import subprocess
import sys
from types import SimpleNamespace

from mkperfdata import BRANCH_STACK, IDENTIFIER, IP, PERIOD, TID, TIME, Writer

WAIT = 8  # cycles


def dump(kind, fields, stream):
    out = subprocess.run(["vtrace", "dump", "-k", kind, "-F", fields, stream],
                         capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in out.splitlines()]


def numbers(text):
    return [int(x, 0) for x in text.split(",") if x]


def held(stack, rng):
    if rng.random() < 0.5:
        for i in range(min(4, len(stack) - 2)):
            if stack[i][2] >= WAIT:
                return stack[i:]
    return stack


def favoured(stack, rng):
    return stack if stack[0][2] >= WAIT or rng.random() < 0.8 else None


def twice(stack, rng):
    return stack[:1] + stack[:-1] if rng.random() < 0.25 else stack


def clamped(stack, rng):
    return [(a, b, max(c, 1)) for a, b, c in stack]


def shallow(stack, rng):
    return stack[:16]


def untimed(stack, rng):
    return [(a, b, 0) for a, b, c in stack]


def empty(stack, rng):
    n = rng.randrange(2, len(stack)) if rng.random() < 0.1 else len(stack)
    return stack[:n] + [(0, 0, 0)] * (len(stack) - n)


HOWS = {"none": lambda stack, rng: stack, "held": held, "favoured": favoured, "twice": twice,
        "mispredicted": lambda stack, rng: stack, "clamped": clamped, "shallow": shallow, "untimed": untimed, "empty": empty}


def samples(how, stream):
    rng = random.Random(1)
    for ip, period, source, to, flags in dump(
            "SAMPLE", "ip,period,br_from,br_to,br_flags", stream):
        stack = list(zip(numbers(source), numbers(to),
                         [f >> 4 & 0xffff for f in numbers(flags)]))
        if len(stack) > 3:
            yield int(ip, 16), int(period), HOWS[how](stack, rng)


def main():
    how, stream, path = sys.argv[1:]
    w = Writer(SimpleNamespace(big=False, attr_size=136))
    kind = IDENTIFIER | IP | TID | TIME | PERIOD | BRANCH_STACK
    attr = w.attr(0, 0, kind, 1000, ("mmap2", "exclude_kernel"), branch=8)
    ids = dict(dump("IMAGE", "path,buildid", stream))
    body = b""
    for start, length, offset, name in dump("MAP", "start,length,offset,image", stream):
        id = bytes.fromhex(ids.get(name, ""))
        file = w.pack("I", len(id)) + id.ljust(20, b"\0") if id else bytes(24)
        place = w.pack("iiQQQ", 100, 100, int(start, 16), int(length), int(offset, 16))
        body += w.record(10, place + file + w.pack("II", 5, 2) + w.text(name),
                         misc=2 | (1 << 14 if id else 0))
    all = list(samples(how, stream))
    more = sum(s[1] for s in all) / sum(s[1] for s in all if s[2])
    for time, (ip, period, stack) in enumerate(all):
        if stack:
            b = w.pack("QQIIQQQ", 11, ip, 100, 100, 1000 + time, round(period * more), len(stack))
            for source, to, cycles in stack:
                b += w.pack("QQQ", source, to, (how != "mispredicted") + 1 | cycles << 4)
            body += w.record(9, b, misc=2)
    names = w.pack("II", 1, w.opt.attr_size) + attr + w.pack("I", 1) + w.string("cycles") + \
        w.u64s([11])
    with open(path, "wb") as out:
        out.write(b"PERFILE2" + w.pack("Q", 16) + w.record(64, attr + w.u64s([11])) +
                  w.record(80, w.pack("Q", 12) + names) + body)


main()
