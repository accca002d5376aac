/* SPDX-License-Identifier: MIT */
/*
 * fake_kernel - the system calls on events
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_kernel.h"

enum {
	CNT_CTL = 1 << 19,
	SWFILT = 1,
};

/* For events that count nothing, and own a ring. */
static const struct fake_pmu software = { .name = "software",
					  .type = PERF_TYPE_SOFTWARE };

static const struct fake_pmu *find_pmu(const struct fake_kernel *k,
				       uint32_t type)
{
	if (type == PERF_TYPE_SOFTWARE)
		return &software;
	for (int i = 0; i < FAKE_PMUS && k->pmu[i].name; i++)
		if (k->pmu[i].type == type)
			return &k->pmu[i];
	return NULL;
}

static bool is_slow_load(const struct perf_event_attr *a)
{
	uint32_t code = a->config & 0xffff;

	return code == 0x01cd || code == 0x100b || code == 0x05d0;
}

/* intel_pmu_hw_config and the tables of constraints. */
static int check_core(struct fake_kernel *k, const struct fake_pmu *pmu,
		      const struct perf_event_attr *a, int leader)
{
	uint32_t code = a->config & 0xffff;

	if (a->precise_ip && (int)a->precise_ip > pmu->max_precise)
		return -EOPNOTSUPP;
	if (!a->precise_ip)
		return 0;
	if (k->model == FAKE_NEHALEM && code != 0x100b)
		return -EINVAL;
	if (is_slow_load(a) && a->config1 < 3)
		return -EINVAL;
	if (pmu->aux && k->aux_needed && code == 0x01cd &&
	    a->sample_type & PERF_SAMPLE_DATA_SRC &&
	    (leader < 0 || (k->event[leader].attr.config & 0xffff) != 0x8203))
		return -ENODATA;
	/* Counter 3 alone has the two. */
	if (k->model == FAKE_SANDY_BRIDGE && leader >= 0 &&
	    (code == 0x01cd || code == 0x02cd))
		return -EINVAL;
	if (leader >= 0 && k->event[leader].pmu != pmu)
		return -EINVAL;
	/* Golden Cove and small cores: the highest precision is counter 0's. */
	if (((k->aux_needed && pmu->aux) || pmu->atom) && a->precise_ip == 3 &&
	    leader >= 0 && k->event[leader].attr.precise_ip == 3)
		return -EINVAL;
	return 0;
}

/* perf_ibs_init */
static int check_ibs(struct fake_kernel *k, const struct perf_event_attr *a,
		     int leader)
{
	bool filtered = a->config2 & SWFILT;

	if (a->config & ~(uint64_t)(CNT_CTL | 0xffff))
		return -EINVAL;
	if (filtered && !k->filter)
		return -EINVAL;
	if (!filtered &&
	    (a->exclude_kernel || a->exclude_user || a->exclude_hv))
		return -EINVAL;
	if (leader >= 0)
		return -EINVAL;
	if (a->precise_ip)
		return -EOPNOTSUPP;
	if (!a->sample_period || a->sample_period & 0xf ||
	    a->sample_period < 0x90)
		return -EINVAL;
	/* find_get_context: it has no context of a task. */
	return k->ibs_of_threads ? 0 : -EINVAL;
}

static int free_fd(struct fake_kernel *k, int from)
{
	int end = k->fds_end ? k->fds_end : FAKE_FDS;

	for (int fd = from < 3 ? 3 : from; fd < end; fd++)
		if (!k->fd[fd])
			return fd;
	return -EMFILE;
}

static struct fake_event *event_of(struct fake_kernel *k, int fd)
{
	return fd >= 0 && fd < FAKE_FDS && k->fd[fd] ? &k->event[k->fd[fd] - 1]
						     : NULL;
}

/* Of two kinds of cores the odd processors are the small ones. */
static bool lacks(const struct fake_pmu *pmu, int cpu)
{
	return cpu >= 0 &&
	       (pmu->atom ? !(cpu & 1)
			  : !strcmp(pmu->name, "cpu_core") && (cpu & 1));
}

static int check_open(struct fake_kernel *k, const struct fake_pmu *pmu,
		      const struct perf_event_attr *a, int thread, int cpu,
		      int leader)
{
	if (k->open_error &&
	    (k->open_error_of < 0 || k->open_error_of == (int)a->type))
		return -k->open_error;
	if (k->paranoid > 2 || (k->paranoid > 1 && !a->exclude_kernel))
		return -EACCES;
	if (a->size < 64 || a->size > FAKE_PAGE)
		return -E2BIG;
	if (a->sigtrap && !a->remove_on_exec)
		return -EINVAL;
	if (!pmu || lacks(pmu, cpu))
		return -ENOENT;
	if (thread < 0 || thread >= FAKE_THREADS)
		return -ESRCH;
	if (leader >= 0 &&
	    (k->event[leader].leader != leader ||
	     k->event[leader].thread != thread || k->event[leader].cpu != cpu))
		return -EINVAL;
	if (pmu == &software)
		return 0;
	if (k->fds_max && k->open_fds >= k->fds_max)
		return -EMFILE;
	return pmu->ibs ? check_ibs(k, a, leader)
			: check_core(k, pmu, a, leader);
}

static long fake_open(void *ctx, const struct perf_event_attr *a, int tid,
		      int cpu, int group)
{
	struct fake_kernel *k = ctx;
	const struct fake_pmu *pmu = find_pmu(k, a->type);
	struct fake_event *leader = event_of(k, group), *e;
	int at = leader ? (int)(leader - k->event) : -1, i, fd, r;
	int thread = tid ? tid - k->process : k->running;

	r = group >= 0 && !leader ? -EBADF
				  : check_open(k, pmu, a, thread, cpu, at);
	if (r)
		return r;
	for (i = 0; i < FAKE_EVENTS && k->event[i].users; i++)
		;
	fd = free_fd(k, 0);
	if (i == FAKE_EVENTS || fd < 0)
		return -EMFILE;
	e = &k->event[i];
	memset(e, 0, sizeof(*e));
	e->attr = *a;
	e->pmu = pmu;
	e->id = ++k->ids;
	e->thread = thread;
	e->cpu = cpu;
	e->leader = at < 0 ? i : at;
	e->ring = -1;
	e->users = 1;
	e->left = e->interval = a->sample_period;
	k->events = i < k->events ? k->events : i + 1;
	k->fd[fd] = i + 1;
	k->open_fds++;
	fake_event_add(k, e);
	if (!a->disabled)
		fake_event_enable(k, e);
	return fd;
}

static long set_output(struct fake_kernel *k, struct fake_event *e, int fd)
{
	struct fake_event *to = event_of(k, fd);

	if (!to || to == e || to->cpu != e->cpu ||
	    (e->cpu < 0 && to->thread != e->thread) ||
	    to->attr.use_clockid != e->attr.use_clockid || to->ring < 0)
		return -EINVAL;
	e->ring = to->ring;
	return 0;
}

static long set_period(struct fake_event *e, const uint64_t *period)
{
	if (!fake_is_sampling(e) || !*period)
		return -EINVAL;
	if (e->pmu->ibs && (*period & 0xf || *period < 0x90))
		return -EINVAL;
	e->attr.sample_period = e->interval = e->left = *period;
	return 0;
}

static long fake_ioctl(void *ctx, int fd, unsigned long request, uint64_t arg)
{
	struct fake_kernel *k = ctx;
	struct fake_event *e = event_of(k, fd);

	if (!e)
		return -EBADF;
	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
		fake_event_enable(k, e);
		return 0;
	case PERF_EVENT_IOC_DISABLE:
		k->pauses++;
		fake_event_disable(k, e);
		return 0;
	case PERF_EVENT_IOC_ID:
		*(uint64_t *)(uintptr_t)arg = e->id;
		return 0;
	case PERF_EVENT_IOC_PERIOD:
		return set_period(e, (const uint64_t *)(uintptr_t)arg);
	case PERF_EVENT_IOC_SET_OUTPUT:
		return set_output(k, e, (int)arg);
	default:
		return -ENOTTY;
	}
}

static long fake_map(void *ctx, int fd, size_t bytes)
{
	struct fake_kernel *k = ctx;
	struct fake_event *e = event_of(k, fd);
	size_t pages = bytes / FAKE_PAGE;
	int i;

	if (!e)
		return -EBADF;
	if (k->map_error)
		return -k->map_error;
	if (bytes % FAKE_PAGE || pages < 2 || (pages - 1) & (pages - 2))
		return -EINVAL;
	if (e->attr.inherit && e->cpu < 0)
		return -EINVAL;
	if (k->locked_pages_max &&
	    k->locked_pages + (int)pages > k->locked_pages_max)
		return -EPERM;
	for (i = 0; i < FAKE_RINGS && k->ring[i].page; i++)
		;
	if (i == FAKE_RINGS)
		return -ENOMEM;
	memset(&k->ring[i], 0, sizeof(k->ring[i]));
	k->ring[i].page = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (k->ring[i].page == MAP_FAILED) {
		k->ring[i].page = NULL;
		return -ENOMEM;
	}
	k->ring[i].bytes = bytes - FAKE_PAGE;
	k->locked_pages += (int)pages;
	e->ring = i;
	return (long)(uintptr_t)k->ring[i].page;
}

static long fake_unmap(void *ctx, void *at, size_t bytes)
{
	struct fake_kernel *k = ctx;

	for (int i = 0; i < FAKE_RINGS; i++) {
		if (k->ring[i].page != at)
			continue;
		k->ring[i].page = NULL;
		k->locked_pages -= (int)(bytes / FAKE_PAGE);
		for (int j = 0; j < k->events; j++)
			if (k->event[j].ring == i)
				k->event[j].ring = -1;
		return munmap(at, bytes) ? -errno : 0;
	}
	return -EINVAL;
}

static long fake_read(void *ctx, int fd, void *to, size_t bytes)
{
	struct fake_kernel *k = ctx;
	struct fake_event *e = event_of(k, fd);
	uint64_t out[3];

	if (!e)
		return -EBADF;
	if (e->attr.read_format != (PERF_FORMAT_TOTAL_TIME_ENABLED |
				    PERF_FORMAT_TOTAL_TIME_RUNNING) ||
	    bytes < sizeof(out))
		return -ENOSPC;
	fake_event_read(k, e, out);
	memcpy(to, out, sizeof(out));
	return sizeof(out);
}

static long fake_fcntl(void *ctx, int fd, int command, uint64_t arg)
{
	struct fake_kernel *k = ctx;
	struct fake_event *e = event_of(k, fd);
	int high;

	if (!e)
		return -EBADF;
	switch (command) {
	case F_DUPFD_CLOEXEC:
		if (k->fds_max && k->open_fds >= k->fds_max)
			return -EMFILE;
		high = free_fd(k, (int)arg);
		if (high < 0)
			return high;
		k->fd[high] = k->fd[fd];
		e->users++;
		k->open_fds++;
		return high;
	case F_SETSIG:
		e->signal = (int)arg;
		return 0;
	case F_SETOWN_EX:
	case F_SETFL:
		return 0;
	default:
		return -EINVAL;
	}
}

static long fake_close(void *ctx, int fd)
{
	struct fake_kernel *k = ctx;
	struct fake_event *e = event_of(k, fd);

	if (!e)
		return -EBADF;
	k->fd[fd] = 0;
	k->open_fds--;
	if (!--e->users)
		fake_event_remove(k, e);
	return 0;
}

void fake_calls(struct fake_kernel *k)
{
	k->calls = (struct perf_kernel){
		.ctx = k,
		.open = fake_open,
		.ioctl = fake_ioctl,
		.map = fake_map,
		.unmap = fake_unmap,
		.read = fake_read,
		.fcntl = fake_fcntl,
		.close = fake_close,
	};
}
