#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writers of one database, killed at any moment: nothing acknowledged is lost or counted twice.

usage: vdb_kill.py STREAM_MAKE [--rounds N] [--writers N] [--seed S]

Each round starts the writers, each with some inputs that no other round has, some that another
writer of the round has, too, and those of the round before that were not acknowledged; each writer
is killed (SIGKILL) after a random time, some after they ended; but one of each round waits for an
input that does not come, so that it is killed for certain. Nothing else depends on the times. After each round every input that was
acknowledged must be in the database once, and no other but those that were begun; every tenth round
the writers are let through, and the sum of everything, place by place, must be that of the inputs:
added up here, from the numbers that they were made of. Then the next database begins.

Prints one line of what was done; any breach ends it with a message and status 1.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import threading
import time

import vt_reader

ROUNDS = 10  # for each database
NEW = 4  # inputs for each writer and round


class Input:
    """A stream of counts and, by its numbers, what it adds to each place."""

    def __init__(self, number, make):
        rng = random.Random(number)
        self.name = "in/%d.vt" % number
        self.places = {}
        text = ["META key=number value=%d" % number, "EVENT id=0 name=cycles policy=1 unit=cycles",
                "EVENT id=1 name=imiss policy=1 unit=events"]
        for image in range(3):
            text.append("IMAGE id=%d path=/bin/%s buildid=%s" % (image, "abc"[image],
                                                                "%02x" % image * 20))
            for offset in sorted(rng.sample(range(0, 4000, 4), 150)):
                event, samples = rng.randrange(2), rng.randrange(1, 1000)
                self.places[image, offset, event] = samples
                text.append("COUNT image=%d offset=%d event=%d samples=%d period=%d" % (
                    image, offset, event, samples, samples * 62000))
        data = subprocess.run([make], input="\n".join(text) + "\n", encoding="ascii", check=False,
                              stdout=open(self.name, "wb"))
        assert data.returncode == 0


class Writer:
    """A running `vdb add`, and what it has acknowledged."""

    def __init__(self, db, inputs, waits=False):
        """One that waits has standard input, of which nothing comes, behind its inputs."""
        self.acknowledged = []
        self.process = subprocess.Popen(
            ["vdb", "-d", db, "add", "--epoch", "now", "--json"] + inputs + ["-"] * waits,
            stdin=subprocess.PIPE if waits else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            if line.endswith("\n"):
                self.acknowledged.append(json.loads(line)["input"])

    def end(self):
        self.reader.join()
        self.error = self.process.stderr.read()
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()


def run(db, lots, kill_within, rng):
    """Runs a writer for each lot, and kills them within a time (None: never)."""
    writers = [Writer(db, lot, waits=bool(kill_within) and lot is lots[0]) for lot in lots]
    start = time.monotonic()
    if kill_within:
        times = sorted((rng.uniform(0, kill_within), i) for i in range(len(writers)))
        for at, i in times:
            time.sleep(max(0, start + at - time.monotonic()))
            writers[i].process.kill()
    for w in writers:
        w.end()
        if w.process.returncode not in ((0, -9) if kill_within else (0,)):
            sys.exit("a writer failed: %d %s" % (w.process.returncode, w.error))
    return writers


def present(db):
    """The names of the inputs in the database, sorted."""
    r = subprocess.run(["vdb", "-d", db, "list", "--by", "input", "--json"], encoding="utf-8",
                       stdout=subprocess.PIPE, check=True)
    return collections.Counter(row["input"] for row in json.loads(r.stdout)["rows"])


def cat(db):
    """The records of `vdb cat`: (kind, fields)."""
    records = []
    with open("cat.vt", "wb") as out:
        subprocess.run(["vdb", "-d", db, "cat"], stdout=out, check=True)
    with open("cat.vt", "rb") as source:
        stream = vt_reader.Stream(
            source,
            lambda kind, row: records.append(
                (kind.name, dict(zip([f.name for f in kind.fields], row)))),
            lambda block: None)
        stream.start()
        stream.records()
    return records


def check_sum(db, inputs):
    subprocess.run(["vdb", "-d", db, "check"], check=True)
    want = collections.Counter()
    for i in inputs:
        want.update(i.places)
    images, events, got = {}, {}, {}
    for kind, r in cat(db):
        if kind == "IMAGE":
            images[r["id"]] = b"abc".index(r["path"][-1:])
        elif kind == "EVENT":
            events[r["id"]] = [b"cycles", b"imiss"].index(r["name"])
        elif kind == "COUNT":
            place = images[r["image"]], r["offset"], events[r["event"]]
            if place in got or r["period"] != r["samples"] * 62000:
                sys.exit("place %s is there twice, or its period is wrong" % (place,))
            got[place] = r["samples"]
    if got != dict(want):
        sys.exit("the sum is wrong: %d samples, not %d" % (sum(got.values()), sum(want.values())))


def one_database(db, pool, rounds, opt, rng, tally):
    fresh = list(pool)
    again = []
    begun = set()
    acknowledged = set()
    within = 0.05
    for n in range(rounds + 1):
        last = n == rounds
        lots = [[] for _ in range(opt.writers)]
        for lot in lots:
            for _ in range(0 if last else NEW):
                lot.append(fresh.pop().name)
            if not last:
                # Two writers at a time with one input.
                rng.choice(lots).append(lot[0])
        for name in again:
            rng.choice(lots).append(name)
        for lot in lots:
            rng.shuffle(lot)
        lots = [lot for lot in lots if lot]
        begun.update(name for lot in lots for name in lot)
        writers = run(db, lots, None if last else within, rng)
        killed = 0
        for w in writers:
            acknowledged.update(w.acknowledged)
            killed += w.process.returncode == -9
        # So that some end and most are killed, however fast the machine is just now.
        within *= 1.5 if killed > 0.75 * len(writers) else 0.8
        tally["killed"] += killed
        # Who is killed as soon as he has made the file leaves an empty one.
        there = present(db) if os.path.exists(db) and os.path.getsize(db) else {}
        for name, times in there.items():
            if times != 1 or name not in begun:
                sys.exit("%s is there %d times" % (name, times))
        lost = acknowledged - set(there)
        if lost:
            sys.exit("acknowledged and lost: %s" % sorted(lost))
        again = sorted(begun - acknowledged)
        tally["unknown"] += len(again)
        tally["unacknowledged"] += len(set(there) - acknowledged)
    if again:
        sys.exit("never acknowledged: %s" % again)
    check_sum(db, [i for i in pool if i.name in begun])
    tally["inputs"] += len(begun)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("make")
    p.add_argument("--rounds", type=int, default=ROUNDS)
    p.add_argument("--writers", type=int, default=8)
    p.add_argument("--seed", type=int, default=1)
    opt = p.parse_args()
    rng = random.Random(opt.seed)
    os.makedirs("in", exist_ok=True)
    rounds = min(opt.rounds, ROUNDS)
    pool = [Input(i, opt.make) for i in range(rounds * opt.writers * NEW)]
    tally = collections.Counter()
    done = 0
    while done < opt.rounds:
        db = "kill%d.vdb" % done
        one_database(db, pool, min(rounds, opt.rounds - done), opt, rng, tally)
        done += rounds
        for name in os.listdir("."):
            if name.startswith(db):
                os.unlink(name)
    print("%d rounds: %d writers killed, %d inputs added; of %d not acknowledged, %d were there" % (
        done, tally["killed"], tally["inputs"], tally["unknown"], tally["unacknowledged"]))


main()
