#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: perf_flow.py [PIECES] RECORDING.vt TRACE.perf.data|STREAM.vt
#
# Compares what perf decodes of an encoded trace with the recording it was encoded from: for each
# thread the address of every instruction, and every transfer of control, in their order.
#
# A second stream (.vt) is compared instead of what perf decodes.
#
# With PIECES, only a part of the trace is there, but at least a tenth of it: what perf decodes of a
# thread must be at most so many pieces of the recording, more than one in all, in its order.
#
# A repeated string instruction is one instruction to a trace, whatever its count.

import bisect
import subprocess
import sys

import vt_exec

PREFIXES = {0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x66, 0x67, 0xF0, 0xF2, 0xF3} | set(range(0x40, 0x50))
BRANCH, RETURN = 1, 6  # how blocks end, formats/vt.md
STRING = {0x6C, 0x6D, 0x6E, 0x6F, 0xA4, 0xA5, 0xA6, 0xA7, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF}


def repeats(code):
    """Whether an instruction is a repeated string instruction."""
    at, prefixed = 0, False
    while at < len(code) and code[at] in PREFIXES:
        prefixed |= code[at] in (0xF2, 0xF3)
        at += 1
    return prefixed and at < len(code) and code[at] in STRING


class Recording:
    """What each thread executed: addresses, and transfers of control by what a trace shows."""

    def __init__(self, path):
        self.threads, self.transfers = {}, {}
        self.positions = {}  # how many instructions were executed up to each transfer
        self.left = {}  # by thread: its last branch and the address behind it, or None
        vt_exec.Reader(path, self.step, self.record, self.block).read()

    def block(self, block):
        block.loops = []
        for i in range(block.insns):
            at, end = (block.addrs[n] - block.addr for n in (i, i + 1))
            block.loops.append(repeats(block.code[at:end]))
        return True

    def arrive(self, who, to):
        """A conditional branch that is not taken is no transfer."""
        if self.left.get(who):
            end, branch, behind = self.left[who]
            if end != BRANCH or to != behind:
                self.transfers.setdefault(who, []).append((branch, to))
                self.positions.setdefault(who, []).append(len(self.threads[who]))
            self.left[who] = None

    def step(self, pid, tid, s):
        who, b = (pid, tid), s.block
        out = self.threads.setdefault(who, [])
        self.arrive(who, b.addrs[s.first])
        for i in range(s.first, s.last):
            if not (out and out[-1] == b.addrs[i] and b.loops[i]):
                out.append(b.addrs[i])
        if s.last == b.insns and BRANCH <= b.end <= RETURN:
            self.left[who] = b.end, b.addrs[-2], b.addrs[-1]

    def record(self, kind, row):
        if kind == "SIGNAL":
            self.arrive((row["pid"], row["tid"]), row["ip"])


def perf_lines(data, itrace, fields):
    cmd = ["perf", "script", "-i", data, "--ns", "--itrace=" + itrace, "-F", fields]
    with subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
        yield from p.stdout
    if p.returncode:
        sys.exit("perf_flow.py: perf script: status %d" % p.returncode)


def thread(word):
    pid, tid = word.split("/")
    return int(pid), int(tid)


def decoded(data):
    threads = {}
    for line in perf_lines(data, "i1i", "pid,tid,ip"):
        who, ip = line.split()[:2]
        threads.setdefault(thread(who), []).append(int(ip, 16))
    return threads


def branches(data):
    threads = {}
    for line in perf_lines(data, "b", "pid,tid,ip,addr"):
        who, rest = line.split(None, 1)
        a, b = rest.split("=>")
        a, b = int(a.strip(), 16), int(b.strip(), 16)
        if a and b:
            threads.setdefault(thread(who), []).append((a, b))
    return threads


def compare(what, got, want):
    bad = 0
    for who in sorted(set(got) | set(want)):
        g, w = got.get(who, []), want.get(who, [])
        if g == w:
            continue
        bad += 1
        at = next((i for i, (x, y) in enumerate(zip(g, w)) if x != y), min(len(g), len(w)))
        print("%s of thread %d/%d: %d, recorded %d; at %d: %s, recorded %s"
              % (what, *who, len(g), len(w), at, shown(g[at : at + 4]), shown(w[at : at + 4])))
    return bad


def shown(items):
    return " ".join("%x" % i if isinstance(i, int) else "%x=>%x" % i for i in items) or "end"


def pieces(got, want):
    """
    Into how few pieces of `want`, in its order, `got` may be cut; None if it is made of something
    else. A piece is found by its first instructions, as many as there are, at most 8.
    """
    index = {}
    for n in range(len(want)):
        for size in (8, 4, 2, 1):
            index.setdefault(tuple(want[n : n + size]), []).append(n)
    i = at = count = 0
    while i < len(got):
        if i and at < len(want) and got[i] == want[at]:
            i, at = i + 1, at + 1
            continue
        for size in (8, 4, 2, 1):
            places = index.get(tuple(got[i : i + size]), [])
            found = bisect.bisect_left(places, at)
            if found < len(places):
                break
        else:
            return None
        i, at, count = i + 1, places[found] + 1, count + 1
    return count


def compare_parts(got, want, most):
    bad = total = 0
    for who, g in sorted(got.items()):
        count = pieces(g, want.get(who, []))
        if count is None:
            bad += 1
            print("thread %d/%d has what was not recorded" % who)
        else:
            total += count
    share = sum(map(len, got.values())) / sum(map(len, want.values()))
    print("%d pieces, %.1f%% of the instructions" % (total, share * 100))
    return bad or not 1 < total <= most or share < 0.1


def main():
    args = sys.argv[1:]
    most = int(args.pop(0)) if args[0].isdigit() else 0
    rec = Recording(args[0])
    if most:
        return compare_parts(decoded(args[1]), rec.threads, most)
    if args[1].endswith(".vt"):
        other = Recording(args[1])
        insns, flow = other.threads, other.transfers
    else:
        insns, flow = decoded(args[1]), branches(args[1])
    bad = compare("instructions", insns, rec.threads)
    bad += compare("branches", flow, rec.transfers)
    print("%d threads, %d instructions, %d transfers"
          % (len(rec.threads), sum(map(len, rec.threads.values())),
             sum(map(len, rec.transfers.values()))))
    return bad


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
