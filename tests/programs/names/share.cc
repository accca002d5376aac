// SPDX-License-Identifier: MIT
//
// share - the same in C++: the statement calls the library, which is inlined

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace bench {
struct alignas(64) Pair {
	std::atomic<long> left, right;
};
static Pair pair;

template <class T> struct Worker {
	std::chrono::milliseconds time;

	void run(std::atomic<T> &mine)
	{
		using clock = std::chrono::steady_clock;
		auto end = clock::now() + time;

		do {
			for (int i = 0; i < 100000; i++)
				mine.fetch_add(1); // SHARED
		} while (clock::now() < end);
	}
};
}

int main(int argc, char **argv)
{
	int ms = argc > 1 ? std::atoi(argv[1]) : 1000;
	bench::Worker<long> w = { std::chrono::milliseconds(ms) };
	std::thread a([&] { w.run(bench::pair.left); });
	std::thread b([&] { w.run(bench::pair.right); });

	a.join();
	b.join();
	std::printf("%d\n", bench::pair.left > 0 && bench::pair.right > 0);
}
