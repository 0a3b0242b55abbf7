#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Made-up perf.data files with every record type, sample field and feature section: each field of
# each sample against what the generator says it wrote; the forms of the format against each other.
# The generator draws no random numbers.
. "$(dirname "$0")/../lib.sh"

t_need vtrace zstd
make()
{
	"$PYTHON" "$ROOT/tests/mkperfdata.py" "$@"
}
fields=time,pid,tid,cpu,event,ip,period,addr,id,weight,weight2,weight3,br_hw_idx,data_src
fields=$fields,transaction,phys_addr,data_page_size,code_page_size,cgroup,callchain,uregs,iregs
fields=$fields,br_counters,br_from,br_to,br_flags,stack,raw,aux,misc

# As the generator writes it: events by number, plain hexadecimal, registers without names.
plain()
{
	sed -E -e "s/0x//g; s/ABI:[0-9]+ //g; s/[A-Za-z0-9]+:([0-9a-f]+) ?/\1,/g; s/,\t/\t/g" \
		-e 's/\tcycles:pp\t/\t0\t/; s/\t(my-)?instructions[^\t]*\t/\t1\t/' \
		-e 's/\tpage-faults[^\t]*\t/\t2\t/; s/\tcontext-switches[^\t]*\t/\t3\t/'
}

# All records but META, whose order and raw bytes follow the form, and names of input files.
records()
{
	vtrace dump "$1" | grep -v '^META' |
		sed -E 's/\tinput=[^\t]*//; s/\toffset=0x[0-9a-f]+(\tbytes=.*)?$//'
}

for form in "" -b -z -p "-b -p" "-p -z" "-b -p -z" "-a 200" "-a 112" "-n 200" "-b -n 200 -z"; do
	# shellcheck disable=SC2086 # a list of options
	make $form -t x.data >want
	t_ok "[$form] is decoded without complaint" vtrace decode --engine=none -o x.vt x.data
	t_is "[$form] nothing on standard error but what was lost" \
		"$(grep -cv -e 'lost while recording' -e 'unknown kinds' "$T_ERR")" 0
	vtrace dump -F "$fields" x.vt | plain >got
	t_same "[$form] each field of each sample" got want
	case $form in
	*-n* | *-a\ 112*) continue ;;
	esac
	records x.vt | grep -v -e '^GAP' -e '^EVENT.*instructions' >all
	[ -e reference ] || cp all reference
	# The order of EVENT among records without a time depends on the form.
	sort all >a
	sort reference >b
	t_same "[$form] all other records as in a plain file" a b
done

make x.data
vtrace decode --engine=none -o x.vt x.data 2>/dev/null
vtrace dump x.vt >all
for fact in 'META	key=hostname	value=testhost' 'META	key=cmdline	value=perf record a\\\\ b' \
	'META	key=nrcpus.online	value=4' 'META	key=total_mem	value=16777216 kB' \
	'META	key=feature.40	data=756e6b6e6f776e20666561747572652' \
	'META	key=record.thread_map	data=01' 'META	key=compressed	value=version 1 type zstd' \
	'META	key=pmu.4	value=cpu' 'META	key=pmu_caps.cpu	value=x=y' \
	'EVENT	name=cycles:pp	policy=precise' 'IMAGE	.*path=/bin/prog	buildid=0001020304' \
	'IMAGE	.*path=/lib/libown.so	buildid=6465666768' 'IMAGE	.*path=\[kernel.kallsyms\]' \
	'MAP	time=1000	pid=-1	start=0xffffffff81000000' 'LOST	.*count=42	source=LOST$' \
	'THREAD	time=1004	.*comm=prog' 'SWITCH	time=1014	.*other_pid=200' \
	'NAMESPACES	.*dev=3,3	ino=4026531840,4026531841' 'KSYMBOL	.*name=bpf_prog_1234' \
	'BPF	.*id=9	tag=123456789abcdef0' 'CGROUP	.*id=77	path=/user.slice' \
	'TEXTPOKE	.*old=0f1f440000	new=e801020304' 'AUXTRACE	.*total=64	data=000102' \
	'AUXINFO	type=1	priv=0xa,0x14' 'TIMECONV	shift=31	mult=5	zero=6' \
	'ITRACE	time=1012' 'AUX	time=1011	.*size=64	flags=0x1' 'THROTTLE	time=1010	.*on=1' \
	'GAP	.*reason=unknown record type 999' 'GAP	.*reason=unknown record type 60000' 'GAP	time=1030	.*reason=AUX trace error'; do
	t_like "there is ${fact%%	*} ${fact##*=}" "^$fact" all
done

# The magic of version 1 says nothing of the byte order.
for form in "" -b; do
	# shellcheck disable=SC2086 # a list of options
	make $form -t x.data >want
	{
		printf PERFFILE
		tail -c +9 x.data
	} >old.data
	t_ok "[$form] version 1 is decoded" vtrace decode --engine=none -o x.vt old.data
	vtrace dump -F "$fields" x.vt | plain >got
	t_same "[$form] version 1: each field of each sample" got want
done

# A pipe that carries a file: features come last, and correct what was written before.
make x.data
# shellcheck disable=SC2002 # it has to be a pipe
cat x.data | vtrace decode --engine=none -o y.vt - 2>/dev/null
vtrace dump -k EVENT -F id,name y.vt | sort >events
t_like "late names are written again" "0	cycles:pp$" events
vtrace dump -k IMAGE -F path,buildid y.vt >images
t_like "late build-ids are written again" "/bin/prog	0001020304" images

# Damage.
make -u x.data
t_status "an unfinished recording is read, with status 1" 1 vtrace decode --engine=none -o x.vt x.data
t_like "and said to be one" "x.data: damage at 0x30: .*not finished" "$T_ERR"
t_is "with all of its samples" "$(vtrace dump -F time x.vt | wc -l)" 16
make -p x.data
head -c 8000 x.data >cut.data
t_status "a cut recording has status 1" 1 vtrace decode --engine=none -o x.vt cut.data
t_like "and a message with the place" "cut.data: damage at 0x1[ef][0-9a-f]+: the input ends inside" "$T_ERR"
vtrace dump -k GAP x.vt >gaps
t_like "and a GAP record" "reason=the input ends inside a record.*input=cut.data.*bytes=" gaps
printf 'PERFILE2\150\0\0\0\0\0\0\0' >short.data
t_status "a header alone is no trace" 3 vtrace decode --engine=none -o x.vt short.data
t_status "a directory is no trace" 3 vtrace decode --engine=none -o x.vt .
: >empty
t_status "nor is an empty file" 3 vtrace decode --engine=none -o x.vt empty

# Without a word of what machine it is of: its registers show it.
regs="[1,2,3,4,5,6,7,8,4198400,514,51,43,0,0,0,0,9,10,11,12,13,14,15,16]"
described()
{
	printf '{"maps": [[4194304, 8192, 0, "/bin/prog"]], "precise": %s, "samples": [%s]}' "$1" "$2" >x.json
	make -d x.json x.data
}
described 0 "{\"ip\": 4198400, \"regs\": $regs}"
for form in x.data -; do
	# From a pipe: a program that does not read it would end before cat has written.
	[ $form = - ] && from="cat x.data |" || from=
	t_pipe "[$form] registers without an arch" "$from vtrace decode -o x.vt $form"
	vtrace dump -k SAMPLE -F uregs x.vt >regs
	t_like "[$form] are x86-64's by name" '^ABI:2 AX:0x1 BX:0x2 .* IP:0x401000 .* R15:0x10' regs
	vtrace dump -k META x.vt >facts
	t_like "[$form] and it is said where that is from" 'key=arch.from	value=the registers' facts
done

# What was asked for is not what was done: each sample says.
for exact in 0 1 2; do
	samples=
	for i in 0 1; do
		samples="$samples${samples:+,} {\"ip\": 4198400, \"regs\": $regs, \"misc\": $((i < exact ? 16386 : 2))}"
	done
	described 3 "$samples"
	vtrace decode -o x.vt x.data
	t_ok "precise samples, $exact of 2 exact" vprof x.vt
	t_like "are told as they are" "pc asked to be precise, precise_ip 3\), EXACT_IP $exact \($((exact * 50)).00%\)" "$T_OUT"
	t_ok "so they are by info" vtrace info x.vt
	t_like "in its table" "precise, EXACT_IP $exact " "$T_OUT"
	t_status "user's registers of precise samples are refused" 3 vinterp -o y.vt x.vt
	t_like "with the reason" '^vinterp: x.vt: 2 of 2 samples are precise with only the user' "$T_ERR"
done

# AUX areas of which there is no decoder are missing, not silently so: in a file, through a pipe,
# and in a stream that has them as they were.
while read -r type name; do
	for form in "" -p -b; do
		# shellcheck disable=SC2086 # a list of options
		make $form -x "$type" x.data
		t_status "[$form] an AUX area of $name has status 1" 1 vtrace decode -o x.vt x.data
		t_like "[$form] and one line that names it" \
			"^vtrace decode: x.data: 1 AUX area of $name, 64 bytes: vtrace has no" "$T_ERR"
		vtrace dump -k GAP x.vt >gaps 2>err
		t_like "[$form] and a GAP" "reason=AUX area of $name.*bytes=64$" gaps
	done
	vtrace decode --engine=none -o kept.vt x.data 2>err
	t_status "the same of the $name that a stream has" 1 vtrace decode -o x.vt kept.vt
	t_like "with its line" "^vtrace decode: kept.vt: 1 AUX area of $name, 64 bytes: " "$T_ERR"
	t_status "once told it is not told again" 1 vtrace decode -o y.vt x.vt
	vtrace dump -k GAP y.vt 2>err | grep -c 'AUX area' >gaps
	t_is "nor counted twice" "$(cat gaps)" 1
done <<'END'
3 CoreSight ETM
5 s390 CPUM_SF
99 an unknown kind
END
f=etm/perf_etm.data
if [ -e "$VT_DATA/$f" ]; then
	t_status "$f has status 1" 1 vtrace decode -o x.vt "$VT_DATA/$f"
	t_like "$f: the kind is named" 'AUX area of CoreSight ETM, [0-9]+ bytes' "$T_ERR"
else
	t_skip "$f has status 1" "no optional test data"
fi

# The longest wait for order, and the memory of a file of any length.
make -s -n 400000 -c 4 long.data
t_ok "a long file is decoded" vtrace decode --engine=none -o x.vt long.data
t_is "every sample" "$(vtrace dump -F time x.vt | wc -l)" 400000
vtrace dump -F time x.vt >order
t_ok "in order" sort -n -c order
t_done
