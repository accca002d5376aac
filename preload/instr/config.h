/* SPDX-License-Identifier: MIT */
/*
 * config - what the environment asks of the source instr
 */
#ifndef COMDET_PRELOAD_INSTR_CONFIG_H
#define COMDET_PRELOAD_INSTR_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum instr_wish {
	INSTR_UNWANTED, /* another source is asked for */
	INSTR_WELCOME,  /* taken if the program has hooks */
	INSTR_DEMANDED
};

enum instr_algorithm {
	INSTR_BEST,         /* the best one for the kind of watches */
	INSTR_COMDETECTIVE, /* a map of communication */
	INSTR_EPOCH,        /* these estimate counts: src/engine/transfer.h */
	INSTR_CHAIN
};

enum {
	INSTR_REUSE_SLOTS_MAX = 240, /* of all engines together */
};

struct instr_config {
	enum instr_wish wish;
	enum instr_algorithm algorithm;
	uint64_t period; /* accesses of a thread per sample; 0: take none */
	bool hardware;   /* watch with debug registers */
	bool exact;      /* count every transfer */
	bool comm;       /* detect communication */
	bool reuse;      /* measure reuse times */
	uint32_t scopes; /* of reuse, bits by enum reuse_scope */
	uint32_t granularities; /* for each scope, enum reuse_granularity */
	uint32_t slots;         /* uses that each of these watches at once */
	bool paths;             /* record the calls of use and reuse */
};

/* Constant after set-up. */
extern struct instr_config instr_config;

/*
 * Fill in instr_config from @env. Returns 0, or -EINVAL with one line for the
 * user in @error. Context: set-up.
 */
int instr_config_read(char *const *env, char *error, size_t size);

#endif
