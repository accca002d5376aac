/* SPDX-License-Identifier: MIT */
/*
 * emu_describe - what the file says about the process and the measurement
 *
 * /proc/self shows QEMU: its name, its arguments. The program's arguments
 * follow QEMU's own.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"

/* The first @size - 1 bytes of a file; how many were read. */
static size_t slurp(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n;

	if (fd >= 0) {
		while (have < size - 1 &&
		       (n = read(fd, buf + have, size - 1 - have)) > 0)
			have += n;
		close(fd);
	}
	buf[have] = '\0';
	return have;
}

void emu_describe_file_name(char *name, size_t size)
{
	const char *base = strrchr(emu.exe, '/');
	char clean[64];
	size_t i = 0;

	base = base ? base + 1 : emu.exe;
	for (; base[i] && i < sizeof(clean) - 1; i++)
		clean[i] = isalnum((unsigned char)base[i]) ||
					   strchr("._+-", base[i])
				   ? base[i]
				   : '_';
	clean[i] = '\0';
	snprintf(name, size, "%s.%d.%llu.cdp", i ? clean : "program",
		 (int)emu.pid,
		 (unsigned long long)(emu_now_ns(CLOCK_REALTIME) / 1000000));
}

bool emu_takes_value(const char *option)
{
	static const char *const flags[] = { "strace", "singlestep", "version",
					     "help",   "h",          "V" };

	option += 1 + (option[1] == '-');
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strcmp(option, flags[i]))
			return false;
	return true;
}

void emu_command_line(char *to, size_t size)
{
	char buf[8192], *p = buf, *end;
	size_t n = slurp("/proc/self/cmdline", buf, sizeof(buf)), used = 0;

	end = buf + n;
	p += strlen(p) + 1; /* qemu */
	while (p < end && *p == '-') {
		bool value = emu_takes_value(p);

		p += strlen(p) + 1;
		if (value && p < end)
			p += strlen(p) + 1;
	}
	to[0] = '\0';
	for (; p < end && used < size - 1; p += strlen(p) + 1)
		used += snprintf(to + used, size - used, "%s%s",
				 used ? " " : "", p);
	if (used >= size)
		memcpy(to + size - 4, "...", 4);
}

static uint64_t process_start(void)
{
	char buf[1024], *p;
	unsigned long long start = 0;

	slurp("/proc/self/stat", buf, sizeof(buf));
	p = strrchr(buf, ')'); /* the name may hold anything */
	if (p)
		sscanf(p + 1,
		       " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		       "%*s %*s %*s %*s %*s %*s %llu",
		       &start);
	return start;
}

static void cpu_model(char *to, size_t size)
{
	char buf[4096], *p, *end;

	slurp("/proc/cpuinfo", buf, sizeof(buf));
	p = strstr(buf, "model name");
	p = p ? strchr(p, ':') : NULL;
	if (!p)
		return;
	p += strspn(p, ": \t");
	end = strchr(p, '\n');
	if (end)
		*end = '\0';
	snprintf(to, size, "%.40s under QEMU", p);
}

void emu_describe_process(struct cdp_header *h)
{
	struct utsname u;

	h->pid = emu.pid;
	h->parent_pid = getppid();
	h->process_start = process_start();
	h->start_real = emu_now_ns(CLOCK_REALTIME);
	h->start_mono = emu.start_mono;
	h->last_mono = emu.start_mono;
	memcpy(h->run_id, emu.run_id, sizeof(h->run_id));
	slurp("/proc/sys/kernel/random/boot_id", h->boot_id,
	      sizeof(h->boot_id));
	h->boot_id[strcspn(h->boot_id, "\n")] = '\0';
	if (!uname(&u)) {
		snprintf(h->host, sizeof(h->host), "%.63s", u.nodename);
		snprintf(h->kernel, sizeof(h->kernel), "%.64s %.40s", u.release,
			 u.machine);
	}
	cpu_model(h->cpu, sizeof(h->cpu));
	snprintf(h->exe, sizeof(h->exe), "%.255s", emu.exe);
	emu_command_line(h->command, sizeof(h->command));
	h->modes = emu.config.modes;
	h->cores = emu.cores;
}

void emu_describe_measurement(struct cdp_header *h)
{
	const struct comm *c = &emu.comm;
	bool pebs = emu.config.pmu == EMU_PMU_PEBS;

	h->line_bytes = c->line_bytes;
	snprintf(h->source, sizeof(h->source), "emu");
	snprintf(h->source_reason, sizeof(h->source_reason),
		 "every access counted under QEMU; %s",
		 !emu.config.period ? "none sampled"
		 : pebs ? "loads and stores sampled by a counter each, as PEBS"
			: "loads and stores sampled by one counter, as IBS");
	snprintf(h->delivery, sizeof(h->delivery), "callback");
	snprintf(h->algorithm, sizeof(h->algorithm), "%s",
		 emu.config.algorithm == EMU_CHAIN   ? "chain"
		 : emu.config.algorithm == EMU_EPOCH ? "epoch"
						     : "comdetective");
	snprintf(h->period_unit, sizeof(h->period_unit), "accesses");
	h->period = emu.config.period;
	h->registers = c->registers;
	if (emu.config.algorithm != EMU_COMDETECTIVE && !emu.config.watch_lines)
		snprintf(h->registers_reason, sizeof(h->registers_reason),
			 "8 bytes each, all of one line, so the estimate is "
			 "corrected by a model");
	else if (c->registers < COMM_REGISTERS_MAX)
		snprintf(h->registers_reason, sizeof(h->registers_reason),
			 "as asked for");
	h->board_slots = board_slots(c->board);
	h->expiry = c->expiry;
	h->watch_expiry = c->watch_expiry;
}
