/* SPDX-License-Identifier: MIT */
/*
 * machine_keys - the keys of machine files: where each value is, and its limits
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine_keys.h"

const char *const machine_predictor_names[PREDICTORS] = {
	[PREDICTOR_PERFECT] = "perfect",
	[PREDICTOR_ONE_BIT] = "one_bit",
	[PREDICTOR_TOURNAMENT] = "tournament",
	[PREDICTOR_PENTIUM_M] = "pentium_m",
	[PREDICTOR_TAGE] = "tage",
};

const char *const machine_prefetcher_names[PREFETCHERS] = {
	[PREFETCHER_NONE] = "none",
	[PREFETCHER_NEXT_LINE] = "next_line",
	[PREFETCHER_ADJACENT] = "adjacent_line",
	[PREFETCHER_STRIDE] = "stride",
	[PREFETCHER_STREAM] = "stream",
};

static const char *const truths[] = { "false", "true" };

#define SIZE_MAX_BYTES  (4.0 * 1024 * 1024 * 1024)
#define CYCLES_MAX      10000
#define SYNC_CYCLES_MAX 1000000000
#define AT(field)       offsetof(struct machine, field)

#define COUNT(key, field, low, high, words)                                    \
	{                                                                      \
		key, KEY_COUNT, AT(field), low, high, NULL, 0, words           \
	}
#define CACHE(prefix, field, what)                                             \
	{ prefix ".size", KEY_BYTES, AT(field.size), 64, SIZE_MAX_BYTES,       \
	  NULL,           0,         what ", bytes" },                         \
		COUNT(prefix ".ways", field.ways, 1, 1024,                     \
		      "lines of a set; size / ways / 64 is a power of two"),   \
		COUNT(prefix ".latency", field.latency, 0, CYCLES_MAX,         \
		      "cycles to the data of a hit"),                          \
		COUNT(prefix ".tag", field.tag, 0, CYCLES_MAX,                 \
		      "cycles until a miss is known")

static const struct machine_key keys[] = {
	{ "frequency_ghz", KEY_REAL, AT(ghz), 0.01, 100, NULL, 0,
	  "of the cores and their caches" },
	COUNT("cores", cores, 1, MACHINE_CORES,
	      "each with L1I, L1D and L2; they share the LLC"),
	COUNT("core.width", width, 1, 64,
	      "micro-operations dispatched in a cycle"),
	COUNT("core.rob", rob, 1, MACHINE_ROB_MAX,
	      "micro-operations from dispatch to commit"),
	COUNT("core.issue_queue", iq, 1, MACHINE_ROB_MAX,
	      "micro-operations from dispatch to issue"),
	COUNT("core.load_queue", load_queue, 1, MACHINE_ROB_MAX,
	      "loads from issue to data"),
	COUNT("core.store_queue", store_queue, 1, MACHINE_ROB_MAX,
	      "stores from issue to the end of their access"),
	COUNT("core.mshrs", mshrs, 1, 1024, "misses of L1D at a time"),
	COUNT("core.refill", refill, 2, 1000,
	      "cycles from the issue of a mispredicted branch to the first "
	      "result of what follows"),
	COUNT("core.vector_load_extra", vector_load_extra, 0, 100,
	      "cycles that a load into a vector register takes longer"),
	{ "core.predictor", KEY_WORD, AT(predictor), 0, 0,
	  machine_predictor_names, PREDICTORS,
	  "of conditional branches; others are always predicted" },
	{ "core.prefetcher", KEY_WORD, AT(prefetcher), 0, 0,
	  machine_prefetcher_names, PREFETCHERS,
	  "what a miss of L1D fetches besides" },
	COUNT("core.prefetch_ahead", ahead, 1, MACHINE_AHEAD_MAX,
	      "lines that the prefetcher stream runs ahead at most"),
	{ "core.zero_idioms", KEY_WORD, AT(zero_idioms), 0, 0, truths, 2,
	  "whether xor of a register with itself, and its like, wait for "
	  "nothing and are not executed" },
	COUNT("core.forwarding", forwarding, 0, 100,
	      "cycles of a load to data that a store of the core still holds; "
	      "0: it accesses the line like others"),
	COUNT("core.forwarding_vector", forwarding_vector, 0, 100,
	      "cycles more of such a load into a vector register, beside "
	      "core.vector_load_extra"),
	CACHE("l1i", l1i, "instruction cache of a core"),
	CACHE("l1d", l1d, "data cache of a core"),
	COUNT("l1d.after_load", after_load, 0, CYCLES_MAX,
	      "cycles from a load that misses to the next miss of its set"),
	COUNT("l1d.after_store", after_store, 0, CYCLES_MAX,
	      "cycles from a store that misses to the next miss of its set"),
	CACHE("l2", l2, "second cache of a core"),
	CACHE("llc", llc, "cache that the cores share"),
	COUNT("coherence.transfer", transfer, 0, CYCLES_MAX,
	      "cycles more where another core has modified the line"),
	{ "coherence.in_turn", KEY_WORD, AT(in_turn), 0, 0, truths, 2,
	  "whether a line goes to the next core only when the one that asked "
	  "before has it, and has done what waits for it" },
	COUNT("memory.directory", directory, 0, CYCLES_MAX,
	      "cycles of the look-up before memory"),
	{ "memory.latency_ns", KEY_REAL, AT(memory_ns), 0, 1e5, NULL, 0,
	  "without the transfer of the line" },
	{ "memory.bandwidth_gbs", KEY_REAL, AT(memory_gbs), 0.01, 1e5, NULL, 0,
	  "bytes per nanosecond, of all cores" },
	COUNT("sync.call", sync_call, 0, SYNC_CYCLES_MAX,
	      "cycles of each call that synchronizes"),
	COUNT("sync.wake", sync_wake, 0, SYNC_CYCLES_MAX,
	      "cycles until a released thread runs"),
};
enum {
	KEYS = sizeof(keys) / sizeof(keys[0]),
	NAME_BYTES = 32,
	LIKE_MAX = 3, /* changes of one letter between names that are alike */
	TEXT_BYTES = 200,
};

static struct machine_key *uop_keys(void)
{
	static struct machine_key made[UOP_CLASSES];
	static char names[UOP_CLASSES][NAME_BYTES];

	for (int i = 0; i < UOP_CLASSES && !made[i].name; i++) {
		snprintf(names[i], NAME_BYTES, "uop.%s", uop_class_names[i]);
		made[i] = (struct machine_key){
			.name = names[i],
			.kind = KEY_UOP,
			.offset = AT(uop) +
				  (size_t)i * sizeof(struct machine_uop),
			.meaning = uop_class_words[i],
		};
	}
	return made;
}

const struct machine_key *machine_key(size_t i)
{
	if (i < KEYS)
		return &keys[i];
	return i < KEYS + UOP_CLASSES ? &uop_keys()[i - KEYS] : NULL;
}

const struct machine_key *machine_key_find(const char *name)
{
	const struct machine_key *k;

	for (size_t i = 0; (k = machine_key(i)); i++)
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}

/* How many letters to insert, remove or replace to make @a of @b. */
static size_t changes(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), row[NAME_BYTES + 1];

	if (n > NAME_BYTES || m > NAME_BYTES)
		return NAME_BYTES;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t above = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t replace = above + (a[i - 1] != b[j - 1]);

			above = row[j];
			if (row[j - 1] + 1 < replace)
				replace = row[j - 1] + 1;
			if (row[j] + 1 < replace)
				replace = row[j] + 1;
			row[j] = replace;
		}
	}
	return row[m];
}

const struct machine_key *machine_key_like(const char *name)
{
	const struct machine_key *best = NULL, *k;
	size_t fewest = LIKE_MAX + 1;

	for (size_t i = 0; (k = machine_key(i)); i++) {
		const char *dot = strchr(k->name, '.');
		size_t n = changes(name, k->name);

		if (dot && !strcmp(dot + 1, name))
			n = 0;
		if (n < fewest) {
			fewest = n;
			best = k;
		}
	}
	return best;
}

static char problem[TEXT_BYTES];

static const char *not_within(const struct machine_key *k)
{
	snprintf(problem, sizeof(problem),
		 "%s must be a %snumber from %.10g to %.10g", k->name,
		 k->kind == KEY_REAL ? "" : "whole ", k->low, k->high);
	return problem;
}

static const char *set_number(struct machine *m, const struct machine_key *k,
			      const char *text)
{
	static const char units[] = "KMG";
	char *to = (char *)m + k->offset, *end;
	double x = strtod(text, &end);
	const char *unit = *end ? strchr(units, toupper(*end)) : NULL;

	if (end == text)
		return not_within(k);
	if (unit && k->kind == KEY_BYTES) {
		for (const char *p = units; p <= unit; p++)
			x *= 1024;
		end++;
	}
	if (*end || !(x >= k->low && x <= k->high) ||
	    (k->kind != KEY_REAL && x != (double)(uint64_t)x))
		return not_within(k);
	if (k->kind == KEY_REAL)
		memcpy(to, &x, sizeof(x));
	else if (k->kind == KEY_BYTES)
		*(uint64_t *)to = (uint64_t)x;
	else
		*(uint32_t *)to = (uint32_t)x;
	return NULL;
}

static const char *set_word(struct machine *m, const struct machine_key *k,
			    const char *text)
{
	size_t n;

	for (uint32_t i = 0; i < k->n_words; i++)
		if (!strcmp(text, k->words[i])) {
			*(uint32_t *)((char *)m + k->offset) = i;
			return NULL;
		}
	n = (size_t)snprintf(problem, sizeof(problem), "%s must be one of",
			     k->name);
	for (uint32_t i = 0; i < k->n_words; i++)
		n += (size_t)snprintf(problem + n, sizeof(problem) - n, "%s %s",
				      i ? "," : "", k->words[i]);
	return problem;
}

/* "3 on 0,1,5" or "28 on 0 busy 28". */
static const char *set_uop(struct machine *m, const struct machine_key *k,
			   const char *text)
{
	struct machine_uop *u = (void *)((char *)m + k->offset), new = { 0 };
	char ports[TEXT_BYTES], busy[5], rest[2];
	char *p = ports, *end;
	int words;

	snprintf(problem, sizeof(problem),
		 "%s must be 'LATENCY on PORT,... [busy CYCLES]' with ports "
		 "from 0 to %d and at most %d cycles",
		 k->name, MACHINE_PORTS - 1, CYCLES_MAX);
	if (strchr(text, '-'))
		return problem;
	words = sscanf(text, "%u on %199s %4s %u %1s", &new.latency, ports,
		       busy, &new.busy, rest);
	if ((words != 2 && (words != 4 || strcmp(busy, "busy"))) ||
	    new.latency > CYCLES_MAX || new.busy > CYCLES_MAX)
		return problem;
	do {
		unsigned long port = strtoul(p, &end, 10);

		if (end == p || port >= MACHINE_PORTS || (*end && *end != ','))
			return problem;
		new.ports |= 1u << port;
		p = end + 1;
	} while (*end);
	*u = new;
	return NULL;
}

const char *machine_key_set(struct machine *m, const struct machine_key *k,
			    const char *text)
{
	switch (k->kind) {
	case KEY_WORD:
		return set_word(m, k, text);
	case KEY_UOP:
		return set_uop(m, k, text);
	default:
		return set_number(m, k, text);
	}
}

static void bytes_text(uint64_t n, char *to, size_t size)
{
	static const char *const units[] = { "", "K", "M", "G" };
	int i = 0;

	while (i < 3 && n && n % 1024 == 0) {
		n /= 1024;
		i++;
	}
	snprintf(to, size, "%llu%s", (unsigned long long)n, units[i]);
}

static void uop_text(const struct machine_uop *u, char *to, size_t size)
{
	size_t n = (size_t)snprintf(to, size, "%u on ", u->latency);
	const char *comma = "";

	for (int i = 0; i < MACHINE_PORTS; i++)
		if (u->ports & 1u << i) {
			n += (size_t)snprintf(to + n, size - n, "%s%d", comma,
					      i);
			comma = ",";
		}
	if (u->busy)
		snprintf(to + n, size - n, " busy %u", u->busy);
}

void machine_key_text(const struct machine *m, const struct machine_key *k,
		      char *to, size_t size)
{
	const char *from = (const char *)m + k->offset;
	double x;

	switch (k->kind) {
	case KEY_COUNT:
		snprintf(to, size, "%u", *(const uint32_t *)from);
		break;
	case KEY_BYTES:
		bytes_text(*(const uint64_t *)from, to, size);
		break;
	case KEY_REAL:
		memcpy(&x, from, sizeof(x));
		snprintf(to, size, "%.10g", x);
		break;
	case KEY_WORD:
		snprintf(to, size, "%s", k->words[*(const uint32_t *)from]);
		break;
	case KEY_UOP:
		uop_text((const struct machine_uop *)from, to, size);
		break;
	}
}
