#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vmem: counts of objects and locations are those that follow from a program's source, and those of
# a brute-force count over all values; what is not known is said.

. "$(dirname "$0")/../lib.sh"

t_need valgrind

vtrace record --full --mem --values loads,stores --heap -o p.vt -- \
	"$VT_BUILD/tests/tools/rec_memory" 200 >/dev/null 2>&1 || t_fail "recording"

# ---- arithmetic ----

vmem --json --top 0 p.vt >objects.json 2>said
t_is "nothing is amiss" "$(grep -v "without its file" said)" ""
vmem --json --top 0 --layout --each 0 p.vt >layout.json 2>/dev/null

t_ok "planted objects have the counts of the source" python3 - <<'END'
import json

n, walks = 200, 10
rows = {}
for r in json.load(open('objects.json'))['rows']:
    if r['type'] != 'stack' or r['name'] == 'use_frame':
        rows[r['name'].split(' < ')[0].split(' rec_memory.c')[0]] = r

def check(name, **want):
    got = rows[name]
    for k, v in want.items():
        assert got.get(k) is not None and abs(got[k] - v) < 1e-6, (name, k, got.get(k), v)

def pct(part, whole):
    return 100 * part / whole

check('same_stored', loads=0, stores=n, stored_bytes=8 * n, silent=pct(n - 1, n),
      dead=pct(8 * (n - 1), 8 * n), never_loaded=8, size=8, locations=1)
# The first store is of 0, which the program's file has there, too: but nothing had loaded it.
check('never_loaded', loads=0, stores=n, silent=0, dead=pct(n - 1, n), never_loaded=8)
check('never_stored', loads=n, stores=0, invariant=100, zero=0, redundant=pct(n - 1, n),
      never_loaded=0)
check('half_a', loads=0, stores=n, size=4, stored_bytes=4 * n, silent=0)
check('half_b', loads=n, stores=0, size=4, loaded_bytes=4 * n, invariant=100)
check('bytes', stores=n, stored_bytes=n, size=16, locations=2, silent=pct(n - 16, n),
      dead=pct(n - 16, n), never_loaded=16)
check('make_node', loads=3 * n * walks, stores=4 * n, allocations=n, freed=0, bytes=32 * n,
      peak=32 * n, size=32, locations=4, zero=pct(n * walks + walks, 3 * n * walks),
      redundant=pct(3 * n * (walks - 1), 3 * n * walks), never_loaded=8, dead=0)
check('waste', loads=0, stores=8 * n, allocations=n, freed=n, peak=64, bytes=64 * n, dead=100)
assert rows['waste']['lifetime'] < 100

layout = json.load(open('layout.json'))['rows']
number = rows['make_node']['object']
fields = [r for r in layout if r['object'] == number and 'offset' in r]
assert [r['offset'] for r in fields] == [0, 8, 16, 24], fields
assert [r['loads'] for r in fields] == [n * walks] * 3 + [0]
assert [r['stores'] for r in fields] == [n] * 4
assert fields[1]['value'] == '0' and fields[1]['invariant'] == 100 and fields[1]['zero'] == 100
assert fields[3]['never_loaded'] == 8 and 'invariant' not in fields[3]
number = rows['use_frame']['object']
frame = [r for r in layout if r['object'] == number and 'offset' in r and r['loads'] == 2 * n]
assert len(frame) == 3 and all(r['stores'] == n for r in frame), frame
assert frame[2]['value'] == '0' and frame[2]['offset'] < 0
END

# ---- a brute-force count ----

cat >brute.py <<'END'
"""Counts the accesses of p.vt at globals and at what is allocated, byte by byte, and its loads by
instruction."""
import collections
import json
import re
import subprocess
import sys

def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout.splitlines()

def fields(line):
    kind, *rest = line.split('\t')
    d = dict(f.split('=', 1) for f in rest if '=' in f)
    return kind, {k: int(v, 0) if re.fullmatch(r'-?(0x)?[0-9a-f]+', v) and
                  (v.startswith('0x') or v.lstrip('-').isdigit()) else v for k, v in d.items()}

program = sys.argv[1]
events = []
images = {}
maps = []
bases = {}
for line in run('vtrace', 'dump', '-k', 'HEAP,IMAGE,MAP,MEMORY,SYSCALL', 'p.vt'):
    kind, d = fields(line)
    if kind == 'HEAP':
        events.append((d.get('first', 0), 0, d))
    elif kind == 'IMAGE':
        images[d.get('id', 0)] = d['path']
    elif kind == 'MAP':
        path = images[d.get('image', 0)]
        maps.append((d['start'], d['start'] + d['length'], path))
        # Segments: the first mapping is at vaddr 0.
        bases.setdefault(path, d['start'] - d.get('offset', 0))

base = bases[program]
variables = {}
starts = {}     # of each byte: the address of its variable or allocation
for line in run('nm', '-S', program):
    f = line.split()
    if len(f) == 4 and f[2] in 'BbDdRrVv':
        for a in range(int(f[1], 16)):
            variables[base + int(f[0], 16) + a] = f[3]
            starts[base + int(f[0], 16) + a] = base + int(f[0], 16)

Counts = lambda: dict.fromkeys(('loads', 'stores', 'loaded_bytes', 'stored_bytes', 'zero',
                                'redundant', 'silent', 'dead'), 0)
counts = collections.defaultdict(Counts)
content, loaded, unread = {}, {}, {}
owner = {}      # of each allocated byte: the site
live = {}

def release(a):
    if a not in live:
        return
    for b in range(a, a + live.pop(a)):
        if b in unread:
            counts[unread.pop(b)]['dead'] += 1
        owner.pop(b, None)
        starts.pop(b, None)
        loaded.pop(b, None)

def apply(d):
    op = d.get('op')
    if op in ('mmap', 'munmap', 'mremap'):
        return
    if d.get('old'):
        release(d['old'])
    if d.get('addr'):
        live[d['addr']] = max(d.get('size', 0), 1)
        for b in range(d['addr'], d['addr'] + live[d['addr']]):
            owner[b] = d['caller']
            starts[b] = d['addr']
            unread.pop(b, None)
            loaded.pop(b, None)

class Loads:
    """Those of one instruction."""
    def __init__(self):
        self.values, self.last, self.at, self.locations = [], {}, set(), set()
        self.zero = self.redundant = self.repeated = self.same = 0

    def add(self, addr, who, data, redundant):
        value = int.from_bytes(data, 'little')
        self.same += self.values[-1:] == [value]
        self.repeated += self.last.get(addr) == value
        self.last[addr] = value
        self.values.append(value)
        self.at.add(addr)
        self.locations.add((who, (addr - starts[addr]) // 8) if addr in starts else None)
        self.zero += not value
        self.redundant += redundant

instructions = collections.defaultdict(Loads)
locations = collections.defaultdict(collections.Counter)    # of each: the values of its loads

def load_pieces(addr, data):
    """A load counts in each location, and in each 8 bytes of memory, with its bytes there."""
    pieces = collections.defaultdict(list)
    for b, byte in enumerate(data, addr):
        if b in starts:
            pieces[owner.get(b) or variables.get(b), (b - starts[b]) // 8, b // 8].append(byte)
    for (who, index, _), part in pieces.items():
        locations[who, index][int.from_bytes(bytes(part), 'little')] += 1

def access(store, addr, data, ip):
    who = owner.get(addr) or variables.get(addr)
    c = counts[who]
    size = range(len(data))
    c['stores' if store else 'loads'] += 1
    c['stored_bytes' if store else 'loaded_bytes'] += len(data)
    if not store:
        c['zero'] += not any(data)
        redundant = all(loaded.get(addr + i) == data[i] for i in size)
        c['redundant'] += redundant
        instructions[ip].add(addr, who, data, redundant)
        load_pieces(addr, data)
    else:
        c['silent'] += all(content.get(addr + i) == data[i] for i in size)
    for i in size:
        b = addr + i
        content[b] = data[i]
        if store:
            if b in unread:
                counts[unread[b]]['dead'] += 1
            unread[b] = owner.get(b) or variables.get(b)
        else:
            unread.pop(b, None)
            loaded[b] = data[i]

events.sort(key=lambda e: e[0])
at = 0
pending, guard = None, None
def finish():
    global pending
    if pending:
        access(*pending)
    pending = None

for line in run('vtrace', 'dump', '--values', 'p.vt'):
    pid, tid, insn, ip, what, reg, size, lane, value = line.split('\t')
    if what not in ('load-address', 'store-address', 'load', 'store'):
        continue
    value, size, lane = int(value, 0), int(size), int(lane)
    if what.endswith('-address'):
        finish()
        while at < len(events) and events[at][0] <= int(insn):
            apply(events[at][2])
            at += 1
        addr = value
    elif lane == 0:
        finish()
        pending = [what == 'store', addr, value.to_bytes(8, 'little')[:size], int(ip, 0)]
    else:
        pending[2] += value.to_bytes(8, 'little')[:size - 8 * lane]
finish()

rows = json.load(open('sites.json'))['rows']
got = {}
compared = 0
for r in rows:
    c = {k: r[k] for k in ('loads', 'stores', 'loaded_bytes', 'stored_bytes')}
    for k, whole in (('zero', r['loads']), ('redundant', r['loads']), ('silent', r['stores']),
                     ('dead', r['stored_bytes'])):
        c[k] = round(r.get(k, 0) * whole / 100)
    if r['type'] == 'heap':
        key = 'heap'
        got.setdefault(key, []).append(tuple(c.values()))
    elif r['type'] == 'global' and r['name'] in variables.values():
        want = counts[r['name']]
        assert c == want, (r['name'], c, want)
        compared += 1
want = sorted(tuple(c.values()) for who, c in counts.items()
              if isinstance(who, int) and c['loads'] + c['stores'])
assert sorted(got['heap']) == want, (sorted(got['heap']), want)
assert compared >= 6, compared

# ---- values of locations ----

def tops(values):
    top = [n for _, n in values.most_common(3)]
    return sum(top), round(100 * top[0] / sum(values.values()), 5), \
        round(100 * sum(top) / sum(values.values()), 5)

for path, close in (('exact.json', lambda a, b: a == b),
                    ('places.json', lambda a, b: a[1] <= b[1] and a[2] <= b[2])):
    found = []
    for r in json.load(open(path))['rows']:
        row = [r[k] for k in ('loads', 'invariant', 'invariant3')] if r['loads'] else None
        if row and r['type'] == 'heap':
            found.append(row)
        elif row and r['name'] in variables.values():
            values = locations[r['name'], r['offset'] // 8]
            want = tops(values)
            assert r['loads'] == sum(values.values()), (r, values)
            assert close((0, *(round(n, 5) for n in row[1:])), (0, *want[1:])), (path, r, want)
    found = sorted((n, round(a, 5), round(b, 5)) for n, a, b in found)
    values = sorted((sum(v.values()), *tops(v)[1:]) for (who, _), v in locations.items()
                    if isinstance(who, int))
    assert values[0][2] < 100, values
    assert len(found) == len(values) and all(map(close, found, values)), (path, found, values)

# ---- static loads ----

def place(ip):
    """An address of code as the listing has it."""
    for start, end, path in maps:
        if start <= ip < end:
            return path.split('/')[-1], ip - bases[path]
    return None

found = {place(ip): n for ip, n in instructions.items()}
doc = json.load(open('loads.json'))
exact = located = 0
for r in doc['rows']:
    n = found.pop((r['image'], int(r['address'], 0)))
    loads = len(n.values)
    assert r['loads'] == loads, r
    close = lambda key, part: abs(r[key] - 100 * part / loads) < 1e-4
    assert close('zero', n.zero) and close('lvp', n.same), (r, n.zero, n.same)
    top = collections.Counter(n.values).most_common()
    assert (close('invariant', top[0][1]) if len(top) <= 16 else
            r['invariant'] < 100 * top[0][1] / loads + 1e-4), (r, top)
    types = {t['name']: t['share'] for t in r['types']}
    # The frames of stacks are not known here.
    if types['stack']:
        continue
    assert r['addresses'] == len(n.at), (r, len(n.at))
    assert close('repeated', n.repeated), (r, n.repeated)
    exact += 1
    if types['global'] + types['heap'] + types['image'] > 99.9999:
        assert close('redundant', n.redundant), (r, n.redundant)
    if None not in n.locations:
        assert r['locations'] == len(n.locations), (r, n.locations)
        located += 1
assert exact > 500 and located >= 5 and not found, (exact, located, found.keys())
assert sum(r['loads'] for r in doc['rows']) == doc['loads'] == sum(doc['types'].values())
for what in ('addresses', 'locations'):
    at = 0
    for k, c in enumerate(doc[what]):
        rows = [r for r in doc['rows'] if r[what] > at and (k == 7 or r[what] <= 10 ** k)]
        assert c['static_loads'] == len(rows), (what, c)
        assert c['loads'] == sum(r['loads'] for r in rows), (what, c)
        at = 10 ** k
print(compared, len(want), exact, located)
END
vmem --json --top 0 --depth 1 p.vt >sites.json 2>/dev/null
vmem --json --top 0 --depth 1 --loads p.vt >loads.json 2>/dev/null
vmem --json --top 0 --depth 1 --by location p.vt >places.json 2>/dev/null
vmem --json --top 0 --depth 1 --by location --exact p.vt >exact.json 2>/dev/null
t_ok "globals, allocations, values and static loads as counted byte by byte" \
	python3 brute.py "$VT_BUILD/tests/tools/rec_memory"

# ---- forms ----

t_like "a table" "^ +[0-9.]+% +6000 +800 .* heap +make_node rec_memory.c:[0-9]+ < main" <(vmem p.vt 2>/dev/null)
t_is "locations of one object" \
	"$(vmem --by location --in heap --object 'make_node*' --csv p.vt 2>/dev/null | cut -d, -f2,3 | tr '\n' ' ')" \
	"loads,stores 2000,200 2000,200 2000,200 0,200 "
t_is "fields of 4 bytes" \
	"$(vmem --by location --grain 4 --in heap --object 'make_node*' --csv p.vt 2>/dev/null | tail -n +2 | wc -l)" 8
t_is "types" "$(vmem --in heap --top 0 --csv p.vt 2>/dev/null | tail -n +2 | awk -F, '{ print $(NF - 2) }' | sort -u)" heap
t_is "images" "$(vmem --in global --object same_stored --csv p.vt 2>/dev/null | tail -n +2 | cut -d, -f23)" rec_memory
# Of each of these fields, each of 200 values is loaded ten times; the field between them is always 0.
t_is "all values are kept, if asked for" \
	"$(vmem --by location --exact --in heap --object 'make_node*' --csv p.vt 2>/dev/null |
		cut -d, -f2,6,14 | tr '\n' ' ')" \
	"loads,invariant,invariant3 2000,0.5,1.5 2000,100,100 2000,0.5,1.5 0,, "
for option in --records --sharing --loads; do
	t_status "--exact with $option" 2 vmem --exact $option p.vt
done
vmem --records -o p.mem p.vt 2>/dev/null
t_status "all values of a profile" 3 vmem --exact p.mem
t_like "it says what it needs" "most frequent values alone: --exact needs the recording" "$T_ERR"
t_like "layout tells what it leaves out" "more locations" <(vmem --layout --each 2 --in heap p.vt 2>/dev/null)

# With few locations kept, objects have the same counts, and what is left out is said.
vmem --json --top 0 --limit 1000 p.vt >few.json 2>said
t_like "the limit is told" "locations with [0-9]+ accesses are left out of their objects' lists" said
t_ok "objects do not depend on the limit" python3 - <<'END'
import json
a, b = (json.load(open(f)) for f in ('objects.json', 'few.json'))
keep = ('loads', 'stores', 'loaded_bytes', 'stored_bytes', 'zero', 'silent', 'name')
rows = lambda doc: sorted(tuple(r.get(k) for k in keep) for r in doc['rows'])
assert rows(a) == rows(b)
assert b['locations_left_out'] > 0
n = sum(r['loads'] + r['stores'] for r in b['rows'])
assert n == b['loads'] + b['stores']
END

# ---- types ----

vmem --json --top 0 --type --layout --each 0 p.vt >types.json 2>/dev/null
t_ok "members have the counts of the source" python3 - <<'END'
import json
n, walks = 200, 10
doc = json.load(open('types.json'))
types = {r['type']: r for r in doc['rows'] if 'member' not in r}
members = {(r['type'], r['member']): r for r in doc['rows'] if 'member' in r}

node = types['struct node']
assert (node['loads'], node['stores'], node['size'], node['objects']) == (3 * n * walks, 4 * n, 32, 1)
for member, offset, kind, loads in (('key', 0, 'long int', n * walks), ('flag', 8, 'long int', n * walks),
                                    ('next', 16, 'struct node *', n * walks), ('note', 24, 'long int', 0)):
    m = members['struct node', member]
    assert (m['offset'], m['width'], m['loads'], m['stores']) == (offset, 8, loads, n), (member, m)
    assert kind in m['member_type'], m
assert members['struct node', 'flag']['invariant'] == members['struct node', 'flag']['zero'] == 100
# The array in the frame of use_frame, and the bytes, are known by their declarations.
local = next(r for k, r in types.items() if 'long int[3]' in k)
assert (local['loads'], local['stores'], local['size']) == (6 * n, 3 * n, 24), local
chars = next(r for k, r in types.items() if 'char[16]' in k)
assert (chars['loads'], chars['stores'], chars['size']) == (0, n, 16), chars
# waste()'s are of type long, as the globals are.
longs = [r for k, r in types.items() if k.split()[-1] == 'int' and 'long' in k and '[' not in k]
assert sum(r['stores'] for r in longs) >= 8 * n + 2 * n, longs
assert sum(r['loads'] for r in doc['rows'] if 'member' not in r) == doc['loads']
assert sum(r['stores'] for r in doc['rows'] if 'member' not in r) == doc['stores']
assert sum(r['loads'] for r in members.values()) == sum(
    r['loads'] for r in types.values() if r['known'])
# Unknown ones say why, and of what.
assert any(k.startswith('(stack: ') for k in types) and any(k.startswith('(image: ') for k in types)
END
t_like "a table of types" "^ +[0-9.]+% +6000 +800 .* struct node" <(vmem --type p.vt 2>/dev/null)
vtrace record --full --mem --values stores --heap -o stripped.vt -- /bin/true >/dev/null 2>&1
t_like "no debug information is said" "no debug information" <(vmem --type --top 0 stripped.vt 2>/dev/null)

# ---- static loads ----

t_ok "loads of the source" python3 - <<'END'
import json
n, walks = 200, 10
doc = json.load(open('loads.json'))
share = lambda r, name: next(t['share'] for t in r['types'] if t['name'] == name)
rows = lambda procedure, name: [r for r in doc['rows'] if r['procedure'] == procedure and
                                share(r, name) == 100]
# key, flag and next: each is one location of all the nodes.
walk = rows('walk_nodes', 'heap')
assert [(r['loads'], r['addresses'], r['locations']) for r in walk] == [(n * walks, n, 1)] * 3, walk
assert all(abs(r['repeated'] - 100 * (walks - 1) / walks) < 1e-6 for r in walk), walk
flag = next(r for r in walk if r['zero'] == 100)
assert flag['invariant'] == 100 and flag['value'] == '0', flag
assert abs(flag['lvp'] - 100 * (1 - 1 / (n * walks))) < 1e-4, flag
assert all(r['line'].startswith('rec_memory.c:') for r in walk), walk
once = [r for r in rows('main', 'global') if r['loads'] == n]
assert sorted((r['width'], r['value']) for r in once) == [(4, '1'), (8, '5')], once
assert all(r['addresses'] == 1 and r['invariant'] == 100 for r in once), once
frame = rows('use_frame', 'stack')
assert len(frame) >= 6, frame
assert all((r['loads'], r['addresses'], r['locations']) == (n, 1, 1) for r in frame), frame
END
vmem --loads p.vt >table 2>/dev/null
t_like "a table of static loads" \
	"^ *[0-9.]+% +2000 +200 +1 +100.00% +100.00% +99.95% +90.00% .*walk_nodes +rec_memory.c:[0-9]+ +rec_memory" table
t_like "how many have how many addresses" "^addresses +[0-9]+ \([0-9.]+%\) +[0-9]+ \(" table
t_is "the first rows" "$(vmem --loads --top 2 --csv p.vt 2>/dev/null | cut -d, -f2,3,4 | tr '\n' ' ')" \
	"loads,addresses,locations 2000,200,1 2000,200,1 "
t_is "static loads of the heap" "$(vmem --loads --in heap --top 0 --json --depth 1 p.vt 2>/dev/null | jq -c .rows | md5sum)" \
	"$(jq -c '[.rows[] | select(.types[1].share > 0)]' loads.json | md5sum)"
vmem --loads --json --top 0 --depth 1 --limit 1000 p.vt >few.json 2>said
t_like "the limit of addresses is told" "of [0-9]+ static loads, not all addresses are counted: more than --limit" said
t_ok "what the limit leaves is exact, and the rest at least" python3 - <<'END'
import json
a, b = (json.load(open(f)) for f in ('loads.json', 'few.json'))
key = lambda r: (r['image'], r['address'])
whole = {key(r): r for r in a['rows']}
assert len(b['rows']) == len(whole)
for r in b['rows']:
    w = whole[key(r)]
    same = ('loads', 'zero', 'lvp', 'invariant', 'value', 'types', 'width')
    assert [r.get(k) for k in same] == [w.get(k) for k in same], (r, w)
    assert w['addresses_at_least'] == w['locations_at_least'] == 0
    for k in ('addresses', 'locations'):
        assert r[k] <= w[k] if r[k + '_at_least'] else r[k] == w[k], (k, r, w)
dropped = sum(r['addresses_at_least'] for r in b['rows'])
assert 0 < dropped < len(whole), dropped
assert sum(c['at_least'] for c in b['addresses']) == dropped
END
t_like "a lower bound looks so" " >=[0-9]+ " <(vmem --loads --limit 1000 --top 0 p.vt 2>/dev/null)

# ---- samples ----

vsim -m skylake --profileme 20 -o samples.vt p.vt 2>/dev/null
vmem --json --top 0 --depth 1 samples.vt >sampled.json 2>/dev/null
vtrace dump -k SAMPLE samples.vt >samples.txt
t_ok "samples by object: as counted, and as the recording has it" python3 - <<'END'
import json, re
doc = json.load(open('sampled.json'))
whole = {(r['type'], r['name']): r for r in json.load(open('sites.json'))['rows']}
loads = stores = latency = 0
for line in open('samples.txt'):
    f = dict(x.split('=', 1) for x in line.rstrip('\n').split('\t')[1:])
    events = f.get('events', '').split('|')
    if 'addr' not in f or not {'load', 'store'} & set(events):
        continue
    loads += 'load' in events
    stores += 'store' in events
    if 'lat_load' in f.get('pm_has', '').split('|'):
        latency += int(f.get('lat_load', 0))
assert (doc['loads'], doc['stores']) == (loads, stores), (doc['loads'], loads)
assert sum(r['loads'] for r in doc['rows']) == loads
n = loads + stores
compared = 0
total = 0
for r in doc['rows']:
    if 'latency' in r:
        total += r['latency_share']
    if r['type'] not in ('heap', 'global') or (r['type'], r['name']) not in whole:
        continue
    # Its blocks are freed at once: most of their samples are told when they are gone.
    if r['name'].startswith('waste '):
        continue
    p = whole[(r['type'], r['name'])]['share'] / 100
    if p < .005:
        continue
    # Five standard deviations of a share of n samples.
    assert abs(r['share'] / 100 - p) < 5 * (p * (1 - p) / n) ** .5, (r['name'], r['share'], p)
    compared += 1
assert compared >= 3, compared
assert abs(total - 100) < 1e-6, total
END
t_like "a table of samples" "TLB miss" <(vmem --top 1 samples.vt 2>/dev/null)
vmem --by location --in heap --object 'make_node*' --csv samples.vt 2>/dev/null >places.csv
t_like "types of samples" "struct node" <(vmem --type samples.vt 2>/dev/null)

# Without allocations, only the instructions tell what is on the heap: each member is sampled as
# often as it is accessed, within five standard deviations.
vtrace record --full --mem --values loads,stores -o unheaped.vt -- \
	"$VT_BUILD/tests/tools/rec_memory" 200 >/dev/null 2>&1
vsim -m skylake --profileme 20 -o operands.vt unheaped.vt 2>/dev/null
vmem --json --top 0 --type --layout --each 0 operands.vt >operands.json 2>/dev/null
t_ok "types of samples by their instructions" python3 - <<'END'
import json
whole, doc = (json.load(open(f)) for f in ('types.json', 'operands.json'))
def members(d):
    return {r['member'].replace('[].', ''): r for r in d['rows']
            if r['type'] == 'struct node' and 'member' in r}
want, got = members(whole), members(doc)
total, n = (d['loads'] + d['stores'] for d in (whole, doc))
assert set(got) <= {'key', 'flag', 'next', 'note'}, got
for name, m in want.items():
    p = (m['loads'] + m['stores']) / total
    k = got[name]['loads'] + got[name]['stores'] if name in got else 0
    assert abs(k / n - p) < 5 * (p * (1 - p) / n) ** .5, (name, k, n, p)
node = next(r for r in doc['rows'] if r['type'] == 'struct node' and 'member' not in r)
assert node['loads'] == sum(m['loads'] for m in got.values()) > 100, node
for r in doc['rows']:
    told = [r[k] for k in ('l1', 'l2', 'l3', 'memory', 'other') if k in r]
    assert not told or abs(sum(told) - 100) < 1e-6, r
assert sum(r['loads'] for r in doc['rows'] if 'member' not in r) == doc['loads']
END
t_is "locations of samples" "$(tail -n +2 places.csv | cut -d, -f6 | sort -n | tr '\n' ' ')" "0 8 16 24 "

# ---- damage ----

size=$(stat -c %s p.vt)
for part in 3 5 8; do
	head -c $((size * part / 10)) p.vt >cut.vt
	for option in --by=object --loads; do
		t_run vmem --json "$option" cut.vt
		# Of a short recording, nothing may be left.
		t_like "$option, cut after $part tenths: status" "^[13]$" <(echo "$T_STATUS")
		t_like "$option, cut after $part tenths: told" "cut.vt: " "$T_ERR"
	done
done

# ---- on a terminal ----

unset COLUMNS
for columns in 100 120; do
	for options in "" "--by location" "--layout" "--type" "--type --layout" "--loads"; do
		# shellcheck disable=SC2086 # several words
		t_terminal "$columns" vmem --top 9 $options p.vt | grep -v '^vmem: ' >screen
		t_is "vmem $options fits $columns columns" "$("$PYTHON" -c 'import sys
print(max(len(l.rstrip("\n")) for l in open("screen", encoding="utf-8")) <= int(sys.argv[1]))' "$columns")" True
	done
done
t_terminal 100 vmem --top 9 p.vt >screen 2>&1
t_like "what has no room is told" '^\(no room for locs, life, peak(, .*)?\)$' screen
vmem --top 9 p.vt 2>/dev/null >piped
t_like "a file has all" '^accesses .* redund .* unread .* allocs .* peak .* life .* locs ' piped
t_unlike "and lacks no column" 'no room' piped
t_terminal 100 vmem --top 9 --full-names p.vt 2>&1 | grep -v '^vmem: ' >screen
vmem --top 9 --full-names p.vt 2>/dev/null >piped
t_same "with full names, too" piped screen

# ---- what is missing ----

vtrace record --full --mem --values loads -o loads.vt -- true >/dev/null 2>&1
t_run vmem loads.vt
t_is "no stores" "$T_STATUS" 3
t_like "no stores: said" "no addresses of stores" "$T_ERR"
vtrace record --full -o bare.vt -- true >/dev/null 2>&1
t_run vmem bare.vt
t_is "no addresses" "$T_STATUS" 3
t_like "no addresses: said" "vtrace record --full --mem --values stores" "$T_ERR"
vtrace record --full --mem --values stores -o noheap.vt -- true >/dev/null 2>&1
t_run vmem noheap.vt
t_is "no allocations" "$T_STATUS" 0
t_like "no allocations: said" "the heap is one object" "$T_ERR"
vsample -n 1000 -l 100 -o sampled.vt p.vt 2>/dev/null
t_run vmem sampled.vt
t_is "a sample of the code" "$T_STATUS" 3
t_run vmem --loads samples.vt
t_is "static loads of samples" "$T_STATUS" 3
t_like "static loads of samples: said" "no executed code" "$T_ERR"
for options in "--by location --layout" "--each 3" "--type --sharing" "--type --by location" \
	"--type --grain 4" "--type --in heap" "--sharing --layout" "--loads --layout" "--loads --by location" \
	"--loads --type" "--loads --sharing" "--loads --object x" "--json --csv" "--in nothing" "--depth 17" "--limit 1"; do
	# shellcheck disable=SC2086 # several words
	t_run vmem $options p.vt
	t_is "refused: $options" "$T_STATUS" 2
done
t_done
