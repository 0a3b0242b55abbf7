#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vfreq from the branch stacks of a Xeon 6154 (optional data): three processes that execute a loop
# 800 million times each, which calls a procedure and divides if `i % 10 < 4`.  The program is not
# with the recording; one that has branches at the same places stands in.  Its name and build id are
# what the recording says.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc
t_need_data perf/lbr-propeller_sample

dir=symfs/google/src/cloud/shenhan/autofdo2-fig/google3/devtools/crosstool/autofdo/testdata
mkdir -p "$dir"
cat >sample.s <<'END'
	.text
	.org	0x190, 0x90
	.type	compute_flag, @function
compute_flag:
	.org	0x1a5, 0x90
	jge	1f
	.org	0x1b4, 0x90
	jmp	2f
	.org	0x1b9, 0x90
1:	.org	0x1c0, 0x90
2:	.org	0x1c4, 0x90
	ret
	.size	compute_flag, . - compute_flag
	.org	0x1d0, 0x90
	.globl	main
	.type	main, @function
main:
	.org	0x210, 0x90
3:	.org	0x217, 0x90
	jge	6f
	.org	0x220, 0x90
	call	compute_flag
	.org	0x23c, 0x90
	je	4f
	.org	0x270, 0x90
4:	.org	0x287, 0x90
	jne	5f
	.org	0x2c4, 0x90
5:	.byte	0xe9, 0, 0, 0, 0	# jmp to what follows
	.org	0x2d2, 0x90
	jmp	3b
	.org	0x2d7, 0x90
6:	ret
	.size	main, . - main
END
t_ok "a program stands in" gcc -nostdlib -pie -e main -Wl,-Ttext=0x1000,-z,max-page-size=4096 \
	-Wl,--build-id=0x04e6da50a63d4b859b0be7e235937cd5a7996ecf -o "$dir/propeller_sample.bin" sample.s
t_pipe "its stacks count" "vtrace decode $VT_DATA/perf/lbr-propeller_sample/perf.data 2>/dev/null |
	vfreq --symfs symfs -o capture.freq"
t_ok "all nine points hold the truth, and are near" "$PYTHON" -c '
import subprocess
N = 3 * 800e6
EDGES = {("0x11a5", "0x11b9"): .6, ("0x11b4", "0x11c0"): .4, ("0x123c", "0x1270"): .6,
	("0x123c", "0x123e"): .4, ("0x1287", "0x12c4"): 1, ("0x12c4", "0x12c9"): 1,
	("0x12d2", "0x1210"): 1, ("0x1287", "0x1289"): 0}
INSNS = {"0x1190": 1, "0x1225": 1}
def rows(kind, key):
	out = subprocess.run(["vtrace", "dump", "-k", kind, "-F", key + ",executions,low,high",
		"capture.freq"], check=True, capture_output=True, text=True).stdout
	for line in out.splitlines():
		*place, value, low, high = line.split("\t")
		yield tuple(place), float(value), float(high)
found = {k: v for k, *v in rows("EDGE", "from,to")}
found.update((k[0], v) for k, *v in rows("FREQ", "offset"))
points = [(N * share, *found[k]) for k, share in {**EDGES, **INSNS}.items() if share]
# Of 95 %, two deviations; 90 % are 1.645.
widths = [0.8225 * (high - value) for _, value, high in points]
errors = [abs(value - true) for true, value, _ in points]
assert len(points) == 9
assert all(e <= w for e, w in zip(errors, widths)), points
assert sum(e / true for e, (true, *_) in zip(errors, points)) / 9 <= 0.02, points
assert sum(w / value for w, (_, value, _) in zip(widths, points)) / 9 <= 0.13, points
# Newest branches that are there twice would have gone there, 50 million times.
assert found["0x1287", "0x1289"][0] < N / 1000, found'

t_done
