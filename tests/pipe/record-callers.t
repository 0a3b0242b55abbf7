#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The callers of samples with memory: of procedures whose loads tell who called them, with frames of
# several kinds.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" nm
program=$VT_BUILD/tests/tools/rec_callers

if ! vtrace record --sample-values -o probe.vt -- true >/dev/null 2>probe.err; then
	t_skip_all "vtrace record --sample-values does not work here: $(tail -n 1 probe.err)"
fi
nm --defined-only "$program" >symbols

# compare: standard input has IP, VALUE and CALLER of loads; prints for each kind how many are of it,
# how many of them have a caller, and how many a wrong one.
cat >compare.py <<'END'
import bisect
import collections
import sys

symbols = sorted((int(l[0], 16), l[2]) for l in map(str.split, open('symbols')) if l[1] in 'tT')
starts = [s[0] for s in symbols]
bias = int(open('said').readline(), 16) - next(s[0] for s in symbols if s[1] == 'main')


def name_of(address):
    i = bisect.bisect_right(starts, address - bias) - 1
    return symbols[i][1].split('.')[0] if i >= 0 else '?'


KINDS = ['none', 'red_zone', 'large', 'pointer', 'calls']
want = {base + i + 1: f'call_{who}_{kind}' for base, who in ((0x5a00a000, 'a'), (0x5a00b000, 'b'))
        for i, kind in enumerate(KINDS)}
count = collections.Counter()
for line in sys.stdin:
    ip, value, caller = (int(x, 0) for x in line.split())
    if value not in want or not name_of(ip).startswith('work_'):
        continue
    kind = want[value][7:]
    count[kind] += 1
    count[kind, 'known'] += caller != 0
    if caller and name_of(caller) != want[value]:
        print('wrong', hex(ip - bias), name_of(ip), want[value], name_of(caller), file=sys.stderr)
        count[kind, 'wrong'] += 1
for kind in KINDS:
    print(kind, count[kind], count[kind, 'known'], count[kind, 'wrong'])
END

compare()
{
	vinterp -l 16 -w loads "$1" 2>errors | vtrace dump -k VALUE -F ip,value,caller 2>errors |
		"$PYTHON" compare.py >counts 2>wrong
	sed 's/^/# /' counts wrong
}

# 500000 rounds took 1.5 seconds or more of processor time where this was tried: some 300 samples or more
# of each kind. The first have no caller, until the recorder has looked at their code: on a busy machine,
# where it must wait for the processor, some tenths of a second.
t_ok "a program is recorded" vtrace record --sample-values -o callers.vt -- "$program" 500000
cp "$T_OUT" said
compare callers.vt
t_is "all kinds of frames are sampled" "$(awk '$2 > 30' counts | wc -l)" 5
t_is "no caller is wrong" "$(awk '{ n += $4 } END { print n }' counts)" 0
t_is "most are known" "$(awk '$3 < .6 * $2' counts)" ''

# Samples have other lines then, which are fewer callers, and never false ones.
t_ok "so is one that spoils what the agent is told" \
	vtrace record --sample-values -o hostile.vt -- "$program" 100000 hostile
cp "$T_OUT" said
t_is "there was something to spoil" "$(tail -n 1 said)" 1
compare hostile.vt
t_is "all kinds are still sampled" "$(awk '$2 > 30' counts | wc -l)" 5
t_is "and no caller is wrong" "$(awk '{ n += $4 } END { print n }' counts)" 0
t_is "though fewer are known" "$(awk '{ n += $2; k += $3 } END { print (k < .9 * n) }' counts)" 1
t_done
