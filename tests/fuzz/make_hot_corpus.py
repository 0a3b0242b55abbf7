#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the kept corpus of fuzz_hot: sequences of HOT records in the form that fuzz_hot.c reads.

usage: make_hot_corpus.py DIR
"""
import os
import struct
import sys

FIELDS = ("image offset what reg lane size caller_image caller algo capacity steady factor level "
          "total profiled zero same stride first last values counts errors").split()


def number(v):
    if v < 200:
        return bytes([v + 9])
    size = (v.bit_length() + 7) // 8
    return bytes([size]) + v.to_bytes(size, "big")


def record(**fields):
    out = b""
    for name in FIELDS:
        v = fields.get(name, [] if name in ("values", "counts", "errors") else 0)
        if name == "factor":
            v = struct.unpack("<Q", struct.pack("<d", v))[0]
        if isinstance(v, list):
            out += bytes([len(v)]) + b"".join(number(x) for x in v)
        else:
            out += number(v)
    return out


def lists(algo, capacity, **more):
    """Five records, so that the streams of the target have lists to join."""
    out = b""
    for i in range(5):
        counts = [900 >> k for k in range(min(capacity, 4))]
        out += record(image=1, offset=0x1000 + i // 3, what=1, size=8, algo=algo,
                      capacity=capacity, steady=3, total=5000, profiled=4000, zero=10, same=20,
                      stride=30, first=7, last=7, values=[k * (i + 1) for k in range(len(counts))],
                      counts=counts, **more)
    return out


CORPUS = {
    "exact": b"".join(record(image=i % 2, offset=5, total=9 + i, profiled=9, values=[i, 8],
                             counts=[5, 4]) for i in range(6)),
    "gm": lists(1, 4, factor=4 / 3, level=2) + lists(1, 4, factor=4 / 3, level=5),
    "tnv": lists(2, 6),
    "space-saving": lists(6, 4, errors=[800, 0, 100, 3]),
    "callers": lists(2, 6, caller=0x99, caller_image=1) + lists(2, 6, caller=0x99, caller_image=2),
    "mismatch": lists(2, 6) + lists(3, 6),
    "limits": lists(1, 4, factor=1.001, level=3) + record(total=1 << 62, profiled=1 << 62,
                                                            values=[1], counts=[1 << 62]),
}

os.makedirs(sys.argv[1], exist_ok=True)
for name, data in CORPUS.items():
    with open(os.path.join(sys.argv[1], name), "wb") as f:
        f.write(data)
