#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the kept corpus of fuzz_pt_packet: traces of Intel PT in the form that it reads.

usage: make_pt_corpus.py DIR
"""
import os
import struct
import sys

PSB = b"\x02\x82" * 8
END = b"\x02\x23"


def ext(second, payload=b""):
    return bytes([2, second]) + payload


def tsc(v):
    return b"\x19" + v.to_bytes(7, "little")


def tma(ctc, fast):
    return ext(0x73, struct.pack("<HBH", ctc, 0, fast))


def cyc(v):
    out = [(v & 31) << 3 | 3 | (4 if v > 31 else 0)]
    v >>= 5
    while v:
        out.append((v & 127) << 1 | (v > 127))
        v >>= 7
    return bytes(out)


def mtc(v):
    return bytes([0x59, v & 255])


def ip(opcode, ipc, v=0):
    size = [0, 2, 4, 6, 6, 0, 8, 0][ipc]
    return bytes([ipc << 5 | opcode]) + v.to_bytes(8, "little")[:size]


def every():
    out = PSB + tsc(10**9) + tma(0x1234, 77) + ext(0x03, b"\x20\0") + b"\x99\x01" + END
    for opcode in (0x0d, 0x11, 0x01, 0x1d):
        for ipc in (0, 1, 2, 3, 4, 6):
            out += ip(opcode, ipc, 0x7fff12345678)
    out += b"\x04\x06\xaa\xfe" + ext(0xa3, b"\x01\x02\x03\x04\x05\x80")
    out += b"\x99\x02\x99\x20\x99\x03" + ext(0x43, bytes(range(6))) + ext(0xc8, bytes(range(5)))
    out += mtc(0x48) + cyc(3) + cyc(1000) + cyc(10**9) + ext(0xf3) + ext(0x83)
    out += ext(0xc3, b"\x88" + bytes(8)) + ext(0x12, bytes(4)) + ext(0xb2, bytes(8))
    out += ext(0x62) + ext(0xe2) + ext(0xc2, bytes(8)) + ext(0x22, b"\x08\x63") + ext(0xa2, bytes(5))
    return out + b"\0\0"


def newer():
    out = PSB + END + ext(0x63, b"\x84") + b"\x0c\1\2\3\4" + mtc(1) + b"\xfc\1\2\3\4" + ext(0x33)
    out += ext(0x63, b"\x04") + b"\x14" + bytes(8) + ext(0xb3) + ext(0x13, b"\x81\x0e")
    return out + ext(0x53, bytes(9)) + b"\xd9\x80\x03" + b"\xd9\x40\x03\x01\x02" + b"\x06"


def timed():
    out = PSB + tsc(10**12) + tma(0xfff4, 50) + ext(0x03, b"\x25\0") + END + ip(0x11, 3, 0x400000)
    for i in range(40):
        out += cyc(37 * i) + b"\x0e" + mtc(0xff + i + (i > 20)) + b"\x2d\x10\x20"
    return out + ip(0x01, 0) + ext(0xf3) + tsc(10**12 + 10**6) + tma(0, 0) + mtc(1) + cyc(99)


def psbs():
    return b"\x82" + PSB + b"\x02\x82\x02" + PSB[:15] + PSB + END + b"\x82" * 9 + PSB * 2 + b"\x02"


def damaged():
    t = every()
    return t[:60] + b"\x05\xc9" + t[60:] + PSB + t[40:99] + b"\x02\x82\x05" + t[:31] + b"\x07" + b"\x01" * 12


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    head = struct.pack("<BBHHH", 3, 37, 308, 2, 6)
    slow = struct.pack("<BBHHH", 10, 0, 3, 7, 40)
    for name, data in {"every": head + every(), "newer": head + newer(), "timed": head + timed(),
                       "slow": slow + timed(), "psbs": head + psbs(), "damaged": slow + damaged()}.items():
        with open(os.path.join(sys.argv[1], name), "wb") as f:
            f.write(data)


main()
