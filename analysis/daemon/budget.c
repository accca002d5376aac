/* SPDX-License-Identifier: MIT */
/*
 * budget - how much of the machine the daemon may take
 */
#include <string.h>

#include "budget.h"

/* Savings are at most for two slices, or for this time. */
#define SAVED_NS 2e9

void budget_init(struct budget *b, double percent, int cpus, uint64_t now)
{
	memset(b, 0, sizeof(*b));
	b->rate = percent / 100 * cpus;
	b->at = b->began = now;
}

void budget_update(struct budget *b, uint64_t now, uint64_t spent)
{
	double most = 2 * b->expected;

	if (most < SAVED_NS * b->rate)
		most = SAVED_NS * b->rate;
	if (now > b->at) {
		b->left += b->rate * (double)(now - b->at);
		b->at = now;
	}
	if (b->left > most)
		b->left = most;
	if (spent > b->spent) {
		b->left -= (double)(spent - b->spent);
		b->spent = spent;
	}
}

void budget_learn(struct budget *b, uint64_t ns, double times)
{
	b->expected = (double)ns * times;
}

uint64_t budget_wait(const struct budget *b)
{
	double missing = b->expected - b->left;

	return missing <= 0 ? 0 : (uint64_t)(missing / b->rate) + 1;
}

double budget_percent(const struct budget *b, int cpus)
{
	double all = (double)(b->at - b->began) * cpus;

	return all > 0 ? 100 * (double)b->spent / all : 0;
}
