#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a recording (--values=all --mem) with the processor's own execution of the same program.

usage: check_steps.py STREAM PROGRAM choose SHARE
       check_steps.py STREAM PROGRAM compare OFFSET TIMES STEPS LOG

choose prints a place in the program, as "OFFSET TIMES", that is reached for that time when SHARE
percent of all instructions have been executed. compare takes LOG, which ptrace_steps has written from
there on and compares pc, each load's value and each register that changes, instruction by
instruction. Addresses differ between the two: stack, heap and images lie elsewhere. A value that
is not equal must be explained by that:
  address   it lies in a mapping of the one run, and as far away from there as everything that
            points into this mapping
  derived   an address that was cut to 4 bytes, negated, doubled, or that lies outside its mapping;
            the distance of two addresses in different mappings
  page      addresses that a logical operation has combined: everything lies at whole pages from
            where it was, so the offset in the page must be equal
  secret    the stack protector's random number, as loaded from the thread's block; the process's
            number
Prints counts; status 1 when anything is not explained.
"""
import sys

from vt_exec import GUARD, LOAD, LOAD_ADDRESS, RESULT, STATE, STORE, Reader

MASK = (1 << 64) - 1
PAGE = 4096
IP, SP = 8, 7
MOST_SHOWN = 20


class Images:
    """Where the recorded processes have their files."""

    def __init__(self):
        self.paths, self.maps = {}, []

    def record(self, kind, row):
        if kind == "IMAGE":
            self.paths[row["id"]] = row["path"].decode()
        elif kind == "MAP":
            path = self.paths.get(row["image"], "")
            self.maps.append((row["start"], row["start"] + row["length"], row["offset"], path))

    def address(self, path, offset):
        for start, end, at, name in self.maps:
            if name == path and at <= offset < at + end - start:
                return start + offset - at
        return None

    def find(self, addr):
        for start, end, at, name in reversed(self.maps):
            if start <= addr < end:
                return name, addr - start + at
        return None


def choose(path, program, share):
    images, executed = Images(), {}
    reader = Reader(path, lambda *_: None)
    reader.read()
    goal, so_far = reader.executed * share // 100, [0]

    class Found(Exception):
        pass

    def step(pid, tid, s):
        so_far[0] += s.last - s.first
        b = s.block
        executed[b.addr] = executed.get(b.addr, 0) + 1
        if so_far[0] > goal and s.first == 0 and executed[b.addr] < 3000:
            where = images.find(b.addr)
            if where and where[0] == program:
                print("%#x %d" % (where[1], executed[b.addr]))
                raise Found

    try:
        Reader(path, step, images.record).read()
    except Found:
        return 0
    return 1


class Instruction:
    """One recorded execution."""

    def __init__(self, pid, step, insn):
        self.pid = pid
        self.pc = step.block.addrs[insn]
        self.insn = insn
        self.step = step

    def read(self):
        """Loads as (address, bytes), results as {register: bytes}, and whether it did anything."""
        addrs, values, happened = [], [], []
        results, guard, active = {}, True, False
        for slot, data in self.step.slots():
            if slot.insn != self.insn:
                continue
            if slot.what == GUARD:
                guard = data != b"\0"
            elif slot.what == LOAD_ADDRESS:
                addrs.append(int.from_bytes(data, "little"))
                happened.append(guard)
                guard = True
            elif slot.what == LOAD:
                values.append(data)
            elif slot.what == RESULT:
                results[slot.reg] = data
            active |= slot.what in (LOAD, STORE)
        loads = [(a, v) for a, v, h in zip(addrs, values, happened) if h]
        return loads, results, active


def recorded(path, program, offset, times, steps):
    """The recorded instructions from the place on, and the images."""
    images, out, left = Images(), [], [times]
    place = [None]

    class Enough(Exception):
        pass

    def step(pid, tid, s):
        if left[0]:
            if place[0] is None:
                place[0] = images.address(program, offset)
            if place[0] not in s.block.addrs[s.first : s.last]:
                return
            left[0] -= 1
            if left[0]:
                return
            s.first = s.block.addrs.index(place[0])
        out.extend(Instruction(pid, s, i) for i in range(s.first, s.last))
        # Repetitions that the processor does not count come on top.
        if len(out) > steps * 5 // 4 + 100:
            raise Enough

    try:
        Reader(path, step, images.record).read()
    except Enough:
        pass
    return out, images


class Explainer:
    """Says why a value of the processor's run and a recorded one may differ."""

    def __init__(self, images):
        self.images, self.regions, self.secrets = images, [], set()
        self.bases, self.deltas = {}, set()
        self.counts = dict.fromkeys(("equal", "address", "derived", "page", "secret", "unexplained"), 0)

    def add_map(self, start, end, offset, name):
        region = [start, end, name, set()]
        if name.startswith("/"):
            # An image stays in one piece; it begins with its file.
            if name not in self.bases and offset == 0:
                there = self.images.address(name, 0)
                if there is not None:
                    self.bases[name] = (there - start) & MASK
            if name in self.bases:
                region[3].add(self.bases[name])
                self.deltas.add(self.bases[name])
        self.regions.append(region)

    def is_address(self, h, r):
        delta = (r - h) & MASK
        for region in self.regions:
            if region[0] <= h <= region[1]:
                if delta in region[3]:
                    return True
                # Neighbouring anonymous mappings are told as one.
                most = 0 if region[2].startswith("/") else 8 if region[2] == "-" else 1
                if len(region[3]) < most and delta % (16 if region[2] == "[stack]" else PAGE) == 0:
                    region[3].add(delta)
                    self.deltas.add(delta)
                    return True
        return False

    def is_derived(self, h, r, size):
        mask = (1 << 8 * size) - 1
        if h >> 32 == 0 and r >> 32 == 0:
            mask = (1 << 32) - 1
        delta = (r - h) & mask
        if any((k * d - delta) & mask == 0 for d in self.deltas for k in (1, -1, 2, -2)):
            return True
        return any((d - e - delta) & mask == 0 for d in self.deltas for e in self.deltas)

    def why(self, name, h, r, size):
        if h == r:
            return "equal"
        if size == 8 and self.is_address(h, r):
            return "address"
        if (h, r) in self.secrets:
            return "secret"
        if size >= 4 and self.is_derived(h, r, size):
            return "derived"
        if name in ("or", "and", "xor", "not", "shr") and h % PAGE == r % PAGE and h > PAGE:
            return "page"
        return "unexplained"

    def compare(self, name, h, r):
        """Of bytes, of an instruction; what is not explained."""
        left, at = [], 0
        while at < len(h):
            size = min(8, len(h) - at)
            a = int.from_bytes(h[at : at + size], "little")
            b = int.from_bytes(r[at : at + size], "little")
            why = self.why(name, a, b, size)
            self.counts[why] += 1
            if why == "unexplained":
                left.append((a, b))
            at += size
        return left


class Comparer:
    def __init__(self, images):
        self.x = Explainer(images)
        self.faults = []
        self.n = dict.fromkeys(("steps", "loads", "load_bytes", "registers", "vectors"), 0)
        self.n.update(dict.fromkeys(("pieces", "empty_repetitions", "not_recorded"), 0))
        self.fs = 0

    def fault(self, what, pairs=()):
        self.faults.append((self.n["steps"], what, pairs))

    def finish(self):
        """What is left when all secrets are known: copies of them may have been seen before."""
        left = []
        for step, what, pairs in self.faults:
            known = sum(p in self.x.secrets for p in pairs)
            self.x.counts["secret"] += known
            self.x.counts["unexplained"] -= known
            if known < len(pairs) or not pairs:
                left.append((step, what))
        for step, what in left[:MOST_SHOWN]:
            print("check_steps.py: step %d: %s" % (step, what))
        return len(left)

    def same_pc(self, h, r):
        for start, end, name, deltas in self.x.regions:
            if start <= h < end and name.startswith("/"):
                return (r - h) & MASK in deltas
        return False

    def loads(self, name, want, got):
        memory = {}
        for addr, data in got:
            for i, byte in enumerate(data):
                memory[addr + i] = byte
        for addr, data, vague in want:
            at = [a for a, _ in got if a == addr or self.x.is_address(addr, a)]
            if not at:
                if vague:
                    self.n["pieces"] += 1
                else:
                    self.fault("%s: load from %#x is not recorded" % (name, addr))
                continue
            # Valgrind may read a value in pieces.
            there = bytes(memory.get(at[0] + i, 256) & 255 for i in range(len(data)))
            whole = all(at[0] + i in memory for i in range(len(data)))
            self.n["loads"] += 1
            self.n["load_bytes"] += len(data)
            if not whole:
                self.n["pieces"] += 1
                got_only = [(i, memory[at[0] + i]) for i in range(len(data)) if at[0] + i in memory]
                if not all(data[i] == b for i, b in got_only):
                    self.fault("%s: parts of a load differ" % name)
            elif addr in (self.fs + 0x28, self.fs + 0x30):
                pair = [int.from_bytes(v, "little") for v in (data, there)]
                self.x.secrets.add(tuple(pair))
                self.x.compare(name, data, there)
            else:
                left = self.x.compare(name, data, there)
                if left:
                    text = "%s: load of %s, recorded %s" % (name, data.hex(), there.hex())
                    self.fault(text, left)

    def registers(self, name, changed, results):
        for reg, value in changed.items():
            if reg not in results:
                # System calls leave addresses in rcx and flags in r11.
                if name in ("syscall", "cpuid", "rdtsc", "xgetbv"):
                    continue
                self.n["not_recorded"] += 1
                self.fault("%s: the change of register %d is not recorded" % (name, reg))
                continue
            data = results[reg]
            have = value if isinstance(value, bytes) else value.to_bytes(8, "little")
            self.n["vectors" if reg >= 32 else "registers"] += 1
            left = self.x.compare(name, have[: len(data)], data[: len(have)])
            if left:
                text = "%s: register %d is %s, recorded %s"
                self.fault(text % (name, reg, have.hex(), data.hex()), left)

    def step(self, pc, name, words, got):
        changed, want = {}, []
        for word in words:
            key, value = word.split("=")
            if key[0] in "m~":
                want.append((int(key[1:], 16), bytes.fromhex(value), key[0] == "~"))
            elif key[0] == "v":
                changed[int(key[1:], 16)] = bytes.fromhex(value)
            else:
                changed[int(key, 16)] = int(value, 16)
        loads, results, _ = got.read()
        # What a register that did not change holds is only known when it was told before.
        self.state.update(changed)
        for reg, data in results.items():
            if reg not in changed and reg in self.state:
                changed[reg] = self.state[reg]
        self.loads(name, want, loads)
        self.registers(name, changed, results)

    def run(self, lines, rec):
        at = 0
        self.state = {}
        for line in lines:
            words = line.split()
            if words[0] == "map":
                self.x.add_map(int(words[1], 16), int(words[2], 16), int(words[3], 16), words[4])
                continue
            if words[0] == "start":
                self.fs = int(words[1].split("=")[1], 16)
                pid = int(words[2].split("=")[1], 16)
                self.x.secrets.add((pid, rec[0].pid))
                for word in words[3:]:
                    key, value = word.split("=")
                    self.state[int(key, 16)] = int(value, 16)
                continue
            pc = int(words[0], 16)
            # Valgrind's repeated instruction finds out by another execution that it is done.
            while at < len(rec) and not self.same_pc(pc, rec[at].pc):
                if at == 0 or rec[at].pc != rec[at - 1].pc or rec[at].read()[2]:
                    break
                self.n["empty_repetitions"] += 1
                at += 1
            if at == len(rec) or not self.same_pc(pc, rec[at].pc):
                there = "%#x" % rec[at].pc if at < len(rec) else "nothing"
                self.fault("at %#x, recorded %s" % (pc, there))
                return
            self.step(pc, words[1], words[2:], rec[at])
            self.n["steps"] += 1
            at += 1


def compare(path, program, offset, times, steps, log):
    rec, images = recorded(path, program, offset, times, steps)
    c = Comparer(images)
    c.run(log, rec)
    bad = c.finish()
    for name, n in list(c.n.items()) + list(c.x.counts.items()):
        print("%s %d" % (name, n))
    print("displacements %d" % len(c.x.deltas))
    print("differences %d" % bad)
    if c.n["steps"] < steps:
        print("check_steps.py: only %d steps" % c.n["steps"])
        return 1
    return 1 if bad else 0


def main(argv):
    if len(argv) == 5 and argv[3] == "choose":
        return choose(argv[1], argv[2], int(argv[4]))
    if len(argv) == 8 and argv[3] == "compare":
        with open(argv[7]) as log:
            place = int(argv[4], 16), int(argv[5]), int(argv[6])
            return compare(argv[1], argv[2], *place, log)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
