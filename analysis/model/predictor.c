/* SPDX-License-Identifier: MIT */
/*
 * predictor - predict conditional branches
 */
#include <stdlib.h>

#include "predictor.h"
#include "predictor_pentium_m.h"
#include "predictor_tage.h"
#include "analysis/base/util.h"

enum {
	ONE_BIT_ENTRIES = 1024,
	LOCAL_ENTRIES = 1024,
	LOCAL_BITS = 10,
	LOCAL_MAX = 7, /* of a 3-bit counter */
	GLOBAL_BITS = 12,
	TWO_BIT_MAX = 3,
};

struct predictor {
	enum machine_predictor kind;
	struct pentium_m *pentium_m;
	struct tage *tage;
	uint8_t last[ONE_BIT_ENTRIES];
	uint16_t local_history[LOCAL_ENTRIES];
	uint8_t local[1 << LOCAL_BITS];
	uint32_t history;
	uint8_t global[1 << GLOBAL_BITS], choice[1 << GLOBAL_BITS];
};

struct predictor *predictor_new(enum machine_predictor kind)
{
	struct predictor *p = xcalloc(1, sizeof(*p));

	p->kind = kind;
	if (kind == PREDICTOR_PENTIUM_M)
		p->pentium_m = pentium_m_new();
	if (kind == PREDICTOR_TAGE)
		p->tage = tage_new();
	return p;
}

struct predictor *predictor_new_all(void)
{
	struct predictor *p = xcalloc(1, sizeof(*p));

	p->kind = PREDICTORS;
	p->pentium_m = pentium_m_new();
	p->tage = tage_new();
	return p;
}

void predictor_free(struct predictor *p)
{
	if (!p)
		return;
	free(p->pentium_m);
	free(p->tage);
	free(p);
}

static bool one_bit(struct predictor *p, uint64_t ip, bool taken)
{
	uint8_t *last = &p->last[ip % ONE_BIT_ENTRIES];
	bool right = *last == taken;

	*last = taken;
	return right;
}

static void count(uint8_t *counter, bool up, uint8_t max)
{
	if (up && *counter < max)
		++*counter;
	if (!up && *counter)
		--*counter;
}

static bool tournament(struct predictor *p, uint64_t ip, bool taken)
{
	uint16_t *history = &p->local_history[ip % LOCAL_ENTRIES];
	uint8_t *local = &p->local[*history];
	uint8_t *global = &p->global[p->history];
	uint8_t *choice = &p->choice[p->history];
	bool by_local = *local > LOCAL_MAX / 2;
	bool by_global = *global > TWO_BIT_MAX / 2;
	bool predicted = *choice > TWO_BIT_MAX / 2 ? by_global : by_local;

	if (by_local != by_global)
		count(choice, by_global == taken, TWO_BIT_MAX);
	count(local, taken, LOCAL_MAX);
	count(global, taken, TWO_BIT_MAX);
	*history =
		(uint16_t)((*history << 1 | taken) & ((1 << LOCAL_BITS) - 1));
	p->history = (p->history << 1 | taken) & ((1 << GLOBAL_BITS) - 1);
	return predicted == taken;
}

bool predictor_right(struct predictor *p, uint64_t ip, bool taken)
{
	switch (p->kind) {
	case PREDICTOR_ONE_BIT:
		return one_bit(p, ip, taken);
	case PREDICTOR_TOURNAMENT:
		return tournament(p, ip, taken);
	case PREDICTOR_PENTIUM_M:
		return pentium_m_right(p->pentium_m, ip, taken);
	case PREDICTOR_TAGE:
		return tage_right(p->tage, ip, taken);
	default:
		return true;
	}
}

unsigned int predictor_wrong(struct predictor *all, uint64_t ip, bool taken)
{
	unsigned int right =
		1u << PREDICTOR_PERFECT |
		(unsigned int)one_bit(all, ip, taken) << PREDICTOR_ONE_BIT |
		(unsigned int)tournament(all, ip, taken)
			<< PREDICTOR_TOURNAMENT |
		(unsigned int)pentium_m_right(all->pentium_m, ip, taken)
			<< PREDICTOR_PENTIUM_M |
		(unsigned int)tage_right(all->tage, ip, taken)
			<< PREDICTOR_TAGE;

	return right ^ ((1u << PREDICTORS) - 1);
}
