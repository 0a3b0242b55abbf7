#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the kept corpus of fuzz_vt: small streams that between them use all of formats/vt.md.

usage: make_vt_corpus.py DIR

The streams are put together here byte by byte, with few kinds and fields, so that a changed byte
seldom falls into what does not matter. Some break the page on purpose.
"""
import os
import struct
import subprocess
import sys
import zlib

MAGIC = bytes.fromhex("895654520d0a1a0a")
MARK = bytes.fromhex("f676d362")
NONE, ZLIB, ZSTD = 0, 1, 2


def varint(v):
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def text(s):
    return varint(len(s)) + s.encode()


def zigzag(v):
    return v << 1 if v >= 0 else (-v << 1) - 1


class Stream:
    def __init__(self, kinds, stages=(("p", "1", 7, ["-x"]),), compression=NONE):
        self.compression = compression
        self.out = MAGIC + struct.pack("<HHI", 1, 0, 0)
        self.frame = self.total = self.chain = 0
        self.counts = {}
        payload = varint(len(stages))
        for program, version, seed, args in stages:
            payload += text(program) + text(version) + varint(seed) + varint(len(args))
            payload += b"".join(map(text, args))
        payload += varint(len(kinds))
        for number, name, fields in kinds:
            payload += varint(number) + text(name) + varint(len(fields))
            for field, type_, unit in fields:
                payload += text(field) + type_.encode() + text(unit)
        self.block(0, payload, 0, True)
        self.frame = 1

    def block(self, kind, payload, records, last, **changed):
        stored = payload
        if self.compression == ZLIB:
            stored = zlib.compress(payload, 9)
        elif self.compression == ZSTD:
            zstd = ["zstd", "-qc", "--no-check"]
            stored = subprocess.run(zstd, input=payload, stdout=subprocess.PIPE).stdout
        crc = zlib.crc32(stored)
        head = dict(
            stored=len(stored), raw=len(payload), records=records, kind=kind,
            compression=self.compression, flags=int(last), frame=self.frame, first=self.total,
        )
        head.update(changed)
        rest = struct.pack("<IIIIHBBIQ", crc, *head.values())
        self.out += MARK + struct.pack("<I", zlib.crc32(rest)) + rest + stored
        self.chain = zlib.crc32(struct.pack("<I", crc), self.chain)

    def frame_of(self, order, *blocks):
        """blocks: (kind, records, payload); order: [(kind, count)] or None."""
        n = sum(b[1] for b in blocks)
        if order is not None:
            self.block(1, b"".join(varint(k) + varint(c) for k, c in order), n, False)
        for i, (kind, records, payload) in enumerate(blocks):
            self.block(kind, payload, records, i == len(blocks) - 1)
            self.counts[kind] = self.counts.get(kind, 0) + records
        self.frame += 1
        self.total += n

    def end(self, status=0):
        payload = varint(status) + varint(self.total) + struct.pack("<I", self.chain)
        payload += varint(len(self.counts))
        payload += b"".join(varint(k) + varint(n) for k, n in self.counts.items())
        self.block(2, payload, 0, True)
        return self.out


def constant(v):
    return b"\x00" + varint(v)


def fixed(size, values, predictor=0, start=()):
    code = predictor << 4 | {1: 1, 2: 2, 4: 3, 8: 4}[size]
    rest = b"".join(v.to_bytes(size, "little") for v in values)
    return bytes([code]) + b"".join(map(varint, start)) + rest


def mixed(values, predictor=0, start=()):
    tags, rest = bytearray((len(values) + 3) // 4), b""
    for i, v in enumerate(values):
        tag = 3 if v >> 32 else 2 if v >> 16 else 1 if v >> 8 else 0
        tags[i // 4] |= tag << i % 4 * 2
        rest += v.to_bytes(1 << tag, "little")
    return bytes([predictor << 4 | 5]) + b"".join(map(varint, start)) + bytes(tags) + rest


NUMBERS = [(1024, "N", [(c, c, "hex") for c in "UIF"])]
COUNT = (21, "COUNT", [("offset", "U", "addr"), ("samples", "U", "")])
META = (24, "META", [("key", "S", ""), ("value", "S", ""), ("data", "B", "")])
AUXINFO = (29, "AUXINFO", [("type", "U", ""), ("priv", "A", "hex")])


def mixed_stream(compression):
    s = Stream([COUNT, META, AUXINFO], compression=compression)
    s.frame_of(
        [(21, 2), (24, 1), (29, 3), (21, 1)],
        (21, 3, fixed(1, [2, 4], 1, [1 << 40]) + constant(1)),
        (24, 1, constant(3) + b"key" + constant(0) + constant(2) + b"\x00\xff"),
        (29, 3, constant(9) + fixed(1, [0, 1, 2]) + mixed([1 << 63, 5, 1 << 20])),
    )
    s.frame_of(None, (24, 2, fixed(1, [1, 2]) + b"abb" + constant(1) + b"xy" + constant(0)))
    return s.end(1)


def streams():
    s = Stream(NUMBERS)
    s.frame_of(
        None,
        (1024, 5, fixed(2, [1, 2, 3, 4, 5000]) + fixed(4, [1, 0, 3, 9], 1, [7])
         + fixed(8, [1, 2, 3], 2, [1 << 63, zigzag(-1)])),
    )
    s.frame_of(
        None,
        (1024, 5, mixed([1, 1 << 9, 1 << 17, 1 << 33, 0]) + mixed([300, 1, 2, 1 << 40], 1, [9])
         + mixed([1, 70000, 2], 2, [(1 << 64) - 1, zigzag(5)])),
    )
    yield "numbers", s.end()

    yield "mixed", mixed_stream(NONE)
    yield "mixed-zlib", mixed_stream(ZLIB)
    yield "mixed-zstd", mixed_stream(ZSTD)

    yield "empty", Stream([], stages=()).end()
    yield "interrupted", Stream([COUNT], stages=[("a", "", 0, []), ("b", "", 1 << 63, ["", ""])]).end(2)

    # A kind without fields; one whose field has another type than we know; a foreign field.
    s = Stream([(2000, "NONE", []), (21, "COUNT", [("image", "S", ""), ("x", "A", "id:IMAGE")])])
    s.frame_of([(2000, 3), (21, 1), (2000, 1)], (2000, 4, b""), (21, 1, constant(1) + b"i" + constant(2) + constant(7)))
    yield "foreign", s.end()

    # Cut in the second frame; a block missing from its frame; a frame missing.
    whole = mixed_stream(NONE)
    yield "cut", whole[:-150]
    s = Stream([COUNT, META])
    s.block(1, varint(21) + varint(2) + varint(24) + varint(1), 3, False)
    s.block(21, constant(1) + constant(2), 2, False)
    s.frame, s.total = 2, 9
    s.frame_of(None, (21, 1, constant(3) + constant(4)))
    yield "missing", s.end()

    # Claims that are not so: counts, lengths, sizes, an order that does not fit.
    big = 1 << 62
    s = Stream([COUNT, META, AUXINFO])
    s.block(21, constant(1) + fixed(1, [1]), 999, True)
    s.block(24, constant(big) + constant(big) + constant(big), 2, True)
    s.block(29, constant(0) + fixed(8, [big, big, big, big]) + constant(0), 4, True)
    s.block(29, constant(0) + constant(1 << 10) + constant(0), 1, True)
    s.block(29, constant(0) + constant(1 << 12) + fixed(1, [0]), 1 << 12, True)
    yield "claims", s.end()
    s = Stream([COUNT, META])
    s.frame_of([(24, 1), (21, 7)], (21, 1, constant(1) + constant(1)), (24, 1, 3 * constant(0)))
    s.frame_of([(21, 0), (21, 0)], (21, 0, constant(1) + constant(1)), (24, 0, 3 * constant(0)))
    yield "orders", s.end()
    s = Stream([COUNT], compression=ZLIB)
    s.block(21, bytes(1 << 16), 2, True)
    s.block(21, constant(1) * 2, 2, True, raw=5000)
    s.block(21, constant(1) * 2, 2, True, stored=39 << 20)
    yield "sizes", s.end()


def main(directory):
    os.makedirs(directory, exist_ok=True)
    for name, data in streams():
        with open(os.path.join(directory, name + ".vt"), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
