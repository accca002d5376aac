/* SPDX-License-Identifier: MIT */
/*
 * source - the source instr: hooks in the program deliver every access
 *
 * libcomdet-instr (preload/instr) counts the accesses of code compiled with
 * -fsanitize=thread and tells of those at which a counter runs out or whose
 * line is watched. No clock runs then. Events come in ordinary context, in the
 * middle of the program's code or of a handler of its: they are treated with
 * all signals blocked, on the thread's handler stack, so that what holds for
 * handlers holds for them.
 *
 * Samples go to an estimator of transfers (src/engine/transfer.h), or to the
 * map (src/engine/comm.h) with the algorithm comdetective. Watches are
 *
 *   software  a table of lines that every hook looks into: whole lines, armed
 *             at once, seen by instrumented code alone;
 *   hardware  debug registers, one inherited event each for all threads: 8
 *             bytes, or a line where the processor can; seen by all code. For
 *             reuse times each thread has its own events: rearm.c.
 *
 * With config.exact every access also goes through the directory of
 * src/exact/directory.h. With config.reuse samples go to the engines of
 * src/engine/reuse.h instead, each use being watched by a slot of the hooks or
 * a register.
 */
#ifndef COMDET_PRELOAD_INSTR_SOURCE_H
#define COMDET_PRELOAD_INSTR_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/instr/runtime/instr.h"
#include "src/x86/interp/interp.h"
#include "src/store/cdp.h"
#include "src/engine/comm.h"
#include "src/exact/directory.h"
#include "src/store/reuse_tally.h"
#include "src/engine/transfer.h"

struct thread;
struct watch_signal;

enum instr_wish {
	INSTR_UNWANTED, /* another source is asked for */
	INSTR_WELCOME,  /* if the program has hooks */
	INSTR_DEMANDED
};

enum instr_algorithm {
	INSTR_BEST,         /* for the watches that there are */
	INSTR_COMDETECTIVE, /* a map */
	INSTR_EPOCH,        /* estimates: engine/transfer.h */
	INSTR_CHAIN
};

struct instr_config {
	enum instr_wish wish;
	enum instr_algorithm algorithm;
	uint64_t period;        /* accesses of a thread; 0: none is sampled */
	bool hardware;          /* watch with debug registers */
	bool exact;             /* count every transfer */
	bool comm;              /* detect communication */
	bool reuse;             /* measure reuse times */
	uint32_t scopes;        /* of them, bits of enum reuse_scope */
	uint32_t granularities; /* of each scope, enum reuse_granularity */
	uint32_t slots;         /* uses watched at once, of each of these */
	bool paths;             /* of calls, of use and reuse */
};

enum {
	INSTR_LIBRARIES_MAX = 64,
	INSTR_WIDEST = 1 << (INSTR_WIDTHS - 1), /* of what is no range */
	INSTR_REUSE_ENGINES = REUSE_SCOPES * (int)REUSE_GRANULARITIES,
	INSTR_REUSE_SLOTS_MAX = 240, /* of all engines */
};

/* Constant after set-up. */
extern struct instr_config instr_config;

/*
 * Fill instr_config in. On a bad value returns -EINVAL with one line for people
 * in @error. Context: set-up.
 */
int instr_config_read(char *const *env, char *error, size_t size);

/* A thread's in one engine of reuses. */
struct instr_reuse {
	struct thread *owner; /* NULL: what is left at the end */
	struct reuse_tally *tally;
	uint32_t engine;
	struct reuse_thread thread;
};

struct instr_path; /* frames.c */
struct instr_bank; /* regpool.c: debug registers of one thread */

/* What is watched for a use, by registers. */
struct instr_slot {
	struct watch_range range;
	uint32_t generation;
	uint32_t thread; /* of the use */
};

/* A use that is armed at the thread's next hook. */
struct instr_awaited {
	uint64_t call; /* of that hook; 0: there is no such use */
	uint32_t slot, generation;
};

/* A thread's counters in one copy of the hooks. */
struct instr_copy {
	const struct instr_library *library;
	const struct instr_thread *hooks; /* NULL: had no event yet */
	const uint8_t *watched;           /* atomic; its table: rearm.c */
};

/* What a thread keeps. */
struct instr_state {
	int64_t until[INSTR_CLASSES]; /* if exact: to the next sample */
	struct transfer_thread transfer;
	bool begun;
	bool in_transfer;
	bool in_exact; /* the directory has a number for it: exact */
	bool in_reuse;
	uint64_t counted; /* accesses that the hooks handed over */
	struct instr_reuse reuse[INSTR_REUSE_ENGINES];
	struct reuse_tally reuse_tally;
	struct cpu_place place;
	struct instr_path *path; /* NULL: none was asked for yet */
	/* For who reads its counts: count.c. */
	struct thread *next;
	struct instr_copy copy[INSTR_LIBRARIES_MAX];
	_Atomic uint32_t sequence;
	uint64_t read; /* accesses, as another thread last read them */
	/* As its registers are set: rearm.c. */
	struct instr_bank *bank; /* NULL: none */
	struct instr_slot armed[COMM_REGISTERS_MAX];
	bool by_hooks;                 /* found no bank */
	const struct instr_call *from; /* of the event */
	struct instr_awaited awaited;
	struct exact_thread *exact;
	/* comm's, in software. */
	struct watch_range watched[COMM_REGISTERS_MAX];
	uint32_t watches;
	/* What transfer_trap said of a slot, so armed. */
	struct {
		uint32_t generation;
		enum transfer_need need;
	} need[TRANSFER_SLOTS_MAX];
};

enum instr_found {
	INSTR_NONE,
	INSTR_HOOKS,     /* ours: the source can be used */
	INSTR_TOO_NEW,   /* ours, of another version */
	INSTR_SANITIZER, /* ThreadSanitizer itself */
};

/* What is in this process. Context: set-up. */
enum instr_found instr_look(void);

/*
 * Is it to be the source of this process? Returns -1 with one line for people
 * in @why if it cannot be and is asked for, or if nothing can. Context: set-up.
 */
int instr_choose(char *why, size_t size);

/*
 * Start, after instr_choose said 1; @sigtrap: debug registers can be told
 * of by synchronous signals. Something that is worth saying goes to @why.
 * Returns 0 or -errno. Context: set-up.
 */
int instr_start(bool sigtrap, char *why, size_t size);

/* The source in words, into the file. Context: set-up. */
void instr_describe(struct cdp_header *h, const char *why);

/* Is this the source of this process? Any context. */
bool instr_is_source(void);

/* Time for runtime.comm: accesses of all threads. Any context. */
uint64_t instr_ticks(void);

/* @t, the calling thread, begins, before it runs any code of the program's. */
void instr_thread_begin(struct thread *t);
/* The calling thread ends. */
void instr_thread_end(struct thread *t);

/*
 * Write the results; with @last nothing more will come, else the process may
 * go on if it cannot execute another program.
 */
void instr_finish(bool last);

/* Tell the hooks to count for themselves. Any context. */
void instr_stop(void);

/* In a forked child: what was inherited is let go. Context: set-up. */
void instr_after_fork(void);

/* A register of all threads trapped, as @what says. Context: handler. */
void instr_trap(struct thread *t, const struct watch_signal *what,
		const struct cpu_state *cpu);
/* What trapped, as @what says, is to trap no more. Context: handler. */
void instr_let_go(const struct watch_signal *what);

/* ---- between the parts --------------------------------------------------- */

/* libraries.c: how many there have been, and one of them or NULL. Any. */
int instr_libraries(void);
struct instr_library *instr_library(int i);

/* source.c */
void instr_listen_to(struct instr_library *l);
void instr_part_from(struct instr_library *l);

/* event.c */
enum {
	INSTR_JITTER_SHARE = 8 /* of the period is the width of the jitter */
};
void instr_events_init(void);
instr_listener instr_listen;
/* The calling thread's next access of each class is an event. */
void instr_expect(struct instr_thread *h);
/* What an access of the hooks' own is taken for: the program's call of them. */
void instr_attribute(struct access *a);
/* What the calling thread has counted is not of this process. */
void instr_forget(struct instr_thread *h);
/* The engines get to know the calling thread, at its first event or trap. */
void instr_begin(struct thread *t);
/* Move the counts of @t, the calling thread, from the hooks to its row. */
void instr_flush(struct thread *t);
/* Accesses of @t, the calling thread, up to now. */
uint64_t instr_accesses(const struct thread *t);
/* When no hook tells any more: wait a while for those that still do. */
void instr_drain(void);

/* watch.c */

/* Arms in the estimator's name, and for comm in software. */
extern const struct transfer_watch instr_software, instr_hardware;
extern const struct comm_watch instr_software_comm;

/* Nothing is watched any more, and registers are closed. Any context. */
void instr_watch_close(void);

/*
 * Accesses that touch the @bytes at @addr are to be told of once more, or once
 * less. Any context.
 */
void instr_watch_mark(uint64_t addr, uint64_t bytes, int change);

/* Slots whose line is within @bytes at @addr, as bits. Any context. */
uint32_t instr_watch_slots(uint64_t addr, uint64_t bytes);

/* As what @slot is armed. Any context. */
uint32_t instr_watch_generation(uint32_t slot);

/*
 * Does @a touch the line of @slot, and as what was it armed when it did? What
 * is gone by then, the estimator knows by its generation. Any context.
 */
bool instr_watch_touches(uint32_t slot, const struct access *a,
			 uint32_t *generation);

/*
 * Open @n debug registers for all threads and try each. Returns how many
 * work; *@line: each covers a line. Context: set-up, the handler being
 * installed.
 */
int instr_watch_open(int n, bool *line);

/* What a register that trapped as @what watches; false: no longer. Any. */
bool instr_watch_register(const struct watch_signal *what,
			  struct watch_range *range, uint32_t *slot,
			  uint32_t *index, uint32_t *generation);

/*
 * regpool.c: debug registers of the calling thread. Context: handler, except
 * where it says another.
 */
void instr_bank_init(void); /* set-up */
/* Has the thread registers, or could it open some? */
bool instr_bank_take(struct thread *t);
/*
 * Register @reg of the thread, which has some, traps it at accesses to @w, or
 * at stores only. Returns 0 or -errno.
 */
int instr_bank_set(struct thread *t, int reg, const struct watch_range *w,
		   bool stores_only);
void instr_bank_off(struct thread *t, int reg);
void instr_bank_end(struct thread *t);
/* Of all threads. Any context. */
void instr_bank_close_all(void);

/* rearm.c: with registers of each thread, context as above. */
void instr_poke_init(void); /* set-up */
/* The calling thread's hooks @h are to be told by @copy of it. */
void instr_poke_begin(struct thread *t, struct instr_copy *copy,
		      struct instr_thread *h);
/* The next access of @t, that began, is an event. With the lock of counts. */
void instr_poke(struct thread *t);
/* Was the calling thread poked, and has not answered? Any context. */
bool instr_poke_is_due(const struct thread *t);
/* Its registers are set as the slots say. */
void instr_poke_answer(struct thread *t);
/* Its register @reg is set free. */
void instr_poke_off(struct thread *t, int reg);
/*
 * What the thread's access was that trapped it by @s, as far as the processor
 * and the code tell.
 */
struct access instr_poke_access(struct thread *t, const struct instr_slot *s,
				const struct cpu_state *cpu);
/* The calling thread's hooks of @l look into its own table. Any context. */
void instr_poke_end(struct instr_library *l);

/* frames.c: without config.paths nothing happens. */
int instr_frames_init(void);
/*
 * The hooks @h of the calling thread, @t or NULL, keep their frames from here
 * on. Any context.
 */
void instr_frames_begin(struct thread *t, struct instr_thread *h);
void instr_frames_end(struct thread *t);
/* In a forked child. */
void instr_frames_forget(struct instr_thread *h);
/*
 * What the engines are told from here on is the access of @t, the calling
 * thread, at @ip, with stack pointer @sp: find its path. Context: handler.
 */
void instr_frames_path(struct thread *t, uint64_t sp, uint64_t ip);
/* Calls that found no room, and paths that are not complete. */
uint64_t instr_frames_lost(void);

/* transfer.c: with an estimator only. */
int instr_transfer_init(bool hardware, bool lines, uint32_t registers);
void instr_transfer_start(struct thread *t);
void instr_transfer_sample(struct thread *t, const struct access *a);
void instr_transfer_trap(struct thread *t, uint32_t slot, uint32_t generation,
			 uint32_t range, const struct access *a);
/* May the access tell something, of what slot @slot watches? Any context. */
bool instr_transfer_needs(const struct thread *t, uint32_t slot,
			  uint32_t flags);
void instr_transfer_finish(bool last);

/* count.c: a thread that begins and ends here can be read by others. */
void instr_count_init(void);
void instr_count_begin(struct thread *t);
void instr_count_end(struct thread *t);
/* The calling thread changes several words of its counts together. */
void instr_count_change(struct thread *t);
void instr_count_changed(struct thread *t);
/* Accesses of thread @id; false: there is none. Context: handler. */
bool instr_count_thread(uint32_t id, uint64_t *count);
/* Poke all threads but @t, the calling one. Context: handler. */
void instr_count_poke(const struct thread *t);
/* Accesses of the threads under cache @domain, ended ones too. The same. */
uint64_t instr_count_domain(uint32_t domain);

/* place.c: returns -EINVAL with @error set. Context: set-up. */
int instr_place_read(char *const *env, char *error, size_t size);
/* Of a thread by the number of its row. Any context. */
struct cpu_place instr_place(uint32_t thread);

/*
 * reuse.c: with config.reuse only. @registers to watch with, 0: in
 * software. @sp is the stack pointer at an access.
 */
int instr_reuse_init(uint32_t registers);
/* Is this the source, with reuse times by registers? Any context. */
bool instr_reuse_by_registers(void);
/* What a register is to watch for slot @slot; false: nothing. Any context. */
bool instr_reuse_slot(uint32_t slot, struct instr_slot *s);
void instr_reuse_start(struct thread *t);
void instr_reuse_end(struct thread *t);
/* May the access decide about a use? Any context. */
bool instr_reuse_watches(const struct thread *t, const struct access *a);
void instr_reuse_trap(struct thread *t, const struct access *a, uint64_t sp);
void instr_reuse_sample(struct thread *t, const struct access *a, uint64_t sp);
/*
 * A register of the calling thread's trapped, as @what says. Context: handler.
 */
void instr_reuse_register(struct thread *t, const struct watch_signal *what,
			  const struct cpu_state *cpu);
/*
 * The thread's next hook after a sample was called at @ip, in the call. Was it
 * the one that a use waits for to be armed? Else that use is lost.
 */
void instr_reuse_hook(struct thread *t, uint64_t ip);

/*
 * What @t does from where a hook returns to @from up to its next hook. Returns
 * where that is called, if the bytes @w are accessed once until then, and 0 if
 * they are not, or if it cannot be told. Context: an event of @t.
 */
uint64_t instr_ahead(struct thread *t, const struct instr_call *from,
		     const struct watch_range *w);

/* Uses that are still watched dangle. */
void instr_reuse_finish(void);

/* exact.c: with config.exact only. */
int instr_exact_init(void);
void instr_exact_start(struct thread *t);
void instr_exact_end(struct thread *t);
void instr_exact_access(struct thread *t, const struct access *a);
/* Write the results. Returns how many threads took an earlier one's place. */
uint32_t instr_exact_finish(void);

#endif
