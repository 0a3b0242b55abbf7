#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What samples with memory cost a program, as a part of its processor time, user and system.

usage: sample_values.py BARE.so ROUNDS RATE COMMAND...

Each way of recording runs the command once a round, so that other work on the machine meets all of
them alike; the least and the median of the rounds are compared with those of the plain runs. The time
is that of the program alone: recorders have theirs, perf about 0.1 s.
"""
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def ways(bare, rate):
    period = str(1000000000 // rate)
    ours = ['vtrace', 'record', '--sample-values', '-F', str(rate), '-o', 'bench.vt']
    perf = ['perf', 'record', '-q', '-e', 'cpu-clock:u', '-c', period, '-o', 'bench.data']
    return [
        ('plain', {}, []),
        ('bare signal', {'LD_PRELOAD': bare, 'BARE_PERIOD': period}, []),
        ('16 instructions', {}, ours + ['--']),
        ('64 instructions', {}, ours + ['--insns', '64', '--']),
        ('perf, address', {}, perf + ['--']),
        ('perf, registers and stack', {}, perf + ['--call-graph', 'dwarf', '--']),
    ]


def run(env, prefix, command, cwd=None):
    """The processor time of the command, which a helper between it and the recorder takes."""
    inner = [sys.executable, os.path.join(HERE, 'cputime.py')]
    if env:
        inner += ['env'] + ['%s=%s' % e for e in sorted(env.items())]
    done = subprocess.run(prefix + inner + command, stdout=subprocess.PIPE, cwd=cwd,
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    told = [line for line in done.stderr.decode().splitlines() if 'handler' in line]
    return float(done.stdout.split()[0]), told


def alternate_ways(these, rounds, command, cwd=None):
    """
    Runs the command so many rounds in each way, (name, environment, what comes before the command):
    {name: seconds of each round}, and {name: what the recorder said of the last}.
    """
    times, told = {}, {}
    for _ in range(rounds):
        for name, env, prefix in these:
            seconds, told[name] = run(env, prefix, command, cwd)
            times.setdefault(name, []).append(seconds)
    return times, told


def slowdown(times, name, plain='plain'):
    """In percent of the plain runs: of the least times, and of the medians."""
    return tuple(100 * (of(times[name]) / of(times[plain]) - 1) for of in (min, statistics.median))


def main():
    bare, rounds, rate, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    times, told = alternate_ways(ways(bare, rate), rounds, command)
    for name, seconds in times.items():
        print('%-10s %5d/s %-26s %6.2f s %+6.1f %% (median %+6.1f %%) %s' % (
            os.path.basename(command[0]), rate, name, min(seconds), *slowdown(times, name),
            ''.join(told[name]).replace('vtrace record: ', '')))


if __name__ == '__main__':
    main()
