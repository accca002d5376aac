#!/bin/bash
# SPDX-License-Identifier: MIT
#
# cpus - the unit tests on processors that this machine does not have
#
# Runs each unit test under QEMU's emulation of x86-64 processors: Nehalem
# (SSE4.2, no AVX), Haswell (AVX2, BMI, FMA) and max (all that QEMU has). The
# checks that QEMU makes fail are listed below, each with the reason; they are
# left out and counted. A check of the list that passes on all three is an error
# when all three are run: the list says no more than is true.
#
#	cpus.sh [CPU...]
#
# Environment: B, the build directory; ONLY, words that select tests, as for
# tests/run. Simulations ("plain only" in their first comment) take hours under
# QEMU and have no instructions of their own, so they are left out.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
all='Nehalem Haswell max'
[ $# -gt 0 ] || set -- $all

# Instructions that QEMU 7.2 computes wrongly: the flags of cmpxchg16b, blsi,
# adcx and adox, and the upper half of vaesenc. Processors that have them agree
# with the interpreter.
export ORACLE_WITHOUT='cmpxchg16b blsi adcx adox vaesenc'

t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT

# CHECK REASON; those that ask for a seccomp filter are found by their message.
cat >"$t/cannot" <<'END'
the_processor_is_the_one_of_proc_cpuinfo /proc/cpuinfo is that of the host
a_pmu_that_the_kernel_does_not_list_is_not_promised /sys has the PMUs of the host
what_is_no_regular_file_is_refused_without_waiting /proc/self/exe is no link
a_living_process_is_still_running /proc/PID/stat is made up
line_is_named_by_the_bytes_that_were_accessed /proc/self/maps lacks code and heap
more_variables_than_there_is_room_for_end_in_dots /proc/self/maps lacks code and heap
a_variable_in_bss_and_data_has_a_name_and_an_offset /proc/self/maps lacks code and heap
what_lies_behind_a_variable_is_not_it /proc/self/maps lacks code and heap
heap_and_stack_are_named_as_such /proc/self/maps lacks code and heap
a_contended_lock_is_named_as_such /proc/self/maps lacks code and heap
the_lines_of_one_variable_add_up /proc/self/maps lacks code and heap
a_variable_on_one_line_has_one_row /proc/self/maps lacks code and heap
a_program_that_still_runs_is_to_go_on /proc/PID/stat is made up
a_handler_that_interrupts_the_publisher_never_waits a handler's stack is not aligned
a_signal_that_waits_for_the_holder_finds_the_lock_free a handler's stack is not aligned
a_handler_that_interrupts_a_holder_hangs a handler's stack is not aligned
a_handler_that_tries_a_lock_drops_and_counts a handler's stack is not aligned
END

# Run a test under QEMU, and take the checks of the list out of its result.
cat >"$t/one" <<'END'
#!/usr/bin/env python3
import os, re, subprocess, sys
cpu, test, table = sys.argv[1:4]
cannot = dict(line.rstrip("\n").split(" ", 1) for line in open(table))
run = subprocess.run(["qemu-x86_64", "-cpu", cpu, test],
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
text = run.stdout.decode(errors="replace")
text = re.sub(r"qemu-x86_64: warning: TCG doesn't support.*\n", "", text)
out, left = [], {}
for line in text.split("\n"):
    m = re.match(r"[^ ]+:\d+:[FE]:[^:]*:(\w+):", line)
    if m and "Assertion 'prctl(22, 2, " in line:  # tests/sandbox.h
        cannot[m[1]] = "seccomp is not emulated"
    if m and m[1] in cannot:
        left[m[1]] = left.get(m[1], 0) + 1
    else:
        out.append(line)
text, n = "\n".join(out), sum(left.values())
m = re.search(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", text,
              re.M)
status = run.returncode
if m and n:
    checks, bad = int(m[1]) - n, int(m[2]) + int(m[3]) - n
    text = text.replace(m[0], f"{100 * (checks - bad) // max(checks, 1)}%: "
                        f"Checks: {checks}, Failures: {bad}, Errors: 0")
    status = 1 if bad else 0
print(text, end="")
for name, count in left.items():
    print(f"left out {count} of {name}: {cannot[name]}")
    open(table + ".seen", "a").write(name + "\n")
sys.stdout.flush()
sys.exit(status if status >= 0 else 1)
END
chmod +x "$t/one"

command -v qemu-x86_64 >/dev/null || {
	echo 'qemu-x86_64 is missing: install the package qemu-user'
	exit 77
}

export CK_TIMEOUT_MULTIPLIER=20
tests=$(cd "$TOP" && find tests -name 'test_*.c' -exec \
	grep -L '^ \* plain only: ' {} + | sort |
	sed "s:^:$B/:; s:\.c$::")
suites=()
for cpu in "$@"; do
	mkdir "$t/$cpu" || exit 1
	suites+=("suite=$cpu")
	for test in $tests; do
		[ -x "$test" ] || { echo "$test is not built"; exit 1; }
		printf '#!/bin/sh\nexec "%s" %s "%s" "%s"\n' "$t/one" "$cpu" \
			"$test" "$t/cannot" >"$t/$cpu/${test##*/}"
		chmod +x "$t/$cpu/${test##*/}"
		suites+=("$t/$cpu/${test##*/}")
	done
done
B=$B TOP=$TOP "$TOP/tests/run" --limit 3000 ${ONLY:+--only "$ONLY"} \
	"${suites[@]}"
status=$?
sort "$t/cannot.seen" 2>/dev/null | uniq -c | while read -r n name; do
	echo "left out in $n programs: $name"
done
if [ -z "$ONLY" ] && [ "$*" = "$all" ]; then
	while read -r name _; do
		grep -qx "$name" "$t/cannot.seen" ||
			{ echo "cpus.sh: $name passes under QEMU"; exit 1; }
	done <"$t/cannot" || status=1
fi
exit $status
