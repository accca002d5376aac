/* SPDX-License-Identifier: MIT */
/*
 * named_events - events of loads and stores by their names, from libpfm4
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

#include "named_events.h"

enum {
	NAME_BYTES = 256
};

static struct pfm {
	void *library;
	pfm_err_t (*initialize)(void);
	const char *(*message)(int code);
	pfm_err_t (*encode)(const char *text, int level, pfm_os_t os,
			    void *arg);
	pfm_err_t (*pmu)(pfm_pmu_t pmu, pfm_pmu_info_t *info);
	int (*next)(int event);
	pfm_err_t (*event)(int event, pfm_os_t os, pfm_event_info_t *info);
	pfm_err_t (*attribute)(int event, int i, pfm_os_t os,
			       pfm_event_attr_info_t *info);
} pfm;

static bool find(void *at, const char *name)
{
	void *f = dlsym(pfm.library, name);

	memcpy(at, &f, sizeof(f));
	return f;
}

static bool load(void)
{
	return find(&pfm.initialize, "pfm_initialize") &&
	       find(&pfm.message, "pfm_strerror") &&
	       find(&pfm.encode, "pfm_get_os_event_encoding") &&
	       find(&pfm.pmu, "pfm_get_pmu_info") &&
	       find(&pfm.next, "pfm_get_event_next") &&
	       find(&pfm.event, "pfm_get_event_info") &&
	       find(&pfm.attribute, "pfm_get_event_attr_info");
}

static int open_library(char *why, size_t size)
{
	if (pfm.library)
		return 0;
	pfm.library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	if (pfm.library && load() && pfm.initialize() == PFM_SUCCESS)
		return 0;
	snprintf(why, size,
		 "%s; install libpfm4 (Debian's package), or give the code: "
		 "-e loads=CODE or stores=CODE",
		 pfm.library ? "libpfm4 cannot be used"
			     : "libpfm4 is not installed");
	if (pfm.library)
		dlclose(pfm.library);
	pfm.library = NULL;
	return -1;
}

/* Encode it as an event that is sampled precisely, with its instruction. */
static int encode(const char *name, struct pmu_asked_event *e)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	char text[NAME_BYTES + 16];
	int r;

	memset(&attr, 0, sizeof(attr));
	snprintf(text, sizeof(text), "%s:precise=1", name);
	r = pfm.encode(text, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (r != PFM_SUCCESS)
		return r;
	memset(e, 0, sizeof(*e));
	e->config = attr.config;
	e->config1 = attr.config1;
	snprintf(e->name, sizeof(e->name), "%.43s", name);
	/* A comma ends an event in COMDET_EVENT. */
	for (char *p = e->name; *p; p++)
		*p = *p == ',' ? ';' : *p;
	return 0;
}

/* PMU_ASKED_LOADS or PMU_ASKED_STORES by its name, -1: neither. */
static int kind_of(const char *name)
{
	return strcasestr(name, "STORE")  ? PMU_ASKED_STORES
	       : strcasestr(name, "LOAD") ? PMU_ASKED_LOADS
					  : -1;
}

int named_event_find(const char *name, struct pmu_asked *asked, char *why,
		     size_t size)
{
	int kind = kind_of(name), r;
	struct pmu_asked_event e;

	if (strlen(name) >= NAME_BYTES || kind < 0) {
		snprintf(
			why, size,
			"its name does not say that it counts loads or stores; "
			"see reusetrack list events");
		return -1;
	}
	if (asked->event[kind].config) {
		snprintf(why, size, "one event of %s at most",
			 kind == PMU_ASKED_LOADS ? "loads" : "stores");
		return -1;
	}
	if (open_library(why, size))
		return -1;
	r = encode(name, &e);
	if (r) {
		snprintf(why, size,
			 "libpfm4 knows no such precise event of this "
			 "processor (%s); see reusetrack list events",
			 pfm.message(r));
		return -1;
	}
	asked->event[kind] = e;
	return 0;
}

bool named_events_all(struct pmu_asked *asked)
{
	static const char *const all[][PMU_ASKED_KINDS] = {
		{ "MEM_INST_RETIRED:ALL_LOADS", "MEM_INST_RETIRED:ALL_STORES" },
		{ "MEM_UOPS_RETIRED:ALL_LOADS", "MEM_UOPS_RETIRED:ALL_STORES" },
	};
	char why[NAME_BYTES];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		memset(asked, 0, sizeof(*asked));
		if (!named_event_find(all[i][0], asked, why, sizeof(why)) &&
		    !named_event_find(all[i][1], asked, why, sizeof(why)))
			return true;
	}
	memset(asked, 0, sizeof(*asked));
	return false;
}

static void each_of_event(int event,
			  void (*each)(void *ctx, const char *name,
				       const char *what),
			  void *ctx)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	struct pmu_asked_event e;
	char name[NAME_BYTES];

	if (pfm.event(event, PFM_OS_NONE, &info) != PFM_SUCCESS)
		return;
	for (int i = 0; i < info.nattrs; i++) {
		pfm_event_attr_info_t a = { .size = sizeof(a) };

		if (pfm.attribute(event, i, PFM_OS_NONE, &a) != PFM_SUCCESS ||
		    a.type != PFM_ATTR_UMASK)
			continue;
		snprintf(name, sizeof(name), "%s.%s", info.name, a.name);
		if (kind_of(name) >= 0 && !encode(name, &e))
			each(ctx, name, a.desc ? a.desc : "");
	}
}

int named_events_each(void (*each)(void *ctx, const char *name,
				   const char *what),
		      void *ctx, char *why, size_t size)
{
	bool any = false;
	int pmu;

	if (open_library(why, size))
		return -1;
	pfm_for_all_pmus(pmu)
	{
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (pfm.pmu(pmu, &info) != PFM_SUCCESS || !info.is_present ||
		    info.type != PFM_PMU_TYPE_CORE)
			continue;
		any = true;
		for (int e = info.first_event; e >= 0; e = pfm.next(e))
			each_of_event(e, each, ctx);
	}
	if (!any)
		snprintf(why, size, "libpfm4 does not know this processor");
	return any ? 0 : -1;
}
