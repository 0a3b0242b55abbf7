#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Data sources and weights of samples, against what perf script prints of them.

. "$(dirname "$0")/../lib.sh"
t_need perf

against_perf()
{
	perf script -i "$2" -F weight,data_src 2>/dev/null >perf.txt
	vtrace decode "$2" | vtrace dump --json -k SAMPLE -F events_told,events,source,lat_load >ours.json
	t_is "$1" "$("$PYTHON" "$ROOT/tests/mem_sources.py" perf.txt ours.json 2>&1)" "$3"
}

for name in mem-numatop-ldlat mem-quipper-weight_struct; do
	if [ -e "$VT_DATA/perf/$name/perf.data" ]; then
		against_perf "$name" "$VT_DATA/perf/$name/perf.data" '14 14'
	else
		t_skip "$name" "no optional test data"
	fi
done

# What kernels make of the sources of Intel's processors, with each state of the TLB and the lock.
"$PYTHON" - >made.json <<'END'
import json
HIT, MISS, L1, LFB, L2, L3, DRAM, FAR1, FAR2, CACHE1, CACHE2, IO, UNCACHED = (1 << i for i in range(1, 14))
levels = [x | HIT for x in (L1, LFB, L2, L3, DRAM, FAR1, FAR2, CACHE1, CACHE2, IO, UNCACHED)] + [L1 | MISS, L3 | MISS]
tlbs = [1, 2 | 8 | 16, 2 | 8, 2 | 16, 4 | 8 | 16, 2 | 32, 0]
samples = []
for op in (2, 4):
    for level in levels:
        for snoop in (1, 2, 4, 8, 16):
            for tlb in tlbs:
                word = op | level << 5 | snoop << 19 | (len(samples) % 3) << 24 | tlb << 26
                samples.append({"ip": 0x401000, "data_src": word, "weight": len(samples) % 5 * 40000})
print(json.dumps({"maps": [[0x400000, 0x2000, 0, "/bin/prog"]], "samples": samples}))
END
"$PYTHON" "$ROOT/tests/mkperfdata.py" -a 128 -d made.json made.data
against_perf "every source" made.data '910 770'

# The smaller weights depend on the processor, which this file does not name.
cat >weights.json <<'END'
{"maps": [[4194304, 8192, 0, "/bin/prog"]],
 "samples": [{"ip": 4198400, "data_src": 2, "weight": 7, "weight2": 8, "weight3": 9}]}
END
"$PYTHON" "$ROOT/tests/mkperfdata.py" -a 128 -d weights.json weights.data
t_is "weights of an unknown processor" \
	"$(vtrace decode weights.data | vtrace dump -k SAMPLE -F lat_load,lat_dispatch,lat_retire)" '7		'
t_done
