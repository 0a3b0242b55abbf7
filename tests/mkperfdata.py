#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: mkperfdata.py [-b] [-p] [-z] [-u] [-a SIZE] [-n SAMPLES] [-c CPUS] [-s] [-d FILE] [-x TYPE] OUT
#
# Writes a small perf.data with every record type, sample field and feature section that there is,
# made up from nothing but linux/perf_event.h and the kernel's perf.data-file-format.txt.
#
#	-b	big-endian		-p	pipe mode
#	-z	compressed records (uses the zstd program)
#	-u	unfinished: data size 0, no features
#	-a SIZE	size of the attributes (default 136)
#	-x TYPE	what the AUX area holds, as in AUXTRACE_INFO (default 1, Intel PT)
#	-s	simple: plain samples of one event only, SAMPLES on CPUS processors
#	-d FILE	described: one process, of which FILE says in JSON
#			"maps": [[START, LENGTH, OFFSET, PATH], ...], what may be executed, or
#				{"start": ..., "length": ..., "path": ..., and any of "offset",
#				"prot", "flags", "misc", "maj", "min", "ino", "generation",
#				"pid", "time": before the sample of that time}
#			"forks": [{"pid": ..., "ppid": ..., "time": ...}, ...]
#			"buildids": {PATH: "hexadecimal"}, "hostname": ...,
#			"clock": [CLOCKID, TIME OF DAY in ns, TIME in ns]
#			"precise": what precise_ip was asked for (default 0)
#			"samples": [{"ip": ..., and any of "weight", "weight2", "weight3",
#				"data_src", "addr", "regs": [24 values by perf's numbers],
#				"stack": "hexadecimal", "misc", "pid": ..., "raw": "hexadecimal",
#				"values": {"lines": [[ADDRESS, "hexadecimal"], ...], of 64 bytes, or
#				[ADDRESS, "hexadecimal", MASK of the bytes], and any of
#				"walked", "stop", "fs", "gs", "mxcsr", "state": [[8 *
#				REGISTER + PART, BYTES], ...], "nlines" and "nstate": another
#				number}, ...}, ...]: all samples the same ones
#			"type", "config", "read_format", "flags": those of the event,
#			"lost": [[TYPE, [WORD, ...], TIME, TID, MISC], ...]: records of losses
#		addresses are of user code; times are 1000, 1001, ... if samples have no "time"
#	-t	prints what the samples hold, as `vtrace dump` would: time, pid, tid, ip, and for
#		full samples every field, one line for each sample, in the order of their times

import argparse
import json
import struct
import subprocess
import sys

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK, REGS_USER, \
    STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP, \
    DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT = (1 << i for i in range(25))

FULL = (1 << 25) - 1 - WEIGHT_STRUCT - READ
STRUCT = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | ADDR | ID | STREAM_ID | WEIGHT_STRUCT
GROUP = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | ADDR | ID | STREAM_ID | READ
BRANCH_TYPE = 1 << 3 | 1 << 17 | 1 << 19  # any, hw index, counters
FLAGS = {'disabled': 0, 'inherit': 1, 'mmap': 8, 'comm': 9, 'freq': 10, 'task': 13,
         'sample_id_all': 18, 'exclude_kernel': 5, 'exclude_hv': 6, 'exclude_guest': 20, 'mmap2': 23}
BRANCH_FIELDS = (('mispred', 1), ('predicted', 1), ('in_tx', 1), ('abort', 1), ('cycles', 16),
                 ('type', 4), ('spec', 2), ('new_type', 4), ('priv', 3))


class Writer:
    def __init__(self, opt):
        self.opt = opt
        self.e = '>' if opt.big else '<'

    def pack(self, fmt, *values):
        return struct.pack(self.e + fmt, *values)

    def u64s(self, values):
        return self.pack('%dQ' % len(values), *values)

    def bits(self, fields, width=64):
        """fields: (value, bits) in order of declaration; big-endian C gives them out from the top."""
        word, at = 0, 0
        for value, n in fields:
            shift = width - at - n if self.opt.big else at
            word |= value << shift
            at += n
        return word

    def string(self, s):
        b = s.encode() + b'\0'
        b += bytes(-len(b) % 64)
        return self.pack('I', len(b)) + b

    def attr(self, type, config, sample_type, period, flags, precise=0, read_format=4,
             branch=0, uregs=0, stack=0, iregs=0):
        fields, at = [], 0
        for bit in range(38):
            if bit == 16:
                continue
            if bit == 15:
                fields.append((precise, 2))
                continue
            fields.append((int(any(FLAGS[f] == bit for f in flags)), 1))
        size = self.opt.attr_size
        a = self.pack('IIQQQQQ', type, size, config, period, sample_type, read_format,
                      self.bits(fields))
        a += self.pack('IIQQQQIiQIHHIIQ', 0, 0, 0, 0, branch, uregs, stack, 0, iregs, 0, 0, 0,
                       0, 0, 0)
        return (a + bytes(max(0, size - len(a))))[:size]

    def record(self, type, payload, misc=0):
        payload += bytes(-len(payload) % 8)
        return self.pack('IHH', type, misc, 8 + len(payload)) + payload

    def text(self, s):
        b = s.encode() + b'\0'
        return b + bytes(-len(b) % 8)

    def trailer(self, time, pid=100, tid=101, cpu=1, id=11):
        return self.pack('IIQQQIIQ', pid, tid, time, id, 7, cpu, 0, id)

    # ---- samples

    def sample(self, d):
        t = d['sample_type']
        b = b''
        if t & IDENTIFIER:
            b += self.pack('Q', d['id'])
        b += self.pack('QIIQ', d['ip'], d['pid'], d['tid'], d['time'])
        if t & ADDR:
            b += self.pack('Q', d['addr'])
        if t & ID:
            b += self.pack('Q', d['id'])
        if t & STREAM_ID:
            b += self.pack('Q', d['stream_id'])
        if t & CPU:
            b += self.pack('II', d['cpu'], 0)
        b += self.pack('Q', d['period'])
        if t & READ:
            b += self.pack('QQQ', len(d['read']), 1000, 900)
            for value, id in d['read']:
                b += self.pack('QQ', value, id)
        if t & CALLCHAIN:
            b += self.u64s([len(d['callchain'])] + d['callchain'])
        if t & RAW:
            b += self.pack('I', len(d['raw'])) + d['raw']
        if t & BRANCH_STACK:
            b += self.pack('QQ', len(d['branches']), d['br_hw_idx'])
            for frm, to, flags in d['branches']:
                fields = [(flags.get(name, 0), n) for name, n in BRANCH_FIELDS]
                b += self.pack('QQQ', frm, to, self.bits(fields))
            b += self.u64s(d['br_counters'])
        if t & REGS_USER:
            b += self.u64s([d['uregs_abi']] + d['uregs'])
        if t & STACK_USER:
            b += self.pack('Q', len(d['stack']) + 16) + d['stack'] + b'\xee' * 16
            b += self.pack('Q', len(d['stack']))
        if t & WEIGHT:
            b += self.pack('Q', d['weight'])
        if t & WEIGHT_STRUCT:
            b += self.pack('Q', d['weight3'] << 48 | d['weight2'] << 32 | d['weight'])
        for bit, name in ((DATA_SRC, 'data_src'), (TRANSACTION, 'transaction')):
            if t & bit:
                b += self.pack('Q', d[name])
        if t & REGS_INTR:
            b += self.u64s([d['iregs_abi']] + d['iregs'])
        for bit, name in ((PHYS_ADDR, 'phys_addr'), (CGROUP, 'cgroup'),
                          (DATA_PAGE_SIZE, 'data_page_size'), (CODE_PAGE_SIZE, 'code_page_size')):
            if t & bit:
                b += self.pack('Q', d[name])
        if t & AUX:
            b += self.pack('Q', len(d['aux'])) + d['aux']
        return self.record(9, b, misc=d['misc'])


def make_samples(n):
    out = []
    for i in range(n):
        kind = i % 3
        d = {'time': 5000 + 10 * i, 'ip': 0x401000 + 16 * i, 'pid': 100, 'tid': 101 + i % 2,
             'cpu': i % 4, 'period': 1000 + i, 'addr': 0x7fff0000 + i, 'stream_id': 7,
             'misc': 0x4002 if i % 4 < 2 else 2}
        d['sample_type'] = (FULL, STRUCT, GROUP)[kind]
        d['event'] = kind
        d['id'] = 11 + kind
        if kind == 0:
            d.update(callchain=[0xffffffffffffff80, 0xffffffff81000000 + i, 0xfffffffffffffe00,
                                0x401000 + i], raw=bytes(range(i % 5 * 8 + 4)),
                     branches=[(0x401100 + k, 0x401200 + k, {'mispred': k & 1, 'predicted': ~k & 1,
                                'cycles': 5 * k + 1, 'type': k % 16, 'spec': k % 4,
                                'new_type': k % 7, 'priv': k % 3}) for k in range(i % 4)],
                     br_counters=[k * 3 for k in range(i % 4)], br_hw_idx=i,
                     uregs_abi=2, uregs=[i, i + 1, 2**64 - 1], iregs_abi=2, iregs=[i * 2, 5],
                     stack=bytes((i + k) % 256 for k in range(i % 3 * 8)) if i % 3 else b'\1' * 8,
                     weight=i * 1000, data_src=(0x68100142, 0x68100144)[i // 3 % 2],
                     transaction=i << 32 | 3, phys_addr=0x123456000 + i, cgroup=77, data_page_size=4096,
                     code_page_size=2 << 20, aux=b'\2\x82' * 8)
        elif kind == 1:
            d.update(weight=70000 + i, weight2=i, weight3=i + 9)
        else:
            d['read'] = [(10 * (i + 1), 13), (7 * (i + 1), 14)]
        out.append(d)
    return out


def features(w):
    strings = {3: 'testhost', 4: '6.1.0', 5: '6.1', 6: 'x86_64', 8: 'Made Up CPU',
               9: 'GenuineIntel,6,1,1'}
    out = {k: w.string(v) for k, v in strings.items()}
    out[2] = w.pack('IHHi', 0, 2, 8 + 4 + 24 + 16, 100) + bytes(range(20)) + bytes(4) + \
        b'/bin/prog'.ljust(16, b'\0')
    out[7] = w.pack('II', 8, 4)
    out[10] = w.pack('Q', 16 << 20)
    out[11] = w.pack('I', 3) + w.string('perf') + w.string('record') + w.string('a b')
    return out


def attrs(w):
    flags = ('inherit', 'sample_id_all', 'mmap', 'comm', 'task', 'mmap2', 'exclude_guest')
    return [
        (w.attr(0, 0, FULL, 1000, flags, precise=2, branch=BRANCH_TYPE, uregs=7, stack=64,
                iregs=0x81), [11], 'cycles:pp'),
        (w.attr(0, 1, STRUCT, 4000, flags + ('freq',)), [12], 'instructions'),
        (w.attr(1, 2, GROUP, 1, flags, read_format=4 | 8 | 1 | 2), [13], 'page-faults'),
        (w.attr(1, 3, GROUP, 1, flags, read_format=4 | 8 | 1 | 2), [14], 'context-switches'),
    ]


def late_features(w, events):
    out = {12: w.pack('II', len(events), len(events[0][0]))}
    for a, ids, name in events:
        out[12] += a + w.pack('I', len(ids)) + w.string(name) + w.u64s(ids)
    out[13] = w.pack('I', 1) + w.string('0-3') + w.pack('I', 2) + w.string('0-1') + \
        w.string('2-3') + w.pack('8I', *range(8))
    out[14] = w.pack('IIQQ', 1, 0, 1000, 500) + w.string('0-3')
    out[16] = w.pack('II', 2, 4) + w.string('cpu') + w.pack('I', 1) + w.string('software')
    out[17] = w.pack('I', 1) + w.string('{a,b}') + w.pack('II', 2, 2)
    out[20] = w.pack('IIIIII', 1, 1, 1, 64, 64, 8) + w.string('Data') + w.string('32K') + \
        w.string('0-1')
    out[21] = w.pack('QQ', 5000, 9000)
    out[22] = w.pack('QQQ', 1, 4096, 0)
    out[23] = w.pack('Q', 1)
    out[25] = w.pack('I', 0)
    out[26] = w.pack('I', 0)
    out[27] = w.pack('5I', 1, 1, 1, 3, 1 << 19)
    out[28] = w.pack('I', 1) + w.string('branches') + w.string('32')
    out[29] = w.pack('IIQQ', 1, 0, 1, 2)
    out[30] = w.pack('I', 1) + w.string('cpu_core') + w.string('0-3')
    out[31] = w.pack('II', 1, 1) + w.string('x') + w.string('y') + w.string('cpu')
    out[40] = b'unknown feature!'
    return out


def other_records(w):
    """(time, record): one of each type that the kernel writes."""
    kernel = w.pack('iiQQQ', -1, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000)
    v2 = w.pack('iiQQQIIQQII', 100, 100, 0x400000, 0x2000, 0, 8, 1, 4242, 3, 5, 2)
    own = w.pack('iiQQQ', 100, 100, 0x7f0000000000, 0x1000, 0x1000) + bytes([20, 0, 0, 0]) + \
        bytes(range(100, 120)) + w.pack('II', 5, 2)
    items = [
        (1, kernel + w.text('[kernel.kallsyms]_text'), 1),
        (3, w.pack('ii', 100, 100) + w.text('perf-exec'), 0),
        (10, v2 + w.text('/bin/prog'), 2),
        (10, own + w.text('/lib/libown.so'), 2 | 1 << 14),
        (3, w.pack('ii', 100, 100) + w.text('prog'), 1 << 13),
        (7, w.pack('iiiiQ', 100, 100, 101, 100, 1007), 0),
        (2, w.pack('QQ', 11, 42), 0),
        (13, w.pack('Q', 5), 0),
        (5, w.pack('QQQ', 1010, 11, 7), 0),
        (6, w.pack('QQQ', 1011, 11, 7), 0),
        (8, w.pack('iiQQQ', 100, 101, 5, 6, 7), 0),
        (11, w.pack('QQQ', 0, 64, 1), 0),
        (12, w.pack('ii', 100, 101), 0),
        (14, b'', 1 << 13),
        (15, w.pack('ii', 200, 201), 1 << 13 | 1 << 14),
        (16, w.pack('iiQ', 100, 101, 2) + w.u64s([3, 4026531840, 3, 4026531841]), 0),
        (17, w.pack('QIHH', 0xffffffffc0000000, 64, 1, 0) + w.text('bpf_prog_1234'), 0),
        (18, w.pack('HHI', 1, 0, 9) + b'\x12\x34\x56\x78\x9a\xbc\xde\xf0', 0),
        (19, w.pack('Q', 77) + w.text('/user.slice'), 0),
        (20, w.pack('QHH', 0xffffffff81000010, 5, 5) + b'\x0f\x1f\x44\0\0\xe8\1\2\3\4' + bytes(2), 0),
        (21, w.pack('Q', 3), 0),
        (4, w.pack('iiiiQ', 100, 1, 101, 1, 1021), 0),
    ]
    return [(1000 + i, w.record(type, body + w.trailer(1000 + i), misc))
            for i, (type, body, misc) in enumerate(items)]


def user_records(w):
    auxinfo = w.record(70, w.pack('IIQQ', w.opt.aux_type, 0, 10, 20))
    aux = w.pack('QQQIIII', 64, 0, 0xabc, 0, 101, 1, 0)
    error = w.pack('IIIIIIQQ', 1, 2, 1, 100, 101, 1, 0x401000, 1030) + b'made up'.ljust(64, b'\0')
    return [auxinfo, w.record(71, aux) + bytes(range(64)), w.record(72, error),
            w.record(79, w.pack('QQQ', 31, 5, 6)),
            w.record(69, w.pack('QQQQQ', 1, 11, 0, 1, 101)),
            w.record(73, w.pack('QQ', 1, 100) + b'prog'.ljust(16, b'\0')),
            w.record(82, b''), w.record(999, b'?' * 16), w.record(99, b'?' * 8)] + \
        [w.record(60000, b'?' * n) for n in (8, 0, 24)]


def compress(w, data):
    z = subprocess.run(['zstd', '-q', '-c', '-1'], input=data, stdout=subprocess.PIPE,
                       check=True).stdout
    third = max(1, len(z) // 3)
    return b''.join(w.pack('IHH', 81, 0, 8 + len(z[i:i + third])) + z[i:i + third]
                    for i in range(0, len(z), third))


def rounds(w, timed):
    """Two CPUs' buffers, each in order, with an end of round after each and one late record."""
    out = b''
    for i in range(0, len(timed), 8):
        part = timed[i:i + 8]
        out += b''.join(r for _, r in part[1::2]) + b''.join(r for _, r in part[0::2])
        out += w.record(68, b'')
    return out


def simple(w, out, n, cpus):
    """Plain samples, in rounds of 64 for each CPU."""
    flags = ('sample_id_all',)
    a = w.attr(1, 0, IP | TID | TIME | PERIOD, 1000, flags)
    header_size = 104 + 8 + w.opt.attr_size + 16
    chunk = 64 * cpus
    size = n * 48 - n * 8 + (n + chunk - 1) // chunk * 8
    out.write(header(w, 104, 8, header_size, size, 0) + w.pack('Q', 1) + a + w.pack('QQ', 104, 8))
    fmt = struct.Struct(w.e + 'IHHQIIQQ')
    mark = w.record(68, b'')
    for base in range(0, n, chunk):
        part = bytearray()
        for cpu in range(cpus):
            for i in range(base + cpu, min(base + chunk, n), cpus):
                part += fmt.pack(9, 2, 40, 0x401000 + i * 7919 % 0x10000, 100, 100 + cpu,
                                 1000000 + i * 1000 + i % 3, 1000)
        out.write(part + mark)


# General registers, flags, and two segments: those that samples of user code have.
REGS_MASK = 0xff0fff


def described_sides(w, spec):
    """(time, record) of each mapping and fork."""
    def tail(time, pid):
        return w.pack('IIQII', pid, pid, time, 0, 0)

    for m in spec['maps']:
        if isinstance(m, list):
            m = dict(zip(('start', 'length', 'offset', 'path'), m), time=0)
        pid, time, prot = m.get('pid', 100), m.get('time', 500), m.get('prot', 5)
        body = w.pack('iiQQQIIQQII', pid, pid, m['start'], m['length'], m.get('offset', 0),
                      m.get('maj', 8), m.get('min', 1), m.get('ino', 42), m.get('generation', 1),
                      prot, m.get('flags', 2)) + w.text(m['path'])
        misc = m.get('misc', 2 if prot & 4 else 2 | 1 << 13)
        yield time, w.record(10, body + tail(time, pid), misc=misc)
    for f in spec.get('forks', []):
        pid, ppid, time = f['pid'], f['ppid'], f['time']
        body = w.pack('iiiiQ', pid, ppid, pid, ppid, time)
        yield time, w.record(7, body + tail(time, pid), misc=2)


def tracing_data(w, files):
    """The kernel's descriptions of tracepoints: texts of format files by "SYSTEM/NAME"."""
    def sized(text):
        return w.pack('Q', len(text)) + text.encode('latin-1')

    systems = {}
    for name in files:
        systems.setdefault(name.split('/')[0], []).append(files[name])
    b = b'\x17\x08\x44tracing0.6\0' + bytes([w.opt.big, 8]) + w.pack('I', 4096)
    page = ''.join('\tfield: %s;\toffset:%d;\tsize:%d;\tsigned:0;\n' % f for f in (
        ('u64 timestamp', 0, 8), ('local_t commit', 8, 8), ('int overwrite', 8, 1),
        ('char data', 16, 4080)))
    b += b'header_page\0' + sized(page) + b'header_event\0' + sized('# none\n') + w.pack('I', 0)
    b += w.pack('I', len(systems))
    for system, texts in systems.items():
        b += system.encode() + b'\0' + w.pack('I', len(texts)) + b''.join(map(sized, texts))
    # No kallsyms, no formats of printk, no names of threads.
    return b + w.pack('IIQ', 0, 0, 0)


def described_features(w, spec, at):
    """(bits, bytes) of the sections that follow the data, which end at `at`."""
    found = {}
    if 'tracing' in spec:
        found[1] = tracing_data(w, spec['tracing'])
    if 'buildids' in spec:
        found[2] = b''
        for path, text in spec['buildids'].items():
            id, name = bytes.fromhex(text), w.text(path)
            found[2] += w.pack('IHHi', 0, 2 | 1 << 15, 36 + len(name), -1) + id + \
                bytes(20 - len(id)) + bytes([len(id), 0, 0, 0]) + name
    if 'hostname' in spec:
        found[3] = w.string(spec['hostname'])
    if 'clock' in spec:
        found[29] = w.pack('IIQQ', 1, *spec['clock'])
    table, body, at = b'', b'', at + 16 * len(found)
    for bit in sorted(found):
        table += w.pack('QQ', at + len(body), len(found[bit]))
        body += found[bit]
    return sum(1 << bit for bit in found), table + body


def values(w, d):
    """The raw bytes of a sample of values, as formats/common/value_sample.h has them."""
    state = d.get('state', [])
    b = w.pack('IHHIIQQQ', 0x32534c56, d.get('walked', 16), d.get('stop', 1),
               d.get('nlines', len(d['lines'])), d.get('mxcsr', 0x1f80), d.get('fs', 0),
               d.get('gs', 0), d.get('nstate', len(state)))
    return b + b''.join(w.u64s(entry) for entry in state) + \
        w.u64s([addr for addr, *_ in d['lines']]) + \
        w.u64s([mask[0] if mask else 2**64 - 1 for _, _, *mask in d['lines']]) + \
        b''.join(bytes.fromhex(line).ljust(0 if mask else 64, b'\0')
                 for _, line, *mask in d['lines'])


def described(w, out, name):
    with open(name) as f:
        spec = json.load(f)
    samples = spec['samples']
    fields = set(samples[0])
    sample_type = IP | TID | TIME | CPU | PERIOD
    for bit, field in ((ADDR, 'addr'), (REGS_USER, 'regs'), (STACK_USER, 'stack'),
                       (DATA_SRC, 'data_src'), (RAW, 'raw'), (RAW, 'values')):
        sample_type |= bit if field in fields else 0
    if 'weight2' in fields:
        sample_type |= WEIGHT_STRUCT
    elif 'weight' in fields:
        sample_type |= WEIGHT
    flags = ('sample_id_all', 'mmap', 'comm', 'task', 'mmap2')
    a = w.attr(spec.get('type', 4), spec.get('config', 0x1cd), sample_type, 1000,
               flags + tuple(spec.get('flags', ())), read_format=spec.get('read_format', 4),
               precise=spec.get('precise', 0),
               uregs=REGS_MASK if 'regs' in fields else 0, stack=8192 if 'stack' in fields else 0)
    tail = w.pack('IIQII', 100, 100, 0, 0, 0)
    body = w.record(3, w.pack('ii', 100, 100) + w.text('described') + tail, misc=1 << 13)
    timed = list(described_sides(w, spec))
    for i, d in enumerate(samples):
        d = dict(d, sample_type=sample_type, time=d.get('time', 1000 + i), cpu=0, period=1000,
                 uregs_abi=2, stack=bytes.fromhex(d.get('stack', '')),
                 raw=bytes.fromhex(d.get('raw', '')))
        if 'values' in d:
            d['raw'] = values(w, d['values'])
        d['raw'] += bytes((4 - len(d['raw'])) % 8)
        d.setdefault('pid', 100)
        d['tid'] = d['pid']
        regs = d.get('regs', [0] * 24)
        d['uregs'] = [v for n, v in enumerate(regs) if REGS_MASK >> n & 1]
        d.setdefault('weight3', 0)
        d.setdefault('misc', 2)
        timed.append((d['time'], w.sample(d)))
    body += b''.join(record for _, record in sorted(timed, key=lambda t: t[0]))
    for type, words, time, tid, misc in spec.get('lost', []):
        body += w.record(type, w.u64s(words) + w.pack('IIQII', tid, tid, time, 0, 0), misc)
    header_size = 104 + w.opt.attr_size + 16
    bits, sections = described_features(w, spec, header_size + len(body))
    out.write(header(w, 104, 0, header_size, len(body), bits) + a + w.pack('QQ', 0, 0) + body +
              sections)


def header(w, ids_at, ids_size, data_at, data_size, bits):
    words = [bits >> (64 * i) & (2**64 - 1) for i in range(4)]
    magic = b'2ELIFREP' if w.opt.big else b'PERFILE2'
    asize = w.opt.attr_size + 16
    nattrs = 1 if w.opt.simple or w.opt.described else 4
    return magic + w.pack('QQQQQQQQ', 104, asize, ids_at + ids_size, nattrs * asize, data_at,
                          0 if w.opt.unfinished else data_size, 0, 0) + w.u64s(words)


def show(samples, out):
    """What a reader of the file must find, one line for each sample."""
    last = {}
    for d in samples:
        events = [(d['event'], d['id'], d['period'])]
        if 'read' in d:
            events = []
            for value, id in d['read']:
                events.append((id - 11, id, value - last.get(id, 0)))
                last[id] = value
        for event, id, period in events:
            fields = ['%d' % d['time'], '%d' % d['pid'], '%d' % d['tid'], '%d' % d['cpu'],
                      '%d' % event, '%x' % d['ip'], '%d' % period, '%x' % d['addr'], '%d' % id]
            # What was not recorded is empty.
            for name in ('weight', 'weight2', 'weight3'):
                fields.append('%d' % d[name] if name in d else '')
            fields.append('%d' % d.get('br_hw_idx', 0))
            for name in ('data_src', 'transaction', 'phys_addr'):
                fields.append('%x' % d[name] if name in d else '')
            for name in ('data_page_size', 'code_page_size', 'cgroup'):
                fields.append('%d' % d[name] if name in d else '')
            for name in ('callchain', 'uregs', 'iregs', 'br_counters'):
                fields.append(','.join('%x' % v for v in d.get(name, [])))
            fields.append(','.join('%x' % b[0] for b in d.get('branches', [])))
            fields.append(','.join('%x' % b[1] for b in d.get('branches', [])))
            flags = []
            for b in d.get('branches', []):
                word, at = 0, 0
                for name, n in BRANCH_FIELDS:
                    word |= b[2].get(name, 0) << at
                    at += n
                flags.append('%x' % word)
            fields.append(','.join(flags))
            for name in ('stack', 'raw', 'aux'):
                fields.append(d.get(name, b'').hex())
            fields.append('%x' % d['misc'])
            out.write('\t'.join(fields) + '\n')


def main():
    p = argparse.ArgumentParser()
    p.add_argument('-b', dest='big', action='store_true')
    p.add_argument('-p', dest='pipe', action='store_true')
    p.add_argument('-z', dest='zstd', action='store_true')
    p.add_argument('-u', dest='unfinished', action='store_true')
    p.add_argument('-a', dest='attr_size', type=int, default=136)
    p.add_argument('-n', dest='n', type=int, default=12)
    p.add_argument('-c', dest='cpus', type=int, default=4)
    p.add_argument('-s', dest='simple', action='store_true')
    p.add_argument('-d', dest='described')
    p.add_argument('-x', dest='aux_type', type=int, default=1)
    p.add_argument('-t', dest='show', action='store_true')
    p.add_argument('out')
    opt = p.parse_args()
    w = Writer(opt)
    out = open(opt.out, 'wb')
    if opt.simple:
        simple(w, out, opt.n, opt.cpus)
        out.close()
        return
    if opt.described:
        described(w, out, opt.described)
        out.close()
        return
    samples = make_samples(opt.n)
    if opt.show:
        show(samples, sys.stdout)
    events = attrs(w)
    timed = other_records(w) + [(d['time'], w.sample(d)) for d in samples]
    body = rounds(w, timed)
    if opt.zstd:
        body = compress(w, body)
    user = b''.join(user_records(w))
    feats = features(w)
    feats.update(late_features(w, events))
    if opt.pipe:
        out.write((b'2ELIFREP' if opt.big else b'PERFILE2') + w.pack('Q', 16))
        for a, ids, name in events:
            out.write(w.record(64, a + w.u64s(ids)))
        for k, v in sorted(feats.items()):
            if k != 2:
                out.write(w.record(80, w.pack('Q', k) + v))
        out.write(w.record(78, w.pack('QQ', 2, 12) + w.text('my-instructions')))
        out.write(feats[2].replace(w.pack('IHH', 0, 2, 52), w.pack('IHH', 67, 2, 52)))
        out.write(user + body)
        out.close()
        return
    ids_at = 104
    ids = b''.join(w.u64s(i) for _, i, _ in events)
    table = b''
    for k, (a, i, _) in enumerate(events):
        table += a + w.pack('QQ', ids_at + 8 * k, 8 * len(i))
    data_at = ids_at + len(ids) + len(table)
    data = user + body
    bits = sum(1 << k for k in feats)
    out.write(header(w, ids_at, len(ids), data_at, len(data), bits) + ids + table + data)
    if not opt.unfinished:
        at = data_at + len(data) + 16 * len(feats)
        sections, bodies = b'', b''
        for k, v in sorted(feats.items()):
            sections += w.pack('QQ', at + len(bodies), len(v))
            bodies += v
        out.write(sections + bodies)
    out.close()


if __name__ == '__main__':
    main()
