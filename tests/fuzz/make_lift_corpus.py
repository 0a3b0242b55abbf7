#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the kept corpus of fuzz_lift: a few instructions of each sort.

usage: make_lift_corpus.py DIR
"""
import os
import sys

CODE = {
    'sum': '31c0 4801c8 48ffc9 75f8 c3',
    'memory': '53 480343 08 8901 b401 5b c3',
    'strings': 'fc f348a5 f3aa f2ae f3a6 ac c3',
    'flags': '4839c1 9c 9d 9f 9e 0f92c1 480f42c3 c3',
    'shifts': '48d3e0 c1f805 66d1c0 d0d8 480fa4d805 0fadd8',
    'divide': '4899 48f7f9 f6f1 66f7f3',
    'bits': '480fa3c8 0fba2805 0fb3c8 0fbcc1 f3480fb8c1 c4e278f7c1 c4e2f3f5c2',
    'atomic': 'f0480107 f0480fb10f f0480fc10f f0480fc70f 4887 07',
    'sse': 'f20f58c1 660fefc0 660f70c01b 0fc2c103 660f3a63c10c 660f38ddc1',
    'avx': 'c5f458c2 c4e27d18 07 c4e2759 00c c4e26d8c07 c4e27d13 c1 c5f877',
    'fused': 'c4e2f199c2 c4e2719cc2 c4e2799dc2 c4e2f5b6c2',
    'x87': 'd9e8 dd07 dec1 d9fa df2f dbe3 dfe0 db2f 9bd93f',
    'branches': 'ffe0 ff17 e800000000 e3fe 0f8500000000 c2 0800',
    'avx512': '62f16c4858cb 62f17c48280f c5f898c9 c3',
    'transaction': 'c7f800000000 0f01d6 0f01d5 c6f800',
    'system': '0fa2 0f31 0f01d0 0f05 cc f4 0f0b',
    'request': '48c1c703 48c1c70d 48c1c73d 48c1c733 4887db c3',
    'prefixes': '664c404426 90 f2f3660f10c1 6667488d0403 f0f00f0b',
    'cut': '48b80102030405',
    'forever': '0f60fcf348a5a2d0310f0f05000000000000ccf40f1a',
}

# How an input is run, and its seed, where a finding hangs on them: followed, repeated very often.
HOW = {'forever': (0x28, 0x0f)}


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for number, (name, code) in enumerate(CODE.items()):
        with open(os.path.join(sys.argv[1], name), 'wb') as f:
            f.write(bytes(HOW.get(name, ((0xfd + 37 * number) & 0xff, number))) +
                    bytes.fromhex(code.replace(' ', '')))


main()
