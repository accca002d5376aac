/* SPDX-License-Identifier: MIT */
/*
 * predictor_pentium_m - the predictor of the reference simulator
 */
#include <stddef.h>

#include "predictor_pentium_m.h"
#include "analysis/base/util.h"

enum {
	SETS = 512, /* of the global table and of the table of branches */
	WAYS = 4,
	LOOP_SETS = 64,
	LOOP_WAYS = 2,
	COUNTERS = 4096,
	TAKEN_LOW = 2, /* a 2-bit counter predicts taken from here on */
	STRONG_TAKEN = 3,
	NEW_TAKEN = 3,
	NEW_NOT_TAKEN = 0,
	PATH_MASK = 0x7fff,
	TAG_MASK = 0x3f,
};
#define BRANCH_TAG_MASK 0x3fe00fu /* of the address, besides the index */

struct global_entry {
	uint64_t used;
	uint8_t tag, counter;
	bool valid;
};

struct branch_entry {
	uint64_t used;
	uint32_t tag;
};

struct loop_entry {
	uint64_t used;
	uint32_t count, limit; /* outcomes since the last of the other kind */
	uint8_t tag;
	bool usual;   /* the outcome within the loop */
	bool before;  /* the previous outcome */
	bool enabled; /* a whole loop was seen */
};

struct pentium_m {
	struct global_entry global[SETS][WAYS];
	struct branch_entry branch[SETS][WAYS];
	struct loop_entry loop[LOOP_SETS][LOOP_WAYS];
	uint8_t counter[COUNTERS];
	uint32_t path;
	uint64_t clock; /* for the least recently used */
};

struct pentium_m *pentium_m_new(void)
{
	return xcalloc(1, sizeof(struct pentium_m));
}

static void count(uint8_t *counter, bool taken)
{
	if (taken && *counter < STRONG_TAKEN)
		++*counter;
	if (!taken && *counter)
		--*counter;
}

/* ---- the global table ---- */

static struct global_entry *global_set(struct pentium_m *p, uint64_t ip,
				       uint8_t *tag)
{
	*tag = (uint8_t)((ip >> 13 ^ p->path) & TAG_MASK);
	return p->global[(ip >> 4 ^ p->path >> 6) % SETS];
}

static struct global_entry *global_find(struct pentium_m *p, uint64_t ip)
{
	uint8_t tag;
	struct global_entry *set = global_set(p, ip, &tag);

	for (int i = 0; i < WAYS; i++)
		if (set[i].valid && set[i].tag == tag)
			return &set[i];
	return NULL;
}

static void global_add(struct pentium_m *p, uint64_t ip, bool taken)
{
	uint8_t tag;
	struct global_entry *set = global_set(p, ip, &tag), *oldest = set;

	for (int i = 1; i < WAYS; i++)
		if (set[i].used < oldest->used)
			oldest = &set[i];
	*oldest = (struct global_entry){
		.used = ++p->clock,
		.tag = tag,
		.counter = taken ? NEW_TAKEN : NEW_NOT_TAKEN,
		.valid = true,
	};
}

/* ---- the table of branches ---- */

/* True if the branch had an entry; it has one from now on. */
static bool branch_known(struct pentium_m *p, uint64_t ip)
{
	struct branch_entry *set = p->branch[(ip >> 4) % SETS], *oldest = set;
	uint32_t tag = (uint32_t)ip & BRANCH_TAG_MASK;

	for (int i = 0; i < WAYS; i++) {
		if (set[i].tag == tag) {
			set[i].used = ++p->clock;
			return true;
		}
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	*oldest = (struct branch_entry){ .used = ++p->clock, .tag = tag };
	return false;
}

/* ---- the loop predictor ---- */

static struct loop_entry *loop_set(struct pentium_m *p, uint64_t ip)
{
	return p->loop[(ip >> 4) % LOOP_SETS];
}

static uint8_t loop_tag(uint64_t ip)
{
	return (uint8_t)(ip >> 10 & TAG_MASK);
}

static bool loop_predicts(const struct loop_entry *e)
{
	return e->count == e->limit ? !e->usual : e->usual;
}

static struct loop_entry *loop_find(struct pentium_m *p, uint64_t ip)
{
	struct loop_entry *set = loop_set(p, ip);

	for (int i = 0; i < LOOP_WAYS; i++)
		if (set[i].enabled && set[i].tag == loop_tag(ip)) {
			set[i].used = ++p->clock;
			return &set[i];
		}
	return NULL;
}

/* Count one more outcome of the loop that @e follows. */
static void loop_advance(struct loop_entry *e, bool taken)
{
	if (loop_predicts(e) == taken) {
		e->count = e->count == e->limit ? 0 : e->count + 1;
	} else if (e->count < e->limit) {
		e->limit = e->count; /* it was shorter than the last one */
		e->count = 0;
	} else {
		e->limit = ++e->count; /* longer: it will end sometime */
		e->enabled = false;
	}
}

static void loop_learn_in(struct loop_entry *e, bool taken)
{
	bool unusual = taken != e->usual;

	if (unusual && e->before == taken) {
		/* Twice the unusual one: it is the usual one from now on. */
		e->count = e->limit = 1;
		e->usual = taken;
		e->enabled = false;
	} else if (unusual && !e->enabled) {
		e->enabled = true;
		e->count = 0;
	} else {
		loop_advance(e, taken);
	}
	e->before = taken;
}

static void loop_learn(struct pentium_m *p, uint64_t ip, bool taken)
{
	struct loop_entry *set = loop_set(p, ip), *e = set;

	for (int i = 0; i < LOOP_WAYS; i++) {
		if (set[i].tag == loop_tag(ip)) {
			loop_learn_in(&set[i], taken);
			set[i].used = ++p->clock;
			return;
		}
		if (set[i].used < e->used)
			e = &set[i];
	}
	/* The reference keeps the flag "enabled" of what it replaces. */
	*e = (struct loop_entry){
		.used = ++p->clock,
		.count = 1,
		.limit = 1,
		.tag = loop_tag(ip),
		.usual = taken,
		.before = taken,
		.enabled = e->enabled,
	};
}

/* ---- all of it ---- */

static void learn(struct pentium_m *p, struct global_entry *global, bool loops,
		  uint64_t ip, bool predicted, bool taken)
{
	uint8_t *counter = &p->counter[ip % COUNTERS];
	bool others_right = loops || (*counter >= TAKEN_LOW) == taken;

	if (!global && !loops)
		count(counter, taken);
	if (global && predicted != taken && others_right) {
		global->valid = false;
	} else if (global) {
		count(&global->counter, taken);
		global->used = ++p->clock;
	} else if (predicted != taken && !others_right) {
		global_add(p, ip, taken);
	}
	if (taken)
		p->path = (p->path << 2 ^ (uint32_t)(ip >> 4)) & PATH_MASK;
}

bool pentium_m_right(struct pentium_m *p, uint64_t ip, bool taken)
{
	struct global_entry *global = global_find(p, ip);
	struct loop_entry *loop = loop_find(p, ip);
	bool loops = branch_known(p, ip) && loop, predicted;

	if (global)
		predicted = global->counter >= TAKEN_LOW;
	else if (loops)
		predicted = loop_predicts(loop);
	else
		predicted = p->counter[ip % COUNTERS] >= TAKEN_LOW;
	loop_learn(p, ip, taken);
	learn(p, global, loops, ip, predicted, taken);
	return predicted == taken;
}
