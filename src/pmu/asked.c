/* SPDX-License-Identifier: MIT */
/*
 * asked - events that the user names, as COMDET_EVENT has them
 */
#include <errno.h>
#include <string.h>

#include "asked.h"
#include "src/base/text.h"

static const char *const kinds[PMU_ASKED_KINDS] = { "loads=", "stores=" };

static bool starts_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* The value of a digit in hexadecimal, -1: none. */
static int digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) & 0xf : -1;
}

/* A number in hexadecimal at *@at, which moves past it. */
static bool take_code(const char **at, uint64_t *code)
{
	int digits = 0;

	*code = 0;
	if (starts_with(*at, "0x"))
		*at += 2;
	for (; digit(**at) >= 0; ++*at) {
		*code = *code << 4 | (uint64_t)digit(**at);
		digits++;
	}
	return digits && digits <= 16;
}

static bool take_event(const char **at, struct pmu_asked *asked)
{
	struct pmu_asked_event e = { 0 };
	int kind = 0;
	size_t n;

	while (kind < PMU_ASKED_KINDS && !starts_with(*at, kinds[kind]))
		kind++;
	if (kind == PMU_ASKED_KINDS || asked->event[kind].config)
		return false;
	*at += strlen(kinds[kind]);
	if (!take_code(at, &e.config) || !e.config)
		return false;
	if (**at == '/') {
		++*at;
		if (!take_code(at, &e.config1))
			return false;
	}
	if (**at == ':') {
		n = strcspn(++*at, ",");
		if (!n || n >= sizeof(e.name))
			return false;
		memcpy(e.name, *at, n);
		*at += n;
	}
	asked->event[kind] = e;
	return true;
}

int pmu_asked_read(struct pmu_asked *asked, const char *text)
{
	memset(asked, 0, sizeof(*asked));
	if (!text || !*text)
		return 0;
	while (take_event(&text, asked)) {
		if (!*text)
			return 0;
		if (*text++ != ',')
			break;
	}
	memset(asked, 0, sizeof(*asked));
	return -EINVAL;
}

void pmu_asked_write(const struct pmu_asked *asked, char *text, size_t size)
{
	struct text t;

	text_begin(&t, text, size);
	for (int i = 0; i < PMU_ASKED_KINDS; i++) {
		const struct pmu_asked_event *e = &asked->event[i];

		if (!e->config)
			continue;
		text_put(&t, t.at == text ? "" : ",");
		text_put(&t, kinds[i]);
		text_hex(&t, e->config);
		if (e->config1) {
			text_put(&t, "/");
			text_hex(&t, e->config1);
		}
		text_put(&t, e->name[0] ? ":" : "");
		text_put(&t, e->name);
	}
}

bool pmu_asked_any(const struct pmu_asked *asked)
{
	return asked && (asked->event[PMU_ASKED_LOADS].config ||
			 asked->event[PMU_ASKED_STORES].config);
}

bool pmu_asked_counts_all(const struct pmu_asked_event *e)
{
	return strstr(e->name, "ALL_LOADS") || strstr(e->name, "ALL_STORES");
}
