#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The documentation against the programs: --help and --version of every program and subcommand,
# --help's options against the man page's, the public functions against section 3, and the
# commands under EXAMPLES, which are run.
#
# Pages: man/PROG.1, man/vtrace-SUB.1 for each subcommand. Options stand in `.It Fl' lines. In
# EXAMPLES, a line that starts with `$ ' is a command (a final backslash continues it); it runs in a
# directory that holds the sample trace as perf.data, with the trace's images found by build-id, and
# must succeed. The commands of one page share one directory and run in their order.

. "$(dirname "$0")/../lib.sh"

t_need mandoc

programs=$(cd "$ROOT" && find cmd -maxdepth 1 -name '*.c' -printf '%f\n' 2>/dev/null |
	sed 's/\.c$//' | sort)
# The table in cmd/vtrace.c: a subcommand that is a program of its own, too, has that name beside it.
vtrace help | sed -n 's/^  \([a-z][a-z]*\)  *\(v[a-z]*  \)\?.*/\1 \2/p' >table
subcommands=$(awk 'NF == 1 { print $1 }' table)

# The options in a page, -x or --long, one a line.
man_options()
{
	sed -n 's/^\.It Fl/Fl/p' "$1" | awk '
		{
			flag = 0
			for (i = 1; i <= NF; i++) {
				if ($i == "Fl")
					flag = 1
				else if ($i ~ /^([A-Z][a-z]|Xo|Xc)$/)
					flag = 0
				else if (flag && $i !~ /^[,|]$/)
					print "-" $i
			}
		}' | sort -u
}

# The options in a help text: the words before the first run of two spaces on an option's line.
help_options()
{
	grep -E '^ +-' "$1" | sed -E 's/^ +//; s/  .*//' |
		grep -oE '(^|[ ,])--?[A-Za-z0-9][-A-Za-z0-9_]*' | tr -d ' ,' | sort -u
}

check_program()
{
	local page=$1
	shift
	t_ok "$* --help" "$@" --help
	cp "$T_OUT" help
	t_like "$* --help begins with how to call it" "^usage: $* " help
	t_is "$* --help is silent on standard error" "$(cat "$T_ERR")" ""
	if [ ! -e "$ROOT/man/$page" ]; then
		t_fail "$* has a man page" "no man/$page"
		return
	fi
	man_options "$ROOT/man/$page" >in-man
	help_options help >in-help
	t_same "$* --help and man/$page have the same options" in-man in-help
	t_like "man/$page tells the exit status" '^\.Sh EXIT STATUS' "$ROOT/man/$page"
	t_like "man/$page has examples" '^\.Sh EXAMPLES' "$ROOT/man/$page"
	t_status "$* refuses an option that does not exist" 2 "$@" --no-such-option
}

version=$(sed -n 's/^#define VT_VERSION "\(.*\)"/\1/p' "$ROOT/lib/base/version.h")
for p in $programs; do
	t_ok "$p --version" "$p" --version
	t_is "$p --version's text" "$(cat "$T_OUT")" "$p (vtrace) $version"
	check_program "$p.1" "$p"
done
for s in $subcommands; do
	check_program "vtrace-$s.1" vtrace "$s"
done
t_is "each program but vtrace is a subcommand" "$(awk 'NF == 2 { print $2 }' table | sort)" \
	"$(echo "$programs" | grep -v '^vtrace$')"
t_pipe "under its name without the v" "awk 'NF == 2 && \$2 != \"v\" \$1 { exit 1 }' table"
while read -r s p; do
	vtrace "$s" --help >as-subcommand
	vtrace help "$s" >as-topic
	${p:-vtrace "$s"} --help >as-program
	t_same "vtrace $s --help is the program's" as-subcommand as-program
	t_same "so is vtrace help $s" as-topic as-program
done <table

# Functions: what the library shows is in section 3, and what section 3 shows is in a header.
nm -D --defined-only "$VT_BUILD/libvtrace.so.0" | awk '$3 ~ /^vt_/ { sub(/@.*/, "", $3); print $3 }' |
	sort -u >exported
# The rest of lib/base is there for vtrace's own programs; vtrace.h does not include it.
public_headers=$(cd "$ROOT/lib" && gcc -std=c11 -I. -MM vtrace.h |
	grep -oE '\b(base|stream)/[a-z_.]+' | sort -u)
# shellcheck disable=SC2086 # names are words
(cd "$ROOT/lib" && grep -ohE '\bvt_[a-z0-9_]+\(' $public_headers) | tr -d '(' | sort -u >declared
comm -12 exported declared >public
if [ -e "$ROOT/man/libvtrace.3" ]; then
	cat "$ROOT"/man/*.3 | grep -oE '\bvt_[a-z0-9_]+' | sort -u >documented
	t_is "every public function is in section 3" "$(comm -23 public documented)" ""
	grep -hE '^\.F[no] ' "$ROOT"/man/*.3 | grep -oE '\bvt_[a-z0-9_]+' | sort -u >shown
	# shellcheck disable=SC2086
	(cd "$ROOT/lib" && cat $public_headers) | grep -oE '\bvt_[a-z0-9_]+' | sort -u >real
	t_is "section 3 shows no function that is not there" "$(comm -23 shown real)" ""
elif [ -n "$programs" ]; then
	t_fail "the library has a man page" "no man/libvtrace.3"
fi

# The commands of a page as a reader sees them, continued lines joined.
examples()
{
	mandoc -T ascii -O width=200 "$1" | sed 's/.\x08//g' | awk '
		/^[A-Z]/ { inside = ($0 == "EXAMPLES") }
		!inside { next }
		open { sub(/^ +/, "") }
		!open && !sub(/^ +\$ /, "") { next }
		{
			open = sub(/\\$/, "")
			printf "%s%s", $0, open ? "" : "\n"
		}'
}

# A directory for one page: perf.data and regs.data, and ~/.debug with each image under its build-id.
prepare()
{
	local demo=$ROOT/tests/data/demo image id
	mkdir -p "$1" && cp "$demo/perf.data" "$demo/regs.data" "$demo/parcels.vt" "$1/" && chmod u+w "$1"/*.data
	[ -d "$demo/symfs" ] || return 0
	cp -r "$demo/symfs" "$1/"
	while read -r image; do
		id=$(readelf -n "$image" 2>/dev/null | sed -n 's/.*Build ID: //p')
		[ -n "$id" ] || continue
		mkdir -p "$HOME/.debug/.build-id/${id:0:2}/${id:2}"
		cp "$image" "$HOME/.debug/.build-id/${id:0:2}/${id:2}/elf"
	done < <(find "$demo/symfs" -type f)
}

# What the page on the sources names is there.
mandoc -T ascii -O width=200 "$ROOT/man/vtrace-internals.7" | sed 's/.\x08//g' |
	grep -oE '(^|[^[:alnum:]_./-])((cmd|lib|formats|tests|scripts|man)/[[:alnum:]_./-]*[[:alnum:]]|\.(ci/run|clang-format))' |
	sed 's/^[^[:alnum:].]//' | sort -u >named
t_is "vtrace-internals(7) names many files" "$(($(wc -l <named) > 30))" 1
while read -r path; do
	[ -e "$ROOT/$path" ] || echo "$path"
done <named >absent
t_same "and each is there" absent /dev/null

full=
vtrace record --full -o probe.vt true >/dev/null 2>&1 && full=1
samples=
perf record -q -e cpu-clock -o probe.data true >/dev/null 2>&1 && samples=1

# Of those that record samples nothing is expected that chance may withhold: a program of theirs of
# which a stage needs samples works for so long that there is one in any case.
for page in "$ROOT"/man/*.[1357]; do
	[ -e "$page" ] || continue
	name=$(basename "$page")
	examples "$page" >commands
	[ -s commands ] || continue
	if [ ! -e "$ROOT/tests/data/demo/perf.data" ]; then
		t_skip "examples of $name" "no sample trace in tests/data/demo"
		continue
	fi
	prepare "$T_DIR/in-$name"
	while IFS= read -r command <&3; do
		case $command in
		*'vtrace record --full'*)
			if [ -z "$full" ]; then
				t_skip "$name: $command" "vtrace record --full does not work here"
				continue
			fi
			;;
		*'vtrace record'* | *'perf record'*)
			if [ -z "$samples" ]; then
				t_skip "$name: $command" "perf record does not work here"
				continue
			fi
			;;
		esac
		t_ok "$name: $command" bash -o pipefail -c "cd '$T_DIR/in-$name' && $command"
	done 3<commands
done

t_done
