# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# TAP for shell tests. A test is a bash script tests/pipe/NAME.t (or tests/long/NAME.t):
#
#	#!/usr/bin/env bash
#	# SPDX-License-Identifier: GPL-3.0-or-later
#	. "$(dirname "$0")/../lib.sh"
#	t_ok "info reads a stream" vtrace info x.vt
#	t_done
#
# It starts in an empty directory of its own ($T_DIR, removed at the end) with LC_ALL=C, TZ=UTC,
# HOME=$T_DIR/.home, the built programs first in PATH, and these variables:
#
#	ROOT		the repository		VT_BUILD	the build directory
#	VT_DATA		optional folder of real traces (VTRACE_DATA, else ../shared/data)
#	VT_SAN		the sanitizers of this build, empty for none
#	PYTHON		a python3 that depends on nothing but its own package
#
# Functions that count as one subtest each; the name always comes first:
#
#	t_ok NAME CMD...		CMD exits 0
#	t_status NAME N CMD...		CMD exits N
#	t_pipe NAME 'SHELL TEXT'	each command of each pipeline in it exits 0 (pipefail, errexit)
#	t_is NAME ACTUAL EXPECTED	equal strings
#	t_same NAME FILE FILE		equal bytes (shows a diff)
#	t_like NAME REGEX FILE		some line matches the extended regex
#	t_unlike NAME REGEX FILE	no line does
#	t_pass NAME, t_fail NAME [WHY]	a verdict reached by other means
#	t_skip NAME REASON		not done, and why
#
# And these that do not:
#
#	t_run CMD...			run; standard output in $T_OUT, error in $T_ERR, status in $T_STATUS
#	t_need CMD...			skip the whole test when a command is missing
#	t_need_data [PATH]		skip the whole test when VT_DATA (or a file in it) is absent
#	t_skip_all REASON
#	t_done				prints the plan; every test ends with it
#
# t_ok, t_status and t_pipe run their command through t_run. A sanitizer report from any process
# started by the test, wherever its standard error went, makes the test fail.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VT_BUILD=${VT_BUILD:-$ROOT/build}
VT_DATA=${VTRACE_DATA:-$ROOT/../shared/data}
VT_SAN=${VT_SAN-}
PYTHON=/usr/bin/python3
[ -x "$PYTHON" ] || PYTHON=python3
PATH=$VT_BUILD/bin:$PATH
LC_ALL=C
TZ=UTC
# Python's own modules of the tests, without traces in the source tree.
PYTHONPATH=$ROOT/tests
PYTHONDONTWRITEBYTECODE=1
export ROOT VT_BUILD VT_DATA VT_SAN PYTHON PYTHONPATH PYTHONDONTWRITEBYTECODE PATH LC_ALL TZ
unset DEBUGINFOD_URLS CDPATH

# What compares two builds wants the same names of files from both.
if [ -n "${VT_TEST_DIR-}" ]; then
	T_DIR=$VT_TEST_DIR/$(basename "$0" .t)
	mkdir "$T_DIR" || exit 99
else
	T_DIR=$(mktemp -d "${TMPDIR:-/tmp}/vt-test.XXXXXX") || exit 99
fi
T_AUX=$T_DIR/.t
mkdir -p "$T_AUX/san" "$T_DIR/.home"
export HOME=$T_DIR/.home
T_OUT=$T_AUX/out
T_ERR=$T_AUX/err
T_STATUS=0
t_count=0
t_failed=0
trap 'rm -rf "$T_DIR"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$T_DIR" || exit 99

ASAN_OPTIONS=detect_leaks=1:exitcode=99:abort_on_error=0:log_path=$T_AUX/san/report
UBSAN_OPTIONS=print_stacktrace=1:exitcode=99:log_path=$T_AUX/san/report
export ASAN_OPTIONS UBSAN_OPTIONS

t_pass()
{
	t_count=$((t_count + 1))
	printf 'ok %d - %s\n' "$t_count" "$1"
}

t_fail()
{
	t_count=$((t_count + 1))
	t_failed=$((t_failed + 1))
	printf 'not ok %d - %s\n' "$t_count" "$1"
	[ -z "${2-}" ] || printf '%s\n' "$2" | sed 's/^/#   /'
}

t_skip()
{
	t_count=$((t_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$t_count" "$1" "${2:?t_skip needs a reason}"
}

t_skip_all()
{
	printf '1..0 # SKIP %s\n' "${1:?t_skip_all needs a reason}"
	exit 0
}

t_need()
{
	local c
	for c; do
		command -v "$c" >/dev/null || t_skip_all "$c is not installed"
	done
}

t_need_data()
{
	[ -e "$VT_DATA/${1-}" ] || t_skip_all "no optional test data at \$VTRACE_DATA or ../shared/data${1:+: $1}"
}

# True when a sanitizer spoke since the last call; the text is then in $T_AUX/report.
t_sanitizer_spoke()
{
	local f text found=1
	for f in "$T_AUX"/san/*; do
		[ -e "$f" ] || continue
		[ "$found" -eq 0 ] || : >"$T_AUX/report"
		cat "$f" >>"$T_AUX/report"
		rm -f "$f"
		found=0
	done
	if [ -s "$T_ERR" ]; then
		# By the shell itself: another process takes longer than many a command that is tested.
		IFS= read -r -d '' text <"$T_ERR" || :
		if [[ $text =~ 'ERROR: '[A-Za-z]+Sanitizer || $text == *': runtime error: '* ]]; then
			cp "$T_ERR" "$T_AUX/report"
			found=0
		fi
	fi
	return "$found"
}

t_run()
{
	T_STATUS=0
	"$@" >"$T_OUT" 2>"$T_ERR" || T_STATUS=$?
	if t_sanitizer_spoke; then
		T_STATUS=sanitizer
		cp "$T_AUX/report" "$T_ERR"
	fi
}

# What the last t_run left behind, shortened, for a failure message.
t_last()
{
	echo "status $T_STATUS"
	if [ -s "$T_ERR" ]; then
		echo "standard error:"
		head -n 40 "$T_ERR" | cut -c 1-400
	fi
	if [ -s "$T_OUT" ]; then
		echo "standard output:"
		head -n 10 "$T_OUT" | cut -c 1-200 | tr -c '\11\12\40-\176' '?'
	fi
}

t_status()
{
	local name=$1 want=$2
	shift 2
	t_run "$@"
	if [ "$T_STATUS" = "$want" ]; then
		t_pass "$name"
	else
		t_fail "$name" "wanted status $want from: $*
$(t_last)"
	fi
}

t_ok()
{
	local name=$1
	shift
	t_status "$name" 0 "$@"
}

t_pipe()
{
	t_status "$1" 0 bash -e -o pipefail -c "$2"
}

t_is()
{
	if [ "$2" = "$3" ]; then
		t_pass "$1"
	else
		t_fail "$1" "got:    $2
wanted: $3"
	fi
}

t_same()
{
	if cmp -s "$2" "$3"; then
		t_pass "$1"
	else
		t_fail "$1" "$(diff -a -u "$2" "$3" 2>&1 | head -n 40 | cut -c 1-300)"
	fi
}

# Whether a line of a file matches; the first ones are looked at without another process.
t_matches()
{
	local lines=() line
	if [ -f "$2" ]; then
		mapfile -t -n 40 lines <"$2"
		for line in "${lines[@]}"; do
			[[ $line =~ $1 ]] && return
		done
	fi
	grep -aEq -e "$1" "$2"
}

t_like()
{
	if t_matches "$2" "$3"; then
		t_pass "$1"
	else
		t_fail "$1" "no line matches $2 in:
$(head -n 20 "$3" | cut -c 1-200)"
	fi
}

t_unlike()
{
	if [ -e "$3" ] && ! grep -aEq -e "$2" "$3"; then
		t_pass "$1"
	else
		t_fail "$1" "lines match $2 (or no file):
$(grep -aE -e "$2" "$3" 2>&1 | head -n 20 | cut -c 1-200)"
	fi
}

# t_places PROGRAM LABEL...: a pattern of the last three digits of the labels' addresses, which are the
# same wherever the program is loaded.
t_places()
{
	local program=$1 label places=
	shift
	for label in "$@"; do
		places+=$(printf '|%03x' $((0x$(nm "$program" | sed -n "s/ . $label\$//p") & 0xfff)))
	done
	printf '(%s)' "${places#|}"
}

# t_terminal COLUMNS COMMAND...: what it prints to a terminal of so many columns, errors too.
t_terminal()
{
	"$PYTHON" - "$@" <<'END'
import fcntl, os, pty, struct, sys, termios

pid, fd = pty.fork()
if pid == 0:
    size = struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0)
    fcntl.ioctl(1, termios.TIOCSWINSZ, size)
    os.environ["TERM"] = "dumb"
    os.execvp(sys.argv[2], sys.argv[2:])
text = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
os.waitpid(pid, 0)
sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
END
}

t_done()
{
	: >"$T_ERR"
	if t_sanitizer_spoke; then
		t_fail "no sanitizer report from any process" "$(head -n 60 "$T_AUX/report")"
	fi
	printf '1..%d\n' "$t_count"
	[ "$t_failed" -eq 0 ]
	exit
}
