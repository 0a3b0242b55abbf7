#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The field "trace" of vtrace dump: fields of tracepoints, of recordings made up in both byte orders,
# of recordings made here, and of damaged ones; against perf script.

. "$(dirname "$0")/../lib.sh"

perf_there=$(command -v perf || true)

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
def raw(comm=b"heat", e_=2**63 + 5, path=(51, 7), rel=(10, 4)):
    b = struct.pack(e + "HBBi8sbBhiQII", 77, 0, 0, 9, comm, -3, 200, -300, -70000, e_, 1, 2**32 - 1)
    b += struct.pack(e + "II", path[0] | path[1] << 16, rel[0] | rel[1] << 16)
    return (b + b"\1\2\3" + b"/bin/x\0" + struct.pack(e + "HH", 40000, 7)).hex()
samples = [dict(ip=0x400000, raw=raw()),
           dict(ip=0x400000, raw=raw(path=(51, 65535), rel=(65535, 4))),
           dict(ip=0x400000, raw=raw(comm=b"8letters", e_=1, path=(51, 0), rel=(10, 3))),
           dict(ip=0x400000, raw=raw()[:64]),
           dict(ip=0x400000, raw="")]
if len(sys.argv) > 4:
    samples = samples[:1]
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

# By the print format.
by='"comm=%s a=%d b=0x%02x c=%d d=%i e=%lu f=%u path=%s flags=%s kind=%s %s %s%% %u %.*s|%s", REC->comm,'
by="$by REC->a, REC->b, REC->c, REC->d, REC->e, REC->f[1] / 3, __get_str(path), __print_flags(REC->b & 0xf8,"
by="$by \"|\", { 0x80, \"HIGH\" }, { 1 << 6, \"MID\" }), __print_symbolic(REC->c, { 65236, \"MINUS\" }, { 1, \"ONE\" }),"
by="$by REC->a < 0 ? \"less\" : \"more\", __print_hex(REC->g, 3), REC->d == -70000 ? 66 : 67, 4, REC->comm,"
by="$by __print_hex_str(__get_rel_dynamic_array(list), 4)"
first='comm=heat a=253 b=0xc8 c=65236 d=-70000 e=9223372036854775813 f=1431655765 path=/bin/x flags=HIGH|MID|0x8 kind=MINUS more 01 02 03% 67 heat|'
for order in little big; do
	make $order "$by" "$([ $order = little ] || echo -b)"
	t_ok "$order-endian: by the print format" vtrace dump -F trace made.data
	list=$([ $order = little ] && echo 409c0700 || echo 9c400007)
	{
		echo "$first$list"
		sed -n 2p want.plain
		echo "$first$list" |
			sed "s/heat/8letters/; s/67 heat/67 8let/; s/e=[0-9]*/e=1/; s,/bin/x,,"
		sed -n 4,5p want.plain
	} >want
	sed 's/9c4000/409c07/' "$T_OUT" | sed "s/|409c0707/|$list/" >got
	t_same "$order-endian: each as the kernel prints it, but what is damaged by fields" got want
done
if [ -n "$perf_there" ]; then
	# Relative arrays are new to some perfs.
	"$PYTHON" make.py little made.json "$by" good
	"$PYTHON" "$ROOT/tests/mkperfdata.py" -a 128 -d made.json good.data
	perf script -i good.data -F trace 2>/dev/null | sed 's/|[^|]*$//' >want
	t_is "as perf script prints it" "$(vtrace dump -F trace good.data | sed 's/|[^|]*$//')" "$(cat want)"
else
	t_skip "as perf script prints it" "perf is not installed"
fi

# Print formats that would do harm.
for bad in '"%d", REC->a / REC->b' '"%d", REC->d % (1 - 1)' '"%s", __print_hex(REC->comm, REC->e)' \
	'"%*d", REC->d, 1' '"%s %s"' '"%n", REC->a' '"%d", REC->f[REC->d]' '"%.*s", REC->d, REC->comm' \
	'"%s", __print_array(__get_dynamic_array(path), REC->d, 8)' '"%d", __get_rel_dynamic_array_len(list)' "\"%d\", $(printf '(%.0s' {1..300})1"; do
	make little "$bad"
	t_ok "not printed by ${bad:0:60}" vtrace dump -n 1 -F trace made.data
	sed 's/9c4000/409c07/' "$T_OUT" >got
	head -n 1 want.plain >want
	t_same "but by fields" got want
done

# Recorded here: strings, dynamic strings, flags, names of values, functions.
events="-e sched:sched_switch -e sched:sched_process_exec -e sched:sched_process_fork -e syscalls:sys_enter_openat"
events="$events -e kmem:mm_page_alloc -e signal:signal_generate -e writeback:writeback_dirty_inode"
record()
{
	# shellcheck disable=SC2086 # a list of options
	perf record -q $events -a "$@" -- sh -c 'ls /; kill -0 $$; echo x >x; (exit 3); cat x' >/dev/null 2>record.log
}
if [ -z "$perf_there" ] || ! record -o live.data || ! record -o - >/dev/null; then
	for name in "a file" "its names and values" "a pipe"; do
		t_skip "recorded here: $name" "no perf, or it cannot record tracepoints here"
	done
else
	compare()
	{
		perf script -i "$2" -F comm,tid,event,trace 2>/dev/null |
			sed -E 's/^ *(.*[^ ]) +(-?[0-9]+) +([a-z0-9_]+:[a-z0-9_]+): /\1\t\2\t\3\t/; s/ +$//' >want
		vtrace dump -F comm,tid,event,trace "$2" 2>/dev/null | sed -E 's/ +$//' >got
		t_same "recorded here: $1" got want
	}
	compare "a file" live.data
	t_is "recorded here: there are many" "$([ "$(wc -l <got)" -gt 50 ] && echo many)" many
	# shellcheck disable=SC2086 # a list of options
	perf record -q $events -a -o - -- sh -c 'ls / >&2; cat /dev/null' 2>/dev/null >pipe.data
	compare "a pipe" pipe.data
	t_is "recorded here: names and values" "$(vtrace dump --json -F event,trace live.data | "$PYTHON" -c '
import json, sys
execs = [json.loads(l)["trace"] for l in sys.stdin if "sched_process_exec" in l]
print(any(sorted(e) == ["filename", "old_pid", "pid"] and e["filename"].endswith("/ls") and
          e["pid"] > 1 for e in execs))')" True
fi

# Damage: bytes of the descriptions and of the samples, and the end cut off.
make little "$by"
cat >damage.py <<'END'
import random, sys
data = open("made.data", "rb").read()
for i in range(60):
    random.seed(i)
    b = bytearray(data)
    for _ in range(1 + i % 4):
        b[random.randrange(104, len(b))] = random.choice([0, 1, 255, random.randrange(256)])
    open("bad%d.data" % i, "wb").write(b[:len(b) - (i % 3 == 0) * random.randrange(500)])
END
"$PYTHON" damage.py
worst=0
for i in {0..59}; do
	# What libtraceevent cannot parse, it leaks in part.
	ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 vtrace dump -F trace "bad$i.data" >/dev/null 2>&1
	status=$?
	[ $status -le $worst ] || worst=$status
done
t_is "60 damaged files end no worse than refused" "$([ "$worst" -le 3 ] && echo so)" so
t_done
