# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# To be sourced by tests, in an empty directory: compares values found by interpreting samples with
# those of full recordings of the same programs with the same input.

top_needs()
{
	t_need vtrace valgrind perf setarch
	perf record -q -e cpu-clock -o probe.data true >/dev/null 2>&1 ||
		t_skip_all "perf cannot record here"
	setarch -R true 2>/dev/null || t_skip_all "address space randomisation cannot be turned off"
}

# top_input LINES: what the programs work on.
top_input()
{
	seq 1 "$1" | awk '{ print $1, $1 * 7919 % 1000003, "line", $1 % 97 }' >text
	gzip -6 -c text >text.gz
	shuf --random-source=text text >shuffled
	cat >work.pl <<'END'
my %n;
open(my $f, "<", "text");
while (<$f>) { for my $w (split) { $n{$w}++ } s/(\d+)/<$1>/g; }
print join(" ", (sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n)[0 .. 4]), "\n";
END
	cat >work.py <<'END'
words = {}
for line in open("text"):
    for w in line.split():
        words[w] = words.get(w, 0) + 1
print(sorted(words.items(), key=lambda x: (-x[1], x[0]))[:5], sum(i * i % 7 for i in range(20000)))
END
}

# Hot lists of a full recording of a command.
top_full()
{
	local hot=$1
	shift
	vtrace record --full --values=all -o full.vt -- "$@" >out 2>errors <text &&
		vhot -o "$hot" full.vt
	rm -f full.vt
}

# top_compare [-c] RUNS COMMAND...: full recordings, samples of RUNS runs; what find_top.py [-c] prints.
top_compare()
{
	local options=() runs
	while [ "${1#-}" != "$1" ]; do
		options+=("$1")
		shift
	done
	runs=$1
	shift
	# shellcheck disable=SC2016 # the inner shell's own variables
	top_full full.hot "$@" && top_full again.hot "$@" &&
		vtrace record --regs --stack 2048 -c 50021 -o samples.data -- setarch -R bash -c \
			'runs=$1; shift; for ((i = 0; i < runs; i++)); do "$@" <text >out; done' bash \
			"$runs" "$@" >out 2>errors &&
		vtrace decode samples.data 2>errors | vinterp -l 16 --skip random 2>errors |
		vhot -o samples.hot - 2>errors
	"$PYTHON" "$ROOT/tests/find_top.py" "${options[@]}" full.hot again.hot samples.hot 2>errors || cat errors
	rm -f samples.data out
}
