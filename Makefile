# SPDX-License-Identifier: MIT
# One Makefile, no recursion. `make help` lists the targets.

# Debian packages, the one list. `make deps` installs what is missing.
DEPS_BUILD := gcc g++ libc6-dev libc6-dbg libpfm4-dev libunwind-dev libdw-dev \
	check libzydis-dev libhwloc-dev libjansson-dev pkg-config
DEPS_CHECK := spin binutils clang-format procps python3 gdb libubsan1 libasan8 \
	libtsan2 man-db

CC := gcc
B := build
comma := ,
CFLAGS ?= -O2 -g
CSTD := -std=gnu11 -D_GNU_SOURCE
WARN := -Wall -Wextra -Wno-unused-parameter -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Werror=implicit-function-declaration

# make SAN=address,undefined and SAN=thread build beside the normal tree.
ifdef SAN
B := build/san-$(firstword $(subst $(comma), ,$(subst -, ,$(SAN))))
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
endif
O := $(B)/obj
ALL_CFLAGS = $(CSTD) $(WARN) $(CFLAGS) $(SANFLAGS) -fPIC \
	-fvisibility=hidden -MMD -MP -pthread

# ---- what there is -------------------------------------------------------
SRC := $(wildcard src/*.c)
PRELOAD := $(wildcard preload/*.c)
ANALYSIS := $(wildcard analysis/*.c)
MICROBENCH := $(wildcard microbench/*.c)
UNIT := $(wildcard tests/test_*.c)
HELPERS := $(wildcard tests/help_*.c)
SCRIPTS := $(wildcard tests/check_*.sh)

# The part of preload/ that knows no operating system, for the unit tests.
PURE := decode decode_forms interp interp_int interp_flow interp_string \
	interp_sse interp_avx choose backdecode
PURE_OBJ = $(patsubst preload/%.c,$(O)/preload/%.o,$(filter \
	$(PURE:%=preload/%.c) $(wildcard preload/decode*.c preload/interp*.c), \
	$(PRELOAD)))

SRC_OBJ := $(SRC:%.c=$(O)/%.o)
PRELOAD_OBJ := $(PRELOAD:%.c=$(O)/%.o)
ANALYSIS_OBJ := $(ANALYSIS:%.c=$(O)/%.o)
ANALYSIS_LIB_OBJ := $(filter-out $(O)/analysis/main.o,$(ANALYSIS_OBJ))

LIBS_PRELOAD := -lZydis -ldl
LIBS_ANALYSIS := -ljansson -ldw -lelf -lhwloc -lstdc++ -lm
LIBS_TEST := -lcheck -lsubunit -lrt -lm

ALL := $(B)/libcomdet.so $(B)/reusetrack \
	$(MICROBENCH:microbench/%.c=$(B)/microbench/%)

.PHONY: all
all: $(ALL)

# demo and check work on a machine that has only git and make: there the
# packages come first. A plain `make` installs nothing.
ifneq ($(filter demo check check-% bench accuracy,$(MAKECMDGOALS)),)
DEPS_FIRST := deps
endif

$(O)/%.o: %.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I. -c -o $@ $<

# Statistics are for the analysis; they alone need libm.
$(B)/libcomdet.so: $(filter-out $(O)/src/interval.o,$(SRC_OBJ)) $(PRELOAD_OBJ)
	$(CC) $(CFLAGS) $(SANFLAGS) -shared -pthread -Wl,-z,now -Wl,-z,defs \
		-Wl,-soname,libcomdet.so -o $@ $^ $(LIBS_PRELOAD)

$(B)/reusetrack: $(SRC_OBJ) $(ANALYSIS_OBJ)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ $(LIBS_ANALYSIS)

$(B)/microbench/%: microbench/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -pthread -MMD -MP -MF $@.d -o $@ $< -lm

$(B)/tests/test_%: $(O)/tests/test_%.o $(SRC_OBJ) $(PURE_OBJ) $(ANALYSIS_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ $(LIBS_TEST) \
		$(LIBS_PRELOAD) $(LIBS_ANALYSIS)

$(B)/tests/help_%: tests/help_%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -pthread -I. -MMD -MP -MF $@.d -o $@ $< \
		-lm -ldl

TESTS := $(UNIT:tests/%.c=$(B)/tests/%)
.PHONY: tests
tests: $(TESTS) $(HELPERS:tests/%.c=$(B)/tests/%)

# ---- packages ------------------------------------------------------------
.PHONY: deps
deps:
	@docs=; for p in $(DEPS_BUILD) $(DEPS_CHECK); do \
		dpkg-query -W -f '$${Status}' $$p 2>/dev/null | \
			grep -q 'ok installed' || docs="$$docs $$p"; \
	done; \
	[ -z "$$docs" ] && exit 0; \
	echo "installing:$$docs"; \
	sudo=; [ $$(id -u) = 0 ] || sudo=sudo; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$sudo apt-get -qq update && \
	$$sudo apt-get -qq install -y --no-install-recommends $$docs >/dev/null

-include $(shell find $(B) -name '*.d' 2>/dev/null)
