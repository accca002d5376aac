// SPDX-License-Identifier: MIT
//
// pair - two C++ threads that add to members of one object, or to padded ones
//
//   pair false|true|clean
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

struct Counters {
	alignas(64) std::atomic<long> word[32];
};

static Counters counters;

static void add(int i)
{
	for (;;)
		counters.word[i].fetch_add(1, std::memory_order_relaxed);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "false";
	int apart = !std::strcmp(mode, "true") ? 0
		    : !std::strcmp(mode, "clean") ? 16 : 1;
	std::thread other(add, apart);

	std::puts("ready");
	std::fflush(stdout);
	add(0);
	other.join();
}
