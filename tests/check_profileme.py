# SPDX-License-Identifier: GPL-3.0-or-later
"""
What vsim --profileme tells of instructions, against what was executed: read with vt_exec.py alone.

usage: check_profileme.py RECORDING EVERY [PAIRS WEIGHTED PERIOD WINDOW]
       check_profileme.py overlap TRUTH PERIOD WINDOW PAIRS...

EVERY has a sample of each fetched instruction with 64 branches of history; PAIRS and WEIGHTED have
pairs within WINDOW, a pair every PERIOD instructions exactly, at uniform and weighted distances.
"""
import collections
import struct
import sys

import vt_exec

EVENTS = ("retired aborted icache_miss dcache_miss l2_miss l3_miss itlb_miss dtlb_miss branch taken "
          "mispredicted load store locked prefetch microcode misaligned remote forwarded trap").split()
HAS = ("events lat_fetch lat_map lat_ready lat_issue lat_exec lat_retire lat_load lat_tlb lat_total "
       "lat_dispatch source open_misses width target history history_n trap pair pair_distance "
       "pair_cycles pair_weight").split()
PARTS = "lat_map lat_ready lat_issue lat_exec lat_retire".split()
WRONG_PATH = 1
L1, FORWARD = 1, 15
IN_PROGRESS, USEFUL = 48, 49
bad = []


def check(good, what):
    if not good and what not in bad:
        bad.append(what)


def read_samples(path):
    samples, events = [], {}

    def record(kind, row):
        if kind == "EVENT":
            events[row["id"]] = row["name"]
        elif kind == "SAMPLE" and events[row["event"]] == b"profileme":
            row["pair_weight"] = struct.unpack("<d", struct.pack("<Q", row["pair_weight"]))[0]
            samples.append(row)

    vt_exec.Reader(path, None, record).read()
    return samples


def happened(s, event):
    bit = 1 << EVENTS.index(event)
    return bool(s["events"] & s["events_told"] & bit)


def told(s, event):
    return bool(s["events_told"] >> EVENTS.index(event) & 1)


def has(s, field):
    return bool(s["pm_has"] >> HAS.index(field) & 1)


def is_conditional(code):
    return (0x70 <= code[0] <= 0x7F or 0xE0 <= code[0] <= 0xE3 or
            (code[0] == 0x0F and 0x80 <= code[1] <= 0x8F))


def executed(path):
    """(address, length, whether it is a conditional branch) of each executed instruction."""
    insns, known = [], {}

    def step(_pid, _tid, s):
        b = s.block
        if b not in known:
            code = [bytes(b.code[a - b.addr : a - b.addr + 16]) for a in b.addrs[:-1]]
            known[b] = [(a, end - a, is_conditional(c.lstrip(b"\x2e\x3e\x66\xf2")))
                        for a, end, c in zip(b.addrs, b.addrs[1:], code)]
        insns.extend(known[b][s.first : s.last])

    vt_exec.Reader(path, step).read()
    return insns


def check_latencies(s):
    known = [p for p in PARTS if has(s, p)]
    if happened(s, "retired"):
        check(sum(s[p] for p in known) == s["lat_total"], "latencies add up")
        check(s["lat_ready"] >= 1 or "lat_retire" not in known, "operands are ready after the map")
    else:
        check(known in ([], ["lat_map"]), "aborted instructions have no later stages")
        check(not known or s["lat_map"] < s["lat_total"], "they were mapped before the abort")
    check(has(s, "lat_total") and not has(s, "lat_fetch"), "from fetch on")
    check(s["pm_least"] == 0, "all latencies are exact")
    check(has(s, "lat_load") == (happened(s, "load") and happened(s, "retired")), "loads have one")
    if has(s, "lat_load"):
        check(s["lat_load"] <= s["lat_issue"] + s["lat_exec"], "data comes before the end")


def check_memory(s):
    access = happened(s, "retired") and (happened(s, "load") or happened(s, "store"))
    check((s["has"] >> 3 & 1) == has(s, "width") == (access and told(s, "dcache_miss")),
          "accesses have an address and a width")
    check(not has(s, "source") or happened(s, "load"), "loads alone have a source")
    if has(s, "source") and not happened(s, "store"):
        hit = s["source"] in (L1, FORWARD)
        check(hit or happened(s, "dcache_miss"), "what is not from the first cache missed it")
        check(not happened(s, "forwarded") == (s["source"] != FORWARD), "forwarded loads")


def check_every(samples, insns):
    for s in samples:
        aborted = happened(s, "aborted")
        check(told(s, "retired") and told(s, "aborted"), "how it ended is told")
        check(aborted != happened(s, "retired"), "retired or aborted")
        check(has(s, "trap") and s["trap"] == (WRONG_PATH if aborted else 0), "traps")
        check(not s["events"] & ~s["events_told"], "no event that is not told")
        check_latencies(s)
        check_memory(s)
    retired = [s for s in samples if happened(s, "retired")]
    check([s["ip"] for s in retired] == [i[0] for i in insns], "all that was executed, in order")
    history, n = 0, 0
    for s, (addr, length, conditional), (to, _, _) in zip(retired, insns, insns[1:] + [(0, 0, 0)]):
        check(s["history_n"] == min(n, 64) and s["history"] == history, "history")
        check(not conditional or happened(s, "branch"), "conditional branches are branches")
        if conditional and to:
            check(happened(s, "taken") == (to != addr + length), "their directions")
            history = (history << 1 | (to != addr + length)) & (1 << 64) - 1
            n += 1
        check(not has(s, "target") or s["target"] == to, "targets")
        check(has(s, "target") == happened(s, "taken"), "of taken branches")
    check(n > 64, "there are branches")


def check_wrong_paths(samples):
    """Aborted instructions come behind a mispredicted branch, and nothing else does not."""
    before, n = None, 0
    for s in samples:
        if happened(s, "aborted"):
            n += 1
            check(before is not None, "wrong paths begin at branches")
        else:
            before = s if happened(s, "mispredicted") else None
    return n


def split_pairs(samples, least=1000):
    samples = samples[: len(samples) // 2 * 2]
    check(len(samples) > 2 * least, "enough pairs")
    check([s["pair"] for s in samples] == [1 + i % 2 for i in range(len(samples))], "in order")
    return list(zip(samples[::2], samples[1::2]))


def check_pairs(pairs, every, period, window):
    """Their places among all that was fetched."""
    for first in range(2 * period):
        at = [first + i * period for i in range(len(pairs))]
        if at[-1] < len(every) and all(every[a]["ip"] == p["ip"] for a, (p, _) in zip(at, pairs)):
            break
    else:
        check(False, "a pair each period")
        return
    for a, (p, q) in zip(at, pairs):
        distance = q["pair_distance"]
        check(p["pair_distance"] == p["pair_cycles"] == 0, "the first is where the pair begins")
        check(p["pair_weight"] == 1, "and weighs 1")
        check(1 <= distance <= window, "distances")
        for s, e in ((p, every[a]), (q, every[a + distance])):
            check(all(s[k] == e[k] for k in ["ip", "events", "addr", "history", "trap", "lat_total"]
                      + PARTS), "the same instruction as without pairs")


def check_chi_square(pairs, window):
    seen = collections.Counter(q["pair_distance"] for _, q in pairs)
    expected = len(pairs) / window
    chi = sum((seen[d] - expected) ** 2 / expected for d in range(1, window + 1))
    # Nearly normal: three standard deviations.
    check(chi < window - 1 + 3 * (2 * (window - 1)) ** 0.5, "distances are uniform: %.1f" % chi)


def check_weights(pairs, window):
    total = sum(q["pair_weight"] for _, q in pairs)
    near = [q for _, q in pairs if q["pair_distance"] <= window // 4]
    check(abs(total / len(pairs) - 1) < 0.06, "weights are 1 on average: %f" % (total / len(pairs)))
    weights = [q["pair_weight"] for _, q in pairs]
    check(min(weights) < 0.95 and max(weights) > 1.05, "weights differ")
    share = sum(q["pair_weight"] for q in near) / total
    check(abs(share - 0.25) < 0.03, "weighted, no more than others: %f" % share)


def check_overlap(pairs, truth, period, window):
    """Useful overlaps, estimated from pairs (section 5.2.3), against the exact ones."""
    stats = collections.Counter()

    def record(kind, row):
        if kind == "EVSTAT":
            stats[row["what"]] += struct.unpack("<d", struct.pack("<Q", row["sum"]))[0]

    vt_exec.Reader(truth, None, record).read()
    useful = cycles = 0
    for p, q in pairs:
        for s, t, later in ((p, q, q["pair_cycles"]), (q, p, -q["pair_cycles"])):
            end = s["lat_total"] - s["lat_retire"]
            issue = later + t["lat_map"] + t["lat_ready"] + t["lat_issue"]
            useful += q["pair_weight"] * (happened(t, "retired") and 0 <= issue < end)
            cycles += end / 2
    useful, cycles = useful * window * period, cycles * period
    check(abs(useful / stats[USEFUL] - 1) < 0.1, "useful overlap: %f" % (useful / stats[USEFUL]))
    check(abs(cycles / stats[IN_PROGRESS] - 1) < 0.05, "time in progress")
    return "useful %.3f of the truth, in progress %.3f" % (
        useful / stats[USEFUL], cycles / stats[IN_PROGRESS])


def main(argv):
    if argv[1] == "overlap":
        pairs = [split_pairs(read_samples(p), 100) for p in argv[5:]]
        print(check_overlap(sum(pairs, []), argv[2], int(argv[3]) / len(pairs), int(argv[4])))
        for what in bad:
            print("wrong: " + what, file=sys.stderr)
        return 1 if bad else 0
    every = read_samples(argv[2])
    check_every(every, executed(argv[1]))
    wrong = check_wrong_paths(every)
    if len(argv) > 3:
        period, window = int(argv[5]), int(argv[6])
        uniform, weighted = (split_pairs(read_samples(p)) for p in argv[3:5])
        check_pairs(uniform, every, period, window)
        check_pairs(weighted, every, period, window)
        check_chi_square(uniform, window)
        check(all(q["pair_weight"] == 1 for _, q in uniform), "uniform pairs weigh 1")
        check_weights(weighted, window)
    for what in bad:
        print("wrong: " + what, file=sys.stderr)
    print("%d samples, %d of wrong paths" % (len(every), wrong))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
