#!/bin/bash
# SPDX-License-Identifier: MIT
#
# same_output - two trees of the project do the same, byte for byte
#
#	same_output.sh [OPTION...] BASE_TREE NEW_TREE
#
#	--text=exact	texts must agree in every byte (default)
#	--text=numbers	numbers, names and tables must; wording may differ
#	--only REGEX	these cases alone
#	--keep DIR	leave everything in DIR, which must not exist
#	--list		say which cases there are
#
# For a change that must not change behaviour. Both trees have been built by
# "make all tests". Each case runs with the products of both; files of profiles
# are taken apart (docs/format.md of BASE_TREE says where the fields are) and
# compared, and so are exit status, messages and what the program printed.
# Reports are then made by both analyzers of one and the same recording, that
# of BASE_TREE, so that nothing needs to be masked in them.
#
# What makes a run the same each time:
#
#   - a PID namespace of its own: process and thread ids
#   - a mount namespace with the products at one path, and no randomisation of
#     addresses (setarch -R): addresses, the program's stack
#   - one processor and SCHED_FIFO: a thread runs until it blocks
#   - a library that is preloaded before ours (shim.c below): the clock stands
#     still, but for what the program itself does; random seeds are fixed; and
#     threads of QEMU yield where it unlocks a mutex, as otherwise the one that
#     came first would never let the others in
#   - the programs that are profiled are those of BASE_TREE for both
#
# What is left is masked: run id, process_start and CPU times; in natively
# profiled programs also where libraries and anonymous memory lie, since that
# depends on the size of our library. The clock as a source cannot be the same
# twice: of it only the header of the file is compared, and reports.
#
# Needs root or user namespaces, the right to real-time scheduling, qemu-user,
# gcc and python3. COMDET_TEST_DATA is a folder of recordings to import besides.
# Ends with 0 if all is the same, 1 if not, 77 if it cannot
# run here.

set -u
LIMIT=60	# seconds a run may take
PRIORITY=1	# of SCHED_FIFO

die()
{
	echo "same_output: $*" >&2
	exit 2
}

skip()
{
	echo "same_output: $*" >&2
	exit 77
}

# ---- options -----------------------------------------------------------------

text=exact only=. keep= list=
while [ $# -gt 0 ]; do
	case $1 in
	--text=exact | --text=numbers) text=${1#*=} ;;
	--only) only=${2?a regular expression}; shift ;;
	--keep) keep=${2?a directory}; shift ;;
	--list) list=yes; set -- . . ; break ;;
	--*) die "there is no option $1" ;;
	*) break ;;
	esac
	shift
done
[ $# = 2 ] || die "usage: same_output.sh [--text=exact|numbers] [--only REGEX]" \
	"[--keep DIR] BASE_TREE NEW_TREE"
base=$(cd "$1" && pwd) && next=$(cd "$2" && pwd) || exit 2

W=
clean()
{
	[ -n "$W" ] && [ -z "$keep" ] && rm -rf "$W"
}
trap clean EXIT
trap 'exit 130' INT TERM

# ---- what is run -------------------------------------------------------------

# built TREE NAME [TEST...] - where the one file of this name is that was built,
# wherever the tree has it; TEST is one of find
built()
{
	local tree=$1 name=$2 found

	shift 2
	found=$(find "$tree/build" -path '*/san-*' -prune -o -type f \
		-name "$name" "$@" -print)
	[ -n "$found" ] || die "$tree has no $name: make all tests"
	[ "$(wc -l <<<"$found")" = 1 ] || die "$tree has several $name: $found"
	echo "$found"
}

PRODUCTS='reusetrack libcomdet.so libcomdet-qemu.so libcomdet-fake.so
	libcomdet-instr.so libcomdet-instr.a'
GUESTS='guest_kinds guest_locality guest_loop guest_process guest_transfers
	guest_walks help_pmu help_perf_data help_deny adjacent false_sharing
	patterns point_to_point read_write ribench words write_volume'
HOOKED='transfers kinds paths passes overlaps process'

prepare()
{
	local side name object

	mkdir -p "$W/guests" "$W/box" "$W/base" "$W/next"
	for side in base next; do
		mkdir -p "$W/$side.box/bin" "$W/$side.box/run"
		for name in $PRODUCTS; do
			cp "$(built "${!side}" $name)" "$W/$side.box/bin/" ||
				exit 2
		done
	done
	for name in $GUESTS; do
		cp "$(built "$base" $name -not -path '*/instr/*')" \
			"$W/guests/" || exit 2
	done
	# Linked anew, so that each tree brings its own hooks.
	for name in $HOOKED; do
		object=$(built "$base" $name.o -not -path '*/obj/*') || exit 2
		gcc -pthread -o "$W/guests/hooked_$name" "$object" \
			-L"$W/base.box/bin" -l:libcomdet-instr.so || exit 2
	done
	shim_source >"$W/shim.c"
	judge_source >"$W/judge.py"
	box_source >"$W/box.sh"
	gcc -O2 -Wall -shared -fPIC -o "$W/shim.so" "$W/shim.c" -ldl || exit 2
	cat >"$W/two" <<-EOF
		socket 0
		socket 1
		cache a in socket 0
		cache b in socket 1
		core 0-1 in cache a
		core 2-3 in cache b
	EOF
	cat >"$W/latencies" <<-EOF
		dram_ns 100
		transfer_ns 50
		llc_bytes 262144
		private_bytes 16384
	EOF
}

shim_source()
{
	cat <<-'EOF'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <errno.h>
	#include <linux/futex.h>
	#include <pthread.h>
	#include <sched.h>
	#include <stdatomic.h>
	#include <stdint.h>
	#include <stdlib.h>
	#include <stdarg.h>
	#include <string.h>
	#include <sys/syscall.h>
	#include <sys/time.h>
	#include <sys/types.h>
	#include <time.h>

	enum { OP_NS = 100, CALLS_A_MS = 1 << 16, PATIENCE = 100 };
	#define LIBRARIES 0x700000000000
	static _Atomic uint64_t ops, calls;
	static int qemu;

	/* Whoever waits for a time must not wait for ever: it goes on slowly. */
	static uint64_t now(void)
	{
		return ops * OP_NS + calls++ / CALLS_A_MS * 1000000;
	}

	int clock_gettime(clockid_t clock, struct timespec *to)
	{
		uint64_t ns = now();

		to->tv_sec = (clock == CLOCK_REALTIME ? 1700000000 : 1000) +
			     ns / 1000000000;
		to->tv_nsec = ns % 1000000000;
		return 0;
	}

	int gettimeofday(struct timeval *to, void *zone)
	{
		uint64_t ns = now();

		to->tv_sec = 1700000000 + ns / 1000000000;
		to->tv_usec = ns % 1000000000 / 1000;
		return 0;
	}

	time_t time(time_t *to)
	{
		time_t t = 1700000000 + now() / 1000000000;

		if (to)
			*to = t;
		return t;
	}

	ssize_t getrandom(void *to, size_t bytes, unsigned int flags)
	{
		memset(to, 0x5a, bytes);
		return bytes;
	}

	/* What help_pmu executes makes time pass. */
	void fake_process_op(uint64_t ip, uint64_t addr, uint32_t len,
			     uint32_t flags)
	{
		static void (*real)(uint64_t, uint64_t, uint32_t, uint32_t);

		if (!real)
			*(void **)&real = dlsym(RTLD_NEXT, "fake_process_op");
		ops++;
		if (real)
			real(ip, addr, len, flags);
	}

	/* Of QEMU's own, which lies below all libraries: ours may be changed. */
	int pthread_mutex_unlock(pthread_mutex_t *m)
	{
		uintptr_t from = (uintptr_t)__builtin_return_address(0);
		static int (*real)(pthread_mutex_t *);
		int r;

		if (!real)
			*(void **)&real = dlsym(RTLD_NEXT,
						"pthread_mutex_unlock");
		r = real(m);
		if (qemu && from < LIBRARIES)
			sched_yield();
		return r;
	}

	/*
	 * Who has waited for a millisecond takes the turn of another thread.
	 * That is not to happen because the machine was busy.
	 */
	long syscall(long number, ...)
	{
		static long (*real)(long, ...);
		struct timespec longer;
		va_list ap;
		long a[6];

		if (!real)
			*(void **)&real = dlsym(RTLD_NEXT, "syscall");
		va_start(ap, number);
		for (int i = 0; i < 6; i++)
			a[i] = va_arg(ap, long);
		va_end(ap);
		if (qemu && number == SYS_futex && a[1] == FUTEX_WAIT_PRIVATE &&
		    a[3]) {
			const struct timespec *asked = (void *)a[3];
			long ms = asked->tv_sec * 1000 + asked->tv_nsec / 1000000;

			longer.tv_sec = ms * PATIENCE / 1000;
			longer.tv_nsec = ms * PATIENCE % 1000 * 1000000;
			a[3] = (long)&longer;
		}
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	}

	/* QEMU hands its environment on: to the program, if that executes it. */
	__attribute__((constructor)) static void begin(void)
	{
		qemu = !strncmp(program_invocation_short_name, "qemu", 4);
		if (qemu && !getenv("SHIM_STAYS"))
			unsetenv("LD_PRELOAD");
	}
	EOF
}

# The first process of its namespaces. W, SIDE, CASE; what to run on stdin.
box_source()
{
	cat <<-'EOF'
	mount --bind "$W/$SIDE.box" "$W/box" || exit 99
	cd "$W/box/run" || exit 99
	BIN=$W/box/bin G=$W/guests SHIM=$W/shim.so TO=$W/$SIDE/$CASE

	# fixed SETTINGS COMMAND... - the same each time
	fixed()
	{
		local settings=$1

		shift
		# shellcheck disable=SC2086
		taskset -c "$CPU" chrt -f $PRIORITY env $settings "$@"
	}

	# emu OPTION... -- GUEST ARGUMENT... - record it under QEMU
	emu()
	{
		fixed "LD_PRELOAD=$SHIM COMDET_SEED=7 ${SET-}" \
			"$BIN/reusetrack" record -s emu -o out "$@"
	}

	# pmu SETTING... - help_pmu on a processor that is not there
	pmu()
	{
		fixed "COMDET_OUT=out COMDET_PERIOD=1000 FAKE_LOG=fake.txt $* \
			LD_PRELOAD=$SHIM:$BIN/libcomdet-fake.so" \
			"$G/help_pmu" "${OPS:-150000}"
	}

	# instr OPTION... -- GUEST ARGUMENT... - record what has hooks
	instr()
	{
		fixed "LD_PRELOAD=$SHIM LD_LIBRARY_PATH=$BIN" \
			"$BIN/reusetrack" record -s instr -o out "$@"
	}

	# tell WORDS COMMAND... - its status and messages, without counts of
	# samples; keep the header of what it recorded
	tell()
	{
		local words=$1

		shift
		rm -rf out out.old
		"$@" >said.tmp 2>&1 </dev/null
		echo "== $words: status $?"
		sed -E 's/[0-9,]+ samples?(, [0-9,]+ detections?)?/N samples/' \
			said.tmp
		for file in out/*.cdp; do
			[ ! -e "$file" ] ||
				mv "$file" "$((++told)).${file##*.}"
		done
		rm -rf out said.tmp
	}

	. /dev/stdin
	EOF
}

# box SIDE CASE SCRIPT - run it; everything that it leaves is the case's
box()
{
	local side=$1 name=$2 how=

	mkdir -p "$W/$side/$name"
	rm -rf "$W/$side.box/run"
	mkdir "$W/$side.box/run"
	[ "$(id -u)" = 0 ] || how=-r
	timeout -s KILL $LIMIT \
		unshare $how -m -p -f --kill-child --mount-proc \
		env -i PATH="$PATH" HOME=/ LC_ALL=C TZ=UTC W="$W" SIDE="$side" \
		CASE="$name" CPU="$CPU" PRIORITY=$PRIORITY \
		setarch -R bash "$W/box.sh" <<<"$3" \
		>"$W/$side/$name/stdout.txt" 2>"$W/$side/$name/stderr.txt"
	echo "status $?" >"$W/$side/$name/status.txt"
	cp -a "$W/$side.box/run/." "$W/$side/$name/"
}

# ---- the cases ---------------------------------------------------------------

# case NAME SCRIPT... - run by both, unless it was not asked for
declare -a ran=()
try()
{
	local name=$1 start=$SECONDS

	shift
	[[ $name =~ $only ]] || return 0
	if [ "$list" ]; then
		printf '%-28s %s\n' "$name" "$(head -n 1 <<<"$*")"
		return
	fi
	box base "$name" "$*"
	box next "$name" "$*"
	ran+=("$name")
	printf '%4d s  %s\n' $SECONDS "$name"
}

emu_cases()
{
	try emu-kinds emu -p 100 -- '$G/guest_kinds' modify 20000
	try emu-kinds-ibs emu -p 100 --pmu ibs -- '$G/guest_kinds' string 5000
	try emu-none emu -p 0 -- '$G/guest_kinds' locked 5000
	try emu-loop emu -p 1000 -m comm,reuse,shared,global --exact -- \
		'$G/guest_loop' 1 4000
	try emu-loop-threads emu -p 1000 --slice 200 -m reuse -- \
		'$G/guest_loop' 4 10000
	try emu-loop-free emu -p 1000 --slice 0 --exact -- '$G/guest_loop' 4 5000
	try emu-false emu -p 500 --slice 50 -- '$G/false_sharing' --threads 2 \
		--iterations 50000
	try emu-false-chain emu -p 500 --slice 50 --algorithm chain --exact -- \
		'$G/false_sharing' --threads 3 --iterations 30000
	try emu-false-arming SET=COMDET_ARMING=1000 emu -p 500 --slice 50 -- \
		'$G/false_sharing' --threads 3 --iterations 30000
	try emu-false-chunks SET=COMDET_COVER=chunks emu -p 500 --slice 50 -- \
		'$G/false_sharing' --threads 3 --iterations 30000
	try emu-false-map emu -p 500 --slice 50 --algorithm comdetective -- \
		'$G/false_sharing' --threads 3 --iterations 30000
	try emu-false-registers emu -p 500 --slice 50 --registers 2 -- \
		'$G/false_sharing' --threads 3 --iterations 30000
	try emu-false-board SET=COMDET_BOARD=7 emu -p 500 --slice 50 \
		--registers 0 -- '$G/false_sharing' --threads 3 \
		--iterations 30000
	for what in bursts ring lock lines read-mostly counters private; do
		try emu-$what emu -p 200 --slice 50 --exact -- '$G/patterns' \
			--pattern $what --threads 4 --iterations 10000
	done
	try emu-volume emu -p 500 --slice 50 --exact \
		-m comm,reuse,shared,global -- '$G/write_volume' --threads 4 \
		--iterations 1500
	try emu-volume-auto emu -p 500 -- '$G/write_volume' --threads 4 \
		--iterations 10000
	try emu-pairs emu -p 500 --slice 30 -m comm,shared -- \
		'$G/point_to_point' --threads 4 --iterations 20000
	try emu-read-write emu -p 500 --slice 30 --pmu ibs --exact -- \
		'$G/read_write' --threads 3 --iterations 10000
	try emu-words emu -p 500 --slice 30 -- '$G/words' --threads 3 \
		--iterations 20000
	try emu-transfers emu -p 500 --slice 50 --exact -- \
		'$G/guest_transfers' 300 3 same
	try emu-place emu -p 500 --slice 50 --exact -m comm,shared,global \
		--topology '$W/two' --place scatter -- \
		'$G/guest_transfers' 60 3 other
	try emu-ribench emu -p 1000 -m reuse,shared --granularity address -- \
		'$G/ribench' --case short-bell-2 --threads 2 --outer 1
	try emu-walks emu -p 500 --exact -m reuse -- '$G/guest_walks' naive 40 64
	try emu-walks-caches emu -p 0 --exact -m reuse,global --caches \
		'"L1 4096 4; L2 32768 8 shared"' -- '$G/guest_walks' blocks 64 64
	for what in bytes random columns skewed; do
		try emu-$what emu -p 2000 -m reuse,global --slice 100 \
			--slots 256 -- '$G/guest_locality' $what 2 1
	done
	try emu-handover emu -p 200 -m comm,reuse,shared,global \
		--granularity line --slice 100 -- '$G/guest_locality' handover 2 40
	try emu-adjacent emu -p 200 -m reuse,shared --granularity line \
		--slice 20 -- '$G/adjacent' --threads 2 --kib 64 \
		--kernel stream --iterations 8000
	try emu-adjacent-sharing emu -p 200 -m reuse,shared --granularity line \
		--slice 20 -- '$G/adjacent' --threads 2 --kib 64 \
		--kernel false-sharing --iterations 8000
	try emu-exec SET=SHIM_STAYS=1 emu -p 2000 --exact --slice 100 -- \
		'$G/guest_process' exec_self
	try emu-spawn SET=SHIM_STAYS=1 emu -p 2000 --children -- '$G/guest_process' spawn
	try emu-churn emu -p 10000 --slice 1000 -- '$G/guest_process' many_threads
	try emu-killed emu -p 1000 -- '$G/guest_process' killed
}

pmu_cases()
{
	try pmu-skylake pmu FAKE_MODEL=skylake
	try pmu-skylake-queued pmu FAKE_MODEL=skylake COMDET_DELIVERY=rtsig \
		COMDET_REGISTERS=0
	try pmu-skylake-board pmu FAKE_MODEL=skylake COMDET_REGISTERS=2 \
		COMDET_BOARD=7
	try pmu-skylake-faults pmu FAKE_MODEL=skylake FAKE_INEXACT=6 \
		FAKE_THROTTLE=90
	try pmu-sapphire-slow pmu FAKE_MODEL=sapphire-rapids COMDET_LDLAT=3
	try pmu-sandy-bridge pmu FAKE_MODEL=sandy-bridge
	try pmu-sandy-bridge-turns pmu FAKE_MODEL=sandy-bridge FAKE_ROTATE=700
	try pmu-alder-lake pmu FAKE_MODEL=alder-lake
	try pmu-zen4 pmu FAKE_MODEL=zen4
	try pmu-zen4-faults pmu FAKE_MODEL=zen4 FAKE_INEXACT=6 FAKE_THROTTLE=90
	try pmu-zen2 pmu FAKE_MODEL=zen2 FAKE_PARANOID=1
	for what in skylake alder-lake zen4; do
		try pmu-$what-reuse pmu FAKE_MODEL=$what COMDET_MODE=reuse
	done
	# The clock samples instead, or nothing does.
	try pmu-choice OPS=1000 '
		tell unknown pmu FAKE_MODEL=unknown
		tell wanted pmu FAKE_MODEL=unknown COMDET_SOURCE=pebs
		tell nehalem pmu FAKE_MODEL=nehalem
		tell bare pmu FAKE_MODEL=bare
		tell "ibs on Intel" pmu FAKE_MODEL=skylake COMDET_SOURCE=ibs
		tell "pebs on AMD" pmu FAKE_MODEL=zen4 COMDET_SOURCE=pebs
		tell busy pmu FAKE_MODEL=zen4 FAKE_OPEN_ERROR=16
		tell paranoid pmu FAKE_MODEL=zen2
		tell "paranoid 4" pmu FAKE_MODEL=skylake FAKE_PARANOID=4
		tell clock pmu FAKE_MODEL=skylake COMDET_SOURCE=clock
		tell "no reuse" pmu FAKE_MODEL=bare COMDET_SOURCE=pebs \
			COMDET_MODE=reuse
		tell "no loads" pmu FAKE_MODEL=sandy-bridge COMDET_MODE=reuse
		tell queued pmu FAKE_MODEL=skylake COMDET_MODE=reuse \
			COMDET_DELIVERY=rtsig
		tell "no registers" pmu FAKE_MODEL=skylake COMDET_MODE=reuse \
			COMDET_REGISTERS=0'
}

instr_cases()
{
	try instr-transfers instr -p 100 --exact -- \
		'$G/hooked_transfers' 3000 3 both
	try instr-map instr -p 100 --algorithm comdetective -- \
		'$G/hooked_transfers' 3000 3 other
	try instr-registers instr -p 300 --watch hw -- \
		'$G/hooked_transfers' 3000 3 same
	try instr-reuse instr -p 100 -m comm,reuse,shared,global -- \
		'$G/hooked_transfers' 2000 3 both
	try instr-reuse-hw instr -p 300 -m reuse --watch hw -- \
		'$G/hooked_transfers' 2000 2 both
	try instr-topology instr -p 100 -m shared,global --granularity line \
		--slots 20 --topology '$W/two' -- '$G/hooked_transfers' 2000 3 same
	try instr-paths instr -p 200 -m reuse -g -- '$G/hooked_paths' callers 500
	try instr-paths-deep instr -p 200 -m reuse -g --granularity address -- \
		'$G/hooked_paths' depths 500
	try instr-kinds instr -p 1000 -- '$G/hooked_kinds' --all 1000
	try instr-passes instr -p 500 -m reuse -- '$G/hooked_passes' 300
	try instr-overlaps instr -p 100 -m reuse -- '$G/hooked_overlaps' 8 20
	try instr-process instr -p 0 --exact -- '$G/hooked_process' threads
}

# Sources that cannot be the same twice, by what they say; and refusals.
choice_cases()
{
	try choice-options '
		for source in auto clock pebs ibs instr emu nonsense; do
			for option in "" "-F 100" "-p 1000" "-p 5" "--ldlat 3" \
				"-m reuse" "-m shared" "-m comm,reuse" "-m x" \
				"--algorithm epoch" "--algorithm comdetective" \
				"--watch hw" "--watch sw" --exact "-g" \
				"--granularity line" "--slots 10" "--place scatter" \
				"--slice 10" "--pmu ibs" "--registers 2" \
				"--topology $W/two" "--topology /none" \
				"--duration 1"; do
				tell "$source $option" "$BIN/reusetrack" record \
					-s $source $option -o out -- /bin/true
			done
		done'
	try choice-denied '
		for calls in perf_event_open timer_create process_vm_readv \
			perf_event_open,timer_create; do
			for source in auto clock pebs instr; do
				tell "$calls $source" "$G/help_deny" $calls EPERM \
					"$BIN/reusetrack" record -s $source \
					-o out -- "$G/guest_kinds" modify 1000
			done
		done'
	try choice-clock '
		record="$BIN/reusetrack record -o out"
		program="$G/guest_kinds modify 1000"
		tell plain $record -- $program
		tell rate $record -F 1000 -- $program
		tell registers $record -s clock --registers 0 -- $program
		tell reuse $record -s clock -m reuse -- $program
		tell queued env COMDET_DELIVERY=rtsig $record -- $program
		tell timer env COMDET_CLOCK=timer $record -- $program
		tell hooks env LD_LIBRARY_PATH="$BIN" $record -- \
			"$G/hooked_kinds" modify 1000
		tell "hooks by the clock" env LD_LIBRARY_PATH="$BIN" $record \
			-s clock -- "$G/hooked_kinds" modify 1000
		tell "no program" $record -- /nonexistent
		tell "no option" $record --nonsense'
	try choice-settings '
		for setting in SOURCE=x MODE=x MODE=comm,reuse ALGORITHM=epoch \
			DELIVERY=x CLOCK=x FREQ=0 PERIOD=x LDLAT=-1 REGISTERS=5 \
			BOARD=0 STALLED=101 CHILDREN=2 DELAY=a DURATION=-1 \
			WATCH=x EXACT=2 TOPOLOGY=/none SLOTS=0 PATHS=2 \
			GRANULARITY=x; do
			tell $setting env COMDET_$setting COMDET_OUT=out \
				LD_PRELOAD="$BIN/libcomdet.so" /bin/true
		done
		for setting in period=x period=1 period=-5 pmu=foo registers=5 \
			board=0 wrong=1 seed=1x slice=1x delay=a algorithm=none \
			children=2 exact=2 place=x topology=/none mode=x \
			granularity=x slots=0 caches=x cover=x arming=x \
			period=0,,mode=reuse; do
			tell $setting qemu-x86_64 -cpu max -plugin \
				"$BIN/libcomdet-qemu.so,out=out,$setting" \
				"$G/guest_kinds" load_8 10
		done'
}

import_cases()
{
	local data=${COMDET_TEST_DATA-$(realpath -m "$next/../shared/data")}
	local kind seed

	for kind in intel packed amd; do
		for seed in 1 2; do
			try import-$kind-$seed '
				"$G/help_perf_data" '$kind $seed' here
				fixed LD_PRELOAD=$SHIM "$BIN/reusetrack" import -o out here
				"$BIN/reusetrack" import --samples here >samples.txt
				rm here'
		done
		try import-$kind-stream '
			"$G/help_perf_data" '$kind',compressed,stream 3 here
			fixed LD_PRELOAD=$SHIM "$BIN/reusetrack" import -o out - <here
			rm here'
	done
	for file in "$data"/*perf.data*; do
		[ -e "$file" ] || continue
		try "import-$(basename "$file")" '
			fixed LD_PRELOAD=$SHIM "$BIN/reusetrack" import -o out \
				'"'$file'"'
			"$BIN/reusetrack" import --samples '"'$file'"' >samples.txt'
	done
	try import-refused '
		"$G/help_perf_data" intel 1 whole
		"$G/help_perf_data" intel,stream 1 stream
		"$G/help_perf_data" intel,compressed,stream 1 z
		head -c 50 whole >a; head -c 100000 whole >b
		head -c 99999 stream >c; head -c 99999 z >d
		printf "2ELIFREP%096d" 0 >e; printf "PERFFILE%096d" 0 >f
		for file in a b c d e f /nonexistent /dev/null /tmp; do
			tell $file "$BIN/reusetrack" import -o out $file
		done
		tell two "$BIN/reusetrack" import a b
		tell nowhere "$BIN/reusetrack" import whole -o nowhere/out
		rm -f whole stream z [a-f]'
}

verb_cases()
{
	try verbs '
		for verb in record report doctor list import accuracy predict; do
			tell $verb "$BIN/reusetrack" $verb --help
		done
		tell help "$BIN/reusetrack" help
		tell none "$BIN/reusetrack"
		tell wrong "$BIN/reusetrack" nonsense
		tell version "$BIN/reusetrack" --version'
	try list '
		"$BIN/reusetrack" list >list.txt
		"$BIN/reusetrack" list --json >list.json'
	try doctor '
		"$BIN/reusetrack" doctor >doctor.txt
		"$BIN/reusetrack" doctor --json >doctor.json'
}

# Recordings that are no case by themselves, to make reports of.
clock_recordings()
{
	[[ report-clock =~ $only ]] || return 0
	box base report-clock '"$BIN/reusetrack" record -s clock -F 5000 \
		-o out -- "$G/false_sharing" --threads 2 --seconds 0.5'
	box base report-clock-reuse '"$BIN/reusetrack" record -s clock \
		-m reuse -F 2000 -o out -- "$G/false_sharing" --threads 2 \
		--seconds 0.5'
	ran+=(report-clock report-clock-reuse)
}

# ---- reports -----------------------------------------------------------------

# These from all sides, the others as they come: text and JSON.
LOOKED_AT='^(emu-(kinds|false|place|walks-caches|adjacent|killed)'
LOOKED_AT+='|pmu-(skylake-faults|zen4-reuse)|instr-(paths|reuse-hw)'
LOOKED_AT+='|import-(intel-1|amd-1|numatop.*)|report-.*)$'

# view FILE ARGUMENT... - one report, with what it says and its status
view()
{
	local file=$1

	shift
	env -i PATH="$PATH" HOME=/ LC_ALL=C TZ=UTC \
		"$W/$side.box/bin/reusetrack" "$@" >"$to/$file" 2>"$to/$file.err"
	echo "status $?" >>"$to/$file.err"
}

# reports SIDE - of everything that BASE_TREE recorded
reports()
{
	local side=$1 name to in

	for name in "${ran[@]}"; do
		in=$W/base/$name/out
		[ -d "$in" ] || continue
		to=$W/$side/report-of-$name
		mkdir "$to"
		cd "$to" || exit 2
		view text.txt report "$in"
		view all.json report --json "$in"
		[[ $name =~ $LOOKED_AT ]] || continue
		view thread.txt report -t 1 "$in"
		view thread.json report -t 1 --json "$in"
		view three.txt report -n 3 --color always "$in"
		view kinds.txt report -k RAW,WAW "$in"
		view kinds.json report -k RAR --json "$in"
		view offsets.txt report --no-symbols "$in"
		view drawn.txt report --svg drawn.svg -o to.txt "$in"
		view predicted.txt predict --adjacent-line-prefetch \
			--latencies "$W/latencies" "$in"
		view predicted.json predict --adjacent-line-prefetch \
			--latencies "$W/latencies" --json "$in"
	done
	to=$W/$side/report-refused
	mkdir "$to"
	view nowhere.txt report "$W/nowhere"
	view foreign.txt report "$W/guests"
	view thread.txt report -t x "$W/base/${ran[0]}/out"
	view kind.txt report -k XXX "$W/base/${ran[0]}/out"
	view no-predict.txt predict "$W/base/${ran[0]}/out"
	# A file that was cut, and one that is no page long.
	mkdir "$to/cut"
	for in in "$W/base/${ran[0]}"/out/*.cdp; do
		head -c 20000 "$in" >"$to/cut/a.cdp"
		head -c 1000 "$in" >"$to/cut/b.cdp"
	done
	cp "$W/base/${ran[0]}/out/.comdet" "$to/cut/"
	cd "$to" || exit 2
	view cut.txt report cut
	view cut.json report --json cut
	rm -rf "$to/cut"
}

judge_source()
{
	cat <<-'EOF'
	import difflib, itertools, json, os, re, struct, sys

	work, fmt, text_mode = sys.argv[1:]
	WORDS = text_mode == "numbers"
	DIFF_LINES = 40

	# ---- files of profiles -------------------------------------------------
	SECTION = ["free", "thread", "pair", "map", "core", "transfer", "memory",
	           "reuse", "path"]
	# What no two runs have in common.
	VOLATILE = {
	    "header": {"process_start", "run_id", "cpu_ns"},
	    "thread": {"cpu_ns"},
	}
	# By the clock only what was chosen and why is the same.
	BY_CLOCK = {"pages", "bytes", "loss", "start_real", "start_mono",
	            "last_mono", "note"}
	PROSE = {"source_reason", "registers_reason", "note"}
	ADDRESS = {"publisher_addr", "detector_addr", "publisher_ip",
	           "detector_ip", "line", "start_routine", "tally.address",
	           "tally.example", "use_ip", "end_ip", "ip"}
	HOST = 0x7000_0000_0000     # above: libraries, stacks; depends on us

	def format_tables(path):
	    tables, section = {}, None
	    for line in open(path):
	        if m := re.match(r"### (\w+)", line):
	            section = tables.setdefault(m[1].lower(), [])
	        elif m := re.match(r"\| (\d+) \| (\d+) \| `([\w.]+)`", line):
	            if section is not None:
	                section.append((int(m[1]), int(m[2]), m[3]))
	    missing = {"header", *SECTION[1:]} - tables.keys()
	    if missing:
	        sys.exit(f"{path} does not say what is in {missing}")
	    return tables

	FIELDS = format_tables(fmt)

	class Profile:
	    def __init__(self, data):
	        self.data = data
	        self.maps, self.sizes = [], {}
	        for i in range(8):
	            at = 24 + 32 * i
	            name, kind, size = struct.unpack_from("<16sII", data, at)
	            if kind:
	                self.sizes[kind] = size
	        for section, record in self.records():
	            if section == 3:
	                start, end = struct.unpack_from("<QQ", record)
	                offset, = struct.unpack_from("<Q", record, 16)
	                path = text_of(record[56:312])
	                self.maps.append((start, end, offset, path))
	        self.source = text_of(data[688:704])
	        self.map_pages = sum(s == 3 for _, s, _ in self.pages())

	    def pages(self):
	        for at in range(4096, len(self.data), 4096):
	            section, committed = struct.unpack_from("<II", self.data, at)
	            yield at, section, committed

	    def records(self):
	        for at, section, committed in self.pages():
	            size = self.sizes.get(section)
	            for i in range(committed if size else 0):
	                begin = at + 64 + i * size
	                yield section, self.data[begin:begin + size]

	    def address(self, a):
	        """Where it is, in words that do not depend on our size."""
	        if a < HOST or self.source in ("emu", "import"):
	            return hex(a)
	        for start, end, offset, path in reversed(self.maps):
	            if start <= a < end and path == "[stack]":
	                return hex(a)
	            if start <= a < end and path.startswith("/"):
	                return f"{path}+{a - start + offset:#x}"
	        return "anonymous"

	    def show(self, section, record, ignored=()):
	        fields = FIELDS[section]
	        if section == "memory":
	            kind = "event" if record[0] == 1 else "tally"
	            fields = [f for f in fields
	                      if "." not in f[2] or f[2].startswith(kind)]
	        used = bytearray(len(record))
	        words = [section]
	        for at, size, name in fields:
	            used[at:at + size] = b"1" * size
	            if name in ignored:
	                continue
	            words.append(f"{name}={self.value(section, name, record, at, size)}")
	        if section == "header":     # the rest of its page
	            words.append("size=" + str(FIELDS[section][-1][0]
	                                       + FIELDS[section][-1][1]))
	        spare = bytes(c for c, u in zip(record, used) if not u)
	        if any(spare):
	            words.append("spare=" + spare.rstrip(b"\0").hex())
	        return words

	    def value(self, section, name, record, at, size):
	        value = record[at:at + size]
	        if name in VOLATILE.get(section, ()):
	            return "*" if any(value) else "0"
	        if section == "header" and self.source != "import":
	            # Of how many mappings there are some are ours.
	            if name == "bytes":
	                return "*"
	            if name == "pages":
	                pages, = struct.unpack("<Q", value)
	                return f"{pages - self.map_pages} and of mappings"
	        if name in PROSE and section == "header" and WORDS:
	            return " ".join(tokens(text_of(value), False))
	        number = int.from_bytes(value, "little")
	        if name in ADDRESS:
	            return self.address(number)
	        if section == "transfer" and name == "value":
	            return ",".join(f"{v:#x}" for v in struct.unpack("<6Q", value))
	        if size <= 8:
	            return str(number) if number < 1 << 32 else hex(number)
	        if name in ("loss", "samples", "count"):
	            return ",".join(map(str, struct.unpack(f"<{size // 8}Q", value)))
	        if name in ("section", "build_id"):
	            return value.hex()
	        plain, _, rest = value.partition(b"\0")
	        return repr(plain.decode(errors="replace")) \
	            + rest.rstrip(b"\0").hex()

	    def lines(self):
	        header = self.show("header", self.data[:4096])
	        yield from header
	        for at, section, committed in self.pages():
	            name = SECTION[section] if section < 9 else str(section)
	            if section > 0 and section != 3:
	                yield f"page of {name}: {committed} " \
	                      + self.data[at + 8:at + 64].rstrip(b"\0").hex()
	            size = self.sizes.get(section, 0)
	            for i in range(committed if size else 0):
	                begin = at + 64 + i * size
	                record = self.data[begin:begin + size]
	                if section == 3 and self.is_host(record):
	                    continue
	                yield " ".join(self.show(name, record))
	            rest = self.data[at + 64 + committed * size:at + 4096]
	            if any(rest):
	                yield "not committed: " + rest.rstrip(b"\0").hex()

	    def is_host(self, record):
	        start, = struct.unpack_from("<Q", record)
	        return self.source != "import" and start >= HOST and text_of(record[56:312]) != "[stack]"

	def text_of(value):
	    return value.split(b"\0")[0].decode(errors="replace")

	def profile_lines(data, by_clock):
	    if len(data) < 4096 or data[:8] != b"COMDETcd":
	        return ["no profile: " + data[:4096].hex()]
	    profile = Profile(data)
	    if by_clock:
	        return profile.show("header", data[:4096], BY_CLOCK)
	    return list(profile.lines())

	# ---- texts -------------------------------------------------------------
	names = set()   # functions, objects, files that JSON reports have

	def tokens(text, rows=True):
	    """Numbers, names and, of a table, what has no letters."""
	    kept = []
	    for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines():
	        indented = rows and line[:1] in " \t"
	        row = []
	        for word in line.split():
	            word = word.strip(".,;:()'\"") or word
	            if re.search(r"\d", word) or word in names and (
	                    indented or re.search(r"[^a-z]", word)):
	                row.append(word)
	            elif indented and (not re.search(r"[A-Za-z]", word)
	                               or re.fullmatch(r"[BWRr.]{4,}", word)):
	                row.append(word)
	        if len(row) >= 3 and indented:
	            row.append("\n")
	        kept += row
	    return kept

	def text_lines(data):
	    text = data.decode(errors="replace")
	    if WORDS:
	        return " ".join(tokens(text)).split("\n")
	    return text.split("\n")

	KEYS = "source_reason|registers_reason|reason|advice|note|value|what"

	def json_lines(data):
	    text = data.decode(errors="replace")
	    if WORDS:
	        def numbers(m):
	            return m[1] + " ".join(tokens(m[2], False)) + m[3]
	        text = re.sub(rf'("(?:{KEYS})": ")((?:[^"\\]|\\.)*)(")', numbers,
	                      text)
	        text = re.sub(r'("problems": \[)(.*?)(\])', numbers, text,
	                      flags=re.S)
	    return text.split("\n")

	def learn_names(text):
	    def walk(node):
	        if isinstance(node, dict):
	            for key, value in node.items():
	                if key in ("function", "object", "module", "location") \
	                        and isinstance(value, str):
	                    names.update((value, os.path.basename(value)))
	                walk(value)
	        elif isinstance(node, list):
	            for value in node:
	                walk(value)
	    try:
	        walk(json.loads(text))
	    except ValueError:
	        pass

	# ---- cases -------------------------------------------------------------
	def files_of(side, case):
	    found = {}
	    top = os.path.join(work, side, case)
	    for where, _, inside in os.walk(top):
	        for name in inside:
	            path = os.path.join(where, name)
	            found[os.path.relpath(path, top)] = path
	    return found

	def lines_of(name, path):
	    data = open(path, "rb").read()
	    if name.endswith(".cdp"):
	        return profile_lines(data, "/" not in name)
	    if name.endswith(".comdet"):
	        return [re.sub(rb"[0-9a-f]{16,}", b"*", data).decode()]
	    if name.endswith(".json"):
	        return json_lines(data)
	    return text_lines(data)

	def differences(case):
	    """Of a case, as (file, lines of a diff)."""
	    base, new = files_of("base", case), files_of("next", case)
	    if case.startswith(("emu-", "pmu-", "instr-")) and not any(
	            n.endswith(".cdp") for n in base):
	        yield "nothing was recorded", [open(base["stderr.txt"]).read()]
	    for name in sorted(base.keys() | new.keys()):
	        if name not in base or name not in new:
	            yield name, ["only in " + ("base" if name in base else "new")]
	            continue
	        old, now = lines_of(name, base[name]), lines_of(name, new[name])
	        if old != now:
	            diff = diff_of(old, now)
	            yield name, shorter(diff) if name.endswith(".cdp") else diff

	def diff_of(old, new):
	    """From a little before the first difference on, in little time."""
	    first = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b),
	                 min(len(old), len(new)))
	    part = slice(max(first - 2, 0), first + 1000)
	    return [f"first in line {first + 1}"] + list(difflib.unified_diff(
	        old[part], new[part], "base", "new", n=1, lineterm=""))

	def shorter(diff):
	    """Of records that were replaced one by one the fields that differ."""
	    diff, done = list(diff), []
	    while diff:
	        gone = list(itertools.takewhile(lambda l: l[0] == "-", diff))
	        come = list(itertools.takewhile(lambda l: l[0] == "+",
	                                        diff[len(gone):]))
	        if not gone or len(gone) != len(come):
	            done.append(diff.pop(0))
	            continue
	        for old, new in zip(gone, come):
	            a, b = old.split(" "), new.split(" ")
	            if len(a) == len(b) > 6:
	                same = [i > 2 and x == y
	                        for i, (x, y) in enumerate(zip(a, b))]
	                old, new = (" ".join(w for w, s in zip(words, same) if not s)
	                            for words in (a, b))
	            done += [old, new]
	        del diff[:len(gone) + len(come)]
	    return done

	cases = sorted(c for c in os.listdir(os.path.join(work, "next")))
	for case in cases:
	    for name, path in files_of("base", case).items():
	        if name.endswith(".json"):
	            learn_names(open(path, errors="replace").read())
	good = bad = files = 0
	for case in cases:
	    files += len(files_of("base", case))
	    found = list(differences(case))
	    good, bad = good + (not found), bad + bool(found)
	    for name, diff in found:
	        print(f"\nDIFFERS: {case}: {name}")
	        diff = list(diff)
	        for line in diff[:DIFF_LINES]:
	            print("    " + line[:400])
	        if len(diff) > DIFF_LINES:
	            print(f"    ... {len(diff) - DIFF_LINES} lines more")
	print(f"\n{good} cases the same, {bad} differ"
	      f" ({files} files, texts: {text_mode})")
	sys.exit(bad > 0 or not good)
	EOF
}

# ---- together ----------------------------------------------------------------

all_cases()
{
	emu_cases
	pmu_cases
	instr_cases
	choice_cases
	import_cases
	verb_cases
}

if [ "$list" ]; then
	all_cases
	exit
fi
for tool in qemu-x86_64 gcc python3 unshare setarch chrt taskset; do
	command -v $tool >/dev/null || skip "$tool is missing"
done
CPU=$(taskset -cp $$ | sed 's/.*[:,-] *//')
root=-r
[ "$(id -u)" = 0 ] && root=
unshare $root -m -p -f --mount-proc setarch -R true ||
	skip "namespaces cannot be had"
chrt -f $PRIORITY true || skip "real-time scheduling cannot be had"

if [ -n "$keep" ]; then
	mkdir "$keep" && W=$(cd "$keep" && pwd) || exit 2
else
	W=$(mktemp -d) || exit 2
fi
# Two of us on one processor would disturb each other.
exec 9<"$0" && flock 9
prepare
all_cases
clock_recordings
[ ${#ran[@]} -gt 0 ] || die "no case is called $only"
reports base &
reports next
wait
printf '%4d s  reports\n' $SECONDS
format=$(find "$base/docs" -name format.md)
python3 "$W/judge.py" "$W" "$format" "$text"
status=$?
printf '%4d s\n' $SECONDS
exit $status
