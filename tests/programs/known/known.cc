/* SPDX-License-Identifier: MIT */
/*
 * known - false sharing of known programs, written afresh
 *
 *	known PATTERN ITERATIONS [cured]
 *
 *   regression  each thread adds up five sums of its points in an element of
 *               an array (Phoenix, linear_regression)
 *   locks       41 spin locks side by side, by a hash of the address of what
 *               they guard (Boost, spinlock_pool)
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace
{

constexpr int THREADS = 4;
constexpr unsigned LOCKS = 41, OBJECTS = 512;

template <std::size_t ALIGN> struct alignas(ALIGN) sums {
	double x, y, xx, yy, xy;
};

template <std::size_t ALIGN> struct alignas(ALIGN) spin_lock {
	std::atomic<int> taken{ 0 };
};

struct alignas(64) object {
	long uses;
};

template <typename F> void in_threads(F f)
{
	std::atomic<int> started{ 0 };
	std::vector<std::thread> threads;

	for (int id = 0; id < THREADS; id++)
		threads.emplace_back([&started, &f, id] {
			started++;
			while (started.load(std::memory_order_relaxed) < THREADS)
				;
			f(id);
		});
	for (auto &t : threads)
		t.join();
}

unsigned next(unsigned &x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^= x << 5;
}

template <std::size_t ALIGN> void regression(long iterations)
{
	static sums<ALIGN> all[THREADS];

	in_threads([iterations](int id) {
		sums<ALIGN> &s = all[id];
		unsigned rng = 7 + id;

		for (long i = 0; i < iterations; i++) {
			double x = next(rng) % 100, y = next(rng) % 100;

			s.x += x;
			s.xx += x * x;
			s.y += y;
			s.yy += y * y;
			s.xy += x * y;
			/* The compiler keeps no sum in a register. */
			std::atomic_signal_fence(std::memory_order_seq_cst);
		}
	});
}

template <std::size_t ALIGN> void locks(long iterations)
{
	static spin_lock<ALIGN> pool[LOCKS];
	static object objects[OBJECTS];

	in_threads([iterations](int id) {
		unsigned rng = 7 + id;

		for (long i = 0; i < iterations; i++) {
			unsigned which = next(rng) % OBJECTS;
			std::atomic<int> &lock = pool[which % LOCKS].taken;

			while (lock.exchange(1, std::memory_order_acquire))
				;
			objects[which].uses++;
			lock.store(0, std::memory_order_release);
		}
	});
}

} // namespace

int main(int argc, char **argv)
{
	bool cured = argc > 3 && !std::strcmp(argv[3], "cured");
	long iterations = argc > 2 ? std::atol(argv[2]) : 0;

	if (iterations < 1)
		return 2;
	if (!std::strcmp(argv[1], "regression"))
		cured ? regression<64>(iterations) : regression<8>(iterations);
	else if (!std::strcmp(argv[1], "locks"))
		cured ? locks<64>(iterations) : locks<4>(iterations);
	else
		return 2;
	return 0;
}
