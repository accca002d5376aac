/* SPDX-License-Identifier: MIT */
/*
 * count_plugin - the smallest plugin that counts loads and stores
 *
 * It adds to the running time what QEMU takes to call a plugin at each access;
 * the benchmark compares the source emu with it.
 */
#include <stdio.h>

#include "preload/emu/qemu_plugin_abi.h"

enum {
	VCPUS = 64
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;

static struct {
	uint64_t loads, stores, mix;
} __attribute__((aligned(64))) counts[VCPUS];

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info,
		      uint64_t addr, void *data)
{
	vcpu %= VCPUS;
	if (qemu_plugin_mem_is_store(info))
		counts[vcpu].stores++;
	else
		counts[vcpu].loads++;
	counts[vcpu].mix ^= addr;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	for (size_t i = qemu_plugin_tb_n_insns(tb); i--;)
		qemu_plugin_register_vcpu_mem_cb(
			qemu_plugin_tb_get_insn(tb, i), on_access,
			QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

static void on_end(qemu_plugin_id_t id, void *data)
{
	uint64_t loads = 0, stores = 0;

	for (int i = 0; i < VCPUS; i++) {
		loads += counts[i].loads;
		stores += counts[i].stores;
	}
	fprintf(stderr, "counted %llu loads %llu stores\n",
		(unsigned long long)loads, (unsigned long long)stores);
}

int qemu_plugin_install(qemu_plugin_id_t id,
			const struct qemu_plugin_info *info, int argc,
			char **argv)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
