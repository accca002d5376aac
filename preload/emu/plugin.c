/* SPDX-License-Identifier: MIT */
/*
 * plugin - libcomdet-qemu.so, as QEMU sees it
 *
 * QEMU installs the plugin, maps the program, creates processor 0, and
 * translates the first block. Then the name of the program is known, and the
 * output is opened. From there on each translated instruction calls us after
 * each of its accesses, with its own address as the data of the call.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "access.h"
#include "avx512.h"
#include "calls.h"
#include "cores.h"
#include "exec.h"
#include "frames.h"
#include "futexes.h"
#include "maps.h"
#include "marks.h"
#include "parts.h"
#include "processor.h"
#include "qemu_plugin_abi.h"
#include "say.h"
#include "scheduler.h"
#include "setup.h"
#include "state.h"
#include "thread.h"
#include "trace.h"
#include "vcpu.h"
#include "src/trace/sync_marks.h"
#include "src/engine/reuse_table.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;

static bool opened; /* emu_setup_open was called */
static qemu_plugin_mem_cb on_access, on_access_part;

/* The processor of the calling thread, at its latest system call. */
static __thread unsigned int self;
static __thread bool executing; /* in an exec that may succeed */

static void open_output(const struct qemu_plugin_insn *first)
{
	char *host = qemu_plugin_insn_haddr(first);

	opened = true;
	emu.guest_base = (uintptr_t)host - qemu_plugin_insn_vaddr(first);
	if (!host)
		emu.guest_base = 0;
	emu_setup_open(0);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	if (!opened && n)
		open_output(qemu_plugin_tb_get_insn(tb, 0));
	if (!emu.active)
		return;
	if (emu.config.trace && n && emu_marks_translate(tb))
		return;
	if (emu.config.trace) {
		emu_trace_translate(tb, on_access);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t ip = qemu_plugin_insn_vaddr(insn);
		uint64_t data = emu_parts_of(insn, ip);

		emu_avx512_instruction(insn);
		qemu_plugin_register_vcpu_mem_cb(
			insn, data == ip ? on_access : on_access_part,
			QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
			(void *)(uintptr_t)data);
		emu_frames_translate(insn, ip);
	}
}

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int index)
{
	/*
	 * Processor 0 comes before the output is open; emu_setup_open starts
	 * it.
	 */
	if (!emu.active)
		return;
	emu_thread_start(index);
	if (emu.config.trace && self < EMU_VCPUS_MAX && index < EMU_VCPUS_MAX &&
	    index != self)
		emu_trace_create(&emu.vcpu[self], &emu.vcpu[index]);
}

static void on_vcpu_exit(qemu_plugin_id_t id, unsigned int index)
{
	if (emu.active)
		emu_thread_end(index);
}

static void on_end(qemu_plugin_id_t id, void *data)
{
	if (!emu.active)
		return;
	emu_setup_finish(CDP_ENDED);
	emu.active = false;
}

/*
 * The program ends. Before QEMU calls on_end it lets each thread run to the end
 * of its block, whoever has the turn. So that this does not count, finish now
 * if all others wait.
 */
static void finish_early(unsigned int index)
{
	if (index >= EMU_VCPUS_MAX || !emu_scheduler_freeze(&emu.vcpu[index]))
		return;
	on_end(0, NULL);
	for (unsigned int i = 0; i < EMU_VCPUS_MAX; i++)
		if (emu.vcpu[i].record)
			emu_vcpu_mute(&emu.vcpu[i]);
	emu_scheduler_release();
}

static bool is_exec(int64_t number)
{
	return number == SYS_execve || number == SYS_execveat;
}

static void count_not_followed(struct cdp_header *h, int n)
{
	if (h)
		__atomic_fetch_add(&h->not_followed, n, __ATOMIC_RELAXED);
}

static void on_syscall(qemu_plugin_id_t id, unsigned int index, int64_t number,
		       uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		       uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	self = index;
	if (emu.active)
		emu_processor_call(number,
				   (uint64_t[]){ a1, a2, a3, a4, a5, a6 });
	if (emu.active && emu.config.trace && index < EMU_VCPUS_MAX) {
		uint64_t arg[6] = { a1, a2, a3, a4, a5, a6 };

		if (number == SYNC_MARKS_CALL)
			emu_marks_call(&emu.vcpu[index], arg);
		emu_futexes_begin(&emu.vcpu[index], number, arg);
	}
	if (number == SYS_rt_sigaction)
		emu_avx512_sigaction(a1, a2);
	if (emu.active && index < EMU_VCPUS_MAX)
		emu_calls_begin(&emu.vcpu[index], number,
				(uint64_t[]){ a1, a2, a3, a4, a5, a6 });
	if (emu.active && number == SYS_exit_group)
		finish_early(index);
	/* An exec along PATH often fails. */
	executing = is_exec(number) &&
		    (number == SYS_execveat || emu_exec_possible(a1));
	if (!executing)
		return;
	if (!emu.active) {
		count_not_followed(emu.parent, 1);
		return;
	}
	emu_thread_flush(index);
	emu_setup_finish(CDP_EXECED);
	if (number == SYS_execve)
		emu_exec(a1, a2, a3);
	count_not_followed(emu.store.header, 1);
}

static void on_syscall_ret(qemu_plugin_id_t id, unsigned int index,
			   int64_t number, int64_t result)
{
	/* An exec that returns has failed. */
	if (executing && !emu.active)
		count_not_followed(emu.parent, -1);
	if (executing && emu.active) {
		count_not_followed(emu.store.header, -1);
		__atomic_store_n(&emu.store.header->state, CDP_RUNNING,
				 __ATOMIC_RELEASE);
	}
	executing = false;
	if (!emu.active)
		return;
	emu_processor_return(number);
	if (number == SYS_brk && result > 0) {
		uint64_t none = 0;

		atomic_compare_exchange_strong(&emu.heap_low, &none, result);
		atomic_store(&emu.heap_high, result);
	}
	if (index < EMU_VCPUS_MAX && emu.vcpu[index].tid) {
		/* A waker first tells who it woke; those then wait their turn.
		 */
		if (emu.config.trace && result > 0)
			emu_futexes_return(&emu.vcpu[index], number, result);
		emu_calls_return(&emu.vcpu[index], number, result);
		if (emu.config.trace && result <= 0)
			emu_futexes_return(&emu.vcpu[index], number, result);
	}
}

static void before_fork(void)
{
	emu.forks++;
}

static void in_forked_child(void)
{
	if (!emu.active)
		return;
	emu_processor_forget();
	emu_setup_after_fork();
	if (emu.config.children)
		emu_setup_open(self);
}

int qemu_plugin_install(qemu_plugin_id_t id,
			const struct qemu_plugin_info *info, int argc,
			char **argv)
{
	char error[512];

	if (info->system_emulation || strcmp(info->target_name, "x86_64")) {
		emu_say("not profiled: this plugin is for qemu-x86_64, not %s",
			info->target_name);
		return -1;
	}
	if (emu_config_read(&emu.config, argc, argv, error, sizeof(error))) {
		emu_say("not profiled: %s", error);
		return 0; /* the program runs without profiling */
	}
	if (emu.config.topology &&
	    emu_cores_read_topology(error, sizeof(error))) {
		emu_say("not profiled: %s", error);
		return 0;
	}
	emu.argc = argc;
	emu.argv = argv;
	on_access = emu_access_callback();
	on_access_part = emu_access_part_callback();
	emu_maps_note_host();
	pthread_atfork(before_fork, NULL, in_forked_child);
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_ret);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
