/* SPDX-License-Identifier: MIT */
/*
 * daemon - watch the busy processes of the machine, in turns, within a budget
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon.h"
#include "cost.h"
#include "metrics.h"
#include "notify.h"
#include "rights.h"
#include "analysis/base/util.h"
#include "analysis/outside/event.h"
#include "analysis/outside/now.h"
#include "analysis/outside/permission.h"

#define MS UINT64_C(1000000)

enum {
	FIRST_LOOK_MS = 300,    /* between the first two scans */
	IDLE_MS = 2000,         /* nothing is busy */
	STEP_MS = 500,          /* between looks at what we are told to do */
	GRACE_MS = 20 * 1000,   /* after which a child hangs */
	SCAN_SHARE = 4,         /* of the budget, at most one part of this */
	DESCRIPTORS_LEFT = 400, /* for registers, files and ourselves */
};

static int take_signals(void)
{
	static const int ours[] = { SIGTERM, SIGINT, SIGHUP };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		sigaddset(&set, ours[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		die("cannot make a signal descriptor: %s", strerror(errno));
	return fd;
}

/* Each thread takes a descriptor on each processor. */
static uint32_t threads_for_descriptors(int cpus)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return 1;
	if (r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
	if (r.rlim_cur <= DESCRIPTORS_LEFT + (rlim_t)cpus)
		die("the limit of descriptors, %llu, is too low: raise it with "
		    "ulimit -n",
		    (unsigned long long)r.rlim_cur);
	if (r.rlim_cur > 1 << 20)
		r.rlim_cur = 1 << 20;
	return (uint32_t)((r.rlim_cur - DESCRIPTORS_LEFT) / (rlim_t)cpus);
}

/* Without the rights for all, watch those of our user. */
static void limit_to_user(struct busy_filter *f)
{
	if (permission_ptrace() || f->users)
		return;
	f->user = grow(f->user, f->users, &f->user_room, sizeof(*f->user));
	f->user[f->users++] = geteuid();
	warn("without CAP_SYS_PTRACE only processes of this user are watched; "
	     "run as root to watch all");
}

/* May we sample at all? Ourselves we may, if anybody. */
static void try_event(void)
{
	struct perf_event_attr a =
		event_clock(UINT64_C(1000000000), false, false);
	int fd = event_open(&a, 0, -1);

	if (fd < 0)
		die("cannot watch processes: %s",
		    permission_event(getpid(), -fd));
	close(fd);
}

void daemon_init(struct machine_watch *w, const struct daemon_options *o)
{
	w->options = *o;
	w->signals = take_signals();
	w->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (w->cpus < 1)
		w->cpus = 1;
	w->threads_max =
		threads_for_descriptors((int)sysconf(_SC_NPROCESSORS_CONF));
	notify_init();
	limit_to_user(&w->busy.filter);
	roll_init(&w->roll, o->out);
	w->roll.bytes = o->roll_bytes;
	w->roll.age = o->roll_age;
	w->roll.keep = o->keep;
	rights_drop();
	try_event();
	slice_init(&w->slice);
	w->interrupt_ns = cost_of_interrupt();
	budget_init(&w->budget, o->budget, w->cpus, outside_now());
	if (o->duration)
		w->end_at = w->budget.began + o->duration;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Take stock of what we have cost. */
static void account(struct machine_watch *w)
{
	w->own_ns = own_cpu_ns() + w->slice.cpu_ns;
	if (w->http)
		w->own_ns += http_cpu_ns(w->http);
	w->target_ns =
		(w->sums.interrupts + w->sums.disturbances) * w->interrupt_ns;
	budget_update(&w->budget, outside_now(), w->own_ns + w->target_ns);
}

static void take_signal(struct machine_watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			w->anew = true;
		else
			w->stop = true;
	}
}

/* The lesser one; 0 is no limit. */
static uint64_t at_most(uint64_t ns, uint64_t limit)
{
	return limit && limit < ns ? limit : ns;
}

static void keep_watchdog_quiet(struct machine_watch *w, uint64_t now)
{
	uint64_t every = notify_watchdog_ns();

	if (!every || now < w->next_watchdog)
		return;
	notify("WATCHDOG=1");
	w->next_watchdog = now + every;
}

/*
 * Wait for @ns, or for a signal, or until the slice ends. True if the slice has
 * ended.
 */
static bool wait_for(struct machine_watch *w, uint64_t ns)
{
	uint64_t now = outside_now(), until = now + ns;

	for (;;) {
		struct pollfd p[2 + HTTP_POLLS] = {
			{ .fd = w->signals, .events = POLLIN },
			{ .fd = w->slice.child.pid ? w->slice.child.fd : -1,
			  .events = POLLIN },
		};
		uint64_t left = until > now ? until - now : 0;
		nfds_t n = 2;

		left = at_most(left, notify_watchdog_ns());
		if (w->http) {
			n += (nfds_t)http_polls(w->http, p + n);
			left = at_most(left, http_wait(w->http) + 1);
		}
		keep_watchdog_quiet(w, now);
		if (poll(p, n, (int)((left + MS - 1) / MS)) < 0 &&
		    errno != EINTR)
			die("cannot wait: %s", strerror(errno));
		if (w->http)
			http_work(w->http);
		if (p[0].revents)
			take_signal(w);
		if (p[1].revents)
			return true;
		now = outside_now();
		if (now >= until || (w->stop && !w->slice.child.pid))
			return false;
	}
}

/* A child that was told to end, or whose time is over. */
static void wait_for_child(struct machine_watch *w, uint64_t ns)
{
	uint64_t end = outside_now() + ns;
	bool ended = false;

	while (!ended && !w->stop && outside_now() < end)
		ended = wait_for(w, at_most(end - outside_now(), STEP_MS * MS));
	if (!ended && w->stop) {
		child_signal(&w->slice.child, SIGTERM);
		ended = wait_for(w, GRACE_MS * MS);
	}
	if (!ended) {
		warn("a slice did not end; it is given up");
		child_signal(&w->slice.child, SIGKILL);
	}
}

static bool time_is_over(const struct machine_watch *w)
{
	return w->end_at && outside_now() >= w->end_at;
}

static uint64_t real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void remember(struct machine_watch *w)
{
	uint64_t i = w->sums.slices % DAEMON_ENDED;

	w->ended[i].from = w->slice.began_ms;
	w->ended[i].until = real_ms();
}

/* For struct http_source. */
static bool ended_since(void *ctx, uint64_t ms, const char **path,
			uint64_t *from, uint64_t *until)
{
	const struct machine_watch *w = ctx;

	*from = UINT64_MAX;
	*until = 0;
	for (int i = 0; i < DAEMON_ENDED; i++) {
		if (w->ended[i].until < ms || !w->ended[i].until)
			continue;
		if (w->ended[i].from < *from)
			*from = w->ended[i].from;
		if (w->ended[i].until > *until)
			*until = w->ended[i].until;
	}
	*path = w->roll.path;
	return w->roll.fd >= 0 && *from < *until;
}

static char *metrics_of(void *ctx)
{
	struct machine_watch *w = ctx;

	account(w);
	return metrics_text(w);
}

static void serve(struct machine_watch *w)
{
	const struct http_source source = { metrics_of, ended_since, w };

	if (w->options.socket || w->options.port)
		w->http =
			http_open(&source, w->options.socket, w->options.port);
}

/* Its children are seen when they are busy. */
static void watch(struct machine_watch *w, const pid_t *pid, size_t n)
{
	bool first = !w->sums.slices;
	uint64_t now = outside_now(), before = w->budget.spent,
		 duration = first ? w->options.first_slice : w->options.slice;
	struct slice_options o = { .period = w->options.period,
				   .registers = w->options.registers };
	int err;

	roll_next(&w->roll, now, w->anew);
	w->anew = false;
	if (w->end_at && now + duration > w->end_at)
		duration = w->end_at > now ? w->end_at - now : 1;
	o.duration = duration;
	o.dirfd = w->roll.fd;
	o.path = w->roll.path;
	o.run_id = w->roll.run_id;
	o.numbered = w->roll.slices++ * SLICE_NUMBERS;
	err = slice_begin(&w->slice, &o, pid, n);
	if (err) {
		warn("cannot begin a slice: %s", strerror(-err));
		wait_for(w, IDLE_MS * MS);
		return;
	}
	wait_for_child(w, duration + GRACE_MS * MS);
	if (slice_end(&w->slice)) {
		sums_add(&w->sums, w->slice.found, outside_now());
		remember(w);
	} else
		w->sums.failed_slices++;
	account(w);
	budget_learn(&w->budget, w->budget.spent - before,
		     (double)w->options.slice / (double)duration);
}

/* Scans take a part of the budget, so they are rare if they take long. */
static void scan(struct machine_watch *w)
{
	uint64_t begin = own_cpu_ns(), now = outside_now();

	busy_scan(&w->busy, now);
	w->scan_ns = own_cpu_ns() - begin;
	w->next_scan = now + (uint64_t)((double)w->scan_ns * SCAN_SHARE /
					w->budget.rate);
	account(w);
}

static void say_status(const struct machine_watch *w)
{
	notify("STATUS=%zu busy processes, %s samples, %s of the machine",
	       busy_wanted(&w->busy), count_text(w->sums.samples),
	       percent_text(budget_percent(&w->budget, w->cpus), 100));
}

static void turn(struct machine_watch *w)
{
	pid_t pid[SLICE_PROCESSES];
	uint64_t now = outside_now();
	size_t n;

	if (now < w->next_scan) {
		wait_for(w, w->next_scan - now);
		return;
	}
	scan(w);
	say_status(w);
	n = busy_pick(&w->busy, outside_now(), pid, SLICE_PROCESSES,
		      w->threads_max);
	if (n)
		watch(w, pid, n);
	if (w->after_turn)
		w->after_turn(w, n);
	if (!n && !w->stop)
		wait_for(w, IDLE_MS * MS);
}

static void say_end(const struct machine_watch *w)
{
	uint64_t found = 0;

	for (size_t i = 0; i < w->sums.processes; i++)
		for (int k = 0; k < SHARING_KINDS; k++)
			found += w->sums.process[i].process.detections[k];
	warn("%s samples, %s detections in %s; it took %s of CPU time, and its "
	     "targets lost about %s: %s of the machine",
	     count_text(w->sums.samples), count_text(found),
	     safe_text(w->options.out), duration_text(w->own_ns),
	     duration_text(w->target_ns),
	     percent_text(budget_percent(&w->budget, w->cpus), 100));
}

int daemon_run(struct machine_watch *w)
{
	serve(w);
	scan(w);
	wait_for(w, FIRST_LOOK_MS * MS);
	notify("READY=1");
	while (!w->stop && !time_is_over(w)) {
		uint64_t wait;

		account(w);
		wait = budget_wait(&w->budget);
		if (w->end_at && outside_now() + wait > w->end_at)
			wait = w->end_at - outside_now();
		if (wait)
			wait_for(w, wait);
		else
			turn(w);
		if (w->anew) {
			roll_next(&w->roll, outside_now(), true);
			w->anew = false;
		}
	}
	notify("STOPPING=1");
	account(w);
	if (!w->options.quiet)
		say_end(w);
	return 0;
}

void daemon_release(struct machine_watch *w)
{
	if (w->http)
		http_close(w->http);
	slice_release(&w->slice);
	roll_release(&w->roll);
	busy_release(&w->busy);
	close(w->signals);
}
