/* SPDX-License-Identifier: MIT */
/*
 * test_port_lanes - the answers are those of ports
 */
#include "analysis/model/ports.h"
#include "analysis/predict/port_lanes.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	RESERVED = 20000,
};

static const char *const machines[] = {
	"golden-c3", "golden-cove", "neoverse-n1", "skylake", "zen2", "zen4",
};

/*
 * Reserve for random classes in both. Most are soon after the dispatch; some
 * are later than the cycles that are there at first.
 */
static void compare(struct port_lanes *fast, const struct machine *m,
		    struct rng *rng)
{
	struct ports *slow = ports_new(m);
	uint64_t dispatch = 0;

	for (int i = 0; i < RESERVED; i++) {
		uint64_t far = rng_below(rng, 100) ? 8 : 5000;
		enum uop_class class = rng_below(rng, UOP_CLASSES);
		uint64_t t = dispatch + 1 + rng_below(rng, far), unit[2];

		ck_assert_uint_eq(
			port_lanes_reserve(fast, class, dispatch, t, &unit[0]),
			ports_reserve(slow, class, dispatch, t, &unit[1]));
		ck_assert_uint_eq(unit[0], unit[1]);
		if (!rng_below(rng, 4))
			dispatch += rng_below(rng, 200) ? 1 : 3000;
	}
	ports_free(slow);
}

START_TEST(both_find_the_same_cycles_on_shipped_machines)
{
	char error[MACHINE_ERROR_BYTES];
	struct port_lanes fast = { .cycle = NULL };
	struct machine m;
	struct rng rng;

	rng_seed(&rng, 1, (uint64_t)_i);
	ck_assert(!machine_read(&m, machines[_i], error));
	for (int i = 0; i < 2; i++) {
		ck_assert(port_lanes_init(&fast, &m));
		compare(&fast, &m, &rng);
	}
	port_lanes_release(&fast);
}
END_TEST

/* Kinds that overlap in all ways: what one takes may have to be moved. */
START_TEST(both_find_the_same_cycles_on_random_machines)
{
	char error[MACHINE_ERROR_BYTES];
	struct port_lanes fast = { .cycle = NULL };
	struct machine m;
	struct rng rng;
	int fit = 0;

	rng_seed(&rng, 2, 0);
	ck_assert(!machine_read(&m, "golden-c3", error));
	for (int i = 0; i < 100; i++) {
		uint32_t kinds = 2 + (uint32_t)rng_below(&rng, 4);
		uint64_t ports = 2 + rng_below(&rng, MACHINE_PORTS - 1);
		uint32_t allowed[5];

		for (uint32_t k = 0; k < kinds; k++)
			allowed[k] = 1 + (uint32_t)rng_below(&rng,
							     (1u << ports) - 1);
		for (int c = 0; c < UOP_CLASSES; c++)
			m.uop[c].ports = allowed[rng_below(&rng, kinds)];
		if (!port_lanes_init(&fast, &m))
			continue;
		fit++;
		compare(&fast, &m, &rng);
	}
	ck_assert_int_gt(fit, 30);
	port_lanes_release(&fast);
}
END_TEST

/* Each class has two neighbouring ports of a circle, or four. */
START_TEST(too_many_kinds_do_not_fit)
{
	char error[MACHINE_ERROR_BYTES];
	struct port_lanes fast = { .cycle = NULL };
	struct machine m;

	ck_assert(!machine_read(&m, "golden-c3", error));
	for (uint32_t c = 0; c < UOP_CLASSES; c++) {
		uint32_t ports = (c < MACHINE_PORTS ? 3u : 15u)
				 << c % MACHINE_PORTS;

		m.uop[c].ports = (ports | ports >> MACHINE_PORTS) &
				 ((1u << MACHINE_PORTS) - 1);
	}
	ck_assert(!port_lanes_init(&fast, &m));
	port_lanes_release(&fast);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("port_lanes");
	TCase *t = tcase_create("port_lanes");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, both_find_the_same_cycles_on_shipped_machines, 0,
			    sizeof(machines) / sizeof(*machines));
	tcase_add_test(t, both_find_the_same_cycles_on_random_machines);
	tcase_add_test(t, too_many_kinds_do_not_fit);
	suite_add_tcase(s, t);
	return run_suite(s);
}
