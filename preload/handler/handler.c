/* SPDX-License-Identifier: MIT */
/*
 * handler - the one signal handler
 *
 * It tells our signals from the application's, guards against re-entry, moves
 * to the thread's own handler stack (the application's stacks may be small) and
 * hands the interrupted context to the source. It keeps errno; the kernel
 * restores the floating-point state.
 *
 * Every signal is blocked meanwhile: otherwise a handler of the application's
 * could interrupt ours and jump out of it, or cancellation could unwind it, and
 * the guard and a lease would stay taken for good. The return from the handler
 * restores the mask.
 */
#include <errno.h>
#include <immintrin.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <asm/prctl.h>

#include "handler.h"
#include "preload/core/budget.h"
#include "preload/core/inside.h"
#include "preload/core/own_stack.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/core/timing.h"
#include "preload/signal/forward.h"
#include "preload/signal/pending.h"
#include "preload/threads/threads.h"
#include "preload/watch/watch.h"
#include "src/x86/interp/interp.h"
#include "src/base/signal_safe.h"

enum {
	FSGSBASE_BIT = 2,     /* AT_HWCAP2 on x86-64 */
	CONTROL_BLOCKS = 256, /* that are remembered */
	SELF_OFFSET = 16,     /* tcbhead_t.self */
};

struct job {
	struct thread *thread;
	const ucontext_t *context;
	struct watch_signal what;
};

static const int gpr_order[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static bool have_fsgsbase;
static ptrdiff_t errno_at; /* from the thread pointer, in every thread */
static bool (*begin_if_due)(void);

void handler_init(void)
{
	inside_reset();
	have_fsgsbase = getauxval(AT_HWCAP2) & FSGSBASE_BIT;
	errno_at = (char *)&errno - (char *)__builtin_thread_pointer();
}

/* errno, without the C library's function: its page is cold. */
static int *errno_here(void)
{
	return (int *)((char *)__builtin_thread_pointer() + errno_at);
}

void handler_when_waiting(bool (*begin)(void))
{
	begin_if_due = begin;
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

/* The kernel says which argument is wrong, and does nothing. */
static bool is_readable(uint64_t word)
{
	return sys_call4(SYS_rt_sigprocmask, -1, word, NULL, sizeof(word)) ==
	       -EINVAL;
}

/* Two words of a control block of the C library point to it. */
static bool is_control_block(uint64_t base)
{
	static _Atomic uint64_t known[CONTROL_BLOCKS];
	_Atomic uint64_t *slot =
		&known[(base >> 6 ^ base >> 12) % CONTROL_BLOCKS];
	const uint64_t *block = (const uint64_t *)base;

	if (base && atomic_load_explicit(slot, memory_order_relaxed) == base)
		return true;
	if (!base || !is_readable(base) || !is_readable(base + SELF_OFFSET) ||
	    block[0] != base || block[SELF_OFFSET / 8] != base)
		return false;
	atomic_store_explicit(slot, base, memory_order_relaxed);
	return true;
}

/*
 * False in a thread that a raw clone gave something else than a control block,
 * or nothing: then neither errno nor what we keep of a thread is there. A
 * timer's signal reaches no such thread. After the end we make no system call,
 * see disarm_after_stop.
 */
static bool has_control_block(void)
{
	bool has;

	if (runtime.delivery != DELIVERY_SIGTRAP)
		return true;
	has = !inside_enter() || is_control_block(segment_base(ARCH_GET_FS));
	inside_leave();
	return has;
}

static uint64_t gs_base(void)
{
	return segment_base(ARCH_GET_GS);
}

static void take_state(const ucontext_t *uc, struct cpu_state *cpu)
{
	const greg_t *g = uc->uc_mcontext.gregs;

	memset(cpu, 0, sizeof(*cpu));
	for (int i = 0; i < 16; i++)
		cpu->gpr[i] = g[gpr_order[i]];
	cpu->rip = g[REG_RIP];
	cpu->rflags = g[REG_EFL];
	/* It points to itself: has_control_block. */
	cpu->fs_base = (uint64_t)__builtin_thread_pointer();
	cpu->fs_known = true;
	cpu->read_gs_base = gs_base;
	cpu_state_vectors(cpu, uc->uc_mcontext.fpregs);
}

static void work(void *arg)
{
	struct job *job = arg;
	struct thread *t = job->thread;
	struct cpu_state cpu;

	take_state(job->context, &cpu);
	t->core = sched_getcpu();
	runtime.source->on_signal(t, &job->what, &cpu);
}

void handler_call(struct thread *t, void (*fn)(void *), void *arg)
{
	own_stack_call(t->stack_top, fn, arg);
}

static bool outside_the_time_asked_for(uint64_t now)
{
	enum runtime_phase phase = runtime_phase(now);

	if (phase == RUNTIME_OVER)
		runtime.source->pause();
	return phase != RUNTIME_WANTED;
}

static void block_all(void)
{
	uint64_t all = ~0ull;

	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof(all));
}

static void skip(struct thread *t, const struct watch_signal *what)
{
	if (runtime.source->skip)
		runtime.source->skip(t, what);
}

static bool starts_a_sample(enum watch_event event)
{
	return event == WATCH_CLOCK || event == WATCH_SOURCE;
}

/*
 * A trap came while its signal was blocked: perhaps our own handler touches
 * what is watched, errno or the thread's control block. The kernel delivers
 * such a trap when the handler returns, and again each time, for as long as the
 * register is armed; so it is disarmed. Registers of all threads are disarmed
 * only when the thread makes no progress between two such traps, since a
 * program may block signals too.
 */
static void disarm_late_trap(struct thread *t, const struct watch_signal *what,
			     uint64_t ip)
{
	if (what->event == WATCH_EXEC) {
		watch_exec_off(t);
	} else if (what->event == WATCH_DATA) {
		watch_ops.disarm(t);
		t->registers_lost = true;
	} else if (what->event == WATCH_CLOCK) {
		skip(t, what);
	} else if (what->event == WATCH_SHARED && t->late_ip == ip &&
		   runtime.source->disarm_late_trap) {
		runtime.source->disarm_late_trap(what);
	}
	t->late_ip = ip;
}

uint64_t handler_cpu_at(struct thread *t)
{
	if (t->cpu_known)
		return t->cpu_at;
	t->cpu_at = thread_cpu_ns();
	t->cpu_known = true;
	budget_pay(&t->budget, t->cpu_at, t->clock_at);
	store_set(&t->record->cpu_ns, t->cpu_at); /* if its end is not seen */
	return t->cpu_at;
}

/* @timed: CPU time was read when the handler began. */
static void charge(struct thread *t, uint64_t wall, bool timed)
{
	uint64_t most = runtime.handler_max_ns;
	uint64_t spent = wall;

	if (budget_must_ask(wall, most) && timed)
		spent = thread_cpu_ns() - t->cpu_at;
	budget_charge(&t->budget, wall, spent, most);
	if (budget_must_ask(wall, most) && !timed)
		spent = t->budget.usual_ns;
	store_add(&t->record->handler_ns, spent);
}

/* Handle the signal @what of thread @t, which is not in the handler yet. */
static void take_signal(struct thread *t, const struct watch_signal *what,
			const ucontext_t *uc)
{
	const struct source_ops *source = runtime.source;
	struct job job = { .thread = t, .context = uc, .what = *what };
	uint64_t begin = now_ns();
	bool timed;

	if (starts_a_sample(what->event) && outside_the_time_asked_for(begin)) {
		skip(t, what);
		return;
	}
	t->in_handler = true;
	t->clock_at = begin;
	t->cpu_known = false;
	if (budget_must_read(&t->budget, begin, runtime.handler_max_ns))
		handler_cpu_at(t);
	if (starts_a_sample(what->event))
		watch_rest(t);
	if (source->enter)
		source->enter(t);
	timed = t->cpu_known;
	handler_call(t, work, &job);
	charge(t, now_ns() - begin, timed);
	if (source->leave)
		source->leave(t, what);
	t->in_handler = false;
}

static void handle(struct watch_signal what, const ucontext_t *uc)
{
	struct thread *t = thread_self();
	bool anothers;

	if (!runtime.sampling) { /* in the set-up; its self-test counts */
		if (t &&
		    (what.event == WATCH_DATA || what.event == WATCH_SHARED))
			t->record->traps++;
		block_all();
		if (t && what.event == WATCH_CLOCK && !thread_is_another())
			skip(t, &what);
		return;
	}
	block_all();
	anothers = t && thread_is_another();
	if (anothers && thread_is_dead()) {
		thread_set_self(NULL);
		t = NULL;
		anothers = false;
	}
	if (!t)
		t = thread_adopt();
	if (!t || anothers) {
		count_loss(NULL,
			   thread_has_ended() ? LOSS_EXITING : LOSS_NO_THREAD);
		return;
	}
	/*
	 * The kernel keeps a record of each event of the source, so its signal
	 * is never too late.
	 */
	what.late &= what.event != WATCH_SOURCE;
	if (t->ending || t->in_handler || what.late)
		count_loss(t, t->ending   ? LOSS_EXITING
			      : what.late ? LOSS_BLOCKED
					  : LOSS_REENTRANT);
	if (t->ending || t->in_handler)
		return;
	if (what.late &&
	    !(what.event == WATCH_DATA && runtime.source->takes_late_traps(t)))
		disarm_late_trap(t, &what, uc->uc_mcontext.gregs[REG_RIP]);
	else
		take_signal(t, &what, uc);
}

/*
 * Profiling is over: a register that is still armed must not trap for ever.
 * After runtime_stop we make no system call, since the program may be in a
 * sandbox.
 */
static void disarm_after_stop(struct watch_signal what)
{
	struct thread *t = thread_self();

	if (runtime.stopped || !t || thread_is_another() || t->ending ||
	    t->in_handler)
		return;
	block_all();
	if (what.event == WATCH_DATA)
		watch_ops.disarm(t);
	else if (what.event == WATCH_EXEC)
		watch_exec_off(t);
	else if (runtime.source->disarm_after_stop)
		runtime.source->disarm_after_stop(t, &what);
}

/*
 * The kernel came back from a system call: it leaves the program counter and
 * the flags in these registers. Events do not sample such a moment.
 */
static bool returns_from_call(const ucontext_t *uc)
{
	const greg_t *g = uc->uc_mcontext.gregs;

	return g[REG_RCX] == g[REG_RIP] && g[REG_R11] == g[REG_EFL];
}

/* The process waits for its first sample: is this one, and has it begun? */
static bool has_begun(struct watch_signal *what, const ucontext_t *uc)
{
	bool wakes = what->event == WATCH_WAKE;

	if (!(wakes || what->event == WATCH_CLOCK) || !begin_if_due ||
	    !runtime_is_waiting() || (wakes && returns_from_call(uc)))
		return false;
	block_all();
	*what = (struct watch_signal){ .event = WATCH_CLOCK };
	return begin_if_due();
}

static void handle_ours(struct watch_signal what, void *context)
{
	if ((inside_enter() && what.event != WATCH_WAKE) ||
	    has_begun(&what, context))
		handle(what, context);
	else
		disarm_after_stop(what);
	inside_leave();
}

/*
 * Handle our signal, then forward the application's @info, whose place in the
 * queue it took.
 */
static void handle_both(int sig, siginfo_t *info, struct watch_signal what,
			void *context)
{
	int saved_errno = *errno_here();
	uint64_t mask;

	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	handle_ours(what, context);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
	*errno_here() = saved_errno;
	signal_forward(sig, info, context);
}

void handler_on_signal(int sig, siginfo_t *info, void *context)
{
	struct watch_signal what;
	int saved_errno;

	if (!has_control_block() &&
	    watch_classify(sig, info).event != WATCH_NOTHING) {
		count_loss(NULL, LOSS_NO_THREAD);
		return;
	}
	saved_errno = *errno_here();
	what = watch_classify(sig, info);
	if (what.event == WATCH_NOTHING) {
		/* The application's handler may change errno as it likes. */
		*errno_here() = saved_errno;
		signal_forward(sig, info, context);
	} else if (signal_took_a_place(what.late, info)) {
		handle_both(sig, info, what, context);
	} else {
		handle_ours(what, context);
		*errno_here() = saved_errno;
	}
}
