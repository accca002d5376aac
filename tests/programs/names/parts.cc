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

// A class without members lies where the first member does.
struct tag {
};
struct labels : tag {
	int first, second;
};
labels tagged[3];

struct cell {
	long kind;
	std::vector<cell *> next;
	std::unique_ptr<cell> below;
	std::atomic<cell *> last;
	std::atomic<int> uses;
};

// No variable holds the pointer; it lies in a container of the library.
FUNCTION int through_a_vector(const cell *c)
{
	int zeros = 0;

	for (std::size_t i = 0; i < c->next.size(); i++) { // is: cell|.next
		STEP;
		if (--c->next[i]->uses == 0) // is: cell|.uses, cell|.next
			zeros++;
	}
	return zeros;
}

FUNCTION void through_a_unique_ptr(cell *c)
{
	STEP;
	c->below->uses++; // is: cell|.uses, cell|.below
}

FUNCTION void through_an_atomic(cell *c)
{
	STEP;
	c->last.load()->uses++; // is: cell|.uses, cell|.last
}

FUNCTION void fixed()
{
	flags[1].fetch_add(1); // is: flags|[1]
	tagged[2].first = 5;   // is: tagged|[2].first
}

int main()
{
	holder h{ std::make_unique<counter_t>(), 0 };

	by_reference(*h.owned);
	h.owned->note();
	counters[1].note();
	owner(&h);

	cell c;
	c.next.push_back(&c);
	c.below = std::make_unique<cell>();
	c.last = &c;
	through_a_vector(&c);
	through_a_unique_ptr(&c);
	through_an_atomic(&c);
	fixed();
	return 0;
}
