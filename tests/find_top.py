# SPDX-License-Identifier: GPL-3.0-or-later
"""Do value profiles from samples agree with full ones?

    find_top.py [-v] [-c] FULL AGAIN SAMPLED [MIN]

Hot lists of a run in which every instruction was seen, twice, and of samples of the same program
with the same input. Find-Top as in vcmp(1), of the instructions of which at least MIN (30)
values are known from samples: of those whose most frequent value makes up more than 30 % in the full
profile, the part, by executions, that has it among its steady values in the other.

Not compared, but counted: lists whose most frequent values are addresses in both, for the full
recording has memory laid out in another way; and what differs between the two full recordings
(the stack protector's random number, for one). Prints

    find-top PERCENT lists N of M compared (C with a top value), A addresses, R random

where N lists of the samples' M have MIN values and are in the full profile. With -v, the ones that
were not found.

With -c, only those are compared that chance misses once in 100 million (CHANCE) at most, and the others are
counted as "few". The most frequent value of the full profile, with the share p there, is not among the
s steady values of a list with room for k only if s others have as many occurrences for certain. An occurrence count of
space-saving is too high by n/k at most, so then its count is n (1 + s/k) / (1 + s) at most, of n values
seen. How often it is seen has a binomial distribution of m values with p, where m is less than n because the
values of one run of 16 instructions are not independent: a loop of four has four of them.
"""
import math
import sys

import hot_metrics


CHANCE = 1e-8
PER_RUN = 4


def at_most(most, n, share):
    """The chance of at most so many of n, each with the chance `share`; by logarithms, as n may be large."""
    if most >= n or share >= 1:
        return float(most >= n)
    return sum(math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) +
                        i * math.log(share) + (n - i) * math.log1p(-share))
               for i in range(most + 1))


def missed_by_chance(full, sampled):
    n = sampled.profiled // PER_RUN
    room = int(sampled.record["capacity"])
    most = int(n * (1 + sampled.steady / room) / (1 + sampled.steady))
    return at_most(most, n, full.ranked[0][1] / full.profiled)


def is_address(value, full):
    """The kernel's layout of a program without randomisation; Valgrind's."""
    if full:
        return 0x108000 <= value < 0x2000000000
    return 0x400000 <= value < 0x8000000 or 0x555555554000 <= value < 0x7ffffffff000


def main():
    args = sys.argv[1:]
    options = [a for a in args if a in ("-v", "-c")]
    args = args[len(options):]
    verbose = "-v" in options
    full, again, sampled = (hot_metrics.read(name) for name in args[:3])
    least = int((args[3:] or ["30"])[0])
    compared = tops = addresses = random = few = 0
    weight = found = 0
    missed = []
    for key, b in sorted(sampled.items()):
        a = full.get(key)
        if b.total < least or not a:
            continue
        compared += 1
        top = a.ranked[0][0]
        if is_address(top, True) and is_address(b.ranked[0][0], False):
            addresses += 1
        elif key not in again or top != again[key].ranked[0][0]:
            random += 1
        elif a.inv(1) > 0.3 and "-c" in options and missed_by_chance(a, b) > CHANCE:
            few += 1
        elif a.inv(1) > 0.3:
            tops += 1
            weight += a.total
            if top in [v for v, _, _ in b.ranked[:b.steady]]:
                found += a.total
            else:
                missed.append((a.total, key, a, b))
    for total, key, a, b in sorted(missed, key=lambda m: (-m[0], m[1])) if verbose else []:
        print("missed %s+%s %s %s lane %s" % (key[0][:12], key[1], key[2], key[3], key[4]),
              "executed", total, ["%x: %d" % v[:2] for v in a.ranked[:3]], "sampled", b.total,
              ["%x: %d" % v[:2] for v in b.ranked[:3]])
    print("find-top %.2f lists %d of %d compared (%d with a top value), %d addresses, %d random%s" %
          (100 * found / weight if weight else 0, compared, len(sampled), tops, addresses, random,
           ", %d few" % few if "-c" in options else ""))


if __name__ == "__main__":
    main()
