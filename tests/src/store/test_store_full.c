/* SPDX-License-Identifier: MIT */
/*
 * test_store_full - pages that change again on a full disk
 *
 * A page that was written to disk and changes again must not need a new block:
 * none is left, and the profiled program would get SIGBUS. Tried on small file
 * systems, which need the right to mount and, but for tmpfs, a loop device.
 *
 * covers: src/store/store.c
 */
#include <linux/fs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "tests/sandbox.h"
#include "src/store/store.h"
#include "tests/run_suite.h"

enum {
	PAGES = 64,
	ROUNDS = 3,
};

static const struct {
	const char *type, *make, *size;
} disks[] = {
	{ "tmpfs", NULL, "4M" },
	{ "ext4", "mkfs.ext4 -q", "20M" },
	{ "btrfs", "mkfs.btrfs -q -m single -d single", "120M" },
};

static char at[128];

static bool run(const char *command)
{
	return !system(command);
}

/* False, with the reason, if this machine does not let us. */
static bool mount_disk(int i)
{
	char command[512];

	snprintf(at, sizeof(at), "%s/disk", sandbox);
	mkdir(at, 0700);
	if (disks[i].make)
		snprintf(command, sizeof(command),
			 "exec >/dev/null 2>&1; cd %s && rm -f image && "
			 "truncate -s %s image && %s image && mount -o loop "
			 "image disk",
			 sandbox, disks[i].size, disks[i].make);
	else
		snprintf(command, sizeof(command),
			 "mount -t tmpfs -o size=%s none %s 2>/dev/null",
			 disks[i].size, at);
	if (run(command))
		return true;
	fprintf(stderr, "skipped: cannot make and mount %s here\n",
		disks[i].type);
	return false;
}

static void fill_disk(int dir)
{
	static char noise[65536];
	int fd = openat(dir, "filler", O_WRONLY | O_CREAT, 0600);

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)random();
	for (size_t n = sizeof(noise); n >= 512; n /= 2)
		while (write(fd, noise, n) == (ssize_t)n)
			;
	syncfs(fd);
	close(fd);
}

/* Change the pages again and again, each time after they were written out. */
static void change(volatile char *map, int dir)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < PAGES; i++)
			map[i * CDP_PAGE_BYTES + CDP_PAGE_HEADER_BYTES]++;
		syncfs(dir);
	}
}

static void of_store(int dir)
{
	struct store s;

	if (store_create(&s, dir, "a.cdp", 1 << 20))
		_exit(2);
	for (int i = 1; i < PAGES; i++)
		if (!store_page(&s, CDP_PAIRS))
			_exit(2);
	change(s.map, dir);
	fill_disk(dir);
	change(s.map, dir);
}

/* What the kernel does with a file that must not need a block. */
static void of_kernel(int dir)
{
	int fd = openat(dir, "plain", O_RDWR | O_CREAT, 0600), flags = 0;
	size_t bytes = PAGES * CDP_PAGE_BYTES;
	char *map;

	ioctl(fd, FS_IOC_GETFLAGS, &flags);
	flags |= FS_NOCOW_FL;
	ioctl(fd, FS_IOC_SETFLAGS, &flags);
	if (fallocate(fd, 0, 0, bytes))
		_exit(2);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		_exit(2);
	change(map, dir);
	fill_disk(dir);
	change(map, dir);
}

/*
 * Run @what on a new disk of kind @i: 0, the signal or status that ended it, or
 * -1 without such a disk.
 */
static int on_disk(int i, void (*what)(int dir))
{
	int dir, status;
	pid_t pid;

	if (!mount_disk(i))
		return -1;
	dir = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir, 0);
	pid = fork();
	if (!pid) {
		signal(SIGBUS, SIG_DFL); /* not a sanitizer's */
		what(dir);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	close(dir);
	umount2(at, MNT_DETACH);
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

START_TEST(pages_change_again_on_a_full_disk)
{
	int kernel = on_disk(_i, of_kernel), ours;

	if (kernel < 0)
		return;
	if (kernel == 1000 + SIGBUS) {
		fprintf(stderr,
			"skipped: this kernel's %s takes new blocks "
			"for files that are not copied on write\n",
			disks[_i].type);
		return;
	}
	ck_assert_int_eq(kernel, 0);
	ours = on_disk(_i, of_store);
	ck_assert_int_eq(ours, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("store_full");
	TCase *t = tcase_create("store_full");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_loop_test(t, pages_change_again_on_a_full_disk, 0, 3);
	suite_add_tcase(s, t);
	return run_suite(s);
}
