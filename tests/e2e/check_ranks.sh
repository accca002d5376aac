#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_ranks - the processes of a parallel job: directories, one report, names
#
# What launchers put in the environment; the mpirun of Open MPI or MPICH, if it
# is there, with memory that the ranks share.
#
# covers: src/store/rank.c analysis/profile/ranks.c preload/start/output.c analysis/record/output.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
cd "$WORK" || exit 1

# job RANKS COMMAND... - run it as a launcher does, one rank after the other
job()
{
	local ranks=$1 i

	shift
	for ((i = 0; i < ranks; i++)); do
		env OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE="$ranks" \
			"$@" >"said.$i" 2>&1 || fail "rank $i: $(cat said.$i)"
	done
}

# Each rank has a directory of its own, in whatever way it is recorded.
ranks_of()
{
	json "$1" r.json
	ask r.json 'sorted(p.get("rank", -1) for p in r["processes"])'
}
run="$B/microbench/demo"
job 3 "$TOOL" record -o out -- "$run"
[ "$(ls out | sort | paste -sd' ')" = "rank.0 rank.1 rank.2" ] ||
	fail "directories: $(ls -R out)"
[ "$(stat -c %a out out/rank.*  | sort -u)" = 700 ] || fail "modes"
[ "$(ranks_of out)" = "[0, 1, 2]" ] || fail "the report's ranks"
[ "$(ranks_of out/rank.1)" = "[1]" ] || fail "the report of one"
"$TOOL" report out | grep -qE '^ +[0-9]+  pid [0-9]+ +rank 2: demo \(complete\)' ||
	fail "the report: $("$TOOL" report out | head -30)"

# A smaller job after it leaves rank 2 alone, and nobody takes it for its own.
job 2 "$TOOL" record -o out -- "$run"
[ "$(ranks_of out)" = "[0, 1]" ] || fail "a smaller job: $(ls out)"
[ -d out/rank.2 ] || fail "a directory has gone"

# The library alone.
job 2 env COMDET_OUT=alone LD_PRELOAD="$LIB" "$run"
[ "$(ranks_of alone)" = "[0, 1]" ] || fail "the library alone: $(ls -R alone)"

# Other launchers; what is not one of them.
env PMI_RANK=7 PMI_SIZE=9 "$TOOL" record -o pmi -- "$run" >said 2>&1 &&
	[ "$(ranks_of pmi)" = "[7]" ] || fail "PMI: $(cat said)"
env SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 "$TOOL" record -o slurm -- "$run" \
	>said 2>&1 && [ -d slurm/rank.3 ] || fail "srun: $(cat said)"
env SLURM_PROCID=0 OMPI_COMM_WORLD_RANK=x PMI_RANK= "$TOOL" record -o none \
	-- "$run" >said 2>&1 && [ "$(ranks_of none)" = "[-1]" ] &&
	[ -e none/.comdet ] || fail "no rank: $(cat said; ls -a none)"

# Directories that only look like ranks, in a circle.
mkdir circle
ln -s . circle/rank.0
ln -s . circle/rank.1
"$TOOL" report circle >said 2>&1 && fail "a circle is a profile"

# Memory that ranks on one node share.
command -v mpirun >/dev/null && command -v mpicc >/dev/null ||
	skip "no Open MPI here: install openmpi-bin and libopenmpi-dev"
can_attach
launch=mpirun
mpirun --version | grep -q 'Open MPI' && launch+=" --oversubscribe"
mpicc -O2 -g -o ranks "$TOP/tests/programs/mpi/ranks.c" ||
	fail "cannot compile the program"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for seconds in 2 8 30; do
	timeout 100 "$TOOL" record --outside --children -F 500 -o node -- \
		$launch -n 4 ./ranks false $seconds >said 2>&1 ||
		fail "mpirun: $(cat said)"
	json node r.json
	pairs=$(ask r.json "len({frozenset(rank[r['threads'][t]['process']]
		for t in (x['a'], x['b'])) for rank in [[p.get('rank') for p in
		r['processes']]] for x in c.get('cells', []) if x['false']} -
		{frozenset([i]) for i in [None, 0, 1, 2, 3]})")
	[ "$pairs" = 6 ] && break
done
[ "$pairs" = 6 ] || fail "pairs of ranks: $pairs; $("$TOOL" report node)"
holds r.json 'c["true_sharing"]["estimate"] == 0' "true sharing"
# A process may be seen before and after its exec of the program.
[ "$(ask r.json 'sorted({p["rank"] for p in r["processes"] if "rank" in p})')" = \
	"[0, 1, 2, 3]" ] || fail "ranks under mpirun: $("$TOOL" report node)"

# A directory for each rank, recorded in each.
timeout 100 $launch -n 4 "$TOOL" record -o each -- ./ranks false 0.5 >said 2>&1 ||
	fail "record in each rank: $(cat said)"
[ "$(ls each | sort | paste -sd' ')" = "rank.0 rank.1 rank.2 rank.3" ] &&
	[ "$(ranks_of each)" = "[0, 1, 2, 3]" ] || fail "each: $(ls -R each)"
echo ok
