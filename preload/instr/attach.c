/* SPDX-License-Identifier: MIT */
/*
 * attach - copies of the hooks that come and go with a library
 *
 * A copy in a library that the program loads calls comdet_instr_attach from its
 * constructor and comdet_instr_detach from its destructor, under the lock of
 * the loader.
 */
#include "counters.h"
#include "event.h"
#include "libraries.h"
#include "source.h"
#include "preload/core/thread.h"
#include "preload/signal/real.h"

EXPORT void comdet_instr_attach(struct instr_library *l);
EXPORT void comdet_instr_attach(struct instr_library *l)
{
	if (instr_is_source() && runtime_is_ours() && instr_libraries_add(l))
		instr_event_connect(l);
}

EXPORT void comdet_instr_detach(struct instr_library *l);
EXPORT void comdet_instr_detach(struct instr_library *l)
{
	if (!instr_libraries_was_added(l))
		return;
	if (instr_is_source() && runtime_is_ours()) {
		instr_event_disconnect(l);
		if (thread_self())
			instr_counters_flush_all(thread_self());
	}
	instr_libraries_remove(l);
}
