/* SPDX-License-Identifier: MIT */
/*
 * host - what the file says about the machine and the run
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>

#include "host.h"
#include "rank.h"
#include "src/base/rawcall.h"
#include "src/base/text.h"
#include "src/base/signal_safe.h"

size_t host_read_file(const char *path, char *buf, size_t size)
{
	long fd = rawcall4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	size_t have = 0;
	long n = 0;

	if (fd >= 0) {
		while (have < size - 1 &&
		       (n = rawcall3(SYS_read, fd, buf + have,
				     size - 1 - have)) > 0)
			have += n;
		rawcall1(SYS_close, fd);
	}
	buf[have] = 0;
	return have;
}

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || strchr("._+-", c);
}

void host_file_name(char *name, size_t size, const char *exe, pid_t pid,
		    uint64_t real_ns)
{
	const char *base = strrchr(exe, '/');
	char clean[64];
	size_t i = 0;
	struct text t;

	base = base ? base + 1 : exe;
	for (; base[i] && i < sizeof(clean) - 1; i++)
		clean[i] = is_plain(base[i]) ? base[i] : '_';
	clean[i] = 0;
	text_begin(&t, name, size);
	text_put(&t, i ? clean : "program");
	text_put(&t, ".");
	text_number(&t, (uint64_t)pid);
	text_put(&t, ".");
	text_number(&t, real_ns / 1000000);
	text_put(&t, ".cdp");
}

static uint64_t number(const char *p)
{
	uint64_t n = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	return n;
}

/* Field @n of /proc/PID/stat, for 3 and more; @p is behind the name. */
static uint64_t stat_field(const char *p, int n)
{
	for (int i = 2; i < n && p; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? number(p) : 0;
}

uint64_t host_process_start(pid_t pid, uint32_t *parent)
{
	char path[64], buf[1024], *p;
	struct text t;

	text_begin(&t, path, sizeof(path));
	text_put(&t, "/proc/");
	text_number(&t, (uint64_t)pid);
	text_put(&t, "/stat");
	host_read_file(path, buf, sizeof(buf));
	p = strrchr(buf, ')'); /* the name may contain anything */
	*parent = p ? (uint32_t)stat_field(p, 4) : 0;
	return p ? stat_field(p, 22) : 0;
}

/* Copy @from, or as much of it as fits in @size bytes. */
static void copy(char *to, size_t size, const char *from)
{
	struct text t;

	text_begin(&t, to, size);
	text_put(&t, from);
}

static void cpu_model(char *to, size_t size)
{
	char buf[4096], *p, *end;

	host_read_file("/proc/cpuinfo", buf, sizeof(buf));
	p = strstr(buf, "model name");
	p = p ? strchr(p, ':') : NULL;
	if (!p)
		return;
	p += strspn(p, ": \t");
	end = strchr(p, '\n');
	if (end)
		*end = 0;
	copy(to, size, p);
}

void host_describe(struct cdp_header *h, pid_t pid)
{
	struct utsname u;
	struct text t;

	h->process_start = host_process_start(pid, &h->parent_pid);
	host_read_file("/proc/sys/kernel/random/boot_id", h->boot_id,
		       sizeof(h->boot_id));
	h->boot_id[strcspn(h->boot_id, "\n")] = 0;
	if (!rawcall1(SYS_uname, &u)) {
		copy(h->host, sizeof(h->host), u.nodename);
		text_begin(&t, h->kernel, sizeof(h->kernel));
		text_put(&t, u.release);
		text_put(&t, " ");
		text_put(&t, u.machine);
	}
	cpu_model(h->cpu, sizeof(h->cpu));
	if (rank_of(pid, &h->rank, &h->ranks))
		h->rank++;
}
