/* SPDX-License-Identifier: MIT */
/*
 * stop - end profiling while the program goes on
 */
#include <stdio.h>

#include "describe.h"
#include "stop.h"
#include "preload/core/inside.h"
#include "preload/core/maps.h"
#include "preload/core/runtime.h"
#include "preload/core/stderr_line.h"
#include "preload/core/thread.h"
#include "preload/core/timing.h"
#include "preload/watch/watch.h"

void runtime_stop(const char *why)
{
	struct cdp_header *h = runtime.store.header;

	if (!runtime_active())
		return;
	runtime_set_active(false);
	runtime.source->pause();
	inside_drain();
	if (runtime.source->stop)
		runtime.source->stop();
	watch_close_all(true);
	runtime.stopped = true;
	inside_drain(); /* those who disarm because it was not */
	maps_finish();
	snprintf(h->note, sizeof(h->note), "%s", why);
	describe_end(h, CDP_STOPPED);
	stderr_line(why);
}

void runtime_quiet(bool quiet)
{
	struct thread *t = thread_self();

	if (!(runtime_active() || runtime_is_waiting()) ||
	    runtime.delivery != DELIVERY_SIGTRAP)
		return;
	if (quiet) {
		runtime.source->pause();
		if (t && !thread_is_another() && !t->in_handler && !t->ending)
			watch_ops.disarm(t);
	} else if (runtime_phase(now_ns()) != RUNTIME_OVER) {
		runtime.source->resume();
	}
}
