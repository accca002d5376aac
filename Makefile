# SPDX-License-Identifier: MIT
# One Makefile, no recursion but for PGO=1. `make help` lists the targets.

# What reusetrack --version prints; CHANGELOG.md has a section for it.
VERSION := 0.9.0

# The only list of Debian packages. `make deps` installs those that are missing.
DEPS_BUILD := gcc g++ libc6-dev libc6-dbg libpfm4 libpfm4-dev libunwind-dev libdw-dev \
	check libzydis-dev libhwloc-dev libjansson-dev libzstd-dev \
	libiberty-dev libmicrohttpd-dev libprotobuf-c-dev protobuf-c-compiler libsqlite3-dev \
	pkg-config binutils python3
DEPS_CHECK := python3-prometheus-client spin clang-format procps gdb libubsan1 libasan8 \
	libtsan2 man-db qemu-user valgrind linux-perf libjemalloc2 \
	libtcmalloc-minimal4 btrfs-progs e2fsprogs strace
DEPS_PROGRAMS := pigz xz-utils zstd coreutils sqlite3 redis-server redis-tools \
	memcached python3 git bash gdb golang-go default-jdk-headless jq \
	bc bzip2 lz4 mawk openssl openmpi-bin libopenmpi-dev postgresql
DEPS_SUITES := python3 libpython3.11-testsuite redis-server redis-tools tcl \
	stress-ng procps
# Compilers may come from elsewhere than Debian.
DEBUG_PACKAGES := libc6-dbg libbinutils-dbg libctf0-dbg libgprofng0-dbg \
	libpcre3-dbg libkrb5-dbg liblua5.4-0-dbg libnl-3-200-dbg libitpp8v5-dbg \
	libftdi1-dbg
DEPS_NAMES = $(DEBUG_PACKAGES) llvm $(foreach p,clang rustc:rustc go:golang-go \
	javac:default-jdk-headless node:nodejs, \
	$(if $(shell command -v $(firstword $(subst :, ,$(p)))),, \
	$(lastword $(subst :, ,$(p)))))
DEPS_BENCH := pigz xz-utils zstd coreutils python3 sqlite3 perl
DEPS_FUZZ := clang libclang-rt-14-dev
DEPS_KERNELS := qemu-system-x86 cpio

CC := gcc
B := build
comma := ,
CSTD := -std=gnu11 -D_GNU_SOURCE
WARN := -Wall -Wextra -Wno-unused-parameter -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Werror=implicit-function-declaration

# make SAN=address,undefined and SAN=thread build beside the normal tree, in half
# the time that -O2 -g would take; reports of sanitizers need no more.
ifdef SAN
CFLAGS ?= -O1 -g1
B := build/san-$(firstword $(subst $(comma), ,$(subst -, ,$(SAN))))
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
endif
# `make layers` alone needs almost every object, for its symbols only: it has a
# tree of its own without optimization, and all processors take part.
ifeq ($(MAKECMDGOALS),layers)
B := build/layers
CFLAGS ?= -O0 -g0
MAKEFLAGS += -j$(shell nproc)
endif
CFLAGS ?= -O2 -g
O := $(B)/obj

# The stack protector and fortified functions of libc; sanitizers find more, and
# without optimization there are no fortified functions. Code that runs in
# handlers and at each access goes without: it uses nothing of libc that is not
# in tests/e2e/nm_allow.txt, must not end the program, and is what profiling
# costs. The hooks replace some of the fortified functions.
HANDLER := $(shell grep -rlE '^\#include .*signal_safe\.h"' src preload \
	--include='*.c') $(wildcard preload/emu/*.c src/exact/*.c)
ifndef SAN
HARDEN = $(if $(filter $(HANDLER),$<),,-fstack-protector-strong \
	$(if $(filter-out -O0,$(filter -O%,$(CFLAGS))), \
	$(if $(filter preload/hooks/%,$<),,-U_FORTIFY_SOURCE \
	-D_FORTIFY_SOURCE=2)))
endif
# All symbols are bound when a file is loaded, and their table is then read-only.
HARDEN_LINK := -Wl,-z,relro,-z,now -Wl,-z,noexecstack
ALL_CFLAGS = $(CSTD) $(WARN) $(CFLAGS) $(HARDEN) $(SANFLAGS) $(DEFINES) -fPIC \
	-fvisibility=hidden -MMD -MP -pthread

# ---- what there is -------------------------------------------------------
# A file's folder says what it is part of; there are no lists of files.
SRC := $(shell find src -name '*.c')
EMU := $(wildcard preload/emu/*.c)
COMMON := $(wildcard preload/common/*.c)
INSTR := $(wildcard preload/instr/runtime/*.c)
GUEST := $(wildcard preload/emu/guest/*.c)
HEAP := $(wildcard preload/heap/*.c)
PRELOAD := $(filter-out $(EMU) $(INSTR) $(GUEST) $(HEAP), \
	$(shell find preload -name '*.c'))
ANALYSIS := $(shell find analysis -name '*.c')
MICROBENCH := $(wildcard microbench/*.c microbench/workloads/*.c)
UNIT := $(sort $(shell find tests -name 'test_*.c'))
HELPERS := $(wildcard tests/programs/help_*.c)
SCRIPTS := $(wildcard tests/e2e/check_*.sh)

# src/ and analysis/ become archives, from which the linker takes only the
# objects that a program or library needs. Less code means fewer resident pages.
SRC_LIB := $(B)/libsrc.a
ANALYSIS_LIB := $(B)/libanalysis.a
# Only an order: what runs around a fork is linked first, beside each other. A
# child has no page of our code at first, and pays a fault for each 64 KiB of it
# that it runs and for each page of variables that it writes.
AROUND_FORK := preload/hooks/process preload/start/process preload/start/child \
	$(addprefix preload/signal/,claimed claim sent quiet) \
	$(addprefix preload/sources/clock/,clock_source clock wake young) \
	preload/watch/own_event \
	$(addprefix preload/core/,inside vdso timing thread) preload/hooks/exit \
	preload/core/runtime src/store/sample_log src/store/store \
	preload/handler/handler preload/watch/watch preload/start/comdet
PRELOAD_OBJ := $(AROUND_FORK:%=$(O)/%.o) \
	$(patsubst %.c,$(O)/%.o,$(filter-out $(AROUND_FORK:%=%.c),$(PRELOAD)))
EMU_OBJ := $(EMU:%.c=$(O)/%.o) $(COMMON:%.c=$(O)/%.o)

LIBS_PRELOAD := -lZydis -ldl
# pkg-config runs when the recipe does, because make deps may install it first.
LIBS_ZSTD = $(shell pkg-config --libs libzstd 2>/dev/null)
LIBS_ANALYSIS = -ljansson -ldw -lelf -lhwloc -liberty -lprotobuf-c -lsqlite3 \
	-lZydis -lm $(LIBS_ZSTD)
LIBS_TEST := -lcheck -lsubunit -lrt -lm

ALL := $(B)/libcomdet.so $(B)/libcomdet-heap.so $(B)/libcomdet-qemu.so \
	$(B)/libcomdet-guest.so $(B)/libcomdet-instr.a \
	$(B)/libcomdet-instr.so $(B)/reusetrack \
	$(MICROBENCH:microbench/%.c=$(B)/microbench/%)

.PHONY: all
all: $(ALL)

# demo and check work on a machine that has only git and make: there the
# packages come first. A plain `make` installs nothing.
ifneq ($(filter demo check check-% bench bench-emu bench-instr bench-callers bench-heap bench-large bench-reuse \
	bench-predict bench-quick bench-simulate \
	accuracy score-reuse score-traces fuzz,$(MAKECMDGOALS)),)
DEPS_FIRST := deps
else
DEPS_FIRST := $(B)/deps.ok
endif

# A plain `make` looks for what it needs before the first file is compiled, and
# says how to get what is missing.
DEPS_HEADERS := Zydis/Zydis.h jansson.h elfutils/libdw.h libelf.h hwloc.h \
	libiberty/demangle.h protobuf-c/protobuf-c.h sqlite3.h
DEPS_COMMANDS := protoc-c pkg-config python3 ar
$(B)/deps.ok: Makefile
	@missing=; \
	for h in $(DEPS_HEADERS); do \
		printf '#include <%s>\n' stdio.h $$h | \
			$(CC) -fsyntax-only -x c - 2>/dev/null || \
			missing="$$missing $$h"; \
	done; \
	for c in $(DEPS_COMMANDS); do \
		command -v $$c >/dev/null || missing="$$missing $$c"; \
	done; \
	[ -z "$$missing" ] || { \
		echo "reusetrack cannot be built without:$$missing" >&2; \
		echo "'make deps' installs the Debian packages that it needs;" \
			"elsewhere install the likes of: $(DEPS_BUILD)" >&2; \
		exit 1; \
	}
	@mkdir -p $(@D) && touch $@

$(O)/%.o: %.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I. -c -o $@ $<

# With libzstd, reusetrack can read recordings that perf compressed,
# and traces are compressed.
$(O)/analysis/import/perf_data_inflate.o $(O)/analysis/model/trace_chunks.o \
$(O)/analysis/predict/workload_file.o $(O)/preload/emu/trace_file.o: DEFINES = \
	$(shell pkg-config --exists libzstd && echo -DHAVE_ZSTD)

# It holds the machine files.
$(O)/analysis/model/machine_shipped.o: $(wildcard analysis/model/machines/*)

$(O)/analysis/cmd/main.o: DEFINES = -DREUSETRACK_VERSION='"$(VERSION)"'

$(O)/analysis/html/page.o: analysis/html/page.html

# The code for the format of pprof.
PPROF := $(B)/generated/profile.pb-c
$(PPROF).c $(PPROF).h &: analysis/export/profile.proto Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	protoc-c --proto_path=analysis/export --c_out=$(B)/generated $(<F)
$(O)/analysis/export/pprof.o: $(PPROF).h
$(O)/analysis/export/pprof.o: DEFINES = -I$(B)/generated
$(O)/generated/profile.pb-c.o: $(PPROF).c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HARDEN) $(SANFLAGS) -fPIC -I$(B)/generated -c -o $@ $<

$(SRC_LIB): $(SRC:%.c=$(O)/%.o)
$(ANALYSIS_LIB): $(filter-out $(O)/analysis/cmd/main.o,$(ANALYSIS:%.c=$(O)/%.o)) \
	$(O)/generated/profile.pb-c.o
$(SRC_LIB) $(ANALYSIS_LIB):
	rm -f $@
	$(AR) rcs $@ $^

# The hooks call each other and not the program, which may define a function of
# the same name, and call ours in it. Code and constants are one mapping, since
# each one is copied when the program forks.
PRELOAD_LINK := -shared -pthread -Wl,-Bsymbolic-functions -Wl,-z,noseparate-code

ifeq ($(PGO),)
$(B)/libcomdet.so: $(PRELOAD_OBJ) $(SRC_LIB)
	$(CC) $(CFLAGS) $(SANFLAGS) $(PRELOAD_LINK) $(HARDEN_LINK) -Wl,-z,defs \
		-Wl,-soname,libcomdet.so -o $@ $^ $(LIBS_PRELOAD)
else
# make PGO=1 (GCC): code that samples do not run is kept out of their way. A library
# that counts its branches says which that is. The compiler finds the counts by
# the names of object files, so both libraries are built in one tree. Hardware
# sources may not be here to be counted, so their code stays as it is.
$(B)/libcomdet.so: $(PRELOAD_OBJ) $(SRC_LIB) microbench/count_branches.sh \
		$(B)/reusetrack $(B)/microbench/mix \
		$(if $(wildcard $(B)/pgo/libcomdet.so),,not-built-so-yet)
	rm -rf $(B)/pgo
	+$(MAKE) PGO= B=$(B)/pgo $(B)/pgo/libcomdet.so \
		CFLAGS="$(CFLAGS) -fprofile-generate -fprofile-update=atomic"
	microbench/count_branches.sh $(abspath $(B)/pgo/libcomdet.so) $(B)
	find $(B)/pgo ! -type d ! -name '*.gcda' -delete
	rm -f $(B)/pgo/obj/src/pmu/*.gcda $(B)/pgo/obj/preload/sources/pmu/*.gcda
	+$(MAKE) PGO= B=$(B)/pgo $(B)/pgo/libcomdet.so \
		CFLAGS="$(CFLAGS) -fbranch-probabilities -Wno-missing-profile"
	cp $(B)/pgo/libcomdet.so $@
not-built-so-yet:
endif

# It stands before malloc, so the compiler must not take it for the C library's.
# Each allocation passes through five of its modules: they are optimized as one.
# Tests link them one by one, so they have code as well (fat).
$(HEAP:%.c=$(O)/%.o): DEFINES = -fno-builtin -flto -ffat-lto-objects
$(B)/libcomdet-heap.so: $(HEAP:%.c=$(O)/%.o) $(SRC_LIB)
	$(CC) $(CFLAGS) $(SANFLAGS) -flto -shared $(HARDEN_LINK) -Wl,-z,defs \
		-Wl,-z,nodelete -Wl,-soname,libcomdet-heap.so -o $@ $^ -ldl

# QEMU, which loads the plugin, has the functions that it leaves undefined.
$(B)/libcomdet-qemu.so: $(EMU_OBJ) $(SRC_LIB)
	$(CC) $(CFLAGS) $(SANFLAGS) -shared -pthread $(HARDEN_LINK) \
		-Wl,-soname,libcomdet-qemu.so -o $@ $^ -lZydis $(LIBS_ZSTD)

# It runs in the traced program under QEMU. Exceptions and cancellation may
# leave its functions.
GUEST_CFLAGS := $(CSTD) $(WARN) -O2 -g -fPIC -ftls-model=initial-exec \
	-fno-stack-protector -fexceptions -MMD -MP -I.

$(O)/preload/emu/guest/%.o: preload/emu/guest/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(GUEST_CFLAGS) -c -o $@ $<

$(B)/libcomdet-guest.so: $(GUEST:%.c=$(O)/%.o)
	$(CC) -shared $(HARDEN_LINK) -Wl,-z,nodelete \
		-Wl,-soname,libcomdet-guest.so -o $@ $^

# The hooks of instrumented code are small and fast whatever CFLAGS say, and
# never instrumented themselves. Those in the archive also replace memcpy and
# its like.
INSTR_CFLAGS := $(CSTD) $(WARN) -O2 -g -fPIC -fvisibility=hidden \
	-ftls-model=initial-exec -mcx16 \
	-fno-stack-protector -fomit-frame-pointer -fno-builtin -MMD -MP -I.

$(O)/preload/instr/runtime/%.o: preload/instr/runtime/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(INSTR_CFLAGS) -c -o $@ $<

$(O)/preload/instr/runtime/%.a.o: preload/instr/runtime/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(INSTR_CFLAGS) -DINSTR_ARCHIVE -c -o $@ $<

$(B)/libcomdet-instr.a: $(INSTR:%.c=$(O)/%.a.o)
	rm -f $@
	$(AR) rcs $@ $^

# It is never unloaded: libcomdet.so knows its thread-local storage, where the
# threads count.
$(B)/libcomdet-instr.so: $(INSTR:%.c=$(O)/%.o)
	$(CC) -shared $(HARDEN_LINK) -Wl,-z,nodelete \
		-Wl,-soname,libcomdet-instr.so -o $@ $^

$(B)/reusetrack: $(O)/analysis/cmd/main.o $(ANALYSIS_LIB) $(SRC_LIB)
	$(CC) $(CFLAGS) $(SANFLAGS) -pie -pthread $(HARDEN_LINK) -o $@ $^ \
		$(LIBS_ANALYSIS)

# Bind eagerly: lazy binding would add shared accesses to the counts.
$(B)/microbench/%: microbench/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -pthread $(if $(findstring /workloads/,$@),-fopenmp) \
		-Wl,-z,now -MMD -MP -MF $@.d -o $@ $< -lm

# A simulated machine with a PMU, for the hardware sources.
FAKE_OBJ := $(patsubst %.c,$(O)/%.o,$(filter-out %/fake_process.c, \
	$(wildcard tests/fake/*.c)))

TESTS := $(UNIT:%.c=$(B)/%)
# Some read their own debug information, so they have all of it.
$(UNIT:%.c=$(O)/%.o): DEFINES = -g -include tests/quiet_checks.h
$(filter $(B)/tests/src/pmu/% %/test_pmu_doctor %/test_record_events \
	%/test_outside_hardware,$(TESTS)): \
	$(FAKE_OBJ)

# This test takes the part of the preload that asks the kernel for events.
$(filter %/test_own_event,$(TESTS)): $(O)/preload/watch/own_event.o

# This test takes the paths of the source instr, which need no process.
$(filter %/test_instr_path,$(TESTS)): $(O)/preload/instr/path.o

$(filter %/test_instr_draw,$(TESTS)): $(O)/preload/instr/draw.o

$(filter %/test_stack_bounds,$(TESTS)): $(O)/preload/threads/stack_bounds.o \
	$(O)/preload/core/local.o

# These tests take the turns of the source emu, which need no QEMU. One comes
# between two steps of a call.
$(filter %/emu/test_turns %/emu/test_calls,$(TESTS)): $(addprefix $(O)/preload/emu/, \
	asleep.o guest.o now.o processor.o queue.o scheduler.o scheduler_ticks.o \
	settle.o sleepers.o state.o turn_wait.o turns.o)
$(filter %/emu/test_calls,$(TESTS)): $(O)/preload/emu/calls.o
$(filter %/emu/test_calls,$(TESTS)): LIBS_TEST += -Wl,--wrap=emu_scheduler_leave

$(filter %/emu/test_processor,$(TESTS)): $(addprefix $(O)/preload/emu/, \
	guest.o now.o processor.o state.o)
$(filter %/emu/test_processor,$(TESTS)): LIBS_TEST += \
	-Wl,--wrap=emu_guest_read_string,--wrap=sched_getcpu \
	-Wl,--wrap=sched_getaffinity,--wrap=sched_setaffinity \
	-Wl,--wrap=sched_setscheduler

$(filter %/test_shadow,$(TESTS)): $(addprefix $(O)/preload/heap/, \
	shadow.o sites.o)

$(filter %/test_sites,$(TESTS)): $(O)/preload/heap/sites.o

$(filter %/test_recall,$(TESTS)): $(O)/preload/heap/recall.o

$(filter %/test_thread_rows,$(TESTS)): $(O)/preload/threads/thread_rows.o

$(filter %/test_inside,$(TESTS)): $(O)/preload/core/inside.o

$(filter %/test_vdso,$(TESTS)): $(O)/preload/core/vdso.o

# This test compares our tables of events with those of libpfm4.
$(filter %/test_pmu_events,$(TESTS)): LIBS_TEST += -lpfm

# Tests of src need nothing of analysis: the trees of ThreadSanitizer and of
# other processors then compile a third of the code.
$(filter-out $(B)/tests/src/%,$(TESTS)): $(ANALYSIS_LIB)

$(TESTS): $(B)/%: $(O)/%.o $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $(filter %.o,$^) \
		$(filter $(ANALYSIS_LIB),$^) $(SRC_LIB) $(LIBS_TEST) $(LIBS_PRELOAD) \
		$(LIBS_ANALYSIS)

# The unchanged library on such a machine.
FAKE_LIB := $(B)/tests/libcomdet-fake.so
$(FAKE_LIB): $(PRELOAD_OBJ) $(FAKE_OBJ) $(O)/tests/fake/fake_process.o $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) $(PRELOAD_LINK) -Wl,-z,now -Wl,-z,defs \
		-o $@ $^ $(LIBS_PRELOAD)

# The library that measures how long paths take it.
TIMED_LIB := $(B)/tests/libcomdet-timed.so
test-programs: $(TIMED_LIB)
$(TIMED_LIB): $(PRELOAD_OBJ) $(O)/tests/oracle/callers_time.o $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) $(PRELOAD_LINK) -Wl,-z,now \
		-Wl,--wrap=callers_of_choice,--wrap=unwind_frames \
		-o $@ $^ $(LIBS_PRELOAD)

# The library with the tests' own table of sources.
FAKE_SOURCE_OBJ := $(patsubst %.c,$(O)/%.o,$(wildcard tests/fake/source/*.c))
FAKE_SOURCE_LIB := $(B)/tests/libcomdet-fake-source.so
$(FAKE_SOURCE_LIB): $(filter-out %/source_table.o,$(PRELOAD_OBJ)) \
		$(FAKE_SOURCE_OBJ) $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) $(PRELOAD_LINK) -Wl,-z,now -Wl,-z,defs \
		-o $@ $^ $(LIBS_PRELOAD)

# These two run the interpreter over programs under ptrace.
PTRACE := $(B)/tests/programs/help_stepper $(B)/tests/programs/help_bias
$(PTRACE): $(B)/%: $(O)/%.o $(O)/tests/oracle/tracee.o \
		$(O)/tests/oracle/true_accesses.o $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ -lZydis -lm

# This one compares our unwinder with libunwind's.
$(B)/tests/programs/help_unwind: $(O)/tests/programs/help_unwind.o \
		$(O)/tests/oracle/tracee.o $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ -lunwind-ptrace \
		-lunwind-x86_64 -lunwind -lZydis

$(filter-out $(PTRACE) %/help_unwind,$(HELPERS:%.c=$(B)/%)): $(B)/%: %.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -pthread -I. -MMD -MP -MF $@.d -o $@ $< \
		-lm -ldl

# Programs that run under QEMU, and plugins to compare ours with.
EMU_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/programs/emu/guest_*.c)) \
	$(patsubst %.c,$(B)/%.so,$(wildcard tests/programs/emu/*_plugin.c))

$(B)/tests/programs/emu/guest_%: tests/programs/emu/guest_%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -pthread -MMD -MP -MF $@.d -o $@ $<

$(B)/tests/programs/emu/%_plugin.so: tests/programs/emu/%_plugin.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -fPIC -shared -I. -MMD -MP -MF $@.d -o $@ $<

# Programs with the hooks of the source instr, and the same without hooks.
INSTR_TESTS := $(patsubst tests/programs/instr/%.c,$(B)/tests/programs/instr/%, \
	$(wildcard tests/programs/instr/*.c))
INSTR_MICROBENCH := $(addprefix $(B)/microbench/instr/, \
	bias_bench cures exec_mode false_sharing load_ratio locked_load multi_event \
	patterns point_to_point read_write ribench words write_volume)
# With -fsanitize=thread gcc warns of fences and of truncations.
SANITIZE_COMPILE = $(CC) $(CSTD) $(WARN) -Wno-tsan -Wno-format-truncation \
	-Wno-sync-nand -O2 -g -mcx16 -fsanitize=thread -c
INSTR_TEST_PROGRAMS := $(INSTR_TESTS) $(INSTR_TESTS:%=%.plain) \
	$(B)/tests/programs/instr/process.tsan $(INSTR_MICROBENCH)

$(B)/tests/programs/instr/%.plain: tests/programs/instr/%.c tests/programs/instr/turns.h Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -Wno-sync-nand -O2 -g -mcx16 -pthread -o $@ $<

# With ThreadSanitizer's own hooks, which the preload must not take for ours.
$(B)/tests/programs/instr/%.tsan: tests/programs/instr/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -fsanitize=thread -pthread -o $@ $<

$(B)/tests/programs/instr/calls $(B)/tests/programs/instr/calls.plain: \
	tests/programs/help_callers.c

$(B)/tests/programs/instr/partners $(B)/tests/programs/instr/partners.plain: \
	tests/programs/help_partners.c

$(B)/tests/programs/instr/%: tests/programs/instr/%.c tests/programs/instr/turns.h Makefile \
		$(B)/libcomdet-instr.a | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(SANITIZE_COMPILE) -o $@.o $<
	$(CC) -pthread -o $@ $@.o -L$(B) -l:libcomdet-instr.a

$(B)/microbench/instr/%: microbench/%.c Makefile $(B)/libcomdet-instr.a | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(SANITIZE_COMPILE) -pthread -MMD -MP -MF $@.d -o $@.o $<
	$(CC) -pthread -o $@ $@.o -L$(B) -l:libcomdet-instr.a -lm

# The programs that the end-to-end tests run.
.PHONY: tests test-programs
test-programs: $(HELPERS:%.c=$(B)/%) $(if $(SAN),,$(EMU_TESTS) $(FAKE_LIB) $(FAKE_SOURCE_LIB) \
	$(INSTR_TEST_PROGRAMS))
tests: $(TESTS) test-programs

# What our code makes of addresses, to compare with addr2line and gdb.
NAMES_OF := $(B)/tests/oracle/frames_of $(B)/tests/oracle/parts_of
test-programs: $(NAMES_OF)
$(NAMES_OF): $(B)/tests/oracle/%: $(O)/tests/oracle/%.o $(ANALYSIS_LIB) $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ $(LIBS_ANALYSIS)

# Compares the paths of heap blocks with libunwind's.
HEAP_PATHS := $(B)/tests/oracle/libheap_paths.so
test-programs: $(HEAP_PATHS)
$(O)/tests/oracle/heap_paths.o: DEFINES = -fno-builtin
$(HEAP_PATHS): $(O)/tests/oracle/heap_paths.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -o $@ $^ -lunwind -ldl

# ---- packages ------------------------------------------------------------
# $(call install,PACKAGES) installs those that are missing
define install
	@have=$$(dpkg-query -W -f '$${Status} $${Package}\n' $(1) 2>/dev/null | \
		sed -n 's/.* ok installed //p'); \
	missing=$$(printf '%s\n' $(1) | grep -vxF -- "$$have" | sort -u); \
	[ -n "$$missing" ] || exit 0; \
	echo "installing:" $$missing >&2; \
	sudo=; [ $$(id -u) = 0 ] || sudo=sudo; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$sudo apt-get -qq update && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
		--no-install-recommends $$missing >/dev/null
endef

.PHONY: deps deps-programs deps-suites deps-names deps-bench deps-fuzz deps-kernels
deps:
	$(call install,$(DEPS_BUILD) $(DEPS_CHECK))

deps-programs:
	$(call install,$(DEPS_PROGRAMS))

deps-suites:
	$(call install,$(DEPS_SUITES))

deps-names:
	$(call install,$(DEPS_NAMES))

deps-bench:
	$(call install,$(DEPS_BENCH))

deps-fuzz:
	$(call install,$(DEPS_FUZZ))

deps-kernels:
	$(call install,$(DEPS_KERNELS))

# Keep all objects, also those of the tests.
.SECONDARY:

# ---- layers --------------------------------------------------------------
# Who may include whom, no circles, one header a module, no long file: part of
# every build, run again when a source changed. The check tests itself when it
# is new.
.PHONY: layers
layers: $(B)/layers.ok


$(B)/layers.ok: $(B)/structure_selftest.ok docs/design.md \
		tests/structure/exceptions.txt $(SRC_LIB) $(B)/libcomdet.so \
		$(B)/libcomdet-heap.so $(B)/libcomdet-guest.so \
		$(B)/libcomdet-qemu.so $(B)/libcomdet-instr.so $(B)/reusetrack \
		$(shell find src preload analysis microbench -name '*.[ch]')
	@python3 tests/structure/check.py --build $(B) folders circles \
		headers lengths
	@touch $@

$(B)/structure_selftest.ok: $(wildcard tests/structure/*.py) | $(DEPS_FIRST)
	@mkdir -p $(@D)
	@python3 tests/structure/selftest.py
	@touch $@

ifndef SAN
all: layers
endif

# ---- tests ---------------------------------------------------------------
# Tests find programs and libraries in the plain build. The sanitized trees have
# copies of the unit tests and of reusetrack.
TSAN_TESTS := $(filter %/test_board %/test_cache_sets %/test_comm %/test_store %/test_time_slices \
	%/test_exact %/test_exact_quick %/test_exact_place %/test_path_table \
	%/emu/test_processor %/test_looks %/test_reuse_race \
	%/test_recall %/test_reuse_exact %/test_trace_live %/test_transfer_race,$(UNIT:.c=))
# A simulation whose sums need millions of steps says so in its first comment
# ("plain only: REASON"): other tests run the same code under AddressSanitizer.
PLAIN_ONLY := $(shell grep -l '^ \* plain only: ' $(UNIT))
SUITE_unit := $(UNIT:%.c=build/%)
SUITE_asan := $(patsubst %.c,build/san-address/%,$(filter-out $(PLAIN_ONLY),$(UNIT)))
SUITE_tsan := $(TSAN_TESTS:%=build/san-thread/%)
SUITE_scripts := $(SCRIPTS)
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# A target check* runs the tests of its SUITES, or those of them that ONLY=
# names.
RUN = B=$(abspath build) tests/run --limit 900 $(if $(ONLY),--only '$(ONLY)') \
	$(foreach s,$(SUITES),suite=$(s) $(SUITE_$(s)))
CHOSEN = $(if $(ONLY),$(shell $(RUN) --list),$(foreach s,$(SUITES),$(SUITE_$(s))))

# Unit tests need what `make` builds; all others need the test programs too.
BUILD_UNIT = $(MAKE) $(JOBS) all tests
BUILD_CHOSEN = $(MAKE) $(JOBS) all $(if $(filter-out build/tests/%,$(CHOSEN)), \
	tests,$(CHOSEN))
BUILD_ASAN = $(MAKE) $(JOBS) SAN=address,undefined build/san-address/reusetrack \
	$(filter build/san-address/%,$(CHOSEN))
BUILD_TSAN = $(MAKE) $(JOBS) SAN=thread $(filter build/san-thread/%,$(CHOSEN))

CHECKS := check check-unit check-asan check-tsan check-scripts
.PHONY: $(CHECKS)
check: SUITES = unit asan tsan scripts
check-unit: SUITES = unit
check-asan: SUITES = asan
check-tsan: SUITES = tsan
check-scripts: SUITES = scripts
$(CHECKS): deps
	$(BUILD_CHOSEN)
	$(if $(filter build/san-address/% %.sh,$(CHOSEN)),$(BUILD_ASAN))
	$(if $(filter build/san-thread/%,$(CHOSEN)),$(BUILD_TSAN))
	@$(RUN)

# The tests of the files that changed since the last quick check without a
# failure, and their neighbours: at most half a minute.
.PHONY: check-quick
check-quick: deps
	@+B=$(abspath build) MAKE='$(MAKE)' tests/quick

# The unit tests on emulated processors; CPUS= chooses some.
.PHONY: check-cpus
check-cpus: deps
	$(BUILD_UNIT)
	@B=$(abspath build) ONLY='$(ONLY)' tests/e2e/cpus.sh $(CPUS)

# Run real programs with and without the preload; PROGRAMS= chooses some.
.PHONY: check-programs
check-programs: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/real/run.sh $(PROGRAMS)

# A hundred programs of /usr/bin, natively and under the preload.
.PHONY: check-usr-bin
check-usr-bin: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/real/usr_bin.py

# Other programs' own tests, natively and under the preload; SUITES= and MODES=
# choose some.
.PHONY: check-suites
check-suites: deps deps-suites
	$(BUILD_UNIT)
	@B=$(abspath build) MODES='$(MODES)' tests/suites/run.py $(SUITES)

# The tests that need the kernel most, on Debian's kernels or on KERNELS=, in a
# machine that QEMU emulates.
.PHONY: check-kernels
check-kernels: deps deps-kernels
	$(BUILD_UNIT)
	@B=$(abspath build) ONLY='$(ONLY)' tests/kernels/run.sh $(KERNELS)

# The same under QEMU, sampled and with --exact.
.PHONY: check-programs-emu
check-programs-emu: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/real/run_emu.sh $(PROGRAMS)

# Names of statements in programs of several compilers and of Debian; NAMES=
# chooses some.
# A thousand stops of each program instead of some.
.PHONY: check-deb
check-deb: all
	tests/e2e/deb.sh
	tests/e2e/deb_source.sh

.PHONY: check-unwind
check-unwind: deps all tests
	STOPS=1000 tests/e2e/check_unwind.sh
	DLOPEN_SECONDS=60 tests/e2e/check_dlopen.sh

.PHONY: check-heap-paths
check-heap-paths: deps tests
	EVERY=5 tests/e2e/check_heap_paths.sh

.PHONY: check-names
check-names: deps deps-names
	$(BUILD_UNIT)
	@B=$(abspath build) DEBUG_PACKAGES='$(DEBUG_PACKAGES)' \
		tests/oracle/names.sh $(NAMES)

# Attach to running programs in several languages; LANGUAGES= chooses some.
.PHONY: check-attach-languages
check-attach-languages: deps
	$(BUILD_UNIT)
	@B=$(abspath build) tests/e2e/attach_languages.sh $(LANGUAGES)

# Kill a thousand watchers of a program; CYCLES= sets how many.
.PHONY: check-attach-killed
check-attach-killed: deps
	$(BUILD_UNIT)
	@B=$(abspath build) CYCLES=$(or $(CYCLES),1000) \
		tests/e2e/check_attach_harmless.sh

# How often intervals of transfers hold the exact counts; SEEDS= runs of each
# kind, WATCHES= words that choose ways of watching or patterns. It goes on
# where it was stopped.
SEEDS ?= 3
.PHONY: coverage-emu
coverage-emu: deps
	$(BUILD_UNIT)
	@tests/oracle/coverage.py run $(abspath build) build/coverage.runs \
		$(SEEDS) $(WATCHES)
	@tests/oracle/coverage.py table build/coverage.runs

# Print how often the intervals of the shares by the clock hold the truth.
.PHONY: coverage-clock
coverage-clock: deps
	$(BUILD_UNIT)
	@tests/oracle/shares.py run $(abspath build) build/shares.runs $(SEEDS)
	@tests/oracle/shares.py table build/shares.runs
	@tests/oracle/shares.py lines $(abspath build) $(SEEDS)

# What reports say of false sharing in known programs, written afresh in C++ and
# Rust.
.PHONY: coverage-known
coverage-known: deps deps-names
	$(BUILD_UNIT)
	@tests/oracle/known.py $(abspath build) $(SEEDS)

# Compare the time that fixes are predicted to save with what they save, RUNS=
# times, for LIMIT= seconds at most; KEEP= is a file with which a further call
# goes on. The machine must be quiet.
RUNS ?= 3
LIMIT ?= 400
.PHONY: gain
gain: deps
	$(BUILD_UNIT)
	@tests/oracle/gain.py $(abspath build) $(RUNS) $(LIMIT) $(KEEP)

# Print how often the bands of miss ratio curves hold the exact ratios. SEEDS=
# is how many runs each program has at each of five periods, BANDS=train chooses
# the programs that the band was made with.
.PHONY: bands
bands: deps deps-programs
	$(BUILD_UNIT)
	@tests/oracle/bands.py run $(abspath build) $(abspath build)/bands \
		$(SEEDS) $(BANDS)
	@tests/oracle/bands.py table $(abspath build) $(abspath build)/bands \
		$(BANDS)

# Print how far the transfer estimators are off; SWEEP= has options and
# patterns.
.PHONY: sweep-transfer
sweep-transfer: $(B)/tests/oracle/sweep_transfer
	@$< $(SWEEP)

$(B)/tests/oracle/sweep_%: $(O)/tests/oracle/sweep_%.o $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ -lm

# Measure the overhead with PAIRS= runs each way; BENCH= chooses programs.
.PHONY: bench
bench: deps deps-bench
	$(BUILD_UNIT)
	@B=$(abspath build) tests/bench/bench.sh $(BENCH)
	@$(if $(BENCH),,B=$(abspath build) tests/bench/bench_simulate.sh)
	@$(if $(BENCH),,B=$(abspath build) tests/bench/bench_predict.py)
	@$(if $(BENCH),,tests/bench/bench_quick.py build $(or $(ROUNDS),5))

# What profiles and predictions of the workloads cost; BENCH= chooses some.
.PHONY: bench-predict
bench-predict: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/bench/bench_predict.py $(BENCH)

# What quick profiles of the workloads cost; BENCH= chooses some.
.PHONY: bench-quick
bench-quick: deps
	$(BUILD_UNIT)
	@tests/bench/bench_quick.py build $(or $(ROUNDS),5) $(BENCH)

# What traces and simulations of the workloads cost; BENCH= chooses some.
.PHONY: bench-simulate
bench-simulate: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/bench/bench_simulate.sh $(BENCH)

# The same for the source emu, over QEMU with a plugin that only counts.
.PHONY: bench-emu
bench-emu: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/bench/bench_emu.sh $(BENCH)

# The same for the source instr, without and with the preload.
.PHONY: bench-instr
bench-instr: deps
	$(BUILD_UNIT)
	@B=$(abspath build) tests/bench/bench_instr.sh $(BENCH)

# Ten busy processes: when the daemon finds those that fight, and what it takes.
.PHONY: bench-daemon
bench-daemon: deps
	$(BUILD_UNIT)
	@B=$(abspath build) tests/bench/bench_daemon.sh $(BENCH)

# Shares that record --budget finds, beside those of a fixed rate; RUNS= of each.
.PHONY: bench-budget
bench-budget: deps
	$(BUILD_UNIT)
	@tests/bench/bench_budget.py build $(or $(RUNS),20) $(or $(SECONDS_EACH),3)

# What a switch from thread to thread costs more; ROUNDS= of each way.
.PHONY: bench-switches
bench-switches: deps
	$(BUILD_UNIT)
	@tests/bench/bench_switches.py build $(or $(ROUNDS),5) $(or $(SECONDS_EACH),4)

# What attach costs programs: BENCH="pigz ...", PAIRS=, SECONDS_EACH= of a run;
# BENCH=ratio: its detections beside those of the preload.
.PHONY: bench-attach
bench-attach: deps deps-bench
	$(BUILD_UNIT)
	@tests/bench/bench_attach.py build build/bench-attach.csv \
		$(or $(PAIRS),20) $(or $(SECONDS_EACH),1.5) $(BENCH)
	@[ '$(BENCH)' = ratio ] || \
		python3 tests/bench/bench_summary.py build/bench-attach.csv

# Measure the report of a large profile.
.PHONY: bench-large
bench-large: deps
	$(MAKE) $(JOBS) all $(B)/tests/bench/bench_large
	@B=$(abspath $(B)) tests/bench/bench_large.sh

# Measure how long the signal handler takes to find the calls of a sample.
.PHONY: bench-callers
bench-callers: deps
	$(MAKE) $(JOBS) all $(TIMED_LIB)
	@B=$(abspath $(B)) tests/bench/bench_callers.sh

# Measure what it costs to know who allocated heap blocks.
.PHONY: bench-heap
bench-heap: deps
	$(MAKE) $(JOBS) all $(HEAP_PATHS) $(B)/tests/bench/bench_heap
	@B=$(abspath $(B)) tests/bench/bench_heap.sh

# Measure the speed of exact LRU stacks and of conversions.
.PHONY: bench-reuse
bench-reuse: deps
	$(MAKE) $(JOBS) $(B)/tests/bench/bench_reuse
	@B=$(abspath $(B)) tests/bench/bench_reuse.sh

$(B)/tests/bench/bench_%: $(O)/tests/bench/bench_%.o $(ANALYSIS_LIB) $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ $(LIBS_ANALYSIS)

# Compare estimates with exact counts, for about an hour; SUITE= chooses some.
.PHONY: accuracy
accuracy: deps all
	@$(B)/reusetrack accuracy --jobs $(shell nproc) $(SUITE:%=--suite %)

# Compare predicted with simulated times of the workloads, and print the table.
# It goes on where it was stopped; about half an hour for MILLIONS=220.
MILLIONS ?= 20
.PHONY: rppm-table
rppm-table: deps all
	@tests/oracle/rppm_table.py run $(abspath build) build/rppm-table \
		$(MILLIONS) $(MACHINES)
	@tests/oracle/rppm_table.py table $(abspath build) build/rppm-table

# Simulate and predict the workloads on 120 machines: does a sweep name the best?
.PHONY: rppm-choice
rppm-choice: deps all
	@tests/oracle/rppm_choice.py run $(abspath build) build/rppm-table \
		$(MILLIONS) tests/oracle/rppm_choice.space
	@tests/oracle/rppm_choice.py table $(abspath build) build/rppm-table \
		$(MILLIONS) tests/oracle/rppm_choice.space

# The part of Exec-Mode that runs in the kernel: load it while accuracy runs.
KERNEL_HEADERS ?= /lib/modules/$(shell uname -r)/build
EXEC_MODE := $(B)/exec_mode_module
.PHONY: exec-mode-module
exec-mode-module:
	@[ -e $(KERNEL_HEADERS)/Makefile ] || { \
		echo "no kernel headers in $(KERNEL_HEADERS): install those" \
			"of the running kernel, or set KERNEL_HEADERS"; \
		exit 1; }
	@mkdir -p $(EXEC_MODE)
	@cp microbench/exec_mode_module/* $(EXEC_MODE)
	$(MAKE) -C $(KERNEL_HEADERS) M=$(abspath $(EXEC_MODE)) modules

# Compare sampled reuse times with the true ones, for some 20 minutes.
.PHONY: score-reuse
score-reuse: deps
	$(BUILD_UNIT)
	@B=$(abspath build) tests/oracle/score_reuse_emu.sh cases threads lines

# Another built tree against this one: files, JSON and texts byte for byte.
.PHONY: same-output
same-output: deps
	$(BUILD_UNIT)
	@[ -n "$(BASE)" ] || { echo "BASE= a tree built by make all tests" >&2; \
		exit 1; }
	@tests/oracle/same_output.sh $(BASE) $(CURDIR)

# Compare what samples, hooks and emulated accesses cost under two builds, for
# some ten minutes; the machine must be quiet.
.PHONY: same-cost
same-cost: deps
	$(BUILD_UNIT)
	@[ -n "$(BASE)" ] || { echo "BASE= a tree built by make all tests" >&2; \
		exit 1; }
	@B=$(abspath $(B)) tests/bench/same_cost.py $(BASE)/build $(PAIRS)

# How many detections have a name, in recordings of programs with debug
# information: make score-names RUNS='NAME=DIRECTORY ...'
.PHONY: score-names
score-names: $(B)/reusetrack
	python3 tests/oracle/named.py -t $(B)/reusetrack $(RUNS)

# The same in ten programs, seven of them Debian's, which are built with debug
# information and recorded, for some five minutes; TEN= chooses programs.
.PHONY: score-names-ten
score-names-ten: deps
	$(BUILD_UNIT)
	@B=$(abspath build) tests/oracle/ten_programs.sh $(TEN)

# Compare miss ratio curves of programs with those of exact LRU stacks and of
# cachegrind, for some three minutes; TRACES= chooses programs.
.PHONY: score-traces
score-traces: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/oracle/score_traces.sh $(TRACES)

# Fuzz each parser of foreign bytes for FUZZ_SECONDS, guided by coverage. Inputs
# that found a bug are in tests/fuzz/corpus, and unit tests replay them.
FUZZ_SECONDS ?= 60
FUZZ := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
.PHONY: fuzz
fuzz: deps deps-fuzz
	$(MAKE) $(JOBS) $(FUZZ)
	@for f in $(FUZZ); do \
		echo "$$f: $(FUZZ_SECONDS) s"; \
		mkdir -p $$f.corpus && (cd $$f.corpus/.. && $(CURDIR)/$$f \
			-max_total_time=$(FUZZ_SECONDS) -verbosity=0 \
			-print_final_stats=1 $(CURDIR)/$$f.corpus \
			$$(ls -d $(CURDIR)/tests/fuzz/corpus/$${f##*/fuzz_} \
				2>/dev/null)) || exit 1; \
	done

# MUTATIONS= damaged files of each kind through whole verbs, under sanitizers;
# KINDS= chooses some.
WHOLE := $(B)/tests/fuzz/whole/whole
.PHONY: fuzz-whole
fuzz-whole: deps
	$(BUILD_UNIT)
	$(MAKE) $(JOBS) SAN=address,undefined build/san-address/tests/fuzz/whole/whole
	@B=$(abspath build) tests/fuzz/whole.sh $(KINDS)

# exit() in a verb ends the verb, not the process.
$(WHOLE): $(O)/tests/fuzz/whole/whole.o $(O)/tests/fuzz/whole/mutate.o \
		$(ANALYSIS_LIB) $(SRC_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -Wl,--wrap=exit -o $@ $^ $(LIBS_ANALYSIS)

# The ring is one of the simulated machine with a PMU.
build/fuzz/fuzz_perf_ring: $(FAKE_OBJ:$(O)/%.o=%.c)

# The parsers of files that other programs wrote.
FUZZ_ANALYSIS := $(wildcard analysis/import/*.c) analysis/base/util.c \
	$(wildcard analysis/model/trace*.c analysis/model/uop*.c) \
	$(addprefix analysis/model/,machine.c machine_keys.c machine_shipped.c) \
	analysis/symbols/jit_code.c analysis/symbols/ranges.c

build/fuzz/%: tests/fuzz/%.c $(SRC) $(FUZZ_ANALYSIS)
	@mkdir -p $(@D)
	clang $(CSTD) -g -O1 -I. -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -pthread \
		$(shell pkg-config --exists libzstd && echo -DHAVE_ZSTD) \
		-o $@ $^ -lZydis -lm $(LIBS_ZSTD)

# ---- use -----------------------------------------------------------------
.PHONY: demo
demo: deps all
	@rm -rf $(B)/demo.out
	@echo '$$ reusetrack record -o $(B)/demo.out -- $(B)/microbench/demo'
	@$(B)/reusetrack record -o $(B)/demo.out -- $(B)/microbench/demo
	@echo
	@echo '$$ reusetrack report $(B)/demo.out'
	@$(B)/reusetrack report $(B)/demo.out

PREFIX ?= /usr/local
MAN := $(wildcard docs/man/*.[1-8])
UNIT_DIR = $(PREFIX)/lib/systemd/system
.PHONY: install
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(B)/reusetrack $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(B)/libcomdet.so $(B)/libcomdet-heap.so \
		$(B)/libcomdet-qemu.so $(B)/libcomdet-guest.so \
		$(B)/libcomdet-instr.so $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(B)/libcomdet-instr.a $(DESTDIR)$(PREFIX)/lib
	install -d $(DESTDIR)$(PREFIX)/include
	install -m 644 src/base/comdet.h $(DESTDIR)$(PREFIX)/include
	install -d $(DESTDIR)$(PREFIX)/lib/reusetrack/microbench
	install -m 755 $(MICROBENCH:microbench/%.c=$(B)/microbench/%) \
		$(DESTDIR)$(PREFIX)/lib/reusetrack/microbench
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' \
		packaging/comdet-instr.pc.in \
		> $(DESTDIR)$(PREFIX)/lib/pkgconfig/comdet-instr.pc
	python3 packaging/completion.py $(B)/reusetrack $(B)/completion
	install -D -m 644 $(B)/completion/reusetrack \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/reusetrack
	install -D -m 644 $(B)/completion/_reusetrack \
		$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_reusetrack
	install -D -m 644 $(B)/completion/reusetrack.fish \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/reusetrack.fish
	for m in $(MAN); do \
		install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/} \
			|| exit 1; \
	done
	install -d $(DESTDIR)$(UNIT_DIR)
	sed 's|@PREFIX@|$(PREFIX)|' analysis/daemon/reusetrack-daemon.service.in \
		>$(DESTDIR)$(UNIT_DIR)/reusetrack-daemon.service
	chmod 644 $(DESTDIR)$(UNIT_DIR)/reusetrack-daemon.service

.PHONY: deb
deb: all
	@packaging/deb.sh $(VERSION) $(B)

# It builds in a copy of the tree; -S makes the source package alone.
.PHONY: deb-source
deb-source:
	@BUILD='$(BUILD)' packaging/deb-source.sh $(VERSION) $(abspath build)

.PHONY: format-check
format-check:
	clang-format --dry-run -Werror \
		$(shell find src preload analysis microbench tests -name '*.[ch]')

.PHONY: clean
clean:
	rm -rf build

.PHONY: help
help:
	@echo 'make                build into build/'
	@echo 'make PGO=1          the same; a sample then takes about an eighth less time'
	@echo 'make demo           profile a bundled program, print its report'
	@echo 'make check-quick    run the tests of what changed, in half a minute'
	@echo 'make check          run every test that this machine can run'
	@echo 'make check-unit, check-asan, check-tsan, check-scripts'
	@echo '                    parts of it: plain, under AddressSanitizer and'
	@echo '                    UBSan, under ThreadSanitizer, whole programs'
	@echo '    ONLY="unit/test_mrc emu*"'
	@echo '                    of each of these: only the tests whose SUITE/NAME'
	@echo '                    contains a word or matches a pattern'
	@echo 'make check-cpus [CPUS="Nehalem ..."]'
	@echo '                    unit tests on processors that QEMU emulates'
	@echo 'make check-programs [PROGRAMS="pigz ..."]'
	@echo '                    run real programs with and without the preload'
	@echo 'make check-usr-bin  a hundred programs of /usr/bin with and without it'
	@echo 'make check-suites [SUITES="cpython/test_signal redis posix ..."]'
	@echo '    [MODES="default fast children rtsig"]'
	@echo '                    suites of other programs, natively and under the preload'
	@echo 'make check-kernels [KERNELS="VMLINUZ ..."] [ONLY=WORD]'
	@echo '                    tests on other kernels, in a machine that QEMU emulates'
	@echo 'make check-programs-emu [PROGRAMS="pigz ..."]'
	@echo '                    run real programs natively and under QEMU'
	@echo 'make check-deb       install the Debian package, use and remove it'
	@echo 'make check-unwind    call paths against libunwind, a thousand of each program'
	@echo 'make check-heap-paths'
	@echo '                    paths of heap blocks against libunwind, five programs'
	@echo 'make check-names [NAMES="gcc clang rust go java node debian"]'
	@echo '                    names of statements, compilers and Debian packages'
	@echo 'make check-attach-languages [LANGUAGES="c static_c cxx go rust java node"]'
	@echo '                    attach to running programs of several languages'
	@echo 'make check-attach-killed [CYCLES=1000]'
	@echo '                    kill watchers of a program at random moments'
	@echo 'make coverage-emu [SEEDS=3] [WATCHES="epoch ..."]'
	@echo '                    intervals of transfers against exact counts'
	@echo 'make coverage-clock [SEEDS=3]'
	@echo '                    intervals of shares by the clock'
	@echo 'make coverage-known [SEEDS=3]'
	@echo '                    known cases of false sharing, in C++ and Rust'
	@echo 'make bands [SEEDS=3] [BANDS="gzip ..."]'
	@echo '                    bands of miss ratio curves against exact stacks'
	@echo 'make rppm-choice    simulate and predict the workloads on 120 machines'
	@echo 'make rppm-table [MILLIONS=20] [MACHINES="rppm-c3 ..."]'
	@echo '                    predicted against simulated times of workloads'
	@echo 'make gain [RUNS=3] [LIMIT=400]'
	@echo '                    predicted against measured savings of fixes, within one'
	@echo '                    regime of the round trip of a cache line'
	@echo 'make sweep-transfer [SWEEP="-n 1e8 -p 1e4 -d 1000 ..."]'
	@echo '                    print how far the transfer estimators are off'
	@echo 'make bench [PAIRS=20] [BENCH="nbody ..."] [WITH="COMDET_CLOCK=timer ..."]'
	@echo '                    measure what profiling costs; half an hour and more'
	@echo 'make bench-emu [BENCH="loop pigz ..."]'
	@echo '                    measure what profiling under QEMU costs'
	@echo 'make bench-instr [BENCH="quicksort ..."]'
	@echo '                    measure what the hooks of the source instr cost'
	@echo 'make bench-budget [RUNS=20] [SECONDS_EACH=3]'
	@echo '                    shares of a changing rate against those of a fixed one'
	@echo 'make bench-switches [ROUNDS=5] [SECONDS_EACH=4]'
	@echo '                    what a switch from thread to thread costs'
	@echo 'make bench-attach [PAIRS=20] [BENCH="pigz ... ratio"]'
	@echo '                    what attach costs programs, and what it finds'
	@echo 'make bench-daemon [BENCH="find last cost"]'
	@echo '                    the daemon on a machine with ten busy processes'
	@echo 'make bench-large    measure the report of a large profile'
	@echo 'make bench-simulate measure what traces and simulations cost'
	@echo 'make bench-predict  measure what profiles and predictions cost'
	@echo 'make bench-quick [ROUNDS=5] [BENCH="lu ..."]'
	@echo '                    what quick profiles cost'
	@echo 'make bench-callers  measure how long record -g takes to find a path'
	@echo 'make bench-heap     measure what heap tracking costs; 3 minutes'
	@echo 'make bench-reuse    measure what exact stack distances cost'
	@echo 'make score-reuse    compare reuse times with the true ones; 20 minutes'
	@echo 'make same-output BASE=DIR'
	@echo '                    hold all output to that of another built tree'
	@echo 'make same-cost BASE=DIR [PAIRS=10]'
	@echo '                    compare costs with those of another built tree'
	@echo 'make score-traces [TRACES="gzip ..."]'
	@echo '                    compare miss ratio curves with exact LRU stacks'
	@echo 'make score-names RUNS="NAME=DIRECTORY ..."'
	@echo '                    count which detections have a name, and ask gdb'
	@echo 'make score-names-ten [TEN="redis ..."]'
	@echo '                    the same in ten programs, built and recorded'
	@echo 'make accuracy [SUITE="write-volume ..."]'
	@echo '                    compare the estimates with exact counts; an hour'
	@echo 'make exec-mode-module'
	@echo '                    build the kernel module for the suite precise'
	@echo 'make fuzz [FUZZ_SECONDS=60]'
	@echo '                    feed random bytes to the decoder and the reader'
	@echo 'make fuzz-whole [MUTATIONS=50000] [SEED=1] [KINDS="cdp perf ..."]'
	@echo '                    damaged files through whole verbs, under sanitizers'
	@echo 'make layers         check who includes whom'
	@echo 'make format-check   check the layout of the sources'
	@echo 'make tests          build the tests, and run none'
	@echo 'make deps           install the Debian packages that are missing'
	@echo 'make deps-programs, deps-suites, deps-names, deps-bench, deps-fuzz,'
	@echo 'deps-kernels        the same for the targets of these names'
	@echo 'make deb            make a Debian package of what would be installed'
	@echo 'make deb-source [BUILD=-S]'
	@echo '                    make a Debian source package, and build it'
	@echo 'make install [PREFIX=/usr/local] [DESTDIR=]'
	@echo 'make clean          remove build/'
	@echo
	@echo 'SAN=address,undefined or SAN=thread builds beside the normal tree.'

# Sources of other programs have files with that ending that are none of make's.
-include $(shell find $(B) -name ten-sources -prune -o -name '*.d' -print \
	2>/dev/null)
