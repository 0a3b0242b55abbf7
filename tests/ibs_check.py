#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: ibs_check.py TEXT JSON
#
# Compares what `perf report -D` says of IBS registers (TEXT) with the fields of the same samples in
# `vtrace dump --json` (JSON), one by one, and prints how many were equal.

import json
import re
import sys

STOP = 65535
SOURCES_ZEN4 = {"1": "l3", "2": "peer-near", "3": "dram", "5": "peer-far", "6": "pmem", "7": "io", "8": "extended",
                "12": "extended"}
SOURCES = {"2": "cache", "3": "dram", "4": "peer-far", "7": "io"}
FAR = {"dram": "dram-far", "cache": "peer-far"}


def perf_samples(path):
    """The words of each sample's registers, as perf names them."""
    words = {}
    for line in open(path, errors="replace"):
        if line.startswith(("ibs_fetch_ctl:", "ibs_op_ctl:")):
            words = {"fetch": "ibs_fetch_ctl" in line}
        m = re.match(r"(Ibs\w+|ibs_\w+|ic_\w+):\s+([0-9a-f]{16})(.*)", line)
        if m:
            words[m[1]] = int(m[2], 16)
            rest = re.sub(r"=[^=]*?(?= [A-Z]\w+ +\d|$)", "", m[3])
            for name, value in re.findall(r"(\w+) +(\d+)", rest):
                words[name] = value if name == "DataSrc" else int(value)
        if "PERF_RECORD_SAMPLE" in line:
            yield words
            words = {}


def latency(want, least, name, value):
    want[name] = value
    if value == STOP:
        least.add(name)


def set_source(w, told, want, zen4):
    """Where a load or store was answered, and what that says of the levels."""
    if w["DcUcMemAcc"]:
        want["source"] = "uncached"
        return
    told["dcache_miss"] = w["DcMiss"]
    if not w["DcMiss"]:
        want["source"] = "l1"
        told.update(l2_miss=0, l3_miss=0, remote=0)
    elif "L2Miss" in w and not w["L2Miss"]:
        want["source"] = "l2"
        told.update(l2_miss=0, l3_miss=0, remote=0)
    elif "L2Miss" in w:
        told["l2_miss"] = 1
        source = (SOURCES_ZEN4 if zen4 else SOURCES).get(w.get("DataSrc"))
        if source:
            told["remote"] = w["RmtNode"]
            source = FAR.get(source, source) if w["RmtNode"] else source
            if source != "cache":
                told["l3_miss"] = int(source != "l3")
            want["source"] = source
    if "source" not in want and w["DcMissNoMabAlloc"]:
        want["source"] = "fill-buffer"
    if w["DcMiss"] and w.get("OpDcMissOpenMemReqs"):
        want["open_misses"] = w["OpDcMissOpenMemReqs"]


def set_memory(w, told, want, least, zen4):
    told.update(load=w["LdOp"], store=w["StOp"])
    if not (w["LdOp"] or w["StOp"]):
        told.update(dict.fromkeys("prefetch locked misaligned dcache_miss l2_miss l3_miss dtlb_miss remote".split(), 0))
        return
    told.update(prefetch=w["SwPf"], locked=w["DcLockedOp"], misaligned=w["DcMisAcc"],
                dtlb_miss=w["DcL1TlbMiss"] & w["DcL2TlbMiss"])
    if w.get("OpMemWidth", 65) <= 64:
        want["width"] = w["OpMemWidth"]
    if "IbsDCLinAd" in w:
        want["addr"] = w["IbsDCLinAd"]
    if "IbsDCPhysAd" in w:
        want["phys_addr"] = w["IbsDCPhysAd"]
    if w["DcL1TlbMiss"]:
        latency(want, least, "lat_tlb", w["TlbRefillLat"])
    level = "DcL2Tlb" if w["DcL1TlbMiss"] else "DcL1Tlb"
    if not told["dtlb_miss"]:
        if w[level + "Hit2M"]:
            want["data_page_size"] = 2 << 20
        elif w[level + "Hit1G"]:
            want["data_page_size"] = 1 << 30
    set_source(w, told, want, zen4)
    if w["LdOp"] and w["DcMiss"] and not w["SwPf"] and not w["DcUcMemAcc"]:
        latency(want, least, "lat_load", w["DcMissLat"])


def want_op(w, zen4):
    told, want, least = {"retired": 1, "microcode": w["Microcode"], "branch": w["BrnRet"]}, {}, set()
    latency(want, least, "lat_retire", w["CompToRetCtr"])
    latency(want, least, "lat_dispatch", w["TagToRetCtr"])
    told.update(taken=w.get("OpBrnTaken", 0), mispredicted=w.get("OpBrnMisp", 0))
    if "IbsBrTarget" in w:
        want["target"] = w["IbsBrTarget"]
    set_memory(w, told, want, least, zen4)
    return told, want, least


PAGES = {"4KB": 4096, "16KB": 16384, "2MB": 2 << 20, "1GB": 1 << 30}


def want_fetch(w, pages):
    told, want, least = {"aborted": 1 - w["Comp"], "itlb_miss": w["L1TlbMiss"] & w["L2TlbMiss"]}, {}, set()
    latency(want, least, "lat_fetch", w["Lat"])
    for event, word in (("icache_miss", "IcMiss"), ("l2_miss", "L2Miss")):
        if word in w:
            told[event] = w[word]
    if w["Comp"] and "FetchL3Miss" in w:
        told["l3_miss"] = w["FetchL3Miss"]
    if w["L1TlbMiss"]:
        latency(want, least, "lat_tlb", w["IbsItlbRefillLat"])
    if "IbsFetchPhysAd" in w:
        want["phys_addr"] = w["IbsFetchPhysAd"]
        if pages in PAGES:
            want["code_page_size"] = PAGES[pages]
    return told, want, least


FIELDS = ("addr phys_addr data_page_size code_page_size lat_fetch lat_map lat_ready lat_issue lat_exec lat_retire "
          "lat_load lat_tlb lat_total lat_dispatch source open_misses width target history history_n trap pair "
          "pair_distance pair_cycles pair_weight").split()


def number(v):
    return int(v, 16) if isinstance(v, str) and v.startswith("0x") else v


def check(told, want, least, got):
    assert set(got["events_told"]) == set(told), (told, got)
    assert set(got["events"]) == {e for e in told if told[e]}, (told, got)
    assert set(got["pm_least"] or []) == least, (least, got)
    for field in FIELDS:
        assert number(got[field]) == want.get(field), (field, want, got)


def main():
    text, dump = sys.argv[1:]
    zen4 = "L3MissOnly" in open(text, errors="replace").read()
    pages = re.findall(r"^ibs_fetch_ctl:.*?(?:L1TlbPgSz (\w+)|$)", open(text, errors="replace").read(), re.M)
    perf, ours = list(perf_samples(text)), [json.loads(line) for line in open(dump)]
    assert len(perf) == len(ours) > 0, (len(perf), len(ours))
    for w, got in zip(perf, ours):
        check(*(want_fetch(w, pages.pop(0)) if w["fetch"] else want_op(w, zen4)), got)
    print(len(perf))


main()
