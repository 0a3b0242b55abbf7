#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: mem_sources.py TEXT JSON
#
# Compares what `perf script -F data_src,weight` prints (TEXT) with our fields of the same samples (JSON, of
# `vtrace dump --json -F events_told,events,source,lat_load`), and prints how many samples there were and how
# many had a source.

import json
import re
import sys

PLACES = (("Remote Cache", "peer-far"), ("Remote RAM", "dram-far"), ("Local RAM", "dram"), ("RAM hit", "dram"),
          ("LFB", "fill-buffer"), ("I/O", "io"), ("Uncached", "uncached"), ("L1", "l1"), ("L2", "l2"), ("L3", "l3"))


def source(level, snoop):
    if not level.endswith(" hit"):
        return None
    found = next((name for text, name in PLACES if text in level), None)
    return "peer-near" if found == "l3" and ("HitM" in snoop or "Fwd" in snoop) else found


def check(line, got):
    m = re.search(r"\|OP (\w+)\|LVL (.*?)\|SNP (.*?)\|TLB (.*?)\|LCK (.*?)\|", line)
    op, level, snoop, tlb, lock = m.groups()
    told, events = set(got["events_told"] or []), set(got["events"] or [])
    assert got["source"] == source(level, snoop), (line, got)
    for word, event in (("LOAD", "load"), ("STORE", "store")):
        assert (event in events) == (op == word), (line, got)
    if got["source"] and got["source"] not in ("io", "uncached"):
        assert "dcache_miss" in told and ("dcache_miss" in events) == (got["source"] != "l1"), (line, got)
    if re.search("L[12].* hit", tlb) and "Walker" not in tlb:
        assert "dtlb_miss" in told and "dtlb_miss" not in events, (line, got)
    assert ("locked" in told, "locked" in events) == (lock != "N/A", lock == "Yes"), (line, got)
    weight = int(line.split()[-1])
    assert got["lat_load"] == (weight if op == "LOAD" and weight else None), (line, got)


def main():
    perf, ours = open(sys.argv[1]).read().splitlines(), [json.loads(x) for x in open(sys.argv[2])]
    assert len(perf) == len(ours), (len(perf), len(ours))
    for line, got in zip(perf, ours):
        check(line, got)
    print(len(ours), sum(got["source"] is not None for got in ours))


main()
