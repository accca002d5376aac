/* SPDX-License-Identifier: MIT */
/*
 * host - what the file says about the machine and the run
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"
#include "src/base/text.h"

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
	struct text t;

	base = base ? base + 1 : exe;
	for (; base[i] && i < sizeof(clean) - 1; i++)
		clean[i] = isalnum((unsigned char)base[i]) ||
					   strchr("._+-", base[i])
				   ? base[i]
				   : '_';
	clean[i] = 0;
	text_begin(&t, name, size);
	text_put(&t, i ? clean : "program");
	text_put(&t, ".");
	text_number(&t, (uint64_t)pid);
	text_put(&t, ".");
	text_number(&t, real_ns / 1000000);
	text_put(&t, ".cdp");
}

/* Field @n of /proc/PID/stat, for 3 and more; @p is behind the name. */
static uint64_t stat_field(const char *p, int n)
{
	for (int i = 2; i < n && p; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? strtoull(p, NULL, 10) : 0;
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
	if (!uname(&u)) {
		copy(h->host, sizeof(h->host), u.nodename);
		text_begin(&t, h->kernel, sizeof(h->kernel));
		text_put(&t, u.release);
		text_put(&t, " ");
		text_put(&t, u.machine);
	}
	cpu_model(h->cpu, sizeof(h->cpu));
}
