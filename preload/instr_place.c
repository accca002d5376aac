/* SPDX-License-Identifier: MIT */
/*
 * instr_place - which core a thread is on, and under which cache that is
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "instr_source.h"
#include "src/topology.h"

enum {
	TEXT_MAX = 256 * 1024,
};

static struct topology topology;
static uint32_t cores;
static const uint32_t *domain_of; /* by core; NULL: one for all */

static FILE *open_text(const char *topology_path)
{
	static const char inlined[] = "text:";

	if (strncmp(topology_path, inlined, strlen(inlined)))
		return fopen(topology_path, "re");
	topology_path += strlen(inlined);
	return fmemopen((void *)topology_path, strlen(topology_path), "re");
}

int instr_place_read(char *const *env, char *error, size_t size)
{
	static char text[TEXT_MAX];
	const char *path = config_get(env, "COMDET_TOPOLOGY");
	struct topology_error e;
	FILE *f;
	size_t n;

	cores = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	domain_of = NULL;
	if (!path || !*path)
		return 0;
	f = open_text(path);
	if (!f) {
		snprintf(error, size, "cannot open the topology %.200s: %s",
			 path, strerror(errno));
		return -EINVAL;
	}
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	if (n == sizeof(text)) {
		snprintf(error, size, "the topology %.200s is too long", path);
		return -EINVAL;
	}
	if (topology_parse(&topology, text, n, &e)) {
		snprintf(error, size, "the topology %.200s, line %u%s%s: %s",
			 path, e.line, e.word[0] ? ": " : "", e.word,
			 topology_fault_text(e.fault));
		return -EINVAL;
	}
	cores = topology.shape.cores;
	if (topology.shape.levels > 1)
		domain_of = topology.shape.domain[1];
	return 0;
}

struct reuse_place instr_place(uint32_t thread)
{
	uint32_t core = cores ? thread % cores : 0;

	return (struct reuse_place){
		.thread = thread,
		.core = core,
		.domain = domain_of ? domain_of[core] : 0,
	};
}
