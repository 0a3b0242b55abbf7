#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --symfs with what perf keeps images in, its build-id cache, and with archives: everything is as
# with the files in their places, and nothing stays behind.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" tar readelf objcopy

demo=$ROOT/tests/data/demo
heat=$demo/symfs/opt/vtrace-demo/heat
id=$(readelf -n "$heat" | sed -n 's/.*Build ID: //p')
dir=.build-id/${id:0:2}/${id:2}

# A cache as perf makes it: files by path, and links to their directories by build-id.
mkdir -p "cache/opt/vtrace-demo/heat/$id" "cache/${dir%/*}"
cp "$heat" "cache/opt/vtrace-demo/heat/$id/elf"
ln -s "../../opt/vtrace-demo/heat/$id" "cache/$dir"

# listings NAME SYMFS: of procedures, of code, of the names in a stream, to NAME.*
listings()
{
	t_ok "$1: procedures" vprof --symfs "$2" "$demo/perf.data"
	cp "$T_OUT" "$1.prof"
	t_is "$1: nothing is said" "$(cat "$T_ERR")" ''
	t_ok "$1: code and source lines" vlist --symfs "$2" "$demo/perf.data" smooth
	cp "$T_OUT" "$1.list"
	t_ok "$1: names in a stream" vtrace dump --symfs "$2" -F event,symoff,srcline "$demo/perf.data"
	cp "$T_OUT" "$1.dump"
}

# same NAME: its listings are those of the mirror.
same()
{
	local kind
	for kind in prof list dump; do
		t_same "$1: as from a mirror: $kind" mirror.$kind "$1.$kind"
	done
}

listings mirror "$demo/symfs"
t_like "it has names" ' smooth +/opt/vtrace-demo/heat$' mirror.prof

# ---- a build-id cache ----

listings cache cache
same cache

# What has been stripped there has its debug information beside it.
cp -a cache split
objcopy --only-keep-debug "$heat" "split/$dir/debug"
strip -o "split/$dir/elf" "$heat"
listings split split
same split

if command -v perf >/dev/null; then
	mkdir made
	t_ok "perf makes a cache" perf --buildid-dir "$PWD/made" buildid-cache -a "$heat"
	listings made made
	same made
else
	t_skip "a cache that perf makes" "no perf"
fi

# Another file in that place is none.
cp -a cache other
cp "$demo/symfs/opt/vtrace-demo/orders" "other/$dir/elf"
t_run vprof --symfs other "$demo/perf.data"
t_like "a file with another build-id is refused" "$dir/elf has build-id .*, but $id was recorded" "$T_ERR"
t_unlike "and gives no names" ' smooth ' "$T_OUT"

# ---- archives ----

mkdir tmp
export TMPDIR=$PWD/tmp

# clean NAME: nothing is left in the directory for temporary files.
clean() { t_is "$1: nothing is left behind" "$(ls -A tmp)" ''; }

tar -C cache -cf cache.tar .
tar -C "$demo/symfs" --format=pax -cf mirror.tar opt
"$PYTHON" - <<'EOF'
import bz2, gzip, lzma
plain = open('cache.tar', 'rb').read()
half = len(plain) // 2
for name, module in (('bz2', bz2), ('gz', gzip), ('xz', lzma)):
    open('cache.' + name, 'wb').write(module.compress(plain))
    # Two streams, one after the other.
    open('two.' + name, 'wb').write(module.compress(plain[:half]) + module.compress(plain[half:]))
    data = module.compress(plain)
    open('cut.' + name, 'wb').write(data[:len(data) // 2])
    open('bad.' + name, 'wb').write(data[:99] + bytes([data[99] ^ 0xff]) + data[100:])
open('cut.tar', 'wb').write(plain[:-10240])
EOF
kinds='bz2 gz xz'
if command -v zstd >/dev/null; then
	kinds+=' zst'
	zstd -q cache.tar -o cache.zst
	head -c 5000 cache.zst >cut.zst
	{ head -c 99 cache.zst; printf 'XXXX'; tail -c +104 cache.zst; } >bad.zst
	{ head -c 30000 cache.tar | zstd -q; tail -c +30001 cache.tar | zstd -q; } >two.zst
fi
for file in cache.tar mirror.tar; do
	listings "$file" $file
	same "$file"
done
for kind in $kinds; do
	mv "cache.$kind" archive # its first bytes tell what it is
	listings "$kind" archive
	same "$kind"
	t_ok "$kind: several streams" vprof --symfs "two.$kind" "$demo/perf.data"
	t_same "$kind: are one" mirror.prof "$T_OUT"
	t_status "$kind: an archive that is cut off" 3 vprof --symfs "cut.$kind" "$demo/perf.data"
	t_like "$kind: is told of" '^vprof: cut\..*: the .* is cut off' "$T_ERR"
	t_status "$kind: one that is damaged" 3 vprof --symfs "bad.$kind" "$demo/perf.data"
	t_like "$kind: is told of, too" '^vprof: bad\..*: (damaged|byte|the)' "$T_ERR"
	t_is "$kind: in one line" "$(wc -l <"$T_ERR")" 1
done
t_status "a tar file that is cut off" 3 vprof --symfs cut.tar "$demo/perf.data"
t_like "is told of" '^vprof: cut.tar: the archive is cut off$' "$T_ERR"
clean "archives"

if [ -x /usr/lib/perf-core/perf-archive ] && command -v perf >/dev/null && command -v bzip2 >/dev/null; then
	cp "$demo/perf.data" own.data
	PERF_BUILDID_DIR=$PWD/cache /usr/lib/perf-core/perf-archive own.data >archive.log 2>&1
	listings perf own.data.tar.bz2
	same perf
else
	t_skip "an archive that perf makes" "no perf archive"
fi

# Every program has it, whatever opens it: what decodes, and what is decoded on the way.
vtrace encode --perf-data -o pt.data "$demo/orders.vt"
t_ok "a processor trace with an archive" vtrace decode --symfs mirror.tar -o pt.vt pt.data
vtrace decode --symfs "$demo/symfs" -o pt.mirror.vt pt.data
vtrace dump --blocks pt.vt >pt.archive.blocks
vtrace dump --blocks pt.mirror.vt >pt.mirror.blocks
t_same "ran through the same code" pt.mirror.blocks pt.archive.blocks
t_ok "decoded on the way" vprof --symfs mirror.tar pt.data
cp "$T_OUT" pt.prof
vprof --symfs "$demo/symfs" pt.data >pt.mirror.prof
t_same "it is the same" pt.mirror.prof pt.prof
t_ok "packed" vtrace decode --pack --symfs mirror.tar -o packed.vt "$demo/perf.data"
t_ok "a packed profile" vprof packed.vt
t_like "has the names" ' smooth ' "$T_OUT"
t_ok "both sides of a comparison" vprof --diff -e cpu-clock --symfs cache.tar --before-symfs mirror.tar \
	"$demo/perf.data" "$demo/regs.data"
cp "$T_OUT" diff.archive
vprof --diff -e cpu-clock --symfs "$demo/symfs" "$demo/perf.data" "$demo/regs.data" >diff.mirror
t_same "are the same" diff.mirror diff.archive
clean "programs"

# ---- what is none ----

echo text >text
: >nothing
for file in text nothing "$heat"; do
	for command in vprof 'vtrace decode -o x.vt' 'vtrace dump -F symoff'; do
		# shellcheck disable=SC2086 # several words
		t_status "$command: ${file##*/} is no archive" 3 $command --symfs "$file" pt.data
		t_like "it says so" ': neither a directory nor an archive of tar' "$T_ERR"
	done
done

# ---- archives that lead elsewhere, or nowhere ----

"$PYTHON" - <<'EOF'
import io, tarfile

def make(name, *members, **header):
    with tarfile.open(name + '.evil', 'w') as t:
        for kind, path, link in members:
            m = tarfile.TarInfo(path)
            m.type = kind
            m.linkname = link
            m.size = 4 if kind == tarfile.REGTYPE else 0
            t.addfile(m, io.BytesIO(b'text'))

F, D, S, H = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
make('up', (F, '../x', ''))
make('within', (F, 'a/../../x', ''))
make('absolute', (F, '/tmp/vtrace-was-here', ''))
make('link-up', (S, 'a/l', '../../x'))
make('link-absolute', (S, 'l', '/etc'))
make('link-bends', (D, 't', ''), (S, 'p/q/l', '../../t'), (S, 'm', 'p/q/l/../../x'))
make('through-link', (D, 'd', ''), (S, 'l', 'd'), (F, 'l/x', ''))
make('hard-up', (H, 'h', '../../etc/passwd'))
make('hard-link', (S, 'a/b/l', '../../x'), (H, 'h', 'a/b/l'))
make('hard-none', (H, 'h', 'none'))
make('device', (tarfile.CHRTYPE, 'null', ''))
make('fifo', (tarfile.FIFOTYPE, 'pipe', ''))
make('over-dir', (D, 'd', ''), (F, 'd', ''))
make('over-file', (F, 'f', ''), (D, 'f', ''))
make('deep', (F, 'd/' * 99 + 'x', ''))
# A file that says it is larger than everything may be.
m = tarfile.TarInfo('huge')
m.size = 1 << 40
open('size.evil', 'wb').write(m.tobuf() + bytes(10240))
# And one that is smaller than it says.
m.size = 1 << 20
open('cut-file.evil', 'wb').write(m.tobuf() + bytes(10240))
# The sum of the second header is wrong.
m.size = 0
open('sum.evil', 'wb').write(m.tobuf() + b'x' + m.tobuf()[1:] + bytes(1024))
EOF
while read -r name pattern; do
	t_status "$name" 3 vprof --symfs "$name.evil" "$demo/perf.data"
	t_like "$name: it says why" "^vprof: $name.evil: $pattern" "$T_ERR"
	t_is "$name: in one line, with no listing" "$(cat "$T_ERR" "$T_OUT" | wc -l)" 1
done <<'EOF'
up member '../x' is refused: a name has '..'
within member 'a/../../x' is refused: a name has '..'
absolute member '/tmp/vtrace-was-here' is refused: a name is absolute
link-up member 'a/l' is refused: the link leads out
link-absolute member 'l' is refused: the link leads out
link-bends member 'm' is refused: the link leads out
through-link member 'l/x' is refused: a name leads through what is no directory
hard-up member 'h' is refused: a name has '..'
hard-link member 'h' is refused: it links to no file
hard-none member 'h' is refused: it links to no file
device member 'null' is refused: it is no file, directory or link
fifo member 'pipe' is refused: it is no file, directory or link
over-dir member 'd' is refused: a directory has its name
over-file member 'f/' is refused: a file has its name
deep member '.*' is refused: it is too deep
size member 'huge': more than 8589934592 bytes in all
cut-file the archive is cut off
sum byte 512 of the archive: no header of a member
EOF
clean "refused archives"
t_ok "nothing was written elsewhere" test ! -e /tmp/vtrace-was-here

# What is allowed: links within, members that come twice, names of any length.
"$PYTHON" - "$heat" "$id" <<'EOF'
import io, os, sys, tarfile
heat, id = open(sys.argv[1], 'rb').read(), sys.argv[2]
with tarfile.open('odd.tar', 'w', format=tarfile.GNU_FORMAT) as t:
    def add(name, kind=tarfile.REGTYPE, link='', data=b''):
        m = tarfile.TarInfo(name)
        m.type, m.linkname, m.size = kind, link, len(data)
        t.addfile(m, io.BytesIO(data))
    deep = '/'.join(['x' * 200] * 4)
    add(deep + '/elf', data=b'not yet')
    add(deep + '/elf', data=heat)
    add(deep + '/elf', tarfile.LNKTYPE, deep + '/elf')
    add('./', tarfile.DIRTYPE)
    add('./.build-id/' + id[:2], tarfile.DIRTYPE)
    add('./.build-id/' + id[:2], tarfile.DIRTYPE)
    for _ in range(2):
        add('.build-id/%s/%s' % (id[:2], id[2:]), tarfile.SYMTYPE, '../../' + deep)
EOF
listings odd odd.tar
same odd

# ---- ends ----

t_status "a failure" 2 vlist --symfs odd.tar "$demo/perf.data" none
clean "a failure"
mkfifo hold
for signal in HUP TERM KILL; do
	vprof --symfs odd.tar - <hold >/dev/null 2>&1 &
	exec 9>hold
	head -c 1000 "$demo/perf.data" >&9
	for _ in $(seq 400); do
		[ -z "$(ls -A tmp)" ] || break
		sleep 0.05
	done
	t_is "there is a directory while it runs" "$(find tmp -mindepth 1 -maxdepth 1 | wc -l)" 1
	kill -$signal $!
	wait $! 2>/dev/null
	exec 9>&-
	for _ in $(seq 400); do
		[ -n "$(ls -A tmp)" ] || break
		sleep 0.05
	done
	clean "SIG$signal"
done
TMPDIR=$PWD/none t_status "no directory for temporary files" 4 vprof --symfs odd.tar "$demo/perf.data"

t_done
