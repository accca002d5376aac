/* SPDX-License-Identifier: MIT */
/*
 * slice - watch some processes for a while, in a child of ours
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "slice.h"
#include "analysis/base/util.h"
#include "analysis/outside/watcher.h"
#include "analysis/profile/profile.h"

void slice_init(struct slice *s)
{
	memset(s, 0, sizeof(*s));
	s->found = mmap(NULL, sizeof(*s->found), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->found == MAP_FAILED)
		die("out of memory");
}

static uint64_t real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int stop_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void add_thread(struct slice_found *f, const struct profile *p,
		       const struct thread_row *t)
{
	uint64_t samples = 0;

	f->interrupts += t->clock_interrupts;
	f->disturbances +=
		t->traps + t->arms * p->process[t->process].header.registers;
	for (int k = 0; k < CDP_LOSS_MAX; k++)
		f->loss[k] += t->loss[k];
	for (int k = 0; k < SAMPLE_KINDS; k++)
		samples += t->samples[k];
	f->samples += samples;
	if (t->process < f->processes)
		f->process[t->process].samples += samples;
}

/* The files that were made from @ms on. */
static void sum(struct slice_found *f, const struct slice_options *o,
		uint64_t ms)
{
	struct profile p;

	profile_load_made(&p, o->path, ms, UINT64_MAX);
	for (size_t i = 0; i < p.processes && i < SLICE_FOUND; i++) {
		const struct cdp_header *h = &p.process[i].header;
		struct slice_process *to = &f->process[f->processes++];

		to->pid = (pid_t)h->pid;
		to->start = h->process_start;
		snprintf(to->name, sizeof(to->name), "%s", base_name(h->exe));
		to->watched_ns = h->last_mono - h->start_mono;
	}
	for (size_t i = 0; i < p.threads; i++)
		add_thread(f, &p, &p.thread[i]);
	for (size_t i = 0; i < p.pairs; i++)
		if (p.pair[i].detector_process < f->processes)
			f->process[p.pair[i].detector_process]
				.detections[p.pair[i].sharing] +=
				p.pair[i].count;
	profile_release(&p);
}

struct order {
	struct slice *slice;
	const struct slice_options *options;
	const pid_t *pid;
	size_t n;
};

/* In the child. */
static int watch(void *ctx)
{
	const struct order *order = ctx;
	const struct slice_options *o = order->options;
	struct watch_options w = { .period = o->period,
				   .registers = o->registers,
				   .numbered = o->numbered,
				   .lenient = true,
				   .duration = o->duration,
				   .stop = stop_signals(),
				   .dirfd = o->dirfd,
				   .run_id = o->run_id };
	struct watch_sums sums;
	struct watcher *watcher;
	char *why;

	watcher = watcher_attach(&w, order->pid, order->n, &why);
	if (!watcher) {
		/* That all have ended meanwhile is nothing to talk of. */
		if (kill(order->pid[0], 0) == 0 || errno == EPERM)
			warn("cannot watch: %s", why);
		return 1;
	}
	watcher_run(watcher);
	watcher_close(watcher, &sums);
	sum(order->slice->found, o, order->slice->began_ms);
	return 0;
}

int slice_begin(struct slice *s, const struct slice_options *o,
		const pid_t *pid, size_t n)
{
	struct order order = { s, o, pid, n };

	memset(s->found, 0, sizeof(*s->found));
	s->began_ms = real_ms();
	return child_begin(&s->child, watch, &order, o->dirfd);
}

bool slice_end(struct slice *s)
{
	bool success;

	s->cpu_ns += child_end(&s->child, &success);
	if (s->found->processes > SLICE_FOUND)
		s->found->processes = 0;
	return success;
}

void slice_release(struct slice *s)
{
	if (s->child.pid) {
		child_signal(&s->child, SIGKILL);
		slice_end(s);
	}
	munmap(s->found, sizeof(*s->found));
}
