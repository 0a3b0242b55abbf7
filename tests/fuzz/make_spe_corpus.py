#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the kept corpus of fuzz_spe: AUX areas of Arm SPE, each after a byte of what is around.

usage: PYTHONPATH=tests make_spe_corpus.py DIR
"""
import os
import sys

import mkspe

RECORDS = {
    'memory': 'pc=400100 ctx1=1 ev2=116 mem=0 va=7f0000001000 pa=1230/0 xlat=3 iss=5 tot=20 src=11 ts=10',
    'branch': 'pc=ffff800008001000/1 ctx2=2 br=3 tgt=ffff800008002000/1 pbt=400 ev1=c2 tot=4095 ts=70',
    'other': 'other=1 ev4=20042 pc=400 tot=1 end other=8 pc=404 ev8=2 end',
    'long': 'xpc=400100 xtot=3 cnt9=1 mem=6 align=16 src2=300 pad=5 ts=30 align=8 pc=40 mem=1 end',
    'damaged': 'pc=400100 mem=0 ts=1 hex=ff pc=404 pc=408 br=0 ts=2 pc=40 other=0 ts=1 pc=400 tot=9',
}


def main():
    for i, (name, text) in enumerate(RECORDS.items()):
        for how in (3 + 4 * (i % 2), 11, 2):
            area = bytearray()
            for word in text.split() * 2:
                area += mkspe.packet(word, len(area))
            with open(os.path.join(sys.argv[1], '%s-%d' % (name, how)), 'wb') as f:
                f.write(bytes([how]) + area)


main()
