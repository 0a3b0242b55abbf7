// SPDX-License-Identifier: GPL-3.0-or-later
//
// What C++ programs do all the time: vectors with end pointers, strings, virtual calls, lists, all
// of it on the heap and the stack. Its argument shifts both by so many bytes: what is then another
// value is an address of the run.
#include <alloca.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#define APART __attribute__((noinline))

struct shape {
	virtual ~shape() = default;
	virtual long area(long k) const = 0;
};

struct square : shape {
	explicit square(long x) : side(x)
	{
	}
	long area(long k) const override
	{
		return side * side * k;
	}
	long side;
};

struct node {
	node *next;
	long value;
};

// In the image: the same in each run, relative to its symbol.
static long table[64];
static const long *limit;
static long millions;

APART static long sum_vector(const std::vector<int> &v)
{
	long s = 0;

	for (int x : v)
		s += x;
	return s;
}

APART static long count_bytes(const char *p, const char *end, char c)
{
	long n = 0;

	for (; p != end; p++)
		n += *p == c;
	return n;
}

APART static long total(const std::vector<std::unique_ptr<shape>> &v, long k)
{
	long s = 0;

	for (const auto &p : v)
		s += p->area(k);
	return s;
}

APART static long walk(const node *n)
{
	long s = 0;

	for (; n; n = n->next)
		s += n->value;
	return s;
}

APART static long sum_table(void)
{
	long s = 0;

	for (const long *p = table; p != *static_cast<const long *volatile *>(&limit); p++)
		s += *p;
	return s;
}

APART static long modulo(long x)
{
	return x % *static_cast<volatile long *>(&millions);
}

APART static long rounds(long n, const std::vector<int> &v, const std::string &text,
			 const std::vector<std::unique_ptr<shape>> &shapes, const node *list)
{
	long s = 0;

	for (long i = 0; i < n; i++) {
		s += sum_vector(v) + count_bytes(text.data(), text.data() + text.size(), 'x');
		s += total(shapes, 2) + walk(list) + sum_table() + modulo(s);
	}
	return s;
}

int main(int argc, char **argv)
{
	size_t shift = argc > 1 ? strtoul(argv[1], nullptr, 0) : 0;
	volatile char *room = static_cast<char *>(alloca(shift + 16));
	std::unique_ptr<char[]> before(new char[shift + 16]);
	std::vector<int> small(251, 3), large(100001, 1);
	std::vector<std::unique_ptr<shape>> shapes;
	std::string text(177, 'x');
	node *list = nullptr;

	room[0] = before[0] = 1;
	limit = table + 60;
	millions = argc ? 3000000 : 1;
	for (long i = 0; i < 64; i++)
		table[i] = i;
	for (long i = 0; i < 33; i++)
		shapes.emplace_back(new square(i));
	for (long i = 0; i < 50; i++)
		list = new node{list, i};
	std::printf("%ld\n",
		    rounds(200, small, text, shapes, list) + rounds(20, large, text, shapes, list));
	while (list) {
		node *next = list->next;

		delete list;
		list = next;
	}
	return room[0] + before[0] - 2;
}
