# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# The engines that decode Intel PT against each other, on traces encoded from recordings of real
# programs: sourced behind lib.sh.
#
#	engines_on NAME CMD...		records CMD, encodes it in several ways, and compares the engines
#					on each trace, and on damaged variants of it
#	engines_total TRACES VARIANTS	at least so many were compared
#
# VARIANTS, the number of damaged variants of each trace, may be set before.

: "${VARIANTS:=40}"
engines_traces=0
engines_variants=0

# The ways to encode: a tag, then the options.
engines_ways=(
	"plain"
	"dense --tnt64 --psb 1024"
	"bare --no-retcomp --psb 512 --tsc"
	"timed --mtc 3 --cyc --overflow 20000"
)

engines_clock=(--mtc 3 --nom-freq 32 "--cpuid-15h" "2,256")

# Decodes a trace by both engines, and by two threads: the records must be the same, to the byte.
engines_same()
{
	local trace=$1 pages=$2 how status
	for how in libipt fast "fast -j2"; do
		status=0
		# shellcheck disable=SC2086 # words
		vtrace decode --engine=$how "${engines_clock[@]}" --pages "$pages.dump,$pages.addr" -z none \
			-o "$how.vt" "$trace" 2>"$how.err" || status=$?
		[ $status -le 1 ] || return 1
	done
	"$PYTHON" "$ROOT/tests/vt_same.py" libipt.vt fast.vt &&
		"$PYTHON" "$ROOT/tests/vt_same.py" fast.vt "fast -j2.vt"
}

engines_on()
{
	local name=$1 way tag options trace made=0
	shift
	# The program may fail or be killed, as some are meant to: what it executed is recorded.
	vtrace record --full --blocks -o "$name.vt" -- "$@" </dev/null >/dev/null 2>"$name.err"
	for way in "${engines_ways[@]}"; do
		read -ra options <<<"$way"
		tag=$name-${options[0]}
		vtrace encode "${options[@]:1}" --pages "$tag" -o "$tag.pt" "$name.vt" 2>"$tag.err"
		for trace in "$tag.pt" "$tag.pt".*; do
			[ -e "$trace" ] || continue
			made=$((made + 1))
			if ! engines_same "$trace" "$tag"; then
				t_fail "$name: ${options[*]}: the same blocks" "$trace"
				return
			fi
			if ! "$VT_BUILD/tests/tools/pt_compare" --mutate 1 "$VARIANTS" --pages "$tag.dump,$tag.addr" \
				"$trace" >compare.out 2>&1; then
				t_fail "$name: ${options[*]}: the same from damaged traces" "$(tail -n 5 compare.out)"
				return
			fi
			engines_variants=$((engines_variants + VARIANTS))
		done
	done
	engines_traces=$((engines_traces + made))
	t_is "$name: a trace of each kind, and the engines agree" "$((made >= ${#engines_ways[@]}))" 1
	rm -f "$name".* "$name"-*
}

engines_total()
{
	t_is "traces: $engines_traces" $((engines_traces >= $1)) 1
	t_is "damaged variants: $engines_variants" $((engines_variants >= $2)) 1
}
