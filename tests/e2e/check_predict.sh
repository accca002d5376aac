#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_predict - predict tells whether a prefetcher pays
#
# programs/emu/adjacent_plugin.c simulates two machines, with and without a
# prefetcher, over the accesses of the recorded run. It knows nothing of reuses.
# The gain that reusetrack predict --adjacent-line-prefetch prints must have the
# sign of the difference of their times.
#
# serial: it measures how long loads take

. "$(dirname "$0")/e2e.sh"

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'

cat >"$WORK/machine" <<-'EOF'
	dram_ns 100
	transfer_ns 50
	llc_bytes 262144
	private_bytes 16384
EOF

# both ARGUMENT... - predict and simulate a run of microbench/adjacent
both()
{
	rm -rf "$WORK/out"
	timeout -k 5 600 qemu-x86_64 -cpu max \
		-plugin "$B/libcomdet-qemu.so,out=$WORK/out,mode=reuse,,shared,granularity=line,period=200,seed=3,slice=20" \
		-plugin "$B/tests/programs/emu/adjacent_plugin.so,private=256,shared=4096,dram_ns=100,transfer_ns=50" \
		"$B/microbench/adjacent" --threads 4 --kib 256 "$@" \
		>/dev/null 2>"$WORK/simulated" || fail "adjacent $*"
	"$TOOL" predict --adjacent-line-prefetch --json \
		--latencies "$WORK/machine" "$WORK/out" >"$WORK/predicted" ||
		fail "predict after $*"
}

# agrees VERDICT TEXT - the prediction and the simulation have this verdict
agrees()
{
	python3 - "$WORK/predicted" "$WORK/simulated" "$1" <<-'EOF' ||
		import json, sys
		p = json.load(open(sys.argv[1]))["adjacent_line_prefetch"]
		s = json.load(open(sys.argv[2]))
		won = s["ns"][0] - s["ns"][1]
		print(f"  G {p['gain_ns']['estimate'] / 1e6:.1f} ms ({p['verdict']}),"
		      f" simulated {won / 1e6:.1f} of {s['ns'][0] / 1e6:.1f} ms")
		sys.exit(not (p["verdict"] == sys.argv[3]
		              and (won > 0) == (p["verdict"] == "gain")
		              and abs(p["accesses"] / s["accesses"] - 1) < 0.05))
	EOF
		fail "$2: not $1; $(<"$WORK/predicted") $(<"$WORK/simulated")"
}

signs_are_those_of_the_simulation()
{
	both --kernel stream --iterations 100000
	agrees gain stream
	both --kernel random --iterations 100000
	agrees gain random
	both --kernel false-sharing --iterations 100000
	agrees loss false-sharing
	both --kernel mixed --iterations 100000
	agrees gain mixed
}

# A cache of 16 MiB holds all lines of the program.
nothing_comes_back_from_dram_where_all_fits()
{
	both --kernel stream --iterations 100000
	sed -i s/262144/16777216/ "$WORK/machine"
	"$TOOL" predict --adjacent-line-prefetch --json \
		--latencies "$WORK/machine" "$WORK/out" >"$WORK/large" ||
		fail 'predict of a large cache'
	python3 - "$WORK/predicted" "$WORK/large" <<-'EOF' ||
		import json, sys
		small, large = [
		    json.load(open(f))["adjacent_line_prefetch"]["dram_reuses"]
		    for f in sys.argv[1:]
		]
		sys.exit(not (small["low"] > 10000 and large["estimate"] == 0))
	EOF
		fail "$(<"$WORK/predicted") $(<"$WORK/large")"
}

# predict measures latencies with chains of loads, which take time anywhere.
latencies_are_measured_where_there_are_two_processors()
{
	local said

	if [ "$(nproc)" -lt 2 ]; then
		echo '  one processor: not measured'
	else
		"$TOOL" predict --adjacent-line-prefetch --json "$WORK/out" \
			>"$WORK/json" || fail 'predict with measured latencies'
		python3 - "$WORK/json" <<-'EOF' || fail "$(<"$WORK/json")"
			import json, sys
			p = json.load(open(sys.argv[1]))["adjacent_line_prefetch"]
			good = p["latencies"] == "measured"
			for name in "dram_ns", "transfer_ns":
			    l = p[name]
			    good &= 0 < l["low"] <= l["estimate"] <= l["high"]
			sys.exit(not good)
		EOF
	fi
	said=$(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" \
		"$TOOL" predict --adjacent-line-prefetch "$WORK/out" 2>&1) &&
		fail "one processor: said $said"
	[[ $said == *--latencies* ]] || fail "one processor: said $said"
}

for check in signs_are_those_of_the_simulation \
	nothing_comes_back_from_dram_where_all_fits \
	latencies_are_measured_where_there_are_two_processors; do
	SECONDS=0
	$check
	echo "$check $SECONDS s"
done
