// SPDX-License-Identifier: MIT
//
// planted - mistakes in C++, and the same mended
//
//	planted member|vector bad|good [ROUNDS]
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#define STEP __asm__ volatile("" ::: "memory")

static long rounds = 60000000;

// Two counters of one object, each for a thread.
class Queue {
public:
	[[gnu::noinline]] void push()
	{
		for (long i = 0; i < rounds; i++) {
			pushed_.fetch_add(1, std::memory_order_relaxed);
			STEP;
		}
	}
	[[gnu::noinline]] void pop()
	{
		for (long i = 0; i < rounds; i++) {
			popped_.fetch_add(1, std::memory_order_relaxed);
			STEP;
		}
	}

private:
	alignas(64) std::atomic<long> pushed_{ 0 };
	std::atomic<long> popped_{ 0 };
};

class QueueGood {
public:
	[[gnu::noinline]] void push()
	{
		for (long i = 0; i < rounds; i++) {
			pushed_.fetch_add(1, std::memory_order_relaxed);
			STEP;
		}
	}
	[[gnu::noinline]] void pop()
	{
		for (long i = 0; i < rounds; i++) {
			popped_.fetch_add(1, std::memory_order_relaxed);
			STEP;
		}
	}

private:
	alignas(64) std::atomic<long> pushed_{ 0 };
	alignas(64) std::atomic<long> popped_{ 0 };
};

// A slot of a vector for each thread.
struct Slot {
	long sum = 0;
	int id = 0;
};
struct alignas(64) SlotGood {
	long sum = 0;
	int id = 0;
};

template <typename S> [[gnu::noinline]] void add(S &slot)
{
	for (long i = 0; i < rounds; i++) {
		slot.sum += i;
		STEP;
	}
}

template <typename Q> static void run_queue()
{
	auto queue = std::make_unique<Q>();
	std::thread a([&] { queue->push(); });
	std::thread b([&] { queue->pop(); });

	a.join();
	b.join();
}

template <typename S> static void run_slots()
{
	std::vector<S> slots(8);
	size_t first = 0;

	// Two neighbours on one line, wherever the vector begins.
	while ((size_t)&slots[first] / 64 != (size_t)(&slots[first + 1]) / 64 &&
	       sizeof(S) < 64)
		first++;
	std::thread a([&] { add(slots[first]); });
	std::thread b([&] { add(slots[first + 1]); });

	a.join();
	b.join();
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	bool good = argc > 2 && !std::strcmp(argv[2], "good");

	if (argc > 3)
		rounds = std::atol(argv[3]);
	if (!std::strcmp(what, "member"))
		good ? run_queue<QueueGood>() : run_queue<Queue>();
	else if (!std::strcmp(what, "vector"))
		good ? run_slots<SlotGood>() : run_slots<Slot>();
	else
		return std::fputs("usage: planted member|vector bad|good "
				  "[ROUNDS]\n",
				  stderr),
		       2;
	return 0;
}
