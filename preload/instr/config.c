/* SPDX-License-Identifier: MIT */
/*
 * config - what the environment asks of the source instr
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "place.h"
#include "preload/core/config.h"
#include "preload/core/thread.h"

enum {
	PERIOD_SOFTWARE = 50000,
	PERIOD_HARDWARE = 1000000,
	PERIOD_MIN = 100,
	SLOTS_DEFAULT = 100,
};
#define PERIOD_MAX UINT64_C(1000000000000)

struct instr_config instr_config;

static int bad(char *error, size_t size, const char *name, const char *value,
	       const char *wanted)
{
	snprintf(error, size, "%s=%.40s: %s", name, value, wanted);
	return -EINVAL;
}

/* An empty value counts as not set. */
static const char *value_of(char *const *env, const char *name)
{
	const char *value = config_get(env, name);

	return value && *value ? value : NULL;
}

static enum instr_wish read_wish(char *const *env)
{
	const char *source = value_of(env, "COMDET_SOURCE");

	if (source && !strcmp(source, "instr"))
		return INSTR_DEMANDED;
	if (source && strcmp(source, "auto"))
		return INSTR_UNWANTED;
	/* COMDET_FREQ asks for a clock. */
	return value_of(env, "COMDET_FREQ") ? INSTR_UNWANTED : INSTR_WELCOME;
}

static int read_algorithm(char *const *env, enum instr_algorithm *algorithm)
{
	static const char *const names[] = { "comdetective", "epoch", "chain" };
	const char *value = value_of(env, "COMDET_ALGORITHM");

	*algorithm = INSTR_BEST;
	for (int i = 0; value && i < 3; i++)
		if (!strcmp(value, names[i]))
			*algorithm = INSTR_COMDETECTIVE + i;
	return value && *algorithm == INSTR_BEST ? -EINVAL : 0;
}

static int read_period(char *const *env, uint64_t *period)
{
	const char *value = value_of(env, "COMDET_PERIOD");
	char *end;

	if (!value)
		return 0;
	errno = 0;
	*period = strtoull(value, &end, 10);
	if (errno || *end || *value < '0' || *value > '9' ||
	    (*period && *period < PERIOD_MIN) || *period > PERIOD_MAX)
		return -EINVAL;
	return 0;
}

/* Read which reuse times to measure, and how many uses to watch at once. */
static int read_reuse(char *const *env, struct instr_config *c, char *error,
		      size_t size)
{
	static const char *const granularities[] = { "address", "line",
						     "address,line" };
	const char *granularity = value_of(env, "COMDET_GRANULARITY");
	const char *slots = value_of(env, "COMDET_SLOTS");
	const char *mode = value_of(env, "COMDET_MODE");
	const char *paths = value_of(env, "COMDET_PATHS");
	uint32_t known = 0, most;
	char wanted[80], *end;

	/* In the order of enum reuse_scope. */
	c->scopes = config_modes(env) / CDP_MODE_REUSE;
	c->reuse = c->scopes;
	c->comm = config_modes(env) & CDP_MODE_COMM;
	if (paths && strcmp(paths, "0") && strcmp(paths, "1"))
		return bad(error, size, "COMDET_PATHS", paths,
			   "must be 0 or 1");
	c->paths = paths && !strcmp(paths, "1");
	if (!c->reuse)
		return 0;
	/*
	 * The map watches a line in each thread, so a byte of the table may get
	 * more marks than it can count.
	 */
	if (c->comm && c->algorithm == INSTR_COMDETECTIVE)
		return bad(error, size, "COMDET_ALGORITHM", "comdetective",
			   "reuse times in the same run need epoch or chain");
	if (!c->comm)
		c->algorithm = INSTR_COMDETECTIVE;
	c->granularities = 1u << REUSE_ADDRESS | 1u << REUSE_LINE;
	for (uint32_t i = 0; granularity && i < 3; i++)
		if (!strcmp(granularity, granularities[i]))
			c->granularities = known = i + 1;
	if (granularity && !known)
		return bad(error, size, "COMDET_GRANULARITY", granularity,
			   "must be address, line or address,line");
	most = INSTR_REUSE_SLOTS_MAX / __builtin_popcount(c->scopes) /
	       __builtin_popcount(c->granularities);
	c->slots = most < SLOTS_DEFAULT ? most : SLOTS_DEFAULT;
	if (slots)
		c->slots = strtoul(slots, &end, 10);
	snprintf(wanted, sizeof(wanted),
		 "must be 1 to %u with this source and these modes", most);
	if (slots && (*end || *slots < '0' || *slots > '9' || !c->slots ||
		      c->slots > most))
		return bad(error, size, "COMDET_SLOTS", slots, wanted);
	if (c->hardware && (c->comm || c->scopes != 1u << REUSE_PRIVATE))
		return bad(error, size, "COMDET_MODE", mode,
			   "shared, global and several modes at once need "
			   "COMDET_WATCH=sw");
	if (c->hardware && slots)
		return bad(
			error, size, "COMDET_SLOTS", slots,
			"with COMDET_WATCH=hw each register watches one use");
	if (c->hardware && granularity &&
	    c->granularities != 1u << REUSE_ADDRESS)
		return bad(error, size, "COMDET_GRANULARITY", granularity,
			   "needs COMDET_WATCH=sw: a debug register covers 8 "
			   "bytes");
	if (c->hardware)
		c->granularities = 1u << REUSE_ADDRESS;
	if (c->exact)
		return bad(error, size, "COMDET_MODE", mode,
			   "with this source COMDET_EXACT=1 counts transfers "
			   "only");
	if (!c->period)
		return bad(error, size, "COMDET_MODE", mode,
			   "needs samples: set COMDET_PERIOD");
	return 0;
}

int instr_config_read(char *const *env, char *error, size_t size)
{
	struct instr_config *c = &instr_config;
	const char *watch = value_of(env, "COMDET_WATCH");
	const char *exact = value_of(env, "COMDET_EXACT");

	memset(c, 0, sizeof(*c));
	c->wish = read_wish(env);
	if (read_algorithm(env, &c->algorithm))
		return bad(error, size, "COMDET_ALGORITHM",
			   value_of(env, "COMDET_ALGORITHM"),
			   "must be comdetective, epoch or chain");
	if (c->wish == INSTR_UNWANTED)
		return 0;
	c->hardware = watch && !strcmp(watch, "hw");
	if (watch && !c->hardware && strcmp(watch, "sw"))
		return bad(error, size, "COMDET_WATCH", watch,
			   "must be hw or sw");
	c->exact = exact && !strcmp(exact, "1");
	if (exact && !c->exact && strcmp(exact, "0"))
		return bad(error, size, "COMDET_EXACT", exact,
			   "must be 0 or 1");
	if (c->hardware && c->algorithm == INSTR_EPOCH)
		return bad(error, size, "COMDET_ALGORITHM", "epoch",
			   "needs COMDET_WATCH=sw; debug registers take time "
			   "to arm, so use chain");
	if (!c->hardware && c->algorithm == INSTR_CHAIN)
		return bad(error, size, "COMDET_ALGORITHM", "chain",
			   "needs COMDET_WATCH=hw; software watches are armed "
			   "at once, so use epoch");
	c->period = c->hardware ? PERIOD_HARDWARE : PERIOD_SOFTWARE;
	if (read_period(env, &c->period))
		return bad(error, size, "COMDET_PERIOD",
			   value_of(env, "COMDET_PERIOD"),
			   "must be a number of accesses: 0, or at least 100");
	if (read_reuse(env, c, error, size))
		return -EINVAL;
	if (c->scopes & ~(1u << REUSE_PRIVATE))
		return instr_place_read(env, error, size);
	return 0;
}
