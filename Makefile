# SPDX-License-Identifier: MIT
# One Makefile, no recursion. `make help` lists the targets.

# Debian packages, the one list. `make deps` installs what is missing.
DEPS_BUILD := gcc g++ libc6-dev libc6-dbg libpfm4-dev libunwind-dev libdw-dev \
	check libzydis-dev libhwloc-dev libjansson-dev libzstd-dev pkg-config
DEPS_CHECK := spin binutils clang-format procps python3 gdb libubsan1 libasan8 \
	libtsan2 man-db qemu-user valgrind linux-perf
DEPS_PROGRAMS := pigz xz-utils zstd coreutils sqlite3 redis-server redis-tools \
	memcached python3 git bash gdb golang-go default-jdk-headless jq
DEPS_BENCH := pigz xz-utils
DEPS_FUZZ := clang libclang-rt-14-dev

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
ALL_CFLAGS = $(CSTD) $(WARN) $(CFLAGS) $(SANFLAGS) $(ZSTD_FLAG) -fPIC \
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
	interp_sse interp_avx choose backdecode instr_path stack_bounds
PURE_OBJ = $(patsubst preload/%.c,$(O)/preload/%.o,$(filter \
	$(PURE:%=preload/%.c) $(wildcard preload/decode*.c preload/interp*.c \
	preload/backdecode*.c), \
	$(PRELOAD)))

SRC_OBJ := $(SRC:%.c=$(O)/%.o)
PRELOAD_OBJ := $(PRELOAD:%.c=$(O)/%.o)
EMU_OBJ := $(patsubst %.c,$(O)/%.o,$(wildcard preload/emu/*.c) \
	preload/describe_host.c preload/topology_file.c)
ANALYSIS_OBJ := $(ANALYSIS:%.c=$(O)/%.o)
ANALYSIS_LIB_OBJ := $(filter-out $(O)/analysis/main.o,$(ANALYSIS_OBJ))

# What no handler of the preload needs: every page of it would cost memory.
NOT_PRELOADED := $(addprefix $(O)/src/,cache_sets.o interval.o reuse_exact.o \
	reuse_stack.o reuse_table.o)

LIBS_PRELOAD := -lZydis -ldl
# Asked for when it is needed: make deps may have installed it by then.
LIBS_ZSTD = $(shell pkg-config --libs libzstd 2>/dev/null)
LIBS_ANALYSIS = -ljansson -ldw -lelf -lhwloc -lstdc++ -lm $(LIBS_ZSTD)
LIBS_TEST := -lcheck -lsubunit -lrt -lm

ALL := $(B)/libcomdet.so $(B)/libcomdet-qemu.so $(B)/libcomdet-instr.a \
	$(B)/libcomdet-instr.so $(B)/reusetrack \
	$(MICROBENCH:microbench/%.c=$(B)/microbench/%)

.PHONY: all
all: $(ALL)

# demo and check work on a machine that has only git and make: there the
# packages come first. A plain `make` installs nothing.
ifneq ($(filter demo check check-% bench bench-emu bench-instr bench-reuse \
	accuracy score-reuse score-traces fuzz,$(MAKECMDGOALS)),)
DEPS_FIRST := deps
endif

$(O)/%.o: %.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -I. -c -o $@ $<

# Recordings that perf compressed can be read where libzstd is.
$(O)/analysis/perf_data_inflate.o: ZSTD_FLAG = \
	$(shell pkg-config --exists libzstd && echo -DHAVE_ZSTD)

# Statistics are for the analysis; they alone need libm.
$(B)/libcomdet.so: $(filter-out $(NOT_PRELOADED),$(SRC_OBJ)) $(PRELOAD_OBJ)
	$(CC) $(CFLAGS) $(SANFLAGS) -shared -pthread -Wl,-z,now -Wl,-z,defs \
		-Wl,-soname,libcomdet.so -o $@ $^ $(LIBS_PRELOAD)

# What it calls of QEMU is found in the program that loads it.
$(B)/libcomdet-qemu.so: $(filter-out $(O)/src/interval.o,$(SRC_OBJ)) $(EMU_OBJ)
	$(CC) $(CFLAGS) $(SANFLAGS) -shared -pthread -Wl,-z,now \
		-Wl,-soname,libcomdet-qemu.so -o $@ $^

# The hooks of instrumented code: small and fast, whatever CFLAGS say, and
# themselves never instrumented. The archive's also stand in for memcpy.
INSTR := $(wildcard preload/instr/*.c)
INSTR_CFLAGS := $(CSTD) $(WARN) -O2 -g -fPIC -fvisibility=hidden \
	-ftls-model=initial-exec -mcx16 \
	-fno-stack-protector -fomit-frame-pointer -fno-builtin -MMD -MP -I.

$(O)/preload/instr/%.o: preload/instr/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(INSTR_CFLAGS) -c -o $@ $<

$(O)/preload/instr/%.a.o: preload/instr/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(INSTR_CFLAGS) -DINSTR_ARCHIVE -c -o $@ $<

$(B)/libcomdet-instr.a: $(INSTR:%.c=$(O)/%.a.o)
	rm -f $@
	$(AR) rcs $@ $^

# Never unloaded: threads count in its storage, and libcomdet.so knows it.
$(B)/libcomdet-instr.so: $(INSTR:%.c=$(O)/%.o)
	$(CC) -shared -Wl,-z,now -Wl,-z,nodelete \
		-Wl,-soname,libcomdet-instr.so -o $@ $^

$(B)/reusetrack: $(SRC_OBJ) $(ANALYSIS_OBJ)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ $(LIBS_ANALYSIS)

# Bound at start, lest threads that meet in the linker count more accesses.
$(B)/microbench/%: microbench/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -pthread -Wl,-z,now -MMD -MP -MF $@.d -o $@ $< -lm

$(B)/tests/test_%: $(O)/tests/test_%.o $(SRC_OBJ) $(PURE_OBJ) $(ANALYSIS_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ $(LIBS_TEST) \
		$(LIBS_PRELOAD) $(LIBS_ANALYSIS)

# It asks the kernel for events, as no other part of the preload here does.
$(B)/tests/test_own_event: $(O)/preload/own_event.o

# The tables of events are compared with libpfm4's.
$(B)/tests/test_pmu_events: LIBS_TEST += -lpfm

# A machine with a PMU, for the hardware sources.
FAKE_OBJ := $(patsubst %.c,$(O)/%.o,$(filter-out tests/fake_process.c, \
	$(wildcard tests/fake_*.c)))
$(filter $(B)/tests/test_pmu_%,$(UNIT:tests/%.c=$(B)/tests/%)): $(FAKE_OBJ)

# The library as it is, on such a machine.
FAKE_LIB := $(B)/tests/libcomdet-fake.so
$(FAKE_LIB): $(filter-out $(NOT_PRELOADED) $(O)/src/perf_kernel.o,$(SRC_OBJ)) \
		$(PRELOAD_OBJ) $(FAKE_OBJ) $(O)/tests/fake_process.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -shared -pthread -Wl,-z,now -Wl,-z,defs \
		-o $@ $^ $(LIBS_PRELOAD)

# These two drive the interpreter over programs under ptrace.
$(B)/tests/help_stepper $(B)/tests/help_bias: $(B)/tests/%: $(O)/tests/%.o \
		$(O)/tests/tracee.o $(O)/tests/true_accesses.o $(PURE_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ -lZydis -lm

$(B)/tests/help_%: tests/help_%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -pthread -I. -MMD -MP -MF $@.d -o $@ $< \
		-lm -ldl

# Programs to be run under QEMU, and plugins to compare with.
EMU_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/emu/guest_*.c)) \
	$(patsubst %.c,$(B)/%.so,$(wildcard tests/emu/*_plugin.c))

$(B)/tests/emu/guest_%: tests/emu/guest_%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -pthread -MMD -MP -MF $@.d -o $@ $<

$(B)/tests/emu/%_plugin.so: tests/emu/%_plugin.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -fPIC -shared -I. -MMD -MP -MF $@.d -o $@ $<

# Programs with the hooks of the source instr, and the same ones without.
INSTR_TESTS := $(patsubst tests/instr/%.c,$(B)/tests/instr/%, \
	$(wildcard tests/instr/*.c))
INSTR_MICROBENCH := $(addprefix $(B)/microbench/instr/, \
	bias_bench exec_mode false_sharing load_ratio locked_load multi_event \
	point_to_point read_write ribench words write_volume)
# gcc has no fences with it, and sees other truncations.
SANITIZE_COMPILE = $(CC) $(CSTD) $(WARN) -Wno-tsan -Wno-format-truncation \
	-Wno-sync-nand -O2 -g -mcx16 -fsanitize=thread -c
INSTR_TEST_PROGRAMS := $(INSTR_TESTS) $(INSTR_TESTS:%=%.plain) \
	$(B)/tests/instr/process.tsan $(INSTR_MICROBENCH)

$(B)/tests/instr/%.plain: tests/instr/%.c tests/instr/turns.h Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -Wno-sync-nand -O2 -g -mcx16 -pthread -o $@ $<

# With ThreadSanitizer itself, which is not ours to profile.
$(B)/tests/instr/%.tsan: tests/instr/%.c Makefile | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(CC) $(CSTD) $(WARN) -O2 -g -fsanitize=thread -pthread -o $@ $<

$(B)/tests/instr/%: tests/instr/%.c tests/instr/turns.h Makefile \
		$(B)/libcomdet-instr.a | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(SANITIZE_COMPILE) -o $@.o $<
	$(CC) -pthread -o $@ $@.o -L$(B) -l:libcomdet-instr.a

$(B)/microbench/instr/%: microbench/%.c Makefile $(B)/libcomdet-instr.a | $(DEPS_FIRST)
	@mkdir -p $(@D)
	$(SANITIZE_COMPILE) -pthread -MMD -MP -MF $@.d -o $@.o $<
	$(CC) -pthread -o $@ $@.o -L$(B) -l:libcomdet-instr.a -lm

TESTS := $(UNIT:tests/%.c=$(B)/tests/%)
.PHONY: tests
tests: $(TESTS) $(HELPERS:tests/%.c=$(B)/tests/%) $(if $(SAN),,$(EMU_TESTS) $(FAKE_LIB) \
	$(INSTR_TEST_PROGRAMS))

# ---- packages ------------------------------------------------------------
# $(call install,PACKAGES): those of them that are missing
define install
	@missing=; for p in $(1); do \
		dpkg-query -W -f '$${Status}' $$p 2>/dev/null | \
			grep -q 'ok installed' || missing="$$missing $$p"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	echo "installing:$$missing" >&2; \
	sudo=; [ $$(id -u) = 0 ] || sudo=sudo; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$sudo apt-get -qq update && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
		--no-install-recommends $$missing >/dev/null
endef

.PHONY: deps deps-programs deps-bench deps-fuzz
deps:
	$(call install,$(DEPS_BUILD) $(DEPS_CHECK))

deps-programs:
	$(call install,$(DEPS_PROGRAMS))

deps-bench:
	$(call install,$(DEPS_BENCH))

deps-fuzz:
	$(call install,$(DEPS_FUZZ))

# Objects are kept, those of the tests too.
.SECONDARY:

# ---- layers --------------------------------------------------------------
# Who may know whom: part of every build, run again when a source changed.
.PHONY: layers
layers: $(B)/layers.ok

$(B)/layers.ok: tests/check_layers.sh $(SRC_OBJ) $(B)/libcomdet.so \
		$(wildcard $(addsuffix /*.[ch],src preload analysis microbench))
	@TOP=$(CURDIR) B=$(abspath $(B)) $<
	@touch $@

ifndef SAN
all: layers
endif

# ---- tests ---------------------------------------------------------------
# The tests find everything in the plain build; the sanitized trees hold
# further copies of the unit tests, and of reusetrack.
TSAN_TESTS := $(filter test_board test_cache_sets test_comm test_store \
	test_exact test_exact_quick test_path_table test_reuse_race \
	test_reuse_exact test_transfer_race,\
	$(notdir $(UNIT:.c=)))
RUN := B=$(abspath build) tests/run --limit 900
RUN_UNIT := suite=unit $(UNIT:tests/%.c=build/tests/%)
RUN_ASAN := suite=asan $(UNIT:tests/%.c=build/san-address/tests/%)
RUN_TSAN := suite=tsan $(TSAN_TESTS:%=build/san-thread/tests/%)
RUN_SCRIPTS := suite=scripts $(SCRIPTS)
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

BUILD_UNIT = $(MAKE) $(JOBS) all tests
BUILD_ASAN = $(MAKE) $(JOBS) SAN=address,undefined tests \
	build/san-address/reusetrack
BUILD_TSAN = $(MAKE) $(JOBS) SAN=thread $(TSAN_TESTS:%=build/san-thread/tests/%)

.PHONY: check check-unit check-asan check-tsan check-scripts
check: deps
	$(BUILD_UNIT)
	$(BUILD_ASAN)
	$(BUILD_TSAN)
	@$(RUN) $(RUN_UNIT) $(RUN_ASAN) $(RUN_TSAN) $(RUN_SCRIPTS)

check-unit: deps
	$(BUILD_UNIT)
	@$(RUN) $(RUN_UNIT)

check-asan: deps
	$(BUILD_UNIT)
	$(BUILD_ASAN)
	@$(RUN) $(RUN_ASAN)

check-tsan: deps
	$(BUILD_UNIT)
	$(BUILD_TSAN)
	@$(RUN) $(RUN_TSAN)

check-scripts: deps
	$(BUILD_UNIT)
	$(BUILD_ASAN)
	@$(RUN) $(RUN_SCRIPTS)

# Real programs with and without the preload; PROGRAMS= chooses some.
.PHONY: check-programs
check-programs: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/programs.sh $(PROGRAMS)

# The same under QEMU, sampled and exact.
.PHONY: check-programs-emu
check-programs-emu: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/emu/programs.sh $(PROGRAMS)

# How far the transfer estimators are off; SWEEP= its options and patterns.
.PHONY: sweep-transfer
sweep-transfer: $(B)/tests/sweep_transfer
	@$< $(SWEEP)

$(B)/tests/sweep_%: $(O)/tests/sweep_%.o $(SRC_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ -lm

# Overhead; PAIRS= runs each way, BENCH= chooses programs.
.PHONY: bench
bench: deps deps-bench
	$(BUILD_UNIT)
	@B=$(abspath build) tests/bench.sh $(BENCH)

# The same for the source emu, over QEMU with a plugin that only counts.
.PHONY: bench-emu
bench-emu: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/emu/bench.sh $(BENCH)

# The same for the source instr, without and with the preload.
.PHONY: bench-instr
bench-instr: deps
	$(BUILD_UNIT)
	@B=$(abspath build) tests/instr/bench.sh $(BENCH)

# Accesses a second through an exact LRU stack, and conversions.
.PHONY: bench-reuse
bench-reuse: deps
	$(MAKE) $(JOBS) $(B)/tests/bench_reuse
	@B=$(abspath $(B)) tests/bench_reuse.sh

$(B)/tests/bench_%: $(O)/tests/bench_%.o $(SRC_OBJ) $(ANALYSIS_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) -pthread -o $@ $^ $(LIBS_ANALYSIS)

# Estimates against exact counts, about an hour; SUITE= chooses some.
.PHONY: accuracy
accuracy: deps all
	@$(B)/reusetrack accuracy --jobs $(shell nproc) $(SUITE:%=--suite %)

# The half of Exec-Mode in the kernel; insmod it while accuracy runs.
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

# Sampled reuse times against the truth, in full: some 20 minutes.
.PHONY: score-reuse
score-reuse: deps
	$(BUILD_UNIT)
	@B=$(abspath build) tests/emu/score_reuse.sh cases threads lines

# Miss ratio curves of programs against exact LRU stacks and cachegrind: some
# three minutes; TRACES= chooses some.
.PHONY: score-traces
score-traces: deps deps-programs
	$(BUILD_UNIT)
	@B=$(abspath build) tests/emu/score_traces.sh $(TRACES)

# Coverage-guided fuzzing of what reads foreign bytes, FUZZ_SECONDS each. What
# was found is in tests/corpus, and tests play it back.
FUZZ_SECONDS ?= 60
FUZZ := $(patsubst tests/%.c,build/fuzz/%,$(wildcard tests/fuzz_*.c))
.PHONY: fuzz
fuzz: deps deps-fuzz
	$(MAKE) $(JOBS) $(FUZZ)
	@for f in $(FUZZ); do \
		echo "$$f: $(FUZZ_SECONDS) s"; \
		mkdir -p $$f.corpus && (cd $$f.corpus/.. && $(CURDIR)/$$f \
			-max_total_time=$(FUZZ_SECONDS) -verbosity=0 \
			-print_final_stats=1 $(CURDIR)/$$f.corpus \
			$$(ls -d $(CURDIR)/tests/corpus/$${f##*/fuzz_} \
				2>/dev/null)) || exit 1; \
	done

# A ring is read as that of a machine with a PMU.
build/fuzz/fuzz_perf_ring: $(FAKE_OBJ:$(O)/%.o=%.c)

# What reads files that others wrote.
FUZZ_ANALYSIS := $(wildcard analysis/perf_data*.c analysis/import_*.c) \
	analysis/util.c

build/fuzz/%: tests/%.c $(SRC) $(PURE_OBJ:$(O)/%.o=%.c) \
		$(FUZZ_ANALYSIS)
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
.PHONY: install
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(B)/reusetrack $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(B)/libcomdet.so $(B)/libcomdet-qemu.so \
		$(B)/libcomdet-instr.so $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(B)/libcomdet-instr.a $(DESTDIR)$(PREFIX)/lib
	install -d $(DESTDIR)$(PREFIX)/lib/reusetrack/microbench
	install -m 755 $(MICROBENCH:microbench/%.c=$(B)/microbench/%) \
		$(DESTDIR)$(PREFIX)/lib/reusetrack/microbench
	for m in $(MAN); do \
		install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/} \
			|| exit 1; \
	done

.PHONY: format-check
format-check:
	clang-format --dry-run -Werror $(wildcard $(addsuffix /*.[ch],src \
		preload preload/emu preload/instr analysis microbench tests tests/emu tests/instr))

.PHONY: clean
clean:
	rm -rf build

.PHONY: help
help:
	@echo 'make                build into build/'
	@echo 'make demo           profile a bundled program, print its report'
	@echo 'make check          run every test that this machine can run'
	@echo 'make check-unit, check-asan, check-tsan, check-scripts'
	@echo '                    parts of it: plain, under AddressSanitizer and'
	@echo '                    UBSan, under ThreadSanitizer, whole programs'
	@echo 'make check-programs [PROGRAMS="pigz ..."]'
	@echo '                    real programs with and without the preload'
	@echo 'make check-programs-emu [PROGRAMS="pigz ..."]'
	@echo '                    real programs natively and under QEMU'
	@echo 'make sweep-transfer [SWEEP="-n 1e8 -p 1e4 -d 1000 ..."]'
	@echo '                    how far the transfer estimators are off'
	@echo 'make bench [PAIRS=20] [BENCH="nbody ..."]'
	@echo '                    what profiling costs; half an hour and more'
	@echo 'make bench-emu [BENCH="loop pigz ..."]'
	@echo '                    what profiling under QEMU costs'
	@echo 'make bench-instr [BENCH="quicksort ..."]'
	@echo '                    what the hooks of the source instr cost'
	@echo 'make bench-reuse    what exact stack distances cost'
	@echo 'make score-reuse    hold reuse times to the truth; 20 minutes'
	@echo 'make score-traces [TRACES="gzip ..."]'
	@echo '                    hold miss ratio curves to exact LRU stacks'
	@echo 'make accuracy [SUITE="write-volume ..."]'
	@echo '                    hold the estimates to exact counts; an hour'
	@echo 'make exec-mode-module'
	@echo '                    a kernel module for the suite precise'
	@echo 'make fuzz [FUZZ_SECONDS=60]'
	@echo '                    feed random bytes to the decoder and the reader'
	@echo 'make layers         check who includes whom'
	@echo 'make format-check   check the layout of the sources'
	@echo 'make deps           install the Debian packages that are missing'
	@echo 'make install [PREFIX=/usr/local] [DESTDIR=]'
	@echo 'make clean          remove build/'
	@echo
	@echo 'SAN=address,undefined or SAN=thread builds beside the normal tree.'

-include $(shell find $(B) -name '*.d' 2>/dev/null)
