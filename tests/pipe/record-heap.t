#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record --full --heap: the HEAP records of a recording against what the recorded program has
# printed about its calls, and their place among the executed instructions.

. "$(dirname "$0")/../lib.sh"

# ---- options ----

for names in '' ',' 'f,' ',f' 'f,,g' f/ /1 f/0 f/4 f/-0 f/-4 f/- f/x f/1x f/1/1 "$(printf 'f%d,' {1..32})f33"; do
	t_status "--alloc of no names: ${names:0:20}" 2 vtrace record --full --alloc "$names" true
done
t_like "says what names are" 'NAME, NAME/N or NAME/-N' "$T_ERR"
t_status "not without --full" 2 vtrace record --heap true
t_status "nor --alloc" 2 vtrace record --alloc f true
t_ok "only print" vtrace record --full --dry-run --alloc f,g/2,h/-3 prog
t_like "--alloc is --heap, too" ' --heap=yes --alloc=f,g/2,h/-3 ' "$T_OUT"
t_ok "as many names as there may be" vtrace record --full --dry-run --alloc "$(printf 'f%d,' {1..31})f32" prog

t_need valgrind
if ! vtrace record --full -o probe.vt true >/dev/null 2>&1; then
	t_skip "recordings" "vtrace record --full does not work here: $(head -c 200 "$T_ERR")"
	t_done
fi
heap=$VT_BUILD/tests/tools/rec_heap
own=pool_get/2,pool_put/-2,pool_fail

# usage: record NAME OPTIONS... -- PROGRAM...
record()
{
	t_ok "$1 is recorded" vtrace record --full -o "$1.vt" "${@:2}"
	cp "$T_OUT" "$1.out"
	cp "$T_ERR" "$1.err"
}

# usage: right NAME CALLS [window]
right()
{
	t_ok "$1: the records are what the program has printed" \
		"$PYTHON" "$ROOT/tests/check_heap.py" "$1.vt" "$1.out" "${@:3}"
	t_like "$1: of all its calls" "^$2 calls, " "$T_OUT"
}

# usage: said NAME TEXT: what is left out
said()
{
	t_is "$1: what is said to be left out" "$(sed -n 's/.*: left out: //p' "$1.err" | sort)" "$2"
}

# ---- a program in C ----

record calls --heap --mem --alloc "$own" -- "$heap" calls
right calls 234
said calls "allocations that did not return (1)"
t_is "each is a record" "$(vtrace info calls.vt 2>/dev/null | awk '$2 == "HEAP" { print $1 }')" \
	"$(vtrace dump -k HEAP calls.vt 2>/dev/null | wc -l)"
t_is "what fails has no address" \
	"$(vtrace dump -k HEAP -F op,addr,size calls.vt 2>/dev/null | grep -c '	0x0	2305843009213693952$')" 4
t_is "with JSON's names" "$(vtrace dump -k HEAP --json calls.vt 2>/dev/null |
	grep -cm1 '"op": *"calloc".*"size": *221,.*"caller":')" 1

record threads --heap --values all -- "$heap" threads
right threads 812
record fork --heap --follow --blocks -- "$heap" fork
right fork 80
record signals --heap -- "$heap" signals
right signals 120

# ---- windows ----

# usage: executed STREAM: instructions
executed()
{
	vtrace dump -k EXEC -F first,insns "$1" 2>/dev/null | awk '{ n += $2 } END { print n + 0 }'
}
record behind --heap --skip 200000 -- "$heap" signals
right behind 120 window
t_is "records before the window are at its start" \
	"$(vtrace dump -k HEAP -F first behind.vt | head -n 12 | sort -u)" 0
record before --heap --count 200000 -- "$heap" signals
t_is "the window ends" "$(executed before.vt)" 200000
t_is "no record is later" \
	"$(vtrace dump -k HEAP -F first before.vt | awk '$1 > 200000 { n++ } END { print n + 0 }')" 0
record toggled --heap --toggle handle_signal -- "$heap" signals
right toggled 120 window
t_is "a function's part is small" "$(($(executed toggled.vt) * 2 < $(executed signals.vt)))" 1

# ---- other executables ----

t_need gcc
cp "$heap" stripped
strip stripped
record stripped --alloc "$own,none" -- ./stripped signals
right stripped 120
said stripped "none of --alloc was not called
pool_fail of --alloc was not called
pool_get of --alloc was not called
pool_put of --alloc was not called"
if gcc -O1 -std=gnu11 -static -pthread -o static "$ROOT/tests/tools/rec_heap.c" 2>/dev/null; then
	record static --alloc "$own" -- ./static calls
	right static 234
	said static "allocations that did not return (1)"
	strip static
	record symbols --heap -- ./static calls
	t_is "without symbols there are no records" "$(vtrace dump -k HEAP symbols.vt 2>/dev/null)" ""
	said symbols "allocations: no function of that kind was found by its symbol"
else
	t_skip "static executables" "gcc -static does not work here"
fi

# ---- C++ ----

if ! command -v g++ >/dev/null; then
	t_skip "C++" "no g++"
	t_done
fi
cat >cxx.cc <<'EOF'
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <unistd.h>

#define NOTED __attribute__((noipa, section("noted")))
extern "C" const char __start_noted[], __stop_noted[];

static struct {
	const char *op;
	const void *addr;
	std::size_t size;
	const void *old;
} calls[1000];
static unsigned n;

static void note(const char *op, const void *addr, std::size_t size, const void *old)
{
	calls[n].op = op;
	calls[n].addr = addr;
	calls[n].size = size;
	calls[n++].old = old;
}

static inline void stay() { __asm__ volatile(""); }

struct alignas(64) Wide {
	char bytes[192];
};

namespace store {
static char memory[4096];
static std::size_t used;

struct Pool {
	__attribute__((noipa)) void *get(std::size_t size)
	{
		std::free(std::malloc(size));
		used += size;
		return memory + used - size;
	}
};

__attribute__((noipa)) void *get(std::size_t size, void *)
{
	::operator delete(::operator new(size));
	used += size;
	return memory + used - size;
}

__attribute__((noipa)) void *get_or_throw(std::size_t size)
{
	if (size > 100)
		throw 1;
	return memory;
}
}

NOTED static void *hold()
{
	void *p = ::operator new(48);
	note("new", p, 48, nullptr);
	return p;
}

NOTED static void release(void *p)
{
	note("delete", nullptr, 0, p);
	::operator delete(p);
	stay();
}

struct Held {
	void *p;
	Held() : p(hold()) {}
	~Held() { release(p); }
};

NOTED static void call_operators()
{
	void *p = ::operator new(33);
	note("new", p, 33, nullptr);
	note("delete", nullptr, 0, p);
	::operator delete(p);
	char *chars = new char[77];
	note("new", chars, 77, nullptr);
	note("delete", nullptr, 0, chars);
	delete[] chars;
	long *one = new long(5);
	note("new", one, sizeof(*one), nullptr);
	note("delete", nullptr, 0, one);
	delete one;
	Wide *wide = new Wide;
	note("new", wide, sizeof(*wide), nullptr);
	note("delete", nullptr, 0, wide);
	delete wide;
	p = ::operator new(21, std::nothrow);
	note("new", p, 21, nullptr);
	new (p) int(3);
	note("delete", nullptr, 0, p);
	::operator delete(p, std::nothrow);
	stay();
}

NOTED static void call_pools(store::Pool *pool)
{
	void *p = pool->get(40);
	note("malloc", p, 40, nullptr);
	p = store::get(50, p);
	note("malloc", p, 50, nullptr);
	stay();
}

NOTED static void get_held(std::size_t size)
{
	Held held;
	void *p = store::get_or_throw(size);

	note("malloc", p, size, nullptr);
	stay();
}

NOTED static void recover()
{
	void *p = ::operator new(10);
	note("new", p, 10, nullptr);
	note("delete", nullptr, 0, p);
	::operator delete(p);
	stay();
}

/* Not noted: the end of the handler jumps to free(). */
static void get_and_catch(std::size_t size)
{
	try {
		get_held(size);
	} catch (int) {
		recover();
	}
}

int main()
{
	store::Pool pool;

	call_operators();
	call_pools(&pool);
	for (int i = 0; i < 10; i++)
		get_and_catch(i % 2 ? 1000 : 100);
	std::printf("code %jx %jx\n", (std::uintmax_t)__start_noted, (std::uintmax_t)__stop_noted);
	for (unsigned i = 0; i < n; i++)
		std::printf("%d %s %jx %zx %jx\n", (int)getpid(), calls[i].op,
			    (std::uintmax_t)calls[i].addr, calls[i].size, (std::uintmax_t)calls[i].old);
}
EOF
for level in 0 2; do
	g++ -std=c++17 "-O$level" -o cxx cxx.cc || exit 99
	record "cxx$level" --mem --alloc store::Pool::get/2,store::get,store::get_or_throw -- ./cxx
	right "cxx$level" 47
	said "cxx$level" "allocations that did not return (5)"
done
t_done
