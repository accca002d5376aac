/* SPDX-License-Identifier: MIT */
/*
 * host - what the file says about the machine and the run
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"

size_t host_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n = 0;

	if (fd >= 0) {
		while (have < size - 1 &&
		       (n = read(fd, buf + have, size - 1 - have)) > 0)
			have += n;
		close(fd);
	}
	buf[have] = 0;
	return have;
}

void host_file_name(char *name, size_t size, const char *exe, pid_t pid,
		    uint64_t real_ns)
{
	const char *base = strrchr(exe, '/');
	char clean[64];
	size_t i = 0;

	base = base ? base + 1 : exe;
	for (; base[i] && i < sizeof(clean) - 1; i++)
		clean[i] = isalnum((unsigned char)base[i]) ||
					   strchr("._+-", base[i])
				   ? base[i]
				   : '_';
	clean[i] = 0;
	snprintf(name, size, "%s.%d.%llu.cdp", i ? clean : "program", (int)pid,
		 (unsigned long long)(real_ns / 1000000));
}

static uint64_t process_start(void)
{
	char buf[1024], *p;
	uint64_t start = 0;

	host_read_file("/proc/self/stat", buf, sizeof(buf));
	p = strrchr(buf, ')'); /* the name may contain anything */
	if (p)
		sscanf(p + 1,
		       " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		       "%*s %*s %*s %*s %*s %*s %llu",
		       (unsigned long long *)&start);
	return start;
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
	snprintf(to, size, "%s", p);
}

void host_describe(struct cdp_header *h)
{
	struct utsname u;

	h->parent_pid = getppid();
	h->process_start = process_start();
	host_read_file("/proc/sys/kernel/random/boot_id", h->boot_id,
		       sizeof(h->boot_id));
	h->boot_id[strcspn(h->boot_id, "\n")] = 0;
	if (!uname(&u)) {
		snprintf(h->host, sizeof(h->host), "%.63s", u.nodename);
		snprintf(h->kernel, sizeof(h->kernel), "%.64s %.40s", u.release,
			 u.machine);
	}
	cpu_model(h->cpu, sizeof(h->cpu));
}
