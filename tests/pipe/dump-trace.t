#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The field "trace" of vtrace dump: fields of tracepoints, of recordings made up in both byte orders,
# of recordings made here, and of damaged ones; against perf script.

. "$(dirname "$0")/../lib.sh"

# Tracepoints of every kind of field, and samples of them.
cat >make.py <<'END'
import json, struct, sys
big, out = sys.argv[1] == "big", sys.argv[2]
e = ">" if big else "<"
common = """format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

"""
text = "name: all\nID: 77\n" + common + """	field:char comm[8];	offset:8;	size:8;	signed:0;
	field:s8 a;	offset:16;	size:1;	signed:1;
	field:u8 b;	offset:17;	size:1;	signed:0;
	field:short c;	offset:18;	size:2;	signed:1;
	field:int d;	offset:20;	size:4;	signed:1;
	field:unsigned long e;	offset:24;	size:8;	signed:0;
	field:unsigned int f[2];	offset:32;	size:8;	signed:0;
	field:__data_loc char[] path;	offset:40;	size:4;	signed:0;
	field:__rel_loc u16[] list;	offset:44;	size:4;	signed:0;
	field:struct odd g;	offset:48;	size:3;	signed:0;

print fmt: %s
"""
def raw(comm=b"heat", e_=2**63 + 5, path=(51, 6), rel=(9, 4)):
    b = struct.pack(e + "HBBi8sbBhiQII", 77, 0, 0, 9, comm, -3, 200, -300, -70000, e_, 1, 2**32 - 1)
    b += struct.pack(e + "II", path[0] | path[1] << 16, rel[0] | rel[1] << 16)
    return (b + b"\1\2\3" + b"/bin/x\0" [:6] + struct.pack(e + "HH", 40000, 7)).hex()
samples = [dict(ip=0x400000, raw=raw()),
           dict(ip=0x400000, raw=raw(path=(51, 65535), rel=(65535, 4))),
           dict(ip=0x400000, raw=raw(comm=b"8letters", e_=1, path=(51, 0), rel=(9, 3))),
           dict(ip=0x400000, raw=raw()[:64]),
           dict(ip=0x400000, raw="")]
json.dump({"maps": [[0x400000, 0x1000, 0, "/none"]], "samples": samples, "type": 2, "config": 77,
           "tracing": {"made/all": text.replace("%s", sys.argv[3])}}, open(out, "w"))
END

make()
{
	"$PYTHON" make.py "$1" made.json "$2"
	"$PYTHON" "$ROOT/tests/mkperfdata.py" ${3:+"$3"} -a 128 -d made.json made.data
}

cat >want.json <<'END'
{"schema": "vtrace-dump/1", "event": "made:all", "trace": {"comm": "heat", "a": -3, "b": 200, "c": -300, "d": -70000, "e": "9223372036854775813", "f": [1, 4294967295], "path": "/bin/x", "list": [40000, 7], "g": "010203"}}
{"schema": "vtrace-dump/1", "event": "made:all", "trace": {"comm": "heat", "a": -3, "b": 200, "c": -300, "d": -70000, "e": "9223372036854775813", "f": [1, 4294967295], "path": null, "list": null, "g": "010203"}}
{"schema": "vtrace-dump/1", "event": "made:all", "trace": {"comm": "8letters", "a": -3, "b": 200, "c": -300, "d": -70000, "e": 1, "f": [1, 4294967295], "path": "", "list": "409c07", "g": "010203"}}
{"schema": "vtrace-dump/1", "event": "made:all", "trace": {"comm": "heat", "a": -3, "b": 200, "c": -300, "d": -70000, "e": "9223372036854775813", "f": null, "path": null, "list": null, "g": null}}
{"schema": "vtrace-dump/1", "event": "made:all", "trace": {"comm": null, "a": null, "b": null, "c": null, "d": null, "e": null, "f": null, "path": null, "list": null, "g": null}}
END
cat >want.plain <<'END'
comm=heat a=-3 b=200 c=-300 d=-70000 e=9223372036854775813 f={1,4294967295} path=/bin/x list={40000,7} g=010203
comm=heat a=-3 b=200 c=-300 d=-70000 e=9223372036854775813 f={1,4294967295} path=[damaged] list=[damaged] g=010203
comm=8letters a=-3 b=200 c=-300 d=-70000 e=1 f={1,4294967295} path= list=409c07 g=010203
comm=heat a=-3 b=200 c=-300 d=-70000 e=9223372036854775813 f=[damaged] path=[damaged] list=[damaged] g=[damaged]
comm=[damaged] a=[damaged] b=[damaged] c=[damaged] d=[damaged] e=[damaged] f=[damaged] path=[damaged] list=[damaged] g=[damaged]
END
for order in little big; do
	make $order "" "$([ $order = little ] || echo -b)"
	t_ok "$order-endian: the fields" vtrace dump --json -F event,trace made.data
	sed 's/9c4000/409c07/' "$T_OUT" >got
	t_same "$order-endian: each value" got want.json
	t_ok "$order-endian: without a format to print by" vtrace dump -F trace made.data
	sed 's/9c4000/409c07/' "$T_OUT" >got
	t_same "$order-endian: name=value" got want.plain
done
vtrace decode made.data | cat >made.vt
t_is "of a stream" "$(vtrace dump -n 1 --json -F trace made.vt | cut -c 1-58)" \
	'{"schema": "vtrace-dump/1", "trace": {"comm": "heat", "a":'
t_is "a sample of no tracepoint has none" \
	"$(vtrace dump -n 1 --json -F trace "$ROOT/tests/data/demo/perf.data")" \
	'{"schema": "vtrace-dump/1", "trace": null}'

t_done
