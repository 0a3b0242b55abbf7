#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A reader of vt streams written from formats/vt.md alone; it shares nothing with lib/stream.

usage: vt_reader.py [--dump | --kinds | --stages | --end | --blocks] [FILE]

Prints one line for each record, in the stream's order, tab-separated: the name of its kind, then
field=value for each declared field. U and I are decimal, F is its 64 bits as 16 hexadecimal digits,
B is hexadecimal digits, A is decimals joined by commas; in S and in all names, line feed, tab and
backslash are \\n, \\t and \\\\, other control characters and bytes that are not UTF-8 are \\xHH.
--dump    prints the records as vtrace-dump(1) describes: fields that are 0 or empty are left out
          if their values have no names, what has one of the units addr, hex and flags is hexadecimal, values of an enumeration
          are named, F is a decimal fraction
--kinds   prints the declared kinds instead: NAME, number, then "field TYPE [unit]" for each field
--stages  prints the provenance chain: program, version, seed, arguments
--end     prints the status of END, and the program that failed and what it said if one did
--blocks  prints offset, kind, compression, stored size, raw size and records of each block

Any breach of the page ends it with a message and status 1; damage is not skipped over.
zstd blocks are given to the program zstd.
"""
import struct
import subprocess
import sys
import zlib

MAGIC = bytes.fromhex("89565452 0d0a1a0a")
MARK = bytes.fromhex("f676d362")
HEADER, ORDER, END = 0, 1, 2
MAX_PAYLOAD = 40 << 20
MAX_HEADER = 1 << 20
MAX_RECORDS = 65536
MAX_DECODED = 32 << 20
MASK = (1 << 64) - 1


class Damaged(Exception):
    pass


def check(good, what):
    if not good:
        raise Damaged(what)


def unzigzag(z):
    return (z >> 1) ^ -(z & 1)


class Cursor:
    """Takes values off the front of a payload."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        check(size <= self.left(), "payload ends early")
        self.at += size
        return self.data[self.at - size : self.at]

    def u8(self):
        return self.take(1)[0]

    def u32(self):
        return int.from_bytes(self.take(4), "little")

    def varint(self):
        value = 0
        for i in range(10):
            byte = self.u8()
            check(i < 9 or byte <= 1, "varint exceeds 64 bits")
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                return value
        raise Damaged("varint exceeds 64 bits")

    def count(self, limit, what):
        n = self.varint()
        check(n <= limit, "too many " + what)
        return n

    def text(self):
        data = self.take(self.varint())
        check(0 not in data, "zero byte in a text")
        return data

    def done(self):
        check(self.left() == 0, "payload has bytes left over")


class Block:
    def __init__(self, source, offset):
        self.offset = offset
        head = source.read(40)
        check(len(head) == 40, "cut in a block header (no END)" if head else "ends without END")
        check(head[:4] == MARK, "no mark")
        (
            header_crc,
            payload_crc,
            stored,
            self.raw_size,
            self.records,
            self.kind,
            self.compression,
            flags,
            self.frame,
            self.first,
        ) = struct.unpack("<5I H B B I Q", head[4:])
        check(zlib.crc32(head[8:]) == header_crc, "bad header CRC")
        check(stored <= MAX_PAYLOAD and self.raw_size <= MAX_PAYLOAD, "block too large")
        check(flags <= 1, "unknown flags")
        self.last = flags == 1
        self.payload_crc = payload_crc
        self.stored = source.read(stored)
        check(len(self.stored) == stored, "cut in a payload")
        check(zlib.crc32(self.stored) == payload_crc, "bad payload CRC")

    def payload(self):
        if self.compression == 0:
            raw = self.stored
        elif self.compression == 1:
            d = zlib.decompressobj()
            raw = d.decompress(self.stored, self.raw_size + 1)
            check(d.eof and not d.unused_data, "not one zlib stream")
        elif self.compression == 2:
            zstd = subprocess.run(["zstd", "-dcq"], input=self.stored, stdout=subprocess.PIPE)
            check(zstd.returncode == 0, "zstd refuses it")
            raw = zstd.stdout
        else:
            raise Damaged("unknown compression")
        check(len(raw) == self.raw_size, "raw size is wrong")
        return Cursor(raw)


class Field:
    def __init__(self, c):
        name = c.text()
        self.type = chr(c.u8())
        unit = c.text()
        check(1 <= len(name) <= 64, "length of a field's name")
        check(self.type in "UIFSBA", "type of a field")
        check(len(unit) <= 64, "length of a unit")
        self.name, self.unit = escape(name), escape(unit)


class Kind:
    def __init__(self, c):
        self.number = c.varint()
        name = c.text()
        self.name = escape(name)
        self.fields = [Field(c) for _ in range(c.count(128, "fields"))]
        check(16 <= self.number <= 65000, "number of a kind")
        check(1 <= len(name) <= 64, "length of a kind's name")
        names = {f.name for f in self.fields}
        check(len(names) == len(self.fields), "two fields of one name")


class Stage:
    def __init__(self, c):
        self.program = c.text()
        self.version = c.text()
        self.seed = c.varint()
        self.args = [c.text() for _ in range(c.count(4096, "arguments"))]


def read_header(c):
    check(len(c.data) <= MAX_HEADER, "header too large")
    stages = [Stage(c) for _ in range(c.count(256, "stages"))]
    kinds = [Kind(c) for _ in range(c.count(256, "kinds"))]
    c.done()
    check(len({k.number for k in kinds}) == len(kinds), "two kinds of one number")
    check(len({k.name for k in kinds}) == len(kinds), "two kinds of one name")
    return stages, {k.number: k for k in kinds}


def residues(c, m, width):
    if 1 <= width <= 4:
        size = 1 << (width - 1)
        data = c.take(m * size)
        return [v for (v,) in struct.iter_unpack("<" + " BHIQ"[width], data)]
    check(width == 5, "unknown width")
    tags = c.take((m + 3) // 4)
    out = []
    for i in range(m):
        size = 1 << (tags[i // 4] >> 2 * (i % 4) & 3)
        out.append(int.from_bytes(c.take(size), "little"))
    return out


def numbers(c, n):
    code = c.u8()
    predictor, width = code >> 4, code & 15
    if width == 0:
        check(predictor == 0, "constant with a predictor")
        return [c.varint()] * n
    check(predictor <= 2, "unknown predictor")
    check(n > 0 and n >= predictor, "fewer values than start values")
    if predictor == 0:
        return residues(c, n, width)
    values = [c.varint()]
    if predictor == 1:
        for z in residues(c, n - 1, width):
            values.append((values[-1] + unzigzag(z)) & MASK)
        return values
    step = unzigzag(c.varint())
    values.append((values[0] + step) & MASK)
    for z in residues(c, n - 2, width):
        step += unzigzag(z)
        values.append((values[-1] + step) & MASK)
    return values


def cut(items, lengths):
    out, at = [], 0
    for n in lengths:
        out.append(items[at : at + n])
        at += n
    return out


def column(c, kind_type, n):
    values = numbers(c, n)
    if kind_type in "SBA":
        total = sum(values)
        check(total <= MAX_DECODED, "column too large")
        return cut(numbers(c, total) if kind_type == "A" else c.take(total), values)
    if kind_type == "I":
        return [v - (1 << 64) if v >> 63 else v for v in values]
    return values


def escape(data):
    out = []
    for ch in data.decode("utf-8", "surrogateescape"):
        code = ord(ch)
        if 0xDC80 <= code <= 0xDCFF:
            out.append("\\x%02x" % (code - 0xDC00))
        elif ch in "\n\t\\":
            out.append({"\n": "\\n", "\t": "\\t", "\\": "\\\\"}[ch])
        elif code < 0x20 or 0x7F <= code < 0xA0:
            out.append("".join("\\x%02x" % b for b in ch.encode()))
        else:
            out.append(ch)
    return "".join(out)


def plain(kind_type, value):
    if kind_type == "S":
        return escape(value)
    if kind_type == "B":
        return value.hex()
    if kind_type == "A":
        return ",".join(map(str, value))
    if kind_type == "F":
        return "%016x" % value
    return str(value)


# The bits of "flags:event".
EVENTS = ["retired", "aborted", "icache_miss", "dcache_miss", "l2_miss", "l3_miss", "itlb_miss", "dtlb_miss", "branch", "taken", "mispredicted", "load", "store", "locked", "prefetch", "microcode", "misaligned", "remote", "forwarded", "trap"]

ENUMS = {
    "enum:policy": ["unknown", "interrupt", "precise", "dispatch", "model", "exact"],
    "enum:image": ["file", "kernel", "module", "vdso", "anon", "bpf"],
    "enum:thread": ["comm", "exec", "fork", "exit"],
    "enum:blockend": ["fall", "branch", "jump", "jump-indirect", "call", "call-indirect", "return", "syscall", "other"],
    "enum:what": ["unknown", "load", "store", "load-address", "store-address", "result", "arg", "state", "guard", "target", "return", "ptwrite", "operand", "latency", "module"],
    "enum:algo": ["exact", "gm", "tnv", "lru", "convergent", "random", "space-saving"],
    "enum:state": ["start", "window", "signal", "sigreturn"],
    "enum:trace": ["enabled", "disabled", "async-disabled", "async-branch", "paging", "vmcs", "exec-mode", "tsx",
                   "stop", "exstop", "mwait", "pwre", "pwrx", "cbr", "mnt"],
    "enum:conflict": ["unknown", "forward", "alias-4k", "order", "size", "synonym"],
    "enum:confidence": ["none", "low", "medium", "high", "exact"],
    "enum:method": ["unknown", "naive", "paper", "flow", "branches", "counted", "model",
                    "followed"],
    "enum:path": ["unknown", "counts", "history", "history+pairs", "likely", "exact"],
    "enum:heap": ["malloc", "calloc", "realloc", "aligned", "free", "new", "delete", "mmap", "munmap", "mremap"],
    "enum:object": ["global", "heap", "stack", "image", "mapped", "free", "unknown", "other"],
    "enum:stall": ["unexplained", "gain", "icache", "itlb", "dcache", "dtlb", "write-buffer", "forward", "mispredict", "sync", "multiplier", "divider", "unit", "dependency", "queue", "other", "slotting", "operand-a", "operand-b", "operand-c", "unit-static"],
    "enum:why": ["none", "anywhere", "steps", "displaced", "both-ways", "indirect", "returns", "store", "operands", "drains", "kernel", "called-code", "nobody", "absent", "small", "minor", "data-source", "denormal"],
    "enum:source": ["unknown", "l1", "fill-buffer", "l2", "l3", "l4", "peer-near", "peer-far", "cache", "dram", "dram-far", "pmem", "extended", "io", "uncached", "forward"],
    "enum:stat": EVENTS + ["?"] * (32 - len(EVENTS)) + ["lat_fetch", "lat_map", "lat_ready", "lat_issue", "lat_exec", "lat_retire", "lat_load", "lat_tlb", "lat_total", "lat_dispatch"] + ["?"] * 6 + ["in_progress", "useful", "wasted"],
    "enum:walk_stop": ["not-walked", "length", "branch", "target", "syscall", "insn", "code", "trap", "full"],
    "enum:trap": ["none", "wrong-path", "order", "tlb", "fault", "interrupt", "other"],
}

PM_FIELDS = 25  # of SAMPLE, which have a bit in `pm_has`

# The names of bits; those of "flags:pm" are the fields of SAMPLE from `events` on.
BITS = {
    "flags:event": EVENTS,
}


# Of these only the sizes are dumped.
LARGE = {("EXEC", "ids"), ("EXEC", "data"), ("MEMORY", "data")}


def bit_names(kind, field, value):
    names = BITS.get(field.unit)
    if not names:
        names = [f.name for f in kind.fields]
        names = names[names.index("events") :][:PM_FIELDS]
    bits = [b for b in range(64) if value >> b & 1]
    return "|".join(names[b] if b < len(names) else str(b) for b in bits)


def known_bits(kind, row):
    """Of a sample, the fields of one instruction by name, and whether each is known."""
    names = [f.name for f in kind.fields]
    if kind.name != "SAMPLE" or "pm_has" not in names:
        return {}
    first, has = names.index("events"), row[names.index("pm_has")]
    return {name: has >> i & 1 for i, name in enumerate(names[first : first + PM_FIELDS])}


def as_dumped(kind, field, value, known):
    """The same as vtrace-dump(1) has it; None for what it leaves out."""
    names = () if field.unit == "enum:walk_stop" and not value else ENUMS.get(field.unit, ())
    if not known.get(field.name, value or names):
        return None
    if field.unit.startswith("flags:"):
        return bit_names(kind, field, value)
    if (kind.name, field.name) in LARGE:
        return "%d bytes" % len(value)
    if field.type == "U" and value < len(names):
        return names[value]
    if field.type == "F":
        return "%.17g" % struct.unpack("<d", struct.pack("<Q", value))
    if field.type in "UA" and field.unit in ("addr", "hex", "flags"):
        return ",".join(map(hex, value)) if field.type == "A" else hex(value)
    return plain(field.type, value)


def record_rows(kind, block):
    """Of each record: its kind and the list of its values."""
    c = block.payload()
    columns = [column(c, f.type, block.records) for f in kind.fields]
    c.done()
    for i in range(block.records):
        yield kind, [col[i] for col in columns]


def as_line(kind, row, dumped):
    cells = [kind.name]
    known = known_bits(kind, row)
    for f, v in zip(kind.fields, row):
        value = as_dumped(kind, f, v, known) if dumped else plain(f.type, v)
        if value is not None:
            cells.append(f.name + "=" + value)
    return "\t".join(cells)


def frame_rows(blocks, kinds):
    """The records of one frame in their order, and how many of each kind."""
    order = blocks.pop(0) if blocks[0].kind == ORDER else None
    check(len(blocks) == 1 or order, "several blocks without an order")
    rows, counts = {}, {}
    for b in blocks:
        check(b.kind in kinds, "a kind that is not declared")
        check(b.kind not in rows, "two blocks of one kind")
        rows[b.kind] = record_rows(kinds[b.kind], b)
        counts[b.kind] = b.records
    total = sum(counts.values())
    check(total <= MAX_RECORDS, "too many records in a frame")
    if not order:
        return rows[blocks[0].kind], counts
    check(order.records == total, "the order counts other records than the frame holds")
    return ordered(order.payload(), rows, dict(counts)), counts


def ordered(c, rows, left):
    while c.left():
        kind, n = c.varint(), c.varint()
        check(n > 0, "the order takes no record")
        check(left.get(kind, -1) >= n, "the order takes more records than there are")
        left[kind] -= n
        for _ in range(n):
            yield next(rows[kind])
    check(not any(left.values()), "the order leaves records over")
    for it in rows.values():
        check(next(it, None) is None, "the order leaves records over")


class Stream:
    """Reads a whole stream: `emit` gets each record's kind and values, `seen` each block."""

    def __init__(self, source, emit, seen):
        self.source, self.emit, self.seen = source, emit, seen
        self.offset = 16
        self.frame = 0
        self.total = 0
        self.counts = {}
        self.checksum = 0

    def block(self):
        b = Block(self.source, self.offset)
        self.seen(b)
        check(b.frame == self.frame & 0xFFFFFFFF, "frame number is not the next")
        check(b.first == self.total, "first is not the number of records before")
        if b.kind != END:
            self.checksum = zlib.crc32(struct.pack("<I", b.payload_crc), self.checksum)
        self.offset += 40 + len(b.stored)
        return b

    def read_frame(self):
        blocks = [self.block()]
        while not blocks[-1].last:
            blocks.append(self.block())
        self.frame += 1
        return blocks

    def start(self):
        preamble = self.source.read(16)
        check(preamble[:8] == MAGIC and len(preamble) == 16, "not a vt stream")
        check(struct.unpack_from("<H", preamble, 8) == (1,), "another major version")
        blocks = self.read_frame()
        check(len(blocks) == 1 and blocks[0].kind == HEADER, "no header")
        self.stages, self.kinds = read_header(blocks[0].payload())

    def records(self):
        while True:
            blocks = self.read_frame()
            if blocks[0].kind == END:
                break
            check(HEADER not in [b.kind for b in blocks], "a second header")
            rows, counts = frame_rows(blocks, self.kinds)
            for kind, row in rows:
                self.emit(kind, row)
            for kind, n in counts.items():
                self.counts[kind] = self.counts.get(kind, 0) + n
            self.total += sum(counts.values())
        check(len(blocks) == 1, "END shares its frame")
        self.end(blocks[0].payload())
        check(not self.source.read(1), "bytes after END")

    def end(self, c):
        self.status = c.varint()
        check(self.status <= 2, "unknown status")
        check(c.varint() == self.total, "END tells another number of records")
        check(c.u32() == self.checksum, "END tells another checksum")
        counts = {}
        for _ in range(c.count(256, "kinds")):
            kind = c.varint()
            counts[kind] = c.varint()
        check(counts == self.counts, "END tells other counts of kinds")
        self.failure = None
        if c.left():
            check(self.status == 2, "a failure of one that was not stopped")
            self.failure = [c.text(), c.text()]
            check(1 <= len(self.failure[0]) <= 64, "length of a program's name")
            check(len(self.failure[1]) <= 511, "length of what it said")
        c.done()


def show_kinds(stream):
    for k in stream.kinds.values():
        cells = [k.name, str(k.number)]
        for f in k.fields:
            cells.append(f.name + " " + f.type + (" [" + f.unit + "]" if f.unit else ""))
        yield "\t".join(cells)


def show_stages(stream):
    for s in stream.stages:
        cells = [escape(s.program), escape(s.version), str(s.seed)]
        yield "\t".join(cells + [escape(a) for a in s.args])


MODES = ("--records", "--dump", "--kinds", "--stages", "--end", "--blocks")


def main(argv):
    what = argv.pop(1) if len(argv) > 1 and argv[1].startswith("--") else "--records"
    if len(argv) > 2 or what not in MODES:
        sys.exit(__doc__)
    sys.stdout.reconfigure(encoding="utf-8")
    line = lambda kind, row: print(as_line(kind, row, what == "--dump"))
    nothing = lambda *_: None
    block = lambda b: print(
        b.offset, b.kind, b.compression, len(b.stored), b.raw_size, b.records, sep="\t"
    )
    name = argv[1] if len(argv) == 2 else "standard input"
    source = open(name, "rb") if len(argv) == 2 else sys.stdin.buffer
    stream = Stream(
        source,
        line if what in ("--records", "--dump") else nothing,
        block if what == "--blocks" else nothing,
    )
    try:
        stream.start()
        if what in ("--kinds", "--stages"):
            for line in (show_kinds if what == "--kinds" else show_stages)(stream):
                print(line)
        stream.records()
        if what == "--end":
            print(stream.status, *map(escape, stream.failure or []), sep="\t")
    except (Damaged, zlib.error) as e:
        sys.stdout.flush()
        sys.exit("vt_reader.py: %s: before %#x: %s" % (name, stream.offset, e))


if __name__ == "__main__":
    main(sys.argv)
