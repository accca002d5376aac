/* SPDX-License-Identifier: MIT */
/*
 * throws - exceptions through functions with hooks
 *
 *	throws ROUNDS
 *
 * Each byte is loaded before an exception passes through three functions, and
 * again from a function whose frame covers theirs.
 */
#include <cstdio>
#include <cstdlib>

namespace
{

constexpr int BYTES = 1000;
constexpr int ROOM = 2048;

volatile char data[BYTES];
volatile int sum;

} // namespace

#define APART extern "C" __attribute__((noipa))

APART int touch(volatile char *p, int k)
{
	return p[k];
}

APART int throws(volatile char *p, int k)
{
	sum += touch(p, k);
	throw k;
}

APART int through(volatile char *p, int k)
{
	return throws(p, k) + 1;
}

APART int again(volatile char *p, int k)
{
	return through(p, k) + 1;
}

APART int widely(volatile char *p, int k)
{
	volatile char room[ROOM];

	room[k] = k;
	return touch(p, k) + room[k];
}

APART int catches(volatile char *p, int k)
{
	try {
		return again(p, k);
	} catch (int) {
		return widely(p, k);
	}
}

APART int rounds(volatile char *p, long n)
{
	while (n--)
		for (int k = 0; k < BYTES; k++)
			sum += catches(p, k);
	return sum;
}

int main(int argc, char **argv)
{
	std::printf("%d\n", rounds(data, argc == 2 ? std::atol(argv[1]) : 1));
	return 0;
}
