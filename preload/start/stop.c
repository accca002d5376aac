/* SPDX-License-Identifier: MIT */
/*
 * stop - end profiling while the program goes on
 */
#include <stdio.h>

#include "describe.h"
#include "stop.h"
#include "preload/core/maps.h"
#include "preload/core/runtime.h"
#include "preload/core/stderr_line.h"
#include "preload/handler/handler.h"
#include "preload/watch/watch.h"

void runtime_stop(const char *why)
{
	struct cdp_header *h = runtime.store.header;

	if (!runtime_active())
		return;
	runtime_set_active(false);
	runtime.source->pause();
	handler_drain();
	if (runtime.source->stop)
		runtime.source->stop();
	watch_close_all();
	runtime.stopped = true;
	maps_finish();
	snprintf(h->note, sizeof(h->note), "%s", why);
	describe_end(h, CDP_STOPPED);
	stderr_line(why);
}
