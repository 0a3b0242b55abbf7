#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace pack: a packed stream is listed in a place without any of the files as the recording is
# where they are.

. "$(dirname "$0")/../lib.sh"
t_need gcc valgrind "$PYTHON"

demo=$ROOT/tests/data/demo
mkdir empty

# same NAME LISTING: FILES is replaced by what has the files, and by what is packed.
same()
{
	local name=$1 listing=$2
	sh -c "$(with "$listing" "$FULL" "$FULL_FROM")" >want 2>/dev/null
	hide
	sh -c "$(with "$listing" "$PACKED" "--symfs empty")" >got 2>got.err
	show
	t_ok "$name: there is something to list" test -s want
	t_same "$name" want got
	t_unlike "$name: nothing is missing" 'without (its|their) file' got.err
}

# with LISTING FILE OPTIONS: puts them in the place of FILE and FROM.
with()
{
	printf '%s' "$1" | sed "s|FROM|$3|g; s|FILE|$2|g"
}

hide()
{
	:
}

show()
{
	:
}

listings()
{
	local what=$1
	same "$what: procedures" 'vprof FROM FILE'
	same "$what: in JSON, with lines" 'vprof --json --by line FROM FILE'
	same "$what: instructions" 'vprof --by instruction --top 40 FROM FILE'
	same "$what: images" 'vprof --by image FROM FILE'
	same "$what: code" 'vlist -n 5 FROM FILE'
	same "$what: source" 'vlist --source -n 5 FROM FILE'
	same "$what: frequencies and culprits" \
		'vfreq FROM FILE 2>/dev/null | vculprit FROM | vlist FROM -n 4'
}

# ---- samples ----

cp -r "$demo/." .
FULL=perf.data FULL_FROM='--symfs symfs' PACKED=heat.vt
t_ok "a recording is packed" vtrace pack --symfs symfs -o heat.vt perf.data
t_like "and how much is told" '^vtrace pack: perf.data: packed 1 image: 7 procedures, [0-9]+ kB$' \
	"$T_ERR"
listings "samples"
same "samples: dump" 'vtrace dump -F ip,sym,symoff,dso,srcline,insn FROM FILE'

vtrace decode --pack --symfs symfs -o decoded.vt perf.data 2>/dev/null
vtrace dump decoded.vt >got
vtrace dump heat.vt >want
t_same "decode --pack makes the same records" want got
vtrace pack --symfs symfs -o again.vt - <perf.data 2>/dev/null
vtrace dump again.vt >got
t_same "so does a pipe" want got
vtrace pack --symfs symfs -o twice.vt heat.vt 2>/dev/null
vtrace dump twice.vt >got
t_same "what is packed is not packed again" want got
vtrace pack --symfs symfs -o heat2.vt perf.data 2>/dev/null
vtrace pack --symfs symfs -o heat3.vt perf.data 2>/dev/null
sed 's/heat[23]/heatN/' heat2.vt >a
sed 's/heat[23]/heatN/' heat3.vt >b
t_same "two runs make the same bytes" a b
vtrace decode perf.data -o plain.vt
vtrace dump plain.vt >want
vtrace dump heat.vt | grep -Ev '^(FILE|SYMBOL|LINE)' >got
t_same "all records of the recording are in the packed stream, in order" want got

vtrace pack --symfs empty -o lost.vt perf.data 2>said
t_like "an image without its file is counted" '1 image not packed: neither file' said
vtrace dump lost.vt >got
t_same "and nothing is added" want got

vtrace merge heat.vt heat.vt -o sum.vt
vtrace merge plain.vt plain.vt -o plainsum.vt
FULL=plainsum.vt PACKED=sum.vt
same "a sum of packed profiles" 'vlist -n 3 FROM FILE'
FULL=perf.data PACKED=heat.vt
cp heat.vt old.vt
t_status "packed profiles are compared" 0 vprof --diff --symfs empty old.vt heat.vt --check

# ---- executed code and values ----

cat >lp.c <<'END'
#include <stdio.h>
#include <string.h>

static int tab[256];

static inline __attribute__((always_inline)) int twist(int a)
{
	return (a >> 3) ^ a;
}

__attribute__((noinline)) static int mix(int a, int b)
{
	switch (b & 7) {
	case 0: return a + b;
	case 1: return a * 3;
	case 2: return twist(a ^ b);
	case 3: return a - b;
	case 4: return tab[a & 255];
	case 5: return a >> 1;
	case 6: return ~a;
	default: return b;
	}
}

int main(void)
{
	char text[64];
	int s = 0;

	for (int i = 0; i < 4000; i++) {
		tab[i & 255] += i;
		s = mix(s, i);
		if (i % 100 == 0)
			s += snprintf(text, sizeof(text), "%d", s);
	}
	printf("%d\n", s);
	return 0;
}
END
gcc -O2 -g -o lp lp.c
t_ok "a program is recorded" vtrace record --full --values all -o full.vt ./lp
t_ok "and packed" vtrace pack -o packed.vt full.vt
FULL=full.vt FULL_FROM='' PACKED=packed.vt

hide()
{
	mv lp lp.away
}

show()
{
	mv lp.away lp
}

listings "executed code"
same "executed code: an instruction trace" \
	'vtrace dump --blocks --insn FROM FILE | sed -n 1,3000p'
same "values" 'vhot FILE | vlist --values FROM mix'
same "what to specialise" 'vhot FILE | vspec FROM'
same "values behind samples" \
	'vsample -n 3000 FILE | vinterp FROM -l 4 | vhot | vlist FROM --values mix'
same "a model" 'vsim FROM FILE | vprof FROM'

# ---- chains, and generated code ----

cat >jit.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const unsigned char code[] = {0x31, 0xc0, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xfa, 0xc3};

int main(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned (*f)(unsigned), i, s = 0;
	char name[64];
	FILE *out;

	memcpy(p, code, sizeof(code));
	memcpy(&f, &p, sizeof(f));
	for (i = 0; i < 100; i++)
		s += f(100);
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	out = fopen(name, "w");
	fprintf(out, "%lx %zx made_just_in_time\n", (unsigned long)p, sizeof(code));
	fclose(out);
	puts(name);
	return !s;
}
END
gcc -O1 -o jit jit.c
vtrace record --full --blocks -o jit.vt ./jit >map 2>/dev/null
t_ok "generated code is packed" vtrace pack -o jitp.vt jit.vt
vprof --top 0 jit.vt >want
rm -f "$(cat map)"
vprof --top 0 jitp.vt >got
t_like "it has its name" 'made_just_in_time' want
t_same "without the list of its names" want got

# ---- what perf records here ----

# Some hundred samples: a run takes about a millisecond, with its start.
record_runs()
{
	# shellcheck disable=SC2016 # of the inner shell
	perf record -q -e cpu-clock -F 3999 --call-graph dwarf,4096 -o here.data \
		sh -c 'i=0; while [ $i -lt 100 ]; do ./lp; i=$((i + 1)); done' >lp.out 2>/dev/null
}

if perf record -q -e cpu-clock -o here.data true 2>/dev/null; then
	record_runs
	t_ok "stacks are packed" vtrace pack -o here.vt here.data
	FULL=here.data PACKED=here.vt
	same "stacks: callers" 'vprof --children FROM FILE'
	same "stacks: the tree" 'vprof --tree FROM FILE'
	same "stacks: folded" 'vexport --to folded FROM FILE'
	same "stacks: dump" 'vtrace dump -F ip,sym,callchainsym FROM FILE'
	# Hundreds of samples: ./lp is over before the first.
	# shellcheck disable=SC2016 # of the inner shell
	t_ok "record --pack" vtrace record --pack -o rec.vt \
		sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	vtrace dump --kinds FILE rec.vt >got
	t_ok "has pieces of files" test -s got
	# Callers without call frame information are found by their code.
	gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -o lp lp.c
	record_runs
	t_ok "stacks without tables are packed" vtrace pack -o here.vt here.data
	same "stacks without tables" 'vprof --tree FROM FILE'
else
	t_skip "what perf records is packed" "perf cannot record here"
fi
t_status "record --pack needs a stream" 2 vtrace record --pack -o rec.data ./lp
t_status "and no full recording" 2 vtrace record --pack --full -o rec.vt ./lp
t_status "decode --pack finds the format" 2 vtrace decode --pack --format perf perf.data -o x.vt

# ---- damage ----

"$PYTHON" - heat.vt <<'END'
import random, sys
data = open(sys.argv[1], 'rb').read()
r = random.Random(1)
for i in range(40):
    b = bytearray(data)
    for _ in range(1 + i % 4):
        b[r.randrange(len(b))] ^= 1 << r.randrange(8)
    if i % 5 == 0:
        del b[r.randrange(len(b)):]
    open('damaged%d.vt' % i, 'wb').write(b)
END
bad=0
for f in damaged*.vt; do
	vlist --symfs empty -n 3 "$f" >/dev/null 2>said
	case $? in
	0 | 1 | 3) ;;
	*) bad=$((bad + 1)) && cp said "$f.said" ;;
	esac
done
t_is "damaged streams are read or refused" "$bad" 0

t_done
