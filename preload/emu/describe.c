/* SPDX-License-Identifier: MIT */
/*
 * describe - what the file says about the process and the measurement
 *
 * /proc/self shows the name and arguments of QEMU, with the program's arguments
 * behind them.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "describe.h"
#include "now.h"
#include "state.h"
#include "src/store/host.h"

void emu_describe_file_name(char *name, size_t size)
{
	host_file_name(name, size, emu.exe, emu.pid,
		       emu_now_ns(CLOCK_REALTIME));
}

bool emu_describe_takes_value(const char *option)
{
	static const char *const flags[] = { "strace", "singlestep", "version",
					     "help",   "h",          "V" };

	option += 1 + (option[1] == '-');
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strcmp(option, flags[i]))
			return false;
	return true;
}

void emu_describe_command_line(char *to, size_t size)
{
	char buf[8192], *p = buf, *end;
	size_t n = host_read_file("/proc/self/cmdline", buf, sizeof(buf)),
	       used = 0;

	end = buf + n;
	p += strlen(p) + 1; /* skip "qemu" */
	while (p < end && *p == '-') {
		bool value = emu_describe_takes_value(p);

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

void emu_describe_process(struct cdp_header *h)
{
	char model[41];

	host_describe(h, getpid());
	h->pid = emu.pid;
	h->start_real = emu_now_ns(CLOCK_REALTIME);
	h->start_mono = emu.start_mono;
	h->last_mono = emu.start_mono;
	memcpy(h->run_id, emu.run_id, sizeof(h->run_id));
	snprintf(model, sizeof(model), "%.40s", h->cpu);
	if (model[0])
		snprintf(h->cpu, sizeof(h->cpu), "%s under QEMU", model);
	snprintf(h->exe, sizeof(h->exe), "%.255s", emu.exe);
	emu_describe_command_line(h->command, sizeof(h->command));
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
		 "every access counted under QEMU; %s%s",
		 !emu.config.period ? "none sampled"
		 : pebs ? "loads and stores sampled by a counter each, as PEBS"
			: "loads and stores sampled by one counter, as IBS",
		 emu.config.slice != EMU_SLICE_FREE
			 ? ""
			 : "; threads run as the host schedules them, so "
			   "another run counts differently");
	h->slice = emu.config.slice;
	snprintf(h->delivery, sizeof(h->delivery), "callback");
	snprintf(h->algorithm, sizeof(h->algorithm), "%s",
		 emu.config.algorithm == EMU_CHAIN   ? "chain"
		 : emu.config.algorithm == EMU_EPOCH ? "epoch"
						     : "comdetective");
	snprintf(h->period_unit, sizeof(h->period_unit), "accesses");
	h->period = emu.config.period;
	h->registers = c->registers;
	if (emu.config.algorithm != EMU_COMDETECTIVE && emu.config.software) {
		h->registers = 0;
		snprintf(h->registers_reason, sizeof(h->registers_reason),
			 "in software, %d lines at a time", EMU_WATCHED_LINES);
	} else if (emu.config.algorithm != EMU_COMDETECTIVE &&
		   !emu.config.watch_lines)
		snprintf(h->registers_reason, sizeof(h->registers_reason),
			 "8 bytes each, all of one line, so the estimate is "
			 "corrected by a model");
	else if (c->registers < COMM_REGISTERS_MAX)
		snprintf(h->registers_reason, sizeof(h->registers_reason),
			 "as asked for");
	h->board_slots = board_slots(c->board);
	h->expiry = comm_expiry(c);
	h->watch_expiry = comm_watch_expiry(c);
}
