/* SPDX-License-Identifier: MIT */
/*
 * watcher - profile running processes from outside
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "watcher.h"
#include "follow.h"
#include "listing.h"
#include "now.h"
#include "permission.h"
#include "targets.h"
#include "analysis/base/control.h"
#include "analysis/base/util.h"
#include "src/store/host.h"

enum {
	WAIT_MS = 20,                  /* short threads are soon noticed */
	SWEEP_NS = 1000 * 1000 * 1000, /* look whether targets live */
	REST_MS = 20,  /* rings have room for the records of this time */
	SAVE_MS = 250, /* earn the budget of so long before going on */
	EVENTS = 64,
	EMPTY_SWEEPS = 2, /* of a group, then it has ended */
};

struct watcher {
	struct watch_options options;
	int poll;
	struct follow follow;
	char registers_reason[192];
	uint64_t begin, next_sweep, next_progress;
	uint64_t cpu_begin; /* ns, our CPU time */
	int empty;          /* sweeps in a row without any process */
};

static uint64_t own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* How many debug registers the first target has free, and why not four. */
static void find_registers(struct watcher *w, pid_t tid)
{
	int wanted = w->options.registers, n = 0;

	if (wanted) {
		n = registers_free(tid, wanted);
		if (n < wanted)
			snprintf(w->registers_reason,
				 sizeof(w->registers_reason),
				 "the others are taken, by a debugger or "
				 "another watcher, or denied%s%s",
				 n < 0 ? ": " : "", n < 0 ? strerror(-n) : "");
	}
	w->follow.run.registers = n > 0 ? n : 0;
}

static void raise_descriptors(void)
{
	struct rlimit r;

	if (!getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

/* The children that it has already, and that are not watched. */
static void count_children(struct watcher *w, struct task_process *p)
{
	struct listing children = list_children(p->pid);
	uint64_t n = 0;

	for (size_t i = 0; i < children.n; i++)
		n += !tasks_process(&w->follow.tasks, children.pid[i]);
	if (p->file.open && !w->follow.children && !w->options.threads &&
	    !w->options.lenient)
		store_add(&p->file.store.header->not_followed, n);
	listing_release(&children);
}

static void begin(struct watcher *w)
{
	w->begin = outside_now();
	w->cpu_begin = own_cpu_ns();
	w->next_sweep = w->next_progress = w->begin + SWEEP_NS;
	/* A program that has yet to be executed gets its file then. */
	for (struct task_process *p = w->follow.tasks.process; p; p = p->next)
		if (!w->options.on_exec &&
		    (p->threads || !w->options.lenient)) {
			follow_open_file(&w->follow, p);
			count_children(w, p);
		}
}

/* Those of a group's processes are in the group from the start. */
static bool follows_children(const struct watch_options *o)
{
	return o->children || o->group;
}

static enum event_heirs heirs_of(const struct watch_options *o)
{
	return o->threads            ? HEIRS_NONE
	       : follows_children(o) ? HEIRS_PROCESSES
				     : HEIRS_THREADS;
}

/* The clock ticks in any case: it also tells what becomes of threads. */
static int open_source(struct watcher *w, uint64_t seed)
{
	const struct watch_options *o = &w->options;
	struct follow *f = &w->follow;
	int err = clocks_init(&f->clocks, &f->rings, w->poll,
			      o->plan ? HARDWARE_TICK_NS : o->period,
			      heirs_of(o), o->on_exec);

	f->clocks.stacks = o->callers;
	if (err || !o->plan)
		return err;
	f->clocks.tick *= f->clocks.ticks; /* no fine ones: none is a sample */
	f->clocks.ticks = 1;
	return hardware_init(&f->hardware, &perf_kernel_linux, o->plan,
			     &f->rings, w->poll, f->clocks.cpus, heirs_of(o),
			     o->on_exec, seed);
}

struct watcher *watcher_attach(const struct watch_options *o,
			       const pid_t *target, size_t n, char **why)
{
	struct watcher *w = xcalloc(1, sizeof(*w));
	struct epoll_event stop = { .events = EPOLLIN, .data.ptr = w };
	/* No lease: those without an address are of no interest. */
	struct epoll_event command = { .events = EPOLLIN };
	struct targets targets = { .follow = &w->follow,
				   .children = o->children,
				   .lenient = o->lenient,
				   .group = o->group };
	pid_t failed = n ? target[0] : 0;
	uint64_t seed = 0;
	int err;

	w->options = *o;
	w->follow.children = follows_children(o);
	w->follow.threads = o->threads;
	w->follow.on_exec = o->on_exec;
	w->follow.paused = o->paused;
	w->follow.tasks.numbers = o->numbered;
	raise_descriptors();
	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = outside_now();
	w->poll = epoll_create1(EPOLL_CLOEXEC);
	if (w->poll < 0)
		die("cannot make an epoll descriptor: %s", strerror(errno));
	if (o->stop >= 0)
		epoll_ctl(w->poll, EPOLL_CTL_ADD, o->stop, &stop);
	if (o->control)
		epoll_ctl(w->poll, EPOLL_CTL_ADD, o->control->in, &command);
	w->follow.rings.stacks = o->callers;
	err = open_source(w, seed);
	find_registers(w, failed);
	registers_init(&w->follow.registers, &w->follow.rings, w->poll,
		       w->follow.run.registers);
	w->follow.registers.stacks = o->callers;
	sampler_init(&w->follow.sampler, &w->follow.tasks, &w->follow.registers,
		     o->plan ? HARDWARE_GAP_NS : o->period,
		     w->follow.run.registers, seed);
	if (o->callers)
		callers_init(&w->follow.sampler.callers);
	w->follow.run.dirfd = o->dirfd;
	w->follow.run.run_id = o->run_id;
	w->follow.run.period = o->period;
	w->follow.run.plan = o->plan;
	w->follow.run.registers_reason = w->registers_reason;
	w->follow.run.comm = &w->follow.sampler.comm;
	if (!err)
		err = targets_attach(&targets, target, n, &failed);
	if (err) {
		*why = permission_event(failed, -err);
		watcher_close(w, NULL);
		return NULL;
	}
	begin(w);
	return w;
}

/* A process may have ended although its last record was lost. */
static void sweep(struct watcher *w, uint64_t now)
{
	struct task_process *p, *next;
	uint32_t parent;

	if (now < w->next_sweep)
		return;
	w->next_sweep = now + SWEEP_NS;
	for (p = w->follow.tasks.process; p; p = next) {
		next = p->next;
		if (host_process_start(p->pid, &parent) != p->start)
			follow_end_process(&w->follow, p, CDP_ENDED, now, "");
	}
	makers_sweep(&w->follow.makers, &w->follow.tasks, &w->follow.clocks,
		     now);
	follow_close_ended(&w->follow);
	w->empty = w->follow.tasks.process ? 0 : w->empty + 1;
	if (w->options.group)
		targets_attach_group(&w->follow, w->options.group);
}

/* Have all ended? A group may get new ones: a service is started again. */
static bool all_ended(const struct watcher *w)
{
	return !w->follow.tasks.process &&
	       (!w->options.group || w->empty >= EMPTY_SWEEPS);
}

static void show_progress(struct watcher *w, uint64_t now)
{
	uint32_t processes = 0, threads = 0;

	if (!w->options.progress || now < w->next_progress)
		return;
	w->next_progress = now + SWEEP_NS;
	for (struct task_process *p = w->follow.tasks.process; p; p = p->next) {
		processes++;
		threads += p->threads;
	}
	fprintf(stderr,
		"\r%s: %u process%s, %u threads, %s samples, %s detections%s; "
		"Ctrl-C ends it\033[K",
		duration_text(now - w->begin), processes,
		processes == 1 ? "" : "es", threads,
		count_text(w->follow.sampler.samples),
		count_text(w->follow.sampler.detections),
		w->follow.paused ? "; paused" : "");
	fflush(stderr);
}

static int wait_ms(const struct watcher *w, uint64_t now)
{
	uint64_t left;

	if (!w->options.duration)
		return WAIT_MS;
	left = w->begin + w->options.duration - now;
	return left < WAIT_MS * UINT64_C(1000000) ? (int)(left / 1000000) + 1
						  : WAIT_MS;
}

/* A watched thread ended: its set of registers reports that for ever. */
static void close_ended(struct watcher *w, const struct epoll_event *e, int n)
{
	for (int i = 0; i < n; i++) {
		struct lease *l = e[i].data.ptr;

		if (e[i].events & EPOLLHUP && l && e[i].data.ptr != w &&
		    l->holder)
			registers_end(&w->follow.registers, l->holder);
	}
}

/*
 * Rest when more CPU time is spent than was earned, until a little is saved:
 * samples in a row find more sharing than the same number far between.
 */
static void keep_budget(struct watcher *w)
{
	double rate = w->options.budget;
	double earned = rate * (double)w->follow.cpu_ns, spent;

	if (rate <= 0)
		return; /* and do not ask the kernel at each sample */
	spent = (double)(own_cpu_ns() - w->cpu_begin);
	if (spent > earned)
		w->follow.resting = true;
	else if (spent + rate * SAVE_MS * 1e6 <= earned)
		w->follow.resting = false;
}

/* Wait for records; while we rest, only for the end. */
static int wait_for_events(const struct watcher *w, struct epoll_event *e,
			   uint64_t now)
{
	struct pollfd stop = { .fd = w->options.stop, .events = POLLIN };

	if (!w->follow.resting)
		return epoll_wait(w->poll, e, EVENTS, wait_ms(w, now));
	poll(&stop, 1, REST_MS);
	return epoll_wait(w->poll, e, EVENTS, 0);
}

/*
 * Do what the control says, between the records before and those after it. True
 * if that is to stop.
 */
static bool obey(struct watcher *w)
{
	struct control *c = w->options.control;
	enum control_command command;

	while (c && (command = control_next(c)) != CONTROL_NOTHING) {
		if (command == CONTROL_CLOSED) {
			epoll_ctl(w->poll, EPOLL_CTL_DEL, c->in, NULL);
			w->options.control = NULL;
			if (w->follow.paused)
				warn("--control was closed after disable; no "
				     "samples are taken any more");
			return false;
		}
		follow_drain(&w->follow);
		if (command == CONTROL_ENABLE || command == CONTROL_DISABLE)
			follow_pause(&w->follow, command == CONTROL_DISABLE);
		control_answer(c);
		if (command == CONTROL_STOP)
			return true;
	}
	return false;
}

enum watch_end watcher_run(struct watcher *w)
{
	struct epoll_event e[EVENTS];

	for (;;) {
		uint64_t now = outside_now();
		int n;

		if (w->options.duration &&
		    now >= w->begin + w->options.duration)
			return WATCH_TIME_OVER;
		n = wait_for_events(w, e, now);
		follow_drain(&w->follow);
		close_ended(w, e, n);
		for (int i = 0; i < n; i++)
			if (e[i].data.ptr == w)
				return WATCH_STOPPED;
		if (obey(w))
			return WATCH_STOPPED;
		now = outside_now();
		keep_budget(w);
		sweep(w, now);
		show_progress(w, now);
		if (all_ended(w))
			return WATCH_ALL_ENDED;
	}
}

static void stop_process(struct watcher *w, struct task_process *p)
{
	struct space_sink sink = { file_mapping, &p->file };
	uint64_t now = outside_now();
	char note[128];

	space_read(&p->space, &sink);
	snprintf(note, sizeof(note),
		 "watched for %s while it ran, and left running",
		 duration_text(now - w->begin));
	follow_end_process(&w->follow, p, CDP_STOPPED, now, note);
}

void watcher_close(struct watcher *w, struct watch_sums *sums)
{
	if (w->follow.clocks.rings)
		follow_drain(&w->follow);
	while (w->follow.tasks.process)
		stop_process(w, w->follow.tasks.process);
	if (w->options.progress && w->begin)
		fputs("\r\033[K", stderr);
	if (sums)
		*sums = (struct watch_sums){
			.samples = w->follow.sampler.samples,
			.detections = w->follow.sampler.detections,
			.cpu_ns = own_cpu_ns(),
			.ns = w->begin ? outside_now() - w->begin : 0,
			.registers = w->follow.run.registers,
		};
	registers_release(&w->follow.registers);
	if (w->follow.hardware.plan)
		hardware_release(&w->follow.hardware);
	clocks_release(&w->follow.clocks);
	rings_release(&w->follow.rings);
	sampler_release(&w->follow.sampler);
	tasks_release(&w->follow.tasks);
	close(w->poll);
	free(w);
}
