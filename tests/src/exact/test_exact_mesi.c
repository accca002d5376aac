/* SPDX-License-Identifier: MIT */
/*
 * test_exact_mesi - the directory's private caches against state machines
 *
 * The oracle is a table of machines of four states, one for each cache and
 * line, without a directory.
 */
#include "exact_hand.h"
#include "tests/run_suite.h"

/* Two sockets of four cores; each two cores share a private cache. */
static const uint32_t pair_of_core[] = { 0, 0, 1, 1, 2, 2, 3, 3 };
static const uint32_t socket_of_core[] = { 0, 0, 0, 0, 1, 1, 1, 1 };
static const uint32_t mixed_of_core[] = { 7, 5, 3, 1, 7, 5, 3, 1 };

static const struct topology_shape topologies[] = {
	{ 8, 1, { own_of_core } },
	{ 8, 2, { own_of_core, socket_of_core } },
	{ 8, 2, { pair_of_core, socket_of_core } },
	{ 8, 3, { own_of_core, pair_of_core, socket_of_core } },
	{ 8, 1, { mixed_of_core } },
};

enum mesi {
	INVALID,
	SHARED,
	EXCLUSIVE,
	MODIFIED
};

struct machine {
	const struct topology_shape *topology;
	enum mesi state[8][LINES + 8]; /* [cache][line] */
	struct exact_counts counts;
	uint64_t ownership[LINES + 8];
};

/* The distance of two caches: of any core of one from any of the other. */
static uint32_t apart(const struct machine *m, uint32_t a, uint32_t b)
{
	uint32_t least = m->topology->levels;

	for (uint32_t i = 0; i < 8; i++)
		for (uint32_t j = 0; j < 8; j++) {
			if (m->topology->domain[0][i] != a ||
			    m->topology->domain[0][j] != b)
				continue;
			for (uint32_t k = 0; k < least; k++)
				if (m->topology->domain[k][i] ==
				    m->topology->domain[k][j])
					least = k;
		}
	return least;
}

static void machine_access(struct machine *m, const struct piece *p)
{
	uint32_t me = m->topology->domain[0][p->core], line, near, far;
	uint32_t others = 0;
	bool modified = false;
	enum mesi *mine;

	line = (p->line - BASE) / LINE;
	mine = &m->state[me][line];
	near = TOPOLOGY_LEVELS_MAX;
	far = 0;
	for (uint32_t c = 0; c < 8; c++) {
		uint32_t d = apart(m, me, c);

		if (c == me || m->state[c][line] == INVALID)
			continue;
		others++;
		near = d < near ? d : near;
		far = d > far ? d : far;
		modified |= m->state[c][line] == MODIFIED;
		m->state[c][line] = p->store ? INVALID : SHARED;
	}
	if (p->store) {
		m->counts.stores++;
		m->counts.invalidated += others;
		m->ownership[line] += others > 0;
		if (*mine == SHARED && others)
			m->counts.miss[EXACT_UPGRADE][far]++;
		else if (*mine == INVALID && others)
			m->counts.miss[modified ? EXACT_OWN_MODIFIED
						: EXACT_OWN_CLEAN][near]++;
		else if (*mine == INVALID)
			m->counts.cold_stores++;
		*mine = MODIFIED;
		return;
	}
	m->counts.loads++;
	if (*mine != INVALID)
		return;
	if (others)
		m->counts.miss[modified ? EXACT_LOAD_MODIFIED
					: EXACT_LOAD_CLEAN][near]++;
	else
		m->counts.cold_loads++;
	*mine = others ? SHARED : EXCLUSIVE;
}

static int compare_ownership(void *ctx, const struct exact_line *line)
{
	struct machine *m = ctx;

	ck_assert_uint_eq(line->ownership,
			  m->ownership[(line->line - BASE) / LINE]);
	return 0;
}

START_TEST(misses_are_those_of_four_state_machines)
{
	static const uint32_t counts[] = { 2, 8, 20, 70 };
	uint32_t n = counts[_i / 5];
	struct exact_config c = config(n, &topologies[_i % 5]);
	struct exact *x = directory(&c, threads);
	struct stream *s = &stream;
	struct machine m = { .topology = &topologies[_i % 5] };
	struct exact_counts sum = { 0 };
	uint64_t *to = (uint64_t *)&sum;

	run_stream(x, n, 8, s, 100 + _i);
	for (uint32_t i = 0; i < s->n; i++)
		machine_access(&m, &s->piece[i]);
	for (uint32_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(sum) / sizeof(*to); k++)
			to[k] += ((uint64_t *)&threads[i].counts)[k];
	ck_assert_mem_eq(&sum, &m.counts, sizeof(sum));
	ck_assert_int_eq(exact_lines(x, compare_ownership, &m), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exact_mesi");
	TCase *tc = tcase_create("exact_mesi");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, misses_are_those_of_four_state_machines, 0, 20);
	return run_suite(suite);
}
