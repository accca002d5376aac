#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_pmu_pause - no use is counted across a pause of a hardware source
#
# Before an exec, when --duration is over, and while a thread pays back the time
# of our handler, its events are switched off while its registers still trap. On a simulated machine with a PMU,
# help_pmu_pause has words that are watched at that moment. Their reuse times
# are 5000; another time was measured across the pause. Such uses must be
# counted as lost.
#
#	check_pmu_pause.sh [CLAIM]

. "$(dirname "$0")/e2e.sh"

FAKE=$B/tests/libcomdet-fake.so
WORDS=5000
WHOLE='([e for e in r.get("reuse", []) if "thread" not in e] +
	[{"bins": [], "samples": 0}])[0]'

debug_registers || skip "no debug registers here"
cat >"$WORK/during.c" <<'EOF'
#include <errno.h>
#include <unistd.h>

void (*call_during_exec)(void);

int execve(const char *path, char *const *argv, char *const *env)
{
	call_during_exec();
	errno = ENOENT;
	return -1;
}
EOF
${CC:-gcc} -fPIC -shared -o "$WORK/during.so" "$WORK/during.c" ||
	fail "the library that makes exec fail cannot be built"

# swept DURATION ARGUMENT... - sweep with a pause; no use has a wrong time
swept()
{
	local duration=$1

	shift
	rm -rf "$WORK/out"
	timeout 600 env FAKE_MODEL=skylake COMDET_MODE=reuse COMDET_PERIOD=1000 \
		COMDET_OUT="$WORK/out" COMDET_DURATION="$duration" \
		LD_PRELOAD="$FAKE:$WORK/during.so" \
		"$B/tests/programs/help_pmu_pause" "$@" >"$WORK/took" ||
		fail "$*: status $?"
	json "$WORK/out" "$WORK/json"
	wrong=$(ask "$WORK/json" "[b for b in ${WHOLE}['bins']
		if b['mean'] != $WORDS]")
	[ "$wrong" = '[]' ] || fail "$*: of other lengths: $wrong"
}

# has_both TEXT - true if the last sweeps have decided uses and lost ones
has_both()
{
	local counts

	counts=$(ask "$WORK/json" "(${WHOLE}['samples'],
		r['loss'].get('no_register', 0))")
	echo "  $1: reuses and lost $counts, $(cat "$WORK/took") s"
	case $counts in
	'(0,'* | *' 0)') return 1 ;;
	esac
}

no_use_is_counted_across_an_exec()
{
	swept 0 exec
	has_both exec || fail 'exec: nothing to lose'
}

# About one register is armed at a time, so none may be armed at the end, and a
# slow machine may end before there is a use. Then try again, later with more
# time. A use with a wrong time fails at once.
no_use_is_counted_across_the_end()
{
	local seconds

	for seconds in 2 2 2 2 2 2 5 10 30; do
		swept "$seconds" wait "$seconds.2"
		has_both wait && return
	done
	fail 'no end of the time met a use'
}

# Our handler takes so long that the thread's events are switched off until the
# time is paid back.
no_use_is_counted_while_the_time_is_paid_back()
{
	export FAKE_SLOW=1000

	swept 0 exec
	unset FAKE_SLOW
	[ "$(ask "$WORK/json" "r['loss'].get('budget', 0)")" -gt 0 ] ||
		fail 'the handler was not too slow'
	echo "  lost $(ask "$WORK/json" \
		"{k: v for k, v in r['loss'].items() if v}")"
}

run_claims "${1-}" no_use_is_counted_across_an_exec \
	no_use_is_counted_across_the_end \
	no_use_is_counted_while_the_time_is_paid_back
