/* SPDX-License-Identifier: MIT */
/*
 * config - the settings of libcomdet-qemu.so
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "src/engine/board.h"
#include "src/engine/comm.h"
#include "src/engine/reuse.h"
#include "src/store/cdp.h"

static const char *const names[] = {
	"out",      "run",       "period", "pmu",    "registers",
	"board",    "children",  "slice",  "arming", "cover",
	"exact",    "topology",  "place",  "delay",  "seed",
	"duration", "algorithm", "mode",   "slots",  "granularity",
	"caches",   "roi",       "paths",  "pipe",   "quick",
};
enum {
	MODE_PROFILE = CDP_MODE_PROFILE,
	MODE_TRACE = 2 * CDP_MODE_PROFILE, /* only here: no .cdp file has it */
};

enum {
	NAMES = sizeof(names) / sizeof(names[0])
};

struct reader {
	int argc;
	char *const *argv;
	char *error;
	size_t size;
};

static const char *argument(int argc, char *const *argv, const char *name)
{
	size_t n = strlen(name);

	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
			return argv[i] + n + 1;
	return NULL;
}

static const char *twin(const char *name)
{
	char variable[32] = "COMDET_";
	size_t n = strlen(variable);

	for (; *name && n < sizeof(variable) - 1; name++)
		variable[n++] = *name - 'a' + 'A';
	return getenv(variable);
}

/* An empty value counts as not set. */
static const char *value_of(int argc, char *const *argv, const char *name)
{
	const char *value = argument(argc, argv, name);

	if (!value)
		value = twin(name);
	return value && *value ? value : NULL;
}

static int bad(struct reader *r, const char *name, const char *wanted)
{
	snprintf(r->error, r->size, "%s=%.40s: %s", name,
		 value_of(r->argc, r->argv, name), wanted);
	return -EINVAL;
}

static int number(struct reader *r, const char *name, uint64_t low,
		  uint64_t high, uint64_t *out)
{
	const char *value = value_of(r->argc, r->argv, name);
	char *end, wanted[80];
	unsigned long long n;

	if (!value)
		return 0;
	errno = 0;
	n = strtoull(value, &end, 10);
	if (errno || *end || *value < '0' || *value > '9' || n < low ||
	    n > high) {
		snprintf(wanted, sizeof(wanted),
			 "must be a number from %llu to %llu",
			 (unsigned long long)low, (unsigned long long)high);
		return bad(r, name, wanted);
	}
	*out = n;
	return 0;
}

static int seconds(struct reader *r, const char *name, uint64_t *ns)
{
	const char *value = value_of(r->argc, r->argv, name);
	char *end;
	double s;

	if (!value)
		return 0;
	s = strtod(value, &end);
	if (*end || !(s >= 0 && s <= 1e7))
		return bad(r, name, "must be seconds, 0 or more");
	*ns = s * 1e9;
	return 0;
}

static int known_names(struct reader *r)
{
	for (int i = 0; i < r->argc; i++) {
		size_t n = strcspn(r->argv[i], "=");
		int k = 0;

		while (k < NAMES && (strlen(names[k]) != n ||
				     strncmp(names[k], r->argv[i], n)))
			k++;
		if (k < NAMES)
			continue;
		snprintf(r->error, r->size, "there is no setting '%.40s'",
			 r->argv[i]);
		return -EINVAL;
	}
	return 0;
}

static int read_pmu(struct reader *r, struct emu_config *c)
{
	const char *value = value_of(r->argc, r->argv, "pmu");

	c->pmu = value && !strcmp(value, "ibs") ? EMU_PMU_IBS : EMU_PMU_PEBS;
	if (value && strcmp(value, "ibs") && strcmp(value, "pebs"))
		return bad(r, "pmu", "must be pebs or ibs");
	return 0;
}

static int read_place(struct reader *r, struct emu_config *c)
{
	const char *value = value_of(r->argc, r->argv, "place");

	c->scatter = value && !strcmp(value, "scatter");
	if (value && !c->scatter && strcmp(value, "compact"))
		return bad(r, "place", "must be compact or scatter");
	return 0;
}

/*
 * Call it after reading the settings that it depends on. The default is the
 * estimator that is unbiased for this arm_delay; without watches or samples
 * only the map is possible.
 */
static int read_algorithm(struct reader *r, struct emu_config *c)
{
	static const char *const algorithms[] = {
		[EMU_COMDETECTIVE] = "comdetective",
		[EMU_EPOCH] = "epoch",
		[EMU_CHAIN] = "chain",
	};
	const char *value = value_of(r->argc, r->argv, "algorithm");
	bool possible = c->registers && c->period && c->slice != EMU_SLICE_FREE;
	int i = EMU_COMDETECTIVE;

	if (!value && possible)
		i = c->arm_delay ? EMU_CHAIN : EMU_EPOCH;
	while (value && i <= EMU_CHAIN && strcmp(value, algorithms[i]))
		i++;
	if (i > EMU_CHAIN)
		return bad(r, "algorithm",
			   "must be comdetective, epoch or chain");
	if (i != EMU_COMDETECTIVE && !possible)
		return bad(r, "algorithm",
			   c->slice == EMU_SLICE_FREE
				   ? "estimates need turns, not slice=free"
				   : "estimates need registers and a period");
	c->algorithm = i;
	return 0;
}

/* What one watch covers: the whole line, or 8 bytes as debug registers do. */
static int read_watch(struct reader *r, struct emu_config *c)
{
	const char *value = value_of(r->argc, r->argv, "cover");

	c->watch_lines = !value || !strcmp(value, "line");
	if (value && !c->watch_lines && strcmp(value, "chunks"))
		return bad(r, "cover", "must be line or chunks");
	return 0;
}

/* Read a list of @words, separated by commas, as bits in their order. */
static int read_list(struct reader *r, const char *name,
		     const char *const *words, const char *wanted,
		     uint32_t *bits)
{
	const char *p = value_of(r->argc, r->argv, name);
	int i;

	if (!p)
		return 0;
	*bits = 0;
	do {
		size_t n = strcspn(p, ",");

		for (i = 0; words[i]; i++)
			if (strlen(words[i]) == n && !strncmp(words[i], p, n))
				break;
		if (!words[i])
			return bad(r, name, wanted);
		*bits |= 1u << i;
		p += n;
	} while (*p++ == ',');
	return 0;
}

/*
 * Without samples, watches and exact counts, what is left of the mode comm are
 * the numbers of accesses.
 */
static int read_trace(struct reader *r, struct emu_config *c)
{
	if (c->modes & MODE_PROFILE)
		return bad(r, "mode", "profile is not available in this build");
	c->trace = c->modes & MODE_TRACE;
	if (c->trace && c->modes != MODE_TRACE)
		return bad(r, "mode", "trace goes with no other mode");
	if (c->trace)
		c->modes = CDP_MODE_COMM;
	return 0;
}

/* "1000,2000": numbers of instructions; "0x401000,..." and "+0x1000,...". */
static int read_roi(struct reader *r, struct emu_config *c)
{
	const char *value = value_of(r->argc, r->argv, "roi"), *second;
	bool offset = value && *value == '+', hex;
	char *end, *last;

	if (!value)
		return 0;
	if (!c->trace)
		return bad(r, "roi", "needs mode=trace");
	value += offset;
	hex = value[0] == '0' && value[1] == 'x';
	c->roi_begin = strtoull(value, &end, 0);
	second = *end == ',' ? end + 1 + offset : "";
	c->roi_end = strtoull(second, &last, 0);
	if (end == value || last == second || *last || (offset && !hex) ||
	    (hex ? c->roi_begin == c->roi_end : c->roi_begin >= c->roi_end))
		return bad(r, "roi",
			   "must be two different addresses or two "
			   "ascending numbers of instructions");
	c->roi = offset ? EMU_ROI_OFFSET
		 : hex  ? EMU_ROI_ADDRESS
			: EMU_ROI_COUNT;
	return 0;
}

static int read_reuse(struct reader *r, struct emu_config *c)
{
	/* In the order of CDP_MODE_* and of enum reuse_granularity. */
	static const char *const modes[] = { "comm",   "reuse",   "shared",
					     "global", "profile", "trace",
					     NULL };
	static const char *const granularities[] = { "address", "line", NULL };

	c->modes = CDP_MODE_COMM;
	c->granularities = 1u << REUSE_ADDRESS | 1u << REUSE_LINE;
	c->slots = EMU_SLOTS_DEFAULT;
	return read_list(r, "mode", modes,
			 "must be trace, or some of comm,reuse,shared,global",
			 &c->modes) ||
	       read_trace(r, c) ||
	       read_list(r, "granularity", granularities,
			 "must be address, line or address,line",
			 &c->granularities) ||
	       number(r, "slots", 1, REUSE_SLOTS_MAX, &c->slots);
}

static int read_caches(struct reader *r, struct emu_config *c)
{
	const char *value = value_of(r->argc, r->argv, "caches");

	if (value && cache_sets_parse(&c->caches, value))
		return bad(r, "caches",
			   "must be caches such as L1d 49152 12; L2 1048576 "
			   "16; L3 33554432 16 shared");
	return 0;
}

static int read_slice(struct reader *r, struct emu_config *c)
{
	const char *value = value_of(r->argc, r->argv, "slice");

	c->slice = EMU_SLICE_DEFAULT;
	if (!value || !strcmp(value, "auto"))
		return 0;
	if (!strcmp(value, "free")) {
		c->slice = EMU_SLICE_FREE;
		return 0;
	}
	return number(r, "slice", 0, EMU_SLICE_MAX, &c->slice);
}

int emu_config_read(struct emu_config *c, int argc, char *const *argv,
		    char *error, size_t size)
{
	struct reader r = { argc, argv, error, size };
	uint64_t registers = COMM_REGISTERS_MAX, slots = BOARD_SLOTS_DEFAULT;
	uint64_t children = 0, exact = 0, paths = 0, quick = 0;

	memset(c, 0, sizeof(*c));
	c->period = EMU_PERIOD_DEFAULT;
	c->seed = EMU_SEED_DEFAULT;
	c->run = value_of(argc, argv, "run");
	c->out = value_of(argc, argv, "out");
	if (!c->out)
		c->out = "out";
	if (known_names(&r) || read_pmu(&r, c) || read_watch(&r, c) ||
	    number(&r, "arming", 0, EMU_PERIOD_MAX, &c->arm_delay) ||
	    read_slice(&r, c) || read_place(&r, c) || read_reuse(&r, c) ||
	    read_caches(&r, c) || number(&r, "exact", 0, 1, &exact) ||
	    number(&r, "period", 0, EMU_PERIOD_MAX, &c->period) ||
	    number(&r, "registers", 0, COMM_REGISTERS_MAX, &registers) ||
	    number(&r, "board", 1, BOARD_SLOTS_MAX, &slots) ||
	    number(&r, "children", 0, 1, &children) ||
	    number(&r, "paths", 0, 1, &paths) ||
	    number(&r, "quick", 0, 1, &quick) ||
	    number(&r, "seed", 0, UINT64_MAX, &c->seed) ||
	    seconds(&r, "delay", &c->delay_ns) ||
	    seconds(&r, "duration", &c->duration_ns))
		return -EINVAL;
	if (read_roi(&r, c))
		return -EINVAL;
	if (c->trace) {
		if (exact)
			return bad(&r, "exact", "does not go with mode=trace");
		c->period = 0;
		registers = 0;
	}
	if (c->period && c->period < EMU_PERIOD_MIN)
		return bad(&r, "period", "must be 0 or at least 100");
	if (c->modes & ~CDP_MODE_COMM && !c->period && !exact)
		return bad(&r, "mode", "needs a period or exact=1");
	if (paths && (c->trace || c->modes != CDP_MODE_COMM))
		return bad(&r, "paths", "needs mode=comm");
	if (quick && !c->trace)
		return bad(&r, "quick", "needs mode=trace");
	c->registers = registers;
	c->software = c->watch_lines && !value_of(argc, argv, "registers");
	if (read_algorithm(&r, c))
		return -EINVAL;
	if (!(c->modes & CDP_MODE_COMM))
		c->algorithm = EMU_COMDETECTIVE; /* not used: nothing is sampled
						    for it */
	c->board_slots = slots;
	c->children = children;
	c->exact = exact;
	c->paths = paths;
	c->quick = quick;
	c->topology = value_of(argc, argv, "topology");
	c->pipe = value_of(argc, argv, "pipe");
	return 0;
}

int emu_config_arguments(char *to, size_t size, int argc, char *const *argv,
			 const char *run, uint64_t seed)
{
	char digits[24];
	size_t n = 0;

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)seed);

	for (int i = 0; i < NAMES; i++) {
		const char *value = !strcmp(names[i], "run") ? run
				    : !strcmp(names[i], "seed")
					    ? digits
					    : value_of(argc, argv, names[i]);

		if (!value)
			continue;
		n += snprintf(to + n, size - n, ",%s=", names[i]);
		for (; n < size && *value; value++) {
			if (*value == ',' && n < size - 1)
				to[n++] = ',';
			if (n < size)
				to[n++] = *value;
		}
		if (n >= size)
			return -ENAMETOOLONG;
		to[n] = '\0';
	}
	return 0;
}
