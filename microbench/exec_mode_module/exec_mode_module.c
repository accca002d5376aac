/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * exec_mode_module - the half of Exec-Mode in the kernel
 *
 * An ioctl on /dev/reusetrack_exec_mode executes one locked addition, and
 * nothing else; see ../exec_mode.c. For the time of a measurement only.
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

enum {
	TEST_COMMAND = 0x67
};

static int word;

static long on_ioctl(struct file *file, unsigned int command,
		     unsigned long argument)
{
	if (command != TEST_COMMAND)
		return -ENOTTY;
	__asm__ volatile("lock addl $1, %0" : "+m"(word));
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = on_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "reusetrack_exec_mode",
	.fops = &operations,
};

module_misc_device(device);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("One locked addition for each ioctl");
