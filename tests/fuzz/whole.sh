#!/bin/bash
# SPDX-License-Identifier: MIT
#
# whole - damaged files through whole verbs (make fuzz-whole)
#
#	tests/fuzz/whole.sh [KIND...]
#
# First it records programs with every source and writes recordings of perf,
# topologies and other inputs; then tests/fuzz/whole/whole.c changes and reads
# each kind MUTATIONS times. KIND is cdp, perf, topology, caches or latencies;
# none means all. SEED chooses other mutations. Inputs that lead to a finding are
# kept in build/fuzz/whole/found.
#
# covers: analysis/profile, analysis/report, analysis/import, analysis/record

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
WHOLE=${WHOLE:-$B/san-address/tests/fuzz/whole/whole}
mutations=${MUTATIONS:-50000}
work=${WORK:-$B/fuzz/whole}
export LC_ALL=C.UTF-8 WHOLE_KEEP=$work/found
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096
export UBSAN_OPTIONS=print_stacktrace=0
export COMDET_QEMU_LIB=$B/libcomdet-qemu.so

mkdir -p "$work/seeds/cdp" "$WHOLE_KEEP"
# The directory is in memory; when it is full, nothing is tested.
cd "$work" || exit 1

# keep NAME DIR - the profile's files become seeds
keep()
{
	local file n=0

	for file in "$2"/*.cdp; do
		[ -s "$file" ] || continue
		n=$((n + 1))
		cp "$file" "seeds/cdp/$1-$n.cdp"
		[ $n -lt 2 ] || break
	done
	[ $n -gt 0 ] || echo "no seed: $1"
	rm -rf "$2"
}

# recorded NAME OPTION... -- PROGRAM ARGUMENT...
recorded()
{
	local name=$1

	shift
	[ ! -e "seeds/cdp/$name-1.cdp" ] || return
	rm -rf out
	timeout 300 "$B/reusetrack" record -o out "$@" >record.log 2>&1 </dev/null
	keep "$name" out
}

# A simulated machine with a PMU.
fake()
{
	local name=$1

	shift
	[ ! -e "seeds/cdp/$name-1.cdp" ] || return
	rm -rf out
	timeout 300 env COMDET_OUT="$PWD/out" COMDET_PERIOD=1000 "$@" \
		LD_PRELOAD="$B/tests/libcomdet-fake.so" \
		"$B/tests/programs/help_pmu" 50000 >record.log 2>&1
	keep "$name" out
}

seeds_of_cdp()
{
	local shared=$B/microbench/false_sharing

	recorded clock -- "$B/microbench/demo"
	recorded clock-rtsig -F 1000 -- "$B/microbench/cures" --seconds 1
	recorded clock-sighted -F 1000 -- "$B/tests/programs/help_dilute" 100 2
	recorded clock-reuse -s clock -m reuse -F 1000 -- "$B/microbench/demo"
	recorded clock-children --children -- sh -c "$B/microbench/demo & ls; wait"
	recorded emu -s emu -p 1000 -- "$shared" --iterations 20000
	recorded emu-exact -s emu --exact -m comm -- "$shared" --iterations 5000
	recorded emu-reuse -s emu -m reuse -p 1000 -- "$B/microbench/mix"
	recorded emu-reuse-exact -s emu -m reuse --exact \
		--caches 'L1d 49152 12; L2 1048576 16 shared' -- ls /
	recorded emu-shared -s emu -m shared -p 1000 \
		--topology "$work/seeds/topology/sockets" -- "$shared" --iterations 20000
	recorded emu-predict -s emu -m reuse,shared -p 500 \
		--topology "$work/seeds/topology/sockets" -- "$shared" --iterations 20000
	recorded emu-global -s emu -m global -p 500 -- "$shared" --iterations 20000
	recorded instr -s instr -p 1000 -- "$B/microbench/instr/false_sharing" \
		--iterations 20000
	recorded instr-exact -s instr --exact -- \
		"$B/microbench/instr/false_sharing" --iterations 5000
	recorded instr-reuse -s instr -m reuse -p 500 -- \
		"$B/microbench/instr/read_write" --iterations 20000
	recorded instr-paths -s instr -m reuse -p 500 --call-paths -- \
		"$B/tests/programs/instr/paths" callers 300
	fake pebs FAKE_MODEL=sapphire-rapids
	fake pebs-turns FAKE_MODEL=sandy-bridge
	fake ibs FAKE_MODEL=zen4
	fake pebs-reuse FAKE_MODEL=skylake COMDET_MODE=reuse
	for file in seeds/perf/intel-1 seeds/perf/amd-1; do
		[ ! -e "seeds/cdp/import-${file##*/}-1.cdp" ] || continue
		rm -rf out
		"$B/reusetrack" import -o out "$file" >record.log 2>&1
		keep "import-${file##*/}" out
	done
}

seeds_of_perf()
{
	local kind n

	for kind in intel packed amd; do
		for n in 1 2 3; do
			for form in '' ,stream ,compressed ,stream,compressed; do
				"$B/tests/programs/help_perf_data" "$kind$form" $n \
					"seeds/perf/$kind${form//,/-}-$n"
			done
		done
	done
}

seeds_of_topology()
{
	printf 'core 0\n' >seeds/topology/one
	printf 'socket 0\nsocket 1\ncache a in socket 0\ncache b in socket 1\ncore 0-3 in cache a\ncore 4-7 in cache b\n' >seeds/topology/sockets
	printf 'core 0-1 in cache L3.0;cache L3.0 in socket 0;socket 0;\n' >seeds/topology/host
	printf '# many\nsocket s\n%s' "$(seq -f 'core %g in socket s' 0 255)" >seeds/topology/many
}

seeds_of_caches()
{
	printf 'L1d 49152 12; L2 1048576 16; L3 33554432 16 shared' >seeds/caches/three
	printf 'L1 32768 8' >seeds/caches/one
	printf 'a 64 1;b 128 2;c 256 4;d 4194304 64 shared;' >seeds/caches/four
}

seeds_of_latencies()
{
	printf '# measured\ndram_ns 90\ntransfer_ns 60.5\nllc_bytes 33554432\nprivate_bytes 1048576\n' >seeds/latencies/all
	printf 'transfer_ns\t1e2\r\ndram_ns 1\n' >seeds/latencies/short
}

for kind in topology perf cdp caches latencies; do
	mkdir -p "seeds/$kind"
	seeds_of_$kind
done
rm -rf latencies.profile
mkdir latencies.profile && echo 'comdet 1 0123456789abcdef' \
	>latencies.profile/.comdet && cp seeds/cdp/emu-predict-1.cdp latencies.profile
export WHOLE_PROFILE=$work/latencies.profile
echo "$(ls seeds/cdp | wc -l) profiles, $(ls seeds/perf | wc -l) recordings"

failed=0
[ $# -gt 0 ] || set -- cdp perf topology caches latencies
for kind in "$@"; do
	"$WHOLE" -n "$mutations" -s "${SEED:-1}" "$kind" "seeds/$kind"/* ||
		failed=1
done
exit $failed
