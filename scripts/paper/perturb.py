# SPDX-License-Identifier: GPL-3.0-or-later
"""
A description of a core (vt-core(5)) made wrong on purpose.  Who analyses samples has no exact model
of the processor: an analysis with the very model that made the samples says too much for it.
"""

import random
import re

PART = 0.25  # of a latency, either way
PENALTY = 4  # cycles of a misprediction, either way
WIDTH = 1  # fewer instructions a cycle
SKID = 8  # more cycles
WIDTHS = ("fetch", "decode", "issue", "retire")


def perturb_core(text, seed):
    """The core with other latencies and another penalty, by a seed; narrower, with more skid."""
    draw = random.Random(seed)

    def other(cycles, least):
        return max(least, round(int(cycles) * draw.uniform(1 - PART, 1 + PART)))

    def line_of(line):
        words = line.split("#")[0].split()
        if words[:1] == ["class"]:
            cycles = str(other(words[2], 1))
            # A unit that is busy all the time of its operation stays so.
            return " ".join(["class", words[1]] +
                            [cycles if w == words[2] else w for w in words[2:]])
        if len(words) == 2 and words[0] in WIDTHS:
            return f"{words[0]} {max(1, int(words[1]) - WIDTH)}"
        if len(words) == 2 and words[0] == "skid":
            return f"skid {int(words[1]) + SKID}"
        line = re.sub(r"\blatency (\d+)",
                      lambda m: f"latency {other(m[1], min(1, int(m[1])))}", line)
        return re.sub(r"\bpenalty (\d+)",
                      lambda m: f"penalty {max(0, int(m[1]) + draw.choice((-PENALTY, PENALTY)))}",
                      line)

    return "\n".join(map(line_of, text.splitlines())) + "\n"
