#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every perf.data of the optional data, against perf and against a second reader of the raw bytes.
#
# Where perf is no oracle the raw reader is the only one:
#	attributes of 136 bytes	perf 6.1 refuses them; a copy cut to 128 (perf61.data) is
#				what perf reads, while vtrace reads the original
#	COMPRESSED2		perf 6.1 does not know the record type
#	unfinished recordings	perf script ends with status 255
. "$(dirname "$0")/../lib.sh"

t_need perf vtrace zstd
t_need_data perf
check()
{
	"$PYTHON" "$ROOT/tests/perfdata_check.py" "$@"
}

# one FILE...: decodes each, then asks the checker named in $how.
one()
{
	local file=$1 perf_file=$1 name=${1#"$VT_DATA"/} how
	shift
	[ ! -e "${file%/*}/perf61.data" ] || perf_file=${file%/*}/perf61.data
	t_ok "$name is decoded" vtrace decode --engine=none -o x.vt "$file"
	for how; do
		case $how in
		raw) t_ok "$name: raw" check raw x.vt "$file" ;;
		none) t_is "$name has no samples" "$(vtrace dump -F time x.vt | wc -l)" 0 ;;
		*) t_ok "$name: $how" check "$how" x.vt "$perf_file" ;;
		esac
	done
}

while read -r f; do
	case $f in
	*/quipper/* | */linux-perf-data/*) ;;
	*/pt-hase*/* | */pt-tmon*/*) one "$f" none ;;
	*/dwarf-*/* | */lbr-*/*) one "$f" script fields raw ;;
	*) one "$f" script raw ;;
	esac
done < <(find "$VT_DATA/perf" -name perf.data | sort)
for f in "$VT_DATA"/perf/quipper/*; do
	case $f in
	*branch*) one "$f" script fields raw ;;
	*) one "$f" script raw ;;
	esac
done
for f in "$VT_DATA"/perf/linux-perf-data/*; do
	one "$f" raw
done

# How each event chose its pc: AMD's precise events are IBS, Intel's PEBS, Arm's have skid.
policy()
{
	vtrace decode --engine=none -o x.vt "$VT_DATA/perf/$1/perf.data" 2>/dev/null
	t_is "$1: $2" "$(vtrace dump -k EVENT -F policy x.vt | sort -u | paste -sd ' ')" "$2"
}
policy fp-amd-zen4-main dispatch
policy ppp-multiply_var-1 precise
policy arch-arm64-rpi interrupt
policy lbr-propeller_sample interrupt
policy cpuclock-cpp-profile-90k interrupt
policy tp-probe-stream exact

# Through a pipe, where nothing can be read out of order, the same samples come out.
for f in "$VT_DATA"/perf/cpuclock*/perf.data "$VT_DATA"/perf/dwarf-zstd*/perf.data; do
	vtrace decode --engine=none -o x.vt "$f"
	# Names of registers and events are known to a pipe only at its end.
	vtrace dump -F pid,tid,time,ip,period,uregs,stack x.vt | sed 's/[A-Za-z0-9]*:/:/g' >direct
	# shellcheck disable=SC2002 # it has to be a pipe
	cat "$f" | vtrace decode --engine=none -o y.vt -
	vtrace dump -F pid,tid,time,ip,period,uregs,stack y.vt | sed 's/[A-Za-z0-9]*:/:/g' >piped
	t_same "${f#"$VT_DATA"/}: the same from a pipe" direct piped
	vtrace decode --engine=none -o z.vt "$f"
	t_same "${f#"$VT_DATA"/}: equal input gives equal bytes" x.vt z.vt
done

# Damaged files: never worse than status 1 or 3, and the message names the file and an offset.
for f in "$VT_DATA"/bad/*; do
	name=${f##*/}
	t_run vtrace decode --engine=none -o x.vt "$f"
	case $T_STATUS in
	1) t_like "$name: the damage is told" "$name.* at 0x[0-9a-f]+: " "$T_ERR" ;;
	3) t_like "$name: the cause is told" "$name: " "$T_ERR" ;;
	*) t_fail "$name: status 1 or 3" "$(t_last)" ;;
	esac
done
for f in "$VT_DATA"/bad/unfinished-spinner* "$VT_DATA"/bad/unfinished-Hash*; do
	[ -e "$f" ] || continue
	vtrace decode --engine=none -o x.vt "$f" 2>/dev/null
	vtrace dump -k MAP -F image x.vt >maps 2>/dev/null
	t_like "${f##*/}: what was recorded is there" . maps
done
t_done
