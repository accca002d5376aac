/* SPDX-License-Identifier: MIT */
/*
 * rights - keep what watching needs, and drop everything else
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "rights.h"
#include "analysis/base/util.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

enum {
	WORDS = _LINUX_CAPABILITY_U32S_3,
};

static const int kept[] = { CAP_PERFMON, CAP_SYS_PTRACE };

void rights_drop(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[WORDS];
	uint32_t keep[WORDS] = { 0 };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		keep[CAP_TO_INDEX(kept[i])] |= CAP_TO_MASK(kept[i]);
	/* The bounding set needs CAP_SETPCAP, which goes after it. */
	for (int c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
		if (!(keep[CAP_TO_INDEX(c)] & CAP_TO_MASK(c)))
			prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &h, data))
		die("cannot read our capabilities: %s", strerror(errno));
	for (int i = 0; i < WORDS; i++) {
		data[i].permitted &= keep[i];
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &h, data) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("cannot drop our capabilities: %s", strerror(errno));
}
