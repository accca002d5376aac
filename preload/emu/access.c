/* SPDX-License-Identifier: MIT */
/*
 * access - what runs after each access of the program
 *
 * There is a callback for each combination of measurements, so that none tests
 * for a measurement that is off. Each counts the access down, and calls
 * emu_sample_event when a counter overflows, the thread's turn ends, or the
 * access may be watched.
 */
#include "access.h"
#include "parts.h"
#include "reuse.h"
#include "reuse_exact.h"
#include "sample.h"
#include "state.h"
#include "trace_thread.h"
#include "transfer.h"
#include "src/engine/reuse_table.h"

/*
 * How QEMU 7.2 packs an access into its information: bits 16 and 17 mean load
 * and store, bits 4 to 6 are the log2 of the width. QEMU's functions that
 * decode it cost more than everything else we do for an access. So we compare
 * this layout with them once, and call them for each access only if they
 * disagree.
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
	if (__builtin_expect((--v->until[counter] < 0) |
				     ((v->turn -= EMU_TURN_ACCESS) < 0) |
				     (addr - v->watch_low < v->watch_span) |
				     watched,
			     0))
		emu_sample_event(v, class, addr, (uintptr_t)ip);
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
	struct access a = emu_make_access(class, addr, (uintptr_t)ip);

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

/* For watches over all threads, with or without exact counts. */
static void on_access_watched(unsigned int index, qemu_plugin_meminfo_t info,
			      uint64_t addr, void *ip)
{
	unsigned int class = known_info ? known_class(info) : asked_class(info);
	uint8_t watched;

	if (__builtin_expect(index >= EMU_VCPUS_MAX, 0))
		return;
	take_exactly(&emu.vcpu[index], class, addr, ip);
	watched = emu_transfer_watches(addr);
	take_access(index, class, addr, ip, watched);
}

/* For reuses, with or without anything else. */
static void on_access_reuse(unsigned int index, qemu_plugin_meminfo_t info,
			    uint64_t addr, void *ip)
{
	unsigned int class = known_info ? known_class(info) : asked_class(info);
	struct vcpu *v = &emu.vcpu[index];
	bool watched;

	if (__builtin_expect(index >= EMU_VCPUS_MAX, 0))
		return;
	take_exactly(v, class, addr, ip);
	if (atomic_load_explicit(&v->reuse_exact, memory_order_relaxed)) {
		struct access a = emu_make_access(class, addr, (uintptr_t)ip);

		emu_reuse_exact_access(v, &a);
	}
	watched = emu_transfer_watches(addr) |
		  reuse_may_watch(emu_reuse_bytes, addr,
				  1u << (class & EMU_CLASS_SHIFT));
	take_access(index, class, addr, ip, watched);
}

/* For instructions whose access comes in parts, whatever is measured. */
static void on_access_part(unsigned int index, qemu_plugin_meminfo_t info,
			   uint64_t addr, void *data)
{
	unsigned int class = known_info ? known_class(info) : asked_class(info);
	struct vcpu *v = &emu.vcpu[index];
	struct access a;
	bool first;

	if (__builtin_expect(index >= EMU_VCPUS_MAX, 0))
		return;
	a = emu_make_access(class, addr, (uintptr_t)data & EMU_PARTS_ADDRESS);
	first = emu_parts_begin(v, &a, (uintptr_t)data >> EMU_PARTS_SHIFT);
	if (first && v->directory)
		exact_access(v->directory, &v->exact, &v->parts.whole, v->core);
	if (atomic_load_explicit(&v->reuse_exact, memory_order_relaxed))
		emu_reuse_exact_access(v, &a);
	emu_sample_part(v, class, &a, first);
}

static void flush_and_take(struct vcpu *v, unsigned int class, uint64_t addr,
			   const struct trace_site *site);

/*
 * The thread's accesses are counted as they are without a trace. Nothing is
 * sampled, so only the end of the turn is an event.
 */
static inline __attribute__((always_inline)) void take_traced(
	struct vcpu *v, unsigned int class, uint64_t addr,
	const struct trace_site *site)
{
	struct trace_thread *t = v->trace;

	if (__builtin_expect(t && trace_thread_takes(t, site), 1)) {
		if (trace_thread_is_full(t)) {
			flush_and_take(v, class, addr, site);
			return;
		}
		trace_thread_access(t, site, addr, class & EMU_CLASS_STORE);
	}
	v->count[class]++;
	if (__builtin_expect((v->turn -= EMU_TURN_ACCESS) < 0, 0))
		emu_sample_event(v, class, addr, site->ip);
}

static __attribute__((noinline)) void flush_and_take(
	struct vcpu *v, unsigned int class, uint64_t addr,
	const struct trace_site *site)
{
	emu_trace_flush(v->trace);
	take_traced(v, class, addr, site);
}

static void on_access_trace(unsigned int index, qemu_plugin_meminfo_t info,
			    uint64_t addr, void *site)
{
	if (__builtin_expect(index < EMU_VCPUS_MAX, 1))
		take_traced(&emu.vcpu[index], known_class(info), addr, site);
}

static void on_access_trace_asked(unsigned int index,
				  qemu_plugin_meminfo_t info, uint64_t addr,
				  void *site)
{
	if (index < EMU_VCPUS_MAX)
		take_traced(&emu.vcpu[index], asked_class(info), addr, site);
}

/* For a trace that is whole in parts. */
static __attribute__((noinline)) void take_quick_access(
	unsigned int index, qemu_plugin_meminfo_t info, uint64_t addr,
	void *site)
{
	unsigned int class = known_info ? known_class(info) : asked_class(info);
	bool store = class & EMU_CLASS_STORE;
	uint64_t line = addr >> EMU_LINE_SHIFT;
	struct quick_thread *q;
	struct trace_thread *t;
	struct vcpu *v;

	if (index >= EMU_VCPUS_MAX)
		return;
	v = &emu.vcpu[index];
	emu_quick_settle(v);
	q = v->quick;
	t = v->trace;
	if (q) {
		q->accesses++;
		q->settled++;
	}
	if (t && t->on && !quick_knows(&t->quick, line, store))
		emu_quick_use(v, line, store);
	if (!q) {
		take_traced(v, class, addr, site);
		return;
	}
	v->count[class]++;
	v->turn -= EMU_TURN_ACCESS;
	if (v->turn < 0)
		emu_sample_event(v, class, addr,
				 ((const struct trace_site *)site)->ip);
	emu_quick_grant(v);
}

/* The same where nothing is to be done but to count, as mostly. */
static void on_access_quick(unsigned int index, qemu_plugin_meminfo_t info,
			    uint64_t addr, void *site)
{
	unsigned int class = known_class(info);
	struct quick_thread *q;
	struct vcpu *v;

	if (__builtin_expect(index >= EMU_VCPUS_MAX, 0))
		return;
	v = &emu.vcpu[index];
	q = v->quick;
	if (__builtin_expect(!q || q->budget < EMU_TURN_ACCESS ||
				     !quick_knows(q, addr >> EMU_LINE_SHIFT,
						  class & EMU_CLASS_STORE),
			     0)) {
		take_quick_access(index, info, addr, site);
		return;
	}
	q->budget -= EMU_TURN_ACCESS;
	q->accesses++;
	v->count[class]++;
}

qemu_plugin_mem_cb emu_access_part_callback(void)
{
	return on_access_part;
}

qemu_plugin_mem_cb emu_access_callback(void)
{
	known_info = info_is_as_known();
	if (emu.config.quick)
		return known_info ? on_access_quick : take_quick_access;
	if (emu.config.trace)
		return known_info ? on_access_trace : on_access_trace_asked;
	if (emu_measures(EMU_REUSE_MODES))
		return on_access_reuse;
	if (emu.config.algorithm != EMU_COMDETECTIVE)
		return on_access_watched;
	if (emu.config.exact)
		return on_access_exact;
	return known_info ? on_access_known : on_access_asked;
}
