#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vdb: what comes out is what vtrace merge makes of the same inputs, however it was added; nothing
# is counted twice; what is damaged, foreign or cut off is refused.

. "$(dirname "$0")/../lib.sh"

split=$VT_BUILD/tests/tools/stream_split
demo=$ROOT/tests/data/demo/perf.data
cp "$demo" perf.data
cp "$ROOT/tests/data/demo/regs.data" regs.data
vtrace decode perf.data -o whole.vt
"$split" whole.vt a.vt b.vt

# The records without what facts there are, which vtrace merge does not pass on.
records()
{
	vtrace dump -k EVENT,IMAGE,LOST,GAP,COUNT "$1"
}

# Samples that a database's own listing tells of.
samples()
{
	vdb "$@" list --json | jq '[.rows[].samples] | add'
}

# ---- adding ----

t_ok "add a perf.data" vdb add --epoch monday perf.data
t_is "it says so" "$(cat "$T_OUT")" "perf.data: added to monday: 3642 samples in 1 images"
vdb cat -o cat.vt
vtrace merge whole.vt -o merge.vt
records cat.vt >got
records merge.vt >want
t_same "what comes out is what vtrace merge makes" got want
t_ok "add it again" vdb add perf.data
t_is "it is there already" "$(cat "$T_OUT")" "perf.data: is in monday already, not added again"
t_pipe "add its stream" 'vtrace decode perf.data | vdb add --epoch other - >out'
t_like "it is the same input" 'is in monday already' out
t_is "nothing was counted twice" "$(samples)" 3642
t_is "no epoch began" "$(vdb list --tsv | tail -n +2 | cut -f 1)" monday
t_ok "but if one insists" vdb add --again perf.data
t_is "it is" "$(samples)" 7284

# ---- sums ----

for f in a b; do
	t_ok "add part $f" vdb -d parts.vdb add -E "$f" "$f.vt"
done
vdb -d parts.vdb cat -o cat.vt
vtrace merge a.vt b.vt -o merge.vt
records cat.vt >got
records merge.vt >want
t_same "the sum of two epochs" got want
vdb -d parts.vdb cat -E a -o cat.vt
vtrace merge a.vt -o merge.vt
records cat.vt >got
records merge.vt >want
t_same "one of them" got want
t_ok "add to one epoch" vdb -d one.vdb add a.vt b.vt
vdb -d one.vdb cat -o cat.vt
vtrace merge a.vt b.vt -o merge.vt
records cat.vt >got
records merge.vt >want
t_same "the sum is the same" got want
t_is "facts on which inputs agree stay" "$(vtrace dump -k META cat.vt | grep -c key=cpudesc)" 1

vtrace decode regs.data -o regs.vt 2>/dev/null
"$PYTHON" "$ROOT/tests/mkperfdata.py" made.data
vtrace decode made.data -o made.vt 2>/dev/null
head -c 60000 perf.data | vtrace decode -o damaged.vt 2>/dev/null
t_status "every record of perf, and a damaged trace" 1 vdb -d mixed.vdb add made.vt regs.vt damaged.vt
vdb -d mixed.vdb cat -o cat.vt
vtrace merge made.vt regs.vt damaged.vt -o merge.vt 2>/dev/null
records cat.vt >got 2>/dev/null
records merge.vt >want 2>/dev/null
t_like "there are losses" '^LOST' want
t_like "there are gaps" '^GAP' want
t_same "images with and without build-id, losses, gaps" got want
"$VT_BUILD/tests/tools/stream_mixed" none 20000 >mixed.vt
t_status "a stream of counts that are too high to be true" 3 vdb -d mixed.vdb add mixed.vt
t_like "says so" 'more samples than can be counted' "$T_ERR"
vdb -d mixed.vdb cat -o cat.vt
records cat.vt >got 2>/dev/null
t_same "nothing of it was added" got want
t_ok "check" vdb -d mixed.vdb check

# ---- choosing ----

t_ok "an image by its last part" vdb cat --image heat -o heat.vt
t_is "has its samples" "$(vtrace dump -k COUNT -F samples heat.vt | awk '{ n += $1 } END { print n }')" 7284
id=$(vtrace dump -k IMAGE -F buildid whole.vt | head -n 1)
t_ok "by the beginning of its build-id" vdb cat --image "${id:0:8}" -o byid.vt
records heat.vt >want
records byid.vt >got
t_same "it is the same" got want
t_ok "one event" vdb cat -e page-faults -o faults.vt
t_is "is alone" "$(vtrace dump -k EVENT -F name faults.vt)" page-faults
t_is "has its samples" "$(vtrace dump -k COUNT -F samples faults.vt | awk '{ n += $1 } END { print n }')" 194
for o in "-i nosuch" "-e nosuch" "-E nosuch" "-L nosuch"; do
	# shellcheck disable=SC2086 # an option and its argument
	t_status "what is not there: $o" 2 vdb cat $o -o none.vt
done
t_status "an option of another command" 2 vdb list --again
t_ok "a label" vdb add -E monday -L mine regs.vt
t_is "stays apart" "$(vdb list --by input --tsv | awk -F '\t' '$2 == "mine"' | wc -l)" 1
vdb cat -L mine -o mine.vt
vtrace merge regs.vt -o merge.vt
records mine.vt >got
records merge.vt >want
t_same "and comes out alone" got want
t_pipe "other programs read it" 'vdb cat | vprof >prof'

for i in perf.data database; do
	if [ $i = database ]; then vdb -d fresh.vdb add perf.data >/dev/null && vdb -d fresh.vdb cat >in.vt; else cp whole.vt in.vt; fi
	vfreq --symfs "$ROOT/tests/data/demo/symfs" --exact "$ROOT/tests/data/demo/counts.vt" --clock 2.5 in.vt 2>/dev/null |
		vtrace dump -k FREQ,EDGE >"$i.freq"
done
t_like "there are estimates" '^FREQ.*executions=' perf.data.freq
t_same "vfreq finds the same frequencies in what comes out" database.freq perf.data.freq

# ---- there and back ----

t_ok "export" vdb export -o all.vt
t_ok "import" vdb -d copy.vdb import all.vt
for by in epoch input profile; do
	vdb list --by "$by" --tsv >want
	vdb -d copy.vdb list --by "$by" --tsv >got
	t_same "each $by is there" got want
done
vdb -d copy.vdb export -o again.vt
vtrace dump all.vt >want
vtrace dump again.vt >got
t_same "exported again, it is the same" got want
t_ok "check" vdb -d copy.vdb check
t_ok "import it again" vdb -d copy.vdb import all.vt
t_like "it is there" 'is in monday already' "$T_OUT"
t_is "nothing was counted twice" "$(samples -d copy.vdb)" "$(samples)"
t_ok "so is what was added to the first" vdb -d copy.vdb add perf.data
t_like "as the same input" 'is in monday already' "$T_OUT"
t_ok "one of two inputs" vdb -d some.vdb add -E monday a.vt
vdb -d one.vdb export -o one.vt
t_status "an export of both is refused" 2 vdb -d some.vdb import one.vt
vtrace merge a.vt -o merge.vt
vdb -d some.vdb cat -o cat.vt
records cat.vt >got
records merge.vt >want
t_same "nothing of it was added" got want
t_status "a profile is no export" 3 vdb -d copy.vdb import merge.vt
head -c $(($(stat -c %s all.vt) - 100)) all.vt >cut.vt
t_status "an export that is cut off" 3 vdb -d cut.vdb import cut.vt
t_ok "leaves a sound database" vdb -d cut.vdb check

# ---- epochs and pruning ----

t_ok "begin an epoch" vdb epoch tuesday
t_status "twice" 2 vdb epoch tuesday
t_ok "add to it" vdb add --again a.vt
t_is "it went there" "$(cut -d ' ' -f 4 "$T_OUT")" tuesday:
size=$(stat -c %s vtrace.vdb)
t_ok "what pruning would remove" vdb prune --keep 1 --dry-run
t_like "it says" '^would remove: monday: 2 inputs, 7284 samples$' "$T_OUT"
t_is "but does not" "$(vdb list --tsv | tail -n +2 | cut -f 1 | tr '\n' ' ')" "monday tuesday "
t_ok "prune" vdb prune --keep 1
t_is "one epoch is left" "$(vdb list --tsv | tail -n +2 | cut -f 1 | tr '\n' ' ')" "tuesday "
vdb cat -o cat.vt
vtrace merge a.vt -o merge.vt
records cat.vt >got
records merge.vt >want
t_same "with what it had" got want
t_ok "check" vdb check
t_ok "nothing is old" vdb prune --older 1
t_is "so nothing went" "$(cat "$T_OUT")" ""
t_status "prune what?" 2 vdb prune
t_ok "what was removed can be added" vdb add perf.data
t_like "it was" 'added to tuesday' "$T_OUT"
t_ok "the latest epoch stays" vdb prune -E tuesday
t_is "empty" "$(vdb list --tsv | tail -n +2 | cut -f 1,3,7 | tr '\t' ' ')" "tuesday 0 0"
t_is "the file has not grown" "$([ "$(stat -c %s vtrace.vdb)" -le "$size" ] && echo yes)" yes

# ---- what is not as it should be ----

head -c $(($(stat -c %s whole.vt) * 3 / 4)) whole.vt >cut.vt
t_status "a stream that is cut off" 3 vdb -d bad.vdb add cut.vt
t_like "is not added" '^vdb: cut.vt: .*no END record: nothing of it was added ' "$T_ERR"
t_is "which one line says" "$(wc -l <"$T_ERR")" 1
printf PERFILE2 >short.data
t_status "eight bytes of a perf.data" 3 vdb -d bad.vdb add short.data
t_like "are a header that is cut" "^vdb: short.data: the header is cut at 8 bytes\$" "$T_ERR"
t_is "not at all" "$(vdb -d bad.vdb list --tsv | wc -l)" 1
t_status "unless one wants it" 1 vdb -d bad.vdb add --partial cut.vt
t_status "one that is not there, and one that is" 3 vdb -d bad.vdb add nosuch.vt whole.vt
t_like "the other is added" '^whole.vt: added' "$T_OUT"
t_status "no database" 3 vdb -d nosuch.vdb list
t_is "none is made" "$([ -e nosuch.vdb ] || echo none)" none
t_status "another file" 3 vdb -d perf.data add whole.vt
t_same "stays as it was" perf.data "$demo"
"$PYTHON" -c 'import sqlite3; d = sqlite3.connect("foreign.db"); d.execute("create table t(x)"); d.commit()'
cp foreign.db foreign.before
t_status "somebody else's database" 3 vdb -d foreign.db add whole.vt
t_same "stays as it was" foreign.db foreign.before
t_status "a directory" 3 vdb -d . add whole.vt
t_status "a name with a control character" 2 vdb -d bad.vdb add -E $'a\nb' whole.vt
t_status "no name" 2 vdb -d bad.vdb epoch ''
t_status "the output is the database" 2 vdb -d bad.vdb cat -o bad.vdb
vdb -d new.vdb add "$ROOT/tests/data/demo/perf.data" >/dev/full 2>said
t_is "what was added cannot be told" $? 4
t_is "why is said once" "$(cat said)" "vdb: standard output: No space left on device"
t_status "a full disk" 4 bash -c 'vdb -d bad.vdb cat >/dev/full'
: >empty.vdb
for c in check list cat export "prune --keep 1"; do
	# shellcheck disable=SC2086 # a command and its options
	t_status "an empty database file: $c" 3 vdb -d empty.vdb $c
	t_like "is named" '^vdb: empty.vdb: 0 bytes are no database' "$T_ERR"
done
t_is "that is left alone" "$(stat -c %s empty.vdb)" 0
t_ok "what was killed before it was made can be added to" vdb -d empty.vdb add perf.data
t_is "and is whole then" "$(samples -d empty.vdb)" 3642
# Cut at every size: within the head, within a page, between pages.
vdb -d cut.vdb add -E cut perf.data >/dev/null
cp cut.vdb sound.cut
wrong=
for s in 1 2 15 16 99 100 101 511 512 513 $(seq 4095 4096 77823) $(seq 4096 4096 77823); do
	for c in check list cat "add --again perf.data" "epoch next"; do
		head -c "$s" sound.cut >cut.vdb
		# shellcheck disable=SC2086 # a command and its options
		vdb -d cut.vdb $c >out 2>err
		[ $? = 3 ] && grep -q '^vdb: cut.vdb: ' err || wrong="$wrong $s:$c"
		head -c "$s" sound.cut | cmp -s - cut.vdb || wrong="$wrong $s:$c:changed"
	done
done
t_is "a database that was cut off is refused, and left alone" "$wrong" ""
# Its log tells that there was something in it.
: >logged.vdb
head -c 100 sound.cut >logged.vdb-wal
t_status "an empty file that has a log" 3 vdb -d logged.vdb add perf.data
t_is "keeps it" "$(stat -c %s logged.vdb-wal)" 100
t_status "an empty file" 3 vdb -d bad.vdb add /dev/null

# Each profile's bytes, changed: an error, never a crash.
cat >damage.py <<'END'
import random, shutil, sqlite3, subprocess, sys
random.seed(int(sys.argv[1]))
bad = 0
for i in range(40):
    shutil.copy("sound.vdb", "damaged.vdb")
    d = sqlite3.connect("damaged.vdb")
    row, data = random.choice(d.execute("select rowid, data from profile").fetchall())
    data = bytearray(data)
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    if i % 4 == 0:
        data = data[:random.randrange(len(data))]
    d.execute("update profile set data = ? where rowid = ?", (bytes(data), row))
    d.commit()
    d.close()
    check = subprocess.run(["vdb", "-d", "damaged.vdb", "check"], capture_output=True)
    cat = subprocess.run(["vdb", "-d", "damaged.vdb", "cat"], capture_output=True)
    bad += check.returncode == 3 and cat.returncode == 3
print(bad)
END
vdb -d sound.vdb add whole.vt regs.vt >/dev/null
t_is "damaged profiles are found" "$("$PYTHON" damage.py 1 2>&1)" 40

# A bit of a name: SQLite sees another name.
"$PYTHON" - <<'END'
data = bytearray(open("sound.vdb", "rb").read())
data[data.rindex(b"/heat") + 4] ^= 1
open("renamed.vdb", "wb").write(data)
END
for c in check cat export "list --by profile"; do
	# shellcheck disable=SC2086 # a command and its options
	t_status "a damaged path: $c" 3 vdb -d renamed.vdb $c
	t_is "$c names the row" "$(cat "$T_ERR")" "vdb: renamed.vdb: row 1 of table image is damaged"
done

# What no vdb writes, as version 1, which has no checksums: lengths of texts among the numbers of an event, and an epoch without a name.
cp sound.vdb lengths.vdb
"$PYTHON" - <<'END'
import sqlite3
d = sqlite3.connect("lengths.vdb")
d.execute("update declared set fields = ?", (bytes([18] + [200, 1] * 18),))
d.execute("pragma user_version = 1")
d.commit()
d = sqlite3.connect("nameless.vdb")
d.execute("attach 'sound.vdb' as sound")
for name, sql in d.execute("select name, sql from sound.sqlite_schema where sql is not null").fetchall():
    if not name.startswith("sqlite_"):
        d.execute(sql.replace("name TEXT NOT NULL UNIQUE", "name TEXT"))
d.execute("pragma application_id = %d" % d.execute("pragma sound.application_id").fetchone()[0])
d.execute("pragma user_version = %d" % d.execute("pragma sound.user_version").fetchone()[0])
d.execute("insert into epoch(name, begun) values(null, 1)")
d.commit()
END
t_ok "an event with lengths of texts" vdb -d lengths.vdb cat -o lengths.vt
t_is "has its texts" "$(vtrace dump --kinds EVENT lengths.vt | cut -f3)" \
	"$(vdb -d sound.vdb cat | vtrace dump --kinds EVENT - | cut -f3)"
vdb -d nameless.vdb add whole.vt >/dev/null 2>&1
t_is "an epoch without a name is no crash" "$(($? < 128))" 1

# Pages of the file, changed.
cat >pages.py <<'END'
import random, subprocess, sys
random.seed(int(sys.argv[1]))
sound = open("sound.vdb", "rb").read()
found = 0
for i in range(40):
    data = bytearray(sound)
    for k in range(8):
        data[random.randrange(100, len(data))] = random.randrange(256)
    open("damaged.vdb", "wb").write(data)
    for command in ["check", "cat", "export", "list"]:
        r = subprocess.run(["vdb", "-d", "damaged.vdb", command], capture_output=True, timeout=600)
        assert 0 <= r.returncode <= 4, (i, command, r)
        found += r.returncode != 0
print(found > 0)
END
t_is "a damaged file does no harm" "$("$PYTHON" pages.py 2 2>&1 | tail -n 1)" True
t_done
