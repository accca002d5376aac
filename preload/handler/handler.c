/* SPDX-License-Identifier: MIT */
/*
 * handler - the one signal handler
 *
 * Tells our signals from the application's, guards against re-entry, moves to
 * the thread's own handler stack (the application's alternate stack may be
 * small, and its threads' stacks smaller), and hands the interrupted context
 * on. errno is kept; floating-point state is the kernel's to restore.
 *
 * While we work, every signal is blocked: a handler of the application's that
 * came in between could jump out of ours, and cancellation could unwind it,
 * leaving the guard taken and a lease in use for good. The return from the
 * handler restores the mask.
 */
#include <elf.h>
#include <errno.h>
#include <immintrin.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <asm/prctl.h>

#include "budget.h"
#include "preload/sources/clock/clock_reuse.h"
#include "preload/instr/event.h"
#include "preload/instr/reuse.h"
#include "preload/instr/watch.h"
#include "preload/core/runtime.h"
#include "preload/sources/source.h"
#include "preload/core/state.h"
#include "preload/core/sys.h"
#include "preload/sources/thread_reuse.h"
#include "preload/watch/watch.h"
#include "src/base/signal_safe.h"

enum {
	FSGSBASE_BIT = 2,  /* AT_HWCAP2 on x86-64 */
	DRAIN_TRIES = 200, /* of 100 us */
};

struct job {
	struct thread *thread;
	const ucontext_t *context;
	struct watch_signal what;
	bool late; /* and not to be forgotten for that */
};

static const int gpr_order[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static bool have_fsgsbase;
static _Atomic int inside; /* threads in handle or silence */

static void find_vdso(void)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *eh = (const void *)(uintptr_t)base;
	const Elf64_Phdr *ph;

	if (!base)
		return;
	ph = (const void *)(uintptr_t)(base + eh->e_phoff);
	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD &&
		    base + ph[i].p_offset + ph[i].p_memsz > runtime.vdso_high)
			runtime.vdso_high =
				base + ph[i].p_offset + ph[i].p_memsz;
	runtime.vdso_low = base;
}

void handler_init(void)
{
	atomic_store(&inside, 0);
	have_fsgsbase = getauxval(AT_HWCAP2) & FSGSBASE_BIT;
	find_vdso();
}

/*
 * (H) pairs with (G): the flag is cleared before the count is read, so who is
 * not counted sees it cleared.
 */
void handler_drain(void)
{
	const struct timespec moment = { 0, 100 * 1000 };

	for (int i = 0; i < DRAIN_TRIES && atomic_load(&inside); i++)
		sys_call2(SYS_nanosleep, &moment, NULL);
}

static uint64_t segment_base(int get)
{
	uint64_t base = 0;

	if (have_fsgsbase) {
		if (get == ARCH_GET_FS)
			__asm__("rdfsbase %0" : "=r"(base));
		else
			__asm__("rdgsbase %0" : "=r"(base));
		return base;
	}
	sys_call2(SYS_arch_prctl, get, &base);
	return base;
}

static void take_state(const ucontext_t *uc, struct cpu_state *cpu)
{
	const greg_t *g = uc->uc_mcontext.gregs;

	memset(cpu, 0, sizeof(*cpu));
	for (int i = 0; i < 16; i++)
		cpu->gpr[i] = g[gpr_order[i]];
	cpu->rip = g[REG_RIP];
	cpu->rflags = g[REG_EFL];
	cpu->fs_base = segment_base(ARCH_GET_FS);
	cpu->gs_base = segment_base(ARCH_GET_GS);
	cpu->fs_known = cpu->gs_known = true;
	cpu_state_vectors(cpu, uc->uc_mcontext.fpregs);
}

static void work(void *arg)
{
	struct job *job = arg;
	struct thread *t = job->thread;
	struct cpu_state cpu;

	take_state(job->context, &cpu);
	t->core = sched_getcpu();
	switch (job->what.event) {
	case WATCH_CLOCK:
		if (runtime.hardware)
			pmu_source_tick(t);
		else
			sample_interrupt(t, &cpu);
		break;
	case WATCH_PMU:
		pmu_source_signal(t);
		break;
	case WATCH_DATA:
		if (instr_reuse_by_registers())
			instr_reuse_register(t, &job->what, &cpu);
		else if (job->late)
			thread_reuse_late(t, job->what.reg);
		else
			sample_data_trap(t, job->what.reg, &cpu);
		break;
	case WATCH_EXEC:
		sample_exec_breakpoint(t, &cpu);
		break;
	case WATCH_SHARED:
		instr_trap(t, &job->what, &cpu);
		break;
	default:
		break;
	}
}

/* Call @fn(@arg) with the stack pointer at @top. */
static void call_on_stack(char *top, void (*fn)(void *), void *arg)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[fn]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg)
			 : [top] "r"(top), [fn] "r"(fn)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10",
			   "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
			   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",
			   "memory");
}

void handler_call(struct thread *t, void (*fn)(void *), void *arg)
{
	call_on_stack(t->stack_top, fn, arg);
}

static bool outside_the_time_asked_for(uint64_t now)
{
	const struct config *c = &runtime.config;

	if (now < runtime.start_mono + c->delay_ns)
		return true;
	if (!c->duration_ns ||
	    now < runtime.start_mono + c->delay_ns + c->duration_ns)
		return false;
	source_pause();
	return true;
}

static void block_all(void)
{
	uint64_t all = ~0ull;

	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof(all));
}

/* A raw clone that sets no TLS shares its creator's: two with one record. */
static bool is_another(const struct thread *t)
{
	return t->tid != sys_call0(SYS_gettid);
}

static bool starts_a_sample(enum watch_event event)
{
	return event == WATCH_CLOCK || event == WATCH_PMU;
}

/*
 * A trap came while its signal was blocked. Perhaps we touch ourselves what is
 * watched, errno or the thread's control block. Such a trap waits until the
 * handler returns, and comes again then, and again, for as long as the register
 * is armed. Registers of all threads are kept until nothing goes on here, since
 * a program may block signals too.
 */
static void let_go(struct thread *t, const struct watch_signal *what,
		   uint64_t ip)
{
	if (what->event == WATCH_EXEC) {
		watch_exec_off(t);
	} else if (what->event == WATCH_DATA) {
		watch_ops.disarm(t);
		t->registers_lost = true;
	} else if (what->event == WATCH_SHARED && t->late_ip == ip) {
		instr_watch_disarm_late_trap(what);
	}
	t->late_ip = ip;
}

static void charge(struct thread *t, uint64_t wall)
{
	uint64_t most =
		runtime.hardware ? PMU_HANDLER_MAX_NS : runtime.period_ns;
	uint64_t spent = wall;

	store_add(&t->record->handler_ns, wall);
	if (budget_must_ask(wall, most))
		spent = thread_cpu_ns() - t->cpu_at;
	t->debt_ns = budget_charge(t->debt_ns, spent, most);
}

static void handle(struct watch_signal what, const ucontext_t *uc)
{
	struct thread *t = thread_self();
	struct job job = { .context = uc, .what = what };
	uint64_t begin;
	bool late, reuse;

	if (!runtime.sampling) { /* the self-test counts, nothing else */
		if (t &&
		    (what.event == WATCH_DATA || what.event == WATCH_SHARED))
			t->record->traps++;
		return;
	}
	block_all();
	if (!t)
		t = thread_adopt();
	if (!t || is_another(t)) {
		lose(NULL, thread_has_ended() ? LOSS_EXITING : LOSS_NO_THREAD);
		return;
	}
	/* A hardware event's record tells what it was, however late. */
	late = what.late && what.event != WATCH_PMU;
	if (t->ending || t->in_handler || late)
		lose(t, t->ending ? LOSS_EXITING
			: late    ? LOSS_BLOCKED
				  : LOSS_REENTRANT);
	if (t->ending || t->in_handler)
		return;
	job.late = late && what.event == WATCH_DATA &&
		   (t->reuse || instr_reuse_by_registers());
	if (late && !job.late) {
		let_go(t, &what, uc->uc_mcontext.gregs[REG_RIP]);
		return;
	}
	begin = now_ns();
	if (starts_a_sample(what.event) && outside_the_time_asked_for(begin)) {
		if (what.event == WATCH_PMU)
			pmu_source_skip(t);
		return;
	}
	t->in_handler = true;
	t->clock_at = begin;
	t->cpu_at = thread_cpu_ns();
	reuse = t->reuse && !runtime.hardware;
	if (reuse)
		clock_reuse_enter(t);
	job.thread = t;
	handler_call(t, work, &job);
	charge(t, now_ns() - begin);
	if (what.event == WATCH_CLOCK && !runtime.hardware)
		t->debt_ns = budget_pay(t->debt_ns, runtime.period_ns);
	if (reuse)
		clock_reuse_leave(t);
	t->in_handler = false;
}

/*
 * Profiling is over: what is still armed must not trap for ever. No system call
 * after a stop: a sandbox may have been put up since.
 */
static void silence(struct watch_signal what)
{
	struct thread *t = thread_self();

	if (runtime.stopped || !t || t->ending || t->in_handler ||
	    is_another(t))
		return;
	block_all();
	if (what.event == WATCH_DATA)
		watch_ops.disarm(t);
	else if (what.event == WATCH_EXEC)
		watch_exec_off(t);
	else if (what.event == WATCH_PMU)
		pmu_source_silence(t);
}

static void handle_ours(struct watch_signal what, void *context)
{
	/* (G) Counted before the look at the flag: see handler_drain. */
	atomic_fetch_add(&inside, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (runtime_active())
		handle(what, context);
	else
		silence(what);
	atomic_fetch_sub(&inside, 1);
}

/* And @info is one of the application's, which ours had taken the place of. */
static void handle_both(int sig, siginfo_t *info, struct watch_signal what,
			void *context)
{
	int saved_errno = errno;
	uint64_t mask;

	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	handle_ours(what, context);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
	errno = saved_errno;
	signal_forward(sig, info, context);
}

void runtime_on_signal(int sig, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	struct watch_signal what = watch_classify(sig, info);

	if (what.event == WATCH_NOTHING) {
		/* What the application's handler does to errno is its own. */
		errno = saved_errno;
		signal_forward(sig, info, context);
	} else if (signal_took_a_place(what.late, info)) {
		handle_both(sig, info, what, context);
	} else {
		handle_ours(what, context);
		errno = saved_errno;
	}
}
