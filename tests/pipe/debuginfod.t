#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Images and their debug information from a server of debuginfod(8), which stands in for one of a
# distribution: everything is as with the files in their places, and only what lacks is asked for.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" readelf

"$PYTHON" -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null ||
	t_skip_all "libdebuginfod.so.1 is not installed"
"$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
socket.create_connection(s.getsockname())' 2>/dev/null || t_skip_all "no network on this machine, not even within it"

demo=$ROOT/tests/data/demo
heat=$demo/symfs/opt/vtrace-demo/heat
id=$(readelf -n "$heat" | sed -n 's/.*Build ID: //p')

# ---- the server ----

cat >server.py <<'EOF'
import functools, http.server, os

class Handler(http.server.SimpleHTTPRequestHandler):
    def log_request(self, code='-', size='-'):
        with open('log', 'a') as log:
            print(int(code), self.path, file=log)
    def log_message(self, *args):
        pass

server = http.server.HTTPServer(('127.0.0.1', 0), functools.partial(Handler, directory='served'))
with open('port.new', 'w') as f:
    print(server.server_port, file=f)
os.rename('port.new', 'port')
server.serve_forever()
EOF
mkdir -p "served/buildid/$id" empty
"$PYTHON" server.py &
server=$!
trap 'kill $server; rm -rf "$T_DIR"' EXIT
for _ in $(seq 400); do
	[ ! -e port ] || break
	sleep 0.1
done
[ -e port ] || { t_fail "the server starts" && t_done; }
urls="http://127.0.0.1:$(cat port)"

# serve NAME FILE: as what the server has of heat: executable, debuginfo.
serve() { cp "$2" "served/buildid/$id/$1"; }

# fresh: nothing has been asked for, and nothing is in the client's cache, whose memory of what is
# not there is as short as can be.
fresh()
{
	rm -rf client log
	mkdir client
	echo 0 >client/cache_miss_s
	: >log
}

# ask CMD...: with the server
ask() { env DEBUGINFOD_URLS="$urls" DEBUGINFOD_CACHE_PATH="$PWD/client" "$@"; }

# requests: what the server has been asked for of heat
requests() { grep -a "$id" log | sed 's,/buildid/[^/]*/,,'; }

# listings NAME COMMAND-PREFIX...: of procedures, of code, of names in a stream, to NAME.*
listings()
{
	local name=$1
	shift
	t_ok "$name: procedures" "$@" vprof --symfs "$symfs" "$demo/perf.data"
	cp "$T_OUT" "$name.prof"
	t_ok "$name: code and source lines" "$@" vlist --symfs "$symfs" "$demo/perf.data" smooth
	cp "$T_OUT" "$name.list"
	t_ok "$name: names in a stream" "$@" vtrace dump --symfs "$symfs" -F event,symoff,srcline "$demo/perf.data"
	cp "$T_OUT" "$name.dump"
}

same()
{
	local kind
	for kind in prof list dump; do
		t_same "$1: as with the files: $kind" mirror.$kind "$1.$kind"
	done
}

symfs=$demo/symfs
listings mirror env
t_like "with the files: there are names" ' smooth +/opt/vtrace-demo/heat$' mirror.prof

# ---- the whole file ----

symfs=empty
serve executable "$heat"
fresh
listings executable ask
same executable
t_is "the file is fetched once, for three programs" "$(requests)" "200 executable"

# ---- a stripped file, and its debug information ----

strip -o stripped "$heat"
objcopy --only-keep-debug "$heat" debug
serve executable stripped
serve debuginfo debug
fresh
listings split ask
same split
t_is "both are fetched" "$(requests | sort)" "200 debuginfo
200 executable"
mkdir -p half/opt/vtrace-demo
cp stripped half/opt/vtrace-demo/heat
symfs=half
fresh
listings half ask
same half
t_is "of a stripped file that is here only the debug information is" "$(requests)" "200 debuginfo"
t_ok "vtrace doctor asks for it" ask vtrace doctor half/opt/vtrace-demo/heat
t_like "and says so" 'has DWARF in a file of its own' "$T_OUT"

# ---- what is here is not asked for ----

fresh
symfs=$demo/symfs
listings here ask
same here
t_is "a file that is here is not asked for" "$(requests)" ''

# ---- the code that a processor trace ran through ----

orders=$demo/symfs/opt/vtrace-demo/orders
other=$(readelf -n "$orders" | sed -n 's/.*Build ID: //p')
mkdir "served/buildid/$other"
cp "$orders" "served/buildid/$other/executable"
vtrace encode --perf-data -o pt.data "$demo/orders.vt"
t_ok "a trace is decoded with the program" vtrace decode --symfs "$demo/symfs" -o - pt.data
vtrace dump --blocks "$T_OUT" >mirror.blocks
fresh
t_ok "and with what is fetched" ask vtrace decode --symfs empty -o - pt.data
vtrace dump --blocks "$T_OUT" >fetched.blocks
t_same "the same has been executed" mirror.blocks fetched.blocks
t_is "the program was fetched" "$(grep -ac "^200 .*$other/executable" log)" 1
t_ok "a listing decodes it on the way" ask vprof --symfs empty pt.data
cp "$T_OUT" fetched.prof
t_ok "as with the program" vprof --symfs "$demo/symfs" pt.data
t_same "it is the same" "$T_OUT" fetched.prof

# ---- none there, or another ----

symfs=empty
rm -r "served/buildid/$id"
fresh
t_ok "a file that is not served" ask vprof --symfs empty "$demo/perf.data"
cp "$T_OUT" none
t_is "is asked for once" "$(requests)" "404 executable"
t_unlike "the hint does not tell of servers" DEBUGINFOD_URLS "$T_ERR"
t_ok "a file that is not here" vprof --symfs empty "$demo/perf.data"
t_same "is the same" none "$T_OUT"
t_like "the hint tells of servers" 'servers in DEBUGINFOD_URLS' "$T_ERR"
# Once even where several stores of images are made.
fresh
t_ok "two profiles" ask vprof --symfs empty --before-symfs empty --diff "$demo/perf.data" "$demo/regs.data"
t_is "ask once" "$(requests)" "404 executable"

mkdir "served/buildid/$id"
serve executable "$orders"
fresh
t_ok "another file is served" ask vprof --symfs empty "$demo/perf.data"
t_like "it is refused" "client/$id/executable has build-id .*, but $id was recorded" "$T_ERR"
t_unlike "and gives no names" ' smooth ' "$T_OUT"
serve executable stripped
serve debuginfo "$orders"
fresh
t_ok "other debug information is served" ask vprof --symfs empty "$demo/perf.data"
t_unlike "it is refused, too" ' smooth ' "$T_OUT"
t_is "after both were fetched" "$(requests | sort)" "200 debuginfo
200 executable"

# ---- no servers ----

fresh
for no in '' ' '; do
	t_ok "DEBUGINFOD_URLS='$no'" ask env DEBUGINFOD_URLS="$no" vprof --symfs empty "$demo/perf.data"
	t_like "counts as none" 'servers in DEBUGINFOD_URLS' "$T_ERR"
done
t_ok "no DEBUGINFOD_URLS" env DEBUGINFOD_CACHE_PATH="$PWD/client" vprof --symfs empty "$demo/perf.data"
t_is "no server is asked" "$(cat log)" ''
# Nothing listens at that port.
t_ok "a server that cannot be reached" env DEBUGINFOD_URLS=http://127.0.0.1:1 \
	DEBUGINFOD_CACHE_PATH="$PWD/client" vprof --symfs empty "$demo/perf.data"
t_same "leaves what there is without it" none "$T_OUT"
t_is "and is told of once" "$(grep -c 'DEBUGINFOD_URLS: build-id .*nothing more is fetched$' "$T_ERR")" 1

# ---- no library ----

fresh
mkdir lib
: >lib/libdebuginfod.so.1 # found first, and none
t_ok "a library that cannot be loaded" ask env LD_LIBRARY_PATH="$PWD/lib" vprof --symfs empty --before-symfs empty \
	--diff -e cpu-clock "$demo/perf.data" "$demo/regs.data"
t_is "is told of once, with its package" "$(grep -c 'DEBUGINFOD_URLS: .*package libdebuginfod1' "$T_ERR")" 1
t_is "and no server is asked" "$(cat log)" ''

t_done
