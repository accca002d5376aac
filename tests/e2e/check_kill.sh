#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_kill - committed detections survive SIGKILL at any moment
#
# A program writes the number of committed detections to a pipe. It runs RUNS
# times and is killed at a random moment: while it starts, or after it has written
# some numbers. Every out/ can be read, is marked incomplete and has at least as
# many detections as the program wrote. A report on a running program works, and
# damaged files give one line and status 1.

. "$(dirname "$0")/e2e.sh"
RUNS=${RUNS:-200}

python3 - "$B" "$WORK" "$RUNS" <<'EOF' || exit 1
import json, os, random, subprocess, sys, threading, time

build, work, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(1)
most = with_some = 0
for i in range(runs):
    out = f"{work}/out{i}"
    env = dict(os.environ, COMDET_OUT=out, COMDET_FREQ="2000",
               LD_PRELOAD=f"{build}/libcomdet.so")
    p = subprocess.Popen([f"{build}/tests/programs/help_committer"], env=env,
                         stdout=subprocess.PIPE)
    lines = []
    if i % 4:
        late = threading.Timer(200, p.kill)
        late.start()
        lines = [p.stdout.readline() for _ in range(random.randint(1, 30))]
        late.cancel()
        time.sleep(random.uniform(0.0, 0.003))
    else:
        time.sleep(random.uniform(0.0, 0.1))
    p.kill()
    lines += p.stdout.readlines()
    p.wait()
    said = max([int(x) for x in lines if x.endswith(b"\n")], default=0)
    if not os.path.isdir(out) or not any(
            f.endswith(".cdp") for f in os.listdir(out)):
        if said:
            sys.exit(f"FAIL: run {i}: {said} reported, nothing written")
        continue  # killed before the library was up
    r = subprocess.run([f"{build}/reusetrack", "report", out, "--json"],
                       capture_output=True)
    if r.returncode:
        # The header was not complete yet: the report says that it is damaged.
        if said or len(r.stderr.splitlines()) != 1:
            sys.exit(f"FAIL: run {i}: {said} reported, but {r.stderr}")
        continue
    j = json.loads(r.stdout)
    if j["run"]["complete"]:
        sys.exit(f"FAIL: run {i}: killed and not marked incomplete")
    c = j.get("communication", {}).get("total", {}).get("estimate", 0)
    if c < said:
        sys.exit(f"FAIL: run {i}: {said} reported, {c} in the file")
    most = max(most, said)
    with_some += said > 0
    subprocess.run(["rm", "-rf", out])
if with_some < runs / 2:
    sys.exit(f"FAIL: only {with_some} of {runs} runs had committed anything")
print(f"{runs} runs killed, {with_some} with detections, at most {most}")
EOF

# Report on a program that still runs.
rm -rf "$WORK/out"
COMDET_OUT=$WORK/out LD_PRELOAD=$LIB "$B/tests/programs/help_committer" >/dev/null &
pid=$!
end=$((SECONDS + 100))
until "$TOOL" report "$WORK/out" --json >"$WORK/live.json" 2>/dev/null &&
	[ "$(ask "$WORK/live.json" 'est("total") > 10')" = True ]; do
	[ $SECONDS -lt $end ] || fail "no detections of a running program"
	sleep 0.2
done
"$TOOL" report "$WORK/out" >"$WORK/live.txt" 2>&1
status=$?
kill -9 $pid
wait $pid 2>/dev/null
[ $status = 0 ] || fail "report on a running program: status $status"
grep -qi "still running" "$WORK/live.txt" ||
	fail "report does not say that the program still runs"

# Read damaged files, also with the sanitized tool if it is built.
good=$(ls "$WORK"/out/*.cdp)
for tool in "$TOOL" "$B/san-address/reusetrack"; do
	[ -x "$tool" ] || continue
	for how in truncated flipped empty foreign; do
		d=$WORK/$how
		rm -rf "$d"
		mkdir "$d"
		cp "$WORK/out/.comdet" "$d"
		f=$d/x.1.1.cdp
		case $how in
		truncated) head -c 1000 "$good" >"$f" ;;
		flipped) # the section table's record size
			cp "$good" "$f"
			printf '\377' | dd of="$f" bs=1 seek=12 conv=notrunc \
				status=none ;;
		empty) : >"$f" ;;
		foreign) cp /bin/ls "$f" ;;
		esac
		"$tool" report "$d" >"$WORK/o" 2>"$WORK/e"
		status=$?
		[ $status = 1 ] || fail "$how file: status $status"
		[ "$(wc -l <"$WORK/e")" = 1 ] ||
			fail "$how file: not one line: $(cat "$WORK/e")"
	done
done
echo "killed, running and damaged outputs read as they should"
