/* SPDX-License-Identifier: MIT */
/*
 * plugin - libcomdet-qemu.so, as QEMU sees it
 *
 * Order of a run: QEMU installs the plugin, maps the program, makes processor
 * 0, translates the first block; then the program's name is known and the
 * output is opened. From there each translated instruction gets a call after
 * each of its accesses, with its address as the call's data.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"
#include "src/engine/reuse_table.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;

struct emu emu;

static bool opened; /* emu_set_up was tried */
static qemu_plugin_mem_cb on_access;

/* Of the calling thread, at its latest system call. */
static __thread unsigned int self;
static __thread bool executing; /* in an exec that may succeed */

void emu_say(const char *format, ...)
{
	char line[512] = "comdet: ";
	size_t n = strlen(line);
	va_list ap;

	va_start(ap, format);
	vsnprintf(line + n, sizeof(line) - n - 1, format, ap);
	va_end(ap);
	n = strlen(line);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nobody to tell */
}

uint64_t emu_now_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/*
 * How QEMU 7.2 packs an access into its information: bits 16 and 17 say load
 * and store, bits 4 to 6 are the log2 of the width. The functions that say so
 * cost more than all else that we do for an access, so they are asked once,
 * and if they disagree they are asked each time.
 */
enum {
	INFO_SHIFT_BIT = 4,
	INFO_RW_BIT = 16
};

static bool known_info;

static bool info_is_as_known(void)
{
	for (int bit = 0; bit < 32; bit++) {
		qemu_plugin_meminfo_t info = 1u << bit;
		unsigned int shift = qemu_plugin_mem_size_shift(info);

		if (qemu_plugin_mem_is_store(info) != (bit == INFO_RW_BIT + 1))
			return false;
		if (shift != ((info >> INFO_SHIFT_BIT) & EMU_CLASS_SHIFT))
			return false;
	}
	return true;
}

static inline unsigned int known_class(qemu_plugin_meminfo_t info)
{
	return ((info >> INFO_SHIFT_BIT) & EMU_CLASS_SHIFT) |
	       ((info >> (INFO_RW_BIT - 3)) &
		(EMU_CLASS_LOAD | EMU_CLASS_STORE));
}

static inline unsigned int asked_class(qemu_plugin_meminfo_t info)
{
	return (qemu_plugin_mem_size_shift(info) & EMU_CLASS_SHIFT) |
	       (qemu_plugin_mem_is_store(info) ? EMU_CLASS_STORE
					       : EMU_CLASS_LOAD);
}

static inline void take_access(unsigned int index, unsigned int class,
			       uint64_t addr, void *ip, bool watched)
{
	struct vcpu *v = &emu.vcpu[index];
	enum emu_counter counter =
		(class & v->class_mask) ? EMU_STORES : EMU_LOADS;

	v->count[class]++;
	if (__builtin_expect((--v->until[counter] < 0) | (--v->turn < 0) |
				     (addr - v->watch_low < v->watch_span) |
				     watched,
			     0))
		emu_event(v, class, addr, (uintptr_t)ip);
}

static void on_access_known(unsigned int index, qemu_plugin_meminfo_t info,
			    uint64_t addr, void *ip)
{
	if (__builtin_expect(index < EMU_VCPUS_MAX, 1))
		take_access(index, known_class(info), addr, ip, false);
}

static void on_access_asked(unsigned int index, qemu_plugin_meminfo_t info,
			    uint64_t addr, void *ip)
{
	if (index < EMU_VCPUS_MAX)
		take_access(index, asked_class(info), addr, ip, false);
}

static __attribute__((noinline)) void count_exactly(struct vcpu *v,
						    unsigned int class,
						    uint64_t addr, void *ip)
{
	struct access a = emu_access(class, addr, (uintptr_t)ip);

	exact_access(v->directory, &v->exact, &a, v->core);
}

static inline void take_exactly(struct vcpu *v, unsigned int class,
				uint64_t addr, void *ip)
{
	if (v->directory && !exact_quick(v->directory, &v->exact, addr,
					 1u << (class & EMU_CLASS_SHIFT),
					 class & EMU_CLASS_STORE, v->core))
		count_exactly(v, class, addr, ip);
}

static void on_access_exact(unsigned int index, qemu_plugin_meminfo_t info,
			    uint64_t addr, void *ip)
{
	unsigned int class = known_info ? known_class(info) : asked_class(info);

	if (__builtin_expect(index >= EMU_VCPUS_MAX, 0))
		return;
	take_exactly(&emu.vcpu[index], class, addr, ip);
	take_access(index, class, addr, ip, false);
}

/* With watches over all threads, and perhaps exact counts. */
static void on_access_watched(unsigned int index, qemu_plugin_meminfo_t info,
			      uint64_t addr, void *ip)
{
	unsigned int class = known_info ? known_class(info) : asked_class(info);
	uint8_t watched;

	if (__builtin_expect(index >= EMU_VCPUS_MAX, 0))
		return;
	take_exactly(&emu.vcpu[index], class, addr, ip);
	watched = __atomic_load_n(
		&emu_watched[(addr >> EMU_LINE_SHIFT) % EMU_WATCHED],
		__ATOMIC_RELAXED);
	take_access(index, class, addr, ip, watched);
}

/* With reuses, whatever else there is. */
static void on_access_reuse(unsigned int index, qemu_plugin_meminfo_t info,
			    uint64_t addr, void *ip)
{
	unsigned int class = known_info ? known_class(info) : asked_class(info);
	struct vcpu *v = &emu.vcpu[index];
	bool watched;

	if (__builtin_expect(index >= EMU_VCPUS_MAX, 0))
		return;
	take_exactly(v, class, addr, ip);
	if (v->reuse_exact) {
		struct access a = emu_access(class, addr, (uintptr_t)ip);

		emu_reuse_exact_access(v, &a);
	}
	watched = __atomic_load_n(
			  &emu_watched[(addr >> EMU_LINE_SHIFT) % EMU_WATCHED],
			  __ATOMIC_RELAXED) |
		  reuse_may_watch(emu_reuse_bytes, addr,
				  1u << (class & EMU_CLASS_SHIFT));
	take_access(index, class, addr, ip, watched);
}

static void open_output(const struct qemu_plugin_insn *first)
{
	char *host = qemu_plugin_insn_haddr(first);

	opened = true;
	emu.guest_base = (uintptr_t)host - qemu_plugin_insn_vaddr(first);
	if (!host)
		emu.guest_base = 0;
	emu_set_up(0);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	if (!opened && n)
		open_output(qemu_plugin_tb_get_insn(tb, 0));
	if (!emu.active)
		return;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uintptr_t ip = qemu_plugin_insn_vaddr(insn);

		emu_illegal_instruction(insn);
		qemu_plugin_register_vcpu_mem_cb(
			insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
			QEMU_PLUGIN_MEM_RW, (void *)ip);
	}
}

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int index)
{
	/* Processor 0 comes before the output is open: emu_set_up starts it. */
	if (emu.active)
		emu_thread_start(index);
}

static void on_vcpu_exit(qemu_plugin_id_t id, unsigned int index)
{
	if (emu.active)
		emu_thread_end(index);
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
	if (number == SYS_rt_sigaction)
		emu_illegal_sigaction(a1, a2);
	if (emu.active && index < EMU_VCPUS_MAX)
		emu_turn_leave(&emu.vcpu[index]);
	/* What will fail is often tried: a search along PATH. */
	executing = is_exec(number) &&
		    (number == SYS_execveat || emu_exec_possible(a1));
	if (!executing)
		return;
	if (!emu.active) {
		count_not_followed(emu.parent, 1);
		return;
	}
	emu_thread_flush(index);
	emu_finish(CDP_EXECED);
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
	if (number == SYS_brk && result > 0) {
		uint64_t none = 0;

		atomic_compare_exchange_strong(&emu.heap_low, &none, result);
		atomic_store(&emu.heap_high, result);
	}
	if (index < EMU_VCPUS_MAX && emu.vcpu[index].tid)
		emu_turn_enter(&emu.vcpu[index]);
}

static void on_end(qemu_plugin_id_t id, void *data)
{
	if (!emu.active)
		return;
	emu_finish(CDP_ENDED);
	emu.active = false;
}

static void in_forked_child(void)
{
	if (!emu.active)
		return;
	emu_after_fork();
	if (emu.config.children)
		emu_set_up(self);
}

static uint32_t host_cores(void)
{
	cpu_set_t set;

	/* More than a cpu_set_t holds is more than enough. */
	return sched_getaffinity(0, sizeof(set), &set) ? 1024 : CPU_COUNT(&set);
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
		return 0; /* the program runs all the same */
	}
	if (emu.config.topology && emu_topology_read(error, sizeof(error))) {
		emu_say("not profiled: %s", error);
		return 0;
	}
	emu.argc = argc;
	emu.argv = argv;
	emu.host_cores = host_cores();
	known_info = info_is_as_known();
	on_access = known_info ? on_access_known : on_access_asked;
	if (emu.config.exact)
		on_access = on_access_exact;
	if (emu.config.algorithm != EMU_COMDETECTIVE)
		on_access = on_access_watched;
	if (emu_measures(EMU_REUSE_MODES))
		on_access = on_access_reuse;
	emu_maps_note_host();
	pthread_atfork(NULL, NULL, in_forked_child);
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_ret);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
