#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# No program writes to a file that it reads, however that is named, nor two outputs to one file.

. "$(dirname "$0")/../lib.sh"

PATH=$VT_BUILD/tests/tools:$PATH
demo=$ROOT/tests/data/demo
vtrace decode "$demo/perf.data" -o heat.keep
vfreq --symfs "$demo/symfs" heat.keep -o freq.vt
stream_exec -n 20000 -v 3 >full.keep
vhot full.keep -o hot.keep
cp "$demo/perf.data" perf.keep

# refused FILE COMMAND...: status 2, one line of why, and FILE.keep, of which there is a copy in the
# input's place, is what it was
refused()
{
	local kind=$1
	shift
	cp "$kind.keep" x.vt
	ln -f x.vt link.vt
	t_run "$@"
	t_is "$*: status" "$T_STATUS" 2
	t_like "$*: why" '^v[a-z]+( [a-z]+)?: .*: is also the input$' "$T_ERR"
	t_same "$*: the input is left alone" "$kind.keep" x.vt
}

refused heat vprof -o x.vt x.vt
refused heat vprof -o link.vt x.vt
refused heat vprof --diff --before x.vt -o x.vt heat.keep
refused heat vprof --diff -o x.vt heat.keep x.vt
refused heat vlist --all -i x.vt -o x.vt
refused heat vlist --all --diff x.vt -i heat.keep -o x.vt
refused heat vtrace info -o x.vt x.vt
refused heat vtrace dump -o x.vt x.vt
refused heat vtrace merge -o x.vt heat.keep x.vt
refused heat vfreq -o x.vt x.vt
refused perf vtrace decode -o x.vt x.vt
refused perf vtrace info -o x.vt x.vt
refused full vfreq --exact x.vt -o x.vt heat.keep
refused full vcmp --truth x.vt -o x.vt freq.vt
refused full vsample -o x.vt x.vt
refused full vhot -o x.vt x.vt
refused full vsim -o x.vt x.vt
refused full vsim --truth x.vt -o out.vt x.vt
refused full vtrace encode -o x.vt x.vt
refused full vtrace encode --perf-data -o x.vt x.vt
cp full.keep code.dump
t_status "the pages of a trace" 2 vtrace encode --pages code -o out.pt code.dump
t_same "are not put into its input" full.keep code.dump
refused hot vinv --curve lvp --plot x.vt x.vt
refused hot vcmp -o x.vt hot.keep x.vt

# The shell has opened it for us.
for command in "vhot -o x.vt" "vsample -o x.vt" "vtrace decode -o x.vt -" "vtrace encode -o x.vt" \
	"vtrace info -o x.vt" "vsim --truth x.vt -o out.vt"; do
	cp full.keep x.vt
	# shellcheck disable=SC2086 # words
	$command <x.vt 2>err
	t_is "$command of standard input: status" $? 2
	t_like "why" ': x.vt: is also the input$' err
	t_same "it is left alone" full.keep x.vt
done

two()
{
	t_run "$@"
	t_is "$*: status" "$T_STATUS" 2
	t_like "$*: why" ': is also another output$' "$T_ERR"
}
two vsim --truth out.vt -o out.vt full.keep
two vsim --truth - full.keep
two vinv --curve lvp --plot out.svg -o out.svg hot.keep
two vtrace encode --pages out -o out.dump full.keep
t_status "a device takes any number" 0 vsim --truth /dev/null -o /dev/null full.keep
t_done
