#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --symfs with what perf keeps images in, its build-id cache: everything is as with the files in
# their places.

. "$(dirname "$0")/../lib.sh"

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

t_done
