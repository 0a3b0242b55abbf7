#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What `make install` leaves is a library that stands on its own, from C and from C++.

. "$(dirname "$0")/../lib.sh"

t_need pkg-config g++ mandoc
[ -z "$VT_SAN" ] || t_skip_all "an instrumented library is not one to install"

# All in the test's own directory, with DESTDIR in front of a PREFIX as a packager does it. B is what it was
# when all was built: by another name of it, all would be built again, beside the tests that run it.
run_make()
{
	env -u MAKEFLAGS -u MAKELEVEL make -s -C "$ROOT" B="${VT_BUILD#"$ROOT"/}" PREFIX=/opt/vt "$@"
}
t_ok "install into DESTDIR" run_make DESTDIR="$T_DIR/dest" install

# One executable, small and quick to start: links to it, and no library that only some work needs.
t_is "each program is there" "$(cd dest/opt/vt/bin && find . -type f -o -type l | sed 's|^./||' | sort)" \
	"$(cd "$ROOT/cmd" && find . -maxdepth 1 -name '*.c' | sed 's|^./||; s/\.c$//' | sort)"
t_is "as a link to vtrace" "$(cd dest/opt/vt/bin && for p in v*; do readlink "$p" || echo "$p"; done | sort -u)" vtrace
t_is "and runs as a link" "$(dest/opt/vt/bin/vprof --version)" "$(vprof --version)"
readelf -d dest/opt/vt/bin/vtrace | sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*/\1/p' | sort >needed
t_is "libraries that it loads to start" "$(tr '\n' ' ' <needed)" "libZydis libc libipt libm "
find dest -type f -exec strip --strip-unneeded {} + 2>strip.err
size=$(find dest -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
echo "# installed, and stripped as packages are: $size bytes"
t_is "less than 12 MB" "$((size < 12000000))" 1
export PKG_CONFIG_PATH=$T_DIR/dest/opt/vt/lib/pkgconfig
export PKG_CONFIG_SYSROOT_DIR=$T_DIR/dest

t_is "the .pc file tells the version in the header" "$(pkg-config --modversion vtrace)" \
	"$(sed -n 's/^#define VT_VERSION "\(.*\)"/\1/p' "$ROOT/lib/base/version.h")"

headers=dest/opt/vt/include/vtrace
alone()
{
	local h status=0
	for h in $(cd "$headers" && find . -name '*.h' | sort); do
		printf "#include <%s>\nextern int not_empty;\n" "${h#./}" >one.c
		# shellcheck disable=SC2046 # flags are words
		"$@" -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags vtrace) one.c || {
			echo "in $h" >&2
			status=1
		}
	done
	return "$status"
}
t_ok "each header compiles alone as C11" alone gcc -std=c11 -pedantic
t_ok "each header compiles alone as C++" alone g++ -x c++ -std=c++17

cat >user.c <<'END'
#include <stdio.h>
#include <vtrace.h>

int main(int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open(argc > 1 ? argv[1] : "/nowhere/at/all", &err);

	if (r) {
		vt_reader_close(r);
		return 0;
	}
	printf("%s\n", err.text);
	return 3;
}
END
# shellcheck disable=SC2046
t_ok "a C program links with the shared library" \
	gcc -std=c11 -Wall -Werror -o user user.c $(pkg-config --cflags --libs vtrace)
export LD_LIBRARY_PATH=$T_DIR/dest/opt/vt/lib
t_status "and runs, its error text in hand" 3 ./user
t_like "which names the file" /nowhere/at/all "$T_OUT"
t_pipe "it is the shared library that it loads" "readelf -d user | grep 'libvtrace.so.0' >/dev/null"
# shellcheck disable=SC2046
t_ok "a C++ program links with the static library" g++ -x c++ -o user++ user.c -x none \
	$(pkg-config --cflags --static --libs vtrace | sed 's/-lvtrace/-l:libvtrace.a/')
t_status "and runs" 3 env -u LD_LIBRARY_PATH ./user++

# The program in libvtrace(3): as C with the one library, as C++ with the other.
mandoc -T ascii -O width=200 "$ROOT/man/libvtrace.3" | sed 's/.\x08//g' |
	sed -n '/^EXAMPLES/,/^SEE ALSO/p' | sed -n '/#include/,/^SEE ALSO/p' | sed '$d' >onepid.c
# shellcheck disable=SC2046
t_ok "the example in libvtrace(3) compiles as C" \
	gcc -std=c11 -Wall -Wextra -Werror -o onepid onepid.c $(pkg-config --cflags --libs vtrace)
# shellcheck disable=SC2046
t_ok "and as C++" g++ -x c++ -std=c++17 -Wall -Wextra -Werror -o onepid++ onepid.c -x none \
	$(pkg-config --cflags --static --libs vtrace | sed 's/-lvtrace/-l:libvtrace.a/')
make_stream=$VT_BUILD/tests/tools/stream_mixed
"$make_stream" zlib 20000 >all.vt
"$make_stream" lines 20000 >all
pid=$(sed -n 's/^SAMPLE\t.*\tpid=\([^\t]*\)\t.*/\1/p' all | sed -n 7p)
awk -F '\t' -v pid="pid=$pid" '$1 != "SAMPLE" || $3 == pid' all >kept
t_is "it has something to do" "$(grep -c ^SAMPLE kept | awk '{ print ($1 > 0) }') $(cmp -s all kept; echo $?)" \
	"1 1"
for program in onepid onepid++; do
	# Its input says that some was lost; the example passes that on.
	t_status "$program runs" 1 sh -c "./$program $pid <all.vt >some.vt"
	"$PYTHON" "$ROOT/tests/vt_reader.py" some.vt >some
	t_same "$program keeps what it should" some kept
	"$PYTHON" "$ROOT/tests/vt_reader.py" --stages some.vt | cut -f 1 >stages
	t_same "$program adds itself to the chain" stages <(printf 'stream_mixed\nonepid\n')
done
head -c 20000 all.vt >cut.vt
t_status "a stream that is cut" 1 sh -c "./onepid $pid <cut.vt >some.vt"
t_like "is told" "onepid: standard input: truncated at 0x4e20" "$T_ERR"
t_status "no stream at all" 3 sh -c "./onepid 1 </dev/null"

# Plugins: those that come along, and the one in vtrace-plugin(5), from the installed header alone.
prefix=$T_DIR/dest/opt/vt
t_is "every plugin is there" "$(ls "$prefix/lib/vtrace")" \
	"$(cd "$ROOT/cmd/plugins" && find . -name '*.c' | sed 's|^./||; s/\.c$/.so/' | sort)"
mandoc -T ascii -O width=200 "$ROOT/man/vtrace-plugin.5" | sed 's/.\x08//g' |
	sed -n '/^EXAMPLES/,/^SEE ALSO/p' | sed -n '/#include/,/It is built by/p' | sed '$d' >line.c
command=$(mandoc -T ascii -O width=200 "$ROOT/man/vtrace-plugin.5" | sed 's/.\x08//g' |
	sed -n "s/.*It is built by .\\(cc [^'’]*\.c\).*/\1/p")
t_like "the page tells how to build it" '^cc .*line\.so' <(echo "$command")
t_ok "its example is built so" env CPATH="$prefix/include" sh -c "$command"
t_ok "and without a warning" gcc -std=c11 -Wall -Wextra -Werror -pedantic -D_POSIX_C_SOURCE=200809L \
	-fsyntax-only -I "$prefix/include" line.c
vtrace decode -o regs.vt "$ROOT/tests/data/demo/regs.data"
interpret="$prefix/bin/vinterp --symfs $ROOT/tests/data/demo/symfs -l 16"
t_ok "the installed program runs it" sh -c "$interpret --plugin ./line.so regs.vt >line.vt"
sh -c "$interpret -w load-address regs.vt" | vtrace dump -k VALUE -F ip,value |
	while read -r ip value; do echo "$ip $((value & 63))"; done >line.want
vtrace dump -k VALUE -F ip,value line.vt |
	while read -r ip value; do echo "$ip $((value))"; done >line.got
t_is "on some loads" "$(($(wc -l <line.want) > 1000))" 1
t_same "and gets each one's place in its line" line.got line.want
t_is "which is written as it says" \
	"$(vtrace dump -k LABEL -F value,text line.vt | while read -r value text; do
		[ "$((value)) of 64" = "$text" ] || echo "$value $text"; done)" ''
mv "$prefix/lib/vtrace/strides.so" "$prefix/lib/vtrace/steps.so"
t_ok "it finds plugins by their names where they were installed" \
	sh -c "$interpret --plugin steps.so regs.vt >steps.vt"
t_status "and nowhere else" 2 sh -c "$interpret --plugin strides.so regs.vt >steps.vt"

t_is "the shared library shows nothing but vt_ names" \
	"$(nm -D --defined-only "dest/opt/vt/lib/libvtrace.so.0" | awk '{ print $3 }' |
		grep -Ev '^(vt_|VTRACE_0)')" ""

programs=$(cd "$ROOT" && find cmd -maxdepth 1 -name '*.c' -printf '%f\n' 2>/dev/null |
	sed 's/\.c$//' | sort)
t_is "every program is there" "$(ls dest/opt/vt/bin)" "$programs"
pages=$(cd "$ROOT" && find man -name '*.[1357]' -printf '%f\n' 2>/dev/null | sort)
t_is "every man page is there" \
	"$(find dest/opt/vt/share/man -type f -printf '%f\n' 2>/dev/null | sort)" "$pages"

t_ok "uninstall" run_make DESTDIR="$T_DIR/dest" uninstall
t_is "takes away every file" "$(find dest -not -type d)" ""

# A folder with a space and a colon in its name, which end a name in LD_PRELOAD.
unset LD_LIBRARY_PATH PKG_CONFIG_SYSROOT_DIR
known=$VT_BUILD/tests/tools/rec_known
for place in "$T_DIR/a place" "$T_DIR/a place: its name"; do
	name=${place##*/}
	t_ok "install into '$name'" run_make PREFIX="$place" install
	t_ok "and record there" "$place/bin/vtrace" record --full -o spaced.vt -- "$known"
	t_unlike "the loader of the program has nothing to say" 'ld\.so' "$T_ERR"
	t_is "the program says its one line" "$(grep -c '^0x' "$T_OUT") $(wc -l <"$T_OUT")" "1 1"
	t_ok "plugins are found there" sh -c "'$place/bin/vinterp' --symfs '$ROOT/tests/data/demo/symfs' \
		-l 16 --plugin strides.so regs.vt >strides.vt"
	t_ok "uninstall from '$name'" run_make PREFIX="$place" uninstall
	t_is "takes away every file" "$(find "$place" -not -type d)" ""
done
t_ok "install where pkg-config finds it" run_make PREFIX="$T_DIR/a place" install
export PKG_CONFIG_PATH="$T_DIR/a place/lib/pkgconfig"
# shellcheck disable=SC2016 # for the shell of t_pipe
t_pipe "its flags name a folder with a space as shells do" \
	'eval "gcc -std=c11 -Wall -Werror -o spaced user.c $(pkg-config --cflags --libs vtrace)"'
t_status "and the program runs" 3 env LD_LIBRARY_PATH="$T_DIR/a place/lib" ./spaced
t_done
