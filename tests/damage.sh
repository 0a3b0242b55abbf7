# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# perf.data files whose damaged variants are decoded by tests/tools/perfdata_damage, in all three
# forms: damage COUNT makes the files and does it.

# A recording with stacks in which lie whole chains of samples that were never taken; at the end of
# every other chain stands a record that leads exactly to the next real one.
make_fakes()
{
	"$PYTHON" - "$ROOT/tests" fakes.data <<'END'
import argparse, json, subprocess, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import mkperfdata as m

w = m.Writer(argparse.Namespace(big=False, attr_size=136))
fields = m.IP | m.TID | m.TIME | m.CPU | m.PERIOD | m.REGS_USER | m.STACK_USER


def fake(i):
    return w.sample({'sample_type': fields, 'ip': 0xdead0000 + i, 'pid': 100, 'tid': 100,
                     'time': 1000 + i, 'cpu': 0, 'period': 1000, 'misc': 2, 'uregs_abi': 2,
                     'uregs': [0] * 22, 'stack': b'fake' * 2})


samples = []
for i in range(400):
    stack = b''.join(fake(i + k) for k in range(20))
    if i % 2:
        # Its size takes in the 16 bytes and the word behind the stack.
        stack += w.pack('IHHQ', 73, 0, 8 + 8 + 16 + 8, 0)
    samples.append({'ip': 0x401000 + i, 'regs': [i] * 24, 'stack': stack.hex()})
with open('fakes.json', 'w') as f:
    json.dump({'maps': [[0x400000, 0x2000, 0, '/bin/prog']], 'samples': samples}, f)
subprocess.run([sys.executable, sys.argv[1] + '/mkperfdata.py', '-d', 'fakes.json', sys.argv[2]],
               check=True)
END
}

damage()
{
	local tool=$VT_BUILD/tests/tools/perfdata_damage

	[ -x "$tool" ] || t_skip_all "tests/tools/perfdata_damage is not built"
	"$PYTHON" "$ROOT/tests/mkperfdata.py" -s -n 3000 -c 3 plain.data
	"$PYTHON" "$ROOT/tests/mkperfdata.py" -n 300 full.data
	"$PYTHON" "$ROOT/tests/mkperfdata.py" -p -n 300 pipe.data
	make_fakes
	t_ok "damage to plain samples" "$tool" plain.data "$1" 1
	t_ok "the same through a pipe" "$tool" plain.data "$1" 2 pipe
	t_ok "the same in compressed records" "$tool" plain.data "$1" 3 zstd
	t_ok "damage to records of every kind" "$tool" full.data "$1" 4
	t_ok "the same through a pipe" "$tool" full.data "$1" 5 pipe
	t_ok "damage to perf's own form for pipes" "$tool" pipe.data "$1" 6 pipe
	t_ok "damage to samples whose stacks hold chains of samples" "$tool" fakes.data "$1" 7
	t_ok "the same through a pipe" "$tool" fakes.data "$1" 8 pipe
	t_ok "the same in compressed records" "$tool" fakes.data "$1" 9 zstd
}
