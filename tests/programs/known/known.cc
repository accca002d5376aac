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
 *   locked      two lock words beside a word that other threads only read (the
 *               example program of perf c2c)
 *   quiescent   readers announce in a counter each that they hold no pointer;
 *               a writer replaces what they read and waits for all of them
 *               (userspace RCU, QSBR)
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
			while (started.load(std::memory_order_relaxed) <
			       THREADS)
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

/* Two threads take the locks, two read the word beside them. */
template <std::size_t ALIGN> void locked(long iterations)
{
	static struct {
		alignas(64) std::atomic<long> lock[2];
		alignas(ALIGN) std::atomic<long> mode;
	} shared;

	in_threads([iterations](int id) {
		unsigned rng = 7 + id;
		long sum = 0;

		for (long i = 0; i < iterations; i++) {
			std::atomic<long> &lock = shared.lock[next(rng) % 2];

			if (id < 2) {
				while (lock.exchange(1))
					;
				lock.store(0, std::memory_order_release);
			} else {
				for (int k = 0; k < 8; k++)
					sum += shared.mode.load(
						std::memory_order_relaxed);
			}
		}
		if (sum)
			std::abort();
	});
}

/* Threads 1 to 3 read until the writer, thread 0, has replaced enough. */
template <std::size_t ALIGN> void quiescent(long iterations)
{
	struct alignas(ALIGN) reader {
		std::atomic<long> seen{ 0 };
	};
	static reader readers[THREADS];
	alignas(64) static std::atomic<long> period{ 1 }, current{ 0 };
	alignas(64) static object objects[OBJECTS];

	in_threads([iterations](int id) {
		unsigned rng = 7 + id;

		while (id &&
		       period.load(std::memory_order_acquire) <= iterations) {
			for (int k = next(rng) % 8; k >= 0; k--)
				if (objects[current.load()].uses < 0)
					std::abort();
			readers[id].seen.store(period.load());
		}
		for (long i = 1; !id && i <= iterations; i++) {
			objects[i % OBJECTS].uses = i;
			current.store(i % OBJECTS);
			period.store(i + 1);
			for (int r = 1; r < THREADS && i < iterations; r++)
				while (readers[r].seen.load() <= i)
					;
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
	else if (!std::strcmp(argv[1], "locked"))
		cured ? locked<64>(iterations) : locked<8>(iterations);
	else if (!std::strcmp(argv[1], "quiescent"))
		cured ? quiescent<64>(iterations) : quiescent<8>(iterations);
	else
		return 2;
	return 0;
}
