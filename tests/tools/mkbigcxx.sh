#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: mkbigcxx.sh DIR
#
# Makes DIR/big, a C++ program of some 50 MB with DWARF: many instances of many templates in twenty
# compilation units, and in one of them hot(), where it spends its time. Kept when it is there.

set -eu
dir=$1
units=22
types=5
[ ! -x "$dir/big" ] || exit 0
mkdir -p "$dir"

cat >"$dir/churn.h" <<'END'
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

template <int N> struct Item {
	int key;
	std::string name;
	double weight[N % 7 + 1];
	bool operator<(const Item &o) const { return key < o.key; }
};

template <int N> long churn(long seed)
{
	std::vector<Item<N>> v;
	std::map<int, Item<N>> m;
	std::unordered_map<std::string, Item<N>> u;
	std::set<Item<N>> s;

	for (int i = 0; i < 50; i++) {
		Item<N> it{};
		seed = seed * 1103515245 + 12345;
		it.key = int(seed >> 8 & 1023);
		it.name = std::to_string(it.key);
		v.push_back(it);
		m.emplace(it.key, it);
		u[it.name] = it;
		s.insert(it);
	}
	std::sort(v.begin(), v.end());
	std::stable_sort(v.begin(), v.end(),
			 [](const Item<N> &a, const Item<N> &b) { return a.name < b.name; });
	std::function<long(long)> f = [&](long x) {
		for (auto &p : m)
			x += p.second.key * N;
		return x;
	};
	return f(long(v.size() + u.size() + s.size()));
}
END

unit()
{
	echo '#include "churn.h"'
	if [ "$1" = 11 ]; then
		cat <<-'END'
			template <typename T> static inline T mix(T a, T b)
			{
				return (a ^ b) * T(0x9e3779b97f4a7c15ull);
			}
			long hot(std::vector<unsigned long> &v, int rounds)
			{
				unsigned long sum = 0;
				for (int r = 0; r < rounds; r++)
					for (size_t i = 1; i < v.size(); i++) {
						v[i] = mix(v[i], v[i - 1] + r);
						if (v[i] & 64)
							sum += v[i] >> 3;
						else
							sum ^= v[i];
					}
				return long(sum);
			}
		END
	fi
	echo "long part$1(long x)"
	echo '{'
	for t in $(seq "$types"); do
		printf '\tx += churn<%d>(x);\n' $(($1 * 1000 + t))
	done
	printf '\treturn x;\n}\n'
}

for i in $(seq "$units"); do
	unit "$i" >"$dir/part$i.cc"
done
{
	echo '#include <cstdio>'
	echo '#include <vector>'
	echo 'long hot(std::vector<unsigned long> &v, int rounds);'
	for i in $(seq "$units"); do
		echo "long part$i(long);"
	done
	printf 'int main()\n{\n\tstd::vector<unsigned long> v(4096);\n\tlong x = hot(v, 60000);\n'
	for i in $(seq "$units"); do
		printf '\tx += part%d(x);\n' "$i"
	done
	printf '\tprintf("%%ld\\n", x);\n\treturn 0;\n}\n'
} >"$dir/main.cc"

cd "$dir"
printf '%s\n' part*.cc main.cc | xargs -P "$(nproc)" -I{} g++ -g -O1 -c {}
g++ -g -o big.tmp ./*.o
mv big.tmp big
