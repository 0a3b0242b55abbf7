#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: mkibs.py [-4] [-u] [-c CPUID] [-n TIMES] OUT <RECORDS
#
# Writes a perf.data of AMD's instruction-based sampling, with a sample for each line of standard input:
#
#	op CAPS REGISTER ...	fetch CAPS REGISTER ...	raw op|fetch HEX	map ADDRESS SIZE OFFSET PATH
#
# The last is no sample: a file is mapped from there on, numbers in hexadecimal.
#
# CAPS and registers are hexadecimal, in the kernel's order; `raw` gives all bytes.  Times are 1000, 1001 ...
#
#	-4	the file says that the processor has the extensions of Zen 4
#	-u	the event of micro-ops counts these (cnt_ctl), not cycles
#	-c CPUID	default AuthenticAMD,25,17,1
#	-n TIMES	all of it so many times, all at the same time

import argparse
import struct
import sys

from mkperfdata import CPU, IDENTIFIER, IP, PERIOD, RAW, TID, TIME, Writer

OP, FETCH = 10, 9
TYPE = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW
FLAGS = ("sample_id_all", "comm")


def raw_bytes(words):
    if words[0] == "raw":
        return words[1], bytes.fromhex(words[2])
    registers = [int(x, 16) for x in words[2:]]
    return words[0], struct.pack("<I%dQ" % len(registers), int(words[1], 16), *registers)


def make_map(w, words):
    address, size, offset = (int(x, 16) for x in words[1:4])
    body = struct.pack("<IIQQQ", 100, 100, address, size, offset) + w.text(words[4])
    return w.record(1, body + struct.pack("<IIQIIQ", 100, 100, 0, 0, 0, 11), misc=2)


def make_sample(w, line, time):
    if line.startswith("map "):
        return make_map(w, line.split())
    kind, raw = raw_bytes(line.split())
    ip = 0x401000 + time % 4096
    if len(raw) >= 20:
        ip = struct.unpack_from("<Q", raw, 12)[0]
    body = struct.pack("<QQIIQIIQI", 11 if kind == "op" else 12, ip, 100, 100, time, 0, 0, 100000, len(raw))
    return w.record(9, body + raw, misc=0x4002)


def features(w, opt):
    out = {6: w.string("x86_64"), 9: w.string(opt.cpuid)}
    out[16] = w.pack("II", 2, FETCH) + w.string("ibs_fetch") + w.pack("I", OP) + w.string("ibs_op")
    if opt.zen4:
        out[31] = w.pack("I", 2)
        for name in ("ibs_fetch", "ibs_op"):
            out[31] += w.pack("I", 1) + w.string("zen4_ibs_extensions") + w.string("1") + w.string(name)
    return out


def write_file(w, out, body, features):
    attrs = b""
    for i, (kind, config) in enumerate(((OP, w.opt.uops << 19), (FETCH, 1 << 57))):
        attrs += w.attr(kind, config, TYPE, 100000, FLAGS) + w.pack("QQ", 104 + 8 * i, 8)
    data_at = 104 + 16 + len(attrs)
    words = [sum(1 << k for k in features), 0, 0, 0]
    out.write(b"PERFILE2" + w.u64s([104, w.opt.attr_size + 16, 120, len(attrs), data_at, len(body), 0, 0] + words))
    out.write(w.u64s([11, 12]) + attrs + body)
    at, sections, bodies = data_at + len(body) + 16 * len(features), b"", b""
    for _, v in sorted(features.items()):
        sections += w.pack("QQ", at + len(bodies), len(v))
        bodies += v
    out.write(sections + bodies)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-4", dest="zen4", action="store_true")
    p.add_argument("-u", dest="uops", action="store_true")
    p.add_argument("-c", dest="cpuid", default="AuthenticAMD,25,17,1")
    p.add_argument("-n", dest="times", type=int, default=1)
    p.add_argument("out")
    opt = p.parse_args()
    opt.big, opt.attr_size = False, 128
    w = Writer(opt)
    lines = sys.stdin.read().splitlines()
    body = b"".join(make_sample(w, line, 1000 + (i if opt.times == 1 else 0)) for i, line in enumerate(lines))
    with open(opt.out, "wb") as out:
        write_file(w, out, body * opt.times, features(w, opt))


if __name__ == "__main__":
    main()
