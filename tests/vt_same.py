# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: vt_same.py STREAM STREAM: whether two streams differ in nothing but their provenance.

Compares the blocks of both byte for byte, but the header's (which has the chain of command lines) and
END's (whose checksum covers the header).
"""
import sys

import vt_reader


class Blocks(vt_reader.Stream):
    def __init__(self, source):
        self.stored = []
        super().__init__(source, lambda kind, row: None, self.keep)

    def keep(self, block):
        if block.kind not in (vt_reader.HEADER, vt_reader.END):
            self.stored.append((block.kind, block.stored))

    def frames(self):
        """The blocks of each frame, and at last the status that END tells."""
        self.start()
        self.stored = []
        while True:
            blocks = self.read_frame()
            if blocks[0].kind == vt_reader.END:
                yield blocks[0].payload().varint()
                return
            self.total += sum(b.records for b in blocks if b.kind != vt_reader.ORDER)
            yield self.stored
            self.stored = []


def main(argv):
    if len(argv) != 3:
        sys.exit(__doc__.split(":")[0])
    with open(argv[1], "rb") as a, open(argv[2], "rb") as b:
        pairs = zip(Blocks(a).frames(), Blocks(b).frames())
        for number, (one, other) in enumerate(pairs):
            if one != other:
                sys.exit("%s and %s differ in frame %d" % (argv[1], argv[2], number + 1))


main(sys.argv)
