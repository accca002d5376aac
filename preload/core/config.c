/* SPDX-License-Identifier: MIT */
/*
 * config - what the environment asks of libcomdet.so
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "src/pmu/plan.h"

const char *config_get(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static int bad(char *error, unsigned int size, const char *name,
	       const char *value, const char *wanted)
{
	snprintf(error, size, "%s=%.40s: %s", name, value, wanted);
	return -EINVAL;
}

/* Read a whole number in [@low, @high]; leave @out alone if @name is unset. */
static int number(char *const *env, const char *name, uint32_t low,
		  uint32_t high, uint32_t *out, char *error, unsigned int size)
{
	const char *value = config_get(env, name);
	char *end, wanted[64];
	unsigned long n;

	if (!value || !*value)
		return 0;
	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || *end || *value == '-' || n < low || n > high) {
		snprintf(wanted, sizeof(wanted),
			 "must be a number from %u to %u", low, high);
		return bad(error, size, name, value, wanted);
	}
	*out = n;
	return 0;
}

static int seconds(char *const *env, const char *name, uint64_t *ns,
		   char *error, unsigned int size)
{
	const char *value = config_get(env, name);
	char *end;
	double s;

	if (!value || !*value)
		return 0;
	s = strtod(value, &end);
	if (*end || !(s >= 0 && s <= 1e7))
		return bad(error, size, name, value,
			   "must be seconds, 0 or more");
	*ns = s * 1e9;
	return 0;
}

/* A delay of -1 has no end: the program ends it (src/base/comdet.h). */
static int delay(char *const *env, struct config *c, char *error,
		 unsigned int size)
{
	const char *value = config_get(env, "COMDET_DELAY");

	c->paused = value && !strcmp(value, "-1");
	return c->paused ? 0
			 : seconds(env, "COMDET_DELAY", &c->delay_ns, error,
				   size);
}

static int percent(char *const *env, const char *name, uint32_t *millionths,
		   char *error, unsigned int size)
{
	const char *value = config_get(env, name);
	char *end;
	double p;

	if (!value || !*value)
		return 0;
	p = strtod(value, &end);
	if (*end || !(p >= 0.01 && p <= 100))
		return bad(error, size, name, value,
			   "must be percent, 0.01 to 100");
	*millionths = p * 1e4;
	return 0;
}

static bool is_given(char *const *env, const char *name)
{
	const char *value = config_get(env, name);

	return value && *value;
}

static int one_of(char *const *env, const char *name, const char *const *names,
		  const char *wanted, char *error, unsigned int size)
{
	const char *value = config_get(env, name);

	if (!value || !*value)
		return 0;
	for (int i = 0; names[i]; i++)
		if (!strcmp(value, names[i]))
			return i;
	return bad(error, size, name, value, wanted);
}

uint32_t config_modes(char *const *env)
{
	static const char *const names[] = { "comm", "reuse", "shared",
					     "global" };
	const char *p = config_get(env, "COMDET_MODE");
	uint32_t modes = 0, found;

	if (!p || !*p)
		return CDP_MODE_COMM;
	for (;; p++) {
		size_t n = strcspn(p, ",");

		found = 0;
		for (uint32_t i = 0; i < 4; i++)
			if (n == strlen(names[i]) && !strncmp(p, names[i], n))
				found = 1u << i;
		if (!found || modes & found)
			return 0;
		modes |= found;
		p += n;
		if (!*p)
			break;
	}
	return modes;
}

int config_read(struct config *c, char *const *env, char *error,
		unsigned int size)
{
	static const char *const sources[] = { "auto", "clock", "pebs",
					       "ibs",  "instr", NULL };
	/* instr/config.c reads the algorithms that only the source instr has.
	 */
	static const char *const algorithms[] = { "comdetective", "epoch",
						  "chain", NULL };
	static const char *const deliveries[] = { "auto", "rtsig", NULL };
	static const char *const clocks[] = { "auto", "timer", NULL };
	uint32_t children = 0, paths = 0;
	int i;

	memset(c, 0, sizeof(*c));
	c->freq = CONFIG_FREQ_DEFAULT;
	c->registers = COMM_REGISTERS_MAX;
	c->board_slots = BOARD_SLOTS_DEFAULT;
	c->stalled_percent = 50;
	c->out = config_get(env, "COMDET_OUT");
	if (!c->out || !*c->out)
		c->out = "out";
	c->run = config_get(env, "COMDET_RUN");
	c->sample_log = config_get(env, "COMDET_SAMPLE_LOG");

	c->modes = config_modes(env);
	if (!c->modes)
		return bad(error, size, "COMDET_MODE",
			   config_get(env, "COMDET_MODE"),
			   "must be comm or reuse, or with the source instr "
			   "some of comm,reuse,shared,global");
	i = one_of(env, "COMDET_SOURCE", sources,
		   "must be auto, pebs, ibs, clock or instr", error, size);
	if (i < 0)
		return i;
	c->source = i;
	if (pmu_asked_read(&c->asked, config_get(env, "COMDET_EVENT")))
		return bad(error, size, "COMDET_EVENT",
			   config_get(env, "COMDET_EVENT"),
			   "must be loads=CODE or stores=CODE, or both with a "
			   "comma; reusetrack record -e takes names");
	i = one_of(env, "COMDET_ALGORITHM", algorithms,
		   "must be comdetective, epoch or chain", error, size);
	if (i < 0)
		return i;
	i = one_of(env, "COMDET_DELIVERY", deliveries, "must be auto or rtsig",
		   error, size);
	if (i < 0)
		return i;
	c->force_rtsig = i == 1;
	i = one_of(env, "COMDET_CLOCK", clocks, "must be auto or timer", error,
		   size);
	if (i < 0)
		return i;
	c->force_timer = i == 1;
	if (number(env, "COMDET_FREQ", 1, CONFIG_FREQ_MAX, &c->freq, error,
		   size) ||
	    number(env, "COMDET_PERIOD", 0, PMU_PERIOD_MAX, &c->period, error,
		   size) ||
	    number(env, "COMDET_LDLAT", 0, CONFIG_LDLAT_MAX, &c->ldlat, error,
		   size) ||
	    number(env, "COMDET_REGISTERS", 0, COMM_REGISTERS_MAX,
		   &c->registers, error, size) ||
	    number(env, "COMDET_BOARD", 1, BOARD_SLOTS_MAX, &c->board_slots,
		   error, size) ||
	    number(env, "COMDET_STALLED", 0, 100, &c->stalled_percent, error,
		   size) ||
	    number(env, "COMDET_CHILDREN", 0, 1, &children, error, size) ||
	    number(env, "COMDET_PATHS", 0, 1, &paths, error, size) ||
	    percent(env, "COMDET_BUDGET", &c->budget, error, size) ||
	    delay(env, c, error, size) ||
	    seconds(env, "COMDET_DURATION", &c->duration_ns, error, size))
		return -EINVAL;
	c->children = children;
	/* Those of the map; instr reads this too. */
	c->paths = paths && c->modes == CDP_MODE_COMM;
	c->registers_asked = config_get(env, "COMDET_REGISTERS");
	if (!c->budget && !is_given(env, "COMDET_FREQ"))
		c->budget = CONFIG_BUDGET_DEFAULT;
	if (c->modes & CDP_MODE_REUSE)
		c->budget = 0; /* uses have no weight */
	return 0;
}
