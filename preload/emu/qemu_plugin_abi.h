/* SPDX-License-Identifier: MIT */
/*
 * qemu_plugin_abi - the interface between QEMU 7.2 and its plugins
 *
 * Debian does not package QEMU's own header. The parts of the plugin interface,
 * version 1, that we need are few and documented ("QEMU TCG Plugins" in the
 * developers' manual), so they are declared here. A callback runs on the thread
 * of its emulated processor. Handles are valid during the callback that gets
 * them.
 */
#ifndef COMDET_PRELOAD_EMU_QEMU_PLUGIN_ABI_H
#define COMDET_PRELOAD_EMU_QEMU_PLUGIN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	QEMU_PLUGIN_API = 1
};

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t; /* opaque: see the calls below */
struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_plugin_info {
	const char *target_name; /* "x86_64" */
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus, max_vcpus;
		} system;
	};
};

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS
};

enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W,
	QEMU_PLUGIN_MEM_RW
};

typedef void (*qemu_plugin_vcpu_cb)(qemu_plugin_id_t id, unsigned int vcpu);
typedef void (*qemu_plugin_tb_cb)(qemu_plugin_id_t id,
				  struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_mem_cb)(unsigned int vcpu,
				   qemu_plugin_meminfo_t info, uint64_t addr,
				   void *data);
typedef void (*qemu_plugin_insn_cb)(unsigned int vcpu, void *data);
typedef void (*qemu_plugin_exit_cb)(qemu_plugin_id_t id, void *data);
typedef void (*qemu_plugin_syscall_cb)(qemu_plugin_id_t id, unsigned int vcpu,
				       int64_t number, uint64_t a1, uint64_t a2,
				       uint64_t a3, uint64_t a4, uint64_t a5,
				       uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_plugin_syscall_ret_cb)(qemu_plugin_id_t id,
					   unsigned int vcpu, int64_t number,
					   int64_t result);

/* Called in the thread that creates the new one. */
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id,
				       qemu_plugin_vcpu_cb cb);
/* Called in the thread that ends; not for threads alive at the end. */
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id,
				       qemu_plugin_vcpu_cb cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   qemu_plugin_tb_cb cb);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id,
					  qemu_plugin_syscall_cb cb);
/* Not called for system calls that do not return. */
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
					      qemu_plugin_syscall_ret_cb cb);
/* When it is called, no other callback runs or follows. */
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_cb cb,
				    void *data);

/*
 * Register one for each instruction: if the emulator makes an access in a
 * helper function, version 7.2 stops at the first of several callbacks that
 * does not ask for this kind of access.
 */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      qemu_plugin_mem_cb cb,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *data);

/* Called before the block is executed. */
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  qemu_plugin_insn_cb cb,
					  enum qemu_plugin_cb_flags flags,
					  void *data);

/* Called before the instruction is executed. */
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_insn_cb cb,
					    enum qemu_plugin_cb_flags flags,
					    void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *,
						 size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

/* A read-modify-write in one access counts as a store. */
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);

/* Allocated with malloc; available from the first translation on. */
const char *qemu_plugin_path_to_binary(void);

/* Where the program's first executable segment is, from then on. */
uint64_t qemu_plugin_start_code(void);

/* What we export. */
#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
					   const struct qemu_plugin_info *info,
					   int argc, char **argv);

#endif
