#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# formats/vt.md tells the truth: a reader written from that page alone gets out of our streams what
# went in, in each form that a stream can have.

. "$(dirname "$0")/../lib.sh"

make_stream=$VT_BUILD/tests/tools/stream_mixed
reader()
{
	"$PYTHON" "$ROOT/tests/vt_reader.py" "$@"
}

forms="none zlib"
if command -v zstd >/dev/null; then
	forms="$forms zstd"
else
	t_skip "a zstd stream" "the program zstd is not installed"
fi

n=30000
"$make_stream" lines "$n" >made
t_is "as many lines as records" "$(wc -l <made)" "$n"
for form in $forms; do
	"$make_stream" "$form" "$n" >"$form.vt"
	reader "$form.vt" >"$form.lines"
	t_same "$form: the records are those that were made" "$form.lines" made
	t_pipe "$form: and so through a pipe" "cat $form.vt | '$PYTHON' '$ROOT/tests/vt_reader.py' |
		cmp - made"
	"$make_stream" "$form" 0 >empty.vt
	t_is "$form: a stream of no records" "$(reader empty.vt | wc -l)" 0
done

# What vtrace dump prints is what that reader gets: of the streams made here, whose GAP and LOST
# records make for status 1, and of a real trace in each form.
for form in $forms; do
	t_status "$form: dump" 1 vtrace dump "$form.vt"
	cp "$T_OUT" dumped
	reader --dump "$form.vt" >expected
	t_same "$form: dump prints every record" dumped expected
done
trace=$ROOT/tests/data/demo/perf.data
t_pipe "decode into a file" "vtrace decode '$trace' -o file.vt"
t_pipe "decode into a pipe" "vtrace decode '$trace' | cat >pipe.vt"
for form in file pipe; do
	t_ok "$form: dump" vtrace dump "$form.vt"
	cp "$T_OUT" dumped
	reader --dump "$form.vt" >expected
	t_same "$form: dump prints every record" dumped expected
done
t_is "the trace has records" "$(($(wc -l <expected) > 1000))" 1

# The forms differ on disk: the test above did see three of them.
compressions()
{
	reader --blocks "$1.vt" | cut -f 3 | sort -u | tr '\n' ' '
}
t_is "plain blocks" "$(compressions none)" "0 "
t_like "zlib blocks" 1 <(compressions zlib)
[ ! -e zstd.vt ] || t_like "zstd blocks" 2 <(compressions zstd)
frames=$(reader --blocks none.vt | cut -f 2 | grep -cx 1)
t_is "several frames" "$((frames > 2))" 1

# Damage does not pass that reader.
size=$(wc -c <none.vt)
for cut in 0 15 16 50 "$((size / 2))" "$((size - 1))"; do
	head -c "$cut" none.vt >cut.vt
	t_status "cut at $cut" 1 reader cut.vt
done
{ cat none.vt && echo more; } >more.vt
t_status "bytes after the end" 1 reader more.vt

t_is "the provenance chain" "$(reader --stages zlib.vt)" \
	"$(printf 'stream_mixed\t1\t18446744073709551615\tzlib\ttab\\tand \\xff')"

# The page's table of kinds, as --kinds prints what a stream declares.
table()
{
	# shellcheck disable=SC2016 # the backquotes are the page's
	sed -n 's/^- \*\*\([A-Z]*\)\*\* (\([0-9]*\)): /\1 (\2), /p' "$ROOT/formats/vt.md" |
		sed 's/`\([a-z0-9_]*\)` /\1 /g; s/ (\([0-9]*\))/\t\1/; s/, /\t/g'
}
table >page
t_is "the page lists kinds" "$(grep -c '^SAMPLE	20	time U \[ns\]	' page)" 1
reader --kinds none.vt | sed 's/\tcolour S//' | grep -v -e ^FOREIGN -e ^FIELDLESS >declared
t_same "a stream declares the kinds of the page" declared page

# And the man page's.
awk '
	/^\.It [A-Z]+ \([0-9]+\)$/ { open = 1; printf "%s%s\t%d", sep, $2, substr($3, 2); sep = "\n"; glue = "\t"; next }
	/^\./ { open = 0 }
	open { gsub(/, */, "\t"); printf "%s%s", glue, $0; glue = /\t$/ ? "" : " " }
	END { print "" }' "$ROOT/man/vt.5" >man-page
t_same "vt(5) lists the kinds of the page" man-page page
t_done
