/* SPDX-License-Identifier: MIT */
/*
 * advice - how the next recording can answer better
 *
 * A program that takes five seconds cannot be told to run for ten minutes. Its
 * samples can come more often, and its work can be repeated in a loop.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "analysis/base/util.h"

enum {
	CLOCK_HZ_MAX = 20000, /* of record -F */
	HANDLER_SHARE = 8,    /* preload/handler/budget.h */
	PERIOD_MIN = 100      /* fewer accesses between samples gain little */
};

/* @x rounded up to two digits and zeros. */
static uint64_t round_up(double x)
{
	uint64_t unit = 1, n;

	if (x >= 1e15)
		return UINT64_C(1000000000000000);
	while (x / (double)unit >= 100)
		unit *= 10;
	n = (uint64_t)(x / (double)unit);
	return (n + ((double)n * (double)unit < x)) * unit;
}

/* "10 times" and more; "twice" for 2 and less. */
static char *repeat(double times)
{
	return times <= 2 ? xstrdup("twice")
			  : xasprintf("%s times", count_text(round_up(times)));
}

/*
 * The rate above which samples are lost, because they would take more than
 * their share of the program's time.
 */
static int highest_hz(const struct profile *p)
{
	uint64_t ns = profile_handler_ns(p);
	uint64_t hz = ns ? UINT64_C(1000000000) / HANDLER_SHARE / ns : 0;

	if (!ns || hz >= CLOCK_HZ_MAX)
		return CLOCK_HZ_MAX;
	return hz > 100 ? (int)(hz / 100 * 100) : 100;
}

/*
 * Samples a second of CPU time. Where sharing was met, the rate was the full
 * one.
 */
static double clock_hz(const struct profile *p, const struct cdp_header *h)
{
	double full = 1e9 / (double)h->period, cpu = 0, samples = 0;

	if (p->pairs || h->slow_period <= h->period)
		return full;
	for (size_t i = 0; i < p->threads; i++) {
		cpu += (double)p->thread[i].cpu_ns;
		for (int k = 0; k < SAMPLE_KINDS; k++)
			samples += (double)p->thread[i].samples[k];
	}
	return cpu > 0 && samples > 0 ? fmin(full, samples * 1e9 / cpu) : full;
}

static char *by_clock(double hz, double full, double times, int highest)
{
	double wanted = fmax(full, hz * times);
	char *again, *text;

	if (full >= highest) {
		again = repeat(times);
		text = xasprintf("repeat the work %s", again);
	} else if (wanted <= highest) {
		again = repeat(times);
		text = xasprintf("sample more often (record -F %llu) or repeat "
				 "the work %s, in a loop",
				 (unsigned long long)round_up(wanted), again);
	} else {
		again = repeat(wanted / highest);
		text = xasprintf("sample more often (record -F %d) and repeat "
				 "the work %s, in a loop",
				 highest, again);
	}
	free(again);
	return text;
}

static char *by_period(double period, double times)
{
	char *again = repeat(times), *text;
	double wanted = period / times;

	if (period <= PERIOD_MIN)
		text = xasprintf("repeat the work %s", again);
	else
		text = xasprintf("sample more often (record -p %llu) or repeat "
				 "the work %s, in a loop",
				 (unsigned long long)(wanted > PERIOD_MIN
							      ? wanted
							      : PERIOD_MIN),
				 again);
	free(again);
	return text;
}

bool advice_can_watch_longer(const struct profile *p)
{
	const struct process *s = profile_main_process(p);

	return s->state == PROCESS_STOPPED &&
	       !strcmp(s->header.delivery, "outside") &&
	       strstr(s->header.note, "left running");
}

/* The program goes on: it need not do its work again. */
static char *by_watching(double period_ns, double seconds, double times)
{
	double wanted = 1e9 / period_ns * times;
	char *rate = wanted > CLOCK_HZ_MAX
			     ? xstrdup("")
			     : xasprintf(", or sample more often (attach -F "
					 "%llu)",
					 (unsigned long long)round_up(wanted));
	char *text = xasprintf("watch for %s s while it works%s",
			       count_text(round_up(seconds > 1 ? seconds : 1)),
			       rate);

	free(rate);
	return text;
}

char *advice_more_samples(const struct profile *p, double times)
{
	const struct process *s = profile_main_process(p);
	const struct cdp_header *h = &s->header;
	double seconds = (double)profile_wall_ns(p) / 1e9 * times;

	if (s->state == PROCESS_RUNNING)
		return xasprintf(
			"let it run for %s s",
			count_text(round_up(seconds > 1 ? seconds : 1)));
	if (advice_can_watch_longer(p) && h->period)
		return by_watching((double)h->period, seconds, times);
	if (!strcmp(h->source, "import") || !h->period)
		return xstrdup("record more of them");
	return strcmp(h->period_unit, "ns")
		       ? by_period(h->period, times)
		       : by_clock(clock_hz(p, h), 1e9 / (double)h->period,
				  times, highest_hz(p));
}
