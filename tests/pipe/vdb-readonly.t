#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vdb where nothing can be written: commands that read give what they give elsewhere and leave
# nothing behind, also while others write; those that write say so and change nothing.  All is done
# by a plain user, whom permissions bind.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" setpriv unshare jq

# Wherever the repository is, that user can run this program and find this folder.
umask 022
mkdir bin
cp "$VT_BUILD/bin/vdb" bin/
PATH=$T_DIR/bin:$PATH
user=()
if [ "$(id -u)" = 0 ]; then
	user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	chmod 755 "$T_DIR" "$T_AUX"
	chmod 777 "$T_AUX/san"
fi
trap 'chmod -R u+w "$T_DIR"; rm -rf "$T_DIR"' EXIT

"$VT_BUILD/tests/tools/stream_make" >a.vt <<'END'
EVENT id=0 name=cycles policy=1 unit=cycles
IMAGE id=0 path=/opt/one buildid=0102030405060708
COUNT image=0 offset=16 event=0 samples=5 period=500
COUNT image=0 offset=32 event=0 samples=2 period=200
END
"$VT_BUILD/tests/tools/stream_make" >b.vt <<'END'
EVENT id=0 name=cycles policy=1 unit=cycles
IMAGE id=0 path=/opt/two buildid=0102030405060709
COUNT image=0 offset=16 event=0 samples=4 period=400
END

# All that reading commands say of the database in folder $1, run by "${@:2}".
told()
{
	local c
	export VTRACE_DB=$1/p.vdb
	shift
	for c in "check" "list --tsv" "list --by input --tsv" "list --by profile --tsv" cat export; do
		echo "$c:"
		# shellcheck disable=SC2086 # a command and its options
		"$@" vdb $c >said 2>&1
		echo "status $?"
		case $c in
		cat | export) vtrace dump said ;;
		*) cat said ;;
		esac
	done
	unset VTRACE_DB
}

# Of folder $1 all that reading must not change.
state()
{
	ls -ln --time-style=full-iso "$1"
	cksum "$1"/*
}

# Runs a command that can write to no file, as where the disk is full: what it says goes to a pipe.
no_room()
{
	(
		trap '' XFSZ
		ulimit -f 0
		exec "$@"
	) 2>&1 | cat
	return "${PIPESTATUS[0]}"
}

# ---- folders and files that cannot be written ----

# closed: all is in the file.  log: the second input is in the log still, since somebody has the
# database open; copied in this state, as a machine that fails leaves it, with the log's index and
# without.
mkdir closed log
vdb -d closed/p.vdb add -E one a.vt >/dev/null
vdb -d closed/p.vdb add -E two b.vt >/dev/null
vdb -d p.vdb add -E one a.vt >/dev/null
"$PYTHON" - <<'END'
import shutil, sqlite3, subprocess
d = sqlite3.connect("p.vdb")
d.execute("select count(*) from epoch").fetchall()
subprocess.run("vdb -d p.vdb add -E two b.vt >/dev/null", shell=True, check=True)
for name in ["p.vdb", "p.vdb-wal", "p.vdb-shm"]:
    shutil.copyfile(name, "log/" + name)
END
cp -r log noindex
rm noindex/p.vdb-shm
mkdir nolog
cp log/p.vdb nolog
t_is "the file without the log lacks the second input" \
	"$(vdb -d nolog/p.vdb list --json | jq -c '[.rows[].samples]')" '[7]'

for k in closed log noindex; do
	cp -r $k plain
	told plain >want
	rm -r plain
	t_is "$k: has both inputs" \
		"$(grep -A 4 '^list --tsv' want | cut -f 1,7 | tail -n 2 | tr '\t\n' '  ')" \
		"one 7 two 4 "
	# The files cannot be written, nor can the folder; or one of both.
	for how in "444 555" "444 777" "666 555"; do
		read -r files folder <<<"$how"
		cp -r $k fixed
		chmod "$files" fixed/*
		chmod "$folder" fixed
		state fixed >before
		told fixed "${user[@]}" >got
		t_same "$k: files $files in a folder $folder are read" got want
		# With the index there, SQLite uses it.
		if [ $k != log ] || [ "$files" = 444 ]; then
			state fixed >after
			t_same "$k: nothing is changed" after before
			t_status "$k: it cannot be added to" 4 "${user[@]}" vdb -d fixed/p.vdb add --again b.vt
			t_like "$k: it says so" '^vdb: fixed/p.vdb: (cannot be written, as nothing can be made in fixed: )?Permission denied$' "$T_ERR"
			state fixed >after
			t_same "$k: which changes nothing" after before
		fi
		chmod 755 fixed
		rm -r fixed
	done
	cp -r $k full
	told full no_room >got
	t_same "$k: where no byte can be written it is read" got want
	t_status "$k: it cannot be added to" 4 no_room vdb -d full/p.vdb add --again b.vt
	t_like "$k: it says so" '^vdb: full/p.vdb: File too large$' "$T_OUT"
	told full >got
	t_same "$k: which changes nothing" got want
	rm -r full
done

mkdir fixed
chmod 555 fixed
t_status "a database cannot be made there" 4 "${user[@]}" vdb -d fixed/new.vdb add b.vt
t_is "the folder is named, and why" "$(cat "$T_ERR")" \
	"vdb: fixed/new.vdb: cannot be written, as nothing can be made in fixed: Permission denied"

# The path goes through a URI.
for dir in 'odd ?mode=rw&a#%41' "$T_DIR//odd ?mode=rw&a#%41"; do
	mkdir -p "$dir"
	cp noindex/* "$dir"
	chmod 444 "$dir"/*
	t_is "a folder called $(basename "$dir")" \
		"$("${user[@]}" vdb -d "$dir/p.vdb" list --json | jq -c '[.rows[].samples]')" '[7,4]'
	chmod -R u+w "$dir"
	rm -r "$dir"
done

# ---- damaged logs ----

# Who may write and who may not, and so reads the log in another way, see the same: of logs with a
# byte or three changed, in the head or anywhere, and cut off.
cat >logs.py <<'END'
import os, random, subprocess, sys
random.seed(1)
base = open("log/p.vdb", "rb").read()
log = open("log/p.vdb-wal", "rb").read()
os.mkdir("bad")
lists = set()
for i in range(40):
    bad = bytearray(log)
    for _ in range(i % 4):
        at = random.choice([random.randrange(32), random.randrange(len(bad))])
        bad[at] ^= 1 << random.randrange(8)
    if i % 5 == 0:
        bad = bad[:random.randrange(len(bad))]
    said = []
    for mode, user in ((0o444, sys.argv[1:]), (0o644, [])):
        for name, data in (("bad/p.vdb", base), ("bad/p.vdb-wal", bad)):
            if os.path.exists(name):
                os.unlink(name)
            open(name, "wb").write(data)
            os.chmod(name, mode)
        said.append(subprocess.run(user + ["vdb", "-d", "bad/p.vdb", "list", "--tsv"],
                                   capture_output=True))
        if os.path.exists("bad/p.vdb-shm"):
            os.unlink("bad/p.vdb-shm")
    assert said[0].returncode == said[1].returncode == 0, said
    assert said[0].stdout == said[1].stdout, (i, said)
    lists.add(said[0].stdout)
print(len(lists))
END
t_is "a damaged log ends where SQLite says, too, before its transaction or behind" \
	"$("$PYTHON" logs.py "${user[@]}" 2>&1 | tail -n 1)" 2

# ---- a full disk ----

# In a mount of its own: adds to the database of folder $1 where there is room for $2 bytes; what it
# says, and what readers say before, on the full disk and after, in $3.*
cat >full.sh <<'END'
set -e
mkdir -p full
mount -t tmpfs -o size=2m tmpfs full
cp "$1"/* full
told full >"$3.want"
head -c "$2" /dev/zero >full/room
cat /dev/zero >full/filler 2>/dev/null || true
rm full/room
told full >"$3.full"
status=0
vdb -d full/p.vdb add -E three many.vt >"$3.said" 2>&1 || status=$?
echo "$status" >"$3.status"
told full >"$3.after"
END
export -f told
own=(unshare -m)
[ "$(id -u)" = 0 ] || own=(unshare -rm)
{
	echo "EVENT id=0 name=cycles policy=1 unit=cycles"
	for ((i = 0; i < 100; i++)); do
		printf 'IMAGE id=%d path=/opt/many/%d buildid=%016x\n' $i $i $((i + 100))
		printf 'COUNT image=%d offset=16 event=0 samples=1 period=100\n' $i
	done
} | "$VT_BUILD/tests/tools/stream_make" >many.vt
mkdir full
if "${own[@]}" mount -t tmpfs tmpfs full 2>/dev/null; then
	for k in closed log noindex; do
		for room in 0 40960; do
			"${own[@]}" bash full.sh $k $room disk
			t_same "$k: on a disk with room for $room bytes it is read" disk.full disk.want
			t_is "$k: it cannot be added to" "$(cat disk.status)" 4
			t_like "$k: it says so" '^vdb: full/p.vdb: (database or disk is full|No space left on device)$' disk.said
			t_same "$k: which changes nothing" disk.after disk.want
		done
	done
	"${own[@]}" bash full.sh closed 1048576 disk
	t_is "with room for a megabyte it can" "$(cat disk.status)" 0
else
	t_skip "a full disk" "no file system can be mounted here"
fi

# ---- while others write ----

samples()
{
	"${user[@]}" vdb -d live/p.vdb list --json | jq '[.rows[].samples] | add'
}

# Between its inputs the writer waits for the next one, so each time is known what is there.
mkdir live
mkfifo one two live.out
vdb -d live/p.vdb add a.vt one two >live.out &
exec 3<live.out
read -r line <&3
chmod 444 live/*
t_is "the writer has added one input" "$line" "a.vt: added to default: 7 samples in 1 images"
t_ok "who cannot write can read" "${user[@]}" vdb -d live/p.vdb check
t_is "what there is" "$(samples)" 7
cat b.vt >one
read -r _ <&3
t_is "then the next" "$(samples)" 11
cat many.vt >two
wait $!
t_is "then all" "$(samples)" 111
exec 3<&-
rm -r live

# The index of the log begins with two copies of its head, which a writer changes one after the
# other.  A reader that meets it in between waits; if it stays so, the writer was killed there.
# Whoever can write to the index makes it anew.
mkdir live
vdb -d live/p.vdb add a.vt >/dev/null
"$PYTHON" - "${user[@]}" <<'END'
import os, sqlite3, subprocess, sys, time
d = sqlite3.connect("live/p.vdb")
d.execute("select count(*) from epoch").fetchall()
def allow(mode):
    for name in ["p.vdb", "p.vdb-wal", "p.vdb-shm"]:
        os.chmod("live/" + name, mode)
index = open("live/p.vdb-shm", "rb+", buffering=0)
index.seek(8)
whole = index.read(1)[0]
def put(value):
    index.seek(8)
    index.write(bytes([value]))
command = sys.argv[1:] + ["vdb", "-d", "live/p.vdb", "list", "--tsv"]
allow(0o444)
want = subprocess.run(command, capture_output=True).stdout
put(whole ^ 1)
reader = subprocess.Popen(command, stdout=subprocess.PIPE)
time.sleep(0.3)
early = reader.poll()
put(whole)
got = reader.communicate()[0]
put(whole ^ 1)
killed = subprocess.run(command, capture_output=True)
allow(0o644)
subprocess.run(["vdb", "-d", "live/p.vdb", "list"], capture_output=True)
again = subprocess.run(command, capture_output=True).stdout
with open("torn", "w") as f:
    print(early, len(want) > 0 and got == want, killed.returncode, again == want, file=f)
    f.write(killed.stderr.decode())
END
t_is "a reader waits for a half written index" "$(head -n 1 torn)" "None True 4 True"
t_is "which stays so if its writer was killed" "$(tail -n +2 torn)" \
	"vdb: live/p.vdb: a writer was killed: it must be opened once by a user who can write to it"
rm -r live

# As fast as they can: readers see whole inputs, never fewer than before.  The log is copied to the
# file and begun anew every 1000 pages, of which each input takes 10.
mkdir live
mapfile -t inputs < <(yes a.vt | head -n 400)
{
	vdb -d live/p.vdb add --again "${inputs[@]}" >live.out
	touch ended
} &
exec 3<live.out
read -r _ <&3
chmod 444 live/*
cat <&3 >/dev/null &
last=0 reads=0 wrong=
until [ -e ended ]; do
	"${user[@]}" vdb -d live/p.vdb check || wrong="$wrong check failed;"
	now=$(samples)
	[ $((now % 7)) = 0 ] && [ "$now" -ge "$last" ] || wrong="$wrong $last then $now;"
	last=$now
	reads=$((reads + 1))
done
t_is "each of $reads readers sees whole inputs" "$wrong" ""
t_is "and at last all" "$(samples)" 2800
t_done
