/* SPDX-License-Identifier: MIT */
/*
 * guest - read the memory of the program, which may not be mapped
 */
#include <sys/uio.h>
#include <unistd.h>

#include "guest.h"
#include "state.h"

bool emu_guest_read(uint64_t addr, void *to, size_t n)
{
	struct iovec local = { to, n };
	struct iovec remote = { (void *)(addr + emu.guest_base), n };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
	       (ssize_t)n;
}

bool emu_guest_read_string(uint64_t addr, char *to, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!emu_guest_read(addr + i, to + i, 1))
			return false;
		if (!to[i])
			return true;
	}
	return false;
}
