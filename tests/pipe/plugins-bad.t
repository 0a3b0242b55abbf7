#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Plugins that are none, or do what <vtrace/plugin.h> does not allow: each is one error that names it.

. "$(dirname "$0")/../lib.sh"

t_need cc
cp -r "$ROOT/tests/data/demo/symfs" .
vtrace decode -o regs.vt "$ROOT/tests/data/demo/regs.data"

# NAME STATUS REGEX PLUGIN: one line on standard error, and no complete stream.
bad()
{
	local file=${4##*/}
	t_status "$1" "$2" vinterp --symfs symfs -l 4 --plugin "$4" -o out.vt regs.vt
	t_like "$1: is told" "^vinterp: plugin [^:]*${file%:*}: $3" "$T_ERR"
	t_is "$1: in one line without control characters" \
		"$(wc -l <"$T_ERR") $(LC_ALL=C tr -d '\n -~' <"$T_ERR" | wc -c)" "1 0"
	if [ -s out.vt ]; then
		t_unlike "$1: what was written is not complete" '^out.vt: complete' <(vtrace info out.vt 2>/dev/null)
	fi
	rm -f out.vt
}

# ---- files that are no plugins ----

echo 'not an object' >text.so
bad "a text" 3 'not a shared object' ./text.so
: >empty.so
bad "an empty file" 3 'not a shared object' ./empty.so
mkdir folder.so
bad "a directory" 3 'not a regular file' ./folder.so
mkfifo pipe.so
bad "a pipe" 3 'not a regular file' ./pipe.so
cp "$VT_BUILD/lib/vtrace/strides.so" locked.so
for size in 16 64 200 5000; do
	head -c $size locked.so >"cut$size.so"
	bad "a plugin cut after $size bytes" 3 '(not a shared object|a shared object that is cut off)' "./cut$size.so"
done
echo 'int f(void) { return 1; }' >nothing.c
cc -c -o object.so nothing.c
bad "an object file" 3 'not a shared object' ./object.so
cc -shared -fPIC -o nothing.so nothing.c
bad "a shared object without a plugin" 3 'no plugin for vtrace: it has no symbol .vtrace_plugin.' ./nothing.so
echo 'int g(void); int f(void) { return g(); }' >unresolved.c
cc -shared -fPIC -o unresolved.so unresolved.c
bad "one that lacks a function" 3 'cannot be loaded: .*undefined symbol' ./unresolved.so
bad "one that is not there" 2 'cannot be opened: No such file' ./missing.so
bad "nor by its name" 2 'no such file in VTRACE_PLUGINS, nor among' missing.so
mkdir mine
cp nothing.so mine/strides.so
VTRACE_PLUGINS=/nowhere:$PWD/mine bad "VTRACE_PLUGINS goes first" 3 'no plugin for vtrace' strides.so

# ---- plugins that are wrong ----

cat >bad.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <vtrace/plugin.h>

#ifndef ABI
#define ABI VTRACE_PLUGIN_ABI
#endif
#ifndef SIZE
#define SIZE sizeof(struct vtrace_plugin)
#endif
#ifndef NAME
#define NAME "bad"
#endif
#ifndef ABOUT
#define ABOUT "does what it should not"
#endif
#ifndef KIND
#define KIND {"kind", VTRACE_HEX}
#endif
#ifndef NKINDS
#define NKINDS 1
#endif
#ifndef RULE
#define RULE {VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), 0}
#endif
#ifndef NRULES
#define NRULES 1
#endif
#ifndef VALUE
#define VALUE run->tuples[0].pc, 7, 0, 8
#endif
#ifndef PROCESS
#define PROCESS return emit(host, &v);
#endif
#ifndef PUT
#define PUT return (size_t)snprintf(buf, size, "seven");
#endif

static const struct vtrace_kind kinds[] = {KIND};
static const struct vtrace_rule rules[] = {RULE};

#ifdef CREATE
static int state;
static void *create(const char *options, char *error, size_t size)
{
	(void)options;
	(void)size;
	CREATE
}
#endif

static int process(void *data, const struct vtrace_run *run, vtrace_emit *emit, void *host)
{
	const struct vtrace_value v = {VALUE};

	(void)data;
	(void)host;
	(void)emit;
	(void)v;
	PROCESS
}

static size_t put(void *data, uint32_t kind, uint64_t value, char *buf, size_t size)
{
	(void)data;
	(void)kind;
	(void)value;
	PUT
}

#ifdef FINISH
static int finish(void *data)
{
	(void)data;
	return FINISH;
}
#endif

#ifdef SETTLE
static uint64_t settle(void *data, uint32_t kind, uint64_t value)
{
	(void)data;
	(void)kind;
	(void)value;
	return SETTLE;
}
#endif

const struct vtrace_plugin vtrace_plugin = {
	.abi = ABI,
	.size = SIZE,
	.name = NAME,
	.description = ABOUT,
	.kinds = kinds,
	.nkinds = NKINDS,
	.nrules = NRULES,
	.rules = rules,
#ifdef CREATE
	.create = create,
#endif
	.process = process,
#ifdef FINISH
	.finish = finish,
#endif
#ifdef SETTLE
	.settle = settle,
#endif
	.format = put,
	OTHER
};
END
plugins=0
build()
{
	plugins=$((plugins + 1))
	cc -shared -fPIC -w -I "$ROOT/lib" "$@" -o "bad$plugins.so" bad.c
}
# NAME STATUS REGEX FLAG...: a plugin that is bad.c with these flags.
wrong()
{
	local name=$1 status=$2 regex=$3
	shift 3
	build -DOTHER= "$@"
	bad "$name" "$status" "$regex" "./bad$plugins.so"
}
build -DOTHER=
t_ok "the plugin is a good one otherwise" vinterp --symfs symfs -l 4 --plugin ./bad1.so -o good.vt regs.vt
t_is "its values have their label" "$(vtrace dump -k LABEL good.vt)" "LABEL	value=0x7	text=seven"

wrong "another version" 3 'made for version 99 of' -DABI=99
wrong "no version" 3 'made for version 0 of' -DABI=0
wrong "a smaller struct" 3 'its struct vtrace_plugin has 8 bytes' -DSIZE=8
build -DOTHER=.fact='(void(*)(void*,const char*,const char*))1,' '-DSIZE=__builtin_offsetof(struct vtrace_plugin,fact)'
t_ok "one from before facts were told is not told them" \
	vinterp --symfs symfs -l 4 --plugin "./bad$plugins.so" -o old.vt regs.vt
wrong "the same, less a byte" 3 'its struct vtrace_plugin has' \
	'-DSIZE=__builtin_offsetof(struct vtrace_plugin,fact)-1'
wrong "no name" 3 'no proper name' -DNAME=NULL
wrong "a name for a terminal" 3 'no proper name' '-DNAME="\033[2J"'
wrong "a name that is too long" 3 'no proper name' '-DNAME="0123456789012345678901234567890123456789"'
wrong "no description" 3 'no proper description' -DABOUT=NULL
wrong "a description of two lines" 3 'no proper description' '-DABOUT="a\nb"'
wrong "no kinds" 3 'no kinds of values, or too many' -DNKINDS=0
wrong "too many kinds" 3 'no kinds of values, or too many' -DNKINDS=0xffffffff
wrong "no table of kinds" 3 'no kinds of values, or too many' -UOTHER '-DOTHER=.kinds=NULL'
wrong "a kind without a name" 3 'a kind of value without a proper name' '-DKIND={NULL,VTRACE_HEX}'
wrong "a kind with a binary name" 3 'a kind of value without a proper name' '-DKIND={"\x80\xff",VTRACE_HEX}'
wrong "a kind with a name for a terminal" 3 'a kind of value without a proper name' '-DKIND={"\033]0;x\007",VTRACE_HEX}'
wrong "no such format" 3 'a kind of value with a format that does not exist' '-DKIND={"kind",77}'
wrong "no rules" 3 'no rules what to capture, or too many' -DNRULES=0
wrong "too many rules" 3 'no rules what to capture, or too many' -DNRULES=65
wrong "no table of rules" 3 'no rules what to capture, or too many' -UOTHER '-DOTHER=.rules=NULL'
wrong "nothing to capture" 3 'a rule that captures nothing' '-DRULE={VTRACE_ANY,0,0,0}'
wrong "no such thing to capture" 3 'a rule that captures nothing, or what does not exist' '-DRULE={VTRACE_ANY,0,1u<<30,0}'
wrong "no such register" 3 'a rule that names no general register' '-DRULE={VTRACE_ANY,0,VTRACE_BIT(VTRACE_REGISTER),4000000000}'
wrong "no function" 3 'no function .process.' -UOTHER '-DOTHER=.process=NULL'

wrong "it does not begin" 2 'not today' '-DCREATE=strcpy(error,"not today");return NULL;'
wrong "without a word" 2 'it does not start' '-DCREATE=return NULL;'
wrong "with words for a terminal" 2 '.*x1b.2Jboo' '-DCREATE=strcpy(error,"\033[2Jboo\n\n");return NULL;'
wrong "with words that do not end" 2 'zzzz' '-DCREATE=memset(error,0x7a,size);return NULL;'
build -DOTHER=
bad "options where none are taken" 2 'takes no options' "./bad$plugins.so:1"

wrong "it gives up" 3 'gives up .process returned -5.' -DPROCESS='return -5;'
wrong "a value that is nowhere" 3 'emits no value at all' -DPROCESS='return emit(host,NULL);'
wrong "no such kind" 3 'emits a kind of value that it does not have .0x1.' -DVALUE='run->tuples[0].pc,7,1,8'
wrong "a negative kind" 3 'emits a kind of value that it does not have' -DVALUE='run->tuples[0].pc,7,-1,8'
wrong "a value without a size" 3 'emits a value that does not fit its size' -DVALUE='run->tuples[0].pc,7,0,0'
wrong "a value of nine bytes" 3 'emits a value that does not fit its size' -DVALUE='run->tuples[0].pc,7,0,9'
wrong "a value larger than its size" 3 'emits a value that does not fit its size .0x100.' -DVALUE='run->tuples[0].pc,256,0,1'
wrong "an address of elsewhere" 3 'emits a value for an address that is not in the run .0x1234.' -DVALUE='0x1234,7,0,8'
wrong "values without end" 3 'emits more values than a run of so many instructions may have' \
	-DPROCESS='while (emit(host,&v) == 0) continue; return 0;'
wrong "and on, once refused" 3 'emits more values than' \
	-DPROCESS='for (int i = 0; i < 100000; i++) emit(host,&v); return 0;'
wrong "it gives up at the end" 3 'gives up .finish returned -1.' -DFINISH=-1
wrong "values that settle on too much" 3 'settles on a value that does not fit its size .0x100.' \
	-DSETTLE=256 -DVALUE='run->tuples[0].pc,7,0,1'

wrong "a text that is too long" 3 'writes a text that is too long, or does not end' '-DPUT=return 64;'
wrong "of any length" 3 'writes a text that is too long, or does not end' '-DPUT=return -1;'
wrong "a text that does not end" 3 'writes a text that is too long, or does not end' '-DPUT=memset(buf,65,size);return 10;'
wrong "of another length than it says" 3 'writes a text of another length' '-DPUT=strcpy(buf,"seven");return 4;'
wrong "beyond its buffer" 3 'writes a text beyond its buffer' '-DPUT=memset(buf,65,size+20);buf[5]=0;return 5;'
wrong "a text for a terminal" 3 'writes a text that cannot be printed .for value 0x7.' '-DPUT=strcpy(buf,"\033[2J");return 4;'
wrong "of two lines" 3 'writes a text that cannot be printed' '-DPUT=strcpy(buf,"a\nb");return 3;'
wrong "a binary text" 3 'writes a text that cannot be printed' '-DPUT=strcpy(buf,"\xff\xfe");return 2;'

# The second of two is to blame.
build -DOTHER= -DFINISH=-1
t_status "one of two plugins" 3 vinterp --symfs symfs --plugin strides.so --plugin "./bad$plugins.so" -o out.vt regs.vt
t_like "is named" "plugin ./bad$plugins.so: gives up" "$T_ERR"

# ---- streams with kinds and labels that nobody checked ----

text=$VT_BUILD/tests/tools/stream_make
{
	echo "IMAGE id=1 path=/x/prog machine=62"
	echo "MAP pid=7 tid=7 start=0x500000 length=0x1000 offset=0 image=1 prot=5"
	printf 'MODULE id=3 name=%%1b[31mred%%0a format=%%1b[2J\n'
	echo "MODULE id=3 name=again format=signed"
	echo "MODULE id=18446744073709551615 name=last format=float"
	echo "MODULE id=5 name= format="
	printf 'LABEL module=3 value=9 text=%%1b]0;title%%07\n'
	echo "LABEL module=77 value=9 text=undeclared"
	echo "LABEL module=18446744073709551615 value=0xffffffffffffffff text="
	for id in 3 5 77 78; do
		echo "VALUE pid=7 tid=7 ip=0x500010 what=module reg=$id size=8 value=9 weight=1"
		echo "VALUE pid=7 tid=7 ip=0x500010 what=module reg=$id size=77 lane=200 value=0xffffffffffffffff weight=1"
	done
} >odd.txt
"$text" <odd.txt >odd.vt
t_ok "vhot takes them" vhot -o odd.hot odd.vt
for command in "vlist --values --all -i odd.hot" "vlist --values --all --json -i odd.hot" \
	"vlist --values --all --csv -i odd.hot" "vtrace dump odd.hot" "vcmp -n 9 odd.hot odd.hot" \
	"vinv odd.hot"; do
	t_ok "$command" sh -c "$command"
	t_is "$command: nothing reaches a terminal raw" "$(LC_ALL=C tr -d '\n\t -~' <"$T_OUT" | wc -c)" 0
done
t_ok "merging them" vtrace merge -o odd2.hot odd.hot odd.hot
t_like "odd kinds are listed, escaped" 'again' <(vlist --values --all -i odd2.hot)
t_like "and those without a name" 'plugin 5' <(vlist --values --all -i odd2.hot)
t_like "and undeclared ones by their number" 'plugin 78' <(vlist --values --all -i odd2.hot)
{
	cat odd.txt
	echo "VALUE pid=7 tid=7 ip=0x500010 what=module reg=18446744073709551615 size=8 value=9 weight=1"
} | "$text" >huge.vt
t_status "a number that no plugin has" 1 vhot -o huge.hot huge.vt
t_like "contradicts" 'impossible register' "$T_ERR"
t_done
