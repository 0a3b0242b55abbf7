#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof --style perf prints the lines of perf report --stdio: exactly, of a sample trace and of one
# made up; and, where perf is, as it prints them of every recorded perf.data at hand.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON"

demo=$ROOT/tests/data/demo
same() { t_ok "$1" "$ROOT/tests/perf_style.py" "${@:2}"; }

# ---- what is printed ----

t_ok "the sample trace in perf's style" vprof --style perf --symfs "$demo/symfs" -e page-faults \
	"$demo/perf.data"
cat >want <<-'END'
	#
	# Total Lost Samples: 0
	#
	# Samples: 97  of event 'page-faults'
	# Event count (approx.): 6208
	#
	# Overhead  Command  Shared Object  Symbol
	# ........  .......  .............  ...........
	#
	    65.98%  heat     heat           [.] prepare
	    23.71%  heat     heat           [.] smooth
	     8.25%  heat     heat           [.] copy
	     2.06%  heat     heat           [.] start


END
t_same "lines and columns are perf's" <(sed 's/ *$//' "$T_OUT") want
vtrace decode "$demo/perf.data" | vprof --style perf --symfs "$demo/symfs" -e page-faults >piped
t_same "of a stream they are the same" piped "$T_OUT"
vprof --style perf --symfs "$demo/symfs" -n 1 "$demo/perf.data" | grep -v '^#' | grep . >first
t_is "-n counts the rows of each event" "$(awk '{ print $5 }' first | paste -sd' ')" "smooth prepare"
vprof --style perf --symfs "$demo/symfs" --min 20 "$demo/perf.data" | grep -v '^#' | grep . >most
t_is "--min counts for each event" "$(awk '{ print $5 }' most | paste -sd' ')" \
	"smooth chase prepare smooth"

# Code without symbols has a row for each address, by the mode and the address; ties are in order.
# Weights are perf's: the second has two of five samples.
cat >made.json <<-'END'
	{"maps": [[4096, 4096, 8192, "/opt/x/prog"], [65536, 4096, 0, "//anon"]],
	 "samples": [{"ip": 4112}, {"ip": 4100}, {"ip": 66000}, {"ip": 4112},
	             {"ip": 18446744071578845184, "misc": 1}, {"ip": 12, "misc": 2}]}
END
"$ROOT/tests/mkperfdata.py" -d made.json made.data
vprof --style perf made.data 2>/dev/null | grep -v '^#' | grep . >rows
cat >want <<-'END'
	    33.33%  described  prog           [.] 0x0000000000002010
	    16.67%  described  [JIT] tid 100  [.] 0x00000000000101d0
	    16.67%  described  prog           [.] 0x0000000000002004
	    16.67%  described  [unknown]      [k] 0xffffffff81000000
	    16.67%  described  [unknown]      [.] 0x000000000000000c
END
sed -E 's/ +/ /g' rows >squeezed
sed -E 's/ +/ /g' want >expected
t_same "addresses without symbols" squeezed expected

# ---- what perf has not ----

for by in line instruction time process page comm,source; do
	t_status "--style perf --by $by has no form" 2 vprof --style perf --by "$by" made.data
done
t_like "it says what has one" 'no rows by source: by comm, thread or cpu' "$T_ERR"
t_status "nor has --json" 2 vprof --style perf --json made.data
t_status "nor has --diff" 2 vprof --style perf --diff made.data made.data
t_status "nor has --children" 2 vprof --style perf --children made.data

# ---- what perf's users type ----

while read -r option words; do
	t_status "vprof $option" 2 vprof "$option" made.data
	t_like "it says what is here" "^vprof: ${option%%=*}: that is perf's; here .*$words" "$T_ERR"
done <<-'END'
	--sort=comm,dso --by comm,image,procedure
	-s --by comm
	-i operand
	-g --callers
	--stdio --style perf
	--no-children without --children
	--percent-limit=1 --min
	--dsos=x --image
END
while read -r word words; do
	t_status "vtrace $word" 2 vtrace "$word" made.data
	t_like "it says what is here" "^vtrace: $word: that is perf's; here it is $words" "$T_ERR"
done <<-'END'
	report vtrace prof
	script vtrace dump
	annotate vtrace list
	archive vtrace pack
	stat vtrace record and vtrace prof
	top vtrace record --all-cpus
	diff vtrace prof --diff
	evlist vtrace info
END

# ---- perf itself ----

if ! command -v perf >/dev/null; then
	t_skip "perf's own lines" "no perf"
	t_done
fi
same "the sample trace: lines are perf's" "$demo/perf.data"
same "addresses without symbols: lines are perf's" made.data
if [ ! -d "$VT_DATA/perf" ]; then
	t_skip "recorded data" "no optional test data at \$VTRACE_DATA or ../shared/data"
	t_done
fi

while read -r file; do
	name=${file#"$VT_DATA/perf/"}
	options=()
	case $name in
	quipper/perf.data.piped.target-3.8 | linux-perf-data/sleep*.data)
		options=(--fold-kernel) ;; # no build-id of the kernel that perf heeds
	esac
	t_run "$ROOT/tests/perf_style.py" "${options[@]}" "$file"
	case $T_STATUS in
	0) t_pass "$name: lines are perf's" && sed 's/^/# /' "$T_OUT" ;;
	77) t_skip "$name: lines are perf's" "perf shows no samples" ;;
	*) t_fail "$name: lines are perf's" "$(t_last)" ;;
	esac
done < <(find "$VT_DATA/perf" -type f \( -name '*.data' -o -name 'perf.data.*' \) | sort)

while read -r by sort; do
	for name in quipper/perf.data.i686-3.4 fp-amd-zen4-main/perf.data ppp-multiply_var-1/perf.data; do
		same "$name: --by $by is --sort $sort" --by "$by" --sort "$sort" "$VT_DATA/perf/$name"
	done
done <<-'END'
	comm comm
	thread pid
	comm,cpu comm,cpu
	thread,image pid,dso
	image dso
	cpu,procedure cpu,dso,sym
END
t_done
