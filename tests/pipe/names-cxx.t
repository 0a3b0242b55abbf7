#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Long names of C++: how tables show them, and how a procedure is named without typing them.

. "$(dirname "$0")/../lib.sh"
t_need valgrind g++ nm c++filt "$PYTHON"

cat >sorts.cc <<'END'
#include <algorithm>
#include <utility>
#include <vector>

namespace shop {
template <class A, class B> struct Pair {
	A a;
	B b;
	bool operator<(const Pair &o) const { return a < o.a; }
};

static inline __attribute__((always_inline)) unsigned stir(unsigned x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5; /* the last */
}

template <class T> __attribute__((noinline)) unsigned fill(std::vector<T> &v, unsigned seed)
{
	for (auto &x : v) {
		for (int i = 0; i < 200; i++)
			seed = stir(seed);
		x.a = seed % 1000;
	}
	return seed;
}

template <class T> struct Sum {
	__attribute__((noinline)) long operator()(const std::vector<T> &v) const
	{
		long sum = 0;
		for (auto &x : v)
			sum += x.a & 1;
		return sum;
	}
};
}

using Small = shop::Pair<int, std::pair<short, std::pair<short, short>>>;
using Large = shop::Pair<long, std::pair<long, std::pair<long, long>>>;

int main()
{
	std::vector<Small> small(3000);
	std::vector<Large> large(300);
	unsigned seed = shop::fill(small, 1);
	seed = shop::fill(large, seed);
	std::sort(small.begin(), small.end());
	std::sort(large.begin(), large.end(), [](const Large &x, const Large &y) { return y < x; });
	return shop::Sum<Small>()(small) + shop::Sum<Large>()(large) + seed == 0;
}
END
g++ -O2 -g -o sorts sorts.cc || exit 99
t_ok "the program is recorded" vtrace record --full --blocks -o s.vt -- ./sorts
# The two instances of a template, by their symbols: the first has the more samples.
fills=$(nm sorts | sed -n 's/^[0-9a-f]* [tTwW] //p' | grep '4shop4fillI' | grep -v '[.]' | sort)
t_is "the template has two instances" "$(echo "$fills" | wc -l)" 2
small=$(echo "$fills" | grep 'PairIi')
large=$(echo "$fills" | grep 'PairIl')
full=$(c++filt -p "$small")

# ---- two commands find the hot line ----

vprof s.vt >profile
t_like "the hottest procedure, without its arguments" \
	'^ *[0-9]+ +[0-9.]+% +[0-9.]+%  shop::fill<…> .*/sorts$' profile
t_is "is the first" "$(sed -n '6s/.*%  \([^ ]*\) .*/\1/p' profile)" 'shop::fill<…>'
t_unlike "no row has 200 letters" '.{200}' profile
t_ok "the second command lists it" vlist s.vt 'shop::fill#1'
t_like "with its name in full" "^$(c++filt -p "$small" | sed 's/[][*.^$]/\\&/g') in " "$T_OUT"
vlist --source --csv -I . s.vt 'shop::fill#1' >hot.csv
hot=$("$PYTHON" - <<'END'
import csv

rows = [r for r in csv.DictReader(open("hot.csv")) if r["instructions"] and r["line"]]
print(max(rows, key=lambda r: int(r["instructions"]))["line"])
END
)
t_is "whose hottest line is of what it does most" \
	"$(sed -n "${hot}p" sorts.cc | grep -cE 'x (\^=|\^) x|stir\(seed\)|i < 200')" 1


# ---- listings ----

vlist --asm s.vt main | tail -n +4 >short.txt
t_like "the target of a call is short" ' call .*<shop::fill<…>>$' short.txt
t_unlike "no row of code has 200 letters" '.{200}' short.txt
vlist --asm --full-names s.vt main >full.txt
t_is "--full-names shows it in full" "$(grep -c ' call ' full.txt)" "$(vlist --asm s.vt main | grep -c ' call ')"
t_like "with its arguments" " call .*<$(printf %s "$full" | sed 's/[][*.^$]/\\&/g')>\$" full.txt
vlist s.vt '__introsort_loop#1' | grep 'inlined into' >places
t_like "so are the names of inlined functions" 'inlined into [^<]*__introsort_loop<…>' places
t_unlike "all of them" 'allocator<[a-z]' places

# ---- tables ----

t_is "--full-names shows all" "$(vprof --full-names s.vt | grep -cF "  $full ")" 1
for form in json csv tsv; do
	vprof --$form s.vt >"rows.$form"
	t_is "--$form has all" "$(grep -cF "$full" "rows.$form")" 1
	t_unlike "and no ellipsis" '…' "rows.$form"
done

# The greatest width of a row of the table.
widest() { "$PYTHON" -c 'import sys
print(max(len(l.rstrip("\n")) for l in open(sys.argv[1], encoding="utf-8").readlines()[4:]))' "$1"; }

unset COLUMNS
t_terminal 70 vprof s.vt >narrow
t_is "rows are as wide as the terminal" "$(widest narrow)" 70
t_like "with an ellipsis in what is cut" '  [^ ]+…[^ ]+$' narrow
t_terminal 0 vprof s.vt >unknown
t_is "a terminal without a width cuts nothing" "$(widest unknown)" "$(widest profile)"
COLUMNS=66 t_terminal 70 vprof s.vt >narrow
t_is "COLUMNS says otherwise" "$(widest narrow)" 66
t_terminal 70 vprof --full-names s.vt >whole
vprof --full-names s.vt >piped
t_same "--full-names cuts nothing" whole piped
COLUMNS=70 vprof s.vt >piped
t_same "nor does what is no terminal" profile piped

# ---- names ----

for name in fill shop::fill 'shop::fill<…>' 'fill<…>' '*fill*' '/shop::f.ll$/' sorts:fill 'sorts:/fill</'; do
	t_status "$name means two" 2 vlist s.vt "$name"
	t_is "$name: both are told, with what differs" \
		"$(grep -cE '  #[12]  .*/sorts:0x[0-9a-f]+  shop::fill<shop::Pair<.*, [0-9]+ samples \([0-9.]+%\)$' "$T_ERR")" 2
	t_like "$name: and how to name one" "name one of them so: '.*#2'" "$T_ERR"
	for i in 1 2; do
		symbol=$([ $i = 1 ] && echo "$small" || echo "$large")
		t_is "$name#$i is one" "$(vlist --json s.vt "$name#$i" | jq -r '.procedures[].symbol')" "$symbol"
	done
done
t_status "there is no third" 2 vlist s.vt fill#3
t_like "which is said" 'fill#3: fill means 2 procedures' "$T_ERR"
address=0x$(nm sorts | sed -n "s/^0*\([0-9a-f]*\) . $large\$/\1/p")
for name in "$large" "$(c++filt -p "$large")" "$(c++filt "$large")" "sorts:$address" '/fill.*long/'; do
	t_is "exact: $name" "$(vlist --json s.vt "$name" | jq -r '.procedures[].symbol')" "$large"
done
t_status "a function that is inlined" 2 vlist s.vt stir
t_like "is said to be, and where" \
	'^vlist: stir: has no code of its own: inlined into shop::fill<…> \([0-9]+ samples\), ' "$T_ERR"
t_is "and nothing else" "$(wc -l <"$T_ERR")" 1
t_status "by its qualified name, too" 2 vlist s.vt shop::stir
t_like "is inlined" 'shop::stir: has no code of its own' "$T_ERR"
t_status "a misspelled base name" 2 vlist s.vt introsort_lop
t_like "is answered once for all instances" 'did you mean std::__introsort_loop<…>\?$' "$T_ERR"
t_status "a malformed expression" 2 vlist s.vt '/fill(/'
t_like "is told" '^vlist: /fill\(/: ' "$T_ERR"
t_done
