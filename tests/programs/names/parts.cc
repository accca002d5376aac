// SPDX-License-Identifier: MIT
//
// parts - the same in C++: classes, bases, references, library types, this
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#define FUNCTION __attribute__((noinline))
#define STEP __asm__ volatile("" ::: "memory")

namespace shop {

struct base {
	long born;
	static long made;
};

template <typename T> class counter : public base {
public:
	void add(T n)
	{
		total += n; // is: counter<long>|.total
		STEP;
	}
	FUNCTION void note()
	{
		uses.fetch_add(1); // is: counter<long>|.uses
		born = 7;	   // is: counter<long>|.born
		STEP;
	}

private:
	T total;
	std::atomic<long> uses;
	std::string name;
};

} // namespace shop

using counter_t = shop::counter<long>;

counter_t counters[3];
std::atomic<int> flags[2];

FUNCTION void by_reference(counter_t &c)
{
	for (int i = 0; i < 10; i++)
		c.add(i);
}

struct holder {
	std::unique_ptr<counter_t> owned;
	int plain;
};

FUNCTION void owner(holder *h)
{
	h->plain = 3; // is: holder|.plain
	STEP;
}

FUNCTION void fixed()
{
	flags[1].fetch_add(1); // is: flags|[1]
}

int main()
{
	holder h{ std::make_unique<counter_t>(), 0 };

	by_reference(*h.owned);
	h.owned->note();
	counters[1].note();
	owner(&h);
	fixed();
	return 0;
}
